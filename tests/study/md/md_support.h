// Molecular dynamics of small Systems, for its tests.
#ifndef TALUS_MD_SUPPORT_H
#define TALUS_MD_SUPPORT_H

#include "../scene_support.h"

static inline void ready(scene *s, const tal_md_def *def)
{
    tal_error err;
    create_state(s);
    const tal_status st = tal_md_create(s->system, def, &s->md, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
}

static inline void run(scene *s, int steps)
{
    const tal_status st = tal_md_run(s->md, s->state, steps);
    ck_assert_msg(st == TAL_OK, "%s", tal_md_error(s->md)->message);
}

static inline tal_md_def def_of(tal_md_bath bath, double step)
{
    tal_md_def def = tal_md_def_default();
    def.bath = bath;
    def.step = step;
    return def;
}

// A free body that two pins, a ball and a slider hang on, held by springs: quaternions, Coriolis
// forces, a mass matrix that changes.
static inline void add_tree(scene *s)
{
    tal_mobod_def body = tal_mobod_def_default();
    const tal_mass_props brick = tal_mass_props_brick(2.0, tal_v3(0.3, 0.2, 0.1));
    const tal_xform aside = tal_xf_from_p(tal_v3(0.1, -0.3, 0.2)); // its mass center is not Bo
    body.mass = tal_mass_props_transform(&aside, &brick);
    body.X_BM = tal_xf_from_p(tal_v3(0.0, 0.4, 0.0));
    body.X_PF = tal_xf_from_p(tal_v3(0.1, -0.5, 0.2));
    const tal_body_ix root = tal_matter_add_free(s->matter, TAL_GROUND, &body);
    const tal_body_ix pin = tal_matter_add_pin(s->matter, root, &body);
    const tal_body_ix ball = tal_matter_add_ball(s->matter, pin, &body);
    (void)tal_matter_add_pin(s->matter, ball, &body);
    (void)tal_matter_add_slider(s->matter, root, &body);
    const tal_two_points near = {ball, tal_v3(0.2, 0.0, 0.1), TAL_GROUND, tal_v3(0.0, 1.0, 0.3)};
    const tal_two_points far = {(tal_body_ix){5}, tal_v3(0.0, 0.1, 0.1), (tal_body_ix){4},
                                tal_v3(0.2, 0.2, 0.0)};
    (void)tal_forces_add_two_point_spring(s->forces, "near", &near, 40.0, 0.4);
    (void)tal_forces_add_two_point_spring(s->forces, "far", &far, 30.0, 0.5);
}

static inline void stir(scene *s, uint64_t seed, double q_size, double u_size)
{
    test_rng rng = test_rng_seed(seed);
    double *q = tal_state_upd_q(s->state);
    for (int i = 0; i < tal_state_nq(s->state); ++i) {
        q[i] += q_size * test_random_uniform(&rng, -1.0, 1.0);
    }
    double *u = tal_state_upd_u(s->state);
    for (int i = 0; i < tal_state_nu(s->state); ++i) {
        u[i] = u_size * test_random_uniform(&rng, -1.0, 1.0);
    }
    ck_assert_int_eq(tal_system_realize(s->system, s->state, TAL_STAGE_INSTANCE), TAL_OK);
    ck_assert_int_eq(tal_system_prescribe_and_project(s->system, s->state, NULL, NULL), TAL_OK);
}

static inline void add_oscillator(scene *s, double m, double k)
{
    tal_mobod_def body = tal_mobod_def_default();
    body.mass.mass = m;
    const tal_body_ix block = tal_matter_add_slider(s->matter, TAL_GROUND, &body);
    (void)tal_forces_add_mobility_spring(s->forces, "spring", (tal_mobility){block, 0}, k, 0.0);
}

#endif // TALUS_MD_SUPPORT_H
