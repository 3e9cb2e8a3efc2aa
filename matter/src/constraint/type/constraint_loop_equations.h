// Joints that close loops: a frame F on body 1 and M on body 2 are related as by a mobilizer,
// without being one (RBDA ch. 8).
//
// What a joint forbids is made of two kinds of row, and the screw's own:
//
//     perr = e_F . e_M          moment lambda e_M x e_F on body 2, its opposite on body 1
//     perr = e_F . p_FM         force lambda e_F on body 2 at Mo, its opposite on body 1 there
//     perr = Fz . p_FM - pitch angle
//
// The angle about Fz is atan2(s, c) with c = Mx . Fx and s = Mx . Fy, so
//
//     angledot = (c sdot - s cdot) / (c^2 + s^2)
//              = (w_M - w_F) . (c Mx x Fy - s Mx x Fx) / (c^2 + s^2)

// F and M, and p_FM, as they move.
typedef struct TALI_EQUATION(loop_frames) {
    tali_jet3 F[3], M[3];
    tali_jet3 Mo, p_FM;
} TALI_EQUATION(loop_frames);

static TALI_EQUATION(loop_frames) TALI_EQUATION(find_frames)(const tal_constraint_arg *arg)
{
    const tal_xform X_F = tali_constraint_frame_from(arg->params + TAL_LOOP_FRAME_1);
    const tal_xform X_M = tali_constraint_frame_from(arg->params + TAL_LOOP_FRAME_2);
    TALI_EQUATION(loop_frames)
    at = {.F = {tali_constraint_axis(arg, 0, X_F.R.x), tali_constraint_axis(arg, 0, X_F.R.y),
                tali_constraint_axis(arg, 0, X_F.R.z)},
          .M = {tali_constraint_axis(arg, 1, X_M.R.x), tali_constraint_axis(arg, 1, X_M.R.y),
                tali_constraint_axis(arg, 1, X_M.R.z)},
          .Mo = tali_constraint_station(arg, 1, X_M.p)};
    at.p_FM = tali_jet3_sub(at.Mo, tali_constraint_station(arg, 0, X_F.p));
    return at;
}

static tali_jet TALI_EQUATION(angle_about_z)(const TALI_EQUATION(loop_frames) * at)
{
    return tali_jet_angle(tali_jet3_dot(at->M[X], at->F[Y]), tali_jet3_dot(at->M[X], at->F[X]));
}

// A screw has turned as often as its advance says.
static tali_jet TALI_EQUATION(angle_of_screw)(const TALI_EQUATION(loop_frames) * at, double pitch)
{
    const double turn = 2.0 * TAL_PI;
    const tali_jet angle = TALI_EQUATION(angle_about_z)(at);
    const double advance = tal_v3_dot(tali_jet3_value(at->F[Z]), tali_jet3_value(at->p_FM));
    const double turns =
        pitch != 0.0 ? round((advance / pitch - tali_jet_value(angle)) / turn) : 0.0;
    return isfinite(turns) ? tali_jet_plus(angle, turns * turn) : angle;
}

static void TALI_EQUATION(calc_rows)(const tali_constraint_builtin *self,
                                     const tal_constraint_arg *arg, tali_jet row[])
{
    const loop_kind *kind = self->kind;
    const TALI_EQUATION(loop_frames) at = TALI_EQUATION(find_frames)(arg);
    int r = 0;
    for (int i = 0; i < kind->num_axes; ++i) {
        row[r++] = tali_jet3_dot(at.F[kind->axes[i].F], at.M[kind->axes[i].M]);
    }
    for (int i = 0; i < kind->num_steps; ++i) {
        row[r++] = tali_jet3_dot(at.F[kind->steps[i]], at.p_FM);
    }
    if (!kind->is_screw) return;
    const double pitch = arg->params[TAL_LOOP_SCREW_PITCH];
    row[r] = tali_jet_sub(tali_jet3_dot(at.F[Z], at.p_FM),
                          tali_jet_scale(pitch, TALI_EQUATION(angle_of_screw)(&at, pitch)));
}

// Mx x (c Fy - s Fx) / (c^2 + s^2)
static void TALI_EQUATION(add_screw_moment)(const TALI_EQUATION(loop_frames) * at, double moment,
                                            tal_spatial_vec F[])
{
    const tali_jet c = tali_jet3_dot(at->M[X], at->F[X]), s = tali_jet3_dot(at->M[X], at->F[Y]);
    const tali_jet square = tali_jet_add(tali_jet_mul(c, c), tali_jet_mul(s, s));
    if (!(tali_jet_value(square) > TALI_NO_LENGTH)) return;
    const tali_jet3 across = tali_jet3_sub(tali_jet3_mul(c, at->F[Y]), tali_jet3_mul(s, at->F[X]));
    const tali_jet share = tali_jet_div(tali_jet_constant(moment), square);
    tali_constraint_turn_apart(0, 1, tali_jet3_mul(share, tali_jet3_cross(at->M[X], across)), F);
}

static void TALI_EQUATION(add_forces)(const tali_constraint_builtin *self,
                                      const tal_constraint_arg *arg, const double lambda[],
                                      tal_spatial_vec F[], double f[])
{
    (void)f;
    const loop_kind *kind = self->kind;
    const TALI_EQUATION(loop_frames) at = TALI_EQUATION(find_frames)(arg);
    int r = 0;
    for (int i = 0; i < kind->num_axes; ++i) {
        tali_constraint_turn_axes(0, at.F[kind->axes[i].F], 1, at.M[kind->axes[i].M], lambda[r++],
                                  F);
    }
    for (int i = 0; i < kind->num_steps; ++i) {
        tali_constraint_push_apart(arg, 0, 1, at.Mo,
                                   tali_jet3_scale(lambda[r++], at.F[kind->steps[i]]), F);
    }
    if (!kind->is_screw) return;
    tali_constraint_push_apart(arg, 0, 1, at.Mo, tali_jet3_scale(lambda[r], at.F[Z]), F);
    TALI_EQUATION(add_screw_moment)(&at, -arg->params[TAL_LOOP_SCREW_PITCH] * lambda[r], F);
}
