// Contact of two spheres that may roll on each other.
#include "constraint/type/constraint_builtin_internal.h"

#include <math.h>

// The axis of body 1 that makes the largest angle with n.
static tal_vec3 least_along(tal_mat3 R_AB, tal_vec3 n)
{
    const tal_vec3 n_B = tal_m3_tmul_v3(R_AB, n);
    const double x = fabs(n_B.x), y = fabs(n_B.y), z = fabs(n_B.z);
    if (x <= y && x <= z) return tal_v3(1.0, 0.0, 0.0);
    return y <= z ? tal_v3(0.0, 1.0, 0.0) : tal_v3(0.0, 0.0, 1.0);
}

static const char inside; // the `kind` of spheres in spheres

#define TALI_EQUATIONS "constraint/type/constraint_contact_sphere_equations.h"
#include "constraint/type/constraint_equations.h"

static tal_status check_params(const void *self, const double params[], tal_error *err)
{
    (void)self;
    const tal_status st = tali_constraint_check_positive(params[TAL_SPHERE_ON_SPHERE_RADIUS_1],
                                                         "radius on body 1", err);
    if (st != TAL_OK) return st;
    return tali_constraint_check_positive(params[TAL_SPHERE_ON_SPHERE_RADIUS_2], "radius on body 2",
                                          err);
}

static tal_status check_inside(const void *self, const double params[], tal_error *err)
{
    const tal_status st = check_params(self, params, err);
    const double outer = params[TAL_SPHERE_ON_SPHERE_RADIUS_1];
    const double inner = params[TAL_SPHERE_ON_SPHERE_RADIUS_2];
    if (st != TAL_OK || outer > inner) return st;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "the radius on body 1 is %g, and must be larger than that on body 2, %g",
                     outer, inner);
}

static const tal_constraint_ops sliding_ops = {
    .name = "sphere on sphere contact",
    .tag = TALI_TAG_SPHERE_ON_SPHERE_CONTACT,
    .mp = 1,
    .num_bodies = 2,
    .num_params = TAL_SPHERE_ON_SPHERE_NUM_PARAMS,
    .check_params = check_params,
};

static const tal_constraint_ops rolling_ops = {
    .name = "rolling sphere on sphere",
    .tag = TALI_TAG_SPHERE_ON_SPHERE_ROLLING,
    .mp = 1,
    .mv = 2,
    .num_bodies = 2,
    .num_params = TAL_SPHERE_ON_SPHERE_NUM_PARAMS,
    .check_params = check_params,
};

static const tal_constraint_ops grip_ops = {
    .name = "grip of a sphere on a sphere",
    .tag = TALI_TAG_SPHERE_ON_SPHERE_GRIP,
    .mv = 2,
    .num_bodies = 2,
    .num_params = TAL_SPHERE_ON_SPHERE_NUM_PARAMS,
    .check_params = check_params,
};

static const tal_constraint_ops inside_ops = {
    .name = "sphere in sphere contact",
    .tag = TALI_TAG_SPHERE_IN_SPHERE_CONTACT,
    .mp = 1,
    .num_bodies = 2,
    .num_params = TAL_SPHERE_ON_SPHERE_NUM_PARAMS,
    .check_params = check_inside,
};

static const tal_constraint_ops inside_grip_ops = {
    .name = "grip of a sphere in a sphere",
    .tag = TALI_TAG_SPHERE_IN_SPHERE_GRIP,
    .mv = 2,
    .num_bodies = 2,
    .num_params = TAL_SPHERE_ON_SPHERE_NUM_PARAMS,
    .check_params = check_inside,
};

static tal_constraint_ix add_spheres(tal_matter *matter, const tal_constraint_def *def,
                                     const tal_constraint_ops *ops, tal_vec3 center1,
                                     double radius1, tal_vec3 center2, double radius2)
{
    double params[TAL_SPHERE_ON_SPHERE_NUM_PARAMS];
    tali_constraint_v3_to(center1, params + TAL_SPHERE_ON_SPHERE_CENTER_1);
    params[TAL_SPHERE_ON_SPHERE_RADIUS_1] = radius1;
    tali_constraint_v3_to(center2, params + TAL_SPHERE_ON_SPHERE_CENTER_2);
    params[TAL_SPHERE_ON_SPHERE_RADIUS_2] = radius2;
    const bool is_inside = ops == &inside_ops || ops == &inside_grip_ops;
    const tali_constraint_builtin like = {.equations = TALI_EQUATION_SET(calc_rows, add_forces),
                                          .kind = is_inside ? &inside : NULL};
    return tali_constraint_add_builtin(matter, def, ops, &like, params);
}

tal_constraint_ix tali_constraint_add_sphere_in_sphere(tal_matter *matter,
                                                       const tal_constraint_def *def, bool is_grip,
                                                       tal_vec3 center1, double radius1,
                                                       tal_vec3 center2, double radius2)
{
    return add_spheres(matter, def, is_grip ? &inside_grip_ops : &inside_ops, center1, radius1,
                       center2, radius2);
}

tal_constraint_ix tal_constraint_add_sphere_on_sphere_contact(tal_matter *matter,
                                                              const tal_constraint_def *def,
                                                              tal_vec3 center1, double radius1,
                                                              tal_vec3 center2, double radius2,
                                                              bool rolling)
{
    return add_spheres(matter, def, rolling ? &rolling_ops : &sliding_ops, center1, radius1,
                       center2, radius2);
}

tal_constraint_ix tali_constraint_add_sphere_on_sphere_grip(tal_matter *matter,
                                                            const tal_constraint_def *def,
                                                            tal_vec3 center1, double radius1,
                                                            tal_vec3 center2, double radius2)
{
    return add_spheres(matter, def, &grip_ops, center1, radius1, center2, radius2);
}
