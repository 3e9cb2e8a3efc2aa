// The rod: two stations at a distance.
#include "constraint/type/constraint_builtin_internal.h"

#define TALI_EQUATIONS "constraint/type/constraint_rod_equations.h"
#include "constraint/type/constraint_equations.h"

static tal_status check_params(const void *self, const double params[], tal_error *err)
{
    (void)self;
    return tali_constraint_check_positive(params[TAL_ROD_LENGTH], "length", err);
}

static const tal_constraint_ops ops = {
    .name = "rod",
    .tag = TALI_TAG_ROD,
    .mp = 1,
    .num_bodies = 2,
    .num_params = TAL_ROD_NUM_PARAMS,
    .check_params = check_params,
};

tal_constraint_ix tal_constraint_add_rod(tal_matter *matter, const tal_constraint_def *def,
                                         tal_vec3 station1, tal_vec3 station2, double length)
{
    double params[TAL_ROD_NUM_PARAMS];
    tali_constraint_v3_to(station1, params + TAL_ROD_STATION_1);
    tali_constraint_v3_to(station2, params + TAL_ROD_STATION_2);
    params[TAL_ROD_LENGTH] = length;
    const tali_constraint_builtin like = {.equations = TALI_EQUATION_SET(calc_rows, add_forces)};
    return tali_constraint_add_builtin(matter, def, &ops, &like, params);
}
