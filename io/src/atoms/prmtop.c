// Topologies of AMBER as force fields and molecules; the entry points.
#include "file_internal.h"

#include "atoms/prmtop_internal.h"
#include "text/reading_internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// AMBER's unit of energy is kcal/mol, its lengths are in Angstrom.
static const double ANGSTROM6 = 1e-6;   // [nm^6]
static const double ANGSTROM12 = 1e-12; // [nm^12]

// The factors of pairs three bonds apart in files that do not have them.
static const double USUAL_SCEE = 1.2, USUAL_SCNB = 2.0;

// How near the factors of two dihedrals must be to be the same.
static const double SAME_SCALE = 1e-6;

// Terms whose constant is smaller have none [kcal/mol].
static const double NO_BARRIER = 0.0;

// Atoms three bonds apart, the lower first.
typedef struct pair14 {
    int a, b;
} pair14;

// A molecule being made.
typedef struct maker {
    tali_prmtop *it;
    const tal_prmtop_options *how;
    tal_ff *field;
    tal_mol *mol;
    const int *vdw; // [atoms] which of the van der Waals types, from 1
    int *type_of;   // [atoms]
    pair14 *pairs;  // [num_pairs] of dihedrals
    long num_pairs;
    double scee, scnb; // 0: no dihedral has said it yet
} maker;

// A failure of a library call, once: as an error of the file.
static bool passed(maker *m, tal_status st, const tal_error *err)
{
    if (st == TAL_OK) return true;
    if (st == TAL_ERR_NO_MEMORY) {
        m->it->r->no_memory = true;
    } else {
        tali_atoms_file_error(m->it->r, "%s",
                              err->message[0] != '\0' ? err->message : tal_status_text(st));
    }
    return false;
}

// --- classes and types ---

// A number of an array of the file; `initial` where there is no such array.
static double value_or(const double *values, int i, double initial)
{
    return values != NULL ? values[i] : initial;
}

// What atoms of one type have in common.
typedef struct type_facts {
    const tali_table_span *names; // NULL: the file does not have them
    const double *mass, *radius, *screen;
    const int *elements;
} type_facts;

// Read what types are made of, and check it.
static bool read_facts(maker *m, type_facts *k)
{
    tali_prmtop *it = m->it;
    const int n = it->num[TALI_PRMTOP_ATOMS];
    *k = (type_facts){.names = tali_prmtop_words(it, "AMBER_ATOM_TYPE", n, true),
                      .mass = tali_prmtop_numbers(it, "MASS", n, false),
                      .radius = tali_prmtop_numbers(it, "RADII", n, true),
                      .screen = tali_prmtop_numbers(it, "SCREEN", n, true),
                      .elements = tali_prmtop_integers(it, "ATOMIC_NUMBER", n, true)};
    m->vdw = tali_prmtop_integers(it, "ATOM_TYPE_INDEX", n, false);
    if (it->r->errors > 0 || it->r->no_memory) return false;
    const int types = it->num[TALI_PRMTOP_TYPES];
    for (int i = 0; i < n; ++i) {
        if (m->vdw[i] < 1 || m->vdw[i] > types) {
            tali_prmtop_error(it, "ATOM_TYPE_INDEX", i, "there is no type %d, there are %d",
                              m->vdw[i], types);
            return false;
        }
        if (k->mass[i] < 0.0) {
            tali_prmtop_error(it, "MASS", i, "the mass of an atom may not be negative");
            return false;
        }
    }
    return true;
}

// One class for each van der Waals type; it is of the element of its first atom.
static bool add_classes(maker *m, const type_facts *k)
{
    const int n = m->it->num[TALI_PRMTOP_ATOMS], types = m->it->num[TALI_PRMTOP_TYPES];
    int *element = tali_arena_take(&m->it->arena, ((size_t)types + 1) * sizeof *element);
    if (element == NULL) {
        m->it->r->no_memory = true;
        return false;
    }
    for (int i = n - 1; i >= 0; --i) {
        element[m->vdw[i]] = k->elements != NULL && k->elements[i] > 0 ? k->elements[i] : 0;
    }
    for (int c = 1; c <= types; ++c) {
        char name[TAL_MAX_MOL_NAME + 1];
        (void)snprintf(name, sizeof name, "vdw%d", c);
        tal_ff_class_def def = tal_ff_class_def_default();
        def.name = name;
        def.element = element[c];
        if (tal_ff_add_class(m->field, &def) < 0) return false;
    }
    return true;
}

static bool is_same_type(const maker *m, const type_facts *k, int i, int j)
{
    const bool same_name =
        k->names == NULL ||
        (k->names[i].end - k->names[i].begin == k->names[j].end - k->names[j].begin &&
         memcmp(k->names[i].begin, k->names[j].begin,
                (size_t)(k->names[i].end - k->names[i].begin)) == 0);
    return same_name && m->vdw[i] == m->vdw[j] && k->mass[i] == k->mass[j] &&
           value_or(k->radius, i, 0.0) == value_or(k->radius, j, 0.0) &&
           value_or(k->screen, i, 0.0) == value_or(k->screen, j, 0.0);
}

// A type like that of atom `i`: its name is AMBER's, with a number behind it where several have it.
static int add_type(maker *m, const type_facts *k, int i)
{
    char name[TAL_MAX_MOL_NAME + 1] = "type", whole[2 * TAL_MAX_MOL_NAME];
    if (k->names != NULL && k->names[i].begin < k->names[i].end) tali_atoms_name(k->names[i], name);
    (void)snprintf(whole, sizeof whole, "%s", name);
    for (int again = 2; tal_ff_find_type(m->field, whole) >= 0; ++again) {
        (void)snprintf(whole, sizeof whole, "%.12s.%d", name, again);
    }
    const int type = tal_ff_add_type(m->field, whole, m->vdw[i] - 1, 0.0);
    if (type < 0) return -1;
    (void)tal_ff_set_type_mass(m->field, type, k->mass[i]);
    const double radius = value_or(k->radius, i, 0.0) * TAL_MOL_ANGSTROM;
    const double screen = value_or(k->screen, i, 0.0);
    // what has no radius takes part in no generalized Born model
    if (radius > 0.009 && screen >= 0.0) (void)tal_ff_set_type_born(m->field, type, radius, screen);
    return type;
}

// Types of all atoms; there are few, so that the last one of each van der Waals type is looked at
// first.
static bool add_types(maker *m, const type_facts *k)
{
    const int n = m->it->num[TALI_PRMTOP_ATOMS];
    int *example = tali_arena_take(&m->it->arena, ((size_t)n + 1) * sizeof *example);
    m->type_of = tali_arena_take(&m->it->arena, ((size_t)n + 1) * sizeof *m->type_of);
    if (example == NULL || m->type_of == NULL) {
        m->it->r->no_memory = true;
        return false;
    }
    int num = 0;
    for (int i = 0; i < n; ++i) {
        int type = -1;
        for (int t = num - 1; t >= 0 && type < 0; --t) {
            if (is_same_type(m, k, example[t], i)) type = t;
        }
        if (type < 0) {
            type = add_type(m, k, i);
            if (type < 0) return false;
            example[num++] = i;
        }
        m->type_of[i] = type;
    }
    return true;
}

// --- pairs ---

// 10-12 terms are refused unless they are zero, 12-6-4 terms too.
static bool refuse_other_pairs(maker *m)
{
    static const char *const names[] = {"HBOND_ACOEF", "HBOND_BCOEF", "LENNARD_JONES_CCOEF"};
    static const char *const kinds_of[] = {"10-12", "10-12", "12-6-4"};
    const int types = m->it->num[TALI_PRMTOP_TYPES];
    for (int k = 0; k < 3; ++k) {
        const long count = k < 2 ? m->it->num[TALI_PRMTOP_HBONDS] : types * (types + 1L) / 2;
        const double *values = tali_prmtop_numbers(m->it, names[k], count, true);
        for (long i = 0; values != NULL && i < count; ++i) {
            if (values[i] == 0.0) continue;
            tali_prmtop_error(m->it, names[k], i, "%s terms are not computed", kinds_of[k]);
            return false;
        }
    }
    return m->it->r->errors == 0;
}

// A and B of every pair of types, by the index of the file.
static bool add_pairs(maker *m)
{
    tali_prmtop *it = m->it;
    const int types = it->num[TALI_PRMTOP_TYPES];
    const long num = types * (types + 1L) / 2;
    const int *index = tali_prmtop_integers(it, "NONBONDED_PARM_INDEX", (long)types * types, false);
    const double *A = tali_prmtop_numbers(it, "LENNARD_JONES_ACOEF", num, false);
    const double *B = tali_prmtop_numbers(it, "LENNARD_JONES_BCOEF", num, false);
    if (index == NULL || A == NULL || B == NULL || !refuse_other_pairs(m)) return false;
    for (int a = 0; a < types; ++a) {
        for (int b = a; b < types; ++b) {
            const long at = (long)a * types + b;
            const int i = index[at] - 1;
            if (index[at] <= 0) continue; // a 10-12 pair, which is zero
            if (i >= num || !(A[i] >= 0.0) || !(B[i] >= 0.0)) {
                tali_prmtop_error(it, "NONBONDED_PARM_INDEX", at,
                                  "%d is not the number of a pair with A and B that are not "
                                  "negative",
                                  index[at]);
                return false;
            }
            (void)tal_ff_add_pair_AB(m->field, a, b, A[i] * TAL_MOL_KCAL * ANGSTROM12,
                                     B[i] * TAL_MOL_KCAL * ANGSTROM6);
        }
    }
    return true;
}

// --- bonded terms ---

static bool check_same_scale(maker *m, const char *name, int kind, double said, double *scale)
{
    if (said > 0.0 && *scale == 0.0) *scale = said;
    if (said > 0.0 && fabs(said - *scale) <= SAME_SCALE * *scale) return true;
    tali_prmtop_error(m->it, name, kind,
                      "pairs three bonds apart are divided by %g here, and by %g elsewhere: "
                      "different factors in one file are not read",
                      said, *scale);
    return false;
}

static bool keep_pair(maker *m, const int term[5])
{
    const int a = term[0] / 3, b = abs(term[3]) / 3;
    m->pairs[m->num_pairs++] = (pair14){a < b ? a : b, a < b ? b : a};
    return true;
}

// A dihedral whose third number is not negative, nor the fourth, stands for a pair.
static bool collect_pairs(maker *m, const char *name, int count, const double scee[],
                          const double scnb[])
{
    const int kinds = m->it->num[TALI_PRMTOP_DIHEDRAL_KINDS];
    const int *terms = tali_prmtop_terms(m->it, name, count, 4, kinds);
    if (terms == NULL) return false;
    for (int i = 0; i < count; ++i) {
        const int *term = terms + 5 * (ptrdiff_t)i;
        const int kind = term[4] - 1;
        if (term[2] < 0 || term[3] < 0) continue;
        if (!check_same_scale(m, "SCEE_SCALE_FACTOR", kind, value_or(scee, kind, USUAL_SCEE),
                              &m->scee) ||
            !check_same_scale(m, "SCNB_SCALE_FACTOR", kind, value_or(scnb, kind, USUAL_SCNB),
                              &m->scnb) ||
            !keep_pair(m, term)) {
            return false;
        }
    }
    return true;
}

static int by_atoms(const void *a, const void *b)
{
    const pair14 *p = a, *q = b;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

// All pairs that dihedrals stand for, each once, in order; and how they are scaled.
static bool find_pairs(maker *m)
{
    const int *num = m->it->num;
    const int kinds = num[TALI_PRMTOP_DIHEDRAL_KINDS];
    const double *scee = tali_prmtop_numbers(m->it, "SCEE_SCALE_FACTOR", kinds, true);
    const double *scnb = tali_prmtop_numbers(m->it, "SCNB_SCALE_FACTOR", kinds, true);
    const long most = (long)num[TALI_PRMTOP_DIHEDRALS_H] + num[TALI_PRMTOP_DIHEDRALS];
    // a dihedral has ten characters at least: where there are fewer, nothing is allocated
    if (m->it->r->end - m->it->sections[0].begin < 10 * most) {
        tali_atoms_file_error(m->it->r, "there are fewer dihedrals than POINTERS says");
        return false;
    }
    m->pairs = tali_arena_take(&m->it->arena, ((size_t)most + 1) * sizeof *m->pairs);
    if (m->pairs == NULL) {
        m->it->r->no_memory = true;
        return false;
    }
    if (m->it->r->errors > 0 ||
        !collect_pairs(m, "DIHEDRALS_INC_HYDROGEN", num[TALI_PRMTOP_DIHEDRALS_H], scee, scnb) ||
        !collect_pairs(m, "DIHEDRALS_WITHOUT_HYDROGEN", num[TALI_PRMTOP_DIHEDRALS], scee, scnb)) {
        return false;
    }
    qsort(m->pairs, (size_t)m->num_pairs, sizeof *m->pairs, by_atoms);
    long kept = 0;
    for (long i = 0; i < m->num_pairs; ++i) {
        if (kept == 0 || by_atoms(&m->pairs[kept - 1], &m->pairs[i]) != 0) {
            m->pairs[kept++] = m->pairs[i];
        }
    }
    m->num_pairs = kept;
    return true;
}

static bool check_constants(maker *m, const char *name, const double *k, const double *x0, int n,
                            double most)
{
    if (k == NULL || x0 == NULL) return false;
    for (int i = 0; i < n; ++i) {
        if (k[i] >= 0.0 && x0[i] >= 0.0 && x0[i] <= most) continue;
        tali_prmtop_error(m->it, name, i,
                          "a stiffness of %g and a rest value of %g: neither may be negative, "
                          "and the latter may be at most %g",
                          k[i], x0[i], most);
        return false;
    }
    return true;
}

static bool add_stretches(maker *m)
{
    const int kinds = m->it->num[TALI_PRMTOP_BOND_KINDS];
    const double *k = tali_prmtop_numbers(m->it, "BOND_FORCE_CONSTANT", kinds, false);
    const double *r0 = tali_prmtop_numbers(m->it, "BOND_EQUIL_VALUE", kinds, false);
    if (!check_constants(m, "BOND_FORCE_CONSTANT", k, r0, kinds, 1e6)) return false;
    for (int part = 0; part < 2; ++part) {
        int count;
        const int *bonds = tali_prmtop_bonds(m->it, part == 0, &count);
        if (bonds == NULL) return false;
        for (int i = 0; i < count; ++i) {
            const int *bond = bonds + 3 * (ptrdiff_t)i;
            const int kind = bond[2] - 1;
            (void)tal_mol_add_bond(m->mol, bond[0] / 3, bond[1] / 3, 1);
            (void)tal_mol_add_stretch(m->mol, bond[0] / 3, bond[1] / 3,
                                      k[kind] * TAL_MOL_KCAL_PER_ANGSTROM2,
                                      r0[kind] * TAL_MOL_ANGSTROM);
        }
    }
    return true;
}

static bool add_bends(maker *m)
{
    static const char *const names[] = {"ANGLES_INC_HYDROGEN", "ANGLES_WITHOUT_HYDROGEN"};
    const int counts[] = {m->it->num[TALI_PRMTOP_ANGLES_H], m->it->num[TALI_PRMTOP_ANGLES]};
    const int kinds = m->it->num[TALI_PRMTOP_ANGLE_KINDS];
    const double *k = tali_prmtop_numbers(m->it, "ANGLE_FORCE_CONSTANT", kinds, false);
    const double *theta0 = tali_prmtop_numbers(m->it, "ANGLE_EQUIL_VALUE", kinds, false);
    if (!check_constants(m, "ANGLE_FORCE_CONSTANT", k, theta0, kinds, 180.0 * TAL_MOL_DEGREE)) {
        return false;
    }
    for (int part = 0; part < 2; ++part) {
        const int *terms = tali_prmtop_terms(m->it, names[part], counts[part], 3, kinds);
        if (terms == NULL) return false;
        for (int i = 0; i < counts[part]; ++i) {
            const int *term = terms + 4 * (ptrdiff_t)i;
            const int kind = term[3] - 1;
            (void)tal_mol_add_bend(m->mol, term[0] / 3, term[1] / 3, term[2] / 3,
                                   k[kind] * TAL_MOL_KCAL, theta0[kind]);
        }
    }
    return true;
}

// What torsions of each kind are: one wave each.
typedef struct waves {
    tal_ff_wave *of; // [kinds]
    int num;
} waves;

static bool read_waves(maker *m, waves *w)
{
    w->num = m->it->num[TALI_PRMTOP_DIHEDRAL_KINDS];
    const double *V = tali_prmtop_numbers(m->it, "DIHEDRAL_FORCE_CONSTANT", w->num, false);
    const double *n = tali_prmtop_numbers(m->it, "DIHEDRAL_PERIODICITY", w->num, false);
    const double *gamma = tali_prmtop_numbers(m->it, "DIHEDRAL_PHASE", w->num, false);
    w->of = tali_arena_take(&m->it->arena, ((size_t)w->num + 1) * sizeof *w->of);
    if (w->of == NULL) m->it->r->no_memory = true;
    if (V == NULL || n == NULL || gamma == NULL || w->of == NULL) return false;
    for (int i = 0; i < w->num; ++i) {
        // a term without a barrier may have any periodicity; it is there for its pair
        const bool is_whole = n[i] == rint(n[i]) && n[i] >= 1.0 && n[i] <= TAL_MAX_PERIODICITY;
        if (!is_whole && fabs(V[i]) > NO_BARRIER) {
            tali_prmtop_error(m->it, "DIHEDRAL_PERIODICITY", i,
                              "%g is not a whole number from 1 to %d", n[i], TAL_MAX_PERIODICITY);
            return false;
        }
        w->of[i] = (tal_ff_wave){is_whole ? (int)n[i] : 1, V[i] * TAL_MOL_KCAL, gamma[i]};
    }
    return true;
}

// Terms of the same atoms that follow each other are one term of several waves.
static bool add_torsions(maker *m, const waves *w, const char *name, int count)
{
    enum {
        MOST_WAVES = 16
    };

    tal_ff_wave some[MOST_WAVES];
    const int *terms = tali_prmtop_terms(m->it, name, count, 4, w->num);
    if (terms == NULL) return false;
    for (int i = 0; i < count;) {
        const int *term = terms + 5 * (ptrdiff_t)i;
        const int a[4] = {term[0] / 3, term[1] / 3, abs(term[2]) / 3, abs(term[3]) / 3};
        int num = 0;
        for (; i < count && num < MOST_WAVES; ++i) {
            const int *next = terms + 5 * (ptrdiff_t)i;
            const bool is_same = next[0] == term[0] && next[1] == term[1] &&
                                 abs(next[2]) == abs(term[2]) && next[3] == term[3];
            if (!is_same) break;
            some[num++] = w->of[next[4] - 1];
        }
        (void)(term[3] < 0 ? tal_mol_add_improper(m->mol, a[0], a[1], a[2], a[3], some, num)
                           : tal_mol_add_torsion(m->mol, a[0], a[1], a[2], a[3], some, num));
    }
    return true;
}

// Two atoms of one term must not be the same.
static bool check_distinct(maker *m, const char *name, int count, int arity, int kinds)
{
    const int *terms = tali_prmtop_terms(m->it, name, count, arity, kinds);
    for (int i = 0; terms != NULL && i < count; ++i) {
        const int *term = terms + (arity + 1) * (ptrdiff_t)i;
        for (int k = 1; k < arity; ++k) {
            for (int j = 0; j < k; ++j) {
                if (abs(term[j]) != abs(term[k])) continue;
                tali_prmtop_error(m->it, name, (arity + 1L) * i + k, "atom %d is twice in one term",
                                  abs(term[k]) / 3 + 1);
                return false;
            }
        }
    }
    return terms != NULL;
}

static bool check_terms(maker *m)
{
    const int *num = m->it->num;
    const int angles = num[TALI_PRMTOP_ANGLE_KINDS], dihedrals = num[TALI_PRMTOP_DIHEDRAL_KINDS];
    return check_distinct(m, "ANGLES_INC_HYDROGEN", num[TALI_PRMTOP_ANGLES_H], 3, angles) &&
           check_distinct(m, "ANGLES_WITHOUT_HYDROGEN", num[TALI_PRMTOP_ANGLES], 3, angles) &&
           check_distinct(m, "DIHEDRALS_INC_HYDROGEN", num[TALI_PRMTOP_DIHEDRALS_H], 4,
                          dihedrals) &&
           check_distinct(m, "DIHEDRALS_WITHOUT_HYDROGEN", num[TALI_PRMTOP_DIHEDRALS], 4,
                          dihedrals);
}

// --- the whole ---

static bool make_field(maker *m)
{
    tal_ff_def def = tal_ff_def_default();
    tal_error err = {TAL_OK, "", ""};
    type_facts k;
    if (!find_pairs(m) || !read_facts(m, &k)) return false;
    def.mixing = TAL_FF_LORENTZ_BERTHELOT;
    def.coulomb_constant = m->how->coulomb_constant;
    def.coulomb_scale[2] = 1.0 / (m->scee > 0.0 ? m->scee : USUAL_SCEE);
    def.vdw_scale[2] = 1.0 / (m->scnb > 0.0 ? m->scnb : USUAL_SCNB);
    if (!passed(m, tal_ff_create(&def, &m->how->allocator, &m->field, &err), &err)) return false;
    (void)(add_classes(m, &k) && add_types(m, &k) && add_pairs(m));
    if (m->it->r->errors > 0 || m->it->r->no_memory) return false;
    return passed(m, tal_ff_freeze(m->field, &err), &err);
}

static bool add_atoms(maker *m)
{
    const tal_atoms *atoms = m->it->r->atoms;
    const double *charge =
        tali_prmtop_numbers(m->it, "CHARGE", m->it->num[TALI_PRMTOP_ATOMS], false);
    if (charge == NULL) return false;
    for (int i = 0; i < atoms->num; ++i) {
        const tali_atoms_one *one = &atoms->list[i];
        const int atom = tal_mol_add_atom(m->mol, m->type_of[i], one->name,
                                          one->atom.residue_number, one->chain);
        if (atom >= 0) {
            (void)tal_mol_set_atom_charge(m->mol, atom, charge[i] / TAL_MOL_AMBER_CHARGE);
        }
    }
    return true;
}

static bool add_places(maker *m)
{
    const tal_atoms *places = m->how->places;
    if (places == NULL) return true;
    if (places->num != m->it->r->atoms->num || places->num_frames == 0) {
        tali_atoms_file_error(m->it->r,
                              "the topology has %d atoms, and the file of their positions %d, in "
                              "%d frames",
                              m->it->r->atoms->num, places->num, places->num_frames);
        return false;
    }
    const tali_atoms_frame *last = &places->frames[places->num_frames - 1];
    (void)tal_mol_set_positions(m->mol, last->x, places->num);
    return true;
}

// The pairs that the file leaves out must be those that Talus does: up to three bonds apart; and
// those that it scales must be those three bonds apart.
static bool check_exclusions(maker *m)
{
    tali_prmtop *it = m->it;
    const int n = it->num[TALI_PRMTOP_ATOMS], total = it->num[TALI_PRMTOP_EXCLUDED];
    const int *counts = tali_prmtop_integers(it, "NUMBER_EXCLUDED_ATOMS", n, false);
    const int *list = tali_prmtop_integers(it, "EXCLUDED_ATOMS_LIST", total, false);
    if (counts == NULL || list == NULL) return false;
    long at = 0, scaled = 0;
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < counts[i]; ++k, ++at) {
            if (at >= total || list[at] < 0 || list[at] > n) {
                tali_prmtop_error(it, "EXCLUDED_ATOMS_LIST", at < total ? at : -1,
                                  "the pairs of atom %d do not fit the numbers of pairs", i + 1);
                return false;
            }
            if (list[at] == 0) continue; // none
            const int apart = tal_mol_separation(m->mol, i, list[at] - 1);
            if (apart == 3) ++scaled;
            if (apart <= 3) continue;
            tali_prmtop_error(it, "EXCLUDED_ATOMS_LIST", at,
                              "atoms %d and %d do not interact, but are more than three bonds "
                              "apart: such files are not read",
                              i + 1, list[at]);
            return false;
        }
    }
    for (long p = 0; p < m->num_pairs; ++p) {
        if (tal_mol_separation(m->mol, m->pairs[p].a, m->pairs[p].b) == 3) continue;
        tali_atoms_file_error(it->r,
                              "a dihedral says that atoms %d and %d are three bonds apart, but "
                              "by the bonds they are not",
                              m->pairs[p].a + 1, m->pairs[p].b + 1);
        return false;
    }
    if (scaled == m->num_pairs) return true;
    tali_atoms_file_error(it->r,
                          "%ld pairs are three bonds apart and left out, but dihedrals contain "
                          "%ld of them: such files are not read",
                          scaled, m->num_pairs);
    return false;
}

static bool make_mol(maker *m)
{
    const tal_mol_def def = {.only_added = true};
    tal_error err = {TAL_OK, "", ""};
    waves w;
    if (!passed(m, tal_mol_create(m->field, &def, &m->how->allocator, &m->mol, &err), &err)) {
        return false;
    }
    const int *num = m->it->num;
    return check_terms(m) && add_atoms(m) && add_stretches(m) && add_bends(m) &&
           read_waves(m, &w) &&
           add_torsions(m, &w, "DIHEDRALS_INC_HYDROGEN", num[TALI_PRMTOP_DIHEDRALS_H]) &&
           add_torsions(m, &w, "DIHEDRALS_WITHOUT_HYDROGEN", num[TALI_PRMTOP_DIHEDRALS]) &&
           add_places(m) && passed(m, tal_mol_freeze(m->mol, &err), &err) && check_exclusions(m);
}

// --- entry points ---

tal_prmtop_options tal_prmtop_options_default(void)
{
    const tal_prmtop_options options = {.allocator = tal_allocator_default(),
                                        .max_bytes = (size_t)1 << 31,
                                        .coulomb_constant = TAL_MOL_COULOMB};
    return options;
}

void tal_prmtop_destroy(tal_prmtop *prmtop)
{
    if (prmtop == NULL) return;
    tal_mol_destroy(prmtop->mol);
    tal_ff_destroy(prmtop->field);
    tal_atoms_destroy(prmtop->atoms);
    *prmtop = (tal_prmtop){NULL, NULL, NULL};
}

static tal_status check_call(const char *name, const void *text, const tal_prmtop_options *how,
                             tal_prmtop *out, const char *where)
{
    if (out != NULL) *out = (tal_prmtop){NULL, NULL, NULL};
    const tal_status st =
        tali_reading_check(name, text, out, how != NULL ? &how->allocator : NULL, where);
    if (st != TAL_OK || how == NULL) return st;
    if (how->coulomb_constant > 0.0 && isfinite(how->coulomb_constant)) return TAL_OK;
    return tali_breach(TAL_ERR_BAD_VALUE, where,
                       "the constant of Coulomb's law is %g; it must be "
                       "positive",
                       how->coulomb_constant);
}

tal_status tal_prmtop_read_memory(const char *name, const char text[], size_t size,
                                  const tal_prmtop_options *options, tal_prmtop *out,
                                  tal_diagnostics *found)
{
    const tal_status st = check_call(name, text, options, out, __func__);
    if (st != TAL_OK) return st;
    const tal_prmtop_options how = options != NULL ? *options : tal_prmtop_options_default();
    tali_atoms_reader r = {.how = {.allocator = how.allocator},
                           .file = name,
                           .at = text,
                           .end = text + size,
                           .found = found};
    tali_prmtop it;
    maker m = {.it = &it, .how = &how};
    r.atoms = tal_atoms_create(&how.allocator);
    r.no_memory = r.atoms == NULL;
    memset(&it, 0, sizeof it);
    if (size > how.max_bytes) {
        tali_atoms_file_error(&r, "the file has more than %zu bytes", how.max_bytes);
    } else if (memchr(text, '\0', size) != NULL) {
        tali_atoms_file_error(&r, "%s", TALI_NO_TEXT);
    } else if (!r.no_memory) {
        (void)(tali_prmtop_begin(&it, &r) && tali_prmtop_make_atoms(&it) && make_field(&m) &&
               make_mol(&m));
        tali_prmtop_end(&it);
    }
    if (r.no_memory) tali_atoms_file_error(&r, "memory ran out");
    *out = (tal_prmtop){m.field, m.mol, r.atoms};
    if (r.errors == 0) return TAL_OK;
    tal_prmtop_destroy(out);
    return r.no_memory ? TAL_ERR_NO_MEMORY : TAL_ERR_FILE;
}

tal_status tal_prmtop_read_file(const char *path, const tal_prmtop_options *options,
                                tal_prmtop *out, tal_diagnostics *found)
{
    tal_status st = check_call(path, path, options, out, __func__);
    if (st != TAL_OK) return st;
    const tal_prmtop_options how = options != NULL ? *options : tal_prmtop_options_default();
    tali_file_bytes file;
    const char *wrong = tali_file_load(path, how.max_bytes, &how.allocator, &file, &st);
    if (wrong == NULL) {
        st = tal_prmtop_read_memory(path, file.block, file.size, &how, out, found);
    } else {
        tal_diagnostics_add(found, TAL_ERROR, path, 0, 0, "%s", wrong);
    }
    tali_file_bytes_free(&how.allocator, &file);
    return st;
}
