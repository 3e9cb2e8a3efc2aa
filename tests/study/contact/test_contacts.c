// study/src/contact/: elements in a run, against closed forms (tests T15, T17 and T19 of the
// specification).
#include "stepper_model.h"

#include <talus/matter/unilaterals.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_EVENTS = 400
};

static const double G = 9.81;

/// The events that were reported.
typedef struct diary {
    int n;
    tal_contact_event event[MOST_EVENTS];
} diary;

static void write_down(void *context, const tal_system *system, const tal_contact_event *event)
{
    (void)system;
    diary *book = context;
    ck_assert_int_lt(book->n, MOST_EVENTS);
    book->event[book->n++] = *event;
}

static int count_kind(const diary *book, tal_contact_kind kind)
{
    int n = 0;
    for (int i = 0; i < book->n; ++i) {
        n += book->event[i].kind == kind;
    }
    return n;
}

/// A floor: x of Ground, y up.
static tal_xform floor_plane(void)
{
    return tal_xf(tal_m3(tal_v3(1.0, 0.0, 0.0), tal_v3(0.0, 0.0, -1.0), tal_v3(0.0, 1.0, 0.0)),
                  TAL_VEC3_ZERO);
}

static tal_contacts_def listening(diary *book)
{
    tal_contacts_def def = tal_contacts_def_default();
    def.listen = write_down;
    def.context = book;
    return def;
}

/// A point 1 m above a floor.
static void begin_ball_at(stepper_model *m, double height, double e, const tal_contacts_def *def)
{
    *m = begin_stepper_model(G);
    const tal_body_ix body = add_point(m);
    const double q[3] = {0.0, height + 1.0, 0.0};
    ck_assert_int_eq(tal_body_set_initial_q(m->matter, body, q, 3), TAL_OK);
    tal_unilateral_def contact = tal_unilateral_def_default();
    contact.name = "ball";
    contact.material.restitution = e;
    tal_xform plane = floor_plane();
    plane.p.y = height;
    (void)tal_unilateral_add_point_on_plane(m->matter, &contact, TAL_GROUND, &plane, body,
                                            TAL_VEC3_ZERO);
    (void)tal_contacts_create(m->system, def);
}

static void begin_ball(stepper_model *m, double e, const tal_contacts_def *def)
{
    begin_ball_at(m, 0.0, e, def);
}

// The n-th impact of a ball that falls from 1 m, n from 0.
static double impact_time(double e, int n)
{
    const double t1 = sqrt(2.0 / G);
    double t = t1, flight = 2.0 * t1;
    for (int k = 0; k < n; ++k) {
        flight *= e;
        t += flight;
    }
    return t;
}

// Bounces end with the first flight that is shorter than 1e-6 s, where impacts are said to pile up;
// of a method that is not exact for a parabola, at `least` after so many that its errors hide one.
static void let_ball_bounce(const tal_integrator_def *method, double tolerance, int least)
{
    static diary book;
    book.n = 0;
    stepper_model m;
    const double e = 0.8;
    const tal_contacts_def def = listening(&book);
    begin_ball(&m, e, &def);
    finish_stepper_model(&m, method, NULL);
    ck_assert_int_eq(run_stepper(&m, 5.0), TAL_OUTCOME_REACHED_TIME);
    const double v1 = sqrt(2.0 * G);
    const int most = (int)ceil(log(0.5e-6 * G / v1) / log(e)) + 1;
    ck_assert_int_ge(count_kind(&book, TAL_CONTACT_IMPACT), least < most ? least : most);
    ck_assert_int_le(count_kind(&book, TAL_CONTACT_IMPACT), most);
    for (int n = 0; n < 30; ++n) {
        ck_assert_int_eq(book.event[n].kind, TAL_CONTACT_IMPACT);
        ck_assert_double_eq_tol(book.event[n].t, impact_time(e, n), tolerance);
        ck_assert_double_eq_tol(book.event[n].after, pow(e, n + 1) * v1, 10.0 * tolerance);
    }
    ck_assert_int_eq(count_kind(&book, TAL_CONTACT_CLOSES), 1);
    ck_assert_int_eq(book.event[book.n - 1].kind, TAL_CONTACT_CLOSES);
    // what is left of the series is e/(1 - e) of the last flight
    ck_assert_double_eq_tol(book.event[book.n - 1].t, impact_time(e, 1000),
                            4e-6 + 10.0 * tolerance);
    ck_assert_double_eq_tol(tal_state_q(m.state)[1], 0.0, 1e-9);
    ck_assert_double_eq_tol(tal_state_u(m.state)[1], 0.0, 1e-9);
    const tal_unilateral_ix ball = tal_matter_find_unilateral(m.matter, "ball");
    ck_assert_double_eq_tol(tal_unilateral_force_of(m.matter, m.state, ball).normal, G, 1e-9);
    end_stepper_model(&m);
}

START_TEST(a_ball_bounces_at_the_right_times_and_comes_to_rest)
{
    const tal_integrator_def def = dormand_prince(1e-10);
    let_ball_bounce(&def, 1e-9, 1000);
}

END_TEST

// One-step methods but those of first order, which are left out, are exact for a parabola; at an
// accuracy of 1e-6 multistep methods lose the bounces that are no higher than what their steps are
// held to: 2.5e-7 m with Adams' (0.64^34), 1e-8 m with the others (0.64^41). An error of 2.5e-7 m
// is one of 2.5e-7 / v in time, v = 0.8^n 4.4 m/s, over all bounces up to the 30th 2.3e-4 s.
START_TEST(a_ball_bounces_by_every_method)
{
    for (int k = 0; k < tal_num_methods(); ++k) {
        tal_integrator_def def = tal_method_def(k);
        def.accuracy = 1e-6;
        const char *name = tal_method_name(k);
        if (strstr(name, "euler") != NULL) continue;
        const bool is_adams = strstr(name, "adams") != NULL;
        let_ball_bounce(&def, is_adams ? 3e-4 : 1e-4, is_adams ? 34 : 40);
    }
}

END_TEST

// High above the origin the gap has a resolution of 1e-13 m: how a slow ball moves in a window of
// 1e-12 s cannot be seen.
START_TEST(a_ball_comes_to_rest_where_its_gap_has_few_digits)
{
    const double heights[] = {0.1, 10.0, 1000.0};
    for (int k = 0; k < 3; ++k) {
        stepper_model m;
        begin_ball_at(&m, heights[k], 0.8, NULL);
        tal_time_stepper_def run = tal_time_stepper_def_default();
        run.max_steps = 2000;
        finish_stepper_model(&m, NULL, &run);
        (void)run_stepper(&m, 5.0);
        const tal_unilateral_ix ball = {0};
        ck_assert_int_eq(tal_unilateral_mode_of(m.matter, m.state, ball), TAL_UNILATERAL_ON);
        ck_assert_double_eq_tol(tal_state_q(m.state)[1], heights[k], 1e-6);
        end_stepper_model(&m);
    }
}

END_TEST

START_TEST(impacts_that_pile_up_end_a_run_if_wanted)
{
    stepper_model m;
    tal_contacts_def def = tal_contacts_def_default();
    def.pile_up = TAL_PILE_UP_STOP;
    begin_ball(&m, 0.8, &def);
    const tal_integrator_def method = dormand_prince(1e-10);
    finish_stepper_model(&m, &method, NULL);
    tal_outcome outcome = TAL_OUTCOME_END;
    ck_assert_int_eq(tal_time_stepper_step_to(m.stepper, m.state, 5.0, &outcome),
                     TAL_ERR_EVENT_LIMIT);
    const char *message = tal_time_stepper_error(m.stepper)->message;
    const char *t = strstr(message, "t = ");
    ck_assert_msg(t != NULL && strstr(message, "'ball'") != NULL, "%s", message);
    ck_assert_double_eq_tol(strtod(t + 4, NULL), impact_time(0.8, 1000), 1e-6);
    end_stepper_model(&m);
}

END_TEST

// --- friction ---

/// A point on a slope of 30 degrees that rises along x, pushed up at 3 m/s.
static void begin_slope(stepper_model *m, double mu, const tal_contacts_def *def)
{
    const double c = cos(30.0 * TAL_DEGREE), s = 0.5;
    *m = begin_stepper_model(G);
    const tal_body_ix body = add_point(m);
    tal_unilateral_def contact = tal_unilateral_def_default();
    contact.name = "foot";
    contact.material.static_mu = contact.material.sliding_mu = mu;
    const tal_xform plane = tal_xf(
        tal_m3(tal_v3(c, s, 0.0), tal_v3(0.0, 0.0, -1.0), tal_v3(-s, c, 0.0)), TAL_VEC3_ZERO);
    (void)tal_unilateral_add_point_on_plane(m->matter, &contact, TAL_GROUND, &plane, body,
                                            TAL_VEC3_ZERO);
    (void)tal_contacts_create(m->system, def);
    const tal_integrator_def method = dormand_prince(1e-10);
    finish_stepper_model(m, &method, NULL);
    const double u[3] = {3.0 * c, 3.0 * s, 0.0};
    (void)tal_state_set_u(m->state, u, 3);
}

// It stops after v/(g (sin + mu cos)); above mu = tan(30 degrees) = 0.577 it stays, below it slides
// back.
START_TEST(a_block_on_a_slope_stops_and_stays_or_slides_back)
{
    const double c = cos(30.0 * TAL_DEGREE), s = 0.5;
    for (int k = 0; k < 2; ++k) {
        const double mu = k == 0 ? 0.58 : 0.57;
        diary book = {.n = 0};
        const tal_contacts_def def = listening(&book);
        stepper_model m;
        begin_slope(&m, mu, &def);
        (void)run_stepper(&m, 2.0);
        const double up = G * (s + mu * c), down = G * (s - mu * c);
        const double t = 3.0 / up, x = 0.5 * 3.0 * t;
        ck_assert_int_eq(book.n, k == 0 ? 2 : 1); // it slides all the time, first up, then down
        ck_assert_int_eq(book.event[0].kind, TAL_CONTACT_CLOSES);
        ck_assert_double_eq(book.event[0].t, 0.0);
        if (k == 0) ck_assert_double_eq_tol(book.event[1].t, t, 1e-9);
        const tal_unilateral_ix foot = {0};
        const double *q = tal_state_q(m.state), *u = tal_state_u(m.state);
        const double here = q[0] * c + q[1] * s, speed = u[0] * c + u[1] * s;
        const double back = 2.0 - t;
        if (k == 0) {
            ck_assert_int_eq(tal_unilateral_mode_of(m.matter, m.state, foot), TAL_UNILATERAL_STICK);
            ck_assert_double_eq_tol(here, x, 1e-9);
            ck_assert_double_eq_tol(speed, 0.0, 1e-11); // the tolerance of constraints
        } else {
            ck_assert_int_eq(tal_unilateral_mode_of(m.matter, m.state, foot), TAL_UNILATERAL_SLIDE);
            ck_assert_double_eq_tol(here, x - 0.5 * down * back * back, 1e-9);
            ck_assert_double_eq_tol(speed, -down * back, 1e-9);
        }
        end_stepper_model(&m);
    }
}

END_TEST

// A ball of 7 kg that slides at 8 m/s, turned backwards at 30 rad/s in the second row, rolls from
// t = 2 (v - R w)/(7 mu g) on, at (5 v + 2 R w)/7 (Euler).
START_TEST(a_ball_begins_to_roll_in_time)
{
    const double R = 0.108, mu = 0.12, v = 8.0;
    for (int k = 0; k < 2; ++k) {
        const double w = k == 0 ? 0.0 : -30.0;
        diary book = {.n = 0};
        const tal_contacts_def def = listening(&book);
        stepper_model m = begin_stepper_model(G);
        tal_mobod_def body_def = tal_mobod_def_default();
        const double I = 0.4 * 7.0 * R * R;
        body_def.mass.mass = 7.0;
        body_def.mass.inertia = tal_s3_diag(I, I, I);
        const tal_body_ix body = tal_matter_add_free(m.matter, TAL_GROUND, &body_def);
        tal_unilateral_def contact = tal_unilateral_def_default();
        contact.material.static_mu = contact.material.sliding_mu = mu;
        const tal_xform plane = floor_plane();
        (void)tal_unilateral_add_sphere_on_plane(m.matter, &contact, TAL_GROUND, &plane, body,
                                                 TAL_VEC3_ZERO, R);
        (void)tal_contacts_create(m.system, &def);
        const tal_integrator_def method = dormand_prince(1e-10);
        finish_stepper_model(&m, &method, NULL);
        double *q = tal_state_upd_q(m.state);
        q[5] = R; // quaternion, x, y, z
        const double u[6] = {0.0, 0.0, -w, v, 0.0, 0.0};
        (void)tal_state_set_u(m.state, u, 6);
        (void)run_stepper(&m, 4.0);
        ck_assert_int_eq(book.n, 2);
        ck_assert_int_eq(book.event[1].kind, TAL_CONTACT_STICKS);
        const double t = 2.0 * (v - R * w) / (7.0 * mu * G), rolls = (5.0 * v + 2.0 * R * w) / 7.0;
        ck_assert_double_eq_tol(book.event[1].t, t, 1e-9);
        ck_assert_double_eq_tol(tal_state_u(m.state)[3], rolls, 1e-9);
        ck_assert_double_eq_tol(tal_state_u(m.state)[2], -rolls / R, 1e-7);
        const double x = v * t - 0.5 * mu * G * t * t + rolls * (4.0 - t);
        ck_assert_double_eq_tol(tal_state_q(m.state)[4], x, 1e-8);
        end_stepper_model(&m);
    }
}

END_TEST

// --- contacts that open ---

// A small ball that slides down a large one leaves it where the weight along the normal is what
// keeps it on its circle: at cos = 2/3 of that of the start.
START_TEST(a_ball_leaves_another_where_it_should)
{
    const double R = 1.1, start = 0.1;
    diary book = {.n = 0};
    const tal_contacts_def def = listening(&book);
    stepper_model m = begin_stepper_model(G);
    const tal_body_ix body = add_point(&m);
    (void)tal_unilateral_add_sphere_on_sphere(m.matter, NULL, TAL_GROUND, TAL_VEC3_ZERO, 1.0, body,
                                              TAL_VEC3_ZERO, 0.1);
    (void)tal_contacts_create(m.system, &def);
    const tal_integrator_def method = dormand_prince(1e-10);
    finish_stepper_model(&m, &method, NULL);
    const double q[3] = {R * sin(start), R * cos(start), 0.0};
    (void)tal_state_set_q(m.state, q, 3);
    tal_outcome outcome = TAL_OUTCOME_STEP;
    while (book.n < 2 && tal_state_t(m.state) < 2.0) {
        ck_assert_int_eq(tal_time_stepper_advance(m.stepper, m.state, 2.0, &outcome), TAL_OK);
    }
    ck_assert_int_eq(book.event[0].kind, TAL_CONTACT_CLOSES);
    ck_assert_int_eq(book.event[1].kind, TAL_CONTACT_OPENS);
    const double height = 2.0 / 3.0 * R * cos(start);
    ck_assert_double_eq_tol(tal_state_q(m.state)[1], height, 1e-9);
    const double *u = tal_state_u(m.state);
    ck_assert_double_eq_tol(u[0] * u[0] + u[1] * u[1], G * height, 1e-8); // v^2 = g R cos
    (void)run_stepper(&m, 1.0);
    ck_assert_int_eq(book.n, 2); // it falls past the large one
    end_stepper_model(&m);
}

END_TEST

// A ladder of 2 m, theta from the vertical, on a floor and at a wall without friction: it leaves
// the wall at cos(theta) = 2/3 cos(theta0), and its center keeps its speed along x from then on.
START_TEST(a_ladder_leaves_its_wall)
{
    const double start = 0.3, L = 2.0;
    diary book = {.n = 0};
    const tal_contacts_def def = listening(&book);
    stepper_model m = begin_stepper_model(G);
    tal_mobod_def body_def = tal_mobod_def_default();
    body_def.mass.mass = 3.0;
    body_def.mass.inertia = tal_s3_diag(1.0, 1e-3, 1.0); // m L^2/12
    const tal_body_ix body = tal_matter_add_planar(m.matter, TAL_GROUND, &body_def);
    const tal_xform floor = floor_plane();
    const tal_xform wall = tal_xf(
        tal_m3(tal_v3(0.0, 1.0, 0.0), tal_v3(0.0, 0.0, 1.0), tal_v3(1.0, 0.0, 0.0)), TAL_VEC3_ZERO);
    tal_unilateral_def contact = tal_unilateral_def_default();
    contact.name = "foot";
    (void)tal_unilateral_add_point_on_plane(m.matter, &contact, TAL_GROUND, &floor, body,
                                            tal_v3(0.0, -1.0, 0.0));
    contact.name = "top";
    const tal_unilateral_ix top = tal_unilateral_add_point_on_plane(
        m.matter, &contact, TAL_GROUND, &wall, body, tal_v3(0.0, 1.0, 0.0));
    (void)tal_contacts_create(m.system, &def);
    const tal_integrator_def method = dormand_prince(1e-10);
    finish_stepper_model(&m, &method, NULL);
    const double q[3] = {start, 0.5 * L * sin(start), 0.5 * L * cos(start)};
    (void)tal_state_set_q(m.state, q, 3);
    tal_outcome outcome = TAL_OUTCOME_STEP;
    while (book.n < 3 && tal_state_t(m.state) < 5.0) {
        ck_assert_int_eq(tal_time_stepper_advance(m.stepper, m.state, 5.0, &outcome), TAL_OK);
    }
    ck_assert_int_eq(book.event[2].kind, TAL_CONTACT_OPENS);
    ck_assert_int_eq(book.event[2].element.i, top.i);
    ck_assert_double_eq_tol(cos(tal_state_q(m.state)[0]), 2.0 / 3.0 * cos(start), 1e-9);
    const double speed = tal_state_u(m.state)[1];
    (void)run_stepper(&m, tal_state_t(m.state) + 0.1);
    ck_assert_double_eq_tol(tal_state_u(m.state)[1], speed, 1e-12);
    ck_assert_int_eq(book.n, 3);
    end_stepper_model(&m);
}

END_TEST

// --- stops, ropes, ratchets, dry friction ---

// Without gravity a slider goes to and fro between two stops; each impact leaves e of its speed.
START_TEST(a_slider_rebounds_from_its_stops)
{
    diary book = {.n = 0};
    const tal_contacts_def def = listening(&book);
    stepper_model m = begin_stepper_model(0.0);
    tal_mobod_def body_def = tal_mobod_def_default();
    body_def.mass = tal_mass_props_point(2.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_slider(m.matter, TAL_GROUND, &body_def);
    tal_unilateral_def stop = tal_unilateral_def_default();
    stop.material.restitution = 0.5;
    const tal_mobility at = {body, 0};
    (void)tal_unilateral_add_stop(m.matter, &stop, at, 1.0, true);
    (void)tal_unilateral_add_stop(m.matter, &stop, at, -1.0, false);
    (void)tal_contacts_create(m.system, &def);
    const tal_integrator_def method = dormand_prince(1e-10);
    finish_stepper_model(&m, &method, NULL);
    const double u = 4.0;
    (void)tal_state_set_u(m.state, &u, 1);
    (void)run_stepper(&m, 1.75); // 0.25 s + 1 s at 2 m/s + 0.5 s at 1 m/s
    ck_assert_int_eq(book.n, 2);
    ck_assert_double_eq_tol(book.event[0].t, 0.25, 1e-11);
    ck_assert_double_eq_tol(book.event[0].normal, 2.0 * 6.0, 1e-12);
    ck_assert_double_eq_tol(book.event[1].t, 1.25, 1e-11);
    ck_assert_double_eq_tol(tal_state_q(m.state)[0], -0.5, 1e-10);
    ck_assert_double_eq_tol(tal_state_u(m.state)[0], 1.0, 1e-12);
    end_stepper_model(&m);
}

END_TEST

// A point on a slack rope of 1 m falls from (0.6, 0) to (0.6, -0.8). There the rope has the
// direction (0.6, -0.8): e of the speed along it is left, reversed, and all across it.
START_TEST(a_rope_jerks)
{
    diary book = {.n = 0};
    const tal_contacts_def def = listening(&book);
    stepper_model m = begin_stepper_model(G);
    const tal_body_ix body = add_point(&m);
    tal_unilateral_def rope = tal_unilateral_def_default();
    rope.name = "rope";
    rope.material.restitution = 0.25;
    (void)tal_unilateral_add_rope(m.matter, &rope, TAL_GROUND, TAL_VEC3_ZERO, body, TAL_VEC3_ZERO,
                                  1.0);
    (void)tal_contacts_create(m.system, &def);
    const tal_integrator_def method = dormand_prince(1e-10);
    finish_stepper_model(&m, &method, NULL);
    const double q[3] = {0.6, 0.0, 0.0};
    (void)tal_state_set_q(m.state, q, 3);
    tal_outcome outcome = TAL_OUTCOME_STEP;
    while (book.n < 1 && tal_state_t(m.state) < 2.0) {
        ck_assert_int_eq(tal_time_stepper_advance(m.stepper, m.state, 2.0, &outcome), TAL_OK);
    }
    const double v = sqrt(2.0 * G * 0.8); // down
    ck_assert_double_eq_tol(book.event[0].t, v / G, 1e-10);
    ck_assert_double_eq_tol(book.event[0].normal, 1.25 * 0.8 * v, 1e-9);
    const double along = -0.25 * 0.8 * v, across = 0.6 * v; // along (0.6, -0.8), (-0.8, -0.6)
    ck_assert_double_eq_tol(tal_state_u(m.state)[0], 0.6 * along - 0.8 * across, 1e-9);
    ck_assert_double_eq_tol(tal_state_u(m.state)[1], -0.8 * along - 0.6 * across, 1e-9);
    end_stepper_model(&m);
}

END_TEST

// A pendulum on a ratchet swings one way only: it stays where it comes to rest.
START_TEST(a_ratchet_lets_a_pendulum_swing_one_way)
{
    diary book = {.n = 0};
    const tal_contacts_def def = listening(&book);
    stepper_model m = begin_stepper_model(G);
    const tal_body_ix body = add_pendulum(&m);
    const tal_mobility at = {body, 0};
    (void)tal_unilateral_add_ratchet(m.matter, NULL, at, 0.0, 1);
    (void)tal_contacts_create(m.system, &def);
    const tal_integrator_def method = dormand_prince(1e-10);
    finish_stepper_model(&m, &method, NULL);
    const double start = -1.0;
    (void)tal_state_set_q(m.state, &start, 1);
    (void)run_stepper(&m, 10.0);
    // at rest it begins to swing upward without the ratchet, and ends as high as it began
    ck_assert_int_eq(book.n, 1);
    ck_assert_int_eq(book.event[0].kind, TAL_CONTACT_CLOSES);
    ck_assert_double_eq_tol(tal_state_q(m.state)[0], 1.0, 1e-8);
    ck_assert_double_eq_tol(tal_state_u(m.state)[0], 0.0, 1e-10);
    const tal_unilateral_ix ratchet = {0};
    ck_assert_double_eq_tol(tal_unilateral_force_of(m.matter, m.state, ratchet).normal,
                            G * sin(1.0), 1e-7);
    end_stepper_model(&m);
}

END_TEST

// Dry friction of 3 N stops a slider of 2 kg that a spring pulls, where the spring is weak enough;
// until then it takes the same energy on each centimeter: k (a^2 - b^2)/2 = F (a + b) from turn to
// turn.
START_TEST(dry_friction_stops_a_slider_on_a_spring)
{
    const double k = 50.0, F = 3.0, start = 0.5;
    diary book = {.n = 0};
    const tal_contacts_def def = listening(&book);
    stepper_model m = begin_stepper_model(0.0);
    tal_mobod_def body_def = tal_mobod_def_default();
    body_def.mass = tal_mass_props_point(2.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_slider(m.matter, TAL_GROUND, &body_def);
    const tal_mobility at = {body, 0};
    (void)tal_forces_add_mobility_spring(m.forces, NULL, at, k, 0.0);
    tal_unilateral_def dry = tal_unilateral_def_default();
    dry.material.limit = F;
    (void)tal_unilateral_add_dry_friction(m.matter, &dry, at, 0.0);
    (void)tal_contacts_create(m.system, &def);
    const tal_integrator_def method = dormand_prince(1e-10);
    finish_stepper_model(&m, &method, NULL);
    (void)tal_state_set_q(m.state, &start, 1);
    (void)run_stepper(&m, 10.0);
    double end = start; // each half swing is shorter by 2 F/k, until the spring cannot pull it on
    double sign = 1.0;
    while (k * end > F) {
        end -= 2.0 * F / k;
        sign = -sign;
    }
    ck_assert_double_eq_tol(tal_state_q(m.state)[0], sign * end, 1e-8);
    ck_assert_double_eq_tol(tal_state_u(m.state)[0], 0.0, 1e-12);
    ck_assert_int_eq(book.event[book.n - 1].kind, TAL_CONTACT_STICKS);
    end_stepper_model(&m);
}

END_TEST

// --- a block that rocks (Housner) ---

// 0.2 m wide and 1 m high, from 0.08 rad: each impact leaves 49/52 of its angular speed. Times are
// those of the specification.
START_TEST(a_block_rocks_and_comes_to_rest)
{
    const double b = 0.1, h = 0.5, start = 0.08;
    static diary book;
    book.n = 0;
    const tal_contacts_def def = listening(&book);
    stepper_model m = begin_stepper_model(G);
    tal_mobod_def body_def = tal_mobod_def_default();
    const double I = (b * b + h * h) / 3.0;
    body_def.mass.mass = 1.0;
    body_def.mass.inertia = tal_s3_diag(I, I, I);
    const tal_body_ix body = tal_matter_add_planar(m.matter, TAL_GROUND, &body_def);
    const tal_xform floor = floor_plane();
    for (int side = -1; side <= 1; side += 2) {
        tal_unilateral_def contact = tal_unilateral_def_default();
        contact.name = side < 0 ? "left" : "right";
        contact.material.static_mu = contact.material.sliding_mu = 5.0;
        (void)tal_unilateral_add_point_on_plane(m.matter, &contact, TAL_GROUND, &floor, body,
                                                tal_v3(side * b, -h, 0.0));
    }
    (void)tal_contacts_create(m.system, &def);
    const tal_integrator_def method = dormand_prince(1e-10);
    finish_stepper_model(&m, &method, NULL);
    // on its left corner
    const double c = cos(start), s = sin(start);
    const double q[3] = {start, b * c - h * s, b * s + h * c};
    (void)tal_state_set_q(m.state, q, 3);
    (void)run_stepper(&m, 1.3);
    const double times[3] = {.292540372468, .814995936771, 1.287254185792};
    int n = 0;
    double last = -1.0;
    for (int i = 0; i < book.n; ++i) {
        const tal_contact_event *event = &book.event[i];
        if (event->kind != TAL_CONTACT_IMPACT || event->t == last) continue;
        last = event->t;
        ck_assert_int_lt(n, 3);
        ck_assert_double_eq_tol(event->t, times[n++], 2e-9);
    }
    ck_assert_int_eq(n, 3);
    end_stepper_model(&m);
}

END_TEST

// --- mistakes ---

START_TEST(a_stepper_refuses_elements_that_nobody_handles)
{
    stepper_model m = begin_stepper_model(G);
    const tal_body_ix body = add_point(&m);
    const tal_xform plane = floor_plane();
    (void)tal_unilateral_add_point_on_plane(m.matter, NULL, TAL_GROUND, &plane, body,
                                            TAL_VEC3_ZERO);
    tal_error err = {0};
    ck_assert_int_eq(tal_system_realize_topology(m.system, &err), TAL_OK);
    ck_assert_int_eq(tal_integrator_create(m.system, NULL, &m.integ, &err), TAL_OK);
    ck_assert_int_eq(tal_time_stepper_create(m.integ, NULL, &m.stepper, &err), TAL_ERR_BAD_VALUE);
    ck_assert_msg(strstr(err.message, "1 unilateral") != NULL, "%s", err.message);
    end_stepper_model(&m);
}

END_TEST

START_TEST(an_element_that_penetrates_at_the_start_is_named)
{
    stepper_model m;
    begin_ball(&m, 0.5, NULL);
    finish_stepper_model(&m, NULL, NULL);
    const double q[3] = {0.0, -0.125, 0.0};
    (void)tal_state_set_q(m.state, q, 3);
    tal_outcome outcome;
    ck_assert_int_eq(tal_time_stepper_step_to(m.stepper, m.state, 1.0, &outcome),
                     TAL_ERR_BAD_VALUE);
    const char *message = tal_time_stepper_error(m.stepper)->message;
    ck_assert_msg(strstr(message, "'ball'") != NULL && strstr(message, "0.125") != NULL, "%s",
                  message);
    end_stepper_model(&m);
}

END_TEST

START_TEST(wrong_definitions_are_refused)
{
    const struct {
        double gap, speed, capture, window, interval;
        int pile_up;
        const char *says;
    } rows[] = {{0.0, 1e-6, 0.0, 1e-12, 1e-6, 0, "gap_tolerance"},
                {1e-6, (double)NAN, 0.0, 1e-12, 1e-6, 0, "speed_tolerance"},
                {1e-6, 1e-6, -1.0, 1e-12, 1e-6, 0, "capture_speed"},
                {1e-6, 1e-6, 0.0, (double)INFINITY, 1e-6, 0, "window"},
                {1e-6, 1e-6, 0.0, 1e-12, -1e-6, 0, "pile_up_interval"},
                {1e-6, 1e-6, 0.0, 1e-12, 1e-6, 7, "pile_up is invalid: 7"}};

    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; ++k) {
        tal_system *system = tal_system_create(NULL);
        (void)tal_matter_create(system);
        tal_contacts_def def = tal_contacts_def_default();
        def.gap_tolerance = rows[k].gap;
        def.speed_tolerance = rows[k].speed;
        def.capture_speed = rows[k].capture;
        def.window = rows[k].window;
        def.pile_up_interval = rows[k].interval;
        def.pile_up = (tal_pile_up)rows[k].pile_up;
        ck_assert_ptr_null(tal_contacts_create(system, &def));
        const tal_error *err = tal_system_error(system);
        ck_assert_int_eq(err->status, TAL_ERR_BAD_VALUE);
        ck_assert_msg(strstr(err->message, rows[k].says) != NULL, "%s", err->message);
        tal_system_destroy(system);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/contacts");
    TCase *runs = tcase_create("runs");
    tcase_set_timeout(runs, 120);
    tcase_add_test(runs, a_ball_bounces_at_the_right_times_and_comes_to_rest);
    tcase_add_test(runs, a_ball_bounces_by_every_method);
    tcase_add_test(runs, a_ball_comes_to_rest_where_its_gap_has_few_digits);
    tcase_add_test(runs, impacts_that_pile_up_end_a_run_if_wanted);
    tcase_add_test(runs, a_block_on_a_slope_stops_and_stays_or_slides_back);
    tcase_add_test(runs, a_ball_begins_to_roll_in_time);
    tcase_add_test(runs, a_ball_leaves_another_where_it_should);
    tcase_add_test(runs, a_ladder_leaves_its_wall);
    tcase_add_test(runs, a_slider_rebounds_from_its_stops);
    tcase_add_test(runs, a_rope_jerks);
    tcase_add_test(runs, a_ratchet_lets_a_pendulum_swing_one_way);
    tcase_add_test(runs, dry_friction_stops_a_slider_on_a_spring);
    tcase_add_test(runs, a_block_rocks_and_comes_to_rest);
    tcase_add_test(runs, a_stepper_refuses_elements_that_nobody_handles);
    tcase_add_test(runs, an_element_that_penetrates_at_the_start_is_named);
    tcase_add_test(runs, wrong_definitions_are_refused);
    suite_add_tcase(suite, runs);
    return test_run(suite);
}
