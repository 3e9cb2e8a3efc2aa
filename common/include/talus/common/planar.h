// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_PLANAR_H
#define TALUS_COMMON_PLANAR_H

/**
 * @file talus/common/planar.h
 * @brief Planar vectors as small matrices (RBDA sec. 2.16 and tab. A.1): for tests, teaching and
 *        small programs.
 *
 * A planar motion is (w, v_x, v_y), a planar force (n, f_x, f_y), both about the origin. Matrices
 * are 3 x 3, column-major. They are spatial ones without the rows and columns of what does not
 * happen in the plane.
 *
 *     tal_planar_transform(theta, x, y, X);          // from frame A to a frame B at (x, y) in A,
 *     tal_planar_mul(X, v_A, v_B);                   // turned by theta: motions of A in B
 */

#include <talus/common/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup planar Planar vectors
/// @{

/// B X A of motions (RBDA eq. 2.77): B is at (x, y) in A, turned by theta [rad].
/// @param[out] X  [9]
TAL_API void tal_planar_transform(double theta, double x, double y, double X[]);

/// The same for forces, X^-T.
/// @param[out] X  [9]
TAL_API void tal_planar_force_transform(double theta, double x, double y, double X[]);

/// v x, which takes motions to motions (RBDA eq. 2.75).
/// @param[in]  v  [3]
/// @param[out] A  [9]
TAL_API void tal_planar_cross_motion(const double v[], double A[]);

/// v x*, which takes forces to forces: -(v x)^T.
/// @param[in]  v  [3]
/// @param[out] A  [9]
TAL_API void tal_planar_cross_force(const double v[], double A[]);

/// The inertia of a body of this mass with its center at (x, y) and the moment of inertia `moment`
/// about that (RBDA eq. 2.78).
/// @param[out] I  [9]
TAL_API void tal_planar_inertia(double mass, double x, double y, double moment, double I[]);

/// y = A x.
/// @param[in]  A  [9]
/// @param[in]  x  [3]
/// @param[out] y  [3] not x
TAL_API void tal_planar_mul(const double A[], const double x[], double y[]);

/// The displacement of a transform, which it leaves as it is: v = X v, with its rotation as sine:
/// v_1 = sin(theta) (RBDA tab. A.1, second version). The turn itself is u = v theta / sin(theta):
/// exp(-u x) = X for |theta| < 90 degrees.
/// @param[in]  X  [9]
/// @param[out] v  [3]
TAL_API void tal_planar_displacement(const double X[], double v[]);

/// The same to first order: (sin(theta), y, -x) of X's last numbers, with two operations fewer; X
/// need not leave it as it is (RBDA tab. A.1, first version).
/// @param[in]  X  [9]
/// @param[out] v  [3]
TAL_API void tal_planar_small_displacement(const double X[], double v[]);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_PLANAR_H
