// common/src/solve/lemke.c: complementarity with any matrix.
#include "alloc_guard.h"
#include "dense_test.h"
#include "talus_test.h"

#include <stdlib.h>

enum {
    MAX = 24
};

typedef struct lemke_case {
    test_dense A;
    double b[MAX], z[MAX], w[MAX];
    double work[2 * MAX * MAX + 3 * MAX];
    int iwork[MAX];
    tal_complementarity_report report;
    tal_error err;
} lemke_case;

static tal_status solve(lemke_case *c)
{
    ck_assert_uint_le(tal_lemke_work_size(c->A.rows), sizeof c->work / sizeof c->work[0]);
    tal_status st;
    test_assert_no_heap(st = tal_lemke_solve(test_view(&c->A), c->b, c->z, c->w, c->work, c->iwork,
                                             &c->report, &c->err));
    return st;
}

// w = A z + b, and each pair has one of them zero; to n eps of what is added up, times the
// condition of the basis, for which 1e-9 leaves 1e5.
static void assert_solves(const lemke_case *c)
{
    const int n = c->A.rows;
    for (int i = 0; i < n; ++i) {
        double sum = c->b[i], size = fabs(c->b[i]);
        for (int j = 0; j < n; ++j) {
            sum += test_at(&c->A, i, j) * c->z[j];
            size += fabs(test_at(&c->A, i, j) * c->z[j]);
        }
        ck_assert_double_le(fabs(sum - c->w[i]), 4 * n * DBL_EPSILON * size);
        ck_assert_double_ge(c->z[i], 0.0);
        ck_assert_double_ge(c->w[i], -1e-9 * size);
        ck_assert(c->z[i] == 0.0 || fabs(c->w[i]) <= 1e-9 * size);
    }
}

START_TEST(nothing_to_do_where_b_is_positive)
{
    lemke_case c = {.A = {{1.0, 2.0, 3.0, 4.0}, 2, 2}, .b = {1.0, 0.0}};
    ck_assert_int_eq(solve(&c), TAL_OK);
    ck_assert_double_eq(c.z[0], 0.0);
    ck_assert_double_eq(c.z[1], 0.0);
    ck_assert_int_eq(c.report.pivots, 0);
}

// Example 4.4.7 of Cottle, Pang and Stone is of this kind: an upper triangular P-matrix.
START_TEST(a_triangular_problem_by_hand)
{
    lemke_case c = {.A = {{1.0, 0.0, 2.0, 1.0}, 2, 2}, .b = {-3.0, -1.0}};
    // from below: z1 = 1; then z0 = 3 - 2 z1
    ck_assert_int_eq(solve(&c), TAL_OK);
    test_assert_near(c.z, (const double[]){1.0, 1.0}, 2, 1e-15, "z");
}

// A = S + K with S positive definite and K skew: a P-matrix, with one solution for each b. It is
// known because b is made from it.
START_TEST(problems_with_one_solution_are_solved)
{
    const int count = getenv("TALUS_SOAK") != NULL ? 100000 : 2000;
    for (int k = 0; k < count; ++k) {
        tal_random rng = {(uint64_t)k, 21, 0};
        const int n = 1 + (int)(tal_random_uniform(&rng) * MAX);
        lemke_case c = {.A = test_random_gram(&rng, n, n)};
        double z[MAX];
        for (int j = 0; j < n; ++j) {
            c.A.data[j + j * n] += 0.1;
            for (int i = 0; i < j; ++i) {
                const double skew = 3.0 * tal_random_normal(&rng);
                c.A.data[i + j * n] += skew;
                c.A.data[j + i * n] -= skew;
            }
        }
        for (int i = 0; i < n; ++i) {
            const bool on = tal_random_uniform(&rng) < 0.6;
            z[i] = on ? fabs(tal_random_normal(&rng)) : 0.0;
            c.b[i] = on ? 0.0 : fabs(tal_random_normal(&rng));
        }
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j) {
                c.b[i] -= test_at(&c.A, i, j) * z[j];
            }
        }
        ck_assert_msg(solve(&c) == TAL_OK, "problem %d: %s", k, c.err.message);
        assert_solves(&c);
        // x^T A x >= 0.1 |x|^2 bounds the error by 10 times the residual
        test_assert_near(c.z, z, n, 1e-10 * (1.0 + n), "z");
    }
}

// Semidefinite and singular: w is unique, and a solution exists because b is made from one.
START_TEST(singular_problems_are_solved)
{
    const int count = getenv("TALUS_SOAK") != NULL ? 100000 : 2000;
    for (int k = 0; k < count; ++k) {
        tal_random rng = {(uint64_t)k, 22, 0};
        const int n = 2 + (int)(tal_random_uniform(&rng) * (MAX - 2));
        const int r = 1 + (int)(tal_random_uniform(&rng) * n);
        const test_dense J = test_random_dense(&rng, n, r), T = test_transpose(&J);
        lemke_case c = {.A = test_product(&J, &T)};
        for (int i = 0; i < n; ++i) {
            c.b[i] = i % 2 == 0 ? 0.0 : fabs(tal_random_normal(&rng));
            for (int j = 0; j < n; j += 2) {
                c.b[i] -= test_at(&c.A, i, j) * (1.0 + j);
            }
        }
        ck_assert_msg(solve(&c) == TAL_OK, "problem %d: %s", k, c.err.message);
        assert_solves(&c);
    }
}

// Rows in units that differ by up to 1e6: D A D with the same z in those units.
START_TEST(badly_scaled_problems_are_solved)
{
    for (int k = 0; k < 500; ++k) {
        tal_random rng = {(uint64_t)k, 23, 0};
        const int n = 2 + (int)(tal_random_uniform(&rng) * (MAX - 2));
        lemke_case c = {.A = test_random_gram(&rng, n, n)};
        double d[MAX];
        for (int i = 0; i < n; ++i) {
            d[i] = pow(10.0, 6.0 * tal_random_uniform(&rng) - 3.0);
            c.A.data[i + i * n] += 0.1;
        }
        for (int i = 0; i < n; ++i) {
            c.b[i] = d[i] * tal_random_normal(&rng);
            for (int j = 0; j < n; ++j) {
                c.A.data[i + j * n] *= d[i] * d[j];
            }
        }
        ck_assert_msg(solve(&c) == TAL_OK, "problem %d: %s", k, c.err.message);
        assert_solves(&c);
    }
}

START_TEST(contradicting_rows_have_a_certificate)
{
    lemke_case c = {.A = {{1.0, -1.0, -1.0, 1.0}, 2, 2}, .b = {-1.0, -1.0}};
    ck_assert_int_eq(solve(&c), TAL_ERR_INFEASIBLE);
    ck_assert_double_eq(c.z[0], 1.0);
    ck_assert_double_eq(c.z[1], 1.0);
}

// Painleve's rod with one sliding contact: a_N = a0 + k z with k < 0 < -a0. No force keeps it on
// the ground, and no certificate of the linear kind is needed: A^T y = k y <= 0.
START_TEST(a_jammed_contact_has_no_acceleration)
{
    lemke_case c = {.A = {{-0.848076}, 1, 1}, .b = {-1.0}};
    ck_assert_int_eq(solve(&c), TAL_ERR_INFEASIBLE);
    ck_assert_double_eq(c.z[0], 1.0);
    c.b[0] = 1.0; // two solutions: the one without force is found
    ck_assert_int_eq(solve(&c), TAL_OK);
    ck_assert_double_eq(c.z[0], 0.0);
}

// Ties at every exchange: only the lexicographic test keeps Lemke's method from going round.
START_TEST(ties_do_not_make_it_cycle)
{
    for (int n = 2; n <= MAX; ++n) {
        lemke_case c = {.A = {{0.0}, n, n}};
        for (int i = 0; i < n; ++i) {
            c.b[i] = -1.0;
            for (int j = 0; j < n; ++j) {
                c.A.data[i + j * n] = 1.0 + (i == j);
            }
        }
        ck_assert_int_eq(solve(&c), TAL_OK);
        assert_solves(&c);
        ck_assert_double_le(fabs(c.z[0] - 1.0 / (n + 1)), 1e-14);
    }
}

START_TEST(bad_input_is_refused)
{
    lemke_case c = {.A = {{1.0, 0.0, 0.0, 1.0}, 2, 2}, .b = {-1.0, TEST_NAN}};
    ck_assert_int_eq(solve(&c), TAL_ERR_NOT_FINITE);
    c.b[1] = 1.0;
    c.A.data[2] = TEST_NAN;
    ck_assert_int_eq(solve(&c), TAL_ERR_NOT_FINITE);
    test_record_breaches();
    tal_status st;
    test_assert_breach(
        st = tal_lemke_solve(test_view(&c.A), NULL, c.z, c.w, c.work, c.iwork, NULL, NULL),
        TAL_ERR_NULL, "b");
    ck_assert_int_eq(st, TAL_ERR_NULL);
}

int main(void)
{
    Suite *suite = suite_create("common/lemke");
    TCase *tc = tcase_create("lemke");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, nothing_to_do_where_b_is_positive);
    tcase_add_test(tc, a_triangular_problem_by_hand);
    tcase_add_test(tc, problems_with_one_solution_are_solved);
    tcase_add_test(tc, singular_problems_are_solved);
    tcase_add_test(tc, badly_scaled_problems_are_solved);
    tcase_add_test(tc, contradicting_rows_have_a_certificate);
    tcase_add_test(tc, a_jammed_contact_has_no_acceleration);
    tcase_add_test(tc, ties_do_not_make_it_cycle);
    tcase_add_test(tc, bad_input_is_refused);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
