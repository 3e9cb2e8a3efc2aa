// Tests for molecule/src/plan/: molecules as bodies at every granularity, their mobilities and q.
#include "molecule_support.h"

// refs:torsion_tree
START_TEST(bodies_are_those_of_the_references)
{
    tal_ff *ff = rich_field();
    for (size_t g = 0; g < sizeof ref_graphs / sizeof ref_graphs[0]; ++g) {
        const ref_graph *r = &ref_graphs[g];
        scene s = {.ff = ff};
        tal_error err;
        tal_vec3 x[16];
        ck_assert_int_eq(tal_mol_create(ff, NULL, NULL, &s.mol, &err), TAL_OK);
        for (int i = 0; i < r->num_atoms; ++i) {
            (void)tal_mol_add_atom(s.mol, 0, "C", 1, "");
            x[i] = tal_v3(r->x[i][0], r->x[i][1], r->x[i][2]);
        }
        for (int b = 0; b < r->num_bonds; ++b) {
            (void)tal_mol_add_bond(s.mol, r->bonds[b][0], r->bonds[b][1], 1);
        }
        (void)tal_mol_set_positions(s.mol, x, r->num_atoms);
        ck_assert_int_eq(tal_mol_freeze(s.mol, &err), TAL_OK);
        open_system(&s, NULL, NULL);
        ck_assert_int_eq(tal_mol_instance_statistics(s.molecule).num_bodies, r->num_bodies);
        for (int a = 0; a < r->num_atoms; ++a) {
            for (int b = 0; b < a; ++b) {
                const bool same =
                    tal_mol_atom_body(s.molecule, a).i == tal_mol_atom_body(s.molecule, b).i;
                ck_assert_msg(same == (r->body[a] == r->body[b]), "%s: %d, %d", r->name, a, b);
            }
        }
        for (int b = 0; b < r->num_bonds; ++b) {
            const tal_mol_joint joint = tal_mol_bond_joint(s.molecule, b);
            ck_assert_int_eq(joint.mobility, r->kind[b] == 1 ? TAL_BOND_TORSION : TAL_BOND_RIGID);
        }
        close_system(&s);
        tal_mol_destroy(s.mol);
    }
    tal_ff_destroy(ff);
}

END_TEST

// Frames of size 1, some ten products each: 1e-14 for each body on the way.
START_TEST(a_state_begins_at_the_positions_given)
{
    scene s;
    rich_scene(&s);
    test_rng rng = test_rng_seed(4);
    for (int i = 0; i < NUM_HOWS; ++i) {
        const tal_mol_granularity how = how_at(i);
        const tal_xform X_GR = test_random_xform(&rng);
        open_system(&s, &how, &X_GR);
        realize(&s, TAL_STAGE_POSITION);
        tal_vec3 x[RICH];
        ck_assert_int_eq(tal_mol_calc_positions(s.molecule, s.state, x, RICH), TAL_OK);
        for (int a = 0; a < RICH; ++a) {
            const tal_vec3 there = tal_xf_apply(X_GR, tal_mol_atom_position(s.mol, a));
            test_assert_v3_near(x[a], there, 1e-13);
        }
        close_system(&s);
    }
    close_scene(&s);
}

END_TEST

START_TEST(levels_have_the_mobilities_they_promise)
{
    scene s;
    rich_scene(&s);
    // of the levels in their order: Cartesian and BAT 3 for each atom
    static const int nu[8] = {57, 57, 0, 0, 0, 0, 0, 0};
    for (int i = 0; i < 8; ++i) {
        const tal_mol_granularity how = how_at(i);
        open_system(&s, &how, NULL);
        const tal_mol_statistics it = tal_mol_instance_statistics(s.molecule);
        ck_assert_int_eq(it.nu, tal_state_nu(s.state));
        if (nu[i] > 0) ck_assert_int_eq(it.nu, nu[i]);
        if (i == TAL_MOL_RIGID) ck_assert_int_eq(it.nu, 6 + 5 + 3);
        // 0-6, 6-7, 7-8, 8-9, 9-10, 10-11; the branches and 11-14, 14-15 turn nothing
        if (i == TAL_MOL_TORSIONS) ck_assert_int_eq(it.nu, 6 + 6 + 5 + 3);
        if (i == TAL_MOL_BACKBONE) ck_assert_int_eq(it.nu, 6 + 4 + 5 + 3);
        if (i == TAL_MOL_RESIDUES) ck_assert_int_eq(it.nu, 6 + 2 + 5 + 3);
        if (i == TAL_MOL_RIGID_GROUPS) ck_assert_int_eq(it.nu, 6 + 5 + 3 * (RICH - 8));
        close_system(&s);
    }
    tal_mol_granularity how = how_at(8); // the ring is open: five of its bonds turn, or four
    open_system(&s, &how, NULL);
    ck_assert_int_eq(tal_mol_instance_statistics(s.molecule).num_cut, 1);
    const int cut = tal_mol_cut_bond(s.molecule, 0);
    ck_assert(tal_mol_is_ring_bond(s.mol, cut));
    close_system(&s);
    close_scene(&s);
}

END_TEST

START_TEST(every_demotion_is_listed)
{
    scene s;
    rich_scene(&s);
    open_system(&s, NULL, NULL);
    const tal_mol_statistics it = tal_mol_instance_statistics(s.molecule);
    // 7-12, 10-13, 16-17 end in one atom, 11-14 and 14-15 in a line; a pair and an atom are roots
    ck_assert_int_eq(it.num_demoted, 7);
    int rigid = 0, line = 0, point = 0;
    for (int i = 0; i < it.num_demoted; ++i) {
        const tal_mol_demoted d = tal_mol_demoted_at(s.molecule, i);
        rigid += d.to == TAL_BOND_RIGID && d.from == TAL_BOND_TORSION ? 1 : 0;
        line += d.to == TAL_BOND_FREE_LINE && d.bond == -1 && d.atom == 16 ? 1 : 0;
        point += d.to == TAL_BOND_TRANSLATION && d.atom == 18 ? 1 : 0;
    }
    ck_assert_int_eq(rigid, 5);
    ck_assert_int_eq(line, 1);
    ck_assert_int_eq(point, 1);
    close_scene(&s);
}

END_TEST

// The root is the heaviest body, or the one asked for; with `center` the tree is not deeper.
START_TEST(roots_are_chosen_as_asked)
{
    scene s;
    rich_scene(&s);
    tal_mol_granularity how = tal_mol_granularity_default();
    open_system(&s, &how, NULL);
    ck_assert_int_eq(tal_body_parent(s.matter, tal_mol_atom_body(s.molecule, 0)).i, 0);
    const int depth = tal_mol_instance_statistics(s.molecule).depth;
    close_system(&s);
    how.root = 8;
    open_system(&s, &how, NULL);
    ck_assert_int_eq(tal_body_parent(s.matter, tal_mol_atom_body(s.molecule, 8)).i, 0);
    close_system(&s);
    how.root = -1;
    how.center = true;
    open_system(&s, &how, NULL);
    ck_assert_int_lt(tal_mol_instance_statistics(s.molecule).depth, depth);
    close_scene(&s);
}

END_TEST

static double dihedral_of(const tal_vec3 x[], int k, int i, int j, int l)
{
    const tal_vec3 four[4] = {x[k], x[i], x[j], x[l]};
    return tali_term_dihedral(four);
}

START_TEST(the_q_of_a_torsion_is_its_dihedral)
{
    scene s;
    rich_scene(&s);
    test_rng rng = test_rng_seed(6);
    open_system(&s, NULL, NULL);
    for (int trial = 0; trial < 20; ++trial) {
        scatter_q(&s, &rng, 1.5);
        realize(&s, TAL_STAGE_POSITION);
        tal_vec3 x[RICH];
        ck_assert_int_eq(tal_mol_calc_positions(s.molecule, s.state, x, RICH), TAL_OK);
        int found = 0;
        for (int b = 0; b < tal_mol_num_bonds(s.mol); ++b) {
            const tal_mol_joint it = tal_mol_bond_joint(s.molecule, b);
            if (it.mobility != TAL_BOND_TORSION) continue;
            ++found;
            const double phi =
                dihedral_of(x, it.dihedral[0], it.atoms[0], it.atoms[1], it.dihedral[1]);
            const double q = tal_body_q(s.matter, s.state, it.body, 0);
            ck_assert_double_eq_tol(sin(phi - q), 0.0, 1e-11); // arms of 0.05 nm
            ck_assert_double_ge(cos(phi - q), 0.5);
        }
        ck_assert_int_eq(found, 6);
    }
    close_scene(&s);
}

END_TEST

// Of BAT coordinates: r, pi - bend and, where there are four atoms, the dihedral.
START_TEST(the_q_of_spherical_bonds_are_length_angle_and_dihedral)
{
    scene s;
    rich_scene(&s);
    test_rng rng = test_rng_seed(7);
    tal_mol_granularity how = tal_mol_granularity_default();
    how.level = TAL_MOL_BAT;
    open_system(&s, &how, NULL);
    scatter_q(&s, &rng, 0.05);
    realize(&s, TAL_STAGE_POSITION);
    tal_vec3 x[RICH];
    ck_assert_int_eq(tal_mol_calc_positions(s.molecule, s.state, x, RICH), TAL_OK);
    int lengths = 0, dihedrals = 0;
    for (int b = 0; b < tal_mol_num_bonds(s.mol); ++b) {
        const tal_mol_joint it = tal_mol_bond_joint(s.molecule, b);
        if (it.body.i < 0) continue;
        const tal_vec3 bond = tal_v3_sub(x[it.atoms[1]], x[it.atoms[0]]);
        ck_assert_double_eq_tol(tal_body_q(s.matter, s.state, it.body, 2), tal_v3_norm(bond),
                                1e-13);
        ++lengths;
        const int h = it.dihedral[0], k = it.dihedral[1];
        if (k < 0) continue;
        const tal_vec3 before = tal_v3_sub(x[it.atoms[0]], x[k]);
        const double zenith =
            atan2(tal_v3_norm(tal_v3_cross(before, bond)), tal_v3_dot(before, bond));
        ck_assert_double_eq_tol(tal_body_q(s.matter, s.state, it.body, 1), zenith, 1e-11);
        if (h < 0) continue;
        const double phi = dihedral_of(x, h, k, it.atoms[0], it.atoms[1]);
        ck_assert_double_eq_tol(sin(phi - tal_body_q(s.matter, s.state, it.body, 0)), 0.0, 1e-10);
        ++dihedrals;
    }
    ck_assert_int_eq(lengths, 16); // 17 bonds, one of the ring is cut
    ck_assert_int_ge(dihedrals, 8);
    close_scene(&s);
}

END_TEST

// M of a granularity is positive definite at the positions given and away from them.
static void check_regular(scene *s, const tal_mol_granularity *how, int nu)
{
    test_rng rng = test_rng_seed(8);
    open_system(s, how, NULL);
    ck_assert_int_eq(tal_state_nu(s->state), nu);
    for (int trial = 0; trial < 4; ++trial) {
        double M[24 * 24];
        realize(s, TAL_STAGE_POSITION);
        const tal_matrix view = tal_matrix_view(M, nu, nu);
        ck_assert_int_eq(tal_matter_calc_M(s->matter, s->state, view), TAL_OK);
        tal_chol_info info;
        tal_error err;
        ck_assert_msg(tal_chol_factor(view, &info, &err) == TAL_OK, "%s", err.message);
        // without this bound a singular M may pass by round-off; masses differ by 4, arms by 10
        ck_assert_double_gt(info.rcond_bound, 1e-9);
        scatter_q(s, &rng, 0.3);
    }
    close_system(s);
}

// Atom 0 with 1, 2 and 3 on universal, ball and spherical bonds; on 1 hangs the body of 4 and 5.
START_TEST(a_root_of_one_atom_leaves_turns_to_universal_and_ball_bonds)
{
    static const double x[6][3] = {{0.1, 0.2, 0.3},   {0.23, 0.22, 0.3},  {0.04, 0.31, 0.33},
                                   {0.03, 0.1, 0.26}, {0.28, 0.34, 0.36}, {0.4, 0.33, 0.45}};
    static const int bonds[5][2] = {{0, 1}, {0, 2}, {3, 0}, {1, 4}, {4, 5}};
    static const tal_bond_mobility all[3] = {TAL_BOND_UNIVERSAL, TAL_BOND_BALL, TAL_BOND_SPHERICAL};
    static const tal_bond_mobility ends[3] = {TAL_BOND_UNIVERSAL, TAL_BOND_BALL, TAL_BOND_TORSION};
    const double sigma[6] = {0.3, 0.3, 0.3, 0.3, 0.3, 0.3}, zero[6] = {0.0};
    const double mass[6] = {16.0, 12.0, 4.0, 4.0, 12.0, 4.0};
    const tal_ff_def def = tal_ff_def_default();
    scene s;
    pair_scene(&s, &def, 6, sigma, zero, zero, mass, x, bonds, 5);
    for (int i = 0; i < 81; ++i) {
        const tal_bond_mobility at[5] = {all[i % 3], all[i / 3 % 3], all[i / 9 % 3], ends[i / 27],
                                         TAL_BOND_RIGID};
        const bool turns = at[3] == TAL_BOND_TORSION;
        if (turns && at[0] == TAL_BOND_SPHERICAL) continue; // this gives atom 1 a direction
        tal_mol_bond_choice choice[5];
        int nu = 3 + (turns ? 1 : 3);
        for (int b = 0; b < 5; ++b) {
            choice[b] = (tal_mol_bond_choice){bonds[b][0], bonds[b][1], at[b]};
            // two coordinates place an atom on a sphere; what a torsion hangs on turns as well
            if (b < 3) nu += at[b] == TAL_BOND_SPHERICAL || (b == 0 && turns) ? 3 : 2;
        }
        tal_mol_granularity how = tal_mol_granularity_default();
        how.root = 0;
        how.bonds = choice;
        how.num_bonds = 5;
        check_regular(&s, &how, nu);
    }
    close_scene(&s);
}

END_TEST

// Atom 0 alone with a torsion, behind which 3 is beside the axis, and a ball, behind which 4 is: a
// turn of the root about the torsion is one of the torsion and one of the ball, so the torsion is
// rigid, which is listed. With two torsions the same tree is regular.
START_TEST(a_torsion_that_a_root_of_one_atom_can_do_is_rigid)
{
    static const double x[5][3] = {{0.1, 0.2, 0.3},
                                   {0.23, 0.22, 0.3},
                                   {0.04, 0.31, 0.33},
                                   {0.28, 0.34, 0.36},
                                   {0.1, 0.45, 0.3}};
    static const int bonds[4][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 4}};
    const double sigma[5] = {0.3, 0.3, 0.3, 0.3, 0.3}, zero[5] = {0.0};
    const double mass[5] = {16.0, 12.0, 12.0, 4.0, 4.0};
    const tal_ff_def def = tal_ff_def_default();
    tal_mol_bond_choice choice[4] = {{0, 1, TAL_BOND_TORSION},
                                     {0, 2, TAL_BOND_BALL},
                                     {1, 3, TAL_BOND_RIGID},
                                     {2, 4, TAL_BOND_RIGID}};
    tal_mol_granularity how = tal_mol_granularity_default();
    how.root = 0;
    how.bonds = choice;
    how.num_bonds = 4;
    scene s;
    pair_scene(&s, &def, 5, sigma, zero, zero, mass, x, bonds, 4);
    check_regular(&s, &how, 9);
    open_system(&s, &how, NULL);
    const tal_mol_demoted it = tal_mol_demoted_at(s.molecule, 0);
    ck_assert_int_eq(it.bond, 0);
    ck_assert_int_eq(it.from, TAL_BOND_TORSION);
    ck_assert_int_eq(it.to, TAL_BOND_RIGID);
    close_system(&s);
    choice[1].mobility = TAL_BOND_TORSION;
    check_regular(&s, &how, 8);
    close_scene(&s);
}

END_TEST

// Two atoms with a bend between them: a turn of the root about the bond moves nothing.
START_TEST(mobilities_that_move_nothing_are_refused_by_name)
{
    static const double x[2][3] = {{0.1, 0.2, 0.3}, {0.23, 0.22, 0.3}};
    static const int bonds[1][2] = {{0, 1}};
    const double sigma[2] = {0.3, 0.3}, zero[2] = {0.0}, mass[2] = {16.0, 12.0};
    const tal_ff_def def = tal_ff_def_default();
    const tal_mol_bond_choice bend = {0, 1, TAL_BOND_BEND_STRETCH};
    tal_mol_granularity how = tal_mol_granularity_default();
    how.root = 0;
    how.bonds = &bend;
    how.num_bonds = 1;
    scene s;
    pair_scene(&s, &def, 2, sigma, zero, zero, mass, x, bonds, 1);
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    ck_assert_ptr_null(tal_mol_add(system, matter, forces, "m", s.mol, &how, NULL));
    ck_assert_ptr_nonnull(strstr(tal_system_error(system)->message, "body of atom 0"));
    tal_system_destroy(system);
    close_scene(&s);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("bodies");
    TCase *all = tcase_create("bodies");
    tcase_add_test(all, bodies_are_those_of_the_references);
    tcase_add_test(all, a_state_begins_at_the_positions_given);
    tcase_add_test(all, levels_have_the_mobilities_they_promise);
    tcase_add_test(all, every_demotion_is_listed);
    tcase_add_test(all, roots_are_chosen_as_asked);
    tcase_add_test(all, a_root_of_one_atom_leaves_turns_to_universal_and_ball_bonds);
    tcase_add_test(all, a_torsion_that_a_root_of_one_atom_can_do_is_rigid);
    tcase_add_test(all, mobilities_that_move_nothing_are_refused_by_name);
    tcase_add_test(all, the_q_of_a_torsion_is_its_dihedral);
    tcase_add_test(all, the_q_of_spherical_bonds_are_length_angle_and_dihedral);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
