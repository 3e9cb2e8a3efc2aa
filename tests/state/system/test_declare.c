// state/src/declare_*.c: what a subsystem may declare, and what is refused.
#include "building.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

// --- variables ---

static void assert_var_fails(const tal_var_def *def, tal_status status, const char *part)
{
    tal_subsystem_ix me;
    tal_system *system = with_subsystem(&me);
    ck_assert_int_lt(tal_system_add_var(system, me, def).i, 0);
    assert_failed(system, status, part);
}

START_TEST(a_bad_variable_is_refused_with_a_sentence)
{
    tal_var_def def = tal_var_def_default();
    def.name = "v";
    assert_var_fails(&def, TAL_ERR_BAD_VALUE, "variable 'v' has size 0");
    def.size = 8;
    const tal_stage wrong[] = {TAL_STAGE_TOPOLOGY, TAL_STAGE_INFINITY, (tal_stage)-1,
                               (tal_stage)99};
    for (int i = 0; i < 4; ++i) {
        def.invalidates = wrong[i];
        assert_var_fails(&def, TAL_ERR_BAD_VALUE, "it must be Model to Report");
    }
    def.invalidates = TAL_STAGE_MODEL;
    def.allocated = TAL_STAGE_MODEL;
    assert_var_fails(&def, TAL_ERR_BAD_VALUE, "is allocated at Model");
    def.invalidates = TAL_STAGE_REPORT;
    def.allocated = TAL_STAGE_INSTANCE;
    assert_var_fails(&def, TAL_ERR_BAD_VALUE, "must be Topology or Model");
    def.allocated = TAL_STAGE_TOPOLOGY;
    def.update = no_calc;
    def.invalidates = TAL_STAGE_TIME;
    assert_var_fails(&def, TAL_ERR_BAD_VALUE, "must invalidate a stage later than Time");
    def.invalidates = TAL_STAGE_VELOCITY;
    def.allocated = TAL_STAGE_MODEL;
    def.update_depends_on = TAL_STAGE_TOPOLOGY;
    assert_var_fails(&def, TAL_ERR_BAD_VALUE, "exists only from Model on");
    def.update_depends_on = TAL_STAGE_INFINITY;
    assert_var_fails(&def, TAL_ERR_BAD_VALUE, "depends on Infinity");
    def.update_depends_on = TAL_STAGE_TIME;
    def.name = "12345678901234567890123456789012345678901234567890123456789";
    assert_var_fails(&def, TAL_ERR_BAD_NAME, "the name is too long to add '.update'");
    def.name = "1234567890123456789012345678901234567890123456789012345678901234";
    assert_var_fails(&def, TAL_ERR_BAD_NAME, "this one has 64");
    assert_var_fails(NULL, TAL_ERR_NULL, "def is NULL");
}

END_TEST

START_TEST(names_are_unique_within_owner_and_kind_and_given_when_missing)
{
    tal_subsystem_ix me;
    tal_system *system = with_subsystem(&me);
    const tal_subsystem_ix other = tal_system_add_subsystem(system, "o", &plain, NULL);
    tal_var_def var = tal_var_def_default();
    var.size = 8;
    var.name = "x";
    tal_cache_def entry = tal_cache_def_default();
    entry.size = 8;
    entry.name = "x";
    tal_group_def group = tal_group_def_default();
    group.name = "x";
    tal_event_def event = tal_event_def_default();
    event.name = "x";
    const tal_var_ix mine = tal_system_add_var(system, me, &var);
    const tal_var_ix theirs = tal_system_add_var(system, other, &var);
    const tal_cache_ix cached = tal_system_add_cache(system, me, &entry);
    const tal_group_ix z = tal_system_add_group(system, me, &group);
    group.pool = TAL_POOL_Q;
    const tal_group_ix q = tal_system_add_group(system, me, &group);
    const tal_event_ix happening = tal_system_add_event(system, other, &event);
    var.name = entry.name = group.name = event.name = NULL;
    ck_assert_str_eq(tal_var_name(system, tal_system_add_var(system, me, &var)), "var2");
    ck_assert_str_eq(tal_cache_name(system, tal_system_add_cache(system, me, &entry)), "cache1");
    ck_assert_str_eq(tal_group_name(system, tal_system_add_group(system, me, &group)), "group2");
    ck_assert_str_eq(tal_event_name(system, tal_system_add_event(system, me, &event)), "event1");

    ck_assert_int_eq(tal_system_find_var(system, me, "x").i, mine.i);
    ck_assert_int_eq(tal_system_find_var(system, other, "x").i, theirs.i);
    ck_assert_int_eq(tal_system_find_cache(system, me, "x").i, cached.i);
    ck_assert_int_eq(tal_system_find_group(system, me, TAL_POOL_Z, "x").i, z.i);
    ck_assert_int_eq(tal_system_find_group(system, me, TAL_POOL_Q, "x").i, q.i);
    ck_assert_int_eq(tal_system_find_group(system, me, TAL_POOL_U, "x").i, -1);
    ck_assert_int_eq(tal_system_find_event(system, other, "x").i, happening.i);
    ck_assert_int_eq(tal_system_find_event(system, me, "x").i, -1);
    ck_assert_int_eq(tal_system_find_var(system, me, NULL).i, -1);
    ck_assert_int_eq(tal_system_find_cache(NULL, me, "x").i, -1);
    ck_assert_int_eq(tal_system_find_event(system, (tal_subsystem_ix){-1}, "x").i, -1);
    ck_assert_int_eq(tal_var_owner(system, theirs).i, other.i);
    ck_assert_int_eq(tal_cache_owner(system, cached).i, me.i);
    ck_assert_int_eq(tal_group_owner(system, q).i, me.i);
    ck_assert_int_eq(tal_event_owner(system, happening).i, other.i);
    ck_assert_int_eq(tal_var_update(system, mine).i, -1);
    ck_assert(!tal_system_has_updates(system));

    var.name = "x";
    (void)tal_system_add_var(system, me, &var);
    assert_failed(system, TAL_ERR_BAD_NAME, "variable 'x' exists already in subsystem 's'");
}

END_TEST

// A search through all of them for each would take seconds.
START_TEST(a_hundred_thousand_names_are_all_found)
{
    enum {
        NUM = 50000
    };

    tal_system *system = tal_system_create(NULL);
    const tal_subsystem_ix owners[] = {tal_system_add_subsystem(system, "s", &plain, NULL),
                                       tal_system_add_subsystem(system, "o", &plain, NULL)};
    char name[32];
    tal_var_def var = tal_var_def_default();
    var.size = 1;
    var.name = name;
    tal_group_def group = tal_group_def_default();
    group.name = name;
    for (int i = 0; i < NUM; ++i) {
        (void)snprintf(name, sizeof name, "%d", i);
        ck_assert_int_eq(tal_system_add_var(system, owners[0], &var).i, 2 * i);
        ck_assert_int_eq(tal_system_add_var(system, owners[1], &var).i, 2 * i + 1);
        ck_assert_int_eq(tal_system_add_group(system, owners[i % 2], &group).i, i);
    }
    for (int i = 0; i < NUM; ++i) {
        (void)snprintf(name, sizeof name, "%d", i);
        ck_assert_int_eq(tal_system_find_var(system, owners[0], name).i, 2 * i);
        ck_assert_int_eq(tal_system_find_var(system, owners[1], name).i, 2 * i + 1);
        ck_assert_int_eq(tal_system_find_group(system, owners[i % 2], TAL_POOL_Z, name).i, i);
        ck_assert_int_eq(tal_system_find_group(system, owners[(i + 1) % 2], TAL_POOL_Z, name).i,
                         -1);
    }
    ck_assert_int_eq(tal_system_find_var(system, owners[0], "50000").i, -1);
    tal_system_destroy(system);
}

END_TEST

START_TEST(an_element_needs_an_owner_that_exists)
{
    tal_subsystem_ix me;
    tal_system *system = with_subsystem(&me);
    tal_var_def var = tal_var_def_default();
    var.size = 8;
    (void)tal_system_add_var(system, (tal_subsystem_ix){1}, &var);
    assert_failed(system, TAL_ERR_BAD_INDEX, "its owner, subsystem 1, does not exist");
}

END_TEST

// --- cache entries ---

static void assert_cache_fails(const tal_cache_def *def, tal_status status, const char *part)
{
    tal_subsystem_ix me;
    tal_system *system = with_subsystem(&me);
    tal_cache_def late = tal_cache_def_default();
    late.name = "late";
    late.size = 8;
    late.depends_on = TAL_STAGE_VELOCITY;
    ck_assert_int_eq(tal_system_add_cache(system, me, &late).i, 0);
    ck_assert_int_lt(tal_system_add_cache(system, me, def).i, 0);
    assert_failed(system, status, part);
}

START_TEST(a_bad_cache_entry_is_refused_with_a_sentence)
{
    tal_cache_def def = tal_cache_def_default();
    def.name = "c";
    assert_cache_fails(&def, TAL_ERR_BAD_VALUE, "cache entry 'c' has size 0");
    def.size = 8;
    def.depends_on = TAL_STAGE_EMPTY;
    assert_cache_fails(&def, TAL_ERR_BAD_VALUE, "depends on Empty");
    def.depends_on = TAL_STAGE_POSITION;
    def.computed_by = TAL_STAGE_TIME;
    assert_cache_fails(&def, TAL_ERR_BAD_VALUE, "is computed by Time but depends on Position");
    def.depends_on = TAL_STAGE_TOPOLOGY; // Model is the first stage that computes anything
    def.computed_by = TAL_STAGE_TOPOLOGY;
    assert_cache_fails(&def, TAL_ERR_BAD_VALUE, "is computed by Topology");
    tal_subsystem_ix me;
    tal_system *system = with_subsystem(&me);
    def.computed_by = TAL_STAGE_MODEL;
    ck_assert_int_eq(tal_system_add_cache(system, me, &def).i, 0);
    tal_system_destroy(system);
    def.depends_on = TAL_STAGE_POSITION;
    def.computed_by = TAL_STAGE_INFINITY;
    def.num_prereqs = 1;
    assert_cache_fails(&def, TAL_ERR_BAD_VALUE,
                       "1 prerequisites: the number is negative or the array is NULL");
    tal_prereq need = {(tal_prereq_kind)77, 0};
    def.prereqs = &need;
    assert_cache_fails(&def, TAL_ERR_BAD_VALUE, "unknown kind 77");
    need = tal_prereq_var((tal_var_ix){0});
    assert_cache_fails(&def, TAL_ERR_BAD_INDEX, "needs variable 0");
    need = tal_prereq_cache((tal_cache_ix){1});
    assert_cache_fails(&def, TAL_ERR_BAD_INDEX, "needs entry 1");
    need = tal_prereq_cache((tal_cache_ix){0});
    assert_cache_fails(&def, TAL_ERR_BAD_VALUE, "needs 'late', which depends on Velocity");
    def.num_prereqs = 0;
    def.name = "late";
    assert_cache_fails(&def, TAL_ERR_BAD_NAME, "'late' exists already");
    assert_cache_fails(NULL, TAL_ERR_NULL, "def is NULL");
}

END_TEST

// Otherwise the entry would go out of date while the State stands at the stage that promised it,
// and nothing would compute it again.
START_TEST(a_stage_promises_no_entry_that_can_change_while_it_stands)
{
    const tal_prereq_kind kinds[] = {TAL_PREREQ_T, TAL_PREREQ_Q, TAL_PREREQ_U, TAL_PREREQ_Z};
    const tal_stage stages[] = {TAL_STAGE_TIME, TAL_STAGE_POSITION, TAL_STAGE_VELOCITY,
                                TAL_STAGE_DYNAMICS};
    for (int k = 0; k < 4; ++k) {
        for (int s = TAL_STAGE_INSTANCE; s <= TAL_STAGE_REPORT; ++s) {
            tal_subsystem_ix me;
            tal_system *system = with_subsystem(&me);
            const tal_prereq need = {kinds[k], 0};
            tal_cache_def def = tal_cache_def_default();
            def.size = 8;
            def.computed_by = (tal_stage)s;
            def.prereqs = &need;
            def.num_prereqs = 1;
            const bool fits = (int)stages[k] <= s;
            ck_assert_int_eq(tal_system_add_cache(system, me, &def).i, fits ? 0 : -1);
            if (fits) tal_system_destroy(system);
            if (!fits) assert_failed(system, TAL_ERR_BAD_VALUE, "make it lazy");
        }
    }

    // nor one that needs an auto-update variable or its update, which change without any stage
    for (int k = 0; k < 2; ++k) {
        tal_subsystem_ix me;
        tal_system *system = with_subsystem(&me);
        tal_var_def var = tal_var_def_default();
        var.size = 8;
        var.invalidates = TAL_STAGE_POSITION;
        var.update = no_calc;
        const tal_var_ix v = tal_system_add_var(system, me, &var);
        const tal_prereq need =
            k == 0 ? tal_prereq_var(v) : tal_prereq_cache(tal_var_update(system, v));
        tal_cache_def def = tal_cache_def_default();
        def.size = 8;
        def.depends_on = def.computed_by = TAL_STAGE_REPORT;
        def.prereqs = &need;
        def.num_prereqs = 1;
        ck_assert_int_lt(tal_system_add_cache(system, me, &def).i, 0);
        assert_failed(system, TAL_ERR_BAD_VALUE, "make it lazy");
    }
}

END_TEST

// --- groups, events, scratch ---

static void assert_group_fails(const tal_group_def *def, tal_status status, const char *part)
{
    tal_subsystem_ix me;
    tal_system *system = with_subsystem(&me);
    tal_group_def first = tal_group_def_default();
    first.name = "first";
    ck_assert_int_eq(tal_system_add_group(system, me, &first).i, 0);
    ck_assert_int_lt(tal_system_add_group(system, me, def).i, 0);
    assert_failed(system, status, part);
}

START_TEST(a_bad_group_is_refused_with_a_sentence)
{
    tal_group_def def = tal_group_def_default();
    def.name = "g";
    def.pool = (tal_pool)7;
    assert_group_fails(&def, TAL_ERR_BAD_VALUE, "group 'g': there is no pool 7");
    def.pool = TAL_POOL_TRIGGER;
    def.stage = TAL_STAGE_INSTANCE;
    assert_group_fails(&def, TAL_ERR_BAD_VALUE, "computed at Instance");
    def.pool = TAL_POOL_QERR;
    def.capacity = -1;
    assert_group_fails(&def, TAL_ERR_BAD_VALUE, "capacity -1");
    def.capacity = 2;
    const double values[] = {1.0, (double)INFINITY};
    def.initial = values;
    assert_group_fails(&def, TAL_ERR_BAD_VALUE, "only q, u and z can");
    def.pool = TAL_POOL_Q;
    assert_group_fails(&def, TAL_ERR_NOT_FINITE, "initial[1] is inf");
    def.initial = NULL;
    def.pool = TAL_POOL_Z;
    def.name = "first";
    assert_group_fails(&def, TAL_ERR_BAD_NAME, "'first' exists already in that pool");
    assert_group_fails(NULL, TAL_ERR_NULL, "def is NULL");
}

END_TEST

static void assert_event_fails(const tal_event_def *def, tal_status status, const char *part)
{
    tal_subsystem_ix me;
    tal_system *system = with_subsystem(&me);
    tal_group_def group = tal_group_def_default();
    group.capacity = 1;
    (void)tal_system_add_group(system, me, &group);
    group.pool = TAL_POOL_TRIGGER;
    (void)tal_system_add_group(system, me, &group);
    ck_assert_int_lt(tal_system_add_event(system, me, def).i, 0);
    assert_failed(system, status, part);
}

START_TEST(a_bad_event_is_refused_with_a_sentence)
{
    tal_event_def def = tal_event_def_default();
    def.name = "e";
    def.trigger = (tal_group_ix){0};
    assert_event_fails(&def, TAL_ERR_BAD_INDEX, "group 0 is not a group of triggers");
    def.trigger = (tal_group_ix){2};
    assert_event_fails(&def, TAL_ERR_BAD_INDEX, "group 2 is not");
    def.trigger = (tal_group_ix){1};
    def.slot = 1;
    assert_event_fails(&def, TAL_ERR_BAD_INDEX, "trigger 1 of a group of 1");
    assert_event_fails(NULL, TAL_ERR_NULL, "def is NULL");
    // how it is to be found: checked as everything else is
    def = tal_event_def_default();
    def.name = "e";
    def.rate.i = 0;
    assert_event_fails(&def, TAL_ERR_BAD_INDEX, "group 0 is not a group of triggers");
    def.rate.i = -1;
    def.flags.i = 3;
    assert_event_fails(&def, TAL_ERR_BAD_INDEX, "its variable has no tal_event_flags: 3");
    def.flags.i = -1;
    def.crossing = (tal_crossing)-1;
    assert_event_fails(&def, TAL_ERR_BAD_VALUE, "its crossing is invalid: -1");
    def.crossing = TAL_CROSSING_EITHER;
    def.causes = 1u << TAL_EVENT_SIGNALED;
    assert_event_fails(&def, TAL_ERR_BAD_VALUE, "its causes are invalid");
    def.causes = 0;
    const double bad[] = {(double)NAN, (double)INFINITY, -1.0};
    for (int i = 0; i < 3; ++i) {
        def.window = bad[i];
        assert_event_fails(&def, TAL_ERR_BAD_VALUE, "its window is");
        def.window = 0.0;
        def.separation = bad[i];
        assert_event_fails(&def, TAL_ERR_BAD_VALUE, "its separation is");
        def.separation = 0.0;
    }
}

END_TEST

START_TEST(an_event_is_returned_as_it_was_declared)
{
    tal_subsystem_ix me;
    tal_system *system = with_subsystem(&me);
    tal_group_def group = tal_group_def_default();
    const tal_group_ix z = tal_system_add_group(system, me, &group);
    group.pool = TAL_POOL_TRIGGER;
    group.stage = TAL_STAGE_VELOCITY;
    group.capacity = 2;
    const tal_group_ix triggers = tal_system_add_group(system, me, &group);
    tal_var_def var = tal_var_def_default();
    var.size = sizeof(tal_event_flags);
    tal_event_def def = tal_event_def_default();
    def.name = "e";
    def.trigger = triggers;
    def.slot = 1;
    def.crossing = TAL_CROSSING_FALLING;
    def.window = 0.25;
    def.separation = 0.5;
    def.reports = true;
    def.flags = tal_system_add_var(system, me, &var);
    ck_assert_int_eq(tal_system_num_events(system), 0);
    const tal_event_ix event = tal_system_add_event(system, me, &def);
    ck_assert_int_eq(tal_system_num_events(system), 1);
    const tal_event_def told = tal_event_declared(system, event);
    ck_assert_str_eq(told.name, "e");
    ck_assert_int_eq(told.trigger.i, triggers.i);
    ck_assert_int_eq(told.slot, 1);
    ck_assert_int_eq(told.rate.i, -1);
    ck_assert_int_eq(told.crossing, TAL_CROSSING_FALLING);
    ck_assert_double_eq(told.window, 0.25);
    ck_assert_double_eq(told.separation, 0.5);
    ck_assert(told.reports);
    ck_assert_int_eq(told.flags.i, def.flags.i);
    ck_assert_int_eq(tal_group_stage(system, triggers), TAL_STAGE_VELOCITY);
    ck_assert_int_eq(tal_group_stage(system, z), TAL_STAGE_EMPTY);
    tal_system_destroy(system);
}

END_TEST

START_TEST(a_state_that_cannot_fit_into_memory_is_refused)
{
    tal_subsystem_ix me;
    tal_system *system = with_subsystem(&me);
    tal_group_def group = tal_group_def_default();
    group.capacity = INT32_MAX;
    (void)tal_system_add_group(system, me, &group);
    tal_error err;
    ck_assert_int_eq(tal_system_realize_topology(system, &err), TAL_ERR_CAPACITY);
    assert_failed(system, TAL_ERR_CAPACITY, "is too large");

    system = with_subsystem(&me);
    tal_cache_def entry = tal_cache_def_default();
    entry.size = SIZE_MAX / 2;
    (void)tal_system_add_cache(system, me, &entry);
    (void)tal_system_add_cache(system, me, &entry);
    (void)tal_system_add_cache(system, me, &entry);
    ck_assert_int_eq(tal_system_realize_topology(system, &err), TAL_ERR_CAPACITY);
    assert_failed(system, TAL_ERR_CAPACITY, "would not fit in memory");

    system = with_subsystem(&me);
    tal_system_reserve_scratch(system, SIZE_MAX);
    assert_failed(system, TAL_ERR_CAPACITY, "of scratch are too many");
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("state/declare");
    TCase *tests = tcase_create("declare");
    tcase_add_checked_fixture(tests, test_record_breaches, NULL);
    tcase_add_test(tests, a_bad_variable_is_refused_with_a_sentence);
    tcase_add_test(tests, names_are_unique_within_owner_and_kind_and_given_when_missing);
    tcase_add_test(tests, a_hundred_thousand_names_are_all_found);
    tcase_add_test(tests, an_element_needs_an_owner_that_exists);
    tcase_add_test(tests, a_bad_cache_entry_is_refused_with_a_sentence);
    tcase_add_test(tests, a_stage_promises_no_entry_that_can_change_while_it_stands);
    tcase_add_test(tests, a_bad_group_is_refused_with_a_sentence);
    tcase_add_test(tests, a_bad_event_is_refused_with_a_sentence);
    tcase_add_test(tests, an_event_is_returned_as_it_was_declared);
    tcase_add_test(tests, a_state_that_cannot_fit_into_memory_is_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
