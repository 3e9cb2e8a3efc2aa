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
#include "constraint/type/constraint_builtin_internal.h"

// Edges whose angle has a square below this are parallel: half the digits of n are lost there.
static const double PARALLEL = 1e-16;

typedef struct contact {
    tali_jet distance;
    tali_jet3 n, x, y;
    tali_jet3 Q1, Q2, C;
} contact;

// The nearest points of the two edges and the normal between them, with derivatives.
static contact find_contact(const tal_constraint_arg *arg)
{
    const tal_xform X_1 = tali_constraint_frame_from(arg->params + TAL_LINE_ON_LINE_FRAME_1);
    const tal_xform X_2 = tali_constraint_frame_from(arg->params + TAL_LINE_ON_LINE_FRAME_2);
    const tali_jet3 x1 = tali_constraint_axis(arg, 0, X_1.R.x),
                    x2 = tali_constraint_axis(arg, 1, X_2.R.x);
    const tal_vec3 z1 = tal_m3_mul_v3(arg->X_AB[0].R, X_1.R.z);
    contact at = {.x = x1};
    at.Q1 = tali_constraint_station(arg, 0, X_1.p);
    at.Q2 = tali_constraint_station(arg, 1, X_2.p);
    const tali_jet3 d = tali_jet3_sub(at.Q2, at.Q1);
    const tali_jet3 normal = tali_jet3_cross(x1, x2);
    const tali_jet s2 = tali_jet3_dot(normal, normal);
    at.n = (tali_jet3){z1, TAL_VEC3_ZERO, TAL_VEC3_ZERO};
    if (s2.x > PARALLEL) {
        const double sign = tal_v3_dot(normal.x, z1) >= 0.0 ? 1.0 : -1.0;
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

static void calc_rows(const tali_constraint_builtin *self, const tal_constraint_arg *arg,
                      tali_jet row[])
{
    const contact at = find_contact(arg);
    if (self->mp > 0) row[0] = at.distance;
    if (self->mv > 0) tali_constraint_slip_rows(arg, at.C, at.x, at.y, row + self->mp);
}

static tal_status add_forces(const void *self, const tal_constraint_arg *arg, const double lambda[],
                             tal_spatial_vec F[], double f[])
{
    (void)f;
    const tali_constraint_builtin *c = self;
    const contact at = find_contact(arg);
    const tal_vec3 push = c->mp > 0 ? tal_v3_scale(lambda[0], at.n.x) : TAL_VEC3_ZERO;
    tali_constraint_push(arg, 0, at.Q1.x, tal_v3_neg(push), F);
    tali_constraint_push(arg, 1, at.Q2.x, push, F);
    if (c->mv == 0) return TAL_OK;
    const double *slip = lambda + c->mp;
    const tal_vec3 drag = tal_v3_axpy(slip[0], at.x.x, tal_v3_scale(slip[1], at.y.x));
    tali_constraint_push_apart(arg, 0, 1, at.C.x, drag, F);
    return TAL_OK;
}

static tal_status check_params(const void *self, const double params[], tal_error *err)
{
    (void)self;
    return tali_constraint_check_two_frames(params, err);
}

static const tal_constraint_ops sliding_ops = {
    .name = "line on line contact",
    .tag = TALI_TAG_LINE_ON_LINE_CONTACT,
    .mp = 1,
    .num_bodies = 2,
    .num_params = TAL_LINE_ON_LINE_NUM_PARAMS,
    .add_forces = add_forces,
    .check_params = check_params,
};

static const tal_constraint_ops rolling_ops = {
    .name = "rolling line on line",
    .tag = TALI_TAG_LINE_ON_LINE_ROLLING,
    .mp = 1,
    .mv = 2,
    .num_bodies = 2,
    .num_params = TAL_LINE_ON_LINE_NUM_PARAMS,
    .add_forces = add_forces,
    .check_params = check_params,
};

static const tal_constraint_ops grip_ops = {
    .name = "grip of a line on a line",
    .tag = TALI_TAG_LINE_ON_LINE_GRIP,
    .mv = 2,
    .num_bodies = 2,
    .num_params = TAL_LINE_ON_LINE_NUM_PARAMS,
    .add_forces = add_forces,
    .check_params = check_params,
};

static tal_constraint_ix add_lines(tal_matter *matter, const tal_constraint_def *def,
                                   const tal_constraint_ops *ops, const tal_xform *edge1,
                                   const tal_xform *edge2)
{
    if (edge1 == NULL || edge2 == NULL) return tali_constraint_refuse_null(matter, ops->name);
    double params[TAL_LINE_ON_LINE_NUM_PARAMS];
    tali_constraint_frame_to(edge1, params + TAL_LINE_ON_LINE_FRAME_1);
    tali_constraint_frame_to(edge2, params + TAL_LINE_ON_LINE_FRAME_2);
    const tali_constraint_builtin like = {.calc_rows = calc_rows};
    return tali_constraint_add_builtin(matter, def, ops, &like, params);
}

tal_constraint_ix tal_constraint_add_line_on_line_contact(tal_matter *matter,
                                                          const tal_constraint_def *def,
                                                          const tal_xform *edge1,
                                                          const tal_xform *edge2, bool rolling)
{
    return add_lines(matter, def, rolling ? &rolling_ops : &sliding_ops, edge1, edge2);
}

tal_constraint_ix tali_constraint_add_line_on_line_grip(tal_matter *matter,
                                                        const tal_constraint_def *def,
                                                        const tal_xform *edge1,
                                                        const tal_xform *edge2)
{
    return add_lines(matter, def, &grip_ops, edge1, edge2);
}
