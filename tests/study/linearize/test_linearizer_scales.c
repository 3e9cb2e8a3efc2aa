// Modes where lengths, masses and stiffnesses differ by many powers of ten: against closed forms,
// and against the error that each mode comes with.
#include "linearizer_support.h"

#include <float.h>
#include <math.h>

static const double G = 9.81;
static const tal_vec3 G_DOWN = {0.0, -9.81, 0.0};

// A mode without damping swings at omega, to a share of it; and its own error says so, but for what
// round-off makes of the accelerations themselves, which no difference sees: eps times `condition`.
static void check_mode(const model *m, int i, double omega, double share, double condition)
{
    const tal_mode mode = tal_linearizer_mode(m->lin, i);
    const double off = hypot(mode.re, mode.im - omega);
    ck_assert_msg(off <= share * omega, "mode %d: %.17g + %.17g i is off by %g of %.17g", i,
                  mode.re, mode.im, off / omega, omega);
    ck_assert_msg(off <= mode.error + 16.0 * DBL_EPSILON * condition * omega,
                  "mode %d is off by %g and says %g", i, off, mode.error);
}

// The two roots of A w^4 - B w^2 + C, without cancellation.
static void solve_biquadratic(double A, double B, double C, double omega[2])
{
    const double large = (B + sqrt(B * B - 4.0 * A * C)) / (2.0 * A);
    omega[0] = sqrt(C / A / large);
    omega[1] = sqrt(large);
}

// --- mass ratios ---

// Two point masses on links of the same length. At an angle q between the links the upper mass
// feels m1 + m2 sin^2 q: what it does bends within q = sqrt(m1 / m2). From
//
//     m1 l^2 w^4 - 2 (m1 + m2) g l w^2 + (m1 + m2) g^2 = 0
//
// Differences leave 1e-8 (promise P10) or better, and round-off eps times the ratio of the masses.
static void check_two_pendulums(double m1, double m2, double l)
{
    model m = begin_model(G_DOWN);
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = tal_mass_props_point(m1, tal_v3(0.0, -l, 0.0));
    const tal_body_ix upper = tal_matter_add_pin(m.matter, TAL_GROUND, &link);
    link.mass = tal_mass_props_point(m2, tal_v3(0.0, -l, 0.0));
    link.X_PF = tal_xf_from_p(tal_v3(0.0, -l, 0.0));
    (void)tal_matter_add_pin(m.matter, upper, &link);
    finish_model(&m);
    find_modes(&m);
    const double M = m1 + m2;
    double omega[2];
    solve_biquadratic(m1 * l * l, 2.0 * M * G * l, M * G * G, omega);
    const double condition = fmax(m1 / m2, m2 / m1);
    const double share = 1e-8 + 4.0 * DBL_EPSILON * condition;
    check_mode(&m, 0, omega[0], share, condition);
    check_mode(&m, 2, omega[1], share, condition);
    end_model(&m);
}

START_TEST(a_light_link_may_carry_a_heavy_one)
{
    check_two_pendulums(0.001, 1000.0, 0.5); // 6264 rad/s
    for (int e = -9; e <= 9; ++e) {
        check_two_pendulums(pow(10.0, e), 1.0, 1.0);
        check_two_pendulums(pow(10.0, 0.5 * e), pow(10.0, -0.5 * e), 1e-3);
    }
}

END_TEST

// --- lengths ---

START_TEST(links_may_be_nanometers_or_light_seconds)
{
    for (int e = -9; e <= 9; e += 3) {
        check_two_pendulums(1.0, 1.0, pow(10.0, e));
    }
}

END_TEST

// A particle held by a rod, with weights as they are: the unit of motion, 1 m, says nothing of the
// rod, and the particle leaves it far behind when it is moved by a hundredth of that.
START_TEST(rods_may_be_nanometers_or_light_seconds)
{
    for (int e = -10; e <= 9; ++e) {
        const double l = pow(10.0, e);
        model m = begin_model(G_DOWN);
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = tal_mass_props_point(3.0, TAL_VEC3_ZERO);
        const tal_body_ix body = tal_matter_add_translation(m.matter, TAL_GROUND, &def);
        const tal_constraint_def ends = tal_constraint_between(TAL_GROUND, body);
        (void)tal_constraint_add_rod(m.matter, &ends, TAL_VEC3_ZERO, TAL_VEC3_ZERO, l);
        finish_model(&m);
        const double hanging[] = {0.0, -l, 0.0};
        ck_assert_int_eq(tal_state_set_q(m.state, hanging, 3), TAL_OK);
        find_modes(&m);
        check_mode(&m, 0, sqrt(G / l), 1e-8, 1.0);
        check_mode(&m, 2, sqrt(G / l), 1e-8, 1.0);
        end_model(&m);
    }
}

END_TEST

// --- stiffnesses ---

// One mass on a spring, and on it another, both at `place` with their springs at rest:
//
//     m1 m2 w^4 - (k2 (m1 + m2) + k1 m2) w^2 + k1 k2 = 0
//
// What is left of the slow mode is round-off of the fast one, eps times the ratio of their squares.
static void check_two_springs(double m1, double k1, double m2, double k2, double place)
{
    model m = begin_model(tal_v3(0.0, 0.0, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(m1, TAL_VEC3_ZERO);
    const tal_body_ix first = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
    def.mass = tal_mass_props_point(m2, TAL_VEC3_ZERO);
    const tal_body_ix second = tal_matter_add_slider(m.matter, first, &def);
    (void)tal_forces_add_mobility_spring(m.forces, NULL, (tal_mobility){first, 0}, k1, place);
    (void)tal_forces_add_mobility_spring(m.forces, NULL, (tal_mobility){second, 0}, k2, place);
    finish_model(&m);
    const double q[] = {place, place};
    ck_assert_int_eq(tal_state_set_q(m.state, q, 2), TAL_OK);
    find_modes(&m);
    double omega[2];
    solve_biquadratic(m1 * m2, k2 * (m1 + m2) + k1 * m2, k1 * k2, omega);
    const double ratio = omega[1] / omega[0], condition = fmax(m1 / m2, m2 / m1);
    const double share = 1e-8 + 8.0 * DBL_EPSILON * ratio * ratio;
    check_mode(&m, 0, omega[0], fmin(share, 1e-6), condition * condition);
    check_mode(&m, 2, omega[1], 1e-8, condition);
    end_model(&m);
}

START_TEST(soft_springs_beside_stiff_ones_keep_their_modes)
{
    const double places[] = {0.0, 1.0, 1e-9, 1e6};
    for (int p = 0; p < 4; ++p) {
        for (int e = -9; e <= 9; e += 3) {
            const double ratio = pow(10.0, e);
            check_two_springs(1.0, 1.0, 1.0, ratio, places[p]);
            check_two_springs(ratio, 1.0, 1.0, 1.0, places[p]);
            check_two_springs(1.0, ratio, ratio, 1.0, places[p]);
            check_two_springs(ratio, 1.0, 1.0, ratio, places[p]);
        }
    }
}

END_TEST

// --- forces that the usual step does not see ---

// Pulls the first coordinate to zero, and not at all from ten widths on: -k q exp(-(q / width)^2).
// With `is_one_sided`, -k q for q > 0 only.
typedef struct well {
    double k, width;
    bool is_one_sided;
} well;

static tal_status apply_well(const void *self, const tal_force_context *context,
                             tal_spatial_vec F[], double f[])
{
    (void)F;
    const well *it = self;
    const double q = tal_state_q(context->state)[0], x = q / it->width;
    if (it->is_one_sided) {
        f[0] -= q > 0.0 ? it->k * q : 0.0;
    } else {
        f[0] -= it->k * q * exp(-x * x);
    }
    return TAL_OK;
}

static const tal_force_ops well_ops = {
    .size = sizeof well_ops, .name = "well", .apply = apply_well};

static model in_a_well(well *it, double spring)
{
    model m = begin_model(tal_v3(0.0, 0.0, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(2.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
    (void)tal_forces_add(m.forces, NULL, &well_ops, it);
    (void)tal_forces_add_mobility_spring(m.forces, NULL, (tal_mobility){body, 0}, spring, 0.0);
    finish_model(&m);
    return m;
}

// At a hundredth of a unit nothing is left of the force, not a bit: three differences agree on
// zero.
START_TEST(a_force_of_short_range_is_found)
{
    for (int e = -9; e <= 3; e += 3) {
        well it = {50.0, pow(10.0, e), false};
        model m = in_a_well(&it, 0.0);
        find_modes(&m);
        check_mode(&m, 0, 5.0, 1e-8, 1.0);
        end_model(&m);
    }
}

END_TEST

// Where a force sets in there are two slopes, and half their difference is what the mean is off by:
// with a spring of stiffness c, (c + k / 2 +- k / 2) / m.
START_TEST(where_a_slope_jumps_the_modes_say_so)
{
    well it = {50.0, 1.0, true};
    model m = in_a_well(&it, 1e3);
    find_modes(&m);
    const tal_mode mode = tal_linearizer_mode(m.lin, 0);
    ck_assert_double_eq_tol(mode.im, sqrt(1025.0 / 2.0), 1e-9);
    ck_assert_double_eq_tol(mode.error, 25.0 / 2.0 / (2.0 * mode.im), 1e-3); // d(w^2) / 2 w
    const tal_matrix A_error = tal_linearizer_A_error(m.lin);
    ck_assert_int_eq(A_error.rows, 2);
    ck_assert_double_eq_tol(A_error.data[1], 25.0 / 2.0, 1e-6);
    end_model(&m);

    m = in_a_well(&it, 0.0); // nothing else holds it
    ck_assert_int_eq(tal_linearizer_run(m.lin, m.state), TAL_OK);
    ck_assert_int_eq(tal_linearizer_find_modes(m.lin), TAL_ERR_NO_CONVERGENCE);
    ck_assert_ptr_nonnull(strstr(tal_linearizer_error(m.lin)->message, "jump"));
    ck_assert_int_eq(tal_linearizer_num_modes(m.lin), 0);
    end_model(&m);
}

END_TEST

// --- what nothing holds ---

// Twelve eigenvalues are zero, in pairs that part with the root of an error: they say how far they
// may be off, and that is little on any scale.
START_TEST(a_body_in_space_has_modes_that_are_zero)
{
    model m = begin_model(G_DOWN);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_brick(3.0, tal_v3(0.1, 0.2, 0.3));
    (void)tal_matter_add_free(m.matter, TAL_GROUND, &def);
    finish_model(&m);
    find_modes(&m);
    ck_assert_int_eq(tal_linearizer_num_modes(m.lin), 12);
    for (int i = 0; i < 12; ++i) {
        const tal_mode mode = tal_linearizer_mode(m.lin, i);
        ck_assert_double_lt(mode.error, 1e-4);
        ck_assert_double_le(hypot(mode.re, mode.im), mode.error);
    }
    end_model(&m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/linearizer_scales");
    TCase *tests = tcase_create("scales");
    tcase_add_test(tests, a_light_link_may_carry_a_heavy_one);
    tcase_add_test(tests, links_may_be_nanometers_or_light_seconds);
    tcase_add_test(tests, rods_may_be_nanometers_or_light_seconds);
    tcase_add_test(tests, soft_springs_beside_stiff_ones_keep_their_modes);
    tcase_add_test(tests, a_force_of_short_range_is_found);
    tcase_add_test(tests, where_a_slope_jumps_the_modes_say_so);
    tcase_add_test(tests, a_body_in_space_has_modes_that_are_zero);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
