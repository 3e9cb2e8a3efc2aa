// The ball (spherical): any rotation and no translation. u = w_FM expressed in F.
#include "mobilizer/mobilizer_orientation_internal.h"

#include <string.h>

tal_status tali_mobilizer_ball_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    X_FM->p = TAL_VEC3_ZERO;
    return tali_mobilizer_orientation_R_FM(arg, &X_FM->R);
}

static tal_status calc_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self, (void)arg;
    memcpy(H_FM, tali_mobilizer_unit_columns, 3 * sizeof *H_FM);
    return TAL_OK;
}

tal_status tali_mobilizer_ball_mul_N(const void *self, const tal_mobilizer_arg *arg, tal_n_op op,
                                     const double in[], double out[])
{
    (void)self;
    return tali_mobilizer_orientation_mul_N(arg, TALI_SPIN_IN_F, 0, op, in, out);
}

tal_status tali_mobilizer_ball_fit_q(const void *self, const tal_mobilizer_arg *arg,
                                     const tal_xform *X_FM, double q[])
{
    (void)self;
    return tali_mobilizer_orientation_fit(arg, &X_FM->R, q);
}

static const tal_mobilizer_ops ops = {
    .size = sizeof ops,
    .name = "ball",
    .tag = TALI_TAG_BALL,
    .nu = 3,
    .nq = 4,
    .nq_angles = 3,
    .has_quaternion = true,
    .calc_X_FM = tali_mobilizer_ball_X_FM,
    .calc_H_FM = calc_H_FM,
    .mul_N = tali_mobilizer_ball_mul_N,
    .fit_q = tali_mobilizer_ball_fit_q,
};

const tal_mobilizer_ops *tal_mobilizer_ball(void)
{
    return &ops;
}
