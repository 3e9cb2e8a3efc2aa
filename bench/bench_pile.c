// What a step of the contact stepper costs: columns of boxes, four points of contact for each.
//
// Aims: 60 us for a pass over 1000 contacts between free boxes; 5 ms for a step with 1000 contacts
// that begins with the impulses of the last; linear in the number of contacts; no allocation.
#include "bench.h"
#include "count_alloc.h"
#ifdef BENCH_HAS_MUJOCO
#include "pile_mujoco.h"
#endif

#include <talus/study.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct pile {
    tal_system *system;
    tal_matter *matter;
    tal_state *state, *start;
    tal_contact_stepper *stepper;
    bool is_cold;
} pile;

static void require(tal_status st, const char *why)
{
    if (st == TAL_OK) return;
    (void)fprintf(stderr, "%s: %s\n", tal_status_name(st), why);
    exit(EXIT_FAILURE);
}

static void add_collider(pile *p, tal_body_ix body, tal_shape shape, tal_mat3 R)
{
    tal_collider_def def = tal_collider_def_default();
    def.body = body;
    def.shape = shape;
    def.X_BS.R = R;
    def.material.static_mu = def.material.sliding_mu = 0.5;
    (void)tal_matter_add_collider(p->matter, &def);
}

// Columns of `high` boxes, side by side and apart; with `passes` above 0 every step makes so many.
static void build(pile *p, int columns, int high, int passes)
{
    *p = (pile){.system = tal_system_create(NULL)};
    p->matter = tal_matter_create(p->system);
    tal_forces *forces = tal_forces_create(p->system, p->matter);
    tal_forces_add_gravity(forces, tal_v3(0.0, 0.0, -9.81));
    add_collider(p, TAL_GROUND, tal_shape_half_space(),
                 tal_rotation_about(TAL_AXIS_Y, 1.57079632679489661923));
    const tal_vec3 half = tal_v3(0.1, 0.1, 0.1);
    tal_mobod_def body = tal_mobod_def_default();
    body.mass = tal_mass_props_brick(1.0, half);
    const int side = (int)ceil(sqrt((double)columns));
    for (int i = 0; i < columns * high; ++i) {
        const int column = i / high, x = column % side, y = column / side;
        const tal_body_ix box = tal_matter_add_free(p->matter, TAL_GROUND, &body);
        const double q[7] = {1.0, 0.0, 0.0, 0.0, 0.5 * x, 0.5 * y, 0.1 + 0.2 * (i % high)};
        (void)tal_body_set_initial_q(p->matter, box, q, 7);
        add_collider(p, box, tal_shape_brick(half, 0.0), TAL_MAT3_IDENTITY);
    }
    tal_error err = {TAL_OK, "", ""};
    tal_contact_stepper_def def = tal_contact_stepper_def_default();
    def.step = 0.01;
    def.most_exact = 0;
    if (passes > 0) {
        def.most_passes = passes;
        def.tolerance = 0.0;
    }
    require(tal_system_realize_topology(p->system, &err), err.message);
    require(tal_state_create(p->system, &p->state, &err), err.message);
    require(tal_state_create(p->system, &p->start, &err), err.message);
    require(tal_contact_stepper_create(p->system, &def, &p->stepper, &err), err.message);
}

static void tear_down(pile *p)
{
    tal_contact_stepper_destroy(p->stepper);
    tal_state_destroy(p->start);
    tal_state_destroy(p->state);
    tal_system_destroy(p->system);
}

static void take_steps(void *context, long count)
{
    pile *p = context;
    for (long i = 0; i < count; ++i) {
        if (p->is_cold) {
            (void)tal_state_copy(p->state, p->start);
            (void)tal_contact_stepper_forget(p->stepper, p->state);
        }
        require(tal_contact_stepper_step(p->stepper, p->state),
                tal_contact_stepper_error(p->stepper)->message);
    }
}

static double time_of(pile *p, int batches)
{
    bench row = {.name = "step", .run = take_steps, .context = p};
    bench_measure(&row, 1, batches, 1e6);
    return row.least;
}

// A pass: what steps of many passes cost more than steps of few.
static void bench_pass(int columns, int high)
{
    double cost[2];
    const int passes[2] = {8, 264};
    for (int i = 0; i < 2; ++i) {
        pile p;
        build(&p, columns, high, passes[i]);
        take_steps(&p, 2);
        cost[i] = time_of(&p, 21);
        tear_down(&p);
    }
    (void)printf("  a pass over %d contacts: %.1f us (aim: 60 for 1000)\n", 4 * columns * high,
                 1e-3 * (cost[1] - cost[0]) / (passes[1] - passes[0]));
}

static void bench_step(int columns, int high)
{
    pile p;
    build(&p, columns, high, 0);
    take_steps(&p, 3);
    const double warm = time_of(&p, 21);
    const tal_contact_step done = tal_contact_stepper_report(p.stepper);
    const long before = allocations();
    take_steps(&p, 3);
    const long allocated = allocations() - before;
    p.is_cold = true;
    const double cold = time_of(&p, 5);
    const tal_contact_step first = tal_contact_stepper_report(p.stepper);
    (void)printf(
        "  %6d contacts, columns of %d: a step %8.3f ms, %d passes; the first %8.3f ms, %d "
        "passes; %.2f us for each contact; allocations: %ld\n",
        done.num_contacts, high, 1e-6 * warm, done.passes, 1e-6 * cold, first.passes,
        1e-3 * warm / done.num_contacts, allocated);
    tear_down(&p);
}

// --- beside MuJoCo ---

enum {
    STEPS = 100 // of 0.01 s before anything is timed
};

static double sunk(const pile *p, int high)
{
    const tal_body_ix top = {high}; // of the first column
    return 0.1 + 0.2 * (high - 1) - tal_body_q(p->matter, p->state, top, 6);
}

// Both stand for a second, then take turns; what a step costs, and how far the top has sunk.
static void bench_beside(int columns, int high)
{
    pile p;
    build(&p, columns, high, 0);
    take_steps(&p, STEPS);
    bench rows[2] = {{.name = "Talus", .run = take_steps, .context = &p}};
    int n = 1;
#ifdef BENCH_HAS_MUJOCO
    mujoco_pile *other = mujoco_pile_create(columns, high, 0.01);
    if (other != NULL) {
        mujoco_pile_step(other, STEPS);
        rows[n++] = (bench){.name = "MuJoCo", .run = mujoco_pile_step, .context = other};
    }
#endif
    bench_measure(rows, n, 11, 1e6);
    (void)printf("  %d columns of %d boxes, from the second second on\n", columns, high);
    (void)printf("    Talus:  a step %8.3f ms, %5d contacts, the top has sunk by %.1e m\n",
                 1e-6 * rows[0].least, tal_contact_stepper_num_contacts(p.stepper), sunk(&p, high));
#ifdef BENCH_HAS_MUJOCO
    if (other != NULL) {
        (void)printf("    MuJoCo: a step %8.3f ms, %5d contacts, the top has sunk by %.1e m; %.1f "
                     "times as long\n",
                     1e-6 * rows[1].least, mujoco_pile_num_contacts(other), mujoco_pile_sunk(other),
                     rows[1].least / rows[0].least);
    }
    mujoco_pile_destroy(other);
#else
    (void)printf("    MuJoCo is not installed\n");
#endif
    tear_down(&p);
}

int main(void)
{
#ifndef NDEBUG
    (void)printf("asserts are on: invalid results are filled with NaN, which costs time\n");
#endif
    (void)printf("columns of boxes by the contact stepper (aim: 5 ms for 1000 contacts)\n");
    bench_pass(10, 25);
    bench_step(10, 25);
    bench_step(25, 1);
    bench_step(250, 1);
    bench_step(2500, 1);
    bench_step(25000, 1);
    bench_step(1, 100);
    bench_beside(25, 1);
    bench_beside(10, 5);
    bench_beside(10, 25);
    return EXIT_SUCCESS;
}
