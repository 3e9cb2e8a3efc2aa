// What molecules were built from, for writing model files.
#include "term/instance_internal.h"

#include <limits.h>

// ---- fields and molecules

tali_field_class_facts tali_field_class_facts_of(const tal_ff *ff, int atom_class)
{
    const tali_field_class *it = &ff->classes[atom_class];
    return (tali_field_class_facts){it->valence, it->sigma, it->well_depth};
}

void tali_field_born_of(const tal_ff *ff, int type, double out[2])
{
    out[0] = ff->types[type].radius;
    out[1] = ff->types[type].screen;
}

int tali_field_num_rows(const tal_ff *ff, tali_field_table table)
{
    return ff->tables[table].count;
}

const tali_field_row *tali_field_row_at(const tal_ff *ff, tali_field_table table, int i)
{
    return &ff->tables[table].items[i];
}

tal_mol_def tali_mol_def_of(const tal_mol *mol)
{
    return mol->def;
}

const tali_field_law *tali_mol_own_term(const tal_mol *mol, tal_mol_family family, int i,
                                        int atoms[4])
{
    const tali_mol_terms *terms = &mol->terms[family];
    if (i >= terms->count || terms->items[i].defined == INT_MAX) return NULL; // of a table
    memcpy(atoms, terms->items[i].atoms, sizeof terms->items[i].atoms);
    return &terms->items[i].law;
}

bool tali_mol_placement_at(const tal_mol *mol, int i, int *cluster, int *atom)
{
    if (i >= mol->num_placements) return false;
    *atom = mol->placements[i].atom;
    *cluster = mol->placements[i].cluster;
    while (mol->clusters[*cluster].parent >= 0) {
        *cluster = mol->clusters[*cluster].parent;
    }
    return true;
}

const char *tali_mol_cluster_name(const tal_mol *mol, int cluster)
{
    return mol->clusters[cluster].name;
}

// ---- instances

// All that a granularity points to, in one block.
bool tali_term_keep_choices(tal_mol_instance *instance, const tal_mol_granularity *how)
{
    tali_term_choices *kept = NULL, made = {.how = *how};
    size_t num_atoms = 0, num_letters = 0;
    for (int s = 0; s < how->num_selections; ++s) {
        const tal_mol_selection *it = &how->selections[s];
        if (it->atoms != NULL) num_atoms += (size_t)it->num_atoms;
        if (it->chain != NULL) num_letters += strlen(it->chain) + 1;
    }
    const size_t selections = (size_t)how->num_selections, bonds = (size_t)how->num_bonds;
    const tali_piece pieces[] = {{&kept, sizeof *kept},
                                 {&made.selections, selections * sizeof *made.selections},
                                 {&made.bonds, bonds * sizeof *made.bonds},
                                 {&made.atoms, num_atoms * sizeof *made.atoms},
                                 {&made.letters, num_letters}};
    if (tali_alloc_pieces(&instance->allocator, pieces, sizeof pieces / sizeof *pieces,
                          &made.size) == NULL) {
        return false;
    }
    *kept = made;
    int *atoms = kept->atoms;
    char *letters = kept->letters;
    for (int s = 0; s < how->num_selections; ++s) {
        tal_mol_selection *it = &kept->selections[s];
        *it = how->selections[s];
        if (it->atoms != NULL) {
            memcpy(atoms, it->atoms, (size_t)it->num_atoms * sizeof *atoms);
            it->atoms = atoms;
            atoms += it->num_atoms;
        }
        if (it->chain != NULL) {
            const size_t length = strlen(it->chain) + 1;
            memcpy(letters, it->chain, length);
            it->chain = letters;
            letters += length;
        }
    }
    if (bonds > 0) memcpy(kept->bonds, how->bonds, bonds * sizeof *kept->bonds);
    kept->how.selections = kept->selections;
    kept->how.bonds = kept->bonds;
    instance->choices = kept;
    return true;
}

tali_term_facts tali_term_facts_of(const tal_mol_instance *instance)
{
    return (tali_term_facts){.how = &instance->choices->how,
                             .X_GR = instance->X_GR,
                             .first_body = instance->bodies[0].body,
                             .num_bodies = instance->statistics.num_bodies,
                             .picture = instance->picture,
                             .first_decoration = instance->first_decoration,
                             .num_decorations = instance->num_decorations};
}
