// Contact for tests: balls that overlap above a floor, and a block that slides into a wall.
#ifndef TALUS_CONTACT_MODEL_H
#define TALUS_CONTACT_MODEL_H

#include "force_model.h"

enum {
    MAX_SURFACES = 8
};

typedef struct scene {
    model m;
    tal_force_ix contact;
    tal_contact_surface_ix surface[MAX_SURFACES];
} scene;

// Numbers of size one, so that forces and energies are.
static inline tal_contact_material jelly(double stiffness)
{
    tal_contact_material material = tal_contact_material_default();
    material.stiffness = stiffness;
    material.foundation = 2.0 * stiffness;
    material.dissipation = 0.05;
    material.static_friction = 0.7;
    material.dynamic_friction = 0.4;
    material.viscous_friction = 0.02;
    return material;
}

static inline tal_contact_def quiet(tal_contact_friction friction)
{
    tal_contact_def def = tal_contact_def_default();
    def.friction = friction;
    def.grip.transition_speed = 0.5;
    def.grip.stiffness = 3.0;
    def.grip.damping = 0.5;
    return def;
}

static inline tal_contact_surface_ix add(scene *s, int body, tal_shape shape, double stiffness)
{
    test_rng rng = test_rng_seed(40 + (uint64_t)body);
    tal_contact_surface_def def = tal_contact_surface_def_default();
    def.body = s->m.body[body];
    def.X_BS = test_random_xform(&rng);
    def.shape = shape;
    def.material = jelly(stiffness);
    return tal_contact_add_surface(s->m.forces, s->contact, &def);
}

// Balls so large that they always overlap, and a floor below them.
static inline scene balls_of(const tal_contact_def *def, double radius1, double radius2)
{
    scene s = {.m = model_begin()};
    s.contact = tal_forces_add_contact(s.m.forces, "contact", def);
    s.surface[0] = add(&s, 0, tal_shape_half_space(), 2.0);
    s.surface[1] = add(&s, GIMBAL, tal_shape_sphere(radius1), 1.0);
    s.surface[2] = add(&s, BALL, tal_shape_sphere(radius2), 0.5);
    model_finish(&s.m);
    return s;
}

static inline scene balls(const tal_contact_def *def)
{
    return balls_of(def, 6.0, 7.0);
}

static inline tal_vec3 center(const scene *s, int k)
{
    const tal_xform X_BS =
        tal_contact_surface_X_BS(s->m.forces, s->m.state, s->contact, s->surface[k]);
    const tal_body_ix body = tal_contact_surface_body(s->m.forces, s->contact, s->surface[k]);
    return tal_station_p_GS(s->m.matter, s->m.state, body, X_BS.p);
}

// The contact between surfaces a and b of a scene.
static inline tal_contact_info info_of(scene *s, int a, int b)
{
    tal_contact_info info;
    const int n = tal_contact_num(s->m.forces, s->m.state, s->contact);
    for (int i = 0; i < n; ++i) {
        ck_assert_int_eq(tal_contact_calc(s->m.forces, s->m.state, s->contact, i, &info), TAL_OK);
        if (info.surface[0].i == a && info.surface[1].i == b) return info;
    }
    ck_abort_msg("surfaces %d and %d do not touch", a, b);
}

typedef struct rail {
    model m;
    tal_force_ix contact;
    tal_body_ix body;
    tal_contact_surface_ix floor, ball;
} rail;

// A body that slides along Ground's x, pressed against the half-space x >= 0.
static inline rail rail_begin(const tal_contact_def *def)
{
    rail r = {.m = {.system = tal_system_create(NULL)}};
    r.m.matter = tal_matter_create(r.m.system);
    r.m.forces = tal_forces_create(r.m.system, r.m.matter);
    tal_mobod_def mobod = tal_mobod_def_default();
    mobod.mass.mass = 1.0;
    mobod.name = "block";
    r.body = tal_matter_add_slider(r.m.matter, TAL_GROUND, &mobod);
    r.contact = tal_forces_add_contact(r.m.forces, "contact", def);
    tal_contact_surface_def surface = tal_contact_surface_def_default();
    surface.name = "floor";
    r.floor = tal_contact_add_surface(r.m.forces, r.contact, &surface);
    return r;
}

static inline tal_contact_surface_ix rail_add(rail *r, const char *name, tal_shape shape)
{
    tal_contact_surface_def surface = tal_contact_surface_def_default();
    surface.name = name;
    surface.body = r->body;
    surface.shape = shape;
    return tal_contact_add_surface(r->m.forces, r->contact, &surface);
}

static inline void rail_finish(rail *r, double x)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(r->m.system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(r->m.system, &r->m.state, &err) == TAL_OK, "%s", err.message);
    tal_body_set_q(r->m.matter, r->m.state, r->body, 0, x);
    model_realize(&r->m, TAL_STAGE_VELOCITY);
}
#endif // TALUS_CONTACT_MODEL_H
