// What mobilizers with several rotations share: sequences of turns, and a free orientation kept as
// a quaternion or as body-XYZ angles.
#ifndef TALUS_MOBILIZER_ORIENTATION_INTERNAL_H
#define TALUS_MOBILIZER_ORIENTATION_INTERNAL_H

#include "mobilizer/mobilizer_internal.h"

/// Nearer than this to cos q1 = 0, body-XYZ angles do not tell the rates of rotation:
/// TAL_ERR_SINGULAR.
#define TALI_XYZ_MIN_COS 1e-6

/// The columns of H_FM of a body that moves freely: w_FM along x, y, z, then v_FM. Columns of
/// mobilizers that keep F's directions are some of these.
extern const tal_spatial_vec tali_mobilizer_unit_columns[6];

/// The axes x, y, z, in this order.
extern const tal_axis tali_mobilizer_axes_xyz[3];

static inline tal_vec3 tali_mobilizer_v3_load(const double a[])
{
    return tal_v3(a[0], a[1], a[2]);
}

static inline void tali_mobilizer_v3_store(tal_vec3 v, double a[])
{
    a[0] = v.x;
    a[1] = v.y;
    a[2] = v.z;
}

/// @name Body-fixed sequences of turns: w_FM = sum axis_F[i] rate[i]
/// @{

/// R_FM of n turns about coordinate axes. `axis_F`, unless NULL, receives the axis of each turn,
/// expressed in F.
tal_mat3 tali_mobilizer_turns(int n, const tal_axis axis[], const double angle[],
                              tal_vec3 axis_F[]);

/// The derivatives in F of those axes: each is carried along by the turns before it.
void tali_mobilizer_turns_axes_dot(int n, const tal_vec3 axis_F[], const double rate[],
                                   tal_vec3 axis_dot_F[]);

/// The columns (axis_F[i], 0) for n turns about x, y, z with u = qdot, and their derivatives.
void tali_mobilizer_turns_H_FM(int n, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[]);
void tali_mobilizer_turns_Hdot_FM(int n, const tal_mobilizer_arg *arg, tal_spatial_vec Hdot_FM[]);

/// Derivatives in F of sum axis_dot_F[i] rate[i] by each angle, with the rates held.
void tali_mobilizer_turns_slopes(int n, const tal_vec3 axis_F[], const double rate[],
                                 tal_vec3 slopes_F[]);

/// The same as columns (slope, 0) for n turns about x, y, z with u = qdot: the angular part of
/// tal_mobilizer_ops.calc_Hdot_u_slopes.
void tali_mobilizer_turns_Hdot_u_slopes(int n, const tal_mobilizer_arg *arg,
                                        tal_spatial_vec slopes[]);

/// q[0] becomes the turn about z that leaves the smallest angle to R_FM.
tal_status tali_mobilizer_fit_about_z(const tal_xform *X_FM, double q[]);

/// q[0] becomes the turn about z, whole turns included, that fits R_FM and, with `lead` per radian,
/// the way that was made.
tal_status tali_mobilizer_fit_turn(const tal_xform *X_FM, double lead, double way, double q[]);

/// @}

/// What the angular speeds of a mobilizer with a free orientation are.
typedef enum tali_mobilizer_spin {
    TALI_SPIN_IN_F,     ///< three: w_FM expressed in F
    TALI_SPIN_OF_A_LINE ///< two: x and y of w_FM expressed in M; it does not spin about Mz
} tali_mobilizer_spin;

/// How many q orient M: a quaternion's 4 or 3 angles.
static inline int tali_mobilizer_orientation_nq(const tal_mobilizer_arg *arg)
{
    return arg->use_angles ? 3 : 4;
}

/// R_FM. TAL_ERR_NOT_FINITE for a NaN or an infinity, TAL_ERR_BAD_VALUE for a quaternion that is
/// zero, or so short or long (beyond 1e-100, 1e100) that its rates cannot be formed.
tal_status tali_mobilizer_orientation_R_FM(const tal_mobilizer_arg *arg, tal_mat3 *R_FM);

/// The leading q that make R_FM: the quaternion with w >= 0, or the angles with |q1| <= pi/2.
tal_status tali_mobilizer_orientation_fit(const tal_mobilizer_arg *arg, const tal_mat3 *R_FM,
                                          double q[]);

/// The products of tal_mobilizer_ops.mul_N for an orientation followed by `num_plain` coordinates
/// with qdot = u. N^+ of a line passes over a spin about Mz.
tal_status tali_mobilizer_orientation_mul_N(const tal_mobilizer_arg *arg, tali_mobilizer_spin spin,
                                            int num_plain, tal_n_op op, const double in[],
                                            double out[]);

/// @name Functions of the ball and of the free mobilizer that other tables use as they are
/// @{
tal_status tali_mobilizer_ball_X_FM(const void *self, const tal_mobilizer_arg *arg,
                                    tal_xform *X_FM);
tal_status tali_mobilizer_ball_mul_N(const void *self, const tal_mobilizer_arg *arg, tal_n_op op,
                                     const double in[], double out[]);
tal_status tali_mobilizer_ball_fit_q(const void *self, const tal_mobilizer_arg *arg,
                                     const tal_xform *X_FM, double q[]);
tal_status tali_mobilizer_free_X_FM(const void *self, const tal_mobilizer_arg *arg,
                                    tal_xform *X_FM);
tal_status tali_mobilizer_free_fit_q(const void *self, const tal_mobilizer_arg *arg,
                                     const tal_xform *X_FM, double q[]);
/// @}

#endif // TALUS_MOBILIZER_ORIENTATION_INTERNAL_H
