// state/src/system/system.c, element.c, topology.c, stage.c: building a System.
#include "building.h"
#include "toy_system.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int destroyed;

static void count_destroy(void *self)
{
    (void)self;
    ++destroyed;
}

static const tal_subsystem_ops adopted = {
    .size = sizeof adopted, .name = "adopted", .destroy = count_destroy};

START_TEST(a_system_starts_with_the_values_of_its_def)
{
    tal_system_def def = tal_system_def_default();
    def.name = "mine";
    def.time_scale = 0.5;
    tal_system *system = tal_system_create(&def);
    ck_assert_str_eq(tal_system_name(system), "mine");
    ck_assert_double_eq(tal_system_time_scale(system), 0.5);
    ck_assert(tal_system_allocator(system).alloc == def.allocator.alloc);
    ck_assert_int_eq(tal_system_num_subsystems(system), 0);
    ck_assert_uint_eq(tal_system_state_size(system), 0);
    ck_assert_int_eq(tal_system_pool_capacity(system, TAL_POOL_Q), -1);
    tal_system_destroy(system);

    def.name = NULL;
    system = tal_system_create(&def);
    ck_assert_str_eq(tal_system_name(system), "system");
    tal_system_destroy(system);
    ck_assert_double_eq(tal_system_def_default().time_scale, 0.1);
}

END_TEST

START_TEST(an_empty_system_has_a_state)
{
    tal_system *system = tal_system_create(NULL);
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    tal_state *state = NULL;
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_REPORT), TAL_OK);
    ck_assert_int_eq(tal_state_ny(state), 0);
    ck_assert_int_eq(tal_system_begin_step(system, state), TAL_OK);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

END_TEST

START_TEST(a_bad_def_is_remembered_by_the_system)
{
    char name[TAL_MAX_NAME + 2];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    tal_system_def def = tal_system_def_default();
    def.name = name;
    assert_failed(tal_system_create(&def), TAL_ERR_BAD_NAME, "more than 63");
    def.name = "robot ";
    assert_failed(tal_system_create(&def), TAL_ERR_BAD_NAME,
                  "'robot ': a name cannot begin or end with blanks");

    const double bad[] = {0.0, -1.0, (double)NAN, (double)INFINITY};
    for (int i = 0; i < 4; ++i) {
        def = tal_system_def_default();
        def.time_scale = bad[i];
        assert_failed(tal_system_create(&def), TAL_ERR_BAD_VALUE, "time_scale is");
    }
    def = tal_system_def_default();
    def.allocator.free = NULL;
    test_assert_breach(ck_assert_ptr_null(tal_system_create(&def)), TAL_ERR_NULL, "no allocator");
}

END_TEST

START_TEST(the_first_failure_wins_and_later_adds_do_nothing)
{
    tal_subsystem_ix me;
    tal_system *system = with_subsystem(&me);
    ck_assert_int_eq(tal_system_fail(system, TAL_ERR_BAD_VALUE, "first %d", 1), TAL_ERR_BAD_VALUE);
    (void)tal_system_fail(system, TAL_ERR_SINGULAR, "second");
    tal_group_def group = tal_group_def_default();
    tal_event_def event = tal_event_def_default();
    tal_var_def var = tal_var_def_default();
    tal_cache_def entry = tal_cache_def_default();
    (void)test_breaches();
    ck_assert_int_lt(tal_system_add_subsystem(system, "t", &plain, NULL).i, 0);
    ck_assert_int_lt(tal_system_add_group(system, me, &group).i, 0);
    ck_assert_int_lt(tal_system_add_event(system, me, &event).i, 0);
    ck_assert_int_lt(tal_system_add_var(system, me, &var).i, 0);
    ck_assert_int_lt(tal_system_add_cache(system, me, &entry).i, 0);
    tal_system_reserve_scratch(system, 1);
    ck_assert_int_eq(test_breaches(), 0);
    ck_assert_int_eq(tal_system_num_subsystems(system), 1);
    ck_assert_str_eq(tal_system_error(system)->where, "tal_system_fail");
    assert_failed(system, TAL_ERR_BAD_VALUE, "first 1");
}

END_TEST

START_TEST(a_realized_system_takes_no_more_elements)
{
    tal_subsystem_ix me;
    tal_system *system = with_subsystem(&me);
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    const tal_group_def group = tal_group_def_default();
    test_assert_breach(ck_assert_int_lt(tal_system_add_group(system, me, &group).i, 0),
                       TAL_ERR_TOPOLOGY, "is realized");
    test_assert_breach((void)tal_system_fail(system, TAL_ERR_SINGULAR, "no"), TAL_ERR_TOPOLOGY,
                       "built already");
    destroyed = 0;
    test_assert_breach((void)tal_system_add_subsystem(system, NULL, &adopted, NULL),
                       TAL_ERR_TOPOLOGY, "is realized");
    ck_assert_int_eq(destroyed, 1);
    ck_assert_int_eq(tal_system_error(system)->status, TAL_OK);
    tal_system_destroy(system);
}

END_TEST

// --- subsystems ---

START_TEST(every_adopted_subsystem_is_destroyed_exactly_once)
{
    destroyed = 0;
    tal_system *system = tal_system_create(NULL);
    ck_assert_int_eq(tal_system_add_subsystem(system, "a", &adopted, NULL).i, 0);
    ck_assert_int_eq(tal_system_add_subsystem(system, NULL, &adopted, NULL).i, 1);
    ck_assert_int_eq(destroyed, 0);
    ck_assert_int_lt(tal_system_add_subsystem(system, "a", &adopted, NULL).i, 0);
    ck_assert_int_eq(destroyed, 1);
    ck_assert_int_lt(tal_system_add_subsystem(system, "late", &adopted, NULL).i, 0);
    ck_assert_int_eq(destroyed, 2);
    assert_failed(system, TAL_ERR_BAD_NAME, "has a subsystem 'a' already");
    ck_assert_int_eq(destroyed, 4);

    test_assert_breach((void)tal_system_add_subsystem(NULL, "x", &adopted, NULL), TAL_ERR_NULL,
                       "System is NULL");
    ck_assert_int_eq(destroyed, 5);
}

END_TEST

START_TEST(a_subsystem_needs_a_table_with_size_and_name)
{
    tal_subsystem_ops ops = adopted;
    ops.size = 0;
    destroyed = 0;
    tal_system *system = tal_system_create(NULL);
    (void)tal_system_add_subsystem(system, "x", &ops, NULL);
    assert_failed(system, TAL_ERR_BAD_VALUE, "its size");

    ops.size = sizeof ops + 8; // a table of a later version
    system = tal_system_create(NULL);
    (void)tal_system_add_subsystem(system, "x", &ops, NULL);
    assert_failed(system, TAL_ERR_BAD_VALUE, "its size");
    ck_assert_int_eq(destroyed, 1);

    ops = adopted;
    ops.name = NULL;
    system = tal_system_create(NULL);
    (void)tal_system_add_subsystem(system, "x", &ops, NULL);
    assert_failed(system, TAL_ERR_BAD_VALUE, "and name");

    system = tal_system_create(NULL);
    (void)tal_system_add_subsystem(system, "x", NULL, NULL);
    assert_failed(system, TAL_ERR_BAD_VALUE, "needs a table");

    system = tal_system_create(NULL);
    (void)tal_system_add_subsystem(system, "", &plain, NULL);
    assert_failed(system, TAL_ERR_BAD_NAME, "1 to 63 characters");

    system = tal_system_create(NULL);
    (void)tal_system_add_subsystem(system, " x", &plain, NULL);
    assert_failed(system, TAL_ERR_BAD_NAME,
                  "subsystem ' x': a name cannot begin or end with blanks");
}

END_TEST

START_TEST(subsystems_are_found_by_name)
{
    int self = 0;
    tal_system *system = tal_system_create(NULL);
    const tal_subsystem_ix a = tal_system_add_subsystem(system, NULL, &plain, NULL);
    const tal_subsystem_ix b = tal_system_add_subsystem(system, "b", &plain, &self);
    ck_assert_int_eq(tal_system_find_subsystem(system, "plain").i, a.i);
    ck_assert_int_eq(tal_system_find_subsystem(system, "b").i, b.i);
    ck_assert_int_eq(tal_system_find_subsystem(system, "c").i, -1);
    ck_assert_int_eq(tal_system_find_subsystem(system, NULL).i, -1);
    ck_assert_int_eq(tal_system_find_subsystem(NULL, "b").i, -1);
    ck_assert_str_eq(tal_subsystem_name(system, b), "b");
    ck_assert_ptr_eq(tal_subsystem_self(system, b), &self);
    tal_system_destroy(system);
}

END_TEST

static int declared_at[3];
static int num_declared;

static tal_status note_order(void *self, tal_system *system, tal_subsystem_ix me)
{
    (void)self;
    (void)system;
    declared_at[num_declared++] = me.i;
    return TAL_OK;
}

START_TEST(subsystems_declare_in_ascending_order)
{
    tal_subsystem_ops ops = {.size = sizeof ops, .name = "x", .realize_topology = note_order};
    static const int order[] = {1, -1, 1};
    const char *names[] = {"a", "b", "c"};
    tal_system *system = tal_system_create(NULL);
    for (int i = 0; i < 3; ++i) {
        ops.order = order[i];
        (void)tal_system_add_subsystem(system, names[i], &ops, NULL);
    }
    num_declared = 0;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(declared_at[0], 1);
    ck_assert_int_eq(declared_at[1], 0);
    ck_assert_int_eq(declared_at[2], 2);
    tal_system_destroy(system);
}

END_TEST

static tal_status refuse(void *self, tal_system *system, tal_subsystem_ix me)
{
    (void)self;
    (void)system;
    (void)me;
    return TAL_ERR_SINGULAR;
}

static tal_status add_another(void *self, tal_system *system, tal_subsystem_ix me)
{
    (void)self;
    (void)me;
    (void)tal_system_add_subsystem(system, "another", &plain, NULL);
    return TAL_OK;
}

static tal_status realize_again(void *self, tal_system *system, tal_subsystem_ix me)
{
    (void)self;
    (void)me;
    return tal_system_realize_topology(system, NULL);
}

START_TEST(what_a_subsystem_cannot_do_while_it_declares_is_reported)
{
    tal_subsystem_ops ops = {.size = sizeof ops, .name = "x", .realize_topology = refuse};
    tal_error err;
    tal_system *system = tal_system_create(NULL);
    (void)tal_system_add_subsystem(system, NULL, &ops, NULL);
    ck_assert_int_eq(tal_system_realize_topology(system, &err), TAL_ERR_SINGULAR);
    assert_failed(system, TAL_ERR_SINGULAR, "subsystem 'x' could not realize its topology");

    ops.realize_topology = add_another;
    system = tal_system_create(NULL);
    (void)tal_system_add_subsystem(system, NULL, &ops, NULL);
    ck_assert_int_eq(tal_system_realize_topology(system, &err), TAL_ERR_TOPOLOGY);
    assert_failed(system, TAL_ERR_TOPOLOGY, "cannot add another");

    ops.realize_topology = realize_again;
    system = tal_system_create(NULL);
    (void)tal_system_add_subsystem(system, NULL, &ops, NULL);
    test_assert_breach(
        ck_assert_int_eq(tal_system_realize_topology(system, &err), TAL_ERR_TOPOLOGY),
        TAL_ERR_TOPOLOGY, "being realized already");
    assert_failed(system, TAL_ERR_TOPOLOGY, "subsystem 'x'");
}

END_TEST

// --- hash ---

START_TEST(the_hash_is_equal_for_equal_structures)
{
    toy a;
    toy b;
    ck_assert(toy_build(&a, NULL));
    ck_assert(toy_build(&b, NULL));
    ck_assert_uint_ne(tal_system_structure_hash(a.system), 0);
    ck_assert_uint_eq(tal_system_structure_hash(a.system), tal_system_structure_hash(b.system));
    ck_assert_uint_eq(tal_system_state_size(a.system), tal_system_state_size(b.system));
    ck_assert_int_eq(tal_system_pool_capacity(a.system, TAL_POOL_Q), TOY_PARTS * TOY_MAX_Q);
    ck_assert_int_eq(tal_system_pool_capacity(a.system, (tal_pool)(TAL_POOL_TRIGGER + 1)), -1);
    ck_assert_int_eq(tal_system_pool_capacity(a.system, (tal_pool)-1), -1);
    tal_system_destroy(a.system);
    tal_system_destroy(b.system);
}

END_TEST

// A small System in which one thing differs: number `change`, none for 0.
static uint64_t hash_with(int change)
{
    tal_subsystem_ops ops = plain;
    if (change == 1) ops.name = "other";
    if (change == 2) ops.order = 1;
    if (change == 3) ops.tag = 1;
    tal_system *system = tal_system_create(NULL);
    const tal_subsystem_ix me =
        tal_system_add_subsystem(system, change == 4 ? "t" : "s", &ops, NULL);
    tal_var_def var = tal_var_def_default();
    var.name = change == 5 ? "w" : "v";
    var.size = change == 6 ? 16 : 8;
    var.invalidates = change == 7 ? TAL_STAGE_TIME : TAL_STAGE_POSITION;
    var.allocated = change == 8 ? TAL_STAGE_MODEL : TAL_STAGE_TOPOLOGY;
    if (change == 9 || change == 25) var.update = no_calc;
    if (change == 25) var.sampled = true;
    const tal_var_ix v = tal_system_add_var(system, me, &var);
    const tal_prereq need[] = {change == 10 || change == 24 ? (tal_prereq){TAL_PREREQ_Q, change}
                                                            : tal_prereq_var(v)};
    tal_cache_def entry = tal_cache_def_default();
    entry.name = change == 11 ? "d" : "c";
    entry.size = change == 12 ? 9 : 8;
    entry.depends_on = change == 13 ? TAL_STAGE_REPORT : TAL_STAGE_TIME;
    entry.computed_by = change == 14 ? TAL_STAGE_REPORT : TAL_STAGE_INFINITY;
    if (change == 9) entry.computed_by = TAL_STAGE_INFINITY;
    entry.prereqs = need;
    entry.num_prereqs = change == 15 ? 0 : 1;
    (void)tal_system_add_cache(system, me, &entry);
    tal_group_def group = tal_group_def_default();
    group.name = change == 16 ? "h" : "g";
    group.pool = change == 17 ? TAL_POOL_Q : TAL_POOL_TRIGGER;
    group.stage = change == 18 ? TAL_STAGE_REPORT : TAL_STAGE_TIME;
    group.capacity = change == 19 ? 3 : 2;
    const tal_group_ix g = tal_system_add_group(system, me, &group);
    tal_event_def event = tal_event_def_default();
    event.name = change == 20 ? "f" : "e";
    if (change != 17 && change != 21) event.trigger = g;
    event.slot = change == 22 ? 1 : 0;
    (void)tal_system_add_event(system, me, &event);
    tal_system_reserve_scratch(system, change == 23 ? 128 : 64);
    tal_error err;
    ck_assert_msg(tal_system_realize_topology(system, &err) == TAL_OK, "%d: %s", change,
                  err.message);
    const uint64_t hash = tal_system_structure_hash(system);
    tal_system_destroy(system);
    return hash;
}

START_TEST(the_hash_changes_with_every_part_of_the_structure)
{
    uint64_t hash[24];
    for (int i = 0; i < 24; ++i) {
        hash[i] = hash_with(i);
        for (int k = 0; k < i; ++k) {
            ck_assert_msg(hash[i] != hash[k], "changes %d and %d", k, i);
        }
    }
    ck_assert_uint_eq(hash[0], hash_with(0));
    ck_assert_uint_eq(hash[10], hash_with(24)); // the index of a prerequisite q means nothing
    ck_assert_uint_ne(hash[9], hash_with(25));
}

END_TEST

START_TEST(every_stage_has_a_name)
{
    for (int s = TAL_STAGE_EMPTY; s <= TAL_STAGE_INFINITY; ++s) {
        ck_assert_ptr_null(strchr(tal_stage_name((tal_stage)s), '('));
    }
    ck_assert_str_eq(tal_stage_name(TAL_STAGE_DYNAMICS), "Dynamics");
    ck_assert_str_eq(tal_stage_name((tal_stage)-1), "(not a stage)");
    ck_assert_str_eq(tal_stage_name((tal_stage)11), "(not a stage)");
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("state/system");
    TCase *tests = tcase_create("system");
    tcase_add_checked_fixture(tests, test_record_breaches, NULL);
    tcase_add_test(tests, a_system_starts_with_the_values_of_its_def);
    tcase_add_test(tests, an_empty_system_has_a_state);
    tcase_add_test(tests, a_bad_def_is_remembered_by_the_system);
    tcase_add_test(tests, the_first_failure_wins_and_later_adds_do_nothing);
    tcase_add_test(tests, a_realized_system_takes_no_more_elements);
    tcase_add_test(tests, every_adopted_subsystem_is_destroyed_exactly_once);
    tcase_add_test(tests, a_subsystem_needs_a_table_with_size_and_name);
    tcase_add_test(tests, subsystems_are_found_by_name);
    tcase_add_test(tests, subsystems_declare_in_ascending_order);
    tcase_add_test(tests, what_a_subsystem_cannot_do_while_it_declares_is_reported);
    tcase_add_test(tests, the_hash_is_equal_for_equal_structures);
    tcase_add_test(tests, the_hash_changes_with_every_part_of_the_structure);
    tcase_add_test(tests, every_stage_has_a_name);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
