// Symmetric positive definite matrices of trees: H = L^T L, from the last row to the first.
#ifndef TALUS_SPARSE_TREE_INTERNAL_H
#define TALUS_SPARSE_TREE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

/**
 * A matrix by its upper triangle, and its factor in the same place.
 *
 * Where speeds are numbered from Ground outward and branches do not act on each other, an entry
 * that is zero stays zero (RBDA sec. 6.5): factors cost n times the square of what a branch has,
 * not n^3. No pattern is told; zeros are found as they are met. Loops fill in along themselves.
 */
typedef struct tali_sparse_tree {
    int n;
    double *H; ///< [n n] entry (i, j), i <= j, is H[i + n j]; the rest is not looked at
    int *list; ///< [n n] room: column j begins at n j
    int *used; ///< [n] room
} tali_sparse_tree;

/// Factor it. False when a pivot is not positive, or not a number; `*pivot` is its row then.
bool tali_sparse_tree_factor(const tali_sparse_tree *it, int *pivot);

/// x <- H^-1 x, by the last factors; [n].
void tali_sparse_tree_solve(const tali_sparse_tree *it, double x[]);

/// H += c A^T A of A, m x n by columns: row by row, where it has entries.
void tali_sparse_tree_add_square(const tali_sparse_tree *it, const double A[], int m, double c);

#endif // TALUS_SPARSE_TREE_INTERNAL_H
