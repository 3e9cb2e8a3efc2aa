// A model scaled, element by element of its document.
//
// Lengths are scaled component by component along the axes they are written in, by the factors of
// the body that carries them, whatever frames are between.
#include "opensim/scale_internal.h"

#include <math.h>
#include <string.h>

static double mean_of(double a, double b)
{
    return 0.5 * (a + b);
}

// |s o a|: how a length along a direction of the body grows.
static double along(tal_vec3 s, tal_vec3 a)
{
    return tal_v3_norm(tal_v3(s.x * a.x, s.y * a.y, s.z * a.z));
}

static void note_memory(tali_osim *o, bool good)
{
    o->no_memory = o->no_memory || !good;
}

// --- properties ---

// A property of n numbers, 3 at most, each by its factor; nothing where it is not there.
static void scale_list(tali_osim *o, const tali_xml_element *object, const char *name,
                       const double factors[], int n)
{
    const tali_xml_element *e = tali_xml_child(object, name);
    double v[3];
    if (e == NULL || tali_osim_parse_numbers(e->text, v, n) != n) return;
    for (int i = 0; i < n; ++i) {
        v[i] *= factors[i];
    }
    note_memory(o, tali_osim_set_numbers(&o->arena, e, v, n));
}

static void scale_vector(tali_osim *o, const tali_xml_element *object, const char *name, tal_vec3 s)
{
    scale_list(o, object, name, &s.x, 3);
}

static void scale_number(tali_osim *o, const tali_xml_element *object, const char *name,
                         double factor)
{
    scale_list(o, object, name, &factor, 1);
}

// The next element of a tree in the order of the document; NULL after the last.
static const tali_xml_element *next_of(const tali_xml_element *root, const tali_xml_element *e)
{
    if (e->first != NULL) return e->first;
    while (e != root && e->next == NULL) {
        e = e->parent;
    }
    return e != root ? e->next : NULL;
}

// --- points ---

// Points on bodies, by the class of their owner.
static const struct {
    const char *owner, *socket, *body, *point;
} places[] = {{"PathPoint", "parent_frame", "body", "location"},
              {"ConditionalPathPoint", "parent_frame", "body", "location"},
              {"MusclePoint", "parent_frame", "body", "location"},
              {"MuscleViaPoint", "parent_frame", "body", "location"},
              {"Marker", "parent_frame", "body", "location"},
              {"Station", "parent_frame", "body", "location"},
              {"PointActuator", "body", "body", "point"},
              {"BodyActuator", "body", "body", "point"},
              {"PointToPointSpring", "body1", "body1", "point1"},
              {"PointToPointSpring", "body2", "body2", "point2"},
              {"PointConstraint", "body_1", "body_1", "location_body_1"},
              {"PointConstraint", "body_2", "body_2", "location_body_2"},
              {"ConstantDistanceConstraint", "body_1", "body_1", "location_body_1"},
              {"ConstantDistanceConstraint", "body_2", "body_2", "location_body_2"},
              {"WeldConstraint", "frame1", "body_1", "location_body_1"},
              {"WeldConstraint", "frame2", "body_2", "location_body_2"},
              {"BushingForce", "frame1", "body_1", "location_body_1"},
              {"BushingForce", "frame2", "body_2", "location_body_2"},
              {"PointOnLineConstraint", "line_body", "line_body", "point_on_line"},
              {"PointOnLineConstraint", "follower_body", "follower_body", "point_on_follower"},
              {"ContactSphere", "frame", "body_name", "location"},
              {"ContactHalfSpace", "frame", "body_name", "location"},
              {"ContactMesh", "frame", "body_name", "location"}};

// The factors of the body that a socket or a property of an object leads to; all one when there is
// none.
static tal_vec3 factors_of(tali_osim *o, const tali_xml_element *object, const char *socket,
                           const char *property, const tal_vec3 factors[])
{
    const int frame = tali_osim_frame_of(o, object, socket, property);
    const int body = frame >= 0 ? o->frames[frame].body : -1;
    return body >= 0 ? factors[body] : tal_v3(1.0, 1.0, 1.0);
}

// Each function of a point that moves is multiplied by the factor of its axis.
static void scale_moving_point(tali_osim *o, const tali_xml_element *e, tal_vec3 s)
{
    static const char *const names[3][2] = {{"x_location", "XAttachment"},
                                            {"y_location", "YAttachment"},
                                            {"z_location", "ZAttachment"}};
    const double factors[3] = {s.x, s.y, s.z};
    for (int k = 0; k < 3; ++k) {
        const tali_xml_element *f = tali_osim_object(e, names[k][0]);
        if (f == NULL) f = tali_osim_object(e, names[k][1]);
        while (f != NULL &&
               (strcmp(f->name, "objects") == 0 || strcmp(f->name, "FunctionSet") == 0)) {
            f = f->first;
        }
        if (f != NULL) note_memory(o, tali_osim_multiply_function(o, f, factors[k]));
    }
}

static void scale_points(tali_osim *o, const tal_vec3 factors[])
{
    const int num_places = (int)(sizeof places / sizeof *places);
    for (const tali_xml_element *e = o->model; e != NULL; e = next_of(o->model, e)) {
        for (int i = 0; i < num_places; ++i) {
            if (strcmp(places[i].owner, e->name) != 0) continue;
            if (tali_xml_child(e, places[i].point) == NULL) continue;
            scale_vector(o, e, places[i].point,
                         factors_of(o, e, places[i].socket, places[i].body, factors));
        }
        if (strcmp(e->name, "MovingPathPoint") == 0 || strcmp(e->name, "MovingMusclePoint") == 0) {
            scale_moving_point(o, e, factors_of(o, e, "parent_frame", "body", factors));
        }
    }
}

// --- frames and joints ---

static void scale_frames(tali_osim *o, const tal_vec3 factors[])
{
    for (int i = 0; i < o->num_frames; ++i) {
        const tali_osim_frame *frame = &o->frames[i];
        if (frame->socket == NULL || frame->body < 0) continue;
        scale_vector(o, frame->element, "translation", factors[frame->body]);
    }
}

// Whether a function moves as far as its coordinate says: that is a length already.
static bool is_identity(const tali_xml_element *function)
{
    double c[3];
    const tali_xml_element *e = tali_xml_child(function, "coefficients");
    return strcmp(function->name, "LinearFunction") == 0 && e != NULL &&
           tali_osim_parse_numbers(e->text, c, 3) == 2 && c[0] == 1.0 && c[1] == 0.0;
}

static bool is_translation(tali_osim *o, const tali_xml_element *axis)
{
    if (tali_xml_child(axis, "is_rotation") != NULL) { // before 1.9.1
        return !tali_osim_bool(o, axis, "is_rotation", true);
    }
    return strncmp(tali_osim_name(axis), "translation", 11) == 0;
}

// Translations of a CustomJoint are lengths on the parent.
static void scale_transform(tali_osim *o, const tali_osim_joint *joint, tal_vec3 s)
{
    const tali_xml_element *root = joint->element;
    for (const tali_xml_element *e = root; e != NULL; e = next_of(root, e)) {
        if (strcmp(e->name, "TransformAxis") != 0 || !is_translation(o, e)) continue;
        const tali_xml_element *function = tali_osim_object(e, "function");
        if (function == NULL || is_identity(function)) continue;
        const tal_vec3 a = tali_osim_vec3(o, e, "axis", tal_v3(1.0, 0.0, 0.0));
        const double factor = fabs(a.x) * s.x + fabs(a.y) * s.y + fabs(a.z) * s.z;
        note_memory(o, tali_osim_multiply_function(o, function, factor));
    }
}

// The ellipsoid is the thorax's, the axis of winging the shoulder blade's.
static void scale_scapula(tali_osim *o, const tali_osim_joint *joint, const tal_vec3 factors[])
{
    const tal_vec3 s = factors[joint->child];
    scale_vector(o, joint->element, "thoracic_ellipsoid_radii_x_y_z", factors[joint->parent]);
    scale_list(o, joint->element, "scapula_winging_axis_origin", &s.x, 2);
}

static void scale_joints(tali_osim *o, const tal_vec3 factors[])
{
    for (int i = 0; i < o->num_joints; ++i) {
        const tali_osim_joint *joint = &o->joints[i];
        if (joint->element == NULL) continue;
        scale_vector(o, joint->element, "location_in_parent", factors[joint->parent]);
        scale_vector(o, joint->element, "location", factors[joint->child]);
        scale_vector(o, joint->element, "radii_x_y_z", factors[joint->parent]);
        if (joint->kind == TALI_OSIM_SCAPULOTHORACIC) scale_scapula(o, joint, factors);
        if (joint->kind == TALI_OSIM_CUSTOM) scale_transform(o, joint, factors[joint->parent]);
    }
}

// --- obstacles ---

static void scale_wraps(tali_osim *o, const tal_vec3 factors[])
{
    for (int i = 0; i < o->num_wraps; ++i) {
        const tali_osim_wrap *it = &o->wraps[i];
        const tal_vec3 s = factors[it->body];
        const tal_mat3 R = it->X_BW.R;
        const double x = along(s, R.x), y = along(s, R.y), z = along(s, R.z);
        const bool is_sphere = strcmp(it->element->name, "WrapSphere") == 0;
        const double radius = is_sphere ? (s.x + s.y + s.z) / 3.0 : mean_of(x, y);
        scale_vector(o, it->element, "translation", s);
        scale_number(o, it->element, "radius", radius);
        scale_number(o, it->element, "length", z);
        scale_number(o, it->element, "inner_radius", radius);
        scale_number(o, it->element, "outer_radius", radius);
        scale_vector(o, it->element, "dimensions", tal_v3(x, y, z));
    }
}

// --- masses ---

static const char *const old_inertia[6] = {"inertia_xx", "inertia_yy", "inertia_zz",
                                           "inertia_xy", "inertia_xz", "inertia_yz"};

// xx yy zz xy xz yz about the mass center.
static void read_inertia(tali_osim *o, const tali_xml_element *body, double I[6])
{
    memset(I, 0, 6 * sizeof *I);
    if (tali_osim_numbers(o, body, "inertia", 6, I)) return;
    for (int k = 0; k < 6; ++k) {
        I[k] = tali_osim_number(o, body, old_inertia[k], 0.0);
    }
}

static void write_inertia(tali_osim *o, const tali_xml_element *body, const double I[6])
{
    const tali_xml_element *whole = tali_xml_child(body, "inertia");
    if (whole != NULL || tali_xml_child(body, old_inertia[0]) == NULL) {
        note_memory(o, tali_osim_set_property(&o->arena, body, "inertia", I, 6));
        return;
    }
    for (int k = 0; k < 6; ++k) {
        note_memory(o, tali_osim_set_property(&o->arena, body, old_inertia[k], &I[k], 1));
    }
}

// Unequal factors: as if the body were a cylinder about the axis of its least inertia, of mass m
// before and m * part afterwards.
static void scale_cylinder(double I[6], double m, double part, tal_vec3 factors)
{
    const double s[3] = {factors.x, factors.y, factors.z};
    const int axis = I[0] <= I[1] ? (I[0] <= I[2] ? 0 : 2) : (I[1] <= I[2] ? 1 : 2);
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    const double other = axis == 0 ? I[1] : I[0];
    const double r2 = 2.0 * I[axis] / m;
    const double l2 = fmax(12.0 * (other - 0.25 * m * r2) / m, 0.0);
    const double mass = m * part, r2_new = r2 * s[b] * s[c], l2_new = l2 * s[axis] * s[axis];
    I[axis] = 0.5 * mass * r2_new;
    I[b] = I[c] = mass * (l2_new / 12.0 + r2_new / 4.0);
    I[3] *= part * s[0] * s[1];
    I[4] *= part * s[0] * s[2];
    I[5] *= part * s[1] * s[2];
}

static void scale_inertia(double I[6], double m, double part, tal_vec3 s)
{
    if (s.x == s.y && s.y == s.z) {
        for (int k = 0; k < 6; ++k) {
            I[k] *= part * s.x * s.x;
        }
    } else if (m > 0.0) {
        scale_cylinder(I, m, part, s);
    }
}

// Pictures of a body grow with it.
static void scale_looks(tali_osim *o, const tali_xml_element *body, tal_vec3 s)
{
    for (const tali_xml_element *e = body; e != NULL; e = next_of(body, e)) {
        const bool is_other =
            strcmp(e->name, "FrameGeometry") == 0 || strcmp(e->name, "DisplayGeometry") == 0;
        if (!is_other) scale_vector(o, e, "scale_factors", s);
    }
}

// Bodies one by one, then all masses to their sum. Where the distribution of mass is kept, an
// inertia goes with the mass alone, as in models that OpenSim's own scaling has made.
static void scale_bodies(tali_osim *o, const tal_vec3 factors[], bool preserve_mass,
                         double total_mass)
{
    double sum = 0.0;
    for (int i = 1; i < o->num_bodies; ++i) {
        const tal_vec3 s = factors[i];
        const double part = preserve_mass ? 1.0 : fabs(s.x * s.y * s.z);
        sum += part * tali_osim_number(o, o->bodies[i].element, "mass", 0.0);
    }
    const double to_total = total_mass > 0.0 && sum > 0.0 ? total_mass / sum : 1.0;
    for (int i = 1; i < o->num_bodies; ++i) {
        const tali_xml_element *e = o->bodies[i].element;
        const tal_vec3 s = factors[i];
        const double part = preserve_mass ? 1.0 : fabs(s.x * s.y * s.z);
        const double m = tali_osim_number(o, e, "mass", 0.0), mass = m * part * to_total;
        double I[6];
        read_inertia(o, e, I);
        if (!preserve_mass) scale_inertia(I, m, part, s);
        for (int k = 0; k < 6; ++k) {
            I[k] *= to_total;
        }
        note_memory(o, tali_osim_set_property(&o->arena, e, "mass", &mass, 1));
        write_inertia(o, e, I);
        scale_vector(o, e, "mass_center", s);
        scale_looks(o, e, s);
    }
}

void tali_osim_multiply_mass(tali_osim *o, const tali_xml_element *body, double ratio)
{
    const double mass = ratio * tali_osim_number(o, body, "mass", 0.0);
    double I[6];
    read_inertia(o, body, I);
    for (int k = 0; k < 6; ++k) {
        I[k] *= ratio;
    }
    note_memory(o, tali_osim_set_property(&o->arena, body, "mass", &mass, 1));
    write_inertia(o, body, I);
}

// --- all of it ---

void tali_osim_scale_document(tali_osim *o, const tal_vec3 factors[], bool preserve_mass,
                              double total_mass)
{
    scale_bodies(o, factors, preserve_mass, total_mass);
    scale_frames(o, factors);
    scale_joints(o, factors);
    scale_wraps(o, factors);
    scale_points(o, factors);
}

void tali_osim_scale_lengths(tali_osim *o, const double ratios[])
{
    static const char *const names[] = {"optimal_fiber_length", "tendon_slack_length",
                                        "resting_length"};
    for (int i = 0; i < o->num_forces; ++i) {
        for (int k = 0; k < 3 && o->forces[i].path != NULL; ++k) {
            scale_number(o, o->forces[i].element, names[k], ratios[i]);
        }
    }
}
