// Tests of matter/src/constraint.c: adding any table, names, parameters and enabling in a State.
#include "constraint_support.h"

static tal_body_ix body(int i)
{
    return (tal_body_ix){i};
}

static const tal_vec3 S1 = {0.3, -0.2, 0.5}, S2 = {-0.4, 0.1, 0.6};

// Two free bodies, a rod and a ball between them; the ball starts disabled.
static void build(test_model *model)
{
    test_model_begin(model);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 0.5);
    for (int b = 0; b < 2; ++b) {
        (void)tal_matter_add_free(model->matter, TAL_GROUND, &def);
    }
    tal_constraint_def between = tal_constraint_between(body(1), body(2));
    between.name = "rod";
    (void)tal_constraint_add_rod(model->matter, &between, S1, S2, 0.7);
    between.name = NULL;
    between.disabled = true;
    (void)tal_constraint_add_ball(model->matter, &between, S1, S2);
}

// --- in a System ---

START_TEST(constraints_are_found_by_name)
{
    test_model model;
    build(&model);
    ck_assert_int_eq(tal_matter_num_constraints(model.matter), 2);
    ck_assert_int_eq(tal_matter_num_constraints(NULL), -1);
    ck_assert_int_eq(tal_matter_find_constraint(model.matter, "rod").i, 0);
    ck_assert_int_eq(tal_matter_find_constraint(model.matter, "constraint1").i, 1);
    ck_assert_int_lt(tal_matter_find_constraint(model.matter, "rope").i, 0);
    ck_assert_int_lt(tal_matter_find_constraint(NULL, "rod").i, 0);
    ck_assert_str_eq(tal_constraint_name(model.matter, (tal_constraint_ix){1}), "constraint1");
    test_model_freeze(&model);
    ck_assert_int_eq(tal_constraint_ancestor(model.matter, (tal_constraint_ix){0}).i, 0);
    test_model_end(&model);
}

START_TEST(a_name_is_taken_once)
{
    test_model model;
    build(&model);
    tal_constraint_def again = tal_constraint_between(body(1), body(2));
    again.name = "rod";
    ck_assert_int_lt(tal_constraint_add_ball(model.matter, &again, S1, S2).i, 0);
    ck_assert_int_eq(tal_system_realize_topology(model.system, NULL), TAL_ERR_BAD_NAME);
    test_model_end(&model);
}

static tal_status no_errors(const void *self, const tal_constraint_arg *arg, double err[])
{
    (void)self, (void)arg;
    err[0] = 0.0;
    return TAL_OK;
}

static tal_status no_forces(const void *self, const tal_constraint_arg *arg, const double lambda[],
                            tal_spatial_vec F[], double f[])
{
    (void)self, (void)arg, (void)lambda, (void)F, (void)f;
    return TAL_OK;
}

static void count_down(void *self)
{
    --*(int *)self;
}

static const tal_constraint_ops right = {
    .size = sizeof right,
    .name = "nothing",
    .mp = 1,
    .num_bodies = 1,
    .calc_p = no_errors,
    .calc_v = no_errors,
    .calc_a = no_errors,
    .add_forces = no_forces,
    .destroy = count_down,
};

// A right table is adopted and destroyed with the System; each wrong one is refused, and its self freed
// all the same.
START_TEST(a_table_is_checked_and_its_self_is_freed_once)
{
    for (int wrong = 0; wrong < 9; ++wrong) {
        tal_constraint_ops ops = right;
        if (wrong == 1) ops.mp = 0;
        if (wrong == 2) ops.mp = TAL_MAX_CONSTRAINT_ROWS + 1;
        if (wrong == 3) ops.num_bodies = -1;
        if (wrong == 4) ops.num_params = -1;
        if (wrong == 5) ops.calc_p = NULL;
        if (wrong == 6) ops.add_forces = NULL;
        if (wrong == 7) ops.name = NULL;
        if (wrong == 8) ops.num_bodies = 0;
        test_model model;
        build(&model);
        int alive = 1;
        tal_constraint_def def = tal_constraint_def_default();
        const tal_constraint_ix added =
            tal_matter_add_constraint(model.matter, &def, &ops, &alive, NULL);
        ck_assert_int_eq(added.i, wrong == 0 ? 2 : -1);
        ck_assert_int_eq(alive, wrong == 0 ? 1 : 0);
        const bool lacks = wrong == 5 || wrong == 6;
        const tal_status wanted = wrong == 0 ? TAL_OK : lacks ? TAL_ERR_NULL : TAL_ERR_BAD_VALUE;
        ck_assert_int_eq(tal_system_realize_topology(model.system, NULL), wanted);
        test_model_end(&model);
        ck_assert_int_eq(alive, 0);
    }
}

START_TEST(a_table_is_required)
{
    test_model model;
    build(&model);
    const tal_constraint_def def = tal_constraint_def_default();
    ck_assert_int_lt(tal_matter_add_constraint(model.matter, &def, NULL, NULL, NULL).i, 0);
    ck_assert_int_eq(tal_system_realize_topology(model.system, NULL), TAL_ERR_BAD_VALUE);
    test_model_end(&model);
}

// --- in a State ---

START_TEST(a_disabled_constraint_has_no_rows)
{
    test_model model;
    build(&model);
    test_model_freeze(&model);
    const tal_constraint_ix rod = {0}, ball = {1};
    test_model_realize(&model, TAL_STAGE_ACCELERATION);
    ck_assert(tal_constraint_is_enabled(model.matter, model.state, rod));
    ck_assert(!tal_constraint_is_enabled(model.matter, model.state, ball));
    ck_assert_int_eq(tal_state_pool_size(model.state, TAL_POOL_UDOTERR), 1);

    // what changes nothing invalidates nothing
    ck_assert_int_eq(tal_constraint_set_enabled(model.matter, model.state, rod, true), TAL_OK);
    ck_assert_int_eq(tal_state_stage(model.state), TAL_STAGE_ACCELERATION);

    ck_assert_int_eq(tal_constraint_set_enabled(model.matter, model.state, ball, true), TAL_OK);
    ck_assert_int_eq(tal_constraint_set_enabled(model.matter, model.state, rod, false), TAL_OK);
    ck_assert_int_lt(tal_state_stage(model.state), TAL_STAGE_INSTANCE);
    test_model_realize(&model, TAL_STAGE_ACCELERATION);
    ck_assert_int_eq(tal_state_pool_size(model.state, TAL_POOL_UDOTERR), 3);
    const tal_vec3 d = tal_v3_sub(S2, S1);
    // quaternion errors of the two free bodies stand before or after, and are zero
    double found = 0.0;
    for (int i = 0; i < tal_state_pool_size(model.state, TAL_POOL_QERR); ++i) {
        found += fabs(tal_state_qerr(model.state)[i]);
    }
    ck_assert_double_eq_tol(found, fabs(d.x) + fabs(d.y) + fabs(d.z), 1e-15);
    test_model_end(&model);
}

START_TEST(wrong_parameters_are_refused)
{
    test_model model;
    build(&model);
    test_model_freeze(&model);
    const tal_constraint_ix rod = {0};
    const double params[TAL_ROD_NUM_PARAMS] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, (double)INFINITY};
    tal_state *state = model.state;
    ck_assert_int_eq(tal_constraint_set_params(model.matter, state, rod, params, 7),
                     TAL_ERR_NOT_FINITE);
    ck_assert(strstr(tal_state_error(state)->message, "'rod': parameter 6 is inf") != NULL);
    ck_assert_int_eq(tal_constraint_set_params(model.matter, state, rod, params, 6),
                     TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_constraint_set_params(model.matter, state, rod, NULL, 7),
                     TAL_ERR_BAD_VALUE);
    // the first failure stays until the next realization returns it
    ck_assert_int_eq(tal_system_realize(model.system, state, TAL_STAGE_TIME), TAL_ERR_NOT_FINITE);
    test_model_end(&model);
}

// --- broken contracts ---

START_TEST(what_is_not_there_is_a_broken_contract)
{
    test_record_breaches();
    test_model model;
    build(&model);
    const tal_constraint_ix rod = {0}, none = {2};
    test_assert_breach((void)tal_constraint_ancestor(model.matter, rod), TAL_ERR_TOPOLOGY,
                       "with the topology");
    test_model_freeze(&model);
    tal_state *state = model.state;
    int n = 7;
    test_assert_breach(ck_assert_str_eq(tal_constraint_name(NULL, rod), "(no constraint)"),
                       TAL_ERR_NULL, "matter");
    test_assert_breach(ck_assert_int_eq(tal_constraint_ancestor(model.matter, none).i, -1),
                       TAL_ERR_BAD_INDEX, "constraint 2");
    test_assert_breach(ck_assert(!tal_constraint_is_enabled(model.matter, state, none)),
                       TAL_ERR_BAD_INDEX, "constraint 2");
    test_assert_breach((void)tal_constraint_set_enabled(model.matter, state, none, true),
                       TAL_ERR_BAD_INDEX, "constraint 2");
    test_assert_breach((void)tal_constraint_set_enabled(model.matter, NULL, rod, true),
                       TAL_ERR_NULL, "");
    test_assert_breach(ck_assert_ptr_null(tal_constraint_params(model.matter, state, none, &n)),
                       TAL_ERR_BAD_INDEX, "constraint 2");
    ck_assert_int_eq(n, 0);
    test_assert_breach((void)tal_constraint_set_params(model.matter, state, none, NULL, 0),
                       TAL_ERR_BAD_INDEX, "constraint 2");
    const tal_constraint_def late = tal_constraint_between(body(1), body(2));
    test_assert_breach(ck_assert_int_lt(tal_constraint_add_ball(model.matter, &late, S1, S2).i, 0),
                       TAL_ERR_TOPOLOGY, "added before");
    test_model_end(&model);
}

int main(void)
{
    Suite *suite = suite_create("matter/constraint");
    TCase *building = tcase_create("building");
    tcase_add_test(building, constraints_are_found_by_name);
    tcase_add_test(building, a_name_is_taken_once);
    tcase_add_test(building, a_table_is_checked_and_its_self_is_freed_once);
    tcase_add_test(building, a_table_is_required);
    suite_add_tcase(suite, building);
    TCase *state = tcase_create("state");
    tcase_add_test(state, a_disabled_constraint_has_no_rows);
    tcase_add_test(state, wrong_parameters_are_refused);
    tcase_add_test(state, what_is_not_there_is_a_broken_contract);
    suite_add_tcase(suite, state);
    return test_run(suite);
}
