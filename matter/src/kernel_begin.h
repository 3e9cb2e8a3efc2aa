// What a sweep kernel is written in (KERNELS: doc/adr/0003): `real` and the small types on it.
//
// Width 1, strict C17: real is double, and the small types are the public ones, so the caches that
// the sweeps fill can be read as they are. Wider kernels will map the same names to SIMD lanes.
// A kernel has no test on a value: it computes both sides and picks.
#ifndef TALUS_KERNEL_BEGIN_H
#define TALUS_KERNEL_BEGIN_H

#include <talus/common/inertia.h>

#include <math.h>

typedef double real;
typedef bool mask;
typedef tal_vec3 v3;
typedef tal_mat3 m3;
typedef tal_sym3 s3;
typedef tal_spatial_vec sv;
typedef tal_abi abi;

static inline mask less(real a, real b)
{
    return a < b;
}

static inline real pick(mask which, real yes, real no)
{
    return which ? yes : no;
}

/// Whether the machine that this is compiled for multiplies and adds in one instruction. The
/// standard's macro is not defined by clang.
#if defined(FP_FAST_FMA) || defined(__FMA__)
#define HAS_FMA
#endif

/// a b + c, rounded once where the machine does that in one instruction.
static inline real fused(real a, real b, real c)
{
#ifdef HAS_FMA
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}

/// Before a loop whose iterations touch no number of each other, so that it can be vectorized where
/// the compiler cannot see it. Clang's word for this is an order, with a warning where it is not
/// obeyed, and it checks for overlap by itself.
#if defined(__GNUC__) && !defined(__clang__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif

#endif // TALUS_KERNEL_BEGIN_H
