// common/src/dense/cholesky.c, pchol.c, and what they use of dense.c.
#include "alloc_guard.h"
#include "dense/dense_internal.h"
#include "dense_test.h"
#include "talus_test.h"

// |A - L L^T|_ij <= gamma_{n+1} (|L| |L^T|)_ij <= gamma_{n+1} sqrt(a_ii a_jj), and as much again
// for forming the product here: (n + 2) eps covers both (gamma_k = k eps/2 to first order).
static void assert_factor(const test_dense *A, const test_dense *L)
{
    const int n = A->rows;
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            double sum = 0.0;
            for (int k = 0; k <= j; ++k) {
                sum += test_at(L, i, k) * test_at(L, j, k);
            }
            const double scale = sqrt(test_at(A, i, i)) * sqrt(test_at(A, j, j));
            ck_assert_double_le(fabs(sum - test_at(A, i, j)), (n + 2) * DBL_EPSILON * scale);
        }
    }
}

START_TEST(the_factor_times_its_transpose_is_the_matrix)
{
    tal_random rng = {(uint64_t)_i, 0, 0};
    test_dense A = test_random_gram(&rng, _i, _i);
    test_dense L = A;
    tal_chol_info info;
    ck_assert_int_eq(tal_chol_factor(test_view(&L), &info, NULL), TAL_OK);
    ck_assert_int_eq(info.pivot, -1);
    ck_assert_double_eq(info.value, 0.0);
    assert_factor(&A, &L);
    for (int j = 0; j < _i; ++j) {
        for (int i = 0; i < j; ++i) { // what is above the diagonal is not touched
            ck_assert_double_eq(test_at(&L, i, j), test_at(&A, i, j));
        }
    }
}

// (A + dA) x = b with |dA| <= gamma_{3n+1} |L| |L^T| bounds the residual whatever the condition is;
// 2(n+1) eps covers that and the product formed here.
START_TEST(a_solution_satisfies_the_equations)
{
    tal_random rng = {100 + (uint64_t)_i, 0, 0};
    const int n = _i;
    test_dense A = test_random_gram(&rng, n, n);
    test_dense L = A;
    const test_dense B = test_random_dense(&rng, n, 3);
    test_dense X = B;
    ck_assert_int_eq(tal_chol_factor(test_view(&L), NULL, NULL), TAL_OK);
    ck_assert_int_eq(tal_chol_solve(test_view(&L), test_view(&X), NULL), TAL_OK);

    const test_dense AX = test_product(&A, &X);
    for (int j = 0; j < 3; ++j) {
        for (int i = 0; i < n; ++i) {
            double scale = 0.0;
            for (int k = 0; k < n; ++k) {
                scale += sqrt(test_at(&A, i, i) * test_at(&A, k, k)) * fabs(test_at(&X, k, j));
            }
            ck_assert_double_le(fabs(test_at(&AX, i, j) - test_at(&B, i, j)),
                                2 * (n + 1) * DBL_EPSILON * scale);
        }
    }
}

// The entries of L are square roots, so nothing overflows for entries near the ends of the range.
START_TEST(scaling_by_a_power_of_four_scales_the_factor_exactly)
{
    tal_random rng = {7, 0, 0};
    test_dense A = test_random_gram(&rng, 6, 6);
    test_dense L = A;
    ck_assert_int_eq(tal_chol_factor(test_view(&L), NULL, NULL), TAL_OK);
    for (int e = -500; e <= 500; e += 1000) {
        test_dense scaled = A;
        for (int i = 0; i < 36; ++i) {
            scaled.data[i] = ldexp(A.data[i], 2 * e);
        }
        ck_assert_int_eq(tal_chol_factor(test_view(&scaled), NULL, NULL), TAL_OK);
        for (int j = 0; j < 6; ++j) {
            for (int i = j; i < 6; ++i) {
                ck_assert_double_eq(test_at(&scaled, i, j), ldexp(test_at(&L, i, j), e));
            }
        }
    }
}

// The estimate of |A^-1| is a lower bound, so rcond is at least the true value up to round-off; for
// these matrices it must also not exceed 3 times the true value, and the free bound is above the
// true 2-norm figure, which is within a factor n of the 1-norm's.
START_TEST(the_condition_estimate_is_close_and_on_the_known_side)
{
    tal_random rng = {200 + (uint64_t)_i, 0, 0};
    const int n = _i;
    test_dense A = test_random_gram(&rng, n, n);
    test_dense L = A;
    test_dense inverse = test_identity(n);
    tal_chol_info info;
    double work[TEST_MAX];
    ck_assert_uint_le(tal_chol_rcond_work_size(n), TEST_MAX);
    ck_assert_int_eq(tal_chol_factor(test_view(&L), &info, NULL), TAL_OK);
    ck_assert_int_eq(tal_chol_solve(test_view(&L), test_view(&inverse), NULL), TAL_OK);
    double inverse_norm = 0.0;
    double norm = 0.0;
    for (int j = 0; j < n; ++j) {
        double sum = 0.0;
        double inverse_sum = 0.0;
        for (int i = 0; i < n; ++i) {
            sum += fabs(test_at(&A, i, j));
            inverse_sum += fabs(test_at(&inverse, i, j));
        }
        norm = fmax(norm, sum);
        inverse_norm = fmax(inverse_norm, inverse_sum);
    }
    ck_assert_double_eq_tol(info.norm1, norm, n * DBL_EPSILON * norm);
    const double exact = 1.0 / (norm * inverse_norm);
    const double rcond = tal_chol_rcond(test_view(&L), info.norm1, work);
    ck_assert_double_ge(rcond, exact * (1.0 - 1e-6)); // relative error of the inverse: cond eps
    ck_assert_double_le(rcond, 3.0 * exact * (1.0 + 1e-6));
    ck_assert_double_ge(info.rcond_bound * n, exact * (1.0 - 1e-6));
}

// Hilbert's matrix has an inverse of integers, so its condition number is known exactly.
START_TEST(hilberts_matrix_is_recognized_as_ill_conditioned)
{
    enum {
        N = 8
    };

    test_dense H = {{0.0}, N, N};
    for (int j = 0; j < N; ++j) {
        for (int i = 0; i < N; ++i) {
            H.data[i + j * N] = 1.0 / (i + j + 1);
        }
    }
    // inverse: (-1)^{i+j} (i+j+1) C(n+i,n-j-1) C(n+j,n-i-1) C(i+j,i)^2
    double choose[2 * N + 1][2 * N + 1] = {{0.0}};
    for (int a = 0; a <= 2 * N; ++a) {
        choose[a][0] = 1.0;
        for (int b = 1; b <= a; ++b) {
            choose[a][b] = choose[a - 1][b - 1] + (b < a ? choose[a - 1][b] : 0.0);
        }
    }
    double inverse_norm = 0.0;
    for (int j = 0; j < N; ++j) {
        double sum = 0.0;
        for (int i = 0; i < N; ++i) {
            sum += (i + j + 1) * choose[N + i][N - j - 1] * choose[N + j][N - i - 1] *
                   choose[i + j][i] * choose[i + j][i];
        }
        inverse_norm = fmax(inverse_norm, sum);
    }
    tal_chol_info info;
    double work[N];
    ck_assert_int_eq(tal_chol_factor(test_view(&H), &info, NULL), TAL_OK);
    const double exact = 1.0 / (info.norm1 * inverse_norm);
    // rounding the entries moves A^-1 by about cond eps = 1e-5
    ck_assert_double_eq_tol(tal_chol_rcond(test_view(&H), info.norm1, work), exact, 1e-4 * exact);
}

START_TEST(an_indefinite_matrix_names_its_pivot)
{
    double data[9] = {4, 2, 0, 2, 1, 0, 0, 0, 1};
    tal_chol_info info;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tal_chol_factor(tal_matrix_view(data, 3, 3), &info, &err), TAL_ERR_SINGULAR);
    ck_assert_int_eq(info.pivot, 1);
    ck_assert_double_eq(info.value, 0.0);
    ck_assert_double_eq(info.rcond_bound, 0.0);
    ck_assert_ptr_nonnull(strstr(err.message, "pivot 1 of 3 is 0"));

    double negative[1] = {-2.0};
    ck_assert_int_eq(tal_chol_factor(tal_matrix_view(negative, 1, 1), &info, NULL),
                     TAL_ERR_SINGULAR);
    ck_assert_int_eq(info.pivot, 0);
    ck_assert_double_eq(info.value, -2.0);
}

START_TEST(cholesky_rejects_what_is_not_finite_and_leaves_it_alone)
{
    double data[4] = {1, 0, TEST_NAN, 1}; // above the diagonal: not read
    ck_assert_int_eq(tal_chol_factor(tal_matrix_view(data, 2, 2), NULL, NULL), TAL_OK);
    double bad[4] = {4, TEST_INFINITY, 0, 1};
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tal_chol_factor(tal_matrix_view(bad, 2, 2), NULL, &err), TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(err.message, "element (1, 0) of A is inf"));
    ck_assert_double_eq(bad[0], 4.0);

    double L[4] = {2, 0, 0, 1};
    double b[2] = {1, TEST_NAN};
    ck_assert_int_eq(tal_chol_solve(tal_matrix_view(L, 2, 2), tal_matrix_view(b, 2, 1), NULL),
                     TAL_ERR_NOT_FINITE);
    ck_assert_double_eq(b[0], 1.0);
    double tiny[1] = {1e-160};
    double huge[1] = {1e10}; // the solution 1e330 has no double
    ck_assert_int_eq(tal_chol_solve(tal_matrix_view(tiny, 1, 1), tal_matrix_view(huge, 1, 1), NULL),
                     TAL_ERR_NOT_FINITE);
}

START_TEST(broken_contracts_are_reported)
{
    double data[4] = {1, 0, 0, 1};
    const tal_matrix I = tal_matrix_view(data, 2, 2);
    double work[2];
    tal_status st = TAL_OK;
    const tal_matrix narrow = {data, 2, 2, 1};
    test_assert_breach(st = tal_chol_factor(narrow, NULL, NULL), TAL_ERR_BAD_VALUE, "leading");
    test_assert_breach(st = tal_chol_factor(tal_matrix_view(data, 1, 2), NULL, NULL),
                       TAL_ERR_BAD_VALUE, "square");
    test_assert_breach(st = tal_chol_factor(tal_matrix_view(data, -1, 2), NULL, NULL),
                       TAL_ERR_BAD_VALUE, "negative");
    test_assert_breach(st = tal_chol_factor(tal_matrix_view(NULL, 2, 2), NULL, NULL), TAL_ERR_NULL,
                       "NULL");
    test_assert_breach(st = tal_chol_solve(narrow, I, NULL), TAL_ERR_BAD_VALUE, "matrix L");
    test_assert_breach(st = tal_chol_solve(I, tal_matrix_view(data, 1, 2), NULL), TAL_ERR_BAD_VALUE,
                       "must be 2 x 2");
    test_assert_breach(st = tal_chol_solve(I, narrow, NULL), TAL_ERR_BAD_VALUE, "matrix B");
    ck_assert_int_eq(st, TAL_ERR_BAD_VALUE);
    double rcond = 0.0;
    test_assert_breach(rcond = tal_chol_rcond(narrow, 1.0, work), TAL_ERR_BAD_VALUE, "L");
    ck_assert_double_nan(rcond);
    test_assert_breach(rcond = tal_chol_rcond(I, 1.0, NULL), TAL_ERR_NULL, "work");
    ck_assert_double_nan(rcond);
    test_assert_breach(rcond = tal_chol_rcond(I, TEST_NAN, work), TAL_ERR_BAD_VALUE, "norm1");
    ck_assert_double_nan(rcond);
}

START_TEST(no_rows_are_no_trouble)
{
    tal_chol_info info;
    const tal_matrix none = tal_matrix_view(NULL, 0, 0);
    ck_assert_int_eq(tal_chol_factor(none, &info, NULL), TAL_OK);
    ck_assert_double_eq(info.rcond_bound, 1.0);
    ck_assert_int_eq(tal_chol_solve(none, tal_matrix_view(NULL, 0, 3), NULL), TAL_OK);
    ck_assert_double_eq(tal_chol_rcond(none, 0.0, NULL), 1.0);
    ck_assert_uint_eq(tal_chol_rcond_work_size(0), 0);
    ck_assert_uint_eq(tal_pchol_work_size(-1), 0);
    ck_assert_uint_eq(tal_pchol_iwork_size(0), 0);
    tal_pchol f;
    ck_assert_int_eq(tal_pchol_factor(&f, none, -1.0, NULL, NULL, NULL), TAL_OK);
    ck_assert_int_eq(f.rank, 0);
    ck_assert_int_eq(tal_pchol_solve_basic(&f, tal_matrix_view(NULL, 0, 2), NULL), TAL_OK);
    ck_assert_int_eq(tal_pchol_solve_min_norm(&f, tal_matrix_view(NULL, 0, 2), NULL), TAL_OK);
}

// Memory for one pivoted factorization.
typedef struct pivoted {
    tal_pchol f;
    test_dense L;
    double work[TEST_MAX2 + 2 * TEST_MAX];
    int iwork[TEST_MAX];
} pivoted;

static tal_status factor_pivoted(pivoted *p, const test_dense *A, double tolerance)
{
    p->L = *A;
    return tal_pchol_factor(&p->f, test_view(&p->L), tolerance, p->work, p->iwork, NULL);
}

// P^T A P = L L^T to (n + 2) eps max a_ii in the part that was pivoted, as above; in the part given
// up to f.residual, which the default tolerance keeps below n eps max a_ii.
START_TEST(pivoted_factors_reproduce_the_permuted_matrix)
{
    const int n = 24;
    tal_random rng = {300 + (uint64_t)_i, 0, 0};
    test_dense A = test_random_gram(&rng, n, _i);
    pivoted p;
    ck_assert_int_eq(factor_pivoted(&p, &A, -1.0), TAL_OK);
    ck_assert_int_eq(p.f.rank, _i);

    double largest = 0.0;
    for (int i = 0; i < n; ++i) {
        largest = fmax(largest, test_at(&A, i, i));
    }
    ck_assert_double_le(p.f.residual, n * DBL_EPSILON * largest);
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            double sum = 0.0;
            for (int k = 0; k <= j; ++k) {
                sum += test_at(&p.L, i, k) * test_at(&p.L, j, k);
            }
            const double a = test_at(&A, p.f.perm[i], p.f.perm[j]);
            ck_assert_double_le(fabs(sum - a), 2 * (n + 2) * DBL_EPSILON * largest);
        }
        if (j >= _i) { // no columns beyond the rank
            ck_assert_double_eq(tali_array_largest(p.L.data + j + j * n, n - j), 0.0);
        }
        if (j > 0 && j < _i) { // pivots come largest first
            ck_assert_double_le(test_at(&p.L, j, j), test_at(&p.L, j - 1, j - 1));
        }
    }
}

// b = A y is in the range, so both solutions fit; tolerance: backward error n^2 eps times |A| |x|.
START_TEST(both_solutions_of_a_semidefinite_system_fit)
{
    const int n = 20;
    tal_random rng = {400 + (uint64_t)_i, 0, 0};
    test_dense A = test_random_gram(&rng, n, _i);
    const test_dense Y = test_random_dense(&rng, n, 2);
    const test_dense B = test_product(&A, &Y);
    pivoted p;
    ck_assert_int_eq(factor_pivoted(&p, &A, -1.0), TAL_OK);
    test_dense basic = B;
    test_dense shortest = B;
    ck_assert_int_eq(tal_pchol_solve_basic(&p.f, test_view(&basic), NULL), TAL_OK);
    ck_assert_int_eq(tal_pchol_solve_min_norm(&p.f, test_view(&shortest), NULL), TAL_OK);
    const test_dense fit_basic = test_product(&A, &basic);
    const test_dense fit_shortest = test_product(&A, &shortest);
    const double tol = n * n * DBL_EPSILON * test_size(&A);
    ck_assert_double_le(test_distance(&fit_basic, &B), tol * test_size(&basic));
    ck_assert_double_le(test_distance(&fit_shortest, &B), tol * test_size(&shortest));
    int zeros = 0;
    for (int i = 0; i < n; ++i) {
        zeros += basic.data[i] == 0.0;
    }
    ck_assert_int_eq(zeros, n - _i);
    ck_assert_double_le(test_size(&shortest), test_size(&basic) * (1.0 + 1e-12));
}

// A^+ by columns satisfies the four conditions of Penrose, each to n^2 eps cond.
START_TEST(the_minimum_norm_solution_is_the_pseudoinverse)
{
    const int n = 12;
    tal_random rng = {500 + (uint64_t)_i, 0, 0};
    test_dense A = test_random_gram(&rng, n, _i);
    pivoted p;
    ck_assert_int_eq(factor_pivoted(&p, &A, -1.0), TAL_OK);
    test_dense X = test_identity(n);
    ck_assert_int_eq(tal_pchol_solve_min_norm(&p.f, test_view(&X), NULL), TAL_OK);
    const test_dense AX = test_product(&A, &X);
    const test_dense AXt = test_transpose(&AX);
    const test_dense AXA = test_product(&AX, &A);
    const test_dense XAX = test_product(&X, &AX);
    const double tol = n * n * DBL_EPSILON * test_size(&A) * test_size(&X);
    ck_assert_double_le(test_distance(&AXA, &A), tol * test_size(&A));
    ck_assert_double_le(test_distance(&XAX, &X), tol * test_size(&X));
    ck_assert_double_le(test_distance(&AX, &AXt), tol);
}

START_TEST(special_semidefinite_matrices_have_their_rank)
{
    pivoted p;
    test_dense zero = {{0.0}, 3, 3};
    ck_assert_int_eq(factor_pivoted(&p, &zero, -1.0), TAL_OK);
    ck_assert_int_eq(p.f.rank, 0);
    double b[3] = {1, 2, 3};
    ck_assert_int_eq(tal_pchol_solve_min_norm(&p.f, tal_matrix_view(b, 3, 1), NULL), TAL_OK);
    ck_assert_double_eq(b[0], 0.0);

    test_dense ones = {{1, 1, 1, 1, 1, 1, 1, 1, 1}, 3, 3}; // A^+ = A / 9
    ck_assert_int_eq(factor_pivoted(&p, &ones, -1.0), TAL_OK);
    ck_assert_int_eq(p.f.rank, 1);
    double c[3] = {9, 0, 0};
    ck_assert_int_eq(tal_pchol_solve_min_norm(&p.f, tal_matrix_view(c, 3, 1), NULL), TAL_OK);
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq_tol(c[i], 1.0, 9 * DBL_EPSILON);
    }

    test_dense graded = {{1e-12, 0, 0, 0, 1e12, 0, 0, 0, 1}, 3, 3};
    ck_assert_int_eq(factor_pivoted(&p, &graded, 0.0), TAL_OK);
    ck_assert_int_eq(p.f.rank, 3);
    ck_assert_int_eq(p.f.perm[0], 1);
    ck_assert_int_eq(factor_pivoted(&p, &graded, 1e-3), TAL_OK);
    ck_assert_int_eq(p.f.rank, 2);
    ck_assert_double_eq(p.f.residual, 1e-12);
    test_dense one = {{4.0}, 1, 1};
    ck_assert_int_eq(factor_pivoted(&p, &one, -1.0), TAL_OK);
    ck_assert_double_eq(p.L.data[0], 2.0);
}

START_TEST(what_is_not_semidefinite_is_reported)
{
    pivoted p;
    p.L = (test_dense){{0, 1, 1, 0}, 2, 2};
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tal_pchol_factor(&p.f, test_view(&p.L), -1.0, p.work, p.iwork, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "not positive semidefinite"));
    const test_dense negative = {{-1.0}, 1, 1};
    ck_assert_int_eq(factor_pivoted(&p, &negative, -1.0), TAL_ERR_BAD_VALUE);
}

START_TEST(pivoted_cholesky_rejects_bad_input)
{
    pivoted p;
    const test_dense bad = {{1, TEST_NAN, 0, 1}, 2, 2};
    ck_assert_int_eq(factor_pivoted(&p, &bad, -1.0), TAL_ERR_NOT_FINITE);
    const test_dense good = {{1, 0, 0, 1}, 2, 2};
    tal_status st = TAL_OK;
    test_assert_breach(st = factor_pivoted(&p, &good, TEST_NAN), TAL_ERR_BAD_VALUE, "NaN");
    const test_dense wide = {{1, 2}, 1, 2};
    test_assert_breach(st = factor_pivoted(&p, &wide, -1.0), TAL_ERR_BAD_VALUE, "square");
    test_assert_breach(st = tal_pchol_factor(NULL, test_view(&p.L), 0, p.work, p.iwork, NULL),
                       TAL_ERR_BAD_VALUE, "square");
    p.L = good;
    test_assert_breach(st = tal_pchol_factor(NULL, test_view(&p.L), 0, p.work, p.iwork, NULL),
                       TAL_ERR_NULL, "NULL");
    test_assert_breach(st = tal_pchol_factor(&p.f, test_view(&p.L), 0, NULL, p.iwork, NULL),
                       TAL_ERR_NULL, "workspace");
    test_assert_breach(st = tal_pchol_solve_basic(NULL, test_view(&p.L), NULL), TAL_ERR_NULL,
                       "NULL");
    ck_assert_int_eq(factor_pivoted(&p, &good, -1.0), TAL_OK);
    double b[3] = {1, TEST_INFINITY, 0};
    test_assert_breach(st = tal_pchol_solve_basic(&p.f, tal_matrix_view(b, 3, 1), NULL),
                       TAL_ERR_BAD_VALUE, "must be 2 x 1");
    ck_assert_int_eq(st, TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_pchol_solve_min_norm(&p.f, tal_matrix_view(b, 2, 1), NULL),
                     TAL_ERR_NOT_FINITE);
}

// Fields that a caller has changed: no array is read that they do not fit.
START_TEST(changed_fields_of_a_factorization_are_refused)
{
    pivoted p;
    const test_dense good = {{1, 0, 0, 0}, 2, 2};
    ck_assert_int_eq(factor_pivoted(&p, &good, -1.0), TAL_OK);
    double b[2] = {1, 2};
    const tal_matrix B = tal_matrix_view(b, 2, 1);
    for (int i = 0; i < 7; ++i) {
        tal_pchol f = p.f;
        if (i == 0) f.L.cols = -2;
        if (i == 1) f.L.cols = 1;
        if (i == 2) f.L.ld = -1;
        if (i == 3) f.rank = -1;
        if (i == 4) f.rank = 3;
        if (i == 5) f.perm = NULL;
        if (i == 6) f.scratch = NULL;
        const tal_status wanted = i < 5 ? TAL_ERR_BAD_VALUE : TAL_ERR_NULL;
        test_assert_refused(tal_pchol_solve_basic(&f, B, NULL), wanted, "");
        test_assert_refused(tal_pchol_solve_min_norm(&f, B, NULL), wanted, "");
    }
}

END_TEST

static void factor_and_solve(pivoted *p, test_dense *X, const test_dense *A, const test_dense *B,
                             tal_status st[3])
{
    *X = *B;
    st[0] = factor_pivoted(p, A, -1.0);
    st[1] = tal_pchol_solve_min_norm(&p->f, test_view(X), NULL);
    st[2] = tal_pchol_solve_basic(&p->f, test_view(X), NULL);
}

START_TEST(the_same_input_gives_the_same_bytes_without_the_heap)
{
    tal_random rng = {9, 0, 0};
    const test_dense A = test_random_gram(&rng, 15, 9);
    const test_dense B = test_random_dense(&rng, 15, 2);
    static pivoted p;
    static pivoted q;
    test_dense X;
    test_dense Y;
    tal_status st[3];
    test_assert_no_heap(factor_and_solve(&p, &X, &A, &B, st));
    for (int i = 0; i < 3; ++i) {
        ck_assert_int_eq(st[i], TAL_OK);
    }
    factor_and_solve(&q, &Y, &A, &B, st);
    ck_assert_mem_eq(X.data, Y.data, sizeof X.data);
    ck_assert_mem_eq(p.L.data, q.L.data, sizeof p.L.data);

    test_dense L = test_random_gram(&rng, 15, 15);
    double work[15];
    tal_chol_info info;
    double rcond = 0.0;
    test_assert_no_heap(st[0] = tal_chol_factor(test_view(&L), &info, NULL));
    test_assert_no_heap(st[1] = tal_chol_solve(test_view(&L), test_view(&X), NULL));
    test_assert_no_heap(rcond = tal_chol_rcond(test_view(&L), info.norm1, work));
    ck_assert_int_eq(st[0], TAL_OK);
    ck_assert_int_eq(st[1], TAL_OK);
    ck_assert_double_gt(rcond, 0.0);
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("common/cholesky");
    TCase *tc = tcase_create("theory");
    tcase_add_loop_test(tc, the_factor_times_its_transpose_is_the_matrix, 1, 31);
    tcase_add_loop_test(tc, a_solution_satisfies_the_equations, 1, 31);
    tcase_add_test(tc, scaling_by_a_power_of_four_scales_the_factor_exactly);
    tcase_add_loop_test(tc, the_condition_estimate_is_close_and_on_the_known_side, 1, 31);
    tcase_add_test(tc, hilberts_matrix_is_recognized_as_ill_conditioned);
    tcase_add_loop_test(tc, pivoted_factors_reproduce_the_permuted_matrix, 0, 25);
    tcase_add_loop_test(tc, both_solutions_of_a_semidefinite_system_fit, 1, 21);
    tcase_add_loop_test(tc, the_minimum_norm_solution_is_the_pseudoinverse, 1, 13);
    tcase_add_test(tc, special_semidefinite_matrices_have_their_rank);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, an_indefinite_matrix_names_its_pivot);
    tcase_add_test(tc, cholesky_rejects_what_is_not_finite_and_leaves_it_alone);
    tcase_add_test(tc, broken_contracts_are_reported);
    tcase_add_test(tc, no_rows_are_no_trouble);
    tcase_add_test(tc, what_is_not_semidefinite_is_reported);
    tcase_add_test(tc, pivoted_cholesky_rejects_bad_input);
    tcase_add_test(tc, changed_fields_of_a_factorization_are_refused);
    suite_add_tcase(suite, tc);

    tc = tcase_create("alloc");
    tcase_add_test(tc, the_same_input_gives_the_same_bytes_without_the_heap);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
