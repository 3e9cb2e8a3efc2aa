// What is done with each sample: integrated, realized, brought to rest, assembled, tracked.
#include "ensemble_support.h"

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
    Suite *suite = suite_create("study/ensemble_tasks");
    TCase *tests = tcase_create("ensemble_tasks");
    tcase_add_test(tests, outputs_can_be_read_at_many_times);
    tcase_add_test(tests, any_method_integrates);
    tcase_add_test(tests, samples_are_brought_to_rest_or_assembled_or_tracked);
    tcase_add_test(tests, a_batch_has_the_rows_of_a_run);
    tcase_add_test(tests, statistics_of_a_linear_system_are_closed_forms);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
