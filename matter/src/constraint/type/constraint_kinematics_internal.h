// Motion of stations and axes of constrained bodies, with two time derivatives in A; and forces
// there.
//
// A jet is a quantity with its first and second time derivatives. Below the velocity or
// acceleration level, where a constraint is not given them, derivatives are zero and meaningless.
#ifndef TALUS_CONSTRAINT_KINEMATICS_INTERNAL_H
#define TALUS_CONSTRAINT_KINEMATICS_INTERNAL_H

#include "real_functions_internal.h"

#include <talus/matter/constraint.h>

/// A number with its time derivatives.
typedef struct tali_jet {
    double x, d, dd;
} tali_jet;

/// A vector with its time derivatives.
typedef struct tali_jet3 {
    tal_vec3 x, d, dd;
} tali_jet3;

// --- stations and axes ---

static inline tal_mat3 tali_constraint_R_AB(const tal_constraint_arg *arg, int b)
{
    return arg->X_AB[b].R;
}

/// The station S of constrained body `b`, from Ao.
static inline tali_jet3 tali_constraint_station(const tal_constraint_arg *arg, int b, tal_vec3 p_BS)
{
    const tal_vec3 p_BS_A = tal_m3_mul_v3(arg->X_AB[b].R, p_BS);
    tali_jet3 p = {tal_v3_add(arg->X_AB[b].p, p_BS_A), TAL_VEC3_ZERO, TAL_VEC3_ZERO};
    if (arg->V == NULL) return p;
    p.d = tal_sv_shift_motion(arg->V[b], p_BS_A).v;
    if (arg->a == NULL) return p;
    p.dd = tal_sv_shift_acceleration(arg->a[b], arg->V[b].w, p_BS_A).v;
    return p;
}

/// A direction fixed in constrained body `b`.
static inline tali_jet3 tali_constraint_axis(const tal_constraint_arg *arg, int b, tal_vec3 e_B)
{
    tali_jet3 e = {tal_m3_mul_v3(arg->X_AB[b].R, e_B), TAL_VEC3_ZERO, TAL_VEC3_ZERO};
    if (arg->V == NULL) return e;
    const tal_vec3 w = arg->V[b].w;
    e.d = tal_v3_cross(w, e.x);
    if (arg->a == NULL) return e;
    e.dd = tal_v3_add(tal_v3_cross(arg->a[b].w, e.x), tal_v3_cross(w, e.d));
    return e;
}

/// The velocity that body `b` has at a moving point P, and its rate (dd is not known, and zero):
///
///     v = v_B + w x r        vdot = a_B + alpha x r + w x (Pdot - v_B)        r = P - Bo
static inline tali_jet3 tali_constraint_velocity_at(const tal_constraint_arg *arg, int b,
                                                    tali_jet3 P)
{
    tali_jet3 v = {TAL_VEC3_ZERO, TAL_VEC3_ZERO, TAL_VEC3_ZERO};
    if (arg->V == NULL) return v;
    const tal_vec3 r = tal_v3_sub(P.x, arg->X_AB[b].p);
    const tal_spatial_vec V = arg->V[b];
    v.x = tal_sv_shift_motion(V, r).v;
    if (arg->a == NULL) return v;
    v.d = tal_v3_add(tal_sv_shift_motion(arg->a[b], r).v, tal_v3_cross(V.w, tal_v3_sub(P.d, V.v)));
    return v;
}

/// How body `b2` turns relative to body `b1`, and its rate (dd is not known, and zero).
static inline tali_jet3 tali_constraint_turning(const tal_constraint_arg *arg, int b1, int b2)
{
    tali_jet3 w = {TAL_VEC3_ZERO, TAL_VEC3_ZERO, TAL_VEC3_ZERO};
    if (arg->V != NULL) w.x = tal_v3_sub(arg->V[b2].w, arg->V[b1].w);
    if (arg->a != NULL) w.d = tal_v3_sub(arg->a[b2].w, arg->a[b1].w);
    return w;
}

// --- arithmetic ---

static inline tali_jet tali_jet_add(tali_jet a, tali_jet b)
{
    const tali_jet c = {a.x + b.x, a.d + b.d, a.dd + b.dd};
    return c;
}

/// a + c, with a constant c.
static inline tali_jet tali_jet_plus(tali_jet a, double c)
{
    a.x += c;
    return a;
}

static inline tali_jet tali_jet_constant(double x)
{
    const tali_jet c = {x, 0.0, 0.0};
    return c;
}

/// s a, with a constant s.
static inline tali_jet tali_jet_scale(double s, tali_jet a)
{
    const tali_jet c = {s * a.x, s * a.d, s * a.dd};
    return c;
}

static inline double tali_jet_value(tali_jet a)
{
    return a.x;
}

static inline tali_jet tali_jet_mul(tali_jet a, tali_jet b)
{
    const tali_jet c = {a.x * b.x, a.d * b.x + a.x * b.d,
                        a.dd * b.x + 2.0 * a.d * b.d + a.x * b.dd};
    return c;
}

static inline tali_jet tali_jet_sub(tali_jet a, tali_jet b)
{
    const tali_jet c = {a.x - b.x, a.d - b.d, a.dd - b.dd};
    return c;
}

/// c = a / b, from the derivatives of c b = a.
static inline tali_jet tali_jet_div(tali_jet a, tali_jet b)
{
    tali_jet c = {a.x / b.x, 0.0, 0.0};
    c.d = (a.d - c.x * b.d) / b.x;
    c.dd = (a.dd - 2.0 * c.d * b.d - c.x * b.dd) / b.x;
    return c;
}

static inline tali_jet3 tali_jet3_add(tali_jet3 a, tali_jet3 b)
{
    const tali_jet3 c = {tal_v3_add(a.x, b.x), tal_v3_add(a.d, b.d), tal_v3_add(a.dd, b.dd)};
    return c;
}

static inline tali_jet3 tali_jet3_sub(tali_jet3 a, tali_jet3 b)
{
    const tali_jet3 c = {tal_v3_sub(a.x, b.x), tal_v3_sub(a.d, b.d), tal_v3_sub(a.dd, b.dd)};
    return c;
}

/// s v, with a constant s.
static inline tali_jet3 tali_jet3_scale(double s, tali_jet3 v)
{
    const tali_jet3 c = {tal_v3_scale(s, v.x), tal_v3_scale(s, v.d), tal_v3_scale(s, v.dd)};
    return c;
}

/// s v
static inline tali_jet3 tali_jet3_mul(tali_jet s, tali_jet3 v)
{
    const tali_jet3 c = {
        tal_v3_scale(s.x, v.x), tal_v3_axpy(s.d, v.x, tal_v3_scale(s.x, v.d)),
        tal_v3_axpy(s.dd, v.x, tal_v3_axpy(2.0 * s.d, v.d, tal_v3_scale(s.x, v.dd)))};
    return c;
}

static inline tali_jet tali_jet3_dot(tali_jet3 a, tali_jet3 b)
{
    const tali_jet c = {tal_v3_dot(a.x, b.x), tal_v3_dot(a.d, b.x) + tal_v3_dot(a.x, b.d),
                        tal_v3_dot(a.dd, b.x) + 2.0 * tal_v3_dot(a.d, b.d) + tal_v3_dot(a.x, b.dd)};
    return c;
}

static inline tali_jet3 tali_jet3_cross(tali_jet3 a, tali_jet3 b)
{
    const tali_jet3 c = {
        tal_v3_cross(a.x, b.x), tal_v3_add(tal_v3_cross(a.d, b.x), tal_v3_cross(a.x, b.d)),
        tal_v3_add(tal_v3_axpy(2.0, tal_v3_cross(a.d, b.d), tal_v3_cross(a.dd, b.x)),
                   tal_v3_cross(a.x, b.dd))};
    return c;
}

/// The velocity of body `b2` less that of body `b1` at a moving point P, and its rate.
static inline tali_jet3 tali_constraint_slip(const tal_constraint_arg *arg, int b1, int b2,
                                             tali_jet3 P)
{
    return tali_jet3_sub(tali_constraint_velocity_at(arg, b2, P),
                         tali_constraint_velocity_at(arg, b1, P));
}

/// A length below which a vector has no direction. Squares and quotients of it are still finite.
static const double TALI_NO_LENGTH = 1e-100;

/**
 * A vector v = r e as its length and direction.
 *
 *     rdot  = e . vdot        rddot = e . vddot + (vdot . vdot - rdot^2) / r
 *     edot  = (vdot - rdot e) / r
 *     eddot = (vddot - rddot e - 2 rdot edot) / r
 *
 * At length zero e is `otherwise`, and constant: r is then taken along it.
 */
static inline tali_jet tali_jet3_polar(tali_jet3 v, tal_vec3 otherwise, tali_jet3 *e)
{
    const double length = tal_v3_norm(v.x);
    const bool has_direction = length > TALI_NO_LENGTH;
    const double curvature = has_direction ? 1.0 / length : 0.0;
    e->x = has_direction ? tal_v3_scale(curvature, v.x) : otherwise;
    tali_jet r = {length, tal_v3_dot(e->x, v.d), 0.0};
    const tal_vec3 across = tal_v3_axpy(-r.d, e->x, v.d);
    r.dd = tal_v3_dot(e->x, v.dd) + curvature * tal_v3_dot(across, across);
    e->d = tal_v3_scale(curvature, across);
    e->dd = tal_v3_scale(curvature, tal_v3_axpy(-r.dd, e->x, tal_v3_axpy(-2.0 * r.d, e->d, v.dd)));
    return r;
}

/// The components of a vector as three rows.
static inline void tali_jet3_to_rows(tali_jet3 v, tali_jet row[3])
{
    const tali_jet x = {v.x.x, v.d.x, v.dd.x}, y = {v.x.y, v.d.y, v.dd.y},
                   z = {v.x.z, v.d.z, v.dd.z};
    row[0] = x, row[1] = y, row[2] = z;
}

/// A velocity and its rate as a row of a constraint.
static inline tali_jet tali_constraint_velocity_row(tali_jet v)
{
    const tali_jet row = {0.0, v.x, v.d};
    return row;
}

/// Two velocity rows: how fast body 2 slips over body 1 at C, along x and along y.
static inline void tali_constraint_slip_rows(const tal_constraint_arg *arg, tali_jet3 C,
                                             tali_jet3 x, tali_jet3 y, tali_jet row[])
{
    const tali_jet3 slip = tali_constraint_slip(arg, 0, 1, C);
    row[0] = tali_constraint_velocity_row(tali_jet3_dot(x, slip));
    row[1] = tali_constraint_velocity_row(tali_jet3_dot(y, slip));
}

/// A position whose rate is a velocity row: the same row without its perr.
static inline tali_jet tali_constraint_rate_row(tali_jet p)
{
    const tali_jet row = {0.0, p.d, p.dd};
    return row;
}

/// A vector that stays as it is.
static inline tali_jet3 tali_jet3_constant(tal_vec3 v)
{
    const tali_jet3 c = {v, TAL_VEC3_ZERO, TAL_VEC3_ZERO};
    return c;
}

/// What it is now.
static inline tal_vec3 tali_jet3_value(tali_jet3 v)
{
    return v.x;
}

/// The angle atan2(s, c). Where both vanish there is no angle, and it is taken to be constant.
static inline tali_jet tali_jet_angle(tali_jet s, tali_jet c)
{
    const double square = c.x * c.x + s.x * s.x;
    tali_jet angle = {real_atan2(s.x, c.x), 0.0, 0.0};
    if (!(square > TALI_NO_LENGTH)) return angle;
    angle.d = (c.x * s.d - s.x * c.d) / square;
    const double stretch = 2.0 * (c.x * c.d + s.x * s.d);
    angle.dd = (c.x * s.dd - s.x * c.dd - angle.d * stretch) / square;
    return angle;
}

// --- forces ---

/// The force f on body `b` at the point P of A.
static inline void tali_constraint_push(const tal_constraint_arg *arg, int b, tali_jet3 P,
                                        tali_jet3 f, tal_spatial_vec F[])
{
    const tal_vec3 p_BP = tal_v3_sub(P.x, arg->X_AB[b].p);
    F[b] = tal_sv_add(F[b], tal_sv(tal_v3_cross(p_BP, f.x), f.x));
}

/// The force f on body `b2` at P, and its opposite on body `b1` at the same point.
static inline void tali_constraint_push_apart(const tal_constraint_arg *arg, int b1, int b2,
                                              tali_jet3 P, tali_jet3 f, tal_spatial_vec F[])
{
    tali_constraint_push(arg, b2, P, f, F);
    tali_constraint_push(arg, b1, P, tali_jet3_scale(-1.0, f), F);
}

/// The moment m on body `b2`, and its opposite on body `b1`.
static inline void tali_constraint_turn_apart(int b1, int b2, tali_jet3 m, tal_spatial_vec F[])
{
    F[b2].w = tal_v3_add(F[b2].w, m.x);
    F[b1].w = tal_v3_sub(F[b1].w, m.x);
}

/// The moment that works on e1 . e2, with e1 on body `b1` and e2 on body `b2`:
/// d(e1 . e2)/dt = (w2 - w1) . (e2 x e1).
static inline void tali_constraint_turn_axes(int b1, tali_jet3 e1, int b2, tali_jet3 e2,
                                             double lambda, tal_spatial_vec F[])
{
    tali_constraint_turn_apart(b1, b2, tali_jet3_scale(lambda, tali_jet3_cross(e2, e1)), F);
}

#endif // TALUS_CONSTRAINT_KINEMATICS_INTERNAL_H
