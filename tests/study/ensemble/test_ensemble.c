// Parameter studies against the closed form of an oscillator: q = q0 cos(w t) + u0 / w sin(w t)
// with w^2 = k / m.
#include "talus_test.h"

#include <talus/study.h>

#include <math.h>
#include <stdio.h>

// --- measures that read q and u ---

static tal_status calc_variable(const void *self, const tal_system *system, tal_state *state,
                                int order, int n, double value[])
{
    (void)system, (void)order, (void)n;
    value[0] = *(const bool *)self ? tal_state_u(state)[0] : tal_state_q(state)[0];
    return TAL_OK;
}

static void needs_variable(const void *self, const tal_system *system, int order,
                           tal_measure_needs *needs)
{
    (void)self, (void)system, (void)order;
    tal_measure_needs_stage(needs, TAL_STAGE_VELOCITY);
}

static const tal_measure_ops variable_ops = {.size = sizeof variable_ops,
                                             .name = "variable",
                                             .calc = calc_variable,
                                             .needs = needs_variable};

static tal_measure_ix add_variable(tal_system *system, tal_subsystem_ix owner, bool wants_u)
{
    tal_measure_def def = tal_measure_def_default();
    def.name = wants_u ? "speed" : "place";
    def.size = 1;
    def.self = &wants_u;
    def.self_size = sizeof wants_u;
    return tal_system_add_measure(system, owner, &variable_ops, &def);
}

// --- a mass on a slider and a spring, m = 2, k = 8 ---

typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_body_ix body;
    tal_measure_ix outputs[2]; // place and speed
    tal_parameter parameters[4];
    tal_integrator_def integrator;
} model;

enum {
    MASS,
    STIFFNESS,
    Q0,
    U0
};

static void build(model *m)
{
    *m = (model){.system = tal_system_create(NULL)};
    m->matter = tal_matter_create(m->system);
    m->forces = tal_forces_create(m->system, m->matter);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(2.0, TAL_VEC3_ZERO);
    m->body = tal_matter_add_slider(m->matter, TAL_GROUND, &def);
    const tal_force_ix spring =
        tal_forces_add_mobility_spring(m->forces, NULL, (tal_mobility){m->body, 0}, 8.0, 0.0);
    const tal_subsystem_ix owner = tal_matter_subsystem(m->matter);
    m->outputs[0] = add_variable(m->system, owner, false);
    m->outputs[1] = add_variable(m->system, owner, true);
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(m->system, &m->state, &err), TAL_OK);
    m->parameters[MASS] = tal_parameter_mass("mass", m->matter, m->body);
    m->parameters[STIFFNESS] =
        tal_parameter_force("stiffness", m->forces, spring, TAL_MOBILITY_SPRING_STIFFNESS);
    m->parameters[Q0] = tal_parameter_q("q0", m->matter, m->body, 0);
    m->parameters[U0] = tal_parameter_u("u0", m->matter, m->body, 0);
    m->integrator = tal_integrator_def_default();
    m->integrator.tableau = tal_rk_dormand_prince();
    m->integrator.accuracy = 1e-10;
}

static tal_ensemble *create(const model *m, int first, int count, int lanes,
                            const tal_executor *executor)
{
    tal_ensemble_def def = tal_ensemble_def_default();
    def.parameters = m->parameters + first;
    def.num_parameters = count;
    def.outputs = m->outputs;
    def.num_outputs = 2;
    def.task = TAL_TASK_INTEGRATE;
    def.end_time = 3.0;
    def.integrator = &m->integrator;
    def.lanes = lanes;
    def.executor = executor;
    tal_error err;
    tal_ensemble *ensemble = NULL;
    ck_assert_msg(tal_ensemble_create(m->system, &def, &ensemble, &err) == TAL_OK, "%s",
                  err.message);
    return ensemble;
}

static void end(model *m)
{
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

// Runs samples of a table.
static tal_status run_table(tal_ensemble *ensemble, const tal_state *start, const double values[],
                            int num_parameters, int n, double results[], tal_status status[])
{
    const tal_design design = tal_design_table(values, num_parameters, n);
    return tal_ensemble_run(ensemble, start, &design, results, status, NULL);
}

static void closed_form(const double p[4], double out[2])
{
    const double w = sqrt(p[STIFFNESS] / p[MASS]), t = 3.0;
    out[0] = p[Q0] * cos(w * t) + p[U0] / w * sin(w * t);
    out[1] = -p[Q0] * w * sin(w * t) + p[U0] * cos(w * t);
}

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

// Two outputs, two unknowns: the truth is found again to where differences of 6e-6 with outputs
// good to 1e-9 leave it. The step goes below 1e-8 only if they are smooth.
START_TEST(parameters_are_found_again_from_what_they_do)
{
    model m;
    build(&m);
    ck_assert_int_eq(tal_body_set_q(m.matter, m.state, m.body, 0, 1.0), TAL_OK);
    const double truth[] = {2.0, 8.0, 0.7, 0.4};
    double targets[2], values[] = {0.5, 0.5}, cost = -1.0;
    closed_form(truth, targets);
    tal_ensemble *ensemble = create(&m, Q0, 2, 1, NULL);
    ck_assert_int_eq(tal_ensemble_fit(ensemble, m.state, targets, NULL, values, &cost), TAL_OK);
    test_assert_near(values, truth + Q0, 2, 1e-8, "q0, u0");
    ck_assert_double_lt(cost, 1e-14);
    tal_ensemble_destroy(ensemble);

    // a nonlinear one: the stiffness alone, from 6
    ensemble = create(&m, STIFFNESS, 1, 1, NULL);
    const double stiff[] = {2.0, 8.0, 1.0, 0.0};
    double stiffness = 7.0;
    closed_form(stiff, targets);
    ck_assert_int_eq(tal_ensemble_fit(ensemble, m.state, targets, NULL, &stiffness, &cost), TAL_OK);
    ck_assert_double_eq_tol(stiffness, 8.0, 1e-8);
    tal_ensemble_destroy(ensemble);
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

// --- fits that end otherwise ---

// q0 alone cannot give both outputs: with a = cos(6) and b = -2 sin(6), targets p and s of place
// and speed are met best by q0 = (a p + b s) / (a^2 + b^2).
START_TEST(the_nearest_outputs_are_found_where_none_are_met)
{
    model m;
    build(&m);
    const double targets[] = {0.3, 0.9}, a = cos(6.0), b = -2.0 * sin(6.0);
    double q0 = 0.2, cost = 0.0;
    tal_ensemble *ensemble = create(&m, Q0, 1, 1, NULL);
    ck_assert_int_eq(tal_ensemble_fit(ensemble, m.state, targets, NULL, &q0, &cost), TAL_OK);
    const double wanted = (a * targets[0] + b * targets[1]) / (a * a + b * b);
    ck_assert_double_eq_tol(q0, wanted, 1e-6);
    const double r[] = {a * wanted - targets[0], b * wanted - targets[1]};
    ck_assert_double_eq_tol(cost, 0.5 * (r[0] * r[0] + r[1] * r[1]), 1e-8);
    tal_ensemble_destroy(ensemble);
    end(&m);
}

END_TEST

static tal_status calc_corner(const void *self, const tal_system *system, tal_state *state,
                              int order, int n, double value[])
{
    (void)self, (void)system, (void)order, (void)n;
    value[0] = 1.0 + fabs(tal_state_q(state)[0] - 0.3);
    return TAL_OK;
}

static const tal_measure_ops corner_ops = {
    .size = sizeof corner_ops, .name = "corner", .calc = calc_corner, .needs = needs_variable};

// 1 + |q - 0.3| is least at a corner, where its slope by differences leads nowhere: that is the
// answer all the same.
START_TEST(a_fit_ends_where_no_step_is_better)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_slider(matter, TAL_GROUND, &def);
    tal_measure_def measure = tal_measure_def_default();
    measure.name = "corner";
    measure.size = 1;
    const tal_measure_ix output =
        tal_system_add_measure(system, tal_matter_subsystem(matter), &corner_ops, &measure);
    tal_state *state = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    const tal_parameter q = tal_parameter_q("q", matter, body, 0);
    tal_ensemble_def varying = tal_ensemble_def_default();
    varying.parameters = &q;
    varying.num_parameters = 1;
    varying.outputs = &output;
    varying.num_outputs = 1;
    tal_ensemble *ensemble = NULL;
    ck_assert_int_eq(tal_ensemble_create(system, &varying, &ensemble, NULL), TAL_OK);
    tal_ensemble_fit_options options = tal_ensemble_fit_options_default();
    options.accuracy = 1e-14;
    const double target = 0.0;
    double value = 0.3 - 1e-7, cost = 0.0;
    ck_assert_int_eq(tal_ensemble_fit(ensemble, state, &target, &options, &value, &cost), TAL_OK);
    ck_assert_double_eq_tol(value, 0.3, 1e-7);
    ck_assert_double_eq_tol(cost, 0.5, 1e-7);
    tal_ensemble_destroy(ensemble);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

END_TEST

START_TEST(one_iteration_too_few_is_told)
{
    model m;
    build(&m);
    ck_assert_int_eq(tal_body_set_q(m.matter, m.state, m.body, 0, 1.0), TAL_OK);
    const double truth[] = {2.0, 8.0, 1.0, 0.0};
    double targets[2], found = 0.0;
    closed_form(truth, targets);
    tal_ensemble *ensemble = create(&m, STIFFNESS, 1, 1, NULL);
    int enough = 0;
    for (int allowed = 1; allowed <= 20; ++allowed) {
        tal_ensemble_fit_options options = tal_ensemble_fit_options_default();
        options.max_iterations = allowed;
        double stiffness = 7.0;
        const tal_status st =
            tal_ensemble_fit(ensemble, m.state, targets, &options, &stiffness, NULL);
        if (st == TAL_OK) {
            if (enough == 0) enough = allowed, found = stiffness;
            ck_assert_double_eq(stiffness, found);
        } else {
            ck_assert_int_eq(enough, 0);
            ck_assert_int_eq(st, TAL_ERR_NO_CONVERGENCE);
            ck_assert_double_eq(stiffness, 7.0);
            char count[40];
            (void)snprintf(count, sizeof count, "%d iterations were not enough", allowed);
            ck_assert_ptr_nonnull(strstr(tal_ensemble_error(ensemble)->message, count));
        }
    }
    ck_assert(enough > 2 && enough < 20);
    tal_ensemble_destroy(ensemble);
    end(&m);
}

END_TEST

START_TEST(fits_that_cannot_be_are_reported_and_values_stay)
{
    model m;
    build(&m);
    ck_assert_int_eq(tal_body_set_q(m.matter, m.state, m.body, 0, 1.0), TAL_OK);
    tal_ensemble *ensemble = create(&m, STIFFNESS, 1, 1, NULL);
    double targets[2], stiffness = 7.0;
    const double stiff[] = {2.0, 8.0, 1.0, 0.0};
    closed_form(stiff, targets);
    tal_ensemble_fit_options options = tal_ensemble_fit_options_default();
    options.max_iterations = 1;
    ck_assert_int_eq(tal_ensemble_fit(ensemble, m.state, targets, &options, &stiffness, NULL),
                     TAL_ERR_NO_CONVERGENCE);
    ck_assert_ptr_nonnull(strstr(tal_ensemble_error(ensemble)->message, "iterations"));
    options.max_iterations = 0;
    ck_assert_int_eq(tal_ensemble_fit(ensemble, m.state, targets, &options, &stiffness, NULL),
                     TAL_ERR_BAD_VALUE);
    options = tal_ensemble_fit_options_default();
    const double zero[] = {0.0, 1.0}, negative[] = {-1.0, 1.0};
    options.scale = zero;
    ck_assert_int_eq(tal_ensemble_fit(ensemble, m.state, targets, &options, &stiffness, NULL),
                     TAL_ERR_BAD_VALUE);
    options.scale = NULL;
    options.weights = negative;
    ck_assert_int_eq(tal_ensemble_fit(ensemble, m.state, targets, &options, &stiffness, NULL),
                     TAL_ERR_BAD_VALUE);
    tal_ensemble_destroy(ensemble);
    ensemble = create(&m, MASS, 1, 1, NULL);
    double mass = -1.0; // the start cannot be run
    ck_assert_int_lt(tal_ensemble_fit(ensemble, m.state, targets, NULL, &mass, NULL), TAL_OK);
    ck_assert_double_eq(stiffness, 7.0);
    ck_assert_double_eq(mass, -1.0);
    test_record_breaches();
    test_assert_refused(tal_ensemble_fit(ensemble, m.state, NULL, NULL, &mass, NULL), TAL_ERR_NULL,
                        "NULL");
    ck_assert_int_eq(run_table(ensemble, m.state, NULL, 1, 1, &mass, NULL), TAL_ERR_NULL);
    ck_assert_int_eq(run_table(ensemble, m.state, targets, 2, 1, &mass, NULL), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_ensemble_error(ensemble)->message, "2 parameters"));
    test_assert_refused(run_table(NULL, m.state, NULL, 1, 1, &mass, NULL), TAL_ERR_NULL, "NULL");
    tal_ensemble_destroy(ensemble);
    end(&m);
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

// --- tasks ---

// Outputs at times are those of a run that is recorded at them, which takes the same steps.
START_TEST(outputs_can_be_read_at_many_times)
{
    model m;
    build(&m);
    const double times[] = {0.0, 0.3, 0.3, 1.7, 3.0};
    tal_ensemble_def def = tal_ensemble_def_default();
    def.parameters = &m.parameters[Q0];
    def.num_parameters = 2;
    def.outputs = m.outputs;
    def.num_outputs = 2;
    def.task = TAL_TASK_INTEGRATE;
    def.times = times;
    def.num_times = 5;
    def.integrator = &m.integrator;
    tal_ensemble *ensemble = NULL;
    ck_assert_int_eq(tal_ensemble_create(m.system, &def, &ensemble, NULL), TAL_OK);
    ck_assert_int_eq(tal_ensemble_row_size(ensemble), 10);
    const double values[2][2] = {{1.0, 0.5}, {-0.3, 2.0}};
    double results[2][5][2], ends[2][2];
    ck_assert_int_eq(run_table(ensemble, m.state, &values[0][0], 2, 2, &results[0][0][0], NULL),
                     TAL_OK);
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < 5; ++i) { // w = 2; at accuracy 1e-10 a hundred steps leave 1e-8
            const double place =
                values[k][0] * cos(2.0 * times[i]) + 0.5 * values[k][1] * sin(2.0 * times[i]);
            ck_assert_double_eq_tol(results[k][i][0], place, 1e-8);
        }
    }
    tal_ensemble_destroy(ensemble);
    ensemble = create(&m, Q0, 2, 1, NULL);
    ck_assert_int_eq(run_table(ensemble, m.state, &values[0][0], 2, 2, &ends[0][0], NULL), TAL_OK);
    ck_assert_mem_eq(results[0][4], ends[0], sizeof ends[0]);
    ck_assert_mem_eq(results[1][4], ends[1], sizeof ends[1]);
    tal_ensemble_destroy(ensemble);
    end(&m);
}

END_TEST

// The method is the integrator's, SUNDIALS' too.
START_TEST(any_method_integrates)
{
    static const tal_method methods[] = {TAL_METHOD_VERLET, TAL_METHOD_CVODE_BDF,
                                         TAL_METHOD_CVODE_ADAMS, TAL_METHOD_ARKODE_EXPLICIT};
    model m;
    build(&m);
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; ++i) {
        m.integrator = tal_integrator_def_default();
        m.integrator.method = methods[i];
        m.integrator.accuracy = 1e-6;
        tal_ensemble *ensemble = create(&m, Q0, 1, 1, NULL);
        const double q0 = 1.0, values[4] = {2.0, 8.0, q0, 0.0};
        double results[2], wanted[2];
        closed_form(values, wanted);
        ck_assert_int_eq(run_table(ensemble, m.state, &q0, 1, 1, results, NULL), TAL_OK);
        test_assert_near(results, wanted, 2, 1e-2, "outputs"); // a method that ran at all
        tal_ensemble_destroy(ensemble);
    }
    end(&m);
}

END_TEST

static tal_status read_place(void *context, const tal_system *system, tal_state *state,
                             double results[])
{
    (void)context, (void)system;
    results[0] = tal_state_q(state)[0];
    return TAL_OK;
}

// The spring rests at 0; a goal puts the slider where it says, wherever it was.
START_TEST(samples_are_brought_to_rest_or_assembled_or_tracked)
{
    model m;
    build(&m);
    const tal_coordinate_goal goal = {.body = m.body, .i = 0, .value = 0.75, .weight = 1.0};
    tal_assembler_def assembler = tal_assembler_def_default();
    assembler.coordinates = &goal;
    assembler.num_coordinates = 1;
    const tal_marker marker = {"front", m.body, {0.5, 0.0, 0.0}, 1.0};
    tal_assembler_def tracking = tal_assembler_def_default();
    tracking.markers = &marker;
    tracking.num_markers = 1;
    const double wanted[] = {0.1, 0.2, 0.4}, times[] = {0.0, 1.0, 2.0}, starts[] = {0.5, -0.25};
    const tal_vec3 points[] = {{0.6, 0.0, 0.0}, {0.7, 0.0, 0.0}, {0.9, 0.0, 0.0}};
    const tal_frames frames = {.num_frames = 3, .times = times, .points = points};
    tal_ensemble_def def = tal_ensemble_def_default();
    def.parameters = &m.parameters[Q0];
    def.num_parameters = 1;
    def.read = read_place;
    def.num_outputs = 1;
    for (tal_task task = TAL_TASK_ASSEMBLE; task <= TAL_TASK_EQUILIBRIUM; ++task) {
        def.task = task;
        def.assembler = task == TAL_TASK_TRACK ? &tracking : &assembler;
        def.frames = task == TAL_TASK_TRACK ? &frames : NULL;
        tal_ensemble *ensemble = NULL;
        tal_error err;
        ck_assert_msg(tal_ensemble_create(m.system, &def, &ensemble, &err) == TAL_OK, "%s",
                      err.message);
        double results[2][3];
        const int row = tal_ensemble_row_size(ensemble);
        ck_assert_int_eq(row, task == TAL_TASK_TRACK ? 3 : 1);
        ck_assert_int_eq(run_table(ensemble, m.state, starts, 1, 2, &results[0][0], NULL), TAL_OK);
        const double *const all = &results[0][0];
        for (int k = 0; k < 2; ++k) {
            if (task == TAL_TASK_TRACK) test_assert_near(all + 3 * k, wanted, 3, 1e-5, "places");
            if (task == TAL_TASK_ASSEMBLE) ck_assert_double_eq_tol(all[k], 0.75, 1e-5);
            if (task == TAL_TASK_EQUILIBRIUM) ck_assert_double_eq_tol(all[k], 0.0, 1e-8);
        }
        tal_ensemble_destroy(ensemble);
    }
    end(&m);
}

END_TEST

// The same rows and reasons, through chunks.
START_TEST(a_batch_has_the_rows_of_a_run)
{
    enum {
        N = 30
    };

    model m;
    build(&m);
    const tal_distribution spread = {TAL_UNIFORM, -0.5, 3.0};
    const tal_design design = tal_design_random(&spread, 1, 4, N);
    tal_ensemble *ensemble = create(&m, MASS, 1, 2, NULL);
    double rows[N][2], again[N][2];
    tal_status status[N], also[N];
    static tal_error why[N], reasons[N];
    ck_assert_int_eq(tal_ensemble_run(ensemble, m.state, &design, &rows[0][0], status, why),
                     TAL_OK);
    tal_batch_def def = tal_batch_def_default();
    def.num_samples = N;
    def.row_size = 2;
    def.chunk = 4;
    tal_batch *batch = NULL;
    ck_assert_int_eq(tal_batch_create(&def, &batch, NULL), TAL_OK);
    ck_assert_int_eq(tal_ensemble_run_batch(ensemble, m.state, &design, batch), TAL_OK);
    ck_assert_int_eq(tal_batch_read(batch, 0, N, &again[0][0], also, reasons), TAL_OK);
    ck_assert_mem_eq(status, also, sizeof status);
    ck_assert_mem_eq(rows, again, sizeof rows);
    int failed = 0;
    for (int k = 0; k < N; ++k) {
        failed += status[k] != TAL_OK;
        ck_assert_str_eq(why[k].message, reasons[k].message);
        ck_assert_int_eq(why[k].message[0] != 0, status[k] != TAL_OK);
    }
    ck_assert_int_gt(failed, 0);
    tal_batch_destroy(batch);
    def.row_size = 3;
    ck_assert_int_eq(tal_batch_create(&def, &batch, NULL), TAL_OK);
    ck_assert_int_eq(tal_ensemble_run_batch(ensemble, m.state, &design, batch), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_ensemble_error(ensemble)->message, "30 samples of 3"));
    tal_batch_destroy(batch);
    tal_ensemble_destroy(ensemble);
    end(&m);
}

END_TEST

// q(t) of normal q0 and u0 is normal: mean q0 cos + u0 sin / w, variance of the squares.
START_TEST(statistics_of_a_linear_system_are_closed_forms)
{
    enum {
        N = 20000
    };

    model m;
    build(&m);
    m.integrator.accuracy = 1e-6; // far below the error of the statistics
    const tal_distribution spread[] = {{TAL_NORMAL, 1.0, 0.2}, {TAL_NORMAL, 0.5, 0.3}};
    const tal_design design = tal_design_random(spread, 2, 99, N);
    tal_ensemble *ensemble = create(&m, Q0, 2, 1, NULL);
    static double rows[N][2];
    ck_assert_int_eq(tal_ensemble_run(ensemble, m.state, &design, &rows[0][0], NULL, NULL), TAL_OK);
    double mean[2], scatter[4];
    tal_moments it = {.num_columns = 2, .mean = mean, .scatter = scatter};
    ck_assert_int_eq(tal_moments_begin(&it), TAL_OK);
    ck_assert_int_eq(tal_moments_add(&it, &rows[0][0], N), TAL_OK);
    const double c = cos(6.0), s = sin(6.0), w = 2.0;
    const double A[2][2] = {{c, s / w}, {-w * s, c}}; // (q, u) at t = 3 of (q, u) at 0
    for (int i = 0; i < 2; ++i) {
        const double wanted = A[i][0] * 1.0 + A[i][1] * 0.5;
        const double variance = A[i][0] * A[i][0] * 0.04 + A[i][1] * A[i][1] * 0.09;
        // four deviations of a mean and of a variance of N numbers
        ck_assert_double_eq_tol(mean[i], wanted, 4.0 * sqrt(variance / N));
        ck_assert_double_eq_tol(tal_moments_covariance(&it, i, i), variance,
                                4.0 * variance * sqrt(2.0 / N));
    }
    const double product = A[0][0] * A[1][0] * 0.04 + A[0][1] * A[1][1] * 0.09;
    ck_assert_double_eq_tol(tal_moments_covariance(&it, 0, 1), product, 4.0 * 0.1 / sqrt(1.0 * N));
    tal_ensemble_destroy(ensemble);
    end(&m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/ensemble");
    TCase *tests = tcase_create("ensemble");
    tcase_add_test(tests, results_need_not_be_measures_and_samples_no_parameters);
    tcase_add_test(tests, every_point_of_a_grid_is_run);
    tcase_add_test(tests, threads_change_nothing);
    tcase_add_test(tests, parameters_are_found_again_from_what_they_do);
    tcase_add_test(tests, a_sample_that_fails_is_nan_and_reported_by_number);
    tcase_add_test(tests, a_study_may_do_something_else_than_simulate);
    tcase_add_test(tests, constraints_and_variables_are_parameters_too);
    tcase_add_test(tests, a_body_without_mass_has_no_mass_to_vary);
    tcase_add_test(tests, the_nearest_outputs_are_found_where_none_are_met);
    tcase_add_test(tests, a_fit_ends_where_no_step_is_better);
    tcase_add_test(tests, one_iteration_too_few_is_told);
    tcase_add_test(tests, fits_that_cannot_be_are_reported_and_values_stay);
    tcase_add_test(tests, outputs_can_be_read_at_many_times);
    tcase_add_test(tests, any_method_integrates);
    tcase_add_test(tests, samples_are_brought_to_rest_or_assembled_or_tracked);
    tcase_add_test(tests, a_batch_has_the_rows_of_a_run);
    tcase_add_test(tests, statistics_of_a_linear_system_are_closed_forms);
    tcase_add_test(tests, outputs_are_one_number_each);
    tcase_add_test(tests, a_definition_that_makes_no_study_is_told_why);
    tcase_add_test(tests, bad_definitions_are_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
