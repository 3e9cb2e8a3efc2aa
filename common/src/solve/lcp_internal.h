// What the solvers of complementarity problems share.
#ifndef TALUS_LCP_INTERNAL_H
#define TALUS_LCP_INTERNAL_H

#include "dense/dense_internal.h"

/// Entry (i, j) of a symmetric matrix of which the lower triangle is stored.
static inline double tali_lcp_symmetric(tal_matrix A, int i, int j)
{
    return i >= j ? tali_dense_col(A, j)[i] : tali_dense_col(A, i)[j];
}

#endif // TALUS_LCP_INTERNAL_H
