// Tests for study/src/sundials/cvode.c, sundials_common.c, sundials_weights.c and sundials_gmres.c.
// What every method has to do is in tests/study/integrate/test_battery.c.
#include "study_model.h"
#include "sundials/sundials_internal.h"

// The methods of CVODE, and the linear solvers.
static tal_integrator_def bdf(double accuracy)
{
    return study_def(TAL_METHOD_CVODE_BDF, accuracy);
}

static tal_integrator_def krylov(double accuracy)
{
    tal_integrator_def def = bdf(accuracy);
    def.linear_solver = TAL_LINEAR_GMRES;
    return def;
}

static tal_integrator_def adams(double accuracy)
{
    return study_def(TAL_METHOD_CVODE_ADAMS, accuracy);
}

// --- accuracy ---

// refs:free_asymmetric_top at t = 2 s: w_GB in B, from a spin of 5 rad/s about the middle
// axis. Errors grow by e^(2.9 t), here 330, from accuracy times the steps.
START_TEST(quaternions_stay_of_length_one)
{
    const tal_integrator_def def = bdf(1e-10);
    study s = study_begin(TAL_VEC3_ZERO);
    tal_mobod_def top = tal_mobod_def_default();
    top.mass.mass = 1.0;
    top.mass.inertia = (tal_sym3){.xx = 1.0, .yy = 2.0, .zz = 3.0};
    const tal_body_ix body = tal_matter_add_ball(s.matter, TAL_GROUND, &top);
    study_finish(&s, &def);
    const double u[] = {0.01, 5.0, 0.01};
    ck_assert_int_eq(tal_state_set_u(s.state, u, 3), TAL_OK);
    for (int k = 0; k < 20; ++k) {
        study_step_to(&s, 0.1 * (k + 1));
        const double *q = tal_state_q(s.state);
        const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        ck_assert_double_eq_tol(length, 1.0, 1e-15);
    }
    const tal_xform X_GB = tal_body_X_GB(s.matter, s.state, body);
    const tal_vec3 w_B = tal_m3_tmul_v3(X_GB.R, tal_body_V_GB(s.matter, s.state, body).w);
    const double steps = (double)tal_integrator_statistics(s.integ).steps_taken;
    const tal_vec3 expected = {-1.1612500596360354741, 4.8632908918750998412,
                               0.67049775068096386695};
    test_assert_v3_near(w_B, expected, 330.0 * steps * 1e-10);
    study_end(&s);
}

END_TEST

// A lower highest order needs more steps, with each of the multistep methods, down to order 1.
START_TEST(the_order_can_be_limited)
{
    static const tal_method methods[] = {TAL_METHOD_CVODE_BDF, TAL_METHOD_CVODE_ADAMS,
                                         TAL_METHOD_IDA};
    static const int orders[] = {1, 2, 5};
    uint64_t steps[3];
    for (int m = 0; m < 3; ++m) {
        for (int k = 0; k < 3; ++k) {
            tal_integrator_def def = study_def(methods[m], 1e-5);
            def.order = orders[k];
            study s = study_pin_pendulum(&def);
            study_step_to(&s, 0.5);
            steps[k] = tal_integrator_statistics(s.integ).steps_taken;
            study_end(&s);
        }
        ck_assert_uint_gt(steps[0], 2 * steps[1]);
        ck_assert_uint_gt(2 * steps[1], 3 * steps[2]);
    }
}

END_TEST

// --- Adams' methods: order, free, constrained, and with a quaternion ---

static study begin_top(const tal_integrator_def *def)
{
    study s = study_begin(TAL_VEC3_ZERO);
    tal_mobod_def top = tal_mobod_def_default();
    top.mass.mass = 1.0;
    top.mass.inertia = (tal_sym3){.xx = 1.0, .yy = 2.0, .zz = 3.0};
    (void)tal_matter_add_ball(s.matter, TAL_GROUND, &top);
    study_finish(&s, def);
    const double u[] = {0.01, 5.0, 0.01};
    ck_assert_int_eq(tal_state_set_u(s.state, u, 3), TAL_OK);
    return s;
}

// Error of y at `t`, and the steps it took, with the order limited.
static double adams_error(study (*begin)(const tal_integrator_def *), int order, double accuracy,
                          double t, const double exact[], double *steps)
{
    tal_integrator_def def = adams(accuracy);
    def.order = order;
    def.constraint_tolerance = 1e-13;
    study s = begin(&def);
    study_step_to(&s, t);
    double worst = 0.0;
    for (int i = 0; i < tal_state_ny(s.state); ++i) {
        worst = fmax(worst, fabs(tal_state_y(s.state)[i] - exact[i]));
    }
    ck_assert_double_le(study_constraint_error(&s), 1e-12);
    *steps = (double)tal_integrator_statistics(s.integ).steps_taken;
    study_end(&s);
    return worst;
}

// With order k, errors per step of h^(k+1) are held to the accuracy, so that N steps have an error
// of N^-k: from one accuracy to a thousandth of it N grows by 1000^(1/(k+1)). Starting at order 1
// with steps that grow by doubling moves N by a few percent, which is 0.1 k in the order seen; from
// order 4 on the start is a larger part of the few steps, and the order seen is only not smaller.
START_TEST(adams_methods_have_their_order_free_and_constrained)
{
    static const struct {
        study (*begin)(const tal_integrator_def *def);
        double t;
    } problems[] = {{study_pin_pendulum, 1.0}, {study_rod_pendulum, 1.0}, {begin_top, 2.0}};

    static const double accuracy[] = {1e-4, 1e-4, 1e-6, 1e-7, 3e-9};
    for (int p = 0; p < 3; ++p) {
        tal_integrator_def fine = tal_integrator_def_default();
        fine.tableau = tal_rk_verner_8();
        fine.accuracy = 1e-13;
        fine.constraint_tolerance = 1e-13;
        study s = problems[p].begin(&fine);
        study_step_to(&s, problems[p].t);
        for (int order = 1; order <= 5; ++order) {
            const double a = accuracy[order - 1], *exact = tal_state_y(s.state), t = problems[p].t;
            double n1 = 0.0, n2 = 0.0;
            const double e1 = adams_error(problems[p].begin, order, a, t, exact, &n1);
            const double e2 = adams_error(problems[p].begin, order, 1e-3 * a, t, exact, &n2);
            const double seen = log(e1 / e2) / log(n2 / n1);
            const double most = order <= 3 ? order * 1.1 : (double)INFINITY;
            ck_assert_msg(seen >= order * 0.9 - (order > 3 ? 0.1 : 0.0) && seen <= most,
                          "problem %d, order %d: %g", p, order, seen);
        }
        study_end(&s);
    }
}

END_TEST

// --- steps ---

static double latest; // time of an evaluation; the test's only thread writes it

static void note_time(double t, const double z[], double zdot[])
{
    latest = fmax(latest, t);
    zdot[0] = -z[0];
}

START_TEST(no_evaluation_is_past_the_end)
{
    const tal_integrator_def defs[] = {bdf(1e-6), krylov(1e-6), adams(1e-6)};
    for (int k = 0; k < 3; ++k) {
        study_odes it = {.n = 1, .z0 = {1.0}, .rates = note_time};
        study s = study_of_odes(&it, &defs[k]);
        for (int i = 1; i <= 30; ++i) {
            const double t = 0.1 * i;
            latest = 0.0;
            study_step_to(&s, t);
            ck_assert_double_eq(tal_state_t(s.state), t);
            ck_assert_double_le(latest, t);
        }
        // thirty steps, each from a restart or cut short
        ck_assert_double_eq_tol(tal_state_z(s.state)[0], exp(-3.0), 1e-4);
        study_end(&s);
    }
}

END_TEST

START_TEST(remainders_of_a_few_bits_are_stepped_over)
{
    study_odes it = {.n = 1, .z0 = {1.0}, .rates = note_time};
    const tal_integrator_def def = bdf(1e-6);
    study s = study_of_odes(&it, &def);
    study_step_to(&s, 1.0);
    const double t = nextafter(nextafter(1.0, 2.0), 2.0);
    study_step_to(&s, t);
    ck_assert_double_eq(tal_state_t(s.state), t);
    tal_state *between = NULL;
    ck_assert_int_eq(tal_state_create(s.system, &between, NULL), TAL_OK);
    const tal_status st =
        tal_integrator_interpolate(s.integ, s.state, nextafter(1.0, 2.0), between);
    ck_assert_int_eq(st, TAL_OK);
    ck_assert_double_eq_tol(tal_state_z(between)[0], tal_state_z(s.state)[0], 1e-15);
    tal_state_destroy(between);
    study_step_to(&s, 2.0);
    ck_assert_double_eq_tol(tal_state_z(s.state)[0], exp(-2.0), 1e-4);
    study_end(&s);
}

END_TEST

// A least step is for accuracy's sake; the last one before t_end may be shorter, and is as good as
// others.
START_TEST(the_least_step_may_be_cut_short_by_the_end)
{
    const tal_method methods[] = {TAL_METHOD_CVODE_BDF, TAL_METHOD_CVODE_ADAMS, TAL_METHOD_IDA,
                                  TAL_METHOD_ARKODE_EXPLICIT, TAL_METHOD_ARKODE_DIRK};
    for (int k = 0; k < 5; ++k) {
        tal_integrator_def def = study_def(methods[k], 1e-6);
        def.min_step = 1e-4;
        study_odes it = {.n = 1, .z0 = {1.0}, .rates = note_time};
        study s = study_of_odes(&it, &def);
        for (int i = 1; i <= 100; ++i) {
            study_step_to(&s, 5e-5 * i);
        }
        ck_assert_double_eq_tol(tal_state_z(s.state)[0], exp(-5e-3), 1e-8);
        study_end(&s);
    }
}

END_TEST

// --- the norm ---

// The norm of SUNDIALS' error tests is that of error_norm.c, over what a step may be off.
START_TEST(error_weights_are_those_of_the_manual)
{
    for (int k = 0; k < 2; ++k) {
        tal_integrator_def def = bdf(1e-3);
        def.infinity_norm = k == 1;
        study s = study_begin(TAL_VEC3_ZERO);
        study_odes it = {.n = 2, .z0 = {4.0, 0.5}, .rates = NULL};
        tal_mobod_def body = tal_mobod_def_default();
        body.mass = tal_mass_props_sphere(1.0, 1.0);
        const tal_body_ix first = tal_matter_add_free(s.matter, TAL_GROUND, &body);
        const tal_body_ix second = tal_matter_add_pin(s.matter, first, &body);
        tal_motion_def motion = tal_motion_def_default(); // known: it does not count
        motion.body = second;
        (void)tal_matter_add_motion_sinusoid(s.matter, &motion, 1.0, 1.0, 0.0);
        (void)tal_system_add_subsystem(s.system, "odes", &study_odes_ops, &it);
        study_finish(&s, &def);
        test_rng rng = test_rng_seed(7);
        tal_integrator *integ = s.integ;
        tali_sun_weights *weights = &tali_sun_of(integ)->weights;
        double w[7];
        for (int i = 0; i < 7; ++i) {
            w[i] = test_random_uniform(&rng, 0.5, 2.0);
            tal_state_upd_u(s.state)[i] = test_random_uniform(&rng, -4.0, 4.0);
        }
        ck_assert_int_eq(tal_state_set_weights(s.state, TAL_POOL_U, w, 7), TAL_OK);
        ck_assert_int_eq(tal_system_realize(s.system, s.state, TAL_STAGE_POSITION), TAL_OK);
        const int ny = tal_state_ny(s.state);
        memcpy(integ->problem.y0, tal_state_y(s.state), (size_t)ny * sizeof(double));
        ck_assert_int_eq(tali_sun_weights_set(weights, s.state, true), TAL_OK);
        for (int i = 0; i < ny; ++i) { // each variable alone, then all together
            integ->problem.error[i] = test_random_uniform(&rng, -1.0, 1.0);
            const double mine = tali_sun_weights_norm(weights, integ->problem.error, NULL);
            const double theirs =
                tali_problem_error_norm(&integ->problem, s.state) / integ->step_accuracy;
            ck_assert_double_eq_tol(mine, theirs, 1e-12 * (1.0 + theirs));
        }
        integ->problem.error[0] = (double)NAN;
        ck_assert(isinf(tali_sun_weights_norm(weights, integ->problem.error, NULL)));
        study_end(&s);
    }
}

END_TEST

// --- the Jacobian ---

// Every column against central differences, good to 1e-9 relative to the largest entry of the
// column, of which forward differences have the root of round-off, 1e-7; and J v against the
// columns. Coordinates of another subsystem before matter's, a quaternion, a prescribed body, z.
START_TEST(the_jacobian_is_the_derivative_of_the_rates)
{
    study_spring before = {.num_errors = 0};
    study_odes it = {.n = 1, .z0 = {0.5}, .rates = study_square};
    const tal_integrator_def def = bdf(1e-6);
    study s = {.system = tal_system_create(NULL)};
    (void)tal_system_add_subsystem(s.system, "before", &study_spring_ops, &before);
    s.matter = tal_matter_create(s.system);
    s.forces = tal_forces_create(s.system, s.matter);
    (void)tal_forces_add_gravity(s.forces, tal_v3(0.0, -9.81, 0.0));
    tal_mobod_def part = tal_mobod_def_default();
    part.mass = tal_mass_props_sphere(1.0, 0.5);
    part.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
    const tal_body_ix arm = tal_matter_add_pin(s.matter, TAL_GROUND, &part);
    (void)tal_matter_add_ball(s.matter, arm, &part);
    tal_motion_def motion = tal_motion_def_default();
    motion.body = arm;
    (void)tal_matter_add_motion_sinusoid(s.matter, &motion, 0.3, 2.0, 0.5);
    (void)tal_system_add_subsystem(s.system, "odes", &study_odes_ops, &it);
    study_finish(&s, &def);
    study_step_to(&s, 0.3);
    tali_sun *sun = tali_sun_of(s.integ);
    const int ny = tal_state_ny(s.state);
    const double t = 0.3, eps = 1e-5;
    N_Vector y = sun->y, f = N_VClone(y), low = N_VClone(y), high = N_VClone(y), v = N_VClone(y);
    N_Vector tmp[] = {N_VClone(y), N_VClone(y)};
    SUNMatrix J = &sun->pool.matrices[0].base;
    double sum[16] = {0.0}, size = 0.0;
    test_rng rng = test_rng_seed(8);
    ck_assert_int_eq(ny, 6 + 5 + 1);
    ck_assert_int_eq(tali_sun_rates(t, y, f, sun), 0);
    ck_assert_int_eq(tali_sun_jacobian(t, y, f, J, sun, tmp[0], tmp[1], NULL), 0);
    for (int j = 0; j < ny; ++j) {
        const double kept = tali_sun_data(y)[j];
        double largest = 1.0;
        tali_sun_data(v)[j] = test_random_uniform(&rng, -1.0, 1.0);
        tali_sun_data(y)[j] = kept + eps;
        ck_assert_int_eq(tali_sun_rates(t, y, high, sun), 0);
        tali_sun_data(y)[j] = kept - eps;
        ck_assert_int_eq(tali_sun_rates(t, y, low, sun), 0);
        tali_sun_data(y)[j] = kept;
        for (int i = 0; i < ny; ++i) {
            largest = fmax(largest, fabs(tali_sun_column(J, j)[i]));
            sum[i] += tali_sun_column(J, j)[i] * tali_sun_data(v)[j];
        }
        size = fmax(size, largest);
        for (int i = 0; i < ny; ++i) {
            const double slope = (tali_sun_data(high)[i] - tali_sun_data(low)[i]) / (2.0 * eps);
            ck_assert_double_eq_tol(tali_sun_column(J, j)[i], slope, 1e-6 * largest);
        }
    }
    ck_assert_int_eq(tali_sun_jacobian_times(v, tmp[0], t, y, f, sun, tmp[1]), 0);
    test_assert_near(tali_sun_data(tmp[0]), sum, ny, 1e-5 * size, "J v");
    N_VConst(0.0, v); // no direction at all
    ck_assert_int_eq(tali_sun_jacobian_times(v, tmp[0], t, y, f, sun, tmp[1]), 0);
    ck_assert_double_eq(N_VMaxNorm(tmp[0]), 0.0);
    study_end(&s);
}

END_TEST

// --- failures ---

static int flips; // of the test's only thread

static void flip(double t, const double z[], double zdot[])
{
    (void)t, (void)z;
    zdot[0] = ++flips % 2 == 0 ? 1e30 : -1e30;
}

// Rates that never come out the same twice.
START_TEST(equations_that_cannot_be_solved_are_reported)
{
    study_odes it = {.n = 1, .z0 = {1.0}, .rates = flip};
    tal_integrator_def def = bdf(1e-6);
    def.initial_step = 1e-3;
    study s = study_of_odes(&it, &def);
    const tal_status st = tal_integrator_step_to(s.integ, s.state, 1.0);
    ck_assert_int_eq(st, TAL_ERR_NO_CONVERGENCE);
    ck_assert_ptr_nonnull(strstr(tal_integrator_error(s.integ)->message, "cannot be solved"));
    ck_assert_double_eq(tal_state_t(s.state), 0.0);
    study_end(&s);
}

END_TEST

START_TEST(an_accuracy_beyond_double_precision_is_reported)
{
    const tal_integrator_def def = bdf(3e-16);
    study s = study_pin_pendulum(&def);
    ck_assert_int_eq(tal_integrator_step_to(s.integ, s.state, 1.0), TAL_ERR_STEP_TOO_SMALL);
    ck_assert_ptr_nonnull(strstr(tal_integrator_error(s.integ)->message, "double precision"));
    ck_assert_double_eq(tal_state_t(s.state), 0.0);
    study_end(&s);
}

END_TEST

// At 3e4 rad round-off is 7e-12 rad, more than accuracy 1e-10 holds a step to: what can be told is
// asked for, not more.
START_TEST(a_wheel_may_have_turned_far)
{
    const tal_method methods[] = {TAL_METHOD_CVODE_BDF, TAL_METHOD_IDA};
    for (int k = 0; k < 2; ++k) {
        const tal_integrator_def def = study_def(methods[k], 1e-10);
        study s = study_pin_pendulum(&def);
        const double turns = 2.0 * TAL_PI * 5000.0;
        tal_state_upd_q(s.state)[0] += turns;
        study_step_to(&s, STUDY_PENDULUM_PERIOD);
        ck_assert_double_gt(s.integ->tolerance, s.integ->step_accuracy);
        tal_state_upd_q(s.state)[0] -= turns;
        // a step rounds to 7e-12, and its error is let off with the accuracy
        const double steps = (double)tal_integrator_statistics(s.integ).steps_taken;
        ck_assert_double_le(study_pendulum_error(&s), 1e-10 * steps);
        study_end(&s);
    }
}

END_TEST

// Backward Euler: predicted 1 - h, found 1/(1 + h), and half of the difference is the error.
START_TEST(the_error_of_the_last_step_is_reported)
{
    const double h = 0.02;
    study_check_last_error(bdf(1.0), (study_held){0.03, 1.2}, h * h / (2.0 * (1.0 + h)));
}

END_TEST

START_TEST(what_cvode_cannot_do_is_refused)
{
    tal_integrator_def def = bdf(1e-6);
    def.fixed_step = 0.1;
    study_check_refused(def, "fixed_step is 0.1");
    study_check_refused(def, "those of ARKODE can keep to one");
    def = bdf(1e-6);
    def.order = 6;
    study_check_refused(def, "goes up to 5");
    def = adams(1e-6);
    def.order = 13;
    study_check_refused(def, "goes up to 12");
    def.order = -1;
    study_check_refused(def, "order is -1");
    def = bdf(1e-6);
    def.linear_solver = (tal_linear_solver)7;
    study_check_refused(def, "linear solver 7");
}

END_TEST

// An element that does nothing and does not say so: with it, Jacobians are found by differences.
static tal_status apply_nothing(const void *self, const tal_force_context *context,
                                tal_spatial_vec F[], double f[])
{
    (void)self, (void)context, (void)F, (void)f;
    return TAL_OK;
}

static const tal_force_ops silent = {
    .size = sizeof(tal_force_ops), .name = "nothing", .apply = apply_nothing};

// A chain of ten stiff pins in a bath, pulled by a muscle with an elastic tendon: its z are links
// of the thermostat, activation and fiber length. Evaluations; the last State in y.
static double run_with_z(bool is_silent, double y[])
{
    const tal_integrator_def def = bdf(1e-7);
    study s = study_begin(tal_v3(0.0, -9.81, 0.0));
    tal_body_ix body = TAL_GROUND;
    for (int i = 0; i < 10; ++i) {
        tal_mobod_def link = tal_mobod_def_default();
        link.mass = tal_mass_props_rod(0.1, tal_v3(0.05, 0.0, 0.0));
        link.X_PF = tal_xf_from_p(tal_v3(i == 0 ? 0.0 : 0.05, 0.0, 0.0));
        link.X_BM = tal_xf_from_p(tal_v3(-0.05, 0.0, 0.0));
        body = tal_matter_add_pin(s.matter, body, &link);
        const tal_mobility joint = {body, 0};
        (void)tal_forces_add_mobility_spring(s.forces, NULL, joint, 20.0, 0.0);
        (void)tal_forces_add_mobility_damper(s.forces, NULL, joint, 2.0);
    }
    const tal_path_ix path = tal_forces_add_path(s.forces, "string");
    (void)tal_path_add_point(s.forces, path, TAL_GROUND, tal_v3(0.0, 0.3, 0.0));
    (void)tal_path_add_point(s.forces, path, body, TAL_VEC3_ZERO);
    tal_muscle_def muscle = tal_muscle_def_default(TAL_MUSCLE_DEGROOTE);
    muscle.path = path;
    muscle.max_force = 20.0;
    muscle.fiber_length = 0.4;
    muscle.tendon_length = 0.6;
    muscle.damping = 0.1;
    (void)tal_forces_add_muscle(s.forces, "muscle", &muscle);
    tal_thermostat_def bath = tal_thermostat_def_default();
    bath.kT = 0.01;
    (void)tal_forces_add_thermostat(s.forces, "bath", &bath);
    if (is_silent) (void)tal_forces_add(s.forces, "nothing", &silent, NULL);
    study_finish(&s, &def);
    (void)tal_muscle_set_control(s.forces, s.state, tal_forces_find(s.forces, "muscle"), 0.5);
    study_step_to(&s, 0.5);
    memcpy(y, tal_state_y(s.state), (size_t)tal_state_ny(s.state) * sizeof *y);
    const double realizations = (double)tal_integrator_statistics(s.integ).realizations;
    study_end(&s);
    return realizations;
}

// Newton's method needs a good Jacobian, not a perfect one: answers agree to the accuracy times
// the steps, a few hundred.
START_TEST(rates_of_z_need_no_differences)
{
    double y[40], other[40];
    const double exact = run_with_z(false, y), differences = run_with_z(true, other);
    ck_assert_double_gt(differences, 1.3 * exact);
    for (int i = 0; i < 20; ++i) {
        ck_assert_double_eq_tol(y[i], other[i], 3e-5);
    }
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("cvode");
    TCase *accuracy = tcase_create("accuracy");
    tcase_add_test(accuracy, quaternions_stay_of_length_one);
    tcase_add_test(accuracy, the_order_can_be_limited);
    tcase_add_test(accuracy, adams_methods_have_their_order_free_and_constrained);
    tcase_add_test(accuracy, error_weights_are_those_of_the_manual);
    tcase_add_test(accuracy, rates_of_z_need_no_differences);
    tcase_add_test(accuracy, the_jacobian_is_the_derivative_of_the_rates);
    suite_add_tcase(suite, accuracy);
    TCase *steps = tcase_create("steps");
    tcase_add_test(steps, no_evaluation_is_past_the_end);
    tcase_add_test(steps, remainders_of_a_few_bits_are_stepped_over);
    tcase_add_test(steps, the_least_step_may_be_cut_short_by_the_end);
    suite_add_tcase(suite, steps);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, equations_that_cannot_be_solved_are_reported);
    tcase_add_test(errors, an_accuracy_beyond_double_precision_is_reported);
    tcase_add_test(errors, a_wheel_may_have_turned_far);
    tcase_add_test(errors, the_error_of_the_last_step_is_reported);
    tcase_add_test(errors, what_cvode_cannot_do_is_refused);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
