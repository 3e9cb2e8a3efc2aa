// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_LAPACK_H
#define TALUS_COMMON_LAPACK_H

/**
 * @file talus/common/lapack.h
 * @brief LAPACK for Studies: large least squares, singular values, eigenproblems.
 *
 * Thin calls with the caller's workspace: each has a `_work_size` function that tells how many
 * doubles `work` must hold (-1, and a broken contract, when the sizes are negative or too large for
 * LAPACK's 32-bit integers). Arguments are checked before LAPACK sees them, so it never prints.
 * Results are reproducible only as far as the LAPACK and BLAS in use are; what runs inside a
 * realization uses talus/common/linalg.h instead.
 *
 * Common rules, not repeated below:
 * - Matrices are dense and column-major; of a symmetric one only the lower triangle is read.
 * - Sizes may be 0. The input matrices are destroyed.
 * - Returned: TAL_OK; ::TAL_ERR_NOT_FINITE for a NaN or an infinity in the input, nothing written;
 *   ::TAL_ERR_CAPACITY when `work_size` is too small, nothing written; and what each call adds.
 *   Broken contracts (NULL, sizes that do not match) as in talus/common/linalg.h.
 * - `err` is optional (NULL) and receives the sentence of a runtime failure.
 */

#include <talus/common/linalg.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Doubles that tal_lapack_least_squares() needs as `work`.
TAL_API int tal_lapack_least_squares_work_size(int m, int n, int nrhs);

/**
 * Minimize |A X - B| for m >= n, or find the shortest X with A X = B for m < n; A of full rank
 * (LAPACK DGELS). For A of any rank use tal_cod_solve().
 *
 * @param[in,out] A          m x n, destroyed
 * @param[in,out] B          max(m, n) x nrhs: B in its first m rows becomes X in its first n rows.
 *                           For m >= n the squares of the other entries of a column sum to its
 *                           squared residual
 * @param[out]    work       [work_size]
 * @param[in]     work_size  at least tal_lapack_least_squares_work_size(m, n, nrhs)
 * @param[in,out] err        may be NULL
 * @return also TAL_ERR_SINGULAR when A is exactly rank deficient
 */
TAL_NODISCARD TAL_API tal_status tal_lapack_least_squares(tal_matrix A, tal_matrix B, double work[],
                                                          int work_size, tal_error *err);

/// Doubles that tal_lapack_svd() needs as `work`, whichever vectors are asked for.
TAL_API int tal_lapack_svd_work_size(int m, int n);

/// Ints that tal_lapack_svd() needs as `iwork`.
TAL_API int tal_lapack_svd_iwork_size(int m, int n);

/**
 * Singular value decomposition A = U diag(s) V^T (LAPACK DGESDD), k = min(m, n).
 *
 * @param[in,out] A          m x n, destroyed
 * @param[out]    s          [k] singular values, largest first
 * @param[out]    U          m x k for the thin form, m x m for the full form; 0 x 0 for no vectors
 * @param[out]    Vt         k x n for the thin form, n x n for the full form; 0 x 0 for no vectors
 * @param[out]    work       [work_size]
 * @param[in]     work_size  at least tal_lapack_svd_work_size(m, n)
 * @param[out]    iwork      [tal_lapack_svd_iwork_size(m, n)]
 * @param[in,out] err        may be NULL
 * @return also TAL_ERR_NO_CONVERGENCE
 */
TAL_NODISCARD TAL_API tal_status tal_lapack_svd(tal_matrix A, double s[], tal_matrix U,
                                                tal_matrix Vt, double work[], int work_size,
                                                int iwork[], tal_error *err);

/// Doubles that tal_lapack_eig_sym() and tal_lapack_eig_sym_pair() need as `work`.
TAL_API int tal_lapack_eig_sym_work_size(int n);

/**
 * Eigenvalues, and eigenvectors if wanted, of a symmetric matrix, A V = V diag(w) (LAPACK DSYEV).
 *
 * @param[in,out] A          n x n; becomes V, orthonormal columns, when `vectors`, else destroyed
 * @param[out]    w          [n] eigenvalues, smallest first
 * @param[in]     vectors    whether to compute V
 * @param[out]    work       [work_size]
 * @param[in]     work_size  at least tal_lapack_eig_sym_work_size(n)
 * @param[in,out] err        may be NULL
 * @return also TAL_ERR_NO_CONVERGENCE
 */
TAL_NODISCARD TAL_API tal_status tal_lapack_eig_sym(tal_matrix A, double w[], bool vectors,
                                                    double work[], int work_size, tal_error *err);

/**
 * Eigenvalues, and eigenvectors if wanted, of a symmetric pair, K V = M V diag(w) with M positive
 * definite (LAPACK DSYGV). Vibration modes are an example.
 *
 * @param[in,out] K          n x n; becomes V with V^T M V = I when `vectors`, else destroyed
 * @param[in,out] M          n x n, destroyed
 * @param[out]    w          [n] eigenvalues, smallest first
 * @param[in]     vectors    whether to compute V
 * @param[out]    work       [work_size]
 * @param[in]     work_size  at least tal_lapack_eig_sym_work_size(n)
 * @param[in,out] err        may be NULL
 * @return also TAL_ERR_SINGULAR when M is not positive definite; TAL_ERR_NO_CONVERGENCE
 */
TAL_NODISCARD TAL_API tal_status tal_lapack_eig_sym_pair(tal_matrix K, tal_matrix M, double w[],
                                                         bool vectors, double work[], int work_size,
                                                         tal_error *err);

/// Eigenvalues and eigenvectors of a general matrix, in the caller's memory. A complex pair takes
/// neighbors j and j+1, positive imaginary part first: wr[j] +- i wi[j], and its vectors are
/// column j +- i column j+1.
typedef struct tal_eig {
    double *wr;       ///< n, real parts of the eigenvalues
    double *wi;       ///< n, imaginary parts
    tal_matrix left;  ///< n x n, columns u with u^H A = lambda u^H, unit length; 0 x 0: not wanted
    tal_matrix right; ///< n x n, columns v with A v = lambda v, unit length; 0 x 0: not wanted
} tal_eig;

/// Doubles that tal_lapack_eig() needs as `work`, whichever vectors are asked for.
TAL_API int tal_lapack_eig_work_size(int n);

/**
 * Eigenvalues, and the vectors wanted, of a general matrix (LAPACK DGEEV).
 *
 * @param[in,out] A          n x n, destroyed
 * @param[in,out] eig        which vectors are wanted, and where everything goes
 * @param[out]    work       [work_size]
 * @param[in]     work_size  at least tal_lapack_eig_work_size(n)
 * @param[in,out] err        may be NULL
 * @return also TAL_ERR_NO_CONVERGENCE
 */
TAL_NODISCARD TAL_API tal_status tal_lapack_eig(tal_matrix A, const tal_eig *eig, double work[],
                                                int work_size, tal_error *err);

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_LAPACK_H
