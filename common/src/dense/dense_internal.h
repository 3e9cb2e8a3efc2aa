// What the dense factorizations share: checks, vector kernels, reflectors, a norm estimator.
#ifndef TALUS_DENSE_INTERNAL_H
#define TALUS_DENSE_INTERNAL_H

#include "array_internal.h"

#include <talus/common/linalg.h>

#include <stddef.h>

/// Entries up to this size can be squared and summed; larger ones are scaled first.
#define TALI_SQUARE_MAX 0x1p480
/// Entries down to this size can be squared without loss; smaller ones are scaled first.
#define TALI_SQUARE_MIN 0x1p-480

static inline double *tali_dense_col(tal_matrix A, int j)
{
    return A.data + (ptrdiff_t)j * A.ld;
}

static inline int tali_dense_min(int a, int b)
{
    return a < b ? a : b;
}

static inline int tali_dense_max(int a, int b)
{
    return a > b ? a : b;
}

/// y += a x
static inline void tali_dense_axpy(int n, double a, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; ++i) {
        y[i] += a * x[i];
    }
}

/// Is the view well formed? Breaks the contract on behalf of `where` when not; `name` is the
/// argument as the user knows it.
tal_status tali_dense_check_matrix(tal_matrix A, const char *name, const char *where);

/// The same, and square.
tal_status tali_dense_check_square(tal_matrix A, const char *name, const char *where);

/// The same as tali_dense_check_matrix(), and of this shape.
tal_status tali_dense_check_shape(tal_matrix A, int rows, int cols, const char *name,
                                  const char *where);

/// TAL_OK when every entry is finite, else TAL_ERR_NOT_FINITE recorded in `err` with the place.
tal_status tali_dense_check_finite(tal_matrix A, const char *name, const char *where,
                                   tal_error *err);

/// The same for the lower triangle of a square matrix.
tal_status tali_dense_check_finite_lower(tal_matrix A, const char *name, const char *where,
                                         tal_error *err);

/// Euclidean length, without overflow or underflow on the way.
double tali_dense_norm2(int n, const double *x);

/// Turn x (n >= 1) into a reflector H = I - tau [1; v] [1; v]^T with H x = beta e_1: beta replaces
/// x[0], v the rest. Returns tau; 0 (H = I) when x[1..] vanishes.
double tali_dense_reflector(int n, double *x);

/// c = H c for a reflector made by tali_dense_reflector(): h[0] is not read, h[1..] is v.
void tali_dense_reflect(int n, const double *h, double tau, double *c);

/// x = U^-1 x or U^-T x with U the leading n x n upper triangle of A.
void tali_dense_solve_upper(int n, tal_matrix A, double *x);
void tali_dense_solve_upper_transposed(int n, tal_matrix A, double *x);

/// x = L^-1 x or L^-T x with L the leading n x n lower triangle of A.
void tali_dense_solve_lower(int n, tal_matrix A, double *x);
void tali_dense_solve_lower_transposed(int n, tal_matrix A, double *x);

/// Overwrite x by A^-1 x, or by A^-T x, for some matrix behind `A`.
typedef void tali_dense_solver(int n, tal_matrix A, bool transposed, double *x);

/// Estimate the 1-norm of A^-1 from solves alone; a lower bound. `x` is scratch of n doubles.
/// Infinite when a solve overflows.
double tali_dense_estimate_inverse_norm1(int n, tal_matrix A, tali_dense_solver *solve, double *x);

#endif // TALUS_DENSE_INTERNAL_H
