// Tests for study/src/md/replicas.c: replica exchange.
#include "alloc_guard.h"
#include "md_support.h"

#include <talus/common/threads.h>
#include <talus/study/replicas.h>

#include <math.h>

enum {
    RUNGS = 4
};

static const double kT[RUNGS] = {1.0, 1.6, 2.6, 4.0};

static tal_replicas_def rungs_of(tal_md_bath bath)
{
    tal_replicas_def def = tal_replicas_def_default();
    def.md = def_of(bath, 0.2);
    def.md.friction = 1.0;
    def.md.trajectory = 5;
    def.kT = kT;
    def.num = RUNGS;
    def.steps = 10;
    def.seed = 21;
    return def;
}

static tal_replicas *create(scene *s, const tal_replicas_def *def)
{
    tal_replicas *replicas = NULL;
    tal_error err;
    const tal_status st = tal_replicas_create(s->system, def, s->state, &replicas, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return replicas;
}

static void run_rounds(tal_replicas *replicas, int rounds)
{
    const tal_status st = tal_replicas_run(replicas, rounds);
    ck_assert_msg(st == TAL_OK, "%s", tal_replicas_error(replicas)->message);
}

// An oscillator has potential energies of mean kT/2 at every rung, to 3 sigma; and neighbors
// exchange as often as two independent ones do. With x^2 of chi-squared with one degree of freedom,
// D = (E_a - E_b)(1/kT_a - 1/kT_b), the mean of min(1, e^-D) is (4/pi) atan(sqrt(kT_a/kT_b)).
START_TEST(every_rung_keeps_its_distribution)
{
    enum {
        ROUNDS = 16000
    };

    scene s;
    begin(&s);
    add_oscillator(&s, 1.0, 1.0);
    create_state(&s);
    const tal_replicas_def def = rungs_of(TAL_MD_LANGEVIN);
    tal_replicas *replicas = create(&s, &def);
    double sum[RUNGS] = {0.0}, squares[RUNGS] = {0.0};
    run_rounds(replicas, 20);
    for (int b = 0; b < ROUNDS / 100; ++b) {
        double block[RUNGS] = {0.0};
        for (int k = 0; k < 100; ++k) {
            run_rounds(replicas, 1);
            for (int i = 0; i < RUNGS; ++i) {
                const double x = tal_state_q(tal_replicas_state(replicas, i))[0];
                block[i] += 0.5 * x * x / 100.0;
            }
        }
        for (int i = 0; i < RUNGS; ++i) {
            sum[i] += block[i];
            squares[i] += block[i] * block[i];
        }
    }
    for (int i = 0; i < RUNGS; ++i) {
        const double n = ROUNDS / 100.0, mean = sum[i] / n;
        const double sigma = sqrt((squares[i] / n - mean * mean) / (n - 1.0));
        ck_assert_double_le(sigma, 0.05 * kT[i]);
        ck_assert_double_eq_tol(mean, 0.5 * kT[i], 3.0 * sigma);
    }
    for (int i = 0; i + 1 < RUNGS; ++i) { // tried in every other round, correlated by 2 at most
        const double expected = 4.0 / TAL_PI * atan(sqrt(kT[i] / kT[i + 1]));
        const double sigma = sqrt(expected * (1.0 - expected) / (0.25 * ROUNDS));
        ck_assert_double_eq_tol(tal_replicas_accepted(replicas, i), expected, 3.0 * sigma);
    }
    ck_assert(isnan(tal_replicas_accepted(replicas, RUNGS - 1)));
    tal_replicas_destroy(replicas);
    end(&s);
}

END_TEST

// Of a tree with quaternions; a run of seven rounds is one of four and three, with States and
// memories handed over, and on two threads it has the same bits.
START_TEST(runs_continue_bit_for_bit_on_any_threads)
{
    scene s;
    tal_threads *threads = NULL;
    tal_error err;
    begin(&s);
    add_tree(&s);
    create_state(&s);
    stir(&s, 64, 0.2, 0.3);
    ck_assert_int_eq(tal_threads_create(2, &threads, &err), TAL_OK);
    const tal_executor executor = tal_threads_executor(threads);
    tal_replicas_def def = rungs_of(TAL_MD_SAMPLE);
    def.md.step = 0.005;
    tal_replicas *whole = create(&s, &def);
    run_rounds(whole, 7);
    def.executor = &executor;
    tal_replicas *first = create(&s, &def), *second = create(&s, &def);
    run_rounds(first, 4);
    for (int i = 0; i < RUNGS; ++i) {
        const tal_md_memory memory = tal_md_memory_of(tal_replicas_md(first, i));
        ck_assert_int_eq(tal_md_set_memory(tal_replicas_md(second, i), &memory), TAL_OK);
        ck_assert_int_eq(
            tal_state_copy(tal_replicas_state(second, i), tal_replicas_state(first, i)), TAL_OK);
    }
    ck_assert_int_eq(tal_replicas_set_rounds(second, tal_replicas_rounds(first)), TAL_OK);
    run_rounds(second, 3);
    bool has_moved = false;
    for (int i = 0; i < RUNGS; ++i) {
        const tal_state *a = tal_replicas_state(whole, i), *b = tal_replicas_state(second, i);
        const size_t bytes = (size_t)tal_state_ny(a) * sizeof(double);
        ck_assert(memcmp(tal_state_y(a), tal_state_y(b), bytes) == 0);
        has_moved = has_moved || tal_replicas_walker(whole, i) != i;
    }
    ck_assert(has_moved);
    tal_replicas_destroy(second);
    tal_replicas_destroy(first);
    tal_status st;
    test_assert_no_heap(st = tal_replicas_run(whole, 2));
    ck_assert_int_eq(st, TAL_OK);
    tal_replicas_destroy(whole);
    tal_threads_destroy(threads);
    end(&s);
}

END_TEST

static tal_status stiffen(void *context, tal_state *state, int rung, double warmth)
{
    (void)rung;
    const scene *s = context;
    return tal_force_set_param(s->forces, state, (tal_force_ix){0}, 0, 2.0 * warmth);
}

// A spring of stiffness 2 kT at each rung: every rung has the mean x^2 = 1/2, and exchanges, which
// change nothing of a distribution that all share, are always made.
START_TEST(what_is_set_for_a_rung_counts)
{
    scene s;
    begin(&s);
    add_oscillator(&s, 1.0, 1.0);
    create_state(&s);
    tal_replicas_def def = rungs_of(TAL_MD_LANGEVIN);
    def.set = stiffen;
    def.context = &s;
    tal_replicas *replicas = create(&s, &def);
    double sum[RUNGS] = {0.0};
    for (int k = 0; k < 4000; ++k) {
        run_rounds(replicas, 1);
        for (int i = 0; i < RUNGS; ++i) {
            const double x = tal_state_q(tal_replicas_state(replicas, i))[0];
            sum[i] += x * x / 4000.0;
        }
    }
    for (int i = 0; i < RUNGS; ++i) { // sigma of a mean of 4000, correlated by 4 at most: 0.022
        ck_assert_double_eq_tol(sum[i], 0.5, 0.067);
    }
    ck_assert(tal_replicas_accepted(replicas, 0) > 1.0 - 1e-12);
    tal_replicas_destroy(replicas);
    end(&s);
}

END_TEST

START_TEST(what_does_not_fit_is_refused)
{
    scene s;
    tal_error err;
    tal_replicas *replicas = NULL;
    begin(&s);
    add_oscillator(&s, 1.0, 1.0);
    create_state(&s);
    const double cold[2] = {1.0, 0.0};
    tal_replicas_def def = rungs_of(TAL_MD_LANGEVIN);
    def.kT = cold;
    def.num = 2;
    ck_assert_int_eq(tal_replicas_create(s.system, &def, s.state, &replicas, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "rung 1"));
    def.num = 0;
    ck_assert_int_eq(tal_replicas_create(s.system, &def, s.state, &replicas, &err),
                     TAL_ERR_BAD_VALUE);
    def = rungs_of(TAL_MD_LANGEVIN);
    def.steps = 0;
    ck_assert_int_eq(tal_replicas_create(s.system, &def, s.state, &replicas, &err),
                     TAL_ERR_BAD_VALUE);
    def.steps = 1;
    def.md.step = -1.0;
    ck_assert_int_eq(tal_replicas_create(s.system, &def, s.state, &replicas, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_null(replicas);
    def = rungs_of(TAL_MD_LANGEVIN);
    replicas = create(&s, &def);
    ck_assert_int_eq(tal_replicas_run(replicas, -1), TAL_ERR_BAD_VALUE);
    tal_replicas_destroy(replicas);
    end(&s);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("replicas");
    TCase *all = tcase_create("replicas");
    tcase_set_timeout(all, 120.0);
    tcase_add_test(all, every_rung_keeps_its_distribution);
    tcase_add_test(all, runs_continue_bit_for_bit_on_any_threads);
    tcase_add_test(all, what_is_set_for_a_rung_counts);
    tcase_add_test(all, what_does_not_fit_is_refused);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
