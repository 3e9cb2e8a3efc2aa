// study/src/contact/, matter/src/unilateral/unilateral_limits.c: elements that end, bowls, and
// where a user says that an element may touch. Closed forms throughout (T20 of the specification).
#include "stepper_model.h"

#include <talus/matter/unilaterals.h>

#include <math.h>
#include <string.h>

static const double G = 9.81;

typedef struct diary {
    int n;
    tal_contact_event event[64];
} diary;

static void write_down(void *context, const tal_system *system, const tal_contact_event *event)
{
    (void)system;
    diary *book = context;
    ck_assert_int_lt(book->n, 64);
    book->event[book->n++] = *event;
}

static void handle(stepper_model *m, diary *book)
{
    tal_contacts_def def = tal_contacts_def_default();
    book->n = 0;
    def.listen = write_down;
    def.context = book;
    (void)tal_contacts_create(m->system, &def);
    const tal_integrator_def method = dormand_prince(1e-10);
    finish_stepper_model(m, &method, NULL);
}

/// A floor: x of Ground, y up.
static tal_xform floor_plane(void)
{
    return tal_xf(tal_m3(tal_v3(1.0, 0.0, 0.0), tal_v3(0.0, 0.0, -1.0), tal_v3(0.0, 1.0, 0.0)),
                  TAL_VEC3_ZERO);
}

static const double TABLE[8] = {-1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0};

static void begin_on_table(stepper_model *m, diary *book, double e)
{
    *m = begin_stepper_model(G);
    const tal_body_ix body = add_point(m);
    tal_unilateral_def def = tal_unilateral_def_default();
    def.material.restitution = e;
    const tal_xform plane = floor_plane();
    const tal_unilateral_ix foot =
        tal_unilateral_add_point_on_plane(m->matter, &def, TAL_GROUND, &plane, body, TAL_VEC3_ZERO);
    ck_assert_int_eq(tal_unilateral_limit_polygon(m->matter, foot, TABLE, 4), TAL_OK);
    handle(m, book);
}

// It is pushed by m g until it passes the edge at x = 1, at 2 m/s after 0.5 s, and falls then.
START_TEST(a_point_runs_off_a_table)
{
    stepper_model m;
    diary book;
    begin_on_table(&m, &book, 0.0);
    const double u[3] = {2.0, 0.0, 0.0};
    (void)tal_state_set_u(m.state, u, 3);
    const tal_unilateral_ix foot = {0};
    (void)run_stepper(&m, 0.4);
    ck_assert_double_eq_tol(tal_unilateral_force_of(m.matter, m.state, foot).normal, G, 1e-9);
    ck_assert_double_eq_tol(tal_unilateral_margin(m.matter, m.state, foot), 0.2, 1e-9);
    (void)run_stepper(&m, 1.0);
    ck_assert_int_eq(book.n, 2);
    ck_assert_int_eq(book.event[0].kind, TAL_CONTACT_CLOSES);
    ck_assert_int_eq(book.event[1].kind, TAL_CONTACT_OPENS);
    ck_assert_double_eq_tol(book.event[1].t, 0.5, 1e-9);
    ck_assert_double_eq_tol(tal_state_q(m.state)[0], 2.0, 1e-9);
    ck_assert_double_eq_tol(tal_state_q(m.state)[1], -0.5 * G * 0.25, 1e-9);
    end_stepper_model(&m);
}

END_TEST

// Below the table, moving in under it: nothing stops it there, nor on its way up through the table.
// Then it lands on it.
START_TEST(what_comes_from_below_passes_and_lands_from_above)
{
    stepper_model m;
    diary book;
    begin_on_table(&m, &book, 0.0);
    const double q[3] = {-1.5, -1.0, 0.0}, u[3] = {1.0, 5.0, 0.0};
    (void)tal_state_set_q(m.state, q, 3);
    (void)tal_state_set_u(m.state, u, 3);
    (void)run_stepper(&m, 1.5);
    // up through y = 0 at the first root of -1 + 5 t - g t^2/2, down at the second
    const double root = sqrt(25.0 - 2.0 * G), up = (5.0 - root) / G, down = (5.0 + root) / G;
    ck_assert_double_lt(up, 0.5); // before it is over the table: it comes back above it
    ck_assert_int_eq(book.event[0].kind, TAL_CONTACT_IMPACT);
    ck_assert_double_eq_tol(book.event[0].t, down, 1e-9);
    ck_assert_double_eq_tol(tal_state_q(m.state)[1], 0.0, 1e-9);
    // under the table at the time it rises through it
    const double far[3] = {-0.5, -1.0, 0.0};
    tal_state *again = NULL;
    tal_error err;
    ck_assert_int_eq(tal_state_create(m.system, &again, &err), TAL_OK);
    (void)tal_state_set_q(again, far, 3);
    (void)tal_state_set_u(again, u, 3);
    ck_assert_int_eq(tal_system_realize(m.system, again, TAL_STAGE_TIME), TAL_OK);
    ck_assert_int_eq(tal_unilateral_set_enabled(m.matter, again, (tal_unilateral_ix){0}, false),
                     TAL_OK);
    book.n = 0;
    tal_time_stepper_reset(m.stepper);
    tal_outcome outcome;
    ck_assert_msg(tal_time_stepper_step_to(m.stepper, again, 1.4, &outcome) == TAL_OK, "%s",
                  tal_time_stepper_error(m.stepper)->message);
    ck_assert_int_eq(book.event[0].kind, TAL_CONTACT_IMPACT);
    ck_assert_double_eq_tol(book.event[0].t, down, 1e-9);
    ck_assert_double_eq_tol(tal_state_q(again)[1], 0.0, 1e-9);
    tal_state_destroy(again);
    end_stepper_model(&m);
}

END_TEST

// A bar along z falls across a bar along x, both half a meter to each side; at x = 0.6 it misses.
START_TEST(edges_end)
{
    for (int k = 0; k < 4; ++k) {
        const double x = k % 2 == 0 ? 0.4 : 0.6, z = k < 2 ? 0.3 : -0.7;
        stepper_model m = begin_stepper_model(G);
        diary book;
        const tal_body_ix bar = add_point(&m);
        const double q[3] = {x, 1.0, z};
        (void)tal_body_set_initial_q(m.matter, bar, q, 3);
        const tal_xform edge1 = floor_plane();
        const tal_xform edge2 =
            tal_xf(tal_m3(tal_v3(0.0, 0.0, 1.0), tal_v3(1.0, 0.0, 0.0), tal_v3(0.0, 1.0, 0.0)),
                   TAL_VEC3_ZERO);
        const tal_unilateral_ix edges =
            tal_unilateral_add_edge_on_edge(m.matter, NULL, TAL_GROUND, &edge1, bar, &edge2);
        ck_assert_int_eq(tal_unilateral_limit_edges(m.matter, edges, 0.5, 0.5), TAL_OK);
        handle(&m, &book);
        (void)run_stepper(&m, 1.0);
        const bool hits = k == 0;
        ck_assert_int_eq(book.n > 0, hits);
        if (hits) ck_assert_double_eq_tol(book.event[0].t, sqrt(2.0 / G), 1e-9);
        ck_assert_double_eq_tol(tal_state_q(m.state)[1], hits ? 0.0 : 1.0 - 0.5 * G, 1e-8);
        end_stepper_model(&m);
    }
}

END_TEST

// A small ball in a bowl of which it may run up R = r1 - r2: from the bottom with v^2 = 3.5 g R it
// leaves where cos = (2 - 3.5)/3 = -1/2 of the angle from the bottom.
START_TEST(a_ball_leaves_the_wall_of_a_bowl)
{
    const double R = 0.9;
    stepper_model m = begin_stepper_model(G);
    diary book;
    const tal_body_ix ball = add_point(&m);
    const double q[3] = {0.0, -R, 0.0}, u[3] = {sqrt(3.5 * G * R), 0.0, 0.0};
    (void)tal_body_set_initial_q(m.matter, ball, q, 3);
    const tal_unilateral_ix bowl = tal_unilateral_add_sphere_in_sphere(
        m.matter, NULL, TAL_GROUND, TAL_VEC3_ZERO, 1.0, ball, TAL_VEC3_ZERO, 0.1);
    handle(&m, &book);
    (void)tal_state_set_u(m.state, u, 3);
    tal_outcome outcome = TAL_OUTCOME_STEP;
    ck_assert_double_eq_tol(tal_unilateral_gap(m.matter, m.state, bowl), 0.0, 1e-15);
    while (book.n < 2 && tal_state_t(m.state) < 2.0) {
        ck_assert_int_eq(tal_time_stepper_advance(m.stepper, m.state, 2.0, &outcome), TAL_OK);
    }
    ck_assert_int_eq(book.event[0].kind, TAL_CONTACT_CLOSES);
    ck_assert_int_eq(book.event[1].kind, TAL_CONTACT_OPENS);
    ck_assert_double_eq_tol(tal_state_q(m.state)[1], 0.5 * R, 1e-8);
    end_stepper_model(&m);
}

END_TEST

// --- where a user says ---

static double behind_the_line(void *context, const tal_matter *matter, tal_state *state,
                              tal_unilateral_ix element)
{
    (void)matter, (void)element;
    return tal_state_q(state)[0] - *(const double *)context;
}

START_TEST(an_element_touches_where_a_function_says)
{
    static const double line = 1.0;
    const double fall = sqrt(2.0 / G);
    for (int k = 0; k < 2; ++k) {
        const double v = k == 0 ? 4.0 : 1.0; // 1.8 m, or 0.45 m, when it is down
        stepper_model m = begin_stepper_model(G);
        diary book;
        const tal_body_ix body = add_point(&m);
        const double q[3] = {0.0, 1.0, 0.0}, u[3] = {v, 0.0, 0.0};
        (void)tal_body_set_initial_q(m.matter, body, q, 3);
        tal_unilateral_def def = tal_unilateral_def_default();
        def.margin = behind_the_line;
        def.margin_context = (void *)(uintptr_t)&line;
        const tal_xform plane = floor_plane();
        (void)tal_unilateral_add_point_on_plane(m.matter, &def, TAL_GROUND, &plane, body,
                                                TAL_VEC3_ZERO);
        handle(&m, &book);
        (void)tal_state_set_u(m.state, u, 3);
        (void)run_stepper(&m, 0.9);
        ck_assert_int_eq(book.n > 0, k == 0);
        if (k == 0) ck_assert_double_eq_tol(book.event[0].t, fall, 1e-9);
        ck_assert_double_eq_tol(tal_state_q(m.state)[1], k == 0 ? 0.0 : 1.0 - 0.5 * G * 0.81, 1e-8);
        end_stepper_model(&m);
    }
}

END_TEST

// --- what is refused ---

START_TEST(limits_that_make_no_sense_are_refused_by_name)
{
    static const double clockwise[8] = {-1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0, -1.0};
    for (int k = 0; k < 5; ++k) {
        stepper_model m = begin_stepper_model(G);
        const tal_body_ix body = add_point(&m);
        tal_unilateral_def def = tal_unilateral_def_default();
        def.name = "foot";
        const tal_xform plane = floor_plane();
        const tal_unilateral_ix foot =
            k < 3
                ? tal_unilateral_add_point_on_plane(m.matter, &def, TAL_GROUND, &plane, body,
                                                    TAL_VEC3_ZERO)
                : tal_unilateral_add_edge_on_edge(m.matter, &def, TAL_GROUND, &plane, body, &plane);
        const tal_status st = k == 0   ? tal_unilateral_limit_polygon(m.matter, foot, clockwise, 4)
                              : k == 1 ? tal_unilateral_limit_polygon(m.matter, foot, TABLE, 2)
                              : k == 2 ? tal_unilateral_limit_edges(m.matter, foot, 1.0, 1.0)
                              : k == 3 ? tal_unilateral_limit_edges(m.matter, foot, 0.0, 1.0)
                                       : tal_unilateral_limit_polygon(m.matter, foot, TABLE, 4);
        ck_assert_int_eq(st, TAL_ERR_BAD_VALUE);
        ck_assert_ptr_nonnull(strstr(tal_system_error(m.system)->message, "'foot'"));
        tal_system_destroy(m.system);
    }
}

END_TEST

// --- measures of an element ---

START_TEST(measures_of_an_element_are_what_it_says)
{
    stepper_model m = begin_stepper_model(G);
    const tal_body_ix body = add_point(&m);
    const double q[3] = {0.0, 1.0, 0.0};
    (void)tal_body_set_initial_q(m.matter, body, q, 3);
    tal_unilateral_def def = tal_unilateral_def_default();
    def.material.static_mu = def.material.sliding_mu = 0.25;
    const tal_xform plane = floor_plane();
    const tal_unilateral_ix foot =
        tal_unilateral_add_point_on_plane(m.matter, &def, TAL_GROUND, &plane, body, TAL_VEC3_ZERO);
    tal_measure_ix measure[TAL_UNILATERAL_MODE + 1];
    for (int k = 0; k <= TAL_UNILATERAL_MODE; ++k) {
        measure[k] = tal_measure_add_unilateral(m.matter, NULL, foot, (tal_unilateral_quantity)k);
    }
    diary book;
    handle(&m, &book);
    const double u[3] = {2.0, 0.0, 0.0};
    (void)tal_state_set_u(m.state, u, 3);
    const double times[2] = {0.25, 0.5}, fall = sqrt(2.0 / G), v = G * fall;
    for (int k = 0; k < 2; ++k) {
        const double t = times[k];
        (void)run_stepper(&m, t);
        ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_REPORT), TAL_OK);
        const double expected[2][6] = {{1.0 - 0.5 * G * t * t, -G * t, 0.0, 0.0, 0.0, 0.0},
                                       {0.0, 0.0, G, 0.25 * G, v, TAL_UNILATERAL_SLIDE}};
        for (int j = 0; j <= TAL_UNILATERAL_MODE; ++j) {
            ck_assert_double_eq_tol(tal_measure_values(m.system, m.state, measure[j])[0],
                                    expected[k][j], 1e-8);
        }
    }
    end_stepper_model(&m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/contacts_limits");
    TCase *runs = tcase_create("runs");
    tcase_set_timeout(runs, 60);
    tcase_add_test(runs, a_point_runs_off_a_table);
    tcase_add_test(runs, what_comes_from_below_passes_and_lands_from_above);
    tcase_add_test(runs, edges_end);
    tcase_add_test(runs, a_ball_leaves_the_wall_of_a_bowl);
    tcase_add_test(runs, an_element_touches_where_a_function_says);
    tcase_add_test(runs, limits_that_make_no_sense_are_refused_by_name);
    tcase_add_test(runs, measures_of_an_element_are_what_it_says);
    suite_add_tcase(suite, runs);
    return test_run(suite);
}
