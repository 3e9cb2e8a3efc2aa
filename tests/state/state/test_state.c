// state/src/state/state.c, pools.c, vars.c, realize.c: the values of a State and what a change
// costs.
#include "state/state_internal.h"
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

START_TEST(a_state_begins_at_model_with_the_initial_values)
{
    ck_assert_int_eq(tal_state_stage(state), TAL_STAGE_MODEL);
    ck_assert_double_eq(tal_state_t(state), 0.0);
    ck_assert_double_nan(tal_state_t_prev(state));
    ck_assert_int_eq(tal_state_error(state)->status, TAL_OK);
    ck_assert_int_eq(tal_state_low_water(state), TAL_STAGE_INFINITY);
    ck_assert_uint_eq(tal_state_structure_hash(state), tal_system_structure_hash(made.system));
    // the parts chose 1, 2 and 3 slots, with the initial values {n/2, -n/4, n} (u: + 10, z: + 20)
    const double q[] = {0.5, 1.0, -0.5, 1.5, -0.75, 3.0};
    ck_assert_int_eq(tal_state_nq(state), 6);
    ck_assert_int_eq(tal_state_nu(state), 6);
    ck_assert_int_eq(tal_state_nz(state), 6);
    ck_assert_int_eq(tal_state_ny(state), 18);
    ck_assert_mem_eq(tal_state_q(state), q, sizeof q);
    for (int i = 0; i < 6; ++i) {
        ck_assert_double_eq(tal_state_u(state)[i], q[i] + 10.0);
        ck_assert_double_eq(tal_state_z(state)[i], q[i] + 20.0);
    }
    for (int i = 0; i < 18; ++i) {
        ck_assert_double_nan(tal_state_y_prev(state)[i]);
    }
    for (int i = 0; i < 6; ++i) {
        ck_assert_double_eq(tal_state_weights(state, TAL_POOL_U)[i], 1.0);
        ck_assert_double_eq(tal_state_weights(state, TAL_POOL_Z)[i], 1.0);
    }
    ck_assert_double_eq(tal_var_double(made.system, state, made.part[0].peak), 0.5);
}

END_TEST

START_TEST(realizing_goes_up_one_stage_at_a_time_and_computes_only_what_is_missing)
{
    realize(TAL_STAGE_REPORT);
    tal_state_stats stats = tal_state_statistics(state);
    for (int s = TAL_STAGE_MODEL; s <= TAL_STAGE_REPORT; ++s) {
        ck_assert_uint_eq(stats.realized[s], 1);
    }
    realize(TAL_STAGE_TIME);
    ck_assert_int_eq(tal_state_stage(state), TAL_STAGE_REPORT);
    (void)tal_state_upd_u(state);
    realize(TAL_STAGE_DYNAMICS);
    stats = tal_state_statistics(state);
    ck_assert_uint_eq(stats.realized[TAL_STAGE_POSITION], 1);
    ck_assert_uint_eq(stats.realized[TAL_STAGE_VELOCITY], 2);
    ck_assert_uint_eq(stats.realized[TAL_STAGE_DYNAMICS], 2);
    ck_assert_uint_eq(stats.realized[TAL_STAGE_ACCELERATION], 1);
}

END_TEST

// --- invalidation: g and above, nothing below ---

typedef void (*change_fn)(void);

static const double values[64] = {0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5,
                                  1,   1,   1,   1,   1,   1,   1,   1,   1,   1};

static void set_t(void)
{
    ck_assert_int_eq(tal_state_set_t(state, 1.0), TAL_OK);
}

static void set_q(void)
{
    ck_assert_int_eq(tal_state_set_q(state, values, tal_state_nq(state)), TAL_OK);
}

static void set_u(void)
{
    ck_assert_int_eq(tal_state_set_u(state, values, tal_state_nu(state)), TAL_OK);
}

static void set_z(void)
{
    ck_assert_int_eq(tal_state_set_z(state, values, tal_state_nz(state)), TAL_OK);
}

static void set_y(void)
{
    ck_assert_int_eq(tal_state_set_y(state, values, tal_state_ny(state)), TAL_OK);
}

static void upd_q(void)
{
    tal_state_upd_q(state)[0] = 1.0;
}

static void upd_u(void)
{
    tal_state_upd_u(state)[0] = 1.0;
}

static void upd_z(void)
{
    tal_state_upd_z(state)[0] = 1.0;
}

static void upd_y(void)
{
    tal_state_upd_y(state)[0] = 1.0;
}

static void weigh_u(void)
{
    ck_assert_int_eq(tal_state_set_weights(state, TAL_POOL_U, values, 6), TAL_OK);
}

static void weigh_z(void)
{
    ck_assert_int_eq(tal_state_set_weights(state, TAL_POOL_Z, values, 6), TAL_OK);
}

static void weigh_qerr(void)
{
    ck_assert_int_eq(tal_state_set_weights(state, TAL_POOL_QERR, values, 3), TAL_OK);
}

static void weigh_uerr(void)
{
    ck_assert_int_eq(tal_state_set_weights(state, TAL_POOL_UERR, values, 3), TAL_OK);
}

static void assert_invalidates(change_fn change, tal_stage g)
{
    for (int reached = TAL_STAGE_INSTANCE; reached <= TAL_STAGE_REPORT; ++reached) {
        (void)tal_state_invalidate(state, TAL_STAGE_MODEL);
        realize((tal_stage)reached);
        tal_state_reset_low_water(state);
        change();
        const int left = reached < (int)g ? reached : (int)g - 1;
        ck_assert_int_eq(tal_state_stage(state), left);
        ck_assert_int_eq(tal_state_low_water(state), g);
    }
}

START_TEST(setting_a_variable_invalidates_its_stage_and_above_and_nothing_below)
{
    const struct {
        change_fn change;
        tal_stage stage;
    } table[] = {
        {set_t, TAL_STAGE_TIME},          {set_q, TAL_STAGE_POSITION},
        {set_u, TAL_STAGE_VELOCITY},      {set_z, TAL_STAGE_DYNAMICS},
        {set_y, TAL_STAGE_POSITION},      {upd_q, TAL_STAGE_POSITION},
        {upd_u, TAL_STAGE_VELOCITY},      {upd_z, TAL_STAGE_DYNAMICS},
        {upd_y, TAL_STAGE_POSITION},      {weigh_u, TAL_STAGE_REPORT},
        {weigh_z, TAL_STAGE_REPORT},      {weigh_qerr, TAL_STAGE_POSITION},
        {weigh_uerr, TAL_STAGE_VELOCITY},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        assert_invalidates(table[i].change, table[i].stage);
    }
}

END_TEST

START_TEST(setting_a_discrete_variable_invalidates_its_stage_and_nothing_below)
{
    const toy_part *part = &made.part[2];
    tal_var_ix var[] = {part->nq, part->m, part->mode, part->peak};
    const tal_stage stage[] = {TAL_STAGE_MODEL, TAL_STAGE_INSTANCE, TAL_STAGE_POSITION,
                               TAL_STAGE_VELOCITY};
    for (int i = 0; i < 4 + TAL_STAGE_REPORT - TAL_STAGE_INSTANCE + 1; ++i) {
        const tal_stage g = i < 4 ? stage[i] : (tal_stage)(TAL_STAGE_INSTANCE + i - 4);
        const tal_var_ix v = i < 4 ? var[i] : part->var[g];
        for (int reached = TAL_STAGE_MODEL; reached <= TAL_STAGE_REPORT; ++reached) {
            realize((tal_stage)reached);
            (void)tal_state_invalidate(state, (tal_stage)(reached < 9 ? reached + 1 : 9));
            realize((tal_stage)reached);
            tal_state_reset_low_water(state);
            ck_assert_ptr_nonnull(tal_var_upd(made.system, state, v));
            ck_assert_int_eq(tal_state_stage(state), reached < (int)g ? reached : (int)g - 1);
            ck_assert_int_eq(tal_state_low_water(state), g);
        }
    }
}

END_TEST

START_TEST(invalidate_drops_below_the_stage)
{
    for (int s = TAL_STAGE_MODEL; s <= TAL_STAGE_REPORT; ++s) {
        realize(TAL_STAGE_REPORT);
        ck_assert_int_eq(tal_state_invalidate(state, (tal_stage)s), TAL_OK);
        ck_assert_int_eq(tal_state_stage(state), s - 1);
    }
    test_assert_breach((void)tal_state_invalidate(state, TAL_STAGE_TOPOLOGY), TAL_ERR_BAD_VALUE,
                       "only the stages Model to Report");
    test_assert_breach((void)tal_state_invalidate(state, TAL_STAGE_INFINITY), TAL_ERR_BAD_VALUE,
                       "not Infinity");
}

END_TEST

START_TEST(setters_write_what_they_are_given)
{
    set_y();
    ck_assert_mem_eq(tal_state_y(state), values, 18 * sizeof(double));
    ck_assert_mem_eq(tal_state_u(state), values + 6, 6 * sizeof(double));
    ck_assert_mem_eq(tal_state_z(state), values + 12, 6 * sizeof(double));
    set_q();
    set_u();
    set_z();
    for (int i = 0; i < 18; ++i) {
        ck_assert_double_eq(tal_state_y(state)[i], values[i % 6]);
    }
    const double swapped[] = {tal_state_q(state)[1], tal_state_q(state)[0]};
    ck_assert_double_ne(swapped[0], swapped[1]);
    // from its own memory, too
    ck_assert_int_eq(tal_state_set_u(state, tal_state_z(state), 6), TAL_OK);
    ck_assert_int_eq(tal_var_set(made.system, state, made.part[0].peak,
                                 tal_var_value(made.system, state, made.part[0].peak)),
                     TAL_OK);
}

END_TEST

START_TEST(a_setter_that_fails_changes_nothing_and_is_returned_by_the_next_realize)
{
    realize(TAL_STAGE_REPORT);
    double bad[18] = {0};
    bad[4] = (double)NAN;
    const double before = tal_state_q(state)[0];
    ck_assert_int_eq(tal_state_set_q(state, bad, 6), TAL_ERR_NOT_FINITE);
    (void)tal_state_set_t(state, (double)INFINITY);
    ck_assert_double_eq(tal_state_q(state)[0], before);
    ck_assert_int_eq(tal_state_stage(state), TAL_STAGE_REPORT);
    ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_TIME), TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(state)->message, "q[4] is nan"));
    ck_assert_str_eq(tal_state_error(state)->where, "tal_state_set_q");
    realize(TAL_STAGE_TIME);
    ck_assert_int_eq(tal_state_error(state)->status, TAL_OK);
}

END_TEST

START_TEST(a_failure_that_was_seen_to_can_be_cleared)
{
    realize(TAL_STAGE_REPORT);
    const double t = tal_state_t(state);
    (void)tal_state_set_t(state, (double)NAN);
    ck_assert_int_eq(tal_state_error(state)->status, TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_state_clear_error(state), TAL_OK);
    ck_assert_int_eq(tal_state_error(state)->status, TAL_OK);
    ck_assert_double_eq(tal_state_t(state), t); // what was refused stays unset
    ck_assert_int_eq(tal_state_stage(state), TAL_STAGE_REPORT);
    realize(TAL_STAGE_REPORT); // and is not returned any more
    // the next one is reported again
    (void)tal_state_set_t(state, (double)INFINITY);
    ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_TIME), TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_state_clear_error(state), TAL_OK);
    ck_assert_int_eq(tal_state_error(state)->status, TAL_OK);
    test_assert_breach((void)tal_state_clear_error(NULL), TAL_ERR_NULL, "State");
}

END_TEST

static void assert_pends(tal_status given, tal_status status, const char *part)
{
    ck_assert_int_eq(given, status);
    ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_TIME), status);
    ck_assert_msg(strstr(tal_state_error(state)->message, part) != NULL, "'%s' lacks '%s'",
                  tal_state_error(state)->message, part);
    realize(TAL_STAGE_TIME);
}

START_TEST(every_way_a_setter_can_fail_has_its_sentence)
{
    realize(TAL_STAGE_INSTANCE);
    const toy_part *part = &made.part[0];
    const double negative[6] = {1, 1, 1, 1, -1, 1};
    const double nan = (double)NAN;
    assert_pends(tal_state_set_t(state, nan), TAL_ERR_NOT_FINITE, "t is nan");
    assert_pends(tal_state_set_q(state, NULL, 6), TAL_ERR_NULL, "values of q are NULL");
    assert_pends(tal_state_set_u(state, values, 5), TAL_ERR_BAD_VALUE,
                 "5 values were given, but u has");
    assert_pends(tal_state_set_z(state, values, -1), TAL_ERR_BAD_VALUE, "but z has 6");
    assert_pends(tal_state_set_weights(state, TAL_POOL_U, negative, 6), TAL_ERR_BAD_VALUE,
                 "weight[4] is -1");
    assert_pends(tal_state_set_weights(state, TAL_POOL_U, values, 5), TAL_ERR_BAD_VALUE, "not 6");
    assert_pends(tal_state_set_weights(state, TAL_POOL_Z, NULL, 6), TAL_ERR_BAD_VALUE, "not 6");
    assert_pends(tal_var_set_double(made.system, state, part->peak, nan), TAL_ERR_NOT_FINITE,
                 "variable 'peak' of subsystem 'late' cannot be nan");
    // broken contracts are kept as well as reported
    (void)test_breaches();
    assert_pends(tal_state_set_weights(state, TAL_POOL_Q, values, 6), TAL_ERR_BAD_VALUE,
                 "only u, z, qerr and uerr have weights");
    assert_pends(tal_var_set_double(made.system, state, part->nq, 1.0), TAL_ERR_BAD_VALUE,
                 "has 4 bytes");
    assert_pends(tal_var_set(made.system, state, (tal_var_ix){99}, values), TAL_ERR_BAD_INDEX,
                 "no variable 99");
    assert_pends(tal_var_set_double(made.system, state, (tal_var_ix){-1}, 1.0), TAL_ERR_BAD_INDEX,
                 "no variable -1");
    ck_assert_int_eq(test_breaches(), 4);
    (void)tal_state_invalidate(state, TAL_STAGE_MODEL);
    assert_pends(tal_state_set_q(state, values, 6), TAL_ERR_STAGE, "needs stage Model");
    (void)tal_state_invalidate(state, TAL_STAGE_MODEL);
    assert_pends(tal_var_set_double(made.system, state, part->mode, 1.0), TAL_ERR_STAGE,
                 "variable 'mode' exists from stage Model on, but the State has reached only");
    (void)tal_state_invalidate(state, TAL_STAGE_INSTANCE);
    assert_pends(tal_state_set_weights(state, TAL_POOL_QERR, values, 3), TAL_ERR_STAGE,
                 "needs stage Instance");
    ck_assert_int_eq(test_breaches(), 3);
}

END_TEST

START_TEST(a_variable_allocated_at_model_returns_to_its_initial_value)
{
    const toy_part *part = &made.part[0];
    (void)tal_var_set_double(made.system, state, part->mode, 7.0);
    (void)tal_var_set_double(made.system, state, part->peak, 7.0);
    (void)tal_state_invalidate(state, TAL_STAGE_INSTANCE);
    realize(TAL_STAGE_INSTANCE);
    ck_assert_double_eq(tal_var_double(made.system, state, part->mode), 7.0);
    (void)tal_state_invalidate(state, TAL_STAGE_MODEL);
    realize(TAL_STAGE_MODEL);
    ck_assert_double_eq(tal_var_double(made.system, state, part->mode), 0.5);
    ck_assert_double_eq(tal_var_double(made.system, state, part->peak), 7.0);
}

END_TEST

START_TEST(derivatives_and_errors_are_read_from_their_stage_on)
{
    realize(TAL_STAGE_ACCELERATION);
    const int nq = tal_state_nq(state);
    ck_assert_ptr_eq(tal_state_qdot(state), tal_state_ydot(state));
    ck_assert_ptr_eq(tal_state_udot(state), tal_state_ydot(state) + nq);
    ck_assert_ptr_eq(tal_state_zdot(state), tal_state_udot(state) + tal_state_nu(state));
    for (int i = 0; i < tal_state_ny(state); ++i) {
        ck_assert(isfinite(tal_state_ydot(state)[i]));
    }
    for (int i = 0; i < 3; ++i) {
        ck_assert(isfinite(tal_state_qerr(state)[i]) && isfinite(tal_state_uerr(state)[i]));
        ck_assert(isfinite(tal_state_udoterr(state)[i]));
        ck_assert(isfinite(tal_state_multipliers(state)[i]));
        ck_assert(isfinite(tal_state_qdotdot(state)[i]));
    }
}

END_TEST

// A subsystem that writes derivatives and no errors or second derivatives: what it forgets is not a
// number, also when something was there before.
typedef struct forgetful {
    tal_group_ix group[TAL_POOL_UERR + 1];
    bool forgets_z;
} forgetful;

static tal_status write_zeros(const tal_system *system, tal_state *s, tal_group_ix group)
{
    double *const dot = tal_group_upd_dot(system, s, group);
    dot[0] = dot[1] = 0.0;
    return TAL_OK;
}

static tal_status write_qdot(const void *self, const tal_system *system, tal_state *s)
{
    return write_zeros(system, s, ((const forgetful *)self)->group[TAL_POOL_Q]);
}

static tal_status write_udot(const void *self, const tal_system *system, tal_state *s)
{
    const forgetful *it = self;
    if (!it->forgets_z) (void)write_zeros(system, s, it->group[TAL_POOL_Z]);
    return write_zeros(system, s, it->group[TAL_POOL_U]);
}

START_TEST(what_nobody_writes_is_nan)
{
    static const tal_subsystem_ops ops = {.size = sizeof ops,
                                          .name = "forgetful",
                                          .realize_velocity = write_qdot,
                                          .realize_acceleration = write_udot};
    const double *(*const reads[])(const tal_state *) = {tal_state_qdotdot, tal_state_qerr,
                                                         tal_state_uerr};
    forgetful it = {.forgets_z = false};
    tal_system *system = tal_system_create(NULL);
    const tal_subsystem_ix me = tal_system_add_subsystem(system, "it", &ops, &it);
    for (int pool = TAL_POOL_Q; pool <= TAL_POOL_UERR; ++pool) {
        tal_group_def def = tal_group_def_default();
        def.pool = (tal_pool)pool;
        def.capacity = 2;
        it.group[pool] = tal_system_add_group(system, me, &def);
    }
    tal_state *s = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &s, NULL), TAL_OK);
    for (int again = 0; again < 2; ++again) {
        ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_ACCELERATION), TAL_OK);
        for (size_t i = 0; i < sizeof reads / sizeof *reads; ++i) {
            double *const at = (double *)(uintptr_t)reads[i](s); // NOLINT: the test writes here
            ck_assert_msg(isnan(at[0]) && isnan(at[1]), "array %d", (int)i);
            at[0] = at[1] = 1.0;
        }
        ck_assert_int_eq(tal_state_invalidate(s, TAL_STAGE_POSITION), TAL_OK);
    }
    it.forgets_z = true; // a derivative that is not written fails the stage
    ck_assert_int_eq(tal_system_realize(system, s, TAL_STAGE_ACCELERATION), TAL_ERR_NOT_FINITE);
    tal_state_destroy(s);
    tal_system_destroy(system);
}

END_TEST

// --- copy and compare ---

START_TEST(a_copy_is_realized_as_far_as_its_source_and_independent_of_it)
{
    toy_scramble(&made, state, 5);
    realize(TAL_STAGE_REPORT);
    tal_state *copy = toy_state(&made);
    (void)tal_state_set_q(copy, values, 1);
    ck_assert_int_eq(tal_state_copy(copy, state), TAL_OK);
    ck_assert_int_eq(tal_state_stage(copy), TAL_STAGE_REPORT);
    ck_assert(tal_state_is_equal(copy, state));
    ck_assert_uint_eq(toy_digest(&made, copy), toy_digest(&made, state));
    // error record and statistics stay the copy's own
    ck_assert_uint_eq(tal_state_statistics(copy).realized[TAL_STAGE_REPORT], 0);
    ck_assert_int_eq(tal_system_realize(made.system, copy, TAL_STAGE_TIME), TAL_ERR_BAD_VALUE);

    // the low-water mark of the copy must say that all of it may have changed
    tal_state_reset_low_water(state);
    ck_assert_int_eq(tal_state_copy(copy, state), TAL_OK);
    ck_assert_int_eq(tal_state_low_water(copy), TAL_STAGE_MODEL);
    ck_assert_int_eq(tal_state_low_water(state), TAL_STAGE_INFINITY);

    (void)tal_state_set_t(copy, 9.0);
    ck_assert_int_eq(tal_state_stage(state), TAL_STAGE_REPORT);
    ck_assert_double_ne(tal_state_t(state), 9.0);
    ck_assert_int_eq(tal_state_copy(state, state), TAL_OK);
    tal_state_destroy(copy);
}

END_TEST

static void perturb(tal_state *other, int what)
{
    const toy_part *part = &made.part[1];
    const double w[TOY_PARTS * TOY_MAX_Q] = {2, 2, 2, 2, 2, 2, 2, 2, 2};
    const int32_t zero = 0;
    double *const y[] = {what == 1 ? tal_state_upd_q(other) : NULL,
                         what == 2 ? tal_state_upd_u(other) : NULL,
                         what == 3 ? tal_state_upd_z(other) : NULL};
    if (what == 0) (void)tal_state_set_t(other, -0.0); // compared bit for bit
    if (what >= 1 && what <= 3) y[what - 1][5] += 1.0;
    if (what == 4) (void)tal_state_set_weights(other, TAL_POOL_U, w, 6);
    if (what == 5) (void)tal_state_set_weights(other, TAL_POOL_Z, w, 6);
    if (what == 6) (void)tal_state_set_weights(other, TAL_POOL_QERR, w, 3);
    if (what == 7) (void)tal_state_set_weights(other, TAL_POOL_UERR, w, 3);
    if (what == 8) (void)tal_var_set(made.system, other, part->nq, &zero);
    if (what == 9) (void)tal_var_set(made.system, other, part->m, &zero);
    if (what >= 10) {
        const int s = TAL_STAGE_INSTANCE + what - 10;
        (void)tal_var_set_double(made.system, other, part->var[s], 3.0);
    }
}

START_TEST(the_lowest_difference_is_the_stage_of_the_variable_that_differs)
{
    const tal_stage expected[] = {
        TAL_STAGE_TIME,     TAL_STAGE_POSITION, TAL_STAGE_VELOCITY, TAL_STAGE_DYNAMICS,
        TAL_STAGE_REPORT,   TAL_STAGE_REPORT,   TAL_STAGE_POSITION, TAL_STAGE_VELOCITY,
        TAL_STAGE_MODEL,    TAL_STAGE_INSTANCE, TAL_STAGE_INSTANCE, TAL_STAGE_TIME,
        TAL_STAGE_POSITION, TAL_STAGE_VELOCITY, TAL_STAGE_DYNAMICS, TAL_STAGE_ACCELERATION,
        TAL_STAGE_REPORT,
    };
    realize(TAL_STAGE_INSTANCE);
    tal_state *other = toy_state(&made);
    for (int what = 0; what < 17; ++what) {
        ck_assert_int_eq(tal_state_copy(other, state), TAL_OK);
        ck_assert_int_eq(tal_state_lowest_difference(made.system, state, other),
                         TAL_STAGE_INFINITY);
        ck_assert(tal_state_is_equal(state, other));
        perturb(other, what);
        ck_assert_int_eq(tal_state_lowest_difference(made.system, state, other), expected[what]);
        ck_assert_int_eq(tal_state_lowest_difference(made.system, other, state), expected[what]);
        ck_assert(!tal_state_is_equal(state, other));
    }
    // sizes that differ decide where y is cut, so nothing later is compared
    perturb(other, 8);
    ck_assert_int_eq(tal_system_realize(made.system, other, TAL_STAGE_INSTANCE), TAL_OK);
    const int32_t n = 2;
    (void)tal_var_set(made.system, other, made.part[1].nq, &n);
    ck_assert_int_eq(tal_state_lowest_difference(made.system, state, other), TAL_STAGE_MODEL);
    ck_assert(!tal_state_is_equal(state, other));
    tal_state_destroy(other);
}

END_TEST

// Equal pools, cut differently: the choice was changed back, but Model is not realized again.
START_TEST(states_whose_groups_have_other_sizes_differ_from_model_on)
{
    tal_state *other = toy_state(&made);
    const int32_t sizes[] = {1, 2};
    for (int p = 0; p < 2; ++p) {
        (void)tal_var_set(made.system, other, made.part[p].nq, &sizes[1 - p]);
    }
    ck_assert_int_eq(tal_system_realize(made.system, other, TAL_STAGE_MODEL), TAL_OK);
    (void)tal_state_set_y(other, values, 18);
    (void)tal_state_set_y(state, values, 18);
    for (int p = 0; p < 2; ++p) {
        (void)tal_var_set(made.system, other, made.part[p].nq, &sizes[p]);
    }
    ck_assert(!tal_state_is_equal(state, other));
    ck_assert_int_eq(tal_state_lowest_difference(made.system, state, other), TAL_STAGE_MODEL);
    tal_state_destroy(other);
}

END_TEST

START_TEST(scratch_is_taken_and_released_like_a_stack)
{
    const size_t all = (size_t)TOY_PARTS * TOY_SCRATCH;
    const size_t mark = tal_state_scratch_mark(state);
    char *a = tal_state_scratch_take(state, 1);
    char *b = tal_state_scratch_take(state, all - TAL_ALIGNMENT);
    ck_assert_ptr_nonnull(b);
    ck_assert_int_eq(b - a, (int)TAL_ALIGNMENT * TALI_SCRATCH_SPREAD);
    ck_assert_uint_eq((uintptr_t)a % TAL_ALIGNMENT, 0);
    test_assert_breach(ck_assert_ptr_null(tal_state_scratch_take(state, 1)), TAL_ERR_CAPACITY,
                       "1 bytes of scratch memory are needed, 0 are left");
    tal_state_scratch_release(state, mark);
    ck_assert_ptr_eq(tal_state_scratch_take(state, all), a);
    tal_state_scratch_release(state, mark);
    test_assert_breach(tal_state_scratch_release(state, 64), TAL_ERR_BAD_VALUE, "beyond");
}

END_TEST

START_TEST(a_state_cannot_be_made_of_a_model_that_fails)
{
    const int32_t too_many = TOY_MAX_Q + 1;
    (void)tal_var_set(made.system, state, made.part[0].nq, &too_many);
    ck_assert_int_eq(tal_system_realize(made.system, state, TAL_STAGE_MODEL), TAL_ERR_CAPACITY);
    ck_assert_ptr_nonnull(strstr(tal_state_error(state)->message, "group 'own' cannot have 4"));
    ck_assert_int_eq(tal_state_stage(state), TAL_STAGE_TOPOLOGY);
    const int32_t fits = 1;
    (void)tal_var_set(made.system, state, made.part[0].nq, &fits);
    realize(TAL_STAGE_REPORT);
}

END_TEST

static tal_status fail_model(const void *self, const tal_system *system, tal_state *s)
{
    (void)self;
    (void)system;
    (void)s;
    return TAL_ERR_SINGULAR;
}

START_TEST(create_returns_what_the_model_stage_returned)
{
    static const tal_subsystem_ops ops = {
        .size = sizeof ops, .name = "stubborn", .realize_model = fail_model};
    tal_system *system = tal_system_create(NULL);
    (void)tal_system_add_subsystem(system, NULL, &ops, NULL);
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    tal_state *none = state;
    tal_error err;
    ck_assert_int_eq(tal_state_create(system, &none, &err), TAL_ERR_SINGULAR);
    ck_assert_ptr_null(none);
    ck_assert_ptr_nonnull(strstr(err.message, "subsystem 'stubborn' could not realize Model"));
    tal_system_destroy(system);
}

END_TEST

// --- the stage of each subsystem ---

enum {
    NUM_SHY = 3
};

// Subsystems that look at each other's stages whenever they realize Position.
typedef struct shy {
    tal_subsystem_ix all[NUM_SHY];
    tal_stage seen[NUM_SHY][NUM_SHY]; // [who looks][at whom]
    int failing;                      // -1: none
} shy;

typedef struct shy_one {
    shy *group;
    int number;
} shy_one;

static tal_status look_around(const void *self, const tal_system *system, tal_state *own)
{
    const shy_one *me = self;
    for (int i = 0; i < NUM_SHY; ++i) {
        me->group->seen[me->number][i] = tal_subsystem_stage(system, own, me->group->all[i]);
    }
    return me->number == me->group->failing ? tal_state_fail(own, TAL_ERR_CALLBACK, "no") : TAL_OK;
}

// They run in the order 1, 2, 0.
START_TEST(a_subsystem_has_reached_a_stage_as_soon_as_it_has_run)
{
    static const int order[NUM_SHY] = {7, -1, 3};
    static const char *const names[NUM_SHY] = {"a", "b", "c"};
    shy group = {.failing = -1};
    shy_one ones[NUM_SHY];
    tal_system *system = tal_system_create(NULL);
    for (int i = 0; i < NUM_SHY; ++i) {
        const tal_subsystem_ops ops = {
            .size = sizeof ops, .name = "shy", .order = order[i], .realize_position = look_around};
        ones[i] = (shy_one){&group, i};
        group.all[i] = tal_system_add_subsystem(system, names[i], &ops, &ones[i]);
    }
    tal_state *own = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &own, NULL), TAL_OK);
    const tal_stage before = TAL_STAGE_TIME, after = TAL_STAGE_POSITION;
    const tal_stage expected[NUM_SHY][NUM_SHY] = {
        {before, after, after}, {before, before, before}, {before, after, before}};
    ck_assert_msg(tal_system_realize(system, own, TAL_STAGE_POSITION) == TAL_OK, "%s",
                  tal_state_error(own)->message);
    for (int i = 0; i < NUM_SHY; ++i) {
        ck_assert_int_eq(tal_subsystem_stage(system, own, group.all[i]), after);
        for (int k = 0; k < NUM_SHY; ++k) {
            ck_assert_msg(group.seen[i][k] == expected[i][k], "%s saw %s at %s", names[i], names[k],
                          tal_stage_name(group.seen[i][k]));
        }
    }
    // a stage that one of them cannot realize is reached by none
    group.failing = 2;
    ck_assert_int_eq(tal_state_invalidate(own, TAL_STAGE_POSITION), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, own, TAL_STAGE_POSITION), TAL_ERR_CALLBACK);
    for (int i = 0; i < NUM_SHY; ++i) {
        ck_assert_int_eq(tal_subsystem_stage(system, own, group.all[i]), before);
    }
    test_assert_breach(
        ck_assert_int_eq(tal_subsystem_stage(system, own, (tal_subsystem_ix){NUM_SHY}),
                         TAL_STAGE_EMPTY),
        TAL_ERR_BAD_INDEX, "subsystem 3 of 3");
    tal_state_destroy(own);
    tal_system_destroy(system);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("state/state");
    TCase *tests = tcase_create("state");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_state_begins_at_model_with_the_initial_values);
    tcase_add_test(tests, realizing_goes_up_one_stage_at_a_time_and_computes_only_what_is_missing);
    tcase_add_test(tests, setting_a_variable_invalidates_its_stage_and_above_and_nothing_below);
    tcase_add_test(tests, setting_a_discrete_variable_invalidates_its_stage_and_nothing_below);
    tcase_add_test(tests, invalidate_drops_below_the_stage);
    tcase_add_test(tests, setters_write_what_they_are_given);
    tcase_add_test(tests, a_setter_that_fails_changes_nothing_and_is_returned_by_the_next_realize);
    tcase_add_test(tests, a_failure_that_was_seen_to_can_be_cleared);
    tcase_add_test(tests, every_way_a_setter_can_fail_has_its_sentence);
    tcase_add_test(tests, a_variable_allocated_at_model_returns_to_its_initial_value);
    tcase_add_test(tests, derivatives_and_errors_are_read_from_their_stage_on);
    tcase_add_test(tests, what_nobody_writes_is_nan);
    tcase_add_test(tests, a_copy_is_realized_as_far_as_its_source_and_independent_of_it);
    tcase_add_test(tests, the_lowest_difference_is_the_stage_of_the_variable_that_differs);
    tcase_add_test(tests, states_whose_groups_have_other_sizes_differ_from_model_on);
    tcase_add_test(tests, scratch_is_taken_and_released_like_a_stack);
    tcase_add_test(tests, a_state_cannot_be_made_of_a_model_that_fails);
    tcase_add_test(tests, create_returns_what_the_model_stage_returned);
    tcase_add_test(tests, a_subsystem_has_reached_a_stage_as_soon_as_it_has_run);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
