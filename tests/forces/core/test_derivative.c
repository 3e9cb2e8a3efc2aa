// Tests for forces/src/core/derivative.c and force_test.c.
#include "force_model.h"

#include <talus/forces/derivative.h>

enum {
    MAX_ELEMENTS = 24,
    MAX_WORK = 400 // doubles
};

// Every kind of element on the model. Those up to `num_telling` tell of their change.
typedef struct zoo {
    model m;
    tal_state *scratch;
    tal_force_ix all[MAX_ELEMENTS];
    int count, num_telling;
    double work[MAX_WORK];
} zoo;

static tal_function *quartic(void)
{
    const double coefficients[] = {1.5, 0.0, 0.0, 0.2, 3.0};
    tal_function *energy = NULL;
    ck_assert_int_eq(tal_function_create_polynomial(NULL, coefficients, 5, &energy, NULL), TAL_OK);
    return energy;
}

static double own_value(const void *self, const double x[], int n)
{
    (void)self, (void)n;
    return 2.0 * x[0] * x[0] * x[0];
}

static double own_derivative(const void *self, const double x[], int n, const int wrt[], int order)
{
    (void)self, (void)n, (void)wrt;
    return order == 1 ? 6.0 * x[0] * x[0] : 12.0 * x[0];
}

// An energy with just the two derivatives that the change of a force needs.
static tal_function *twice_differentiable(void)
{
    static const tal_function_ops ops = {.size = sizeof ops,
                                         .name = "own energy",
                                         .calc_value = own_value,
                                         .calc_derivative = own_derivative};
    tal_function_def def = tal_function_def_default();
    def.ops = &ops;
    def.max_order = 2;
    tal_function *energy = NULL;
    ck_assert_int_eq(tal_function_create(NULL, &def, &energy, NULL), TAL_OK);
    return energy;
}

static void add_telling(zoo *z)
{
    model *m = &z->m;
    tal_forces *forces = m->forces;
    const tal_two_points at = {m->body[GIMBAL], {0.3, -0.2, 0.5}, m->body[BALL], {-0.4, 0.1, 0.7}};
    const tal_mobility pin = {m->body[PIN], 0}, slider = {m->body[SLIDER], 0};
    const tal_mobility gimbal = {m->body[GIMBAL], 1};
    const tal_friction friction = {3.0, 2.0, 0.5, 1.0};
    const tal_stop above = {4.0, 0.1, -9.0, -8.0}, below = {4.0, 0.1, 8.0, 9.0};
    tal_force_ix *all = z->all;
    int n = 0;
    all[n++] = tal_forces_add_gravity(forces, tal_v3(0.3, -9.81, 0.1));
    all[n++] = tal_forces_add_two_point_spring(forces, "spring", &at, 7.0, 0.8);
    all[n++] = tal_forces_add_two_point_damper(forces, "damper", &at, 3.0);
    all[n++] = tal_forces_add_two_point_force(forces, "push", &at, 2.5);
    all[n++] = tal_forces_add_constant_force(forces, "load", m->body[GIMBAL], tal_v3(0.1, 0.2, 0.3),
                                             tal_v3(1.0, -2.0, 0.5));
    all[n++] =
        tal_forces_add_constant_torque(forces, "torque", m->body[PIN], tal_v3(1.0, -2.0, 0.5));
    all[n++] = tal_forces_add_mobility_force(forces, "motor", pin, 2.0);
    all[n++] = tal_forces_add_mobility_damper(forces, "grease", gimbal, 2.0);
    all[n++] = tal_forces_add_mobility_friction(forces, "friction", slider, &friction);
    all[n++] = tal_forces_add_global_damper(forces, "air", 0.3);
    all[n++] = tal_forces_add_mobility_spring(forces, "clock spring", pin, 3.0, 0.2);
    all[n++] = tal_forces_add_mobility_nonlinear_spring(forces, "quartic", slider, quartic());
    all[n++] =
        tal_forces_add_mobility_nonlinear_spring(forces, "cubic", pin, twice_differentiable());
    all[n++] = tal_forces_add_mobility_stop(forces, "above", gimbal, &above);
    all[n++] = tal_forces_add_mobility_stop(forces, "below", pin, &below);
    z->count = z->num_telling = n;
}

static void add_quiet(zoo *z)
{
    model *m = &z->m;
    tal_forces *forces = m->forces;
    const tal_mobility ball = {m->body[BALL], 1}, pin = {m->body[PIN], 0};
    const tal_measure_ix none = {-1};
    const tal_push push = {m->body[GIMBAL], {0.1, 0.2, 0.3}, {1.0, 2.0, 0.5}, true, false};
    const tal_twist twist = {m->body[PIN], m->body[BALL], {1.0, 2.0, 0.5}, false};
    const tal_thrust thrust = {m->body[BALL], {0.1, 0.2, 0.3}, true};
    tal_bushing_def bushing = tal_bushing_def_default();
    bushing.body1 = m->body[PIN];
    bushing.body2 = m->body[GIMBAL];
    for (int i = 0; i < 6; ++i) {
        bushing.stiffness[i] = 1.0 + 0.1 * i;
        bushing.damping[i] = 0.2;
    }
    tal_thermostat_def bath = tal_thermostat_def_default();
    bath.kT = 1.0;
    int n = z->count;
    z->all[n++] = tal_forces_add_mobility_spring(forces, "on a ball", ball, 3.0, 0.2);
    z->all[n++] = tal_forces_add_bushing(forces, "bushing", &bushing);
    z->all[n++] = tal_forces_add_gear_torque(forces, "gear", m->body[PIN], 2.0, 0.3, 0.4);
    z->all[n++] = tal_forces_add_discrete(forces, "discrete");
    z->all[n++] = tal_forces_add_mobility_actuator(forces, "servo", pin, 2.0, none);
    z->all[n++] = tal_forces_add_point_actuator(forces, "thruster", &push, 2.0, none);
    z->all[n++] = tal_forces_add_torque_actuator(forces, "twister", &twist, 2.0, none);
    z->all[n++] = tal_forces_add_body_actuator(forces, "rocket", &thrust, 2.0, none);
    z->all[n++] = tal_forces_add_thermostat(forces, "bath", &bath);
    z->count = n;
}

// Values for elements that have no effect by default.
static void wake_up(zoo *z)
{
    model *m = &z->m;
    const tal_forces *forces = m->forces;
    const double six[6] = {1.0, -1.0, 0.5, 0.3, 0.2, -0.7};
    const tal_spatial_vec F = {{1.0, 2.0, 3.0}, {0.5, -0.5, 1.0}};
    const tal_force_ix servo = tal_forces_find(forces, "servo");
    const tal_force_ix thruster = tal_forces_find(forces, "thruster");
    const tal_force_ix twister = tal_forces_find(forces, "twister");
    const tal_force_ix rocket = tal_forces_find(forces, "rocket");
    tal_force_set_param(forces, m->state, servo, TAL_ACTUATOR_CONTROL, 0.7);
    tal_force_set_param(forces, m->state, thruster, TAL_POINT_ACTUATOR_CONTROL, 0.7);
    tal_force_set_param(forces, m->state, twister, TAL_TORQUE_ACTUATOR_CONTROL, 0.7);
    tal_force_set_params(forces, m->state, rocket, TAL_BODY_ACTUATOR_CONTROL, six, 6);
    const tal_force_ix discrete = tal_forces_find(forces, "discrete");
    tal_discrete_set_body_force(forces, m->state, discrete, m->body[PIN], F);
    double *z_ = tal_state_upd_z(m->state);
    z_[0] = 0.3; // friction of the bath
    model_realize(m, TAL_STAGE_VELOCITY);
}

static zoo zoo_begin(bool with_quiet)
{
    zoo z = {.m = model_begin()};
    add_telling(&z);
    if (with_quiet) add_quiet(&z);
    model_finish(&z.m);
    if (with_quiet) wake_up(&z);
    ck_assert_int_eq(tal_state_create(z.m.system, &z.scratch, NULL), TAL_OK);
    ck_assert_uint_le(tal_forces_derivative_work_size(z.m.forces), MAX_WORK);
    return z;
}

static void zoo_end(zoo *z)
{
    tal_state_destroy(z->scratch);
    model_end(&z->m);
}

// --- the test of an element ---

// Fourth-order differences over 1e-3 of forces of size ten and velocities of size ten: 1e-9.
START_TEST(every_built_in_element_agrees_with_itself)
{
    zoo z = zoo_begin(true);
    for (uint64_t seed = 1; seed < 6; ++seed) {
        model_shake(&z.m, seed);
        for (int i = 0; i < z.count; ++i) {
            tal_force_report report;
            tal_error err;
            const tal_status st = tal_force_test(z.m.forces, z.m.state, z.all[i], &report, &err);
            ck_assert_msg(st == TAL_OK, "%s", err.message);
            const char *name = tal_force_name(z.m.forces, z.all[i]);
            ck_assert_msg(report.adds < 1e-13, "%s adds %g", name, report.adds);
            ck_assert_msg(report.needs == 0.0, "%s needs %g", name, report.needs);
            ck_assert_msg(report.change < 1e-9, "%s change %g", name, report.change);
            ck_assert_msg(report.energy < 1e-9, "%s energy %g", name, report.energy);
            ck_assert_msg(report.power < 1e-9, "%s power %g", name, report.power);
        }
    }
    zoo_end(&z);
}

END_TEST

// --- elements that are wrong in one way each ---

typedef enum flaw {
    FLAW_NONE,
    FLAW_ADDS,
    FLAW_NEEDS_U,
    FLAW_NEEDS_T,
    FLAW_CHANGE,
    FLAW_ENERGY,
    FLAW_POWER,
    FLAW_FAILS
} flaw;

typedef struct broken {
    flaw how;
} broken;

// A spring and damper on the pin, by hand.
static tal_status broken_apply(const void *self, const tal_force_context *context,
                               tal_spatial_vec F[], double f[])
{
    (void)F;
    const broken *it = self;
    const tal_body_ix pin = {PIN};
    const int i = tal_body_u_start(context->matter, pin);
    const double u = tal_body_u(context->matter, context->state, pin, 0);
    double force = -3.0 * tal_body_q(context->matter, context->state, pin, 0);
    if (it->how == FLAW_FAILS) return TAL_ERR_CALLBACK;
    if (it->how == FLAW_NEEDS_U) force += 0.1 * u;
    if (it->how == FLAW_NEEDS_T) force += 0.1 * tal_state_t(context->state);
    if (it->how == FLAW_POWER) force -= 0.5 * u;
    f[i] = it->how == FLAW_ADDS ? force : f[i] + force;
    return TAL_OK;
}

static tal_status broken_change(const void *self, const tal_force_context *context,
                                const tal_force_change *change, tal_spatial_vec dF[], double df[])
{
    (void)dF;
    const broken *it = self;
    const tal_body_ix pin = {PIN}, first = {1};
    const int i = tal_body_u_start(context->matter, pin);
    const int q = tal_body_q_start(context->matter, context->state, pin) -
                  tal_body_q_start(context->matter, context->state, first);
    df[i] += (it->how == FLAW_CHANGE ? -3.1 : -3.0) * change->dq[q];
    if (it->how == FLAW_POWER) df[i] -= 0.5 * change->du[i];
    return TAL_OK;
}

static tal_status broken_energy(const void *self, const tal_force_context *context, double *energy)
{
    const broken *it = self;
    const double q = tal_body_q(context->matter, context->state, (tal_body_ix){PIN}, 0);
    *energy = (it->how == FLAW_ENERGY ? 1.6 : 1.5) * q * q;
    return TAL_OK;
}

static tal_force_report test_flaw(flaw how)
{
    model m = model_begin();
    broken it = {how};
    tal_force_ops ops = {.size = sizeof ops,
                         .name = "broken",
                         .apply = broken_apply,
                         .calc_potential_energy = broken_energy,
                         .needs = TAL_FORCE_NEEDS_Q,
                         .apply_change = broken_change};
    if (how == FLAW_POWER) ops.needs = TAL_FORCE_NEEDS_ALL;
    const tal_force_ix force = tal_forces_add(m.forces, "broken", &ops, &it);
    model_finish(&m);
    tal_force_report report;
    tal_error err;
    const tal_status st = tal_force_test(m.forces, m.state, force, &report, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    model_end(&m);
    return report;
}

START_TEST(a_wrong_element_is_found_out)
{
    ck_assert_double_lt(test_flaw(FLAW_NONE).worst, 1e-12); // differences over 1e-3: eps / 1e-3
    tal_force_report report = test_flaw(FLAW_ADDS);
    ck_assert_double_gt(report.adds, 1e-3);
    ck_assert_double_eq(report.worst, report.adds);
    ck_assert_double_gt(test_flaw(FLAW_NEEDS_U).needs, 1e-4);
    ck_assert_double_gt(test_flaw(FLAW_NEEDS_T).needs, 1e-4);
    ck_assert_double_gt(test_flaw(FLAW_CHANGE).change, 1e-3);
    ck_assert_double_gt(test_flaw(FLAW_ENERGY).energy, 1e-3);
    report = test_flaw(FLAW_POWER);
    ck_assert_double_gt(report.power, 1e-3);
    ck_assert_double_lt(report.energy, 1e-12);
    ck_assert_double_lt(report.change, 5e-12);
}

END_TEST

// --- the derivative of all ---

// Generalized forces of all elements at q + s N w, u + s v.
static void generalized_at(zoo *z, double s, const double w[], const double v[], double g[])
{
    model *m = &z->m;
    double dq[MODEL_MAX_NQ];
    ck_assert_int_eq(tal_matter_mul_N(m->matter, m->state, TAL_N, w, dq), TAL_OK);
    ck_assert_int_eq(tal_state_copy(z->scratch, m->state), TAL_OK);
    double *q = tal_state_upd_q(z->scratch), *u = tal_state_upd_u(z->scratch);
    for (int i = 0; i < tal_state_nq(m->state); ++i) {
        q[i] += s * dq[i];
    }
    for (int i = 0; i < MODEL_NU; ++i) {
        u[i] += s * v[i];
    }
    ck_assert_int_eq(tal_system_realize(m->system, z->scratch, TAL_STAGE_VELOCITY), TAL_OK);
    load on;
    ck_assert_int_eq(tal_forces_calc_sum(m->forces, z->scratch, z->all, z->count, on.F, on.f),
                     TAL_OK);
    model_shift(m, z->scratch, 1.0, on.F);
    model_generalized(m, z->scratch, &on, g);
}

// Central differences with h = 1e-5 of forces of size 100: h^2 f''' = 1e-8 and eps f / h = 1e-9.
static void check_derivative(zoo *z, const double w[], const double v[])
{
    static const double zero[MODEL_NU] = {0.0};
    const double h = 1e-5;
    double plus[MODEL_NU], minus[MODEL_NU], expected[MODEL_NU], dg[MODEL_NU];
    generalized_at(z, h, w != NULL ? w : zero, v != NULL ? v : zero, plus);
    generalized_at(z, -h, w != NULL ? w : zero, v != NULL ? v : zero, minus);
    for (int i = 0; i < MODEL_NU; ++i) {
        expected[i] = (plus[i] - minus[i]) / (2.0 * h);
    }
    const tal_status st =
        tal_forces_calc_derivative(z->m.forces, z->m.state, z->scratch, w, v, dg, z->work);
    ck_assert_msg(st == TAL_OK, "%s", tal_state_error(z->m.state)->message);
    test_assert_near(dg, expected, MODEL_NU, 1e-6, "dg");
}

static void random_direction(uint64_t seed, double direction[])
{
    test_rng rng = test_rng_seed(seed);
    for (int i = 0; i < MODEL_NU; ++i) {
        direction[i] = test_random_uniform(&rng, -1.0, 1.0);
    }
}

START_TEST(the_derivative_is_that_of_the_generalized_forces)
{
    for (int with_quiet = 0; with_quiet < 2; ++with_quiet) {
        zoo z = zoo_begin(with_quiet);
        for (uint64_t seed = 1; seed < 5; ++seed) {
            double w[MODEL_NU], v[MODEL_NU];
            model_shake(&z.m, seed);
            random_direction(seed + 10, w);
            random_direction(seed + 20, v);
            check_derivative(&z, w, v);
            check_derivative(&z, w, NULL);
            check_derivative(&z, NULL, v);
            check_derivative(&z, NULL, NULL);
        }
        zoo_end(&z);
    }
}

END_TEST

// A damper -c u on every speed has df/du = -c exactly, and no scratch State is needed.
START_TEST(what_needs_no_differences_is_exact)
{
    model m = model_begin();
    (void)tal_forces_add_global_damper(m.forces, "air", 0.3);
    model_finish(&m);
    double v[MODEL_NU], dg[MODEL_NU], work[MAX_WORK];
    random_direction(3, v);
    tal_status st = TAL_OK;
    test_assert_no_heap(st =
                            tal_forces_calc_derivative(m.forces, m.state, NULL, NULL, v, dg, work));
    ck_assert_int_eq(st, TAL_OK);
    for (int i = 0; i < MODEL_NU; ++i) {
        ck_assert_double_eq(dg[i], -0.3 * v[i]);
    }
    test_assert_breach(st = tal_forces_calc_derivative(m.forces, m.state, NULL, v, v, dg, work),
                       TAL_ERR_NULL, "scratch");
    model_end(&m);
}

END_TEST

START_TEST(the_state_stays_and_no_memory_is_taken)
{
    zoo z = zoo_begin(true);
    model *m = &z.m;
    tal_state *before = NULL;
    double w[MODEL_NU], dg[MODEL_NU];
    random_direction(3, w);
    ck_assert_int_eq(tal_state_create(m->system, &before, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_copy(before, m->state), TAL_OK);
    tal_status st = TAL_OK;
    test_assert_no_heap(
        st = tal_forces_calc_derivative(m->forces, m->state, z.scratch, w, w, dg, z.work));
    ck_assert_int_eq(st, TAL_OK);
    ck_assert(tal_state_is_equal(before, m->state));
    ck_assert_int_eq(tal_state_stage(m->state), TAL_STAGE_VELOCITY);
    tal_state_destroy(before);
    zoo_end(&z);
}

END_TEST

// --- errors ---

START_TEST(broken_contracts_are_reported)
{
    zoo z = zoo_begin(true);
    model *m = &z.m;
    double w[MODEL_NU] = {0.0}, dg[MODEL_NU];
    tal_force_report report;
    tal_status st = TAL_OK;
    ck_assert_uint_eq(tal_forces_derivative_work_size(NULL), 0);
    test_assert_breach(st = tal_forces_calc_derivative(NULL, m->state, NULL, w, w, dg, z.work),
                       TAL_ERR_NULL, "NULL");
    test_assert_breach(
        st = tal_forces_calc_derivative(m->forces, m->state, m->state, w, w, dg, z.work),
        TAL_ERR_BAD_VALUE, "itself");
    model other = model_begin();
    (void)tal_forces_add_gravity(other.forces, tal_v3(1.0, 0.0, 0.0));
    model_finish(&other);
    test_assert_breach(
        st = tal_forces_calc_derivative(m->forces, other.state, z.scratch, w, w, dg, z.work),
        TAL_ERR_WRONG_SYSTEM, "");
    test_assert_breach((void)tal_force_test(m->forces, other.state, z.all[0], &report, NULL),
                       TAL_ERR_WRONG_SYSTEM, "");
    model_end(&other);
    tal_state_set_t(m->state, 1.0);
    test_assert_breach(
        st = tal_forces_calc_derivative(m->forces, m->state, z.scratch, w, w, dg, z.work),
        TAL_ERR_STAGE, "Velocity");
    test_assert_breach((void)tal_force_test(m->forces, m->state, (tal_force_ix){99}, &report, NULL),
                       TAL_ERR_BAD_INDEX, "99");
    test_assert_breach((void)tal_force_test(m->forces, NULL, z.all[0], &report, NULL), TAL_ERR_NULL,
                       "state");
    ck_assert_int_eq(st, TAL_ERR_STAGE);
    zoo_end(&z);
}

END_TEST

START_TEST(an_element_that_fails_is_named)
{
    model m = model_begin();
    broken it = {FLAW_FAILS};
    const tal_force_ops ops = {.size = sizeof ops, .name = "broken", .apply = broken_apply};
    tal_force_ops telling = ops;
    telling.apply_change = broken_change;
    const tal_force_ix quiet = tal_forces_add(m.forces, "quiet", &ops, &it);
    const tal_force_ix loud = tal_forces_add(m.forces, "loud", &telling, &it);
    model_finish(&m);
    tal_force_report report = {.worst = 7.0};
    tal_error err;
    ck_assert_int_eq(tal_force_test(m.forces, m.state, quiet, &report, &err), TAL_ERR_CALLBACK);
    ck_assert_ptr_nonnull(strstr(err.message, "quiet"));
    ck_assert_double_eq(report.worst, 7.0);
    tal_state *scratch = NULL;
    ck_assert_int_eq(tal_state_create(m.system, &scratch, NULL), TAL_OK);
    double w[MODEL_NU] = {0.0}, dg[MODEL_NU], work[MAX_WORK];
    // the telling one is asked first for its forces, and without w the quiet one is
    ck_assert_int_eq(tal_forces_calc_derivative(m.forces, m.state, scratch, w, w, dg, work),
                     TAL_ERR_CALLBACK);
    ck_assert_ptr_nonnull(strstr(tal_state_error(m.state)->message, "loud"));
    ck_assert_int_eq(tal_forces_calc_derivative(m.forces, m.state, scratch, NULL, w, dg, work),
                     TAL_ERR_CALLBACK);
    ck_assert_ptr_nonnull(strstr(tal_state_error(scratch)->message, "quiet"));
    (void)loud;
    tal_state_destroy(scratch);
    model_end(&m);
}

END_TEST

// An allocator that fails once, when `left` comes to zero.
static void *faulty_alloc(void *context, size_t size)
{
    int *left = context;
    return (*left)-- == 0 ? NULL : tal_allocator_default().alloc(NULL, size);
}

static void faulty_free(void *context, void *block, size_t size)
{
    (void)context;
    tal_allocator_default().free(NULL, block, size);
}

START_TEST(the_test_of_an_element_may_find_no_memory)
{
    int left = -1;
    tal_system_def def = tal_system_def_default();
    def.allocator = (tal_allocator){faulty_alloc, faulty_free, &left};
    tal_system *system = tal_system_create(&def);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    const tal_mobod_def body = tal_mobod_def_default();
    (void)tal_matter_add_free(matter, TAL_GROUND, &body);
    const tal_force_ix damper = tal_forces_add_global_damper(forces, "air", 0.3);
    tal_state *state = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    tal_force_report report;
    tal_error err;
    int failures = 0;
    for (int n = 0; n < 3; ++n) { // its arrays and two States
        left = n;
        if (tal_force_test(forces, state, damper, &report, &err) == TAL_ERR_NO_MEMORY) ++failures;
    }
    ck_assert_int_eq(failures, 3);
    left = -1;
    ck_assert_int_eq(tal_force_test(forces, state, damper, &report, &err), TAL_OK);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("forces/derivative");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, every_built_in_element_agrees_with_itself);
    tcase_add_test(theory, a_wrong_element_is_found_out);
    tcase_add_test(theory, the_derivative_is_that_of_the_generalized_forces);
    tcase_add_test(theory, what_needs_no_differences_is_exact);
    tcase_add_test(theory, the_state_stays_and_no_memory_is_taken);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, broken_contracts_are_reported);
    tcase_add_test(errors, an_element_that_fails_is_named);
    tcase_add_test(errors, the_test_of_an_element_may_find_no_memory);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
