// What the dense factorizations share: checks, vector kernels, reflectors, a norm estimator.
#include "error_internal.h"

#include "dense/dense_internal.h"

#include <math.h>

tal_status tali_dense_check_matrix(tal_matrix A, const char *name, const char *where)
{
    if (A.rows < 0 || A.cols < 0) {
        return tali_breach(TAL_ERR_BAD_VALUE, where,
                           "matrix %s is %d x %d; a size cannot be negative", name, A.rows, A.cols);
    }
    if (A.ld < tali_dense_max(1, A.rows)) {
        return tali_breach(TAL_ERR_BAD_VALUE, where,
                           "matrix %s has %d rows but leading dimension %d; it must be at least %d",
                           name, A.rows, A.ld, tali_dense_max(1, A.rows));
    }
    if (A.data == NULL && A.rows > 0 && A.cols > 0) {
        return tali_breach(TAL_ERR_NULL, where, "matrix %s is %d x %d but its data is NULL", name,
                           A.rows, A.cols);
    }
    return TAL_OK;
}

tal_status tali_dense_check_square(tal_matrix A, const char *name, const char *where)
{
    const tal_status st = tali_dense_check_matrix(A, name, where);
    if (st != TAL_OK) return st;
    if (A.rows == A.cols) return TAL_OK;
    return tali_breach(TAL_ERR_BAD_VALUE, where, "matrix %s is %d x %d; it must be square", name,
                       A.rows, A.cols);
}

tal_status tali_dense_check_shape(tal_matrix A, int rows, int cols, const char *name,
                                  const char *where)
{
    const tal_status st = tali_dense_check_matrix(A, name, where);
    if (st != TAL_OK) return st;
    if (A.rows == rows && A.cols == cols) return TAL_OK;
    return tali_breach(TAL_ERR_BAD_VALUE, where, "matrix %s is %d x %d; it must be %d x %d", name,
                       A.rows, A.cols, rows, cols);
}

static tal_status check_column(tal_matrix A, int from, int j, const char *name, const char *where,
                               tal_error *err)
{
    const double *col = tali_dense_col(A, j);
    for (int i = from; i < A.rows; ++i) {
        if (isfinite(col[i])) continue;
        return tali_fail(err, TAL_ERR_NOT_FINITE, where, "element (%d, %d) of %s is %g", i, j, name,
                         col[i]);
    }
    return TAL_OK;
}

tal_status tali_dense_check_finite(tal_matrix A, const char *name, const char *where,
                                   tal_error *err)
{
    if (A.rows == 0) return TAL_OK;
    tal_status st = TAL_OK;
    for (int j = 0; j < A.cols && st == TAL_OK; ++j) {
        st = check_column(A, 0, j, name, where, err);
    }
    return st;
}

tal_status tali_dense_check_finite_lower(tal_matrix A, const char *name, const char *where,
                                         tal_error *err)
{
    tal_status st = TAL_OK;
    for (int j = 0; j < A.cols && st == TAL_OK; ++j) {
        st = check_column(A, j, j, name, where, err);
    }
    return st;
}

double tali_dense_norm2(int n, const double *x)
{
    const double largest = tali_array_largest(x, n);
    if (largest == 0.0) return 0.0;
    if (largest > TALI_SQUARE_MIN && largest < TALI_SQUARE_MAX) {
        return sqrt(tali_array_dot(x, x, n));
    }

    // bring the largest entry to [1/2, 1): powers of two do not round
    int exponent = 0;
    (void)frexp(largest, &exponent);
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        const double scaled = ldexp(x[i], -exponent);
        sum += scaled * scaled;
    }
    return ldexp(sqrt(sum), exponent);
}

// H x = beta e_1 with beta = -sign(x_1) |x|, v = x_2.. / (x_1 - beta), tau = (beta - x_1) / beta
// (Golub and Van Loan, Matrix Computations, sec. 5.1, with v_1 = 1). The sign of beta makes
// x_1 - beta a sum of equal signs, so nothing cancels.
double tali_dense_reflector(int n, double *x)
{
    if (tali_array_largest(x + 1, n - 1) == 0.0) return 0.0;
    const double alpha = x[0];
    const double beta = -copysign(tali_dense_norm2(n, x), alpha);
    for (int i = 1; i < n; ++i) {
        x[i] /= alpha - beta;
    }
    x[0] = beta;
    return (beta - alpha) / beta;
}

void tali_dense_reflect(int n, const double *h, double tau, double *c)
{
    if (tau == 0.0) return;
    const double w = tau * (c[0] + tali_array_dot(h + 1, c + 1, n - 1));
    c[0] -= w;
    tali_dense_axpy(n - 1, -w, h + 1, c + 1);
}

void tali_dense_solve_upper(int n, tal_matrix A, double *x)
{
    for (int j = n - 1; j >= 0; --j) {
        const double *U = tali_dense_col(A, j);
        x[j] /= U[j];
        tali_dense_axpy(j, -x[j], U, x);
    }
}

void tali_dense_solve_upper_transposed(int n, tal_matrix A, double *x)
{
    for (int j = 0; j < n; ++j) {
        const double *U = tali_dense_col(A, j);
        x[j] = (x[j] - tali_array_dot(U, x, j)) / U[j];
    }
}

void tali_dense_solve_lower(int n, tal_matrix A, double *x)
{
    for (int j = 0; j < n; ++j) {
        const double *L = tali_dense_col(A, j);
        x[j] /= L[j];
        tali_dense_axpy(n - j - 1, -x[j], L + j + 1, x + j + 1);
    }
}

void tali_dense_solve_lower_transposed(int n, tal_matrix A, double *x)
{
    for (int j = n - 1; j >= 0; --j) {
        const double *L = tali_dense_col(A, j);
        x[j] = (x[j] - tali_array_dot(L + j + 1, x + j + 1, n - j - 1)) / L[j];
    }
}

static double norm1(int n, const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += fabs(x[i]);
    }
    return sum;
}

// A vector that catches matrices to which the climb below is blind:
// x_i = (-1)^i (1 + i/(n-1)) has 1-norm 3n/2, so |A^-1| >= 2 |A^-1 x| / (3 n) (Higham 1988).
static double alternating_estimate(int n, tal_matrix A, tali_dense_solver *solve, double *x)
{
    for (int i = 0; i < n; ++i) {
        const double size = 1.0 + (n > 1 ? (double)i / (n - 1) : 0.0);
        x[i] = i % 2 == 0 ? size : -size;
    }
    solve(n, A, false, x);
    return 2.0 * norm1(n, x) / (3.0 * n);
}

// Maximize the convex |A^-1 x| over the unit ball of the 1-norm by climbing from vertex to vertex:
// z = A^-T sign(A^-1 x) is a subgradient, and the vertex e_j with the largest |z_j| is the way up
// (Hager 1984; Higham, ACM TOMS 14 (1988) 381-396; LAPACK's DLACN2 is the same iteration).
double tali_dense_estimate_inverse_norm1(int n, tal_matrix A, tali_dense_solver *solve, double *x)
{
    enum {
        MAX_CLIMBS = 5
    };

    double best = 0.0;
    int vertex = -1; // the start is not a vertex but the center of a face, x = (1/n, ..., 1/n)
    for (int climb = 0; climb < MAX_CLIMBS; ++climb) {
        for (int i = 0; i < n; ++i) {
            x[i] = vertex < 0 ? 1.0 / n : (i == vertex ? 1.0 : 0.0);
        }
        solve(n, A, false, x);
        const double size = norm1(n, x);
        if (!isfinite(size)) return (double)INFINITY;
        if (size <= best) break;
        best = size;

        for (int i = 0; i < n; ++i) {
            x[i] = x[i] < 0.0 ? -1.0 : 1.0;
        }
        solve(n, A, true, x);
        int top = 0;
        for (int i = 1; i < n; ++i) {
            if (fabs(x[i]) > fabs(x[top])) top = i;
        }
        if (top == vertex) break;
        vertex = top;
    }
    const double other = alternating_estimate(n, A, solve, x);
    return other > best ? other : best;
}
