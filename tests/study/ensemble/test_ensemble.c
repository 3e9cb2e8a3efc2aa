// Many samples of one System against the closed form of an oscillator.
#include "ensemble_support.h"

// At accuracy 1e-10 a hundred steps or so leave 1e-8 at most.
START_TEST(every_point_of_a_grid_is_run)
{
    model m;
    build(&m);
    const int levels[] = {2, 3, 1, 2};
    const double low[] = {1.0, 4.0, 0.5, -1.0}, high[] = {2.0, 16.0, 0.5, 1.0};
    double values[12][4], results[12][2];
    ck_assert_int_eq(tal_grid_size(levels, 4), 12);
    const tal_design grid = tal_design_grid(levels, low, high, 4);
    ck_assert_int_eq(tal_design_fill(&grid, &values[0][0]), TAL_OK);
    ck_assert_double_eq(values[11][STIFFNESS], 16.0);
    ck_assert_double_eq(values[2][STIFFNESS], 10.0);
    ck_assert_double_eq(values[1][U0], 1.0);
    tal_ensemble *ensemble = create(&m, 0, 4, 1, NULL);
    ck_assert_int_eq(run_table(ensemble, m.state, &values[0][0], 4, 12, &results[0][0], NULL),
                     TAL_OK);
    for (int k = 0; k < 12; ++k) {
        double expected[2];
        closed_form(values[k], expected);
        test_assert_near(results[k], expected, 2, 1e-8, "outputs");
    }
    ck_assert_double_eq(tal_state_t(m.state), 0.0);
    tal_ensemble_destroy(ensemble);
    end(&m);
}

END_TEST

START_TEST(threads_change_nothing)
{
    enum {
        SAMPLES = 40
    };

    model m;
    build(&m);
    const tal_distribution spread[] = {{TAL_UNIFORM, 1.0, 3.0},
                                       {TAL_LOGNORMAL, 8.0, 0.3},
                                       {TAL_NORMAL, 0.0, 1.0},
                                       {TAL_NORMAL, 1.0, 0.0}};
    double values[SAMPLES][4], one[SAMPLES][2], many[SAMPLES][2];
    const tal_design design = tal_design_random(spread, 4, 7, SAMPLES);
    ck_assert_int_eq(tal_design_fill(&design, &values[0][0]), TAL_OK);
    tal_ensemble *ensemble = create(&m, 0, 4, 1, NULL);
    ck_assert_int_eq(run_table(ensemble, m.state, &values[0][0], 4, SAMPLES, &one[0][0], NULL),
                     TAL_OK);
    tal_ensemble_destroy(ensemble);
    tal_threads *threads = NULL;
    ck_assert_int_eq(tal_threads_create(4, &threads, NULL), TAL_OK);
    const tal_executor executor = tal_threads_executor(threads);
    ensemble = create(&m, 0, 4, 3, &executor);
    ck_assert_int_eq(run_table(ensemble, m.state, &values[0][0], 4, SAMPLES, &many[0][0], NULL),
                     TAL_OK);
    ck_assert_mem_eq(one, many, sizeof one);
    tal_ensemble_destroy(ensemble);
    tal_threads_destroy(threads);
    end(&m);
}

END_TEST

START_TEST(a_sample_that_fails_is_nan_and_reported_by_number)
{
    model m;
    build(&m);
    const double masses[] = {1.0, 2.0, -1.0, 4.0, -2.0};
    double results[5][2];
    tal_status status[5];
    tal_ensemble *ensemble = NULL;
    for (int lanes = 1; lanes <= 3; ++lanes) { // a lane goes on with other samples
        tal_ensemble_destroy(ensemble);
        ensemble = create(&m, MASS, 1, lanes, NULL);
        ck_assert_int_eq(run_table(ensemble, m.state, masses, 1, 5, &results[0][0], status),
                         TAL_OK);
        for (int k = 0; k < 5; ++k) {
            ck_assert(isnan(results[k][0]) == (masses[k] < 0.0));
            ck_assert((status[k] == TAL_OK) == (masses[k] > 0.0));
        }
        ck_assert_ptr_nonnull(strstr(tal_ensemble_error(ensemble)->message, "sample 2"));
    }
    const double bad[] = {1.0, (double)NAN};
    ck_assert_int_eq(run_table(ensemble, m.state, bad, 1, 2, &results[0][0], status), TAL_OK);
    ck_assert_int_eq(status[0], TAL_OK);
    ck_assert_int_eq(status[1], TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_ensemble_error(ensemble)->message, "'mass'"));
    tal_ensemble_destroy(ensemble);
    end(&m);
}

END_TEST

static tal_status double_speed(void *context, const tal_system *system, tal_state *state, int lane)
{
    (void)system;
    *(int *)context += 1 + lane;
    const double u = 2.0 * tal_state_u(state)[0];
    return tal_state_set_u(state, &u, 1);
}

static tal_status read_sum(void *context, const tal_system *system, tal_state *state,
                           double results[])
{
    (void)context;
    (void)system;
    results[0] = tal_state_t(state);
    results[1] = tal_state_q(state)[0] + tal_state_u(state)[0];
    return TAL_OK;
}

START_TEST(results_need_not_be_measures_and_samples_no_parameters)
{
    model m;
    build(&m);
    tal_ensemble_def def = tal_ensemble_def_default();
    def.num_outputs = 2;
    tal_ensemble *ensemble = NULL;
    tal_error err;
    ck_assert_int_eq(tal_ensemble_create(m.system, &def, &ensemble, &err), TAL_ERR_BAD_VALUE);
    def.read = read_sum;
    def.task = TAL_TASK_INTEGRATE;
    def.end_time = 0.5;
    ck_assert_int_eq(tal_ensemble_create(m.system, &def, &ensemble, &err), TAL_OK);
    double results[2][2];
    ck_assert_int_eq(run_table(ensemble, m.state, NULL, 0, 2, &results[0][0], NULL), TAL_OK);
    ck_assert_double_eq(results[0][0], 0.5);
    ck_assert(memcmp(results[0], results[1], sizeof results[0]) == 0);
    tal_ensemble_destroy(ensemble);
    end(&m);
}

END_TEST

START_TEST(a_study_may_do_something_else_than_simulate)
{
    model m;
    build(&m);
    int calls = 0;
    tal_ensemble_def def = tal_ensemble_def_default();
    def.parameters = &m.parameters[U0];
    def.num_parameters = 1;
    def.outputs = m.outputs;
    def.num_outputs = 2;
    def.task = TAL_TASK_CALL;
    def.run = double_speed;
    def.context = &calls;
    tal_ensemble *ensemble = NULL;
    ck_assert_int_eq(tal_ensemble_create(m.system, &def, &ensemble, NULL), TAL_OK);
    const double speeds[] = {1.5, -2.0};
    double results[2][2];
    ck_assert_int_eq(run_table(ensemble, m.state, speeds, 1, 2, &results[0][0], NULL), TAL_OK);
    ck_assert_double_eq(results[0][1], 3.0);
    ck_assert_double_eq(results[1][1], -4.0);
    ck_assert_int_eq(calls, 2);
    tal_ensemble_destroy(ensemble);
    end(&m);
}

END_TEST

// --- other parameters ---

static tal_status project(void *context, const tal_system *system, tal_state *state, int lane)
{
    (void)context, (void)lane;
    tal_status st = tal_system_realize(system, state, TAL_STAGE_POSITION);
    tal_project_options options = tal_project_options_default();
    options.tolerance = 1e-12;
    if (st == TAL_OK) st = tal_system_project_q(system, state, &options, NULL, NULL);
    return st;
}

static tal_status calc_gain(const void *self, const tal_system *system, tal_state *state, int order,
                            int n, double value[])
{
    (void)order, (void)n;
    value[0] = tal_var_double(system, state, *(const tal_var_ix *)self);
    if (value[0] > 100.0) value[0] = (double)NAN;
    return TAL_OK;
}

static const tal_measure_ops gain_ops = {
    .size = sizeof gain_ops, .name = "gain", .calc = calc_gain, .needs = needs_variable};

// A slider that a constraint puts somewhere, and a variable of one double.
START_TEST(constraints_and_variables_are_parameters_too)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_slider(matter, TAL_GROUND, &def);
    const tal_constraint_def on = tal_constraint_on(body, 0);
    const tal_constraint_ix held = tal_constraint_add_constant_coordinate(matter, &on, 0.5);
    const tal_subsystem_ix owner = tal_matter_subsystem(matter);
    tal_var_def var = tal_var_def_default();
    var.name = "gain";
    var.size = sizeof(double);
    const tal_var_ix gain = tal_system_add_var(system, owner, &var);
    tal_measure_def measure = tal_measure_def_default();
    measure.name = "gain";
    measure.size = 1;
    measure.self = &gain;
    measure.self_size = sizeof gain;
    const tal_measure_ix outputs[] = {add_variable(system, owner, false),
                                      tal_system_add_measure(system, owner, &gain_ops, &measure)};
    tal_state *state = NULL;
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(system, &state, &err), TAL_OK);

    tal_parameter parameters[] = {tal_parameter_constraint("place", matter, held, 0),
                                  tal_parameter_var("gain", gain)};
    tal_ensemble_def varying = tal_ensemble_def_default();
    varying.parameters = parameters;
    varying.num_parameters = 2;
    varying.outputs = outputs;
    varying.num_outputs = 2;
    varying.task = TAL_TASK_CALL;
    varying.run = project;
    tal_ensemble *ensemble = NULL;
    ck_assert_int_eq(tal_ensemble_create(system, &varying, &ensemble, &err), TAL_OK);
    const double values[3][2] = {{0.25, 3.0}, {-2.0, 4.0}, {1.0, 1000.0}};
    double results[3][2];
    tal_status status[3];
    ck_assert_int_eq(run_table(ensemble, state, &values[0][0], 2, 3, &results[0][0], status),
                     TAL_OK);
    test_assert_near(&results[0][0], &values[0][0], 4, 1e-12, "what was set");
    ck_assert_int_eq(status[2], TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_ensemble_error(ensemble)->message, "'gain'"));
    tal_ensemble_destroy(ensemble);

    parameters[0].j = 7; // there is one parameter only
    ck_assert_int_eq(tal_ensemble_create(system, &varying, &ensemble, &err), TAL_OK);
    ck_assert_int_eq(run_table(ensemble, state, &values[0][0], 2, 1, &results[0][0], status),
                     TAL_OK);
    ck_assert_int_eq(status[0], TAL_ERR_BAD_INDEX);
    ck_assert_ptr_nonnull(strstr(tal_ensemble_error(ensemble)->message, "'place'"));
    tal_ensemble_destroy(ensemble);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

END_TEST

START_TEST(a_body_without_mass_has_no_mass_to_vary)
{
    model m;
    build(&m);
    m.parameters[MASS] = tal_parameter_mass("nothing", m.matter, TAL_GROUND);
    tal_ensemble *ensemble = create(&m, MASS, 1, 1, NULL);
    const double mass = 1.0;
    double results[2];
    tal_status status;
    ck_assert_int_eq(run_table(ensemble, m.state, &mass, 1, 1, results, &status), TAL_OK);
    ck_assert_int_eq(status, TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_ensemble_error(ensemble)->message, "'nothing'"));
    tal_ensemble_destroy(ensemble);
    end(&m);
}

END_TEST

START_TEST(outputs_are_one_number_each)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    const double three[] = {1.0, 2.0, 3.0};
    const tal_measure_ix measure =
        tal_measure_add_constant(system, tal_matter_subsystem(matter), "triple", three, 3);
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    const tal_parameter any = tal_parameter_var("any", (tal_var_ix){0});
    tal_ensemble_def def = tal_ensemble_def_default();
    def.parameters = &any;
    def.num_parameters = 1;
    def.outputs = &measure;
    def.num_outputs = 1;
    tal_ensemble *ensemble = NULL;
    tal_error err;
    ck_assert_int_eq(tal_ensemble_create(system, &def, &ensemble, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "'triple'"));
    tal_system_destroy(system);
}

END_TEST

static tal_status read_nothing(void *context, const tal_system *system, tal_state *state,
                               double results[])
{
    (void)context;
    (void)system;
    (void)state;
    results[0] = 0.0;
    return TAL_OK;
}

START_TEST(a_definition_that_makes_no_study_is_told_why)
{
    model m;
    build(&m);
    const tal_measure_ix measure = {0};
    tal_ensemble_def good = tal_ensemble_def_default();
    good.parameters = m.parameters;
    good.num_parameters = 1;
    good.outputs = &measure;
    good.num_outputs = 1;
    tal_ensemble_def bad[7] = {good, good, good, good, good, good, good};
    bad[0].lanes = 0;
    bad[1].num_parameters = -1;
    bad[2].parameters = NULL;
    bad[3].num_outputs = 0;
    bad[4].read = read_nothing;
    bad[5].outputs = NULL;
    bad[6].end_time = (double)INFINITY;
    static const char *const why[7] = {"one lane",  "negative", "'parameters' is NULL",
                                       "an output", "not both", "'outputs' and 'read' are NULL",
                                       "finite"};
    for (int i = 0; i < 7; ++i) {
        tal_ensemble *ensemble = NULL;
        tal_error err;
        ck_assert_int_eq(tal_ensemble_create(m.system, &bad[i], &ensemble, &err),
                         TAL_ERR_BAD_VALUE);
        ck_assert_msg(strstr(err.message, why[i]) != NULL, "%s", err.message);
    }
    end(&m);
}

END_TEST

START_TEST(bad_definitions_are_refused)
{
    model m;
    build(&m);
    tal_ensemble *ensemble = NULL;
    tal_error err;
    tal_ensemble_def def = tal_ensemble_def_default();
    ck_assert_int_eq(tal_ensemble_create(m.system, &def, &ensemble, &err), TAL_ERR_BAD_VALUE);
    def.parameters = m.parameters;
    def.num_parameters = 1;
    const tal_measure_ix none = {99};
    def.outputs = &none;
    def.num_outputs = 1;
    ck_assert_int_eq(tal_ensemble_create(m.system, &def, &ensemble, &err), TAL_ERR_BAD_INDEX);
    ck_assert_ptr_nonnull(strstr(err.message, "99"));
    ck_assert_int_eq(tal_ensemble_create(m.system, NULL, &ensemble, &err), TAL_ERR_NULL);
    def.outputs = m.outputs;
    const tal_executor absent = {NULL, NULL};
    def.executor = &absent;
    ck_assert_int_eq(tal_ensemble_create(m.system, &def, &ensemble, &err), TAL_ERR_NULL);
    def.executor = NULL;
    const tal_parameter idle = {"idle", NULL, NULL, 0, 0};
    def.parameters = &idle;
    ck_assert_int_eq(tal_ensemble_create(m.system, &def, &ensemble, &err), TAL_ERR_NULL);
    tal_system *early = tal_system_create(NULL);
    ck_assert_int_eq(tal_ensemble_create(early, &def, &ensemble, &err), TAL_ERR_TOPOLOGY);
    tal_system_destroy(early);
    ck_assert_ptr_null(ensemble);
    ck_assert_int_eq(tal_ensemble_error(NULL)->status, TAL_ERR_NULL);
    test_record_breaches();
    test_assert_refused(tal_ensemble_create(m.system, &def, NULL, NULL), TAL_ERR_NULL, "out");
    end(&m);
}

END_TEST

// Allows so many more samples, or steps of lanes.
static bool count_down(void *context)
{
    int *const left = context;
    return (*left)-- > 0;
}

static tal_status read_place(void *context, const tal_system *system, tal_state *state,
                             double results[])
{
    (void)context, (void)system;
    results[0] = tal_state_q(state)[0];
    return TAL_OK;
}

START_TEST(a_run_that_is_stopped_says_which_samples_it_has)
{
    enum {
        N = 40
    };

    model m;
    build(&m);
    double q0[N], all[N], some[N];
    tal_status status[N];
    for (int k = 0; k < N; ++k) {
        q0[k] = 0.1 * k;
    }
    for (int width = 0; width < 2; ++width) {
        int left = 1000000;
        tal_ensemble_def def = tal_ensemble_def_default();
        def.parameters = &m.parameters[Q0];
        def.num_parameters = def.num_outputs = 1;
        def.read = read_place;
        def.task = TAL_TASK_INTEGRATE;
        def.end_time = 1.0;
        def.width = width;
        def.proceed = count_down;
        def.context = &left;
        tal_ensemble *ensemble = NULL;
        ck_assert_int_eq(tal_ensemble_create(m.system, &def, &ensemble, NULL), TAL_OK);
        ck_assert_int_eq(run_table(ensemble, m.state, q0, 1, N, all, status), TAL_OK);
        left = 10; // of 40 samples, one by one; in lanes of 8 they take more than 10 trial steps
        ck_assert_int_eq(run_table(ensemble, m.state, q0, 1, N, some, status), TAL_RETRY);
        int done = 0;
        for (int k = 0; k < N; ++k) {
            done += status[k] == TAL_OK;
            if (status[k] == TAL_OK) ck_assert(some[k] == all[k]);
            if (status[k] != TAL_OK) ck_assert(status[k] == TAL_RETRY && isnan(some[k]));
        }
        ck_assert_int_lt(done, N);
        if (width == 1) ck_assert_int_eq(done, 10);
        // and goes on with the next
        left = 1000000;
        ck_assert_int_eq(run_table(ensemble, m.state, q0, 1, N, some, status), TAL_OK);
        ck_assert_mem_eq(all, some, sizeof all);
        tal_ensemble_destroy(ensemble);
    }
    end(&m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/ensemble");
    TCase *tests = tcase_create("ensemble");
    tcase_add_test(tests, every_point_of_a_grid_is_run);
    tcase_add_test(tests, threads_change_nothing);
    tcase_add_test(tests, a_sample_that_fails_is_nan_and_reported_by_number);
    tcase_add_test(tests, results_need_not_be_measures_and_samples_no_parameters);
    tcase_add_test(tests, a_study_may_do_something_else_than_simulate);
    tcase_add_test(tests, constraints_and_variables_are_parameters_too);
    tcase_add_test(tests, a_body_without_mass_has_no_mass_to_vary);
    tcase_add_test(tests, outputs_are_one_number_each);
    tcase_add_test(tests, a_definition_that_makes_no_study_is_told_why);
    tcase_add_test(tests, bad_definitions_are_refused);
    tcase_add_test(tests, a_run_that_is_stopped_says_which_samples_it_has);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
