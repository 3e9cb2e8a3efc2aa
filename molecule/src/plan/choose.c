// Which mobility every bond is to have: by level, by selections, by choices; and what is one body.
#include "plan/plan_internal.h"

tal_mol_granularity tal_mol_granularity_default(void)
{
    const tal_mol_granularity how = {
        .level = TAL_MOL_TORSIONS, .map_bonded = true, .list_room = 64, .root = -1};
    return how;
}

// ---- selections

static bool is_listed(const tal_mol_selection *s, int atom)
{
    if (s->atoms == NULL) return true;
    for (int i = 0; i < s->num_atoms; ++i) {
        if (s->atoms[i] == atom) return true;
    }
    return false;
}

static bool is_selected(const tal_mol *mol, const tal_mol_selection *s, int atom)
{
    const tali_mol_atom *it = &mol->atoms[atom];
    if (s->chain != NULL && strcmp(s->chain, it->chain) != 0) return false;
    const bool any_residue = s->last_residue < s->first_residue;
    if (!any_residue && (it->residue < s->first_residue || it->residue > s->last_residue)) {
        return false;
    }
    return is_listed(s, atom);
}

static tal_status check_selection(const tali_plan *plan, int i, tal_error *err)
{
    const tal_mol_selection *s = &plan->how->selections[i];
    if ((int)s->level < 0 || s->level > TAL_MOL_RIGID || s->num_atoms < 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "selection %d has level %d and %d atoms", i,
                         (int)s->level, s->num_atoms);
    }
    for (int k = 0; s->atoms != NULL && k < s->num_atoms; ++k) {
        if (s->atoms[k] < 0 || s->atoms[k] >= plan->mol->num_atoms) {
            return TALI_FAIL(err, TAL_ERR_BAD_INDEX, "selection %d has atom %d: there are %d", i,
                             s->atoms[k], plan->mol->num_atoms);
        }
    }
    return TAL_OK;
}

// ---- levels

static tal_mol_level level_of(const tali_plan *plan, int atom)
{
    const int s = plan->level[atom];
    return s < 0 ? plan->how->level : plan->how->selections[s].level;
}

static bool is_backbone(const tal_mol *mol, const int atoms[2])
{
    const char *a = mol->atoms[atoms[0]].name, *b = mol->atoms[atoms[1]].name;
    const bool from_ca = strcmp(a, "CA") == 0, to_ca = strcmp(b, "CA") == 0;
    const char *other = from_ca ? b : a;
    return from_ca != to_ca && (strcmp(other, "N") == 0 || strcmp(other, "C") == 0);
}

// Whether a bond turns at this level if nothing forbids it.
static bool turns(const tal_mol *mol, tal_mol_level level, const int atoms[2])
{
    const tali_mol_atom *a = &mol->atoms[atoms[0]], *b = &mol->atoms[atoms[1]];
    if (level == TAL_MOL_TORSIONS) return true;
    if (level == TAL_MOL_BACKBONE) return is_backbone(mol, atoms);
    if (level == TAL_MOL_RESIDUES) {
        return a->residue != b->residue || strcmp(a->chain, b->chain) != 0;
    }
    return false;
}

static tal_bond_mobility mobility_at(const tali_plan *plan, const tali_mol_bond *bond,
                                     tal_mol_level level)
{
    if (level == TAL_MOL_CARTESIAN || level == TAL_MOL_RIGID_GROUPS) return TAL_BOND_FREE;
    if (level == TAL_MOL_BAT) return TAL_BOND_SPHERICAL;
    if (bond->in_ring && !plan->how->open_rings) return TAL_BOND_RIGID;
    if (bond->order > 1 && plan->how->freeze_double) return TAL_BOND_RIGID;
    return turns(plan->mol, level, bond->atoms) ? TAL_BOND_TORSION : TAL_BOND_RIGID;
}

// The last selection that both atoms are in decides; `level` of the atoms is the last of each.
static int common_selection(const tali_plan *plan, const int atoms[2])
{
    for (int s = plan->how->num_selections - 1; s >= 0; --s) {
        const tal_mol_selection *it = &plan->how->selections[s];
        if (is_selected(plan->mol, it, atoms[0]) && is_selected(plan->mol, it, atoms[1])) return s;
    }
    return -1;
}

static tal_status take_choices(tali_plan *plan, tal_error *err)
{
    for (int i = 0; i < plan->how->num_bonds; ++i) {
        const tal_mol_bond_choice *it = &plan->how->bonds[i];
        const int n = plan->mol->num_atoms;
        const bool are_atoms = it->a >= 0 && it->a < n && it->b >= 0 && it->b < n;
        const int bond = are_atoms ? tal_mol_find_bond(plan->mol, it->a, it->b) : -1;
        if (bond < 0) {
            return TALI_FAIL(err, TAL_ERR_BAD_INDEX,
                             "choice %d: there is no bond of atoms %d and %d", i, it->a, it->b);
        }
        if ((int)it->mobility < 0 || it->mobility > TAL_BOND_FREE) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                             "choice %d: the bond of atoms %d and %d cannot have mobility %d", i,
                             it->a, it->b, (int)it->mobility);
        }
        plan->mobility[bond] = it->mobility;
    }
    return TAL_OK;
}

tal_status tali_plan_choose(tali_plan *plan, tal_error *err)
{
    const tal_mol *mol = plan->mol;
    for (int s = 0; s < plan->how->num_selections; ++s) {
        const tal_status st = check_selection(plan, s, err);
        if (st != TAL_OK) return st;
    }
    for (int a = 0; a < mol->num_atoms; ++a) {
        plan->level[a] = -1;
        for (int s = 0; s < plan->how->num_selections; ++s) {
            if (is_selected(mol, &plan->how->selections[s], a)) plan->level[a] = s;
        }
    }
    for (int b = 0; b < mol->num_bonds; ++b) {
        const int s = common_selection(plan, mol->bonds[b].atoms);
        const tal_mol_level level = s < 0 ? plan->how->level : plan->how->selections[s].level;
        plan->mobility[b] = mobility_at(plan, &mol->bonds[b], level);
    }
    return take_choices(plan, err);
}

// ---- what is one body

// Find the first of a set, halving the way there.
static int first_of(int up[], int i)
{
    while (up[i] != i) {
        up[i] = up[up[i]];
        i = up[i];
    }
    return i;
}

static void join(int up[], int a, int b)
{
    const int i = first_of(up, a), j = first_of(up, b);
    up[i < j ? j : i] = i < j ? i : j;
}

static int root_cluster(const tal_mol *mol, int cluster)
{
    while (mol->clusters[cluster].parent >= 0) {
        cluster = mol->clusters[cluster].parent;
    }
    return cluster;
}

// Atoms of one cluster, where clusters are bodies; those of one selection that is a domain, or of
// the whole molecule. `first` has a place for every cluster and selection: it is `queue`, which
// atoms share.
static void join_groups(tali_plan *plan, int up[])
{
    const tal_mol *mol = plan->mol;
    for (int i = 0; i < mol->num_placements; ++i) {
        const tali_mol_placement *it = &mol->placements[i];
        if (level_of(plan, it->atom) != TAL_MOL_RIGID_GROUPS) continue;
        for (int j = 0; j < i; ++j) { // the first of its cluster that is a body
            const tali_mol_placement *other = &mol->placements[j];
            if (level_of(plan, other->atom) == TAL_MOL_RIGID_GROUPS &&
                root_cluster(mol, other->cluster) == root_cluster(mol, it->cluster)) {
                join(up, it->atom, other->atom);
                break;
            }
        }
    }
    for (int a = 0; a < mol->num_atoms; ++a) {
        if (level_of(plan, a) != TAL_MOL_DOMAINS) continue;
        for (int b = 0; b < a; ++b) { // the first of its selection
            if (plan->level[b] != plan->level[a]) continue;
            join(up, a, b);
            break;
        }
    }
}

void tali_plan_find_units(tali_plan *plan)
{
    const tal_mol *mol = plan->mol;
    int *up = plan->queue;
    for (int a = 0; a < mol->num_atoms; ++a) {
        up[a] = a;
    }
    for (int b = 0; b < mol->num_bonds; ++b) {
        const int *atoms = mol->bonds[b].atoms;
        if (plan->mobility[b] == TAL_BOND_RIGID) join(up, atoms[0], atoms[1]);
    }
    join_groups(plan, up);
    plan->num_units = 0;
    for (int a = 0; a < mol->num_atoms; ++a) {
        const int first = first_of(up, a);
        plan->unit[a] = first == a ? plan->num_units++ : plan->unit[first];
    }
    // the atoms of each unit, ascending
    memset(plan->unit_first, 0, (size_t)(mol->num_atoms + 1) * sizeof plan->unit_first[0]);
    for (int a = 0; a < mol->num_atoms; ++a) {
        ++plan->unit_first[plan->unit[a] + 1];
    }
    for (int u = 0; u < plan->num_units; ++u) {
        plan->unit_first[u + 1] += plan->unit_first[u];
    }
    int *next = plan->unit_body; // free until bodies are numbered
    memcpy(next, plan->unit_first, (size_t)plan->num_units * sizeof next[0]);
    for (int a = 0; a < mol->num_atoms; ++a) {
        plan->unit_atoms[next[plan->unit[a]]++] = a;
    }
}
