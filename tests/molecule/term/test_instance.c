// Tests for molecule/src/plan/ and molecule/src/term/: molecules as bodies at every granularity,
// their energies and forces.
#include "alloc_guard.h"
#include "molecule_graphs.h"
#include "molecule_terms.h"
#include "talus_test.h"
#include "term/instance_internal.h"

// ---- molecules

typedef struct scene {
    tal_ff *ff;
    tal_mol *mol;
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    const tal_mol_instance *molecule;
} scene;

static void close_system(scene *s)
{
    tal_state_destroy(s->state);
    tal_system_destroy(s->system);
    s->state = NULL;
    s->system = NULL;
}

static void close_scene(scene *s)
{
    close_system(s);
    tal_mol_destroy(s->mol);
    tal_ff_destroy(s->ff);
}

static void open_system(scene *s, const tal_mol_granularity *how, const tal_xform *X_GR)
{
    tal_error err;
    s->system = tal_system_create(NULL);
    s->matter = tal_matter_create(s->system);
    s->forces = tal_forces_create(s->system, s->matter);
    s->molecule = tal_mol_add(s->system, s->matter, s->forces, "mol", s->mol, how, X_GR);
    ck_assert_msg(s->molecule != NULL, "%s", tal_system_error(s->system)->message);
    ck_assert_msg(tal_system_realize_topology(s->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(s->system, &s->state, &err) == TAL_OK, "%s", err.message);
}

static void realize(scene *s, tal_stage stage)
{
    const tal_status st = tal_system_realize(s->system, s->state, stage);
    ck_assert_msg(st == TAL_OK, "%s", tal_state_error(s->state)->message);
}

// Two classes that know every bonded term, with Urey-Bradley terms and impropers.
static tal_ff *rich_field(void)
{
    tal_ff_def def = tal_ff_def_default();
    def.coulomb_scale[2] = 1.0 / 1.2;
    def.vdw_scale[2] = 0.5;
    def.vdw_scale[3] = 0.9;
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
    const tal_ff_wave waves[] = {{1, 2.0, 0.4}, {2, 3.0, acos(-1.0)}, {3, 1.5, 0.0}};
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j <= i; ++j) {
            (void)tal_ff_add_stretch(ff, i, j, 1000.0 + 100.0 * i, 0.14);
            (void)tal_ff_add_torsion(ff, TAL_FF_ANY, i, j, TAL_FF_ANY, waves, 1 + i + j);
            for (int k = 0; k < 2; ++k) {
                (void)tal_ff_add_bend(ff, i, k, j, 50.0 + 10.0 * k, 1.9);
                (void)tal_ff_add_urey_bradley(ff, i, k, j, 20.0, 0.2);
            }
        }
        (void)tal_ff_add_improper(ff, TAL_FF_ANY, TAL_FF_ANY, i, TAL_FF_ANY, &waves[1], 1);
    }
    (void)tal_ff_add_pair14(ff, 0, 1, 0.18, 0.3);
    ck_assert_msg(tal_ff_freeze(ff, &err) == TAL_OK, "%s", err.message);
    return ff;
}

// A hexagon (0-5) with a chain N-CA-C-N-CA-C (6-11) that has branches 12, 13; a linear end 14-15; a
// molecule of two (16, 17) and an atom for itself (18). Atoms are 0.1 to 0.2 nm apart.
enum {
    RICH = 19
};

static tal_vec3 rich_position(int atom)
{
    const double a = atom * acos(-1.0) / 3.0;
    if (atom < 6) return tal_v3(0.14 * cos(a), 0.14 * sin(a), 0.005 * (atom % 2));
    if (atom < 12) { // along x, up and down, out of plane
        const int i = atom - 5;
        return tal_v3(0.14 + 0.12 * i, 0.08 * (i % 2), 0.05 * (i % 3));
    }
    switch (atom) {
    case 12:
        return tal_v3(0.39, -0.10, 0.16);
    case 13:
        return tal_v3(0.73, -0.09, -0.13);
    case 14:
        return tal_v3(0.96, 0.03, 0.09);
    case 15:
        return tal_v3(1.06, 0.06, 0.18);
    case 16:
        return tal_v3(0.3, 0.5, 0.3);
    case 17:
        return tal_v3(0.42, 0.55, 0.3);
    default:
        return tal_v3(0.1, -0.4, 0.35);
    }
}

static void rich_scene(scene *s)
{
    static const int bonds[17][3] = {{0, 1, 1},   {1, 2, 2},   {2, 3, 1},  {3, 4, 2},   {4, 5, 1},
                                     {5, 0, 2},   {0, 6, 1},   {6, 7, 1},  {7, 8, 1},   {8, 9, 2},
                                     {9, 10, 1},  {10, 11, 1}, {12, 7, 1}, {10, 13, 1}, {11, 14, 1},
                                     {14, 15, 3}, {16, 17, 1}};
    static const char *const names[6] = {"N", "CA", "C", "N", "CA", "C"};
    tal_error err;
    tal_vec3 x[RICH];
    memset(s, 0, sizeof *s);
    s->ff = rich_field();
    ck_assert_int_eq(tal_mol_create(s->ff, NULL, NULL, &s->mol, &err), TAL_OK);
    for (int i = 0; i < RICH; ++i) {
        const bool is_chain = i >= 6 && i < 12;
        const int residue = i < 6 ? 0 : i < 9 || i == 12 ? 1 : i < 16 ? 2 : i;
        (void)tal_mol_add_atom(s->mol, i % 3 == 0 ? 1 : 0, is_chain ? names[i - 6] : "X", residue,
                               i < 16 ? "A" : "B");
        x[i] = rich_position(i);
    }
    // 15 is in line with 11 and 14
    x[15] = tal_v3_axpy(0.8, tal_v3_sub(x[14], x[11]), x[14]);
    for (int b = 0; b < 17; ++b) {
        (void)tal_mol_add_bond(s->mol, bonds[b][0], bonds[b][1], bonds[b][2]);
    }
    (void)tal_mol_set_positions(s->mol, x, RICH);
    const int ring = tal_mol_add_cluster(s->mol, "ring"), end = tal_mol_add_cluster(s->mol, "end");
    for (int i = 0; i < 6; ++i) {
        (void)tal_mol_place_atom(s->mol, ring, i, x[i]);
    }
    (void)tal_mol_place_atom(s->mol, end, 14, x[14]);
    (void)tal_mol_place_atom(s->mol, end, 15, x[15]);
    ck_assert_msg(tal_mol_freeze(s->mol, &err) == TAL_OK, "%s", err.message);
}

// The granularities that tests go through: every level, and every mobility of a bond.
enum {
    NUM_HOWS = 20
};

static tal_mol_granularity how_at(int i)
{
    static tal_mol_bond_choice choice[2];
    static const int domain[3] = {7, 8, 12};
    static tal_mol_selection selection;
    tal_mol_granularity how = tal_mol_granularity_default();
    memset(&selection, 0, sizeof selection);
    selection.last_residue = -1;
    how.selections = &selection;
    how.bonds = choice;
    if (i < 8) how.level = (tal_mol_level)i;
    if (i == 8) how.open_rings = true;
    if (i == 9) how.freeze_double = true;
    if (i == 10) how.map_bonded = false;
    if (i == 11) how.center = true;
    if (i == 12) how.root = 15;
    if (i == 13) { // Cartesian, but the chain as torsions
        how.level = TAL_MOL_CARTESIAN;
        selection.level = TAL_MOL_TORSIONS;
        selection.chain = "A";
        how.num_selections = 1;
    }
    if (i == 14) { // torsions, with three atoms rigid
        selection.level = TAL_MOL_DOMAINS;
        selection.atoms = domain;
        selection.num_atoms = 3;
        how.num_selections = 1;
    }
    if (i >= 15) {
        static const tal_bond_mobility mobilities[5][2] = {
            {TAL_BOND_CYLINDER, TAL_BOND_SLIDER},
            {TAL_BOND_ANGLE_PIN, TAL_BOND_BEND_STRETCH},
            {TAL_BOND_UNIVERSAL, TAL_BOND_BALL},
            {TAL_BOND_SPHERICAL, TAL_BOND_FREE},
            {TAL_BOND_BEND_STRETCH, TAL_BOND_SPHERICAL}};
        choice[0] = (tal_mol_bond_choice){7, 8, mobilities[i - 15][0]};
        choice[1] = (tal_mol_bond_choice){10, 9, mobilities[i - 15][1]};
        how.num_bonds = 2;
    }
    return how;
}

// ---- bodies

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

static void scatter_q(scene *s, test_rng *rng, double size)
{
    double *q = tal_state_upd_q(s->state);
    for (int i = 0; i < tal_state_nq(s->state); ++i) {
        q[i] += test_random_uniform(rng, -size, size);
    }
    ck_assert_int_eq(tal_matter_normalize_quaternions(s->matter, s->state), TAL_OK);
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

// ---- energies and forces

static void read_all(scene *s, tal_mol_energy *energy, tal_vec3 f[])
{
    realize(s, TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_mol_calc_energy(s->molecule, s->state, energy), TAL_OK);
    ck_assert_int_eq(tal_mol_calc_forces(s->molecule, s->state, f, RICH), TAL_OK);
}

// The same atoms at the same places: the positions differ by round-off, 1e-15, times stiffnesses
// and curvatures up to 1e6.
START_TEST(energy_and_forces_are_the_same_at_every_granularity)
{
    scene s;
    rich_scene(&s);
    tal_mol_energy first;
    tal_vec3 f[RICH];
    for (int i = 0; i < NUM_HOWS; ++i) {
        const tal_mol_granularity how = how_at(i);
        tal_mol_energy energy;
        tal_vec3 g[RICH];
        open_system(&s, &how, NULL);
        read_all(&s, i == 0 ? &first : &energy, i == 0 ? f : g);
        const tal_mol_energy *e = i == 0 ? &first : &energy;
        const double moving =
            tal_force_potential_energy(s.forces, s.state, tal_mol_instance_force(s.molecule));
        ck_assert_double_eq_tol(moving + e->frozen, e->total, 1e-9);
        if (i == 0) ck_assert_double_eq(e->frozen, 0.0);
        ck_assert_double_eq_tol(e->total, first.total, 1e-9);
        for (int a = 0; i > 0 && a < RICH; ++a) {
            test_assert_v3_near(g[a], f[a], 1e-8);
        }
        close_system(&s);
    }
    close_scene(&s);
}

END_TEST

// What was left out as constant is constant: frozen terms keep their energy when q changes, and the
// element computes all others.
START_TEST(frozen_terms_stay_as_they_are)
{
    scene s;
    rich_scene(&s);
    test_rng rng = test_rng_seed(8);
    for (int i = 0; i < NUM_HOWS; ++i) {
        const tal_mol_granularity how = how_at(i);
        open_system(&s, &how, NULL);
        tal_mol_energy before, after;
        tal_vec3 f[RICH];
        read_all(&s, &before, f);
        scatter_q(&s, &rng, 0.02);
        read_all(&s, &after, f);
        const double moving =
            tal_force_potential_energy(s.forces, s.state, tal_mol_instance_force(s.molecule));
        ck_assert_double_eq_tol(after.frozen, before.frozen, 1e-9);
        ck_assert_double_eq_tol(moving + after.frozen, after.total, 1e-9);
        if (i == TAL_MOL_RIGID) ck_assert_double_ne(before.frozen, 0.0);
        if (i != TAL_MOL_DOMAINS) ck_assert(after.total != before.total); // there all is one body
        close_system(&s);
    }
    close_scene(&s);
}

END_TEST

static double energy_at(scene *s, const double q[], int nq)
{
    ck_assert_int_eq(tal_state_set_q(s->state, q, nq), TAL_OK);
    realize(s, TAL_STAGE_POSITION);
    return tal_force_potential_energy(s->forces, s->state, tal_mol_instance_force(s->molecule));
}

// Four points of a difference: the energy is a sum of 400 roundings to 1.5e-11, so 1e-9/h at worst;
// h^4 times a fifth derivative of some (10 / 0.1 nm)^5.
START_TEST(generalized_forces_are_the_slope_of_the_energy)
{
    scene s;
    rich_scene(&s);
    test_rng rng = test_rng_seed(9);
    const double h = 1e-4;
    for (int trial = 0; trial < 2 * NUM_HOWS; ++trial) {
        const tal_mol_granularity how = how_at(trial % NUM_HOWS);
        open_system(&s, &how, NULL);
        scatter_q(&s, &rng, 0.01);
        const int nq = tal_state_nq(s.state), nu = tal_state_nu(s.state);
        double q[80], direction[80], g[80], u[80], e[4];
        memcpy(q, tal_state_q(s.state), (size_t)nq * sizeof q[0]);
        for (int i = 0; i < nu; ++i) {
            u[i] = test_random_uniform(&rng, -1.0, 1.0);
        }
        ck_assert_int_eq(tal_state_set_u(s.state, u, nu), TAL_OK);
        realize(&s, TAL_STAGE_VELOCITY);
        memcpy(direction, tal_state_qdot(s.state), (size_t)nq * sizeof q[0]);
        const tal_force_ix force = tal_mol_instance_force(s.molecule);
        ck_assert_int_eq(tal_forces_calc_generalized(s.forces, s.state, &force, 1, g), TAL_OK);
        double power = 0.0, size = 1.0;
        for (int i = 0; i < nu; ++i) {
            power += g[i] * u[i];
            size = fmax(size, fabs(g[i]));
        }
        static const double steps[4] = {-2.0, -1.0, 1.0, 2.0};
        for (int k = 0; k < 4; ++k) {
            double moved[80];
            for (int i = 0; i < nq; ++i) {
                moved[i] = q[i] + steps[k] * h * direction[i];
            }
            e[k] = energy_at(&s, moved, nq);
        }
        const double slope = (e[0] - 8.0 * e[1] + 8.0 * e[2] - e[3]) / (12.0 * h);
        ck_assert_msg(fabs(slope + power) < 1e-5 + 1e-6 * size, "granularity %d: %.12g, not %.12g",
                      trial % NUM_HOWS, -slope, power);
        close_system(&s);
    }
    close_scene(&s);
}

END_TEST

// Nothing outside: forces and torques about the origin of all bodies cancel.
START_TEST(a_molecule_neither_pushes_nor_turns_itself)
{
    scene s;
    rich_scene(&s);
    test_rng rng = test_rng_seed(10);
    for (int i = 0; i < NUM_HOWS; ++i) {
        tal_mol_granularity how = how_at(i);
        how.map_bonded = false; // forces along mobilities have reactions that are not counted here
        open_system(&s, &how, NULL);
        scatter_q(&s, &rng, 0.01);
        realize(&s, TAL_STAGE_VELOCITY);
        static tal_spatial_vec F[64];
        static double f[80];
        const int n = tal_matter_num_bodies(s.matter);
        memset(F, 0, sizeof F);
        memset(f, 0, sizeof f);
        ck_assert_int_eq(
            tal_force_apply(s.forces, s.state, tal_mol_instance_force(s.molecule), F, f), TAL_OK);
        tal_spatial_vec sum = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        double size = 1.0;
        for (int b = 1; b < n; ++b) {
            const tal_vec3 p = tal_body_p_GB(s.matter, s.state, (tal_body_ix){b});
            sum = tal_sv_add(sum, tal_sv_shift_force(F[b], p));
            size = fmax(size, tal_v3_norm(F[b].v));
        }
        ck_assert_double_le(tal_v3_norm(sum.v), 1e-13 * size + 1e-13);
        // each force is rounded to 1.5e-11, on arms of 1 nm
        ck_assert_double_le(tal_v3_norm(sum.w), 1e-9 + 1e-13 * size);
        close_system(&s);
    }
    close_scene(&s);
}

END_TEST

// The two ways of torsions agree to 1e-12 of the largest force.
START_TEST(mapped_torsions_are_those_of_the_atoms)
{
    scene s;
    rich_scene(&s);
    test_rng rng = test_rng_seed(12);
    double g[2][80], e[2];
    for (int trial = 0; trial < 10; ++trial) {
        const test_rng same = rng;
        int nu = 0;
        for (int k = 0; k < 2; ++k) {
            tal_mol_granularity how = tal_mol_granularity_default();
            how.map_bonded = k == 1;
            open_system(&s, &how, NULL);
            rng = same;
            scatter_q(&s, &rng, 0.3);
            realize(&s, TAL_STAGE_VELOCITY);
            const tal_force_ix force = tal_mol_instance_force(s.molecule);
            ck_assert_int_eq(tal_forces_calc_generalized(s.forces, s.state, &force, 1, g[k]),
                             TAL_OK);
            e[k] = tal_force_potential_energy(s.forces, s.state, force);
            nu = tal_state_nu(s.state);
            ck_assert_int_eq(tal_mol_instance_statistics(s.molecule).num_mapped > 5, k == 1);
            close_system(&s);
        }
        const double size = fmax(1.0, test_largest(g[0], nu));
        ck_assert_double_eq_tol(e[0], e[1], 1e-12 * size + 1e-9); // 60 roundings to the grid
        for (int i = 0; i < nu; ++i) {
            ck_assert_double_eq_tol(g[0][i], g[1][i], 1e-12 * size + 1e-9);
        }
    }
    close_scene(&s);
}

END_TEST

// A molecule of nothing but pairs, from a table of sizes and depths.
static void pair_scene(scene *s, const tal_ff_def *def, int n, const double sigma[],
                       const double epsilon[], const double charge[], const double mass[],
                       const double (*x)[3], const int (*bonds)[2], int num_bonds)
{
    tal_error err;
    tal_vec3 at[16];
    memset(s, 0, sizeof *s);
    ck_assert_int_eq(tal_ff_create(def, NULL, &s->ff, &err), TAL_OK);
    for (int i = 0; i < n; ++i) {
        const char name[2] = {(char)('a' + i), '\0'};
        tal_ff_class_def one = tal_ff_class_def_default();
        one.name = name;
        one.size = sigma[i];
        one.well_depth = epsilon[i];
        (void)tal_ff_set_type_mass(
            s->ff, tal_ff_add_type(s->ff, name, tal_ff_add_class(s->ff, &one), charge[i]), mass[i]);
        at[i] = tal_v3(x[i][0], x[i][1], x[i][2]);
    }
    ck_assert_msg(tal_ff_freeze(s->ff, &err) == TAL_OK, "%s", err.message);
    const tal_mol_def bare = {.only_added = true};
    ck_assert_int_eq(tal_mol_create(s->ff, &bare, NULL, &s->mol, &err), TAL_OK);
    for (int i = 0; i < n; ++i) {
        (void)tal_mol_add_atom(s->mol, i, "x", 1, "");
    }
    for (int b = 0; b < num_bonds; ++b) {
        (void)tal_mol_add_bond(s->mol, bonds[b][0], bonds[b][1], 1);
    }
    (void)tal_mol_set_positions(s->mol, at, n);
    ck_assert_msg(tal_mol_freeze(s->mol, &err) == TAL_OK, "%s", err.message);
}

// refs:scaling14
START_TEST(near_pairs_are_scaled_as_the_references_say)
{
    const double mass[6] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    for (size_t k = 0; k < sizeof ref_scaleds / sizeof ref_scaleds[0]; ++k) {
        const ref_scaled *r = &ref_scaleds[k];
        tal_ff_def def = tal_ff_def_default();
        def.mixing = TAL_FF_LORENTZ_BERTHELOT;
        def.coulomb_constant = 138.935456;
        memcpy(def.coulomb_scale, r->coulomb, sizeof def.coulomb_scale);
        memcpy(def.vdw_scale, r->vdw, sizeof def.vdw_scale);
        for (int level = 0; level < 2; ++level) {
            scene s;
            tal_mol_granularity how = tal_mol_granularity_default();
            how.level = level == 0 ? TAL_MOL_CARTESIAN : TAL_MOL_TORSIONS;
            pair_scene(&s, &def, r->num_atoms, r->sigma, r->epsilon, r->q, mass, r->x, r->bonds,
                       r->num_bonds);
            open_system(&s, &how, NULL);
            realize(&s, TAL_STAGE_POSITION);
            tal_mol_energy e;
            tal_vec3 f[6];
            ck_assert_int_eq(tal_mol_calc_energy(s.molecule, s.state, &e), TAL_OK);
            ck_assert_int_eq(tal_mol_calc_forces(s.molecule, s.state, f, r->num_atoms), TAL_OK);
            if (level == 0) {
                ck_assert_double_eq_tol(e.vdw + e.vdw14, r->e_vdw, 1e-9);
                ck_assert_double_eq_tol(e.coulomb + e.coulomb14, r->e_coulomb, 1e-9);
            }
            ck_assert_double_eq_tol(e.total, r->e_vdw + r->e_coulomb, 1e-9);
            for (int a = 0; a < r->num_atoms; ++a) {
                const tal_vec3 expected = {r->f[a][0], r->f[a][1], r->f[a][2]};
                const double size = fmax(1.0, tal_v3_norm(expected));
                test_assert_v3_near(f[a], expected, 1e-9 * size);
            }
            close_scene(&s);
        }
    }
}

END_TEST

// refs:water_dimer
START_TEST(two_rigid_waters_pull_as_the_references_say)
{
    static const int bonds[4][2] = {{0, 1}, {0, 2}, {3, 4}, {3, 5}};
    const double mass[6] = {15.9994, 1.008, 1.008, 15.9994, 1.008, 1.008};
    tal_ff_def def = tal_ff_def_default();
    def.mixing = TAL_FF_LORENTZ_BERTHELOT;
    def.coulomb_constant = 138.935456;
    for (size_t k = 0; k < sizeof ref_waters / sizeof ref_waters[0]; ++k) {
        const ref_water *r = &ref_waters[k];
        const double sigma[6] = {r->sO, r->sH, r->sH, r->sO, r->sH, r->sH};
        const double epsilon[6] = {r->eO, r->eH, r->eH, r->eO, r->eH, r->eH};
        const double charge[6] = {r->qO, r->qH, r->qH, r->qO, r->qH, r->qH};
        scene s;
        tal_mol_granularity how = tal_mol_granularity_default();
        how.level = TAL_MOL_RIGID;
        pair_scene(&s, &def, 6, sigma, epsilon, charge, mass, r->x, bonds, 4);
        open_system(&s, &how, NULL);
        realize(&s, TAL_STAGE_VELOCITY);
        tal_mol_energy e;
        ck_assert_int_eq(tal_mol_calc_energy(s.molecule, s.state, &e), TAL_OK);
        ck_assert_double_eq_tol(e.vdw, r->e_vdw, 1e-10 * fmax(1.0, fabs(r->e_vdw)));
        ck_assert_double_eq_tol(e.coulomb, r->e_coulomb, 1e-10 * fmax(1.0, fabs(r->e_coulomb)));
        tal_spatial_vec F[3] = {{{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}};
        double f[12] = {0.0};
        ck_assert_int_eq(
            tal_force_apply(s.forces, s.state, tal_mol_instance_force(s.molecule), F, f), TAL_OK);
        for (int b = 0; b < 2; ++b) { // the origin of a root is its mass center
            const tal_vec3 force = {r->F[b][0], r->F[b][1], r->F[b][2]};
            const tal_vec3 torque = {r->torque[b][0], r->torque[b][1], r->torque[b][2]};
            const double size = fmax(1.0, tal_v3_norm(force));
            test_assert_v3_near(F[1 + b].v, force, 1e-9 * size);
            test_assert_v3_near(F[1 + b].w, torque, 1e-9 * size);
        }
        close_scene(&s);
    }
}

END_TEST

START_TEST(scales_change_the_terms_they_name)
{
    scene s;
    rich_scene(&s);
    tal_mol_granularity how = tal_mol_granularity_default();
    how.level = TAL_MOL_CARTESIAN;
    open_system(&s, &how, NULL);
    tal_mol_energy a, b;
    tal_vec3 f[RICH];
    read_all(&s, &a, f);
    ck_assert_int_eq(tal_mol_set_scale(s.molecule, s.state, TAL_MOL_SCALE_COULOMB, 0.5), TAL_OK);
    ck_assert_int_eq(tal_mol_set_scale(s.molecule, s.state, TAL_MOL_SCALE_BONDED, 0.0), TAL_OK);
    read_all(&s, &b, f);
    ck_assert_double_eq_tol(b.coulomb, 0.5 * a.coulomb, 1e-9);
    ck_assert_double_eq(b.vdw, a.vdw);
    ck_assert_double_eq(b.stretch, 0.0);
    ck_assert_double_eq(tal_mol_scale_of(s.molecule, s.state, TAL_MOL_SCALE_COULOMB), 0.5);
    ck_assert_int_eq(tal_mol_set_scale(s.molecule, s.state, TAL_MOL_SCALE_VDW, NAN),
                     TAL_ERR_NOT_FINITE);
    close_scene(&s);
}

END_TEST

// The sum of integers does not depend on order: a molecule with its atoms in reverse has the same
// energies and forces, bit for bit, as each contribution is the same number.
START_TEST(sums_do_not_depend_on_the_order_of_atoms)
{
    test_rng rng = test_rng_seed(15);
    double sigma[16], epsilon[16], charge[16], mass[16], x[2][16][3];
    tal_vec3 f[2][16];
    tal_mol_energy e[2];
    for (int i = 0; i < 16; ++i) {
        sigma[i] = 0.3;
        epsilon[i] = 0.5;
        charge[i] = 0.25;
        mass[i] = 1.0;
        for (int k = 0; k < 3; ++k) {
            x[0][i][k] = x[1][15 - i][k] = test_random_uniform(&rng, 0.0, 0.8);
        }
    }
    for (int k = 0; k < 2; ++k) {
        scene s;
        pair_scene(&s, NULL, 16, sigma, epsilon, charge, mass, (const double(*)[3])x[k], NULL, 0);
        open_system(&s, NULL, NULL);
        realize(&s, TAL_STAGE_POSITION);
        ck_assert_int_eq(tal_mol_calc_energy(s.molecule, s.state, &e[k]), TAL_OK);
        ck_assert_int_eq(tal_mol_calc_forces(s.molecule, s.state, f[k], 16), TAL_OK);
        close_scene(&s);
    }
    ck_assert(memcmp(&e[0], &e[1], sizeof e[0]) == 0);
    for (int i = 0; i < 16; ++i) {
        ck_assert_double_eq(f[0][i].x, f[1][15 - i].x);
        ck_assert_double_eq(f[0][i].y, f[1][15 - i].y);
        ck_assert_double_eq(f[0][i].z, f[1][15 - i].z);
    }
}

END_TEST

// Pairs close enough for forces of 1e9 are summed on the coarse grid, to 2.4e-4; at 1e20 the two
// atoms are named.
START_TEST(large_forces_are_summed_and_larger_ones_refused)
{
    const double sigma[2] = {0.3, 0.3}, epsilon[2] = {1.0, 1.0}, none[2] = {0.0, 0.0};
    const double mass[2] = {1.0, 1.0};
    for (int k = 0; k < 2; ++k) {
        const double r = k == 0 ? 0.06 : 0.005;
        const double x[2][3] = {{0.0, 0.0, 0.0}, {r, 0.0, 0.0}};
        scene s;
        pair_scene(&s, NULL, 2, sigma, epsilon, none, mass, x, NULL, 0);
        open_system(&s, NULL, NULL);
        realize(&s, TAL_STAGE_POSITION);
        tal_vec3 f[2];
        const tal_status st = tal_mol_calc_forces(s.molecule, s.state, f, 2);
        if (k == 0) {
            const double s6 = pow(0.3 / r, 6.0), expected = 24.0 * (2.0 * s6 * s6 - s6) / r;
            ck_assert_int_eq(st, TAL_OK);
            ck_assert_double_eq_tol(-f[0].x, expected, 1e-12 * expected + 2.4e-4);
            ck_assert_double_ge(expected, 1e9);
        } else {
            ck_assert_int_eq(st, TAL_ERR_NOT_FINITE);
            ck_assert(strstr(tal_state_error(s.state)->message, "atoms 0 and 1 are 0.005 nm") !=
                      NULL);
        }
        close_scene(&s);
    }
}

END_TEST

START_TEST(realizing_allocates_nothing_and_gives_the_same_bytes)
{
    scene s;
    rich_scene(&s);
    open_system(&s, NULL, NULL);
    realize(&s, TAL_STAGE_MODEL);
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_system_realize(s.system, s.state, TAL_STAGE_ACCELERATION));
    ck_assert_int_eq(st, TAL_OK);
    double first[80], again[80];
    const size_t bytes = (size_t)tal_state_nu(s.state) * sizeof first[0];
    memcpy(first, tal_state_udot(s.state), bytes);
    ck_assert_int_eq(tal_state_invalidate(s.state, TAL_STAGE_INSTANCE), TAL_OK);
    realize(&s, TAL_STAGE_ACCELERATION);
    memcpy(again, tal_state_udot(s.state), bytes);
    ck_assert(memcmp(first, again, bytes) == 0);
    close_scene(&s);
}

END_TEST

// ---- errors

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
    TCase *bodies = tcase_create("bodies");
    tcase_add_test(bodies, bodies_are_those_of_the_references);
    tcase_add_test(bodies, a_state_begins_at_the_positions_given);
    tcase_add_test(bodies, levels_have_the_mobilities_they_promise);
    tcase_add_test(bodies, every_demotion_is_listed);
    tcase_add_test(bodies, roots_are_chosen_as_asked);
    tcase_add_test(bodies, the_q_of_a_torsion_is_its_dihedral);
    tcase_add_test(bodies, the_q_of_spherical_bonds_are_length_angle_and_dihedral);
    suite_add_tcase(suite, bodies);
    TCase *terms = tcase_create("terms");
    tcase_add_test(terms, energy_and_forces_are_the_same_at_every_granularity);
    tcase_add_test(terms, frozen_terms_stay_as_they_are);
    tcase_add_test(terms, generalized_forces_are_the_slope_of_the_energy);
    tcase_add_test(terms, a_molecule_neither_pushes_nor_turns_itself);
    tcase_add_test(terms, mapped_torsions_are_those_of_the_atoms);
    tcase_add_test(terms, near_pairs_are_scaled_as_the_references_say);
    tcase_add_test(terms, two_rigid_waters_pull_as_the_references_say);
    tcase_add_test(terms, scales_change_the_terms_they_name);
    tcase_add_test(terms, sums_do_not_depend_on_the_order_of_atoms);
    tcase_add_test(terms, large_forces_are_summed_and_larger_ones_refused);
    tcase_add_test(terms, realizing_allocates_nothing_and_gives_the_same_bytes);
    suite_add_tcase(suite, terms);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, bad_granularities_are_refused);
    tcase_add_test(errors, a_body_without_mass_and_a_molecule_without_positions_are_refused);
    tcase_add_test(errors, broken_contracts_are_reported);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
