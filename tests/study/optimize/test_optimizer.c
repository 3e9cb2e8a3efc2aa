// study/src/optimize: optimal control by collocation, against closed forms and known solutions.
#include "neighbor.h"
#include "talus_test.h"

#include <talus/study/optimizer.h>

// A System with one actuator on each of its mobilities.
typedef struct control_case {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_body_ix body[3];
    tal_force_ix actuator;
    double most; // of its control
    tal_state *state;
    tal_optimizer_def def;
    tal_optimizer *optimizer;
    tal_optimizer_report report;
} control_case;

static void begin(control_case *c)
{
    memset(c, 0, sizeof *c);
    c->system = tal_system_create(NULL);
    c->matter = tal_matter_create(c->system);
    c->forces = tal_forces_create(c->system, c->matter);
    c->def = tal_optimizer_def_default();
}

static void drive(control_case *c, tal_body_ix body, double most)
{
    c->most = most;
    c->actuator = tal_forces_add_mobility_actuator(c->forces, "motor", (tal_mobility){body, 0}, 1.0,
                                                   (tal_measure_ix){-1});
}

static void finish(control_case *c)
{
    tal_error err = {.status = TAL_OK};
    ck_assert_msg(tal_system_realize_topology(c->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(c->system, &c->state, &err), TAL_OK);
    if (c->most > 0.0) {
        (void)tal_actuator_set_control_range(c->forces, c->state, c->actuator, -c->most, c->most);
    }
    ck_assert_msg(tal_optimizer_create(c->system, c->forces, &c->def, &c->optimizer, &err) ==
                      TAL_OK,
                  "%s", err.message);
}

static void run(control_case *c, const tal_optimizer *guess)
{
    const tal_status st = tal_optimizer_run(c->optimizer, c->state, guess, &c->report);
    ck_assert_msg(st == TAL_OK, "%s", tal_optimizer_error(c->optimizer)->message);
}

static void end(control_case *c)
{
    tal_optimizer_destroy(c->optimizer);
    tal_state_destroy(c->state);
    tal_system_destroy(c->system);
}

// A block of 1 kg on a slider, from rest at 0 to rest at 1.
static void make_block(control_case *c, tal_collocation method, int intervals, double most)
{
    begin(c);
    tal_mobod_def block = tal_mobod_def_default();
    block.mass.mass = 1.0;
    c->body[0] = tal_matter_add_slider(c->matter, TAL_GROUND, &block);
    drive(c, c->body[0], most);
    c->def.method = method;
    c->def.intervals = intervals;
    finish(c);
    for (int k = 0; k < 2; ++k) {
        const tal_optimizer_where where = k == 0 ? TAL_OPTIMIZE_START : TAL_OPTIMIZE_END;
        tal_optimizer_bound_q(c->optimizer, c->body[0], 0, where, k, k);
        tal_optimizer_bound_u(c->optimizer, c->body[0], 0, where, 0.0, 0.0);
    }
}

// The least integral of u^2 is 12 m^2 d^2 / T^3, with u linear in time: exactly so with
// Hermite-Simpson, whose polynomials contain it; 12 / (1 - 4/N^2 + 3/N^3) with the trapezoid.
START_TEST(a_block_moves_with_least_effort)
{
    static const int meshes[] = {1, 2, 5, 20};
    for (int k = 0; k < 4; ++k) {
        control_case c;
        make_block(&c, TAL_COLLOCATION_HERMITE_SIMPSON, meshes[k], (double)INFINITY);
        tal_optimizer_add_effort(c.optimizer, 1.0, 2.0);
        run(&c, NULL);
        test_validate("block moved with least effort", "12 m^2 d^2 / T^3", "effort",
                      "Hermite-Simpson", fabs(c.report.nlp.objective - 12.0), 1e-9);
        ck_assert_double_lt(c.report.difference, 1e-8);
        // u = 6 - 12 t, q = 3 t^2 - 2 t^3
        ck_assert_double_eq_tol(tal_optimizer_control(c.optimizer, 0, 0.3), 2.4, 1e-7);
        ck_assert_int_eq(tal_optimizer_interpolate(c.optimizer, 0.3, c.state), TAL_OK);
        ck_assert_double_eq_tol(tal_body_q(c.matter, c.state, c.body[0], 0), 0.216, 1e-8);
        ck_assert_double_eq_tol(tal_body_u(c.matter, c.state, c.body[0], 0), 1.26, 1e-8);
        ck_assert_double_eq(tal_state_t(c.state), 0.3);
        end(&c);
    }
    for (int n = 10; n <= 20; n += 10) {
        control_case c;
        make_block(&c, TAL_COLLOCATION_TRAPEZOID, n, (double)INFINITY);
        tal_optimizer_add_effort(c.optimizer, 1.0, 2.0);
        run(&c, NULL);
        const double exact = 12.0 / (1.0 - 4.0 / (n * n) + 3.0 / ((double)n * n * n));
        test_validate("block moved with least effort", "12 / (1 - 4/N^2 + 3/N^3)", "effort",
                      "trapezoid", fabs(c.report.nlp.objective - exact), 1e-8);
        end(&c);
    }
}

END_TEST

// Full force one way, then the other: T = 2 sqrt(d m / F) = 2 with an even number of intervals.
START_TEST(a_block_moves_in_least_time)
{
    control_case c;
    make_block(&c, TAL_COLLOCATION_HERMITE_SIMPSON, 20, 1.0);
    tal_optimizer_set_time(c.optimizer, 0.0, 0.5, 5.0);
    tal_optimizer_add_time(c.optimizer, 1.0);
    run(&c, NULL);
    ck_assert_double_eq_tol(c.report.end, 2.0, 1e-5);
    ck_assert_double_eq_tol(tal_optimizer_control(c.optimizer, 0, 0.4), 1.0, 1e-4);
    ck_assert_double_eq_tol(tal_optimizer_control(c.optimizer, 0, 1.6), -1.0, 1e-4);
    ck_assert_double_eq_tol(tal_optimizer_node_time(c.optimizer, 20), 0.5 * c.report.end, 1e-15);
    end(&c);
}

END_TEST

// The same with forces that are far from one: the solver sees them as parts of their range.
START_TEST(forces_of_any_size_take_the_least_time)
{
    static const double most[] = {20.0, 400.0};
    for (int k = 0; k < 2; ++k) {
        control_case c;
        make_block(&c, TAL_COLLOCATION_HERMITE_SIMPSON, 20, most[k]);
        tal_optimizer_set_time(c.optimizer, 0.0, 0.01, 5.0);
        tal_optimizer_add_time(c.optimizer, 1.0);
        run(&c, NULL);
        const double wanted = 2.0 / sqrt(most[k]);
        ck_assert_double_eq_tol(c.report.end, wanted, 1e-4 * wanted);
        ck_assert_double_eq_tol(tal_optimizer_control(c.optimizer, 0, 0.2 * wanted), most[k],
                                1e-3 * most[k]);
        end(&c);
    }
}

END_TEST

static tal_status calc_place(const void *self, const tal_system *system, tal_state *state,
                             double *value)
{
    (void)self, (void)system;
    *value = tal_state_q(state)[0];
    return TAL_OK;
}

// Bryson and Denham's problem: from 0 with speed 1 back to 0 with speed -1 within a second, never
// beyond l <= 1/6, with the least half integral of c^2, 4 / (9 l). The control bends at 3 l and
// 1 - 3 l, which are nodes here: the mesh contains the answer.
START_TEST(a_block_stops_before_a_wall)
{
    const tal_optimizer_goal_ops place = {calc_place};
    const double l = 1.0 / 9.0;
    control_case c;
    begin(&c);
    tal_mobod_def block = tal_mobod_def_default();
    block.mass.mass = 1.0;
    c.body[0] = tal_matter_add_slider(c.matter, TAL_GROUND, &block);
    drive(&c, c.body[0], (double)INFINITY);
    c.def.intervals = 30;
    finish(&c);
    for (int k = 0; k < 2; ++k) {
        const tal_optimizer_where where = k == 0 ? TAL_OPTIMIZE_START : TAL_OPTIMIZE_END;
        const double u = k == 0 ? 1.0 : -1.0;
        tal_optimizer_bound_q(c.optimizer, c.body[0], 0, where, 0.0, 0.0);
        tal_optimizer_bound_u(c.optimizer, c.body[0], 0, where, u, u);
    }
    tal_optimizer_add_effort(c.optimizer, 0.5, 2.0);
    tal_optimizer_add_limit(c.optimizer, &place, NULL, -(double)INFINITY, l);
    run(&c, NULL);
    ck_assert_double_eq_tol(c.report.nlp.objective, 4.0 / (9.0 * l), 1e-6);
    ck_assert_int_eq(tal_optimizer_interpolate(c.optimizer, 0.5, c.state), TAL_OK);
    // the goal changes with the square of what is left of the way: 1e-10 where it is 1e-5
    ck_assert_double_eq_tol(tal_body_q(c.matter, c.state, c.body[0], 0), l, 1e-4);
    end(&c);
}

END_TEST

START_TEST(limits_that_make_no_sense_are_told)
{
    const tal_optimizer_goal_ops place = {calc_place}, none = {NULL};
    for (int k = 0; k < 3; ++k) {
        control_case c;
        make_block(&c, TAL_COLLOCATION_TRAPEZOID, 10, 1.0);
        tal_optimizer_add_effort(c.optimizer, 1.0, 2.0);
        tal_optimizer_add_limit(c.optimizer, k == 0 ? &none : &place, NULL, k == 1 ? 2.0 : 0.5,
                                k == 1 ? 1.0 : 0.6);
        const tal_status st = tal_optimizer_run(c.optimizer, c.state, NULL, NULL);
        const char *message = tal_optimizer_error(c.optimizer)->message;
        ck_assert_int_eq(st, k == 0   ? TAL_ERR_NULL
                             : k == 1 ? TAL_ERR_BAD_VALUE
                                      : TAL_ERR_INFEASIBLE);
        ck_assert_msg(k == 2 || strstr(message, "limit 0") != NULL, "%s", message);
        end(&c);
    }
}

END_TEST

static tal_status calc_state_cost(const void *self, const tal_system *system, tal_state *state,
                                  double *value)
{
    (void)self, (void)system;
    const double q = tal_state_q(state)[0], u = tal_state_u(state)[0];
    *value = q * q + u * u;
    return TAL_OK;
}

// The integral of q^2 + u^2 + c^2 from (1, 0) over 10 s: 1.73205059939823 by Riccati's equation.
// The method is of order 4: 1.94e-5 too much with 40 intervals.
START_TEST(a_linear_quadratic_problem)
{
    control_case c;
    make_block(&c, TAL_COLLOCATION_HERMITE_SIMPSON, 40, (double)INFINITY);
    tal_optimizer_destroy(c.optimizer); // without the bounds
    ck_assert_int_eq(tal_optimizer_create(c.system, c.forces, &c.def, &c.optimizer, NULL), TAL_OK);
    tal_optimizer_set_time(c.optimizer, 0.0, 10.0, 10.0);
    tal_optimizer_bound_q(c.optimizer, c.body[0], 0, TAL_OPTIMIZE_START, 1.0, 1.0);
    tal_optimizer_bound_u(c.optimizer, c.body[0], 0, TAL_OPTIMIZE_START, 0.0, 0.0);
    const tal_optimizer_goal_ops ops = {calc_state_cost};
    tal_optimizer_add_goal(c.optimizer, &ops, NULL, false, 1.0);
    tal_optimizer_add_effort(c.optimizer, 1.0, 2.0);
    run(&c, NULL);
    ck_assert_double_eq_tol(c.report.nlp.objective, 1.73205059939823 + 1.94e-5, 5e-7);
    end(&c);
}

END_TEST

// A pendulum of 1 kg and 1 m from hanging to standing in 2 s: 68.130596552 by shooting (theory of
// Pontryagin); 1.2e-3 and 7.2e-5 too much with 20 and 40 intervals.
START_TEST(a_pendulum_swings_up)
{
    static const double too_much[] = {1.2e-3, 7.2e-5};
    for (int k = 0; k < 2; ++k) {
        control_case c;
        begin(&c);
        tal_mobod_def bob = tal_mobod_def_default();
        bob.mass.mass = 1.0;
        bob.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
        c.body[0] = tal_matter_add_pin(c.matter, TAL_GROUND, &bob);
        tal_forces_add_gravity(c.forces, tal_v3(0.0, -9.81, 0.0));
        drive(&c, c.body[0], (double)INFINITY);
        c.def.intervals = k == 0 ? 20 : 40;
        finish(&c);
        tal_optimizer_set_time(c.optimizer, 0.0, 2.0, 2.0);
        for (int i = 0; i < 2; ++i) {
            const tal_optimizer_where where = i == 0 ? TAL_OPTIMIZE_START : TAL_OPTIMIZE_END;
            tal_optimizer_bound_q(c.optimizer, c.body[0], 0, where, i * TAL_PI, i * TAL_PI);
            tal_optimizer_bound_u(c.optimizer, c.body[0], 0, where, 0.0, 0.0);
        }
        tal_optimizer_add_effort(c.optimizer, 1.0, 2.0);
        run(&c, NULL);
        ck_assert_double_eq_tol(c.report.nlp.objective, 68.130596552 + too_much[k],
                                0.1 * too_much[k]);
        ck_assert_double_lt(c.report.difference, 1e-3);
        ck_assert_int_le(c.report.nlp.iterations, 30);
        end(&c);
    }
}

END_TEST

// A cart of 1 kg with a pole of 0.3 kg and 0.5 m, force up to 20 N, travel up to 2 m: 58.8076421659
// with 50 intervals. With the answer as a guess for a finer mesh the run is short.
START_TEST(a_cart_swings_its_pole_up)
{
    control_case c;
    begin(&c);
    tal_mobod_def cart = tal_mobod_def_default();
    cart.mass.mass = 1.0;
    c.body[0] = tal_matter_add_slider(c.matter, TAL_GROUND, &cart);
    tal_mobod_def pole = tal_mobod_def_default();
    pole.mass.mass = 0.3;
    pole.X_BM = tal_xf_from_p(tal_v3(0.0, 0.5, 0.0));
    c.body[1] = tal_matter_add_pin(c.matter, c.body[0], &pole);
    tal_forces_add_gravity(c.forces, tal_v3(0.0, -9.81, 0.0));
    drive(&c, c.body[0], 20.0);
    finish(&c);
    tal_optimizer *fine = NULL;
    c.def.intervals = 75;
    ck_assert_int_eq(tal_optimizer_create(c.system, c.forces, &c.def, &fine, NULL), TAL_OK);
    tal_optimizer *both[] = {c.optimizer, fine};
    for (int k = 0; k < 2; ++k) {
        tal_optimizer *it = both[k];
        tal_optimizer_set_time(it, 0.0, 2.0, 2.0);
        tal_optimizer_bound_q(it, c.body[0], 0, TAL_OPTIMIZE_ALONG, -2.0, 2.0);
        for (int i = 0; i < 2; ++i) {
            const tal_optimizer_where where = i == 0 ? TAL_OPTIMIZE_START : TAL_OPTIMIZE_END;
            tal_optimizer_bound_q(it, c.body[0], 0, where, i, i);
            tal_optimizer_bound_q(it, c.body[1], 0, where, i * TAL_PI, i * TAL_PI);
            tal_optimizer_bound_u(it, c.body[0], 0, where, 0.0, 0.0);
            tal_optimizer_bound_u(it, c.body[1], 0, where, 0.0, 0.0);
        }
        tal_optimizer_add_effort(it, 1.0, 2.0);
    }
    run(&c, NULL);
    ck_assert_double_eq_tol(c.report.nlp.objective, 58.8076421659, 1e-4);
    tal_optimizer_report report;
    ck_assert_int_eq(tal_optimizer_run(fine, c.state, c.optimizer, &report), TAL_OK);
    ck_assert_double_eq_tol(report.nlp.objective, 58.80766, 1e-4);
    tal_optimizer_destroy(fine);
    end(&c);
}

END_TEST

// A sphere turns by 2 rad about a slanted axis, from rest to rest in 1 s, by torques on its three
// speeds: 12 I^2 phi^2 / T^3, through quaternions.
START_TEST(a_ball_turns_about_a_slanted_axis)
{
    control_case c;
    begin(&c);
    const double I = 0.4;
    tal_mobod_def ball = tal_mobod_def_default();
    ball.mass = tal_mass_props_sphere(1.0, 1.0); // 2/5 m r^2
    c.body[0] = tal_matter_add_ball(c.matter, TAL_GROUND, &ball);
    for (int i = 0; i < 3; ++i) {
        static const char *const names[] = {"about x", "about y", "about z"};
        (void)tal_forces_add_mobility_actuator(c.forces, names[i], (tal_mobility){c.body[0], i},
                                               1.0, (tal_measure_ix){-1});
    }
    c.def.intervals = 10;
    finish(&c);
    const double phi = 2.0;
    const tal_vec3 axis = tal_v3_normalize(tal_v3(1.0, 2.0, -3.0));
    // the fourth component follows from the length, which the method keeps to its order
    const tal_vec3 v = tal_v3_scale(sin(0.5 * phi), axis);
    const double from[] = {1.0, 0.0, 0.0, 0.0}, to[] = {0.0, v.x, v.y, v.z};
    for (int i = 0; i < 4; ++i) {
        tal_optimizer_bound_q(c.optimizer, c.body[0], i, TAL_OPTIMIZE_START, from[i], from[i]);
        if (i > 0) {
            tal_optimizer_bound_q(c.optimizer, c.body[0], i, TAL_OPTIMIZE_END, to[i], to[i]);
            tal_optimizer_bound_u(c.optimizer, c.body[0], i - 1, TAL_OPTIMIZE_START, 0.0, 0.0);
            tal_optimizer_bound_u(c.optimizer, c.body[0], i - 1, TAL_OPTIMIZE_END, 0.0, 0.0);
        }
    }
    tal_optimizer_add_effort(c.optimizer, 1.0, 2.0);
    run(&c, NULL);
    ck_assert_double_eq_tol(c.report.nlp.objective, 12.0 * I * I * phi * phi, 2e-3);
    end(&c);
}

END_TEST

// A coordinate follows a function of time: the force is that of the sine. Effort that counts a
// millionth makes it smaller by a part of 1e-6 omega^4, except near the ends, where it takes some
// (1e-6)^(1/4) s to settle.
START_TEST(a_block_follows_a_function)
{
    control_case c;
    make_block(&c, TAL_COLLOCATION_HERMITE_SIMPSON, 30, (double)INFINITY);
    tal_optimizer_destroy(c.optimizer);
    ck_assert_int_eq(tal_optimizer_create(c.system, c.forces, &c.def, &c.optimizer, NULL), TAL_OK);
    tal_function *sine = NULL;
    const tal_allocator heap = tal_allocator_default();
    ck_assert_int_eq(tal_function_create_sinusoid(&heap, 0.2, 3.0, 0.0, &sine, NULL), TAL_OK);
    tal_optimizer_add_tracking(c.optimizer, c.body[0], 0, sine, 1e4);
    tal_optimizer_add_effort(c.optimizer, 1e-2, 2.0);
    run(&c, NULL);
    for (int k = 3; k <= 7; ++k) {
        const double t = 0.1 * k;
        ck_assert_double_eq_tol(tal_optimizer_control(c.optimizer, 0, t), -0.2 * 9.0 * sin(3.0 * t),
                                2e-3);
    }
    tal_optimizer_destroy(c.optimizer);
    c.optimizer = NULL;
    tal_function_destroy(sine);
    end(&c);
}

END_TEST

// What must repeat itself: an oscillator that is moved by its actuator alone may do so at rest, but
// not if it has to pass a place.
START_TEST(periods_hold)
{
    control_case c;
    make_block(&c, TAL_COLLOCATION_HERMITE_SIMPSON, 20, (double)INFINITY);
    tal_optimizer_destroy(c.optimizer);
    ck_assert_int_eq(tal_optimizer_create(c.system, c.forces, &c.def, &c.optimizer, NULL), TAL_OK);
    tal_optimizer_add_periodic(c.optimizer, c.body[0], 0, c.body[0], 0, -1.0);
    tal_optimizer_bound_q(c.optimizer, c.body[0], 0, TAL_OPTIMIZE_START, 1.0, 1.0);
    tal_optimizer_add_effort(c.optimizer, 1.0, 2.0);
    run(&c, NULL);
    ck_assert_int_eq(tal_optimizer_interpolate(c.optimizer, 1.0, c.state), TAL_OK);
    const double q = tal_body_q(c.matter, c.state, c.body[0], 0);
    const double u = tal_body_u(c.matter, c.state, c.body[0], 0);
    ck_assert_int_eq(tal_optimizer_interpolate(c.optimizer, 0.0, c.state), TAL_OK);
    ck_assert_double_eq_tol(q, -1.0, 1e-8);
    ck_assert_double_eq_tol(u, -tal_body_u(c.matter, c.state, c.body[0], 0), 1e-8);
    end(&c);
}

END_TEST

// Torque of 4 N m cannot lift a pendulum of 9.81 N m in 1 s, with no time to swing: the run ends
// with a status and a sentence.
START_TEST(what_cannot_be_done_is_told)
{
    control_case c;
    make_block(&c, TAL_COLLOCATION_HERMITE_SIMPSON, 10, 1.0); // 1 N moves 0.25 m in 1 s at most
    tal_optimizer_add_effort(c.optimizer, 1.0, 2.0);
    const tal_status st = tal_optimizer_run(c.optimizer, c.state, NULL, &c.report);
    ck_assert_int_eq(st, TAL_ERR_INFEASIBLE);
    const char *message = tal_optimizer_error(c.optimizer)->message;
    ck_assert_msg(strstr(message, "is off by") != NULL, "%s", message);
    end(&c);
}

END_TEST

START_TEST(bad_problems_are_refused)
{
    control_case c;
    make_block(&c, TAL_COLLOCATION_TRAPEZOID, 4, 1.0);
    tal_optimizer_bound_q(c.optimizer, c.body[0], 1, TAL_OPTIMIZE_START, 0.0, 1.0);
    ck_assert_int_eq(tal_optimizer_run(c.optimizer, c.state, NULL, NULL), TAL_ERR_BAD_INDEX);
    ck_assert_ptr_nonnull(strstr(tal_optimizer_error(c.optimizer)->message, "and no 1"));
    tal_optimizer_set_time(c.optimizer, 0.0, 2.0, 1.0);
    tal_optimizer_bound_q(c.optimizer, c.body[0], 0, TAL_OPTIMIZE_START, 2.0, 1.0); // not the first
    ck_assert_int_eq(tal_optimizer_run(c.optimizer, c.state, NULL, NULL), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_optimizer_error(c.optimizer)->message, "ends from 2 to 1"));
    tal_optimizer *other = NULL;
    tal_error err = {.status = TAL_OK};
    c.def.intervals = 0;
    ck_assert_int_eq(tal_optimizer_create(c.system, c.forces, &c.def, &other, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_null(other);
    test_record_breaches();
    test_assert_breach((void)tal_optimizer_control(c.optimizer, 0, 0.5), TAL_ERR_BAD_VALUE,
                       "not within the motion");
    end(&c);
}

END_TEST

START_TEST(constraints_are_refused_by_name)
{
    control_case c;
    begin(&c);
    tal_mobod_def block = tal_mobod_def_default();
    block.mass.mass = 1.0;
    c.body[0] = tal_matter_add_free(c.matter, TAL_GROUND, &block);
    tal_constraint_def tie = tal_constraint_def_default();
    tie.bodies[1] = c.body[0];
    (void)tal_constraint_add_rod(c.matter, &tie, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    tal_error err = {.status = TAL_OK};
    ck_assert_int_eq(tal_system_realize_topology(c.system, &err), TAL_OK);
    ck_assert_int_eq(tal_optimizer_create(c.system, c.forces, NULL, &c.optimizer, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "1 constraints"));
    end(&c);
}

END_TEST

// Unknowns are those of bodies: a subsystem with coordinates of its own would be taken for them.
START_TEST(speeds_of_other_subsystems_are_refused)
{
    neighbor other;
    control_case c;
    begin(&c);
    tal_system_destroy(c.system);
    c.system = neighbor_system(&other);
    c.matter = tal_matter_create(c.system);
    c.forces = tal_forces_create(c.system, c.matter);
    tal_mobod_def block = tal_mobod_def_default();
    block.mass.mass = 1.0;
    c.body[0] = tal_matter_add_slider(c.matter, TAL_GROUND, &block);
    drive(&c, c.body[0], 1.0);
    tal_error err = {.status = TAL_OK};
    ck_assert_int_eq(tal_system_realize_topology(c.system, &err), TAL_OK);
    ck_assert_int_eq(tal_optimizer_create(c.system, c.forces, NULL, &c.optimizer, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_msg(strstr(err.message, "3 speeds that are not of its bodies") != NULL, "%s",
                  err.message);
    end(&c);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/optimizer");
    TCase *tc = tcase_create("optimizer");
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, a_block_moves_with_least_effort);
    tcase_add_test(tc, a_block_moves_in_least_time);
    tcase_add_test(tc, a_block_stops_before_a_wall);
    tcase_add_test(tc, limits_that_make_no_sense_are_told);
    tcase_add_test(tc, forces_of_any_size_take_the_least_time);
    tcase_add_test(tc, a_linear_quadratic_problem);
    tcase_add_test(tc, a_pendulum_swings_up);
    tcase_add_test(tc, a_cart_swings_its_pole_up);
    tcase_add_test(tc, a_ball_turns_about_a_slanted_axis);
    tcase_add_test(tc, a_block_follows_a_function);
    tcase_add_test(tc, periods_hold);
    tcase_add_test(tc, what_cannot_be_done_is_told);
    tcase_add_test(tc, bad_problems_are_refused);
    tcase_add_test(tc, constraints_are_refused_by_name);
    tcase_add_test(tc, speeds_of_other_subsystems_are_refused);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
