// Bend-stretch (polar coordinates): R_FM = Rz(q0), and Mo moves by q1 along the turned x axis.
//
//     p_FM = q1 Mx          v_FM = u0 q1 My + u1 Mx          Mx, My: axes of M, expressed in F
#include "mobilizer/mobilizer_orientation_internal.h"

static tal_status calc_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    const tal_mat3 R_FM = tal_rotation_about(TAL_AXIS_Z, arg->q[0]);
    *X_FM = tal_xf(R_FM, tal_v3_scale(arg->q[1], R_FM.x));
    return TAL_OK;
}

static tal_status calc_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self;
    const tal_mat3 R_FM = tal_rotation_about(TAL_AXIS_Z, arg->q[0]);
    H_FM[0] = tal_sv(R_FM.z, tal_v3_scale(arg->q[1], R_FM.y));
    H_FM[1] = tal_sv(TAL_VEC3_ZERO, R_FM.x);
    return TAL_OK;
}

// d/dt Mx = u0 My, d/dt My = -u0 Mx
static tal_status calc_Hdot_FM(const void *self, const tal_mobilizer_arg *arg,
                               tal_spatial_vec Hdot_FM[])
{
    (void)self;
    const double u0 = arg->u[0], u1 = arg->u[1];
    const tal_mat3 R_FM = tal_rotation_about(TAL_AXIS_Z, arg->q[0]);
    Hdot_FM[0] =
        tal_sv(TAL_VEC3_ZERO, tal_v3_axpy(u1, R_FM.y, tal_v3_scale(-arg->q[1] * u0, R_FM.x)));
    Hdot_FM[1] = tal_sv(TAL_VEC3_ZERO, tal_v3_scale(u0, R_FM.y));
    return TAL_OK;
}

// Hdot u = (0, 2 u0 u1 My - q1 u0^2 Mx)
static tal_status calc_Hdot_u_slopes(const void *self, const tal_mobilizer_arg *arg,
                                     tal_spatial_vec slopes[])
{
    (void)self;
    const double u0 = arg->u[0], u1 = arg->u[1];
    const tal_mat3 R_FM = tal_rotation_about(TAL_AXIS_Z, arg->q[0]);
    const tal_vec3 by_angle =
        tal_v3_axpy(-2.0 * u0 * u1, R_FM.x, tal_v3_scale(-arg->q[1] * u0 * u0, R_FM.y));
    slopes[0] = tal_sv(TAL_VEC3_ZERO, by_angle);
    slopes[1] = tal_sv(TAL_VEC3_ZERO, tal_v3_scale(-u0 * u0, R_FM.x));
    return TAL_OK;
}

// First the angle that fits the rotation, then the stretch that fits the translation.
static tal_status fit_q(const void *self, const tal_mobilizer_arg *arg, const tal_xform *X_FM,
                        double q[])
{
    const tal_status st = tali_mobilizer_fit_about_z(X_FM, q);
    if (st != TAL_OK) return st;
    q[1] = tal_v3_dot(tal_rotation_about(TAL_AXIS_Z, q[0]).x, X_FM->p);
    return tali_mobilizer_refine_q(tal_mobilizer_bend_stretch(), self, arg, TAL_FORWARD, X_FM,
                                   TALI_FIT_ALL, q);
}

static const tal_mobilizer_ops ops = {
    .size = sizeof ops,
    .name = "bend-stretch",
    .tag = TALI_TAG_BEND_STRETCH,
    .nu = 2,
    .nq = 2,
    .nq_angles = 2,
    .calc_X_FM = calc_X_FM,
    .calc_H_FM = calc_H_FM,
    .calc_Hdot_FM = calc_Hdot_FM,
    .calc_Hdot_u_slopes = calc_Hdot_u_slopes,
    .fit_q = fit_q,
};

const tal_mobilizer_ops *tal_mobilizer_bend_stretch(void)
{
    return &ops;
}
