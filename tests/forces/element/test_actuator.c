// Tests for forces/src/element/actuator.c.
#include "force_model.h"

static const tal_vec3 STATION = {0.3, -0.2, 0.5}, ALONG = {1.0, -2.0, 2.0};

typedef struct crew {
    model m;
    tal_measure_ix wave;
    tal_force_ix motor, jet, rope, wheel; // jet: turns with its body; rope: keeps its direction
    tal_twist twist;
} crew;

// Each driven by `control`; `i` < 0: by its parameter.
static crew begin(bool driven)
{
    crew c = {.m = model_begin()};
    model *m = &c.m;
    const tal_subsystem_ix me = tal_forces_subsystem(m->forces);
    c.wave = tal_measure_add_sinusoid(m->system, me, "wave", 2.0, 3.0, 0.5);
    const tal_measure_ix none = {-1}, control = driven ? c.wave : none;
    const tal_mobility knee = {m->body[GIMBAL], 1};
    c.motor = tal_forces_add_mobility_actuator(m->forces, "motor", knee, 4.0, control);
    tal_push push = {m->body[BALL], STATION, ALONG, true, false};
    c.jet = tal_forces_add_point_actuator(m->forces, "jet", &push, 5.0, control);
    push.in_body = false;
    c.rope = tal_forces_add_point_actuator(m->forces, "rope", &push, 6.0, control);
    c.twist.body1 = m->body[PIN];
    c.twist.body2 = m->body[BALL];
    c.twist.axis = ALONG;
    c.wheel = tal_forces_add_torque_actuator(m->forces, "wheel", &c.twist, 7.0, control);
    model_finish(m);
    return c;
}

// All four against their formulas for a control of `value`: |ALONG| = 3, a few operations: 1e-13.
static void check_laws(crew *c, double value)
{
    model *m = &c->m;
    const int slot = tal_body_u_start(m->matter, m->body[GIMBAL]) + 1;
    load on = model_load(m, c->motor);
    for (int i = 0; i < MODEL_NU; ++i) {
        ck_assert_double_eq(on.f[i], i == slot ? 4.0 * value : 0.0);
    }
    const tal_bodies_view poses = tal_matter_poses(m->matter, m->state);
    const tal_vec3 p_GS = tal_station_p_GS(m->matter, m->state, m->body[BALL], STATION);
    const tal_vec3 p_MS = tal_v3_sub(p_GS, tal_view_X_GM(&poses, BALL)->p);
    const tal_mat3 R_GB = tal_body_X_GB(m->matter, m->state, m->body[BALL]).R;
    const tal_mat3 R_G1 = tal_body_X_GB(m->matter, m->state, m->body[PIN]).R;
    const tal_vec3 d = tal_v3_scale(1.0 / 3.0, ALONG);

    const tal_vec3 jet = tal_v3_scale(5.0 * value, tal_m3_mul_v3(R_GB, d));
    on = model_load(m, c->jet);
    test_assert_sv_near(on.F[BALL], tal_sv(tal_v3_cross(p_MS, jet), jet), 1e-13);
    const tal_vec3 rope = tal_v3_scale(6.0 * value, d);
    on = model_load(m, c->rope);
    test_assert_sv_near(on.F[BALL], tal_sv(tal_v3_cross(p_MS, rope), rope), 1e-13);
    const tal_vec3 wheel = tal_v3_scale(7.0 * value, tal_m3_mul_v3(R_G1, d));
    on = model_load(m, c->wheel);
    test_assert_sv_near(on.F[BALL], tal_sv(wheel, TAL_VEC3_ZERO), 1e-13);
    test_assert_sv_near(on.F[PIN], tal_sv(tal_v3_neg(wheel), TAL_VEC3_ZERO), 1e-13);
    test_assert_sv_near(model_total(m, &on), TAL_SPATIAL_VEC_ZERO, 1e-13);
    ck_assert_double_eq(tal_actuator_output(m->forces, m->state, c->rope), 6.0 * value);
}

START_TEST(a_measure_drives_actuators)
{
    crew c = begin(true);
    for (int k = 0; k < 10; ++k) {
        const double t = 0.3 * k;
        tal_state_set_t(c.m.state, t);
        model_shake(&c.m, 40 + (uint64_t)k);
        check_laws(&c, 2.0 * sin(3.0 * t + 0.5));
    }
    model_check_heap_and_switch(&c.m, c.motor);
    model_check_heap_and_switch(&c.m, c.wheel);
    model_end(&c.m);
}

END_TEST

START_TEST(a_control_in_the_state_drives_actuators)
{
    crew c = begin(false);
    model *m = &c.m;
    check_laws(&c, 0.0);
    const tal_force_ix all[] = {c.motor, c.jet, c.rope, c.wheel};
    const int control[] = {TAL_ACTUATOR_CONTROL, TAL_POINT_ACTUATOR_CONTROL,
                           TAL_POINT_ACTUATOR_CONTROL, TAL_TORQUE_ACTUATOR_CONTROL};
    for (int k = 0; k < 4; ++k) {
        ck_assert_int_eq(tal_force_set_param(m->forces, m->state, all[k], control[k], -0.7),
                         TAL_OK);
        ck_assert_int_eq(tal_state_stage(m->state), TAL_STAGE_VELOCITY);
    }
    model_shake(m, 6);
    check_laws(&c, -0.7);
    ck_assert_double_eq(tal_forces_potential_energy(m->forces, m->state), 0.0);
    ck_assert_double_eq(tal_forces_dissipated_power(m->forces, m->state), 0.0);
    model_check_param(m, c.motor, TAL_ACTUATOR_GAIN, 1.0, TAL_STAGE_DYNAMICS);
    model_check_param(m, c.jet, TAL_POINT_ACTUATOR_GAIN, 1.0, TAL_STAGE_DYNAMICS);
    model_check_param(m, c.jet, TAL_POINT_ACTUATOR_DIRECTION, 9.0, TAL_STAGE_INSTANCE);
    model_check_param(m, c.rope, TAL_POINT_ACTUATOR_STATION + 1, 9.0, TAL_STAGE_INSTANCE);
    model_check_param(m, c.wheel, TAL_TORQUE_ACTUATOR_AXIS + 1, 9.0, TAL_STAGE_INSTANCE);
    model_check_param(m, c.wheel, TAL_TORQUE_ACTUATOR_GAIN, 9.0, TAL_STAGE_DYNAMICS);
    model_check_refused(m, c.motor, TAL_ACTUATOR_CONTROL, (double)NAN, TAL_ERR_NOT_FINITE);
    const double zero[3] = {0.0, 0.0, 0.0};
    ck_assert_int_eq(
        tal_force_set_params(m->forces, m->state, c.jet, TAL_POINT_ACTUATOR_DIRECTION, zero, 3),
        TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(m->state)->message, "direction"));
    model_end(m);
}

END_TEST

// Six controls: moment about the station, and force there, in Ground or in B. A few operations:
// 1e-13.
START_TEST(a_body_actuator_puts_out_a_moment_and_a_force)
{
    const double six[6] = {0.5, -1.0, 2.0, 1.5, 0.3, -0.7};
    const tal_spatial_vec control = {{0.5, -1.0, 2.0}, {1.5, 0.3, -0.7}};
    for (int k = 0; k < 4; ++k) {
        const bool in_body = k % 2 == 1, driven = k >= 2;
        model m = model_begin();
        const tal_subsystem_ix me = tal_forces_subsystem(m.forces);
        const tal_measure_ix none = {-1};
        const tal_measure_ix measure = tal_measure_add_constant(m.system, me, "six", six, 6);
        const tal_thrust thrust = {m.body[BALL], STATION, in_body};
        const tal_force_ix rocket =
            tal_forces_add_body_actuator(m.forces, "rocket", &thrust, 3.0, driven ? measure : none);
        model_finish(&m);
        if (!driven) {
            const tal_spatial_vec idle = tal_body_actuator_output(m.forces, m.state, rocket);
            test_assert_sv_near(idle, TAL_SPATIAL_VEC_ZERO, 0.0);
            ck_assert_int_eq(
                tal_force_set_params(m.forces, m.state, rocket, TAL_BODY_ACTUATOR_CONTROL, six, 6),
                TAL_OK);
            ck_assert_int_eq(tal_state_stage(m.state), TAL_STAGE_VELOCITY);
        }
        const tal_bodies_view poses = tal_matter_poses(m.matter, m.state);
        const tal_vec3 p_GS = tal_station_p_GS(m.matter, m.state, m.body[BALL], STATION);
        const tal_vec3 p_MS = tal_v3_sub(p_GS, tal_view_X_GM(&poses, BALL)->p);
        const tal_mat3 R_GB = tal_body_X_GB(m.matter, m.state, m.body[BALL]).R;
        tal_spatial_vec expected = tal_sv_scale(3.0, control);
        test_assert_sv_near(tal_body_actuator_output(m.forces, m.state, rocket), expected, 0.0);
        if (in_body) expected = tal_m3_mul_sv(R_GB, expected);
        const load on = model_load(&m, rocket);
        test_assert_sv_near(on.F[BALL], tal_sv_shift_force(expected, p_MS), 1e-13);
        test_assert_sv_near(on.F[PIN], TAL_SPATIAL_VEC_ZERO, 0.0);
        model_check_param(&m, rocket, TAL_BODY_ACTUATOR_STATION + 1, 9.0, TAL_STAGE_INSTANCE);
        model_check_param(&m, rocket, TAL_BODY_ACTUATOR_GAIN, 9.0, TAL_STAGE_DYNAMICS);
        model_check_heap_and_switch(&m, rocket);
        double e = 0.0;
        test_assert_breach(e = tal_actuator_output(m.forces, m.state, rocket), TAL_ERR_BAD_INDEX,
                           "one output");
        ck_assert_double_nan(e);
        model_end(&m);
    }
}

END_TEST

START_TEST(a_bad_body_actuator_is_refused)
{
    tal_error err = {0};
    const tal_measure_ix none = {-1};
    tal_thrust thrust = {{99}, STATION, false};
    model m = model_begin();
    ck_assert_int_lt(tal_forces_add_body_actuator(m.forces, "rocket", &thrust, 1.0, none).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);
    m = model_begin();
    thrust.body = m.body[PIN];
    const tal_subsystem_ix me = tal_forces_subsystem(m.forces);
    const tal_measure_ix wave = tal_measure_add_sinusoid(m.system, me, "wave", 2.0, 3.0, 0.5);
    ck_assert_int_lt(tal_forces_add_body_actuator(m.forces, "rocket", &thrust, 1.0, wave).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "six are needed"));
    m = model_begin();
    // a result that is never computed
    tal_result_def def = tal_result_def_default();
    def.name = "unset";
    def.size = 6;
    const tal_subsystem_ix owner = tal_forces_subsystem(m.forces);
    const tal_measure_ix unset = tal_measure_add_result(m.system, owner, &def);
    const tal_force_ix rocket =
        tal_forces_add_body_actuator(m.forces, "rocket", &thrust, 1.0, unset);
    const tal_mobility pin = {m.body[PIN], 0};
    const tal_force_ix spring = tal_forces_add_mobility_spring(m.forces, "spring", pin, 1.0, 0.0);
    model_finish(&m);
    ck_assert_int_lt(tal_system_realize(m.system, m.state, TAL_STAGE_DYNAMICS), TAL_OK);
    ck_assert(isnan(tal_body_actuator_output(m.forces, m.state, rocket).w.x));
    (void)test_breaches();
    test_assert_breach((void)tal_body_actuator_output(m.forces, m.state, spring), TAL_ERR_BAD_INDEX,
                       "spring");
    model_end(&m);
}

END_TEST

START_TEST(a_control_without_a_value_is_reported)
{
    model m = model_begin();
    tal_result_def def = tal_result_def_default();
    def.name = "unset";
    const tal_subsystem_ix me = tal_forces_subsystem(m.forces);
    const tal_measure_ix unset = tal_measure_add_result(m.system, me, &def);
    const tal_mobility pin = {m.body[PIN], 0};
    const tal_force_ix motor = tal_forces_add_mobility_actuator(m.forces, "motor", pin, 1.0, unset);
    model_finish(&m);
    // the result has not been computed: reading it is a breach, and its sentence is kept
    ck_assert_int_lt(tal_system_realize(m.system, m.state, TAL_STAGE_DYNAMICS), TAL_OK);
    ck_assert_msg(strstr(tal_state_error(m.state)->message, "unset") != NULL, "%s",
                  tal_state_error(m.state)->message);
    ck_assert_double_nan(tal_actuator_output(m.forces, m.state, motor));
    (void)test_breaches();
    model_end(&m);
}

END_TEST

// A control that fails hands its status on; one that is not a number is TAL_ERR_NOT_FINITE.
static tal_status calc_sick(const void *self, const tal_system *system, tal_state *state, int order,
                            int n, double value[])
{
    const tal_status *st = self;
    (void)system, (void)state, (void)order;
    for (int i = 0; i < n; ++i) {
        value[i] = (double)NAN;
    }
    return *st;
}

static void needs_time(const void *self, const tal_system *system, int order,
                       tal_measure_needs *needs)
{
    (void)self, (void)system, (void)order;
    tal_measure_needs_stage(needs, TAL_STAGE_TIME);
}

static const tal_measure_ops sick_ops = {
    .size = sizeof sick_ops, .name = "sick", .calc = calc_sick, .needs = needs_time};

START_TEST(a_control_that_fails_hands_its_status_on)
{
    for (int k = 0; k < 4; ++k) {
        const tal_status returned = k % 2 == 0 ? TAL_ERR_CALLBACK : TAL_OK;
        model m = model_begin();
        tal_measure_def def = tal_measure_def_default();
        def.name = "sick";
        def.size = k < 2 ? 1 : 6;
        def.self = &returned;
        def.self_size = sizeof returned;
        const tal_measure_ix control =
            tal_system_add_measure(m.system, tal_forces_subsystem(m.forces), &sick_ops, &def);
        if (k < 2) {
            const tal_mobility pin = {m.body[PIN], 0};
            (void)tal_forces_add_mobility_actuator(m.forces, "motor", pin, 1.0, control);
        } else {
            const tal_thrust thrust = {m.body[BALL], TAL_VEC3_ZERO, false};
            (void)tal_forces_add_body_actuator(m.forces, "motor", &thrust, 1.0, control);
        }
        model_finish(&m);
        ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_DYNAMICS),
                         returned != TAL_OK ? returned : TAL_ERR_NOT_FINITE);
        const char *wanted = returned != TAL_OK ? "'sick" : "'motor'";
        ck_assert_msg(strstr(tal_state_error(m.state)->message, wanted) != NULL, "%s",
                      tal_state_error(m.state)->message);
        model_end(&m);
    }
}

END_TEST

START_TEST(bad_input_is_refused)
{
    tal_error err = {0};
    const tal_measure_ix none = {-1}, nowhere = {99};
    model m = model_begin();
    const tal_mobility pin = {m.body[PIN], 0}, missing = {m.body[PIN], 2};
    ck_assert_int_lt(tal_forces_add_mobility_actuator(m.forces, "a", pin, 1.0, nowhere).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);
    ck_assert_ptr_nonnull(strstr(err.message, "no measure 99"));
    m = model_begin();
    ck_assert_int_lt(tal_forces_add_mobility_actuator(m.forces, "a", missing, 1.0, none).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);
    m = model_begin();
    const double two[] = {1.0, 2.0};
    const tal_measure_ix pair =
        tal_measure_add_constant(m.system, tal_forces_subsystem(m.forces), "pair", two, 2);
    tal_push push = {m.body[PIN], STATION, ALONG, true, false};
    ck_assert_int_lt(tal_forces_add_point_actuator(m.forces, NULL, &push, 1.0, pair).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "2 values"));
    m = model_begin();
    push.direction = TAL_VEC3_ZERO;
    ck_assert_int_lt(tal_forces_add_point_actuator(m.forces, "a", &push, 1.0, none).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);
    m = model_begin();
    push.body.i = 70;
    ck_assert_int_lt(tal_forces_add_point_actuator(m.forces, "a", &push, 1.0, none).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);
    m = model_begin();
    tal_twist twist = {TAL_GROUND, {70}, ALONG, false};
    ck_assert_int_lt(tal_forces_add_torque_actuator(m.forces, "a", &twist, 1.0, none).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_INDEX);
    m = model_begin();
    twist.body2 = TAL_GROUND;
    twist.axis = TAL_VEC3_ZERO;
    ck_assert_int_lt(tal_forces_add_torque_actuator(m.forces, "a", &twist, 1.0, none).i, 0);
    ck_assert_int_eq(model_refuse(&m, &err), TAL_ERR_BAD_VALUE);

    m = model_begin();
    const tal_force_ix gravity = tal_forces_add_gravity(m.forces, ALONG);
    const tal_force_ix motor = tal_forces_add_mobility_actuator(m.forces, "a", pin, 1.0, none);
    double e = 0.0;
    test_assert_breach(e = tal_actuator_output(m.forces, NULL, gravity), TAL_ERR_BAD_INDEX,
                       "not an actuator");
    ck_assert_double_nan(e);
    const tal_force_ix bad = {8};
    test_assert_breach(e = tal_actuator_output(m.forces, NULL, bad), TAL_ERR_BAD_INDEX, "8");
    test_assert_breach(tal_forces_add_mobility_actuator(NULL, "x", pin, 1.0, none), TAL_ERR_NULL,
                       "forces");
    model_finish(&m);
    test_assert_breach(e = tal_actuator_output(m.forces, NULL, motor), TAL_ERR_NULL, "");
    ck_assert_double_nan(e);
    model_end(&m);
}

END_TEST

// A push at a point of Ground, and a torque about an axis of Ground, wherever the bodies are.
START_TEST(points_and_axes_can_be_given_in_ground)
{
    model m = model_begin();
    const tal_measure_ix none = {-1};
    const tal_push push = {m.body[BALL], STATION, ALONG, false, true};
    const tal_twist twist = {m.body[PIN], m.body[BALL], ALONG, true};
    const tal_force_ix jet = tal_forces_add_point_actuator(m.forces, "jet", &push, 5.0, none);
    const tal_force_ix wheel = tal_forces_add_torque_actuator(m.forces, "wheel", &twist, 7.0, none);
    model_finish(&m);
    (void)tal_actuator_set_control(m.forces, m.state, jet, 0.5);
    (void)tal_actuator_set_control(m.forces, m.state, wheel, 0.5);
    for (uint64_t seed = 1; seed < 10; ++seed) {
        model_shake(&m, seed);
        const tal_bodies_view poses = tal_matter_poses(m.matter, m.state);
        const tal_vec3 arm = tal_v3_sub(STATION, tal_view_X_GM(&poses, BALL)->p);
        const tal_vec3 f = tal_v3_scale(2.5 / 3.0, ALONG), t = tal_v3_scale(3.5 / 3.0, ALONG);
        load on = model_load(&m, jet); // a few operations on numbers below ten: 1e-13
        test_assert_sv_near(on.F[BALL], tal_sv(tal_v3_cross(arm, f), f), 1e-13);
        on = model_load(&m, wheel);
        test_assert_sv_near(on.F[BALL], tal_sv(t, TAL_VEC3_ZERO), 1e-13);
        test_assert_sv_near(on.F[PIN], tal_sv(tal_v3_neg(t), TAL_VEC3_ZERO), 1e-13);

        tal_force_report report;
        tal_error err = {0};
        ck_assert_msg(tal_force_test(m.forces, m.state, jet, &report, &err) == TAL_OK, "%s",
                      err.message);
        ck_assert_msg(tal_force_test(m.forces, m.state, wheel, &report, &err) == TAL_OK, "%s",
                      err.message);
    }
    model_check_heap_and_switch(&m, jet);
    model_end(&m);
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/actuator");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, a_measure_drives_actuators);
    tcase_add_test(theory, a_control_in_the_state_drives_actuators);
    tcase_add_test(theory, points_and_axes_can_be_given_in_ground);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(theory, a_body_actuator_puts_out_a_moment_and_a_force);
    tcase_add_test(errors, a_bad_body_actuator_is_refused);
    tcase_add_test(errors, a_control_without_a_value_is_reported);
    tcase_add_test(errors, a_control_that_fails_hands_its_status_on);
    tcase_add_test(errors, bad_input_is_refused);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
