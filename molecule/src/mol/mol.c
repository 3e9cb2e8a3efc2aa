// Building a molecule: atoms, bonds, terms with parameters of their own; freezing and reading it.
#include "finite_internal.h"

#include "mol/mol_internal.h"

#include <limits.h>
#include <math.h>

/// The most atoms and bonds: twice as many are counted in int.
#define MAX_ITEMS (INT_MAX / 8)

tal_mol_def tal_mol_def_default(void)
{
    const tal_mol_def def = {false, false};
    return def;
}

int tali_mol_arity(tal_mol_family family)
{
    static const int arity[TAL_NUM_MOL_FAMILIES] = {2, 3, 3, 4, 4};
    return arity[family];
}

// ---- creating

tal_status tal_mol_create(const tal_ff *ff, const tal_mol_def *def, const tal_allocator *allocator,
                          tal_mol **out, tal_error *err)
{
    if (err != NULL) *err = (tal_error){0};
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "where the molecule is to go is NULL");
    *out = NULL;
    if (ff == NULL) return TALI_BREACH(TAL_ERR_NULL, "the force field is NULL");
    if (!tal_ff_is_frozen(ff)) {
        return TALI_FAIL(err, TAL_ERR_TOPOLOGY,
                         "the force field is not frozen: call tal_ff_freeze() first");
    }
    tal_allocator chosen;
    const tal_status st = tali_alloc_choose(allocator, &chosen, __func__);
    if (st != TAL_OK) return TALI_FAIL(err, st, "the allocator lacks a function");
    tal_mol *mol = tali_alloc(&chosen, sizeof *mol);
    if (mol == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a molecule");
    mol->allocator = chosen;
    mol->ff = ff;
    mol->def = def != NULL ? *def : tal_mol_def_default();
    *out = mol;
    return TAL_OK;
}

void tal_mol_destroy(tal_mol *mol)
{
    if (mol == NULL) return;
    const tal_allocator a = mol->allocator;
    tali_free(&a, mol->atoms, (size_t)mol->atom_capacity * sizeof *mol->atoms);
    tali_free(&a, mol->bonds, (size_t)mol->bond_capacity * sizeof *mol->bonds);
    tali_free(&a, mol->clusters, (size_t)mol->cluster_capacity * sizeof *mol->clusters);
    tali_free(&a, mol->placements, (size_t)mol->placement_capacity * sizeof *mol->placements);
    for (int f = 0; f < TAL_NUM_MOL_FAMILIES; ++f) {
        const tali_mol_terms *terms = &mol->terms[f];
        tali_free(&a, terms->items, (size_t)terms->capacity * sizeof *terms->items);
    }
    const tali_mol_tuples *missing = &mol->missing;
    tali_free(&a, missing->items, (size_t)missing->capacity * sizeof *missing->items);
    tali_free(&a, mol->near, (size_t)mol->near_capacity * sizeof *mol->near);
    tali_free(&a, mol->graph, mol->graph_size);
    tali_free(&a, mol, sizeof *mol);
}

// ---- refusing

tal_status tali_mol_refuse(tal_mol *mol, tal_status status, const char *where, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)tali_vfail(&mol->error, status, where, fmt, args);
    va_end(args);
    return status;
}

tal_status tali_mol_check_open(const tal_mol *mol, const char *where)
{
    if (mol == NULL) return tali_breach(TAL_ERR_NULL, where, "the molecule is NULL");
    if (mol->is_frozen) {
        return tali_breach(TAL_ERR_TOPOLOGY, where, "the molecule is frozen: add to it before");
    }
    return TAL_OK;
}

bool tali_mol_has_atom(tal_mol *mol, int atom, const char *where)
{
    if (atom >= 0 && atom < mol->num_atoms) return true;
    (void)tali_mol_refuse(mol, TAL_ERR_BAD_INDEX, where, "atom %d: there are %d", atom,
                          mol->num_atoms);
    return false;
}

// ---- atoms and bonds

// An atom at no position yet.
int tal_mol_add_atom(tal_mol *mol, int type, const char *name, int residue, const char *chain)
{
    if (tali_mol_check_open(mol, __func__) != TAL_OK) return -1;
    if (type < 0 || type >= mol->ff->num_types) {
        (void)tali_mol_refuse(mol, TAL_ERR_BAD_INDEX, __func__,
                              "atom %d has type %d: the force field has %d", mol->num_atoms, type,
                              mol->ff->num_types);
        return -1;
    }
    const tali_field_type *kind = &mol->ff->types[type];
    tali_mol_atom made = {.type = type,
                          .residue = residue,
                          .charge = kind->charge,
                          .mass = kind->mass,
                          .x = {TALI_NAN, TALI_NAN, TALI_NAN}};
    const char *flaw = tali_field_copy_name(made.name, name);
    if (flaw == NULL && chain != NULL && chain[0] != '\0') {
        flaw = tali_field_copy_name(made.chain, chain);
    }
    if (flaw != NULL) {
        (void)tali_mol_refuse(mol, TAL_ERR_BAD_NAME, __func__, "name or chain of atom %d: %s",
                              mol->num_atoms, flaw);
        return -1;
    }
    if (mol->num_atoms >= MAX_ITEMS ||
        !tali_grow(&mol->allocator, (void **)&mol->atoms, mol->num_atoms, &mol->atom_capacity,
                   sizeof made)) {
        (void)tali_mol_refuse(mol, TAL_ERR_NO_MEMORY, __func__, "no room for atom %d",
                              mol->num_atoms);
        return -1;
    }
    mol->atoms[mol->num_atoms] = made;
    return mol->num_atoms++;
}

tal_status tal_mol_set_atom_charge(tal_mol *mol, int atom, double charge)
{
    const tal_status st = tali_mol_check_open(mol, __func__);
    if (st != TAL_OK) return st;
    if (!tali_mol_has_atom(mol, atom, __func__)) return TAL_ERR_BAD_INDEX;
    if (!isfinite(charge)) {
        return tali_mol_refuse(mol, TAL_ERR_NOT_FINITE, __func__, "atom %d is given charge %g",
                               atom, charge);
    }
    mol->atoms[atom].charge = charge;
    return TAL_OK;
}

int tal_mol_add_bond(tal_mol *mol, int a, int b, int order)
{
    if (tali_mol_check_open(mol, __func__) != TAL_OK) return -1;
    if (!tali_mol_has_atom(mol, a, __func__) || !tali_mol_has_atom(mol, b, __func__)) return -1;
    if (a == b || order < 1 || order > 3) {
        (void)tali_mol_refuse(mol, TAL_ERR_BAD_VALUE, __func__,
                              "a bond of atoms %d and %d with order %d: two atoms, order 1 to 3", a,
                              b, order);
        return -1;
    }
    const tali_mol_bond made = {.atoms = {a, b}, .order = order};
    if (mol->num_bonds >= MAX_ITEMS ||
        !tali_grow(&mol->allocator, (void **)&mol->bonds, mol->num_bonds, &mol->bond_capacity,
                   sizeof made)) {
        (void)tali_mol_refuse(mol, TAL_ERR_NO_MEMORY, __func__, "no room for bond %d",
                              mol->num_bonds);
        return -1;
    }
    mol->bonds[mol->num_bonds] = made;
    return mol->num_bonds++;
}

tal_status tal_mol_set_positions(tal_mol *mol, const tal_vec3 x[], int n)
{
    const tal_status st = tali_mol_check_open(mol, __func__);
    if (st != TAL_OK) return st;
    if (n != mol->num_atoms || (n > 0 && x == NULL)) {
        return tali_mol_refuse(mol, TAL_ERR_BAD_VALUE, __func__,
                               "%d positions for %d atoms: add all atoms first", n, mol->num_atoms);
    }
    for (int i = 0; i < n; ++i) {
        if (!tal_v3_is_finite(x[i])) {
            return tali_mol_refuse(mol, TAL_ERR_NOT_FINITE, __func__, "atom %d is at (%g, %g, %g)",
                                   i, x[i].x, x[i].y, x[i].z);
        }
    }
    for (int i = 0; i < n; ++i) {
        mol->atoms[i].x = x[i];
    }
    mol->num_positions = n;
    return TAL_OK;
}

// ---- terms with parameters of their own

static tal_status check_atoms(tal_mol *mol, tal_mol_family family, const int atoms[4],
                              const char *where)
{
    for (int i = 0; i < tali_mol_arity(family); ++i) {
        if (!tali_mol_has_atom(mol, atoms[i], where)) return TAL_ERR_BAD_INDEX;
        for (int j = 0; j < i; ++j) {
            if (atoms[i] == atoms[j]) {
                return tali_mol_refuse(mol, TAL_ERR_BAD_VALUE, where,
                                       "atom %d is twice in one term", atoms[i]);
            }
        }
    }
    return TAL_OK;
}

tal_status tali_mol_push_term(tal_mol *mol, tal_mol_family family, const tali_mol_term *term)
{
    tali_mol_terms *terms = &mol->terms[family];
    if (terms->count >= MAX_ITEMS || !tali_grow(&mol->allocator, (void **)&terms->items,
                                                terms->count, &terms->capacity, sizeof *term)) {
        return tali_mol_refuse(mol, TAL_ERR_NO_MEMORY, "tal_mol_freeze",
                               "no room for bonded term %d", terms->count);
    }
    terms->items[terms->count++] = *term;
    return TAL_OK;
}

static tal_status add_term(tal_mol *mol, tal_mol_family family, const int atoms[4],
                           const tali_field_law *law, const char *where)
{
    tali_mol_term term = {.atoms = {-1, -1, -1, -1}, .law = *law};
    const tal_status st = check_atoms(mol, family, atoms, where);
    if (st != TAL_OK) return st;
    memcpy(term.atoms, atoms, (size_t)tali_mol_arity(family) * sizeof atoms[0]);
    term.defined = mol->terms[family].count;
    return tali_mol_push_term(mol, family, &term);
}

// A term of stiffness and rest value; `least` and `most` bound the latter.
static tal_status add_spring(tal_mol *mol, tal_mol_family family, const int atoms[4],
                             const tali_field_law *law, double least, double most,
                             const char *where)
{
    const tal_status st = tali_mol_check_open(mol, where);
    if (st != TAL_OK) return st;
    if (!(isfinite(law->k) && law->k >= 0.0 && law->x0 >= least && law->x0 <= most)) {
        return tali_mol_refuse(
            mol, TAL_ERR_BAD_VALUE, where,
            "atoms %d and %d: k is %g and the value at rest %g; k may not be negative, the "
            "other is between %g and %g",
            atoms[0], atoms[1], law->k, law->x0, least, most);
    }
    return add_term(mol, family, atoms, law, where);
}

static const double LONGEST = 1e6; // nm
static const double STRAIGHT = 180.0 * TAL_MOL_DEGREE;

tal_status tal_mol_add_stretch(tal_mol *mol, int a, int b, double k, double r0)
{
    const int atoms[4] = {a, b, -1, -1};
    const tali_field_law law = {.kind = TALI_STRETCH, .k = k, .x0 = r0};
    return add_spring(mol, TAL_MOL_STRETCH, atoms, &law, 0.0, LONGEST, __func__);
}

tal_status tal_mol_add_bend(tal_mol *mol, int a, int b, int c, double k, double theta0)
{
    const int atoms[4] = {a, b, c, -1};
    const tali_field_law law = {.kind = TALI_BEND, .k = k, .x0 = theta0};
    return add_spring(mol, TAL_MOL_BEND, atoms, &law, 0.0, STRAIGHT, __func__);
}

tal_status tal_mol_add_urey_bradley(tal_mol *mol, int a, int b, int c, double k, double r0)
{
    const int atoms[4] = {a, b, c, -1};
    const tali_field_law law = {.kind = TALI_STRETCH, .k = k, .x0 = r0};
    return add_spring(mol, TAL_MOL_UREY_BRADLEY, atoms, &law, 0.0, LONGEST, __func__);
}

tal_status tal_mol_add_harmonic_improper(tal_mol *mol, int a, int b, int c, int d, double k,
                                         double phi0)
{
    const int atoms[4] = {a, b, c, d};
    const tali_field_law law = {.kind = TALI_HARMONIC_IMPROPER, .k = k, .x0 = phi0};
    return add_spring(mol, TAL_MOL_IMPROPER, atoms, &law, -STRAIGHT, STRAIGHT, __func__);
}

static tal_status add_waves(tal_mol *mol, tal_mol_family family, const int atoms[4],
                            const tal_ff_wave waves[], int num_waves, const char *where)
{
    const tal_status st = tali_mol_check_open(mol, where);
    if (st != TAL_OK) return st;
    tali_field_law law = {.kind = TALI_TORSION};
    if (num_waves < 0 || (num_waves > 0 && waves == NULL) ||
        !tali_field_series_of_waves(waves, num_waves, &law.series)) {
        return tali_mol_refuse(mol, TAL_ERR_BAD_VALUE, where,
                               "atoms %d-%d-%d-%d: %d waves, of which one is missing, not finite, "
                               "or has n outside 1 to %d",
                               atoms[0], atoms[1], atoms[2], atoms[3], num_waves, TALI_WAVES);
    }
    return add_term(mol, family, atoms, &law, where);
}

tal_status tal_mol_add_torsion(tal_mol *mol, int a, int b, int c, int d, const tal_ff_wave waves[],
                               int num_waves)
{
    const int atoms[4] = {a, b, c, d};
    return add_waves(mol, TAL_MOL_TORSION, atoms, waves, num_waves, __func__);
}

tal_status tal_mol_add_improper(tal_mol *mol, int a, int b, int c, int d, const tal_ff_wave waves[],
                                int num_waves)
{
    const int atoms[4] = {a, b, c, d};
    return add_waves(mol, TAL_MOL_IMPROPER, atoms, waves, num_waves, __func__);
}

tal_status tali_mol_add_own(tal_mol *mol, tal_mol_family family, const int atoms[4],
                            const tali_field_law *law)
{
    const tal_status st = tali_mol_check_open(mol, __func__);
    if (st != TAL_OK) return st;
    if (!isfinite(law->k) || law->k < 0.0 || !isfinite(law->x0) ||
        !tali_finite_all((const double *)&law->series, sizeof law->series / sizeof(double))) {
        return tali_mol_refuse(mol, TAL_ERR_BAD_VALUE, __func__,
                               "a term of atom %d: parameters must be finite, and k (%g) may not "
                               "be negative",
                               atoms[0], law->k);
    }
    return add_term(mol, family, atoms, law, __func__);
}

// ---- freezing

static tal_status check_valences(tal_mol *mol)
{
    for (int a = 0; a < mol->num_atoms; ++a) {
        const int type = mol->atoms[a].type;
        const tali_field_class *kind = &mol->ff->classes[mol->ff->types[type].atom_class];
        const int bonds = mol->start[a + 1] - mol->start[a];
        if (kind->valence > 0 && kind->valence != bonds) {
            return tali_mol_refuse(mol, TAL_ERR_BAD_VALUE, "tal_mol_freeze",
                                   "atom %d '%s' has %d bonds, but its class '%s' has valence %d",
                                   a, mol->atoms[a].name, bonds, kind->name, kind->valence);
        }
    }
    return TAL_OK;
}

tal_status tal_mol_freeze(tal_mol *mol, tal_error *err)
{
    if (err != NULL) *err = (tal_error){0};
    tal_status st = tali_mol_check_open(mol, __func__);
    if (st != TAL_OK) return TALI_FAIL(err, st, "the molecule is NULL or frozen already");
    st = mol->error.status;
    if (st == TAL_OK && mol->num_positions > 0 && mol->num_positions < mol->num_atoms) {
        st = tali_mol_refuse(mol, TAL_ERR_BAD_VALUE, __func__,
                             "atoms were added after the positions; set them again");
    }
    if (st == TAL_OK) st = tali_mol_find_graph(mol);
    if (st == TAL_OK) st = check_valences(mol);
    if (st == TAL_OK) st = tali_mol_find_near(mol);
    if (st == TAL_OK) st = tali_mol_find_terms(mol);
    if (st == TAL_OK) mol->is_frozen = true;
    if (st != TAL_OK && err != NULL) *err = mol->error;
    return st;
}

bool tal_mol_is_frozen(const tal_mol *mol)
{
    return mol != NULL && mol->is_frozen;
}

// ---- reading

bool tali_mol_is_given(const tal_mol *mol, const char *where)
{
    if (mol == NULL) (void)tali_breach(TAL_ERR_NULL, where, "the molecule is NULL");
    return mol != NULL;
}

static bool is_within(int i, int n, const char *what, const char *where)
{
    if (i >= 0 && i < n) return true;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "%s %d: there are %d", what, i, n);
    return false;
}

bool tali_mol_is_there(const tal_mol *mol, int i, int n, const char *what, const char *where)
{
    if (!tali_mol_is_given(mol, where)) return false;
    if (!mol->is_frozen) {
        (void)tali_breach(TAL_ERR_TOPOLOGY, where,
                          "the molecule is not frozen: call tal_mol_freeze() first");
        return false;
    }
    return is_within(i, n, what, where);
}

static const tali_mol_atom *atom_at(const tal_mol *mol, int atom, const char *where)
{
    if (!tali_mol_is_given(mol, where)) return NULL;
    return is_within(atom, mol->num_atoms, "atom", where) ? &mol->atoms[atom] : NULL;
}

static const tali_mol_bond *bond_at(const tal_mol *mol, int bond, const char *where)
{
    if (!tali_mol_is_given(mol, where)) return NULL;
    return is_within(bond, mol->num_bonds, "bond", where) ? &mol->bonds[bond] : NULL;
}

const tal_ff *tal_mol_field(const tal_mol *mol)
{
    return tali_mol_is_given(mol, __func__) ? mol->ff : NULL;
}

int tal_mol_num_atoms(const tal_mol *mol)
{
    return tali_mol_is_given(mol, __func__) ? mol->num_atoms : -1;
}

const char *tal_mol_atom_name(const tal_mol *mol, int atom)
{
    const tali_mol_atom *it = atom_at(mol, atom, __func__);
    return it != NULL ? it->name : "";
}

const char *tal_mol_atom_chain(const tal_mol *mol, int atom)
{
    const tali_mol_atom *it = atom_at(mol, atom, __func__);
    return it != NULL ? it->chain : "";
}

int tal_mol_atom_residue(const tal_mol *mol, int atom)
{
    const tali_mol_atom *it = atom_at(mol, atom, __func__);
    return it != NULL ? it->residue : 0;
}

int tal_mol_atom_type(const tal_mol *mol, int atom)
{
    const tali_mol_atom *it = atom_at(mol, atom, __func__);
    return it != NULL ? it->type : -1;
}

double tal_mol_atom_mass(const tal_mol *mol, int atom)
{
    const tali_mol_atom *it = atom_at(mol, atom, __func__);
    return it != NULL ? it->mass : TALI_NAN;
}

double tal_mol_atom_charge(const tal_mol *mol, int atom)
{
    const tali_mol_atom *it = atom_at(mol, atom, __func__);
    return it != NULL ? it->charge : TALI_NAN;
}

tal_vec3 tal_mol_atom_position(const tal_mol *mol, int atom)
{
    const tali_mol_atom *it = atom_at(mol, atom, __func__);
    return it != NULL ? it->x : tal_v3(TALI_NAN, TALI_NAN, TALI_NAN);
}

int tal_mol_num_bonds(const tal_mol *mol)
{
    return tali_mol_is_given(mol, __func__) ? mol->num_bonds : -1;
}

void tal_mol_bond_atoms(const tal_mol *mol, int bond, int atoms[2])
{
    if (atoms == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "where the atoms are to go is NULL");
        return;
    }
    const tali_mol_bond *it = bond_at(mol, bond, __func__);
    atoms[0] = it != NULL ? it->atoms[0] : -1;
    atoms[1] = it != NULL ? it->atoms[1] : -1;
}

int tal_mol_bond_order(const tal_mol *mol, int bond)
{
    const tali_mol_bond *it = bond_at(mol, bond, __func__);
    return it != NULL ? it->order : -1;
}

static const tal_mol_tuple NO_TUPLE = {TAL_MOL_STRETCH, {-1, -1, -1, -1}};

int tal_mol_num_missing(const tal_mol *mol)
{
    return tali_mol_is_given(mol, __func__) ? mol->missing.count : -1;
}

tal_mol_tuple tal_mol_missing(const tal_mol *mol, int i)
{
    if (!tali_mol_is_given(mol, __func__)) return NO_TUPLE;
    const bool is_there = is_within(i, mol->missing.count, "missing term", __func__);
    return is_there ? mol->missing.items[i] : NO_TUPLE;
}

// Whether this is a family of a molecule that is frozen.
static bool has_family(const tal_mol *mol, tal_mol_family family, const char *where)
{
    return tali_mol_is_there(mol, (int)family, TAL_NUM_MOL_FAMILIES, "family", where);
}

int tal_mol_num_terms(const tal_mol *mol, tal_mol_family family)
{
    return has_family(mol, family, __func__) ? mol->terms[family].count : -1;
}

tal_mol_tuple tal_mol_term(const tal_mol *mol, tal_mol_family family, int i)
{
    if (!has_family(mol, family, __func__)) return NO_TUPLE;
    const tali_mol_terms *terms = &mol->terms[family];
    if (!is_within(i, terms->count, "term", __func__)) return NO_TUPLE;
    tal_mol_tuple tuple = {.family = family};
    memcpy(tuple.atoms, terms->items[i].atoms, sizeof tuple.atoms);
    return tuple;
}
