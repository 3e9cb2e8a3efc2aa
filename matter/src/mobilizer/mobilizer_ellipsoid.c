// The ellipsoid: any rotation, and Mo stays on an ellipsoid fixed in F, at the point named by the
// direction of Mz. u = w_FM expressed in F.
//
//     p_FM = r * n          v_FM = r * (w_FM x n)          n = Mz in F, * element by element
//
// params: r = {rx, ry, rz}, half axes along F's x, y, z. Only on a sphere is Mz normal to the
// surface.
#include "mobilizer/mobilizer_orientation_internal.h"

static tal_status calc_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    const tal_status st = tali_mobilizer_orientation_R_FM(arg, &X_FM->R);
    X_FM->p = tal_v3_mul(tali_mobilizer_v3_load(arg->params), X_FM->R.z);
    return st;
}

// Columns (e_j, r * (e_j x n)), where e_j is a unit vector of F.
static void columns(const tal_mobilizer_arg *arg, tal_vec3 n, tal_vec3 v[3])
{
    const tal_vec3 r = tali_mobilizer_v3_load(arg->params);
    for (int j = 0; j < 3; ++j) {
        v[j] = tal_v3_mul(r, tal_v3_cross(tali_mobilizer_unit_columns[j].w, n));
    }
}

static tal_status calc_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self;
    tal_mat3 R_FM;
    const tal_status st = tali_mobilizer_orientation_R_FM(arg, &R_FM);
    if (st != TAL_OK) return st;
    tal_vec3 v[3];
    columns(arg, R_FM.z, v);
    for (int j = 0; j < 3; ++j) {
        H_FM[j] = tal_sv(tali_mobilizer_unit_columns[j].w, v[j]);
    }
    return TAL_OK;
}

// The same with ndot = w_FM x n in place of n.
static tal_status calc_Hdot_FM(const void *self, const tal_mobilizer_arg *arg,
                               tal_spatial_vec Hdot_FM[])
{
    (void)self;
    tal_mat3 R_FM;
    const tal_status st = tali_mobilizer_orientation_R_FM(arg, &R_FM);
    if (st != TAL_OK) return st;
    tal_vec3 vdot[3];
    columns(arg, tal_v3_cross(tali_mobilizer_v3_load(arg->u), R_FM.z), vdot);
    for (int j = 0; j < 3; ++j) {
        Hdot_FM[j] = tal_sv(TAL_VEC3_ZERO, vdot[j]);
    }
    return TAL_OK;
}

// Hdot u = (0, r * (w x (w x n))), and a turn about e_j moves n by e_j x n.
static tal_status calc_Hdot_u_slopes(const void *self, const tal_mobilizer_arg *arg,
                                     tal_spatial_vec slopes[])
{
    (void)self;
    tal_mat3 R_FM;
    const tal_status st = tali_mobilizer_orientation_R_FM(arg, &R_FM);
    if (st != TAL_OK) return st;
    const tal_vec3 w_FM = tali_mobilizer_v3_load(arg->u);
    const tal_vec3 r = tali_mobilizer_v3_load(arg->params);
    for (int j = 0; j < 3; ++j) {
        const tal_vec3 dn = tal_v3_cross(tali_mobilizer_unit_columns[j].w, R_FM.z);
        const tal_vec3 change = tal_v3_cross(w_FM, tal_v3_cross(w_FM, dn));
        slopes[j] = tal_sv(TAL_VEC3_ZERO, tal_v3_mul(r, change));
    }
    return TAL_OK;
}

// The rotation alone tells q; where the translation disagrees, the two are traded off.
static tal_status fit_q(const void *self, const tal_mobilizer_arg *arg, const tal_xform *X_FM,
                        double q[])
{
    const tal_status st = tali_mobilizer_orientation_fit(arg, &X_FM->R, q);
    if (st != TAL_OK) return st;
    return tali_mobilizer_refine_q(tal_mobilizer_ellipsoid(), self, arg, TAL_FORWARD, X_FM,
                                   TALI_FIT_ALL, q);
}

static tal_status check_params(const void *self, const double params[], tal_error *err)
{
    (void)self;
    for (int i = 0; i < 3; ++i) {
        if (params[i] > 0.0) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "half axis %c of the ellipsoid is %g; it must be positive", "xyz"[i],
                         params[i]);
    }
    return TAL_OK;
}

static const tal_mobilizer_ops ops = {
    .size = sizeof ops,
    .name = "ellipsoid",
    .tag = TALI_TAG_ELLIPSOID,
    .nu = 3,
    .nq = 4,
    .nq_angles = 3,
    .num_params = 3,
    .has_quaternion = true,
    .calc_X_FM = calc_X_FM,
    .calc_H_FM = calc_H_FM,
    .calc_Hdot_FM = calc_Hdot_FM,
    .calc_Hdot_u_slopes = calc_Hdot_u_slopes,
    .mul_N = tali_mobilizer_ball_mul_N,
    .fit_q = fit_q,
    .check_params = check_params,
};

const tal_mobilizer_ops *tal_mobilizer_ellipsoid(void)
{
    return &ops;
}
