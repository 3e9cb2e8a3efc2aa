// Contact as elements of .osim files.
#include "force_facts_internal.h"

#include "opensim/osim_write_internal.h"

#include <stdio.h>
#include <string.h>

static bool is_kind(const tali_osim_writer *w, int force, const char *kind)
{
    return strcmp(tal_force_kind(w->model->forces, (tal_force_ix){force}), kind) == 0;
}

// A surface of a contact element.
typedef struct surface {
    tal_force_ix contact;
    tal_contact_surface_ix ix;
} surface;

static bool same_geometry(const tali_osim_writer *w, surface a, surface b)
{
    const tal_forces *forces = w->model->forces;
    const tal_state *state = w->model->state;
    const tal_shape p = tal_contact_surface_shape(forces, state, a.contact, a.ix);
    const tal_shape q = tal_contact_surface_shape(forces, state, b.contact, b.ix);
    const tal_xform X = tal_contact_surface_X_BS(forces, state, a.contact, a.ix);
    const tal_xform Y = tal_contact_surface_X_BS(forces, state, b.contact, b.ix);
    return tal_contact_surface_body(forces, a.contact, a.ix).i ==
               tal_contact_surface_body(forces, b.contact, b.ix).i &&
           p.kind == q.kind && p.size.x == q.size.x &&
           // NOLINTNEXTLINE(*-memory-comparison,cert-*): numbers without padding
           memcmp(&X, &Y, sizeof X) == 0;
}

// The first surface of another element before this one that has its name; `contact.i` < 0: none.
static surface namesake(const tali_osim_writer *w, surface it)
{
    const tal_forces *forces = w->model->forces;
    const char *name = tal_contact_surface_name(forces, it.contact, it.ix);
    for (int i = 0; i < it.contact.i; ++i) {
        const tal_force_ix contact = {i};
        if (!is_kind(w, i, "contact")) continue;
        for (int k = 0; k < tal_contact_num_surfaces(forces, contact); ++k) {
            const tal_contact_surface_ix ix = {k};
            if (strcmp(tal_contact_surface_name(forces, contact, ix), name) == 0) {
                return (surface){contact, ix};
            }
        }
    }
    return (surface){{-1}, {-1}};
}

// Its own name; with that of its element where another surface has the same one elsewhere.
static void surface_name(const tali_osim_writer *w, surface it, char name[])
{
    const tal_forces *forces = w->model->forces;
    const char *own = tal_contact_surface_name(forces, it.contact, it.ix);
    const surface other = namesake(w, it);
    if (other.contact.i < 0 || same_geometry(w, it, other)) {
        (void)snprintf(name, TALI_OSIM_NAME, "%s", own);
    } else {
        (void)snprintf(name, TALI_OSIM_NAME, "%s_%s", tal_force_name(forces, it.contact), own);
    }
}

static void put_geometry(tali_osim_writer *w, const char *name, int body, tal_xform X,
                         const tal_shape *shape)
{
    const bool is_sphere = shape->kind == TAL_SHAPE_SPHERE;
    if (!is_sphere && shape->kind != TAL_SHAPE_HALF_SPACE) {
        tali_osim_refuse(w,
                         "surface '%s' is neither a sphere nor a half-space, and cannot be said "
                         "in an .osim file",
                         name);
        return;
    }
    const char *tag = is_sphere ? "ContactSphere" : "ContactHalfSpace";
    tali_osim_open_tag(w, tag, name);
    tali_osim_put_body(w, "socket_frame", body);
    tali_osim_put_frame(w, "orientation", "location", X);
    if (is_sphere) tali_osim_put_number(w, "radius", shape->size.x);
    tali_osim_close_tag(w, tag);
}

static void put_surfaces(tali_osim_writer *w, tal_force_ix contact)
{
    const tal_model *model = w->model;
    for (int i = 0; i < tal_contact_num_surfaces(model->forces, contact); ++i) {
        const surface it = {contact, {i}};
        const surface other = namesake(w, it);
        if (other.contact.i >= 0 && same_geometry(w, it, other)) continue; // it is there already
        const tal_shape shape =
            tal_contact_surface_shape(model->forces, model->state, contact, it.ix);
        char name[TALI_OSIM_NAME];
        surface_name(w, it, name);
        put_geometry(w, name, tal_contact_surface_body(model->forces, contact, it.ix).i,
                     tal_contact_surface_X_BS(model->forces, model->state, contact, it.ix), &shape);
    }
}

static double param(const tali_osim_writer *w, tal_force_ix force, int i)
{
    return tal_force_param(w->model->forces, w->model->state, force, i);
}

static tal_vec3 vec3_param(const tali_osim_writer *w, tal_force_ix force, int i)
{
    return tal_v3(param(w, force, i), param(w, force, i + 1), param(w, force, i + 2));
}

static void put_smooth_surfaces(tali_osim_writer *w, tal_force_ix contact)
{
    tali_force_facts facts;
    (void)tali_force_facts_of(w->model->forces, contact, &facts);
    const tal_shape sphere = tal_shape_sphere(param(w, contact, TAL_SMOOTH_RADIUS));
    const tal_shape plane = tal_shape_half_space();
    const int at = TAL_SMOOTH_PLANE;
    const tal_xform X_BF = {{vec3_param(w, contact, at), vec3_param(w, contact, at + 3),
                             vec3_param(w, contact, at + 6)},
                            vec3_param(w, contact, at + 9)};
    char name[TALI_OSIM_NAME];
    (void)snprintf(name, sizeof name, "%s_sphere", tal_force_name(w->model->forces, contact));
    put_geometry(w, name, facts.bodies[0].i,
                 tal_xf_from_p(vec3_param(w, contact, TAL_SMOOTH_CENTER)), &sphere);
    (void)snprintf(name, sizeof name, "%s_plane", tal_force_name(w->model->forces, contact));
    put_geometry(w, name, facts.bodies[1].i, X_BF, &plane);
}

void tali_osim_write_geometries(tali_osim_writer *w)
{
    tali_osim_open_tag(w, "ContactGeometrySet", "contactgeometryset");
    tali_osim_open_tag(w, "objects", NULL);
    for (int i = 0; i < tal_forces_num(w->model->forces); ++i) {
        if (is_kind(w, i, "contact")) put_surfaces(w, (tal_force_ix){i});
        if (is_kind(w, i, "smooth contact")) put_smooth_surfaces(w, (tal_force_ix){i});
    }
    tali_osim_close_tag(w, "objects");
    tali_osim_close_tag(w, "ContactGeometrySet");
}

static void put_material(tali_osim_writer *w, const tal_contact_material *m)
{
    tali_osim_put_number(w, "stiffness", m->stiffness);
    tali_osim_put_number(w, "dissipation", m->dissipation);
    tali_osim_put_number(w, "static_friction", m->static_friction);
    tali_osim_put_number(w, "dynamic_friction", m->dynamic_friction);
    tali_osim_put_number(w, "viscous_friction", m->viscous_friction);
}

void tali_osim_write_contact(tali_osim_writer *w, tal_force_ix contact)
{
    const tal_model *model = w->model;
    const char *name = tal_force_name(model->forces, contact);
    tali_force_facts facts;
    (void)tali_force_facts_of(model->forces, contact, &facts);
    if (facts.contact->law != TAL_CONTACT_HERTZ || facts.contact->friction != TAL_CONTACT_HOLLARS) {
        tali_osim_refuse(w,
                         "contact '%s' is not by Hertz with friction by Hollars, as a "
                         "HuntCrossleyForce is",
                         name);
    }
    tali_osim_open_tag(w, "HuntCrossleyForce::ContactParametersSet", "contact_parameters");
    tali_osim_open_tag(w, "objects", NULL);
    for (int i = 0; i < tal_contact_num_surfaces(model->forces, contact); ++i) {
        const tal_contact_surface_ix ix = {i};
        const tal_contact_material material =
            tal_contact_surface_material(model->forces, model->state, contact, ix);
        char geometry[TALI_OSIM_NAME];
        surface_name(w, (surface){contact, ix}, geometry);
        if (tali_contact_cliques(model->forces, contact, ix) != 0) {
            tali_osim_refuse(w,
                             "surface '%s' is in a clique, which cannot be said in an .osim "
                             "file",
                             geometry);
        }
        tali_osim_open_tag(w, "HuntCrossleyForce::ContactParameters", NULL);
        tali_osim_put_text(w, "geometry", geometry);
        put_material(w, &material);
        tali_osim_close_tag(w, "HuntCrossleyForce::ContactParameters");
    }
    tali_osim_close_tag(w, "objects");
    tali_osim_close_tag(w, "HuntCrossleyForce::ContactParametersSet");
    tali_osim_put_number(
        w, "transition_velocity",
        tal_contact_grip_of(model->forces, model->state, contact).transition_speed);
}

void tali_osim_write_smooth_contact(tali_osim_writer *w, tal_force_ix contact)
{
    static const struct {
        const char *tag;
        int param;
    } rows[] = {{"stiffness", TAL_SMOOTH_STIFFNESS},
                {"dissipation", TAL_SMOOTH_DISSIPATION},
                {"static_friction", TAL_SMOOTH_STATIC_FRICTION},
                {"dynamic_friction", TAL_SMOOTH_DYNAMIC_FRICTION},
                {"viscous_friction", TAL_SMOOTH_VISCOUS_FRICTION},
                {"transition_velocity", TAL_SMOOTH_TRANSITION_SPEED},
                {"constant_contact_force", TAL_SMOOTH_CF},
                {"hertz_smoothing", TAL_SMOOTH_BD},
                {"hunt_crossley_smoothing", TAL_SMOOTH_BV}};

    const char *name = tal_force_name(w->model->forces, contact);
    char path[2 * TALI_OSIM_NAME];
    tali_force_facts facts;
    (void)tali_force_facts_of(w->model->forces, contact, &facts);
    if (!facts.flags[0]) {
        tali_osim_refuse(w,
                         "contact '%s' has friction by Stribeck's curve, which a "
                         "SmoothSphereHalfSpaceForce has not",
                         name);
    }
    (void)snprintf(path, sizeof path, "/contactgeometryset/%s_sphere", name);
    tali_osim_put_text(w, "socket_sphere", path);
    (void)snprintf(path, sizeof path, "/contactgeometryset/%s_plane", name);
    tali_osim_put_text(w, "socket_half_space", path);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        tali_osim_put_number(w, rows[i].tag, param(w, contact, rows[i].param));
    }
}
