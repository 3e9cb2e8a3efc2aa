// Tests for study/src/time_stepper.c, occasions.c and events.c: who is called when, how runs end, and
// what is refused.
#include "alloc_guard.h"
#include "stepper_model.h"

#include <math.h>
#include <stdio.h>

// --- a log of calls ---

typedef struct logbook {
    char text[4096];
    double t[64];
    int n;
} logbook;

typedef struct entry {
    logbook *book;
    const char *name;
    double t;                       // its witness is t - this
    void (*change)(struct entry *); // not used by reporters
    tal_state *state;               // while `change` runs
    const tal_system *system;
    tal_event_ix other; // for `change`
    bool terminates;
} entry;

static void note(entry *it, const tal_state *state, tal_event_cause cause)
{
    static const char *const causes[] = {"init", "trig", "sched", "step", "signal", "end"};
    logbook *book = it->book;
    const size_t used = strlen(book->text);
    (void)snprintf(book->text + used, sizeof book->text - used, "%s:%s ", it->name, causes[cause]);
    if (book->n < 64) book->t[book->n++] = tal_state_t(state);
}

static tal_status handle(void *context, const tal_system *system, tal_state *state,
                         tal_event_cause cause, bool *terminate)
{
    entry *it = context;
    ck_assert_int_ge(tal_state_stage(state), TAL_STAGE_ACCELERATION);
    note(it, state, cause);
    it->state = state;
    it->system = system;
    if (it->change != NULL) it->change(it);
    *terminate = it->terminates;
    return TAL_OK;
}

static tal_status look(void *context, const tal_system *system, tal_state *state,
                       tal_event_cause cause)
{
    note(context, state, cause);
    return tal_system_realize(system, state, TAL_STAGE_REPORT);
}

static tal_status time_left(void *context, const tal_system *system, tal_state *state,
                            double *value)
{
    (void)system;
    *value = tal_state_t(state) - ((const entry *)context)->t;
    return TAL_OK;
}

static tal_status one(void *context, const tal_system *system, tal_state *state, double *value)
{
    (void)context;
    (void)system;
    (void)state;
    *value = 1.0;
    return TAL_OK;
}

static tal_happening happening(entry *it, bool reports)
{
    tal_happening def = tal_happening_default();
    def.name = it->name;
    def.context = it;
    if (reports) {
        def.report = look;
    } else {
        def.handle = handle;
    }
    return def;
}

static tal_happening triggered(entry *it, bool reports, tal_stage stage)
{
    tal_happening def = happening(it, reports);
    def.witness = time_left;
    def.stage = stage;
    return def;
}

static tal_happening at_times(entry *it, bool reports, const double times[], int n)
{
    tal_happening def = happening(it, reports);
    def.times = times;
    def.num_times = n;
    return def;
}

enum {
    ON_INIT = 1u << TAL_EVENT_INITIALIZATION,
    ON_STEP = 1u << TAL_EVENT_STEP_ADVANCED,
    ON_END = 1u << TAL_EVENT_TERMINATION
};

// --- the order ---

static void signal_other(entry *it)
{
    ck_assert_int_eq(tal_event_signal(it->system, it->state, it->other), TAL_OK);
}

// Everything at t = 1, declared the other way round: reporters before handlers; then triggers by stage,
// appointments, the step, and what the handler at Position has signaled (manual sec. 10.4).
START_TEST(events_of_one_time_are_handled_in_this_order)
{
    logbook book = {.n = 0};
    entry report = {&book, "report", 1.0, NULL, NULL, NULL, {-1}, false};
    entry A = report, D = report, V = report, P = report, T = report, R = report;
    entry sched = report, step = report, sig = report, look_sched = report, look_trig = report;
    entry look_step = report, life = report, look_life = report, look_sig = report;
    A.name = "A", D.name = "D", V.name = "V", P.name = "P", T.name = "T", R.name = "R";
    sched.name = "sched", step.name = "step", sig.name = "sig", look_sched.name = "look_sched";
    look_trig.name = "look_trig", look_step.name = "look_step";
    life.name = "life", look_life.name = "look_life", look_sig.name = "look_sig";
    const double times[] = {1.0};
    stepper_model m = begin_stepper_model(9.81);
    (void)add_point(&m);

    tal_happening def = happening(&sig, false);
    P.other = tal_events_add(m.events, &def);
    def = happening(&look_sig, true);
    T.other = tal_events_add(m.events, &def);
    def = happening(&step, false);
    def.causes = ON_STEP;
    (void)tal_events_add(m.events, &def);
    def = happening(&look_step, true);
    def.causes = ON_STEP;
    (void)tal_events_add(m.events, &def);
    def = happening(&life, false);
    def.causes = ON_INIT | ON_END;
    (void)tal_events_add(m.events, &def);
    def = happening(&look_life, true);
    def.causes = ON_INIT | ON_END;
    (void)tal_events_add(m.events, &def);
    P.change = T.change = signal_other;
    def = at_times(&sched, false, times, 1);
    (void)tal_events_add(m.events, &def);
    entry *const by_stage[] = {&R, &A, &D, &V, &P, &T};
    for (int i = 0; i < 6; ++i) {
        def = triggered(by_stage[i], false, (tal_stage)(TAL_STAGE_REPORT - i));
        (void)tal_events_add(m.events, &def);
    }
    def = triggered(&look_trig, true, TAL_STAGE_TIME);
    (void)tal_events_add(m.events, &def);
    def = at_times(&look_sched, true, times, 1);
    (void)tal_events_add(m.events, &def);
    tal_integrator_def fixed = tal_integrator_def_default();
    fixed.fixed_step = 1.0;
    tal_time_stepper_def run = tal_time_stepper_def_default();
    run.final_time = 2.0;
    finish_stepper_model(&m, &fixed, &run);

    ck_assert_int_eq(run_stepper(&m, 5.0), TAL_OUTCOME_END);
    ck_assert_str_eq(book.text, "life:init look_life:init "
                                "look_sched:sched look_trig:trig look_step:step "
                                "T:trig P:trig V:trig D:trig A:trig R:trig sched:sched step:step "
                                "look_sig:signal sig:signal "
                                "look_step:step step:step "
                                "life:end look_life:end ");
    for (int i = 2; i < book.n - 4; ++i) {
        ck_assert_double_eq(book.t[i], 1.0);
    }
    ck_assert_double_eq(tal_state_t(m.state), 2.0);
    const tal_time_stepper_stats stats = tal_time_stepper_statistics(m.stepper);
    ck_assert_uint_eq(stats.steps, 2);
    ck_assert_uint_eq(stats.triggered, 7);
    ck_assert_uint_eq(stats.scheduled, 2);
    ck_assert_uint_eq(stats.others, 10);
    // what has ended stays ended, until it begins again
    ck_assert_int_eq(run_stepper(&m, 5.0), TAL_OUTCOME_END);
    tal_time_stepper_reset(m.stepper);
    book.text[0] = '\0';
    (void)tal_state_set_t(m.state, 0.0);
    ck_assert_int_eq(run_stepper(&m, 0.5), TAL_OUTCOME_REACHED_TIME);
    ck_assert_str_eq(book.text, "life:init look_life:init look_step:step step:step ");
    end_stepper_model(&m);
}

END_TEST

static void disable_force(entry *it)
{
    // a modelling variable, by invalidating its stage
    ck_assert_int_eq(tal_state_invalidate(it->state, TAL_STAGE_INSTANCE), TAL_OK);
}

static void push(entry *it)
{
    tal_state_upd_u(it->state)[0] = 1.0;
}

// "<= Instance stage change is a restart meaning later event triggers are forgotten" (manual sec. 10.4).
START_TEST(a_change_at_instance_forgets_later_triggers)
{
    for (int way = 0; way < 2; ++way) {
        logbook book = {.n = 0};
        entry T = {&book, "T", 1.0, NULL, NULL, NULL, {-1}, false}, P = T, V = T;
        P.name = "P", V.name = "V";
        P.change = way == 0 ? disable_force : push;
        stepper_model m = begin_stepper_model(9.81);
        (void)add_point(&m);
        tal_happening def = triggered(&V, false, TAL_STAGE_VELOCITY);
        (void)tal_events_add(m.events, &def);
        def = triggered(&P, false, TAL_STAGE_POSITION);
        (void)tal_events_add(m.events, &def);
        def = triggered(&T, false, TAL_STAGE_TIME);
        (void)tal_events_add(m.events, &def);
        finish_stepper_model(&m, NULL, NULL);
        run_stepper(&m, 2.0);
        ck_assert_str_eq(book.text, way == 0 ? "T:trig P:trig " : "T:trig P:trig V:trig ");
        end_stepper_model(&m);
    }
}

END_TEST

static void turn_round(entry *it)
{
    tal_state_upd_u(it->state)[0] = -1.0;
}

static void switch_other_off(entry *it)
{
    ck_assert_int_eq(tal_event_set_active(it->system, it->state, it->other, false), TAL_OK);
    tal_state_upd_u(it->state)[1] = 0.0;
}

// A handler at Position turns the velocity round, or switches the other event off: a trigger of Velocity
// that was pending is not any more.
START_TEST(triggers_that_the_state_no_longer_shows_are_forgotten)
{
    for (int way = 0; way < 3; ++way) {
        logbook book = {.n = 0};
        entry P = {&book, "P", 0.0, NULL, NULL, NULL, {-1}, false}, V = P;
        V.name = "V";
        stepper_model m = begin_stepper_model(0.0);
        (void)add_point(&m);
        tal_happening def = happening(&V, false); // fires when u rises through 0: at t = 1 with q
        def.witness = first_u;
        def.stage = TAL_STAGE_VELOCITY;
        def.window = 1e-4;
        P.other = tal_events_add(m.events, &def);
        def = happening(&P, false);
        def.witness = first_q;
        def.window = 1e-4;
        P.change = way == 0 ? NULL : way == 1 ? turn_round : switch_other_off;
        (void)tal_events_add(m.events, &def);
        // a force along x of 1 N: u = t - 1, q = (t - 1)^2/2 - 5e-11 from t = 0
        (void)tal_forces_add_mobility_force(m.forces, NULL, (tal_mobility){{1}, 0}, 1.0);
        finish_stepper_model(&m, NULL, NULL);
        tal_state_upd_q(m.state)[0] = 0.5 - 5e-11;
        tal_state_upd_u(m.state)[0] = -1.0;
        tal_outcome outcome = TAL_OUTCOME_FAILED;
        while (tal_state_t(m.state) < 1.1 && book.n == 0) {
            ck_assert_int_eq(tal_time_stepper_advance(m.stepper, m.state, 2.0, &outcome), TAL_OK);
        }
        ck_assert_int_eq(outcome, TAL_OUTCOME_EVENT);
        ck_assert_str_eq(book.text, way == 0 ? "P:trig V:trig " : "P:trig ");
        end_stepper_model(&m);
    }
}

END_TEST

// --- times ---

static double twice(void *context, const tal_system *system, const tal_state *state, double after)
{
    (void)context;
    (void)system;
    (void)state;
    return after < 0.25 ? 0.25 : after < 0.5 ? 0.5 : (double)INFINITY;
}

START_TEST(appointments_are_kept_exactly)
{
    logbook book = {.n = 0}, own = {.n = 0}, listed = {.n = 0};
    entry periodic = {&book, "p", 0.0, NULL, NULL, NULL, {-1}, false}, f = periodic, l = periodic;
    f.book = &own;
    f.name = "f";
    l.book = &listed;
    l.name = "l";
    stepper_model m = begin_stepper_model(9.81);
    (void)add_pendulum(&m);
    tal_happening def = happening(&periodic, true);
    def.period = 0.1;
    (void)tal_events_add(m.events, &def);
    def = happening(&f, false);
    def.next_time = twice;
    (void)tal_events_add(m.events, &def);
    const double times[] = {0.0, 1.0 / 3.0, 0.7, 5.0};
    def = at_times(&l, true, times, 4);
    (void)tal_events_add(m.events, &def);
    finish_stepper_model(&m, NULL, NULL);
    (void)tal_state_set_q(m.state, &(double){1.0}, 1);
    run_stepper(&m, 0.45);
    run_stepper(&m, 1.0);
    ck_assert_int_eq(book.n, 11);
    for (int i = 0; i < 11; ++i) {
        ck_assert_double_eq(book.t[i], 0.1 * i);
    }
    ck_assert_int_eq(own.n, 2);
    ck_assert_double_eq(own.t[0], 0.25);
    ck_assert_double_eq(own.t[1], 0.5);
    ck_assert_int_eq(listed.n, 3);
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq(listed.t[i], times[i]);
    }
    end_stepper_model(&m);
}

END_TEST

// Periods whose multiples round badly neither repeat nor skip.
START_TEST(a_period_never_stumbles)
{
    for (int k = 1; k <= 30; ++k) {
        logbook book = {.n = 0};
        entry it = {&book, "p", 0.0, NULL, NULL, NULL, {-1}, false};
        const double period = 0.1 / (3.0 * k), first = 0.07 * k;
        stepper_model m = begin_stepper_model(9.81);
        (void)add_point(&m);
        tal_happening def = happening(&it, true);
        def.period = period;
        def.first = first;
        (void)tal_events_add(m.events, &def);
        finish_stepper_model(&m, NULL, NULL);
        run_stepper(&m, first + 20.5 * period);
        ck_assert_int_eq(book.n, 21);
        for (int i = 0; i < 21; ++i) {
            ck_assert_double_eq(book.t[i], first + i * period);
        }
        end_stepper_model(&m);
    }
}

END_TEST

// A State moved in time by hand keeps the appointments that lie ahead of it.
START_TEST(a_state_changed_between_calls_is_taken_as_it_is)
{
    logbook book = {.n = 0};
    entry p = {&book, "p", 0.0, NULL, NULL, NULL, {-1}, false}, w = p;
    w.name = "w";
    stepper_model m = begin_stepper_model(0.0);
    (void)add_point(&m);
    tal_happening def = happening(&p, false);
    def.period = 1.0;
    def.first = 0.5;
    (void)tal_events_add(m.events, &def);
    def = happening(&w, false);
    def.witness = first_q;
    (void)tal_events_add(m.events, &def);
    finish_stepper_model(&m, NULL, NULL);
    const double q[] = {1.0, 0.0, 0.0}, back[] = {-1.0, 0.0, 0.0};
    (void)tal_state_set_q(m.state, q, 3);
    run_stepper(&m, 1.0);
    (void)tal_state_set_t(m.state, 3.2);
    (void)tal_state_set_q(m.state, back, 3);
    run_stepper(&m, 4.0);
    ck_assert_str_eq(book.text, "p:sched p:sched ");
    ck_assert_double_eq(book.t[1], 3.5);
    end_stepper_model(&m);
}

END_TEST

// --- flags ---

START_TEST(an_event_that_is_off_does_not_happen)
{
    logbook book = {.n = 0};
    entry off = {&book, "off", 1.0, NULL, NULL, NULL, {-1}, false}, on = off, later = off;
    on.name = "on", on.t = 0.5;
    later.name = "later", later.t = 1.5;
    stepper_model m = begin_stepper_model(9.81);
    (void)add_point(&m);
    tal_happening def = triggered(&off, false, TAL_STAGE_TIME);
    def.begins_inactive = true;
    def.period = 0.25;
    const tal_event_ix off_ix = tal_events_add(m.events, &def);
    def = triggered(&later, false, TAL_STAGE_TIME);
    def.begins_inactive = true;
    const tal_event_ix later_ix = tal_events_add(m.events, &def);
    def = triggered(&on, false, TAL_STAGE_TIME);
    (void)tal_events_add(m.events, &def);
    finish_stepper_model(&m, NULL, NULL);
    run_stepper(&m, 0.6);
    ck_assert(!tal_event_is_active(m.system, m.state, off_ix));
    ck_assert_int_eq(tal_event_set_active(m.system, m.state, later_ix, true), TAL_OK);
    ck_assert(tal_event_is_active(m.system, m.state, later_ix));
    (void)tal_state_invalidate(m.state, TAL_STAGE_TIME);
    run_stepper(&m, 2.0);
    ck_assert_str_eq(book.text, "on:trig later:trig ");
    // somebody may signal what is off
    ck_assert_int_eq(tal_event_signal(m.system, m.state, off_ix), TAL_OK);
    run_stepper(&m, 2.1);
    ck_assert_str_eq(book.text, "on:trig later:trig off:signal ");
    ck_assert_double_eq(book.t[2], 2.0);
    end_stepper_model(&m);
}

END_TEST

// --- ends of runs ---

START_TEST(a_handler_ends_the_run)
{
    logbook book = {.n = 0};
    entry stop = {&book, "stop", 0.3, NULL, NULL, NULL, {-1}, true}, last = stop;
    last.name = "last";
    last.terminates = false;
    stepper_model m = begin_stepper_model(9.81);
    (void)add_point(&m);
    tal_happening def = triggered(&stop, false, TAL_STAGE_TIME);
    def.window = 1e-9;
    (void)tal_events_add(m.events, &def);
    def = happening(&last, false);
    def.causes = ON_END | ON_STEP;
    (void)tal_events_add(m.events, &def);
    finish_stepper_model(&m, NULL, NULL);
    ck_assert_int_eq(run_stepper(&m, 5.0), TAL_OUTCOME_TERMINATED);
    ck_assert_double_eq_tol(tal_state_t(m.state), 0.3, 1e-9);
    ck_assert_ptr_nonnull(strstr(book.text, "stop:trig last:end"));
    ck_assert_int_eq(run_stepper(&m, 5.0), TAL_OUTCOME_TERMINATED);
    end_stepper_model(&m);
}

END_TEST

typedef struct watcher {
    tal_progress last;
    int calls, stop_at;
} watcher;

static bool watch_progress(void *context, const tal_progress *progress)
{
    watcher *it = context;
    ck_assert_double_gt(progress->t, it->last.t);
    it->last = *progress;
    return ++it->calls != it->stop_at;
}

START_TEST(a_run_can_be_watched_and_cancelled)
{
    watcher it = {.stop_at = 5};
    stepper_model m = begin_stepper_model(9.81);
    (void)add_pendulum(&m);
    tal_time_stepper_def run = tal_time_stepper_def_default();
    run.progress = watch_progress;
    run.progress_context = &it;
    finish_stepper_model(&m, NULL, &run);
    (void)tal_state_set_q(m.state, &(double){1.0}, 1);
    ck_assert_int_eq(run_stepper(&m, 5.0), TAL_OUTCOME_CANCELLED);
    ck_assert_int_eq(it.calls, 5);
    ck_assert_double_eq(it.last.t, tal_state_t(m.state));
    ck_assert_double_eq(it.last.remaining, 5.0 - it.last.t);
    ck_assert_uint_eq(it.last.steps, 5);
    ck_assert_double_gt(it.last.step, 0.0);
    ck_assert_double_gt(it.last.error, 0.0);
    ck_assert_double_le(it.last.error, 1e-3);
    ck_assert_int_eq(run_stepper(&m, 5.0), TAL_OUTCOME_REACHED_TIME);
    ck_assert_double_eq(it.last.remaining, 0.0);
    end_stepper_model(&m);
}

END_TEST

START_TEST(every_call_is_bounded)
{
    logbook book = {.n = 0};
    entry it = {&book, "often", 0.0, NULL, NULL, NULL, {-1}, false};
    stepper_model m = begin_stepper_model(9.81);
    (void)add_pendulum(&m);
    tal_happening def = happening(&it, false);
    def.period = 0.01;
    (void)tal_events_add(m.events, &def);
    tal_time_stepper_def run = tal_time_stepper_def_default();
    run.max_events = 10;
    run.max_steps = 5;
    finish_stepper_model(&m, NULL, &run);
    tal_outcome outcome = TAL_OUTCOME_END;
    ck_assert_int_eq(tal_time_stepper_step_to(m.stepper, m.state, 1.0, &outcome),
                     TAL_ERR_STEP_LIMIT);
    ck_assert_int_eq(outcome, TAL_OUTCOME_FAILED);
    ck_assert_ptr_nonnull(strstr(tal_time_stepper_error(m.stepper)->message, "5 steps"));
    end_stepper_model(&m);

    m = begin_stepper_model(9.81);
    (void)add_pendulum(&m);
    (void)tal_events_add(m.events, &def);
    run.max_steps = 0;
    finish_stepper_model(&m, NULL, &run);
    ck_assert_int_eq(tal_time_stepper_step_to(m.stepper, m.state, 1.0, NULL), TAL_ERR_EVENT_LIMIT);
    ck_assert_ptr_nonnull(strstr(tal_time_stepper_error(m.stepper)->message, "'often'"));
    end_stepper_model(&m);
}

END_TEST

// Two events that signal one another would go on for ever.
START_TEST(events_that_signal_each_other_are_bounded)
{
    logbook book = {.n = 0};
    entry a = {&book, "a", 0.0, signal_other, NULL, NULL, {0}, false}, b = a;
    b.name = "b";
    a.other = (tal_event_ix){1};
    stepper_model m = begin_stepper_model(9.81);
    (void)add_pendulum(&m);
    tal_happening def = happening(&a, false);
    (void)tal_events_add(m.events, &def);
    def = happening(&b, false);
    (void)tal_events_add(m.events, &def);
    tal_time_stepper_def run = tal_time_stepper_def_default();
    run.max_events = 1000;
    finish_stepper_model(&m, NULL, &run);
    (void)tal_event_signal(m.system, m.state, (tal_event_ix){0});
    ck_assert_int_eq(tal_time_stepper_step_to(m.stepper, m.state, 1.0, NULL), TAL_ERR_EVENT_LIMIT);
    end_stepper_model(&m);
}

END_TEST

// --- determinism ---

// The State is private to reporters: whatever is done to it disturbs nobody.
static tal_status spoil(void *context, const tal_system *system, tal_state *state,
                        tal_event_cause cause)
{
    (void)context;
    (void)system;
    (void)cause;
    (void)tal_state_set_t(state, -1.0);
    for (int i = 0; i < tal_state_ny(state); ++i) {
        tal_state_upd_y(state)[i] = 1e10;
    }
    return TAL_OK;
}

static double ydot_hash(const tal_state *state)
{
    double sum = 0.0;
    for (int i = 0; i < tal_state_ny(state); ++i) {
        sum += (i + 1) * tal_state_ydot(state)[i];
    }
    return sum;
}

// The steps are the same, bit for bit, whoever looks and however often; twice the same run too.
START_TEST(reports_do_not_disturb_the_run)
{
    double q[3], rates[3];
    uint64_t steps[3];
    for (int way = 0; way < 3; ++way) {
        logbook book = {.n = 0};
        entry it = {&book, "r", 0.0, NULL, NULL, NULL, {-1}, false};
        stepper_model m = begin_stepper_model(9.81);
        (void)add_pendulum(&m);
        tal_happening def = happening(&it, true);
        def.period = 0.0137;
        def.causes = ON_STEP | ON_INIT;
        def.report = spoil;
        if (way == 2) (void)tal_events_add(m.events, &def);
        const tal_integrator_def fine = dormand_prince(1e-7);
        finish_stepper_model(&m, &fine, NULL);
        (void)tal_state_set_q(m.state, &(double){2.0}, 1);
        run_stepper(&m, 3.0);
        q[way] = tal_state_q(m.state)[0];
        rates[way] = ydot_hash(m.state);
        steps[way] = tal_time_stepper_statistics(m.stepper).steps;
        end_stepper_model(&m);
    }
    for (int way = 1; way < 3; ++way) {
        ck_assert_double_eq(q[way], q[0]);
        ck_assert_double_eq(rates[way], rates[0]);
        ck_assert_uint_eq(steps[way], steps[0]);
    }
}

END_TEST

// --- failures ---

static tal_status not_a_number(void *context, const tal_system *system, tal_state *state,
                               double *value)
{
    (void)context;
    (void)system;
    *value = tal_state_t(state) > 0.2 ? (double)NAN : 1.0;
    return TAL_OK;
}

static tal_status fails(void *context, const tal_system *system, tal_state *state, double *value)
{
    (void)context;
    (void)system;
    *value = 1.0;
    return tal_state_t(state) > 0.2 ? TAL_ERR_SINGULAR : TAL_OK;
}

static tal_status bad_handler(void *context, const tal_system *system, tal_state *state,
                              tal_event_cause cause, bool *terminate)
{
    (void)context;
    (void)system;
    (void)cause;
    (void)terminate;
    (void)state;
    return TAL_RETRY;
}

static tal_status bad_reporter(void *context, const tal_system *system, tal_state *state,
                               tal_event_cause cause)
{
    (void)context;
    (void)system;
    (void)cause;
    return tal_state_fail(state, TAL_ERR_FILE, "the disk is full");
}

static double nan_time(void *context, const tal_system *system, const tal_state *state,
                       double after)
{
    (void)context;
    (void)system;
    (void)state;
    (void)after;
    return (double)NAN;
}

static double past_time(void *context, const tal_system *system, const tal_state *state,
                        double after)
{
    (void)context;
    (void)system;
    (void)state;
    return after;
}

static void must_fail(tal_happening def, tal_status expected, const char *part)
{
    stepper_model m = begin_stepper_model(9.81);
    (void)add_pendulum(&m);
    (void)tal_events_add(m.events, &def);
    finish_stepper_model(&m, NULL, NULL);
    tal_outcome outcome = TAL_OUTCOME_END;
    const tal_status st = tal_time_stepper_step_to(m.stepper, m.state, 1.0, &outcome);
    const tal_error *err = tal_time_stepper_error(m.stepper);
    ck_assert_int_eq(st, expected);
    ck_assert_int_eq(err->status, expected);
    ck_assert_int_eq(outcome, TAL_OUTCOME_FAILED);
    ck_assert_msg(strstr(err->message, part) != NULL, "'%s' lacks '%s'", err->message, part);
    end_stepper_model(&m);
}

START_TEST(failures_name_the_event)
{
    entry it = {NULL, "gauge", 0.0, NULL, NULL, NULL, {-1}, false};
    tal_happening def = happening(&it, false);
    def.witness = not_a_number;
    must_fail(def, TAL_ERR_NOT_FINITE, "the witness of event 'gauge' of 'events' is");
    def.witness = one;
    def.rate = not_a_number;
    must_fail(def, TAL_ERR_NOT_FINITE, "the rate of the witness of event 'gauge'");
    def.rate = NULL;
    def.witness = fails;
    must_fail(def, TAL_ERR_SINGULAR, "the witness of event 'gauge' failed");
    def.witness = NULL;
    def.next_time = nan_time;
    must_fail(def, TAL_ERR_NOT_FINITE, "event 'gauge' of 'events' appoints");
    def.next_time = past_time;
    must_fail(def, TAL_ERR_BAD_VALUE, "event 'gauge' of 'events' appoints");
    def.handle = NULL;
    def.report = look;
    must_fail(def, TAL_ERR_BAD_VALUE, "event 'gauge' of 'events' appoints");
    def.next_time = NULL;
    def.period = 0.3;
    def.report = bad_reporter;
    must_fail(def, TAL_ERR_FILE, "the disk is full");
    def.report = NULL;
    def.handle = bad_handler;
    must_fail(def, TAL_ERR_CALLBACK, "event 'gauge' failed");
    def.period = 0.0;
    def.causes = ON_INIT;
    must_fail(def, TAL_ERR_CALLBACK, "event 'gauge' failed");
    def.causes = ON_END;
    def.handle = NULL;
    def.report = bad_reporter;
    def.causes = ON_STEP;
    must_fail(def, TAL_ERR_FILE, "the disk is full");
}

END_TEST

static tal_status nan_force(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                            double f[])
{
    (void)self;
    (void)F;
    if (tal_state_t(context->state) > 0.5) f[0] = (double)NAN;
    return TAL_OK;
}

// The State is left at the last good step, and the sentence names the force.
START_TEST(a_nan_of_a_force_ends_the_run_by_name)
{
    static const tal_force_ops ops = {.size = sizeof ops, .name = "nan", .apply = nan_force};
    stepper_model m = begin_stepper_model(9.81);
    (void)add_pendulum(&m);
    (void)tal_forces_add(m.forces, "hiccup", &ops, NULL);
    finish_stepper_model(&m, NULL, NULL);
    (void)tal_state_set_q(m.state, &(double){1.0}, 1);
    ck_assert_int_eq(tal_time_stepper_step_to(m.stepper, m.state, 1.0, NULL), TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_time_stepper_error(m.stepper)->message, "force 'hiccup'"));
    ck_assert_double_le(tal_state_t(m.state), 0.5);
    ck_assert_double_gt(tal_state_t(m.state), 0.4);
    ck_assert_int_ge(tal_state_stage(m.state), TAL_STAGE_ACCELERATION);
    end_stepper_model(&m);
}

END_TEST

// --- what is refused ---

static void must_refuse(tal_happening def, const char *part)
{
    tal_system *system = tal_system_create(NULL);
    tal_events *events = tal_events_create(system);
    ck_assert_int_lt(tal_events_add(events, &def).i, 0);
    tal_error err = {0};
    ck_assert_int_lt(tal_system_realize_topology(system, &err), TAL_OK);
    ck_assert_msg(strstr(err.message, part) != NULL, "'%s' lacks '%s'", err.message, part);
    // later adds do nothing
    ck_assert_int_lt(tal_events_add(events, &def).i, 0);
    tal_system_destroy(system);
}

START_TEST(a_bad_happening_is_refused_with_the_value)
{
    entry it = {NULL, "x", 0.0, NULL, NULL, NULL, {-1}, false};
    const tal_happening good = triggered(&it, false, TAL_STAGE_POSITION);
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, -1.0};
    for (int k = 0; k < 4; ++k) {
        tal_happening def = good;
        def.window = bad[k];
        must_refuse(def, "event 'x': its window is");
        def = good;
        def.separation = bad[k];
        must_refuse(def, "event 'x': its separation is");
        def = good;
        def.period = bad[k];
        must_refuse(def, "event 'x': its period is");
        if (k == 3) continue;
        def = good;
        def.first = bad[k];
        must_refuse(def, "event 'x': its first time is");
        def = good;
        def.times = &bad[k];
        def.num_times = 1;
        must_refuse(def, "event 'x': its times are not ascending");
    }
    tal_happening def = good;
    const double falls[] = {1.0, 1.0};
    def.times = falls;
    def.num_times = 2;
    must_refuse(def, "not ascending at 1");
    def.num_times = -1;
    must_refuse(def, "num_times is -1");
    def = good;
    def.num_times = 3;
    must_refuse(def, "num_times is 3");
    def = good;
    def.period = 1.0;
    def.next_time = twice;
    must_refuse(def, "is enough, not 2");
    def = good;
    def.handle = NULL;
    must_refuse(def, "give one of handle and report, not 0");
    def.name = NULL;
    must_refuse(def, "(no name)");
    def = good;
    def.report = look;
    must_refuse(def, "give one of handle and report, not 2");
    def = good;
    def.stage = TAL_STAGE_INSTANCE;
    must_refuse(def, "no witness is computed at stage");
    def = good;
    def.rate = first_u;
    def.rate_stage = TAL_STAGE_MODEL;
    must_refuse(def, "no rate is computed at stage");
    def.rate_stage = TAL_STAGE_VELOCITY;
    def.witness = NULL;
    must_refuse(def, "a rate without a witness");
    def = good;
    def.crossing = (tal_crossing)7;
    must_refuse(def, "there is no crossing 7");
    def = good;
    def.causes = 1u << TAL_EVENT_TRIGGERED;
    must_refuse(def, "these are no causes");
}

END_TEST

START_TEST(a_bad_def_is_refused_with_the_value)
{
    stepper_model m = begin_stepper_model(9.81);
    (void)add_pendulum(&m);
    finish_stepper_model(&m, NULL, NULL);
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, -1.0};
    tal_time_stepper *out = m.stepper;
    tal_error err = {0};
    tal_time_stepper_def def = tal_time_stepper_def_default();
    for (int k = 0; k < 4; ++k) {
        def = tal_time_stepper_def_default();
        def.checkpoint_period = bad[k];
        ck_assert_int_eq(tal_time_stepper_create(m.integ, &def, &out, &err), TAL_ERR_BAD_VALUE);
        ck_assert_ptr_null(out);
        ck_assert_ptr_nonnull(strstr(err.message, "checkpoint_period is"));
        if (k % 2 == 1) continue;
        def = tal_time_stepper_def_default();
        def.final_time = bad[k];
        ck_assert_int_eq(tal_time_stepper_create(m.integ, &def, &out, &err), TAL_ERR_BAD_VALUE);
        ck_assert_ptr_nonnull(strstr(err.message, "final_time is"));
    }
    def = tal_time_stepper_def_default();
    def.max_steps = -1;
    ck_assert_int_eq(tal_time_stepper_create(m.integ, &def, &out, &err), TAL_ERR_BAD_VALUE);
    def = tal_time_stepper_def_default();
    def.max_events = -1;
    ck_assert_int_eq(tal_time_stepper_create(m.integ, &def, &out, &err), TAL_ERR_BAD_VALUE);
    def = tal_time_stepper_def_default();
    def.zeno_events = 0;
    ck_assert_int_eq(tal_time_stepper_create(m.integ, &def, &out, &err), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_time_stepper_create(NULL, NULL, &out, &err), TAL_ERR_NULL);

    // times that cannot be reached: the State is untouched
    tal_state *before = NULL;
    ck_assert_int_eq(tal_state_create(m.system, &before, &err), TAL_OK);
    (void)tal_state_copy(before, m.state);
    const double times[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, -1.0};
    for (int k = 0; k < 4; ++k) {
        ck_assert_int_eq(tal_time_stepper_step_to(m.stepper, m.state, times[k], NULL),
                         TAL_ERR_BAD_VALUE);
        ck_assert_ptr_nonnull(
            strstr(tal_time_stepper_error(m.stepper)->message, "cannot step to t = "));
        ck_assert(tal_state_is_equal(before, m.state));
    }
    tal_state_destroy(before);
    end_stepper_model(&m);
}

END_TEST

START_TEST(broken_contracts_are_told)
{
    test_record_breaches();
    stepper_model m = begin_stepper_model(9.81);
    (void)add_pendulum(&m);
    finish_stepper_model(&m, NULL, NULL);
    tal_happening def = tal_happening_default();
    const tal_event_ix none = {-1};
    test_assert_breach((void)!tal_time_stepper_create(m.integ, NULL, NULL, NULL), TAL_ERR_NULL,
                       "out");
    test_assert_breach((void)!tal_time_stepper_step_to(NULL, m.state, 1.0, NULL), TAL_ERR_NULL,
                       "stepper");
    test_assert_breach((void)!tal_time_stepper_step_to(m.stepper, NULL, 1.0, NULL), TAL_ERR_NULL,
                       "State");
    test_assert_breach((void)!tal_time_stepper_advance(NULL, m.state, 1.0, NULL), TAL_ERR_NULL,
                       "stepper");
    test_assert_breach((void)!tal_time_stepper_advance(m.stepper, NULL, 1.0, NULL), TAL_ERR_NULL,
                       "State");
    test_assert_breach((void)tal_time_stepper_statistics(NULL), TAL_ERR_NULL, "stepper");
    test_assert_breach((void)tal_time_stepper_direction(NULL, none), TAL_ERR_NULL, "no event");
    test_assert_breach((void)tal_time_stepper_direction(m.stepper, none), TAL_ERR_BAD_INDEX,
                       "no event -1");
    test_assert_breach((void)tal_events_create(NULL), TAL_ERR_NULL, "System");
    test_assert_breach((void)tal_events_add(NULL, &def), TAL_ERR_NULL, "events");
    test_assert_breach((void)tal_events_add(m.events, NULL), TAL_ERR_NULL, "happening");
    test_assert_breach((void)tal_events_add(m.events, &def), TAL_ERR_TOPOLOGY, "realized");
    ck_assert_int_eq(tal_events_subsystem(NULL).i, -1);
    ck_assert_int_ge(tal_events_subsystem(m.events).i, 0);
    ck_assert_str_eq(tal_outcome_name(TAL_OUTCOME_REACHED_TIME), "reached time");
    ck_assert_str_eq(tal_outcome_name((tal_outcome)99), "(no outcome)");
    ck_assert_int_eq(tal_time_stepper_error(NULL)->status, TAL_ERR_NULL);
    tal_time_stepper_destroy(NULL);
    tal_time_stepper_reset(NULL);
    end_stepper_model(&m);
}

END_TEST

// --- a subsystem of one's own ---

typedef struct custom {
    tal_group_ix triggers;
    tal_event_ix events[2];
    int handled, reported;
} custom;

static double at_half(const void *context, const tal_system *system, const tal_state *state,
                      double after)
{
    (void)system;
    (void)state;
    ck_assert_ptr_nonnull(context);
    return after < 0.5 ? 0.5 : (double)INFINITY;
}

static tal_status custom_declare(void *self, tal_system *system, tal_subsystem_ix me)
{
    custom *it = self;
    tal_group_def group = tal_group_def_default();
    group.pool = TAL_POOL_TRIGGER;
    group.capacity = 2;
    group.stage = TAL_STAGE_TIME;
    it->triggers = tal_system_add_group(system, me, &group);
    tal_event_def event = tal_event_def_default();
    event.trigger = it->triggers;
    event.slot = 0;
    it->events[0] = tal_system_add_event(system, me, &event);
    event.slot = 1; // the group will be too small for it
    event.reports = true;
    event.next_time = at_half;
    it->events[1] = tal_system_add_event(system, me, &event);
    return TAL_OK;
}

static tal_status custom_instance(const void *self, const tal_system *system, tal_state *state)
{
    return tal_group_set_size(system, state, ((const custom *)self)->triggers, 1, NULL);
}

static tal_status custom_time(const void *self, const tal_system *system, tal_state *state)
{
    *tal_group_upd_triggers(system, state, ((const custom *)self)->triggers) =
        tal_state_t(state) - 0.3;
    return TAL_OK;
}

static tal_status custom_handle(const void *self, const tal_system *system, tal_state *state,
                                tal_event_cause cause, const tal_event_ix events[], int count,
                                bool *terminate)
{
    custom *it = (custom *)(uintptr_t)self; // the test's only thread
    (void)system;
    (void)terminate;
    ck_assert_int_eq(cause, TAL_EVENT_TRIGGERED);
    ck_assert_int_eq(count, 1);
    ck_assert_int_eq(events[0].i, it->events[0].i);
    ck_assert_double_eq_tol(tal_state_t(state), 0.3, 1e-4);
    ++it->handled;
    return TAL_OK;
}

static tal_status custom_report(const void *self, const tal_system *system, tal_state *state,
                                tal_event_cause cause, const tal_event_ix events[], int count)
{
    custom *it = (custom *)(uintptr_t)self;
    (void)system;
    ck_assert_int_eq(cause, TAL_EVENT_SCHEDULED);
    ck_assert_int_eq(count, 1);
    ck_assert_int_eq(events[0].i, it->events[1].i);
    ck_assert_double_eq(tal_state_t(state), 0.5);
    ++it->reported;
    return TAL_OK;
}

START_TEST(a_subsystem_of_ones_own_needs_no_events_object)
{
    static const tal_subsystem_ops ops = {
        .size = sizeof ops,
        .name = "custom",
        .realize_topology = custom_declare,
        .realize_instance = custom_instance,
        .realize_time = custom_time,
        .handle_events = custom_handle,
        .report_events = custom_report,
    };
    test_record_breaches();
    custom it = {.handled = 0};
    stepper_model m = begin_stepper_model(9.81);
    (void)add_pendulum(&m);
    (void)tal_system_add_subsystem(m.system, NULL, &ops, &it);
    finish_stepper_model(&m, NULL, NULL);
    run_stepper(&m, 1.0);
    ck_assert_int_eq(it.handled, 1);
    ck_assert_int_eq(it.reported, 1);
    ck_assert(tal_event_is_active(m.system, m.state, it.events[0]));
    test_assert_breach((void)!tal_event_signal(m.system, m.state, it.events[0]), TAL_ERR_BAD_INDEX,
                       "no flags");
    test_assert_breach((void)!tal_event_set_active(m.system, m.state, it.events[0], true),
                       TAL_ERR_BAD_INDEX, "no flags");
    end_stepper_model(&m);
}

END_TEST

// --- memory ---

static tal_status quiet_handler(void *context, const tal_system *system, tal_state *state,
                                tal_event_cause cause, bool *terminate)
{
    (void)system;
    (void)cause;
    (void)terminate;
    ++*(int *)context;
    tal_state_upd_u(state)[0] *= 0.9;
    return TAL_OK;
}

static tal_status quiet_reporter(void *context, const tal_system *system, tal_state *state,
                                 tal_event_cause cause)
{
    (void)cause;
    ++*(int *)context;
    return tal_system_realize(system, state, TAL_STAGE_REPORT);
}

START_TEST(stepping_touches_no_heap)
{
    int handled = 0, reported = 0;
    stepper_model m = begin_stepper_model(9.81);
    (void)add_pendulum(&m);
    tal_happening def = tal_happening_default();
    def.context = &handled;
    def.handle = quiet_handler;
    def.witness = first_q;
    (void)tal_events_add(m.events, &def);
    def = tal_happening_default();
    def.context = &reported;
    def.report = quiet_reporter;
    def.period = 0.05;
    (void)tal_events_add(m.events, &def);
    finish_stepper_model(&m, NULL, NULL);
    (void)tal_state_set_q(m.state, &(double){1.0}, 1);
    tal_status st = TAL_RETRY;
    test_assert_no_heap(st = tal_time_stepper_step_to(m.stepper, m.state, 5.0, NULL));
    ck_assert_int_eq(st, TAL_OK);
    ck_assert_int_ge(handled, 4);
    ck_assert_int_eq(reported, 101);
    end_stepper_model(&m);
}

END_TEST

static int blocks_left;

static void *stingy_alloc(void *context, size_t size)
{
    (void)context;
    return blocks_left-- > 0 ? tal_allocator_default().alloc(NULL, size) : NULL;
}

static void stingy_free(void *context, void *block, size_t size)
{
    (void)context;
    tal_allocator_default().free(NULL, block, size);
}

// Every allocation fails once: building, topology and create tell, and nothing is lost.
START_TEST(memory_may_run_out)
{
    const double times[] = {0.1, 0.2};
    entry it = {NULL, "x", 0.0, NULL, NULL, NULL, {-1}, false};
    tal_status st = TAL_ERR_NO_MEMORY;
    int k = 0;
    for (; st != TAL_OK && k < 1000; ++k) {
        tal_system_def def = tal_system_def_default();
        def.allocator.alloc = stingy_alloc;
        def.allocator.free = stingy_free;
        blocks_left = k;
        tal_system *system = tal_system_create(&def);
        if (system == NULL) continue;
        tal_events *events = tal_events_create(system);
        const tal_happening happens = at_times(&it, false, times, 2);
        if (events != NULL) (void)tal_events_add(events, &happens);
        tal_integrator *integ = NULL;
        tal_time_stepper *stepper = NULL;
        tal_error err = {0};
        st = tal_system_realize_topology(system, &err);
        if (st == TAL_OK) st = tal_integrator_create(system, NULL, &integ, &err);
        if (st == TAL_OK) st = tal_time_stepper_create(integ, NULL, &stepper, &err);
        ck_assert_msg(st == TAL_OK || st == TAL_ERR_NO_MEMORY, "%s", err.message);
        tal_time_stepper_destroy(stepper);
        tal_integrator_destroy(integ);
        tal_system_destroy(system);
    }
    ck_assert_int_eq(st, TAL_OK);
    ck_assert_int_gt(k, 10);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/time_stepper");
    TCase *order = tcase_create("order");
    tcase_add_test(order, events_of_one_time_are_handled_in_this_order);
    tcase_add_test(order, a_change_at_instance_forgets_later_triggers);
    tcase_add_test(order, triggers_that_the_state_no_longer_shows_are_forgotten);
    tcase_add_test(order, appointments_are_kept_exactly);
    tcase_add_test(order, a_period_never_stumbles);
    tcase_add_test(order, a_state_changed_between_calls_is_taken_as_it_is);
    tcase_add_test(order, an_event_that_is_off_does_not_happen);
    tcase_add_test(order, a_subsystem_of_ones_own_needs_no_events_object);
    suite_add_tcase(suite, order);
    TCase *ends = tcase_create("ends");
    tcase_add_test(ends, a_handler_ends_the_run);
    tcase_add_test(ends, a_run_can_be_watched_and_cancelled);
    tcase_add_test(ends, every_call_is_bounded);
    tcase_add_test(ends, events_that_signal_each_other_are_bounded);
    tcase_add_test(ends, reports_do_not_disturb_the_run);
    suite_add_tcase(suite, ends);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, failures_name_the_event);
    tcase_add_test(errors, a_nan_of_a_force_ends_the_run_by_name);
    tcase_add_test(errors, a_bad_happening_is_refused_with_the_value);
    tcase_add_test(errors, a_bad_def_is_refused_with_the_value);
    tcase_add_test(errors, broken_contracts_are_told);
    suite_add_tcase(suite, errors);
    TCase *alloc = tcase_create("alloc");
    tcase_add_test(alloc, stepping_touches_no_heap);
    tcase_add_test(alloc, memory_may_run_out);
    suite_add_tcase(suite, alloc);
    return test_run(suite);
}
