// Tests for study/src/event/time_stepper.c, occasions.c and events.c: failures, what is refused,
// memory.
#include "alloc_guard.h"
#include "event_log.h"

#include <math.h>

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
    // what has failed stays failed
    const double t = tal_state_t(m.state);
    ck_assert_int_eq(tal_time_stepper_step_to(m.stepper, m.state, 1.0, NULL), expected);
    ck_assert_double_eq(tal_state_t(m.state), t);
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
    must_fail(def, TAL_ERR_NOT_FINITE, "event 'gauge' of 'events' schedules");
    def.next_time = past_time;
    must_fail(def, TAL_ERR_BAD_VALUE, "event 'gauge' of 'events' schedules");
    def.handle = NULL;
    def.report = look;
    must_fail(def, TAL_ERR_BAD_VALUE, "event 'gauge' of 'events' schedules");
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

static double twice(void *context, const tal_system *system, const tal_state *state, double after)
{
    (void)context;
    (void)system;
    (void)state;
    return after < 0.25 ? 0.25 : after < 0.5 ? 0.5 : (double)INFINITY;
}

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
    must_refuse(def, "its crossing is invalid: 7");
    def = good;
    def.causes = 1u << TAL_EVENT_TRIGGERED;
    must_refuse(def, "its causes are invalid");
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

START_TEST(broken_contracts_are_reported)
{
    test_record_breaches();
    stepper_model m = begin_stepper_model(9.81);
    (void)add_pendulum(&m);
    finish_stepper_model(&m, NULL, NULL);
    tal_happening def = tal_happening_default();
    const tal_event_ix none = {-1};
    test_assert_refused(tal_time_stepper_create(m.integ, NULL, NULL, NULL), TAL_ERR_NULL, "out");
    test_assert_refused(tal_time_stepper_step_to(NULL, m.state, 1.0, NULL), TAL_ERR_NULL,
                        "stepper");
    test_assert_refused(tal_time_stepper_step_to(m.stepper, NULL, 1.0, NULL), TAL_ERR_NULL,
                        "State");
    test_assert_refused(tal_time_stepper_advance(NULL, m.state, 1.0, NULL), TAL_ERR_NULL,
                        "stepper");
    test_assert_refused(tal_time_stepper_advance(m.stepper, NULL, 1.0, NULL), TAL_ERR_NULL,
                        "State");
    test_assert_breach((void)tal_time_stepper_statistics(NULL), TAL_ERR_NULL, "stepper");
    test_assert_breach((void)tal_time_stepper_direction(NULL, none), TAL_ERR_NULL, "no event");
    test_assert_breach((void)tal_time_stepper_direction(m.stepper, none), TAL_ERR_BAD_INDEX,
                       "no event -1");
    test_assert_breach((void)tal_events_create(NULL), TAL_ERR_NULL, "System");
    test_assert_breach((void)tal_events_add(NULL, &def), TAL_ERR_NULL, "events");
    test_assert_breach((void)tal_events_add(m.events, NULL), TAL_ERR_NULL, "happening");
    test_assert_breach((void)tal_events_add(m.events, &def), TAL_ERR_TOPOLOGY, "realized");
    tal_system *half = tal_system_create(NULL); // while a System is built, a NULL is remembered
    tal_error err = {0};
    test_assert_breach((void)tal_events_add(tal_events_create(half), NULL), TAL_ERR_NULL,
                       "happening");
    ck_assert_int_eq(tal_system_realize_topology(half, &err), TAL_ERR_NULL);
    ck_assert_str_eq(err.message, "the happening is NULL");
    tal_system_destroy(half);
    ck_assert_int_eq(tal_events_subsystem(NULL).i, -1);
    ck_assert_int_ge(tal_events_subsystem(m.events).i, 0);
    ck_assert_ptr_eq(tal_subsystem_events(m.system, tal_events_subsystem(m.events)), m.events);
    ck_assert_ptr_null(tal_subsystem_events(m.system, (tal_subsystem_ix){0}));
    ck_assert_str_eq(tal_outcome_name(TAL_OUTCOME_REACHED_TIME), "reached time");
    ck_assert_str_eq(tal_outcome_name((tal_outcome)99), "(no outcome)");
    ck_assert_int_eq(tal_time_stepper_error(NULL)->status, TAL_ERR_NULL);
    tal_time_stepper_destroy(NULL);
    tal_time_stepper_reset(NULL);
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

// Every allocation fails once: building, topology and create tell, and nothing is lost.
START_TEST(memory_may_run_out)
{
    const double times[] = {0.1, 0.2};
    entry it = {NULL, "x", 0.0, NULL, NULL, NULL, {-1}, false};
    tal_status st = TAL_ERR_NO_MEMORY;
    int k = 1;
    for (; st != TAL_OK && k < 1000; ++k) {
        tal_system_def def = tal_system_def_default();
        test_heap heap = {.refuse_at = k};
        def.allocator = test_heap_allocator(&heap);
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
        if (st == TAL_OK) test_assert_never_refused(&heap);
        tal_time_stepper_destroy(stepper);
        tal_integrator_destroy(integ);
        tal_system_destroy(system);
        ck_assert_int_eq(heap.live, 0);
    }
    ck_assert_int_eq(st, TAL_OK);
    ck_assert_int_gt(k, 10);
}

END_TEST

static tal_status count_call(void *context, const tal_system *system, tal_state *state,
                             tal_event_cause cause, bool *terminate)
{
    (void)system, (void)state, (void)cause, (void)terminate;
    ++*(int *)context;
    return TAL_OK;
}

// At 1e9 s neighbouring doubles are 1.2e-7 s apart: an event every 1e-9 s, or 1e-300 s, happens at
// every time that there is, checkpoints likewise, and the limit of steps ends what would go on for
// long.
START_TEST(periods_that_time_cannot_resolve_do_not_hold_up_a_run)
{
    for (int k = 0; k < 4; ++k) {
        const double period = k % 2 == 0 ? 1e-9 : 1e-300;
        const bool is_event = k < 2;
        int calls = 0;
        stepper_model m = begin_stepper_model(9.81);
        add_pendulum(&m);
        tal_happening tick = tal_happening_default();
        tick.context = &calls;
        tick.handle = count_call;
        tick.period = is_event ? period : 1e6;
        (void)tal_events_add(m.events, &tick);
        tal_time_stepper_def run = tal_time_stepper_def_default();
        run.checkpoint_period = is_event ? 0.0 : period;
        run.max_steps = 20;
        finish_stepper_model(&m, NULL, &run);
        tal_state_set_t(m.state, 1e9);
        tal_outcome outcome = TAL_OUTCOME_FAILED;
        const tal_status st = tal_time_stepper_step_to(m.stepper, m.state, 1e9 + 1.0, &outcome);
        ck_assert_int_eq(st, TAL_ERR_STEP_LIMIT);
        ck_assert_double_eq(tal_state_t(m.state), 1e9 + 20.0 * (nextafter(1e9, 2e9) - 1e9));
        ck_assert_int_eq(calls, is_event ? 21 : 1);
        end_stepper_model(&m);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/stepper_errors");
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, failures_name_the_event);
    tcase_add_test(errors, a_nan_of_a_force_ends_the_run_by_name);
    tcase_add_test(errors, a_bad_happening_is_refused_with_the_value);
    tcase_add_test(errors, a_bad_def_is_refused_with_the_value);
    tcase_add_test(errors, broken_contracts_are_reported);
    tcase_add_test(errors, periods_that_time_cannot_resolve_do_not_hold_up_a_run);
    suite_add_tcase(suite, errors);
    TCase *alloc = tcase_create("alloc");
    tcase_add_test(alloc, stepping_touches_no_heap);
    tcase_add_test(alloc, memory_may_run_out);
    suite_add_tcase(suite, alloc);
    return test_run(suite);
}
