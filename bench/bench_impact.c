// What hard contacts cost: which elements push, impacts, watching them, and whole runs.
//
// Aims (specification of unilateral elements, section 12): modes of 4 contacts with friction 60 us,
// 10 us where one changes; 1 ms for 100 contacts without friction; an impact of one contact 2 us
// besides W; watching closed contacts 5 % of realizing; 20 ns for each element that is open; a
// walker's stride 2 ms, 100 impacts 5 ms.
#include "bench.h"
#include "count_alloc.h"

#include <talus/matter/unilaterals.h>
#include <talus/study.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scene {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state, *start;
    tal_unilateral_ix first;
} scene;

static void fail(const char *why)
{
    (void)fprintf(stderr, "%s\n", why);
    exit(EXIT_FAILURE);
}

static void begin(scene *s, tal_vec3 g)
{
    *s = (scene){.system = tal_system_create(NULL)};
    s->matter = tal_matter_create(s->system);
    s->forces = tal_forces_create(s->system, s->matter);
    (void)tal_forces_add_gravity(s->forces, g);
}

static void finish(scene *s, bool handled)
{
    tal_error err = {TAL_OK, "", ""};
    if (handled) (void)tal_contacts_create(s->system, NULL);
    if (tal_system_realize_topology(s->system, &err) != TAL_OK ||
        tal_state_create(s->system, &s->state, &err) != TAL_OK ||
        tal_state_create(s->system, &s->start, &err) != TAL_OK) {
        fail(err.message);
    }
}

static void end(scene *s)
{
    tal_state_destroy(s->start);
    tal_state_destroy(s->state);
    tal_system_destroy(s->system);
}

static tal_xform floor_plane(void)
{
    return tal_xf(tal_m3(tal_v3(1.0, 0.0, 0.0), tal_v3(0.0, 0.0, -1.0), tal_v3(0.0, 1.0, 0.0)),
                  TAL_VEC3_ZERO);
}

static tal_unilateral_def rough(double mu, double e)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    def.material.static_mu = def.material.sliding_mu = mu;
    def.material.restitution = e;
    return def;
}

// --- a block on four feet ---

// On a grid of n x n feet.
static void build_block_on(scene *s, bool handled, int n, double mu)
{
    begin(s, tal_v3(0.0, -9.81, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 2.0;
    def.mass.inertia = tal_s3_diag(0.1, 0.2, 0.15);
    const tal_body_ix block = tal_matter_add_free(s->matter, TAL_GROUND, &def);
    const tal_unilateral_def foot = rough(mu, 0.2);
    const tal_xform plane = floor_plane();
    for (int k = 0; k < n * n; ++k) {
        const double x = 0.3 - 0.6 * (k / n) / (n - 1), z = 0.2 - 0.4 * (k % n) / (n - 1);
        (void)tal_unilateral_add_point_on_plane(s->matter, &foot, TAL_GROUND, &plane, block,
                                                tal_v3(x, -0.1, z));
    }
    (void)tal_matter_set_most_touching(s->matter, n * n);
    finish(s, handled);
    tal_state_upd_q(s->state)[5] = 0.1;
    if (tal_matter_solve_modes(s->matter, s->state, NULL, NULL) != TAL_OK ||
        tal_state_copy(s->start, s->state) != TAL_OK) {
        fail(tal_state_error(s->state)->message);
    }
}

static void build_block(scene *s, bool handled)
{
    build_block_on(s, handled, 2, 0.5);
}

static void solve_modes(void *context, long count)
{
    const scene *s = context;
    for (long i = 0; i < count; ++i) {
        if (tal_matter_solve_modes(s->matter, s->state, NULL, NULL) != TAL_OK) return;
    }
}

static void open_and_solve_modes(void *context, long count)
{
    const scene *s = context;
    for (long i = 0; i < count; ++i) {
        (void)tal_unilateral_set_mode(s->matter, s->state, s->first, TAL_UNILATERAL_OFF, NULL);
        if (tal_matter_solve_modes(s->matter, s->state, NULL, NULL) != TAL_OK) return;
    }
}

// What the time stepper has done before it asks for modes.
static void open_only(void *context, long count)
{
    const scene *s = context;
    for (long i = 0; i < count; ++i) {
        (void)tal_unilateral_set_mode(s->matter, s->state, s->first, TAL_UNILATERAL_STICK, NULL);
        (void)tal_unilateral_set_mode(s->matter, s->state, s->first, TAL_UNILATERAL_OFF, NULL);
        if (tal_system_realize(s->system, s->state, TAL_STAGE_VELOCITY) != TAL_OK) return;
    }
}

// Nothing is known of what they did before: one slides slowly, and no guess is made.
static void open_all_and_solve_modes(void *context, long count)
{
    const scene *s = context;
    for (long i = 0; i < count; ++i) {
        (void)tal_state_copy(s->state, s->start);
        if (tal_matter_solve_modes(s->matter, s->state, NULL, NULL) != TAL_OK) return;
    }
}

static void realize(void *context, long count)
{
    const scene *s = context;
    for (long i = 0; i < count; ++i) {
        (void)tal_state_invalidate(s->state, TAL_STAGE_TIME);
        if (tal_system_realize(s->system, s->state, TAL_STAGE_ACCELERATION) != TAL_OK) return;
    }
}

static void bench_block(void)
{
    scene handled, alone, cold;
    build_block(&handled, true);
    build_block(&alone, false);
    build_block(&cold, false);
    for (int i = 0; i < tal_matter_num_unilaterals(cold.matter); ++i) {
        const tal_unilateral_ix foot = {i};
        (void)tal_unilateral_set_mode(cold.matter, cold.start, foot, TAL_UNILATERAL_OFF, NULL);
    }
    tal_state_upd_u(cold.start)[1] = 0.1; // it spins: all slide
    tal_state_upd_u(cold.start)[3] = 0.1;
    bench rows[] = {
        {.name = "modes, as before", .run = solve_modes, .context = &alone},
        {.name = "open a foot, realize to Velocity", .run = open_only, .context = &alone},
        {.name = "the same, and modes", .run = open_and_solve_modes, .context = &alone},
        {.name = "modes, all begin to slide", .run = open_all_and_solve_modes, .context = &cold},
        {.name = "realize to Acceleration", .run = realize, .context = &alone},
        {.name = "the same, watched", .run = realize, .context = &handled}};
    bench_measure(rows, 6, 101, 1e6);
    bench_print("a block of 6 speeds on four feet that stick", rows, 6);
    const long before = allocations();
    open_and_solve_modes(&alone, 10);
    (void)printf(
        "  modes where one changes: %.1f us; watching: %.1f %% of realizing; allocations of "
        "modes: %ld\n",
        1e-3 * (rows[2].median - rows[1].median), 100.0 * (rows[5].median / rows[4].median - 1.0),
        allocations() - before);
    end(&cold);
    end(&handled);
    end(&alone);
}

static void bench_smooth(void)
{
    scene s;
    build_block_on(&s, false, 10, 0.0);
    bench rows[] = {
        {.name = "modes, as before", .run = solve_modes, .context = &s},
        {.name = "modes, one foot was open", .run = open_and_solve_modes, .context = &s}};
    bench_measure(rows, 2, 31, 1e7);
    bench_print("a block on 100 feet without friction", rows, 2);
    end(&s);
}

// --- one impact ---

static void hit(void *context, long count)
{
    const scene *s = context;
    for (long i = 0; i < count; ++i) {
        (void)tal_state_copy(s->state, s->start);
        if (tal_matter_solve_impact(s->matter, s->state, NULL, NULL) != TAL_OK) return;
    }
}

static void copy_only(void *context, long count)
{
    const scene *s = context;
    for (long i = 0; i < count; ++i) {
        (void)tal_state_copy(s->state, s->start);
        if (tal_system_realize(s->system, s->state, TAL_STAGE_VELOCITY) != TAL_OK) return;
    }
}

static void bench_rod(void)
{
    scene s;
    begin(&s, tal_v3(0.0, -9.81, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.mass.inertia = tal_s3_diag(1e-3, 1.0 / 12.0, 1.0 / 12.0);
    const tal_body_ix rod = tal_matter_add_planar(s.matter, TAL_GROUND, &def);
    const tal_unilateral_def tip = rough(0.5, 0.5);
    const tal_xform plane = floor_plane();
    (void)tal_unilateral_add_point_on_plane(s.matter, &tip, TAL_GROUND, &plane, rod,
                                            tal_v3(-0.5, 0.0, 0.0));
    finish(&s, false);
    const double angle = 30.0 * TAL_DEGREE;
    const double q[3] = {angle, 0.5 * cos(angle), 0.5 * sin(angle)}, u[3] = {0.0, 1.0, -3.0};
    (void)tal_state_set_q(s.start, q, 3);
    (void)tal_state_set_u(s.start, u, 3);
    if (tal_system_realize(s.system, s.start, TAL_STAGE_VELOCITY) != TAL_OK) {
        fail(tal_state_error(s.start)->message);
    }
    bench rows[] = {{.name = "copy a State, realize it", .run = copy_only, .context = &s},
                    {.name = "the same, and an impact", .run = hit, .context = &s}};
    bench_measure(rows, 2, 101, 1e6);
    bench_print("a planar rod that hits a floor with friction", rows, 2);
    end(&s);
}

// --- many elements that are open ---

static void build_open(scene *s, int n, bool handled)
{
    begin(s, tal_v3(0.0, -9.81, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 2.0;
    def.mass.inertia = tal_s3_diag(0.1, 0.2, 0.15);
    const tal_body_ix body = tal_matter_add_free(s->matter, TAL_GROUND, &def);
    const tal_unilateral_def foot = tal_unilateral_def_default();
    const tal_xform plane = floor_plane();
    for (int k = 0; k < n; ++k) {
        (void)tal_unilateral_add_point_on_plane(s->matter, &foot, TAL_GROUND, &plane, body,
                                                tal_v3(1e-4 * k, 0.0, 0.0));
    }
    finish(s, handled);
    tal_state_upd_q(s->state)[5] = 5.0;
}

static void bench_open(int n)
{
    scene handled, alone;
    build_open(&handled, n, true);
    build_open(&alone, n, false);
    bench rows[] = {{.name = "realize to Acceleration", .run = realize, .context = &alone},
                    {.name = "the same, watched", .run = realize, .context = &handled}};
    bench_measure(rows, 2, 51, 1e6);
    char title[64];
    (void)snprintf(title, sizeof title, "%d points over a floor", n);
    bench_print(title, rows, 2);
    (void)printf("  watching: %.1f ns each\n", (rows[1].median - rows[0].median) / n);
    end(&handled);
    end(&alone);
}

// --- whole runs ---

typedef struct run {
    scene s;
    tal_integrator *integ;
    tal_time_stepper *stepper;
    double t;
} run;

static void go(void *context, long count)
{
    const run *it = context;
    tal_outcome outcome;
    for (long i = 0; i < count; ++i) {
        (void)tal_state_copy(it->s.state, it->s.start);
        tal_time_stepper_reset(it->stepper);
        if (tal_time_stepper_step_to(it->stepper, it->s.state, it->t, &outcome) != TAL_OK) {
            fail(tal_time_stepper_error(it->stepper)->message);
        }
    }
}

static void prepare_run(run *it, double accuracy, double t)
{
    tal_error err = {TAL_OK, "", ""};
    tal_integrator_def method = tal_integrator_def_default();
    method.tableau = tal_rk_dormand_prince();
    method.accuracy = accuracy;
    it->t = t;
    if (tal_integrator_create(it->s.system, &method, &it->integ, &err) != TAL_OK ||
        tal_time_stepper_create(it->integ, NULL, &it->stepper, &err) != TAL_OK) {
        fail(err.message);
    }
}

static void end_run(run *it)
{
    tal_time_stepper_destroy(it->stepper);
    tal_integrator_destroy(it->integ);
    end(&it->s);
}

// Eight spokes on a slope of 0.1 rad, g = 1: one step from impact to impact (tests T17).
static void build_wheel(run *it)
{
    const double half = 22.5 * TAL_DEGREE, w = 0.402513344593713;
    begin(&it->s, tal_v3(sin(0.1), -cos(0.1), 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.mass.inertia = tal_s3_diag(0.05, 0.05, 0.1);
    const tal_body_ix wheel = tal_matter_add_planar(it->s.matter, TAL_GROUND, &def);
    tal_unilateral_def foot = rough(1.0, 0.0);
    foot.material.static_mu = (double)INFINITY;
    const tal_xform plane = floor_plane();
    for (int k = 0; k < 8; ++k) {
        const double at = -90.0 * TAL_DEGREE + half - 2.0 * half * k;
        (void)tal_unilateral_add_point_on_plane(it->s.matter, &foot, TAL_GROUND, &plane, wheel,
                                                tal_v3(cos(at), sin(at), 0.0));
    }
    finish(&it->s, true);
    const double q[3] = {0.0, -sin(half), cos(half)};
    const double u[3] = {-w, w * cos(half), w * sin(half)};
    (void)tal_state_set_q(it->s.start, q, 3);
    (void)tal_state_set_u(it->s.start, u, 3);
    prepare_run(it, 1e-9, 2.3);
}

// A point in a circle: 100 impacts.
static void build_billiards(run *it)
{
    begin(&it->s, TAL_VEC3_ZERO);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_point(1.0, TAL_VEC3_ZERO);
    const tal_body_ix ball = tal_matter_add_translation(it->s.matter, TAL_GROUND, &def);
    const tal_unilateral_def wall = rough(0.0, 1.0);
    (void)tal_unilateral_add_sphere_in_sphere(it->s.matter, &wall, TAL_GROUND, TAL_VEC3_ZERO, 1.1,
                                              ball, TAL_VEC3_ZERO, 0.1);
    finish(&it->s, true);
    const double q[3] = {0.0, sin(0.6), 0.0}, u[3] = {1.0, 0.0, 0.0};
    (void)tal_state_set_q(it->s.start, q, 3);
    (void)tal_state_set_u(it->s.start, u, 3);
    prepare_run(it, 1e-9, 200.0 * cos(0.6));
}

static void bench_runs(void)
{
    run wheel = {0}, billiards = {0};
    build_wheel(&wheel);
    build_billiards(&billiards);
    bench rows[] = {{.name = "a stride of a wheel", .run = go, .context = &wheel},
                    {.name = "100 impacts in a circle", .run = go, .context = &billiards}};
    bench_measure(rows, 2, 31, 1e7);
    bench_print("runs at an accuracy of 1e-9", rows, 2);
    end_run(&wheel);
    end_run(&billiards);
}

int main(void)
{
#ifndef NDEBUG
    (void)printf("asserts are on: invalid results are filled with NaN, which costs time\n");
#endif
    bench_block();
    bench_smooth();
    bench_rod();
    bench_open(100);
    bench_open(10000);
    bench_runs();
    return EXIT_SUCCESS;
}
