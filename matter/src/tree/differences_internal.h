// Derivatives by differences, for the testers of tables.
//
// The central difference D(h) = (f(h) - f(-h)) / 2h is off by h^2 f'''/6 + h^4 f^(5)/120 + ..., and
//
//     (4 D(h/2) - D(h)) / 3 = f' - h^4 f^(5)/480 + ...
//
// With h = 1e-3 and f^(5) up to some hundreds, that is 1e-12; round-off adds 3 eps/h = 7e-13.
#ifndef TALUS_DIFFERENCES_INTERNAL_H
#define TALUS_DIFFERENCES_INTERNAL_H

#include <math.h>

/// Where a function is wanted, and the weights that its values have in the derivative.
typedef struct tali_differences_four_points {
    double step[4];
    double weight[4];
} tali_differences_four_points;

static inline tali_differences_four_points tali_differences_four_points_of(double h)
{
    const tali_differences_four_points at = {
        {-h, -h / 2.0, h / 2.0, h},
        {1.0 / (6.0 * h), -4.0 / (3.0 * h), 4.0 / (3.0 * h), -1.0 / (6.0 * h)}};
    return at;
}

/// Largest |a[i] - b[i]|, relative to the largest |b[i]| or to 1, whichever is larger. A NaN counts
/// as infinitely wrong.
static inline double tali_differences_slope(const double a[], const double b[], int n)
{
    double worst = 0.0, size = 1.0;
    for (int i = 0; i < n; ++i) {
        const double d = fabs(a[i] - b[i]);
        if (!(d <= HUGE_VAL)) return HUGE_VAL;
        worst = fmax(worst, d);
        size = fmax(size, fabs(b[i]));
    }
    return worst / size;
}

#endif // TALUS_DIFFERENCES_INTERNAL_H
