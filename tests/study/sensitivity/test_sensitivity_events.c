// Tests for study/src/sensitivity/sensitivity_event.c: derivatives jump where something happens.
// Motions between events are parabolas, which Runge-Kutta methods of order 2 and more follow to
// round-off; bounds are 1e-9 for differences, which are good to some 1e-11, over one to three
// events.
#include "trajectories.h"

#include <math.h>
#include <string.h>

/// A ball that moves along y, dropped from h above a floor at y = 0.
typedef struct ball {
    model m;
    tal_events *events;
    tal_body_ix body;
    tal_measure_ix height, speed;
    double restitution;
} ball;

static const double g = 9.0, h0 = 2.0, e = 0.8;

static void make_ball(ball *it)
{
    it->m = begin(tal_v3(0.0, -g, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    def.X_PF.R = def.X_BM.R = tal_rotation_about(TAL_AXIS_Z, 0.5 * TAL_PI);
    it->body = tal_matter_add_slider(it->m.matter, TAL_GROUND, &def); // x of F is up
    it->height = tal_measure_add_coordinate(it->m.matter, "height", (tal_mobility){it->body, 0});
    it->speed = tal_measure_add_speed(it->m.matter, "speed", (tal_mobility){it->body, 0});
    it->events = tal_events_create(it->m.system);
    it->restitution = e;
}

static tal_status height_of(void *context, const tal_system *system, tal_state *state,
                            double *value)
{
    const ball *it = context;
    *value = tal_measure_value(system, state, it->height);
    return TAL_OK;
}

static tal_status bounce(void *context, const tal_system *system, tal_state *state,
                         tal_event_cause cause, bool *terminate)
{
    (void)system, (void)cause, (void)terminate;
    const ball *it = context;
    const double u = tal_body_u(it->m.matter, state, it->body, 0);
    return tal_body_set_u(it->m.matter, state, it->body, 0, -it->restitution * u);
}

static void let_bounce(ball *it)
{
    tal_happening happening = tal_happening_default();
    happening.name = "bounce";
    happening.context = it;
    happening.witness = height_of;
    happening.crossing = TAL_CROSSING_FALLING;
    happening.handle = bounce;
    (void)tal_events_add(it->events, &happening);
}

// Where the ball is after one or two bounces: it comes down after a time T with T^2 = 2 h / g,
// rises with the speed e g T, and comes down again after 2 e T more.
static double height_after(double t, int bounces, double *by_h, double *by_g)
{
    const double T = sqrt(2.0 * h0 / g), T_h = 1.0 / (g * T), T_g = -h0 / (g * g * T);
    const double c = bounces == 1 ? 1.0 : 1.0 + 2.0 * e, d = bounces == 1 ? e : e * e;
    // y = v r - g r^2 / 2 with r = t - c T and v = d g T
    const double r = t - c * T, v = d * g * T;
    *by_h = d * g * T_h * r - (v - g * r) * c * T_h;
    *by_g = (d * T + d * g * T_g) * r - (v - g * r) * c * T_g - 0.5 * r * r;
    return v * r - 0.5 * g * r * r;
}

static tal_status set_gravity(const tal_parameter *self, const tal_system *system, tal_state *state,
                              double value)
{
    (void)system;
    return tal_gravity_set_g(self->object, state, (tal_force_ix){self->i},
                             tal_v3(0.0, -value, 0.0));
}

// By handlers, and by a unilateral element with its impacts, whatever the steps are.
START_TEST(a_ball_bounces_as_its_closed_form_does)
{
    for (int kind = 0; kind < 4; ++kind) {
        ball it;
        make_ball(&it);
        if (kind < 2) {
            let_bounce(&it);
        } else {
            tal_unilateral_def def = tal_unilateral_def_default();
            def.material.restitution = e;
            const tal_xform floor = {tal_rotation_about(TAL_AXIS_X, -0.5 * TAL_PI), TAL_VEC3_ZERO};
            (void)tal_unilateral_add_point_on_plane(it.m.matter, &def, TAL_GROUND, &floor, it.body,
                                                    TAL_VEC3_ZERO);
            (void)tal_contacts_create(it.m.system, NULL);
        }
        finish(&it.m);
        const tal_parameter all[2] = {tal_parameter_q("h", it.m.matter, it.body, 0),
                                      {"g", set_gravity, it.m.forces, it.m.gravity.i, 0}};
        tal_sensitivity_def def = tal_sensitivity_def_default();
        def.parameters = all;
        def.num_parameters = 2;
        def.step = 0.05;
        def.accuracy = kind % 2 == 0 ? 0.0 : 1e-6;
        tal_sensitivity *study = NULL;
        ck_assert_int_eq(tal_sensitivity_create(it.m.system, &def, &study, NULL), TAL_OK);
        const double values[2] = {h0, g};
        for (int n = 1; n <= 2; ++n) {
            const double end_time = n == 1 ? 0.9 : 2.0;
            ck_assert_int_eq(tal_state_set_t(it.m.state, 0.0), TAL_OK);
            ck_assert_int_eq(tal_body_set_u(it.m.matter, it.m.state, it.body, 0, 0.0), TAL_OK);
            run(study, &it.m, values, end_time);
            ck_assert_int_eq((int)tal_sensitivity_statistics(study).events, n);
            const double *S = tal_sensitivity_matrix(study).data;
            double wanted[2];
            const double y = height_after(end_time, n, &wanted[0], &wanted[1]);
            ck_assert_double_eq_tol(tal_state_q(it.m.state)[0], y, 1e-11);
            for (int p = 0; p < 2; ++p) {
                ck_assert_msg(fabs(S[2 * p] - wanted[p]) <= 1e-9 * (1.0 + fabs(wanted[p])),
                              "kind %d, %d bounces: %.15g, not %.15g", kind, n, S[2 * p],
                              wanted[p]);
            }
        }
        tal_sensitivity_destroy(study);
        end(&it.m);
    }
}

END_TEST

/// McGeer's rimless wheel: a leg of length 1 on a pin, q from the normal of a slope gamma, in the
/// direction of the walk; at q = alpha the next leg takes over.
typedef struct wheel {
    model m;
    tal_body_ix leg;
    double alpha;
} wheel;

static tal_status next_leg_of(void *context, const tal_system *system, tal_state *state,
                              double *value)
{
    (void)system;
    const wheel *it = context;
    *value = it->alpha - tal_body_q(it->m.matter, state, it->leg, 0);
    return TAL_OK;
}

static tal_status take_next_leg(void *context, const tal_system *system, tal_state *state,
                                tal_event_cause cause, bool *terminate)
{
    (void)system, (void)cause, (void)terminate;
    const wheel *it = context;
    const double u = tal_body_u(it->m.matter, state, it->leg, 0);
    (void)tal_body_set_q(it->m.matter, state, it->leg, 0, -it->alpha);
    return tal_body_set_u(it->m.matter, state, it->leg, 0, u * cos(2.0 * it->alpha));
}

// Energy is kept between collisions, E = u^2 / 2 - g sin(q + gamma + pi/2)..., and speeds shrink by
// c = cos(2 alpha) in them: dE/du0 = c^(2n) u0 after n collisions, and dE/dq0 = c^(2n) times the
// slope of E at the start, whatever the time at which it is read.
START_TEST(a_rimless_wheel_forgets_as_its_closed_form_does)
{
    const double gamma = 0.12, q0 = -0.2, u0 = 2.5;
    wheel it = {.alpha = TAL_PI / 8.0, .m = begin(tal_v3(9.0 * sin(gamma), -9.0 * cos(gamma), 0))};
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    def.X_BM = tal_xf_from_p(tal_v3(0.0, -1.0, 0.0));
    def.X_PF.R = tal_rotation_about(TAL_AXIS_Y, TAL_PI); // q leans towards x
    def.X_BM.R = def.X_PF.R;
    it.leg = tal_matter_add_pin(it.m.matter, TAL_GROUND, &def);
    tal_happening happening = tal_happening_default();
    happening.context = &it;
    happening.witness = next_leg_of;
    happening.crossing = TAL_CROSSING_FALLING;
    happening.handle = take_next_leg;
    (void)tal_events_add(tal_events_create(it.m.system), &happening);
    finish(&it.m);
    const tal_parameter all[2] = {tal_parameter_q("q0", it.m.matter, it.leg, 0),
                                  tal_parameter_u("u0", it.m.matter, it.leg, 0)};
    tal_sensitivity *study = study_of(&it.m, all, 2, 0.01);
    const double values[2] = {q0, u0}, c = cos(2.0 * it.alpha);
    run(study, &it.m, values, 1.1);
    const double n = (double)tal_sensitivity_statistics(study).events;
    ck_assert_double_ge(n, 3.0);
    // E = u^2 / 2 + 9 cos(q + gamma), with q + gamma from the vertical
    const double q = tal_state_q(it.m.state)[0], u = tal_state_u(it.m.state)[0];
    const double *S = tal_sensitivity_matrix(study).data;
    const double start[2] = {-9.0 * sin(q0 + gamma), u0};
    for (int p = 0; p < 2; ++p) {
        const double found = -9.0 * sin(q + gamma) * S[2 * p] + u * S[2 * p + 1];
        ck_assert_double_eq_tol(found, pow(c, 2.0 * n) * start[p], 1e-9);
    }
    tal_sensitivity_destroy(study);
    end(&it.m);
}

END_TEST

// A stop at the floor ends the run: the time of the fall is sqrt(2 h / g), and the speed there
// -sqrt(2 g h).
START_TEST(the_end_of_a_run_moves_with_the_parameters)
{
    ball it;
    make_ball(&it);
    tal_run_stop stop = tal_run_stop_default();
    stop.measure = it.height;
    (void)tal_events_add_stop(it.events, &stop);
    finish(&it.m);
    const tal_parameter start = tal_parameter_q("h", it.m.matter, it.body, 0);
    tal_sensitivity *study = study_of(&it.m, &start, 1, 0.03);
    run(study, &it.m, &h0, 5.0);
    ck_assert(tal_sensitivity_has_ended(study));
    const double t = sqrt(2.0 * h0 / g);
    double by_h = 0.0;
    ck_assert_double_eq_tol(tal_state_t(it.m.state), t, 1e-13);
    ck_assert_int_eq(tal_sensitivity_of_end_time(study, &by_h), TAL_OK);
    ck_assert_double_eq_tol(by_h, 1.0 / (g * t), 1e-10);
    ck_assert_int_eq(tal_sensitivity_of_measure(study, it.m.state, it.speed, &by_h), TAL_OK);
    ck_assert_double_eq_tol(by_h, -1.0 / t, 1e-9);
    ck_assert_int_eq(tal_sensitivity_of_measure(study, it.m.state, it.height, &by_h), TAL_OK);
    ck_assert_double_eq_tol(by_h, 0.0, 1e-9);
    // at a fixed time: dy/dh = 1, du/dh = 0
    const double *S = tal_sensitivity_matrix(study).data;
    ck_assert_double_eq_tol(S[0], 1.0, 1e-10);
    ck_assert_double_eq_tol(S[1], 0.0, 1e-9);
    // it stays there
    ck_assert_int_eq(tal_sensitivity_continue(study, it.m.state, 6.0), TAL_OK);
    ck_assert_double_eq_tol(tal_state_t(it.m.state), t, 1e-13);
    tal_sensitivity_destroy(study);
    end(&it.m);
}

END_TEST

// Impulses at fixed times, the last one at the very end: each adds J / m to the speed, so
// du/dm = -n J / m^2, and y adds up from these.
START_TEST(scheduled_events_happen_at_their_times)
{
    ball it;
    make_ball(&it);
    tal_run_impulse kick = tal_run_impulse_default();
    kick.matter = it.m.matter;
    kick.body.i = -1;
    kick.mobility = (tal_mobility){it.body, 0};
    kick.along = 3.0;
    kick.when.value = 0.25;
    kick.period = 0.5;
    (void)tal_events_add_impulse(it.events, &kick);
    finish(&it.m);
    const tal_parameter mass = tal_parameter_mass("m", it.m.matter, it.body);
    tal_sensitivity *study = study_of(&it.m, &mass, 1, 0.1);
    const double value = 1.5, J = 3.0, by_m = -J / (value * value);
    run(study, &it.m, &value, 1.25);
    ck_assert_int_eq((int)tal_sensitivity_statistics(study).events, 3);
    const double *S = tal_sensitivity_matrix(study).data;
    ck_assert_double_eq_tol(tal_state_u(it.m.state)[0], 3.0 * J / value - g * 1.25, 1e-12);
    ck_assert_double_eq_tol(S[1], 3.0 * by_m, 1e-9);
    ck_assert_double_eq_tol(S[0], by_m * (1.0 + 0.5), 1e-9);
    tal_sensitivity_destroy(study);
    end(&it.m);
}

END_TEST

static tal_status cube_of_height(void *context, const tal_system *system, tal_state *state,
                                 double *value)
{
    const tal_status st = height_of(context, system, state, value);
    *value = *value * *value * *value;
    return st;
}

// What crosses zero with no rate happens at a time that has no derivative.
START_TEST(events_that_only_touch_are_refused_by_name)
{
    ball it;
    make_ball(&it);
    tal_happening happening = tal_happening_default();
    happening.name = "flat";
    happening.context = &it;
    happening.witness = cube_of_height;
    happening.handle = bounce;
    (void)tal_events_add(it.events, &happening);
    finish(&it.m);
    const tal_parameter start = tal_parameter_q("h", it.m.matter, it.body, 0);
    tal_sensitivity *study = study_of(&it.m, &start, 1, 0.03);
    ck_assert_int_eq(tal_sensitivity_run(study, it.m.state, &h0, 5.0), TAL_ERR_SINGULAR);
    ck_assert_ptr_nonnull(strstr(tal_sensitivity_error(study)->message, "flat"));
    tal_sensitivity_destroy(study);
    end(&it.m);
}

END_TEST

START_TEST(too_many_events_end_a_run)
{
    ball it;
    make_ball(&it);
    let_bounce(&it);
    finish(&it.m);
    const tal_parameter start = tal_parameter_q("h", it.m.matter, it.body, 0);
    tal_sensitivity_def def = tal_sensitivity_def_default();
    def.parameters = &start;
    def.num_parameters = 1;
    def.max_events = 3;
    tal_sensitivity *study = NULL;
    ck_assert_int_eq(tal_sensitivity_create(it.m.system, &def, &study, NULL), TAL_OK);
    ck_assert_int_eq(tal_sensitivity_run(study, it.m.state, &h0, 20.0), TAL_ERR_EVENT_LIMIT);
    ck_assert_ptr_nonnull(strstr(tal_sensitivity_error(study)->message, "max_events = 3"));
    tal_sensitivity_destroy(study);
    end(&it.m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/sensitivity_events");
    TCase *theory = tcase_create("theory");
    tcase_set_timeout(theory, 60.0);
    tcase_add_test(theory, a_ball_bounces_as_its_closed_form_does);
    tcase_add_test(theory, a_rimless_wheel_forgets_as_its_closed_form_does);
    tcase_add_test(theory, the_end_of_a_run_moves_with_the_parameters);
    tcase_add_test(theory, scheduled_events_happen_at_their_times);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, events_that_only_touch_are_refused_by_name);
    tcase_add_test(errors, too_many_events_end_a_run);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
