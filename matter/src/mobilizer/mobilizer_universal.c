// The universal joint (Hooke, Cardan): R_FM = Rx(q0) Ry(q1), u = qdot.
//
//     w_FM = u0 Fx + u1 My          My = R_FM y, carried along by the first turn
#include "mobilizer/mobilizer_orientation_internal.h"

static tal_status calc_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    *X_FM = tal_xf_from_R(tali_mobilizer_turns(2, tali_mobilizer_axes_xyz, arg->q, NULL));
    return TAL_OK;
}

static tal_status calc_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self;
    tali_mobilizer_turns_H_FM(2, arg, H_FM);
    return TAL_OK;
}

static tal_status calc_Hdot_FM(const void *self, const tal_mobilizer_arg *arg,
                               tal_spatial_vec Hdot_FM[])
{
    (void)self;
    tali_mobilizer_turns_Hdot_FM(2, arg, Hdot_FM);
    return TAL_OK;
}

static tal_status calc_Hdot_u_slopes(const void *self, const tal_mobilizer_arg *arg,
                                     tal_spatial_vec slopes[])
{
    (void)self;
    tali_mobilizer_turns_Hdot_u_slopes(2, arg, slopes);
    return TAL_OK;
}

static tal_status fit_q(const void *self, const tal_mobilizer_arg *arg, const tal_xform *X_FM,
                        double q[])
{
    (void)self, (void)arg;
    return tal_rotation_to_angles(&X_FM->R, TAL_BODY_FIXED, 2, tali_mobilizer_axes_xyz, q);
}

static const tal_mobilizer_ops ops = {
    .size = sizeof ops,
    .name = "universal",
    .tag = TALI_TAG_UNIVERSAL,
    .nu = 2,
    .nq = 2,
    .nq_angles = 2,
    .calc_X_FM = calc_X_FM,
    .calc_H_FM = calc_H_FM,
    .calc_Hdot_FM = calc_Hdot_FM,
    .calc_Hdot_u_slopes = calc_Hdot_u_slopes,
    .fit_q = fit_q,
};

const tal_mobilizer_ops *tal_mobilizer_universal(void)
{
    return &ops;
}
