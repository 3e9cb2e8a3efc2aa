// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_LEAST_SQUARES_H
#define TALUS_COMMON_LEAST_SQUARES_H

/**
 * @file talus/common/least_squares.h
 * @brief Nonlinear least squares within bounds: parameters with which a model comes nearest to
 *        data.
 *
 *     minimize sum_i r_i(x)^2 / 2    subject to    lower <= x <= upper
 *
 * The method of Levenberg and Marquardt (NocedalWright ch. 10): steps solve (J^T J + damping D)
 * step = -J^T r with the diagonal D of J^T J, over the unknowns that are not held at a bound; the
 * damping grows until the sum gets smaller. What is found is a local minimum.
 *
 * Nothing allocates; the same input gives the same bytes.
 */

#include <talus/common/linalg.h>
#include <talus/common/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup leastsquares Least squares
/// @{

/// A problem. Borrowed: arrays must live as long as the call.
typedef struct tal_least_squares {
    int num_unknowns;    ///< n
    int num_residuals;   ///< m
    const double *lower; ///< [num_unknowns] -INFINITY: no bound; NULL: none has one
    const double *upper; ///< [num_unknowns]
    const double *scale; ///< [num_unknowns] what counts as a unit of each; NULL: 1
    void *self;          ///< handed to `calc`; yours

    /// r(x), and J = dr/dx where it is wanted.
    ///
    /// @param[in]  x  [num_unknowns] within the bounds
    /// @param[out] r  [num_residuals]
    /// @param[out] J  num_residuals x num_unknowns, or without rows: not wanted
    /// @return TAL_OK; TAL_ERR_NOT_FINITE or TAL_RETRY, or numbers that are not finite: a shorter
    ///         step is tried; any other status ends the search with it
    tal_status (*calc)(void *self, const double x[], double r[], tal_matrix J);
} tal_least_squares;

/// How exact, and how long.
typedef struct tal_least_squares_options {
    double tolerance;   ///< done when the next step is below this, in units of `scale`
    int max_iterations; ///< each with one J
} tal_least_squares_options;

/// A tolerance of 1e-8, 50 iterations.
TAL_API tal_least_squares_options tal_least_squares_options_default(void);

/// How an answer was found, and how good it is.
typedef struct tal_least_squares_report {
    int iterations;     ///< with a J each
    int evaluations;    ///< of r
    double cost_before; ///< half the sum of squares where the search began
    double cost;        ///< and at the answer
    int num_held;       ///< unknowns at a bound, which would go beyond it
    /// The smallest pivot of J^T J over the unknowns that are free, each in units of its own
    /// column: below 1e-10 some of them cannot be told apart by the data. 1 where none is free.
    double least_pivot;
} tal_least_squares_report;

/// Doubles that the search needs. 0 for negative sizes.
TAL_API size_t tal_least_squares_work_size(int num_unknowns, int num_residuals);

/**
 * Find a local minimum.
 *
 * @param[in]     options  NULL: the default
 * @param[in,out] x        [problem.num_unknowns] in: where to begin, moved to within the bounds;
 *                         out: the best that was found
 * @param[out]    errors   [problem.num_unknowns] standard errors of x, if residuals are random with
 *                         one variance, which is estimated from what is left of them: NaN where
 *                         they are unknown, because residuals are not more than unknowns or the
 *                         data do not tell; 0 at a bound. May be NULL
 * @param[in,out] work  [tal_least_squares_work_size(problem.num_unknowns, problem.num_residuals)]
 * @param[out]    report   may be NULL
 * @param[out]    err      may be NULL
 * @return TAL_OK; TAL_ERR_NO_CONVERGENCE: the iterations were not enough; TAL_ERR_NOT_FINITE: r
 *         cannot be computed where to begin; TAL_ERR_BAD_VALUE for sizes, scales, bounds and
 *         options that make no sense; TAL_ERR_NULL; or the status of `calc`
 */
TAL_API TAL_NODISCARD tal_status tal_least_squares_solve(const tal_least_squares *problem,
                                                         const tal_least_squares_options *options,
                                                         double x[], double errors[], double work[],
                                                         tal_least_squares_report *report,
                                                         tal_error *err);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_LEAST_SQUARES_H
