// Constant orientation, and the weld (coincident frames): B on body 1, F on body 2.
//
//     perr = (Fx . By, Fy . Bz, Fz . Bx), then p_AF - p_AB        derivatives of products
//     moment lambda e_F x e_B on body 2, its opposite on body 1; force lambda at Fo, -lambda at Bo

// --- orientation ---

static void TALI_EQUATION(calc_orientation)(const tal_constraint_arg *arg, tal_mat3 R_B,
                                            tal_mat3 R_F, tali_jet row[])
{
    for (int r = 0; r < 3; ++r) {
        row[r] = tali_jet3_dot(tali_constraint_axis(arg, 1, axis_of_F(R_F, r)),
                               tali_constraint_axis(arg, 0, axis_of_B(R_B, r)));
    }
}

static void TALI_EQUATION(add_moments)(const tal_constraint_arg *arg, tal_mat3 R_B, tal_mat3 R_F,
                                       const double lambda[], tal_spatial_vec F[])
{
    for (int r = 0; r < 3; ++r) {
        const tali_jet3 e_B = tali_constraint_axis(arg, 0, axis_of_B(R_B, r));
        const tali_jet3 e_F = tali_constraint_axis(arg, 1, axis_of_F(R_F, r));
        tali_constraint_turn_axes(0, e_B, 1, e_F, lambda[r], F);
    }
}

static void TALI_EQUATION(calc_rows_of_orientation)(const tali_constraint_builtin *self,
                                                    const tal_constraint_arg *arg, tali_jet row[])
{
    (void)self;
    TALI_EQUATION(calc_orientation)
    (arg, orientation(arg->params, 0), orientation(arg->params, 1), row);
}

static void TALI_EQUATION(add_forces_of_orientation)(const tali_constraint_builtin *self,
                                                     const tal_constraint_arg *arg,
                                                     const double lambda[], tal_spatial_vec F[],
                                                     double f[])
{
    (void)self, (void)f;
    TALI_EQUATION(add_moments)
    (arg, orientation(arg->params, 0), orientation(arg->params, 1), lambda, F);
}

// --- weld ---

static void TALI_EQUATION(calc_rows)(const tali_constraint_builtin *self,
                                     const tal_constraint_arg *arg, tali_jet row[])
{
    (void)self;
    const tal_xform X_B = frame(arg->params, 0), X_F = frame(arg->params, 1);
    TALI_EQUATION(calc_orientation)(arg, X_B.R, X_F.R, row);
    tali_jet3_to_rows(tali_jet3_sub(tali_constraint_station(arg, 1, X_F.p),
                                    tali_constraint_station(arg, 0, X_B.p)),
                      row + 3);
}

static void TALI_EQUATION(add_forces)(const tali_constraint_builtin *self,
                                      const tal_constraint_arg *arg, const double lambda[],
                                      tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    const tal_xform X_B = frame(arg->params, 0), X_F = frame(arg->params, 1);
    const tali_jet3 push = tali_jet3_constant(tali_constraint_v3_from(lambda + 3));
    TALI_EQUATION(add_moments)(arg, X_B.R, X_F.R, lambda, F);
    tali_constraint_push(arg, 0, tali_constraint_station(arg, 0, X_B.p),
                         tali_jet3_scale(-1.0, push), F);
    tali_constraint_push(arg, 1, tali_constraint_station(arg, 1, X_F.p), push, F);
}
