// Tests for study/src/problem/equations.c: integrators from elsewhere drive a System, here two
// written by hand.
#include "alloc_guard.h"
#include "stepper_model.h"

#include <math.h>

enum {
    MAX_Y = 8,
    MAX_C = 4
};

typedef struct outside {
    stepper_model m;
    tal_equations *eq;
    int ny;
    double t, y[MAX_Y];
} outside;

// From 90 degrees, L = 1 m; after a quarter of the period T = 4 sqrt(L/g) K(1/2) it hangs down.
static const double QUARTER = 0.25 * 2.3678419475762374493;

static outside begin(bool constrained, double accuracy)
{
    outside it = {.m = begin_stepper_model(9.81)};
    if (constrained) {
        (void)add_rod_pendulum(&it.m);
    } else {
        (void)add_pendulum(&it.m);
    }
    finish_stepper_model(&it.m, NULL, NULL);
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = accuracy;
    tal_error err = {0};
    ck_assert_int_eq(tal_equations_create(it.m.system, &def, &it.eq, &err), TAL_OK);
    const double q[2][3] = {{1.5707963267948966}, {1.0, 0.0, 0.0}};
    (void)tal_state_set_q(it.m.state, q[constrained], constrained ? 3 : 1);
    ck_assert_int_eq(tal_equations_begin(it.eq, it.m.state), TAL_OK);
    it.ny = tal_state_ny(it.m.state);
    it.t = tal_state_t(it.m.state);
    memcpy(it.y, tal_state_y(it.m.state), (size_t)it.ny * sizeof(double));
    ck_assert_int_eq(tal_equations_nc(it.eq, it.m.state), constrained ? 2 : 0);
    return it;
}

static void end(outside *it)
{
    tal_equations_destroy(it->eq);
    end_stepper_model(&it->m);
}

static void rates(outside *it, double t, const double y[], double ydot[])
{
    ck_assert_msg(tal_equations_rates(it->eq, it->m.state, t, y, ydot) == TAL_OK, "%s",
                  tal_equations_error(it->eq)->message);
}

// The lowest point, and its speed sqrt(2 g).
static double error_at_bottom(const outside *it)
{
    if (it->ny == 2) return fmax(fabs(it->y[0]), fabs(it->y[1] + sqrt(2.0 * 9.81)));
    return fmax(fabs(it->y[0]), fabs(it->y[3] + sqrt(2.0 * 9.81)));
}

// --- the classical method of fourth order ---

static void rk4_step(outside *it, double h)
{
    double k[4][MAX_Y], y[MAX_Y];
    ck_assert_int_eq(tal_equations_begin_step(it->eq, it->m.state, it->t, it->y), TAL_OK);
    rates(it, it->t, it->y, k[0]);
    for (int s = 1; s < 4; ++s) {
        const double c = s == 3 ? 1.0 : 0.5;
        for (int i = 0; i < it->ny; ++i) {
            y[i] = it->y[i] + c * h * k[s - 1][i];
        }
        rates(it, it->t + c * h, y, k[s]);
    }
    for (int i = 0; i < it->ny; ++i) {
        it->y[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
    }
    it->t += h;
    ck_assert_int_eq(tal_equations_project(it->eq, it->m.state, it->t, it->y, NULL), TAL_OK);
}

static double rk4_error(bool constrained, int steps)
{
    outside it = begin(constrained, 1e-9);
    for (int k = 0; k < steps; ++k) {
        rk4_step(&it, QUARTER / steps);
        double c[MAX_C];
        ck_assert_int_eq(tal_equations_errors(it.eq, it.m.state, it.t, it.y, c), TAL_OK);
        ck_assert_double_le(tal_equations_constraint_norm(it.eq, it.m.state, c), 1e-10);
    }
    const double error = error_at_bottom(&it);
    end(&it);
    return error;
}

// The next term of the error is of relative size h: at 40 steps the order is seen to a quarter.
START_TEST(a_hand_written_method_keeps_its_order)
{
    for (int constrained = 0; constrained < 2; ++constrained) {
        const double coarse = rk4_error(constrained == 1, 40),
                     fine = rk4_error(constrained == 1, 80);
        ck_assert_double_eq_tol(log2(coarse / fine), 4.0, 0.3);
    }
}

END_TEST

// --- a predictor and corrector of second order with steps under control, as a multistep code does
// it ---

typedef struct adams {
    double f0[MAX_Y], f_prev[MAX_Y], h, h_prev;
    int accepted, refused;
} adams;

// Adams-Bashforth predicts, the trapezoid corrects; their difference is six times the error.
static double try_adams(outside *it, const adams *a, double h, double y[], double e[])
{
    double f1[MAX_Y], predicted[MAX_Y];
    const double r = a->h_prev > 0.0 ? h / a->h_prev : 0.0;
    for (int i = 0; i < it->ny; ++i) {
        predicted[i] = it->y[i] + h * ((1.0 + 0.5 * r) * a->f0[i] - 0.5 * r * a->f_prev[i]);
    }
    rates(it, it->t + h, predicted, f1);
    for (int i = 0; i < it->ny; ++i) {
        y[i] = it->y[i] + 0.5 * h * (a->f0[i] + f1[i]);
        e[i] = (y[i] - predicted[i]) / (a->h_prev > 0.0 ? 6.0 : 1.0);
    }
    ck_assert_int_eq(tal_equations_project(it->eq, it->m.state, it->t + h, y, e), TAL_OK);
    return tal_equations_error_norm(it->eq, it->m.state, it->y, e);
}

static double adams_error(bool constrained, double accuracy, adams *a)
{
    outside it = begin(constrained, accuracy);
    *a = (adams){.h = 1e-4};
    while (it.t < QUARTER) {
        double y[MAX_Y], e[MAX_Y];
        const double h = fmin(a->h, QUARTER - it.t);
        rates(&it, it.t, it.y, a->f0);
        const double norm = try_adams(&it, a, h, y, e);
        a->h = h * fmin(2.0, fmax(0.3, 0.8 * pow(accuracy / norm, 1.0 / 3.0)));
        if (norm > accuracy) {
            ++a->refused;
            continue;
        }
        ++a->accepted;
        memcpy(a->f_prev, a->f0, sizeof a->f0);
        memcpy(it.y, y, sizeof y);
        a->h_prev = h;
        it.t = h < QUARTER - it.t ? it.t + h : QUARTER;
    }
    const double error = error_at_bottom(&it);
    end(&it);
    return error;
}

// 3/2 of an order of magnitude in h for each in accuracy, so the error of a run goes with a^(2/3);
// with it the number of steps, as a^(-1/3): 100 times the accuracy takes 4.6 times the steps.
START_TEST(a_hand_written_multistep_method_controls_its_error)
{
    for (int constrained = 0; constrained < 2; ++constrained) {
        adams coarse, fine;
        const double e1 = adams_error(constrained == 1, 1e-5, &coarse);
        const double e2 = adams_error(constrained == 1, 1e-7, &fine);
        ck_assert_double_eq_tol(log10(e1 / e2), 4.0 / 3.0, 0.3);
        ck_assert_double_eq_tol(log10((double)fine.accepted / coarse.accepted), 2.0 / 3.0, 0.1);
        ck_assert_double_le(e2, 1e-3);
    }
}

END_TEST

// --- weights ---

// E_q = N W_u N^+, E_u = min(W, 1/|u|); T = {T_p, t_c T_p}.
START_TEST(weights_are_those_of_the_manual)
{
    outside it = begin(true, 1e-6);
    const double W[] = {2.0, 3.0, 0.5}, y[] = {1.0, 0.0, 0.0, 0.1, -4.0, 1.0};
    const double e[] = {1.0, 2.0, 3.0, 1.0, 1.0, 1.0};
    const double expected[] = {2.0, 6.0, 1.5, 2.0, 0.25, 0.5};
    ck_assert_int_eq(tal_state_set_weights(it.m.state, TAL_POOL_U, W, 3), TAL_OK);
    double out[MAX_Y], ydot[MAX_Y];
    rates(&it, 0.0, it.y, ydot);
    ck_assert_int_eq(tal_equations_weigh(it.eq, it.m.state, y, e, out), TAL_OK);
    test_assert_near(out, expected, 6, 1e-15, "E e");
    // the larger of both norms: q, sqrt((4 + 36 + 2.25)/3)
    ck_assert_double_eq_tol(tal_equations_error_norm(it.eq, it.m.state, y, e), sqrt(42.25 / 3.0),
                            1e-14);
    const double Tp = 7.0;
    ck_assert_int_eq(tal_state_set_weights(it.m.state, TAL_POOL_QERR, &Tp, 1), TAL_OK);
    double T[MAX_C];
    ck_assert_int_eq(tal_equations_constraint_weights(it.eq, it.m.state, T), TAL_OK);
    const double t_c = tal_system_time_scale(it.m.system);
    ck_assert_double_eq(T[0], 7.0);
    ck_assert_double_eq_tol(T[1], 7.0 * t_c, 1e-15);
    const double c[] = {0.1, 2.0};
    ck_assert_double_eq_tol(tal_equations_constraint_norm(it.eq, it.m.state, c),
                            fmax(0.7, 14.0 * t_c), 1e-14);
    end(&it);
}

END_TEST

// A rod, a constant speed and a constant acceleration, each on a body of its own: manual eq. 9.4 at
// the acceleration level.
START_TEST(accelerations_are_weighed_as_the_manual_says)
{
    stepper_model m = begin_stepper_model(9.81);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 0.1);
    tal_body_ix bodies[3];
    for (int i = 0; i < 3; ++i) {
        bodies[i] = tal_matter_add_translation(m.matter, TAL_GROUND, &def);
    }
    const tal_constraint_def rod = tal_constraint_between(TAL_GROUND, bodies[0]);
    const tal_constraint_def speed = tal_constraint_on(bodies[1], 0);
    const tal_constraint_def rate = tal_constraint_on(bodies[2], 0);
    (void)tal_constraint_add_constant_acceleration(m.matter, &rate, 0.5);
    (void)tal_constraint_add_constant_speed(m.matter, &speed, 2.0);
    (void)tal_constraint_add_rod(m.matter, &rod, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    finish_stepper_model(&m, NULL, NULL);
    tal_equations *eq = NULL;
    ck_assert_int_eq(tal_equations_create(m.system, NULL, &eq, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_INSTANCE), TAL_OK);
    const double T_p = 7.0, T_v[] = {1.0, 3.0}, t_a = 0.25, bad = 0.0;
    ck_assert_int_eq(tal_state_set_weights(m.state, TAL_POOL_QERR, &T_p, 1), TAL_OK);
    ck_assert_int_eq(tal_state_set_weights(m.state, TAL_POOL_UERR, T_v, 2), TAL_OK);
    ck_assert_int_eq(tal_state_pool_size(m.state, TAL_POOL_UDOTERR), 3);
    double T[3];
    const double t_c = tal_system_time_scale(m.system);
    ck_assert_int_eq(tal_equations_acceleration_weights(eq, m.state, &t_a, T), TAL_OK);
    ck_assert_double_eq_tol(T[0], 7.0 * t_c * t_c, 1e-15);
    ck_assert_double_eq_tol(T[1], 3.0 * t_c, 1e-15);
    ck_assert_double_eq(T[2], 4.0);
    ck_assert_int_eq(tal_equations_acceleration_weights(eq, m.state, NULL, T), TAL_OK);
    ck_assert_double_eq(T[2], 1.0);
    ck_assert_int_eq(tal_equations_acceleration_weights(eq, m.state, &bad, T), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_equations_error(eq)->message, "unit error"));
    tal_equations_destroy(eq);
    end_stepper_model(&m);
}

END_TEST

// --- failures ---

START_TEST(what_is_not_finite_is_refused_by_name)
{
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (int k = 0; k < 3; ++k) {
        outside it = begin(true, 1e-6);
        double y[MAX_Y], ydot[MAX_Y], c[MAX_C];
        memcpy(y, it.y, sizeof y);
        y[1] = bad[k];
        ck_assert_int_eq(tal_equations_rates(it.eq, it.m.state, 0.0, y, ydot), TAL_ERR_NOT_FINITE);
        ck_assert_ptr_nonnull(
            strstr(tal_equations_error(it.eq)->message, "coordinate 1 of 'matter'"));
        ck_assert_int_eq(tal_equations_errors(it.eq, it.m.state, 0.0, y, c), TAL_ERR_NOT_FINITE);
        ck_assert_int_eq(tal_equations_project(it.eq, it.m.state, 0.0, y, NULL),
                         TAL_ERR_NOT_FINITE);
        ck_assert_int_eq(tal_equations_begin_step(it.eq, it.m.state, 0.0, y), TAL_ERR_NOT_FINITE);
        ck_assert_int_eq(tal_equations_rates(it.eq, it.m.state, bad[k], it.y, ydot),
                         TAL_ERR_NOT_FINITE);
        ck_assert(isnan(tal_equations_error_norm(it.eq, it.m.state, y, it.y)));
        ck_assert(isnan(tal_equations_error_norm(it.eq, it.m.state, it.y, y)));
        ck_assert_int_eq(tal_equations_weigh(it.eq, it.m.state, it.y, y, ydot), TAL_ERR_NOT_FINITE);
        c[0] = bad[k], c[1] = 0.0;
        ck_assert(!isfinite(tal_equations_constraint_norm(it.eq, it.m.state, c)));
        end(&it);
    }
}

END_TEST

START_TEST(broken_contracts_are_reported)
{
    test_record_breaches();
    outside it = begin(true, 1e-6);
    tal_state *state = it.m.state;
    double out[MAX_Y];
    test_assert_refused(tal_equations_create(it.m.system, NULL, NULL, NULL), TAL_ERR_NULL, "out");
    test_assert_refused(tal_equations_begin(NULL, state), TAL_ERR_NULL, "equations");
    test_assert_breach((void)tal_equations_nc(it.eq, NULL), TAL_ERR_NULL, "State");
    test_assert_refused(tal_equations_begin_step(it.eq, state, 0.0, NULL), TAL_ERR_NULL, "values");
    test_assert_refused(tal_equations_rates(it.eq, state, 0.0, NULL, out), TAL_ERR_NULL, "values");
    test_assert_refused(tal_equations_errors(it.eq, state, 0.0, it.y, NULL), TAL_ERR_NULL,
                        "values");
    test_assert_refused(tal_equations_project(it.eq, state, 0.0, NULL, NULL), TAL_ERR_NULL,
                        "values");
    test_assert_breach((void)tal_equations_error_norm(it.eq, state, NULL, out), TAL_ERR_NULL,
                       "values");
    test_assert_refused(tal_equations_weigh(it.eq, state, it.y, it.y, NULL), TAL_ERR_NULL,
                        "values");
    test_assert_breach((void)tal_equations_constraint_norm(it.eq, state, NULL), TAL_ERR_NULL,
                       "values");
    test_assert_refused(tal_equations_constraint_weights(it.eq, state, NULL), TAL_ERR_NULL,
                        "values");
    ck_assert_int_eq(tal_equations_error(NULL)->status, TAL_ERR_NULL);
    tal_equations_destroy(NULL);
    tal_equations *none = NULL;
    tal_error err = {0};
    ck_assert_int_eq(tal_equations_create(NULL, NULL, &none, &err), TAL_ERR_NULL);
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = (double)NAN;
    ck_assert_int_eq(tal_equations_create(it.m.system, &def, &none, &err), TAL_ERR_BAD_VALUE);
    end(&it);
}

END_TEST

START_TEST(memory_may_run_out_at_create)
{
    tal_system_def def = tal_system_def_default();
    test_heap heap = {0};
    def.allocator = test_heap_allocator(&heap);
    tal_system *system = tal_system_create(&def);
    tal_error err = {0};
    ck_assert_int_eq(tal_system_realize_topology(system, &err), TAL_OK);
    for (int n = 1; n <= 3; ++n) { // the struct, its arrays
        tal_equations *eq = NULL;
        heap.refuse_at = heap.calls + n;
        const tal_status st = tal_equations_create(system, NULL, &eq, &err);
        ck_assert_int_eq(st, n <= 2 ? TAL_ERR_NO_MEMORY : TAL_OK);
        tal_equations_destroy(eq);
    }
    tal_system_destroy(system);
}

END_TEST

START_TEST(no_call_touches_the_heap)
{
    outside it = begin(true, 1e-6);
    tal_state *state = it.m.state;
    double ydot[MAX_Y], c[MAX_C], e[MAX_Y] = {0.0};
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_equations_rates(it.eq, state, 0.1, it.y, ydot));
    ck_assert_int_eq(st, TAL_OK);
    test_assert_no_heap(st = tal_equations_errors(it.eq, state, 0.1, it.y, c));
    ck_assert_int_eq(st, TAL_OK);
    test_assert_no_heap(st = tal_equations_project(it.eq, state, 0.1, it.y, e));
    ck_assert_int_eq(st, TAL_OK);
    end(&it);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/equations");
    TCase *tests = tcase_create("equations");
    tcase_add_test(tests, a_hand_written_method_keeps_its_order);
    tcase_add_test(tests, a_hand_written_multistep_method_controls_its_error);
    tcase_add_test(tests, weights_are_those_of_the_manual);
    tcase_add_test(tests, accelerations_are_weighed_as_the_manual_says);
    tcase_add_test(tests, what_is_not_finite_is_refused_by_name);
    tcase_add_test(tests, broken_contracts_are_reported);
    tcase_add_test(tests, no_call_touches_the_heap);
    tcase_add_test(tests, memory_may_run_out_at_create);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
