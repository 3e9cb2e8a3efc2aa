// What becomes of every term when a molecule is bodies: it moves, is mapped to a mobility, or is
// constant and left out.
//
// An atom is *fixed in* body b if it is of b, or on the axis of a torsion between b and its own
// body: one of the two atoms of that bond. A term whose atoms are all fixed in one body is
// constant.
#include "term/instance_internal.h"

bool tali_term_is_fixed_in(const tal_mol_instance *instance, int atom, int b)
{
    const int own = instance->body[atom];
    if (own == b) return true;
    const tali_term_body *mine = &instance->bodies[own], *other = &instance->bodies[b];
    if (mine->parent == b && mine->joint.mobility == TAL_BOND_TORSION) {
        return mine->joint.atoms[1] == atom;
    }
    return other->parent == own && other->joint.mobility == TAL_BOND_TORSION &&
           other->joint.atoms[0] == atom;
}

static bool are_fixed_in(const tal_mol_instance *instance, const int atoms[], int n, int b)
{
    for (int i = 0; i < n; ++i) {
        if (!tali_term_is_fixed_in(instance, atoms[i], b)) return false;
    }
    return true;
}

static bool is_constant(const tal_mol_instance *instance, const int atoms[], int n)
{
    for (int i = 0; i < n; ++i) {
        if (are_fixed_in(instance, atoms, n, instance->body[atoms[i]])) return true;
    }
    return false;
}

// The body whose torsion a dihedral k-i-j-l is about, with k fixed on one side and l on the other;
// -1: none.
static int turning_body(const tal_mol_instance *instance, const int atoms[4])
{
    for (int side = 0; side < 2; ++side) {
        const int i = atoms[1 + side], j = atoms[2 - side];
        const int k = atoms[3 * side], l = atoms[3 - 3 * side];
        const int b = instance->body[j];
        const tali_term_body *body = &instance->bodies[b];
        if (body->parent < 0 || body->joint.mobility != TAL_BOND_TORSION) continue;
        if (body->joint.atoms[0] != i || body->joint.atoms[1] != j) continue;
        const bool are_fixed = tali_term_is_fixed_in(instance, k, body->parent) &&
                               tali_term_is_fixed_in(instance, l, b);
        if (are_fixed) return b;
    }
    return -1;
}

// ---- mapped series: phi = q + (phi - q at the positions given), in either direction

static void map_term(tal_mol_instance *instance, const tali_plan *plan, const tali_mol_term *term,
                     int b)
{
    tali_term_mapped *mapped = &instance->mapped[instance->bodies[b].mapped];
    tal_vec3 x[4];
    for (int i = 0; i < 4; ++i) {
        x[i] = plan->mol->atoms[term->atoms[i]].x;
    }
    const double delta = tali_term_dihedral(x) - plan->bodies[b].q[0];
    tali_term_add_shifted(&term->law.series, delta, &mapped->series);
}

// Every torsion joint gets a series when terms are mapped, in the order of the bodies.
static void number_mapped(tal_mol_instance *instance, const tali_plan *plan)
{
    instance->num_mapped = 0;
    for (int b = 0; b < plan->num_bodies && plan->how->map_bonded; ++b) {
        const tali_plan_body *body = &plan->bodies[b];
        if (body->parent < 0 || body->mobility != TAL_BOND_TORSION) continue;
        instance->mapped[instance->num_mapped].body = b;
        instance->bodies[b].mapped = instance->num_mapped++;
    }
}

static tali_term_fate fate_of(const tal_mol_instance *instance, tal_mol_family family,
                              const tali_mol_term *term, bool map, int *b)
{
    *b = -1;
    if (is_constant(instance, term->atoms, tali_mol_arity(family))) return TALI_TERM_FROZEN;
    if (family != TAL_MOL_TORSION || !map) return TALI_TERM_MOVES;
    *b = turning_body(instance, term->atoms);
    return *b < 0 ? TALI_TERM_MOVES : TALI_TERM_MAPPED;
}

static void sort_family(tal_mol_instance *instance, const tali_plan *plan, tal_mol_family family)
{
    const tali_mol_terms *terms = &plan->mol->terms[family];
    int moving = 0;
    for (int t = 0; t < terms->count; ++t) {
        int b;
        const tali_mol_term *term = &terms->items[t];
        const tali_term_fate fate = fate_of(instance, family, term, plan->how->map_bonded, &b);
        instance->fate[family][t] = (unsigned char)fate;
        if (fate == TALI_TERM_MOVES) instance->moving[family][moving] = t;
        if (fate == TALI_TERM_MAPPED) map_term(instance, plan, term, b);
        if (fate == TALI_TERM_MAPPED) ++instance->statistics.num_mapped;
        if (fate == TALI_TERM_FROZEN) ++instance->statistics.num_frozen;
        moving += fate == TALI_TERM_MOVES ? 1 : 0;
    }
    instance->num_moving[family] = moving;
}

// ---- pairs

bool tali_term_special_pair(const tal_mol *mol, int i, int j, int bonds, tali_term_pair *pair)
{
    if (bonds < 1 || bonds > 4) return false;
    const tal_ff *ff = mol->ff;
    const int n = ff->num_classes, ci = ff->types[mol->atoms[i].type].atom_class;
    const int cj = ff->types[mol->atoms[j].type].atom_class;
    const tal_ff_pair plain = ff->pairs[ci * n + cj];
    const tal_ff_pair own = bonds == 3 ? ff->pairs14[ci * n + cj] : plain;
    const double vdw = ff->def.vdw_scale[bonds - 1];
    pair->i = i;
    pair->j = j;
    pair->A = vdw * own.A;
    pair->B = vdw * own.B;
    pair->charge = ff->def.coulomb_scale[bonds - 1];
    return vdw != 1.0 || pair->charge != 1.0 || own.A != plain.A || own.B != plain.B;
}

bool tali_term_is_pair_frozen(const tal_mol_instance *instance, int i, int j, int bonds)
{
    if (instance->body[i] == instance->body[j]) return true;
    if (bonds > 4) return false;
    return tali_term_is_fixed_in(instance, j, instance->body[i]) ||
           tali_term_is_fixed_in(instance, i, instance->body[j]);
}

// The row of one atom: which atoms behind it are left out, which pairs are special. Of the pairs
// that are constant across bodies only those are looked for that are near by bonds; the others do
// no work.
static void sort_pairs_of(tal_mol_instance *instance, int i, int *skips)
{
    const tal_mol *mol = instance->mol;
    for (int k = mol->near_start[i]; k < mol->near_start[i + 1]; ++k) {
        const int j = mol->near[k].atom;
        if (instance->body[i] == instance->body[j]) continue;
        tali_term_pair pair;
        const bool is_special = tali_term_special_pair(mol, i, j, mol->near[k].bonds, &pair);
        const bool is_fixed = tali_term_is_pair_frozen(instance, i, j, mol->near[k].bonds);
        if (!is_special && !is_fixed) continue;
        instance->skip[*skips] = j;
        ++*skips;
        const bool acts = pair.A != 0.0 || pair.B != 0.0 || pair.charge != 0.0;
        if (is_fixed || !acts) continue;
        instance->pairs[instance->num_pairs] = pair;
        ++instance->num_pairs;
    }
}

void tali_term_sort_out(tal_mol_instance *instance, const tali_plan *plan)
{
    number_mapped(instance, plan);
    for (int f = 0; f < TAL_NUM_MOL_FAMILIES; ++f) {
        sort_family(instance, plan, (tal_mol_family)f);
    }
    int skips = 0;
    instance->num_pairs = 0;
    for (int i = 0; i < instance->mol->num_atoms; ++i) {
        instance->skip_start[i] = skips;
        sort_pairs_of(instance, i, &skips);
    }
    instance->skip_start[instance->mol->num_atoms] = skips;
}
