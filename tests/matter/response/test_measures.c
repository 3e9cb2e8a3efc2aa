// matter/src/response/measures.c: measures of mechanical quantities.
#include "tree_support.h"

#include <talus/matter.h>

static void begin(rig *r)
{
    rig_begin(r);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = (tal_mass_props){2.0, {0.1, 0.2, -0.1}, {0.5, 0.6, 0.7, 0.01, -0.02, 0.03}};
    def.X_BM = tal_xf_from_p(tal_v3(0.3, 0.1, -0.2));
    def.name = "a";
    (void)tal_matter_add_free(r->matter, TAL_GROUND, &def);
    def.name = "b";
    (void)tal_matter_add_gimbal(r->matter, (tal_body_ix){1}, &def);
}

static void shake(const rig *r)
{
    test_rng rng = test_rng_seed(3);
    double *q = tal_state_upd_q(r->state), *u = tal_state_upd_u(r->state);
    for (int i = 0; i < tal_state_nq(r->state); ++i) {
        q[i] = test_random_uniform(&rng, 0.1, 0.8);
    }
    for (int i = 0; i < tal_state_nu(r->state); ++i) {
        u[i] = test_random_uniform(&rng, -1.0, 1.0);
    }
}

static double value(const rig *r, tal_measure_ix measure, int order)
{
    return tal_measure_derivative(r->system, r->state, measure, order);
}

// The same bits as what they are measures of.
START_TEST(measures_are_what_matter_says)
{
    rig r;
    begin(&r);
    const tal_body_ix a = {1}, b = {2};
    const tal_vec3 p = tal_v3(0.1, 0.2, 0.3), p2 = tal_v3(-0.2, 0.4, 0.1);
    const tal_vec3 d = tal_v3(1.0, 2.0, -2.0), along = tal_v3_normalize(d);
    const tal_measure_ix q = tal_measure_add_coordinate(r.matter, "q", (tal_mobility){a, 6});
    const tal_measure_ix u = tal_measure_add_speed(r.matter, "u", (tal_mobility){b, 1});
    const tal_measure_ix s = tal_measure_add_station(r.matter, "s", b, p, a, d);
    const tal_vec3 tiny = tal_v3_scale(1e-200, d); // any length except zero, though its square is
    const tal_measure_ix s_tiny = tal_measure_add_station(r.matter, "s_tiny", b, p, a, tiny);
    const tal_measure_ix l = tal_measure_add_distance(r.matter, "l", b, p, a, p2);
    const tal_measure_ix e = tal_measure_add_kinetic_energy(r.matter, NULL);
    rig_finish(&r);
    shake(&r);
    rig_realize(&r, TAL_STAGE_ACCELERATION);

    const tal_state *state = r.state;
    ck_assert(value(&r, q, 0) == tal_state_q(state)[6]);
    ck_assert(value(&r, q, 1) == tal_state_qdot(state)[6]);
    ck_assert(value(&r, q, 2) == tal_state_qdotdot(state)[6]);
    ck_assert(value(&r, u, 0) == tal_state_u(state)[7]);
    ck_assert(value(&r, u, 1) == tal_state_udot(state)[7]);
    ck_assert(value(&r, s, 0) == tal_v3_dot(along, tal_station_p_AS(r.matter, state, a, b, p)));
    ck_assert(value(&r, s, 1) == tal_v3_dot(along, tal_station_v_AS(r.matter, state, a, b, p)));
    ck_assert(value(&r, s, 2) == tal_v3_dot(along, tal_station_a_AS(r.matter, state, a, b, p)));
    ck_assert(value(&r, s_tiny, 0) ==
              tal_v3_dot(tal_v3_normalize(tiny), tal_station_p_AS(r.matter, state, a, b, p)));
    ck_assert(value(&r, l, 0) == tal_station_distance(r.matter, state, b, p, a, p2));
    ck_assert(value(&r, l, 1) == tal_station_distance_rate(r.matter, state, b, p, a, p2));
    ck_assert(value(&r, l, 2) == tal_station_distance_acceleration(r.matter, state, b, p, a, p2));
    ck_assert(value(&r, e, 0) == tal_matter_kinetic_energy(r.matter, state));
    ck_assert_int_eq(tal_measure_num_derivatives(r.system, e), 0);
    const tal_stage stages[] = {TAL_STAGE_POSITION, TAL_STAGE_VELOCITY, TAL_STAGE_ACCELERATION};
    for (int order = 0; order < 3; ++order) {
        ck_assert_int_eq(tal_measure_stage(r.system, q, order), stages[order]);
        ck_assert_int_eq(tal_measure_stage(r.system, s, order), stages[order]);
        if (order < 2) ck_assert_int_eq(tal_measure_stage(r.system, u, order), stages[order + 1]);
    }
    rig_end(&r);
}

END_TEST

static void check_unit(const rig *r, tal_measure_ix measure, const char *expected)
{
    char unit[TAL_UNIT_SIZE] = "?";
    ck_assert_int_eq(tal_matter_measure_unit(r->matter, r->state, measure, unit), TAL_OK);
    ck_assert_str_eq(unit, expected);
}

START_TEST(coordinates_speeds_and_measures_have_units)
{
    rig r;
    begin(&r);
    const tal_body_ix a = {1}, b = {2};
    const tal_subsystem_ix owner = tal_matter_subsystem(r.matter);
    const tal_measure_ix x = tal_measure_add_coordinate(r.matter, "x", (tal_mobility){a, 4});
    const tal_measure_ix u = tal_measure_add_speed(r.matter, "u", (tal_mobility){b, 1});
    const tal_measure_ix e = tal_measure_add_kinetic_energy(r.matter, "e");
    const tal_measure_ix xdot = tal_measure_add_differentiate(r.system, owner, "xdot", x);
    const tal_measure_ix acc = tal_measure_add_differentiate(r.system, owner, "acc", xdot);
    const tal_measure_ix turn = tal_measure_add_integrate(r.system, owner, "turn", u, NULL);
    const tal_measure_ix action = tal_measure_add_integrate(r.system, owner, "action", e, NULL);
    const tal_measure_ix sum = tal_measure_add_sum(r.system, owner, "sum", x, x);
    const tal_measure_ix twice = tal_measure_add_scale(r.system, owner, "twice", 2.0, x);
    const tal_measure_ix clock = tal_measure_add_time(r.system, owner, "clock");
    rig_finish(&r);
    rig_realize(&r, TAL_STAGE_POSITION);

    ck_assert_str_eq(tal_body_q_unit(r.matter, r.state, a, 3), "1");
    ck_assert_str_eq(tal_body_q_unit(r.matter, r.state, a, 4), "m");
    ck_assert_str_eq(tal_body_q_unit(r.matter, r.state, b, 0), "rad");
    ck_assert_str_eq(tal_body_u_unit(r.matter, r.state, a, 0), "rad/s");
    ck_assert_str_eq(tal_body_u_unit(r.matter, r.state, a, 5), "m/s");

    // the first that is not there, also of Ground, which has none
    test_record_breaches();

    const struct {
        tal_body_ix body;
        int nq, nu;
    } ends[] = {{a, 7, 6},
                {b, tal_body_nq(r.matter, r.state, b), tal_body_nu(r.matter, b)},
                {TAL_GROUND, 0, 0}};

    for (int k = 0; k < 3; ++k) {
        const tal_body_ix body = ends[k].body;
        test_assert_breach((void)tal_body_q_unit(r.matter, r.state, body, ends[k].nq),
                           TAL_ERR_BAD_INDEX, "coordinate");
        test_assert_breach((void)tal_body_u_unit(r.matter, r.state, body, ends[k].nu),
                           TAL_ERR_BAD_INDEX, "speed");
        test_assert_breach((void)tal_body_q_unit(r.matter, r.state, body, -1), TAL_ERR_BAD_INDEX,
                           "coordinate -1");
        test_assert_breach((void)tal_body_u_unit(r.matter, r.state, body, -1), TAL_ERR_BAD_INDEX,
                           "speed -1");
    }
    check_unit(&r, x, "m");
    check_unit(&r, u, "rad/s");
    check_unit(&r, e, "J");
    check_unit(&r, xdot, "m/s");
    check_unit(&r, acc, "m/s^2");
    check_unit(&r, turn, "rad");
    check_unit(&r, action, "J s");
    check_unit(&r, sum, "m");
    check_unit(&r, twice, "");
    check_unit(&r, clock, "s");
    // the same body by three angles
    ck_assert_int_eq(tal_body_set_use_angles(r.matter, r.state, a, true), TAL_OK);
    rig_realize(&r, TAL_STAGE_POSITION);
    ck_assert_str_eq(tal_body_q_unit(r.matter, r.state, a, 2), "rad");
    ck_assert_str_eq(tal_body_q_unit(r.matter, r.state, a, 3), "m");
    test_record_breaches();
    (void)test_breaches();
    ck_assert_str_eq(tal_body_q_unit(r.matter, r.state, b, 3), "");
    ck_assert_str_eq(tal_body_u_unit(r.matter, r.state, b, -1), "");
    ck_assert_int_eq(test_breaches(), 2);
    rig_end(&r);
}

START_TEST(a_coordinate_that_is_not_there_is_reported)
{
    rig r;
    begin(&r);
    const tal_measure_ix q = tal_measure_add_coordinate(r.matter, "q", (tal_mobility){{1}, 6});
    rig_finish(&r);
    ck_assert_int_eq(tal_body_set_use_angles(r.matter, r.state, (tal_body_ix){1}, true), TAL_OK);
    rig_realize(&r, TAL_STAGE_POSITION);
    ck_assert_double_nan(tal_measure_value(r.system, r.state, q));
    ck_assert_ptr_nonnull(strstr(tal_state_error(r.state)->message, "'a' has no coordinate 6"));
    rig_end(&r);
}

END_TEST

// Two balls and a gear in between: rows of several levels; one constraint comes and goes.
START_TEST(multipliers_are_found_wherever_they_are)
{
    rig r;
    begin(&r);
    const tal_body_ix a = {1}, b = {2};
    tal_constraint_def def = tal_constraint_between(TAL_GROUND, b);
    const tal_constraint_ix ball =
        tal_constraint_add_ball(r.matter, &def, tal_v3(0.1, 0.2, 0.3), tal_v3(0.0, 0.1, 0.0));
    def = tal_constraint_on(a, 3);
    const tal_constraint_ix steady = tal_constraint_add_constant_speed(r.matter, &def, 0.1);
    def = tal_constraint_on(a, 4);
    const tal_constraint_ix push = tal_constraint_add_constant_acceleration(r.matter, &def, 0.2);
    tal_measure_ix m[5];
    for (int i = 0; i < 3; ++i) {
        m[i] = tal_measure_add_multiplier(r.matter, NULL, ball, i);
    }
    m[3] = tal_measure_add_multiplier(r.matter, NULL, steady, 0);
    m[4] = tal_measure_add_multiplier(r.matter, NULL, push, 0);
    rig_finish(&r);
    shake(&r);
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    for (int i = 0; i < 5; ++i) {
        ck_assert(value(&r, m[i], 0) == tal_state_multipliers(r.state)[i]);
        ck_assert(value(&r, m[i], 0) != 0.0);
    }
    ck_assert_int_eq(tal_constraint_set_enabled(r.matter, r.state, ball, false), TAL_OK);
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    for (int i = 0; i < 3; ++i) {
        ck_assert(value(&r, m[i], 0) == 0.0);
    }
    ck_assert(value(&r, m[3], 0) == tal_state_multipliers(r.state)[0]);
    ck_assert(value(&r, m[4], 0) == tal_state_multipliers(r.state)[1]);
    rig_end(&r);
}

END_TEST

// A sphere that rolls: one equation on positions, two on velocities.
START_TEST(multipliers_of_one_constraint_have_several_levels)
{
    rig r;
    begin(&r);
    const tal_constraint_def def = tal_constraint_between(TAL_GROUND, (tal_body_ix){1});
    const tal_xform plane = TAL_XFORM_IDENTITY;
    const tal_constraint_ix rolling = tal_constraint_add_sphere_on_plane_contact(
        r.matter, &def, &plane, tal_v3(0.1, 0.2, 0.3), 0.5, true);
    const tal_constraint_def other = tal_constraint_on((tal_body_ix){2}, 0);
    (void)tal_constraint_add_constant_coordinate(r.matter, &other, 0.1);
    tal_measure_ix m[3];
    for (int i = 0; i < 3; ++i) {
        m[i] = tal_measure_add_multiplier(r.matter, NULL, rolling, i);
    }
    rig_finish(&r);
    shake(&r);
    rig_realize(&r, TAL_STAGE_ACCELERATION);
    const int slots[] = {0, 2, 3}; // positions first, of both constraints
    for (int i = 0; i < 3; ++i) {
        ck_assert(value(&r, m[i], 0) == tal_state_multipliers(r.state)[slots[i]]);
        ck_assert(value(&r, m[i], 0) != 0.0);
    }
    rig_end(&r);
}

END_TEST

// A slider in a turning frame, closed by a cylinder: its angle and its distance, as the constraint
// says, and their rates.
START_TEST(coordinates_of_loops_are_measured_with_their_rates)
{
    rig r;
    begin(&r);
    const tal_constraint_def def = tal_constraint_between((tal_body_ix){1}, (tal_body_ix){2});
    const tal_xform X = TAL_XFORM_IDENTITY;
    const tal_constraint_ix c = tal_constraint_add_loop_cylinder(r.matter, &def, &X, &X);
    tal_measure_ix m[2];
    for (int i = 0; i < 2; ++i) {
        m[i] = tal_measure_add_loop_coordinate(r.matter, NULL, c, i);
    }
    rig_finish(&r);
    shake(&r);
    rig_realize(&r, TAL_STAGE_VELOCITY);
    double q[2], qdot[2];
    ck_assert_int_eq(tal_constraint_calc_coordinates(r.matter, r.state, c, q, qdot), TAL_OK);
    char unit[TAL_UNIT_SIZE];
    for (int i = 0; i < 2; ++i) {
        ck_assert_double_eq(value(&r, m[i], 0), q[i]);
        ck_assert_double_eq(value(&r, m[i], 1), qdot[i]);
        ck_assert_int_eq(tal_matter_measure_unit(r.matter, r.state, m[i], unit), TAL_OK);
        ck_assert_str_eq(unit, i == 0 ? "rad" : "m");
    }
    rig_end(&r);
}

END_TEST

typedef tal_measure_ix (*add_fn)(tal_matter *matter);

static tal_measure_ix no_body(tal_matter *m)
{
    return tal_measure_add_speed(m, "x", (tal_mobility){{7}, 0});
}

static tal_measure_ix no_coordinate(tal_matter *m)
{
    return tal_measure_add_coordinate(m, "x", (tal_mobility){{1}, 7});
}

static tal_measure_ix no_speed(tal_matter *m)
{
    return tal_measure_add_speed(m, NULL, (tal_mobility){{1}, -1});
}

static tal_measure_ix of_ground(tal_matter *m)
{
    return tal_measure_add_speed(m, "x", (tal_mobility){{0}, 0});
}

static tal_measure_ix no_direction(tal_matter *m)
{
    return tal_measure_add_station(m, "x", (tal_body_ix){1}, TAL_VEC3_ZERO, TAL_GROUND,
                                   TAL_VEC3_ZERO);
}

static tal_measure_ix not_finite(tal_matter *m)
{
    return tal_measure_add_distance(m, "x", (tal_body_ix){1}, tal_v3((double)NAN, 0.0, 0.0),
                                    TAL_GROUND, TAL_VEC3_ZERO);
}

static tal_measure_ix no_second_body(tal_matter *m)
{
    return tal_measure_add_distance(m, "x", (tal_body_ix){1}, TAL_VEC3_ZERO, (tal_body_ix){-1},
                                    TAL_VEC3_ZERO);
}

static tal_measure_ix no_constraint(tal_matter *m)
{
    return tal_measure_add_multiplier(m, "x", (tal_constraint_ix){0}, 0);
}

static tal_measure_ix no_loop(tal_matter *m)
{
    const tal_constraint_def def = tal_constraint_on((tal_body_ix){2}, 0);
    const tal_constraint_ix c = tal_constraint_add_constant_speed(m, &def, 0.1);
    return tal_measure_add_loop_coordinate(m, "x", c, 0);
}

static tal_measure_ix no_row(tal_matter *m)
{
    const tal_constraint_def def = tal_constraint_on((tal_body_ix){2}, 0);
    const tal_constraint_ix c = tal_constraint_add_constant_speed(m, &def, 0.1);
    return tal_measure_add_multiplier(m, "x", c, 1);
}

START_TEST(what_cannot_be_measured_is_refused)
{
    const struct {
        add_fn add;
        tal_status status;
        const char *sentence;
    } cases[] = {{no_body, TAL_ERR_BAD_INDEX, "measure 'x': there is no body 7"},
                 {no_coordinate, TAL_ERR_BAD_INDEX, "measure 'x': there is no coordinate 7"},
                 {no_speed, TAL_ERR_BAD_INDEX, "measure '(no name)': there is no speed -1"},
                 {of_ground, TAL_ERR_BAD_INDEX, "there is no speed 0"},
                 {no_direction, TAL_ERR_BAD_VALUE, "station 'x': its direction is zero"},
                 {not_finite, TAL_ERR_NOT_FINITE, "distance 'x': (nan, 0, 0)"},
                 {no_second_body, TAL_ERR_BAD_INDEX, "there is no body -1"},
                 {no_constraint, TAL_ERR_BAD_INDEX, "there is no constraint 0"},
                 {no_loop, TAL_ERR_BAD_INDEX, "has no coordinate 0"},
                 {no_row, TAL_ERR_BAD_INDEX, "there is no equation 1"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        rig r;
        begin(&r);
        ck_assert_int_lt(cases[i].add(r.matter).i, 0);
        const tal_error *err = tal_system_error(r.system);
        ck_assert_int_eq(err->status, cases[i].status);
        ck_assert_msg(strstr(err->message, cases[i].sentence) != NULL, "%s", err->message);
        // nothing more is added
        ck_assert_int_lt(tal_measure_add_kinetic_energy(r.matter, "y").i, 0);
        ck_assert_int_lt(tal_measure_add_coordinate(r.matter, "y", (tal_mobility){{1}, 0}).i, 0);
        ck_assert_int_lt(tal_measure_add_speed(r.matter, "y", (tal_mobility){{1}, 0}).i, 0);
        ck_assert_int_lt(no_direction(r.matter).i, 0);
        ck_assert_int_lt(not_finite(r.matter).i, 0);
        ck_assert_int_lt(no_constraint(r.matter).i, 0);
        tal_system_destroy(r.system);
    }
    test_record_breaches();
    test_assert_breach((void)tal_measure_add_kinetic_energy(NULL, "x"), TAL_ERR_NULL, "matter");
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("measures");
    TCase *same = tcase_create("same");
    tcase_add_test(same, measures_are_what_matter_says);
    tcase_add_test(same, coordinates_speeds_and_measures_have_units);
    tcase_add_test(same, a_coordinate_that_is_not_there_is_reported);
    tcase_add_test(same, multipliers_are_found_wherever_they_are);
    tcase_add_test(same, multipliers_of_one_constraint_have_several_levels);
    tcase_add_test(same, coordinates_of_loops_are_measured_with_their_rates);
    tcase_add_test(same, what_cannot_be_measured_is_refused);
    suite_add_tcase(suite, same);
    return test_run(suite);
}
