// state/src/state/solve.c: steps, prescribed motion, projection, relaxation, events.
#include "talus_test.h"
#include "toy_system.h"

#include <math.h>
#include <string.h>

// --- steps, on the toy System ---

START_TEST(a_step_swaps_in_the_update_value_and_lowers_no_stage)
{
    toy made;
    ck_assert(toy_build(&made, NULL));
    tal_state *state = toy_state(&made);
    const toy_part *part = &made.part[0];
    const double q[] = {9.0, 8.0, 7.0, 6.0, 5.0, 4.0};
    ck_assert_int_eq(tal_state_set_q(state, q, 6), TAL_OK);
    ck_assert_int_eq(tal_state_set_t(state, 2.0), TAL_OK);
    ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_REPORT), TAL_OK);
    const double result =
        *(const double *)tal_cache_value(made.system, state, part->by[TAL_STAGE_REPORT]);
    const double of_peak = tal_cache_realize_double(made.system, state, part->of_peak);
    const double trigger = tal_state_triggers(state, TAL_STAGE_REPORT)[0];
    ck_assert_double_eq(tal_var_double(made.system, state, part->peak), 0.5);

    tal_state_reset_low_water(state);
    ck_assert_int_eq(tal_system_begin_step(made.system, state), TAL_OK);
    ck_assert_int_eq(tal_state_stage(state), TAL_STAGE_REPORT);
    ck_assert_int_eq(tal_state_low_water(state), TAL_STAGE_INFINITY);
    ck_assert_double_eq(tal_var_double(made.system, state, part->peak), 9.0);
    ck_assert_double_eq(*(const double *)tal_var_prev(made.system, state, part->peak), 9.0);
    // results stay valid, and the update computed from its own result is the same
    const double *kept = tal_cache_value(made.system, state, part->by[TAL_STAGE_REPORT]);
    ck_assert_double_eq(*kept, result);
    ck_assert_double_eq(tal_cache_realize_double(made.system, state, part->of_peak), of_peak);
    ck_assert_double_eq(tal_state_t_prev(state), 2.0);
    ck_assert_mem_eq(tal_state_y_prev(state), tal_state_y(state), 18 * sizeof(double));
    ck_assert_double_eq(tal_state_triggers_prev(state, TAL_STAGE_REPORT)[0], trigger);
    ck_assert_uint_eq(tal_state_statistics(state).steps, 1);

    // what changes later leaves the previous values alone; the peak stays when q falls
    const double low[6] = {0};
    ck_assert_int_eq(tal_state_set_q(state, low, 6), TAL_OK);
    ck_assert_int_eq(tal_state_set_t(state, 3.0), TAL_OK);
    ck_assert_double_eq(tal_state_t_prev(state), 2.0);
    ck_assert_double_eq(tal_state_y_prev(state)[0], 9.0);
    ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_POSITION), TAL_OK);
    ck_assert_int_eq(tal_system_begin_step(made.system, state), TAL_OK);
    ck_assert_double_eq(tal_var_double(made.system, state, part->peak), 9.0);
    // triggers of stages not realized have no previous value
    ck_assert(isfinite(tal_state_triggers_prev(state, TAL_STAGE_TIME)[0]));
    ck_assert_double_nan(tal_state_triggers_prev(state, TAL_STAGE_REPORT)[0]);
    tal_state_destroy(state);
    tal_system_destroy(made.system);
}

END_TEST

START_TEST(a_value_set_by_hand_supersedes_the_update)
{
    toy made;
    ck_assert(toy_build(&made, NULL));
    tal_state *state = toy_state(&made);
    const tal_var_ix peak = made.part[1].peak;
    ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_REPORT), TAL_OK);
    ck_assert_int_eq(tal_var_set_double(made.system, state, peak, 77.0), TAL_OK);
    ck_assert_int_eq(tal_state_stage(state), TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_system_begin_step(made.system, state), TAL_OK);
    ck_assert_double_eq(tal_var_double(made.system, state, peak), 77.0);
    tal_state_destroy(state);
    tal_system_destroy(made.system);
}

END_TEST

START_TEST(a_step_needs_the_stages_of_its_updates_and_otherwise_changes_nothing)
{
    toy made;
    ck_assert(toy_build(&made, NULL));
    tal_state *state = toy_state(&made);
    test_assert_breach(ck_assert_int_eq(tal_system_begin_step(made.system, state), TAL_ERR_STAGE),
                       TAL_ERR_STAGE, "needs stage Instance, but the State has reached only Model");
    ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_TIME), TAL_OK);
    test_assert_breach(ck_assert_int_eq(tal_system_begin_step(made.system, state), TAL_ERR_STAGE),
                       TAL_ERR_STAGE, "'peak.update' of subsystem 'early' needs stage Position");
    ck_assert_double_nan(tal_state_t_prev(state));
    ck_assert_uint_eq(tal_state_statistics(state).steps, 0);
    tal_state_destroy(state);
    tal_system_destroy(made.system);
}

END_TEST

// --- two subsystems with every solver ---

typedef struct solver {
    int number;
    tal_group_ix q, u;
    tal_event_ix event[2];
} solver;

static struct {
    char calls[128];
    tal_status give; // what every hook of subsystem 1 returns
    tal_stage entry_stage;
    double norm[2];
    bool stops[2];
    bool restless; // a projection that leaves a State that cannot be realized
} journal;

static void note(char kind, const void *self)
{
    const size_t n = strlen(journal.calls);
    journal.calls[n] = kind;
    journal.calls[n + 1] = (char)('0' + ((const solver *)self)->number);
}

static tal_status answer(const void *self)
{
    return ((const solver *)self)->number == 1 ? journal.give : TAL_OK;
}

static tal_status declare(void *self, tal_system *system, tal_subsystem_ix me)
{
    solver *s = self;
    tal_group_def group = tal_group_def_default();
    group.capacity = 1;
    group.pool = TAL_POOL_Q;
    s->q = tal_system_add_group(system, me, &group);
    group.pool = TAL_POOL_U;
    s->u = tal_system_add_group(system, me, &group);
    const tal_event_def event = tal_event_def_default();
    s->event[0] = tal_system_add_event(system, me, &event);
    s->event[1] = tal_system_add_event(system, me, &event);
    return TAL_OK;
}

static tal_status realize_position(const void *self, const tal_system *system, tal_state *state)
{
    (void)self;
    (void)system;
    return journal.restless && tal_state_q(state)[0] > 0.0 ? TAL_ERR_SINGULAR : TAL_OK;
}

static tal_status prescribe_q(const void *self, const tal_system *system, tal_state *state,
                              bool *changed)
{
    (void)system;
    note('q', self);
    const int i = ((const solver *)self)->number;
    *changed = tal_state_q(state)[i] != i;
    if (*changed) tal_state_upd_q(state)[i] = i;
    return answer(self);
}

static tal_status prescribe_u(const void *self, const tal_system *system, tal_state *state,
                              bool *changed)
{
    (void)system;
    (void)state;
    note('u', self);
    *changed = ((const solver *)self)->number == 0;
    return answer(self);
}

static tal_status project_q(const void *self, const tal_system *system, tal_state *state,
                            const tal_project_options *options, double error[],
                            tal_project_result *result)
{
    (void)system;
    note('Q', self);
    const int i = ((const solver *)self)->number;
    ck_assert_int_ge(tal_state_stage(state), TAL_STAGE_POSITION);
    ck_assert(result->iterations == 0 && !result->changed); // it arrives zeroed
    ck_assert(result->norm_before == 0.0 && result->norm_after == 0.0);
    if (error != NULL) error[i] = 0.0;
    result->iterations = options->max_iterations;
    result->norm_before = 1.0 + i;
    result->norm_after = journal.norm[i];
    result->changed = i == 0;
    tal_state_upd_q(state)[i] += 1.0;
    return answer(self);
}

static tal_status project_u(const void *self, const tal_system *system, tal_state *state,
                            const tal_project_options *options, double error[],
                            tal_project_result *result)
{
    (void)system;
    (void)options;
    (void)error;
    note('U', self);
    ck_assert_int_ge(tal_state_stage(state), TAL_STAGE_VELOCITY);
    result->iterations = 1;
    (void)tal_state_upd_u(state);
    return answer(self);
}

static tal_status relax(const void *self, const tal_system *system, tal_state *state,
                        double tolerance, bool *changed)
{
    (void)system;
    (void)state;
    note('r', self);
    *changed = tolerance < 0.5 && ((const solver *)self)->number == 0;
    return answer(self);
}

static void check_owner(const void *self, const tal_event_ix events[], int count)
{
    const solver *me = self;
    for (int i = 0; i < count; ++i) {
        ck_assert(events[i].i == me->event[0].i || events[i].i == me->event[1].i);
    }
}

static tal_status handle(const void *self, const tal_system *system, tal_state *state,
                         tal_event_cause cause, const tal_event_ix events[], int count,
                         bool *terminate)
{
    (void)system;
    (void)state;
    check_owner(self, events, count);
    ck_assert_int_eq(cause, TAL_EVENT_TRIGGERED);
    ck_assert(!*terminate);
    note((char)('0' + count), self);
    *terminate = journal.stops[((const solver *)self)->number];
    return answer(self);
}

static tal_status report(const void *self, const tal_system *system, tal_state *state,
                         tal_event_cause cause, const tal_event_ix events[], int count)
{
    (void)system;
    (void)state;
    check_owner(self, events, count);
    ck_assert_int_eq(cause, TAL_EVENT_SCHEDULED);
    note((char)('a' + count), self);
    return answer(self);
}

static const tal_subsystem_ops full = {
    .size = sizeof full,
    .name = "solver",
    .realize_topology = declare,
    .realize_position = realize_position,
    .prescribe_q = prescribe_q,
    .prescribe_u = prescribe_u,
    .project_q = project_q,
    .project_u = project_u,
    .relax = relax,
    .handle_events = handle,
    .report_events = report,
};
static const tal_subsystem_ops lazy = {
    .size = sizeof lazy, .name = "lazy", .realize_topology = declare};

static solver parts[3];
static tal_system *system;
static tal_state *state;

static void setup(void)
{
    test_record_breaches();
    memset(&journal, 0, sizeof journal);
    tal_subsystem_ops late = full;
    late.order = 1;
    static tal_subsystem_ops kept;
    kept = late;
    system = tal_system_create(NULL);
    for (int i = 0; i < 3; ++i) {
        parts[i].number = i;
    }
    // registered as 1, lazy, 0; runs as 0 (order 0) before 1 (order 1)
    (void)tal_system_add_subsystem(system, "one", &kept, &parts[1]);
    (void)tal_system_add_subsystem(system, NULL, &lazy, &parts[2]);
    (void)tal_system_add_subsystem(system, "zero", &full, &parts[0]);
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_VELOCITY), TAL_OK);
}

static void teardown(void)
{
    tal_state_destroy(state);
    tal_system_destroy(system);
}

START_TEST(solvers_run_in_the_order_of_subsystems_and_tell_whether_they_wrote)
{
    bool changed = false;
    ck_assert_int_eq(tal_system_prescribe_q(system, state, &changed), TAL_OK);
    ck_assert(changed);
    ck_assert_int_eq(tal_state_stage(state), TAL_STAGE_TIME);
    ck_assert_int_eq(tal_system_prescribe_q(system, state, &changed), TAL_OK);
    ck_assert(!changed);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_POSITION), TAL_OK);
    ck_assert_int_eq(tal_system_prescribe_u(system, state, &changed), TAL_OK);
    ck_assert(changed);
    ck_assert_int_eq(tal_system_relax(system, state, 1.0, &changed), TAL_OK);
    ck_assert(!changed);
    ck_assert_int_eq(tal_system_relax(system, state, 0.1, &changed), TAL_OK);
    ck_assert(changed);
    ck_assert_int_eq(tal_system_relax(system, state, 0.1, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_prescribe_u(system, state, NULL), TAL_OK);
    ck_assert_str_eq(journal.calls, "q0q1q0q1u0u1r0r1r0r1r0r1u0u1");
    ck_assert_uint_eq(tal_state_statistics(state).prescribes, 4);
    ck_assert_uint_eq(tal_state_statistics(state).relaxations, 3);
    for (int i = 0; i < 2; ++i) {
        const double bad = i == 0 ? 0.0 : (double)NAN;
        ck_assert_int_eq(tal_system_relax(system, state, bad, &changed), TAL_ERR_BAD_VALUE);
    }
    ck_assert_ptr_nonnull(strstr(tal_state_error(state)->message, "tolerance is nan"));
}

END_TEST

START_TEST(projection_meets_every_subsystem_at_its_stage_and_ends_there)
{
    tal_project_options options = tal_project_options_default();
    options.max_iterations = 3;
    double error[3] = {1.0, 1.0, 1.0};
    tal_project_result result;
    journal.norm[0] = 0.5;
    journal.norm[1] = 0.25;
    ck_assert_int_eq(tal_system_project_q(system, state, &options, error, &result), TAL_OK);
    ck_assert_str_eq(journal.calls, "Q0Q1");
    ck_assert_int_eq(tal_state_stage(state), TAL_STAGE_POSITION);
    ck_assert_int_eq(result.iterations, 6);
    ck_assert_double_eq(result.norm_before, 2.0);
    ck_assert_double_eq(result.norm_after, 0.5);
    ck_assert(result.changed);
    ck_assert_double_eq(error[0] + error[1], 0.0);
    ck_assert_double_eq(error[2], 1.0);

    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_VELOCITY), TAL_OK);
    ck_assert_int_eq(tal_system_project_u(system, state, NULL, NULL, NULL), TAL_OK);
    ck_assert_str_eq(journal.calls, "Q0Q1U0U1");
    ck_assert_int_eq(tal_state_stage(state), TAL_STAGE_VELOCITY);
    ck_assert_uint_eq(tal_state_statistics(state).projections, 2);
}

END_TEST

START_TEST(prescribing_and_projecting_is_one_call)
{
    tal_project_options options = tal_project_options_default();
    options.max_iterations = 3;
    tal_project_result result = {0, 0.0, 0.0, false};
    journal.norm[0] = 0.5;
    tal_state_set_t(state, 2.0); // as one sets a State by hand
    ck_assert_int_eq(tal_system_prescribe_and_project(system, state, &options, &result), TAL_OK);
    ck_assert_str_eq(journal.calls, "q0q1Q0Q1u0u1U0U1");
    ck_assert_int_eq(tal_state_stage(state), TAL_STAGE_VELOCITY);
    ck_assert_int_eq(result.iterations, 3 + 3 + 1 + 1);
    ck_assert_double_eq(result.norm_before, 2.0);
    ck_assert_double_eq(result.norm_after, 0.5);
    ck_assert(result.changed);

    // the failure of an earlier setter comes first, then that of a subsystem
    (void)tal_state_set_t(state, (double)NAN);
    journal.calls[0] = '\0';
    ck_assert_int_eq(tal_system_prescribe_and_project(system, state, NULL, NULL),
                     TAL_ERR_NOT_FINITE);
    ck_assert_str_eq(journal.calls, "");
    journal.give = TAL_ERR_SINGULAR;
    ck_assert_int_eq(tal_system_prescribe_and_project(system, state, NULL, NULL), TAL_ERR_SINGULAR);
    options.tolerance = 0.0;
    journal.give = TAL_OK;
    ck_assert_int_eq(tal_system_prescribe_and_project(system, state, &options, NULL),
                     TAL_ERR_BAD_VALUE);
    test_assert_refused(tal_system_prescribe_and_project(NULL, state, NULL, NULL), TAL_ERR_NULL,
                        "");
}

END_TEST

START_TEST(a_norm_that_is_not_a_number_is_not_hidden_by_a_good_one)
{
    for (int i = 0; i < 2; ++i) {
        journal.norm[i] = (double)NAN;
        journal.norm[1 - i] = 0.0;
        tal_project_result result;
        ck_assert_int_eq(tal_system_project_q(system, state, NULL, NULL, &result), TAL_OK);
        ck_assert_double_nan(result.norm_after);
    }
}

END_TEST

START_TEST(bad_options_are_refused_before_anything_runs)
{
    const double tolerance[] = {0.0, -1.0, (double)NAN, 1.0};
    for (int i = 0; i < 4; ++i) {
        tal_project_options options = tal_project_options_default();
        options.tolerance = tolerance[i];
        if (i == 3) options.max_iterations = -1;
        ck_assert_int_eq(tal_system_project_q(system, state, &options, NULL, NULL),
                         TAL_ERR_BAD_VALUE);
        ck_assert_int_eq(tal_system_project_u(system, state, &options, NULL, NULL),
                         TAL_ERR_BAD_VALUE);
    }
    ck_assert_str_eq(journal.calls, "");
    ck_assert_ptr_nonnull(strstr(tal_state_error(state)->message, "in -1 iterations"));
}

END_TEST

START_TEST(events_go_to_their_owners_in_the_order_given)
{
    const tal_event_ix events[] = {parts[1].event[1], parts[1].event[0], parts[0].event[0],
                                   parts[2].event[0], parts[1].event[0]};
    bool terminate = true;
    ck_assert_int_eq(
        tal_system_handle_events(system, state, TAL_EVENT_TRIGGERED, events, 5, &terminate),
        TAL_OK);
    ck_assert_str_eq(journal.calls, "211011");
    ck_assert(!terminate);
    ck_assert_int_eq(tal_system_report_events(system, state, TAL_EVENT_SCHEDULED, events, 5),
                     TAL_OK);
    ck_assert_str_eq(journal.calls, "211011c1b0b1");
    ck_assert_int_eq(tal_system_handle_events(system, state, TAL_EVENT_TRIGGERED, NULL, 0, NULL),
                     TAL_OK);
    ck_assert_uint_eq(tal_state_statistics(state).events, 10);
}

END_TEST

START_TEST(one_owner_is_enough_to_end_a_study)
{
    const tal_event_ix events[] = {parts[0].event[0], parts[1].event[0]};
    for (int i = 0; i < 2; ++i) {
        bool terminate = false;
        journal.stops[i] = true;
        journal.stops[1 - i] = false; // the other does not take it back
        ck_assert_int_eq(
            tal_system_handle_events(system, state, TAL_EVENT_TRIGGERED, events, 2, &terminate),
            TAL_OK);
        ck_assert(terminate);
    }
}

END_TEST

START_TEST(a_failing_solver_is_named)
{
    const tal_event_ix events[] = {parts[0].event[0], parts[1].event[0]};
    journal.give = TAL_ERR_NO_CONVERGENCE;
    tal_status st[7];
    st[0] = tal_system_relax(system, state, 1.0, NULL);
    st[1] = tal_system_prescribe_u(system, state, NULL);
    st[2] = tal_system_project_u(system, state, NULL, NULL, NULL);
    st[3] = tal_system_handle_events(system, state, TAL_EVENT_TRIGGERED, events, 2, NULL);
    st[4] = tal_system_report_events(system, state, TAL_EVENT_SCHEDULED, events, 2);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_VELOCITY), TAL_OK);
    st[5] = tal_system_project_q(system, state, NULL, NULL, NULL);
    st[6] = tal_system_prescribe_q(system, state, NULL);
    for (int i = 0; i < 7; ++i) {
        ck_assert_int_eq(st[i], TAL_ERR_NO_CONVERGENCE);
    }
    ck_assert_str_eq(tal_state_error(state)->where, "tal_system_prescribe_q");
    ck_assert_ptr_nonnull(strstr(tal_state_error(state)->message, "subsystem 'one' failed at t ="));
}

END_TEST

START_TEST(a_projection_that_breaks_the_state_fails)
{
    journal.restless = true;
    ck_assert_int_eq(tal_system_project_q(system, state, NULL, NULL, NULL), TAL_ERR_SINGULAR);
    ck_assert_str_eq(journal.calls, "Q0");
    ck_assert_int_eq(tal_state_stage(state), TAL_STAGE_TIME);
}

END_TEST

START_TEST(events_that_do_not_exist_are_reported)
{
    const tal_event_ix wrong[] = {{6}, {-1}};
    for (int i = 0; i < 2; ++i) {
        test_assert_breach(
            ck_assert_int_eq(
                tal_system_handle_events(system, state, TAL_EVENT_TRIGGERED, &wrong[i], 1, NULL),
                TAL_ERR_BAD_INDEX),
            TAL_ERR_BAD_INDEX, "has no event");
    }
    test_assert_refused(tal_system_report_events(system, state, TAL_EVENT_SCHEDULED, NULL, 1),
                        TAL_ERR_BAD_VALUE, "1 events: the number is negative or the array is NULL");
    test_assert_refused(tal_system_report_events(system, state, TAL_EVENT_SCHEDULED, wrong, -1),
                        TAL_ERR_BAD_VALUE, "-1 events");
    test_assert_refused(tal_system_handle_events(system, state, (tal_event_cause)7, wrong, 0, NULL),
                        TAL_ERR_BAD_VALUE, "no cause 7");
    ck_assert_str_eq(journal.calls, "");
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("state/solve");
    TCase *steps = tcase_create("steps");
    tcase_add_checked_fixture(steps, test_record_breaches, NULL);
    tcase_add_test(steps, a_step_swaps_in_the_update_value_and_lowers_no_stage);
    tcase_add_test(steps, a_value_set_by_hand_supersedes_the_update);
    tcase_add_test(steps, a_step_needs_the_stages_of_its_updates_and_otherwise_changes_nothing);
    suite_add_tcase(suite, steps);
    TCase *tests = tcase_create("solvers");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, solvers_run_in_the_order_of_subsystems_and_tell_whether_they_wrote);
    tcase_add_test(tests, projection_meets_every_subsystem_at_its_stage_and_ends_there);
    tcase_add_test(tests, prescribing_and_projecting_is_one_call);
    tcase_add_test(tests, a_norm_that_is_not_a_number_is_not_hidden_by_a_good_one);
    tcase_add_test(tests, bad_options_are_refused_before_anything_runs);
    tcase_add_test(tests, events_go_to_their_owners_in_the_order_given);
    tcase_add_test(tests, one_owner_is_enough_to_end_a_study);
    tcase_add_test(tests, a_failing_solver_is_named);
    tcase_add_test(tests, a_projection_that_breaks_the_state_fails);
    tcase_add_test(tests, events_that_do_not_exist_are_reported);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
