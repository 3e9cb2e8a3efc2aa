// From a System and a State to a model file: forces and contact.
#include "force_facts_internal.h"
#include "model_write_internal.h"

#include <string.h>

// ---- forces

static void put_gravity(tali_writer *w, tal_force_ix force)
{
    const tal_vec3 g = tal_gravity_g(w->model.forces, w->model.state, force);
    double p[] = {g.x, g.y, g.z, tal_gravity_zero_height(w->model.forces, w->model.state, force)};
    int ref[] = {tal_force_is_enabled(w->model.forces, w->model.state, force)};
    const tali_item item = {
        .row = tali_row_of_kind(TALI_GROUP_FORCES, "gravity"), .p = p, .ref = ref};
    tali_write_tag(w, &item);
    tali_sink_put(&w->out, "/>\n");
}

// Forces that somebody set have no place in a file.
static void check_discrete(tali_writer *w, tal_force_ix force, const char *name)
{
    const tal_matter *matter = w->model.matter;
    for (int b = 0; b < tal_matter_num_bodies(matter); ++b) {
        const tal_body_ix body = {b};
        const tal_spatial_vec F =
            tal_discrete_body_force(w->model.forces, w->model.state, force, body);
        bool any = tal_sv_dot(F, F) != 0.0;
        for (int i = 0; i < tal_body_nu(matter, body) && !any; ++i) {
            any = tal_discrete_mobility_force(w->model.forces, w->model.state, force,
                                              (tal_mobility){body, i}) != 0.0;
        }
        if (!any) continue;
        tali_write_refuse(w, "discrete forces '%s' are set, which no file can describe", name);
        return;
    }
}

// In the file, wherever it came from.
static void put_mesh(tali_writer *w, const tal_mesh *mesh)
{
    tali_sink_put(&w->out, ">\n      <vertices>\n");
    for (int i = 0; i < tal_mesh_num_vertices(mesh); ++i) {
        const tal_vec3 p = tal_mesh_vertex(mesh, i);
        tali_write_numbers(w, &p.x, 3);
        tali_sink_put(&w->out, "\n");
    }
    tali_sink_put(&w->out, "      </vertices>\n      <faces>\n");
    for (int i = 0; i < tal_mesh_num_faces(mesh); ++i) {
        int corners[3];
        tal_mesh_face(mesh, i, corners);
        tali_sink_put(&w->out, "%d %d %d\n", corners[0], corners[1], corners[2]);
    }
    tali_sink_put(&w->out, "      </faces>\n    </mesh>\n");
}

static void put_surface(tali_writer *w, tal_force_ix contact, tal_contact_surface_ix surface)
{
    const tal_forces *forces = w->model.forces;
    const tal_state *state = w->model.state;
    const char *name = tal_contact_surface_name(forces, contact, surface);
    const tal_shape shape = tal_contact_surface_shape(forces, state, contact, surface);
    const uint64_t cliques = tali_contact_cliques(forces, contact, surface);
    if ((cliques & (cliques - 1)) != 0) {
        tali_write_refuse(w, "surface '%s' is in several cliques, which no file can describe",
                          name);
        return;
    }
    int clique = 0;
    for (uint64_t rest = cliques; rest != 0; rest >>= 1) {
        ++clique;
    }
    double p[24] = {0.0};
    const tal_xform X_BS = tal_contact_surface_X_BS(forces, state, contact, surface);
    const tal_contact_material material =
        tal_contact_surface_material(forces, state, contact, surface);
    const int sizes[TAL_NUM_SHAPE_KINDS] = {0, 1, 3, 2, 3, 2, 0}; // in the order of tal_shape_kind
    tali_frame_to(&X_BS, p);
    memcpy(p + 12, &material, 6 * sizeof *p);
    memcpy(p + 18, &shape.size, sizeof shape.size);
    p[18 + sizes[shape.kind]] = shape.kind == TAL_SHAPE_MESH ? 1.0 : shape.edge_radius;
    int ref[] = {tal_contact_surface_body(forces, contact, surface).i, 0, clique};
    const char *no_file = "";
    // rows stand in the order of tal_shape_kind
    const tali_item item = {.row = &tali_surface_rows[(int)shape.kind],
                            .name = name,
                            .p = p,
                            .ref = ref,
                            .text = &no_file};
    tali_write_tag(w, &item);
    if (shape.kind == TAL_SHAPE_MESH) {
        put_mesh(w, shape.mesh);
    } else {
        tali_sink_put(&w->out, "/>\n");
    }
}

static void put_contact(tali_writer *w, tal_force_ix contact, const tal_contact_def *def)
{
    const tal_forces *forces = w->model.forces;
    const tal_contact_grip grip = tal_contact_grip_of(forces, w->model.state, contact);
    double p[] = {def->exponent, grip.transition_speed, grip.stiffness, grip.damping,
                  grip.breakaway};
    int ref[] = {tal_force_is_enabled(forces, w->model.state, contact),
                 (int)def->law,
                 (int)def->friction,
                 def->max_pairs,
                 def->max_points,
                 def->max_faces,
                 def->max_bristles};
    const tali_item item = {.row = tali_row_of_kind(TALI_GROUP_FORCES, "contact"),
                            .name = tal_force_name(forces, contact),
                            .p = p,
                            .ref = ref};
    tali_write_tag(w, &item);
    tali_sink_put(&w->out, ">\n");
    for (int i = 0; i < tal_contact_num_surfaces(forces, contact); ++i) {
        put_surface(w, contact, (tal_contact_surface_ix){i});
    }
    tali_sink_put(&w->out, "    </contact>\n");
}

static int integer_of(tali_writer *w, tal_force_ix force, const tali_force_facts *facts,
                      const char *kind)
{
    if (strcmp(kind, "langevin") != 0) return facts->count;
    const uint64_t seed = tal_langevin_seed(w->model.forces, w->model.state, force);
    if (seed > INT32_MAX) {
        tali_write_refuse(w, "langevin '%s' has a seed above %d, which no file can hold",
                          tal_force_name(w->model.forces, force), INT32_MAX);
    }
    return (int)seed;
}

static void put_element(tali_writer *w, tal_force_ix force)
{
    const tal_forces *forces = w->model.forces;
    const char *name = tal_force_name(forces, force), *kind = tal_force_kind(forces, force);
    tali_force_facts facts;
    const bool known = tali_force_facts_of(forces, force, &facts);
    const tali_row *row = known ? tali_row_of_kind(TALI_GROUP_FORCES, kind) : NULL;
    const void *self = NULL;
    const tal_force_ops *ops = tali_force_ops_of(forces, force, &self);
    const tal_model_element *element = known ? NULL : tali_registered(w, TAL_MODEL_FORCE, ops);
    tali_slots slots = {.ref = {tal_force_is_enabled(forces, w->model.state, force)},
                        .at = {.ref = 1}};
    if (element != NULL) {
        tali_write_own(w, element, force.i, self, name, &slots);
        return;
    }
    if (row == NULL) {
        tali_write_refuse(w, "force '%s' is of kind '%s', which no file can describe", name, kind);
        return;
    }
    if (facts.contact != NULL) {
        put_contact(w, force, facts.contact);
        return;
    }
    if (strcmp(kind, "discrete forces") == 0) check_discrete(w, force, name);
    for (int i = 0; i < tal_force_num_params(forces, force); ++i) {
        slots.p[i] = tal_force_param(forces, w->model.state, force, i);
    }
    int *ref = slots.ref;
    int n = 1, body = 0;
    for (const tali_attribute *a = row->own; a != NULL && a->name != NULL; ++a) {
        if (a->type == TALI_TYPE_BODY) ref[n++] = facts.bodies[body++].i;
        if (a->type == TALI_TYPE_MEASURE) ref[n++] = facts.measure.i;
        if (a->type == TALI_TYPE_BOOL) ref[n++] = facts.flag;
        if (a->type == TALI_TYPE_INTEGER) ref[n++] = integer_of(w, force, &facts, kind);
        if (a->type != TALI_TYPE_MOBILITY) continue;
        ref[n++] = facts.mobility.body.i;
        ref[n++] = facts.mobility.i;
    }
    const tali_item item = tali_slots_item(&slots, row, name);
    tali_write_tag(w, &item);
    tali_write_end(w, row, facts.function, name);
}

void tali_write_force(tali_writer *w, tal_force_ix force)
{
    if (strcmp(tal_force_kind(w->model.forces, force), "gravity") == 0) {
        put_gravity(w, force);
    } else {
        put_element(w, force);
    }
}
