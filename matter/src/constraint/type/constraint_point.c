// A station of body 2 in a plane, or on a line, of body 1.
#include "constraint/type/constraint_builtin_internal.h"

// The two directions across the line, in body 1.
static void across(const double params[], tal_vec3 e[2])
{
    const double *direction = params + TAL_POINT_ON_LINE_DIRECTION;
    e[0] = tal_v3_perp(tali_constraint_v3_from(direction));
    e[1] = tal_v3_cross(tali_constraint_unit_from(direction), e[0]);
}

#define TALI_EQUATIONS "constraint/type/constraint_point_equations.h"
#include "constraint/type/constraint_equations.h"

// --- in a plane ---

static tal_status check_plane(const void *self, const double params[], tal_error *err)
{
    (void)self;
    return tali_constraint_check_direction(params + TAL_POINT_IN_PLANE_NORMAL, "normal", err);
}

static const tal_constraint_ops plane_ops = {
    .name = "point in plane",
    .tag = TALI_TAG_POINT_IN_PLANE,
    .mp = 1,
    .num_bodies = 2,
    .num_params = TAL_POINT_IN_PLANE_NUM_PARAMS,
    .check_params = check_plane,
};

tal_constraint_ix tal_constraint_add_point_in_plane(tal_matter *matter,
                                                    const tal_constraint_def *def, tal_vec3 normal,
                                                    double height, tal_vec3 station)
{
    double params[TAL_POINT_IN_PLANE_NUM_PARAMS];
    tali_constraint_v3_to(normal, params + TAL_POINT_IN_PLANE_NORMAL);
    params[TAL_POINT_IN_PLANE_HEIGHT] = height;
    tali_constraint_v3_to(station, params + TAL_POINT_IN_PLANE_STATION);
    const tali_constraint_builtin like = {
        .equations = TALI_EQUATION_SET(calc_rows_in_plane, add_forces_in_plane)};
    return tali_constraint_add_builtin(matter, def, &plane_ops, &like, params);
}

// --- on a line ---

static tal_status check_line(const void *self, const double params[], tal_error *err)
{
    (void)self;
    return tali_constraint_check_direction(params + TAL_POINT_ON_LINE_DIRECTION, "direction", err);
}

static const tal_constraint_ops line_ops = {
    .name = "point on line",
    .tag = TALI_TAG_POINT_ON_LINE,
    .mp = 2,
    .num_bodies = 2,
    .num_params = TAL_POINT_ON_LINE_NUM_PARAMS,
    .check_params = check_line,
};

tal_constraint_ix tal_constraint_add_point_on_line(tal_matter *matter,
                                                   const tal_constraint_def *def,
                                                   tal_vec3 direction, tal_vec3 point,
                                                   tal_vec3 station)
{
    double params[TAL_POINT_ON_LINE_NUM_PARAMS];
    tali_constraint_v3_to(direction, params + TAL_POINT_ON_LINE_DIRECTION);
    tali_constraint_v3_to(point, params + TAL_POINT_ON_LINE_POINT);
    tali_constraint_v3_to(station, params + TAL_POINT_ON_LINE_STATION);
    const tali_constraint_builtin like = {
        .equations = TALI_EQUATION_SET(calc_rows_on_line, add_forces_on_line)};
    return tali_constraint_add_builtin(matter, def, &line_ops, &like, params);
}
