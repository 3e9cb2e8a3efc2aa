// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_DERIVATIVE_H
#define TALUS_FORCES_DERIVATIVE_H

/**
 * @file talus/forces/derivative.h
 * @brief How forces change with q and u, for implicit integration; and a test of elements.
 *
 * An implicit integrator needs products of the Jacobian of its right-hand side with a direction.
 * The forces contribute to it: with the generalized forces g = f + J^T F of all enabled elements,
 *
 *     dg = (dg/dq) N w + (dg/du) v
 *
 * for a direction w in which q moves, given as speeds, and a direction v in which u moves. Unit
 * directions give columns. An element may provide the derivative of its own forces
 * (tal_force_ops.apply_change). The others are differentiated numerically, as are J and the
 * velocities of the bodies where q moves.
 */

#include <talus/forces/force.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup forcederivative Derivatives of forces
/// @{

/// Doubles that tal_forces_calc_derivative() needs as `work`; 0 before the topology is realized.
TAL_API size_t tal_forces_derivative_work_size(const tal_forces *forces);

/**
 * dg = (dg/dq) N w + (dg/du) v at a State, as above.
 *
 * With w = 0 and elements that all have apply_change the result is exact up to round-off. Where
 * differences are taken they are of fourth order: relative errors are 1e-11 for forces whose scale
 * in q and u is one.
 *
 * @param[in]  state    at TAL_STAGE_VELOCITY; stays as it is
 * @param[out] scratch  another State of the System, which is overwritten; may be NULL where no
 *                      differences are needed
 * @param[in]  w        [nu] NULL means zero
 * @param[in]  v        [nu] NULL means zero
 * @param[out] dg       [nu]; written on success only
 * @param[out] work     [tal_forces_derivative_work_size()]
 * @return TAL_OK, or why an element or the scratch State failed: tal_state_error() of either tells
 */
TAL_API TAL_NODISCARD tal_status tal_forces_calc_derivative(const tal_forces *forces,
                                                            tal_state *state, tal_state *scratch,
                                                            const double w[], const double v[],
                                                            double dg[], double work[]);

/// Doubles that tal_system_linearize() needs as `work`; 0 before the topology is realized.
TAL_API size_t tal_system_linearize_work_size(const tal_system *system);

/**
 * How udot and zdot of a whole System change with q, u and z, constraints and forces included.
 *
 * Rows of J are udot, then zdot; columns are the directions of motion of q (along N e_l, as in
 * talus/matter/derivatives.h), u, z. The tree, its constraints, the elements with apply_change and
 * the zdot of those with add_rate_change contribute exactly. Other elements
 * (tal_forces_differenced()), subsystems of yours that apply forces, and other zdot are differenced
 * along each direction, to some 1e-11. Errors as of
 * tal_matter_calc_constraint_derivatives() and tal_matter_solve_changes(). O(n^2) for a tree with
 * exact elements.
 *
 * @param[in]  state    at TAL_STAGE_ACCELERATION; stays as it is
 * @param[out] scratch  another State of the System, which is overwritten; may be NULL where nothing
 *                      is differenced
 * @param[out] J        (nu + nz) x (2 nu + nz); part of it may be written on failure
 * @param[out] work     [tal_system_linearize_work_size(system)]
 */
TAL_API TAL_NODISCARD tal_status tal_system_linearize(const tal_system *system, tal_state *state,
                                                      tal_state *scratch, tal_matrix J,
                                                      double work[]);

/// Whether tal_system_linearize() would difference anything in this State, which has reached
/// TAL_STAGE_DYNAMICS. True, and a breach, when it has not.
TAL_API bool tal_system_is_differenced(const tal_system *system, tal_state *state);

/**
 * The elements whose changes are found by differences: those without apply_change, and those with z
 * of their own and without add_rate_change.
 *
 * @param[out] which  [capacity] as many as fit
 * @return how many there are, enabled or not; -1 for a broken contract
 */
TAL_API int tal_forces_differenced(const tal_forces *forces, tal_force_ix which[], int capacity);

/// What tal_force_test() found: by how much things differ that should agree, relative to their size
/// or to 1, whichever is larger.
typedef struct tal_force_report {
    double adds;   ///< `apply` adds to what is there
    double needs;  ///< `apply` does not depend on what it does not need (tal_force_ops.needs)
    double change; ///< apply_change: differences of `apply`; 0 where there is none
    double rates;  ///< add_rate_change: differences of zdot; 0 where there is none
    double
        energy; ///< forces at rest: the gradient of the potential energy, and what an element does
                ///< by itself (the slope of its dissipated power by the speed); 0 where it has z or
                ///< no energy
    double power; ///< power of the forces, dissipated power and the rate of the potential energy
                  ///< add up to zero; 0 where neither is reported: work from outside
    double worst; ///< the largest of these
} tal_force_report;

/**
 * Check the functions of an element against each other at a State.
 *
 * With forces and speeds of size one, everything is below 1e-10 for a correct element and far above
 * for a wrong one. Whether the element is enabled does not matter. Derivatives are compared with
 * differences over steps of 1e-3: do not test near a kink of a force.
 *
 * @param[in]  state   realized to TAL_STAGE_MODEL at least; stays as it is. A second State is
 *                     created for the time of the call.
 * @param[out] report  written on success only
 * @param[out] err     may be NULL
 * @return a failure of the element's functions is passed on
 */
TAL_API tal_status tal_force_test(const tal_forces *forces, const tal_state *state,
                                  tal_force_ix force, tal_force_report *report, tal_error *err);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_DERIVATIVE_H
