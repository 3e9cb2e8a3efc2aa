// Sparse symmetric matrices, definite or not: P A P^T = L D L^T without pivoting.
#ifndef TALUS_SPARSE_INTERNAL_H
#define TALUS_SPARSE_INTERNAL_H

#include <talus/common/alloc.h>
#include <talus/common/status.h>

/**
 * A symmetric matrix whose pattern is known beforehand, with its factors. Opaque.
 *
 * Entries are given as triplets (row, column), each below, on or above the diagonal, whichever is
 * easier; several at one place are added up. The diagonal is always there. The order of
 * elimination is chosen from the pattern alone (minimum degree), so the same pattern and the same
 * numbers give the same bytes. D is diagonal: the matrix has to be definite or quasi-definite, that
 * is, a positive definite block, a negative definite one, and anything between them (Vanderbei,
 * SIAM Journal on Optimization 5, 1995). Then L exists for each order, and the signs of D tell how
 * many eigenvalues are positive.
 */
typedef struct tali_sparse tali_sparse;

/// What the signs of D say.
typedef struct tali_sparse_inertia {
    int positive, negative, zero; ///< numbers of eigenvalues; zero also counts what is not finite
} tali_sparse_inertia;

/**
 * Analyze a pattern, and take all memory that factors of it need.
 *
 * @param[in]  n      rows and columns
 * @param[in]  count  entries
 * @param[in]  row    [count] 0 <= row < n
 * @param[in]  col    [count]
 * @param[out] out    owned by the caller; NULL on failure
 * @return TAL_OK, or TAL_ERR_NO_MEMORY
 */
TAL_NODISCARD tal_status tali_sparse_create(const tal_allocator *allocator, int n, int count,
                                            const int row[], const int col[], tali_sparse **out);

/// Free it. NULL is allowed.
void tali_sparse_destroy(tali_sparse *it);

/// Entries of L below its diagonal.
size_t tali_sparse_fill(const tali_sparse *it);

/// Factor the matrix with these values, in the order of the triplets.
tali_sparse_inertia tali_sparse_factor(tali_sparse *it, const double value[]);

/// x <- A^-1 x, by the last factors; [n].
void tali_sparse_solve(tali_sparse *it, double x[]);

/**
 * An order in which elimination fills in little: minimum degree on the quotient graph (George and
 * Liu, SIAM Review 31, 1989), with the bound on degrees of Amestoy, Davis and Duff (SIAM Journal on
 * Matrix Analysis and Applications 17, 1996).
 *
 * @param[in]  start     [n + 1] of the neighbors of each node
 * @param[in]  neighbor  [start[n]] each pair both ways, none twice, none of a node with itself
 * @param[out] order     [n] order[k] is eliminated as the k-th
 * @return TAL_OK, or TAL_ERR_NO_MEMORY
 */
TAL_NODISCARD tal_status tali_sparse_order(const tal_allocator *allocator, int n, const int start[],
                                           const int neighbor[], int order[]);

#endif // TALUS_SPARSE_INTERNAL_H
