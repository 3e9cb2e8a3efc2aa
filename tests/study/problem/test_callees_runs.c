// Functions of the user's that fail inside runs: integrators, time stepping, recorders, and the
// equations of the integrators themselves.
#include "callees_support.h"

static const double ACCURACY = 1e-2;
static double good_t, good_y[64];
static bool is_going_back; // within a step: to its start when that fails

static void note_good_step(const tal_state *state)
{
    ck_assert_int_le(tal_state_ny(state), 64);
    good_t = tal_state_t(state);
    memcpy(good_y, tal_state_y(state), (size_t)tal_state_ny(state) * sizeof(double));
}

static bool is_there(const tal_state *state, const double y[])
{
    return memcmp(tal_state_y(state), y, (size_t)tal_state_ny(state) * sizeof *y) == 0;
}

// There, but for what may be projected: constraints are met to a hundredth of the accuracy.
static bool is_about_there(const tal_state *state, const double y[])
{
    double most = 0.0;
    for (int i = 0; i < tal_state_ny(state); ++i) {
        most = fmax(most, fabs(tal_state_y(state)[i] - y[i]));
    }
    return most <= 0.01 * ACCURACY;
}

// A step may be good and what is computed at its end fail: then the State is where the undisturbed
// run was at the end of a step.
static void is_at_last_good_step(const model *it, const tal_state *state, const char *story)
{
    (void)it;
    const int ny = tal_state_ny(state);
    bool found_it = tal_state_t(state) == good_t && is_about_there(state, good_y);
    for (int i = 0; i + ny <= found.n && !found_it && !is_going_back; i += ny) {
        found_it = tal_state_t(state) > good_t && is_there(state, found.values + i);
    }
    ck_assert_msg(found_it, "%s: it stands at t = %g, the last good step ended at %g", story,
                  tal_state_t(state), good_t);
}

static const tal_error *integrator_error(const model *it)
{
    return tal_integrator_error(it->m.integ);
}

static tal_status run_steps(model *it, tal_state *state, results *out)
{
    tal_integrator_reset(it->m.integ);
    is_going_back = false;
    note_good_step(state);
    tal_status st = TAL_OK;
    while (st == TAL_OK && tal_state_t(state) < 0.05) {
        st = tal_integrator_step(it->m.integ, state, 0.05);
        if (st != TAL_OK) break;
        note_good_step(state);
        add_results(out, tal_state_y(state), tal_state_ny(state));
    }
    // and one that is no longer than round-off
    if (st == TAL_OK) st = tal_integrator_step(it->m.integ, state, nextafter(0.05, 1.0));
    if (st == TAL_OK) add_results(out, tal_state_y(state), tal_state_ny(state));
    return st;
}

static tal_integrator_def method_number(int i)
{
    static const tal_method others[] = {TAL_METHOD_CVODE_BDF, TAL_METHOD_IDA,
                                        TAL_METHOD_ARKODE_EXPLICIT, TAL_METHOD_ARKODE_DIRK,
                                        TAL_METHOD_CVODE_BDF};
    if (i < NUM_ONE_STEP_METHODS) return one_step_method(i, ACCURACY);
    tal_integrator_def def = tal_integrator_def_default();
    def.method = others[i - NUM_ONE_STEP_METHODS];
    if (i == NUM_ONE_STEP_METHODS + 4) def.linear_solver = TAL_LINEAR_GMRES;
    def.accuracy = ACCURACY;
    return def;
}

START_TEST(an_integrator_hands_failures_on)
{
    model it;
    tal_integrator_def def = method_number(_i);
    build(&it, &def, true);
    assemble_start(&it);
    char name[40];
    snprintf(name, sizeof name, "method %d", _i);
    const job steps = {name, run_steps, integrator_error, is_at_last_good_step, true, TAL_OK};
    fail_at_every_call(&it, &steps);
    end(&it);
}

END_TEST

// Looking into a step does not change it; going back in it either succeeds or ends at its start.
static tal_status run_inside_steps(model *it, tal_state *state, results *out)
{
    tal_integrator_reset(it->m.integ);
    is_going_back = false;
    note_good_step(state);
    tal_status st = TAL_OK;
    for (int k = 0; k < 2 && st == TAL_OK; ++k) {
        st = tal_integrator_step(it->m.integ, state, 0.05);
        if (st != TAL_OK) break;
        const double t0 = good_t, t1 = tal_state_t(state);
        double y0[64];
        memcpy(y0, good_y, sizeof y0);
        note_good_step(state);
        add_results(out, tal_state_y(state), tal_state_ny(state));
        st = tal_integrator_interpolate(it->m.integ, state, 0.7 * t0 + 0.3 * t1, it->scratch);
        if (st != TAL_OK) break;
        add_results(out, tal_state_y(it->scratch), tal_state_ny(state));
        good_t = t0;
        memcpy(good_y, y0, sizeof y0);
        is_going_back = true;
        st = tal_integrator_back_up(it->m.integ, state, 0.4 * t0 + 0.6 * t1);
        if (st != TAL_OK) break;
        is_going_back = false;
        note_good_step(state);
        add_results(out, tal_state_y(state), tal_state_ny(state));
    }
    return st;
}

START_TEST(looking_into_a_step_hands_failures_on)
{
    model it;
    tal_integrator_def def = method_number(_i);
    build(&it, &def, true);
    assemble_start(&it);
    char name[40];
    snprintf(name, sizeof name, "inside method %d", _i);
    const job steps = {name,  run_inside_steps, integrator_error, is_at_last_good_step, true,
                       TAL_OK};
    fail_at_every_call(&it, &steps);
    end(&it);
}

END_TEST

static const tal_error *stepper_error(const model *it)
{
    return tal_time_stepper_error(it->m.stepper);
}

static tal_status run_with_events(model *it, tal_state *state, results *out)
{
    tal_time_stepper_reset(it->m.stepper);
    tal_outcome outcome = TAL_OUTCOME_STEP;
    tal_status st = TAL_OK;
    while (st == TAL_OK && outcome != TAL_OUTCOME_REACHED_TIME) {
        st = tal_time_stepper_advance(it->m.stepper, state, 0.2, &outcome);
        if (st != TAL_OK) break;
        add_results(out, tal_state_y(state), tal_state_ny(state));
    }
    ck_assert_int_eq(outcome == TAL_OUTCOME_FAILED, st != TAL_OK);
    return st;
}

START_TEST(a_time_stepper_hands_failures_on)
{
    model it;
    tal_integrator_def def = dormand_prince(1e-3);
    build(&it, &def, true);
    assemble_start(&it);
    const job events = {"events", run_with_events, stepper_error, NULL, true, TAL_OK};
    fail_at_every_call(&it, &events);
    end(&it);
}

END_TEST

static const tal_error *recorder_error(const model *it)
{
    return tal_recorder_error(it->study);
}

static double first_coordinate(const void *context, const tal_system *system, tal_state *state)
{
    (void)context, (void)system;
    return tal_state_q(state)[0];
}

static tal_status run_recorder(model *it, tal_state *state, results *out)
{
    tal_integrator_reset(it->m.integ);
    tal_recorder_clear(it->study);
    const double times[] = {0.0, 0.013, 0.02, 0.05};
    const tal_status st = tal_recorder_run(it->study, it->m.integ, state, times, 4);
    for (int i = 0; i < tal_recorder_num_rows(it->study); ++i) {
        const double value = tal_recorder_value(it->study, i, 1);
        add_results(out, &value, 1);
        ck_assert(isfinite(value));
    }
    return st;
}

START_TEST(a_recorder_hands_failures_on)
{
    model it;
    tal_integrator_def def = dormand_prince(1e-3);
    build(&it, &def, true);
    assemble_start(&it);
    const tal_column_def column = {"q", TAL_STAGE_ACCELERATION, first_coordinate, NULL};
    tal_recorder *recorder = NULL;
    ck_assert_int_eq(tal_recorder_create(it.m.system, &column, 1, 4, &recorder, NULL), TAL_OK);
    it.study = recorder;
    const job record = {"record", run_recorder, recorder_error, NULL, true, TAL_OK};
    fail_at_every_call(&it, &record);
    tal_recorder_destroy(recorder);
    end(&it);
}

END_TEST

static const tal_error *equations_error(const model *it)
{
    return tal_equations_error(it->study);
}

// A step of Euler's method with them.
static tal_status run_equations(model *it, tal_state *state, results *out)
{
    double y[64], ydot[64], c[64], error[64];
    tal_equations *eq = it->study;
    tal_status st = tal_equations_begin(eq, state);
    if (st != TAL_OK) return st;
    const int ny = tal_state_ny(state), nc = tal_equations_nc(eq, state);
    memcpy(y, tal_state_y(state), (size_t)ny * sizeof *y);
    st = tal_equations_begin_step(eq, state, 0.0, y);
    if (st == TAL_OK) st = tal_equations_rates(eq, state, 0.0, y, ydot);
    if (st != TAL_OK) return st;
    for (int i = 0; i < ny; ++i) {
        y[i] += 0.01 * ydot[i];
        error[i] = 0.01;
    }
    st = tal_equations_errors(eq, state, 0.01, y, c);
    if (st != TAL_OK) return st;
    add_results(out, c, nc);
    st = tal_equations_project(eq, state, 0.01, y, error);
    add_results(out, y, ny);
    add_results(out, error, ny);
    return st;
}

START_TEST(equations_hand_failures_on)
{
    model it;
    build(&it, NULL, true);
    assemble_start(&it);
    tal_equations *eq = NULL;
    ck_assert_int_eq(tal_equations_create(it.m.system, NULL, &eq, NULL), TAL_OK);
    it.study = eq;
    const job equations = {"equations", run_equations, equations_error, NULL, false, TAL_OK};
    fail_at_every_call(&it, &equations);
    tal_equations_destroy(eq);
    end(&it);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/callees_runs");
    TCase *steps = tcase_create("steps");
    const int methods = NUM_ONE_STEP_METHODS + 5;
    tcase_add_test(steps, equations_hand_failures_on);
    tcase_add_loop_test(steps, an_integrator_hands_failures_on, 0, methods);
    tcase_add_loop_test(steps, looking_into_a_step_hands_failures_on, 0, methods);
    suite_add_tcase(suite, steps);
    TCase *runs = tcase_create("runs");
    tcase_add_test(runs, a_time_stepper_hands_failures_on);
    tcase_add_test(runs, a_recorder_hands_failures_on);
    suite_add_tcase(suite, runs);
    return test_run(suite);
}
