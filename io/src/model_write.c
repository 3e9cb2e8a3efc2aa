// From a System and a State to a model file. Every element is laid out as the reader lays it out, and
// printed by the same table.
#include "alloc_internal.h"
#include "error_internal.h"
#include "file_internal.h"
#include "force_facts_internal.h"
#include "matter_facts_internal.h"
#include "measure_facts_internal.h"
#include "model_write_internal.h"
#include "name_map_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- bodies

static const tali_row *row_of_body(const tal_mobilizer_ops *ops,
                                   const tal_function_based_def *functions)
{
    for (int i = 0; tali_body_rows[i].name != NULL; ++i) {
        if (functions != NULL && tali_body_rows[i].ops == NULL) return &tali_body_rows[i];
        if (functions != NULL || tali_body_rows[i].ops == NULL) continue;
        const tal_mobilizer_ops *ours = tali_body_rows[i].ops();
        if (strcmp(ours->name, ops->name) == 0 && ours->calc_X_FM == ops->calc_X_FM &&
            ours->calc_H_FM == ops->calc_H_FM) {
            return &tali_body_rows[i];
        }
    }
    return NULL;
}

static bool is_weightless(const tali_writer *w, tal_body_ix body)
{
    for (int i = 0; i < tal_forces_num(w->model.forces); ++i) {
        const tal_force_ix force = {i};
        if (strcmp(tal_force_kind(w->model.forces, force), "gravity") == 0 &&
            tal_gravity_is_excluded(w->model.forces, w->model.state, force, body)) {
            return true;
        }
    }
    return false;
}

static void check_locks(tali_writer *w, tal_body_ix body, int nu)
{
    if (tal_body_lock_level(w->model.matter, w->model.state, body) != TAL_LEVEL_FREE) return;
    for (int i = 0; i < nu; ++i) {
        const tal_mobility at = {body, i};
        if (tal_mobility_lock_level(w->model.matter, w->model.state, at) == TAL_LEVEL_FREE)
            continue;
        tali_write_refuse(w,
                          "body '%s' has some of its mobilities locked; a file locks all or none",
                          tali_write_body_name(w, body.i));
    }
}

// Names of coordinates, where they are not those they have anyway.
static void put_coordinates(tali_writer *w, tal_body_ix body, int nq)
{
    for (int i = 0; i < nq; ++i) {
        char name[TAL_COORDINATE_NAME_SIZE], usual[TAL_COORDINATE_NAME_SIZE + 16];
        (void)tal_body_coordinate_name(w->model.matter, w->model.state, body, i, name);
        (void)snprintf(usual, sizeof usual, "%s.q%d", tali_write_body_name(w, body.i), i);
        if (strcmp(name, usual) == 0) continue;
        tali_sink_put(&w->out, "<coordinate index=\"%d\" name=\"", i);
        tali_write_text(w, name);
        tali_sink_put(&w->out, "\"/>");
    }
}

// The functions of a mobilizer that is made of them.
static void put_parts(tali_writer *w, const tal_function_based_def *def, const char *whose)
{
    for (int i = 0; i < 6; ++i) {
        const bool turn = i < 3;
        const tal_mobilizer_function *part = turn ? &def->rotation[i] : &def->translation[i - 3];
        const tal_vec3 *axis = turn ? &def->rotation_axis[i] : &def->translation_axis[i - 3];
        if (part->function == NULL) continue;
        tali_sink_put(&w->out, "<%s index=\"%d\" coordinates=\"", turn ? "rotation" : "translation",
                      i % 3);
        for (int k = 0; k < part->num_coords; ++k) {
            tali_sink_put(&w->out, k > 0 ? " %d" : "%d", part->coords[k]);
        }
        tali_sink_put(&w->out, "\"");
        tali_write_list(w, "axis", &axis->x, 3, 1);
        tali_sink_put(&w->out, ">");
        tali_write_function(w, part->function, whose);
        tali_sink_put(&w->out, turn ? "</rotation>" : "</translation>");
    }
}

static void frame_to(const tal_xform *X, double p[12])
{
    memcpy(p, &X->R, 9 * sizeof *p);
    memcpy(p + 9, &X->p, 3 * sizeof *p);
}

static void put_body(tali_writer *w, tal_body_ix body)
{
    const tal_matter *matter = w->model.matter;
    const tal_state *state = w->model.state;
    const tali_body_facts facts = tali_body_facts_of(matter, body);
    const tal_function_based_def *functions = tali_function_based_facts(facts.ops, facts.self);
    const tali_row *row = row_of_body(facts.ops, functions);
    if (row == NULL) {
        tali_write_refuse(w, "body '%s' has the mobilizer '%s', which no file can describe",
                          tali_write_body_name(w, body.i), facts.ops->name);
        return;
    }
    double p[TALI_BODY_NUMBERS + 16] = {0.0}, inertia[6], q[TAL_MAX_NQ], u[TAL_MAX_NU];
    double range[2 * TAL_MAX_NQ];
    const tal_mass_props mass = tal_body_mass_props(matter, state, body);
    const tal_xform X_PF = tal_body_X_PF(matter, state, body),
                    X_BM = tal_body_X_BM(matter, state, body);
    int num_params;
    const double *params = tal_body_params(matter, state, body, &num_params);
    p[TALI_BODY_MASS] = mass.mass;
    memcpy(p + TALI_BODY_COM, &mass.com, sizeof mass.com);
    memcpy(inertia, &mass.inertia, sizeof inertia);
    frame_to(&X_PF, p + TALI_BODY_FRAME);
    frame_to(&X_BM, p + TALI_BODY_BODY_FRAME);
    if (num_params > 0) memcpy(p + TALI_BODY_NUMBERS, params, (size_t)num_params * sizeof *p);

    const int nq = tal_body_nq(matter, state, body), nu = tal_body_nu(matter, body);
    bool limited = false;
    for (int i = 0; i < nq; ++i) {
        q[i] = tal_body_q(matter, state, body, i);
        (void)tal_body_range(matter, state, body, i, &range[2 * i], &range[2 * i + 1]);
        limited = limited || isfinite(range[2 * i]) || isfinite(range[2 * i + 1]);
    }
    for (int i = 0; i < nu; ++i) {
        u[i] = tal_body_u(matter, state, body, i);
    }
    check_locks(w, body, nu);
    int ref[TALI_BODY_REFS + 1] = {[TALI_BODY_PARENT] = tal_body_parent(matter, body).i,
                                   [TALI_BODY_STRUCTURE] = (int)facts.structure,
                                   [TALI_BODY_REVERSE] = facts.direction == TAL_REVERSE,
                                   [TALI_BODY_ANGLES] = facts.ops->has_quaternion &&
                                                        tal_body_uses_angles(matter, state, body),
                                   [TALI_BODY_LOCK] = (int)tal_body_lock_level(matter, state, body),
                                   [TALI_BODY_FAST] = facts.fast == TAL_LEVEL_FREE       ? 0
                                                      : facts.fast == TAL_LEVEL_VELOCITY ? 1
                                                                                         : 2,
                                   [TALI_BODY_WEIGHTLESS] = is_weightless(w, body),
                                   [TALI_BODY_REFS] = nq}; // of a function-based mobilizer
    const tali_item item = {.row = row,
                            .name = tali_write_body_name(w, body.i),
                            .p = p,
                            .ref = ref,
                            .text = {"origin", "", ""},
                            .lists = {{.values = inertia, .count = 6},
                                      {.values = q, .count = nq},
                                      {.values = u, .count = nu},
                                      {.values = range, .count = limited ? 2 * nq : 0}}};
    tali_write_tag(w, &item);
    tali_sink_put(&w->out, ">");
    if (functions != NULL) put_parts(w, functions, item.name);
    put_coordinates(w, body, nq);
    tali_sink_put(&w->out, "</%s>\n", row->name);
}

// ---- constraints and motions

static void put_end(tali_writer *w, const tali_row *row, const tal_function *f, const char *whose)
{
    if (f == NULL) {
        tali_sink_put(&w->out, "/>\n");
        return;
    }
    tali_sink_put(&w->out, ">");
    tali_write_function(w, f, whose);
    tali_sink_put(&w->out, "</%s>\n", row->name);
}

// "rolling sphere on plane" is "sphere on plane contact" with a flag.
static const tali_row *row_of_constraint(const char *kind, bool *rolling)
{
    char plain[64];
    *rolling = strncmp(kind, "rolling ", 8) == 0;
    if (!*rolling) return tali_row_of_kind(TALI_GROUP_CONSTRAINTS, kind);
    (void)snprintf(plain, sizeof plain, "%s contact", kind + 8);
    return tali_row_of_kind(TALI_GROUP_CONSTRAINTS, plain);
}

enum {
    MAX_NUMBERS = 40,
    MAX_REFS = 16
};

static void put_constraint(tali_writer *w, tal_constraint_ix constraint)
{
    const tal_matter *matter = w->model.matter;
    const tal_state *state = w->model.state;
    const tali_constraint_facts facts = tali_constraint_facts_of(matter, constraint);
    const char *name = tal_constraint_name(matter, constraint);
    bool rolling = false;
    const tali_row *row = facts.kind != NULL ? row_of_constraint(facts.kind, &rolling) : NULL;
    if (row == NULL) {
        tali_write_refuse(w, "constraint '%s' is one that no file can describe", name);
        return;
    }
    double p[MAX_NUMBERS] = {tal_constraint_share(matter, state, constraint)};
    int num_params;
    const double *params = tal_constraint_params(matter, state, constraint, &num_params);
    for (int i = 0; i < num_params; ++i) {
        p[1 + i] = params[i];
    }
    int ref[MAX_REFS] = {tal_constraint_is_enabled(matter, state, constraint)};
    tali_mobility_ref mobilities[TAL_MAX_CONSTRAINED_MOBILITIES];
    for (int i = 0; i < facts.num_mobilities; ++i) {
        mobilities[i] = (tali_mobility_ref){facts.mobilities[i].body.i, facts.mobilities[i].i};
    }
    int n = 1, body = 0;
    for (const tali_attribute *a = row->own; a->name != NULL; ++a) {
        if (a->type == TALI_TYPE_BODY) ref[n++] = facts.bodies[body++].i;
        if (a->type == TALI_TYPE_BOOL) ref[n++] = rolling;
        if (a->type == TALI_TYPE_INTEGER) ref[n++] = facts.num_speeds;
        if (a->type != TALI_TYPE_MOBILITY) continue;
        ref[n++] = mobilities[0].body;
        ref[n++] = mobilities[0].index;
    }
    const tali_item item = {.row = row,
                            .name = name,
                            .p = p,
                            .ref = ref,
                            .mobilities = mobilities,
                            .num_mobilities = facts.num_mobilities};
    tali_write_tag(w, &item);
    put_end(w, row, facts.function, name);
}

static void put_motion(tali_writer *w, tal_motion_ix motion)
{
    const tal_matter *matter = w->model.matter;
    const tali_motion_facts facts = tali_motion_facts_of(matter, motion);
    const char *name = tal_motion_name(matter, motion);
    const tali_row *row =
        facts.kind != NULL ? tali_row_of_kind(TALI_GROUP_MOTIONS, facts.kind) : NULL;
    if (row == NULL) {
        tali_write_refuse(w, "motion '%s' is one that no file can describe", name);
        return;
    }
    int num_params;
    const double *params = tal_motion_params(matter, w->model.state, motion, &num_params);
    double p[MAX_NUMBERS];
    for (int i = 0; i < num_params && i < MAX_NUMBERS; ++i) {
        p[i] = params[i];
    }
    int ref[MAX_REFS] = {tal_motion_is_enabled(matter, w->model.state, motion), facts.body.i,
                         facts.mobility < 0, facts.mobility < 0 ? 0 : facts.mobility,
                         (int)facts.level};
    const tali_item item = {.row = row,
                            .name = name,
                            .p = p,
                            .ref = ref,
                            .lists = {{.values = p, .count = num_params}}};
    tali_write_tag(w, &item);
    if (facts.num_functions == 0) {
        tali_sink_put(&w->out, "/>\n");
        return;
    }
    tali_sink_put(&w->out, ">");
    for (int i = 0; i < facts.num_functions; ++i) {
        tali_write_function(w, facts.functions[i], name);
    }
    tali_sink_put(&w->out, "</%s>\n", row->name);
}

// ---- measures

// Values that a State holds.
static tali_list values_of(const tali_writer *w, tal_measure_ix measure,
                           const tali_measure_facts *facts, bool behind_one)
{
    tali_list list = {.shown = facts->values, .count = tal_measure_size(w->model.system, measure)};
    if (facts->variable.i >= 0) {
        const double *stored = tal_var_value(w->model.system, w->model.state, facts->variable);
        list.shown = stored + (behind_one ? 1 : 0);
    } else if (facts->z.i >= 0) {
        list.shown = tal_state_z(w->model.state) +
                     tal_group_start(w->model.system, w->model.state, facts->z);
    } else if (facts->values == NULL) {
        list.count = 0;
    }
    return list;
}

static void put_mechanical(tali_writer *w, tal_measure_ix measure, const tali_row *row,
                           const tali_matter_measure_facts *facts)
{
    double p[6];
    memcpy(p, facts->points, sizeof p);
    int ref[MAX_REFS], n = 0, body = 0;
    for (const tali_attribute *a = row->own; a != NULL && a->name != NULL; ++a) {
        if (a->type == TALI_TYPE_BODY) ref[n++] = facts->bodies[body++].i;
        if (a->type == TALI_TYPE_CONSTRAINT) ref[n++] = facts->constraint.i;
        if (a->type == TALI_TYPE_INTEGER) ref[n++] = facts->i;
        if (a->type != TALI_TYPE_MOBILITY) continue;
        ref[n++] = facts->bodies[0].i;
        ref[n++] = facts->i;
    }
    const tali_item item = {
        .row = row, .name = tal_measure_name(w->model.system, measure), .p = p, .ref = ref};
    tali_write_tag(w, &item);
    tali_sink_put(&w->out, "/>\n");
}

static void put_measure(tali_writer *w, tal_measure_ix measure)
{
    const tal_system *system = w->model.system;
    const char *name = tal_measure_name(system, measure), *kind = tal_measure_kind(system, measure);
    tali_measure_facts facts;
    tali_matter_measure_facts mechanical;
    const bool is_mechanical = tali_matter_measure_facts_of(system, measure, &mechanical);
    const bool known = is_mechanical || tali_measure_facts_of(system, measure, &facts);
    const tali_row *row = known ? tali_row_of_kind(TALI_GROUP_MEASURES, kind) : NULL;
    if (is_mechanical && row != NULL) {
        put_mechanical(w, measure, row, &mechanical);
        return;
    }
    if (row == NULL ||
        tal_measure_owner(system, measure).i != tal_matter_subsystem(w->model.matter).i) {
        tali_write_refuse(w, "measure '%s' is of kind '%s'%s, which no file can describe", name,
                          kind, row != NULL ? " and not of matter" : "");
        return;
    }
    int ref[MAX_REFS], n = 0, operand = 0;
    for (const tali_attribute *a = row->own; a != NULL && a->name != NULL; ++a) {
        if (a->type == TALI_TYPE_MEASURE) ref[n++] = facts.operands[operand++].i;
        if (a->type == TALI_TYPE_INTEGER) ref[n++] = facts.capacity;
        if (a->type != TALI_TYPE_WORD) continue;
        ref[n++] = strcmp(kind, "extreme") == 0 ? (int)facts.which
                                                : (int)facts.invalidates - (int)TAL_STAGE_MODEL;
    }
    const tali_item item = {.row = row,
                            .name = name,
                            .p = facts.numbers,
                            .ref = ref,
                            .lists = {values_of(w, measure, &facts, strcmp(kind, "hold") == 0)}};
    tali_write_tag(w, &item);
    tali_sink_put(&w->out, "/>\n");
}

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
    frame_to(&X_BS, p);
    memcpy(p + 12, &material, 6 * sizeof *p);
    memcpy(p + 18, &shape.size, sizeof shape.size);
    p[18 + sizes[shape.kind]] = shape.kind == TAL_SHAPE_MESH ? 1.0 : shape.edge_radius;
    int ref[] = {tal_contact_surface_body(forces, contact, surface).i, 0, clique};
    // rows stand in the order of tal_shape_kind
    const tali_item item = {
        .row = &tali_surface_rows[(int)shape.kind], .name = name, .p = p, .ref = ref, .text = {""}};
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

static void put_force(tali_writer *w, tal_force_ix force)
{
    const tal_forces *forces = w->model.forces;
    const char *name = tal_force_name(forces, force), *kind = tal_force_kind(forces, force);
    tali_force_facts facts;
    const bool known = tali_force_facts_of(forces, force, &facts);
    const tali_row *row = known ? tali_row_of_kind(TALI_GROUP_FORCES, kind) : NULL;
    if (row == NULL) {
        tali_write_refuse(w, "force '%s' is of kind '%s', which no file can describe", name, kind);
        return;
    }
    if (facts.contact != NULL) {
        put_contact(w, force, facts.contact);
        return;
    }
    if (strcmp(kind, "discrete forces") == 0) check_discrete(w, force, name);
    double p[MAX_NUMBERS];
    for (int i = 0; i < tal_force_num_params(forces, force) && i < MAX_NUMBERS; ++i) {
        p[i] = tal_force_param(forces, w->model.state, force, i);
    }
    int ref[MAX_REFS] = {tal_force_is_enabled(forces, w->model.state, force)};
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
    const tali_item item = {.row = row, .name = name, .p = p, .ref = ref};
    tali_write_tag(w, &item);
    put_end(w, row, facts.function, name);
}

// ---- stops

static void put_stop(tali_writer *w, tal_event_ix event)
{
    const tal_run_stop *stop = tal_event_stop(w->model.system, event);
    if (stop == NULL) {
        tali_write_refuse(w, "event '%s' calls a function, which no file can describe",
                          tal_event_name(w->model.system, event));
        return;
    }
    double value = stop->value, p[] = {stop->window, stop->separation};
    int ref[] = {tal_event_is_active(w->model.system, w->model.state, event), stop->measure.i};
    const int which = stop->measure.i < 0                      ? 3
                      : stop->crossing == TAL_CROSSING_FALLING ? 0
                      : stop->crossing == TAL_CROSSING_RISING  ? 1
                                                               : 2;
    tali_item item = {.row = &tali_stop_rows[0],
                      .name = tal_event_name(w->model.system, event),
                      .p = p,
                      .ref = ref,
                      .text = {stop->message != NULL ? stop->message : ""}};
    item.lists[which] = (tali_list){.values = &value, .count = 1};
    tali_write_tag(w, &item);
    tali_sink_put(&w->out, "/>\n");
}

// Subsystems that a file has no word for: besides matter and forces it may have one for events.
static void check_subsystems(tali_writer *w)
{
    const tal_system *system = w->model.system;
    const tal_subsystem_ix events = tal_system_find_subsystem(system, "events");
    for (int i = 0; i < tal_system_num_subsystems(system); ++i) {
        if (i == tal_matter_subsystem(w->model.matter).i ||
            i == tal_forces_subsystem(w->model.forces).i || i == events.i) {
            continue;
        }
        tali_write_refuse(w, "subsystem '%s' is one that no file can describe",
                          tal_subsystem_name(system, (tal_subsystem_ix){i}));
    }
    for (int i = 0; i < tal_system_num_events(system); ++i) {
        const tal_event_ix event = {i};
        if (tal_event_stop(system, event) == NULL) put_stop(w, event); // refuses it by name
    }
}

// ---- markers

static void put_markers(tali_writer *w)
{
    const tal_allocator allocator = tal_system_allocator(w->model.system);
    tali_name_map names = {.allocator = allocator};
    for (int i = 0; i < w->model.num_markers && w->status == TAL_OK; ++i) {
        const tal_marker *marker = &w->model.markers[i];
        const char *name = marker->name != NULL ? marker->name : "";
        double p[] = {marker->p_BS.x, marker->p_BS.y, marker->p_BS.z, marker->weight};
        int ref[] = {marker->body.i};
        if (*name == '\0' || strlen(name) > TAL_MAX_NAME || tali_name_map_find(&names, name) >= 0) {
            tali_write_refuse(w, "marker %d '%.60s' has no name of its own", i, name);
        } else if (ref[0] < 0 || ref[0] >= tal_matter_num_bodies(w->model.matter)) {
            tali_write_refuse(w, "marker '%s' is on body %d, which does not exist", name, ref[0]);
        } else if (!tal_v3_is_finite(marker->p_BS) || !(marker->weight >= 0.0) ||
                   isinf(marker->weight)) {
            tali_write_refuse(w, "marker '%s' is at (%g, %g, %g) with weight %g", name, p[0], p[1],
                              p[2], p[3]);
        } else if (!tali_name_map_add(&names, name, i)) {
            w->status = tali_fail(w->err, TAL_ERR_NO_MEMORY, "tal_model_write", "no memory");
        }
        const tali_item item = {.row = &tali_marker_rows[0], .name = name, .p = p, .ref = ref};
        if (w->status == TAL_OK) tali_write_tag(w, &item);
        tali_sink_put(&w->out, "/>\n");
    }
    tali_name_map_free(&names);
}

// ---- decorations

static void put_decoration(tali_writer *w, const tal_decoration *d)
{
    double p[20] = {0.0};
    frame_to(&d->X_BD, p);
    memcpy(p + 12, &d->color, sizeof d->color);
    p[15] = d->opacity;
    p[16] = d->scale;
    const tal_vec3 *numbers = d->kind == TAL_DECORATION_LINE ? &d->end : &d->size;
    memcpy(p + 17, numbers, sizeof *numbers);
    int ref[] = {d->body.i};
    // rows stand in the order of tal_decoration_kind
    const tali_item item = {.row = &tali_decoration_rows[(int)d->kind],
                            .p = p,
                            .ref = ref,
                            .text = {d->text != NULL ? d->text : ""}};
    tali_write_tag(w, &item);
    tali_sink_put(&w->out, "/>\n");
}

// ---- the whole

static void open_section(tali_writer *w, const char *name, int count)
{
    if (count > 0) tali_sink_put(&w->out, "  <%s>\n", name);
}

static void close_section(tali_writer *w, const char *name, int count)
{
    if (count > 0) tali_sink_put(&w->out, "  </%s>\n", name);
}

static void put_matter(tali_writer *w)
{
    const tal_matter *matter = w->model.matter;
    const int num_bodies = tal_matter_num_bodies(matter) - 1;
    const int num_constraints = tal_matter_num_constraints(matter);
    const int num_motions = tal_matter_num_motions(matter);
    open_section(w, "bodies", num_bodies);
    for (int i = 1; i <= num_bodies; ++i) {
        put_body(w, (tal_body_ix){i});
    }
    close_section(w, "bodies", num_bodies);
    open_section(w, "constraints", num_constraints);
    for (int i = 0; i < num_constraints; ++i) {
        put_constraint(w, (tal_constraint_ix){i});
    }
    close_section(w, "constraints", num_constraints);
    open_section(w, "motions", num_motions);
    for (int i = 0; i < num_motions; ++i) {
        put_motion(w, (tal_motion_ix){i});
    }
    close_section(w, "motions", num_motions);
}

static void put_model(tali_writer *w)
{
    const tal_system *system = w->model.system;
    check_subsystems(w);
    const double numbers[] = {tal_state_t(w->model.state), tal_system_time_scale(system)};
    tali_sink_put(&w->out, "<talus version=\"1\" name=\"");
    tali_write_text(w, tal_system_name(system));
    tali_sink_put(&w->out, "\"");
    tali_write_list(w, "time", numbers, 1, 1);
    tali_write_list(w, "time_scale", numbers + 1, 1, 1);
    tali_sink_put(&w->out, ">\n");
    put_matter(w);

    const int num_measures = tal_system_num_measures(system);
    open_section(w, "measures", num_measures);
    for (int i = 0; i < num_measures; ++i) {
        put_measure(w, (tal_measure_ix){i});
    }
    close_section(w, "measures", num_measures);
    const int num_forces = tal_forces_num(w->model.forces);
    open_section(w, "forces", num_forces);
    for (int i = 0; i < num_forces; ++i) {
        const tal_force_ix force = {i};
        const bool gravity = strcmp(tal_force_kind(w->model.forces, force), "gravity") == 0;
        if (gravity) {
            put_gravity(w, force);
        } else {
            put_force(w, force);
        }
    }
    close_section(w, "forces", num_forces);
    const int num_stops = tal_system_num_events(system);
    open_section(w, "stops", num_stops);
    for (int i = 0; i < num_stops; ++i) {
        put_stop(w, (tal_event_ix){i});
    }
    close_section(w, "stops", num_stops);
    open_section(w, "markers", w->model.num_markers);
    put_markers(w);
    close_section(w, "markers", w->model.num_markers);
    const int num_decorations = tal_matter_num_decorations(w->model.matter);
    open_section(w, "decorations", num_decorations);
    for (int i = 0; i < num_decorations; ++i) {
        put_decoration(w, tal_matter_decoration(w->model.matter, i));
    }
    close_section(w, "decorations", num_decorations);
    tali_sink_put(&w->out, "</talus>\n");
}

static tal_status check_model(const tal_model *model, const char *where, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    const bool whole = model != NULL && model->system != NULL && model->state != NULL &&
                       model->matter != NULL && model->forces != NULL;
    if (whole &&
        tal_state_structure_hash(model->state) == tal_system_structure_hash(model->system)) {
        return TAL_OK;
    }
    const tal_status st = whole ? TAL_ERR_WRONG_SYSTEM : TAL_ERR_NULL;
    const char *sentence =
        whole ? "the State belongs to another System" : "the model has a NULL in it";
    (void)tali_breach(st, where, "%s", sentence);
    return tali_fail(err, st, where, "%s", sentence);
}

tal_status tal_model_write_memory(const tal_model *model, char text[], size_t size, size_t *length,
                                  tal_error *err)
{
    const tal_status st = check_model(model, __func__, err);
    if (st != TAL_OK) return st;
    tali_writer w = {.model = *model, .out = {text, text != NULL ? size : 0, 0}, .err = err};
    put_model(&w);
    if (length != NULL) *length = w.out.length;
    return w.status;
}

tal_status tal_model_write_file(const tal_model *model, const char *path, tal_error *err)
{
    size_t length = 0;
    tal_status st = tal_model_write_memory(model, NULL, 0, &length, err);
    if (st != TAL_OK) return st;
    if (path == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "path is NULL");
        return TALI_FAIL(err, TAL_ERR_NULL, "path is NULL");
    }
    const tal_allocator allocator = tal_system_allocator(model->system);
    char *text = tali_alloc(&allocator, length + 1);
    if (text == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for %zu bytes", length);
    st = tal_model_write_memory(model, text, length + 1, NULL, err);

    tali_replacement out;
    if (st == TAL_OK) st = tali_replace_begin(&out, path, __func__, err);
    if (st == TAL_OK) {
        (void)fwrite(text, 1, length, out.file); // a failure stays with the file
        st = tali_replace_finish(&out, true, __func__, err);
    }
    tali_free(&allocator, text, length + 1);
    return st;
}
