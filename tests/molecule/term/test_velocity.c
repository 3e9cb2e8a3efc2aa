// Tests for molecule/src/term/velocity.c: velocities at a temperature.
#include "alloc_guard.h"
#include "talus_test.h"

#include <talus/molecule.h>

enum {
    CHAIN = 8,
    MOST = 3 * CHAIN,
    SAMPLES = 4000
};

typedef struct scene {
    tal_ff *ff;
    tal_mol *mol;
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    const tal_mol_instance *molecule;
} scene;

// A chain of eight sites, two of them light, and a body of another kind beside it.
static void open_scene(scene *s, tal_mol_level level, double atom_radius_scale)
{
    tal_error err;
    tal_vec3 x[CHAIN];
    memset(s, 0, sizeof *s);
    tal_ff_def def = tal_ff_def_default();
    def.atom_radius_scale = atom_radius_scale;
    ck_assert_int_eq(tal_ff_create(&def, NULL, &s->ff, &err), TAL_OK);
    tal_ff_class_def one = tal_ff_class_def_default();
    one.name = "C";
    one.size = 0.3;
    const int c = tal_ff_add_class(s->ff, &one);
    (void)tal_ff_set_type_mass(s->ff, tal_ff_add_type(s->ff, "heavy", c, 0.0), 14.027);
    (void)tal_ff_set_type_mass(s->ff, tal_ff_add_type(s->ff, "light", c, 0.0), 1.008);
    ck_assert_int_eq(tal_ff_freeze(s->ff, &err), TAL_OK);
    const tal_mol_def bare = {.only_added = true};
    ck_assert_int_eq(tal_mol_create(s->ff, &bare, NULL, &s->mol, &err), TAL_OK);
    for (int i = 0; i < CHAIN; ++i) {
        (void)tal_mol_add_atom(s->mol, i == 2 || i == 5 ? 1 : 0, "C", 1, "");
        if (i > 0) (void)tal_mol_add_bond(s->mol, i - 1, i, 1);
        x[i] = tal_v3(0.13 * i, 0.08 * (i % 2), 0.05 * (i % 3));
    }
    (void)tal_mol_set_positions(s->mol, x, CHAIN);
    ck_assert_int_eq(tal_mol_freeze(s->mol, &err), TAL_OK);
    tal_mol_granularity how = tal_mol_granularity_default();
    how.level = level;
    s->system = tal_system_create(NULL);
    s->matter = tal_matter_create(s->system);
    s->forces = tal_forces_create(s->system, s->matter);
    tal_mobod_def block = tal_mobod_def_default();
    block.mass = tal_mass_props_sphere(1.0, 0.1);
    (void)tal_matter_add_slider(s->matter, TAL_GROUND, &block);
    s->molecule = tal_mol_add(s->system, s->matter, s->forces, "mol", s->mol, &how, NULL);
    ck_assert_msg(tal_system_realize_topology(s->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(s->system, &s->state, &err), TAL_OK);
    ck_assert_int_eq(tal_system_realize(s->system, s->state, TAL_STAGE_POSITION), TAL_OK);
}

static void close_scene(scene *s)
{
    tal_state_destroy(s->state);
    tal_system_destroy(s->system);
    tal_mol_destroy(s->mol);
    tal_ff_destroy(s->ff);
}

// Means of u_i (M u)_j over samples are R T where i = j, and zero elsewhere: all within five
// standard errors, and few beyond three. The kinetic energy has mean N R T/2 and variance
// N (R T)^2/2, within three and four standard errors; that of a variance is of kurtosis 12/N.
static void assert_canonical(scene *s, double T)
{
    const double kT = TAL_MOL_R * T;
    const int nu = tal_matter_nu(s->matter) - 1, first = 1; // the slider is before
    static double sum[MOST][MOST], squares[MOST][MOST];
    double mean = 0.0, spread = 0.0;
    memset(sum, 0, sizeof sum);
    memset(squares, 0, sizeof squares);
    for (int k = 0; k < SAMPLES; ++k) {
        double u[MOST + 1], p[MOST + 1], twice = 0.0;
        ck_assert_int_eq(
            tal_mol_set_random_velocities(s->molecule, s->state, T, 1000 + (uint64_t)k), TAL_OK);
        memcpy(u, tal_state_u(s->state), (size_t)(nu + 1) * sizeof u[0]);
        ck_assert_double_eq(u[0], 0.0);
        ck_assert_int_eq(tal_matter_mul_M(s->matter, s->state, u, p), TAL_OK);
        for (int i = 0; i < nu; ++i) {
            for (int j = 0; j < nu; ++j) {
                const double product = u[first + i] * p[first + j];
                sum[i][j] += product;
                squares[i][j] += product * product;
            }
            twice += u[first + i] * p[first + i];
        }
        mean += 0.5 * twice / SAMPLES;
        spread += 0.25 * twice * twice / SAMPLES;
        if (k > 3) continue;
        ck_assert_int_eq(tal_system_realize(s->system, s->state, TAL_STAGE_VELOCITY), TAL_OK);
        ck_assert_double_eq_tol(tal_mol_calc_temperature(s->molecule, s->state, 2),
                                twice / (nu - 2) / TAL_MOL_R, 1e-9 * T);
    }
    int beyond = 0;
    for (int i = 0; i < nu; ++i) {
        for (int j = 0; j < nu; ++j) {
            const double m = sum[i][j] / SAMPLES, expected = i == j ? kT : 0.0;
            const double error = sqrt((squares[i][j] / SAMPLES - m * m) / SAMPLES);
            ck_assert_double_le(fabs(m - expected), 5.0 * error);
            beyond += fabs(m - expected) > 3.0 * error ? 1 : 0;
        }
    }
    ck_assert_int_le(beyond, 2 + nu * nu / 50); // 0.3 % are expected
    const double N = nu;
    ck_assert_double_le(fabs(mean - 0.5 * N * kT), 3.0 * kT * sqrt(0.5 * N / SAMPLES));
    const double variance = spread - mean * mean, expected = 0.5 * N * kT * kT;
    ck_assert_double_le(fabs(variance - expected),
                        4.0 * expected * sqrt((2.0 + 12.0 / N) / SAMPLES));
}

START_TEST(every_mobility_has_its_share_of_energy)
{
    static const tal_mol_level levels[4] = {TAL_MOL_CARTESIAN, TAL_MOL_BAT, TAL_MOL_TORSIONS,
                                            TAL_MOL_RIGID};
    for (int i = 0; i < 4; ++i) {
        scene s;
        open_scene(&s, levels[i], 0.0);
        assert_canonical(&s, 300.0);
        close_scene(&s);
    }
    scene s; // atoms that are spheres
    open_scene(&s, TAL_MOL_TORSIONS, 1.0);
    assert_canonical(&s, 150.0);
    close_scene(&s);
}

END_TEST

START_TEST(velocities_depend_on_the_seed_alone_and_allocate_nothing)
{
    scene s;
    double first[MOST + 1], again[MOST + 1];
    open_scene(&s, TAL_MOL_TORSIONS, 0.0);
    const size_t bytes = (size_t)tal_state_nu(s.state) * sizeof first[0];
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_mol_set_random_velocities(s.molecule, s.state, 300.0, 7));
    ck_assert_int_eq(st, TAL_OK);
    memcpy(first, tal_state_u(s.state), bytes);
    ck_assert_int_eq(tal_mol_set_random_velocities(s.molecule, s.state, 300.0, 8), TAL_OK);
    ck_assert(memcmp(first, tal_state_u(s.state), bytes) != 0);
    ck_assert_int_eq(tal_mol_set_random_velocities(s.molecule, s.state, 300.0, 7), TAL_OK);
    memcpy(again, tal_state_u(s.state), bytes);
    ck_assert(memcmp(first, again, bytes) == 0);
    ck_assert_int_eq(tal_mol_set_random_velocities(s.molecule, s.state, 0.0, 7), TAL_OK);
    ck_assert_double_eq(test_largest(tal_state_u(s.state), tal_state_nu(s.state)), 0.0);
    close_scene(&s);
}

END_TEST

START_TEST(bad_temperatures_and_stages_are_refused)
{
    test_record_breaches();
    scene s;
    open_scene(&s, TAL_MOL_TORSIONS, 0.0);
    ck_assert_int_eq(tal_mol_set_random_velocities(s.molecule, s.state, -1.0, 7),
                     TAL_ERR_BAD_VALUE);
    ck_assert(strstr(tal_state_error(s.state)->message, "temperature is -1 K") != NULL);
    ck_assert_int_eq(tal_state_clear_error(s.state), TAL_OK);
    ck_assert_int_eq(tal_mol_set_random_velocities(s.molecule, s.state, NAN, 7), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_state_clear_error(s.state), TAL_OK);
    test_assert_breach(ck_assert(isnan(tal_mol_calc_temperature(s.molecule, s.state, 0))),
                       TAL_ERR_STAGE, "stage");
    ck_assert_int_eq(tal_system_realize(s.system, s.state, TAL_STAGE_VELOCITY), TAL_OK);
    ck_assert(isnan(tal_mol_calc_temperature(s.molecule, s.state, 11)));
    ck_assert_int_eq(tal_state_invalidate(s.state, TAL_STAGE_POSITION), TAL_OK);
    test_assert_refused(tal_mol_set_random_velocities(s.molecule, s.state, 300.0, 7), TAL_ERR_STAGE,
                        "stage");
    close_scene(&s);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("velocity");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, every_mobility_has_its_share_of_energy);
    tcase_add_test(theory, velocities_depend_on_the_seed_alone_and_allocate_nothing);
    tcase_add_test(theory, bad_temperatures_and_stages_are_refused);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
