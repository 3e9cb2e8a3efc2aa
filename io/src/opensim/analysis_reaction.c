// Joint reactions: the load that a joint transmits, on either of its bodies.
#include "opensim/analysis_internal.h"
#include "table/table_internal.h"

#include <stdio.h>
#include <string.h>

// One entry of the list: a joint, a body of it, and a frame to express the load in.
typedef struct reaction {
    int joint;
    bool on_parent;
    tali_osim_place_on frame;
} reaction;

typedef struct reactions {
    reaction *items; // [num]
    int num;
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

static void begin_reactions(tali_osim_analysis *a)
{
    const size_t most = (size_t)a->tool->o.num_joints + TALI_OSIM_MAX_LIST;
    reactions *list = a->data = tali_osim_analysis_take(a, sizeof *list);
    int *joints = tali_osim_analysis_take(a, most * sizeof *joints);
    if (list == NULL || joints == NULL) return;
    list->num = 0;
    list->items = tali_osim_analysis_take(a, most * sizeof *list->items);
    if (list->items == NULL) return;
    const int num = choose_joints(a, joints);
    read_items(a, list, joints, num);
    if (tali_osim_text(a->element, "forces_file") != NULL) {
        tali_osim_analysis_error(a, "forces_file",
                                 "forces from a table do not act in Talus yet; leave it empty to "
                                 "take those of the State");
    }
    tal_table *table =
        tali_osim_analysis_add_table(a, "_ReactionLoads.sto", "Joint Reaction Loads");
    for (int i = 0; i < list->num && table != NULL; ++i) {
        add_columns(a, table, &list->items[i]);
    }
}

// --- one row ---

// The load of a joint on one of its bodies, about the origin of its frame there; and that origin.
// The mobilizer may be reversed: then its outboard body is the parent.
static tal_spatial_vec load_of(const tali_osim_analysis *a, const reaction *it, tal_vec3 *p_G)
{
    const tal_model *model = &a->tool->model;
    const tali_osim *o = &a->tool->o;
    const tali_osim_joint *joint = &o->joints[it->joint];
    const bool reversed = o->bodies[joint->parent].body.i == joint->body.i;
    const int body = body_of(joint, it->on_parent);
    const tal_vec3 p_B = it->on_parent ? joint->X_PF.p : joint->X_CM.p;
    *p_G = tal_xf_apply(tal_body_X_GB(model->matter, model->state, o->bodies[body].body), p_B);
    return reversed == it->on_parent
               ? tal_body_reaction_M(model->matter, model->state, joint->body)
               : tal_body_reaction_F(model->matter, model->state, joint->body);
}

static void record_reactions(tali_osim_analysis *a)
{
    const reactions *list = a->data;
    double *at = a->rows[0] + 1;
    for (int i = 0; i < list->num; ++i) {
        const reaction *it = &list->items[i];
        const tal_xform X_GE = tali_osim_analysis_pose(a, &it->frame);
        tal_vec3 p_G;
        const tal_spatial_vec F_G = load_of(a, it, &p_G);
        at = tali_osim_analysis_put(at, tal_m3_tmul_v3(X_GE.R, F_G.v));
        at = tali_osim_analysis_put(at, tal_m3_tmul_v3(X_GE.R, F_G.w));
        at = tali_osim_analysis_put(at, tal_xf_inv_apply(X_GE, p_G));
    }
}

const tali_osim_analysis_kind tali_osim_joint_reaction = {
    .name = "JointReaction", .begin = begin_reactions, .record = record_reactions};
