// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STATE_REALIZE_H
#define TALUS_STATE_REALIZE_H

/**
 * @file talus/state/realize.h
 * @brief What a System does to a State: realize it, and solve for variables (manual 7.1.1, 10.4).
 *
 * Every call checks that the State belongs to the System and returns TAL_ERR_WRONG_SYSTEM if not.
 * Different States may be worked on concurrently with one System.
 */

#include <talus/state/state.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup realize Realization and solvers
/// @{

/**
 * Bring a State up to a stage, computing only what is out of date.
 *
 * @param[in,out] state  on failure, left at the last stage that succeeded
 * @param[in]     stage  TAL_STAGE_MODEL ... TAL_STAGE_REPORT
 * @return TAL_OK; the failure of an earlier setter; or what a subsystem returned. tal_state_error()
 *         has the sentence.
 */
TAL_API TAL_NODISCARD tal_status tal_system_realize(const tal_system *system, tal_state *state,
                                                    tal_stage stage);

/**
 * Begin a step: give every auto-update variable its update value, then keep t, y, discrete
 * variables and triggers as the previous values.
 *
 * No stage is lowered, except by sampled variables that change (tal_var_def.sampled): realize again
 * before reading results. Needs the stages that the update functions depend on.
 */
TAL_API TAL_NODISCARD tal_status tal_system_begin_step(const tal_system *system, tal_state *state);

/// Write the prescribed q; needs TAL_STAGE_TIME. `changed` may be NULL.
TAL_API TAL_NODISCARD tal_status tal_system_prescribe_q(const tal_system *system, tal_state *state,
                                                        bool *changed);

/// Write the prescribed u; needs TAL_STAGE_POSITION. `changed` may be NULL.
TAL_API TAL_NODISCARD tal_status tal_system_prescribe_u(const tal_system *system, tal_state *state,
                                                        bool *changed);

/**
 * Move q onto the position constraints; needs TAL_STAGE_POSITION, and realizes it again afterwards.
 *
 * What is minimized: each iteration of Newton's method is the motion s, dq = N s, with the least
 * |W_u s| of all that meet the linear part of the constraints; W_u are the weights of speeds
 * (tal_state_weights()), 1 unless set: then the sum of squares of the changes along the speeds is
 * least. It is not the norm of the kinetic energy: masses play no part. So bodies end at the same
 * poses whether quaternions or angles describe them.
 *
 * What must be small: the root mean square (or the largest, options->infinity_norm) of T_p e, with
 * e the position errors and T_p their weights (tal_state_weights() of TAL_POOL_QERR); quaternion
 * lengths have a norm of their own, unweighted. Both must be within the tolerance.
 *
 * @param[in]     options  NULL means tal_project_options_default()
 * @param[in,out] q_error  [nq] estimated errors from which the part normal to the constraints is
 *                         removed; may be NULL
 * @param[out]    result   may be NULL
 */
TAL_API TAL_NODISCARD tal_status tal_system_project_q(const tal_system *system, tal_state *state,
                                                      const tal_project_options *options,
                                                      double q_error[], tal_project_result *result);

/**
 * Move u onto the velocity constraints; needs TAL_STAGE_VELOCITY, and realizes it again.
 *
 * What is minimized: of all changes s of u that meet the constraints, which are linear in u or made
 * so, the one with the least |W_u s| is taken, as tal_system_project_q() does.
 *
 * What must be small: the root mean square (or the largest) of the weighted velocity errors. The
 * derivative of a position error counts t_c T_p, with the weight T_p of that position error and the
 * time scale t_c of the System (tal_system_time_scale()): so a velocity error weighs as much as
 * the position error that it makes in the time t_c. A velocity constraint counts T_v, its weight of
 * TAL_POOL_UERR. The weights of TAL_POOL_UERR that belong to position constraints are not used.
 *
 * @param[in]     options  NULL means tal_project_options_default()
 * @param[in,out] u_error  [nu] estimated errors from which the part normal to the constraints is
 *                         removed; may be NULL
 * @param[out]    result   may be NULL
 */
TAL_API TAL_NODISCARD tal_status tal_system_project_u(const tal_system *system, tal_state *state,
                                                      const tal_project_options *options,
                                                      double u_error[], tal_project_result *result);

/**
 * Prescribe and project: make a State consistent whose t, q or u were set by hand, as a study does
 * before its first step.
 *
 *     realize Time, prescribe q, realize Position, project q,
 *     prescribe u, realize Velocity, project u
 *
 * The State is at TAL_STAGE_VELOCITY on return. Fast variables are not brought to balance:
 * tal_system_relax(). A State far from its constraints must be assembled
 * (talus/study/assembler.h).
 *
 * @param[in,out] state    needs TAL_STAGE_MODEL. On failure it has the prescribed values, and the q
 *                         or u that could not be projected are as they were
 * @param[in]     options  for q and for u; NULL means tal_project_options_default()
 * @param[out]    result   of both: iterations summed, norms the worse ones; `changed` is true also
 *                         when a prescribed value was written; written on success only; may be NULL
 * @return also the failure of an earlier setter, as tal_system_realize()
 */
TAL_API TAL_NODISCARD tal_status
tal_system_prescribe_and_project(const tal_system *system, tal_state *state,
                                 const tal_project_options *options, tal_project_result *result);

/// Bring fast variables to balance within `tolerance`, stage by stage (manual eq. 8.96); needs
/// TAL_STAGE_TIME. `changed` may be NULL. On failure those of earlier stages are in balance.
TAL_API TAL_NODISCARD tal_status tal_system_relax(const tal_system *system, tal_state *state,
                                                  double tolerance, bool *changed);

/**
 * Bring to balance what one stage may move, with what earlier stages have found:
 *
 *     Time            discrete variables that depend on time alone
 *     Position        q; discrete variables that depend on it
 *     Velocity        u; likewise
 *     Dynamics        discrete variables that forces depend on
 *     Acceleration    discrete variables that depend on accelerations
 *
 * @param[in]  stage      one of these; needs TAL_STAGE_TIME, and may realize the State further
 * @param[in]  tolerance  > 0
 * @param[out] changed    may be NULL
 * @return as tal_system_relax(); TAL_ERR_BAD_VALUE for another stage
 */
TAL_API TAL_NODISCARD tal_status tal_system_relax_stage(const tal_system *system, tal_state *state,
                                                        tal_stage stage, double tolerance,
                                                        bool *changed);

/// Let the owners of `events` change the State. `terminate` (may be NULL) is set when one of them
/// asks for the end of the study.
/// @param[in] events  [count]
TAL_API TAL_NODISCARD tal_status tal_system_handle_events(const tal_system *system,
                                                          tal_state *state, tal_event_cause cause,
                                                          const tal_event_ix events[], int count,
                                                          bool *terminate);

/// Let the owners of `events` look at the State, which is private to them.
/// @param[in] events  [count]
TAL_API TAL_NODISCARD tal_status tal_system_report_events(const tal_system *system,
                                                          tal_state *state, tal_event_cause cause,
                                                          const tal_event_ix events[], int count);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STATE_REALIZE_H
