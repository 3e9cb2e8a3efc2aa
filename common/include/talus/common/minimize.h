// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_MINIMIZE_H
#define TALUS_COMMON_MINIMIZE_H

/**
 * @file talus/common/minimize.h
 * @brief The minimum of a smooth function of many unknowns within bounds, from its gradient alone.
 *
 *     static tal_status calc(const void *self, const double x[], double *f, double g[]);
 *
 *     const tal_minimize_problem problem = {.n = 25, .calc = calc, .low = low, .high = high};
 *     st = tal_minimize(&problem, NULL, x, work, &report, &err);
 *
 * L-BFGS: the curvature is learnt from the last steps, so memory and work are O(n). Unknowns that
 * stand at a bound and are pushed against it stay there (projected steps). With equations between
 * the unknowns, or exact second derivatives, use tal_nlp_solver_run() (talus/common/nlp.h).
 */

#include <talus/common/status.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup minimize Bounded L-BFGS
/// @{

/// What is to be made small. No pointer is kept.
typedef struct tal_minimize_problem {
    int n;            ///< unknowns
    const void *self; ///< handed to calc()
    /// The function and its gradient, at a place within the bounds. A status other than TAL_OK ends
    /// the search and is returned. Where f or a slope is not finite the step is made shorter.
    /// @param[in]  x  [n]
    /// @param[out] g  [n]
    tal_status (*calc)(const void *self, const double x[], double *f, double g[]);
    const double *low;  ///< [n] may be -INFINITY; NULL: all are
    const double *high; ///< [n] not below `low`; NULL: INFINITY
} tal_minimize_problem;

/// When to stop. Obtain it from tal_minimize_options_default(), then edit.
typedef struct tal_minimize_options {
    double tolerance;   ///< done when no unknown could move by more than this along -g within its
                        ///< bounds
    double progress;    ///< done when ten steps together make f smaller by less than this share of
                        ///< the larger of |f| and 1; 0: never for that reason
    int max_iterations; ///< steps
    int memory;         ///< steps that the curvature is learnt from, at most TAL_MINIMIZE_MEMORY
} tal_minimize_options;

enum {
    TAL_MINIMIZE_MEMORY = 30
};

/// 1e-8, 1e-15, 1000 steps, 8 steps remembered.
TAL_API tal_minimize_options tal_minimize_options_default(void);

/// How it ended.
typedef struct tal_minimize_report {
    int iterations;  ///< steps taken
    int evaluations; ///< calls of calc()
    double f;        ///< at x
    double slope;    ///< by how much an unknown could move along -g within its bounds, at most
    int num_bound;   ///< unknowns at a bound, pushed against it
} tal_minimize_report;

/// Doubles that tal_minimize() needs as `work`; 0 for n below 0 or a memory out of range.
TAL_API size_t tal_minimize_work_size(int n, int memory);

/**
 * Find a local minimum.
 *
 * @param[in]     problem
 * @param[in]     options  NULL: the default
 * @param[in,out] x        [problem->n] in: where to begin; it is moved to within the bounds. Out:
 *                         the best that was found, also on failure
 * @param[out]    work     [tal_minimize_work_size(problem->n, options->memory)]
 * @param[out]    report   may be NULL
 * @param[out]    err      may be NULL
 * @return TAL_OK; TAL_ERR_NO_CONVERGENCE after max_iterations, or where no step along -g makes f
 *         smaller; TAL_ERR_NOT_FINITE where the start has no finite value; TAL_ERR_BAD_VALUE for
 *         bounds that contradict each other and options out of range; what calc() returned;
 *         TAL_ERR_NULL
 */
TAL_NODISCARD TAL_API tal_status tal_minimize(const tal_minimize_problem *problem,
                                              const tal_minimize_options *options, double x[],
                                              double work[], tal_minimize_report *report,
                                              tal_error *err);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_MINIMIZE_H
