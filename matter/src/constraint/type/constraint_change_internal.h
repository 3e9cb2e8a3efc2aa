// How errors and forces of the built-in constraints change when bodies are displaced, or move
// differently: their equations with numbers that carry a change along.
//
// A changing jet is a jet `at` and its change `by`, a jet as well. Both obey the rules for jets, so
// the product rule is all there is to each operation.
#ifndef TALUS_CONSTRAINT_CHANGE_INTERNAL_H
#define TALUS_CONSTRAINT_CHANGE_INTERNAL_H

#include "constraint/type/constraint_kinematics_internal.h"

typedef struct tali_jet_changing {
    tali_jet at, by;
} tali_jet_changing;

typedef struct tali_jet3_changing {
    tali_jet3 at, by;
} tali_jet3_changing;

/// What an equation is given: the motion of the bodies, and its change. All levels are there.
typedef struct tali_constraint_changing_arg {
    const tal_constraint_arg *arg;
    const tal_constraint_change *to;
    const double *params;
} tali_constraint_changing_arg;

// --- stations and axes ---

static inline tal_mat3 tali_constraint_changing_R_AB(const tali_constraint_changing_arg *arg, int b)
{
    return arg->arg->X_AB[b].R;
}

/// p = Bo + r, v + w x r and a + alpha x r + w x (w x r) with the product rule, and r that turns.
static inline tali_jet3_changing
tali_constraint_changing_station(const tali_constraint_changing_arg *arg, int b, tal_vec3 p_BS)
{
    const tal_constraint_arg *at = arg->arg;
    const tal_spatial_vec dX = arg->to->dX[b], dV = arg->to->dV[b], dA = arg->to->dA[b];
    const tal_vec3 w = at->V[b].w, r = tal_m3_mul_v3(at->X_AB[b].R, p_BS);
    const tal_vec3 dr = tal_v3_cross(dX.w, r);
    const tal_vec3 turning = tal_v3_add(tal_v3_cross(dV.w, r), tal_v3_cross(w, dr));
    const tal_vec3 bending = tal_v3_add(tal_v3_cross(dA.w, r), tal_v3_cross(at->a[b].w, dr));
    const tal_vec3 inward =
        tal_v3_add(tal_v3_cross(dV.w, tal_v3_cross(w, r)), tal_v3_cross(w, turning));
    tali_jet3_changing p = {.at = tali_constraint_station(at, b, p_BS)};
    p.by.x = tal_v3_add(dX.v, dr);
    p.by.d = tal_v3_add(dV.v, turning);
    p.by.dd = tal_v3_add(dA.v, tal_v3_add(bending, inward));
    return p;
}

static inline tali_jet3_changing
tali_constraint_changing_axis(const tali_constraint_changing_arg *arg, int b, tal_vec3 e_B)
{
    const tal_constraint_arg *at = arg->arg;
    const tal_spatial_vec dX = arg->to->dX[b], dV = arg->to->dV[b], dA = arg->to->dA[b];
    const tal_vec3 w = at->V[b].w;
    tali_jet3_changing e = {.at = tali_constraint_axis(at, b, e_B)};
    e.by.x = tal_v3_cross(dX.w, e.at.x);
    e.by.d = tal_v3_add(tal_v3_cross(dV.w, e.at.x), tal_v3_cross(w, e.by.x));
    e.by.dd = tal_v3_add(tal_v3_add(tal_v3_cross(dA.w, e.at.x), tal_v3_cross(at->a[b].w, e.by.x)),
                         tal_v3_add(tal_v3_cross(dV.w, e.at.d), tal_v3_cross(w, e.by.d)));
    return e;
}

static inline tali_jet3_changing
tali_constraint_changing_velocity_at(const tali_constraint_changing_arg *arg, int b,
                                     tali_jet3_changing P)
{
    const tal_constraint_arg *at = arg->arg;
    const tal_spatial_vec V = at->V[b], dV = arg->to->dV[b], dA = arg->to->dA[b];
    const tal_vec3 r = tal_v3_sub(P.at.x, at->X_AB[b].p), dr = tal_v3_sub(P.by.x, arg->to->dX[b].v);
    const tal_vec3 drift = tal_v3_add(tal_v3_cross(dV.w, tal_v3_sub(P.at.d, V.v)),
                                      tal_v3_cross(V.w, tal_v3_sub(P.by.d, dV.v)));
    const tal_vec3 bending = tal_v3_add(tal_v3_cross(dA.w, r), tal_v3_cross(at->a[b].w, dr));
    tali_jet3_changing v = {tali_constraint_velocity_at(at, b, P.at),
                            tali_jet3_constant(TAL_VEC3_ZERO)};
    v.by.x = tal_v3_add(dV.v, tal_v3_add(tal_v3_cross(dV.w, r), tal_v3_cross(V.w, dr)));
    v.by.d = tal_v3_add(dA.v, tal_v3_add(bending, drift));
    return v;
}

static inline tali_jet3_changing
tali_constraint_changing_turning(const tali_constraint_changing_arg *arg, int b1, int b2)
{
    const tal_spatial_vec *dV = arg->to->dV, *dA = arg->to->dA;
    tali_jet3_changing w = {tali_constraint_turning(arg->arg, b1, b2),
                            tali_jet3_constant(TAL_VEC3_ZERO)};
    w.by.x = tal_v3_sub(dV[b2].w, dV[b1].w);
    w.by.d = tal_v3_sub(dA[b2].w, dA[b1].w);
    return w;
}

// --- arithmetic ---

static inline tali_jet_changing tali_jet_changing_add(tali_jet_changing a, tali_jet_changing b)
{
    const tali_jet_changing c = {tali_jet_add(a.at, b.at), tali_jet_add(a.by, b.by)};
    return c;
}

static inline tali_jet_changing tali_jet_changing_sub(tali_jet_changing a, tali_jet_changing b)
{
    const tali_jet_changing c = {tali_jet_sub(a.at, b.at), tali_jet_sub(a.by, b.by)};
    return c;
}

static inline tali_jet_changing tali_jet_changing_plus(tali_jet_changing a, double c)
{
    a.at.x += c;
    return a;
}

static inline tali_jet_changing tali_jet_changing_constant(double x)
{
    const tali_jet_changing c = {tali_jet_constant(x), tali_jet_constant(0.0)};
    return c;
}

static inline tali_jet_changing tali_jet_changing_scale(double s, tali_jet_changing a)
{
    const tali_jet_changing c = {tali_jet_scale(s, a.at), tali_jet_scale(s, a.by)};
    return c;
}

static inline double tali_jet_changing_value(tali_jet_changing a)
{
    return a.at.x;
}

static inline tali_jet_changing tali_jet_changing_mul(tali_jet_changing a, tali_jet_changing b)
{
    const tali_jet_changing c = {tali_jet_mul(a.at, b.at),
                                 tali_jet_add(tali_jet_mul(a.by, b.at), tali_jet_mul(a.at, b.by))};
    return c;
}

/// From the change of c b = a.
static inline tali_jet_changing tali_jet_changing_div(tali_jet_changing a, tali_jet_changing b)
{
    tali_jet_changing c = {.at = tali_jet_div(a.at, b.at)};
    c.by = tali_jet_div(tali_jet_sub(a.by, tali_jet_mul(c.at, b.by)), b.at);
    return c;
}

static inline tali_jet3_changing tali_jet3_changing_add(tali_jet3_changing a, tali_jet3_changing b)
{
    const tali_jet3_changing c = {tali_jet3_add(a.at, b.at), tali_jet3_add(a.by, b.by)};
    return c;
}

static inline tali_jet3_changing tali_jet3_changing_sub(tali_jet3_changing a, tali_jet3_changing b)
{
    const tali_jet3_changing c = {tali_jet3_sub(a.at, b.at), tali_jet3_sub(a.by, b.by)};
    return c;
}

static inline tali_jet3_changing tali_jet3_changing_scale(double s, tali_jet3_changing v)
{
    const tali_jet3_changing c = {tali_jet3_scale(s, v.at), tali_jet3_scale(s, v.by)};
    return c;
}

static inline tali_jet3_changing tali_jet3_changing_mul(tali_jet_changing s, tali_jet3_changing v)
{
    const tali_jet3_changing c = {
        tali_jet3_mul(s.at, v.at),
        tali_jet3_add(tali_jet3_mul(s.by, v.at), tali_jet3_mul(s.at, v.by))};
    return c;
}

static inline tali_jet_changing tali_jet3_changing_dot(tali_jet3_changing a, tali_jet3_changing b)
{
    const tali_jet_changing c = {
        tali_jet3_dot(a.at, b.at),
        tali_jet_add(tali_jet3_dot(a.by, b.at), tali_jet3_dot(a.at, b.by))};
    return c;
}

static inline tali_jet3_changing tali_jet3_changing_cross(tali_jet3_changing a,
                                                          tali_jet3_changing b)
{
    const tali_jet3_changing c = {
        tali_jet3_cross(a.at, b.at),
        tali_jet3_add(tali_jet3_cross(a.by, b.at), tali_jet3_cross(a.at, b.by))};
    return c;
}

static inline tali_jet3_changing tali_jet3_changing_constant(tal_vec3 v)
{
    const tali_jet3_changing c = {tali_jet3_constant(v), tali_jet3_constant(TAL_VEC3_ZERO)};
    return c;
}

static inline tal_vec3 tali_jet3_changing_value(tali_jet3_changing v)
{
    return v.at.x;
}

/// With v = r e: the change of r is e . dv, that of e is (dv - dr e) / r; at length zero e stays.
static inline tali_jet_changing tali_jet3_changing_polar(tali_jet3_changing v, tal_vec3 otherwise,
                                                         tali_jet3_changing *e)
{
    tali_jet_changing r = {.at = tali_jet3_polar(v.at, otherwise, &e->at)};
    r.by = tali_jet3_dot(e->at, v.by);
    e->by = tali_jet3_constant(TAL_VEC3_ZERO);
    if (!(r.at.x > TALI_NO_LENGTH)) return r;
    const tali_jet one = {1.0, 0.0, 0.0};
    e->by = tali_jet3_mul(tali_jet_div(one, r.at), tali_jet3_sub(v.by, tali_jet3_mul(r.by, e->at)));
    return r;
}

/// The change of atan2(s, c) is (c ds - s dc) / (c^2 + s^2).
static inline tali_jet_changing tali_jet_changing_angle(tali_jet_changing s, tali_jet_changing c)
{
    const tali_jet square = tali_jet_add(tali_jet_mul(c.at, c.at), tali_jet_mul(s.at, s.at));
    tali_jet_changing angle = {tali_jet_angle(s.at, c.at), {0.0, 0.0, 0.0}};
    if (!(square.x > TALI_NO_LENGTH)) return angle;
    angle.by =
        tali_jet_div(tali_jet_sub(tali_jet_mul(c.at, s.by), tali_jet_mul(s.at, c.by)), square);
    return angle;
}

// --- rows ---

static inline void tali_jet3_changing_to_rows(tali_jet3_changing v, tali_jet_changing row[3])
{
    tali_jet at[3], by[3];
    tali_jet3_to_rows(v.at, at);
    tali_jet3_to_rows(v.by, by);
    for (int r = 0; r < 3; ++r) {
        row[r].at = at[r], row[r].by = by[r];
    }
}

static inline tali_jet_changing tali_constraint_changing_velocity_row(tali_jet_changing v)
{
    const tali_jet_changing row = {tali_constraint_velocity_row(v.at),
                                   tali_constraint_velocity_row(v.by)};
    return row;
}

static inline tali_jet_changing tali_constraint_changing_rate_row(tali_jet_changing p)
{
    const tali_jet_changing row = {tali_constraint_rate_row(p.at), tali_constraint_rate_row(p.by)};
    return row;
}

static inline tali_jet3_changing
tali_constraint_changing_slip(const tali_constraint_changing_arg *arg, int b1, int b2,
                              tali_jet3_changing P)
{
    return tali_jet3_changing_sub(tali_constraint_changing_velocity_at(arg, b2, P),
                                  tali_constraint_changing_velocity_at(arg, b1, P));
}

static inline void tali_constraint_changing_slip_rows(const tali_constraint_changing_arg *arg,
                                                      tali_jet3_changing C, tali_jet3_changing x,
                                                      tali_jet3_changing y, tali_jet_changing row[])
{
    const tali_jet3_changing slip = tali_constraint_changing_slip(arg, 0, 1, C);
    row[0] = tali_constraint_changing_velocity_row(tali_jet3_changing_dot(x, slip));
    row[1] = tali_constraint_changing_velocity_row(tali_jet3_changing_dot(y, slip));
}

// --- forces: of these the change alone is added ---

static inline void tali_constraint_changing_push(const tali_constraint_changing_arg *arg, int b,
                                                 tali_jet3_changing P, tali_jet3_changing f,
                                                 tal_spatial_vec F[])
{
    const tal_vec3 p = tal_v3_sub(P.at.x, arg->arg->X_AB[b].p);
    const tal_vec3 dp = tal_v3_sub(P.by.x, arg->to->dX[b].v);
    const tal_vec3 moment = tal_v3_add(tal_v3_cross(dp, f.at.x), tal_v3_cross(p, f.by.x));
    F[b] = tal_sv_add(F[b], tal_sv(moment, f.by.x));
}

static inline void tali_constraint_changing_push_apart(const tali_constraint_changing_arg *arg,
                                                       int b1, int b2, tali_jet3_changing P,
                                                       tali_jet3_changing f, tal_spatial_vec F[])
{
    tali_constraint_changing_push(arg, b2, P, f, F);
    tali_constraint_changing_push(arg, b1, P, tali_jet3_changing_scale(-1.0, f), F);
}

static inline void tali_constraint_changing_turn_apart(int b1, int b2, tali_jet3_changing m,
                                                       tal_spatial_vec F[])
{
    tali_constraint_turn_apart(b1, b2, m.by, F);
}

static inline void tali_constraint_changing_turn_axes(int b1, tali_jet3_changing e1, int b2,
                                                      tali_jet3_changing e2, double lambda,
                                                      tal_spatial_vec F[])
{
    const tali_jet3_changing m = tali_jet3_changing_cross(e2, e1);
    tali_constraint_changing_turn_apart(b1, b2, tali_jet3_changing_scale(lambda, m), F);
}

#endif // TALUS_CONSTRAINT_CHANGE_INTERNAL_H
