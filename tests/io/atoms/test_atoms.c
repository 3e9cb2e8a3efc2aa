// io/src/atoms: atoms in memory; .pdb and .xyz files.
#include "atoms_text.h"

static const double DEGREE = 0.017453292519943295;

// Numbers of a file with three decimals in Angstrom, divided by ten: correct to round-off.
static const double ROUND = 1e-15;

// Two residues, an ion, a box, a double bond.
static const char pdb[] =
    "HEADER    A TEST\n"
    "CRYST1   20.000   30.000   40.500  90.00  90.00 120.00 P 1           1\n"
    "ATOM      1  N   ALA A   7       1.234  -2.500   3.000  1.00 10.00           N\n"
    "ATOM      2  CA  ALA A   7       2.000   0.000   0.125  0.50 20.00           C\n"
    "ATOM      3 HG11 VAL A   8A     -0.001   0.000   0.000  1.00  0.00           H\n"
    "TER\n"
    "HETATM    4 CA    CA B  -3      10.000  10.000  10.000  1.00  0.00          CA\n"
    "CONECT    1    2    2\n"
    "CONECT    2    1    1    3\n"
    "CONECT    3    2\n"
    "END\n";

// --- in memory ---

START_TEST(atoms_bonds_and_frames_come_back_as_they_were_added)
{
    tal_atoms *atoms = tal_atoms_create(NULL);
    tal_atom atom = tal_atom_default();
    atom.name = "O";
    atom.residue = "HOH";
    atom.chain = "W";
    atom.residue_number = -4;
    atom.element = 8;
    atom.b_factor = 0.25;
    atom.is_hetero = true;
    ck_assert_int_eq(tal_atoms_add(atoms, &atom), TAL_OK);
    atom.name = "H";
    atom.insertion = "B";
    ck_assert_int_eq(tal_atoms_add(atoms, &atom), TAL_OK);
    ck_assert_int_eq(tal_atoms_add_bond(atoms, 1, 0, 3), TAL_OK);
    const tal_vec3 x[2] = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}},
                   v[2] = {{0.5, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    const tal_atoms_frame box = {.time = 2.5, .edges = {1.0, 2.0, 3.0}, .angles = {1.5, 1.6, 1.7}};
    ck_assert_int_eq(tal_atoms_add_frame(atoms, x, NULL, 2, NULL), TAL_OK);
    ck_assert_int_eq(tal_atoms_add_frame(atoms, x, v, 2, &box), TAL_OK);

    ck_assert_int_eq(tal_atoms_num(atoms), 2);
    ck_assert_int_eq(tal_atoms_num_frames(atoms), 2);
    const tal_atom first = tal_atoms_at(atoms, 0), second = tal_atoms_at(atoms, 1);
    ck_assert_str_eq(first.name, "O");
    ck_assert_str_eq(first.insertion, "");
    ck_assert_str_eq(second.insertion, "B");
    ck_assert_str_eq(second.residue, "HOH");
    ck_assert_int_eq(second.residue_number, -4);
    ck_assert_int_eq(second.element, 8);
    ck_assert(second.is_hetero && second.b_factor == 0.25);
    int a, b;
    ck_assert_int_eq(tal_atoms_bond(atoms, 0, &a, &b), 3);
    ck_assert(a == 1 && b == 0);
    ck_assert(!tal_atoms_has_velocities(atoms, 0) && tal_atoms_has_velocities(atoms, 1));
    tal_vec3 out[2];
    ck_assert_int_eq(tal_atoms_get_velocities(atoms, 1, out, 2), TAL_OK);
    ck_assert_int_eq(memcmp(out, v, sizeof v), 0);
    const tal_atoms_frame back = tal_atoms_frame_at(atoms, 1);
    ck_assert_int_eq(memcmp(&back, &box, sizeof box), 0);
    tal_atoms_destroy(atoms);
}

END_TEST

START_TEST(what_atoms_cannot_be_is_refused)
{
    test_record_breaches();
    tal_atoms *atoms = tal_atoms_create(NULL);
    tal_atom atom = tal_atom_default();
    atom.name = "a b";
    test_assert_refused(tal_atoms_add(atoms, &atom), TAL_ERR_BAD_NAME, "its name has a blank");
    atom.name = "a";
    atom.insertion = "AB";
    test_assert_refused(tal_atoms_add(atoms, &atom), TAL_ERR_BAD_NAME, "insertion is too long");
    atom.insertion = "";
    atom.element = 119;
    test_assert_refused(tal_atoms_add(atoms, &atom), TAL_ERR_BAD_VALUE, "element 119");
    atom.element = 0;
    ck_assert_int_eq(tal_atoms_add(atoms, &atom), TAL_OK);
    test_assert_refused(tal_atoms_add_bond(atoms, 0, 0, 1), TAL_ERR_BAD_VALUE, "must be two");
    test_assert_refused(tal_atoms_add_bond(atoms, 0, 1, 1), TAL_ERR_BAD_INDEX, "atoms are 0 to 0");
    const tal_vec3 x = {0.0, (double)NAN, 0.0}, zero = {0.0, 0.0, 0.0};
    test_assert_refused(tal_atoms_add_frame(atoms, &x, NULL, 1, NULL), TAL_ERR_BAD_VALUE, "finite");
    test_assert_refused(tal_atoms_add_frame(atoms, &zero, NULL, 2, NULL), TAL_ERR_BAD_VALUE,
                        "2 positions for 1 atoms");
    const tal_atoms_frame flat = {.edges = {1.0, 1.0, 1.0}, .angles = {2.5, 2.5, 2.5}};
    test_assert_refused(tal_atoms_add_frame(atoms, &zero, NULL, 1, &flat), TAL_ERR_BAD_VALUE,
                        "those of a corner");
    ck_assert_int_eq(tal_atoms_add_frame(atoms, &zero, NULL, 1, NULL), TAL_OK);
    test_assert_refused(tal_atoms_add(atoms, &atom), TAL_ERR_CAPACITY, "before frames");
    tal_vec3 out;
    test_assert_refused(tal_atoms_get_velocities(atoms, 0, &out, 1), TAL_ERR_BAD_VALUE,
                        "no velocities");
    test_assert_refused(tal_atoms_get_positions(atoms, 1, &out, 1), TAL_ERR_BAD_INDEX,
                        "no frame 1");
    tal_atoms_destroy(atoms);
}

END_TEST

START_TEST(formats_go_by_the_ends_of_names)
{
    tal_atoms_format format;
    ck_assert(tal_atoms_format_of("a.b/x.PDB", &format) && format == TAL_ATOMS_PDB);
    ck_assert(tal_atoms_format_of("x.parm7", &format) && format == TAL_ATOMS_PRMTOP);
    ck_assert(!tal_atoms_format_of("x.txt", &format) && !tal_atoms_format_of("pdb", &format));
    tal_atoms *atoms = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_atoms_read_file("x.txt", NULL, &atoms, found), TAL_ERR_FILE);
    ck_assert_ptr_nonnull(strstr(tal_diagnostics_at(found, 0)->message, "does not end with .pdb"));
    tal_diagnostics_clear(found);
    ck_assert_int_eq(tal_atoms_read_file("/nowhere/x.pdb", NULL, &atoms, found), TAL_ERR_FILE);
    ck_assert_int_eq(tal_diagnostics_num_errors(found), 1);
    tal_diagnostics_destroy(found);
}

END_TEST

// --- .pdb ---

START_TEST(a_pdb_file_gives_its_atoms)
{
    tal_atoms *atoms = atoms_of(TAL_ATOMS_PDB, pdb, strlen(pdb), NULL);
    ck_assert_int_eq(tal_atoms_num(atoms), 4);
    const tal_atom hg = tal_atoms_at(atoms, 2), ion = tal_atoms_at(atoms, 3);
    ck_assert_str_eq(hg.name, "HG11");
    ck_assert_str_eq(hg.residue, "VAL");
    ck_assert_str_eq(hg.insertion, "A");
    ck_assert_int_eq(hg.residue_number, 8);
    ck_assert_int_eq(hg.element, 1);
    ck_assert_str_eq(ion.name, "CA");
    ck_assert_str_eq(ion.chain, "B");
    ck_assert_int_eq(ion.residue_number, -3);
    ck_assert_int_eq(ion.element, 20);
    ck_assert(ion.is_hetero && !hg.is_hetero);
    const tal_atom alpha = tal_atoms_at(atoms, 1);
    ck_assert_int_eq(alpha.element, 6);
    ck_assert_double_eq(alpha.occupancy, 0.5);
    ck_assert_double_eq_tol(alpha.b_factor, 0.2, ROUND); // 20 square Angstrom
    tal_vec3 x[4];
    ck_assert_int_eq(tal_atoms_get_positions(atoms, 0, x, 4), TAL_OK);
    test_assert_v3_near(x[0], tal_v3(0.1234, -0.25, 0.3), ROUND);
    const tal_atoms_frame frame = tal_atoms_frame_at(atoms, 0);
    ck_assert(isnan(frame.time));
    test_assert_v3_near(frame.edges, tal_v3(2.0, 3.0, 4.05), ROUND);
    test_assert_v3_near(frame.angles, tal_v3(90.0 * DEGREE, 90.0 * DEGREE, 120.0 * DEGREE), ROUND);
    // said by both atoms: 1-2 twice by each, 2-3 once by each
    ck_assert_int_eq(tal_atoms_num_bonds(atoms), 2);
    int a, b;
    ck_assert_int_eq(tal_atoms_bond(atoms, 0, &a, &b), 2);
    ck_assert(a == 0 && b == 1);
    ck_assert_int_eq(tal_atoms_bond(atoms, 1, &a, &b), 1);
    tal_atoms_destroy(atoms);
}

END_TEST

START_TEST(what_is_written_as_pdb_and_read_is_written_again_to_the_byte)
{
    static char one[TEXT_ROOM], two[TEXT_ROOM];
    tal_atoms *atoms = atoms_of(TAL_ATOMS_PDB, pdb, strlen(pdb), NULL);
    const size_t length = text_of(atoms, TAL_ATOMS_PDB, one);
    // all lines but those of the header and of bonds are the same
    const char *begin = strchr(pdb, '\n') + 1;
    ck_assert_int_eq(memcmp(one, begin, (size_t)(strstr(pdb, "CONECT") - begin)), 0);
    tal_atoms *again = atoms_of(TAL_ATOMS_PDB, one, length, NULL);
    ck_assert_uint_eq(text_of(again, TAL_ATOMS_PDB, two), length);
    ck_assert_str_eq(one, two);
    tal_atoms_destroy(again);
    tal_atoms_destroy(atoms);
}

END_TEST

START_TEST(numbers_too_large_for_their_columns_are_in_hybrid_36)
{
    // the first and the last of each kind: 4 and 5 columns
    static const struct {
        const char *text;
        int value;
    } residues[] = {{"9999", 9999},    {"A000", 10000},   {"A001", 10001}, {"ZZZZ", 1223055},
                    {"a000", 1223056}, {"zzzz", 2436111}, {"-999", -999}};

    static char text[TEXT_ROOM];
    for (size_t i = 0; i < sizeof residues / sizeof *residues; ++i) {
        char line[128];
        (void)snprintf(line, sizeof line,
                       "ATOM  A0000  C   ALA A%s       1.000   1.000   1.000  1.00  0.00"
                       "           C\n",
                       residues[i].text);
        tal_atoms *atoms = atoms_of(TAL_ATOMS_PDB, line, strlen(line), NULL);
        ck_assert_int_eq(tal_atoms_at(atoms, 0).residue_number, residues[i].value);
        (void)text_of(atoms, TAL_ATOMS_PDB, text);
        ck_assert_int_eq(memcmp(text + 22, residues[i].text, 4), 0);
        tal_atoms_destroy(atoms);
    }
}

END_TEST

START_TEST(of_alternate_places_the_first_or_the_likeliest_is_read)
{
    static const char text[] =
        "ATOM      1  CA AALA A   7       1.000   0.000   0.000  0.40  0.00           C\n"
        "ATOM      2  CA BALA A   7       2.000   0.000   0.000  0.60  0.00           C\n"
        "ATOM      3  CB  ALA A   7       3.000   0.000   0.000  1.00  0.00           C\n"
        "ATOM      4  CA AALA A   8       4.000   0.000   0.000  0.70  0.00           C\n"
        "ATOM      5  CA BALA A   8       5.000   0.000   0.000  0.30  0.00           C\n"
        "CONECT    2    3\n";
    for (int highest = 0; highest < 2; ++highest) {
        tal_atoms_options options = tal_atoms_options_default();
        options.highest_occupancy = highest == 1;
        tal_atoms *atoms = atoms_of(TAL_ATOMS_PDB, text, strlen(text), &options);
        tal_vec3 x[3];
        ck_assert_int_eq(tal_atoms_num(atoms), 3);
        ck_assert_int_eq(tal_atoms_get_positions(atoms, 0, x, 3), TAL_OK);
        ck_assert_double_eq_tol(x[0].x, highest == 1 ? 0.2 : 0.1, ROUND);
        ck_assert_double_eq_tol(x[2].x, 0.4, ROUND);
        ck_assert_double_eq(tal_atoms_at(atoms, 0).occupancy, highest == 1 ? 0.6 : 0.4);
        int a, b; // the bond is one of the atom, whichever place has its number
        ck_assert_int_eq(tal_atoms_bond(atoms, 0, &a, &b), 1);
        ck_assert(a == 0 && b == 1);
        tal_atoms_destroy(atoms);
    }
}

END_TEST

START_TEST(models_are_frames_and_so_is_what_end_separates)
{
    static const char *const marks[][3] = {
        {"MODEL        1\n", "ENDMDL\nMODEL        2\n", "ENDMDL\n"}, {"", "END\n", "END\n"}};
    static char text[1024], out[TEXT_ROOM];
    for (int k = 0; k < 2; ++k) {
        (void)snprintf(
            text, sizeof text, "%s%s%s%s%s", marks[k][0],
            "ATOM      1  C   ALA A   1       1.000   0.000   0.000  1.00  0.00           C\n",
            marks[k][1],
            "ATOM      1  C   ALA A   1       2.000   0.000   0.000  1.00  0.00           C\n",
            marks[k][2]);
        tal_atoms *atoms = atoms_of(TAL_ATOMS_PDB, text, strlen(text), NULL);
        ck_assert_int_eq(tal_atoms_num(atoms), 1);
        ck_assert_int_eq(tal_atoms_num_frames(atoms), 2);
        tal_vec3 x;
        ck_assert_int_eq(tal_atoms_get_positions(atoms, 1, &x, 1), TAL_OK);
        ck_assert_double_eq_tol(x.x, 0.2, ROUND);
        tal_atoms *again = atoms_of(TAL_ATOMS_PDB, out, text_of(atoms, TAL_ATOMS_PDB, out), NULL);
        ck_assert_int_eq(tal_atoms_num_frames(again), 2);
        assert_same_places(atoms, again, 1, 0.0);
        tal_atoms_destroy(again);
        tal_atoms_destroy(atoms);
    }
}

END_TEST

#define ATOM_LINE "ATOM      1  C   ALA A   1       1.000   0.000   0.000  1.00  0.00           C\n"

START_TEST(mistakes_in_pdb_files_are_named_with_line_and_column)
{
    static const struct {
        const char *text, *part;
        int line, column;
    } mistakes[] = {
        {"", "there are no atoms", 0, 0},
        {"ATOM      1  C   ALA A   1       1.x00   0.000   0.000\n", "x: '1.x00' is not a finite",
         1, 34},
        {"ATOM      1  C   ALA A   1       1.000           0.000\n", "y is missing: columns 39", 1,
         39},
        {"ATOM      1  C   ALA A   1       1.000   0.0\n", "z is missing", 1, 47},
        {ATOM_LINE "ATOM      2  C   ALA A  1x       1.000   0.000   0.000\n",
         "'1x' is not the number of a residue", 2, 23},
        {"ATOM      1      ALA A   1       1.000   0.000   0.000\n", "name of the atom is missing",
         1, 13},
        {"MODEL        1\n" ATOM_LINE, "no ENDMDL", 0, 0},
        {"MODEL        1\nENDMDL\n", "model 1 has no atoms", 2, 0},
        {"MODEL        1\n" ATOM_LINE "ENDMDL\n" ATOM_LINE, "outside of all models", 4, 0},
        {"MODEL        1\n" ATOM_LINE "ENDMDL\nMODEL        2\n" ATOM_LINE ATOM_LINE "ENDMDL\n",
         "model 2 has more than the 1 atoms", 6, 0},
        {"CRYST1   20.000  -30.000   40.500  90.00  90.00 120.00\n" ATOM_LINE,
         "edges of a box must be positive", 1, 0},
        {"CRYST1   20.000   30.000   40.500  90.00  20.00  20.00\n" ATOM_LINE,
         "angles of a box must be those of a corner", 1, 0},
        {ATOM_LINE "CONECT    1  +*\n", "'+*' is not the number of an atom", 2, 12},
        {"ATOM      1  CA AALA A   7       1.000   0.000   0.000  0.40  0.00           C\n"
         "ATOM      1  CA AALA A   7       1.000   0.000   0.000  0.40  0.00           C\n",
         "atom CA of residue 7 is there twice", 2, 0}};

    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; ++i) {
        assert_refused(TAL_ATOMS_PDB, mistakes[i].text, mistakes[i].line, mistakes[i].column,
                       mistakes[i].part);
    }
    static const char unknown[] = ATOM_LINE "CONECT    1    9\n";
    assert_found(TAL_ATOMS_PDB, unknown, strlen(unknown), TAL_OK, 2, 12, "there is no atom 9");
    static const char zero[] = "ATOM\0";
    assert_found(TAL_ATOMS_PDB, zero, sizeof zero, TAL_ERR_FILE, 0, 0, "zero bytes");
}

END_TEST

START_TEST(what_does_not_fit_the_columns_of_pdb_is_refused)
{
    static const struct {
        const char *name, *residue, *chain, *part;
        double x;
        int number;
    } wrong[] = {{"C", "ALA", "A", "its position", 1000.0, 1},
                 {"CARBON", "ALA", "A", "4 letters of a name", 0.0, 1},
                 {"C", "ALANI", "A", "4 letters of a residue", 0.0, 1},
                 {"C", "ALA", "AB", "1 letter of a chain", 0.0, 1},
                 {"C", "ALA", "A", "number of the residue", 0.0, 2436112},
                 {"", "ALA", "A", "without a name", 0.0, 1}};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        tal_atoms *atoms = tal_atoms_create(NULL);
        tal_atom atom = tal_atom_default();
        atom.name = wrong[i].name;
        atom.residue = wrong[i].residue;
        atom.chain = wrong[i].chain;
        atom.residue_number = wrong[i].number;
        const tal_vec3 x = {wrong[i].x, 0.0, 0.0};
        ck_assert_int_eq(tal_atoms_add(atoms, &atom), TAL_OK);
        ck_assert_int_eq(tal_atoms_add_frame(atoms, &x, NULL, 1, NULL), TAL_OK);
        size_t length;
        tal_error err;
        ck_assert_int_eq(tal_atoms_write_memory(atoms, TAL_ATOMS_PDB, NULL, 0, &length, &err),
                         TAL_ERR_BAD_VALUE);
        ck_assert_msg(strstr(err.message, wrong[i].part) != NULL, "%s", err.message);
        tal_atoms_destroy(atoms);
    }
}

END_TEST

// --- .xyz ---

START_TEST(an_xyz_file_gives_frames_boxes_and_velocities)
{
    static const char text[] = "2\na comment\nC 1 2 3\nH -1.5 0 1e-3 extra words\n"
                               "2\nLattice=\"10 0 0 0 20 0 0 0 30\" "
                               "Properties=species:S:1:pos:R:3:vel:R:3 Time=2.5\n"
                               "C 1 2 3 0.5 0 0\n1 4 5 6 0 0 -0.5\n\n";
    static char out[TEXT_ROOM];
    tal_atoms *atoms = atoms_of(TAL_ATOMS_XYZ, text, strlen(text), NULL);
    ck_assert_int_eq(tal_atoms_num_frames(atoms), 2);
    ck_assert_int_eq(tal_atoms_at(atoms, 0).element, 6);
    ck_assert_str_eq(tal_atoms_at(atoms, 1).name, "H");
    ck_assert(!tal_atoms_has_velocities(atoms, 0) && tal_atoms_has_velocities(atoms, 1));
    const tal_atoms_frame frame = tal_atoms_frame_at(atoms, 1);
    ck_assert_double_eq(frame.time, 2.5);
    test_assert_v3_near(frame.edges, tal_v3(1.0, 2.0, 3.0), ROUND);
    tal_vec3 v[2];
    ck_assert_int_eq(tal_atoms_get_velocities(atoms, 1, v, 2), TAL_OK);
    test_assert_v3_near(v[1], tal_v3(0.0, 0.0, -0.05), ROUND);
    tal_atoms *again = atoms_of(TAL_ATOMS_XYZ, out, text_of(atoms, TAL_ATOMS_XYZ, out), NULL);
    assert_same_places(atoms, again, 1, ROUND);
    test_assert_v3_near(tal_atoms_frame_at(again, 1).edges, frame.edges, ROUND);
    ck_assert_double_eq(tal_atoms_frame_at(again, 1).time, 2.5);
    tal_atoms_destroy(again);
    tal_atoms_destroy(atoms);
}

END_TEST

START_TEST(an_oblique_box_survives_xyz_and_pdb)
{
    static char text[TEXT_ROOM];
    tal_atoms *atoms = tal_atoms_create(NULL);
    tal_atom atom = tal_atom_default();
    atom.name = "Ar";
    atom.element = 18;
    const tal_vec3 x = {0.1, 0.2, 0.3};
    const tal_atoms_frame box = {.edges = {2.0, 2.5, 3.0},
                                 .angles = {70.0 * DEGREE, 80.0 * DEGREE, 100.0 * DEGREE}};
    ck_assert_int_eq(tal_atoms_add(atoms, &atom), TAL_OK);
    ck_assert_int_eq(tal_atoms_add_frame(atoms, &x, NULL, 1, &box), TAL_OK);
    // a few roundings of numbers of order 1, in cosines and back
    static const double tolerances[] = {1e-14, 1e-14};
    static const tal_atoms_format formats[] = {TAL_ATOMS_XYZ, TAL_ATOMS_PDB};
    for (int k = 0; k < 2; ++k) {
        tal_atoms *again = atoms_of(formats[k], text, text_of(atoms, formats[k], text), NULL);
        const tal_atoms_frame back = tal_atoms_frame_at(again, 0);
        test_assert_v3_near(back.edges, box.edges, tolerances[k]);
        test_assert_v3_near(back.angles, box.angles, tolerances[k]);
        tal_atoms_destroy(again);
    }
    tal_atoms_destroy(atoms);
}

END_TEST

START_TEST(mistakes_in_xyz_files_are_named_with_line_and_column)
{
    static const struct {
        const char *text, *part;
        int line, column;
    } mistakes[] = {{"", "there are no atoms", 0, 0},
                    {"two\n", "'two' is not a number of atoms", 1, 1},
                    {"-1\n", "'-1' is not a number of atoms", 1, 1},
                    {"2\n\nC 1 2 3\n", "ends at atom 2 of 2", 0, 0},
                    {"1\n", "before the comment", 0, 0},
                    {"1\n\nC 1 2\n", "atom 1 has 3 columns; there must be 4", 3, 0},
                    {"1\n\nC 1 2 inf\n", "z: 'inf' is not a finite number", 3, 7},
                    {"1\n\nC 1 2 3\n1\n\nN 1 2 3\n", "atom 1 is 'N', but C in the first", 6, 1},
                    {"1\n\nC 1 2 3\n2\n\n", "there are 2 atoms, but 1 in the first", 4, 1},
                    {"1\nLattice=\"1 1 0 0 1 0 0 0 1\"\nC 1 2 3\n", "must be along x", 2, 10},
                    {"1\nLattice=\"1 0 0\"\nC 1 2 3\n", "Lattice: '' is not a finite", 2, -1},
                    {"1\nProperties=pos:R:3\n1 2 3\n", "there must be species:S:1", 2, 0},
                    {"1\nProperties=species:S:0\n1 2 3\n", "name, type and number", 2, 12}};

    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; ++i) {
        assert_refused(TAL_ATOMS_XYZ, mistakes[i].text, mistakes[i].line, mistakes[i].column,
                       mistakes[i].part);
    }
}

END_TEST

START_TEST(running_out_of_memory_is_reported_and_nothing_is_kept)
{
    static const char xyz[] = "1\nProperties=species:S:1:pos:R:3:vel:R:3\nC 1 2 3 4 5 6\n";
    try_all_failures(TAL_ATOMS_PDB, pdb, strlen(pdb));
    try_all_failures(TAL_ATOMS_XYZ, xyz, strlen(xyz));
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("atoms");
    TCase *tc = tcase_create("atoms");
    tcase_add_test(tc, atoms_bonds_and_frames_come_back_as_they_were_added);
    tcase_add_test(tc, what_atoms_cannot_be_is_refused);
    tcase_add_test(tc, formats_go_by_the_ends_of_names);
    tcase_add_test(tc, a_pdb_file_gives_its_atoms);
    tcase_add_test(tc, what_is_written_as_pdb_and_read_is_written_again_to_the_byte);
    tcase_add_test(tc, numbers_too_large_for_their_columns_are_in_hybrid_36);
    tcase_add_test(tc, of_alternate_places_the_first_or_the_likeliest_is_read);
    tcase_add_test(tc, models_are_frames_and_so_is_what_end_separates);
    tcase_add_test(tc, mistakes_in_pdb_files_are_named_with_line_and_column);
    tcase_add_test(tc, what_does_not_fit_the_columns_of_pdb_is_refused);
    tcase_add_test(tc, an_xyz_file_gives_frames_boxes_and_velocities);
    tcase_add_test(tc, an_oblique_box_survives_xyz_and_pdb);
    tcase_add_test(tc, mistakes_in_xyz_files_are_named_with_line_and_column);
    tcase_add_test(tc, running_out_of_memory_is_reported_and_nothing_is_kept);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
