// Constant orientation, and the weld (coincident frames).
#include "constraint/type/constraint_builtin_internal.h"

// The axis of F and the axis of B in row r.
static tal_vec3 axis_of_F(tal_mat3 R, int r)
{
    return r == 0 ? R.x : r == 1 ? R.y : R.z;
}

static tal_vec3 axis_of_B(tal_mat3 R, int r)
{
    return r == 0 ? R.y : r == 1 ? R.z : R.x;
}

// The frame on body `b` of a constant orientation, and of a weld.
static tal_mat3 orientation(const double params[], int b)
{
    return tali_constraint_rotation_from(
        params + (b == 0 ? TAL_CONSTANT_ORIENTATION_FRAME_1 : TAL_CONSTANT_ORIENTATION_FRAME_2));
}

static tal_xform frame(const double params[], int b)
{
    return tali_constraint_frame_from(params + (b == 0 ? TAL_WELD_FRAME_1 : TAL_WELD_FRAME_2));
}

#define TALI_EQUATIONS "constraint/type/constraint_weld_equations.h"
#include "constraint/type/constraint_equations.h"

// --- orientation ---

static void calc_turn_of_orientation(const void *self, const tal_constraint_arg *arg,
                                     tal_vec3 *turn, tal_vec3 *free_axis)
{
    (void)self;
    *turn = tali_constraint_turn_of_frames(arg, orientation(arg->params, 0),
                                           orientation(arg->params, 1));
    *free_axis = TAL_VEC3_ZERO;
}

static tal_status check_orientation(const void *self, const double params[], tal_error *err)
{
    (void)self;
    const tal_status st = tali_constraint_check_rotation(params + TAL_CONSTANT_ORIENTATION_FRAME_1,
                                                         "frame on body 1", err);
    if (st != TAL_OK) return st;
    return tali_constraint_check_rotation(params + TAL_CONSTANT_ORIENTATION_FRAME_2,
                                          "frame on body 2", err);
}

static const tal_constraint_ops orientation_ops = {
    .name = "constant orientation",
    .tag = TALI_TAG_CONSTANT_ORIENTATION,
    .mp = 3,
    .num_bodies = 2,
    .num_params = TAL_CONSTANT_ORIENTATION_NUM_PARAMS,
    .check_params = check_orientation,
    .calc_turn = calc_turn_of_orientation,
};

tal_constraint_ix tal_constraint_add_constant_orientation(tal_matter *matter,
                                                          const tal_constraint_def *def,
                                                          const tal_mat3 *R_1, const tal_mat3 *R_2)
{
    if (R_1 == NULL || R_2 == NULL) {
        return tali_constraint_refuse_null(matter, orientation_ops.name);
    }
    double params[TAL_CONSTANT_ORIENTATION_NUM_PARAMS];
    tali_constraint_rotation_to(*R_1, params + TAL_CONSTANT_ORIENTATION_FRAME_1);
    tali_constraint_rotation_to(*R_2, params + TAL_CONSTANT_ORIENTATION_FRAME_2);
    const tali_constraint_builtin like = {
        .equations = TALI_EQUATION_SET(calc_rows_of_orientation, add_forces_of_orientation)};
    return tali_constraint_add_builtin(matter, def, &orientation_ops, &like, params);
}

// --- weld ---

static void calc_turn(const void *self, const tal_constraint_arg *arg, tal_vec3 *turn,
                      tal_vec3 *free_axis)
{
    (void)self;
    *turn = tali_constraint_turn_of_frames(arg, frame(arg->params, 0).R, frame(arg->params, 1).R);
    *free_axis = TAL_VEC3_ZERO;
}

static tal_status check_params(const void *self, const double params[], tal_error *err)
{
    (void)self;
    return tali_constraint_check_two_frames(params, err);
}

static const tal_constraint_ops ops = {
    .name = "weld",
    .tag = TALI_TAG_WELD_CONSTRAINT,
    .mp = 6,
    .num_bodies = 2,
    .num_params = TAL_WELD_NUM_PARAMS,
    .check_params = check_params,
    .calc_turn = calc_turn,
};

tal_constraint_ix tal_constraint_add_weld(tal_matter *matter, const tal_constraint_def *def,
                                          const tal_xform *X_1, const tal_xform *X_2)
{
    if (X_1 == NULL || X_2 == NULL) return tali_constraint_refuse_null(matter, ops.name);
    double params[TAL_WELD_NUM_PARAMS];
    tali_constraint_frame_to(X_1, params + TAL_WELD_FRAME_1);
    tali_constraint_frame_to(X_2, params + TAL_WELD_FRAME_2);
    const tali_constraint_builtin like = {.equations = TALI_EQUATION_SET(calc_rows, add_forces)};
    return tali_constraint_add_builtin(matter, def, &ops, &like, params);
}
