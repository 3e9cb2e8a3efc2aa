// Assembly and inverse kinematics against Simbody's Assembler: a four-bar closed from 1 rad off,
// and a figure of 40 degrees of freedom that follows 50 markers for 500 frames.
//
// Solvers take turns; of repeated runs the shortest counts. Both must close the four-bar to the
// same tolerance. An accuracy means something else to each, so the figure is tracked at several,
// and times are compared where the markers' errors are no more than 1 um above the least that
// anyone reaches.
#include "assembly.h"
#include "bench.h"
#include "build_talus.h"

#include <talus/common/random.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const assembly_solver *const solvers[] = {
    &assembly_talus,
#ifdef BENCH_HAS_SIMBODY
    &assembly_simbody,
#endif
};

enum {
    NUM_SOLVERS = (int)(sizeof solvers / sizeof solvers[0]),
    RUNGS = 5
};

// --- the problems ---

// Crank 1, coupler 3, rocker 2.5, base 3, all in a plane.
static assembly_problem *four_bar(void)
{
    assembly_problem *problem = calloc(1, sizeof *problem);
    if (problem == NULL) exit(EXIT_FAILURE);
    model m = model_start(3);
    (void)snprintf(m.name, sizeof m.name, "four-bar");
    const tal_mass_props limb = model_limb(1.0, 1.0);
    const int crank = model_add(&m, 0, MODEL_PIN, TAL_XFORM_IDENTITY, limb);
    const tal_xform X_knee = tal_xf_from_p(tal_v3(1.0, 0.0, 0.0));
    const int coupler = model_add(&m, crank, MODEL_PIN, X_knee, limb);
    const tal_xform X_base = tal_xf_from_p(tal_v3(3.0, 0.0, 0.0));
    const int rocker = model_add(&m, 0, MODEL_PIN, X_base, limb);
    m.loops[m.num_loops++] =
        (model_loop){MODEL_TIE_BALL, {coupler, rocker}, {{3.0, 0.0, 0.0}, {2.5, 0.0, 0.0}}, 0.0};
    problem->m = model_finish(m);
    problem->tolerance = 1e-8;
    tal_random random = {8, 1, 0};
    for (int k = 0; k < ASSEMBLY_STARTS; ++k) {
        const double a = 6.283185307179586 * k / ASSEMBLY_STARTS;
        const double dx = 3.0 - cos(a), dy = -sin(a), d = hypot(dx, dy);
        const double b = atan2(dy, dx) + acos((d * d + 9.0 - 6.25) / (6.0 * d));
        const double closed[] = {a, b - a,
                                 atan2(sin(a) + 3.0 * sin(b), cos(a) + 3.0 * cos(b) - 3.0)};
        for (int i = 0; i < 3; ++i) {
            const double off = tal_random_range(&random, -1.0, 1.0) < 0.0 ? -1.0 : 1.0;
            problem->starts[k][i] = closed[i] + off;
        }
    }
    return problem;
}

// Pins whose axes alternate, two or three to a joint.
static void grow_limb(model *m, int parent, tal_vec3 p_PF, int pins, double length)
{
    int body = parent;
    for (int i = 0; i < pins; ++i) {
        const tal_vec3 p = i == 0 ? p_PF : i % 3 == 0 ? tal_v3(length, 0.0, 0.0) : TAL_VEC3_ZERO;
        const tal_mat3 R_PF =
            tal_rotation_from_angle_axis(1.2, tal_v3(0.6, i % 2 == 0 ? 0.8 : -0.8, 0.0));
        body = model_add(m, body, MODEL_PIN, tal_xf(R_PF, p), model_limb(1.0, length));
    }
}

// A pelvis, two legs, two arms and a trunk: 6 + 4 7 + 6 = 40.
static model figure(void)
{
    model m = model_start(35);
    (void)snprintf(m.name, sizeof m.name, "figure 6+34");
    const int pelvis = model_add(&m, 0, MODEL_FREE, TAL_XFORM_IDENTITY, model_limb(12.0, 0.3));
    grow_limb(&m, pelvis, tal_v3(0.0, -0.1, 0.1), 7, 0.4);
    grow_limb(&m, pelvis, tal_v3(0.0, -0.1, -0.1), 7, 0.4);
    grow_limb(&m, pelvis, tal_v3(0.0, 0.4, 0.2), 7, 0.3);
    grow_limb(&m, pelvis, tal_v3(0.0, 0.4, -0.2), 7, 0.3);
    grow_limb(&m, pelvis, tal_v3(0.0, 0.2, 0.0), 6, 0.2);
    return model_finish(m);
}

// A gait at 100 frames per second, with 3 mm of noise.
static tracking_problem *walk(void)
{
    tracking_problem *problem = calloc(1, sizeof *problem);
    if (problem == NULL) exit(EXIT_FAILURE);
    problem->m = figure();
    const model *m = &problem->m;
    for (int k = 0; k < TRACKING_MARKERS; ++k) {
        problem->bodies[k] = 1 + k % (m->num_bodies - 1);
        problem->stations[k] = tal_v3(0.2 + 0.1 * cos(k), 0.1 * sin(1.3 * k), 0.1 * sin(2.0 * k));
    }
    talus_model t = talus_build(m);
    tal_random random = {9, 1, 0};
    for (int f = 0; f < TRACKING_FRAMES; ++f) {
        double *q = tal_state_upd_q(t.state);
        const tal_quat heading = tal_qt_normalize(tal_qt(1.0, 0.0, 0.1 * sin(0.01 * f), 0.02));
        q[0] = heading.w, q[1] = heading.x, q[2] = heading.y, q[3] = heading.z;
        q[4] = 0.014 * f, q[5] = 0.9 + 0.02 * sin(0.12 * f), q[6] = 0.03 * sin(0.06 * f);
        for (int i = 7; i < m->nq; ++i) {
            q[i] = 0.1 + 0.4 * sin(0.06 * f + 0.3 * i);
        }
        talus_realize(&t, TAL_STAGE_POSITION);
        for (int k = 0; k < TRACKING_MARKERS; ++k) {
            const tal_body_ix body = {problem->bodies[k]};
            const tal_vec3 p = tal_station_p_GS(t.matter, t.state, body, problem->stations[k]);
            const tal_vec3 noise = tal_v3(tal_random_range(&random, -0.003, 0.003),
                                          tal_random_range(&random, -0.003, 0.003),
                                          tal_random_range(&random, -0.003, 0.003));
            problem->points[f][k] = tal_v3_add(p, noise);
        }
    }
    talus_free(&t);
    return problem;
}

// --- the four-bar ---

static void compete_assembling(int repeats)
{
    assembly_problem *problem = four_bar();
    assembly_result best[NUM_SOLVERS];
    for (int k = 0; k < repeats; ++k) {
        for (int i = 0; i < NUM_SOLVERS; ++i) {
            assembly_result result;
            if (!solvers[i]->assemble(problem, &result)) result.seconds = HUGE_VAL;
            if (k == 0 || result.seconds < best[i].seconds) best[i] = result;
        }
    }
    (void)printf("a four-bar, closed by a ball to %g m, from 1 rad off: %d starts\n\n",
                 problem->tolerance, ASSEMBLY_STARTS);
    (void)printf("%-10s %10s %10s %9s %10s\n", "", "us each", "error [m]", "failures", "allocs");
    for (int i = 0; i < NUM_SOLVERS; ++i) {
        (void)printf("%-10s %10.2f %10.1e %9d %10.1f\n", solvers[i]->name,
                     1e6 * best[i].seconds / ASSEMBLY_STARTS, best[i].error, best[i].failures,
                     (double)best[i].allocations / ASSEMBLY_STARTS);
    }
    if (NUM_SOLVERS > 1) {
        (void)printf("ratio %.1f (aim 10)\n", best[NUM_SOLVERS - 1].seconds / best[0].seconds);
    }
    model_free(&problem->m);
    free(problem);
}

// --- the figure ---

static const double accuracies[RUNGS] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6};

/// One solver at all accuracies.
typedef struct ladder {
    assembly_result at[RUNGS];
} ladder;

static void climb(const tracking_problem *problem, const assembly_solver *who, ladder *it)
{
    for (int r = 0; r < RUNGS; ++r) {
        assembly_result result;
        if (!who->track(problem, accuracies[r], &result)) {
            result = (assembly_result){.seconds = HUGE_VAL, .error = (double)NAN};
        }
        if (it->at[r].seconds == 0.0 || result.seconds < it->at[r].seconds) it->at[r] = result;
    }
}

// The fastest whose markers are as near as they can be.
static const assembly_result *fastest(const ladder *it, double least)
{
    const assembly_result *best = NULL;
    for (int r = 0; r < RUNGS; ++r) {
        if (!(it->at[r].error <= least + 1e-6) || it->at[r].failures > 0) continue;
        if (best == NULL || it->at[r].seconds < best->seconds) best = &it->at[r];
    }
    return best;
}

static void print_ladder(const assembly_solver *who, const ladder *it)
{
    for (int r = 0; r < RUNGS; ++r) {
        const assembly_result *at = &it->at[r];
        (void)printf("%-10s %10.0e %12.0f %14.4f %9d %10.1f\n", who->name, accuracies[r],
                     TRACKING_FRAMES / at->seconds, 1e3 * at->error, at->failures,
                     (double)at->allocations / TRACKING_FRAMES);
    }
}

static void compete_tracking(int repeats)
{
    tracking_problem *problem = walk();
    ladder ladders[NUM_SOLVERS];
    memset(ladders, 0, sizeof ladders);
    double least = HUGE_VAL;
    for (int k = 0; k < repeats; ++k) {
        for (int i = 0; i < NUM_SOLVERS; ++i) {
            climb(problem, solvers[i], &ladders[i]);
        }
    }
    (void)printf("\n%d frames of a figure with %d degrees of freedom and %d markers\n\n",
                 TRACKING_FRAMES, problem->m.nu, TRACKING_MARKERS);
    (void)printf("%-10s %10s %12s %14s %9s %10s\n", "", "accuracy", "frames/s", "rms [mm]",
                 "failures", "allocs");
    for (int i = 0; i < NUM_SOLVERS; ++i) {
        print_ladder(solvers[i], &ladders[i]);
        for (int r = 0; r < RUNGS; ++r) {
            if (ladders[i].at[r].failures == 0) least = fmin(least, ladders[i].at[r].error);
        }
    }
    const assembly_result *ours = fastest(&ladders[0], least);
    const assembly_result *theirs = fastest(&ladders[NUM_SOLVERS - 1], least);
    (void)printf("Talus: %.0f frames/s (aim 5000)", ours ? TRACKING_FRAMES / ours->seconds : 0.0);
    if (NUM_SOLVERS > 1 && ours != NULL && theirs != NULL) {
        (void)printf("; ratio at equal error %.1f (aim 50)", theirs->seconds / ours->seconds);
    }
    (void)printf("\n");
    model_free(&problem->m);
    free(problem);
}

// One solver at one accuracy: for callgrind (--toggle-collect=tal_tracker_run) and perf.
static int track_one(const char *name, double accuracy)
{
    tracking_problem *problem = walk();
    int status = EXIT_FAILURE;
    for (int i = 0; i < NUM_SOLVERS; ++i) {
        assembly_result result;
        if (strcmp(solvers[i]->name, name) != 0) continue;
        if (!solvers[i]->track(problem, accuracy, &result)) continue;
        (void)printf("%.0f frames/s, %g mm\n", TRACKING_FRAMES / result.seconds,
                     1e3 * result.error);
        status = EXIT_SUCCESS;
    }
    model_free(&problem->m);
    free(problem);
    return status;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--track") == 0) {
        return track_one(argv[2], strtod(argv[3], NULL));
    }
    const bool quick = argc == 2 && strcmp(argv[1], "--quick") == 0;
    if (argc > 1 && !quick) {
        (void)printf("usage: bench_assemble [--quick | --track SOLVER ACCURACY]\n");
        return EXIT_FAILURE;
    }
    compete_assembling(quick ? 5 : 21);
    compete_tracking(quick ? 2 : 5);
    return EXIT_SUCCESS;
}
