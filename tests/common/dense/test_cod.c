// common/src/dense/cod.c: complete orthogonal decomposition, and minimum-norm least squares with
// it.
#include "alloc_guard.h"
#include "dense/dense_internal.h"
#include "dense_test.h"
#include "talus_test.h"

// Memory for one decomposition.
typedef struct decomposed {
    tal_cod f;
    test_dense A;
    double work[6 * TEST_MAX];
    int iwork[TEST_MAX];
} decomposed;

static tal_status decompose(decomposed *d, const test_dense *A, double rcond)
{
    d->A = *A;
    return tal_cod_factor(&d->f, test_view(&d->A), rcond, d->work, d->iwork, NULL);
}

static test_dense solve(decomposed *d, const test_dense *B)
{
    test_dense rhs = *B;
    test_dense X = {{0.0}, d->A.cols, B->cols};
    ck_assert_int_eq(tal_cod_solve(&d->f, test_view(&rhs), test_view(&X), NULL), TAL_OK);
    ck_assert_mem_eq(rhs.data, B->data, sizeof rhs.data); // B is only read
    return X;
}

// Singular values by LAPACK, largest first.
static void singular_values(const test_dense *A, double *s)
{
    static double work[200 * TEST_MAX + 8 * TEST_MAX2];
    static int iwork[8 * TEST_MAX];
    test_dense copy = *A;
    const tal_matrix none = tal_matrix_view(NULL, 0, 0);
    ck_assert_int_le(tal_lapack_svd_work_size(A->rows, A->cols), (int)(sizeof work / sizeof *work));
    ck_assert_int_eq(tal_lapack_svd(test_view(&copy), s, none, none, work,
                                    (int)(sizeof work / sizeof *work), iwork, NULL),
                     TAL_OK);
}

// X = A^+ by LAPACK: V diag(1/s) U^T over the first `rank` singular triples.
static test_dense svd_pseudoinverse(const test_dense *A, int rank)
{
    static double work[200 * TEST_MAX + 8 * TEST_MAX2];
    static int iwork[8 * TEST_MAX];
    const int k = tali_dense_min(A->rows, A->cols);
    test_dense copy = *A;
    test_dense U = {{0.0}, A->rows, k};
    test_dense Vt = {{0.0}, k, A->cols};
    double s[TEST_MAX];
    ck_assert_int_eq(tal_lapack_svd(test_view(&copy), s, test_view(&U), test_view(&Vt), work,
                                    (int)(sizeof work / sizeof *work), iwork, NULL),
                     TAL_OK);
    test_dense X = {{0.0}, A->cols, A->rows};
    for (int i = 0; i < X.rows; ++i) {
        for (int j = 0; j < X.cols; ++j) {
            for (int l = 0; l < rank; ++l) {
                X.data[i + j * X.rows] += test_at(&Vt, l, i) / s[l] * test_at(&U, j, l);
            }
        }
    }
    return X;
}

// Shapes: square, tall, wide; ranks from 0 to full.
static const struct {
    int m, n, rank;
} shapes[] = {{1, 1, 1},   {1, 1, 0},   {5, 5, 5},    {5, 5, 3},    {12, 7, 7}, {12, 7, 4},
              {7, 12, 7},  {7, 12, 2},  {1, 9, 1},    {9, 1, 1},    {9, 1, 0},  {1, 9, 0},
              {30, 30, 1}, {30, 20, 9}, {20, 30, 19}, {30, 30, 29}, {6, 6, 0}};

enum {
    SHAPES = sizeof shapes / sizeof shapes[0]
};

// Householder QR and RZ each commit an error of at most about m n eps |A| (gamma_{mn}); 4 m n eps
// covers both and the products formed here.
static double backward(int m, int n)
{
    return 4.0 * m * n * DBL_EPSILON;
}

START_TEST(the_rank_of_a_product_is_found_and_bases_are_orthonormal)
{
    const int m = shapes[_i].m, n = shapes[_i].n, rank = shapes[_i].rank;
    tal_random rng = {(uint64_t)_i, 0, 0};
    const test_dense A = test_random_rank(&rng, m, n, rank);
    decomposed d;
    ck_assert_int_eq(decompose(&d, &A, -1.0), TAL_OK);
    ck_assert_int_eq(d.f.rank, rank);
    ck_assert_int_eq(d.f.exponent, 0);

    test_dense N = {{0.0}, n, n - rank};
    test_dense Q = {{0.0}, m, rank};
    ck_assert_int_eq(tal_cod_calc_null_basis(&d.f, test_view(&N)), TAL_OK);
    ck_assert_int_eq(tal_cod_calc_range_basis(&d.f, test_view(&Q)), TAL_OK);
    for (size_t i = (size_t)(m * rank); i < sizeof Q.data / sizeof Q.data[0]; ++i) {
        ck_assert(Q.data[i] == 0.0); // nothing is written behind the last column
    }
    for (size_t i = (size_t)(n * (n - rank)); i < sizeof N.data / sizeof N.data[0]; ++i) {
        ck_assert(N.data[i] == 0.0);
    }
    const test_dense Nt = test_transpose(&N);
    const test_dense Qt = test_transpose(&Q);
    const test_dense NtN = test_product(&Nt, &N);
    const test_dense QtQ = test_product(&Qt, &Q);
    const test_dense In = test_identity(n - rank);
    const test_dense Ir = test_identity(rank);
    const test_dense AN = test_product(&A, &N);
    const test_dense QtA = test_product(&Qt, &A);
    const test_dense QQtA = test_product(&Q, &QtA);
    ck_assert_double_le(test_distance(&NtN, &In), backward(n, n));
    ck_assert_double_le(test_distance(&QtQ, &Ir), backward(m, m));
    ck_assert_double_le(test_size(&AN), backward(m, n) * test_size(&A));           // A N = 0
    ck_assert_double_le(test_distance(&QQtA, &A), backward(m, n) * test_size(&A)); // Q spans A
}

// The four conditions of Penrose, which A^+ alone satisfies, to backward error times condition.
START_TEST(solving_for_the_identity_gives_the_pseudoinverse)
{
    const int m = shapes[_i].m, n = shapes[_i].n, rank = shapes[_i].rank;
    tal_random rng = {100 + (uint64_t)_i, 0, 0};
    const test_dense A = test_random_rank(&rng, m, n, rank);
    const test_dense Im = test_identity(m);
    decomposed d;
    ck_assert_int_eq(decompose(&d, &A, -1.0), TAL_OK);
    const test_dense X = solve(&d, &Im);

    const test_dense AX = test_product(&A, &X);
    const test_dense XA = test_product(&X, &A);
    const test_dense AXA = test_product(&AX, &A);
    const test_dense XAX = test_product(&XA, &X);
    const test_dense AXt = test_transpose(&AX);
    const test_dense XAt = test_transpose(&XA);
    const double tol = backward(m, n) * test_size(&A) * test_size(&X);
    ck_assert_double_le(test_distance(&AXA, &A), tol * test_size(&A));
    ck_assert_double_le(test_distance(&XAX, &X), tol * test_size(&X));
    ck_assert_double_le(test_distance(&AX, &AXt), tol);
    ck_assert_double_le(test_distance(&XA, &XAt), tol);
}

// x = A^+ b is orthogonal to the null space; its residual is orthogonal to the range.
START_TEST(the_solution_is_shortest_and_the_residual_is_orthogonal)
{
    const int m = shapes[_i].m, n = shapes[_i].n, rank = shapes[_i].rank;
    tal_random rng = {200 + (uint64_t)_i, 0, 0};
    const test_dense A = test_random_rank(&rng, m, n, rank);
    const test_dense B = test_random_dense(&rng, m, 3);
    decomposed d;
    ck_assert_int_eq(decompose(&d, &A, -1.0), TAL_OK);
    const test_dense X = solve(&d, &B);

    test_dense N = {{0.0}, n, n - rank};
    ck_assert_int_eq(tal_cod_calc_null_basis(&d.f, test_view(&N)), TAL_OK);
    const test_dense Nt = test_transpose(&N);
    const test_dense NtX = test_product(&Nt, &X);
    ck_assert_double_le(test_size(&NtX), backward(n, n) * test_size(&X));

    test_dense R = test_product(&A, &X);
    for (int i = 0; i < m * 3; ++i) {
        R.data[i] -= B.data[i];
    }
    const test_dense At = test_transpose(&A);
    const test_dense AtR = test_product(&At, &R);
    const double size = test_size(&A);
    ck_assert_double_le(test_size(&AtR),
                        backward(m, n) * size * (size * test_size(&X) + test_size(&B)));
}

// Two backward stable ways to the same solution: each is exact for a matrix of the same rank within
// backward(m, n) |A| of A, and then |dx| <= eps' (2 cond |x| + cond^2 |r| / |A|) to first order
// (Golub and Van Loan, sec. 5.3), with cond = s_1 / s_r.
START_TEST(the_solution_agrees_with_the_singular_value_decomposition)
{
    const int m = shapes[_i].m, n = shapes[_i].n, rank = shapes[_i].rank;
    tal_random rng = {300 + (uint64_t)_i, 0, 0};
    const test_dense A = test_random_rank(&rng, m, n, rank);
    const test_dense B = test_random_dense(&rng, m, 2);
    decomposed d;
    ck_assert_int_eq(decompose(&d, &A, -1.0), TAL_OK);
    const test_dense X = solve(&d, &B);
    const test_dense P = svd_pseudoinverse(&A, rank);
    const test_dense Y = test_product(&P, &B);
    double s[TEST_MAX] = {0.0};
    singular_values(&A, s);
    const double cond = rank > 0 ? s[0] / s[rank - 1] : 1.0;
    const double residual = rank > 0 ? test_size(&B) / s[0] : 0.0;
    ck_assert_double_le(test_distance(&X, &Y),
                        2 * backward(m, n) * (2 * cond * test_size(&X) + cond * cond * residual));
    // 1-norm and 2-norm condition numbers of the r x r triangle differ by a factor r at most; the
    // estimate is trusted within a factor 3
    ck_assert_double_le(d.f.rcond, 3.0 * tali_dense_max(1, rank) / cond * (1 + 1e-6));
    ck_assert_double_ge(d.f.rcond, (1 - 1e-6) / (cond * tali_dense_max(1, rank)));
}

// Scaling A by 2^e and B by 2^g scales the solution by 2^(g-e), exactly, far outside the range
// whose squares fit a double.
START_TEST(extreme_scales_change_nothing_but_the_exponent)
{
    static const int exponents[] = {-1000, -498, -300, 300, 498, 1000};
    tal_random rng = {4, 0, 0};
    const test_dense A = test_random_rank(&rng, 8, 6, 4);
    const test_dense B = test_random_dense(&rng, 8, 1);
    decomposed d;
    ck_assert_int_eq(decompose(&d, &A, -1.0), TAL_OK);
    const test_dense X = solve(&d, &B);
    for (size_t k = 0; k < sizeof exponents / sizeof exponents[0]; ++k) {
        const int e = exponents[k];
        test_dense As = A;
        test_dense Bs = B;
        for (int i = 0; i < 48; ++i) {
            As.data[i] = ldexp(A.data[i], e);
        }
        for (int i = 0; i < 8; ++i) {
            Bs.data[i] = ldexp(B.data[i], e / 2);
        }
        ck_assert_int_eq(decompose(&d, &As, -1.0), TAL_OK);
        ck_assert_int_eq(d.f.rank, 4);
        const test_dense Xs = solve(&d, &Bs);
        for (int i = 0; i < 6; ++i) {
            ck_assert_double_eq(Xs.data[i], ldexp(X.data[i], e / 2 - e));
        }
    }
}

// A column is never lost because its squares underflow.
START_TEST(graded_columns_are_all_seen_when_no_tolerance_hides_them)
{
    enum {
        N = 5
    };

    static const double grade[N] = {1e150, 1e70, 1.0, 1e-70, 1e-138};
    tal_random rng = {8, 0, 0};
    test_dense A = test_random_dense(&rng, N, N);
    for (int j = 0; j < N; ++j) {
        for (int i = 0; i < N; ++i) {
            A.data[i + j * N] *= grade[j];
        }
    }
    decomposed d;
    ck_assert_int_eq(decompose(&d, &A, 0.0), TAL_OK);
    ck_assert_int_eq(d.f.rank, N);
    for (int j = 0; j < N; ++j) {
        ck_assert_int_eq(d.f.perm[j], j);
    }
    // scaling columns does not change the backward error of QR column by column, so unknowns
    // times their grade come out to n eps times the condition of the ungraded matrix, some 10 here
    test_dense b = {{0.0}, N, 1};
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) {
            b.data[i] += test_at(&A, i, j) / grade[j];
        }
    }
    const test_dense x = solve(&d, &b);
    for (int j = 0; j < N; ++j) {
        ck_assert_double_eq_tol(x.data[j] * grade[j], 1.0, 10.0 * N * DBL_EPSILON);
    }
    ck_assert_int_eq(decompose(&d, &A, -1.0), TAL_OK);
    ck_assert_int_eq(d.f.rank, 1);
    // a cancelling column below the vanishing threshold counts as zero
    const test_dense tiny = {{1.0, 0.0, 0.0, 1e-300}, 2, 2};
    ck_assert_int_eq(decompose(&d, &tiny, 0.0), TAL_OK);
    ck_assert_int_eq(d.f.rank, 1);
}

// Kahan's matrix S (I - c N), S = diag(1, s, s^2, ...), c^2 + s^2 = 1: pivoting keeps the order of
// its columns, the last diagonal element looks harmless, the smallest singular value is far below.
// The decomposition must show that.
START_TEST(kahans_matrix_is_betrayed_by_the_condition_estimate)
{
    enum {
        N = 40
    };

    const double c = 0.285;
    const double s = sqrt(1.0 - c * c);
    test_dense A = {{0.0}, N, N};
    for (int j = 0; j < N; ++j) {
        for (int i = 0; i <= j; ++i) {
            A.data[i + j * N] = pow(s, i) * (i == j ? 1.0 + 1e-13 * (N - j) : -c);
        }
    }
    double sigma[N];
    singular_values(&A, sigma);
    decomposed d;
    ck_assert_int_eq(decompose(&d, &A, -1.0), TAL_OK);
    ck_assert_int_eq(d.f.rank, N);
    const double true_rcond = sigma[N - 1] / sigma[0];
    const double last = fabs(test_at(&d.A, N - 1, N - 1)) / fabs(d.A.data[0]);
    ck_assert_double_le(true_rcond, 1e-3 * last); // the property that the matrix is known for
    // norms differ by a factor N at most, the estimate by 3
    ck_assert_double_le(d.f.rcond, 3.0 * N * true_rcond);
    ck_assert_double_ge(d.f.rcond, true_rcond / N);
}

// x = 2^e (3, 4) has length 2^e 5, exactly, as long as that is a double.
START_TEST(lengths_neither_overflow_nor_underflow)
{
    for (int e = -1074; e <= 1021; e += 5) {
        const double x[2] = {ldexp(3.0, e), ldexp(-4.0, e)};
        ck_assert_double_eq(tali_dense_norm2(2, x), ldexp(5.0, e));
    }
    const double zeros[2] = {0.0, -0.0};
    ck_assert_double_eq(tali_dense_norm2(2, zeros), 0.0);
    ck_assert_double_eq(tali_dense_norm2(0, NULL), 0.0);
}

// Replacements of the solver for the norm estimator: "A^-1 x" is B x.
static void apply(int n, tal_matrix B, bool transposed, double *x)
{
    double y[TEST_MAX] = {0.0};
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            y[transposed ? j : i] += tali_dense_col(B, j)[i] * x[transposed ? i : j];
        }
    }
    memcpy(x, y, (size_t)n * sizeof *x);
}

static void overflow(int n, tal_matrix B, bool transposed, double *x)
{
    (void)B;
    (void)transposed;
    x[n - 1] = TEST_NAN;
}

START_TEST(the_norm_estimator_finds_its_way)
{
    double x[TEST_MAX];
    // column 1 is found only by following the signs: |B| = 11
    double signs[4] = {1, 1, 5, -6};
    ck_assert_double_eq(
        tali_dense_estimate_inverse_norm1(2, tal_matrix_view(signs, 2, 2), apply, x), 11.0);
    // from the center all three columns look alike, |B x| = 1, and column 0 leads nowhere; the
    // alternating vector (1, -3/2, 2) goes to (-11/2, -14, 10): the estimate is (59/2) 2/9, |B| = 9
    double blind[9] = {0, 0, 1, 1, 4, -2, -2, -4, 3};
    ck_assert_double_eq_tol(
        tali_dense_estimate_inverse_norm1(3, tal_matrix_view(blind, 3, 3), apply, x), 59.0 / 9.0,
        1e-14);
    ck_assert_double_infinite(
        tali_dense_estimate_inverse_norm1(2, tal_matrix_view(signs, 2, 2), overflow, x));
}

// Triangles whose columns are already in pivot order are their own T.
START_TEST(the_condition_of_a_triangle_is_that_of_its_inverse)
{
    decomposed d;
    const test_dense diagonal = {{4, 0, 0, 0, 2, 0, 0, 0, 1}, 3, 3};
    ck_assert_int_eq(decompose(&d, &diagonal, -1.0), TAL_OK);
    ck_assert_double_eq(d.f.rcond, 0.25);
    // |T| = 9 in column 2, |T^-1| = 463/720 in column 3, by hand
    const test_dense T = {{-8, 0, 0, 0, 1, 6, 0, 0, 3, -1, 5, 0, 0, -3, 2, -3}, 4, 4};
    ck_assert_int_eq(decompose(&d, &T, -1.0), TAL_OK);
    ck_assert_mem_eq(d.A.data, T.data, sizeof T.data);
    ck_assert_double_eq_tol(d.f.rcond, 80.0 / 463.0, 16 * DBL_EPSILON);
}

START_TEST(duplicate_rows_share_the_load_equally)
{
    // x1 + x2 = 2 said three times: x = (1, 1); and said with 2, 5: their mean
    const test_dense A = {{1, 1, 1, 1, 1, 1}, 3, 2};
    const test_dense B = {{2, 2, 2, 2, 2, 5}, 3, 2};
    decomposed d;
    ck_assert_int_eq(decompose(&d, &A, -1.0), TAL_OK);
    ck_assert_int_eq(d.f.rank, 1);
    const test_dense X = solve(&d, &B);
    static const double expected[4] = {1.0, 1.0, 1.5, 1.5};
    for (int i = 0; i < 4; ++i) {
        ck_assert_double_eq_tol(X.data[i], expected[i], 4 * backward(3, 2));
    }
}

START_TEST(zero_and_empty_matrices_have_zero_solutions)
{
    decomposed d;
    const test_dense zero = {{0.0}, 3, 4};
    ck_assert_int_eq(decompose(&d, &zero, -1.0), TAL_OK);
    ck_assert_int_eq(d.f.rank, 0);
    ck_assert_double_eq(d.f.rcond, 1.0);
    const test_dense B = {{1, 2, 3}, 3, 1};
    const test_dense X = solve(&d, &B);
    ck_assert_double_eq(test_size(&X), 0.0);

    // no equations: the null space is everything
    tal_status st = tal_cod_factor(&d.f, tal_matrix_view(NULL, 0, 2), -1.0, d.work, d.iwork, NULL);
    ck_assert_int_eq(st, TAL_OK);
    double x[4] = {9, 9, 9, 9};
    ck_assert_int_eq(
        tal_cod_solve(&d.f, tal_matrix_view(NULL, 0, 2), tal_matrix_view(x, 2, 2), NULL), TAL_OK);
    ck_assert_double_eq(x[0] + x[1] + x[2] + x[3], 0.0);
    ck_assert_int_eq(tal_cod_calc_null_basis(&d.f, tal_matrix_view(x, 2, 2)), TAL_OK);
    ck_assert(x[0] == 1.0 && x[1] == 0.0 && x[2] == 0.0 && x[3] == 1.0);

    // no unknowns, and nothing at all
    st = tal_cod_factor(&d.f, tal_matrix_view(NULL, 2, 0), -1.0, d.work, NULL, NULL);
    ck_assert_int_eq(st, TAL_OK);
    ck_assert_int_eq(
        tal_cod_solve(&d.f, tal_matrix_view(x, 2, 1), tal_matrix_view(NULL, 0, 1), NULL), TAL_OK);
    st = tal_cod_factor(&d.f, tal_matrix_view(NULL, 0, 0), -1.0, NULL, NULL, NULL);
    ck_assert_int_eq(st, TAL_OK);
    ck_assert_int_eq(
        tal_cod_solve(&d.f, tal_matrix_view(NULL, 0, 2), tal_matrix_view(NULL, 0, 2), NULL),
        TAL_OK);
    ck_assert_uint_eq(tal_cod_work_size(-1, 3), 0);
    ck_assert_uint_eq(tal_cod_iwork_size(3, -1), 0);
}

START_TEST(padding_between_columns_is_neither_read_nor_written)
{
    tal_random rng = {21, 0, 0};
    const test_dense A = test_random_rank(&rng, 5, 4, 3);
    decomposed d;
    ck_assert_int_eq(decompose(&d, &A, -1.0), TAL_OK);
    double padded[4 * 7];
    for (int j = 0; j < 4; ++j) {
        for (int i = 0; i < 7; ++i) {
            padded[i + 7 * j] = i < 5 ? test_at(&A, i, j) : TEST_NAN;
        }
    }
    const tal_matrix view = {padded, 5, 4, 7};
    decomposed e;
    ck_assert_int_eq(tal_cod_factor(&e.f, view, -1.0, e.work, e.iwork, NULL), TAL_OK);
    for (int j = 0; j < 4; ++j) {
        for (int i = 0; i < 7; ++i) {
            if (i < 5) {
                ck_assert_double_eq(padded[i + 7 * j], test_at(&d.A, i, j));
            } else {
                ck_assert_double_nan(padded[i + 7 * j]);
            }
        }
    }
}

START_TEST(the_solution_may_replace_the_right_hand_side)
{
    tal_random rng = {22, 0, 0};
    for (int wide = 0; wide < 2; ++wide) {
        const int m = wide ? 4 : 7;
        const int n = wide ? 7 : 4;
        const test_dense A = test_random_dense(&rng, m, n);
        const test_dense B = test_random_dense(&rng, m, 3);
        decomposed d;
        ck_assert_int_eq(decompose(&d, &A, -1.0), TAL_OK);
        const test_dense X = solve(&d, &B);
        double shared[7 * 3];
        for (int j = 0; j < 3; ++j) {
            memcpy(shared + 7 * j, B.data + m * j, (size_t)m * sizeof(double));
        }
        const tal_matrix in = {shared, m, 3, 7};
        const tal_matrix out = {shared, n, 3, 7};
        ck_assert_int_eq(tal_cod_solve(&d.f, in, out, NULL), TAL_OK);
        for (int j = 0; j < 3; ++j) {
            ck_assert_mem_eq(shared + 7 * j, X.data + n * j, (size_t)n * sizeof(double));
        }
    }
}

static void run(decomposed *d, const test_dense *A, test_dense *B, test_dense *X, tal_status st[2])
{
    st[0] = decompose(d, A, -1.0);
    st[1] = tal_cod_solve(&d->f, test_view(B), test_view(X), NULL);
}

START_TEST(the_same_input_gives_the_same_bytes_without_the_heap)
{
    tal_random rng = {23, 0, 0};
    const test_dense A = test_random_rank(&rng, 20, 15, 11);
    test_dense B = test_random_dense(&rng, 20, 2);
    test_dense X = {{0.0}, 15, 2};
    test_dense Y = {{0.0}, 15, 2};
    decomposed d;
    decomposed e;
    tal_status st[2];
    test_assert_no_heap(run(&d, &A, &B, &X, st));
    ck_assert_int_eq(st[0], TAL_OK);
    ck_assert_int_eq(st[1], TAL_OK);
    run(&e, &A, &B, &Y, st);
    ck_assert_mem_eq(X.data, Y.data, sizeof X.data);
    ck_assert_mem_eq(d.A.data, e.A.data, sizeof d.A.data);
    ck_assert_double_eq(d.f.rcond, e.f.rcond);
}

START_TEST(what_is_not_finite_is_rejected_untouched)
{
    decomposed d;
    const test_dense bad = {{1, 2, 3, TEST_NAN}, 2, 2};
    ck_assert_int_eq(decompose(&d, &bad, -1.0), TAL_ERR_NOT_FINITE);
    ck_assert_double_eq(d.A.data[0], 1.0);
    const test_dense good = {{1, 0, 0, 1e-300}, 2, 2};
    ck_assert_int_eq(decompose(&d, &good, -1.0), TAL_OK);
    double b[2] = {1.0, -TEST_INFINITY};
    double x[2] = {7.0, 7.0};
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tal_cod_solve(&d.f, tal_matrix_view(b, 2, 1), tal_matrix_view(x, 2, 1), &err),
                     TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(err.message, "element (1, 0) of B is -inf"));
    ck_assert_double_eq(x[0], 7.0);
    const test_dense small = {{1e-200}, 1, 1};
    ck_assert_int_eq(decompose(&d, &small, -1.0), TAL_OK);
    b[0] = 1e200; // the solution 1e400 has no double
    ck_assert_int_eq(tal_cod_solve(&d.f, tal_matrix_view(b, 1, 1), tal_matrix_view(x, 1, 1), NULL),
                     TAL_ERR_NOT_FINITE);
}

START_TEST(broken_contracts_are_reported)
{
    decomposed d;
    d.A = (test_dense){{1, 2, 3, 4, 5, 6}, 3, 2};
    const tal_matrix A = test_view(&d.A);
    const tal_matrix narrow = {d.A.data, 3, 2, 2};
    tal_status st = TAL_OK;
    test_assert_breach(st = tal_cod_factor(&d.f, narrow, -1.0, d.work, d.iwork, NULL),
                       TAL_ERR_BAD_VALUE, "leading");
    test_assert_breach(st = tal_cod_factor(NULL, A, -1.0, d.work, d.iwork, NULL), TAL_ERR_NULL,
                       "NULL");
    test_assert_breach(st = tal_cod_factor(&d.f, A, -1.0, NULL, d.iwork, NULL), TAL_ERR_NULL,
                       "workspace");
    test_assert_breach(st = tal_cod_factor(&d.f, A, -1.0, d.work, NULL, NULL), TAL_ERR_NULL,
                       "workspace");
    test_assert_breach(st = tal_cod_factor(&d.f, A, 1.0, d.work, d.iwork, NULL), TAL_ERR_BAD_VALUE,
                       "rcond is 1");
    test_assert_breach(st = tal_cod_factor(&d.f, A, TEST_NAN, d.work, d.iwork, NULL),
                       TAL_ERR_BAD_VALUE, "rcond is");
    ck_assert_int_eq(tal_cod_factor(&d.f, A, -1.0, d.work, d.iwork, NULL), TAL_OK);
    double b[6] = {0.0};
    const tal_matrix B = tal_matrix_view(b, 3, 2);
    const tal_matrix X = tal_matrix_view(b, 2, 2);
    test_assert_breach(st = tal_cod_solve(NULL, B, X, NULL), TAL_ERR_NULL, "NULL");
    test_assert_breach(st = tal_cod_solve(&d.f, X, X, NULL), TAL_ERR_BAD_VALUE, "matrix B");
    test_assert_breach(st = tal_cod_solve(&d.f, B, B, NULL), TAL_ERR_BAD_VALUE, "matrix X");
    test_assert_breach(st = tal_cod_calc_null_basis(NULL, X), TAL_ERR_NULL, "NULL");
    test_assert_breach(st = tal_cod_calc_null_basis(&d.f, X), TAL_ERR_BAD_VALUE, "must be 2 x 0");
    test_assert_breach(st = tal_cod_calc_range_basis(NULL, X), TAL_ERR_NULL, "NULL");
    for (int i = 0; i < 6; ++i) { // fields that a caller has changed
        tal_cod f = d.f;
        if (i == 0) f.A.cols = -2;
        if (i == 1) f.A.cols = 1;
        if (i == 2) f.A.ld = -1;
        if (i == 3) f.rank = 3;
        if (i == 4) f.rank = -1;
        if (i == 5) f.tau_q = NULL;
        const tal_status wanted = i < 5 ? TAL_ERR_BAD_VALUE : TAL_ERR_NULL;
        const tal_matrix Q = tal_matrix_view(b, 3, f.rank);
        test_assert_refused(tal_cod_calc_range_basis(&f, Q), wanted, "");
        test_assert_refused(tal_cod_calc_null_basis(&f, X), wanted, "");
        test_assert_refused(tal_cod_solve(&f, B, X, NULL), wanted, "");
    }
    test_assert_breach(st = tal_cod_calc_range_basis(&d.f, X), TAL_ERR_BAD_VALUE, "must be 3 x 2");
    ck_assert_int_eq(st, TAL_ERR_BAD_VALUE);
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("common/cod");
    TCase *tc = tcase_create("theory");
    tcase_add_loop_test(tc, the_rank_of_a_product_is_found_and_bases_are_orthonormal, 0, SHAPES);
    tcase_add_loop_test(tc, solving_for_the_identity_gives_the_pseudoinverse, 0, SHAPES);
    tcase_add_loop_test(tc, the_solution_is_shortest_and_the_residual_is_orthogonal, 0, SHAPES);
    tcase_add_loop_test(tc, the_solution_agrees_with_the_singular_value_decomposition, 0, SHAPES);
    tcase_add_test(tc, extreme_scales_change_nothing_but_the_exponent);
    tcase_add_test(tc, graded_columns_are_all_seen_when_no_tolerance_hides_them);
    tcase_add_test(tc, kahans_matrix_is_betrayed_by_the_condition_estimate);
    tcase_add_test(tc, lengths_neither_overflow_nor_underflow);
    tcase_add_test(tc, the_norm_estimator_finds_its_way);
    tcase_add_test(tc, the_condition_of_a_triangle_is_that_of_its_inverse);
    tcase_add_test(tc, duplicate_rows_share_the_load_equally);
    tcase_add_test(tc, zero_and_empty_matrices_have_zero_solutions);
    tcase_add_test(tc, padding_between_columns_is_neither_read_nor_written);
    tcase_add_test(tc, the_solution_may_replace_the_right_hand_side);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, what_is_not_finite_is_rejected_untouched);
    tcase_add_test(tc, broken_contracts_are_reported);
    suite_add_tcase(suite, tc);

    tc = tcase_create("alloc");
    tcase_add_test(tc, the_same_input_gives_the_same_bytes_without_the_heap);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
