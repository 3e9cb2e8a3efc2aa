// Assembly: constraints from near and far, goals, ranges, speeds; against closed forms and truths
// that the observations were made from.
#include "alloc_guard.h"
#include "assembly_support.h"

// perr <= 1e-10 with a Jacobian whose least singular value is above 0.5 here: 1e-9 in q.
START_TEST(a_four_bar_closes_on_both_branches_all_the_way_round)
{
    model m = four_bar(NULL);
    for (int side = -1; side <= 1; side += 2) {
        for (int k = 0; k < 36; ++k) {
            const double crank = 2.0 * TAL_PI * k / 36.0;
            double coupler = 0.0, rocker = 0.0;
            closed_form(crank, side, &coupler, &rocker);
            set_q(&m, CRANK, crank);
            set_q(&m, COUPLER, coupler + 0.3);
            set_q(&m, ROCKER, rocker - 0.3);
            ck_assert_int_eq(
                tal_body_lock(m.matter, m.state, (tal_body_ix){CRANK}, TAL_LEVEL_POSITION), TAL_OK);
            tal_assembly found;
            ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_OK);
            ck_assert(found.assembled && found.error <= 1e-10);
            ck_assert_double_eq(q_of(&m, CRANK), crank);
            ck_assert_double_lt(angle_between(q_of(&m, COUPLER), coupler), 1e-9);
            ck_assert_double_lt(angle_between(q_of(&m, ROCKER), rocker), 1e-9);
            ck_assert_int_eq(tal_body_unlock(m.matter, m.state, (tal_body_ix){CRANK}), TAL_OK);
        }
    }
    end_model(&m);
}

END_TEST

START_TEST(what_is_assembled_stays_as_it_is_bit_for_bit)
{
    model m = four_bar(NULL);
    tal_assembly found;
    set_q(&m, CRANK, 1.0);
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_OK);
    double before[3], after[3];
    memcpy(before, tal_state_q(m.state), sizeof before);
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_OK);
    memcpy(after, tal_state_q(m.state), sizeof after);
    ck_assert_mem_eq(before, after, sizeof before);
    ck_assert_int_eq(found.iterations, 0);
    end_model(&m);
}

END_TEST

START_TEST(a_four_bar_closes_from_anywhere)
{
    model m = four_bar(NULL);
    test_rng rng = test_rng_seed(81);
    for (int k = 0; k < 2000; ++k) {
        for (int b = CRANK; b <= ROCKER; ++b) {
            set_q(&m, b, test_random_uniform(&rng, -TAL_PI, TAL_PI));
        }
        tal_assembly found;
        const tal_status st = tal_assembler_assemble(m.assembler, m.state, &found);
        ck_assert_msg(st == TAL_OK, "start %d: %s", k, tal_assembler_error(m.assembler)->message);
        ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_POSITION), TAL_OK);
        for (int i = 0; i < tal_state_pool_size(m.state, TAL_POOL_QERR); ++i) {
            ck_assert_double_lt(fabs(tal_state_qerr(m.state)[i]), 2e-10);
        }
    }
    end_model(&m);
}

END_TEST

// Rocker and coupler cannot reach a crank that is held far to the left of a base moved away.
START_TEST(what_cannot_be_assembled_is_named_and_left_where_it_is_least_wrong)
{
    tal_assembler_def def = tal_assembler_def_default();
    def.max_restarts = 3;
    model m = four_bar(&def);
    const tal_xform X = tal_xf_from_p(tal_v3(10.0, 0.0, 0.0));
    ck_assert_int_eq(tal_body_set_X_PF(m.matter, m.state, (tal_body_ix){ROCKER}, &X), TAL_OK);
    set_q(&m, CRANK, 0.5);
    set_q(&m, ROCKER, 2.0);
    tal_assembly found;
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_ERR_NO_CONVERGENCE);
    ck_assert_ptr_nonnull(strstr(tal_assembler_error(m.assembler)->message, "'knuckle'"));
    ck_assert(!found.assembled);
    // all stretched out: 10 - (1 + 3 + 2.5) = 3.5 is left, along x
    ck_assert_double_eq_tol(found.worst_error, 3.5, 1e-6);
    end_model(&m);
}

END_TEST

START_TEST(a_run_from_where_nobody_assembled_says_so)
{
    model m = four_bar(NULL);
    const tal_xform X = tal_xf_from_p(tal_v3(10.0, 0.0, 0.0));
    ck_assert_int_eq(tal_body_set_X_PF(m.matter, m.state, (tal_body_ix){ROCKER}, &X), TAL_OK);
    tal_integrator *integ = NULL;
    ck_assert_int_eq(tal_integrator_create(m.system, NULL, &integ, NULL), TAL_OK);
    ck_assert_int_eq(tal_integrator_step_to(integ, m.state, 1.0), TAL_ERR_NO_CONVERGENCE);
    const char *message = tal_integrator_error(integ)->message;
    ck_assert_msg(strstr(message, "'knuckle' is still off by") != NULL &&
                      strstr(message, "; assemble the model first") != NULL,
                  "%s", message);
    tal_integrator_destroy(integ);
    end_model(&m);
}

END_TEST

// --- welds ---

// A free body welded to Ground, from every orientation: 200 starts, none ends turned round.
START_TEST(a_weld_never_closes_the_wrong_way_round)
{
    model m = begin_model();
    tal_mobod_def body = tal_mobod_def_default();
    body.mass = tal_mass_props_rod(1.0, tal_v3(0.5, 0.1, 0.0));
    const tal_body_ix free_body = tal_matter_add_free(m.matter, TAL_GROUND, &body);
    test_rng rng = test_rng_seed(82);
    const tal_xform X_1 = test_random_xform(&rng), X_2 = test_random_xform(&rng);
    tal_constraint_def ends = tal_constraint_def_default();
    ends.bodies[0] = TAL_GROUND;
    ends.bodies[1] = free_body;
    (void)tal_constraint_add_weld(m.matter, &ends, &X_1, &X_2);
    finish_model(&m, NULL);
    for (int k = 0; k < 200; ++k) {
        const tal_xform start = test_random_xform(&rng);
        ck_assert_int_eq(tal_body_fit_q(m.matter, m.state, free_body, &start), TAL_OK);
        tal_assembly found;
        ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_OK);
        const tal_xform X_GF = tal_xf_mul(tal_body_X_GB(m.matter, m.state, free_body), X_2);
        test_assert_v3_near(X_GF.p, X_1.p, 1e-9);
        test_assert_m3_near(X_GF.R, X_1.R, 1e-9);
    }
    end_model(&m);
}

END_TEST

// --- goals ---

// Two sensors want 0 and 0.3 rad with weights 1 and 3: (0 + 3 0.3) / 4 = 0.225.
START_TEST(weights_one_to_three_split_an_angle_so)
{
    model m = begin_model();
    const tal_mobod_def link = link_at(tal_v3(0.0, 0.0, 0.0));
    const tal_body_ix body = tal_matter_add_pin(m.matter, TAL_GROUND, &link);
    const tal_orientation_sensor sensors[] = {{NULL, body, TAL_MAT3_IDENTITY, 1.0},
                                              {NULL, body, TAL_MAT3_IDENTITY, 3.0}};
    tal_assembler_def def = tal_assembler_def_default();
    def.sensors = sensors;
    def.num_sensors = 2;
    finish_model(&m, &def);
    const tal_mat3 seen[] = {TAL_MAT3_IDENTITY, tal_rotation_about(TAL_AXIS_Z, 0.3)};
    ck_assert_int_eq(tal_assembler_observe(m.assembler, NULL, seen), TAL_OK);
    set_q(&m, 1, 2.5);
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, NULL), TAL_OK);
    // the last step is below the accuracy, 1e-8, and steps shrink much faster than by half
    ck_assert_double_eq_tol(q_of(&m, 1), 0.225, 2e-8);
    end_model(&m);
}

END_TEST

enum {
    LINKS = 50,
    MARKERS = 60
};

// Noise of size s in the markers of weight 1 moves q by no more than about s over the least
// singular value of the Jacobian, which is that of a marker 0.5 m from its pin at worst: a few s.
START_TEST(a_chain_is_found_again_from_markers_with_noise)
{
    model m = begin_model();
    (void)add_chain(&m, LINKS);
    test_rng rng = test_rng_seed(83);
    tal_marker markers[MARKERS];
    for (int k = 0; k < MARKERS; ++k) {
        const tal_vec3 p = tal_v3(0.9, 0.3 * cos(k), 0.3 * sin(k));
        markers[k] = (tal_marker){NULL, {1 + k % LINKS}, p, 1.0};
    }
    tal_assembler_def def = tal_assembler_def_default();
    def.markers = markers;
    def.num_markers = MARKERS;
    finish_model(&m, &def);

    double truth[LINKS];
    for (int i = 0; i < LINKS; ++i) {
        truth[i] = test_random_uniform(&rng, -0.6, 0.6);
        set_q(&m, i + 1, truth[i]);
    }
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_POSITION), TAL_OK);
    static const double sizes[] = {0.0, 1e-6, 1e-3};
    for (int s = 0; s < 3; ++s) {
        tal_vec3 points[MARKERS];
        for (int i = 0; i < LINKS; ++i) {
            set_q(&m, i + 1, truth[i]);
        }
        ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_POSITION), TAL_OK);
        for (int k = 0; k < MARKERS; ++k) {
            const tal_vec3 noise = tal_v3_scale(sizes[s], test_random_vec3(&rng));
            points[k] = tal_v3_add(
                tal_station_p_GS(m.matter, m.state, markers[k].body, markers[k].p_BS), noise);
        }
        for (int i = 0; i < LINKS; ++i) {
            set_q(&m, i + 1, truth[i] + test_random_uniform(&rng, -0.05, 0.05));
        }
        ck_assert_int_eq(tal_assembler_observe(m.assembler, points, NULL), TAL_OK);
        tal_assembly found;
        ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_OK);
        ck_assert_double_le(found.marker_rms, sizes[s] + 1e-7);
        for (int i = 0; i < LINKS; ++i) {
            ck_assert_double_lt(fabs(q_of(&m, i + 1) - truth[i]), 5.0 * sizes[s] + 1e-7);
        }
    }
    end_model(&m);
}

END_TEST

START_TEST(markers_that_are_not_seen_are_left_out)
{
    model m = begin_model();
    const tal_body_ix tip = add_chain(&m, 1);
    const tal_marker markers[] = {{"near", tip, {1.0, 0.0, 0.0}, 1.0},
                                  {"lost", tip, {0.0, 1.0, 0.0}, 100.0}};
    tal_assembler_def def = tal_assembler_def_default();
    def.markers = markers;
    def.num_markers = 2;
    finish_model(&m, &def);
    const double nan = (double)NAN;
    const tal_vec3 points[] = {{cos(0.4), sin(0.4), 0.0}, {0.0, nan, 0.0}};
    ck_assert_int_eq(tal_assembler_observe(m.assembler, points, NULL), TAL_OK);
    tal_assembly found;
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_OK);
    ck_assert_double_eq_tol(q_of(&m, 1), 0.4, 2e-8);
    ck_assert_int_eq(found.worst_marker, tal_assembler_find_marker(m.assembler, "near"));
    ck_assert_int_eq(tal_assembler_find_marker(m.assembler, "nobody"), -1);

    const tal_vec3 none[] = {{nan, 0.0, 0.0}, {0.0, nan, 0.0}};
    const double q = q_of(&m, 1);
    ck_assert_int_eq(tal_assembler_observe(m.assembler, none, NULL), TAL_OK);
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_assembler_error(m.assembler)->message, "none of the 2"));
    ck_assert_double_eq(q_of(&m, 1), q);
    end_model(&m);
}

END_TEST

// A reach of a planar arm of two links to (1.2, 0.9), 1.5 from the shoulder: the elbow would bend
// by 2 acos(0.75) = 1.445; its range ends at 1. Then the shoulder points the arm at the target.
START_TEST(ranges_hold_exactly)
{
    model m = begin_model();
    tal_mobod_def link = link_at(tal_v3(0.0, 0.0, 0.0));
    const tal_body_ix upper = tal_matter_add_pin(m.matter, TAL_GROUND, &link);
    link = link_at(tal_v3(1.0, 0.0, 0.0));
    const tal_body_ix fore = tal_matter_add_pin(m.matter, upper, &link);
    ck_assert_int_eq(tal_body_limit_coordinate(m.matter, fore, 0, 0.0, 1.0), TAL_OK);
    const tal_marker hand = {"hand", fore, {1.0, 0.0, 0.0}, 1.0};
    tal_assembler_def def = tal_assembler_def_default();
    def.markers = &hand;
    def.num_markers = 1;
    finish_model(&m, &def);
    const tal_vec3 target = {1.2, 0.9, 0.0};
    ck_assert_int_eq(tal_assembler_observe(m.assembler, &target, NULL), TAL_OK);
    tal_assembly found;
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_OK);
    ck_assert_double_eq(q_of(&m, fore.i), 1.0);
    ck_assert_double_eq_tol(q_of(&m, upper.i), atan2(0.9, 1.2) - 0.5, 1e-7);
    ck_assert_double_eq_tol(found.marker_max, 2.0 * cos(0.5) - 1.5, 1e-9);
    end_model(&m);
}

END_TEST

START_TEST(coordinates_and_staying_close_share_by_weight)
{
    model m = begin_model();
    (void)add_chain(&m, 2);
    const tal_coordinate_goal wanted = {{1}, 0, 1.0, 3.0};
    tal_assembler_def def = tal_assembler_def_default();
    def.coordinates = &wanted;
    def.num_coordinates = 1;
    def.stay_close = 1.0;
    finish_model(&m, &def);
    set_q(&m, 2, 0.7);
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, NULL), TAL_OK);
    ck_assert_double_eq_tol(q_of(&m, 1), 0.75, 1e-8);
    ck_assert_double_eq(q_of(&m, 2), 0.7);
    ck_assert_int_eq(tal_assembler_set_coordinate(m.assembler, 0, -1.0), TAL_OK);
    set_q(&m, 1, 0.0);
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, NULL), TAL_OK);
    ck_assert_double_eq_tol(q_of(&m, 1), -0.75, 1e-8);
    end_model(&m);
}

END_TEST

// On the manifold of a closed chain: the crank is asked to be at 1, the rest follows.
START_TEST(goals_are_met_without_leaving_the_constraints)
{
    const tal_coordinate_goal wanted = {{CRANK}, 0, 1.0, 1.0};
    tal_assembler_def def = tal_assembler_def_default();
    def.coordinates = &wanted;
    def.num_coordinates = 1;
    model m = four_bar(&def);
    double coupler = 0.0, rocker = 0.0;
    closed_form(0.2, 1.0, &coupler, &rocker);
    set_q(&m, CRANK, 0.2);
    set_q(&m, COUPLER, coupler);
    set_q(&m, ROCKER, rocker);
    tal_assembly found;
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_OK);
    closed_form(1.0, 1.0, &coupler, &rocker);
    ck_assert_double_le(found.error, 1e-10);
    ck_assert_double_lt(angle_between(q_of(&m, CRANK), 1.0), 1e-7);
    ck_assert_double_lt(angle_between(q_of(&m, ROCKER), rocker), 1e-7);
    end_model(&m);
}

END_TEST

// A soft ball and a marker pull at one pin: weights decide.
START_TEST(a_soft_constraint_is_a_goal)
{
    model m = begin_model();
    const tal_mobod_def slide = link_at(tal_v3(0.0, 0.0, 0.0));
    const tal_body_ix body = tal_matter_add_slider(m.matter, TAL_GROUND, &slide);
    tal_constraint_def ends = tal_constraint_def_default();
    ends.bodies[0] = TAL_GROUND;
    ends.bodies[1] = body;
    const tal_constraint_ix ball =
        tal_constraint_add_ball(m.matter, &ends, tal_v3(1.0, 0.0, 0.0), tal_v3(0.0, 0.0, 0.0));
    const tal_soft_constraint soft = {ball, 1.0};
    const tal_marker marker = {NULL, body, {0.0, 0.0, 0.0}, 3.0};
    tal_assembler_def def = tal_assembler_def_default();
    def.soft = &soft;
    def.num_soft = 1;
    def.markers = &marker;
    def.num_markers = 1;
    finish_model(&m, &def);
    const tal_vec3 seen = {2.0, 0.0, 0.0};
    ck_assert_int_eq(tal_assembler_observe(m.assembler, &seen, NULL), TAL_OK);
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, NULL), TAL_OK);
    ck_assert_double_eq_tol(q_of(&m, 1), (1.0 + 3.0 * 2.0) / 4.0, 1e-8);
    end_model(&m);
}

END_TEST

// --- speeds ---

// The crank turns at 2 rad/s; the rest is known from differences of the closed form.
START_TEST(speeds_of_a_four_bar_follow_the_crank)
{
    model m = four_bar(NULL);
    const double crank = 0.8, rate = 2.0, h = 1e-5;
    double coupler[3], rocker[3];
    for (int k = 0; k < 3; ++k) {
        closed_form(crank + (k - 1) * h, 1.0, &coupler[k], &rocker[k]);
    }
    set_q(&m, CRANK, crank);
    set_q(&m, COUPLER, coupler[1]);
    set_q(&m, ROCKER, rocker[1]);
    ck_assert_int_eq(tal_body_set_u(m.matter, m.state, (tal_body_ix){CRANK}, 0, rate), TAL_OK);
    ck_assert_int_eq(tal_body_lock(m.matter, m.state, (tal_body_ix){CRANK}, TAL_LEVEL_VELOCITY),
                     TAL_OK);
    tal_assembly found;
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, NULL), TAL_OK);
    ck_assert_int_eq(tal_assembler_assemble_u(m.assembler, NULL, NULL, m.state, &found), TAL_OK);
    const double slope = rate * (rocker[2] - rocker[0]) / (2.0 * h);
    // central differences: h^2 and eps / h, both about 1e-10
    ck_assert_double_eq_tol(tal_body_u(m.matter, m.state, (tal_body_ix){ROCKER}, 0), slope, 1e-8);
    ck_assert_double_le(found.error, 1e-10);
    end_model(&m);
}

END_TEST

START_TEST(speeds_are_found_from_velocities_of_markers)
{
    model m = begin_model();
    (void)add_chain(&m, 6);
    tal_marker markers[6];
    tal_vec3 velocities[6];
    test_rng rng = test_rng_seed(84);
    for (int k = 0; k < 6; ++k) {
        markers[k] = (tal_marker){NULL, {k + 1}, {0.9, 0.3, 0.2}, 1.0};
    }
    tal_assembler_def def = tal_assembler_def_default();
    def.markers = markers;
    def.num_markers = 6;
    finish_model(&m, &def);
    double truth[6];
    for (int i = 0; i < 6; ++i) {
        set_q(&m, i + 1, test_random_uniform(&rng, -1.0, 1.0));
        truth[i] = test_random_uniform(&rng, -3.0, 3.0);
        ck_assert_int_eq(tal_body_set_u(m.matter, m.state, (tal_body_ix){i + 1}, 0, truth[i]),
                         TAL_OK);
    }
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_VELOCITY), TAL_OK);
    for (int k = 0; k < 6; ++k) {
        velocities[k] = tal_station_v_GS(m.matter, m.state, markers[k].body, markers[k].p_BS);
    }
    ck_assert_int_eq(tal_state_set_u(m.state, (const double[6]){0.0}, 6), TAL_OK);
    ck_assert_int_eq(tal_assembler_assemble_u(m.assembler, velocities, NULL, m.state, NULL),
                     TAL_OK);
    test_assert_near(tal_state_u(m.state), truth, 6, 1e-10, "u");
    end_model(&m);
}

END_TEST

// --- memory and bad input ---

START_TEST(searching_allocates_nothing)
{
    model m = four_bar(NULL);
    set_q(&m, CRANK, 2.0);
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_assembler_assemble(m.assembler, m.state, NULL));
    ck_assert_int_eq(st, TAL_OK);
    test_assert_no_heap(st = tal_assembler_assemble_u(m.assembler, NULL, NULL, m.state, NULL));
    ck_assert_int_eq(st, TAL_OK);
    end_model(&m);
}

END_TEST

static tal_status create_with(const model *m, const tal_assembler_def *def, tal_error *err)
{
    tal_assembler *out = NULL;
    const tal_status st = tal_assembler_create(m->system, def, &out, err);
    tal_assembler_destroy(out);
    return st;
}

START_TEST(bad_definitions_are_refused_by_name)
{
    model m = four_bar(NULL);
    tal_error err;
    tal_marker marker = {"toe", {CRANK}, {0.0, 0.0, 0.0}, 0.0};
    tal_assembler_def def = tal_assembler_def_default();
    def.markers = &marker;
    def.num_markers = 1;
    ck_assert_int_eq(create_with(&m, &def, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "zero"));
    marker.weight = (double)NAN;
    ck_assert_int_eq(create_with(&m, &def, &err), TAL_ERR_BAD_VALUE);
    marker.weight = 1.0;
    marker.body.i = 17;
    ck_assert_int_eq(create_with(&m, &def, &err), TAL_ERR_BAD_INDEX);
    ck_assert_ptr_nonnull(strstr(err.message, "17"));
    marker.body.i = CRANK;
    marker.p_BS.x = (double)INFINITY;
    ck_assert_int_eq(create_with(&m, &def, &err), TAL_ERR_NOT_FINITE);
    def.num_markers = -1;
    ck_assert_int_eq(create_with(&m, &def, &err), TAL_ERR_BAD_VALUE);
    def = tal_assembler_def_default();
    def.tolerance = 0.0;
    ck_assert_int_eq(create_with(&m, &def, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "tolerance"));
    end_model(&m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/assembler");
    TCase *tests = tcase_create("assembler");
    tcase_add_test(tests, a_four_bar_closes_on_both_branches_all_the_way_round);
    tcase_add_test(tests, what_is_assembled_stays_as_it_is_bit_for_bit);
    tcase_add_test(tests, a_four_bar_closes_from_anywhere);
    tcase_add_test(tests, what_cannot_be_assembled_is_named_and_left_where_it_is_least_wrong);
    tcase_add_test(tests, a_run_from_where_nobody_assembled_says_so);
    tcase_add_test(tests, a_weld_never_closes_the_wrong_way_round);
    tcase_add_test(tests, weights_one_to_three_split_an_angle_so);
    tcase_add_test(tests, a_chain_is_found_again_from_markers_with_noise);
    tcase_add_test(tests, markers_that_are_not_seen_are_left_out);
    tcase_add_test(tests, ranges_hold_exactly);
    tcase_add_test(tests, coordinates_and_staying_close_share_by_weight);
    tcase_add_test(tests, goals_are_met_without_leaving_the_constraints);
    tcase_add_test(tests, a_soft_constraint_is_a_goal);
    tcase_add_test(tests, speeds_of_a_four_bar_follow_the_crank);
    tcase_add_test(tests, speeds_are_found_from_velocities_of_markers);
    tcase_add_test(tests, searching_allocates_nothing);
    tcase_add_test(tests, bad_definitions_are_refused_by_name);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
