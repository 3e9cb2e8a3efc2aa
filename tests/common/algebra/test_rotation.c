// common/include/talus/common/rotation.h and common/src/algebra/rotation.c.
//
// Entries are of order one and each result takes some tens of operations, so identities hold to
// 1e-14 (about 50 units of round-off) unless a comment says otherwise. Derivatives are checked by
// central differences with h = 1e-5: truncation h^2 times third derivatives of order 10, plus
// round-off over h, stay below 1e-8.
#include "talus_test.h"

#include <float.h>

enum {
    TRIALS = 100,
    SEQUENCES = 12
};

static const double TOL = 1e-14, FD_STEP = 1e-5, FD_TOL = 1e-8;

// The 12 sequences of three turns: no two neighbors equal.
static const tal_axis SEQUENCE[SEQUENCES][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0},
                                                {2, 0, 1}, {2, 1, 0}, {0, 1, 0}, {0, 2, 0},
                                                {1, 0, 1}, {1, 2, 1}, {2, 0, 2}, {2, 1, 2}};

static tal_quat qt_axpy(double s, tal_quat a, tal_quat b)
{
    return tal_qt(s * a.w + b.w, s * a.x + b.x, s * a.y + b.y, s * a.z + b.z);
}

static tal_mat3 from_xyz(tal_vec3 q)
{
    return tal_rotation_from_angles(TAL_BODY_FIXED, 3, SEQUENCE[0],
                                    (const double[]){q.x, q.y, q.z});
}

START_TEST(a_turn_about_an_axis_carries_the_next_into_the_one_after)
{
    const double quarter = TAL_PI / 2.0;
    for (int i = 0; i < 3; ++i) {
        const tal_vec3 next = tal_v3_axis((tal_axis)((i + 1) % 3));
        const tal_vec3 after = tal_v3_axis((tal_axis)((i + 2) % 3));
        const tal_mat3 R = tal_rotation_about((tal_axis)i, quarter);
        test_assert_v3_near(tal_m3_mul_v3(R, next), after, TOL);
        test_assert_v3_near(tal_m3_mul_v3(R, after), tal_v3_neg(next), TOL);
        test_assert_m3_near(tal_rotation_from_angle_axis(quarter, tal_v3_axis((tal_axis)i)), R,
                            TOL);
    }
}

START_TEST(a_turn_leaves_its_axis_alone_and_adds_up)
{
    test_rng rng = test_rng_seed(1);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_vec3 axis = test_random_vec3(&rng);
        const double a = test_random_uniform(&rng, -TAL_PI, TAL_PI),
                     b = test_random_uniform(&rng, -TAL_PI, TAL_PI);
        const tal_mat3 A = tal_rotation_from_angle_axis(a, axis);
        const tal_mat3 B = tal_rotation_from_angle_axis(b, axis);

        ck_assert(tal_rotation_is_valid(&A, TOL));
        test_assert_v3_near(tal_m3_mul_v3(A, axis), axis, TOL);
        test_assert_m3_near(tal_m3_mul(A, B), tal_rotation_from_angle_axis(a + b, axis), TOL);
    }
}

START_TEST(quaternions_multiply_as_their_rotations)
{
    test_rng rng = test_rng_seed(2);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_quat p = test_random_quat(&rng), q = test_random_quat(&rng);
        const tal_mat3 P = tal_rotation_from_qt(p), Q = tal_rotation_from_qt(q);
        ck_assert(tal_rotation_is_valid(&P, TOL));
        test_assert_m3_near(tal_rotation_from_qt(tal_qt_mul(p, q)), tal_m3_mul(P, Q), TOL);
        test_assert_m3_near(tal_rotation_from_qt(tal_qt_conj(p)), tal_m3_transpose(P), TOL);
    }
}

START_TEST(the_length_of_a_quaternion_has_no_effect)
{
    test_rng rng = test_rng_seed(3);
    const double length[] = {1e-300, 1e-160, 0.3, 2.0, -1.0, 1e160, 1e300};
    for (size_t i = 0; i < sizeof length / sizeof *length; ++i) {
        const tal_quat q = test_random_quat(&rng);
        const double s = length[i];
        const tal_quat longer = {s * q.w, s * q.x, s * q.y, s * q.z};
        test_assert_m3_near(tal_rotation_from_qt(longer), tal_rotation_from_qt(q), TOL);
    }
    ck_assert(!tal_m3_is_finite(tal_rotation_from_qt(tal_qt(0.0, 0.0, 0.0, 0.0))));
    ck_assert(!tal_qt_is_finite(tal_qt_normalize(tal_qt(1.0, (double)INFINITY, 0.0, 0.0))));
    ck_assert(tal_qt_is_finite(TAL_QUAT_IDENTITY));
    for (int i = 0; i < 4; ++i) {
        double a[4] = {1.0, 2.0, 3.0, 4.0};
        a[i] = (double)NAN;
        const tal_quat u = tal_qt_normalize(tal_qt(a[0], a[1], a[2], a[3]));
        ck_assert(!tal_qt_is_finite(tal_qt(a[0], a[1], a[2], a[3])));
        ck_assert(isnan(u.w) && isnan(u.x) && isnan(u.y) && isnan(u.z));
    }
}

// Near each of the four largest components, at half turns, and with any sign.
START_TEST(a_quaternion_comes_back_with_a_positive_scalar)
{
    test_rng rng = test_rng_seed(4);
    for (int trial = 0; trial < 4 * TRIALS; ++trial) {
        tal_quat q = test_random_quat(&rng);
        if (trial % 4 == 1) q.w *= 1e-12;
        if (trial % 4 == 2) q.x *= 1e-9, q.y *= 1e-9;
        if (trial % 4 == 3) q.y *= 1e-15, q.z *= 1e-15;
        q = tal_qt_normalize(q);
        if (q.w < 0.0) q = tal_qt(-q.w, -q.x, -q.y, -q.z);

        const tal_mat3 R = tal_rotation_from_qt(q);
        test_assert_qt_near(tal_rotation_to_qt(&R), q, TOL);
    }
}

START_TEST(half_turns_have_a_positive_first_component)
{
    const tal_mat3 about_x = {{1.0, 0.0, 0.0}, {0.0, -1.0, 0.0}, {0.0, 0.0, -1.0}};
    const tal_mat3 about_y = {{-1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, -1.0}};
    const tal_mat3 about_z = {{-1.0, 0.0, 0.0}, {0.0, -1.0, 0.0}, {0.0, 0.0, 1.0}};
    test_assert_qt_near(tal_rotation_to_qt(&about_x), tal_qt(0.0, 1.0, 0.0, 0.0), 0.0);
    test_assert_qt_near(tal_rotation_to_qt(&about_y), tal_qt(0.0, 0.0, 1.0, 0.0), 0.0);
    test_assert_qt_near(tal_rotation_to_qt(&about_z), tal_qt(0.0, 0.0, 0.0, 1.0), 0.0);
    // about (0, -3, 4) / 5, whose negative has the positive y
    const tal_mat3 in_yz = tal_rotation_from_qt(tal_qt(0.0, 0.0, -3.0, 4.0));
    test_assert_qt_near(tal_rotation_to_qt(&in_yz), tal_qt(0.0, 0.0, 0.6, -0.8), TOL);
    // about (-1, 2, 2) / 3, whose negative has the positive x
    const tal_mat3 R = tal_rotation_from_qt(tal_qt(0.0, -1.0, 2.0, 2.0));
    test_assert_qt_near(tal_rotation_to_qt(&R), tal_qt(0.0, 1.0 / 3.0, -2.0 / 3.0, -2.0 / 3.0),
                        TOL);
}

// The relative error of a small angle is round-off too.
START_TEST(angle_and_axis_come_back)
{
    test_rng rng = test_rng_seed(5);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_vec3 axis = test_random_unit(&rng);
        const double angle = trial % 2 == 0 ? test_random_uniform(&rng, 0.0, TAL_PI)
                                            : exp(test_random_uniform(&rng, -300.0, 0.0));
        const tal_mat3 R = tal_rotation_from_angle_axis(angle, axis);
        const tal_angle_axis turn = tal_rotation_to_angle_axis(&R);
        ck_assert_double_eq_tol(turn.angle, angle, TOL * angle);
        // sin(angle) axis is what R holds: near a half turn the quaternion keeps the axis good
        test_assert_v3_near(turn.axis, axis, TOL);
    }
    const tal_angle_axis none = tal_rotation_to_angle_axis(&TAL_MAT3_IDENTITY);
    ck_assert_double_eq(none.angle, 0.0);
    test_assert_v3_near(none.axis, tal_v3(1.0, 0.0, 0.0), 0.0);
}

START_TEST(distance_is_the_angle_of_the_turn_between)
{
    test_rng rng = test_rng_seed(6);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_mat3 R = test_random_rotation(&rng);
        const double angle = trial % 2 == 0 ? test_random_uniform(&rng, 0.0, TAL_PI) : 1e-9;
        const tal_mat3 turn = tal_rotation_from_angle_axis(angle, test_random_unit(&rng));
        const tal_mat3 S = tal_m3_mul(R, turn);
        ck_assert_double_eq_tol(tal_rotation_distance(&R, &S), angle, TOL);
        ck_assert_double_eq_tol(tal_rotation_distance(&S, &R), angle, TOL);
    }
}

START_TEST(body_and_space_sequences_multiply_from_opposite_sides)
{
    test_rng rng = test_rng_seed(7);
    for (int s = 0; s < SEQUENCES; ++s) {
        const tal_vec3 v = test_random_vec3(&rng);
        const double angle[3] = {v.x, v.y, v.z};
        tal_mat3 turn[3];
        for (int i = 0; i < 3; ++i) {
            turn[i] = tal_rotation_about(SEQUENCE[s][i], angle[i]);
        }
        const tal_mat3 body = tal_m3_mul(tal_m3_mul(turn[0], turn[1]), turn[2]);
        const tal_mat3 space = tal_m3_mul(tal_m3_mul(turn[2], turn[1]), turn[0]);
        test_assert_m3_near(tal_rotation_from_angles(TAL_BODY_FIXED, 3, SEQUENCE[s], angle), body,
                            0.0);
        test_assert_m3_near(tal_rotation_from_angles(TAL_SPACE_FIXED, 3, SEQUENCE[s], angle), space,
                            TOL);
        test_assert_m3_near(tal_rotation_from_angles(TAL_BODY_FIXED, 1, SEQUENCE[s], angle),
                            turn[0], 0.0);
        test_assert_m3_near(tal_rotation_from_angles(TAL_SPACE_FIXED, 2, SEQUENCE[s], angle),
                            tal_m3_mul(turn[1], turn[0]), 0.0);
    }
}

// _i: sequence, and which side it multiplies from. The middle angle is where it is unique.
START_TEST(three_angles_come_back)
{
    const tal_axis *axis = SEQUENCE[_i % SEQUENCES];
    const tal_turning turning = _i < SEQUENCES ? TAL_BODY_FIXED : TAL_SPACE_FIXED;
    const double low = axis[0] == axis[2] ? 0.1 : -TAL_PI / 2.0 + 0.1;
    test_rng rng = test_rng_seed(8);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const double angle[3] = {test_random_uniform(&rng, -TAL_PI, TAL_PI),
                                 test_random_uniform(&rng, low, low + TAL_PI - 0.2),
                                 test_random_uniform(&rng, -TAL_PI, TAL_PI)};
        const tal_mat3 R = tal_rotation_from_angles(turning, 3, axis, angle);
        double back[3];
        ck_assert_int_eq(tal_rotation_to_angles(&R, turning, 3, axis, back), TAL_OK);
        // the outer angles are divided by a sine or cosine of at least 0.1
        test_assert_near(back, angle, 3, 10.0 * TOL, "angles");
    }
}

// However near to the singularity, and at it: the angles may differ, the rotation may not.
START_TEST(three_angles_rebuild_the_rotation_near_and_at_the_singularity)
{
    const tal_axis *axis = SEQUENCE[_i % SEQUENCES];
    const tal_turning turning = _i < SEQUENCES ? TAL_BODY_FIXED : TAL_SPACE_FIXED;
    const double step = axis[0] == axis[2] ? TAL_PI : TAL_PI / 2.0;
    test_rng rng = test_rng_seed(9);
    for (int trial = 0; trial < 20 * TRIALS; ++trial) {
        const double off = trial % 20 == 0 ? 0.0 : pow(10.0, -(double)(trial % 20));
        const double sign = trial % 40 < 20 ? 1.0 : -1.0;
        const double angle[3] = {test_random_uniform(&rng, -TAL_PI, TAL_PI),
                                 step * (double)(trial % 3 - 1) + sign * off,
                                 test_random_uniform(&rng, -TAL_PI, TAL_PI)};
        const tal_mat3 R = tal_rotation_from_angles(turning, 3, axis, angle);
        double back[3];
        ck_assert_int_eq(tal_rotation_to_angles(&R, turning, 3, axis, back), TAL_OK);
        test_assert_m3_near(tal_rotation_from_angles(turning, 3, axis, back), R, TOL);
        if (off == 0.0 && (step < 3.0) == (trial % 3 != 1)) {
            ck_assert_double_eq(back[turning == TAL_BODY_FIXED ? 2 : 0], 0.0);
        }
    }
}

START_TEST(two_angles_come_back)
{
    const tal_axis *axis = SEQUENCE[_i % SEQUENCES];
    const tal_turning turning = _i < SEQUENCES ? TAL_BODY_FIXED : TAL_SPACE_FIXED;
    test_rng rng = test_rng_seed(10);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const double angle[2] = {test_random_uniform(&rng, -TAL_PI, TAL_PI),
                                 test_random_uniform(&rng, -TAL_PI, TAL_PI)};
        const tal_mat3 R = tal_rotation_from_angles(turning, 2, axis, angle);
        double back[2];
        ck_assert_int_eq(tal_rotation_to_angles(&R, turning, 2, axis, back), TAL_OK);
        test_assert_near(back, angle, 2, 2.0 * TOL, "angles");
    }
}

// No point of a fine grid over all angles leaves a smaller angle than the fit. n = 1 + _i % 2.
START_TEST(one_and_two_angles_are_the_nearest_turn)
{
    const int n = 1 + _i % 2;
    const tal_axis *axis = SEQUENCE[_i / 2];
    test_rng rng = test_rng_seed(100 + (uint64_t)_i);
    for (int trial = 0; trial < 4; ++trial) {
        const tal_turning turning = trial % 2 == 0 ? TAL_BODY_FIXED : TAL_SPACE_FIXED;
        const tal_mat3 R = test_random_rotation(&rng);
        double fit[2];
        ck_assert_int_eq(tal_rotation_to_angles(&R, turning, n, axis, fit), TAL_OK);
        ck_assert(fabs(fit[0]) <= TAL_PI && fabs(fit[n - 1]) <= TAL_PI);
        const tal_mat3 turn = tal_rotation_from_angles(turning, n, axis, fit);
        const double left = tal_rotation_distance(&R, &turn);

        double best = TAL_PI;
        for (int i = 0; i < 60 * 60; ++i) {
            const double grid[2] = {TAL_PI * (i % 60) / 30.0, TAL_PI * (double)(i / 60) / 30.0};
            const tal_mat3 other = tal_rotation_from_angles(turning, n, axis, grid);
            best = fmin(best, tal_rotation_distance(&R, &other));
        }
        ck_assert(left <= best + TOL);
        // and a point of the grid is within half a spacing of the fit in each angle
        ck_assert(best <= left + n * TAL_PI / 60.0);
    }
}

// Simbody 3.7 fits the turns x, y to the sequence x, y, z of 0.3, 0.2, 0.5 with 0.492, 0.368, and
// z alone with 0.5; the nearest turns leave less.
START_TEST(fits_leave_less_than_the_reference_does)
{
    const double xyz[3] = {0.3, 0.2, 0.5},
                 universal[2] = {0.49208326673876501, 0.36767577823125497};
    const tal_mat3 R = tal_rotation_from_angles(TAL_BODY_FIXED, 3, SEQUENCE[0], xyz);
    double fit[2];
    ck_assert_int_eq(tal_rotation_to_angles(&R, TAL_BODY_FIXED, 2, SEQUENCE[0], fit), TAL_OK);
    const tal_mat3 ours = tal_rotation_from_angles(TAL_BODY_FIXED, 2, SEQUENCE[0], fit);
    const tal_mat3 theirs = tal_rotation_from_angles(TAL_BODY_FIXED, 2, SEQUENCE[0], universal);
    ck_assert(tal_rotation_distance(&R, &ours) < tal_rotation_distance(&R, &theirs));

    const tal_axis z = TAL_AXIS_Z;
    ck_assert_int_eq(tal_rotation_to_angles(&R, TAL_BODY_FIXED, 1, &z, fit), TAL_OK);
    const tal_mat3 our_pin = tal_rotation_about(z, fit[0]), pin = tal_rotation_about(z, 0.5);
    ck_assert(tal_rotation_distance(&R, &our_pin) < tal_rotation_distance(&R, &pin));
}

START_TEST(two_axes_make_a_frame)
{
    test_rng rng = test_rng_seed(12);
    for (int s = 0; s < 6; ++s) {
        const tal_axis first = SEQUENCE[s][0], second = SEQUENCE[s][1];
        for (int trial = 0; trial < TRIALS; ++trial) {
            const tal_vec3 v = test_random_vec3(&rng);
            // every other pair is parallel to within 1e-6
            const double apart = trial % 2 == 0 ? 1.0 : 1e-6;
            const tal_vec3 near_v = tal_v3_axpy(apart, test_random_vec3(&rng), v);
            const tal_mat3 R = tal_rotation_from_two_axes(first, v, second, near_v);
            ck_assert(tal_rotation_is_valid(&R, TOL));

            const tal_vec3 in_B = tal_m3_tmul_v3(R, tal_v3_normalize(v));
            test_assert_v3_near(in_B, tal_v3_axis(first), TOL);
            const tal_vec3 near_B = tal_m3_tmul_v3(R, near_v);
            ck_assert(tal_v3_at(near_B, second) > 0.0);
            ck_assert_double_eq_tol(tal_v3_at(near_B, SEQUENCE[s][2]), 0.0, TOL);
        }
    }
    const tal_vec3 v = {0.3, -0.7, 0.2};
    ck_assert(!tal_m3_is_finite(tal_rotation_from_two_axes(0, v, 1, tal_v3_scale(-3.0, v))));
    ck_assert(!tal_m3_is_finite(tal_rotation_from_two_axes(0, v, 1, TAL_VEC3_ZERO)));
}

START_TEST(only_rotations_are_valid)
{
    test_rng rng = test_rng_seed(13);
    const tal_mat3 R = test_random_rotation(&rng);
    const tal_mat3 mirrored = tal_m3_scale(-1.0, R);
    const tal_mat3 stretched = tal_m3_scale(1.0 + 1e-6, R);
    tal_mat3 nan = R;
    nan.z.y = (double)NAN;
    ck_assert(tal_rotation_is_valid(&R, TOL));
    ck_assert(!tal_rotation_is_valid(&mirrored, TOL));
    ck_assert(!tal_rotation_is_valid(&stretched, 1e-6));
    ck_assert(tal_rotation_is_valid(&stretched, 3e-6));
    ck_assert(!tal_rotation_is_valid(&nan, 1.0));
    for (int i = 0; i < 9; ++i) {
        tal_mat3 bent = TAL_MAT3_IDENTITY;
        tal_vec3 *column = i / 3 == 0 ? &bent.x : i / 3 == 1 ? &bent.y : &bent.z;
        *(i % 3 == 0 ? &column->x : i % 3 == 1 ? &column->y : &column->z) += 1e-3;
        ck_assert(!tal_rotation_is_valid(&bent, 1e-4));
    }
}

// With R S = A and S symmetric positive semidefinite, R is the nearest (polar decomposition).
START_TEST(the_nearest_rotation_is_the_polar_factor)
{
    test_rng rng = test_rng_seed(14);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_mat3 R = test_random_rotation(&rng), B = test_random_mat3(&rng);
        tal_mat3 S = tal_m3_tmul(B, B);
        if (trial % 3 == 1) S = tal_m3_from_s3(tal_s3_cross_square(test_random_unit(&rng)));
        if (trial % 3 == 2) S = tal_m3_add(TAL_MAT3_IDENTITY, tal_m3_scale(1e-8, S));
        // flat S (rank 2, as for markers in a plane) included; B^T B with singular values s > 0
        // has the polar factor good to round-off over the sum of the two smallest
        const tal_vec3 value = tal_s3_eigen(tal_s3_from_m3(S), NULL);
        const double tol = 10.0 * DBL_EPSILON * (1.0 + value.z / (value.x + value.y));
        const tal_mat3 A = tal_m3_mul(R, S);
        const tal_mat3 N = tal_rotation_nearest(&A);
        ck_assert(tal_rotation_is_valid(&N, TOL));
        test_assert_m3_near(N, R, tol);
    }
}

static double distance_squared(tal_mat3 A, tal_mat3 B)
{
    const tal_mat3 D = tal_m3_sub(A, B);
    return tal_v3_dot(D.x, D.x) + tal_v3_dot(D.y, D.y) + tal_v3_dot(D.z, D.z);
}

// Reflections, lines and nothing: no random rotation is nearer, and neither is a small turn.
START_TEST(no_rotation_is_nearer_than_the_nearest)
{
    test_rng rng = test_rng_seed(15);
    for (int trial = 0; trial < TRIALS; ++trial) {
        tal_mat3 A = test_random_mat3(&rng);
        if (trial % 4 == 1) A = tal_m3_outer(A.x, A.y);
        if (trial % 4 == 2) A = tal_m3_scale(-1.0, test_random_rotation(&rng));
        if (trial % 4 == 3) A = tal_m3_scale(trial % 8 == 3 ? 1e200 : 1e-200, A);
        const tal_mat3 N = tal_rotation_nearest(&A);
        ck_assert(tal_rotation_is_valid(&N, TOL));
        if (trial % 4 == 3) continue; // squares would overflow

        for (int i = 0; i < 50; ++i) {
            const tal_mat3 turn =
                tal_rotation_from_angle_axis(i % 2 == 0 ? 0.01 : 3.0, test_random_unit(&rng));
            ck_assert(distance_squared(A, N) <= distance_squared(A, tal_m3_mul(N, turn)) + TOL);
        }
    }
    test_assert_m3_near(tal_rotation_nearest(&TAL_MAT3_ZERO), TAL_MAT3_IDENTITY, 0.0);
}

// Rdot = w_F x R and Rdot = R (w_M x), along qdot = N w; the length of q is anything.
START_TEST(quaternion_rates_turn_the_frame_at_w)
{
    test_rng rng = test_rng_seed(16);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const double length = test_random_uniform(&rng, 0.5, 2.0);
        const tal_quat q = qt_axpy(length, test_random_quat(&rng), tal_qt(0.0, 0.0, 0.0, 0.0));
        const tal_mat3 R = tal_rotation_from_qt(q);
        const tal_vec3 w_F = test_random_vec3(&rng), w_M = tal_m3_tmul_v3(R, w_F);

        const tal_quat qdot = tal_qt_mul_N_F(q, w_F);
        test_assert_qt_near(tal_qt_mul_N_M(q, w_M), qdot, TOL);
        const tal_mat3 Rdot = tal_m3_scale(
            0.5 / FD_STEP, tal_m3_sub(tal_rotation_from_qt(qt_axpy(FD_STEP, qdot, q)),
                                      tal_rotation_from_qt(qt_axpy(-FD_STEP, qdot, q))));
        test_assert_m3_near(Rdot, tal_v3_cross_m3(w_F, R), FD_TOL);
        test_assert_m3_near(Rdot, tal_m3_mul(R, tal_m3_cross(w_M)), FD_TOL);
        ck_assert_double_eq_tol(tal_qt_dot(q, qdot), 0.0, TOL);

        // N^+ N = 1, and a change of length is not a motion
        const tal_quat longer = qt_axpy(0.7, q, qdot);
        test_assert_v3_near(tal_qt_mul_Nplus_F(q, qdot), w_F, TOL);
        test_assert_v3_near(tal_qt_mul_Nplus_F(q, longer), w_F, TOL);
        test_assert_v3_near(tal_qt_mul_Nplus_M(q, longer), w_M, TOL);
    }
}

START_TEST(longer_quaternions_move_faster_by_their_length)
{
    test_rng rng = test_rng_seed(17);
    const tal_quat q = test_random_quat(&rng), q3 = {3.0 * q.w, 3.0 * q.x, 3.0 * q.y, 3.0 * q.z};
    const tal_vec3 w = test_random_vec3(&rng);
    const tal_quat zero = {0.0, 0.0, 0.0, 0.0};
    test_assert_qt_near(tal_qt_mul_N_F(q3, w), qt_axpy(3.0, tal_qt_mul_N_F(q, w), zero), TOL);
    test_assert_qt_near(tal_qt_mul_N_M(q3, w), qt_axpy(3.0, tal_qt_mul_N_M(q, w), zero), TOL);
}

START_TEST(quaternion_Ndot_is_the_derivative_of_N)
{
    test_rng rng = test_rng_seed(18);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_quat q = test_random_quat(&rng);
        const tal_vec3 w = test_random_vec3(&rng), v = test_random_vec3(&rng);
        const tal_quat zero = {0.0, 0.0, 0.0, 0.0};

        tal_quat qdot = tal_qt_mul_N_F(q, w);
        tal_quat ahead = tal_qt_mul_N_F(qt_axpy(FD_STEP, qdot, q), v);
        tal_quat behind = tal_qt_mul_N_F(qt_axpy(-FD_STEP, qdot, q), v);
        test_assert_qt_near(tal_qt_mul_Ndot_F(q, w, v),
                            qt_axpy(0.5 / FD_STEP, qt_axpy(-1.0, behind, ahead), zero), FD_TOL);

        qdot = tal_qt_mul_N_M(q, w);
        ahead = tal_qt_mul_N_M(qt_axpy(FD_STEP, qdot, q), v);
        behind = tal_qt_mul_N_M(qt_axpy(-FD_STEP, qdot, q), v);
        test_assert_qt_near(tal_qt_mul_Ndot_M(q, w, v),
                            qt_axpy(0.5 / FD_STEP, qt_axpy(-1.0, behind, ahead), zero), FD_TOL);

        // (0, w) (0, w) = -w.w, so Ndot w = -(w.w / 4) q in either frame
        const tal_quat steady = qt_axpy(-0.25 * tal_v3_dot(w, w), q, zero);
        test_assert_qt_near(tal_qt_mul_Ndot_F(q, w, w), steady, TOL);
        test_assert_qt_near(tal_qt_mul_Ndot_M(q, w, w), steady, TOL);
    }
}

// f . (N w) = (N^T f) . w, and the same for N^+.
START_TEST(quaternion_transposes_are_transposes)
{
    test_rng rng = test_rng_seed(19);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_quat f = test_random_quat(&rng);
        const tal_quat q = qt_axpy(0.5, test_random_quat(&rng), test_random_quat(&rng));
        const tal_vec3 w = test_random_vec3(&rng);
        const double tol = TOL * (1.0 + 4.0 / tal_qt_dot(q, q));
        ck_assert_double_eq_tol(tal_qt_dot(f, tal_qt_mul_N_F(q, w)),
                                tal_v3_dot(tal_qt_tmul_N_F(q, f), w), tol);
        ck_assert_double_eq_tol(tal_qt_dot(f, tal_qt_mul_N_M(q, w)),
                                tal_v3_dot(tal_qt_tmul_N_M(q, f), w), tol);
        ck_assert_double_eq_tol(tal_v3_dot(w, tal_qt_mul_Nplus_F(q, f)),
                                tal_qt_dot(tal_qt_tmul_Nplus_F(q, w), f), tol);
        ck_assert_double_eq_tol(tal_v3_dot(w, tal_qt_mul_Nplus_M(q, f)),
                                tal_qt_dot(tal_qt_tmul_Nplus_M(q, w), f), tol);
    }
}

// Random angles with |cos q.y| > 0.36, so rates are at most three times w.
static tal_vec3 random_xyz(test_rng *rng)
{
    const double x = test_random_uniform(rng, -TAL_PI, TAL_PI),
                 z = test_random_uniform(rng, -TAL_PI, TAL_PI);
    return tal_v3(x, test_random_uniform(rng, -1.2, 1.2), z);
}

START_TEST(xyz_rates_turn_the_frame_at_w)
{
    test_rng rng = test_rng_seed(20);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_vec3 q = random_xyz(&rng);
        const tal_mat3 R = from_xyz(q);
        const tal_vec3 w_F = test_random_vec3(&rng), w_M = tal_m3_tmul_v3(R, w_F);

        const tal_vec3 qdot = tal_xyz_mul_N_F(q, w_F);
        test_assert_v3_near(tal_xyz_mul_N_M(q, w_M), qdot, 10.0 * TOL);
        const tal_mat3 Rdot =
            tal_m3_scale(0.5 / FD_STEP, tal_m3_sub(from_xyz(tal_v3_axpy(FD_STEP, qdot, q)),
                                                   from_xyz(tal_v3_axpy(-FD_STEP, qdot, q))));
        test_assert_m3_near(Rdot, tal_v3_cross_m3(w_F, R), FD_TOL);
        test_assert_v3_near(tal_xyz_mul_Nplus_F(q, qdot), w_F, TOL);
        test_assert_v3_near(tal_xyz_mul_Nplus_M(q, qdot), w_M, 10.0 * TOL);
    }
}

START_TEST(xyz_Ndot_is_the_derivative_of_N)
{
    test_rng rng = test_rng_seed(21);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_vec3 q = random_xyz(&rng);
        const tal_vec3 w = test_random_vec3(&rng), v = test_random_vec3(&rng);

        tal_vec3 qdot = tal_xyz_mul_N_F(q, w);
        tal_vec3 rate = tal_v3_sub(tal_xyz_mul_N_F(tal_v3_axpy(FD_STEP, qdot, q), v),
                                   tal_xyz_mul_N_F(tal_v3_axpy(-FD_STEP, qdot, q), v));
        // third derivatives of 1 / cos q.y along qdot reach some thousands here
        test_assert_v3_near(tal_xyz_mul_Ndot_F(q, w, v), tal_v3_scale(0.5 / FD_STEP, rate),
                            100.0 * FD_TOL);

        qdot = tal_xyz_mul_N_M(q, w);
        rate = tal_v3_sub(tal_xyz_mul_N_M(tal_v3_axpy(FD_STEP, qdot, q), v),
                          tal_xyz_mul_N_M(tal_v3_axpy(-FD_STEP, qdot, q), v));
        test_assert_v3_near(tal_xyz_mul_Ndot_M(q, w, v), tal_v3_scale(0.5 / FD_STEP, rate),
                            100.0 * FD_TOL);
    }
}

START_TEST(xyz_transposes_are_transposes)
{
    test_rng rng = test_rng_seed(22);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_vec3 q = random_xyz(&rng);
        const tal_vec3 f = test_random_vec3(&rng), w = test_random_vec3(&rng);
        ck_assert_double_eq_tol(tal_v3_dot(f, tal_xyz_mul_N_F(q, w)),
                                tal_v3_dot(tal_xyz_tmul_N_F(q, f), w), TOL);
        ck_assert_double_eq_tol(tal_v3_dot(f, tal_xyz_mul_N_M(q, w)),
                                tal_v3_dot(tal_xyz_tmul_N_M(q, f), w), TOL);
        ck_assert_double_eq_tol(tal_v3_dot(f, tal_xyz_mul_Nplus_F(q, w)),
                                tal_v3_dot(tal_xyz_tmul_Nplus_F(q, f), w), TOL);
        ck_assert_double_eq_tol(tal_v3_dot(f, tal_xyz_mul_Nplus_M(q, w)),
                                tal_v3_dot(tal_xyz_tmul_Nplus_M(q, f), w), TOL);
    }
}

START_TEST(xyz_angles_are_singular_where_the_middle_one_is_a_quarter_turn)
{
    ck_assert(tal_xyz_is_singular(tal_v3(0.3, TAL_PI / 2.0, 0.1)));
    ck_assert(tal_xyz_is_singular(tal_v3(0.3, -TAL_PI / 2.0 + 1e-9, 0.1)));
    ck_assert(!tal_xyz_is_singular(tal_v3(0.3, TAL_PI / 2.0 - 1e-7, 0.1)));
    ck_assert(!tal_xyz_is_singular(tal_v3(TAL_PI / 2.0, 0.0, TAL_PI / 2.0)));
}

START_TEST(a_bad_sequence_is_a_broken_contract)
{
    const double angle[3] = {0.1, 0.2, 0.3};
    const tal_axis bad[3] = {TAL_AXIS_X, (tal_axis)5, TAL_AXIS_Z};
    const tal_axis twice[3] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Y};
    const tal_mat3 *R = &TAL_MAT3_IDENTITY;
    double out[3] = {7.0, 7.0, 7.0};
    tal_mat3 got;

    test_assert_breach(got = tal_rotation_from_angles(TAL_BODY_FIXED, 4, SEQUENCE[0], angle),
                       TAL_ERR_BAD_VALUE, "n is 4");
    ck_assert(isnan(got.x.x));
    test_assert_breach(got = tal_rotation_from_angles(TAL_BODY_FIXED, 3, bad, angle),
                       TAL_ERR_BAD_VALUE, "axis[1] is 5");
    ck_assert(isnan(got.x.x));
    test_assert_breach(got = tal_rotation_from_angles(TAL_BODY_FIXED, 3, NULL, angle), TAL_ERR_NULL,
                       "axis");
    test_assert_breach(got = tal_rotation_from_angles(TAL_BODY_FIXED, 3, bad, NULL), TAL_ERR_NULL,
                       "angle");
    test_assert_breach(got = tal_rotation_about((tal_axis)3, 1.0), TAL_ERR_BAD_VALUE, "axis is 3");
    ck_assert(isnan(got.y.y));
    test_assert_breach(got = tal_rotation_from_two_axes(1, TAL_VEC3_ZERO, 1, TAL_VEC3_ZERO),
                       TAL_ERR_BAD_VALUE, "axes 1 and 1");
    ck_assert(isnan(got.z.z));

    test_assert_breach((void)tal_rotation_to_angles(R, TAL_BODY_FIXED, 0, SEQUENCE[0], out),
                       TAL_ERR_BAD_VALUE, "n is 0");
    test_assert_breach((void)tal_rotation_to_angles(R, TAL_BODY_FIXED, 3, bad, out),
                       TAL_ERR_BAD_VALUE, "axis[1] is 5");
    test_assert_breach((void)tal_rotation_to_angles(R, TAL_SPACE_FIXED, 3, twice, out),
                       TAL_ERR_BAD_VALUE, "axis[2] repeats axis[1]");
    test_assert_breach((void)tal_rotation_to_angles(NULL, TAL_BODY_FIXED, 3, bad, out),
                       TAL_ERR_NULL, "R");
    test_assert_breach((void)tal_rotation_to_angles(R, TAL_BODY_FIXED, 3, NULL, out), TAL_ERR_NULL,
                       "axis");
    test_assert_breach((void)tal_rotation_to_angles(R, TAL_BODY_FIXED, 3, twice, NULL),
                       TAL_ERR_NULL, "angle");
    ck_assert_double_eq(out[0], 7.0);
}

START_TEST(a_null_matrix_is_a_broken_contract)
{
    const tal_mat3 *R = &TAL_MAT3_IDENTITY;
    test_assert_breach(ck_assert(isnan(tal_rotation_to_qt(NULL).w)), TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert(isnan(tal_rotation_to_angle_axis(NULL).angle)), TAL_ERR_NULL,
                       "NULL");
    test_assert_breach(ck_assert(isnan(tal_rotation_distance(R, NULL))), TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert(!tal_rotation_is_valid(NULL, 1.0)), TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert(isnan(tal_rotation_nearest(NULL).x.x)), TAL_ERR_NULL, "NULL");
}

START_TEST(nan_goes_through)
{
    tal_mat3 R = TAL_MAT3_IDENTITY;
    R.y.z = (double)NAN;
    double angle[3];
    for (int n = 1; n <= 3; ++n) {
        ck_assert_int_eq(tal_rotation_to_angles(&R, TAL_BODY_FIXED, n, SEQUENCE[n], angle), TAL_OK);
        ck_assert(isnan(angle[0]) && isnan(angle[n - 1]));
    }
    ck_assert(isnan(tal_rotation_nearest(&R).x.x));
    ck_assert(isnan(tal_rotation_to_qt(&R).w));
    ck_assert(isnan(tal_rotation_to_angle_axis(&R).angle));
    ck_assert(isnan(tal_rotation_from_angle_axis(1.0, TAL_VEC3_ZERO).x.x));
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("common/rotation");
    TCase *tc = tcase_create("theory");
    tcase_add_test(tc, a_turn_about_an_axis_carries_the_next_into_the_one_after);
    tcase_add_test(tc, a_turn_leaves_its_axis_alone_and_adds_up);
    tcase_add_test(tc, quaternions_multiply_as_their_rotations);
    tcase_add_test(tc, the_length_of_a_quaternion_has_no_effect);
    tcase_add_test(tc, a_quaternion_comes_back_with_a_positive_scalar);
    tcase_add_test(tc, half_turns_have_a_positive_first_component);
    tcase_add_test(tc, angle_and_axis_come_back);
    tcase_add_test(tc, distance_is_the_angle_of_the_turn_between);
    tcase_add_test(tc, body_and_space_sequences_multiply_from_opposite_sides);
    tcase_add_loop_test(tc, three_angles_come_back, 0, 2 * SEQUENCES);
    tcase_add_loop_test(tc, three_angles_rebuild_the_rotation_near_and_at_the_singularity, 0,
                        2 * SEQUENCES);
    tcase_add_loop_test(tc, two_angles_come_back, 0, 2 * SEQUENCES);
    tcase_add_loop_test(tc, one_and_two_angles_are_the_nearest_turn, 0, 12);
    tcase_add_test(tc, fits_leave_less_than_the_reference_does);
    tcase_add_test(tc, two_axes_make_a_frame);
    tcase_add_test(tc, only_rotations_are_valid);
    tcase_add_test(tc, the_nearest_rotation_is_the_polar_factor);
    tcase_add_test(tc, no_rotation_is_nearer_than_the_nearest);
    suite_add_tcase(suite, tc);

    tc = tcase_create("rates");
    tcase_add_test(tc, quaternion_rates_turn_the_frame_at_w);
    tcase_add_test(tc, longer_quaternions_move_faster_by_their_length);
    tcase_add_test(tc, quaternion_Ndot_is_the_derivative_of_N);
    tcase_add_test(tc, quaternion_transposes_are_transposes);
    tcase_add_test(tc, xyz_rates_turn_the_frame_at_w);
    tcase_add_test(tc, xyz_Ndot_is_the_derivative_of_N);
    tcase_add_test(tc, xyz_transposes_are_transposes);
    tcase_add_test(tc, xyz_angles_are_singular_where_the_middle_one_is_a_quarter_turn);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, a_bad_sequence_is_a_broken_contract);
    tcase_add_test(tc, a_null_matrix_is_a_broken_contract);
    tcase_add_test(tc, nan_goes_through);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
