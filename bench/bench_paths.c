// What paths cost: 92 of them with 322 points on a body of 23 speeds, moment arms, and strings.
//
// Aims: lengths and speeds of all paths 6 us, all moment arms 40 us, a string over a cylinder
// 120 ns, over an ellipsoid 3 us. The bare kernel adds up the same chords from points that are
// there already: what no program can avoid.
#include "bench.h"

#include <talus/forces.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NUM_PATHS = 92,
    NUM_POINTS = 322,
    NUM_STRINGS = 64
};

typedef struct work {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_body_ix bodies[13];
    int num_bodies;
    tal_state *state;
    double *work, *arms;
    int *iwork;
    tal_vec3 points[NUM_POINTS];
    tal_wrap wrap;
    tal_vec3 ends[NUM_STRINGS][2];
    double sum;
} work;

static void stop(const char *why)
{
    (void)fprintf(stderr, "%s\n", why);
    exit(EXIT_FAILURE);
}

static void add(work *w, tal_body_ix body)
{
    if (body.i < 0) stop(tal_system_error(w->system)->message);
    w->bodies[w->num_bodies++] = body;
}

// Pelvis, trunk, and two legs of thigh, shank, talus, heel and toes.
static void add_bodies(work *w)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 2.0;
    def.mass.inertia = tal_s3_diag(0.1, 0.1, 0.1);
    def.use_angles = true;
    const tal_body_ix pelvis = tal_matter_add_free(w->matter, TAL_GROUND, &def);
    add(w, pelvis);
    def.X_PF = tal_xf_from_p(tal_v3(0.0, 0.1, 0.0));
    add(w, tal_matter_add_gimbal(w->matter, pelvis, &def));
    for (int side = -1; side <= 1; side += 2) {
        def.X_PF = tal_xf_from_p(tal_v3(0.0, -0.1, 0.09 * side));
        tal_body_ix body = tal_matter_add_gimbal(w->matter, pelvis, &def);
        add(w, body);
        for (int k = 0; k < 4; ++k) {
            def.X_PF = tal_xf_from_p(tal_v3(0.02 * k, -0.4 + 0.1 * k, 0.0));
            body = tal_matter_add_pin(w->matter, body, &def);
            add(w, body);
        }
    }
}

// Paths of three or four points, from a body to the next ones: one side, then the other.
static void add_paths(work *w)
{
    int left = NUM_POINTS;
    for (int i = 0; i < NUM_PATHS; ++i) {
        const int n = left - 3 * (NUM_PATHS - i) > 0 && i % 2 == 0 ? 4 : 3;
        const int first = 2 + 5 * (i % 2), crossed = 1 + i / 2 % 2, from = i / 4 % 4;
        const tal_path_ix path = tal_forces_add_path(w->forces, NULL);
        for (int k = 0; k < n; ++k) {
            const int hop = from - 1 + k * crossed / (n - 1);
            const tal_body_ix body = hop < 0 ? w->bodies[0] : w->bodies[first + hop];
            tal_path_add_point(w->forces, path, body,
                               tal_v3(0.02 + 0.01 * k, -0.05 * k, 0.01 * (i % 3)));
        }
        left -= n;
    }
    while (left-- > 0) { // what is left of the points
        tal_path_add_point(w->forces, (tal_path_ix){left % NUM_PATHS}, w->bodies[0],
                           tal_v3(0.0, 0.1, 0.01 * left));
    }
}

static void build(work *w)
{
    tal_error err = {TAL_OK, "", ""};
    w->system = tal_system_create(NULL);
    w->matter = tal_matter_create(w->system);
    w->forces = tal_forces_create(w->system, w->matter);
    add_bodies(w);
    add_paths(w);
    if (tal_system_realize_topology(w->system, &err) != TAL_OK) stop(err.message);
    if (tal_state_create(w->system, &w->state, &err) != TAL_OK) stop(err.message);
    if (tal_system_realize(w->system, w->state, TAL_STAGE_VELOCITY) != TAL_OK) {
        stop(tal_state_error(w->state)->message);
    }
    const int nu = tal_matter_nu(w->matter);
    w->work = calloc(tal_forces_moment_arms_work_size(w->forces, w->state), sizeof(double));
    w->iwork = calloc(tal_forces_moment_arms_iwork_size(w->forces, w->state), sizeof(int));
    w->arms = calloc((size_t)NUM_PATHS * (size_t)nu, sizeof(double));
    for (int i = 0; i < NUM_POINTS; ++i) {
        w->points[i] = tal_v3(0.1 * i, sin(i), cos(3.0 * i));
    }
}

// --- what is timed ---

// The poses without the paths, to be subtracted by the reader.
static void run_poses(void *context, long count)
{
    work *w = context;
    for (long i = 0; i < count; ++i) {
        tal_body_set_q(w->matter, w->state, w->bodies[2], 0, 1e-3 * (double)(i % 100));
        if (tal_system_realize(w->system, w->state, TAL_STAGE_VELOCITY) != TAL_OK) stop("realize");
    }
}

static void run_lengths(void *context, long count)
{
    work *w = context;
    double lengths[NUM_PATHS], speeds[NUM_PATHS];
    for (long i = 0; i < count; ++i) {
        run_poses(w, 1);
        if (tal_forces_calc_path_lengths(w->forces, w->state, lengths) != TAL_OK ||
            tal_forces_calc_path_speeds(w->forces, w->state, speeds) != TAL_OK) {
            stop("lengths");
        }
        w->sum += lengths[0] + speeds[0];
    }
}

static void run_arms(void *context, long count)
{
    work *w = context;
    const tal_matrix R = tal_matrix_view(w->arms, NUM_PATHS, tal_matter_nu(w->matter));
    for (long i = 0; i < count; ++i) {
        if (tal_forces_calc_moment_arms(w->forces, w->state, R, w->work, w->iwork) != TAL_OK) {
            stop("arms");
        }
        w->sum += w->arms[0];
    }
}

static void run_bare(void *context, long count)
{
    work *w = context;
    for (long i = 0; i < count; ++i) {
        for (int k = 1; k < NUM_POINTS; ++k) {
            w->sum += tal_v3_norm(tal_v3_sub(w->points[k], w->points[k - 1]));
        }
        w->points[i % NUM_POINTS].x += 1e-9;
    }
}

static void run_string(void *context, long count)
{
    work *w = context;
    tal_wrap_arc arc = {.length = 0.0};
    for (long i = 0; i < count; ++i) {
        const tal_vec3 *ends = w->ends[i % NUM_STRINGS];
        if (tal_wrap_find(&w->wrap, ends[0], ends[1], &arc) != TAL_WRAP_BENT) stop("string");
        w->sum += arc.length;
    }
}

// Strings that pass the center at about the distance y.
static void prepare_strings(work *w, tal_wrap wrap, double y)
{
    w->wrap = wrap;
    for (int i = 0; i < NUM_STRINGS; ++i) {
        const double x = (double)(i * 37 % NUM_STRINGS) / NUM_STRINGS;
        w->ends[i][0] = tal_v3(-0.1 - 0.05 * x, y + 0.01 * x, 0.02 * x);
        w->ends[i][1] = tal_v3(0.12 + 0.04 * x, y - 0.01 * x, -0.03 * x);
    }
}

int main(void)
{
    static work body, strings[4];
    build(&body);
    prepare_strings(&strings[0], tal_wrap_cylinder(0.04, 1.0), 0.03);
    prepare_strings(&strings[1], tal_wrap_sphere(0.04), 0.03);
    prepare_strings(&strings[2], tal_wrap_ellipsoid(tal_v3(0.04, 0.05, 0.06)), 0.03);
    prepare_strings(&strings[3], tal_wrap_ellipsoid(tal_v3(0.04, 0.05, 0.06)), 0.01);
    bench rows[] = {
        {.name = "poses and velocities", .run = run_poses, .context = &body},
        {.name = "the same, and 92 lengths and speeds", .run = run_lengths, .context = &body},
        {.name = "bare kernel: 321 chords", .run = run_bare, .context = &body},
        {.name = "moment arms, 92 x 23", .run = run_arms, .context = &body},
        {.name = "string over a cylinder", .run = run_string, .context = &strings[0]},
        {.name = "string over a sphere", .run = run_string, .context = &strings[1]},
        {.name = "string over an ellipsoid", .run = run_string, .context = &strings[2]},
        {.name = "the same near its center", .run = run_string, .context = &strings[3]}};
    const int n = (int)(sizeof rows / sizeof *rows);
    bench_measure(rows, n, 51, 2e5);
    bench_print("paths", rows, n);
    return EXIT_SUCCESS;
}
