// Tests for molecule/src/term/pair.c, pairs.c and nonbonded.c: cutoffs, dielectrics, cells, boxes,
// virial and pressure.
#include "alloc_guard.h"
#include "molecule_pairs.h"
#include "talus_test.h"
#include "term/instance_internal.h"
#include "term/pair_internal.h"

#include <stdlib.h>

// ---- one pair

// A and B of sigma = 0.47, epsilon = 5: 0.47^6 = 0.010779215329.
static const double A47 = 20.0 * 0.010779215329 * 0.010779215329, B47 = 20.0 * 0.010779215329;
static const double KE = -138.935456;

static tal_mol_nonbonded vdw_of(int kind)
{
    tal_mol_nonbonded set = tal_mol_nonbonded_default();
    set.vdw = (tal_mol_range){(tal_mol_cutoff)kind, 0.9, 1.2};
    return set;
}

// The six kinds of charges of ref_pair.
static tal_mol_nonbonded charges_of(int k)
{
    tal_mol_nonbonded set = tal_mol_nonbonded_default();
    static const tal_mol_cutoff kinds[6] = {TAL_CUTOFF_NONE,        TAL_CUTOFF_SHIFT,
                                            TAL_CUTOFF_FORCE_SHIFT, TAL_CUTOFF_TRUNCATE,
                                            TAL_CUTOFF_NONE,        TAL_CUTOFF_FORCE_SWITCH};
    set.coulomb = (tal_mol_range){kinds[k], 0.0, 1.2};
    if (k == 3) set.dielectric = TAL_DIELECTRIC_REACTION_FIELD;
    if (k == 4) {
        set.dielectric = TAL_DIELECTRIC_DEBYE;
        set.permittivity = 80.0;
        set.debye_length = 0.96;
    }
    if (k == 5) set.permittivity = 15.0;
    return set;
}

// refs:pair_potentials. Numbers of 1e4 and less, some cancelling at the end of a cutoff.
START_TEST(cutoffs_and_dielectrics_are_those_of_the_references)
{
    const double s6 = pow(0.47, 6.0), A = 20.0 * s6 * s6, B = 20.0 * s6;
    ck_assert_double_eq_tol(A, A47, 1e-12);
    ck_assert_double_eq_tol(B, B47, 1e-12);
    for (size_t i = 0; i < sizeof ref_pairs / sizeof ref_pairs[0]; ++i) {
        const ref_pair *r = &ref_pairs[i];
        for (int k = 0; k < 6; ++k) {
            const tal_mol_nonbonded set = vdw_of(1 + k);
            const tali_term_pairs pairs = tali_term_prepare(&set);
            const tali_term_pull at = tali_term_pull_of(&pairs, r->r * r->r, A, B, 0.0);
            const double size = fmax(1.0, fabs(r->vdw[k][0]));
            ck_assert_double_eq_tol(at.vdw, r->vdw[k][0], 1e-12 * size);
            ck_assert_double_eq_tol(-at.pull * r->r, r->vdw[k][1], 1e-10 * size);
            ck_assert_double_eq(at.coulomb, 0.0);
        }
        for (int k = 0; k < 6; ++k) {
            const tal_mol_nonbonded set = charges_of(k);
            const tali_term_pairs pairs = tali_term_prepare(&set);
            const tali_term_pull at = tali_term_pull_of(&pairs, r->r * r->r, 0.0, 0.0, KE);
            const double size = fmax(1.0, fabs(r->coulomb[k][0]));
            ck_assert_double_eq_tol(at.coulomb, r->coulomb[k][0], 1e-12 * size);
            ck_assert_double_eq_tol(-at.pull * r->r, r->coulomb[k][1], 1e-10 * size);
        }
    }
}

END_TEST

// The force is the slope of the energy, for every cutoff and dielectric there is.
START_TEST(pulls_are_slopes)
{
    test_rng rng = test_rng_seed(31);
    const double h = 1e-4;
    for (int trial = 0; trial < 2000; ++trial) {
        tal_mol_nonbonded set = tal_mol_nonbonded_default();
        set.vdw = (tal_mol_range){(tal_mol_cutoff)(trial % 7), 0.7, 1.2};
        set.coulomb = (tal_mol_range){(tal_mol_cutoff)(trial / 7 % 7), 0.5, 1.3};
        set.dielectric = (tal_mol_dielectric)(trial / 49 % 4);
        if (set.dielectric == TAL_DIELECTRIC_REACTION_FIELD) set.coulomb.kind = TAL_CUTOFF_TRUNCATE;
        if (set.coulomb.kind == TAL_CUTOFF_FORCE_SWITCH) set.dielectric = TAL_DIELECTRIC_CONSTANT;
        const tali_term_pairs pairs = tali_term_prepare(&set);
        const double r = test_random_uniform(&rng, 0.4, 1.15);
        if (fabs(r - 0.7) < 1e-3 || fabs(r - 0.5) < 1e-3) continue; // third derivatives jump
        double e[4];
        static const double steps[4] = {-2.0, -1.0, 1.0, 2.0};
        for (int k = 0; k < 4; ++k) {
            const double at = r + steps[k] * h;
            const tali_term_pull pull = tali_term_pull_of(&pairs, at * at, A47, B47, 50.0);
            e[k] = pull.vdw + pull.coulomb;
        }
        const double slope = (e[0] - 8.0 * e[1] + 8.0 * e[2] - e[3]) / (12.0 * h);
        const tali_term_pull pull = tali_term_pull_of(&pairs, r * r, A47, B47, 50.0);
        ck_assert_double_eq_tol(-slope, pull.pull * r, 1e-8 * fmax(1.0, fabs(slope)));
    }
}

END_TEST

START_TEST(nothing_is_left_at_the_end_of_a_smooth_cutoff)
{
    for (int k = TAL_CUTOFF_SHIFT; k <= TAL_CUTOFF_FORCE_SWITCH; ++k) {
        tal_mol_nonbonded set = vdw_of(k);
        set.coulomb = set.vdw;
        const tali_term_pairs pairs = tali_term_prepare(&set);
        const double r = 1.2 - 1e-9;
        const tali_term_pull at = tali_term_pull_of(&pairs, r * r, A47, B47, 50.0);
        ck_assert_double_le(fabs(at.vdw) + fabs(at.coulomb), 1e-6);
        if (k > TAL_CUTOFF_SHIFT) ck_assert_double_le(fabs(at.pull), 1e-5);
        const tali_term_pull beyond = tali_term_pull_of(&pairs, 1.44, A47, B47, 50.0);
        ck_assert_double_eq(beyond.pull, 0.0);
    }
}

END_TEST

// ---- many atoms

typedef struct scene {
    tal_ff *ff;
    tal_mol *mol;
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    const tal_mol_instance *molecule;
} scene;

static void close_scene(scene *s)
{
    tal_state_destroy(s->state);
    tal_system_destroy(s->system);
    tal_mol_destroy(s->mol);
    tal_ff_destroy(s->ff);
}

static void open_system(scene *s, tal_mol_level level)
{
    tal_error err;
    tal_mol_granularity how = tal_mol_granularity_default();
    how.level = level;
    s->system = tal_system_create(NULL);
    s->matter = tal_matter_create(s->system);
    s->forces = tal_forces_create(s->system, s->matter);
    s->molecule = tal_mol_add(s->system, s->matter, s->forces, "mol", s->mol, &how, NULL);
    ck_assert_msg(tal_system_realize_topology(s->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(s->system, &s->state, &err), TAL_OK);
}

// n argon atoms; charged in turns if asked for, and bonded in threes.
static void atoms_scene(scene *s, const tal_vec3 x[], int n, double charge, bool is_bonded)
{
    tal_error err;
    memset(s, 0, sizeof *s);
    ck_assert_int_eq(tal_ff_create(NULL, NULL, &s->ff, &err), TAL_OK);
    tal_ff_class_def one = tal_ff_class_def_default();
    one.name = "Ar";
    one.size = 0.3405;
    one.well_depth = 0.99607;
    (void)tal_ff_add_class(s->ff, &one);
    (void)tal_ff_set_type_mass(s->ff, tal_ff_add_type(s->ff, "plus", 0, charge), 39.948);
    (void)tal_ff_set_type_mass(s->ff, tal_ff_add_type(s->ff, "minus", 0, -charge), 39.948);
    ck_assert_int_eq(tal_ff_freeze(s->ff, &err), TAL_OK);
    const tal_mol_def bare = {.only_added = true};
    ck_assert_int_eq(tal_mol_create(s->ff, &bare, NULL, &s->mol, &err), TAL_OK);
    for (int i = 0; i < n; ++i) {
        (void)tal_mol_add_atom(s->mol, i % 2, "Ar", 1, "");
        if (is_bonded && i % 3 > 0) (void)tal_mol_add_bond(s->mol, i - 1, i, 1);
    }
    (void)tal_mol_set_positions(s->mol, x, n);
    ck_assert_msg(tal_mol_freeze(s->mol, &err) == TAL_OK, "%s", err.message);
}

static void set_and_realize(scene *s, const tal_mol_nonbonded *set)
{
    tal_status st = tal_mol_set_nonbonded(s->molecule, s->state, set);
    ck_assert_msg(st == TAL_OK, "%s", tal_state_error(s->state)->message);
    st = tal_system_realize(s->system, s->state, TAL_STAGE_DYNAMICS);
    ck_assert_msg(st == TAL_OK, "%s", tal_state_error(s->state)->message);
}

static tal_mol_nonbonded in_a_box(int kind, double start, double end, double edge)
{
    tal_mol_nonbonded set = tal_mol_nonbonded_default();
    set.vdw = (tal_mol_range){(tal_mol_cutoff)kind, start, end};
    set.coulomb = set.vdw;
    set.box = tal_v3(edge, edge, edge);
    return set;
}

// refs:lj108
START_TEST(argon_in_a_box_is_that_of_the_references)
{
    tal_vec3 x[108], f[108];
    for (int i = 0; i < 108; ++i) {
        x[i] = tal_v3(ref_argon_x[i][0], ref_argon_x[i][1], ref_argon_x[i][2]);
    }
    scene s;
    atoms_scene(&s, x, 108, 0.0, false);
    open_system(&s, TAL_MOL_CARTESIAN);
    for (int k = 0; k < 5; ++k) {
        const ref_argon *r = &ref_argons[k];
        const tal_mol_nonbonded set = in_a_box(1 + k, 0.4, 0.48, ref_argon_edge);
        tal_mol_energy e;
        tal_mat3 W;
        set_and_realize(&s, &set);
        ck_assert_int_eq(tal_mol_calc_energy(s.molecule, s.state, &e), TAL_OK);
        ck_assert_int_eq(tal_mol_calc_forces(s.molecule, s.state, f, 108), TAL_OK);
        ck_assert_int_eq(tal_mol_calc_virial(s.molecule, s.state, false, &W), TAL_OK);
        // 646 pairs, each rounded to 1.5e-11
        ck_assert_double_eq_tol(e.vdw, r->energy, 1e-8);
        ck_assert_double_eq(e.total, e.vdw);
        for (int i = 0; i < 108; ++i) {
            const tal_vec3 expected = {r->f[i][0], r->f[i][1], r->f[i][2]};
            test_assert_v3_near(f[i], expected, 1e-9);
        }
        const tal_mat3 virial = {{r->virial[0][0], r->virial[1][0], r->virial[2][0]},
                                 {r->virial[0][1], r->virial[1][1], r->virial[2][1]},
                                 {r->virial[0][2], r->virial[1][2], r->virial[2][2]}};
        test_assert_m3_near(W, virial, 1e-8);
        const double moving =
            tal_force_potential_energy(s.forces, s.state, tal_mol_instance_force(s.molecule));
        ck_assert_double_eq(moving, e.vdw);
    }
    ck_assert_double_eq_tol(tal_mol_calc_tail(s.molecule, s.state), ref_argon_tail, 1e-9);
    close_scene(&s);
}

END_TEST

static void random_atoms(test_rng *rng, tal_vec3 x[], int n, double size)
{
    for (int i = 0; i < n; ++i) { // on a grid, and a little off it: nobody is too close
        const int k = (int)ceil(cbrt(n)), a = i / (k * k), b = i / k % k, c = i % k;
        const tal_vec3 at = tal_v3_scale(size / k, tal_v3(a, b, c));
        x[i] = tal_v3_axpy(0.15 * size / k, test_random_vec3(rng), at);
    }
}

enum {
    MANY = 600
};

// Cells find what looking at every pair finds, to the bit: in a box and without, moved out of the
// box or not, with bonds and charges or without.
START_TEST(cells_give_the_bytes_of_all_pairs)
{
    test_rng rng = test_rng_seed(33);
    static tal_vec3 x[MANY], f[2][MANY];
    static tal_spatial_vec F[2][MANY + 1];
    for (int trial = 0; trial < 6; ++trial) {
        const double size = 3.0;
        random_atoms(&rng, x, MANY, size);
        for (int i = 0; trial % 3 == 1 && i < MANY; i += 5) { // images elsewhere
            x[i].x += size * (i % 4);
            x[i].z -= 2.0 * size;
        }
        scene s;
        const bool is_bonded = trial >= 3 && trial % 3 != 1;
        atoms_scene(&s, x, MANY, 0.3, is_bonded);
        open_system(&s, trial < 4 ? TAL_MOL_CARTESIAN : TAL_MOL_RIGID);
        tal_mol_nonbonded set = in_a_box(TAL_CUTOFF_QUINTIC, 0.4, 0.55, size); // 5 cells
        if (trial % 3 == 2) set.box = tal_v3(0.0, 0.0, 0.0);
        tal_mol_energy e[2];
        tal_mat3 W[2];
        for (int k = 0; k < 2; ++k) {
            static double along[6 * MANY];
            set.all_pairs = k == 1;
            set_and_realize(&s, &set);
            memset(F[k], 0, sizeof F[k]);
            const tal_force_ix force = tal_mol_instance_force(s.molecule);
            ck_assert_int_eq(tal_force_apply(s.forces, s.state, force, F[k], along), TAL_OK);
            ck_assert_int_eq(tal_mol_calc_energy(s.molecule, s.state, &e[k]), TAL_OK);
            ck_assert_int_eq(tal_mol_calc_forces(s.molecule, s.state, f[k], MANY), TAL_OK);
            ck_assert_int_eq(tal_mol_calc_virial(s.molecule, s.state, true, &W[k]), TAL_OK);
        }
        ck_assert(memcmp(&e[0], &e[1], sizeof e[0]) == 0);
        ck_assert(memcmp(f[0], f[1], sizeof f[0]) == 0);
        ck_assert(memcmp(F[0], F[1], sizeof F[0]) == 0);
        ck_assert(memcmp(&W[0], &W[1], sizeof W[0]) == 0);
        ck_assert_double_ge(fabs(e[0].vdw), 1.0);
        close_scene(&s);
    }
}

END_TEST

// A box does not care where its origin is, nor which image an atom is.
START_TEST(images_and_origin_of_a_box_do_not_matter)
{
    test_rng rng = test_rng_seed(34);
    static tal_vec3 x[MANY], y[MANY];
    tal_mol_energy e[2];
    random_atoms(&rng, x, MANY, 3.0);
    for (int i = 0; i < MANY; ++i) {
        y[i] = tal_v3_add(x[i], tal_v3(0.7 + 3.0 * (i % 3), -0.2 - 6.0 * (i % 2), 11.3));
    }
    for (int k = 0; k < 2; ++k) {
        scene s;
        atoms_scene(&s, k == 0 ? x : y, MANY, 0.3, false);
        open_system(&s, TAL_MOL_CARTESIAN);
        const tal_mol_nonbonded set = in_a_box(TAL_CUTOFF_FORCE_SHIFT, 0.0, 0.9, 3.0);
        set_and_realize(&s, &set);
        ck_assert_int_eq(tal_mol_calc_energy(s.molecule, s.state, &e[k]), TAL_OK);
        close_scene(&s);
    }
    // positions differ by 1e-15, forces are 1e3, there are 3e4 pairs
    ck_assert_double_eq_tol(e[0].total, e[1].total, 1e-8 * fabs(e[0].total));
}

END_TEST

// tr W = -dE/ds as all lengths, the box included, grow by e^s: of atoms; and of mass centers for
// the virial of parts.
START_TEST(the_virial_is_the_slope_of_the_energy_by_size)
{
    test_rng rng = test_rng_seed(35);
    static tal_vec3 x[MANY], y[MANY];
    random_atoms(&rng, x, MANY, 3.0);
    const double h = 1e-4;
    for (int of_parts = 0; of_parts < 2; ++of_parts) {
        double energy[5], trace = 0.0;
        for (int k = 0; k < 5; ++k) {
            const double grow = 1.0 + (k - 2) * h;
            for (int i = 0; i < MANY; ++i) { // parts of three, or atoms
                const int first = i / 3 * 3;
                const tal_vec3 sum = tal_v3_add(x[first], tal_v3_add(x[first + 1], x[first + 2]));
                const tal_vec3 c = of_parts == 1 ? tal_v3_scale(1.0 / 3.0, sum) : x[i];
                y[i] = tal_v3_add(x[i], tal_v3_scale(grow - 1.0, c));
            }
            scene s;
            tal_mol_energy e;
            atoms_scene(&s, y, MANY, 0.3, of_parts == 1);
            open_system(&s, of_parts == 1 ? TAL_MOL_RIGID : TAL_MOL_CARTESIAN);
            const tal_mol_nonbonded set = in_a_box(TAL_CUTOFF_QUINTIC, 0.6, 0.8, 3.0 * grow);
            set_and_realize(&s, &set);
            ck_assert_int_eq(tal_mol_calc_energy(s.molecule, s.state, &e), TAL_OK);
            energy[k] = e.total;
            if (k == 2) {
                tal_mat3 W;
                ck_assert_int_eq(tal_mol_calc_virial(s.molecule, s.state, of_parts == 1, &W),
                                 TAL_OK);
                trace = W.x.x + W.y.y + W.z.z;
                // at rest the pressure is that of the virial
                if (of_parts == 1) {
                    ck_assert_double_eq_tol(tal_mol_calc_pressure(s.molecule, s.state),
                                            trace / 81.0 * TAL_MOL_BAR, 1e-9 * fabs(trace));
                }
            }
            close_scene(&s);
        }
        const double slope =
            (energy[0] - 8.0 * energy[1] + 8.0 * energy[3] - energy[4]) / (12.0 * h);
        // roundings of 3e4 pairs to 1.5e-11 over h, and h^4 times (12/0.3)^5 energies
        ck_assert_double_eq_tol(-slope, trace, 1e-6 * fabs(trace) + 1e-2);
    }
}

END_TEST

START_TEST(an_ideal_gas_has_its_pressure)
{
    tal_vec3 x[27];
    test_rng rng = test_rng_seed(36);
    random_atoms(&rng, x, 27, 9.0);
    scene s;
    atoms_scene(&s, x, 27, 0.0, false);
    open_system(&s, TAL_MOL_CARTESIAN);
    const tal_mol_nonbonded set = in_a_box(TAL_CUTOFF_TRUNCATE, 0.0, 0.4, 9.0);
    double u[81];
    for (int i = 0; i < 81; ++i) {
        u[i] = test_random_uniform(&rng, -0.5, 0.5);
    }
    ck_assert_int_eq(tal_state_set_u(s.state, u, 81), TAL_OK);
    set_and_realize(&s, &set);
    const double kinetic = tal_system_energy(s.system, s.state);
    ck_assert_double_eq_tol(tal_mol_calc_pressure(s.molecule, s.state),
                            2.0 * kinetic / 3.0 / 729.0 * TAL_MOL_BAR, 1e-12);
    close_scene(&s);
}

END_TEST

START_TEST(settings_are_in_the_state_and_cells_allocate_nothing)
{
    static tal_vec3 x[MANY];
    test_rng rng = test_rng_seed(37);
    random_atoms(&rng, x, MANY, 3.0);
    scene s;
    atoms_scene(&s, x, MANY, 0.3, false);
    open_system(&s, TAL_MOL_CARTESIAN);
    const tal_mol_nonbonded set = in_a_box(TAL_CUTOFF_CHARMM, 0.6, 0.8, 3.0);
    tal_mol_nonbonded found;
    ck_assert_int_eq(tal_mol_get_nonbonded(s.molecule, s.state, &found), TAL_OK);
    ck_assert_int_eq(found.vdw.kind, TAL_CUTOFF_NONE);
    ck_assert_int_eq(tal_mol_set_nonbonded(s.molecule, s.state, &set), TAL_OK);
    ck_assert_int_eq(tal_mol_get_nonbonded(s.molecule, s.state, &found), TAL_OK);
    ck_assert_int_eq(found.vdw.kind, TAL_CUTOFF_CHARMM);
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_system_realize(s.system, s.state, TAL_STAGE_ACCELERATION));
    ck_assert_int_eq(st, TAL_OK);
    close_scene(&s);
}

END_TEST

// ---- errors

static void assert_refused(scene *s, const tal_mol_nonbonded *set, const char *part)
{
    ck_assert_int_eq(tal_mol_set_nonbonded(s->molecule, s->state, set), TAL_ERR_BAD_VALUE);
    const char *message = tal_state_error(s->state)->message;
    ck_assert_msg(strstr(message, part) != NULL, "'%s' lacks '%s'", message, part);
    ck_assert_int_eq(tal_state_clear_error(s->state), TAL_OK);
}

START_TEST(settings_that_contradict_themselves_are_refused)
{
    const tal_vec3 x[3] = {{0.0, 0.0, 0.0}, {0.6, 0.0, 0.0}, {1.2, 0.1, 0.0}};
    scene s;
    atoms_scene(&s, x, 3, 0.3, true);
    open_system(&s, TAL_MOL_RIGID);
    tal_mol_nonbonded set = in_a_box(TAL_CUTOFF_QUINTIC, 0.6, 0.8, 1.5);
    assert_refused(&s, &set, "half the shortest edge");
    set = in_a_box(TAL_CUTOFF_QUINTIC, 0.6, 0.8, 1.7);
    assert_refused(&s, &set, "its own image");
    set = in_a_box(TAL_CUTOFF_NONE, 0.6, 0.8, 3.0);
    assert_refused(&s, &set, "a box needs cutoffs");
    set = in_a_box(TAL_CUTOFF_QUINTIC, 0.8, 0.8, 3.0);
    assert_refused(&s, &set, "van der Waals ends before it begins");
    set = in_a_box(TAL_CUTOFF_QUINTIC, 0.6, 0.8, 3.0);
    set.box.y = 0.0;
    assert_refused(&s, &set, "edges of a box");
    set = in_a_box(TAL_CUTOFF_QUINTIC, 0.6, 0.8, 3.0);
    set.coulomb.kind = (tal_mol_cutoff)7;
    assert_refused(&s, &set, "the range of charges");
    set = in_a_box(TAL_CUTOFF_QUINTIC, 0.6, 0.8, 3.0);
    set.dielectric = TAL_DIELECTRIC_REACTION_FIELD;
    assert_refused(&s, &set, "a reaction field is a cutoff");
    set = in_a_box(TAL_CUTOFF_FORCE_SWITCH, 0.6, 0.8, 3.0);
    set.dielectric = TAL_DIELECTRIC_DEBYE;
    assert_refused(&s, &set, "constant dielectric");
    set = tal_mol_nonbonded_default();
    set.permittivity = 0.0;
    assert_refused(&s, &set, "permittivity");
    set = tal_mol_nonbonded_default();
    set.debye_length = NAN;
    assert_refused(&s, &set, "Debye");
    set = tal_mol_nonbonded_default();
    set.outside = 0.5;
    assert_refused(&s, &set, "outside");
    set = tal_mol_nonbonded_default();
    set.dielectric = (tal_mol_dielectric)4;
    assert_refused(&s, &set, "no such dielectric");
    ck_assert(isnan(tal_mol_calc_tail(s.molecule, s.state)));
    close_scene(&s);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("nonbonded");
    TCase *pair = tcase_create("pair");
    tcase_add_test(pair, cutoffs_and_dielectrics_are_those_of_the_references);
    tcase_add_test(pair, pulls_are_slopes);
    tcase_add_test(pair, nothing_is_left_at_the_end_of_a_smooth_cutoff);
    suite_add_tcase(suite, pair);
    TCase *many = tcase_create("many");
    tcase_add_test(many, argon_in_a_box_is_that_of_the_references);
    tcase_add_test(many, cells_give_the_bytes_of_all_pairs);
    tcase_add_test(many, images_and_origin_of_a_box_do_not_matter);
    tcase_add_test(many, the_virial_is_the_slope_of_the_energy_by_size);
    tcase_add_test(many, an_ideal_gas_has_its_pressure);
    tcase_add_test(many, settings_are_in_the_state_and_cells_allocate_nothing);
    suite_add_tcase(suite, many);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, settings_that_contradict_themselves_are_refused);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
