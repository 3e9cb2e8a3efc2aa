// What kernels and force laws are written in: the number `real` and the few operations on it.
//
// Width 1, strict C17: real is double. Wider builds map the same names to SIMD lanes, one State
// each, and tests to numbers with a derivative (ADR 26). So code over `real` computes both sides of
// a choice and picks; it leaves a side out only if no lane picks it (`all`, `any`).
#ifndef TALUS_REAL_INTERNAL_H
#define TALUS_REAL_INTERNAL_H

#include <talus/common/status.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef double real;
typedef bool mask;
typedef uint64_t real_bits;

/// Whether the machine that this is compiled for multiplies and adds in one instruction. The
/// standard's macro is not defined by clang.
#if defined(FP_FAST_FMA) || defined(__FMA__)
#define HAS_FMA
#endif

/// The same number in all lanes.
TAL_ALWAYS_INLINE real spread(double x)
{
    return x;
}

/// @name Comparisons. With a NaN all are false.
/// @{
TAL_ALWAYS_INLINE mask less(real a, real b)
{
    return a < b;
}

TAL_ALWAYS_INLINE mask equal(real a, real b)
{
    return a == b;
}

/// @}

/// What holds in all lanes or in none; what holds where both do. For `true` and `&&`, which are for
/// one lane alone.
TAL_ALWAYS_INLINE mask everywhere(bool holds)
{
    return holds;
}

TAL_ALWAYS_INLINE mask both(mask a, mask b)
{
    return a && b;
}

/// Whether it holds in all lanes, in any lane: to leave out work whose result no lane would pick.
/// No other test on a value is allowed in code over `real`.
TAL_ALWAYS_INLINE bool all(mask which)
{
    return which;
}

TAL_ALWAYS_INLINE bool any(mask which)
{
    return which;
}

/// What the mask says; the other number may be anything, also a NaN.
TAL_ALWAYS_INLINE real pick(mask which, real yes, real no)
{
    return which ? yes : no;
}

/// a b + c, rounded once where the machine does that in one instruction.
TAL_ALWAYS_INLINE real fused(real a, real b, real c)
{
#ifdef HAS_FMA
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}

TAL_ALWAYS_INLINE real_bits bits_of(real x)
{
    real_bits bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

TAL_ALWAYS_INLINE real real_of(real_bits bits)
{
    real x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/// @name What IEEE 754 makes exact: a NaN stays one, and zeros keep their sign.
/// @{
TAL_ALWAYS_INLINE real real_abs(real x)
{
    return real_of(bits_of(x) & ~((real_bits)1 << 63));
}

/// |x| with the sign of `sign`.
TAL_ALWAYS_INLINE real real_copysign(real x, real sign)
{
    const real_bits top = (real_bits)1 << 63;
    return real_of((bits_of(x) & ~top) | (bits_of(sign) & top));
}

TAL_ALWAYS_INLINE real real_sqrt(real x)
{
    return sqrt(x);
}

/// @}

/// The smaller and the larger of two numbers; x if the other is a NaN, a NaN if x is one.
TAL_ALWAYS_INLINE real at_most(real x, real most)
{
    return pick(less(most, x), most, x);
}

TAL_ALWAYS_INLINE real at_least(real x, real least)
{
    return pick(less(x, least), least, x);
}

#endif // TALUS_REAL_INTERNAL_H
