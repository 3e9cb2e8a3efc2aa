// Surfaces that touch: forces, energy, power, and the rates of bristles.
#include "contact/contact_internal.h"
#include "contact/contact_law_internal.h"
#include "contact/on_plane_internal.h"

#include <string.h>

// What all contacts of one instant are computed from.
typedef struct scene {
    const tali_contact_element *it;
    tal_bodies_view poses, velocities;
    const tal_contact_material *materials;
    const tal_xform *X_MS;
    const double *z;      // of bristles; NULL: none
    const double *layers; // NULL: none
    tal_contact_grip grip;
    double *zdot, *layers_dot;
} scene;

static const double *states_of(const tal_system *system, const tal_state *state, tal_group_ix group)
{
    if (group.i < 0) return NULL;
    return tal_state_z(state) + tal_group_start(system, state, group);
}

// z, three numbers, or one, of a place with memory.
static const double *bristle_at(const scene *at, int place)
{
    return at->z + (size_t)3 * (size_t)place;
}

static double exponent_of(const tali_contact_element *it)
{
    return it->def.law == TAL_CONTACT_HERTZ ? 1.5 : it->def.exponent;
}

// The combination of two materials, and which two: surfaces are many, materials few, and combining
// them takes roots.
typedef struct combined {
    const tal_contact_material *materials[2]; // NULL in the beginning
    bool is_patch;
    tal_contact_pair_material pair;
} combined;

static bool is_made_of(const tal_contact_material *known, const tal_contact_material *wanted)
{
    if (known == NULL || known == wanted) return known == wanted;
    // materials that are equal except for the sign of a zero are combined again, to the same effect
    return memcmp(known, wanted, sizeof *known) == 0; // NOLINT(*-memory-comparison,cert-*)
}

static const tal_contact_pair_material *combine(const tali_contact_element *it,
                                                const tal_contact_material materials[],
                                                const tali_detect_contact *contact, combined *last)
{
    const tal_contact_material *m1 = &materials[contact->surface[0]];
    const tal_contact_material *m2 = &materials[contact->surface[1]];
    const bool known = last->is_patch == contact->is_patch && is_made_of(last->materials[0], m1) &&
                       is_made_of(last->materials[1], m2);
    if (known) return &last->pair;
    *last = (combined){.materials = {m1, m2}, .is_patch = contact->is_patch};
    last->pair = contact->is_patch ? tal_contact_combine_foundations(m1, m2)
                                   : tal_contact_combine(m1, m2, exponent_of(it));
    return &last->pair;
}

// k of f = k x^n at a point, and the shape of its patch.
static double stiffness_at(const tali_contact_element *it, const tali_detect_point *point, double E,
                           tali_contact_ellipse *patch)
{
    *patch = (tali_contact_ellipse){.radius = 0.0, .ratio = 1.0, .spread = 1.0, .soften = 1.0};
    if (point->radius > 0.0) {
        *patch = tali_contact_hertz_ellipse(point->curvature[0], point->curvature[1]);
    }
    return it->def.law == TAL_CONTACT_HERTZ ? tali_contact_hertz_stiffness(patch, E) : E;
}

static tal_mat3 rotation_of(const tali_contact_element *it, const tal_bodies_view *poses,
                            const tal_xform X_MS[], int surface)
{
    return tal_m3_mul(tal_view_X_GM(poses, it->surfaces[surface].body.i)->R, X_MS[surface].R);
}

// Velocity of surface 1 relative to surface 2 at a point of both.
static tal_vec3 velocity_at(const scene *at, const int surface[2], tal_vec3 p_G)
{
    const int body[2] = {at->it->surfaces[surface[0]].body.i, at->it->surfaces[surface[1]].body.i};
    return tali_on_plane_relative_velocity(&at->poses, &at->velocities, body, p_G);
}

// --- friction ---

// Friction of a curve mu(v), for a normal force.
static tal_vec3 friction_of_curve(const scene *at, const tal_contact_pair_material *pair,
                                  double normal_force, tal_vec3 v, double *power)
{
    const double speed = tal_v3_norm(v), vt = at->grip.transition_speed;
    const double over_v = at->it->def.friction == TAL_CONTACT_HOLLARS
                              ? tali_contact_hollars(pair, vt, speed)
                              : tali_contact_stribeck(pair, vt, speed);
    *power += normal_force * over_v * speed * speed;
    return tal_v3_scale(-normal_force * over_v, v);
}

// Adds the friction of a bristle to a contact. Its deflection is kept in the frame S of one surface
// and lies in the tangent plane; where curved surfaces turn it out of that plane, the normal part
// relaxes like a bristle that holds nothing.
static void hold_by_bristle(const scene *at, const tal_contact_pair_material *pair, int bristle,
                            tali_contact_touch *touch)
{
    const int s = tali_contact_holder(at->it, touch->surface);
    const tal_mat3 R_GS = rotation_of(at->it, &at->poses, at->X_MS, s);
    const double *z = bristle_at(at, bristle);
    const tal_vec3 z_G = tal_m3_mul_v3(R_GS, tal_v3(z[0], z[1], z[2]));
    const double up = tal_v3_dot(touch->n_G, z_G);
    const tal_vec3 z_t = tal_v3_axpy(-up, touch->n_G, z_G);
    const tali_contact_grip grip =
        at->it->def.friction == TAL_CONTACT_SOFT_COULOMB
            ? tali_contact_soft_coulomb(&at->grip, pair, touch->normal_force, touch->slip_G, z_t)
            : tali_contact_elastoplastic(&at->grip, pair, touch->normal_force, touch->slip_G, z_t);
    const double K = at->grip.stiffness, rate = K / at->grip.damping;
    const tal_vec3 zdot_G = tal_v3_axpy(-rate * up, touch->n_G, grip.zdot);
    const tal_vec3 zdot_S = tal_m3_tmul_v3(R_GS, zdot_G);
    memcpy(at->zdot + (size_t)3 * (size_t)bristle, &zdot_S, sizeof zdot_S);
    touch->f_G = tal_v3_add(touch->f_G, grip.force);
    touch->energy += grip.energy + 0.5 * K * up * up;
    touch->power += grip.power + K * rate * up * up;
}

// --- contacts ---

// The normal force at a point, by the law of the element.
static tali_contact_press press_point(const scene *at, const tal_contact_pair_material *pair,
                                      double k, int place, const tali_contact_touch *touch)
{
    const double n = exponent_of(at->it);
    if (at->layers == NULL) {
        return tali_contact_hunt_crossley(k, n, pair->dissipation, touch->depth, touch->depth_rate);
    }
    const tali_contact_layer layer = tali_contact_relaxing(
        k, n, at->it->def.relaxation_time, touch->depth, touch->depth_rate, at->layers[place]);
    at->layers_dot[place] = layer.zdot;
    return layer.press;
}

// Adds the friction of a contact whose normal force is known.
static void add_friction(const scene *at, const tal_contact_pair_material *pair, int place,
                         tali_contact_touch *touch)
{
    if (at->z != NULL) {
        hold_by_bristle(at, pair, place, touch);
        return;
    }
    const tal_vec3 f =
        friction_of_curve(at, pair, touch->normal_force, touch->slip_G, &touch->power);
    touch->f_G = tal_v3_add(touch->f_G, f);
}

// The force of a point contact: normal law, then friction.
static void touch_point(const scene *at, const tal_contact_pair_material *pair,
                        const tali_detect_point *point, int place, tali_contact_touch *touch)
{
    tali_contact_ellipse patch;
    const double k = stiffness_at(at->it, point, pair->stiffness, &patch);
    const tal_vec3 n = point->n_G;
    touch->feature = point->feature;
    touch->num_faces = 0;
    touch->p_G = tali_detect_point_P(point, pair->share1);
    touch->n_G = n;
    touch->m_G = TAL_VEC3_ZERO;
    touch->depth = point->depth;
    tali_contact_patch(&patch, point->depth, &touch->semi_axis[0], &touch->semi_axis[1]);
    const tal_vec3 v = velocity_at(at, touch->surface, touch->p_G);
    touch->depth_rate = -tal_v3_dot(n, v);
    touch->slip_G = tal_v3_axpy(touch->depth_rate, n, v);
    const tali_contact_press press = press_point(at, pair, point->weight * k, place, touch);
    // where the energy E = w E0 depends on how the surfaces are turned, -E0 grad w turns them back
    if (point->weight < 1.0) {
        touch->m_G = tal_v3_scale(-press.energy / point->weight, point->turn_G);
    }
    touch->normal_force = press.force;
    touch->energy = press.energy;
    touch->power = press.power;
    touch->f_G = tal_v3_scale(press.force, n);
    add_friction(at, pair, place, touch);
}

// Where the spring of a face acts: surface 1 gives way by s1 of the depth, surface 2 by the rest.
static tal_vec3 spring_point(const tali_detect_face *face, double share1)
{
    const double along = face->surface == 0 ? share1 : share1 - 1.0;
    return tal_v3_axpy(along * face->depth, face->n_G, face->p_G);
}

// The area of a face across its spring. Pressure acts on what a face covers of the patch, so that a
// foundation of pressure k x carries k times the volume displaced. A face turned away covers
// nothing. `normal_G` is the face's own normal, along the spring as n is for surface 2, against it
// for surface 1.
static double covered_area(const tali_detect_face *face, tal_vec3 *normal_G)
{
    *normal_G = face->surface == 0 ? tal_v3_neg(face->out_G) : face->out_G;
    return face->area * fmax(0.0, tal_v3_dot(*normal_G, face->n_G));
}

// Sums over the faces of a patch, moments about Ground's origin.
typedef struct patch_sum {
    tal_vec3 f_G, m_G;    // of all springs, on surface 1
    tal_vec3 n_G, p_G;    // weighted by normal forces
    tal_vec3 middle;      // of all faces
    double normal, depth; // sum of normal forces, largest depth
    double area, energy, power;
} patch_sum;

// The energy k a x^2 / 2 of a spring also changes when its face turns, since it covers less then:
// with a = A normal . n that is a couple k A x^2 / 2 normal x n on the surface that has the face,
// and the opposite one on the other, with which n turns. Where the other surface is curved, n also
// turns as the face moves along it; the force against that is k A x^2 / 2 times `bend_G` on the
// face. Both are small and cancel for a fine mesh; with them the energy is exact for a coarse one.
static void add_turning(const tali_detect_face *face, tal_vec3 normal_G, double k, patch_sum *sum)
{
    const double size = 0.5 * k * face->area * face->depth * face->depth;
    const double sign = face->surface == 0 ? 1.0 : -1.0; // on surface 1
    const tal_vec3 couple = tal_v3_scale(-sign * size, tal_v3_cross(normal_G, face->n_G));
    const tal_vec3 f = tal_v3_scale(sign * size, face->bend_G);
    sum->f_G = tal_v3_add(sum->f_G, f);
    sum->m_G = tal_v3_add(sum->m_G, tal_v3_add(couple, tal_v3_cross(face->p_G, f)));
}

// The forces of all faces of a patch, as sums from which its center of pressure follows.
static patch_sum sum_faces(const scene *at, const tal_contact_pair_material *pair,
                           const tali_detect_face faces[], int count, const int surface[2])
{
    patch_sum sum = {.area = 0.0};
    for (int i = 0; i < count; ++i) {
        const tali_detect_face *face = &faces[i];
        tal_vec3 normal_G;
        const double area = covered_area(face, &normal_G);
        const tal_vec3 p = spring_point(face, pair->share1);
        const tal_vec3 v = velocity_at(at, surface, p);
        const double xdot = -tal_v3_dot(face->n_G, v);
        const tali_contact_press press =
            tali_contact_foundation(pair->stiffness, pair->dissipation, area, face->depth, xdot);
        tal_vec3 f = tal_v3_scale(press.force, face->n_G);
        sum.power += press.power;
        if (at->z == NULL) {
            const tal_vec3 slip = tal_v3_axpy(xdot, face->n_G, v);
            f = tal_v3_add(f, friction_of_curve(at, pair, press.force, slip, &sum.power));
        }
        sum.f_G = tal_v3_add(sum.f_G, f);
        sum.m_G = tal_v3_add(sum.m_G, tal_v3_cross(p, f));
        if (area > 0.0) add_turning(face, normal_G, pair->stiffness, &sum);
        sum.n_G = tal_v3_axpy(press.force, face->n_G, sum.n_G);
        sum.p_G = tal_v3_axpy(press.force, p, sum.p_G);
        sum.middle = tal_v3_axpy(1.0 / count, p, sum.middle);
        sum.normal += press.force;
        sum.depth = fmax(sum.depth, face->depth);
        sum.area += area;
        sum.energy += press.energy;
    }
    return sum;
}

static void touch_patch(const scene *at, const tal_contact_pair_material *pair,
                        const tali_detect_face faces[], int count, int bristle,
                        tali_contact_touch *touch)
{
    const patch_sum sum = sum_faces(at, pair, faces, count, touch->surface);
    const double pull = tal_v3_norm(sum.n_G);
    touch->feature = 0;
    touch->num_faces = count;
    // where the surfaces separate too fast to push, any point and normal of the patch can be used
    touch->p_G = sum.normal > 0.0 ? tal_v3_scale(1.0 / sum.normal, sum.p_G) : sum.middle;
    touch->n_G = pull > 0.0 ? tal_v3_scale(1.0 / pull, sum.n_G) : faces[0].n_G;
    touch->depth = sum.depth;
    touch->semi_axis[0] = touch->semi_axis[1] = sqrt(sum.area / TAL_PI);
    const tal_vec3 v = velocity_at(at, touch->surface, touch->p_G);
    touch->depth_rate = -tal_v3_dot(touch->n_G, v);
    touch->slip_G = tal_v3_axpy(touch->depth_rate, touch->n_G, v);
    touch->normal_force = pull;
    touch->energy = sum.energy;
    touch->power = sum.power;
    touch->f_G = sum.f_G;
    touch->m_G = tal_v3_sub(sum.m_G, tal_v3_cross(touch->p_G, sum.f_G));
    if (at->z != NULL) hold_by_bristle(at, pair, bristle, touch);
}

// --- all contacts ---

// Bristles that hold nothing relax, zdot = -K/D z (RBDA eq. 11.77 without a force), and so do
// layers that nothing touches. All are set so first; those in contact are then written over.
static void relax_bristles(const scene *at)
{
    const tali_contact_element *it = at->it;
    const double rate = at->grip.stiffness / at->grip.damping;
    for (int i = 0; at->z != NULL && i < 3 * it->num_bristles; ++i) {
        at->zdot[i] = -rate * at->z[i];
    }
    for (int i = 0; at->layers != NULL && i < it->num_bristles; ++i) {
        at->layers_dot[i] = -at->layers[i] / (exponent_of(it) * it->def.relaxation_time);
    }
}

// k z^(n+1) / (n+1) of what a layer holds by itself; `last` is a combination that may be known.
static double layer_energy(const tali_contact_element *it, const tal_contact_material materials[],
                           const int surface[2], double z, combined *last)
{
    if (!(z > 0.0)) return 0.0;
    const tali_detect_contact pair = {.surface = {surface[0], surface[1]}};
    const double k = combine(it, materials, &pair, last)->stiffness;
    const double n = exponent_of(it);
    return k * z * tali_contact_power(z, n) / (n + 1.0);
}

// What a place with memory dissipates that nothing touches: -K z . zdot of a bristle, and (n + 1) /
// (n T) times its energy of a layer.
static double idle_power(const scene *at, const tali_contact_held_pair *held, int place)
{
    double power = 0.0;
    if (at->z != NULL) {
        const double *z = bristle_at(at, place);
        const double K = at->grip.stiffness;
        power += K * K / at->grip.damping * (z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
    }
    if (at->layers != NULL) {
        combined last = {.is_patch = false};
        const double n = exponent_of(at->it), T = at->it->def.relaxation_time;
        power += (n + 1.0) / (n * T) *
                 layer_energy(at->it, at->materials, held->surface, at->layers[place], &last);
    }
    return power;
}

// A walk along the held pairs and their places, which are in the order of the contacts.
typedef struct walk {
    int pair, bristle;
} walk;

// Continues to a place. Returns the power of those passed on the way, which nothing touches.
static double walk_to(const scene *at, walk *to, int place)
{
    const tali_contact_held_pair *held = at->it->held;
    double power = 0.0;
    int pair = to->pair;
    for (; to->bristle < place; ++to->bristle) {
        while (held[pair].first > to->bristle) {
            --pair;
        }
        while (held[pair].first + held[pair].count <= to->bristle) {
            ++pair;
        }
        power += idle_power(at, &held[pair], to->bristle);
    }
    return power;
}

// Continues to the pair of surfaces that is in contact, and returns its first bristle.
static int first_bristle(const tali_contact_element *it, walk *place, const int surface[2])
{
    const tali_contact_held_pair *held = &it->held[place->pair];
    while (held->surface[0] < surface[0] ||
           (held->surface[0] == surface[0] && held->surface[1] < surface[1])) {
        held = &it->held[++place->pair];
    }
    return held->first;
}

// Computes all contacts, in order. Returns the power they dissipate, summed in that order.
static double touch_all(const scene *at, const tali_contact_sight *sight, tali_contact_touches *all)
{
    const tali_contact_element *it = at->it;
    walk place = {0, 0};
    combined last = {.is_patch = false};
    double power = 0.0;
    all->count = 0;
    for (int c = 0; c < sight->num_contacts; ++c) {
        const tali_detect_contact *contact = &sight->contacts[c];
        const tal_contact_pair_material *pair = combine(it, at->materials, contact, &last);
        const bool has_memory = at->z != NULL || at->layers != NULL;
        const int first = has_memory ? first_bristle(it, &place, contact->surface) : -1;
        const int points = contact->is_patch ? 1 : contact->count;
        for (int i = 0; i < points; ++i) {
            tali_contact_touch *touch = &all->touch[all->count++];
            const tali_detect_point *point = sight->points + contact->first + i;
            const int feature = contact->is_patch ? 0 : point->feature;
            const int bristle = first >= 0 ? first + feature : -1;
            memcpy(touch->surface, contact->surface, sizeof touch->surface);
            if (bristle >= 0) {
                power += walk_to(at, &place, bristle);
                place.bristle = bristle + 1;
            }
            if (contact->is_patch) {
                touch_patch(at, pair, sight->faces + contact->first, contact->count, bristle,
                            touch);
            } else {
                touch_point(at, pair, point, bristle, touch);
            }
            power += touch->power;
        }
    }
    return power + walk_to(at, &place, it->num_bristles);
}

// The cache entry of touches: forces of all contacts, and the rates of what remembers.
static tal_status calc_touches(const void *self, const tal_system *system, tal_state *state,
                               void *value)
{
    const tali_contact_element *it = self;
    const tal_matter *matter = tal_forces_matter(it->base.forces);
    tali_contact_touches *all = value;
    tali_contact_sight sight;
    if (!tali_contact_look(it, system, state, &sight)) return tal_state_error(state)->status;
    const tal_contact_grip *grip = tal_var_value(system, state, it->grip);
    const scene at = {
        .it = it,
        .poses = tal_matter_poses(matter, state),
        .velocities = tal_matter_velocities(matter, state),
        .materials = tal_var_value(system, state, it->materials),
        .X_MS = tal_cache_value(system, state, it->placed),
        .z = states_of(system, state, it->bristles),
        .layers = states_of(system, state, it->layers),
        .grip = *grip,
        .zdot = (double *)(void *)((char *)value + tali_contact_zdot_offset(it)),
        .layers_dot = (double *)(void *)((char *)value + tali_contact_zdot_offset(it)) +
                      (ptrdiff_t)3 * it->num_bristles,
    };
    relax_bristles(&at);
    all->power = touch_all(&at, &sight, all);
    return TAL_OK;
}

void tali_contact_declare_touches(tali_contact_element *it, tal_forces *forces)
{
    const tal_prereq needs[] = {tal_prereq_cache(it->contacts),
                                tal_prereq_var(it->materials),
                                tal_prereq_var(it->grip),
                                {TAL_PREREQ_Z, 0}};
    tal_cache_def cache = tal_cache_def_default();
    cache.name = "touches";
    cache.size =
        tali_contact_zdot_offset(it) + (size_t)4 * (size_t)it->num_bristles * sizeof(double);
    cache.depends_on = TAL_STAGE_VELOCITY;
    cache.calc = calc_touches;
    cache.prereqs = needs;
    cache.num_prereqs = it->num_bristles > 0 ? 4 : 3;
    it->touches = tal_force_add_cache(forces, it->base.me, &cache);
}

const tali_contact_touches *tali_contact_read_touches(const tali_contact_element *it,
                                                      const tal_system *system, tal_state *state)
{
    return tal_cache_realize(system, state, it->touches);
}

// --- the table ---

static tal_status failure(const tal_force_context *context)
{
    const tal_status st = tal_state_error(context->state)->status;
    return st != TAL_OK ? st : TAL_ERR_STAGE;
}

// Equal and opposite forces at one point, each about its body's Mo.
tal_status tali_contact_apply(const void *self, const tal_force_context *context,
                              tal_spatial_vec F[], double f[])
{
    (void)f;
    const tali_contact_element *it = self;
    const tali_contact_touches *all =
        tali_contact_read_touches(it, context->system, context->state);
    if (all == NULL) return failure(context);
    for (int i = 0; i < all->count; ++i) {
        const tali_contact_touch *touch = &all->touch[i];
        const int body[2] = {it->surfaces[touch->surface[0]].body.i,
                             it->surfaces[touch->surface[1]].body.i};
        tali_on_plane_push_apart(&context->poses, body, touch->p_G, tal_sv(touch->m_G, touch->f_G),
                                 F);
    }
    return TAL_OK;
}

tal_status tali_contact_realize_acceleration(const void *self, const tal_force_context *context)
{
    const tali_contact_element *it = self;
    if (it->num_bristles == 0) return TAL_OK;
    const tali_contact_touches *all =
        tali_contact_read_touches(it, context->system, context->state);
    if (all == NULL) return failure(context);
    const double *rates =
        (const double *)(const void *)((const char *)all + tali_contact_zdot_offset(it));
    const size_t n = (size_t)it->num_bristles;
    if (it->bristles.i >= 0) {
        double *zdot = tal_group_upd_dot(context->system, context->state, it->bristles);
        if (zdot == NULL) return failure(context);
        memcpy(zdot, rates, 3 * n * sizeof *zdot);
    }
    if (it->layers.i >= 0) {
        double *zdot = tal_group_upd_dot(context->system, context->state, it->layers);
        if (zdot == NULL) return failure(context);
        memcpy(zdot, rates + 3 * n, n * sizeof *zdot);
    }
    return TAL_OK;
}

// Energy of surfaces that relax: of each place that of the larger of depth and deflection. Summed
// over deflections here, and over what depths exceed them by in energy_of_points().
static double energy_of_layers(const tali_contact_element *it,
                               const tal_contact_material materials[], const double layers[])
{
    combined last = {.is_patch = false};
    double sum = 0.0;
    for (int i = 0; layers != NULL && i < it->num_held; ++i) {
        const tali_contact_held_pair *held = &it->held[i];
        for (int k = 0; k < held->count; ++k) {
            sum += layer_energy(it, materials, held->surface, layers[held->first + k], &last);
        }
    }
    return sum;
}

static const tali_contact_held_pair *held_pair(const tali_contact_element *it, const int surface[2])
{
    walk from = {0, 0};
    (void)first_bristle(it, &from, surface);
    return &it->held[from.pair];
}

// `layers` are those of the pair; NULL: none.
static double energy_of_points(const tali_contact_element *it, const tali_detect_point points[],
                               int count, double E, const double layers[])
{
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        tali_contact_ellipse patch;
        const double k = stiffness_at(it, &points[i], E, &patch);
        if (layers != NULL) {
            const double z = fmax(0.0, layers[points[i].feature]), n = exponent_of(it);
            sum -= k * z * tali_contact_power(z, n) / (n + 1.0);
            sum += tali_contact_relaxing(points[i].weight * k, n, it->def.relaxation_time,
                                         points[i].depth, 0.0, z)
                       .press.energy;
            continue;
        }
        sum += points[i].weight *
               tali_contact_hunt_crossley(k, exponent_of(it), 0.0, points[i].depth, 0.0).energy;
    }
    return sum;
}

static double energy_of_faces(const tali_detect_face faces[], int count, double k)
{
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        tal_vec3 normal_G;
        const double area = covered_area(&faces[i], &normal_G);
        sum += tali_contact_foundation(k, 0.0, area, faces[i].depth, 0.0).energy;
    }
    return sum;
}

// At Position nothing is known of velocities, so the energy is computed from what was found.
tal_status tali_contact_calc_energy(const void *self, const tal_force_context *context,
                                    double *energy)
{
    const tali_contact_element *it = self;
    const tal_contact_material *materials =
        tal_var_value(context->system, context->state, it->materials);
    tali_contact_sight sight;
    if (!tali_contact_look(it, context->system, context->state, &sight)) return failure(context);
    const double *layers = states_of(context->system, context->state, it->layers);
    combined last = {.is_patch = false};
    double sum = energy_of_layers(it, materials, layers);
    for (int c = 0; c < sight.num_contacts; ++c) {
        const tali_detect_contact *contact = &sight.contacts[c];
        const double *of_pair =
            layers != NULL ? layers + held_pair(it, contact->surface)->first : NULL;
        const double E = combine(it, materials, contact, &last)->stiffness;
        sum += contact->is_patch ? energy_of_faces(sight.faces + contact->first, contact->count, E)
                                 : energy_of_points(it, sight.points + contact->first,
                                                    contact->count, E, of_pair);
    }
    const tal_contact_grip *grip = tal_var_value(context->system, context->state, it->grip);
    const double *z = states_of(context->system, context->state, it->bristles);
    for (int i = 0; z != NULL && i < 3 * it->num_bristles; ++i) {
        sum += 0.5 * grip->stiffness * z[i] * z[i];
    }
    *energy = sum;
    return TAL_OK;
}

tal_status tali_contact_calc_power(const void *self, const tal_force_context *context,
                                   double *power)
{
    const tali_contact_touches *all =
        tali_contact_read_touches(self, context->system, context->state);
    if (all == NULL) return failure(context);
    *power = all->power;
    return TAL_OK;
}
