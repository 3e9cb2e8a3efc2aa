// The pin (revolute, hinge): q is the angle about the common z axis, R_FM = Rz(q).
#include "mobilizer/mobilizer_orientation_internal.h"

static tal_status calc_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    *X_FM = tal_xf_from_R(tal_rotation_about(TAL_AXIS_Z, arg->q[0]));
    return TAL_OK;
}

static tal_status calc_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self, (void)arg;
    H_FM[0] = tali_mobilizer_unit_columns[2];
    return TAL_OK;
}

static tal_status fit_q(const void *self, const tal_mobilizer_arg *arg, const tal_xform *X_FM,
                        double q[])
{
    (void)self, (void)arg;
    return tali_mobilizer_fit_about_z(X_FM, q);
}

static const tal_mobilizer_ops ops = {
    .size = sizeof ops,
    .name = "pin",
    .tag = TALI_TAG_PIN,
    .nu = 1,
    .nq = 1,
    .nq_angles = 1,
    .calc_X_FM = calc_X_FM,
    .calc_H_FM = calc_H_FM,
    .fit_q = fit_q,
};

const tal_mobilizer_ops *tal_mobilizer_pin(void)
{
    return &ops;
}
