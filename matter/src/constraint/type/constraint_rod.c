// The rod: two stations at a distance.
//
//     d = p_S1S2 = r e        perr = r - length        verr = e . ddot
//     aerr = e . dddot + (|ddot|^2 - rdot^2) / r       force lambda e at S2, -lambda e at S1
#include "constraint/type/constraint_builtin_internal.h"

static const tal_vec3 WITHOUT_LENGTH = {0.0, 0.0, 1.0}; // the direction when r is zero

static void calc_rows(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                      tali_jet row[])
{
    (void)self;
    const double *params = arg->params;
    const tali_jet3 S1 =
        tali_constraint_station(arg, 0, tali_constraint_v3_from(params + TAL_ROD_STATION_1));
    const tali_jet3 S2 =
        tali_constraint_station(arg, 1, tali_constraint_v3_from(params + TAL_ROD_STATION_2));
    tali_jet3 e;
    row[0] = tali_jet3_polar(tali_jet3_sub(S2, S1), WITHOUT_LENGTH, &e);
    row[0].x -= params[TAL_ROD_LENGTH];
}

static tal_status add_forces(const void *self, const tal_constraint_arg *arg, const double lambda[],
                             tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    const tali_jet3 S1 =
        tali_constraint_station(arg, 0, tali_constraint_v3_from(arg->params + TAL_ROD_STATION_1));
    const tali_jet3 S2 =
        tali_constraint_station(arg, 1, tali_constraint_v3_from(arg->params + TAL_ROD_STATION_2));
    tali_jet3 e;
    (void)tali_jet3_polar(tali_jet3_sub(S2, S1), WITHOUT_LENGTH, &e);
    tali_constraint_push(arg, 0, S1.x, tal_v3_scale(-lambda[0], e.x), F);
    tali_constraint_push(arg, 1, S2.x, tal_v3_scale(lambda[0], e.x), F);
    return TAL_OK;
}

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
    .add_forces = add_forces,
    .check_params = check_params,
};

tal_constraint_ix tal_constraint_add_rod(tal_matter *matter, const tal_constraint_def *def,
                                         tal_vec3 station1, tal_vec3 station2, double length)
{
    double params[TAL_ROD_NUM_PARAMS];
    tali_constraint_v3_to(station1, params + TAL_ROD_STATION_1);
    tali_constraint_v3_to(station2, params + TAL_ROD_STATION_2);
    params[TAL_ROD_LENGTH] = length;
    const tali_constraint_builtin like = {.calc_rows = calc_rows};
    return tali_constraint_add_builtin(matter, def, &ops, &like, params);
}
