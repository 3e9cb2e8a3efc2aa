// Parameters found from what a System does.
#include "ensemble_support.h"

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

int main(void)
{
    Suite *suite = suite_create("study/ensemble_fit");
    TCase *tests = tcase_create("ensemble_fit");
    tcase_add_test(tests, parameters_are_found_again_from_what_they_do);
    tcase_add_test(tests, the_nearest_outputs_are_found_where_none_are_met);
    tcase_add_test(tests, a_fit_ends_where_no_step_is_better);
    tcase_add_test(tests, one_iteration_too_few_is_told);
    tcase_add_test(tests, fits_that_cannot_be_are_reported_and_values_stay);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
