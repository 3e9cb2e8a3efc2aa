// Tests for molecule/src/term/born.c: water as a continuum.
#include "alloc_guard.h"
#include "talus_test.h"
#include "term/evaluation_internal.h"

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
}

static void close_scene(scene *s)
{
    close_system(s);
    tal_mol_destroy(s->mol);
    tal_ff_destroy(s->ff);
}

// A chain of n atoms of three types with bonds, charges and radii; nothing else acts.
static void chain_scene(scene *s, const tal_vec3 x[], int n, bool has_radii)
{
    static const double radius[3] = {0.12, 0.17, 0.15}, screen[3] = {0.85, 0.72, 0.79};
    static const double charge[3] = {0.4, -0.7, 0.5};
    static const char *const names[3] = {"a", "b", "c"};
    tal_error err;
    memset(s, 0, sizeof *s);
    ck_assert_int_eq(tal_ff_create(NULL, NULL, &s->ff, &err), TAL_OK);
    for (int i = 0; i < 3; ++i) {
        tal_ff_class_def one = tal_ff_class_def_default();
        one.name = names[i];
        const int type = tal_ff_add_type(s->ff, names[i], tal_ff_add_class(s->ff, &one), charge[i]);
        (void)tal_ff_set_type_mass(s->ff, type, 12.0);
        if (has_radii) (void)tal_ff_set_type_born(s->ff, type, radius[i], screen[i]);
    }
    ck_assert_msg(tal_ff_freeze(s->ff, &err) == TAL_OK, "%s", err.message);
    const tal_mol_def bare = {.only_added = true};
    ck_assert_int_eq(tal_mol_create(s->ff, &bare, NULL, &s->mol, &err), TAL_OK);
    for (int i = 0; i < n; ++i) {
        (void)tal_mol_add_atom(s->mol, i % 3, "x", 1, "");
        if (i > 0) (void)tal_mol_add_bond(s->mol, i - 1, i, 1);
    }
    (void)tal_mol_set_positions(s->mol, x, n);
    ck_assert_int_eq(tal_mol_freeze(s->mol, &err), TAL_OK);
}

static void open_system_expecting(scene *s, tal_mol_level level, tal_status expected)
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
    tal_mol_nonbonded set = tal_mol_nonbonded_default();
    set.born = true;
    ck_assert_int_eq(tal_mol_set_nonbonded(s->molecule, s->state, &set), expected);
    ck_assert_int_eq(tal_mol_set_scale(s->molecule, s->state, TAL_MOL_SCALE_COULOMB, 0.0), TAL_OK);
}

static void open_system(scene *s, tal_mol_level level)
{
    open_system_expecting(s, level, TAL_OK);
}

static tal_mol_energy energy_of(scene *s)
{
    tal_mol_energy e;
    ck_assert_int_eq(tal_system_realize(s->system, s->state, TAL_STAGE_POSITION), TAL_OK);
    ck_assert_int_eq(tal_mol_calc_energy(s->molecule, s->state, &e), TAL_OK);
    return e;
}

// ---- how much is covered

// Simpson's rule over shells about the atom: the fraction of a shell of radius x that is in the
// sphere, over x^2, twice.
static double covered(double rho, double s, double r)
{
    const int n = 20000;
    const double from = fmax(rho, fabs(r - s)), to = r + s, h = (to - from) / n;
    if (from >= to) return 0.0;
    double sum = 0.0;
    for (int k = 0; k <= n; ++k) {
        const double x = from + k * h;
        const double fraction = 0.5 * (1.0 - (x * x + r * r - s * s) / (2.0 * x * r));
        sum += (k == 0 || k == n ? 1.0 : k % 2 == 1 ? 4.0 : 2.0) * fraction / (x * x);
    }
    const double whole = s - r > rho ? 1.0 / rho - 1.0 / (s - r) : 0.0; // shells all inside
    return 2.0 * (sum * h / 3.0 + whole);
}

START_TEST(cover_is_the_integral_over_the_sphere)
{
    test_rng rng = test_rng_seed(41);
    int inside = 0, across = 0, apart = 0, none = 0;
    for (int trial = 0; trial < 300; ++trial) {
        const double rho = test_random_uniform(&rng, 0.05, 0.2);
        const double s = test_random_uniform(&rng, 0.01, 0.4);
        const double r = test_random_uniform(&rng, 0.02, 0.7);
        double slope, ignored;
        const double I = tali_term_cover(rho, s, r, &slope), expected = covered(rho, s, r);
        ck_assert_double_eq_tol(I, expected, 1e-9 * fmax(1.0, expected));
        inside += rho < s - r ? 1 : 0;
        none += rho >= r + s ? 1 : 0;
        apart += r - s > rho ? 1 : 0;
        across += fabs(r - s) < rho && rho < r + s ? 1 : 0;
        const double h = 1e-6;
        const double more = tali_term_cover(rho, s, r + h, &ignored);
        const double less = tali_term_cover(rho, s, r - h, &ignored);
        ck_assert_double_eq_tol(slope, (more - less) / (2.0 * h), 1e-5 * fmax(1.0, fabs(slope)));
    }
    ck_assert(inside > 10 && across > 10 && apart > 10 && none > 3);
}

END_TEST

// ---- energies

START_TEST(an_ion_has_the_energy_of_born)
{
    const tal_vec3 x = {0.3, 0.1, 0.2};
    scene s;
    chain_scene(&s, &x, 1, true);
    open_system(&s, TAL_MOL_CARTESIAN);
    const tal_mol_energy e = energy_of(&s);
    const double k = TAL_MOL_COULOMB * (1.0 - 1.0 / 78.5), B = 0.12 - 0.009;
    ck_assert_double_eq_tol(e.born, -0.5 * k * 0.16 / B, 1e-10);
    ck_assert_double_eq_tol(e.surface, 28.3919551 * 0.26 * 0.26 * pow(0.12 / B, 6.0), 1e-10);
    ck_assert_double_eq(e.total, e.born + e.surface);
    close_scene(&s);
}

END_TEST

// Ions far apart add Coulomb's energy, screened; f differs from r by exp(-r^2/4B^2).
START_TEST(ions_far_apart_are_screened)
{
    const tal_vec3 x[2] = {{0.0, 0.0, 0.0}, {50.0, 0.0, 0.0}};
    double self = 0.0;
    scene s;
    chain_scene(&s, x, 2, true);
    open_system(&s, TAL_MOL_CARTESIAN);
    const double k = TAL_MOL_COULOMB * (1.0 - 1.0 / 78.5);
    self -= 0.5 * k * (0.16 / (0.12 - 0.009) + 0.49 / (0.17 - 0.009));
    const tal_mol_energy e = energy_of(&s);
    // each covers the other by some 1e-6 of I: (s/r)^3/r
    ck_assert_double_eq_tol(e.born, self + k * 0.28 / 50.0, 1e-4);
    close_scene(&s);
}

END_TEST

enum {
    CHAIN = 12
};

static void chain_positions(tal_vec3 x[CHAIN])
{
    test_rng rng = test_rng_seed(43);
    for (int i = 0; i < CHAIN; ++i) {
        const tal_vec3 at = tal_v3(0.11 * i, 0.1 * (i % 2), 0.06 * (i % 3));
        x[i] = tal_v3_axpy(0.02, test_random_vec3(&rng), at);
    }
}

// Four points of a difference: roundings of 1e3 numbers to 1.5e-11 over h, and h^4 times
// (10/0.1 nm)^5 energies of 1e2.
START_TEST(forces_are_the_slope_of_the_energy)
{
    tal_vec3 x[CHAIN], f[CHAIN];
    test_rng rng = test_rng_seed(44);
    chain_positions(x);
    scene s;
    chain_scene(&s, x, CHAIN, true);
    open_system(&s, TAL_MOL_CARTESIAN);
    (void)energy_of(&s);
    ck_assert_int_eq(tal_mol_calc_forces(s.molecule, s.state, f, CHAIN), TAL_OK);
    const double h = 1e-4;
    for (int trial = 0; trial < 10; ++trial) {
        double q[3 * CHAIN], direction[3 * CHAIN], e[4], power = 0.0;
        for (int i = 0; i < 3 * CHAIN; ++i) {
            direction[i] = test_random_uniform(&rng, -1.0, 1.0);
        }
        for (int a = 0; a < CHAIN; ++a) { // bodies are in the order of atoms
            power += tal_v3_dot(
                f[a], tal_v3(direction[3 * a], direction[3 * a + 1], direction[3 * a + 2]));
        }
        static const double steps[4] = {-2.0, -1.0, 1.0, 2.0};
        for (int k = 0; k < 4; ++k) {
            for (int a = 0; a < CHAIN; ++a) {
                q[3 * a] = x[a].x + steps[k] * h * direction[3 * a];
                q[3 * a + 1] = x[a].y + steps[k] * h * direction[3 * a + 1];
                q[3 * a + 2] = x[a].z + steps[k] * h * direction[3 * a + 2];
            }
            ck_assert_int_eq(tal_state_set_q(s.state, q, 3 * CHAIN), TAL_OK);
            e[k] = energy_of(&s).total;
        }
        const double slope = (e[0] - 8.0 * e[1] + 8.0 * e[2] - e[3]) / (12.0 * h);
        ck_assert_double_eq_tol(-slope, power, 1e-5 * fmax(1.0, fabs(power)));
    }
    close_scene(&s);
}

END_TEST

// The radii depend on atoms of all bodies: nothing is constant, and nothing depends on the bodies.
START_TEST(energy_and_forces_are_the_same_at_every_granularity)
{
    tal_vec3 x[CHAIN], f[8][CHAIN];
    tal_mol_energy e[8];
    chain_positions(x);
    scene s;
    chain_scene(&s, x, CHAIN, true);
    for (int level = 0; level < 8; ++level) {
        open_system(&s, (tal_mol_level)level);
        e[level] = energy_of(&s);
        ck_assert_int_eq(tal_mol_calc_forces(s.molecule, s.state, f[level], CHAIN), TAL_OK);
        ck_assert_double_eq_tol(e[level].born, e[0].born, 1e-8);
        ck_assert_double_eq_tol(e[level].surface, e[0].surface, 1e-8);
        const double moving =
            tal_force_potential_energy(s.forces, s.state, tal_mol_instance_force(s.molecule));
        ck_assert_double_eq_tol(moving, e[level].total, 1e-8);
        for (int a = 0; a < CHAIN; ++a) {
            test_assert_v3_near(f[level][a], f[0][a], 1e-8);
        }
        tal_status st = TAL_OK;
        test_assert_no_heap(st = tal_system_realize(s.system, s.state, TAL_STAGE_ACCELERATION));
        ck_assert_int_eq(st, TAL_OK);
        close_system(&s);
    }
    s.state = NULL;
    s.system = NULL;
    close_scene(&s);
}

END_TEST

START_TEST(radii_and_settings_that_are_wrong_are_refused)
{
    const tal_vec3 x = {0.0, 0.0, 0.0};
    tal_error err;
    scene s;
    chain_scene(&s, &x, 1, true);
    open_system(&s, TAL_MOL_CARTESIAN);
    tal_mol_nonbonded set = tal_mol_nonbonded_default();
    set.born = true;
    set.vdw = set.coulomb = (tal_mol_range){TAL_CUTOFF_TRUNCATE, 0.0, 1.0};
    set.box = tal_v3(3.0, 3.0, 3.0);
    ck_assert_int_eq(tal_mol_set_nonbonded(s.molecule, s.state, &set), TAL_ERR_BAD_VALUE);
    ck_assert(strstr(tal_state_error(s.state)->message, "a continuum has no box") != NULL);
    ck_assert_int_eq(tal_state_clear_error(s.state), TAL_OK);
    set = tal_mol_nonbonded_default();
    set.surface = -1.0;
    ck_assert_int_eq(tal_mol_set_nonbonded(s.molecule, s.state, &set), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_state_clear_error(s.state), TAL_OK);
    set.surface = 0.0;
    set.solvent = 0.0;
    ck_assert_int_eq(tal_mol_set_nonbonded(s.molecule, s.state, &set), TAL_ERR_BAD_VALUE);
    close_scene(&s);

    chain_scene(&s, &x, 1, false);
    open_system_expecting(&s, TAL_MOL_CARTESIAN, TAL_ERR_BAD_VALUE);
    ck_assert(strstr(tal_state_error(s.state)->message, "no Born radius") != NULL);
    close_scene(&s);

    tal_ff *ff = NULL;
    ck_assert_int_eq(tal_ff_create(NULL, NULL, &ff, &err), TAL_OK);
    ck_assert_int_eq(tal_ff_set_type_born(ff, 0, 0.1, 0.8), TAL_ERR_BAD_INDEX);
    tal_ff_destroy(ff);
    ck_assert_int_eq(tal_ff_create(NULL, NULL, &ff, &err), TAL_OK);
    tal_ff_class_def one = tal_ff_class_def_default();
    one.name = "a";
    (void)tal_ff_add_type(ff, "a", tal_ff_add_class(ff, &one), 0.0);
    ck_assert_int_eq(tal_ff_set_type_born(ff, 0, 0.009, 0.8), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_ff_freeze(ff, &err), TAL_ERR_BAD_VALUE);
    ck_assert(strstr(err.message, "type 'a' is given Born radius 0.009") != NULL);
    tal_ff_destroy(ff);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("born");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, cover_is_the_integral_over_the_sphere);
    tcase_add_test(theory, an_ion_has_the_energy_of_born);
    tcase_add_test(theory, ions_far_apart_are_screened);
    tcase_add_test(theory, forces_are_the_slope_of_the_energy);
    tcase_add_test(theory, energy_and_forces_are_the_same_at_every_granularity);
    tcase_add_test(theory, radii_and_settings_that_are_wrong_are_refused);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
