// The time stepper as a struct, and what its files share.
#ifndef TALUS_STEPPER_INTERNAL_H
#define TALUS_STEPPER_INTERNAL_H

#include "integrate/integrator_internal.h"

#include <talus/study/time_stepper.h>

/// What is remembered of one event from step to step; saved with a run.
typedef struct tali_event_memory {
    double value, rate; // of its witness where the run is
    double steepest;    // largest slope of a step without an event
    double t_crossed;   // [s] when it was triggered last; -infinity: never
    double w_crossed;   // its value then, before a handler ran
    int32_t side;       // sign of the witness; 0: not known yet
    int32_t has_rate;
    int32_t just_happened; // at this time, so that a witness near zero has the sign of its rate
    int32_t in_a_row;      // triggered so often, each time soon after the last
    int32_t direction;     // of its last crossing: +1 rising, -1 falling
    int32_t unused;
} tali_event_memory;

/// One event, as the stepper watches it.
typedef struct tali_stepper_watch {
    tal_event_def def;
    tal_stage stage, rate_stage; // of witness and rate; TAL_STAGE_EMPTY: it has none
    tali_event_memory memory;

    // this step
    bool is_on; // it has a witness, which is active
    double w1, rate1;
    bool has_rate1;
    double steepest; // largest rate in this step, also before it was taken again
    int side1;       // sign at the end of the step
    bool crosses;    // in a direction that counts
    int direction;   // then
    double lo, hi;   // [s] brackets the first such crossing
    double w_lo, w_hi;
    bool is_located; // it crosses where the step was to end instead
    bool is_pending; // crossed, not handled yet
} tali_stepper_watch;

struct tal_time_stepper {
    const tal_system *system;
    tal_integrator *integ; // borrowed
    tal_allocator allocator;
    tal_time_stepper_def def;
    tal_state *seen; // private: dense output, reporters
    int num_events;
    tali_stepper_watch *watches; // [num_events]
    tal_event_ix *list;          // [num_events] room for the events of one call

    // where the run is; saved
    bool has_begun, has_ended, was_terminated;
    int ended_by;      // the event that asked for the end; -1: none
    bool is_broken;    // a step was taken, but what happened in it could not be found or handled
    bool is_changed;   // the State has been changed since, as a run that is resumed was told
    double t;          // [s] of the State when the last call returned
    double t_done;     // [s] all appointments up to this time are kept
    double t_reported; // [s] those of reporters; after a step the same
    tal_time_stepper_stats stats;

    // of the present call
    double t_end; // [s] what it was asked for
    long steps_left, events_left, reports_left;
    bool any_handled, terminate, is_cancelled;
    tal_error error_record;
};

/// Is an event switched on?
static inline bool tali_stepper_is_active(const tal_time_stepper *ts, const tal_state *state,
                                          int event)
{
    const tal_var_ix var = ts->watches[event].def.flags;
    if (var.i < 0) return true;
    const tal_event_flags *flags = (const tal_event_flags *)tal_var_value(ts->system, state, var);
    return flags == NULL || flags->active != 0;
}

/// Is a State as the last call left it?
static inline bool tali_stepper_is_as_left(const tal_time_stepper *ts, const tal_state *state)
{
    return !ts->is_changed && tal_state_t(state) == ts->t &&
           tal_state_low_water(state) > TAL_STAGE_ACCELERATION;
}

// --- failures ---

/// The failure of the integrator, in its words.
tal_status tali_stepper_pass_on(tal_time_stepper *ts, tal_status st);

/// The failure of a call on a State, in the State's words.
tal_status tali_stepper_explain(tal_time_stepper *ts, const tal_state *state, tal_status st);

/// An event in words: name and subsystem.
void tali_stepper_name_event(const tal_time_stepper *ts, int event, char text[], size_t size);

// --- witness.c ---

/// How close to find the crossings of an event [s].
double tali_stepper_window(const tal_time_stepper *ts, const tali_stepper_watch *watch);

/// How far from zero localizing may leave a witness that has the given rate there.
double tali_stepper_reach(const tal_time_stepper *ts, const tali_stepper_watch *watch, double rate);

/// The value of a witness in a State, which is realized as far as that needs.
tal_status tali_stepper_witness(tal_time_stepper *ts, tal_state *state, int event, double *value);

/// The same at a time within the last step.
tal_status tali_stepper_sample(tal_time_stepper *ts, const tal_state *state, int event, double t,
                               double *value);

/// Begin to watch from a State, e.g. one that handlers have changed.
tal_status tali_stepper_watch_begin(tal_time_stepper *ts, tal_state *state);

/// Which events are watched, in a State that a run is resumed with.
void tali_stepper_watch_resume(tal_time_stepper *ts, const tal_state *state);

/// Read all witnesses at the end of a step, and their rates where they are wanted.
tal_status tali_stepper_watch_ends(tal_time_stepper *ts, tal_state *state);

/// Continue watching with what is known where the State is; after a step without an event
/// (`is_step`) its slopes are remembered.
void tali_stepper_watch_continue(tal_time_stepper *ts, bool is_step);

// --- crossing.c ---

/// Find the first crossings within the last step.
///
/// @param[out] t  infinity: there is none; the end of the step: `is_pending` tells which events
///                happened there, within their windows; otherwise where the step should end instead
tal_status tali_stepper_find_crossings(tal_time_stepper *ts, const tal_state *state, double *t);

// --- time_stepper.c ---

/// Tell the progress function that the run is at a time; false: continue.
bool tali_stepper_is_cancelled(tal_time_stepper *ts, double t);

// --- occasions.c ---

/// First scheduled time of a handler (or reporter) after `after`; infinity when there is none.
tal_status tali_stepper_next_appointment(tal_time_stepper *ts, const tal_state *state, bool reports,
                                         double after, double *t);

/// Keep all appointments up to a time.
static inline void tali_stepper_have_done(tal_time_stepper *ts, double t)
{
    ts->t_done = ts->t_reported = t;
}

/// Reports scheduled up to the State's time that have not been made, in order of time.
///
/// @param[out] t  the State's time; or that of the last report, where the call is to end: it was
///                cancelled, or max_reports are made
tal_status tali_stepper_report_appointed(tal_time_stepper *ts, const tal_state *state, double *t);

/// Continue from a State that handlers, or the caller between calls, may have changed; its time was
/// `t_was`.
tal_status tali_stepper_continue_from(tal_time_stepper *ts, tal_state *state, double t_was);

/// The start of a run: consistent, initialization, appointments of this very time.
tal_status tali_stepper_begin_run(tal_time_stepper *ts, tal_state *state);

/// Everything that happens at the end of a step.
tal_status tali_stepper_handle_step(tal_time_stepper *ts, tal_state *state);

/// Handle signaled events, until there are none.
tal_status tali_stepper_handle_signaled(tal_time_stepper *ts, tal_state *state);

/// The end of a run.
tal_status tali_stepper_end_run(tal_time_stepper *ts, tal_state *state);

#endif // TALUS_STEPPER_INTERNAL_H
