// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_CLOSURE_H
#define TALUS_MATTER_CLOSURE_H

/**
 * @file talus/matter/closure.h
 * @brief Loop-closure functions: loops that are closed by a formula instead of by constraints.
 *
 * Where the loops of a mechanism have a solution in closed form, all coordinates follow from a few
 * independent ones, and speeds and accelerations with them (RBDA sec. 8.11, with G and g for K and
 * k):
 *
 *     q = gamma(y)          u = K(y) ydot          udot = K ydotdot + k,   k = Kdot ydot
 *
 * and there are only as many equations of motion as y (RBDA eq. 8.46):
 *
 *     (K^T M K) ydotdot = K^T (f_tree - M k)
 *
 * There are no multipliers, no drift, and nothing to project. This is the fourth way of closing
 * loops, beside the three of ::tal_solve_way, and gives the same accelerations. A program that
 * integrates y puts q and u into the State with tal_closure_set_state().
 *
 * Matter may also have the constraints that close the same loops. Then tal_closure_test() compares,
 * and tal_matter_constrained_inverse_dynamics() gives their multipliers for the udot found here.
 * The constraints are not needed for closing the loops.
 *
 *     tal_closure crank = {&slider_crank_ops, &lengths, &y, &yd};
 *     tal_closure_set_state(matter, state, &crank);
 *     st = tal_closure_forward_dynamics(matter, state, &crank, NULL, f, udot, &ydd, work, iwork);
 */

#include <talus/matter/constraint_operators.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup closure Loop-closure functions
/// @{

/// Arguments of closure functions.
typedef struct tal_closure_arg {
    const double *y;        ///< [num_y]
    const double *yd;       ///< [num_y]; NULL unless calc_k is called
    const tal_state *state; ///< for parameters and modeling choices; do not read q or u from it
} tal_closure_arg;

/**
 * Loop-closure functions as a table.
 *
 * Declare it `static const` and fill it with designated initializers. All functions are required,
 * pure, and allocate nothing.
 */
typedef struct tal_closure_ops {
    size_t size;      ///< sizeof(tal_closure_ops): lets the table grow without breaking you
    const char *name; ///< for messages, e.g. "slider-crank"
    int num_y;        ///< independent coordinates; no more than speeds

    /// q = gamma(y): writes all tal_matter_nq() coordinates, those of bodies in no loop included.
    /// @param[out] q  [nq]
    tal_status (*calc_q)(const void *self, const tal_closure_arg *arg, double q[]);

    /// K with u = K ydot, tal_matter_nu() x num_y, which comes filled with zeros. Where qdot = u it
    /// is the Jacobian of gamma.
    tal_status (*calc_K)(const void *self, const tal_closure_arg *arg, tal_matrix K);

    /// k = Kdot ydot, tal_matter_nu() values, which come as zeros.
    /// @param[out] k  [nu] zeros on entry
    tal_status (*calc_k)(const void *self, const tal_closure_arg *arg, double k[]);
} tal_closure_ops;

/// Closure functions, and where the mechanism is. Everything is borrowed.
typedef struct tal_closure {
    const tal_closure_ops *ops;
    const void *self;
    const double *y;  ///< [num_y] may be the caller's own, or coordinates: tal_closure_calc_y()
    const double *yd; ///< [num_y]; NULL means at rest
} tal_closure;

/// y and ydot when they are coordinates of the tree and their speeds: mobilities whose qdot is
/// simply u. Needs TAL_STAGE_MODEL.
/// @param[in]  mobilities  [n]
/// @param[out] y           [n]
/// @param[out] yd          [n]
TAL_API tal_status tal_closure_calc_y(const tal_matter *matter, const tal_state *state,
                                      const tal_mobility mobilities[], int n, double y[],
                                      double yd[]);

/// Set q = gamma(y) and u = K ydot. Needs TAL_STAGE_MODEL; on failure nothing is written.
/// @param[out] work  [tal_matter_dense_work_size()]
TAL_API tal_status tal_closure_set_state(const tal_matter *matter, tal_state *state,
                                         const tal_closure *closure, double work[]);

/**
 * Forward dynamics: the accelerations of y and of all mobilities, for given forces.
 *
 * The State must have the q and u of the closure, as after tal_closure_set_state();
 * TAL_ERR_BAD_VALUE when its speeds differ. Known accelerations (prescribed.h) are met
 * first, as far as motion of y can, and what is left of y is solved for. O(num_y n + num_y^3).
 * Velocity.
 *
 * @param[in]  F_GB   [num_bodies] applied forces about Bo; NULL means none
 * @param[in]  f      [nu] applied forces along u; NULL means none
 * @param[out] udot   [nu]
 * @param[out] ydd    [num_y]; may be NULL
 * @param[out] work   [tal_matter_dense_work_size()]
 * @param[out] iwork  [tal_matter_dense_iwork_size()]
 */
TAL_NODISCARD TAL_API tal_status
tal_closure_forward_dynamics(const tal_matter *matter, tal_state *state, const tal_closure *closure,
                             const tal_spatial_vec F_GB[], const double f[], double udot[],
                             double ydd[], double work[], int iwork[]);

/**
 * Inverse dynamics: the forces along y that give ydotdot, f_y = K^T (M udot + J^T (F0 - F) - f)
 * with udot = K ydotdot + k (RBDA eq. 8.61 and 8.62). Any forces tau along u with K^T tau = f_y are
 * a solution.
 *
 * @param[in]  ydd   [num_y]
 * @param[in]  F_GB  [num_bodies] applied forces about Bo; NULL means none
 * @param[in]  f     [nu] applied forces along u; NULL means none
 * @param[out] udot  [nu]; may be NULL
 * @param[out] f_y   [num_y]
 * @param[out] work  [tal_matter_dense_work_size()]
 */
TAL_NODISCARD TAL_API tal_status tal_closure_inverse_dynamics(
    const tal_matter *matter, tal_state *state, const tal_closure *closure, const double ydd[],
    const tal_spatial_vec F_GB[], const double f[], double udot[], double f_y[], double work[]);

/// What tal_closure_test() found: by how much things differ that should agree, relative to their
/// size or to 1, whichever is larger.
typedef struct tal_closure_report {
    double K;       ///< N K: differences of gamma, column by column
    double k;       ///< differences of K ydot, along ydot
    double closed;  ///< position errors of the State's constraints at q = gamma(y)
    double allowed; ///< G K, and G k - b: motion of y that these constraints see
    double worst;   ///< the largest of these
} tal_closure_report;

/**
 * Check closure functions against each other, and against the enabled constraints, at y and yd.
 *
 * With speeds up to v, correct functions have everything below 1e-11 v^2. If functions agree with
 * each other but not with the constraints, `closed` or `allowed` is far above that. Velocity and
 * acceleration equations of constraints count in `allowed`.
 *
 * @param[in]  state   realized to TAL_STAGE_MODEL at least; stays as it is. A second State is
 *                     created for the time of the call
 * @param[out] report  written on success only
 * @param[out] err     may be NULL
 */
TAL_API tal_status tal_closure_test(const tal_matter *matter, const tal_state *state,
                                    const tal_closure *closure, tal_closure_report *report,
                                    tal_error *err);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_CLOSURE_H
