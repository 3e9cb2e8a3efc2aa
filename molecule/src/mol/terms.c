// Bonded terms: every stretch, bend, torsion and improper that the bonds imply, with its law.
//
// Terms that were added by hand come first, in the order of adding; those from tables follow in the
// order of bonds and centers. A table is not asked about atoms that a term by hand is of.
#include "mol/mol_internal.h"

#include <limits.h>

static int class_of(const tal_mol *mol, int atom)
{
    return mol->ff->types[mol->atoms[atom].type].atom_class;
}

// ---- what was added by hand, sorted by atoms to be found again

static bool is_before(const int a[4], const int b[4])
{
    for (int i = 0; i < 4; ++i) {
        if (a[i] != b[i]) return a[i] < b[i];
    }
    return false;
}

// The atoms of a term in the order in which both directions are the same; those of an improper
// keep their order around the center.
static void canonical_atoms(tal_mol_family family, const int atoms[4], int out[4])
{
    const int arity = tali_mol_arity(family);
    memcpy(out, atoms, 4 * sizeof out[0]);
    if (family == TAL_MOL_IMPROPER || atoms[0] < atoms[arity - 1]) return;
    for (int i = 0; i < arity; ++i) {
        out[i] = atoms[arity - 1 - i];
    }
}

typedef struct by_hand {
    int (*keys)[4]; // sorted
    int count;
} by_hand;

static void sink(int (*keys)[4], int top, int count)
{
    int key[4];
    memcpy(key, keys[top], sizeof key);
    for (;;) {
        int child = 2 * top + 1;
        if (child >= count) break;
        if (child + 1 < count && is_before(keys[child], keys[child + 1])) ++child;
        if (!is_before(key, keys[child])) break;
        memcpy(keys[top], keys[child], sizeof key);
        top = child;
    }
    memcpy(keys[top], key, sizeof key);
}

static void sort_keys(int (*keys)[4], int count)
{
    for (int i = count / 2 - 1; i >= 0; --i) {
        sink(keys, i, count);
    }
    for (int end = count - 1; end > 0; --end) {
        int last[4];
        memcpy(last, keys[end], sizeof last);
        memcpy(keys[end], keys[0], sizeof last);
        memcpy(keys[0], last, sizeof last);
        sink(keys, 0, end);
    }
}

static bool is_by_hand(const by_hand *hand, tal_mol_family family, const int atoms[4])
{
    int key[4];
    canonical_atoms(family, atoms, key);
    int low = 0, high = hand->count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (is_before(hand->keys[middle], key)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < hand->count && !is_before(key, hand->keys[low]);
}

// ---- from tables

static tal_status note_missing(tal_mol *mol, tal_mol_family family, const int atoms[4])
{
    if (mol->def.allow_missing) return TAL_OK;
    tali_mol_tuples *missing = &mol->missing;
    tal_mol_tuple tuple = {.family = family};
    memcpy(tuple.atoms, atoms, sizeof tuple.atoms);
    if (!tali_grow(&mol->allocator, (void **)&missing->items, missing->count, &missing->capacity,
                   sizeof tuple)) {
        return tali_mol_refuse(mol, TAL_ERR_NO_MEMORY, "tal_mol_freeze",
                               "no memory for the list of missing parameters");
    }
    missing->items[missing->count++] = tuple;
    return TAL_OK;
}

// Look up one term. No bend needs a Urey-Bradley term.
static tal_status take_term(tal_mol *mol, const by_hand hand[], tal_mol_family family,
                            const int atoms[4])
{
    static const tali_field_table tables[] = {TALI_TABLE_STRETCH, TALI_TABLE_BEND,
                                              TALI_TABLE_UREY_BRADLEY, TALI_TABLE_TORSION};
    if (is_by_hand(&hand[family], family, atoms)) return TAL_OK;
    int key[4] = {0, 0, 0, 0};
    for (int i = 0; i < tali_mol_arity(family); ++i) {
        key[i] = class_of(mol, atoms[i]);
    }
    const tali_field_row *row = tali_field_find(mol->ff, tables[family], key);
    if (row == NULL) {
        return family == TAL_MOL_UREY_BRADLEY ? TAL_OK : note_missing(mol, family, atoms);
    }
    tali_mol_term term = {.law = row->law, .defined = INT_MAX};
    memcpy(term.atoms, atoms, sizeof term.atoms);
    return tali_mol_push_term(mol, family, &term);
}

static tal_status find_stretches(tal_mol *mol, const by_hand hand[])
{
    tal_status st = TAL_OK;
    for (int b = 0; b < mol->num_bonds && st == TAL_OK; ++b) {
        const int *pair = mol->bonds[b].atoms;
        const int atoms[4] = {pair[0], pair[1], -1, -1};
        st = take_term(mol, hand, TAL_MOL_STRETCH, atoms);
    }
    return st;
}

static tal_status find_bends(tal_mol *mol, const by_hand hand[])
{
    tal_status st = TAL_OK;
    for (int center = 0; center < mol->num_atoms; ++center) {
        const int *neighbor = &mol->neighbor[mol->start[center]];
        const int n = mol->start[center + 1] - mol->start[center];
        for (int i = 0; i < n; ++i) {
            for (int j = i + 1; j < n && st == TAL_OK; ++j) {
                const int atoms[4] = {neighbor[i], center, neighbor[j], -1};
                st = take_term(mol, hand, TAL_MOL_BEND, atoms);
                if (st == TAL_OK) st = take_term(mol, hand, TAL_MOL_UREY_BRADLEY, atoms);
            }
        }
    }
    return st;
}

// All k-i-j-l about one bond; in a ring of three k and l are the same atom, which is no torsion.
static tal_status find_torsions_about(tal_mol *mol, const by_hand hand[], const int bond[2])
{
    const int i = bond[0], j = bond[1];
    tal_status st = TAL_OK;
    for (int a = mol->start[i]; a < mol->start[i + 1]; ++a) {
        for (int b = mol->start[j]; b < mol->start[j + 1] && st == TAL_OK; ++b) {
            const int k = mol->neighbor[a], l = mol->neighbor[b];
            if (k == j || l == i || k == l) continue;
            const int atoms[4] = {k, i, j, l};
            st = take_term(mol, hand, TAL_MOL_TORSION, atoms);
        }
    }
    return st;
}

static tal_status find_torsions(tal_mol *mol, const by_hand hand[])
{
    tal_status st = TAL_OK;
    for (int b = 0; b < mol->num_bonds && st == TAL_OK; ++b) {
        st = find_torsions_about(mol, hand, mol->bonds[b].atoms);
    }
    return st;
}

// The best improper for a center with exactly three neighbors, over the orders of these: fewest
// wildcards, then the row added first, then the lowest atoms.
static tal_status find_improper(tal_mol *mol, const by_hand hand[], int center)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const int *n = &mol->neighbor[mol->start[center]];
    const tali_field_row *best = NULL;
    int fewest = 4;
    tali_mol_term term = {.defined = INT_MAX};
    for (int o = 0; o < 6; ++o) {
        const int atoms[4] = {n[orders[o][0]], n[orders[o][1]], center, n[orders[o][2]]};
        if (is_by_hand(&hand[TAL_MOL_IMPROPER], TAL_MOL_IMPROPER, atoms)) return TAL_OK;
        const int key[4] = {class_of(mol, atoms[0]), class_of(mol, atoms[1]), class_of(mol, center),
                            class_of(mol, atoms[3])};
        int wildcards;
        const tali_field_row *row = tali_field_find_improper(mol->ff, key, &wildcards);
        if (row == NULL) continue;
        if (best == NULL || wildcards < fewest ||
            (wildcards == fewest && row->defined < best->defined)) {
            best = row;
            fewest = wildcards;
            memcpy(term.atoms, atoms, sizeof atoms);
        }
    }
    if (best == NULL) return TAL_OK;
    term.law = best->law;
    return tali_mol_push_term(mol, TAL_MOL_IMPROPER, &term);
}

static tal_status find_impropers(tal_mol *mol, const by_hand hand[])
{
    tal_status st = TAL_OK;
    for (int a = 0; a < mol->num_atoms && st == TAL_OK; ++a) {
        if (mol->start[a + 1] - mol->start[a] == 3) st = find_improper(mol, hand, a);
    }
    return st;
}

// ---- all of it

static tal_status fail_missing(tal_mol *mol)
{
    static const char *const families[] = {"stretch", "bend", "Urey-Bradley term", "torsion",
                                           "improper"};
    const tal_mol_tuple *first = &mol->missing.items[0];
    const int n = tali_mol_arity(first->family);
    char classes[TALI_CLASSES_TEXT];
    int key[4];
    for (int i = 0; i < n; ++i) {
        key[i] = class_of(mol, first->atoms[i]);
    }
    tali_field_say_classes(mol->ff, key, n, classes);
    return tali_mol_refuse(mol, TAL_ERR_BAD_VALUE, "tal_mol_freeze",
                           "%d bonded terms lack parameters, the first is the %s of atoms %d, "
                           "%d, ... (%s); tal_mol_missing() lists them",
                           mol->missing.count, families[first->family], first->atoms[0],
                           first->atoms[1], classes);
}

static tal_status find_from_tables(tal_mol *mol, const by_hand hand[])
{
    tal_status st = find_stretches(mol, hand);
    if (st == TAL_OK) st = find_bends(mol, hand);
    if (st == TAL_OK) st = find_torsions(mol, hand);
    if (st == TAL_OK) st = find_impropers(mol, hand);
    if (st == TAL_OK && mol->missing.count > 0) st = fail_missing(mol);
    return st;
}

tal_status tali_mol_find_terms(tal_mol *mol)
{
    by_hand hand[TAL_NUM_MOL_FAMILIES];
    tali_piece pieces[TAL_NUM_MOL_FAMILIES];
    if (mol->def.only_added) return TAL_OK;
    for (int f = 0; f < TAL_NUM_MOL_FAMILIES; ++f) {
        hand[f].count = mol->terms[f].count;
        pieces[f].where = &hand[f].keys;
        pieces[f].bytes = (size_t)hand[f].count * sizeof hand[f].keys[0];
    }
    size_t size;
    void *block = tali_alloc_pieces(&mol->allocator, pieces, TAL_NUM_MOL_FAMILIES, &size);
    if (block == NULL) {
        return tali_mol_refuse(mol, TAL_ERR_NO_MEMORY, "tal_mol_freeze",
                               "no memory to look for bonded terms");
    }
    for (int f = 0; f < TAL_NUM_MOL_FAMILIES; ++f) {
        for (int i = 0; i < hand[f].count; ++i) {
            canonical_atoms((tal_mol_family)f, mol->terms[f].items[i].atoms, hand[f].keys[i]);
        }
        sort_keys(hand[f].keys, hand[f].count);
    }
    const tal_status st = find_from_tables(mol, hand);
    tali_free(&mol->allocator, block, size);
    return st;
}
