// Dense matrices for tests: random fills, products, norms. Column-major, packed.
#ifndef TALUS_DENSE_TEST_H
#define TALUS_DENSE_TEST_H

#include <talus/common.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

// the C library's are of type float
#define TEST_NAN      ((double)NAN)
#define TEST_INFINITY ((double)INFINITY)

enum {
    TEST_MAX = 40,
    TEST_MAX2 = TEST_MAX * TEST_MAX
};

/// A matrix of up to TEST_MAX x TEST_MAX numbers.
typedef struct test_dense {
    double data[TEST_MAX2];
    int rows, cols;
} test_dense;

static inline tal_matrix test_view(test_dense *A)
{
    return tal_matrix_view(A->data, A->rows, A->cols);
}

static inline double test_at(const test_dense *A, int i, int j)
{
    return A->data[i + j * A->rows];
}

/// Independent standard normal entries.
static inline test_dense test_random_dense(tal_random *rng, int rows, int cols)
{
    test_dense A = {{0.0}, rows, cols};
    for (int i = 0; i < rows * cols; ++i) {
        A.data[i] = tal_random_normal(rng);
    }
    return A;
}

static inline test_dense test_identity(int n)
{
    test_dense A = {{0.0}, n, n};
    for (int i = 0; i < n; ++i) {
        A.data[i + i * n] = 1.0;
    }
    return A;
}

static inline test_dense test_transpose(const test_dense *A)
{
    test_dense T = {{0.0}, A->cols, A->rows};
    for (int i = 0; i < A->rows; ++i) {
        for (int j = 0; j < A->cols; ++j) {
            T.data[j + i * T.rows] = test_at(A, i, j);
        }
    }
    return T;
}

static inline test_dense test_product(const test_dense *A, const test_dense *B)
{
    test_dense C = {{0.0}, A->rows, B->cols};
    for (int j = 0; j < B->cols; ++j) {
        for (int k = 0; k < A->cols; ++k) {
            for (int i = 0; i < A->rows; ++i) {
                C.data[i + j * C.rows] += test_at(A, i, k) * test_at(B, k, j);
            }
        }
    }
    return C;
}

/// |A - B| in the Frobenius norm, with B possibly NULL for zero. Unscaled: for entries near 1.
static inline double test_distance(const test_dense *A, const test_dense *B)
{
    double sum = 0.0;
    for (int i = 0; i < A->rows * A->cols; ++i) {
        const double d = A->data[i] - (B != NULL ? B->data[i] : 0.0);
        sum += d * d;
    }
    return sqrt(sum);
}

static inline double test_size(const test_dense *A)
{
    return test_distance(A, NULL);
}

/// F F^T for a random F: positive semidefinite, of this rank with probability one.
static inline test_dense test_random_gram(tal_random *rng, int n, int rank)
{
    const test_dense F = test_random_dense(rng, n, rank);
    const test_dense Ft = test_transpose(&F);
    return test_product(&F, &Ft);
}

/// An m x n matrix of this rank, as a product of two thin ones.
static inline test_dense test_random_rank(tal_random *rng, int m, int n, int rank)
{
    const test_dense F = test_random_dense(rng, m, rank);
    const test_dense G = test_random_dense(rng, rank, n);
    return test_product(&F, &G);
}

#endif // TALUS_DENSE_TEST_H
