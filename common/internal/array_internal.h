// Sums over arrays of doubles that are not worth a matrix.
#ifndef TALUS_ARRAY_INTERNAL_H
#define TALUS_ARRAY_INTERNAL_H

#include <math.h>
#include <stddef.h>

/// a^T b, summed in order.
static inline double tali_array_dot(const double a[], const double b[], int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

/// The largest |x_i|; 0 of nothing. A NaN does not count.
static inline double tali_array_largest(const double x[], int n)
{
    double most = 0.0;
    for (int i = 0; i < n; ++i) {
        const double size = fabs(x[i]);
        if (size > most) most = size;
    }
    return most;
}

/// The largest diagonal entry of a matrix of n columns, `ld` apart; 0 if no entry is positive.
static inline double tali_array_largest_diagonal(const double A[], int n, int ld)
{
    double most = 0.0;
    for (int i = 0; i < n; ++i) {
        const double entry = A[(ptrdiff_t)i * ld + i];
        if (entry > most) most = entry;
    }
    return most;
}

#endif // TALUS_ARRAY_INTERNAL_H
