// The table: molecules, with all that they are made of.
#include "alloc_internal.h"

#include "model/model_molecules_internal.h"

#include <talus/io/prmtop.h>
#include <talus/molecule/velocity.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_PATH = 1000
};

// ---- attributes

#define LEVELS "cartesian|bat|rigid_groups|torsions|backbone|residues|domains|rigid"

static const tali_model_attribute shared_attributes[] = {
    {"name", TALI_TYPE_NAME, .doc = "of the molecule, at most 31 characters"},
    {"frame", TALI_TYPE_FRAME, .initial = "0 0 0", .doc = "of its positions, in Ground [nm]"},
    {"level", TALI_TYPE_WORD, .initial = "torsions", .words = LEVELS,
     .doc = "what its bodies are (talus/molecule/granularity.h)"},
    {"open_rings", TALI_TYPE_BOOL, .initial = "no",
     .doc = "bonds of rings turn like others, and one of each ring is cut"},
    {"freeze_double", TALI_TYPE_BOOL, .initial = "no", .doc = "double and triple bonds are rigid"},
    {"map_bonded", TALI_TYPE_BOOL, .initial = "yes",
     .doc = "torsions about a bond that turns are summed into one series"},
    {"center", TALI_TYPE_BOOL, .initial = "no",
     .doc = "roots are chosen for the least depth, not for the largest mass"},
    {"list_room", TALI_TYPE_INTEGER, .initial = "64",
     .doc = "room of a list of neighbors, in clusters of eight for each atom"},
    {"root", TALI_TYPE_TEXT, .initial = "", .doc = "an atom of the body that is to be a root"},
    {"picture", TALI_TYPE_BOOL, .initial = "yes",
     .doc = "draw balls, sticks and the box, if there is one"},
    {"picture_sizes", TALI_TYPE_REAL, 3, "0.25 0.03 0.015", TALI_NO_NEGATIVE_NUMBER,
     .doc = "radius of balls as a part of the atom's, the least one [nm], radius of sticks [nm]"},
    {"enabled", TALI_TYPE_BOOL, .initial = "yes", .doc = "whether its terms act at the start"},
    {"scales", TALI_TYPE_REAL, 4, "1 1 1 1",
     .doc = "factors of bonded terms, van der Waals, Coulomb, and generalized Born"},
    {"fixman", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "temperature of Fixman's potential [K]; 0: there is none"},
    {"temperature", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "of random initial velocities [K]; 0: as `u` says"},
    {"seed", TALI_TYPE_INTEGER, .initial = "0", .doc = "of these"},
    {"q", TALI_TYPE_REALS, .initial = "",
     .doc = "initial coordinates of all its bodies, in nm and rad; default: the positions"},
    {"u", TALI_TYPE_REALS, .initial = "", .doc = "initial speeds of all its bodies"},
    {.name = NULL}};

static const tali_model_attribute molecule_attributes[] = {
    {"field", TALI_TYPE_TEXT, .doc = "its force field, from `<force_fields>` above"},
    {"terms", TALI_TYPE_WORD, .initial = "all", .words = "all|known|own",
     .doc = "bonded terms: all that the bonds imply must be in the force field; only those that "
            "are; or only those that are in the molecule"},
    {.name = NULL}};

static const tali_model_attribute amber_attributes[] = {
    {"topology", TALI_TYPE_TEXT, .doc = "path of a .prmtop file, relative to this file"},
    {"coordinates", TALI_TYPE_TEXT,
     .doc = "path of a file of its atoms: .inpcrd, .rst7, .pdb, .cif, .xyz or .dcd"},
    {"amber_coulomb", TALI_TYPE_BOOL, .initial = "no",
     .doc = "AMBER's constant of Coulomb's law in place of that of CODATA 2018"},
    {.name = NULL}};

static const tali_model_attribute atom_attributes[] = {
    {"type", TALI_TYPE_TEXT, .doc = "its type in the force field"},
    {"name", TALI_TYPE_TEXT, .initial = "", .doc = "default: that of the type"},
    {"residue", TALI_TYPE_INTEGER, .initial = "1", .doc = "number of its residue"},
    {"chain", TALI_TYPE_TEXT, .initial = "", .doc = "its chain"},
    {"position", TALI_TYPE_REAL, 3, .doc = "[nm]"},
    {"charge", TALI_TYPE_REALS, .initial = "", .doc = "in place of that of the type [e]"},
    {.name = NULL}};

static const tali_model_attribute bond_attributes[] = {
    {"atoms", TALI_TYPE_TEXT, .doc = "two atoms: names that are unique, or numbers from 0 on"},
    {"order", TALI_TYPE_INTEGER, .initial = "1", .doc = "1, 2 or 3"},
    {"mobility", TALI_TYPE_WORD, .initial = "default",
     .words = "default|rigid|torsion|cylinder|slider|angle_pin|bend_stretch|universal|ball|"
              "spherical|free",
     .doc = "how it moves, in place of what the level says"},
    {"q", TALI_TYPE_REALS, .initial = "",
     .doc = "its initial coordinates, angles first: of a torsion the dihedral. Default: as the "
            "positions are"},
    {.name = NULL}};

#define ATOMS(text)                                                                                \
    {                                                                                              \
        "atoms", TALI_TYPE_TEXT, .doc = (text)                                                     \
    }

static const tali_model_attribute cluster_attributes[] = {
    {"name", TALI_TYPE_TEXT, .doc = "of the cluster"}, ATOMS("its atoms"), {.name = NULL}};

static const tali_model_attribute select_attributes[] = {
    {"level", TALI_TYPE_WORD, .words = LEVELS, .doc = "of the atoms that meet all that is said"},
    {"chain", TALI_TYPE_TEXT, .initial = "*", .doc = "of this chain; `*`: of any"},
    {"residues", TALI_TYPE_REALS, .initial = "", .doc = "first and last residue"},
    {"atoms", TALI_TYPE_TEXT, .initial = "*", .doc = "of these atoms; `*`: of any"},
    {.name = NULL}};

static const tali_model_attribute length_attributes[] = {
    ATOMS("its ends"), TALI_STRETCH_ATTRIBUTES, {.name = NULL}};

static const tali_model_attribute urey_bradley_attributes[] = {
    ATOMS("three atoms, the vertex in the middle"), TALI_STRETCH_ATTRIBUTES, {.name = NULL}};

static const tali_model_attribute bend_attributes[] = {
    ATOMS("three atoms, the vertex in the middle"), TALI_BEND_ATTRIBUTES, {.name = NULL}};

static const tali_model_attribute torsion_attributes[] = {
    ATOMS("four atoms"), TALI_WAVE_ATTRIBUTES, TALI_HARMONIC_ATTRIBUTE, {.name = NULL}};

#define CUTOFFS "none|truncate|shift|force_shift|quintic|charmm|force_switch"

static const tali_model_attribute pairs_attributes[] = {
    {"vdw", TALI_TYPE_WORD, .initial = "none", .words = CUTOFFS, .doc = "how van der Waals ends"},
    {"vdw_range", TALI_TYPE_REAL, 2, "0 0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "where it begins to end, and where it ends [nm]"},
    {"coulomb", TALI_TYPE_WORD, .initial = "none", .words = CUTOFFS, .doc = "the same of charges"},
    {"coulomb_range", TALI_TYPE_REAL, 2, "0 0", TALI_NO_NEGATIVE_NUMBER, .doc = "[nm]"},
    {"dielectric", TALI_TYPE_WORD, .initial = "constant",
     .words = "constant|distance|debye|reaction_field", .doc = "what is between charges"},
    {"permittivity", TALI_TYPE_REAL, 1, "1", TALI_POSITIVE_NUMBER, .doc = "relative"},
    {"debye_length", TALI_TYPE_REAL, 1, "1", TALI_POSITIVE_NUMBER, .doc = "[nm]"},
    {"outside", TALI_TYPE_REAL, 1, "78.5", TALI_POSITIVE_NUMBER,
     .doc = "permittivity beyond the cutoff of a reaction field"},
    {"box", TALI_TYPE_REAL, 3, "0 0 0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "edges of a periodic box [nm]; zeros: there is none"},
    {"born", TALI_TYPE_BOOL, .initial = "no", .doc = "water as a continuum: generalized Born"},
    {"solute", TALI_TYPE_REAL, 1, "1", TALI_POSITIVE_NUMBER, .doc = "its permittivity inside"},
    {"solvent", TALI_TYPE_REAL, 1, "78.5", TALI_POSITIVE_NUMBER, .doc = "and outside"},
    {"surface", TALI_TYPE_REAL, 1, "28.3919551", TALI_NO_NEGATIVE_NUMBER,
     .doc = "surface energy [kJ/mol/nm^2]"},
    {"skin", TALI_TYPE_REAL, 1, "0.1", TALI_NO_NEGATIVE_NUMBER,
     .doc = "how much farther lists of neighbors reach [nm]"},
    {"all_pairs", TALI_TYPE_BOOL, .initial = "no", .doc = "use no lists: slower, the same bits"},
    {.name = NULL}};

// ---- words

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool tali_model_next_token(tali_model_token *at)
{
    at->text += at->length;
    while (is_blank(*at->text)) {
        ++at->text;
    }
    at->length = 0;
    while (at->text[at->length] != '\0' && !is_blank(at->text[at->length])) {
        ++at->length;
    }
    return at->length > 0;
}

static int count_tokens(const char *text)
{
    tali_model_token at = {text, 0};
    int n = 0;
    while (tali_model_next_token(&at)) {
        ++n;
    }
    return n;
}

// An atom by its number, or by a name that no other has. -1, and an error, when there is none.
static int find_atom(tali_model *m, const tali_model_item *item, const tal_mol *mol,
                     const tali_model_token *at)
{
    const int n = tal_mol_num_atoms(mol);
    int found = -1;
    char name[TAL_MAX_MOL_NAME + 1];
    (void)snprintf(name, sizeof name, "%.*s", at->length, at->text);
    if (strspn(name, "0123456789") == strlen(name)) {
        const long number = strlen(name) < 10 ? strtol(name, NULL, 10) : INT_MAX;
        if (number < n) return (int)number;
        tali_model_item_error(m, item, NULL, ": there is no atom %s; there are %d, from 0 on", name,
                              n);
        return -1;
    }
    for (int i = 0; i < n; ++i) {
        if (strcmp(tal_mol_atom_name(mol, i), name) != 0) continue;
        if (found >= 0) {
            tali_model_item_error(m, item, NULL,
                                  ": atoms %d and %d are both called '%s': use numbers, from 0 on",
                                  found, i, name);
            return -1;
        }
        found = i;
    }
    if (found < 0) tali_model_item_error(m, item, NULL, ": there is no atom '%s'", name);
    return found;
}

// The atoms that an attribute names. False, and an error, when they are not `count` known ones; any
// number for -1. Taken from the arena.
static bool find_atoms(tali_model *m, const tali_model_item *item, const tal_mol *mol,
                       const char *text, int count, int **out, int *num)
{
    *num = count_tokens(text);
    if (count >= 0 && *num != count) {
        tali_model_item_error(m, item, "atoms", ": there are %d atoms; %d are needed", *num, count);
        return false;
    }
    *out = tali_arena_take(&m->arena, ((size_t)*num + 1) * sizeof **out);
    if (*out == NULL) {
        m->no_memory = true;
        return false;
    }
    tali_model_token at = {text, 0};
    for (int i = 0; tali_model_next_token(&at); ++i) {
        (*out)[i] = find_atom(m, item, mol, &at);
        if ((*out)[i] < 0) return false;
    }
    return true;
}

// ---- making a molecule

static bool is_part(const tali_model_item *item, const char *name)
{
    return strcmp(item->row->name, name) == 0;
}

// What was refused last, at the element that said it.
static void tell(tali_model *m, const tali_model_item *item, tal_mol *mol, tal_status st)
{
    tal_error err = {TAL_OK, "", ""};
    if (st == TAL_OK) return;
    if (st == TAL_ERR_NO_MEMORY) m->no_memory = true;
    const tal_status first = tal_mol_freeze(mol, &err); // says what was refused
    tali_model_item_error(m, item, NULL, ": %s", first != TAL_OK ? err.message : "");
}

static tal_status add_atom(tali_model *m, const tali_model_item *item, tal_mol *mol)
{
    const tal_ff *ff = tal_mol_field(mol);
    const int type = tal_ff_find_type(ff, item->text[0]);
    const tali_model_list *charge = &item->lists[0];
    if (type < 0) {
        tali_model_item_error(m, item, "type", ": the force field has no type '%.40s'",
                              item->text[0]);
        return TAL_OK;
    }
    if (charge->count > 1) {
        tali_model_item_error(m, item, "charge", ": 'charge' has %d numbers; 1 is needed",
                              charge->count);
        return TAL_OK;
    }
    const char *name = item->text[1][0] != '\0' ? item->text[1] : item->text[0];
    const int atom = tal_mol_add_atom(mol, type, name, item->ref[0], item->text[2]);
    if (atom < 0) return TAL_ERR_BAD_VALUE;
    return charge->count > 0 ? tal_mol_set_atom_charge(mol, atom, charge->values[0]) : TAL_OK;
}

static tal_status add_cluster(tali_model *m, const tali_model_item *item, tal_mol *mol,
                              const tal_vec3 x[])
{
    int *atoms = NULL, num = 0;
    if (!find_atoms(m, item, mol, item->text[1], -1, &atoms, &num)) return TAL_OK;
    const int cluster = tal_mol_add_cluster(mol, item->text[0]);
    tal_status st = cluster >= 0 ? TAL_OK : TAL_ERR_BAD_VALUE;
    for (int i = 0; i < num && st == TAL_OK; ++i) {
        st = tal_mol_place_atom(mol, cluster, atoms[i], x[atoms[i]]);
    }
    return st;
}

// A bonded term of the molecule's own.
static tal_status add_term(tali_model *m, const tali_model_item *item, tal_mol *mol)
{
    static const char *const names[TAL_NUM_MOL_FAMILIES] = {"stretch", "bend", "urey_bradley",
                                                            "torsion", "improper"};
    static const int counts[TAL_NUM_MOL_FAMILIES] = {2, 3, 3, 4, 4};
    int family = 0, *atoms = NULL, num = 0, four[4] = {-1, -1, -1, -1};
    while (!is_part(item, names[family])) {
        ++family;
    }
    if (!find_atoms(m, item, mol, item->text[0], counts[family], &atoms, &num)) return TAL_OK;
    memcpy(four, atoms, (size_t)num * sizeof *four);
    tali_field_law law = {.kind = TALI_STRETCH};
    if (family >= TAL_MOL_TORSION) {
        if (!tali_model_wave_law(m, item, true, &law)) return TAL_OK;
    } else {
        law.k = item->p[0];
        law.x0 = item->p[1];
        if (family == TAL_MOL_BEND) law.kind = item->ref[0] ? TALI_COSINE_BEND : TALI_BEND;
    }
    return tali_mol_add_own(mol, (tal_mol_family)family, four, &law);
}

// Parts in three rounds, since bonds need atoms, and clusters need places.
static tal_status add_part(tali_model *m, const tali_model_item *part, tal_mol *mol, int round,
                           const tal_vec3 x[])
{
    const bool is_atom = is_part(part, "atom"), is_bond = is_part(part, "bond");
    if (round == 0) return is_atom ? add_atom(m, part, mol) : TAL_OK;
    if (is_atom || is_part(part, "select") || is_part(part, "pairs")) return TAL_OK;
    if (is_part(part, "cluster")) return add_cluster(m, part, mol, x);
    if (!is_bond) return add_term(m, part, mol);
    int *atoms = NULL, num = 0;
    if (!find_atoms(m, part, mol, part->text[0], 2, &atoms, &num)) return TAL_OK;
    return tal_mol_add_bond(mol, atoms[0], atoms[1], part->ref[0]) >= 0 ? TAL_OK
                                                                        : TAL_ERR_BAD_VALUE;
}

static bool is_sound(const tali_model *m)
{
    return !m->no_memory && tal_diagnostics_num_errors(m->found) == 0;
}

static void add_parts(tali_model *m, tali_model_item *item)
{
    tal_vec3 *x = tali_arena_take(&m->arena, ((size_t)item->num_children + 1) * sizeof *x);
    int num = 0;
    if (x == NULL) m->no_memory = true;
    for (int round = 0; round < 2 && is_sound(m); ++round) {
        for (int c = item->first; c >= 0 && is_sound(m); c = m->items[c].next) {
            const tali_model_item *part = &m->items[c];
            if (round == 0 && is_part(part, "atom")) x[num++] = tali_model_vec3_at(part->p);
            tell(m, part, item->mol, add_part(m, part, item->mol, round, x));
        }
    }
    if (is_sound(m)) tell(m, item, item->mol, tal_mol_set_positions(item->mol, x, num));
}

static void check_pairs(tali_model *m, const tali_model_item *item)
{
    int num = 0;
    for (int c = item->first; c >= 0; c = m->items[c].next) {
        if (!is_part(&m->items[c], "pairs") || ++num < 2) continue;
        tali_model_item_error(m, &m->items[c], NULL, " is there already: one is enough");
    }
}

// Made when it is checked, from the force field that was made before.
static void check_molecule(tali_model *m, tali_model_item *item)
{
    tal_error err = {TAL_OK, "", ""};
    check_pairs(m, item);
    if (!is_sound(m)) return;
    const int field = tali_model_find_from(m, item, TALI_GROUP_FIELDS, item->text[1]);
    if (field < 0 || m->items[field].field == NULL) {
        tali_model_item_error(m, item, "field", ": there is no <force_field> '%.40s' above",
                              item->text[1]);
        return;
    }
    const int terms = item->ref[TALI_MOLECULE_REFS];
    const tal_mol_def def = {.allow_missing = terms == 1, .only_added = terms == 2};
    tal_status st =
        tal_mol_create(m->items[field].field, &def, &m->options.allocator, &item->mol, &err);
    if (st == TAL_OK) {
        add_parts(m, item);
        if (!is_sound(m)) return;
        st = tal_mol_freeze(item->mol, &err);
    }
    if (st == TAL_ERR_NO_MEMORY) m->no_memory = true;
    if (st != TAL_OK) tali_model_item_error(m, item, NULL, ": %s", err.message);
}

// ---- a molecule of AMBER

// Read when it is checked: coordinates first, then the topology that gets them.
static void check_amber(tali_model *m, tali_model_item *item)
{
    char path[MAX_PATH];
    tal_atoms *places = NULL;
    check_pairs(m, item);
    for (int c = item->first; c >= 0; c = m->items[c].next) {
        const tali_model_item *part = &m->items[c];
        if (is_part(part, "bond") || is_part(part, "select") || is_part(part, "pairs")) continue;
        tali_model_item_error(m, part, NULL, " is not for a molecule that is in other files");
    }
    if (!is_sound(m) || !tali_model_item_path(m, item, item->text[2], path, sizeof path)) return;
    tal_atoms_options how = tal_atoms_options_default();
    how.allocator = m->options.allocator;
    tal_status st = tal_atoms_read_file(path, &how, &places, m->found);
    tal_prmtop made = {NULL, NULL, NULL};
    if (st == TAL_OK && tali_model_item_path(m, item, item->text[1], path, sizeof path)) {
        tal_prmtop_options options = tal_prmtop_options_default();
        options.allocator = m->options.allocator;
        options.places = places;
        if (item->ref[TALI_MOLECULE_REFS]) options.coulomb_constant = TAL_PRMTOP_AMBER_COULOMB;
        st = tal_prmtop_read_file(path, &options, &made, m->found);
    }
    if (st == TAL_ERR_NO_MEMORY) m->no_memory = true;
    if (st != TAL_OK) tali_model_item_error(m, item, NULL, ": '%.100s' could not be read", path);
    tal_atoms_destroy(made.atoms);
    tal_atoms_destroy(places);
    item->field = made.field;
    item->mol = made.mol;
}

// ---- adding it to the System

// Levels, selections and choices of bonds, from the arena. False when something is wrong with them.
static bool choose(tali_model *m, const tali_model_item *item, tal_mol_granularity *how)
{
    const size_t n = (size_t)item->num_children + 1;
    tal_mol_selection *selections = tali_arena_take(&m->arena, n * sizeof *selections);
    tal_mol_bond_choice *bonds = tali_arena_take(&m->arena, n * sizeof *bonds);
    if (selections == NULL || bonds == NULL) {
        m->no_memory = true;
        return false;
    }
    for (int c = item->first; c >= 0; c = m->items[c].next) {
        const tali_model_item *part = &m->items[c];
        int *atoms = NULL, num = 0;
        if (is_part(part, "bond") && part->ref[1] > 0) {
            if (!find_atoms(m, part, item->mol, part->text[0], 2, &atoms, &num)) return false;
            bonds[how->num_bonds++] =
                (tal_mol_bond_choice){atoms[0], atoms[1], (tal_bond_mobility)(part->ref[1] - 1)};
        }
        if (!is_part(part, "select")) continue;
        tal_mol_selection it = {.level = (tal_mol_level)part->ref[0], .last_residue = -1};
        const tali_model_list *residues = &part->lists[0];
        if (strcmp(part->text[0], "*") != 0) it.chain = part->text[0];
        if (residues->count == 2) {
            it.first_residue = (int)residues->values[0];
            it.last_residue = (int)residues->values[1];
        }
        if (strcmp(part->text[1], "*") != 0) {
            if (!find_atoms(m, part, item->mol, part->text[1], -1, &atoms, &num)) return false;
            it.atoms = atoms;
            it.num_atoms = num;
        }
        selections[how->num_selections++] = it;
    }
    how->selections = selections;
    how->bonds = bonds;
    return true;
}

static bool read_granularity(tali_model *m, const tali_model_item *item, tal_mol_granularity *how)
{
    *how = tal_mol_granularity_default();
    how->level = (tal_mol_level)item->ref[TALI_MOLECULE_LEVEL];
    how->open_rings = item->ref[TALI_MOLECULE_LEVEL + 1];
    how->freeze_double = item->ref[TALI_MOLECULE_LEVEL + 2];
    how->map_bonded = item->ref[TALI_MOLECULE_LEVEL + 3];
    how->center = item->ref[TALI_MOLECULE_LEVEL + 4];
    how->list_room = item->ref[TALI_MOLECULE_LEVEL + 5];
    tali_model_token root = {item->text[0], 0};
    if (tali_model_next_token(&root)) {
        how->root = find_atom(m, item, item->mol, &root);
        if (how->root < 0) return false;
    }
    return choose(m, item, how);
}

// How pairs act, by the <pairs> of an item.
static tal_mol_nonbonded pairs_of(const tali_model_item *part)
{
    const double *p = part->p;
    return (tal_mol_nonbonded){
        .vdw = {(tal_mol_cutoff)part->ref[0], p[0], p[1]},
        .coulomb = {(tal_mol_cutoff)part->ref[1], p[2], p[3]},
        .dielectric = (tal_mol_dielectric)part->ref[2],
        .permittivity = p[4],
        .debye_length = p[5],
        .outside = p[6],
        .box = tal_v3(p[7], p[8], p[9]),
        .born = part->ref[3],
        .solute = p[10],
        .solvent = p[11],
        .surface = p[12],
        .skin = p[13],
        .all_pairs = part->ref[4],
    };
}

static const tali_model_item *find_pairs(const tali_model *m, const tali_model_item *item)
{
    for (int c = item->first; c >= 0; c = m->items[c].next) {
        if (is_part(&m->items[c], "pairs")) return &m->items[c];
    }
    return NULL;
}

static void draw(tali_model *m, const tali_model_item *item, const tal_mol_instance *instance)
{
    const tali_model_item *pairs = find_pairs(m, item);
    const double *sizes = item->p + TALI_MOLECULE_PICTURE;
    tal_mol_picture picture = {sizes[0], sizes[1], sizes[2], TAL_VEC3_ZERO};
    if (pairs != NULL) picture.box = pairs_of(pairs).box;
    if (item->ref[TALI_MOLECULE_DRAWN]) (void)tal_mol_decorate(instance, m->matter, &picture);
}

// Initial coordinates of single bonds; in degrees where the file has them.
static void set_bonds(tali_model *m, const tali_model_item *item, const tal_mol_instance *instance)
{
    for (int c = item->first; c >= 0; c = m->items[c].next) {
        const tali_model_item *part = &m->items[c];
        int *atoms = NULL, num = 0;
        if (!is_part(part, "bond") || part->lists[0].count == 0) continue;
        if (!find_atoms(m, part, item->mol, part->text[0], 2, &atoms, &num)) return;
        const tal_mol_joint joint =
            tal_mol_bond_joint(instance, tal_mol_find_bond(item->mol, atoms[0], atoms[1]));
        static const int angles[] = {
            [TAL_BOND_TORSION] = 1,      [TAL_BOND_CYLINDER] = 1,  [TAL_BOND_ANGLE_PIN] = 1,
            [TAL_BOND_BEND_STRETCH] = 1, [TAL_BOND_UNIVERSAL] = 2, [TAL_BOND_SPHERICAL] = 2,
            [TAL_BOND_FREE_LINE] = 0};
        const int n = part->lists[0].count;
        if (joint.body.i < 0 || n > TAL_MAX_NQ) {
            tali_model_item_error(m, part, "q", ": the bond %s",
                                  n > TAL_MAX_NQ ? "does not have so many coordinates"
                                                 : "does not move");
            return;
        }
        double q[TAL_MAX_NQ];
        for (int i = 0; i < n; ++i) {
            q[i] = part->lists[0].values[i] * (i < angles[joint.mobility] ? part->unit : 1.0);
        }
        (void)tal_body_set_initial_q(m->matter, joint.body, q, n);
    }
}

static void build_molecule(tali_model *m, tali_model_item *item)
{
    tal_mol_granularity how;
    tal_xform X_GR = tali_model_frame_at(item->p);
    if (!tal_mol_is_frozen(item->mol) || !read_granularity(m, item, &how)) return;
    const tal_mol_instance *instance =
        tal_mol_add(m->system, m->matter, m->forces, item->name, item->mol, &how, &X_GR);
    if (instance != NULL) {
        item->built = tal_forces_num(m->forces) - 1;
        set_bonds(m, item, instance);
        draw(m, item, instance);
    }
    if (item->field != NULL && !tali_model_kept_field(m->kept, item->field)) m->no_memory = true;
    if (!tali_model_kept_mol(m->kept, item->mol)) m->no_memory = true;
    item->field = NULL;
    item->mol = NULL;
}

// ---- where it begins

// All q, or all u. False, and an error, when there are too many or too few.
static bool start_values(tali_model *m, const tali_model_item *item, const tali_model_list *list,
                         const char *name, int first, int count, double all[])
{
    if (list->count == 0) return true;
    if (list->count != count) {
        tali_model_item_error(m, item, name, ": '%s' has %d numbers, but the molecule has %d", name,
                              list->count, count);
        return false;
    }
    memcpy(all + first, list->values, (size_t)count * sizeof *all);
    return true;
}

static bool start_motion(tali_model *m, const tali_model_item *item,
                         const tal_mol_instance *instance)
{
    const tali_term_facts facts = tali_term_facts_of(instance);
    const tal_body_ix first = {facts.first_body}, last = {first.i + facts.num_bodies - 1};
    const int q = tal_body_q_start(m->matter, m->state, first);
    const int u = tal_body_u_start(m->matter, first);
    const int nq =
        tal_body_q_start(m->matter, m->state, last) + tal_body_nq(m->matter, m->state, last) - q;
    const int nu = tal_body_u_start(m->matter, last) + tal_body_nu(m->matter, last) - u;
    return start_values(m, item, &item->lists[0], "q", q, nq, tal_state_upd_q(m->state)) &&
           start_values(m, item, &item->lists[1], "u", u, nu, tal_state_upd_u(m->state));
}

// What the State holds: coordinates, scales, how pairs act, temperatures.
static void start_molecule(tali_model *m, tali_model_item *item)
{
    const tal_force_ix me = {item->built};
    const tal_mol_instance *instance = tali_term_instance_at(m->forces, me);
    const tali_model_item *pairs = find_pairs(m, item);
    const double fixman = item->p[TALI_MOLECULE_FIXMAN];
    const double temperature = item->p[TALI_MOLECULE_TEMPERATURE];
    const int seed = item->ref[TALI_MOLECULE_SEED];
    if (!start_motion(m, item, instance)) return;
    tal_status st = TAL_OK;
    for (int s = 0; s < TAL_NUM_MOL_SCALES && st == TAL_OK; ++s) {
        const double scale = item->p[TALI_MOLECULE_SCALES + s];
        if (scale != 1.0) st = tal_mol_set_scale(instance, m->state, (tal_mol_scale)s, scale);
    }
    if (st == TAL_OK && pairs != NULL) {
        const tal_mol_nonbonded set = pairs_of(pairs);
        st = tal_mol_set_nonbonded(instance, m->state, &set);
    }
    if (st == TAL_OK && fixman > 0.0) {
        st = tal_mol_set_fixman_temperature(instance, m->state, fixman);
    }
    if (st == TAL_OK && temperature > 0.0) {
        st = tal_system_realize(m->system, m->state, TAL_STAGE_POSITION);
        if (st == TAL_OK) {
            st = tal_mol_set_random_velocities(instance, m->state, temperature, (uint64_t)seed);
        }
    }
    if (st == TAL_OK && !item->ref[TALI_MOLECULE_ENABLED]) {
        (void)tal_force_set_enabled(m->forces, m->state, me, false);
    }
}

// ---- the rows

#define MOLECULE(element, attributes, checker, text)                                               \
    {                                                                                              \
        .name = (element), .doc = (text), .shared = shared_attributes, .own = (attributes),        \
        .children = TALI_GROUP_MOLECULE_PARTS, .max_children = -1, .check = (checker),             \
        .build = build_molecule, .start = start_molecule,                                          \
        .describe_shared = tali_model_describe_molecule_shared,                                    \
        .describe = tali_model_describe_molecule,                                                  \
        .write_children = tali_model_write_molecule_parts                                          \
    }

const tali_model_row tali_model_molecule_rows[] = {
    MOLECULE("molecule", molecule_attributes, check_molecule,
             "A molecule, or several that interact: atoms, bonds, and how they become bodies."),
    MOLECULE("amber_molecule", amber_attributes, check_amber,
             "The same from files of AMBER, with their own force field. It may have `<bond>`s of "
             "its own bonds, for their mobilities, `<select>`s and `<pairs>`."),
    {.name = NULL}};

const tali_model_row tali_model_molecule_part_rows[] = {
    {.name = "atom", .doc = "An atom. Atoms are counted from 0 on.", .own = atom_attributes},
    {.name = "bond", .doc = "A bond of two atoms.", .own = bond_attributes},
    {.name = "cluster",
     .doc = "Atoms that are one body at the level `rigid_groups`.",
     .own = cluster_attributes},
    {.name = "select",
     .doc = "Another level for some atoms. Later ones win.",
     .own = select_attributes},
    {.name = "pairs",
     .doc = "How pairs of atoms act (talus/molecule/nonbonded.h).",
     .own = pairs_attributes},
    {.name = "stretch", .doc = "k (r - r0)^2, in place of the field's.", .own = length_attributes},
    {.name = "bend", .doc = "k (theta - theta0)^2, likewise.", .own = bend_attributes},
    {.name = "urey_bradley",
     .doc = "k (r - r0)^2 between the ends of a bend, likewise.",
     .own = urey_bradley_attributes},
    {.name = "torsion", .doc = "A function of a dihedral, likewise.", .own = torsion_attributes},
    {.name = "improper",
     .doc = "The same of the neighbors of a center, the third atom.",
     .own = torsion_attributes},
    {.name = NULL}};
