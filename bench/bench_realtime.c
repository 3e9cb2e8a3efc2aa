// What a fixed step costs, by formulation: Bricard's linkage, and the chain of five bars that is
// left when its last pin is taken out (GJB ex. 8.6 and 8.7).
//
// Beside them stand the ratios of CD tab. 1, of a car with 26 coordinates and 16 equations on a
// machine of 2002, and of GJB's iterations of the chain and the linkage, 6.5 and 5.0 ms on one of
// 1989. Aims: global at least 4 times the hybrid step; the chain 1.1 to 1.9 times the linkage.
#include "bench.h"

#include <talus/study.h>

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
    return 0;
}
