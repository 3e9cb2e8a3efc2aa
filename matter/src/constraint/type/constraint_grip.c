// Grips of friction in joints: about an axis, along a line.
#include "constraint/type/constraint_builtin_internal.h"

enum {
    LINE_DIRECTION = 0,
    LINE_POINT = 3,
    LINE_STATION = 6,
    LINE_ANCHOR = TALI_CONSTRAINT_LINE_GRIP_ANCHOR,
    LINE_NUM_PARAMS = LINE_ANCHOR + 1
};

#define TALI_EQUATIONS "constraint/type/constraint_grip_equations.h"
#include "constraint/type/constraint_equations.h"

// --- about an axis ---

static tal_status check_axis(const void *self, const double params[], tal_error *err)
{
    (void)self;
    return tali_constraint_check_direction(params, "axis", err);
}

static const tal_constraint_ops about_ops = {
    .name = "grip about an axis",
    .tag = TALI_TAG_GRIP_ABOUT_AXIS,
    .mv = 1,
    .num_bodies = 2,
    .num_params = 3,
    .check_params = check_axis,
};

tal_constraint_ix tali_constraint_add_grip_about_axis(tal_matter *matter,
                                                      const tal_constraint_def *def, tal_vec3 axis)
{
    double params[3];
    tali_constraint_v3_to(axis, params);
    const tali_constraint_builtin like = {.equations =
                                              TALI_EQUATION_SET(calc_rows_about, add_forces_about)};
    return tali_constraint_add_builtin(matter, def, &about_ops, &like, params);
}

// --- along a line ---

static tal_status check_line(const void *self, const double params[], tal_error *err)
{
    (void)self;
    return tali_constraint_check_direction(params + LINE_DIRECTION, "direction", err);
}

static const tal_constraint_ops along_ops = {
    .name = "grip along a line",
    .tag = TALI_TAG_GRIP_ALONG_LINE,
    .mp = 1,
    .num_bodies = 2,
    .num_params = LINE_NUM_PARAMS,
    .check_params = check_line,
};

tal_constraint_ix tali_constraint_add_grip_along_line(tal_matter *matter,
                                                      const tal_constraint_def *def,
                                                      tal_vec3 direction, tal_vec3 point,
                                                      tal_vec3 station)
{
    double params[LINE_NUM_PARAMS] = {0.0};
    tali_constraint_v3_to(direction, params + LINE_DIRECTION);
    tali_constraint_v3_to(point, params + LINE_POINT);
    tali_constraint_v3_to(station, params + LINE_STATION);
    const tali_constraint_builtin like = {.equations =
                                              TALI_EQUATION_SET(calc_rows_along, add_forces_along)};
    return tali_constraint_add_builtin(matter, def, &along_ops, &like, params);
}
