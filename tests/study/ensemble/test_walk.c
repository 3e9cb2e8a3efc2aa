// A walk has the probabilities that it promises: Boltzmann's for a pendulum and on a sphere,
// uniform ones for rotations, also on constraints; and it goes on bit for bit.
#include "talus_test.h"

#include <talus/study.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BINS = 20,
    SAMPLES = 10000
};

typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_body_ix body;
} model;

static model begin_model(void)
{
    model m = {.system = tal_system_create(NULL)};
    m.matter = tal_matter_create(m.system);
    return m;
}

static void finish(model *m)
{
    tal_error err;
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(m->system, &m->state, NULL), TAL_OK);
}

static void destroy(model *m)
{
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

static tal_walk *create(const model *m, const tal_walk_def *def)
{
    tal_walk *walk = NULL;
    tal_error err;
    ck_assert_msg(tal_walk_create(m->system, def, &walk, &err) == TAL_OK, "%s", err.message);
    return walk;
}

// Pearson's statistic of SAMPLES values in bins of expected probability.
//
// It has BINS - 1 = 19 degrees of freedom where samples are independent: mean 19, standard
// deviation sqrt(38) = 6.2, and above 60 once in 4e6. Samples are taken so many steps apart that
// they hardly know of each other; seeds are fixed.
static void check_histogram(const int counts[BINS], const double expected[BINS], const char *what)
{
    const double bound = 60.0;
    double chi = 0.0;
    for (int i = 0; i < BINS; ++i) {
        const double n = expected[i] * SAMPLES;
        chi += (counts[i] - n) * (counts[i] - n) / n;
    }
    ck_assert_msg(chi < bound, "%s: chi squared is %g", what, chi);
    ck_assert_msg(chi > 2.0, "%s: chi squared is %g, too good to be random", what, chi);
}

static int bin_of(double x, double low, double high)
{
    const int i = (int)(BINS * (x - low) / (high - low));
    return i < 0 ? 0 : i >= BINS ? BINS - 1 : i;
}

static void run(tal_walk *walk, model *m, int n)
{
    const tal_status st = tal_walk_run(walk, m->state, n);
    ck_assert_msg(st == TAL_OK, "%s", tal_walk_error(walk)->message);
}

static void fill_uniform(double expected[BINS])
{
    for (int i = 0; i < BINS; ++i) {
        expected[i] = 1.0 / BINS;
    }
}

// --- pendulum ---

static model create_pendulum(void)
{
    model m = begin_model();
    tal_forces *const forces = tal_forces_create(m.system, m.matter);
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, -10.0, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, tal_v3(0.0, -1.0, 0.0));
    m.body = tal_matter_add_pin(m.matter, TAL_GROUND, &def);
    finish(&m);
    return m;
}

// A density over the circle, by Simpson's rule in each bin.
static void fill_circle(double (*density)(double angle, double parameter), double parameter,
                        double expected[BINS])
{
    const double pi = acos(-1.0), width = 2.0 * pi / BINS;
    double sum = 0.0;
    for (int i = 0; i < BINS; ++i) {
        expected[i] = 0.0;
        for (int k = 0; k <= 20; ++k) {
            const double weight = k == 0 || k == 20 ? 1.0 : k % 2 == 1 ? 4.0 : 2.0;
            expected[i] += weight * density(-pi + (i + k / 20.0) * width, parameter);
        }
        sum += expected[i];
    }
    for (int i = 0; i < BINS; ++i) {
        expected[i] /= sum;
    }
}

static double boltzmann(double angle, double kappa)
{
    return exp(kappa * cos(angle));
}

static double cold(void *context, const tal_system *system, tal_state *state)
{
    (void)system;
    return *(const double *)context * cos(tal_state_q(state)[0]);
}

static void check_pendulum(const tal_walk_def *def, double kappa, const char *what)
{
    const double pi = acos(-1.0);
    model m = create_pendulum();
    tal_walk *const walk = create(&m, def);
    int counts[BINS] = {0};
    for (int k = 0; k < SAMPLES; ++k) {
        run(walk, &m, 25);
        ++counts[bin_of(remainder(tal_state_q(m.state)[0], 2.0 * pi), -pi, pi)];
    }
    double expected[BINS];
    fill_circle(boltzmann, kappa, expected);
    check_histogram(counts, expected, what);
    tal_walk_destroy(walk);
    destroy(&m);
}

START_TEST(a_pendulum_has_boltzmanns_angles)
{
    tal_walk_def def = tal_walk_def_default();
    def.kT = 8.0;
    def.step = 1.5;
    def.seed = 11;
    check_pendulum(&def, 10.0 / 8.0, "kT");
    double kappa = 0.7;
    def = tal_walk_def_default();
    def.step = 1.8;
    def.log_density = cold;
    def.context = &kappa;
    check_pendulum(&def, 0.7, "a density of one's own");
    def.kT = 10.0;
    check_pendulum(&def, 1.7, "both");
}

END_TEST

// --- orientations ---

static model create_ball(bool is_free)
{
    model m = begin_model();
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 0.3);
    m.body = is_free ? tal_matter_add_free(m.matter, TAL_GROUND, &def)
                     : tal_matter_add_ball(m.matter, TAL_GROUND, &def);
    finish(&m);
    return m;
}

// Angles of uniform rotations have the density (1 - cos x) / pi, 0 <= x <= pi.
static void fill_angles(double expected[BINS])
{
    const double pi = acos(-1.0);
    for (int i = 0; i < BINS; ++i) {
        const double a = pi * i / BINS, b = pi * (i + 1) / BINS;
        expected[i] = (b - sin(b) - a + sin(a)) / pi;
    }
}

START_TEST(orientations_of_balls_are_uniform)
{
    tal_walk_def def = tal_walk_def_default();
    def.step = 1.2;
    def.seed = 3;
    model m = create_ball(false);
    tal_walk *const walk = create(&m, &def);
    int heights[BINS] = {0}, angles[BINS] = {0};
    for (int k = 0; k < SAMPLES; ++k) {
        run(walk, &m, 8);
        const tal_mat3 R = tal_body_X_GB(m.matter, m.state, m.body).R;
        ++heights[bin_of(R.z.z, -1.0, 1.0)];
        const double c = 0.5 * (R.x.x + R.y.y + R.z.z - 1.0);
        ++angles[bin_of(acos(fmax(-1.0, fmin(1.0, c))), 0.0, acos(-1.0))];
    }
    double expected[BINS];
    fill_uniform(expected);
    check_histogram(heights, expected, "axes");
    fill_angles(expected);
    check_histogram(angles, expected, "angles");
    const tal_walk_report report = tal_walk_statistics(walk);
    ck_assert_uint_eq(report.proposed, 8 * SAMPLES);
    ck_assert_uint_eq(report.taken, report.proposed); // nothing is less likely than anything
    tal_walk_destroy(walk);
    destroy(&m);
}

END_TEST

// --- constraints ---

// A particle on a rod of length 1 from the origin, in gravity.
static model create_on_sphere(double kappa)
{
    model m = begin_model();
    tal_forces *const forces = tal_forces_create(m.system, m.matter);
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, 0.0, -kappa));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    m.body = tal_matter_add_translation(m.matter, TAL_GROUND, &def);
    const tal_constraint_def tie = tal_constraint_between(TAL_GROUND, m.body);
    (void)tal_constraint_add_rod(m.matter, &tie, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    finish(&m);
    tal_state_upd_q(m.state)[0] = 1.0;
    return m;
}

// z of points on a sphere is uniform without gravity, and exp(-kappa z) with it.
START_TEST(a_particle_on_a_sphere_has_boltzmanns_heights)
{
    const double kappa = 1.5;
    tal_walk_def def = tal_walk_def_default();
    def.kT = 1.0;
    def.step = 0.8;
    def.seed = 5;
    model m = create_on_sphere(kappa);
    tal_walk *const walk = create(&m, &def);
    int heights[BINS] = {0}, headings[BINS] = {0};
    double expected[BINS];
    for (int k = 0; k < SAMPLES; ++k) {
        run(walk, &m, 20);
        const double *const q = tal_state_q(m.state);
        ck_assert_double_eq_tol(sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]), 1.0, 1e-9);
        ++heights[bin_of(q[2], -1.0, 1.0)];
        ++headings[bin_of(atan2(q[1], q[0]), -acos(-1.0), acos(-1.0))];
    }
    for (int i = 0; i < BINS; ++i) {
        const double a = -1.0 + 2.0 * i / BINS, b = a + 2.0 / BINS;
        expected[i] = (exp(-kappa * a) - exp(-kappa * b)) / (exp(kappa) - exp(-kappa));
    }
    check_histogram(heights, expected, "heights");
    fill_uniform(expected);
    check_histogram(headings, expected, "headings");
    const tal_walk_report report = tal_walk_statistics(walk);
    ck_assert_uint_gt(report.off, 0); // the sphere ends: long motions along it have no normal to it
    ck_assert_uint_gt(report.unlikely, 0);
    ck_assert_uint_eq(report.taken + report.unlikely + report.off + report.one_way +
                          report.not_evaluated,
                      report.proposed);
    tal_walk_destroy(walk);
    destroy(&m);
}

END_TEST

// The length of an arc of the circle where a unit along x counts as 1 / scale.
static double arc(double angle, double scale)
{
    const double x = sin(angle) / scale, y = cos(angle);
    return sqrt(x * x + y * y);
}

// On a circle a motion and the one back are equally long; where x is scaled it is an ellipse, and
// they are not.
START_TEST(volume_is_what_scaled_speeds_measure)
{
    const double scale[] = {2.5, 1.0, 1.0};
    tal_walk_def def = tal_walk_def_default();
    def.step = 0.5;
    def.seed = 21;
    def.scale = scale;
    def.num_scale = 3;
    model m = begin_model();
    tal_mobod_def body = tal_mobod_def_default();
    body.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    m.body = tal_matter_add_translation(m.matter, TAL_GROUND, &body);
    const tal_constraint_def tie = tal_constraint_between(TAL_GROUND, m.body);
    (void)tal_constraint_add_rod(m.matter, &tie, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    (void)tal_constraint_add_point_in_plane(m.matter, &tie, tal_v3(0.0, 0.0, 1.0), 0.0,
                                            TAL_VEC3_ZERO);
    finish(&m);
    tal_state_upd_q(m.state)[0] = 1.0;
    tal_walk *const walk = create(&m, &def);
    int counts[BINS] = {0};
    for (int k = 0; k < SAMPLES; ++k) {
        run(walk, &m, 40);
        const double *const q = tal_state_q(m.state);
        ++counts[bin_of(atan2(q[1], q[0]), -acos(-1.0), acos(-1.0))];
    }
    double expected[BINS];
    fill_circle(arc, scale[0], expected);
    check_histogram(counts, expected, "ellipse");
    tal_walk_destroy(walk);
    destroy(&m);
}

END_TEST

// A point of a ball-jointed body in a plane through the joint: its heading is uniform, and so is
// the turn about the line to it.
START_TEST(rotations_on_a_constraint_are_uniform)
{
    tal_walk_def def = tal_walk_def_default();
    def.step = 0.9;
    def.seed = 8;
    model m = begin_model();
    tal_mobod_def body = tal_mobod_def_default();
    body.mass = tal_mass_props_sphere(1.0, 0.3);
    m.body = tal_matter_add_ball(m.matter, TAL_GROUND, &body);
    const tal_constraint_def tie = tal_constraint_between(TAL_GROUND, m.body);
    (void)tal_constraint_add_point_in_plane(m.matter, &tie, tal_v3(0.0, 0.0, 1.0), 0.0,
                                            tal_v3(1.0, 0.0, 0.0));
    finish(&m);
    tal_walk *const walk = create(&m, &def);
    int headings[BINS] = {0}, turns[BINS] = {0};
    for (int k = 0; k < SAMPLES; ++k) {
        run(walk, &m, 15);
        const tal_mat3 R = tal_body_X_GB(m.matter, m.state, m.body).R;
        ck_assert_double_eq_tol(R.x.z, 0.0, 1e-9);
        ++headings[bin_of(atan2(R.x.y, R.x.x), -acos(-1.0), acos(-1.0))];
        ++turns[bin_of(atan2(R.z.z, R.y.z), -acos(-1.0), acos(-1.0))];
    }
    double expected[BINS];
    fill_uniform(expected);
    check_histogram(headings, expected, "headings");
    check_histogram(turns, expected, "turns");
    tal_walk_destroy(walk);
    destroy(&m);
}

END_TEST

// --- going on ---

static void check_resume(model *m, const tal_walk_def *def)
{
    tal_walk *const whole = create(m, def), *const first = create(m, def);
    tal_walk *const second = create(m, def);
    tal_state *half = NULL;
    ck_assert_int_eq(tal_state_create(m->system, &half, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_copy(half, m->state), TAL_OK);
    run(whole, m, 1000);
    ck_assert_int_eq(tal_walk_run(first, half, 377), TAL_OK);
    const size_t size = tal_state_save_size(half);
    void *const bytes = malloc(size);
    ck_assert_int_eq(tal_state_save(half, bytes, size), TAL_OK);
    tal_state *other = NULL;
    ck_assert_int_eq(tal_state_create(m->system, &other, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_load(m->system, other, bytes, size), TAL_OK);
    tal_walk_set_count(second, tal_walk_count(first));
    ck_assert_int_eq(tal_walk_run(second, other, 1000 - 377), TAL_OK);
    ck_assert_int_eq(memcmp(tal_state_q(other), tal_state_q(m->state),
                            (size_t)tal_state_nq(other) * sizeof(double)),
                     0);
    ck_assert_uint_eq(tal_walk_count(second), tal_walk_count(whole));
    free(bytes);
    tal_state_destroy(half);
    tal_state_destroy(other);
    tal_walk_destroy(whole);
    tal_walk_destroy(first);
    tal_walk_destroy(second);
}

START_TEST(a_walk_goes_on_bit_for_bit)
{
    tal_walk_def def = tal_walk_def_default();
    def.step = 0.7;
    def.kT = 2.0;
    model models[] = {create_pendulum(), create_ball(true), create_on_sphere(1.0)};
    for (int i = 0; i < 3; ++i) {
        check_resume(&models[i], &def);
        destroy(&models[i]);
    }
}

END_TEST

// --- what cannot be ---

START_TEST(what_a_walk_cannot_do_is_told)
{
    model m = create_ball(false);
    tal_walk_def def = tal_walk_def_default();
    tal_walk *walk = NULL;
    tal_error err;
    def.step = 0.0;
    ck_assert_int_eq(tal_walk_create(m.system, &def, &walk, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_null(walk);
    def = tal_walk_def_default();
    def.kT = -1.0;
    ck_assert_int_eq(tal_walk_create(m.system, &def, &walk, &err), TAL_ERR_BAD_VALUE);
    const double uneven[] = {1.0, 1.0, 2.0};
    def = tal_walk_def_default();
    def.scale = uneven;
    def.num_scale = 3;
    walk = create(&m, &def);
    ck_assert_int_eq(tal_walk_run(walk, m.state, 1), TAL_ERR_BAD_VALUE);
    tal_walk_destroy(walk);
    def.scale = NULL, def.num_scale = 0;
    walk = create(&m, &def);
    ck_assert_int_eq(tal_walk_run(walk, m.state, -1), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_INSTANCE), TAL_OK);
    ck_assert_int_eq(tal_body_lock(m.matter, m.state, m.body, TAL_LEVEL_VELOCITY), TAL_OK);
    ck_assert_int_eq(tal_walk_run(walk, m.state, 1), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_body_unlock(m.matter, m.state, m.body), TAL_OK);
    ck_assert_int_eq(tal_matter_set_use_angles(m.matter, m.state, true), TAL_OK);
    ck_assert_int_eq(tal_walk_run(walk, m.state, 1), TAL_ERR_BAD_VALUE);
    tal_walk_destroy(walk);
    destroy(&m);
    m = create_on_sphere(1.0);
    tal_state_upd_q(m.state)[0] = 1.2;
    walk = create(&m, &def);
    ck_assert_int_eq(tal_walk_run(walk, m.state, 1), TAL_ERR_BAD_VALUE);
    tal_walk_destroy(walk);
    destroy(&m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("walk");
    TCase *tests = tcase_create("tests");
    tcase_add_test(tests, a_pendulum_has_boltzmanns_angles);
    tcase_add_test(tests, orientations_of_balls_are_uniform);
    tcase_add_test(tests, a_particle_on_a_sphere_has_boltzmanns_heights);
    tcase_add_test(tests, volume_is_what_scaled_speeds_measure);
    tcase_add_test(tests, rotations_on_a_constraint_are_uniform);
    tcase_add_test(tests, a_walk_goes_on_bit_for_bit);
    tcase_add_test(tests, what_a_walk_cannot_do_is_told);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
