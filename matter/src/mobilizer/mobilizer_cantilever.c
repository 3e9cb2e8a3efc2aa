// The cantilever beam with a free end: F at the clamped root, M at the tip. The angles of the tip
// bend the beam and so place it.
//
//     R_FM = Rx(q0) Ry(q1) Rz(q2)
//     p_FM = L (2/3 q1, -2/3 q0, 1 - 4/15 (q0^2 + q1^2))          u = qdot
//
// params: {L}, the length. A transverse load at the tip deflects it by 2/3 of L times its slope and
// shortens its reach by 4/15 of L times the square of it, so this is right for small q0, q1.
#include "mobilizer/mobilizer_orientation_internal.h"

static const double SHIFT = 2.0 / 3.0, SHORTENING = 4.0 / 15.0;

static tal_status calc_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    const double *q = arg->q;
    const tal_vec3 p = {SHIFT * q[1], -SHIFT * q[0],
                        1.0 - SHORTENING * (q[0] * q[0] + q[1] * q[1])};
    *X_FM = tal_xf(tali_mobilizer_turns(3, tali_mobilizer_axes_xyz, q, NULL),
                   tal_v3_scale(arg->params[0], p));
    return TAL_OK;
}

static tal_status calc_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self;
    const double L = arg->params[0];
    tali_mobilizer_turns_H_FM(3, arg, H_FM);
    H_FM[0].v = tal_v3_scale(L, tal_v3(0.0, -SHIFT, -2.0 * SHORTENING * arg->q[0]));
    H_FM[1].v = tal_v3_scale(L, tal_v3(SHIFT, 0.0, -2.0 * SHORTENING * arg->q[1]));
    return TAL_OK;
}

static tal_status calc_Hdot_FM(const void *self, const tal_mobilizer_arg *arg,
                               tal_spatial_vec Hdot_FM[])
{
    (void)self;
    const double L = arg->params[0];
    tali_mobilizer_turns_Hdot_FM(3, arg, Hdot_FM);
    Hdot_FM[0].v.z = -2.0 * SHORTENING * L * arg->u[0];
    Hdot_FM[1].v.z = -2.0 * SHORTENING * L * arg->u[1];
    return TAL_OK;
}

// The linear part of Hdot u is the same for all q.
static tal_status calc_Hdot_u_slopes(const void *self, const tal_mobilizer_arg *arg,
                                     tal_spatial_vec slopes[])
{
    (void)self;
    tali_mobilizer_turns_Hdot_u_slopes(3, arg, slopes);
    return TAL_OK;
}

// The rotation alone tells q; where the translation disagrees, the two are traded off.
static tal_status fit_q(const void *self, const tal_mobilizer_arg *arg, const tal_xform *X_FM,
                        double q[])
{
    const tal_status st =
        tal_rotation_to_angles(&X_FM->R, TAL_BODY_FIXED, 3, tali_mobilizer_axes_xyz, q);
    if (st != TAL_OK) return st;
    return tali_mobilizer_refine_q(tal_mobilizer_cantilever(), self, arg, TAL_FORWARD, X_FM,
                                   TALI_FIT_ALL, q);
}

static tal_status check_params(const void *self, const double params[], tal_error *err)
{
    (void)self;
    if (params[0] > 0.0) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "the length of the cantilever beam is %g; it must be positive", params[0]);
}

static const tal_mobilizer_ops ops = {
    .size = sizeof ops,
    .name = "cantilever",
    .tag = TALI_TAG_CANTILEVER,
    .nu = 3,
    .nq = 3,
    .nq_angles = 3,
    .num_params = 1,
    .calc_X_FM = calc_X_FM,
    .calc_H_FM = calc_H_FM,
    .calc_Hdot_FM = calc_Hdot_FM,
    .calc_Hdot_u_slopes = calc_Hdot_u_slopes,
    .fit_q = fit_q,
    .check_params = check_params,
};

const tal_mobilizer_ops *tal_mobilizer_cantilever(void)
{
    return &ops;
}
