// A block on a floor, and a rod on its tip: models for the tests of unilateral elements.
#ifndef TALUS_UNILATERAL_SUPPORT_H
#define TALUS_UNILATERAL_SUPPORT_H

#include "constraint_support.h"

#include <talus/matter/unilaterals.h>

enum {
    CORNERS = 4
};

/// A free block, half as long as (0.5, 0.3, 0.2), of 2 kg, on a floor, with a contact at each lower
/// corner: ++, +-, -+, --. Test model first, so that it can be used as one.
typedef struct block {
    test_model model;
    tal_body_ix body;
    tal_unilateral_ix corner[CORNERS];
} block;

static inline tal_unilateral_material dry(double static_mu, double sliding_mu)
{
    tal_unilateral_material material = tal_unilateral_material_default();
    material.static_mu = static_mu;
    material.sliding_mu = sliding_mu;
    return material;
}

static inline tal_unilateral_material bouncy(double mu, double e)
{
    tal_unilateral_material material = dry(mu, mu);
    material.restitution = e;
    return material;
}

static inline double kinetic(const test_model *model)
{
    return tal_matter_kinetic_energy(model->matter, model->state);
}

/// A function of n arguments with these weights.
static inline tal_function *linear(const double a[], int n)
{
    tal_function *f = NULL;
    tal_error err;
    ck_assert_int_eq(tal_function_create_linear(NULL, a, n, 0.0, &f, &err), TAL_OK);
    return f;
}

static inline tal_xform floor_at(double height)
{
    return tal_xf_from_p(tal_v3(0.0, 0.0, height));
}

/// Bodies and contacts; more may be added before it is frozen.
static inline void block_begin(block *it, tal_unilateral_material material)
{
    const tal_vec3 half = tal_v3(0.5, 0.3, 0.2);
    const tal_xform plane = floor_at(-half.z);
    test_model_begin(&it->model);
    it->model.gravity = tal_v3(0.0, 0.0, -9.81);
    tal_mobod_def def = tal_mobod_def_default();
    def.name = "block";
    def.mass.mass = 2.0;
    const double third = 2.0 / 3.0;
    def.mass.inertia = tal_s3_diag(third * (half.y * half.y + half.z * half.z),
                                   third * (half.x * half.x + half.z * half.z),
                                   third * (half.x * half.x + half.y * half.y));
    it->body = tal_matter_add_free(it->model.matter, TAL_GROUND, &def);
    for (int k = 0; k < CORNERS; ++k) {
        tal_unilateral_def contact = tal_unilateral_def_default();
        contact.material = material;
        const tal_vec3 at =
            tal_v3(k < 2 ? half.x : -half.x, k % 2 == 0 ? half.y : -half.y, -half.z);
        it->corner[k] = tal_unilateral_add_point_on_plane(it->model.matter, &contact, TAL_GROUND,
                                                          &plane, it->body, at);
    }
}

static inline void block_create(block *it, tal_unilateral_material material)
{
    block_begin(it, material);
    test_model_freeze(&it->model);
    test_model_realize(&it->model, TAL_STAGE_TIME);
}

static inline void block_set_modes(block *it, tal_unilateral_mode mode, const double direction[2])
{
    for (int k = 0; k < CORNERS; ++k) {
        ck_assert_int_eq(tal_unilateral_set_mode(it->model.matter, it->model.state, it->corner[k],
                                                 mode, direction),
                         TAL_OK);
    }
}

/// A uniform rod of 1 kg and 1 m in the xy plane, y up, its tip at the lower left; angle from the
/// horizontal. Planar mobilizer: q and u are (angle, x, y). The tip is where Ground's origin is.
typedef struct rod {
    test_model model;
    tal_body_ix body;
    tal_unilateral_ix tip;
} rod;

static inline void rod_begin(rod *it, double angle, tal_unilateral_material material)
{
    test_model_begin(&it->model);
    it->model.gravity = tal_v3(0.0, -9.81, 0.0);
    tal_mobod_def def = tal_mobod_def_default();
    def.name = "rod";
    def.mass.mass = 1.0;
    def.mass.inertia = tal_s3_diag(1e-3, 1.0 / 12.0, 1.0 / 12.0);
    it->body = tal_matter_add_planar(it->model.matter, TAL_GROUND, &def);
    const double q[3] = {angle, 0.5 * cos(angle), 0.5 * sin(angle)};
    ck_assert_int_eq(tal_body_set_initial_q(it->model.matter, it->body, q, 3), TAL_OK);
    tal_unilateral_def contact = tal_unilateral_def_default();
    contact.name = "tip";
    contact.material = material;
    // y of Ground is up: z of the plane, and x of the plane is x of Ground
    const tal_xform plane =
        tal_xf(tal_m3(tal_v3(1.0, 0.0, 0.0), tal_v3(0.0, 0.0, -1.0), tal_v3(0.0, 1.0, 0.0)),
               TAL_VEC3_ZERO);
    it->tip = tal_unilateral_add_point_on_plane(it->model.matter, &contact, TAL_GROUND, &plane,
                                                it->body, tal_v3(-0.5, 0.0, 0.0));
}

static inline void rod_create(rod *it, double angle, tal_unilateral_material material)
{
    rod_begin(it, angle, material);
    test_model_freeze(&it->model);
    test_model_realize(&it->model, TAL_STAGE_TIME);
}

#endif // TALUS_UNILATERAL_SUPPORT_H
