// A tree to hang force elements on, and the identities that every element obeys.
#ifndef TALUS_FORCE_MODEL_H
#define TALUS_FORCE_MODEL_H

#include "alloc_guard.h"
#include "talus_test.h"

#include <talus/forces.h>

#include <math.h>

enum {
    MODEL_BODIES = 6,
    MODEL_NU = 14,
    MODEL_MAX_NQ = 17
};

/// Ground, then free (quaternion), pin on it, gimbal on that; slider on Ground, ball with angles on
/// it. Frames are turned and centers of mass away from every origin.
typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_body_ix body[MODEL_BODIES];
    tal_state *state;
} model;

enum {
    FREE = 1,
    PIN = 2,
    GIMBAL = 3,
    SLIDER = 4,
    BALL = 5
};

static inline tal_mobod_def model_random_def(test_rng *rng)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = test_random_mass_props(rng);
    def.X_PF = test_random_xform(rng);
    def.X_BM = test_random_xform(rng);
    return def;
}

/// In a System that may hold other subsystems already.
static inline model model_begin_in(tal_system *system)
{
    test_rng rng = test_rng_seed(21);
    model m = {.system = system};
    m.matter = tal_matter_create(m.system);
    m.forces = tal_forces_create(m.system, m.matter);
    m.body[0] = TAL_GROUND;
    tal_mobod_def def = model_random_def(&rng);
    m.body[FREE] = tal_matter_add_free(m.matter, TAL_GROUND, &def);
    def = model_random_def(&rng);
    m.body[PIN] = tal_matter_add_pin(m.matter, m.body[FREE], &def);
    def = model_random_def(&rng);
    m.body[GIMBAL] = tal_matter_add_gimbal(m.matter, m.body[PIN], &def);
    def = model_random_def(&rng);
    m.body[SLIDER] = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
    def = model_random_def(&rng);
    def.use_angles = true;
    m.body[BALL] = tal_matter_add_ball(m.matter, m.body[SLIDER], &def);
    return m;
}

static inline model model_begin(void)
{
    return model_begin_in(tal_system_create(NULL));
}

static inline void model_realize(model *m, tal_stage stage)
{
    ck_assert_msg(tal_system_realize(m->system, m->state, stage) == TAL_OK, "%s",
                  tal_state_error(m->state)->message);
}

/// Random q and u, of size one, at Velocity.
static inline void model_shake(model *m, uint64_t seed)
{
    test_rng rng = test_rng_seed(seed);
    double *y = tal_state_upd_y(m->state);
    for (int i = 0; i < tal_state_nq(m->state) + tal_state_nu(m->state); ++i) {
        y[i] = test_random_uniform(&rng, -1.0, 1.0);
    }
    model_realize(m, TAL_STAGE_VELOCITY);
}

static inline void model_finish(model *m)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(m->system, &m->state, &err) == TAL_OK, "%s", err.message);
    model_shake(m, 22);
}

/// What building such a model returns, with its sentence in `err`.
static inline tal_status model_refuse(model *m, tal_error *err)
{
    const tal_status st = tal_system_realize_topology(m->system, err);
    tal_system_destroy(m->system);
    return st;
}

static inline void model_end(model *m)
{
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

/// What one element applies, about Mo.
typedef struct load {
    tal_spatial_vec F[MODEL_BODIES];
    double f[MODEL_NU];
} load;

/// Forces about Bo become forces about Mo, with `sign` 1; -1 is the way back.
static inline void model_shift(const model *m, tal_state *state, double sign, tal_spatial_vec F[])
{
    const tal_bodies_view poses = tal_matter_poses(m->matter, state);
    for (int b = 0; b < MODEL_BODIES; ++b) {
        const tal_xform X_MB = tal_body_X_MB(m->matter, state, m->body[b]);
        const tal_vec3 p_MB = tal_m3_mul_v3(tal_view_X_GM(&poses, b)->R, X_MB.p);
        F[b] = tal_sv_shift_force(F[b], tal_v3_scale(sign, p_MB));
    }
}

static inline load model_load(model *m, tal_force_ix force)
{
    load on;
    memset(&on, 0, sizeof on);
    ck_assert_msg(tal_force_apply(m->forces, m->state, force, on.F, on.f) == TAL_OK, "%s",
                  tal_state_error(m->state)->message);
    model_shift(m, m->state, 1.0, on.F);
    return on;
}

/// Forces along the speeds that do the same: g = f + J^T F, at any State of the model.
static inline void model_generalized(const model *m, tal_state *state, const load *on, double g[])
{
    tal_spatial_vec F[MODEL_BODIES];
    memcpy(F, on->F, sizeof F);
    model_shift(m, state, -1.0, F);
    ck_assert_int_eq(tal_matter_mul_JT(m->matter, state, F, g), TAL_OK);
    for (int i = 0; i < MODEL_NU; ++i) {
        g[i] += on->f[i];
    }
}

/// Force and moment about Ground's origin, summed over all bodies, Ground included.
static inline tal_spatial_vec model_total(model *m, const load *on)
{
    const tal_bodies_view poses = tal_matter_poses(m->matter, m->state);
    tal_spatial_vec sum = TAL_SPATIAL_VEC_ZERO;
    for (int b = 0; b < MODEL_BODIES; ++b) {
        sum = tal_sv_add(sum, tal_sv_shift_force(on->F[b], tal_view_X_GM(&poses, b)->p));
    }
    return sum;
}

/// Power of what an element applies.
static inline double model_power(model *m, const load *on)
{
    const tal_bodies_view velocities = tal_matter_velocities(m->matter, m->state);
    double power = 0.0;
    for (int b = 0; b < MODEL_BODIES; ++b) {
        power += tal_sv_dot(on->F[b], *tal_view_V_GM(&velocities, b));
    }
    for (int i = 0; i < MODEL_NU; ++i) {
        power += on->f[i] * tal_state_u(m->state)[i];
    }
    return power;
}

/// dE/dt of one element's potential energy along the State's qdot: central differences of steps h
/// and 2h, extrapolated. For a smooth energy of size one the error is O(h^4) and eps E / h: 1e-11.
/// The State is left as it was, at Velocity.
static inline double model_energy_rate(model *m, tal_force_ix force)
{
    double q[MODEL_MAX_NQ], qdot[MODEL_MAX_NQ], slope[2];
    const int nq = tal_state_nq(m->state);
    memcpy(q, tal_state_q(m->state), (size_t)nq * sizeof *q);
    memcpy(qdot, tal_state_qdot(m->state), (size_t)nq * sizeof *q);
    for (int k = 0; k < 2; ++k) {
        const double h = k == 0 ? 5e-4 : 1e-3;
        double energy[2];
        for (int side = 0; side < 2; ++side) {
            double moved[MODEL_MAX_NQ];
            for (int i = 0; i < nq; ++i) {
                moved[i] = q[i] + (side == 0 ? -h : h) * qdot[i];
            }
            tal_state_set_q(m->state, moved, nq);
            model_realize(m, TAL_STAGE_POSITION);
            energy[side] = tal_force_potential_energy(m->forces, m->state, force);
        }
        slope[k] = (energy[1] - energy[0]) / (2.0 * h);
    }
    tal_state_set_q(m->state, q, nq);
    model_realize(m, TAL_STAGE_VELOCITY);
    return (4.0 * slope[0] - slope[1]) / 3.0;
}

/// Potential energy gained + power given + power dissipated = 0, at several States.
static inline void model_check_balance(model *m, tal_force_ix force, double tol)
{
    for (uint64_t seed = 100; seed < 110; ++seed) {
        model_shake(m, seed);
        const load on = model_load(m, force);
        const double dissipated = tal_force_dissipated_power(m->forces, m->state, force);
        ck_assert_double_ge(dissipated, 0.0);
        ck_assert_double_eq_tol(model_power(m, &on) + dissipated, -model_energy_rate(m, force),
                                tol);
    }
}

/// Action and reaction: nothing is left over, at several States.
static inline void model_check_reaction(model *m, tal_force_ix force, double tol)
{
    for (uint64_t seed = 200; seed < 210; ++seed) {
        model_shake(m, seed);
        const load on = model_load(m, force);
        test_assert_sv_near(model_total(m, &on), TAL_SPATIAL_VEC_ZERO, tol);
    }
}

/// What the public tester says, at several States. Its differences are right to 1e-10 for forces
/// and scales of size one.
static inline void model_check_by_tester(model *m, tal_force_ix force, double tol)
{
    for (uint64_t seed = 1; seed < 5; ++seed) {
        model_shake(m, seed);
        tal_force_report report;
        tal_error err = {0};
        ck_assert_msg(tal_force_test(m->forces, m->state, force, &report, &err) == TAL_OK, "%s",
                      err.message);
        ck_assert_double_lt(report.worst, tol);
    }
}

/// Setting parameter i to `value` takes the State below `stage` and not further, and changes what
/// the element applies; putting it back restores that bit for bit.
static inline void model_check_param(model *m, tal_force_ix force, int i, double value,
                                     tal_stage stage)
{
    model_shake(m, 300);
    model_realize(m, TAL_STAGE_ACCELERATION);
    const load before = model_load(m, force);
    const double old = tal_force_param(m->forces, m->state, force, i);
    ck_assert_int_eq(tal_force_param_stage(m->forces, force, i), stage);
    ck_assert_int_eq(tal_force_set_param(m->forces, m->state, force, i, value), TAL_OK);
    ck_assert_int_eq(tal_state_stage(m->state), stage - 1);
    ck_assert_double_eq(tal_force_param(m->forces, m->state, force, i), value);
    model_realize(m, TAL_STAGE_ACCELERATION);
    load after = model_load(m, force);
    ck_assert_int_ne(memcmp(&before, &after, sizeof before), 0);
    ck_assert_int_eq(tal_force_set_param(m->forces, m->state, force, i, old), TAL_OK);
    model_realize(m, TAL_STAGE_VELOCITY);
    after = model_load(m, force);
    ck_assert_int_eq(memcmp(&before, &after, sizeof before), 0);
}

/// A bad value is refused with a sentence that names it, and nothing changes.
static inline void model_check_refused(model *m, tal_force_ix force, int i, double value,
                                       tal_status expected)
{
    const double old = tal_force_param(m->forces, m->state, force, i);
    model_realize(m, TAL_STAGE_VELOCITY);
    ck_assert_int_eq(tal_force_set_param(m->forces, m->state, force, i, value), expected);
    ck_assert_ptr_nonnull(
        strstr(tal_state_error(m->state)->message, tal_force_name(m->forces, force)));
    ck_assert_double_eq(tal_force_param(m->forces, m->state, force, i), old);
    ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_DYNAMICS), expected);
    model_realize(m, TAL_STAGE_DYNAMICS);
}

/// Realizing and asking touches no heap, and a disabled element moves nothing.
static inline void model_check_heap_and_switch(model *m, tal_force_ix force)
{
    tal_status st = TAL_OK;
    double e = 0.0;
    model_shake(m, 400);
    model_realize(m, TAL_STAGE_ACCELERATION);
    double with[MODEL_NU], without[MODEL_NU];
    memcpy(with, tal_state_udot(m->state), sizeof with);
    ck_assert_int_eq(tal_force_set_enabled(m->forces, m->state, force, false), TAL_OK);
    test_assert_no_heap(st = tal_system_realize(m->system, m->state, TAL_STAGE_ACCELERATION));
    ck_assert_int_eq(st, TAL_OK);
    memcpy(without, tal_state_udot(m->state), sizeof without);
    ck_assert_int_ne(memcmp(with, without, sizeof with), 0);
    ck_assert_int_eq(tal_force_set_enabled(m->forces, m->state, force, true), TAL_OK);
    test_assert_no_heap(st = tal_system_realize(m->system, m->state, TAL_STAGE_ACCELERATION));
    test_assert_near(tal_state_udot(m->state), with, MODEL_NU, 0.0, "udot");
    test_assert_no_heap(e = tal_forces_potential_energy(m->forces, m->state));
    test_assert_no_heap(e += tal_forces_dissipated_power(m->forces, m->state));
    ck_assert(isfinite(e));
}

#endif // TALUS_FORCE_MODEL_H
