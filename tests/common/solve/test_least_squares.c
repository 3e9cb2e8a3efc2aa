// Tests for common/src/solve/least_squares.c: problems whose answers are known.
#include "alloc_guard.h"
#include "talus_test.h"

#include <talus/common.h>

#include <math.h>
#include <string.h>

enum {
    MOST = 40
};

/// y = a exp(-b t) + c through points, whose numbers are the unknowns.
typedef struct decay {
    int n;
    double t[MOST], y[MOST];
    double never_above; // of b, where it cannot be computed
} decay;

static tal_status calc_decay(void *self, const double x[], double r[], tal_matrix J)
{
    const decay *it = self;
    for (int i = 0; i < it->n; ++i) {
        const double e = exp(-x[1] * it->t[i]);
        r[i] = x[0] * e + x[2] - it->y[i];
        if (x[1] > it->never_above) r[i] = (double)NAN;
        if (J.rows == 0) continue;
        J.data[i] = e;
        J.data[J.ld + i] = -it->t[i] * x[0] * e;
        J.data[2 * J.ld + i] = 1.0;
    }
    return TAL_OK;
}

static decay decay_of(double a, double b, double c)
{
    decay it = {.n = 30, .never_above = (double)INFINITY};
    for (int i = 0; i < it.n; ++i) {
        it.t[i] = 0.1 * i;
        it.y[i] = a * exp(-b * it.t[i]) + c;
    }
    return it;
}

static tal_least_squares problem_of(decay *data)
{
    return (tal_least_squares){
        .num_unknowns = 3, .num_residuals = data->n, .self = data, .calc = calc_decay};
}

// From far away, also across values that cannot be computed.
START_TEST(exact_data_give_back_their_parameters)
{
    decay data = decay_of(2.0, 1.3, -0.4);
    const tal_least_squares problem = problem_of(&data);
    double work[500];
    ck_assert_uint_le(tal_least_squares_work_size(3, data.n), 500);
    for (int k = 0; k < 2; ++k) {
        data.never_above = k == 1 ? 1.5 : (double)INFINITY;
        double x[3] = {1.0, 0.5, 0.0}, errors[3];
        tal_least_squares_report report;
        tal_status st = TAL_ERR_NULL;
        test_assert_no_heap(
            st = tal_least_squares_solve(&problem, NULL, x, errors, work, &report, NULL));
        ck_assert_int_eq(st, TAL_OK);
        ck_assert_double_eq_tol(x[0], 2.0, 1e-9);
        ck_assert_double_eq_tol(x[1], 1.3, 1e-9);
        ck_assert_double_eq_tol(x[2], -0.4, 1e-9);
        ck_assert_double_lt(report.cost, 1e-18);
        ck_assert_double_lt(errors[1], 1e-8);
        ck_assert_double_gt(report.least_pivot, 1e-4);
        ck_assert_int_eq(report.num_held, 0);
    }
}

END_TEST

/// y = x_0 + x_1 t, with residuals that do not vanish.
static tal_status calc_line(void *self, const double x[], double r[], tal_matrix J)
{
    const decay *it = self;
    for (int i = 0; i < it->n; ++i) {
        r[i] = x[0] + x[1] * it->t[i] - it->y[i];
        if (J.rows == 0) continue;
        J.data[i] = 1.0;
        J.data[J.ld + i] = it->t[i];
    }
    return TAL_OK;
}

// Linear regression has closed forms: slope and its standard error. Scales change neither.
START_TEST(standard_errors_are_those_of_linear_regression)
{
    decay data = {.n = 12};
    double t = 0.0, y = 0.0, tt = 0.0, ty = 0.0;
    for (int i = 0; i < data.n; ++i) {
        data.t[i] = 1000.0 + i;
        data.y[i] = 3.0 - 0.2 * data.t[i] + 0.1 * cos(7.0 * i);
        t += data.t[i] / data.n;
        y += data.y[i] / data.n;
    }
    for (int i = 0; i < data.n; ++i) {
        tt += (data.t[i] - t) * (data.t[i] - t);
        ty += (data.t[i] - t) * (data.y[i] - y);
    }
    const double slope = ty / tt;
    double sum = 0.0;
    for (int i = 0; i < data.n; ++i) {
        const double r = y + slope * (data.t[i] - t) - data.y[i];
        sum += r * r;
    }
    const double s2 = sum / (data.n - 2);
    const double scale[2] = {100.0, 1e-3};
    for (int k = 0; k < 2; ++k) {
        const tal_least_squares problem = {.num_unknowns = 2,
                                           .num_residuals = data.n,
                                           .scale = k == 1 ? scale : NULL,
                                           .self = &data,
                                           .calc = calc_line};
        double x[2] = {0.0, 0.0}, errors[2], work[200];
        tal_least_squares_report report;
        ck_assert_int_eq(tal_least_squares_solve(&problem, NULL, x, errors, work, &report, NULL),
                         TAL_OK);
        // H has a condition of 1e11, and the search ends within 1e-8
        ck_assert_double_eq_tol(x[1], slope, 1e-9);
        ck_assert_double_eq_tol(report.cost, 0.5 * sum, 1e-9);
        ck_assert_double_eq_tol(errors[1], sqrt(s2 / tt), 1e-4 * sqrt(s2 / tt));
        ck_assert_double_eq_tol(errors[0], sqrt(s2 * (1.0 / data.n + t * t / tt)),
                                1e-4 * sqrt(s2 * t * t / tt));
    }
}

END_TEST

// At a bound the others are fitted as if it were fixed.
START_TEST(bounds_hold_and_are_told)
{
    decay data = decay_of(2.0, 1.3, -0.4);
    tal_least_squares problem = problem_of(&data);
    const double lower[3] = {0.0, 0.2, 0.0}, upper[3] = {10.0, 5.0, 10.0};
    double x[3] = {1.0, 9.0, -7.0}, errors[3], work[500];
    problem.lower = lower;
    problem.upper = upper;
    tal_least_squares_report report;
    ck_assert_int_eq(tal_least_squares_solve(&problem, NULL, x, errors, work, &report, NULL),
                     TAL_OK);
    ck_assert_double_eq(x[2], 0.0);
    ck_assert_double_eq(errors[2], 0.0);
    ck_assert_int_eq(report.num_held, 1);
    ck_assert_double_gt(errors[0], 0.0);
    double r[MOST], J[3 * MOST];
    (void)calc_decay(&data, x, r, tal_matrix_view(J, data.n, 3));
    for (int j = 0; j < 3; ++j) {
        double g = 0.0;
        for (int i = 0; i < data.n; ++i) {
            g += J[j * data.n + i] * r[i];
        }
        // free ones have no gradient, and the one that is held would go below its bound
        if (j < 2) ck_assert_double_eq_tol(g, 0.0, 1e-6);
        if (j == 2) ck_assert_double_gt(g, 0.1);
    }
}

END_TEST

// Two unknowns of which only the sum counts, and one that does not count at all.
static tal_status calc_twice(void *self, const double x[], double r[], tal_matrix J)
{
    const decay *it = self;
    for (int i = 0; i < it->n; ++i) {
        r[i] = (x[0] + x[1]) * it->t[i] - it->y[i];
        if (J.rows == 0) continue;
        J.data[i] = J.data[J.ld + i] = it->t[i];
        J.data[2 * J.ld + i] = 0.0;
    }
    return TAL_OK;
}

START_TEST(what_the_data_do_not_tell_has_no_error)
{
    decay data = decay_of(2.0, 1.3, -0.4);
    const tal_least_squares problem = {
        .num_unknowns = 3, .num_residuals = data.n, .self = &data, .calc = calc_twice};
    double x[3] = {1.0, 1.0, 5.0}, errors[3], work[500];
    tal_least_squares_report report;
    ck_assert_int_eq(tal_least_squares_solve(&problem, NULL, x, errors, work, &report, NULL),
                     TAL_OK);
    ck_assert_double_eq(x[2], 5.0);
    ck_assert_double_lt(report.least_pivot, 1e-10);
    for (int j = 0; j < 3; ++j) {
        ck_assert(isnan(errors[j]));
    }
}

END_TEST

static tal_status refuse(void *self, const double x[], double r[], tal_matrix J)
{
    (void)self, (void)x, (void)r, (void)J;
    return TAL_ERR_SINGULAR;
}

START_TEST(what_is_wrong_is_said)
{
    decay data = decay_of(2.0, 1.3, -0.4);
    tal_least_squares problem = problem_of(&data);
    double x[3] = {1.0, 1.0, 1.0}, work[500];
    const double lower[3] = {0.0, 3.0, 0.0}, upper[3] = {1.0, 2.0, 1.0};
    tal_error err;
    problem.lower = lower;
    problem.upper = upper;
    ck_assert_int_eq(tal_least_squares_solve(&problem, NULL, x, NULL, work, NULL, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "unknown 1"));
    problem.lower = problem.upper = NULL;
    tal_least_squares_options few = tal_least_squares_options_default();
    few.max_iterations = 1;
    ck_assert_int_eq(tal_least_squares_solve(&problem, &few, x, NULL, work, NULL, &err),
                     TAL_ERR_NO_CONVERGENCE);
    data.never_above = -1e9;
    ck_assert_int_eq(tal_least_squares_solve(&problem, NULL, x, NULL, work, NULL, &err),
                     TAL_ERR_NOT_FINITE);
    problem.calc = refuse;
    ck_assert_int_eq(tal_least_squares_solve(&problem, NULL, x, NULL, work, NULL, &err),
                     TAL_ERR_SINGULAR);
    problem.calc = NULL;
    ck_assert_int_eq(tal_least_squares_solve(&problem, NULL, x, NULL, work, NULL, &err),
                     TAL_ERR_NULL);
    ck_assert_uint_eq(tal_least_squares_work_size(-1, 3), 0);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("common/least_squares");
    TCase *all = tcase_create("all");
    tcase_add_test(all, exact_data_give_back_their_parameters);
    tcase_add_test(all, standard_errors_are_those_of_linear_regression);
    tcase_add_test(all, bounds_hold_and_are_told);
    tcase_add_test(all, what_the_data_do_not_tell_has_no_error);
    tcase_add_test(all, what_is_wrong_is_said);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
