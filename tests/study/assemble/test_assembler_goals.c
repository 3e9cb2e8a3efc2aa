// Goals of all kinds: markers, locks of single coordinates, goals of the user's own and their
// failures, velocities; and that a search never makes things worse.
#include "alloc_guard.h"
#include "assembly_support.h"

// --- markers ---

// A free body has markers at its origin and at (1, 0, 0); the observed points are 1.2 apart, so
// that of equal weights each ends 0.1 off, towards the other. A third is not seen.
START_TEST(each_marker_has_its_error)
{
    model m = begin_model();
    const tal_mobod_def def = link_at(TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_free(m.matter, TAL_GROUND, &def);
    const tal_marker markers[3] = {{NULL, body, {0.0, 0.0, 0.0}, 1.0},
                                   {NULL, body, {1.0, 0.0, 0.0}, 1.0},
                                   {NULL, body, {0.0, 1.0, 0.0}, 1.0}};
    tal_assembler_def goals = tal_assembler_def_default();
    goals.markers = markers;
    goals.num_markers = 3;
    finish_model(&m, &goals);
    const tal_vec3 points[3] = {
        {2.0, 3.0, 4.0}, {3.2, 3.0, 4.0}, {(double)NAN, (double)NAN, (double)NAN}};
    ck_assert_int_eq(tal_assembler_observe(m.assembler, points, NULL), TAL_OK);
    tal_assembly found;
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_OK);
    tal_vec3 errors[3];
    ck_assert_int_eq(tal_assembler_calc_marker_errors(m.assembler, m.state, errors), TAL_OK);
    // the accuracy of the search is 1e-8
    test_assert_v3_near(errors[0], tal_v3(0.1, 0.0, 0.0), 1e-7);
    test_assert_v3_near(errors[1], tal_v3(-0.1, 0.0, 0.0), 1e-7);
    ck_assert(isnan(errors[2].x) && isnan(errors[2].y) && isnan(errors[2].z));
    ck_assert_double_eq_tol(found.marker_max, tal_v3_norm(errors[found.worst_marker]), 1e-15);

    // the same by a tracker, of any points
    tal_tracker_def follow = tal_tracker_def_default();
    follow.assembler = goals;
    tal_tracker *tracker = NULL;
    ck_assert_int_eq(tal_tracker_create(m.system, &follow, &tracker, NULL), TAL_OK);
    tal_vec3 again[3];
    ck_assert_int_eq(tal_tracker_calc_marker_errors(tracker, m.state, points, again), TAL_OK);
    test_assert_v3_near(again[0], errors[0], 0.0);
    test_assert_v3_near(again[1], errors[1], 0.0);
    ck_assert(isnan(again[2].x) && isnan(again[2].y) && isnan(again[2].z));
    tal_tracker_destroy(tracker);
    test_record_breaches();
    tal_body_set_q(m.matter, m.state, body, 4, 0.0);
    test_assert_refused(tal_assembler_calc_marker_errors(m.assembler, m.state, errors),
                        TAL_ERR_STAGE, "");
    test_assert_refused(tal_assembler_calc_marker_errors(m.assembler, m.state, NULL), TAL_ERR_NULL,
                        "");
    end_model(&m);
}

END_TEST

// --- locks ---

// Of a bushing, one angle and one translation are locked, one of them outside of its range: they
// keep their values, and the rest goes where the marker is.
START_TEST(coordinates_that_are_locked_keep_their_values)
{
    model m = begin_model();
    const tal_mobod_def def = link_at(TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_bushing(m.matter, TAL_GROUND, &def);
    ck_assert_int_eq(tal_body_limit_coordinate(m.matter, body, 4, -0.1, 0.1), TAL_OK);
    const tal_marker marker = {NULL, body, {1.0, 0.0, 0.0}, 1.0};
    tal_assembler_def goals = tal_assembler_def_default();
    goals.markers = &marker;
    goals.num_markers = 1;
    finish_model(&m, &goals);
    const tal_mobility angle = {body, 2}, shift = {body, 4};
    ck_assert_int_eq(tal_mobility_lock_at(m.matter, m.state, angle, TAL_LEVEL_POSITION, 0.6),
                     TAL_OK);
    ck_assert_int_eq(tal_mobility_lock_at(m.matter, m.state, shift, TAL_LEVEL_POSITION, 0.7),
                     TAL_OK);
    const tal_vec3 point = {0.3, 1.1, -0.4};
    ck_assert_int_eq(tal_assembler_observe(m.assembler, &point, NULL), TAL_OK);
    tal_assembly found;
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_OK);
    ck_assert_double_eq(tal_body_q(m.matter, m.state, body, 2), 0.6);
    ck_assert_double_eq(tal_body_q(m.matter, m.state, body, 4), 0.7);
    ck_assert_double_lt(found.marker_max, 1e-8);
    end_model(&m);
}

END_TEST

START_TEST(nothing_can_be_done_where_everything_is_locked)
{
    model m = four_bar(NULL);
    for (int b = CRANK; b <= ROCKER; ++b) {
        ck_assert_int_eq(tal_body_lock(m.matter, m.state, (tal_body_ix){b}, TAL_LEVEL_POSITION),
                         TAL_OK);
    }
    tal_assembly found;
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_ERR_NO_CONVERGENCE);
    ck_assert_double_eq(found.error, found.error_before);
    ck_assert_double_eq(q_of(&m, CRANK), 0.0);
    end_model(&m);
}

END_TEST

// --- goals of the user's own ---

typedef struct angle_goal {
    int *calls;
    int fail_at; // the call that fails; 0: none
    bool speaks;
} angle_goal;

// q0 + q1 = 1.
static tal_status calc_angle_goal(const void *self, const tal_system *system, tal_state *state,
                                  double r[], const tal_matrix *J)
{
    (void)system;
    const angle_goal *it = self;
    if (++*it->calls == it->fail_at) {
        return it->speaks ? tal_state_fail(state, TAL_ERR_CALLBACK, "the camera fell over")
                          : TAL_ERR_CALLBACK;
    }
    r[0] = tal_state_q(state)[0] + tal_state_q(state)[1] - 1.0;
    if (J != NULL) J->data[0] = J->data[J->ld] = 1.0;
    return TAL_OK;
}

static model two_pins_with(const angle_goal *own, double weight)
{
    model m = begin_model();
    (void)add_chain(&m, 2);
    const tal_goal goal = {"sum of angles", 1, weight, own, calc_angle_goal};
    tal_assembler_def def = tal_assembler_def_default();
    def.goals = &goal;
    def.num_goals = 1;
    def.stay_close = 1.0;
    finish_model(&m, &def);
    return m;
}

// Least w (q0 + q1 - 1)^2 + q0^2 + q1^2 is at q0 = q1 = w / (2 w + 1).
START_TEST(goals_of_your_own_count_by_weight)
{
    int calls = 0;
    const angle_goal own = {&calls, 0, false};
    model m = two_pins_with(&own, 3.0);
    tal_assembly found;
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_OK);
    ck_assert_double_eq_tol(q_of(&m, 1), 3.0 / 7.0, 1e-9);
    ck_assert_double_eq_tol(q_of(&m, 2), 3.0 / 7.0, 1e-9);
    ck_assert_double_eq_tol(found.goal_before, 1.5, 1e-15);
    ck_assert_double_eq_tol(found.goal, 0.5 * (3.0 / 49.0 + 2.0 * 9.0 / 49.0), 1e-12);
    end_model(&m);
}

END_TEST

START_TEST(a_goal_that_fails_at_any_call_is_named_and_q_stay_as_they_were)
{
    int calls = 0, most = 0;
    for (int n = 1; n <= most + 1; ++n) {
        calls = 0;
        const angle_goal own = {&calls, n, n % 2 == 0};
        model m = two_pins_with(&own, 3.0);
        set_q(&m, 1, 0.1);
        set_q(&m, 2, -0.2);
        const tal_status st = tal_assembler_assemble(m.assembler, m.state, NULL);
        if (st == TAL_OK) {
            ck_assert_int_gt(n, 3); // the first n that is never reached
            end_model(&m);
            return;
        }
        most = n;
        ck_assert_int_eq(st, TAL_ERR_CALLBACK);
        const char *message = tal_assembler_error(m.assembler)->message;
        ck_assert_ptr_nonnull(strstr(message, "'sum of angles'"));
        ck_assert((strstr(message, "camera") != NULL) == (n % 2 == 0));
        ck_assert_double_eq(q_of(&m, 1), 0.1);
        ck_assert_double_eq(q_of(&m, 2), -0.2);
        end_model(&m);
    }
    ck_abort_msg("it never succeeds");
}

END_TEST

// r = log(q + 0.2), which exists above -0.2 only and vanishes at 0.8.
static tal_status calc_logarithm(const void *self, const tal_system *system, tal_state *state,
                                 double r[], const tal_matrix *J)
{
    (void)self, (void)system;
    const double x = tal_state_q(state)[0] + 0.2;
    if (!(x > 0.0)) return TAL_RETRY;
    r[0] = log(x);
    if (J != NULL) J->data[0] = 1.0 / x;
    return TAL_OK;
}

// Newton's first step from 3 leads to 3 - 3.2 log(3.2) = -0.7, where the goal does not exist.
START_TEST(a_step_to_where_a_goal_does_not_exist_is_shortened)
{
    model m = begin_model();
    (void)add_chain(&m, 1);
    const tal_goal goal = {"logarithm", 1, 1.0, NULL, calc_logarithm};
    tal_assembler_def def = tal_assembler_def_default();
    def.goals = &goal;
    def.num_goals = 1;
    finish_model(&m, &def);
    set_q(&m, 1, 3.0);
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, NULL), TAL_OK);
    ck_assert_double_eq_tol(q_of(&m, 1), 0.8, 1e-8);
    ck_assert_int_eq(tal_assembler_error(m.assembler)->status, TAL_OK);
    set_q(&m, 1, -1.0); // the goal does not exist at the start
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, NULL), TAL_RETRY);
    ck_assert_double_eq(q_of(&m, 1), -1.0);
    end_model(&m);
}

END_TEST

static tal_status calc_nan(const void *self, const tal_system *system, tal_state *state, double r[],
                           const tal_matrix *J)
{
    (void)self, (void)system, (void)state, (void)J;
    r[0] = (double)NAN;
    return TAL_OK;
}

START_TEST(a_goal_that_is_not_a_number_is_refused)
{
    model m = begin_model();
    (void)add_chain(&m, 1);
    const tal_goal goal = {"nonsense", 1, 1.0, NULL, calc_nan};
    tal_assembler_def def = tal_assembler_def_default();
    def.goals = &goal;
    def.num_goals = 1;
    finish_model(&m, &def);
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, NULL), TAL_ERR_NOT_FINITE);
    ck_assert_double_eq(q_of(&m, 1), 0.0);
    end_model(&m);
}

END_TEST

// --- coordinates ---

START_TEST(coordinate_goals_need_a_coordinate_that_is_not_of_a_quaternion)
{
    static const struct {
        int i;
        bool use_angles;
        const char *why; // NULL: fine
    } cases[] = {{0, false, "quaternion"}, {3, false, "quaternion"}, {4, false, NULL},
                 {6, false, NULL},         {0, true, NULL},          {6, true, "exist"}};

    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        model m = begin_model();
        tal_mobod_def def = link_at(TAL_VEC3_ZERO);
        def.use_angles = cases[k].use_angles;
        const tal_body_ix body = tal_matter_add_free(m.matter, TAL_GROUND, &def);
        const tal_coordinate_goal goal = {body, cases[k].i, 0.25, 1.0};
        tal_assembler_def goals = tal_assembler_def_default();
        goals.coordinates = &goal;
        goals.num_coordinates = 1;
        finish_model(&m, &goals);
        const tal_status st = tal_assembler_assemble(m.assembler, m.state, NULL);
        if (cases[k].why == NULL) {
            ck_assert_int_eq(st, TAL_OK);
            ck_assert_double_eq_tol(tal_body_q(m.matter, m.state, body, goal.i), 0.25, 1e-8);
        } else {
            ck_assert_int_eq(st, TAL_ERR_BAD_INDEX);
            ck_assert_ptr_nonnull(strstr(tal_assembler_error(m.assembler)->message, cases[k].why));
        }
        end_model(&m);
    }
}

END_TEST

// --- velocities ---

// Markers and angular velocities of a chain of six pins, made from known speeds; some are not seen.
START_TEST(speeds_are_found_from_angular_velocities)
{
    model m = begin_model();
    (void)add_chain(&m, 6);
    tal_orientation_sensor sensors[7];
    for (int k = 0; k < 7; ++k) {
        sensors[k] = (tal_orientation_sensor){NULL, {1 + k % 6}, TAL_MAT3_IDENTITY, 1.0 + k};
    }
    tal_assembler_def def = tal_assembler_def_default();
    def.sensors = sensors;
    def.num_sensors = 7;
    finish_model(&m, &def);
    test_rng rng = test_rng_seed(941);
    double truth[6];
    for (int i = 0; i < 6; ++i) {
        set_q(&m, i + 1, test_random_uniform(&rng, -1.0, 1.0));
        truth[i] = test_random_uniform(&rng, -3.0, 3.0);
    }
    ck_assert_int_eq(tal_state_set_u(m.state, truth, 6), TAL_OK);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_VELOCITY), TAL_OK);
    tal_vec3 rates[7];
    for (int k = 0; k < 6; ++k) {
        rates[k] = tal_body_V_GB(m.matter, m.state, sensors[k].body).w;
    }
    rates[6] = tal_v3((double)NAN, 5.0, 5.0);
    ck_assert_int_eq(tal_state_set_u(m.state, (const double[6]){0.0}, 6), TAL_OK);
    tal_assembly found;
    ck_assert_int_eq(tal_assembler_assemble_u(m.assembler, NULL, rates, m.state, &found), TAL_OK);
    test_assert_near(tal_state_u(m.state), truth, 6, 1e-12, "u");
    ck_assert_double_lt(found.goal, 1e-20);
    rates[2].y = (double)INFINITY;
    ck_assert_int_eq(tal_assembler_assemble_u(m.assembler, NULL, rates, m.state, &found),
                     TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_assembler_error(m.assembler)->message, "rate 2"));
    end_model(&m);
}

END_TEST

// A slider is held by a ball that counts 1 and observed to move at 2 m/s with weight 3: (0 + 3 2) /
// 4. Without an observation the soft ball alone decides.
START_TEST(soft_constraints_count_for_speeds_too)
{
    model m = begin_model();
    const tal_mobod_def slide = link_at(TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_slider(m.matter, TAL_GROUND, &slide);
    const tal_constraint_def ends = tal_constraint_between(TAL_GROUND, body);
    const tal_constraint_ix ball =
        tal_constraint_add_ball(m.matter, &ends, TAL_VEC3_ZERO, TAL_VEC3_ZERO);
    const tal_soft_constraint soft = {ball, 1.0};
    const tal_marker marker = {NULL, body, {0.0, 0.0, 0.0}, 3.0};
    tal_assembler_def def = tal_assembler_def_default();
    def.soft = &soft;
    def.num_soft = 1;
    def.markers = &marker;
    def.num_markers = 1;
    finish_model(&m, &def);
    const tal_vec3 velocity = {2.0, 0.0, 0.0};
    ck_assert_int_eq(tal_body_set_u(m.matter, m.state, body, 0, 9.0), TAL_OK);
    ck_assert_int_eq(tal_assembler_assemble_u(m.assembler, &velocity, NULL, m.state, NULL), TAL_OK);
    ck_assert_double_eq_tol(tal_body_u(m.matter, m.state, body, 0), 1.5, 1e-12);
    ck_assert_int_eq(tal_assembler_assemble_u(m.assembler, NULL, NULL, m.state, NULL), TAL_OK);
    ck_assert_double_eq_tol(tal_body_u(m.matter, m.state, body, 0), 0.0, 1e-12);
    end_model(&m);
}

END_TEST

// Two speeds of one pin: both cannot be.
START_TEST(speeds_that_contradict_each_other_are_named)
{
    model m = begin_model();
    const tal_body_ix body = add_chain(&m, 1);
    tal_constraint_def on = tal_constraint_on(body, 0);
    (void)tal_constraint_add_constant_speed(m.matter, &on, 1.0);
    on.name = "other";
    (void)tal_constraint_add_constant_speed(m.matter, &on, 2.0);
    finish_model(&m, NULL);
    tal_assembly found;
    ck_assert_int_eq(tal_assembler_assemble_u(m.assembler, NULL, NULL, m.state, &found),
                     TAL_ERR_NO_CONVERGENCE);
    ck_assert_double_eq_tol(found.worst_error, 0.5, 1e-12); // 1.5 is nearest to both
    ck_assert_double_eq_tol(tal_body_u(m.matter, m.state, body, 0), 1.5, 1e-12);
    end_model(&m);
}

END_TEST

// A body is held at a point, and what is observed is the velocity of that very point: nothing tells
// of its turns, which stay as they are. What round-off makes of "nothing", divided by itself, is no
// reason to turn. The marker wants 1 m/s that it cannot have, so that round-off is that of numbers
// of size one.
START_TEST(turns_that_nothing_tells_of_stay_as_they_are)
{
    test_rng rng = test_rng_seed(8);
    for (int k = 0; k < 20; ++k) {
        model m = begin_model();
        const tal_mobod_def def = link_at(test_random_vec3(&rng));
        const tal_body_ix body = tal_matter_add_free(m.matter, TAL_GROUND, &def);
        const tal_vec3 p_BS = test_random_vec3(&rng), p_GS = test_random_vec3(&rng);
        const tal_constraint_def held = tal_constraint_between(TAL_GROUND, body);
        (void)tal_constraint_add_ball(m.matter, &held, p_GS, p_BS);
        const tal_marker marker = {NULL, body, p_BS, 1.0};
        tal_assembler_def goals = tal_assembler_def_default();
        goals.markers = &marker;
        goals.num_markers = 1;
        finish_model(&m, &goals);
        const tal_quat turned = test_random_quat(&rng);
        memcpy(tal_state_upd_q(m.state), &turned, sizeof turned);
        ck_assert_int_eq(tal_assembler_observe(m.assembler, &p_GS, NULL), TAL_OK);
        ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, NULL), TAL_OK);
        const tal_vec3 velocity = test_random_unit(&rng);
        tal_assembly found;
        ck_assert_msg(tal_assembler_assemble_u(m.assembler, &velocity, NULL, m.state, &found) ==
                          TAL_OK,
                      "%s", tal_assembler_error(m.assembler)->message);
        ck_assert_double_eq_tol(found.marker_rms, 1.0, 1e-12);
        const double still[6] = {0.0};
        test_assert_near(tal_state_u(m.state), still, 6, 1e-12, "u");
        end_model(&m);
    }
}

END_TEST

// --- never worse ---

// A four-bar that is assembled, and a marker on its coupler that is wanted anywhere within 4 m,
// mostly out of reach: the goal never grows and the constraints stay met, whether bodies are placed
// first or not.
START_TEST(what_meets_its_constraints_never_becomes_worse)
{
    const tal_marker markers[] = {{NULL, {COUPLER}, {1.5, 1.0, 0.0}, 1.0},
                                  {NULL, {COUPLER}, {1.0, -1.0, 0.0}, 2.0},
                                  {NULL, {COUPLER}, {0.0, 0.0, 1.0}, 1.0},
                                  {NULL, {ROCKER}, {1.0, 0.0, 0.0}, 0.5}};
    tal_assembler_def def = tal_assembler_def_default();
    def.markers = markers;
    def.num_markers = 4;
    def.max_restarts = 2;
    model m = four_bar(&def);
    test_rng rng = test_rng_seed(951);
    for (int k = 0; k < 400; ++k) {
        const double crank = test_random_uniform(&rng, -TAL_PI, TAL_PI);
        double coupler = 0.0, rocker = 0.0;
        closed_form(crank, k % 2 == 0 ? 1.0 : -1.0, &coupler, &rocker);
        set_q(&m, CRANK, crank);
        set_q(&m, COUPLER, coupler);
        set_q(&m, ROCKER, rocker);
        tal_vec3 points[4];
        for (int i = 0; i < 4; ++i) {
            points[i] = tal_v3_scale(4.0, test_random_vec3(&rng));
        }
        ck_assert_int_eq(tal_assembler_observe(m.assembler, points, NULL), TAL_OK);
        tal_assembly found;
        const tal_status st = k % 4 < 2 ? tal_assembler_assemble(m.assembler, m.state, &found)
                                        : tal_assembler_fit(m.assembler, m.state, &found);
        ck_assert_msg(st == TAL_OK, "%d: %s", k, tal_assembler_error(m.assembler)->message);
        ck_assert_double_le(found.goal, found.goal_before);
        ck_assert_double_le(found.error, 1e-10);
    }
    end_model(&m);
}

END_TEST

// Four markers on a free body that are where a turn and a shift have taken it: placing it by them
// is all there is to do, and no search from so far away ends after one step, which is all that is
// allowed here.
START_TEST(markers_place_a_body_at_once_however_far_it_turned)
{
    model m = begin_model();
    const tal_mobod_def link = link_at(TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_free(m.matter, TAL_GROUND, &link);
    const tal_marker markers[] = {{NULL, body, {1.0, 0.1, -0.2}, 1.0},
                                  {NULL, body, {-0.3, 0.7, 0.4}, 2.0},
                                  {NULL, body, {0.2, -0.6, 0.9}, 0.5},
                                  {NULL, body, {-0.5, -0.4, -0.8}, 1.5}};
    tal_assembler_def def = tal_assembler_def_default();
    def.markers = markers;
    def.num_markers = 4;
    def.max_iterations = 1;
    finish_model(&m, &def);
    test_rng rng = test_rng_seed(77);
    for (int trial = 0; trial < 50; ++trial) {
        const tal_xform X = test_random_xform(&rng);
        tal_vec3 points[4];
        for (int k = 0; k < 4; ++k) {
            points[k] = tal_xf_apply(X, markers[k].p_BS);
        }
        ck_assert_int_eq(tal_assembler_observe(m.assembler, points, NULL), TAL_OK);
        tal_assembly found;
        ck_assert_msg(tal_assembler_fit(m.assembler, m.state, &found) == TAL_OK, "%s",
                      tal_assembler_error(m.assembler)->message);
        ck_assert_int_le(found.iterations, 2);
        ck_assert_double_le(found.marker_max, 1e-14);
    }
    end_model(&m);
}

END_TEST

// A ball is at 170 degrees about z and its four markers of weight 1 are at 190, its quaternions
// there on opposite sides. With a weight of 2 for staying close, 4 (1 - cos) of one turn and 2 (1 -
// cos) of the other are least along the sum of vectors of length 4 and 2.
START_TEST(staying_close_means_the_short_way_round)
{
    model m = begin_model();
    const tal_mobod_def def = link_at(TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_ball(m.matter, TAL_GROUND, &def);
    const tal_marker markers[] = {{NULL, body, {1.0, 0.0, 0.0}, 1.0},
                                  {NULL, body, {-1.0, 0.0, 0.0}, 1.0},
                                  {NULL, body, {0.0, 1.0, 0.0}, 1.0},
                                  {NULL, body, {0.0, -1.0, 0.0}, 1.0}};
    tal_assembler_def goals = tal_assembler_def_default();
    goals.markers = markers;
    goals.num_markers = 4;
    goals.stay_close = 2.0;
    finish_model(&m, &goals);
    const double degree = TAL_PI / 180.0;
    const tal_mat3 start = tal_rotation_about(TAL_AXIS_Z, 170.0 * degree);
    const tal_mat3 seen = tal_rotation_about(TAL_AXIS_Z, -170.0 * degree);
    ck_assert_int_eq(tal_body_fit_rotation(m.matter, m.state, body, &start), TAL_OK);
    tal_vec3 points[4];
    for (int k = 0; k < 4; ++k) {
        points[k] = tal_m3_mul_v3(seen, markers[k].p_BS);
    }
    ck_assert_int_eq(tal_assembler_observe(m.assembler, points, NULL), TAL_OK);
    ck_assert_int_eq(tal_assembler_fit(m.assembler, m.state, NULL), TAL_OK);
    const tal_mat3 found = tal_body_X_GB(m.matter, m.state, body).R;
    const double moved = atan2(4.0 * sin(20.0 * degree), 2.0 + 4.0 * cos(20.0 * degree));
    const tal_mat3 wanted = tal_rotation_about(TAL_AXIS_Z, 170.0 * degree + moved);
    // staying close takes 2 sin(x / 2) for the slope sin(x): x^3 / 8, a third of which is 5e-4 here
    ck_assert_double_lt(tal_rotation_distance(&found, &wanted), 1e-3);
    end_model(&m);
}

END_TEST

// --- calls that break the contract, and bad input ---

START_TEST(broken_calls_are_reported)
{
    model m = four_bar(NULL);
    test_record_breaches();
    tal_assembler *out = NULL;
    const double nan = (double)NAN;
    test_assert_refused(tal_assembler_create(m.system, NULL, NULL, NULL), TAL_ERR_NULL, "out");
    test_assert_refused(tal_assembler_assemble(NULL, m.state, NULL), TAL_ERR_NULL, "NULL");
    test_assert_refused(tal_assembler_assemble(m.assembler, NULL, NULL), TAL_ERR_NULL, "State");
    test_assert_refused(tal_assembler_fit(NULL, m.state, NULL), TAL_ERR_NULL, "NULL");
    test_assert_refused(tal_assembler_fit(m.assembler, NULL, NULL), TAL_ERR_NULL, "State");
    test_assert_refused(tal_assembler_assemble_u(NULL, NULL, NULL, m.state, NULL), TAL_ERR_NULL,
                        "NULL");
    test_assert_refused(tal_assembler_assemble_u(m.assembler, NULL, NULL, NULL, NULL), TAL_ERR_NULL,
                        "State");
    test_assert_refused(tal_assembler_observe(NULL, NULL, NULL), TAL_ERR_NULL, "NULL");
    test_assert_breach((void)tal_assembler_set_coordinate(NULL, 0, 0.0), TAL_ERR_NULL, "NULL");
    test_assert_breach((void)tal_assembler_set_coordinate(m.assembler, 0, 0.0), TAL_ERR_BAD_INDEX,
                       "goal 0");
    test_assert_breach((void)tal_assembler_find_marker(NULL, "toe"), TAL_ERR_NULL, "NULL");
    test_assert_breach((void)tal_assembler_marker_name(m.assembler, 0), TAL_ERR_BAD_INDEX,
                       "marker 0");
    ck_assert_int_eq(tal_assembler_error(NULL)->status, TAL_ERR_NULL);
    ck_assert_int_eq(tal_assembler_create(NULL, NULL, &out, NULL), TAL_ERR_NULL);
    tal_system *bare = tal_system_create(NULL);
    ck_assert_int_eq(tal_assembler_create(bare, NULL, &out, NULL), TAL_ERR_TOPOLOGY);
    tal_system_destroy(bare);
    tal_assembler_destroy(NULL);

    set_q(&m, CRANK, 0.3);
    tal_state_upd_q(m.state)[1] = nan;
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, NULL), TAL_ERR_NOT_FINITE);
    ck_assert_double_eq(q_of(&m, CRANK), 0.3);
    tal_state_upd_q(m.state)[1] = 0.0;
    tal_state_upd_u(m.state)[1] = nan;
    ck_assert_int_eq(tal_assembler_assemble_u(m.assembler, NULL, NULL, m.state, NULL),
                     TAL_ERR_NOT_FINITE);
    end_model(&m);
}

END_TEST

START_TEST(bad_observations_change_nothing)
{
    model m = begin_model();
    const tal_body_ix tip = add_chain(&m, 1);
    const tal_marker marker = {"toe", tip, {1.0, 0.0, 0.0}, 1.0};
    const tal_orientation_sensor sensor = {"eye", tip, TAL_MAT3_IDENTITY, 1.0};
    const tal_coordinate_goal goal = {tip, 0, 0.0, 1.0};
    tal_assembler_def def = tal_assembler_def_default();
    def.markers = &marker;
    def.num_markers = 1;
    def.sensors = &sensor;
    def.num_sensors = 1;
    def.coordinates = &goal;
    def.num_coordinates = 1;
    finish_model(&m, &def);
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, NULL), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(
        strstr(tal_assembler_error(m.assembler)->message, "tal_assembler_observe()"));
    const tal_vec3 far_away = {(double)INFINITY, 0.0, 0.0}, near = {cos(0.2), sin(0.2), 0.0};
    tal_mat3 R = tal_rotation_about(TAL_AXIS_Z, 0.2);
    ck_assert_int_eq(tal_assembler_observe(m.assembler, &near, &R), TAL_OK);
    ck_assert_int_eq(tal_assembler_observe(m.assembler, &far_away, NULL), TAL_ERR_NOT_FINITE);
    R.x.x += 0.1;
    ck_assert_int_eq(tal_assembler_observe(m.assembler, NULL, &R), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_assembler_set_coordinate(m.assembler, 0, (double)NAN), TAL_ERR_NOT_FINITE);
    ck_assert_int_eq(tal_assembler_set_coordinate(m.assembler, 0, 0.2), TAL_OK);
    tal_assembly found;
    ck_assert_int_eq(tal_assembler_assemble(m.assembler, m.state, &found), TAL_OK);
    ck_assert_double_eq_tol(q_of(&m, 1), 0.2, 1e-8);
    ck_assert_str_eq(tal_assembler_marker_name(m.assembler, found.worst_marker), "toe");
    const tal_vec3 fast = {0.0, (double)INFINITY, 0.0};
    ck_assert_int_eq(tal_assembler_assemble_u(m.assembler, &fast, NULL, m.state, NULL),
                     TAL_ERR_NOT_FINITE);
    end_model(&m);
}

END_TEST

START_TEST(every_part_of_a_definition_is_checked)
{
    model m = four_bar(NULL);
    const double nan = (double)NAN;
    const tal_mat3 skew = {{2.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    char long_name[TAL_MAX_NAME + 2];
    memset(long_name, 'x', sizeof long_name);
    long_name[TAL_MAX_NAME + 1] = '\0';
    const tal_marker named = {long_name, {1}, {0.0, 0.0, 0.0}, 1.0};
    const tal_orientation_sensor sensors[] = {{NULL, {9}, TAL_MAT3_IDENTITY, 1.0},
                                              {NULL, {1}, TAL_MAT3_IDENTITY, -1.0},
                                              {NULL, {1}, skew, 1.0}};
    const tal_coordinate_goal coordinates[] = {
        {{-1}, 0, 0.0, 1.0}, {{1}, 0, 0.0, nan}, {{1}, 99, 0.0, 1.0}, {{1}, 0, nan, 1.0}};
    const tal_soft_constraint soft[] = {{{7}, 1.0}, {{0}, nan}};
    const tal_goal goals[] = {{NULL, 1, 1.0, NULL, calc_nan},
                              {"goal", 1, 1.0, NULL, NULL},
                              {"goal", -1, 1.0, NULL, calc_nan},
                              {"goal", 1, nan, NULL, calc_nan}};
    tal_assembler_def defs[18];
    int n = 0;
    for (int i = 0; i < 18; ++i) {
        defs[i] = tal_assembler_def_default();
    }
    defs[n].markers = &named, defs[n++].num_markers = 1;
    for (int i = 0; i < 3; ++i) {
        defs[n].sensors = &sensors[i], defs[n++].num_sensors = 1;
    }
    for (int i = 0; i < 4; ++i) {
        defs[n].coordinates = &coordinates[i], defs[n++].num_coordinates = 1;
        defs[n].goals = &goals[i], defs[n++].num_goals = 1;
    }
    defs[n].soft = &soft[0], defs[n++].num_soft = 1;
    defs[n].soft = &soft[1], defs[n++].num_soft = 1;
    defs[n++].accuracy = (double)INFINITY;
    defs[n++].max_iterations = 0;
    defs[n++].stay_close = -1.0;
    defs[n++].num_goals = 1;
    ck_assert_int_eq(n, 18);
    for (int i = 0; i < n; ++i) {
        tal_assembler *out = NULL;
        tal_error err;
        ck_assert_msg(tal_assembler_create(m.system, &defs[i], &out, &err) != TAL_OK, "%d", i);
        ck_assert_ptr_null(out);
        ck_assert_int_gt((int)strlen(err.message), 10);
    }
    end_model(&m);
}

END_TEST

START_TEST(fitting_and_goals_allocate_nothing)
{
    int calls = 0;
    const angle_goal own = {&calls, 0, false};
    model m = two_pins_with(&own, 3.0);
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_assembler_fit(m.assembler, m.state, NULL));
    ck_assert_int_eq(st, TAL_OK);
    end_model(&m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/assembler_goals");
    TCase *tests = tcase_create("goals");
    tcase_add_test(tests, each_marker_has_its_error);
    tcase_add_test(tests, coordinates_that_are_locked_keep_their_values);
    tcase_add_test(tests, nothing_can_be_done_where_everything_is_locked);
    tcase_add_test(tests, goals_of_your_own_count_by_weight);
    tcase_add_test(tests, a_goal_that_fails_at_any_call_is_named_and_q_stay_as_they_were);
    tcase_add_test(tests, a_step_to_where_a_goal_does_not_exist_is_shortened);
    tcase_add_test(tests, a_goal_that_is_not_a_number_is_refused);
    tcase_add_test(tests, coordinate_goals_need_a_coordinate_that_is_not_of_a_quaternion);
    tcase_add_test(tests, speeds_are_found_from_angular_velocities);
    tcase_add_test(tests, soft_constraints_count_for_speeds_too);
    tcase_add_test(tests, speeds_that_contradict_each_other_are_named);
    tcase_add_test(tests, turns_that_nothing_tells_of_stay_as_they_are);
    tcase_add_test(tests, what_meets_its_constraints_never_becomes_worse);
    tcase_add_test(tests, staying_close_means_the_short_way_round);
    tcase_add_test(tests, broken_calls_are_reported);
    tcase_add_test(tests, bad_observations_change_nothing);
    tcase_add_test(tests, every_part_of_a_definition_is_checked);
    tcase_add_test(tests, markers_place_a_body_at_once_however_far_it_turned);
    tcase_add_test(tests, fitting_and_goals_allocate_nothing);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
