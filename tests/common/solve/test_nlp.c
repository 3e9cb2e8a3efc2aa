// common/src/solve/nlp*.c: nonlinear programs. Answers are proven by the conditions of nlp.h,
// written once more here, or known in closed form.
#include "alloc_guard.h"
#include "talus_test.h"

enum {
    MOST = 40
};

// A problem with dense derivatives: F, rows and all second derivatives by one function of the test.
typedef struct dense_problem {
    int n, m;
    double lower[MOST], upper[MOST], row_lower[MOST], row_upper[MOST];
    bool has_ranges;
    int J_row[MOST * MOST], J_col[MOST * MOST], H_row[MOST * MOST], H_col[MOST * MOST];
    void (*calc)(const struct dense_problem *p, const double x[], double *F, double g[], double c[],
                 double J[], double H[], double weight, const double lambda[]);
    const double *numbers;
    bool fails_below_zero;
    int evaluations;
} dense_problem;

static bool is_outside(const dense_problem *p, const double x[])
{
    return p->fails_below_zero && x[0] <= 0.0;
}

static tal_status calc_objective(void *self, const double x[], double *F)
{
    dense_problem *p = self;
    double g[MOST], c[MOST], J[MOST * MOST];
    ++p->evaluations;
    if (is_outside(p, x)) return TAL_ERR_NOT_FINITE;
    p->calc(p, x, F, g, c, J, NULL, 0.0, NULL);
    return TAL_OK;
}

static tal_status calc_gradient(void *self, const double x[], double g[])
{
    const dense_problem *p = self;
    double F, c[MOST], J[MOST * MOST];
    p->calc(p, x, &F, g, c, J, NULL, 0.0, NULL);
    return TAL_OK;
}

static tal_status calc_rows(void *self, const double x[], double c[])
{
    const dense_problem *p = self;
    double F, g[MOST], J[MOST * MOST];
    if (is_outside(p, x)) return TAL_ERR_NOT_FINITE;
    p->calc(p, x, &F, g, c, J, NULL, 0.0, NULL);
    return TAL_OK;
}

static tal_status calc_jacobian(void *self, const double x[], double values[])
{
    const dense_problem *p = self;
    double F, g[MOST], c[MOST];
    p->calc(p, x, &F, g, c, values, NULL, 0.0, NULL);
    return TAL_OK;
}

static tal_status calc_hessian(void *self, const double x[], double weight, const double lambda[],
                               double values[])
{
    const dense_problem *p = self;
    double F, g[MOST], c[MOST], J[MOST * MOST], H[MOST * MOST];
    p->calc(p, x, &F, g, c, J, H, weight, lambda);
    for (int i = 0, k = 0; i < p->n; ++i) {
        for (int j = 0; j <= i; ++j, ++k) {
            values[k] = H[i * p->n + j];
        }
    }
    return TAL_OK;
}

static void make_free(dense_problem *p, int n, int m)
{
    *p = (dense_problem){.n = n, .m = m};
    for (int j = 0; j < n; ++j) {
        p->lower[j] = -(double)INFINITY;
        p->upper[j] = (double)INFINITY;
    }
}

static tal_nlp describe(dense_problem *p, bool has_hessian)
{
    int k = 0;
    for (int i = 0; i < p->m; ++i) {
        for (int j = 0; j < p->n; ++j, ++k) {
            p->J_row[k] = i;
            p->J_col[k] = j;
        }
    }
    k = 0;
    for (int i = 0; i < p->n; ++i) {
        for (int j = 0; j <= i; ++j, ++k) {
            p->H_row[k] = i;
            p->H_col[k] = j;
        }
    }
    return (tal_nlp){.num_unknowns = p->n,
                     .num_rows = p->m,
                     .num_jacobian = p->n * p->m,
                     .jacobian_row = p->J_row,
                     .jacobian_col = p->J_col,
                     .num_hessian = k,
                     .hessian_row = p->H_row,
                     .hessian_col = p->H_col,
                     .lower = p->lower,
                     .upper = p->upper,
                     .row_lower = p->has_ranges ? p->row_lower : NULL,
                     .row_upper = p->has_ranges ? p->row_upper : NULL,
                     .self = p,
                     .calc_objective = calc_objective,
                     .calc_gradient = calc_gradient,
                     .calc_rows = calc_rows,
                     .calc_jacobian = calc_jacobian,
                     .calc_hessian = has_hessian ? calc_hessian : NULL};
}

// The conditions of an answer. `tol` is some times the tolerance of the solver, because errors
// there are relative to multipliers and to slopes at the start.
static void check_answer(const dense_problem *p, const tal_nlp_solver *solver, const double x[],
                         double tol)
{
    double F, g[MOST], c[MOST], J[MOST * MOST];
    p->calc(p, x, &F, g, c, J, NULL, 0.0, NULL);
    const double *lambda = tal_nlp_solver_lambda(solver), *low = tal_nlp_solver_z_lower(solver);
    const double *high = tal_nlp_solver_z_upper(solver);
    for (int j = 0; j < p->n; ++j) {
        double sum = g[j] - low[j] + high[j];
        for (int i = 0; i < p->m; ++i) {
            sum += J[i * p->n + j] * lambda[i];
        }
        if (p->lower[j] < p->upper[j]) ck_assert_double_eq_tol(sum, 0.0, tol);
        ck_assert_double_ge(low[j], 0.0);
        ck_assert_double_ge(high[j], 0.0);
        ck_assert_double_ge(x[j], p->lower[j]);
        ck_assert_double_le(x[j], p->upper[j]);
        if (isfinite(p->lower[j])) ck_assert_double_le(low[j] * (x[j] - p->lower[j]), tol);
        if (isfinite(p->upper[j])) ck_assert_double_le(high[j] * (p->upper[j] - x[j]), tol);
    }
    for (int i = 0; i < p->m; ++i) {
        const double least = p->has_ranges ? p->row_lower[i] : 0.0;
        const double most = p->has_ranges ? p->row_upper[i] : 0.0;
        ck_assert_double_ge(c[i], least - 1e-8);
        ck_assert_double_le(c[i], most + 1e-8);
        if (least == most) continue;
        if (lambda[i] > tol) ck_assert_double_ge(c[i] * lambda[i], most * lambda[i] - tol);
        if (lambda[i] < -tol) ck_assert_double_ge(c[i] * lambda[i], least * lambda[i] - tol);
    }
}

static tal_status solve(dense_problem *p, bool has_hessian, double x[], tal_nlp_report *report,
                        tal_error *err)
{
    tal_nlp_solver *solver = NULL;
    const tal_nlp nlp = describe(p, has_hessian);
    ck_assert_int_eq(tal_nlp_solver_create(&nlp, NULL, &solver, err), TAL_OK);
    tal_status st;
    test_assert_no_heap(st = tal_nlp_solver_run(solver, x, report, err));
    if (st == TAL_OK) check_answer(p, solver, x, 1e-5);
    tal_nlp_solver_destroy(solver);
    return st;
}

// --- problems of the literature ---

// Hock and Schittkowski (1981), problem 71.
static void calc_hs71(const dense_problem *p, const double x[], double *F, double g[], double c[],
                      double J[], double H[], double weight, const double lambda[])
{
    (void)p;
    const double s = x[0] + x[1] + x[2], product = x[0] * x[1] * x[2] * x[3];
    *F = x[0] * x[3] * s + x[2];
    g[0] = x[3] * (s + x[0]), g[1] = x[0] * x[3], g[2] = x[0] * x[3] + 1.0, g[3] = x[0] * s;
    c[0] = product;
    c[1] = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3];
    for (int j = 0; j < 4; ++j) {
        J[j] = x[(j + 1) % 4] * x[(j + 2) % 4] * x[(j + 3) % 4];
        J[4 + j] = 2.0 * x[j];
    }
    if (H == NULL) return;
    const double by_F[4][4] = {{2.0 * x[3], x[3], x[3], s + x[0]},
                               {x[3], 0.0, 0.0, x[0]},
                               {x[3], 0.0, 0.0, x[0]},
                               {s + x[0], x[0], x[0], 0.0}};
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            double rest = 1.0;
            for (int k = 0; k < 4; ++k) {
                if (k != i && k != j) rest *= x[k];
            }
            H[4 * i + j] = weight * by_F[i][j] + (i == j ? 2.0 * lambda[1] : lambda[0] * rest);
        }
    }
}

START_TEST(hock_and_schittkowski_71)
{
    for (int has_hessian = 0; has_hessian < 2; ++has_hessian) {
        static dense_problem p;
        make_free(&p, 4, 2);
        p.calc = calc_hs71;
        p.has_ranges = true;
        for (int j = 0; j < 4; ++j) {
            p.lower[j] = 1.0;
            p.upper[j] = 5.0;
        }
        p.row_lower[0] = 25.0, p.row_upper[0] = (double)INFINITY;
        p.row_lower[1] = p.row_upper[1] = 40.0;
        double x[4] = {1.0, 5.0, 5.0, 1.0};
        tal_nlp_report report;
        ck_assert_int_eq(solve(&p, has_hessian, x, &report, NULL), TAL_OK);
        ck_assert_double_eq_tol(report.objective, 17.01401714, 1e-6);
        const double expected[] = {1.0, 4.74299964, 3.82114998, 1.37940829};
        test_assert_near(x, expected, 4, 1e-6, "x");
        ck_assert_int_le(report.iterations, has_hessian ? 15 : 40);
    }
}

END_TEST

// The valley of Rosenbrock in n dimensions.
static void calc_valley(const dense_problem *p, const double x[], double *F, double g[], double c[],
                        double J[], double H[], double weight, const double lambda[])
{
    (void)c, (void)J, (void)lambda;
    const int n = p->n;
    *F = 0.0;
    memset(g, 0, (size_t)n * sizeof *g);
    if (H != NULL) memset(H, 0, (size_t)(n * n) * sizeof *H);
    for (int i = 0; i + 1 < n; ++i) {
        const double a = x[i + 1] - x[i] * x[i], b = 1.0 - x[i];
        *F += 100.0 * a * a + b * b;
        g[i] += -400.0 * a * x[i] - 2.0 * b;
        g[i + 1] += 200.0 * a;
        if (H == NULL) continue;
        H[i * n + i] += weight * (1200.0 * x[i] * x[i] - 400.0 * x[i + 1] + 2.0);
        H[i * n + i + 1] += weight * -400.0 * x[i];
        H[(i + 1) * n + i] += weight * -400.0 * x[i];
        H[(i + 1) * n + i + 1] += weight * 200.0;
    }
}

START_TEST(a_curved_valley_is_followed_to_its_end)
{
    for (int has_hessian = 0; has_hessian < 2; ++has_hessian) {
        for (int n = 2; n <= 10; n += 8) { // from (-1.2, 1), as always; in 10 dimensions from 0
            static dense_problem p;
            make_free(&p, n, 0);
            p.calc = calc_valley;
            double x[10] = {n == 2 ? -1.2 : 0.0, n == 2 ? 1.0 : 0.0};
            tal_nlp_report report;
            ck_assert_int_eq(solve(&p, has_hessian, x, &report, NULL), TAL_OK);
            ck_assert_double_lt(fabs(report.objective), 1e-10);
        }
    }
}

END_TEST

// Waechter and Biegler (2000): x0 least, x0^2 - x1 - 1 = 0, x0 - x2 - 0.5 = 0, x1, x2 >= 0. From
// (-2, 3, 1) steps that stay inside of the bounds do not reach the rows; the answer is x0 = 1.
static void calc_trap(const dense_problem *p, const double x[], double *F, double g[], double c[],
                      double J[], double H[], double weight, const double lambda[])
{
    (void)p, (void)weight;
    *F = x[0];
    g[0] = 1.0, g[1] = g[2] = 0.0;
    c[0] = x[0] * x[0] - x[1] - 1.0;
    c[1] = x[0] - x[2] - 0.5;
    J[0] = 2.0 * x[0], J[1] = -1.0, J[2] = 0.0;
    J[3] = 1.0, J[4] = 0.0, J[5] = -1.0;
    if (H == NULL) return;
    memset(H, 0, 9 * sizeof *H);
    H[0] = 2.0 * lambda[0];
}

START_TEST(rows_are_reached_where_bounds_are_in_the_way)
{
    static dense_problem p;
    make_free(&p, 3, 2);
    p.calc = calc_trap;
    p.lower[1] = p.lower[2] = 0.0;
    double x[3] = {-2.0, 3.0, 1.0};
    tal_nlp_report report;
    tal_error err = {.status = TAL_OK};
    ck_assert_msg(solve(&p, true, x, &report, &err) == TAL_OK, "%s", err.message);
    ck_assert_double_eq_tol(x[0], 1.0, 1e-7);
    ck_assert_double_eq_tol(x[2], 0.5, 1e-7);
}

END_TEST

// Full steps along a circle leave it, and raise a merit that only looks at sizes (Maratos): the
// second step back to the rows keeps convergence fast.
static void calc_circle(const dense_problem *p, const double x[], double *F, double g[], double c[],
                        double J[], double H[], double weight, const double lambda[])
{
    (void)p;
    const double r = x[0] * x[0] + x[1] * x[1] - 1.0;
    *F = 2.0 * r - x[0];
    g[0] = 4.0 * x[0] - 1.0, g[1] = 4.0 * x[1];
    c[0] = r;
    J[0] = 2.0 * x[0], J[1] = 2.0 * x[1];
    if (H == NULL) return;
    H[0] = H[3] = 4.0 * weight + 2.0 * lambda[0];
    H[1] = H[2] = 0.0;
}

START_TEST(curved_rows_do_not_make_steps_short)
{
    static dense_problem p;
    make_free(&p, 2, 1);
    p.calc = calc_circle;
    double x[2] = {cos(1.5), sin(1.5)};
    tal_nlp_report report;
    ck_assert_int_eq(solve(&p, true, x, &report, NULL), TAL_OK);
    ck_assert_double_eq_tol(x[0], 1.0, 1e-7);
    ck_assert_int_le(report.iterations, 15);
}

END_TEST

// --- quadratic programs: 1/2 x^T Q x + q^T x, A x = b or within a range ---

// numbers: Q [n][n], q [n], A [m][n], b [m]
static void calc_quadratic(const dense_problem *p, const double x[], double *F, double g[],
                           double c[], double J[], double H[], double weight, const double lambda[])
{
    (void)lambda;
    const int n = p->n, m = p->m;
    const double *Q = p->numbers, *q = Q + n * n, *A = q + n, *b = A + m * n;
    *F = 0.0;
    for (int i = 0; i < n; ++i) {
        g[i] = q[i];
        for (int j = 0; j < n; ++j) {
            g[i] += Q[i * n + j] * x[j];
            if (H != NULL) H[i * n + j] = weight * Q[i * n + j];
        }
        *F += 0.5 * (g[i] + q[i]) * x[i];
    }
    for (int i = 0; i < m; ++i) {
        c[i] = -b[i];
        for (int j = 0; j < n; ++j) {
            J[i * n + j] = A[i * n + j];
            c[i] += A[i * n + j] * x[j];
        }
    }
}

// Convex or not, with free, bounded and fixed unknowns, equations, ranges and copies of rows;
// b from an x within the bounds, so that there is an answer.
static void make_quadratic(dense_problem *p, double numbers[], test_rng *rng, int n, int m,
                           bool is_convex)
{
    make_free(p, n, m);
    p->calc = calc_quadratic;
    p->numbers = numbers;
    double *Q = numbers, *q = Q + n * n, *A = q + n, *b = A + m * n, inside[MOST], R[MOST][MOST];
    for (int i = 0; i < n; ++i) {
        q[i] = test_random_uniform(rng, -1.0, 1.0);
        inside[i] = test_random_uniform(rng, -1.0, 1.0);
        const double kind = test_random_uniform(rng, 0.0, 1.0);
        if (kind < 0.7 || !is_convex) {
            p->lower[i] = inside[i] - test_random_uniform(rng, 0.0, 1.0);
            p->upper[i] = inside[i] + test_random_uniform(rng, 0.0, 1.0);
        }
        if (kind < 0.05) p->lower[i] = p->upper[i] = inside[i];
        for (int j = 0; j < n; ++j) {
            R[i][j] = test_random_uniform(rng, -1.0, 1.0);
        }
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            Q[i * n + j] = is_convex ? 0.0 : 0.5 * (R[i][j] + R[j][i]);
            for (int k = 0; k < n && is_convex; ++k) {
                Q[i * n + j] += R[i][k] * R[j][k];
            }
        }
    }
    p->has_ranges = true;
    for (int i = 0; i < m; ++i) {
        const bool is_copy = i % 5 == 4;
        b[i] = 0.0;
        for (int j = 0; j < n; ++j) {
            A[i * n + j] = is_copy ? 2.0 * A[(i - 1) * n + j] : test_random_uniform(rng, -1.0, 1.0);
            b[i] += A[i * n + j] * inside[j];
        }
        p->row_upper[i] = i % 3 == 0 ? test_random_uniform(rng, 0.0, 1.0) : 0.0;
        p->row_lower[i] = i % 6 == 0 ? -(double)INFINITY : 0.0;
        if (!is_copy) continue; // the same range: otherwise both could be met at an end only
        p->row_upper[i] = 2.0 * p->row_upper[i - 1];
        p->row_lower[i] = 2.0 * p->row_lower[i - 1];
    }
}

START_TEST(random_quadratic_programs_are_solved_and_proven)
{
    test_rng rng = test_rng_seed(19981);
    for (int k = 0; k < 300; ++k) {
        const int n = 1 + k % 20, m = n / 3;
        static double numbers[2 * MOST * MOST + 2 * MOST];
        static dense_problem p;
        make_quadratic(&p, numbers, &rng, n, m, k % 4 != 0);
        double x[MOST] = {0.0};
        tal_nlp_report report;
        tal_error err = {.message = ""};
        const tal_status st = solve(&p, k % 2 == 0 || k % 4 == 0, x, &report, &err);
        ck_assert_msg(st == TAL_OK, "case %d: %s", k, err.message);
    }
}

END_TEST

// The answer has a closed form where there are only equations.
START_TEST(equations_alone_take_one_step)
{
    static dense_problem p;
    make_free(&p, 3, 1);
    p.calc = calc_quadratic;
    // |x - (1, 2, 3)|^2 / 2 on x0 + x1 + x2 = 3: one less of each
    const double numbers[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, -1, -2, -3, 1, 1, 1, 3};
    p.numbers = numbers;
    double x[3] = {5.0, -7.0, 100.0};
    tal_nlp_report report;
    ck_assert_int_eq(solve(&p, true, x, &report, NULL), TAL_OK);
    test_assert_near(x, (const double[]){0.0, 1.0, 2.0}, 3, 1e-12, "x");
    ck_assert_int_le(report.iterations, 2);
    ck_assert_int_eq(report.convexified, 0);
}

END_TEST

// At a bound the multiplier is the slope that is left: (x - 2)^2 at x = 1 has -2.
START_TEST(multipliers_of_bounds_are_slopes)
{
    static dense_problem p;
    make_free(&p, 1, 0);
    p.calc = calc_quadratic;
    const double numbers[] = {2.0, -4.0};
    p.numbers = numbers;
    p.upper[0] = 1.0;
    tal_nlp_solver *solver = NULL;
    const tal_nlp nlp = describe(&p, true);
    ck_assert_int_eq(tal_nlp_solver_create(&nlp, NULL, &solver, NULL), TAL_OK);
    ck_assert_int_eq(tal_nlp_solver_num_unknowns(solver), 1);
    ck_assert_int_eq(tal_nlp_solver_num_rows(solver), 0);
    double x = -3.0;
    ck_assert_int_eq(tal_nlp_solver_run(solver, &x, NULL, NULL), TAL_OK);
    ck_assert_double_eq_tol(x, 1.0, 1e-8);
    ck_assert_double_eq_tol(tal_nlp_solver_z_upper(solver)[0], 2.0, 1e-7);
    p.upper[0] = 3.0; // bounds are read anew
    ck_assert_int_eq(tal_nlp_solver_run(solver, &x, NULL, NULL), TAL_OK);
    ck_assert_double_eq_tol(x, 2.0, 1e-7);
    tal_nlp_solver_destroy(solver);
}

END_TEST

// A maximum is not a minimum: from near 0 the run goes to an end of the range.
START_TEST(maxima_are_left)
{
    static dense_problem p;
    make_free(&p, 1, 0);
    p.calc = calc_quadratic;
    const double numbers[] = {-2.0, 0.0};
    p.numbers = numbers;
    p.lower[0] = -1.0;
    p.upper[0] = 2.0;
    double x = 0.1;
    tal_nlp_report report;
    ck_assert_int_eq(solve(&p, true, &x, &report, NULL), TAL_OK);
    ck_assert(fabs(x - 2.0) < 1e-7 || fabs(x + 1.0) < 1e-7);
    ck_assert_int_gt(report.convexified, 0);
}

END_TEST

// --- what has no answer ---

START_TEST(rows_that_cannot_be_met_are_named)
{
    static dense_problem p;
    make_free(&p, 2, 2);
    p.calc = calc_quadratic;
    // x0 - x1 = 0 and x0 + x1 = 3 with both at most 1: the second lacks 1
    const double numbers[] = {1, 0, 0, 1, 0, 0, 1, -1, 1, 1, 0, 3};
    p.numbers = numbers;
    p.upper[0] = p.upper[1] = 1.0;
    double x[2] = {0.0, 0.5};
    tal_nlp_report report;
    tal_error err = {.status = TAL_OK};
    ck_assert_int_eq(solve(&p, true, x, &report, &err), TAL_ERR_INFEASIBLE);
    ck_assert_int_eq(report.worst_row, 1);
    ck_assert_double_eq_tol(report.row_error, 1.0, 1e-2);
    ck_assert_ptr_nonnull(strstr(err.message, "row 1 is off by"));
}

END_TEST

START_TEST(a_run_that_may_not_iterate_says_so)
{
    static dense_problem p;
    make_free(&p, 10, 0);
    p.calc = calc_valley;
    tal_nlp_options options = tal_nlp_options_default();
    options.max_iterations = 3;
    tal_nlp_solver *solver = NULL;
    const tal_nlp nlp = describe(&p, true);
    ck_assert_int_eq(tal_nlp_solver_create(&nlp, &options, &solver, NULL), TAL_OK);
    double x[10] = {0.0};
    tal_nlp_report report;
    tal_error err = {.status = TAL_OK};
    ck_assert_int_eq(tal_nlp_solver_run(solver, x, &report, &err), TAL_ERR_NO_CONVERGENCE);
    ck_assert_int_eq(report.iterations, 3);
    ck_assert_ptr_nonnull(strstr(err.message, "after 3 iterations"));
    tal_nlp_solver_destroy(solver);
}

END_TEST

// x - log x is least at 1; below 0 it is not defined, and steps from 5 would go there.
static void calc_log(const dense_problem *p, const double x[], double *F, double g[], double c[],
                     double J[], double H[], double weight, const double lambda[])
{
    (void)p, (void)c, (void)J, (void)lambda;
    *F = x[0] - log(x[0]);
    g[0] = 1.0 - 1.0 / x[0];
    if (H != NULL) H[0] = weight / (x[0] * x[0]);
}

START_TEST(places_without_values_are_avoided)
{
    static dense_problem p;
    make_free(&p, 1, 0);
    p.calc = calc_log;
    p.fails_below_zero = true;
    double x = 5.0;
    ck_assert_int_eq(solve(&p, true, &x, NULL, NULL), TAL_OK);
    ck_assert_double_eq_tol(x, 1.0, 1e-7);
    x = -1.0;
    tal_error err = {.status = TAL_OK};
    ck_assert_int_eq(solve(&p, true, &x, NULL, &err), TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(err.message, "where the run begins"));
}

END_TEST

START_TEST(the_same_input_gives_the_same_bytes)
{
    double first[10];
    for (int k = 0; k < 2; ++k) {
        static dense_problem p;
        make_free(&p, 10, 0);
        p.calc = calc_valley;
        double x[10] = {0.0};
        ck_assert_int_eq(solve(&p, false, x, NULL, NULL), TAL_OK);
        if (k == 0) memcpy(first, x, sizeof first);
        if (k == 1) ck_assert_mem_eq(first, x, sizeof first);
    }
}

END_TEST

START_TEST(bad_input_is_refused)
{
    static dense_problem p;
    make_free(&p, 2, 1);
    p.calc = calc_circle;
    tal_nlp nlp = describe(&p, true);
    tal_nlp_solver *solver = NULL;
    tal_error err = {.status = TAL_OK};
    p.J_col[1] = 2;
    ck_assert_int_eq(tal_nlp_solver_create(&nlp, NULL, &solver, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_null(solver);
    ck_assert_ptr_nonnull(strstr(err.message, "entry 1 of the Jacobian"));
    nlp = describe(&p, true);
    tal_nlp_options options = tal_nlp_options_default();
    options.tolerance = 0.0;
    ck_assert_int_eq(tal_nlp_solver_create(&nlp, &options, &solver, &err), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_nlp_solver_create(&nlp, NULL, &solver, NULL), TAL_OK);
    err = (tal_error){.status = TAL_OK};
    p.lower[1] = 3.0, p.upper[1] = 2.0;
    double x[2] = {1.0, 0.0};
    ck_assert_int_eq(tal_nlp_solver_run(solver, x, NULL, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "unknown 1 has the range 3 to 2"));
    p.lower[1] = -3.0;
    x[0] = (double)NAN;
    ck_assert_int_eq(tal_nlp_solver_run(solver, x, NULL, &err), TAL_ERR_NOT_FINITE);
    tal_nlp_solver_destroy(solver);
    nlp.calc_rows = NULL;
    test_record_breaches();
    test_assert_refused(tal_nlp_solver_create(&nlp, NULL, &solver, NULL), TAL_ERR_NULL,
                        "calc_rows");
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("common/nlp");
    TCase *tc = tcase_create("nlp");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, hock_and_schittkowski_71);
    tcase_add_test(tc, a_curved_valley_is_followed_to_its_end);
    tcase_add_test(tc, rows_are_reached_where_bounds_are_in_the_way);
    tcase_add_test(tc, curved_rows_do_not_make_steps_short);
    tcase_add_test(tc, random_quadratic_programs_are_solved_and_proven);
    tcase_add_test(tc, equations_alone_take_one_step);
    tcase_add_test(tc, multipliers_of_bounds_are_slopes);
    tcase_add_test(tc, maxima_are_left);
    tcase_add_test(tc, rows_that_cannot_be_met_are_named);
    tcase_add_test(tc, a_run_that_may_not_iterate_says_so);
    tcase_add_test(tc, places_without_values_are_avoided);
    tcase_add_test(tc, the_same_input_gives_the_same_bytes);
    tcase_add_test(tc, bad_input_is_refused);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
