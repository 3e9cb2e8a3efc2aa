// study/src/realtime/predictor_corrector.c and stabilized.c, against the tables of Welch et al.
#include "realtime_support.h"

static tal_fixed_stepper_def welch(double h)
{
    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    def.formulation = TAL_FORMULATION_WELCH;
    def.scheme = TAL_SCHEME_PREDICTOR_CORRECTOR;
    def.step = h;
    def.projects = false;
    return def;
}

static tal_fixed_stepper_def baumgarte(double h)
{
    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    def.formulation = TAL_FORMULATION_BAUMGARTE;
    def.scheme = TAL_SCHEME_EXPLICIT;
    def.step = h;
    def.projects = false;
    return def;
}

// Welch tab. 1: rows x1 y1 th1 x2 y2 th2, their rates, multipliers, errors; columns h = .005,
// .0025, .00125.
static const double table1[20][3] = {
    {2.443655269310963, 2.442965464018156, 2.442790656734799},
    {-.5277783191794895, -.5309612759800720, -.5317648207729833},
    {1.783508081764363, 1.784810820126253, 1.785139755818101},
    {6.711359930283763, 6.713351016578483, 6.713852953944924},
    {-2.765194090434459, -2.767952427377098, -2.768646375692474},
    {2.323828290259711, 2.321853408917590, 2.321353974979965},
    {-.1819273871586672, -.1842799921770659, -.1848738194541881},
    {-.8425945695282319, -.8479370879904064, -.8492773869483450},
    {.3448043406049740, .3470922208260153, .3476665951459748},
    {8.358047330329132, 8.340866444559839, 8.336508225248394},
    {7.618758619232083, 7.632854935537393, 7.636424552087447},
    {-5.100854444583235, -5.104896782794190, -5.105912134225290},
    {57.64615652238092, 58.68436253318767, 59.13991225254942},
    {-3.734488926265648, -4.052234009115540, -4.179614438038763},
    {42.71195102102794, 43.69108931718181, 44.12375487226354},
    {-25.43944405550502, -25.74329960311427, -25.86977170351205},
    {2.012649042981707e-7, 2.638058038684221e-8, 3.369676981890279e-9},
    {-4.337343506577440e-8, -5.727478158412680e-9, -7.331477647198881e-10},
    {2.580200099577823e-6, 3.347781205587097e-7, 4.257266783547209e-8},
    {-2.301799984172348e-6, -2.954876792138350e-7, -3.741255971689839e-8}};

// The numbers of a column where a run has ended.
static void read_column(const realtime_model *w, double out[20])
{
    static const int order[6] = {1, 2, 0, 4, 5, 3}; // of ours: th, x, y
    const double *q = tal_state_q(w->state), *u = tal_state_u(w->state);
    const double *lambda =
        tal_fixed_memory_multipliers(tal_system_fixed_memory(w->system), w->state);
    for (int i = 0; i < 6; ++i) {
        out[i] = q[order[i]];
        out[6 + i] = u[order[i]];
    }
    memcpy(out + 12, lambda, 4 * sizeof *lambda);
    memcpy(out + 16, tal_state_qerr(w->state), 4 * sizeof *lambda);
}

// Welch tab. 1, fourth column: what the others lead to by eq. 70. It is not the solution.
static const double table1_limit[12] = {2.442731321386402,  -.5320361837114458, 1.785250865278673,
                                        6.714022138581226,  -2.768879647789623, 2.321184918287540,
                                        -.1850743171218459, -.8497262382156855, .3478591278120256,
                                        8.335026936186582,  7.637635013353624,  -5.106252716660437};

// Tolerances: what the round-off of 2000 to 8000 steps makes of each quantity in a motion that
// doubles differences some ten times; multipliers have u / h in them.
START_TEST(table_1_is_that_of_the_paper)
{
    static const double tolerance[4] = {1e-11, 1e-9, 3e-7, 1e-14};
    double found[3][20];
    for (int c = 0; c < 3; ++c) {
        const long steps = 2000L << c;
        realtime_model w = welch_double_pendulum();
        const tal_fixed_stepper_def def = welch(10.0 / (double)steps);
        choose_stepper(&w, &def);
        step_realtime(&w, steps);
        read_column(&w, found[c]);
        for (int i = 0; i < 20; ++i) {
            const int kind = i < 12 ? i / 6 : i < 16 ? 2 : 3;
            ck_assert_msg(fabs(found[c][i] - table1[i][c]) < tolerance[kind],
                          "row %d, column %d: %.16g, not %.16g", i, c, found[c][i], table1[i][c]);
        }
        end_realtime(&w);
    }
    for (int i = 0; i < 12; ++i) {
        const double first = found[1][i] - found[0][i], second = found[2][i] - found[1][i];
        const double limit = found[2][i] + second * second / (first - second);
        ck_assert_double_eq_tol(limit, table1_limit[i], 1e-8);
        ck_assert_double_eq_tol(log2(first / second), 1.985, 0.01); // printed: 1.98 or 1.99
    }
}

END_TEST

// Mean of |Phi| over the first n - 1 of n = 10 s / h steps, divided by n.
static double mean_error(const tal_fixed_stepper_def *def)
{
    realtime_model w = welch_slider_crank();
    const long n = lround(10.0 / def->step);
    choose_stepper(&w, def);
    step_realtime(&w, n - 1);
    const double mean = tal_fixed_stepper_statistics(w.stepper).sum_position_error / (double)n;
    end_realtime(&w);
    return mean;
}

static void check_means(tal_fixed_stepper_def def, double at_02, double at_01, double tolerance)
{
    def.step = 0.02;
    const double coarse = mean_error(&def);
    def.step = 0.01;
    const double fine = mean_error(&def);
    ck_assert_msg(fabs(coarse / at_02 - 1.0) < tolerance && fabs(fine / at_01 - 1.0) < tolerance,
                  "%.6e and %.6e, not %.4e and %.4e", coarse, fine, at_02, at_01);
}

// Five digits are printed: half a unit of the last is 5e-5 of 1.0038.
START_TEST(table_2_is_that_of_the_paper)
{
    check_means(baumgarte(0.01), 1.0856e-4, 1.4877e-5, 5e-5);
    check_means(welch(0.01), 3.1960e-5, 3.9802e-6, 5e-5);
    tal_fixed_stepper_def first = welch(0.01);
    first.scheme = TAL_SCHEME_PREDICTOR;
    check_means(first, 1.0038e-3, 2.5339e-4, 5e-5);
}

END_TEST

// --- other explicit methods under Baumgarte's stabilization ---

static const tal_rk_tableau *kutta_3(void)
{
    static const double a[] = {0.0, 0.0, 0.0, 0.5, 0.0, 0.0, -1.0, 2.0, 0.0};
    static const double b[] = {1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0}, c[] = {0.0, 0.5, 1.0};
    static const tal_rk_tableau it = {
        .name = "Kutta 3", .order = 3, .stages = 3, .a = a, .b = b, .c = c};
    return &it;
}

static const tal_rk_tableau *kutta_4(void)
{
    static const double a[] = {0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0,
                               0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0};
    static const double b[] = {1.0 / 6.0, 2.0 / 6.0, 2.0 / 6.0, 1.0 / 6.0};
    static const double c[] = {0.0, 0.5, 0.5, 1.0};
    static const tal_rk_tableau it = {
        .name = "Kutta 4", .order = 4, .stages = 4, .a = a, .b = b, .c = c};
    return &it;
}

// Numbers of another program, to five digits. alpha and beta grow with 1 / h, so that means are of
// order 2 whatever the order of the method.
START_TEST(any_explicit_method_can_be_stabilized)
{
    tal_fixed_stepper_def def = baumgarte(0.01);
    def.tableau = kutta_3();
    check_means(def, 6.1518e-5, 1.0003e-5, 1e-4);
    def.tableau = kutta_4();
    check_means(def, 5.0269e-5, 1.2493e-5, 1e-4);
    def.alpha_h = 0.5;
    check_means(def, 3.2027e-5, 7.9664e-6, 1e-4);
    def.scheme = TAL_SCHEME_SEMI_EXPLICIT_EULER;
    check_means(def, 9.3242e-4, 2.4775e-4, 1e-4);
}

END_TEST

// --- growth of errors ---

// Two sliders on one line with x_1 + x_2 = 0, pushed apart, so that x_1 + x_2 = 0.3, and moving so
// that it changes by 0.7 m/s: e and h edot after one step are A (0.3, 0.7 h).
static void check_growth(const tal_fixed_stepper_def *def, double trace, double determinant)
{
    static const trig_sum sum = {.linear = {1, 1}};
    double A[4];
    ck_assert_int_eq(tal_fixed_stepper_calc_growth(def, A), TAL_OK);
    ck_assert_double_eq_tol(A[0] + A[3], trace, 1e-14);
    ck_assert_double_eq_tol(A[0] * A[3] - A[1] * A[2], determinant, 1e-14);

    realtime_model w = begin_realtime(tal_v3(3.0, 0.0, 0.0));
    tal_mobod_def body = tal_mobod_def_default();
    body.mass.mass = 2.0;
    const tal_body_ix a = tal_matter_add_slider(w.matter, TAL_GROUND, &body);
    body.mass.mass = 0.5;
    const tal_body_ix b = tal_matter_add_slider(w.matter, TAL_GROUND, &body);
    const tal_mobility args[] = {{a, 0}, {b, 0}};
    add_trig(&w, &sum, args, 2);
    finish_realtime(&w);
    const double q[] = {0.2, 0.1}, u[] = {1.2, -0.5};
    ck_assert_int_eq(tal_state_set_q(w.state, q, 2), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(w.state, u, 2), TAL_OK);
    choose_stepper(&w, def);
    step_realtime(&w, 1);
    const double *x = tal_state_q(w.state), *v = tal_state_u(w.state), h = def->step;
    ck_assert_double_eq_tol(x[0] + x[1], A[0] * 0.3 + A[1] * 0.7 * h, 1e-14);
    ck_assert_double_eq_tol(h * (v[0] + v[1]), A[2] * 0.3 + A[3] * 0.7 * h, 1e-14);
    end_realtime(&w);
}

// Traces and determinants of eigenvalues: 0, -1 of Welch; 0.618, -1.618 and 0, 0 of the first order
// method; 0.5, 0.5 and two of size 0.5 of Heun's.
START_TEST(errors_of_constraints_grow_as_their_matrix_says)
{
    tal_fixed_stepper_def def = welch(0.02);
    check_growth(&def, -1.0, 0.0);
    def.scheme = TAL_SCHEME_PREDICTOR;
    check_growth(&def, 0.0, 0.0);
    def = baumgarte(0.02);
    check_growth(&def, 1.0, 0.25);
    def.alpha_h = 0.5;
    check_growth(&def, 0.5, 0.25);
    def.scheme = TAL_SCHEME_SEMI_EXPLICIT_EULER;
    check_growth(&def, 0.0, 0.0);
    def.alpha_h = 1.0;
    check_growth(&def, -1.0, -1.0);
    def.scheme = TAL_SCHEME_EXPLICIT;
    def.tableau = kutta_4();
    check_growth(&def, 2.0 * 0.375, 0.375 * 0.375); // 1 - 1 + 1/2 - 1/6 + 1/24 twice
    double A[4];
    def.scheme = TAL_SCHEME_NEWMARK;
    ck_assert_int_eq(tal_fixed_stepper_calc_growth(&def, A), TAL_ERR_BAD_VALUE);
}

END_TEST

// The method of first order has an eigenvalue of -1.618 for a = b = 1: 1e3 times more in 15 steps.
START_TEST(too_much_stabilization_of_the_first_order_method_is_unstable)
{
    const double h = 0.02;
    tal_fixed_stepper_def def = baumgarte(h);
    def.scheme = TAL_SCHEME_SEMI_EXPLICIT_EULER;
    realtime_model w = welch_slider_crank();
    choose_stepper(&w, &def);
    double worst = 0.0;
    for (int i = 0; i < 50 && worst < 1e3; ++i) {
        if (tal_fixed_stepper_step(w.stepper, w.state) != TAL_OK) break;
        worst = tal_fixed_stepper_statistics(w.stepper).position_error;
    }
    ck_assert_double_gt(worst, 1e3);
    end_realtime(&w);
}

END_TEST

// --- three links in space (Welch sec. 5.3), with masses and axes of our own ---

// Square rods of 1, 2 and 2.5 m of one density, hanging along -z from a ball, another ball, and a
// pin along x: free bodies with eleven equations. Gravity is askew.
static realtime_model welch_three_links(void)
{
    static const double length[3] = {1.0, 2.0, 2.5};
    realtime_model w = begin_realtime(tal_v3(-5.0, -5.0 * sqrt(2.0), -5.0));
    tal_body_ix last = TAL_GROUND;
    double top = 0.0, below = 0.0;
    for (int i = 0; i < 3; ++i) {
        const double L = length[i], m = L * L * L;
        const double across = m * L * L * (1.0 + 0.01) / 12.0;
        tal_mobod_def def = tal_mobod_def_default();
        def.mass.mass = m;
        def.mass.inertia = tal_s3_diag(across, across, m * 0.01 * L * L / 6.0);
        def.X_PF.p = tal_v3(0.0, 0.0, top - 0.5 * L);
        const tal_body_ix body = tal_matter_add_free(w.matter, TAL_GROUND, &def);
        const tal_constraint_def joint = tal_constraint_between(last, body);
        const tal_xform at_last = {frame_along(0), tal_v3(0.0, 0.0, below)};
        const tal_xform at_body = {frame_along(0), tal_v3(0.0, 0.0, 0.5 * L)};
        if (i < 2) {
            (void)tal_constraint_add_ball(w.matter, &joint, at_last.p, at_body.p);
        } else {
            (void)tal_constraint_add_loop_pin(w.matter, &joint, &at_last, &at_body);
        }
        last = body;
        top -= L;
        below = -0.5 * L;
    }
    finish_realtime(&w);
    return w;
}

// After 1 s: mean |Phi|, and the mass center of the third link.
static double run_three_links(double h, bool repeats, tal_vec3 *com)
{
    realtime_model w = welch_three_links();
    tal_fixed_stepper_def def = welch(h);
    def.repeats_corrector = repeats;
    choose_stepper(&w, &def);
    run_realtime(&w, 1.0);
    const tal_fixed_stats stats = tal_fixed_stepper_statistics(w.stepper);
    ck_assert_int_eq(tal_matter_constraint_rows(w.matter, w.state).mp, 11);
    *com = tal_body_X_GB(w.matter, w.state, (tal_body_ix){3}).p;
    end_realtime(&w);
    return stats.sum_position_error / (double)stats.steps;
}

// The place is known to 2e-6 m from another program. Means of errors are of order 3 in either form;
// the place of order 1 as printed, since the predictor's turn lacks what the constraints do, and of
// order 2 when the corrector is repeated. Terms of the next order move a measured order by h / s
// some ten times: 0.1 for the steps here.
START_TEST(three_links_in_space_have_the_orders_of_the_paper)
{
    const tal_vec3 exact = {-2.002331, -2.837751, -2.431141};
    for (int k = 0; k < 2; ++k) {
        const bool repeats = k == 1;
        tal_vec3 com[3];
        double mean[3];
        for (int i = 0; i < 3; ++i) {
            mean[i] = run_three_links(4e-3 / (1 << i), repeats, &com[i]);
        }
        const double n = log2(mean[1] / mean[2]);
        ck_assert_msg(fabs(n - 3.0) < 0.1, "order %g of %g", n, mean[2]);
        const double change = tal_v3_norm(tal_v3_sub(com[1], com[0])),
                     next = tal_v3_norm(tal_v3_sub(com[2], com[1])), order = log2(change / next);
        ck_assert_msg(fabs(order - (repeats ? 2.0 : 1.0)) < 0.1, "order %g of the place", order);
        // what is left of the last change: a third of it, by order 2
        if (repeats) {
            ck_assert_double_lt(tal_v3_norm(tal_v3_sub(com[2], exact)), 0.4 * next + 2e-6);
        }
    }
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("predictor_corrector");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 600.0);
    tcase_add_test(all, table_1_is_that_of_the_paper);
    tcase_add_test(all, table_2_is_that_of_the_paper);
    tcase_add_test(all, any_explicit_method_can_be_stabilized);
    tcase_add_test(all, errors_of_constraints_grow_as_their_matrix_says);
    tcase_add_test(all, too_much_stabilization_of_the_first_order_method_is_unstable);
    tcase_add_test(all, three_links_in_space_have_the_orders_of_the_paper);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
