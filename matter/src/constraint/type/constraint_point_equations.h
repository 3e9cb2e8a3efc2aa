// A station of body 2 in a plane, or on a line, of body 1.
//
//     p = S - P, with P on body 1; e a direction of body 1
//     perr = e . p - height        verr = e . pdot + edot . p        aerr: once more
//     force lambda e on body 2 at S, and its opposite on body 1 at the same point, because
//     verr = e . (v_S - v_B1 - w_B1 x p_B1S)

// --- in a plane ---

static tali_jet3 TALI_EQUATION(normal)(const tal_constraint_arg *arg)
{
    return tali_constraint_axis(arg, 0,
                                tali_constraint_unit_from(arg->params + TAL_POINT_IN_PLANE_NORMAL));
}

static tali_jet3 TALI_EQUATION(station_in_plane)(const tal_constraint_arg *arg)
{
    return tali_constraint_station(
        arg, 1, tali_constraint_v3_from(arg->params + TAL_POINT_IN_PLANE_STATION));
}

static void TALI_EQUATION(calc_rows_in_plane)(const tali_constraint_builtin *self,
                                              const tal_constraint_arg *arg, tali_jet row[])
{
    (void)self;
    const tali_jet3 p = tali_jet3_sub(TALI_EQUATION(station_in_plane)(arg),
                                      tali_constraint_station(arg, 0, TAL_VEC3_ZERO));
    row[0] = tali_jet_plus(tali_jet3_dot(TALI_EQUATION(normal)(arg), p),
                           -arg->params[TAL_POINT_IN_PLANE_HEIGHT]);
}

static void TALI_EQUATION(add_forces_in_plane)(const tali_constraint_builtin *self,
                                               const tal_constraint_arg *arg, const double lambda[],
                                               tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    tali_constraint_push_apart(arg, 0, 1, TALI_EQUATION(station_in_plane)(arg),
                               tali_jet3_scale(lambda[0], TALI_EQUATION(normal)(arg)), F);
}

// --- on a line ---

static tali_jet3 TALI_EQUATION(station_on_line)(const tal_constraint_arg *arg)
{
    return tali_constraint_station(
        arg, 1, tali_constraint_v3_from(arg->params + TAL_POINT_ON_LINE_STATION));
}

static void TALI_EQUATION(calc_rows_on_line)(const tali_constraint_builtin *self,
                                             const tal_constraint_arg *arg, tali_jet row[])
{
    (void)self;
    tal_vec3 e[2];
    across(arg->params, e);
    const tali_jet3 P = tali_constraint_station(
        arg, 0, tali_constraint_v3_from(arg->params + TAL_POINT_ON_LINE_POINT));
    const tali_jet3 p = tali_jet3_sub(TALI_EQUATION(station_on_line)(arg), P);
    for (int r = 0; r < 2; ++r) {
        row[r] = tali_jet3_dot(tali_constraint_axis(arg, 0, e[r]), p);
    }
}

static void TALI_EQUATION(add_forces_on_line)(const tali_constraint_builtin *self,
                                              const tal_constraint_arg *arg, const double lambda[],
                                              tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    tal_vec3 e[2];
    across(arg->params, e);
    const tal_vec3 push_B = tal_v3_axpy(lambda[0], e[0], tal_v3_scale(lambda[1], e[1]));
    tali_constraint_push_apart(arg, 0, 1, TALI_EQUATION(station_on_line)(arg),
                               tali_constraint_axis(arg, 0, push_B), F);
}
