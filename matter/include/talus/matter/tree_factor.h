// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_TREE_FACTOR_H
#define TALUS_MATTER_TREE_FACTOR_H

/**
 * @file talus/matter/tree_factor.h
 * @brief Factorizations H = L^T L and H = L^T D L of matrices with the sparsity of a tree (RBDA
 *        sec. 6.5).
 *
 * A mass matrix couples two speeds only if one is outboard of the other. Factored from the last
 * row up, it keeps that pattern: L is zero wherever H is, and the loops skip these zeros.
 *
 *     int lambda[NU];
 *     tal_matter_calc_lambda(matter, lambda);
 *     tal_matter_calc_M(matter, state, M);
 *     st = tal_tree_factor_LTDL(lambda, M, &err);
 *     if (st == TAL_OK) st = tal_tree_solve_LTDL(lambda, M, B);       // B becomes M^-1 B
 *
 * `lambda` is the expanded parent array: lambda[i] < i is the next speed on the way to Ground, or
 * -1 when there is none; the speeds of one mobilizer form a chain. Matrices are column-major and
 * only their upper triangle is read and written: column k holds row k of L, so L^T is stored there.
 *
 * Broken contracts (NULL, sizes that do not match, a lambda[i] that is not below i) are treated as
 * in talus/common/linalg.h; nothing is written then.
 */

#include <talus/common/linalg.h>
#include <talus/matter/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup treefactor Factorizations with branch-induced sparsity
/// @{

/// The expanded parent array of matter, tal_matter_nu() entries (RBDA tab. 6.4, with -1 for Ground
/// and counting from 0). The topology must be realized.
/// @param[out] lambda  [nu]
TAL_API tal_status tal_matter_calc_lambda(const tal_matter *matter, int lambda[]);

/**
 * Factor H = L^T L in place (RBDA tab. 6.3).
 *
 * @param[in]     lambda  [n]
 * @param[in,out] H       n x n, positive definite; its upper triangle becomes L^T
 * @param[in,out] err     may be NULL
 * @return TAL_OK; TAL_ERR_SINGULAR when a pivot is not positive, TAL_ERR_NOT_FINITE when one is not
 *         finite: H is then undefined
 */
TAL_NODISCARD TAL_API tal_status tal_tree_factor_LTL(const int lambda[], tal_matrix H,
                                                     tal_error *err);

/// Factor H = L^T D L in place, without square roots: L has ones on its diagonal, D takes their
/// place. Otherwise as tal_tree_factor_LTL().
/// @param[in] lambda  [n]
TAL_NODISCARD TAL_API tal_status tal_tree_factor_LTDL(const int lambda[], tal_matrix H,
                                                      tal_error *err);

/// B becomes H^-1 B, with the factor of tal_tree_factor_LTL(). B is n x nrhs.
/// @param[in] lambda  [n]
TAL_API tal_status tal_tree_solve_LTL(const int lambda[], tal_matrix L, tal_matrix B);

/// B becomes H^-1 B, with the factors of tal_tree_factor_LTDL().
/// @param[in] lambda  [n]
TAL_API tal_status tal_tree_solve_LTDL(const int lambda[], tal_matrix L, tal_matrix B);

/// What tal_tree_apply() does to the columns of X.
typedef enum tal_tree_op {
    TAL_TREE_L,         ///< X becomes L X
    TAL_TREE_LT,        ///< X becomes L^T X
    TAL_TREE_L_INVERSE, ///< X becomes L^-1 X
    TAL_TREE_LT_INVERSE ///< X becomes L^-T X
} tal_tree_op;

/**
 * Multiply by a factor or solve with it, in place (RBDA tab. 6.5).
 *
 * @param[in]     lambda  [n]
 * @param[in]     unit    ones on the diagonal of L, as tal_tree_factor_LTDL() leaves it
 * @param[in,out] X       n x nrhs
 */
TAL_API tal_status tal_tree_apply(const int lambda[], tal_matrix L, bool unit, tal_tree_op op,
                                  tal_matrix X);

/// Y = H X, with only the entries that `lambda` allows (RBDA tab. 6.5). X and Y are n x nrhs.
/// @param[in] lambda  [n]
TAL_API tal_status tal_tree_mul_H(const int lambda[], tal_matrix H, tal_matrix X, tal_matrix Y);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_TREE_FACTOR_H
