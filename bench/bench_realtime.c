// What a fixed step costs, by formulation: Bricard's linkage, and the chain of five bars that is
// left when its last pin is taken out (GJB ex. 8.6 and 8.7).
//
// Beside them stand the ratios of CD tab. 1, of a car with 26 coordinates and 16 equations on a
// machine of 2002, and of GJB's iterations of the chain and the linkage, 6.5 and 5.0 ms on one of
// 1989. Aims: global at least 4 times the hybrid step; the chain 1.1 to 1.9 times the linkage.
//
// Then the Iltis, driving 8 s over a ramp and down stairs by steps of 10 ms, beside CD tab. 1. Aim:
// hybrid 1000 times faster than real time, its worst step below 20 times the mean. Then operations
// of velocity transformations (GJB tab. 8.3), and accelerations in four ways (GJB tab. 8.5; aims:
// penalty and matrix R at least half as many times slower than Formulation B as in the book).
#include "bench.h"
#include "garage.h"

#include <talus/study.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct mechanism {
    tal_system *system;
    tal_state *state;
    tal_fixed_stepper *stepper;
} mechanism;

static void require(tal_status st, const char *why)
{
    if (st == TAL_OK) return;
    (void)fprintf(stderr, "%s: %s\n", tal_status_name(st), why);
    exit(EXIT_FAILURE);
}

static tal_mat3 frame_along(int axis)
{
    const tal_vec3 e[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    return tal_m3(e[(axis + 1) % 3], e[(axis + 2) % 3], e[axis]);
}

// Slender rods of 1 kg along edges of a cube, frames as Ground's.
static void add_links(tal_matter *matter, bool is_closed)
{
    static const tal_vec3 p[6] = {{0.0, 0.0, 0.0},  {1.0, 0.0, 0.0},  {1.0, -1.0, 0.0},
                                  {1.0, -1.0, 1.0}, {0.0, -1.0, 1.0}, {0.0, 0.0, 1.0}};
    static const int axes[6] = {1, 2, 0, 1, 2, 0};
    tal_body_ix body = TAL_GROUND;
    for (int i = 0; i < 5; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass.mass = 1.0;
        def.mass.com = tal_v3_scale(0.5, tal_v3_add(p[i], p[i + 1]));
        const tal_sym3 along = tal_s3_cross_square(tal_v3_sub(p[i + 1], p[i]));
        def.mass.inertia =
            tal_s3_add(tal_s3_cross_square(def.mass.com), tal_s3_scale(1.0 / 12.0, along));
        def.X_PF = (tal_xform){frame_along(axes[i]), p[i]};
        def.X_BM = def.X_PF;
        body = tal_matter_add_pin(matter, body, &def);
    }
    const tal_constraint_def pin = tal_constraint_between(TAL_GROUND, body);
    const tal_xform at = {frame_along(axes[5]), p[5]};
    if (is_closed) (void)tal_constraint_add_loop_pin(matter, &pin, &at, &at);
}

static mechanism build(bool is_closed, const tal_fixed_stepper_def *def)
{
    mechanism m = {.system = tal_system_create(NULL)};
    tal_matter *matter = tal_matter_create(m.system);
    tal_forces *forces = tal_forces_create(m.system, matter);
    tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    add_links(matter, is_closed);
    (void)tal_fixed_memory_create(m.system);
    tal_error err = {TAL_OK, "", ""};
    require(tal_system_realize_topology(m.system, &err), err.message);
    require(tal_state_create(m.system, &m.state, &err), err.message);
    require(tal_fixed_stepper_create(m.system, def, &m.stepper, &err), err.message);
    return m;
}

static void tear_down(mechanism *m)
{
    tal_fixed_stepper_destroy(m->stepper);
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

static void take_steps(void *context, long count)
{
    mechanism *m = context;
    for (long i = 0; i < count; ++i) {
        require(tal_fixed_stepper_step(m->stepper, m->state),
                tal_fixed_stepper_error(m->stepper)->message);
    }
}

// Microseconds for a step, and iterations in it.
static double time_of(bool is_closed, tal_formulation formulation, double *iterations)
{
    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    def.formulation = formulation;
    def.scheme = tal_formulation_usual_scheme(formulation);
    def.uses_stiffness = false; // there is gravity alone
    mechanism m = build(is_closed, &def);
    bench row = {.name = "step", .run = take_steps, .context = &m};
    bench_measure(&row, 1, 15, 1e6);
    const tal_fixed_stats stats = tal_fixed_stepper_statistics(m.stepper);
    *iterations = (double)stats.iterations / (double)stats.steps;
    tear_down(&m);
    return 1e-3 * row.least;
}

// Ratios to the hybrid formulation of CD tab. 1 at 10 ms; 0: not in it.
static double published(tal_formulation formulation)
{
    switch (formulation) {
    case TAL_FORMULATION_HYBRID:
        return 1.0;
    case TAL_FORMULATION_SEMI_RECURSIVE:
        return 0.74 / 0.72;
    case TAL_FORMULATION_FULLY_RECURSIVE:
        return 3.06 / 0.72;
    case TAL_FORMULATION_GLOBAL:
        return 5.41 / 0.72;
    default:
        return 0.0;
    }
}

// --- the Iltis ---

static sketch add_iltis(tal_matter *matter, tal_forces *forces, const void *options)
{
    return iltis_add(matter, forces, options);
}

enum {
    DRIVES = 7,
    STEPS = 800
};

// Steps of a drive: iterations, and the processor's time for each [ns], the least of all drives.
typedef struct drive {
    double iterations, time[STEPS];
} drive;

static void take_drive(tal_formulation formulation, drive *out)
{
    const iltis_options options = {.has_road = true};
    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    def.formulation = formulation;
    def.tolerance = 5e-7; // as CD have it for real time
    garage car;
    require(garage_open(&car, add_iltis, &options, &def), car.err.message);
    garage_push(&car, tal_v3(5.0, 0.0, 0.0));
    for (int i = 0; i < STEPS; ++i) {
        const double started = bench_now();
        require(tal_fixed_stepper_step(car.stepper, car.state), "a step of the Iltis");
        out->time[i] = fmin(out->time[i], bench_now() - started);
    }
    out->iterations = (double)tal_fixed_stepper_statistics(car.stepper).iterations / STEPS;
    garage_close(&car);
}

static void print_iltis(void)
{
    static const tal_formulation all[] = {TAL_FORMULATION_HYBRID, TAL_FORMULATION_SEMI_RECURSIVE,
                                          TAL_FORMULATION_FULLY_RECURSIVE};
    double hybrid = 0.0;

    (void)printf("\nIltis, 10 ms          us  iterations  real time  / hybrid  published  "
                 "worst / mean\n");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
        static drive it;
        double mean = 0.0, worst = 0.0;
        for (int k = 0; k < STEPS; ++k) {
            it.time[k] = INFINITY;
        }
        for (int k = 0; k < DRIVES; ++k) {
            take_drive(all[i], &it);
        }
        for (int k = 0; k < STEPS; ++k) {
            mean += 1e-3 * it.time[k] / STEPS;
            worst = fmax(worst, 1e-3 * it.time[k]);
        }
        if (i == 0) hybrid = mean;
        (void)printf("%-16s %7.1f %11.2f %9.0fx %9.2f %10.2f %13.1f\n",
                     tal_formulation_name(all[i]), mean, it.iterations, 1e4 / mean, mean / hybrid,
                     published(all[i]), worst / mean);
    }
}

// --- accelerations of one State, from positions on (GJB tab. 8.5) ---

typedef struct evaluation {
    garage model;
    tal_velocity_map *map;
    tal_natural *natural;
    tal_natural_solver *solver;
    int nu, num_bodies;
    double *M, *f, *Q, *x, *xdot, *xdotdot; // of the larger of both kinds of coordinates
    tal_spatial_vec *F;
} evaluation;

static void *take(size_t n, size_t size)
{
    void *out = calloc(n + 1, size);
    if (out == NULL) require(TAL_ERR_NO_MEMORY, "benchmark");
    return out;
}

// The same q again, as new ones, and the forces of all elements.
static void find_forces(evaluation *it)
{
    const tal_matter *matter = it->model.drawn.matter;
    tal_state *state = it->model.state;
    require(tal_state_set_q(state, tal_state_q(state), tal_state_nq(state)), "q");
    require(tal_system_realize(it->model.system, state, TAL_STAGE_DYNAMICS), "dynamics");
    require(tal_matter_calc_applied_forces(matter, state, it->F, it->f), "forces");
}

static void solve_by_map(void *context, long count)
{
    evaluation *it = context;
    const tal_matrix M = tal_matrix_view(it->M, it->nu, it->nu);
    for (long i = 0; i < count; ++i) {
        find_forces(it);
        require(tal_velocity_map_calc(it->map, it->model.state), "R");
        require(tal_velocity_map_calc_M(it->map, M), "R^T M R");
        require(tal_velocity_map_calc_Q(it->map, it->F, it->f, it->Q), "Q");
        require(tal_chol_factor(M, NULL, NULL), "factors");
        require(tal_chol_solve(M, tal_matrix_view(it->Q, it->nu, 1), NULL), "solution");
    }
}

static void solve_by_tree(void *context, long count)
{
    evaluation *it = context;
    for (long i = 0; i < count; ++i) {
        find_forces(it);
        require(tal_system_realize(it->model.system, it->model.state, TAL_STAGE_ACCELERATION),
                "accelerations");
    }
}

static void solve_natural(void *context, long count)
{
    evaluation *it = context;
    for (long i = 0; i < count; ++i) {
        find_forces(it);
        require(tal_natural_read(it->natural, it->model.state, it->x, it->xdot), "x");
        require(tal_natural_calc_Q(it->natural, it->model.state, it->F, it->f, it->Q), "Q");
        require(tal_natural_solver_solve(it->solver, it->x, it->xdot, it->Q, it->xdotdot), "x..");
    }
}

static void prepare(evaluation *it, garage_add_fn add)
{
    const tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    require(garage_open(&it->model, add, NULL, &def), it->model.err.message);
    const tal_matter *matter = it->model.drawn.matter;
    require(tal_system_realize(it->model.system, it->model.state, TAL_STAGE_VELOCITY), "velocity");
    require(tal_velocity_map_create(matter, NULL, &it->map, NULL), "map");
    require(tal_velocity_map_calc(it->map, it->model.state), "R");
    require(tal_natural_create(matter, it->model.state, &it->natural, NULL), "natural");
    it->nu = tal_matter_nu(matter);
    it->num_bodies = tal_matter_num_bodies(matter);
    const size_t n = (size_t)tal_natural_nx(it->natural);
    double **arrays[] = {&it->f, &it->Q, &it->x, &it->xdot, &it->xdotdot};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) {
        *arrays[i] = take(n, sizeof(double));
    }
    it->M = take((size_t)it->nu * (size_t)it->nu, sizeof(double));
    it->F = take((size_t)it->num_bodies, sizeof *it->F);
}

static void clear_away(evaluation *it)
{
    double *arrays[] = {it->M, it->f, it->Q, it->x, it->xdot, it->xdotdot};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) {
        free(arrays[i]);
    }
    free(it->F);
    tal_natural_destroy(it->natural);
    tal_velocity_map_destroy(it->map);
    garage_close(&it->model);
}

static double time_way(evaluation *it, void (*run)(void *, long))
{
    bench row = {.name = "way", .run = run, .context = it};
    bench_measure(&row, 1, 9, 2e6);
    return 1e-3 * row.least;
}

static void print_ways(const char *name, garage_add_fn add, double penalty, double matrix_R)
{
    evaluation it = {.map = NULL};
    prepare(&it, add);
    const double tree = time_way(&it, solve_by_tree), map = time_way(&it, solve_by_map);
    double us[2];
    for (int i = 0; i < 2; ++i) {
        tal_natural_solver_def def = tal_natural_solver_def_default();
        def.way = i == 0 ? TAL_NATURAL_PENALTY : TAL_NATURAL_MATRIX_R;
        require(tal_natural_solver_create(it.natural, &def, &it.solver, NULL), "solver");
        us[i] = time_way(&it, solve_natural);
        tal_natural_solver_destroy(it.solver);
    }
    (void)printf("%-10s %7.2f %9.2f %9.1f %9.1f %9.1f (%4.1f) %9.1f (%4.1f)\n", name, tree, map,
                 us[0], us[1], us[0] / map, penalty, us[1] / map, matrix_R);
    clear_away(&it);
}

static sketch add_chain(tal_matter *matter, tal_forces *forces, const void *options)
{
    (void)options;
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    add_links(matter, false);
    return sketch_begin(matter, forces);
}

static sketch add_human(tal_matter *matter, tal_forces *forces, const void *options)
{
    (void)options;
    return human_add(matter, forces);
}

// Formulation B of the human body beside GJB tab. 8.3.
static void print_operations(void)
{
    evaluation it = {.map = NULL};
    prepare(&it, add_human);
    const tal_velocity_map_counts n = tal_velocity_map_operations(it.map);

    const struct {
        const char *name;
        tal_velocity_map_count ours;
        int m, a;
    } rows[] = {{"R", n.R, 1050, 525},
                {"M_b, c, M Sc", n.inertia, 1680, 840},
                {"R^T M R", n.M, 7482, 5985},
                {"R^T (Q - c - M Sc)", n.Q, 2100, 1870}};

    (void)printf("\nhuman body, operations        ours         GJB tab. 8.3\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        (void)printf("%-20s %6dm + %5da %6dm + %5da\n", rows[i].name,
                     (int)rows[i].ours.multiplications, (int)rows[i].ours.additions, rows[i].m,
                     rows[i].a);
    }
    clear_away(&it);
}

int main(void)
{
    double hybrid = 0.0, per_iteration[2] = {0.0, 0.0};
    (void)printf(
        "steps of 10 ms   linkage us  iterations  real time  / hybrid  published   chain us\n");
    for (int i = 0; tal_formulation_name((tal_formulation)i) != NULL; ++i) {
        const tal_formulation formulation = (tal_formulation)i;
        double iterations[2];
        const double closed = time_of(true, formulation, &iterations[0]);
        const double open = time_of(false, formulation, &iterations[1]);
        if (formulation == TAL_FORMULATION_HYBRID) hybrid = closed;
        if (formulation == TAL_FORMULATION_GLOBAL) {
            per_iteration[0] = closed / iterations[0];
            per_iteration[1] = open / iterations[1];
        }
        (void)printf("%-16s %10.2f %11.2f %9.0fx %9.2f", tal_formulation_name(formulation), closed,
                     iterations[0], 1e4 / closed, closed / hybrid);
        if (published(formulation) > 0.0) {
            (void)printf(" %10.2f", published(formulation));
        } else {
            (void)printf("          -");
        }
        (void)printf(" %10.2f\n", open);
    }
    (void)printf("an iteration of global: chain / linkage %.2f (GJB: 1.3; aim: 1.1 to 1.9)\n",
                 per_iteration[1] / per_iteration[0]);
    print_iltis();
    print_operations();
    (void)printf("\naccelerations, us   tree  formul. B  penalty  matrix R  penalty / B (GJB)  "
                 "matrix R / B (GJB)\n");
    print_ways("five bars", add_chain, 12.00 / 1.29, 18.65 / 1.29);
    print_ways("human body", add_human, 91.30 / 23.39, 942.64 / 23.39);
    return 0;
}
