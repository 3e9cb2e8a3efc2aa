// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_OPTIMIZER_H
#define TALUS_STUDY_OPTIMIZER_H

/**
 * @file talus/study/optimizer.h
 * @brief Optimal control by direct collocation: the best motion, and the controls that make it.
 *
 * Find controls c(t), and the motion they make, so that goals add up to the least:
 *
 *     minimize    sum of goals    subject to    y' = f(t, y, c),    y = {q, u, z}
 *
 * and to bounds on all of these where the motion begins, where it ends, and on the way. The end may
 * be free in time. Coordinates, speeds, accelerations and controls at the nodes of a mesh are the
 * unknowns; equations between them say that the motion obeys the dynamics, which are taken as
 * inverse dynamics, ID(q, u, a) = forces(t, q, u, z, c) (Kelly2017). The sparse nonlinear
 * program is solved by tal_nlp_solver_run() with exact first derivatives; second ones are
 * differences of these, node by node.
 *
 *     tal_optimizer_def def = tal_optimizer_def_default();
 *     st = tal_optimizer_create(system, forces, &def, &opt, &err);
 *     tal_optimizer_set_time(opt, 0.0, 2.0, 2.0);
 *     tal_optimizer_bound_q(opt, pole, 0, TAL_OPTIMIZE_START, 0.0, 0.0);
 *     tal_optimizer_bound_q(opt, pole, 0, TAL_OPTIMIZE_END, TAL_PI, TAL_PI);
 *     tal_optimizer_add_effort(opt, 1.0, 2.0);
 *     st = tal_optimizer_run(opt, state, NULL, NULL);     // the first mistake above is told here
 *     st = tal_optimizer_interpolate(opt, 0.73, other);   // t, q, u, z, controls
 *
 * A motion that was found is a local minimum: another guess may lead to a better one. Systems with
 * constraints, known motion, unilateral elements or colliders, or with speeds besides those of
 * bodies, are refused by name.
 */

#include <talus/common/nlp.h>
#include <talus/forces.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup optimizer Optimal control
/// @{

/// How the equations of motion are met between nodes.
typedef enum tal_collocation {
    TAL_COLLOCATION_TRAPEZOID,      ///< order 2: nodes at the ends of intervals
    TAL_COLLOCATION_HERMITE_SIMPSON ///< order 4: nodes in their middles, too
} tal_collocation;

/// Where a bound holds.
typedef enum tal_optimizer_where {
    TAL_OPTIMIZE_START, ///< where the motion begins
    TAL_OPTIMIZE_END,   ///< where it ends
    TAL_OPTIMIZE_ALONG, ///< at all nodes
    TAL_OPTIMIZE_NUM_WHERE
} tal_optimizer_where;

/// What an optimizer is created from. Obtain it from tal_optimizer_def_default(), then edit.
typedef struct tal_optimizer_def {
    tal_collocation method;
    int intervals;        ///< of equal length
    double tolerance;     ///< of the conditions of an optimum, scaled
    double row_tolerance; ///< of the equations of motion
    int max_iterations;
    /// [num_actuators] what is controlled; NULL: all elements that have a control. Controls of the
    /// others stay what the State says.
    const tal_force_ix *actuators;
    int num_actuators;
} tal_optimizer_def;

/// Hermite-Simpson, 50 intervals, tolerances of 1e-8, 500 iterations, all actuators.
TAL_API tal_optimizer_def tal_optimizer_def_default(void);

/// An optimal control problem and its answer. Opaque. Use from one thread at a time.
typedef struct tal_optimizer tal_optimizer;

/**
 * Create a problem without bounds and goals: from the State's time for one second.
 *
 * @param[in]  system  its topology must be realized; must outlive the study
 * @param[in]  forces  of the System
 * @param[in]  def     copied; NULL means tal_optimizer_def_default()
 * @param[out] out     owned by the caller; NULL on failure
 * @param[out] err     may be NULL
 * @return TAL_OK; TAL_ERR_BAD_INDEX or TAL_ERR_BAD_VALUE for an actuator that does not exist, has
 *         no control, or is named twice, for numbers out of range, and for a System with
 *         constraints, motions, unilateral elements or colliders; TAL_ERR_NO_MEMORY, TAL_ERR_NULL,
 *         TAL_ERR_TOPOLOGY
 */
TAL_API TAL_NODISCARD tal_status tal_optimizer_create(const tal_system *system,
                                                      const tal_forces *forces,
                                                      const tal_optimizer_def *def,
                                                      tal_optimizer **out, tal_error *err);

/// Free a problem. NULL is allowed.
TAL_API void tal_optimizer_destroy(tal_optimizer *optimizer);

/// @name The problem. A mistake is kept, and tal_optimizer_run() returns the first one.
/// @{

/// From `start` to an end between `least_end` and `largest_end` [s]; equal ones fix it.
TAL_API void tal_optimizer_set_time(tal_optimizer *optimizer, double start, double least_end,
                                    double largest_end);

/// A range of coordinate `i` of a body; equal ends fix it. Ends are infinite unless set.
TAL_API void tal_optimizer_bound_q(tal_optimizer *optimizer, tal_body_ix body, int i,
                                   tal_optimizer_where where, double low, double high);

/// A range of speed `i` of a body.
TAL_API void tal_optimizer_bound_u(tal_optimizer *optimizer, tal_body_ix body, int i,
                                   tal_optimizer_where where, double low, double high);

/// A range of z number `slot` of the State, such as an activation.
TAL_API void tal_optimizer_bound_z(tal_optimizer *optimizer, int slot, tal_optimizer_where where,
                                   double low, double high);

/// A range of a control, within that of its actuator.
TAL_API void tal_optimizer_bound_control(tal_optimizer *optimizer, tal_force_ix actuator,
                                         double low, double high);

/// What a body's coordinate (and its rate, speed `i`) is at the end, `sign` times what another's is
/// where the motion begins. For coordinates whose rates are speeds.
TAL_API void tal_optimizer_add_periodic(tal_optimizer *optimizer, tal_body_ix end_body, int end_i,
                                        tal_body_ix start_body, int start_i, double sign);

/// weight times the integral of the sum of |c|^power; power >= 1.
TAL_API void tal_optimizer_add_effort(tal_optimizer *optimizer, double weight, double power);

/// weight times the end of the motion [s].
TAL_API void tal_optimizer_add_time(tal_optimizer *optimizer, double weight);

/// weight times the integral of the square of what a coordinate differs from a function of time.
/// The function has one argument, and must outlive the study.
TAL_API void tal_optimizer_add_tracking(tal_optimizer *optimizer, tal_body_ix body, int i,
                                        const tal_function *wanted, double weight);

/**
 * A goal of yours.
 *
 * The State is realized to TAL_STAGE_DYNAMICS and has the time, q, u, z and controls of a node; its
 * derivatives are found by differences. @return a failure ends the run
 */
typedef struct tal_optimizer_goal_ops {
    tal_status (*calc)(const void *self, const tal_system *system, tal_state *state, double *value);
} tal_optimizer_goal_ops;

/// weight times the integral of a goal, or its value at the end. `self` is borrowed.
TAL_API void tal_optimizer_add_goal(tal_optimizer *optimizer, const tal_optimizer_goal_ops *ops,
                                    const void *self, bool at_end, double weight);

/**
 * A path constraint: low <= number <= high at all nodes, for a number that `ops` computes from the
 * State there, as for tal_optimizer_add_goal(). Between nodes it is met as well as the mesh is
 * fine. One of `low` and `high` may be infinite. `self` is borrowed.
 */
TAL_API void tal_optimizer_add_limit(tal_optimizer *optimizer, const tal_optimizer_goal_ops *ops,
                                     const void *self, double low, double high);

/// @}

/// @name The answer
/// @{

/// What a run found.
typedef struct tal_optimizer_report {
    tal_nlp_report nlp; ///< `worst_row` is explained by the sentence of the error
    double end;         ///< of the motion [s]
    /// The largest difference of q and u at the end from a simulation with the controls that were
    /// found, relative to 1 + their size: what the mesh leaves out. NaN when it cannot be done.
    double difference;
} tal_optimizer_report;

/**
 * Find the best motion.
 *
 * The memory for unknowns is taken here.
 *
 * @param[in]  state   parameters, and values of what is not controlled; stays as it is. Without a
 *                     guess, q, u and z go along a line from its values, or from bounds where the
 *                     motion begins, to bounds at the end; controls are zero
 * @param[in]  guess   NULL, or an optimizer of the same System with an answer, of any mesh and
 *                     method, where this one begins
 * @param[out] report  may be NULL; written also when the run does not converge
 * @return TAL_OK; TAL_ERR_BAD_VALUE and the like: a mistake in the problem; TAL_ERR_INFEASIBLE: no
 *         motion within the bounds is near; TAL_ERR_NO_CONVERGENCE: the answer is the best so far;
 *         or what realizing returned. tal_optimizer_error() explains
 */
TAL_API TAL_NODISCARD tal_status tal_optimizer_run(tal_optimizer *optimizer, const tal_state *state,
                                                   const tal_optimizer *guess,
                                                   tal_optimizer_report *report);

/// Number of nodes: intervals + 1, or twice that less one for Hermite-Simpson. -1 on a breach.
TAL_API int tal_optimizer_num_nodes(const tal_optimizer *optimizer);

/// The time of a node of the last answer [s]; NaN on a breach and before there is one.
TAL_API double tal_optimizer_node_time(const tal_optimizer *optimizer, int node);

/// Number of controls; -1 on a breach.
TAL_API int tal_optimizer_num_controls(const tal_optimizer *optimizer);

/// The actuator of a control; `i` < 0 on a breach.
TAL_API tal_force_ix tal_optimizer_actuator(const tal_optimizer *optimizer, int control);

/// A control of the last answer at a time of the motion; NaN on a breach.
TAL_API double tal_optimizer_control(const tal_optimizer *optimizer, int control, double t);

/// Put t, q, u, z and controls of the last answer into a State, from the polynomials of the method.
/// @param[in] t  within the motion
TAL_API TAL_NODISCARD tal_status tal_optimizer_interpolate(const tal_optimizer *optimizer, double t,
                                                           tal_state *state);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_optimizer_error(const tal_optimizer *optimizer);
/// @}

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_OPTIMIZER_H
