// What the analysis of a measured motion costs, for each frame: angles from markers, and moments
// from angles.
//
// Aims, for one core: 200 us for inverse kinematics of 23 coordinates from 40 markers (5,000 frames
// per second), 500 us for a whole body of 39 coordinates with couplers and 60 markers; 20 us for
// inverse dynamics with its filter, its splines and two ground reactions.
#include "bench.h"
#include "count_alloc.h"
#include "gait_bones.h"

#include <talus/study.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FRAMES = 500,   // 5 s at 100 Hz
    NUM_LEGS = 40,  // markers on legs and torso
    NUM_WHOLE = 60, // markers on a whole body
    NUM_LOADS = 2,
    LOAD_COLUMNS = 9 // of each: force, where it acts, moment
};

typedef struct subject {
    tal_system *system;
    tal_matter *matter;
    tal_body_ix body[GAIT_NUM_WHOLE];
    tal_state *state;
    int nq, nu, num_markers;
    tal_marker markers[NUM_WHOLE];
    tal_vec3 points[FRAMES * NUM_WHOLE];
    double times[FRAMES];
    tal_tracker *tracker;
    double *q; // [FRAMES][nq] what was found
    tal_fit fits[FRAMES];
    double *angles; // [nq][FRAMES] the motion with noise
    double *y[3];   // [nq] angles and their rates
    double *tau;    // [nu]
    tal_spatial_vec F_GB[1 + GAIT_NUM_WHOLE];
    double loads[NUM_LOADS * LOAD_COLUMNS * FRAMES];
    long allocations; // while frames were followed
} subject;

static void must(tal_status st, const char *why)
{
    if (st == TAL_OK) return;
    (void)fprintf(stderr, "bench_motion: %s\n", why);
    exit(EXIT_FAILURE);
}

static double *take(int count)
{
    double *memory = calloc((size_t)count, sizeof *memory);
    must(memory != NULL ? TAL_OK : TAL_ERR_NO_MEMORY, "no memory");
    return memory;
}

// --- the motion ---

// Three steps of walking: where coordinate `i` is in frame `f`. The first six are the pelvis's.
static double pose(int i, int f)
{
    if (i == 3) return 0.013 * f;
    if (i == 4) return 0.9 + 0.02 * sin(0.12 * f);
    return (i < 6 ? 0.05 : 0.3) * sin(0.06 * f + 0.7 * i);
}

// Kneecaps go where their couplers put them.
static void put(subject *it, int f)
{
    double *q = tal_state_upd_q(it->state);
    for (int i = 0; i < it->nq; ++i) {
        q[i] = pose(i, f);
    }
    for (int side = 0; side < 2 && it->num_markers == NUM_WHOLE; ++side) {
        const tal_body_ix knee = it->body[GAIT_TIBIA + side * GAIT_LEG];
        const double angle = tal_body_q(it->matter, it->state, knee, 0);
        (void)tal_body_set_q(it->matter, it->state, it->body[GAIT_PATELLA + side], 0, 0.7 * angle);
    }
}

// Markers with 3 mm of noise, angles with 0.003 rad.
static void record(subject *it)
{
    tal_random random = {9, 1, 0};
    it->angles = take(it->nq * FRAMES);
    for (int f = 0; f < FRAMES; ++f) {
        it->times[f] = 0.01 * f;
        put(it, f);
        for (int i = 0; i < it->nq; ++i) {
            it->angles[i * FRAMES + f] =
                tal_state_q(it->state)[i] + tal_random_range(&random, -0.003, 0.003);
        }
        must(tal_system_realize(it->system, it->state, TAL_STAGE_POSITION), "no pose");
        for (int k = 0; k < it->num_markers; ++k) {
            const tal_marker *marker = &it->markers[k];
            const tal_vec3 p = tal_station_p_GS(it->matter, it->state, marker->body, marker->p_BS);
            const tal_vec3 noise = tal_v3(tal_random_range(&random, -0.003, 0.003),
                                          tal_random_range(&random, -0.003, 0.003),
                                          tal_random_range(&random, -0.003, 0.003));
            it->points[f * it->num_markers + k] = tal_v3_add(p, noise);
        }
    }
}

// Two feet that push in turns, below the pelvis.
static void record_loads(subject *it)
{
    for (int load = 0; load < NUM_LOADS; ++load) {
        double *column = it->loads + load * LOAD_COLUMNS * FRAMES;
        for (int f = 0; f < FRAMES; ++f) {
            const double push = fmax(0.0, sin(0.06 * f + 3.14159 * load));
            const double row[LOAD_COLUMNS] = {60.0 * push * cos(0.06 * f),
                                              700.0 * push,
                                              20.0 * push,
                                              0.013 * f,
                                              0.0,
                                              0.1 - 0.2 * load,
                                              0.0,
                                              3.0 * push};
            for (int c = 0; c < LOAD_COLUMNS; ++c) {
                column[c * FRAMES + f] = row[c];
            }
        }
    }
}

// --- the model ---

// Markers go round the bodies, some centimeters off their axes.
static void add_markers(subject *it, int num_bodies)
{
    for (int k = 0; k < it->num_markers; ++k) {
        const tal_vec3 p_BS = tal_v3(0.05 * cos(k), -0.2 + 0.15 * sin(1.3 * k), 0.05 * sin(k));
        it->markers[k] = (tal_marker){NULL, it->body[k % num_bodies], p_BS, 1.0};
    }
}

static void build(subject *it, bool whole)
{
    *it = (subject){.system = tal_system_create(NULL)};
    it->matter = tal_matter_create(it->system);
    if (whole) {
        gait_add_whole(it->matter, it->body);
    } else {
        gait_add_bones(it->matter, it->body);
    }
    tal_error err = {TAL_OK, "", ""};
    must(tal_system_realize_topology(it->system, &err), err.message);
    must(tal_state_create(it->system, &it->state, &err), err.message);
    it->nq = tal_state_nq(it->state);
    it->nu = tal_state_nu(it->state);
    must(it->nq == (whole ? 39 : 23) ? TAL_OK : TAL_ERR_BAD_VALUE, "other coordinates");
    it->num_markers = whole ? NUM_WHOLE : NUM_LEGS;
    add_markers(it, whole ? GAIT_NUM_WHOLE : GAIT_NUM_BODIES);
    record(it);
    record_loads(it);
    put(it, 0);
    tal_tracker_def def = tal_tracker_def_default();
    def.assembler.markers = it->markers;
    def.assembler.num_markers = it->num_markers;
    def.assembler.mean_markers = true;
    def.assembler.accuracy = 1e-8; // that of `talus ik` and InverseKinematicsTool
    must(tal_tracker_create(it->system, &def, &it->tracker, &err), err.message);
    it->q = take(FRAMES * it->nq);
    it->tau = take(it->nu);
    for (int order = 0; order < 3; ++order) {
        it->y[order] = take(it->nq);
    }
}

static void tear_down(subject *it)
{
    for (int order = 0; order < 3; ++order) {
        free(it->y[order]);
    }
    free(it->tau);
    free(it->q);
    free(it->angles);
    tal_tracker_destroy(it->tracker);
    tal_state_destroy(it->state);
    tal_system_destroy(it->system);
}

// --- the work: all frames, `count` times ---

static void run_tracker(void *context, long count)
{
    subject *it = context;
    const tal_frames frames = {FRAMES, it->times, it->points, NULL, NULL};
    for (long i = 0; i < count; ++i) {
        const long before = allocations();
        must(tal_tracker_run(it->tracker, it->state, &frames, it->q, it->fits),
             tal_tracker_error(it->tracker)->message);
        it->allocations += allocations() - before;
    }
}

// The loads at a time as forces on the feet, about the origins of their bodies.
static void apply_loads(subject *it, const tal_signal *loads, double t)
{
    double y[NUM_LOADS * LOAD_COLUMNS];
    must(tal_signal_calc(loads, t, 0, y), "no loads");
    for (int load = 0; load < NUM_LOADS; ++load) {
        const double *c = y + load * LOAD_COLUMNS;
        const tal_body_ix foot = it->body[GAIT_CALCN + load * GAIT_LEG];
        const tal_vec3 f = tal_v3(c[0], c[1], c[2]), p = tal_v3(c[3], c[4], c[5]);
        const tal_vec3 arm = tal_v3_sub(p, tal_body_X_GB(it->matter, it->state, foot).p);
        const tal_vec3 m = tal_v3_add(tal_v3(c[6], c[7], c[8]), tal_v3_cross(arm, f));
        it->F_GB[foot.i] = tal_sv(m, f);
    }
}

// The moments at a time. Angles, so that speeds are rates.
static void find_moments(subject *it, const tal_signal *motion, const tal_signal *loads, double t)
{
    for (int order = 0; order < 3; ++order) {
        must(tal_signal_calc(motion, t, order, it->y[order]), "no motion");
    }
    must(tal_state_set_q(it->state, it->y[0], it->nq), "no pose");
    must(tal_system_realize(it->system, it->state, TAL_STAGE_POSITION), "no pose");
    must(tal_matter_mul_N(it->matter, it->state, TAL_NPLUS, it->y[1], it->tau), "no speeds");
    must(tal_state_set_u(it->state, it->tau, it->nu), "no speeds");
    must(tal_system_realize(it->system, it->state, TAL_STAGE_VELOCITY), "no speeds");
    apply_loads(it, loads, t);
    must(tal_matter_inverse_dynamics(it->matter, it->state, it->y[2], it->F_GB, NULL, it->tau),
         "no moments");
}

// The filter, the splines, and all rows.
static void run_moments(void *context, long count)
{
    subject *it = context;
    tal_signal_def filtered = tal_signal_def_default(), cubic = tal_signal_def_default();
    filtered.cutoff = 6.0;
    filtered.filter = TAL_SIGNAL_LOWPASS_OPENSIM;
    cubic.curve = TAL_SIGNAL_CUBIC;
    for (long i = 0; i < count; ++i) {
        tal_signal *motion = NULL, *loads = NULL;
        tal_error err = {TAL_OK, "", ""};
        must(tal_signal_create(NULL, &filtered, it->times, it->angles, FRAMES, it->nq, &motion,
                               &err),
             err.message);
        must(tal_signal_create(NULL, &cubic, it->times, it->loads, FRAMES, NUM_LOADS * LOAD_COLUMNS,
                               &loads, &err),
             err.message);
        for (int f = 0; f < FRAMES; ++f) {
            find_moments(it, motion, loads, it->times[f]);
        }
        tal_signal_destroy(motion);
        tal_signal_destroy(loads);
    }
}

// --- the answers ---

// How many times a frame was improved, and how far markers are off.
static void print_fit(const char *name, const subject *it)
{
    double iterations = 0.0, square = 0.0;
    int failed = 0;
    for (int f = 0; f < FRAMES; ++f) {
        iterations += it->fits[f].iterations;
        square += it->fits[f].marker_rms * it->fits[f].marker_rms;
        failed += it->fits[f].status != TAL_OK;
    }
    (void)printf("%s: %.1f iterations a frame, markers off by %.2f mm, %d frames failed, "
                 "%ld allocations\n",
                 name, iterations / FRAMES, 1e3 * sqrt(square / FRAMES), failed, it->allocations);
}

int main(void)
{
    static subject legs, whole;
    build(&legs, false);
    build(&whole, true);
    bench rows[] = {{.name = "kinematics, 23 coordinates", .run = run_tracker, .context = &legs},
                    {.name = "kinematics, 39 and couplers", .run = run_tracker, .context = &whole},
                    {.name = "dynamics, 23 coordinates", .run = run_moments, .context = &legs}};
    const int n = (int)(sizeof rows / sizeof *rows);
    bench_measure(rows, n, 21, 1e6);
    bench_print("500 frames of a measured motion", rows, n);
    static const double aims[] = {5000.0, 2000.0, 50000.0};
    for (int i = 0; i < n; ++i) {
        (void)printf("%-28s %9.0f frames/s at best (aim: %.0f)\n", rows[i].name,
                     FRAMES * 1e9 / rows[i].least, aims[i]);
    }
    print_fit(rows[0].name, &legs);
    print_fit(rows[1].name, &whole);
    const bool allocated = legs.allocations + whole.allocations > 0;
    tear_down(&legs);
    tear_down(&whole);
    return allocated ? EXIT_FAILURE : EXIT_SUCCESS;
}
