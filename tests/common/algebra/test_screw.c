// common/src/algebra/screw.c: unit spatial vectors, sizes, and the order with the linear part first
// (entries 2.06 and 2.08 of RBDA's inventory).
#include "talus_test.h"

#include <math.h>

START_TEST(unit_vectors_are_unit_and_on_their_lines)
{
    test_rng rng = test_rng_seed(28);
    for (int trial = 0; trial < 100; ++trial) {
        const tal_vec3 s = test_random_vec3(&rng), p = test_random_vec3(&rng);
        const tal_vec3 shift = test_random_vec3(&rng);
        double size = 0.0;
        const tal_spatial_vec turn = tal_sv_unit_rotation(s, p), force = tal_sv_unit_force(s, p);
        ck_assert_int_eq(tal_sv_motion_size(turn, &size, NULL), TAL_OK);
        ck_assert_double_eq_tol(size, 1.0, 1e-15);
        ck_assert_int_eq(tal_sv_motion_size(tal_sv_shift_motion(turn, shift), &size, NULL), TAL_OK);
        ck_assert_double_eq_tol(size, 1.0, 1e-15);
        test_assert_v3_near(tal_sv_shift_motion(turn, p).v, TAL_VEC3_ZERO, 1e-14);
        ck_assert_int_eq(tal_sv_force_size(force, &size, NULL), TAL_OK);
        ck_assert_double_eq_tol(size, 1.0, 1e-15);
        ck_assert_double_eq_tol(tal_sv_dot(turn, force), 0.0, 1e-14); // both along one line
        ck_assert_int_eq(tal_sv_motion_size(tal_sv_unit_translation(s), &size, NULL), TAL_OK);
        ck_assert_double_eq_tol(size, 1.0, 1e-15);
        ck_assert_int_eq(tal_sv_force_size(tal_sv_unit_couple(s), &size, NULL), TAL_OK);
        ck_assert_double_eq_tol(size, 1.0, 1e-15);
        ck_assert_double_eq_tol(tal_sv_dot(turn, tal_sv_unit_couple(s)), 1.0, 1e-15);
        ck_assert_double_eq_tol(tal_sv_dot(tal_sv_unit_translation(s), force), 1.0, 1e-15);
    }
}

END_TEST

START_TEST(what_mixes_turning_and_sliding_has_no_size)
{
    const tal_vec3 z = {0.0, 0.0, 2.0};
    tal_error err = {0};
    double size = 0.0;
    const tal_spatial_vec screw = tal_sv(z, tal_v3(0.3, 0.0, 0.5));
    ck_assert_int_eq(tal_sv_motion_size(screw, &size, &err), TAL_ERR_BAD_VALUE);
    ck_assert(isnan(size));
    ck_assert_ptr_nonnull(strstr(err.message, "twist of pitch 0.25"));
    err = (tal_error){TAL_OK, "", ""};
    ck_assert_int_eq(tal_sv_force_size(screw, &size, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "wrench of pitch"));
    err = (tal_error){TAL_OK, "", ""};
    const tal_spatial_vec bad = tal_sv(z, tal_v3((double)NAN, 0.0, 0.0));
    ck_assert_int_eq(tal_sv_motion_size(bad, &size, &err), TAL_ERR_NOT_FINITE);
    const tal_spatial_vec none = tal_sv(TAL_VEC3_ZERO, TAL_VEC3_ZERO);
    ck_assert_int_eq(tal_sv_force_size(none, &size, &err), TAL_OK);
    ck_assert_double_eq(size, 0.0);
    test_assert_breach(ck_assert_int_eq(tal_sv_motion_size(none, NULL, &err), TAL_ERR_NULL),
                       TAL_ERR_NULL, "size");
}

END_TEST

static void outer(const double a[], const double b[], double A[])
{
    for (int k = 0; k < 36; ++k) {
        A[k] = a[k % 6] * b[k / 6];
    }
}

// There and back bit for bit; a matrix of products goes the way of its vectors.
START_TEST(the_linear_part_may_come_first)
{
    test_rng rng = test_rng_seed(26);
    for (int trial = 0; trial < 100; ++trial) {
        const tal_spatial_vec V = test_random_spatial_vec(&rng), F = test_random_spatial_vec(&rng);
        double v[6], f[6], A[36], swapped[36], kept[36];
        tal_sv_to_linear_first(V, v);
        tal_sv_to_linear_first(F, f);
        ck_assert_double_eq(v[0], V.v.x);
        ck_assert_double_eq(v[5], V.w.z);
        const tal_spatial_vec back = tal_sv_from_linear_first(v);
        ck_assert_mem_eq(&back, &V, sizeof V);
        const double a[6] = {V.w.x, V.w.y, V.w.z, V.v.x, V.v.y, V.v.z};
        const double b[6] = {F.w.x, F.w.y, F.w.z, F.v.x, F.v.y, F.v.z};
        outer(a, b, A);
        outer(v, f, swapped);
        memcpy(kept, A, sizeof A);
        tal_sv_swap_matrix(A);
        ck_assert_mem_eq(A, swapped, sizeof A);
        tal_sv_swap_matrix(A);
        ck_assert_mem_eq(A, kept, sizeof A);
    }
    test_assert_breach(tal_sv_swap_matrix(NULL), TAL_ERR_NULL, "NULL");
    test_assert_breach(tal_sv_to_linear_first(tal_sv_unit_couple(tal_v3(1.0, 0.0, 0.0)), NULL),
                       TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert(isnan(tal_sv_from_linear_first(NULL).w.x)), TAL_ERR_NULL, "NULL");
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("common/screw");
    TCase *tests = tcase_create("tests");
    tcase_add_test(tests, unit_vectors_are_unit_and_on_their_lines);
    tcase_add_test(tests, what_mixes_turning_and_sliding_has_no_size);
    tcase_add_test(tests, the_linear_part_may_come_first);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
