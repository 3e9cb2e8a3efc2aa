// Are all numbers of an array finite? Fast enough to ask in every evaluation.
#ifndef TALUS_FINITE_INTERNAL_H
#define TALUS_FINITE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/// The bits of zero times a number: none but the sign if it is finite, those of a NaN otherwise.
/// Bits of many numbers are collected by OR, which unlike a sum waits for nothing and has no order.
static inline uint64_t tali_finite_bits(double value)
{
    const double zero = 0.0 * value;
    uint64_t bits;
    memcpy(&bits, &zero, sizeof bits);
    return bits;
}

/// True when the numbers whose bits were collected are all finite.
static inline bool tali_finite_are_bits(uint64_t bits)
{
    return bits << 1 == 0;
}

/// The same one by one, for those whose sum is not finite.
static inline bool tali_finite_each(const double values[], int n)
{
    uint64_t bits = 0;
    for (int i = 0; i < n; ++i) {
        bits |= tali_finite_bits(values[i]);
    }
    return tali_finite_are_bits(bits);
}

/// True when no number is a NaN or an infinity. A sum that is finite says so, for one instruction a
/// number; one that is not may have overflowed.
static inline bool tali_finite_all(const double values[], int n)
{
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        sum[0] += values[i];
        sum[1] += values[i + 1];
        sum[2] += values[i + 2];
        sum[3] += values[i + 3];
    }
    for (; i < n; ++i) {
        sum[0] += values[i];
    }
    const double all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    return tali_finite_are_bits(tali_finite_bits(all)) || tali_finite_each(values, n);
}

/// True when no number is a NaN or so large that its square overflows, 1.3e154: then products of
/// two such numbers are finite. As fast as tali_finite_all().
static inline bool tali_finite_squares(const double values[], int n)
{
    double even = 0.0, odd = 0.0;
    int i = 0;
    for (; i + 2 <= n; i += 2) {
        even += values[i] * values[i];
        odd += values[i + 1] * values[i + 1];
    }
    if (i < n) even += values[i] * values[i];
    return tali_finite_are_bits(tali_finite_bits(even + odd));
}

#endif // TALUS_FINITE_INTERNAL_H
