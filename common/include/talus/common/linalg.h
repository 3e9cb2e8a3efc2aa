// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_LINALG_H
#define TALUS_COMMON_LINALG_H

/**
 * @file talus/common/linalg.h
 * @brief Dense factorizations for small systems: Cholesky, pivoted Cholesky, complete orthogonal.
 *
 * They never allocate, and they give the same bytes for the same input on one build: the only
 * function of the C library's mathematics that they call is `sqrt`, which rounds correctly. Memory
 * is the caller's: the matrix is factored in place, and the `_work_size` functions say how many
 * doubles (`work`) and ints (`iwork`) are needed besides.
 *
 * Common rules, not repeated below:
 * - Matrices are dense and column-major; of a symmetric one only the lower triangle is read.
 * - Sizes may be 0; an array that holds no elements may be NULL.
 * - A NaN or an infinity in the input is answered with ::TAL_ERR_NOT_FINITE before anything is
 *   written. A solution too large for a double is answered with the same code; it is then written
 *   as it came out.
 * - A NULL, a negative size or sizes that do not match are broken contracts: ::TAL_ERR_NULL or
 *   ::TAL_ERR_BAD_VALUE, nothing is written, and the contract handler is called.
 * - `err` is optional (NULL) and receives the sentence of a runtime failure.
 */

#include <talus/common/status.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A dense column-major matrix in borrowed memory: element (i, j) is `data[i + j*ld]`.
typedef struct tal_matrix {
    double *data; ///< borrowed; may be NULL when rows or cols is 0
    int rows;     ///< >= 0
    int cols;     ///< >= 0
    int ld;       ///< leading dimension, >= max(1, rows)
} tal_matrix;

/// A view of `rows` x `cols` numbers packed without gaps.
static inline tal_matrix tal_matrix_view(double *data, int rows, int cols)
{
    const tal_matrix view = {data, rows, cols, rows > 0 ? rows : 1};
    return view;
}

/**
 * @defgroup chol Cholesky factorization: A = L L^T, A positive definite
 * @{
 */

/// What a Cholesky factorization tells about A.
typedef struct tal_chol_info {
    int pivot;    ///< index of the pivot that was not positive; -1 when all were
    double value; ///< that pivot's value; 0 when all were positive
    double norm1; ///< 1-norm of A, for tal_chol_rcond()
    /// (min l_ii / max l_ii)^2, at no extra cost: the reciprocal 2-norm condition number of A is
    /// never larger. 1 for n = 0, 0 on failure.
    double rcond_bound;
} tal_chol_info;

/**
 * Factor A = L L^T in place.
 *
 * @param[in,out] A   n x n symmetric positive definite; its lower triangle becomes L, what lies
 *                    above the diagonal is not touched
 * @param[out] info   pivots and conditioning; may be NULL
 * @param[in,out] err may be NULL
 * @return TAL_OK; TAL_ERR_SINGULAR when a pivot is not positive (the columns before it hold L, the
 *         rest is undefined); TAL_ERR_NOT_FINITE, A untouched
 */
TAL_NODISCARD TAL_API tal_status tal_chol_factor(tal_matrix A, tal_chol_info *info, tal_error *err);

/**
 * Solve A X = B with the factor of A.
 *
 * @param[in] L       n x n, from tal_chol_factor(); only read
 * @param[in,out] B   n x nrhs, becomes X
 * @param[in,out] err may be NULL
 * @return TAL_OK; TAL_ERR_NOT_FINITE
 */
TAL_NODISCARD TAL_API tal_status tal_chol_solve(tal_matrix L, tal_matrix B, tal_error *err);

/// Doubles that tal_chol_rcond() needs as `work` for an n x n matrix.
TAL_API size_t tal_chol_rcond_work_size(int n);

/**
 * Estimate the reciprocal condition number of A in the 1-norm, 1 / (|A| |A^-1|).
 *
 * Costs a few solves (Hager's method as improved in Higham, ACM TOMS 14 (1988) 381-396). The
 * estimate of |A^-1| is a lower bound that is rarely off by more than a factor of 3, so the result
 * is never too small and rarely more than 3 times too large. Fall back to a rank-revealing
 * factorization when it is near or below n eps.
 *
 * @param[in]  L      n x n, from tal_chol_factor(); only read
 * @param[in]  norm1  1-norm of A, from ::tal_chol_info
 * @param[out] work   [tal_chol_rcond_work_size(n)]
 * @return 0 to 1; 1 for n = 0; NaN on a broken contract
 */
TAL_API double tal_chol_rcond(tal_matrix L, double norm1, double work[]);

/** @} */

/**
 * @defgroup pchol Pivoted Cholesky: P^T A P = L L^T, A positive semidefinite
 * @{
 */

/// A pivoted Cholesky factorization. Filled by tal_pchol_factor(); every pointer is borrowed from
/// the caller of that function. Solving uses its scratch memory: one thread at a time.
typedef struct tal_pchol {
    tal_matrix L; ///< n x n in the caller's A; lower trapezoidal: columns from `rank` on are zero
    int *perm;    ///< n; row i of P^T A P is row perm[i] of A
    int rank;     ///< number of pivots above the tolerance
    double residual; ///< largest entry of P^T A P - L L^T in the part given up; 0 at full rank
    double *qr;      ///< n x rank, Householder QR of L, made by the first minimum-norm solution
    double *tau;     ///< n, scales of its reflectors
    double *scratch; ///< n
    bool has_qr;     ///< whether qr and tau are filled
} tal_pchol;

/// Doubles that tal_pchol_factor() needs as `work` for an n x n matrix.
TAL_API size_t tal_pchol_work_size(int n);

/// Ints that tal_pchol_factor() needs as `iwork` for an n x n matrix.
TAL_API size_t tal_pchol_iwork_size(int n);

/**
 * Factor a positive semidefinite matrix, taking the largest pivot left at each step and stopping
 * when none exceeds the tolerance.
 *
 * @param[out]    f          the factorization; borrows A, work and iwork
 * @param[in,out] A          n x n symmetric, overwritten
 * @param[in]     tolerance  smallest pivot taken, in units of A; negative: n eps max_i a_ii
 * @param[out]    work       [tal_pchol_work_size(n)] in use as long as `f` is
 * @param[out]    iwork      [tal_pchol_iwork_size(n)] in use as long as `f` is
 * @param[in,out] err        may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE when A is visibly not positive semidefinite, that is, when an
 *         entry of what is given up exceeds 2 tolerance + sqrt(eps) max |a_ij|; A is undefined
 *         then. TAL_ERR_NOT_FINITE, nothing written
 */
TAL_NODISCARD TAL_API tal_status tal_pchol_factor(tal_pchol *f, tal_matrix A, double tolerance,
                                                  double work[], int iwork[], tal_error *err);

/**
 * Basic solution of A X = B: only the `rank` pivoted unknowns are used, the others are zero.
 * Exact, up to round-off, when B is in the range of A.
 *
 * @param[in,out] f   the factorization; its scratch is used
 * @param[in,out] B   n x nrhs, becomes X
 * @param[in,out] err may be NULL
 * @return TAL_OK; TAL_ERR_NOT_FINITE
 */
TAL_NODISCARD TAL_API tal_status tal_pchol_solve_basic(tal_pchol *f, tal_matrix B, tal_error *err);

/**
 * Least-squares solution of A X = B of minimum norm, X = A^+ B.
 *
 * The factor has full column rank, so its QR factorization completes the orthogonal decomposition:
 * A = F F^T with F = P L = P Q R gives A^+ = P Q R^-T R^-1 Q^T P^T. The first call makes Q and R.
 *
 * @param[in,out] f   the factorization; its scratch is used
 * @param[in,out] B   n x nrhs, becomes X
 * @param[in,out] err may be NULL
 * @return TAL_OK; TAL_ERR_NOT_FINITE
 */
TAL_NODISCARD TAL_API tal_status tal_pchol_solve_min_norm(tal_pchol *f, tal_matrix B,
                                                          tal_error *err);

/** @} */

/**
 * @defgroup cod Complete orthogonal decomposition: A = Q [T 0; 0 0] Z P^T, any m x n matrix
 * @{
 */

/// A complete orthogonal decomposition. Filled by tal_cod_factor(); every pointer is borrowed from
/// the caller of that function. Solving uses its scratch memory: one thread at a time.
typedef struct tal_cod {
    tal_matrix A;  ///< m x n in the caller's A: T, the reflectors of Q below it, of Z to its right
    int *perm;     ///< n; column j of A P is column perm[j] of A
    int rank;      ///< order of T
    double rcond;  ///< estimated reciprocal condition number of T, 1-norm; 1 when the rank is 0
    int exponent;  ///< the matrix factored is 2^-exponent A; 0 unless A is extremely large or small
    double *tau_q; ///< min(m, n), scales of the reflectors of Q
    double *tau_z; ///< min(m, n), scales of the reflectors of Z
    double *scratch; ///< m + n
} tal_cod;

/// Doubles that tal_cod_factor() needs as `work` for an m x n matrix.
TAL_API size_t tal_cod_work_size(int m, int n);

/// Ints that tal_cod_factor() needs as `iwork` for an m x n matrix.
TAL_API size_t tal_cod_iwork_size(int m, int n);

/**
 * Factor A by Householder QR with column pivoting, then clear what is right of the leading
 * triangle by reflectors from the right.
 *
 * The rank is the number of steps after which no remaining column is longer than `rcond` times the
 * longest column of A, so what is dropped is small whatever A is. Column pivoting can miss a nearly
 * dependent set of columns (Kahan's matrix is the known example); then the rank is too large, the
 * solution still fits B, and the field `rcond` says how large it may be.
 *
 * @param[out]    f      the decomposition; borrows A, work and iwork
 * @param[in,out] A      m x n, overwritten; m < n is fine. What remains of a column counts as zero
 *                       below 1e-290 of the longest column, whatever `rcond` is
 * @param[in]     rcond  relative length at which a column counts as dependent, 0 <= rcond < 1;
 *                       negative: max(m, n) eps
 * @param[out]    work   [tal_cod_work_size(m, n)] in use as long as `f` is
 * @param[out]    iwork  [tal_cod_iwork_size(m, n)] in use as long as `f` is
 * @param[in,out] err    may be NULL
 * @return TAL_OK; TAL_ERR_NOT_FINITE, nothing written
 */
TAL_NODISCARD TAL_API tal_status tal_cod_factor(tal_cod *f, tal_matrix A, double rcond,
                                                double work[], int iwork[], tal_error *err);

/**
 * Minimum-norm least-squares solution X = A^+ B: among all X that minimize |A X - B|, column by
 * column, the shortest.
 *
 * @param[in,out] f   the decomposition; its scratch is used
 * @param[in] B       m x nrhs; only read
 * @param[out] X      n x nrhs; may share memory with B when both start there with the same ld
 * @param[in,out] err may be NULL
 * @return TAL_OK; TAL_ERR_NOT_FINITE
 */
TAL_NODISCARD TAL_API tal_status tal_cod_solve(tal_cod *f, tal_matrix B, tal_matrix X,
                                               tal_error *err);

/**
 * Orthonormal basis of the null space of A: A N = 0, N^T N = I.
 *
 * @param[in,out] f  the decomposition; its scratch is used
 * @param[out] N     n x (n - rank)
 * @return TAL_OK
 */
TAL_API tal_status tal_cod_calc_null_basis(tal_cod *f, tal_matrix N);

/**
 * Orthonormal basis of the range of A (its column space).
 *
 * @param[in] f   the decomposition
 * @param[out] Q  m x rank
 * @return TAL_OK
 */
TAL_API tal_status tal_cod_calc_range_basis(const tal_cod *f, tal_matrix Q);

/** @} */

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_LINALG_H
