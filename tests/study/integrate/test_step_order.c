// Tests for study/src/problem/trial.c and step_loop.c: what a step calls, and in which order
// (manual sec. 10.4).
#include "talus_test.h"

#include <talus/study.h>

#include <math.h>

// A subsystem that logs the calls, one letter each, and owns a prescribed q = t^2, a q
// whose error projection removes, and a z.
typedef struct diary {
    char text[256];
    tal_group_ix q;
    tal_var_ix count; // steps begun, by automatic update
    tal_status project_status;
} diary;

static void note(const void *self, char letter)
{
    diary *it = (diary *)self; // NOLINT: a diary kept by the test's only thread
    const size_t n = strlen(it->text);
    if (n + 1 < sizeof it->text) it->text[n] = letter;
}

static tal_status next_count(const void *self, const tal_system *system, tal_state *state,
                             void *value)
{
    const diary *it = self;
    *(double *)value = 1.0 + tal_var_double(system, state, it->count);
    return TAL_OK;
}

static tal_status declare(void *self, tal_system *system, tal_subsystem_ix me)
{
    diary *it = self;
    tal_group_def def = tal_group_def_default();
    def.name = "q";
    def.pool = TAL_POOL_Q;
    def.capacity = 2;
    it->q = tal_system_add_group(system, me, &def);
    tal_var_def var = tal_var_def_default();
    var.name = "count";
    var.size = sizeof(double);
    var.invalidates = TAL_STAGE_REPORT;
    var.update = next_count;
    var.update_depends_on = TAL_STAGE_TIME;
    it->count = tal_system_add_var(system, me, &var);
    return TAL_OK;
}

static tal_status write_qdot(const void *self, const tal_system *system, tal_state *state)
{
    const diary *it = self;
    double *qdot = tal_group_upd_dot(system, state, it->q);
    qdot[0] = 2.0 * tal_state_t(state);
    qdot[1] = sin(300.0 * tal_state_t(state)); // far too quick for the steps
    return TAL_OK;
}

static tal_status accelerate(const void *self, const tal_system *system, tal_state *state)
{
    const diary *it = self;
    double *qdotdot = tal_group_upd_qdotdot(system, state, it->q);
    qdotdot[0] = 2.0;
    qdotdot[1] = 300.0 * cos(300.0 * tal_state_t(state));
    note(self, 'A');
    return TAL_OK;
}

static tal_status prescribe_q(const void *self, const tal_system *system, tal_state *state,
                              bool *changed)
{
    (void)system;
    const double t = tal_state_t(state), wanted = t * t;
    *changed = tal_state_q(state)[0] != wanted;
    if (*changed) tal_state_upd_q(state)[0] = wanted;
    note(self, 'q');
    return TAL_OK;
}

static tal_status prescribe_u(const void *self, const tal_system *system, tal_state *state,
                              bool *changed)
{
    (void)system;
    (void)state;
    *changed = false;
    note(self, 'u');
    return TAL_OK;
}

static tal_status project_q(const void *self, const tal_system *system, tal_state *state,
                            const tal_project_options *options, double q_error[],
                            tal_project_result *result)
{
    (void)system;
    (void)state;
    (void)result;
    note(self, 'Q');
    ck_assert_double_eq_tol(options->tolerance, 1e-6, 1e-20); // a hundredth of the accuracy
    if (q_error != NULL) q_error[1] = 0.0;
    return ((const diary *)self)->project_status;
}

static tal_status project_u(const void *self, const tal_system *system, tal_state *state,
                            const tal_project_options *options, double u_error[],
                            tal_project_result *result)
{
    (void)system;
    (void)state;
    (void)options;
    (void)u_error;
    (void)result;
    note(self, 'U');
    return TAL_OK;
}

static tal_status relax(const void *self, const tal_system *system, tal_state *state,
                        double tolerance, bool *changed)
{
    (void)system;
    (void)state;
    (void)tolerance;
    *changed = false;
    note(self, 'r');
    return TAL_OK;
}

static const tal_subsystem_ops diary_ops = {
    .size = sizeof diary_ops,
    .name = "diary",
    .realize_topology = declare,
    .realize_velocity = write_qdot,
    .realize_acceleration = accelerate,
    .prescribe_q = prescribe_q,
    .prescribe_u = prescribe_u,
    .project_q = project_q,
    .project_u = project_u,
    .relax = relax,
};

typedef struct run {
    tal_system *system;
    tal_state *state;
    tal_integrator *integ;
} run;

static run begin_run_with(diary *it, tal_integrator_def def)
{
    run r = {.system = tal_system_create(NULL)};
    def.accuracy = 1e-4;
    tal_system_add_subsystem(r.system, NULL, &diary_ops, it);
    ck_assert_int_eq(tal_system_realize_topology(r.system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(r.system, &r.state, NULL), TAL_OK);
    ck_assert_int_eq(tal_integrator_create(r.system, &def, &r.integ, NULL), TAL_OK);
    return r;
}

static run begin_limited_run(diary *it, double fixed_step, long max_steps)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.fixed_step = fixed_step;
    def.max_steps = max_steps;
    return begin_run_with(it, def);
}

static run begin_run(diary *it, double fixed_step)
{
    return begin_limited_run(it, fixed_step, 0);
}

static void end_run(run *r)
{
    tal_integrator_destroy(r->integ);
    tal_state_destroy(r->state);
    tal_system_destroy(r->system);
}

// A step of length zero first; the four inner stages of Merson are prescribed and relaxed; the end
// of the step is prescribed, projected and relaxed.
START_TEST(a_step_prescribes_projects_and_relaxes_in_this_order)
{
    diary it = {.text = ""};
    run r = begin_run(&it, 0.5);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 0.5), TAL_OK);
    ck_assert_str_eq(it.text, "qQuUr"
                              "A"
                              "qurA"
                              "qurA"
                              "qurA"
                              "qurA"
                              "qQuUr"
                              "A");
    end_run(&r);
}

END_TEST

// Every method ends its steps in that way; Verlet projects q before it looks for u.
START_TEST(every_method_keeps_the_order)
{
    static const struct {
        tal_method method;
        const tal_rk_tableau *(*tableau)(void);
        const char *step;
    } rows[] = {
        {TAL_METHOD_RUNGE_KUTTA, tal_rk_euler, "A qQuUr A"},
        {TAL_METHOD_RUNGE_KUTTA, tal_rk_trapezoid, "A qurA qQuUr A"},
        {TAL_METHOD_RUNGE_KUTTA, tal_rk_bogacki_shampine, "A qurA qurA qQuUr A"},
        {TAL_METHOD_RUNGE_KUTTA, tal_rk_dormand_prince, "A qurA qurA qurA qurA qurA qQuUr A"},
        {TAL_METHOD_SEMI_EXPLICIT_EULER, NULL, "A qQuUr A"},
        {TAL_METHOD_VERLET, NULL, "A qQu rA qQuUr"}, // no speeds, so one round; its rates remain
    };

    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; ++k) {
        diary it = {.text = ""};
        tal_integrator_def def = tal_integrator_def_default();
        def.method = rows[k].method;
        def.tableau = rows[k].tableau != NULL ? rows[k].tableau() : NULL;
        def.fixed_step = 0.5;
        run r = begin_run_with(&it, def);
        ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 0.5), TAL_OK);
        char wanted[64] = "qQuUr";
        size_t n = strlen(wanted);
        for (const char *c = rows[k].step; *c != '\0'; ++c) {
            if (*c != ' ') wanted[n++] = *c;
        }
        ck_assert_str_eq(it.text, wanted);
        end_run(&r);
    }
}

END_TEST

// With controlled steps the last stage of Bogacki and Shampine is the end of the step: prescribed
// and relaxed as a stage, then projected; where nothing moves it, its rates remain. Half a step of
// semi-explicit Euler is a stage.
START_TEST(controlled_steps_end_alike)
{
    diary it = {.text = ""};
    tal_integrator_def def = tal_integrator_def_default();
    def.tableau = tal_rk_bogacki_shampine();
    def.initial_step = 1e-3;
    run r = begin_run_with(&it, def);
    ck_assert_int_eq(tal_integrator_step(r.integ, r.state, 1e-3), TAL_OK);
    ck_assert_str_eq(it.text, "qQuUr"
                              "A"
                              "qurA"
                              "qurA"
                              "qurA"
                              "qQuUr");
    end_run(&r);

    it = (diary){.text = ""};
    def.method = TAL_METHOD_SEMI_EXPLICIT_EULER;
    r = begin_run_with(&it, def);
    ck_assert_int_eq(tal_integrator_step(r.integ, r.state, 1e-3), TAL_OK);
    ck_assert_str_eq(it.text, "qQuUr"
                              "A"
                              "qurA"
                              "qQuUr"
                              "A");
    end_run(&r);
}

END_TEST

START_TEST(every_step_begins_once_and_prescribed_q_are_met)
{
    diary it = {.text = ""};
    run r = begin_run(&it, 0.25);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 1.0), TAL_OK);
    ck_assert_double_eq(tal_var_double(r.system, r.state, it.count), 4.0);
    ck_assert_double_eq(tal_state_t_prev(r.state), 0.75);
    ck_assert_double_eq(tal_state_y_prev(r.state)[0], 0.75 * 0.75);
    ck_assert_double_eq(tal_state_q(r.state)[0], 1.0);
    end_run(&r);
}

END_TEST

// A run that is stopped by its step limit and goes on begins as many steps as it takes.
START_TEST(a_stopped_run_goes_on_where_it_was)
{
    diary it = {.text = ""};
    run r = begin_limited_run(&it, 0.125, 3);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 1.0), TAL_ERR_STEP_LIMIT);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 1.0), TAL_ERR_STEP_LIMIT);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 1.0), TAL_OK);
    ck_assert_double_eq(tal_var_double(r.system, r.state, it.count), 8.0);
    ck_assert_uint_eq(tal_integrator_statistics(r.integ).steps_attempted, 8);
    end_run(&r);
}

END_TEST

// With its error removed by projection, the quick coordinate refuses no step.
START_TEST(errors_are_tested_after_projection)
{
    diary it = {.text = ""};
    run r = begin_run(&it, 0.0);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 5.0), TAL_OK);
    ck_assert_uint_eq(tal_integrator_statistics(r.integ).error_failures, 0);
    ck_assert_uint_lt(tal_integrator_statistics(r.integ).steps_taken, 20);
    end_run(&r);
}

END_TEST

START_TEST(a_projection_that_fails_is_reported)
{
    diary it = {.text = "", .project_status = TAL_ERR_NO_CONVERGENCE};
    run r = begin_run(&it, 0.0);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 5.0), TAL_ERR_NO_CONVERGENCE);
    const char *message = tal_integrator_error(r.integ)->message;
    ck_assert_msg(strstr(message, "'diary'") != NULL, "%s", message);
    ck_assert_ptr_nonnull(strstr(message, "; assemble the model first"));
    end_run(&r);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/step_order");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, a_step_prescribes_projects_and_relaxes_in_this_order);
    tcase_add_test(theory, every_method_keeps_the_order);
    tcase_add_test(theory, controlled_steps_end_alike);
    tcase_add_test(theory, every_step_begins_once_and_prescribed_q_are_met);
    tcase_add_test(theory, a_stopped_run_goes_on_where_it_was);
    tcase_add_test(theory, errors_are_tested_after_projection);
    tcase_add_test(theory, a_projection_that_fails_is_reported);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
