// How pairs act, in a State; virial and pressure.
#include "term/instance_internal.h"
#include "term/pair_internal.h"

#include <math.h>

tal_mol_nonbonded tal_mol_nonbonded_default(void)
{
    const tal_mol_nonbonded it = {.permittivity = 1.0,
                                  .debye_length = 1.0,
                                  .outside = 78.5,
                                  .solute = 1.0,
                                  .solvent = 78.5,
                                  .surface = 28.3919551,
                                  .skin = 0.1};
    return it;
}

// ---- settings

static bool is_range(const tal_mol_range *range)
{
    if ((int)range->kind < 0 || range->kind > TAL_CUTOFF_FORCE_SWITCH) return false;
    if (range->kind == TAL_CUTOFF_NONE) return true;
    if (!(isfinite(range->end) && range->end > 0.0)) return false;
    const bool has_start = range->kind >= TAL_CUTOFF_QUINTIC;
    return !has_start || (range->start >= 0.0 && range->start < range->end);
}

static bool is_positive(double x)
{
    return isfinite(x) && x > 0.0;
}

static const char *flaw_of_charges(const tal_mol_nonbonded *it)
{
    if ((int)it->dielectric < 0 || it->dielectric > TAL_DIELECTRIC_REACTION_FIELD) {
        return "there is no such dielectric";
    }
    if (!is_positive(it->permittivity)) return "the permittivity must be positive";
    if (!is_positive(it->debye_length)) return "the Debye length must be positive";
    if (!(isfinite(it->outside) && it->outside >= 1.0)) return "`outside` must be 1 or more";
    const bool is_field = it->dielectric == TAL_DIELECTRIC_REACTION_FIELD;
    if (is_field && it->coulomb.kind != TAL_CUTOFF_TRUNCATE) {
        return "a reaction field is a cutoff: that of charges must be TAL_CUTOFF_TRUNCATE";
    }
    if (it->coulomb.kind == TAL_CUTOFF_FORCE_SWITCH && it->dielectric != TAL_DIELECTRIC_CONSTANT) {
        return "the force switch of charges is for a constant dielectric";
    }
    return NULL;
}

static const char *flaw_of_box(const tal_mol_nonbonded *it, double radius)
{
    const tal_vec3 box = it->box;
    if (box.x == 0.0 && box.y == 0.0 && box.z == 0.0) return NULL;
    if (!(is_positive(box.x) && is_positive(box.y) && is_positive(box.z))) {
        return "the edges of a box must be positive, or all zero";
    }
    if (it->vdw.kind == TAL_CUTOFF_NONE || it->coulomb.kind == TAL_CUTOFF_NONE) {
        return "a box needs cutoffs of van der Waals and of charges";
    }
    const double least = fmin(box.x, fmin(box.y, box.z));
    const double end = fmax(it->vdw.end, it->coulomb.end);
    if (end > 0.5 * least) return "a cutoff is longer than half the shortest edge of the box";
    if (2.0 * radius + end > least) return "a body reaches to within a cutoff of its own image";
    return NULL;
}

static const char *flaw_of_born(const tal_mol_nonbonded *it, const tal_mol *mol)
{
    if (!is_positive(it->solute) || !is_positive(it->solvent)) {
        return "solute and solvent must be positive";
    }
    if (!(isfinite(it->surface) && it->surface >= 0.0)) return "the surface may not be negative";
    if (!it->born) return NULL;
    if (it->box.x > 0.0) return "a continuum has no box";
    for (int a = 0; a < mol->num_atoms; ++a) {
        if (!(mol->ff->types[mol->atoms[a].type].radius > TALI_BORN_OFFSET)) {
            return "a type has no Born radius: give it by tal_ff_set_type_born()";
        }
    }
    return NULL;
}

static const char *flaw_of(const tal_mol_nonbonded *it, const tal_mol *mol, double radius)
{
    if (!is_range(&it->vdw)) return "the range of van der Waals ends before it begins, or nowhere";
    if (!is_range(&it->coulomb)) return "the range of charges ends before it begins, or nowhere";
    if (!(isfinite(it->skin) && it->skin >= 0.0)) return "the skin may not be negative";
    const char *flaw = flaw_of_charges(it);
    if (flaw == NULL) flaw = flaw_of_born(it, mol);
    return flaw != NULL ? flaw : flaw_of_box(it, radius);
}

tal_status tal_mol_get_nonbonded(const tal_mol_instance *instance, const tal_state *state,
                                 tal_mol_nonbonded *nonbonded)
{
    tal_status st;
    if (!tali_term_is_state(instance, state, TAL_STAGE_MODEL, __func__, &st)) return st;
    if (nonbonded == NULL) return TALI_BREACH(TAL_ERR_NULL, "where it is to go is NULL");
    const tal_mol_nonbonded *it = tal_var_value(instance->system, state, instance->nonbonded);
    *nonbonded = *it;
    return TAL_OK;
}

void tali_term_copy_settings(const tal_mol_nonbonded *from, tal_mol_nonbonded *to)
{
    memset(to, 0, sizeof *to);
    to->vdw.kind = from->vdw.kind;
    to->vdw.start = from->vdw.start;
    to->vdw.end = from->vdw.end;
    to->coulomb.kind = from->coulomb.kind;
    to->coulomb.start = from->coulomb.start;
    to->coulomb.end = from->coulomb.end;
    to->dielectric = from->dielectric;
    to->permittivity = from->permittivity;
    to->debye_length = from->debye_length;
    to->outside = from->outside;
    to->box = from->box;
    to->born = from->born;
    to->solute = from->solute;
    to->solvent = from->solvent;
    to->surface = from->surface;
    to->skin = from->skin;
    to->all_pairs = from->all_pairs;
}

tal_status tal_mol_set_nonbonded(const tal_mol_instance *instance, tal_state *state,
                                 const tal_mol_nonbonded *nonbonded)
{
    tal_status st;
    if (!tali_term_is_state(instance, state, TAL_STAGE_MODEL, __func__, &st)) return st;
    if (nonbonded == NULL) return TALI_BREACH(TAL_ERR_NULL, "the settings are NULL");
    const char *flaw = flaw_of(nonbonded, instance->mol, instance->statistics.radius);
    if (flaw != NULL) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "molecule '%s': %s (cutoffs %g and %g "
                                "nm, box %g x %g x %g nm)",
                                tal_force_name(instance->forces, instance->me), flaw,
                                nonbonded->vdw.end, nonbonded->coulomb.end, nonbonded->box.x,
                                nonbonded->box.y, nonbonded->box.z);
    }
    tal_mol_nonbonded clean;
    tali_term_copy_settings(nonbonded, &clean);
    return tal_var_set(instance->system, state, instance->nonbonded, &clean);
}

// ---- virial

// Mass, mass center and velocity of a part.
typedef struct center {
    double mass;
    tal_vec3 x, v;
} center;

// A massless part is where its first atom is.
static center center_of(const tal_mol_instance *instance, const tal_state *state, int part,
                        bool has_v)
{
    const tal_mol *mol = instance->mol;
    center sum = {0.0, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (int k = mol->part_start[part]; k < mol->part_start[part + 1]; ++k) {
        const int a = mol->part_atoms[k];
        const tal_body_ix body = {instance->bodies[instance->body[a]].body};
        const double m = mol->atoms[a].mass;
        sum.mass += m;
        sum.x = tal_v3_axpy(
            m, tal_station_p_GS(instance->matter, state, body, instance->station[a]), sum.x);
        if (!has_v) continue;
        sum.v = tal_v3_axpy(
            m, tal_station_v_GS(instance->matter, state, body, instance->station[a]), sum.v);
    }
    if (sum.mass > 0.0) {
        sum.x = tal_v3_scale(1.0 / sum.mass, sum.x);
        sum.v = tal_v3_scale(1.0 / sum.mass, sum.v);
    }
    return sum;
}

// What acts within one part: (x - x_c) f^T of its atoms.
static tal_mat3 inner_virial(const tal_mol_instance *instance, const tal_state *state,
                             const tali_term_sums *sums, int part)
{
    const tal_mol *mol = instance->mol;
    const tal_vec3 zero = {0.0, 0.0, 0.0};
    const center c = center_of(instance, state, part, false);
    tal_mat3 W = tal_m3(zero, zero, zero);
    for (int k = mol->part_start[part]; k < mol->part_start[part + 1]; ++k) {
        const int a = mol->part_atoms[k];
        const tal_vec3 arm = tal_v3_sub(tali_term_positions(sums)[a], c.x);
        W = tal_m3_add(W, tal_m3_outer(arm, tali_term_force_on(instance, sums, a)));
    }
    return W;
}

tal_status tal_mol_calc_virial(const tal_mol_instance *instance, tal_state *state, bool of_parts,
                               tal_mat3 *virial)
{
    tal_status st;
    if (!tali_term_is_state(instance, state, TAL_STAGE_POSITION, __func__, &st)) return st;
    if (virial == NULL) return TALI_BREACH(TAL_ERR_NULL, "where the virial is to go is NULL");
    const tali_term_sums *sums = tali_term_sums_of(instance, state, instance->all);
    if (sums == NULL) return tal_state_error(state)->status;
    const double *w = sums->virial;
    tal_mat3 W =
        tal_m3(tal_v3(w[0], w[1], w[2]), tal_v3(w[3], w[4], w[5]), tal_v3(w[6], w[7], w[8]));
    for (int p = 0; of_parts && p < instance->mol->num_parts; ++p) {
        W = tal_m3_sub(W, inner_virial(instance, state, sums, p));
    }
    *virial = W;
    return TAL_OK;
}

double tal_mol_calc_tail(const tal_mol_instance *instance, const tal_state *state)
{
    tal_status st;
    if (!tali_term_is_state(instance, state, TAL_STAGE_MODEL, __func__, &st)) return TALI_NAN;
    const tal_mol_nonbonded *set = tal_var_value(instance->system, state, instance->nonbonded);
    const double volume = set->box.x * set->box.y * set->box.z, rc = set->vdw.end;
    if (!(volume > 0.0)) return TALI_NAN;
    const tal_ff *ff = instance->mol->ff;
    const double rc3 = rc * rc * rc, rc9 = rc3 * rc3 * rc3;
    double sum = 0.0;
    for (int i = 0; i < ff->num_classes; ++i) {
        for (int j = 0; j < ff->num_classes; ++j) {
            const tal_ff_pair pair = ff->pairs[i * ff->num_classes + j];
            const double atoms = (double)instance->class_count[i] * instance->class_count[j];
            sum += atoms * (pair.A / (9.0 * rc9) - pair.B / (3.0 * rc3));
        }
    }
    const double *scale = tal_var_value(instance->system, state, instance->scales);
    return scale[TAL_MOL_SCALE_VDW] * 360.0 * TAL_MOL_DEGREE * sum / volume;
}

// P V = (sum m v^2 + tr W)/3 over mass centers of parts.
double tal_mol_calc_pressure(const tal_mol_instance *instance, tal_state *state)
{
    tal_status st;
    if (!tali_term_is_state(instance, state, TAL_STAGE_VELOCITY, __func__, &st)) return TALI_NAN;
    const tal_mol_nonbonded *set = tal_var_value(instance->system, state, instance->nonbonded);
    const double volume = set->box.x * set->box.y * set->box.z;
    tal_mat3 W;
    if (!(volume > 0.0) || tal_mol_calc_virial(instance, state, true, &W) != TAL_OK) {
        return TALI_NAN;
    }
    double sum = W.x.x + W.y.y + W.z.z;
    for (int p = 0; p < instance->mol->num_parts; ++p) {
        const center c = center_of(instance, state, p, true);
        sum += c.mass * tal_v3_dot(c.v, c.v);
    }
    return TAL_MOL_BAR * sum / (3.0 * volume);
}
