// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_EVENTS_H
#define TALUS_STUDY_EVENTS_H

/**
 * @file talus/study/events.h
 * @brief Handlers and reporters: functions of yours that are called when something happens.
 *
 *     tal_events *events = tal_events_create(system);
 *     tal_happening bounce = tal_happening_default();
 *     bounce.name = "bounce";
 *     bounce.witness = height;                // when this crosses zero,
 *     bounce.stage = TAL_STAGE_POSITION;      // which depends on q only,
 *     bounce.crossing = TAL_CROSSING_FALLING; // from above,
 *     bounce.handle = reverse_velocity;       // do this
 *     tal_events_add(events, &bounce);
 *
 * A **handler** changes the State; a **reporter** looks at a State of its own. Either is called for
 * any of these reasons, and one of them may be called for several:
 *
 *     triggered      a witness function crosses zero
 *     scheduled      a planned time comes: a list, a period, or a function of yours
 *     signaled       tal_event_signal() was called
 *     initialization, step advanced, termination       `causes`
 *
 * They are called by a time stepper (talus/study/time_stepper.h). A subsystem of your own can do
 * all this without tal_events: see tal_event_def.
 */

#include <talus/matter.h>
#include <talus/state.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup events Handlers and reporters
/// @{

/**
 * Change a State because something happened.
 *
 * Variables of any stage may be changed; the run continues from the lowest one. If the time is set
 * forward, events that were planned in between are left out; if it is set back, they happen again.
 * On entry the State is realized to TAL_STAGE_ACCELERATION. Must not allocate.
 *
 * @param[in]  context    as given in tal_happening
 * @param[in]  cause      why it is called
 * @param[out] terminate  set it to end the run; false on entry
 */
typedef tal_status (*tal_handler_fn)(void *context, const tal_system *system, tal_state *state,
                                     tal_event_cause cause, bool *terminate);

/// Look at a State that is private to reporters: realize it as far as you like.
typedef tal_status (*tal_reporter_fn)(void *context, const tal_system *system, tal_state *state,
                                      tal_event_cause cause);

/// A number that announces an event by crossing zero, or its rate. It may read what is known at the
/// witness's stage, and must not set variables.
typedef tal_status (*tal_witness_fn)(void *context, const tal_system *system, tal_state *state,
                                     double *value);

/// The first scheduled time later than `after` [s]; infinity when there is none.
typedef double (*tal_next_time_fn)(void *context, const tal_system *system, const tal_state *state,
                                   double after);

/// When something happens, and what is done then. Obtain it from tal_happening_default(), then
/// edit.
typedef struct tal_happening {
    const char *name; ///< unique within these events; NULL means "event<index>"; copied
    void *context;    ///< handed to every function here; must outlive the System

    // One of these two.
    tal_handler_fn handle;
    tal_reporter_fn report;

    // Triggered. See tal_event_def for what the numbers mean.
    tal_witness_fn witness; ///< NULL: not triggered
    tal_stage stage;        ///< that the witness needs, TAL_STAGE_TIME ... TAL_STAGE_REPORT
    tal_crossing crossing;
    double window;        ///< [s] 0: time scale times accuracy
    double separation;    ///< [s] 0: unknown
    tal_witness_fn rate;  ///< time derivative of the witness; NULL: found by differences
    tal_stage rate_stage; ///< that the rate needs

    // Scheduled, by one of these three.
    const double *times; ///< [s] ascending, `num_times` of them; copied
    int num_times;
    double period; ///< [s] > 0: at `first`, `first` + `period`, ...; at every time there is where
                   ///< the time has no digits for it
    double first;  ///< [s]
    tal_next_time_fn next_time;

    unsigned causes;      ///< as tal_event_def.causes
    bool begins_inactive; ///< until tal_event_set_active()
} tal_happening;

/// Never, and nothing is done; the witness needs TAL_STAGE_POSITION, its rate TAL_STAGE_VELOCITY.
TAL_API tal_happening tal_happening_default(void);

/// Handlers and reporters of a System. Opaque; owned by the System.
typedef struct tal_events tal_events;

/// Add a subsystem for handlers and reporters. A System may have several. NULL on failure.
TAL_API tal_events *tal_events_create(tal_system *system);

/// These events as a subsystem.
TAL_API tal_subsystem_ix tal_events_subsystem(const tal_events *events);

/// A subsystem as events; NULL when it is another one, whatever its name is (that is not a breach).
/// Borrowed.
TAL_API const tal_events *tal_subsystem_events(const tal_system *system,
                                               tal_subsystem_ix subsystem);

/// Add a handler or a reporter. Sticky, as all building is. Its index, `i` < 0 on failure.
TAL_API tal_event_ix tal_events_add(tal_events *events, const tal_happening *it);

/// @}
/// @defgroup runstop Stops
/// Events that end a run, given as data: they can be in a model file, and tell why a run has ended
/// (tal_time_stepper_ended_by()).
/// @{

/// When a run is to end. Obtain it from tal_run_stop_default(), then edit.
typedef struct tal_run_stop {
    const char *name;       ///< unique within these events; NULL means "event<index>"; copied
    const char *message;    ///< message for the user; NULL: the name is enough; copied
    tal_measure_ix measure; ///< of one number, which is watched; `i` < 0: the time
    double value;           ///< that it crosses; of the time, when [s]
    tal_crossing crossing;  ///< which way
    double window;          ///< as in tal_happening
    double separation;      ///< as in tal_happening
    bool begins_inactive;   ///< until tal_event_set_active()
} tal_run_stop;

/// No name, no message, at time 0.
TAL_API tal_run_stop tal_run_stop_default(void);

/// End a run when a measure crosses a value, or at a time. A measure that is beyond the value from
/// the start does not cross it. Sticky, as all building is. Its index, `i` < 0 on failure.
TAL_API tal_event_ix tal_events_add_stop(tal_events *events, const tal_run_stop *stop);

/// A stop as it was added; NULL for an event that is not a stop (that is not a breach). Borrowed
/// from the System.
TAL_API const tal_run_stop *tal_event_stop(const tal_system *system, tal_event_ix event);

/// @}
/// @defgroup runaction Actions
/// Events that change a State, given as data: they can be in a model file.
/// @{

/// When a variable is to be set, and to what. Obtain it from tal_run_set_default(), then edit.
typedef struct tal_run_set {
    tal_run_stop when;      ///< as of a stop; first; without a message
    double period;          ///< [s] > 0, and `when` is a time: again and again from then on
    tal_measure_ix measure; ///< what is set: a variable, or an integral
    const double *values;   ///< [num_values] at most 64; copied
    int num_values;         ///< the size of the measure
    tal_measure_ix from;    ///< instead of values: the measure whose value is taken; `i` < 0: none
} tal_run_set;

/// Nothing is set, at time 0.
TAL_API tal_run_set tal_run_set_default(void);

/// Set a variable when a measure crosses a value, or at a time. Sticky. `i` < 0 on failure.
TAL_API tal_event_ix tal_events_add_set(tal_events *events, const tal_run_set *def);

/// What an event sets, without names; NULL when it sets nothing (that is not a breach). Borrowed.
TAL_API const tal_run_set *tal_event_run_set(const tal_system *system, tal_event_ix event);

/**
 * When an impulse acts, and where. Obtain it from tal_run_impulse_default(), then edit.
 *
 * Speeds jump by du with M du + G^T lambda = J^T impulse and G du = 0: constraints hold through it.
 */
typedef struct tal_run_impulse {
    tal_run_stop when;        ///< as of tal_run_set
    double period;            ///< likewise
    const tal_matter *matter; ///< of the System
    tal_body_ix body;         ///< that it acts on; `i` < 0: it acts along a speed
    tal_vec3 p_BS;            ///< station on the body [m]
    tal_body_ix in;           ///< body in whose frame the impulse is given; Ground by default
    tal_vec3 impulse;         ///< [N s]
    tal_mobility mobility;    ///< instead of a body
    double along;             ///< impulse along that speed [N s or N m s]
} tal_run_impulse;

/// No impulse, at time 0.
TAL_API tal_run_impulse tal_run_impulse_default(void);

/// Apply an impulse when a measure crosses a value, or at a time. Add it after all bodies and
/// constraints. Sticky. `i` < 0 on failure.
TAL_API tal_event_ix tal_events_add_impulse(tal_events *events, const tal_run_impulse *def);

/// The impulse of an event, without names; NULL when it has none (that is not a breach). Borrowed.
TAL_API const tal_run_impulse *tal_event_run_impulse(const tal_system *system, tal_event_ix event);

/// @}
/// @defgroup eventflags Switching and signaling events
/// @{

/// False for an event that is switched off; true on a breach.
TAL_API bool tal_event_is_active(const tal_system *system, const tal_state *state,
                                 tal_event_ix event);

/// Switch an event on or off. An event that is off is neither triggered nor scheduled; its witness
/// is evaluated nevertheless. Only events with tal_event_def.flags can be switched, which includes
/// all of tal_events_add(). Invalidates what the variable does, TAL_STAGE_REPORT for those.
TAL_API tal_status tal_event_set_active(const tal_system *system, tal_state *state,
                                        tal_event_ix event, bool active);

/// Ask for an event: it is handled after the present step, or before the next one.
TAL_API tal_status tal_event_signal(const tal_system *system, tal_state *state, tal_event_ix event);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_EVENTS_H
