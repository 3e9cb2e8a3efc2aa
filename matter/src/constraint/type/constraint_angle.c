// The constant angle between a direction of body 1 and one of body 2.
#include "constraint/type/constraint_builtin_internal.h"

#include <math.h>

#define TALI_EQUATIONS "constraint/type/constraint_angle_equations.h"
#include "constraint/type/constraint_equations.h"

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
    const tali_constraint_builtin like = {.equations = TALI_EQUATION_SET(calc_rows, add_forces)};
    return tali_constraint_add_builtin(matter, def, &ops, &like, params);
}
