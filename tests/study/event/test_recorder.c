// Tests for study/src/event/recorder.c: rows at chosen times.
#include "alloc_guard.h"
#include "talus_test.h"

#include <talus/study.h>

#include <math.h>

// z' = rate from 0, or a NaN after t = 1.
typedef struct ramp {
    double rate;
    bool breaks;
    tal_group_ix group;
} ramp;

static tal_status declare(void *self, tal_system *system, tal_subsystem_ix me)
{
    tal_group_def def = tal_group_def_default();
    def.capacity = 1;
    ((ramp *)self)->group = tal_system_add_group(system, me, &def);
    return TAL_OK;
}

static tal_status rates(const void *self, const tal_system *system, tal_state *state)
{
    const ramp *it = self;
    const bool broken = it->breaks && tal_state_t(state) > 1.0;
    tal_group_upd_dot(system, state, it->group)[0] = broken ? (double)NAN : it->rate;
    return TAL_OK;
}

static tal_status report(const void *self, const tal_system *system, tal_state *state)
{
    (void)system;
    if (((const ramp *)self)->rate != 7.0) return TAL_OK;
    return tal_state_fail(state, TAL_ERR_CALLBACK, "seven cannot be reported");
}

static const tal_subsystem_ops ramp_ops = {
    .size = sizeof ramp_ops,
    .name = "ramp",
    .realize_topology = declare,
    .realize_acceleration = rates,
    .realize_report = report,
};

static double height(const void *context, const tal_system *system, tal_state *state)
{
    (void)system;
    return *(const double *)context * tal_state_z(state)[0];
}

static double slope(const void *context, const tal_system *system, tal_state *state)
{
    (void)context;
    (void)system;
    return tal_state_zdot(state)[0];
}

static const double TEN = 10.0;
static const tal_column_def COLUMNS[] = {{"height", TAL_STAGE_MODEL, height, &TEN},
                                         {"slope", TAL_STAGE_REPORT, slope, NULL}};

typedef struct run {
    tal_system *system;
    tal_state *state;
    tal_integrator *integ;
    tal_recorder *recorder;
} run;

static run begin_run(ramp *it, const tal_system_def *def, int max_rows)
{
    run r = {.system = tal_system_create(def)};
    tal_error err = {0};
    tal_system_add_subsystem(r.system, NULL, &ramp_ops, it);
    ck_assert_int_eq(tal_system_realize_topology(r.system, &err), TAL_OK);
    ck_assert_int_eq(tal_state_create(r.system, &r.state, &err), TAL_OK);
    ck_assert_int_eq(tal_integrator_create(r.system, NULL, &r.integ, &err), TAL_OK);
    const tal_status st = tal_recorder_create(r.system, COLUMNS, 2, max_rows, &r.recorder, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return r;
}

static void end_run(run *r)
{
    tal_recorder_destroy(r->recorder);
    tal_integrator_destroy(r->integ);
    tal_state_destroy(r->state);
    tal_system_destroy(r->system);
}

// z = 3 t is met exactly by steps and cubic alike, up to a few roundings.
START_TEST(rows_stand_at_their_times)
{
    ramp it = {.rate = 3.0};
    run r = begin_run(&it, NULL, 10);
    const double times[] = {0.0, 0.0, 0.125, 0.126, 1.0, 2.0, 2.0};
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_recorder_run(r.recorder, r.integ, r.state, times, 7));
    ck_assert_int_eq(st, TAL_OK);
    ck_assert_int_eq(tal_recorder_num_rows(r.recorder), 7);
    ck_assert_int_eq(tal_recorder_num_columns(r.recorder), 3);
    ck_assert_str_eq(tal_recorder_column_name(r.recorder, 0), "time");
    ck_assert_str_eq(tal_recorder_column_name(r.recorder, 1), "height");
    for (int i = 0; i < 7; ++i) {
        ck_assert_double_eq(tal_recorder_value(r.recorder, i, 0), times[i]);
        ck_assert_double_eq_tol(tal_recorder_row(r.recorder, i)[1], 30.0 * times[i], 1e-13);
        ck_assert_double_eq(tal_recorder_value(r.recorder, i, 2), 3.0);
    }
    ck_assert_double_eq(tal_state_t(r.state), 2.0);

    const double more[] = {2.5, 3.0};
    ck_assert_int_eq(tal_recorder_run(r.recorder, r.integ, r.state, more, 2), TAL_OK);
    ck_assert_int_eq(tal_recorder_add_row(r.recorder, r.state), TAL_OK);
    ck_assert_double_eq(tal_recorder_value(r.recorder, 9, 0), 3.0);
    ck_assert_int_eq(tal_recorder_run(r.recorder, r.integ, r.state, NULL, 0), TAL_OK);
    tal_recorder_clear(r.recorder);
    ck_assert_int_eq(tal_recorder_num_rows(r.recorder), 0);
    end_run(&r);
}

END_TEST

START_TEST(failures_are_reported_and_rows_before_them_stay)
{
    ramp it = {.rate = 3.0, .breaks = true};
    run r = begin_run(&it, NULL, 3);
    const double times[] = {0.5, 0.9, 2.0, 3.0}, back[] = {0.5, 0.4}, bad[] = {(double)NAN};
    ck_assert_int_eq(tal_recorder_run(r.recorder, r.integ, r.state, times, 4), TAL_ERR_CAPACITY);
    ck_assert_double_eq(tal_state_t(r.state), 0.0);
    ck_assert_int_eq(tal_recorder_run(r.recorder, r.integ, r.state, back, 2), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_recorder_run(r.recorder, r.integ, r.state, bad, 1), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_recorder_run(r.recorder, r.integ, r.state, bad, -1), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_recorder_run(r.recorder, r.integ, r.state, NULL, 1), TAL_ERR_NULL);
    ck_assert_int_eq(tal_recorder_run(r.recorder, r.integ, r.state, times, 3), TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_recorder_error(r.recorder)->message, "z 0"));
    ck_assert_int_eq(tal_recorder_num_rows(r.recorder), 2);
    // a State that cannot be made consistent
    const double nan = (double)NAN;
    (void)tal_state_set_z(r.state, &nan, 1);
    ck_assert_int_eq(tal_recorder_run(r.recorder, r.integ, r.state, times + 2, 1),
                     TAL_ERR_NOT_FINITE);
    end_run(&r);

    it = (ramp){.rate = 7.0};
    r = begin_run(&it, NULL, 1);
    ck_assert_int_eq(tal_recorder_run(r.recorder, r.integ, r.state, times, 1), TAL_ERR_CALLBACK);
    ck_assert_ptr_nonnull(strstr(tal_recorder_error(r.recorder)->message, "seven"));
    end_run(&r);
    it.rate = 1.0;
    r = begin_run(&it, NULL, 1);
    ck_assert_int_eq(tal_recorder_add_row(r.recorder, r.state), TAL_OK);
    ck_assert_int_eq(tal_recorder_add_row(r.recorder, r.state), TAL_ERR_CAPACITY);
    end_run(&r);
}

END_TEST

START_TEST(what_makes_no_table_is_refused)
{
    ramp it = {.rate = 1.0};
    run r = begin_run(&it, NULL, 1);
    tal_recorder *other = NULL;
    tal_error err = {0};
    char long_name[100] = {0};
    memset(long_name, 'x', 99);
    const tal_column_def no_name = {NULL, TAL_STAGE_TIME, slope, NULL};
    const tal_column_def no_calc = {"a", TAL_STAGE_TIME, NULL, NULL};
    const tal_column_def no_stage = {"a", TAL_STAGE_INFINITY, slope, NULL};
    const tal_column_def too_long = {long_name, TAL_STAGE_TIME, slope, NULL};
    ck_assert_int_eq(tal_recorder_create(r.system, &no_name, 1, 1, &other, &err), TAL_ERR_NULL);
    ck_assert_int_eq(tal_recorder_create(r.system, &no_calc, 1, 1, &other, &err), TAL_ERR_NULL);
    ck_assert_int_eq(tal_recorder_create(r.system, &no_stage, 1, 1, &other, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_recorder_create(r.system, &too_long, 1, 1, &other, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_recorder_create(r.system, NULL, 1, 1, &other, &err), TAL_ERR_NULL);
    ck_assert_int_eq(tal_recorder_create(r.system, NULL, 0, -1, &other, NULL), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_recorder_create(NULL, NULL, 0, 1, &other, &err), TAL_ERR_NULL);
    test_assert_refused(tal_recorder_create(r.system, NULL, 0, 1, NULL, &err), TAL_ERR_NULL, "out");
    tal_system *early = tal_system_create(NULL);
    ck_assert_int_eq(tal_recorder_create(early, NULL, 0, 1, &other, &err), TAL_ERR_TOPOLOGY);
    ck_assert_ptr_null(other);
    tal_system_destroy(early);
    end_run(&r);
}

END_TEST

START_TEST(broken_contracts_are_reported)
{
    ramp it = {.rate = 1.0};
    run r = begin_run(&it, NULL, 1);
    tal_recorder_destroy(NULL);
    tal_recorder_clear(NULL);
    ck_assert_int_eq(tal_recorder_num_rows(NULL), 0);
    ck_assert_int_eq(tal_recorder_num_columns(NULL), 0);
    ck_assert_int_eq(tal_recorder_error(NULL)->status, TAL_ERR_NULL);
    test_assert_breach((void)tal_recorder_row(r.recorder, 0), TAL_ERR_BAD_INDEX, "row 0");
    test_assert_breach((void)tal_recorder_value(r.recorder, 0, 0), TAL_ERR_BAD_INDEX, "row 0");
    test_assert_breach((void)tal_recorder_value(r.recorder, 0, 3), TAL_ERR_BAD_INDEX, "column 3");
    test_assert_breach((void)tal_recorder_column_name(r.recorder, -1), TAL_ERR_BAD_INDEX, "-1");
    test_assert_refused(tal_recorder_run(NULL, r.integ, r.state, NULL, 0), TAL_ERR_NULL,
                        "recorder");
    test_assert_refused(tal_recorder_run(r.recorder, NULL, r.state, NULL, 0), TAL_ERR_NULL,
                        "integrator");
    test_assert_refused(tal_recorder_run(r.recorder, r.integ, NULL, NULL, 0), TAL_ERR_NULL,
                        "State");
    test_assert_refused(tal_recorder_add_row(NULL, r.state), TAL_ERR_NULL, "recorder");
    test_assert_refused(tal_recorder_add_row(r.recorder, NULL), TAL_ERR_NULL, "State");
    end_run(&r);
}

END_TEST

START_TEST(memory_may_run_out_at_create)
{
    tal_system_def def = tal_system_def_default();
    test_heap heap = {0};
    def.allocator = test_heap_allocator(&heap);
    ramp it = {.rate = 1.0};
    run r = begin_run(&it, &def, 1);
    tal_error err = {0};
    tal_status st = TAL_ERR_NO_MEMORY;
    for (int n = 1; st != TAL_OK; ++n) {
        ck_assert_int_lt(n, 10);
        tal_recorder *other = NULL;
        heap.refuse_at = heap.calls + n;
        st = tal_recorder_create(r.system, COLUMNS, 2, 5, &other, &err);
        if (n <= 4) ck_assert_int_eq(st, TAL_ERR_NO_MEMORY);
        tal_recorder_destroy(other);
    }
    end_run(&r);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/recorder");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, rows_stand_at_their_times);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, failures_are_reported_and_rows_before_them_stay);
    tcase_add_test(errors, what_makes_no_table_is_refused);
    tcase_add_test(errors, broken_contracts_are_reported);
    suite_add_tcase(suite, errors);
    TCase *alloc = tcase_create("alloc");
    tcase_add_test(alloc, memory_may_run_out_at_create);
    suite_add_tcase(suite, alloc);
    return test_run(suite);
}
