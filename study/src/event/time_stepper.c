// The time stepper: creation, the loop over steps, what can be asked.
#include "event/events_internal.h"
#include "event/stepper_internal.h"
#include "problem/study_internal.h"

#include <talus/study/contacts.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// Rounds of finding a crossing and taking the step again to it. Dense output is the better the
// closer to an end of the step, so two or three are usual.
enum {
    MAX_ROUNDS = 12
};

// --- creation ---

tal_time_stepper_def tal_time_stepper_def_default(void)
{
    return (tal_time_stepper_def){.final_time = (double)INFINITY,
                                  .max_steps = 10000000,
                                  .max_events = 1000000,
                                  .max_reports = 10000000,
                                  .zeno_events = 30};
}

// Are the limits of a time stepper valid?
static tal_status check_def(const tal_time_stepper_def *def, tal_error *err)
{
    if (isnan(def->final_time) || def->final_time == -(double)INFINITY) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "final_time is %g", def->final_time);
    }
    if (def->max_steps < 0 || def->max_events < 0 || def->max_reports < 0) {
        return TALI_FAIL(
            err, TAL_ERR_BAD_VALUE,
            "max_steps is %ld, max_events %ld and max_reports %ld: they must not be negative",
            def->max_steps, def->max_events, def->max_reports);
    }
    if (def->zeno_events < 1) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "zeno_events is %d: it must be positive",
                         def->zeno_events);
    }
    if (!(isfinite(def->checkpoint_period) && def->checkpoint_period >= 0.0)) {
        return TALI_FAIL(
            err, TAL_ERR_BAD_VALUE,
            "checkpoint_period is %g: it must be positive and finite, or zero for none",
            def->checkpoint_period);
    }
    return TAL_OK;
}

// Elements without a handler: bodies would pass through each other, and no error would say so.
static tal_status check_unilaterals(const tal_system *system, tal_error *err)
{
    const int num = tal_matter_num_unilaterals(tal_system_matter(system));
    if (num <= 0 || tal_system_contacts(system) != NULL) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "System '%s' has %d unilateral elements, and nothing handles them: call "
                     "tal_contacts_create() before its topology is realized",
                     tal_system_name(system), num);
}

static void forget(tal_time_stepper *ts)
{
    ts->has_begun = ts->has_ended = ts->was_terminated = false;
    ts->is_broken = ts->is_changed = false;
    ts->ended_by = -1;
    ts->t = -(double)INFINITY;
    tali_stepper_have_done(ts, ts->t);
    ts->stats = (tal_time_stepper_stats){.steps = 0};
    for (int i = 0; i < ts->num_events; ++i) {
        ts->watches[i].memory = (tali_event_memory){.t_crossed = -(double)INFINITY};
    }
}

static tal_status take_memory(tal_time_stepper *ts, tal_error *err)
{
    const size_t n = (size_t)ts->num_events;
    ts->watches = tali_alloc(&ts->allocator, n * sizeof *ts->watches);
    ts->list = tali_alloc(&ts->allocator, n * sizeof *ts->list);
    if (ts->watches == NULL || ts->list == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a time stepper's %zu events", n);
    }
    for (int i = 0; i < ts->num_events; ++i) {
        tali_stepper_watch *watch = &ts->watches[i];
        watch->def = tal_event_declared(ts->system, (tal_event_ix){i});
        if (watch->def.trigger.i >= 0) {
            watch->stage = tal_group_stage(ts->system, watch->def.trigger);
        }
        if (watch->def.rate.i >= 0) {
            watch->rate_stage = tal_group_stage(ts->system, watch->def.rate);
        }
    }
    return tal_state_create(ts->system, &ts->seen, err);
}

tal_status tal_time_stepper_create(tal_integrator *integ, const tal_time_stepper_def *def,
                                   tal_time_stepper **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (integ == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the integrator is NULL");
    const tal_time_stepper_def chosen = def != NULL ? *def : tal_time_stepper_def_default();
    tal_status st = check_def(&chosen, err);
    if (st == TAL_OK) st = check_unilaterals(integ->problem.system, err);
    if (st != TAL_OK) return st;

    tal_time_stepper *ts = tali_alloc(&integ->problem.allocator, sizeof *ts);
    if (ts == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a time stepper");
    ts->system = integ->problem.system;
    ts->integ = integ;
    ts->allocator = integ->problem.allocator;
    ts->def = chosen;
    ts->num_events = tal_system_num_events(integ->problem.system);
    st = take_memory(ts, err);
    if (st != TAL_OK) {
        tal_time_stepper_destroy(ts);
        return st;
    }
    forget(ts);
    *out = ts;
    return TAL_OK;
}

void tal_time_stepper_destroy(tal_time_stepper *stepper)
{
    if (stepper == NULL) return;
    const tal_allocator allocator = stepper->allocator;
    const size_t n = (size_t)stepper->num_events;
    tal_state_destroy(stepper->seen);
    tali_free(&allocator, stepper->list, n * sizeof *stepper->list);
    tali_free(&allocator, stepper->watches, n * sizeof *stepper->watches);
    tali_free(&allocator, stepper, sizeof *stepper);
}

void tal_time_stepper_reset(tal_time_stepper *stepper)
{
    if (stepper == NULL) return;
    forget(stepper);
    tal_integrator_reset(stepper->integ);
}

// --- failures ---

tal_status tali_stepper_pass_on(tal_time_stepper *ts, tal_status st)
{
    if (st != TAL_OK) ts->error_record = *tal_integrator_error(ts->integ);
    return st;
}

tal_status tali_stepper_explain(tal_time_stepper *ts, const tal_state *state, tal_status st)
{
    if (st == TAL_OK) return TAL_OK;
    // a TAL_RETRY that arrives here was not answered by a smaller step
    return TALI_FAIL(&ts->error_record, st == TAL_RETRY ? TAL_ERR_CALLBACK : st, "%s",
                     tali_problem_reason(state, st));
}

void tali_stepper_name_event(const tal_time_stepper *ts, int event, char text[], size_t size)
{
    const tal_event_ix it = {event};
    (void)snprintf(text, size, "event '%s' of '%s'", tal_event_name(ts->system, it),
                   tal_subsystem_name(ts->system, tal_event_owner(ts->system, it)));
}

// --- one step ---

// Checkpoints are at multiples of their period; the next one after a time.
static double next_checkpoint(const tal_time_stepper *ts, double t)
{
    const double period = ts->def.checkpoint_period;
    return period > 0.0 ? tali_event_next_of_period(0.0, period, t) : (double)INFINITY;
}

// How far the next step may go: to the end, to what is scheduled, and less than the time between
// two crossings that a witness declares.
static tal_status limit_step(tal_time_stepper *ts, const tal_state *state, double t_end,
                             double *t_max)
{
    const double t = tal_state_t(state);
    double scheduled = (double)INFINITY;
    const tal_status st = tali_stepper_next_appointment(ts, state, false, ts->t_done, &scheduled);
    *t_max = fmin(fmin(t_end, ts->def.final_time), fmin(scheduled, next_checkpoint(ts, t)));
    for (int i = 0; i < ts->num_events; ++i) {
        const tali_stepper_watch *watch = &ts->watches[i];
        if (!watch->is_on || watch->def.separation == 0.0) continue;
        const double cap = t + 0.99 * watch->def.separation;
        if (cap > t) *t_max = fmin(*t_max, cap);
    }
    return st;
}

static tal_status spend_step(tal_time_stepper *ts, const tal_state *state, double t_end)
{
    if (ts->def.max_steps == 0 || ts->steps_left-- > 0) return TAL_OK;
    return TALI_FAIL(&ts->error_record, TAL_ERR_STEP_LIMIT,
                     "%ld steps did not reach t = %g; the run ended at t = %.17g",
                     ts->def.max_steps, t_end, tal_state_t(state));
}

// Ends the step where the first event happens, if there is one. What cannot be located any better
// happens at the end of the step.
static tal_status end_at_event(tal_time_stepper *ts, tal_state *state)
{
    for (int round = 0; round <= MAX_ROUNDS; ++round) {
        double t = 0.0;
        tal_status st = tali_stepper_watch_ends(ts, state);
        if (st == TAL_OK) st = tali_stepper_find_crossings(ts, state, &t);
        if (st != TAL_OK || t >= tal_state_t(state)) return st;
        if (round == MAX_ROUNDS) break;
        st = tali_stepper_pass_on(ts, tal_integrator_back_up(ts->integ, state, t));
        if (st != TAL_OK) return st;
    }
    for (int i = 0; i < ts->num_events; ++i) {
        ts->watches[i].is_pending = ts->watches[i].is_on && ts->watches[i].crosses;
    }
    return TAL_OK;
}

static tal_status step_to_event(tal_time_stepper *ts, tal_state *state, double t_max)
{
    for (int i = 0; i < ts->num_events; ++i) {
        ts->watches[i].steepest = 0.0;
        ts->watches[i].is_located = false;
    }
    const tal_status st = tali_stepper_pass_on(ts, tal_integrator_step(ts->integ, state, t_max));
    ts->is_broken = st == TAL_OK; // until everything that happens in the step is done
    return st == TAL_OK ? end_at_event(ts, state) : st;
}

// Reports within the step. Where the call is to end after one of them, the step ends there: nothing
// of the run is lost, and the next call continues.
static tal_status report_step(tal_time_stepper *ts, tal_state *state)
{
    double t = 0.0;
    tal_status st = tali_stepper_report_appointed(ts, state, &t);
    if (st != TAL_OK || t == tal_state_t(state)) return st;
    st = tali_stepper_pass_on(ts, tal_integrator_back_up(ts->integ, state, t));
    return st == TAL_OK ? end_at_event(ts, state) : st;
}

static tal_status check_reports(tal_time_stepper *ts, const tal_state *state)
{
    const bool is_there = tal_state_t(state) >= ts->t_end;
    if (is_there || ts->def.max_reports == 0 || ts->reports_left > 0) return TAL_OK;
    return TALI_FAIL(
        &ts->error_record, TAL_ERR_EVENT_LIMIT,
        "%ld reports were made up to t = %.17g: use reporters with a longer period, or a "
        "larger max_reports",
        ts->def.max_reports - ts->reports_left, tal_state_t(state));
}

static tal_status one_step(tal_time_stepper *ts, tal_state *state, double t_end)
{
    double t_max = 0.0;
    tal_status st = spend_step(ts, state, t_end);
    if (st == TAL_OK) st = limit_step(ts, state, t_end, &t_max);
    if (st == TAL_OK) st = step_to_event(ts, state, t_max);
    if (st == TAL_OK) st = report_step(ts, state);
    if (st != TAL_OK) return st;
    ++ts->stats.steps;
    st = tali_stepper_handle_step(ts, state);
    const double period = ts->def.checkpoint_period, t = tal_state_t(state);
    const bool is_checkpoint = period > 0.0 && t == round(t / period) * period;
    if (st == TAL_OK && is_checkpoint) tal_integrator_checkpoint(ts->integ);
    ts->is_broken = st != TAL_OK;
    return st;
}

// --- a call ---

bool tali_stepper_is_cancelled(tal_time_stepper *ts, double t)
{
    if (ts->def.progress == NULL) return false;
    const tal_integrator_stats stats = tal_integrator_statistics(ts->integ);
    const tal_progress progress = {
        .t = t,
        .remaining = fmin(ts->t_end, ts->def.final_time) - t,
        .step = stats.last_step,
        .error = stats.last_error,
        .steps = ts->stats.steps,
        .events = ts->stats.triggered + ts->stats.scheduled + ts->stats.others,
    };
    return !ts->def.progress(ts->def.progress_context, &progress);
}

// Begin a run, or continue with one: a State that was changed since the last call is taken as it
// is.
static tal_status enter_run(tal_time_stepper *ts, tal_state *state)
{
    const bool is_as_left = tali_stepper_is_as_left(ts, state);
    ts->is_changed = false;
    if (!ts->has_begun) {
        const tal_status st = tali_stepper_begin_run(ts, state);
        ts->has_begun = st == TAL_OK;
        return st;
    }
    tal_status st = TAL_OK;
    if (!is_as_left) {
        st = tali_stepper_pass_on(ts, tal_integrator_step(ts->integ, state, tal_state_t(state)));
    }
    ts->any_handled = false;
    if (st == TAL_OK) st = tali_stepper_handle_signaled(ts, state);
    if (st == TAL_OK && (!is_as_left || ts->any_handled)) {
        st = tali_stepper_continue_from(ts, state, ts->t);
    }
    return st;
}

static tal_status end_run(tal_time_stepper *ts, tal_state *state, tal_outcome *outcome)
{
    *outcome = ts->terminate ? TAL_OUTCOME_TERMINATED : TAL_OUTCOME_END;
    ts->was_terminated = ts->terminate;
    return tali_stepper_end_run(ts, state);
}

// One step, and whether the call ends with it.
static tal_status step_and_tell(tal_time_stepper *ts, tal_state *state, double t_end)
{
    const tal_status st = one_step(ts, state, t_end);
    if (st != TAL_OK) return st;
    ts->is_cancelled = ts->is_cancelled || tali_stepper_is_cancelled(ts, tal_state_t(state));
    return ts->is_cancelled ? TAL_OK : check_reports(ts, state);
}

static tal_status run_steps(tal_time_stepper *ts, tal_state *state, double t_end, bool just_one,
                            tal_outcome *outcome)
{
    tal_status st = enter_run(ts, state);
    for (bool any = false; st == TAL_OK; any = true) {
        const double t = tal_state_t(state);
        if (ts->terminate || t >= ts->def.final_time) return end_run(ts, state, outcome);
        *outcome = TAL_OUTCOME_CANCELLED;
        if (ts->is_cancelled) return TAL_OK;
        // a handler may have set the clock past the time that was asked for
        *outcome = t == t_end ? TAL_OUTCOME_REACHED_TIME : TAL_OUTCOME_EVENT;
        if (t >= t_end) return TAL_OK;
        *outcome = ts->any_handled ? TAL_OUTCOME_EVENT : TAL_OUTCOME_STEP;
        if (any && just_one) return TAL_OK;
        st = step_and_tell(ts, state, t_end);
    }
    return st;
}

// One call of the user: checks, the run until `t` or one step, and why it returned.
static tal_status run_call(tal_time_stepper *ts, tal_state *state, double t, bool just_one,
                           tal_outcome *outcome)
{
    tal_outcome ignored = TAL_OUTCOME_FAILED;
    if (outcome == NULL) outcome = &ignored;
    *outcome = TAL_OUTCOME_FAILED;
    if (ts->is_broken) return ts->error_record.status;
    ts->error_record = (tal_error){TAL_OK, "", ""};
    if (!isfinite(t) || t < tal_state_t(state)) {
        return TALI_FAIL(&ts->error_record, TAL_ERR_BAD_VALUE, "cannot step to t = %g from t = %g",
                         t, tal_state_t(state));
    }
    if (ts->has_ended) {
        *outcome = ts->was_terminated ? TAL_OUTCOME_TERMINATED : TAL_OUTCOME_END;
        return TAL_OK;
    }
    ts->t_end = t;
    ts->steps_left = ts->def.max_steps;
    ts->events_left = ts->def.max_events;
    ts->reports_left = ts->def.max_reports;
    ts->terminate = ts->is_cancelled = false;
    const tal_status st = run_steps(ts, state, t, just_one, outcome);
    ts->t = tal_state_t(state);
    if (st != TAL_OK) *outcome = TAL_OUTCOME_FAILED;
    return st;
}

tal_status tal_time_stepper_step_to(tal_time_stepper *stepper, tal_state *state, double t,
                                    tal_outcome *outcome)
{
    if (stepper == NULL) return TALI_BREACH(TAL_ERR_NULL, "the time stepper is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    return run_call(stepper, state, t, false, outcome);
}

tal_status tal_time_stepper_advance(tal_time_stepper *stepper, tal_state *state, double t,
                                    tal_outcome *outcome)
{
    if (stepper == NULL) return TALI_BREACH(TAL_ERR_NULL, "the time stepper is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    return run_call(stepper, state, t, true, outcome);
}

// --- asking ---

const char *tal_outcome_name(tal_outcome outcome)
{
    static const char *const names[] = {"failed", "reached time", "step",     "event",
                                        "end",    "terminated",   "cancelled"};
    const size_t i = (size_t)outcome;
    return i < sizeof names / sizeof names[0] ? names[i] : "(no outcome)";
}

const tal_error *tal_time_stepper_error(const tal_time_stepper *stepper)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_time_stepper_error",
                                   "the time stepper is NULL"};
    return stepper != NULL ? &stepper->error_record : &none;
}

tal_time_stepper_stats tal_time_stepper_statistics(const tal_time_stepper *stepper)
{
    if (stepper != NULL) return stepper->stats;
    (void)TALI_BREACH(TAL_ERR_NULL, "the time stepper is NULL");
    return (tal_time_stepper_stats){.steps = 0};
}

int tal_time_stepper_direction(const tal_time_stepper *stepper, tal_event_ix event)
{
    if (stepper == NULL || event.i < 0 || event.i >= stepper->num_events) {
        (void)TALI_BREACH(stepper == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_INDEX,
                          "there is no event %d", event.i);
        return 0;
    }
    return stepper->watches[event.i].memory.direction;
}

tal_event_ix tal_time_stepper_ended_by(const tal_time_stepper *stepper)
{
    const tal_event_ix none = {-1};
    if (stepper == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the time stepper is NULL");
        return none;
    }
    return (tal_event_ix){stepper->ended_by};
}
