// Joint reactions: the load that a joint transmits, on either of its bodies.
#include "opensim/analysis_internal.h"
#include "table/table_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// One entry of the list: a joint, a body of it, and a frame to express the load in.
typedef struct reaction {
    int joint;
    bool on_parent;
    tali_osim_place_on frame;
} reaction;

// A column of a table of forces, and the actuator that it drives.
typedef struct imposed {
    int force; // of the model's file
    const double *values;
} imposed;

typedef struct reactions {
    reaction *items; // [num]
    int num;
    // forces of a table, in place of those of actuators and muscles
    imposed *imposed; // [num_imposed]
    int num_imposed;
    double *times; // [num_rows] of that table
    int num_rows;
    tal_state *state; // in which they act; NULL: there is no table
} reactions;

// --- lists of length one or n ---

// The words of a property. With one word it counts for all; with none the default does.
static int read_list(tali_osim_analysis *a, const char *property, const char *initial,
                     const char *words[])
{
    const int n = tali_osim_words(&a->tool->setup, a->element, property, words, TALI_OSIM_MAX_LIST);
    if (n > 0) return n;
    words[0] = initial;
    return 1;
}

static bool fits(tali_osim_analysis *a, const char *property, int n, int num)
{
    if (n == 1 || n == num) return true;
    tali_osim_analysis_error(a, property, "has %d entries for %d joints; give one, or one for each",
                             n, num);
    return false;
}

// --- joints ---

static int find_joint(tali_osim_analysis *a, const char *name)
{
    const tali_osim *o = &a->tool->o;
    for (int i = 0; i < o->num_joints; ++i) {
        if (strcmp(o->joints[i].name, tali_osim_last_name(name)) == 0) return i;
    }
    tali_osim_analysis_error(a, "joint_names", "the model has no joint '%.80s'", name);
    return -1;
}

// Joints by their names, in the order of the list; "all": all of the model.
static int choose_joints(tali_osim_analysis *a, int joints[])
{
    const char *names[TALI_OSIM_MAX_LIST];
    const int n = read_list(a, "joint_names", "all", names);
    int num = 0;
    if (tali_table_same_word("all", names[0])) {
        for (; num < a->tool->o.num_joints; ++num) {
            joints[num] = num;
        }
        return num;
    }
    for (int i = 0; i < n; ++i) {
        const int joint = find_joint(a, names[i]);
        if (joint >= 0) joints[num++] = joint;
    }
    return num;
}

// --- the list ---

static bool is_side(tali_osim_analysis *a, const char *property, const char *word)
{
    const bool good = tali_table_same_word("child", word) || tali_table_same_word("parent", word);
    if (!good) {
        tali_osim_analysis_error(a, property, "'%.60s' is neither 'child' nor 'parent'", word);
    }
    return good;
}

static bool find_frame(tali_osim_analysis *a, const tali_osim_joint *joint, const char *word,
                       tali_osim_place_on *frame)
{
    const bool parent = tali_table_same_word("parent", word);
    if (!parent && !tali_table_same_word("child", word)) {
        return tali_osim_analysis_frame(a, "express_in_frame", word, frame);
    }
    const int body = parent ? joint->parent : joint->child;
    *frame = (tali_osim_place_on){body, TAL_XFORM_IDENTITY, a->tool->o.bodies[body].name};
    return true;
}

static int body_of(const tali_osim_joint *joint, bool parent)
{
    return parent ? joint->parent : joint->child;
}

// "<joint>_on_<body>_in_<frame>_fx", and the moment, and where the load acts.
static void add_columns(tali_osim_analysis *a, tal_table *table, const reaction *it)
{
    static const char *const ends[3][3] = {
        {"_fx", "_fy", "_fz"}, {"_mx", "_my", "_mz"}, {"_px", "_py", "_pz"}};
    const tali_osim *o = &a->tool->o;
    const tali_osim_joint *joint = &o->joints[it->joint];
    char label[160];
    (void)snprintf(label, sizeof label, "%.45s_on_%.45s_in_%.45s", joint->name,
                   o->bodies[body_of(joint, it->on_parent)].name, it->frame.name);
    for (int k = 0; k < 3; ++k) {
        tali_osim_analysis_add_triple(a, table, label, ends[k]);
    }
}

// A joint that closes a loop as a weld has no mobilizer to ask.
static bool has_mobilizer(tali_osim_analysis *a, const tali_osim_joint *joint)
{
    const tal_body_ix b = joint->body;
    const tali_osim *o = &a->tool->o;
    const bool is_tree = o->bodies[joint->child].body.i == b.i ||
                         o->bodies[joint->parent].body.i == b.i || joint->kind != TALI_OSIM_WELD;
    if (!is_tree) {
        tali_osim_analysis_warn(a, "joint_names",
                                "'%.80s' closes a loop as a weld; its reaction is left out",
                                joint->name);
    }
    return is_tree;
}

static void read_items(tali_osim_analysis *a, reactions *list, const int joints[], int num)
{
    const char *sides[TALI_OSIM_MAX_LIST], *frames[TALI_OSIM_MAX_LIST];
    const int num_sides = read_list(a, "apply_on_bodies", "child", sides);
    const int num_frames = read_list(a, "express_in_frame", "ground", frames);
    if (!fits(a, "apply_on_bodies", num_sides, num) ||
        !fits(a, "express_in_frame", num_frames, num)) {
        return;
    }
    for (int i = 0; i < num; ++i) {
        const char *side = sides[num_sides > 1 ? i : 0], *frame = frames[num_frames > 1 ? i : 0];
        const tali_osim_joint *joint = &a->tool->o.joints[joints[i]];
        if (!is_side(a, "apply_on_bodies", side) || !has_mobilizer(a, joint)) continue;
        reaction *it = &list->items[list->num];
        *it = (reaction){.joint = joints[i], .on_parent = tali_table_same_word("parent", side)};
        if (find_frame(a, joint, frame, &it->frame)) list->num += 1;
    }
}

// --- forces of a table ---

static double *copy_column(tali_osim_analysis *a, const tal_table *table, int column)
{
    const int n = tal_table_num_rows(table);
    double *values = tali_osim_analysis_take(a, (size_t)n * sizeof *values);
    for (int r = 0; r < n && values != NULL; ++r) {
        values[r] = tal_table_value(table, r, column);
    }
    return values;
}

// The columns that are forces of actuators with one control, by their names or paths.
static void match_columns(tali_osim_analysis *a, reactions *list, const tal_table *table)
{
    const tali_osim *o = &a->tool->o;
    const size_t columns = (size_t)tal_table_num_columns(table);
    list->imposed = tali_osim_analysis_take(a, columns * sizeof *list->imposed);
    list->num_rows = tal_table_num_rows(table);
    list->times = copy_column(a, table, 0);
    for (int c = 1; c < (int)columns && list->imposed != NULL; ++c) {
        const char *name = tali_osim_last_name(tal_table_column_name(table, c));
        const int i = tali_osim_find_force(o, name);
        const tal_force_ix force = i >= 0 ? o->forces[i].force : (tal_force_ix){-1};
        if (force.i < 0 || !tal_force_has_control(a->tool->model.forces, force)) {
            tali_osim_analysis_warn(
                a, "forces_file", "the model has no actuator '%.80s'; its column is ignored", name);
            continue;
        }
        list->imposed[list->num_imposed++] = (imposed){i, copy_column(a, table, c)};
    }
}

// A State of its own, so that other analyses see the forces of the State.
static bool take_state(tali_osim_analysis *a, reactions *list)
{
    tal_error err = {TAL_OK, "", ""};
    list->state = NULL;
    const tal_status st = tal_state_create(a->tool->model.system, &list->state, &err);
    tali_osim_tool_fail(a->tool, st, &err);
    return st == TAL_OK;
}

static void read_imposed(tali_osim_analysis *a, reactions *list)
{
    tal_table *table = tali_osim_tool_read_table_of(a->tool, a->element, "forces_file");
    if (table != NULL && tali_osim_tool_is_good(a->tool)) {
        match_columns(a, list, table);
        if (list->num_imposed == 0) {
            tali_osim_analysis_error(a, "forces_file", "it has no force of an actuator");
        } else if (!a->tool->setup.no_memory) {
            (void)take_state(a, list);
        }
    }
    tal_table_destroy(table);
}

// Straight lines between rows, as OpenSim reads them; the first and the last one beyond.
static double value_at(const reactions *list, const double values[], double t)
{
    const double *times = list->times;
    int r = 0;
    while (r < list->num_rows - 2 && times[r + 1] <= t) {
        ++r;
    }
    if (list->num_rows == 1 || t <= times[r]) return values[r];
    if (t >= times[r + 1]) return values[r + 1];
    const double s = (t - times[r]) / (times[r + 1] - times[r]);
    return (1.0 - s) * values[r] + s * values[r + 1];
}

// The force of an actuator for a control of one.
static double gain_of(const tali_osim_analysis *a, const reactions *list, const tali_osim_force *f)
{
    int param = TAL_POINT_ACTUATOR_GAIN;
    if (f->path != NULL) param = TAL_PATH_ACTUATOR_GAIN;
    if (f->coordinate >= 0) param = TAL_ACTUATOR_GAIN;
    if (strcmp(f->element->name, "TorqueActuator") == 0) param = TAL_TORQUE_ACTUATOR_GAIN;
    return tal_force_param(a->tool->model.forces, list->state, f->force, param);
}

// A muscle pulls with this tension; another actuator gets the control that makes this force,
// whatever its controllers say and its range is.
static tal_status impose(const tali_osim_analysis *a, const reactions *list,
                         const tali_osim_force *f, double value)
{
    const tal_forces *forces = a->tool->model.forces;
    tal_state *s = list->state;
    if (f->muscle != NULL) return tal_muscle_override(forces, s, f->force, value);
    tal_status st = tal_actuator_set_control_range(forces, s, f->force, -INFINITY, INFINITY);
    if (st == TAL_OK) st = tal_actuator_set_control(forces, s, f->force, 0.0);
    if (st == TAL_OK) st = tal_system_realize(a->tool->model.system, s, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return st;
    const double others = tal_actuator_control(forces, s, f->force);
    const double gain = gain_of(a, list, f);
    return gain == 0.0 ? TAL_OK
                       : tal_actuator_set_control(forces, s, f->force, value / gain - others);
}

// The State of the row with the forces of the table. False: the row stays NaN.
static bool impose_all(tali_osim_analysis *a, const reactions *list)
{
    const tal_model *model = &a->tool->model;
    tal_status st = tal_state_copy(list->state, model->state);
    const double t = tal_state_t(model->state);
    for (int i = 0; i < list->num_imposed && st == TAL_OK; ++i) {
        const imposed *it = &list->imposed[i];
        st = impose(a, list, &a->tool->o.forces[it->force], value_at(list, it->values, t));
    }
    if (st == TAL_OK) st = tal_system_realize(model->system, list->state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK) {
        tali_osim_analysis_flag(a, "t = %g is left out: %s", t,
                                tal_state_error(list->state)->message);
    }
    return st == TAL_OK;
}

// --- beginning ---

static void begin_reactions(tali_osim_analysis *a)
{
    const size_t most = (size_t)a->tool->o.num_joints + TALI_OSIM_MAX_LIST;
    reactions *list = a->data = tali_osim_analysis_take(a, sizeof *list);
    int *joints = tali_osim_analysis_take(a, most * sizeof *joints);
    if (list == NULL || joints == NULL) return;
    *list = (reactions){.items = tali_osim_analysis_take(a, most * sizeof *list->items)};
    if (list->items == NULL) return;
    const int num = choose_joints(a, joints);
    read_items(a, list, joints, num);
    read_imposed(a, list);
    tal_table *table =
        tali_osim_analysis_add_table(a, "_ReactionLoads.sto", "Joint Reaction Loads");
    for (int i = 0; i < list->num && table != NULL; ++i) {
        add_columns(a, table, &list->items[i]);
    }
}

// --- one row ---

// The load of a shoulder blade's joint on the outboard body, or the opposite one on the inboard
// body: what is in between has no mass, and hands on all of it. About `p_G`.
static tal_spatial_vec scapula_load(const tal_model *model, tal_state *s, tal_body_ix outboard,
                                    bool on_outboard, tal_vec3 p_G)
{
    const tal_vec3 p_BM = tal_body_X_BM(model->matter, s, outboard).p;
    const tal_vec3 p_GM = tal_xf_apply(tal_body_X_GB(model->matter, s, outboard), p_BM);
    const tal_spatial_vec F =
        tal_sv_shift_force(tal_body_reaction_M(model->matter, s, outboard), tal_v3_sub(p_GM, p_G));
    return on_outboard ? F : tal_sv_neg(F);
}

// The load of a joint on one of its bodies, about the origin of its frame there; and that origin.
// The mobilizer may be reversed: then its outboard body is the parent.
static tal_spatial_vec load_of(const tali_osim_analysis *a, tal_state *s, const reaction *it,
                               tal_vec3 *p_G)
{
    const tal_model *model = &a->tool->model;
    const tali_osim *o = &a->tool->o;
    const tali_osim_joint *joint = &o->joints[it->joint];
    const bool reversed = o->bodies[joint->parent].body.i == joint->body.i;
    const int body = body_of(joint, it->on_parent);
    const tal_vec3 p_B = it->on_parent ? joint->X_PF.p : joint->X_CM.p;
    *p_G = tal_xf_apply(tal_body_X_GB(model->matter, s, o->bodies[body].body), p_B);
    const bool on_outboard = reversed == it->on_parent;
    if (joint->kind == TALI_OSIM_SCAPULOTHORACIC) {
        return scapula_load(model, s, joint->body, on_outboard, *p_G);
    }
    return on_outboard ? tal_body_reaction_M(model->matter, s, joint->body)
                       : tal_body_reaction_F(model->matter, s, joint->body);
}

static void record_reactions(tali_osim_analysis *a)
{
    const reactions *list = a->data;
    double *at = a->rows[0] + 1;
    if (list->state != NULL && !impose_all(a, list)) return;
    tal_state *s = list->state != NULL ? list->state : a->tool->model.state;
    for (int i = 0; i < list->num; ++i) {
        const reaction *it = &list->items[i];
        const tal_xform X_GE = tali_osim_analysis_pose(a, &it->frame);
        tal_vec3 p_G;
        const tal_spatial_vec F_G = load_of(a, s, it, &p_G);
        at = tali_osim_analysis_put(at, tal_m3_tmul_v3(X_GE.R, F_G.v));
        at = tali_osim_analysis_put(at, tal_m3_tmul_v3(X_GE.R, F_G.w));
        at = tali_osim_analysis_put(at, tal_xf_inv_apply(X_GE, p_G));
    }
}

static void release(tali_osim_analysis *a)
{
    const reactions *list = a->data;
    if (list != NULL) tal_state_destroy(list->state);
}

static void fork_state(tali_osim_analysis *a, const void *data)
{
    reactions *list = tali_osim_analysis_take(a, sizeof *list);
    if (list == NULL) return;
    *list = *(const reactions *)data;
    if (list->state == NULL || take_state(a, list)) a->data = list;
}

const tali_osim_analysis_kind tali_osim_joint_reaction = {.name = "JointReaction",
                                                          .begin = begin_reactions,
                                                          .record = record_reactions,
                                                          .end = release,
                                                          .fork = fork_state,
                                                          .release = release};
