// Models of PDB and mmCIF files: alternate places of atoms, and the same atoms in every model.
#include "atoms/atoms_internal.h"

#include <string.h>

// The atom of this name in the residue that is being read; -1: there is none.
static int find_place(const tali_atoms_reader *r, const tali_atoms_models *m, const char *name)
{
    for (int i = m->residue; i < r->num; ++i) {
        if (strcmp(r->atoms->list[i].name, name) == 0) return i;
    }
    return -1;
}

static bool is_same_residue(const tali_atoms_one *a, const tali_atoms_one *b)
{
    return a->atom.residue_number == b->atom.residue_number &&
           strcmp(a->insertion, b->insertion) == 0 && strcmp(a->chain, b->chain) == 0;
}

// A record that shares an atom with one before it: which of the two places counts?
static bool take_again(tali_atoms_reader *r, tali_atoms_models *m, int atom,
                       const tali_atoms_record *record)
{
    tali_atoms_place *place = &m->places[atom];
    if (strcmp(place->alternate, record->alternate) == 0) {
        tali_atoms_error(r, 0, "atom %s of residue %d is there twice", record->one.name,
                         record->one.atom.residue_number);
        return false;
    }
    if (!r->how.highest_occupancy || record->one.atom.occupancy <= place->occupancy) return true;
    memcpy(place->alternate, record->alternate, sizeof place->alternate);
    place->occupancy = record->one.atom.occupancy;
    r->x[atom] = record->x;
    if (m->num == 0) r->atoms->list[atom] = record->one;
    return true;
}

// An atom of a later model must be that of the first one.
static bool check_same(tali_atoms_reader *r, const tali_atoms_models *m,
                       const tali_atoms_record *record)
{
    const int atom = r->num;
    if (atom >= r->atoms->num) {
        tali_atoms_error(r, 0, "model %d has more than the %d atoms of the first model", m->num + 1,
                         r->atoms->num);
        return false;
    }
    const tali_atoms_one *first = &r->atoms->list[atom];
    if (strcmp(first->name, record->one.name) == 0 && is_same_residue(first, &record->one)) {
        return true;
    }
    tali_atoms_error(r, 0,
                     "atom %d of model %d is %s of residue %d, but %s of residue %d in the first "
                     "model: models must have the same atoms in the same order",
                     atom + 1, m->num + 1, record->one.name, record->one.atom.residue_number,
                     first->name, first->atom.residue_number);
    return false;
}

static bool add_atom(tali_atoms_reader *r, const tali_atoms_one *one)
{
    tal_atom atom = one->atom;
    atom.name = one->name;
    atom.residue = one->residue;
    atom.chain = one->chain;
    atom.insertion = one->insertion;
    const char *const names[] = {atom.name, atom.residue, atom.chain, atom.insertion};
    for (int k = 0; k < 4; ++k) {
        const char *flaw = tali_atoms_name_flaw(names[k], k < 3 ? TAL_MAX_ATOM_NAME : 1);
        if (flaw == NULL) continue;
        tali_atoms_error(r, 0, "the name '%s' %s", names[k], flaw);
        return false;
    }
    return tali_atoms_good(r, tal_atoms_add(r->atoms, &atom));
}

int tali_atoms_take(tali_atoms_reader *r, tali_atoms_models *m, const tali_atoms_record *record)
{
    const bool begins = r->num > 0 && !is_same_residue(&r->atoms->list[r->num - 1], &record->one);
    if (r->num == 0 || begins) m->residue = r->num;
    if (record->alternate[0] != '\0') {
        const int atom = find_place(r, m, record->one.name);
        if (atom >= 0) return take_again(r, m, atom, record) ? atom : -1;
    }
    if (m->num == 0 ? !add_atom(r, &record->one) : !check_same(r, m, record)) return -1;
    if (!tali_grow(&r->how.allocator, (void **)&m->places, r->num, &m->capacity,
                   sizeof *m->places)) {
        r->no_memory = true;
        return -1;
    }
    tali_atoms_place *place = &m->places[r->num];
    memcpy(place->alternate, record->alternate, sizeof place->alternate);
    place->occupancy = record->one.atom.occupancy;
    return tali_atoms_push(r, record->x) ? r->num - 1 : -1;
}

bool tali_atoms_end_model(tali_atoms_reader *r, tali_atoms_models *m)
{
    if (r->num == 0) {
        tali_atoms_error(r, 0, "model %d has no atoms", m->num + 1);
        return false;
    }
    if (r->num != r->atoms->num) {
        tali_atoms_error(r, 0, "model %d has %d atoms, but the first model has %d", m->num + 1,
                         r->num, r->atoms->num);
        return false;
    }
    m->num += 1;
    m->residue = 0;
    return tali_atoms_end_frame(r, NULL, &m->frame);
}

void tali_atoms_models_free(const tali_atoms_reader *r, tali_atoms_models *m)
{
    tali_free(&r->how.allocator, m->places, (size_t)m->capacity * sizeof *m->places);
}
