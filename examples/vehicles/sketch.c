// A model from a table of its parts.
#include "sketch.h"

#include <math.h>
#include <stdio.h>

sketch sketch_begin(tal_matter *matter, tal_forces *forces)
{
    const sketch it = {.matter = matter, .forces = forces};
    return it;
}

tal_vec3 sketch_point(tal_vec3 p, sketch_side side)
{
    return side == SKETCH_RIGHT ? tal_v3(p.x, -p.y, p.z) : p;
}

static void write_name(char out[40], const char *name, sketch_side side)
{
    static const char *const ends[] = {"", "_l", "_r"};
    (void)snprintf(out, 40, "%s%s", name, ends[side]);
}

tal_body_ix sketch_find(const sketch *it, const char *name, sketch_side side)
{
    char full[40];
    if (name == NULL) return TAL_GROUND;
    write_name(full, name, side);
    const tal_body_ix body = tal_matter_find_body(it->matter, full);
    return body.i >= 0 ? body : tal_matter_find_body(it->matter, name);
}

tal_vec3 sketch_station(const sketch *it, tal_body_ix body, tal_vec3 p, sketch_side side)
{
    return tal_v3_sub(sketch_point(p, side), it->origin[body.i]);
}

// Axes of a frame with z (or x, of a slider and a cross) along the axis of the joint.
static tal_mat3 axes_of(const sketch_part *part)
{
    if (part->joint == SKETCH_BALL || part->joint == SKETCH_FREE) return TAL_MAT3_IDENTITY;
    const tal_vec3 first = tal_v3_normalize(part->axis);
    const tal_vec3 help = fabs(first.x) < 0.9 ? tal_v3(1.0, 0.0, 0.0) : tal_v3(0.0, 1.0, 0.0);
    tal_vec3 second = tal_v3_normalize(tal_v3_cross(help, first));
    if (part->joint == SKETCH_CROSS) second = tal_v3_normalize(part->axis2);
    const tal_vec3 third = tal_v3_cross(first, second);
    return part->joint == SKETCH_PIN ? tal_m3(second, third, first) : tal_m3(first, second, third);
}

// The inertia about the origin, from that about the mass center.
static tal_mass_props mass_of(const sketch_part *part, tal_vec3 com)
{
    const tal_sym3 own = tal_s3_diag(part->inertia.x, part->inertia.y, part->inertia.z);
    tal_mass_props props = {.mass = part->mass, .com = com};
    props.inertia = tal_s3_add(own, tal_s3_scale(part->mass, tal_s3_cross_square(com)));
    return props;
}

tal_body_ix sketch_add(sketch *it, const sketch_part *part, sketch_side side)
{
    const tal_body_ix parent = sketch_find(it, part->parent, side);
    char name[40];
    write_name(name, part->name, side);
    tal_mobod_def def = tal_mobod_def_default();
    def.name = name;
    const tal_vec3 at = sketch_point(part->at, side);
    def.mass = mass_of(part, tal_v3_sub(sketch_point(part->com, side), at));
    def.X_PF = (tal_xform){axes_of(part), tal_v3_sub(at, it->origin[parent.i])};
    def.X_BM.R = def.X_PF.R;
    if (part->mass == 0.0) {
        def.structure = TAL_BODY_MASSLESS;
        def.mass = (tal_mass_props){.mass = 0.0};
    }
    tal_body_ix body = {-1};
    switch (part->joint) {
    case SKETCH_FREE:
        body = tal_matter_add_free(it->matter, parent, &def);
        break;
    case SKETCH_PIN:
        body = tal_matter_add_pin(it->matter, parent, &def);
        break;
    case SKETCH_SLIDE:
        body = tal_matter_add_slider(it->matter, parent, &def);
        break;
    case SKETCH_CROSS:
        body = tal_matter_add_universal(it->matter, parent, &def);
        break;
    case SKETCH_BALL:
        body = tal_matter_add_ball(it->matter, parent, &def);
        break;
    }
    if (body.i >= 0 && body.i < SKETCH_MAX_BODIES) it->origin[body.i] = at;
    return body;
}

void sketch_add_all(sketch *it, const sketch_part parts[], int n, sketch_side side)
{
    for (int i = 0; i < n; ++i) {
        (void)sketch_add(it, &parts[i], side);
    }
}

void sketch_close_ball(sketch *it, tal_body_ix a, tal_body_ix b, tal_vec3 p, sketch_side side)
{
    const tal_constraint_def def = tal_constraint_between(a, b);
    (void)tal_constraint_add_ball(it->matter, &def, sketch_station(it, a, p, side),
                                  sketch_station(it, b, p, side));
}

void sketch_close_pin(sketch *it, tal_body_ix a, tal_body_ix b, tal_vec3 p, tal_vec3 axis,
                      sketch_side side)
{
    const tal_constraint_def def = tal_constraint_between(a, b);
    const sketch_part pin = {.joint = SKETCH_PIN, .axis = axis};
    const tal_xform on_a = {axes_of(&pin), sketch_station(it, a, p, side)};
    const tal_xform on_b = {axes_of(&pin), sketch_station(it, b, p, side)};
    (void)tal_constraint_add_loop_pin(it->matter, &def, &on_a, &on_b);
}

void sketch_close_rod(sketch *it, tal_body_ix a, tal_vec3 p_a, tal_body_ix b, tal_vec3 p_b)
{
    const tal_constraint_def def = tal_constraint_between(a, b);
    (void)tal_constraint_add_rod(it->matter, &def, sketch_station(it, a, p_a, SKETCH_MIDDLE),
                                 sketch_station(it, b, p_b, SKETCH_MIDDLE),
                                 tal_v3_norm(tal_v3_sub(p_b, p_a)));
}

void sketch_add_spring(sketch *it, tal_body_ix a, tal_vec3 p_a, tal_body_ix b, tal_vec3 p_b,
                       sketch_side side, const double stiffness_damping_rest[3])
{
    const tal_two_points ends = {a, sketch_station(it, a, p_a, side), b,
                                 sketch_station(it, b, p_b, side)};
    (void)tal_forces_add_two_point_spring(it->forces, NULL, &ends, stiffness_damping_rest[0],
                                          stiffness_damping_rest[2]);
    (void)tal_forces_add_two_point_damper(it->forces, NULL, &ends, stiffness_damping_rest[1]);
}
