// io/src/atoms/atoms_cif.c: mmCIF files.
#include "atoms_text.h"

static const double DEGREE = 0.017453292519943295;

#define ITEMS                                                                                      \
    "_atom_site.group_PDB\n_atom_site.type_symbol\n_atom_site.label_atom_id\n"                     \
    "_atom_site.label_alt_id\n_atom_site.label_comp_id\n_atom_site.auth_asym_id\n"                 \
    "_atom_site.auth_seq_id\n_atom_site.pdbx_PDB_ins_code\n_atom_site.Cartn_x\n"                   \
    "_atom_site.Cartn_y\n_atom_site.Cartn_z\n_atom_site.occupancy\n"                               \
    "_atom_site.B_iso_or_equiv\n_atom_site.pdbx_PDB_model_num\n"

static const char cif[] = "# a comment\ndata_TEST\n"
                          "_cell.length_a 20.0 _cell.length_b 30.0\n_cell.length_c 40.0\n"
                          "_cell.angle_alpha 90 _cell.angle_beta 90 _cell.angle_gamma 120\n"
                          "_entry.title\n;a text of several lines\nloop_ 'quoted\n;\n"
                          "_struct_conn.conn_type_id disulf\n"
                          "_struct_conn.ptnr1_auth_asym_id A _struct_conn.ptnr1_auth_seq_id 1\n"
                          "_struct_conn.ptnr1_label_atom_id SG _struct_conn.ptnr1_symmetry 1_555\n"
                          "_struct_conn.ptnr2_auth_asym_id A _struct_conn.ptnr2_auth_seq_id 2\n"
                          "_struct_conn.ptnr2_label_atom_id \"O5'\"\n"
                          "_struct_conn.ptnr2_symmetry 1_555\n"
                          "loop_\n_other.id\n_other.name\n1 'a \"b' 2 \"it's\"\n"
                          "LOOP_\n" ITEMS "ATOM S SG . CYS A 1 ? 1.0 2.0 3.0 1.0 10.0 1\n"
                          "HETATM O \"O5'\" . LIG A 2 B -1.5 0 1e-1 0.5 . 1\n"
                          "ATOM S SG . CYS A 1 ? 1.5 2.0 3.0 1.0 10.0 2\n"
                          "HETATM O 'O5'' . LIG A 2 B -1.5 0 1e-1 0.5 . 2\n#\n";

START_TEST(an_mmcif_file_gives_atoms_models_the_cell_and_connections)
{
    char text[sizeof cif];
    memcpy(text, cif, sizeof cif);
    // the partner of the disulfide is in residue 2B
    tal_atoms *atoms = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(
        tal_atoms_read_memory(TAL_ATOMS_CIF, "m", text, strlen(text), NULL, &atoms, found), TAL_OK);
    ck_assert_int_eq(tal_diagnostics_num(found), 1);
    ck_assert_ptr_nonnull(
        strstr(tal_diagnostics_at(found, 0)->message, "O5' of residue 2, which is not there"));
    tal_diagnostics_destroy(found);
    ck_assert_int_eq(tal_atoms_num(atoms), 2);
    ck_assert_int_eq(tal_atoms_num_frames(atoms), 2);
    const tal_atom sulfur = tal_atoms_at(atoms, 0), oxygen = tal_atoms_at(atoms, 1);
    ck_assert_int_eq(sulfur.element, 16);
    ck_assert_str_eq(sulfur.insertion, "");
    ck_assert_double_eq_tol(sulfur.b_factor, 0.1, 1e-15);
    ck_assert_str_eq(oxygen.name, "O5'");
    ck_assert_str_eq(oxygen.insertion, "B");
    ck_assert(oxygen.is_hetero && oxygen.b_factor == 0.0 && oxygen.occupancy == 0.5);
    tal_vec3 x[2];
    ck_assert_int_eq(tal_atoms_get_positions(atoms, 1, x, 2), TAL_OK);
    test_assert_v3_near(x[0], tal_v3(0.15, 0.2, 0.3), 1e-15);
    test_assert_v3_near(x[1], tal_v3(-0.15, 0.0, 0.01), 1e-15);
    const tal_atoms_frame frame = tal_atoms_frame_at(atoms, 1);
    test_assert_v3_near(frame.edges, tal_v3(2.0, 3.0, 4.0), 1e-15);
    ck_assert_double_eq_tol(frame.angles.z, 120.0 * DEGREE, 1e-15);
    tal_atoms_destroy(atoms);
}

END_TEST

// Words of the format are values where they are quoted, by either quote or by semicolons.
START_TEST(quoted_words_of_the_format_are_values)
{
    static const char *const values[] = {"'loop_'",         "\"data_x\"",   "'_other.c'",
                                         "\n;loop_\n;",     "\n;data_x\n;", "\n;_other.c\n;",
                                         "\n;_other.c 1\n;"};
    for (size_t k = 0; k < sizeof values / sizeof *values; ++k) {
        char text[2048];
        (void)snprintf(text, sizeof text,
                       "data_x\n_entry.title %s\nloop_\n_other.a\n_other.b\n1 %s\n%s 2\n"
                       "loop_\n" ITEMS "ATOM S SG . CYS A 1 ? 1.0 2.0 3.0 1.0 10.0 1\n",
                       values[k], values[k], values[k]);
        tal_atoms *atoms = NULL;
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        const tal_status st =
            tal_atoms_read_memory(TAL_ATOMS_CIF, "m", text, strlen(text), NULL, &atoms, found);
        ck_assert_msg(st == TAL_OK && tal_diagnostics_num(found) == 0, "%s: %s", values[k],
                      tal_diagnostics_num(found) > 0 ? tal_diagnostics_at(found, 0)->message : "");
        ck_assert_int_eq(tal_atoms_num(atoms), 1);
        tal_diagnostics_destroy(found);
        tal_atoms_destroy(atoms);
    }
}

END_TEST

START_TEST(connections_are_bonds_unless_they_leave_the_asymmetric_unit)
{
    static const char *const rows[] = {
        "disulf A 1 SG 1_555 A 2 SG 1_555 ?\n", "covale A 1 SG 1_555 A 2 SG 1_555 doub\n",
        "covale A 1 SG 1_555 A 2 SG 2_655 ?\n", "hydrog A 1 SG 1_555 A 2 SG 1_555 ?\n"};
    static const int orders[] = {1, 2, 0, 0};
    for (int k = 0; k < 4; ++k) {
        char text[2048];
        (void)snprintf(text, sizeof text,
                       "data_x\nloop_\n_struct_conn.conn_type_id\n_struct_conn.ptnr1_auth_asym_id\n"
                       "_struct_conn.ptnr1_auth_seq_id\n_struct_conn.ptnr1_label_atom_id\n"
                       "_struct_conn.ptnr1_symmetry\n_struct_conn.ptnr2_auth_asym_id\n"
                       "_struct_conn.ptnr2_auth_seq_id\n_struct_conn.ptnr2_label_atom_id\n"
                       "_struct_conn.ptnr2_symmetry\n_struct_conn.pdbx_value_order\n%s"
                       "loop_\n" ITEMS "ATOM S SG . CYS A 1 ? 1.0 2.0 3.0 1.0 10.0 1\n"
                       "ATOM S SG . CYS A 2 ? 1.0 2.0 5.0 1.0 10.0 1\n",
                       rows[k]);
        tal_atoms *atoms = atoms_of(TAL_ATOMS_CIF, text, strlen(text), NULL);
        ck_assert_int_eq(tal_atoms_num_bonds(atoms), orders[k] > 0 ? 1 : 0);
        int a, b;
        if (orders[k] > 0) ck_assert_int_eq(tal_atoms_bond(atoms, 0, &a, &b), orders[k]);
        tal_atoms_destroy(atoms);
    }
}

END_TEST

START_TEST(mistakes_in_mmcif_files_are_named_with_lines)
{
    static const struct {
        const char *text, *part;
        int line;
    } mistakes[] = {{"", "no atoms", 0},
                    {"data_x\nloop_\n" ITEMS "ATOM S SG . CYS A 1 ? x 2.0 3.0 1.0 10.0 1\n",
                     "Cartn_x: 'x' is not a finite number", 17},
                    {"data_x\nloop_\n" ITEMS "ATOM S SG . CYS A 1 ? . 2.0 3.0 1.0 10.0 1\n",
                     "_atom_site.Cartn_x is missing", 17},
                    {"data_x\nloop_\n" ITEMS "ATOM S . . CYS A 1 ? 1 2.0 3.0 1.0 10.0 1\n",
                     "label_atom_id is missing", 17},
                    {"data_x\nloop_\n" ITEMS "ATOM S SG . CYS A one ? 1 2.0 3.0 1.0 10.0 1\n",
                     "auth_seq_id: 'one' is not a whole number", 17},
                    {"data_x\nloop_\n" ITEMS "ATOM S SG . CYS A 1 ? 1 2.0 3.0 1.0\n",
                     "last row of a loop has 12 values for 14", 17},
                    {"data_x\nloop_\nvalue\n", "a loop has no columns", -1},
                    {"data_x\n_cell.length_a\n_cell.length_b 1\n", "an item has no value", -1},
                    {"data_x\nstray\n", "belongs to no item", 2},
                    {"data_x\n_a.b 'not closed\n", "quote that begins here", 2},
                    {"data_x\n_a.b\n;not closed\n", "begins here with a semicolon", 3},
                    {"data_x\nloop_\n" ITEMS "ATOM S SG . CYS A 1 ? 1 2.0 3.0 1.0 10.0 1\n"
                     "ATOM S SD . CYS A 1 ? 1 2.0 3.0 1.0 10.0 2\n",
                     "atom 1 of model 2 is SD of residue 1, but SG", 18}};

    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; ++i) {
        assert_refused(TAL_ATOMS_CIF, mistakes[i].text, mistakes[i].line, -1, mistakes[i].part);
    }
    static const char two[] =
        "data_x\nloop_\n" ITEMS "ATOM S SG . CYS A 1 ? 1 2.0 3.0 1.0 10.0 1\ndata_y\n";
    assert_found(TAL_ATOMS_CIF, two, strlen(two), TAL_OK, 18, 0, "second block of data");
}

END_TEST

START_TEST(the_same_atoms_come_from_mmcif_and_pdb)
{
    static char text[TEXT_ROOM];
    tal_atoms *atoms = NULL;
    ck_assert_int_eq(
        tal_atoms_read_memory(TAL_ATOMS_CIF, "m", cif, strlen(cif), NULL, &atoms, NULL), TAL_OK);
    tal_atoms *again = atoms_of(TAL_ATOMS_PDB, text, text_of(atoms, TAL_ATOMS_PDB, text), NULL);
    // positions of the file have three decimals at most
    assert_same_places(atoms, again, 0, 1e-15);
    assert_same_places(atoms, again, 1, 1e-15);
    for (int i = 0; i < 2; ++i) {
        const tal_atom a = tal_atoms_at(atoms, i), b = tal_atoms_at(again, i);
        ck_assert_str_eq(a.name, b.name);
        ck_assert_str_eq(a.residue, b.residue);
        ck_assert_str_eq(a.insertion, b.insertion);
        ck_assert_int_eq(a.element, b.element);
    }
    tal_atoms_destroy(again);
    tal_atoms_destroy(atoms);
}

END_TEST

START_TEST(running_out_of_memory_is_reported_and_nothing_is_kept)
{
    try_all_failures(TAL_ATOMS_CIF, cif, strlen(cif));
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("atoms_cif");
    TCase *tc = tcase_create("atoms_cif");
    tcase_add_test(tc, an_mmcif_file_gives_atoms_models_the_cell_and_connections);
    tcase_add_test(tc, quoted_words_of_the_format_are_values);
    tcase_add_test(tc, connections_are_bonds_unless_they_leave_the_asymmetric_unit);
    tcase_add_test(tc, mistakes_in_mmcif_files_are_named_with_lines);
    tcase_add_test(tc, the_same_atoms_come_from_mmcif_and_pdb);
    tcase_add_test(tc, running_out_of_memory_is_reported_and_nothing_is_kept);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
