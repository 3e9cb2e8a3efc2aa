// Planar: R_FM = Rz(q0), and Mo moves to (q1, q2) in F's xy plane.
#include "mobilizer/mobilizer_orientation_internal.h"

#include <string.h>

static tal_status calc_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    *X_FM = tal_xf(tal_rotation_about(TAL_AXIS_Z, arg->q[0]), tal_v3(arg->q[1], arg->q[2], 0.0));
    return TAL_OK;
}

static tal_status calc_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self, (void)arg;
    memcpy(H_FM, tali_mobilizer_unit_columns + 2, 3 * sizeof *H_FM);
    return TAL_OK;
}

static tal_status fit_q(const void *self, const tal_mobilizer_arg *arg, const tal_xform *X_FM,
                        double q[])
{
    (void)self, (void)arg;
    q[1] = X_FM->p.x;
    q[2] = X_FM->p.y;
    return tali_mobilizer_fit_about_z(X_FM, q);
}

static const tal_mobilizer_ops ops = {
    .size = sizeof ops,
    .name = "planar",
    .tag = TALI_TAG_PLANAR,
    .nu = 3,
    .nq = 3,
    .nq_angles = 3,
    .calc_X_FM = calc_X_FM,
    .calc_H_FM = calc_H_FM,
    .fit_q = fit_q,
};

const tal_mobilizer_ops *tal_mobilizer_planar(void)
{
    return &ops;
}
