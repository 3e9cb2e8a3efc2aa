// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_VEC_H
#define TALUS_COMMON_VEC_H

/**
 * @file talus/common/vec.h
 * @brief Vectors and 3 x 3 matrices as plain values.
 *
 * Everything is passed and returned by value, is pure, and has public fields. Names read left to
 * right: `tal_m3_tmul_v3(A, v)` is A^T v. Nothing here checks its arguments: a NaN or an infinity
 * goes through and shows in the result.
 */

#include <talus/common/status.h>

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A coordinate axis.
typedef enum tal_axis {
    TAL_AXIS_X,
    TAL_AXIS_Y,
    TAL_AXIS_Z
} tal_axis;

/// A vector of three measure numbers; the frame they are expressed in is in the variable's name.
typedef struct tal_vec3 {
    double x, y, z;
} tal_vec3;

/// A 3 x 3 matrix, stored as its three columns: `A.y.x` is row x, column y.
typedef struct tal_mat3 {
    tal_vec3 x, y, z;
} tal_mat3;

/// A symmetric 3 x 3 matrix.
typedef struct tal_sym3 {
    double xx, yy, zz, xy, xz, yz;
} tal_sym3;

static_assert(sizeof(tal_vec3) == 3 * sizeof(double), "no padding");
static_assert(sizeof(tal_mat3) == 9 * sizeof(double), "no padding");
static_assert(sizeof(tal_sym3) == 6 * sizeof(double), "no padding");

static const tal_vec3 TAL_VEC3_ZERO = {0.0, 0.0, 0.0};
static const tal_mat3 TAL_MAT3_ZERO = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
static const tal_mat3 TAL_MAT3_IDENTITY = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
static const tal_sym3 TAL_SYM3_ZERO = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
static const tal_sym3 TAL_SYM3_IDENTITY = {1.0, 1.0, 1.0, 0.0, 0.0, 0.0};

/**
 * @defgroup v3 Vectors
 * @{
 */

/// The vector (x, y, z).
static inline tal_vec3 tal_v3(double x, double y, double z)
{
    const tal_vec3 v = {x, y, z};
    return v;
}

/// The unit vector along a coordinate axis; zero if `axis` is none of the three.
static inline tal_vec3 tal_v3_axis(tal_axis axis)
{
    return tal_v3(axis == TAL_AXIS_X, axis == TAL_AXIS_Y, axis == TAL_AXIS_Z);
}

/// Component of `v` along a coordinate axis; NaN if `axis` is none of the three.
static inline double tal_v3_at(tal_vec3 v, tal_axis axis)
{
    switch (axis) {
    case TAL_AXIS_X:
        return v.x;
    case TAL_AXIS_Y:
        return v.y;
    case TAL_AXIS_Z:
        return v.z;
    }
    return (double)NAN;
}

/// a + b
static inline tal_vec3 tal_v3_add(tal_vec3 a, tal_vec3 b)
{
    return tal_v3(a.x + b.x, a.y + b.y, a.z + b.z);
}

/// a - b
static inline tal_vec3 tal_v3_sub(tal_vec3 a, tal_vec3 b)
{
    return tal_v3(a.x - b.x, a.y - b.y, a.z - b.z);
}

/// -v
static inline tal_vec3 tal_v3_neg(tal_vec3 v)
{
    return tal_v3(-v.x, -v.y, -v.z);
}

/// s v
static inline tal_vec3 tal_v3_scale(double s, tal_vec3 v)
{
    return tal_v3(s * v.x, s * v.y, s * v.z);
}

/// s a + b
static inline tal_vec3 tal_v3_axpy(double s, tal_vec3 a, tal_vec3 b)
{
    return tal_v3(s * a.x + b.x, s * a.y + b.y, s * a.z + b.z);
}

/// Element by element: (a.x b.x, a.y b.y, a.z b.z).
static inline tal_vec3 tal_v3_mul(tal_vec3 a, tal_vec3 b)
{
    return tal_v3(a.x * b.x, a.y * b.y, a.z * b.z);
}

/// Components in the opposite order: (z, y, x).
static inline tal_vec3 tal_v3_reverse(tal_vec3 v)
{
    return tal_v3(v.z, v.y, v.x);
}

/// a . b
static inline double tal_v3_dot(tal_vec3 a, tal_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/// a x b
static inline tal_vec3 tal_v3_cross(tal_vec3 a, tal_vec3 b)
{
    return tal_v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

/// Length of `v`. Squares are formed, so lengths beyond 1e154 overflow and below 1e-154 underflow.
static inline double tal_v3_norm(tal_vec3 v)
{
    return sqrt(tal_v3_dot(v, v));
}

/// Whether all three components are finite.
static inline bool tal_v3_is_finite(tal_vec3 v)
{
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

/// Largest magnitude of a component; NaN components are ignored.
static inline double tal_v3_max_abs(tal_vec3 v)
{
    return fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)));
}

/// The unit vector along `v`, at any length a double can hold. All NaN when `v` is zero or not
/// finite: a direction that does not exist.
static inline tal_vec3 tal_v3_normalize(tal_vec3 v)
{
    const double size = tal_v3_max_abs(v);
    // squares of the components neither overflow nor underflow in this range
    const bool is_plain = size > 1e-140 && size < 1e140;
    const tal_vec3 u = is_plain ? v : tal_v3(v.x / size, v.y / size, v.z / size);
    const double length = tal_v3_norm(u);
    return tal_v3(u.x / length, u.y / length, u.z / length);
}

/// A unit vector perpendicular to `v`; which one is arbitrary but always the same. NaN when `v`
/// is zero or not finite.
static inline tal_vec3 tal_v3_perp(tal_vec3 v)
{
    // u crossed with x, or with y if it leans more to x: exact, and never zero
    const tal_vec3 u = tal_v3_normalize(v);
    const bool is_far_from_x = fabs(u.x) <= fabs(u.y);
    return tal_v3_normalize(is_far_from_x ? tal_v3(0.0, u.z, -u.y) : tal_v3(-u.z, 0.0, u.x));
}

/** @} */

/**
 * @defgroup m3 Matrices
 * @{
 */

/// The matrix with columns x, y, z.
static inline tal_mat3 tal_m3(tal_vec3 x, tal_vec3 y, tal_vec3 z)
{
    const tal_mat3 A = {x, y, z};
    return A;
}

/// A symmetric matrix written out in full.
static inline tal_mat3 tal_m3_from_s3(tal_sym3 S)
{
    return tal_m3(tal_v3(S.xx, S.xy, S.xz), tal_v3(S.xy, S.yy, S.yz), tal_v3(S.xz, S.yz, S.zz));
}

/// a b^T
static inline tal_mat3 tal_m3_outer(tal_vec3 a, tal_vec3 b)
{
    return tal_m3(tal_v3_scale(b.x, a), tal_v3_scale(b.y, a), tal_v3_scale(b.z, a));
}

/// The cross matrix vx, with (vx) a = v x a (manual eq. 3.1).
static inline tal_mat3 tal_m3_cross(tal_vec3 v)
{
    return tal_m3(tal_v3(0.0, v.z, -v.y), tal_v3(-v.z, 0.0, v.x), tal_v3(v.y, -v.x, 0.0));
}

/// A + B
static inline tal_mat3 tal_m3_add(tal_mat3 A, tal_mat3 B)
{
    return tal_m3(tal_v3_add(A.x, B.x), tal_v3_add(A.y, B.y), tal_v3_add(A.z, B.z));
}

/// A - B
static inline tal_mat3 tal_m3_sub(tal_mat3 A, tal_mat3 B)
{
    return tal_m3(tal_v3_sub(A.x, B.x), tal_v3_sub(A.y, B.y), tal_v3_sub(A.z, B.z));
}

/// s A
static inline tal_mat3 tal_m3_scale(double s, tal_mat3 A)
{
    return tal_m3(tal_v3_scale(s, A.x), tal_v3_scale(s, A.y), tal_v3_scale(s, A.z));
}

/// A^T
static inline tal_mat3 tal_m3_transpose(tal_mat3 A)
{
    return tal_m3(tal_v3(A.x.x, A.y.x, A.z.x), tal_v3(A.x.y, A.y.y, A.z.y),
                  tal_v3(A.x.z, A.y.z, A.z.z));
}

/// A v
static inline tal_vec3 tal_m3_mul_v3(tal_mat3 A, tal_vec3 v)
{
    return tal_v3(A.x.x * v.x + A.y.x * v.y + A.z.x * v.z, A.x.y * v.x + A.y.y * v.y + A.z.y * v.z,
                  A.x.z * v.x + A.y.z * v.y + A.z.z * v.z);
}

/// A^T v
static inline tal_vec3 tal_m3_tmul_v3(tal_mat3 A, tal_vec3 v)
{
    return tal_v3(tal_v3_dot(A.x, v), tal_v3_dot(A.y, v), tal_v3_dot(A.z, v));
}

/// A B
static inline tal_mat3 tal_m3_mul(tal_mat3 A, tal_mat3 B)
{
    return tal_m3(tal_m3_mul_v3(A, B.x), tal_m3_mul_v3(A, B.y), tal_m3_mul_v3(A, B.z));
}

/// A^T B; with rotations, R_GB^T R_GC = R_BC.
static inline tal_mat3 tal_m3_tmul(tal_mat3 A, tal_mat3 B)
{
    return tal_m3(tal_m3_tmul_v3(A, B.x), tal_m3_tmul_v3(A, B.y), tal_m3_tmul_v3(A, B.z));
}

/// (vx) A: the cross product of `v` with each column.
static inline tal_mat3 tal_v3_cross_m3(tal_vec3 v, tal_mat3 A)
{
    return tal_m3(tal_v3_cross(v, A.x), tal_v3_cross(v, A.y), tal_v3_cross(v, A.z));
}

/// Determinant.
static inline double tal_m3_det(tal_mat3 A)
{
    return tal_v3_dot(A.x, tal_v3_cross(A.y, A.z));
}

/// A^-1 by cofactors. A singular matrix gives infinities or NaN.
static inline tal_mat3 tal_m3_inverse(tal_mat3 A)
{
    const tal_mat3 rows =
        tal_m3(tal_v3_cross(A.y, A.z), tal_v3_cross(A.z, A.x), tal_v3_cross(A.x, A.y));
    return tal_m3_scale(1.0 / tal_v3_dot(A.x, rows.x), tal_m3_transpose(rows));
}

/// Whether all nine entries are finite.
static inline bool tal_m3_is_finite(tal_mat3 A)
{
    return tal_v3_is_finite(A.x) && tal_v3_is_finite(A.y) && tal_v3_is_finite(A.z);
}

/** @} */

/**
 * @defgroup s3 Symmetric matrices
 * @{
 */

/// The diagonal matrix with these entries; assign xy, xz and yz for the rest.
static inline tal_sym3 tal_s3_diag(double xx, double yy, double zz)
{
    const tal_sym3 S = {xx, yy, zz, 0.0, 0.0, 0.0};
    return S;
}

/// The upper half of a matrix that is symmetric, or that is a term of a symmetric sum.
static inline tal_sym3 tal_s3_from_m3(tal_mat3 A)
{
    const tal_sym3 S = {A.x.x, A.y.y, A.z.z, A.y.x, A.z.x, A.z.y};
    return S;
}

/// v v^T
static inline tal_sym3 tal_s3_outer(tal_vec3 v)
{
    const tal_sym3 S = {v.x * v.x, v.y * v.y, v.z * v.z, v.x * v.y, v.x * v.z, v.y * v.z};
    return S;
}

/// (vx)^T (vx) = (v . v) 1 - v v^T: the inertia about the origin of a unit point mass at `v`
/// (manual eq. 3.5).
static inline tal_sym3 tal_s3_cross_square(tal_vec3 v)
{
    const double xx = v.x * v.x, yy = v.y * v.y, zz = v.z * v.z;
    const tal_sym3 S = {yy + zz, xx + zz, xx + yy, -v.x * v.y, -v.x * v.z, -v.y * v.z};
    return S;
}

/// S + T
static inline tal_sym3 tal_s3_add(tal_sym3 S, tal_sym3 T)
{
    const tal_sym3 U = {S.xx + T.xx, S.yy + T.yy, S.zz + T.zz,
                        S.xy + T.xy, S.xz + T.xz, S.yz + T.yz};
    return U;
}

/// S - T
static inline tal_sym3 tal_s3_sub(tal_sym3 S, tal_sym3 T)
{
    const tal_sym3 U = {S.xx - T.xx, S.yy - T.yy, S.zz - T.zz,
                        S.xy - T.xy, S.xz - T.xz, S.yz - T.yz};
    return U;
}

/// s S
static inline tal_sym3 tal_s3_scale(double s, tal_sym3 S)
{
    const tal_sym3 U = {s * S.xx, s * S.yy, s * S.zz, s * S.xy, s * S.xz, s * S.yz};
    return U;
}

/// S v
static inline tal_vec3 tal_s3_mul_v3(tal_sym3 S, tal_vec3 v)
{
    return tal_v3(S.xx * v.x + S.xy * v.y + S.xz * v.z, S.xy * v.x + S.yy * v.y + S.yz * v.z,
                  S.xz * v.x + S.yz * v.y + S.zz * v.z);
}

/// A S A^T; with A = R_GB it re-expresses a tensor given in B in G.
static inline tal_sym3 tal_s3_congruence(tal_mat3 A, tal_sym3 S)
{
    const tal_mat3 rows = tal_m3_transpose(A);
    const tal_vec3 x = tal_s3_mul_v3(S, rows.x); // column x of S A^T
    const tal_vec3 y = tal_s3_mul_v3(S, rows.y);
    const tal_vec3 z = tal_s3_mul_v3(S, rows.z);
    const tal_sym3 T = {tal_v3_dot(rows.x, x), tal_v3_dot(rows.y, y), tal_v3_dot(rows.z, z),
                        tal_v3_dot(rows.x, y), tal_v3_dot(rows.x, z), tal_v3_dot(rows.y, z)};
    return T;
}

/// Sum of the diagonal.
static inline double tal_s3_trace(tal_sym3 S)
{
    return S.xx + S.yy + S.zz;
}

/// S^-1 by cofactors. A singular matrix gives infinities or NaN.
static inline tal_sym3 tal_s3_inverse(tal_sym3 S)
{
    const tal_sym3 C = {S.yy * S.zz - S.yz * S.yz, S.xx * S.zz - S.xz * S.xz,
                        S.xx * S.yy - S.xy * S.xy, S.xz * S.yz - S.xy * S.zz,
                        S.xy * S.yz - S.xz * S.yy, S.xy * S.xz - S.xx * S.yz};
    return tal_s3_scale(1.0 / (S.xx * C.xx + S.xy * C.xy + S.xz * C.xz), C);
}

/// Whether v^T S v > 0 for every v but zero: the three pivots of elimination are positive. A NaN
/// makes it false.
static inline bool tal_s3_is_positive_definite(tal_sym3 S)
{
    if (!(S.xx > 0.0)) return false;
    const double yy = S.yy - S.xy * S.xy / S.xx;
    if (!(yy > 0.0)) return false;
    const double yz = S.yz - S.xy * S.xz / S.xx;
    return S.zz - S.xz * S.xz / S.xx - yz * yz / yy > 0.0;
}

/// Whether all six entries are finite.
static inline bool tal_s3_is_finite(tal_sym3 S)
{
    return isfinite(S.xx) && isfinite(S.yy) && isfinite(S.zz) && isfinite(S.xy) && isfinite(S.xz) &&
           isfinite(S.yz);
}

/**
 * Eigenvalues and, if asked for, eigenvectors: for an inertia, its principal moments and axes.
 *
 * Cyclic Jacobi: every eigenvalue is right to a few units of round-off of the largest one.
 *
 * @param[in]  S     any symmetric matrix
 * @param[out] axes  a rotation whose columns are the unit eigenvectors, in the order of the
 *                   eigenvalues; may be NULL
 * @return the eigenvalues in increasing order; NaN (and NaN axes) when `S` is not finite
 */
TAL_API tal_vec3 tal_s3_eigen(tal_sym3 S, tal_mat3 *axes);

/** @} */

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_VEC_H
