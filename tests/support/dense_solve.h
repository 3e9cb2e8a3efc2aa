// Dense linear equations in long double, by elimination with full pivoting: rank, one solution, the
// null space.
#ifndef TALUS_DENSE_SOLVE_H
#define TALUS_DENSE_SOLVE_H

#include "dense_jet.h"

#include <stdlib.h>

enum {
    DENSE_MAX = 112
};

/// A symmetric matrix S a S with a diagonal S, and what elimination made of it.
typedef struct dense {
    int n, rank;
    real a[DENSE_MAX][DENSE_MAX];       // in: the matrix; out: reduced
    real inverse[DENSE_MAX][DENSE_MAX]; // the row operations; of the rank x rank part: its inverse
    real scale[DENSE_MAX];              // S, set by the caller
    int pivot_row[DENSE_MAX], pivot_column[DENSE_MAX];
    bool row_is_used[DENSE_MAX], column_is_used[DENSE_MAX];
    real last_pivot, first_zero; // the smallest pivot taken, the largest entry left
} dense;

static inline void dense_find_pivot(const dense *A, int *row, int *column)
{
    real largest = -1.0L;
    for (int i = 0; i < A->n; ++i) {
        for (int k = 0; k < A->n && !A->row_is_used[i]; ++k) {
            if (A->column_is_used[k] || fabsl(A->a[i][k]) <= largest) continue;
            largest = fabsl(A->a[i][k]);
            *row = i, *column = k;
        }
    }
}

static inline void dense_begin(dense *A)
{
    for (int i = 0; i < A->n; ++i) {
        A->row_is_used[i] = A->column_is_used[i] = false;
        for (int k = 0; k < A->n; ++k) {
            A->a[i][k] *= A->scale[i] * A->scale[k];
            A->inverse[i][k] = i == k ? 1.0L : 0.0L;
        }
    }
    A->last_pivot = INFINITY, A->first_zero = 0.0L;
}

/// Gauss and Jordan: pivots below `zero` end it.
static inline void dense_eliminate(dense *A, real zero)
{
    const int n = A->n;
    dense_begin(A);
    for (A->rank = 0; A->rank < n; ++A->rank) {
        int row = 0, column = 0;
        dense_find_pivot(A, &row, &column);
        const real pivot = A->a[row][column];
        if (fabsl(pivot) < zero) {
            A->first_zero = fabsl(pivot);
            return;
        }
        A->last_pivot = fminl(A->last_pivot, fabsl(pivot));
        A->row_is_used[row] = A->column_is_used[column] = true;
        A->pivot_row[A->rank] = row, A->pivot_column[A->rank] = column;
        for (int k = 0; k < n; ++k) {
            A->a[row][k] /= pivot;
            A->inverse[row][k] /= pivot;
        }
        for (int i = 0; i < n; ++i) {
            const real by = A->a[i][column];
            if (i == row || by == 0.0L) continue;
            for (int k = 0; k < n; ++k) {
                A->a[i][k] -= by * A->a[row][k];
                A->inverse[i][k] -= by * A->inverse[row][k];
            }
        }
    }
}

/// x with A x = b, zero in the columns without a pivot. Returns the largest residual of rows
/// without one.
static inline real dense_solve(const dense *A, const real b[], real x[])
{
    for (int i = 0; i < A->n; ++i) {
        x[i] = 0.0L;
    }
    for (int r = 0; r < A->rank; ++r) {
        for (int k = 0; k < A->n; ++k) {
            x[A->pivot_column[r]] += A->inverse[A->pivot_row[r]][k] * A->scale[k] * b[k];
        }
        x[A->pivot_column[r]] *= A->scale[A->pivot_column[r]];
    }
    real left = 0.0L;
    for (int i = 0; i < A->n; ++i) {
        real residual = 0.0L;
        for (int k = 0; k < A->n && !A->row_is_used[i]; ++k) {
            residual += A->inverse[i][k] * A->scale[k] * b[k];
        }
        left = fmaxl(left, fabsl(residual));
    }
    return left;
}

/// Take from x its part in the null space of A: of all solutions that leaves the shortest.
static inline void dense_shorten(const dense *A, real x[])
{
    static real basis[DENSE_MAX][DENSE_MAX];
    int num = 0;
    for (int k = 0; k < A->n; ++k) {
        if (A->column_is_used[k]) continue;
        real *const v = basis[num++];
        for (int i = 0; i < A->n; ++i) {
            v[i] = i == k ? A->scale[k] : 0.0L;
        }
        for (int r = 0; r < A->rank; ++r) {
            v[A->pivot_column[r]] = -A->scale[A->pivot_column[r]] * A->a[A->pivot_row[r]][k];
        }
    }
    for (int j = 0; j <= num; ++j) { // the last one is x
        real *const v = j < num ? basis[j] : x;
        for (int twice = 0; twice < 2; ++twice) { // Gram and Schmidt
            for (int i = 0; i < j; ++i) {
                real dot = 0.0L;
                for (int k = 0; k < A->n; ++k) {
                    dot += basis[i][k] * v[k];
                }
                for (int k = 0; k < A->n; ++k) {
                    v[k] -= dot * basis[i][k];
                }
            }
        }
        real length = 0.0L;
        for (int k = 0; k < A->n; ++k) {
            length += v[k] * v[k];
        }
        for (int k = 0; k < A->n && j < num; ++k) {
            v[k] /= sqrtl(length);
        }
    }
}

#endif // TALUS_DENSE_SOLVE_H
