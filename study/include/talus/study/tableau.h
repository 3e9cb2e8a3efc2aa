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
 *
 * A method whose last stage is the end of the step (the last row of a is b, and b_s = 0) costs one
 * stage less, because its last rates are the first ones of the next step.
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
    const double *d; ///< [s]; sums to 0; h sum_i d_i k_i x^2 (1 - x)^2, x = (t - t0) / h, is what
                     ///< dense output adds to the cubic between the ends. NULL: nothing
} tal_rk_tableau;

/// @name The methods that come with Talus. Borrowed, live forever.
/// @{

/// Euler's method, order 1. Its error is estimated with the rates at the end of the step, which are
/// those the next step begins with.
TAL_API const tal_rk_tableau *tal_rk_euler(void);

/// The explicit trapezoid (Heun), order 2, with Euler's method embedded (manual sec. 10.4).
TAL_API const tal_rk_tableau *tal_rk_trapezoid(void);

/// Bogacki and Shampine's method of order 3 in three stages, with an embedded solution of order 2.
TAL_API const tal_rk_tableau *tal_rk_bogacki_shampine(void);

/// Merson's method of order 4 in five stages, with an embedded solution of order 3 (of order 5 for
/// linear equations with constant coefficients; HNW sec. II.4).
TAL_API const tal_rk_tableau *tal_rk_merson(void);

/// Fehlberg's method of order 5 in six stages, with an embedded solution of order 4: for those who
/// compare with other programs that have it. Dormand and Prince's errors are smaller at the same
/// cost.
TAL_API const tal_rk_tableau *tal_rk_fehlberg(void);

/// Dormand and Prince's method of order 5 in six stages, with an embedded solution of order 4 and
/// dense output of order 4 (HNW sec. II.5 and II.6).
TAL_API const tal_rk_tableau *tal_rk_dormand_prince(void);

/// Bogacki and Shampine's method of order 5 in seven stages, with an embedded solution and dense
/// output of order 4. Its error is so much smaller than Dormand and Prince's that it needs fewer
/// evaluations despite the extra stage.
TAL_API const tal_rk_tableau *tal_rk_bogacki_shampine_5(void);

/// Verner's method of order 8 in twelve stages, with an embedded solution of order 7 (one stage
/// more) and dense output that begins with order 4: for high accuracy. Its steps are long: States
/// within them cost about as much as a step.
TAL_API const tal_rk_tableau *tal_rk_verner_8(void);

/// @}

/**
 * Is this a consistent explicit tableau? The orders it claims are not checked.
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
