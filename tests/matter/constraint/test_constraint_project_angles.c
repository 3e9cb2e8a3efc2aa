// Projection ends at the same poses whether orientations are quaternions or angles.
#include "project_support.h"

// A copy of a State with the same poses in angles.
static tal_state *copy_with_angles(const loop *l)
{
    tal_state *copy = NULL;
    ck_assert_int_eq(tal_state_create(l->system, &copy, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_copy(copy, l->state), TAL_OK);
    ck_assert_int_eq(tal_matter_set_use_angles(l->matter, copy, true), TAL_OK);
    ck_assert_int_eq(tal_system_realize(l->system, copy, TAL_STAGE_VELOCITY), TAL_OK);
    return copy;
}

static void assert_same_poses(const loop *l, const tal_state *a, const tal_state *b, double within)
{
    for (int k = 1; k < tal_matter_num_bodies(l->matter); ++k) {
        const tal_xform X = tal_body_X_GB(l->matter, a, (tal_body_ix){k});
        const tal_xform Y = tal_body_X_GB(l->matter, b, (tal_body_ix){k});
        test_assert_near((const double *)&X, (const double *)&Y, 12, within, "X_GB");
    }
}

// Projects both States, and compares where they end.
static void project_both(const loop *l, double within)
{
    const tal_project_options options = options_of(1e-12);
    tal_state *angles = copy_with_angles(l);
    tal_project_result result[2];
    project_q(l, &options, &result[0]);
    const tal_status st = tal_system_project_q(l->system, angles, &options, NULL, &result[1]);
    ck_assert_msg(st == TAL_OK, "%s", tal_state_error(angles)->message);
    ck_assert_int_gt(result[0].iterations, 2);
    ck_assert_int_eq(result[0].iterations, result[1].iterations);
    assert_same_poses(l, l->state, angles, within);

    project_u(l, &options, NULL);
    ck_assert_int_eq(tal_system_realize(l->system, angles, TAL_STAGE_VELOCITY), TAL_OK);
    ck_assert_int_eq(tal_system_project_u(l->system, angles, &options, NULL, NULL), TAL_OK);
    test_assert_near(tal_state_u(l->state), tal_state_u(angles), tal_state_nu(angles), within, "u");
    tal_state_destroy(angles);
}

// Errors of half a meter at levers of half a meter: bodies turn by tenths of a radian. The iterates
// are the same motions, so they differ by round-off, times a few units of condition.
START_TEST(a_rod_between_free_bodies_ends_at_one_pose_in_quaternions_and_in_angles)
{
    loop l;
    loop_begin(&l);
    tal_body_ix bodies[2];
    for (int i = 0; i < 2; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = slender(1.0, 1.0);
        bodies[i] = tal_matter_add_free(l.matter, TAL_GROUND, &def);
    }
    (void)add_rod(&l, bodies[0], tal_v3(0.1, 0.5, -0.2), bodies[1], tal_v3(-0.4, 0.2, 0.5), 1.0);
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_MODEL);
    test_rng rng = test_rng_seed(31);
    for (int repeat = 0; repeat < 20; ++repeat) {
        randomize(&l, &rng);
        tal_state_upd_q(l.state)[11] += 1.5; // of the second body, along x: the rod is too short
        project_both(&l, 1e-13);
    }
    loop_end(&l);
}

END_TEST

// Every mobilizer that can have a quaternion, in a chain with one that cannot, and with weights.
START_TEST(poses_after_projection_do_not_depend_on_how_orientations_are_described)
{
    test_rng rng = test_rng_seed(32);
    for (int repeat = 0; repeat < 10; ++repeat) {
        loop l;
        loop_begin(&l);
        tal_mobod_def def = tal_mobod_def_default();
        tal_body_ix bodies[5];
        const tal_vec3 half_axes = tal_v3(0.5, 0.7, 0.9);
        for (int i = 0; i < 5; ++i) {
            const tal_body_ix parent = i == 0 || i == 3 ? TAL_GROUND : bodies[i - 1];
            def.mass = test_random_mass_props(&rng);
            def.X_PF = test_random_xform(&rng);
            def.X_BM = test_random_xform(&rng);
            bodies[i] = i == 0   ? tal_matter_add_ball(l.matter, parent, &def)
                        : i == 1 ? tal_matter_add_ellipsoid(l.matter, parent, &def, half_axes)
                        : i == 2 ? tal_matter_add_gimbal(l.matter, parent, &def)
                        : i == 3 ? tal_matter_add_free_line(l.matter, parent, &def)
                                 : tal_matter_add_line_orientation(l.matter, parent, &def);
        }
        (void)add_ball(&l, bodies[2], test_random_vec3(&rng), bodies[4], test_random_vec3(&rng));
        loop_finish(&l);
        randomize(&l, &rng);
        loop_realize(&l, TAL_STAGE_INSTANCE);
        set_weights(&l, &rng, TAL_POOL_U);
        project_both(&l, 1e-11); // the chain is a few meters long, its condition some tens
        loop_end(&l);
    }
}

END_TEST

// What is left of an estimated error is the same motion.
START_TEST(what_is_left_of_an_error_does_not_depend_on_how_orientations_are_described)
{
    test_rng rng = test_rng_seed(33);
    loop l;
    build_mixed(&l, &rng);
    randomize(&l, &rng);
    loop_realize(&l, TAL_STAGE_INSTANCE);
    set_weights(&l, &rng, TAL_POOL_U);
    assemble(&l);
    tal_state *angles = copy_with_angles(&l);
    tal_state *both[2] = {l.state, angles};
    double motion[MAX_LOOP_U], left[2][MAX_LOOP_U];
    for (int j = 0; j < tal_state_nu(l.state); ++j) {
        motion[j] = test_random_uniform(&rng, -1.0, 1.0);
    }
    const tal_project_options options = options_of(1e-10);
    loop_realize(&l, TAL_STAGE_VELOCITY);
    for (int k = 0; k < 2; ++k) {
        double e_q[2 * MAX_LOOP_U];
        ck_assert_int_eq(tal_matter_mul_N(l.matter, both[k], TAL_N, motion, e_q), TAL_OK);
        ck_assert_int_eq(tal_system_project_q(l.system, both[k], &options, e_q, NULL), TAL_OK);
        ck_assert_int_eq(tal_matter_mul_N(l.matter, both[k], TAL_NPLUS, e_q, left[k]), TAL_OK);
    }
    test_assert_near(left[0], left[1], tal_state_nu(l.state), 1e-12, "what is left");
    tal_state_destroy(angles);
    loop_end(&l);
}

END_TEST

// Angles keep to the turn they were on.
START_TEST(angles_stay_near_where_they_were)
{
    loop l;
    loop_begin(&l);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = slender(1.0, 1.0);
    def.use_angles = true;
    const tal_body_ix body = tal_matter_add_ball(l.matter, TAL_GROUND, &def);
    (void)add_rod(&l, TAL_GROUND, tal_v3(0.0, 2.0, 0.0), body, tal_v3(1.0, 0.0, 0.0), 1.8);
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_MODEL);
    const double q[] = {7.0, 2.0, -13.0}; // beyond a turn, and |q1| > pi/2
    ck_assert_int_eq(tal_state_set_q(l.state, q, 3), TAL_OK);
    const tal_project_options options = options_of(1e-12);
    tal_project_result result;
    project_q(&l, &options, &result);
    ck_assert(result.changed);
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq_tol(tal_state_q(l.state)[i], q[i], 1.0);
    }
    ck_assert_double_le(qerr_norm(&l), 1e-12);
    loop_end(&l);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("constraint_project_angles");
    TCase *described = tcase_create("quaternions and angles");
    tcase_add_test(described,
                   a_rod_between_free_bodies_ends_at_one_pose_in_quaternions_and_in_angles);
    tcase_add_test(described,
                   poses_after_projection_do_not_depend_on_how_orientations_are_described);
    tcase_add_test(described,
                   what_is_left_of_an_error_does_not_depend_on_how_orientations_are_described);
    tcase_add_test(described, angles_stay_near_where_they_were);
    suite_add_tcase(suite, described);
    return test_run(suite);
}
