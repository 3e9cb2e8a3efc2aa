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
 * Begin a step: bring every auto-update variable up to date with its update value, then keep t, y,
 * discrete variables and triggers as the previous values.
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
 * @param[in]     options  NULL means tal_project_options_default()
 * @param[in,out] q_error  nq estimated errors from which the part normal to the constraints is
 *                         removed; may be NULL
 * @param[out]    result   may be NULL
 */
TAL_API TAL_NODISCARD tal_status tal_system_project_q(const tal_system *system, tal_state *state,
                                                      const tal_project_options *options,
                                                      double q_error[], tal_project_result *result);

/// Move u onto the velocity constraints; needs TAL_STAGE_VELOCITY, and realizes it again. Otherwise
/// as tal_system_project_q(), with nu estimated errors.
TAL_API TAL_NODISCARD tal_status tal_system_project_u(const tal_system *system, tal_state *state,
                                                      const tal_project_options *options,
                                                      double u_error[], tal_project_result *result);

/// Bring fast variables to balance within `tolerance`; needs TAL_STAGE_TIME. `changed` may be NULL.
TAL_API TAL_NODISCARD tal_status tal_system_relax(const tal_system *system, tal_state *state,
                                                  double tolerance, bool *changed);

/// Let the owners of `events` change the State. `terminate` (may be NULL) is set when one of them
/// asks for the end of the study.
TAL_API TAL_NODISCARD tal_status tal_system_handle_events(const tal_system *system,
                                                          tal_state *state, tal_event_cause cause,
                                                          const tal_event_ix events[], int count,
                                                          bool *terminate);

/// Let the owners of `events` look at the State, which is private to them.
TAL_API TAL_NODISCARD tal_status tal_system_report_events(const tal_system *system,
                                                          tal_state *state, tal_event_cause cause,
                                                          const tal_event_ix events[], int count);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STATE_REALIZE_H
