// Turns that advance: R_FM = Rz(q), and Mo moves by a length times q along an axis of F.
//
//     screw (helical)     along z, by the pitch
//     rack and pinion     along x, by the radius: the pinion, whose middle is Mo, rolls on a rack
//                         along x that touches it on the side of +y (RBDA ex. 4.6)
//
// params: {length per radian}. One of zero makes a pin, a negative one a left-hand screw, or puts
// the rack on the other side.
#include "mobilizer/mobilizer_orientation_internal.h"

static tal_vec3 along(tal_axis axis, double x)
{
    return tal_v3(axis == TAL_AXIS_X ? x : 0.0, 0.0, axis == TAL_AXIS_Z ? x : 0.0);
}

static tal_status place(const tal_mobilizer_arg *arg, tal_axis axis, tal_xform *X_FM)
{
    const double q = arg->q[0], length = arg->params[0];
    *X_FM = tal_xf(tal_rotation_about(TAL_AXIS_Z, q), along(axis, length * q));
    return TAL_OK;
}

static tal_status advance(const tal_mobilizer_arg *arg, tal_axis axis, tal_spatial_vec H_FM[])
{
    H_FM[0] = tal_sv(tal_v3(0.0, 0.0, 1.0), along(axis, arg->params[0]));
    return TAL_OK;
}

static tal_status fit(const tal_mobilizer_ops *ops, const void *self, const tal_mobilizer_arg *arg,
                      tal_axis axis, const tal_xform *X_FM, double q[])
{
    const double advanced = axis == TAL_AXIS_X ? X_FM->p.x : X_FM->p.z;
    const tal_status st = tali_mobilizer_fit_turn(X_FM, arg->params[0], advanced, q);
    if (st != TAL_OK) return st;
    return tali_mobilizer_refine_q(ops, self, arg, TAL_FORWARD, X_FM, TALI_FIT_ALL, q);
}

// --- the screw ---

static tal_status screw_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    return place(arg, TAL_AXIS_Z, X_FM);
}

static tal_status screw_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self;
    return advance(arg, TAL_AXIS_Z, H_FM);
}

static tal_status screw_fit_q(const void *self, const tal_mobilizer_arg *arg, const tal_xform *X_FM,
                              double q[])
{
    return fit(tal_mobilizer_screw(), self, arg, TAL_AXIS_Z, X_FM, q);
}

// --- the rack and pinion ---

static tal_status rack_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    return place(arg, TAL_AXIS_X, X_FM);
}

static tal_status rack_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self;
    return advance(arg, TAL_AXIS_X, H_FM);
}

static tal_status rack_fit_q(const void *self, const tal_mobilizer_arg *arg, const tal_xform *X_FM,
                             double q[])
{
    return fit(tal_mobilizer_rack_and_pinion(), self, arg, TAL_AXIS_X, X_FM, q);
}

// --- the tables ---

#define ONE_SPEED                                                                                  \
    .size = sizeof(tal_mobilizer_ops), .nu = 1, .nq = 1, .nq_angles = 1, .num_params = 1

static const tal_mobilizer_ops screw = {ONE_SPEED,
                                        .name = "screw",
                                        .tag = TALI_TAG_SCREW,
                                        .calc_X_FM = screw_X_FM,
                                        .calc_H_FM = screw_H_FM,
                                        .fit_q = screw_fit_q};

static const tal_mobilizer_ops rack_and_pinion = {ONE_SPEED,
                                                  .name = "rack-and-pinion",
                                                  .tag = TALI_TAG_RACK_AND_PINION,
                                                  .calc_X_FM = rack_X_FM,
                                                  .calc_H_FM = rack_H_FM,
                                                  .fit_q = rack_fit_q};

const tal_mobilizer_ops *tal_mobilizer_screw(void)
{
    return &screw;
}

const tal_mobilizer_ops *tal_mobilizer_rack_and_pinion(void)
{
    return &rack_and_pinion;
}
