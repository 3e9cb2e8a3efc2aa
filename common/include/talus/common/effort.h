// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_EFFORT_H
#define TALUS_COMMON_EFFORT_H

/**
 * @file talus/common/effort.h
 * @brief Least effort: more actuators than equations, each within its bounds.
 *
 * Many muscles act on few joints, so the moments alone do not tell their forces. Of all x that give
 * the moments, take the one with the least effort:
 *
 *     minimize sum_j weight_j |x_j|^p    subject to    A x = b,    lower <= x <= upper
 *
 * The answer is unique, and it is proven by its multipliers: x is the best one if and only if
 * numbers lambda exist with p weight_j |x_j|^(p - 1) sign(x_j) = (A^T lambda)_j for each x_j
 * between its bounds, >= at the lower bound, <= at the upper one. They are returned, and so is the
 * largest amount by which any of these conditions or A x = b fails.
 *
 * Common rules:
 * - Nothing allocates; tal_effort_work_size() says how many doubles are needed. The same input
 *   gives the same bytes.
 * - Rows of A may depend on each other, and rows and columns may have any units.
 * - Sizes may be 0; an array without elements may be NULL.
 * - A NaN or an infinity in A, b or a weight is ::TAL_ERR_NOT_FINITE; nothing is written then.
 * - A NULL, a negative size or sizes that do not match are broken contracts: ::TAL_ERR_NULL or
 *   ::TAL_ERR_BAD_VALUE, nothing is written, and the contract handler is called.
 */

#include <talus/common/linalg.h>
#include <talus/common/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup effort Least effort
/// @{

/// m equations for n unknowns. Borrowed: the arrays must live as long as the call.
typedef struct tal_effort_problem {
    tal_matrix A;         ///< m x n; only read
    const double *b;      ///< [m]
    const double *weight; ///< [n] positive; NULL: all are 1
    const double *lower;  ///< [n] least x; -INFINITY where there is no bound
    const double *upper;  ///< [n] largest x, >= lower; INFINITY where there is no bound
    /// p, 1.25 to 10; 2 is the usual one and the fastest. From 1.5 to 4 the answer is found;
    /// beyond, numbers of too different sizes may end in TAL_ERR_NO_CONVERGENCE.
    double exponent;
} tal_effort_problem;

/// How an answer was found, and how good it is.
typedef struct tal_effort_report {
    int iterations;  ///< of Newton's method
    int worst;       ///< the row of A with the largest error; -1 when there is none
    double residual; ///< its error, as a part of |b_i| + sum_j |A_ij x_j|
    /// The largest error of a condition on A^T lambda, as a part of the terms that are added up.
    double stationarity;
} tal_effort_report;

/// Doubles that tal_effort_solve() needs as `work` for m equations with n unknowns.
TAL_API size_t tal_effort_work_size(int m, int n);

/**
 * Find the x of least effort.
 *
 * Where no x within the bounds gives b, the nearest one is returned together with what is missing:
 * then x is the answer for b - lack, and no other x has a smaller lack. Rows are compared after
 * each is divided by the length of its row of A (in units in which all weights are 1).
 *
 * @param[in]     problem  A, b, weights, bounds, exponent; only read
 * @param[in,out] lambda   [problem.A.rows] in: multipliers to begin with: those of a similar
 *                         problem, or zeros; out: those of the answer
 * @param[out]    x        [problem.A.cols] the answer
 * @param[out]    lack     [problem.A.rows] b - A x where that is more than round-off, else 0; may
 *                         be NULL
 * @param[out]    work     [tal_effort_work_size(problem.A.rows, problem.A.cols)]
 * @param[out]    report   may be NULL
 * @param[in,out] err      may be NULL
 * @return TAL_OK; TAL_ERR_INFEASIBLE, with x and lack; TAL_ERR_NO_CONVERGENCE when the answer fails
 *         its check; TAL_ERR_BAD_VALUE when lower > upper, a bound is NaN, a weight is not positive
 *         or the exponent is outside its range; TAL_ERR_NOT_FINITE
 */
TAL_NODISCARD TAL_API tal_status tal_effort_solve(const tal_effort_problem *problem,
                                                  double lambda[], double x[], double lack[],
                                                  double work[], tal_effort_report *report,
                                                  tal_error *err);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_EFFORT_H
