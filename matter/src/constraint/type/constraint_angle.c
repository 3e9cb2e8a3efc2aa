// The constant angle between a direction of body 1 and one of body 2.
//
//     perr = e1 . e2 - cos(angle)        derivatives of the product
//     moment lambda e2 x e1 on body 2, its opposite on body 1
#include "constraint/type/constraint_builtin_internal.h"

#include <math.h>

static void calc_rows(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                      tali_jet row[])
{
    (void)self;
    const double *params = arg->params;
    const tali_jet3 e1 =
        tali_constraint_axis(arg, 0, tali_constraint_unit_from(params + TAL_CONSTANT_ANGLE_AXIS_1));
    const tali_jet3 e2 =
        tali_constraint_axis(arg, 1, tali_constraint_unit_from(params + TAL_CONSTANT_ANGLE_AXIS_2));
    row[0] = tali_jet3_dot(e1, e2);
    row[0].x -= cos(params[TAL_CONSTANT_ANGLE_ANGLE]);
}

static tal_status add_forces(const void *self, const tal_constraint_arg *arg, const double lambda[],
                             tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    const double *params = arg->params;
    const tali_jet3 e1 =
        tali_constraint_axis(arg, 0, tali_constraint_unit_from(params + TAL_CONSTANT_ANGLE_AXIS_1));
    const tali_jet3 e2 =
        tali_constraint_axis(arg, 1, tali_constraint_unit_from(params + TAL_CONSTANT_ANGLE_AXIS_2));
    tali_constraint_turn_axes(0, e1.x, 1, e2.x, lambda[0], F);
    return TAL_OK;
}

static tal_status check_params(const void *self, const double params[], tal_error *err)
{
    (void)self;
    tal_status st =
        tali_constraint_check_direction(params + TAL_CONSTANT_ANGLE_AXIS_1, "axis on body 1", err);
    if (st != TAL_OK) return st;
    st = tali_constraint_check_direction(params + TAL_CONSTANT_ANGLE_AXIS_2, "axis on body 2", err);
    if (st != TAL_OK) return st;
    const double angle = params[TAL_CONSTANT_ANGLE_ANGLE];
    if (angle > 0.0 && angle < TAL_PI) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "its angle must be between 0 and pi, not %g", angle);
}

static const tal_constraint_ops ops = {
    .name = "constant angle",
    .tag = TALI_TAG_CONSTANT_ANGLE,
    .mp = 1,
    .num_bodies = 2,
    .num_params = TAL_CONSTANT_ANGLE_NUM_PARAMS,
    .add_forces = add_forces,
    .check_params = check_params,
};

tal_constraint_ix tal_constraint_add_constant_angle(tal_matter *matter,
                                                    const tal_constraint_def *def, tal_vec3 axis1,
                                                    tal_vec3 axis2, double angle)
{
    double params[TAL_CONSTANT_ANGLE_NUM_PARAMS];
    tali_constraint_v3_to(axis1, params + TAL_CONSTANT_ANGLE_AXIS_1);
    tali_constraint_v3_to(axis2, params + TAL_CONSTANT_ANGLE_AXIS_2);
    params[TAL_CONSTANT_ANGLE_ANGLE] = angle;
    const tali_constraint_builtin like = {.calc_rows = calc_rows};
    return tali_constraint_add_builtin(matter, def, &ops, &like, params);
}
