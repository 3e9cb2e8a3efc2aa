// The slider (prismatic): q is the distance along the common x axis, p_FM = (q, 0, 0).
#include "mobilizer/mobilizer_orientation_internal.h"

static tal_status calc_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    *X_FM = tal_xf_from_p(tal_v3(arg->q[0], 0.0, 0.0));
    return TAL_OK;
}

static tal_status calc_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self, (void)arg;
    H_FM[0] = tali_mobilizer_unit_columns[3];
    return TAL_OK;
}

static tal_status fit_q(const void *self, const tal_mobilizer_arg *arg, const tal_xform *X_FM,
                        double q[])
{
    (void)self, (void)arg;
    q[0] = X_FM->p.x;
    return TAL_OK;
}

static const tal_mobilizer_ops ops = {
    .size = sizeof ops,
    .name = "slider",
    .tag = TALI_TAG_SLIDER,
    .nu = 1,
    .nq = 1,
    .nq_angles = 1,
    .calc_X_FM = calc_X_FM,
    .calc_H_FM = calc_H_FM,
    .fit_q = fit_q,
};

const tal_mobilizer_ops *tal_mobilizer_slider(void)
{
    return &ops;
}
