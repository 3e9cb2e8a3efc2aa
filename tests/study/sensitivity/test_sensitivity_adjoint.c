// Tests for study/src/sensitivity/sensitivity_adjoint.c: gradients that go back agree with
// derivatives that go forward, to 1e-8 of the largest; and runs with chosen steps.
//
// Both differentiate the same steps, so they differ by errors of differences only, some 1e-11 for
// each of 50 to 100 steps.
#include "trajectories.h"

#include <math.h>
#include <string.h>

enum {
    MOST = 6
};

/// A model, what its parameters are, and which number counts.
typedef struct problem {
    model m;
    tal_body_ix body, lower;
    tal_parameter parameters[MOST];
    double values[MOST];
    int np;
    tal_measure_ix measure;
    double end_time;
} problem;

static void vary(problem *it, tal_parameter parameter, double value)
{
    it->parameters[it->np] = parameter;
    it->values[it->np++] = value;
}

static tal_mobod_def stick(void)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, tal_v3(0.0, -1.0, 0.0));
    def.X_PF = tal_xf_from_p(tal_v3(0.0, -1.0, 0.0));
    return def;
}

// A double pendulum with a spring; `bath`: forces are differenced, and there is z.
static void make_pendulum(problem *it, bool bath)
{
    it->m = begin(tal_v3(0.0, -9.0, 0.0));
    const tal_mobod_def def = stick();
    it->body = tal_matter_add_pin(it->m.matter, TAL_GROUND, &def);
    it->lower = tal_matter_add_pin(it->m.matter, it->body, &def);
    const tal_force_ix spring =
        tal_forces_add_mobility_spring(it->m.forces, NULL, (tal_mobility){it->lower, 0}, 3.0, 0.1);
    tal_thermostat_def warm = tal_thermostat_def_default();
    warm.kT = 2.0;
    if (bath) (void)tal_forces_add_thermostat(it->m.forces, "bath", &warm);
    it->measure = tal_measure_add_station(it->m.matter, "tip", it->lower, tal_v3(0.0, -1.0, 0.0),
                                          TAL_GROUND, tal_v3(1.0, 0.5, 0.0));
    finish(&it->m);
    vary(it, tal_parameter_q("q0", it->m.matter, it->body, 0), 0.7);
    vary(it, tal_parameter_u("u0", it->m.matter, it->lower, 0), -1.2);
    vary(it, tal_parameter_mass("m", it->m.matter, it->lower), 1.4);
    vary(it, tal_parameter_force("k", it->m.forces, spring, 0), 3.0);
}

// A top on a ball joint, and a particle on a rod: quaternions and constraints are projected.
static void make_constrained(problem *it)
{
    it->m = begin(tal_v3(0.0, -9.0, 0.0));
    tal_mobod_def top = stick();
    top.mass.inertia = tal_s3_diag(2.0, 1.5, 2.5);
    it->body = tal_matter_add_ball(it->m.matter, TAL_GROUND, &top);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    it->lower = tal_matter_add_translation(it->m.matter, TAL_GROUND, &def);
    const tal_constraint_def ends = tal_constraint_between(it->body, it->lower);
    const tal_constraint_ix rod =
        tal_constraint_add_rod(it->m.matter, &ends, tal_v3(0.0, -1.0, 0.3), TAL_VEC3_ZERO, 0.8);
    it->measure = tal_measure_add_station(it->m.matter, "tip", it->lower, TAL_VEC3_ZERO, TAL_GROUND,
                                          tal_v3(1.0, 0.5, 0.2));
    finish(&it->m);
    ck_assert_int_eq(tal_system_realize(it->m.system, it->m.state, TAL_STAGE_MODEL), TAL_OK);
    const int q = tal_body_q_start(it->m.matter, it->m.state, it->lower);
    tal_state_upd_q(it->m.state)[q + 1] = -2.6;
    vary(it, tal_parameter_q("x0", it->m.matter, it->lower, 0), 0.4);
    vary(it, tal_parameter_u("w0", it->m.matter, it->body, 1), 1.1);
    vary(it, tal_parameter_mass("m", it->m.matter, it->lower), 0.8);
    vary(it, tal_parameter_constraint("length", it->m.matter, rod, TAL_ROD_LENGTH), 0.8);
}

static tal_status height_of(void *context, const tal_system *system, tal_state *state,
                            double *value)
{
    (void)system;
    const problem *it = context;
    *value = tal_body_q(it->m.matter, state, it->body, 1);
    return TAL_OK;
}

static tal_status bounce(void *context, const tal_system *system, tal_state *state,
                         tal_event_cause cause, bool *terminate)
{
    (void)system, (void)cause, (void)terminate;
    const problem *it = context;
    const double u = tal_body_u(it->m.matter, state, it->body, 1);
    const double x = tal_body_q(it->m.matter, state, it->body, 0);
    return tal_body_set_u(it->m.matter, state, it->body, 1, -(0.8 - 0.05 * x) * u);
}

// A ball that bounces on ground that is softer farther away; `ends`: until it is far enough, which
// a stop says.
static void make_bouncing(problem *it, bool ends)
{
    it->m = begin(tal_v3(0.0, -9.0, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    it->body = tal_matter_add_translation(it->m.matter, TAL_GROUND, &def);
    it->measure = tal_measure_add_coordinate(it->m.matter, "height", (tal_mobility){it->body, 1});
    const tal_measure_ix way =
        tal_measure_add_coordinate(it->m.matter, "way", (tal_mobility){it->body, 0});
    const tal_force_ix drag =
        tal_forces_add_mobility_damper(it->m.forces, NULL, (tal_mobility){it->body, 0}, 0.1);
    tal_events *events = tal_events_create(it->m.system);
    tal_happening happening = tal_happening_default();
    happening.context = it;
    happening.witness = height_of;
    happening.crossing = TAL_CROSSING_FALLING;
    happening.handle = bounce;
    (void)tal_events_add(events, &happening);
    tal_run_stop stop = tal_run_stop_default();
    stop.measure = way;
    stop.value = 4.0;
    if (ends) (void)tal_events_add_stop(events, &stop);
    finish(&it->m);
    vary(it, tal_parameter_q("h", it->m.matter, it->body, 1), 1.5);
    vary(it, tal_parameter_u("vx", it->m.matter, it->body, 0), 2.5);
    vary(it, tal_parameter_u("vy", it->m.matter, it->body, 1), 0.5);
    vary(it, tal_parameter_mass("m", it->m.matter, it->body), 1.2);
    vary(it, tal_parameter_force("drag", it->m.forces, drag, 0), 0.1);
    it->end_time = ends ? 10.0 : 2.3;
}

static void make_kind(problem *it, int kind)
{
    memset(it, 0, sizeof *it);
    it->end_time = 0.9;
    if (kind < 2) make_pendulum(it, kind == 1);
    if (kind == 2) make_constrained(it);
    if (kind > 2) make_bouncing(it, kind == 4);
}

static tal_sensitivity *create(const problem *it, double accuracy, bool gradients)
{
    tal_sensitivity_def def = tal_sensitivity_def_default();
    def.parameters = it->parameters;
    def.num_parameters = it->np;
    def.step = accuracy > 0.0 ? 0.1 : 0.02;
    def.accuracy = accuracy;
    def.gradients = gradients;
    def.max_events = 20;
    tal_sensitivity *study = NULL;
    tal_error err = {0};
    ck_assert_msg(tal_sensitivity_create(it->m.system, &def, &study, &err) == TAL_OK, "%s",
                  err.message);
    return study;
}

START_TEST(going_back_agrees_with_going_forward)
{
    for (int kind = 0; kind < 5; ++kind) {
        for (int chosen = 0; chosen < 2; ++chosen) {
            static problem it;
            make_kind(&it, kind);
            tal_sensitivity *study = create(&it, chosen == 1 ? 1e-5 : 0.0, true);
            tal_state *from = NULL;
            ck_assert_int_eq(tal_state_create(it.m.system, &from, NULL), TAL_OK);
            ck_assert_int_eq(tal_state_copy(from, it.m.state), TAL_OK);
            double forward[MOST], back[MOST], largest = 0.0;
            run(study, &it.m, it.values, it.end_time);
            ck_assert_int_eq(tal_sensitivity_of_measure(study, it.m.state, it.measure, forward),
                             TAL_OK);
            const double t = tal_state_t(it.m.state);
            ck_assert_int_eq(tal_state_copy(it.m.state, from), TAL_OK);
            const tal_status st = tal_sensitivity_gradient(study, it.m.state, it.values,
                                                           it.end_time, it.measure, back);
            ck_assert_msg(st == TAL_OK, "%s", tal_sensitivity_error(study)->message);
            ck_assert_double_eq(tal_state_t(it.m.state), t);
            ck_assert_int_eq(tal_sensitivity_matrix(study).rows, 0);
            ck_assert(kind != 4 || tal_sensitivity_statistics(study).events == 3);
            for (int p = 0; p < it.np; ++p) {
                largest = fmax(largest, fabs(forward[p] * it.values[p]));
            }
            for (int p = 0; p < it.np; ++p) {
                ck_assert_msg(fabs(back[p] - forward[p]) * it.values[p] <= 1e-8 * largest,
                              "kind %d, steps %d, %s: %.15g back, %.15g forward", kind, chosen,
                              it.parameters[p].name, back[p], forward[p]);
            }
            tal_state_destroy(from);
            tal_sensitivity_destroy(study);
            end(&it.m);
        }
    }
}

END_TEST

// Runs with the steps of another one, of the same System or of one that is built alike, are smooth
// in the parameters, even with large errors: differences of fourth order find the derivative.
START_TEST(steps_can_be_taken_again)
{
    for (int kind = 0; kind < 5; ++kind) {
        static problem it, twin;
        make_kind(&it, kind);
        make_kind(&twin, kind);
        tal_sensitivity *study = create(&it, 1e-4, false), *other = NULL;
        tal_sensitivity_def def = tal_sensitivity_def_default();
        def.parameters = twin.parameters;
        def.num_parameters = twin.np;
        def.steps_of = study;
        ck_assert_int_eq(tal_sensitivity_create(twin.m.system, &def, &other, NULL), TAL_OK);
        run(study, &it.m, it.values, it.end_time);
        tal_state *from = NULL;
        ck_assert_int_eq(tal_state_create(twin.m.system, &from, NULL), TAL_OK);
        ck_assert_int_eq(tal_state_copy(from, twin.m.state), TAL_OK);
        const int ny = tal_state_ny(it.m.state);
        for (int p = 0; p < it.np; ++p) {
            double differences[16] = {0.0};
            const double weights[4] = {1.0, -8.0, 8.0, -1.0}, h = 1e-4 * it.values[p];
            for (int k = 0; k < 4; ++k) {
                double values[MOST];
                memcpy(values, twin.values, sizeof values);
                values[p] += h * (k < 2 ? k - 2 : k - 1);
                ck_assert_int_eq(tal_state_copy(twin.m.state, from), TAL_OK);
                const tal_status st = tal_sensitivity_run(other, twin.m.state, values, it.end_time);
                ck_assert_msg(st == TAL_OK, "%s", tal_sensitivity_error(other)->message);
                for (int i = 0; i < ny; ++i) {
                    differences[i] += weights[k] / (12.0 * h) * tal_state_y(twin.m.state)[i];
                }
            }
            // where an event has ended the run, y is compared at a time that moves
            if (kind == 4) continue;
            const double *S = tal_sensitivity_matrix(study).data + (ptrdiff_t)p * ny;
            for (int i = 0; i < ny; ++i) {
                // at events derivatives are those of the motion, not of the steps: their error
                const double bound = kind < 3 ? 1e-8 : 1e-4;
                ck_assert_msg(fabs(S[i] - differences[i]) <= bound * (1.0 + fabs(S[i])),
                              "kind %d, parameter %d, y %d: %.12g, not %.12g", kind, p, i, S[i],
                              differences[i]);
            }
        }
        tal_state_destroy(from);
        tal_sensitivity_destroy(other);
        tal_sensitivity_destroy(study);
        end(&twin.m);
        end(&it.m);
    }
}

END_TEST

// Stopping on the way changes nothing but steps, which end there.
START_TEST(a_run_can_be_continued)
{
    static problem it;
    make_kind(&it, 0);
    tal_sensitivity *study = create(&it, 1e-10, false);
    tal_state *from = NULL;
    ck_assert_int_eq(tal_state_create(it.m.system, &from, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_copy(from, it.m.state), TAL_OK);
    double whole[16];
    run(study, &it.m, it.values, 0.9);
    memcpy(whole, tal_sensitivity_matrix(study).data, sizeof whole);
    ck_assert_int_eq(tal_state_copy(it.m.state, from), TAL_OK);
    run(study, &it.m, it.values, 0.0);
    for (int k = 1; k <= 9; ++k) {
        ck_assert_int_eq(tal_sensitivity_continue(study, it.m.state, k == 9 ? 0.9 : 0.1 * k),
                         TAL_OK);
    }
    ck_assert_double_eq(tal_state_t(it.m.state), 0.9);
    // the accuracy of each of some 50 steps, with derivatives some ten times as large
    for (int i = 0; i < 16; ++i) {
        ck_assert_double_eq_tol(tal_sensitivity_matrix(study).data[i], whole[i], 1e-7);
    }
    tal_state_destroy(from);
    tal_sensitivity_destroy(study);
    end(&it.m);
}

END_TEST

START_TEST(what_is_wrong_is_said)
{
    static problem it;
    make_kind(&it, 0);
    tal_sensitivity *study = create(&it, 0.0, false);
    double gradient[MOST];
    ck_assert_int_eq(
        tal_sensitivity_gradient(study, it.m.state, it.values, 1.0, it.measure, gradient),
        TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_sensitivity_error(study)->message, "gradients"));
    tal_sensitivity_destroy(study);
    tal_sensitivity_def def = tal_sensitivity_def_default();
    def.parameters = it.parameters;
    def.num_parameters = it.np;
    def.accuracy = 1e-9;
    def.max_steps = 3;
    tal_error err = {0};
    ck_assert_int_eq(tal_sensitivity_create(it.m.system, &def, &study, &err), TAL_OK);
    ck_assert_int_eq(tal_sensitivity_run(study, it.m.state, it.values, 5.0), TAL_ERR_STEP_LIMIT);
    ck_assert_ptr_nonnull(strstr(tal_sensitivity_error(study)->message, "max_steps = 3"));
    tal_sensitivity_destroy(study);
    def.max_steps = 0;
    ck_assert_int_eq(tal_sensitivity_create(it.m.system, &def, &study, &err), TAL_ERR_BAD_VALUE);
    def.max_steps = 10;
    def.accuracy = 1e-30;
    ck_assert_int_eq(tal_sensitivity_create(it.m.system, &def, &study, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "double precision"));
    end(&it.m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/sensitivity_adjoint");
    TCase *theory = tcase_create("theory");
    tcase_set_timeout(theory, 120.0);
    tcase_add_test(theory, going_back_agrees_with_going_forward);
    tcase_add_test(theory, steps_can_be_taken_again);
    tcase_add_test(theory, a_run_can_be_continued);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, what_is_wrong_is_said);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
