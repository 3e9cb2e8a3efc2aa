// What muscles cost in a model of walking: 12 bodies, 23 coordinates, 92 muscles along paths of 322
// points; forward dynamics from new q, u and z to udot and zdot, and static optimization.
//
// Aims: 30 us with Thelen's muscles, 60 us with Millard's; 150 us for a frame of static
// optimization; no allocation.
#include "bench.h"
#include "count_alloc.h"
#include "gait_bones.h"

#include <talus/study.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NUM_MUSCLES = 92,
    NUM_POINTS = 322,
    PER_LEG = 43
};

typedef struct walker {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_body_ix body[GAIT_NUM_BODIES];
    tal_state *state;
    double *q, *u;
    int num_points;
    long turn;
    tal_static_optimizer *optimizer; // and 23 reserves
    long frames, iterations;
} walker;

// Numbers between -1 and 1 that are the same every time.
static double next_number(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

// --- muscles ---

// From which bone to which, as many of a kind as in a leg.
static const struct {
    int from, to, count;
} kinds[] = {{GAIT_PELVIS, GAIT_FEMUR, 20}, {GAIT_PELVIS, GAIT_TIBIA, 8},
             {GAIT_FEMUR, GAIT_TIBIA, 4},   {GAIT_FEMUR, GAIT_CALCN, 2},
             {GAIT_TIBIA, GAIT_CALCN, 6},   {GAIT_TIBIA, GAIT_TOES, 3}};

static int on_side(int bone, int left)
{
    return bone >= GAIT_FEMUR ? bone + left * GAIT_LEG : bone;
}

// Three or four points: the ends on their bones, the others with either.
static tal_path_ix add_path(walker *it, int from, int to, int index, unsigned *seed)
{
    const tal_path_ix path = tal_forces_add_path(it->forces, NULL);
    const int n = 3 + index % 2;
    for (int i = 0; i < n; ++i) {
        const int on = 2 * i < n ? from : to;
        const tal_vec3 p =
            tal_v3(0.04 * next_number(seed),
                   (2 * i < n ? -0.12 - 0.05 * i : -0.02 - 0.03 * i) + 0.01 * next_number(seed),
                   0.04 * next_number(seed));
        (void)tal_path_add_point(it->forces, path, it->body[on], p);
    }
    it->num_points += n;
    return path;
}

// The ends of muscle `i`: 43 in either leg, 6 between pelvis and torso.
static void ends_of(int i, int *from, int *to)
{
    int k = 0, left = i / PER_LEG, rest = i % PER_LEG;
    *from = GAIT_PELVIS;
    *to = GAIT_TORSO;
    if (i >= 2 * PER_LEG) return;
    while (rest >= kinds[k].count) {
        rest -= kinds[k++].count;
    }
    *from = on_side(kinds[k].from, left);
    *to = on_side(kinds[k].to, left);
}

// `lengths` of the paths; NULL: add paths alone.
static void add_muscles(walker *it, tal_muscle_model model, const double *lengths)
{
    unsigned seed = 7;
    for (int i = 0; i < NUM_MUSCLES; ++i) {
        int from, to;
        ends_of(i, &from, &to);
        tal_muscle_def def = tal_muscle_def_default(model);
        def.path = add_path(it, from, to, i, &seed);
        if (lengths == NULL) continue;
        def.max_force = 800.0;
        def.fiber_length = 0.4 * lengths[i];
        def.tendon_length = 0.59 * lengths[i];
        def.pennation = 0.2;
        (void)tal_forces_add_muscle(it->forces, NULL, &def);
    }
}

// --- the model ---

static void must(tal_status st, const char *why)
{
    if (st == TAL_OK) return;
    (void)fprintf(stderr, "bench_gait: %s\n", why);
    exit(EXIT_FAILURE);
}

static void *take(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    must(memory != NULL ? TAL_OK : TAL_ERR_NO_MEMORY, "no memory");
    return memory;
}

static void pose(walker *it)
{
    unsigned seed = 11;
    it->q = take((size_t)tal_state_nq(it->state), sizeof *it->q);
    it->u = take((size_t)tal_state_nu(it->state), sizeof *it->u);
    for (int i = 0; i < tal_state_nq(it->state); ++i) {
        it->q[i] = 0.2 * next_number(&seed);
    }
    for (int i = 0; i < tal_state_nu(it->state); ++i) {
        it->u[i] = next_number(&seed);
    }
    (void)tal_state_set_q(it->state, it->q, tal_state_nq(it->state));
    (void)tal_state_set_u(it->state, it->u, tal_state_nu(it->state));
}

// An actuator along each speed, as strong as residuals and reserves usually are.
static void add_reserves(walker *it)
{
    for (int b = 0; b < GAIT_NUM_BODIES; ++b) {
        const char *kind = tal_body_mobilizer(it->matter, it->body[b]);
        const int nu = b == GAIT_PELVIS ? 6 : kind[0] == 'g' ? 3 : 1; // free, gimbal, pin
        for (int i = 0; i < nu; ++i) {
            (void)tal_forces_add_mobility_actuator(it->forces, NULL, (tal_mobility){it->body[b], i},
                                                   b == GAIT_PELVIS ? 1000.0 : 10.0,
                                                   (tal_measure_ix){-1});
        }
    }
}

static void build(walker *it, int model, const double *lengths)
{
    const bool with_reserves = it->frames < 0;
    *it = (walker){.system = tal_system_create(NULL)};
    it->matter = tal_matter_create(it->system);
    it->forces = tal_forces_create(it->system, it->matter);
    gait_add_bones(it->matter, it->body);
    (void)tal_forces_add_gravity(it->forces, tal_v3(0.0, -9.81, 0.0));
    if (model >= 0) add_muscles(it, (tal_muscle_model)model, lengths);
    if (with_reserves) add_reserves(it);
    tal_error err = {TAL_OK, "", ""};
    must(tal_system_realize_topology(it->system, &err), err.message);
    must(tal_state_create(it->system, &it->state, &err), err.message);
    pose(it);
    if (with_reserves) {
        must(tal_static_optimizer_create(it->system, it->forces, NULL, &it->optimizer, &err),
             err.message);
    }
    if (lengths == NULL) return;
    must(tal_forces_equilibrate_muscles(it->forces, it->state), "no equilibrium");
}

static void measure_paths(double lengths[NUM_MUSCLES])
{
    walker it;
    build(&it, TAL_MUSCLE_THELEN, NULL);
    must(tal_system_realize(it.system, it.state, TAL_STAGE_VELOCITY), "no paths");
    for (int i = 0; i < NUM_MUSCLES; ++i) {
        lengths[i] = tal_path_length(it.forces, it.state, (tal_path_ix){i});
    }
    must(it.num_points == NUM_POINTS ? TAL_OK : TAL_ERR_BAD_VALUE, "other points");
    must(tal_state_nu(it.state) == 23 ? TAL_OK : TAL_ERR_BAD_VALUE, "other coordinates");
}

// --- the work ---

static void advance(walker *it, tal_stage stage)
{
    const double wave = 1e-3 * (double)(it->turn++ % 16);
    double *q = tal_state_upd_q(it->state), *u = tal_state_upd_u(it->state);
    for (int i = 0; i < tal_state_nu(it->state); ++i) {
        q[i] = it->q[i] + wave;
        u[i] = it->u[i] - wave;
    }
    must(tal_system_realize(it->system, it->state, stage), "it cannot be realized");
}

static void run_velocity(void *context, long count)
{
    for (long i = 0; i < count; ++i) {
        advance(context, TAL_STAGE_VELOCITY);
    }
}

static void run_acceleration(void *context, long count)
{
    for (long i = 0; i < count; ++i) {
        advance(context, TAL_STAGE_ACCELERATION);
    }
}

static void run_paths(void *context, long count)
{
    walker *it = context;
    for (long i = 0; i < count; ++i) {
        advance(it, TAL_STAGE_VELOCITY);
        it->turn += tal_path_speed(it->forces, it->state, (tal_path_ix){0}) > 1e9;
    }
}

static void run_optimizer(void *context, long count)
{
    walker *it = context;
    double udot[23], x[NUM_MUSCLES + 23];
    for (int i = 0; i < 23; ++i) {
        udot[i] = 3.0 * it->u[i];
    }
    for (long i = 0; i < count; ++i) {
        tal_static_frame frame;
        advance(it, TAL_STAGE_VELOCITY);
        must(tal_static_optimizer_solve(it->optimizer, it->state, udot, x, NULL, NULL, &frame),
             tal_static_optimizer_error(it->optimizer)->message);
        it->iterations += frame.report.iterations;
        it->frames += 1;
    }
}

int main(void)
{
    static walker bare, thelen, millard, degroote, driven = {.frames = -1};
    double lengths[NUM_MUSCLES];
    measure_paths(lengths);
    build(&bare, -1, NULL);
    build(&thelen, TAL_MUSCLE_THELEN, lengths);
    build(&millard, TAL_MUSCLE_MILLARD, lengths);
    build(&degroote, TAL_MUSCLE_DEGROOTE, lengths);
    build(&driven, TAL_MUSCLE_THELEN, lengths);
    bench rows[] = {
        {.name = "to Velocity, no muscles", .run = run_velocity, .context = &bare},
        {.name = "and all paths", .run = run_paths, .context = &thelen},
        {.name = "to Acceleration, no muscles", .run = run_acceleration, .context = &bare},
        {.name = "92 Thelen muscles", .run = run_acceleration, .context = &thelen},
        {.name = "92 Millard muscles", .run = run_acceleration, .context = &millard},
        {.name = "92 DeGroote muscles", .run = run_acceleration, .context = &degroote},
        {.name = "static optimization, a frame", .run = run_optimizer, .context = &driven}};
    const int n = (int)(sizeof rows / sizeof *rows);
    bench_measure(rows, n, 51, 2e6);
    const long before = allocations();
    for (int i = 0; i < n; ++i) {
        rows[i].run(rows[i].context, 10);
    }
    const long after = allocations();
    bench_print("a model of walking", rows, n);
    (void)printf("static optimization: %.1f iterations\n",
                 (double)driven.iterations / (double)driven.frames);
    (void)printf("allocations: %ld\n", after - before);
    return after == before ? EXIT_SUCCESS : EXIT_FAILURE;
}
