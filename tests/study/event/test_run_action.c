// study/src/event/run_action.c: events that set a variable or apply an impulse, given as data.
#include "neighbor.h"
#include "stepper_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static neighbor other;

// Without gravity; beside a subsystem with speeds of its own, so that matter's do not come first.
static stepper_model begin(bool beside)
{
    return begin_stepper_model_in(beside ? neighbor_system(&other) : tal_system_create(NULL), 0.0);
}

static void finish(stepper_model *m)
{
    const tal_integrator_def def = dormand_prince(1e-8);
    finish_stepper_model(m, &def, NULL);
}

// --- setting ---

enum {
    MOST = 64
};

static double numbers[MOST + 1];

// What is to be set to `n` values, or to what `from` has. The failure of building; TAL_OK: none.
static tal_status try_set(stepper_model *m, tal_measure_ix measure, int n, const double values[],
                          tal_measure_ix from, const char *says)
{
    tal_run_set set = tal_run_set_default();
    set.when.name = "reset";
    set.when.value = 0.1;
    set.measure = measure;
    set.num_values = n;
    set.values = values;
    set.from = from;
    const tal_event_ix event = tal_events_add_set(m->events, &set);
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = tal_system_realize_topology(m->system, &err);
    ck_assert_int_eq(event.i < 0, st != TAL_OK);
    ck_assert_msg(strstr(err.message, says) != NULL, "'%s' lacks '%s'", err.message, says);
    return st;
}

// Every value is looked at: the first, one in the middle, the last of the most that can be set.
START_TEST(what_cannot_be_set_is_refused_by_name)
{
    static const tal_measure_ix none = {-1};
    static const int places[] = {0, 1, MOST - 1};
    for (int k = 0; k < 3; ++k) {
        for (int bad = 0; bad < 2; ++bad) {
            stepper_model m = begin(false);
            const tal_subsystem_ix me = tal_events_subsystem(m.events);
            const tal_measure_ix all =
                tal_measure_add_variable(m.system, me, "all", NULL, MOST, TAL_STAGE_TIME);
            for (int i = 0; i < MOST; ++i) {
                numbers[i] = 0.5 * i;
            }
            numbers[places[k]] = bad == 0 ? (double)INFINITY : -(double)INFINITY;
            char says[80];
            snprintf(says, sizeof says, "action 'reset': value %d is %s", places[k],
                     bad == 0 ? "inf" : "-inf");
            ck_assert_int_eq(try_set(&m, all, MOST, numbers, none, says), TAL_ERR_NOT_FINITE);
            tal_system_destroy(m.system);
        }
    }
    memset(numbers, 0, sizeof numbers);

    const struct {
        int measure, n, from; // 0: three values, 1: two, 2: 65, 3: a sinusoid, others: none
        tal_status st;
        const char *says;
    } cases[] = {
        {0, 3, -1, TAL_OK, ""},
        {0, 2, -1, TAL_ERR_BAD_VALUE, "measure 'three' has 3 values, but 2 are given; 64 are"},
        {0, 4, -1, TAL_ERR_BAD_VALUE, "measure 'three' has 3 values, but 4 are given"},
        {0, 0, 1, TAL_ERR_BAD_VALUE, "measure 'three' has 3 values, but 2 are given"},
        {0, 0, 0, TAL_OK, ""},
        {2, 65, -1, TAL_ERR_BAD_VALUE, "measure 'many' has 65 values"},
        {3, 1, -1, TAL_ERR_BAD_VALUE, "measure 'wave' is of kind 'sinusoid': only variables"},
        {-1, 1, -1, TAL_ERR_BAD_INDEX, "there is no measure -1"},
        {4, 1, -1, TAL_ERR_BAD_INDEX, "there is no measure 4"},
        {0, 0, 4, TAL_ERR_BAD_INDEX, "there is no measure 4"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        stepper_model m = begin(false);
        const tal_subsystem_ix me = tal_events_subsystem(m.events);
        (void)tal_measure_add_variable(m.system, me, "three", NULL, 3, TAL_STAGE_TIME);
        (void)tal_measure_add_variable(m.system, me, "two", NULL, 2, TAL_STAGE_TIME);
        (void)tal_measure_add_variable(m.system, me, "many", NULL, MOST + 1, TAL_STAGE_TIME);
        (void)tal_measure_add_sinusoid(m.system, me, "wave", 1.0, 1.0, 0.0);
        const tal_measure_ix measure = {cases[i].measure}, from = {cases[i].from};
        ck_assert_int_eq(try_set(&m, measure, cases[i].n, numbers, from, cases[i].says),
                         cases[i].st);
        tal_system_destroy(m.system);
    }
}

END_TEST

START_TEST(all_values_are_set_at_their_time)
{
    stepper_model m = begin(true);
    const tal_subsystem_ix me = tal_events_subsystem(m.events);
    const double initial[3] = {1.0, 2.0, 3.0}, values[3] = {-4.0, -5.0, -6.0};
    const tal_measure_ix it =
        tal_measure_add_variable(m.system, me, "it", initial, 3, TAL_STAGE_TIME);
    tal_run_set set = tal_run_set_default();
    set.when.value = 0.1;
    set.measure = it;
    set.values = values;
    set.num_values = 3;
    const tal_event_ix event = tal_events_add_set(m.events, &set);
    (void)add_point(&m);
    finish(&m);
    const tal_run_set *kept = tal_event_run_set(m.system, event);
    ck_assert_ptr_nonnull(kept);
    ck_assert_ptr_ne(kept->values, values); // a copy
    ck_assert_ptr_null(tal_event_run_impulse(m.system, event));
    (void)run_stepper(&m, 0.05);
    test_assert_near(tal_measure_values(m.system, m.state, it), initial, 3, 0.0, "before");
    (void)run_stepper(&m, 0.15);
    test_assert_near(tal_measure_values(m.system, m.state, it), values, 3, 0.0, "after");
    end_stepper_model(&m);
}

END_TEST

// --- impulses ---

// 0.3 and 0.2 N s on a free point of 1 kg: as many m/s. A rod of 1 m upwards takes what is along
// it. On a slider, along its speed. Speeds of others do not change.
START_TEST(an_impulse_moves_what_it_acts_on_and_nothing_else)
{
    for (int beside = 0; beside < 2; ++beside) {
        for (int which = 0; which < 3; ++which) {
            stepper_model m = begin(beside == 1);
            const tal_body_ix point = add_point(&m), bob = add_rod_pendulum(&m);
            tal_mobod_def def = tal_mobod_def_default();
            def.mass = tal_mass_props_point(2.0, TAL_VEC3_ZERO);
            const tal_body_ix cart = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
            tal_run_impulse it = tal_run_impulse_default();
            it.matter = m.matter;
            it.when.value = 0.1;
            it.body = which == 0 ? point : which == 1 ? bob : (tal_body_ix){-1};
            it.impulse = tal_v3(0.3, 0.2, 0.0);
            it.mobility = (tal_mobility){cart, 0};
            it.along = 0.5;
            (void)tal_events_add_impulse(m.events, &it);
            finish(&m);
            (void)tal_body_set_q(m.matter, m.state, bob, 1, -1.0);
            (void)run_stepper(&m, 0.1 + 1e-9);
            const double expected[3][7] = {{0.3, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0},
                                           {0.0, 0.0, 0.0, 0.3, 0.0, 0.0, 0.0},
                                           {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25}};
            const int u0 = beside == 1 ? NEIGHBOR_U : 0;
            const double *u = tal_state_u(m.state);
            ck_assert_int_eq(tal_state_nu(m.state), u0 + 7);
            test_assert_near(u + u0, expected[which], 7, 1e-8, "u"); // 1e-9 s later
            for (int i = 0; i < u0; ++i) {
                ck_assert_double_eq(u[i], neighbor_value);
            }
            end_stepper_model(&m);
        }
    }
}

END_TEST

START_TEST(an_impulse_on_nothing_is_refused)
{
    const double nan = (double)NAN;
    for (int k = 0; k < 9; ++k) {
        stepper_model m = begin(false);
        const tal_body_ix point = add_point(&m);
        tal_run_impulse it = tal_run_impulse_default();
        it.matter = k == 0 ? NULL : m.matter;
        it.body = k < 5 ? point : (tal_body_ix){-1};
        it.mobility = (tal_mobility){point, 2}; // its last
        if (k == 1) it.body.i = 2;
        if (k == 2) it.in.i = 2;
        if (k == 3) it.impulse.z = nan;
        if (k == 4) it.p_BS.x = nan;
        if (k == 5) it.mobility.i = 3;
        if (k == 6) it.mobility.i = -1;
        if (k == 7) it.mobility.body.i = 2;
        if (k == 8) it.along = nan;
        ck_assert_int_lt(tal_events_add_impulse(m.events, &it).i, 0);
        tal_error err = {TAL_OK, "", ""};
        ck_assert_int_eq(tal_system_realize_topology(m.system, &err), k == 0 ? TAL_ERR_NULL
                                                                      : k == 3 || k == 4 || k == 8
                                                                          ? TAL_ERR_NOT_FINITE
                                                                          : TAL_ERR_BAD_INDEX);
        ck_assert_msg(strstr(err.message, "impulse '(no name)'") != NULL, "%s", err.message);
        tal_system_destroy(m.system);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("run_action");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, all_values_are_set_at_their_time);
    tcase_add_test(theory, an_impulse_moves_what_it_acts_on_and_nothing_else);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, what_cannot_be_set_is_refused_by_name);
    tcase_add_test(errors, an_impulse_on_nothing_is_refused);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
