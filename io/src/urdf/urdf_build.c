// From links and joints to a System and its State.
#include "error_internal.h"

#include "model/model_internal.h"
#include "text/reading_internal.h"
#include "urdf/urdf_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

tal_urdf_options tal_urdf_options_default(void)
{
    tal_urdf_options options = {
        .allocator = tal_allocator_default(), .g = tal_v3(0.0, 0.0, -9.81), .dampers = true};
    options.material = tal_contact_material_default();
    options.material.dissipation = 1.0;
    options.material.static_friction = 0.9;
    options.material.dynamic_friction = 0.8;
    return options;
}

// --- bodies ---

// The frame F in J that has one of its axes along the joint's. Where they agree, F is J.
static tal_mat3 along(tal_axis which, tal_vec3 axis)
{
    const tal_vec3 x = tal_v3(1.0, 0.0, 0.0), y = tal_v3(0.0, 1.0, 0.0), z = tal_v3(0.0, 0.0, 1.0);
    const tal_axis second = which == TAL_AXIS_Z ? TAL_AXIS_X : TAL_AXIS_Y;
    const tal_vec3 wanted = which == TAL_AXIS_Z ? x : y;
    const tal_vec3 other = which == TAL_AXIS_Z ? y : z;
    if (axis.z == 1.0 && which == TAL_AXIS_Z) return TAL_XFORM_IDENTITY.R;
    if (axis.x == 1.0 && which == TAL_AXIS_X) return TAL_XFORM_IDENTITY.R;
    // `wanted` keeps F close to J, unless it is nearly along the axis
    const bool near = fabs(tal_v3_dot(axis, wanted)) > 0.9;
    return tal_rotation_from_two_axes(which, axis, second, near ? other : wanted);
}

// Add a link as a body, with the mobilizer of the joint that it is the child of.
static tal_body_ix add_body(tal_matter *matter, tal_body_ix parent, const tali_urdf_link *link,
                            const tali_urdf_joint *joint)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.name = link->name;
    def.mass = link->mass;
    def.any_inertia = link->any_inertia;
    if (joint == NULL) return tal_matter_add_weld(matter, parent, &def);
    const bool slides = joint->kind == TALI_URDF_PRISMATIC;
    const bool turns = joint->kind == TALI_URDF_REVOLUTE || joint->kind == TALI_URDF_CONTINUOUS ||
                       joint->kind == TALI_URDF_PLANAR;
    tal_xform X_JF = TAL_XFORM_IDENTITY;
    if (turns || slides) X_JF.R = along(slides ? TAL_AXIS_X : TAL_AXIS_Z, joint->axis);
    def.X_PF = tal_xf_mul(joint->X_PJ, X_JF);
    def.X_BM = X_JF;
    switch (joint->kind) {
    case TALI_URDF_REVOLUTE:
    case TALI_URDF_CONTINUOUS:
        return tal_matter_add_pin(matter, parent, &def);
    case TALI_URDF_PRISMATIC:
        return tal_matter_add_slider(matter, parent, &def);
    case TALI_URDF_PLANAR:
        return tal_matter_add_planar(matter, parent, &def);
    case TALI_URDF_FLOATING:
        return tal_matter_add_free(matter, parent, &def);
    case TALI_URDF_FIXED:
        break;
    }
    return tal_matter_add_weld(matter, parent, &def);
}

static void furnish(tali_urdf *u, tal_model *model, tal_body_ix body, const tali_urdf_joint *joint)
{
    const int nu = tal_body_nu(model->matter, body);
    if (nu == 1) (void)tal_body_name_coordinate(model->matter, body, 0, joint->name);
    if (nu == 1 && joint->has_q0) (void)tal_body_set_initial_q(model->matter, body, &joint->q0, 1);
    if (joint->limited) {
        (void)tal_body_limit_coordinate(model->matter, body, 0, joint->lower, joint->upper);
    }
    if (joint->damping == 0.0 || !u->options.dampers) return;
    for (int i = 0; i < nu; ++i) {
        char name[TAL_MAX_NAME + 1];
        (void)snprintf(name, sizeof name, "damper%d.%d", body.i, i);
        const tal_mobility mobility = {body, i};
        (void)tal_forces_add_mobility_damper(model->forces, name, mobility, joint->damping);
    }
}

// Coordinates of a free body that say where it is: "base_tx", "base_ty", "base_tz".
static void name_position(tali_urdf *u, tal_model *model, const tali_urdf_link *link)
{
    for (int i = 0; i < 3; ++i) {
        char name[TAL_MAX_NAME + 8];
        const int length = snprintf(name, sizeof name, "%s_t%c", link->name, "xyz"[i]);
        if (length > TAL_MAX_NAME || tali_name_map_find(&u->joint_names, name) >= 0) continue;
        (void)tal_body_name_coordinate(model->matter, link->body, 4 + i, name);
    }
}

static bool is_ground(const tali_urdf_link *root)
{
    return strcmp(root->name, "world") == 0 || strcmp(root->name, "ground") == 0;
}

// The root moves freely, or is part of Ground. One named "world" or "ground" is Ground; what is
// fixed to it moves freely then.
static void add_root(tali_urdf *u, tal_model *model)
{
    tali_urdf_link *root = &u->links[u->root];
    const bool is_free = u->options.free_base;
    if (!is_ground(root)) {
        tali_urdf_joint base = {.kind = TALI_URDF_FLOATING, .X_PJ = TAL_XFORM_IDENTITY};
        root->body = add_body(model->matter, TAL_GROUND, root, is_free ? &base : NULL);
        if (is_free && root->body.i > 0) name_position(u, model, root);
        return;
    }
    root->body = TAL_GROUND;
    for (int i = 0; i < u->num_joints && is_free; ++i) {
        tali_urdf_joint *joint = &u->joints[i];
        const bool is_fixed = joint->kind == TALI_URDF_FIXED;
        if (joint->parent == u->root && is_fixed) joint->kind = TALI_URDF_FLOATING;
    }
}

static void add_bodies(tali_urdf *u, tal_model *model, const tal_graph_step steps[])
{
    add_root(u, model);
    for (int k = 1; k < u->num_links; ++k) {
        tali_urdf_link *link = &u->links[steps[k].body - 1];
        const tali_urdf_joint *joint = &u->joints[link->joint];
        link->body = add_body(model->matter, u->links[joint->parent].body, link, joint);
        if (link->body.i < 0) return;
        furnish(u, model, link->body, joint);
        if (joint->kind == TALI_URDF_FLOATING) name_position(u, model, link);
    }
}

// 0 = multiplier q_leader - q + offset
static tal_status add_mimics(tali_urdf *u, tal_model *model, tal_error *err)
{
    for (int i = 0; i < u->num_joints; ++i) {
        const tali_urdf_joint *joint = &u->joints[i];
        if (joint->leader < 0 || !tali_urdf_has_coordinate(joint->kind) ||
            !tali_urdf_has_coordinate(u->joints[joint->leader].kind)) {
            continue; // of what is held for want of mass too
        }
        tal_constraint_def def = tal_constraint_def_default();
        def.name = joint->name;
        def.num_mobilities = 2;
        def.mobilities[0].body = u->links[u->joints[joint->leader].child].body;
        def.mobilities[1].body = u->links[joint->child].body;
        const double a[] = {joint->multiplier, -1.0};
        tal_function *f = NULL;
        const tal_status st =
            tal_function_create_linear(&u->options.allocator, a, 2, joint->offset, &f, err);
        if (st != TAL_OK) return st;
        (void)tal_constraint_add_coordinate_coupler(model->matter, &def, f);
    }
    return TAL_OK;
}

// --- the tree ---

// The order in which to add links: level by level from the root, which is body 1 of the graph.
static tal_graph_step *find_order(tali_urdf *u)
{
    const int bodies = u->num_links + 1, joints = u->num_joints + 1;
    tal_graph_joint *graph = tali_arena_take(&u->arena, (size_t)joints * sizeof *graph);
    tal_graph_step *steps = tali_arena_take(&u->arena, (size_t)bodies * sizeof *steps);
    int *closing = tali_arena_take(&u->arena, (size_t)joints * sizeof *closing);
    int *work = tali_arena_take(&u->arena, (size_t)bodies * sizeof *work);
    if (graph == NULL || steps == NULL || closing == NULL || work == NULL) {
        u->no_memory = true;
        return NULL;
    }
    for (int i = 0; i < u->num_joints; ++i) {
        graph[i] = (tal_graph_joint){u->joints[i].parent + 1, u->joints[i].child + 1, false};
    }
    graph[joints - 1] = (tal_graph_joint){0, u->root + 1, false};
    int num_closing = 0;
    tal_error err = {TAL_OK, "", ""};
    if (tal_graph_span(NULL, bodies, graph, joints, steps, closing, &num_closing, work, &err) !=
        TAL_OK) {
        tali_xml_error(u->xml, u->xml->root, NULL, u->found, "%s", err.message);
        return NULL;
    }
    return steps;
}

// Each link is the child of one joint and there is one root, so links that the root does not carry
// hang on each other in a circle.
static bool check_tree(tali_urdf *u, const tal_graph_step steps[])
{
    for (int k = 0; k < u->num_links; ++k) {
        if (steps[k].joint >= 0) continue;
        const tali_urdf_link *link = &u->links[steps[k].body - 1];
        tali_xml_error(u->xml, link->element, NULL, u->found,
                       "link '%s' is not connected to the root '%s': joints form a loop",
                       link->name, u->links[u->root].name);
        return false;
    }
    return true;
}

// What moves must have mass, or carry some; otherwise it is held.
static void check_mass(tali_urdf *u, const tal_graph_step steps[])
{
    for (int i = 0; i < u->num_links; ++i) {
        u->links[i].carried = u->links[i].mass.mass;
    }
    for (int k = u->num_links - 1; k > 0; --k) {
        const tali_urdf_link *link = &u->links[steps[k].body - 1];
        tali_urdf_joint *joint = &u->joints[link->joint];
        u->links[joint->parent].carried += link->carried;
        if (link->carried > 0.0 || joint->kind == TALI_URDF_FIXED) continue;
        tali_urdf_object_to(u,
                            "joints are held fixed, because the links that they move have no mass",
                            joint->element, joint->name);
        joint->kind = TALI_URDF_FIXED;
        joint->limited = false;
        joint->damping = 0.0;
    }
    const tali_urdf_link *root = &u->links[u->root];
    if (!u->options.free_base || root->carried > 0.0) return;
    tali_urdf_error(u, root->element, NULL, ": the base cannot move freely: no link has mass");
}

// --- the System ---

static void report(tali_urdf *u, tal_status st, const tal_error *err)
{
    u->no_memory = u->no_memory || st == TAL_ERR_NO_MEMORY;
    tal_diagnostics_add(u->found, TAL_ERROR, u->xml->file, 0, 0, "%s", err->message);
}

// An empty System, named after the robot, with what it is made of.
static tal_status begin_system(tali_urdf *u, tal_model *model, tal_error *err)
{
    const tali_xml_attribute *name = tali_xml_find(u->xml->root, "name");
    tal_system_def def = tal_system_def_default();
    def.allocator = u->options.allocator;
    if (name != NULL && tali_text_name_flaw(name->value) == NULL) def.name = name->value;
    model->system = tal_system_create(&def);
    model->kept = tali_model_kept_create(&u->options.allocator);
    if (model->system == NULL || model->kept == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "memory ran out");
    }
    model->matter = tal_matter_create(model->system);
    if (model->matter != NULL) model->forces = tal_forces_create(model->system, model->matter);
    *err = *tal_system_error(model->system);
    return err->status;
}

static tal_status fill_system(tali_urdf *u, tal_model *model, const tal_graph_step steps[],
                              tal_error *err)
{
    (void)tal_forces_add_gravity(model->forces, u->options.g);
    add_bodies(u, model, steps);
    *err = *tal_system_error(model->system);
    if (err->status != TAL_OK) return err->status;
    tali_urdf_add_shapes(u, model);
    if (u->options.fixed_memory) (void)tal_fixed_memory_create(model->system);
    return add_mimics(u, model, err);
}

void tali_urdf_build(tali_urdf *u, tal_model *model)
{
    const tal_graph_step *steps = find_order(u);
    if (steps == NULL || !check_tree(u, steps)) return;
    check_mass(u, steps);
    if (tal_diagnostics_num_errors(u->found) > 0) return;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = begin_system(u, model, &err);
    if (st == TAL_OK) st = fill_system(u, model, steps, &err);
    if (st == TAL_OK) st = tal_system_realize_topology(model->system, &err);
    if (st == TAL_OK) st = tal_state_create(model->system, &model->state, &err);
    if (st == TAL_OK) {
        st = tal_system_realize(model->system, model->state, TAL_STAGE_MODEL);
        err = *tal_state_error(model->state);
    }
    if (st != TAL_OK) {
        report(u, st, &err);
        return;
    }
    u->num_refused += tali_model_set_starts(model->matter, model->state, u->options.starts,
                                            u->options.num_starts, u->xml->file, u->found);
}

// --- entry points ---

// Where relative paths begin; NULL when that is nowhere.
static const char *find_folder(tali_urdf *u, const char *path, bool in_memory)
{
    if (u->options.folder != NULL || in_memory) return u->options.folder;
    const char *slash = strrchr(path, '/');
    if (slash == NULL) return ".";
    const char *folder = tali_arena_copy(&u->arena, path, (size_t)(slash - path));
    u->no_memory = u->no_memory || folder == NULL;
    return folder;
}

// From a file or a text to a model: document, links and joints, System, State.
static tal_status read_robot(const char *path, const char *text, size_t size,
                             const tal_urdf_options *options, tal_model *model,
                             tal_diagnostics *found)
{
    tali_urdf u = {.options = options != NULL ? *options : tal_urdf_options_default()};
    const tal_allocator *allocator = &u.options.allocator;
    u.arena = tali_arena_make(allocator);
    u.link_names.allocator = u.joint_names.allocator = u.color_names.allocator = *allocator;
    u.found = tal_diagnostics_create(allocator);
    if (u.found == NULL) return TAL_ERR_NO_MEMORY;
    tal_status st = text == NULL
                        ? tali_xml_read_file(path, NULL, allocator, &u.xml, u.found)
                        : tali_xml_read_memory(path, text, size, NULL, allocator, &u.xml, u.found);
    if (st == TAL_OK) {
        u.folder = find_folder(&u, path, text != NULL);
        tali_urdf_read(&u);
        if (!u.no_memory && tal_diagnostics_num_errors(u.found) == 0) tali_urdf_build(&u, model);
        tali_urdf_tell(&u);
    }
    u.no_memory = u.no_memory || st == TAL_ERR_NO_MEMORY;
    if (u.no_memory) tal_diagnostics_add(u.found, TAL_ERROR, path, 0, 0, "memory ran out");
    const bool good = tal_diagnostics_num_errors(u.found) == 0;
    const bool is_misused = u.num_refused == tal_diagnostics_num_errors(u.found);
    if (!good) tal_model_destroy(model);
    for (int i = 0; found != NULL && i < tal_diagnostics_num(u.found); ++i) {
        const tal_diagnostic *d = tal_diagnostics_at(u.found, i);
        tal_diagnostics_add(found, d->severity, d->file, d->line, d->column, "%s", d->message);
    }
    tali_name_map_free(&u.link_names);
    tali_name_map_free(&u.joint_names);
    tali_name_map_free(&u.color_names);
    tali_xml_destroy(u.xml);
    tali_arena_free(&u.arena);
    tal_diagnostics_destroy(u.found);
    if (good) return TAL_OK;
    return u.no_memory ? TAL_ERR_NO_MEMORY : is_misused ? TAL_ERR_BAD_VALUE : TAL_ERR_FILE;
}

tal_status tal_urdf_read_file(const char *path, const tal_urdf_options *options, tal_model *model,
                              tal_diagnostics *found)
{
    if (model != NULL) *model = (tal_model){.system = NULL};
    const tal_status st = tali_reading_check(
        path, path, model, options != NULL ? &options->allocator : NULL, __func__);
    return st == TAL_OK ? read_robot(path, NULL, 0, options, model, found) : st;
}

tal_status tal_urdf_read_memory(const char *name, const char *text, size_t size,
                                const tal_urdf_options *options, tal_model *model,
                                tal_diagnostics *found)
{
    if (model != NULL) *model = (tal_model){.system = NULL};
    const tal_status st = tali_reading_check(
        name, text, model, options != NULL ? &options->allocator : NULL, __func__);
    return st == TAL_OK ? read_robot(name, text, size, options, model, found) : st;
}
