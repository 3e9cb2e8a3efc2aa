// The rod: two stations at a distance.
//
//     d = p_S1S2 = r e        perr = r - length        verr = e . ddot
//     aerr = e . dddot + (|ddot|^2 - rdot^2) / r       force lambda e at S2, -lambda e at S1

static tali_jet3 TALI_EQUATION(rod_station)(const tal_constraint_arg *arg, int b)
{
    const int first = b == 0 ? TAL_ROD_STATION_1 : TAL_ROD_STATION_2;
    return tali_constraint_station(arg, b, tali_constraint_v3_from(arg->params + first));
}

static tali_jet TALI_EQUATION(rod_length)(const tal_constraint_arg *arg, tali_jet3 *e)
{
    const tal_vec3 without_length = {0.0, 0.0, 1.0}; // the direction when r is zero
    return tali_jet3_polar(
        tali_jet3_sub(TALI_EQUATION(rod_station)(arg, 1), TALI_EQUATION(rod_station)(arg, 0)),
        without_length, e);
}

static void TALI_EQUATION(calc_rows)(const tali_constraint_builtin *self,
                                     const tal_constraint_arg *arg, tali_jet row[])
{
    (void)self;
    tali_jet3 e;
    row[0] = tali_jet_plus(TALI_EQUATION(rod_length)(arg, &e), -arg->params[TAL_ROD_LENGTH]);
}

static void TALI_EQUATION(add_forces)(const tali_constraint_builtin *self,
                                      const tal_constraint_arg *arg, const double lambda[],
                                      tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    tali_jet3 e;
    (void)TALI_EQUATION(rod_length)(arg, &e);
    tali_constraint_push(arg, 0, TALI_EQUATION(rod_station)(arg, 0), tali_jet3_scale(-lambda[0], e),
                         F);
    tali_constraint_push(arg, 1, TALI_EQUATION(rod_station)(arg, 1), tali_jet3_scale(lambda[0], e),
                         F);
}
