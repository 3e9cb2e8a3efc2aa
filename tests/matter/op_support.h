// Dense matrices on the heap for the tests of operators, and how accurate an operator can be.
#ifndef TALUS_OP_SUPPORT_H
#define TALUS_OP_SUPPORT_H

#include "random_tree.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/// A packed matrix of zeros; free its data.
static inline tal_matrix zeros(int rows, int cols)
{
    double *data = calloc((size_t)rows * (size_t)cols + 1, sizeof *data);
    ck_assert_ptr_nonnull(data);
    return tal_matrix_view(data, rows, cols);
}

/// A packed matrix of NaN, so that whatever an operator forgets to write shows; free its data.
static inline tal_matrix dense(int rows, int cols)
{
    tal_matrix A = zeros(rows, cols);
    for (int i = 0; i < rows * cols; ++i) {
        A.data[i] = (double)NAN;
    }
    return A;
}

static inline double *at(tal_matrix A, int i, int j)
{
    return A.data + (size_t)j * (size_t)A.ld + (size_t)i;
}

static inline void fill_random(tal_matrix A, test_rng *rng)
{
    for (int j = 0; j < A.cols; ++j) {
        for (int i = 0; i < A.rows; ++i) {
            *at(A, i, j) = test_random_uniform(rng, -1.0, 1.0);
        }
    }
}

/// C = A B, or C = A^T B.
static inline void multiply(tal_matrix A, bool transpose, tal_matrix B, tal_matrix C)
{
    for (int j = 0; j < C.cols; ++j) {
        for (int i = 0; i < C.rows; ++i) {
            double sum = 0.0;
            for (int k = 0; k < B.rows; ++k) {
                sum += (transpose ? *at(A, k, i) : *at(A, i, k)) * *at(B, k, j);
            }
            *at(C, i, j) = sum;
        }
    }
}

/// Root of the sum of squares of A - B; B may be empty for zero.
static inline double distance(tal_matrix A, tal_matrix B)
{
    double sum = 0.0;
    for (int j = 0; j < A.cols; ++j) {
        for (int i = 0; i < A.rows; ++i) {
            const double d = *at(A, i, j) - (B.data != NULL ? *at(B, i, j) : 0.0);
            sum += d * d;
        }
    }
    return sqrt(sum);
}

static inline double size_of(tal_matrix A)
{
    const tal_matrix none = {NULL, 0, 0, 1};
    return distance(A, none);
}

/// Least and largest eigenvalue of a symmetric matrix, which is kept.
typedef struct spectrum {
    double least, most;
} spectrum;

static inline spectrum spectrum_of(tal_matrix S)
{
    const int n = S.rows, work_size = tal_lapack_eig_sym_work_size(n);
    tal_matrix copy = dense(n, n), w = dense(n, 1), work = dense(work_size, 1);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            *at(copy, i, j) = *at(S, i, j);
        }
    }
    ck_assert_int_eq(tal_lapack_eig_sym(copy, w.data, false, work.data, work_size, NULL), TAL_OK);
    const spectrum found = {w.data[0], w.data[n - 1]};
    free(copy.data);
    free(w.data);
    free(work.data);
    return found;
}

/// Every operation must succeed, or the State says why, and give back the scratch memory it took.
#define must(state, call)                                                                          \
    do {                                                                                           \
        const size_t taken_ = tal_state_scratch_mark(state);                                       \
        const tal_status must_ = (call);                                                           \
        ck_assert_msg(must_ == TAL_OK, "%s: %s", #call, tal_state_error(state)->message);          \
        ck_assert_msg(tal_state_scratch_mark(state) == taken_, "%s keeps scratch memory", #call);  \
    } while (0)

/// The trees the operators are tried on: from one body to 200, chains and bushes.
static inline random_tree tree_number(int k)
{
    static const int sizes[] = {1, 2, 3, 7, 20, 40, 60, 200};
    random_tree_def def = random_tree_def_default((uint64_t)(100 + k));
    def.num_bodies = sizes[k / 2];
    def.chain = k % 2 == 1 && def.num_bodies <= 40;
    random_tree tree = random_tree_create(&def);
    random_tree_realize(&tree, tree.state, TAL_STAGE_VELOCITY);
    return tree;
}

enum {
    NUM_TREES = 16
};

#endif // TALUS_OP_SUPPORT_H
