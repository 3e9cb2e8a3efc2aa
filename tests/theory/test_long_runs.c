// Long runs (PROMISES P7, P16): energy, momentum and quaternions after a million steps, and the
// same bytes whenever a run is repeated. A thousand steps otherwise.
#include "stepper_model.h"

#include <math.h>
#include <stdlib.h>

static long num_steps(void)
{
    return getenv("TALUS_SOAK") != NULL ? 1000000 : 1000;
}

static void take_steps(stepper_model *m, long n)
{
    for (long k = 0; k < n; ++k) {
        ck_assert_msg(tal_integrator_step(m->integ, m->state, 1e9) == TAL_OK, "%s",
                      tal_integrator_error(m->integ)->message);
    }
}

// Links of 1 kg and 1 m on ball joints, or on pins about z.
static stepper_model begin_chain(int n, bool balls, const tal_integrator_def *def)
{
    stepper_model m = begin_stepper_model(9.81);
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = tal_mass_props_rod(1.0, tal_v3(0.02, 0.5, 0.0));
    link.X_BM = tal_xf_from_p(tal_v3(0.0, 0.5, 0.0));
    tal_body_ix body = TAL_GROUND;
    for (int i = 0; i < n; ++i) {
        link.X_PF = tal_xf_from_p(tal_v3(0.0, i == 0 ? 0.0 : -0.5, 0.0));
        body = balls ? tal_matter_add_ball(m.matter, body, &link)
                     : tal_matter_add_pin(m.matter, body, &link);
    }
    finish_stepper_model(&m, def, NULL);
    return m;
}

// |dE/E| <= `bound` after 1e6 steps at accuracy 1e-10: E is what the motion has gained over hanging
// still. The cost of a step does not grow.
static void keeps_energy(stepper_model *m, double scale, double bound)
{
    ck_assert_int_eq(tal_integrator_step(m->integ, m->state, 0.0), TAL_OK);
    const double before = tal_system_energy(m->system, m->state);
    const uint64_t none = tal_integrator_statistics(m->integ).realizations;
    take_steps(m, num_steps() / 2);
    const uint64_t half = tal_integrator_statistics(m->integ).realizations;
    take_steps(m, num_steps() / 2);
    const uint64_t all = tal_integrator_statistics(m->integ).realizations;
    const double drift = fabs(tal_system_energy(m->system, m->state) - before);
    ck_assert_double_le(drift, bound * scale);
    // a motion that is livelier later on costs a few more
    ck_assert_double_le((double)(all - half), 1.2 * (double)(half - none));
}

// Its momentum in the world changes by at most the second bound, relative to itself.
static void run_top(const tal_integrator_def *def, double bound, double of_momentum)
{
    stepper_model m = begin_stepper_model(0.0);
    (void)add_top(&m);
    finish_stepper_model(&m, def, NULL);
    const double u[] = {0.01, 5.0, 0.01};
    (void)tal_state_set_u(m.state, u, 3);
    ck_assert_int_eq(tal_integrator_step(m.integ, m.state, 0.0), TAL_OK);
    const tal_vec3 L0 = tal_matter_momentum(m.matter, m.state).w;
    keeps_energy(&m, tal_matter_kinetic_energy(m.matter, m.state), bound);
    const tal_vec3 L1 = tal_matter_momentum(m.matter, m.state).w;
    ck_assert_double_le(tal_v3_norm(tal_v3_sub(L1, L0)), of_momentum * tal_v3_norm(L0));
    const double *q = tal_state_q(m.state);
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    ck_assert_double_le(fabs(length - 1.0), 1e-12);
    end_stepper_model(&m);
}

static void run_balls(const tal_integrator_def *def, double bound)
{
    stepper_model m = begin_chain(2, true, def);
    const double u[] = {1.0, 0.5, 3.0, -1.0, 0.3, 2.0};
    (void)tal_state_set_u(m.state, u, 6);
    keeps_energy(&m, 10.0, bound);
    end_stepper_model(&m);
}

static void run_chain(const tal_integrator_def *def, double bound)
{
    stepper_model m = begin_chain(5, false, def);
    const double q[] = {1.0, 0.5, 0.3, -0.2, 0.4};
    (void)tal_state_set_q(m.state, q, 5);
    keeps_energy(&m, 50.0, bound);
    end_stepper_model(&m);
}

// Errors of 1e-10 a step that have no common sign.
START_TEST(a_free_top_keeps_energy_momentum_and_length)
{
    const tal_integrator_def def = dormand_prince(1e-10);
    run_top(&def, 1e-6, 1e-8);
}

END_TEST

START_TEST(pendulums_keep_their_energy)
{
    const tal_integrator_def def = dormand_prince(1e-10);
    run_balls(&def, 1e-6);
    run_chain(&def, 1e-6);
}

END_TEST

static tal_integrator_def of_method(tal_method method)
{
    tal_integrator_def def = dormand_prince(1e-10);
    def.method = method;
    return def;
}

START_TEST(methods_of_several_steps_keep_energy_for_long)
{
    const tal_method methods[] = {TAL_METHOD_CVODE_BDF, TAL_METHOD_IDA};
    const tal_integrator_def def = of_method(methods[_i]);
    run_top(&def, 1e-5, 1e-8);
    run_balls(&def, 1e-5);
    run_chain(&def, 1e-5);
}

END_TEST

// They have no projection, which quaternions need.
START_TEST(adams_methods_keep_energy_for_long)
{
    const tal_integrator_def def = of_method(TAL_METHOD_CVODE_ADAMS);
    run_chain(&def, 1e-5);
}

END_TEST

START_TEST(a_long_run_repeated_gives_the_same_bytes)
{
    const tal_integrator_def def = dormand_prince(1e-6);
    stepper_model m[2];
    for (int k = 0; k < 2; ++k) {
        m[k] = begin_chain(2, true, &def);
        const double u[] = {1.0, 0.5, 3.0, -1.0, 0.3, 2.0};
        (void)tal_state_set_u(m[k].state, u, 6);
        take_steps(&m[k], num_steps());
    }
    ck_assert(tal_state_is_equal(m[0].state, m[1].state));
    end_stepper_model(&m[0]);
    end_stepper_model(&m[1]);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("theory/long_runs");
    TCase *tests = tcase_create("long runs");
    tcase_set_timeout(tests, 14400.0);
    tcase_add_test(tests, a_free_top_keeps_energy_momentum_and_length);
    tcase_add_test(tests, pendulums_keep_their_energy);
    tcase_add_loop_test(tests, methods_of_several_steps_keep_energy_for_long, 0, 2);
    tcase_add_test(tests, adams_methods_keep_energy_for_long);
    tcase_add_test(tests, a_long_run_repeated_gives_the_same_bytes);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
