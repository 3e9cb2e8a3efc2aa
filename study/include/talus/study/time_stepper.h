// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_TIME_STEPPER_H
#define TALUS_STUDY_TIME_STEPPER_H

/**
 * @file talus/study/time_stepper.h
 * @brief Stepping through time with events: handlers, reporters, and how a run ends.
 *
 *     tal_time_stepper *stepper = NULL;
 *     tal_outcome why;
 *     st = tal_time_stepper_create(integ, NULL, &stepper, &err);
 *     if (st == TAL_OK) st = tal_time_stepper_step_to(stepper, state, 10.0, &why);
 *     tal_time_stepper_destroy(stepper);
 *
 * A run begins with a step of length zero (prescribe, project, relax) and the initialization
 * events. Then, for each step (manual sec. 10.4):
 *
 *  1. The integrator steps, not past the next planned time of a handler.
 *  2. Witness functions are compared with the start of the step. The first crossing is found on the
 *     integrator's dense output to a window (t-, t+], and the step is taken again to t+. What
 *     crosses within the same window happens together.
 *  3. Reporters see the times within the step from private States, which do not affect the run.
 *  4. Handlers run at t+: those of triggers by stage (Time, Position, Velocity, Dynamics,
 *     Acceleration, Report), then scheduled, step-advanced and signaled ones, in the order they
 *     were declared. After each of these groups the State is prescribed, projected, relaxed and
 *     realized again. Triggered events whose witness is no longer beyond zero are dropped; after a
 *     change at Instance or below all remaining triggered ones are. A change that a handler makes
 *     triggers nothing by itself.
 *
 * **Which crossings are found.** Every crossing that is farther from the next one of its witness
 * than a step is long: declare tal_event_def.separation, or limit the steps. Two crossings within a
 * step are found when the cubic with the witness's values and rates at both ends of the step shows
 * them, as that of a bouncing ball does. A witness that is zero, or was handled at the same time,
 * has the sign that its rate gives it: an event that has happened does not happen again until its
 * witness crosses once more. A witness that crosses and comes back within a window may not be
 * noticed at all.
 */

#include <talus/study/events.h>
#include <talus/study/integrator.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup stepper Time stepper
/// @{

/// Why a call returned.
typedef enum tal_outcome {
    TAL_OUTCOME_FAILED,       ///< the status says why
    TAL_OUTCOME_REACHED_TIME, ///< the time that was asked for
    TAL_OUTCOME_STEP,         ///< one step was taken (tal_time_stepper_advance() only)
    TAL_OUTCOME_EVENT,        ///< one step was taken, and handlers were called (the same); or a
                              ///< handler has set the clock past the time that was asked for
    TAL_OUTCOME_END,          ///< the final time of the run; termination events were handled
    TAL_OUTCOME_TERMINATED,   ///< a handler asked for the end; termination events were handled
    TAL_OUTCOME_CANCELLED     ///< the progress function returned false; the next call continues
} tal_outcome;

/// Name of an outcome, e.g. "reached time"; never NULL.
TAL_API const char *tal_outcome_name(tal_outcome outcome);

/// Progress of a run.
typedef struct tal_progress {
    double t;         ///< [s] where it is
    double remaining; ///< [s] to the time that the call was asked for
    double step;      ///< [s] length of the last step
    double error;     ///< norm of that step's weighted error; 0 for fixed steps
    uint64_t steps;   ///< taken since the run began
    uint64_t events;  ///< handled since the run began
} tal_progress;

/// Called after every step, and after every report of a time within one. Return false to cancel
/// the call: a step in which reports are still to be made ends at the last one made.
typedef bool (*tal_progress_fn)(void *context, const tal_progress *progress);

/// What a time stepper is created from. Obtain it from tal_time_stepper_def_default(), then edit.
typedef struct tal_time_stepper_def {
    double final_time; ///< [s] end of the run; infinity: none
    long max_steps;    ///< most steps of one call; 0: no limit
    long max_events;   ///< most events handled by one call; 0: no limit
    long max_reports;  ///< most scheduled reports made by one call, within those of one time; 0: no
                       ///< limit. The State is then at the last one, and the next call continues
    int zeno_events; ///< a witness that triggers this often in a row, each time within ten windows
                     ///< of the last, piles up: the run ends with TAL_ERR_EVENT_LIMIT
    double checkpoint_period; ///< [s] > 0: a checkpoint at every multiple of it, see below
    tal_progress_fn progress; ///< NULL: none
    void *progress_context;
} tal_time_stepper_def;

/// No final time, ten million steps, a million events, ten million reports, Zeno after 30, no
/// checkpoints.
TAL_API tal_time_stepper_def tal_time_stepper_def_default(void);

/// Runs an integrator with events. Opaque. Use from one thread at a time.
typedef struct tal_time_stepper tal_time_stepper;

/**
 * Create a time stepper. All memory it will ever use is taken here.
 *
 * @param[in]  integ  must outlive the stepper, which uses it alone
 * @param[in]  def    copied; NULL means tal_time_stepper_def_default()
 * @param[out] out    the stepper, owned by the caller; NULL on failure
 * @param[out] err    why it failed; may be NULL
 * @return TAL_OK, TAL_ERR_NULL, TAL_ERR_BAD_VALUE, TAL_ERR_NO_MEMORY, or what creating a State
 *         returned
 */
TAL_API TAL_NODISCARD tal_status tal_time_stepper_create(tal_integrator *integ,
                                                         const tal_time_stepper_def *def,
                                                         tal_time_stepper **out, tal_error *err);

/// Free a time stepper. NULL is allowed. The integrator stays.
TAL_API void tal_time_stepper_destroy(tal_time_stepper *stepper);

/**
 * Run until a time, which the State meets exactly, or until the run ends.
 *
 * @param[in,out] state    realized to TAL_STAGE_ACCELERATION; on failure at the end of the last
 *                         good step. If it was changed between calls, the run continues with the
 *                         changed values, without an event.
 * @param[in]     t        [s] not before the State's time
 * @param[out]    outcome  why the call returned; may be NULL
 * @return TAL_OK; TAL_ERR_NOT_FINITE for a witness that is not a number, by name;
 *         TAL_ERR_EVENT_LIMIT; TAL_ERR_STEP_LIMIT; or what the integrator, a handler or a reporter
 *         returned. tal_time_stepper_error() has the sentence. After a failure of a witness, a
 *         handler or a reporter, or TAL_ERR_EVENT_LIMIT, further calls return the same until the
 *         stepper is reset: no event is skipped. After max_reports they continue.
 */
TAL_API TAL_NODISCARD tal_status tal_time_stepper_step_to(tal_time_stepper *stepper,
                                                          tal_state *state, double t,
                                                          tal_outcome *outcome);

/// The same for a single step: for loops that look at every step, or save between steps.
TAL_API TAL_NODISCARD tal_status tal_time_stepper_advance(tal_time_stepper *stepper,
                                                          tal_state *state, double t,
                                                          tal_outcome *outcome);

/// Forget everything: the next call begins a run, with initialization events and the integrator
/// reset.
TAL_API void tal_time_stepper_reset(tal_time_stepper *stepper);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_time_stepper_error(const tal_time_stepper *stepper);

/// What a stepper has done since the run began.
typedef struct tal_time_stepper_stats {
    uint64_t steps;         ///< steps taken, event-free or up to an event
    uint64_t triggered;     ///< triggered events handled or reported
    uint64_t scheduled;     ///< scheduled ones
    uint64_t others;        ///< all others
    uint64_t localizations; ///< crossings looked for within a step
    uint64_t samples;       ///< States made by dense output for it
} tal_time_stepper_stats;

/// The counters so far.
TAL_API tal_time_stepper_stats tal_time_stepper_statistics(const tal_time_stepper *stepper);

/// How a triggered event crossed last: +1 rising, -1 falling, 0 not yet.
TAL_API int tal_time_stepper_direction(const tal_time_stepper *stepper, tal_event_ix event);

/// The event that ended the run (TAL_OUTCOME_TERMINATED); `i` < 0 when none did. Where several
/// events were handled together it is a stop among them (tal_events_add_stop()), else the first.
TAL_API tal_event_ix tal_time_stepper_ended_by(const tal_time_stepper *stepper);

/// @}
/// @defgroup resume Saving and resuming a run
///
/// Between calls a run can be saved as bytes, State included, and resumed bit for bit by a stepper
/// and an integrator created from the same defs, in another process too. With one-step methods this
/// can be done after any step. A multistep method is saved at checkpoints, where it restarts
/// whether the run is saved or not: their period is part of the def, and the State of a call that
/// returns there is at one.
/// @{

/// Bytes that tal_time_stepper_save() writes. 0 on a breach.
TAL_API size_t tal_time_stepper_save_size(const tal_time_stepper *stepper, const tal_state *state);

/// Write stepper, integrator and State to memory of `size` bytes. TAL_ERR_STAGE when the integrator
/// cannot be resumed from here, TAL_ERR_CAPACITY when the memory is too small.
TAL_API TAL_NODISCARD tal_status tal_time_stepper_save(tal_time_stepper *stepper, tal_state *state,
                                                       void *bytes, size_t size);

/**
 * Read what tal_time_stepper_save() wrote, into stepper, integrator and State.
 *
 * @return TAL_OK; TAL_ERR_FILE for bytes that are damaged or of another version or def,
 *         TAL_ERR_WRONG_SYSTEM for those of another System: nothing has changed then;
 *         TAL_ERR_NO_MEMORY, or what realizing the State returned
 */
TAL_API TAL_NODISCARD tal_status tal_time_stepper_resume(tal_time_stepper *stepper,
                                                         tal_state *state, const void *bytes,
                                                         size_t size);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_TIME_STEPPER_H
