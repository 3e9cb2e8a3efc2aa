// When handlers and reporters are called, and in which order (manual sec. 10.4).
#include "event/stepper_internal.h"

#include <math.h>

// --- choosing events ---

// Events that asked for a cause, in the order they were declared.
static int list_by_cause(tal_time_stepper *ts, const tal_state *state, tal_event_cause cause,
                         bool reports)
{
    int n = 0;
    for (int i = 0; i < ts->num_events; ++i) {
        const tal_event_def *def = &ts->watches[i].def;
        const bool asked = (def->causes & 1u << cause) != 0;
        if (asked && def->reports == reports && tali_stepper_is_active(ts, state, i)) {
            ts->list[n++] = (tal_event_ix){i};
        }
    }
    return n;
}

static int list_pending(tal_time_stepper *ts, tal_stage stage, bool reports)
{
    int n = 0;
    for (int i = 0; i < ts->num_events; ++i) {
        const tali_stepper_watch *watch = &ts->watches[i];
        const bool fits = stage == TAL_STAGE_INFINITY || watch->stage == stage;
        if (watch->is_pending && fits && watch->def.reports == reports) {
            ts->list[n++] = (tal_event_ix){i};
        }
    }
    return n;
}

// --- appointments ---

// The scheduled time of one event after a time, checked: it must get on.
static tal_status appointment(tal_time_stepper *ts, const tal_state *state, int event, double after,
                              double *t)
{
    const tal_event_def *def = &ts->watches[event].def;
    const tal_subsystem_ix owner = tal_event_owner(ts->system, (tal_event_ix){event});
    const void *context =
        def->context != NULL ? def->context : tal_subsystem_self(ts->system, owner);
    *t = def->next_time(context, ts->system, state, after);
    if (*t > after) return TAL_OK;
    char name[160];
    tali_stepper_name_event(ts, event, name, sizeof name);
    return TALI_FAIL(&ts->error_record, isnan(*t) ? TAL_ERR_NOT_FINITE : TAL_ERR_BAD_VALUE,
                     "%s schedules t = %.17g, which is not after t = %.17g", name, *t, after);
}

static bool has_appointments(const tal_time_stepper *ts, const tal_state *state, int event,
                             bool reports)
{
    const tal_event_def *def = &ts->watches[event].def;
    return def->next_time != NULL && def->reports == reports &&
           tali_stepper_is_active(ts, state, event);
}

tal_status tali_stepper_next_appointment(tal_time_stepper *ts, const tal_state *state, bool reports,
                                         double after, double *t)
{
    *t = (double)INFINITY;
    for (int i = 0; i < ts->num_events; ++i) {
        if (!has_appointments(ts, state, i, reports)) continue;
        double one = 0.0;
        const tal_status st = appointment(ts, state, i, after, &one);
        if (st != TAL_OK) return st;
        *t = fmin(*t, one);
    }
    return TAL_OK;
}

// Events scheduled after one time and not after another.
static tal_status list_appointed(tal_time_stepper *ts, const tal_state *state, bool reports,
                                 double after, double t, int *n)
{
    *n = 0;
    for (int i = 0; i < ts->num_events; ++i) {
        if (!has_appointments(ts, state, i, reports)) continue;
        double one = 0.0;
        const tal_status st = appointment(ts, state, i, after, &one);
        if (st != TAL_OK) return st;
        if (one <= t) ts->list[(*n)++] = (tal_event_ix){i};
    }
    return TAL_OK;
}

// --- reporting ---

static void count(tal_time_stepper *ts, tal_event_cause cause, int n)
{
    uint64_t *counter = cause == TAL_EVENT_TRIGGERED   ? &ts->stats.triggered
                        : cause == TAL_EVENT_SCHEDULED ? &ts->stats.scheduled
                                                       : &ts->stats.others;
    *counter += (uint64_t)n;
}

// The listed events see the private State.
static tal_status report_seen(tal_time_stepper *ts, tal_event_cause cause, int n)
{
    count(ts, cause, n);
    const tal_status st = tal_system_report_events(ts->system, ts->seen, cause, ts->list, n);
    return tali_stepper_explain(ts, ts->seen, st);
}

static tal_status report(tal_time_stepper *ts, const tal_state *state, tal_event_cause cause, int n)
{
    if (n == 0) return TAL_OK;
    const tal_status st = tal_state_copy(ts->seen, state);
    return st == TAL_OK ? report_seen(ts, cause, n) : tali_stepper_explain(ts, ts->seen, st);
}

// At a time within the last step, or where the State is.
static tal_status report_at(tal_time_stepper *ts, const tal_state *state, double t, int n)
{
    if (t >= tal_state_t(state)) return report(ts, state, TAL_EVENT_SCHEDULED, n);
    const tal_status st = tal_integrator_interpolate(ts->integ, state, t, ts->seen);
    if (st != TAL_OK) return tali_stepper_pass_on(ts, st);
    return report_seen(ts, TAL_EVENT_SCHEDULED, n);
}

// Is this report, at a time within the step, the last of the call?
static bool is_last_report(tal_time_stepper *ts, double t)
{
    ts->is_cancelled = ts->is_cancelled || tali_stepper_is_cancelled(ts, t);
    return ts->is_cancelled || (ts->def.max_reports > 0 && ts->reports_left <= 0);
}

tal_status tali_stepper_report_appointed(tal_time_stepper *ts, const tal_state *state, double *t)
{
    *t = tal_state_t(state);
    for (;;) {
        double next = 0.0;
        tal_status st = tali_stepper_next_appointment(ts, state, true, ts->t_reported, &next);
        if (st != TAL_OK || next > *t) return st;
        int n = 0;
        st = list_appointed(ts, state, true, ts->t_reported, next, &n);
        if (st == TAL_OK) st = report_at(ts, state, next, n);
        if (st != TAL_OK) return st;
        ts->t_reported = next;
        ts->reports_left -= n;
        if (next < *t && is_last_report(ts, next)) {
            *t = next;
            return TAL_OK;
        }
    }
}

// --- handling ---

// What handlers left: a State changed at Acceleration or below is made consistent as by a step of
// length zero. A change at Instance or below asks for another step size too; after any other that a
// crossing has caused, the next step is not longer than the one in which it was.
static tal_status settle_state(tal_time_stepper *ts, tal_state *state, tal_event_cause cause,
                               tal_stage *lowest)
{
    *lowest = tal_state_low_water(state);
    if (*lowest > TAL_STAGE_ACCELERATION) return TAL_OK;
    if (*lowest <= TAL_STAGE_INSTANCE) {
        tal_integrator_reset(ts->integ);
    } else if (cause == TAL_EVENT_TRIGGERED) {
        tali_integrator_hold_growth(ts->integ);
    }
    return tali_stepper_pass_on(ts, tal_integrator_step(ts->integ, state, tal_state_t(state)));
}

static tal_status spend_events(tal_time_stepper *ts, const tal_state *state, int n)
{
    ts->events_left -= n;
    if (ts->def.max_events == 0 || ts->events_left >= 0) return TAL_OK;
    char name[160];
    tali_stepper_name_event(ts, ts->list[0].i, name, sizeof name);
    return TALI_FAIL(&ts->error_record, TAL_ERR_EVENT_LIMIT,
                     "more than %ld events up to t = %.17g, the last one %s", ts->def.max_events,
                     tal_state_t(state), name);
}

// Which of the listed events to name as the one that ended the run.
static int pick_ended_by(const tal_time_stepper *ts, int n)
{
    for (int i = 0; i < n; ++i) {
        if (tal_event_stop(ts->system, ts->list[i]) != NULL) return ts->list[i].i;
    }
    return ts->list[0].i;
}

// Calls the handlers of the listed events.
static tal_status handle(tal_time_stepper *ts, tal_state *state, tal_event_cause cause, int n,
                         tal_stage *lowest)
{
    *lowest = TAL_STAGE_INFINITY;
    if (n == 0) return TAL_OK;
    tal_status st = spend_events(ts, state, n);
    if (st != TAL_OK) return st;
    count(ts, cause, n);
    ts->any_handled = true;
    bool asked = false;
    st = tal_system_handle_events(ts->system, state, cause, ts->list, n, &asked);
    if (st != TAL_OK) return tali_stepper_explain(ts, state, st);
    if (asked && !ts->terminate) ts->ended_by = pick_ended_by(ts, n);
    ts->terminate = ts->terminate || asked;
    return settle_state(ts, state, cause, lowest);
}

// Calls the handlers, or the reporters, of events that asked for this cause.
static tal_status call_by_cause(tal_time_stepper *ts, tal_state *state, tal_event_cause cause,
                                bool reports)
{
    const int n = list_by_cause(ts, state, cause, reports);
    tal_stage lowest = TAL_STAGE_INFINITY;
    return reports ? report(ts, state, cause, n) : handle(ts, state, cause, n, &lowest);
}

// Signaled events; their signals are taken back.
static int list_signaled(tal_time_stepper *ts, tal_state *state, bool reports)
{
    int n = 0;
    for (int i = 0; i < ts->num_events; ++i) {
        const tal_event_def *def = &ts->watches[i].def;
        if (def->flags.i < 0 || def->reports != reports) continue;
        const tal_event_flags *flags = tal_var_value(ts->system, state, def->flags);
        if (flags == NULL || flags->signaled == 0) continue;
        tal_event_flags *upd = tal_var_upd(ts->system, state, def->flags);
        upd->signaled = 0;
        ts->list[n++] = (tal_event_ix){i};
    }
    return n;
}

tal_status tali_stepper_handle_signaled(tal_time_stepper *ts, tal_state *state)
{
    tal_status st = TAL_OK;
    for (bool any = true; any && st == TAL_OK && !ts->terminate;) {
        tal_stage lowest = TAL_STAGE_INFINITY;
        st = report(ts, state, TAL_EVENT_SIGNALED, list_signaled(ts, state, true));
        if (st != TAL_OK) return st;
        const int n = list_signaled(ts, state, false);
        st = handle(ts, state, TAL_EVENT_SIGNALED, n, &lowest);
        any = n > 0; // they may have signaled others
    }
    return st;
}

// Appointments of handlers that this time keeps.
static tal_status handle_appointed(tal_time_stepper *ts, tal_state *state)
{
    int n = 0;
    tal_stage lowest = TAL_STAGE_INFINITY;
    const double t = tal_state_t(state);
    tal_status st = list_appointed(ts, state, false, ts->t_done, t, &n);
    if (st == TAL_OK) st = handle(ts, state, TAL_EVENT_SCHEDULED, n, &lowest);
    tali_stepper_have_done(ts, t);
    return st;
}

// --- triggered ---

// Detects a witness that triggers repeatedly within almost no time.
static tal_status remember_crossing(tal_time_stepper *ts, const tal_state *state, int event)
{
    tali_stepper_watch *watch = &ts->watches[event];
    tali_event_memory *memory = &watch->memory;
    const double t = tal_state_t(state), window = tali_stepper_window(ts, watch);
    const bool is_soon = t - memory->t_crossed <= 10.0 * window;
    memory->in_a_row = is_soon ? memory->in_a_row + 1 : 1;
    memory->t_crossed = t;
    memory->w_crossed = watch->w1;
    memory->direction = watch->direction;
    memory->just_happened = 1;
    if (memory->in_a_row <= ts->def.zeno_events) return TAL_OK;
    char name[160];
    tali_stepper_name_event(ts, event, name, sizeof name);
    return TALI_FAIL(
        &ts->error_record, TAL_ERR_EVENT_LIMIT,
        "%s accumulates at t = %.17g: it was triggered %d times in a row, each within %g s", name,
        t, (int)memory->in_a_row, 10.0 * window);
}

// After handlers have changed the State an event is still pending if its witness is still beyond
// zero.
static tal_status revise_pending(tal_time_stepper *ts, tal_state *state, tal_stage after,
                                 tal_stage lowest)
{
    for (int i = 0; i < ts->num_events; ++i) {
        tali_stepper_watch *watch = &ts->watches[i];
        if (!watch->is_pending || watch->stage <= after) continue;
        double w = 0.0;
        const bool is_off = lowest <= TAL_STAGE_INSTANCE || !tali_stepper_is_active(ts, state, i);
        const tal_status st = is_off ? TAL_OK : tali_stepper_witness(ts, state, i, &w);
        if (st != TAL_OK) return st;
        watch->is_pending = !is_off && w * watch->direction >= 0.0;
    }
    return TAL_OK;
}

static tal_status handle_triggered(tal_time_stepper *ts, tal_state *state)
{
    for (int stage = TAL_STAGE_TIME; stage <= TAL_STAGE_REPORT && !ts->terminate; ++stage) {
        const int n = list_pending(ts, (tal_stage)stage, false);
        tal_stage lowest = TAL_STAGE_INFINITY;
        tal_status st = handle(ts, state, TAL_EVENT_TRIGGERED, n, &lowest);
        if (st == TAL_OK && lowest <= TAL_STAGE_ACCELERATION) {
            st = revise_pending(ts, state, (tal_stage)stage, lowest);
        }
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}

// --- a run ---

// A handler that sets the time skips scheduled events in between, or lets them happen again.
// Crossings before the change do not count when events accumulate.
tal_status tali_stepper_continue_from(tal_time_stepper *ts, tal_state *state, double t_was)
{
    const tal_status st = call_by_cause(ts, state, TAL_EVENT_CHANGED, false);
    if (st != TAL_OK) return st;
    tali_stepper_have_done(ts, tal_state_t(state));
    for (int i = 0; i < ts->num_events && ts->t_done != t_was; ++i) {
        ts->watches[i].memory.t_crossed = -(double)INFINITY;
    }
    return tali_stepper_watch_begin(ts, state);
}

tal_status tali_stepper_begin_run(tal_time_stepper *ts, tal_state *state)
{
    tal_status st =
        tali_stepper_pass_on(ts, tal_integrator_step(ts->integ, state, tal_state_t(state)));
    if (st == TAL_OK) st = call_by_cause(ts, state, TAL_EVENT_INITIALIZATION, false);
    if (st == TAL_OK) st = call_by_cause(ts, state, TAL_EVENT_INITIALIZATION, true);
    // they may have set the clock; what is scheduled for this time is to come
    tali_stepper_have_done(ts, nextafter(tal_state_t(state), -(double)INFINITY));
    double t = 0.0;
    if (st == TAL_OK) st = tali_stepper_report_appointed(ts, state, &t);
    if (st == TAL_OK && !ts->terminate) st = handle_appointed(ts, state);
    if (st == TAL_OK && !ts->terminate) st = tali_stepper_handle_signaled(ts, state);
    return st == TAL_OK ? tali_stepper_continue_from(ts, state, tal_state_t(state)) : st;
}

tal_status tali_stepper_handle_step(tal_time_stepper *ts, tal_state *state)
{
    const double t = tal_state_t(state);
    ts->any_handled = false;
    bool any_pending = false;
    tal_status st = TAL_OK;
    for (int i = 0; i < ts->num_events && st == TAL_OK; ++i) {
        if (!ts->watches[i].is_pending) continue;
        any_pending = true;
        st = remember_crossing(ts, state, i);
    }
    // reporters see the State before a handler changes it; those of the step have seen it
    if (st == TAL_OK) {
        const int n = list_pending(ts, TAL_STAGE_INFINITY, true);
        st = report(ts, state, TAL_EVENT_TRIGGERED, n);
    }
    if (st == TAL_OK) st = call_by_cause(ts, state, TAL_EVENT_STEP_ADVANCED, true);
    if (st == TAL_OK) st = handle_triggered(ts, state);
    if (st == TAL_OK && !ts->terminate) st = handle_appointed(ts, state);
    if (st == TAL_OK && !ts->terminate) {
        st = call_by_cause(ts, state, TAL_EVENT_STEP_ADVANCED, false);
    }
    if (st == TAL_OK && !ts->terminate) st = tali_stepper_handle_signaled(ts, state);
    if (st != TAL_OK) return st;
    // if nothing was handled, watching continues with the values that are known
    if (ts->any_handled || any_pending) return tali_stepper_continue_from(ts, state, t);
    tali_stepper_watch_continue(ts, true);
    return TAL_OK;
}

tal_status tali_stepper_end_run(tal_time_stepper *ts, tal_state *state)
{
    ts->has_ended = true;
    const tal_status st = call_by_cause(ts, state, TAL_EVENT_TERMINATION, false);
    return st == TAL_OK ? call_by_cause(ts, state, TAL_EVENT_TERMINATION, true) : st;
}
