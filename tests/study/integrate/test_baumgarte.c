// Tests for study/src/integrate/baumgarte.c, and for projection at every step.
#include "integrate/integrator_internal.h"
#include "study_model.h"

// G udot - b = -(2 alpha verr + alpha^2 perr) off the constraints: a rod too long and getting
// longer, and a speed that is off. All of size 10, so round-off is 1e-14. An acceleration that is
// asked for has no error to take away.
START_TEST(accelerations_take_errors_away)
{
    tal_integrator_def def = study_def(TAL_METHOD_RUNGE_KUTTA, 1e-6);
    def.baumgarte = 7.0;
    study s = study_begin(tal_v3(0.0, -9.81, 0.0));
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass = tal_mass_props_point(2.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_translation(s.matter, TAL_GROUND, &bob);
    const tal_constraint_def rod = tal_constraint_between(TAL_GROUND, body);
    (void)tal_constraint_add_rod(s.matter, &rod, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    const tal_constraint_def steady = tal_constraint_on(body, 2);
    (void)tal_constraint_add_constant_speed(s.matter, &steady, 0.5);
    const tal_constraint_def push =
        tal_constraint_on(tal_matter_add_slider(s.matter, TAL_GROUND, &bob), 0);
    (void)tal_constraint_add_constant_acceleration(s.matter, &push, 1.5);
    study_finish(&s, &def);
    const double q[] = {1.1, 0.0, 0.0, 0.0}, u[] = {0.3, 1.0, 0.7, 0.4};
    ck_assert_int_eq(tal_state_set_q(s.state, q, 4), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(s.state, u, 4), TAL_OK);
    double ydot[8], aerr[3];
    for (int k = 0; k < 2; ++k) { // again: nothing is left over from the first time
        ck_assert_int_eq(tali_problem_evaluate(&s.integ->problem, s.state, ydot), TAL_OK);
    }
    ck_assert_double_eq_tol(ydot[4 + 3], 1.5, 1e-14);
    ck_assert_int_eq(tal_matter_calc_constraint_aerr(s.matter, s.state, ydot + 4, aerr), TAL_OK);
    ck_assert_double_eq_tol(aerr[0], -(2.0 * 7.0 * 0.3 + 49.0 * 0.1), 1e-12);
    ck_assert_double_eq_tol(aerr[1], -7.0 * 0.2, 1e-12);
    study_end(&s);
}

END_TEST

// The same without a speed between the two: what is asked of the slider stays apart from the errors
// of the rod.
START_TEST(an_acceleration_behind_a_rod_keeps_its_value)
{
    tal_integrator_def def = study_def(TAL_METHOD_RUNGE_KUTTA, 1e-6);
    def.baumgarte = 7.0;
    study s = study_begin(tal_v3(0.0, -9.81, 0.0));
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass = tal_mass_props_point(2.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_translation(s.matter, TAL_GROUND, &bob);
    const tal_constraint_def rod = tal_constraint_between(TAL_GROUND, body);
    (void)tal_constraint_add_rod(s.matter, &rod, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    const tal_constraint_def push =
        tal_constraint_on(tal_matter_add_slider(s.matter, TAL_GROUND, &bob), 0);
    (void)tal_constraint_add_constant_acceleration(s.matter, &push, 1.5);
    study_finish(&s, &def);
    const double q[] = {1.1, 0.0, 0.0, 0.0}, u[] = {0.3, 1.0, 0.7, 0.4};
    ck_assert_int_eq(tal_state_set_q(s.state, q, 4), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(s.state, u, 4), TAL_OK);
    double ydot[8], aerr[2];
    for (int k = 0; k < 2; ++k) {
        ck_assert_int_eq(tali_problem_evaluate(&s.integ->problem, s.state, ydot), TAL_OK);
    }
    ck_assert_double_eq_tol(ydot[4 + 3], 1.5, 1e-14);
    ck_assert_int_eq(tal_matter_calc_constraint_aerr(s.matter, s.state, ydot + 4, aerr), TAL_OK);
    ck_assert_double_eq_tol(aerr[0], -(2.0 * 7.0 * 0.3 + 49.0 * 0.1), 1e-12);
    study_end(&s);
}

END_TEST

// beta in the place of alpha where perr is: a rod too long and getting longer, as above.
START_TEST(position_errors_have_a_rate_of_their_own)
{
    tal_integrator_def def = study_def(TAL_METHOD_RUNGE_KUTTA, 1e-6);
    def.baumgarte = 7.0;
    def.baumgarte_beta = 20.0;
    study s = study_rod_pendulum(&def);
    const double q[] = {1.1, 0.0, 0.0}, u[] = {0.3, 1.0, 0.0};
    ck_assert_int_eq(tal_state_set_q(s.state, q, 3), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(s.state, u, 3), TAL_OK);
    double ydot[6], aerr[1];
    ck_assert_int_eq(tali_problem_evaluate(&s.integ->problem, s.state, ydot), TAL_OK);
    ck_assert_int_eq(tal_matter_calc_constraint_aerr(s.matter, s.state, ydot + 3, aerr), TAL_OK);
    ck_assert_double_eq_tol(aerr[0], -(2.0 * 7.0 * 0.3 + 400.0 * 0.1), 1e-12);
    study_end(&s);
}

END_TEST

// Not projected: errors are there, and of the size of what steps of accuracy 1e-6 add within the
// time 1/alpha, at most some 20 of them.
START_TEST(stabilized_runs_stay_near_the_constraints)
{
    const tal_method methods[] = {TAL_METHOD_RUNGE_KUTTA, TAL_METHOD_CVODE_BDF,
                                  TAL_METHOD_ARKODE_EXPLICIT};
    for (int k = 0; k < 6; ++k) {
        tal_integrator_def def = study_def(methods[k % 3], 1e-6);
        def.baumgarte = 10.0;
        if (k >= 3) {
            def.baumgarte_beta = 15.0;
            def.tableau = tal_rk_fehlberg();
        }
        study s = study_rod_pendulum(&def);
        study_step_to(&s, 2.0 * STUDY_PENDULUM_PERIOD);
        ck_assert_double_gt(study_constraint_error(&s), 1e-12);
        ck_assert_double_lt(study_constraint_error(&s), 10.0 * 20.0 * 1e-6);
        study_end(&s);
    }
}

END_TEST

START_TEST(a_stabilized_run_starts_on_the_constraints)
{
    tal_integrator_def def = study_def(TAL_METHOD_RUNGE_KUTTA, 1e-6);
    def.baumgarte = 10.0;
    study s = study_rod_pendulum(&def);
    (void)tal_body_set_q(s.matter, s.state, (tal_body_ix){1}, 0, 1.5);
    study_step_to(&s, 0.0);
    ck_assert_double_lt(study_constraint_error(&s), 1e-7);
    study_end(&s);
}

END_TEST

START_TEST(without_constraints_there_is_nothing_to_stabilize)
{
    tal_integrator_def def = study_def(TAL_METHOD_RUNGE_KUTTA, 1e-8);
    double y[2][2];
    for (int k = 0; k < 2; ++k) {
        def.baumgarte = k == 0 ? 0.0 : 10.0;
        study s = study_pin_pendulum(&def);
        study_step_to(&s, 1.0);
        memcpy(y[k], tal_state_y(s.state), sizeof y[k]);
        study_end(&s);
    }
    ck_assert_int_eq(memcmp(y[0], y[1], sizeof y[0]), 0);
    study_odes it = {.n = 1, .z0 = {0.1}, .rates = study_muscle};
    study s = study_of_odes(&it, &def); // no matter at all
    study_step_to(&s, 1e-5);
    study_end(&s);
}

END_TEST

// The rod is met to round-off at the end of every step, whatever the tolerance.
START_TEST(projection_can_be_had_at_every_step)
{
    tal_integrator_def def = study_def(TAL_METHOD_RUNGE_KUTTA, 1e-3);
    double worst[2] = {0.0, 0.0};
    for (int k = 0; k < 2; ++k) {
        def.project_every_step = k == 1;
        study s = study_rod_pendulum(&def);
        while (tal_state_t(s.state) < 1.0) {
            ck_assert_int_eq(tal_integrator_step(s.integ, s.state, 1.0), TAL_OK);
            worst[k] = fmax(worst[k], study_constraint_error(&s));
        }
        study_end(&s);
    }
    ck_assert_double_gt(worst[0], 1e-6);
    ck_assert_double_lt(worst[1], 1e-7); // one iteration of Newton's method from 1e-4
}

END_TEST

START_TEST(a_bad_rate_is_refused)
{
    study s = study_rod_pendulum(NULL);
    const double bad[] = {-1.0, (double)NAN, (double)INFINITY};
    for (int k = 0; k < 3; ++k) {
        tal_integrator_def def = study_def(TAL_METHOD_RUNGE_KUTTA, 1e-3);
        tal_error err = {0};
        def.baumgarte = bad[k];
        ck_assert_int_eq(tal_integrator_create(s.system, &def, &s.integ, &err), TAL_ERR_BAD_VALUE);
        ck_assert_msg(strstr(err.message, "baumgarte is") != NULL, "%s", err.message);
    }
    tal_integrator_def def = study_def(TAL_METHOD_RUNGE_KUTTA, 1e-3);
    tal_error err = {0};
    def.baumgarte_beta = 2.0; // alone
    ck_assert_int_eq(tal_integrator_create(s.system, &def, &s.integ, &err), TAL_ERR_BAD_VALUE);
    ck_assert_msg(strstr(err.message, "baumgarte_beta is 2, but baumgarte is 0") != NULL, "%s",
                  err.message);
    study_end(&s);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("baumgarte");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, accelerations_take_errors_away);
    tcase_add_test(theory, an_acceleration_behind_a_rod_keeps_its_value);
    tcase_add_test(theory, position_errors_have_a_rate_of_their_own);
    tcase_add_test(theory, stabilized_runs_stay_near_the_constraints);
    tcase_add_test(theory, a_stabilized_run_starts_on_the_constraints);
    tcase_add_test(theory, without_constraints_there_is_nothing_to_stabilize);
    tcase_add_test(theory, projection_can_be_had_at_every_step);
    tcase_add_test(theory, a_bad_rate_is_refused);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
