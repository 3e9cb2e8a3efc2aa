// io/src/atoms: topologies of AMBER. tests/io/atoms/formamide.prmtop is one of nine atoms, of
// formamide and water, with parameters of our own.
#include "atoms_text.h"

#include <talus/talus.h>

#include <stdlib.h>

#define FOLDER TALUS_SOURCE_DIR "/tests/io/atoms/"

static char *load(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    char *text = malloc(TEXT_ROOM);
    *size = fread(text, 1, TEXT_ROOM - 1, file);
    ck_assert_int_eq(fclose(file), 0);
    text[*size] = '\0';
    return text;
}

static tal_prmtop read_formamide(tal_atoms **places)
{
    tal_prmtop made;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    tal_prmtop_options options = tal_prmtop_options_default();
    ck_assert_int_eq(tal_atoms_read_file(FOLDER "formamide.inpcrd", NULL, places, found), TAL_OK);
    options.places = *places;
    const tal_status st = tal_prmtop_read_file(FOLDER "formamide.prmtop", &options, &made, found);
    ck_assert_msg(st == TAL_OK, "%s",
                  tal_diagnostics_num(found) > 0 ? tal_diagnostics_at(found, 0)->message : "");
    ck_assert_int_eq(tal_diagnostics_num(found), 0);
    tal_diagnostics_destroy(found);
    return made;
}

START_TEST(a_topology_gives_names_residues_elements_and_bonds)
{
    tal_atoms *places;
    tal_prmtop made = read_formamide(&places);
    ck_assert_int_eq(tal_atoms_num(made.atoms), 9);
    ck_assert_int_eq(tal_atoms_num_bonds(made.atoms), 8);
    const tal_atom nitrogen = tal_atoms_at(made.atoms, 3), water = tal_atoms_at(made.atoms, 6);
    ck_assert_str_eq(nitrogen.name, "N");
    ck_assert_str_eq(nitrogen.residue, "FOR");
    ck_assert_int_eq(nitrogen.element, 7);
    ck_assert_str_eq(water.residue, "WAT");
    ck_assert_int_eq(water.residue_number, 2);
    ck_assert_int_eq(tal_mol_num_atoms(made.mol), 9);
    ck_assert_int_eq(tal_mol_num_parts(made.mol), 2);
    ck_assert_double_eq(tal_mol_atom_mass(made.mol, 3), 14.01);
    // -0.8 e, of which the file has nine digits
    ck_assert_double_eq_tol(tal_mol_atom_charge(made.mol, 3), -0.8, 1e-9);
    ck_assert_double_eq_tol(tal_mol_atom_position(made.mol, 3).y, -0.116, 1e-15);
    tal_prmtop_destroy(&made);
    tal_atoms_destroy(places);
}

END_TEST

START_TEST(energies_are_those_of_the_formulas)
{
    tal_atoms *places;
    tal_prmtop made = read_formamide(&places);
    tal_error err;
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_mol_granularity how = tal_mol_granularity_default();
    how.level = TAL_MOL_CARTESIAN;
    const tal_mol_instance *mol = tal_mol_add(system, matter, forces, "f", made.mol, &how, NULL);
    tal_state *state = NULL;
    ck_assert_msg(tal_system_realize_topology(system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(system, &state, &err), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_POSITION), TAL_OK);
    tal_mol_energy e;
    ck_assert_int_eq(tal_mol_calc_energy(mol, state, &e), TAL_OK);
    // computed apart, in kcal/mol and Angstrom, from the digits of the file; each energy is on a
    // grid of 1.5e-11 kJ/mol, terms are some ten, and round-off of 200 kJ/mol is 3e-14
    static const double tolerance = 2e-10;
    ck_assert_double_eq_tol(e.stretch, 4.42726080034414, tolerance);
    ck_assert_double_eq_tol(e.bend, 0.2924536404731306, tolerance);
    ck_assert_double_eq_tol(e.torsion, 17.913570553127155, tolerance);
    ck_assert_double_eq_tol(e.improper, 2.647014154659183, tolerance);
    ck_assert_double_eq_tol(e.vdw, 12.892126896978057, tolerance);
    ck_assert_double_eq_tol(e.vdw14, -0.14707141282282232, tolerance);
    ck_assert_double_eq_tol(e.coulomb, -43.360925774352644, tolerance);
    ck_assert_double_eq_tol(e.coulomb14, -175.92518954483998, tolerance);
    tal_state_destroy(state);
    tal_system_destroy(system);
    tal_prmtop_destroy(&made);
    tal_atoms_destroy(places);
}

END_TEST

// --- mistakes ---

// The text with the first `from` replaced by `to`, of the same length; NULL `from`: cut at `to`.
static void assert_mistake(const char *text, size_t size, const char *from, const char *to,
                           const char *part, bool has_line)
{
    char *changed = malloc(size + 1);
    memcpy(changed, text, size + 1);
    char *where = strstr(changed, from);
    ck_assert_msg(where != NULL, "'%s' is not there", from);
    ck_assert_uint_eq(strlen(from), strlen(to));
    memcpy(where, to, strlen(to));
    tal_prmtop made;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_prmtop_read_memory("m", changed, size, NULL, &made, found);
    ck_assert_int_eq(st, TAL_ERR_FILE);
    ck_assert(made.mol == NULL && made.field == NULL && made.atoms == NULL);
    ck_assert_int_ge(tal_diagnostics_num(found), 1);
    const tal_diagnostic *first = tal_diagnostics_at(found, 0);
    ck_assert_msg(strstr(first->message, part) != NULL, "'%s' lacks '%s'", first->message, part);
    ck_assert_msg((first->line > 0) == has_line, "line %d: %s", first->line, first->message);
    tal_diagnostics_destroy(found);
    free(changed);
}

START_TEST(mistakes_in_topologies_are_named_with_sections_and_lines)
{
    static const struct {
        const char *from, *to, *part;
        bool has_line;
    } mistakes[] = {
        {"%VERSION", "%VERSIOM", "does not begin with %VERSION", false},
        {"%FLAG POINTERS", "%FLAG POINTERZ", "section POINTERS: it is missing", false},
        {"%FORMAT(20a4)", "%FORMAT(20q4)", "not a format like", true},
        {"%FORMAT(10I8)", "%FORNAT(10I8)", "section POINTERS: its %FORMAT is missing", true},
        {"       9       7       6", "      -9       7       6", "NATOM is -9", true},
        {"       9       7       6", "      99       7       6", "there must be 99 values", true},
        {"       9       7       6", "       9       0       6", "there is no type 1", true},
        {"       9       7       6", "       9       7 1000000", "there are fewer", true},
        {"  1.20100000E+01", " -1.20100000E+01", "mass of an atom may not be negative", true},
        {"  1.60000000E+01", "  1.6000000xE+01", "section MASS, value 2", true},
        {"       6       8       1", "     600       8       1", "600 is not an element", true},
        {"%FLAG CHARGE", "%FLAG CHARGF", "section CHARGE: it is missing", false},
        {"%FLAG TITLE ", "%FLAG CTITLE", "topology of CHAMBER", true},
        {"%FLAG SCREEN        ", "%FLAG POLARIZABILITY", "polarizabilities are not", true},
        {"%FLAG SCREEN    ", "%FLAG CMAP_COUNT", "CMAP terms are not computed", true},
        {"1.20000000E+00  1.20000000E+00  1.20000000E+00  1.20000000E+00",
         "1.20000000E+00  1.20000000E+00  1.20000000E+00  1.00000000E+00", "different factors",
         true},
        {"C   O   HC  ", "C   O   H C ", "'H C' is not the name", true}};

    size_t size;
    char *text = load(FOLDER "formamide.prmtop", &size);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; ++i) {
        assert_mistake(text, size, mistakes[i].from, mistakes[i].to, mistakes[i].part,
                       mistakes[i].has_line);
    }
    free(text);
}

END_TEST

// The line behind a section's format.
static char *values_of(char *text, const char *section)
{
    char *at = strstr(text, section);
    ck_assert_ptr_nonnull(at);
    at = strstr(at, "%FORMAT");
    return strchr(at, '\n') + 1;
}

START_TEST(pairs_that_do_not_follow_from_the_bonds_are_refused)
{
    static const struct {
        const char *section, *value, *part;
    } changes[] = {{"EXCLUDED_ATOMS_LIST", "       9", "atoms 1 and 9 do not interact"},
                   {"EXCLUDED_ATOMS_LIST", "      -1", "do not fit the numbers"},
                   {"NUMBER_EXCLUDED_ATOMS", "      50", "more than three bonds apart"},
                   {"DIHEDRALS_INC_HYDROGEN", "       9", "is twice in one term"},
                   {"BONDS_INC_HYDROGEN", "       1", "1 is not three times the number"},
                   {"BONDS_WITHOUT_HYDROGEN", "      27", "27 is not three times the number"},
                   {"NONBONDED_PARM_INDEX", "      99", "99 is not the number of a pair"},
                   {"LENNARD_JONES_ACOEF", "           -1.00", "A and B that are not negative"},
                   {"BOND_FORCE_CONSTANT", "           -1.00", "neither may be negative"},
                   {"ANGLE_EQUIL_VALUE", "            3.50", "at most 3.14159"},
                   {"DIHEDRAL_PERIODICITY", "            2.50", "2.5 is not a whole number"},
                   {"RESIDUE_POINTER", "       x", "'x' is not a whole number"}};

    size_t size;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; ++i) {
        char *text = load(FOLDER "formamide.prmtop", &size);
        memcpy(values_of(text, changes[i].section), changes[i].value, strlen(changes[i].value));
        tal_prmtop made;
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        ck_assert_int_eq(tal_prmtop_read_memory("m", text, size, NULL, &made, found), TAL_ERR_FILE);
        const tal_diagnostic *first = tal_diagnostics_at(found, 0);
        ck_assert_msg(strstr(first->message, changes[i].part) != NULL, "'%s' lacks '%s'",
                      first->message, changes[i].part);
        tal_diagnostics_destroy(found);
        free(text);
    }
}

END_TEST

START_TEST(a_topology_that_was_cut_off_is_refused)
{
    size_t size;
    char *text = load(FOLDER "formamide.prmtop", &size);
    const size_t needed = (size_t)(strstr(text, "%FLAG AMBER_ATOM_TYPE") - text);
    for (size_t cut = 0; cut + 82 < needed; cut += 37) {
        tal_prmtop made;
        const tal_status st = tal_prmtop_read_memory("m", text, cut, NULL, &made, NULL);
        ck_assert_msg(st == TAL_ERR_FILE, "cut at %zu of %zu", cut, needed);
        ck_assert_ptr_null(made.mol);
    }
    free(text);
}

END_TEST

START_TEST(positions_must_be_of_as_many_atoms)
{
    static const char xyz[] = "1\n\nAr 0 0 0\n";
    size_t size;
    char *text = load(FOLDER "formamide.prmtop", &size);
    tal_atoms *one = atoms_of(TAL_ATOMS_XYZ, xyz, strlen(xyz), NULL);
    tal_prmtop_options options = tal_prmtop_options_default();
    options.places = one;
    tal_prmtop made;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_prmtop_read_memory("m", text, size, &options, &made, found), TAL_ERR_FILE);
    ck_assert_ptr_nonnull(strstr(tal_diagnostics_at(found, 0)->message,
                                 "the topology has 9 atoms, and the file of their positions 1"));
    tal_diagnostics_destroy(found);
    test_record_breaches();
    options.coulomb_constant = 0.0;
    test_assert_refused(tal_prmtop_read_memory("m", text, size, &options, &made, NULL),
                        TAL_ERR_BAD_VALUE, "it must be positive");
    tal_atoms_destroy(one);
    free(text);
}

END_TEST

START_TEST(running_out_of_memory_is_reported_and_nothing_is_kept)
{
    size_t size;
    char *text = load(FOLDER "formamide.prmtop", &size);
    for (int n = 1;; ++n) {
        test_heap heap = {.refuse_at = n};
        tal_prmtop_options options = tal_prmtop_options_default();
        options.allocator = test_heap_allocator(&heap);
        tal_prmtop made;
        const tal_status st = tal_prmtop_read_memory("m", text, size, &options, &made, NULL);
        if (st == TAL_OK) test_assert_never_refused(&heap);
        if (st != TAL_OK) ck_assert_int_eq(st, TAL_ERR_NO_MEMORY);
        tal_prmtop_destroy(&made);
        ck_assert_int_eq(heap.live, 0);
        if (st == TAL_OK) break;
    }
    try_all_failures(TAL_ATOMS_PRMTOP, text, size);
    free(text);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("prmtop");
    TCase *tc = tcase_create("prmtop");
    tcase_add_test(tc, a_topology_gives_names_residues_elements_and_bonds);
    tcase_add_test(tc, energies_are_those_of_the_formulas);
    tcase_add_test(tc, mistakes_in_topologies_are_named_with_sections_and_lines);
    tcase_add_test(tc, pairs_that_do_not_follow_from_the_bonds_are_refused);
    tcase_add_test(tc, a_topology_that_was_cut_off_is_refused);
    tcase_add_test(tc, positions_must_be_of_as_many_atoms);
    tcase_add_test(tc, running_out_of_memory_is_reported_and_nothing_is_kept);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
