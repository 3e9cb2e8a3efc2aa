// exp, log, tanh, pow, atan2, sine and cosine over `real`: no table, no branch, no call of libm, so
// that they run in lanes, stay within loops, and give the same bits whatever the libm is.
//
// Each is right to 2 units in the last place (1 for exp and log) over the whole range, subnormal
// numbers, infinities, NaN and signed zeros included; tests/common/test_real_functions.c measures
// it. A complex instance needs f(x + ih) = f(x) + ih f'(x) for each function, and nothing else.
//
// Polynomials that are not plain series have the minimax coefficients that Sun Microsystems
// published with fdlibm.
#ifndef TALUS_REAL_FUNCTIONS_INTERNAL_H
#define TALUS_REAL_FUNCTIONS_INTERNAL_H

#include "real_internal.h"

// --- polynomials ---

// c[0] + c[1] x + ... + c[n - 1] x^(n - 1) for n <= 16, as Estrin does it: neighbors are joined
// with x, pairs with x^2, and so on, so that no multiply-add waits for more than four others.
TAL_ALWAYS_INLINE real polynomial(real x, const double c[], const int n)
{
    real term[8];
    for (int i = 0; i < n; i += 2) {
        term[i / 2] = i + 1 < n ? fused(spread(c[i + 1]), x, spread(c[i])) : spread(c[i]);
    }
    real power = x * x;
    for (int m = (n + 1) / 2; m > 1; m = (m + 1) / 2) {
        for (int i = 0; i < m; i += 2) {
            term[i / 2] = i + 1 < m ? fused(term[i + 1], power, term[i]) : term[i];
        }
        power = power * power;
    }
    return term[0]; // cppcheck-suppress uninitvar ; n is at least 1
}

// --- numbers in two parts: high + low, |low| at most half a unit of high ---

typedef struct real_pair {
    real high, low;
} real_pair;

// a + b where |a| >= |b|, or a = 0
TAL_ALWAYS_INLINE real_pair sum_sorted(real a, real b)
{
    const real high = a + b;
    return (real_pair){high, b - (high - a)};
}

// a + b
TAL_ALWAYS_INLINE real_pair sum_exactly(real a, real b)
{
    const real high = a + b, of_b = high - a;
    return (real_pair){high, (a - (high - of_b)) + (b - of_b)};
}

#ifndef HAS_FMA
// x in two parts of 26 bits, as Veltkamp does it.
TAL_ALWAYS_INLINE real_pair split(real x)
{
    const real scaled = x * 134217729.0; // 2^27 + 1
    const real high = scaled - (scaled - x);
    return (real_pair){high, x - high};
}
#endif

// a b, by Dekker where there is no fused multiply-add
TAL_ALWAYS_INLINE real_pair product_exactly(real a, real b)
{
    const real high = a * b;
#ifdef HAS_FMA
    return (real_pair){high, fma(a, b, -high)};
#else
    const real_pair s = split(a), t = split(b);
    const real rest = ((s.high * t.high - high) + s.high * t.low) + s.low * t.high;
    return (real_pair){high, rest + s.low * t.low};
#endif
}

// --- exponentials ---

#define REAL_LN2_HIGH 6.93147180369123816490e-01 // 33 bits, so that n times it is exact
#define REAL_LN2_LOW  1.90821492927058770002e-10

// 1.5 * 2^52: adding it rounds to an integer, which is then in the last bits.
#define REAL_ROUNDER 6755399441055744.0

// x = n ln 2 + r + tail with |r| <= ln 2 / 2.
typedef struct reduced_exponent {
    real_bits n; ///< modulo 2^64
    real r, tail;
} reduced_exponent;

// Of x + rest, where |x| < 2000.
TAL_ALWAYS_INLINE reduced_exponent reduce_exponent(real x, real rest)
{
    const real shifted = x * 1.44269504088896338700e+00 + REAL_ROUNDER;
    const real n = shifted - REAL_ROUNDER;
    const real high = x - n * REAL_LN2_HIGH, low = n * REAL_LN2_LOW - rest;
    const real r = high - low;
    const real_bits whole = bits_of(shifted) - bits_of(spread(REAL_ROUNDER));
    return (reduced_exponent){whole, r, (high - r) - low};
}

// e^(r + tail) = 1 + r + what this returns. The polynomial is close to the series 1/2 + r/6 + ...:
// the minimax one by Remez' algorithm, whose relative error of e^r - 1 is below 1.8e-17.
TAL_ALWAYS_INLINE real exp_beyond_linear(real r, real tail)
{
    static const double c[] = {5.00000000000000555e-01, 1.66666666666666852e-01,
                               4.16666666665743146e-02, 8.33333333331472137e-03,
                               1.38888889321359121e-03, 1.98412699027160128e-04,
                               2.48015047548329507e-05, 2.75572282578597991e-06,
                               2.76261977262723136e-07, 2.51143707904596709e-08};
    return fused(r * r, polynomial(r, c, 10), tail);
}

// x 2^n for |n| < 2000, in two steps of which only the second rounds.
TAL_ALWAYS_INLINE real scale_by_power(real x, real_bits n)
{
    const real_bits sum = n + 4096; // positive, so that halving is a shift
    const real_bits first = sum >> 1, second = sum - first;
    return x * real_of((first - 1025) << 52) * real_of((second - 1025) << 52);
}

// e^(x + rest). Within +-708 it is a normal number, and adding to the exponent scales; beyond
// +-1000 it is infinite or zero anyway.
TAL_ALWAYS_INLINE real exp_of_pair(real x, real rest)
{
    const bool is_normal = all(less(real_abs(x), spread(708.0)));
    const real inside = is_normal ? x : at_least(at_most(x, spread(1000.0)), spread(-1000.0));
    const reduced_exponent at = reduce_exponent(inside, rest);
    const real y = 1.0 + (at.r + exp_beyond_linear(at.r, at.tail));
    return is_normal ? real_of(bits_of(y) + (at.n << 52)) : scale_by_power(y, at.n);
}

TAL_ALWAYS_INLINE real real_exp(real x)
{
    return exp_of_pair(x, spread(0.0));
}

// e^x of several numbers: the same bits as one by one, in loops that can run in lanes.
TAL_ALWAYS_INLINE void real_exp_each(const real x[], real e[], const int n)
{
    bool are_normal = true;
    for (int i = 0; i < n; ++i) {
        are_normal = are_normal && all(less(real_abs(x[i]), spread(708.0)));
    }
    if (!are_normal) {
        for (int i = 0; i < n; ++i) {
            e[i] = real_exp(x[i]);
        }
        return;
    }
    for (int i = 0; i < n; ++i) {
        const reduced_exponent at = reduce_exponent(x[i], spread(0.0));
        const real y = 1.0 + (at.r + exp_beyond_linear(at.r, at.tail));
        e[i] = real_of(bits_of(y) + (at.n << 52));
    }
}

// tanh |x| = t / (t + 2) with t = e^(2 |x|) - 1 = (2^n - 1) + 2^n r + 2^n (e^r - 1 - r). From 22 on
// it is 1. The sums are kept exactly, and what division by t + 2 alone would miss is put in: with
// q = t / (t + 2), a change dt of t and dd of t + 2 changes q by (dt - q dd) (1 - q) / 2.
TAL_ALWAYS_INLINE real real_tanh(real x)
{
    if (all(less(spread(22.0), real_abs(x)))) return real_copysign(spread(1.0), x);
    const real twice = at_most(2.0 * real_abs(x), spread(44.0));
    const reduced_exponent at = reduce_exponent(twice, spread(0.0));
    const real power = real_of((at.n + 1023) << 52);
    const real_pair linear = sum_exactly(power - 1.0, power * at.r);
    const real_pair t = sum_exactly(linear.high, power * exp_beyond_linear(at.r, at.tail));
    const real dt = t.low + linear.low;
    const real_pair d = sum_exactly(t.high, spread(2.0));
    const real q = t.high / d.high;
    return real_copysign(fused(dt - q * (d.low + dt), 0.5 - 0.5 * q, q), x);
}

// --- logarithms ---

// x = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), for x > 0.
typedef struct reduced_logarithm {
    real k, f;
} reduced_logarithm;

TAL_ALWAYS_INLINE reduced_logarithm reduce_logarithm(real x)
{
    const real_bits sqrt_half = 0x3fe6a09e667f3bcd, exponent = (real_bits)0xfff << 52;
    const mask is_small = less(x, spread(0x1p-1022));
    const real_bits bits = bits_of(pick(is_small, x * 0x1p54, x));
    const real_bits above = bits - sqrt_half; // its exponent is k
    // k + 2048 is positive and takes the place of the last bits of 2^52
    const real_bits biased = (above + ((real_bits)2048 << 52)) >> 52;
    const real k = real_of(biased | bits_of(spread(0x1p52))) - (0x1p52 + 2048.0);
    return (reduced_logarithm){pick(is_small, k - 54.0, k),
                               real_of(bits - (above & exponent)) - 1.0};
}

// What was computed for x, where x is positive and finite; otherwise -infinity, NaN or infinity.
TAL_ALWAYS_INLINE real finish_logarithm(real x, real computed)
{
    const real zero = spread(0.0), infinity = spread((double)INFINITY);
    const real inside = pick(less(zero, x), computed, spread((double)NAN));
    return pick(equal(x, zero), -infinity, pick(equal(x, infinity), infinity, inside));
}

// With s = f / (2 + f):  log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)).
TAL_ALWAYS_INLINE real real_log(real x)
{
    static const double R[] = {6.666666666666735130e-01, 3.999999999940941908e-01,
                               2.857142874366239149e-01, 2.222219843214978396e-01,
                               1.818357216161805012e-01, 1.531383769920937332e-01,
                               1.479819860511658591e-01};
    const reduced_logarithm at = reduce_logarithm(x);
    const real f = at.f, s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    const real rest = fused(s, half + z * polynomial(z, R, 7), at.k * REAL_LN2_LOW);
    return finish_logarithm(x, at.k * REAL_LN2_HIGH - ((half - rest) - f));
}

// --- powers ---

// log x to 65 bits or more, for x > 0. With s = f / (2 + f) and z = s^2 this is the series
//
//     log(1 + f) = 2 s (1 + z (1/3 + z (1/5 + z/7 + ...)))
//
// where all that is not small counts in two parts.
TAL_ALWAYS_INLINE real_pair log_in_pair(real x)
{
    static const double fifth[] = {1.0 / 5.0,  1.0 / 7.0,  1.0 / 9.0,  1.0 / 11.0,
                                   1.0 / 13.0, 1.0 / 15.0, 1.0 / 17.0, 1.0 / 19.0,
                                   1.0 / 21.0, 1.0 / 23.0, 1.0 / 25.0, 1.0 / 27.0};
    const double third = 1.0 / 3.0, third_low = 1.85037170770859409e-17;
    const reduced_logarithm at = reduce_logarithm(x);
    const real f = at.f;
    const real_pair d = sum_sorted(spread(2.0), f);
    const real s = f / d.high;
    const real_pair back = product_exactly(s, d.high);
    const real s_low = (((f - back.high) - back.low) - s * d.low) / d.high;
    const real_pair square = product_exactly(s, s);
    const real z = square.high, z_low = square.low + 2.0 * s * s_low;

    const real_pair a = sum_sorted(spread(third), z * polynomial(z, fifth, 12));
    const real a_low = a.low + third_low;
    const real_pair b = product_exactly(z, a.high);
    const real b_low = b.low + (z * a_low + z_low * a.high);
    const real_pair c = product_exactly(s, b.high);
    const real c_low = c.low + (s * b_low + s_low * b.high);
    const real_pair half = sum_sorted(s, c.high);
    const real_pair sum = sum_exactly(at.k * REAL_LN2_HIGH, 2.0 * half.high);
    const real low = 2.0 * (half.low + (s_low + c_low)) + at.k * REAL_LN2_LOW;
    return sum_sorted(sum.high, sum.low + low);
}

TAL_ALWAYS_INLINE mask is_integer(real x)
{
    const real size = real_abs(x), two52 = spread(0x1p52);
    return equal((size + two52) - two52, size) || less(two52, size);
}

// x^y for x >= 0, except for what pow() says of 0, 1 and infinities.
TAL_ALWAYS_INLINE real power_of_positive(real x, real y)
{
    const real infinity = spread((double)INFINITY);
    const real_pair log_x = log_in_pair(x);
    const real high =
        pick(equal(x, spread(0.0)), -infinity, pick(less(x, infinity), log_x.high, x));
    // beyond 2^100 only the sign of y matters; products of parts would overflow there
    const real bounded = at_least(at_most(y, spread(0x1p100)), spread(-0x1p100));
    const real_pair at = product_exactly(bounded, high);
    const mask is_inside = less(real_abs(at.high), spread(1000.0));
    return exp_of_pair(at.high, pick(is_inside, at.low + bounded * log_x.low, spread(0.0)));
}

// x^y, as C defines it: also for negative x, where y must be an integer, and x^0 = 1^y = 1 even
// where the other is a NaN.
TAL_ALWAYS_INLINE real real_pow(real x, real y)
{
    const real one = spread(1.0), zero = spread(0.0), infinity = spread((double)INFINITY);
    const real size = real_abs(x);
    const real positive = power_of_positive(size, y);
    const mask is_whole = is_integer(y), is_odd = is_whole && !is_integer(0.5 * y);
    const mask has_sign = less(x, zero) || less(one / x, zero); // -0, too
    const real of_odd = pick(has_sign, -positive, positive);
    const mask has_no_power = less(x, zero) && less(-infinity, x) && !is_whole;
    const real any = pick(has_no_power, spread((double)NAN), pick(is_odd, of_odd, positive));
    const mask is_unit = equal(x, one) || (equal(size, one) && equal(real_abs(y), infinity));
    return pick(is_unit || equal(y, zero), one, any);
}

// --- angles ---

// atan(t + tail) = t - t z S(z) + tail (1 - z), z = t^2, for |t| < 7/16.
TAL_ALWAYS_INLINE real atan_reduced(real t, real tail)
{
    static const double S[] = {
        3.33333333333329318027e-01,  -1.99999999998764832476e-01, 1.42857142725034663711e-01,
        -1.11111104054623557880e-01, 9.09088713343650656196e-02,  -7.69187620504482999495e-02,
        6.66107313738753120669e-02,  -5.83357013379057348645e-02, 4.97687799461593236017e-02,
        -3.65315727442169155270e-02, 1.62858201153657823623e-02};
    const real z = t * t;
    return t - fused(t * z, polynomial(z, S, 11), tail * (z - 1.0));
}

// The angle from the x axis to (x, y), in [-pi, pi]. Of |x| and |y| the smaller is divided by the
// larger, and from tan(pi/8) on what is beyond pi/4 is computed: the angle is then turns eighths of
// a circle and an angle below pi/8.
TAL_ALWAYS_INLINE real real_atan2(real y, real x)
{
    const double eighth = 0x1.921fb54442d18p-1, eighth_low = 3.06161699786838301793e-17; // pi/4
    const real zero = spread(0.0), one = spread(1.0), infinity = spread((double)INFINITY);
    const mask is_x_infinite = equal(real_abs(x), infinity);
    const mask is_y_infinite = equal(real_abs(y), infinity);
    const mask is_any_infinite = is_x_infinite || is_y_infinite; // then as (1, 0), (0, 1), (1, 1)
    const mask is_huge = less(spread(0x1p1000), real_abs(x)) || less(spread(0x1p1000), real_abs(y));
    const real scale = pick(is_huge, spread(0x1p-100), one);
    const real a = pick(is_any_infinite, pick(is_y_infinite, one, zero), real_abs(y) * scale);
    const real b = pick(is_any_infinite, pick(is_x_infinite, one, zero), real_abs(x) * scale);
    const mask is_steep = less(b, a);
    const real small = pick(is_steep, b, a), large = pick(is_steep, a, b);
    const mask is_beyond = less(large * 0.41421356237309503, small);
    const real shift = pick(is_beyond, large, zero);
    const real_pair above = sum_exactly(small, -shift);
    const real_pair below = sum_sorted(large, pick(is_beyond, small, zero));
    const real divisor = pick(equal(below.high, zero), one, below.high);
    const real t = above.high / divisor;
    const real rest = atan_reduced(t, (above.low - t * below.low) / divisor);

    const real first = pick(is_beyond, one, zero);
    const real second = pick(is_steep, 2.0 - first, first);
    const mask is_left = less(real_copysign(one, x), zero);
    const real turns = pick(is_left, 4.0 - second, second);
    const real signed_rest =
        pick(is_left, pick(is_steep, rest, -rest), pick(is_steep, -rest, rest));
    const real angle = turns * eighth + (signed_rest + turns * eighth_low);
    return pick(equal(x, x) && equal(y, y), real_copysign(angle, y), x + y); // NaN if any is
}

// --- sine and cosine ---

typedef struct sine_cosine {
    real s, c;
} sine_cosine;

// Polynomials for |r| <= pi/4, in z = r^2. The coefficients are the minimax ones Sun Microsystems
// published with fdlibm. The reduced angle is r + tail, and |tail| is below half a unit of r.

// sin(r + tail) = r + r^3 S(z) + tail cos(r)
TAL_ALWAYS_INLINE real sin_reduced(real r, real tail)
{
    const real z = r * r;
    real S = spread(1.58969099521155010221e-10);
    S = fused(S, z, spread(-2.50507602534068634195e-08));
    S = fused(S, z, spread(2.75573137070700676789e-06));
    S = fused(S, z, spread(-1.98412698298579493134e-04));
    S = fused(S, z, spread(8.33333333332248946124e-03));
    S = fused(S, z, spread(-1.66666666666666324348e-01));
    return r + fused(r * z, S, tail * (1.0 - 0.5 * z));
}

// cos(r + tail) = 1 - z/2 + z^2 C(z) - tail sin(r). What rounding takes from 1 - z/2 is given back.
TAL_ALWAYS_INLINE real cos_reduced(real r, real tail)
{
    const real z = r * r;
    real C = spread(-1.13596475577881948265e-11);
    C = fused(C, z, spread(2.08757232129817482790e-09));
    C = fused(C, z, spread(-2.75573143513906633035e-07));
    C = fused(C, z, spread(2.48015872894767294178e-05));
    C = fused(C, z, spread(-1.38888888888741095749e-03));
    C = fused(C, z, spread(4.16666666666666019037e-02));
    const real half = 0.5 * z;
    const real head = 1.0 - half;
    const real lost = (1.0 - head) - half;
    return head + (lost + fused(z * z, C, -(r * tail)));
}

// Angles beyond this go to libm: three pieces of pi/2 no longer reduce them well.
#define SINCOS_MAX 1e5

// For |x| < SINCOS_MAX. Which of the two polynomials is the sine, and with which sign, is settled
// by bits instead of comparisons, so that a loop over many angles can be vectorized.
TAL_ALWAYS_INLINE sine_cosine sincos_below_max(real x)
{
    // x = n pi/2 + r, by pi/2 in three pieces (Cody and Waite); the first two have 33 bits, so that
    // n times a piece is exact
    const real shifted = x * 6.36619772367581382433e-01 + REAL_ROUNDER;
    const real n = shifted - REAL_ROUNDER;
    const real first = x - n * 1.57079632673412561417e+00;
    const real second = n * 6.07710050630396597660e-11;
    const real high = first - second;
    const real low = ((first - high) - second) - n * 2.02226624879595063154e-21;
    const real r = high + low;
    const real tail = (high - r) + low;

    const real_bits s = bits_of(sin_reduced(r, tail));
    const real_bits c = bits_of(cos_reduced(r, tail));
    const real_bits quadrant = bits_of(shifted); // its last two bits are those of n
    const real_bits swap = (s ^ c) & (0 - (quadrant & 1));
    return (sine_cosine){real_of(s ^ swap ^ ((quadrant & 2) << 62)),
                         real_of(c ^ swap ^ (((quadrant + 1) & 2) << 62))};
}

static inline sine_cosine sincos_of(real x)
{
    return fabs(x) < SINCOS_MAX ? sincos_below_max(x) : (sine_cosine){sin(x), cos(x)};
}

#endif // TALUS_REAL_FUNCTIONS_INTERNAL_H
