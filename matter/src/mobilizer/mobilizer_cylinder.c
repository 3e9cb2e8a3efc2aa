// The cylinder: R_FM = Rz(q0), and Mo slides by q1 along the same z axis.
#include "mobilizer/mobilizer_orientation_internal.h"

static tal_status calc_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    *X_FM = tal_xf(tal_rotation_about(TAL_AXIS_Z, arg->q[0]), tal_v3(0.0, 0.0, arg->q[1]));
    return TAL_OK;
}

static tal_status calc_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self, (void)arg;
    H_FM[0] = tali_mobilizer_unit_columns[2];
    H_FM[1] = tali_mobilizer_unit_columns[5];
    return TAL_OK;
}

static tal_status fit_q(const void *self, const tal_mobilizer_arg *arg, const tal_xform *X_FM,
                        double q[])
{
    (void)self, (void)arg;
    q[1] = X_FM->p.z;
    return tali_mobilizer_fit_about_z(X_FM, q);
}

static const tal_mobilizer_ops ops = {
    .size = sizeof ops,
    .name = "cylinder",
    .tag = TALI_TAG_CYLINDER,
    .nu = 2,
    .nq = 2,
    .nq_angles = 2,
    .calc_X_FM = calc_X_FM,
    .calc_H_FM = calc_H_FM,
    .fit_q = fit_q,
};

const tal_mobilizer_ops *tal_mobilizer_cylinder(void)
{
    return &ops;
}
