// Broken contracts: every public function of state/, called wrongly, answers with its specific
// status, NaN, -1 or NULL and tells the handler exactly one sentence. Nothing aborts.
#include "talus_test.h"
#include "toy_system.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static toy made;
static tal_state *state;
static tal_state *stranger; // of another System
static tal_system *other;

static void setup(void)
{
    test_record_breaches();
    ck_assert(toy_build(&made, NULL));
    state = toy_state(&made);
    other = tal_system_create(NULL);
    ck_assert_int_eq(tal_system_realize_topology(other, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(other, &stranger, NULL), TAL_OK);
}

static void teardown(void)
{
    tal_state_destroy(state);
    tal_state_destroy(stranger);
    tal_system_destroy(made.system);
    tal_system_destroy(other);
}

// There must be one sentence: not empty, no newline, with the name of the function.
static void assert_one_sentence(tal_status status, const char *where)
{
    const tal_error *breach = tal_contract_last();
    ck_assert_msg(test_breaches() == 1, "%s: not exactly one sentence", where);
    ck_assert_msg(breach->status == status, "%s: %s, not %s (%s)", where,
                  tal_status_name(breach->status), tal_status_name(status), breach->message);
    ck_assert_msg(strncmp(where, breach->where, strlen(breach->where)) == 0, "'%s' speaks for '%s'",
                  breach->where, where);
    ck_assert(breach->message[0] != '\0' && strchr(breach->message, '\n') == NULL);
}

#define SPEAKS(status, call)                                                                       \
    do {                                                                                           \
        (void)test_breaches();                                                                     \
        call;                                                                                      \
        assert_one_sentence((status), #call);                                                      \
    } while (0)
// The call returns the status.
#define RETURNS(status, call)                                                                      \
    do {                                                                                           \
        (void)test_breaches();                                                                     \
        const tal_status returned = call;                                                          \
        assert_one_sentence((status), #call);                                                      \
        ck_assert_msg(returned == (status), "%s returned %s", #call, tal_status_name(returned));   \
    } while (0)
#define GIVES_NULL(status, call)                                                                   \
    do {                                                                                           \
        (void)test_breaches();                                                                     \
        const void *given = call;                                                                  \
        assert_one_sentence((status), #call);                                                      \
        ck_assert_msg(given == NULL, "%s", #call);                                                 \
    } while (0)
#define GIVES_NAN(status, call)                                                                    \
    do {                                                                                           \
        (void)test_breaches();                                                                     \
        const double given = call;                                                                 \
        assert_one_sentence((status), #call);                                                      \
        ck_assert_msg(isnan(given), "%s", #call);                                                  \
    } while (0)
#define GIVES_MINUS_1(status, call)                                                                \
    do {                                                                                           \
        (void)test_breaches();                                                                     \
        const int given = call;                                                                    \
        assert_one_sentence((status), #call);                                                      \
        ck_assert_msg(given == -1, "%s", #call);                                                   \
    } while (0)

static const double one[32] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                               1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const tal_subsystem_ix no_subsystem = {-1};
static const tal_var_ix no_var = {-1};
static const tal_cache_ix no_entry = {-1};
static const tal_group_ix no_group = {-1};
static const tal_event_ix no_event = {-1};

START_TEST(a_null_system_is_reported_while_building)
{
    tal_system *none = NULL;
    RETURNS(TAL_ERR_NULL, tal_system_realize_topology(none, NULL));
    RETURNS(TAL_ERR_NULL, tal_system_fail(none, TAL_ERR_SINGULAR, "x"));
    GIVES_NAN(TAL_ERR_NULL, tal_system_time_scale(none));
    GIVES_MINUS_1(TAL_ERR_NULL, tal_system_num_subsystems(none));
    SPEAKS(TAL_ERR_NULL, tal_subsystem_name(none, no_subsystem));
    GIVES_NULL(TAL_ERR_NULL, tal_subsystem_self(none, no_subsystem));
    GIVES_MINUS_1(TAL_ERR_NULL, tal_system_add_subsystem(none, "x", NULL, NULL).i);
    GIVES_MINUS_1(TAL_ERR_NULL, tal_system_add_var(none, no_subsystem, NULL).i);
    GIVES_MINUS_1(TAL_ERR_NULL, tal_system_add_cache(none, no_subsystem, NULL).i);
    GIVES_MINUS_1(TAL_ERR_NULL, tal_system_add_group(none, no_subsystem, NULL).i);
    GIVES_MINUS_1(TAL_ERR_NULL, tal_system_add_event(none, no_subsystem, NULL).i);
    SPEAKS(TAL_ERR_NULL, tal_system_reserve_scratch(none, 1));
    SPEAKS(TAL_ERR_NULL, tal_var_name(none, no_var));
    SPEAKS(TAL_ERR_NULL, tal_cache_name(none, no_entry));
    SPEAKS(TAL_ERR_NULL, tal_group_name(none, no_group));
    SPEAKS(TAL_ERR_NULL, tal_event_name(none, no_event));
    GIVES_MINUS_1(TAL_ERR_NULL, tal_system_num_events(none));
    SPEAKS(TAL_ERR_NULL, tal_event_declared(none, no_event));
    SPEAKS(TAL_ERR_NULL, tal_group_stage(none, no_group));
    GIVES_MINUS_1(TAL_ERR_NULL, tal_var_owner(none, no_var).i);
    GIVES_MINUS_1(TAL_ERR_NULL, tal_var_update(none, no_var).i);
    SPEAKS(TAL_ERR_NULL, tal_system_has_updates(none));
    GIVES_MINUS_1(TAL_ERR_NULL, tal_cache_owner(none, no_entry).i);
    GIVES_MINUS_1(TAL_ERR_NULL, tal_group_owner(none, no_group).i);
    GIVES_MINUS_1(TAL_ERR_NULL, tal_event_owner(none, no_event).i);
    RETURNS(TAL_ERR_NULL, tal_state_create(none, &(tal_state *){NULL}, NULL));
    RETURNS(TAL_ERR_NULL, tal_state_create(made.system, NULL, NULL));
    tal_error err;
    ck_assert_int_eq(tal_system_realize_topology(none, &err), TAL_ERR_NULL);
    ck_assert_int_eq(err.status, TAL_ERR_NULL);
}

END_TEST

START_TEST(asking_a_null_whether_it_is_there_is_no_breach)
{
    ck_assert(!tal_system_has_topology(NULL));
    ck_assert_int_eq(tal_system_error(NULL)->status, TAL_ERR_NULL);
    ck_assert_str_eq(tal_system_name(NULL), "(no system)");
    ck_assert_uint_eq(tal_system_structure_hash(NULL), 0);
    ck_assert_uint_eq(tal_system_state_size(NULL), 0);
    ck_assert(tal_system_allocator(NULL).alloc != NULL);
    ck_assert_int_eq(tal_system_pool_capacity(NULL, TAL_POOL_Q), -1);
    ck_assert_int_eq(tal_system_find_var(NULL, no_subsystem, "x").i, -1);
    ck_assert_int_eq(tal_system_find_event(NULL, no_subsystem, "x").i, -1);
    ck_assert_int_eq(tal_system_find_group(NULL, no_subsystem, TAL_POOL_Q, "x").i, -1);
    ck_assert_int_eq(tal_state_stage(NULL), TAL_STAGE_EMPTY);
    ck_assert_uint_eq(tal_state_structure_hash(NULL), 0);
    ck_assert_int_eq(tal_state_error(NULL)->status, TAL_ERR_NULL);
    tal_system_destroy(NULL);
    tal_state_destroy(NULL);
    ck_assert_int_eq(test_breaches(), 0);
}

END_TEST

START_TEST(a_null_state_is_reported)
{
    tal_state *none = NULL;
    RETURNS(TAL_ERR_NULL, tal_state_fail(none, TAL_ERR_SINGULAR, "x"));
    RETURNS(TAL_ERR_NULL, tal_state_copy(none, state));
    RETURNS(TAL_ERR_NULL, tal_state_copy(state, none));
    RETURNS(TAL_ERR_NULL, tal_state_invalidate(none, TAL_STAGE_TIME));
    SPEAKS(TAL_ERR_NULL, tal_state_is_equal(state, none));
    SPEAKS(TAL_ERR_NULL, tal_state_lowest_difference(made.system, state, none));
    SPEAKS(TAL_ERR_NULL, tal_state_low_water(none));
    SPEAKS(TAL_ERR_NULL, tal_state_reset_low_water(none));
    SPEAKS(TAL_ERR_NULL, tal_state_statistics(none));
    GIVES_MINUS_1(TAL_ERR_NULL, tal_state_pool_size(none, TAL_POOL_Q));
    GIVES_MINUS_1(TAL_ERR_NULL, tal_state_nq(none));
    GIVES_MINUS_1(TAL_ERR_NULL, tal_state_nu(none));
    GIVES_MINUS_1(TAL_ERR_NULL, tal_state_nz(none));
    GIVES_MINUS_1(TAL_ERR_NULL, tal_state_ny(none));
    GIVES_NAN(TAL_ERR_NULL, tal_state_t(none));
    GIVES_NAN(TAL_ERR_NULL, tal_state_t_prev(none));
    RETURNS(TAL_ERR_NULL, tal_state_set_t(none, 1.0));
    RETURNS(TAL_ERR_NULL, tal_state_set_q(none, one, 1));
    RETURNS(TAL_ERR_NULL, tal_state_set_u(none, one, 1));
    RETURNS(TAL_ERR_NULL, tal_state_set_z(none, one, 1));
    RETURNS(TAL_ERR_NULL, tal_state_set_y(none, one, 1));
    RETURNS(TAL_ERR_NULL, tal_state_set_weights(none, TAL_POOL_U, one, 1));
    GIVES_NULL(TAL_ERR_NULL, tal_state_upd_q(none));
    GIVES_NULL(TAL_ERR_NULL, tal_state_upd_u(none));
    GIVES_NULL(TAL_ERR_NULL, tal_state_upd_z(none));
    GIVES_NULL(TAL_ERR_NULL, tal_state_upd_y(none));
    GIVES_NULL(TAL_ERR_NULL, tal_state_q(none));
    GIVES_NULL(TAL_ERR_NULL, tal_state_u(none));
    GIVES_NULL(TAL_ERR_NULL, tal_state_z(none));
    GIVES_NULL(TAL_ERR_NULL, tal_state_y(none));
    GIVES_NULL(TAL_ERR_NULL, tal_state_y_prev(none));
    GIVES_NULL(TAL_ERR_NULL, tal_state_qdot(none));
    GIVES_NULL(TAL_ERR_NULL, tal_state_udot(none));
    GIVES_NULL(TAL_ERR_NULL, tal_state_zdot(none));
    GIVES_NULL(TAL_ERR_NULL, tal_state_ydot(none));
    GIVES_NULL(TAL_ERR_NULL, tal_state_qdotdot(none));
    GIVES_NULL(TAL_ERR_NULL, tal_state_qerr(none));
    GIVES_NULL(TAL_ERR_NULL, tal_state_uerr(none));
    GIVES_NULL(TAL_ERR_NULL, tal_state_udoterr(none));
    GIVES_NULL(TAL_ERR_NULL, tal_state_multipliers(none));
    GIVES_MINUS_1(TAL_ERR_NULL, tal_state_num_triggers(none, TAL_STAGE_TIME));
    GIVES_NULL(TAL_ERR_NULL, tal_state_triggers(none, TAL_STAGE_TIME));
    GIVES_NULL(TAL_ERR_NULL, tal_state_triggers_prev(none, TAL_STAGE_TIME));
    GIVES_NULL(TAL_ERR_NULL, tal_state_weights(none, TAL_POOL_U));
    SPEAKS(TAL_ERR_NULL, tal_state_scratch_mark(none));
    GIVES_NULL(TAL_ERR_NULL, tal_state_scratch_take(none, 1));
    SPEAKS(TAL_ERR_NULL, tal_state_scratch_release(none, 0));
    SPEAKS(TAL_ERR_NULL, tal_state_save_size(none));
    unsigned char byte = 0;
    RETURNS(TAL_ERR_NULL, tal_state_save(none, &byte, 1));
    RETURNS(TAL_ERR_NULL, tal_state_save(state, NULL, 1));
    RETURNS(TAL_ERR_NULL, tal_state_save_file(none, "x"));
    RETURNS(TAL_ERR_NULL, tal_state_save_file(state, NULL));
    RETURNS(TAL_ERR_NULL, tal_state_load(made.system, state, NULL, 1));
    RETURNS(TAL_ERR_NULL, tal_state_load_file(made.system, state, NULL));
    RETURNS(TAL_ERR_NULL, tal_var_set(made.system, state, made.part[0].peak, NULL));
}

END_TEST

// Calls that take a System and a State, with a pair that is wrong in one way.
static void assert_pair(const tal_system *system, tal_state *s, tal_status status)
{
    const toy_part *part = &made.part[0];
    bool flag = false;
    RETURNS(status, tal_system_realize(system, s, TAL_STAGE_TIME));
    RETURNS(status, tal_system_begin_step(system, s));
    RETURNS(status, tal_system_prescribe_q(system, s, &flag));
    RETURNS(status, tal_system_prescribe_u(system, s, &flag));
    RETURNS(status, tal_system_project_q(system, s, NULL, NULL, NULL));
    RETURNS(status, tal_system_project_u(system, s, NULL, NULL, NULL));
    RETURNS(status, tal_system_relax(system, s, 1.0, &flag));
    RETURNS(status, tal_system_handle_events(system, s, TAL_EVENT_SIGNALED, NULL, 0, &flag));
    RETURNS(status, tal_system_report_events(system, s, TAL_EVENT_SIGNALED, NULL, 0));
    RETURNS(status, tal_group_set_size(system, s, part->q, 1, NULL));
    GIVES_MINUS_1(status, tal_group_size(system, s, part->q));
    GIVES_MINUS_1(status, tal_group_start(system, s, part->q));
    GIVES_MINUS_1(status, tal_state_slot_owner(system, s, TAL_POOL_Q, 0, NULL).i);
    GIVES_NULL(status, tal_group_upd_dot(system, s, part->q));
    GIVES_NULL(status, tal_group_upd_qdotdot(system, s, part->q));
    GIVES_NULL(status, tal_group_upd_errors(system, s, part->qerr));
    GIVES_NULL(status, tal_group_upd_multipliers(system, s, part->udoterr));
    GIVES_NULL(status, tal_group_upd_triggers(system, s, part->triggers_time));
    GIVES_NULL(status, tal_var_value(system, s, part->peak));
    GIVES_NULL(status, tal_var_prev(system, s, part->peak));
    GIVES_NULL(status, tal_var_upd(system, s, part->peak));
    GIVES_NAN(status, tal_var_double(system, s, part->peak));
    RETURNS(status, tal_var_set(system, s, part->peak, one));
    RETURNS(status, tal_var_set_double(system, s, part->peak, 1.0));
    SPEAKS(status, tal_cache_is_valid(system, s, part->of_q));
    GIVES_NULL(status, tal_cache_value(system, s, part->of_q));
    GIVES_NULL(status, tal_cache_realize(system, s, part->of_q));
    GIVES_NAN(status, tal_cache_realize_double(system, s, part->of_q));
    GIVES_NULL(status, tal_cache_upd(system, s, part->of_q));
    RETURNS(status, tal_cache_mark_valid(system, s, part->of_q));
    RETURNS(status, tal_cache_invalidate(system, s, part->of_q));
    RETURNS(status, tal_state_load(system, s, one, sizeof one));
    RETURNS(status, tal_state_load_file(system, s, "x"));
}

START_TEST(a_pair_that_does_not_belong_together_is_reported_by_every_call)
{
    assert_pair(NULL, state, TAL_ERR_NULL);
    assert_pair(made.system, NULL, TAL_ERR_NULL);
    assert_pair(made.system, stranger, TAL_ERR_WRONG_SYSTEM);
    tal_system *unbuilt = tal_system_create(NULL);
    assert_pair(unbuilt, state, TAL_ERR_TOPOLOGY);
    RETURNS(TAL_ERR_TOPOLOGY, tal_state_create(unbuilt, &(tal_state *){NULL}, NULL));
    tal_system_destroy(unbuilt);
    RETURNS(TAL_ERR_WRONG_SYSTEM, tal_state_copy(state, stranger));
    SPEAKS(TAL_ERR_WRONG_SYSTEM, tal_state_is_equal(state, stranger));
    SPEAKS(TAL_ERR_WRONG_SYSTEM, tal_state_lowest_difference(made.system, state, stranger));
    tal_state *twin = toy_state(&made);
    SPEAKS(TAL_ERR_WRONG_SYSTEM, tal_state_lowest_difference(other, state, twin));
    tal_state_destroy(twin);
    // and neither State was touched
    ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_REPORT), TAL_OK);
    ck_assert_int_eq(tal_system_realize(other, stranger, TAL_STAGE_REPORT), TAL_OK);
}

END_TEST

START_TEST(a_read_before_its_stage_gives_nan_and_names_both_stages)
{
    const struct {
        const double *(*read)(const tal_state *);
        tal_stage needed;
    } reads[] = {
        {tal_state_q, TAL_STAGE_MODEL},
        {tal_state_u, TAL_STAGE_MODEL},
        {tal_state_z, TAL_STAGE_MODEL},
        {tal_state_y, TAL_STAGE_MODEL},
        {tal_state_y_prev, TAL_STAGE_MODEL},
        {tal_state_qerr, TAL_STAGE_POSITION},
        {tal_state_qdot, TAL_STAGE_VELOCITY},
        {tal_state_uerr, TAL_STAGE_VELOCITY},
        {tal_state_udot, TAL_STAGE_ACCELERATION},
        {tal_state_zdot, TAL_STAGE_ACCELERATION},
        {tal_state_ydot, TAL_STAGE_ACCELERATION},
        {tal_state_qdotdot, TAL_STAGE_ACCELERATION},
        {tal_state_udoterr, TAL_STAGE_ACCELERATION},
        {tal_state_multipliers, TAL_STAGE_ACCELERATION},
    };

    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; ++i) {
        ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_REPORT), TAL_OK);
        (void)test_breaches();
        (void)reads[i].read(state);
        ck_assert_int_eq(test_breaches(), 0);
        ck_assert_int_eq(tal_state_invalidate(state, reads[i].needed), TAL_OK);
        const double *nothing = reads[i].read(state);
        ck_assert_int_eq(test_breaches(), 1);
        ck_assert_int_eq(tal_contract_last()->status, TAL_ERR_STAGE);
        char expected[96];
        (void)snprintf(
            expected, sizeof expected, "needs stage %s, but the State has reached only %s",
            tal_stage_name(reads[i].needed), tal_stage_name((tal_stage)(reads[i].needed - 1)));
        ck_assert_ptr_nonnull(strstr(tal_contract_last()->message, expected));
        for (int k = 0; k < 3 * TOY_PARTS * TOY_MAX_Q; ++k) {
            ck_assert_double_nan(nothing[k]);
        }
    }
}

END_TEST

START_TEST(sizes_slots_and_weights_before_their_stage_are_reported)
{
    const toy_part *part = &made.part[0];
    (void)tal_state_invalidate(state, TAL_STAGE_MODEL);
    GIVES_MINUS_1(TAL_ERR_STAGE, tal_state_nq(state));
    GIVES_MINUS_1(TAL_ERR_STAGE, tal_state_nu(state));
    GIVES_MINUS_1(TAL_ERR_STAGE, tal_state_nz(state));
    GIVES_MINUS_1(TAL_ERR_STAGE, tal_state_ny(state));
    GIVES_MINUS_1(TAL_ERR_STAGE, tal_state_pool_size(state, TAL_POOL_Q));
    GIVES_MINUS_1(TAL_ERR_STAGE, tal_group_size(made.system, state, part->q));
    GIVES_MINUS_1(TAL_ERR_STAGE, tal_group_start(made.system, state, part->q));
    GIVES_NAN(TAL_ERR_STAGE, tal_state_weights(state, TAL_POOL_U)[0]);
    GIVES_NULL(TAL_ERR_STAGE, tal_state_upd_q(state));
    GIVES_NULL(TAL_ERR_STAGE, tal_var_value(made.system, state, part->mode));
    GIVES_NULL(TAL_ERR_STAGE, tal_var_prev(made.system, state, part->mode));
    GIVES_NAN(TAL_ERR_STAGE, tal_var_double(made.system, state, part->mode));
    GIVES_NULL(TAL_ERR_STAGE, tal_var_upd(made.system, state, part->mode));
    RETURNS(TAL_ERR_STAGE,
            tal_system_handle_events(made.system, state, TAL_EVENT_SIGNALED, NULL, 0, NULL));
    ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_MODEL), TAL_ERR_STAGE);
    ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_MODEL), TAL_OK);
    GIVES_MINUS_1(TAL_ERR_STAGE, tal_state_pool_size(state, TAL_POOL_QERR));
    GIVES_MINUS_1(TAL_ERR_STAGE, tal_group_size(made.system, state, part->qerr));
    GIVES_MINUS_1(TAL_ERR_STAGE,
                  tal_state_slot_owner(made.system, state, TAL_POOL_QERR, 0, NULL).i);
    GIVES_MINUS_1(TAL_ERR_STAGE, tal_state_num_triggers(state, TAL_STAGE_TIME));
    GIVES_NAN(TAL_ERR_STAGE, tal_state_triggers(state, TAL_STAGE_TIME)[0]);
    GIVES_NAN(TAL_ERR_STAGE, tal_state_triggers_prev(state, TAL_STAGE_TIME)[0]);
    GIVES_NAN(TAL_ERR_STAGE, tal_state_weights(state, TAL_POOL_QERR)[0]);
    bool flag = false;
    RETURNS(TAL_ERR_STAGE, tal_system_begin_step(made.system, state));
    RETURNS(TAL_ERR_STAGE, tal_system_prescribe_q(made.system, state, &flag));
    RETURNS(TAL_ERR_STAGE, tal_system_prescribe_u(made.system, state, &flag));
    RETURNS(TAL_ERR_STAGE, tal_system_project_q(made.system, state, NULL, NULL, NULL));
    RETURNS(TAL_ERR_STAGE, tal_system_project_u(made.system, state, NULL, NULL, NULL));
    RETURNS(TAL_ERR_STAGE, tal_system_relax(made.system, state, 1.0, &flag));
}

END_TEST

START_TEST(an_index_out_of_range_is_reported_by_every_call)
{
    const tal_system *system = made.system;
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_REPORT), TAL_OK);
    const int wrong[] = {-1, 1000, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 4; ++i) {
        const tal_subsystem_ix s = {wrong[i]};
        const tal_var_ix v = {wrong[i]};
        const tal_cache_ix c = {wrong[i]};
        const tal_group_ix g = {wrong[i]};
        const tal_event_ix e = {wrong[i]};
        SPEAKS(TAL_ERR_BAD_INDEX, tal_subsystem_name(system, s));
        GIVES_NULL(TAL_ERR_BAD_INDEX, tal_subsystem_self(system, s));
        SPEAKS(TAL_ERR_BAD_INDEX, tal_var_name(system, v));
        GIVES_MINUS_1(TAL_ERR_BAD_INDEX, tal_var_owner(system, v).i);
        GIVES_MINUS_1(TAL_ERR_BAD_INDEX, tal_var_update(system, v).i);
        GIVES_NULL(TAL_ERR_BAD_INDEX, tal_var_value(system, state, v));
        GIVES_NULL(TAL_ERR_BAD_INDEX, tal_var_prev(system, state, v));
        GIVES_NULL(TAL_ERR_BAD_INDEX, tal_var_upd(system, state, v));
        GIVES_NAN(TAL_ERR_BAD_INDEX, tal_var_double(system, state, v));
        RETURNS(TAL_ERR_BAD_INDEX, tal_var_set(system, state, v, one));
        RETURNS(TAL_ERR_BAD_INDEX, tal_var_set_double(system, state, v, 1.0));
        SPEAKS(TAL_ERR_BAD_INDEX, tal_cache_name(system, c));
        GIVES_MINUS_1(TAL_ERR_BAD_INDEX, tal_cache_owner(system, c).i);
        SPEAKS(TAL_ERR_BAD_INDEX, tal_cache_is_valid(system, state, c));
        GIVES_NULL(TAL_ERR_BAD_INDEX, tal_cache_value(system, state, c));
        GIVES_NULL(TAL_ERR_BAD_INDEX, tal_cache_realize(system, state, c));
        GIVES_NAN(TAL_ERR_BAD_INDEX, tal_cache_realize_double(system, state, c));
        GIVES_NULL(TAL_ERR_BAD_INDEX, tal_cache_upd(system, state, c));
        RETURNS(TAL_ERR_BAD_INDEX, tal_cache_mark_valid(system, state, c));
        RETURNS(TAL_ERR_BAD_INDEX, tal_cache_invalidate(system, state, c));
        SPEAKS(TAL_ERR_BAD_INDEX, tal_group_name(system, g));
        GIVES_MINUS_1(TAL_ERR_BAD_INDEX, tal_group_owner(system, g).i);
        GIVES_MINUS_1(TAL_ERR_BAD_INDEX, tal_group_size(system, state, g));
        GIVES_MINUS_1(TAL_ERR_BAD_INDEX, tal_group_start(system, state, g));
        RETURNS(TAL_ERR_BAD_INDEX, tal_group_set_size(system, state, g, 1, NULL));
        GIVES_NULL(TAL_ERR_BAD_INDEX, tal_group_upd_dot(system, state, g));
        GIVES_NULL(TAL_ERR_BAD_INDEX, tal_group_upd_qdotdot(system, state, g));
        GIVES_NULL(TAL_ERR_BAD_INDEX, tal_group_upd_errors(system, state, g));
        GIVES_NULL(TAL_ERR_BAD_INDEX, tal_group_upd_multipliers(system, state, g));
        GIVES_NULL(TAL_ERR_BAD_INDEX, tal_group_upd_triggers(system, state, g));
        SPEAKS(TAL_ERR_BAD_INDEX, tal_event_name(system, e));
        GIVES_MINUS_1(TAL_ERR_BAD_INDEX, tal_event_owner(system, e).i);
        GIVES_MINUS_1(TAL_ERR_BAD_INDEX,
                      tal_state_slot_owner(system, state, TAL_POOL_Q, wrong[i], NULL).i);
    }
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_TIME), TAL_ERR_BAD_INDEX);
}

END_TEST

START_TEST(a_stage_or_pool_that_does_not_exist_is_reported)
{
    const tal_stage stages[] = {(tal_stage)-1, TAL_STAGE_EMPTY, TAL_STAGE_TOPOLOGY,
                                TAL_STAGE_INFINITY, (tal_stage)77};
    for (int i = 0; i < 5; ++i) {
        RETURNS(TAL_ERR_BAD_VALUE, tal_system_realize(made.system, state, stages[i]));
        RETURNS(TAL_ERR_BAD_VALUE, tal_state_invalidate(state, stages[i]));
        GIVES_MINUS_1(TAL_ERR_BAD_VALUE, tal_state_num_triggers(state, stages[i]));
        GIVES_NAN(TAL_ERR_BAD_VALUE, tal_state_triggers(state, stages[i])[0]);
        GIVES_NAN(TAL_ERR_BAD_VALUE, tal_state_triggers_prev(state, stages[i])[0]);
    }
    const tal_pool pools[] = {(tal_pool)-1, (tal_pool)7, (tal_pool)1000};
    for (int i = 0; i < 3; ++i) {
        GIVES_MINUS_1(TAL_ERR_BAD_VALUE, tal_state_pool_size(state, pools[i]));
        GIVES_NAN(TAL_ERR_BAD_VALUE, tal_state_weights(state, pools[i])[0]);
        RETURNS(TAL_ERR_BAD_VALUE, tal_state_set_weights(state, pools[i], one, 1));
        SPEAKS(TAL_ERR_BAD_VALUE, tal_state_slot_owner(made.system, state, pools[i], 0, NULL));
    }
}

END_TEST

// --- calls from inside a realization ---

static tal_state *inner_copy;
static tal_status inner[4];

static tal_status meddle(const void *self, const tal_system *system, tal_state *s)
{
    (void)self;
    inner[0] = tal_system_realize(system, s, TAL_STAGE_REPORT);
    inner[1] = tal_system_begin_step(system, s);
    inner[2] = tal_state_copy(inner_copy, s);
    inner[3] = tal_state_copy(s, inner_copy);
    return TAL_OK;
}

START_TEST(a_state_is_not_realized_copied_or_stepped_while_it_is_being_realized)
{
    static const tal_subsystem_ops ops = {
        .size = sizeof ops, .name = "meddler", .realize_dynamics = meddle};
    tal_system *system = tal_system_create(NULL);
    (void)tal_system_add_subsystem(system, NULL, &ops, NULL);
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    tal_state *s = NULL;
    ck_assert_int_eq(tal_state_create(system, &s, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &inner_copy, NULL), TAL_OK);
    (void)test_breaches();
    ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_REPORT), TAL_OK);
    ck_assert_int_eq(test_breaches(), 4);
    for (int i = 0; i < 4; ++i) {
        ck_assert_int_eq(inner[i], TAL_ERR_STAGE);
    }
    // the hook did not report the refused write; the next realize does
    ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_REPORT), TAL_ERR_STAGE);
    tal_state_destroy(s);
    tal_state_destroy(inner_copy);
    tal_system_destroy(system);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("state/contract");
    TCase *tests = tcase_create("contract");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_null_system_is_reported_while_building);
    tcase_add_test(tests, asking_a_null_whether_it_is_there_is_no_breach);
    tcase_add_test(tests, a_null_state_is_reported);
    tcase_add_test(tests, a_pair_that_does_not_belong_together_is_reported_by_every_call);
    tcase_add_test(tests, a_read_before_its_stage_gives_nan_and_names_both_stages);
    tcase_add_test(tests, sizes_slots_and_weights_before_their_stage_are_reported);
    tcase_add_test(tests, an_index_out_of_range_is_reported_by_every_call);
    tcase_add_test(tests, a_stage_or_pool_that_does_not_exist_is_reported);
    tcase_add_test(tests, a_state_is_not_realized_copied_or_stepped_while_it_is_being_realized);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
