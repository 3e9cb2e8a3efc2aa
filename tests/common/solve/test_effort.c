// common/src/solve/effort.c: the least effort of many actuators for few equations.
#include "alloc_guard.h"
#include "dense_test.h"
#include "talus_test.h"

enum {
    MAX_M = 24,
    MAX_N = 96
};

// A problem with room for its answer.
typedef struct effort_case {
    int m, n;
    double p;
    double A[MAX_M * MAX_N], b[MAX_M], weight[MAX_N], lower[MAX_N], upper[MAX_N];
    double x[MAX_N], lambda[MAX_M], lack[MAX_M];
    double work[MAX_M * MAX_N + MAX_M * MAX_M + 8 * MAX_M + 7 * MAX_N];
    tal_effort_report report;
    tal_error err;
} effort_case;

static tal_status solve(effort_case *c)
{
    const tal_effort_problem problem = {
        tal_matrix_view(c->A, c->m, c->n), c->b, c->weight, c->lower, c->upper, c->p};
    ck_assert_uint_le(tal_effort_work_size(c->m, c->n), sizeof c->work / sizeof c->work[0]);
    tal_status st;
    test_assert_no_heap(
        st = tal_effort_solve(&problem, c->lambda, c->x, c->lack, c->work, &c->report, &c->err));
    return st;
}

static double *entry(effort_case *c, int i, int j)
{
    return &c->A[i + j * c->m];
}

// n unknowns of weight 1 from 0 to 1, m equations; A is zero.
static effort_case empty_case(int m, int n, double p)
{
    effort_case c = {.m = m, .n = n, .p = p};
    for (int j = 0; j < n; ++j) {
        c.weight[j] = 1.0;
        c.upper[j] = 1.0;
    }
    return c;
}

// --- the proof, written once more from the conditions in effort.h ---

// The part by which row i fails of |b_i| + sum |A_ij x_j|, with `lack` taken off b.
static double row_error(effort_case *c, int i)
{
    double error = c->b[i] - c->lack[i], size = fabs(c->b[i]);
    for (int j = 0; j < c->n; ++j) {
        error -= *entry(c, i, j) * c->x[j];
        size += fabs(*entry(c, i, j) * c->x[j]);
    }
    return size > 0.0 ? fabs(error) / size : 0.0;
}

// The part by which unknown j fails of |rate of effort| + sum |A_ij lambda_i|.
static double column_error(effort_case *c, int j)
{
    const double x = c->x[j];
    const double rate = c->p * c->weight[j] * copysign(pow(fabs(x), c->p - 1.0), x);
    double error = rate, size = fabs(rate);
    for (int i = 0; i < c->m; ++i) {
        error -= *entry(c, i, j) * c->lambda[i];
        size += fabs(*entry(c, i, j) * c->lambda[i]);
    }
    ck_assert(c->lower[j] <= x && x <= c->upper[j]);
    if (x == c->lower[j] && error > 0.0) error = 0.0;
    if (x == c->upper[j] && error < 0.0) error = 0.0;
    return size > 0.0 ? fabs(error) / size : 0.0;
}

static void assert_proven(effort_case *c, int seed)
{
    for (int i = 0; i < c->m; ++i) {
        ck_assert_msg(row_error(c, i) <= 1e-10, "case %d, row %d: %g", seed, i, row_error(c, i));
    }
    for (int j = 0; j < c->n; ++j) {
        ck_assert_msg(column_error(c, j) <= 1e-10, "case %d, unknown %d: %g", seed, j,
                      column_error(c, j));
    }
}

// --- answers known in closed form ---

// Two actuators of strengths 100 and 200 give 50 N: x_j is proportional to f_j^(1 / (p - 1)).
// For p = 2 they are 0.1 and 0.2, so 10 and 40 N.
START_TEST(two_actuators_share_a_force)
{
    static const double exponents[] = {2.0, 3.0, 1.5, 4.0};
    for (int k = 0; k < 4; ++k) {
        effort_case c = empty_case(1, 2, exponents[k]);
        c.A[0] = 100.0;
        c.A[1] = 200.0;
        c.b[0] = 50.0;
        ck_assert_int_eq(solve(&c), TAL_OK);
        const double ratio = pow(2.0, 1.0 / (c.p - 1.0));
        const double first = 50.0 / (100.0 + 200.0 * ratio);
        ck_assert_double_eq_tol(c.x[0], first, 1e-13);
        ck_assert_double_eq_tol(c.x[1], first * ratio, 1e-13);
        ck_assert_int_eq((int)(c.lack[0] != 0.0), 0);
    }
}

END_TEST

// An actuator at its bound leaves the rest to the others; one of weight 4 takes a quarter.
START_TEST(bounds_and_weights_count)
{
    effort_case c = empty_case(1, 3, 2.0);
    c.A[0] = c.A[1] = c.A[2] = 1.0;
    c.upper[0] = 0.1;
    c.weight[2] = 4.0;
    c.lower[2] = -1.0;
    c.b[0] = 0.6;
    ck_assert_int_eq(solve(&c), TAL_OK);
    test_assert_near(c.x, (const double[]){0.1, 0.4, 0.1}, 3, 1e-14, "x");
    ck_assert(c.x[0] == 0.1); // exactly
    ck_assert_double_eq_tol(c.lambda[0], 0.8, 1e-13);
}

END_TEST

// Three units of strength cannot give four: all are at their bounds, and one is missing. Of two
// rows the one that can be met is met.
START_TEST(what_is_missing_is_told_by_row)
{
    effort_case c = empty_case(2, 4, 2.0);
    *entry(&c, 0, 0) = *entry(&c, 0, 1) = *entry(&c, 0, 2) = 1.0;
    *entry(&c, 1, 3) = 5.0;
    c.b[0] = 4.0;
    c.b[1] = 2.0;
    ck_assert_int_eq(solve(&c), TAL_ERR_INFEASIBLE);
    test_assert_near(c.x, (const double[]){1.0, 1.0, 1.0, 0.4}, 4, 1e-7, "x");
    ck_assert_double_eq_tol(c.lack[0], 1.0, 1e-12);
    ck_assert_double_eq_tol(c.lack[1], 0.0, 1e-8);
    ck_assert_int_eq(c.report.worst, 0);
    ck_assert_ptr_nonnull(strstr(c.err.message, "row 0 lacks 1 of 4"));
}

END_TEST

// A row of zeros asks for nothing, or for what nothing gives.
START_TEST(a_row_that_nothing_moves)
{
    effort_case c = empty_case(2, 1, 2.0);
    *entry(&c, 0, 0) = 2.0;
    c.b[0] = 1.0;
    ck_assert_int_eq(solve(&c), TAL_OK);
    ck_assert_double_eq_tol(c.x[0], 0.5, 1e-15);
    c.b[1] = 1e-3;
    ck_assert_int_eq(solve(&c), TAL_ERR_INFEASIBLE);
    ck_assert_double_eq_tol(c.lack[1], 1e-3, 1e-15);
    c = empty_case(0, 1, 2.0);
    c.lower[0] = 0.25;
    ck_assert_int_eq(solve(&c), TAL_OK);
    ck_assert(c.x[0] == 0.25);
    c = empty_case(1, 0, 2.0);
    c.b[0] = 1.0;
    ck_assert_int_eq(solve(&c), TAL_ERR_INFEASIBLE);
    ck_assert(c.lack[0] == 1.0);
}

END_TEST

// --- random problems ---

static double power_of_ten(tal_random *rng, double range)
{
    return pow(10.0, range * (2.0 * tal_random_uniform(rng) - 1.0));
}

// Bounds of unknown j, and a value within them: often one of the bounds.
static double random_bounds(effort_case *c, tal_random *rng, int j)
{
    const double kind = tal_random_uniform(rng), place = tal_random_uniform(rng);
    c->lower[j] = kind < 0.3 ? 0.0 : kind < 0.7 ? 0.01 : kind < 0.8 ? -1.0 : -TEST_INFINITY;
    c->upper[j] = kind < 0.85 ? 1.0 : TEST_INFINITY;
    if (kind > 0.95) c->lower[j] = c->upper[j] = 0.3;
    if (!isfinite(c->lower[j])) return fmin(tal_random_normal(rng), c->upper[j]);
    if (place < 0.2) return c->lower[j];
    if (place < 0.4) return c->upper[j];
    return c->lower[j] + (c->upper[j] - c->lower[j]) * tal_random_uniform(rng);
}

// A problem with a solution: rows that repeat others, empty columns, units of all sizes.
static effort_case random_case(tal_random *rng, int m, int n, double p, double units)
{
    effort_case c = empty_case(m, n, p);
    double x[MAX_N], row_unit[MAX_M];
    for (int i = 0; i < m; ++i) {
        row_unit[i] = power_of_ten(rng, units);
    }
    for (int j = 0; j < n; ++j) {
        const double column_unit = power_of_ten(rng, units);
        const bool is_empty = tal_random_uniform(rng) < 0.1;
        x[j] = random_bounds(&c, rng, j) * column_unit;
        c.lower[j] *= column_unit;
        c.upper[j] *= column_unit;
        c.weight[j] = power_of_ten(rng, 1.0) / pow(column_unit, p);
        for (int i = 0; i < m && !is_empty; ++i) {
            *entry(&c, i, j) = row_unit[i] * tal_random_normal(rng) / column_unit;
        }
    }
    for (int i = 1; i < m; ++i) {
        if (tal_random_uniform(rng) > 0.15) continue;
        for (int j = 0; j < n; ++j) {
            *entry(&c, i, j) = -3.0 * *entry(&c, i - 1, j);
        }
    }
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            c.b[i] += *entry(&c, i, j) * x[j];
        }
    }
    return c;
}

static void solve_random_cases(int count, double p, double units)
{
    for (int k = 0; k < count; ++k) {
        tal_random rng = {(uint64_t)k, 31, 0};
        const int m = 1 + (int)(tal_random_uniform(&rng) * 8);
        const int n = m + (int)(tal_random_uniform(&rng) * 20);
        effort_case c = random_case(&rng, m, n, p, units);
        const tal_status st = solve(&c);
        ck_assert_msg(st == TAL_OK, "case %d, %d x %d, p = %g: %s", k, m, n, p, c.err.message);
        assert_proven(&c, k);
    }
}

START_TEST(random_problems_are_solved_and_proven)
{
    solve_random_cases(2000, 2.0, 0.0);
    solve_random_cases(1000, 2.0, 4.0);
}

END_TEST

START_TEST(other_exponents_are_solved_and_proven)
{
    static const double exponents[] = {1.5, 2.5, 3.0, 4.0};
    for (int k = 0; k < 4; ++k) {
        solve_random_cases(400, exponents[k], 0.0);
    }
}

END_TEST

// Beyond these exponents an answer is right, or it is none.
START_TEST(extreme_exponents_are_never_wrong)
{
    static const double exponents[] = {1.25, 6.0, 10.0};
    int good = 0;
    for (int k = 0; k < 300; ++k) {
        tal_random rng = {(uint64_t)k, 31, 0};
        effort_case c = random_case(&rng, 4, 12, exponents[k % 3], 1.0);
        const tal_status st = solve(&c);
        ck_assert_msg(st == TAL_OK || st == TAL_ERR_NO_CONVERGENCE, "case %d: %s", k,
                      c.err.message);
        if (st != TAL_OK) continue;
        assert_proven(&c, k);
        ++good;
    }
    ck_assert_int_gt(good, 200);
}

END_TEST

// Muscles: from 0.01 to 1, none of them free of bounds.
static effort_case leg(tal_random *rng, int m, int n, double p)
{
    effort_case c = empty_case(m, n, p);
    for (int j = 0; j < n; ++j) {
        c.lower[j] = 0.01;
        const double x = fmax(0.01, 0.4 * tal_random_uniform(rng));
        for (int k = 0; k < 3; ++k) { // each spans a few joints
            const int i = (int)(tal_random_uniform(rng) * m);
            *entry(&c, i, j) = 60.0 * tal_random_normal(rng);
        }
        for (int i = 0; i < m; ++i) {
            c.b[i] += *entry(&c, i, j) * x;
        }
    }
    return c;
}

// The answer is unique, so where it began does not matter; from a similar one it is near.
START_TEST(a_guess_saves_work_and_changes_nothing)
{
    int cold = 0, warm = 0;
    for (int k = 0; k < 100; ++k) {
        tal_random rng = {(uint64_t)k, 32, 0};
        effort_case c = leg(&rng, 23, 92, 2.0);
        ck_assert_int_eq(solve(&c), TAL_OK);
        assert_proven(&c, k);
        cold += c.report.iterations;
        effort_case again = c;
        ck_assert_int_eq(solve(&again), TAL_OK);
        ck_assert_int_le(again.report.iterations, 1);
        for (int i = 0; i < c.m; ++i) {
            again.b[i] *= 1.0 + 1e-3 * tal_random_normal(&rng);
        }
        effort_case fresh = again;
        memset(fresh.lambda, 0, sizeof fresh.lambda);
        ck_assert_int_eq(solve(&again), TAL_OK);
        ck_assert_int_eq(solve(&fresh), TAL_OK);
        warm += again.report.iterations;
        test_assert_near(again.x, fresh.x, c.n, 1e-9, "x from a guess");
    }
    ck_assert_int_lt(warm, cold);
}

END_TEST

// sum_i y_i (A x - b)_i < 0 for every x within the bounds proves that b is out of reach, and a
// shift of x along any column does not shorten the lack.
START_TEST(what_is_missing_is_least)
{
    int found = 0;
    for (int k = 0; k < 300; ++k) {
        tal_random rng = {(uint64_t)k, 33, 0};
        effort_case c = leg(&rng, 5, 12, k % 3 == 0 ? 3.0 : 2.0);
        c.b[k % 5] += 200.0 * tal_random_normal(&rng);
        const tal_status st = solve(&c);
        ck_assert_msg(st == TAL_OK || st == TAL_ERR_INFEASIBLE, "case %d: %s", k, c.err.message);
        assert_proven(&c, k);
        if (st == TAL_OK) continue;
        ++found;
        double most = 0.0, asked = 0.0, unit[MAX_M];
        for (int i = 0; i < c.m; ++i) {
            double square = 0.0;
            for (int j = 0; j < c.n; ++j) {
                square += *entry(&c, i, j) * *entry(&c, i, j);
            }
            unit[i] = square > 0.0 ? 1.0 / square : 1.0; // rows divided by their length, squared
            asked += c.lack[i] * unit[i] * c.b[i];
        }
        for (int j = 0; j < c.n; ++j) {
            double pull = 0.0;
            for (int i = 0; i < c.m; ++i) {
                pull += c.lack[i] * unit[i] * *entry(&c, i, j);
            }
            most += fmax(pull * c.lower[j], pull * c.upper[j]);
        }
        ck_assert_msg(most < asked, "case %d: %g of %g", k, most, asked);
        // the same number from the other side: |lack|^2 = asked - what x gives
        double length = 0.0;
        for (int i = 0; i < c.m; ++i) {
            length += c.lack[i] * c.lack[i] * unit[i];
        }
        ck_assert_double_eq_tol(asked - most, length, 1e-6 * length + 1e-12 * fabs(asked));
    }
    ck_assert_int_gt(found, 50);
}

END_TEST

// --- errors ---

START_TEST(bad_input_is_refused)
{
    effort_case good = empty_case(1, 2, 2.0);
    good.A[0] = good.A[1] = 1.0;
    effort_case c = good;
    c.lower[1] = 2.0;
    ck_assert_int_eq(solve(&c), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(c.err.message, "x[1] has the bounds 2 and 1"));
    c = good;
    c.weight[0] = 0.0;
    ck_assert_int_eq(solve(&c), TAL_ERR_BAD_VALUE);
    c = good;
    c.weight[0] = TEST_NAN;
    ck_assert_int_eq(solve(&c), TAL_ERR_NOT_FINITE);
    c = good;
    c.b[0] = TEST_INFINITY;
    ck_assert_int_eq(solve(&c), TAL_ERR_NOT_FINITE);
    c = good;
    c.A[1] = TEST_NAN;
    ck_assert_int_eq(solve(&c), TAL_ERR_NOT_FINITE);
    c = good;
    c.p = 1.0;
    ck_assert_int_eq(solve(&c), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(c.err.message, "exponent is 1"));
    test_record_breaches();
    tal_status st;
    test_assert_breach(st = tal_effort_solve(NULL, c.lambda, c.x, NULL, c.work, NULL, NULL),
                       TAL_ERR_NULL, "problem");
    ck_assert_int_eq(st, TAL_ERR_NULL);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("common/effort");
    TCase *tc = tcase_create("effort");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, two_actuators_share_a_force);
    tcase_add_test(tc, bounds_and_weights_count);
    tcase_add_test(tc, what_is_missing_is_told_by_row);
    tcase_add_test(tc, a_row_that_nothing_moves);
    tcase_add_test(tc, random_problems_are_solved_and_proven);
    tcase_add_test(tc, other_exponents_are_solved_and_proven);
    tcase_add_test(tc, extreme_exponents_are_never_wrong);
    tcase_add_test(tc, a_guess_saves_work_and_changes_nothing);
    tcase_add_test(tc, what_is_missing_is_least);
    tcase_add_test(tc, bad_input_is_refused);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
