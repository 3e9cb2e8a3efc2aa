// The ball (coincident points): two stations at one place.
#include "constraint/type/constraint_builtin_internal.h"

#define TALI_EQUATIONS "constraint/type/constraint_ball_equations.h"
#include "constraint/type/constraint_equations.h"

static const tal_constraint_ops ops = {
    .name = "ball",
    .tag = TALI_TAG_BALL_CONSTRAINT,
    .mp = 3,
    .num_bodies = 2,
    .num_params = TAL_BALL_NUM_PARAMS,
};

tal_constraint_ix tal_constraint_add_ball(tal_matter *matter, const tal_constraint_def *def,
                                          tal_vec3 station1, tal_vec3 station2)
{
    double params[TAL_BALL_NUM_PARAMS];
    tali_constraint_v3_to(station1, params + TAL_BALL_STATION_1);
    tali_constraint_v3_to(station2, params + TAL_BALL_STATION_2);
    const tali_constraint_builtin like = {.equations = TALI_EQUATION_SET(calc_rows, add_forces)};
    return tali_constraint_add_builtin(matter, def, &ops, &like, params);
}
