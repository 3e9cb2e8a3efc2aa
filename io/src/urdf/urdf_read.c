// From a URDF document to links and joints.
#include "error_internal.h"
#include "mass_internal.h"

#include "urdf/urdf_internal.h"

#include <talus/io/number.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// --- attributes ---

// The tag of the element begins the sentence.
static void error_at(tali_urdf *u, const tali_xml_element *element,
                     const tali_xml_attribute *attribute, const char *fmt, ...) TAL_PRINTF(4, 5);

static void error_at(tali_urdf *u, const tali_xml_element *element,
                     const tali_xml_attribute *attribute, const char *fmt, ...)
{
    char tag[128], rest[300];
    (void)tali_xml_tag(element, tag, sizeof tag);
    va_list args;
    va_start(args, fmt);
    tali_error_print(rest, sizeof rest, fmt, args);
    va_end(args);
    tali_xml_error(u->xml, element, attribute, u->found, "%s%s", tag, rest);
}

static const char *allowed_at(const void *context, int i)
{
    return ((const char *const *)context)[i];
}

// A misspelled attribute would silently leave a default.
static void check_attributes(tali_urdf *u, const tali_xml_element *e, const char *const allowed[])
{
    for (int i = 0; i < e->num_attributes; ++i) {
        const tali_xml_attribute *a = &e->attributes[i];
        int k = 0;
        while (allowed[k] != NULL && strcmp(allowed[k], a->name) != 0) {
            ++k;
        }
        if (allowed[k] != NULL) continue;
        const char *meant = tali_text_did_you_mean(a->name, allowed_at, (const void *)allowed);
        if (meant != NULL) {
            error_at(u, e, a, " has no attribute '%.60s' (did you mean '%s'?)", a->name, meant);
        } else {
            char tag[128];
            tal_diagnostics_add(u->found, TAL_NOTE, u->xml->file, a->line, a->column,
                                "attribute '%.60s' of %s is not read", a->name,
                                tali_xml_tag(e, tag, sizeof tag));
        }
    }
}

// The numbers of an attribute. False when it is not there, or wrong: then there is an error.
static bool read_numbers(tali_urdf *u, const tali_xml_element *e, const char *name, int n,
                         double out[])
{
    const tali_xml_attribute *a = tali_xml_find(e, name);
    if (a == NULL) return false;
    double values[6];
    const int count = tal_numbers_read(a->value, values, 6, NULL);
    bool finite = count == n;
    for (int i = 0; i < n && finite; ++i) {
        finite = isfinite(values[i]);
    }
    if (!finite) {
        error_at(u, e, a, ": %s=\"%.40s\" is not %d finite number%s", name, a->value, n,
                 n == 1 ? "" : "s");
        return false;
    }
    memcpy(out, values, (size_t)n * sizeof(double));
    return true;
}

static void need_number(tali_urdf *u, const tali_xml_element *e, const char *name, double *out)
{
    if (tali_xml_find(e, name) == NULL) {
        error_at(u, e, NULL, " needs the attribute '%s'", name);
    } else {
        (void)read_numbers(u, e, name, 1, out);
    }
}

static const char *need_text(tali_urdf *u, const tali_xml_element *e, const char *name)
{
    const tali_xml_attribute *a = tali_xml_find(e, name);
    if (a != NULL && a->value[0] != '\0') return a->value;
    error_at(u, e, a, " needs the attribute '%s'", name);
    return NULL;
}

// The name of a link or a joint: there, as a name has to be, unique.
static const char *need_name(tali_urdf *u, const tali_xml_element *e, tali_name_map *names, int i)
{
    const char *name = need_text(u, e, "name");
    if (name == NULL) return "";
    const char *flaw = tali_text_name_flaw(name);
    if (flaw != NULL) {
        error_at(u, e, tali_xml_find(e, "name"), ": %s", flaw);
    } else if (tali_name_map_find(names, name) >= 0) {
        error_at(u, e, tali_xml_find(e, "name"), ": the name is used already");
    } else if (!tali_name_map_add(names, name, i)) {
        u->no_memory = true;
    }
    return name;
}

// --- what is not read ---

static void ignore(tali_urdf *u, const tali_xml_element *e)
{
    int i = 0;
    while (i < u->num_ignored && strcmp(u->ignored[i].first->name, e->name) != 0) {
        ++i;
    }
    if (i == TALI_MAX_IGNORED) return;
    if (i == u->num_ignored) {
        u->ignored[i].first = e;
        u->num_ignored += 1;
    }
    u->ignored[i].count += 1;
}

// The one child of each name; a second one is an error, a child of another name is not read.
static void find_children(tali_urdf *u, const tali_xml_element *e, const char *const names[],
                          const tali_xml_element *children[])
{
    for (const tali_xml_element *c = e->first; c != NULL; c = c->next) {
        int k = 0;
        while (names[k] != NULL && strcmp(names[k], c->name) != 0) {
            ++k;
        }
        if (names[k] == NULL) {
            ignore(u, c);
        } else if (children[k] != NULL) {
            error_at(u, c, NULL, " is given twice in <%s>", e->name);
        } else {
            children[k] = c;
        }
    }
}

static void report_ignored(tali_urdf *u)
{
    for (int i = 0; i < u->num_ignored; ++i) {
        const tali_urdf_ignored *it = &u->ignored[i];
        tal_diagnostics_add(u->found, TAL_NOTE, u->xml->file, it->first->line, it->first->column,
                            "<%.60s> is not read (%d of them)", it->first->name, it->count);
    }
}

// --- frames and mass ---

// xyz, and rpy: roll, pitch and yaw about fixed axes, R = Rz(yaw) Ry(pitch) Rx(roll)
static tal_xform read_origin(tali_urdf *u, const tali_xml_element *e)
{
    tal_xform X = TAL_XFORM_IDENTITY;
    if (e == NULL) return X;
    static const char *const allowed[] = {"xyz", "rpy", NULL};
    check_attributes(u, e, allowed);
    double values[3];
    if (read_numbers(u, e, "xyz", 3, values)) X.p = tal_v3(values[0], values[1], values[2]);
    if (read_numbers(u, e, "rpy", 3, values)) {
        const tal_axis axes[] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
        X.R = tal_rotation_from_angles(TAL_SPACE_FIXED, 3, axes, values);
    }
    return X;
}

// Inertia is about the mass center, in the frame of the inertial's origin.
static tal_mass_props read_inertial(tali_urdf *u, const tali_xml_element *e, const char *link)
{
    static const char *const names[] = {"origin", "mass", "inertia", NULL};
    static const char *const value[] = {"value", NULL};
    static const char *const parts[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz", NULL};
    const tali_xml_element *found[3] = {NULL};
    const int errors = tal_diagnostics_num_errors(u->found);
    tal_mass_props in_I = {.mass = 0.0};
    find_children(u, e, names, found);
    const tal_xform X_BI = read_origin(u, found[0]);
    if (found[1] == NULL) {
        error_at(u, e, NULL, " needs <%s>", "mass");
        return in_I;
    }
    check_attributes(u, found[1], value);
    need_number(u, found[1], "value", &in_I.mass);
    if (found[2] != NULL) {
        double *const I[] = {&in_I.inertia.xx, &in_I.inertia.yy, &in_I.inertia.zz,
                             &in_I.inertia.xy, &in_I.inertia.xz, &in_I.inertia.yz};
        check_attributes(u, found[2], parts);
        for (int i = 0; i < 6; ++i) {
            if (i < 3) {
                need_number(u, found[2], parts[i], I[i]);
            } else {
                (void)read_numbers(u, found[2], parts[i], 1, I[i]);
            }
        }
    }
    if (tal_diagnostics_num_errors(u->found) > errors) return (tal_mass_props){.mass = 0.0};
    tal_error why = {TAL_OK, "", ""};
    tal_mass_props in_B = in_I;
    const bool any_inertia = u->options.any_inertia;
    if (tali_mass_props_check(&in_I, any_inertia, &why) == TAL_OK) {
        in_B = tal_mass_props_transform(&X_BI, &in_I);
    }
    if (why.status != TAL_OK || tali_mass_props_check(&in_B, any_inertia, &why) != TAL_OK) {
        error_at(u, e, NULL, ": %s", why.message);
        return (tal_mass_props){.mass = 0.0};
    }
    const double excess = tal_mass_props_excess(&in_B);
    if (excess > 0.0 && !any_inertia) {
        tal_diagnostics_add(u->found, TAL_WARNING, u->xml->file, e->line, e->column,
                            TALI_INERTIA_WARNING, link != NULL ? link : "", excess);
    }
    return in_B;
}

static void read_link(tali_urdf *u, const tali_xml_element *e, int i)
{
    static const char *const allowed[] = {"name", NULL};
    static const char *const names[] = {"inertial", NULL};
    const tali_xml_element *inertial = NULL;
    tali_urdf_link *link = &u->links[i];
    link->element = e;
    link->joint = -1;
    link->name = need_name(u, e, &u->link_names, i);
    check_attributes(u, e, allowed);
    find_children(u, e, names, &inertial);
    if (inertial != NULL) link->mass = read_inertial(u, inertial, link->name);
    link->any_inertia =
        u->options.any_inertia && tali_mass_props_check(&link->mass, false, NULL) != TAL_OK;
}

// --- joints ---

static const char *const kind_names[] = {"fixed",  "revolute", "continuous", "prismatic",
                                         "planar", "floating", NULL};

static tali_urdf_kind read_kind(tali_urdf *u, const tali_xml_element *e)
{
    const char *type = need_text(u, e, "type");
    if (type == NULL) return TALI_URDF_FIXED;
    for (int k = 0; kind_names[k] != NULL; ++k) {
        if (strcmp(type, kind_names[k]) == 0) return (tali_urdf_kind)k;
    }
    const char *meant = tali_text_did_you_mean(type, allowed_at, (const void *)kind_names);
    error_at(u, e, tali_xml_find(e, "type"), ": there is no type '%.60s'%s%s%s", type,
             meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
             meant != NULL ? "'?)" : "");
    return TALI_URDF_FIXED;
}

static int read_end(tali_urdf *u, const tali_xml_element *joint, const tali_xml_element *e,
                    const char *what)
{
    static const char *const allowed[] = {"link", NULL};
    if (e == NULL) {
        error_at(u, joint, NULL, " needs <%s>", what);
        return -1;
    }
    check_attributes(u, e, allowed);
    const char *name = need_text(u, e, "link");
    if (name == NULL) return -1;
    const int link = tali_name_map_find(&u->link_names, name);
    if (link < 0) {
        error_at(u, e, tali_xml_find(e, "link"), ": there is no link '%.60s'", name);
    }
    return link;
}

static void read_axis(tali_urdf *u, const tali_xml_element *e, tali_urdf_joint *joint)
{
    static const char *const allowed[] = {"xyz", NULL};
    joint->axis = tal_v3(1.0, 0.0, 0.0);
    if (e == NULL) return;
    check_attributes(u, e, allowed);
    double v[3];
    if (!read_numbers(u, e, "xyz", 3, v)) {
        const bool missing = tali_xml_find(e, "xyz") == NULL;
        if (missing) error_at(u, e, NULL, " needs the attribute '%s'", "xyz");
        return;
    }
    const tal_vec3 axis = tal_v3_normalize(tal_v3(v[0], v[1], v[2]));
    if (v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0) {
        error_at(u, e, NULL, " has no direction: xyz is zero");
    } else {
        joint->axis = axis;
    }
}

// Effort and velocity limits are those of a motor, which is not read.
static void read_limit(tali_urdf *u, const tali_xml_element *e, tali_urdf_joint *joint)
{
    static const char *const allowed[] = {"lower", "upper", "effort", "velocity", NULL};
    const bool ranged = joint->kind == TALI_URDF_REVOLUTE || joint->kind == TALI_URDF_PRISMATIC;
    if (e != NULL) check_attributes(u, e, allowed);
    if (!ranged) return;
    if (e == NULL) {
        char tag[128];
        tal_diagnostics_add(u->found, TAL_WARNING, u->xml->file, joint->element->line,
                            joint->element->column, "%s has no <limit>: its range is not limited",
                            tali_xml_tag(joint->element, tag, sizeof tag));
        return;
    }
    (void)read_numbers(u, e, "lower", 1, &joint->lower);
    (void)read_numbers(u, e, "upper", 1, &joint->upper);
    joint->limited = true;
    if (joint->lower <= joint->upper) return;
    error_at(u, e, NULL, ": lower %g is above upper %g", joint->lower, joint->upper);
}

static void read_dynamics(tali_urdf *u, const tali_xml_element *e, tali_urdf_joint *joint)
{
    static const char *const allowed[] = {"damping", "friction", NULL};
    if (e == NULL) return;
    check_attributes(u, e, allowed);
    double friction = 0.0;
    (void)read_numbers(u, e, "damping", 1, &joint->damping);
    (void)read_numbers(u, e, "friction", 1, &friction);
    if (joint->damping < 0.0) {
        error_at(u, e, tali_xml_find(e, "damping"), ": damping %g is negative", joint->damping);
    }
    if (friction != 0.0) {
        tal_diagnostics_add(u->found, TAL_NOTE, u->xml->file, e->line, e->column,
                            "<dynamics>: friction %g is not read", friction);
    }
}

static bool has_one_coordinate(tali_urdf_kind kind)
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
    check_attributes(u, e, allowed);
    find_children(u, e, names, found);
    joint->X_PJ = read_origin(u, found[0]);
    joint->parent = read_end(u, e, found[1], "parent");
    joint->child = read_end(u, e, found[2], "child");
    read_axis(u, found[3], joint);
    read_limit(u, found[4], joint);
    read_dynamics(u, found[5], joint);
    joint->mimic = found[6];
}

// After all joints are known: which one does this follow?
static void read_mimic(tali_urdf *u, tali_urdf_joint *joint)
{
    static const char *const allowed[] = {"joint", "multiplier", "offset", NULL};
    const tali_xml_element *e = joint->mimic;
    if (e == NULL) return;
    check_attributes(u, e, allowed);
    (void)read_numbers(u, e, "multiplier", 1, &joint->multiplier);
    (void)read_numbers(u, e, "offset", 1, &joint->offset);
    const char *name = need_text(u, e, "joint");
    if (name == NULL) return;
    joint->leader = tali_name_map_find(&u->joint_names, name);
    const tali_urdf_joint *leader = joint->leader >= 0 ? &u->joints[joint->leader] : NULL;
    if (leader == NULL) {
        error_at(u, e, tali_xml_find(e, "joint"), ": there is no joint '%.60s'", name);
    } else if (!has_one_coordinate(leader->kind) || !has_one_coordinate(joint->kind)) {
        error_at(u, e, NULL, ": both joints must have one coordinate, but one is %s",
                 kind_names[has_one_coordinate(joint->kind) ? leader->kind : joint->kind]);
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
            error_at(u, u->joints[first].mimic, NULL, ": joints mimic each other in a circle");
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

static void find_starts(tali_urdf *u)
{
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
            error_at(u, joint->element, NULL, " connects link '%s' with itself", child->name);
        } else if (child->joint >= 0) {
            error_at(u, joint->element, NULL, ": link '%s' is the child of another joint already",
                     child->name);
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
            error_at(u, u->links[i].element, NULL,
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

void tali_urdf_read(tali_urdf *u)
{
    const tali_xml_element *root = u->xml->root;
    if (strcmp(root->name, "robot") != 0) {
        error_at(u, root, NULL, " is not <%s>: this is not a URDF file", "robot");
        return;
    }
    if (!take_memory(u)) return;
    // links first: joints may stand before what they name
    for (const tali_xml_element *e = root->first; e != NULL; e = e->next) {
        if (strcmp(e->name, "link") == 0) {
            read_link(u, e, u->num_links);
            u->num_links += 1;
        }
    }
    for (const tali_xml_element *e = root->first; e != NULL; e = e->next) {
        if (strcmp(e->name, "joint") == 0) {
            read_joint(u, e, u->num_joints);
            u->num_joints += 1;
        } else if (strcmp(e->name, "link") != 0) {
            ignore(u, e);
        }
    }
    for (int i = 0; i < u->num_joints; ++i) {
        read_mimic(u, &u->joints[i]);
    }
    hang_links(u);
    if (tal_diagnostics_num_errors(u->found) == 0) find_root(u);
    find_starts(u);
    report_ignored(u);
}
