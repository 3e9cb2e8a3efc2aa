// The screw (helical): R_FM = Rz(q), and Mo moves by pitch * q along z.
//
// params: {pitch}, length per radian.
#include "mobilizer/mobilizer_orientation_internal.h"

#include <math.h>

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

/*
 * The rotation tells the angle except for whole turns, the translation tells the turn. If the
 * wanted rotation is about z by a + 2 pi k, (q - a - 2 pi k)^2 + (pitch q - p_z)^2 is least at
 *
 *     q = (a + 2 pi k + pitch p_z) / (1 + pitch^2)
 *
 * and the k with the least value is the one nearest to (p_z / pitch - a) / (2 pi). Of a rotation
 * about another axis this is only a guess, which tali_mobilizer_refine_q() improves.
 */
static tal_status fit_q(const void *self, const tal_mobilizer_arg *arg, const tal_xform *X_FM,
                        double q[])
{
    const double pitch = arg->params[0], turn = 2.0 * TAL_PI;
    double angle;
    const tal_status st = tali_mobilizer_fit_about_z(X_FM, &angle);
    if (st != TAL_OK) return st;
    const double turns = pitch != 0.0 ? round((X_FM->p.z / pitch - angle) / turn) : 0.0;
    if (isfinite(turns)) angle += turns * turn;
    q[0] = (angle + pitch * X_FM->p.z) / (1.0 + pitch * pitch);
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
