// Copies of a molecule in another: what solvents are made of.
#include "mol/mol_internal.h"

#include <limits.h>

// Atoms, with positions if all atoms before have some.
static bool copy_atoms(tal_mol *mol, const tal_mol *other, const tal_xform *X)
{
    const bool has_positions =
        mol->num_positions == mol->num_atoms && other->num_positions == other->num_atoms;
    for (int i = 0; i < other->num_atoms; ++i) {
        const tali_mol_atom *from = &other->atoms[i];
        const int at = tal_mol_add_atom(mol, from->type, from->name, from->residue, from->chain);
        if (at < 0) return false;
        mol->atoms[at].charge = from->charge;
        if (has_positions) mol->atoms[at].x = tal_xf_apply(*X, from->x);
    }
    if (has_positions) mol->num_positions = mol->num_atoms;
    return true;
}

static bool copy_bonds(tal_mol *mol, const tal_mol *other, int first)
{
    for (int i = 0; i < other->num_bonds; ++i) {
        const tali_mol_bond *from = &other->bonds[i];
        if (tal_mol_add_bond(mol, first + from->atoms[0], first + from->atoms[1], from->order) <
            0) {
            return false;
        }
    }
    return true;
}

// Terms that were added by hand; the tables give the others again.
static bool copy_terms(tal_mol *mol, const tal_mol *other, int first)
{
    for (int f = 0; f < TAL_NUM_MOL_FAMILIES; ++f) {
        for (int t = 0; t < other->terms[f].count; ++t) {
            tali_mol_term term = other->terms[f].items[t];
            if (term.defined == INT_MAX) continue;
            for (int k = 0; k < tali_mol_arity((tal_mol_family)f); ++k) {
                term.atoms[k] += first;
            }
            term.defined = mol->terms[f].count;
            if (tali_mol_push_term(mol, (tal_mol_family)f, &term) != TAL_OK) return false;
        }
    }
    return true;
}

// Clusters with their places in each other, then atoms in clusters.
static bool copy_clusters(tal_mol *mol, const tal_mol *other, int first)
{
    const int clusters = mol->num_clusters;
    for (int c = 0; c < other->num_clusters; ++c) {
        const int at = tal_mol_add_cluster(mol, other->clusters[c].name);
        if (at < 0) return false;
        const int parent = other->clusters[c].parent;
        mol->clusters[at].parent = parent < 0 ? -1 : clusters + parent;
        mol->clusters[at].X_PC = other->clusters[c].X_PC;
    }
    for (int i = 0; i < other->num_placements; ++i) {
        const tali_mol_placement made = {clusters + other->placements[i].cluster,
                                         first + other->placements[i].atom,
                                         other->placements[i].p_CS};
        if (!tali_grow(&mol->allocator, (void **)&mol->placements, mol->num_placements,
                       &mol->placement_capacity, sizeof made)) {
            (void)tali_mol_refuse(mol, TAL_ERR_NO_MEMORY, "tal_mol_add_copy", "no room for atom %d",
                                  made.atom);
            return false;
        }
        mol->placements[mol->num_placements++] = made;
    }
    return true;
}

int tal_mol_add_copy(tal_mol *mol, const tal_mol *other, const tal_xform *X)
{
    if (tali_mol_check_open(mol, __func__) != TAL_OK) return -1;
    if (other == NULL || !other->is_frozen || other->ff != mol->ff) {
        (void)tali_mol_refuse(mol, TAL_ERR_BAD_VALUE, __func__,
                              "what is copied must be frozen and have the same force field");
        return -1;
    }
    const tal_xform pose = X != NULL ? *X : TAL_XFORM_IDENTITY;
    if (!tal_xf_is_finite(pose)) {
        (void)tali_mol_refuse(mol, TAL_ERR_NOT_FINITE, __func__,
                              "the pose of a copy is not finite");
        return -1;
    }
    const int first = mol->num_atoms;
    const bool fits = copy_atoms(mol, other, &pose) && copy_bonds(mol, other, first) &&
                      copy_terms(mol, other, first) && copy_clusters(mol, other, first);
    return fits ? first : -1;
}
