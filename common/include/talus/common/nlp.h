// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_NLP_H
#define TALUS_COMMON_NLP_H

/**
 * @file talus/common/nlp.h
 * @brief Nonlinear programs: the least of a smooth function, subject to equations and ranges.
 *
 *     minimize F(x)    subject to    row_lower <= c(x) <= row_upper,    lower <= x <= upper
 *
 * Functions are smooth and have exact derivatives; rows and unknowns may be thousands, as long as
 * few unknowns meet in each row: the matrices are sparse. Where the second derivatives are not
 * known they are found from changes of the first ones, for up to ::TAL_NLP_MOST_DENSE unknowns.
 *
 * The method is a primal-dual interior-point method (Waechter2006, NocedalWright): a step solves
 * one sparse symmetric system, whose inertia tells whether the step leads to a minimum. What is
 * found is a local minimum: start near the one that is meant.
 *
 * The answer is proven by its multipliers. With g = grad F and the Jacobian J of the rows,
 *
 *     g + J^T lambda - z_lower + z_upper = 0,    z >= 0,    z_lower (x - lower) = 0, ...
 *
 * up to the tolerance; lambda_i is positive where a row is at its upper end.
 *
 * All memory is taken by tal_nlp_solver_create(). The same input gives the same bytes.
 */

#include <talus/common/alloc.h>
#include <talus/common/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup nlp Nonlinear programs
/// @{

enum {
    TAL_NLP_MOST_DENSE = 500 ///< unknowns, where there are no second derivatives
};

/**
 * A problem: its sizes, the places of entries that may differ from zero, and functions.
 *
 * A function returns TAL_OK; TAL_ERR_NOT_FINITE, or a result that is not finite, where it cannot be
 * computed at this x: a shorter step is tried then; any other status ends the run with it.
 */
typedef struct tal_nlp {
    int num_unknowns, num_rows;
    int num_jacobian;        ///< entries of J; several at one place are added up
    const int *jacobian_row; ///< [num_jacobian]
    const int *jacobian_col; ///< [num_jacobian]
    int num_hessian;         ///< entries of one half of the matrix of second derivatives
    const int *hessian_row;  ///< [num_hessian] an entry off the diagonal stands for both halves
    const int *hessian_col;  ///< [num_hessian]
    const double *lower;     ///< [num_unknowns] -INFINITY: no bound; NULL: none has one
    const double *upper;     ///< [num_unknowns]
    const double *row_lower; ///< [num_rows] NULL: 0 for all
    const double *row_upper; ///< [num_rows]
    void *self;              ///< handed to the functions; yours

    /// F(x). @param[in] x  [num_unknowns]
    tal_status (*calc_objective)(void *self, const double x[], double *F);

    /// g = grad F(x).
    /// @param[in]  x  [num_unknowns]
    /// @param[out] g  [num_unknowns]
    tal_status (*calc_gradient)(void *self, const double x[], double g[]);

    /// c(x). May be NULL where there are no rows.
    /// @param[in]  x  [num_unknowns]
    /// @param[out] c  [num_rows]
    tal_status (*calc_rows)(void *self, const double x[], double c[]);

    /// Entries of J(x). May be NULL where there are none.
    /// @param[in]  x       [num_unknowns]
    /// @param[out] values  [num_jacobian]
    tal_status (*calc_jacobian)(void *self, const double x[], double values[]);

    /// Entries of the second derivatives of weight F + lambda^T c. NULL: not known.
    /// @param[in]  x       [num_unknowns]
    /// @param[in]  lambda  [num_rows]
    /// @param[out] values  [num_hessian]
    tal_status (*calc_hessian)(void *self, const double x[], double weight, const double lambda[],
                               double values[]);
} tal_nlp;

/// How exact, and how long.
typedef struct tal_nlp_options {
    double tolerance;     ///< of all conditions, in scaled units
    double row_tolerance; ///< of rows, in their own units
    int max_iterations;
    tal_allocator allocator;
} tal_nlp_options;

/// Tolerances of 1e-8 and 1e-8, 500 iterations, the C heap.
TAL_API tal_nlp_options tal_nlp_options_default(void);

/// How an answer was found, and how good it is.
typedef struct tal_nlp_report {
    int iterations;
    int convexified;        ///< iterations whose curvature had to be increased
    int restorations;       ///< times when only the rows were followed for a while
    double objective;       ///< F
    double row_error;       ///< the largest violation of a row
    int worst_row;          ///< its index; -1 when all rows are met exactly
    double stationarity;    ///< the largest error of the first condition above, scaled
    double complementarity; ///< the largest z (x - lower) or z (upper - x), scaled
} tal_nlp_report;

/// A solver for one problem. Opaque. Use from one thread at a time.
typedef struct tal_nlp_solver tal_nlp_solver;

/**
 * Create a solver. All memory it will ever use is taken here.
 *
 * @param[in]  nlp      copied, but not what it points to: indices are used by this call only, the
 *                      bounds and `self` must live as long as the solver
 * @param[in]  options  NULL: the default
 * @param[out] out      owned by the caller; NULL on failure
 * @param[out] err      may be NULL
 * @return TAL_OK; TAL_ERR_NULL, TAL_ERR_BAD_VALUE, TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_nlp_solver_create(const tal_nlp *nlp,
                                                       const tal_nlp_options *options,
                                                       tal_nlp_solver **out, tal_error *err);

/// Free a solver. NULL is allowed.
TAL_API void tal_nlp_solver_destroy(tal_nlp_solver *solver);

/**
 * Find a local minimum.
 *
 * Bounds are read anew by each call, so a solver may be used for one problem after another.
 *
 * @param[in,out] solver  from tal_nlp_solver_create()
 * @param[in,out] x       in: where to begin; it is moved to within the bounds. Out: the best that
 *                        was found, also when the call fails after its first evaluation
 *                        [tal_nlp_solver_num_unknowns()]
 * @param[out]    report  may be NULL
 * @param[out]    err     may be NULL
 * @return TAL_OK; TAL_ERR_INFEASIBLE: near x nothing meets the rows better, and the worst one is
 *         named; TAL_ERR_NO_CONVERGENCE; TAL_ERR_BAD_VALUE: bounds that contradict each other;
 *         TAL_ERR_NOT_FINITE: functions cannot be computed where to begin; or the status of a
 *         function
 */
TAL_API TAL_NODISCARD tal_status tal_nlp_solver_run(tal_nlp_solver *solver, double x[],
                                                    tal_nlp_report *report, tal_error *err);

/// Number of unknowns; -1 on a breach.
TAL_API int tal_nlp_solver_num_unknowns(const tal_nlp_solver *solver);

/// Number of rows; -1 on a breach.
TAL_API int tal_nlp_solver_num_rows(const tal_nlp_solver *solver);

/// @name Multipliers of the last answer. Borrowed; valid until the next call. NULL on a breach.
/// @{
TAL_API const double *tal_nlp_solver_lambda(const tal_nlp_solver *solver);  ///< [num_rows]
TAL_API const double *tal_nlp_solver_z_lower(const tal_nlp_solver *solver); ///< [num_unknowns]
TAL_API const double *tal_nlp_solver_z_upper(const tal_nlp_solver *solver); ///< [num_unknowns]
/// @}

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_NLP_H
