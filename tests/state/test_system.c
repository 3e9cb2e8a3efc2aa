// state/src/system.c, declare.c, topology.c, stage.c: building a System.
#include "talus_test.h"
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

static const tal_subsystem_ops plain = {.size = sizeof plain, .name = "plain"};
static const tal_subsystem_ops adopted = {
    .size = sizeof adopted, .name = "adopted", .destroy = count_destroy};

// Assert that building failed with this status and a sentence that has `part` in it, and that
// realizing the topology tells the same; destroys the System.
static void assert_failed(tal_system *system, tal_status status, const char *part)
{
    ck_assert_int_eq(tal_system_error(system)->status, status);
    ck_assert_msg(strstr(tal_system_error(system)->message, part) != NULL, "'%s' lacks '%s'",
                  tal_system_error(system)->message, part);
    tal_error err;
    ck_assert_int_eq(tal_system_realize_topology(system, &err), status);
    ck_assert_str_eq(err.message, tal_system_error(system)->message);
    ck_assert(!tal_system_has_topology(system));
    ck_assert_uint_eq(tal_system_structure_hash(system), 0);
    tal_system_destroy(system);
}

static tal_system *with_subsystem(tal_subsystem_ix *me)
{
    tal_system *system = tal_system_create(NULL);
    *me = tal_system_add_subsystem(system, "s", &plain, NULL);
    ck_assert_int_eq(me->i, 0);
    return system;
}

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

START_TEST(what_a_subsystem_cannot_do_while_it_declares_is_told)
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

// --- variables ---

static tal_status no_calc(const void *context, const tal_system *system, tal_state *state,
                          void *value)
{
    (void)context;
    (void)system;
    (void)state;
    *(double *)value = 0.0;
    return TAL_OK;
}

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
        assert_var_fails(&def, TAL_ERR_BAD_VALUE, "only Model to Report");
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
    assert_var_fails(&def, TAL_ERR_BAD_NAME, "no room for '.update'");
    def.name = "1234567890123456789012345678901234567890123456789012345678901234";
    assert_var_fails(&def, TAL_ERR_BAD_NAME, "this one 64");
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
    def.computed_by = TAL_STAGE_INFINITY;
    def.num_prereqs = 1;
    assert_cache_fails(&def, TAL_ERR_BAD_VALUE, "1 prerequisites at NULL");
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
    assert_event_fails(&def, TAL_ERR_BAD_INDEX, "no tal_event_flags in variable 3");
    def.flags.i = -1;
    def.crossing = (tal_crossing)-1;
    assert_event_fails(&def, TAL_ERR_BAD_VALUE, "there is no crossing -1");
    def.crossing = TAL_CROSSING_EITHER;
    def.causes = 1u << TAL_EVENT_SIGNALED;
    assert_event_fails(&def, TAL_ERR_BAD_VALUE, "these are no causes");
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

START_TEST(an_event_is_told_as_it_was_declared)
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
    assert_failed(system, TAL_ERR_CAPACITY, "would not fit into memory");

    system = with_subsystem(&me);
    tal_system_reserve_scratch(system, SIZE_MAX);
    assert_failed(system, TAL_ERR_CAPACITY, "of scratch are too many");
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
    ck_assert_int_eq(tal_system_pool_capacity(a.system, (tal_pool)9), -1);
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
    if (change == 9) var.update = no_calc;
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
    tcase_add_test(tests, what_a_subsystem_cannot_do_while_it_declares_is_told);
    tcase_add_test(tests, a_bad_variable_is_refused_with_a_sentence);
    tcase_add_test(tests, names_are_unique_within_owner_and_kind_and_given_when_missing);
    tcase_add_test(tests, an_element_needs_an_owner_that_exists);
    tcase_add_test(tests, a_bad_cache_entry_is_refused_with_a_sentence);
    tcase_add_test(tests, a_stage_promises_no_entry_that_can_change_while_it_stands);
    tcase_add_test(tests, a_bad_group_is_refused_with_a_sentence);
    tcase_add_test(tests, a_bad_event_is_refused_with_a_sentence);
    tcase_add_test(tests, an_event_is_told_as_it_was_declared);
    tcase_add_test(tests, a_state_that_cannot_fit_into_memory_is_refused);
    tcase_add_test(tests, the_hash_is_equal_for_equal_structures);
    tcase_add_test(tests, the_hash_changes_with_every_part_of_the_structure);
    tcase_add_test(tests, every_stage_has_a_name);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
