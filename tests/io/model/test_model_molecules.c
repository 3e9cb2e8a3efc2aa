// io/src/model/model_fields.c, model_molecules*.c: molecules in model files.
#include "../model_same.h"

#include <talus/molecule.h>

#include <stdio.h>

// ---- a molecule with all that a file can say, made by a program

typedef struct made {
    tal_ff *ff;
    tal_mol *mol;
    tal_model model;
    const tal_mol_instance *instance;
} made;

// The default: two waves of one n, powers, wildcards; pairs by wells and three bonds apart.
static tal_ff *make_field(void)
{
    tal_ff_def def = tal_ff_def_default();
    def.mixing = TAL_FF_LORENTZ_BERTHELOT;
    def.coulomb_scale[2] = 1.0 / 1.2;
    def.vdw_scale[2] = 0.5;
    tal_ff *ff = NULL;
    tal_error err;
    ck_assert_int_eq(tal_ff_create(&def, NULL, &ff, &err), TAL_OK);
    static const char *const names[] = {"C", "N"};
    for (int i = 0; i < 2; ++i) {
        tal_ff_class_def one = tal_ff_class_def_default();
        one.name = names[i];
        one.element = 6 + i;
        one.size = 0.2 + 0.05 * i;
        one.well_depth = 0.4;
        (void)tal_ff_add_type(ff, names[i], tal_ff_add_class(ff, &one), 0.2 - 0.5 * i);
    }
    (void)tal_ff_set_type_mass(ff, 1, 15.5);
    (void)tal_ff_set_type_born(ff, 0, 0.17, 0.72);
    (void)tal_ff_set_type_born(ff, 1, 0.155, 0.79);
    const tal_ff_wave waves[] = {{1, 2.0, 0.4}, {2, 3.0, 3.1}, {2, 1.5, 0.0}};
    const double powers[] = {9.28, 12.16, -13.12, -3.06, 26.24, -31.5};
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j <= i; ++j) {
            (void)tal_ff_add_stretch(ff, i, j, 1000.0 + 100.0 * i, 0.14);
            for (int k = 0; k < 2; ++k) {
                (void)tal_ff_add_bend(ff, i, k, j, 50.0 + 10.0 * k, 1.9);
            }
        }
    }
    (void)tal_ff_add_torsion(ff, TAL_FF_ANY, 0, 0, TAL_FF_ANY, waves, 3);
    (void)tal_ff_add_rb_torsion(ff, TAL_FF_ANY, 1, 0, TAL_FF_ANY, powers);
    (void)tal_ff_add_torsion(ff, 0, 1, 0, 0, waves, 1);
    (void)tal_ff_add_urey_bradley(ff, 0, 0, 1, 70.0, 0.25);
    (void)tal_ff_add_improper(ff, TAL_FF_ANY, TAL_FF_ANY, 0, 1, waves, 2);
    (void)tal_ff_add_harmonic_improper(ff, 0, 0, 0, 0, 40.0, 0.1);
    (void)tal_ff_add_pair(ff, 0, 1, 0.23, 0.3);
    (void)tal_ff_add_pair14(ff, 0, 0, 0.19, 0.2);
    ck_assert_int_eq(tal_ff_freeze(ff, &err), TAL_OK);
    return ff;
}

enum {
    NUM_ATOMS = 9
};

// A branched chain C-C(-C)-N-C-C-C, with a pair of atoms of its own beside it.
static tal_mol *make_mol(const tal_ff *ff)
{
    static const int type[NUM_ATOMS] = {0, 0, 0, 1, 0, 0, 0, 0, 1};
    static const int bonds[][2] = {{0, 1}, {1, 2}, {1, 3}, {3, 4}, {4, 5}, {5, 6}, {7, 8}};
    test_rng rng = test_rng_seed(4);
    tal_mol *mol = NULL;
    tal_error err;
    tal_vec3 x[NUM_ATOMS];
    ck_assert_int_eq(tal_mol_create(ff, NULL, NULL, &mol, &err), TAL_OK);
    for (int i = 0; i < NUM_ATOMS; ++i) {
        (void)tal_mol_add_atom(mol, type[i], i < 7 ? "A" : "B", 1 + i / 4, i < 7 ? "" : "W");
        x[i] = tal_v3(0.12 * i, test_random_uniform(&rng, -0.1, 0.1),
                      test_random_uniform(&rng, -0.1, 0.1));
    }
    for (size_t i = 0; i < sizeof bonds / sizeof *bonds; ++i) {
        (void)tal_mol_add_bond(mol, bonds[i][0], bonds[i][1], i == 2 ? 2 : 1);
    }
    (void)tal_mol_set_atom_charge(mol, 4, 0.125);
    (void)tal_mol_add_stretch(mol, 0, 1, 5000.0, 0.15);
    (void)tal_mol_add_bend(mol, 3, 4, 5, 80.0, 2.0);
    (void)tal_mol_add_urey_bradley(mol, 4, 5, 6, 11.0, 0.26);
    const tal_ff_wave wave = {3, 4.0, 0.3};
    (void)tal_mol_add_torsion(mol, 3, 4, 5, 6, &wave, 1);
    (void)tal_mol_add_harmonic_improper(mol, 0, 2, 1, 3, 33.0, 0.5);
    const int cluster = tal_mol_add_cluster(mol, "pair"), outer = tal_mol_add_cluster(mol, "outer");
    (void)tal_mol_place_atom(mol, cluster, 7, x[7]);
    (void)tal_mol_place_atom(mol, outer, 8, x[8]);
    (void)tal_mol_place_cluster(mol, outer, cluster, &TAL_XFORM_IDENTITY);
    ck_assert_int_eq(tal_mol_set_positions(mol, x, NUM_ATOMS), TAL_OK);
    ck_assert_msg(tal_mol_freeze(mol, &err) == TAL_OK, "%s", err.message);
    return mol;
}

static void realize(const tal_model *m, tal_stage stage)
{
    ck_assert_msg(tal_system_realize(m->system, m->state, stage) == TAL_OK, "%s",
                  tal_state_error(m->state)->message);
}

static void begin(made *it)
{
    *it = (made){.ff = make_field()};
    it->mol = make_mol(it->ff);
    it->model.system = tal_system_create(NULL);
    it->model.matter = tal_matter_create(it->model.system);
    it->model.forces = tal_forces_create(it->model.system, it->model.matter);
}

static void add_molecule(made *it)
{
    static const int pair[] = {7, 8};
    const tal_mol_selection selections[] = {
        {.level = TAL_MOL_RIGID_GROUPS, .chain = "W", .last_residue = -1},
        {.level = TAL_MOL_RIGID, .first_residue = 1, .last_residue = 1},
        {.level = TAL_MOL_DOMAINS, .atoms = pair, .num_atoms = 2, .last_residue = -1}};
    const tal_mol_bond_choice bonds[] = {{3, 4, TAL_BOND_CYLINDER}, {1, 3, TAL_BOND_TORSION}};
    tal_mol_granularity how = tal_mol_granularity_default();
    how.selections = selections;
    how.num_selections = 3;
    how.bonds = bonds;
    how.num_bonds = 2;
    how.root = 5;
    how.list_room = 32;
    const tal_xform X = tal_xf_from_p(tal_v3(0.5, 0.25, -1.0));
    it->instance = tal_mol_add(it->model.system, it->model.matter, it->model.forces, "rich",
                               it->mol, &how, &X);
    ck_assert_msg(it->instance != NULL, "%s", tal_system_error(it->model.system)->message);
    tal_mol_picture picture = tal_mol_picture_default();
    picture.box = tal_v3(3.0, 3.5, 4.0);
    ck_assert_int_eq(tal_mol_decorate(it->instance, it->model.matter, &picture), TAL_OK);
}

static void finish(made *it)
{
    tal_error err;
    ck_assert_msg(tal_system_realize_topology(it->model.system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(it->model.system, &it->model.state, &err), TAL_OK);
}

static void set_state(made *it)
{
    tal_state *state = it->model.state;
    tal_mol_nonbonded pairs = tal_mol_nonbonded_default();
    pairs.vdw = (tal_mol_range){TAL_CUTOFF_CHARMM, 0.9, 1.1};
    pairs.coulomb = (tal_mol_range){TAL_CUTOFF_TRUNCATE, 0.0, 1.2};
    pairs.dielectric = TAL_DIELECTRIC_REACTION_FIELD;
    pairs.box = tal_v3(3.0, 3.5, 4.0);
    pairs.skin = 0.05;
    ck_assert_msg(tal_mol_set_nonbonded(it->instance, state, &pairs) == TAL_OK, "%s",
                  tal_state_error(state)->message);
    ck_assert_int_eq(tal_mol_set_scale(it->instance, state, TAL_MOL_SCALE_COULOMB, 0.75), TAL_OK);
    ck_assert_int_eq(tal_mol_set_fixman_temperature(it->instance, state, 310.0), TAL_OK);
    realize(&it->model, TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_mol_set_random_velocities(it->instance, state, 300.0, 3), TAL_OK);
    (void)tal_state_set_t(state, 0.125);
}

static void end(made *it)
{
    tal_state_destroy(it->model.state);
    tal_system_destroy(it->model.system);
    tal_mol_destroy(it->mol);
    tal_ff_destroy(it->ff);
}

static char *text_of(const tal_model *m)
{
    size_t length = 0;
    tal_error err;
    const tal_status st = tal_model_write_memory(m, NULL, NULL, 0, &length, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    char *text = malloc(length + 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(tal_model_write_memory(m, NULL, text, length + 1, NULL, &err), TAL_OK);
    return text;
}

static void check_bits(const double a[], const double b[], int n)
{
    for (int i = 0; i < n; ++i) {
        // NOLINTNEXTLINE(*-memory-comparison,cert-*): the bits are meant
        ck_assert_msg(memcmp(&a[i], &b[i], sizeof a[i]) == 0, "%d: %.17g, %.17g", i, a[i], b[i]);
    }
}

// Coordinates, speeds, energies, accelerations and decorations are those of the program, and the
// file that is read writes itself.
START_TEST(what_is_written_is_read_back_bit_for_bit)
{
    made it;
    begin(&it);
    add_molecule(&it);
    finish(&it);
    set_state(&it);
    char *text = text_of(&it.model);
    tal_model back = read_text(text);
    realize(&it.model, TAL_STAGE_ACCELERATION);
    realize(&back, TAL_STAGE_ACCELERATION);
    ck_assert(tal_system_structure_hash(back.system) == tal_system_structure_hash(it.model.system));
    check_bits(tal_state_q(it.model.state), tal_state_q(back.state), tal_state_nq(back.state));
    check_bits(tal_state_u(it.model.state), tal_state_u(back.state), tal_state_nu(back.state));
    check_bits(tal_state_udot(it.model.state), tal_state_udot(back.state),
               tal_state_nu(back.state));
    const double energy = tal_system_potential_energy(it.model.system, it.model.state),
                 again = tal_system_potential_energy(back.system, back.state);
    check_bits(&energy, &again, 1);
    ck_assert(energy != 0.0);
    ck_assert_int_eq(tal_matter_num_decorations(back.matter),
                     tal_matter_num_decorations(it.model.matter));
    char *twice = text_of(&back);
    ck_assert_str_eq(text, twice);
    free(twice);
    free(text);
    tal_model_destroy(&back);
    end(&it);
}

END_TEST

// ---- by hand

#define FIELD                                                                                      \
    "<force_fields><force_field name='f' vdw_scale='0 0 0 1'>"                                     \
    "<class name='C' element='C' size='0.39' depth='0.6'/><type name='C' class='C' mass='14'/>"    \
    "<torsion classes='* C C *' waves='3 5.5 30'/></force_field></force_fields>"
#define CHAIN                                                                                      \
    "<atom type='C' name='a' position='0 0 0'/><atom type='C' name='b' position='0.12 0.09 0'/>"   \
    "<atom type='C' name='c' position='0.25 0 0'/>"                                                \
    "<atom type='C' name='d' position='0.37 0.09 0.02'/>"                                          \
    "<bond atoms='a b'/><bond atoms='b c' q='75'/><bond atoms='2 3'/>"

static double dihedral_of(const tal_vec3 x[4])
{
    const tal_vec3 b1 = tal_v3_sub(x[1], x[0]), b2 = tal_v3_sub(x[2], x[1]),
                   b3 = tal_v3_sub(x[3], x[2]);
    const tal_vec3 n1 = tal_v3_cross(b1, b2), n2 = tal_v3_cross(b2, b3);
    return atan2(tal_v3_dot(tal_v3_cross(n1, n2), b2) / tal_v3_norm(b2), tal_v3_dot(n1, n2));
}

// Degrees are those of the file, lengths nm; the energy of the torsion is 5.5 (1 + cos(3 q - 30)).
START_TEST(the_coordinate_of_a_bond_is_its_dihedral_in_the_units_of_the_file)
{
    tal_model m = read_text("<talus version='1' units='deg'>" FIELD
                            "<molecules><molecule name='m' field='f' terms='known'>" CHAIN
                            "</molecule></molecules></talus>");
    realize(&m, TAL_STAGE_DYNAMICS);
    tal_vec3 x[4];
    const tal_vec3 atoms[4] = {
        {0.0, 0.0, 0.0}, {0.12, 0.09, 0.0}, {0.25, 0.0, 0.0}, {0.37, 0.09, 0.02}};
    // the first two atoms are one body, the last two another; both have axes of Ground at first
    const tal_body_ix root = tal_matter_find_body(m.matter, "m.0"),
                      tip = tal_matter_find_body(m.matter, "m.1");
    ck_assert_int_eq(tal_matter_num_bodies(m.matter), 3);
    const tal_vec3 com = tal_v3_scale(0.5, tal_v3_add(atoms[0], atoms[1]));
    for (int i = 0; i < 2; ++i) {
        x[i] = tal_station_p_GS(m.matter, m.state, root, tal_v3_sub(atoms[i], com));
        x[2 + i] = tal_station_p_GS(m.matter, m.state, tip, tal_v3_sub(atoms[2 + i], atoms[2]));
        ck_assert_double_eq_tol(tal_v3_norm(tal_v3_sub(x[i], atoms[i])), 0.0, 1e-15);
    }
    ck_assert_double_eq_tol(dihedral_of(x), 75.0 * TAL_PI / 180.0, 1e-14);
    ck_assert_double_eq_tol(tal_system_potential_energy(m.system, m.state),
                            5.5 * (1.0 + cos((3.0 * 75.0 - 30.0) * TAL_PI / 180.0)), 1e-10);
    ck_assert_int_gt(tal_matter_num_decorations(m.matter), 0);
    tal_model_destroy(&m);
}

END_TEST

START_TEST(velocities_have_the_temperature_that_the_file_says)
{
    tal_model m = read_text("<talus version='1'>" FIELD
                            "<molecules><molecule name='m' field='f' terms='known' picture='no' "
                            "temperature='300' seed='4' level='cartesian'>"
                            "<atom type='C' position='0 0 0'/><atom type='C' position='0.15 0 0'/>"
                            "<atom type='C' position='0.3 0 0'/><atom type='C' position='0 0.2 0'/>"
                            "</molecule></molecules></talus>");
    realize(&m, TAL_STAGE_VELOCITY);
    const double K = tal_matter_kinetic_energy(m.matter, m.state);
    const double mean = 6.0 * TAL_MOL_R * 300.0; // 12 speeds, each of which has R T/2
    ck_assert(K > 0.2 * mean && K < 3.0 * mean); // of chi-squared with 12, within 4 sigma
    ck_assert_int_eq(tal_matter_num_decorations(m.matter), 0);
    tal_model_destroy(&m);
}

END_TEST

START_TEST(a_molecule_can_be_in_files_of_amber)
{
    const char *text = "<talus version='1'><molecules><amber_molecule name='m' "
                       "topology='formamide.prmtop' coordinates='formamide.inpcrd'>"
                       "<pairs dielectric='distance'/></amber_molecule></molecules></talus>";
    tal_model m;
    tal_model_options how = tal_model_options_default();
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    how.folder = TALUS_SOURCE_DIR "/tests/io/atoms";
    const tal_status st = tal_model_read_memory("m", text, strlen(text), &how, &m, found);
    ck_assert_int_eq(tal_diagnostics_num_errors(found), 0);
    ck_assert_int_eq(st, TAL_OK);
    ck_assert_int_eq(tal_matter_nu(m.matter), 13); // two free molecules, and a torsion
    char *whole = text_of(&m);
    tal_model back = read_text(whole);
    realize(&m, TAL_STAGE_ACCELERATION);
    realize(&back, TAL_STAGE_ACCELERATION);
    check_bits(tal_state_udot(m.state), tal_state_udot(back.state), 13);
    free(whole);
    tal_model_destroy(&back);
    tal_model_destroy(&m);
    tal_diagnostics_destroy(found);
}

END_TEST

// ---- what is wrong

typedef struct mistake {
    const char *text;     ///< instead of the force field and the molecule
    const char *sentence; ///< in the first error
} mistake;

#define MOLECULE(parts)                                                                            \
    FIELD "<molecules><molecule name='m' field='f' terms='known'>" parts "</molecule></molecules>"

static const mistake mistakes[] = {
    {"<force_fields><force_field name='f'><type name='C' class='D'/></force_field></force_fields>",
     "there is no <class> 'D'"},
    {"<force_fields><force_field name='f'><class name='C' element='Xx'/></force_field>"
     "</force_fields>",
     "no element 'Xx'"},
    {"<force_fields><force_field name='f'><class name='C'/><stretch classes='C' k='1' r0='1'/>"
     "</force_field></force_fields>",
     "'classes' has 1 names; 2 are needed"},
    {"<force_fields><force_field name='f'><class name='C'/><torsion classes='C C C C'/>"
     "</force_field></force_fields>",
     "needs one of: waves"},
    {"<force_fields><force_field name='f'><class name='C'/><class name='C'/></force_field>"
     "</force_fields>",
     "'C'"},
    {"<force_fields><force_field name='f'><class name='C'/><torsion classes='C C C C' "
     "waves='7 1 0'/></force_field></force_fields>",
     "n is 7"},
    {"<molecules><molecule name='m' field='g'/></molecules>", "no <force_field> 'g' above"},
    {MOLECULE("<atom type='D' position='0 0 0'/>"), "no type 'D'"},
    {MOLECULE(CHAIN "<bond atoms='a e'/>"), "there is no atom 'e'"},
    {MOLECULE(CHAIN "<bond atoms='0 4'/>"), "there is no atom 4"},
    {MOLECULE(CHAIN "<bond atoms='a'/>"), "2 are needed"},
    {MOLECULE(CHAIN "<bond atoms='a b'/>"), "bond"},
    {MOLECULE(CHAIN "<atom type='C' name='a' position='1 0 0'/><bond atoms='a d'/>"),
     "both called 'a'"},
    {MOLECULE(CHAIN "<pairs/><pairs/>"), "is there already"},
    {MOLECULE(CHAIN "<stretch atoms='a c' k='-1' r0='1'/>"), "k"},
    {MOLECULE("<atom type='C' position='0 0 0'/><atom type='C' position='0.1 0 0'/>"
              "<bond atoms='0 1' q='1'/>"),
     "does not move"},
    {MOLECULE(CHAIN "<pairs box='1 1 1' vdw='truncate' vdw_range='0 0.9' coulomb='truncate' "
                    "coulomb_range='0 0.9'/>"),
     "box"},
    {FIELD "<molecules><molecule name='m' field='f'>" CHAIN "</molecule></molecules>",
     "lack parameters"},
    {FIELD "<molecules><molecule name='m' field='f' terms='known' q='1 2'>" CHAIN
           "</molecule></molecules>",
     "'q' has 2 numbers"},
    {FIELD "<molecules><molecule name='m' field='f' terms='known' level='tortions'>" CHAIN
           "</molecule></molecules>",
     "torsions"},
    {"<molecules><amber_molecule name='m' topology='t.prmtop' coordinates='c.inpcrd'>"
     "<atom type='C' position='0 0 0'/></amber_molecule></molecules>",
     "is not for a molecule that is in other files"},
};

START_TEST(mistakes_are_named)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; ++i) {
        char text[3000], line[TAL_DIAGNOSTIC_SIZE] = "";
        (void)snprintf(text, sizeof text, "<talus version='1'>%s</talus>", mistakes[i].text);
        tal_model m;
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        ck_assert_int_eq(tal_model_read_memory("m", text, strlen(text), NULL, &m, found),
                         TAL_ERR_FILE);
        (void)tal_diagnostic_text(tal_diagnostics_at(found, 0), line);
        ck_assert_msg(strstr(line, mistakes[i].sentence) != NULL, "%zu: %s", i, line);
        tal_diagnostics_destroy(found);
    }
}

END_TEST

static void check_refused(const made *it, const char *sentence)
{
    tal_error err;
    size_t length;
    ck_assert_int_eq(tal_model_write_memory(&it->model, NULL, NULL, 0, &length, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_msg(strstr(err.message, sentence) != NULL, "%s", err.message);
}

START_TEST(what_no_file_can_say_is_refused_by_name)
{
    made it;
    begin(&it); // a body behind the molecule
    add_molecule(&it);
    tal_mobod_def def = tal_mobod_def_default();
    def.name = "late";
    def.mass.mass = 1.0;
    (void)tal_matter_add_translation(it.model.matter, TAL_GROUND, &def);
    finish(&it);
    check_refused(&it, "'late'");
    end(&it);

    begin(&it); // a force before it
    (void)tal_forces_add_gravity(it.model.forces, tal_v3(0.0, -9.81, 0.0));
    add_molecule(&it);
    finish(&it);
    check_refused(&it, "before all other forces");
    end(&it);

    begin(&it); // something on one of its bodies
    add_molecule(&it);
    tal_decoration ball = tal_decoration_sphere(0.1);
    (void)tal_matter_add_decoration(it.model.matter, tal_mol_atom_body(it.instance, 0), &ball);
    finish(&it);
    check_refused(&it, "of a molecule");
    end(&it);

    begin(&it); // a lock
    add_molecule(&it);
    finish(&it);
    const tal_mobility first = {tal_mol_atom_body(it.instance, 0), 0};
    ck_assert_int_eq(tal_mobility_lock(it.model.matter, it.model.state, first, TAL_LEVEL_VELOCITY),
                     TAL_OK);
    check_refused(&it, "locked");
    end(&it);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("model_molecules");
    TCase *all = tcase_create("molecules");
    tcase_add_test(all, what_is_written_is_read_back_bit_for_bit);
    tcase_add_test(all, the_coordinate_of_a_bond_is_its_dihedral_in_the_units_of_the_file);
    tcase_add_test(all, velocities_have_the_temperature_that_the_file_says);
    tcase_add_test(all, a_molecule_can_be_in_files_of_amber);
    tcase_add_test(all, mistakes_are_named);
    tcase_add_test(all, what_no_file_can_say_is_refused_by_name);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
