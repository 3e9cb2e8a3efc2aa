// Using a mobilizer's table: checks, defaults for what it leaves out, and reversal.
//
//   quantity                    manual ch. 5        forward     in reverse, the table gives
//   pose of M in F              F_X_M               X_FM        X_MF
//   velocity map                F_H_M               H_FM        h = H_MF, expressed in M
//   its derivative              F_Hdot_M, in F      Hdot_FM     hdot, taken in M
#include "mobilizer/mobilizer_internal.h"

#include <math.h>
#include <string.h>

// ---- checks

// Are the numbers of coordinates, speeds and parameters possible together?
static tal_status check_counts(const tal_mobilizer_ops *ops, tal_error *err)
{
    if (ops->nu < 0 || ops->nu > TAL_MAX_NU) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "mobilizer '%s' has nu %d; it must be 0 to %d",
                         ops->name, ops->nu, TAL_MAX_NU);
    }
    if (ops->nq < ops->nu || ops->nq > TAL_MAX_NQ) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "mobilizer '%s' has nq %d; it must be %d to %d",
                         ops->name, ops->nq, ops->nu, TAL_MAX_NQ);
    }
    const int nq_angles = ops->has_quaternion ? ops->nq - 1 : ops->nq;
    if (ops->nq_angles != nq_angles || nq_angles < ops->nu) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "mobilizer '%s' has nq_angles %d; with nq %d, nu %d and %s it must be %d",
                         ops->name, ops->nq_angles, ops->nq, ops->nu,
                         ops->has_quaternion ? "a quaternion" : "no quaternion", nq_angles);
    }
    if (ops->has_quaternion && ops->nq < 4) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "mobilizer '%s' has a quaternion but nq %d; it must be at least 4",
                         ops->name, ops->nq);
    }
    if (ops->num_params < 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "mobilizer '%s' has num_params %d; it must not be negative", ops->name,
                         ops->num_params);
    }
    return TAL_OK;
}

tal_status tali_mobilizer_check(const tal_mobilizer_ops *ops, tal_error *err)
{
    if (ops == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the table of the mobilizer is NULL");
    if (ops->size != sizeof *ops) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "ops->size is %zu, not %zu: set it to sizeof(tal_mobilizer_ops)",
                         ops->size, sizeof *ops);
    }
    if (ops->name == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the mobilizer has no name");
    if (ops->calc_X_FM == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "mobilizer '%s' has no calc_X_FM", ops->name);
    }
    if (ops->calc_H_FM == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "mobilizer '%s' has no calc_H_FM", ops->name);
    }
    const tal_status st = check_counts(ops, err);
    if (st != TAL_OK) return st;
    if (ops->mul_N == NULL && ops->nq != ops->nu) {
        return TALI_FAIL(err, TAL_ERR_NULL,
                         "mobilizer '%s' has %d q and %d u, but no mul_N to relate them", ops->name,
                         ops->nq, ops->nu);
    }
    return TAL_OK;
}

tal_status tali_mobilizer_check_params(const tal_mobilizer_ops *ops, const void *self,
                                       const double params[], tal_error *err)
{
    for (int i = 0; i < ops->num_params; ++i) {
        if (isfinite(params[i])) continue;
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE,
                         "parameter %d of mobilizer '%s' is %g: give a finite number", i, ops->name,
                         params[i]);
    }
    return ops->check_params != NULL ? ops->check_params(self, params, err) : TAL_OK;
}

// ---- both directions

tal_status tali_mobilizer_X_FM(const tal_mobilizer_ops *ops, const void *self,
                               const tal_mobilizer_arg *arg, tal_direction direction,
                               tal_xform *X_FM)
{
    const int nq = tali_mobilizer_nq(ops, arg->use_angles);
    for (int i = 0; i < nq; ++i) {
        if (!isfinite(arg->q[i])) return TAL_ERR_NOT_FINITE;
    }
    tal_xform X = TAL_XFORM_IDENTITY;
    const tal_status st = ops->calc_X_FM(self, arg, &X);
    if (st != TAL_OK) return st;
    if (!tal_xf_is_finite(X)) return TAL_ERR_NOT_FINITE;
    *X_FM = direction == TAL_REVERSE ? tal_xf_inverse(X) : X;
    return TAL_OK;
}

/*
 * In reverse, with h a column of H_MF expressed in M,
 *
 *     H_FM.w = -R_FM h.w                             manual eq. 5.18
 *     H_FM.v = -(R_FM h.v + p_FM x H_FM.w)           manual eq. 5.19
 */
tal_status tali_mobilizer_H_FM(const tal_mobilizer_ops *ops, const void *self,
                               const tal_mobilizer_arg *arg, tal_direction direction,
                               const tal_xform *X_FM, tal_spatial_vec H_FM[])
{
    const tal_status st = ops->calc_H_FM(self, arg, H_FM);
    if (st != TAL_OK || direction == TAL_FORWARD) return st;

    for (int j = 0; j < ops->nu; ++j) {
        const tal_spatial_vec h = tal_sv_neg(tal_m3_mul_sv(X_FM->R, H_FM[j]));
        H_FM[j] = tal_sv_shift_motion(h, X_FM->p);
    }
    return TAL_OK;
}

/*
 * In reverse, with hdot a column of the derivative in M of H_MF, and H a column of H_FM,
 *
 *     Hdot_FM.w = -R_FM hdot.w + w_FM x H.w          manual eq. 5.20
 *     Hdot_FM.v = -R_FM hdot.v + w_FM x H.v
 *                 - p_FM x Hdot_FM.w
 *                 - v_FM x H.w + w_FM x (p_FM x H.w) manual eq. 5.22
 */
tal_status tali_mobilizer_Hdot_FM(const tal_mobilizer_ops *ops, const void *self,
                                  const tal_mobilizer_arg *arg, tal_direction direction,
                                  const tal_xform *X_FM, const tal_spatial_vec H_FM[],
                                  tal_spatial_vec V_FM, tal_spatial_vec Hdot_FM[])
{
    if (ops->calc_Hdot_FM != NULL) {
        const tal_status st = ops->calc_Hdot_FM(self, arg, Hdot_FM);
        if (st != TAL_OK) return st;
    } else {
        for (int j = 0; j < ops->nu; ++j) {
            Hdot_FM[j] = TAL_SPATIAL_VEC_ZERO;
        }
    }
    if (direction == TAL_FORWARD) return TAL_OK;

    for (int j = 0; j < ops->nu; ++j) {
        const tal_spatial_vec H = H_FM[j];
        const tal_spatial_vec turned = tal_sv(tal_v3_cross(V_FM.w, H.w), tal_v3_cross(V_FM.w, H.v));
        const tal_spatial_vec hdot = tal_m3_mul_sv(X_FM->R, Hdot_FM[j]);
        const tal_spatial_vec Hdot = tal_sv_shift_motion(tal_sv_sub(turned, hdot), X_FM->p);
        const tal_vec3 shift = tal_v3_cross(V_FM.w, tal_v3_cross(X_FM->p, H.w));
        Hdot_FM[j] =
            tal_sv(Hdot.w, tal_v3_add(Hdot.v, tal_v3_add(tal_v3_cross(H.w, V_FM.v), shift)));
    }
    return TAL_OK;
}

// Without mul_N, qdot = u: N = N^+ = 1 and Ndot = 0.
tal_status tali_mobilizer_mul_N(const tal_mobilizer_ops *ops, const void *self,
                                const tal_mobilizer_arg *arg, tal_n_op op, const double in[],
                                double out[])
{
    if (ops->mul_N != NULL) return ops->mul_N(self, arg, op, in, out);
    const bool is_zero = op == TAL_NDOT || op == TAL_NDOT_T;
    for (int j = 0; j < ops->nu; ++j) {
        out[j] = is_zero ? 0.0 : in[j];
    }
    return TAL_OK;
}
