// Tests for study/src/event/time_stepper.c, occasions.c and events.c: who is called when, and how
// runs end.
#include "event_log.h"

#include <math.h>

// --- the order ---

static void signal_other(entry *it)
{
    ck_assert_int_eq(tal_event_signal(it->system, it->state, it->other), TAL_OK);
}

// Everything at t = 1, declared the other way round: reporters before handlers; then triggers by
// stage, appointments, the step, and what the handler at Position has signaled (manual sec. 10.4).
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
    // a modeling variable, by invalidating its stage
    ck_assert_int_eq(tal_state_invalidate(it->state, TAL_STAGE_INSTANCE), TAL_OK);
}

static void push(entry *it)
{
    tal_state_upd_u(it->state)[0] = 1.0;
}

// "<= Instance stage change is a restart meaning later event triggers are forgotten" (manual sec.
// 10.4).
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

static tal_status second_q(void *context, const tal_system *system, tal_state *state, double *value)
{
    (void)context;
    (void)system;
    *value = tal_state_q(state)[1];
    return TAL_OK;
}

// A handler at Position turns the velocity round, or switches the other event off: a trigger of
// Velocity that was pending is not any more.
START_TEST(triggers_that_the_state_no_longer_shows_are_forgotten)
{
    for (int way = 0; way < 3; ++way) {
        logbook book = {.n = 0};
        entry P = {&book, "P", 0.0, NULL, NULL, NULL, {-1}, false}, V = P;
        V.name = "V";
        stepper_model m = begin_stepper_model(0.0);
        (void)add_point(&m);
        tal_happening def = happening(&V, false);
        def.witness = first_u;
        def.stage = TAL_STAGE_VELOCITY;
        def.window = 1e-4;
        P.other = tal_events_add(m.events, &def);
        def = happening(&P, false);
        def.witness = second_q;
        def.window = 1e-4;
        P.change = way == 0 ? NULL : way == 1 ? turn_round : switch_other_off;
        (void)tal_events_add(m.events, &def);
        // x is pushed by 1 N, so its speed is t - 1; y falls as 1 - t: both are zero at t = 1
        (void)tal_forces_add_mobility_force(m.forces, NULL, (tal_mobility){{1}, 0}, 1.0);
        finish_stepper_model(&m, NULL, NULL);
        tal_state_upd_q(m.state)[1] = 1.0;
        tal_state_upd_u(m.state)[0] = -1.0;
        tal_state_upd_u(m.state)[1] = -1.0;
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

// After the handlers of one time, at the start and in the run, and after a change between calls;
// not after steps without events.
START_TEST(a_changed_state_is_announced_once)
{
    const double times[] = {1.0};
    logbook book = {.n = 0};
    entry first = {&book, "first", 1.0, NULL, NULL, NULL, {-1}, false};
    entry second = first, after = first;
    second.name = "second", after.name = "after";
    stepper_model m = begin_stepper_model(9.81);
    (void)add_point(&m);
    tal_happening def = happening(&after, false);
    def.causes = ON_CHANGE;
    (void)tal_events_add(m.events, &def);
    def = at_times(&first, false, times, 1);
    (void)tal_events_add(m.events, &def);
    def = at_times(&second, false, times, 1);
    (void)tal_events_add(m.events, &def);
    tal_integrator_def fixed = tal_integrator_def_default();
    fixed.fixed_step = 0.5;
    finish_stepper_model(&m, &fixed, NULL);
    (void)run_stepper(&m, 2.0);
    ck_assert_str_eq(book.text, "after:changed first:sched second:sched after:changed ");
    (void)tal_state_upd_u(m.state);
    (void)run_stepper(&m, 3.0);
    ck_assert_str_eq(book.text, "after:changed first:sched second:sched after:changed "
                                "after:changed ");
    end_stepper_model(&m);
}

END_TEST

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
    // an event that is off can be signaled
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

// A reporter a million times a second: each call makes as many reports as it may, or as many as are
// made before it is cancelled. The State stands at the last of them, none is left out and none
// comes twice, and handlers are called at their times.
START_TEST(reports_are_bounded_and_can_be_cancelled)
{
    for (int cancels = 0; cancels < 2; ++cancels) {
        logbook book = {.n = 0}, handled = {.n = 0};
        entry it = {&book, "often", 0.0, NULL, NULL, NULL, {-1}, false};
        const double times[] = {2.5e-6};
        entry once = {&handled, "once", 0.0, NULL, NULL, NULL, {-1}, false};
        watcher observer = {.stop_at = 3};
        stepper_model m = begin_stepper_model(9.81);
        (void)add_pendulum(&m);
        tal_happening def = happening(&it, true);
        def.period = 1e-6;
        (void)tal_events_add(m.events, &def);
        def = at_times(&once, false, times, 1);
        (void)tal_events_add(m.events, &def);
        tal_time_stepper_def run = tal_time_stepper_def_default();
        run.max_steps = 10;
        if (cancels) run.progress = watch_progress;
        run.progress_context = &observer;
        if (!cancels) run.max_reports = 3;
        finish_stepper_model(&m, NULL, &run);
        (void)tal_state_set_q(m.state, &(double){1.0}, 1);
        int last = 0; // of the first reports, which come at t = 0 and then every period
        for (int call = 0; call < 5; ++call) {
            tal_outcome outcome = TAL_OUTCOME_END;
            observer.calls = 0;
            const tal_status st = tal_time_stepper_step_to(m.stepper, m.state, 1.0, &outcome);
            ck_assert_int_eq(st, cancels ? TAL_OK : TAL_ERR_EVENT_LIMIT);
            ck_assert_int_eq(outcome, cancels ? TAL_OUTCOME_CANCELLED : TAL_OUTCOME_FAILED);
            ck_assert_int_gt(book.n, last);
            ck_assert_int_le(book.n, last + 4);
            last = book.n;
            ck_assert_double_ge(tal_state_t(m.state), book.t[last - 1]);
        }
        for (int i = 0; i < last; ++i) {
            ck_assert_double_eq_tol(book.t[i], 1e-6 * i, 1e-20);
        }
        ck_assert_int_eq(handled.n, 1);
        ck_assert_double_eq(handled.t[0], 2.5e-6);
        end_stepper_model(&m);
    }
}

END_TEST

static tal_status zigzag(void *context, const tal_system *system, tal_state *state,
                         tal_event_cause cause, bool *terminate)
{
    (void)context, (void)system, (void)cause, (void)terminate;
    double *u = tal_state_upd_u(state);
    u[0] = -u[0];
    return TAL_OK;
}

// A point falls, and after every step its sideways speed is turned round, so that methods that look
// back restart each time. Their first steps, of order 1, have errors of g h^2 / 2, and BDF holds
// them to 0.03 accuracy^(6/5): h = 3.1e-4 s. Twice as many steps as that are allowed. Each is off
// by less than the accuracy.
START_TEST(a_run_arrives_though_a_handler_changes_the_state_at_every_step)
{
    static const tal_method methods[] = {TAL_METHOD_CVODE_BDF, TAL_METHOD_CVODE_ADAMS,
                                         TAL_METHOD_IDA, TAL_METHOD_ARKODE_EXPLICIT,
                                         TAL_METHOD_ARKODE_DIRK};
    const double g = 9.81, t = 0.3, accuracy = 1e-4;
    for (size_t k = 0; k < sizeof methods / sizeof methods[0]; ++k) {
        stepper_model m = begin_stepper_model(g);
        (void)add_point(&m);
        tal_happening step = tal_happening_default();
        step.handle = zigzag;
        step.causes = 1u << TAL_EVENT_STEP_ADVANCED;
        (void)tal_events_add(m.events, &step);
        tal_integrator_def def = tal_integrator_def_default();
        def.method = methods[k];
        def.accuracy = accuracy;
        tal_time_stepper_def run = tal_time_stepper_def_default();
        run.max_steps = 2000;
        finish_stepper_model(&m, &def, &run);
        tal_state_upd_u(m.state)[0] = 0.5;
        (void)run_stepper(&m, t);
        const double steps = (double)tal_time_stepper_statistics(m.stepper).steps;
        ck_assert_double_eq_tol(tal_state_q(m.state)[1], -0.5 * g * t * t, steps * accuracy);
        end_stepper_model(&m);
    }
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

// The State is private to reporters: changes of it have no effect on the run.
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

// The steps are the same, bit for bit, whatever is reported and how often; so are two equal runs.
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
    test_assert_refused(tal_event_signal(m.system, m.state, it.events[0]), TAL_ERR_BAD_INDEX,
                        "no flags");
    test_assert_refused(tal_event_set_active(m.system, m.state, it.events[0], true),
                        TAL_ERR_BAD_INDEX, "no flags");
    end_stepper_model(&m);
}

END_TEST

static void set_clock_on(entry *it)
{
    if (it->book->n == 1) tal_state_set_t(it->state, tal_state_t(it->state) + 0.3);
}

static void set_clock_back(entry *it)
{
    tal_state_set_t(it->state, 0.0);
    it->terminates = it->book->n == 40;
}

static void set_clock_to_five(entry *it)
{
    tal_state_set_t(it->state, 5.0);
}

// Handlers may change any variable, the time too. What is scheduled for times that the clock jumps
// over does not come; when it is set back, what has been comes again, however often: that is no
// pile of events.
START_TEST(handlers_may_set_the_clock)
{
    const double times[] = {0.5, 0.7, 0.9};
    logbook book = {.n = 0}, reports = {.n = 0};
    entry on = {.book = &book, .name = "on", .change = set_clock_on};
    entry seen = {.book = &reports, .name = "seen"};
    stepper_model m = begin_stepper_model(9.81);
    add_pendulum(&m);
    tal_happening it = at_times(&on, false, times, 3);
    (void)tal_events_add(m.events, &it);
    it = at_times(&seen, true, times, 3);
    (void)tal_events_add(m.events, &it);
    finish_stepper_model(&m, NULL, NULL);
    ck_assert_int_eq(run_stepper(&m, 1.0), TAL_OUTCOME_REACHED_TIME);
    ck_assert_double_eq(tal_state_t(m.state), 1.0);
    ck_assert_int_eq(book.n, 2);
    ck_assert_int_eq(reports.n, 2);
    const double kept[] = {0.5, 0.9};
    test_assert_near(book.t, kept, 2, 0.0, "handled");
    test_assert_near(reports.t, kept, 2, 0.0, "reported");
    end_stepper_model(&m);

    // laps of one second each, by a witness
    book = (logbook){.n = 0};
    entry lap = {.book = &book, .name = "lap", .t = 1.0, .change = set_clock_back};
    m = begin_stepper_model(9.81);
    add_pendulum(&m);
    it = triggered(&lap, false, TAL_STAGE_TIME);
    (void)tal_events_add(m.events, &it);
    finish_stepper_model(&m, NULL, NULL);
    ck_assert_int_eq(run_stepper(&m, 10.0), TAL_OUTCOME_TERMINATED);
    ck_assert_int_eq(book.n, 40);
    end_stepper_model(&m);

    // before the first step
    reports = (logbook){.n = 0};
    entry start = {.book = &book, .name = "start", .change = set_clock_to_five};
    m = begin_stepper_model(9.81);
    add_pendulum(&m);
    it = happening(&start, false);
    it.causes = ON_INIT;
    (void)tal_events_add(m.events, &it);
    it = happening(&seen, true);
    it.period = 1.0;
    (void)tal_events_add(m.events, &it);
    finish_stepper_model(&m, NULL, NULL);
    // past the time that is asked for, which is not reached
    ck_assert_int_eq(run_stepper(&m, 1.0), TAL_OUTCOME_EVENT);
    ck_assert_double_eq(tal_state_t(m.state), 5.0);
    ck_assert_int_eq(run_stepper(&m, 6.5), TAL_OUTCOME_REACHED_TIME);
    const double later[] = {5.0, 6.0};
    ck_assert_int_eq(reports.n, 2);
    test_assert_near(reports.t, later, 2, 0.0, "reported");
    end_stepper_model(&m);
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
    tcase_add_test(order, a_changed_state_is_announced_once);
    tcase_add_test(order, an_event_that_is_off_does_not_happen);
    tcase_add_test(order, handlers_may_set_the_clock);
    tcase_add_test(order, a_subsystem_of_ones_own_needs_no_events_object);
    suite_add_tcase(suite, order);
    TCase *ends = tcase_create("ends");
    tcase_add_test(ends, a_handler_ends_the_run);
    tcase_add_test(ends, a_run_can_be_watched_and_cancelled);
    tcase_add_test(ends, every_call_is_bounded);
    tcase_add_test(ends, reports_are_bounded_and_can_be_cancelled);
    tcase_add_test(ends, a_run_arrives_though_a_handler_changes_the_state_at_every_step);
    tcase_add_test(ends, events_that_signal_each_other_are_bounded);
    tcase_add_test(ends, reports_do_not_disturb_the_run);
    suite_add_tcase(suite, ends);
    return test_run(suite);
}
