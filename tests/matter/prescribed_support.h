// Worlds for the tests of known motion: trees of any mobilizers under forces that stay put.
#ifndef TALUS_PRESCRIBED_SUPPORT_H
#define TALUS_PRESCRIBED_SUPPORT_H

#include "mobilizer_support.h"

#include <talus/matter.h>

enum {
    MAX_BODIES = 1 + 2 * NUM_BUILTINS, // Ground, and each mobilizer forward and reversed
    MAX_SPEEDS = 6 * MAX_BODIES
};

/// A System and a State of it, with the forces that act in it. Lives where the test keeps it.
typedef struct world {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    int num_bodies; ///< Ground included
    tal_vec3 gravity;
    tal_spatial_vec F[MAX_BODIES];
    double f[MAX_SPEEDS];
} world;

static inline tal_status world_forces(const void *self, const tal_system *system, tal_state *state)
{
    (void)system;
    const world *w = self;
    const tal_applied_forces to = tal_matter_upd_forces(w->matter, state);
    const tal_bodies_view poses = tal_matter_poses(w->matter, state);
    for (int b = 1; b < poses.num_bodies; ++b) {
        tal_vec3 com;
        const double mass = tal_body_mass(w->matter, state, (tal_body_ix){b}, &com);
        tal_apply_station_force(&poses, b, com, tal_v3_scale(mass, w->gravity), to.F_GM);
        to.F_GM[b] = tal_sv_add(to.F_GM[b], w->F[b]);
    }
    for (int i = 0; i < tal_state_nu(state); ++i) {
        to.f[i] += w->f[i];
    }
    return TAL_OK;
}

static const tal_subsystem_ops world_ops = {
    .size = sizeof world_ops, .name = "forces", .realize_dynamics = world_forces};

static inline void world_begin(world *w)
{
    memset(w, 0, sizeof *w);
    w->system = tal_system_create(NULL);
    w->matter = tal_matter_create(w->system);
    (void)tal_system_add_subsystem(w->system, NULL, &world_ops, w);
}

static inline void world_finish(world *w)
{
    tal_error err;
    ck_assert_msg(tal_system_realize_topology(w->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(w->system, &w->state, &err) == TAL_OK, "%s", err.message);
    w->num_bodies = tal_matter_num_bodies(w->matter);
}

static inline void world_end(world *w)
{
    tal_state_destroy(w->state);
    tal_system_destroy(w->system);
}

static inline void world_realize(world *w, tal_stage stage)
{
    ck_assert_msg(tal_system_realize(w->system, w->state, stage) == TAL_OK, "%s",
                  tal_state_error(w->state)->message);
}

/// Prescribe q and u, then realize Acceleration.
static inline void world_solve(world *w)
{
    world_realize(w, TAL_STAGE_TIME);
    ck_assert_int_eq(tal_system_prescribe_q(w->system, w->state, NULL), TAL_OK);
    world_realize(w, TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_system_prescribe_u(w->system, w->state, NULL), TAL_OK);
    world_realize(w, TAL_STAGE_ACCELERATION);
}

/// A body for each built-in mobilizer and direction, in a random tree, before topology.
static inline void add_all_mobilizers(world *w, test_rng *rng)
{
    for (int k = 0; k < 2 * NUM_BUILTINS; ++k) {
        const builtin *kind = &builtins[k / 2];
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = test_random_mass_props(rng);
        def.X_PF = test_random_xform(rng);
        def.X_BM = test_random_xform(rng);
        def.direction = k % 2 == 0 ? TAL_FORWARD : TAL_REVERSE;
        const int parent = (int)test_random_uniform(rng, 0.0, 1.0 + k);
        (void)tal_matter_add_mobilizer(w->matter, (tal_body_ix){parent > 5 ? k - 3 : parent}, &def,
                                       kind->ops(), NULL, kind->params);
    }
}

/// Random q, u and forces.
static inline void randomize(world *w, test_rng *rng)
{
    for (int b = 1; b < w->num_bodies; ++b) {
        const tal_body_ix body = {b};
        for (int i = 0; i < tal_body_nq(w->matter, w->state, body); ++i) {
            (void)tal_body_set_q(w->matter, w->state, body, i, test_random_uniform(rng, -1.2, 1.2));
        }
        for (int j = 0; j < tal_body_nu(w->matter, body); ++j) {
            (void)tal_body_set_u(w->matter, w->state, body, j, test_random_uniform(rng, -2.0, 2.0));
        }
        w->F[b] = test_random_spatial_vec(rng);
    }
    for (int i = 0; i < tal_state_nu(w->state); ++i) {
        w->f[i] = test_random_uniform(rng, -1.0, 1.0);
    }
    w->gravity = tal_v3(0.3, -9.81, 0.7);
}

/// Lock a body at position, velocity or acceleration: ways 6, 7 and 8.
static inline void set_lock(world *w, tal_body_ix body, int way)
{
    const double values[] = {0.9, -0.4, 0.3, 0.2, -0.1, 0.6, -0.7};
    const tal_level level = (tal_level)(way - 5);
    const int n = level == TAL_LEVEL_POSITION ? tal_body_nq(w->matter, w->state, body)
                                              : tal_body_nu(w->matter, body);
    ck_assert_int_eq(tal_body_lock_at(w->matter, w->state, body, level, values, n), TAL_OK);
}

/// All motions and locks off, and the forces they took applied instead: udot must be the same. The
/// condition of M, near 1e4 for such trees, times the eps of some hundred operations gives 1e-9 of
/// the largest udot at worst; what is measured is 1e-12.
static inline void check_duality(world *w, tal_motion_ix motions)
{
    const int nu = tal_state_nu(w->state);
    double udot[MAX_SPEEDS], tau[MAX_SPEEDS];
    const double *found = tal_matter_motion_multipliers(w->matter, w->state);
    ck_assert_ptr_nonnull(found);
    memcpy(tau, found, (size_t)nu * sizeof *tau);
    memcpy(udot, tal_state_udot(w->state), (size_t)nu * sizeof *udot);
    ck_assert(tal_matter_motion_error(w->matter, w->state, TAL_LEVEL_POSITION) == 0.0);
    ck_assert(tal_matter_motion_error(w->matter, w->state, TAL_LEVEL_VELOCITY) == 0.0);
    ck_assert(tal_matter_motion_error(w->matter, w->state, TAL_LEVEL_ACCELERATION) == 0.0);

    for (int b = 1; b < w->num_bodies; ++b) {
        ck_assert_int_eq(tal_body_unlock(w->matter, w->state, (tal_body_ix){b}), TAL_OK);
    }
    for (int i = 0; i < motions.i; ++i) {
        const tal_motion_ix motion = {i};
        ck_assert_int_eq(tal_motion_set_enabled(w->matter, w->state, motion, false), TAL_OK);
    }
    for (int i = 0; i < nu; ++i) {
        w->f[i] -= tau[i];
    }
    world_realize(w, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(tal_matter_num_free(w->matter, w->state), nu);
    ck_assert(test_largest(tal_matter_motion_multipliers(w->matter, w->state), nu) == 0.0);
    const double scale = fmax(1.0, test_largest(udot, nu));
    test_assert_near(tal_state_udot(w->state), udot, nu, 1e-11 * scale, "udot by forces");
}

/// The tree G7 of rbda_inventory.md 13.
static inline tal_matter *build_g7(world *w)
{
    static const int parent[] = {0, 1, 1, 2, 2, 3, 3};
    static const tal_axis x_axis[] = {TAL_AXIS_X};
    world_begin(w);
    for (int i = 1; i <= 7; ++i) {
        const double angle = 0.1 * i, mass = 1.0 + 0.1 * i;
        const tal_vec3 com = tal_v3(0.05, -0.02 * i, 0.1);
        const tal_sym3 central = {0.1 + 0.01 * i, 0.2, 0.15, 0.01, 0.01, 0.01};
        const tal_sym3 shift = tal_s3_scale(-mass, tal_s3_cross_square(com));
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = (tal_mass_props){mass, com, tal_s3_sub(central, shift)};
        def.X_PF = tal_xf(tal_rotation_from_angles(TAL_BODY_FIXED, 1, x_axis, &angle),
                          tal_v3(0.1 * i, 0.2, -0.05 * i));
        (void)tal_matter_add_pin(w->matter, (tal_body_ix){parent[i - 1]}, &def);
    }
    return w->matter;
}

/// Its State.
static inline void set_g7(world *w)
{
    world_finish(w);
    w->gravity = tal_v3(0.0, 0.0, -9.81);
    for (int i = 1; i <= 7; ++i) {
        (void)tal_body_set_q(w->matter, w->state, (tal_body_ix){i}, 0, 0.3 * i - 1.0);
        (void)tal_body_set_u(w->matter, w->state, (tal_body_ix){i}, 0, 0.5 - 0.1 * i);
    }
}

#endif // TALUS_PRESCRIBED_SUPPORT_H
