// No slip in one direction: two bodies have the same velocity along it at a point of a third, the
// case.
#include "constraint/type/constraint_builtin_internal.h"

enum {
    CASE_BODY,
    MOVING_1,
    MOVING_2
};

#define TALI_EQUATIONS "constraint/type/constraint_no_slip_equations.h"
#include "constraint/type/constraint_equations.h"

static tal_status check_params(const void *self, const double params[], tal_error *err)
{
    (void)self;
    return tali_constraint_check_direction(params + TAL_NO_SLIP_1D_DIRECTION, "direction", err);
}

static const tal_constraint_ops ops = {
    .name = "no slip 1D",
    .tag = TALI_TAG_NO_SLIP_1D,
    .mv = 1,
    .num_bodies = 3,
    .num_params = TAL_NO_SLIP_1D_NUM_PARAMS,
    .check_params = check_params,
};

tal_constraint_ix tal_constraint_add_no_slip_1d(tal_matter *matter, const tal_constraint_def *def,
                                                tal_vec3 point, tal_vec3 direction)
{
    double params[TAL_NO_SLIP_1D_NUM_PARAMS];
    tali_constraint_v3_to(point, params + TAL_NO_SLIP_1D_POINT);
    tali_constraint_v3_to(direction, params + TAL_NO_SLIP_1D_DIRECTION);
    const tali_constraint_builtin like = {.equations = TALI_EQUATION_SET(calc_rows, add_forces)};
    return tali_constraint_add_builtin(matter, def, &ops, &like, params);
}
