// Tests of common/src/solve/minimize.c: the problems that Simbody's optimizers are tested with, and
// others with known answers.
#include "alloc_guard.h"
#include "talus_test.h"

#include <talus/common/minimize.h>

#include <math.h>
#include <stdlib.h>

static tal_minimize_report find(const tal_minimize_problem *problem,
                                const tal_minimize_options *options, double x[])
{
    const int memory = options != NULL ? options->memory : tal_minimize_options_default().memory;
    double *work = malloc(tal_minimize_work_size(problem->n, memory) * sizeof *work);
    tal_minimize_report report;
    tal_error err = {0};
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_minimize(problem, options, x, work, &report, &err));
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    free(work);
    return report;
}

// 1/2 (3 x^2 + 4 x y + 6 y^2) - 2 x + 8 y: least at (2, -2).
static tal_status two_unknowns(const void *self, const double x[], double *f, double g[])
{
    (void)self;
    *f = 0.5 * (3 * x[0] * x[0] + 4 * x[0] * x[1] + 6 * x[1] * x[1]) - 2 * x[0] + 8 * x[1];
    g[0] = 3 * x[0] + 2 * x[1] - 2;
    g[1] = 2 * x[0] + 6 * x[1] + 8;
    return TAL_OK;
}

START_TEST(a_quadratic_function_has_its_minimum)
{
    const tal_minimize_problem problem = {.n = 2, .calc = two_unknowns};
    double x[] = {100.0, 100.0};
    const tal_minimize_report report = find(&problem, NULL, x);
    // slopes below 1e-8, and curvatures from 2 to 7
    ck_assert_double_eq_tol(x[0], 2.0, 1e-8);
    ck_assert_double_eq_tol(x[1], -2.0, 1e-8);
    ck_assert_double_eq_tol(report.f, -10.0, 1e-15);
    ck_assert_int_eq(report.num_bound, 0);
}

END_TEST

// With y >= -1: 3 x - 2 - 2 = 0, so (4/3, -1), and what pushes at the bound is 2 x + 2 = 14/3.
START_TEST(an_unknown_stays_at_the_bound_it_is_pushed_against)
{
    const double low[] = {(double)-INFINITY, -1.0};
    const tal_minimize_problem problem = {.n = 2, .calc = two_unknowns, .low = low};
    double x[] = {-3.0, -7.0}; // outside
    const tal_minimize_report report = find(&problem, NULL, x);
    ck_assert_double_eq_tol(x[0], 4.0 / 3.0, 1e-8);
    ck_assert(x[1] == -1.0);
    ck_assert_int_eq(report.num_bound, 1);
}

END_TEST

// Of 25 unknowns, the example of L-BFGS-B: (x0 - 1)^2 + 4 sum (x_i - x_(i-1)^2)^2, every second
// one at least 1. Least at all ones, f = 0; the valley is flat, so f says more than x.
static tal_status chain(const void *self, const double x[], double *f, double g[])
{
    const int n = *(const int *)self;
    *f = (x[0] - 1.0) * (x[0] - 1.0);
    memset(g, 0, (size_t)n * sizeof *g);
    g[0] = 2.0 * (x[0] - 1.0);
    for (int i = 1; i < n; ++i) {
        const double d = x[i] - x[i - 1] * x[i - 1];
        *f += 4.0 * d * d;
        g[i] += 8.0 * d;
        g[i - 1] -= 16.0 * d * x[i - 1];
    }
    return TAL_OK;
}

START_TEST(the_example_of_L_BFGS_B_is_solved)
{
    const int n = 25;
    double low[25], high[25], x[25];
    for (int i = 0; i < n; ++i) {
        low[i] = i % 2 == 0 ? 1.0 : -100.0;
        high[i] = 100.0;
        x[i] = 3.0;
    }
    const tal_minimize_problem problem = {n, &n, chain, low, high};
    const tal_minimize_report report = find(&problem, NULL, x);
    ck_assert_double_lt(report.f, 1e-9); // 1.08e-9 is what the program by that name prints
    ck_assert_double_eq_tol(x[0], 1.0, 1e-4);
    ck_assert_int_le(report.evaluations, 200);
}

END_TEST

// Rosenbrock's function in 2 to 200 unknowns.
static tal_status rosenbrock(const void *self, const double x[], double *f, double g[])
{
    const int n = *(const int *)self;
    *f = 0.0;
    memset(g, 0, (size_t)n * sizeof *g);
    for (int i = 0; i + 1 < n; ++i) {
        const double d = x[i + 1] - x[i] * x[i], e = 1.0 - x[i];
        *f += 100.0 * d * d + e * e;
        g[i] -= 400.0 * d * x[i] + 2.0 * e;
        g[i + 1] += 200.0 * d;
    }
    return TAL_OK;
}

START_TEST(rosenbrocks_valley_is_followed_to_its_end)
{
    static const int sizes[] = {2, 10, 50, 200};
    for (int k = 0; k < 4; ++k) {
        const int n = sizes[k];
        double x[200];
        for (int i = 0; i < n; ++i) {
            x[i] = i % 2 == 0 ? -1.2 : 1.0;
        }
        const tal_minimize_problem problem = {.n = n, .self = &n, .calc = rosenbrock};
        tal_minimize_options options = tal_minimize_options_default();
        options.max_iterations = 5000;
        const tal_minimize_report report = find(&problem, &options, x);
        ck_assert_double_lt(report.f, 1e-13);
        for (int i = 0; i < n; ++i) {
            ck_assert_double_eq_tol(x[i], 1.0, 1e-5); // the least curvature is 0.4
        }
    }
}

END_TEST

// Random convex quadratic functions with bounds: the conditions of a minimum hold, g = 0 inside, g
// against the bound where x is at one. Badly scaled ones, too: curvatures from 1e-3 to 1e3.
typedef struct bowl {
    int n;
    const double *A, *b;
} bowl;

static tal_status quadratic(const void *self, const double x[], double *f, double g[])
{
    const bowl *it = self;
    *f = 0.0;
    for (int i = 0; i < it->n; ++i) {
        g[i] = -it->b[i];
        for (int j = 0; j < it->n; ++j) {
            g[i] += it->A[i * it->n + j] * x[j];
        }
        *f += 0.5 * x[i] * (g[i] - it->b[i]);
    }
    return TAL_OK;
}

START_TEST(the_conditions_of_a_minimum_hold_on_random_problems)
{
    enum {
        N = 20
    };

    test_rng rng = test_rng_seed(31);
    for (int round = 0; round < 50; ++round) {
        double A[N * N] = {0.0}, b[N], low[N], high[N], x[N];
        for (int k = 0; k < N; ++k) { // a sum of dyads with curvatures over six powers of ten
            double v[N];
            const double size = pow(10.0, -3.0 + 6.0 * k / (N - 1));
            for (int i = 0; i < N; ++i) {
                v[i] = test_random_uniform(&rng, -1.0, 1.0);
            }
            for (int i = 0; i < N * N; ++i) {
                A[i] += size * v[i / N] * v[i % N];
            }
        }
        for (int i = 0; i < N; ++i) {
            b[i] = test_random_uniform(&rng, -10.0, 10.0);
            low[i] = test_random_uniform(&rng, -2.0, 0.0);
            high[i] = i % 5 == 0 ? low[i] : test_random_uniform(&rng, 0.0, 2.0); // some are fixed
            x[i] = 0.0;
        }
        const bowl it = {N, A, b};
        const tal_minimize_problem problem = {N, &it, quadratic, low, high};
        tal_minimize_options options = tal_minimize_options_default();
        options.tolerance = 1e-5;
        options.progress = 0.0;
        options.max_iterations = 20000;
        (void)find(&problem, &options, x);
        double f, g[N];
        ck_assert_int_eq(quadratic(&it, x, &f, g), TAL_OK);
        for (int i = 0; i < N; ++i) {
            ck_assert(x[i] >= low[i] && x[i] <= high[i]);
            if (x[i] > low[i]) ck_assert_double_le(fmin(g[i], x[i] - low[i]), 1e-5);
            if (x[i] < high[i]) ck_assert_double_ge(fmax(g[i], x[i] - high[i]), -1e-5);
        }
    }
}

END_TEST

// Where the function is not defined steps are shorter: log x is a wall.
static tal_status walled(const void *self, const double x[], double *f, double g[])
{
    (void)self;
    *f = x[0] - log(x[0]);
    g[0] = 1.0 - 1.0 / x[0];
    return TAL_OK;
}

static tal_status fails(const void *self, const double x[], double *f, double g[])
{
    (void)self, (void)x, (void)f, (void)g;
    return TAL_ERR_SINGULAR;
}

// The gradient points the wrong way.
static tal_status lies(const void *self, const double x[], double *f, double g[])
{
    (void)self;
    *f = x[0] * x[0];
    g[0] = -2.0 * x[0];
    return TAL_OK;
}

START_TEST(what_cannot_be_is_told)
{
    tal_minimize_problem problem = {.n = 1, .calc = walled};
    double x = 1e-3, work[100];
    (void)find(&problem, NULL, &x);
    ck_assert_double_eq_tol(x, 1.0, 1e-8);

    tal_error err = {0};
    problem.calc = fails;
    ck_assert_int_eq(tal_minimize(&problem, NULL, &x, work, NULL, &err), TAL_ERR_SINGULAR);
    problem.calc = lies;
    x = 1.0;
    ck_assert_int_eq(tal_minimize(&problem, NULL, &x, work, NULL, &err), TAL_ERR_NO_CONVERGENCE);
    problem.calc = walled;
    x = -1.0;
    ck_assert_int_eq(tal_minimize(&problem, NULL, &x, work, NULL, &err), TAL_ERR_NOT_FINITE);
    const double low = 2.0, high = 1.0;
    problem.low = &low, problem.high = &high;
    err = (tal_error){0};
    ck_assert_int_eq(tal_minimize(&problem, NULL, &x, work, NULL, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "unknown 0"));
    tal_minimize_options options = tal_minimize_options_default();
    options.memory = 0;
    problem.low = problem.high = NULL;
    ck_assert_int_eq(tal_minimize(&problem, &options, &x, work, NULL, &err), TAL_ERR_BAD_VALUE);
    ck_assert_uint_eq(tal_minimize_work_size(3, 0), 0);
    options = tal_minimize_options_default();
    options.max_iterations = 1;
    const int n = 2;
    const tal_minimize_problem valley = {.n = n, .self = &n, .calc = rosenbrock};
    double start[] = {-1.2, 1.0};
    ck_assert_int_eq(tal_minimize(&valley, &options, start, work, NULL, &err),
                     TAL_ERR_NO_CONVERGENCE);
    test_assert_refused(tal_minimize(NULL, NULL, &x, work, NULL, &err), TAL_ERR_NULL, "problem");
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("common/minimize");
    TCase *tests = tcase_create("minima");
    tcase_add_test(tests, a_quadratic_function_has_its_minimum);
    tcase_add_test(tests, an_unknown_stays_at_the_bound_it_is_pushed_against);
    tcase_add_test(tests, the_example_of_L_BFGS_B_is_solved);
    tcase_add_test(tests, rosenbrocks_valley_is_followed_to_its_end);
    tcase_add_test(tests, the_conditions_of_a_minimum_hold_on_random_problems);
    tcase_add_test(tests, what_cannot_be_is_told);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
