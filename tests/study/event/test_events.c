// Event times against references: study/src/event/witness.c, crossing.c and time_stepper.c on
// problems whose events are known to 1e-16 (PROMISES P8: within 1e-9).
#include "stepper_model.h"

#include <math.h>
#include <stdio.h>

static const double BOUND = 1e-9;

typedef struct impacts {
    double t[200];
    int n;
    double e; // coefficient of restitution
} impacts;

// --- a point in a circle and in an ellipse: x^2/a^2 + y^2/b^2 = 1 ---

typedef struct table {
    impacts hits;
    double a, b;
} table;

static tal_status wall(void *context, const tal_system *system, tal_state *state, double *value)
{
    (void)system;
    const table *it = context;
    const double *q = tal_state_q(state), x = q[0] / it->a, y = q[1] / it->b;
    *value = 1.0 - x * x - y * y;
    return TAL_OK;
}

static tal_status reflect(void *context, const tal_system *system, tal_state *state,
                          tal_event_cause cause, bool *terminate)
{
    (void)system;
    (void)cause;
    table *it = context;
    const double *q = tal_state_q(state);
    const double nx = q[0] / (it->a * it->a), ny = q[1] / (it->b * it->b);
    double *u = tal_state_upd_u(state);
    const double s = 2.0 * (u[0] * nx + u[1] * ny) / (nx * nx + ny * ny);
    u[0] -= s * nx;
    u[1] -= s * ny;
    it->hits.t[it->hits.n++] = tal_state_t(state);
    *terminate = it->hits.n == 100;
    return TAL_OK;
}

static void play(table *it, double x, double y, double vx, double vy, double accuracy)
{
    stepper_model m = begin_stepper_model(0.0);
    (void)add_point(&m);
    tal_happening hit = tal_happening_default();
    hit.name = "wall";
    hit.context = it;
    hit.witness = wall;
    hit.handle = reflect;
    hit.crossing = TAL_CROSSING_FALLING;
    (void)tal_events_add(m.events, &hit);
    const tal_integrator_def def = dormand_prince(accuracy);
    finish_stepper_model(&m, &def, NULL);
    const double q[] = {x, y, 0.0}, u[] = {vx, vy, 0.0};
    (void)tal_state_set_q(m.state, q, 3);
    (void)tal_state_set_u(m.state, u, 3);
    ck_assert_int_eq(run_stepper(&m, 1000.0), TAL_OUTCOME_TERMINATED);
    ck_assert_int_eq(it->hits.n, 100);
    end_stepper_model(&m);
}

// Chords of one length: impact n at 2 n cos 37.5 deg. A witness found at t+ has gone too far by its
// window, 1e-13 s at this accuracy, a hundred times.
START_TEST(a_hundred_reflections_in_a_circle_come_in_time)
{
    table it = {.a = 1.0, .b = 1.0};
    const double angle = 37.5 * TAL_PI / 180.0;
    play(&it, 1.0, 0.0, -cos(angle), sin(angle), 1e-12);
    for (int n = 1; n <= 100; ++n) {
        test_validate("billiards in a circle", "2 n cos 37.5 degrees", "times of 100 reflections",
                      "events, Dormand-Prince", fabs(it.hits.t[n - 1] - 2.0 * n * cos(angle)),
                      BOUND);
    }
}

END_TEST

START_TEST(a_hundred_reflections_in_an_ellipse_come_in_time)
{
    static const struct {
        int n;
        double t;
    } expected[] = {{1, 0.6234570689159933}, {2, 1.8062452890304208},  {5, 4.414855192068015},
                    {10, 8.755553628852494}, {20, 15.969223971120412}, {50, 39.60045284281788},
                    {100, 80.06490490960793}};

    table it = {.a = 2.0, .b = 1.0};
    play(&it, 2.0 * cos(0.3), sin(0.3), -cos(0.7), sin(0.7), 1e-12);
    for (int k = 0; k < 7; ++k) {
        test_validate("billiards in an ellipse", "refs:billiards", "times of 100 reflections",
                      "events, Dormand-Prince", fabs(it.hits.t[expected[k].n - 1] - expected[k].t),
                      BOUND);
    }
}

END_TEST

// --- a ball that bounces until it rests ---

static tal_status height(void *context, const tal_system *system, tal_state *state, double *value)
{
    (void)context;
    (void)system;
    *value = tal_state_q(state)[1];
    return TAL_OK;
}

static tal_status bounce(void *context, const tal_system *system, tal_state *state,
                         tal_event_cause cause, bool *terminate)
{
    (void)system;
    (void)cause;
    (void)terminate;
    impacts *it = context;
    double *u = tal_state_upd_u(state);
    u[1] *= -it->e;
    if (it->n < 200) it->t[it->n++] = tal_state_t(state);
    return TAL_OK;
}

static stepper_model begin_ball(impacts *it, double accuracy, tal_crossing crossing)
{
    stepper_model m = begin_stepper_model(9.81);
    (void)add_point(&m);
    tal_happening hit = tal_happening_default();
    hit.name = "bounce";
    hit.context = it;
    hit.witness = height;
    hit.handle = bounce;
    hit.crossing = crossing;
    (void)tal_events_add(m.events, &hit);
    const tal_integrator_def def = dormand_prince(accuracy);
    finish_stepper_model(&m, &def, NULL);
    const double q[] = {0.0, 1.0, 0.0};
    (void)tal_state_set_q(m.state, q, 3);
    return m;
}

// t1 = sqrt(2 h / g), then 2 e^n t1 from impact n to the next; all of them before t1 (1 + e)/(1 -
// e). The solver integrates parabolas exactly; steps grow until they hold several bounces.
START_TEST(a_ball_bounces_in_time_and_comes_to_an_end)
{
    for (int way = 0; way < 2; ++way) {
        impacts it = {.e = 0.8};
        stepper_model m =
            begin_ball(&it, 1e-12, way == 0 ? TAL_CROSSING_FALLING : TAL_CROSSING_EITHER);
        tal_outcome outcome = TAL_OUTCOME_END;
        const tal_status st = tal_time_stepper_step_to(m.stepper, m.state, 10.0, &outcome);

        ck_assert_int_eq(st, TAL_ERR_EVENT_LIMIT);
        ck_assert_int_eq(outcome, TAL_OUTCOME_FAILED);
        ck_assert_ptr_nonnull(strstr(tal_time_stepper_error(m.stepper)->message,
                                     "event 'bounce' of 'events' accumulates"));
        ck_assert_int_ge(it.n, 30);
        double t = sqrt(2.0 / 9.81), gap = 2.0 * 0.8 * t;
        for (int n = 0; n < 30; ++n, t += gap, gap *= 0.8) {
            test_validate("ball that bounces, e = 0.8", "refs:bouncing_ball", "times of 30 bounces",
                          "events, Dormand-Prince", fabs(it.t[n] - t), BOUND);
        }
        const double zeno = 4.063712768871578;
        test_validate("ball that bounces, e = 0.8", "refs:bouncing_ball", "when it comes to rest",
                      "events, Dormand-Prince", fabs(tal_state_t(m.state) - zeno), BOUND);
        end_stepper_model(&m);
    }
}

END_TEST

// At a coarse accuracy a step of the parabola holds a whole bounce: the witness is above zero at
// both ends, and only the cubic shows that it was below.
START_TEST(a_ball_does_not_fall_through_the_floor)
{
    for (int k = 0; k < 20; ++k) {
        impacts it = {.e = 1.0};
        const double accuracy = pow(10.0, -1.5 - 0.5 * k);
        stepper_model m = begin_ball(&it, accuracy, TAL_CROSSING_FALLING);
        run_stepper(&m, 20.0);
        // bounces at t1 (1 + 2 k), t1 = 0.4515 s: 22 until t = 19.42, the next at 20.32. Each may
        // be late by its window, and the way up starts as deep: 2 * 22 * 0.1 * 10^-1.5 < 0.3 at the
        // most
        ck_assert_int_eq(it.n, 22);
        ck_assert_double_ge(tal_state_q(m.state)[1], 0.0);
        end_stepper_model(&m);
    }
}

END_TEST

// --- pendulum ---

static tal_status stamp(void *context, const tal_system *system, tal_state *state,
                        tal_event_cause cause)
{
    (void)system;
    (void)cause;
    impacts *it = context;
    if (it->n < 200) it->t[it->n++] = tal_state_t(state);
    return TAL_OK;
}

// T = 4 sqrt(L/g) K(sin(a/2)): released from rest it hangs down after T/4, 3T/4, ... The lowest
// point of the steep amplitudes magnifies errors: near the top they grow like e^(sqrt(g) t).
START_TEST(a_pendulum_has_its_period)
{
    static const struct {
        double amplitude, period, bound;
    } rows[] = {{1.0, 2.0061048740557132, 1e-9},   {10.0, 2.009892627298601, 1e-9},
                {45.0, 2.0862558726143674, 1e-9},  {90.0, 2.3678419475762373, 1e-9},
                {120.0, 2.7540898288878255, 1e-9}, {170.0, 4.893524274105486, 1e-9}};

    for (int k = 0; k < 6; ++k) {
        impacts it = {.n = 0};
        stepper_model m = begin_stepper_model(9.81);
        (void)add_pendulum(&m);
        tal_happening down = tal_happening_default();
        down.context = &it;
        down.witness = first_q;
        down.rate = first_u;
        down.report = stamp;
        (void)tal_events_add(m.events, &down);
        const tal_integrator_def def = dormand_prince(1e-12);
        finish_stepper_model(&m, &def, NULL);
        const double q = rows[k].amplitude * TAL_PI / 180.0, T = rows[k].period;
        (void)tal_state_set_q(m.state, &q, 1);
        run_stepper(&m, 2.0 * T);
        ck_assert_int_eq(it.n, 4);
        for (int n = 0; n < 4; ++n) {
            char name[80];
            (void)snprintf(name, sizeof name, "pendulum, amplitude %g degrees", rows[k].amplitude);
            test_validate(name, "refs:pendulum_period_table", "times below",
                          "events, Dormand-Prince", fabs(it.t[n] - (0.25 + 0.5 * n) * T),
                          rows[k].bound);
        }
        end_stepper_model(&m);
    }
}

END_TEST

// --- rimless wheel: a point mass on massless spokes, rolling down a slope ---
//
// On one spoke it is an inverted pendulum, theta from the vertical; the next spoke lands at
// theta = gamma + alpha, where theta jumps by -2 alpha and the speed is multiplied by cos 2 alpha,
// since the angular momentum about the landing point is kept.

typedef struct wheel {
    impacts steps;
    double alpha, gamma;
} wheel;

static tal_status next_spoke(void *context, const tal_system *system, tal_state *state,
                             double *value)
{
    (void)system;
    const wheel *it = context;
    *value = tal_state_q(state)[0] - (it->gamma + it->alpha);
    return TAL_OK;
}

static tal_status land(void *context, const tal_system *system, tal_state *state,
                       tal_event_cause cause, bool *terminate)
{
    (void)system;
    (void)cause;
    wheel *it = context;
    const double q = tal_state_q(state)[0] - 2.0 * it->alpha;
    const double u = tal_state_u(state)[0] * cos(2.0 * it->alpha);
    it->steps.t[it->steps.n++] = tal_state_t(state);
    *terminate = it->steps.n == 30;
    const tal_status st = tal_state_set_q(state, &q, 1);
    return st == TAL_OK ? tal_state_set_u(state, &u, 1) : st;
}

// Time from a to b: the integral of 1/omega, omega^2 = omega0^2 + 2 g (cos a - cos theta), g per
// length, by Simpson's rule; 2000 intervals of a function without features leave 1e-14.
static double swing_time(double a, double b, double omega0, double g)
{
    double sum = 0.0;
    for (int i = 0; i <= 2000; ++i) {
        const double theta = a + (b - a) * i / 2000.0;
        const double f = 1.0 / sqrt(omega0 * omega0 + 2.0 * g * (cos(a) - cos(theta)));
        sum += f * (i == 0 || i == 2000 ? 1.0 : i % 2 == 1 ? 4.0 : 2.0);
    }
    return sum * (b - a) / 6000.0;
}

START_TEST(a_rimless_wheel_walks_in_time)
{
    wheel it = {.alpha = TAL_PI / 8.0, .gamma = 0.1};
    stepper_model m = begin_stepper_model(9.81);
    tal_mobod_def hub = tal_mobod_def_default();
    hub.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    hub.X_BM = tal_xf_from_p(tal_v3(0.0, -1.0, 0.0)); // the pin is below: y up at angle 0
    (void)tal_matter_add_pin(m.matter, TAL_GROUND, &hub);
    tal_happening step = tal_happening_default();
    step.context = &it;
    step.witness = next_spoke;
    step.handle = land;
    step.crossing = TAL_CROSSING_RISING;
    (void)tal_events_add(m.events, &step);
    const tal_integrator_def def = dormand_prince(1e-12);
    finish_stepper_model(&m, &def, NULL);
    const double start = it.gamma - it.alpha, end = it.gamma + it.alpha;
    double omega = 1.6, t = 0.0;
    (void)tal_state_set_q(m.state, &start, 1);
    (void)tal_state_set_u(m.state, &omega, 1);
    ck_assert_int_eq(run_stepper(&m, 100.0), TAL_OUTCOME_TERMINATED);
    for (int n = 0; n < 30; ++n) {
        t += swing_time(start, end, omega, 9.81);
        ck_assert_double_eq_tol(it.steps.t[n], t, BOUND);
        omega =
            cos(2.0 * it.alpha) * sqrt(omega * omega + 4.0 * 9.81 * sin(it.gamma) * sin(it.alpha));
    }
    end_stepper_model(&m);
}

END_TEST

// --- a ladder that slides down a wall until it leaves it ---
//
// Without friction the ladder, L = 2 m and theta from the vertical, turns as a rod does that is
// held at one end: theta'' = 3 g/(2 L) sin(theta). The wall pushes its center, x = L/2 sin(theta),
// until x'' = 0: at cos(theta) = 2/3 cos(theta0) + 2 L omega0^2/(9 g).

typedef struct ladder {
    const tal_matter *matter;
    tal_constraint_ix wall;
    tal_event_ix event;
    impacts left;
} ladder;

// The multiplier of the wall: negative as long as it pushes. Known at stage Acceleration.
static tal_status push_of_wall(void *context, const tal_system *system, tal_state *state,
                               double *value)
{
    (void)context;
    (void)system;
    const bool has_wall = tal_state_pool_size(state, TAL_POOL_UDOTERR) == 2;
    *value = has_wall ? tal_state_multipliers(state)[1] : (double)NAN; // unused: the event is off
    return TAL_OK;
}

// A change at stage Instance: one constraint less, and a witness that has lost its meaning.
static tal_status leave_wall(void *context, const tal_system *system, tal_state *state,
                             tal_event_cause cause, bool *terminate)
{
    (void)cause;
    (void)terminate;
    ladder *it = context;
    it->left.t[it->left.n++] = tal_state_t(state);
    const tal_status st = tal_constraint_set_enabled(it->matter, state, it->wall, false);
    return st == TAL_OK ? tal_event_set_active(system, state, it->event, false) : st;
}

START_TEST(a_ladder_leaves_the_wall_in_time)
{
    const double L = 2.0, g = 9.81, theta0 = 0.3, omega0 = 0.5;
    stepper_model m = begin_stepper_model(g);
    ladder it = {.matter = m.matter};
    tal_mobod_def rod = tal_mobod_def_default();
    rod.mass = tal_mass_props_rod(3.0, tal_v3(0.0, 0.5 * L, 0.0));
    const tal_body_ix body = tal_matter_add_planar(m.matter, TAL_GROUND, &rod);
    const tal_constraint_def on = tal_constraint_between(TAL_GROUND, body);
    (void)tal_constraint_add_point_in_plane(m.matter, &on, tal_v3(0.0, 1.0, 0.0), 0.0,
                                            tal_v3(0.0, -0.5 * L, 0.0));
    it.wall = tal_constraint_add_point_in_plane(m.matter, &on, tal_v3(1.0, 0.0, 0.0), 0.0,
                                                tal_v3(0.0, 0.5 * L, 0.0));
    tal_happening event = tal_happening_default();
    event.context = &it;
    event.witness = push_of_wall;
    event.stage = TAL_STAGE_ACCELERATION;
    event.crossing = TAL_CROSSING_RISING;
    event.handle = leave_wall;
    it.event = tal_events_add(m.events, &event);
    const tal_integrator_def def = dormand_prince(1e-12);
    finish_stepper_model(&m, &def, NULL);
    const double q[] = {theta0, 0.5 * L * sin(theta0), 0.5 * L * cos(theta0)};
    const double u[] = {omega0, 0.5 * L * cos(theta0) * omega0, -0.5 * L * sin(theta0) * omega0};
    (void)tal_state_set_q(m.state, q, 3);
    (void)tal_state_set_u(m.state, u, 3);
    run_stepper(&m, 0.9);

    // omega^2 = omega0^2 + 3 g/L (cos theta0 - cos theta): as a pendulum under 3 g/(2 L)
    const double end = acos(2.0 / 3.0 * cos(theta0) + 2.0 * L * omega0 * omega0 / (9.0 * g));
    ck_assert_int_eq(it.left.n, 1);
    ck_assert_double_eq_tol(it.left.t[0], swing_time(theta0, end, omega0, 1.5 * g / L), BOUND);
    ck_assert_int_eq(tal_state_pool_size(m.state, TAL_POOL_UDOTERR), 1);
    end_stepper_model(&m);
}

END_TEST

// --- a bowling ball that slides until it rolls ---

static const double RADIUS = 0.108;

static tal_status slip(void *context, const tal_system *system, tal_state *state, double *value)
{
    (void)context;
    (void)system;
    const double *u = tal_state_u(state); // turning about z, moving along x
    *value = u[1] + RADIUS * u[0];
    return TAL_OK;
}

static tal_status stop(void *context, const tal_system *system, tal_state *state,
                       tal_event_cause cause, bool *terminate)
{
    (void)system;
    (void)cause;
    impacts *it = context;
    it->t[it->n++] = tal_state_t(state);
    *terminate = true;
    return TAL_OK;
}

// 2 (v0 - R omega0)/(7 mu g), omega positive as rolling is.
START_TEST(a_ball_begins_to_roll_in_time)
{
    const double mass = 7.0, mu = 0.12, g = 9.81, v0 = 8.0;
    const double spin[] = {0.0, -30.0}, expected[] = {1.9416533178001067, 2.72802291150915};
    const double rolls[] = {5.714285714285714, 4.788571428571428};
    for (int k = 0; k < 2; ++k) {
        impacts it = {.n = 0};
        stepper_model m = begin_stepper_model(0.0);
        tal_mobod_def ball = tal_mobod_def_default();
        ball.mass.mass = mass;
        ball.mass.inertia.xx = ball.mass.inertia.yy = ball.mass.inertia.zz =
            0.4 * mass * RADIUS * RADIUS;
        const tal_body_ix body = tal_matter_add_planar(m.matter, TAL_GROUND, &ball);
        const double friction = -mu * mass * g;
        (void)tal_forces_add_mobility_force(m.forces, NULL, (tal_mobility){body, 1}, friction);
        (void)tal_forces_add_mobility_force(m.forces, NULL, (tal_mobility){body, 0},
                                            RADIUS * friction);
        tal_happening event = tal_happening_default();
        event.context = &it;
        event.witness = slip;
        event.stage = TAL_STAGE_VELOCITY;
        event.handle = stop;
        (void)tal_events_add(m.events, &event);
        const tal_integrator_def def = dormand_prince(1e-10);
        finish_stepper_model(&m, &def, NULL);
        const double u[] = {-spin[k], v0, 0.0}; // rolling along x turns about -z
        (void)tal_state_set_u(m.state, u, 3);
        ck_assert_int_eq(run_stepper(&m, 10.0), TAL_OUTCOME_TERMINATED);
        test_validate(k == 0 ? "ball thrown without spin" : "ball thrown with back spin",
                      "refs:sliding_to_rolling", "when it begins to roll", "events, Dormand-Prince",
                      fabs(it.t[0] - expected[k]), BOUND);
        ck_assert_double_eq_tol(tal_state_u(m.state)[1], rolls[k], BOUND);
        end_stepper_model(&m);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/events");
    TCase *references = tcase_create("references");
    tcase_add_test(references, a_hundred_reflections_in_a_circle_come_in_time);
    tcase_add_test(references, a_hundred_reflections_in_an_ellipse_come_in_time);
    tcase_add_test(references, a_ball_bounces_in_time_and_comes_to_an_end);
    tcase_add_test(references, a_ball_does_not_fall_through_the_floor);
    tcase_add_test(references, a_pendulum_has_its_period);
    tcase_add_test(references, a_rimless_wheel_walks_in_time);
    tcase_add_test(references, a_ladder_leaves_the_wall_in_time);
    tcase_add_test(references, a_ball_begins_to_roll_in_time);
    suite_add_tcase(suite, references);
    return test_run(suite);
}
