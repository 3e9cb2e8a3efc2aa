// PROMISES P13 for study/: every number that a definition or a call takes, given as NaN, infinity
// either way, as large and as small as can be.
//
// What is not a number is refused by name, and nothing has changed. The largest and the smallest
// number are refused by name, or accepted: then the study is put to use, ends within bounds, and
// leaves a State of finite numbers.
#include "study_model.h"

#include <float.h>
#include <stddef.h>

enum {
    NUM_BAD = 3,
    NUM_VALUES = 5
};

// the first three are never numbers to be used, but for an infinity that a field says it takes
static const double VALUES[NUM_VALUES] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e308,
                                          4.9406564584124654e-324};

/// What became of an input.
typedef struct trial {
    tal_status status;
    tal_error error;
    bool was_made; // the object exists: the status is that of using it
} trial;

static void set(void *def, size_t offset, double value)
{
    memcpy((char *)def + offset, &value, sizeof value);
}

static bool is_finite(const tal_state *state)
{
    for (int i = 0; i < tal_state_ny(state); ++i) {
        if (!isfinite(tal_state_y(state)[i])) return false;
    }
    return isfinite(tal_state_t(state));
}

// Refused by name, or usable.
static void judge(const trial *it, const char *name, int k, bool takes_infinity)
{
    const bool must_refuse = k < NUM_BAD && !(takes_infinity && k == 1);
    const bool refused = it->status == TAL_ERR_BAD_VALUE || it->status == TAL_ERR_NOT_FINITE;
    const bool named = strstr(it->error.message, name) != NULL;
    if (must_refuse) ck_assert_msg(!it->was_made, "%s = %g is accepted", name, VALUES[k]);
    if (!it->was_made) {
        ck_assert_msg(refused && named, "%s = %g: %s, '%s'", name, VALUES[k],
                      tal_status_name(it->status), it->error.message);
    } else if (it->status != TAL_OK) {
        ck_assert_msg(strlen(it->error.message) > 0, "%s = %g: %s without a word", name, VALUES[k],
                      tal_status_name(it->status));
    }
}

// --- integrators ---

typedef struct field {
    const char *name;
    size_t offset;
    bool takes_infinity;
} field;

static const field INTEGRATOR[] = {
    {"accuracy", offsetof(tal_integrator_def, accuracy), false},
    {"fixed_step", offsetof(tal_integrator_def, fixed_step), false},
    {"initial_step", offsetof(tal_integrator_def, initial_step), false},
    {"min_step", offsetof(tal_integrator_def, min_step), false},
    {"max_step", offsetof(tal_integrator_def, max_step), false},
    {"constraint_tolerance", offsetof(tal_integrator_def, constraint_tolerance), false},
    {"baumgarte", offsetof(tal_integrator_def, baumgarte), false},
    {"baumgarte_beta", offsetof(tal_integrator_def, baumgarte_beta), false},
};

static trial try_integrator(tal_integrator_def def, const field *it, double value)
{
    trial result = {TAL_OK, {0}, false};
    study s = study_rod_pendulum(NULL);
    tal_integrator *integ = NULL;
    def.max_steps = 300;
    set(&def, it->offset, value);
    result.status = tal_integrator_create(s.system, &def, &integ, &result.error);
    ck_assert((integ != NULL) == (result.status == TAL_OK));
    result.was_made = integ != NULL;
    if (result.was_made) {
        result.status = tal_integrator_step_to(integ, s.state, 0.2);
        result.error = *tal_integrator_error(integ);
        ck_assert_msg(is_finite(s.state), "%s = %g", it->name, value);
        ck_assert_uint_le(tal_integrator_statistics(integ).realizations, 100000);
        tal_integrator_destroy(integ);
    }
    study_end(&s);
    return result;
}

START_TEST(integrators_refuse_what_is_not_a_number)
{
    static const tal_method methods[] = {TAL_METHOD_RUNGE_KUTTA, TAL_METHOD_SEMI_EXPLICIT_EULER,
                                         TAL_METHOD_VERLET,      TAL_METHOD_CVODE_BDF,
                                         TAL_METHOD_IDA,         TAL_METHOD_ARKODE_EXPLICIT,
                                         TAL_METHOD_ARKODE_DIRK};
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; ++m) {
        for (size_t i = 0; i < sizeof INTEGRATOR / sizeof INTEGRATOR[0]; ++i) {
            for (int k = 0; k < NUM_VALUES; ++k) {
                const tal_integrator_def def = study_def(methods[m], 1e-4);
                const trial it = try_integrator(def, &INTEGRATOR[i], VALUES[k]);
                judge(&it, INTEGRATOR[i].name, k, false);
            }
        }
    }
}

END_TEST

// --- time steppers and events ---

static tal_status height(void *context, const tal_system *system, tal_state *state, double *value)
{
    (void)context;
    (void)system;
    *value = tal_state_q(state)[0];
    return TAL_OK;
}

static tal_status handle(void *context, const tal_system *system, tal_state *state,
                         tal_event_cause cause, bool *terminate)
{
    (void)context, (void)system, (void)state, (void)cause, (void)terminate;
    return TAL_OK;
}

static const field STEPPER[] = {
    {"final_time", offsetof(tal_time_stepper_def, final_time), true},
    {"checkpoint_period", offsetof(tal_time_stepper_def, checkpoint_period), false},
};

static const field EVENT[] = {
    {"window", offsetof(tal_happening, window), false},
    {"separation", offsetof(tal_happening, separation), false},
};

static const field SCHEDULE[] = {
    {"period", offsetof(tal_happening, period), false},
    {"first", offsetof(tal_happening, first), false},
};

// One field of the happening or of the stepper is `value`; the other is NULL.
static trial try_stepper(bool scheduled, const field *of_event, const field *of_stepper,
                         double value)
{
    trial result = {TAL_OK, {0}, false};
    study s = study_begin(tal_v3(0.0, -9.81, 0.0));
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass = tal_mass_props_point(1.0, tal_v3(0.0, -1.0, 0.0));
    (void)tal_matter_add_pin(s.matter, TAL_GROUND, &bob);
    tal_events *events = tal_events_create(s.system);
    tal_happening event = tal_happening_default();
    event.name = "turn";
    event.handle = handle;
    event.witness = scheduled ? NULL : height;
    event.period = scheduled ? 0.1 : 0.0;
    if (of_event != NULL) set(&event, of_event->offset, value);
    (void)tal_events_add(events, &event);
    result.status = tal_system_realize_topology(s.system, &result.error);
    tal_time_stepper *stepper = NULL;
    if (result.status == TAL_OK) {
        tal_time_stepper_def def = tal_time_stepper_def_default();
        def.max_steps = 300;
        def.max_events = 100;
        if (of_stepper != NULL) set(&def, of_stepper->offset, value);
        const tal_integrator_def integrator = study_def(TAL_METHOD_RUNGE_KUTTA, 1e-4);
        ck_assert_int_eq(tal_state_create(s.system, &s.state, NULL), TAL_OK);
        ck_assert_int_eq(tal_system_realize(s.system, s.state, TAL_STAGE_MODEL), TAL_OK);
        (void)tal_body_set_q(s.matter, s.state, (tal_body_ix){1}, 0, 0.3);
        ck_assert_int_eq(tal_integrator_create(s.system, &integrator, &s.integ, NULL), TAL_OK);
        result.status = tal_time_stepper_create(s.integ, &def, &stepper, &result.error);
    }
    result.was_made = stepper != NULL;
    if (result.was_made) {
        result.status = tal_time_stepper_step_to(stepper, s.state, 2.0, NULL);
        result.error = *tal_time_stepper_error(stepper);
        ck_assert(is_finite(s.state));
    }
    tal_time_stepper_destroy(stepper);
    study_end(&s);
    return result;
}

START_TEST(steppers_and_events_refuse_what_is_not_a_number)
{
    for (int k = 0; k < NUM_VALUES; ++k) {
        for (int i = 0; i < 2; ++i) {
            trial it = try_stepper(false, &EVENT[i], NULL, VALUES[k]);
            judge(&it, EVENT[i].name, k, EVENT[i].takes_infinity);
            it = try_stepper(true, &SCHEDULE[i], NULL, VALUES[k]);
            judge(&it, SCHEDULE[i].name, k, SCHEDULE[i].takes_infinity);
            it = try_stepper(false, NULL, &STEPPER[i], VALUES[k]);
            judge(&it, STEPPER[i].name, k, STEPPER[i].takes_infinity);
        }
    }
}

END_TEST

// --- assemblers ---

static tal_status residual(const void *self, const tal_system *system, tal_state *state, double r[],
                           const tal_matrix *J)
{
    (void)self, (void)system;
    r[0] = tal_state_q(state)[0];
    if (J != NULL) J->data[0] = 1.0;
    return TAL_OK;
}

typedef struct assembly_case {
    const char *name; // in the sentence
    int which;
} assembly_case;

static const assembly_case ASSEMBLER[] = {
    {"staying close", 0},     {"tolerance", 1}, {"accuracy", 2},          {"marker 0", 3},
    {"marker 0", 4},          {"sensor 0", 5},  {"coordinate goal 0", 6}, {"coordinate goal 0", 7},
    {"soft constraint 0", 8}, {"goal 0", 9},
};

static trial try_assembler(int which, double value)
{
    trial result = {TAL_OK, {0}, false};
    study s = study_rod_pendulum(NULL);
    const tal_body_ix body = {1};
    tal_marker marker = {"pelvis", body, {0.0, 0.0, 0.0}, 1.0};
    tal_orientation_sensor sensor = {NULL, body, TAL_MAT3_IDENTITY, 1.0};
    tal_coordinate_goal coordinate = {body, 0, 0.1, 1.0};
    tal_soft_constraint soft = {{0}, 1.0};
    tal_goal goal = {"wish", 1, 1.0, NULL, residual};
    tal_assembler_def def = tal_assembler_def_default();
    def.stay_close = which == 0 ? value : 0.0;
    if (which == 1) def.tolerance = value;
    if (which == 2) def.accuracy = value;
    if (which == 3) marker.weight = value;
    if (which == 4) marker.p_BS.x = value;
    if (which == 5) sensor.weight = value;
    if (which == 6) coordinate.value = value;
    if (which == 7) coordinate.weight = value;
    if (which == 8) soft.weight = value;
    if (which == 9) goal.weight = value;
    def.markers = &marker;
    def.sensors = &sensor;
    def.coordinates = &coordinate;
    def.soft = &soft;
    def.goals = &goal;
    def.num_markers = which == 3 || which == 4;
    def.num_sensors = which == 5;
    def.num_coordinates = which == 6 || which == 7;
    def.num_soft = which == 8;
    def.num_goals = which == 9;
    tal_assembler *assembler = NULL;
    result.status = tal_assembler_create(s.system, &def, &assembler, &result.error);
    ck_assert((assembler != NULL) == (result.status == TAL_OK));
    result.was_made = assembler != NULL;
    if (result.was_made) {
        const tal_vec3 seen = {0.6, -0.8, 0.0};
        if (def.num_markers > 0) {
            ck_assert_int_eq(tal_assembler_observe(assembler, &seen, NULL), TAL_OK);
        }
        result.status = tal_assembler_assemble(assembler, s.state, NULL);
        result.error = *tal_assembler_error(assembler);
        ck_assert_msg(is_finite(s.state), "case %d, %g", which, value);
    }
    tal_assembler_destroy(assembler);
    study_end(&s);
    return result;
}

START_TEST(assemblers_refuse_what_is_not_a_number)
{
    for (size_t i = 0; i < sizeof ASSEMBLER / sizeof ASSEMBLER[0]; ++i) {
        for (int k = 0; k < NUM_VALUES; ++k) {
            const trial it = try_assembler(ASSEMBLER[i].which, VALUES[k]);
            judge(&it, ASSEMBLER[i].name, k, false);
        }
    }
}

END_TEST

// --- equilibria, linearization, parameter studies ---

static trial try_equilibrium(size_t offset, double value)
{
    trial result = {TAL_OK, {0}, false};
    study s = study_pin_pendulum(NULL);
    tal_equilibrium_def def = tal_equilibrium_def_default();
    tal_equilibrium *eq = NULL;
    set(&def, offset, value);
    result.status = tal_equilibrium_create(s.system, &def, &eq, &result.error);
    ck_assert((eq != NULL) == (result.status == TAL_OK));
    result.was_made = eq != NULL;
    if (result.was_made) {
        result.status = tal_equilibrium_find(eq, s.state, NULL);
        result.error = *tal_equilibrium_error(eq);
        ck_assert(is_finite(s.state));
    }
    tal_equilibrium_destroy(eq);
    study_end(&s);
    return result;
}

static trial try_linearizer(double value)
{
    trial result = {TAL_OK, {0}, false};
    study s = study_pin_pendulum(NULL);
    const tal_linearizer_def def = {.step = value};
    tal_linearizer *lin = NULL;
    result.status = tal_linearizer_create(s.system, &def, &lin, &result.error);
    ck_assert((lin != NULL) == (result.status == TAL_OK));
    result.was_made = lin != NULL;
    if (result.was_made) {
        result.status = tal_linearizer_run(lin, s.state);
        result.error = *tal_linearizer_error(lin);
        const tal_matrix A = tal_linearizer_A(lin);
        for (int i = 0; result.status == TAL_OK && i < 4; ++i) {
            ck_assert_msg(isfinite(A.data[i]), "step = %g", value);
        }
    }
    tal_linearizer_destroy(lin);
    study_end(&s);
    return result;
}

static trial try_ensemble(double end_time)
{
    trial result = {TAL_OK, {0}, false};
    study s = study_pin_pendulum(NULL);
    tal_integrator_def integrator = study_def(TAL_METHOD_RUNGE_KUTTA, 1e-4);
    integrator.max_steps = 100;
    tal_ensemble_def def = tal_ensemble_def_default();
    def.integrator = &integrator;
    def.task = TAL_TASK_INTEGRATE;
    def.end_time = end_time;
    tal_ensemble *ensemble = NULL;
    result.status = tal_ensemble_create(s.system, &def, &ensemble, &result.error);
    ck_assert((ensemble != NULL) == (result.status == TAL_OK));
    result.was_made = ensemble != NULL;
    if (result.was_made) {
        const tal_design one = tal_design_table(NULL, 0, 1);
        result.status = tal_ensemble_run(ensemble, s.state, &one, NULL, NULL, NULL);
        result.error = *tal_ensemble_error(ensemble);
    }
    tal_ensemble_destroy(ensemble);
    study_end(&s);
    return result;
}

START_TEST(other_studies_refuse_what_is_not_a_number)
{
    for (int k = 0; k < NUM_VALUES; ++k) {
        trial it = try_equilibrium(offsetof(tal_equilibrium_def, accuracy), VALUES[k]);
        judge(&it, "accuracy", k, false);
        it = try_equilibrium(offsetof(tal_equilibrium_def, constraint_tolerance), VALUES[k]);
        judge(&it, "constraint_tolerance", k, false);
        it = try_linearizer(VALUES[k]);
        judge(&it, "step", k, false);
        it = try_ensemble(VALUES[k]);
        judge(&it, "end_time", k, false);
    }
}

END_TEST

START_TEST(samples_are_not_made_of_what_is_not_a_number)
{
    for (int k = 0; k < NUM_BAD; ++k) {
        double values[4] = {7.0, 7.0, 7.0, 7.0};
        const int levels = 3;
        const double one = 1.0;
        tal_design designs[] = {tal_design_grid(&levels, &VALUES[k], &one, 1),
                                tal_design_grid(&levels, &one, &VALUES[k], 1)};
        for (int i = 0; i < 2; ++i) {
            ck_assert_int_ne(tal_design_fill(&designs[i], values), TAL_OK);
        }
        for (int kind = TAL_UNIFORM; kind <= TAL_LOGNORMAL; ++kind) {
            const tal_distribution a = {(tal_distribution_kind)kind, VALUES[k], 1.0};
            const tal_distribution b = {(tal_distribution_kind)kind, 1.0, VALUES[k]};
            designs[0] = tal_design_random(&a, 1, 1, 4);
            designs[1] = tal_design_latin(&b, 1, 1, 4);
            for (int i = 0; i < 2; ++i) {
                ck_assert_int_ne(tal_design_fill(&designs[i], values), TAL_OK);
            }
        }
        for (int i = 0; i < 4; ++i) {
            ck_assert_double_eq(values[i], 7.0);
        }
    }
}

END_TEST

// --- times ---

// A call that refuses its time leaves the State as it is, to the bit.
START_TEST(times_that_are_none_are_refused_and_change_nothing)
{
    const tal_integrator_def def = study_def(TAL_METHOD_RUNGE_KUTTA, 1e-4);
    study s = study_rod_pendulum(&def);
    tal_state *before = NULL, *out = NULL;
    tal_time_stepper *stepper = NULL;
    ck_assert_int_eq(tal_state_create(s.system, &before, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(s.system, &out, NULL), TAL_OK);
    ck_assert_int_eq(tal_time_stepper_create(s.integ, NULL, &stepper, NULL), TAL_OK);
    ck_assert_int_eq(tal_integrator_step(s.integ, s.state, 1.0), TAL_OK);
    ck_assert_int_eq(tal_state_copy(before, s.state), TAL_OK);
    ck_assert_int_eq(tal_state_copy(out, s.state), TAL_OK);
    for (int k = 0; k < NUM_BAD; ++k) {
        const double t = VALUES[k];
        ck_assert_int_eq(tal_integrator_step_to(s.integ, s.state, t), TAL_ERR_BAD_VALUE);
        ck_assert_int_eq(tal_integrator_step(s.integ, s.state, t), TAL_ERR_BAD_VALUE);
        ck_assert_int_eq(tal_integrator_interpolate(s.integ, s.state, t, out), TAL_ERR_BAD_VALUE);
        ck_assert_int_eq(tal_integrator_back_up(s.integ, s.state, t), TAL_ERR_BAD_VALUE);
        ck_assert_int_eq(tal_time_stepper_step_to(stepper, s.state, t, NULL), TAL_ERR_BAD_VALUE);
        ck_assert_int_eq(tal_time_stepper_advance(stepper, s.state, t, NULL), TAL_ERR_BAD_VALUE);
        ck_assert(tal_state_is_equal(s.state, before));
        ck_assert(tal_state_is_equal(out, before));
    }
    tal_time_stepper_destroy(stepper);
    tal_state_destroy(before);
    tal_state_destroy(out);
    study_end(&s);
}

END_TEST

// --- what is born in a run ---

// SUNDIALS' methods are in test_cvode.c, test_ida.c and test_arkode.c; those that do not look at
// the end of a step fail at the start of the next.
START_TEST(a_force_that_is_not_a_number_ends_a_run_soon)
{
    const tal_rk_tableau *const tableaux[] = {tal_rk_merson(), tal_rk_dormand_prince(),
                                              tal_rk_bogacki_shampine_5(), tal_rk_verner_8()};
    for (int k = 0; k < 4; ++k) {
        for (double accuracy = 1e-2; accuracy > 1e-11; accuracy *= 1e-2) {
            tal_integrator_def def = study_def(TAL_METHOD_RUNGE_KUTTA, accuracy);
            def.tableau = tableaux[k];
            def.max_step = 0.1;
            study_check_nan_force(&def);
        }
    }
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/scalar_inputs");
    TCase *tests = tcase_create("scalar inputs");
    tcase_add_test(tests, integrators_refuse_what_is_not_a_number);
    tcase_add_test(tests, steppers_and_events_refuse_what_is_not_a_number);
    tcase_add_test(tests, assemblers_refuse_what_is_not_a_number);
    tcase_add_test(tests, other_studies_refuse_what_is_not_a_number);
    tcase_add_test(tests, samples_are_not_made_of_what_is_not_a_number);
    tcase_add_test(tests, times_that_are_none_are_refused_and_change_nothing);
    tcase_add_test(tests, a_force_that_is_not_a_number_ends_a_run_soon);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
