// Tests for study/src/event/crossing.c and witness.c: no crossing is missed that is promised to be
// found.
//
// The witnesses are functions of a clock, z' = 1, which every method integrates exactly: so the
// times of their crossings are known.
#include "talus_test.h"

#include <talus/study.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

// --- the clock ---

static tal_status declare(void *self, tal_system *system, tal_subsystem_ix me)
{
    tal_group_def def = tal_group_def_default();
    def.capacity = 1;
    *(tal_group_ix *)self = tal_system_add_group(system, me, &def);
    return TAL_OK;
}

static tal_status tick(const void *self, const tal_system *system, tal_state *state)
{
    *tal_group_upd_dot(system, state, *(const tal_group_ix *)self) = 1.0;
    return TAL_OK;
}

static const tal_subsystem_ops clock_ops = {.size = sizeof clock_ops,
                                            .name = "clock",
                                            .realize_topology = declare,
                                            .realize_acceleration = tick};

typedef struct run {
    tal_group_ix group;
    tal_system *system;
    tal_state *state;
    tal_integrator *integ;
    tal_time_stepper *stepper;
} run;

// The clock with events of one kind; contexts are `size` bytes apart.
static void begin_run(run *r, tal_happening it, void *contexts, size_t size, int n,
                      const tal_integrator_def *def)
{
    tal_error err = {0};
    r->system = tal_system_create(NULL);
    (void)tal_system_add_subsystem(r->system, NULL, &clock_ops, &r->group);
    tal_events *events = tal_events_create(r->system);
    for (int i = 0; i < n; ++i) {
        it.context = (char *)contexts + (size_t)i * size;
        (void)tal_events_add(events, &it);
    }
    tal_time_stepper_def run_def = tal_time_stepper_def_default();
    run_def.max_events = 0;
    ck_assert_msg(tal_system_realize_topology(r->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(r->system, &r->state, &err), TAL_OK);
    ck_assert_msg(tal_integrator_create(r->system, def, &r->integ, &err) == TAL_OK, "%s",
                  err.message);
    ck_assert_int_eq(tal_time_stepper_create(r->integ, &run_def, &r->stepper, &err), TAL_OK);
}

static void go(run *r, double t)
{
    ck_assert_msg(tal_time_stepper_step_to(r->stepper, r->state, t, NULL) == TAL_OK, "%s",
                  tal_time_stepper_error(r->stepper)->message);
}

static void end_run(run *r)
{
    tal_time_stepper_destroy(r->stepper);
    tal_integrator_destroy(r->integ);
    tal_state_destroy(r->state);
    tal_system_destroy(r->system);
}

// --- random crossings at least a separation apart ---

typedef struct wave {
    double root[3]; // of the piece that was looked at last, and the one after it
    test_rng rng;   // for the roots to come
    double sign, separation;
    long num_found;
    double worst; // distance of a crossing found from its root
} wave;

// Between two roots a parabola with slopes +-1 at both, then the same upside down: smooth at the
// roots.
static tal_status wave_value(void *context, const tal_system *system, tal_state *state,
                             double *value)
{
    (void)system;
    const wave *it = context;
    const double x = tal_state_z(state)[0];
    const double *r = it->root;
    const int k = x < r[1] ? 0 : 1;
    const double sign = k == 0 ? it->sign : -it->sign;
    *value = sign * (x - r[k]) * (r[k + 1] - x) / (r[k + 1] - r[k]);
    return TAL_OK;
}

static double next_gap(wave *it)
{
    return it->separation * (1.0 + 3.0 * test_random_uniform(&it->rng, 0.0, 1.0));
}

// The crossing at root[1] was found: the pieces move on.
static tal_status found(void *context, const tal_system *system, tal_state *state,
                        tal_event_cause cause, bool *terminate)
{
    (void)system;
    (void)cause;
    (void)terminate;
    wave *it = context;
    it->worst = fmax(it->worst, fabs(tal_state_z(state)[0] - it->root[1]));
    ++it->num_found;
    it->root[0] = it->root[1];
    it->root[1] = it->root[2];
    it->root[2] += next_gap(it);
    it->sign = -it->sign;
    return TAL_OK;
}

static wave begin_wave(uint64_t seed, double separation)
{
    wave it = {.rng = test_rng_seed(seed), .sign = 1.0, .separation = separation};
    it.root[0] = -0.5 * separation;
    it.root[1] = it.root[0] + next_gap(&it);
    it.root[2] = it.root[1] + next_gap(&it);
    return it;
}

// A step shorter than the separation holds one crossing of each witness at the most, so none may be
// missed: whether the steps are limited or the witness declares its separation, with several
// witnesses, and with a method of first order. One that is missed leaves the witness on a piece
// that has gone by, and the clock would pass its end: then fewer are found.
START_TEST(no_well_separated_crossing_is_missed)
{
    const long wanted = getenv("TALUS_SOAK") != NULL ? 1000000 : 10000;

    enum {
        WAVES = 4
    };

    for (int way = 0; way < 3; ++way) {
        wave waves[WAVES];
        for (int i = 0; i < WAVES; ++i) {
            waves[i] = begin_wave((uint64_t)(100 * way + i), 0.01 * (1.0 + i));
        }
        tal_happening it = tal_happening_default();
        it.witness = wave_value;
        it.stage = TAL_STAGE_DYNAMICS; // z is known
        it.handle = found;
        it.window = 1e-9;
        tal_integrator_def def = tal_integrator_def_default();
        def.max_step = way == 0 ? 0.0099 : 0.0;
        if (way == 1) it.separation = 0.01;
        if (way == 2) def.fixed_step = 0.0097;
        if (way == 2) def.tableau = tal_rk_euler();
        run r;
        begin_run(&r, it, waves, sizeof *waves, WAVES, &def);
        long total = 0;
        // gaps are 2.5 separations in the mean: 84 crossings of all four per second
        const double end = (double)wanted / 80.0;
        go(&r, end);
        for (int i = 0; i < WAVES; ++i) {
            // nothing was passed: the next root is ahead
            ck_assert_double_gt(waves[i].root[1], end);
            ck_assert_double_le(waves[i].root[0], end);
            ck_assert_double_le(waves[i].worst, 1e-9 + 1e-12);
            total += waves[i].num_found;
        }
        ck_assert_int_ge(total, wanted);
        end_run(&r);
    }
}

END_TEST

// --- two crossings within one step ---

typedef struct dip {
    double c, d; // (x - c)^2 - d^2
    double t[4];
    int n;
} dip;

static tal_status dip_value(void *context, const tal_system *system, tal_state *state,
                            double *value)
{
    (void)system;
    const dip *it = context;
    const double x = tal_state_z(state)[0] - it->c;
    *value = x * x - it->d * it->d;
    return TAL_OK;
}

static tal_status dip_rate(void *context, const tal_system *system, tal_state *state, double *value)
{
    (void)system;
    const dip *it = context;
    *value = 2.0 * (tal_state_z(state)[0] - it->c);
    return TAL_OK;
}

static tal_status dip_found(void *context, const tal_system *system, tal_state *state,
                            tal_event_cause cause, bool *terminate)
{
    (void)system;
    (void)cause;
    (void)terminate;
    dip *it = context;
    if (it->n < 4) it->t[it->n++] = tal_state_t(state);
    return TAL_OK;
}

// The dip is as narrow as 1e-6 of the step; differences and a rate of the user's show it alike.
START_TEST(two_crossings_within_a_step_are_found)
{
    test_rng rng = test_rng_seed(7);
    for (int k = 0; k < 300; ++k) {
        dip it = {.c = test_random_uniform(&rng, 0.1, 0.9),
                  .d = pow(10.0, test_random_uniform(&rng, -6.0, -1.1))};
        tal_happening event = tal_happening_default();
        event.witness = dip_value;
        event.stage = TAL_STAGE_DYNAMICS;
        event.window = 1e-9;
        event.handle = dip_found;
        event.crossing = (tal_crossing)(k % 3);
        if (k % 2 == 0) event.rate = dip_rate;
        event.rate_stage = TAL_STAGE_DYNAMICS;
        tal_integrator_def def = tal_integrator_def_default();
        def.fixed_step = 1.0;
        run r;
        begin_run(&r, event, &it, sizeof it, 1, &def);
        go(&r, 3.0);
        const bool falling = event.crossing != TAL_CROSSING_RISING;
        const bool rising = event.crossing != TAL_CROSSING_FALLING;
        ck_assert_int_eq(it.n, falling + rising);
        if (falling) ck_assert_double_eq_tol(it.t[0], it.c - it.d, 2e-9);
        if (rising) ck_assert_double_eq_tol(it.t[it.n - 1], it.c + it.d, 2e-9);
        ck_assert_int_eq(tal_time_stepper_direction(r.stepper, (tal_event_ix){0}), rising ? 1 : -1);
        end_run(&r);
    }
}

END_TEST

// A dip that the cubic only comes near to, because the witness is none: sin^2 with a little taken
// off.
static tal_status sine_value(void *context, const tal_system *system, tal_state *state,
                             double *value)
{
    (void)system;
    const dip *it = context;
    const double s = sin(2.0 * (tal_state_z(state)[0] - it->c));
    *value = s * s - it->d * it->d;
    return TAL_OK;
}

// It is over within one window: the sides stay right, whether it was seen or not.
START_TEST(a_dip_within_a_window_counts_twice_or_not_at_all)
{
    test_rng rng = test_rng_seed(9);
    for (int k = 0; k < 100; ++k) {
        dip it = {.c = test_random_uniform(&rng, 0.1, 0.9), .d = 1e-5};
        tal_happening event = tal_happening_default();
        event.witness = dip_value;
        event.stage = TAL_STAGE_DYNAMICS;
        event.window = 1e-3;
        event.handle = dip_found;
        tal_integrator_def def = tal_integrator_def_default();
        def.fixed_step = 1.0;
        run r;
        begin_run(&r, event, &it, sizeof it, 1, &def);
        go(&r, 3.0);
        ck_assert_int_le(it.n, 2);
        ck_assert_int_ne(it.n, 1);
        end_run(&r);
    }
}

END_TEST

START_TEST(a_search_goes_on_where_the_cubic_is_not_the_witness)
{
    test_rng rng = test_rng_seed(8);
    for (int k = 0; k < 200; ++k) {
        dip it = {.c = test_random_uniform(&rng, 0.3, 0.7),
                  .d = pow(10.0, test_random_uniform(&rng, -2.0, -0.9))};
        tal_happening event = tal_happening_default();
        event.witness = sine_value;
        event.stage = TAL_STAGE_DYNAMICS;
        event.handle = dip_found;
        event.window = 1e-9;
        tal_integrator_def def = tal_integrator_def_default();
        def.fixed_step = 0.5;
        run r;
        begin_run(&r, event, &it, sizeof it, 1, &def);
        go(&r, 1.0);
        ck_assert_int_eq(it.n, 2);
        ck_assert_double_eq_tol(it.t[0], it.c - 0.5 * asin(it.d), 2e-9);
        ck_assert_double_eq_tol(it.t[1], it.c + 0.5 * asin(it.d), 2e-9);
        end_run(&r);
    }
}

END_TEST

// --- special witnesses ---

// A step function: no rate shows where it jumps, and it does not jump again because it stays there.
static tal_status jump(void *context, const tal_system *system, tal_state *state, double *value)
{
    (void)system;
    const dip *it = context;
    *value = tal_state_z(state)[0] < it->c ? -1.0 : 1.0;
    return TAL_OK;
}

// Stays zero from some time on.
static tal_status ramp(void *context, const tal_system *system, tal_state *state, double *value)
{
    (void)system;
    const dip *it = context;
    *value = fmax(it->c - tal_state_z(state)[0], 0.0);
    return TAL_OK;
}

static tal_status zero(void *context, const tal_system *system, tal_state *state, double *value)
{
    (void)context;
    (void)system;
    (void)state;
    *value = 0.0;
    return TAL_OK;
}

// Cannot be had after its crossing by more than a little, so that it has no rates.
static tal_status root(void *context, const tal_system *system, tal_state *state, double *value)
{
    (void)system;
    const dip *it = context;
    *value = it->c - tal_state_z(state)[0];
    return tal_state_z(state)[0] < 0.0 ? TAL_ERR_CALLBACK : TAL_OK;
}

static dip cross_once(tal_witness_fn witness, double c)
{
    dip it = {.c = c};
    tal_happening event = tal_happening_default();
    event.witness = witness;
    event.stage = TAL_STAGE_DYNAMICS;
    event.handle = dip_found;
    event.window = 1e-8;
    run r;
    begin_run(&r, event, &it, sizeof it, 1, NULL);
    go(&r, 3.0);
    end_run(&r);
    return it;
}

START_TEST(what_has_happened_does_not_happen_again)
{
    dip it = cross_once(jump, 0.7);
    ck_assert_int_eq(it.n, 1);
    ck_assert_double_eq_tol(it.t[0], 0.7, 1e-8);
    it = cross_once(ramp, 0.7);
    ck_assert_int_eq(it.n, 1);
    ck_assert_double_eq_tol(it.t[0], 0.7, 1e-8);
    ck_assert_int_eq(cross_once(zero, 0.7).n, 0);
    it = cross_once(root, 0.7);
    ck_assert_int_eq(it.n, 1);
    ck_assert_double_eq_tol(it.t[0], 0.7, 1e-8);
}

END_TEST

static tal_status set_back(void *context, const tal_system *system, tal_state *state,
                           tal_event_cause cause, bool *terminate)
{
    (void)system;
    (void)cause;
    (void)terminate;
    dip *it = context;
    ++it->n;
    const double z = it->c - it->d;
    return tal_state_set_z(state, &z, 1);
}

// A witness that its handler moves to the side it came from crosses again, however near that is:
// every 0.02 s from 0.7 s on, and late by no more than the window each time, 1e-4 s by default.
START_TEST(a_witness_that_its_handler_moves_crosses_again)
{
    dip it = {.c = 0.7, .d = 0.02};
    tal_happening event = tal_happening_default();
    event.witness = root;
    event.stage = TAL_STAGE_DYNAMICS;
    event.handle = set_back;
    run r;
    begin_run(&r, event, &it, sizeof it, 1, NULL);
    go(&r, 0.7 + 50.5 * 0.02);
    ck_assert_int_ge(it.n, 50);
    ck_assert_int_le(it.n, 51);
    end_run(&r);
}

END_TEST

// Crossings closer together than their windows happen at one time, others do not.
START_TEST(what_crosses_within_a_window_happens_together)
{
    dip its[3] = {{.c = 0.5}, {.c = 0.5 + 4e-7}, {.c = 0.5 + 5e-6}};
    tal_happening event = tal_happening_default();
    event.witness = root;
    event.stage = TAL_STAGE_DYNAMICS;
    event.handle = dip_found;
    event.window = 1e-6;
    run r;
    begin_run(&r, event, its, sizeof its[0], 3, NULL);
    go(&r, 1.0);
    for (int i = 0; i < 3; ++i) {
        ck_assert_int_eq(its[i].n, 1);
    }
    ck_assert_double_eq(its[0].t[0], its[1].t[0]);
    ck_assert_double_gt(its[2].t[0], its[0].t[0]);
    end_run(&r);
}

END_TEST

// --- late times ---

typedef struct swing {
    double start; // [s]
    int n;
    double worst; // distance of a crossing found from its root [s]
} swing;

static const double SWING_RATE = 27.0;

static tal_status swing_value(void *context, const tal_system *system, tal_state *state,
                              double *value)
{
    (void)system;
    *value = cos(SWING_RATE * (tal_state_t(state) - ((const swing *)context)->start));
    return TAL_OK;
}

static tal_status swing_found(void *context, const tal_system *system, tal_state *state,
                              tal_event_cause cause, bool *terminate)
{
    (void)system, (void)cause, (void)terminate;
    swing *it = context;
    const double root = (it->n++ + 0.5) * TAL_PI / SWING_RATE;
    it->worst = fmax(it->worst, fabs(tal_state_t(state) - it->start - root));
    return TAL_OK;
}

// Seconds since 1970: the time has 2e-7 s left for its digits, and a witness that is a function of
// it swings four times a second. Without computed rates the sides of its zeros are told as well as
// at t = 0. Windows are 1e-6 s; the last digit of the time adds its part at either
// end.
START_TEST(crossings_at_late_times_are_those_of_early_ones)
{
    const double starts[] = {0.0, -1.7e9, 1.7e9};
    for (int k = 0; k < 3; ++k) {
        swing it = {.start = starts[k]};
        tal_happening event = tal_happening_default();
        event.witness = swing_value;
        event.stage = TAL_STAGE_TIME;
        event.handle = swing_found;
        event.window = 1e-6;
        tal_integrator_def def = tal_integrator_def_default();
        def.max_step = 0.02;
        run r;
        begin_run(&r, event, &it, sizeof it, 1, &def);
        tal_state_set_t(r.state, starts[k]);
        go(&r, starts[k] + 2.0);
        ck_assert_int_eq(it.n, 17); // (17 - 0.5) pi / 27 < 2 < (18 - 0.5) pi / 27
        ck_assert_double_le(it.worst, 1e-6 + 2.0 * DBL_EPSILON * fabs(starts[k]));
        end_run(&r);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/crossings");
    TCase *tests = tcase_create("crossings");
    tcase_set_timeout(tests, 14400.0);
    tcase_add_test(tests, no_well_separated_crossing_is_missed);
    tcase_add_test(tests, two_crossings_within_a_step_are_found);
    tcase_add_test(tests, a_dip_within_a_window_counts_twice_or_not_at_all);
    tcase_add_test(tests, a_search_goes_on_where_the_cubic_is_not_the_witness);
    tcase_add_test(tests, what_has_happened_does_not_happen_again);
    tcase_add_test(tests, a_witness_that_its_handler_moves_crosses_again);
    tcase_add_test(tests, what_crosses_within_a_window_happens_together);
    tcase_add_test(tests, crossings_at_late_times_are_those_of_early_ones);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
