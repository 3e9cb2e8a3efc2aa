// One pair of atoms at a distance: 1/r^12, 1/r^6 and charges, as they are or with a cutoff.
#include "real_internal.h"

#include "kernel/pair_law.h"

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

// Charges of C = 1 as they are without a cutoff, also Debye's.
static curve all_charges_at(const tali_term_pairs *pairs, tal_mol_dielectric kind, distance at)
{
    const curve u = charges_at(pairs, kind, at);
    if (kind != TAL_DIELECTRIC_DEBYE) return u;
    const double length = pairs->set.debye_length, value = u.value * exp(-at.r / length);
    return (curve){value, value * (at.s2 + at.r * at.s2 / length)};
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
    it.per_box = tal_v3(1.0 / set->box.x, 1.0 / set->box.y, 1.0 / set->box.z);
    it.end = sqrt(fmax(it.vdw_end2, it.coulomb_end2));
    if (set->vdw.kind != TAL_CUTOFF_NONE) {
        it.r12 = power_of(&set->vdw, 12.0);
        it.r6 = power_of(&set->vdw, 6.0);
    }
    if (set->coulomb.kind == TAL_CUTOFF_NONE) return it;
    it.charge = power_of(&set->coulomb, 1.0);
    const double rc = set->coulomb.end, er = set->outside;
    it.field_k = (er - 1.0) / ((2.0 * er + 1.0) * rc * rc * rc);
    it.field_c = 1.0 / rc + it.field_k * rc * rc;
    const curve end = all_charges_at(&it, set->dielectric, distance_of(rc * rc));
    it.charge.value = end.value;
    it.charge.slope = -end.pull * rc;
    return it;
}

// ---- pairs

tali_term_pull tali_term_pull_near(const tali_term_pairs *pairs, double r2, double A, double B,
                                   double C)
{
    const tal_mol_dielectric set = pairs->set.dielectric;
    const bool is_field = set == TAL_DIELECTRIC_REACTION_FIELD;
    const distance at = distance_of(r2);
    const curve vdw = bare_vdw_at(at, A, B);
    const curve charges = all_charges_at(pairs, is_field ? TAL_DIELECTRIC_CONSTANT : set, at);
    return (tali_term_pull){vdw.value, C * charges.value, vdw.pull + C * charges.pull};
}

tali_term_pull tali_term_pull_of(const tali_term_pairs *pairs, double r2, double A, double B,
                                 double C)
{
    const distance at = distance_of(r2);
    tali_term_pull out = {0.0, 0.0, 0.0};
    if (r2 < pairs->vdw_end2 && (A != 0.0 || B != 0.0)) { // atoms may coincide that do not act
        const curve u = vdw_at(pairs, at, A, B);
        out.vdw = u.value;
        out.pull = u.pull;
    }
    if (r2 < pairs->coulomb_end2 && C != 0.0) {
        const curve u = cut_charges(pairs, all_charges_at(pairs, pairs->set.dielectric, at), at);
        out.coulomb = C * u.value;
        out.pull += C * u.pull;
    }
    return out;
}
