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

// Tolerances: what the round-off of 2000 to 8000 steps makes of each quantity in a motion that
// doubles differences some ten times; multipliers have u / h in them.
START_TEST(table_1_is_that_of_the_paper)
{
    static const double tolerance[5] = {1e-11, 1e-9, 3e-7, 1e-14, 1e-14};
    for (int c = 0; c < 3; ++c) {
        const long steps = 2000L << c;
        realtime_model w = welch_double_pendulum();
        const tal_fixed_stepper_def def = welch(10.0 / (double)steps);
        choose_stepper(&w, &def);
        step_realtime(&w, steps);
        double found[20];
        read_column(&w, found);
        for (int i = 0; i < 20; ++i) {
            const int kind = i < 12 ? i / 6 : i < 16 ? 2 : 3;
            ck_assert_msg(fabs(found[i] - table1[i][c]) < tolerance[kind],
                          "row %d, column %d: %.16g, not %.16g", i, c, found[i], table1[i][c]);
        }
        end_realtime(&w);
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

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("predictor_corrector");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 600.0);
    tcase_add_test(all, table_1_is_that_of_the_paper);
    tcase_add_test(all, table_2_is_that_of_the_paper);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
