// Free: any rotation, then p_FM in F. u = (w_FM, v_FM), both expressed in F.
#include "mobilizer/mobilizer_orientation_internal.h"

#include <string.h>

tal_status tali_mobilizer_free_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    X_FM->p = tali_mobilizer_v3_load(arg->q + tali_mobilizer_orientation_nq(arg));
    return tali_mobilizer_orientation_R_FM(arg, &X_FM->R);
}

static tal_status calc_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self, (void)arg;
    memcpy(H_FM, tali_mobilizer_unit_columns, sizeof tali_mobilizer_unit_columns);
    return TAL_OK;
}

static tal_status mul_N(const void *self, const tal_mobilizer_arg *arg, tal_n_op op,
                        const double in[], double out[])
{
    (void)self;
    return tali_mobilizer_orientation_mul_N(arg, TALI_SPIN_IN_F, 3, op, in, out);
}

tal_status tali_mobilizer_free_fit_q(const void *self, const tal_mobilizer_arg *arg,
                                     const tal_xform *X_FM, double q[])
{
    (void)self;
    tali_mobilizer_v3_store(X_FM->p, q + tali_mobilizer_orientation_nq(arg));
    return tali_mobilizer_orientation_fit(arg, &X_FM->R, q);
}

static const tal_mobilizer_ops ops = {
    .size = sizeof ops,
    .name = "free",
    .tag = TALI_TAG_FREE,
    .nu = 6,
    .nq = 7,
    .nq_angles = 6,
    .has_quaternion = true,
    .calc_X_FM = tali_mobilizer_free_X_FM,
    .calc_H_FM = calc_H_FM,
    .mul_N = mul_N,
    .fit_q = tali_mobilizer_free_fit_q,
};

const tal_mobilizer_ops *tal_mobilizer_free(void)
{
    return &ops;
}
