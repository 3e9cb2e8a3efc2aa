// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_POLYNOMIAL_H
#define TALUS_COMMON_POLYNOMIAL_H

/**
 * @file talus/common/polynomial.h
 * @brief Roots of polynomials with real coefficients.
 *
 *     const double c[] = {-6.0, 11.0, -6.0, 1.0};       // (x - 1) (x - 2) (x - 3)
 *     double re[3], im[3], work[1000];
 *     assert(tal_polynomial_work_size(3) <= 1000);
 *     st = tal_polynomial_find_roots(c, 3, re, im, work, &err);
 */

#include <talus/common/status.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup polynomial Roots of polynomials
/// @{

/// Doubles that tal_polynomial_find_roots() needs as `work`; 0 for a degree below 1.
TAL_API size_t tal_polynomial_work_size(int degree);

/**
 * All roots of c[0] + c[1] x + ... + c[degree] x^degree: eigenvalues of the companion matrix, x
 * being scaled so that the roots are near one, then polished by Newton's method as long as |p|
 * becomes smaller.
 *
 * They are the exact roots of a polynomial whose coefficients differ by some 10 degree^2 eps of the
 * largest term each. A root of multiplicity m moves by the m-th root of that.
 *
 * @param[in]  c       [degree + 1] by ascending powers; the last one must not be zero
 * @param[in]  degree  at least 1
 * @param[out] re      [degree] real parts, ascending; of equal ones those of smaller imaginary part
 *                     first
 * @param[out] im      [degree] imaginary parts; complex roots are in conjugate pairs, bit for bit
 * @param[out] work    [tal_polynomial_work_size(degree)]
 * @param[out] err     may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE for a degree below 1 or a last coefficient of zero,
 *         TAL_ERR_NOT_FINITE, TAL_ERR_NO_CONVERGENCE, TAL_ERR_NULL
 */
TAL_NODISCARD TAL_API tal_status tal_polynomial_find_roots(const double c[], int degree,
                                                           double re[], double im[], double work[],
                                                           tal_error *err);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_POLYNOMIAL_H
