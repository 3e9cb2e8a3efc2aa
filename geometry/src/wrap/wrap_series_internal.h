// Power series of one variable, cut off, for geodesics.
#ifndef TALUS_WRAP_SERIES_INTERNAL_H
#define TALUS_WRAP_SERIES_INTERNAL_H

/// Highest power of a series.
#define TALI_WRAP_ORDER 20

/// Highest power of fields of geodesics, which only tell Newton's method where to go.
#define TALI_WRAP_ORDER_Y 10

/// What may be left out of a direction where the answer depends on it.
#define TALI_WRAP_EXACT 1e-15

typedef double tali_wrap_series[TALI_WRAP_ORDER + 1];

/// Coefficient k of the product a b.
static inline double tali_wrap_product(const double *a, const double *b, int k)
{
    double sum = 0.0;
    for (int j = 0; j <= k; ++j) {
        sum += a[j] * b[k - j];
    }
    return sum;
}

/// Coefficient k of the square of a.
static inline double tali_wrap_square(const double *a, int k)
{
    double sum = 0.0;
    for (int j = 0; 2 * j < k; ++j) {
        sum += a[j] * a[k - j];
    }
    return k % 2 == 0 ? 2.0 * sum + a[k / 2] * a[k / 2] : 2.0 * sum;
}

/// Coefficient k of a / b, given those of q = a / b below k and a[k].
static inline double tali_wrap_quotient(double a_k, const double *b, const double *q, int k)
{
    double sum = a_k;
    for (int j = 0; j < k; ++j) {
        sum -= q[j] * b[k - j];
    }
    return sum / b[0];
}

/// The sum of a series of powers up to n.
static inline double tali_wrap_sum(const double *a, int n, double s)
{
    double sum = a[n];
    for (int k = n - 1; k >= 0; --k) {
        sum = sum * s + a[k];
    }
    return sum;
}

/**
 * How far a series of a unit vector can be summed, and leave out no more than a tolerance.
 *
 * @param[in] last  size of its last two coefficients
 */
double tali_wrap_reach(const double last[2], int n, double tolerance);

#endif // TALUS_WRAP_SERIES_INTERNAL_H
