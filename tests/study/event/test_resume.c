// Tests for study/src/integrate/integrator_save.c and run_save.c, and for going back within a step.
#include "integrate/integrator_internal.h"
#include "stepper_model.h"

#include <math.h>
#include <stdlib.h>

// --- models: a tree, a closed loop, quaternions ---

typedef struct counters {
    int handled, reported;
} counters;

static tal_status count_handled(void *context, const tal_system *system, tal_state *state,
                                tal_event_cause cause, bool *terminate)
{
    (void)system;
    (void)cause;
    (void)terminate;
    ++((counters *)context)->handled;
    tal_state_upd_u(state)[0] *= -0.95;
    return TAL_OK;
}

static tal_status count_reported(void *context, const tal_system *system, tal_state *state,
                                 tal_event_cause cause)
{
    (void)system;
    (void)state;
    (void)cause;
    ++((counters *)context)->reported;
    return TAL_OK;
}

enum {
    NUM_MODELS = 3
};

static stepper_model begin(int which, counters *it, const tal_integrator_def *def,
                           const tal_time_stepper_def *run)
{
    stepper_model m = begin_stepper_model(9.81);
    if (which == 0) (void)add_pendulum(&m);
    if (which == 1) (void)add_rod_pendulum(&m);
    if (which == 2) (void)add_top(&m);
    tal_happening event = tal_happening_default();
    event.name = "turn";
    event.context = it;
    event.handle = count_handled;
    event.witness = first_u;
    event.stage = TAL_STAGE_VELOCITY;
    event.crossing = TAL_CROSSING_FALLING;
    (void)tal_events_add(m.events, &event);
    event = tal_happening_default();
    event.context = it;
    event.report = count_reported;
    event.period = 0.03;
    (void)tal_events_add(m.events, &event);
    event = tal_happening_default();
    event.context = it;
    event.handle = count_handled;
    event.period = 0.7;
    event.first = 0.35;
    (void)tal_events_add(m.events, &event);
    finish_stepper_model(&m, def, run);
    static const double q[3][4] = {{1.0}, {0.6, -0.8, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    static const double u[3][3] = {{0.0}, {0.0, 0.0, 0.0}, {0.1, 5.0, 0.1}};
    (void)tal_state_set_q(m.state, q[which], tal_state_nq(m.state));
    (void)tal_state_set_u(m.state, u[which], tal_state_nu(m.state));
    return m;
}

static const double END = 1.5;

static bool advance(stepper_model *m)
{
    tal_outcome outcome = TAL_OUTCOME_FAILED;
    ck_assert_msg(tal_time_stepper_advance(m->stepper, m->state, END, &outcome) == TAL_OK, "%s",
                  tal_time_stepper_error(m->stepper)->message);
    return outcome != TAL_OUTCOME_REACHED_TIME;
}

static void *save(stepper_model *m, size_t *size)
{
    *size = tal_time_stepper_save_size(m->stepper, m->state);
    void *bytes = malloc(*size);
    ck_assert_msg(tal_time_stepper_save(m->stepper, m->state, bytes, *size) == TAL_OK, "%s",
                  tal_time_stepper_error(m->stepper)->message);
    return bytes;
}

static void resume(stepper_model *m, const void *bytes, size_t size)
{
    ck_assert_msg(tal_time_stepper_resume(m->stepper, m->state, bytes, size) == TAL_OK, "%s",
                  tal_time_stepper_error(m->stepper)->message);
}

// Every method on every model, saved after every seventh step and resumed by new objects: the
// rest of the run is the same bit for bit, events, reports and counters included.
START_TEST(a_run_is_resumed_bit_for_bit_after_any_step)
{
    for (int method = 0; method < NUM_ONE_STEP_METHODS; ++method) {
        for (int which = 0; which < NUM_MODELS; ++which) {
            const tal_integrator_def def = one_step_method(method, method < 2 ? 1e-3 : 1e-5);
            counters whole = {0, 0};
            stepper_model m = begin(which, &whole, &def, NULL);
            void *bytes[8] = {NULL};
            size_t size[8];
            counters at[8];
            int saves = 0;
            for (int step = 0; advance(&m); ++step) {
                if (step % 7 != 3 || saves == 8) continue;
                at[saves] = whole;
                bytes[saves] = save(&m, &size[saves]);
                ++saves;
            }
            ck_assert_int_gt(saves, 1);
            ck_assert_int_gt(whole.handled, 1);
            for (int k = 0; k < saves; ++k) {
                counters rest = at[k];
                stepper_model other = begin(which, &rest, &def, NULL);
                resume(&other, bytes[k], size[k]);
                while (advance(&other)) {}
                ck_assert(tal_state_is_equal(other.state, m.state));
                ck_assert_int_eq(rest.handled, whole.handled);
                ck_assert_int_eq(rest.reported, whole.reported);
                const tal_time_stepper_stats a = tal_time_stepper_statistics(m.stepper);
                const tal_time_stepper_stats b = tal_time_stepper_statistics(other.stepper);
                ck_assert_mem_eq(&a, &b, sizeof a);
                end_stepper_model(&other);
                free(bytes[k]);
            }
            end_stepper_model(&m);
        }
    }
}

END_TEST

// The State is changed between two calls, which is not an event, and the run is saved after that:
// resumed, it takes the State as it is, too.
START_TEST(a_state_that_is_changed_before_it_is_saved_is_taken_as_it_is)
{
    for (int method = 0; method < NUM_ONE_STEP_METHODS; ++method) {
        for (int which = 0; which < NUM_MODELS; ++which) {
            const tal_integrator_def def = one_step_method(method, method < 2 ? 1e-3 : 1e-5);
            counters whole = {0, 0};
            stepper_model m = begin(which, &whole, &def, NULL);
            (void)run_stepper(&m, 0.5);
            tal_state_upd_u(m.state)[0] *= -1.0; // the witness of "turn" changes sign
            (void)tal_gravity_set_g(m.forces, m.state, (tal_force_ix){0}, tal_v3(0.0, -5.0, 0.0));
            size_t size = 0;
            void *bytes = save(&m, &size);
            counters rest = whole;
            stepper_model other = begin(which, &rest, &def, NULL);
            resume(&other, bytes, size);
            ck_assert_int_eq(run_stepper(&m, END), run_stepper(&other, END));
            ck_assert(tal_state_is_equal(other.state, m.state));
            ck_assert_int_eq(rest.handled, whole.handled);
            ck_assert_int_eq(rest.reported, whole.reported);
            free(bytes);
            end_stepper_model(&m);
            end_stepper_model(&other);
        }
    }
}

END_TEST

// The State within the last step is known after resuming too.
START_TEST(the_last_step_can_be_interpolated_after_resuming)
{
    const tal_integrator_def def = dormand_prince(1e-4);
    counters none = {0, 0};
    stepper_model m = begin(2, &none, &def, NULL), other = begin(2, &none, &def, NULL);
    tal_error err = {0};
    tal_state *a = NULL, *b = NULL;
    ck_assert_int_eq(tal_state_create(m.system, &a, &err), TAL_OK);
    ck_assert_int_eq(tal_state_create(m.system, &b, &err), TAL_OK);
    for (int i = 0; i < 3; ++i) {
        (void)advance(&m);
    }
    size_t size = 0;
    void *bytes = save(&m, &size);
    resume(&other, bytes, size);
    const double h = tal_integrator_statistics(m.integ).last_step;
    const double t = tal_state_t(m.state) - 0.3 * h;
    ck_assert_int_eq(tal_integrator_interpolate(m.integ, m.state, t, a), TAL_OK);
    ck_assert_int_eq(tal_integrator_interpolate(other.integ, other.state, t, b), TAL_OK);
    ck_assert(tal_state_is_equal(a, b));
    free(bytes);
    tal_state_destroy(a);
    tal_state_destroy(b);
    end_stepper_model(&m);
    end_stepper_model(&other);
}

END_TEST

// Checkpoints are part of the run: the State meets their times, and the method restarts there.
START_TEST(a_run_with_checkpoints_is_resumed_at_them)
{
    const tal_integrator_def def = one_step_method(4, 1e-6);
    tal_time_stepper_def run = tal_time_stepper_def_default();
    run.checkpoint_period = 0.2;
    counters none = {0, 0};
    stepper_model m = begin(2, &none, &def, &run), other = begin(2, &none, &def, &run);
    size_t size = 0;
    void *bytes = NULL;
    int met = 0;
    while (advance(&m)) {
        const double t = tal_state_t(m.state);
        if (t != round(t / 0.2) * 0.2) continue;
        ++met;
        if (met == 3) bytes = save(&m, &size);
        // nothing is known of the step before
        ck_assert_int_eq(tal_integrator_interpolate(m.integ, m.state, t, other.state),
                         TAL_ERR_BAD_VALUE);
    }
    ck_assert_int_eq(met, 7);
    resume(&other, bytes, size);
    ck_assert_double_eq(tal_state_t(other.state), round(3.0) * 0.2);
    while (advance(&other)) {}
    ck_assert(tal_state_is_equal(other.state, m.state));
    free(bytes);
    end_stepper_model(&m);
    end_stepper_model(&other);
}

END_TEST

// A method that remembers steps cannot be resumed in between: one that only says it does stands in.
START_TEST(a_method_that_remembers_steps_is_saved_at_checkpoints_only)
{
    const tal_integrator_def def = one_step_method(4, 1e-6);
    tal_time_stepper_def run = tal_time_stepper_def_default();
    run.checkpoint_period = 0.2;
    counters none = {0, 0};
    stepper_model m = begin(2, &none, &def, &run);
    tali_integrator_family remembers = *m.integ->family;
    remembers.is_one_step = false;
    m.integ->family = &remembers;
    const size_t size = tal_time_stepper_save_size(m.stepper, m.state);
    void *bytes = malloc(size);
    int saved = 0;
    while (advance(&m)) {
        const double t = tal_state_t(m.state);
        const tal_status st = tal_time_stepper_save(m.stepper, m.state, bytes, size);
        ck_assert_int_eq(st, t == round(t / 0.2) * 0.2 ? TAL_OK : TAL_ERR_STAGE);
        saved += st == TAL_OK;
        if (st == TAL_OK) resume(&m, bytes, size); // changes nothing
    }
    ck_assert_int_eq(saved, 7);
    free(bytes);
    end_stepper_model(&m);
}

END_TEST

static void must_refuse(stepper_model *m, const void *bytes, size_t size, tal_status expected,
                        const char *part)
{
    tal_error err = {0};
    tal_state *before = NULL;
    ck_assert_int_eq(tal_state_create(m->system, &before, &err), TAL_OK);
    (void)tal_state_copy(before, m->state);
    ck_assert_int_eq(tal_time_stepper_resume(m->stepper, m->state, bytes, size), expected);
    const char *message = tal_time_stepper_error(m->stepper)->message;
    ck_assert_msg(strstr(message, part) != NULL, "'%s' lacks '%s'", message, part);
    ck_assert(tal_state_is_equal(before, m->state));
    tal_state_destroy(before);
}

START_TEST(bytes_that_are_not_this_run_are_refused)
{
    const tal_integrator_def def = one_step_method(4, 1e-6), coarse = one_step_method(4, 1e-3);
    counters none = {0, 0};
    stepper_model m = begin(0, &none, &def, NULL);
    (void)advance(&m);
    size_t size = 0;
    char *bytes = save(&m, &size);
    ck_assert_int_eq(tal_time_stepper_save(m.stepper, m.state, bytes, size - 1), TAL_ERR_CAPACITY);

    must_refuse(&m, bytes, 10, TAL_ERR_FILE, "truncated");
    must_refuse(&m, bytes, size - 1, TAL_ERR_FILE, "truncated or too long");
    for (size_t i = 0; i < size; i += 1 + size / 97) {
        bytes[i] ^= 4;
        const tal_status st = tal_time_stepper_resume(m.stepper, m.state, bytes, size);
        ck_assert_msg(st == TAL_ERR_FILE || st == TAL_ERR_WRONG_SYSTEM, "byte %zu: %d", i, st);
        bytes[i] ^= 4;
    }
    bytes[0] ^= 1;
    must_refuse(&m, bytes, size, TAL_ERR_FILE, "were not saved by");
    must_refuse(&m, bytes + 1, 0, TAL_ERR_FILE, "truncated");
    bytes[0] ^= 1;
    bytes[size - 1] ^= 1;
    must_refuse(&m, bytes, size, TAL_ERR_FILE, "checksum");
    bytes[size - 1] ^= 1;

    bytes[12] ^= 1;
    must_refuse(&m, bytes, size, TAL_ERR_FILE, "format version");
    bytes[12] ^= 1;
    const tal_integrator_def merson = one_step_method(3, 1e-6);
    stepper_model other = begin(0, &none, &merson, NULL);
    must_refuse(&other, bytes, size, TAL_ERR_FILE, "but a run with this integrator has");
    end_stepper_model(&other);
    other = begin(0, &none, &coarse, NULL);
    must_refuse(&other, bytes, size, TAL_ERR_FILE, "another System, method or accuracy");
    end_stepper_model(&other);
    tal_time_stepper_def run = tal_time_stepper_def_default();
    run.final_time = 7.0;
    other = begin(0, &none, &def, &run);
    must_refuse(&other, bytes, size, TAL_ERR_FILE, "saved with final_time inf");
    end_stepper_model(&other);
    other = begin(1, &none, &def, NULL);
    must_refuse(&other, bytes, size, TAL_ERR_WRONG_SYSTEM, "not saved from System");
    end_stepper_model(&other);

    resume(&m, bytes, size); // the bytes are good after all
    free(bytes);
    end_stepper_model(&m);
}

END_TEST

static tal_status refuse(void *context, const tal_system *system, tal_state *state,
                         tal_event_cause cause, bool *terminate)
{
    (void)context;
    (void)system;
    (void)state;
    (void)cause;
    (void)terminate;
    return TAL_ERR_CALLBACK;
}

// There is nothing to resume in a run that a handler has failed, but what was saved before can be.
START_TEST(a_run_that_failed_is_not_saved)
{
    stepper_model m = begin_stepper_model(9.81);
    (void)add_pendulum(&m);
    tal_happening event = tal_happening_default();
    event.handle = refuse;
    event.period = 0.5;
    event.first = 0.5;
    (void)tal_events_add(m.events, &event);
    finish_stepper_model(&m, NULL, NULL);
    run_stepper(&m, 0.3);
    size_t size = 0;
    void *bytes = save(&m, &size);
    ck_assert_int_eq(tal_time_stepper_step_to(m.stepper, m.state, 1.0, NULL), TAL_ERR_CALLBACK);
    ck_assert_int_eq(tal_time_stepper_save(m.stepper, m.state, bytes, size), TAL_ERR_CALLBACK);
    resume(&m, bytes, size);
    run_stepper(&m, 0.4);
    free(bytes);
    end_stepper_model(&m);
}

END_TEST

START_TEST(an_integrator_can_be_saved_without_a_stepper)
{
    test_record_breaches();
    const tal_integrator_def def = one_step_method(6, 1e-5);
    counters none = {0, 0};
    stepper_model m = begin(0, &none, &def, NULL), other = begin(0, &none, &def, NULL);
    ck_assert_int_eq(tal_integrator_step(m.integ, m.state, 1.0), TAL_OK);
    ck_assert_int_eq(tal_integrator_step(m.integ, m.state, 1.0), TAL_OK);
    const size_t size = tal_integrator_save_size(m.integ);
    char *bytes = malloc(size);
    ck_assert_int_eq(tal_integrator_save(m.integ, bytes, size), TAL_OK);
    const size_t state_size = tal_state_save_size(m.state);
    char *state_bytes = malloc(state_size);
    ck_assert_int_eq(tal_state_save(m.state, state_bytes, state_size), TAL_OK);
    ck_assert_int_eq(tal_state_load(m.system, other.state, state_bytes, state_size), TAL_OK);
    ck_assert_int_eq(tal_integrator_restore(other.integ, other.state, bytes, size), TAL_OK);
    ck_assert_int_eq(tal_integrator_step_to(m.integ, m.state, 1.0), TAL_OK);
    ck_assert_int_eq(tal_integrator_step_to(other.integ, other.state, 1.0), TAL_OK);
    ck_assert(tal_state_is_equal(other.state, m.state));

    ck_assert_int_eq(tal_integrator_save(m.integ, bytes, size - 1), TAL_ERR_CAPACITY);
    ck_assert_int_eq(tal_integrator_restore(m.integ, m.state, bytes, size - 1), TAL_ERR_FILE);
    bytes[3] ^= 1;
    ck_assert_int_eq(tal_integrator_restore(m.integ, m.state, bytes, size), TAL_ERR_FILE);
    bytes[3] ^= 1;
    bytes[size - 1] ^= 1;
    ck_assert_int_eq(tal_integrator_restore(m.integ, m.state, bytes, size), TAL_ERR_FILE);
    ck_assert_ptr_nonnull(strstr(tal_integrator_error(m.integ)->message, "checksum"));
    bytes[size - 1] ^= 1;
    test_assert_refused(tal_integrator_save(NULL, bytes, size), TAL_ERR_NULL, "integrator");
    test_assert_refused(tal_integrator_save(m.integ, NULL, size), TAL_ERR_NULL, "memory");
    test_assert_breach((void)tal_integrator_save_size(NULL), TAL_ERR_NULL, "integrator");
    test_assert_breach(tal_integrator_checkpoint(NULL), TAL_ERR_NULL, "integrator");
    test_assert_refused(tal_integrator_restore(NULL, m.state, bytes, size), TAL_ERR_NULL,
                        "integrator");
    test_assert_refused(tal_integrator_restore(m.integ, NULL, bytes, size), TAL_ERR_NULL, "State");
    test_assert_refused(tal_integrator_restore(m.integ, m.state, NULL, size), TAL_ERR_NULL,
                        "bytes");
    test_assert_breach((void)tal_time_stepper_save_size(NULL, m.state), TAL_ERR_NULL, "stepper");
    test_assert_breach((void)tal_time_stepper_save_size(m.stepper, NULL), TAL_ERR_NULL, "State");
    test_assert_refused(tal_time_stepper_save(m.stepper, m.state, NULL, 1), TAL_ERR_NULL, "bytes");
    test_assert_refused(tal_time_stepper_save(m.stepper, NULL, bytes, 1), TAL_ERR_NULL, "State");
    test_assert_refused(tal_time_stepper_resume(NULL, m.state, bytes, 1), TAL_ERR_NULL, "stepper");
    test_assert_refused(tal_time_stepper_resume(m.stepper, m.state, NULL, 1), TAL_ERR_NULL,
                        "bytes");
    free(bytes);
    free(state_bytes);
    end_stepper_model(&m);
    end_stepper_model(&other);
}

END_TEST

// --- back within a step ---

// Going back takes the step again: the same bytes as a run whose step ended there in the first
// place, and the run goes on from there.
START_TEST(going_back_is_as_if_the_step_had_ended_there)
{
    for (int method = 0; method < NUM_ONE_STEP_METHODS; ++method) {
        for (int which = 0; which < NUM_MODELS; ++which) {
            for (int k = 1; k < 10; ++k) {
                tal_integrator_def def = one_step_method(method, 1e-3);
                def.fixed_step = 0.02;
                counters none = {0, 0};
                stepper_model a = begin(which, &none, &def, NULL);
                stepper_model b = begin(which, &none, &def, NULL);
                ck_assert_int_eq(tal_integrator_step(a.integ, a.state, 1.0), TAL_OK);
                ck_assert_int_eq(tal_integrator_step(a.integ, a.state, 1.0), TAL_OK);
                ck_assert_int_eq(tal_integrator_step(b.integ, b.state, 1.0), TAL_OK);
                const double t = 0.02 + 0.002 * k;
                ck_assert_int_eq(tal_integrator_back_up(a.integ, a.state, t), TAL_OK);
                ck_assert_int_eq(tal_integrator_step(b.integ, b.state, t), TAL_OK);
                ck_assert_double_eq(tal_state_t(a.state), t);
                ck_assert_int_ge(tal_state_stage(a.state), TAL_STAGE_ACCELERATION);
                ck_assert(tal_state_is_equal(a.state, b.state));
                ck_assert_int_eq(tal_integrator_step_to(a.integ, a.state, 0.1), TAL_OK);
                ck_assert_int_eq(tal_integrator_step_to(b.integ, b.state, 0.1), TAL_OK);
                ck_assert(tal_state_is_equal(a.state, b.state));
                end_stepper_model(&a);
                end_stepper_model(&b);
            }
        }
    }
}

END_TEST

// To either end of the step, and again within what is left of it.
START_TEST(going_back_reaches_the_ends_and_can_be_repeated)
{
    const tal_integrator_def def = dormand_prince(1e-6);
    counters none = {0, 0};
    stepper_model m = begin(1, &none, &def, NULL);
    tal_error err = {0};
    tal_state *start = NULL;
    ck_assert_int_eq(tal_state_create(m.system, &start, &err), TAL_OK);
    ck_assert_int_eq(tal_integrator_step(m.integ, m.state, 1.0), TAL_OK);
    (void)tal_state_copy(start, m.state);
    const double t0 = tal_state_t(m.state);
    ck_assert_int_eq(tal_integrator_step(m.integ, m.state, 1.0), TAL_OK);
    const double t1 = tal_state_t(m.state);
    ck_assert_int_eq(tal_integrator_back_up(m.integ, m.state, t1), TAL_OK);
    ck_assert_double_eq(tal_state_t(m.state), t1);
    const double half = 0.5 * (t0 + t1), quarter = 0.5 * (t0 + half);
    ck_assert_int_eq(tal_integrator_back_up(m.integ, m.state, half), TAL_OK);
    ck_assert_int_eq(tal_integrator_back_up(m.integ, m.state, quarter), TAL_OK);
    ck_assert_double_eq(tal_state_t(m.state), quarter);
    ck_assert_int_eq(tal_integrator_back_up(m.integ, m.state, t0), TAL_OK);
    ck_assert_double_eq(tal_state_t(m.state), t0);
    // a step of length zero is projected once more, so equal but for the tolerance
    for (int i = 0; i < tal_state_ny(start); ++i) {
        ck_assert_double_eq_tol(tal_state_y(m.state)[i], tal_state_y(start)[i], 1e-12);
    }
    tal_state_destroy(start);
    end_stepper_model(&m);
}

END_TEST

START_TEST(what_is_not_within_the_step_is_reported)
{
    test_record_breaches();
    const tal_integrator_def def = dormand_prince(1e-6);
    counters none = {0, 0};
    stepper_model m = begin(0, &none, &def, NULL);
    ck_assert_int_eq(tal_integrator_back_up(m.integ, m.state, 0.0), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_integrator_step(m.integ, m.state, 1.0), TAL_OK);
    const double bad[] = {-0.1, 2.0, (double)NAN, (double)INFINITY};
    for (int k = 0; k < 4; ++k) {
        ck_assert_int_eq(tal_integrator_back_up(m.integ, m.state, bad[k]), TAL_ERR_BAD_VALUE);
        ck_assert_ptr_nonnull(
            strstr(tal_integrator_error(m.integ)->message, "within the last step"));
    }
    test_assert_refused(tal_integrator_back_up(NULL, m.state, 0.0), TAL_ERR_NULL, "integrator");
    test_assert_refused(tal_integrator_back_up(m.integ, NULL, 0.0), TAL_ERR_NULL, "State");
    end_stepper_model(&m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/resume");
    TCase *saving = tcase_create("saving");
    tcase_add_test(saving, a_run_is_resumed_bit_for_bit_after_any_step);
    tcase_add_test(saving, a_state_that_is_changed_before_it_is_saved_is_taken_as_it_is);
    tcase_add_test(saving, the_last_step_can_be_interpolated_after_resuming);
    tcase_add_test(saving, a_run_with_checkpoints_is_resumed_at_them);
    tcase_add_test(saving, a_method_that_remembers_steps_is_saved_at_checkpoints_only);
    tcase_add_test(saving, bytes_that_are_not_this_run_are_refused);
    tcase_add_test(saving, a_run_that_failed_is_not_saved);
    tcase_add_test(saving, an_integrator_can_be_saved_without_a_stepper);
    suite_add_tcase(suite, saving);
    TCase *back = tcase_create("back");
    tcase_add_test(back, going_back_is_as_if_the_step_had_ended_there);
    tcase_add_test(back, going_back_reaches_the_ends_and_can_be_repeated);
    tcase_add_test(back, what_is_not_within_the_step_is_reported);
    suite_add_tcase(suite, back);
    return test_run(suite);
}
