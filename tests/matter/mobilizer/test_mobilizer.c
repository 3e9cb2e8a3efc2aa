// matter/src/mobilizer/mobilizer.c: checks of a table, its defaults, and reversal.
#include "mobilizer_support.h"

enum {
    TRIALS = 100
};

// ---- reversal (manual sec. 5.1)

// Forward and reversed, the same q and u describe one relative motion seen from its two ends:
// X_FM X_MF = 1, and V_FM at Mo is minus V_MF at Fo, shifted and re-expressed.
static void assert_reversed(const tal_mobilizer_ops *ops, const tal_mobilizer_arg *arg)
{
    tal_xform X_MF, X_FM;
    tal_spatial_vec H_MF[TAL_MAX_NU], H_FM[TAL_MAX_NU];
    ck_assert_int_eq(tali_mobilizer_X_FM(ops, NULL, arg, TAL_FORWARD, &X_MF), TAL_OK);
    ck_assert_int_eq(tali_mobilizer_X_FM(ops, NULL, arg, TAL_REVERSE, &X_FM), TAL_OK);
    ck_assert_int_eq(tali_mobilizer_H_FM(ops, NULL, arg, TAL_FORWARD, &X_MF, H_MF), TAL_OK);
    ck_assert_int_eq(tali_mobilizer_H_FM(ops, NULL, arg, TAL_REVERSE, &X_FM, H_FM), TAL_OK);

    const tal_xform identity = tal_xf_mul(X_FM, X_MF);
    test_assert_m3_near(identity.R, TAL_MAT3_IDENTITY, 1e-14);
    test_assert_v3_near(identity.p, TAL_VEC3_ZERO, 1e-14);
    for (int j = 0; j < ops->nu; ++j) {
        const tal_spatial_vec at_Fo = tal_m3_mul_sv(X_FM.R, tal_sv_neg(H_MF[j]));
        test_assert_sv_near(H_FM[j], tal_sv_shift_motion(at_Fo, X_FM.p), 1e-14);
    }
}

START_TEST(a_reversed_mobilizer_is_the_same_motion_seen_from_the_other_end)
{
    test_rng rng = test_rng_seed(1);
    for (int k = 0; k < NUM_BUILTINS; ++k) {
        const tal_mobilizer_ops *ops = builtins[k].ops();
        for (int i = 0; i < TRIALS; ++i) {
            mobilizer_state state;
            random_state(&rng, ops, builtins[k].params, i % 2 == 1, &state);
            assert_reversed(ops, &state.arg);
        }
    }
}

// By hand: a planar body at (3, 4) that does not turn, moved along x at speed 2 by its q1. Seen
// from it, the other frame is at (-3, -4) and moves at -2.
START_TEST(a_reversed_planar_mobilizer_moves_the_other_way)
{
    const tal_mobilizer_ops *ops = tal_mobilizer_planar();
    const double q[3] = {0.0, 3.0, 4.0}, u[3] = {0.5, 2.0, 0.0};
    const tal_mobilizer_arg arg = {false, NULL, q, u};
    tal_xform X_FM;
    tal_spatial_vec H[3];
    ck_assert_int_eq(tali_mobilizer_X_FM(ops, NULL, &arg, TAL_REVERSE, &X_FM), TAL_OK);
    ck_assert_int_eq(tali_mobilizer_H_FM(ops, NULL, &arg, TAL_REVERSE, &X_FM, H), TAL_OK);
    test_assert_v3_near(X_FM.p, tal_v3(-3.0, -4.0, 0.0), 0.0);
    test_assert_sv_near(H[1], tal_sv(TAL_VEC3_ZERO, tal_v3(-1.0, 0.0, 0.0)), 0.0);
    // turning by -w about F carries Mo at (-3, -4) along -w x p = -w (4, -3)
    test_assert_sv_near(H[0], tal_sv(tal_v3(0.0, 0.0, -1.0), tal_v3(-4.0, 3.0, 0.0)), 0.0);
}

// ---- defaults

START_TEST(without_mul_N_rates_are_speeds)
{
    const double q[2] = {0.1, 0.2}, u[2] = {3.0, -4.0}, zero[2] = {0.0, 0.0};
    const tal_mobilizer_arg arg = {false, NULL, q, u};
    const tal_n_op same[] = {TAL_N, TAL_N_T, TAL_NPLUS, TAL_NPLUS_T};
    const tal_n_op none[] = {TAL_NDOT, TAL_NDOT_T};
    double out[2];
    for (int i = 0; i < 4; ++i) {
        ck_assert_int_eq(
            tali_mobilizer_mul_N(tal_mobilizer_universal(), NULL, &arg, same[i], u, out), TAL_OK);
        test_assert_near(out, u, 2, 0.0, "N u");
    }
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(
            tali_mobilizer_mul_N(tal_mobilizer_universal(), NULL, &arg, none[i], u, out), TAL_OK);
        test_assert_near(out, zero, 2, 0.0, "Ndot u");
    }
}

// ---- errors

START_TEST(what_a_table_lacks_is_named)
{
    const tal_mobilizer_ops good = *tal_mobilizer_ball();
    tal_mobilizer_ops bad[12];

    const struct {
        tal_status status;
        const char *part;
    } expected[12] = {
        {TAL_ERR_BAD_VALUE, "sizeof(tal_mobilizer_ops)"},
        {TAL_ERR_NULL, "no name"},
        {TAL_ERR_NULL, "'ball' has no calc_X_FM"},
        {TAL_ERR_NULL, "'ball' has no calc_H_FM"},
        {TAL_ERR_NULL, "4 q and 3 u, but no mul_N"},
        {TAL_ERR_BAD_VALUE, "nu -1"},
        {TAL_ERR_BAD_VALUE, "nu 7"},
        {TAL_ERR_BAD_VALUE, "nq 2; it must be 3 to 7"},
        {TAL_ERR_BAD_VALUE, "nq 8"},
        {TAL_ERR_BAD_VALUE, "nq_angles 4; with nq 4, nu 3 and a quaternion it must be 3"},
        {TAL_ERR_BAD_VALUE, "quaternion but nq 3"},
        {TAL_ERR_BAD_VALUE, "num_params -1"},
    };

    for (int i = 0; i < 12; ++i) {
        bad[i] = good;
    }
    bad[0].size = 8;
    bad[1].name = NULL;
    bad[2].calc_X_FM = NULL;
    bad[3].calc_H_FM = NULL;
    bad[4].mul_N = NULL;
    bad[5].nu = -1;
    bad[6].nu = 7;
    bad[7].nq = 2;
    bad[8].nq = 8;
    bad[9].nq_angles = 4;
    bad[10].nq = 3, bad[10].nu = 2, bad[10].nq_angles = 2;
    bad[11].num_params = -1;
    for (int i = 0; i < 12; ++i) {
        tal_error err = {TAL_OK, "", ""};
        ck_assert_int_eq(tali_mobilizer_check(&bad[i], &err), expected[i].status);
        ck_assert_msg(strstr(err.message, expected[i].part) != NULL, "%s", err.message);
    }
    ck_assert_int_eq(tali_mobilizer_check(NULL, NULL), TAL_ERR_NULL);
    ck_assert_int_eq(tali_mobilizer_check(&good, NULL), TAL_OK);

    // angles that are fewer than the speeds, and a choice of angles without a quaternion
    tal_mobilizer_ops plain = good;
    plain.has_quaternion = false;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tali_mobilizer_check(&plain, &err), TAL_ERR_BAD_VALUE);
    ck_assert(strstr(err.message, "no quaternion it must be 4") != NULL);
    plain = good;
    plain.nu = 4;
    ck_assert_int_eq(tali_mobilizer_check(&plain, &err), TAL_ERR_BAD_VALUE);
}

// Spoil each coordinate in turn.
static void assert_all_coordinates_count(const builtin *type, bool use_angles, test_rng *rng)
{
    static const double bad[] = {(double)NAN, (double)INFINITY, (double)-INFINITY};
    const tal_mobilizer_ops *ops = type->ops();
    for (int i = 0; i < tali_mobilizer_nq(ops, use_angles); ++i) {
        mobilizer_state state;
        random_state(rng, ops, type->params, use_angles, &state);
        state.q[i] = bad[i % 3];
        tal_xform X_FM = TAL_XFORM_IDENTITY;
        ck_assert_int_eq(tali_mobilizer_X_FM(ops, NULL, &state.arg, TAL_REVERSE, &X_FM),
                         TAL_ERR_NOT_FINITE);
        test_assert_v3_near(X_FM.p, TAL_VEC3_ZERO, 0.0);
    }
}

START_TEST(a_coordinate_that_is_not_finite_places_nothing)
{
    test_rng rng = test_rng_seed(2);
    for (int k = 0; k < NUM_BUILTINS; ++k) {
        assert_all_coordinates_count(&builtins[k], false, &rng);
        assert_all_coordinates_count(&builtins[k], true, &rng);
    }
    // even one that the pose does not depend on
    tal_mobilizer_ops idle = *tal_mobilizer_pin();
    idle.calc_X_FM = tal_mobilizer_weld()->calc_X_FM;
    const double bad = (double)NAN;
    const tal_mobilizer_arg idle_arg = {false, NULL, &bad, NULL};
    tal_xform X_FM;
    ck_assert_int_eq(tali_mobilizer_X_FM(&idle, NULL, &idle_arg, TAL_FORWARD, &X_FM),
                     TAL_ERR_NOT_FINITE);
    // finite, but not what it leads to
    const double pitch = 1e200, q = 1e200;
    const tal_mobilizer_arg arg = {false, &pitch, &q, NULL};
    ck_assert_int_eq(tali_mobilizer_X_FM(tal_mobilizer_screw(), NULL, &arg, TAL_FORWARD, &X_FM),
                     TAL_ERR_NOT_FINITE);
}

static tal_status broken_columns(const void *self, const tal_mobilizer_arg *arg,
                                 tal_spatial_vec H_FM[])
{
    (void)self, (void)arg, (void)H_FM;
    return TAL_ERR_CALLBACK;
}

START_TEST(a_failing_function_is_passed_on)
{
    tal_mobilizer_ops ops = *tal_mobilizer_pin();
    ops.calc_H_FM = ops.calc_Hdot_FM = broken_columns;
    const double zero = 0.0;
    const tal_mobilizer_arg arg = {false, NULL, &zero, &zero};
    const tal_xform X_FM = TAL_XFORM_IDENTITY;
    tal_spatial_vec H[1] = {TAL_SPATIAL_VEC_ZERO}, Hdot[1];
    ck_assert_int_eq(tali_mobilizer_H_FM(&ops, NULL, &arg, TAL_REVERSE, &X_FM, H),
                     TAL_ERR_CALLBACK);
    ck_assert_int_eq(
        tali_mobilizer_Hdot_FM(&ops, NULL, &arg, TAL_REVERSE, &X_FM, H, TAL_SPATIAL_VEC_ZERO, Hdot),
        TAL_ERR_CALLBACK);
}

int main(void)
{
    Suite *suite = suite_create("matter/mobilizer");
    TCase *tc = tcase_create("reversal");
    tcase_add_test(tc, a_reversed_mobilizer_is_the_same_motion_seen_from_the_other_end);
    tcase_add_test(tc, a_reversed_planar_mobilizer_moves_the_other_way);
    suite_add_tcase(suite, tc);

    tc = tcase_create("defaults");
    tcase_add_test(tc, without_mul_N_rates_are_speeds);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, what_a_table_lacks_is_named);
    tcase_add_test(tc, a_coordinate_that_is_not_finite_places_nothing);
    tcase_add_test(tc, a_failing_function_is_passed_on);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
