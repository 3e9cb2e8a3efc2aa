// common/include/talus/common/inertia.h and common/src/algebra/mass.c: mass properties and
// inertias.
//
// Bodies weigh 1 to 4 and are about 2 across, so inertias are of order ten; with some tens of
// operations identities hold to 2e-13 unless a comment says otherwise.
#include "mass_internal.h"

#include "talus_test.h"

#include <float.h>

enum {
    TRIALS = 100
};

static const double TOL = 2e-13;

static void assert_props_near(tal_mass_props a, tal_mass_props b, double tol)
{
    test_assert_near(&a.mass, &b.mass, 1, tol, "mass");
    test_assert_v3_near(a.com, b.com, tol);
    test_assert_s3_near(a.inertia, b.inertia, tol);
}

static void assert_inertia_near(tal_spatial_inertia a, tal_spatial_inertia b, double tol)
{
    assert_props_near(tal_mass_props_from_spatial_inertia(a),
                      tal_mass_props_from_spatial_inertia(b), tol);
}

static void assert_abi_near(tal_abi P, tal_abi Q, double tol)
{
    test_assert_s3_near(P.J, Q.J, tol);
    test_assert_m3_near(P.F, Q.F, tol);
    test_assert_s3_near(P.M, Q.M, tol);
}

// A symmetric matrix with no other structure: three random dyads.
static tal_abi random_abi(test_rng *rng)
{
    tal_abi P = {TAL_SYM3_ZERO, TAL_MAT3_ZERO, TAL_SYM3_ZERO};
    for (int i = 0; i < 3; ++i) {
        const tal_spatial_vec g = test_random_spatial_vec(rng);
        P = tal_abi_add(P, tal_abi_outer(g, g));
    }
    return P;
}

static tal_status check(tal_mass_props props, const char *part)
{
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = tal_mass_props_check(&props, &err);
    ck_assert_int_eq(st, err.status);
    ck_assert_msg(strstr(err.message, part) != NULL, "'%s' lacks '%s'", err.message, part);
    return st;
}

// Momentum of a cloud of points, point by point: the spatial inertia does the same.
START_TEST(momentum_is_the_sum_over_points)
{
    test_rng rng = test_rng_seed(1);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_spatial_vec V = test_random_spatial_vec(&rng);
        tal_mass_props body = TAL_MASSLESS;
        tal_spatial_vec momentum = TAL_SPATIAL_VEC_ZERO;
        double energy = 0.0;
        for (int i = 0; i < 5; ++i) {
            const double m = test_random_uniform(&rng, 0.1, 1.0);
            const tal_vec3 p = test_random_vec3(&rng);
            const tal_vec3 v = tal_sv_shift_motion(V, p).v;
            const tal_spatial_vec at_point = {TAL_VEC3_ZERO, tal_v3_scale(m, v)};
            const tal_mass_props point = tal_mass_props_point(m, p);
            momentum = tal_sv_add(momentum, tal_sv_shift_force(at_point, p));
            energy += 0.5 * m * tal_v3_dot(v, v);
            body = tal_mass_props_combine(&body, &point);
        }
        const tal_spatial_inertia M = tal_spatial_inertia_from_mass_props(body);
        test_assert_sv_near(tal_spatial_inertia_mul(M, V), momentum, TOL);
        ck_assert_double_eq_tol(tal_spatial_inertia_energy(M, V), energy, TOL);
    }
}

// V^T M V is the same about any point, in any frame (RBDA eq. 2.67).
START_TEST(kinetic_energy_does_not_depend_on_point_or_frame)
{
    test_rng rng = test_rng_seed(2);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_spatial_inertia M_B = test_random_inertia(&rng);
        const tal_abi P_B = random_abi(&rng);
        const tal_vec3 p_AB = test_random_vec3(&rng);
        const tal_mat3 R = test_random_rotation(&rng);
        const tal_spatial_vec V_A = test_random_spatial_vec(&rng);
        const tal_spatial_vec V_B = tal_sv_shift_motion(V_A, p_AB);
        const double energy = tal_spatial_inertia_energy(M_B, V_B);

        const tal_spatial_inertia M_A = tal_spatial_inertia_shift(M_B, p_AB);
        ck_assert_double_eq_tol(tal_spatial_inertia_energy(M_A, V_A), energy, TOL);
        ck_assert_double_eq_tol(tal_spatial_inertia_energy(tal_spatial_inertia_reexpress(R, M_B),
                                                           tal_m3_mul_sv(R, V_B)),
                                energy, TOL);

        const double twice = tal_sv_dot(V_B, tal_abi_mul(P_B, V_B));
        ck_assert_double_eq_tol(tal_sv_dot(V_A, tal_abi_mul(tal_abi_shift(P_B, p_AB), V_A)), twice,
                                TOL);
    }
}

// The whole of phi P phi^T, not its quadratic form only.
START_TEST(a_shifted_inertia_gives_the_shifted_force)
{
    test_rng rng = test_rng_seed(3);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_abi P_B = random_abi(&rng);
        const tal_vec3 p_AB = test_random_vec3(&rng);
        const tal_spatial_vec V_A = test_random_spatial_vec(&rng);
        const tal_spatial_vec F_B = tal_abi_mul(P_B, tal_sv_shift_motion(V_A, p_AB));
        test_assert_sv_near(tal_abi_mul(tal_abi_shift(P_B, p_AB), V_A),
                            tal_sv_shift_force(F_B, p_AB), TOL);
        assert_abi_near(tal_abi_shift(tal_abi_shift(P_B, p_AB), tal_v3_neg(p_AB)), P_B, TOL);

        const tal_mat3 R = test_random_rotation(&rng);
        test_assert_sv_near(tal_abi_mul(tal_abi_reexpress(R, P_B), tal_m3_mul_sv(R, V_A)),
                            tal_m3_mul_sv(R, tal_abi_mul(P_B, V_A)), TOL);
    }
}

START_TEST(rigid_and_general_inertia_agree)
{
    test_rng rng = test_rng_seed(4);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_spatial_inertia M = test_random_inertia(&rng), N = test_random_inertia(&rng);
        const tal_abi P = tal_abi_from_spatial_inertia(M), Q = tal_abi_from_spatial_inertia(N);
        const tal_vec3 p = test_random_vec3(&rng);
        const tal_mat3 R = test_random_rotation(&rng);
        const tal_spatial_vec V = test_random_spatial_vec(&rng);

        test_assert_sv_near(tal_abi_mul(P, V), tal_spatial_inertia_mul(M, V), TOL);
        assert_abi_near(tal_abi_from_spatial_inertia(tal_spatial_inertia_add(M, N)),
                        tal_abi_add(P, Q), TOL);
        assert_abi_near(tal_abi_from_spatial_inertia(tal_spatial_inertia_shift(M, p)),
                        tal_abi_shift(P, p), TOL);
        assert_abi_near(tal_abi_from_spatial_inertia(tal_spatial_inertia_reexpress(R, M)),
                        tal_abi_reexpress(R, P), TOL);
        assert_abi_near(tal_abi_sub(tal_abi_add(P, Q), Q), P, TOL);
    }
}

START_TEST(shifting_to_and_fro_changes_nothing)
{
    test_rng rng = test_rng_seed(5);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_spatial_inertia M = test_random_inertia(&rng);
        const tal_vec3 p = test_random_vec3(&rng);
        assert_inertia_near(
            tal_spatial_inertia_shift(tal_spatial_inertia_shift(M, p), tal_v3_neg(p)), M, TOL);
    }
}

// manual eq. 12.2. Round-off grows with the condition number: entries of M below 20, of M^-1
// below 20.
START_TEST(the_inverse_inertia_undoes_the_inertia)
{
    test_rng rng = test_rng_seed(6);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_spatial_inertia M = test_random_inertia(&rng);
        const tal_abi inverse = tal_spatial_inertia_inverse(M);
        const tal_spatial_vec V = test_random_spatial_vec(&rng);
        test_assert_sv_near(tal_abi_mul(inverse, tal_spatial_inertia_mul(M, V)), V, TOL);
        test_assert_sv_near(tal_spatial_inertia_mul(M, tal_abi_mul(inverse, V)), V, TOL);
    }
    const tal_spatial_inertia none = tal_spatial_inertia_from_mass_props(TAL_MASSLESS);
    ck_assert(!tal_s3_is_finite(tal_spatial_inertia_inverse(none).M));
}

// P - (P h)(P h)^T / (h^T P h) no longer resists along h.
START_TEST(a_dyad_is_one_term_of_a_symmetric_sum)
{
    test_rng rng = test_rng_seed(7);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_abi P = tal_abi_from_spatial_inertia(test_random_inertia(&rng));
        const tal_spatial_vec h = test_random_spatial_vec(&rng), U = tal_abi_mul(P, h);
        const tal_abi dyad = tal_abi_outer(tal_sv_scale(1.0 / tal_sv_dot(h, U), U), U);
        test_assert_sv_near(tal_abi_mul(tal_abi_sub(P, dyad), h), TAL_SPATIAL_VEC_ZERO, TOL);
    }

    // g u^T + u g^T, each with half of its diagonal blocks
    const tal_spatial_vec g = test_random_spatial_vec(&rng), u = test_random_spatial_vec(&rng);
    const tal_spatial_vec V = test_random_spatial_vec(&rng);
    const tal_abi sum = tal_abi_add(tal_abi_outer(g, u), tal_abi_outer(u, g));
    test_assert_sv_near(tal_abi_mul(sum, V),
                        tal_sv_axpy(tal_sv_dot(u, V), g, tal_sv_scale(tal_sv_dot(g, V), u)), TOL);
}

START_TEST(mass_properties_survive_the_round_trip)
{
    test_rng rng = test_rng_seed(8);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_mass_props props = test_random_mass_props(&rng);
        const tal_spatial_inertia M = tal_spatial_inertia_from_mass_props(props);
        assert_props_near(tal_mass_props_from_spatial_inertia(M), props, TOL);
    }
}

// The parts may be moved and then joined, or joined and then moved.
START_TEST(moving_and_gluing_commute)
{
    test_rng rng = test_rng_seed(9);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_mass_props a = test_random_mass_props(&rng), b = test_random_mass_props(&rng);
        const tal_xform X = test_random_xform(&rng), back = tal_xf_inverse(X);
        const tal_mass_props ab = tal_mass_props_combine(&a, &b);
        const tal_mass_props a_moved = tal_mass_props_transform(&X, &a);
        const tal_mass_props b_moved = tal_mass_props_transform(&X, &b);
        const tal_mass_props ab_moved = tal_mass_props_transform(&X, &ab);
        assert_props_near(tal_mass_props_combine(&a_moved, &b_moved), ab_moved, TOL);
        assert_props_near(tal_mass_props_transform(&back, &ab_moved), ab, TOL);

        // the spatial inertia moves along: re-express, then shift from Bo to Ao
        const tal_spatial_inertia M = tal_spatial_inertia_from_mass_props(a);
        assert_inertia_near(tal_spatial_inertia_shift(tal_spatial_inertia_reexpress(X.R, M), X.p),
                            tal_spatial_inertia_from_mass_props(a_moved), TOL);
        test_assert_s3_near(tal_mass_props_central_inertia(a_moved),
                            tal_s3_congruence(X.R, tal_mass_props_central_inertia(a)), TOL);
    }
}

START_TEST(massless_parts_add_nothing)
{
    test_rng rng = test_rng_seed(10);
    const tal_mass_props body = test_random_mass_props(&rng);
    assert_props_near(tal_mass_props_combine(&body, &TAL_MASSLESS), body, 0.0);
    assert_props_near(tal_mass_props_combine(&TAL_MASSLESS, &body), body, TOL);
    assert_props_near(tal_mass_props_combine(&TAL_MASSLESS, &TAL_MASSLESS), TAL_MASSLESS, 0.0);

    const tal_spatial_inertia none = tal_spatial_inertia_from_mass_props(TAL_MASSLESS);
    const tal_spatial_inertia M = tal_spatial_inertia_from_mass_props(body);
    assert_inertia_near(tal_spatial_inertia_add(none, none), none, 0.0);
    assert_inertia_near(tal_spatial_inertia_add(none, M), M, TOL);
}

// The tables of any mechanics handbook, for mass 5.
START_TEST(solids_have_their_handbook_inertias)
{
    const double m = 5.0, r = 0.3, h = 0.7, tol = 1e-15;
    const double end = m * (r * r / 4.0 + h * h / 3.0), tube_end = m * (r * r / 2.0 + h * h / 3.0);
    test_assert_s3_near(tal_mass_props_sphere(m, r).inertia,
                        tal_s3_scale(0.4 * m * r * r, TAL_SYM3_IDENTITY), tol);
    test_assert_s3_near(tal_mass_props_spherical_shell(m, r).inertia,
                        tal_s3_scale(2.0 / 3.0 * m * r * r, TAL_SYM3_IDENTITY), tol);
    // 1/12 m (width^2 + height^2), in half lengths 1/3
    test_assert_s3_near(tal_mass_props_brick(m, tal_v3(0.1, 0.2, 0.3)).inertia,
                        tal_s3_diag(m / 3.0 * 0.13, m / 3.0 * 0.10, m / 3.0 * 0.05), tol);
    test_assert_s3_near(tal_mass_props_ellipsoid(m, tal_v3(0.1, 0.2, 0.3)).inertia,
                        tal_s3_diag(m / 5.0 * 0.13, m / 5.0 * 0.10, m / 5.0 * 0.05), tol);
    test_assert_s3_near(tal_mass_props_cylinder(m, r, h, TAL_AXIS_X).inertia,
                        tal_s3_diag(0.5 * m * r * r, end, end), tol);
    test_assert_s3_near(tal_mass_props_cylinder(m, r, h, TAL_AXIS_Y).inertia,
                        tal_s3_diag(end, 0.5 * m * r * r, end), tol);
    test_assert_s3_near(tal_mass_props_tube(m, r, h, TAL_AXIS_Z).inertia,
                        tal_s3_diag(tube_end, tube_end, m * r * r), tol);
    // 1/3 m L^2 about its end
    const tal_mass_props rod = tal_mass_props_rod(m, tal_v3(0.0, h, 0.0));
    const tal_xform X = tal_xf_from_p(tal_v3(0.0, h, 0.0));
    const double about_end = m * 4.0 * h * h / 3.0;
    test_assert_s3_near(tal_mass_props_transform(&X, &rod).inertia,
                        tal_s3_diag(about_end, 0.0, about_end), 1e-15);
    const tal_sym3 at_point = {20.0, 5.0, 25.0, -10.0, 0.0, 0.0};
    test_assert_s3_near(tal_mass_props_point(m, tal_v3(1.0, 2.0, 0.0)).inertia, at_point, 0.0);
}

// Everything the constructors make, turned and moved at random, with triangle equality for the
// flat and the thin ones.
START_TEST(real_bodies_pass_the_check)
{
    test_rng rng = test_rng_seed(11);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_vec3 v = test_random_vec3(&rng);
        const tal_mass_props body[] = {
            tal_mass_props_point(2.0, v),
            tal_mass_props_rod(2.0, v),
            tal_mass_props_cylinder(2.0, 0.3, 0.0, TAL_AXIS_Y),
            tal_mass_props_brick(2.0, tal_v3(v.x, 0.0, v.z)),
            tal_mass_props_tube(2.0, 0.0, 0.3, TAL_AXIS_X),
            tal_mass_props_sphere(2.0, 1e-3),
            test_random_mass_props(&rng),
            TAL_MASSLESS,
        };
        tal_xform X = test_random_xform(&rng);
        X.p = tal_v3_scale(30.0, X.p);
        for (size_t i = 0; i < sizeof body / sizeof *body; ++i) {
            const tal_mass_props moved = tal_mass_props_transform(&X, &body[i]);
            ck_assert_int_eq(check(moved, ""), TAL_OK);
        }
    }
}

START_TEST(impossible_bodies_are_refused_with_the_number)
{
    tal_mass_props props = tal_mass_props_sphere(2.0, 0.5);
    props.mass = -1.5;
    ck_assert_int_eq(check(props, "mass is -1.5"), TAL_ERR_BAD_VALUE);
    props.mass = 0.0;
    ck_assert_int_eq(check(props, "trace 0.6"), TAL_ERR_BAD_VALUE);

    for (int i = 0; i < 6; ++i) {
        double a[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
        a[i] = 1e-9;
        props.inertia = (tal_sym3){a[0], a[1], a[2], a[3], a[4], a[5]};
        ck_assert_int_eq(check(props, "mass is 0"), TAL_ERR_BAD_VALUE);
    }

    // the inertia of a ball at 3 m, mistaken for one about the origin
    props = tal_mass_props_sphere(2.0, 0.5);
    props.com.x = 3.0;
    ck_assert_int_eq(check(props, "is -17.8, negative"), TAL_ERR_BAD_VALUE);

    props = tal_mass_props_sphere(2.0, 0.5);
    props.inertia = tal_s3_diag(1.0, 4.0, 2.0);
    ck_assert_int_eq(check(props, "1, 2, 4"), TAL_ERR_BAD_VALUE);

    // a negative moment hidden in the products of inertia
    props.inertia = tal_s3_diag(1.0, 1.0, 1.0);
    props.inertia.xy = 1.25;
    ck_assert_int_eq(check(props, "is -0.25, negative"), TAL_ERR_BAD_VALUE);
}

// (C - A - B) / C of diag(1, 2, 3 + x) is x / (3 + x).
START_TEST(an_inertia_may_exceed_by_a_thousandth)
{
    const double most = TAL_INERTIA_TOLERANCE;
    tal_mass_props props = tal_mass_props_sphere(2.0, 0.5);
    props.inertia = tal_s3_diag(1.0, 2.0, 3.0 + 3e-12); // half of what counts as round-off
    ck_assert_double_eq(tal_mass_props_excess(&props), 0.0);
    const double shares[] = {1e-9, 0.999 * most, 1.001 * most, 0.3};
    for (int i = 0; i < 4; ++i) {
        props.inertia = tal_s3_diag(1.0, 3.0 / (1.0 - shares[i]), 2.0);
        // round-off of a moment of 3, over it
        ck_assert_double_eq_tol(tal_mass_props_excess(&props), shares[i], 1e-14);
        const bool will_do = shares[i] < most;
        ck_assert_int_eq(check(props, will_do ? "" : "exceeds"),
                         will_do ? TAL_OK : TAL_ERR_BAD_VALUE);
        ck_assert_int_eq(tali_mass_props_check(&props, true, NULL), TAL_OK);
    }
    props.inertia = tal_s3_diag(-1e-16, 1.0, 1.0); // a rod, negative by round-off
    ck_assert_double_eq(tal_mass_props_excess(&props), 0.0);
    ck_assert_int_eq(check(props, ""), TAL_OK);
    props.inertia = tal_s3_diag(-0.01, 1.0, 1.0);
    ck_assert_int_eq(tali_mass_props_check(&props, true, NULL), TAL_ERR_BAD_VALUE);
    props.inertia = tal_s3_diag(-1.0, -1.0, -1.0);
    ck_assert(isinf(tal_mass_props_excess(&props)));
    props.mass = NAN;
    ck_assert(isnan(tal_mass_props_excess(&props)));
}

END_TEST

START_TEST(numbers_that_are_not_finite_are_named)
{
    static const char *const name[10] = {"mass",       "com.x",      "com.y",      "com.z",
                                         "inertia.xx", "inertia.yy", "inertia.zz", "inertia.xy",
                                         "inertia.xz", "inertia.yz"};
    for (int i = 0; i < 10; ++i) {
        double a[10] = {2.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0};
        a[i] = i % 2 == 0 ? (double)NAN : -(double)INFINITY;
        const tal_mass_props props = {
            a[0], {a[1], a[2], a[3]}, {a[4], a[5], a[6], a[7], a[8], a[9]}};
        ck_assert_int_eq(check(props, name[i]), TAL_ERR_NOT_FINITE);
        ck_assert_int_eq(check(props, i % 2 == 0 ? "nan" : "-inf"), TAL_ERR_NOT_FINITE);
        ck_assert_int_eq(tal_mass_props_check(&props, NULL), TAL_ERR_NOT_FINITE);
    }
    const tal_spatial_inertia M =
        tal_spatial_inertia_from_mass_props(tal_mass_props_sphere((double)NAN, 1.0));
    ck_assert(isnan(M.mass) && isnan(M.G.xx));
}

START_TEST(bad_arguments_are_broken_contracts)
{
    const tal_mass_props *ball = &TAL_MASSLESS;
    tal_mass_props got;
    test_assert_breach(ck_assert_int_eq(tal_mass_props_check(NULL, NULL), TAL_ERR_NULL),
                       TAL_ERR_NULL, "props");
    test_assert_breach(got = tal_mass_props_transform(NULL, ball), TAL_ERR_NULL, "X_AB");
    ck_assert(isnan(got.mass) && isnan(got.com.z) && isnan(got.inertia.yz));
    test_assert_breach(got = tal_mass_props_transform(&TAL_XFORM_IDENTITY, NULL), TAL_ERR_NULL,
                       "in_B");
    test_assert_breach(got = tal_mass_props_combine(NULL, ball), TAL_ERR_NULL, "a is");
    test_assert_breach(got = tal_mass_props_combine(ball, NULL), TAL_ERR_NULL, "b is");
    test_assert_breach(got = tal_mass_props_cylinder(1.0, 1.0, 1.0, (tal_axis)4), TAL_ERR_BAD_VALUE,
                       "axis is 4");
    ck_assert(isnan(got.mass));
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("common/inertia");
    TCase *tc = tcase_create("theory");
    tcase_add_test(tc, momentum_is_the_sum_over_points);
    tcase_add_test(tc, kinetic_energy_does_not_depend_on_point_or_frame);
    tcase_add_test(tc, a_shifted_inertia_gives_the_shifted_force);
    tcase_add_test(tc, rigid_and_general_inertia_agree);
    tcase_add_test(tc, shifting_to_and_fro_changes_nothing);
    tcase_add_test(tc, the_inverse_inertia_undoes_the_inertia);
    tcase_add_test(tc, a_dyad_is_one_term_of_a_symmetric_sum);
    tcase_add_test(tc, mass_properties_survive_the_round_trip);
    tcase_add_test(tc, moving_and_gluing_commute);
    tcase_add_test(tc, massless_parts_add_nothing);
    suite_add_tcase(suite, tc);

    tc = tcase_create("textbook");
    tcase_add_test(tc, solids_have_their_handbook_inertias);
    tcase_add_test(tc, real_bodies_pass_the_check);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, impossible_bodies_are_refused_with_the_number);
    tcase_add_test(tc, an_inertia_may_exceed_by_a_thousandth);
    tcase_add_test(tc, numbers_that_are_not_finite_are_named);
    tcase_add_test(tc, bad_arguments_are_broken_contracts);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
