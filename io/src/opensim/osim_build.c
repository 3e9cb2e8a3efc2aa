// From bodies, joints and the rest to a System and its State.
#include "error_internal.h"

#include "model/model_internal.h"
#include "opensim/osim_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- bodies and their mobilizers ---

// The functions of a CustomJoint become those of a mobilizer, which owns them from then on.
static tal_function_based *make_custom(tali_osim *o, tali_osim_joint *joint, int num)
{
    tal_function_based_def def = tal_function_based_def_default();
    def.nq = num;
    for (int k = 0; k < 6; ++k) {
        const tali_osim_axis *axis = &joint->axes[k];
        tal_mobilizer_function *term = k < 3 ? &def.rotation[k] : &def.translation[k - 3];
        *(k < 3 ? &def.rotation_axis[k] : &def.translation_axis[k - 3]) = axis->axis;
        term->function = axis->function;
        if (axis->function == NULL) continue;
        // a constant has one argument, which may be any
        term->num_coords = axis->num > 0 ? axis->num : 1;
        memcpy(term->coords, axis->coords, sizeof axis->coords);
    }
    tal_function_based *made = NULL;
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = tal_function_based_create(&def, &o->options.allocator, &made, &err);
    if (st != TAL_OK) tali_osim_error(o, joint->element, ": %s", err.message);
    o->no_memory = o->no_memory || st == TAL_ERR_NO_MEMORY;
    for (int k = 0; k < 6 && st == TAL_OK; ++k) {
        joint->axes[k].function = NULL;
    }
    return made;
}

// The table of a joint's mobilizer, and what goes with it.
typedef struct mobilizer {
    const tal_mobilizer_ops *ops;
    void *self;
    const double *params;
} mobilizer;

// Whether a lock, a motion or a constraint names one of a joint's coordinates: then u = qdot. The
// winging of a shoulder blade is a pin in any case.
static bool needs_rates(const tali_osim *o, const tali_osim_joint *joint)
{
    const int num = joint->kind == TALI_OSIM_SCAPULOTHORACIC ? 3 : joint->num;
    for (int i = 0; i < num; ++i) {
        const tali_osim_coordinate *q = &o->coordinates[joint->first + i];
        if (q->locked || q->coupled || q->prescribed != NULL) return true;
    }
    return false;
}

static mobilizer custom_mobilizer(tali_osim *o, tali_osim_joint *joint, int num)
{
    tal_function_based *made = o->no_memory ? NULL : make_custom(o, joint, num);
    return (mobilizer){made != NULL ? tal_function_based_ops(made) : NULL, made, NULL};
}

// Of the first three coordinates of a joint.
static mobilizer ellipsoid_of(tali_osim *o, tali_osim_joint *joint, bool rates)
{
    if (!rates) return (mobilizer){tal_mobilizer_ellipsoid(), NULL, &joint->radii.x};
    tali_osim_spread_ellipsoid(o, joint);
    return custom_mobilizer(o, joint, 3);
}

// Joints of all kinds; ball and free joints and ellipsoids in two ways.
static mobilizer mobilizer_of(tali_osim *o, tali_osim_joint *joint)
{
    const bool rates = needs_rates(o, joint);
    switch (joint->kind) {
    case TALI_OSIM_PIN:
        return (mobilizer){tal_mobilizer_pin(), NULL, NULL};
    case TALI_OSIM_SLIDER:
        return (mobilizer){tal_mobilizer_slider(), NULL, NULL};
    case TALI_OSIM_UNIVERSAL:
        return (mobilizer){tal_mobilizer_universal(), NULL, NULL};
    case TALI_OSIM_GIMBAL:
        return (mobilizer){tal_mobilizer_gimbal(), NULL, NULL};
    case TALI_OSIM_BALL:
        return (mobilizer){rates ? tal_mobilizer_gimbal() : tal_mobilizer_ball(), NULL, NULL};
    case TALI_OSIM_PLANAR:
        return (mobilizer){tal_mobilizer_planar(), NULL, NULL};
    case TALI_OSIM_FREE:
        return (mobilizer){rates ? tal_mobilizer_bushing() : tal_mobilizer_free(), NULL, NULL};
    case TALI_OSIM_ELLIPSOID:
    case TALI_OSIM_SCAPULOTHORACIC: // of the body in between
        return ellipsoid_of(o, joint, rates);
    case TALI_OSIM_CUSTOM:
        return custom_mobilizer(o, joint, joint->num);
    case TALI_OSIM_WELD:
        break;
    }
    return (mobilizer){tal_mobilizer_weld(), NULL, NULL};
}

// Frames and direction of a joint whose inboard body is its parent, or its child if reversed.
static tal_mobod_def define_joint(const tali_osim_joint *joint, bool reversed)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.X_PF = reversed ? joint->X_CM : joint->X_PF;
    def.X_BM = reversed ? joint->X_PF : joint->X_CM;
    def.direction = reversed ? TAL_REVERSE : TAL_FORWARD;
    def.use_angles = true;
    return def;
}

// A shoulder blade: a body without mass slides on the thorax, and the blade turns on it about z of
// the winging frame. The ellipsoid's frames are turned by a right angle about z. Built the other
// way round if the blade is the inboard body.
static tal_body_ix add_scapula(tali_osim_joint *joint, tal_model *model, const mobilizer *ellipsoid,
                               const tal_mobod_def *outer, tal_body_ix inboard)
{
    static const double right = 1.57079632679489661923;
    const tal_xform X_turn = tali_osim_xform(tal_v3(0.0, 0.0, right), TAL_VEC3_ZERO);
    const tali_osim_joint slide = {.X_PF = tal_xf_mul(joint->X_PF, X_turn), .X_CM = X_turn};
    const tali_osim_joint wing = {.X_PF = joint->X_EW,
                                  .X_CM = tal_xf_mul(joint->X_CM, joint->X_EW)};
    const mobilizer pin = {tal_mobilizer_pin(), NULL, NULL};
    const bool reversed = outer->direction == TAL_REVERSE;
    const mobilizer *one = reversed ? &pin : ellipsoid, *two = reversed ? ellipsoid : &pin;
    char name[TAL_MAX_NAME + 1];
    (void)snprintf(name, sizeof name, "%.50s_sliding", joint->name);
    tal_mobod_def first = define_joint(reversed ? &wing : &slide, reversed);
    tal_mobod_def second = define_joint(reversed ? &slide : &wing, reversed);
    first.name = name;
    second.name = outer->name;
    second.mass = outer->mass;
    second.any_inertia = outer->any_inertia;
    joint->between =
        tal_matter_add_mobilizer(model->matter, inboard, &first, one->ops, one->self, one->params);
    return tal_matter_add_mobilizer(model->matter, joint->between, &second, two->ops, two->self,
                                    two->params);
}

// Add the body at the outboard end of a joint.
static void add_body(tali_osim *o, tal_model *model, const tal_graph_step *step)
{
    tali_osim_joint *joint = &o->joints[step->joint];
    tali_osim_body *body = &o->bodies[step->body];
    const mobilizer m = mobilizer_of(o, joint);
    if (m.ops == NULL) return;
    tal_mobod_def def = define_joint(joint, step->reversed);
    def.name = body->name;
    def.mass = body->mass;
    def.any_inertia = body->any_inertia;
    const tal_body_ix inboard = o->bodies[step->inboard].body;
    body->body = joint->body =
        joint->kind == TALI_OSIM_SCAPULOTHORACIC
            ? add_scapula(joint, model, &m, &def, inboard)
            : tal_matter_add_mobilizer(model->matter, inboard, &def, m.ops, m.self, m.params);
}

// A joint that closes a loop: its child is cut in two halves that are welded together.
static void close_loop(tali_osim *o, tal_model *model, int number)
{
    tali_osim_joint *joint = &o->joints[number];
    const bool reversed = joint->child == 0;
    const tal_body_ix split = o->bodies[reversed ? joint->parent : joint->child].body;
    const tal_body_ix base = o->bodies[reversed ? joint->child : joint->parent].body;
    if (joint->kind == TALI_OSIM_WELD) {
        tal_constraint_def weld =
            tal_constraint_between(o->bodies[joint->parent].body, o->bodies[joint->child].body);
        weld.name = joint->name;
        (void)tal_constraint_add_weld(model->matter, &weld, &joint->X_PF, &joint->X_CM);
        joint->body = split;
        return;
    }
    if (joint->kind == TALI_OSIM_SCAPULOTHORACIC) {
        tali_osim_error(o, joint->element,
                        " closes a loop, which this kind cannot: let another joint close it");
        return;
    }
    const mobilizer m = mobilizer_of(o, joint);
    if (m.ops == NULL) return;
    tal_mobod_def def = define_joint(joint, reversed);
    def.name = joint->name;
    joint->body =
        tal_matter_split_body(model->matter, split, base, &def, m.ops, m.self, m.params, NULL);
}

// --- coordinates ---

// Those of a shoulder blade belong to two bodies: three to the ellipsoid's, the last to the pin's.
static tal_mobility mobility_of(const tali_osim *o, const tali_osim_coordinate *q)
{
    const tali_osim_joint *joint = &o->joints[q->joint];
    if (joint->kind != TALI_OSIM_SCAPULOTHORACIC) return (tal_mobility){joint->body, q->i};
    const bool wings = q->i == 3, reversed = o->bodies[joint->parent].body.i == joint->body.i;
    return (tal_mobility){wings == reversed ? joint->between : joint->body, wings ? 0 : q->i};
}

static void furnish_coordinate(tali_osim *o, tal_model *model, tali_osim_coordinate *q)
{
    q->mobility = mobility_of(o, q);
    const tal_body_ix body = q->mobility.body;
    const int i = q->mobility.i;
    (void)tal_body_name_coordinate(model->matter, body, i, q->name);
    if (q->clamped) (void)tal_body_limit_coordinate(model->matter, body, i, q->low, q->high);
    if (q->prescribed == NULL) return;
    tal_motion_def def = tal_motion_def_default();
    def.name = q->name;
    def.body = body;
    def.mobility = i;
    tal_function *f = q->prescribed;
    q->prescribed = NULL; // adopted whether it succeeds or not
    (void)tal_matter_add_motion_functions(model->matter, &def, &f, 1);
}

static void furnish_joint(tali_osim *o, tal_model *model, const tali_osim_joint *joint)
{
    double q[TAL_MAX_NU], u[TAL_MAX_NU];
    int n = 0;
    for (int i = 0; i < joint->num; ++i) {
        tali_osim_coordinate *it = &o->coordinates[joint->first + i];
        furnish_coordinate(o, model, it);
        q[n] = it->value;
        u[n++] = it->speed;
        const tal_body_ix body = it->mobility.body;
        const bool is_last = i + 1 == joint->num;
        if (!is_last && mobility_of(o, it + 1).body.i == body.i) continue;
        (void)tal_body_set_initial_q(model->matter, body, q, n);
        (void)tal_body_set_initial_u(model->matter, body, u, n);
        n = 0;
    }
}

static void lock_coordinates(tali_osim *o, tal_model *model)
{
    for (int i = 0; i < o->num_coordinates; ++i) {
        const tali_osim_coordinate *q = &o->coordinates[i];
        if (!q->locked) continue;
        (void)tal_mobility_lock_at(model->matter, model->state, q->mobility, TAL_LEVEL_POSITION,
                                   q->value);
    }
}

// --- the tree ---

static void add_bodies(tali_osim *o, tal_model *model, const tali_osim_tree *t)
{
    o->bodies[0].body = TAL_GROUND;
    for (int k = 0; k < o->num_bodies - 1; ++k) {
        add_body(o, model, &t->steps[k]);
        if (o->bodies[t->steps[k].body].body.i < 1) return; // a failure, which the System has
    }
    for (int k = 0; k < t->num_closing; ++k) {
        close_loop(o, model, t->closing[k]);
        if (o->joints[t->closing[k]].body.i < 1) return;
    }
    // in the order of bodies, as model files have it: the State keeps ranges in the order of calls
    for (int k = 0; k < o->num_bodies - 1; ++k) {
        furnish_joint(o, model, &o->joints[t->steps[k].joint]);
    }
    for (int k = 0; k < t->num_closing; ++k) {
        furnish_joint(o, model, &o->joints[t->closing[k]]);
    }
}

// --- markers ---

static bool add_markers(tali_osim *o, tal_model *model)
{
    tali_arena *arena = &model->kept->arena;
    tal_marker *markers = tali_arena_take(arena, (size_t)o->num_markers * sizeof *markers);
    if (markers == NULL) return false;
    model->markers = markers;
    for (int i = 0; i < o->num_markers; ++i) {
        const tali_osim_marker *it = &o->markers[i];
        const char *name = tali_arena_copy(arena, it->name, strlen(it->name));
        if (name == NULL) return false;
        markers[i] = (tal_marker){name, o->bodies[it->body].body, it->p_BS, 1.0};
        model->num_markers = i + 1;
    }
    return true;
}

// The names of joints, for writing the model again: of each body that of its own joint.
static bool keep_joint_names(tali_osim *o, tal_model *model)
{
    struct tal_model_kept *kept = model->kept;
    const int n = tal_matter_num_bodies(model->matter);
    kept->joint_names = tali_arena_take(&kept->arena, (size_t)n * sizeof *kept->joint_names);
    if (kept->joint_names == NULL) return false;
    for (int i = 0; i < o->num_joints; ++i) {
        const tali_osim_joint *joint = &o->joints[i];
        if (joint->body.i < 1 || joint->name[0] == '\0') continue;
        const char *name = tali_arena_copy(&kept->arena, joint->name, strlen(joint->name));
        if (name == NULL) return false;
        if (kept->joint_names[joint->body.i] == NULL) kept->joint_names[joint->body.i] = name;
    }
    kept->num_joint_names = n;
    return true;
}

// --- the System ---

static void report(tali_osim *o, tal_status st, const tal_error *err)
{
    o->no_memory = o->no_memory || st == TAL_ERR_NO_MEMORY;
    tal_diagnostics_add(o->found, TAL_ERROR, o->xml->file, 0, 0, "%s", err->message);
}

// Everything that stands in the file, in the order in which it depends on each other.
static void add_all(tali_osim *o, tal_model *model, const tali_osim_tree *t)
{
    (void)tal_forces_add_gravity(model->forces, o->gravity);
    add_bodies(o, model, t);
    if (tal_system_error(model->system)->status != TAL_OK || o->no_memory) return;
    tali_osim_add_constraints(o, model);
    tali_osim_add_wraps(o, model);
    tali_osim_add_forces(o, model);
    tali_osim_add_controllers(o, model);
    tali_osim_add_decorations(o, model);
    if (o->options.fixed_memory) (void)tal_fixed_memory_create(model->system);
    if (o->extend != NULL) o->extend(o, model, o->extend_context);
    if (o->with_discrete) o->discrete = tal_forces_add_discrete(model->forces, "discrete forces");
}

static tal_status make_state(tali_osim *o, tal_model *model, tal_error *err)
{
    tal_status st = tal_system_realize_topology(model->system, err);
    if (st == TAL_OK) st = tal_state_create(model->system, &model->state, err);
    if (st != TAL_OK) return st;
    st = tal_system_realize(model->system, model->state, TAL_STAGE_MODEL);
    if (st == TAL_OK) {
        lock_coordinates(o, model);
        tali_osim_start_forces(o, model);
        tali_osim_disable_controllers(o, model);
        tali_osim_equilibrate(o, model);
        st = tal_system_realize(model->system, model->state, TAL_STAGE_MODEL);
    }
    *err = *tal_state_error(model->state);
    return st;
}

void tali_osim_build(tali_osim *o, tal_model *model)
{
    tali_osim_tree t;
    if (!tali_osim_span(o, &t)) return;
    tal_system_def def = tal_system_def_default();
    def.allocator = o->options.allocator;
    model->system = tal_system_create(&def);
    if (model->system == NULL) {
        o->no_memory = true;
        return;
    }
    model->matter = tal_matter_create(model->system);
    if (model->matter != NULL) model->forces = tal_forces_create(model->system, model->matter);
    model->kept = tali_model_kept_create(&def.allocator);
    if (model->kept == NULL) {
        o->no_memory = true;
        return;
    }
    if (model->forces != NULL) add_all(o, model, &t);
    if (tal_diagnostics_num_errors(o->found) > 0 || o->no_memory) return;
    tal_error err = *tal_system_error(model->system);
    tal_status st = err.status;
    if (st == TAL_OK) st = make_state(o, model, &err);
    if (st != TAL_OK) report(o, st, &err);
    if (st == TAL_OK && !(add_markers(o, model) && keep_joint_names(o, model))) o->no_memory = true;
}
