// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_TABLEAU_H
#define TALUS_STUDY_TABLEAU_H

/**
 * @file talus/study/tableau.h
 * @brief Explicit Runge-Kutta methods as data.
 *
 *     k_i = f(t0 + c_i h, y0 + h sum_j<i a_ij k_j)          y1 = y0 + h sum_i b_i k_i
 *     estimated error = h sum_i (b_i - b_hat_i) k_i         (HNW sec. II.1 and II.4)
 */

#include <talus/common/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup tableau Runge-Kutta tableaux
/// @{

/// Most stages a tableau can have.
#define TAL_MAX_RK_STAGES 16

/// An explicit Runge-Kutta method. Plain data; the arrays are borrowed.
typedef struct tal_rk_tableau {
    const char *name;    ///< for messages, e.g. "Merson 4(3)"
    int stages;          ///< s, from 1 to TAL_MAX_RK_STAGES
    int order;           ///< of y1: the error of one step is O(h^(order + 1))
    int embedded_order;  ///< of the solution with b_hat; 0 when there is none
    const double *a;     ///< [s * s] by rows; zero on and above the diagonal
    const double *b;     ///< [s]; sums to 1
    const double *b_hat; ///< [s]; sums to 1; NULL when there is none: fixed steps only
    const double *c;     ///< [s]; c_i is the sum of row i of a
} tal_rk_tableau;

/// Merson's method of order 4 in five stages, with an embedded solution of order 3 (of order 5 for
/// linear equations with constant coefficients; HNW sec. II.4). Borrowed, lives forever.
TAL_API const tal_rk_tableau *tal_rk_merson(void);

/**
 * Is this a consistent explicit tableau? Its orders are believed.
 *
 * @param[out] err  what is wrong with it; may be NULL
 * @return TAL_OK, TAL_ERR_NULL or TAL_ERR_BAD_VALUE
 */
TAL_API TAL_NODISCARD tal_status tal_rk_check(const tal_rk_tableau *tableau, tal_error *err);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_TABLEAU_H
