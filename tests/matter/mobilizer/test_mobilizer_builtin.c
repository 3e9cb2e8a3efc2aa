// matter/src/mobilizer_*.c: every built-in table agrees with itself, in both directions and with
// both kinds of rotation coordinates, and means what doc/mobilizers.md says.
#include "mobilizer_support.h"

enum {
    TRIALS = 100
};

// Differences are good to 1e-12 where functions are tame (mobilizer_test.c). The wildest here is N
// in angles, of the size 1/c with c = cos q1 >= 0.36: its fifth derivative is near 120/c^6 = 6e4,
// so h^4/480 of it is 1e-10, relative to N. Nothing else comes near 1e-9.
static const double DIFFERENCE_TOL = 1e-9;

// Some tens of operations on numbers of order one.
static const double TOL = 1e-14;

// ---- helpers

static tal_xform forward_X_FM(const tal_mobilizer_ops *ops, const tal_mobilizer_arg *arg)
{
    tal_xform X_FM;
    ck_assert_int_eq(tali_mobilizer_X_FM(ops, NULL, arg, TAL_FORWARD, &X_FM), TAL_OK);
    return X_FM;
}

static tal_spatial_vec forward_V_FM(const tal_mobilizer_ops *ops, const tal_mobilizer_arg *arg)
{
    const tal_xform X_FM = forward_X_FM(ops, arg);
    tal_spatial_vec H_FM[TAL_MAX_NU], V_FM = TAL_SPATIAL_VEC_ZERO;
    ck_assert_int_eq(tali_mobilizer_H_FM(ops, NULL, arg, TAL_FORWARD, &X_FM, H_FM), TAL_OK);
    for (int j = 0; j < ops->nu; ++j) {
        V_FM = tal_sv_axpy(arg->u[j], H_FM[j], V_FM);
    }
    return V_FM;
}

static tal_mat3 xyz(const double angle[3])
{
    const tal_axis axes[3] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
    return tal_rotation_from_angles(TAL_BODY_FIXED, 3, axes, angle);
}

// ---- identities

START_TEST(every_table_agrees_with_itself)
{
    test_rng rng = test_rng_seed(1);
    for (int k = 0; k < NUM_BUILTINS; ++k) {
        const tal_mobilizer_ops *ops = builtins[k].ops();
        for (int i = 0; i < 4 * TRIALS; ++i) {
            const bool use_angles = i % 2 == 1;
            const tal_direction direction = i % 4 < 2 ? TAL_FORWARD : TAL_REVERSE;
            mobilizer_state state;
            random_state(&rng, ops, builtins[k].params, use_angles, &state);
            tal_mobilizer_report r;
            tal_error err;

            const tal_status st = tal_mobilizer_test(ops, NULL, &state.arg, direction, &r, &err);
            ck_assert_msg(st == TAL_OK, "%s", err.message);
            ck_assert_msg(r.worst <= DIFFERENCE_TOL,
                          "%s, trial %d: H %g Hdot %g N %g N+ %g Ndot %g N^T %g fits %g %g",
                          ops->name, i, r.H, r.Hdot, r.N, r.Nplus, r.Ndot, r.N_T, r.fit_q, r.fit_u);
            // what takes no differences is right to round-off
            ck_assert(fmax(r.Nplus, r.N_T) <= TOL && fmax(r.fit_q, r.fit_u) <= 10.0 * TOL);
        }
    }
}

START_TEST(tables_are_complete_and_differ_in_their_tags)
{
    for (int k = 0; k < NUM_BUILTINS; ++k) {
        const tal_mobilizer_ops *ops = builtins[k].ops();
        tal_error err;
        ck_assert_int_eq(tali_mobilizer_check(ops, &err), TAL_OK);
        ck_assert_int_eq(tali_mobilizer_check_params(ops, NULL, builtins[k].params, &err), TAL_OK);
        ck_assert_int_eq(ops->nu, builtins[k].nu);
        ck_assert_int_eq(ops->nq, builtins[k].nq);
        for (int i = 0; i < k; ++i) {
            const bool is_same = builtins[i].ops == builtins[k].ops;
            ck_assert_int_eq(builtins[i].ops()->tag == ops->tag, is_same);
            ck_assert_int_eq(strcmp(builtins[i].ops()->name, ops->name) == 0, is_same);
        }
    }
}

// Rotation from q / |q|, N in proportion to |q| (manual sec. 8.7).
START_TEST(the_length_of_a_quaternion_means_nothing)
{
    test_rng rng = test_rng_seed(2);
    for (int k = 0; k < NUM_BUILTINS; ++k) {
        const tal_mobilizer_ops *ops = builtins[k].ops();
        if (!ops->has_quaternion) continue;
        mobilizer_state state;
        random_state(&rng, ops, builtins[k].params, false, &state);
        const tal_xform X_FM = forward_X_FM(ops, &state.arg);
        double qdot[TAL_MAX_NQ], longer[TAL_MAX_NQ];
        ck_assert_int_eq(tali_mobilizer_mul_N(ops, NULL, &state.arg, TAL_N, state.u, qdot), TAL_OK);
        for (int i = 0; i < 4; ++i) {
            state.q[i] *= -4.0; // the same rotation, and no round-off
        }

        const tal_xform same = forward_X_FM(ops, &state.arg);
        ck_assert_int_eq(tali_mobilizer_mul_N(ops, NULL, &state.arg, TAL_N, state.u, longer),
                         TAL_OK);
        test_assert_m3_near(same.R, X_FM.R, 0.0);
        test_assert_v3_near(same.p, X_FM.p, 0.0);
        for (int i = 0; i < ops->nq; ++i) {
            ck_assert_double_eq(longer[i], i < 4 ? -4.0 * qdot[i] : qdot[i]);
        }
    }
}

// The two kinds of coordinates describe one motion: same pose, same u, same V_FM.
START_TEST(angles_and_quaternions_share_their_speeds)
{
    test_rng rng = test_rng_seed(3);
    for (int k = 0; k < NUM_BUILTINS; ++k) {
        const tal_mobilizer_ops *ops = builtins[k].ops();
        if (!ops->has_quaternion) continue;
        mobilizer_state by_angles, by_quaternion;
        random_state(&rng, ops, builtins[k].params, true, &by_angles);
        by_quaternion = by_angles;
        by_quaternion.arg =
            (tal_mobilizer_arg){false, builtins[k].params, by_quaternion.q, by_quaternion.u};
        const tal_xform X_FM = forward_X_FM(ops, &by_angles.arg);
        ck_assert_int_eq(tali_mobilizer_fit_q(ops, NULL, &by_quaternion.arg, TAL_FORWARD, &X_FM,
                                              by_quaternion.q),
                         TAL_OK);

        test_assert_m3_near(forward_X_FM(ops, &by_quaternion.arg).R, X_FM.R, TOL);
        test_assert_v3_near(forward_X_FM(ops, &by_quaternion.arg).p, X_FM.p, TOL);
        test_assert_sv_near(forward_V_FM(ops, &by_quaternion.arg),
                            forward_V_FM(ops, &by_angles.arg), TOL);
    }
}

// ---- textbook

START_TEST(at_zero_frames_coincide_but_for_the_ellipsoid_and_the_beam)
{
    const double zero[TAL_MAX_NQ] = {0.0}, identity[TAL_MAX_NQ] = {1.0};
    for (int k = 0; k < NUM_BUILTINS; ++k) {
        const tal_mobilizer_ops *ops = builtins[k].ops();
        if (ops == tal_mobilizer_spherical_coords()) continue; // has offsets here
        const double *params = builtins[k].params;
        const tal_mobilizer_arg arg = {false, params, ops->has_quaternion ? identity : zero, NULL};
        const tal_xform X_FM = forward_X_FM(ops, &arg);

        const double z = ops == tal_mobilizer_ellipsoid()    ? params[2]
                         : ops == tal_mobilizer_cantilever() ? params[0]
                                                             : 0.0;
        test_assert_m3_near(X_FM.R, TAL_MAT3_IDENTITY, 0.0);
        test_assert_v3_near(X_FM.p, tal_v3(0.0, 0.0, z), 0.0);
    }
}

// p = L (2/3 q1, -2/3 q0, 1 - 4/15 (q0^2 + q1^2)): by hand with L = 3, q = (0.1, 0.2, 0.4).
START_TEST(the_tip_of_a_beam_moves_as_its_formula_says)
{
    const double length = 3.0, q[3] = {0.1, 0.2, 0.4}, u[3] = {1.0, 2.0, -0.5};
    const tal_mobilizer_arg arg = {false, &length, q, u};
    const tal_mobilizer_ops *ops = tal_mobilizer_cantilever();
    test_assert_v3_near(forward_X_FM(ops, &arg).p, tal_v3(0.4, -0.2, 2.96), TOL);
    test_assert_m3_near(forward_X_FM(ops, &arg).R, xyz(q), TOL);
    // v = L (2/3 u1, -2/3 u0, -8/15 (q0 u0 + q1 u1))
    test_assert_v3_near(forward_V_FM(ops, &arg).v, tal_v3(4.0, -2.0, -0.8), TOL);
}

// Rz(s0 q0 + a) Ry(s1 q1 + z), then s2 q2 along Mx: a quarter turn about z takes Mx to Fy.
START_TEST(spherical_coordinates_have_offsets_signs_and_a_choice_of_axis)
{
    const double half_pi = acos(0.0);
    const double params[6] = {half_pi, 0.1, 1.0, -1.0, -1.0, 1.0}, q[3] = {0.0, 0.1, 2.0};
    const tal_mobilizer_arg arg = {false, params, q, NULL};
    const tal_xform X_FM = forward_X_FM(tal_mobilizer_spherical_coords(), &arg);
    test_assert_v3_near(X_FM.p, tal_v3(0.0, -2.0, 0.0), TOL);
    test_assert_m3_near(X_FM.R, tal_rotation_about(TAL_AXIS_Z, half_pi), TOL);
}

// ---- errors

START_TEST(parameters_that_are_not_physical_are_named)
{
    const double radii[3] = {1.0, 0.0, 1.0}, length = -2.0, pitch = (double)INFINITY;
    const double sign[6] = {0.0, 0.0, 1.0, 0.5, 1.0, 0.0}, axis[6] = {0.0, 0.0, 1.0, 1.0, 1.0, 2.0};

    const struct {
        const tal_mobilizer_ops *ops;
        const double *params;
        tal_status status;
        const char *part;
    } cases[] = {
        {tal_mobilizer_ellipsoid(), radii, TAL_ERR_BAD_VALUE, "half axis y of the ellipsoid is 0"},
        {tal_mobilizer_cantilever(), &length, TAL_ERR_BAD_VALUE, "beam is -2"},
        {tal_mobilizer_screw(), &pitch, TAL_ERR_NOT_FINITE, "parameter 0 of mobilizer 'screw'"},
        {tal_mobilizer_spherical_coords(), sign, TAL_ERR_BAD_VALUE, "sign of the zenith"},
        {tal_mobilizer_spherical_coords(), axis, TAL_ERR_BAD_VALUE, "radial axis"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        tal_error err = {TAL_OK, "", ""};
        ck_assert_int_eq(tali_mobilizer_check_params(cases[i].ops, NULL, cases[i].params, &err),
                         cases[i].status);
        ck_assert_msg(strstr(err.message, cases[i].part) != NULL, "%s", err.message);
    }
}

START_TEST(a_useless_quaternion_is_refused)
{
    const struct {
        double q[4];
        tal_status status;
    } cases[] = {
        {{0.0, 0.0, 0.0, 0.0}, TAL_ERR_BAD_VALUE},
        {{0.0, 1e-101, 0.0, 0.0}, TAL_ERR_BAD_VALUE},
        {{1e101, 0.0, 0.0, 0.0}, TAL_ERR_BAD_VALUE},
        {{1.0, (double)NAN, 0.0, 0.0}, TAL_ERR_NOT_FINITE},
        {{0.0, 0.0, 0.0, (double)-INFINITY}, TAL_ERR_NOT_FINITE},
        {{0.0, 1e-99, 0.0, 0.0}, TAL_OK},
    };

    for (int k = 0; k < NUM_BUILTINS; ++k) {
        const tal_mobilizer_ops *ops = builtins[k].ops();
        if (!ops->has_quaternion) continue;
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
            double q[TAL_MAX_NQ] = {0.0};
            const double u[TAL_MAX_NU] = {0.0};
            memcpy(q, cases[i].q, sizeof cases[i].q);
            const tal_mobilizer_arg arg = {false, builtins[k].params, q, u};
            tal_xform X_FM;
            tal_spatial_vec H_FM[TAL_MAX_NU];
            // by way of Talus, and asking the table itself
            ck_assert_int_eq(tali_mobilizer_X_FM(ops, NULL, &arg, TAL_FORWARD, &X_FM),
                             cases[i].status);
            ck_assert_int_eq(ops->calc_X_FM(NULL, &arg, &X_FM), cases[i].status);
            // columns that depend on q are refused with it
            const bool asks = ops->calc_Hdot_FM != NULL;
            ck_assert_int_eq(ops->calc_H_FM(NULL, &arg, H_FM), asks ? cases[i].status : TAL_OK);
            if (asks) ck_assert_int_eq(ops->calc_Hdot_FM(NULL, &arg, H_FM), cases[i].status);
        }
    }
}

START_TEST(rates_of_angles_stop_at_their_singularity)
{
    const tal_n_op all[] = {TAL_N, TAL_N_T, TAL_NDOT, TAL_NDOT_T, TAL_NPLUS, TAL_NPLUS_T};
    const double u[TAL_MAX_NU] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, in[TAL_MAX_NQ] = {1.0, -1.0, 2.0};
    for (int k = 0; k < NUM_BUILTINS; ++k) {
        const tal_mobilizer_ops *ops = builtins[k].ops();
        if (!ops->has_quaternion) continue;
        for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
            double q[TAL_MAX_NQ] = {0.3, acos(0.0) - 0.9e-6}, out[TAL_MAX_NQ];
            const tal_mobilizer_arg arg = {true, builtins[k].params, q, u};
            ck_assert_int_eq(tali_mobilizer_mul_N(ops, NULL, &arg, all[i], in, out),
                             i < 4 ? TAL_ERR_SINGULAR : TAL_OK);
            // a little farther off it is large but right: N^+ N = 1 has lost six digits of sixteen
            q[1] = acos(0.0) - 1.1e-6;
            ck_assert_int_eq(tali_mobilizer_mul_N(ops, NULL, &arg, all[i], in, out), TAL_OK);
            for (int j = 0; j < ops->nu; ++j) {
                ck_assert(isfinite(out[j]));
            }
        }
    }
}

int main(void)
{
    Suite *suite = suite_create("matter/mobilizer_builtin");
    TCase *tc = tcase_create("identities");
    tcase_add_test(tc, every_table_agrees_with_itself);
    tcase_add_test(tc, tables_are_complete_and_differ_in_their_tags);
    tcase_add_test(tc, the_length_of_a_quaternion_means_nothing);
    tcase_add_test(tc, angles_and_quaternions_share_their_speeds);
    suite_add_tcase(suite, tc);

    tc = tcase_create("textbook");
    tcase_add_test(tc, at_zero_frames_coincide_but_for_the_ellipsoid_and_the_beam);
    tcase_add_test(tc, the_tip_of_a_beam_moves_as_its_formula_says);
    tcase_add_test(tc, spherical_coordinates_have_offsets_signs_and_a_choice_of_axis);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, parameters_that_are_not_physical_are_named);
    tcase_add_test(tc, a_useless_quaternion_is_refused);
    tcase_add_test(tc, rates_of_angles_stop_at_their_singularity);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
