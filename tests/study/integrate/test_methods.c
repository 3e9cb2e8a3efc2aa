// Tests for study/src/integrate/runge_kutta.c, semi_explicit_euler.c, verlet.c and interpolate.c:
// every method on systems whose motion is known.
#include "alloc_guard.h"
#include "talus_test.h"

#include <talus/study.h>

#include <math.h>

// --- the methods ---

typedef struct candidate {
    const char *name;
    tal_method method;
    const tal_rk_tableau *(*tableau)(void);
    int order;
    int steps;       // of the coarser run of an order measurement
    double exponent; // global errors go with the accuracy to this power; 0: test_battery.c
} candidate;

// Where the estimate is of lower order than the solution (h^p against a step's h^(p+1)), p powers
// of h make a step's estimate as well as the global error: proportional to the accuracy. Euler's
// methods are controlled by their own error, h^2 per step, h in all: the root of the accuracy. For
// methods of higher order test_battery.c tests it.
static const candidate CANDIDATES[] = {
    {"Euler", TAL_METHOD_RUNGE_KUTTA, tal_rk_euler, 1, 4000, 0.5},
    {"trapezoid", TAL_METHOD_RUNGE_KUTTA, tal_rk_trapezoid, 2, 400, 1.0},
    {"RK3", TAL_METHOD_RUNGE_KUTTA, tal_rk_bogacki_shampine, 3, 200, 1.0},
    {"Merson", TAL_METHOD_RUNGE_KUTTA, tal_rk_merson, 4, 100, 0.0},
    {"Dormand-Prince", TAL_METHOD_RUNGE_KUTTA, tal_rk_dormand_prince, 5, 60, 0.0},
    {"Bogacki-Shampine 5", TAL_METHOD_RUNGE_KUTTA, tal_rk_bogacki_shampine_5, 5, 8, 0.0},
    {"Verner 8", TAL_METHOD_RUNGE_KUTTA, tal_rk_verner_8, 8, 5, 0.0},
    {"semi-explicit Euler", TAL_METHOD_SEMI_EXPLICIT_EULER, NULL, 1, 4000, 0.5},
    {"Verlet", TAL_METHOD_VERLET, NULL, 2, 400, 1.0},
};

enum {
    NUM_CANDIDATES = sizeof CANDIDATES / sizeof CANDIDATES[0]
};

static tal_integrator_def def_of(const candidate *it)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.method = it->method;
    def.tableau = it->tableau != NULL ? it->tableau() : NULL;
    return def;
}

// --- the systems ---

typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_integrator *integ;
} model;

static model begin_model(tal_vec3 g)
{
    model m = {.system = tal_system_create(NULL)};
    m.matter = tal_matter_create(m.system);
    m.forces = tal_forces_create(m.system, m.matter);
    (void)tal_forces_add_gravity(m.forces, g);
    return m;
}

static void finish_model(model *m, const tal_integrator_def *def)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(m->system, &m->state, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_integrator_create(m->system, def, &m->integ, &err) == TAL_OK, "%s",
                  err.message);
}

static void end_model(model *m)
{
    tal_integrator_destroy(m->integ);
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

static void go_to(model *m, double t)
{
    const tal_status st = tal_integrator_step_to(m->integ, m->state, t);
    ck_assert_msg(st == TAL_OK, "%s", tal_integrator_error(m->integ)->message);
}

static const tal_vec3 G_DOWN = {0.0, -9.81, 0.0};

// From 90 degrees, L = 1 m: T = 4 sqrt(L/g) K(1/2).
static const double PERIOD = 2.3678419475762374493;

static model begin_pendulum(const tal_integrator_def *def)
{
    model m = begin_model(G_DOWN);
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    bob.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
    const tal_body_ix body = tal_matter_add_pin(m.matter, TAL_GROUND, &bob);
    finish_model(&m, def);
    tal_body_set_q(m.matter, m.state, body, 0, TAL_PI / 2.0);
    return m;
}

// After a quarter of the period it hangs down, with the energy of its fall: u^2 = 2 g / L. (At half
// of it symplectic methods would be too good, because the motion is symmetric.)
static double pendulum_error(const model *m)
{
    const double speed = -sqrt(2.0 * 9.81);
    return fmax(fabs(tal_state_q(m->state)[0]), fabs(tal_state_u(m->state)[0] - speed));
}

// The same pendulum as a point in the plane that a rod holds.
static model begin_rod_pendulum(const tal_integrator_def *def)
{
    model m = begin_model(G_DOWN);
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    const tal_body_ix body = tal_matter_add_translation(m.matter, TAL_GROUND, &bob);
    tal_constraint_def rod = tal_constraint_def_default();
    rod.bodies[0] = TAL_GROUND;
    rod.bodies[1] = body;
    (void)tal_constraint_add_rod(m.matter, &rod, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    finish_model(&m, def);
    tal_body_set_q(m.matter, m.state, body, 0, 1.0);
    return m;
}

static double rod_pendulum_error(const model *m)
{
    const double q[] = {0.0, -1.0, 0.0}, u[] = {-sqrt(2.0 * 9.81), 0.0, 0.0};
    double worst = 0.0;
    for (int i = 0; i < 3; ++i) {
        worst = fmax(worst, fabs(tal_state_q(m->state)[i] - q[i]));
        worst = fmax(worst, fabs(tal_state_u(m->state)[i] - u[i]));
    }
    return worst;
}

// A free body with moments 1, 2, 3, spun about the axis of 2 as in
// tests/theory/test_trajectories.c.
static model begin_top(const tal_integrator_def *def)
{
    model m = begin_model(TAL_VEC3_ZERO);
    tal_mobod_def top = tal_mobod_def_default();
    top.mass.mass = 1.0;
    top.mass.inertia = (tal_sym3){.xx = 1.0, .yy = 2.0, .zz = 3.0};
    (void)tal_matter_add_ball(m.matter, TAL_GROUND, &top);
    finish_model(&m, def);
    const double u[] = {0.01, 5.0, 0.01};
    tal_state_set_u(m.state, u, 3);
    return m;
}

// Its quaternion after 3 s, past the first time it turns over.
static double top_error(const model *m)
{
    static const double there[] = {0.14967844189884679561, -0.69474167945060974829,
                                   0.40094474761562002619, 0.57807756592374912537};
    const double *q = tal_state_q(m->state);
    double plus = 0.0, minus = 0.0;
    for (int i = 0; i < 4; ++i) {
        plus = fmax(plus, fabs(q[i] - there[i]));
        minus = fmax(minus, fabs(q[i] + there[i]));
    }
    return fmin(plus, minus);
}

typedef struct problem {
    const char *name;
    model (*begin)(const tal_integrator_def *def);
    double (*error)(const model *m);
    double t_end;
    int rate; // of its motion [1/s], relative to the pendulum's: so many times the steps
} problem;

static const problem PROBLEMS[] = {
    {"pendulum", begin_pendulum, pendulum_error, 0.25 * 2.3678419475762374493, 1},
    {"top", begin_top, top_error, 3.0, 6},
    {"rod pendulum", begin_rod_pendulum, rod_pendulum_error, 0.25 * 2.3678419475762374493, 1},
};

// --- order ---

static double fixed_step_error(const candidate *it, const problem *on, int steps)
{
    tal_integrator_def def = def_of(it);
    def.accuracy = 1e-9; // how far Verlet iterates
    def.constraint_tolerance = 1e-12;
    def.fixed_step = on->t_end / steps;
    model m = on->begin(&def);
    go_to(&m, on->t_end);
    ck_assert_uint_eq(tal_integrator_statistics(m.integ).steps_taken, (uint64_t)steps);
    const double error = on->error(&m);
    end_model(&m);
    return error;
}

// The error is C h^p (1 + O(h)): twice the steps divide it by 2^p up to that. Steps are chosen so
// that errors are far above round-off and h times the rates of the motion (5 /s) is below 0.1, or
// 0.4 for the last two, which would leave nothing to see. The leading C of orders 5 and 8 was made
// small on purpose, so what follows it shows more: most with Bogacki and Shampine's, whose errors
// are like h^6 down to 1e-10, and with steps as long as Verner's. That they are of no higher order
// is told by the order conditions (tests/study/integrate/test_tableau.c).
static double order_excess(const candidate *it)
{
    if (it->order < 5) return 0.1;
    return it->tableau == tal_rk_dormand_prince ? 0.3 : 1.5;
}

START_TEST(every_method_has_its_order)
{
    for (size_t j = 0; j < sizeof PROBLEMS / sizeof PROBLEMS[0]; ++j) {
        for (int k = 0; k < NUM_CANDIDATES; ++k) {
            const candidate *it = &CANDIDATES[k];
            const int steps = it->steps * PROBLEMS[j].rate;
            const double coarse = fixed_step_error(it, &PROBLEMS[j], steps);
            const double fine = fixed_step_error(it, &PROBLEMS[j], 2 * steps);
            const double order = log2(coarse / fine);
            const double excess = order - it->order;
            ck_assert_msg(excess > (it->order < 5 ? -0.1 : -0.3) && excess < order_excess(it),
                          "%s on the %s: %g, %g, order %g", it->name, PROBLEMS[j].name, coarse,
                          fine, order);
        }
    }
}

END_TEST

// --- accuracy ---

// Six decades of accuracy make six of error (three for Euler's methods), give or take half of one.
START_TEST(global_errors_go_with_the_accuracy)
{
    for (int k = 0; k < NUM_CANDIDATES; ++k) {
        const candidate *it = &CANDIDATES[k];
        if (it->exponent == 0.0) continue;
        double error[4];
        for (int digits = 3; digits <= 9; digits += 2) {
            tal_integrator_def def = def_of(it);
            def.accuracy = pow(10.0, -digits);
            def.max_steps = 100000; // h^2 = 1e-9 makes some 40000
            model m = begin_pendulum(&def);
            go_to(&m, 0.25 * PERIOD);
            error[(digits - 3) / 2] = pendulum_error(&m);
            end_model(&m);
        }
        const double exponent = log10(error[0] / error[3]) / 6.0;
        ck_assert_msg(fabs(exponent - it->exponent) < 0.5 / 6.0, "%s: errors %g ... %g", it->name,
                      error[0], error[3]);
    }
}

END_TEST

// --- energy ---

// Largest |E - E0| over `periods` periods of the pendulum, seen at the end of each step.
static double worst_energy_error(model *m, double h, int first_step, int last_step)
{
    double worst = 0.0;
    for (int n = first_step; n < last_step; ++n) {
        go_to(m, h * (n + 1));
        worst = fmax(worst, fabs(tal_system_energy(m->system, m->state)));
    }
    return worst;
}

// Symplectic methods keep an energy near the true one for exponentially long times: what the first
// ten periods show, the last ten of 300 show as well, to a part in a hundred because the sampled
// phases differ. E = 0 at the start. The trapezoid, of the same order, has run away by then.
START_TEST(the_energy_of_symplectic_methods_stays_bounded)
{
    enum {
        STEPS = 100,
        PERIODS = 300
    };

    const double h = PERIOD / STEPS;
    for (int k = 0; k < NUM_CANDIDATES; ++k) {
        const candidate *it = &CANDIDATES[k];
        const bool symplectic = it->method != TAL_METHOD_RUNGE_KUTTA;
        if (!symplectic && it->tableau != tal_rk_trapezoid) continue;
        tal_integrator_def def = def_of(it);
        def.fixed_step = h;
        model m = begin_pendulum(&def);
        const double early = worst_energy_error(&m, h, 0, 10 * STEPS);
        go_to(&m, h * (PERIODS - 10) * STEPS);
        const double late = worst_energy_error(&m, h, (PERIODS - 10) * STEPS, PERIODS * STEPS);
        if (symplectic) ck_assert_double_lt(late, 1.01 * early);
        if (!symplectic) ck_assert_double_gt(late, 10.0 * early);
        end_model(&m);
    }
}

END_TEST

// --- cost ---

// Rates are realized once at the start, then so many times for each step tried, and once more at
// the end of a step taken unless its last stage or round was that end.
START_TEST(rates_known_from_the_last_stage_are_not_computed_again)
{
    static const struct {
        int tried, taken;
    } cost[NUM_CANDIDATES] = {{1, 0}, {1, 1},  {3, 0}, {4, 1}, {6, 0},
                              {7, 0}, {12, 1}, {1, 1}, {2, 0}};

    for (int k = 0; k < NUM_CANDIDATES; ++k) {
        for (int j = 0; j < 2; ++j) {
            if (CANDIDATES[k].method == TAL_METHOD_VERLET && j > 0) continue; // rounds vary
            tal_integrator_def def = def_of(&CANDIDATES[k]);
            def.accuracy = 1e-4;
            model m = PROBLEMS[j].begin(&def);
            go_to(&m, 0.3);
            go_to(&m, 0.5); // and across calls
            const tal_integrator_stats stats = tal_integrator_statistics(m.integ);
            const uint64_t wanted = 1 + (uint64_t)cost[k].tried * stats.steps_attempted +
                                    (uint64_t)cost[k].taken * stats.steps_taken;
            ck_assert_msg(stats.realizations == wanted, "%s on the %s: %d instead of %d",
                          CANDIDATES[k].name, PROBLEMS[j].name, (int)stats.realizations,
                          (int)wanted);
            end_model(&m);
        }
    }
}

END_TEST

// Fixed steps need no error estimate, so stages that serve only it are left out.
START_TEST(fixed_steps_do_not_pay_for_error_estimates)
{
    static const int cost[NUM_CANDIDATES] = {1, 2, 3, 5, 6, 7, 12, 1, 2};
    for (int k = 0; k < NUM_CANDIDATES; ++k) {
        tal_integrator_def def = def_of(&CANDIDATES[k]);
        def.fixed_step = 0.01;
        model m = begin_pendulum(&def);
        go_to(&m, 1.0);
        ck_assert_uint_eq(tal_integrator_statistics(m.integ).steps_taken, 100);
        ck_assert_uint_eq(tal_integrator_statistics(m.integ).realizations,
                          1 + 100 * (uint64_t)cost[k]);
        end_model(&m);
    }
}

END_TEST

// Speeds that drive themselves by more than 2/h per second do not settle: f = -c u moves u_k by
// h c / 2 times what it moved before. Controlled steps get shorter, fixed ones are refused.
static tal_status drag(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                       double f[])
{
    (void)self;
    (void)F;
    f[0] -= 1000.0 * tal_state_u(context->state)[0];
    return TAL_OK;
}

static const tal_force_ops drag_ops = {.size = sizeof drag_ops, .name = "drag", .apply = drag};

START_TEST(verlet_refuses_steps_in_which_speeds_do_not_settle)
{
    for (int k = 0; k < 2; ++k) {
        model m = begin_model(TAL_VEC3_ZERO);
        tal_mobod_def body = tal_mobod_def_default();
        body.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
        (void)tal_matter_add_slider(m.matter, TAL_GROUND, &body);
        (void)tal_forces_add(m.forces, NULL, &drag_ops, NULL);
        tal_integrator_def def = tal_integrator_def_default();
        def.method = TAL_METHOD_VERLET;
        def.initial_step = 0.01;
        def.fixed_step = k == 0 ? 0.0 : 0.01;
        finish_model(&m, &def);
        const double u = 1.0;
        tal_state_set_u(m.state, &u, 1);
        const tal_status st = tal_integrator_step_to(m.integ, m.state, 0.02);
        ck_assert_int_eq(st, k == 0 ? TAL_OK : TAL_ERR_NO_CONVERGENCE);
        if (k == 0) {
            // x = (1 - e^(-ct)) / c, in some 100 steps of errors below 1e-3
            ck_assert_double_eq_tol(tal_state_q(m.state)[0], 1e-3, 1e-4);
            ck_assert_uint_gt(tal_integrator_statistics(m.integ).other_failures, 0);
        } else {
            const char *message = tal_integrator_error(m.integ)->message;
            ck_assert_msg(strstr(message, "0.01 from t = 0 is too long") != NULL, "%s", message);
        }
        end_model(&m);
    }
}

END_TEST

// --- within a step ---

// Largest error of q within the steps of a fixed-step run over a quarter period.
static double dense_error(const candidate *it, int steps)
{
    tal_integrator_def fine = tal_integrator_def_default();
    fine.tableau = tal_rk_dormand_prince();
    fine.accuracy = 1e-14;
    tal_integrator_def def = def_of(it);
    def.fixed_step = 0.25 * PERIOD / steps;
    model m = begin_pendulum(&def), ref = begin_pendulum(&fine);
    tal_state *out = NULL;
    ck_assert_int_eq(tal_state_create(m.system, &out, NULL), TAL_OK);
    double worst = 0.0;
    for (int n = 0; n < steps; ++n) {
        const double t0 = tal_state_t(m.state);
        ck_assert_int_eq(tal_integrator_step(m.integ, m.state, 0.25 * PERIOD), TAL_OK);
        const double t1 = tal_state_t(m.state);
        for (int i = 1; i < 4; ++i) {
            const double t = t0 + 0.25 * i * (t1 - t0);
            ck_assert_int_eq(tal_integrator_interpolate(m.integ, m.state, t, out), TAL_OK);
            ck_assert_double_eq(tal_state_t(out), t);
            go_to(&ref, t);
            worst = fmax(worst, fabs(tal_state_u(out)[0] - tal_state_u(ref.state)[0]));
        }
    }
    tal_state_destroy(out);
    end_model(&ref);
    end_model(&m);
    return worst;
}

// As many terms are added to the cubic, which is off by O(h^4), as the order of fixed steps asks
// for, four at most: O(h^8). The step's own error adds h^p, or more powers of h where a method is
// better than its order, as Bogacki and Shampine's is here.
START_TEST(dense_output_has_its_order)
{
    static const struct {
        int candidate, steps, order;
    } rows[] = {{2, 40, 3}, {3, 20, 4}, {4, 12, 5}, {5, 12, 5}, {6, 6, 7}, {8, 100, 2}};

    for (int k = 0; k < 6; ++k) {
        const candidate *it = &CANDIDATES[rows[k].candidate];
        const double coarse = dense_error(it, rows[k].steps);
        const double fine = dense_error(it, 2 * rows[k].steps);
        const double order = log2(coarse / fine);
        ck_assert_msg(order > rows[k].order - 0.3, "%s: %g, %g, order %g", it->name, coarse, fine,
                      order);
    }
}

END_TEST

// How far y is from another, as accuracy counts it: coordinates and small speeds by themselves,
// others by their size.
static double distance(const tal_state *a, const tal_state *b)
{
    double most = 0.0;
    for (int i = 0; i < tal_state_ny(a); ++i) {
        const double y = tal_state_y(b)[i], size = i < tal_state_nq(a) ? 1.0 : fmax(1.0, fabs(y));
        most = fmax(most, fabs(tal_state_y(a)[i] - y) / size);
    }
    return most;
}

/// Errors of steps, from where each began, and of the States within them.
typedef struct sum_of_errors {
    double ends, rows; // sums of squares
    int num_ends, num_rows;
} sum_of_errors;

static sum_of_errors errors_of(model *m, model *ref, double t_end)
{
    sum_of_errors it = {0.0, 0.0, 0, 0};
    tal_state *row = NULL;
    ck_assert_int_eq(tal_state_create(m->system, &row, NULL), TAL_OK);
    while (tal_state_t(m->state) < t_end) {
        ck_assert_int_eq(tal_state_copy(ref->state, m->state), TAL_OK);
        const double t0 = tal_state_t(m->state);
        ck_assert_int_eq(tal_integrator_step(m->integ, m->state, t_end), TAL_OK);
        const double h = tal_state_t(m->state) - t0;
        tal_integrator_reset(ref->integ);
        for (int k = 1; k <= 3; ++k) {
            const double t = t0 + 0.25 * k * h;
            ck_assert_int_eq(tal_integrator_interpolate(m->integ, m->state, t, row), TAL_OK);
            go_to(ref, t);
            const double e = distance(row, ref->state);
            it.rows += e * e;
            ++it.num_rows;
        }
        go_to(ref, t0 + h);
        const double e = distance(m->state, ref->state);
        it.ends += e * e;
        ++it.num_ends;
    }
    tal_state_destroy(row);
    return it;
}

// Rows of a table are as exact as the run, whatever the method: their errors from where the step
// began are no larger, in the mean of squares, than those of the steps' ends and what a step is
// held to. (They were 100 to 10,000 times that with Verner's method, 10 times with those of order
// 5.)
START_TEST(within_steps_states_are_as_exact_as_at_their_ends)
{
    static const double accuracies[] = {1e-3, 1e-5, 1e-8};
    for (int k = 2; k <= 6; ++k) {
        for (int j = 0; j < 3; ++j) {
            for (int i = 0; i < 2; ++i) {
                tal_integrator_def def = def_of(&CANDIDATES[k]), fine = def_of(&CANDIDATES[6]);
                def.accuracy = accuracies[j];
                fine.accuracy = 1e-12;
                if (k == 2 && j == 2) continue; // of order 3: thousands of steps
                model m = PROBLEMS[i].begin(&def);
                model ref = m;
                ref.state = NULL;
                ck_assert_int_eq(tal_state_create(m.system, &ref.state, NULL), TAL_OK);
                ck_assert_int_eq(tal_integrator_create(m.system, &fine, &ref.integ, NULL), TAL_OK);
                const sum_of_errors it = errors_of(&m, &ref, 1.0);
                const double ends = sqrt(it.ends / it.num_ends);
                const double rows = sqrt(it.rows / it.num_rows);
                ck_assert_msg(rows <= ends + 0.25 * def.accuracy,
                              "%s at %g, problem %d: %g at ends, %g within", CANDIDATES[k].name,
                              def.accuracy, i, ends, rows);
                tal_integrator_destroy(ref.integ);
                tal_state_destroy(ref.state);
                end_model(&m);
            }
        }
    }
}

END_TEST

// The trapezoid with a third stage after half an Euler step, whose weight in y1 is zero. Its rates
// are wanted even with fixed steps: d adds h x^2 (1 - x)^2 (k_3 - k_1) to the cubic.
START_TEST(stages_that_only_dense_output_uses_are_run)
{
    static const double a[9] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.5, 0.0, 0.0};
    static const double b[3] = {0.5, 0.5, 0.0}, c[3] = {0.0, 1.0, 0.5}, d[3] = {-1.0, 0.0, 1.0};
    tal_rk_tableau rk = {"heun with a bump", 3, 2, 0, a, b, NULL, c, NULL};
    const double h = 0.25;
    double q[2];
    for (int k = 0; k < 2; ++k) {
        rk.d = k == 0 ? NULL : d;
        tal_integrator_def def = tal_integrator_def_default();
        def.tableau = &rk;
        def.fixed_step = h;
        model m = begin_pendulum(&def);
        tal_state *out = NULL;
        ck_assert_int_eq(tal_state_create(m.system, &out, NULL), TAL_OK);
        ck_assert_int_eq(tal_integrator_step(m.integ, m.state, 1.0), TAL_OK);
        ck_assert_int_eq(tal_integrator_interpolate(m.integ, m.state, 0.5 * h, out), TAL_OK);
        ck_assert_uint_eq(tal_integrator_statistics(m.integ).realizations, k == 0 ? 3 : 4);
        q[k] = tal_state_q(out)[0];
        tal_state_destroy(out);
        end_model(&m);
    }
    // of q: k_1 = u = 0 at the start, k_3 = h/2 udot = -h/2 g / L
    ck_assert_double_eq_tol(q[1] - q[0], h / 16.0 * (-0.5 * h * 9.81), 1e-14);
}

END_TEST

// One run that reports at its own times, one that does not: the same bytes at the end. What is
// reported is on the constraints, with quaternions of length one.
START_TEST(reports_do_not_disturb_the_steps)
{
    for (int k = 0; k < NUM_CANDIDATES; ++k) {
        for (size_t j = 0; j < 3; ++j) {
            tal_integrator_def def = def_of(&CANDIDATES[k]);
            def.accuracy = 1e-4;
            model a = PROBLEMS[j].begin(&def), b = PROBLEMS[j].begin(&def);
            tal_state *out = NULL;
            ck_assert_int_eq(tal_state_create(a.system, &out, NULL), TAL_OK);
            double next = 0.0;
            while (tal_state_t(a.state) < 0.5) {
                ck_assert_int_eq(tal_integrator_step(a.integ, a.state, 0.5), TAL_OK);
                for (; next <= tal_state_t(a.state); next += 0.015625) {
                    ck_assert_int_eq(tal_integrator_interpolate(a.integ, a.state, next, out),
                                     TAL_OK);
                    ck_assert_int_eq(tal_system_realize(a.system, out, TAL_STAGE_POSITION), TAL_OK);
                    for (int i = 0; i < tal_state_pool_size(out, TAL_POOL_QERR); ++i) {
                        ck_assert_double_le(fabs(tal_state_qerr(out)[i]), 1e-5);
                    }
                }
            }
            go_to(&b, 0.5);
            ck_assert_double_eq(next, 0.515625);
            ck_assert(tal_state_is_equal(a.state, b.state));
            ck_assert(tal_state_is_equal(a.state, out)); // the last report is the end of a step
            tal_state_destroy(out);
            end_model(&a);
            end_model(&b);
        }
    }
}

END_TEST

// A slider shaken 16 times a second beside the pendulum: what is known has no error, so the steps
// are those of the pendulum alone.
START_TEST(known_motion_limits_no_step)
{
    for (int k = 0; k < NUM_CANDIDATES; ++k) {
        uint64_t steps[2];
        for (int j = 0; j < 2; ++j) {
            const tal_integrator_def def = def_of(&CANDIDATES[k]);
            model m = begin_model(G_DOWN);
            tal_mobod_def bob = tal_mobod_def_default();
            bob.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
            bob.X_BM = tal_xf_from_p(tal_v3(0.0, 1.0, 0.0));
            (void)tal_matter_add_pin(m.matter, TAL_GROUND, &bob);
            if (j == 1) {
                tal_motion_def shake = tal_motion_def_default();
                shake.body = tal_matter_add_slider(m.matter, TAL_GROUND, &bob);
                (void)tal_matter_add_motion_sinusoid(m.matter, &shake, 1.0, 100.0, 0.0);
            }
            finish_model(&m, &def);
            tal_body_set_q(m.matter, m.state, (tal_body_ix){1}, 0, TAL_PI / 2.0);
            go_to(&m, 1.0);
            steps[j] = tal_integrator_statistics(m.integ).steps_attempted;
            end_model(&m);
        }
        ck_assert_msg(steps[0] == steps[1], "%s: %d and %d steps", CANDIDATES[k].name,
                      (int)steps[0], (int)steps[1]);
    }
}

END_TEST

START_TEST(what_cannot_be_interpolated_is_reported)
{
    const tal_integrator_def def = tal_integrator_def_default();
    model m = begin_pendulum(&def);
    tal_state *out = NULL;
    ck_assert_int_eq(tal_state_create(m.system, &out, NULL), TAL_OK);
    ck_assert_int_eq(tal_integrator_interpolate(m.integ, m.state, 0.0, out), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_integrator_step(m.integ, m.state, 0.0), TAL_OK); // no step
    ck_assert_int_eq(tal_integrator_interpolate(m.integ, m.state, 0.0, out), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_integrator_step(m.integ, m.state, 1.0), TAL_OK);
    const double t1 = tal_state_t(m.state);
    ck_assert_int_eq(tal_integrator_interpolate(m.integ, m.state, 0.0, out), TAL_OK);
    ck_assert_double_eq(tal_state_q(out)[0], TAL_PI / 2.0);
    ck_assert_int_eq(tal_integrator_interpolate(m.integ, m.state, -0.1, out), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_integrator_interpolate(m.integ, m.state, 2.0 * t1, out),
                     TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_integrator_interpolate(m.integ, m.state, (double)NAN, out),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(tal_integrator_error(m.integ)->message, "not within"));
    test_assert_refused(tal_integrator_interpolate(NULL, m.state, t1, out), TAL_ERR_NULL,
                        "integrator");
    test_assert_refused(tal_integrator_interpolate(m.integ, NULL, t1, out), TAL_ERR_NULL, "State");
    test_assert_refused(tal_integrator_interpolate(m.integ, m.state, t1, m.state),
                        TAL_ERR_BAD_VALUE, "itself");
    test_assert_refused(tal_integrator_step(NULL, m.state, t1), TAL_ERR_NULL, "integrator");
    test_assert_refused(tal_integrator_step(m.integ, NULL, t1), TAL_ERR_NULL, "State");
    tal_integrator_reset(m.integ);
    ck_assert_int_eq(tal_integrator_interpolate(m.integ, m.state, t1, out), TAL_ERR_BAD_VALUE);

    tal_integrator_def bad = tal_integrator_def_default();
    bad.method = (tal_method)17;
    tal_integrator *integ = NULL;
    tal_error err = {0};
    ck_assert_int_eq(tal_integrator_create(m.system, &bad, &integ, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "method 17"));
    tal_state_destroy(out);
    end_model(&m);
}

END_TEST

// --- memory and bytes ---

static tal_status run_and_report(model *m, tal_state *out)
{
    tal_status st = tal_integrator_step_to(m->integ, m->state, 0.4);
    if (st == TAL_OK) st = tal_integrator_step(m->integ, m->state, 0.5);
    return st == TAL_OK ? tal_integrator_interpolate(m->integ, m->state, 0.401, out) : st;
}

START_TEST(no_method_touches_the_heap)
{
    for (int k = 0; k < NUM_CANDIDATES; ++k) {
        for (int j = 0; j < 3; ++j) {
            const tal_integrator_def def = def_of(&CANDIDATES[k]);
            model m = PROBLEMS[j].begin(&def);
            tal_state *out = NULL;
            ck_assert_int_eq(tal_state_create(m.system, &out, NULL), TAL_OK);
            tal_status st = TAL_OK;
            test_assert_no_heap(st = run_and_report(&m, out));
            ck_assert_msg(st == TAL_OK, "%s", tal_integrator_error(m.integ)->message);
            tal_state_destroy(out);
            end_model(&m);
        }
    }
}

END_TEST

// Saved after any step, resumed with the step that was to be tried next.
START_TEST(every_method_resumes_with_the_same_bytes)
{
    static unsigned char bytes[1 << 16];
    for (int k = 0; k < NUM_CANDIDATES; ++k) {
        for (int j = 0; j < 3; ++j) {
            tal_integrator_def def = def_of(&CANDIDATES[k]);
            model a = PROBLEMS[j].begin(&def);
            for (int n = 0; n < 3; ++n) {
                ck_assert_int_eq(tal_integrator_step(a.integ, a.state, 0.5), TAL_OK);
            }
            const size_t size = tal_state_save_size(a.state);
            ck_assert_uint_le(size, sizeof bytes);
            ck_assert_int_eq(tal_state_save(a.state, bytes, size), TAL_OK);
            def.initial_step = tal_integrator_statistics(a.integ).next_step;
            go_to(&a, 0.5);

            model b = PROBLEMS[j].begin(&def);
            ck_assert_int_eq(tal_state_load(b.system, b.state, bytes, size), TAL_OK);
            go_to(&b, 0.5);

            ck_assert(tal_state_is_equal(a.state, b.state));
            end_model(&a);
            end_model(&b);
        }
    }
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/methods");
    TCase *theory = tcase_create("theory");
    tcase_set_timeout(theory, 60);
    tcase_add_test(theory, every_method_has_its_order);
    tcase_add_test(theory, global_errors_go_with_the_accuracy);
    tcase_add_test(theory, the_energy_of_symplectic_methods_stays_bounded);
    tcase_add_test(theory, rates_known_from_the_last_stage_are_not_computed_again);
    tcase_add_test(theory, fixed_steps_do_not_pay_for_error_estimates);
    tcase_add_test(theory, dense_output_has_its_order);
    tcase_add_test(theory, within_steps_states_are_as_exact_as_at_their_ends);
    tcase_add_test(theory, stages_that_only_dense_output_uses_are_run);
    tcase_add_test(theory, reports_do_not_disturb_the_steps);
    tcase_add_test(theory, known_motion_limits_no_step);
    tcase_add_test(theory, every_method_resumes_with_the_same_bytes);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, verlet_refuses_steps_in_which_speeds_do_not_settle);
    tcase_add_test(errors, what_cannot_be_interpolated_is_reported);
    suite_add_tcase(suite, errors);
    TCase *alloc = tcase_create("alloc");
    tcase_add_test(alloc, no_method_touches_the_heap);
    suite_add_tcase(suite, alloc);
    return test_run(suite);
}
