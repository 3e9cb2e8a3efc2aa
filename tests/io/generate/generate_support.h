// Models for which code is generated, and Talus beside it.
#ifndef TALUS_GENERATE_SUPPORT_H
#define TALUS_GENERATE_SUPPORT_H

#include "talus_test.h"

#include <talus/io/generate.h>
#include <talus/matter/derivatives.h>

#include <math.h>
#include <stdlib.h>

typedef struct generated_model {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    test_rng rng;
    int nq, nu;
} generated_model;

typedef tal_body_ix (*generated_add)(tal_matter *matter, tal_body_ix parent,
                                     const tal_mobod_def *def);

static inline tal_body_ix generated_screw(tal_matter *matter, tal_body_ix parent,
                                          const tal_mobod_def *def)
{
    return tal_matter_add_screw(matter, parent, def, 0.3);
}

static inline tal_body_ix generated_spherical(tal_matter *matter, tal_body_ix parent,
                                              const tal_mobod_def *def)
{
    const double params[] = {0.2, -0.3, -1.0, 1.0, -1.0, 0.0};
    return tal_matter_add_spherical_coords(matter, parent, def, params);
}

static inline tal_body_ix generated_lying(tal_matter *matter, tal_body_ix parent,
                                          const tal_mobod_def *def)
{
    const double params[] = {-0.1, 0.4, 1.0, -1.0, 1.0, 1.0};
    return tal_matter_add_spherical_coords(matter, parent, def, params);
}

// All mobilizers that can be generated.
static const generated_add generated_kinds[] = {
    tal_matter_add_pin,      tal_matter_add_slider,
    generated_screw,         tal_matter_add_universal,
    tal_matter_add_cylinder, tal_matter_add_bend_stretch,
    tal_matter_add_planar,   tal_matter_add_gimbal,
    tal_matter_add_bushing,  tal_matter_add_translation,
    tal_matter_add_ball,     generated_spherical,
    generated_lying,         tal_matter_add_free,
    tal_matter_add_weld};

enum {
    GENERATED_KINDS = sizeof generated_kinds / sizeof *generated_kinds
};

static inline generated_model generated_begin(uint64_t seed)
{
    generated_model m = {.system = tal_system_create(NULL), .rng = test_rng_seed(seed)};
    m.matter = tal_matter_create(m.system);
    m.forces = tal_forces_create(m.system, m.matter);
    return m;
}

static inline tal_body_ix generated_body(generated_model *m, generated_add add, tal_body_ix parent,
                                         const tal_xform *X_PF, bool is_reversed, bool has_angles)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.X_PF = X_PF != NULL ? *X_PF : test_random_xform(&m->rng);
    if (X_PF == NULL) def.X_BM = test_random_xform(&m->rng);
    def.mass = test_random_mass_props(&m->rng);
    def.direction = is_reversed ? TAL_REVERSE : TAL_FORWARD;
    def.use_angles = has_angles;
    return add(m->matter, parent, &def);
}

static inline void generated_finish(generated_model *m)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(m->system, &m->state, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_MODEL), TAL_OK);
    m->nq = tal_state_nq(m->state);
    m->nu = tal_state_nu(m->state);
}

static inline void generated_end(generated_model *m)
{
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

// Any tree of the kinds: every body on an earlier one.
static inline generated_model generated_tree(uint64_t seed, int num_bodies, bool is_chain)
{
    generated_model m = generated_begin(seed);
    tal_forces_add_gravity(m.forces, tal_v3(1.0, -9.0, 2.0));
    for (int b = 1; b <= num_bodies; ++b) {
        const int parent = is_chain ? b - 1 : (int)(test_random_bits(&m.rng) % (uint64_t)b);
        const int kind = (int)(test_random_bits(&m.rng) % GENERATED_KINDS);
        const bool is_reversed = test_random_bits(&m.rng) % 2 == 0;
        const bool has_angles = test_random_bits(&m.rng) % 2 == 0;
        (void)generated_body(&m, generated_kinds[kind], (tal_body_ix){parent}, NULL, is_reversed,
                             has_angles);
    }
    generated_finish(&m);
    return m;
}

// n pins with any Denavit-Hartenberg parameters and any masses: RBDA's GU(n).
static inline generated_model generated_GU(int n)
{
    generated_model m = generated_begin(7);
    tal_forces_add_gravity(m.forces, tal_v3(0.0, 0.0, -9.81));
    for (int b = 0; b < n; ++b) {
        const double alpha = test_random_uniform(&m.rng, 0.3, 1.2);
        const double a = test_random_uniform(&m.rng, 0.2, 1.0);
        const double d = test_random_uniform(&m.rng, 0.2, 1.0);
        const tal_xform X =
            b == 0 ? TAL_XFORM_IDENTITY
                   : tal_xf_mul(tal_xf(tal_rotation_about(TAL_AXIS_X, alpha), tal_v3(a, 0.0, 0.0)),
                                tal_xf_from_p(tal_v3(0.0, 0.0, d)));
        (void)generated_body(&m, tal_matter_add_pin, (tal_body_ix){b}, &X, false, false);
    }
    generated_finish(&m);
    return m;
}

// Random q, with unit quaternions, and u.
static inline void generated_shake(generated_model *m)
{
    for (int b = 1; b < tal_matter_num_bodies(m->matter); ++b) {
        const tal_body_ix body = {b};
        const int nq = tal_body_nq(m->matter, m->state, body);
        const tal_quat turn = test_random_quat(&m->rng);
        for (int i = 0; i < nq; ++i) {
            const double q = test_random_uniform(&m->rng, -1.2, 1.2);
            (void)tal_body_set_q(m->matter, m->state, body, i, q);
        }
        const bool has_quaternion = nq != tal_body_nq_angles(m->matter, body);
        const double parts[4] = {turn.w, turn.x, turn.y, turn.z};
        for (int i = 0; i < 4 && has_quaternion; ++i) {
            (void)tal_body_set_q(m->matter, m->state, body, i, parts[i]);
        }
        for (int i = 0; i < tal_body_nu(m->matter, body); ++i) {
            const double u = test_random_uniform(&m->rng, -2.0, 2.0);
            (void)tal_body_set_u(m->matter, m->state, body, i, u);
        }
    }
    if (tal_matter_num_bodies(m->matter) > 1) {
        (void)tal_matter_normalize_quaternions(m->matter, m->state);
    }
    ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_VELOCITY), TAL_OK);
}

// Forces of the model's elements; both arrays are the caller's.
static inline void generated_loads(generated_model *m, tal_spatial_vec F[], double f[])
{
    for (int i = 0; i < tal_forces_num(m->forces); ++i) {
        const tal_force_ix force = {i};
        if (!tal_force_is_enabled(m->forces, m->state, force)) continue;
        ck_assert_int_eq(tal_force_apply(m->forces, m->state, force, F, f), TAL_OK);
    }
}

static inline tal_generator *generated_make(const generated_model *m, int functions)
{
    tal_generator_def def = tal_generator_def_default();
    def.functions = functions;
    tal_generator *gen = NULL;
    tal_error err = {0};
    const tal_status st = tal_generator_create(m->matter, m->forces, m->state, &def, &gen, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return gen;
}

#endif // TALUS_GENERATE_SUPPORT_H
