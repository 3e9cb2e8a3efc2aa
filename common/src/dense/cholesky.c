// Cholesky factorization of a positive definite matrix, in place and without workspace.
#include "error_internal.h"

#include "dense/dense_internal.h"

#include <math.h>

// Column sums of the full symmetric matrix, of which only the lower triangle is there.
static double symmetric_norm1(tal_matrix A)
{
    double largest = 0.0;
    for (int j = 0; j < A.cols; ++j) {
        double sum = 0.0;
        for (int k = 0; k < j; ++k) {
            sum += fabs(tali_dense_col(A, k)[j]);
        }
        const double *col = tali_dense_col(A, j);
        for (int i = j; i < A.rows; ++i) {
            sum += fabs(col[i]);
        }
        if (sum > largest) largest = sum;
    }
    return largest;
}

// Column j of L from the columns before it:
//
//     l_ij = (a_ij - sum_{k<j} l_ik l_jk) / l_jj       i = j, j+1, ...      l_jj^2 = numerator
//
// False when the pivot is not positive; a NaN is not.
static bool factor_column(tal_matrix A, int j)
{
    const int below = A.rows - j;
    double *col = tali_dense_col(A, j) + j;
    for (int k = 0; k < j; ++k) {
        const double *L = tali_dense_col(A, k) + j;
        tali_dense_axpy(below, -L[0], L, col);
    }
    if (!(col[0] > 0.0)) return false;

    const double diagonal = sqrt(col[0]);
    col[0] = diagonal;
    for (int i = 1; i < below; ++i) {
        col[i] /= diagonal;
    }
    return true;
}

// cond_2(L) >= max l_ii / min l_ii, for the l_ii are the eigenvalues of L; cond_2(A) is its square.
static double diagonal_bound(tal_matrix L)
{
    double smallest = (double)INFINITY;
    double largest = 0.0;
    for (int j = 0; j < L.cols; ++j) {
        const double diagonal = tali_dense_col(L, j)[j];
        if (diagonal < smallest) smallest = diagonal;
        if (diagonal > largest) largest = diagonal;
    }
    const double ratio = smallest / largest;
    return L.cols > 0 ? ratio * ratio : 1.0;
}

tal_status tal_chol_factor(tal_matrix A, tal_chol_info *info, tal_error *err)
{
    tal_status st = tali_dense_check_square(A, "A", __func__);
    if (st != TAL_OK) return st;
    st = tali_dense_check_finite_lower(A, "A", __func__, err);
    if (st != TAL_OK) return st;

    tal_chol_info found = {-1, 0.0, symmetric_norm1(A), 0.0};
    for (int j = 0; j < A.cols && found.pivot < 0; ++j) {
        if (factor_column(A, j)) continue;
        found.pivot = j;
        found.value = tali_dense_col(A, j)[j];
    }
    if (found.pivot < 0) found.rcond_bound = diagonal_bound(A);
    if (info != NULL) *info = found;
    if (found.pivot < 0) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_SINGULAR,
                     "pivot %d of %d is %g; the matrix is not positive definite", found.pivot,
                     A.cols, found.value);
}

tal_status tal_chol_solve(tal_matrix L, tal_matrix B, tal_error *err)
{
    tal_status st = tali_dense_check_square(L, "L", __func__);
    if (st != TAL_OK) return st;
    st = tali_dense_check_shape(B, L.rows, B.cols, "B", __func__);
    if (st != TAL_OK) return st;
    st = tali_dense_check_finite(B, "B", __func__, err);
    if (st != TAL_OK || B.rows == 0) return st;

    for (int j = 0; j < B.cols; ++j) {
        double *x = tali_dense_col(B, j);
        tali_dense_solve_lower(L.rows, L, x);
        tali_dense_solve_lower_transposed(L.rows, L, x);
    }
    return tali_dense_check_finite(B, "the solution", __func__, err);
}

size_t tal_chol_rcond_work_size(int n)
{
    return n > 0 ? (size_t)n : 0;
}

// A is symmetric, so solving with its transpose is the same.
static void solve_both(int n, tal_matrix L, bool transposed, double *x)
{
    (void)transposed;
    tali_dense_solve_lower(n, L, x);
    tali_dense_solve_lower_transposed(n, L, x);
}

double tal_chol_rcond(tal_matrix L, double norm1, double work[])
{
    if (tali_dense_check_square(L, "L", __func__) != TAL_OK) return (double)NAN;
    if (L.rows == 0) return 1.0;
    if (work == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "work is NULL; %d doubles are needed", L.rows);
        return (double)NAN;
    }
    if (!(norm1 > 0.0)) {
        (void)TALI_BREACH(TAL_ERR_BAD_VALUE, "norm1 is %g; it must be positive", norm1);
        return (double)NAN;
    }
    const double condition = norm1 * tali_dense_estimate_inverse_norm1(L.rows, L, solve_both, work);
    return condition > 1.0 ? 1.0 / condition : 1.0;
}
