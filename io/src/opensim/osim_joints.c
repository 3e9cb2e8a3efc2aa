// Joints and their coordinates, of all versions.
#include "error_internal.h"

#include "opensim/osim_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- kinds ---

typedef struct joint_row {
    const char *name;
    tali_osim_joint_kind kind;
    int num;           // coordinates; -1: the file says
    const char *kinds; // of each: r, t
} joint_row;

static const joint_row kinds[] = {{"WeldJoint", TALI_OSIM_WELD, 0, ""},
                                  {"PinJoint", TALI_OSIM_PIN, 1, "r"},
                                  {"SliderJoint", TALI_OSIM_SLIDER, 1, "t"},
                                  {"UniversalJoint", TALI_OSIM_UNIVERSAL, 2, "rr"},
                                  {"GimbalJoint", TALI_OSIM_GIMBAL, 3, "rrr"},
                                  {"BallJoint", TALI_OSIM_BALL, 3, "rrr"},
                                  {"PlanarJoint", TALI_OSIM_PLANAR, 3, "rtt"},
                                  {"FreeJoint", TALI_OSIM_FREE, 6, "rrrttt"},
                                  {"EllipsoidJoint", TALI_OSIM_ELLIPSOID, 3, "rrr"},
                                  {"ScapulothoracicJoint", TALI_OSIM_SCAPULOTHORACIC, 4, "rrrr"},
                                  {"CustomJoint", TALI_OSIM_CUSTOM, -1, ""}};

enum {
    NUM_KINDS = sizeof kinds / sizeof *kinds
};

static const char *kind_at(const void *context, int i)
{
    (void)context;
    return i < NUM_KINDS ? kinds[i].name : NULL;
}

static const joint_row *find_kind(tali_osim *o, const tali_xml_element *e)
{
    for (int i = 0; i < NUM_KINDS; ++i) {
        if (strcmp(kinds[i].name, e->name) == 0) return &kinds[i];
    }
    const char *meant = tali_text_did_you_mean(e->name, kind_at, NULL);
    tali_osim_error(o, e, ": joints of this kind are not read%s%s%s",
                    meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                    meant != NULL ? "'?)" : "");
    return NULL;
}

// --- coordinates ---

// A name in the arena, for what the file does not name.
static const char *make_name(tali_osim *o, const char *owner, const char *end, int i)
{
    char name[128];
    (void)snprintf(name, sizeof name, i < 0 ? "%.50s%s" : "%.50s%s%d", owner, end, i);
    const char *copy = tali_arena_copy(&o->arena, name, strlen(name));
    o->no_memory = o->no_memory || copy == NULL;
    return copy != NULL ? copy : "";
}

static void read_prescribed(tali_osim *o, tali_osim_coordinate *q)
{
    const tali_xml_element *function = tali_osim_object(q->element, "prescribed_function");
    if (function == NULL || !tali_osim_bool(o, q->element, "prescribed", false)) return;
    if (q->locked) return; // being locked counts more
    q->prescribed = tali_osim_read_function(o, function, 1);
}

// Where it begins, its range, and whether it is held.
static void read_coordinate_values(tali_osim *o, tali_osim_coordinate *q)
{
    const tali_xml_element *e = q->element;
    double range[2];
    tali_osim_check_class(o, e);
    q->value = tali_osim_number(o, e, "default_value", 0.0);
    q->speed = tali_osim_number(o, e, "default_speed_value", 0.0);
    q->clamped = tali_osim_bool(o, e, "clamped", false);
    q->locked = tali_osim_bool(o, e, "locked", false);
    read_prescribed(o, q);
    const tali_xml_element *property = tali_osim_property(e, "range");
    if (property != NULL) {
        if (tali_osim_parse_numbers(property->text, range, 2) != 2 || !(range[0] <= range[1])) {
            tali_osim_error(o, property, ": '%.40s' is not a lower and an upper bound",
                            property->text);
            return;
        }
        q->low = range[0];
        q->high = range[1];
    }
    if (q->clamped && !(q->value >= q->low && q->value <= q->high)) {
        tali_osim_warn(o, e, ": its default value %g is outside of its range, %g to %g", q->value,
                       q->low, q->high);
    }
}

// `e` is NULL for a coordinate that the file does not mention.
static void add_coordinate(tali_osim *o, int joint, const tali_xml_element *e, const char *name)
{
    tali_osim_joint *it = &o->joints[joint];
    tali_osim_coordinate *q = TALI_OSIM_ADD(o, coordinates);
    if (q == NULL) return;
    *q = (tali_osim_coordinate){.element = e,
                                .name = name,
                                .joint = joint,
                                .i = it->num,
                                .kind = TALI_OSIM_COUPLED,
                                .low = -INFINITY,
                                .high = INFINITY,
                                .mobility = {{-1}, -1}};
    it->num += 1;
    const tali_xml_element *at = e != NULL ? e : it->element;
    const char *flaw = tali_text_name_flaw(name);
    if (flaw != NULL) {
        tali_osim_error(o, at, ": %s", flaw);
    } else if (tali_name_map_find(&o->coordinate_names, name) >= 0) {
        tali_osim_error(o, at, ": the name of coordinate '%.60s' is used already", name);
    } else if (!tali_name_map_add(&o->coordinate_names, name, o->num_coordinates - 1)) {
        o->no_memory = true;
    }
    if (e != NULL) read_coordinate_values(o, q);
}

static const char *coordinate_at(const void *context, int i)
{
    const tali_osim *o = context;
    return i < o->num_coordinates ? o->coordinates[i].name : NULL;
}

int tali_osim_find_coordinate(tali_osim *o, const tali_xml_element *at, const char *name)
{
    const char *last = tali_osim_last_name(name);
    const int i = tali_name_map_find(&o->coordinate_names, last);
    if (i >= 0) return i;
    const char *meant = tali_text_did_you_mean(last, coordinate_at, o);
    tali_osim_error(o, at, ": there is no coordinate '%.60s'%s%s%s", name,
                    meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                    meant != NULL ? "'?)" : "");
    return -1;
}

// The coordinates that the file has, and those that it leaves out.
static void read_coordinates(tali_osim *o, int joint, const joint_row *row)
{
    const tali_xml_element *e = o->joints[joint].element;
    const int most = row->num >= 0 ? row->num : TAL_MAX_NU;
    const tali_xml_element *c = tali_osim_first_of(e, "coordinates");
    if (c == NULL) c = tali_osim_first_of(e, "CoordinateSet");
    o->joints[joint].first = o->num_coordinates;
    for (; c != NULL; c = c->next) {
        if (strcmp(c->name, "Coordinate") != 0) {
            tali_osim_error(o, c, " is not a <Coordinate>");
        } else if (o->joints[joint].num == most) {
            tali_osim_error(o, c, ": <%s> has %d coordinate%s, and this is one more", row->name,
                            most, most == 1 ? "" : "s");
        } else {
            add_coordinate(o, joint, c, tali_osim_name(c));
        }
    }
    while (o->joints[joint].num < row->num && !o->no_memory) {
        const int i = o->joints[joint].num;
        add_coordinate(o, joint, NULL, make_name(o, o->joints[joint].name, "_coord_", i));
    }
    for (int i = 0; i < row->num && i < o->joints[joint].num; ++i) {
        o->coordinates[o->joints[joint].first + i].kind =
            row->kinds[i] == 'r' ? TALI_OSIM_ROTATIONAL : TALI_OSIM_TRANSLATIONAL;
    }
}

// --- frames of joints ---

static tal_xform read_place(tali_osim *o, const tali_xml_element *e, const char *angles,
                            const char *p)
{
    const tal_vec3 zero = TAL_VEC3_ZERO;
    return tali_osim_xform(tali_osim_vec3(o, e, angles, zero), tali_osim_vec3(o, e, p, zero));
}

// Version 4: two sockets. False, and errors, when they lead nowhere.
static bool read_sockets(tali_osim *o, tali_osim_joint *joint)
{
    const int parent = tali_osim_frame_of(o, joint->element, "parent_frame", "parent_frame");
    const int child = tali_osim_frame_of(o, joint->element, "child_frame", "child_frame");
    if (parent < 0 || child < 0) return false;
    joint->parent = o->frames[parent].body;
    joint->child = o->frames[child].body;
    joint->X_PF = o->frames[parent].X_BF;
    joint->X_CM = o->frames[child].X_BF;
    return true;
}

// Before version 4: the joint stands in its child and names its parent.
static bool read_nested(tali_osim *o, tali_osim_joint *joint, int child)
{
    const tali_xml_element *e = joint->element;
    const int parent = tali_osim_frame_of(o, e, "parent_body", "parent_body");
    if (parent < 0) return false;
    joint->child = child;
    joint->parent = o->frames[parent].body;
    joint->X_PF = tal_xf_mul(o->frames[parent].X_BF,
                             read_place(o, e, "orientation_in_parent", "location_in_parent"));
    joint->X_CM = read_place(o, e, "orientation", "location");
    if (!tali_osim_bool(o, e, "reverse", false)) return true;
    const tal_xform X = joint->X_PF;
    joint->X_PF = joint->X_CM;
    joint->X_CM = X;
    joint->child = joint->parent;
    joint->parent = child;
    return true;
}

// --- the shoulder blade ---

// It slides on an ellipsoid of the thorax, and wings about an axis in the plane that touches there.
// The ellipsoid's frame is turned by a right angle about z, so that x and y change places.
static void read_scapula(tali_osim *o, tali_osim_joint *joint)
{
    const tali_xml_element *e = joint->element;
    const tal_vec3 radii =
        tali_osim_vec3(o, e, "thoracic_ellipsoid_radii_x_y_z", tal_v3(1.0, 1.0, 1.0));
    double origin[2] = {0.0, 0.0};
    (void)tali_osim_numbers(o, e, "scapula_winging_axis_origin", 2, origin);
    const double direction = tali_osim_number(o, e, "scapula_winging_axis_direction", 0.0);
    joint->radii = tal_v3(radii.y, radii.x, radii.z);
    const tal_vec3 axis = tal_v3(-sin(direction), cos(direction), 0.0), z = tal_v3(0.0, 0.0, 1.0);
    // any two axes across it will do: the winging turns about this one alone
    joint->X_EW = (tal_xform){{z, tal_v3_cross(axis, z), axis}, tal_v3(origin[0], origin[1], 0.0)};
}

// --- one joint ---

// `body` is the one it stands in; -1: it stands in the set of joints.
static void read_joint(tali_osim *o, const tali_xml_element *e, int body)
{
    const joint_row *row = find_kind(o, e);
    if (row == NULL) return;
    tali_osim_joint *joint = TALI_OSIM_ADD(o, joints);
    if (joint == NULL) return;
    const int number = o->num_joints - 1;
    *joint = (tali_osim_joint){.element = e, .name = tali_osim_name(e), .kind = row->kind};
    if (joint->name[0] == '\0' && body >= 0) {
        joint->name = make_name(o, o->bodies[body].name, "_joint", -1);
    }
    tali_osim_check_class(o, e);
    const bool good = body < 0 ? read_sockets(o, joint) : read_nested(o, joint, body);
    if (good && joint->parent == joint->child) {
        tali_osim_error(o, e, ": it connects body '%s' with itself", o->bodies[joint->child].name);
    }
    if (joint->kind == TALI_OSIM_ELLIPSOID) {
        joint->radii = tali_osim_vec3(o, e, "radii_x_y_z", tal_v3(1.0, 1.0, 1.0));
    }
    if (joint->kind == TALI_OSIM_SCAPULOTHORACIC) read_scapula(o, joint);
    read_coordinates(o, number, row);
    if (row->kind == TALI_OSIM_CUSTOM && !o->no_memory) {
        tali_osim_read_transform(o, &o->joints[number]);
    }
}

// The joint that stands in a body before version 4; NULL: none.
static const tali_xml_element *nested_joint(const tali_xml_element *body)
{
    const tali_xml_element *wrapper = tali_xml_child(body, "Joint");
    if (wrapper == NULL) wrapper = tali_xml_child(body, "joint");
    return wrapper != NULL ? wrapper->first : NULL;
}

static void add_free_joint(tali_osim *o, int body)
{
    const tali_osim_body *it = &o->bodies[body];
    tali_osim_warn(o, it->element, ": no joint connects it with ground; it moves freely");
    tali_osim_joint *joint = TALI_OSIM_ADD(o, joints);
    if (joint == NULL) return;
    const int number = o->num_joints - 1;
    *joint = (tali_osim_joint){.element = it->element,
                               .name = make_name(o, it->name, "_freejoint", -1),
                               .kind = TALI_OSIM_FREE,
                               .child = body,
                               .X_PF = TAL_XFORM_IDENTITY,
                               .X_CM = TAL_XFORM_IDENTITY,
                               .first = o->num_coordinates};
    for (int i = 0; i < 6 && !o->no_memory; ++i) {
        add_coordinate(o, number, NULL, make_name(o, o->joints[number].name, "_coord_", i));
        if (o->no_memory) return;
        o->coordinates[o->num_coordinates - 1].kind =
            i < 3 ? TALI_OSIM_ROTATIONAL : TALI_OSIM_TRANSLATIONAL;
    }
}

bool tali_osim_span(tali_osim *o, tali_osim_tree *t)
{
    const size_t bodies = (size_t)o->num_bodies, joints = (size_t)o->num_joints;
    tal_graph_joint *graph = tali_arena_take(&o->arena, joints * sizeof *graph);
    int *work = tali_arena_take(&o->arena, bodies * sizeof *work);
    t->steps = tali_arena_take(&o->arena, bodies * sizeof *t->steps);
    t->closing = tali_arena_take(&o->arena, joints * sizeof *t->closing);
    t->num_closing = 0;
    if (graph == NULL || work == NULL || t->steps == NULL || t->closing == NULL) {
        o->no_memory = true;
        return false;
    }
    for (int i = 0; i < o->num_joints; ++i) {
        graph[i] = (tal_graph_joint){o->joints[i].parent, o->joints[i].child, false};
    }
    tal_error err = {TAL_OK, "", ""};
    if (tal_graph_span(NULL, o->num_bodies, graph, o->num_joints, t->steps, t->closing,
                       &t->num_closing, work, &err) == TAL_OK) {
        return true;
    }
    tali_osim_error(o, o->model, ": %s", err.message);
    return false;
}

// Bodies that no joint connects with Ground move freely.
static void free_bodies(tali_osim *o)
{
    tali_osim_tree t;
    if (!tali_osim_span(o, &t)) return;
    for (int k = 0; k < o->num_bodies - 1 && !o->no_memory; ++k) {
        if (t.steps[k].joint < 0) add_free_joint(o, t.steps[k].body);
    }
}

void tali_osim_read_joints(tali_osim *o)
{
    for (int i = 0; i < o->num_bodies; ++i) {
        const tali_xml_element *body = o->bodies[i].element;
        const tali_xml_element *e = body != NULL ? nested_joint(body) : NULL;
        if (e != NULL) read_joint(o, e, i);
    }
    const tali_xml_element *e = tali_osim_first_of(o->model, "JointSet");
    for (; e != NULL; e = e->next) {
        read_joint(o, e, -1);
    }
    if (!o->no_memory && tal_diagnostics_num_errors(o->found) == 0) free_bodies(o);
}
