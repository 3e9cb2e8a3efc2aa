// Contact with a plane: a point, or a sphere or a disk that may roll. The plane is xy of a frame P
// on body 1.
//
//     point S:   perr = z . (S - P)      verr = rates of x . (S - P), y . (S - P)
//     sphere c:  perr = z . (C - P)      verr = (x, y) . (v2 - v1) at C = c - radius z
//     disk c, a: perr = z . (C - P)      verr = (x, y) . (v2 - v1) at C = c - radius e
//                e = (z - (a . z) a) / |z - (a . z) a|, up along the disk
//
//     force lambda0 z + lambda1 x + lambda2 y on body 2 at S or C, its opposite on body 1 there
//
// C is the lowest point of the sphere or of the disk's edge. It moves over the material of both
// bodies, and its velocity is part of the rate of verr. Along z it has the velocity of the material
// there, since it is the lowest: the force at C is the transpose of perr, too.
//
// A disk that lies flat has no lowest point: e is then x, and constant.
#include "constraint/type/constraint_builtin_internal.h"

static tali_jet3 push_direction(const tal_constraint_arg *arg, tal_mat3 R_P, int axis)
{
    return tali_constraint_axis(arg, 0, axis == 0 ? R_P.x : axis == 1 ? R_P.y : R_P.z);
}

// The force of the multipliers, in A: the normal one if there is one, then those along x and y.
static tal_vec3 contact_force(const tal_constraint_arg *arg, tal_mat3 R_P, const double lambda[],
                              int normals, int slips)
{
    const tal_vec3 push_P =
        tal_v3(slips > 0 ? lambda[normals] : 0.0, slips > 1 ? lambda[normals + 1] : 0.0,
               normals > 0 ? lambda[0] : 0.0);
    return tal_m3_mul_v3(arg->X_AB[0].R, tal_m3_mul_v3(R_P, push_P));
}

// --- a point ---

// The height of the point, and its slip where it may not slip.
static void calc_rows_of_point(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                               tali_jet row[])
{
    const tal_xform X_P = tali_constraint_frame_from(arg->params + TAL_POINT_ON_PLANE_FRAME);
    const tali_jet3 S = tali_constraint_station(
        arg, 1, tali_constraint_v3_from(arg->params + TAL_POINT_ON_PLANE_STATION));
    const tali_jet3 p = tali_jet3_sub(S, tali_constraint_station(arg, 0, X_P.p));
    row[0] = tali_jet3_dot(push_direction(arg, X_P.R, 2), p);
    if (self->mv == 0) return;
    row[1] = tali_constraint_rate_row(tali_jet3_dot(push_direction(arg, X_P.R, 0), p));
    row[2] = tali_constraint_rate_row(tali_jet3_dot(push_direction(arg, X_P.R, 1), p));
}

static tal_status add_forces_of_point(const void *self, const tal_constraint_arg *arg,
                                      const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)f;
    const tali_constraint_builtin *it = self;
    const tal_xform X_P = tali_constraint_frame_from(arg->params + TAL_POINT_ON_PLANE_FRAME);
    const tal_vec3 S = tal_xf_apply(
        arg->X_AB[1], tali_constraint_v3_from(arg->params + TAL_POINT_ON_PLANE_STATION));
    tali_constraint_push_apart(arg, 0, 1, S, contact_force(arg, X_P.R, lambda, 1, it->mv), F);
    return TAL_OK;
}

static tal_status check_point(const void *self, const double params[], tal_error *err)
{
    (void)self;
    return tali_constraint_check_rotation(params + TAL_POINT_ON_PLANE_FRAME, "plane", err);
}

static const tal_constraint_ops point_ops = {
    .name = "point on plane contact",
    .tag = TALI_TAG_POINT_ON_PLANE_CONTACT,
    .mp = 1,
    .mv = 2,
    .num_bodies = 2,
    .num_params = TAL_POINT_ON_PLANE_NUM_PARAMS,
    .add_forces = add_forces_of_point,
    .check_params = check_point,
};

static const tal_constraint_ops point_normal_ops = {
    .name = "point over plane",
    .tag = TALI_TAG_POINT_OVER_PLANE,
    .mp = 1,
    .num_bodies = 2,
    .num_params = TAL_POINT_ON_PLANE_NUM_PARAMS,
    .add_forces = add_forces_of_point,
    .check_params = check_point,
};

static tal_constraint_ix add_point(tal_matter *matter, const tal_constraint_def *def,
                                   const tal_constraint_ops *ops, const tal_xform *plane,
                                   tal_vec3 station)
{
    if (plane == NULL) return tali_constraint_refuse_null(matter, ops->name);
    double params[TAL_POINT_ON_PLANE_NUM_PARAMS];
    tali_constraint_frame_to(plane, params + TAL_POINT_ON_PLANE_FRAME);
    tali_constraint_v3_to(station, params + TAL_POINT_ON_PLANE_STATION);
    const tali_constraint_builtin like = {.calc_rows = calc_rows_of_point};
    return tali_constraint_add_builtin(matter, def, ops, &like, params);
}

tal_constraint_ix tal_constraint_add_point_on_plane_contact(tal_matter *matter,
                                                            const tal_constraint_def *def,
                                                            const tal_xform *plane,
                                                            tal_vec3 station)
{
    return add_point(matter, def, &point_ops, plane, station);
}

tal_constraint_ix tali_constraint_add_point_over_plane(tal_matter *matter,
                                                       const tal_constraint_def *def,
                                                       const tal_xform *plane, tal_vec3 station)
{
    return add_point(matter, def, &point_normal_ops, plane, station);
}

// --- the grip of a point: where it is in the plane, less where it is anchored ---

enum {
    POINT_GRIP_ANCHOR = TALI_CONSTRAINT_POINT_GRIP_ANCHOR, // behind the parameters of the point
    POINT_GRIP_NUM_PARAMS = POINT_GRIP_ANCHOR + 2
};

static void calc_rows_of_grip(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                              tali_jet row[])
{
    (void)self;
    const tal_xform X_P = tali_constraint_frame_from(arg->params + TAL_POINT_ON_PLANE_FRAME);
    const tali_jet3 S = tali_constraint_station(
        arg, 1, tali_constraint_v3_from(arg->params + TAL_POINT_ON_PLANE_STATION));
    const tali_jet3 p = tali_jet3_sub(S, tali_constraint_station(arg, 0, X_P.p));
    for (int r = 0; r < 2; ++r) {
        row[r] = tali_jet3_dot(push_direction(arg, X_P.R, r), p);
        row[r].x -= arg->params[POINT_GRIP_ANCHOR + r];
    }
}

static tal_status add_forces_of_grip(const void *self, const tal_constraint_arg *arg,
                                     const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    const tal_xform X_P = tali_constraint_frame_from(arg->params + TAL_POINT_ON_PLANE_FRAME);
    const tal_vec3 S = tal_xf_apply(
        arg->X_AB[1], tali_constraint_v3_from(arg->params + TAL_POINT_ON_PLANE_STATION));
    tali_constraint_push_apart(arg, 0, 1, S, contact_force(arg, X_P.R, lambda, 0, 2), F);
    return TAL_OK;
}

static const tal_constraint_ops point_grip_ops = {
    .name = "grip of a point on a plane",
    .tag = TALI_TAG_POINT_ON_PLANE_GRIP,
    .mp = 2,
    .num_bodies = 2,
    .num_params = POINT_GRIP_NUM_PARAMS,
    .add_forces = add_forces_of_grip,
    .check_params = check_point,
};

tal_constraint_ix tali_constraint_add_point_on_plane_grip(tal_matter *matter,
                                                          const tal_constraint_def *def,
                                                          const tal_xform *plane, tal_vec3 station)
{
    if (plane == NULL) return tali_constraint_refuse_null(matter, point_grip_ops.name);
    double params[POINT_GRIP_NUM_PARAMS] = {0.0};
    tali_constraint_frame_to(plane, params + TAL_POINT_ON_PLANE_FRAME);
    tali_constraint_v3_to(station, params + TAL_POINT_ON_PLANE_STATION);
    const tali_constraint_builtin like = {.calc_rows = calc_rows_of_grip};
    return tali_constraint_add_builtin(matter, def, &point_grip_ops, &like, params);
}

// --- what rests on its lowest point: a sphere ---

// The height of the lowest point C, and its slip; a grip has no height.
static void calc_rows_at(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                         const tal_xform *X_P, tali_jet3 C, tali_jet row[])
{
    const tali_jet3 z = push_direction(arg, X_P->R, 2);
    if (self->mp > 0) {
        row[0] = tali_jet3_dot(z, tali_jet3_sub(C, tali_constraint_station(arg, 0, X_P->p)));
    }
    if (self->mv == 0) return;
    tali_constraint_slip_rows(arg, C, push_direction(arg, X_P->R, 0),
                              push_direction(arg, X_P->R, 1), row + self->mp);
}

// The contact force at the lowest point C.
static tal_status add_forces_at(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                                const tal_xform *X_P, tal_vec3 C, const double lambda[],
                                tal_spatial_vec F[])
{
    const tal_vec3 force = contact_force(arg, X_P->R, lambda, self->mp, self->mv);
    tali_constraint_push_apart(arg, 0, 1, C, force, F);
    return TAL_OK;
}

static tali_jet3 lowest_point(const tal_constraint_arg *arg, tal_mat3 R_P)
{
    const double *params = arg->params;
    const tali_jet3 c = tali_constraint_station(
        arg, 1, tali_constraint_v3_from(params + TAL_SPHERE_ON_PLANE_CENTER));
    const double radius = params[TAL_SPHERE_ON_PLANE_RADIUS];
    return tali_jet3_sub(c, tali_jet3_scale(radius, push_direction(arg, R_P, 2)));
}

static void calc_rows_of_sphere(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                                tali_jet row[])
{
    const tal_xform X_P = tali_constraint_frame_from(arg->params + TAL_SPHERE_ON_PLANE_FRAME);
    calc_rows_at(self, arg, &X_P, lowest_point(arg, X_P.R), row);
}

static tal_status add_forces_of_sphere(const void *self, const tal_constraint_arg *arg,
                                       const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)f;
    const tal_xform X_P = tali_constraint_frame_from(arg->params + TAL_SPHERE_ON_PLANE_FRAME);
    return add_forces_at(self, arg, &X_P, lowest_point(arg, X_P.R).x, lambda, F);
}

static tal_status check_sphere(const void *self, const double params[], tal_error *err)
{
    (void)self;
    const tal_status st =
        tali_constraint_check_rotation(params + TAL_SPHERE_ON_PLANE_FRAME, "plane", err);
    if (st != TAL_OK) return st;
    return tali_constraint_check_positive(params[TAL_SPHERE_ON_PLANE_RADIUS], "radius", err);
}

static const tal_constraint_ops sphere_ops = {
    .name = "sphere on plane contact",
    .tag = TALI_TAG_SPHERE_ON_PLANE_CONTACT,
    .mp = 1,
    .num_bodies = 2,
    .num_params = TAL_SPHERE_ON_PLANE_NUM_PARAMS,
    .add_forces = add_forces_of_sphere,
    .check_params = check_sphere,
};

static const tal_constraint_ops rolling_ops = {
    .name = "rolling sphere on plane",
    .tag = TALI_TAG_SPHERE_ON_PLANE_ROLLING,
    .mp = 1,
    .mv = 2,
    .num_bodies = 2,
    .num_params = TAL_SPHERE_ON_PLANE_NUM_PARAMS,
    .add_forces = add_forces_of_sphere,
    .check_params = check_sphere,
};

static const tal_constraint_ops grip_ops = {
    .name = "grip of a sphere on a plane",
    .tag = TALI_TAG_SPHERE_ON_PLANE_GRIP,
    .mv = 2,
    .num_bodies = 2,
    .num_params = TAL_SPHERE_ON_PLANE_NUM_PARAMS,
    .add_forces = add_forces_of_sphere,
    .check_params = check_sphere,
};

static tal_constraint_ix add_sphere(tal_matter *matter, const tal_constraint_def *def,
                                    const tal_constraint_ops *ops, const tal_xform *plane,
                                    tal_vec3 center, double radius)
{
    if (plane == NULL) return tali_constraint_refuse_null(matter, ops->name);
    double params[TAL_SPHERE_ON_PLANE_NUM_PARAMS];
    tali_constraint_frame_to(plane, params + TAL_SPHERE_ON_PLANE_FRAME);
    tali_constraint_v3_to(center, params + TAL_SPHERE_ON_PLANE_CENTER);
    params[TAL_SPHERE_ON_PLANE_RADIUS] = radius;
    const tali_constraint_builtin like = {.calc_rows = calc_rows_of_sphere};
    return tali_constraint_add_builtin(matter, def, ops, &like, params);
}

tal_constraint_ix tal_constraint_add_sphere_on_plane_contact(tal_matter *matter,
                                                             const tal_constraint_def *def,
                                                             const tal_xform *plane,
                                                             tal_vec3 center, double radius,
                                                             bool rolling)
{
    return add_sphere(matter, def, rolling ? &rolling_ops : &sphere_ops, plane, center, radius);
}

tal_constraint_ix tali_constraint_add_sphere_on_plane_grip(tal_matter *matter,
                                                           const tal_constraint_def *def,
                                                           const tal_xform *plane, tal_vec3 center,
                                                           double radius)
{
    return add_sphere(matter, def, &grip_ops, plane, center, radius);
}

// --- a disk ---

static tali_jet3 lowest_point_of_disk(const tal_constraint_arg *arg, tal_mat3 R_P)
{
    const double *params = arg->params;
    const tali_jet3 c =
        tali_constraint_station(arg, 1, tali_constraint_v3_from(params + TAL_DISK_ON_PLANE_CENTER));
    const tali_jet3 a =
        tali_constraint_axis(arg, 1, tali_constraint_unit_from(params + TAL_DISK_ON_PLANE_AXIS));
    const tali_jet3 z = push_direction(arg, R_P, 2);
    const tali_jet3 up = tali_jet3_sub(z, tali_jet3_mul(tali_jet3_dot(a, z), a));
    tali_jet3 e;
    (void)tali_jet3_polar(up, push_direction(arg, R_P, 0).x, &e);
    return tali_jet3_sub(c, tali_jet3_scale(params[TAL_DISK_ON_PLANE_RADIUS], e));
}

static void calc_rows_of_disk(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                              tali_jet row[])
{
    const tal_xform X_P = tali_constraint_frame_from(arg->params + TAL_DISK_ON_PLANE_FRAME);
    calc_rows_at(self, arg, &X_P, lowest_point_of_disk(arg, X_P.R), row);
}

static tal_status add_forces_of_disk(const void *self, const tal_constraint_arg *arg,
                                     const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)f;
    const tal_xform X_P = tali_constraint_frame_from(arg->params + TAL_DISK_ON_PLANE_FRAME);
    return add_forces_at(self, arg, &X_P, lowest_point_of_disk(arg, X_P.R).x, lambda, F);
}

static tal_status check_disk(const void *self, const double params[], tal_error *err)
{
    (void)self;
    tal_status st = tali_constraint_check_rotation(params + TAL_DISK_ON_PLANE_FRAME, "plane", err);
    if (st == TAL_OK) {
        st = tali_constraint_check_direction(params + TAL_DISK_ON_PLANE_AXIS, "axis", err);
    }
    if (st != TAL_OK) return st;
    return tali_constraint_check_positive(params[TAL_DISK_ON_PLANE_RADIUS], "radius", err);
}

static const tal_constraint_ops disk_ops = {
    .name = "disk on plane contact",
    .tag = TALI_TAG_DISK_ON_PLANE_CONTACT,
    .mp = 1,
    .num_bodies = 2,
    .num_params = TAL_DISK_ON_PLANE_NUM_PARAMS,
    .add_forces = add_forces_of_disk,
    .check_params = check_disk,
};

static const tal_constraint_ops rolling_disk_ops = {
    .name = "rolling disk on plane",
    .tag = TALI_TAG_DISK_ON_PLANE_ROLLING,
    .mp = 1,
    .mv = 2,
    .num_bodies = 2,
    .num_params = TAL_DISK_ON_PLANE_NUM_PARAMS,
    .add_forces = add_forces_of_disk,
    .check_params = check_disk,
};

tal_constraint_ix tal_constraint_add_disk_on_plane_contact(tal_matter *matter,
                                                           const tal_constraint_def *def,
                                                           const tal_xform *plane, tal_vec3 center,
                                                           tal_vec3 axis, double radius,
                                                           bool rolling)
{
    const tal_constraint_ops *ops = rolling ? &rolling_disk_ops : &disk_ops;
    if (plane == NULL) return tali_constraint_refuse_null(matter, ops->name);
    double params[TAL_DISK_ON_PLANE_NUM_PARAMS];
    tali_constraint_frame_to(plane, params + TAL_DISK_ON_PLANE_FRAME);
    tali_constraint_v3_to(center, params + TAL_DISK_ON_PLANE_CENTER);
    tali_constraint_v3_to(axis, params + TAL_DISK_ON_PLANE_AXIS);
    params[TAL_DISK_ON_PLANE_RADIUS] = radius;
    const tali_constraint_builtin like = {.calc_rows = calc_rows_of_disk};
    return tali_constraint_add_builtin(matter, def, ops, &like, params);
}
