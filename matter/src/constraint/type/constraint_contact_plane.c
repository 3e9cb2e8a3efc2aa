// Contact with a plane: a point, or a sphere or a disk that may roll.
#include "constraint/type/constraint_builtin_internal.h"

enum {
    POINT_GRIP_ANCHOR = TALI_CONSTRAINT_POINT_GRIP_ANCHOR, // behind the parameters of the point
    POINT_GRIP_NUM_PARAMS = POINT_GRIP_ANCHOR + 2
};

#define TALI_EQUATIONS "constraint/type/constraint_contact_plane_equations.h"
#include "constraint/type/constraint_equations.h"

// --- a point ---

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
    .check_params = check_point,
};

static const tal_constraint_ops point_normal_ops = {
    .name = "point over plane",
    .tag = TALI_TAG_POINT_OVER_PLANE,
    .mp = 1,
    .num_bodies = 2,
    .num_params = TAL_POINT_ON_PLANE_NUM_PARAMS,
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
    const tali_constraint_builtin like = {
        .equations = TALI_EQUATION_SET(calc_rows_of_point, add_forces_of_point)};
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

// --- the grip of a point ---

static const tal_constraint_ops point_grip_ops = {
    .name = "grip of a point on a plane",
    .tag = TALI_TAG_POINT_ON_PLANE_GRIP,
    .mp = 2,
    .num_bodies = 2,
    .num_params = POINT_GRIP_NUM_PARAMS,
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
    const tali_constraint_builtin like = {
        .equations = TALI_EQUATION_SET(calc_rows_of_grip, add_forces_of_grip)};
    return tali_constraint_add_builtin(matter, def, &point_grip_ops, &like, params);
}

// --- a sphere ---

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
    .check_params = check_sphere,
};

static const tal_constraint_ops rolling_ops = {
    .name = "rolling sphere on plane",
    .tag = TALI_TAG_SPHERE_ON_PLANE_ROLLING,
    .mp = 1,
    .mv = 2,
    .num_bodies = 2,
    .num_params = TAL_SPHERE_ON_PLANE_NUM_PARAMS,
    .check_params = check_sphere,
};

static const tal_constraint_ops grip_ops = {
    .name = "grip of a sphere on a plane",
    .tag = TALI_TAG_SPHERE_ON_PLANE_GRIP,
    .mv = 2,
    .num_bodies = 2,
    .num_params = TAL_SPHERE_ON_PLANE_NUM_PARAMS,
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
    const tali_constraint_builtin like = {
        .equations = TALI_EQUATION_SET(calc_rows_of_sphere, add_forces_of_sphere)};
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
    .check_params = check_disk,
};

static const tal_constraint_ops rolling_disk_ops = {
    .name = "rolling disk on plane",
    .tag = TALI_TAG_DISK_ON_PLANE_ROLLING,
    .mp = 1,
    .mv = 2,
    .num_bodies = 2,
    .num_params = TAL_DISK_ON_PLANE_NUM_PARAMS,
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
    const tali_constraint_builtin like = {
        .equations = TALI_EQUATION_SET(calc_rows_of_disk, add_forces_of_disk)};
    return tali_constraint_add_builtin(matter, def, ops, &like, params);
}
