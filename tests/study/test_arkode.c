// Tests for study/src/arkode.c and arkode_tables.c.
#include "sundials_internal.h"

#include "study_model.h"

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

static void compare(const tali_butcher *mine, ARKodeButcherTable theirs)
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
        const tali_butcher *mine = tali_butcher_of_order(false, order);
        if (order == 7) {
            ck_assert_ptr_null(mine);
        } else {
            compare(mine, ARKodeButcherTable_LoadERK(erk[order - 2]));
        }
    }
    for (int order = 2; order <= 5; ++order) {
        compare(tali_butcher_of_order(true, order), ARKodeButcherTable_LoadDIRK(dirk[order - 2]));
    }
}

END_TEST

// --- accuracy ---

START_TEST(errors_of_explicit_methods_are_proportional_to_the_accuracy)
{
    for (int order = 4; order <= 8; ++order) {
        if (order == 7) continue;
        study_check_proportional(explicit_of(order, 1.0), false);
        study_check_proportional(explicit_of(order, 1.0), true);
    }
}

END_TEST

START_TEST(errors_of_implicit_methods_are_proportional_to_the_accuracy)
{
    for (int order = 4; order <= 5; ++order) {
        study_check_proportional(implicit_of(order, 1.0), false);
        study_check_proportional(implicit_of(order, 1.0), true);
    }
    tal_integrator_def krylov = implicit_of(5, 1.0);
    krylov.linear_solver = TAL_LINEAR_GMRES;
    study_check_proportional(krylov, true);
}

END_TEST

START_TEST(andrews_squeezer_arrives_at_its_reference)
{
    const tal_integrator_def defs[] = {explicit_of(8, 1e-10), implicit_of(4, 1e-8)};
    for (int k = 0; k < 2; ++k) {
        study_check_squeezer(&defs[k]);
    }
}

END_TEST

START_TEST(the_car_axis_and_the_double_pendulum_arrive_at_their_references)
{
    const tal_integrator_def def = explicit_of(8, 1e-10);
    study_check_references(&def);
}

END_TEST

START_TEST(a_closed_loop_loses_little_energy)
{
    const tal_integrator_def def = explicit_of(8, 1e-10);
    study_check_energy(&def);
}

END_TEST

START_TEST(a_stiff_muscle_costs_implicit_methods_few_steps)
{
    const tal_integrator_def def = implicit_of(4, 1e-6);
    study_check_stiff(&def, 300);
}

END_TEST

// The polynomial of degree 5 is as good as steps of order 5, some 50 and 90 of them; steps of order 8 are
// longer, and it is not.
START_TEST(dense_output_is_as_accurate_as_steps)
{
    study_check_dense(explicit_of(5, 1e-8), 5e-8);
    study_check_dense(implicit_of(4, 1e-8), 9e-8);
}

END_TEST

// q = q0 + u0 t + g t^2 / 2 on a slider, exact for every order. Steps before a jump of u say nothing about
// those after it, within the first of them and later.
START_TEST(dense_output_does_not_look_past_a_jump)
{
    const tal_integrator_def def = explicit_of(5, 1e-6);
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

// Taken again to a time within it, a step of order 8 is as accurate as ever, unlike its dense output.
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

START_TEST(other_subsystems_have_coordinates_too)
{
    const tal_integrator_def defs[] = {explicit_of(5, 1e-8), implicit_of(4, 1e-8)};
    for (int k = 0; k < 2; ++k) {
        study_check_mixed(&defs[k]);
    }
}

END_TEST

// --- steps and failures ---

START_TEST(a_pole_ends_the_run_with_a_clear_status)
{
    const tal_integrator_def defs[] = {explicit_of(5, 1e-8), implicit_of(4, 1e-8)};
    for (int k = 0; k < 2; ++k) {
        study_check_pole(&defs[k], 1e-7, 100000);
    }
}

END_TEST

START_TEST(a_force_that_is_not_a_number_is_named)
{
    const tal_integrator_def defs[] = {explicit_of(5, 1e-6), implicit_of(4, 1e-6)};
    for (int k = 0; k < 2; ++k) {
        study_check_nan_force(&defs[k]);
    }
}

END_TEST

START_TEST(one_can_go_back_within_a_step)
{
    const tal_integrator_def defs[] = {explicit_of(5, 1e-9), implicit_of(4, 1e-9)};
    for (int k = 0; k < 2; ++k) {
        study_check_back_up(&defs[k]);
    }
}

END_TEST

START_TEST(the_first_and_the_longest_step_can_be_given)
{
    study_check_step_sizes(explicit_of(8, 1e-3));
}

END_TEST

// Heun's step and Euler's within it differ by h^2/2. The implicit one has k1 = -1/(1 + h) and
// k2 = -(1 - h k1)/(1 + h), and h (k1 - k2)/2 = h^2/(2 (1 + h)^2) is the difference.
START_TEST(the_error_of_the_last_step_is_told)
{
    const double h = 0.02;
    study_check_last_error(explicit_of(2, 1.0), h * h / 2.0);
    study_check_last_error(implicit_of(2, 1.0), h * h / (2.0 * (1.0 + h) * (1.0 + h)));
}

END_TEST

START_TEST(what_arkode_cannot_do_is_refused)
{
    tal_integrator_def def = explicit_of(5, 1e-6);
    def.fixed_step = 0.1;
    study_check_refused(def, "fixed_step is 0.1");
    study_check_refused(explicit_of(7, 1e-6), "2 to 6 and 8");
    study_check_refused(implicit_of(6, 1e-6), "2 to 5");
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("arkode");
    TCase *accuracy = tcase_create("accuracy");
    tcase_add_test(accuracy, tables_are_those_of_arkode_bit_for_bit);
    tcase_add_test(accuracy, errors_of_explicit_methods_are_proportional_to_the_accuracy);
    tcase_add_test(accuracy, errors_of_implicit_methods_are_proportional_to_the_accuracy);
    tcase_add_test(accuracy, andrews_squeezer_arrives_at_its_reference);
    tcase_add_test(accuracy, the_car_axis_and_the_double_pendulum_arrive_at_their_references);
    tcase_add_test(accuracy, a_closed_loop_loses_little_energy);
    tcase_add_test(accuracy, a_stiff_muscle_costs_implicit_methods_few_steps);
    tcase_add_test(accuracy, dense_output_is_as_accurate_as_steps);
    tcase_add_test(accuracy, dense_output_does_not_look_past_a_jump);
    tcase_add_test(accuracy, going_back_within_a_step_is_as_accurate_as_steps);
    tcase_add_test(accuracy, other_subsystems_have_coordinates_too);
    suite_add_tcase(suite, accuracy);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, a_pole_ends_the_run_with_a_clear_status);
    tcase_add_test(errors, a_force_that_is_not_a_number_is_named);
    tcase_add_test(errors, one_can_go_back_within_a_step);
    tcase_add_test(errors, the_first_and_the_longest_step_can_be_given);
    tcase_add_test(errors, what_arkode_cannot_do_is_refused);
    tcase_add_test(errors, the_error_of_the_last_step_is_told);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
