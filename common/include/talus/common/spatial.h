// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_SPATIAL_H
#define TALUS_COMMON_SPATIAL_H

/**
 * @file talus/common/spatial.h
 * @brief Transforms and spatial vectors: motion and force, angular part first.
 *
 * A transform X_AB places frame B in frame A. A spatial motion is (w, v): angular velocity, and
 * the velocity of one named point of the body. A spatial force is (m, f): the moment about one
 * named point, in the field `w`, and the force, in the field `v`. Motion dot force is power, so
 * the two kinds shift and transform by transposed inverses of each other (RBDA eq. 2.13).
 */

#include <talus/common/vec.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Frame B in frame A: X_AB = (R_AB | p_AB), with p_AB from Ao to Bo, expressed in A.
typedef struct tal_xform {
    tal_mat3 R; ///< columns are B's axes, expressed in A
    tal_vec3 p; ///< B's origin, measured from A's and expressed in A
} tal_xform;

/// A spatial motion (w, v) or a spatial force (moment in w, force in v).
typedef struct tal_spatial_vec {
    tal_vec3 w; ///< angular part: rad/s, rad/s^2, N m
    tal_vec3 v; ///< linear part: m/s, m/s^2, N
} tal_spatial_vec;

static_assert(sizeof(tal_xform) == 12 * sizeof(double), "no padding");
static_assert(sizeof(tal_spatial_vec) == 6 * sizeof(double), "no padding");

static const tal_xform TAL_XFORM_IDENTITY = {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}},
                                             {0.0, 0.0, 0.0}};
static const tal_spatial_vec TAL_SPATIAL_VEC_ZERO = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};

/**
 * @defgroup xf Transforms
 *
 * A free vector needs only the rotation: `tal_m3_mul_v3(X_AB.R, v_B)`.
 * @{
 */

/// The transform (R | p).
static inline tal_xform tal_xf(tal_mat3 R, tal_vec3 p)
{
    const tal_xform X = {R, p};
    return X;
}

/// A pure translation.
static inline tal_xform tal_xf_from_p(tal_vec3 p)
{
    return tal_xf(TAL_MAT3_IDENTITY, p);
}

/// A pure rotation.
static inline tal_xform tal_xf_from_R(tal_mat3 R)
{
    return tal_xf(R, TAL_VEC3_ZERO);
}

/// The station that is p_BS in B, measured from Ao and expressed in A: X_AB p_BS = p_AS.
static inline tal_vec3 tal_xf_apply(tal_xform X_AB, tal_vec3 p_BS)
{
    return tal_v3_add(X_AB.p, tal_m3_mul_v3(X_AB.R, p_BS));
}

/// The inverse: X_AB^-1 p_AS = p_BS.
static inline tal_vec3 tal_xf_inv_apply(tal_xform X_AB, tal_vec3 p_AS)
{
    return tal_m3_tmul_v3(X_AB.R, tal_v3_sub(p_AS, X_AB.p));
}

/// X_AB X_BC = X_AC
static inline tal_xform tal_xf_mul(tal_xform X_AB, tal_xform X_BC)
{
    return tal_xf(tal_m3_mul(X_AB.R, X_BC.R), tal_xf_apply(X_AB, X_BC.p));
}

/// X_AB^-1 X_AC = X_BC
static inline tal_xform tal_xf_inv_mul(tal_xform X_AB, tal_xform X_AC)
{
    return tal_xf(tal_m3_tmul(X_AB.R, X_AC.R), tal_xf_inv_apply(X_AB, X_AC.p));
}

/// X_AB^-1 = X_BA
static inline tal_xform tal_xf_inverse(tal_xform X_AB)
{
    return tal_xf(tal_m3_transpose(X_AB.R), tal_v3_neg(tal_m3_tmul_v3(X_AB.R, X_AB.p)));
}

/// Whether all twelve entries are finite.
static inline bool tal_xf_is_finite(tal_xform X)
{
    return tal_m3_is_finite(X.R) && tal_v3_is_finite(X.p);
}

/** @} */

/**
 * @defgroup sv Spatial vectors
 * @{
 */

/// The spatial vector with angular part w and linear part v.
static inline tal_spatial_vec tal_sv(tal_vec3 w, tal_vec3 v)
{
    const tal_spatial_vec V = {w, v};
    return V;
}

/// V + W
static inline tal_spatial_vec tal_sv_add(tal_spatial_vec V, tal_spatial_vec W)
{
    return tal_sv(tal_v3_add(V.w, W.w), tal_v3_add(V.v, W.v));
}

/// V - W
static inline tal_spatial_vec tal_sv_sub(tal_spatial_vec V, tal_spatial_vec W)
{
    return tal_sv(tal_v3_sub(V.w, W.w), tal_v3_sub(V.v, W.v));
}

/// -V
static inline tal_spatial_vec tal_sv_neg(tal_spatial_vec V)
{
    return tal_sv(tal_v3_neg(V.w), tal_v3_neg(V.v));
}

/// s V
static inline tal_spatial_vec tal_sv_scale(double s, tal_spatial_vec V)
{
    return tal_sv(tal_v3_scale(s, V.w), tal_v3_scale(s, V.v));
}

/// s V + W
static inline tal_spatial_vec tal_sv_axpy(double s, tal_spatial_vec V, tal_spatial_vec W)
{
    return tal_sv(tal_v3_axpy(s, V.w, W.w), tal_v3_axpy(s, V.v, W.v));
}

/// Power, when one is a motion and the other a force at the same point, expressed in one frame.
static inline double tal_sv_dot(tal_spatial_vec V, tal_spatial_vec F)
{
    return tal_v3_dot(V.w, F.w) + tal_v3_dot(V.v, F.v);
}

/// Whether all six components are finite.
static inline bool tal_sv_is_finite(tal_spatial_vec V)
{
    return tal_v3_is_finite(V.w) && tal_v3_is_finite(V.v);
}

/// Re-express in A a spatial vector given in B; its point stays.
static inline tal_spatial_vec tal_m3_mul_sv(tal_mat3 R_AB, tal_spatial_vec V_B)
{
    return tal_sv(tal_m3_mul_v3(R_AB, V_B.w), tal_m3_mul_v3(R_AB, V_B.v));
}

/// Re-express in B a spatial vector given in A; its point stays.
static inline tal_spatial_vec tal_m3_tmul_sv(tal_mat3 R_AB, tal_spatial_vec V_A)
{
    return tal_sv(tal_m3_tmul_v3(R_AB, V_A.w), tal_m3_tmul_v3(R_AB, V_A.v));
}

/// phi(p)^T V: the motion at A of a rigid body becomes its motion at B, where p_AB goes from A to
/// B: v_B = v_A + w x p_AB (manual 12.3).
static inline tal_spatial_vec tal_sv_shift_motion(tal_spatial_vec V_A, tal_vec3 p_AB)
{
    return tal_sv(V_A.w, tal_v3_add(V_A.v, tal_v3_cross(V_A.w, p_AB)));
}

/// phi(p) F: the force at B becomes the equivalent force at A, where p_AB goes from A to B:
/// m_A = m_B + p_AB x f (manual 12.3). With the same p_AB, power is kept: F_A . V_A = F_B . V_B.
static inline tal_spatial_vec tal_sv_shift_force(tal_spatial_vec F_B, tal_vec3 p_AB)
{
    return tal_sv(tal_v3_add(F_B.w, tal_v3_cross(p_AB, F_B.v)), F_B.v);
}

/// The acceleration (b, a_A) of a rigid body at A becomes the one at B: a_B = a_A + b x p_AB +
/// w x (w x p_AB), for accelerations of points in the ordinary sense (RBDA eq. 2.49).
static inline tal_spatial_vec tal_sv_shift_acceleration(tal_spatial_vec A_A, tal_vec3 w,
                                                        tal_vec3 p_AB)
{
    const tal_spatial_vec A_B = tal_sv_shift_motion(A_A, p_AB);
    return tal_sv(A_B.w, tal_v3_add(A_B.v, tal_v3_cross(w, tal_v3_cross(w, p_AB))));
}

/// Spatial motion at Bo in B becomes the same motion at Ao in A (RBDA eq. 2.26):
/// w_A = R w_B, v_A = R v_B + p x w_A.
static inline tal_spatial_vec tal_xf_motion(tal_xform X_AB, tal_spatial_vec V_B)
{
    return tal_sv_shift_motion(tal_m3_mul_sv(X_AB.R, V_B), tal_v3_neg(X_AB.p));
}

/// Spatial force at Bo in B becomes the same force at Ao in A (RBDA eq. 2.27):
/// f_A = R f_B, m_A = R m_B + p x f_A.
static inline tal_spatial_vec tal_xf_force(tal_xform X_AB, tal_spatial_vec F_B)
{
    return tal_sv_shift_force(tal_m3_mul_sv(X_AB.R, F_B), X_AB.p);
}

/// V x M, the rate of change of a motion vector fixed in a body that moves with V (RBDA eq. 2.33).
static inline tal_spatial_vec tal_sv_cross_motion(tal_spatial_vec V, tal_spatial_vec M)
{
    return tal_sv(tal_v3_cross(V.w, M.w),
                  tal_v3_add(tal_v3_cross(V.w, M.v), tal_v3_cross(V.v, M.w)));
}

/// V x* F, the rate of change of a force vector fixed in a body that moves with V (RBDA eq. 2.34).
static inline tal_spatial_vec tal_sv_cross_force(tal_spatial_vec V, tal_spatial_vec F)
{
    return tal_sv(tal_v3_add(tal_v3_cross(V.w, F.w), tal_v3_cross(V.v, F.v)),
                  tal_v3_cross(V.w, F.v));
}

/// A twist or a wrench as a line, a size, and a pitch along the line.
typedef struct tal_screw {
    tal_vec3 direction; ///< unit vector; zero when the size is zero
    tal_vec3 point;     ///< point of the axis nearest to the reference point, measured from it
    double size;        ///< rotation rate or force; of a pure translation or couple, its length
    double pitch;       ///< along per around; INFINITY for a pure translation or couple
} tal_screw;

/**
 * Screw axis, size and pitch of a spatial vector (RBDA sec. 2.5).
 *
 * @param[in] s    the part that has a line: V.w of a motion, F.v of a force
 * @param[in] s_O  its moment at the reference point: V.v of a motion, F.w of a force
 * @return the screw, so that s = size direction and s_O = point x s + pitch s
 */
static inline tal_screw tal_screw_from_line(tal_vec3 s, tal_vec3 s_O)
{
    const double ss = tal_v3_dot(s, s);
    const bool has_axis = !(ss <= 0.0); // a NaN has an axis, so that it shows
    const tal_vec3 along = has_axis ? s : s_O;
    const double size = tal_v3_norm(along);
    const bool is_zero = size <= 0.0;
    const tal_screw screw = {
        is_zero ? TAL_VEC3_ZERO : tal_v3_normalize(along),
        has_axis ? tal_v3_scale(1.0 / ss, tal_v3_cross(s, s_O)) : TAL_VEC3_ZERO,
        size,
        has_axis  ? tal_v3_dot(s, s_O) / ss
        : is_zero ? 0.0
                  : (double)INFINITY,
    };
    return screw;
}

/** @} */

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_SPATIAL_H
