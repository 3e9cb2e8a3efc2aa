// Tests for study/src/path/: polynomials in place of paths.
#include "path/terms_internal.h"
#include "talus_test.h"

#include <talus/study.h>

#include <limits.h>
#include <math.h>

// --- terms ---

START_TEST(terms_are_all_powers_up_to_the_degree_each_once)
{
    for (int n = 1; n <= 4; ++n) {
        for (int degree = 0; degree <= 5; ++degree) {
            int powers[126 * 4];
            const int count = tali_fit_num_terms(n, degree);
            ck_assert_int_le(count, 126);
            tali_fit_list_terms(n, degree, powers);
            for (int k = 0; k < count; ++k) {
                int sum = 0;
                for (int i = 0; i < n; ++i) {
                    sum += powers[k * n + i];
                }
                ck_assert_int_le(sum, degree);
                for (int j = 0; j < k; ++j) {
                    ck_assert(memcmp(powers + k * n, powers + j * n, (size_t)n * sizeof(int)) != 0);
                }
            }
        }
    }
    ck_assert_int_eq(tali_fit_num_terms(3, 6), 84);
    ck_assert_int_eq(tali_fit_num_terms(2, 0), 1);
    ck_assert_int_eq(tali_fit_num_terms(32, 16), INT_MAX);
}

END_TEST

START_TEST(unscaled_coefficients_give_the_same_polynomial)
{
    enum {
        N = 3,
        DEGREE = 4,
        COUNT = 35
    };

    int powers[COUNT * N];
    double c[COUNT], plain[COUNT], room[COUNT], terms[COUNT];
    const double center[N] = {0.4, -1.2, 0.0}, half[N] = {0.7, 0.3, 2.0};
    test_rng rng = test_rng_seed(1);
    ck_assert_int_eq(tali_fit_num_terms(N, DEGREE), COUNT);
    tali_fit_list_terms(N, DEGREE, powers);
    for (int k = 0; k < COUNT; ++k) {
        c[k] = plain[k] = test_random_uniform(&rng, -1.0, 1.0);
    }
    tali_fit_unscale(powers, COUNT, N, center, half, plain, room);
    for (int trial = 0; trial < 20; ++trial) {
        double x[N], q[N], scaled = 0.0, found = 0.0;
        for (int i = 0; i < N; ++i) {
            x[i] = test_random_uniform(&rng, -1.0, 1.0);
            q[i] = center[i] + half[i] * x[i];
        }
        tali_fit_calc_terms(powers, COUNT, N, x, -1, terms, 1);
        for (int k = 0; k < COUNT; ++k) {
            scaled += c[k] * terms[k];
        }
        tali_fit_calc_terms(powers, COUNT, N, q, -1, terms, 1);
        for (int k = 0; k < COUNT; ++k) {
            found += plain[k] * terms[k];
        }
        // (1 + |center|) / half to the fourth power is 3e3: so much is lost to cancellation
        ck_assert_double_eq_tol(found, scaled, 1e-11);
    }
}

END_TEST

// --- a leg ---

// Hip of two angles and a knee; a path over a cylinder at the knee, and one that ends at the hip.
typedef struct leg {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_body_ix thigh, shank;
    tal_path_ix path, fixed;
    tal_state *state;
} leg;

static leg begin(void)
{
    leg it = {.system = tal_system_create(NULL)};
    it.matter = tal_matter_create(it.system);
    it.forces = tal_forces_create(it.system, it.matter);
    tal_mobod_def link = tal_mobod_def_default();
    link.mass.mass = 1.0;
    it.thigh = tal_matter_add_universal(it.matter, TAL_GROUND, &link);
    link.X_PF = tal_xf_from_p(tal_v3(0.0, -0.4, 0.0));
    it.shank = tal_matter_add_pin(it.matter, it.thigh, &link);
    tal_body_limit_coordinate(it.matter, it.thigh, 0, -0.3, 1.2);
    tal_body_limit_coordinate(it.matter, it.thigh, 1, -0.4, 0.4);
    tal_body_limit_coordinate(it.matter, it.shank, 0, -1.5, 0.1);
    const tal_xform X = TAL_XFORM_IDENTITY;
    tal_wrap knee = tal_wrap_cylinder(0.03, 0.5);
    knee.side = TAL_WRAP_PLUS_X;
    const tal_wrap_ix wrap = tal_forces_add_wrap(it.forces, "knee", it.shank, &X, &knee);
    it.path = tal_forces_add_path(it.forces, "rectus");
    tal_path_add_point(it.forces, it.path, TAL_GROUND, tal_v3(0.07, 0.05, 0.02));
    tal_path_add_point(it.forces, it.path, it.shank, tal_v3(0.035, -0.06, 0.0));
    tal_path_add_wrap(it.forces, it.path, wrap, 0, 1);
    it.fixed = tal_forces_add_path(it.forces, "fixed");
    tal_path_add_point(it.forces, it.fixed, it.thigh, tal_v3(0.0, -0.1, 0.0));
    tal_path_add_point(it.forces, it.fixed, it.thigh, tal_v3(0.0, -0.3, 0.0));
    return it;
}

static void finish(leg *it)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(it->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(it->system, &it->state, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_system_realize(it->system, it->state, TAL_STAGE_POSITION), TAL_OK);
}

static void end(leg *it)
{
    tal_state_destroy(it->state);
    tal_system_destroy(it->system);
}

START_TEST(a_path_knows_its_coordinates)
{
    leg it = begin();
    ck_assert_int_eq(tal_path_coordinates(it.forces, it.path, NULL, 0), -1); // no topology
    finish(&it);
    tal_mobility at[4];
    ck_assert_int_eq(tal_path_coordinates(it.forces, it.path, at, 4), 3);
    const tal_mobility expected[3] = {{it.thigh, 0}, {it.thigh, 1}, {it.shank, 0}};
    for (int k = 0; k < 3; ++k) {
        ck_assert_int_eq(at[k].body.i, expected[k].body.i);
        ck_assert_int_eq(at[k].i, expected[k].i);
    }
    ck_assert_int_eq(tal_path_coordinates(it.forces, it.path, at, 1), 3);
    ck_assert_int_eq(tal_path_coordinates(it.forces, it.fixed, at, 4), 0);
    ck_assert_int_eq(tal_path_coordinates(it.forces, it.path, NULL, 2), -1);
    ck_assert_int_eq(tal_path_coordinates(it.forces, (tal_path_ix){9}, at, 4), -1);
    end(&it);
}

END_TEST

// The errors that a fit reports agree with those at other poses, of length and of slope; and the
// slope is the moment arm.
START_TEST(a_fit_is_as_good_as_it_says)
{
    leg it = begin();
    finish(&it);
    tal_path_fit_def def = tal_path_fit_def_default();
    def.length_tolerance = 1e-4;
    def.arm_tolerance = 1e-3;
    tal_path_fit fit;
    tal_error err;
    ck_assert_msg(tal_path_find_fit(it.system, it.forces, it.state, it.path, &def, &fit, &err) ==
                      TAL_OK,
                  "%s", err.message);
    ck_assert_msg(fit.is_within, "%g %g", fit.length_rms, fit.arm_rms);
    ck_assert_int_eq(fit.num_at, 3);
    ck_assert_int_ge(fit.degree, 2);
    ck_assert_int_eq(fit.num_terms, tali_fit_num_terms(3, fit.degree));
    test_rng rng = test_rng_seed(4);
    double length2 = 0.0, arm2 = 0.0;
    for (int k = 0; k < 300; ++k) {
        const double q[3] = {test_random_uniform(&rng, -0.3, 1.2),
                             test_random_uniform(&rng, -0.4, 0.4),
                             test_random_uniform(&rng, -1.5, 0.1)};
        tal_body_set_q(it.matter, it.state, it.thigh, 0, q[0]);
        tal_body_set_q(it.matter, it.state, it.thigh, 1, q[1]);
        tal_body_set_q(it.matter, it.state, it.shank, 0, q[2]);
        ck_assert_int_eq(tal_system_realize(it.system, it.state, TAL_STAGE_POSITION), TAL_OK);
        double g[3];
        ck_assert_int_eq(tal_path_calc_generalized(it.forces, it.state, it.path, g), TAL_OK);
        const double off = tal_path_length(it.forces, it.state, it.path) -
                           tal_function_calc_value(fit.length, q, 3);
        length2 += off * off;
        for (int i = 0; i < 3; ++i) { // speeds of a universal joint are rates of its angles
            const double by = g[i] + tal_function_calc_derivative(fit.length, q, 3, &i, 1);
            arm2 += by * by;
        }
    }
    // RMS of 300 and of 400 poses: they agree to a tenth, nearly always
    ck_assert_double_eq_tol(sqrt(length2 / 300.0) / fit.length_rms, 1.0, 0.25);
    ck_assert_double_eq_tol(sqrt(arm2 / 900.0) / fit.arm_rms, 1.0, 0.25);
    tal_function_destroy(fit.length);
    end(&it);
}

END_TEST

START_TEST(a_closer_fit_needs_a_higher_degree)
{
    leg it = begin();
    finish(&it);
    tal_path_fit_def def = tal_path_fit_def_default();
    int last = 0;
    for (double tolerance = 1e-2; tolerance > 1e-5; tolerance *= 0.1) {
        def.length_tolerance = tolerance;
        def.arm_tolerance = 10.0 * tolerance;
        def.max_degree = 8;
        tal_path_fit fit;
        ck_assert_int_eq(
            tal_path_find_fit(it.system, it.forces, it.state, it.path, &def, &fit, NULL), TAL_OK);
        ck_assert_int_ge(fit.degree, last);
        last = fit.degree;
        if (fit.is_within) ck_assert_double_le(fit.length_rms, tolerance);
        tal_function_destroy(fit.length);
    }
    ck_assert_int_gt(last, 2);
    end(&it);
}

END_TEST

// A straight line between two points is smooth: where the degree grows the error falls to nothing.
// One argument, the other two locked: they keep their values.
START_TEST(coordinates_that_are_locked_are_no_arguments)
{
    leg it = begin();
    finish(&it);
    tal_body_set_q(it.matter, it.state, it.thigh, 0, 0.3);
    const tal_mobility lock = {it.thigh, 1};
    ck_assert_int_eq(tal_mobility_lock(it.matter, it.state, lock, TAL_LEVEL_POSITION), TAL_OK);
    tal_path_fit fit;
    ck_assert_int_eq(tal_path_find_fit(it.system, it.forces, it.state, it.path, NULL, &fit, NULL),
                     TAL_OK);
    ck_assert_int_eq(fit.num_at, 2);
    tal_function_destroy(fit.length);

    const tal_mobility hip = {it.thigh, 0};
    tal_path_fit_def def = tal_path_fit_def_default();
    def.at = &hip;
    def.num_at = 1;
    def.max_degree = 16;
    def.length_tolerance = 1e-9;
    def.arm_tolerance = 1e-8;
    tal_body_set_q(it.matter, it.state, it.shank, 0, -1.0); // no line over the knee is tangent
    ck_assert_int_eq(tal_path_find_fit(it.system, it.forces, it.state, it.path, &def, &fit, NULL),
                     TAL_OK);
    ck_assert(fit.is_within);
    ck_assert_int_eq(fit.num_at, 1);
    const double q = 0.3;
    ck_assert_int_eq(tal_system_realize(it.system, it.state, TAL_STAGE_POSITION), TAL_OK);
    ck_assert_double_eq_tol(tal_function_calc_value_1(fit.length, q),
                            tal_path_length(it.forces, it.state, it.path), 1e-8);
    tal_function_destroy(fit.length);
    end(&it);
}

END_TEST

// As a path of its own, a fit has its length and its forces.
START_TEST(a_fit_makes_a_path)
{
    leg it = begin();
    finish(&it);
    tal_path_fit fit;
    ck_assert_int_eq(tal_path_find_fit(it.system, it.forces, it.state, it.path, NULL, &fit, NULL),
                     TAL_OK);
    leg other = begin();
    const double at_zero[3] = {0.0, 0.0, 0.0};
    const double length = tal_function_calc_value(fit.length, at_zero, 3);
    const tal_path_ix path =
        tal_forces_add_function_path(other.forces, "fitted", fit.at, fit.num_at, fit.length);
    finish(&other);
    ck_assert_double_eq(tal_path_length(other.forces, other.state, path), length);
    ck_assert_double_eq_tol(length, tal_path_length(other.forces, other.state, other.path),
                            4.0 * fit.length_max);
    end(&it);
    end(&other);
}

END_TEST

// --- along constraints ---

// A knee whose patella slides on the thigh as the knee bends: s = 0.05 + 0.03 q + 0.02 q^2, by a
// coupler. The path runs from the thigh over the patella to the shank.
typedef struct knee {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_body_ix shank, patella;
    tal_path_ix path, fitted;
    tal_state *state;
} knee;

static double slide(double q)
{
    return 0.05 + 0.03 * q + 0.02 * q * q;
}

// With a length, the path is that function of the knee's angle.
static knee begin_knee(tal_function *length)
{
    knee it = {.system = tal_system_create(NULL)};
    it.matter = tal_matter_create(it.system);
    it.forces = tal_forces_create(it.system, it.matter);
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = tal_mass_props_rod(2.0, tal_v3(0.0, 0.2, 0.0));
    it.shank = tal_matter_add_pin(it.matter, TAL_GROUND, &link);
    link.mass = tal_mass_props_sphere(0.1, 0.02);
    link.X_PF = tal_xf_from_p(tal_v3(0.0, 0.05, 0.0));
    it.patella = tal_matter_add_slider(it.matter, TAL_GROUND, &link);
    tal_body_limit_coordinate(it.matter, it.shank, 0, -1.5, 0.2);
    const double terms[] = {-1.0, 0.03, 0.02, 0.05}; // 0.05 + 0.03 q + 0.02 q^2 - s
    const int powers[] = {0, 1, 1, 0, 2, 0, 0, 0};
    tal_function *f = NULL;
    ck_assert_int_eq(
        tal_function_create_multivariate_polynomial(NULL, terms, powers, 4, 2, &f, NULL), TAL_OK);
    tal_constraint_def def = tal_constraint_def_default();
    def.mobilities[0] = (tal_mobility){it.shank, 0};
    def.mobilities[1] = (tal_mobility){it.patella, 0};
    def.num_mobilities = 2;
    (void)tal_constraint_add_coordinate_coupler(it.matter, &def, f);
    const tal_mobility at = {it.shank, 0};
    if (length != NULL) {
        it.path = tal_forces_add_function_path(it.forces, "quadriceps", &at, 1, length);
    } else {
        it.path = tal_forces_add_path(it.forces, "quadriceps");
        tal_path_add_point(it.forces, it.path, TAL_GROUND, tal_v3(0.02, 0.35, 0.0));
        tal_path_add_point(it.forces, it.path, it.patella, tal_v3(0.01, 0.0, 0.0));
        tal_path_add_point(it.forces, it.path, it.shank, tal_v3(0.03, -0.08, 0.0));
    }
    (void)tal_forces_add_path_actuator(it.forces, "pull", it.path, 100.0, (tal_measure_ix){-1});
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(it.system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(it.system, &it.state, &err) == TAL_OK, "%s", err.message);
    (void)tal_actuator_set_control(it.forces, it.state, (tal_force_ix){0}, 1.0);
    return it;
}

static void end_knee(knee *it)
{
    tal_state_destroy(it->state);
    tal_system_destroy(it->system);
}

static tal_vec3 shank_point(double q)
{
    return tal_v3(0.03 * cos(q) + 0.08 * sin(q), 0.03 * sin(q) - 0.08 * cos(q), 0.0);
}

// By hand, on the constraint.
static double knee_length(double q)
{
    const tal_vec3 hip = tal_v3(0.02, 0.35, 0.0), patella = tal_v3(0.01 + slide(q), 0.05, 0.0);
    return tal_v3_norm(tal_v3_sub(patella, hip)) + tal_v3_norm(tal_v3_sub(shank_point(q), patella));
}

// One argument is left, and the polynomial is the length on the constraint, with its whole slope:
// differences over h are off by h^2 f''' / 6 = 1e-11 and 1e-16 / h. The errors are those that are
// reported.
START_TEST(a_fit_along_constraints_has_independent_arguments)
{
    knee it = begin_knee(NULL);
    tal_path_fit_def def = tal_path_fit_def_default();
    def.along_constraints = true;
    def.length_tolerance = def.arm_tolerance = 1e-5;
    def.max_degree = 8;
    tal_path_fit fit;
    tal_error err = {0};
    ck_assert_msg(tal_path_find_fit(it.system, it.forces, it.state, it.path, &def, &fit, &err) ==
                      TAL_OK,
                  "%s", err.message);
    ck_assert_int_eq(fit.num_at, 1);
    ck_assert(fit.at[0].body.i == it.shank.i && fit.at[0].i == 0);
    ck_assert(fit.is_within);
    for (int k = 0; k <= 20; ++k) {
        const double q = -1.5 + 1.7 * k / 20, h = 1e-5;
        const double slope = (knee_length(q + h) - knee_length(q - h)) / (2.0 * h);
        ck_assert_double_eq_tol(tal_function_calc_value_1(fit.length, q), knee_length(q),
                                5.0 * fit.length_max + 1e-9);
        ck_assert_double_eq_tol(tal_function_calc_derivative_1(fit.length, q, 1), slope,
                                5.0 * fit.arm_max + 1e-9);
    }
    // in place of the path it moves the model alike: 100 N off by 1e-5 m on 0.1 kg m^2
    knee other = begin_knee(fit.length);
    double udot[2];
    for (int k = 0; k < 2; ++k) {
        knee *const which = k == 0 ? &it : &other;
        (void)tal_body_set_q(which->matter, which->state, which->shank, 0, -0.7);
        (void)tal_body_set_q(which->matter, which->state, which->patella, 0, slide(-0.7));
        ck_assert_int_eq(tal_system_realize(which->system, which->state, TAL_STAGE_ACCELERATION),
                         TAL_OK);
        udot[k] = tal_state_udot(which->state)[0];
    }
    ck_assert_double_gt(fabs(udot[0]), 1.0);
    ck_assert_double_eq_tol(udot[1], udot[0], 0.05);
    end_knee(&other);
    end_knee(&it);
}

END_TEST

// Both coordinates cannot be held; one that is locked cannot be, either; and a pose that the
// constraints do not allow is told.
START_TEST(a_fit_along_constraints_says_what_is_wrong)
{
    knee it = begin_knee(NULL);
    const tal_mobility both[] = {{it.shank, 0}, {it.patella, 0}};
    tal_path_fit_def def = tal_path_fit_def_default();
    def.along_constraints = true;
    def.at = both;
    def.num_at = 2;
    tal_path_fit fit;
    tal_error err = {0};
    ck_assert_int_eq(tal_path_find_fit(it.system, it.forces, it.state, it.path, &def, &fit, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "follows from those before"));
    def.num_at = 1;
    (void)tal_mobility_lock(it.matter, it.state, both[0], TAL_LEVEL_POSITION);
    ck_assert_int_eq(tal_path_find_fit(it.system, it.forces, it.state, it.path, &def, &fit, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "is locked or prescribed"));
    end_knee(&it);
}

END_TEST

// --- mistakes ---

START_TEST(mistakes_are_told)
{
    leg it = begin();
    tal_mobod_def foot = tal_mobod_def_default();
    foot.mass.mass = 1.0;
    foot.mass.inertia = tal_s3_diag(1.0, 1.0, 1.0);
    const tal_body_ix ball = tal_matter_add_ball(it.matter, it.shank, &foot);
    const tal_path_ix path = tal_forces_add_path(it.forces, "loose");
    tal_path_add_point(it.forces, path, it.shank, tal_v3(0.1, 0.0, 0.0));
    tal_path_add_point(it.forces, path, ball, tal_v3(0.1, 0.2, 0.0));
    finish(&it);
    tal_path_fit fit;
    tal_error err;

    const struct {
        tal_path_ix path;
        tal_path_fit_def def;
        tal_status status;
        const char *says;
    } cases[] = {
        {{7}, tal_path_fit_def_default(), TAL_ERR_BAD_INDEX, "there is no path 7"},
        {it.fixed, tal_path_fit_def_default(), TAL_ERR_BAD_VALUE, "its length is a number"},
        {path, tal_path_fit_def_default(), TAL_ERR_BAD_VALUE, "part of a quaternion: use angles"},
        {it.path, {.max_degree = 3, .max_terms = 9}, TAL_ERR_BAD_VALUE, "tolerances are 0 and 0"},
        {it.path,
         {.length_tolerance = 1.0, .arm_tolerance = 1.0, .max_degree = 17, .max_terms = 9},
         TAL_ERR_BAD_VALUE,
         "the highest degree is 17"},
        {it.path,
         {.length_tolerance = 1.0,
          .arm_tolerance = 1.0,
          .max_degree = 1,
          .max_terms = 9,
          .num_at = 2},
         TAL_ERR_BAD_VALUE,
         "there are 2 coordinates, and the list is NULL"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        ck_assert_int_eq(tal_path_find_fit(it.system, it.forces, it.state, cases[i].path,
                                           &cases[i].def, &fit, &err),
                         cases[i].status);
        ck_assert_msg(strstr(err.message, cases[i].says) != NULL, "%s", err.message);
        ck_assert_ptr_null(fit.length);
    }
    ck_assert_int_eq(tal_matter_set_use_angles(it.matter, it.state, true), TAL_OK);
    ck_assert_int_eq(tal_path_find_fit(it.system, it.forces, it.state, path, NULL, &fit, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "has the range -inf to inf: give it a finite one"));
    ck_assert_int_eq(tal_path_find_fit(it.system, NULL, it.state, path, NULL, &fit, &err),
                     TAL_ERR_NULL);
    leg other = begin();
    finish(&other);
    ck_assert_int_eq(tal_path_find_fit(it.system, other.forces, it.state, path, NULL, &fit, &err),
                     TAL_ERR_WRONG_SYSTEM);
    end(&other);
    end(&it);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/path_fit");
    TCase *all = tcase_create("all");
    tcase_add_test(all, terms_are_all_powers_up_to_the_degree_each_once);
    tcase_add_test(all, unscaled_coefficients_give_the_same_polynomial);
    tcase_add_test(all, a_path_knows_its_coordinates);
    tcase_add_test(all, a_fit_is_as_good_as_it_says);
    tcase_add_test(all, a_closer_fit_needs_a_higher_degree);
    tcase_add_test(all, coordinates_that_are_locked_are_no_arguments);
    tcase_add_test(all, a_fit_makes_a_path);
    tcase_add_test(all, a_fit_along_constraints_has_independent_arguments);
    tcase_add_test(all, a_fit_along_constraints_says_what_is_wrong);
    tcase_add_test(all, mistakes_are_told);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
