// Molecules in a System for the tests of molecule/: one with everything in it, and pairs.
#ifndef TALUS_MOLECULE_SUPPORT_H
#define TALUS_MOLECULE_SUPPORT_H

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

static inline void close_system(scene *s)
{
    tal_state_destroy(s->state);
    tal_system_destroy(s->system);
    s->state = NULL;
    s->system = NULL;
}

static inline void close_scene(scene *s)
{
    close_system(s);
    tal_mol_destroy(s->mol);
    tal_ff_destroy(s->ff);
}

static inline void open_system(scene *s, const tal_mol_granularity *how, const tal_xform *X_GR)
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

static inline void realize(scene *s, tal_stage stage)
{
    const tal_status st = tal_system_realize(s->system, s->state, stage);
    ck_assert_msg(st == TAL_OK, "%s", tal_state_error(s->state)->message);
}

// Two classes that know every bonded term, with Urey-Bradley terms and impropers.
static inline tal_ff *rich_field(void)
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

static inline tal_vec3 rich_position(int atom)
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

static inline void rich_scene(scene *s)
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

static inline tal_mol_granularity how_at(int i)
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

static inline void scatter_q(scene *s, test_rng *rng, double size)
{
    double *q = tal_state_upd_q(s->state);
    for (int i = 0; i < tal_state_nq(s->state); ++i) {
        q[i] += test_random_uniform(rng, -size, size);
    }
    ck_assert_int_eq(tal_matter_normalize_quaternions(s->matter, s->state), TAL_OK);
}

// A molecule of nothing but pairs, from a table of sizes and depths.
static inline void pair_scene(scene *s, const tal_ff_def *def, int n, const double sigma[],
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

#endif // TALUS_MOLECULE_SUPPORT_H
