// common/src/dense/lapack.c: the wrappers satisfy the equations they promise, and refuse what
// LAPACK would complain about.
#include "dense/dense_internal.h"
#include "dense_test.h"
#include "talus_test.h"

#include <limits.h>

enum {
    WORK = 300 * TEST_MAX + 10 * TEST_MAX2
};

static double work[WORK];
static int iwork[8 * TEST_MAX];
static const tal_matrix none = {NULL, 0, 0, 1};

void xerbla_(const char *routine, const int *info, size_t length);

// LAPACK calls this about an illegal argument; its own version prints and ends the process, with
// success. The linker prefers ours, which must never run.
void xerbla_(const char *routine, const int *info, size_t length)
{
    ck_abort_msg("%.*s refused argument %d", (int)length, routine, *info);
}

// LAPACK's drivers are backward stable to a modest multiple of max(m, n) eps; 4 m n eps is the
// rigorous form of that for the Householder part and leaves room for the iterations.
static double backward(int m, int n)
{
    return 4.0 * (m + 1) * (n + 1) * DBL_EPSILON;
}

static double orthogonality(const test_dense *V)
{
    const test_dense Vt = test_transpose(V);
    const test_dense VtV = test_product(&Vt, V);
    const test_dense I = test_identity(V->cols);
    return test_distance(&VtV, &I);
}

static const struct {
    int m, n;
} shapes[] = {{1, 1}, {6, 6}, {15, 6}, {6, 15}, {30, 3}, {3, 30}, {1, 8}, {8, 1}, {40, 40}};

enum {
    SHAPES = sizeof shapes / sizeof shapes[0]
};

START_TEST(least_squares_leaves_an_orthogonal_residual)
{
    const int m = shapes[_i].m, n = shapes[_i].n;
    tal_random rng = {(uint64_t)_i, 1, 0};
    const test_dense A = test_random_dense(&rng, m, n);
    const test_dense b = test_random_dense(&rng, m, 2);
    const int rows = tali_dense_max(m, n);
    test_dense copy = A;
    test_dense B = {{0.0}, rows, 2};
    for (int j = 0; j < 2; ++j) {
        memcpy(B.data + j * rows, b.data + j * m, (size_t)m * sizeof(double));
    }
    const int size = tal_lapack_least_squares_work_size(m, n, 2);
    ck_assert_int_le(size, WORK);
    ck_assert_int_eq(tal_lapack_least_squares(test_view(&copy), test_view(&B), work, size, NULL),
                     TAL_OK);

    test_dense X = {{0.0}, n, 2};
    for (int j = 0; j < 2; ++j) {
        memcpy(X.data + j * n, B.data + j * rows, (size_t)n * sizeof(double));
    }
    test_dense R = test_product(&A, &X);
    for (int i = 0; i < 2 * m; ++i) {
        R.data[i] -= b.data[i];
    }
    const test_dense At = test_transpose(&A);
    const test_dense AtR = test_product(&At, &R);
    const double scale = test_size(&A) * test_size(&X) + test_size(&b);
    ck_assert_double_le(test_size(&AtR), backward(m, n) * test_size(&A) * scale);
    if (m <= n) ck_assert_double_le(test_size(&R), backward(m, n) * scale);

    // the rows below the solution hold the residual, turned
    double below = 0.0;
    for (int j = 0; j < 2; ++j) {
        for (int i = n; i < m; ++i) {
            below += test_at(&B, i, j) * test_at(&B, i, j);
        }
    }
    ck_assert_double_eq_tol(sqrt(below), test_size(&R), backward(m, n) * scale);
}

// A = U diag(s) V^T, U and V orthonormal, s sorted; thin, full, and values alone agree.
START_TEST(singular_triples_rebuild_the_matrix)
{
    const int m = shapes[_i].m, n = shapes[_i].n, k = tali_dense_min(m, n);
    tal_random rng = {(uint64_t)_i, 2, 0};
    const test_dense A = test_random_dense(&rng, m, n);
    double s[3][TEST_MAX] = {{0.0}};
    const int size = tal_lapack_svd_work_size(m, n);
    ck_assert_int_le(size, WORK);
    ck_assert_int_eq(tal_lapack_svd_iwork_size(m, n), 8 * k);
    for (int full = 0; full < 2; ++full) {
        test_dense copy = A;
        test_dense U = {{0.0}, m, full ? m : k};
        test_dense Vt = {{0.0}, full ? n : k, n};
        ck_assert_int_eq(tal_lapack_svd(test_view(&copy), s[full], test_view(&U), test_view(&Vt),
                                        work, size, iwork, NULL),
                         TAL_OK);
        const test_dense V = test_transpose(&Vt);
        ck_assert_double_le(orthogonality(&U), backward(m, m));
        ck_assert_double_le(orthogonality(&V), backward(n, n));
        test_dense US = {{0.0}, m, Vt.rows};
        for (int j = 0; j < k; ++j) {
            for (int i = 0; i < m; ++i) {
                US.data[i + j * m] = test_at(&U, i, j) * s[full][j];
            }
        }
        const test_dense USVt = test_product(&US, &Vt);
        ck_assert_double_le(test_distance(&USVt, &A), backward(m, n) * test_size(&A));
    }
    test_dense copy = A;
    ck_assert_int_eq(tal_lapack_svd(test_view(&copy), s[2], none, none, work, size, iwork, NULL),
                     TAL_OK);
    for (int j = 0; j < k; ++j) {
        ck_assert_double_eq_tol(s[0][j], s[2][j], backward(m, n) * s[0][0]);
        ck_assert_double_eq_tol(s[0][j], s[1][j], backward(m, n) * s[0][0]);
        if (j > 0) ck_assert_double_le(s[0][j], s[0][j - 1]);
    }
}

START_TEST(symmetric_eigenvectors_diagonalize)
{
    const int n = _i;
    tal_random rng = {(uint64_t)_i, 3, 0};
    const test_dense F = test_random_dense(&rng, n, n);
    test_dense A = test_transpose(&F);
    for (int i = 0; i < n * n; ++i) {
        A.data[i] += F.data[i];
    }
    test_dense V = A;
    test_dense values_only = A;
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < j; ++i) { // above the diagonal nothing is read
            V.data[i + j * n] = TEST_NAN;
            values_only.data[i + j * n] = TEST_NAN;
        }
    }
    double w[TEST_MAX];
    double w2[TEST_MAX];
    const int size = tal_lapack_eig_sym_work_size(n);
    ck_assert_int_le(size, WORK);
    ck_assert_int_eq(tal_lapack_eig_sym(test_view(&V), w, true, work, size, NULL), TAL_OK);
    ck_assert_int_eq(tal_lapack_eig_sym(test_view(&values_only), w2, false, work, size, NULL),
                     TAL_OK);
    test_dense AV = test_product(&A, &V);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            AV.data[i + j * n] -= w[j] * test_at(&V, i, j);
        }
        ck_assert_double_eq_tol(w[j], w2[j], backward(n, n) * test_size(&A));
        if (j > 0) ck_assert_double_ge(w[j], w[j - 1]);
    }
    ck_assert_double_le(test_size(&AV), backward(n, n) * test_size(&A));
    ck_assert_double_le(orthogonality(&V), backward(n, n));
}

// K V = M V W with V^T M V = I. The reduction goes through M's Cholesky factor, so the error is
// multiplied by cond(M) <= |M| here, M = I + F F^T.
START_TEST(modes_of_a_pair_are_orthonormal_in_its_mass)
{
    const int n = _i;
    tal_random rng = {(uint64_t)_i, 4, 0};
    const test_dense K = test_random_gram(&rng, n, n);
    test_dense M = test_random_gram(&rng, n, n);
    for (int i = 0; i < n; ++i) {
        M.data[i + i * n] += 1.0;
    }
    test_dense V = K;
    test_dense copy = M;
    double w[TEST_MAX];
    const int size = tal_lapack_eig_sym_work_size(n);
    ck_assert_int_eq(
        tal_lapack_eig_sym_pair(test_view(&V), test_view(&copy), w, true, work, size, NULL),
        TAL_OK);
    const double tol = backward(n, n) * test_size(&M);
    test_dense KV = test_product(&K, &V);
    const test_dense MV = test_product(&M, &V);
    const test_dense Vt = test_transpose(&V);
    const test_dense VtMV = test_product(&Vt, &MV);
    const test_dense I = test_identity(n);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            KV.data[i + j * n] -= w[j] * test_at(&MV, i, j);
        }
    }
    ck_assert_double_le(test_distance(&VtMV, &I), tol);
    ck_assert_double_le(test_size(&KV), tol * test_size(&K) * test_size(&V));
}

// Two equal masses between three equal springs: omega^2 = k/m and 3k/m, in phase and out of phase.
START_TEST(two_masses_and_three_springs_have_the_textbook_modes)
{
    double K[4] = {2 * 5.0, -5.0, -5.0, 2 * 5.0};
    double M[4] = {4.0, 0.0, 0.0, 4.0};
    double w[2];
    ck_assert_int_eq(tal_lapack_eig_sym_pair(tal_matrix_view(K, 2, 2), tal_matrix_view(M, 2, 2), w,
                                             true, work, WORK, NULL),
                     TAL_OK);
    ck_assert_double_eq_tol(w[0], 5.0 / 4.0, 10 * DBL_EPSILON);
    ck_assert_double_eq_tol(w[1], 15.0 / 4.0, 40 * DBL_EPSILON);
    ck_assert_double_eq_tol(K[0], K[1], 10 * DBL_EPSILON);
    ck_assert_double_eq_tol(K[2], -K[3], 10 * DBL_EPSILON);
}

// A v = lambda v and u^H A = lambda u^H, real and imaginary parts apart:
//     A vr = wr vr - wi vi     A vi = wi vr + wr vi
//     A^T ur = wr ur + wi ui   A^T ui = wr ui - wi ur      (from A^T u = conj(lambda) u)
static void assert_eigenpair(const test_dense *A, double wr, double wi, const double *xr,
                             const double *xi)
{
    const int n = A->rows;
    for (int i = 0; i < n; ++i) {
        double re = -wr * xr[i] + wi * xi[i];
        double im = -wi * xr[i] - wr * xi[i];
        for (int k = 0; k < n; ++k) {
            re += test_at(A, i, k) * xr[k];
            im += test_at(A, i, k) * xi[k];
        }
        ck_assert_double_le(fabs(re), backward(n, n) * test_size(A));
        ck_assert_double_le(fabs(im), backward(n, n) * test_size(A));
    }
}

START_TEST(left_and_right_eigenvectors_satisfy_their_equations)
{
    const int n = _i;
    tal_random rng = {(uint64_t)_i, 5, 0};
    const test_dense A = test_random_dense(&rng, n, n);
    const test_dense At = test_transpose(&A);
    static const double zeros[TEST_MAX];
    double wr[TEST_MAX];
    double wi[TEST_MAX];
    double trace = 0.0;
    double sum = 0.0;
    test_dense L = {{0.0}, n, n};
    test_dense R = {{0.0}, n, n};
    const tal_eig both = {wr, wi, test_view(&L), test_view(&R)};
    test_dense copy = A;
    const int size = tal_lapack_eig_work_size(n);
    ck_assert_int_le(size, WORK);
    ck_assert_int_eq(tal_lapack_eig(test_view(&copy), &both, work, size, NULL), TAL_OK);
    for (int j = 0; j < n; ++j) {
        trace += test_at(&A, j, j);
        sum += wr[j];
        if (wi[j] < 0.0) continue; // the conjugate has been checked
        const double *r = R.data + j * n;
        const double *l = L.data + j * n;
        assert_eigenpair(&A, wr[j], wi[j], r, wi[j] > 0.0 ? r + n : zeros);
        assert_eigenpair(&At, wr[j], -wi[j], l, wi[j] > 0.0 ? l + n : zeros);
    }
    ck_assert_double_eq_tol(sum, trace, backward(n, n) * test_size(&A));

    double vr[TEST_MAX];
    double vi[TEST_MAX];
    const tal_eig values = {vr, vi, none, none};
    copy = A;
    ck_assert_int_eq(tal_lapack_eig(test_view(&copy), &values, work, size, NULL), TAL_OK);
    double other = 0.0;
    for (int j = 0; j < n; ++j) {
        other += vr[j];
    }
    ck_assert_double_eq_tol(other, trace, backward(n, n) * test_size(&A));
}

START_TEST(a_rotation_has_eigenvalues_on_the_unit_circle)
{
    double A[4] = {0.6, 0.8, -0.8, 0.6};
    double wr[2];
    double wi[2];
    const tal_eig eig = {wr, wi, none, none};
    ck_assert_int_eq(tal_lapack_eig(tal_matrix_view(A, 2, 2), &eig, work, WORK, NULL), TAL_OK);
    for (int j = 0; j < 2; ++j) {
        ck_assert_double_eq_tol(wr[j], 0.6, 8 * DBL_EPSILON);
        ck_assert_double_eq_tol(wi[j], j == 0 ? 0.8 : -0.8, 8 * DBL_EPSILON);
    }
}

START_TEST(empty_problems_are_solved)
{
    double b[2] = {3, 4};
    double w[1];
    const tal_eig eig = {NULL, NULL, none, none};
    ck_assert_int_eq(tal_lapack_least_squares(tal_matrix_view(NULL, 2, 0), tal_matrix_view(b, 2, 1),
                                              work, WORK, NULL),
                     TAL_OK);
    ck_assert_double_eq(b[0], 3.0); // all residual
    ck_assert_int_eq(tal_lapack_least_squares(tal_matrix_view(NULL, 0, 2), tal_matrix_view(b, 2, 1),
                                              work, WORK, NULL),
                     TAL_OK);
    ck_assert_double_eq(b[0] + b[1], 0.0);
    test_dense U = {{0.0}, 3, 3};
    ck_assert_int_eq(tal_lapack_svd(tal_matrix_view(NULL, 3, 0), NULL, test_view(&U), none, work,
                                    WORK, NULL, NULL),
                     TAL_OK);
    ck_assert_double_eq(orthogonality(&U), 0.0);
    ck_assert_int_eq(tal_lapack_eig_sym(none, NULL, true, work, WORK, NULL), TAL_OK);
    ck_assert_int_eq(tal_lapack_eig_sym_pair(none, none, w, true, work, WORK, NULL), TAL_OK);
    ck_assert_int_eq(tal_lapack_eig(none, &eig, work, WORK, NULL), TAL_OK);
}

START_TEST(rank_deficiency_and_indefinite_masses_are_reported)
{
    tal_error err = {TAL_OK, "", ""};
    double A[6] = {0, 0, 0, 1, 2, 3}; // a zero column
    double b[3] = {1, 1, 1};
    ck_assert_int_eq(tal_lapack_least_squares(tal_matrix_view(A, 3, 2), tal_matrix_view(b, 3, 1),
                                              work, WORK, &err),
                     TAL_ERR_SINGULAR);
    ck_assert_ptr_nonnull(strstr(err.message, "element 0"));
    double zero[2] = {0.0, 0.0};
    double c[2] = {1, 1};
    ck_assert_int_eq(tal_lapack_least_squares(tal_matrix_view(zero, 2, 1), tal_matrix_view(c, 2, 1),
                                              work, WORK, NULL),
                     TAL_ERR_SINGULAR);
    ck_assert_double_eq(c[0], 1.0);

    double K[4] = {1, 0, 0, 1};
    double M[4] = {1, 0, 0, -1};
    double w[2];
    tal_error mass = {TAL_OK, "", ""};
    ck_assert_int_eq(tal_lapack_eig_sym_pair(tal_matrix_view(K, 2, 2), tal_matrix_view(M, 2, 2), w,
                                             false, work, WORK, &mass),
                     TAL_ERR_SINGULAR);
    ck_assert_ptr_nonnull(strstr(mass.message, "order 2"));
}

START_TEST(what_is_not_finite_is_rejected)
{
    double A[4] = {1, TEST_NAN, 0, 1};
    double I[4] = {1, 0, 0, 1};
    double w[2];
    double wi[2];
    const tal_matrix bad = tal_matrix_view(A, 2, 2);
    const tal_matrix good = tal_matrix_view(I, 2, 2);
    const tal_eig eig = {w, wi, none, none};
    ck_assert_int_eq(tal_lapack_least_squares(bad, good, work, WORK, NULL), TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_lapack_least_squares(good, bad, work, WORK, NULL), TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_lapack_svd(bad, w, none, none, work, WORK, iwork, NULL),
                     TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_lapack_eig_sym(bad, w, true, work, WORK, NULL), TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_lapack_eig_sym_pair(bad, good, w, true, work, WORK, NULL),
                     TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_lapack_eig_sym_pair(good, bad, w, true, work, WORK, NULL),
                     TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_lapack_eig(bad, &eig, work, WORK, NULL), TAL_ERR_NOT_FINITE);
    ck_assert_double_eq(I[0], 1.0);
}

START_TEST(a_short_workspace_is_reported_before_anything_happens)
{
    double I[4] = {1, 0, 0, 1};
    double w[2];
    double wi[2];
    const tal_matrix A = tal_matrix_view(I, 2, 2);
    const tal_eig eig = {w, wi, none, none};
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tal_lapack_least_squares(A, A, work, 0, &err), TAL_ERR_CAPACITY);
    ck_assert_ptr_nonnull(strstr(err.message, "work holds 0 doubles"));
    ck_assert_int_eq(tal_lapack_svd(A, w, none, none, work, 1, iwork, NULL), TAL_ERR_CAPACITY);
    ck_assert_int_eq(tal_lapack_eig_sym(A, w, true, work, 1, NULL), TAL_ERR_CAPACITY);
    ck_assert_int_eq(tal_lapack_eig_sym_pair(A, A, w, true, work, 1, NULL), TAL_ERR_CAPACITY);
    ck_assert_int_eq(tal_lapack_eig(A, &eig, work, -5, NULL), TAL_ERR_CAPACITY);
    ck_assert_double_eq(I[0], 1.0);
}

START_TEST(broken_contracts_are_reported)
{
    double I[4] = {1, 0, 0, 1};
    double w[2];
    const tal_matrix A = tal_matrix_view(I, 2, 2);
    const tal_matrix wide = tal_matrix_view(I, 1, 2);
    const tal_matrix narrow = {I, 2, 2, 1};
    const tal_eig eig = {w, w, none, none};
    tal_status st = TAL_OK;
    int size = 0;
    test_assert_breach(size = tal_lapack_least_squares_work_size(2, -1, 1), TAL_ERR_BAD_VALUE,
                       "negative");
    ck_assert_int_eq(size, -1);
    test_assert_breach(size = tal_lapack_svd_work_size(INT_MAX, INT_MAX), TAL_ERR_BAD_VALUE,
                       "32-bit");
    ck_assert_int_eq(size, -1);
    test_assert_breach(size = tal_lapack_svd_iwork_size(-1, 1), TAL_ERR_BAD_VALUE, "negative");
    test_assert_breach(size = tal_lapack_eig_sym_work_size(20000), TAL_ERR_BAD_VALUE, "32-bit");
    test_assert_breach(size = tal_lapack_eig_work_size(-1), TAL_ERR_BAD_VALUE, "negative");
    ck_assert_int_eq(size, -1);

    test_assert_breach(st = tal_lapack_least_squares(narrow, A, work, WORK, NULL),
                       TAL_ERR_BAD_VALUE, "leading");
    int places[16];
    test_assert_breach(st = tal_lapack_svd(A, w, narrow, A, work, WORK, places, NULL),
                       TAL_ERR_BAD_VALUE, "U");
    test_assert_breach(st = tal_lapack_svd(A, w, A, narrow, work, WORK, places, NULL),
                       TAL_ERR_BAD_VALUE, "Vt");
    test_assert_breach(st = tal_lapack_least_squares(A, wide, work, WORK, NULL), TAL_ERR_BAD_VALUE,
                       "must be 2 x 2");
    test_assert_breach(st = tal_lapack_least_squares(A, A, NULL, WORK, NULL), TAL_ERR_NULL, "work");
    test_assert_breach(st = tal_lapack_svd(A, NULL, none, none, work, WORK, iwork, NULL),
                       TAL_ERR_NULL, "s is NULL");
    test_assert_breach(st = tal_lapack_svd(A, w, none, none, work, WORK, NULL, NULL), TAL_ERR_NULL,
                       "iwork");
    test_assert_breach(st = tal_lapack_svd(A, w, A, none, work, WORK, iwork, NULL),
                       TAL_ERR_BAD_VALUE, "does not fit");
    test_assert_breach(st = tal_lapack_svd(A, w, wide, A, work, WORK, iwork, NULL),
                       TAL_ERR_BAD_VALUE, "does not fit");
    test_assert_breach(
        st = tal_lapack_svd(A, w, tal_matrix_view(I, 2, 1), A, work, WORK, iwork, NULL),
        TAL_ERR_BAD_VALUE, "does not fit");
    test_assert_breach(st = tal_lapack_svd(A, w, narrow, A, work, WORK, iwork, NULL),
                       TAL_ERR_BAD_VALUE, "matrix U");
    test_assert_breach(st = tal_lapack_eig_sym(wide, w, true, work, WORK, NULL), TAL_ERR_BAD_VALUE,
                       "square");
    test_assert_breach(st = tal_lapack_eig_sym(A, NULL, true, work, WORK, NULL), TAL_ERR_NULL,
                       "w is NULL");
    test_assert_breach(st = tal_lapack_eig_sym_pair(A, wide, w, true, work, WORK, NULL),
                       TAL_ERR_BAD_VALUE, "matrix M");
    test_assert_breach(st = tal_lapack_eig(A, NULL, work, WORK, NULL), TAL_ERR_NULL, "eig");
    test_assert_breach(st = tal_lapack_eig(wide, &eig, work, WORK, NULL), TAL_ERR_BAD_VALUE,
                       "square");
    const tal_eig odd = {w, w, wide, none};
    test_assert_breach(st = tal_lapack_eig(A, &odd, work, WORK, NULL), TAL_ERR_BAD_VALUE, "left");
    ck_assert_int_eq(st, TAL_ERR_BAD_VALUE);
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("common/lapack");
    TCase *tc = tcase_create("theory");
    tcase_add_loop_test(tc, least_squares_leaves_an_orthogonal_residual, 0, SHAPES);
    tcase_add_loop_test(tc, singular_triples_rebuild_the_matrix, 0, SHAPES);
    tcase_add_loop_test(tc, symmetric_eigenvectors_diagonalize, 1, 21);
    tcase_add_loop_test(tc, modes_of_a_pair_are_orthonormal_in_its_mass, 1, 21);
    tcase_add_loop_test(tc, left_and_right_eigenvectors_satisfy_their_equations, 1, 21);
    suite_add_tcase(suite, tc);

    tc = tcase_create("textbook");
    tcase_add_test(tc, two_masses_and_three_springs_have_the_textbook_modes);
    tcase_add_test(tc, a_rotation_has_eigenvalues_on_the_unit_circle);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, empty_problems_are_solved);
    tcase_add_test(tc, rank_deficiency_and_indefinite_masses_are_reported);
    tcase_add_test(tc, what_is_not_finite_is_rejected);
    tcase_add_test(tc, a_short_workspace_is_reported_before_anything_happens);
    tcase_add_test(tc, broken_contracts_are_reported);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
