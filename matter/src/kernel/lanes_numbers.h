// The pass kernels over lanes: `double` becomes as many numbers as a register holds, one of each
// State (ADR 34).
//
// Forced before everything else, this header makes `double` such a vector in what follows: in the
// types of the layers and in the kernels, which are compiled as they are. It stands in for the
// headers whose functions compare or name numbers, and has only what kernels use of them.
#ifndef TALUS_KERNEL_LANES_NUMBERS_H
#define TALUS_KERNEL_LANES_NUMBERS_H

#include <assert.h>
#include <float.h>
#include <immintrin.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double plain;

#ifdef __AVX512F__
enum {
    LANES = 8
};
#else
enum {
    LANES = 4
};
#endif

typedef plain lanes_number __attribute__((vector_size(sizeof(plain) * LANES)));
typedef int64_t lanes_mask __attribute__((vector_size(sizeof(int64_t) * LANES)));

#define double lanes_number
#undef isfinite
#undef DBL_EPSILON
#define DBL_EPSILON 0x1p-52
#define isfinite(x) all(equal((x) - (x), spread(0.0)))

// --- real_internal.h ---

#define TALUS_REAL_INTERNAL_H
#define TALUS_REAL_FUNCTIONS_INTERNAL_H
#include <talus/common/status.h>

#define HAS_FMA

typedef lanes_number real;
typedef lanes_mask mask;

TAL_ALWAYS_INLINE real spread(plain x)
{
    return x - (real){0.0}; // exact, for -0 too
}

TAL_ALWAYS_INLINE mask less(real a, real b)
{
    return a < b;
}

TAL_ALWAYS_INLINE mask equal(real a, real b)
{
    return a == b;
}

TAL_ALWAYS_INLINE mask both(mask a, mask b)
{
    return a & b;
}

TAL_ALWAYS_INLINE mask everywhere(bool holds)
{
    return (mask){0} - (int64_t)holds;
}

#ifdef __AVX512F__
TAL_ALWAYS_INLINE bool all(mask which)
{
    return _mm512_movepi64_mask((__m512i)which) == 0xFF;
}

TAL_ALWAYS_INLINE real pick(mask which, real yes, real no)
{
    return _mm512_mask_blend_pd(_mm512_movepi64_mask((__m512i)which), no, yes);
}

TAL_ALWAYS_INLINE real fused(real a, real b, real c)
{
    return _mm512_fmadd_pd(a, b, c);
}
#else
TAL_ALWAYS_INLINE bool all(mask which)
{
    return _mm256_movemask_pd((__m256d)which) == 0xF;
}

TAL_ALWAYS_INLINE real pick(mask which, real yes, real no)
{
    return _mm256_blendv_pd(no, yes, (__m256d)which);
}

TAL_ALWAYS_INLINE real fused(real a, real b, real c)
{
    return _mm256_fmadd_pd(a, b, c);
}
#endif

typedef struct sine_cosine {
    real s, c;
} sine_cosine;

/// One by one, by the functions of width 1: the same bits.
#ifdef __AVX512F__
#define sincos_of tali_kernel_sincos_of_lanes8
#else
#define sincos_of tali_kernel_sincos_of_lanes4
#endif
sine_cosine sincos_of(real x);

#define TALUS_COMMON_SIGNAL_H
#include "kernel/number_types.h"

#endif // TALUS_KERNEL_LANES_NUMBERS_H
