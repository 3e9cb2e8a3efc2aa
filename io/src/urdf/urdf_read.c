// From a URDF document to links and joints.
#include "urdf/urdf_internal.h"

#include <talus/io/number.h>

#include <math.h>
#include <string.h>

// --- names ---

// The name of a link or a joint: there, as a name has to be, unique.
static const char *need_name(tali_urdf *u, const tali_xml_element *e, tali_name_map *names, int i)
{
    const char *name = tali_urdf_need_text(u, e, "name");
    if (name == NULL) return "";
    const char *flaw = tali_text_name_flaw(name);
    if (flaw != NULL) {
        tali_urdf_error(u, e, tali_xml_find(e, "name"), ": %s", flaw);
    } else if (tali_name_map_find(names, name) >= 0) {
        tali_urdf_error(u, e, tali_xml_find(e, "name"), ": the name is used already");
    } else if (!tali_name_map_add(names, name, i)) {
        u->no_memory = true;
    }
    return name;
}

// --- links ---

// A link with its mass; its shapes are read when it is a body.
static void read_link(tali_urdf *u, const tali_xml_element *e, int i)
{
    static const char *const allowed[] = {"name", NULL};
    const tali_xml_element *inertial = NULL;
    tali_urdf_link *link = &u->links[i];
    link->element = e;
    link->joint = -1;
    link->name = need_name(u, e, &u->link_names, i);
    tali_urdf_check_attributes(u, e, allowed);
    for (const tali_xml_element *c = e->first; c != NULL; c = c->next) {
        const bool is_shape =
            strcmp(c->name, "visual") == 0 ||
            ((u->options.contact || u->options.colliders) && strcmp(c->name, "collision") == 0);
        if (is_shape) continue; // urdf_shapes.c
        if (strcmp(c->name, "inertial") != 0) {
            tali_urdf_leave(u, c);
        } else if (inertial != NULL) {
            tali_urdf_error(u, c, NULL, " is given twice in <%s>", e->name);
        } else {
            inertial = c;
        }
    }
    if (inertial != NULL) tali_urdf_inertial(u, inertial, link);
}

// --- joints ---

static const char *const kind_names[] = {"fixed",  "revolute", "continuous", "prismatic",
                                         "planar", "floating", NULL};

static tali_urdf_kind read_kind(tali_urdf *u, const tali_xml_element *e)
{
    const char *type = tali_urdf_need_text(u, e, "type");
    if (type == NULL) return TALI_URDF_FIXED;
    for (int k = 0; kind_names[k] != NULL; ++k) {
        if (strcmp(type, kind_names[k]) == 0) return (tali_urdf_kind)k;
    }
    const char *meant = tali_urdf_meant(type, kind_names);
    tali_urdf_error(u, e, tali_xml_find(e, "type"), ": there is no type '%.60s'%s%s%s", type,
                    meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                    meant != NULL ? "'?)" : "");
    return TALI_URDF_FIXED;
}

static int read_end(tali_urdf *u, const tali_xml_element *joint, const tali_xml_element *e,
                    const char *subject)
{
    static const char *const allowed[] = {"link", NULL};
    if (e == NULL) {
        tali_urdf_error(u, joint, NULL, " needs <%s>", subject);
        return -1;
    }
    tali_urdf_check_attributes(u, e, allowed);
    const char *name = tali_urdf_need_text(u, e, "link");
    if (name == NULL) return -1;
    const int link = tali_name_map_find(&u->link_names, name);
    if (link < 0) {
        tali_urdf_error(u, e, tali_xml_find(e, "link"), ": there is no link '%.60s'", name);
    }
    return link;
}

static void read_axis(tali_urdf *u, const tali_xml_element *e, tali_urdf_joint *joint)
{
    static const char *const allowed[] = {"xyz", NULL};
    joint->axis = tal_v3(1.0, 0.0, 0.0);
    const bool has_axis = joint->kind != TALI_URDF_FIXED && joint->kind != TALI_URDF_FLOATING;
    if (e == NULL || !has_axis) return;
    tali_urdf_check_attributes(u, e, allowed);
    double v[3];
    if (!tali_urdf_numbers(u, e, "xyz", 3, v)) {
        const bool missing = tali_xml_find(e, "xyz") == NULL;
        if (missing) tali_urdf_error(u, e, NULL, " needs the attribute '%s'", "xyz");
        return;
    }
    const tal_vec3 axis = tal_v3_normalize(tal_v3(v[0], v[1], v[2]));
    if (v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0) {
        tali_urdf_error(u, e, NULL, " has no direction: xyz is zero");
    } else {
        joint->axis = axis;
    }
}

// One end of a range; what is infinite is not a limit.
static double read_bound(tali_urdf *u, const tali_xml_element *e, const char *name, double infinite)
{
    const tali_xml_attribute *a = tali_xml_find(e, name);
    double bound = 0.0;
    if (a != NULL && tal_numbers_read(a->value, &bound, 1, NULL) == 1 && isinf(bound)) {
        return infinite;
    }
    (void)tali_urdf_numbers(u, e, name, 1, &bound);
    return bound;
}

// Effort and velocity limits are those of a motor, which is not read.
static void read_limit(tali_urdf *u, const tali_xml_element *e, tali_urdf_joint *joint)
{
    static const char *const allowed[] = {"lower", "upper", "effort", "velocity", NULL};
    const bool ranged = joint->kind == TALI_URDF_REVOLUTE || joint->kind == TALI_URDF_PRISMATIC;
    if (!ranged) return;
    if (e == NULL) {
        tali_urdf_remark_on(u, TAL_WARNING, "joints have no <limit>: their ranges are not limited",
                            joint->element, joint->name);
        return;
    }
    tali_urdf_check_attributes(u, e, allowed);
    joint->lower = read_bound(u, e, "lower", -(double)INFINITY);
    joint->upper = read_bound(u, e, "upper", (double)INFINITY);
    joint->limited = !isinf(joint->lower) || !isinf(joint->upper);
    if (joint->lower <= joint->upper) return;
    tali_urdf_error(u, e, NULL, ": lower %g is above upper %g", joint->lower, joint->upper);
}

static void read_dynamics(tali_urdf *u, const tali_xml_element *e, tali_urdf_joint *joint)
{
    static const char *const allowed[] = {"damping", "friction", NULL};
    if (e == NULL) return;
    tali_urdf_check_attributes(u, e, allowed);
    double friction = 0.0;
    (void)tali_urdf_numbers(u, e, "damping", 1, &joint->damping);
    (void)tali_urdf_numbers(u, e, "friction", 1, &friction);
    if (joint->damping < 0.0) {
        tali_urdf_error(u, e, tali_xml_find(e, "damping"), ": damping %g is negative",
                        joint->damping);
    }
    if (friction != 0.0) {
        tali_urdf_remark_on(u, TAL_NOTE, "the friction of joints is not read", e, joint->name);
    }
}

bool tali_urdf_has_coordinate(tali_urdf_kind kind)
{
    return kind == TALI_URDF_REVOLUTE || kind == TALI_URDF_CONTINUOUS ||
           kind == TALI_URDF_PRISMATIC;
}

static void read_joint(tali_urdf *u, const tali_xml_element *e, int i)
{
    static const char *const allowed[] = {"name", "type", NULL};
    static const char *const names[] = {"origin", "parent",   "child", "axis",
                                        "limit",  "dynamics", "mimic", NULL};
    const tali_xml_element *found[7] = {NULL};
    tali_urdf_joint *joint = &u->joints[i];
    joint->element = e;
    joint->leader = -1;
    joint->multiplier = 1.0;
    joint->name = need_name(u, e, &u->joint_names, i);
    joint->kind = read_kind(u, e);
    tali_urdf_check_attributes(u, e, allowed);
    tali_urdf_children(u, e, names, found);
    joint->X_PJ = tali_urdf_origin(u, found[0]);
    joint->parent = read_end(u, e, found[1], "parent");
    joint->child = read_end(u, e, found[2], "child");
    read_axis(u, found[3], joint);
    read_limit(u, found[4], joint);
    read_dynamics(u, found[5], joint);
    joint->mimic = found[6];
}

// After all joints are known: which one does this follow? Where one of the two does not move, there
// is nothing to follow.
static void read_mimic(tali_urdf *u, tali_urdf_joint *joint)
{
    static const char *const allowed[] = {"joint", "multiplier", "offset", NULL};
    const tali_xml_element *e = joint->mimic;
    if (e == NULL) return;
    tali_urdf_check_attributes(u, e, allowed);
    (void)tali_urdf_numbers(u, e, "multiplier", 1, &joint->multiplier);
    (void)tali_urdf_numbers(u, e, "offset", 1, &joint->offset);
    const char *name = tali_urdf_need_text(u, e, "joint");
    if (name == NULL) return;
    const int leader = tali_name_map_find(&u->joint_names, name);
    if (leader < 0) {
        tali_urdf_error(u, e, tali_xml_find(e, "joint"), ": there is no joint '%.60s'", name);
    } else if (!tali_urdf_has_coordinate(joint->kind) ||
               !tali_urdf_has_coordinate(u->joints[leader].kind)) {
        tali_urdf_remark_on(
            u, TAL_NOTE,
            "<mimic> is not used where one of the two joints is fixed or has several "
            "coordinates",
            e, joint->name);
    } else {
        joint->leader = leader;
    }
}

// Where a joint begins: at zero, or where its leader tells it to. Leaders are walked back to one
// that is known; the walk is then undone in reverse. A walk longer than there are joints goes in a
// circle.
static void find_start(tali_urdf *u, int first, int walk[])
{
    int n = 0;
    for (int i = first; !u->joints[i].has_q0 && u->joints[i].leader >= 0; i = u->joints[i].leader) {
        if (n == u->num_joints) {
            tali_urdf_error(u, u->joints[first].mimic, NULL,
                            ": joints mimic each other in a circle");
            return;
        }
        walk[n++] = i;
    }
    while (n-- > 0) {
        tali_urdf_joint *joint = &u->joints[walk[n]];
        joint->q0 = joint->multiplier * u->joints[joint->leader].q0 + joint->offset;
        joint->has_q0 = true;
    }
}

// What the caller says of joints that others may follow.
static void take_starts(tali_urdf *u)
{
    for (int k = 0; k < u->options.num_starts; ++k) {
        const tal_model_param *start = &u->options.starts[k];
        const int i = start->name != NULL ? tali_name_map_find(&u->joint_names, start->name) : -1;
        tali_urdf_joint *joint = i >= 0 ? &u->joints[i] : NULL;
        if (joint == NULL || !isfinite(start->value)) continue; // reported when the State is there
        if (joint->leader >= 0) {
            u->num_refused += 1;
            tali_urdf_error(u, joint->mimic, NULL, ": '%s' begins where '%s' lets it begin",
                            joint->name, u->joints[joint->leader].name);
        }
        joint->q0 = start->value;
        joint->has_q0 = true;
    }
}

static void find_starts(tali_urdf *u)
{
    take_starts(u);
    int *walk = tali_arena_take(&u->arena, ((size_t)u->num_joints + 1) * sizeof *walk);
    if (walk == NULL) {
        u->no_memory = true;
        return;
    }
    for (int i = 0; i < u->num_joints && tal_diagnostics_num_errors(u->found) == 0; ++i) {
        find_start(u, i, walk);
    }
}

// --- the tree ---

static void hang_links(tali_urdf *u)
{
    for (int i = 0; i < u->num_joints; ++i) {
        const tali_urdf_joint *joint = &u->joints[i];
        if (joint->child < 0 || joint->parent < 0) continue;
        tali_urdf_link *child = &u->links[joint->child];
        if (joint->child == joint->parent) {
            tali_urdf_error(u, joint->element, NULL, " connects link '%s' with itself",
                            child->name);
        } else if (child->joint >= 0) {
            tali_urdf_error(u, joint->element, NULL,
                            ": link '%s' is the child of another joint already", child->name);
        } else {
            child->joint = i;
        }
    }
}

static void find_root(tali_urdf *u)
{
    u->root = -1;
    for (int i = 0; i < u->num_links; ++i) {
        if (u->links[i].joint >= 0) continue;
        if (u->root >= 0) {
            tali_urdf_error(
                u, u->links[i].element, NULL,
                " is the child of no joint, and neither is link '%s': there must be one root",
                u->links[u->root].name);
        } else {
            u->root = i;
        }
    }
    if (u->root < 0) {
        tali_xml_error(u->xml, u->xml->root, NULL, u->found,
                       u->num_links == 0 ? "there is no <link>"
                                         : "every link is the child of a joint: no root");
    }
}

static bool take_memory(tali_urdf *u)
{
    int links = 0, joints = 0;
    for (const tali_xml_element *e = u->xml->root->first; e != NULL; e = e->next) {
        links += strcmp(e->name, "link") == 0;
        joints += strcmp(e->name, "joint") == 0;
    }
    u->links = tali_arena_take(&u->arena, ((size_t)links + 1) * sizeof *u->links);
    u->joints = tali_arena_take(&u->arena, ((size_t)joints + 1) * sizeof *u->joints);
    u->no_memory = u->links == NULL || u->joints == NULL;
    return !u->no_memory;
}

// A file before its macros are expanded does not have all of its links. What is only defined is not
// missed.
static bool is_expanded(tali_urdf *u)
{
    static const char *const definitions[] = {"xacro:property", "xacro:arg", "xacro:macro"};
    for (const tali_xml_element *e = u->xml->root->first; e != NULL; e = e->next) {
        bool is_harmless = strncmp(e->name, "xacro:", 6) != 0;
        for (size_t i = 0; i < sizeof definitions / sizeof *definitions; ++i) {
            is_harmless = is_harmless || strcmp(e->name, definitions[i]) == 0;
        }
        if (is_harmless) continue;
        tali_urdf_error(u, e, NULL, ": " TALI_URDF_TO_EXPAND);
        return false;
    }
    return true;
}

static void read_links(tali_urdf *u)
{
    for (const tali_xml_element *e = u->xml->root->first; e != NULL; e = e->next) {
        if (strcmp(e->name, "link") != 0) continue;
        read_link(u, e, u->num_links);
        u->num_links += 1;
    }
}

static void read_joints(tali_urdf *u)
{
    for (const tali_xml_element *e = u->xml->root->first; e != NULL; e = e->next) {
        if (strcmp(e->name, "joint") == 0) {
            read_joint(u, e, u->num_joints);
            u->num_joints += 1;
        } else if (strcmp(e->name, "link") != 0 && strcmp(e->name, "material") != 0) {
            tali_urdf_leave(u, e);
        }
    }
    for (int i = 0; i < u->num_joints; ++i) {
        read_mimic(u, &u->joints[i]);
    }
}

void tali_urdf_read(tali_urdf *u)
{
    const tali_xml_element *root = u->xml->root;
    if (strcmp(root->name, "robot") != 0) {
        const char *kind = tali_xml_kind(root->name, strlen(root->name));
        tali_urdf_error(u, root, NULL, " is not <robot>: this is %s%snot a URDF file",
                        kind != NULL ? kind : "", kind != NULL ? ", " : "");
        return;
    }
    if (!is_expanded(u) || !take_memory(u)) return;
    read_links(u); // first: joints may stand before what they name
    read_joints(u);
    tali_urdf_read_colors(u);
    hang_links(u);
    if (tal_diagnostics_num_errors(u->found) == 0) find_root(u);
    find_starts(u);
}
