// Pairs of atoms at a distance: 1/r^12, 1/r^6 and charges, as they are or with a cutoff.
//
// GROMACS' force switch replaces 1/r^a between rs and rc, d = r - rs, by
//
//     1/r^a - P/3 d^3 - Q/4 d^4 - R
//     P = -a ((a + 4) rc - (a + 1) rs)/(rc^(a+2) (rc - rs)^2)
//     Q =  a ((a + 3) rc - (a + 1) rs)/(rc^(a+2) (rc - rs)^3)
//     R = 1/rc^a - P/3 (rc - rs)^3 - Q/4 (rc - rs)^4
//
// and is 1/r^a - R below rs.
#include "term/pair_internal.h"

#include <math.h>

// ---- getting ready

// What the cutoffs need to know of 1/r^a.
static tali_term_power power_of(const tal_mol_range *range, double a)
{
    const double rc = range->end, rs = range->start, w = rc - rs, far = pow(rc, a + 2.0);
    tali_term_power it = {.value = pow(rc, -a), .slope = -a * pow(rc, -a - 1.0)};
    if (range->kind != TAL_CUTOFF_FORCE_SWITCH) return it;
    it.p3 = -a * ((a + 4.0) * rc - (a + 1.0) * rs) / (far * w * w) / 3.0;
    it.p4 = a * ((a + 3.0) * rc - (a + 1.0) * rs) / (far * w * w * w) / 4.0;
    it.p0 = it.value - (it.p3 + it.p4 * w) * w * w * w;
    return it;
}

typedef struct curve {
    double value, slope;
} curve;

// The energy of charges of C = 1 as it is without a cutoff.
static curve charges_at(const tal_mol_nonbonded *set, double r)
{
    const double eps = set->permittivity;
    if (set->dielectric == TAL_DIELECTRIC_DISTANCE) {
        const double value = 1.0 / (eps * r * r);
        return (curve){value, -2.0 * value / r};
    }
    if (set->dielectric == TAL_DIELECTRIC_DEBYE) {
        const double value = exp(-r / set->debye_length) / (eps * r);
        return (curve){value, -value * (1.0 / r + 1.0 / set->debye_length)};
    }
    const double value = 1.0 / (eps * r);
    return (curve){value, -value / r};
}

static double square_of_end(const tal_mol_range *range)
{
    return range->kind == TAL_CUTOFF_NONE ? (double)INFINITY : range->end * range->end;
}

tali_term_pairs tali_term_prepare(const tal_mol_nonbonded *set)
{
    tali_term_pairs it = {.set = *set,
                          .vdw_end2 = square_of_end(&set->vdw),
                          .coulomb_end2 = square_of_end(&set->coulomb),
                          .has_box = set->box.x > 0.0};
    it.end = sqrt(fmax(it.vdw_end2, it.coulomb_end2));
    if (set->vdw.kind != TAL_CUTOFF_NONE) {
        it.r12 = power_of(&set->vdw, 12.0);
        it.r6 = power_of(&set->vdw, 6.0);
    }
    if (set->coulomb.kind == TAL_CUTOFF_NONE) return it;
    it.charge = power_of(&set->coulomb, 1.0);
    const curve end = charges_at(set, set->coulomb.end);
    it.charge.value = end.value;
    it.charge.slope = end.slope;
    const double rc = set->coulomb.end, er = set->outside;
    it.field_k = (er - 1.0) / ((2.0 * er + 1.0) * rc * rc * rc);
    it.field_c = 1.0 / rc + it.field_k * rc * rc;
    return it;
}

// ---- cutoffs

// The switch S and its slope.
static curve switch_at(const tal_mol_range *range, double r)
{
    const double rc = range->end, rs = range->start;
    if (r <= rs) return (curve){1.0, 0.0};
    if (range->kind == TAL_CUTOFF_QUINTIC) {
        const double x = (r - rs) / (rc - rs), x2 = x * x;
        return (curve){1.0 - x2 * x * (10.0 - x * (15.0 - 6.0 * x)),
                       -30.0 * x2 * (1.0 - x) * (1.0 - x) / (rc - rs)};
    }
    const double c2 = rc * rc, s2 = rs * rs, r2 = r * r, w = c2 - s2, w3 = w * w * w;
    return (curve){(c2 - r2) * (c2 - r2) * (c2 + 2.0 * r2 - 3.0 * s2) / w3,
                   12.0 * r * (c2 - r2) * (s2 - r2) / w3};
}

// A curve with its cutoff; `end` is what it is there, `lost` what a force switch takes away.
static curve cut(const tal_mol_range *range, curve u, curve end, curve lost, double r)
{
    switch (range->kind) {
    case TAL_CUTOFF_SHIFT:
        return (curve){u.value - end.value, u.slope};
    case TAL_CUTOFF_FORCE_SHIFT:
        return (curve){u.value - end.value - (r - range->end) * end.slope, u.slope - end.slope};
    case TAL_CUTOFF_QUINTIC:
    case TAL_CUTOFF_CHARMM: {
        const curve s = switch_at(range, r);
        return (curve){u.value * s.value, u.slope * s.value + u.value * s.slope};
    }
    case TAL_CUTOFF_FORCE_SWITCH:
        return (curve){u.value - lost.value, u.slope - lost.slope};
    case TAL_CUTOFF_NONE:
    case TAL_CUTOFF_TRUNCATE:
    default:
        return u;
    }
}

static curve lost_by(const tali_term_power *power, const tal_mol_range *range, double r)
{
    const double d = r > range->start ? r - range->start : 0.0, d2 = d * d;
    return (curve){power->p0 + d2 * d * (power->p3 + power->p4 * d),
                   d2 * (3.0 * power->p3 + 4.0 * power->p4 * d)};
}

static curve scaled_sum(double A, curve a, double B, curve b)
{
    return (curve){A * a.value - B * b.value, A * a.slope - B * b.slope};
}

static curve vdw_at(const tali_term_pairs *pairs, double r, double A, double B)
{
    const double s2 = 1.0 / (r * r), s6 = s2 * s2 * s2;
    const curve u = {(A * s6 - B) * s6, -(12.0 * A * s6 - 6.0 * B) * s6 / r};
    const tal_mol_range *range = &pairs->set.vdw;
    const curve end = {A * pairs->r12.value - B * pairs->r6.value,
                       A * pairs->r12.slope - B * pairs->r6.slope};
    curve lost = {0.0, 0.0};
    if (range->kind == TAL_CUTOFF_FORCE_SWITCH) {
        lost = scaled_sum(A, lost_by(&pairs->r12, range, r), B, lost_by(&pairs->r6, range, r));
    }
    return cut(range, u, end, lost, r);
}

static curve coulomb_at(const tali_term_pairs *pairs, double r)
{
    const tal_mol_nonbonded *set = &pairs->set;
    curve u = charges_at(set, r);
    if (set->dielectric == TAL_DIELECTRIC_REACTION_FIELD) {
        u.value += (pairs->field_k * r * r - pairs->field_c) / set->permittivity;
        u.slope += 2.0 * pairs->field_k * r / set->permittivity;
    }
    const curve end = {pairs->charge.value, pairs->charge.slope};
    curve lost = {0.0, 0.0};
    if (set->coulomb.kind == TAL_CUTOFF_FORCE_SWITCH) {
        lost = lost_by(&pairs->charge, &set->coulomb, r);
        lost.value /= set->permittivity;
        lost.slope /= set->permittivity;
    }
    return cut(&set->coulomb, u, end, lost, r);
}

// ---- pairs

tali_term_pull tali_term_pull_near(const tali_term_pairs *pairs, double r2, double A, double B,
                                   double C)
{
    const double r = sqrt(r2), s2 = 1.0 / r2, s6 = s2 * s2 * s2;
    const curve u = charges_at(&pairs->set, r);
    return (tali_term_pull){(A * s6 - B) * s6, C * u.value,
                            (12.0 * A * s6 - 6.0 * B) * s6 * s2 - C * u.slope / r};
}

tali_term_pull tali_term_pull_of(const tali_term_pairs *pairs, double r2, double A, double B,
                                 double C)
{
    const double r = sqrt(r2);
    tali_term_pull out = {0.0, 0.0, 0.0};
    double slope = 0.0;
    if (r2 < pairs->vdw_end2 && (A != 0.0 || B != 0.0)) {
        const curve u = vdw_at(pairs, r, A, B);
        out.vdw = u.value;
        slope = u.slope;
    }
    if (r2 < pairs->coulomb_end2 && C != 0.0) {
        const curve u = coulomb_at(pairs, r);
        out.coulomb = C * u.value;
        slope += C * u.slope;
    }
    if (slope != 0.0) out.pull = -slope / r; // atoms may coincide that do not act
    return out;
}
