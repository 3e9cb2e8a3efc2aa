// The gimbal and the bushing: body-XYZ angles with u = qdot. The bushing adds p_FM in F.
//
//     R_FM = Rx(q0) Ry(q1) Rz(q2)          p_FM = (q3, q4, q5)
//     w_FM = u0 a0 + u1 a1 + u2 a2         a_i: axis of turn i, carried along by the turns before
#include "mobilizer/mobilizer_orientation_internal.h"

#include <string.h>

// ---- gimbal

static tal_status gimbal_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    *X_FM = tal_xf_from_R(tali_mobilizer_turns(3, tali_mobilizer_axes_xyz, arg->q, NULL));
    return TAL_OK;
}

static tal_status gimbal_H_FM(const void *self, const tal_mobilizer_arg *arg,
                              tal_spatial_vec H_FM[])
{
    (void)self;
    tali_mobilizer_turns_H_FM(3, arg, H_FM);
    return TAL_OK;
}

static tal_status gimbal_Hdot_FM(const void *self, const tal_mobilizer_arg *arg,
                                 tal_spatial_vec Hdot_FM[])
{
    (void)self;
    tali_mobilizer_turns_Hdot_FM(3, arg, Hdot_FM);
    return TAL_OK;
}

static tal_status gimbal_Hdot_u_slopes(const void *self, const tal_mobilizer_arg *arg,
                                       tal_spatial_vec slopes[])
{
    (void)self;
    tali_mobilizer_turns_Hdot_u_slopes(3, arg, slopes);
    return TAL_OK;
}

static tal_status gimbal_fit_q(const void *self, const tal_mobilizer_arg *arg,
                               const tal_xform *X_FM, double q[])
{
    (void)self, (void)arg;
    return tal_rotation_to_angles(&X_FM->R, TAL_BODY_FIXED, 3, tali_mobilizer_axes_xyz, q);
}

static const tal_mobilizer_ops gimbal_ops = {
    .size = sizeof gimbal_ops,
    .name = "gimbal",
    .tag = TALI_TAG_GIMBAL,
    .nu = 3,
    .nq = 3,
    .nq_angles = 3,
    .calc_X_FM = gimbal_X_FM,
    .calc_H_FM = gimbal_H_FM,
    .calc_Hdot_FM = gimbal_Hdot_FM,
    .calc_Hdot_u_slopes = gimbal_Hdot_u_slopes,
    .fit_q = gimbal_fit_q,
};

const tal_mobilizer_ops *tal_mobilizer_gimbal(void)
{
    return &gimbal_ops;
}

// ---- bushing

static tal_status bushing_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    *X_FM = tal_xf(tali_mobilizer_turns(3, tali_mobilizer_axes_xyz, arg->q, NULL),
                   tali_mobilizer_v3_load(arg->q + 3));
    return TAL_OK;
}

static tal_status bushing_H_FM(const void *self, const tal_mobilizer_arg *arg,
                               tal_spatial_vec H_FM[])
{
    (void)self;
    tali_mobilizer_turns_H_FM(3, arg, H_FM);
    memcpy(H_FM + 3, tali_mobilizer_unit_columns + 3, 3 * sizeof *H_FM);
    return TAL_OK;
}

static tal_status bushing_Hdot_FM(const void *self, const tal_mobilizer_arg *arg,
                                  tal_spatial_vec Hdot_FM[])
{
    (void)self;
    tali_mobilizer_turns_Hdot_FM(3, arg, Hdot_FM);
    for (int j = 3; j < 6; ++j) {
        Hdot_FM[j] = TAL_SPATIAL_VEC_ZERO;
    }
    return TAL_OK;
}

static tal_status bushing_Hdot_u_slopes(const void *self, const tal_mobilizer_arg *arg,
                                        tal_spatial_vec slopes[])
{
    (void)self;
    tali_mobilizer_turns_Hdot_u_slopes(3, arg, slopes);
    for (int l = 3; l < 6; ++l) {
        slopes[l] = TAL_SPATIAL_VEC_ZERO;
    }
    return TAL_OK;
}

static tal_status bushing_fit_q(const void *self, const tal_mobilizer_arg *arg,
                                const tal_xform *X_FM, double q[])
{
    tali_mobilizer_v3_store(X_FM->p, q + 3);
    return gimbal_fit_q(self, arg, X_FM, q);
}

static const tal_mobilizer_ops bushing_ops = {
    .size = sizeof bushing_ops,
    .name = "bushing",
    .tag = TALI_TAG_BUSHING,
    .nu = 6,
    .nq = 6,
    .nq_angles = 6,
    .calc_X_FM = bushing_X_FM,
    .calc_H_FM = bushing_H_FM,
    .calc_Hdot_FM = bushing_Hdot_FM,
    .calc_Hdot_u_slopes = bushing_Hdot_u_slopes,
    .fit_q = bushing_fit_q,
};

const tal_mobilizer_ops *tal_mobilizer_bushing(void)
{
    return &bushing_ops;
}
