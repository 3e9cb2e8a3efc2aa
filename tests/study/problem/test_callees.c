// Functions of the user's that fail inside assembly, tracking, equilibrium, linearization and
// ensembles: a force, a constraint, a motion, a measure, a goal, whatever the study calls.
#include "callees_support.h"

// --- assembly ---

static tal_status calc_goal(const void *self, const tal_system *system, tal_state *state,
                            double r[], const tal_matrix *J)
{
    (void)self, (void)system;
    r[0] = tal_state_q(state)[LEFT - 1] - 0.5;
    if (J != NULL) {
        for (int j = 0; j < J->cols; ++j) {
            J->data[j * J->ld] = j == LEFT - 1 ? 1.0 : 0.0;
        }
    }
    return may_fail(__func__);
}

static const tal_error *assembler_error(const model *it)
{
    return tal_assembler_error(it->study);
}

// Without markers they are not looked at.
static tal_status look(model *it)
{
    const tal_vec3 seen = {0.3, 0.1, 0.0};
    return tal_assembler_observe(it->study, &seen, NULL);
}

static tal_status run_assemble(model *it, tal_state *state, results *out)
{
    tal_status st = look(it);
    if (st == TAL_OK) st = tal_assembler_assemble(it->study, state, NULL);
    add_results(out, tal_state_q(state), tal_state_nq(state));
    return st;
}

static tal_status run_fit(model *it, tal_state *state, results *out)
{
    tal_status st = look(it);
    if (st == TAL_OK) st = tal_assembler_fit(it->study, state, NULL);
    add_results(out, tal_state_q(state), tal_state_nq(state));
    return st;
}

static tal_status run_assemble_u(model *it, tal_state *state, results *out)
{
    const tal_vec3 velocity = {0.1, 0.2, 0.0};
    const tal_status st = tal_assembler_assemble_u(it->study, &velocity, NULL, state, NULL);
    add_results(out, tal_state_u(state), tal_state_nu(state));
    return st;
}

static tal_assembler_def assembler_def(void)
{
    static const tal_marker marker = {"tip", {LEFT}, {0.5, 0.0, 0.0}, 1.0};
    static const tal_coordinate_goal lean = {{CRANK}, 0, -0.5, 0.3};
    static const tal_goal own = {"sick goal", 1, 0.5, NULL, calc_goal};
    tal_assembler_def def = tal_assembler_def_default();
    def.markers = &marker;
    def.num_markers = 1;
    def.coordinates = &lean;
    def.num_coordinates = 1;
    def.goals = &own;
    def.num_goals = 1;
    return def;
}

START_TEST(an_assembler_hands_failures_on)
{
    model it;
    build(&it, NULL, false);
    const tal_assembler_def def = assembler_def();
    tal_assembler *assembler = NULL;
    ck_assert_int_eq(tal_assembler_create(it.m.system, &def, &assembler, NULL), TAL_OK);
    it.study = assembler;
    const job searches[] = {
        {"assemble", run_assemble, assembler_error, keeps_q, false, TAL_OK},
        {"fit", run_fit, assembler_error, keeps_q, false, TAL_OK},
    };
    fail_at_every_call(&it, &searches[0]);
    fail_at_every_call(&it, &searches[1]);
    assemble_start(&it);
    const job speeds = {"assemble_u",     run_assemble_u, assembler_error,
                        keeps_everything, false,          TAL_OK};
    fail_at_every_call(&it, &speeds);
    tal_assembler_destroy(assembler);
    end(&it);
}

END_TEST

// From where the constraints cannot be met at once: pieces, then random starts.
START_TEST(an_assembler_that_has_to_search_far_hands_failures_on)
{
    fault.fails_at = 0;
    model it = {.m = begin_stepper_model(9.81)};
    const tal_constraint_def bent = tal_constraint_on(add_link(&it, TAL_GROUND, 0.0, 1.0), 0);
    (void)tal_matter_add_constraint(it.m.matter, &bent, &bent_ops, NULL, NULL);
    finish_stepper_model(&it.m, NULL, NULL);
    ck_assert_int_eq(tal_state_create(it.m.system, &it.start, NULL), TAL_OK);
    const double q = -1.0;
    ck_assert_int_eq(tal_state_set_q(it.start, &q, 1), TAL_OK);
    tal_assembler *assembler = NULL;
    ck_assert_int_eq(tal_assembler_create(it.m.system, NULL, &assembler, NULL), TAL_OK);
    it.study = assembler;
    tal_assembly how;
    ck_assert_int_eq(tal_state_copy(it.m.state, it.start), TAL_OK);
    ck_assert_int_eq(tal_assembler_assemble(assembler, it.m.state, &how), TAL_OK);
    ck_assert_int_gt(how.restarts, 1);
    const job far = {"assemble from far", run_assemble, assembler_error, keeps_q, false, TAL_OK};
    fail_at_every_call(&it, &far);
    tal_assembler_destroy(assembler);
    end(&it);
}

END_TEST

static tal_status run_tracker(model *it, tal_state *state, results *out)
{
    enum {
        NUM = 3
    };

    const tal_vec3 seen[NUM] = {{0.4, 0.2, 0.0}, {0.38, 0.22, 0.0}, {0.36, 0.24, 0.0}};
    const double times[NUM] = {0.0, 0.1, 0.2};
    const tal_frames frames = {NUM, times, seen, NULL, NULL};
    double q[NUM][8] = {{0.0}};
    tal_fit fits[NUM];
    const tal_status st = tal_tracker_run(it->study, state, &frames, &q[0][0], fits);
    add_results(out, &q[0][0], NUM * tal_state_nq(state));
    if (st != TAL_OK) return st;
    for (int k = 0; k < NUM; ++k) {
        if (fits[k].status != TAL_OK) return fits[k].status;
    }
    return TAL_OK;
}

START_TEST(a_tracker_hands_failures_on)
{
    model it;
    build(&it, NULL, false);
    tal_tracker_def def = tal_tracker_def_default();
    def.assembler = assembler_def();
    def.assembler.max_restarts = 2;
    def.chunk = 2;
    tal_tracker *tracker = NULL;
    ck_assert_int_eq(tal_tracker_create(it.m.system, &def, &tracker, NULL), TAL_OK);
    it.study = tracker;
    const job track = {"track", run_tracker, NULL, keeps_everything, false, TAL_OK};
    fail_at_every_call(&it, &track);
    tal_tracker_destroy(tracker);
    end(&it);
}

END_TEST

// --- equilibrium and linearization ---

static const tal_error *equilibrium_error(const model *it)
{
    return tal_equilibrium_error(it->study);
}

static tal_status run_equilibrium(model *it, tal_state *state, results *out)
{
    tal_rest rest = {0};
    const tal_status st = tal_equilibrium_find(it->study, state, &rest);
    add_results(out, tal_state_q(state), tal_state_nq(state));
    add_results(out, &rest.udot, 1);
    return st;
}

static tal_status run_statics(model *it, tal_state *state, results *out)
{
    const bool actuated[8] = {true, false, false, true, true, true};
    double tau[8] = {0.0};
    const tal_status st = tal_equilibrium_inverse_statics(it->study, state, actuated, tau, NULL);
    add_results(out, tau, tal_state_nu(state));
    return st;
}

START_TEST(an_equilibrium_hands_failures_on)
{
    for (int kind = TAL_EQUILIBRIUM_STABLE; kind <= TAL_EQUILIBRIUM_ANY; ++kind) {
        model it;
        build(&it, NULL, false);
        assemble_start(&it);
        tal_equilibrium_def def = tal_equilibrium_def_default();
        def.kind = (tal_equilibrium_kind)kind;
        tal_equilibrium *eq = NULL;
        ck_assert_int_eq(tal_equilibrium_create(it.m.system, &def, &eq, NULL), TAL_OK);
        it.study = eq;
        const job find = {"find", run_equilibrium,       equilibrium_error, keeps_everything,
                          true,   TAL_ERR_NO_CONVERGENCE};
        fail_at_every_call(&it, &find);
        const job statics = {"statics",        run_statics, equilibrium_error,
                             keeps_everything, false,       TAL_OK};
        fail_at_every_call(&it, &statics);
        tal_equilibrium_destroy(eq);
        end(&it);
    }
}

END_TEST

static const tal_error *linearizer_error(const model *it)
{
    return tal_linearizer_error(it->study);
}

static tal_status run_linearizer(model *it, tal_state *state, results *out)
{
    const tal_status st = tal_linearizer_run(it->study, state);
    if (st != TAL_OK) return st;
    const tal_matrix A = tal_linearizer_A(it->study), B = tal_linearizer_B(it->study);
    add_results(out, A.data, A.rows * A.cols);
    add_results(out, B.data, B.rows * B.cols);
    return TAL_OK;
}

START_TEST(a_linearizer_hands_failures_on)
{
    model it;
    build(&it, NULL, false);
    assemble_start(&it);
    tal_linearizer *lin = NULL;
    ck_assert_int_eq(tal_linearizer_create(it.m.system, NULL, &lin, NULL), TAL_OK);
    it.study = lin;
    const job run = {"linearize", run_linearizer, linearizer_error, keeps_everything, true, TAL_OK};
    fail_at_every_call(&it, &run);
    tal_linearizer_destroy(lin);
    end(&it);
}

END_TEST

// --- ensembles ---

static tal_status set_angle(const tal_parameter *self, const tal_system *system, tal_state *state,
                            double value)
{
    (void)self, (void)system;
    tal_state_upd_u(state)[TOP - 1] = value;
    return may_fail(__func__);
}

static const tal_error *ensemble_error(const model *it)
{
    return tal_ensemble_error(it->study);
}

static tal_status run_ensemble(model *it, tal_state *state, results *out)
{
    const double values[2] = {0.5, 0.7};
    const tal_design design = tal_design_table(values, 1, 2);
    double heights[2];
    tal_status status[2];
    const tal_status st = tal_ensemble_run(it->study, state, &design, heights, status, NULL);
    add_results(out, heights, 2);
    if (st != TAL_OK) return st;
    for (int k = 0; k < 2; ++k) {
        ck_assert_int_eq(isnan(heights[k]), status[k] != TAL_OK);
    }
    return status[0] != TAL_OK ? status[0] : status[1];
}

START_TEST(an_ensemble_hands_failures_on)
{
    model it;
    build(&it, NULL, true);
    assemble_start(&it);
    const tal_parameter parameter = {"turn", set_angle, NULL, 0, 0};
    tal_ensemble_def def = tal_ensemble_def_default();
    def.parameters = &parameter;
    def.num_parameters = 1;
    def.outputs = &it.measure;
    def.num_outputs = 1;
    def.task = TAL_TASK_INTEGRATE;
    def.end_time = 0.05;
    tal_ensemble *ensemble = NULL;
    ck_assert_int_eq(tal_ensemble_create(it.m.system, &def, &ensemble, NULL), TAL_OK);
    it.study = ensemble;
    const job run = {"ensemble", run_ensemble, ensemble_error, keeps_everything, true, TAL_OK};
    fail_at_every_call(&it, &run);
    tal_ensemble_destroy(ensemble);
    end(&it);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/callees");
    TCase *assembly = tcase_create("assembly");
    tcase_add_test(assembly, an_assembler_hands_failures_on);
    tcase_add_test(assembly, an_assembler_that_has_to_search_far_hands_failures_on);
    tcase_add_test(assembly, a_tracker_hands_failures_on);
    suite_add_tcase(suite, assembly);
    TCase *rest = tcase_create("rest");
    tcase_add_test(rest, an_equilibrium_hands_failures_on);
    tcase_add_test(rest, a_linearizer_hands_failures_on);
    tcase_add_test(rest, an_ensemble_hands_failures_on);
    suite_add_tcase(suite, rest);
    return test_run(suite);
}
