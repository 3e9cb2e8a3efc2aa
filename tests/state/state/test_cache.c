// state/src/state/cache.c, realize.c: when a result may be read, and what computes it.
#include "talus_test.h"
#include "toy_system.h"

#include <stdint.h>
#include <string.h>

static toy made;
static tal_state *state;

static void setup(void)
{
    test_record_breaches();
    ck_assert(toy_build(&made, NULL));
    state = toy_state(&made);
    ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_REPORT), TAL_OK);
    (void)toy_digest(&made, state);
}

static void teardown(void)
{
    tal_state_destroy(state);
    tal_system_destroy(made.system);
}

static bool valid(tal_cache_ix entry)
{
    return tal_cache_is_valid(made.system, state, entry);
}

// --- lazy entries survive exactly the changes that do not touch what they need ---

enum {
    CHANGE_T,
    CHANGE_Q,
    CHANGE_U,
    CHANGE_Z,
    CHANGE_Y,
    CHANGE_NQ,
    CHANGE_M,
    CHANGE_VAR_INSTANCE,
    CHANGE_VAR_DYNAMICS = CHANGE_VAR_INSTANCE + TAL_STAGE_DYNAMICS - TAL_STAGE_INSTANCE,
    CHANGE_VAR_REPORT = CHANGE_VAR_INSTANCE + TAL_STAGE_REPORT - TAL_STAGE_INSTANCE,
    CHANGE_MODE,
    CHANGE_PEAK,
    CHANGE_WEIGHTS_U,
    CHANGE_WEIGHTS_QERR,
    CHANGE_STEP,
    CHANGE_ENTRY,
    CHANGE_OTHER_PART,
    NUM_CHANGES
};

static void change(int what)
{
    const toy_part *part = &made.part[0];
    const double ones[TOY_PARTS * TOY_MAX_Q] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    static int32_t n = 1;
    n = 3 - n; // a choice that really changes
    if (what == CHANGE_T) {
        (void)tal_state_set_t(state, 2.0);
    } else if (what == CHANGE_Q) {
        (void)tal_state_upd_q(state);
    } else if (what == CHANGE_U) {
        (void)tal_state_upd_u(state);
    } else if (what == CHANGE_Z) {
        (void)tal_state_upd_z(state);
    } else if (what == CHANGE_Y) {
        (void)tal_state_upd_y(state);
    } else if (what == CHANGE_NQ) {
        (void)tal_var_set(made.system, state, part->nq, &n);
    } else if (what == CHANGE_M) {
        (void)tal_var_set(made.system, state, part->m, &n);
    } else if (what == CHANGE_MODE) {
        (void)tal_var_set_double(made.system, state, part->mode, 2.0);
    } else if (what == CHANGE_PEAK) {
        (void)tal_var_set_double(made.system, state, part->peak, 2.0);
    } else if (what == CHANGE_WEIGHTS_U) {
        (void)tal_state_set_weights(state, TAL_POOL_U, ones, tal_state_nu(state));
    } else if (what == CHANGE_WEIGHTS_QERR) {
        const int m = tal_state_pool_size(state, TAL_POOL_QERR);
        (void)tal_state_set_weights(state, TAL_POOL_QERR, ones, m);
    } else if (what == CHANGE_STEP) {
        ck_assert_int_eq(tal_system_begin_step(made.system, state), TAL_OK);
    } else if (what == CHANGE_ENTRY) {
        (void)tal_cache_invalidate(made.system, state, part->of_q);
    } else if (what == CHANGE_OTHER_PART) {
        const tal_var_ix other = made.part[1].var[TAL_STAGE_DYNAMICS];
        (void)tal_var_set_double(made.system, state, other, 2.0);
    } else {
        const tal_var_ix var = part->var[TAL_STAGE_INSTANCE + what - CHANGE_VAR_INSTANCE];
        (void)tal_var_set_double(made.system, state, var, 2.0);
    }
    ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_REPORT), TAL_OK);
}

#define BIT(x)  (1U << (x))
#define BELOW_Q (BIT(CHANGE_NQ) | BIT(CHANGE_M) | BIT(CHANGE_VAR_INSTANCE))
#define POSITION                                                                                   \
    (BELOW_Q | BIT(CHANGE_T) | BIT(CHANGE_Q) | BIT(CHANGE_Y) | BIT(CHANGE_VAR_INSTANCE + 1) |      \
     BIT(CHANGE_VAR_INSTANCE + 2) | BIT(CHANGE_MODE) | BIT(CHANGE_WEIGHTS_QERR))
#define DYNAMICS                                                                                   \
    (POSITION | BIT(CHANGE_U) | BIT(CHANGE_Z) | BIT(CHANGE_PEAK) | BIT(CHANGE_VAR_INSTANCE + 3) |  \
     BIT(CHANGE_VAR_DYNAMICS) | BIT(CHANGE_OTHER_PART))

// Whether the entry is still the one that was there before the change, though somebody may have
// asked for it since: a mark in the value stays exactly if the value is not computed again.
static bool survives(tal_cache_ix entry, int what)
{
    const double mark = 1234.5;
    double *value = (double *)(uintptr_t)tal_cache_value(made.system, state, entry);
    const double kept = *value;
    const bool used_at_once = what == CHANGE_STEP; // the mark would become a variable
    if (!used_at_once) *value = mark;
    change(what);
    if (!valid(entry)) return false;
    const bool survived = used_at_once || memcmp(value, &mark, sizeof mark) == 0;
    if (survived) *value = kept;
    return survived;
}

START_TEST(a_lazy_entry_survives_exactly_the_changes_that_do_not_touch_what_it_needs)
{
    const toy_part *part = &made.part[0];

    const struct {
        tal_cache_ix entry;
        unsigned lost_by;
    } table[] = {
        {part->of_q, BELOW_Q | BIT(CHANGE_Q) | BIT(CHANGE_Y) | BIT(CHANGE_ENTRY)},
        {part->of_qu, BELOW_Q | BIT(CHANGE_Q) | BIT(CHANGE_U) | BIT(CHANGE_Y) | BIT(CHANGE_ENTRY)},
        {part->of_tz, BELOW_Q | BIT(CHANGE_T) | BIT(CHANGE_Z) | BIT(CHANGE_Y)},
        {part->chain, DYNAMICS | BIT(CHANGE_ENTRY)},
        {part->of_var, BIT(CHANGE_VAR_REPORT)},
        {part->of_mode, BIT(CHANGE_NQ) | BIT(CHANGE_MODE)},
        {part->of_u, BIT(CHANGE_NQ) | BIT(CHANGE_U) | BIT(CHANGE_Y)},
        {part->of_stored, BIT(CHANGE_PEAK) | BIT(CHANGE_STEP)},
        {part->of_peak, POSITION | BIT(CHANGE_PEAK) | BIT(CHANGE_STEP)},
        {tal_var_update(made.system, part->peak), POSITION | BIT(CHANGE_PEAK) | BIT(CHANGE_STEP)},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        for (int what = 0; what < NUM_CHANGES; ++what) {
            (void)toy_digest(&made, state);
            ck_assert(valid(table[i].entry));
            const bool survived = survives(table[i].entry, what);
            const bool expected = (table[i].lost_by & BIT(what)) == 0;
            ck_assert_msg(survived == expected, "'%s' after change %d",
                          tal_cache_name(made.system, table[i].entry), what);
            (void)tal_state_invalidate(state, TAL_STAGE_INSTANCE);
            ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_REPORT), TAL_OK);
        }
    }
}

END_TEST

START_TEST(a_lazy_entry_is_computed_once_and_brings_what_it_needs)
{
    const toy_part *part = &made.part[0];
    (void)tal_state_upd_q(state);
    ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_DYNAMICS), TAL_OK);
    (void)tal_cache_invalidate(made.system, state, part->of_q);
    (void)tal_cache_invalidate(made.system, state, part->of_tz);
    const uint64_t before = tal_state_statistics(state).lazy_calcs;
    ck_assert_ptr_nonnull(tal_cache_realize(made.system, state, part->chain));
    // of_q, of_qu, of_tz and chain itself
    ck_assert_uint_eq(tal_state_statistics(state).lazy_calcs, before + 4);
    ck_assert(valid(part->of_q) && valid(part->of_qu) && valid(part->of_tz));
    ck_assert_ptr_nonnull(tal_cache_realize(made.system, state, part->chain));
    ck_assert_uint_eq(tal_state_statistics(state).lazy_calcs, before + 4);
}

END_TEST

START_TEST(an_eager_entry_is_valid_exactly_from_its_stage_on)
{
    const toy_part *part = &made.part[1];
    for (int g = TAL_STAGE_INSTANCE; g <= TAL_STAGE_REPORT; ++g) {
        ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_REPORT), TAL_OK);
        (void)tal_state_invalidate(state, (tal_stage)g);
        for (int s = TAL_STAGE_INSTANCE; s <= TAL_STAGE_REPORT; ++s) {
            ck_assert_int_eq(valid(part->by[s]), s < g);
        }
        // it needs Position and u: a new realization of Velocity alone leaves it as it is
        ck_assert_int_eq(valid(part->written), g > TAL_STAGE_POSITION);
    }
}

END_TEST

START_TEST(reading_an_entry_out_of_date_is_reported_and_gives_nothing)
{
    const toy_part *part = &made.part[0];
    (void)tal_state_set_t(state, 1.0);
    test_assert_breach(
        ck_assert_ptr_null(tal_cache_value(made.system, state, part->by[TAL_STAGE_VELOCITY])),
        TAL_ERR_STAGE, "'by 6' of subsystem 'late' needs stage Velocity, but");
    ck_assert_ptr_nonnull(strstr(tal_contract_last()->message, "reached only Instance"));
    (void)tal_state_upd_q(state);
    test_assert_breach(ck_assert_ptr_null(tal_cache_value(made.system, state, part->of_q)),
                       TAL_ERR_STAGE, "out of date at stage Instance: realize it with");
    test_assert_breach(
        ck_assert_ptr_null(tal_cache_realize(made.system, state, part->by[TAL_STAGE_TIME])),
        TAL_ERR_STAGE, "needs stage Time");
    ck_assert_int_eq(tal_state_error(state)->status, TAL_ERR_STAGE);
    ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_VELOCITY), TAL_OK);
    (void)tal_cache_invalidate(made.system, state, part->written);
    test_assert_breach(ck_assert_ptr_null(tal_cache_realize(made.system, state, part->written)),
                       TAL_ERR_STAGE, "only its owner writes it");
    test_assert_breach(ck_assert_ptr_null(tal_cache_value(made.system, state, part->written)),
                       TAL_ERR_STAGE, "realize Velocity");
    test_assert_breach(
        ck_assert_double_nan(tal_cache_realize_double(made.system, state, part->written)),
        TAL_ERR_BAD_VALUE, "has 16 bytes");
}

END_TEST

START_TEST(an_entry_written_by_its_owner_is_valid_when_marked)
{
    const toy_part *part = &made.part[0];
    double *written = tal_cache_upd(made.system, state, part->written);
    ck_assert(!valid(part->written));
    written[0] = 9.0;
    ck_assert_int_eq(tal_cache_mark_valid(made.system, state, part->written), TAL_OK);
    ck_assert(valid(part->written));
    const double *read = tal_cache_value(made.system, state, part->written);
    ck_assert_double_eq(read[0], 9.0);

    (void)tal_state_upd_u(state);
    ck_assert(!valid(part->written));
    (void)tal_state_set_t(state, 1.0);
    test_assert_breach((void)tal_cache_mark_valid(made.system, state, part->written), TAL_ERR_STAGE,
                       "needs stage Position");
    ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_DYNAMICS), TAL_OK);
    (void)tal_cache_invalidate(made.system, state, part->of_tz);
    test_assert_breach((void)tal_cache_mark_valid(made.system, state, part->chain), TAL_ERR_STAGE,
                       "'chain' cannot be valid: it needs 'of t, z'");
}

END_TEST

// --- calc functions that misbehave ---

static struct {
    tal_cache_ix a, b;
    tal_status give;
    int depth;
} odd;

static tal_status calc_odd(const void *self, const tal_system *system, tal_state *s, void *value)
{
    (void)self;
    (void)tal_state_scratch_take(s, 64);
    *(double *)value = 1.0;
    if (odd.depth > 0) {
        const void *other = tal_cache_realize(system, s, odd.b);
        return other != NULL ? TAL_OK : TAL_ERR_CALLBACK;
    }
    if (odd.give == TAL_ERR_SINGULAR) return tal_state_fail(s, odd.give, "pivot %d is zero", 3);
    return odd.give;
}

static tal_status calc_back(const void *self, const tal_system *system, tal_state *s, void *value)
{
    (void)self;
    *(double *)value = 2.0;
    return tal_cache_realize(system, s, odd.a) != NULL ? TAL_OK : TAL_ERR_CALLBACK;
}

static tal_status calc_writes(const void *self, const tal_system *system, tal_state *s, void *value)
{
    (void)self;
    (void)system;
    *(double *)value = 3.0;
    return tal_state_set_t(s, 5.0);
}

static tal_status declare_odd(void *self, tal_system *system, tal_subsystem_ix me)
{
    tal_cache_def def = tal_cache_def_default();
    def.size = sizeof(double);
    def.name = "a";
    def.calc = calc_odd;
    odd.a = tal_system_add_cache(system, me, &def);
    def.name = "b";
    def.calc = calc_back;
    odd.b = tal_system_add_cache(system, me, &def);
    def.name = "eager";
    def.computed_by = TAL_STAGE_POSITION;
    def.calc = *(const int *)self == 1 ? calc_odd : *(const int *)self == 2 ? NULL : calc_writes;
    if (*(const int *)self != 0) (void)tal_system_add_cache(system, me, &def);
    tal_system_reserve_scratch(system, 64);
    return TAL_OK;
}

static tal_system *odd_system(int *kind, tal_state **s)
{
    static const tal_subsystem_ops ops = {
        .size = sizeof ops, .name = "odd", .realize_topology = declare_odd};
    memset(&odd, 0, sizeof odd);
    tal_system *system = tal_system_create(NULL);
    (void)tal_system_add_subsystem(system, NULL, &ops, kind);
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, s, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, *s, TAL_STAGE_TIME), TAL_OK);
    return system;
}

START_TEST(a_failed_computation_leaves_the_entry_invalid_and_tells_why)
{
    int kind = 0;
    tal_state *s = NULL;
    tal_system *system = odd_system(&kind, &s);
    odd.give = TAL_ERR_NOT_FINITE;
    ck_assert_ptr_null(tal_cache_realize(system, s, odd.a));
    ck_assert_int_eq(tal_state_error(s)->status, TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(s)->message, "'a' of subsystem 'odd'"));
    ck_assert(!tal_cache_is_valid(system, s, odd.a));
    odd.give = TAL_ERR_SINGULAR;
    ck_assert_double_nan(tal_cache_realize_double(system, s, odd.a));
    ck_assert_str_eq(tal_state_error(s)->message, "pivot 3 is zero");
    odd.give = TAL_OK;
    ck_assert_double_eq(tal_cache_realize_double(system, s, odd.a), 1.0);
    ck_assert_int_eq(tal_state_error(s)->status, TAL_OK);
    ck_assert_int_eq(test_breaches(), 0);
    ck_assert_uint_eq(tal_state_scratch_mark(s), 0); // released although calc did not do it
    tal_state_destroy(s);
    tal_system_destroy(system);
}

END_TEST

START_TEST(entries_that_need_each_other_are_reported_and_do_not_hang)
{
    int kind = 0;
    tal_state *s = NULL;
    tal_system *system = odd_system(&kind, &s);
    odd.depth = 1;
    test_assert_breach(ck_assert_ptr_null(tal_cache_realize(system, s, odd.a)), TAL_ERR_CALLBACK,
                       "'a' of subsystem 'odd' depends on itself");
    ck_assert(!tal_cache_is_valid(system, s, odd.a) && !tal_cache_is_valid(system, s, odd.b));
    tal_state_destroy(s);
    tal_system_destroy(system);
}

END_TEST

START_TEST(a_stage_whose_entry_fails_is_not_reached)
{
    int kind = 1;
    tal_state *s = NULL;
    tal_system *system = odd_system(&kind, &s);
    odd.give = TAL_RETRY;
    ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_REPORT), TAL_RETRY);
    ck_assert_int_eq(tal_state_stage(s), TAL_STAGE_TIME);
    odd.give = TAL_OK;
    ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_REPORT), TAL_OK);
    tal_state_destroy(s);
    tal_system_destroy(system);

    kind = 2;
    system = odd_system(&kind, &s);
    ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_REPORT), TAL_ERR_CALLBACK);
    ck_assert_ptr_nonnull(
        strstr(tal_state_error(s)->message, "declared 'eager' as computed by stage Position"));
    tal_state_destroy(s);
    tal_system_destroy(system);
}

END_TEST

START_TEST(variables_cannot_be_set_while_results_are_computed_from_them)
{
    int kind = 3;
    tal_state *s = NULL;
    tal_system *system = odd_system(&kind, &s);
    test_assert_breach(
        ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_POSITION), TAL_ERR_STAGE),
        TAL_ERR_STAGE, "while results are being computed");
    ck_assert_double_eq(tal_state_t(s), 0.0);
    ck_assert_int_eq(tal_state_stage(s), TAL_STAGE_TIME);
    // reported once: the next realize does not fail for the same reason
    ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_TIME), TAL_OK);
    tal_state_destroy(s);
    tal_system_destroy(system);
}

END_TEST

// --- a chain as long as the user likes ---

enum {
    LINKS = 3000
};

static tal_cache_ix link_of[LINKS];

static tal_status calc_link(const void *context, const tal_system *system, tal_state *s,
                            void *value)
{
    const tal_cache_ix *mine = context;
    double sum = 1.0;
    if (mine != link_of) sum += *(const double *)tal_cache_value(system, s, mine[-1]);
    *(double *)value = sum;
    return TAL_OK;
}

static tal_status declare_chain(void *self, tal_system *system, tal_subsystem_ix me)
{
    (void)self;
    tal_cache_def def = tal_cache_def_default();
    def.size = sizeof(double);
    def.calc = calc_link;
    for (int i = 0; i < LINKS; ++i) {
        const tal_prereq need =
            i > 0 ? tal_prereq_cache(link_of[i - 1]) : (tal_prereq){TAL_PREREQ_Q, 0};
        def.context = &link_of[i];
        def.prereqs = &need;
        def.num_prereqs = 1;
        link_of[i] = tal_system_add_cache(system, me, &def);
    }
    return TAL_OK;
}

START_TEST(a_long_chain_of_entries_is_computed_without_recursion)
{
    static const tal_subsystem_ops ops = {
        .size = sizeof ops, .name = "chain", .realize_topology = declare_chain};
    tal_system *system = tal_system_create(NULL);
    (void)tal_system_add_subsystem(system, NULL, &ops, NULL);
    tal_state *s = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &s, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_INSTANCE), TAL_OK);
    ck_assert_double_eq(tal_cache_realize_double(system, s, link_of[LINKS - 1]), LINKS);
    ck_assert_uint_eq(tal_state_statistics(s).lazy_calcs, LINKS);
    (void)tal_state_upd_q(s);
    ck_assert(!tal_cache_is_valid(system, s, link_of[LINKS - 1]));
    tal_state_destroy(s);
    tal_system_destroy(system);
}

END_TEST

// --- what a stage promised ---

static struct {
    tal_cache_ix low, high;
} pair;

static tal_status calc_pair(const void *self, const tal_system *system, tal_state *s, void *value)
{
    (void)self, (void)system, (void)s;
    *(double *)value = 1.0;
    return TAL_OK;
}

static tal_status declare_pair(void *self, tal_system *system, tal_subsystem_ix me)
{
    (void)self;
    tal_cache_def def = tal_cache_def_default();
    def.name = "low";
    def.size = sizeof(double);
    def.calc = calc_pair;
    pair.low = tal_system_add_cache(system, me, &def);
    const tal_prereq needs[] = {tal_prereq_cache(pair.low), {TAL_PREREQ_Q, 0}};
    def.name = "high";
    def.computed_by = TAL_STAGE_POSITION;
    def.prereqs = needs;
    def.num_prereqs = 2;
    pair.high = tal_system_add_cache(system, me, &def);
    return TAL_OK;
}

START_TEST(what_a_stage_promised_is_out_of_date_once_an_owner_rewrites_what_it_rests_on)
{
    static const tal_subsystem_ops ops = {
        .size = sizeof ops, .name = "pair", .realize_topology = declare_pair};
    tal_system *system = tal_system_create(NULL);
    (void)tal_system_add_subsystem(system, "pair", &ops, NULL);
    tal_state *s = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &s, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_VELOCITY), TAL_OK);
    ck_assert(tal_cache_is_valid(system, s, pair.high));

    (void)tal_cache_invalidate(system, s, pair.low);
    ck_assert_int_eq(tal_state_stage(s), TAL_STAGE_VELOCITY);
    ck_assert(!tal_cache_is_valid(system, s, pair.high));
    ck_assert_ptr_nonnull(tal_cache_realize(system, s, pair.low));
    ck_assert(!tal_cache_is_valid(system, s, pair.high));
    ck_assert_ptr_nonnull(tal_cache_realize(system, s, pair.high));
    ck_assert(tal_cache_is_valid(system, s, pair.high));

    (void)tal_cache_upd(system, s, pair.low);
    ck_assert_int_eq(tal_cache_mark_valid(system, s, pair.low), TAL_OK);
    ck_assert(tal_cache_is_valid(system, s, pair.low));
    ck_assert(!tal_cache_is_valid(system, s, pair.high));
    tal_state_destroy(s);
    tal_system_destroy(system);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("state/cache");
    TCase *tests = tcase_create("cache");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests,
                   a_lazy_entry_survives_exactly_the_changes_that_do_not_touch_what_it_needs);
    tcase_add_test(tests, a_lazy_entry_is_computed_once_and_brings_what_it_needs);
    tcase_add_test(tests, an_eager_entry_is_valid_exactly_from_its_stage_on);
    tcase_add_test(tests, reading_an_entry_out_of_date_is_reported_and_gives_nothing);
    tcase_add_test(tests, an_entry_written_by_its_owner_is_valid_when_marked);
    tcase_add_test(tests,
                   what_a_stage_promised_is_out_of_date_once_an_owner_rewrites_what_it_rests_on);
    tcase_add_test(tests, a_failed_computation_leaves_the_entry_invalid_and_tells_why);
    tcase_add_test(tests, entries_that_need_each_other_are_reported_and_do_not_hang);
    tcase_add_test(tests, a_stage_whose_entry_fails_is_not_reached);
    tcase_add_test(tests, variables_cannot_be_set_while_results_are_computed_from_them);
    tcase_add_test(tests, a_long_chain_of_entries_is_computed_without_recursion);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
