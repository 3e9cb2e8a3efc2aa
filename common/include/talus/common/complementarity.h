// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_COMPLEMENTARITY_H
#define TALUS_COMMON_COMPLEMENTARITY_H

/**
 * @file talus/common/complementarity.h
 * @brief Complementarity problems on plain arrays: rows that push but do not pull.
 *
 * With forces z and accelerations (or velocities) w = A z + b, a contact either stays, w = 0, and
 * pushes, z >= 0, or leaves, w > 0, and does not push, z = 0. Two solvers find such z:
 *
 * - tal_bounded_solve() for symmetric positive semidefinite A (no friction), with bounds of any
 *   kind for each z; among several solutions it finds the one in which equal contacts share.
 * - tal_lemke_solve() for any A, as sliding friction makes it.
 *
 * TAL_OK is returned only after the answer was checked. Where there is no answer, a vector that
 * proves it is returned.
 *
 * Common rules, not repeated below:
 * - Nothing allocates; `_work_size` functions say how many doubles (`work`) and ints (`iwork`) are
 *   needed. The same input gives the same bytes.
 * - Sizes may be 0; an array without elements may be NULL.
 * - A NaN or an infinity in A or b is ::TAL_ERR_NOT_FINITE; nothing is written then.
 * - A NULL, a negative size or sizes that do not match are broken contracts: ::TAL_ERR_NULL or
 *   ::TAL_ERR_BAD_VALUE, nothing is written, and the contract handler is called.
 * - `err` is optional (NULL) and receives the sentence of a runtime failure.
 */

#include <talus/common/linalg.h>
#include <talus/common/status.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How an answer was found, and how good it is.
typedef struct tal_complementarity_report {
    int pivots;      ///< changes of the set of rows with w = 0
    int dependent;   ///< rows with w = 0 that others imply; their forces are not unique
    bool shared;     ///< whether equal contacts share their force; false without any to share
    int worst;       ///< the row with the largest violation; -1 when there is none
    double residual; ///< its violation, as a part of the sizes that are added up in such a row
} tal_complementarity_report;

/**
 * @defgroup bounded Bounds, A symmetric positive semidefinite
 *
 * Find z with lower <= z <= upper such that w = A z + b is zero where z is between its bounds, not
 * negative where z is at its lower bound, and not positive where it is at its upper one:
 *
 *     lower = 0, upper = INFINITY            a contact or a stop, which only pushes
 *     lower = -INFINITY, upper = INFINITY    a bilateral constraint, w = 0
 *     lower = -f, upper = f                  a motor or a dry joint of limited force
 *
 * w is unique; z is unique where A is not singular.
 * @{
 */

/// w = A z + b with bounds for z. Borrowed: the arrays must live as long as the call.
typedef struct tal_bounded_problem {
    tal_matrix A;        ///< n x n, symmetric positive semidefinite; its lower triangle is read
    const double *b;     ///< [n]
    const double *lower; ///< [n] least z; -INFINITY where there is no bound
    const double *upper; ///< [n] largest z, >= lower; INFINITY where there is no bound
    /// Spread forces that are not unique as if every row had the same tiny compliance: of all
    /// solutions the one with the least sum of squares is returned.
    bool share;
} tal_bounded_problem;

/// Doubles that tal_bounded_solve() needs as `work` for n rows.
TAL_API size_t tal_bounded_work_size(int n);

/// Ints that tal_bounded_solve() needs as `iwork` for n rows.
TAL_API size_t tal_bounded_iwork_size(int n);

/**
 * Solve a problem with bounds by an active-set method: rows change between "at a bound" and
 * "between the bounds" one at a time, each time with a smaller z^T A z / 2 + b^T z.
 *
 * @param[in]     problem  A, b and bounds; only read
 * @param[in,out] z        [problem.A.rows] in: a guess; only which z are between their bounds
 *                         counts (zeros when there is none); out: the answer, or with
 *                         TAL_ERR_INFEASIBLE a certificate y: A y = 0, b^T y < 0, and z + y keeps
 *                         to the bounds whenever z does, so w >= 0 cannot be met
 * @param[out]    w        [problem.A.rows] A z + b
 * @param[out]    work     [tal_bounded_work_size(problem.A.rows)]
 * @param[out]    iwork    [tal_bounded_iwork_size(problem.A.rows)]
 * @param[out]    report   may be NULL
 * @param[in,out] err      may be NULL
 * @return TAL_OK; TAL_ERR_INFEASIBLE; TAL_ERR_NO_CONVERGENCE when the answer fails its check;
 *         TAL_ERR_BAD_VALUE when lower > upper, a bound is NaN or a diagonal entry is negative;
 *         TAL_ERR_NOT_FINITE
 */
TAL_NODISCARD TAL_API tal_status tal_bounded_solve(const tal_bounded_problem *problem, double z[],
                                                   double w[], double work[], int iwork[],
                                                   tal_complementarity_report *report,
                                                   tal_error *err);

/** @} */

/**
 * @defgroup lemke Any A: Lemke's method
 *
 * Find z >= 0 with w = A z + b >= 0 and w_i z_i = 0 for each i.
 * @{
 */

/// Doubles that tal_lemke_solve() needs as `work` for n rows.
TAL_API size_t tal_lemke_work_size(int n);

/// Ints that tal_lemke_solve() needs as `iwork` for n rows.
TAL_API size_t tal_lemke_iwork_size(int n);

/**
 * Solve by Lemke's method with a lexicographic ratio test, so that it cannot cycle.
 *
 * It ends with a solution or on a ray. A ray proves that there is no solution for some A only
 * (positive semidefinite ones among them); TAL_ERR_INFEASIBLE is returned when a certificate was
 * found and checked, TAL_ERR_NO_CONVERGENCE for every other ray.
 *
 * @param[in]     A       n x n; only read
 * @param[in]     b       [A.rows]
 * @param[out]    z       [A.rows] the answer; with TAL_ERR_INFEASIBLE a certificate y >= 0 with
 *                        A^T y <= 0 and b^T y < 0: no z >= 0 gives A z + b >= 0
 * @param[out]    w       [A.rows] A z + b
 * @param[out]    work    [tal_lemke_work_size(A.rows)]
 * @param[out]    iwork   [tal_lemke_iwork_size(A.rows)]
 * @param[out]    report  may be NULL
 * @param[in,out] err     may be NULL
 * @return TAL_OK; TAL_ERR_INFEASIBLE; TAL_ERR_NO_CONVERGENCE; TAL_ERR_NOT_FINITE
 */
TAL_NODISCARD TAL_API tal_status tal_lemke_solve(tal_matrix A, const double b[], double z[],
                                                 double w[], double work[], int iwork[],
                                                 tal_complementarity_report *report,
                                                 tal_error *err);

/** @} */

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_COMPLEMENTARITY_H
