// What contact costs: spheres on a half-space, all of them touching it, apart from each other; and
// one pair of other shapes.
//
// Aims: linear in the number of contacts; no allocation. Two counts apart: finding the contacts and
// computing their forces, on top of what the bodies cost by themselves.
#include "bench.h"
#include "count_alloc.h"

#include <talus/forces.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct table {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_force_ix contact;
    tal_state *state;
    tal_spatial_vec *F;
    double *f;
} table;

static void add_floor(table *t, const tal_contact_material *material)
{
    tal_contact_surface_def floor = tal_contact_surface_def_default();
    floor.name = "floor";
    floor.material = *material;
    floor.X_BS.R = tal_rotation_about(TAL_AXIS_Z, -1.5707963267948966);
    (void)tal_contact_add_surface(t->forces, t->contact, &floor);
}

// n balls of radius 0.5 on a square grid, sunk in by up to 0.01. With `alone` they are in one
// clique, so that only the floor is looked at.
static void build(table *t, int n, bool alone)
{
    *t = (table){.system = tal_system_create(NULL)};
    t->matter = tal_matter_create(t->system);
    t->forces = tal_forces_create(t->system, t->matter);
    t->contact = tal_forces_add_contact(t->forces, "contact", NULL);
    tal_contact_material material = tal_contact_material_default();
    material.dissipation = 0.1;
    material.static_friction = 0.5;
    material.dynamic_friction = 0.4;
    add_floor(t, &material);
    tal_mobod_def body = tal_mobod_def_default();
    body.mass = tal_mass_props_sphere(1.0, 0.5);
    tal_contact_surface_def ball = tal_contact_surface_def_default();
    ball.shape = tal_shape_sphere(0.5);
    ball.material = material;
    ball.cliques = alone ? 1 : 0;
    for (int i = 0; i < n; ++i) {
        ball.body = tal_matter_add_translation(t->matter, TAL_GROUND, &body);
        (void)tal_contact_add_surface(t->forces, t->contact, &ball);
    }
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(t->system, &err);
    if (st == TAL_OK) st = tal_state_create(t->system, &t->state, &err);
    if (st != TAL_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(EXIT_FAILURE);
    }
    const int side = (int)ceil(sqrt((double)n));
    double *q = tal_state_upd_q(t->state);
    for (int i = 0; i < n; ++i) {
        q[3 * i] = 1.3 * (i % side);
        q[3 * i + 1] = 0.5 - 1e-5 * (1 + i % 1000);
        const int row = i / side;
        q[3 * i + 2] = 1.3 * row;
    }
    double *u = tal_state_upd_u(t->state);
    for (int i = 0; i < 3 * n; ++i) {
        u[i] = 0.01 * (i % 7);
    }
    t->F = calloc((size_t)n + 1, sizeof *t->F);
    t->f = calloc(3 * (size_t)n, sizeof *t->f);
    if (t->F == NULL || t->f == NULL) exit(EXIT_FAILURE);
}

static void tear_down(table *t)
{
    tal_state_destroy(t->state);
    tal_system_destroy(t->system);
    free(t->F);
    free(t->f);
}

static void move_bodies(void *context, long count)
{
    const table *t = context;
    for (long i = 0; i < count; ++i) {
        (void)tal_state_invalidate(t->state, TAL_STAGE_POSITION);
        if (tal_system_realize(t->system, t->state, TAL_STAGE_VELOCITY) != TAL_OK) return;
    }
}

static void move_and_touch(void *context, long count)
{
    const table *t = context;
    for (long i = 0; i < count; ++i) {
        (void)tal_state_invalidate(t->state, TAL_STAGE_POSITION);
        if (tal_system_realize(t->system, t->state, TAL_STAGE_VELOCITY) != TAL_OK) return;
        if (tal_force_apply(t->forces, t->state, t->contact, t->F, t->f) != TAL_OK) return;
    }
}

// New velocities where the contacts are known.
static void change_speed_and_touch(void *context, long count)
{
    const table *t = context;
    for (long i = 0; i < count; ++i) {
        (void)tal_state_invalidate(t->state, TAL_STAGE_VELOCITY);
        if (tal_system_realize(t->system, t->state, TAL_STAGE_VELOCITY) != TAL_OK) return;
        if (tal_force_apply(t->forces, t->state, t->contact, t->F, t->f) != TAL_OK) return;
    }
}

static void bench_table(int n, bool alone)
{
    table t;
    build(&t, n, alone);
    bench rows[] = {
        {.name = "bodies: Position, Velocity", .run = move_bodies, .context = &t},
        {.name = "bodies and contact", .run = move_and_touch, .context = &t},
        {.name = "the same at known positions", .run = change_speed_and_touch, .context = &t}};
    bench_measure(rows, 3, 101, 1e6);
    char title[80];
    (void)snprintf(title, sizeof title, "%d spheres on a half-space%s", n,
                   alone ? ", in one clique" : "");
    bench_print(title, rows, 3);
    const long before = allocations();
    move_and_touch(&t, 10);
    (void)printf("  contact: %.1f ns each for %d; allocations: %ld\n",
                 (rows[1].median - rows[0].median) / n,
                 tal_contact_num(t.forces, t.state, t.contact), allocations() - before);
    tear_down(&t);
}

// Two shapes, the second `apart` from the first along x, turned.
static void bench_pair(const char *name, tal_shape a, tal_shape b, double apart)
{
    table t = {.system = tal_system_create(NULL)};
    t.matter = tal_matter_create(t.system);
    t.forces = tal_forces_create(t.system, t.matter);
    t.contact = tal_forces_add_contact(t.forces, "contact", NULL);
    tal_mobod_def body = tal_mobod_def_default();
    body.mass = tal_mass_props_sphere(1.0, 0.5);
    tal_contact_surface_def surface = tal_contact_surface_def_default();
    surface.shape = a;
    (void)tal_contact_add_surface(t.forces, t.contact, &surface);
    surface.shape = b;
    surface.X_BS.R =
        tal_m3_mul(tal_rotation_about(TAL_AXIS_Y, 0.4), tal_rotation_about(TAL_AXIS_X, 0.3));
    surface.body = tal_matter_add_translation(t.matter, TAL_GROUND, &body);
    (void)tal_contact_add_surface(t.forces, t.contact, &surface);
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(t.system, &err);
    if (st == TAL_OK) st = tal_state_create(t.system, &t.state, &err);
    t.F = calloc(2, sizeof *t.F);
    t.f = calloc(3, sizeof *t.f);
    if (st != TAL_OK || t.F == NULL || t.f == NULL) {
        (void)fprintf(stderr, "%s: %s\n", name, err.message);
        exit(EXIT_FAILURE);
    }
    tal_state_upd_q(t.state)[0] = apart;
    bench rows[] = {{.name = "bodies: Position, Velocity", .run = move_bodies, .context = &t},
                    {.name = "bodies and contact", .run = move_and_touch, .context = &t}};
    bench_measure(rows, 2, 51, 1e5);
    const int n = tal_contact_num(t.forces, t.state, t.contact);
    tal_contact_info info = {.num_faces = 0};
    if (n > 0 && tal_contact_calc(t.forces, t.state, t.contact, 0, &info) != TAL_OK) {
        exit(EXIT_FAILURE);
    }
    const long before = allocations();
    move_and_touch(&t, 10);
    (void)printf("  %-24s %8.0f ns; points %d, facets %d; allocations: %ld\n", name,
                 rows[1].least - rows[0].least, info.num_faces > 0 ? 0 : n, info.num_faces,
                 allocations() - before);
    tear_down(&t);
}

static void bench_pairs(void)
{
    const tal_shape ball = tal_shape_sphere(0.5), egg = tal_shape_ellipsoid(tal_v3(0.6, 0.5, 0.4));
    const tal_shape capsule = tal_shape_capsule(0.2, 0.7);
    const tal_shape brick = tal_shape_brick(tal_v3(0.5, 0.4, 0.3), 0.05);
    const tal_shape drum = tal_shape_cylinder(0.5, 0.4, 0.05);
    (void)printf("\nfinding and applying the contact of two shapes\n");
    bench_pair("sphere, sphere", ball, ball, 0.99);
    bench_pair("sphere, ellipsoid", ball, egg, 1.04);
    bench_pair("sphere, brick", ball, brick, 0.99);
    bench_pair("ellipsoid, ellipsoid", egg, egg, 1.12);
    bench_pair("ellipsoid, capsule", egg, capsule, 0.8);
    bench_pair("capsule, capsule", capsule, capsule, 0.39);
    bench_pair("brick, brick", brick, brick, 0.99);
    bench_pair("cylinder, brick", drum, brick, 0.99);
    bench_pair("brick, brick, apart", brick, brick, 1.2);
}

int main(void)
{
#ifndef NDEBUG
    (void)printf("asserts are on: invalid results are filled with NaN, which costs time\n");
#endif
    static const int sizes[] = {10, 100, 1000, 3000};
    for (int i = 0; i < 4; ++i) {
        bench_table(sizes[i], true);
    }
    for (int i = 0; i < 4; ++i) {
        bench_table(sizes[i], false);
    }
    bench_pairs();
    return EXIT_SUCCESS;
}
