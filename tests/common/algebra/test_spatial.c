// common/include/talus/common/spatial.h: transforms, spatial motion and force.
//
// Entries are of order one and each result takes some tens of operations, so identities hold to
// 1e-14 (about 50 units of round-off) unless a comment says otherwise.
#include "talus_test.h"

enum {
    TRIALS = 100
};

static const double TOL = 1e-14;

static void assert_xf_near(tal_xform X, tal_xform Y, double tol)
{
    test_assert_m3_near(X.R, Y.R, tol);
    test_assert_v3_near(X.p, Y.p, tol);
}

START_TEST(transforms_compose_as_their_letters_say)
{
    test_rng rng = test_rng_seed(1);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_xform X_AB = test_random_xform(&rng), X_BC = test_random_xform(&rng);
        const tal_vec3 p_CS = test_random_vec3(&rng);
        const tal_xform X_AC = tal_xf_mul(X_AB, X_BC);

        const tal_vec3 p_AS = tal_xf_apply(X_AB, tal_xf_apply(X_BC, p_CS));
        test_assert_v3_near(tal_xf_apply(X_AC, p_CS), p_AS, TOL);
        test_assert_v3_near(tal_xf_inv_apply(X_AC, p_AS), p_CS, TOL);
        test_assert_v3_near(tal_xf_apply(tal_xf_inverse(X_AC), p_AS), p_CS, TOL);
        assert_xf_near(tal_xf_inv_mul(X_AB, X_AC), X_BC, TOL);
        assert_xf_near(tal_xf_mul(X_AB, tal_xf_inverse(X_AB)), TAL_XFORM_IDENTITY, TOL);
        // a rotation after a translation
        const tal_xform parts = tal_xf_mul(tal_xf_from_p(X_AB.p), tal_xf_from_R(X_AB.R));
        assert_xf_near(parts, X_AB, 0.0);
    }
}

START_TEST(the_origin_of_B_is_p_AB)
{
    test_rng rng = test_rng_seed(2);
    const tal_xform X_AB = test_random_xform(&rng);
    test_assert_v3_near(tal_xf_apply(X_AB, TAL_VEC3_ZERO), X_AB.p, 0.0);
    test_assert_v3_near(tal_xf_apply(X_AB, tal_v3(0.0, 1.0, 0.0)), tal_v3_add(X_AB.p, X_AB.R.y),
                        TOL);
}

START_TEST(spatial_vectors_are_linear)
{
    test_rng rng = test_rng_seed(3);
    const tal_spatial_vec V = test_random_spatial_vec(&rng), W = test_random_spatial_vec(&rng);
    test_assert_sv_near(tal_sv_axpy(2.0, V, W), tal_sv_add(tal_sv_scale(2.0, V), W), 0.0);
    test_assert_sv_near(tal_sv_sub(V, W), tal_sv_add(V, tal_sv_neg(W)), 0.0);
    test_assert_sv_near(tal_sv_sub(V, V), TAL_SPATIAL_VEC_ZERO, 0.0);
    ck_assert_double_eq(tal_sv_dot(V, W), tal_v3_dot(V.w, W.w) + tal_v3_dot(V.v, W.v));
}

// RBDA eq. 2.5: the velocity field of a body, v_P = v_O + w x OP.
START_TEST(a_shifted_motion_is_the_velocity_of_the_other_point)
{
    // along x by 2: w_z turns it into y, w_y into -z
    const tal_spatial_vec V = {{0.3, 0.5, 0.7}, {1.0, 2.0, 3.0}};
    const tal_spatial_vec W = tal_sv_shift_motion(V, tal_v3(2.0, 0.0, 0.0));
    test_assert_v3_near(W.v, tal_v3(1.0, 2.0 + 0.7 * 2.0, 3.0 - 0.5 * 2.0), TOL);
    test_assert_v3_near(W.w, V.w, 0.0);
}

START_TEST(power_does_not_depend_on_point_or_frame)
{
    test_rng rng = test_rng_seed(4);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_xform X_AB = test_random_xform(&rng);
        const tal_vec3 p = test_random_vec3(&rng);
        const tal_spatial_vec V = test_random_spatial_vec(&rng), F = test_random_spatial_vec(&rng);
        const double power = tal_sv_dot(V, F);

        ck_assert_double_eq_tol(tal_sv_dot(tal_xf_motion(X_AB, V), tal_xf_force(X_AB, F)), power,
                                TOL);
        ck_assert_double_eq_tol(tal_sv_dot(tal_m3_mul_sv(X_AB.R, V), tal_m3_mul_sv(X_AB.R, F)),
                                power, TOL);
        // V at A, F at B: F_A . V_A = F_B . V_B
        ck_assert_double_eq_tol(tal_sv_dot(V, tal_sv_shift_force(F, p)),
                                tal_sv_dot(tal_sv_shift_motion(V, p), F), TOL);
        test_assert_sv_near(tal_m3_tmul_sv(X_AB.R, tal_m3_mul_sv(X_AB.R, V)), V, TOL);
    }
}

START_TEST(spatial_transforms_compose_and_invert)
{
    test_rng rng = test_rng_seed(5);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_xform X_AB = test_random_xform(&rng), X_BC = test_random_xform(&rng);
        const tal_xform X_AC = tal_xf_mul(X_AB, X_BC);
        const tal_spatial_vec V = test_random_spatial_vec(&rng);
        test_assert_sv_near(tal_xf_motion(X_AC, V), tal_xf_motion(X_AB, tal_xf_motion(X_BC, V)),
                            2.0 * TOL);
        test_assert_sv_near(tal_xf_force(X_AC, V), tal_xf_force(X_AB, tal_xf_force(X_BC, V)),
                            2.0 * TOL);
        test_assert_sv_near(tal_xf_motion(tal_xf_inverse(X_AB), tal_xf_motion(X_AB, V)), V, TOL);
        test_assert_sv_near(tal_xf_force(tal_xf_inverse(X_AB), tal_xf_force(X_AB, V)), V, TOL);
    }
}

// The same point of a rigid body seen from A and from B moves the same way.
START_TEST(a_transformed_motion_has_the_same_velocity_field)
{
    test_rng rng = test_rng_seed(6);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_xform X_AB = test_random_xform(&rng);
        const tal_spatial_vec V_B = test_random_spatial_vec(&rng);
        const tal_vec3 p_BS = test_random_vec3(&rng), p_AS = tal_xf_apply(X_AB, p_BS);
        const tal_spatial_vec V_A = tal_xf_motion(X_AB, V_B);
        test_assert_v3_near(tal_sv_shift_motion(V_A, p_AS).v,
                            tal_m3_mul_v3(X_AB.R, tal_sv_shift_motion(V_B, p_BS).v), TOL);
    }
}

// RBDA tab. 2.3, applied to vectors.
START_TEST(spatial_cross_products_obey_their_table)
{
    test_rng rng = test_rng_seed(7);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_xform X = test_random_xform(&rng);
        const tal_spatial_vec u = test_random_spatial_vec(&rng), v = test_random_spatial_vec(&rng);
        const tal_spatial_vec m = test_random_spatial_vec(&rng), f = test_random_spatial_vec(&rng);
        const tal_spatial_vec uv = tal_sv_cross_motion(u, v);

        test_assert_sv_near(uv, tal_sv_neg(tal_sv_cross_motion(v, u)), TOL);
        // (u x v) x = u x v x - v x u x
        test_assert_sv_near(tal_sv_cross_motion(uv, m),
                            tal_sv_sub(tal_sv_cross_motion(u, tal_sv_cross_motion(v, m)),
                                       tal_sv_cross_motion(v, tal_sv_cross_motion(u, m))),
                            2.0 * TOL);
        test_assert_sv_near(tal_sv_cross_force(uv, f),
                            tal_sv_sub(tal_sv_cross_force(u, tal_sv_cross_force(v, f)),
                                       tal_sv_cross_force(v, tal_sv_cross_force(u, f))),
                            2.0 * TOL);
        // (X v) x = X v x X^-1, in both spaces
        test_assert_sv_near(tal_sv_cross_motion(tal_xf_motion(X, v), tal_xf_motion(X, m)),
                            tal_xf_motion(X, tal_sv_cross_motion(v, m)), 2.0 * TOL);
        test_assert_sv_near(tal_sv_cross_force(tal_xf_motion(X, v), tal_xf_force(X, f)),
                            tal_xf_force(X, tal_sv_cross_force(v, f)), 2.0 * TOL);
        // (u x v) . f = -v . (u x* f)
        ck_assert_double_eq_tol(tal_sv_dot(uv, f), -tal_sv_dot(v, tal_sv_cross_force(u, f)), TOL);
    }
}

// RBDA fig. 2.5: d_Ox x d_Oy = d_Oz, d_x x d_Oy = d_z, d_Ox x d_y = d_z, d_x x d_y = 0.
START_TEST(basis_vectors_multiply_as_in_the_figure)
{
    const tal_vec3 zero = TAL_VEC3_ZERO, x = {1.0, 0.0, 0.0}, y = {0.0, 1.0, 0.0};
    const tal_vec3 z = {0.0, 0.0, 1.0};
    const tal_spatial_vec turn_x = {x, zero}, turn_y = {y, zero}, move_x = {zero, x};
    const tal_spatial_vec move_y = {zero, y};
    test_assert_sv_near(tal_sv_cross_motion(turn_x, turn_y), tal_sv(z, zero), 0.0);
    test_assert_sv_near(tal_sv_cross_motion(move_x, turn_y), tal_sv(zero, z), 0.0);
    test_assert_sv_near(tal_sv_cross_motion(turn_x, move_y), tal_sv(zero, z), 0.0);
    test_assert_sv_near(tal_sv_cross_motion(move_x, move_y), TAL_SPATIAL_VEC_ZERO, 0.0);
    // a force along y carried along x gains a moment about z
    test_assert_sv_near(tal_sv_cross_force(move_x, move_y), tal_sv(z, zero), 0.0);
    test_assert_sv_near(tal_sv_cross_force(turn_x, move_y), tal_sv(zero, z), 0.0);
    test_assert_sv_near(tal_sv_cross_force(move_x, turn_y), TAL_SPATIAL_VEC_ZERO, 0.0);
}

// p_B(t) = p_A(t) + R(t) s: two derivatives by central differences of a constant rotation rate
// with a constant acceleration of A; h = 1e-4 leaves round-off over h^2, 1e-7.
START_TEST(shifted_acceleration_is_that_of_the_other_point)
{
    test_rng rng = test_rng_seed(8);
    const double h = 1e-4;
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_vec3 w = test_random_vec3(&rng), s = test_random_vec3(&rng);
        const tal_vec3 a_A = test_random_vec3(&rng);
        tal_vec3 p[3];
        for (int i = 0; i < 3; ++i) {
            const double t = h * (i - 1);
            const tal_mat3 R = tal_rotation_from_angle_axis(t * tal_v3_norm(w), w);
            p[i] = tal_v3_axpy(0.5 * t * t, a_A, tal_m3_mul_v3(R, s));
        }
        const tal_vec3 twice = tal_v3_add(tal_v3_sub(p[2], p[1]), tal_v3_sub(p[0], p[1]));
        const tal_spatial_vec A_A = {TAL_VEC3_ZERO, a_A};
        test_assert_v3_near(tal_sv_shift_acceleration(A_A, w, s).v,
                            tal_v3_scale(1.0 / (h * h), twice), 1e-6);

        // an angular acceleration adds b x p
        const tal_vec3 b = test_random_vec3(&rng);
        const tal_spatial_vec both = tal_sv_shift_acceleration(tal_sv(b, a_A), w, s);
        test_assert_v3_near(tal_v3_sub(both.v, tal_sv_shift_acceleration(A_A, w, s).v),
                            tal_v3_cross(b, s), TOL);
        test_assert_v3_near(both.w, b, 0.0);
    }
}

// RBDA eq. 2.10: s_O = P x s + h s, with P the point of the axis nearest to O.
START_TEST(a_screw_rebuilds_its_twist)
{
    test_rng rng = test_rng_seed(9);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_spatial_vec V = test_random_spatial_vec(&rng);
        const tal_screw screw = tal_screw_from_line(V.w, V.v);
        const tal_vec3 s = tal_v3_scale(screw.size, screw.direction);
        // the point is divided by |w|, and multiplied again
        const double tol = TOL * (1.0 + 1.0 / tal_v3_norm(V.w));
        test_assert_v3_near(s, V.w, TOL);
        test_assert_v3_near(tal_v3_axpy(screw.pitch, s, tal_v3_cross(screw.point, s)), V.v, tol);
        ck_assert_double_eq_tol(tal_v3_dot(screw.point, screw.direction), 0.0, tol);
    }
}

START_TEST(pure_kinds_of_screws_are_told_apart)
{
    const tal_vec3 zero = TAL_VEC3_ZERO, z2 = {0.0, 0.0, 2.0};
    // a turn about the line x = 3 parallel to z
    const tal_screw turn = tal_screw_from_line(z2, tal_v3_cross(tal_v3(3.0, 0.0, 0.0), z2));
    test_assert_v3_near(turn.point, tal_v3(3.0, 0.0, 0.0), TOL);
    ck_assert_double_eq(turn.pitch, 0.0);
    ck_assert_double_eq(turn.size, 2.0);

    const tal_screw move = tal_screw_from_line(zero, z2);
    test_assert_v3_near(move.direction, tal_v3(0.0, 0.0, 1.0), 0.0);
    test_assert_v3_near(move.point, zero, 0.0);
    ck_assert_double_eq(move.size, 2.0);
    ck_assert(isinf(move.pitch));

    const tal_screw none = tal_screw_from_line(zero, zero);
    test_assert_v3_near(none.direction, zero, 0.0);
    ck_assert_double_eq(none.size, 0.0);
    ck_assert_double_eq(none.pitch, 0.0);

    ck_assert(isnan(tal_screw_from_line(tal_v3((double)NAN, 0.0, 0.0), zero).pitch));
}

START_TEST(one_bad_number_is_not_finite)
{
    tal_xform X = TAL_XFORM_IDENTITY;
    ck_assert(tal_xf_is_finite(X));
    X.p.y = (double)NAN;
    ck_assert(!tal_xf_is_finite(X));
    X = TAL_XFORM_IDENTITY;
    X.R.z.x = (double)INFINITY;
    ck_assert(!tal_xf_is_finite(X));

    tal_spatial_vec V = TAL_SPATIAL_VEC_ZERO;
    ck_assert(tal_sv_is_finite(V));
    V.v.z = (double)NAN;
    ck_assert(!tal_sv_is_finite(V));
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("common/spatial");
    TCase *tc = tcase_create("theory");
    tcase_add_test(tc, transforms_compose_as_their_letters_say);
    tcase_add_test(tc, the_origin_of_B_is_p_AB);
    tcase_add_test(tc, spatial_vectors_are_linear);
    tcase_add_test(tc, power_does_not_depend_on_point_or_frame);
    tcase_add_test(tc, spatial_transforms_compose_and_invert);
    tcase_add_test(tc, a_transformed_motion_has_the_same_velocity_field);
    tcase_add_test(tc, spatial_cross_products_obey_their_table);
    tcase_add_test(tc, shifted_acceleration_is_that_of_the_other_point);
    tcase_add_test(tc, a_screw_rebuilds_its_twist);
    suite_add_tcase(suite, tc);

    tc = tcase_create("textbook");
    tcase_add_test(tc, a_shifted_motion_is_the_velocity_of_the_other_point);
    tcase_add_test(tc, basis_vectors_multiply_as_in_the_figure);
    tcase_add_test(tc, pure_kinds_of_screws_are_told_apart);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, one_bad_number_is_not_finite);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
