// The ball (coincident points): two stations at one place.
//
//     perr = p_AS2 - p_AS1 = d        verr = ddot        aerr = dddot
//     force lambda at S2, -lambda at S1
//
// While perr is not zero the two forces are a couple perr x lambda, which A carries: d is seen from
// it.

static tali_jet3 TALI_EQUATION(station)(const tal_constraint_arg *arg, int b)
{
    const int first = b == 0 ? TAL_BALL_STATION_1 : TAL_BALL_STATION_2;
    return tali_constraint_station(arg, b, tali_constraint_v3_from(arg->params + first));
}

static void TALI_EQUATION(calc_rows)(const tali_constraint_builtin *self,
                                     const tal_constraint_arg *arg, tali_jet row[])
{
    (void)self;
    tali_jet3_to_rows(tali_jet3_sub(TALI_EQUATION(station)(arg, 1), TALI_EQUATION(station)(arg, 0)),
                      row);
}

static void TALI_EQUATION(add_forces)(const tali_constraint_builtin *self,
                                      const tal_constraint_arg *arg, const double lambda[],
                                      tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    const tali_jet3 push = tali_jet3_constant(tali_constraint_v3_from(lambda));
    tali_constraint_push(arg, 0, TALI_EQUATION(station)(arg, 0), tali_jet3_scale(-1.0, push), F);
    tali_constraint_push(arg, 1, TALI_EQUATION(station)(arg, 1), push, F);
}
