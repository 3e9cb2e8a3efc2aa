// Tests for study/src/sundials/arkode.c and arkode_tables.c. What every method
// has to do is in tests/study/integrate/test_battery.c.
#include "study_model.h"
#include "sundials/sundials_internal.h"

#include <stdio.h>
// after stdio: ARKODE's header needs FILE
#include <arkode/arkode_butcher_dirk.h>
#include <arkode/arkode_butcher_erk.h>

static tal_integrator_def explicit_of(int order, double accuracy)
{
    tal_integrator_def def = study_def(TAL_METHOD_ARKODE_EXPLICIT, accuracy);
    def.order = order;
    return def;
}

static tal_integrator_def implicit_of(int order, double accuracy)
{
    tal_integrator_def def = study_def(TAL_METHOD_ARKODE_DIRK, accuracy);
    def.order = order;
    return def;
}

// --- tables ---

static void compare(const tali_sun_butcher *mine, ARKodeButcherTable theirs)
{
    ck_assert_ptr_nonnull(theirs);
    ck_assert_int_eq(mine->order, theirs->q);
    ck_assert_int_eq(mine->embedded, theirs->p);
    ck_assert_int_eq(mine->stages, theirs->stages);
    const double *a = mine->a;
    for (int i = 0; i < mine->stages; ++i) {
        ck_assert_double_eq(mine->b[i], theirs->b[i]);
        ck_assert_double_eq(mine->c[i], theirs->c[i]);
        ck_assert_double_eq(mine->d[i], theirs->d[i]);
        for (int j = 0; j <= i; ++j) {
            ck_assert_double_eq(*a++, theirs->A[i][j]);
        }
    }
    ARKodeButcherTable_Free(theirs);
}

START_TEST(tables_are_those_of_arkode_bit_for_bit)
{
    static const ARKODE_ERKTableID erk[] = {ARKODE_HEUN_EULER_2_1_2, ARKODE_BOGACKI_SHAMPINE_4_2_3,
                                            ARKODE_ZONNEVELD_5_3_4,  ARKODE_DORMAND_PRINCE_7_4_5,
                                            ARKODE_VERNER_8_5_6,     ARKODE_ERK_NONE,
                                            ARKODE_FEHLBERG_13_7_8};
    static const ARKODE_DIRKTableID dirk[] = {ARKODE_SDIRK_2_1_2, ARKODE_ESDIRK325L2SA_5_2_3,
                                              ARKODE_ESDIRK436L2SA_6_3_4,
                                              ARKODE_ESDIRK547L2SA2_7_4_5};
    for (int order = 2; order <= 8; ++order) {
        const tali_sun_butcher *mine = tali_sun_butcher_of_order(false, order);
        if (order == 7) {
            ck_assert_ptr_null(mine);
        } else {
            compare(mine, ARKodeButcherTable_LoadERK(erk[order - 2]));
        }
    }
    for (int order = 2; order <= 5; ++order) {
        compare(tali_sun_butcher_of_order(true, order),
                ARKodeButcherTable_LoadDIRK(dirk[order - 2]));
    }
}

END_TEST

// --- accuracy ---

static void oscillate(double t, const double z[], double zdot[])
{
    (void)t;
    zdot[0] = 10.0 * z[1];
    zdot[1] = -10.0 * z[0];
}

// Of the orders that test_battery.c leaves out.
START_TEST(errors_of_other_orders_are_proportional_to_the_accuracy)
{
    const tal_integrator_def defs[] = {explicit_of(4, 1.0), explicit_of(6, 1.0),
                                       implicit_of(5, 1.0)};
    for (int k = 0; k < 3; ++k) {
        study_check_proportional(defs[k], false);
        study_check_proportional(defs[k], true);
    }
}

END_TEST

// Linear equations have matrices that are exact, which is not a reason to trust the first change of
// Newton's method when the step has become longer since: z'' = -100 z for 1 s, to which no error
// adds up but those of steps. GMRES, which has no matrix to keep, is the measure.
START_TEST(exact_matrices_do_not_mislead_newtons_method)
{
    for (int order = 3; order <= 5; ++order) {
        double error[2];
        for (int k = 0; k < 2; ++k) {
            tal_integrator_def def = implicit_of(order, 1e-8);
            def.linear_solver = k == 0 ? TAL_LINEAR_GMRES : TAL_LINEAR_DENSE;
            study_odes it = {.n = 2, .z0 = {1.0, 0.0}, .rates = oscillate};
            study s = study_of_odes(&it, &def);
            study_step_to(&s, 1.0);
            error[k] = fabs(tal_state_z(s.state)[0] - cos(10.0));
            study_end(&s);
        }
        ck_assert_double_le(error[1], 2.0 * error[0] + 1e-8);
    }
}

END_TEST

// The polynomial of degree 5 is as good as steps of order 6, some 50 of them. Other orders are in
// test_battery.c.
START_TEST(dense_output_of_order_6_is_as_accurate_as_steps)
{
    study_check_dense(explicit_of(6, 1e-8), 5e-8);
}

END_TEST

// q = q0 + u0 t + g t^2 / 2 on a slider, exact for every order. Steps before a jump of u say
// nothing about those after it, within the first of them and later.
START_TEST(dense_output_does_not_look_past_a_jump)
{
    tal_integrator_def def = explicit_of(5, 1e-6);
    def.max_step = 0.3; // so that there are three after it
    study s = study_begin(tal_v3(2.0, 0.0, 0.0));
    tal_mobod_def block = tal_mobod_def_default();
    block.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_slider(s.matter, TAL_GROUND, &block);
    study_finish(&s, &def);
    tal_state *between = NULL;
    ck_assert_int_eq(tal_state_create(s.system, &between, NULL), TAL_OK);
    study_step_to(&s, 1.0);
    (void)tal_body_set_u(s.matter, s.state, body, 0, -7.0);
    for (int k = 0; k < 3; ++k) {
        ck_assert_int_eq(tal_integrator_step(s.integ, s.state, 2.0), TAL_OK);
        const double end = tal_state_t(s.state);
        const double t = end - 0.5 * tal_integrator_statistics(s.integ).last_step, d = t - 1.0;
        ck_assert_int_eq(tal_integrator_interpolate(s.integ, s.state, t, between), TAL_OK);
        ck_assert_double_eq_tol(tal_state_q(between)[0], 1.0 - 7.0 * d + d * d, 1e-12);
        ck_assert_double_eq_tol(tal_state_u(between)[0], -7.0 + 2.0 * d, 1e-12);
    }
    tal_state_destroy(between);
    study_end(&s);
}

END_TEST

// Taken again to a time within it, a step of order 8 is as accurate as ever.
START_TEST(going_back_within_a_step_is_as_accurate_as_steps)
{
    const tal_integrator_def def = explicit_of(8, 1e-10);
    study s = study_pin_pendulum(&def), ref = study_pin_pendulum(NULL);
    tal_integrator_def fine = study_def(TAL_METHOD_RUNGE_KUTTA, 1e-13);
    ck_assert_int_eq(tal_integrator_create(ref.system, &fine, &ref.integ, NULL), TAL_OK);
    for (int k = 0; k < 15; ++k) {
        ck_assert_int_eq(tal_integrator_step(s.integ, s.state, 1.0), TAL_OK);
    }
    const double t = tal_state_t(s.state) - 0.4 * tal_integrator_statistics(s.integ).last_step;
    ck_assert_int_eq(tal_integrator_back_up(s.integ, s.state, t), TAL_OK);
    ck_assert_double_eq(tal_state_t(s.state), t);
    study_step_to(&ref, t);
    test_assert_near(tal_state_y(s.state), tal_state_y(ref.state), 2, 15e-10, "y");
    study_end(&s);
    study_end(&ref);
}

END_TEST

// --- fixed steps ---

// Dormand and Prince's table is ours too: both take the same steps, the last of them shorter, and
// differ in the order of sums only, by a few eps of values up to 6 in each of 120 steps.
START_TEST(fixed_steps_are_those_of_one_step_methods)
{
    tal_integrator_def own = study_def(TAL_METHOD_RUNGE_KUTTA, 1e-6);
    own.tableau = tal_rk_dormand_prince();
    own.fixed_step = 0.01;
    tal_integrator_def theirs = explicit_of(5, 1e-6);
    theirs.fixed_step = 0.01;
    study a = study_pin_pendulum(&theirs), b = study_pin_pendulum(&own);
    const double stops[] = {0.4, 0.7031, 1.2};
    for (int k = 0; k < 3; ++k) {
        while (tal_state_t(b.state) < stops[k]) {
            ck_assert_int_eq(tal_integrator_step(a.integ, a.state, stops[k]), TAL_OK);
            ck_assert_int_eq(tal_integrator_step(b.integ, b.state, stops[k]), TAL_OK);
            ck_assert_double_eq(tal_state_t(a.state), tal_state_t(b.state));
            test_assert_near(tal_state_y(a.state), tal_state_y(b.state), 2, 1e-12, "y");
            const tal_integrator_stats stats = tal_integrator_statistics(a.integ);
            ck_assert_double_eq(stats.last_step, tal_integrator_statistics(b.integ).last_step);
            ck_assert_double_eq(stats.next_step, 0.01);
            ck_assert_double_eq(stats.last_error, 0.0);
        }
    }
    ck_assert_uint_eq(tal_integrator_statistics(a.integ).steps_taken,
                      tal_integrator_statistics(b.integ).steps_taken);
    study_end(&a);
    study_end(&b);
}

END_TEST

static double error_of_fixed_steps(tal_integrator_def def, double h, bool on_rod)
{
    def.fixed_step = h;
    study s = on_rod ? study_rod_pendulum(&def) : study_pin_pendulum(&def);
    study_step_to(&s, STUDY_PENDULUM_PERIOD);
    const double error = study_pendulum_error(&s);
    study_end(&s);
    return error;
}

// A period in n and 2n steps: the error falls as the order says, with a constraint and without.
// Newton's method is told to be accurate.
START_TEST(fixed_steps_converge_with_the_order_of_the_table)
{
    const tal_integrator_def defs[] = {explicit_of(3, 1e-12), explicit_of(5, 1e-12),
                                       implicit_of(3, 1e-12), implicit_of(4, 1e-12)};
    const int orders[] = {3, 5, 3, 4};
    for (int k = 0; k < 4; ++k) {
        for (int on_rod = 0; on_rod < 2; ++on_rod) {
            const double h = STUDY_PENDULUM_PERIOD / 100.0;
            const double coarse = error_of_fixed_steps(defs[k], h, on_rod);
            const double fine = error_of_fixed_steps(defs[k], 0.5 * h, on_rod);
            ck_assert_double_ge(log2(coarse / fine), orders[k] - 0.3);
        }
    }
}

END_TEST

// As with one-step methods: min_step and max_step do not count, one can go back within a step, a
// length that t cannot resolve is refused, and what cannot be computed is not tried again.
START_TEST(fixed_steps_keep_to_their_length)
{
    tal_integrator_def def = implicit_of(4, 1e-6);
    def.fixed_step = 0.1;
    def.max_step = 0.03;
    study s = study_rod_pendulum(&def);
    ck_assert_int_eq(tal_integrator_step(s.integ, s.state, 1.0), TAL_OK);
    ck_assert_double_eq(tal_state_t(s.state), 0.1);
    ck_assert_int_eq(tal_integrator_back_up(s.integ, s.state, 0.04), TAL_OK);
    ck_assert_double_eq(tal_state_t(s.state), 0.04);
    ck_assert_int_eq(tal_integrator_step(s.integ, s.state, 1.0), TAL_OK);
    ck_assert_double_eq(tal_state_t(s.state), 0.04 + 0.1);
    study_end(&s);
    def.max_step = 0.0;
    def.fixed_step = 1e-18;
    s = study_rod_pendulum(&def);
    ck_assert_int_eq(tal_integrator_step(s.integ, s.state, 1.0), TAL_ERR_STEP_TOO_SMALL);
    ck_assert_msg(strstr(tal_integrator_error(s.integ)->message, "fixed_step 1e-18") != NULL, "%s",
                  tal_integrator_error(s.integ)->message);
    study_end(&s);
    const tal_integrator_def defs[] = {explicit_of(5, 1e-6), implicit_of(4, 1e-6)};
    for (int k = 0; k < 2; ++k) {
        def = defs[k];
        def.fixed_step = 0.01;
        study_check_nan_force(&def);
    }
    // k = (1 + 2 k)^2 has no solution: z' = z^2 from 1 in a first stage of 2 s
    study_odes it = {.n = 1, .z0 = {1.0}, .rates = study_square};
    def = implicit_of(2, 1e-6);
    def.fixed_step = 2.0;
    s = study_of_odes(&it, &def);
    ck_assert_int_eq(tal_integrator_step(s.integ, s.state, 10.0), TAL_ERR_NO_CONVERGENCE);
    ck_assert_msg(strstr(tal_integrator_error(s.integ)->message, "of a step of 2 s") != NULL, "%s",
                  tal_integrator_error(s.integ)->message);
    ck_assert_double_eq(tal_state_t(s.state), 0.0);
    study_end(&s);
}

END_TEST

// --- steps and failures ---

// Heun's step and Euler's within it differ by h^2/2. The implicit one has k1 = -1/(1 + h) and
// k2 = -(1 - h k1)/(1 + h), and h (k1 - k2)/2 = h^2/(2 (1 + h)^2) is the difference.
START_TEST(the_error_of_the_last_step_is_reported)
{
    const double h = 0.02;
    const study_held quarter = {0.25, 1.0};
    study_check_last_error(explicit_of(2, 1.0), quarter, h * h / 2.0);
    study_check_last_error(implicit_of(2, 1.0), quarter, h * h / (2.0 * (1.0 + h) * (1.0 + h)));
}

END_TEST

START_TEST(what_arkode_cannot_do_is_refused)
{
    study_check_refused(explicit_of(7, 1e-6), "2 to 6 and 8, or 0 for 5");
    study_check_refused(implicit_of(6, 1e-6), "2 to 5, or 0 for 4");
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("arkode");
    TCase *accuracy = tcase_create("accuracy");
    tcase_add_test(accuracy, tables_are_those_of_arkode_bit_for_bit);
    tcase_add_test(accuracy, errors_of_other_orders_are_proportional_to_the_accuracy);
    tcase_add_test(accuracy, exact_matrices_do_not_mislead_newtons_method);
    tcase_add_test(accuracy, dense_output_of_order_6_is_as_accurate_as_steps);
    tcase_add_test(accuracy, dense_output_does_not_look_past_a_jump);
    tcase_add_test(accuracy, going_back_within_a_step_is_as_accurate_as_steps);
    suite_add_tcase(suite, accuracy);
    TCase *lengths = tcase_create("fixed steps");
    tcase_add_test(lengths, fixed_steps_are_those_of_one_step_methods);
    tcase_add_test(lengths, fixed_steps_converge_with_the_order_of_the_table);
    tcase_add_test(lengths, fixed_steps_keep_to_their_length);
    suite_add_tcase(suite, lengths);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, what_arkode_cannot_do_is_refused);
    tcase_add_test(errors, the_error_of_the_last_step_is_reported);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
