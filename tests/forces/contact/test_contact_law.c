// Tests for forces/src/contact/contact_law.c.
#include "contact/contact_law_internal.h"
#include "talus_test.h"

// --- normal laws ---

START_TEST(hunt_crossley_is_its_formula)
{
    for (int i = -2; i <= 5; ++i) {
        for (int j = -4; j <= 4; ++j) {
            const double k = 3e5, n = 1.5, c = 0.4, x = 1e-3 * i, xdot = 0.6 * j;
            const tali_contact_press on = tali_contact_hunt_crossley(k, n, c, x, xdot);
            const double elastic = x > 0.0 ? k * pow(x, 1.5) : 0.0;
            const double expected = fmax(0.0, elastic * (1.0 + 1.5 * c * xdot));
            // a few operations on forces up to k 0.005^1.5 = 106 N, twice that with losses, at 2.4
            // m/s
            const double eps = 8.0 * DBL_EPSILON * 250.0;
            ck_assert_double_eq_tol(on.force, expected, eps);
            ck_assert_double_eq_tol(on.energy, x > 0.0 ? 0.4 * elastic * x : 0.0, 0.005 * eps);
            ck_assert_double_eq_tol(on.power, (expected - elastic) * xdot, 2.4 * eps);
            ck_assert_double_ge(on.power, 0.0);
        }
    }
}

END_TEST

// For any exponent the force is the slope of the energy: central difference with h = 1e-4 x has an
// error of (n^2 - 1)/6 h^2, relative 1e-8, and round-off eps / 1e-4 = 2e-12.
START_TEST(force_is_the_slope_of_the_energy)
{
    const double exponents[] = {1.0, 1.2, 1.5, 2.0, 3.0};
    for (int i = 0; i < 5; ++i) {
        const double n = exponents[i], x = 0.02, h = 1e-4 * x, k = 7.0;
        const double slope = (tali_contact_hunt_crossley(k, n, 0.0, x + h, 0.0).energy -
                              tali_contact_hunt_crossley(k, n, 0.0, x - h, 0.0).energy) /
                             (2.0 * h);
        const double force = tali_contact_hunt_crossley(k, n, 0.3, x, 0.0).force;
        ck_assert_double_eq_tol(slope, force, 4e-8 * force);
        ck_assert_double_eq_tol(force, k * pow(x, n), 1e-15 * k);
    }
}

END_TEST

START_TEST(a_foundation_is_a_spring_on_each_area)
{
    const tali_contact_press on = tali_contact_foundation(1e6, 0.2, 1e-3, 0.004, 0.5);
    ck_assert_double_eq_tol(on.force, 1e6 * 1e-3 * 0.004 * (1.0 + 1.5 * 0.2 * 0.5), 1e-15);
    ck_assert_double_eq_tol(on.energy, 0.5 * 1e6 * 1e-3 * 0.004 * 0.004, 1e-17);
    ck_assert_double_eq_tol(on.power, 4.0 * 1.5 * 0.2 * 0.5 * 0.5, 1e-15);
    const tali_contact_press torn = tali_contact_foundation(1e6, 0.2, 1e-3, 0.004, -10.0);
    ck_assert_double_eq(torn.force, 0.0);
    ck_assert_double_eq(torn.power, 40.0); // all that the spring lets go
    ck_assert_double_eq(tali_contact_foundation(1e6, 0.2, 1e-3, 0.0, 1.0).force, 0.0);
}

END_TEST

// --- Hertz's ellipse ---

// K and E by Simpson's rule with 2000 panels of a periodic function: to round-off while b/a is not
// small.
static void elliptic(double ratio, double *K, double *E)
{
    const int n = 4000;
    *K = *E = 0.0;
    for (int i = 0; i < n; ++i) {
        const double t = TAL_PI * (i + 0.5) / n, s = sin(t), c = cos(t);
        const double d = sqrt(c * c + ratio * ratio * s * s);
        *K += 0.5 * TAL_PI / n / d;
        *E += 0.5 * TAL_PI / n * d;
    }
}

// The formulas of Johnson ch. 4 with the integrals above, e^2 = 1 - (b/a)^2. The
// differences in them lose 1 / e^2: 1e-12 at b/a = 0.9.
START_TEST(ellipses_obey_hertz)
{
    for (int i = 1; i <= 9; ++i) {
        const double ratio = 0.1 * i; // b / a
        double K, E;
        elliptic(ratio, &K, &E);
        const double e2 = 1.0 - ratio * ratio;
        const double flat_over_curved = (K - E) / (E / (ratio * ratio) - K);
        const double curved = 20.0, flat = curved * flat_over_curved;
        const tali_contact_ellipse it = tali_contact_hertz_ellipse(flat, curved);
        ck_assert_double_eq_tol(it.ratio, ratio, 1e-12);
        ck_assert_double_eq_tol(it.radius, 1.0 / sqrt(flat * curved), 1e-14);
        const double F1 =
            cbrt(4.0 / (TAL_PI * e2) * pow(ratio, 1.5) * sqrt((E / (ratio * ratio) - K) * (K - E)));
        ck_assert_double_eq_tol(it.spread, F1, 1e-12);
        ck_assert_double_eq_tol(it.soften, 2.0 / TAL_PI * sqrt(ratio) / F1 * K, 1e-12);
        const tali_contact_ellipse same = tali_contact_hertz_ellipse(curved, flat);
        ck_assert_int_eq(memcmp(&it, &same, sizeof it), 0);
    }
}

END_TEST

// A circle is the limit: the factors leave 1 with the square of the curvatures' difference.
START_TEST(a_nearly_round_ellipse_is_a_circle)
{
    const double off[] = {0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-4};
    for (int i = 0; i < 6; ++i) {
        const tali_contact_ellipse it = tali_contact_hertz_ellipse(4.0, 4.0 * (1.0 + off[i]));
        ck_assert_double_eq_tol(it.ratio, 1.0 - 2.0 / 3.0 * off[i], 4e-16 + off[i] * off[i]);
        ck_assert_double_eq_tol(it.spread, 1.0, 4e-16 + off[i] * off[i]);
        ck_assert_double_eq_tol(it.soften, 1.0, 4e-16 + off[i] * off[i]);
        const double k = tali_contact_hertz_stiffness(&it, 1e6);
        ck_assert_double_eq_tol(k, 4.0 / 3.0 * sqrt(it.radius) * 1e6, 1e-9 + k * off[i] * off[i]);
        double a, b;
        tali_contact_patch(&it, 0.01, &a, &b);
        ck_assert_double_eq_tol(a * b, it.radius * 0.01, 1e-17 + off[i] * off[i]); // a^2 = R x
    }
}

END_TEST

START_TEST(extreme_ellipses_are_finite)
{
    for (int i = 1; i <= 12; ++i) {
        const tali_contact_ellipse it = tali_contact_hertz_ellipse(1.0, pow(10.0, -i));
        ck_assert(it.ratio > 0.0 && it.ratio < 1.0);
        ck_assert(isfinite(it.spread) && isfinite(it.soften) && it.soften > 0.0);
    }
}

END_TEST

// --- friction without memory ---

static const tal_contact_pair_material pair = {
    .static_friction = 0.8, .dynamic_friction = 0.5, .viscous_friction = 0.1};

START_TEST(stribeck_passes_through_its_points)
{
    const double vt = 0.01;
    ck_assert_double_eq(tali_contact_stribeck(&pair, vt, 0.0), 0.1);
    ck_assert_double_eq_tol(tali_contact_stribeck(&pair, vt, vt) * vt, 0.8 + 0.1 * vt, 1e-15);
    ck_assert_double_eq_tol(tali_contact_stribeck(&pair, vt, 2.0 * vt) * 2.0 * vt, 0.65 + 0.2 * vt,
                            1e-15);
    ck_assert_double_eq_tol(tali_contact_stribeck(&pair, vt, 3.0 * vt) * 3.0 * vt, 0.5 + 0.3 * vt,
                            1e-15);
    ck_assert_double_eq_tol(tali_contact_stribeck(&pair, vt, 1.0), 0.5 + 0.1, 1e-15);
}

END_TEST

// Two derivatives are continuous where the pieces meet: second differences on the two sides of a
// knot agree within h times the third derivative, 60 mu / 8 at most for vt = 1.
START_TEST(stribeck_has_two_derivatives)
{
    const double knots[] = {1.0, 3.0}, h = 1e-4;
    for (int i = 0; i < 2; ++i) {
        double second[2];
        for (int side = 0; side < 2; ++side) {
            const double middle = knots[i] + (side == 0 ? -h : h);
            double mu[3];
            for (int k = 0; k < 3; ++k) {
                const double v = middle + (k - 1) * h;
                mu[k] = tali_contact_stribeck(&pair, 1.0, v) * v;
            }
            second[side] = (mu[0] - 2.0 * mu[1] + mu[2]) / (h * h);
        }
        ck_assert_double_eq_tol(second[0], second[1], 100.0 * h);
    }
}

END_TEST

START_TEST(hollars_is_its_formula)
{
    const double vt = 0.02;
    for (int i = 1; i < 20; ++i) {
        const double v = 0.005 * i, s = v / vt;
        const double mu = fmin(s, 1.0) * (0.5 + 2.0 * 0.3 / (1.0 + s * s)) + 0.1 * v;
        ck_assert_double_eq_tol(tali_contact_hollars(&pair, vt, v) * v, mu, 1e-15);
    }
    ck_assert_double_eq_tol(tali_contact_hollars(&pair, vt, 0.0), 1.1 / vt + 0.1, 1e-13);
}

END_TEST

// --- friction with memory ---

static const tal_contact_grip bristles = {
    .transition_speed = 0.05, .stiffness = 1e4, .damping = 20.0, .breakaway = 0.7};

// RBDA eq. 11.77 to 11.79, along one direction.
START_TEST(soft_coulomb_is_its_formula)
{
    const tal_contact_pair_material plain = {.static_friction = 0.5, .dynamic_friction = 0.5};
    for (int i = -3; i <= 3; ++i) {
        for (int j = -3; j <= 3; ++j) {
            const double fn = 10.0, x = 2e-4 * i, v = 0.1 * j;
            const tali_contact_grip on = tali_contact_soft_coulomb(
                &bristles, &plain, fn, tal_v3(0.0, v, 0.0), tal_v3(0.0, x, 0.0));
            const double stick = -1e4 * x - 20.0 * v;
            const double ft = fmin(fmax(stick, -5.0), 5.0);
            ck_assert_double_eq_tol(on.force.y, ft, 1e-14);
            ck_assert_double_eq_tol(on.zdot.y, -(1e4 * x + ft) / 20.0, 1e-15);
            ck_assert_double_eq(on.force.x, 0.0);
            ck_assert_double_ge(on.power, -1e-15);
        }
    }
}

END_TEST

// What goes in is stored or lost: -f . v = d/dt K z^2 / 2 + power, for both laws, in any direction;
// and the dry part never leaves the cone.
START_TEST(friction_with_memory_keeps_books)
{
    test_rng rng = test_rng_seed(3);
    for (int i = 0; i < 500; ++i) {
        tal_vec3 v = tal_v3_scale(0.1, test_random_vec3(&rng));
        tal_vec3 z = tal_v3_scale(2e-3, test_random_vec3(&rng));
        const double fn = test_random_uniform(&rng, -5.0, 20.0);
        const double f0 = fmax(0.0, fn); // a quarter of them have let go
        for (int law = 0; law < 2; ++law) {
            const tali_contact_grip on =
                law == 0 ? tali_contact_soft_coulomb(&bristles, &pair, f0, v, z)
                         : tali_contact_elastoplastic(&bristles, &pair, f0, v, z);
            const double in = -tal_v3_dot(on.force, v);
            const double stored = bristles.stiffness * tal_v3_dot(z, on.zdot);
            // sums of terms below 50, each rounded once
            ck_assert_double_eq_tol(in, stored + on.power, 1e-13);
            ck_assert_double_eq_tol(on.energy, 0.5 * 1e4 * tal_v3_dot(z, z), 1e-16);
            const tal_vec3 dry = tal_v3_axpy(0.1 * f0, v, on.force);
            ck_assert_double_le(tal_v3_norm(dry), 0.8 * f0 * (1.0 + 1e-12) + 1e-15);
            ck_assert(tal_v3_is_finite(on.zdot));
        }
    }
}

END_TEST

// Dupont et al.: below break-away the patch is a spring; at z_ss(v) it stands still; going back it
// is a spring again.
START_TEST(elastoplastic_is_elastic_then_plastic)
{
    const double fn = 10.0, K = bristles.stiffness;
    const double z_ba = 0.7 * 0.5 * fn / K;
    const tal_vec3 v = tal_v3(0.01, 0.0, 0.0);
    tali_contact_grip on =
        tali_contact_elastoplastic(&bristles, &pair, fn, v, tal_v3(0.99 * z_ba, 0.0, 0.0));
    test_assert_v3_near(on.zdot, v, 0.0);
    const double mu = 0.5 + 0.3 * exp(-0.04);
    const double z_ss = mu * fn / K;
    on = tali_contact_elastoplastic(&bristles, &pair, fn, v, tal_v3(z_ss, 0.0, 0.0));
    test_assert_v3_near(on.zdot, TAL_VEC3_ZERO, 1e-17);
    ck_assert_double_eq_tol(on.force.x, -(mu + 0.1 * 0.01) * fn, 1e-14);
    on = tali_contact_elastoplastic(&bristles, &pair, fn, tal_v3_neg(v), tal_v3(z_ss, 0.0, 0.0));
    test_assert_v3_near(on.zdot, tal_v3_neg(v), 0.0);
    // halfway between them half of the motion is plastic
    const double z = 0.5 * (z_ba + z_ss);
    on = tali_contact_elastoplastic(&bristles, &pair, fn, v, tal_v3(z, 0.0, 0.0));
    ck_assert_double_eq_tol(on.zdot.x, 0.01 * (1.0 - 0.5 * z / z_ss), 1e-16);
    // motion across z turns it
    on = tali_contact_elastoplastic(&bristles, &pair, fn, tal_v3(0.0, 0.01, 0.0),
                                    tal_v3(z_ss, 0.0, 0.0));
    test_assert_v3_near(on.zdot, tal_v3(0.0, 0.01, 0.0), 0.0);
}

END_TEST

// However much of the friction is elastic, zdot does not jump where a sliding patch stays: over a
// hundredth of z_ss it changes by a part of v, here at most pi/2 / 10 of it (alpha rises over a
// tenth of z_ss, as half a sine).
START_TEST(a_patch_does_not_jump_into_sliding)
{
    const double fn = 10.0, speed = 1.0, z_ss = 0.5 * fn / bristles.stiffness;
    tal_contact_grip all_elastic = bristles;
    all_elastic.breakaway = 1.0;
    all_elastic.damping = 0.1; // inside the cone
    const tal_vec3 v = tal_v3(speed, 0.0, 0.0);
    double before = speed;
    for (int i = 0; i <= 110; ++i) {
        const tal_vec3 z = tal_v3(0.01 * i * z_ss, 0.0, 0.0);
        const double zdot = tali_contact_elastoplastic(&all_elastic, &pair, fn, v, z).zdot.x;
        ck_assert_double_le(fabs(zdot - before), 0.17 * speed);
        before = zdot;
    }
}

END_TEST

// --- smooth sphere on half-space ---

static const tali_contact_smooth smooth = {.cf = 1e-5, .bd = 300.0, .bv = 50.0};

START_TEST(the_smooth_law_is_its_formula_and_near_hertz)
{
    const double R = 0.8, E = 1e6, c = 2.0;
    for (int i = -5; i <= 10; ++i) {
        const double x = 0.01 * i, k = 0.5 * pow(E, 2.0 / 3.0);
        const double hertz = 4.0 / 3.0 * k * sqrt(R * k) * pow(x * x + 1e-5, 0.75);
        const double elastic = hertz * (0.5 + 0.5 * tanh(300.0 * x));
        // powers and a tanh: some eps of forces up to 2e4
        const double eps = 32.0 * DBL_EPSILON * 2e4;
        ck_assert_double_eq_tol(tali_contact_smooth_elastic(&smooth, R, E, x), elastic, eps);
        for (int j = -5; j <= 5; ++j) {
            const double v = 0.2 * j;
            const double f = elastic * (1.0 + 3.0 * v) * (0.5 + 0.5 * tanh(50.0 * (v + 1.0 / 3.0)));
            ck_assert_double_eq_tol(tali_contact_smooth_force(&smooth, elastic, c, v), f,
                                    4.0 * eps);
        }
        ck_assert_double_eq(tali_contact_smooth_force(&smooth, elastic, 0.0, -1.0), elastic);
    }
    // deep in contact it is Hertz's law for equal materials, E* = E / 2^(3/2), within cf / x^2
    const double far = tali_contact_smooth_elastic(&smooth, R, E, 0.1);
    ck_assert_double_eq_tol(far, 4.0 / 3.0 * sqrt(R) * E / pow(2.0, 1.5) * pow(0.1, 1.5),
                            1e-3 * far);
}

END_TEST

// The energy is the integral of the force: differences over [x - h, x + h] against Simpson's rule
// with steps of h / 1000, whose error, a fourth derivative times h (h/1000)^4 / 90, is below
// round-off.
START_TEST(the_smooth_energy_is_an_integral_of_the_force)
{
    const double R = 0.1, E = 1e6;
    ck_assert_double_eq(tali_contact_smooth_energy(&smooth, R, E, -0.2), 0.0);
    for (int i = -4; i <= 30; ++i) {
        const double x = 0.005 * i, h = 2e-3;
        const double gained = tali_contact_smooth_energy(&smooth, R, E, x + h) -
                              tali_contact_smooth_energy(&smooth, R, E, x - h);
        double work = 0.0;
        for (int j = 0; j <= 2000; ++j) {
            const double w = j == 0 || j == 2000 ? 1.0 : (j % 2 == 1 ? 4.0 : 2.0);
            work += w * h / 3000.0 *
                    tali_contact_smooth_elastic(&smooth, R, E, x + h * (j - 1000) / 1000.0);
        }
        const double size = tali_contact_smooth_energy(&smooth, R, E, x + h);
        ck_assert_double_eq_tol(gained, work, 1e-13 * (size + 1.0));
    }
}

END_TEST

// Edges as soft or as sharp as doubles allow: the sum ends.
START_TEST(the_smooth_energy_of_any_edge_is_found)
{
    const double bds[] = {5e-324, 1e-308, 1e-300, 1e300, DBL_MAX};
    const double cfs[] = {1e-300, 1e-5, 1e300};
    for (int i = 0; i < 15; ++i) {
        tali_contact_smooth edge = smooth;
        edge.bd = bds[i % 5];
        edge.cf = cfs[i / 5];
        ck_assert_double_ge(tali_contact_smooth_energy(&edge, 0.1, 1e6, 0.1), 0.0);
        ck_assert_double_ge(tali_contact_smooth_energy(&edge, 0.1, 1e6, 1e100), 0.0);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("forces/contact_law");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, hunt_crossley_is_its_formula);
    tcase_add_test(theory, force_is_the_slope_of_the_energy);
    tcase_add_test(theory, a_foundation_is_a_spring_on_each_area);
    tcase_add_test(theory, ellipses_obey_hertz);
    tcase_add_test(theory, a_nearly_round_ellipse_is_a_circle);
    tcase_add_test(theory, extreme_ellipses_are_finite);
    tcase_add_test(theory, stribeck_passes_through_its_points);
    tcase_add_test(theory, stribeck_has_two_derivatives);
    tcase_add_test(theory, hollars_is_its_formula);
    tcase_add_test(theory, soft_coulomb_is_its_formula);
    tcase_add_test(theory, friction_with_memory_keeps_books);
    tcase_add_test(theory, elastoplastic_is_elastic_then_plastic);
    tcase_add_test(theory, a_patch_does_not_jump_into_sliding);
    tcase_add_test(theory, the_smooth_law_is_its_formula_and_near_hertz);
    tcase_add_test(theory, the_smooth_energy_is_an_integral_of_the_force);
    tcase_add_test(theory, the_smooth_energy_of_any_edge_is_found);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
