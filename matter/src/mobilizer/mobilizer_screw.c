// The screw (helical): R_FM = Rz(q), and Mo moves by pitch * q along z.
//
// params: {pitch}, length per radian.
#include "mobilizer/mobilizer_orientation_internal.h"

static tal_status calc_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    const double q = arg->q[0], pitch = arg->params[0];
    *X_FM = tal_xf(tal_rotation_about(TAL_AXIS_Z, q), tal_v3(0.0, 0.0, pitch * q));
    return TAL_OK;
}

static tal_status calc_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self;
    H_FM[0] = tal_sv(tal_v3(0.0, 0.0, 1.0), tal_v3(0.0, 0.0, arg->params[0]));
    return TAL_OK;
}

static tal_status fit_q(const void *self, const tal_mobilizer_arg *arg, const tal_xform *X_FM,
                        double q[])
{
    const tal_status st = tali_mobilizer_fit_turn(X_FM, arg->params[0], X_FM->p.z, q);
    if (st != TAL_OK) return st;
    return tali_mobilizer_refine_q(tal_mobilizer_screw(), self, arg, TAL_FORWARD, X_FM,
                                   TALI_FIT_ALL, q);
}

static const tal_mobilizer_ops ops = {
    .size = sizeof ops,
    .name = "screw",
    .tag = TALI_TAG_SCREW,
    .nu = 1,
    .nq = 1,
    .nq_angles = 1,
    .num_params = 1,
    .calc_X_FM = calc_X_FM,
    .calc_H_FM = calc_H_FM,
    .fit_q = fit_q,
};

const tal_mobilizer_ops *tal_mobilizer_screw(void)
{
    return &ops;
}
