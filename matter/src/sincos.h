// Sine and cosine for the sweeps: the same bits in all sets of kernels with FMA, and in all without
// (ADR 20), whatever the libm; no call, so that they stay within the loops.
#ifndef TALUS_SINCOS_H
#define TALUS_SINCOS_H

#include "kernel_begin.h"

#include <stdint.h>
#include <string.h>

typedef struct sine_cosine {
    real s, c;
} sine_cosine;

// Polynomials for |r| <= pi/4, in z = r^2. The coefficients are the minimax ones Sun Microsystems
// published with fdlibm. The reduced angle is r + tail, and |tail| is below half a unit of r.

// sin(r + tail) = r + r^3 S(z) + tail cos(r)
static inline real sin_reduced(real r, real tail)
{
    const real z = r * r;
    real S = 1.58969099521155010221e-10;
    S = fused(S, z, -2.50507602534068634195e-08);
    S = fused(S, z, 2.75573137070700676789e-06);
    S = fused(S, z, -1.98412698298579493134e-04);
    S = fused(S, z, 8.33333333332248946124e-03);
    S = fused(S, z, -1.66666666666666324348e-01);
    return r + fused(r * z, S, tail * (1.0 - 0.5 * z));
}

// cos(r + tail) = 1 - z/2 + z^2 C(z) - tail sin(r). What rounding takes from 1 - z/2 is given back.
static inline real cos_reduced(real r, real tail)
{
    const real z = r * r;
    real C = -1.13596475577881948265e-11;
    C = fused(C, z, 2.08757232129817482790e-09);
    C = fused(C, z, -2.75573143513906633035e-07);
    C = fused(C, z, 2.48015872894767294178e-05);
    C = fused(C, z, -1.38888888888741095749e-03);
    C = fused(C, z, 4.16666666666666019037e-02);
    const real half = 0.5 * z;
    const real head = 1.0 - half;
    const real lost = (1.0 - head) - half;
    return head + (lost + fused(z * z, C, -(r * tail)));
}

// Angles beyond this go to libm: three pieces of pi/2 no longer reduce them well.
#define SINCOS_MAX 1e5

static inline uint64_t bits_of(real x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline real real_of(uint64_t bits)
{
    real x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// For |x| < SINCOS_MAX. Which of the two polynomials is the sine, and with which sign, is settled
// by bits instead of comparisons, so that a loop over many angles can be vectorized.
static inline sine_cosine sincos_below_max(real x)
{
    // x = n pi/2 + r, by pi/2 in three pieces (Cody and Waite); the first two have 33 bits, so that
    // n times a piece is exact
    const real magic = 6755399441055744.0; // 1.5 * 2^52: adding it rounds to an integer
    const real shifted = x * 6.36619772367581382433e-01 + magic;
    const real n = shifted - magic;
    const real first = x - n * 1.57079632673412561417e+00;
    const real second = n * 6.07710050630396597660e-11;
    const real high = first - second;
    const real low = ((first - high) - second) - n * 2.02226624879595063154e-21;
    const real r = high + low;
    const real tail = (high - r) + low;

    const uint64_t s = bits_of(sin_reduced(r, tail));
    const uint64_t c = bits_of(cos_reduced(r, tail));
    const uint64_t quadrant = bits_of(shifted); // its last two bits are those of n
    const uint64_t swap = (s ^ c) & (0 - (quadrant & 1));
    return (sine_cosine){real_of(s ^ swap ^ ((quadrant & 2) << 62)),
                         real_of(c ^ swap ^ (((quadrant + 1) & 2) << 62))};
}

static inline sine_cosine sincos_of(real x)
{
    return fabs(x) < SINCOS_MAX ? sincos_below_max(x) : (sine_cosine){sin(x), cos(x)};
}

#endif // TALUS_SINCOS_H
