// Grips of friction in joints: one equation along which body 2 slips on body 1.
//
//     about an axis e of body 1:       verr = e . (w2 - w1)         moment lambda e on body 2
//     along a line (P, d) of body 1:   perr = d . (S - P) - anchor  force lambda d on body 2 at S
//
// and the opposite on body 1.

// --- about an axis ---

static tali_jet3 TALI_EQUATION(axis)(const tal_constraint_arg *arg)
{
    return tali_constraint_axis(arg, 0, tali_constraint_unit_from(arg->params));
}

static void TALI_EQUATION(calc_rows_about)(const tali_constraint_builtin *self,
                                           const tal_constraint_arg *arg, tali_jet row[])
{
    (void)self;
    row[0] = tali_constraint_velocity_row(
        tali_jet3_dot(TALI_EQUATION(axis)(arg), tali_constraint_turning(arg, 0, 1)));
}

static void TALI_EQUATION(add_forces_about)(const tali_constraint_builtin *self,
                                            const tal_constraint_arg *arg, const double lambda[],
                                            tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    tali_constraint_turn_apart(0, 1, tali_jet3_scale(lambda[0], TALI_EQUATION(axis)(arg)), F);
}

// --- along a line ---

static tali_jet3 TALI_EQUATION(direction)(const tal_constraint_arg *arg)
{
    return tali_constraint_axis(arg, 0, tali_constraint_unit_from(arg->params + LINE_DIRECTION));
}

static tali_jet3 TALI_EQUATION(station)(const tal_constraint_arg *arg)
{
    return tali_constraint_station(arg, 1, tali_constraint_v3_from(arg->params + LINE_STATION));
}

static void TALI_EQUATION(calc_rows_along)(const tali_constraint_builtin *self,
                                           const tal_constraint_arg *arg, tali_jet row[])
{
    (void)self;
    const tali_jet3 P =
        tali_constraint_station(arg, 0, tali_constraint_v3_from(arg->params + LINE_POINT));
    const tali_jet3 p = tali_jet3_sub(TALI_EQUATION(station)(arg), P);
    row[0] =
        tali_jet_plus(tali_jet3_dot(TALI_EQUATION(direction)(arg), p), -arg->params[LINE_ANCHOR]);
}

static void TALI_EQUATION(add_forces_along)(const tali_constraint_builtin *self,
                                            const tal_constraint_arg *arg, const double lambda[],
                                            tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    tali_constraint_push_apart(arg, 0, 1, TALI_EQUATION(station)(arg),
                               tali_jet3_scale(lambda[0], TALI_EQUATION(direction)(arg)), F);
}
