// Complete orthogonal decomposition of any m x n matrix, and minimum-norm least squares with it.
//
//     A P = Q [R11 R12]  = Q [T 0] Z        Q, Z orthogonal, P a permutation, T upper triangular
//             [ 0   ~0]      [0 0]          of order r = rank
//
//     A^+ = P Z^T [T^-1 0; 0 0] Q^T
//
// Storage: T in the upper triangle of the leading r x r block of A; reflector k of Q below the
// diagonal of column k; reflector k of Z in row k, columns r and up. Each reflector leaves out its
// leading 1.
#include "error_internal.h"

#include "dense/dense_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Matrices whose largest entry lies outside this range are scaled by a power of two first.
static const double UNSCALED_MAX = 0x1p400;
static const double UNSCALED_MIN = 0x1p-400;

// Columns shorter than this, relative to the longest, count as zero whatever rcond says: their
// reflectors would be built from subnormal numbers.
static const double VANISHING = 1e-290;

static double largest_entry(tal_matrix A)
{
    double largest = 0.0;
    for (int j = 0; j < A.cols; ++j) {
        const double size = tali_array_largest(tali_dense_col(A, j), A.rows);
        if (size > largest) largest = size;
    }
    return largest;
}

// The exponent e for which 2^-e `largest` is in [1/2, 1); 0 when there is no need to scale.
static int scaling_exponent(double largest)
{
    int exponent = 0;
    if (largest > UNSCALED_MAX || (largest > 0.0 && largest < UNSCALED_MIN)) {
        (void)frexp(largest, &exponent);
    }
    return exponent;
}

static void scale(int n, double *x, int exponent)
{
    if (exponent == 0) return;
    for (int i = 0; i < n; ++i) {
        x[i] = ldexp(x[i], exponent);
    }
}

static int longest(int n, const double *norms, int from)
{
    int best = from;
    for (int j = from + 1; j < n; ++j) {
        if (norms[j] > norms[best]) best = j;
    }
    return best;
}

static void swap_columns(tal_cod *f, int k, int p, double *partial, double *exact)
{
    if (k == p) return;
    double *a = tali_dense_col(f->A, k);
    double *b = tali_dense_col(f->A, p);
    for (int i = 0; i < f->A.rows; ++i) {
        const double kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
    const int kept = f->perm[k];
    f->perm[k] = f->perm[p];
    f->perm[p] = kept;
    partial[p] = partial[k]; // column k is done
    exact[p] = exact[k];
}

// Row k has left the columns; their length shrinks by |r_kj|, as Pythagoras says. When so much has
// been taken away since the last exact norm that half the digits are gone, take the norm again
// (Drmac and Bujanovic, ACM TOMS 35 (2008) 12, the test of LAPACK's DLAQP2).
static void downdate_norms(tal_matrix A, int k, double *partial, double *exact)
{
    for (int j = k + 1; j < A.cols; ++j) {
        if (partial[j] == 0.0) continue;
        const double ratio = fabs(tali_dense_col(A, j)[k]) / partial[j];
        const double left = fmax(0.0, 1.0 - ratio * ratio);
        const double since = partial[j] / exact[j];
        if (left * since * since <= sqrt(DBL_EPSILON)) {
            partial[j] = tali_dense_norm2(A.rows - k - 1, tali_dense_col(A, j) + k + 1);
            exact[j] = partial[j];
        } else {
            partial[j] *= sqrt(left);
        }
    }
}

// QR with column pivoting until no column longer than `rcond` times the longest is left.
static void pivoted_qr(tal_cod *f, double rcond, double *partial, double *exact)
{
    const tal_matrix A = f->A;
    const int steps = tali_dense_min(A.rows, A.cols);
    for (int j = 0; j < A.cols; ++j) {
        partial[j] = tali_dense_norm2(A.rows, tali_dense_col(A, j));
        exact[j] = partial[j];
    }
    const double length = partial[longest(A.cols, partial, 0)];
    const double threshold = fmax(rcond, VANISHING) * length;

    for (f->rank = 0; f->rank < steps; ++f->rank) {
        const int k = f->rank;
        const int p = longest(A.cols, partial, k);
        if (partial[p] <= threshold) break;
        swap_columns(f, k, p, partial, exact);
        double *h = tali_dense_col(A, k) + k;
        f->tau_q[k] = tali_dense_reflector(A.rows - k, h);
        for (int j = k + 1; j < A.cols; ++j) {
            tali_dense_reflect(A.rows - k, h, f->tau_q[k], tali_dense_col(A, j) + k);
        }
        downdate_norms(A, k, partial, exact);
    }
}

// Rows 0 .. k-1 of [R11 R12] times the reflector of row k, whose tail is v:
//
//     w = R(:,k) + R12 v,    R(:,k) -= tau w,    R12 -= tau w v^T
static void reflect_rows_above(tal_cod *f, int k, const double *v, double *w)
{
    const tal_matrix A = f->A;
    const double tau = f->tau_z[k];
    if (tau == 0.0 || k == 0) return;
    memcpy(w, tali_dense_col(A, k), (size_t)k * sizeof *w);
    for (int j = f->rank; j < A.cols; ++j) {
        tali_dense_axpy(k, v[j - f->rank], tali_dense_col(A, j), w);
    }
    tali_dense_axpy(k, -tau, w, tali_dense_col(A, k));
    for (int j = f->rank; j < A.cols; ++j) {
        tali_dense_axpy(k, -tau * v[j - f->rank], w, tali_dense_col(A, j));
    }
}

// [R11 R12] = [T 0] Z, from the last row up: the reflector of row k mixes column k with columns
// r and up, so the rows below, already [T 0] there, are not disturbed.
static void clear_right_block(tal_cod *f)
{
    const tal_matrix A = f->A;
    double *row = f->scratch;                      // 1 + n - r
    double *w = f->scratch + 1 + A.cols - f->rank; // r - 1 at most
    for (int k = f->rank - 1; k >= 0; --k) {
        row[0] = tali_dense_col(A, k)[k];
        for (int j = f->rank; j < A.cols; ++j) {
            row[1 + j - f->rank] = tali_dense_col(A, j)[k];
        }
        f->tau_z[k] = tali_dense_reflector(1 + A.cols - f->rank, row);
        tali_dense_col(A, k)[k] = row[0];
        for (int j = f->rank; j < A.cols; ++j) {
            tali_dense_col(A, j)[k] = row[1 + j - f->rank];
        }
        reflect_rows_above(f, k, row + 1, w);
    }
}

static void solve_T(int n, tal_matrix A, bool transposed, double *x)
{
    if (transposed) {
        tali_dense_solve_upper_transposed(n, A, x);
    } else {
        tali_dense_solve_upper(n, A, x);
    }
}

static double estimate_rcond(const tal_cod *f)
{
    if (f->rank == 0) return 1.0;
    double norm = 0.0;
    for (int j = 0; j < f->rank; ++j) {
        double sum = 0.0;
        for (int i = 0; i <= j; ++i) {
            sum += fabs(tali_dense_col(f->A, j)[i]);
        }
        if (sum > norm) norm = sum;
    }
    const double inverse = tali_dense_estimate_inverse_norm1(f->rank, f->A, solve_T, f->scratch);
    return norm * inverse > 1.0 ? 1.0 / (norm * inverse) : 1.0;
}

size_t tal_cod_work_size(int m, int n)
{
    if (m < 0 || n < 0) return 0;
    const size_t shorter = (size_t)tali_dense_min(m, n);
    return 2 * shorter + (size_t)m + 3 * (size_t)n; // tau_q, tau_z, scratch, two norms per column
}

size_t tal_cod_iwork_size(int m, int n)
{
    return m >= 0 && n > 0 ? (size_t)n : 0;
}

static tal_status check_arguments(const tal_cod *f, tal_matrix A, double rcond, const double work[],
                                  const int iwork[])
{
    static const char *const where = "tal_cod_factor";
    const tal_status st = tali_dense_check_matrix(A, "A", where);
    if (st != TAL_OK) return st;
    const bool needs_work = tal_cod_work_size(A.rows, A.cols) > 0;
    const bool needs_iwork = tal_cod_iwork_size(A.rows, A.cols) > 0;
    if (f == NULL || (work == NULL && needs_work) || (iwork == NULL && needs_iwork)) {
        return tali_breach(TAL_ERR_NULL, where, "the decomposition or its workspace is NULL");
    }
    if (!(rcond < 1.0)) {
        return tali_breach(TAL_ERR_BAD_VALUE, where, "rcond is %g; it must be below 1", rcond);
    }
    return TAL_OK;
}

tal_status tal_cod_factor(tal_cod *f, tal_matrix A, double rcond, double work[], int iwork[],
                          tal_error *err)
{
    tal_status st = check_arguments(f, A, rcond, work, iwork);
    if (st != TAL_OK) return st;
    st = tali_dense_check_finite(A, "A", __func__, err);
    if (st != TAL_OK) return st;

    const int shorter = tali_dense_min(A.rows, A.cols);
    *f = (tal_cod){.A = A, .perm = iwork, .rcond = 1.0};
    if (tal_cod_work_size(A.rows, A.cols) == 0) return TAL_OK; // 0 x 0
    f->tau_q = work;
    f->tau_z = f->tau_q + shorter;
    f->scratch = f->tau_z + shorter;
    double *partial = f->scratch + A.rows + A.cols;
    double *exact = partial + A.cols;
    for (int j = 0; j < A.cols; ++j) {
        f->perm[j] = j;
    }
    if (shorter == 0) return TAL_OK;

    f->exponent = scaling_exponent(largest_entry(A));
    for (int j = 0; j < A.cols; ++j) {
        scale(A.rows, tali_dense_col(A, j), -f->exponent);
    }
    pivoted_qr(f, rcond >= 0.0 ? rcond : tali_dense_max(A.rows, A.cols) * DBL_EPSILON, partial,
               exact);
    clear_right_block(f);
    f->rcond = estimate_rcond(f);
    return TAL_OK;
}

// x = Z^T x, one reflector after the other; the tails are rows of the matrix.
static void apply_Zt(const tal_cod *f, double *x)
{
    const tal_matrix A = f->A;
    for (int k = 0; k < f->rank; ++k) {
        double w = x[k];
        for (int j = f->rank; j < A.cols; ++j) {
            w += tali_dense_col(A, j)[k] * x[j];
        }
        w *= f->tau_z[k];
        x[k] -= w;
        for (int j = f->rank; j < A.cols; ++j) {
            x[j] -= w * tali_dense_col(A, j)[k];
        }
    }
}

// x = A^+ b, on the scaled matrix and a scaled copy of b, scaled back at the end.
static void solve_column(tal_cod *f, const double *b, double *x)
{
    const int m = f->A.rows;
    const int n = f->A.cols;
    double *y = f->scratch;
    double *z = f->scratch + m;
    memcpy(y, b, (size_t)m * sizeof *y);
    const int exponent = scaling_exponent(tali_array_largest(y, m));
    scale(m, y, -exponent);

    for (int k = 0; k < f->rank; ++k) {
        tali_dense_reflect(m - k, tali_dense_col(f->A, k) + k, f->tau_q[k], y + k);
    }
    tali_dense_solve_upper(f->rank, f->A, y);
    for (int i = 0; i < n; ++i) {
        z[i] = i < f->rank ? y[i] : 0.0;
    }
    apply_Zt(f, z);
    scale(n, z, exponent - f->exponent);
    for (int j = 0; j < n; ++j) {
        x[f->perm[j]] = z[j];
    }
}

// Whether the fields of a decomposition fit together, as tal_cod_factor() leaves them.
static tal_status check_decomposition(const tal_cod *f, const char *where)
{
    if (f == NULL) return tali_breach(TAL_ERR_NULL, where, "the decomposition is NULL");
    const tal_status st = tali_dense_check_matrix(f->A, "A", where);
    if (st != TAL_OK) return st;
    const int m = f->A.rows, n = f->A.cols;
    if (f->rank < 0 || f->rank > tali_dense_min(m, n)) {
        return tali_breach(TAL_ERR_BAD_VALUE, where, "a matrix of %d x %d cannot have rank %d", m,
                           n, f->rank);
    }
    const bool has_work = f->tau_q != NULL && f->tau_z != NULL && f->scratch != NULL;
    if ((!has_work && tal_cod_work_size(m, n) > 0) || (f->perm == NULL && n > 0)) {
        return tali_breach(TAL_ERR_NULL, where, "an array of the decomposition is NULL");
    }
    return TAL_OK;
}

tal_status tal_cod_solve(tal_cod *f, tal_matrix B, tal_matrix X, tal_error *err)
{
    tal_status st = check_decomposition(f, __func__);
    if (st == TAL_OK) st = tali_dense_check_shape(B, f->A.rows, B.cols, "B", __func__);
    if (st != TAL_OK) return st;
    st = tali_dense_check_shape(X, f->A.cols, B.cols, "X", __func__);
    if (st != TAL_OK) return st;
    st = tali_dense_check_finite(B, "B", __func__, err);
    if (st != TAL_OK || X.rows == 0) return st;

    for (int j = 0; j < B.cols; ++j) {
        if (B.rows > 0) {
            solve_column(f, tali_dense_col(B, j), tali_dense_col(X, j));
        } else {
            memset(tali_dense_col(X, j), 0, (size_t)X.rows * sizeof(double)); // no equations
        }
    }
    return tali_dense_check_finite(X, "the solution", __func__, err);
}

// N = P Z^T [0; I]
tal_status tal_cod_calc_null_basis(tal_cod *f, tal_matrix N)
{
    tal_status st = check_decomposition(f, __func__);
    if (st == TAL_OK) {
        st = tali_dense_check_shape(N, f->A.cols, f->A.cols - f->rank, "N", __func__);
    }
    if (st != TAL_OK) return st;
    const int n = f->A.cols;

    double *z = f->scratch;
    for (int j = 0; j < N.cols; ++j) {
        memset(z, 0, (size_t)n * sizeof *z);
        z[f->rank + j] = 1.0;
        apply_Zt(f, z);
        for (int i = 0; i < n; ++i) {
            tali_dense_col(N, j)[f->perm[i]] = z[i];
        }
    }
    return TAL_OK;
}

tal_status tal_cod_calc_range_basis(const tal_cod *f, tal_matrix Q)
{
    tal_status st = check_decomposition(f, __func__);
    if (st == TAL_OK) st = tali_dense_check_shape(Q, f->A.rows, f->rank, "Q", __func__);
    if (st != TAL_OK) return st;
    const int m = f->A.rows;

    // column j of Q = H_0 ... H_{r-1} e_j; the reflectors after j leave e_j alone
    for (int j = 0; j < Q.cols; ++j) {
        double *q = tali_dense_col(Q, j);
        memset(q, 0, (size_t)m * sizeof *q);
        q[j] = 1.0;
        for (int k = j; k >= 0; --k) {
            tali_dense_reflect(m - k, tali_dense_col(f->A, k) + k, f->tau_q[k], q + k);
        }
    }
    return TAL_OK;
}
