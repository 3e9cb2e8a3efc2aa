// state/src/measure/measure.c and the kinds in it: bad building, bad reading, incomplete tables,
// memory that runs out.
#include "measure_fixture.h"

// --- errors ---

START_TEST(bad_building_is_refused_with_a_sentence)
{
    const double nan_value[] = {1.0, TEST_NAN};
    fixture f = begin_fixture();
    (void)tal_measure_add_sum(f.system, f.owner, "s", (tal_measure_ix){3}, (tal_measure_ix){0});
    ck_assert_int_lt(tal_measure_add_time(f.system, f.owner, "t").i, 0); // sticky
    ck_assert_int_lt(tal_measure_add_constant(f.system, f.owner, "c", nan_value, 2).i, 0);
    assert_refused(&f, TAL_ERR_BAD_INDEX, "'s': operand 0 is measure 3, which does not exist");

    f = begin_fixture();
    (void)tal_measure_add_scale(f.system, f.owner, "s", 1.0, (tal_measure_ix){-1});
    assert_refused(&f, TAL_ERR_BAD_INDEX, "measure -1");

    f = begin_fixture();
    const tal_measure_ix t = tal_measure_add_time(f.system, f.owner, "t");
    const tal_measure_ix v =
        tal_measure_add_variable(f.system, f.owner, "v", NULL, 2, TAL_STAGE_INSTANCE);
    (void)tal_measure_add_difference(f.system, f.owner, "d", v, t);
    assert_refused(&f, TAL_ERR_BAD_VALUE, "'d': its operand 't' has size 1, the others have 2");

    f = begin_fixture();
    (void)tal_measure_add_constant(f.system, f.owner, "c", nan_value, 2);
    assert_refused(&f, TAL_ERR_NOT_FINITE, "constant 'c': value 1 is nan");

    f = begin_fixture();
    (void)tal_measure_add_constant(f.system, f.owner, "c", NULL, 2);
    assert_refused(&f, TAL_ERR_NULL, "'c'");

    f = begin_fixture();
    (void)tal_measure_add_constant(f.system, f.owner, "c", nan_value, 0);
    assert_refused(&f, TAL_ERR_BAD_VALUE, "has size 0");

    f = begin_fixture();
    (void)tal_measure_add_constant(f.system, (tal_subsystem_ix){5}, "c", nan_value, 1);
    assert_refused(&f, TAL_ERR_BAD_INDEX, "subsystem 5");

    f = begin_fixture();
    (void)tal_measure_add_variable(f.system, f.owner, "v", nan_value, 2, TAL_STAGE_TIME);
    assert_refused(&f, TAL_ERR_NOT_FINITE, "variable 'v': value 1 is nan");

    f = begin_fixture();
    (void)tal_measure_add_variable(f.system, f.owner, "v", NULL, 2, TAL_STAGE_TOPOLOGY);
    assert_refused(&f, TAL_ERR_BAD_VALUE, "invalidates Topology");

    f = begin_fixture();
    (void)tal_measure_add_sinusoid(f.system, f.owner, NULL, 1.0, TEST_INFINITY, 0.0);
    assert_refused(&f, TAL_ERR_NOT_FINITE, "value 1 is inf");

    f = begin_fixture();
    (void)tal_measure_add_scale(f.system, f.owner, "s", TEST_NAN,
                                tal_measure_add_time(f.system, f.owner, "t"));
    assert_refused(&f, TAL_ERR_NOT_FINITE, "scale 's': value 0 is nan");

    f = begin_fixture();
    (void)tal_measure_add_integrate(f.system, f.owner, "i",
                                    tal_measure_add_time(f.system, f.owner, "t"), nan_value + 1);
    assert_refused(&f, TAL_ERR_NOT_FINITE, "integrate 'i': value 0 is nan");

    f = begin_fixture();
    (void)tal_measure_add_result(f.system, f.owner, NULL);
    assert_refused(&f, TAL_ERR_NULL, "def is NULL");

    f = begin_fixture();
    tal_result_def late = tal_result_def_default();
    late.name = "late";
    late.depends_on = TAL_STAGE_REPORT;
    (void)tal_measure_add_integrate(f.system, f.owner, "i",
                                    tal_measure_add_result(f.system, f.owner, &late), NULL);
    assert_refused(&f, TAL_ERR_BAD_VALUE, "'late' needs stage Report");
}

START_TEST(a_result_whose_prerequisites_are_bad_is_refused)
{
    fixture f = begin_fixture();
    tal_result_def def = tal_result_def_default();
    def.num_prereqs = 2;
    (void)tal_measure_add_result(f.system, f.owner, &def);
    assert_refused(&f, TAL_ERR_BAD_VALUE,
                   "2 prerequisites: the number is negative or the array is NULL");
}

START_TEST(elements_cannot_be_added_to_a_realized_system)
{
    fixture f = begin_fixture();
    finish_fixture(&f);
    const double nan_value = TEST_NAN;
    test_assert_breach((void)tal_measure_add_time(f.system, f.owner, "t"), TAL_ERR_TOPOLOGY,
                       "realized");
    test_assert_breach((void)tal_measure_add_constant(f.system, f.owner, "c", &nan_value, 1),
                       TAL_ERR_TOPOLOGY, "realized");
    test_assert_breach((void)tal_measure_add_time(NULL, f.owner, "t"), TAL_ERR_NULL, "NULL");
    end_fixture(&f);
}

START_TEST(bad_reading_is_a_breach_and_not_a_number)
{
    fixture f = begin_fixture();
    fixture g = begin_fixture();
    tal_system *s = f.system;
    const double pair[] = {1.0, 2.0};
    const tal_measure_ix t = tal_measure_add_time(s, f.owner, "t");
    const tal_measure_ix c = tal_measure_add_constant(s, f.owner, "c", pair, 2);
    const tal_measure_ix none = {9};
    finish_fixture(&f);
    finish_fixture(&g);

    test_assert_breach(ck_assert(isnan(value(&f, c))), TAL_ERR_BAD_VALUE, "'c' has size 2");
    test_assert_breach(ck_assert(isnan(value(&f, none))), TAL_ERR_BAD_INDEX, "no measure 9");
    test_assert_breach(ck_assert(isnan(tal_measure_derivative(s, f.state, t, 7))),
                       TAL_ERR_BAD_VALUE, "'t' has 6 derivatives, so there is none of order 7");
    test_assert_breach(ck_assert(isnan(tal_measure_derivative(s, f.state, t, -1))),
                       TAL_ERR_BAD_VALUE, "order -1");
    test_assert_breach(ck_assert(isnan(tal_measure_value(s, g.state, t))), TAL_ERR_WRONG_SYSTEM,
                       "does not belong to System");
    test_assert_breach(ck_assert(isnan(tal_measure_value(s, NULL, t))), TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_ptr_null(tal_measure_values(NULL, f.state, t)), TAL_ERR_NULL,
                       "NULL");
    (void)tal_state_set_t(f.state, 1.0);
    test_assert_breach(ck_assert(isnan(value(&f, t))), TAL_ERR_STAGE, "needs stage Time");

    test_assert_breach(ck_assert_int_eq(tal_measure_size(s, none), -1), TAL_ERR_BAD_INDEX, "9");
    test_assert_breach(ck_assert_int_eq(tal_measure_num_derivatives(s, none), -1),
                       TAL_ERR_BAD_INDEX, "9");
    test_assert_breach(ck_assert_int_lt(tal_measure_owner(s, none).i, 0), TAL_ERR_BAD_INDEX, "9");
    test_assert_breach(ck_assert_str_eq(tal_measure_name(s, none), "(no measure)"),
                       TAL_ERR_BAD_INDEX, "9");
    test_assert_breach(ck_assert_str_eq(tal_measure_kind(NULL, t), "(no measure)"), TAL_ERR_NULL,
                       "NULL");
    test_assert_breach(ck_assert_int_eq(tal_measure_stage(s, none, 0), TAL_STAGE_INFINITY),
                       TAL_ERR_BAD_INDEX, "9");
    test_assert_breach(ck_assert_int_lt(tal_measure_entry(s, t, 9).i, 0), TAL_ERR_BAD_VALUE, "9");
    test_assert_breach(ck_assert_ptr_null(tal_measure_self(s, t, NULL)), TAL_ERR_BAD_INDEX,
                       "'t' is of kind 'time', not '(NULL)'");
    test_assert_breach(ck_assert_ptr_null(tal_measure_self(s, none, &polynomial_ops)),
                       TAL_ERR_BAD_INDEX, "9");
    test_assert_breach(ck_assert_ptr_null(tal_measure_upd_result(s, f.state, t)), TAL_ERR_BAD_INDEX,
                       "'t' is of kind 'time', not 'result'");
    test_assert_breach(
        ck_assert_int_eq(tal_measure_mark_result_valid(s, f.state, t), TAL_ERR_BAD_INDEX),
        TAL_ERR_BAD_INDEX, "'t'");
    end_fixture(&f);
    end_fixture(&g);
}

START_TEST(bad_setting_changes_nothing)
{
    fixture f = begin_fixture();
    fixture g = begin_fixture();
    tal_system *s = f.system;
    const tal_measure_ix t = tal_measure_add_time(s, f.owner, "t");
    const tal_measure_ix v = tal_measure_add_variable(s, f.owner, "v", NULL, 2, TAL_STAGE_TIME);
    finish_fixture(&f);
    finish_fixture(&g);
    const double good[] = {1.0, 2.0};
    const double bad[] = {1.0, TEST_INFINITY};

    test_assert_breach(ck_assert_int_eq(tal_measure_set(s, f.state, v, good, 1), TAL_ERR_BAD_VALUE),
                       TAL_ERR_BAD_VALUE, "'v' has size 2, not 1");
    test_assert_breach(ck_assert_int_eq(tal_measure_set(s, f.state, v, NULL, 2), TAL_ERR_NULL),
                       TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_int_eq(tal_measure_set(s, f.state, t, good, 1), TAL_ERR_BAD_INDEX),
                       TAL_ERR_BAD_INDEX, "'t' is of kind 'time', which cannot be set");
    test_assert_breach((void)tal_measure_set(s, f.state, (tal_measure_ix){7}, good, 1),
                       TAL_ERR_BAD_INDEX, "7");
    test_assert_breach((void)tal_measure_set(s, g.state, v, good, 2), TAL_ERR_WRONG_SYSTEM, "");
    test_assert_breach((void)tal_measure_restart(s, f.state, t), TAL_ERR_BAD_INDEX,
                       "'t' is of kind 'time', which has no history");
    test_assert_breach((void)tal_measure_restart(s, f.state, (tal_measure_ix){7}),
                       TAL_ERR_BAD_INDEX, "7");
    test_assert_breach((void)tal_measure_restart(s, g.state, v), TAL_ERR_WRONG_SYSTEM, "");

    // a bad value is remembered until the next realize returns it
    ck_assert_int_eq(tal_measure_set(s, f.state, v, bad, 2), TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(test_breaches(), 0);
    ck_assert_int_eq(tal_system_realize(s, f.state, TAL_STAGE_REPORT), TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(f.state)->message, "'v'"));
    ck_assert_double_eq(tal_measure_values(s, f.state, v)[0], 0.0);
    end_fixture(&f);
    end_fixture(&g);
}

// --- measures of one's own ---

static tal_status failing_calc(const void *self, const tal_system *system, tal_state *state,
                               int order, int n, double out[])
{
    (void)self;
    (void)system;
    (void)order;
    (void)n;
    (void)out;
    return tal_state_fail(state, TAL_ERR_SINGULAR, "no luck");
}

static tal_status failing_declare(void *self, tal_system *system, tal_measure_site *site)
{
    (void)self;
    (void)system;
    (void)site;
    return TAL_ERR_CALLBACK;
}

static void greedy_needs(const void *self, const tal_system *system, int order,
                         tal_measure_needs *needs)
{
    (void)self;
    (void)system;
    (void)order;
    const tal_prereq z = {TAL_PREREQ_Z, 0};
    for (int i = 0; i <= TAL_MEASURE_MAX_NEEDS; ++i) {
        tal_measure_needs_prereq(needs, z);
    }
}

static tal_status set_while_computing(const void *self, const tal_system *system, tal_state *state,
                                      int order, int n, double out[])
{
    (void)order;
    const tal_measure_ix *target = self;
    const double one = 1.0;
    memset(out, 0, (size_t)n * sizeof(double));
    ck_assert_int_eq(tal_measure_set(system, state, target[0], &one, 1), TAL_ERR_STAGE);
    ck_assert_int_eq(tal_measure_restart(system, state, target[1]), TAL_ERR_STAGE);
    return TAL_OK;
}

static tal_measure_ix add_own(const fixture *f, const tal_measure_ops *ops)
{
    tal_measure_def def = tal_measure_def_default();
    def.name = "own";
    def.size = 1;
    return tal_system_add_measure(f->system, f->owner, ops, &def);
}

START_TEST(a_table_must_be_complete)
{
    tal_measure_ops ops = {.size = sizeof ops, .name = "own", .calc = failing_calc};
    const tal_measure_ops broken[] = {
        {.size = sizeof ops, .name = NULL, .calc = failing_calc},
        {.size = sizeof ops, .name = "own", .calc = NULL},
        {.size = sizeof ops + 8, .name = "own", .calc = failing_calc},
        {.size = sizeof(size_t), .name = "own", .calc = failing_calc},
    };
    for (int i = 0; i < 4; ++i) {
        fixture f = begin_fixture();
        ck_assert_int_lt(add_own(&f, &broken[i]).i, 0);
        assert_refused(&f, TAL_ERR_BAD_VALUE, "size");
    }
    fixture f = begin_fixture();
    ck_assert_int_lt(add_own(&f, NULL).i, 0);
    assert_refused(&f, TAL_ERR_BAD_VALUE, "size");

    f = begin_fixture();
    ops.declare = failing_declare;
    ck_assert_int_lt(add_own(&f, &ops).i, 0);
    assert_refused(&f, TAL_ERR_CALLBACK, "measure 'own' could not be declared");

    f = begin_fixture();
    ops.declare = NULL;
    ops.needs = greedy_needs;
    ck_assert_int_lt(add_own(&f, &ops).i, 0);
    assert_refused(&f, TAL_ERR_CAPACITY, "has 9 direct prerequisites");

    f = begin_fixture();
    tal_measure_def def = tal_measure_def_default();
    def.num_operands = -1;
    ck_assert_int_lt(tal_system_add_measure(f.system, f.owner, &ops, &def).i, 0);
    assert_refused(&f, TAL_ERR_BAD_VALUE,
                   "-1 operands: the number is negative or the array is NULL");
}

START_TEST(an_older_shorter_table_is_enough)
{
    const tal_measure_ops ops = {
        .size = offsetof(tal_measure_ops, declare), .name = "own", .calc = polynomial_calc};
    const polynomial self = {{2.5, 0.0, 0.0, 0.0}, 0.0, 0};
    fixture f = begin_fixture();
    tal_measure_def def = tal_measure_def_default();
    def.size = 1;
    def.self = &self;
    def.self_size = sizeof self;
    const tal_measure_ix m = tal_system_add_measure(f.system, f.owner, &ops, &def);
    finish_fixture(&f);
    ck_assert_double_eq(value(&f, m), 2.5);
    const polynomial *kept = tal_measure_self(f.system, m, &ops);
    ck_assert_mem_eq(kept->c, self.c, sizeof self.c);
    end_fixture(&f);
}

START_TEST(a_failing_measure_fails_what_needs_it)
{
    const tal_measure_ops ops = {.size = sizeof ops, .name = "own", .calc = failing_calc};
    fixture f = begin_fixture();
    const tal_measure_ix m = add_own(&f, &ops);
    const tal_measure_ix i = tal_measure_add_integrate(f.system, f.owner, "i", m, NULL);
    const tal_measure_ix sum = tal_measure_add_sum(f.system, f.owner, "sum", m, i);
    tal_error err;
    ck_assert_int_eq(tal_system_realize_topology(f.system, &err), TAL_OK);
    ck_assert_int_eq(tal_state_create(f.system, &f.state, &err), TAL_OK);

    // not a breach: the caller did nothing wrong
    ck_assert_int_eq(tal_system_realize(f.system, f.state, TAL_STAGE_REPORT), TAL_ERR_SINGULAR);
    ck_assert_int_eq(tal_state_stage(f.state), TAL_STAGE_DYNAMICS);
    ck_assert_str_eq(tal_state_error(f.state)->message, "no luck");
    ck_assert(isnan(value(&f, sum)));
    ck_assert_str_eq(tal_state_error(f.state)->message, "no luck");
    ck_assert_int_eq(test_breaches(), 0);
    ck_assert_double_eq(value(&f, i), 0.0); // z still exists
    end_fixture(&f);
}

START_TEST(variables_cannot_be_set_from_inside_a_computation)
{
    const tal_measure_ops ops = {.size = sizeof ops, .name = "own", .calc = set_while_computing};
    fixture f = begin_fixture();
    tal_measure_ix target[2];
    target[0] = tal_measure_add_variable(f.system, f.owner, "v", NULL, 1, TAL_STAGE_TIME);
    target[1] = tal_measure_add_extreme(f.system, f.owner, "e", TAL_EXTREME_MAXIMUM, target[0]);
    tal_measure_def def = tal_measure_def_default();
    def.size = 1;
    def.self = target;
    def.self_size = sizeof target;
    const tal_measure_ix m = tal_system_add_measure(f.system, f.owner, &ops, &def);
    finish_fixture(&f);
    ck_assert_double_eq(value(&f, m), 0.0);
    ck_assert_int_eq(test_breaches(), 2);
    ck_assert_double_eq(value(&f, target[0]), 0.0);
    end_fixture(&f);
}

// --- memory ---

typedef struct budget {
    int left; // calls that succeed
    int live;
} budget;

static void *spend(void *context, size_t size)
{
    budget *b = context;
    if (b->left-- <= 0) return NULL;
    ++b->live;
    return aligned_alloc(TAL_ALIGNMENT, (size + TAL_ALIGNMENT - 1) / TAL_ALIGNMENT * TAL_ALIGNMENT);
}

static void unspend(void *context, void *block, size_t size)
{
    (void)size;
    --((budget *)context)->live;
    free(block);
}

static tal_status build_one_of_each(budget *b)
{
    const double one[] = {1.0, 2.0};
    tal_system_def def = tal_system_def_default();
    def.allocator.alloc = spend;
    def.allocator.free = unspend;
    def.allocator.context = b;
    tal_system *s = tal_system_create(&def);
    if (s == NULL) return TAL_ERR_NO_MEMORY;
    const tal_subsystem_ix me = tal_system_add_subsystem(s, "idle", &idle_ops, NULL);
    const tal_measure_ix c = tal_measure_add_constant(s, me, "constant", one, 2);
    const tal_measure_ix v = tal_measure_add_variable(s, me, "variable", one, 2, TAL_STAGE_TIME);
    const tal_measure_ix sum = tal_measure_add_sum(s, me, "sum", c, v);
    const tal_measure_ix i = tal_measure_add_integrate(s, me, "integrate", sum, one);
    (void)tal_measure_add_differentiate(s, me, "differentiate", v);
    (void)tal_measure_add_extreme(s, me, "extreme", TAL_EXTREME_MAXIMUM, i);
    tal_delay_def delay = tal_delay_def_default();
    delay.operand = i;
    (void)tal_measure_add_delay(s, me, &delay);
    tal_hold_def hold = tal_hold_def_default();
    hold.operand = i;
    hold.period = 1.0;
    hold.initial = one;
    (void)tal_measure_add_hold(s, me, &hold);
    tal_result_def result = tal_result_def_default();
    (void)tal_measure_add_result(s, me, &result);

    tal_state *state = NULL;
    tal_status st = tal_system_realize_topology(s, NULL);
    if (st == TAL_OK) st = tal_state_create(s, &state, NULL);
    tal_state_destroy(state);
    tal_system_destroy(s);
    return st;
}

START_TEST(memory_that_runs_out_anywhere_is_reported_and_nothing_leaks)
{
    int n = 0;
    tal_status st = TAL_ERR_NO_MEMORY;
    for (; st != TAL_OK; ++n) {
        budget b = {.left = n};
        st = build_one_of_each(&b);
        ck_assert(st == TAL_OK || st == TAL_ERR_NO_MEMORY);
        ck_assert_int_eq(b.live, 0);
        ck_assert_int_lt(n, 10000);
    }
    ck_assert_int_gt(n, 30);
    ck_assert_int_eq(test_breaches(), 0);
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("state/measure_errors");
    TCase *tc = tcase_create("errors");
    tcase_add_test(tc, bad_building_is_refused_with_a_sentence);
    tcase_add_test(tc, a_result_whose_prerequisites_are_bad_is_refused);
    tcase_add_test(tc, elements_cannot_be_added_to_a_realized_system);
    tcase_add_test(tc, bad_reading_is_a_breach_and_not_a_number);
    tcase_add_test(tc, bad_setting_changes_nothing);
    tcase_add_test(tc, a_table_must_be_complete);
    tcase_add_test(tc, an_older_shorter_table_is_enough);
    tcase_add_test(tc, a_failing_measure_fails_what_needs_it);
    tcase_add_test(tc, variables_cannot_be_set_from_inside_a_computation);
    suite_add_tcase(suite, tc);

    tc = tcase_create("alloc");
    tcase_add_test(tc, memory_that_runs_out_anywhere_is_reported_and_nothing_leaks);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
