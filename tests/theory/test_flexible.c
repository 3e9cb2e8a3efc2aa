// Beams that bend as rigid segments with springs (doc/howto/flexible.md), against Euler and
// Bernoulli's beam.
#include "talus_test.h"

#include <talus/study.h>

#include <math.h>

static const double LENGTH = 2.0, DENSITY = 3.0, STIFFNESS = 150.0;

typedef struct beam {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_body_ix tip;
    int n;
} beam;

static beam begin(int n)
{
    beam b = {.system = tal_system_create(NULL), .tip = TAL_GROUND, .n = n};
    b.matter = tal_matter_create(b.system);
    b.forces = tal_forces_create(b.system, b.matter);
    const double h = LENGTH / n;
    tal_mobod_def segment = tal_mobod_def_default();
    segment.mass = tal_mass_props_rod(DENSITY * h, tal_v3(0.5 * h, 0.0, 0.0));
    segment.X_BM = tal_xf_from_p(tal_v3(-0.5 * h, 0.0, 0.0));
    for (int i = 0; i < n; ++i) {
        segment.X_PF = tal_xf_from_p(tal_v3(i == 0 ? 0.0 : 0.5 * h, 0.0, 0.0));
        b.tip = tal_matter_add_pin(b.matter, b.tip, &segment);
        (void)tal_forces_add_mobility_spring(b.forces, NULL, (tal_mobility){b.tip, 0},
                                             STIFFNESS / (i == 0 ? 0.5 * h : h), 0.0);
    }
    return b;
}

static void finish(beam *b)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(b->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(b->system, &b->state, &err) == TAL_OK, "%s", err.message);
}

static void end(beam *b)
{
    tal_state_destroy(b->state);
    tal_system_destroy(b->system);
}

static tal_vec3 end_of(const beam *b)
{
    return tal_station_p_GS(b->matter, b->state, b->tip, tal_v3(0.5 * LENGTH / b->n, 0.0, 0.0));
}

static void come_to_rest(beam *b)
{
    tal_equilibrium *eq = NULL;
    finish(b);
    ck_assert_int_eq(tal_equilibrium_create(b->system, NULL, &eq, NULL), TAL_OK);
    ck_assert_msg(tal_equilibrium_find(eq, b->state, NULL) == TAL_OK, "%s",
                  tal_equilibrium_error(eq)->message);
    tal_equilibrium_destroy(eq);
}

// Relative errors of the first three frequencies, (beta L)^2 sqrt(E I / (rho A L^4)).
static void find_errors(int n, double error[3])
{
    static const double beta_L[] = {1.8751040687119611, 4.694091132974175, 7.854757438237613};
    beam b = begin(n);
    tal_linearizer *lin = NULL;
    finish(&b);
    ck_assert_int_eq(tal_linearizer_create(b.system, NULL, &lin, NULL), TAL_OK);
    ck_assert_int_eq(tal_linearizer_run(lin, b.state), TAL_OK);
    ck_assert_int_eq(tal_linearizer_find_modes(lin), TAL_OK);
    for (int i = 0; i < 3; ++i) {
        const double known = pow(beta_L[i], 2.0) * sqrt(STIFFNESS / (DENSITY * pow(LENGTH, 4.0)));
        error[i] = tal_linearizer_mode(lin, 2 * i).im / known - 1.0;
    }
    tal_linearizer_destroy(lin);
    end(&b);
}

START_TEST(three_frequencies_are_within_a_percent_at_twenty_segments)
{
    // of the same springs and masses by dense matrices in Python
    static const double known[] = {-0.00114577, -0.00396587, -0.0065024};
    double error[3];
    find_errors(20, error);
    test_assert_near(error, known, 3, 1e-7, "errors");
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_lt(fabs(error[i]), 0.01);
    }
}

END_TEST

// Twice the segments, a quarter of the error.
START_TEST(errors_fall_with_the_square_of_the_number_of_segments)
{
    double coarse[3], fine[3];
    find_errors(20, coarse);
    find_errors(40, fine);
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq_tol(log2(coarse[i] / fine[i]), 2.0, 0.02);
    }
}

END_TEST

// P L^3 / 3 E I (1 + 1 / (2 n^2)) of joints at the ends of segments: sum over joints of (L - x)^2
// over k, which is the rule of the trapezoid for the integral.
START_TEST(a_small_load_makes_the_beam_sag)
{
    const double load = 1e-3;
    for (int n = 4; n <= 64; n *= 4) {
        beam b = begin(n);
        (void)tal_forces_add_constant_force(
            b.forces, "load", b.tip, tal_v3(0.5 * LENGTH / n, 0.0, 0.0), tal_v3(0.0, -load, 0.0));
        come_to_rest(&b);
        const double sag = load * pow(LENGTH, 3.0) / (3.0 * STIFFNESS);
        // beyond that the square of the slope, 1e-10
        ck_assert_double_eq_tol(-end_of(&b).y / sag, 1.0 + 0.5 / (n * n), 1e-8);
        end(&b);
    }
}

END_TEST

// Every joint turns by M / k: the last segment by M L / E I (1 - 1 / 2n), and the corners lie on a
// polygon around the circle.
START_TEST(a_moment_bends_the_beam_into_a_circle)
{
    const int n = 20;
    const double moment = TAL_PI * STIFFNESS / LENGTH;
    beam b = begin(n);
    (void)tal_forces_add_constant_torque(b.forces, "moment", b.tip, tal_v3(0.0, 0.0, moment));
    come_to_rest(&b);
    double angle = 0.0, x = 0.0, y = 0.0;
    for (int i = 0; i < n; ++i) {
        angle += (i == 0 ? 0.5 : 1.0) * TAL_PI / n;
        x += LENGTH / n * cos(angle);
        y += LENGTH / n * sin(angle);
    }
    test_assert_v3_near(end_of(&b), tal_v3(x, y, 0.0), 1e-9); // the accuracy of the equilibrium
    // the half circle itself, to the square of the angle of a joint over 24
    ck_assert_double_eq_tol(y, 2.0 * LENGTH / TAL_PI, pow(TAL_PI / n, 2.0) / 12.0 * LENGTH);
    end(&b);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("theory/flexible");
    TCase *tests = tcase_create("beams");
    tcase_add_test(tests, three_frequencies_are_within_a_percent_at_twenty_segments);
    tcase_add_test(tests, errors_fall_with_the_square_of_the_number_of_segments);
    tcase_add_test(tests, a_small_load_makes_the_beam_sag);
    tcase_add_test(tests, a_moment_bends_the_beam_into_a_circle);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
