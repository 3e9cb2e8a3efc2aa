// Tests of common/src/signal/smooth.c, against dense matrices, straight lines and the data.
#include "alloc_guard.h"
#include "talus_test.h"

#include <talus/common/function.h>
#include <talus/common/linalg.h>
#include <talus/common/signal.h>

#include <math.h>
#include <stdlib.h>

enum {
    N = 14
};

// With a penalty; `it` may be NULL.
static tal_status smooth_by(const double t[], const double y[], const double w[], int n,
                            double penalty, double g[], double work[], tal_smoothing *it)
{
    tal_smoothing local;
    if (it == NULL) it = &local;
    it->penalty = penalty;
    return tal_signal_smooth(t, y, w, n, it, g, work, NULL);
}

static void random_data(test_rng *rng, double t[], double y[], double w[], int n)
{
    for (int i = 0; i < n; ++i) {
        t[i] = (i > 0 ? t[i - 1] : -1.0) + test_random_uniform(rng, 0.05, 0.4);
        y[i] = sin(3.0 * t[i]) + test_random_uniform(rng, -0.2, 0.2);
        w[i] = test_random_uniform(rng, 0.3, 3.0);
    }
}

// The matrix that makes smooth samples of data, column by column from unit data.
static void dense_smoother(const double t[], const double w[], int n, double penalty, double A[])
{
    double work[15 * N], unit[N];
    ck_assert_uint_le(tal_signal_smooth_work_size(n), 15 * N);
    for (int j = 0; j < n; ++j) {
        memset(unit, 0, sizeof unit);
        unit[j] = 1.0;
        ck_assert_int_eq(smooth_by(t, unit, w, n, penalty, A + j * n, work, NULL), TAL_OK);
    }
}

// integral of f''^2 of the natural spline through g: f'' is linear between the samples.
static double bending(const double t[], const double g[], int n)
{
    tal_function *f = NULL;
    double sum = 0.0;
    ck_assert_int_eq(tal_function_create_spline(NULL, t, g, n, TAL_SPLINE_NATURAL, &f, NULL),
                     TAL_OK);
    for (int i = 0; i + 1 < n; ++i) {
        const double h = t[i + 1] - t[i];
        const double a = tal_function_calc_derivative_1(f, t[i] + 1e-9 * h, 2);
        const double b = tal_function_calc_derivative_1(f, t[i + 1] - 1e-9 * h, 2);
        sum += h / 3.0 * (a * a + a * b + b * b);
    }
    tal_function_destroy(f);
    return sum;
}

static double cost(const double t[], const double y[], const double w[], int n, double penalty,
                   const double g[])
{
    double sum = penalty * bending(t, g, n);
    for (int i = 0; i < n; ++i) {
        sum += w[i] * (y[i] - g[i]) * (y[i] - g[i]);
    }
    return sum;
}

// What is found has the least cost: any sample moved by 1e-3 makes it larger, and half of the
// difference of both ways, the slope, vanishes: 1e-6 of the cost, since f'' is taken 1e-9 away.
START_TEST(no_other_samples_cost_less)
{
    test_rng rng = test_rng_seed(5);
    for (int round = 0; round < 20; ++round) {
        double t[N], y[N], w[N], g[N], work[15 * N];
        const int n = 3 + round % (N - 2);
        const double penalty = pow(10.0, -4.0 + 0.3 * round);
        random_data(&rng, t, y, w, n);
        ck_assert_int_eq(smooth_by(t, y, w, n, penalty, g, work, NULL), TAL_OK);
        const double least = cost(t, y, w, n, penalty, g);
        for (int i = 0; i < n; ++i) {
            double moved[N], more[2];
            for (int k = 0; k < 2; ++k) {
                memcpy(moved, g, sizeof moved);
                moved[i] += k == 0 ? 1e-3 : -1e-3;
                more[k] = cost(t, y, w, n, penalty, moved);
                ck_assert_double_gt(more[k], least);
            }
            const double curve = more[0] + more[1] - 2.0 * least;
            ck_assert_double_le(fabs(more[0] - more[1]), 1e-5 * curve + 1e-6 * least);
        }
    }
}

END_TEST

START_TEST(the_degrees_of_freedom_are_the_trace)
{
    test_rng rng = test_rng_seed(6);
    for (int round = 0; round < 30; ++round) {
        double t[N], y[N], w[N], g[N], work[15 * N], A[N * N], trace = 0.0;
        const int n = 3 + round % (N - 2);
        const double penalty = pow(10.0, -6.0 + 0.4 * round);
        tal_smoothing it;
        random_data(&rng, t, y, w, n);
        ck_assert_int_eq(smooth_by(t, y, w, n, penalty, g, work, &it), TAL_OK);
        dense_smoother(t, w, n, penalty, A);
        double squares = 0.0;
        for (int i = 0; i < n; ++i) {
            trace += A[i * n + i];
            squares += w[i] * (y[i] - g[i]) * (y[i] - g[i]);
        }
        ck_assert_double_eq_tol(it.dof, trace, 1e-9); // a condition of 1e5 at most
        const double left = n - trace;
        if (left < 1e-3) continue;
        ck_assert_double_eq_tol(it.gcv / (n * squares / (left * left)), 1.0, 1e-6);
        ck_assert_double_eq_tol(it.variance / (squares / left), 1.0, 1e-6);
    }
}

END_TEST

START_TEST(no_penalty_keeps_the_data_and_a_large_one_makes_a_line)
{
    test_rng rng = test_rng_seed(7);
    double t[N], y[N], w[N], g[N], work[15 * N];
    tal_smoothing it;
    random_data(&rng, t, y, w, N);
    ck_assert_int_eq(smooth_by(t, y, w, N, 0.0, g, work, &it), TAL_OK);
    test_assert_near(g, y, N, 0.0, "the data");
    ck_assert_double_eq(it.dof, N);

    ck_assert_int_eq(smooth_by(t, y, w, N, 1e9, g, work, &it), TAL_OK);
    double W = 0.0, Wt = 0.0, Wy = 0.0, Wtt = 0.0, Wty = 0.0;
    for (int i = 0; i < N; ++i) {
        W += w[i], Wt += w[i] * t[i], Wy += w[i] * y[i];
        Wtt += w[i] * t[i] * t[i], Wty += w[i] * t[i] * y[i];
    }
    const double slope = (W * Wty - Wt * Wy) / (W * Wtt - Wt * Wt), start = (Wy - slope * Wt) / W;
    for (int i = 0; i < N; ++i) {
        ck_assert_double_eq_tol(g[i], start + slope * t[i], 1e-6); // 1 / lambda, and eps lambda
    }
    ck_assert_double_eq_tol(it.dof, 2.0, 1e-5);

    // a line has nothing to smooth, whatever the penalty
    for (int i = 0; i < N; ++i) {
        y[i] = 3.0 - 2.0 * t[i];
    }
    ck_assert_int_eq(smooth_by(t, y, NULL, N, 10.0, g, work, NULL), TAL_OK);
    test_assert_near(g, y, N, 1e-12, "a line");
}

END_TEST

// 400 samples of a sine with noise of 0.1: what cross-validation chooses has no larger a score than
// any other penalty, is much closer to the sine than the data, and knows the noise.
START_TEST(cross_validation_finds_the_signal)
{
    enum {
        MANY = 400
    };

    test_rng rng = test_rng_seed(8);
    double *t = malloc(5 * MANY * sizeof *t), *y = t + MANY, *g = y + MANY;
    double *work = malloc(tal_signal_smooth_work_size(MANY) * sizeof *work);
    double error = 0.0, noise = 0.0;
    for (int i = 0; i < MANY; ++i) {
        double normal = -6.0; // a sum of twelve: variance one
        for (int k = 0; k < 12; ++k) {
            normal += test_random_uniform(&rng, 0.0, 1.0);
        }
        t[i] = 0.01 * i;
        y[i] = sin(2.0 * t[i]) + 0.1 * normal;
    }
    tal_smoothing best;
    tal_status st = TAL_OK;
    test_assert_no_heap(st = smooth_by(t, y, NULL, MANY, -1.0, g, work, &best));
    ck_assert_int_eq(st, TAL_OK);
    for (int i = 0; i < MANY; ++i) {
        error += pow(g[i] - sin(2.0 * t[i]), 2.0);
        noise += pow(y[i] - sin(2.0 * t[i]), 2.0);
    }
    ck_assert_double_lt(sqrt(error / noise), 0.25);
    ck_assert_double_eq_tol(sqrt(best.variance), 0.1, 0.01); // of 400 samples: 0.0035
    ck_assert(best.dof > 4.0 && best.dof < 40.0);
    for (int k = -40; k <= 40; ++k) {
        tal_smoothing other;
        const double penalty = best.penalty * pow(10.0, 0.1 * k);
        ck_assert_int_eq(smooth_by(t, y, NULL, MANY, penalty, g, work, &other), TAL_OK);
        ck_assert_double_ge(other.gcv, best.gcv * (1.0 - 1e-9));
    }
    free(work);
    free(t);
}

END_TEST

START_TEST(bad_data_are_refused)
{
    double t[] = {0.0, 1.0, 2.0, 3.0}, y[] = {1.0, 2.0, 0.0, 1.0}, w[] = {1.0, 0.0, 1.0, 1.0};
    double g[4], work[60];
    tal_error err = {0};
    tal_smoothing one = {.penalty = 1.0};
    ck_assert_uint_le(tal_signal_smooth_work_size(4), 60);
    ck_assert_uint_eq(tal_signal_smooth_work_size(-1), 0);
    ck_assert_int_eq(tal_signal_smooth(t, y, w, 4, &one, g, work, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "weight 1"));
    ck_assert_int_ne(smooth_by(t, y, NULL, 2, 1.0, g, work, NULL), TAL_OK);
    ck_assert_int_eq(smooth_by(t, y, NULL, 4, (double)NAN, g, work, NULL), TAL_ERR_NOT_FINITE);
    t[2] = 0.5;
    ck_assert_int_ne(smooth_by(t, y, NULL, 4, 1.0, g, work, NULL), TAL_OK);
    test_assert_refused(tal_signal_smooth(NULL, y, NULL, 4, NULL, g, work, NULL), TAL_ERR_NULL,
                        "times");
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("common/smooth");
    TCase *tests = tcase_create("smoothing");
    tcase_add_test(tests, no_other_samples_cost_less);
    tcase_add_test(tests, the_degrees_of_freedom_are_the_trace);
    tcase_add_test(tests, no_penalty_keeps_the_data_and_a_large_one_makes_a_line);
    tcase_add_test(tests, cross_validation_finds_the_signal);
    tcase_add_test(tests, bad_data_are_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
