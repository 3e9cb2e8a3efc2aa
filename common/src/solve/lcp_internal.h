// What the solvers of complementarity problems share.
#ifndef TALUS_LCP_INTERNAL_H
#define TALUS_LCP_INTERNAL_H

#include "dense/dense_internal.h"

/// Entry (i, j) of a symmetric matrix of which the lower triangle is stored.
static inline double tali_lcp_symmetric(tal_matrix A, int i, int j)
{
    return i >= j ? tali_dense_col(A, j)[i] : tali_dense_col(A, i)[j];
}

/// The largest diagonal entry; 0 of nothing.
static inline double tali_lcp_largest_diagonal(tal_matrix A)
{
    double most = 0.0;
    for (int i = 0; i < A.rows; ++i) {
        if (tali_dense_col(A, i)[i] > most) most = tali_dense_col(A, i)[i];
    }
    return most;
}

#endif // TALUS_LCP_INTERNAL_H
