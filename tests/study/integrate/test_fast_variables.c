// Fast variables in runs (manual sec. 10.3 and 10.4.2, eq. 8.96): discrete ones of every stage, in
// the order of stages; and bodies that become fast, and dynamic again, between steps.
#include "study_model.h"

// z' = b - a - z with two discrete variables that are always in balance: a, which forces depend on,
// solves a^3 + a = z; b, of the Time stage, is cos(t). And c = a^2, of the Acceleration stage, that
// nothing depends on.
typedef struct balance {
    tal_group_ix z;
    tal_var_ix a, b, c;
    char order[64]; // stages that were relaxed, as long as there is room
} balance;

static tal_status balance_declare(void *self, tal_system *system, tal_subsystem_ix me)
{
    static const double one = 1.0;
    balance *it = self;
    tal_group_def def = tal_group_def_default();
    def.name = "z";
    def.capacity = 1;
    def.initial = &one;
    it->z = tal_system_add_group(system, me, &def);

    const struct {
        tal_var_ix *var;
        const char *name;
        tal_stage invalidates;
    } all[] = {{&it->a, "a", TAL_STAGE_DYNAMICS},
               {&it->b, "b", TAL_STAGE_TIME},
               {&it->c, "c", TAL_STAGE_REPORT}};

    for (int k = 0; k < 3; ++k) {
        tal_var_def var = tal_var_def_default();
        var.name = all[k].name;
        var.size = sizeof(double);
        var.invalidates = all[k].invalidates;
        *all[k].var = tal_system_add_var(system, me, &var);
    }
    return TAL_OK;
}

static tal_status balance_rates(const void *self, const tal_system *system, tal_state *state)
{
    const balance *it = self;
    const double z = tal_state_z(state)[tal_group_start(system, state, it->z)];
    tal_group_upd_dot(system, state, it->z)[0] =
        tal_var_double(system, state, it->b) - tal_var_double(system, state, it->a) - z;
    return TAL_OK;
}

// The root of a^3 + a = z by Newton's method, from where it was.
static double root_from(double a, double z, double tolerance)
{
    for (int k = 0; k < 50; ++k) {
        const double step = (a * a * a + a - z) / (3.0 * a * a + 1.0);
        a -= step;
        if (fabs(step) <= tolerance) break;
    }
    return a;
}

static void put(const tal_system *system, tal_state *state, tal_var_ix var, double value,
                bool *changed)
{
    if (tal_var_double(system, state, var) == value) return;
    *(double *)tal_var_upd(system, state, var) = value;
    *changed = true;
}

static tal_status balance_relax(const void *self, const tal_system *system, tal_state *state,
                                tal_stage stage, double tolerance, bool *changed)
{
    balance *it = (balance *)self; // NOLINT: a diary kept by the test's only thread
    const size_t n = strlen(it->order);
    if (n + 1 < sizeof it->order) it->order[n] = (char)('0' + stage);
    const double z = tal_state_z(state)[tal_group_start(system, state, it->z)];
    const double a = tal_var_double(system, state, it->a);
    if (stage == TAL_STAGE_TIME) put(system, state, it->b, cos(tal_state_t(state)), changed);
    if (stage == TAL_STAGE_DYNAMICS) {
        if (fabs(a * a * a + a - z) <= 1e-3 * tolerance) return TAL_OK;
        put(system, state, it->a, root_from(a, z, 1e-3 * tolerance), changed);
    }
    if (stage == TAL_STAGE_ACCELERATION) put(system, state, it->c, a * a, changed);
    return TAL_OK;
}

static const tal_subsystem_ops balance_ops = {.size = sizeof balance_ops,
                                              .name = "balance",
                                              .realize_topology = balance_declare,
                                              .realize_acceleration = balance_rates,
                                              .relax_stage = balance_relax};

static void eliminated(double t, const double z[], double zdot[])
{
    zdot[0] = cos(t) - root_from(z[0] / (1.0 + z[0] * z[0]), z[0], 1e-15) - z[0];
}

static study begin_balance(balance *it, const tal_integrator_def *def)
{
    study s = {.system = tal_system_create(NULL)};
    memset(it, 0, sizeof *it);
    (void)tal_system_add_subsystem(s.system, NULL, &balance_ops, it);
    study_finish(&s, def);
    return s;
}

// By every method, the same as where a and b are eliminated: each to its accuracy, of order 1 or 2
// to the root of it; and at the end all are in balance, c with the a that was found before it.
START_TEST(discrete_variables_are_in_balance_at_every_stage_of_a_run)
{
    study_odes odes = {.n = 1, .z0 = {1.0}, .rates = eliminated};
    tal_integrator_def fine = tal_integrator_def_default();
    fine.tableau = tal_rk_verner_8();
    fine.accuracy = 1e-12;
    study exact = study_of_odes(&odes, &fine);
    study_step_to(&exact, 2.0);
    const double z = tal_state_z(exact.state)[0];
    for (int k = 0; k < tal_num_methods(); ++k) {
        tal_integrator_def def = tal_method_def(k);
        const char *name = tal_method_name(k);
        if (strcmp(name, "verlet") == 0) continue; // has no way to step z alone
        const bool is_low = strstr(name, "euler") != NULL || strcmp(name, "trapezoid") == 0;
        def.accuracy = is_low ? 1e-5 : 1e-7;
        balance it;
        study s = begin_balance(&it, &def);
        study_step_to(&s, 2.0);
        const double found = tal_state_z(s.state)[0], a = tal_var_double(s.system, s.state, it.a);
        const double steps = (double)tal_integrator_statistics(s.integ).steps_taken;
        ck_assert_msg(fabs(found - z) <= steps * def.accuracy, "%s: %g", name, found - z);
        ck_assert_double_eq_tol(a * a * a + a, found, def.accuracy);
        ck_assert_double_eq(tal_var_double(s.system, s.state, it.b), cos(2.0));
        ck_assert_double_eq(tal_var_double(s.system, s.state, it.c), a * a);
        study_end(&s);
    }
    study_end(&exact);
}

END_TEST

START_TEST(stages_are_relaxed_in_order_or_one_alone)
{
    balance it;
    study s = begin_balance(&it, NULL);
    ck_assert_int_eq(tal_system_realize(s.system, s.state, TAL_STAGE_TIME), TAL_OK);
    bool changed = false;
    ck_assert_int_eq(tal_system_relax(s.system, s.state, 1e-6, &changed), TAL_OK);
    ck_assert(changed);
    const char all[] = {'0' + TAL_STAGE_TIME,         '0' + TAL_STAGE_POSITION,
                        '0' + TAL_STAGE_VELOCITY,     '0' + TAL_STAGE_DYNAMICS,
                        '0' + TAL_STAGE_ACCELERATION, '\0'};
    ck_assert_str_eq(it.order, all);
    memset(it.order, 0, sizeof it.order);
    const tal_stage stages[] = {TAL_STAGE_ACCELERATION, TAL_STAGE_TIME, TAL_STAGE_DYNAMICS};
    const double now[] = {1.0, -1.0, 1.0};
    for (int k = 0; k < 3; ++k) { // a must follow z only when its stage is relaxed
        ck_assert_int_eq(tal_state_set_z(s.state, &now[k], 1), TAL_OK);
        ck_assert_int_eq(tal_system_realize(s.system, s.state, TAL_STAGE_TIME), TAL_OK);
        const double a = tal_var_double(s.system, s.state, it.a);
        const tal_status st = tal_system_relax_stage(s.system, s.state, stages[k], 1e-9, &changed);
        ck_assert_int_eq(st, TAL_OK);
        if (k < 2) ck_assert_double_eq(tal_var_double(s.system, s.state, it.a), a);
    }
    const double a = tal_var_double(s.system, s.state, it.a);
    ck_assert_double_eq_tol(a * a * a + a, 1.0, 1e-9);
    ck_assert_int_eq((int)strlen(it.order), 3);
    ck_assert_int_eq(tal_system_relax_stage(s.system, s.state, TAL_STAGE_MODEL, 1e-6, &changed),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_state_error(s.state)->message, "no fast variables"));
    ck_assert_int_eq(tal_system_relax_stage(s.system, s.state, TAL_STAGE_TIME, 0.0, &changed),
                     TAL_ERR_BAD_VALUE);
    study_end(&s);
}

END_TEST

// --- bodies ---

// A light link on a stiff spring, carried by a pendulum: dynamic for a second, then fast, then
// dynamic again. While it is fast it stands where its spring holds it against gravity, and the
// pendulum swings as if it were alone with a load: a run of a System in which the link was never
// anything but fast, from the same State, takes the same steps.
typedef struct carried {
    study s;
    tal_body_ix arm, link;
} carried;

static carried begin_carried(bool always_fast)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = 1e-6;
    carried c = {.s = study_begin(tal_v3(0.0, -9.81, 0.0))};
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass = tal_mass_props_point(1.0, tal_v3(0.0, -1.0, 0.0));
    c.arm = tal_matter_add_pin(c.s.matter, TAL_GROUND, &bob);
    bob.mass = tal_mass_props_point(0.01, tal_v3(0.0, -0.2, 0.0));
    bob.X_PF = tal_xf_from_p(tal_v3(0.0, -1.0, 0.0));
    c.link = tal_matter_add_pin(c.s.matter, c.arm, &bob);
    (void)tal_forces_add_mobility_spring(c.s.forces, NULL, (tal_mobility){c.link, 0}, 2.0, 0.0);
    if (always_fast) (void)tal_matter_make_fast(c.s.matter, c.link, TAL_LEVEL_POSITION);
    if (!always_fast) (void)tal_matter_allow_fast(c.s.matter, c.link);
    study_finish(&c.s, &def);
    (void)tal_body_set_q(c.s.matter, c.s.state, c.arm, 0, 1.0);
    return c;
}

START_TEST(a_body_may_become_fast_and_dynamic_again_between_steps)
{
    carried c = begin_carried(false), ref = begin_carried(true);
    study *s = &c.s;
    ck_assert_int_eq(tal_body_fast_level(s->matter, s->state, c.link), TAL_LEVEL_FREE);
    study_step_to(s, 1.0);
    ck_assert_int_eq(tal_matter_num_free(s->matter, s->state), 2);
    ck_assert_int_eq(tal_body_set_fast(s->matter, s->state, c.link, TAL_LEVEL_POSITION), TAL_OK);
    ck_assert_int_eq(tal_body_fast_level(s->matter, s->state, c.link), TAL_LEVEL_POSITION);
    ck_assert_int_eq(tal_state_set_t(ref.s.state, 1.0), TAL_OK);
    ck_assert_int_eq(tal_state_set_q(ref.s.state, tal_state_q(s->state), 2), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(ref.s.state, tal_state_u(s->state), 2), TAL_OK);
    tal_integrator_reset(s->integ);
    study_step_to(s, 2.0);
    study_step_to(&ref.s, 2.0);
    ck_assert_int_eq(tal_matter_num_free(s->matter, s->state), 1);
    test_assert_near(tal_state_q(s->state), tal_state_q(ref.s.state), 2, 1e-14, "q");
    test_assert_near(tal_state_u(s->state), tal_state_u(ref.s.state), 2, 1e-14, "u");
    const double *q = tal_state_q(s->state);
    const double weight = 0.01 * 9.81 * 0.2 * sin(q[0] + q[1]); // at the default tolerance
    ck_assert_double_eq_tol(-2.0 * q[1], weight, 1e-6);
    ck_assert_double_eq(tal_state_u(s->state)[1], 0.0);
    ck_assert_int_eq(tal_body_set_fast(s->matter, s->state, c.link, TAL_LEVEL_FREE), TAL_OK);
    study_step_to(s, 2.5);
    ck_assert_int_eq(tal_matter_num_free(s->matter, s->state), 2);
    ck_assert(tal_state_u(s->state)[1] != 0.0);
    study_end(s);
    study_end(&ref.s);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("fast variables");
    TCase *tests = tcase_create("tests");
    tcase_add_test(tests, discrete_variables_are_in_balance_at_every_stage_of_a_run);
    tcase_add_test(tests, stages_are_relaxed_in_order_or_one_alone);
    tcase_add_test(tests, a_body_may_become_fast_and_dynamic_again_between_steps);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
