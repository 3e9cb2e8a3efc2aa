// Tests for study/src/follow/: controls that make a model follow a motion.
#include "alloc_guard.h"
#include "muscle/leg_support.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

static tal_follower *create(tal_system *system, tal_forces *forces, const tal_follower_def *def)
{
    tal_error err = {TAL_OK, "", ""};
    tal_follower *made = NULL;
    const tal_status st = tal_follower_create(system, forces, def, &made, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return made;
}

static void step(tal_follower *it, tal_state *state)
{
    const tal_status st = tal_follower_step(it, state);
    ck_assert_msg(st == TAL_OK, "%s", tal_follower_error(it)->message);
}

static void start(tal_follower *it, tal_state *state)
{
    const tal_status st = tal_follower_start(it, state);
    ck_assert_msg(st == TAL_OK, "%s", tal_follower_error(it)->message);
}

// --- a slider of one kilogram with two motors, 100 N and 200 N ---

typedef struct slider {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_body_ix body;
    tal_force_ix motor[2];
    tal_state *state;
} slider;

static slider make_slider(void)
{
    slider it = {.system = tal_system_create(NULL)};
    it.matter = tal_matter_create(it.system);
    it.forces = tal_forces_create(it.system, it.matter);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.mass.inertia = tal_s3_diag(1.0, 1.0, 1.0);
    it.body = tal_matter_add_slider(it.matter, TAL_GROUND, &def);
    for (int k = 0; k < 2; ++k) {
        it.motor[k] = tal_forces_add_mobility_actuator(it.forces, NULL, (tal_mobility){it.body, 0},
                                                       100.0 * (k + 1), (tal_measure_ix){-1});
    }
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tal_system_realize_topology(it.system, &err), TAL_OK);
    ck_assert_int_eq(tal_state_create(it.system, &it.state, &err), TAL_OK);
    return it;
}

static void free_slider(slider *it)
{
    tal_state_destroy(it->state);
    tal_system_destroy(it->system);
}

// q = a t^2 / 2 with the acceleration a in the context.
static tal_status fall(void *context, double t, double q[], double u[], double udot[])
{
    const double a = *(const double *)context;
    q[0] = 0.5 * a * t * t;
    u[0] = a * t;
    udot[0] = a;
    return TAL_OK;
}

// Effort F1^2/100^2 + F2^2/200^2 with F1 + F2 = 50: 10 and 40. Soft, with weight one: the
// derivative of (a - 50)^2 + (F1/100)^2 + (F2/200)^2 vanishes where a (1 + 1/50000) = 50.
START_TEST(motors_share_an_acceleration_by_the_squares_of_their_gains)
{
    slider it = make_slider();
    double a = 50.0;
    tal_follower_task task = tal_follower_task_default();
    task.mobility = (tal_mobility){it.body, 0};
    tal_follower_def def = tal_follower_def_default();
    def.tasks = &task;
    def.num_tasks = 1;
    def.calc_desired = fall;
    def.context = &a;
    tal_follower *made = create(it.system, it.forces, &def);
    start(made, it.state);
    ck_assert_double_eq_tol(tal_follower_forces(made)[0], 10.0, 1e-12);
    ck_assert_double_eq_tol(tal_follower_forces(made)[1], 40.0, 1e-12);
    ck_assert_double_eq_tol(tal_follower_controls(made)[1], 0.2, 1e-14);
    ck_assert_double_eq(tal_state_t(it.state), 0.0);
    tal_follower_destroy(made);
    def.is_soft = true;
    made = create(it.system, it.forces, &def);
    start(made, it.state);
    ck_assert_double_eq_tol(tal_follower_forces(made)[0], 9.9998000, 5e-8);
    ck_assert_double_eq_tol(tal_follower_forces(made)[1], 39.999200, 5e-7);
    tal_follower_destroy(made);
    free_slider(&it);
}

END_TEST

// An error e0 at rest with kp 100, kv 20: e0 (1 + 10 t) exp(-10 t). Windows of 0.1 ms hold the
// feedback for that time, which delays it: the error of that is of the order of kv T = 0.2 %.
START_TEST(an_error_dies_out_as_its_gains_say)
{
    slider it = make_slider();
    double a = 0.0;
    tal_follower_task task = tal_follower_task_default();
    task.mobility = (tal_mobility){it.body, 0};
    tal_follower_def def = tal_follower_def_default();
    def.tasks = &task;
    def.num_tasks = 1;
    def.calc_desired = fall;
    def.context = &a;
    def.window = 1e-4;
    tal_follower *made = create(it.system, it.forces, &def);
    start(made, it.state);
    (void)tal_body_set_q(it.matter, it.state, it.body, 0, -0.01);
    for (int k = 0; k < 1000; ++k) {
        step(made, it.state);
    }
    double e, speed;
    ck_assert_int_eq(tal_follower_calc_errors(made, it.state, &e, &speed), TAL_OK);
    ck_assert_double_eq_tol(tal_state_t(it.state), 0.1, 1e-12);
    ck_assert_double_eq_tol(e, 0.0073575888, 0.004 * 0.0073575888);
    ck_assert_double_eq_tol(speed, -0.01 * 100.0 * 0.1 * exp(-1.0), 0.004 * 0.0368);
    tal_follower_destroy(made);
    free_slider(&it);
}

END_TEST

// A bound that one motor meets leaves the rest to the other; both: what is missing is said.
START_TEST(what_the_actuators_cannot_do_is_said)
{
    slider it = make_slider();
    double a = 50.0;
    tal_follower_task task = tal_follower_task_default();
    task.mobility = (tal_mobility){it.body, 0};
    tal_follower_def def = tal_follower_def_default();
    def.tasks = &task;
    def.num_tasks = 1;
    def.calc_desired = fall;
    def.context = &a;
    tal_follower *made = create(it.system, it.forces, &def);
    (void)tal_actuator_set_control_range(it.forces, it.state, it.motor[0], -0.05, 0.05);
    start(made, it.state);
    ck_assert_double_eq_tol(tal_follower_forces(made)[0], 5.0, 1e-12);
    ck_assert_double_eq_tol(tal_follower_forces(made)[1], 45.0, 1e-12);
    (void)tal_actuator_set_control_range(it.forces, it.state, it.motor[1], -0.1, 0.1);
    ck_assert_int_eq(tal_follower_step(made, it.state), TAL_ERR_INFEASIBLE);
    ck_assert_double_eq_tol(tal_follower_report(made).lack, 25.0, 1e-9);
    ck_assert_int_eq(tal_follower_report(made).task, 0);
    ck_assert_double_eq_tol(tal_state_t(it.state), 0.01, 1e-14); // the window is complete
    ck_assert_ptr_nonnull(strstr(tal_follower_error(made)->message, "lacks 25"));
    tal_follower_destroy(made);
    free_slider(&it);
}

END_TEST

// --- the leg ---

enum {
    JOINTS = 3
};

static const double middle[] = {0.25, -0.6, 0.05}, swing[] = {0.3, 0.35, 0.12},
                    delay[] = {0.0, 0.8, 1.7};

static const double period = 1.2; // s

// Hip, knee and ankle swing as in a slow step.
static tal_status walk(void *context, double t, double q[], double u[], double udot[])
{
    (void)context;
    const double w = 2.0 * pi / period;
    for (int k = 0; k < JOINTS; ++k) {
        q[k] = middle[k] + swing[k] * sin(w * t - delay[k]);
        u[k] = w * swing[k] * cos(w * t - delay[k]);
        udot[k] = -w * w * swing[k] * sin(w * t - delay[k]);
    }
    return TAL_OK;
}

static leg make_leg(tal_muscle_model model, bool rigid)
{
    leg it = leg_begin();
    leg_add_muscles(&it, model, rigid);
    leg_finish(&it);
    return it;
}

static tal_follower *follow_walk(const leg *it, tal_follower_task tasks[JOINTS])
{
    tal_follower_def def = tal_follower_def_default();
    for (int k = 0; k < JOINTS; ++k) {
        tasks[k] = tal_follower_task_default();
        tasks[k].mobility = (tal_mobility){it->body[k + 1], 0};
    }
    def.tasks = tasks;
    def.num_tasks = JOINTS;
    def.calc_desired = walk;
    return create(it->system, it->forces, &def);
}

static double worst_angle(tal_follower *made, const tal_state *state)
{
    double e[JOINTS], worst = 0.0;
    ck_assert_int_eq(tal_follower_calc_errors(made, state, e, NULL), TAL_OK);
    for (int k = 0; k < JOINTS; ++k) {
        worst = fmax(worst, fabs(e[k]) * 180.0 / pi);
    }
    return worst;
}

enum {
    WINDOWS = 110
};

// Muscles lead the leg along a walk within half a degree; their excitations alone, from the same
// State, within one degree, over most of a stride.
START_TEST(muscles_follow_a_walk_and_their_excitations_repeat_it)
{
    static const tal_muscle_model models[] = {TAL_MUSCLE_THELEN, TAL_MUSCLE_MILLARD,
                                              TAL_MUSCLE_DEGROOTE, TAL_MUSCLE_MILLARD};
    const bool rigid = _i == 3;
    leg it = make_leg(models[_i], rigid);
    tal_follower_task tasks[JOINTS];
    tal_follower *made = follow_walk(&it, tasks);
    tal_state *replay = NULL;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tal_state_create(it.system, &replay, &err), TAL_OK);
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = 1e-7;
    tal_integrator *integ = NULL;
    ck_assert_int_eq(tal_integrator_create(it.system, &def, &integ, &err), TAL_OK);
    start(made, it.state);
    ck_assert_double_eq_tol(tal_state_t(it.state), 0.03, 1e-14);
    ck_assert_int_eq(tal_state_copy(replay, it.state), TAL_OK);
    double worst = 0.0, worst_replay = 0.0;
    for (int k = 0; k < WINDOWS; ++k) {
        step(made, it.state);
        worst = fmax(worst, worst_angle(made, it.state));
        for (int j = 0; j < LEG_MUSCLES; ++j) {
            const double x = tal_follower_controls(made)[j];
            ck_assert(x >= 0.02 && x <= 1.0);
            (void)tal_actuator_set_control(it.forces, replay, it.muscle[j], x);
        }
        ck_assert_int_eq(tal_integrator_step_to(integ, replay, tal_state_t(it.state)), TAL_OK);
        worst_replay = fmax(worst_replay, worst_angle(made, replay));
    }
    ck_assert_double_lt(worst, 0.5);
    ck_assert_double_lt(worst_replay, 1.0);
    tal_integrator_destroy(integ);
    tal_state_destroy(replay);
    tal_follower_destroy(made);
    leg_end(&it);
}

END_TEST

// The excitation that the study finds leads to the force it wants: both are integrations of one
// muscle, once alone and once in the model.
START_TEST(excitations_lead_to_the_forces_wanted)
{
    leg it = make_leg(TAL_MUSCLE_THELEN, false);
    tal_follower_task tasks[JOINTS];
    tal_follower *made = follow_walk(&it, tasks);
    start(made, it.state);
    for (int k = 0; k < 5; ++k) {
        step(made, it.state);
        for (int j = 0; j < LEG_MUSCLES; ++j) {
            const double wanted = tal_follower_forces(made)[j];
            const double pulls =
                tal_muscle_calc_output(it.forces, it.state, it.muscle[j], TAL_MUSCLE_TENSION);
            // the motion that was foreseen is off by less than 1e-4 rad; tendons have some
            // 1e6 N/m, muscles arms of some 0.05 m
            ck_assert_double_eq_tol(pulls, wanted, 10.0);
        }
    }
    tal_follower_destroy(made);
    leg_end(&it);
}

END_TEST

START_TEST(windows_allocate_nothing_and_repeat_their_bytes)
{
    leg it = make_leg(TAL_MUSCLE_MILLARD, false);
    tal_follower_task tasks[JOINTS];
    tal_follower *made = follow_walk(&it, tasks);
    tal_state *first = NULL;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tal_state_create(it.system, &first, &err), TAL_OK);
    for (int pass = 0; pass < 2; ++pass) {
        (void)tal_state_set_t(it.state, 0.0);
        tal_status st;
        test_assert_no_heap(st = tal_follower_start(made, it.state));
        ck_assert_int_eq(st, TAL_OK);
        for (int k = 0; k < 3; ++k) {
            test_assert_no_heap(st = tal_follower_step(made, it.state));
            ck_assert_int_eq(st, TAL_OK);
        }
        if (pass == 0) ck_assert_int_eq(tal_state_copy(first, it.state), TAL_OK);
    }
    for (int k = 0; k < tal_state_nq(it.state); ++k) {
        ck_assert_double_eq(tal_state_q(it.state)[k], tal_state_q(first)[k]);
        ck_assert_double_eq(tal_state_u(it.state)[k], tal_state_u(first)[k]);
    }
    tal_state_destroy(first);
    tal_follower_destroy(made);
    leg_end(&it);
}

END_TEST

// --- definitions ---

START_TEST(definitions_that_make_no_sense_are_refused_by_name)
{
    slider it = make_slider();
    double a = 0.0;
    tal_follower_task tasks[2] = {tal_follower_task_default(), tal_follower_task_default()};
    tasks[0].mobility = tasks[1].mobility = (tal_mobility){it.body, 0};
    tal_follower_def def = tal_follower_def_default();
    tal_follower *made = NULL;
    tal_error err = {TAL_OK, "", ""};
    err = (tal_error){TAL_OK, "", ""};
    ck_assert_int_eq(tal_follower_create(it.system, it.forces, &def, &made, &err), TAL_ERR_NULL);
    def.calc_desired = fall;
    def.context = &a;
    def.tasks = tasks;
    def.num_tasks = 2;
    err = (tal_error){TAL_OK, "", ""};
    ck_assert_int_eq(tal_follower_create(it.system, it.forces, &def, &made, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(err.message, "tasks 0 and 1 are about the same speed");
    def.num_tasks = 1;
    tasks[0].mobility.i = 3;
    err = (tal_error){TAL_OK, "", ""};
    ck_assert_int_eq(tal_follower_create(it.system, it.forces, &def, &made, &err),
                     TAL_ERR_BAD_INDEX);
    tasks[0].mobility.i = 0;
    tasks[0].weight = 0.0;
    err = (tal_error){TAL_OK, "", ""};
    ck_assert_int_eq(tal_follower_create(it.system, it.forces, &def, &made, &err),
                     TAL_ERR_BAD_VALUE);
    tasks[0].weight = 1.0;
    def.window = (double)NAN;
    err = (tal_error){TAL_OK, "", ""};
    ck_assert_int_eq(tal_follower_create(it.system, it.forces, &def, &made, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_null(made);
    free_slider(&it);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/follower");
    TCase *tc = tcase_create("follower");
    tcase_set_timeout(tc, 60.0);
    tcase_add_test(tc, motors_share_an_acceleration_by_the_squares_of_their_gains);
    tcase_add_test(tc, an_error_dies_out_as_its_gains_say);
    tcase_add_test(tc, what_the_actuators_cannot_do_is_said);
    tcase_add_loop_test(tc, muscles_follow_a_walk_and_their_excitations_repeat_it, 0, 4);
    tcase_add_test(tc, excitations_lead_to_the_forces_wanted);
    tcase_add_test(tc, windows_allocate_nothing_and_repeat_their_bytes);
    tcase_add_test(tc, definitions_that_make_no_sense_are_refused_by_name);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
