// Contact of two straight edges that may roll on each other: x axes of a frame on body 1 and on
// body 2.
//
//     n = +-(x1 x x2) / |x1 x x2|, out of body 1: n . z1 > 0
//     perr = n . (P2 - P1), P1 and P2 any points of the edges
//     verr = (x1, n x x1) . (v2 - v1) at C, halfway between the nearest points Q1, Q2 of the edges
//     force lambda0 n on body 2 at Q2, its opposite on body 1 at Q1;
//     lambda1 x1 + lambda2 n x x1 on body 2 at C, its opposite on body 1 there
//
// The nearest points, with d = P2 - P1, c = x1 . x2 and s2 = 1 - c^2:
//
//     Q1 = P1 + (x1 . d - c x2 . d) / s2 x1        Q2 = P2 + (c x1 . d - x2 . d) / s2 x2
//
// Parallel edges have no such points: n is then z1 and constant, and Q1, Q2 are P1, P2.

typedef struct TALI_EQUATION(contact) {
    tali_jet distance;
    tali_jet3 n, x, y;
    tali_jet3 Q1, Q2, C;
} TALI_EQUATION(contact);

// The nearest points of the two edges and the normal between them, with derivatives.
static TALI_EQUATION(contact) TALI_EQUATION(find_contact)(const tal_constraint_arg *arg)
{
    const tal_xform X_1 = tali_constraint_frame_from(arg->params + TAL_LINE_ON_LINE_FRAME_1);
    const tal_xform X_2 = tali_constraint_frame_from(arg->params + TAL_LINE_ON_LINE_FRAME_2);
    const tali_jet3 x1 = tali_constraint_axis(arg, 0, X_1.R.x),
                    x2 = tali_constraint_axis(arg, 1, X_2.R.x);
    const tal_vec3 z1 = tal_m3_mul_v3(tali_constraint_R_AB(arg, 0), X_1.R.z);
    TALI_EQUATION(contact) at;
    at.x = x1;
    at.n = tali_jet3_constant(z1);
    at.Q1 = tali_constraint_station(arg, 0, X_1.p);
    at.Q2 = tali_constraint_station(arg, 1, X_2.p);
    const tali_jet3 d = tali_jet3_sub(at.Q2, at.Q1);
    const tali_jet3 normal = tali_jet3_cross(x1, x2);
    const tali_jet s2 = tali_jet3_dot(normal, normal);
    if (tali_jet_value(s2) > PARALLEL) {
        const double sign = tal_v3_dot(tali_jet3_value(normal), z1) >= 0.0 ? 1.0 : -1.0;
        (void)tali_jet3_polar(tali_jet3_scale(sign, normal), z1, &at.n);
        const tali_jet c = tali_jet3_dot(x1, x2);
        const tali_jet d1 = tali_jet3_dot(x1, d), d2 = tali_jet3_dot(x2, d);
        const tali_jet t1 = tali_jet_div(tali_jet_sub(d1, tali_jet_mul(c, d2)), s2);
        const tali_jet t2 = tali_jet_div(tali_jet_sub(tali_jet_mul(c, d1), d2), s2);
        at.Q1 = tali_jet3_add(at.Q1, tali_jet3_mul(t1, x1));
        at.Q2 = tali_jet3_add(at.Q2, tali_jet3_mul(t2, x2));
    }
    at.distance = tali_jet3_dot(at.n, d);
    at.C = tali_jet3_scale(0.5, tali_jet3_add(at.Q1, at.Q2));
    at.y = tali_jet3_cross(at.n, at.x);
    return at;
}

static void TALI_EQUATION(calc_rows)(const tali_constraint_builtin *self,
                                     const tal_constraint_arg *arg, tali_jet row[])
{
    const TALI_EQUATION(contact) at = TALI_EQUATION(find_contact)(arg);
    if (self->mp > 0) row[0] = at.distance;
    if (self->mv > 0) tali_constraint_slip_rows(arg, at.C, at.x, at.y, row + self->mp);
}

static void TALI_EQUATION(add_forces)(const tali_constraint_builtin *self,
                                      const tal_constraint_arg *arg, const double lambda[],
                                      tal_spatial_vec F[], double f[])
{
    (void)f;
    const TALI_EQUATION(contact) at = TALI_EQUATION(find_contact)(arg);
    const tali_jet3 push = tali_jet3_scale(self->mp > 0 ? lambda[0] : 0.0, at.n);
    tali_constraint_push(arg, 0, at.Q1, tali_jet3_scale(-1.0, push), F);
    tali_constraint_push(arg, 1, at.Q2, push, F);
    if (self->mv == 0) return;
    const double *slip = lambda + self->mp;
    const tali_jet3 drag =
        tali_jet3_add(tali_jet3_scale(slip[0], at.x), tali_jet3_scale(slip[1], at.y));
    tali_constraint_push_apart(arg, 0, 1, at.C, drag, F);
}
