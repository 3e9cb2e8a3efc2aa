// Tests for molecule/src/mol/: molecules, clusters, the bond graph, bonded terms.
#include "mol/mol_internal.h"
#include "molecule_graphs.h"
#include "talus_test.h"

// One class "C" of mass 12, one "H" of mass 1, with all bonded terms; types have the same names.
static tal_ff *field(void)
{
    tal_ff *ff = NULL;
    tal_error err;
    ck_assert_int_eq(tal_ff_create(NULL, NULL, &ff, &err), TAL_OK);
    static const char *const names[] = {"C", "H"};
    for (int i = 0; i < 2; ++i) {
        tal_ff_class_def def = tal_ff_class_def_default();
        def.name = names[i];
        def.size = 0.3;
        def.well_depth = 0.4;
        (void)tal_ff_set_type_mass(ff,
                                   tal_ff_add_type(ff, names[i], tal_ff_add_class(ff, &def), 0.1),
                                   i == 0 ? 12.0 : 1.0);
    }
    const tal_ff_wave wave = {3, 1.0, 0.0};
    for (int i = 0; i < 2; ++i) {
        (void)tal_ff_add_stretch(ff, 0, i, 1000.0, 0.15);
        (void)tal_ff_add_bend(ff, i, 0, i, 100.0, 1.9);
    }
    (void)tal_ff_add_bend(ff, 0, 0, 1, 100.0, 1.9);
    (void)tal_ff_add_torsion(ff, TAL_FF_ANY, 0, 0, TAL_FF_ANY, &wave, 1);
    ck_assert_msg(tal_ff_freeze(ff, &err) == TAL_OK, "%s", err.message);
    return ff;
}

static tal_mol *molecule(const tal_ff *ff, const tal_mol_def *def)
{
    tal_mol *mol = NULL;
    tal_error err;
    ck_assert_msg(tal_mol_create(ff, def, NULL, &mol, &err) == TAL_OK, "%s", err.message);
    return mol;
}

static void freeze(tal_mol *mol)
{
    tal_error err;
    ck_assert_msg(tal_mol_freeze(mol, &err) == TAL_OK, "%s", err.message);
}

// Carbons with these bonds, frozen.
static tal_mol *skeleton(const tal_ff *ff, int n, const int (*bonds)[2], int num_bonds)
{
    tal_mol *mol = molecule(ff, NULL);
    for (int i = 0; i < n; ++i) {
        ck_assert_int_eq(tal_mol_add_atom(mol, 0, "C", 1, "A"), i);
    }
    for (int b = 0; b < num_bonds; ++b) {
        ck_assert_int_eq(tal_mol_add_bond(mol, bonds[b][0], bonds[b][1], 1), b);
    }
    freeze(mol);
    return mol;
}

// ---- the graph

// refs:torsion_tree
START_TEST(ring_bonds_are_those_the_references_say)
{
    tal_ff *ff = field();
    for (size_t g = 0; g < sizeof ref_graphs / sizeof ref_graphs[0]; ++g) {
        const ref_graph *r = &ref_graphs[g];
        tal_mol *mol = skeleton(ff, r->num_atoms, r->bonds, r->num_bonds);
        for (int b = 0; b < r->num_bonds; ++b) {
            ck_assert_msg(tal_mol_is_ring_bond(mol, b) == (r->kind[b] == 2), "%s, bond %d", r->name,
                          b);
        }
        tal_mol_destroy(mol);
    }
    tal_ff_destroy(ff);
}

END_TEST

// refs:scaling14
START_TEST(the_shortest_way_decides_how_far_apart_atoms_are)
{
    tal_ff *ff = field();
    for (size_t g = 0; g < sizeof ref_aparts / sizeof ref_aparts[0]; ++g) {
        const ref_apart *r = &ref_aparts[g];
        tal_mol *mol = skeleton(ff, r->num_atoms, r->bonds, r->num_bonds);
        for (int a = 0; a < r->num_atoms; ++a) {
            for (int b = 0; b < r->num_atoms; ++b) {
                const int expected = r->apart[a][b] < 5 ? r->apart[a][b] : 5;
                ck_assert_int_eq(tal_mol_separation(mol, a, b), expected);
            }
        }
        tal_mol_destroy(mol);
    }
    tal_ff_destroy(ff);
}

END_TEST

// Whether b can be reached from a without one bond, by going everywhere.
static bool is_connected(const tal_mol *mol, int a, int b, int without)
{
    bool seen[64] = {false};
    seen[a] = true;
    for (bool grows = true; grows;) {
        grows = false;
        for (int k = 0; k < mol->num_bonds; ++k) {
            const int *pair = mol->bonds[k].atoms;
            if (k == without || seen[pair[0]] == seen[pair[1]]) continue;
            seen[pair[0]] = seen[pair[1]] = true;
            grows = true;
        }
    }
    return seen[b];
}

// Random graphs against the definitions: a ring bond is one without which its atoms stay connected;
// a part is what is connected; a ring system is what ring bonds connect.
START_TEST(random_graphs_have_the_rings_and_parts_of_the_definition)
{
    tal_ff *ff = field();
    test_rng rng = test_rng_seed(11);
    for (int trial = 0; trial < 200; ++trial) {
        const int n = 2 + (int)(test_random_bits(&rng) % 14);
        int bonds[40][2], num_bonds = 0;
        for (int k = 0; k < n + trial % 5 - 2; ++k) {
            const int a = (int)(test_random_bits(&rng) % (unsigned)n);
            const int b = (int)(test_random_bits(&rng) % (unsigned)n);
            bool is_new = a != b;
            for (int j = 0; j < num_bonds; ++j) {
                is_new = is_new && !(bonds[j][0] == a && bonds[j][1] == b) &&
                         !(bonds[j][0] == b && bonds[j][1] == a);
            }
            if (!is_new) continue;
            bonds[num_bonds][0] = a;
            bonds[num_bonds++][1] = b;
        }
        tal_mol *mol = skeleton(ff, n, (const int(*)[2])bonds, num_bonds);
        int parts = 0;
        for (int a = 0; a < n; ++a) {
            bool is_first = true;
            for (int b = 0; b < n; ++b) {
                const bool same = tal_mol_part(mol, a) == tal_mol_part(mol, b);
                ck_assert_int_eq(same, is_connected(mol, a, b, -1));
                is_first = is_first && !(same && b < a);
            }
            if (is_first) ck_assert_int_eq(tal_mol_part(mol, a), parts++);
        }
        ck_assert_int_eq(tal_mol_num_parts(mol), parts);
        for (int k = 0; k < num_bonds; ++k) {
            const int *pair = bonds[k];
            const bool in_ring = is_connected(mol, pair[0], pair[1], k);
            ck_assert_int_eq(tal_mol_is_ring_bond(mol, k), in_ring);
            ck_assert_int_eq(tal_mol_find_bond(mol, pair[1], pair[0]), k);
            if (in_ring) {
                ck_assert_int_ge(tal_mol_ring_system(mol, pair[0]), 0);
                ck_assert_int_eq(tal_mol_ring_system(mol, pair[0]),
                                 tal_mol_ring_system(mol, pair[1]));
            }
        }
        tal_mol_destroy(mol);
    }
    tal_ff_destroy(ff);
}

END_TEST

START_TEST(ring_systems_are_numbered_and_joined_by_spiro_atoms)
{
    tal_ff *ff = field();
    // two triangles with a common atom, a bridge, another triangle
    const int bonds[10][2] = {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4},
                              {4, 2}, {4, 5}, {5, 6}, {6, 7}, {7, 5}};
    tal_mol *mol = skeleton(ff, 9, bonds, 10);
    const int expected[9] = {0, 0, 0, 0, 0, 1, 1, 1, -1};
    for (int a = 0; a < 9; ++a) {
        ck_assert_int_eq(tal_mol_ring_system(mol, a), expected[a]);
    }
    ck_assert_int_eq(tal_mol_num_neighbors(mol, 2), 4);
    ck_assert_int_eq(tal_mol_neighbor(mol, 2, 3), 4);
    ck_assert_int_eq(tal_mol_num_parts(mol), 2);
    tal_mol_destroy(mol);
    tal_ff_destroy(ff);
}

END_TEST

// ---- bonded terms

// Propane C3H8: 10 bonds, 3 * 6 bends, 2 * 9 torsions about two bonds.
static tal_mol *propane(const tal_ff *ff)
{
    static const int bonds[10][2] = {{0, 1}, {1, 2}, {0, 3}, {0, 4}, {0, 5},
                                     {1, 6}, {1, 7}, {2, 8}, {2, 9}, {2, 10}};
    tal_mol *mol = molecule(ff, NULL);
    for (int i = 0; i < 11; ++i) {
        (void)tal_mol_add_atom(mol, i < 3 ? 0 : 1, i < 3 ? "C" : "H", 1, "");
    }
    for (int b = 0; b < 10; ++b) {
        (void)tal_mol_add_bond(mol, bonds[b][0], bonds[b][1], 1);
    }
    return mol;
}

START_TEST(bonds_imply_every_bend_and_torsion_once)
{
    tal_ff *ff = field();
    tal_mol *mol = propane(ff);
    freeze(mol);
    ck_assert_int_eq(tal_mol_num_terms(mol, TAL_MOL_STRETCH), 10);
    ck_assert_int_eq(tal_mol_num_terms(mol, TAL_MOL_BEND), 18);
    ck_assert_int_eq(tal_mol_num_terms(mol, TAL_MOL_TORSION), 18);
    ck_assert_int_eq(tal_mol_num_terms(mol, TAL_MOL_IMPROPER), 0);
    for (int i = 0; i < 18; ++i) {
        const tal_mol_tuple t = tal_mol_term(mol, TAL_MOL_TORSION, i);
        ck_assert_int_eq(tal_mol_separation(mol, t.atoms[0], t.atoms[3]), 3);
        for (int j = 0; j < i; ++j) {
            const tal_mol_tuple s = tal_mol_term(mol, TAL_MOL_TORSION, j);
            ck_assert(memcmp(s.atoms, t.atoms, sizeof s.atoms) != 0);
        }
    }
    tal_mol_destroy(mol);
    tal_ff_destroy(ff);
}

END_TEST

START_TEST(in_a_ring_of_three_no_torsion_has_an_atom_twice)
{
    tal_ff *ff = field();
    const int bonds[4][2] = {{0, 1}, {1, 2}, {2, 0}, {2, 3}};
    tal_mol *mol = skeleton(ff, 4, bonds, 4);
    ck_assert_int_eq(tal_mol_num_terms(mol, TAL_MOL_TORSION), 2); // 3-2-0-1 and 3-2-1-0
    ck_assert_int_eq(tal_mol_num_terms(mol, TAL_MOL_BEND), 5);
    tal_mol_destroy(mol);
    tal_ff_destroy(ff);
}

END_TEST

START_TEST(terms_added_by_hand_replace_those_of_tables)
{
    tal_ff *ff = field();
    tal_mol *mol = propane(ff);
    const tal_ff_wave waves[] = {{1, 2.0, 0.0}, {3, 4.0, 0.0}};
    (void)tal_mol_add_stretch(mol, 1, 0, 7.0, 0.2);
    (void)tal_mol_add_torsion(mol, 8, 2, 1, 0, waves, 2);
    (void)tal_mol_add_bend(mol, 2, 1, 0, 8.0, 2.0);
    (void)tal_mol_add_urey_bradley(mol, 2, 1, 0, 9.0, 0.25);
    (void)tal_mol_add_harmonic_improper(mol, 3, 4, 0, 5, 10.0, -0.5);
    freeze(mol);
    ck_assert_int_eq(tal_mol_num_terms(mol, TAL_MOL_STRETCH), 10);
    ck_assert_int_eq(tal_mol_num_terms(mol, TAL_MOL_BEND), 18);
    ck_assert_int_eq(tal_mol_num_terms(mol, TAL_MOL_TORSION), 18);
    ck_assert_int_eq(tal_mol_num_terms(mol, TAL_MOL_UREY_BRADLEY), 1);
    ck_assert_int_eq(tal_mol_num_terms(mol, TAL_MOL_IMPROPER), 1);
    ck_assert_double_eq(mol->terms[TAL_MOL_STRETCH].items[0].law.k, 7.0);
    ck_assert_double_eq(mol->terms[TAL_MOL_TORSION].items[0].law.series.a0, 6.0);
    for (int i = 1; i < 10; ++i) {
        ck_assert_double_eq(mol->terms[TAL_MOL_STRETCH].items[i].law.k, 1000.0);
    }
    tal_mol_destroy(mol);
    tal_ff_destroy(ff);
}

END_TEST

// A center of three neighbors; the tables know C-C-C-H in the order given, and wildcards.
START_TEST(impropers_take_the_order_of_the_row_that_fits_best)
{
    tal_ff *ff = NULL;
    tal_error err;
    ck_assert_int_eq(tal_ff_create(NULL, NULL, &ff, &err), TAL_OK);
    for (int i = 0; i < 3; ++i) {
        const char name[2] = {(char)('a' + i), '\0'};
        tal_ff_class_def def = tal_ff_class_def_default();
        def.name = name;
        (void)tal_ff_add_type(ff, name, tal_ff_add_class(ff, &def), 0.0);
    }
    const tal_ff_wave wave[3] = {{2, 1.0, 0.0}, {2, 2.0, 0.0}, {2, 3.0, 0.0}};
    const int any = TAL_FF_ANY;
    (void)tal_ff_add_improper(ff, any, any, 0, 2, &wave[0], 1);
    (void)tal_ff_add_improper(ff, 2, 1, 0, 1, &wave[1], 1);
    (void)tal_ff_add_improper(ff, any, any, 1, any, &wave[2], 1);
    ck_assert_int_eq(tal_ff_freeze(ff, &err), TAL_OK);
    const tal_mol_def def = {.allow_missing = true};
    for (int trial = 0; trial < 3; ++trial) {
        // an a with b, b, c: exact; an a with a, b, c: wildcards, c last; a c: none
        const int types[3][4] = {{0, 1, 1, 2}, {0, 2, 0, 1}, {2, 0, 0, 0}};
        const int expected[3][4] = {{3, 1, 0, 2}, {2, 3, 0, 1}, {-1, -1, -1, -1}};
        tal_mol *mol = molecule(ff, &def);
        for (int i = 0; i < 4; ++i) {
            (void)tal_mol_add_atom(mol, types[trial][i], "x", 1, "");
        }
        for (int i = 1; i < 4; ++i) {
            (void)tal_mol_add_bond(mol, 0, i, 1);
        }
        freeze(mol);
        ck_assert_int_eq(tal_mol_num_terms(mol, TAL_MOL_IMPROPER), trial < 2 ? 1 : 0);
        if (trial < 2) {
            const tal_mol_tuple t = tal_mol_term(mol, TAL_MOL_IMPROPER, 0);
            for (int i = 0; i < 4; ++i) {
                ck_assert_int_eq(t.atoms[i], expected[trial][i]);
            }
        }
        tal_mol_destroy(mol);
    }
    tal_ff_destroy(ff);
}

END_TEST

// One row for a center and three neighbors of different classes, which may be bonded to it in any
// order.
START_TEST(an_improper_is_found_in_every_order_of_neighbors)
{
    tal_ff *ff = NULL;
    tal_error err;
    ck_assert_int_eq(tal_ff_create(NULL, NULL, &ff, &err), TAL_OK);
    for (int i = 0; i < 4; ++i) {
        const char name[2] = {(char)('a' + i), '\0'};
        tal_ff_class_def def = tal_ff_class_def_default();
        def.name = name;
        (void)tal_ff_add_type(ff, name, tal_ff_add_class(ff, &def), 0.0);
    }
    const tal_ff_wave wave = {2, 1.0, 0.0};
    (void)tal_ff_add_improper(ff, 1, 2, 0, 3, &wave, 1);
    ck_assert_int_eq(tal_ff_freeze(ff, &err), TAL_OK);
    const int orders[6][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}};
    const tal_mol_def def = {.allow_missing = true};
    for (int o = 0; o < 6; ++o) {
        int atom_of[4] = {0}; // by type
        tal_mol *mol = molecule(ff, &def);
        (void)tal_mol_add_atom(mol, 0, "x", 1, "");
        for (int i = 0; i < 3; ++i) {
            (void)tal_mol_add_atom(mol, orders[o][i], "x", 1, "");
            (void)tal_mol_add_bond(mol, 0, i + 1, 1);
            atom_of[orders[o][i]] = i + 1;
        }
        freeze(mol);
        ck_assert_int_eq(tal_mol_num_terms(mol, TAL_MOL_IMPROPER), 1);
        const tal_mol_tuple t = tal_mol_term(mol, TAL_MOL_IMPROPER, 0);
        ck_assert_int_eq(t.atoms[0], atom_of[1]);
        ck_assert_int_eq(t.atoms[1], atom_of[2]);
        ck_assert_int_eq(t.atoms[2], 0);
        ck_assert_int_eq(t.atoms[3], atom_of[3]);
        tal_mol_destroy(mol);
    }
    tal_ff_destroy(ff);
}

END_TEST

START_TEST(all_missing_parameters_are_listed)
{
    tal_ff *ff = field();
    tal_mol *mol = molecule(ff, NULL);
    for (int i = 0; i < 3; ++i) {
        (void)tal_mol_add_atom(mol, i == 0 ? 0 : 1, "x", 1, "");
    }
    (void)tal_mol_add_bond(mol, 0, 1, 1);
    (void)tal_mol_add_bond(mol, 1, 2, 1); // no stretch H-H, no bend C-H-H
    tal_error err;
    ck_assert_int_eq(tal_mol_freeze(mol, &err), TAL_ERR_BAD_VALUE);
    ck_assert_msg(strstr(err.message, "2 bonded terms lack parameters") != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.message, "the stretch of atoms 1, 2, ... (H-H)") != NULL, "%s",
                  err.message);
    ck_assert_int_eq(tal_mol_num_missing(mol), 2);
    ck_assert_int_eq(tal_mol_missing(mol, 0).family, TAL_MOL_STRETCH);
    const tal_mol_tuple bend = tal_mol_missing(mol, 1);
    ck_assert_int_eq(bend.family, TAL_MOL_BEND);
    ck_assert_int_eq(bend.atoms[1], 1);
    ck_assert_int_eq(bend.atoms[3], -1);
    tal_mol_destroy(mol);
    tal_ff_destroy(ff);
}

END_TEST

// ---- clusters

START_TEST(a_cluster_of_clusters_has_the_mass_of_its_atoms)
{
    tal_ff *ff = field();
    tal_mol *mol = propane(ff);
    test_rng rng = test_rng_seed(5);
    const int outer = tal_mol_add_cluster(mol, "outer"),
              middle = tal_mol_add_cluster(mol, "middle");
    const int inner = tal_mol_add_cluster(mol, "inner");
    const tal_xform X_OM = test_random_xform(&rng), X_MI = test_random_xform(&rng);
    tal_vec3 at[11];
    for (int a = 0; a < 11; ++a) {
        const int cluster = a < 4 ? outer : a < 8 ? middle : inner;
        const tal_vec3 p = test_random_vec3(&rng);
        ck_assert_int_eq(tal_mol_place_atom(mol, cluster, a, p), TAL_OK);
        at[a] = p;
        if (cluster == inner) at[a] = tal_xf_apply(X_MI, at[a]);
        if (cluster != outer) at[a] = tal_xf_apply(X_OM, at[a]);
        if (a == 5) ck_assert_int_eq(tal_mol_place_cluster(mol, outer, middle, &X_OM), TAL_OK);
    }
    ck_assert_int_eq(tal_mol_place_cluster(mol, middle, inner, &X_MI), TAL_OK);

    tal_mass_props sum = TAL_MASSLESS, props;
    for (int a = 0; a < 11; ++a) {
        const tal_mass_props point = tal_mass_props_point(a < 3 ? 12.0 : 1.0, at[a]);
        sum = tal_mass_props_combine(&sum, &point);
        test_assert_v3_near(tal_mol_cluster_station(mol, outer, a), at[a], 1e-14);
    }
    ck_assert_int_eq(tal_mol_cluster_size(mol, outer), 11);
    ck_assert_int_eq(tal_mol_cluster_size(mol, middle), 7);
    ck_assert_int_eq(tal_mol_cluster_size(mol, inner), 3);
    ck_assert(isnan(tal_mol_cluster_station(mol, inner, 0).x));
    ck_assert_int_eq(tal_mol_calc_cluster_mass(mol, outer, &props), TAL_OK);
    // sums of 11 terms of size 12 * 4
    test_assert_near(&props.mass, &sum.mass, 10, 1e-12, "mass properties");
    tal_mol_destroy(mol);
    tal_ff_destroy(ff);
}

END_TEST

START_TEST(atoms_may_be_solid_spheres)
{
    tal_ff_def def = tal_ff_def_default();
    def.atom_radius_scale = 0.5;
    tal_ff *ff = NULL;
    tal_mol *mol = NULL;
    tal_error err;
    ck_assert_int_eq(tal_ff_create(&def, NULL, &ff, &err), TAL_OK);
    tal_ff_class_def bead = tal_ff_class_def_default();
    bead.name = "bead";
    bead.size = 0.4;
    bead.size_kind = TAL_FF_RADIUS;
    bead.element = 18;
    (void)tal_ff_add_type(ff, "bead", tal_ff_add_class(ff, &bead), 0.0);
    ck_assert_int_eq(tal_ff_freeze(ff, &err), TAL_OK);
    mol = molecule(ff, NULL);
    (void)tal_mol_add_atom(mol, 0, "Ar", 1, "");
    (void)tal_mol_place_atom(mol, tal_mol_add_cluster(mol, "c"), 0, tal_v3(0.0, 0.0, 1.0));
    tal_mass_props props;
    ck_assert_int_eq(tal_mol_calc_cluster_mass(mol, 0, &props), TAL_OK);
    const double own = 0.4 * 39.95 * 0.2 * 0.2;
    ck_assert_double_eq_tol(props.inertia.xx, 39.95 + own, 1e-13);
    ck_assert_double_eq_tol(props.inertia.zz, own, 1e-14);
    tal_mol_destroy(mol);
    tal_ff_destroy(ff);
}

END_TEST

START_TEST(an_atom_is_once_in_a_cluster_and_what_it_holds)
{
    tal_ff *ff = field();
    const tal_vec3 o = {0.0, 0.0, 0.0};
    const tal_xform X = TAL_XFORM_IDENTITY;
    for (int trial = 0; trial < 5; ++trial) {
        tal_mol *mol = propane(ff);
        const int a = tal_mol_add_cluster(mol, "a"), b = tal_mol_add_cluster(mol, "b");
        (void)tal_mol_place_atom(mol, a, 0, o);
        (void)tal_mol_place_atom(mol, b, 1, o);
        ck_assert_int_eq(tal_mol_place_atom(mol, b, 2, o), TAL_OK);
        tal_status st = TAL_OK;
        if (trial == 0) st = tal_mol_place_atom(mol, a, 0, o);
        if (trial == 1) ck_assert_int_eq(tal_mol_place_cluster(mol, a, b, &X), TAL_OK);
        if (trial == 1) st = tal_mol_place_atom(mol, a, 2, o);
        if (trial == 2) ck_assert_int_eq(tal_mol_place_atom(mol, a, 2, o), TAL_OK);
        if (trial == 2) st = tal_mol_place_cluster(mol, a, b, &X);
        if (trial == 3) ck_assert_int_eq(tal_mol_place_cluster(mol, a, b, &X), TAL_OK);
        if (trial == 3) st = tal_mol_place_cluster(mol, b, a, &X);
        if (trial == 4) st = tal_mol_place_cluster(mol, a, a, &X);
        ck_assert_int_eq(st, TAL_ERR_BAD_VALUE);
        tal_error err;
        ck_assert_int_eq(tal_mol_freeze(mol, &err), TAL_ERR_BAD_VALUE);
        ck_assert_msg(strstr(err.message, trial < 3 ? "twice in cluster 'a'" : "in itself") != NULL,
                      "%s", err.message);
        tal_mol_destroy(mol);
    }
    tal_ff_destroy(ff);
}

END_TEST

// ---- copies

START_TEST(a_copy_has_everything_of_the_molecule)
{
    tal_ff *ff = field();
    tal_mol *one = propane(ff), *two = molecule(ff, NULL);
    tal_vec3 x[11];
    for (int i = 0; i < 11; ++i) {
        x[i] = tal_v3(0.1 * i, 0.0, 0.0);
    }
    (void)tal_mol_set_positions(one, x, 11);
    (void)tal_mol_set_atom_charge(one, 4, -0.7);
    (void)tal_mol_add_stretch(one, 0, 1, 7.0, 0.2);
    (void)tal_mol_place_atom(one, tal_mol_add_cluster(one, "c"), 3, x[3]);
    freeze(one);
    const tal_xform X = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
    ck_assert_int_eq(tal_mol_add_copy(two, one, NULL), 0);
    ck_assert_int_eq(tal_mol_add_copy(two, one, &X), 11);
    freeze(two);
    ck_assert_int_eq(tal_mol_num_parts(two), 2);
    ck_assert_double_eq(tal_mol_atom_position(two, 13).x, 0.2);
    ck_assert_double_eq(tal_mol_atom_position(two, 13).y, 1.0);
    ck_assert_double_eq(tal_mol_atom_charge(two, 15), -0.7);
    ck_assert_int_eq(tal_mol_num_clusters(two), 2);
    ck_assert_double_eq(tal_mol_cluster_station(two, 1, 14).x, x[3].x);
    for (int f = 0; f < TAL_NUM_MOL_FAMILIES; ++f) {
        ck_assert_int_eq(tal_mol_num_terms(two, (tal_mol_family)f),
                         2 * tal_mol_num_terms(one, (tal_mol_family)f));
    }
    ck_assert_double_eq(two->terms[TAL_MOL_STRETCH].items[1].law.k, 7.0);
    ck_assert_int_eq(two->terms[TAL_MOL_STRETCH].items[1].atoms[1], 12);
    tal_mol_destroy(two);
    two = molecule(ff, NULL);
    ck_assert_int_eq(tal_mol_add_copy(two, two, NULL), -1);
    tal_error err;
    ck_assert_int_eq(tal_mol_freeze(two, &err), TAL_ERR_BAD_VALUE);
    tal_mol_destroy(two);
    tal_mol_destroy(one);
    tal_ff_destroy(ff);
}

END_TEST

// ---- errors

static void assert_refuses(tal_mol *mol, tal_status expected, const char *part)
{
    tal_error err;
    ck_assert_int_eq(tal_mol_freeze(mol, &err), expected);
    ck_assert_msg(strstr(err.message, part) != NULL, "'%s' lacks '%s'", err.message, part);
    tal_mol_destroy(mol);
}

START_TEST(freezing_says_what_was_refused_first)
{
    tal_ff *ff = field();
    tal_mol *mol = propane(ff);
    ck_assert_int_eq(tal_mol_add_bond(mol, 3, 3, 1), -1);
    assert_refuses(mol, TAL_ERR_BAD_VALUE, "atoms 3 and 3");
    (void)tal_mol_add_bond(mol = propane(ff), 1, 0, 1);
    assert_refuses(mol, TAL_ERR_BAD_VALUE, "bonds 0 and 10 are both of atoms 0 and 1");
    (void)tal_mol_add_bond(mol = propane(ff), 0, 11, 1);
    assert_refuses(mol, TAL_ERR_BAD_INDEX, "atom 11: there are 11");
    (void)tal_mol_add_bond(mol = propane(ff), 0, 6, 4);
    assert_refuses(mol, TAL_ERR_BAD_VALUE, "order 4");
    (void)tal_mol_add_atom(mol = propane(ff), 2, "X", 1, "");
    assert_refuses(mol, TAL_ERR_BAD_INDEX, "atom 11 has type 2");
    (void)tal_mol_add_atom(mol = propane(ff), 0, "", 1, "");
    assert_refuses(mol, TAL_ERR_BAD_NAME, "it is empty");
    (void)tal_mol_set_atom_charge(mol = propane(ff), 2, INFINITY);
    assert_refuses(mol, TAL_ERR_NOT_FINITE, "atom 2 is given charge");
    (void)tal_mol_add_stretch(mol = propane(ff), 0, 1, NAN, 0.1);
    assert_refuses(mol, TAL_ERR_BAD_VALUE, "atoms 0 and 1: k is");
    (void)tal_mol_add_bend(mol = propane(ff), 0, 1, 0, 1.0, 1.0);
    assert_refuses(mol, TAL_ERR_BAD_VALUE, "atom 0 is twice");
    (void)tal_mol_add_torsion(mol = propane(ff), 0, 1, 2, 3, NULL, 1);
    assert_refuses(mol, TAL_ERR_BAD_VALUE, "1 waves");
    (void)tal_mol_place_atom(mol = propane(ff), 0, 0, tal_v3(0.0, 0.0, 0.0));
    assert_refuses(mol, TAL_ERR_BAD_INDEX, "cluster 0: there are 0");
    tal_ff_destroy(ff);
}

END_TEST

START_TEST(positions_are_of_all_atoms)
{
    tal_ff *ff = field();
    tal_vec3 x[11] = {{0.0, 0.0, 0.0}};
    tal_mol *mol = propane(ff);
    ck_assert_int_eq(tal_mol_set_positions(mol, x, 10), TAL_ERR_BAD_VALUE);
    assert_refuses(mol, TAL_ERR_BAD_VALUE, "10 positions for 11 atoms");
    x[7].y = NAN;
    (void)tal_mol_set_positions(mol = propane(ff), x, 11);
    assert_refuses(mol, TAL_ERR_NOT_FINITE, "atom 7 is at");
    x[7].y = 0.5;
    mol = propane(ff);
    ck_assert_int_eq(tal_mol_set_positions(mol, x, 11), TAL_OK);
    ck_assert_double_eq(tal_mol_atom_position(mol, 7).y, 0.5);
    (void)tal_mol_add_atom(mol, 0, "C", 1, "");
    assert_refuses(mol, TAL_ERR_BAD_VALUE, "added after the positions");
    tal_ff_destroy(ff);
}

END_TEST

START_TEST(a_class_with_a_valence_is_held_to_it)
{
    tal_ff *ff = NULL;
    tal_error err;
    ck_assert_int_eq(tal_ff_create(NULL, NULL, &ff, &err), TAL_OK);
    tal_ff_class_def def = tal_ff_class_def_default();
    def.name = "C4";
    def.valence = 4;
    (void)tal_ff_add_type(ff, "C", tal_ff_add_class(ff, &def), 0.0);
    ck_assert_int_eq(tal_ff_freeze(ff, &err), TAL_OK);
    const tal_mol_def any = {.allow_missing = true};
    tal_mol *mol = molecule(ff, &any);
    (void)tal_mol_add_atom(mol, 0, "CA", 1, "");
    assert_refuses(mol, TAL_ERR_BAD_VALUE, "atom 0 'CA' has 0 bonds, but its class 'C4'");
    tal_ff_destroy(ff);
}

END_TEST

START_TEST(broken_contracts_are_reported)
{
    test_record_breaches();
    tal_ff *ff = field();
    tal_mol *mol = propane(ff);
    tal_error err;
    test_assert_breach(ck_assert_int_eq(tal_mol_separation(mol, 0, 1), -1), TAL_ERR_TOPOLOGY,
                       "tal_mol_freeze");
    freeze(mol);
    test_assert_breach(ck_assert_int_eq(tal_mol_add_bond(mol, 0, 5, 1), -1), TAL_ERR_TOPOLOGY,
                       "frozen");
    test_assert_breach(ck_assert_int_eq(tal_mol_part(mol, 11), -1), TAL_ERR_BAD_INDEX, "atom 11");
    test_assert_breach(ck_assert_str_eq(tal_mol_atom_name(mol, -1), ""), TAL_ERR_BAD_INDEX,
                       "atom -1");
    test_assert_breach(ck_assert_int_eq(tal_mol_num_terms(mol, (tal_mol_family)5), -1),
                       TAL_ERR_BAD_INDEX, "family 5");
    test_assert_refused(tal_mol_freeze(mol, &err), TAL_ERR_TOPOLOGY, "frozen");
    tal_mol_destroy(mol);
    tal_ff_destroy(ff);
}

END_TEST

START_TEST(when_any_allocation_fails_nothing_is_left_behind)
{
    tal_ff *ff = field();
    for (int refuse = 1;; ++refuse) {
        test_heap heap = {.refuse_at = refuse};
        const tal_allocator allocator = test_heap_allocator(&heap);
        tal_mol *mol = NULL;
        tal_status st = tal_mol_create(ff, NULL, &allocator, &mol, NULL);
        for (int i = 0; i < 4 && st == TAL_OK; ++i) {
            (void)tal_mol_add_atom(mol, 0, "C", 1, "");
            if (i > 0) (void)tal_mol_add_bond(mol, i - 1, i, 1);
        }
        if (st == TAL_OK) {
            (void)tal_mol_add_stretch(mol, 0, 1, 1.0, 0.1);
            (void)tal_mol_place_atom(mol, tal_mol_add_cluster(mol, "c"), 0, tal_v3(0.0, 0.0, 0.0));
            st = tal_mol_freeze(mol, NULL);
        }
        tal_mol_destroy(mol);
        ck_assert_int_eq(heap.live, 0);
        if (st == TAL_OK) {
            test_assert_never_refused(&heap);
            break;
        }
    }
    tal_ff_destroy(ff);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("mol");
    TCase *graph = tcase_create("graph");
    tcase_add_test(graph, ring_bonds_are_those_the_references_say);
    tcase_add_test(graph, the_shortest_way_decides_how_far_apart_atoms_are);
    tcase_add_test(graph, random_graphs_have_the_rings_and_parts_of_the_definition);
    tcase_add_test(graph, ring_systems_are_numbered_and_joined_by_spiro_atoms);
    suite_add_tcase(suite, graph);
    TCase *terms = tcase_create("terms");
    tcase_add_test(terms, bonds_imply_every_bend_and_torsion_once);
    tcase_add_test(terms, in_a_ring_of_three_no_torsion_has_an_atom_twice);
    tcase_add_test(terms, terms_added_by_hand_replace_those_of_tables);
    tcase_add_test(terms, impropers_take_the_order_of_the_row_that_fits_best);
    tcase_add_test(terms, an_improper_is_found_in_every_order_of_neighbors);
    tcase_add_test(terms, all_missing_parameters_are_listed);
    suite_add_tcase(suite, terms);
    TCase *clusters = tcase_create("clusters");
    tcase_add_test(clusters, a_cluster_of_clusters_has_the_mass_of_its_atoms);
    tcase_add_test(clusters, atoms_may_be_solid_spheres);
    tcase_add_test(clusters, an_atom_is_once_in_a_cluster_and_what_it_holds);
    suite_add_tcase(suite, clusters);
    TCase *copies = tcase_create("copies");
    tcase_add_test(copies, a_copy_has_everything_of_the_molecule);
    suite_add_tcase(suite, copies);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, freezing_says_what_was_refused_first);
    tcase_add_test(errors, positions_are_of_all_atoms);
    tcase_add_test(errors, a_class_with_a_valence_is_held_to_it);
    tcase_add_test(errors, broken_contracts_are_reported);
    tcase_add_test(errors, when_any_allocation_fails_nothing_is_left_behind);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
