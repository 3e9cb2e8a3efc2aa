// The energy of a pair of atoms at a distance, and the pull between them, with every cutoff and
// dielectric but that of Debye. Included behind real_internal.h for one pair, behind lanes.h for
// several: the same operations in the same order, so the same bits.
//
// A pull is -dU/dr / r: times x_i - x_j it is the force on i. GROMACS' force switch replaces 1/r^a
// between rs and rc, d = r - rs, by
//
//     1/r^a - P/3 d^3 - Q/4 d^4 - R
//     P = -a ((a + 4) rc - (a + 1) rs)/(rc^(a+2) (rc - rs)^2)
//     Q =  a ((a + 3) rc - (a + 1) rs)/(rc^(a+2) (rc - rs)^3)
//     R = 1/rc^a - P/3 (rc - rs)^3 - Q/4 (rc - rs)^4
//
// and is 1/r^a - R below rs.
#ifndef TALUS_PAIR_LAW_H
#define TALUS_PAIR_LAW_H

#include "term/pair_internal.h"

/// An energy and its pull.
typedef struct curve {
    real value, pull;
} curve;

/// A distance, as a square, its inverse, itself.
typedef struct distance {
    real r2, s2, r;
} distance;

// What becomes of an energy whose value and slope at the end are these, and of which a force switch
// takes away `lost`.
typedef struct ending {
    real value, slope;
    curve lost;
} ending;

TAL_ALWAYS_INLINE distance distance_of(real r2)
{
    const distance at = {r2, 1.0 / r2, real_sqrt(r2)};
    return at;
}

/// How far beyond the start of a range, not below zero.
TAL_ALWAYS_INLINE real beyond_start(const tal_mol_range *range, real r)
{
    const real d = r - range->start;
    return pick(less(spread(0.0), d), d, spread(0.0));
}

/// What a force switch takes away from 1/r^a.
TAL_ALWAYS_INLINE curve lost_by(const tali_term_power *power, const tal_mol_range *range,
                                distance at)
{
    const real d = beyond_start(range, at.r), d2 = d * d;
    const real slope = d2 * (3.0 * power->p3 + 4.0 * power->p4 * d);
    const curve lost = {power->p0 + d2 * d * (power->p3 + power->p4 * d), -slope * (at.r * at.s2)};
    return lost;
}

/// OpenMM's switch of degree five, as an energy.
TAL_ALWAYS_INLINE curve quintic_at(const tal_mol_range *range, distance at)
{
    const double per_width = 1.0 / (range->end - range->start);
    const real x = beyond_start(range, at.r) * per_width, x2 = x * x, y = 1.0 - x;
    const real slope = -30.0 * per_width * (x2 * (y * y));
    const curve s = {1.0 - x2 * x * (10.0 - x * (15.0 - 6.0 * x)), -slope * (at.r * at.s2)};
    return s;
}

/// CHARMM's switch, as an energy.
TAL_ALWAYS_INLINE curve charmm_at(const tal_mol_range *range, distance at)
{
    const double c2 = range->end * range->end, s2 = range->start * range->start, w = c2 - s2;
    const double per_w3 = 1.0 / (w * w * w);
    const real left = c2 - at.r2, gone = at.r2 - s2;
    const mask is_on = less(spread(0.0), gone);
    const curve s = {pick(is_on, left * left * (w + 2.0 * gone) * per_w3, spread(1.0)),
                     pick(is_on, 12.0 * per_w3 * (left * gone), spread(0.0))};
    return s;
}

/// An energy with its cutoff.
TAL_ALWAYS_INLINE curve cut(const tal_mol_range *range, curve u, ending end, distance at)
{
    curve out = u;
    if (range->kind == TAL_CUTOFF_SHIFT) {
        out.value = u.value - end.value;
    } else if (range->kind == TAL_CUTOFF_FORCE_SHIFT) {
        out.value = u.value - end.value - (at.r - range->end) * end.slope;
        out.pull = u.pull + end.slope * (at.r * at.s2);
    } else if (range->kind == TAL_CUTOFF_FORCE_SWITCH) {
        out.value = u.value - end.lost.value;
        out.pull = u.pull - end.lost.pull;
    } else if (range->kind == TAL_CUTOFF_QUINTIC || range->kind == TAL_CUTOFF_CHARMM) {
        const curve s =
            range->kind == TAL_CUTOFF_QUINTIC ? quintic_at(range, at) : charmm_at(range, at);
        out.value = u.value * s.value;
        out.pull = u.pull * s.value + u.value * s.pull;
    }
    return out;
}

/// A/r^12 - B/r^6.
TAL_ALWAYS_INLINE curve bare_vdw_at(distance at, real A, real B)
{
    const real s6 = at.s2 * at.s2 * at.s2;
    const curve u = {(A * s6 - B) * s6, (12.0 * A * s6 - 6.0 * B) * s6 * at.s2};
    return u;
}

/// The same with a cutoff.
TAL_ALWAYS_INLINE curve vdw_at(const tali_term_pairs *pairs, distance at, real A, real B)
{
    const tal_mol_range *range = &pairs->set.vdw;
    ending end = {A * pairs->r12.value - B * pairs->r6.value,
                  A * pairs->r12.slope - B * pairs->r6.slope,
                  {spread(0.0), spread(0.0)}};
    if (range->kind == TAL_CUTOFF_FORCE_SWITCH) {
        const curve a = lost_by(&pairs->r12, range, at), b = lost_by(&pairs->r6, range, at);
        end.lost.value = A * a.value - B * b.value;
        end.lost.pull = A * a.pull - B * b.pull;
    }
    return cut(range, bare_vdw_at(at, A, B), end, at);
}

/// Charges of C = 1 without a cutoff, in a dielectric of a kind; those of Debye as of a constant.
TAL_ALWAYS_INLINE curve charges_at(const tali_term_pairs *pairs, tal_mol_dielectric kind,
                                   distance at)
{
    const double per_eps = 1.0 / pairs->set.permittivity;
    if (kind == TAL_DIELECTRIC_DISTANCE) {
        const real value = per_eps * at.s2;
        const curve u = {value, 2.0 * value * at.s2};
        return u;
    }
    const real value = per_eps * (at.r * at.s2);
    curve u = {value, value * at.s2};
    if (kind == TAL_DIELECTRIC_REACTION_FIELD) {
        u.value = u.value + per_eps * (pairs->field_k * at.r2 - pairs->field_c);
        u.pull = u.pull - 2.0 * per_eps * pairs->field_k;
    }
    return u;
}

/// Charges of C = 1, which are `u` without a cutoff.
TAL_ALWAYS_INLINE curve cut_charges(const tali_term_pairs *pairs, curve u, distance at)
{
    const tal_mol_range *range = &pairs->set.coulomb;
    ending end = {
        spread(pairs->charge.value), spread(pairs->charge.slope), {spread(0.0), spread(0.0)}};
    if (range->kind == TAL_CUTOFF_FORCE_SWITCH) {
        const double per_eps = 1.0 / pairs->set.permittivity;
        end.lost = lost_by(&pairs->charge, range, at);
        end.lost.value = end.lost.value * per_eps;
        end.lost.pull = end.lost.pull * per_eps;
    }
    return cut(range, u, end, at);
}

#endif // TALUS_PAIR_LAW_H
