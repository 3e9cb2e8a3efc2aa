// Are all numbers of an array finite? Fast enough to ask in every evaluation.
#ifndef TALUS_FINITE_INTERNAL_H
#define TALUS_FINITE_INTERNAL_H

#include <math.h>
#include <stdbool.h>

/// True when no number is a NaN or an infinity. Zero times each is summed: NaN if any of them is not
/// finite. Four sums, so that none waits for the one before.
static inline bool tali_all_finite(const double values[], int n)
{
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        sum[0] += 0.0 * values[i];
        sum[1] += 0.0 * values[i + 1];
        sum[2] += 0.0 * values[i + 2];
        sum[3] += 0.0 * values[i + 3];
    }
    for (; i < n; ++i) {
        sum[0] += 0.0 * values[i];
    }
    return isfinite((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

#endif // TALUS_FINITE_INTERNAL_H
