// common/include/talus/common/vec.h and common/src/algebra/vec.c: vectors, matrices, eigenvalues.
//
// Entries are of order one and each result takes some tens of operations, so identities hold to
// 1e-14 (about 50 units of round-off) unless a comment says otherwise.
#include "talus_test.h"

#include <float.h>

enum {
    TRIALS = 100
};

static const double TOL = 1e-14;

static tal_sym3 random_sym3(test_rng *rng)
{
    return tal_s3_from_m3(test_random_mat3(rng));
}

// RBDA tab. 2.1, with the operators written as matrices.
START_TEST(cross_matrices_obey_their_table)
{
    test_rng rng = test_rng_seed(1);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_vec3 a = test_random_vec3(&rng), b = test_random_vec3(&rng);
        const tal_vec3 c = test_random_vec3(&rng);
        const tal_mat3 E = test_random_rotation(&rng);
        const tal_mat3 ax = tal_m3_cross(a), bx = tal_m3_cross(b), one = TAL_MAT3_IDENTITY;
        const double s = test_random_uniform(&rng, -2.0, 2.0);

        test_assert_m3_near(ax, tal_m3_scale(-1.0, tal_m3_transpose(ax)), 0.0);
        test_assert_m3_near(tal_m3_cross(tal_v3_scale(s, a)), tal_m3_scale(s, ax), 0.0);
        test_assert_m3_near(tal_m3_cross(tal_v3_add(a, b)), tal_m3_add(ax, bx), 0.0);
        test_assert_m3_near(tal_m3_cross(tal_m3_mul_v3(E, a)),
                            tal_m3_mul(tal_m3_mul(E, ax), tal_m3_transpose(E)), TOL);
        test_assert_v3_near(tal_m3_mul_v3(ax, b), tal_v3_neg(tal_m3_mul_v3(bx, a)), TOL);
        ck_assert_double_eq_tol(tal_v3_dot(tal_v3_cross(a, b), c),
                                tal_v3_dot(a, tal_v3_cross(b, c)), TOL);
        test_assert_m3_near(tal_m3_mul(ax, bx),
                            tal_m3_sub(tal_m3_outer(b, a), tal_m3_scale(tal_v3_dot(a, b), one)),
                            TOL);
        test_assert_m3_near(tal_m3_cross(tal_v3_cross(a, b)),
                            tal_m3_sub(tal_m3_mul(ax, bx), tal_m3_mul(bx, ax)), TOL);
        test_assert_v3_near(tal_m3_mul_v3(ax, c), tal_v3_cross(a, c), TOL);
        test_assert_m3_near(tal_v3_cross_m3(a, bx), tal_m3_mul(ax, bx), TOL);
        // manual eq. 3.4
        test_assert_m3_near(tal_m3_from_s3(tal_s3_cross_square(a)), tal_m3_tmul(ax, ax), TOL);
    }
}

START_TEST(a_cross_product_is_normal_to_both)
{
    const tal_vec3 x = tal_v3_axis(TAL_AXIS_X), y = tal_v3_axis(TAL_AXIS_Y);
    test_assert_v3_near(tal_v3_cross(x, y), tal_v3_axis(TAL_AXIS_Z), 0.0);
    test_assert_v3_near(tal_v3_cross(tal_v3(1.0, 2.0, 3.0), tal_v3(-4.0, 5.0, 6.0)),
                        tal_v3(-3.0, -18.0, 13.0), 0.0);
}

START_TEST(vector_arithmetic_is_componentwise)
{
    const tal_vec3 a = {1.0, -2.0, 3.0}, b = {4.0, 5.0, -6.0};
    test_assert_v3_near(tal_v3_add(a, b), tal_v3(5.0, 3.0, -3.0), 0.0);
    test_assert_v3_near(tal_v3_sub(a, b), tal_v3(-3.0, -7.0, 9.0), 0.0);
    test_assert_v3_near(tal_v3_neg(a), tal_v3(-1.0, 2.0, -3.0), 0.0);
    test_assert_v3_near(tal_v3_axpy(2.0, a, b), tal_v3(6.0, 1.0, 0.0), 0.0);
    test_assert_v3_near(tal_v3_mul(a, b), tal_v3(4.0, -10.0, -18.0), 0.0);
    ck_assert_double_eq(tal_v3_dot(a, b), -24.0);
    ck_assert_double_eq(tal_v3_norm(tal_v3(2.0, -3.0, 6.0)), 7.0);
    ck_assert_double_eq(tal_v3_max_abs(b), 6.0);
    ck_assert_double_eq(tal_v3_at(a, TAL_AXIS_X), 1.0);
    ck_assert_double_eq(tal_v3_at(a, TAL_AXIS_Y), -2.0);
    ck_assert_double_eq(tal_v3_at(a, TAL_AXIS_Z), 3.0);
    ck_assert_double_nan(tal_v3_at(a, (tal_axis)3));
    test_assert_v3_near(tal_v3_axis((tal_axis)7), TAL_VEC3_ZERO, 0.0);
}

START_TEST(a_direction_survives_any_length)
{
    const tal_vec3 u = {2.0 / 7.0, -3.0 / 7.0, 6.0 / 7.0};
    const double length[] = {5e-324 * 0x1p60, 1e-300, 1e-150, 1e-140, 1.0, 1e140, 1e150, 1e307};
    for (size_t i = 0; i < sizeof length / sizeof *length; ++i) {
        // the shortest is subnormal and carries some 60 bits of its own
        test_assert_v3_near(tal_v3_normalize(tal_v3_scale(length[i], u)), u, TOL);
    }
    test_assert_v3_near(tal_v3_normalize(tal_v3(0.0, 5e-324, 0.0)), tal_v3(0.0, 1.0, 0.0), 0.0);
}

START_TEST(a_direction_that_does_not_exist_is_nan)
{
    const tal_vec3 none[] = {{0.0, 0.0, 0.0},
                             {(double)NAN, 1.0, 0.0},
                             {1.0, (double)INFINITY, 0.0},
                             {-(double)INFINITY, 0.0, (double)NAN}};
    for (size_t i = 0; i < sizeof none / sizeof *none; ++i) {
        const tal_vec3 u = tal_v3_normalize(none[i]), p = tal_v3_perp(none[i]);
        ck_assert(isnan(u.x) && isnan(u.y) && isnan(u.z));
        ck_assert(isnan(p.x) && isnan(p.y) && isnan(p.z));
    }
}

START_TEST(a_perpendicular_is_a_unit_vector_at_right_angles)
{
    test_rng rng = test_rng_seed(2);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_vec3 v = trial < 3 ? tal_v3_axis((tal_axis)trial) : test_random_vec3(&rng);
        const tal_vec3 p = tal_v3_perp(v);
        ck_assert_double_eq_tol(tal_v3_norm(p), 1.0, TOL);
        ck_assert_double_eq_tol(tal_v3_dot(p, v), 0.0, TOL);
    }
}

START_TEST(matrix_products_agree_with_their_definition)
{
    test_rng rng = test_rng_seed(3);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_mat3 A = test_random_mat3(&rng), B = test_random_mat3(&rng);
        const tal_vec3 v = test_random_vec3(&rng), u = test_random_vec3(&rng);
        const tal_mat3 At = tal_m3_transpose(A);
        ck_assert_double_eq(At.x.z, A.z.x);
        ck_assert_double_eq(At.y.x, A.x.y);

        // row times column
        const double yx = A.x.y * B.x.x + A.y.y * B.x.y + A.z.y * B.x.z;
        ck_assert_double_eq_tol(tal_m3_mul(A, B).x.y, yx, TOL);
        test_assert_v3_near(tal_m3_mul_v3(tal_m3_mul(A, B), v),
                            tal_m3_mul_v3(A, tal_m3_mul_v3(B, v)), TOL);
        test_assert_v3_near(tal_m3_tmul_v3(A, v), tal_m3_mul_v3(At, v), TOL);
        test_assert_m3_near(tal_m3_tmul(A, B), tal_m3_mul(At, B), TOL);
        test_assert_v3_near(tal_m3_mul_v3(tal_m3_outer(u, v), u), tal_v3_scale(tal_v3_dot(v, u), u),
                            TOL);
        test_assert_m3_near(tal_m3_sub(tal_m3_add(A, B), B), A, TOL);
        ck_assert_double_eq_tol(tal_m3_det(tal_m3_mul(A, B)), tal_m3_det(A) * tal_m3_det(B), TOL);
        ck_assert_double_eq_tol(tal_m3_det(At), tal_m3_det(A), TOL);
    }
    ck_assert_double_eq(tal_m3_det(TAL_MAT3_IDENTITY), 1.0);
}

// The error of an inverse is round-off times the condition number; 1/det bounds it here.
START_TEST(an_inverse_undoes_its_matrix)
{
    test_rng rng = test_rng_seed(4);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_mat3 A = test_random_mat3(&rng);
        const double tol = TOL * (1.0 + 1.0 / fabs(tal_m3_det(A)));
        test_assert_m3_near(tal_m3_mul(A, tal_m3_inverse(A)), TAL_MAT3_IDENTITY, tol);

        const tal_sym3 S = random_sym3(&rng);
        const tal_mat3 full = tal_m3_from_s3(S);
        const double s_tol = TOL * (1.0 + 1.0 / fabs(tal_m3_det(full)));
        test_assert_m3_near(tal_m3_mul(full, tal_m3_from_s3(tal_s3_inverse(S))), TAL_MAT3_IDENTITY,
                            s_tol);
    }
    ck_assert(!tal_m3_is_finite(tal_m3_inverse(TAL_MAT3_ZERO)));
    ck_assert(!tal_s3_is_finite(tal_s3_inverse(TAL_SYM3_ZERO)));
}

START_TEST(symmetric_matrices_agree_with_full_ones)
{
    test_rng rng = test_rng_seed(5);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_sym3 S = random_sym3(&rng), T = random_sym3(&rng);
        const tal_mat3 A = test_random_mat3(&rng), full = tal_m3_from_s3(S);
        const tal_vec3 v = test_random_vec3(&rng);

        test_assert_m3_near(full, tal_m3_transpose(full), 0.0);
        test_assert_s3_near(tal_s3_from_m3(full), S, 0.0);
        test_assert_v3_near(tal_s3_mul_v3(S, v), tal_m3_mul_v3(full, v), TOL);
        test_assert_m3_near(tal_m3_from_s3(tal_s3_congruence(A, S)),
                            tal_m3_mul(tal_m3_mul(A, full), tal_m3_transpose(A)), TOL);
        test_assert_m3_near(tal_m3_from_s3(tal_s3_outer(v)), tal_m3_outer(v, v), 0.0);
        test_assert_s3_near(tal_s3_sub(tal_s3_add(S, T), T), S, TOL);
        test_assert_m3_near(tal_m3_from_s3(tal_s3_scale(3.0, S)), tal_m3_scale(3.0, full), 0.0);
        ck_assert_double_eq_tol(tal_s3_trace(S), full.x.x + full.y.y + full.z.z, TOL);
    }
}

START_TEST(a_square_plus_something_is_positive_definite)
{
    test_rng rng = test_rng_seed(6);
    for (int trial = 0; trial < TRIALS; ++trial) {
        const tal_mat3 A = test_random_mat3(&rng);
        const tal_sym3 S = tal_s3_from_m3(tal_m3_tmul(A, A));
        ck_assert(tal_s3_is_positive_definite(tal_s3_add(S, tal_s3_diag(0.01, 0.01, 0.01))));

        // one negative direction, whichever, is enough
        const tal_vec3 u = test_random_unit(&rng);
        const tal_sym3 dent = tal_s3_scale(1.5, tal_s3_outer(u));
        ck_assert(!tal_s3_is_positive_definite(tal_s3_sub(TAL_SYM3_IDENTITY, dent)));
    }
    ck_assert(tal_s3_is_positive_definite(TAL_SYM3_IDENTITY));
    ck_assert(!tal_s3_is_positive_definite(TAL_SYM3_ZERO));
    ck_assert(!tal_s3_is_positive_definite(tal_s3_diag(1.0, (double)NAN, 1.0)));
    ck_assert(!tal_s3_is_positive_definite(tal_s3_diag(1.0, 1.0, (double)NAN)));
}

START_TEST(one_bad_entry_is_not_finite)
{
    for (int i = 0; i < 9; ++i) {
        double a[9] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0};
        a[i] = i % 2 == 0 ? (double)NAN : (double)INFINITY;
        const tal_mat3 A = {{a[0], a[1], a[2]}, {a[3], a[4], a[5]}, {a[6], a[7], a[8]}};
        const tal_sym3 S = {a[0], a[1], a[2], a[3], a[4], a[5]};
        ck_assert(!tal_m3_is_finite(A));
        ck_assert(tal_s3_is_finite(S) == (i > 5));
    }
    ck_assert(tal_m3_is_finite(TAL_MAT3_IDENTITY));
}

// S = V diag V^T with V a rotation and the values in order, also when values repeat.
START_TEST(eigenvectors_rebuild_their_matrix)
{
    test_rng rng = test_rng_seed(7);
    for (int trial = 0; trial < TRIALS; ++trial) {
        tal_sym3 S = random_sym3(&rng);
        if (trial % 4 == 1) S = tal_s3_outer(test_random_vec3(&rng));
        if (trial % 4 == 2) S = tal_s3_congruence(test_random_rotation(&rng), TAL_SYM3_IDENTITY);
        if (trial % 4 == 3) S = tal_s3_scale(test_random_uniform(&rng, -9.0, 9.0), S);

        tal_mat3 V;
        const tal_vec3 value = tal_s3_eigen(S, &V);
        const tal_sym3 D = tal_s3_diag(value.x, value.y, value.z);
        ck_assert(value.x <= value.y && value.y <= value.z);
        ck_assert(tal_rotation_is_valid(&V, TOL));
        test_assert_s3_near(tal_s3_congruence(V, D), S, 10.0 * TOL);
    }
}

START_TEST(known_eigenvalues_come_out)
{
    // 3, 2, 1 along the axes, in the wrong order
    const tal_vec3 axes = tal_s3_eigen(tal_s3_diag(3.0, 1.0, 2.0), NULL);
    test_assert_v3_near(axes, tal_v3(1.0, 2.0, 3.0), 0.0);
    // [2 1; 1 2] has 1 and 3
    const tal_sym3 S = {2.0, 2.0, -5.0, 1.0, 0.0, 0.0};
    const tal_sym3 T = {2.0, -5.0, 2.0, 0.0, 1.0, 0.0}, U = {-5.0, 2.0, 2.0, 0.0, 0.0, 1.0};
    test_assert_v3_near(tal_s3_eigen(S, NULL), tal_v3(-5.0, 1.0, 3.0), TOL);
    test_assert_v3_near(tal_s3_eigen(T, NULL), tal_v3(-5.0, 1.0, 3.0), TOL);
    test_assert_v3_near(tal_s3_eigen(U, NULL), tal_v3(-5.0, 1.0, 3.0), TOL);
    test_assert_v3_near(tal_s3_eigen(TAL_SYM3_ZERO, NULL), TAL_VEC3_ZERO, 0.0);
    // a small value beside 1 keeps the round-off of 1; the third is not mixed with them
    const tal_mat3 R = tal_rotation_about(TAL_AXIS_Z, 0.7);
    const tal_sym3 wide = tal_s3_congruence(R, tal_s3_diag(1e-9, 1.0, 1e6));
    test_assert_v3_near(tal_s3_eigen(wide, NULL), tal_v3(1e-9, 1.0, 1e6), 16.0 * DBL_EPSILON);
}

START_TEST(a_matrix_that_is_not_finite_has_no_eigenvalues)
{
    tal_mat3 V;
    ck_assert(isnan(tal_s3_eigen(tal_s3_diag(1.0, (double)NAN, 1.0), &V).x));
    ck_assert(isnan(V.z.z));
    ck_assert(isnan(tal_s3_eigen(tal_s3_diag((double)INFINITY, 1.0, 1.0), NULL).z));
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("common/vec");
    TCase *tc = tcase_create("theory");
    tcase_add_test(tc, cross_matrices_obey_their_table);
    tcase_add_test(tc, a_direction_survives_any_length);
    tcase_add_test(tc, a_perpendicular_is_a_unit_vector_at_right_angles);
    tcase_add_test(tc, matrix_products_agree_with_their_definition);
    tcase_add_test(tc, an_inverse_undoes_its_matrix);
    tcase_add_test(tc, symmetric_matrices_agree_with_full_ones);
    tcase_add_test(tc, a_square_plus_something_is_positive_definite);
    tcase_add_test(tc, eigenvectors_rebuild_their_matrix);
    suite_add_tcase(suite, tc);

    tc = tcase_create("textbook");
    tcase_add_test(tc, a_cross_product_is_normal_to_both);
    tcase_add_test(tc, vector_arithmetic_is_componentwise);
    tcase_add_test(tc, known_eigenvalues_come_out);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, a_direction_that_does_not_exist_is_nan);
    tcase_add_test(tc, one_bad_entry_is_not_finite);
    tcase_add_test(tc, a_matrix_that_is_not_finite_has_no_eigenvalues);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
