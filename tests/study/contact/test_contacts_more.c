// study/src/contact/: longer runs of elements (tests T17, T21, T22 and T23 of the specification),
// and what degenerates.
#include "stepper_model.h"

#include <talus/matter/unilaterals.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const double G = 9.81;

enum {
    MOST_EVENTS = 400
};

typedef struct diary {
    int n;
    tal_contact_event event[MOST_EVENTS];
} diary;

static void write_down(void *context, const tal_system *system, const tal_contact_event *event)
{
    (void)system;
    diary *book = context;
    if (book->n < MOST_EVENTS) book->event[book->n++] = *event;
}

static tal_contacts_def listening(diary *book)
{
    tal_contacts_def def = tal_contacts_def_default();
    book->n = 0;
    def.listen = write_down;
    def.context = book;
    return def;
}

/// A floor: x of Ground, y up.
static tal_xform floor_plane(void)
{
    return tal_xf(tal_m3(tal_v3(1.0, 0.0, 0.0), tal_v3(0.0, 0.0, -1.0), tal_v3(0.0, 1.0, 0.0)),
                  TAL_VEC3_ZERO);
}

// --- a rimless wheel ---

// Eight spokes of 1 m, 1 kg, I = 0.1 about the hub, on a slope of 0.1 rad, g = 1 m/s^2. Between
// impacts an inverted pendulum; an impact keeps (I + cos 45 degrees) / (I + 1) of its rate. Steady:
// w+^2 (1/r^2 - 1) = 4 sin(0.1) sin(22.5 degrees) / 1.1 (T17; numbers of the specification).
START_TEST(a_rimless_wheel_walks_as_its_closed_form)
{
    static diary book;
    const double half = 22.5 * TAL_DEGREE, r = (0.1 + cos(2.0 * half)) / 1.1;
    const double w =
        sqrt(4.0 * sin(0.1) * sin(half) / 1.1 / (1.0 / (r * r) - 1.0)); // after an impact
    ck_assert_double_eq_tol(w, 0.402513344593713, 1e-14);
    const tal_contacts_def handling = listening(&book);
    const double s = sin(0.1), c = cos(0.1);
    stepper_model m = begin_stepper_model(1.0);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.mass.inertia = tal_s3_diag(0.05, 0.05, 0.1);
    const tal_body_ix wheel = tal_matter_add_planar(m.matter, TAL_GROUND, &def);
    const tal_xform plane = tal_xf( // down along x
        tal_m3(tal_v3(c, -s, 0.0), tal_v3(0.0, 0.0, -1.0), tal_v3(s, c, 0.0)), TAL_VEC3_ZERO);
    for (int k = 0; k < 8; ++k) {
        tal_unilateral_def foot = tal_unilateral_def_default();
        foot.material.static_mu = (double)INFINITY;
        foot.material.sliding_mu = 1.0;
        const double at = -90.0 * TAL_DEGREE + half - 2.0 * half * k;
        (void)tal_unilateral_add_point_on_plane(m.matter, &foot, TAL_GROUND, &plane, wheel,
                                                tal_v3(cos(at), sin(at), 0.0));
    }
    (void)tal_contacts_create(m.system, &handling);
    const tal_integrator_def method = dormand_prince(1e-10);
    finish_stepper_model(&m, &method, NULL);
    // on foot 0, which is ahead, as an impact leaves it
    const double x = -sin(half), y = cos(half), vx = w * y, vy = -w * x; // along the slope
    const double q[3] = {-0.1, c * x + s * y, -s * x + c * y};
    const double u[3] = {-w, c * vx + s * vy, -s * vx + c * vy};
    (void)tal_state_set_q(m.state, q, 3);
    (void)tal_state_set_u(m.state, u, 3);
    (void)run_stepper(&m, 8.0);
    double t[8];
    int n = 0;
    for (int k = 0; k < book.n && n < 8; ++k) {
        const tal_contact_event *e = &book.event[k];
        if (e->kind != TAL_CONTACT_IMPACT || e->t == 0.0) continue;
        if (n == 0 || e->t > t[n - 1]) t[n++] = e->t;
    }
    ck_assert_int_eq(n, 3);
    for (int k = 0; k < n; ++k) {
        ck_assert_double_eq_tol(t[k], 2.213869429331347 * (k + 1), 1e-8);
    }
    end_stepper_model(&m);
}

END_TEST

// --- billiards ---

// A point in a circle of 1 m, at 1 m/s, elastic: chords of 2 cos(a), with a the angle to the
// normal, which never changes.
START_TEST(a_point_in_a_circle_hits_at_equal_intervals)
{
    static diary book;
    const tal_contacts_def handling = listening(&book);
    const double a = 0.6;
    stepper_model m = begin_stepper_model(0.0);
    const tal_body_ix point = add_point(&m);
    tal_unilateral_def def = tal_unilateral_def_default();
    def.material.restitution = 1.0;
    (void)tal_unilateral_add_sphere_in_sphere(m.matter, &def, TAL_GROUND, TAL_VEC3_ZERO, 1.1, point,
                                              TAL_VEC3_ZERO, 0.1);
    (void)tal_contacts_create(m.system, &handling);
    const tal_integrator_def method = dormand_prince(1e-10);
    finish_stepper_model(&m, &method, NULL);
    // from the middle of a chord
    const double q[3] = {0.0, sin(a), 0.0}, u[3] = {1.0, 0.0, 0.0};
    (void)tal_state_set_q(m.state, q, 3);
    (void)tal_state_set_u(m.state, u, 3);
    const double chord = 2.0 * cos(a);
    (void)run_stepper(&m, 100.0 * chord);
    ck_assert_int_eq(book.n, 100);
    for (int k = 0; k < book.n; ++k) {
        // each impact is found to 1e-12 s, and adds that to the angle of all that follow
        ck_assert_double_eq_tol(book.event[k].t, chord * (k + 0.5), k < 50 ? 1e-9 : 3e-9);
        ck_assert_double_eq_tol(book.event[k].after, cos(a), 1e-10);
    }
    end_stepper_model(&m);
}

END_TEST

// --- a rolling ball ---

// It rolls on without losing anything: 30 revolutions, or 10000 with TALUS_SOAK (T22).
START_TEST(a_rolling_ball_keeps_its_energy)
{
    const double R = 0.1, v = 2.0;
    const double turns = getenv("TALUS_SOAK") != NULL ? 10000.0 : 30.0;
    stepper_model m = begin_stepper_model(G);
    tal_mobod_def def = tal_mobod_def_default();
    const double I = 0.4 * 3.0 * R * R;
    def.mass.mass = 3.0;
    def.mass.inertia = tal_s3_diag(I, I, I);
    const tal_body_ix ball = tal_matter_add_free(m.matter, TAL_GROUND, &def);
    tal_unilateral_def contact = tal_unilateral_def_default();
    contact.material.static_mu = contact.material.sliding_mu = 0.5;
    const tal_xform plane = floor_plane();
    const tal_unilateral_ix floor = tal_unilateral_add_sphere_on_plane(
        m.matter, &contact, TAL_GROUND, &plane, ball, TAL_VEC3_ZERO, R);
    (void)tal_contacts_create(m.system, NULL);
    const tal_integrator_def method = dormand_prince(1e-8);
    finish_stepper_model(&m, &method, NULL);
    tal_state_upd_q(m.state)[5] = R;
    const double u[6] = {0.0, 0.3, -v / R, v, 0.0, 0.0}; // and spinning about the vertical
    (void)tal_state_set_u(m.state, u, 6);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_VELOCITY), TAL_OK);
    const double before = tal_matter_kinetic_energy(m.matter, m.state);
    const double end = turns * 2.0 * TAL_PI * R / v;
    (void)run_stepper(&m, end);
    ck_assert_int_eq(tal_unilateral_mode_of(m.matter, m.state, floor), TAL_UNILATERAL_STICK);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_VELOCITY), TAL_OK);
    const double after = tal_matter_kinetic_energy(m.matter, m.state);
    ck_assert_double_eq_tol(after / before, 1.0, 1e-9);
    ck_assert_double_eq_tol(tal_state_q(m.state)[4], v * end, 1e-7 * turns);
    end_stepper_model(&m);
}

END_TEST

// --- short flights and long steps ---

/// A ball that is handled by an event of the test, whose rate may be useless.
typedef struct own_ball {
    const tal_matter *matter;
    tal_body_ix body;
    bool is_blind;
    int bounces;
} own_ball;

static tal_status height(void *context, const tal_system *system, tal_state *state, double *value)
{
    const own_ball *it = context;
    (void)system;
    *value = tal_body_p_GB(it->matter, state, it->body).y;
    return TAL_OK;
}

static tal_status rate(void *context, const tal_system *system, tal_state *state, double *value)
{
    const own_ball *it = context;
    (void)system;
    *value = it->is_blind ? 0.0 : tal_body_u(it->matter, state, it->body, 1);
    return TAL_OK;
}

static tal_status bounce(void *context, const tal_system *system, tal_state *state,
                         tal_event_cause cause, bool *terminate)
{
    own_ball *it = context;
    (void)system, (void)cause, (void)terminate;
    ++it->bounces;
    const double v = tal_body_u(it->matter, state, it->body, 1);
    return tal_body_set_u(it->matter, state, it->body, 1, -v);
}

// Flights of 2 v/g from 1e-4 s on, with a first step of half a second: by the rates of gaps, all
// are found; a witness that starts at zero and does not tell its rate misses some (T21). 300
// bounces, or a million with TALUS_SOAK.
START_TEST(flights_shorter_than_a_step_are_not_missed)
{
    const int count = getenv("TALUS_SOAK") != NULL ? 1000000 : 300;
    diary book;
    const tal_contacts_def handling = listening(&book);
    stepper_model m = begin_stepper_model(G);
    const tal_body_ix body = add_point(&m);
    tal_unilateral_def contact = tal_unilateral_def_default();
    contact.material.restitution = 1.0;
    const tal_xform plane = floor_plane();
    (void)tal_unilateral_add_point_on_plane(m.matter, &contact, TAL_GROUND, &plane, body,
                                            TAL_VEC3_ZERO);
    (void)tal_contacts_create(m.system, &handling);
    tal_integrator_def method = tal_integrator_def_default(); // Merson: exact for a parabola
    method.initial_step = 0.5;
    finish_stepper_model(&m, &method, NULL);
    test_rng rng = test_rng_seed(21);
    int missed = 0;
    for (int k = 0; k < count; ++k) {
        const double v = 5e-4 * pow(1e4, test_random_uniform(&rng, 0.0, 1.0));
        const double q[3] = {0.0, 0.0, 0.0}, u[3] = {0.0, v, 0.0};
        book.n = 0;
        (void)tal_state_set_t(m.state, 0.0);
        (void)tal_state_set_q(m.state, q, 3);
        (void)tal_state_set_u(m.state, u, 3);
        tal_time_stepper_reset(m.stepper);
        (void)run_stepper(&m, 3.0 * v / G); // one and a half flights
        const bool is_found =
            book.n == 1 && fabs(book.event[0].t - 2.0 * v / G) <= 1e-9 * (1.0 + v);
        missed += is_found ? 0 : 1;
    }
    ck_assert_int_eq(missed, 0);
    end_stepper_model(&m);
}

END_TEST

static int count_own_bounces(bool is_blind)
{
    stepper_model m = begin_stepper_model(G);
    own_ball it = {.matter = m.matter, .is_blind = is_blind};
    it.body = add_point(&m);
    tal_happening floor = tal_happening_default();
    floor.context = &it;
    floor.witness = height;
    floor.stage = TAL_STAGE_POSITION;
    floor.crossing = TAL_CROSSING_FALLING;
    floor.rate = rate;
    floor.rate_stage = TAL_STAGE_VELOCITY;
    floor.handle = bounce;
    (void)tal_events_add(m.events, &floor);
    tal_integrator_def method = tal_integrator_def_default();
    method.initial_step = 0.5;
    finish_stepper_model(&m, &method, NULL);
    test_rng rng = test_rng_seed(22);
    int found = 0;
    for (int k = 0; k < 100; ++k) {
        const double v = 5e-4 * pow(1e4, test_random_uniform(&rng, 0.0, 1.0));
        const double q[3] = {0.0, 0.0, 0.0}, u[3] = {0.0, v, 0.0};
        it.bounces = 0;
        (void)tal_state_set_t(m.state, 0.0);
        (void)tal_state_set_q(m.state, q, 3);
        (void)tal_state_set_u(m.state, u, 3);
        tal_time_stepper_reset(m.stepper);
        (void)run_stepper(&m, 3.0 * v / G);
        found += it.bounces;
    }
    end_stepper_model(&m);
    return found;
}

START_TEST(the_rate_of_a_gap_is_what_finds_short_flights)
{
    ck_assert_int_eq(count_own_bounces(false), 100);
    ck_assert_int_lt(count_own_bounces(true), 100);
}

END_TEST

// --- how far a slide is from a jam ---

// The uniform rod of 1 m on its tip: of a unit of normal force k = 1 + 3 c^2 - 3 mu s c is left
// when friction goes with it, of 1 + 3 c^2. A witness says so, and falls through zero where the rod
// jams.
START_TEST(how_far_a_slide_is_from_a_jam_is_watched)
{
    const double mu = 1.3, start = 63.0 * TAL_DEGREE;
    stepper_model m = begin_stepper_model(G);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.mass.inertia = tal_s3_diag(1e-3, 1.0 / 12.0, 1.0 / 12.0);
    const tal_body_ix rod = tal_matter_add_planar(m.matter, TAL_GROUND, &def);
    tal_unilateral_def tip = tal_unilateral_def_default();
    tip.material.static_mu = tip.material.sliding_mu = mu;
    const tal_xform plane = floor_plane();
    const tal_unilateral_ix element = tal_unilateral_add_point_on_plane(
        m.matter, &tip, TAL_GROUND, &plane, rod, tal_v3(-0.5, 0.0, 0.0));
    const tal_contacts *contacts = tal_contacts_create(m.system, NULL);
    const tal_integrator_def method = dormand_prince(1e-9);
    finish_stepper_model(&m, &method, NULL);
    const double q[3] = {start, 0.5 * cos(start), 0.5 * sin(start)}, u[3] = {0.0, -1.0, 0.0};
    (void)tal_state_set_q(m.state, q, 3);
    (void)tal_state_set_u(m.state, u, 3);
    (void)run_stepper(&m, 1e-4);
    ck_assert_int_eq(tal_unilateral_mode_of(m.matter, m.state, element), TAL_UNILATERAL_SLIDE);
    const double s = sin(tal_state_q(m.state)[0]), c = cos(tal_state_q(m.state)[0]);
    const double expected = (1.0 + 3.0 * c * c - 3.0 * mu * s * c) / (1.0 + 3.0 * c * c);
    const tal_group_ix forces = tal_system_find_group(
        m.system, tal_contacts_subsystem(contacts), TAL_POOL_TRIGGER, "forces, cones and margins");
    const double *all = tal_state_triggers(m.state, TAL_STAGE_ACCELERATION);
    const double watched = all[tal_group_start(m.system, m.state, forces) + 2];
    ck_assert_double_eq_tol(watched, expected, 1e-12);
    end_stepper_model(&m);
}

END_TEST

// --- saved, resumed, in threads ---

/// A block of three feet in a plane that falls, slides, rocks and comes to rest: every mode on its
/// way.
static void begin_sledge(stepper_model *m)
{
    *m = begin_stepper_model(G);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 2.0;
    def.mass.inertia = tal_s3_diag(0.1, 0.1, 0.1);
    const tal_body_ix block = tal_matter_add_planar(m->matter, TAL_GROUND, &def);
    const tal_xform plane = floor_plane();
    for (int k = 0; k < 2; ++k) {
        tal_unilateral_def foot = tal_unilateral_def_default();
        foot.material.static_mu = 0.4;
        foot.material.sliding_mu = 0.3;
        foot.material.restitution = 0.3;
        (void)tal_unilateral_add_point_on_plane(m->matter, &foot, TAL_GROUND, &plane, block,
                                                tal_v3(k == 0 ? -0.3 : 0.3, -0.2, 0.0));
    }
    (void)tal_contacts_create(m->system, NULL);
    const tal_integrator_def method = dormand_prince(1e-8);
    finish_stepper_model(m, &method, NULL);
    const double q[3] = {0.1, 0.0, 0.5}, u[3] = {0.0, 1.5, 0.0};
    (void)tal_state_set_q(m->state, q, 3);
    (void)tal_state_set_u(m->state, u, 3);
}

static void resume_from(stepper_model *m, double t, bool seen[4])
{
    begin_sledge(m);
    (void)run_stepper(m, t);
    for (int k = 0; k < 2; ++k) {
        seen[tal_unilateral_mode_of(m->matter, m->state, (tal_unilateral_ix){k})] = true;
    }
    const size_t size = tal_state_save_size(m->state);
    void *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(tal_state_save(m->state, bytes, size), TAL_OK);
    tal_state *other = NULL;
    tal_error err;
    ck_assert_int_eq(tal_state_create(m->system, &other, &err), TAL_OK);
    ck_assert_int_eq(tal_state_load(m->system, other, bytes, size), TAL_OK);
    free(bytes);
    double end[2][6];
    for (int k = 0; k < 2; ++k) {
        tal_outcome outcome;
        tal_state *state = k == 0 ? m->state : other;
        tal_time_stepper_reset(m->stepper);
        ck_assert_msg(tal_time_stepper_step_to(m->stepper, state, t + 0.35, &outcome) == TAL_OK,
                      "%s", tal_time_stepper_error(m->stepper)->message);
        memcpy(end[k], tal_state_q(state), 3 * sizeof(double));
        memcpy(end[k] + 3, tal_state_u(state), 3 * sizeof(double));
    }
    ck_assert_mem_eq(end[0], end[1], sizeof end[0]);
    tal_state_destroy(other);
    end_stepper_model(m);
}

START_TEST(a_run_is_resumed_bit_for_bit_in_every_mode)
{
    bool seen[4] = {false};
    for (int k = 0; k <= 12; ++k) {
        stepper_model m;
        resume_from(&m, 0.05 + 0.09 * k, seen);
    }
    ck_assert(seen[TAL_UNILATERAL_OFF] && seen[TAL_UNILATERAL_STICK] && seen[TAL_UNILATERAL_SLIDE]);
}

END_TEST

/// One of several runs of one System.
typedef struct job {
    const stepper_model *m;
    double end[6];
} job;

static void *run_job(void *context)
{
    job *it = context;
    const tal_integrator_def method = dormand_prince(1e-8);
    tal_error err;
    tal_state *state = NULL;
    tal_integrator *integ = NULL;
    tal_time_stepper *stepper = NULL;
    tal_outcome outcome;
    if (tal_state_create(it->m->system, &state, &err) != TAL_OK ||
        tal_state_copy(state, it->m->state) != TAL_OK ||
        tal_integrator_create(it->m->system, &method, &integ, &err) != TAL_OK ||
        tal_time_stepper_create(integ, NULL, &stepper, &err) != TAL_OK ||
        tal_time_stepper_step_to(stepper, state, 1.0, &outcome) != TAL_OK) {
        return NULL;
    }
    memcpy(it->end, tal_state_q(state), 3 * sizeof(double));
    memcpy(it->end + 3, tal_state_u(state), 3 * sizeof(double));
    tal_time_stepper_destroy(stepper);
    tal_integrator_destroy(integ);
    tal_state_destroy(state);
    return it;
}

START_TEST(threads_share_a_system_with_elements)
{
    enum {
        THREADS = 4
    };

    stepper_model m;
    begin_sledge(&m);
    job jobs[THREADS + 1];
    pthread_t thread[THREADS];
    for (int k = 0; k <= THREADS; ++k) {
        jobs[k] = (job){.m = &m};
    }
    ck_assert_ptr_nonnull(run_job(&jobs[THREADS]));
    for (int k = 0; k < THREADS; ++k) {
        ck_assert_int_eq(pthread_create(&thread[k], NULL, run_job, &jobs[k]), 0);
    }
    for (int k = 0; k < THREADS; ++k) {
        void *done = NULL;
        ck_assert_int_eq(pthread_join(thread[k], &done), 0);
        ck_assert_ptr_nonnull(done);
        ck_assert_mem_eq(jobs[k].end, jobs[THREADS].end, sizeof jobs[k].end);
    }
    end_stepper_model(&m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/contacts_more");
    TCase *runs = tcase_create("runs");
    tcase_set_timeout(runs, getenv("TALUS_SOAK") != NULL ? 7200 : 60);
    tcase_add_test(runs, a_rimless_wheel_walks_as_its_closed_form);
    tcase_add_test(runs, a_point_in_a_circle_hits_at_equal_intervals);
    tcase_add_test(runs, a_rolling_ball_keeps_its_energy);
    tcase_add_test(runs, flights_shorter_than_a_step_are_not_missed);
    tcase_add_test(runs, the_rate_of_a_gap_is_what_finds_short_flights);
    tcase_add_test(runs, how_far_a_slide_is_from_a_jam_is_watched);
    tcase_add_test(runs, a_run_is_resumed_bit_for_bit_in_every_mode);
    tcase_add_test(runs, threads_share_a_system_with_elements);
    suite_add_tcase(suite, runs);
    return test_run(suite);
}
