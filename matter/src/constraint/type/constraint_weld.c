// Constant orientation, and the weld (coincident frames): B on body 1, F on body 2.
//
//     perr = (Fx . By, Fy . Bz, Fz . Bx), then p_AF - p_AB        derivatives of products
//     moment lambda e_F x e_B on body 2, its opposite on body 1; force lambda at Fo, -lambda at Bo
#include "constraint/type/constraint_builtin_internal.h"

// --- orientation ---

// The axis of F and the axis of B in row r.
static tal_vec3 axis_of_F(tal_mat3 R, int r)
{
    return r == 0 ? R.x : r == 1 ? R.y : R.z;
}

static tal_vec3 axis_of_B(tal_mat3 R, int r)
{
    return r == 0 ? R.y : r == 1 ? R.z : R.x;
}

static void calc_orientation(const tal_constraint_arg *arg, tal_mat3 R_B, tal_mat3 R_F,
                             tali_jet row[])
{
    for (int r = 0; r < 3; ++r) {
        row[r] = tali_jet3_dot(tali_constraint_axis(arg, 1, axis_of_F(R_F, r)),
                               tali_constraint_axis(arg, 0, axis_of_B(R_B, r)));
    }
}

static void add_moments(const tal_constraint_arg *arg, tal_mat3 R_B, tal_mat3 R_F,
                        const double lambda[], tal_spatial_vec F[])
{
    for (int r = 0; r < 3; ++r) {
        const tal_vec3 e_B = tal_m3_mul_v3(arg->X_AB[0].R, axis_of_B(R_B, r));
        const tal_vec3 e_F = tal_m3_mul_v3(arg->X_AB[1].R, axis_of_F(R_F, r));
        tali_constraint_turn_axes(0, e_B, 1, e_F, lambda[r], F);
    }
}

static void calc_turn_of_orientation(const void *self, const tal_constraint_arg *arg,
                                     tal_vec3 *turn, tal_vec3 *free_axis)
{
    (void)self;
    *turn = tali_constraint_turn_of_frames(
        arg, tali_constraint_rotation_from(arg->params + TAL_CONSTANT_ORIENTATION_FRAME_1),
        tali_constraint_rotation_from(arg->params + TAL_CONSTANT_ORIENTATION_FRAME_2));
    *free_axis = TAL_VEC3_ZERO;
}

static void calc_rows_of_orientation(const tali_constraint_builtin *self,
                                     const tal_constraint_arg *arg, tali_jet row[])
{
    (void)self;
    calc_orientation(
        arg, tali_constraint_rotation_from(arg->params + TAL_CONSTANT_ORIENTATION_FRAME_1),
        tali_constraint_rotation_from(arg->params + TAL_CONSTANT_ORIENTATION_FRAME_2), row);
}

static tal_status add_forces_of_orientation(const void *self, const tal_constraint_arg *arg,
                                            const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    add_moments(arg, tali_constraint_rotation_from(arg->params + TAL_CONSTANT_ORIENTATION_FRAME_1),
                tali_constraint_rotation_from(arg->params + TAL_CONSTANT_ORIENTATION_FRAME_2),
                lambda, F);
    return TAL_OK;
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
    .add_forces = add_forces_of_orientation,
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
    const tali_constraint_builtin like = {.calc_rows = calc_rows_of_orientation};
    return tali_constraint_add_builtin(matter, def, &orientation_ops, &like, params);
}

// --- weld ---

static tal_xform frame(const tal_constraint_arg *arg, int b)
{
    return tali_constraint_frame_from(arg->params + (b == 0 ? TAL_WELD_FRAME_1 : TAL_WELD_FRAME_2));
}

static void calc_rows(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                      tali_jet row[])
{
    (void)self;
    const tal_xform X_B = frame(arg, 0), X_F = frame(arg, 1);
    calc_orientation(arg, X_B.R, X_F.R, row);
    tali_jet3_to_rows(tali_jet3_sub(tali_constraint_station(arg, 1, X_F.p),
                                    tali_constraint_station(arg, 0, X_B.p)),
                      row + 3);
}

static tal_status add_forces(const void *self, const tal_constraint_arg *arg, const double lambda[],
                             tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    const tal_xform X_B = frame(arg, 0), X_F = frame(arg, 1);
    const tal_vec3 push = tali_constraint_v3_from(lambda + 3);
    add_moments(arg, X_B.R, X_F.R, lambda, F);
    tali_constraint_push(arg, 0, tal_xf_apply(arg->X_AB[0], X_B.p), tal_v3_neg(push), F);
    tali_constraint_push(arg, 1, tal_xf_apply(arg->X_AB[1], X_F.p), push, F);
    return TAL_OK;
}

static void calc_turn(const void *self, const tal_constraint_arg *arg, tal_vec3 *turn,
                      tal_vec3 *free_axis)
{
    (void)self;
    *turn = tali_constraint_turn_of_frames(arg, frame(arg, 0).R, frame(arg, 1).R);
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
    .add_forces = add_forces,
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
    const tali_constraint_builtin like = {.calc_rows = calc_rows};
    return tali_constraint_add_builtin(matter, def, &ops, &like, params);
}
