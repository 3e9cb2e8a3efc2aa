// The laws of muscles as pure functions of normalized quantities, over `real` (ADR 26).
//
//     l    length of the fibers over their optimal length
//     lt   length of the tendon over its slack length
//     v    dl/dt over the maximal speed, negative when shortening
//     a    activation
//     f    force along the fibers over the maximal isometric force
//
// Bezier curves and functions of users are evaluated by branching code, lane by lane.
#ifndef TALUS_MUSCLE_LAW_INTERNAL_H
#define TALUS_MUSCLE_LAW_INTERNAL_H

#include "bezier_internal.h"
#include "real_functions_internal.h"

/// A value of a curve and its slope.
typedef struct tali_muscle_curve {
    real y, slope;
} tali_muscle_curve;

/// A speed of fibers over the largest one, and the velocity curve there.
typedef struct tali_muscle_speed {
    real v, curve;
} tali_muscle_speed;

// --- pennation: fibers between two planes at a constant distance h (Millard) ---

typedef struct tali_muscle_fiber {
    real length; ///< [m]
    real cosine; ///< of the angle between fibers and tendon
    real along;  ///< length along the tendon: length * cosine [m]
} tali_muscle_fiber;

/// Fibers of a given length, at least h.
TAL_ALWAYS_INLINE tali_muscle_fiber tali_muscle_fiber_of(real length, real h)
{
    const real along = real_sqrt((length - h) * (length + h));
    return (tali_muscle_fiber){length, along / length, along};
}

/// Fibers of a given length along the tendon, which is positive.
TAL_ALWAYS_INLINE tali_muscle_fiber tali_muscle_fiber_along(real along, real h)
{
    const real length = real_sqrt(fused(along, along, h * h));
    return (tali_muscle_fiber){length, along / length, along};
}

// --- activation ---

typedef struct tali_muscle_activation {
    double rise, fall; ///< time constants [s]
    double least;      ///< smallest activation
    double smoothing;  ///< b of the smooth kind
} tali_muscle_activation;

/// da/dt of the first order: tau = rise (1/2 + 3/2 a) when x > a, fall / (1/2 + 3/2 a) otherwise
/// (Thelen). Both are kept in [least, 1].
TAL_ALWAYS_INLINE real tali_muscle_activation_rate(const tali_muscle_activation *it, real x, real a)
{
    const real least = spread(it->least), one = spread(1.0);
    const real excitation = at_least(at_most(x, one), least);
    const real active = at_least(at_most(a, one), least);
    const real k = fused(spread(1.5), active, spread(0.5));
    const mask rises = less(active, excitation);
    return (excitation - active) * pick(rises, 1.0 / (it->rise * k), k / it->fall);
}

/// The same, smooth at x = a (DeGroote): the two rates are blended by a tanh.
TAL_ALWAYS_INLINE real tali_muscle_smooth_activation_rate(const tali_muscle_activation *it, real x,
                                                          real a)
{
    const real k = fused(spread(1.5), a, spread(0.5));
    const real f = 0.5 * real_tanh(it->smoothing * (x - a));
    return ((f + 0.5) / (it->rise * k) + (0.5 - f) * k / it->fall) * (x - a);
}

// --- Thelen 2003 ---

typedef struct tali_muscle_thelen {
    double narrow;                                        ///< one over gamma of the active curve
    double passive_rate, passive_scale;                   ///< scale (exp(rate (l - 1)) - 1)
    double toe_strain, toe_rate, toe_scale, tendon_slope; ///< of the tendon; rate: 3 / strain
    double Flen, per_Af; ///< of the velocity curve: largest force, 1 / Af
    double k;            ///< (2 + 2 / Af) / (Flen - 1)
    double top;          ///< fv where its upper line begins
    double v_top;        ///< v there, over c
    double dv_top;       ///< dv/dfv there, over c
} tali_muscle_thelen;

TAL_ALWAYS_INLINE tali_muscle_curve tali_muscle_thelen_active(const tali_muscle_thelen *it, real l)
{
    const real y = real_exp(-(l - 1.0) * (l - 1.0) * it->narrow);
    return (tali_muscle_curve){y, -2.0 * (l - 1.0) * it->narrow * y};
}

TAL_ALWAYS_INLINE tali_muscle_curve tali_muscle_thelen_passive(const tali_muscle_thelen *it, real l)
{
    const real zero = spread(0.0), rate = spread(it->passive_rate);
    const real e = real_exp(rate * at_least(l - 1.0, zero));
    const real slope = pick(less(spread(1.0), l), it->passive_scale * rate * e, zero);
    return (tali_muscle_curve){it->passive_scale * (e - 1.0), slope};
}

/// Integral of the passive curve up to l.
TAL_ALWAYS_INLINE real tali_muscle_thelen_passive_area(const tali_muscle_thelen *it, real l)
{
    const real stretch = at_least(l - 1.0, spread(0.0)), rate = spread(it->passive_rate);
    return it->passive_scale * ((real_exp(rate * stretch) - 1.0) / rate - stretch);
}

/// An exponential toe, then a line.
TAL_ALWAYS_INLINE tali_muscle_curve tali_muscle_thelen_tendon(const tali_muscle_thelen *it, real lt)
{
    const real zero = spread(0.0), toe = spread(it->toe_strain);
    const real strain = lt - 1.0, rate = spread(it->toe_rate);
    const real e = real_exp(rate * at_most(at_least(strain, zero), toe));
    const real beyond = at_least(strain - toe, zero);
    const mask is_line = less(toe, strain), is_slack = less(strain, zero);
    const real slope = pick(is_line, spread(it->tendon_slope), it->toe_scale * rate * e);
    return (tali_muscle_curve){fused(spread(it->tendon_slope), beyond, it->toe_scale * (e - 1.0)),
                               pick(is_slack, zero, slope)};
}

/// Integral of the tendon's curve up to lt.
TAL_ALWAYS_INLINE real tali_muscle_thelen_tendon_area(const tali_muscle_thelen *it, real lt)
{
    const real zero = spread(0.0), toe = spread(it->toe_strain);
    const real strain = at_least(lt - 1.0, zero), rate = spread(it->toe_rate);
    const real in_toe = at_most(strain, toe), beyond = at_least(strain - toe, zero);
    const real curved = it->toe_scale * ((real_exp(rate * in_toe) - 1.0) / rate - in_toe);
    return curved + beyond * (0.33 + 0.5 * it->tendon_slope * beyond);
}

/// The speed of shortening without load, c = 1/4 + 3/4 a.
TAL_ALWAYS_INLINE real tali_muscle_thelen_free_speed(real a)
{
    return fused(spread(0.75), a, spread(0.25));
}

/// v, and fv there, of an active force f = A fv, where A = a * active(l) > 0. v / c is a function
/// of fv alone: two hyperbolas, and lines with the end slopes beyond them.
TAL_ALWAYS_INLINE tali_muscle_speed tali_muscle_thelen_speed_of(const tali_muscle_thelen *it,
                                                                real A, real a, real f)
{
    const real zero = spread(0.0), one = spread(1.0), top = spread(it->top);
    const real x = f / A, inside = at_most(at_least(x, zero), top);
    const real below = pick(less(one, inside), it->k * (it->Flen - inside),
                            fused(inside, spread(it->per_Af), one));
    const real curved = (inside - 1.0) / below;
    const real slow = fused(spread(1.0 + it->per_Af), x, -one);
    const real fast = fused(spread(it->dv_top), x - top, spread(it->v_top));
    const real v = pick(less(x, zero), slow, pick(less(top, x), fast, curved));
    return (tali_muscle_speed){tali_muscle_thelen_free_speed(a) * v, x};
}

/// fv at v: the inverse, in closed form. Negative for fibers that are faster than they can shorten.
TAL_ALWAYS_INLINE real tali_muscle_thelen_velocity(const tali_muscle_thelen *it, real a, real v)
{
    const real zero = spread(0.0), one = spread(1.0), top = spread(it->v_top);
    const real w = v / tali_muscle_thelen_free_speed(a);
    const real back = at_most(at_least(w, -one), zero), forth = at_least(at_most(w, top), zero);
    const mask lengthens = less(zero, w);
    const real above = pick(lengthens, fused(spread(it->k * it->Flen), forth, one), one + back);
    const real below = pick(lengthens, fused(spread(it->k), forth, one), one - it->per_Af * back);
    const real slow = (w + 1.0) / (1.0 + it->per_Af);
    const real fast = it->top + (w - top) / it->dv_top;
    return pick(less(top, w), fast, pick(less(w, -one), slow, above / below));
}

// --- De Groote and Fregly 2016 ---

typedef struct tali_muscle_degroote {
    double narrow;                                    ///< one over the scale of the active curve
    double passive_rate, passive_zero, passive_scale; ///< (exp(rate (l - 1)) - zero) * scale
    double tendon_rate;                               ///< kT of 0.2 (exp(kT (lt - 1)) - 1)
} tali_muscle_degroote;

/// Both curves of the fibers.
typedef struct tali_muscle_fiber_curves {
    tali_muscle_curve active, passive;
} tali_muscle_fiber_curves;

/// The active curve is a sum of three Gaussians whose width depends on x, b0 exp(-r^2 / 2) with
/// r = (x - b1) / (b2 + b3 x). All exponentials are computed together.
TAL_ALWAYS_INLINE tali_muscle_fiber_curves
tali_muscle_degroote_fiber(const tali_muscle_degroote *it, real l)
{
    static const double b0[4] = {0.8150671134243542, 0.433004984392647, 0.1, 0.0};
    static const double b1[4] = {1.055033428970575, 0.716775413397760, 1.0, 0.0};
    static const double b2[4] = {0.162384573599574, -0.029947116970696, 0.353553390593274, 1.0};
    static const double b3[4] = {0.063303448465465, 0.200356847296188, 0.0, 0.0};
    const real x = 1.0 + (l - 1.0) * it->narrow, zero = spread(0.0);
    real r[4], dr[4], power[4], e[4];
    for (int k = 0; k < 4; ++k) {
        const real inverse = 1.0 / fused(spread(b3[k]), x, spread(b2[k]));
        const real ratio = (x - b1[k]) * inverse;
        const mask is_far = less(spread(37.0), real_abs(ratio)); // the Gaussian is zero there
        r[k] = pick(is_far, spread(37.0), ratio);
        dr[k] = (b2[k] + b3[k] * b1[k]) * pick(is_far, zero, inverse * inverse);
        power[k] = -0.5 * r[k] * r[k];
    }
    power[3] = it->passive_rate * (l - 1.0);
    real_exp_each(power, e, 4);
    real y = zero, slope = zero;
    for (int k = 0; k < 3; ++k) {
        const real term = b0[k] * e[k];
        y = y + term;
        slope = slope - r[k] * dr[k] * term;
    }
    return (tali_muscle_fiber_curves){{y, slope * it->narrow},
                                      {it->passive_scale * (e[3] - it->passive_zero),
                                       it->passive_scale * it->passive_rate * e[3]}};
}

TAL_ALWAYS_INLINE tali_muscle_curve tali_muscle_degroote_active(const tali_muscle_degroote *it,
                                                                real l)
{
    return tali_muscle_degroote_fiber(it, l).active;
}

TAL_ALWAYS_INLINE tali_muscle_curve tali_muscle_degroote_passive(const tali_muscle_degroote *it,
                                                                 real l)
{
    return tali_muscle_degroote_fiber(it, l).passive;
}

/// Integral of the passive curve from 0.2, where it is zero.
TAL_ALWAYS_INLINE real tali_muscle_degroote_passive_area(const tali_muscle_degroote *it, real l)
{
    const real e = real_exp(it->passive_rate * (l - 1.0));
    return it->passive_scale *
           ((e - it->passive_zero) / it->passive_rate - it->passive_zero * (l - 0.2));
}

TAL_ALWAYS_INLINE tali_muscle_curve tali_muscle_degroote_tendon(const tali_muscle_degroote *it,
                                                                real lt)
{
    const real e = 0.2 * real_exp(it->tendon_rate * (lt - 1.0));
    return (tali_muscle_curve){e - 0.2, it->tendon_rate * e};
}

TAL_ALWAYS_INLINE real tali_muscle_degroote_tendon_area(const tali_muscle_degroote *it, real lt)
{
    const real e = real_exp(it->tendon_rate * (lt - 1.0));
    return 0.2 * ((e - 1.0) / it->tendon_rate - (lt - 1.0));
}

/// lt of a tendon force; a NaN from -0.2 on, which no length has.
TAL_ALWAYS_INLINE real tali_muscle_degroote_tendon_length(const tali_muscle_degroote *it, real f)
{
    return 1.0 + real_log(5.0 * (f + 0.2)) / it->tendon_rate;
}

/// d of fv = d0 asinh(d1 v + d2) + d3.
#define TALI_MUSCLE_DEGROOTE_D                                                                     \
    {                                                                                              \
        -0.3211346127989808, -8.149, -0.374, 0.8825327733249912                                    \
    }

TAL_ALWAYS_INLINE real tali_muscle_asinh(real x)
{
    const real size = real_abs(x);
    return real_copysign(real_log(size + real_sqrt(fused(size, size, spread(1.0)))), x);
}

TAL_ALWAYS_INLINE tali_muscle_curve tali_muscle_degroote_velocity(real v)
{
    const double d[4] = TALI_MUSCLE_DEGROOTE_D;
    const real w = fused(spread(d[1]), v, spread(d[2]));
    return (tali_muscle_curve){fused(spread(d[0]), tali_muscle_asinh(w), spread(d[3])),
                               d[0] * d[1] / real_sqrt(fused(w, w, spread(1.0)))};
}

/// A number and its hyperbolic sine.
typedef struct tali_muscle_sinh {
    real s, sinh;
} tali_muscle_sinh;

/// s > 0 where  P s + Q sinh s = R,  with P >= 0, Q > 0 and R > 0. R/P and asinh(R/Q) both lie
/// beyond it, and from the nearer one, where the left side is at most twice R, Householder's method
/// with three derivatives reaches the last digit in three steps for all P, Q and R. The last of
/// them is below 3e-9 s, so that sinh s follows by two terms of its series.
TAL_ALWAYS_INLINE tali_muscle_sinh tali_muscle_damped_root(real P, real Q, real R)
{
    const mask has_P = less(spread(0.0), P);
    const real by_P = pick(has_P, R / P, spread((double)INFINITY));
    tali_muscle_sinh at = {.s = at_most(tali_muscle_asinh(R / Q), by_P)};
    for (int i = 0; i < 3; ++i) {
        const real up = 0.5 * real_exp(at.s), down = 0.25 / up;
        const real sinh = up - down, cosh = up + down;
        const real f = P * at.s + Q * sinh - R, f1 = fused(Q, cosh, P), f2 = Q * sinh;
        const real above = 3.0 * f * (2.0 * f1 * f1 - f * f2);
        const real step = -above / (6.0 * f1 * (f1 * f1 - f * f2) + f * f * Q * cosh);
        at = (tali_muscle_sinh){at.s + step, fused(step, fused(0.5 * step, sinh, cosh), sinh)};
    }
    return at;
}

/**
 * v, and fv there, where  A fv(v) + beta v = f,  with A >= 0, beta >= 0, and A + beta > 0.
 *
 * In s = asinh(d1 v + d2), with both signs turned, this is  P s + Q sinh s = R,  and the root has
 * the sign of R. Without damping it is R / P.
 */
TAL_ALWAYS_INLINE tali_muscle_speed tali_muscle_degroote_speed_of(real A, double beta, real f)
{
    const double d[4] = TALI_MUSCLE_DEGROOTE_D, Q = beta / -d[1];
    const real P = -d[0] * A;
    const real R = (f - d[3] * A) - d[2] * Q;
    const real size = real_abs(R);
    tali_muscle_sinh at;
    if (beta > 0.0) {
        at = tali_muscle_damped_root(P, spread(Q), size);
    } else {
        const real s = size / P, up = 0.5 * real_exp(s);
        at = (tali_muscle_sinh){s, up - 0.25 / up};
    }
    const double inverse = 1.0 / d[1];
    return (tali_muscle_speed){(-real_copysign(at.sinh, R) - d[2]) * inverse,
                               fused(spread(-d[0]), real_copysign(at.s, R), spread(d[3]))};
}

#endif // TALUS_MUSCLE_LAW_INTERNAL_H
