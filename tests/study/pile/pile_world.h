// A world of colliders for tests of the contact stepper: a floor, boxes, balls.
#ifndef TALUS_PILE_WORLD_H
#define TALUS_PILE_WORLD_H

#include "talus_test.h"

#include <talus/study.h>

static const double G = 9.81;

typedef struct world {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_contact_stepper *stepper;
} world;

static inline world begin(tal_vec3 gravity)
{
    world w = {.system = tal_system_create(NULL)};
    w.matter = tal_matter_create(w.system);
    w.forces = tal_forces_create(w.system, w.matter);
    tal_forces_add_gravity(w.forces, gravity);
    return w;
}

static inline tal_unilateral_material rough(double mu, double e)
{
    tal_unilateral_material m = tal_unilateral_material_default();
    m.static_mu = mu;
    m.sliding_mu = isfinite(mu) ? mu : 1.0;
    m.restitution = e;
    return m;
}

// A floor at z = 0.
static inline void add_floor(world *w, tal_unilateral_material material)
{
    tal_collider_def def = tal_collider_def_default();
    def.name = "floor";
    def.X_BS.R = tal_rotation_about(TAL_AXIS_Y, 0.5 * TAL_PI);
    def.material = material;
    ck_assert_int_ge(tal_matter_add_collider(w->matter, &def).i, 0);
}

static inline tal_mass_props brick_mass(double mass, tal_vec3 half)
{
    const double k = mass / 3.0;
    tal_mass_props props = {.mass = mass};
    props.inertia = tal_s3_diag(k * (half.y * half.y + half.z * half.z),
                                k * (half.x * half.x + half.z * half.z),
                                k * (half.x * half.x + half.y * half.y));
    return props;
}

static inline void add_collider(world *w, tal_body_ix body, tal_shape shape,
                                tal_unilateral_material m)
{
    tal_collider_def def = tal_collider_def_default();
    def.body = body;
    def.shape = shape;
    def.material = m;
    ck_assert_int_ge(tal_matter_add_collider(w->matter, &def).i, 0);
}

// A free brick at a place.
static inline tal_body_ix add_box(world *w, tal_vec3 half, double mass, tal_vec3 at,
                                  tal_unilateral_material m)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = brick_mass(mass, half);
    const tal_body_ix body = tal_matter_add_free(w->matter, TAL_GROUND, &def);
    const double q[7] = {1.0, 0.0, 0.0, 0.0, at.x, at.y, at.z};
    ck_assert_int_eq(tal_body_set_initial_q(w->matter, body, q, 7), TAL_OK);
    add_collider(w, body, tal_shape_brick(half, 0.0), m);
    return body;
}

static inline tal_body_ix add_ball(world *w, double r, double mass, tal_vec3 at,
                                   tal_unilateral_material m)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(mass, r);
    const tal_body_ix body = tal_matter_add_free(w->matter, TAL_GROUND, &def);
    const double q[7] = {1.0, 0.0, 0.0, 0.0, at.x, at.y, at.z};
    ck_assert_int_eq(tal_body_set_initial_q(w->matter, body, q, 7), TAL_OK);
    add_collider(w, body, tal_shape_sphere(r), m);
    return body;
}

static inline void finish(world *w, const tal_contact_stepper_def *def)
{
    tal_error err = {.status = TAL_OK};
    tal_status st = tal_system_realize_topology(w->system, &err);
    if (st == TAL_OK) st = tal_state_create(w->system, &w->state, &err);
    if (st == TAL_OK) st = tal_contact_stepper_create(w->system, def, &w->stepper, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_system_realize(w->system, w->state, TAL_STAGE_VELOCITY), TAL_OK);
}

static inline void end(world *w)
{
    tal_contact_stepper_destroy(w->stepper);
    tal_state_destroy(w->state);
    tal_system_destroy(w->system);
}

static inline tal_contact_stepper_def steps_of(double h)
{
    tal_contact_stepper_def def = tal_contact_stepper_def_default();
    def.step = h;
    return def;
}

static inline void run_to(world *w, double t)
{
    const tal_status st = tal_contact_stepper_step_to(w->stepper, w->state, t);
    ck_assert_msg(st == TAL_OK, "%s", tal_contact_stepper_error(w->stepper)->message);
}

static inline double u_of(const world *w, tal_body_ix body, int k)
{
    return tal_body_u(w->matter, w->state, body, k);
}

static inline double q_of(const world *w, tal_body_ix body, int k)
{
    return tal_body_q(w->matter, w->state, body, k);
}

static inline void set_u(world *w, tal_body_ix body, int k, double value)
{
    ck_assert_int_eq(tal_body_set_u(w->matter, w->state, body, k, value), TAL_OK);
}

// Columns of boxes of 0.2 m, side by side.
typedef struct stack {
    world w;
    tal_body_ix boxes[250];
} stack;

static inline void begin_stack(stack *s, int columns, int high, const tal_contact_stepper_def *def)
{
    s->w = begin(tal_v3(0.0, 0.0, -G));
    const tal_unilateral_material m = rough(0.5, 0.0);
    add_floor(&s->w, m);
    for (int i = 0; i < columns * high; ++i) {
        const tal_vec3 at = tal_v3(0.5 * (i / high), 0.0, 0.1 + 0.2 * (i % high));
        s->boxes[i] = add_box(&s->w, tal_v3(0.1, 0.1, 0.1), 1.0, at, m);
    }
    finish(&s->w, def);
}

#endif // TALUS_PILE_WORLD_H
