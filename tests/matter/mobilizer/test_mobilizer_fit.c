// matter/src/mobilizer/mobilizer_fit.c: q from a pose and u from a velocity, for every mobilizer.
#include "alloc_guard.h"
#include "mobilizer_support.h"

enum {
    TRIALS = 100
};

static double cost(const tal_mobilizer_ops *ops, const tal_mobilizer_arg *arg,
                   tal_direction direction, const tal_xform *wanted, tali_mobilizer_fit_parts parts)
{
    tal_xform X_FM;
    ck_assert_int_eq(tali_mobilizer_X_FM(ops, NULL, arg, direction, &X_FM), TAL_OK);
    const double angle = tal_rotation_distance(&X_FM.R, &wanted->R);
    const tal_vec3 gap = tal_v3_sub(wanted->p, X_FM.p);
    return ((parts & TALI_FIT_ROTATION) != 0 ? angle * angle : 0.0) +
           ((parts & TALI_FIT_TRANSLATION) != 0 ? tal_v3_dot(gap, gap) : 0.0);
}

// No q a small way off may be better. At a minimum that is found to about 1e-8 in q, where the cost
// is flat, the cost is within 1e-15 of the least one.
static void assert_no_neighbor_is_better(test_rng *rng, const tal_mobilizer_ops *ops,
                                         const tal_mobilizer_arg *arg, tal_direction direction,
                                         const tal_xform *wanted, tali_mobilizer_fit_parts parts)
{
    const int nq = tali_mobilizer_nq(ops, arg->use_angles);
    const double least = cost(ops, arg, direction, wanted, parts);
    for (int i = 0; i < 20; ++i) {
        const double size = pow(10.0, test_random_uniform(rng, -4.0, -1.5));
        double du[TAL_MAX_NU], dq[TAL_MAX_NQ], q[TAL_MAX_NQ];
        for (int j = 0; j < ops->nu; ++j) {
            du[j] = test_random_uniform(rng, -size, size);
        }
        if (tali_mobilizer_mul_N(ops, NULL, arg, TAL_N, du, dq) != TAL_OK) continue;
        for (int j = 0; j < nq; ++j) {
            q[j] = arg->q[j] + dq[j];
        }
        const tal_mobilizer_arg near = {arg->use_angles, arg->params, q, NULL};
        const double other = cost(ops, &near, direction, wanted, parts);
        ck_assert_msg(least <= other + 1e-13, "%s: %.17g against %.17g at %g", ops->name, least,
                      other, size);
    }
}

// ---- poses

START_TEST(no_q_nearby_fits_a_pose_better)
{
    test_rng rng = test_rng_seed(1);
    for (int k = 0; k < NUM_BUILTINS; ++k) {
        const tal_mobilizer_ops *ops = builtins[k].ops();
        for (int i = 0; i < TRIALS; ++i) {
            const tal_xform wanted = test_random_xform(&rng);
            mobilizer_state state;
            random_state(&rng, ops, builtins[k].params, i % 2 == 1, &state);
            ck_assert_int_eq(
                tali_mobilizer_fit_q(ops, NULL, &state.arg, TAL_FORWARD, &wanted, state.q), TAL_OK);
            assert_no_neighbor_is_better(&rng, ops, &state.arg, TAL_FORWARD, &wanted, TALI_FIT_ALL);
        }
    }
}

// Angles up to half a turn either way, from a guess that has nothing to do with them. Round-off in
// the angle of a rotation is some eps, so its square is below 1e-24 by far.
START_TEST(a_pose_that_can_be_reached_is_reached)
{
    test_rng rng = test_rng_seed(9);
    for (int k = 0; k < NUM_BUILTINS; ++k) {
        const tal_mobilizer_ops *ops = builtins[k].ops();
        // the cantilever has two q for one rotation beyond a quarter turn, and other places for
        // them
        const double most = ops == tal_mobilizer_cantilever() ? 1.0 : 2.6;
        for (int i = 0; i < TRIALS; ++i) {
            const tal_direction direction = i % 2 == 0 ? TAL_FORWARD : TAL_REVERSE;
            mobilizer_state state, guess;
            random_state(&rng, ops, builtins[k].params, i % 4 < 2, &state);
            random_state(&rng, ops, builtins[k].params, i % 4 < 2, &guess);
            for (int j = 0; j < ops->nq; ++j) {
                state.q[j] *= most;
            }
            tal_xform X_FM;
            ck_assert_int_eq(tali_mobilizer_X_FM(ops, NULL, &state.arg, direction, &X_FM), TAL_OK);
            ck_assert_int_eq(tali_mobilizer_fit_q(ops, NULL, &guess.arg, direction, &X_FM, guess.q),
                             TAL_OK);
            const double left = cost(ops, &guess.arg, direction, &X_FM, TALI_FIT_ALL);
            ck_assert_msg(left <= 1e-24, "%s, trial %d: %g", ops->name, i, left);
        }
    }
}

// Where angles have no rates the search ends, but the fit of the rotation is an answer.
START_TEST(a_pose_at_the_singularity_of_angles_is_fitted)
{
    const double radii[3] = {0.5, 0.8, 1.1}, half_pi = acos(0.0);
    double q[3] = {0.1, 0.2, 0.3};
    const tal_mobilizer_arg arg = {true, radii, q, NULL};
    const tal_xform wanted = {tal_rotation_about(TAL_AXIS_Y, half_pi), {0.0, 2.0, 0.0}};
    ck_assert_int_eq(
        tali_mobilizer_fit_q(tal_mobilizer_ellipsoid(), NULL, &arg, TAL_FORWARD, &wanted, q),
        TAL_OK);
    const double expected[3] = {0.0, half_pi, 0.0};
    test_assert_near(q, expected, 3, 1e-14, "q");
}

START_TEST(a_fitted_quaternion_has_unit_length)
{
    test_rng rng = test_rng_seed(10);
    const double radii[3] = {0.5, 0.8, 1.1};
    const tal_mobilizer_ops *ops = tal_mobilizer_ellipsoid();
    for (int i = 0; i < TRIALS; ++i) {
        const tal_xform wanted = test_random_xform(&rng);
        mobilizer_state state;
        random_state(&rng, ops, radii, false, &state);
        ck_assert_int_eq(tali_mobilizer_fit_q(ops, NULL, &state.arg, TAL_FORWARD, &wanted, state.q),
                         TAL_OK);
        const tal_quat q = {state.q[0], state.q[1], state.q[2], state.q[3]};
        ck_assert_double_eq_tol(tal_qt_dot(q, q), 1.0, 4e-15);
    }
}

// Where rotation and translation do not share coordinates, the fit is the best of all.
START_TEST(no_q_anywhere_fits_a_pose_better)
{
    const tal_mobilizer_ops *plain[] = {
        tal_mobilizer_pin(),      tal_mobilizer_slider(), tal_mobilizer_universal(),
        tal_mobilizer_cylinder(), tal_mobilizer_planar(), tal_mobilizer_translation(),
    };
    test_rng rng = test_rng_seed(2);
    for (size_t k = 0; k < sizeof plain / sizeof plain[0]; ++k) {
        const tal_xform wanted = test_random_xform(&rng);
        mobilizer_state state, other;
        random_state(&rng, plain[k], NULL, false, &state);
        ck_assert_int_eq(
            tali_mobilizer_fit_q(plain[k], NULL, &state.arg, TAL_FORWARD, &wanted, state.q),
            TAL_OK);
        const double least = cost(plain[k], &state.arg, TAL_FORWARD, &wanted, TALI_FIT_ALL);
        for (int i = 0; i < 1000; ++i) {
            random_state(&rng, plain[k], NULL, false, &other);
            other.q[0] *= 3.0; // angles up to more than pi
            other.q[1] *= 3.0;
            ck_assert(least <=
                      cost(plain[k], &other.arg, TAL_FORWARD, &wanted, TALI_FIT_ALL) + 1e-13);
        }
    }
}

// The fit in reverse is the forward fit of the inverse pose.
START_TEST(reversed_fits_see_the_inverse)
{
    test_rng rng = test_rng_seed(3);
    for (int k = 0; k < NUM_BUILTINS; ++k) {
        const tal_mobilizer_ops *ops = builtins[k].ops();
        const tal_xform wanted = test_random_xform(&rng), inverse = tal_xf_inverse(wanted);
        mobilizer_state state;
        random_state(&rng, ops, builtins[k].params, k % 2 == 1, &state);
        double q[TAL_MAX_NQ] = {0.0}, back[TAL_MAX_NQ] = {0.0};
        ck_assert_int_eq(tali_mobilizer_fit_q(ops, NULL, &state.arg, TAL_REVERSE, &wanted, back),
                         TAL_OK);
        ck_assert_int_eq(tali_mobilizer_fit_q(ops, NULL, &state.arg, TAL_FORWARD, &inverse, q),
                         TAL_OK);
        test_assert_near(back, q, tali_mobilizer_nq(ops, k % 2 == 1), 0.0, ops->name);
    }
}

// A pose that can be reached is reached, however many turns away it is.
START_TEST(a_screw_counts_its_turns)
{
    const tal_mobilizer_ops *ops = tal_mobilizer_screw();
    const double pitches[] = {0.3, -0.02, 5.0};
    for (int k = 0; k < 3; ++k) {
        for (int i = -25; i <= 25; ++i) {
            const double q = 1.7 * i, zero = 0.0;
            double fitted = 0.0;
            const tal_mobilizer_arg arg = {false, &pitches[k], &q, NULL},
                                    guess = {false, &pitches[k], &zero, NULL};
            tal_xform X_FM;
            ck_assert_int_eq(tali_mobilizer_X_FM(ops, NULL, &arg, TAL_FORWARD, &X_FM), TAL_OK);
            ck_assert_int_eq(tali_mobilizer_fit_q(ops, NULL, &guess, TAL_FORWARD, &X_FM, &fitted),
                             TAL_OK);
            ck_assert_double_eq_tol(fitted, q, 1e-13);
        }
    }
    // without a pitch there is nothing to count
    const double pitch = 0.0, q = 0.5;
    double fitted = 0.0;
    const tal_mobilizer_arg arg = {false, &pitch, &q, NULL};
    const tal_xform X_FM = {tal_rotation_about(TAL_AXIS_Z, 0.5), {1.0, 2.0, 3.0}};
    ck_assert_int_eq(tali_mobilizer_fit_q(ops, NULL, &arg, TAL_FORWARD, &X_FM, &fitted), TAL_OK);
    ck_assert_double_eq_tol(fitted, 0.5, 1e-14);
}

// Simbody 3.7 fits (0.492..., 0.367...) and 0.5 to the turns x, y, z by 0.3, 0.2, 0.5; the nearest
// turns, here, leave a smaller angle. They are the minimum found on a fine grid.
START_TEST(the_angle_left_by_a_universal_joint_and_a_pin_is_the_smallest)
{
    const tal_axis axes[3] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
    const double angles[3] = {0.3, 0.2, 0.5};
    const tal_xform wanted =
        tal_xf_from_R(tal_rotation_from_angles(TAL_BODY_FIXED, 3, axes, angles));
    const double theirs[2] = {0.49208326673876501, 0.36767577823125497}, pin = 0.5;
    double q[2] = {0.0, 0.0};
    const tal_mobilizer_arg arg = {false, NULL, q, NULL}, their_arg = {false, NULL, theirs, NULL},
                            pin_arg = {false, NULL, &pin, NULL};
    const tal_mobilizer_ops *universal = tal_mobilizer_universal();

    ck_assert_int_eq(tali_mobilizer_fit_q(universal, NULL, &arg, TAL_FORWARD, &wanted, q), TAL_OK);
    const double least = cost(universal, &arg, TAL_FORWARD, &wanted, TALI_FIT_ALL);
    ck_assert(least < cost(universal, &their_arg, TAL_FORWARD, &wanted, TALI_FIT_ALL));
    for (int i = -200; i <= 200; ++i) {
        for (int j = -200; j <= 200; ++j) {
            const double on_grid[2] = {0.01 * i, 0.01 * j};
            const tal_mobilizer_arg grid = {false, NULL, on_grid, NULL};
            ck_assert(least <= cost(universal, &grid, TAL_FORWARD, &wanted, TALI_FIT_ALL) + 1e-14);
        }
    }
    ck_assert_int_eq(tali_mobilizer_fit_q(tal_mobilizer_pin(), NULL, &arg, TAL_FORWARD, &wanted, q),
                     TAL_OK);
    // sx sy / (cx + cy) is the tangent of what the tilts add
    const double added = atan2(sin(0.3) * sin(0.2), cos(0.3) + cos(0.2));
    ck_assert_double_eq_tol(q[0], 0.5 + added, 4e-15);
    ck_assert(cost(tal_mobilizer_pin(), &arg, TAL_FORWARD, &wanted, TALI_FIT_ALL) <
              cost(tal_mobilizer_pin(), &pin_arg, TAL_FORWARD, &wanted, TALI_FIT_ALL));
}

// Both directions, both kinds of coordinates: an optimum of the part, in F.
START_TEST(rotation_and_translation_can_be_fitted_alone)
{
    test_rng rng = test_rng_seed(4);
    for (int k = 0; k < NUM_BUILTINS; ++k) {
        const tal_mobilizer_ops *ops = builtins[k].ops();
        for (int i = 0; i < TRIALS; ++i) {
            const tali_mobilizer_fit_parts parts =
                i % 2 == 0 ? TALI_FIT_ROTATION : TALI_FIT_TRANSLATION;
            const tal_direction direction = i % 4 < 2 ? TAL_FORWARD : TAL_REVERSE;
            const tal_xform wanted = test_random_xform(&rng);
            mobilizer_state state;
            random_state(&rng, ops, builtins[k].params, i % 8 < 4, &state);
            const double before = cost(ops, &state.arg, direction, &wanted, parts);
            ck_assert_int_eq(tali_mobilizer_fit_q_part(ops, NULL, &state.arg, direction, &wanted,
                                                       parts, state.q),
                             TAL_OK);
            ck_assert(cost(ops, &state.arg, direction, &wanted, parts) <= before + 1e-13);
            assert_no_neighbor_is_better(&rng, ops, &state.arg, direction, &wanted, parts);
        }
    }
}

START_TEST(coordinates_that_make_no_difference_stay)
{
    double q[6] = {0.1, 0.2, 0.3, 4.0, 5.0, 6.0};
    const tal_mobilizer_arg arg = {false, NULL, q, NULL};
    const tal_xform wanted = {tal_rotation_about(TAL_AXIS_X, 0.7), {7.0, 8.0, 9.0}};
    ck_assert_int_eq(tali_mobilizer_fit_q_part(tal_mobilizer_bushing(), NULL, &arg, TAL_FORWARD,
                                               &wanted, TALI_FIT_ROTATION, q),
                     TAL_OK);
    const double turned[6] = {0.7, 0.0, 0.0, 4.0, 5.0, 6.0},
                 moved[6] = {0.7, 0.0, 0.0, 7.0, 8.0, 9.0};
    test_assert_near(q, turned, 6, 1e-13, "rotation");
    ck_assert_int_eq(tali_mobilizer_fit_q_part(tal_mobilizer_bushing(), NULL, &arg, TAL_FORWARD,
                                               &wanted, TALI_FIT_TRANSLATION, q),
                     TAL_OK);
    test_assert_near(q, moved, 6, 1e-13, "translation");
}

// ---- velocities

// H^T (V - H u) = 0 is the mark of least squares; entries are of order one.
START_TEST(a_fitted_velocity_leaves_what_no_speed_can_add)
{
    test_rng rng = test_rng_seed(5);
    for (int k = 0; k < NUM_BUILTINS; ++k) {
        const tal_mobilizer_ops *ops = builtins[k].ops();
        for (int i = 0; i < TRIALS; ++i) {
            const tal_direction direction = i % 2 == 0 ? TAL_FORWARD : TAL_REVERSE;
            const tali_mobilizer_fit_parts parts = (tali_mobilizer_fit_parts)(1 + i % 3);
            const tal_spatial_vec wanted = test_random_spatial_vec(&rng);
            mobilizer_state state;
            random_state(&rng, ops, builtins[k].params, i % 4 < 2, &state);
            tal_xform X_FM;
            tal_spatial_vec H[TAL_MAX_NU];
            ck_assert_int_eq(tali_mobilizer_X_FM(ops, NULL, &state.arg, direction, &X_FM), TAL_OK);
            ck_assert_int_eq(tali_mobilizer_H_FM(ops, NULL, &state.arg, direction, &X_FM, H),
                             TAL_OK);

            double u[TAL_MAX_NU];
            const tal_status st =
                parts == TALI_FIT_ALL
                    ? tali_mobilizer_fit_u(ops, NULL, &state.arg, direction, wanted, u)
                    : tali_mobilizer_fit_u_part(ops, NULL, &state.arg, direction, wanted, parts, u);
            ck_assert_int_eq(st, TAL_OK);
            tal_spatial_vec left = wanted;
            for (int j = 0; j < ops->nu; ++j) {
                left = tal_sv_axpy(-u[j], H[j], left);
            }
            if (parts == TALI_FIT_ROTATION) left.v = TAL_VEC3_ZERO;
            if (parts == TALI_FIT_TRANSLATION) left.w = TAL_VEC3_ZERO;
            for (int j = 0; j < ops->nu; ++j) {
                ck_assert_double_eq_tol(tal_sv_dot(H[j], left), 0.0, 1e-13);
            }
        }
    }
}

// On an ellipsoid that is not a sphere, too: the linear velocity of a point of the surface is met.
START_TEST(a_linear_velocity_along_an_ellipsoid_is_met)
{
    test_rng rng = test_rng_seed(6);
    const double radii[3] = {0.5, 1.0, 2.0};
    const tal_mobilizer_ops *ops = tal_mobilizer_ellipsoid();
    for (int i = 0; i < TRIALS; ++i) {
        mobilizer_state state;
        random_state(&rng, ops, radii, false, &state);
        tal_spatial_vec H[3];
        ck_assert_int_eq(ops->calc_H_FM(NULL, &state.arg, H), TAL_OK);
        tal_vec3 v = TAL_VEC3_ZERO, found = TAL_VEC3_ZERO;
        for (int j = 0; j < 3; ++j) {
            v = tal_v3_axpy(test_random_uniform(&rng, -1.0, 1.0), H[j].v, v);
        }
        double u[3];
        ck_assert_int_eq(tali_mobilizer_fit_u_part(ops, NULL, &state.arg, TAL_FORWARD,
                                                   tal_sv(TAL_VEC3_ZERO, v), TALI_FIT_TRANSLATION,
                                                   u),
                         TAL_OK);
        for (int j = 0; j < 3; ++j) {
            found = tal_v3_axpy(u[j], H[j].v, found);
        }
        test_assert_v3_near(found, v, 1e-13);
    }
}

// ---- tables of the user

// A free body that leaves all fitting to Talus.
static tal_mobilizer_ops lazy_free(void)
{
    tal_mobilizer_ops ops = *tal_mobilizer_free();
    ops.fit_q = NULL;
    return ops;
}

START_TEST(a_table_without_fits_is_fitted_from_far_away)
{
    const tal_mobilizer_ops ops = lazy_free();
    test_rng rng = test_rng_seed(7);
    for (int i = 0; i < TRIALS; ++i) {
        const tal_direction direction = i % 2 == 0 ? TAL_FORWARD : TAL_REVERSE;
        const tal_xform wanted = test_random_xform(&rng);
        mobilizer_state state;
        random_state(&rng, &ops, NULL, i % 4 < 2, &state);
        double q[TAL_MAX_NQ];
        ck_assert_int_eq(tali_mobilizer_fit_q(&ops, NULL, &state.arg, direction, &wanted, q),
                         TAL_OK);
        const tal_mobilizer_arg arg = {state.arg.use_angles, NULL, q, NULL};
        ck_assert_double_le(cost(&ops, &arg, direction, &wanted, TALI_FIT_ALL), 1e-24);
    }
}

static tal_status half_fit_u(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec V_FM,
                             double u[])
{
    (void)self, (void)arg;
    memcpy(u, &V_FM, sizeof V_FM);
    return TAL_OK;
}

// A table's own fit_u is asked in its own frames: for a reversed free body that is V_MF in M.
START_TEST(a_table_with_its_own_fit_is_asked_in_its_frames)
{
    tal_mobilizer_ops ops = *tal_mobilizer_free();
    ops.fit_u = half_fit_u;
    test_rng rng = test_rng_seed(8);
    for (int i = 0; i < TRIALS; ++i) {
        const tal_direction direction = i % 2 == 0 ? TAL_FORWARD : TAL_REVERSE;
        mobilizer_state state;
        random_state(&rng, &ops, NULL, false, &state);
        tal_xform X_FM;
        tal_spatial_vec H[TAL_MAX_NU], V_FM = TAL_SPATIAL_VEC_ZERO;
        ck_assert_int_eq(tali_mobilizer_X_FM(&ops, NULL, &state.arg, direction, &X_FM), TAL_OK);
        ck_assert_int_eq(tali_mobilizer_H_FM(&ops, NULL, &state.arg, direction, &X_FM, H), TAL_OK);
        for (int j = 0; j < 6; ++j) {
            V_FM = tal_sv_axpy(state.u[j], H[j], V_FM);
        }
        double u[6];
        ck_assert_int_eq(tali_mobilizer_fit_u(&ops, NULL, &state.arg, direction, V_FM, u), TAL_OK);
        test_assert_near(u, state.u, 6, 1e-13, "u");
    }
}

START_TEST(fitting_and_testing_never_touch_the_heap)
{
    test_rng rng = test_rng_seed(11);
    for (int k = 0; k < NUM_BUILTINS; ++k) {
        const tal_mobilizer_ops *ops = builtins[k].ops();
        const tal_xform X = test_random_xform(&rng);
        const tal_spatial_vec V = test_random_spatial_vec(&rng);
        mobilizer_state state;
        random_state(&rng, ops, builtins[k].params, false, &state);
        double q[TAL_MAX_NQ], u[TAL_MAX_NU];
        tal_mobilizer_report r;
        tal_status st[3];
        test_assert_no_heap(st[0] =
                                tali_mobilizer_fit_q(ops, NULL, &state.arg, TAL_FORWARD, &X, q));
        test_assert_no_heap(st[1] = tali_mobilizer_fit_u(ops, NULL, &state.arg, TAL_REVERSE, V, u));
        test_assert_no_heap(st[2] =
                                tal_mobilizer_test(ops, NULL, &state.arg, TAL_FORWARD, &r, NULL));
        ck_assert(st[0] == TAL_OK && st[1] == TAL_OK && st[2] == TAL_OK);
    }
}

// ---- errors

START_TEST(what_is_not_finite_is_not_fitted)
{
    const double zero[TAL_MAX_NQ] = {0.0};
    double out[TAL_MAX_NQ] = {5.0};
    const tal_mobilizer_ops *ball = tal_mobilizer_ball(), *pin = tal_mobilizer_pin();
    tal_mobilizer_ops own_u = *tal_mobilizer_free();
    own_u.fit_u = half_fit_u;
    const tal_mobilizer_arg arg = {false, NULL, zero, zero};
    tal_xform X = TAL_XFORM_IDENTITY;
    X.p.y = (double)NAN;
    const tal_spatial_vec V = {{0.0, (double)INFINITY, 0.0}, {0.0, 0.0, 0.0}};
    const tali_mobilizer_fit_parts all = TALI_FIT_ALL;
    ck_assert_int_eq(tali_mobilizer_fit_q(pin, NULL, &arg, TAL_FORWARD, &X, out),
                     TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tali_mobilizer_refine_q(pin, NULL, &arg, TAL_FORWARD, &X, all, out),
                     TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tali_mobilizer_fit_u(pin, NULL, &arg, TAL_FORWARD, V, out),
                     TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tali_mobilizer_fit_u(&own_u, NULL, &arg, TAL_FORWARD, V, out),
                     TAL_ERR_NOT_FINITE);
    // a zero quaternion is not a place to start from
    const tal_spatial_vec rest = TAL_SPATIAL_VEC_ZERO;
    ck_assert_int_eq(tali_mobilizer_fit_u(ball, NULL, &arg, TAL_FORWARD, rest, out),
                     TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tali_mobilizer_fit_u(&own_u, NULL, &arg, TAL_REVERSE, rest, out),
                     TAL_ERR_BAD_VALUE);
    ck_assert_double_eq(out[0], 5.0);
    ck_assert_int_eq(
        tali_mobilizer_fit_q_part(pin, NULL, &arg, TAL_FORWARD, &X, TALI_FIT_TRANSLATION, out),
        TAL_ERR_NOT_FINITE);
    double q[4] = {0.0, 0.0, 0.0, 0.0};
    X.p.y = 0.0;
    ck_assert_int_eq(tali_mobilizer_fit_q_part(ball, NULL, &arg, TAL_FORWARD, &X, all, q),
                     TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tali_mobilizer_refine_q(ball, NULL, &arg, TAL_FORWARD, &X, all, q),
                     TAL_ERR_BAD_VALUE);
}

static tal_status broken_H_FM(const void *self, const tal_mobilizer_arg *arg,
                              tal_spatial_vec H_FM[])
{
    (void)self, (void)arg, (void)H_FM;
    return TAL_ERR_CALLBACK;
}

static tal_status nan_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self, (void)arg;
    H_FM[0] = tal_sv(tal_v3((double)NAN, 0.0, 0.0), TAL_VEC3_ZERO);
    return TAL_OK;
}

START_TEST(what_a_table_says_is_passed_on)
{
    const double zero = 0.0;
    double out = 0.0;
    const tal_mobilizer_arg arg = {false, NULL, &zero, &zero};
    const tal_xform X = tal_xf_from_R(tal_rotation_about(TAL_AXIS_Z, 1.0));
    tal_mobilizer_ops ops = *tal_mobilizer_pin();
    ops.fit_q = NULL;
    ops.calc_H_FM = broken_H_FM;
    ck_assert_int_eq(tali_mobilizer_fit_q(&ops, NULL, &arg, TAL_FORWARD, &X, &out),
                     TAL_ERR_CALLBACK);
    ck_assert_int_eq(
        tali_mobilizer_fit_u(&ops, NULL, &arg, TAL_FORWARD, TAL_SPATIAL_VEC_ZERO, &out),
        TAL_ERR_CALLBACK);
    ops.calc_H_FM = nan_H_FM;
    ck_assert_int_eq(tali_mobilizer_fit_q(&ops, NULL, &arg, TAL_FORWARD, &X, &out),
                     TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(
        tali_mobilizer_fit_u(&ops, NULL, &arg, TAL_FORWARD, TAL_SPATIAL_VEC_ZERO, &out),
        TAL_ERR_NOT_FINITE);
}

int main(void)
{
    Suite *suite = suite_create("matter/mobilizer_fit");
    TCase *tc = tcase_create("poses");
    tcase_add_test(tc, no_q_nearby_fits_a_pose_better);
    tcase_add_test(tc, no_q_anywhere_fits_a_pose_better);
    tcase_add_test(tc, a_pose_that_can_be_reached_is_reached);
    tcase_add_test(tc, a_pose_at_the_singularity_of_angles_is_fitted);
    tcase_add_test(tc, a_fitted_quaternion_has_unit_length);
    tcase_add_test(tc, reversed_fits_see_the_inverse);
    tcase_add_test(tc, a_screw_counts_its_turns);
    tcase_add_test(tc, the_angle_left_by_a_universal_joint_and_a_pin_is_the_smallest);
    tcase_add_test(tc, rotation_and_translation_can_be_fitted_alone);
    tcase_add_test(tc, coordinates_that_make_no_difference_stay);
    suite_add_tcase(suite, tc);

    tc = tcase_create("velocities");
    tcase_add_test(tc, a_fitted_velocity_leaves_what_no_speed_can_add);
    tcase_add_test(tc, a_linear_velocity_along_an_ellipsoid_is_met);
    suite_add_tcase(suite, tc);

    tc = tcase_create("tables of the user");
    tcase_add_test(tc, a_table_without_fits_is_fitted_from_far_away);
    tcase_add_test(tc, a_table_with_its_own_fit_is_asked_in_its_frames);
    tcase_add_test(tc, fitting_and_testing_never_touch_the_heap);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, what_is_not_finite_is_not_fitted);
    tcase_add_test(tc, what_a_table_says_is_passed_on);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
