// Tests for study/src/integrate/integrator.c, step_loop.c and trial.c: control, failures, building.
#include "alloc_guard.h"
#include "sampler.h"
#include "talus_test.h"

#include <talus/study.h>

#include <math.h>

// --- equations in z, one subsystem: zdot = f(t, z) ---

typedef struct equations {
    int n;
    double z0[4];
    void (*rates)(double t, const double z[], double zdot[]);
    tal_status (*check)(double t, const double z[]); // NULL: always fine
    int evaluations;                                 // counted by the test's only thread
    tal_group_ix group;
} equations;

static tal_status declare(void *self, tal_system *system, tal_subsystem_ix me)
{
    equations *it = self;
    tal_group_def def = tal_group_def_default();
    def.name = "x";
    def.capacity = it->n;
    def.initial = it->z0;
    it->group = tal_system_add_group(system, me, &def);
    return TAL_OK;
}

static tal_status rates(const void *self, const tal_system *system, tal_state *state)
{
    const equations *it = self;
    const double *z = tal_state_z(state), t = tal_state_t(state);
    ++((equations *)self)->evaluations; // NOLINT: a counter for the test
    const tal_status st = it->check != NULL ? it->check(t, z) : TAL_OK;
    if (st != TAL_OK) return st;
    it->rates(t, z, tal_group_upd_dot(system, state, it->group));
    return TAL_OK;
}

static const tal_subsystem_ops equations_ops = {
    .size = sizeof equations_ops,
    .name = "equations",
    .realize_topology = declare,
    .realize_acceleration = rates,
};

typedef struct run {
    tal_system *system;
    tal_state *state;
    tal_integrator *integ;
} run;

static run begin_run(equations *it, const tal_integrator_def *def)
{
    run r = {.system = tal_system_create(NULL)};
    tal_error err = {0};
    tal_system_add_subsystem(r.system, "odes", &equations_ops, it);
    ck_assert_int_eq(tal_system_realize_topology(r.system, &err), TAL_OK);
    ck_assert_int_eq(tal_state_create(r.system, &r.state, &err), TAL_OK);
    ck_assert_msg(tal_integrator_create(r.system, def, &r.integ, &err) == TAL_OK, "%s",
                  err.message);
    return r;
}

static void end_run(run *r)
{
    tal_integrator_destroy(r->integ);
    tal_state_destroy(r->state);
    tal_system_destroy(r->system);
}

static void oscillator(double t, const double z[], double zdot[])
{
    (void)t;
    zdot[0] = z[1];
    zdot[1] = -z[0];
}

// z' = -2 t z^2, z(0) = 1 has the solution 1 / (1 + t^2): nonlinear, with t in it
static void bell(double t, const double z[], double zdot[])
{
    zdot[0] = -2.0 * t * z[0] * z[0];
}

static void square(double t, const double z[], double zdot[])
{
    (void)t;
    zdot[0] = z[0] * z[0];
}

static tal_integrator_def fixed(double h)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.fixed_step = h;
    return def;
}

static double bell_error(double h)
{
    equations it = {.n = 1, .z0 = {1.0}, .rates = bell};
    const tal_integrator_def def = fixed(h);
    run r = begin_run(&it, &def);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 2.0), TAL_OK);
    const double error = fabs(tal_state_z(r.state)[0] - 0.2);
    end_run(&r);
    return error;
}

static double oscillator_error(double h)
{
    equations it = {.n = 2, .z0 = {1.0, 0.0}, .rates = oscillator};
    const tal_integrator_def def = fixed(h);
    run r = begin_run(&it, &def);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 2.0), TAL_OK);
    const double *z = tal_state_z(r.state);
    const double error = hypot(z[0] - cos(2.0), z[1] + sin(2.0));
    end_run(&r);
    return error;
}

// Global error of a method of order p goes with h^p: halving h divides it by 2^p. At h = 1/20 the
// next term is of relative size h, so the measured order is within 0.25 of the true one.
START_TEST(merson_is_of_order_four_with_time_in_the_rates_too)
{
    const double nonlinear = log2(bell_error(0.025) / bell_error(0.0125));
    ck_assert_double_eq_tol(nonlinear, 4.0, 0.25);
    const double linear = log2(oscillator_error(0.05) / oscillator_error(0.025));
    ck_assert_double_eq_tol(linear, 4.0, 0.25);
}

END_TEST

// A tableau of one's own: the midpoint rule, order 2.
START_TEST(any_tableau_can_be_run)
{
    static const double a[] = {0.0, 0.0, 0.5, 0.0}, b[] = {0.0, 1.0}, c[] = {0.0, 0.5};
    static const tal_rk_tableau midpoint = {"midpoint", 2, 2, 0, a, b, NULL, c, NULL};
    double error[2];
    for (int k = 0; k < 2; ++k) {
        equations it = {.n = 2, .z0 = {1.0, 0.0}, .rates = oscillator};
        tal_integrator_def def = fixed(k == 0 ? 0.02 : 0.01);
        def.tableau = &midpoint;
        run r = begin_run(&it, &def);
        ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 2.0), TAL_OK);
        error[k] = hypot(tal_state_z(r.state)[0] - cos(2.0), tal_state_z(r.state)[1] + sin(2.0));
        end_run(&r);
    }
    ck_assert_double_eq_tol(log2(error[0] / error[1]), 2.0, 0.1);

    tal_integrator_def def = tal_integrator_def_default();
    def.tableau = &midpoint; // no error estimate, no fixed step
    tal_integrator *integ = NULL;
    tal_error err = {0};
    equations it = {.n = 1, .rates = square};
    run r = begin_run(&it, NULL);
    ck_assert_int_eq(tal_integrator_create(r.system, &def, &integ, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "midpoint"));
    end_run(&r);
}

END_TEST

// The oscillator keeps distances, so the global error is at most the sum of the local ones: the RMS
// norm of each, in two variables, is at most the accuracy a, which makes sqrt(2) a per step. The
// estimate itself is good to O(h): a fifth is allowed for that.
START_TEST(the_global_error_goes_with_the_accuracy)
{
    double previous = 0.0;
    for (int digits = 3; digits <= 11; digits += 2) {
        equations it = {.n = 2, .z0 = {1.0, 0.0}, .rates = oscillator};
        tal_integrator_def def = tal_integrator_def_default();
        def.accuracy = pow(10.0, -digits);
        run r = begin_run(&it, &def);
        ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 10.0), TAL_OK);
        const double *z = tal_state_z(r.state);
        const double error = hypot(z[0] - cos(10.0), z[1] + sin(10.0));
        const tal_integrator_stats stats = tal_integrator_statistics(r.integ);
        ck_assert_double_lt(error, 1.2 * sqrt(2.0) * def.accuracy * (double)stats.steps_taken);
        if (previous > 0.0) ck_assert_double_lt(error, 0.2 * previous); // at least 5x per 100x
        previous = error;
        ck_assert_uint_eq(stats.steps_attempted,
                          stats.steps_taken + stats.error_failures + stats.other_failures);
        ck_assert_uint_ge(stats.realizations, 4 * stats.steps_taken);
        end_run(&r);
    }
}

END_TEST

START_TEST(the_final_time_is_met_exactly)
{
    const double times[] = {0.1, 0.30000000000000004, 1.0, 1.0, 7.7};
    for (int k = 0; k < 2; ++k) {
        equations it = {.n = 2, .z0 = {1.0, 0.0}, .rates = oscillator};
        const tal_integrator_def def = k == 0 ? tal_integrator_def_default() : fixed(0.1);
        run r = begin_run(&it, &def);
        for (int i = 0; i < 5; ++i) {
            ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, times[i]), TAL_OK);
            ck_assert_double_eq(tal_state_t(r.state), times[i]);
            ck_assert_int_eq(tal_state_stage(r.state), TAL_STAGE_ACCELERATION);
        }
        // 77 steps of 0.1: round-off in t makes no sliver of a step
        if (k == 1) ck_assert_uint_eq(tal_integrator_statistics(r.integ).steps_taken, 77);
        end_run(&r);
    }
}

END_TEST

// What is asked for in between changes where steps end, not how long they may be.
START_TEST(a_step_cut_short_does_not_shrink_the_next)
{
    equations it = {.n = 2, .z0 = {1.0, 0.0}, .rates = oscillator};
    run r = begin_run(&it, NULL);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 5.0), TAL_OK);
    const double before = tal_integrator_statistics(r.integ).next_step;
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 5.0 + 1e-7), TAL_OK);
    ck_assert_double_ge(tal_integrator_statistics(r.integ).next_step, before);
    ck_assert_double_eq_tol(tal_integrator_statistics(r.integ).last_step, 1e-7, 1e-14);
    tal_integrator_reset(r.integ);
    ck_assert_double_eq(tal_integrator_statistics(r.integ).next_step, 0.0);
    end_run(&r);
}

END_TEST

// Near the pole of x' = x^2 the step needed is a part of what is left, 1 - t: about
// (a x)^(1/5) (1 - t) up to a factor, at most (1 - t). Giving up at 0.01 leaves at least that.
START_TEST(a_least_step_is_respected)
{
    equations it = {.n = 1, .z0 = {1.0}, .rates = square};
    tal_integrator_def def = tal_integrator_def_default();
    def.min_step = 0.01;
    run r = begin_run(&it, &def);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 2.0), TAL_ERR_STEP_TOO_SMALL);
    ck_assert_double_lt(tal_state_t(r.state), 0.99);
    ck_assert_double_ge(tal_integrator_statistics(r.integ).last_step, 0.01);
    end_run(&r);
}

END_TEST

START_TEST(a_step_limit_ends_the_run_with_the_state_at_the_last_good_step)
{
    equations it = {.n = 2, .z0 = {1.0, 0.0}, .rates = oscillator};
    tal_integrator_def def = fixed(0.01);
    def.max_steps = 10;
    run r = begin_run(&it, &def);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 1.0), TAL_ERR_STEP_LIMIT);
    ck_assert_double_eq_tol(tal_state_t(r.state), 0.1, 1e-15);
    ck_assert_double_eq_tol(tal_state_z(r.state)[0], cos(0.1), 1e-11);
    ck_assert_ptr_nonnull(strstr(tal_integrator_error(r.integ)->message, "10 steps"));
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 0.2), TAL_OK); // counts per call
    end_run(&r);
}

END_TEST

// x' = x^2, x(0) = 1 has its pole at t = 1. Near it the step needed is a fixed part of 1 - t, until
// t cannot resolve it: some hundred steps, and a global error that has moved the pole a little.
START_TEST(a_solution_that_blows_up_ends_at_its_pole)
{
    equations it = {.n = 1, .z0 = {1.0}, .rates = square};
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = 1e-6;
    run r = begin_run(&it, &def);

    const tal_status st = tal_integrator_step_to(r.integ, r.state, 2.0);

    ck_assert_int_eq(st, TAL_ERR_STEP_TOO_SMALL);
    ck_assert_int_eq(tal_integrator_error(r.integ)->status, st);
    ck_assert_double_eq_tol(tal_state_t(r.state), 1.0, 1e-3);
    ck_assert(isfinite(tal_state_z(r.state)[0]));
    ck_assert_int_lt(it.evaluations, 5000);
    const char *message = tal_integrator_error(r.integ)->message;
    ck_assert_msg(strstr(message, "z 0 of 'x' in subsystem 'odes'") != NULL, "%s", message);
    end_run(&r);
}

END_TEST

START_TEST(a_fixed_step_that_time_cannot_resolve_is_refused)
{
    equations it = {.n = 1, .z0 = {1.0}, .rates = square};
    tal_integrator_def def = tal_integrator_def_default();
    def.fixed_step = 1e-300;
    run r = begin_run(&it, &def);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 1.0), TAL_ERR_STEP_TOO_SMALL);
    ck_assert_ptr_nonnull(strstr(tal_integrator_error(r.integ)->message, "1e-300"));
    ck_assert_double_eq(tal_state_t(r.state), 0.0);
    end_run(&r);
}

END_TEST

// --- NaN and callbacks that fail ---

static void nan_after_one(double t, const double z[], double zdot[])
{
    (void)z;
    zdot[0] = 1.0;
    zdot[1] = t > 1.0 ? (double)NAN : 1.0;
}

static tal_status retry_if_far(double t, const double z[])
{
    // z' = 1: the exact solution stays below the line, a stage far ahead does not
    return t > 0.5 && t < 0.5 + 1e-5 && z[0] > 0.5 + 1e-6 ? TAL_RETRY : TAL_OK;
}

static tal_status always_retry(double t, const double z[])
{
    (void)z;
    return t > 0.25 ? TAL_RETRY : TAL_OK;
}

static tal_status breaks_at_half(double t, const double z[])
{
    (void)z;
    return t > 0.5 ? TAL_ERR_FILE : TAL_OK;
}

static void steady(double t, const double z[], double zdot[])
{
    (void)t;
    (void)z;
    zdot[0] = 1.0;
}

static void nan_below_zero(double t, const double z[], double zdot[])
{
    (void)t;
    zdot[0] = z[0] < 0.0 ? (double)NAN : -1000.0 * z[0];
}

// A first step of 1 s needs to be a thousand times shorter: five evaluations that are not numbers,
// of which eight end a run. Samples of a sweep share an integrator, and one must not be less
// patient for what another met.
START_TEST(what_a_run_met_does_not_count_after_a_reset)
{
    equations it = {.n = 1, .z0 = {1.0}, .rates = nan_below_zero};
    tal_integrator_def def = tal_integrator_def_default();
    def.initial_step = 1.0;
    run r = begin_run(&it, &def);
    const double z0 = 1.0;
    uint64_t failures[3] = {0};
    for (int k = 0; k < 3; ++k) {
        const uint64_t before = tal_integrator_statistics(r.integ).other_failures;
        ck_assert_int_eq(tal_state_set_t(r.state, 0.0), TAL_OK);
        ck_assert_int_eq(tal_state_set_z(r.state, &z0, 1), TAL_OK);
        tal_integrator_reset(r.integ);
        const tal_status st = tal_integrator_step(r.integ, r.state, 2.0);
        ck_assert_msg(st == TAL_OK, "run %d: %s", k, tal_integrator_error(r.integ)->message);
        failures[k] = tal_integrator_statistics(r.integ).other_failures - before;
        ck_assert_uint_eq(failures[k], failures[0]);
    }
    ck_assert_uint_ge(failures[0], 4);
    end_run(&r);
}

END_TEST

START_TEST(a_nan_ends_the_run_by_name_after_few_evaluations)
{
    for (int k = 0; k < 2; ++k) {
        equations it = {.n = 2, .z0 = {0.0}, .rates = nan_after_one};
        const tal_integrator_def def = k == 0 ? tal_integrator_def_default() : fixed(0.3);
        run r = begin_run(&it, &def);
        ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 3.0), TAL_ERR_NOT_FINITE);
        const char *message = tal_integrator_error(r.integ)->message;
        ck_assert_msg(strstr(message, "z 1 of 'x'") != NULL, "%s", message);
        ck_assert_double_le(tal_state_t(r.state), 1.0);
        ck_assert_double_ge(tal_state_t(r.state), k == 0 ? 0.99 : 0.9 - 1e-12);
        ck_assert_double_eq_tol(tal_state_z(r.state)[0], tal_state_t(r.state), 1e-12);
        ck_assert_int_lt(it.evaluations, 150); // up to 100 of them for the NaN (promise P13)
        end_run(&r);
    }
}

END_TEST

// A coordinate that is not matter's: qdot = rate.
typedef struct drift {
    double rate;
    tal_group_ix group;
} drift;

static tal_status declare_q(void *self, tal_system *system, tal_subsystem_ix me)
{
    tal_group_def def = tal_group_def_default();
    def.pool = TAL_POOL_Q;
    def.capacity = 1;
    ((drift *)self)->group = tal_system_add_group(system, me, &def);
    return TAL_OK;
}

static tal_status write_qdot(const void *self, const tal_system *system, tal_state *state)
{
    const drift *it = self;
    tal_group_upd_dot(system, state, it->group)[0] = it->rate * (1.0 + tal_state_t(state));
    return TAL_OK;
}

static const tal_subsystem_ops drift_ops = {
    .size = sizeof drift_ops,
    .name = "drift",
    .realize_topology = declare_q,
    .realize_velocity = write_qdot,
};

// q = rate (t + t^2 / 2): with 1e308 the rate, rate (1 + t), leaves the range of numbers after 0.8
// s.
START_TEST(a_coordinate_that_overflows_is_named)
{
    for (int k = 0; k < 2; ++k) {
        drift it = {.rate = k == 0 ? 1.0 : 1e308};
        tal_system *system = tal_system_create(NULL);
        tal_state *state = NULL;
        tal_integrator *integ = NULL;
        tal_integrator_def def = k == 0 ? tal_integrator_def_default() : fixed(0.1);
        tal_system_add_subsystem(system, NULL, &drift_ops, &it);
        ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
        ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
        ck_assert_int_eq(tal_integrator_create(system, &def, &integ, NULL), TAL_OK);
        const tal_status st = tal_integrator_step_to(integ, state, 2.0);
        ck_assert_int_eq(st, k == 0 ? TAL_OK : TAL_ERR_NOT_FINITE);
        if (k == 0) {
            ck_assert_double_eq_tol(tal_state_q(state)[0], 4.0, 1e-12);
        } else {
            const char *message = tal_integrator_error(integ)->message;
            ck_assert_msg(strstr(message, "coordinate 0 of 'group0' in subsystem 'drift'") != NULL,
                          "%s", message);
            ck_assert_double_eq_tol(tal_state_t(state), 0.7, 1e-12);
        }
        tal_integrator_destroy(integ);
        tal_state_destroy(state);
        tal_system_destroy(system);
    }
}

END_TEST

START_TEST(a_callback_that_asks_for_smaller_steps_gets_them)
{
    equations it = {.n = 1, .z0 = {0.0}, .rates = steady, .check = retry_if_far};
    run r = begin_run(&it, NULL);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 0.3), TAL_OK);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 1.0), TAL_OK);
    ck_assert_double_eq_tol(tal_state_z(r.state)[0], 1.0, 1e-12);
    end_run(&r);

    it = (equations){.n = 1, .z0 = {0.0}, .rates = steady, .check = always_retry};
    r = begin_run(&it, NULL);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 1.0), TAL_ERR_CALLBACK);
    ck_assert_double_eq_tol(tal_state_t(r.state), 0.25, 1e-14);
    ck_assert_uint_gt(tal_integrator_statistics(r.integ).other_failures, 0);
    ck_assert_int_lt(it.evaluations, 3000);
    end_run(&r);

    // with fixed steps there is nothing to try
    const tal_integrator_def def = fixed(0.1);
    r = begin_run(&it, &def);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 1.0), TAL_ERR_CALLBACK);
    ck_assert_double_eq_tol(tal_state_t(r.state), 0.2, 1e-15);
    end_run(&r);
}

END_TEST

START_TEST(a_failure_that_no_step_size_helps_is_passed_on_at_once)
{
    equations it = {.n = 1, .z0 = {0.0}, .rates = steady, .check = breaks_at_half};
    tal_integrator_def def = tal_integrator_def_default();
    def.max_step = 0.2;
    run r = begin_run(&it, &def);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 3.0), TAL_ERR_FILE);
    ck_assert_uint_eq(tal_integrator_statistics(r.integ).other_failures, 1);
    ck_assert_ptr_nonnull(strstr(tal_integrator_error(r.integ)->message, "'odes'"));
    ck_assert_double_le(tal_state_t(r.state), 0.5);
    ck_assert_int_eq(tal_state_stage(r.state), TAL_STAGE_ACCELERATION); // as it was
    end_run(&r);
}

END_TEST

// --- sampled variables ---

// z' = s, where s is the time at which the step began.
// Four steps of 1/4: z = (0 + 1/4 + 2/4 + 3/4) / 4. With the rates from before sampling it would be
// the sum of the first three.
START_TEST(the_rates_of_a_step_belong_to_the_values_it_began_with)
{
    sampler it = {.s = {-1}};
    tal_system *system = tal_system_create(NULL);
    tal_state *state = NULL;
    tal_integrator *integ = NULL;
    tal_integrator_def def = fixed(0.25);
    def.tableau = tal_rk_euler();
    tal_system_add_subsystem(system, NULL, &sampler_ops, &it);
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    ck_assert_int_eq(tal_integrator_create(system, &def, &integ, NULL), TAL_OK);
    ck_assert_int_eq(tal_integrator_step_to(integ, state, 1.0), TAL_OK);
    ck_assert_double_eq(tal_state_z(state)[0], 0.375);
    tal_integrator_destroy(integ);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

END_TEST

// --- weights ---

// Twice the weight means half the error allowed; an absolute z of size 1000 is held 1000 times as
// tightly as a relative one.
START_TEST(weights_and_relative_accuracy_decide_the_steps)
{
    uint64_t steps[4];
    for (int k = 0; k < 4; ++k) {
        equations it = {.n = 2, .z0 = {1000.0, 0.0}, .rates = oscillator};
        tal_integrator_def def = tal_integrator_def_default();
        def.accuracy = 1e-6;
        def.absolute_z = k == 1;
        def.infinity_norm = k == 3;
        run r = begin_run(&it, &def);
        const double weights[] = {1e-5, 1e-5};
        if (k == 2) tal_state_set_weights(r.state, TAL_POOL_Z, weights, 2);
        ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 10.0), TAL_OK);
        steps[k] = tal_integrator_statistics(r.integ).steps_taken;
        end_run(&r);
    }
    // linear, so the error goes with h^5: 1000^(1/5) = 4 times the steps, but only while |z| is
    // large
    ck_assert_uint_gt(steps[1], 2 * steps[0]);
    ck_assert_uint_lt(2 * steps[2], steps[0]);
    ck_assert_uint_gt(steps[3], steps[0]);
}

END_TEST

// --- building and contracts ---

START_TEST(a_bad_def_is_refused_with_the_value)
{
    equations it = {.n = 1, .rates = square};
    run r = begin_run(&it, NULL);
    tal_integrator *integ = NULL;
    tal_error err = {0};
    const double bad[] = {(double)NAN, -1.0, (double)INFINITY};
    for (int field = 0; field < 6; ++field) {
        for (int k = 0; k < 3; ++k) {
            tal_integrator_def def = tal_integrator_def_default();
            double *const fields[] = {&def.accuracy, &def.fixed_step, &def.initial_step,
                                      &def.min_step, &def.max_step,   &def.constraint_tolerance};
            *fields[field] = bad[k];
            ck_assert_int_eq(tal_integrator_create(r.system, &def, &integ, &err),
                             TAL_ERR_BAD_VALUE);
            ck_assert_ptr_null(integ);
        }
    }
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = 0.0;
    ck_assert_int_eq(tal_integrator_create(r.system, &def, &integ, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "accuracy"));
    def.accuracy = 1e-16; // steps that change nothing would meet it, from rest
    ck_assert_int_eq(tal_integrator_create(r.system, &def, &integ, &err), TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(err.message,
                     "accuracy is 1e-16: in double precision it must be at least 2.22045e-16");
    def = tal_integrator_def_default();
    def.max_steps = -1;
    ck_assert_int_eq(tal_integrator_create(r.system, &def, &integ, &err), TAL_ERR_BAD_VALUE);
    def = tal_integrator_def_default();
    def.min_step = 0.2;
    def.max_step = 0.1;
    ck_assert_int_eq(tal_integrator_create(r.system, &def, &integ, NULL), TAL_ERR_BAD_VALUE);
    def.tableau = NULL;
    ck_assert_int_eq(tal_integrator_create(r.system, &def, &integ, NULL), TAL_ERR_NULL);
    ck_assert_int_eq(tal_integrator_create(NULL, NULL, &integ, &err), TAL_ERR_NULL);
    test_assert_refused(tal_integrator_create(r.system, NULL, NULL, &err), TAL_ERR_NULL, "out");
    end_run(&r);

    tal_system *early = tal_system_create(NULL);
    ck_assert_int_eq(tal_integrator_create(early, NULL, &integ, &err), TAL_ERR_TOPOLOGY);
    tal_system_destroy(early);
}

END_TEST

START_TEST(broken_contracts_are_reported)
{
    equations it = {.n = 1, .rates = square};
    run r = begin_run(&it, NULL);
    tal_integrator_destroy(NULL);
    tal_integrator_reset(NULL);
    ck_assert_int_eq(tal_integrator_error(NULL)->status, TAL_ERR_NULL);
    ck_assert_int_eq(tal_integrator_error(r.integ)->status, TAL_OK);
    test_assert_breach((void)tal_integrator_statistics(NULL), TAL_ERR_NULL, "integrator");
    test_assert_refused(tal_integrator_step_to(NULL, r.state, 1.0), TAL_ERR_NULL, "integr");
    test_assert_refused(tal_integrator_step_to(r.integ, NULL, 1.0), TAL_ERR_NULL, "State");
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, (double)NAN), TAL_ERR_BAD_VALUE);
    tal_state_set_t(r.state, 2.0);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 1.0), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_integrator_error(r.integ)->message, "from t = 2"));

    equations more = {.n = 2, .rates = oscillator};
    run other = begin_run(&more, NULL);
    tal_status st = TAL_OK;
    test_assert_breach(st = tal_integrator_step_to(r.integ, other.state, 1.0), TAL_ERR_WRONG_SYSTEM,
                       "");
    ck_assert_int_eq(st, TAL_ERR_WRONG_SYSTEM);
    // the failure of a setter whose status was ignored
    const double bad = (double)NAN;
    (void)tal_state_set_z(r.state, &bad, 1);
    ck_assert_int_eq(tal_integrator_step_to(r.integ, r.state, 3.0), TAL_ERR_NOT_FINITE);
    end_run(&r);
    end_run(&other);
}

END_TEST

// --- memory and determinism ---

START_TEST(stepping_touches_no_heap)
{
    equations it = {.n = 1, .z0 = {1.0}, .rates = square};
    run r = begin_run(&it, NULL);
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_integrator_step_to(r.integ, r.state, 0.9));
    ck_assert_int_eq(st, TAL_OK);
    test_assert_no_heap(st = tal_integrator_step_to(r.integ, r.state, 2.0)); // fails, by the pole
    ck_assert_int_eq(st, TAL_ERR_STEP_TOO_SMALL);
    end_run(&r);
}

END_TEST

START_TEST(memory_may_run_out_at_create)
{
    tal_system_def def = tal_system_def_default();
    test_heap heap = {0};
    def.allocator = test_heap_allocator(&heap);
    tal_system *system = tal_system_create(&def);
    equations it = {.n = 1, .rates = square};
    tal_system_add_subsystem(system, "odes", &equations_ops, &it);
    tal_error err = {0};
    ck_assert_int_eq(tal_system_realize_topology(system, &err), TAL_OK);
    for (int n = 1; n <= 3; ++n) {
        tal_integrator *integ = NULL;
        heap.refuse_at = heap.calls + n;
        const tal_status st = tal_integrator_create(system, NULL, &integ, &err);
        ck_assert_int_eq(st, n <= 2 ? TAL_ERR_NO_MEMORY : TAL_OK);
        tal_integrator_destroy(integ);
    }
    tal_system_destroy(system);
}

END_TEST

START_TEST(a_system_with_nothing_in_it_is_stepped_by_every_method)
{
    // twice: Newton's method with either linear solver, for those that have it
    for (int k = 0; k <= 2 * TAL_METHOD_ARKODE_DIRK + 1; ++k) {
        if (k == 2 * TAL_METHOD_IDA + 1) continue; // takes the dense one only
        tal_system *system = tal_system_create(NULL);
        (void)tal_matter_create(system);
        tal_state *state = NULL;
        tal_integrator *integ = NULL;
        ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
        ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
        tal_integrator_def def = tal_integrator_def_default();
        def.method = (tal_method)(k / 2);
        def.linear_solver = k % 2 == 0 ? TAL_LINEAR_DENSE : TAL_LINEAR_GMRES;
        tal_error err = {0};
        ck_assert_msg(tal_integrator_create(system, &def, &integ, &err) == TAL_OK, "%s",
                      err.message);
        ck_assert_int_eq(tal_integrator_step_to(integ, state, 1.0), TAL_OK);
        ck_assert_double_eq(tal_state_t(state), 1.0);
        tal_integrator_destroy(integ);
        tal_state_destroy(state);
        tal_system_destroy(system);
    }
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/integrator");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, merson_is_of_order_four_with_time_in_the_rates_too);
    tcase_add_test(theory, any_tableau_can_be_run);
    tcase_add_test(theory, the_global_error_goes_with_the_accuracy);
    tcase_add_test(theory, the_final_time_is_met_exactly);
    tcase_add_test(theory, a_step_cut_short_does_not_shrink_the_next);
    tcase_add_test(theory, a_least_step_is_respected);
    tcase_add_test(theory, weights_and_relative_accuracy_decide_the_steps);
    tcase_add_test(theory, the_rates_of_a_step_belong_to_the_values_it_began_with);
    tcase_add_test(theory, a_system_with_nothing_in_it_is_stepped_by_every_method);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, a_step_limit_ends_the_run_with_the_state_at_the_last_good_step);
    tcase_add_test(errors, a_solution_that_blows_up_ends_at_its_pole);
    tcase_add_test(errors, a_fixed_step_that_time_cannot_resolve_is_refused);
    tcase_add_test(errors, what_a_run_met_does_not_count_after_a_reset);
    tcase_add_test(errors, a_nan_ends_the_run_by_name_after_few_evaluations);
    tcase_add_test(errors, a_coordinate_that_overflows_is_named);
    tcase_add_test(errors, a_callback_that_asks_for_smaller_steps_gets_them);
    tcase_add_test(errors, a_failure_that_no_step_size_helps_is_passed_on_at_once);
    tcase_add_test(errors, a_bad_def_is_refused_with_the_value);
    tcase_add_test(errors, broken_contracts_are_reported);
    suite_add_tcase(suite, errors);
    TCase *alloc = tcase_create("alloc");
    tcase_add_test(alloc, stepping_touches_no_heap);
    tcase_add_test(alloc, memory_may_run_out_at_create);
    suite_add_tcase(suite, alloc);
    return test_run(suite);
}
