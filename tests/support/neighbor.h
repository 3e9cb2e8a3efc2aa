// A subsystem that comes before matter and has slots in every pool, so that no slot of matter is
// number 0.
//
// It stands still and meets its constraints, so whatever matter does is the same with it and
// without: tests build a model twice and compare the two, bit by bit.
#ifndef TALUS_NEIGHBOR_H
#define TALUS_NEIGHBOR_H

#include "talus_test.h"

#include <talus/state.h>

enum {
    NEIGHBOR_Q = 5,
    NEIGHBOR_U = 3,
    NEIGHBOR_Z = 2,
    NEIGHBOR_QERR = 2,
    NEIGHBOR_UERR = 4,
    NEIGHBOR_UDOTERR = 7,
    NEIGHBOR_TRIGGERS = 2
};

/// What it has in all its slots of q, u, z and of multipliers: no angle, length or speed of a test.
static const double neighbor_value = 41.0;

typedef struct neighbor {
    tal_group_ix q, u, z, qerr, uerr, udoterr, triggers;
} neighbor;

static inline tal_group_ix neighbor_group(tal_system *system, tal_subsystem_ix me, tal_pool pool,
                                          int size)
{
    static const double initial[] = {41.0, 41.0, 41.0, 41.0, 41.0};
    tal_group_def def = tal_group_def_default();
    def.pool = pool;
    def.capacity = size;
    def.stage = TAL_STAGE_POSITION;
    if (pool <= TAL_POOL_Z) def.initial = initial;
    return tal_system_add_group(system, me, &def);
}

static inline tal_status neighbor_topology(void *self, tal_system *system, tal_subsystem_ix me)
{
    neighbor *n = self;
    n->q = neighbor_group(system, me, TAL_POOL_Q, NEIGHBOR_Q);
    n->u = neighbor_group(system, me, TAL_POOL_U, NEIGHBOR_U);
    n->z = neighbor_group(system, me, TAL_POOL_Z, NEIGHBOR_Z);
    n->qerr = neighbor_group(system, me, TAL_POOL_QERR, NEIGHBOR_QERR);
    n->uerr = neighbor_group(system, me, TAL_POOL_UERR, NEIGHBOR_UERR);
    n->udoterr = neighbor_group(system, me, TAL_POOL_UDOTERR, NEIGHBOR_UDOTERR);
    n->triggers = neighbor_group(system, me, TAL_POOL_TRIGGER, NEIGHBOR_TRIGGERS);
    return tal_system_error(system)->status;
}

static inline void neighbor_fill(double slots[], int n, double value)
{
    for (int i = 0; i < n; ++i) {
        slots[i] = value;
    }
}

static inline tal_status neighbor_position(const void *self, const tal_system *system,
                                           tal_state *state)
{
    const neighbor *n = self;
    neighbor_fill(tal_group_upd_errors(system, state, n->qerr), NEIGHBOR_QERR, 0.0);
    neighbor_fill(tal_group_upd_triggers(system, state, n->triggers), NEIGHBOR_TRIGGERS, 1.0);
    return TAL_OK;
}

static inline tal_status neighbor_velocity(const void *self, const tal_system *system,
                                           tal_state *state)
{
    const neighbor *n = self;
    neighbor_fill(tal_group_upd_dot(system, state, n->q), NEIGHBOR_Q, 0.0);
    neighbor_fill(tal_group_upd_errors(system, state, n->uerr), NEIGHBOR_UERR, 0.0);
    return TAL_OK;
}

static inline tal_status neighbor_acceleration(const void *self, const tal_system *system,
                                               tal_state *state)
{
    const neighbor *n = self;
    neighbor_fill(tal_group_upd_dot(system, state, n->u), NEIGHBOR_U, 0.0);
    neighbor_fill(tal_group_upd_dot(system, state, n->z), NEIGHBOR_Z, 0.0);
    neighbor_fill(tal_group_upd_qdotdot(system, state, n->q), NEIGHBOR_Q, 0.0);
    neighbor_fill(tal_group_upd_errors(system, state, n->udoterr), NEIGHBOR_UDOTERR, 0.0);
    neighbor_fill(tal_group_upd_multipliers(system, state, n->udoterr), NEIGHBOR_UDOTERR,
                  neighbor_value);
    return TAL_OK;
}

/// A System that begins with it. `n` must live as long as the System.
static inline tal_system *neighbor_system(neighbor *n)
{
    tal_system *system = tal_system_create(NULL);
    static const tal_subsystem_ops ops = {.size = sizeof ops,
                                          .name = "neighbor",
                                          .realize_topology = neighbor_topology,
                                          .realize_position = neighbor_position,
                                          .realize_velocity = neighbor_velocity,
                                          .realize_acceleration = neighbor_acceleration};
    ck_assert_int_eq(tal_system_add_subsystem(system, NULL, &ops, n).i, 0);
    return system;
}

/// How many slots of a pool come before those of matter.
static inline int neighbor_slots(tal_pool pool)
{
    switch (pool) {
    case TAL_POOL_Q:
        return NEIGHBOR_Q;
    case TAL_POOL_U:
        return NEIGHBOR_U;
    case TAL_POOL_Z:
        return NEIGHBOR_Z;
    case TAL_POOL_QERR:
        return NEIGHBOR_QERR;
    case TAL_POOL_UERR:
        return NEIGHBOR_UERR;
    case TAL_POOL_UDOTERR:
        return NEIGHBOR_UDOTERR;
    default:
        return NEIGHBOR_TRIGGERS;
    }
}

/// One run of numbers of both States: those of `beside` after the neighbor's `skip`, whose own must
/// be `own`.
static inline void neighbor_same(const double alone[], const double beside[], int n, int skip,
                                 double own, const char *what)
{
    for (int i = 0; i < skip; ++i) {
        ck_assert_msg(beside[i] == own, "%s: the neighbor's slot %d is %g", what, i, beside[i]);
    }
    for (int i = 0; i < n; ++i) {
        ck_assert_msg(memcmp(&alone[i], &beside[skip + i], sizeof *alone) == 0,
                      "%s[%d] is %.17g alone and %.17g beside another subsystem", what, i, alone[i],
                      beside[skip + i]);
    }
}

/// Everything that can be read at the stage of two States, `beside` having a neighbor.
static inline void neighbor_assert_same(const tal_state *alone, const tal_state *beside,
                                        const char *what)
{
    const tal_stage stage = tal_state_stage(alone);
    ck_assert_int_eq(tal_state_stage(beside), stage);
    ck_assert_uint_eq(tal_state_scratch_mark(alone), 0); // given back by whatever took some
    const int nq = tal_state_nq(alone), nu = tal_state_nu(alone), nz = tal_state_nz(alone);
    ck_assert_int_eq(tal_state_nq(beside), nq + NEIGHBOR_Q);
    const double v = neighbor_value;
    neighbor_same(tal_state_q(alone), tal_state_q(beside), nq, NEIGHBOR_Q, v, what);
    neighbor_same(tal_state_u(alone), tal_state_u(beside), nu, NEIGHBOR_U, v, what);
    neighbor_same(tal_state_z(alone), tal_state_z(beside), nz, NEIGHBOR_Z, v, what);
    if (stage >= TAL_STAGE_POSITION) {
        neighbor_same(tal_state_qerr(alone), tal_state_qerr(beside),
                      tal_state_pool_size(alone, TAL_POOL_QERR), NEIGHBOR_QERR, 0.0, what);
    }
    if (stage >= TAL_STAGE_VELOCITY) {
        neighbor_same(tal_state_qdot(alone), tal_state_qdot(beside), nq, NEIGHBOR_Q, 0.0, what);
        neighbor_same(tal_state_uerr(alone), tal_state_uerr(beside),
                      tal_state_pool_size(alone, TAL_POOL_UERR), NEIGHBOR_UERR, 0.0, what);
    }
    if (stage >= TAL_STAGE_ACCELERATION) {
        const int m = tal_state_pool_size(alone, TAL_POOL_UDOTERR);
        neighbor_same(tal_state_udot(alone), tal_state_udot(beside), nu, NEIGHBOR_U, 0.0, what);
        neighbor_same(tal_state_zdot(alone), tal_state_zdot(beside), nz, NEIGHBOR_Z, 0.0, what);
        neighbor_same(tal_state_qdotdot(alone), tal_state_qdotdot(beside), nq, NEIGHBOR_Q, 0.0,
                      what);
        neighbor_same(tal_state_udoterr(alone), tal_state_udoterr(beside), m, NEIGHBOR_UDOTERR, 0.0,
                      what);
        neighbor_same(tal_state_multipliers(alone), tal_state_multipliers(beside), m,
                      NEIGHBOR_UDOTERR, v, what);
    }
}

/// The same weights for matter in both, others for the neighbor.
static inline void neighbor_weigh(tal_state *alone, tal_state *beside, tal_pool pool, test_rng *rng)
{
    double w[200];
    const int skip = neighbor_slots(pool), n = tal_state_pool_size(alone, pool);
    ck_assert_int_le(skip + n, 200);
    neighbor_fill(w, skip, neighbor_value);
    for (int i = 0; i < n; ++i) {
        w[skip + i] = test_random_uniform(rng, 0.5, 2.0);
    }
    ck_assert_int_eq(tal_state_set_weights(alone, pool, w + skip, n), TAL_OK);
    ck_assert_int_eq(tal_state_set_weights(beside, pool, w, skip + n), TAL_OK);
}

#endif // TALUS_NEIGHBOR_H
