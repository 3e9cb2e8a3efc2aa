// The ball (coincident points): two stations at one place.
//
//     perr = p_AS2 - p_AS1 = d        verr = ddot        aerr = dddot
//     force lambda at S2, -lambda at S1
//
// While perr is not zero the two forces are a couple perr x lambda, which A carries: d is seen from
// it.
#include "constraint/type/constraint_builtin_internal.h"

static tali_jet3 station(const tal_constraint_arg *arg, int b)
{
    const int first = b == 0 ? TAL_BALL_STATION_1 : TAL_BALL_STATION_2;
    return tali_constraint_station(arg, b, tali_constraint_v3_from(arg->params + first));
}

static void calc_rows(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                      tali_jet row[])
{
    (void)self;
    tali_jet3_to_rows(tali_jet3_sub(station(arg, 1), station(arg, 0)), row);
}

static tal_status add_forces(const void *self, const tal_constraint_arg *arg, const double lambda[],
                             tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    const tal_vec3 push = tali_constraint_v3_from(lambda);
    tali_constraint_push(arg, 0, station(arg, 0).x, tal_v3_neg(push), F);
    tali_constraint_push(arg, 1, station(arg, 1).x, push, F);
    return TAL_OK;
}

static const tal_constraint_ops ops = {
    .name = "ball",
    .tag = TALI_TAG_BALL_CONSTRAINT,
    .mp = 3,
    .num_bodies = 2,
    .num_params = TAL_BALL_NUM_PARAMS,
    .add_forces = add_forces,
};

tal_constraint_ix tal_constraint_add_ball(tal_matter *matter, const tal_constraint_def *def,
                                          tal_vec3 station1, tal_vec3 station2)
{
    double params[TAL_BALL_NUM_PARAMS];
    tali_constraint_v3_to(station1, params + TAL_BALL_STATION_1);
    tali_constraint_v3_to(station2, params + TAL_BALL_STATION_2);
    const tali_constraint_builtin like = {.calc_rows = calc_rows};
    return tali_constraint_add_builtin(matter, def, &ops, &like, params);
}
