// Tests for molecule/src/term/instance.c: what it refuses, and broken contracts.
#include "molecule_support.h"

static void assert_refuses(scene *s, const tal_mol_granularity *how, tal_status expected,
                           const char *part)
{
    tal_error err;
    s->system = tal_system_create(NULL);
    s->matter = tal_matter_create(s->system);
    s->forces = tal_forces_create(s->system, s->matter);
    ck_assert_ptr_null(tal_mol_add(s->system, s->matter, s->forces, "mol", s->mol, how, NULL));
    ck_assert_int_eq(tal_system_realize_topology(s->system, &err), expected);
    ck_assert_msg(strstr(err.message, part) != NULL, "'%s' lacks '%s'", err.message, part);
    close_system(s);
}

START_TEST(bad_granularities_are_refused)
{
    scene s;
    rich_scene(&s);
    tal_mol_granularity how = tal_mol_granularity_default();
    how.level = (tal_mol_level)8;
    assert_refuses(&s, &how, TAL_ERR_BAD_VALUE, "8 is no level");
    how = tal_mol_granularity_default();
    how.root = RICH;
    assert_refuses(&s, &how, TAL_ERR_BAD_INDEX, "the root is atom 19");
    how = tal_mol_granularity_default();
    how.num_bonds = 1;
    assert_refuses(&s, &how, TAL_ERR_NULL, "one list NULL");
    tal_mol_bond_choice choice = {0, 2, TAL_BOND_TORSION};
    how.bonds = &choice;
    assert_refuses(&s, &how, TAL_ERR_BAD_INDEX, "no bond of atoms 0 and 2");
    choice.b = 1;
    choice.mobility = TAL_BOND_TRANSLATION;
    assert_refuses(&s, &how, TAL_ERR_BAD_VALUE, "cannot have mobility 10");
    how = tal_mol_granularity_default();
    const int atoms[1] = {40};
    const tal_mol_selection selection = {.atoms = atoms, .num_atoms = 1, .last_residue = -1};
    how.selections = &selection;
    how.num_selections = 1;
    assert_refuses(&s, &how, TAL_ERR_BAD_INDEX, "selection 0 has atom 40");
    close_scene(&s);
}

END_TEST

START_TEST(a_body_without_mass_and_a_molecule_without_positions_are_refused)
{
    const double zero[2] = {0.0, 0.0}, mass[2] = {1.0, 0.0};
    const double x[2][3] = {{0.0, 0.0, 0.0}, {0.1, 0.0, 0.0}};
    scene s;
    pair_scene(&s, NULL, 2, zero, zero, zero, mass, x, NULL, 0);
    assert_refuses(&s, NULL, TAL_ERR_BAD_VALUE, "the body of atom 1 'x' has no mass");
    close_scene(&s);

    static const int bond[1][2] = {{0, 1}};
    const double same[2][3] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    pair_scene(&s, NULL, 2, zero, zero, zero, mass, same, bond, 1);
    assert_refuses(&s, NULL, TAL_ERR_BAD_VALUE, "bonded atoms 0 and 1 are at the same place");
    close_scene(&s);

    tal_error err;
    s.ff = rich_field();
    ck_assert_int_eq(tal_mol_create(s.ff, NULL, NULL, &s.mol, &err), TAL_OK);
    (void)tal_mol_add_atom(s.mol, 0, "C", 1, "");
    assert_refuses(&s, NULL, TAL_ERR_TOPOLOGY, "not frozen");
    ck_assert_int_eq(tal_mol_freeze(s.mol, &err), TAL_OK);
    assert_refuses(&s, NULL, TAL_ERR_BAD_VALUE, "1 atoms and 0 positions");
    close_scene(&s);
}

END_TEST

START_TEST(broken_contracts_are_reported)
{
    test_record_breaches();
    scene s;
    rich_scene(&s);
    open_system(&s, NULL, NULL);
    tal_mol_energy e;
    tal_vec3 x[RICH];
    test_assert_refused(tal_mol_calc_energy(s.molecule, s.state, &e), TAL_ERR_STAGE, "stage");
    ck_assert(isnan(e.total));
    realize(&s, TAL_STAGE_POSITION);
    test_assert_refused(tal_mol_calc_positions(s.molecule, s.state, x, 3), TAL_ERR_BAD_VALUE,
                        "n is 3");
    test_assert_refused(tal_mol_calc_forces(s.molecule, s.state, NULL, RICH), TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_int_eq(tal_mol_atom_body(s.molecule, RICH).i, -1),
                       TAL_ERR_BAD_INDEX, "atom 19");
    test_assert_breach(ck_assert_int_eq(tal_mol_demoted_at(s.molecule, -1).atom, -1),
                       TAL_ERR_BAD_INDEX, "demotion -1");
    test_assert_refused(tal_mol_set_scale(s.molecule, s.state, (tal_mol_scale)4, 1.0),
                        TAL_ERR_BAD_INDEX, "4 is no scale");
    test_assert_breach(
        ck_assert_ptr_null(tal_mol_add(s.system, s.matter, s.forces, "late", s.mol, NULL, NULL)),
        TAL_ERR_TOPOLOGY, "realized");
    close_scene(&s);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("instance");
    TCase *all = tcase_create("instance");
    tcase_add_test(all, bad_granularities_are_refused);
    tcase_add_test(all, a_body_without_mass_and_a_molecule_without_positions_are_refused);
    tcase_add_test(all, broken_contracts_are_reported);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
