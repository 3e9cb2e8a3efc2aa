// Tests for study/src/muscle/static_optimizer.c: the least effort that makes a motion.
#include "alloc_guard.h"
#include "muscle/leg_support.h"

#include <math.h>

enum {
    MOST = 24
};

static tal_static_optimizer *create(const leg *it, const tal_static_optimizer_def *def)
{
    tal_error err = {TAL_OK, "", ""};
    tal_static_optimizer *made = NULL;
    const tal_status st = tal_static_optimizer_create(it->system, it->forces, def, &made, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return made;
}

static void put(const leg *it, test_rng *rng, double udot[3])
{
    static const double low[] = {-0.3, -1.0, -0.3}, high[] = {0.9, -0.1, 0.3};
    for (int b = 1; b < 4; ++b) {
        const double q = test_random_uniform(rng, low[b - 1], high[b - 1]);
        (void)tal_body_set_q(it->matter, it->state, it->body[b], 0, q);
        (void)tal_body_set_u(it->matter, it->state, it->body[b], 0,
                             test_random_uniform(rng, -1.0, 1.0));
        udot[b - 1] = test_random_uniform(rng, -8.0, 8.0);
    }
}

// udot of the State when muscles pull with these forces: the whole model, by another way.
static void replay(const leg *it, const tal_static_optimizer *made, const double x[],
                   const double force[], double udot[], int nu)
{
    for (int j = 0; j < tal_static_optimizer_num(made); ++j) {
        int part;
        const tal_force_ix at = tal_static_optimizer_actuator(made, j, &part);
        if (tal_force_is_muscle(it->forces, at)) {
            (void)tal_muscle_override(it->forces, it->state, at, force[j]);
        } else if (tal_force_has_control(it->forces, at)) {
            (void)tal_actuator_set_control(it->forces, it->state, at, x[j]);
        } else {
            (void)tal_force_set_param(it->forces, it->state, at, TAL_BODY_ACTUATOR_CONTROL + part,
                                      x[j]);
        }
    }
    const tal_status st = tal_system_realize(it->system, it->state, TAL_STAGE_ACCELERATION);
    ck_assert_msg(st == TAL_OK, "%s", tal_state_error(it->state)->message);
    memcpy(udot, tal_state_udot(it->state), (size_t)nu * sizeof *udot);
}

// --- closed forms ---

// Two muscles of equal arms and strengths a1, a2 that pull alone: x_j = tau a_j / (a1^2 + a2^2).
START_TEST(two_muscles_share_a_moment_in_proportion_to_their_strengths)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass.mass = 1.0;
    bob.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
    const tal_body_ix body = tal_matter_add_pin(matter, TAL_GROUND, &bob);
    const double gain[] = {3.0, 4.0};
    tal_force_ix motors[2];
    for (int k = 0; k < 2; ++k) {
        motors[k] = tal_forces_add_mobility_actuator(forces, NULL, (tal_mobility){body, 0}, gain[k],
                                                     (tal_measure_ix){-1});
    }
    tal_error err = {TAL_OK, "", ""};
    tal_state *state = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, &err), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, &err), TAL_OK);
    tal_static_optimizer *made = NULL;
    ck_assert_int_eq(tal_static_optimizer_create(system, forces, NULL, &made, &err), TAL_OK);
    const double udot = 2.0; // the moment is 2: inertia 1, no gravity
    double x[2], force[2];
    tal_static_frame frame;
    ck_assert_int_eq(tal_static_optimizer_solve(made, state, &udot, x, force, NULL, &frame),
                     TAL_OK);
    for (int k = 0; k < 2; ++k) {
        ck_assert_double_eq_tol(x[k], 2.0 * gain[k] / 25.0, 1e-15);
        ck_assert_double_eq_tol(force[k], x[k] * gain[k], 1e-15);
        ck_assert_int_eq(tal_static_optimizer_actuator(made, k, NULL).i, motors[k].i);
    }
    ck_assert_double_eq_tol(frame.effort, x[0] * x[0] + x[1] * x[1], 1e-15);
    ck_assert_int_eq(frame.num_rows, 1);
    ck_assert_int_eq(frame.speed, -1);
    // the weaker one at a bound: the other one takes the rest
    (void)tal_actuator_set_control_range(forces, state, motors[0], -0.1, 0.1);
    ck_assert_int_eq(tal_static_optimizer_solve(made, state, &udot, x, NULL, NULL, NULL), TAL_OK);
    ck_assert_double_eq(x[0], 0.1);
    ck_assert_double_eq_tol(x[1], 1.7 / 4.0, 1e-15);
    tal_static_optimizer_destroy(made);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

END_TEST

// --- the conditions of the best answer, from moment arms and strengths ---

// lambda of the muscles between their bounds, by least squares, then every condition of
// talus/common/effort.h; errors over the largest |p x^(p-1)|.
static double worst_condition(const leg *it, const tal_static_optimizer *made, double p,
                              const double x[])
{
    const int n = tal_static_optimizer_num(made);
    double A[3 * MOST], inside[3 * MOST], grad[MOST], work[400], lambda[3 * MOST];
    int iwork[100], count = 0;
    for (int j = 0; j < n; ++j) {
        const tal_force_ix at = tal_static_optimizer_actuator(made, j, NULL);
        const double f = tal_muscle_calc_strength(it->forces, it->state, at);
        const tal_path_ix path = tal_muscle_path(it->forces, at);
        ck_assert_int_eq(tal_path_calc_generalized(it->forces, it->state, path, A + 3 * j), TAL_OK);
        grad[j] = p * pow(x[j], p - 1.0);
        for (int i = 0; i < 3; ++i) {
            A[3 * j + i] *= f;
        }
        if (x[j] > 0.0 && x[j] < 1.0) count++;
    }
    ck_assert_int_ge(count, 3);
    for (int j = 0, k = 0; j < n; ++j) {
        if (x[j] <= 0.0 || x[j] >= 1.0) continue;
        for (int i = 0; i < 3; ++i) {
            inside[k + count * i] = A[3 * j + i];
        }
        lambda[k++] = grad[j];
    }
    tal_cod cod;
    ck_assert_int_eq(
        tal_cod_factor(&cod, tal_matrix_view(inside, count, 3), 1e-12, work, iwork, NULL), TAL_OK);
    const tal_matrix B = tal_matrix_view(lambda, count, 1);
    double found[3];
    ck_assert_int_eq(tal_cod_solve(&cod, B, tal_matrix_view(found, 3, 1), NULL), TAL_OK);
    double worst = 0.0, size = 0.0;
    for (int j = 0; j < n; ++j) {
        double error = grad[j];
        for (int i = 0; i < 3; ++i) {
            error -= A[3 * j + i] * found[i];
        }
        if (x[j] <= 0.0) error = fmin(error, 0.0);
        if (x[j] >= 1.0) error = fmax(error, 0.0);
        worst = fmax(worst, fabs(error));
        size = fmax(size, fabs(grad[j]));
    }
    return worst / size;
}

static const struct {
    tal_muscle_model model;
    bool rigid;
    double p;
} kinds[] = {{TAL_MUSCLE_THELEN, false, 2.0},
             {TAL_MUSCLE_MILLARD, true, 2.0},
             {TAL_MUSCLE_DEGROOTE, false, 2.0},
             {TAL_MUSCLE_MILLARD, false, 3.0}};

// Two proofs at random frames: the whole model, with these forces, accelerates as asked; and no
// other x is better. 1e-10 is the accuracy promised; udot of 8 rad/s^2 carries round-off of some
// 1e-13 through the mass matrix, whose condition number is below 1000.
START_TEST(muscles_make_the_motion_and_no_other_way_is_easier)
{
    leg it = leg_begin();
    leg_add_muscles(&it, kinds[_i].model, kinds[_i].rigid);
    (void)tal_forces_add_mobility_damper(it.forces, NULL, (tal_mobility){it.body[LEG_SHANK], 0},
                                         0.5);
    leg_finish(&it);
    tal_static_optimizer_def def = tal_static_optimizer_def_default();
    def.exponent = kinds[_i].p;
    tal_static_optimizer *made = create(&it, &def);
    test_rng rng = test_rng_seed(11 + (uint64_t)_i);
    int solved = 0;
    for (int k = 0; k < 60; ++k) {
        double udot[3], x[LEG_MUSCLES], force[LEG_MUSCLES], lack[3], got[3];
        tal_static_frame frame;
        put(&it, &rng, udot);
        const tal_status st =
            tal_static_optimizer_solve(made, it.state, udot, x, force, lack, &frame);
        if (st == TAL_ERR_INFEASIBLE) continue;
        ck_assert_msg(st == TAL_OK, "%s", tal_static_optimizer_error(made)->message);
        ck_assert_double_le(frame.report.stationarity, 1e-10);
        ck_assert_double_le(frame.report.residual, 1e-10);
        replay(&it, made, x, force, got, 3);
        for (int i = 0; i < 3; ++i) {
            ck_assert_double_eq_tol(got[i], udot[i], 1e-10);
            ck_assert_double_eq(lack[i], 0.0);
        }
        int inside = 0;
        for (int j = 0; j < LEG_MUSCLES; ++j) {
            inside += x[j] > 0.0 && x[j] < 1.0;
        }
        if (inside >= 3) {
            ck_assert_double_le(worst_condition(&it, made, kinds[_i].p, x), 1e-10);
            solved++;
        }
    }
    ck_assert_int_ge(solved, 30);
    tal_static_optimizer_destroy(made);
    leg_end(&it);
}

END_TEST

// --- other actuators, and constraints ---

// A free body with one of each: reserves of six kinds move it as asked.
START_TEST(every_kind_of_actuator_takes_part)
{
    leg it = leg_begin();
    leg_add_muscles(&it, TAL_MUSCLE_THELEN, false);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_cylinder(2.0, 0.1, 0.2, TAL_AXIS_X);
    const tal_body_ix box = tal_matter_add_free(it.matter, TAL_GROUND, &def);
    const tal_measure_ix none = {-1};
    const tal_thrust thrust = {box, {0.1, 0.0, 0.05}, true};
    (void)tal_forces_add_body_actuator(it.forces, "thrust", &thrust, 30.0, none);
    const tal_push push = {box, {0.0, 0.1, 0.0}, {1.0, 2.0, 0.5}, true, false};
    (void)tal_forces_add_point_actuator(it.forces, "push", &push, 5.0, none);
    const tal_twist twist = {it.body[LEG_SHANK], box, {0.3, 1.0, 0.0}, false};
    (void)tal_forces_add_torque_actuator(it.forces, "twist", &twist, 4.0, none);
    const tal_force_ix knee = tal_forces_add_mobility_actuator(
        it.forces, "reserve", (tal_mobility){it.body[LEG_SHANK], 0}, 20.0, none);
    tal_function *wave = NULL; // a controller that adds to the control
    ck_assert_int_eq(tal_function_create_constant(NULL, 0.7, 1, &wave, NULL), TAL_OK);
    (void)tal_forces_add_function_controller(it.forces, "offset", &knee, &wave, 1);
    leg_finish(&it);
    tal_static_optimizer *made = create(&it, NULL);
    ck_assert_int_eq(tal_static_optimizer_num(made), LEG_MUSCLES + 6 + 3);
    double udot[9], x[LEG_MUSCLES + 9], force[LEG_MUSCLES + 9], got[9];
    test_rng rng = test_rng_seed(5);
    put(&it, &rng, udot);
    for (int i = 3; i < 9; ++i) {
        udot[i] = test_random_uniform(&rng, -3.0, 3.0);
    }
    const tal_status st = tal_static_optimizer_solve(made, it.state, udot, x, force, NULL, NULL);
    ck_assert_msg(st == TAL_OK, "%s", tal_static_optimizer_error(made)->message);
    const int last = LEG_MUSCLES + 6 + 2;
    ck_assert_int_eq(tal_static_optimizer_actuator(made, last, NULL).i, knee.i);
    ck_assert_double_eq_tol(force[last], 20.0 * x[last], 1e-12);
    // the controller adds 0.7 to what is set
    x[last] -= 0.7;
    replay(&it, made, x, force, got, 9);
    for (int i = 0; i < 9; ++i) {
        ck_assert_double_eq_tol(got[i], udot[i], 1e-10);
    }
    tal_static_optimizer_destroy(made);
    leg_end(&it);
}

END_TEST

// A kneecap that slides as the knee bends: s = 1.5 q + 0.2 q^2. Its own udot is not asked for,
// and its constraint force is found by nobody.
START_TEST(a_coupled_coordinate_follows_its_constraint)
{
    leg it = leg_begin();
    leg_add_muscles(&it, TAL_MUSCLE_THELEN, false);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 0.1;
    const tal_body_ix cap = tal_matter_add_slider(it.matter, it.body[LEG_THIGH], &def);
    tal_constraint_def with = tal_constraint_def_default();
    with.mobilities[0] = (tal_mobility){it.body[LEG_SHANK], 0};
    with.mobilities[1] = (tal_mobility){cap, 0};
    with.num_mobilities = 2;
    const double coefficients[] = {1.5, 0.2, -1.0};
    const int powers[] = {1, 0, 2, 0, 0, 1};
    tal_function *f = NULL;
    ck_assert_int_eq(
        tal_function_create_multivariate_polynomial(NULL, coefficients, powers, 3, 2, &f, NULL),
        TAL_OK);
    (void)tal_constraint_add_coordinate_coupler(it.matter, &with, f);
    leg_finish(&it);
    const int slot = tal_body_u_start(it.matter, cap);
    bool dependent[4] = {false};
    dependent[slot] = true;
    tal_static_optimizer_def how = tal_static_optimizer_def_default();
    how.dependent = dependent;
    tal_static_optimizer *made = create(&it, &how);
    test_rng rng = test_rng_seed(3);
    double udot[4], x[LEG_MUSCLES], force[LEG_MUSCLES], got[4], lack[4];
    put(&it, &rng, udot);
    const double q = tal_body_q(it.matter, it.state, it.body[LEG_SHANK], 0);
    const double u = tal_body_u(it.matter, it.state, it.body[LEG_SHANK], 0);
    (void)tal_body_set_q(it.matter, it.state, cap, 0, 1.5 * q + 0.2 * q * q);
    (void)tal_body_set_u(it.matter, it.state, cap, 0, (1.5 + 0.4 * q) * u);
    udot[slot] = 1e3; // nonsense
    tal_static_frame frame;
    const tal_status st = tal_static_optimizer_solve(made, it.state, udot, x, force, lack, &frame);
    ck_assert_msg(st == TAL_OK, "%s", tal_static_optimizer_error(made)->message);
    ck_assert_int_eq(frame.num_rows, 3);
    replay(&it, made, x, force, got, 4);
    const int knee = tal_body_u_start(it.matter, it.body[LEG_SHANK]);
    udot[slot] = (1.5 + 0.4 * q) * udot[knee] + 0.4 * u * u;
    for (int i = 0; i < 4; ++i) {
        ck_assert_double_eq_tol(got[i], udot[i], 1e-10);
    }
    // without the hint the knee may be the dependent one, but udot that fit give the same forces
    tal_static_optimizer *plain = create(&it, NULL);
    double again[LEG_MUSCLES];
    ck_assert_int_eq(tal_static_optimizer_solve(plain, it.state, udot, again, NULL, NULL, NULL),
                     TAL_OK);
    for (int j = 0; j < LEG_MUSCLES; ++j) {
        ck_assert_double_eq_tol(again[j], x[j], 1e-10);
    }
    // a locked knee has no equation
    ck_assert_int_eq(tal_body_lock(it.matter, it.state, it.body[LEG_SHANK], TAL_LEVEL_POSITION),
                     TAL_OK);
    ck_assert_int_eq(tal_static_optimizer_solve(made, it.state, udot, x, NULL, NULL, &frame),
                     TAL_OK);
    ck_assert_int_eq(frame.num_rows, 2);
    tal_static_optimizer_destroy(plain);
    tal_static_optimizer_destroy(made);
    leg_end(&it);
}

END_TEST

// --- muscles that are too weak ---

// All muscles that extend the knee at their bounds: the lack is what remains.
START_TEST(a_frame_that_is_too_much_says_which_coordinate_lacks_how_much)
{
    leg it = leg_begin();
    leg_add_muscles(&it, TAL_MUSCLE_MILLARD, true);
    leg_finish(&it);
    tal_static_optimizer *made = create(&it, NULL);
    (void)tal_body_set_q(it.matter, it.state, it.body[LEG_SHANK], 0, -0.5);
    const double udot[] = {0.0, 1e5, 0.0};
    double x[LEG_MUSCLES], force[LEG_MUSCLES], lack[3], got[3], needed[3];
    tal_static_frame frame;
    ck_assert_int_eq(tal_static_optimizer_solve(made, it.state, udot, x, force, lack, &frame),
                     TAL_ERR_INFEASIBLE);
    const tal_error *err = tal_static_optimizer_error(made);
    const char *const names[] = {"'hip'", "'knee'", "'ankle'"};
    ck_assert_int_ge(frame.speed, 0);
    ck_assert_msg(strstr(err->message, names[frame.speed]) != NULL, "%s", err->message);
    ck_assert_double_eq(frame.lack, lack[frame.speed]);
    ck_assert_double_gt(fabs(lack[frame.speed]), 1.0);
    // M (udot - got) = lack
    replay(&it, made, x, force, got, 3);
    for (int i = 0; i < 3; ++i) {
        got[i] = udot[i] - got[i];
    }
    ck_assert_int_eq(tal_matter_mul_M(it.matter, it.state, got, needed), TAL_OK);
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq_tol(needed[i], lack[i], 1e-10 * 1e5);
    }
    // the next frame is not spoiled
    const double rest[] = {0.0, 0.0, 0.0};
    ck_assert_int_eq(tal_static_optimizer_solve(made, it.state, rest, x, NULL, lack, &frame),
                     TAL_OK);
    ck_assert_int_eq(frame.speed, -1);
    ck_assert_double_eq(lack[1], 0.0);
    tal_static_optimizer_destroy(made);
    leg_end(&it);
}

END_TEST

START_TEST(a_disabled_muscle_does_nothing)
{
    leg it = leg_begin();
    leg_add_muscles(&it, TAL_MUSCLE_THELEN, false);
    leg_finish(&it);
    tal_static_optimizer *made = create(&it, NULL);
    double udot[3], x[LEG_MUSCLES], force[LEG_MUSCLES], got[3];
    test_rng rng = test_rng_seed(8);
    put(&it, &rng, udot);
    ck_assert_int_eq(tal_force_set_enabled(it.forces, it.state, it.muscle[0], false), TAL_OK);
    ck_assert_int_eq(tal_static_optimizer_solve(made, it.state, udot, x, force, NULL, NULL),
                     TAL_OK);
    ck_assert_double_eq(force[0], 0.0);
    replay(&it, made, x, force, got, 3);
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq_tol(got[i], udot[i], 1e-10);
    }
    tal_static_optimizer_destroy(made);
    leg_end(&it);
}

END_TEST

// Without physiology a muscle is as strong as F0 wherever it is.
START_TEST(strengths_can_be_isometric)
{
    leg it = leg_begin();
    leg_add_muscles(&it, TAL_MUSCLE_THELEN, false);
    leg_finish(&it);
    tal_static_optimizer_def def = tal_static_optimizer_def_default();
    def.no_physiology = true;
    tal_static_optimizer *made = create(&it, &def);
    double udot[3], x[LEG_MUSCLES], force[LEG_MUSCLES];
    test_rng rng = test_rng_seed(9);
    put(&it, &rng, udot);
    ck_assert_int_eq(tal_static_optimizer_solve(made, it.state, udot, x, force, NULL, NULL),
                     TAL_OK);
    for (int j = 0; j < LEG_MUSCLES; ++j) {
        ck_assert_double_eq_tol(force[j], x[j] * leg_muscles[j].F0, 1e-9);
    }
    tal_static_optimizer_destroy(made);
    leg_end(&it);
}

END_TEST

// F0 fal fv cos(alpha) where the muscle is rigid: what its own outputs say at full activation.
START_TEST(the_strength_is_the_active_force_of_a_rigid_tendon)
{
    leg rigid = leg_begin(), elastic = leg_begin();
    leg_add_muscles(&rigid, TAL_MUSCLE_THELEN, true);
    leg_add_muscles(&elastic, TAL_MUSCLE_THELEN, false);
    leg_finish(&rigid);
    leg_finish(&elastic);
    double udot[3];
    test_rng rng = test_rng_seed(2), same = test_rng_seed(2);
    put(&rigid, &rng, udot);
    put(&elastic, &same, udot);
    for (int m = 0; m < LEG_MUSCLES; ++m) {
        (void)tal_muscle_set_activation(rigid.forces, rigid.state, rigid.muscle[m], 1.0);
    }
    ck_assert_int_eq(tal_system_realize(rigid.system, rigid.state, TAL_STAGE_VELOCITY), TAL_OK);
    ck_assert_int_eq(tal_system_realize(elastic.system, elastic.state, TAL_STAGE_VELOCITY), TAL_OK);
    for (int m = 0; m < LEG_MUSCLES; ++m) {
        const double f = tal_muscle_calc_strength(elastic.forces, elastic.state, elastic.muscle[m]);
        const double active = tal_muscle_calc_output(rigid.forces, rigid.state, rigid.muscle[m],
                                                     TAL_MUSCLE_ACTIVE_FIBER_FORCE_ALONG_TENDON);
        ck_assert_double_eq_tol(f, active, 1e-12 * leg_muscles[m].F0);
        ck_assert_double_gt(f, 0.0);
    }
    leg_end(&rigid);
    leg_end(&elastic);
}

END_TEST

// --- promises ---

START_TEST(nothing_allocates_and_a_restart_repeats_the_bytes)
{
    leg it = leg_begin();
    leg_add_muscles(&it, TAL_MUSCLE_MILLARD, false);
    leg_finish(&it);
    tal_static_optimizer *made = create(&it, NULL);
    double udot[3], x[LEG_MUSCLES], again[LEG_MUSCLES];
    test_rng rng = test_rng_seed(4);
    put(&it, &rng, udot);
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_static_optimizer_solve(made, it.state, udot, x, NULL, NULL, NULL));
    ck_assert_int_eq(st, TAL_OK);
    tal_static_optimizer_restart(made);
    ck_assert_int_eq(tal_static_optimizer_solve(made, it.state, udot, again, NULL, NULL, NULL),
                     TAL_OK);
    ck_assert_mem_eq(x, again, sizeof x);
    tal_static_optimizer_destroy(made);
    leg_end(&it);
}

END_TEST

static void refuse(const leg *it, const tal_static_optimizer_def *def, tal_status expected,
                   const char *part)
{
    tal_error err = {TAL_OK, "", ""};
    tal_static_optimizer *made = NULL;
    ck_assert_int_eq(tal_static_optimizer_create(it->system, it->forces, def, &made, &err),
                     expected);
    ck_assert_ptr_null(made);
    ck_assert_msg(strstr(err.message, part) != NULL, "'%s' lacks '%s'", err.message, part);
}

START_TEST(what_cannot_be_is_refused_by_name)
{
    leg it = leg_begin();
    leg_add_muscles(&it, TAL_MUSCLE_THELEN, false);
    leg_finish(&it);
    tal_static_optimizer_def def = tal_static_optimizer_def_default();
    def.exponent = 1.0;
    refuse(&it, &def, TAL_ERR_BAD_VALUE, "exponent is 1");
    def = tal_static_optimizer_def_default();
    const tal_force_ix twice[] = {it.muscle[3], it.muscle[3]};
    def.actuators = twice;
    def.num_actuators = 2;
    refuse(&it, &def, TAL_ERR_BAD_VALUE, "'rectus' is named twice");
    const tal_force_ix gravity[] = {tal_forces_find(it.forces, "gravity")};
    def.actuators = gravity;
    def.num_actuators = 1;
    refuse(&it, &def, gravity[0].i >= 0 ? TAL_ERR_BAD_VALUE : TAL_ERR_BAD_INDEX, "");
    const tal_force_ix missing[] = {{99}};
    def.actuators = missing;
    refuse(&it, &def, TAL_ERR_BAD_INDEX, "99");
    def.num_actuators = 0;
    refuse(&it, &def, TAL_ERR_BAD_VALUE, "no muscle and no actuator");
    leg other = leg_begin();
    leg_finish(&other);
    refuse(&other, NULL, TAL_ERR_BAD_VALUE, "no muscle and no actuator");
    tal_error err = {TAL_OK, "", ""};
    tal_static_optimizer *made = NULL;
    ck_assert_int_eq(tal_static_optimizer_create(other.system, it.forces, NULL, &made, &err),
                     TAL_ERR_BAD_VALUE);
    made = create(&it, NULL);
    const double udot[] = {0.0, (double)NAN, 0.0};
    double x[LEG_MUSCLES];
    ck_assert_int_eq(tal_static_optimizer_solve(made, it.state, udot, x, NULL, NULL, NULL),
                     TAL_ERR_NOT_FINITE);
    test_assert_refused(tal_static_optimizer_solve(NULL, it.state, udot, x, NULL, NULL, NULL),
                        TAL_ERR_NULL, "study");
    tal_static_optimizer_destroy(made);
    leg_end(&other);
    leg_end(&it);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/static_optimizer");
    TCase *tc = tcase_create("static_optimizer");
    tcase_add_test(tc, two_muscles_share_a_moment_in_proportion_to_their_strengths);
    tcase_add_loop_test(tc, muscles_make_the_motion_and_no_other_way_is_easier, 0, 4);
    tcase_add_test(tc, every_kind_of_actuator_takes_part);
    tcase_add_test(tc, a_coupled_coordinate_follows_its_constraint);
    tcase_add_test(tc, a_frame_that_is_too_much_says_which_coordinate_lacks_how_much);
    tcase_add_test(tc, a_disabled_muscle_does_nothing);
    tcase_add_test(tc, strengths_can_be_isometric);
    tcase_add_test(tc, the_strength_is_the_active_force_of_a_rigid_tendon);
    tcase_add_test(tc, nothing_allocates_and_a_restart_repeats_the_bytes);
    tcase_add_test(tc, what_cannot_be_is_refused_by_name);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
