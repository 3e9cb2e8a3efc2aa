// Contact of two spheres that may roll on each other, centers c1 on body 1 and c2 on body 2.
//
//     c2 - c1 = r n        perr = r - (radius1 + radius2)
//     verr = (x, y) . (v2 - v1) at C = c1 + radius1 / (radius1 + radius2) (c2 - c1)
//     force lambda0 n + lambda1 x + lambda2 y on body 2 at C, its opposite on body 1 there
//
// Where sphere 2 is inside sphere 1 its radius counts with the opposite sign.
//
// x is across n and the axis of body 1 that is least along n; y = n x x.
#include "constraint/type/constraint_builtin_internal.h"

#include <math.h>

typedef struct contact {
    tali_jet distance;
    tali_jet3 n, x, y;
    tali_jet3 C;
} contact;

// The axis of body 1 that makes the largest angle with n.
static tal_vec3 least_along(const tal_constraint_arg *arg, tal_vec3 n)
{
    const tal_vec3 n_B = tal_m3_tmul_v3(arg->X_AB[0].R, n);
    const double x = fabs(n_B.x), y = fabs(n_B.y), z = fabs(n_B.z);
    if (x <= y && x <= z) return tal_v3(1.0, 0.0, 0.0);
    return y <= z ? tal_v3(0.0, 1.0, 0.0) : tal_v3(0.0, 0.0, 1.0);
}

static const char inside; // the `kind` of spheres in spheres

static contact find_contact(const tali_constraint_builtin *self, const tal_constraint_arg *arg)
{
    const double *params = arg->params;
    const double sign = self->kind == &inside ? -1.0 : 1.0;
    const double radius1 = params[TAL_SPHERE_ON_SPHERE_RADIUS_1];
    const double radius2 = sign * params[TAL_SPHERE_ON_SPHERE_RADIUS_2];
    const tali_jet3 c1 = tali_constraint_station(
        arg, 0, tali_constraint_v3_from(params + TAL_SPHERE_ON_SPHERE_CENTER_1));
    const tali_jet3 c2 = tali_constraint_station(
        arg, 1, tali_constraint_v3_from(params + TAL_SPHERE_ON_SPHERE_CENTER_2));
    const tali_jet3 d = tali_jet3_sub(c2, c1);
    contact at;
    at.distance = tali_jet3_polar(d, tal_v3(0.0, 0.0, 1.0), &at.n);
    at.distance.x -= radius1 + radius2;
    at.C = tali_jet3_add(c1, tali_jet3_scale(radius1 / (radius1 + radius2), d));
    const tali_jet3 e = tali_constraint_axis(arg, 0, least_along(arg, at.n.x));
    (void)tali_jet3_polar(tali_jet3_cross(e, at.n), TAL_VEC3_ZERO, &at.x);
    at.y = tali_jet3_cross(at.n, at.x);
    return at;
}

static void calc_rows(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                      tali_jet row[])
{
    const contact at = find_contact(self, arg);
    if (self->mp > 0) row[0] = at.distance;
    if (self->mv > 0) tali_constraint_slip_rows(arg, at.C, at.x, at.y, row + self->mp);
}

static tal_status add_forces(const void *self, const tal_constraint_arg *arg, const double lambda[],
                             tal_spatial_vec F[], double f[])
{
    (void)f;
    const tali_constraint_builtin *c = self;
    const contact at = find_contact(c, arg);
    const double *drag = lambda + c->mp; // along x and y
    tal_vec3 push = c->mp > 0 ? tal_v3_scale(lambda[0], at.n.x) : TAL_VEC3_ZERO;
    if (c->mv > 0) push = tal_v3_axpy(drag[0], at.x.x, tal_v3_axpy(drag[1], at.y.x, push));
    tali_constraint_push_apart(arg, 0, 1, at.C.x, push, F);
    return TAL_OK;
}

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
    .add_forces = add_forces,
    .check_params = check_params,
};

static const tal_constraint_ops rolling_ops = {
    .name = "rolling sphere on sphere",
    .tag = TALI_TAG_SPHERE_ON_SPHERE_ROLLING,
    .mp = 1,
    .mv = 2,
    .num_bodies = 2,
    .num_params = TAL_SPHERE_ON_SPHERE_NUM_PARAMS,
    .add_forces = add_forces,
    .check_params = check_params,
};

static const tal_constraint_ops grip_ops = {
    .name = "grip of a sphere on a sphere",
    .tag = TALI_TAG_SPHERE_ON_SPHERE_GRIP,
    .mv = 2,
    .num_bodies = 2,
    .num_params = TAL_SPHERE_ON_SPHERE_NUM_PARAMS,
    .add_forces = add_forces,
    .check_params = check_params,
};

static const tal_constraint_ops inside_ops = {
    .name = "sphere in sphere contact",
    .tag = TALI_TAG_SPHERE_IN_SPHERE_CONTACT,
    .mp = 1,
    .num_bodies = 2,
    .num_params = TAL_SPHERE_ON_SPHERE_NUM_PARAMS,
    .add_forces = add_forces,
    .check_params = check_inside,
};

static const tal_constraint_ops inside_grip_ops = {
    .name = "grip of a sphere in a sphere",
    .tag = TALI_TAG_SPHERE_IN_SPHERE_GRIP,
    .mv = 2,
    .num_bodies = 2,
    .num_params = TAL_SPHERE_ON_SPHERE_NUM_PARAMS,
    .add_forces = add_forces,
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
    const tali_constraint_builtin like = {.calc_rows = calc_rows,
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
