// From a System and a State to a model file: forces and contact.
#include "force_facts_internal.h"
#include "model_write_internal.h"

#include <inttypes.h>
#include <stdio.h>
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

static void put_single(tali_writer *w, const tali_item *item)
{
    tali_write_tag(w, item);
    tali_sink_put(&w->out, "/>\n");
}

// Forces that somebody set.
static void put_loads(tali_writer *w, tal_force_ix force)
{
    const tal_matter *matter = w->model.matter;
    const tal_forces *forces = w->model.forces;
    for (int b = 0; b < tal_matter_num_bodies(matter); ++b) {
        const tal_body_ix body = {b};
        const tal_spatial_vec F = tal_discrete_body_force(forces, w->model.state, force, body);
        tali_slots slots = {.p = {F.w.x, F.w.y, F.w.z, F.v.x, F.v.y, F.v.z}, .ref = {b}};
        const tali_item load = tali_slots_item(&slots, &tali_load_rows[0], NULL);
        if (tal_sv_dot(F, F) != 0.0) put_single(w, &load);
        for (int i = 0; i < tal_body_nu(matter, body); ++i) {
            const tal_mobility at = {body, i};
            const double f = tal_discrete_mobility_force(forces, w->model.state, force, at);
            slots = (tali_slots){.p = {f}, .ref = {b, i}};
            const tali_item along = tali_slots_item(&slots, &tali_load_rows[1], NULL);
            if (f != 0.0) put_single(w, &along);
        }
    }
}

// The attribute with the z of an element, where they are not all zero.
static void put_z(tali_writer *w, tal_force_ix force)
{
    const double *z = tal_state_z(w->model.state);
    const int num = tali_force_z(w->model.forces, w->model.state, force, 0, NULL);
    bool any = false;
    int slot = 0;
    for (int i = 0; i < num; ++i) {
        (void)tali_force_z(w->model.forces, w->model.state, force, i, &slot);
        any = any || z[slot] != 0.0;
    }
    for (int i = 0; any && i < num; ++i) {
        (void)tali_force_z(w->model.forces, w->model.state, force, i, &slot);
        tali_sink_put(&w->out, i == 0 ? " z=\"" : " ");
        tali_write_numbers(w, &z[slot], 1);
    }
    if (any) tali_sink_put(&w->out, "\"");
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
    double list[64];
    int num_cliques = 0;
    for (int i = 0; i < 64; ++i) {
        if ((cliques >> i & 1) != 0) list[num_cliques++] = i + 1;
    }
    tali_list lists = {.values = list, .count = num_cliques};
    double p[24] = {0.0};
    const tal_xform X_BS = tal_contact_surface_X_BS(forces, state, contact, surface);
    const tal_contact_material material =
        tal_contact_surface_material(forces, state, contact, surface);
    const int sizes[TAL_NUM_SHAPE_KINDS] = {0, 1, 3, 2, 3, 2, 0}; // in the order of tal_shape_kind
    tali_frame_to(&X_BS, p);
    memcpy(p + 12, &material, 6 * sizeof *p);
    memcpy(p + 18, &shape.size, sizeof shape.size);
    p[18 + sizes[shape.kind]] = shape.kind == TAL_SHAPE_MESH ? 1.0 : shape.edge_radius;
    int ref[] = {tal_contact_surface_body(forces, contact, surface).i, -1};
    const char *no_file = "";
    // rows stand in the order of tal_shape_kind
    const tali_item item = {.row = &tali_surface_rows[(int)shape.kind],
                            .name = name,
                            .p = p,
                            .ref = ref,
                            .text = &no_file,
                            .lists = &lists};
    tali_write_tag(w, &item);
    if (shape.kind == TAL_SHAPE_MESH) {
        put_mesh(w, shape.mesh);
    } else {
        tali_sink_put(&w->out, "/>\n");
    }
}

// Numbers and references of a contact, and the surfaces in it.
static void put_contact(tali_writer *w, tal_force_ix contact, const tal_contact_def *def,
                        tali_slots *slots)
{
    const tal_forces *forces = w->model.forces;
    const tal_contact_grip grip = tal_contact_grip_of(forces, w->model.state, contact);
    const double p[] = {def->exponent, grip.transition_speed, grip.stiffness, grip.damping,
                        grip.breakaway};
    const int ref[] = {(int)def->law,   (int)def->friction, def->max_pairs,
                       def->max_points, def->max_faces,     def->max_bristles};
    memcpy(slots->p, p, sizeof p);
    memcpy(slots->ref + TALI_FORCE_REFS, ref, sizeof ref);
    const tali_row *row = tali_row_of_kind(TALI_GROUP_FORCES, "contact");
    const tali_item item = tali_slots_item(slots, row, tal_force_name(forces, contact));
    tali_write_tag(w, &item);
    put_z(w, contact);
    tali_sink_put(&w->out, ">\n");
    for (int i = 0; i < tal_contact_num_surfaces(forces, contact); ++i) {
        put_surface(w, contact, (tal_contact_surface_ix){i});
    }
    tali_sink_put(&w->out, "    </contact>\n");
}

// What a built-in element acts on, in the order of its row.
static void add_targets(const tali_row *row, const tali_force_facts *facts, tali_slots *to)
{
    int n = TALI_FORCE_REFS, body = 0;
    int *ref = to->ref;
    for (const tali_attribute *a = row->own; a != NULL && a->name != NULL; ++a) {
        if (a->type == TALI_TYPE_BODY) ref[n++] = facts->bodies[body++].i;
        if (a->type == TALI_TYPE_MEASURE) ref[n++] = facts->measure.i;
        if (a->type == TALI_TYPE_BOOL) ref[n++] = facts->flag;
        if (a->type == TALI_TYPE_MATERIAL) ref[n++] = -1;
        if (a->type == TALI_TYPE_INTEGER) ref[n++] = facts->count;
        if (a->type != TALI_TYPE_MOBILITY) continue;
        ref[n++] = facts->mobility.body.i;
        ref[n++] = facts->mobility.i;
    }
}

static void put_built_in(tali_writer *w, tal_force_ix force, const tali_row *row,
                         const tali_force_facts *facts, tali_slots *slots)
{
    const tal_forces *forces = w->model.forces;
    const tal_state *state = w->model.state;
    const char *name = tal_force_name(forces, force);
    char seed[24] = "";
    double anchor[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < tal_force_num_params(forces, force); ++i) {
        slots->p[i] = tal_force_param(forces, state, force, i);
    }
    add_targets(row, facts, slots);
    if (strcmp(row->name, "langevin") == 0) {
        const uint64_t number = tal_langevin_seed(forces, state, force);
        (void)snprintf(seed, sizeof seed, "%" PRIu64, number);
        slots->text[0] = seed;
    }
    if (strcmp(row->name, "exponential_spring") == 0) {
        tali_exponential_spring_anchor(forces, state, force, anchor);
        const bool any = anchor[0] != 0.0 || anchor[1] != 0.0 || anchor[2] != 0.0;
        slots->lists[1] = (tali_list){.shown = anchor, .count = any ? 3 : 0};
    }
    const tali_item item = tali_slots_item(slots, row, name);
    tali_write_tag(w, &item);
    put_z(w, force);
    if (strcmp(row->name, "discrete_forces") != 0) {
        tali_write_end(w, row, facts->function, name);
        return;
    }
    tali_sink_put(&w->out, ">\n");
    put_loads(w, force);
    tali_sink_put(&w->out, "    </%s>\n", row->name);
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
    tali_slots slots = {
        .ref = {[TALI_FORCE_ENABLED] = tal_force_is_enabled(forces, w->model.state, force),
                [TALI_FORCE_TRACKED] = tali_force_is_tracked(forces, force)},
        .at = {.ref = TALI_FORCE_REFS, .lists = 1}};
    if (element != NULL) {
        if (!tali_write_own(w, element, force.i, self, name, &slots)) return;
        put_z(w, force);
        tali_sink_put(&w->out, "/>\n");
    } else if (row == NULL) {
        tali_write_refuse(w, "force '%s' is of kind '%s', " TALI_NOT_REGISTERED, name, kind);
    } else if (facts.contact != NULL) {
        put_contact(w, force, facts.contact, &slots);
    } else {
        put_built_in(w, force, row, &facts, &slots);
    }
}

void tali_write_force(tali_writer *w, tal_force_ix force)
{
    if (strcmp(tal_force_kind(w->model.forces, force), "gravity") == 0) {
        put_gravity(w, force);
    } else {
        put_element(w, force);
    }
}
