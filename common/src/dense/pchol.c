// Pivoted Cholesky factorization of a positive semidefinite matrix, with basic and minimum-norm
// solutions.
#include "error_internal.h"

#include "dense/dense_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void swap(double *a, double *b)
{
    const double kept = *a;
    *a = *b;
    *b = kept;
}

// Exchange rows and columns k < p of a symmetric matrix of which only the lower triangle is stored.
//
//       k   p            row k left of k  <->  row p left of k
//     k *                column k between <->  row p between
//       . \              column k below p <->  column p below p
//     p x . *            (p, k) stays
static void swap_symmetric(tal_matrix A, int k, int p)
{
    for (int j = 0; j < k; ++j) {
        swap(&tali_dense_col(A, j)[k], &tali_dense_col(A, j)[p]);
    }
    swap(&tali_dense_col(A, k)[k], &tali_dense_col(A, p)[p]);
    for (int i = k + 1; i < p; ++i) {
        swap(&tali_dense_col(A, k)[i], &tali_dense_col(A, i)[p]);
    }
    for (int i = p + 1; i < A.rows; ++i) {
        swap(&tali_dense_col(A, k)[i], &tali_dense_col(A, p)[i]);
    }
}

static int largest_diagonal(tal_matrix A, int from)
{
    int best = from;
    for (int j = from + 1; j < A.cols; ++j) {
        if (tali_dense_col(A, j)[j] > tali_dense_col(A, best)[best]) best = j;
    }
    return best;
}

// Column k of L, and the Schur complement that remains: S -= l_k l_k^T.
static void eliminate(tal_matrix A, int k)
{
    double *L = tali_dense_col(A, k);
    L[k] = sqrt(L[k]);
    for (int i = k + 1; i < A.rows; ++i) {
        L[i] /= L[k];
    }
    for (int j = k + 1; j < A.cols; ++j) {
        tali_dense_axpy(A.rows - j, -L[j], L + j, tali_dense_col(A, j) + j);
    }
}

// Largest magnitude in the lower triangle from column `from` on.
static double largest_lower(tal_matrix A, int from)
{
    double largest = 0.0;
    for (int j = from; j < A.cols; ++j) {
        const double size = tali_array_largest(tali_dense_col(A, j) + j, A.rows - j);
        if (size > largest) largest = size;
    }
    return largest;
}

static tal_status check_arguments(const tal_pchol *f, tal_matrix A, double tolerance,
                                  const double work[], const int iwork[])
{
    static const char *const where = "tal_pchol_factor";
    const tal_status st = tali_dense_check_square(A, "A", where);
    if (st != TAL_OK) return st;
    if (f == NULL || (A.rows > 0 && (work == NULL || iwork == NULL))) {
        return tali_breach(TAL_ERR_NULL, where, "the factorization or its workspace is NULL");
    }
    if (isnan(tolerance)) {
        return tali_breach(TAL_ERR_BAD_VALUE, where, "the tolerance is NaN");
    }
    return TAL_OK;
}

size_t tal_pchol_work_size(int n)
{
    return n > 0 ? (size_t)n * (size_t)n + 2 * (size_t)n : 0;
}

size_t tal_pchol_iwork_size(int n)
{
    return n > 0 ? (size_t)n : 0;
}

tal_status tal_pchol_factor(tal_pchol *f, tal_matrix A, double tolerance, double work[],
                            int iwork[], tal_error *err)
{
    tal_status st = check_arguments(f, A, tolerance, work, iwork);
    if (st != TAL_OK) return st;
    st = tali_dense_check_finite_lower(A, "A", __func__, err);
    if (st != TAL_OK) return st;

    const int n = A.rows;
    *f = (tal_pchol){.L = A, .perm = iwork};
    if (n == 0) return TAL_OK;
    f->qr = work;
    f->tau = work + (size_t)n * (size_t)n;
    f->scratch = f->tau + n;
    for (int i = 0; i < n; ++i) {
        f->perm[i] = i;
    }

    const double size = largest_lower(A, 0);
    const int first = largest_diagonal(A, 0);
    const double smallest =
        tolerance >= 0.0 ? tolerance : n * DBL_EPSILON * tali_dense_col(A, first)[first];
    for (; f->rank < n; ++f->rank) {
        const int k = f->rank;
        const int p = largest_diagonal(A, k);
        const double pivot = tali_dense_col(A, p)[p];
        if (!(pivot > smallest && pivot > 0.0)) break;
        if (p != k) {
            swap_symmetric(A, k, p);
            const int kept = f->perm[k];
            f->perm[k] = f->perm[p];
            f->perm[p] = kept;
        }
        eliminate(A, k);
    }

    // what is left is given up: it must look like round-off of a semidefinite matrix
    f->residual = largest_lower(A, f->rank);
    const double limit = 2.0 * fmax(smallest, 0.0) + sqrt(DBL_EPSILON) * size;
    if (!(f->residual <= limit)) {
        return TALI_FAIL(
            err, TAL_ERR_BAD_VALUE,
            "after %d of %d pivots an entry of size %g remains, more than %g; the matrix is not positive semidefinite",
            f->rank, n, f->residual, limit);
    }
    for (int j = f->rank; j < n; ++j) {
        memset(tali_dense_col(A, j) + j, 0, (size_t)(n - j) * sizeof(double));
    }
    return TAL_OK;
}

// Whether the fields of a factorization fit together, as tal_pchol_factor() leaves them.
static tal_status check_factorization(const tal_pchol *f, const char *where)
{
    if (f == NULL) return tali_breach(TAL_ERR_NULL, where, "the factorization is NULL");
    const tal_status st = tali_dense_check_square(f->L, "L", where);
    if (st != TAL_OK) return st;
    const int n = f->L.rows;
    if (f->rank < 0 || f->rank > n) {
        return tali_breach(TAL_ERR_BAD_VALUE, where, "a matrix of %d rows cannot have rank %d", n,
                           f->rank);
    }
    if (n > 0 && (f->perm == NULL || f->qr == NULL || f->tau == NULL || f->scratch == NULL)) {
        return tali_breach(TAL_ERR_NULL, where, "an array of the factorization is NULL");
    }
    return TAL_OK;
}

static tal_status check_rhs(const tal_pchol *f, tal_matrix B, const char *where, tal_error *err)
{
    tal_status st = check_factorization(f, where);
    if (st == TAL_OK) st = tali_dense_check_shape(B, f->L.rows, B.cols, "B", where);
    return st != TAL_OK ? st : tali_dense_check_finite(B, "B", where, err);
}

// y = P^T x
static void permute(const tal_pchol *f, const double *x, double *y)
{
    for (int i = 0; i < f->L.rows; ++i) {
        y[i] = x[f->perm[i]];
    }
}

// x = P y
static void unpermute(const tal_pchol *f, const double *y, double *x)
{
    for (int i = 0; i < f->L.rows; ++i) {
        x[f->perm[i]] = y[i];
    }
}

tal_status tal_pchol_solve_basic(tal_pchol *f, tal_matrix B, tal_error *err)
{
    const tal_status st = check_rhs(f, B, __func__, err);
    if (st != TAL_OK || B.rows == 0) return st;

    double *y = f->scratch;
    for (int j = 0; j < B.cols; ++j) {
        permute(f, tali_dense_col(B, j), y);
        tali_dense_solve_lower(f->rank, f->L, y);
        tali_dense_solve_lower_transposed(f->rank, f->L, y);
        for (int i = f->rank; i < f->L.rows; ++i) {
            y[i] = 0.0;
        }
        unpermute(f, y, tali_dense_col(B, j));
    }
    return tali_dense_check_finite(B, "the solution", __func__, err);
}

// L = Q R by Householder reflectors; L has full column rank, so no pivoting is needed.
static void make_qr(tal_pchol *f)
{
    const int n = f->L.rows;
    const tal_matrix qr = {f->qr, n, f->rank, n};
    for (int j = 0; j < f->rank; ++j) {
        memset(tali_dense_col(qr, j), 0, (size_t)j * sizeof(double));
        memcpy(tali_dense_col(qr, j) + j, tali_dense_col(f->L, j) + j,
               (size_t)(n - j) * sizeof(double));
    }
    for (int k = 0; k < f->rank; ++k) {
        double *h = tali_dense_col(qr, k) + k;
        f->tau[k] = tali_dense_reflector(n - k, h);
        for (int j = k + 1; j < f->rank; ++j) {
            tali_dense_reflect(n - k, h, f->tau[k], tali_dense_col(qr, j) + k);
        }
    }
    f->has_qr = true;
}

tal_status tal_pchol_solve_min_norm(tal_pchol *f, tal_matrix B, tal_error *err)
{
    const tal_status st = check_rhs(f, B, __func__, err);
    if (st != TAL_OK || B.rows == 0) return st;
    if (f->rank == f->L.rows) return tal_pchol_solve_basic(f, B, err);

    if (!f->has_qr) make_qr(f);
    const int n = f->L.rows;
    const tal_matrix qr = {f->qr, n, f->rank, n};
    double *y = f->scratch;
    for (int j = 0; j < B.cols; ++j) {
        // x = P Q R^-T R^-1 Q^T P^T b
        permute(f, tali_dense_col(B, j), y);
        for (int k = 0; k < f->rank; ++k) {
            tali_dense_reflect(n - k, tali_dense_col(qr, k) + k, f->tau[k], y + k);
        }
        tali_dense_solve_upper(f->rank, qr, y);
        tali_dense_solve_upper_transposed(f->rank, qr, y);
        for (int i = f->rank; i < n; ++i) {
            y[i] = 0.0;
        }
        for (int k = f->rank - 1; k >= 0; --k) {
            tali_dense_reflect(n - k, tali_dense_col(qr, k) + k, f->tau[k], y + k);
        }
        unpermute(f, y, tali_dense_col(B, j));
    }
    return tali_dense_check_finite(B, "the solution", __func__, err);
}
