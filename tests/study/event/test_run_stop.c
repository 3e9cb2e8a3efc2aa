// study/src/event/run_stop.c: events that end a run, given as data.
#include "stepper_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A stone thrown up with 2 m/s from 1 m, where g is 10 m/s^2: y = 1 + 2 t - 5 t^2, v = 2 - 10 t.
typedef struct stone {
    stepper_model m;
    tal_measure_ix height, speed, energy;
} stone;

static const double UP = 2.0, G = 10.0;

static stone begin(void)
{
    stone s = {.m = begin_stepper_model(G)};
    const tal_body_ix body = add_point(&s.m);
    const tal_vec3 up = tal_v3(0.0, 3.0, 0.0);
    s.height = tal_measure_add_station(s.m.matter, "height", body, TAL_VEC3_ZERO, TAL_GROUND, up);
    s.speed = tal_measure_add_speed(s.m.matter, "speed", (tal_mobility){body, 1});
    s.energy = tal_measure_add_kinetic_energy(s.m.matter, "energy");
    return s;
}

static void throw_it(stone *s)
{
    const tal_integrator_def def = dormand_prince(1e-10);
    finish_stepper_model(&s->m, &def, NULL);
    const double q[] = {0.0, 1.0, 0.0}, u[] = {0.0, UP, 0.0};
    (void)tal_state_set_q(s->m.state, q, 3);
    (void)tal_state_set_u(s->m.state, u, 3);
}

static tal_event_ix add_stop(stone *s, const char *name, tal_measure_ix measure, double value,
                             tal_crossing crossing)
{
    tal_run_stop stop = tal_run_stop_default();
    stop.name = name;
    stop.measure = measure;
    stop.value = value;
    stop.crossing = crossing;
    return tal_events_add_stop(s->m.events, &stop);
}

// Windows are the time scale times the accuracy, 1e-11 s; the run itself is exact for a parabola.
START_TEST(a_run_ends_when_a_measure_crosses_a_value)
{
    const struct {
        int measure;
        double value;
        tal_crossing crossing;
        double t;
    } cases[] = {{0, 0.0, TAL_CROSSING_FALLING, (2.0 + sqrt(24.0)) / 10.0},
                 {0, 1.1, TAL_CROSSING_FALLING, 0.2 + sqrt(0.04 - 0.02)},
                 {0, 1.1, TAL_CROSSING_RISING, 0.2 - sqrt(0.04 - 0.02)},
                 {0, 1.1, TAL_CROSSING_EITHER, 0.2 - sqrt(0.04 - 0.02)},
                 {1, -3.0, TAL_CROSSING_FALLING, 0.5},
                 {2, 0.5, TAL_CROSSING_FALLING, 0.1},
                 {2, 0.5, TAL_CROSSING_RISING, 0.3},
                 {-1, 0.75, TAL_CROSSING_EITHER, 0.75}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        stone s = begin();
        const tal_measure_ix of[] = {{-1}, s.height, s.speed, s.energy};
        const tal_event_ix stop =
            add_stop(&s, "stop", of[cases[i].measure + 1], cases[i].value, cases[i].crossing);
        throw_it(&s);
        ck_assert_int_eq(tal_time_stepper_ended_by(s.m.stepper).i, -1);
        ck_assert_int_eq(run_stepper(&s.m, 0.01), TAL_OUTCOME_REACHED_TIME);
        ck_assert_int_eq(run_stepper(&s.m, 2.0), TAL_OUTCOME_TERMINATED);
        ck_assert_double_eq_tol(tal_state_t(s.m.state), cases[i].t, 1e-10);
        ck_assert_int_eq(tal_time_stepper_ended_by(s.m.stepper).i, stop.i);
        tal_time_stepper_reset(s.m.stepper);
        ck_assert_int_eq(tal_time_stepper_ended_by(s.m.stepper).i, -1);
        end_stepper_model(&s.m);
    }
}

END_TEST

START_TEST(what_is_beyond_the_value_from_the_start_ends_nothing)
{
    stone s = begin();
    (void)add_stop(&s, "low", s.height, 5.0, TAL_CROSSING_FALLING);
    tal_run_stop off = tal_run_stop_default();
    off.name = "off";
    off.value = 0.5;
    off.begins_inactive = true;
    const tal_event_ix event = tal_events_add_stop(s.m.events, &off);
    throw_it(&s);
    ck_assert(!tal_event_is_active(s.m.system, s.m.state, event));
    ck_assert_int_eq(run_stepper(&s.m, 1.0), TAL_OUTCOME_REACHED_TIME);
    end_stepper_model(&s.m);
}

END_TEST

static tal_status count_it(void *context, const tal_system *system, tal_state *state,
                           tal_event_cause cause, bool *terminate)
{
    (void)system;
    (void)state;
    (void)cause;
    (void)terminate;
    ++*(int *)context;
    return TAL_OK;
}

// A handler at the same time is called too, and the stop is named; saved and resumed alike.
START_TEST(the_stop_is_named_among_others_and_after_resuming)
{
    int count = 0;
    stone s = begin();
    tal_happening other = tal_happening_default();
    const double t = 0.5;
    other.name = "other";
    other.context = &count;
    other.handle = count_it;
    other.times = &t;
    other.num_times = 1;
    ck_assert_int_eq(tal_events_add(s.m.events, &other).i, 0);
    const tal_event_ix stop = add_stop(&s, "stop", (tal_measure_ix){-1}, 0.5, TAL_CROSSING_EITHER);
    throw_it(&s);
    ck_assert_int_eq(run_stepper(&s.m, 1.0), TAL_OUTCOME_TERMINATED);
    ck_assert_int_eq(count, 1);
    ck_assert_int_eq(tal_time_stepper_ended_by(s.m.stepper).i, stop.i);

    const size_t size = tal_time_stepper_save_size(s.m.stepper, s.m.state);
    void *bytes = malloc(size);
    ck_assert_int_eq(tal_time_stepper_save(s.m.stepper, s.m.state, bytes, size), TAL_OK);
    tal_time_stepper_reset(s.m.stepper);
    ck_assert_int_eq(tal_time_stepper_resume(s.m.stepper, s.m.state, bytes, size), TAL_OK);
    ck_assert_int_eq(tal_time_stepper_ended_by(s.m.stepper).i, stop.i);
    ck_assert_int_eq(run_stepper(&s.m, 1.0), TAL_OUTCOME_TERMINATED);
    free(bytes);
    end_stepper_model(&s.m);
}

END_TEST

START_TEST(a_stop_can_be_read_back)
{
    stone s = begin();
    char name[] = "landed", message[] = "The stone is on the ground.";
    tal_run_stop stop = tal_run_stop_default();
    stop.name = name;
    stop.message = message;
    stop.measure = s.height;
    stop.value = 0.25;
    stop.crossing = TAL_CROSSING_FALLING;
    stop.window = 1e-6;
    stop.separation = 0.1;
    const tal_event_ix event = tal_events_add_stop(s.m.events, &stop);
    int count = 0;
    tal_happening other = tal_happening_default();
    other.context = &count;
    other.handle = count_it;
    const tal_event_ix none = tal_events_add(s.m.events, &other);
    memset(name, 'x', 3);
    memset(message, 'x', 3);
    throw_it(&s);
    const tal_run_stop *found = tal_event_stop(s.m.system, event);
    ck_assert_ptr_nonnull(found);
    ck_assert_str_eq(found->name, "landed");
    ck_assert_str_eq(found->message, "The stone is on the ground.");
    ck_assert_int_eq(found->measure.i, s.height.i);
    ck_assert(found->value == 0.25 && found->window == 1e-6 && found->separation == 0.1);
    ck_assert_int_eq(found->crossing, TAL_CROSSING_FALLING);
    ck_assert_ptr_null(tal_event_stop(s.m.system, none));
    test_record_breaches();
    test_assert_breach((void)tal_event_stop(s.m.system, (tal_event_ix){7}), TAL_ERR_BAD_INDEX, "7");
    test_assert_breach((void)tal_time_stepper_ended_by(NULL), TAL_ERR_NULL, "NULL");
    test_assert_breach((void)tal_events_add_stop(NULL, &stop), TAL_ERR_NULL, "events");
    test_assert_breach((void)tal_events_add_stop(s.m.events, NULL), TAL_ERR_NULL, "stop");
    test_assert_breach((void)tal_events_add_stop(s.m.events, &stop), TAL_ERR_TOPOLOGY, "realized");
    tal_system *half = tal_system_create(NULL); // while a System is built, a NULL is remembered
    test_assert_breach((void)tal_events_add_stop(tal_events_create(half), NULL), TAL_ERR_NULL,
                       "stop");
    ck_assert_int_eq(tal_system_realize_topology(half, NULL), TAL_ERR_NULL);
    tal_system_destroy(half);
    end_stepper_model(&s.m);
}

END_TEST

START_TEST(what_cannot_be_watched_is_refused)
{
    const double two[] = {1.0, 2.0};
    for (int i = 0; i < 4; ++i) {
        stone s = begin();
        const tal_measure_ix pair =
            tal_measure_add_constant(s.m.system, tal_matter_subsystem(s.m.matter), "pair", two, 2);
        tal_run_stop stop = tal_run_stop_default();
        stop.name = i == 3 ? NULL : "stop";
        if (i == 0) stop.measure = pair;
        if (i == 1) stop.measure.i = 99;
        if (i >= 2) stop.value = (double)NAN;
        const char *sentences[] = {
            "stop 'stop': measure 'pair' has 2 values", "stop 'stop': there is no measure 99",
            "stop 'stop': its value is nan", "stop '(no name)': its value is nan"};
        ck_assert_int_lt(tal_events_add_stop(s.m.events, &stop).i, 0);
        const char *message = tal_system_error(s.m.system)->message;
        ck_assert_msg(strstr(message, sentences[i]) != NULL, "%s", message);
        ck_assert_int_lt(add_stop(&s, "more", s.height, 0.0, TAL_CROSSING_EITHER).i, 0);
        tal_system_destroy(s.m.system);
    }
}

END_TEST

// A witness that fails makes the run fail, in its words: a delay that has lost its samples.
START_TEST(a_measure_that_fails_fails_the_run)
{
    stone s = begin();
    tal_delay_def delay = tal_delay_def_default();
    delay.name = "late";
    delay.operand = s.height;
    delay.delay = 0.5;
    delay.capacity = 4;
    const tal_measure_ix late =
        tal_measure_add_delay(s.m.system, tal_matter_subsystem(s.m.matter), &delay);
    (void)add_stop(&s, "stop", late, 0.0, TAL_CROSSING_EITHER);
    finish_stepper_model(&s.m, NULL, NULL);
    tal_outcome why;
    tal_status st = TAL_OK;
    for (double t = 0.05; t < 2.0 && st == TAL_OK; t += 0.05) {
        st = tal_time_stepper_step_to(s.m.stepper, s.m.state, t, &why);
    }
    ck_assert_int_eq(st, TAL_ERR_CAPACITY);
    end_stepper_model(&s.m);
}

END_TEST

// A measure that has a rate is asked for it, and one that has none is not.
typedef struct watched {
    int num_derivatives, asked[2];
} watched;

static tal_status calc_watched(const void *self, const tal_system *system, tal_state *state,
                               int order, int n, double value[])
{
    watched *it = *(watched *const *)self;
    (void)system, (void)n;
    ck_assert_int_le(order, it->num_derivatives);
    ++it->asked[order];
    value[0] = order == 0 ? tal_state_q(state)[1] : tal_state_u(state)[1];
    return TAL_OK;
}

static tal_status declare_watched(void *self, tal_system *system, tal_measure_site *site)
{
    (void)system;
    site->num_derivatives = (*(watched *const *)self)->num_derivatives;
    return TAL_OK;
}

static void needs_of_watched(const void *self, const tal_system *system, int order,
                             tal_measure_needs *needs)
{
    (void)self, (void)system;
    tal_measure_needs_stage(needs, order == 0 ? TAL_STAGE_POSITION : TAL_STAGE_VELOCITY);
}

static const tal_measure_ops watched_ops = {.size = sizeof watched_ops,
                                            .name = "watched",
                                            .calc = calc_watched,
                                            .declare = declare_watched,
                                            .needs = needs_of_watched};

START_TEST(a_measure_that_has_a_rate_is_asked_for_it)
{
    for (int n = 0; n < 2; ++n) {
        stone s = begin();
        watched it = {.num_derivatives = n};
        watched *self = &it;
        tal_measure_def def = tal_measure_def_default();
        def.name = "watched";
        def.size = 1;
        def.self = &self;
        def.self_size = sizeof self;
        const tal_measure_ix measure = tal_system_add_measure(
            s.m.system, tal_matter_subsystem(s.m.matter), &watched_ops, &def);
        (void)add_stop(&s, "stop", measure, 0.0, TAL_CROSSING_FALLING);
        throw_it(&s);
        ck_assert_int_eq(run_stepper(&s.m, 1.0), TAL_OUTCOME_TERMINATED);
        ck_assert_double_eq_tol(tal_state_t(s.m.state), (2.0 + sqrt(24.0)) / 10.0, 1e-10);
        ck_assert_int_gt(it.asked[0], 0);
        ck_assert_int_eq(it.asked[1] > 0, n == 1);
        end_stepper_model(&s.m);
    }
}

END_TEST

START_TEST(memory_that_runs_out_leaves_nothing)
{
    bool done = false;
    for (int n = 0; n < 2000 && !done; ++n) {
        test_heap heap = {.refuse_at = n + 1};
        tal_system_def def = tal_system_def_default();
        def.allocator = test_heap_allocator(&heap);
        tal_system *system = tal_system_create(&def);
        if (system == NULL) continue;
        tal_events *events = tal_events_create(system);
        if (events != NULL) {
            tal_run_stop stop = tal_run_stop_default();
            stop.name = "late";
            stop.message = "It is late.";
            stop.value = 1.0;
            (void)tal_events_add_stop(events, &stop);
        }
        const tal_status st = tal_system_realize_topology(system, NULL);
        ck_assert(st == TAL_OK || st == TAL_ERR_NO_MEMORY);
        done = st == TAL_OK;
        if (done) test_assert_never_refused(&heap);
        tal_system_destroy(system);
        ck_assert_uint_eq(heap.bytes, 0);
    }
    ck_assert(done);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("run_stop");
    TCase *stops = tcase_create("stops");
    tcase_add_test(stops, a_run_ends_when_a_measure_crosses_a_value);
    tcase_add_test(stops, what_is_beyond_the_value_from_the_start_ends_nothing);
    tcase_add_test(stops, the_stop_is_named_among_others_and_after_resuming);
    tcase_add_test(stops, a_stop_can_be_read_back);
    tcase_add_test(stops, what_cannot_be_watched_is_refused);
    tcase_add_test(stops, a_measure_that_fails_fails_the_run);
    tcase_add_test(stops, a_measure_that_has_a_rate_is_asked_for_it);
    tcase_add_test(stops, memory_that_runs_out_leaves_nothing);
    suite_add_tcase(suite, stops);
    return test_run(suite);
}
