// Simulation to equal measured error: a chain of 10 pins under gravity, 10 s, released from rest.
//
// An accuracy means something else to every integrator, so each runs a ladder of accuracies, and
// times are compared where the measured errors of the energy are equal. Integrators take turns at
// each accuracy; of repeated runs the shortest time counts.
#include "bench.h"
#include "build_talus.h"
#include "simulator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const simulator *const simulators[] = {
    &simulator_talus_merson,   &simulator_talus_dormand_prince, &simulator_talus_bogacki_shampine,
    &simulator_talus_verner,
#ifdef BENCH_HAS_SIMBODY
    &simulator_simbody_merson, &simulator_simbody_bdf,          &simulator_simbody_adams,
#endif
};

enum {
    NUM_SIMULATORS = (int)(sizeof simulators / sizeof simulators[0]),
    MOST_RUNGS = 17,
    MOST_REPEATS = 41
};

/// Everybody at one accuracy.
typedef struct rung {
    double accuracy;
    simulation runs[NUM_SIMULATORS];
    double errors[NUM_SIMULATORS]; ///< NaN for who failed
} rung;

// --- running ---

// Root mean square over the seconds, in units of what the chain would gain falling its own length.
static double energy_error(const model *m, const simulation *s)
{
    double sum = 0.0, mass = 0.0;
    for (int k = 1; k <= SIMULATION_SECONDS; ++k) {
        const double d = s->energy[k] - s->energy[0];
        sum += d * d;
    }
    for (int b = 1; b < m->num_bodies; ++b) {
        mass += m->bodies[b].mass.mass;
    }
    const double length = 0.3 * (m->num_bodies - 1);
    return sqrt(sum / SIMULATION_SECONDS) / (mass * tal_v3_norm(MODEL_GRAVITY) * length);
}

static void climb(const model *m, rung *r, int repeats)
{
    for (int k = 0; k < repeats; ++k) {
        for (int i = 0; i < NUM_SIMULATORS; ++i) {
            simulation s;
            const bool ok = simulators[i]->run(m, r->accuracy, &s);
            r->errors[i] = ok ? energy_error(m, &s) : (double)NAN;
            if (k > 0 && r->runs[i].seconds < s.seconds) s.seconds = r->runs[i].seconds;
            r->runs[i] = s;
        }
    }
}

// --- what each accuracy gives ---

static void print_run(const simulator *who, double accuracy, double error, const simulation *s)
{
    (void)printf("%-9.0e %-23s %10.2f %10.1e %9ld %12ld %10.2f %10.2f\n", accuracy, who->name,
                 1e3 * s->seconds, error, s->steps, s->realizations,
                 1e6 * s->seconds / (double)s->realizations,
                 (double)s->allocations / (double)s->steps);
    (void)fflush(stdout);
}

// --- equal errors ---

// Time of simulator i at a given error: a line through log(time) against log(error), points
// counting less the farther they are, with a scale of one decade. NaN outside of what was measured.
static double seconds_at(const rung rungs[], int n, int i, double error)
{
    double x[MOST_RUNGS], y[MOST_RUNGS], weights[MOST_RUNGS];
    double least = HUGE_VAL, most = 0.0;
    int points = 0;
    for (int k = 0; k < n; ++k) {
        if (!(rungs[k].errors[i] > 0.0)) continue;
        least = fmin(least, rungs[k].errors[i]), most = fmax(most, rungs[k].errors[i]);
        x[points] = log10(rungs[k].errors[i] / error);
        y[points] = log10(rungs[k].runs[i].seconds);
        weights[points] = exp(-0.5 * x[points] * x[points]);
        ++points;
    }
    if (error < least || error > most) return (double)NAN;
    return pow(10.0, bench_fit(x, y, weights, points).at_zero);
}

// That of the best of Talus's integrators, or of the peers'.
static double best_at(const rung rungs[], int n, bool of_talus, double error)
{
    double best = (double)NAN;
    for (int i = 0; i < NUM_SIMULATORS; ++i) {
        if (simulators[i]->is_talus == of_talus) best = fmin(best, seconds_at(rungs, n, i, error));
    }
    return best;
}

static void print_equal_error(const rung rungs[], int n, double error)
{
    (void)printf("%-9.0e", error);
    for (int i = 0; i < NUM_SIMULATORS; ++i) {
        (void)printf(" %22.2f", 1e3 * seconds_at(rungs, n, i, error));
    }
    (void)printf(" %10.1f\n", best_at(rungs, n, false, error) / best_at(rungs, n, true, error));
}

// --- what the study adds ---

// Realizations by themselves, each at a time that was not seen before.
static double realize_alone(const model *m, long count)
{
    talus_model t = talus_build(m);
    talus_set_values(&t, m, 0);
    talus_realize(&t, TAL_STAGE_ACCELERATION);
    const double start = bench_now();
    for (long i = 0; i < count; ++i) {
        talus_require(&t, tal_state_set_t(t.state, 1e-3 * (double)i));
        talus_set_values(&t, m, (int)(i % MODEL_SETS));
        talus_realize(&t, TAL_STAGE_ACCELERATION);
    }
    const double ns = (bench_now() - start) / (double)count;
    talus_free(&t);
    return ns;
}

// A realization begins with writing t, q and u, in a study and by itself. The two take turns, and
// the median of what one takes more than the other counts.
static void print_overhead(const model *m, const simulator *who, int repeats)
{
    double ratios[MOST_REPEATS], ns[2] = {HUGE_VAL, HUGE_VAL};
    for (int k = 0; k < repeats; ++k) {
        simulation s;
        if (!who->run(m, 1e-6, &s)) return;
        const double in_study = 1e9 * s.seconds / (double)s.realizations;
        const double alone = realize_alone(m, s.realizations);
        ns[0] = fmin(ns[0], in_study), ns[1] = fmin(ns[1], alone);
        ratios[k] = in_study / alone;
    }
    bench_sort(ratios, repeats);
    (void)printf("%-23s adds %.1f %% (quartiles %.1f ... %.1f; aim 10); at best %.0f ns per "
                 "realization, %.0f by itself\n",
                 who->name, 100.0 * (ratios[repeats / 2] - 1.0),
                 100.0 * (ratios[repeats / 4] - 1.0), 100.0 * (ratios[3 * repeats / 4] - 1.0),
                 ns[0], ns[1]);
}

// --- the command line ---

// One integrator at one accuracy: for callgrind (--toggle-collect=tal_integrator_step_to) and perf.
static int run_one(const char *name, double accuracy)
{
    model m = model_pin_chain(10);
    int status = EXIT_FAILURE;
    for (int i = 0; i < NUM_SIMULATORS; ++i) {
        if (strcmp(simulators[i]->name, name) != 0) continue;
        simulation s;
        if (!simulators[i]->run(&m, accuracy, &s)) continue;
        print_run(simulators[i], accuracy, energy_error(&m, &s), &s);
        status = EXIT_SUCCESS;
    }
    model_free(&m);
    return status;
}

static void print_equal_errors(const rung rungs[], int n)
{
    (void)printf("\nms to an equal error of the energy, and Simbody's best against Talus's best "
                 "(aim 15)\n%-9s",
                 "error");
    for (int i = 0; i < NUM_SIMULATORS; ++i) {
        (void)printf(" %22s", simulators[i]->name);
    }
    (void)printf(" %10s\n", "ratio");
    for (int k = 3; k <= 10; ++k) {
        print_equal_error(rungs, n, pow(10.0, -k));
    }
}

// The fastest peer at one accuracy; -1: none.
static int quickest_peer(const rung *r)
{
    int quickest = -1;
    for (int i = 0; i < NUM_SIMULATORS; ++i) {
        if (simulators[i]->is_talus || isnan(r->errors[i])) continue;
        if (quickest < 0 || r->runs[i].seconds < r->runs[quickest].seconds) quickest = i;
    }
    return quickest;
}

// What an accuracy asked of the peers comes to: the same at the error that their quickest makes.
static void print_at_accuracies(const rung rungs[], int n)
{
    (void)printf("\nms to the error that Simbody's quickest makes at an accuracy (aim 15)\n"
                 "%-9s %-23s %10s %10s %10s %10s\n",
                 "accuracy", "who", "error", "Simbody", "Talus", "ratio");
    for (int k = 0; k < n; ++k) {
        const int who = quickest_peer(&rungs[k]);
        if (who < 0) continue;
        const double error = rungs[k].errors[who];
        const double peers = best_at(rungs, n, false, error), own = best_at(rungs, n, true, error);
        (void)printf("%-9.0e %-23s %10.1e %10.2f %10.2f %10.1f\n", rungs[k].accuracy,
                     simulators[who]->name, error, 1e3 * peers, 1e3 * own, peers / own);
    }
}

static void compete(bool quick)
{
    static rung rungs[MOST_RUNGS];
    model m = model_pin_chain(10);
    const int n = quick ? 9 : MOST_RUNGS;
    (void)printf("%d s of a chain of 10 pins\n\n", SIMULATION_SECONDS);
    (void)printf("%-9s %-23s %10s %10s %9s %12s %10s %10s\n", "accuracy", "integrator", "ms",
                 "error", "steps", "realizations", "us each", "allocs");
    for (int k = 0; k < n; ++k) { // 1e-2 ... 1e-10
        rungs[k].accuracy = pow(10.0, -2.0 - (quick ? 1.0 : 0.5) * k);
        climb(&m, &rungs[k], quick ? 2 : 3);
        for (int i = 0; i < NUM_SIMULATORS; ++i) {
            print_run(simulators[i], rungs[k].accuracy, rungs[k].errors[i], &rungs[k].runs[i]);
        }
    }
    print_equal_errors(rungs, n);
    print_at_accuracies(rungs, n);
    (void)printf("\nwhat the study adds to the realizations it makes\n");
    print_overhead(&m, &simulator_talus_merson, quick ? 21 : MOST_REPEATS);
    print_overhead(&m, &simulator_talus_dormand_prince, quick ? 21 : MOST_REPEATS);
    print_overhead(&m, &simulator_talus_bogacki_shampine, quick ? 21 : MOST_REPEATS);
    print_overhead(&m, &simulator_talus_verner, quick ? 21 : MOST_REPEATS);
    model_free(&m);
}

int main(int argc, char **argv)
{
    const bool quick = argc == 2 && strcmp(argv[1], "--quick") == 0;
    if (argc == 4 && strcmp(argv[1], "--run") == 0) {
        return run_one(argv[2], strtod(argv[3], NULL));
    }
    if (argc > 1 && !quick) {
        (void)printf("usage: bench_simulate [--quick | --run INTEGRATOR ACCURACY]\n");
        return EXIT_FAILURE;
    }
    compete(quick);
    return EXIT_SUCCESS;
}
