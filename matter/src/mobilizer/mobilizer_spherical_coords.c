// Spherical coordinates: azimuth, zenith and radius, each with a sign, the angles with an offset.
//
//     R_FM = Rz(s0 q0 + a) Ry(s1 q1 + z)          p_FM = s2 q2 m,  m = Mz or Mx in F
//
// params: {a, z, s0, s1, s2, axis}: offsets in rad, signs +1 or -1, axis 0 for z and 1 for x. With
// d0, d1 the axes of the two turns and w = s0 u0 d0 + s1 u1 d1, v_FM = w x p_FM + s2 u2 m.
#include "mobilizer/mobilizer_orientation_internal.h"

#include <math.h>

static const tal_axis turn_axis[2] = {TAL_AXIS_Z, TAL_AXIS_Y};

// What q comes to.
typedef struct placement {
    tal_mat3 R_FM;
    tal_vec3 turn_F[2]; // axes of the two turns
    tal_vec3 m_F;       // direction of the radius
    tal_vec3 p_FM;
} placement;

static placement place(const tal_mobilizer_arg *arg)
{
    const double *s = arg->params + 2;
    const double angle[2] = {s[0] * arg->q[0] + arg->params[0], s[1] * arg->q[1] + arg->params[1]};
    placement at;
    at.R_FM = tali_mobilizer_turns(2, turn_axis, angle, at.turn_F);
    at.m_F = arg->params[5] != 0.0 ? at.R_FM.x : at.R_FM.z;
    at.p_FM = tal_v3_scale(s[2] * arg->q[2], at.m_F);
    return at;
}

static tal_status calc_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    const placement at = place(arg);
    *X_FM = tal_xf(at.R_FM, at.p_FM);
    return TAL_OK;
}

static tal_status calc_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self;
    const double *s = arg->params + 2;
    const placement at = place(arg);
    for (int i = 0; i < 2; ++i) {
        const tal_vec3 turn = tal_v3_scale(s[i], at.turn_F[i]);
        H_FM[i] = tal_sv(turn, tal_v3_cross(turn, at.p_FM));
    }
    H_FM[2] = tal_sv(TAL_VEC3_ZERO, tal_v3_scale(s[2], at.m_F));
    return TAL_OK;
}

static tal_status calc_Hdot_FM(const void *self, const tal_mobilizer_arg *arg,
                               tal_spatial_vec Hdot_FM[])
{
    (void)self;
    const double *s = arg->params + 2;
    const double rate[2] = {s[0] * arg->u[0], s[1] * arg->u[1]};
    const placement at = place(arg);
    tal_vec3 turn_dot_F[2];
    tali_mobilizer_turns_axes_dot(2, at.turn_F, rate, turn_dot_F);
    const tal_vec3 w_FM = tal_v3_axpy(rate[0], at.turn_F[0], tal_v3_scale(rate[1], at.turn_F[1]));
    const tal_vec3 mdot = tal_v3_cross(w_FM, at.m_F);
    const tal_vec3 v_FM =
        tal_v3_axpy(s[2] * arg->u[2], at.m_F, tal_v3_scale(s[2] * arg->q[2], mdot));
    for (int i = 0; i < 2; ++i) {
        const tal_vec3 turn = tal_v3_scale(s[i], at.turn_F[i]);
        const tal_vec3 turn_dot = tal_v3_scale(s[i], turn_dot_F[i]);
        Hdot_FM[i] =
            tal_sv(turn_dot, tal_v3_add(tal_v3_cross(turn_dot, at.p_FM), tal_v3_cross(turn, v_FM)));
    }
    Hdot_FM[2] = tal_sv(TAL_VEC3_ZERO, tal_v3_scale(s[2], mdot));
    return TAL_OK;
}

// Hdot u = (wdot, wdot x p + w x (w x p) + 2 s2 u2 w x m), with wdot = s0 u0 s1 u1 d0 x d1. Turn 0
// turns all of it; turn 1 turns p and m; the radius stretches p.
static tal_status calc_Hdot_u_slopes(const void *self, const tal_mobilizer_arg *arg,
                                     tal_spatial_vec slopes[])
{
    (void)self;
    const double *s = arg->params + 2;
    const double rate[2] = {s[0] * arg->u[0], s[1] * arg->u[1]};
    const placement at = place(arg);
    const tal_vec3 w = tal_v3_axpy(rate[0], at.turn_F[0], tal_v3_scale(rate[1], at.turn_F[1]));
    const tal_vec3 wdot = tal_v3_scale(rate[0] * rate[1], tal_v3_cross(at.turn_F[0], at.turn_F[1]));
    const tal_vec3 wm = tal_v3_scale(2.0 * s[2] * arg->u[2], w);
    const tal_vec3 all = tal_v3_add(
        tal_v3_add(tal_v3_cross(wdot, at.p_FM), tal_v3_cross(w, tal_v3_cross(w, at.p_FM))),
        tal_v3_cross(wm, at.m_F));
    const tal_vec3 turn0 = tal_v3_scale(s[0], at.turn_F[0]);
    slopes[0] = tal_sv(tal_v3_cross(turn0, wdot), tal_v3_cross(turn0, all));
    const tal_vec3 turn1 = tal_v3_scale(s[1], at.turn_F[1]);
    const tal_vec3 dp[2] = {tal_v3_cross(turn1, at.p_FM), tal_v3_scale(s[2], at.m_F)};
    const tal_vec3 dm[2] = {tal_v3_cross(turn1, at.m_F), TAL_VEC3_ZERO};
    for (int l = 0; l < 2; ++l) {
        const tal_vec3 change =
            tal_v3_add(tal_v3_cross(wdot, dp[l]), tal_v3_cross(w, tal_v3_cross(w, dp[l])));
        slopes[1 + l] = tal_sv(TAL_VEC3_ZERO, tal_v3_add(change, tal_v3_cross(wm, dm[l])));
    }
    return TAL_OK;
}

// First the angles that fit the rotation, then the radius that fits the translation.
static tal_status fit_q(const void *self, const tal_mobilizer_arg *arg, const tal_xform *X_FM,
                        double q[])
{
    const double *s = arg->params + 2;
    double angle[2];
    const tal_status st = tal_rotation_to_angles(&X_FM->R, TAL_BODY_FIXED, 2, turn_axis, angle);
    if (st != TAL_OK) return st;
    q[0] = s[0] * (angle[0] - arg->params[0]); // 1 / s = s
    q[1] = s[1] * (angle[1] - arg->params[1]);
    q[2] = 0.0;
    tal_mobilizer_arg at_q = *arg;
    at_q.q = q;
    q[2] = s[2] * tal_v3_dot(place(&at_q).m_F, X_FM->p);
    return tali_mobilizer_refine_q(tal_mobilizer_spherical_coords(), self, arg, TAL_FORWARD, X_FM,
                                   TALI_FIT_ALL, q);
}

static tal_status check_params(const void *self, const double params[], tal_error *err)
{
    (void)self;
    static const char *const coordinate[3] = {"azimuth", "zenith", "radius"};
    for (int i = 0; i < 3; ++i) {
        if (fabs(params[2 + i]) == 1.0) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the sign of the %s of spherical coordinates is %g; it must be 1 or -1",
                         coordinate[i], params[2 + i]);
    }
    if (params[5] != 0.0 && params[5] != 1.0) {
        return TALI_FAIL(
            err, TAL_ERR_BAD_VALUE,
            "the radial axis of spherical coordinates is %g; it must be 0 (z) or 1 (x)", params[5]);
    }
    return TAL_OK;
}

static const tal_mobilizer_ops ops = {
    .size = sizeof ops,
    .name = "spherical coordinates",
    .tag = TALI_TAG_SPHERICAL_COORDS,
    .nu = 3,
    .nq = 3,
    .nq_angles = 3,
    .num_params = 6,
    .calc_X_FM = calc_X_FM,
    .calc_H_FM = calc_H_FM,
    .calc_Hdot_FM = calc_Hdot_FM,
    .calc_Hdot_u_slopes = calc_Hdot_u_slopes,
    .fit_q = fit_q,
    .check_params = check_params,
};

const tal_mobilizer_ops *tal_mobilizer_spherical_coords(void)
{
    return &ops;
}
