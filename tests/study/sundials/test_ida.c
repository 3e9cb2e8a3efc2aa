// Tests for study/src/sundials/ida.c and ida_equations.c. What every method
// has to do is in tests/study/integrate/test_battery.c.
#include "study_model.h"
#include "sundials/ida_internal.h"

static tal_integrator_def ida(double accuracy)
{
    return study_def(TAL_METHOD_IDA, accuracy);
}

// --- accuracy ---

// refs:pendulum_index3_dae at t = 2 and 5: x, y, and lambda of x'' = -lambda x. Here the
// multiplier is the tension, lambda of unit length; the reference's is the same number.
START_TEST(the_pendulum_of_unit_length_has_its_multiplier)
{
    static const double rows[][4] = {
        {2.0, -0.20419321478828042, -0.9789306058319084, 2.9367918174957253},
        {5.0, -0.6853448712787484, -0.7282186535731666, 2.1846559607194997}};
    const tal_integrator_def def = ida(1e-9);
    study s = study_begin(tal_v3(0.0, -1.0, 0.0));
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_translation(s.matter, TAL_GROUND, &bob);
    const tal_constraint_def rod = tal_constraint_between(TAL_GROUND, body);
    (void)tal_constraint_add_rod(s.matter, &rod, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    study_finish(&s, &def);
    (void)tal_body_set_q(s.matter, s.state, body, 0, 1.0);
    for (int k = 0; k < 2; ++k) {
        study_step_to(&s, rows[k][0]);
        const double bound = 5e-9 * (double)tal_integrator_statistics(s.integ).steps_taken;
        ck_assert_double_eq_tol(tal_state_q(s.state)[0], rows[k][1], bound);
        ck_assert_double_eq_tol(tal_state_q(s.state)[1], rows[k][2], bound);
        ck_assert_double_eq_tol(tal_state_multipliers(s.state)[0], rows[k][3], 10.0 * bound);
    }
    study_end(&s);
}

END_TEST

// Newton's method leaves a smooth history, so that IDA keeps to its high orders: with the 0.33 of a
// step's error that IDA would let it leave, orders 3 and 4 take 1.6 times the 8,500 steps.
START_TEST(a_closed_loop_takes_few_steps)
{
    const tal_integrator_def def = ida(1e-8);
    study s = study_four_bar(&def);
    study_step_to(&s, 2.0);
    ck_assert_uint_le(tal_integrator_statistics(s.integ).steps_taken, 2000);
    study_end(&s);
}

END_TEST

// How closely constraints are to be met does not matter to how IDA begins. Where this State is left
// by a tolerance of 1e-4 its constraint errors are some 1e-5, and steps are held to 3e-11.
START_TEST(a_run_begins_where_constraints_are_met_to_a_coarse_tolerance)
{
    tal_integrator_def def = ida(1e-8);
    def.constraint_tolerance = 1e-4;
    study s = study_four_bar(&def);
    study_step_to(&s, 0.0);
    tal_state_upd_q(s.state)[1] += 3e-5;
    study_step_to(&s, 0.0);
    ck_assert_double_gt(study_constraint_error(&s), 1e-5);
    const double before = tal_system_energy(s.system, s.state);
    study_step_to(&s, 1.0);
    ck_assert_double_le(study_constraint_error(&s), 1e-9);
    // where it begins it is moved by those 1e-5
    const double change = tal_system_energy(s.system, s.state) - before;
    ck_assert_double_le(fabs(change), 1e-4 * fabs(before));
    study_end(&s);
}

END_TEST

// What is known has no error, and neither has the first speed here. The error of z counts all the
// same: nothing else would keep steps short.
START_TEST(z_is_as_accurate_as_wanted_where_the_first_speed_is_known)
{
    const tal_integrator_def def = ida(1e-6);
    study s = study_begin(TAL_VEC3_ZERO);
    const tal_body_ix driven =
        study_add_link(&s, TAL_GROUND, TAL_VEC3_ZERO, 1.0, tal_v3(0.5, 0.0, 0.0), 1.0 / 12.0);
    tal_motion_def motion = tal_motion_def_default();
    motion.body = driven;
    motion.level = TAL_LEVEL_POSITION;
    (void)tal_matter_add_motion_sinusoid(s.matter, &motion, 0.1, 1.0, 0.0);
    const double w = 40.0;
    const tal_subsystem_ix owner = tal_matter_subsystem(s.matter);
    const tal_measure_ix wave = tal_measure_add_sinusoid(s.system, owner, "wave", 1.0, w, 0.0);
    (void)tal_measure_add_integrate(s.system, owner, "sum", wave, NULL);
    study_finish(&s, &def);
    study_step_to(&s, 1.0);
    // z' = sin w t; a run loses about the accuracy
    ck_assert_double_eq_tol(tal_state_z(s.state)[0], (1.0 - cos(w)) / w, 1e-6);
    study_end(&s);
}

END_TEST

// --- the equations ---

// Every column of the Jacobian against differences of the residual; the State's own udot and
// multipliers make it zero. A loop, a quaternion, a prescribed body, z: one unknown of each kind.
static study begin_everything(study_odes *it, const tal_integrator_def *def)
{
    study s = study_begin(tal_v3(0.0, -9.81, 0.0));
    tal_mobod_def part = tal_mobod_def_default();
    part.mass = tal_mass_props_sphere(1.0, 0.5);
    part.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
    const tal_body_ix arm = tal_matter_add_pin(s.matter, TAL_GROUND, &part);
    const tal_body_ix ball = tal_matter_add_ball(s.matter, arm, &part);
    part.X_PF = tal_xf_from_p(tal_v3(2.0, 0.0, 0.0));
    const tal_body_ix other = tal_matter_add_ball(s.matter, TAL_GROUND, &part);
    tal_motion_def motion = tal_motion_def_default();
    motion.body = arm;
    (void)tal_matter_add_motion_sinusoid(s.matter, &motion, 0.3, 2.0, 0.5);
    const tal_constraint_def rod = tal_constraint_between(ball, other);
    (void)tal_constraint_add_rod(s.matter, &rod, tal_v3(0.1, 0.0, 0.2), tal_v3(0.0, 0.3, 0.0), 2.0);
    const tal_constraint_def steady = tal_constraint_on(other, 1);
    (void)tal_constraint_add_constant_speed(s.matter, &steady, 0.5);
    (void)tal_system_add_subsystem(s.system, "odes", &study_odes_ops, it);
    study_finish(&s, def);
    return s;
}

// Lets the engine stand at the start of a step, without one.
static tali_ida *stand(study *s)
{
    tali_sun *sun = tali_sun_of(s->integ);
    study_step_to(s, tal_state_t(s->state) + 0.05);
    sun->state = s->state;
    return tali_ida_of(sun);
}

START_TEST(the_residual_vanishes_for_the_accelerations_and_multipliers_of_the_state)
{
    study_odes it = {.n = 1, .z0 = {0.1}, .rates = study_muscle};
    const tal_integrator_def def = ida(1e-8);
    study s = begin_everything(&it, &def);
    tali_ida *eq = stand(&s);
    ck_assert_int_eq(tal_system_realize(s.system, s.state, TAL_STAGE_ACCELERATION), TAL_OK);
    double *Y = tali_sun_data(eq->sun.y), *Yp = tali_sun_data(eq->yp);
    N_Vector r = N_VClone(eq->yp);
    const int n = eq->sun.pool.length;
    ck_assert_int_eq(n, 9 + 7 + 1 + 2 + 1); // q, u, z, lambda, mu
    memset(Y, 0, (size_t)n * sizeof *Y);
    memset(Yp, 0, (size_t)n * sizeof *Yp);
    memcpy(Y, tal_state_y(s.state), (size_t)eq->eq.ny * sizeof *Y);
    memcpy(Yp, tal_state_ydot(s.state), (size_t)eq->eq.ny * sizeof *Yp);
    memcpy(Y + eq->eq.ny, tal_state_multipliers(s.state), 2 * sizeof *Y);
    ck_assert_int_eq(tali_ida_residual(tal_state_t(s.state), eq->sun.y, eq->yp, r, eq), 0);
    // forces of 30 N, multipliers as large: round-off of 1e-13; constraints met to 1e-9
    for (int i = 0; i < n; ++i) {
        ck_assert_double_eq_tol(tali_sun_data(r)[i], 0.0, i < eq->eq.ny ? 1e-11 : 1e-8);
    }
    study_end(&s);
}

END_TEST

// Central differences of the residual along every unknown, Y' moving with cj: good to the root of
// round-off, relative to the largest entry of the column.
START_TEST(the_jacobian_is_the_derivative_of_the_residual)
{
    study_odes it = {.n = 1, .z0 = {0.1}, .rates = study_muscle};
    const tal_integrator_def def = ida(1e-8);
    study s = begin_everything(&it, &def);
    tali_ida *eq = stand(&s);
    const double cj = 100.0, t = tal_state_t(s.state), eps = 1e-6;
    N_Vector Y = eq->sun.y, Yp = eq->yp, r = N_VClone(Y), low = N_VClone(Y), high = N_VClone(Y);
    N_Vector tmp[] = {N_VClone(Y), N_VClone(Y), N_VClone(Y)};
    SUNMatrix J = &eq->sun.pool.matrices[0].base;
    const int n = eq->sun.pool.length;
    tali_sun_data(Y)[n - 1] = 0.3; // mu
    ck_assert_int_eq(tali_ida_residual(t, Y, Yp, r, eq), 0);
    ck_assert_int_eq(tali_ida_jacobian(t, cj, Y, Yp, r, J, eq, tmp[0], tmp[1], tmp[2]), 0);
    for (int j = 0; j < n; ++j) {
        double *y = &tali_sun_data(Y)[j], *yp = &tali_sun_data(Yp)[j];
        const double y_kept = *y, yp_kept = *yp;
        *y = y_kept + eps;
        *yp = yp_kept + cj * eps;
        ck_assert_int_eq(tali_ida_residual(t, Y, Yp, high, eq), 0);
        *y = y_kept - eps;
        *yp = yp_kept - cj * eps;
        ck_assert_int_eq(tali_ida_residual(t, Y, Yp, low, eq), 0);
        *y = y_kept;
        *yp = yp_kept;
        double largest = 1.0;
        for (int i = 0; i < n; ++i) {
            largest = fmax(largest, fabs(tali_sun_column(J, j)[i]));
        }
        for (int i = 0; i < n; ++i) {
            const double slope = (tali_sun_data(high)[i] - tali_sun_data(low)[i]) / (2.0 * eps);
            ck_assert_double_eq_tol(tali_sun_column(J, j)[i], slope, 1e-6 * largest);
        }
    }
    study_end(&s);
}

END_TEST

// All kinds of unknowns in motion, against a one-step method.
START_TEST(all_kinds_of_unknowns_move_as_they_should)
{
    study_odes it = {.n = 1, .z0 = {0.1}, .rates = study_square};
    const tal_integrator_def def = ida(1e-9), fine = study_def(TAL_METHOD_RUNGE_KUTTA, 1e-12);
    study s = begin_everything(&it, &def), ref = begin_everything(&it, &fine);
    study_step_to(&s, 1.0);
    study_step_to(&ref, 1.0);
    const double steps = (double)tal_integrator_statistics(s.integ).steps_taken;
    test_assert_near(tal_state_y(s.state), tal_state_y(ref.state), tal_state_ny(s.state),
                     5e-9 * steps, "y");
    ck_assert_double_eq_tol(tal_state_q(s.state)[0], 0.3 * sin(2.5), 1e-15);
    study_end(&s);
    study_end(&ref);
}

END_TEST

// udot = 0.3 sin(2t + 0.5) given at the acceleration level: u = 0.15 (cos 0.5 - cos(2t + 0.5)).
START_TEST(accelerations_and_speeds_can_be_prescribed)
{
    for (int k = 0; k < 2; ++k) {
        const tal_integrator_def def = ida(1e-9);
        study s = study_begin(tal_v3(0.0, -9.81, 0.0));
        const tal_body_ix arm =
            study_add_link(&s, TAL_GROUND, TAL_VEC3_ZERO, 1.0, tal_v3(0.5, 0.0, 0.0), 0.1);
        (void)study_add_link(&s, arm, tal_v3(1.0, 0.0, 0.0), 1.0, tal_v3(0.0, -1.0, 0.0), 0.0);
        tal_motion_def motion = tal_motion_def_default();
        motion.body = arm;
        motion.level = k == 0 ? TAL_LEVEL_ACCELERATION : TAL_LEVEL_VELOCITY;
        (void)tal_matter_add_motion_sinusoid(s.matter, &motion, 0.3, 2.0, 0.5);
        study_finish(&s, &def);
        study_step_to(&s, 1.0);
        const double speed = k == 0 ? 0.15 * (cos(0.5) - cos(2.5)) : 0.3 * sin(2.5);
        const double angle =
            k == 0 ? 0.15 * cos(0.5) - 0.075 * (sin(2.5) - sin(0.5)) : 0.15 * (cos(0.5) - cos(2.5));
        ck_assert_double_eq_tol(tal_state_u(s.state)[0], speed, 1e-6);
        ck_assert_double_eq_tol(tal_state_q(s.state)[0], angle, 1e-6);
        study_end(&s);
    }
}

END_TEST

// A slider held at an acceleration of 2 m/s^2 by a constraint, against gravity: u = 2t, q = t^2,
// and the force is 2 - 5 = -3 N on 1 kg, which the multiplier takes with the other sign.
START_TEST(constraints_on_accelerations_are_among_the_equations)
{
    const tal_integrator_def def = ida(1e-8);
    study s = study_begin(tal_v3(5.0, 0.0, 0.0));
    tal_mobod_def block = tal_mobod_def_default();
    block.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_slider(s.matter, TAL_GROUND, &block);
    const tal_constraint_def held = tal_constraint_on(body, 0);
    (void)tal_constraint_add_constant_acceleration(s.matter, &held, 2.0);
    study_finish(&s, &def);
    study_step_to(&s, 1.5);
    ck_assert_double_eq_tol(tal_state_u(s.state)[0], 3.0, 1e-6);
    ck_assert_double_eq_tol(tal_state_q(s.state)[0], 2.25, 1e-6);
    ck_assert_double_eq_tol(tal_state_multipliers(s.state)[0], 3.0, 1e-12);
    study_end(&s);
}

END_TEST

// A rod between Ground and a crank that is locked, beside a pendulum that is free: W is zero. The
// pendulum, l = 1, falls from q = 1 as it would without, to 10 times the accuracy.
START_TEST(a_constraint_that_nothing_can_move_does_no_harm)
{
    const tal_integrator_def def = ida(1e-6);
    double q[2] = {0.0, 0.0};
    for (int k = 0; k < 2; ++k) {
        study s = study_begin(tal_v3(0.0, -10.0, 0.0));
        tal_mobod_def body = tal_mobod_def_default();
        body.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
        body.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
        const tal_body_ix free = tal_matter_add_pin(s.matter, TAL_GROUND, &body);
        const tal_body_ix crank = tal_matter_add_pin(s.matter, TAL_GROUND, &body);
        const tal_constraint_def rod = tal_constraint_between(TAL_GROUND, crank);
        if (k == 1) {
            (void)tal_constraint_add_rod(s.matter, &rod, tal_v3(1.0, 0.0, 0.0), TAL_VEC3_ZERO,
                                         sqrt(2.0));
        }
        study_finish(&s, &def);
        (void)tal_body_set_q(s.matter, s.state, free, 0, 1.0);
        ck_assert_int_eq(tal_body_lock(s.matter, s.state, crank, TAL_LEVEL_POSITION), TAL_OK);
        study_step_to(&s, 0.5);
        q[k] = tal_body_q(s.matter, s.state, free, 0);
        study_end(&s);
    }
    ck_assert_double_eq_tol(q[1], q[0], 1e-5);
}

END_TEST

// --- steps and failures ---

// Backward Euler: predicted 1 - h, found 1/(1 + h), and half of the difference is the error.
START_TEST(the_error_of_the_last_step_is_reported)
{
    const double h = 0.02;
    study_check_last_error(ida(1.0), (study_held){0.1, 1.2}, h * h / (2.0 * (1.0 + h)));
}

END_TEST

START_TEST(what_ida_cannot_do_is_refused)
{
    tal_integrator_def def = ida(1e-6);
    def.fixed_step = 0.1;
    study_check_refused(def, "fixed_step is 0.1");
    study_check_refused(def, "those of ARKODE can keep to one");
    def = ida(1e-6);
    def.order = 5; // the highest is not refused
    study highest = study_pin_pendulum(&def);
    study_step_to(&highest, 0.1);
    study_end(&highest);
    def.order = 6;
    study_check_refused(def, "goes up to 5");
    def = ida(1e-6);
    def.linear_solver = TAL_LINEAR_GMRES;
    study_check_refused(def, "dense linear solver");
    def = ida(1e-6);
    def.baumgarte = 5.0;
    study_check_refused(def, "baumgarte is 5");
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("ida");
    TCase *accuracy = tcase_create("accuracy");
    tcase_add_test(accuracy, the_pendulum_of_unit_length_has_its_multiplier);
    tcase_add_test(accuracy, a_closed_loop_takes_few_steps);
    tcase_add_test(accuracy, z_is_as_accurate_as_wanted_where_the_first_speed_is_known);
    tcase_add_test(accuracy, a_run_begins_where_constraints_are_met_to_a_coarse_tolerance);
    suite_add_tcase(suite, accuracy);
    TCase *equations = tcase_create("equations");
    tcase_add_test(equations,
                   the_residual_vanishes_for_the_accelerations_and_multipliers_of_the_state);
    tcase_add_test(equations, the_jacobian_is_the_derivative_of_the_residual);
    tcase_add_test(equations, all_kinds_of_unknowns_move_as_they_should);
    tcase_add_test(equations, accelerations_and_speeds_can_be_prescribed);
    tcase_add_test(equations, constraints_on_accelerations_are_among_the_equations);
    tcase_add_test(equations, a_constraint_that_nothing_can_move_does_no_harm);
    suite_add_tcase(suite, equations);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, what_ida_cannot_do_is_refused);
    tcase_add_test(errors, the_error_of_the_last_step_is_reported);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
