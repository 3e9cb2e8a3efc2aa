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
static inline bool tali_are_bits_finite(uint64_t bits)
{
    return bits << 1 == 0;
}

/// True when no number is a NaN or an infinity.
static inline bool tali_all_finite(const double values[], int n)
{
    uint64_t bits = 0;
    for (int i = 0; i < n; ++i) {
        bits |= tali_finite_bits(values[i]);
    }
    return tali_are_bits_finite(bits);
}

/// Copy n numbers. True when none is a NaN or an infinity.
static inline bool tali_copy_finite(double *restrict to, const double *restrict from, int n)
{
    uint64_t bits = 0;
    for (int i = 0; i < n; ++i) {
        to[i] = from[i];
        bits |= tali_finite_bits(from[i]);
    }
    return tali_are_bits_finite(bits);
}

#endif // TALUS_FINITE_INTERNAL_H
