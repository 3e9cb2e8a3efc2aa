// `real` of several lanes, one pair of atoms each: what real_internal.h has for one. Only one of
// the two headers is included by a file.
//
// Nothing here is fused or approximate: every lane rounds as a double does, so that all processors
// agree to the bit.
#ifndef TALUS_LANES_H
#define TALUS_LANES_H

#include <talus/common/status.h>

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#else
#include <math.h>
#endif

/// How many lanes the registers have.
#if defined(__AVX512F__)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif

typedef double real __attribute__((vector_size(8 * LANES)));
typedef int64_t mask __attribute__((vector_size(8 * LANES))); ///< all bits of a lane, or none
typedef uint64_t wrapping __attribute__((vector_size(8 * LANES)));

TAL_ALWAYS_INLINE real spread(double x)
{
    return x - (real){0.0};
}

TAL_ALWAYS_INLINE mask spread_bits(int64_t x)
{
    return x - (mask){0};
}

TAL_ALWAYS_INLINE real load(const double x[])
{
    real out;
    memcpy(&out, x, sizeof out);
    return out;
}

TAL_ALWAYS_INLINE mask load_bits(const int64_t x[])
{
    mask out;
    memcpy(&out, x, sizeof out);
    return out;
}

TAL_ALWAYS_INLINE void store_bits(int64_t x[], mask value)
{
    memcpy(x, &value, sizeof value);
}

TAL_ALWAYS_INLINE mask less(real a, real b)
{
    return a < b;
}

/// A bit for every lane that is set, the first lowest.
TAL_ALWAYS_INLINE uint32_t bits_of(mask which)
{
#if defined(__AVX512DQ__)
    return (uint32_t)_mm512_movepi64_mask((__m512i)which);
#elif defined(__AVX__)
    return (uint32_t)_mm256_movemask_pd((__m256d)which);
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_pd((__m128d)which);
#else
    uint32_t bits = 0;
    for (int k = 0; k < LANES; ++k) {
        bits |= (uint32_t)(which[k] & 1) << k;
    }
    return bits;
#endif
}

/// The lanes whose bits are set.
TAL_ALWAYS_INLINE mask lanes_of(uint32_t bits)
{
#if LANES == 2 // there is no comparison of such integers
    static const int64_t masks[4][2] = {{0, 0}, {-1, 0}, {0, -1}, {-1, -1}};
    return load_bits(masks[bits & 3u]);
#else
    mask which;
    for (int k = 0; k < LANES; ++k) {
        which[k] = (int64_t)1 << k;
    }
    return (spread_bits((int64_t)bits) & which) != spread_bits(0);
#endif
}

TAL_ALWAYS_INLINE real pick(mask which, real yes, real no)
{
    return (real)((which & (mask)yes) | (~which & (mask)no));
}

TAL_ALWAYS_INLINE real real_sqrt(real x)
{
#if defined(__AVX512F__)
    return (real)_mm512_sqrt_pd((__m512d)x);
#elif defined(__AVX__)
    return (real)_mm256_sqrt_pd((__m256d)x);
#elif defined(__SSE2__)
    return (real)_mm_sqrt_pd((__m128d)x);
#else
    for (int k = 0; k < LANES; ++k) {
        x[k] = sqrt(x[k]);
    }
    return x;
#endif
}

/// 3/2 2^52: what is added to it is rounded to a whole number, whose bits are the last ones of the
/// sum. For numbers below 2^51.
#define ROUNDER 6755399441055744.0

/// The nearest whole number.
TAL_ALWAYS_INLINE real real_rint(real x)
{
    return (x + ROUNDER) - ROUNDER;
}

/// Sums and differences of whole numbers; one that leaves the range wraps.
TAL_ALWAYS_INLINE mask plus(mask a, mask b)
{
    return (mask)((wrapping)a + (wrapping)b);
}

TAL_ALWAYS_INLINE mask minus(mask a, mask b)
{
    return (mask)((wrapping)a - (wrapping)b);
}

/// The nearest whole number as an integer. `over` gets bits above the 51st where it is too large.
TAL_ALWAYS_INLINE mask whole_of(real x, mask *over)
{
    const mask rounder = (mask)spread(ROUNDER), sum = (mask)(x + ROUNDER);
    *over |= sum ^ rounder;
    return minus(sum, rounder);
}

/// The sum of all lanes; a sum that leaves the range wraps.
TAL_ALWAYS_INLINE int64_t sum_of(mask x)
{
    uint64_t sum = 0;
    for (int k = 0; k < LANES; ++k) {
        sum += (uint64_t)x[k];
    }
    return (int64_t)sum;
}

#endif // TALUS_LANES_H
