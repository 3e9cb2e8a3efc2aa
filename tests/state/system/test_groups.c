// state/src/system/groups.c: slots of the pools, their sizes and owners.
#include "talus_test.h"
#include "toy_system.h"

#include <math.h>
#include <string.h>

static toy made;
static tal_state *state;

static void setup(void)
{
    test_record_breaches();
    ck_assert(toy_build(&made, NULL));
    state = toy_state(&made);
    ck_assert_ptr_nonnull(state);
}

static void teardown(void)
{
    tal_state_destroy(state);
    tal_system_destroy(made.system);
}

static void realize(tal_stage stage)
{
    ck_assert_int_eq(tal_system_realize(made.system, state, stage), TAL_OK);
}

static void choose(tal_var_ix var, int n)
{
    const int32_t value = n;
    ck_assert_int_eq(tal_var_set(made.system, state, var, &value), TAL_OK);
}

static void choose_q(int a, int b, int c)
{
    choose(made.part[0].nq, a);
    choose(made.part[1].nq, b);
    choose(made.part[2].nq, c);
    realize(TAL_STAGE_MODEL);
}

static void choose_m(int a, int b, int c)
{
    choose(made.part[0].m, a);
    choose(made.part[1].m, b);
    choose(made.part[2].m, c);
    realize(TAL_STAGE_INSTANCE);
}

START_TEST(groups_are_packed_without_dead_slots_for_every_choice)
{
    for (int code = 0; code < 64; ++code) {
        const int n[] = {code % 4, code / 4 % 4, code / 16};
        choose_q(n[0], n[1], n[2]);
        int next = 0;
        for (int p = 0; p < TOY_PARTS; ++p) {
            const toy_part *part = &made.part[p];
            ck_assert_int_eq(tal_group_size(made.system, state, part->q), n[p]);
            ck_assert_int_eq(tal_group_start(made.system, state, part->q), next);
            ck_assert_int_eq(tal_group_start(made.system, state, part->u), next);
            ck_assert_int_eq(tal_group_start(made.system, state, part->z), next);
            next += n[p];
        }
        ck_assert_int_eq(tal_state_nq(state), next);
        ck_assert_int_eq(tal_state_ny(state), 3 * next);
        ck_assert_ptr_eq(tal_state_u(state), tal_state_q(state) + next);
        ck_assert_ptr_eq(tal_state_z(state), tal_state_u(state) + next);
        realize(TAL_STAGE_REPORT);
        for (int i = 0; i < 3 * next; ++i) {
            ck_assert(isfinite(tal_state_ydot(state)[i]));
        }
    }
}

END_TEST

START_TEST(every_slot_of_every_pool_has_its_owner)
{
    for (int code = 0; code < 64; ++code) {
        choose_q(code % 4, code / 4 % 4, code / 16);
        choose_m(code % 3, code / 4 % 3, code / 16 % 3);
        for (int pool = TAL_POOL_Q; pool <= TAL_POOL_TRIGGER; ++pool) {
            const int size = tal_state_pool_size(state, (tal_pool)pool);
            int expected_local = 0;
            int last = -1;
            for (int slot = 0; slot < size; ++slot) {
                int local = -1;
                const tal_group_ix owner =
                    tal_state_slot_owner(made.system, state, (tal_pool)pool, slot, &local);
                ck_assert_int_ge(owner.i, 0);
                expected_local = owner.i == last ? expected_local + 1 : 0;
                ck_assert_int_eq(local, expected_local);
                ck_assert_int_lt(local, tal_group_size(made.system, state, owner));
                if (pool != TAL_POOL_TRIGGER) {
                    ck_assert_int_eq(tal_group_start(made.system, state, owner) + local, slot);
                }
                last = owner.i;
            }
            test_assert_breach(
                ck_assert_int_lt(
                    tal_state_slot_owner(made.system, state, (tal_pool)pool, size, NULL).i, 0),
                TAL_ERR_BAD_INDEX, "does not exist: the pool has");
        }
    }
}

END_TEST

START_TEST(triggers_stand_by_stage_and_are_counted_within_it)
{
    choose_m(2, 0, 1);
    ck_assert_int_eq(tal_state_num_triggers(state, TAL_STAGE_TIME), 3);
    ck_assert_int_eq(tal_state_num_triggers(state, TAL_STAGE_POSITION), 0);
    ck_assert_int_eq(tal_state_num_triggers(state, TAL_STAGE_VELOCITY), 3);
    ck_assert_int_eq(tal_state_num_triggers(state, TAL_STAGE_REPORT), 3);
    ck_assert_int_eq(tal_state_pool_size(state, TAL_POOL_TRIGGER), 9);
    ck_assert_int_eq(tal_group_start(made.system, state, made.part[2].triggers_time), 2);
    ck_assert_int_eq(tal_group_start(made.system, state, made.part[2].triggers_report), 2);
    const tal_group_ix owner = tal_state_slot_owner(made.system, state, TAL_POOL_TRIGGER, 5, NULL);
    ck_assert_int_eq(owner.i, made.part[2].triggers_velocity.i);
    realize(TAL_STAGE_REPORT);
    ck_assert_ptr_eq(tal_state_triggers(state, TAL_STAGE_VELOCITY),
                     tal_state_triggers(state, TAL_STAGE_TIME) + 3);
    ck_assert(isfinite(tal_state_triggers(state, TAL_STAGE_REPORT)[2]));
}

END_TEST

START_TEST(a_group_keeps_its_values_exactly_when_its_size_comes_out_as_it_was)
{
    choose_q(2, 1, 3);
    const double q[] = {1, 2, 3, 4, 5, 6};
    ck_assert_int_eq(tal_state_set_q(state, q, 6), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(state, q, 6), TAL_OK);
    ck_assert_int_eq(tal_state_set_weights(state, TAL_POOL_U, q, 6), TAL_OK);
    realize(TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_system_begin_step(made.system, state), TAL_OK);
    choose_q(2, 2, 3);
    const double expected[] = {1, 2, 1.0, -0.5, 4, 5, 6}; // fresh ones: {n/2, -n/4}
    ck_assert_mem_eq(tal_state_q(state), expected, sizeof expected);
    const double speeds[] = {1, 2, 11.0, 9.5, 4, 5, 6}; // the same + 10
    ck_assert_mem_eq(tal_state_u(state), speeds, sizeof speeds);
    const double weights[] = {1, 2, 1, 1, 4, 5, 6};
    ck_assert_mem_eq(tal_state_weights(state, TAL_POOL_U), weights, sizeof weights);
    const double *previous = tal_state_y_prev(state);
    ck_assert_double_eq(previous[1], 2.0);
    ck_assert_double_nan(previous[2]);
    ck_assert_double_nan(previous[3]);
    ck_assert_double_eq(previous[6], 6.0);

    choose_q(2, 2, 3);
    ck_assert_mem_eq(tal_state_q(state), expected, sizeof expected);
    choose_q(2, 1, 3); // smaller is a change, too
    const double smaller[] = {1, 2, 0.5, 4, 5, 6};
    ck_assert_mem_eq(tal_state_q(state), smaller, sizeof smaller);
}

END_TEST

START_TEST(error_weights_follow_their_groups)
{
    choose_m(1, 2, 1);
    const double w[] = {1.5, 2.5, 3.5, 4.5};
    ck_assert_int_eq(tal_state_set_weights(state, TAL_POOL_QERR, w, 4), TAL_OK);
    realize(TAL_STAGE_REPORT);
    ck_assert_int_eq(tal_system_begin_step(made.system, state), TAL_OK);
    const double trigger = tal_state_triggers_prev(state, TAL_STAGE_TIME)[3];
    ck_assert(isfinite(trigger));
    choose_m(1, 0, 1);
    ck_assert_double_eq(tal_state_weights(state, TAL_POOL_QERR)[0], 1.5);
    ck_assert_double_eq(tal_state_weights(state, TAL_POOL_QERR)[1], 4.5);
    ck_assert_double_eq(tal_state_triggers_prev(state, TAL_STAGE_TIME)[1], trigger);
    choose_m(1, 2, 1);
    const double refilled[] = {1.5, 1.0, 1.0, 4.5};
    ck_assert_mem_eq(tal_state_weights(state, TAL_POOL_QERR), refilled, sizeof refilled);
    ck_assert_double_nan(tal_state_triggers_prev(state, TAL_STAGE_TIME)[1]);
}

END_TEST

// --- a subsystem that does everything wrong ---

static struct {
    tal_group_ix q, qerr, udoterr, trigger;
    int mode;
    tal_status got;
    int sizes[4];
    double q_seen;
} sloppy;

static tal_status sloppy_topology(void *self, tal_system *system, tal_subsystem_ix me)
{
    (void)self;
    tal_group_def def = tal_group_def_default();
    def.capacity = 2;
    def.pool = TAL_POOL_Q;
    sloppy.q = tal_system_add_group(system, me, &def);
    def.pool = TAL_POOL_QERR;
    sloppy.qerr = tal_system_add_group(system, me, &def);
    def.pool = TAL_POOL_UDOTERR;
    sloppy.udoterr = tal_system_add_group(system, me, &def);
    def.pool = TAL_POOL_TRIGGER;
    def.stage = TAL_STAGE_POSITION;
    sloppy.trigger = tal_system_add_group(system, me, &def);
    def.pool = TAL_POOL_UERR;
    (void)tal_system_add_group(system, me, &def);
    tal_system_reserve_scratch(system, 64);
    return TAL_OK;
}

static tal_status sloppy_model(const void *self, const tal_system *system, tal_state *s)
{
    (void)self;
    const double bad[] = {1.0, (double)NAN};
    sloppy.got = TAL_OK;
    if (sloppy.mode == 1) sloppy.got = tal_group_set_size(system, s, sloppy.q, 2, bad);
    if (sloppy.mode == 2) sloppy.got = tal_group_set_size(system, s, sloppy.q, -1, NULL);
    if (sloppy.mode == 3) sloppy.got = tal_group_set_size(system, s, sloppy.qerr, 1, NULL);
    if (sloppy.mode == 4) {
        sloppy.sizes[0] = tal_state_nq(s);
        sloppy.sizes[1] = tal_group_size(system, s, sloppy.q);
        sloppy.sizes[2] = tal_group_start(system, s, sloppy.q);
        sloppy.q_seen = tal_state_q(s)[0];
    }
    return sloppy.got;
}

static tal_status sloppy_instance(const void *self, const tal_system *system, tal_state *s)
{
    (void)self;
    if (sloppy.mode == 5) sloppy.sizes[0] = tal_state_pool_size(s, TAL_POOL_QERR);
    if (sloppy.mode == 6) sloppy.got = tal_group_set_size(system, s, sloppy.q, 1, NULL);
    return TAL_OK;
}

static tal_status sloppy_position(const void *self, const tal_system *system, tal_state *s)
{
    (void)self;
    if (sloppy.mode == 8) {
        ck_assert_ptr_nonnull(tal_state_scratch_take(s, 64));
        return TAL_ERR_SINGULAR;
    }
    if (sloppy.mode != 7) return TAL_OK;
    ck_assert_ptr_null(tal_group_upd_dot(system, s, sloppy.q));         // belongs to Velocity
    ck_assert_ptr_null(tal_group_upd_errors(system, s, sloppy.q));      // wrong pool
    ck_assert_ptr_null(tal_group_upd_dot(system, s, sloppy.qerr));      // wrong pool
    ck_assert_ptr_null(tal_group_upd_triggers(system, s, sloppy.qerr)); // wrong pool
    ck_assert_ptr_null(tal_group_upd_qdotdot(system, s, sloppy.qerr));  // wrong pool
    ck_assert_ptr_null(tal_group_upd_multipliers(system, s, sloppy.q)); // wrong pool
    ck_assert_ptr_null(tal_group_upd_multipliers(system, s, (tal_group_ix){99}));
    ck_assert_ptr_nonnull(tal_group_upd_errors(system, s, sloppy.qerr));
    ck_assert_ptr_nonnull(tal_group_upd_triggers(system, s, sloppy.trigger));
    return TAL_OK;
}

static const tal_subsystem_ops sloppy_ops = {
    .size = sizeof sloppy_ops,
    .name = "sloppy",
    .realize_topology = sloppy_topology,
    .realize_model = sloppy_model,
    .realize_instance = sloppy_instance,
    .realize_position = sloppy_position,
};

static tal_system *sloppy_system(tal_state **s)
{
    memset(&sloppy, 0, sizeof sloppy);
    tal_system *system = tal_system_create(NULL);
    (void)tal_system_add_subsystem(system, NULL, &sloppy_ops, NULL);
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, s, NULL), TAL_OK);
    return system;
}

// They show no old numbers; and Acceleration, from which integrators continue, is not reached with
// them.
START_TEST(slots_that_are_not_written_hold_nan)
{
    tal_state *s = NULL;
    tal_system *system = sloppy_system(&s);
    ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_DYNAMICS), TAL_OK);
    for (int i = 0; i < 2; ++i) {
        ck_assert_double_nan(tal_state_qdot(s)[i]);
        ck_assert_double_nan(tal_state_qerr(s)[i]);
        ck_assert_double_nan(tal_state_uerr(s)[i]);
        ck_assert_double_nan(tal_state_triggers(s, TAL_STAGE_POSITION)[i]);
    }
    ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_ACCELERATION), TAL_ERR_NOT_FINITE);
    const char *message = tal_state_error(s)->message;
    ck_assert_msg(strstr(message, "the rate of coordinate 0 of 'group0' in subsystem 'sloppy'") !=
                      NULL,
                  "%s", message);
    ck_assert_int_eq(tal_state_stage(s), TAL_STAGE_DYNAMICS);
    tal_state_destroy(s);
    tal_system_destroy(system);
}

END_TEST

START_TEST(a_group_that_is_not_sized_has_its_capacity)
{
    tal_state *s = NULL;
    tal_system *system = sloppy_system(&s);
    ck_assert_int_eq(tal_state_nq(s), 2);
    sloppy.mode = 3; // errors may be sized at Model, too
    (void)tal_state_invalidate(s, TAL_STAGE_MODEL);
    ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_INSTANCE), TAL_OK);
    ck_assert_int_eq(tal_group_size(system, s, sloppy.qerr), 1);
    (void)tal_state_invalidate(s, TAL_STAGE_INSTANCE);
    ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_INSTANCE), TAL_OK);
    ck_assert_int_eq(tal_group_size(system, s, sloppy.qerr), 1);
    tal_state_destroy(s);
    tal_system_destroy(system);
}

END_TEST

START_TEST(a_bad_size_or_value_fails_the_stage)
{
    const tal_status expected[] = {TAL_OK, TAL_ERR_NOT_FINITE, TAL_ERR_CAPACITY};
    for (int mode = 1; mode <= 2; ++mode) {
        tal_state *s = NULL;
        tal_system *system = sloppy_system(&s);
        sloppy.mode = mode;
        (void)tal_state_invalidate(s, TAL_STAGE_MODEL);
        ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_MODEL), expected[mode]);
        ck_assert_str_eq(tal_state_error(s)->message,
                         mode == 1 ? "group 'group0': initial[1] is nan"
                                   : "group 'group0' cannot have -1 slots: its capacity is 2");
        tal_state_destroy(s);
        tal_system_destroy(system);
    }
}

END_TEST

START_TEST(sizes_cannot_be_read_while_they_are_being_chosen)
{
    tal_state *s = NULL;
    tal_system *system = sloppy_system(&s);
    sloppy.mode = 4;
    (void)tal_state_invalidate(s, TAL_STAGE_MODEL);
    (void)test_breaches();
    ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_MODEL), TAL_OK);
    ck_assert_int_eq(test_breaches(), 4);
    ck_assert_ptr_nonnull(strstr(tal_contract_last()->message, "it is being realized"));
    ck_assert_int_eq(sloppy.sizes[0], -1);
    ck_assert_int_eq(sloppy.sizes[1], -1);
    ck_assert_int_eq(sloppy.sizes[2], -1);
    ck_assert_double_nan(sloppy.q_seen);

    sloppy.mode = 5;
    test_assert_breach((void)!tal_system_realize(system, s, TAL_STAGE_INSTANCE), TAL_ERR_STAGE,
                       "needs stage Instance, but the State has reached only Model");
    ck_assert_int_eq(sloppy.sizes[0], -1);
    tal_state_destroy(s);
    tal_system_destroy(system);
}

END_TEST

START_TEST(groups_are_sized_and_written_at_their_stage_only)
{
    tal_state *s = NULL;
    tal_system *system = sloppy_system(&s);
    sloppy.mode = 6;
    test_assert_breach((void)!tal_system_realize(system, s, TAL_STAGE_INSTANCE), TAL_ERR_STAGE,
                       "group 'group0' is sized while Model is realized, not Instance");
    ck_assert_int_eq(sloppy.got, TAL_ERR_STAGE);
    test_assert_breach((void)tal_group_set_size(system, s, sloppy.qerr, 1, NULL), TAL_ERR_STAGE,
                       "while Model or Instance is");
    sloppy.mode = 7;
    (void)test_breaches();
    ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_POSITION), TAL_OK);
    ck_assert_int_eq(test_breaches(), 7);
    test_assert_breach(ck_assert_ptr_null(tal_group_upd_errors(system, s, sloppy.udoterr)),
                       TAL_ERR_STAGE, "is written while Acceleration is realized, not at Position");
    tal_state_destroy(s);
    tal_system_destroy(system);
}

END_TEST

START_TEST(scratch_that_a_failing_hook_forgot_is_given_back)
{
    tal_state *s = NULL;
    tal_system *system = sloppy_system(&s);
    sloppy.mode = 8;
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_POSITION), TAL_ERR_SINGULAR);
        ck_assert_uint_eq(tal_state_scratch_mark(s), 0);
    }
    tal_state_destroy(s);
    tal_system_destroy(system);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("state/groups");
    TCase *tests = tcase_create("groups");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, groups_are_packed_without_dead_slots_for_every_choice);
    tcase_add_test(tests, every_slot_of_every_pool_has_its_owner);
    tcase_add_test(tests, triggers_stand_by_stage_and_are_counted_within_it);
    tcase_add_test(tests, a_group_keeps_its_values_exactly_when_its_size_comes_out_as_it_was);
    tcase_add_test(tests, error_weights_follow_their_groups);
    tcase_add_test(tests, slots_that_are_not_written_hold_nan);
    tcase_add_test(tests, a_group_that_is_not_sized_has_its_capacity);
    tcase_add_test(tests, a_bad_size_or_value_fails_the_stage);
    tcase_add_test(tests, sizes_cannot_be_read_while_they_are_being_chosen);
    tcase_add_test(tests, scratch_that_a_failing_hook_forgot_is_given_back);
    tcase_add_test(tests, groups_are_sized_and_written_at_their_stage_only);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
