// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_ROTATION_H
#define TALUS_COMMON_ROTATION_H

/**
 * @file talus/common/rotation.h
 * @brief Rotation matrices, quaternions, angle sequences, and their rates.
 *
 * A rotation is a tal_mat3 R_AB whose columns are B's axes expressed in A, so that R_AB v_B = v_A
 * and R_AB R_BC = R_AC. Angles are in radians. A rotation that does not exist (about a zero axis,
 * from a zero quaternion) is all NaN; a NULL or an axis other than x, y, z is a broken contract and
 * gives NaN too.
 *
 * The maps between angular velocity and the rates of coordinates are for a frame M that turns in F.
 * Those that end in F take and give w_FM expressed in F, those that end in M the same vector
 * expressed in M.
 */

#include <talus/common/vec.h>

#ifdef __cplusplus
extern "C" {
#endif

/// pi: half a turn [rad]. C17 has no name for it.
#define TAL_PI     3.14159265358979323846
/// A degree [rad]: 30.0 * TAL_DEGREE.
#define TAL_DEGREE (TAL_PI / 180.0)

/// A quaternion, scalar first. The rotation it represents depends on its direction alone, never
/// on its length: q, 2 q and -q are the same rotation.
typedef struct tal_quat {
    double w, x, y, z;
} tal_quat;

/// A right-handed turn by `angle` about a unit `axis`.
typedef struct tal_angle_axis {
    double angle;  ///< rad
    tal_vec3 axis; ///< unit vector
} tal_angle_axis;

/// Which axes the later turns of a sequence are made about.
typedef enum tal_turning {
    TAL_BODY_FIXED, ///< about the axes as already turned: R = R_1 R_2 R_3
    TAL_SPACE_FIXED ///< about the axes as they were at the start: R = R_3 R_2 R_1
} tal_turning;

static_assert(sizeof(tal_quat) == 4 * sizeof(double), "no padding");

static const tal_quat TAL_QUAT_IDENTITY = {1.0, 0.0, 0.0, 0.0};

/**
 * @defgroup qt Quaternions
 * @{
 */

/// The quaternion with scalar part w and vector part (x, y, z).
static inline tal_quat tal_qt(double w, double x, double y, double z)
{
    const tal_quat q = {w, x, y, z};
    return q;
}

/// Product: R(a b) = R(a) R(b).
static inline tal_quat tal_qt_mul(tal_quat a, tal_quat b)
{
    return tal_qt(a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                  a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                  a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                  a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w);
}

/// The same length, the opposite rotation.
static inline tal_quat tal_qt_conj(tal_quat q)
{
    return tal_qt(q.w, -q.x, -q.y, -q.z);
}

/// Four-vector product a.w b.w + a.x b.x + a.y b.y + a.z b.z.
static inline double tal_qt_dot(tal_quat a, tal_quat b)
{
    return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
}

/// Whether all four components are finite.
static inline bool tal_qt_is_finite(tal_quat q)
{
    return isfinite(q.w) && isfinite(q.x) && isfinite(q.y) && isfinite(q.z);
}

/// q / |q|, at any length a double can hold; the sign stays. All NaN when `q` is zero or not
/// finite.
static inline tal_quat tal_qt_normalize(tal_quat q)
{
    const double size = fmax(fmax(fabs(q.w), fabs(q.x)), fmax(fabs(q.y), fabs(q.z)));
    // squares of the components neither overflow nor underflow in this range
    const double scale = size > 1e-140 && size < 1e140 ? 1.0 : size;
    const tal_quat u = tal_qt(q.w / scale, q.x / scale, q.y / scale, q.z / scale);
    const double length = sqrt(tal_qt_dot(u, u));
    return tal_qt(u.w / length, u.x / length, u.y / length, u.z / length);
}

/** @} */

/**
 * @defgroup rotation Rotations
 * @{
 */

/// Turn by `angle` about a coordinate axis.
TAL_API tal_mat3 tal_rotation_about(tal_axis axis, double angle);

/// Turn by `angle` about `axis`, a vector of any length except zero.
TAL_API tal_mat3 tal_rotation_from_angle_axis(double angle, tal_vec3 axis);

/// The rotation of q / |q|.
TAL_API tal_mat3 tal_rotation_from_qt(tal_quat q);

/**
 * Turn by one, two or three angles about coordinate axes.
 *
 * @param[in] turning  body-fixed or space-fixed
 * @param[in] n        number of turns, 1 to 3
 * @param[in] axis     [n] axis of each turn
 * @param[in] angle    [n] angle of each turn [rad]
 * @return the rotation; NaN after a broken contract (n or an axis out of range, NULL)
 */
TAL_API tal_mat3 tal_rotation_from_angles(tal_turning turning, int n, const tal_axis axis[],
                                          const double angle[]);

/**
 * The frame with one axis given exactly and another as nearly as possible.
 *
 * @param[in] first   the axis that lies along `v`
 * @param[in] v       direction in A of B's first axis; any length
 * @param[in] second  the axis that lies in the plane of `v` and `near_v`, on the side of `near_v`
 * @param[in] near_v  direction in A close to B's second axis; any length
 * @return R_AB; NaN when a vector is zero or the two are parallel to within round-off, and after a
 *         broken contract (axes equal or out of range)
 */
TAL_API tal_mat3 tal_rotation_from_two_axes(tal_axis first, tal_vec3 v, tal_axis second,
                                            tal_vec3 near_v);

/// The unit quaternion of a rotation, with w >= 0; if w is 0, the first of x, y, z that is not 0
/// is positive. Good to round-off at any angle.
TAL_API tal_quat tal_rotation_to_qt(const tal_mat3 *R);

/// Angle in [0, pi] and axis of a rotation. No rotation at all is (0, x).
TAL_API tal_angle_axis tal_rotation_to_angle_axis(const tal_mat3 *R);

/**
 * The angles of a sequence of turns that make up, or come nearest to, a rotation.
 *
 * Three angles reproduce R to round-off, everywhere. With three different axes the middle angle is
 * in [-pi/2, pi/2], with the first again as the third in [0, pi]; the outer two are in [-pi, pi].
 * Where the middle angle makes the outer axes parallel, only the sum or the difference of the
 * outer angles counts, and the turn next to the body (the last of a body-fixed sequence, the first
 * of a space-fixed one) is set to zero.
 *
 * Two angles, or one, make the turn that leaves the smallest angle between itself and R.
 *
 * @param[in]  R        a rotation
 * @param[in]  turning  body-fixed or space-fixed
 * @param[in]  n        number of turns, 1 to 3
 * @param[in]  axis     [n] axis of each turn; no two neighbors equal
 * @param[out] angle    [n] angle of each turn [rad]; NaN when R is not finite
 * @return TAL_OK; TAL_ERR_NULL or TAL_ERR_BAD_VALUE after a broken contract (angles untouched)
 */
TAL_API tal_status tal_rotation_to_angles(const tal_mat3 *R, tal_turning turning, int n,
                                          const tal_axis axis[], double angle[]);

/// Angle in [0, pi] of the turn from one rotation to another, good to round-off for small turns
/// too: the distance between two orientations.
TAL_API double tal_rotation_distance(const tal_mat3 *R, const tal_mat3 *S);

/// Whether every entry of R^T R - 1 is within `tolerance` and R is right-handed. False for NaN.
TAL_API bool tal_rotation_is_valid(const tal_mat3 *R, double tolerance);

/**
 * The rotation nearest to any matrix, in the sense of the sum of squares of entries.
 *
 * It exists for reflections and singular matrices too. It is also the rotation that best moves one
 * cloud of points onto another (A = sum of y x^T over the pairs). Where several rotations are
 * equally near, one of them.
 *
 * @param[in] A  any matrix
 * @return the rotation; NaN when A is not finite
 */
TAL_API tal_mat3 tal_rotation_nearest(const tal_mat3 *A);

/** @} */

/**
 * @defgroup qt_rates Rates of a quaternion
 *
 * With w = w_FM and R_FM the rotation of q / |q|:
 *
 *     qdot    = N w                 w in F: N w = 1/2 (0, w) q       w in M: 1/2 q (0, w)
 *     w       = N^+ qdot            N^+ = 4 N^T / |q|^2, N^+ N = 1
 *     qdotdot = N wdot + Ndot w
 *
 * N is linear in q, so it grows with |q| and a quaternion that is not of unit length still turns
 * at the right speed (manual 8.7). In M it is RBDA eq. 4.13. A zero q has no N^+: it gives NaN.
 * @{
 */

/// N w
static inline tal_quat tal_qt_mul_N_F(tal_quat q, tal_vec3 w_F)
{
    return tal_qt_mul(tal_qt(0.0, 0.5 * w_F.x, 0.5 * w_F.y, 0.5 * w_F.z), q);
}

/// N w
static inline tal_quat tal_qt_mul_N_M(tal_quat q, tal_vec3 w_M)
{
    return tal_qt_mul(q, tal_qt(0.0, 0.5 * w_M.x, 0.5 * w_M.y, 0.5 * w_M.z));
}

/// N^T f
static inline tal_vec3 tal_qt_tmul_N_F(tal_quat q, tal_quat f)
{
    const tal_quat t = tal_qt_mul(f, tal_qt_conj(q));
    return tal_v3(0.5 * t.x, 0.5 * t.y, 0.5 * t.z);
}

/// N^T f
static inline tal_vec3 tal_qt_tmul_N_M(tal_quat q, tal_quat f)
{
    const tal_quat t = tal_qt_mul(tal_qt_conj(q), f);
    return tal_v3(0.5 * t.x, 0.5 * t.y, 0.5 * t.z);
}

/// N^+ qdot; a part of qdot along q only changes the length of q, and is ignored.
static inline tal_vec3 tal_qt_mul_Nplus_F(tal_quat q, tal_quat qdot)
{
    return tal_v3_scale(4.0 / tal_qt_dot(q, q), tal_qt_tmul_N_F(q, qdot));
}

/// N^+ qdot; a part of qdot along q only changes the length of q, and is ignored.
static inline tal_vec3 tal_qt_mul_Nplus_M(tal_quat q, tal_quat qdot)
{
    return tal_v3_scale(4.0 / tal_qt_dot(q, q), tal_qt_tmul_N_M(q, qdot));
}

/// N^+^T m
static inline tal_quat tal_qt_tmul_Nplus_F(tal_quat q, tal_vec3 m_F)
{
    return tal_qt_mul_N_F(q, tal_v3_scale(4.0 / tal_qt_dot(q, q), m_F));
}

/// N^+^T m
static inline tal_quat tal_qt_tmul_Nplus_M(tal_quat q, tal_vec3 m_M)
{
    return tal_qt_mul_N_M(q, tal_v3_scale(4.0 / tal_qt_dot(q, q), m_M));
}

/// Ndot v while q moves with qdot = N w: N is linear in q, so Ndot = N(qdot).
static inline tal_quat tal_qt_mul_Ndot_F(tal_quat q, tal_vec3 w_F, tal_vec3 v_F)
{
    return tal_qt_mul_N_F(tal_qt_mul_N_F(q, w_F), v_F);
}

/// Ndot v while q moves with qdot = N w: N is linear in q, so Ndot = N(qdot).
static inline tal_quat tal_qt_mul_Ndot_M(tal_quat q, tal_vec3 w_M, tal_vec3 v_M)
{
    return tal_qt_mul_N_M(tal_qt_mul_N_M(q, w_M), v_M);
}

/** @} */

/**
 * @defgroup xyz_rates Rates of body-fixed x, y, z angles
 *
 * R_FM = Rx(q.x) Ry(q.y) Rz(q.z). With s = sin and c = cos of the angle named,
 *
 *             [1  0     s_y    ]                 [ c_y c_z  s_z  0]
 *     N^+_F = [0  c_x  -s_x c_y]         N^+_M = [-c_y s_z  c_z  0]
 *             [0  s_x   c_x c_y]                 [ s_y      0    1]
 *
 * Reading q, qdot and w backwards (x <-> z) turns either into the other. N = N^+^-1 has 1 / cos q.y
 * in it: near q.y = +-pi/2 the rates grow without bound, and where cos q.y is exactly zero they
 * are infinite or NaN. Call tal_xyz_is_singular() first where that can happen.
 * @{
 */

/// Whether less than half the digits of N w are left: |cos q.y| below the root of round-off.
static inline bool tal_xyz_is_singular(tal_vec3 q)
{
    return fabs(cos(q.y)) < 1.5e-8;
}

/// N w
static inline tal_vec3 tal_xyz_mul_N_F(tal_vec3 q, tal_vec3 w_F)
{
    const double s = sin(q.x), c = cos(q.x);
    const double z = (c * w_F.z - s * w_F.y) / cos(q.y);
    return tal_v3(w_F.x - sin(q.y) * z, c * w_F.y + s * w_F.z, z);
}

/// N w
static inline tal_vec3 tal_xyz_mul_N_M(tal_vec3 q, tal_vec3 w_M)
{
    return tal_v3_reverse(tal_xyz_mul_N_F(tal_v3_reverse(q), tal_v3_reverse(w_M)));
}

/// N^T f
static inline tal_vec3 tal_xyz_tmul_N_F(tal_vec3 q, tal_vec3 f)
{
    const double s = sin(q.x), c = cos(q.x);
    const double z = (f.z - sin(q.y) * f.x) / cos(q.y);
    return tal_v3(f.x, c * f.y - s * z, s * f.y + c * z);
}

/// N^T f
static inline tal_vec3 tal_xyz_tmul_N_M(tal_vec3 q, tal_vec3 f)
{
    return tal_v3_reverse(tal_xyz_tmul_N_F(tal_v3_reverse(q), tal_v3_reverse(f)));
}

/// N^+ qdot
static inline tal_vec3 tal_xyz_mul_Nplus_F(tal_vec3 q, tal_vec3 qdot)
{
    const double s = sin(q.x), c = cos(q.x);
    const double z = cos(q.y) * qdot.z;
    return tal_v3(qdot.x + sin(q.y) * qdot.z, c * qdot.y - s * z, s * qdot.y + c * z);
}

/// N^+ qdot
static inline tal_vec3 tal_xyz_mul_Nplus_M(tal_vec3 q, tal_vec3 qdot)
{
    return tal_v3_reverse(tal_xyz_mul_Nplus_F(tal_v3_reverse(q), tal_v3_reverse(qdot)));
}

/// N^+^T m
static inline tal_vec3 tal_xyz_tmul_Nplus_F(tal_vec3 q, tal_vec3 m_F)
{
    const double s = sin(q.x), c = cos(q.x);
    return tal_v3(m_F.x, c * m_F.y + s * m_F.z,
                  sin(q.y) * m_F.x + cos(q.y) * (c * m_F.z - s * m_F.y));
}

/// N^+^T m
static inline tal_vec3 tal_xyz_tmul_Nplus_M(tal_vec3 q, tal_vec3 m_M)
{
    return tal_v3_reverse(tal_xyz_tmul_Nplus_F(tal_v3_reverse(q), tal_v3_reverse(m_M)));
}

/// Ndot v while q moves with qdot = N w: with r = N v, differentiated at constant v,
///
///     rdot.z = (s_y qdot.y r.z - qdot.x r.y) / c_y
///     rdot.y = qdot.x c_y r.z
///     rdot.x = -c_y qdot.y r.z - s_y rdot.z
static inline tal_vec3 tal_xyz_mul_Ndot_F(tal_vec3 q, tal_vec3 w_F, tal_vec3 v_F)
{
    const double s = sin(q.y), c = cos(q.y);
    const tal_vec3 qdot = tal_xyz_mul_N_F(q, w_F), r = tal_xyz_mul_N_F(q, v_F);
    const double z = (s * qdot.y * r.z - qdot.x * r.y) / c;
    return tal_v3(-c * qdot.y * r.z - s * z, qdot.x * c * r.z, z);
}

/// Ndot v while q moves with qdot = N w.
static inline tal_vec3 tal_xyz_mul_Ndot_M(tal_vec3 q, tal_vec3 w_M, tal_vec3 v_M)
{
    return tal_v3_reverse(
        tal_xyz_mul_Ndot_F(tal_v3_reverse(q), tal_v3_reverse(w_M), tal_v3_reverse(v_M)));
}

/** @} */

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_ROTATION_H
