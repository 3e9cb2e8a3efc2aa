// Bodies, joints and coordinates as elements of .osim files.
#include "function_facts_internal.h"
#include "matter_facts_internal.h"

#include "opensim/osim_write_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- bodies ---

// What OpenSim's bodies do not have.
static void check_body(tali_osim_writer *w, tal_body_ix body)
{
    const tal_matter *matter = w->model->matter;
    const tali_matter_body_facts facts = tali_matter_body_facts_of(matter, body);
    const char *name = tal_body_name(matter, body);
    const bool one = tal_body_nu(matter, body) == 1;
    if (facts.may_be_fast) {
        tali_osim_refuse(w, "body '%s' is fast, which cannot be said in an .osim file", name);
    }
    if (one && tal_body_rotor_inertia(matter, w->model->state, body) != 0.0) {
        tali_osim_refuse(w, "body '%s' has a rotor, which cannot be said in an .osim file", name);
    }
    for (int i = 0; i < tal_forces_num(w->model->forces); ++i) {
        const tal_force_ix force = {i};
        if (strcmp(tal_force_kind(w->model->forces, force), "gravity") != 0) continue;
        if (!tal_gravity_is_excluded(w->model->forces, w->model->state, force, body)) continue;
        tali_osim_refuse(w, "body '%s' has no weight, which cannot be said in an .osim file", name);
    }
}

// Mass, and the inertia about the mass center.
static void write_mass(tali_osim_writer *w, tal_body_ix body)
{
    const tal_mass_props mass = tal_body_mass_props(w->model->matter, w->model->state, body);
    const tal_xform X_CB = tal_xf_from_p(tal_v3_neg(mass.com));
    const tal_sym3 I = tal_mass_props_transform(&X_CB, &mass).inertia;
    const double inertia[] = {I.xx, I.yy, I.zz, I.xy, I.xz, I.yz};
    tali_osim_put_number(w, "mass", mass.mass);
    tali_osim_put_vec3(w, "mass_center", mass.com);
    tali_osim_put_numbers(w, "inertia", inertia, 6);
}

void tali_osim_write_bodies(tali_osim_writer *w)
{
    const tal_matter *matter = w->model->matter;
    tali_osim_open_tag(w, "BodySet", "bodyset");
    tali_osim_open_tag(w, "objects", NULL);
    for (int i = 1; i < tal_matter_num_bodies(matter); ++i) {
        const tal_body_ix body = {i};
        check_body(w, body);
        tali_osim_open_tag(w, "Body", tal_body_name(matter, body));
        tali_osim_write_point_frames(w, i);
        tali_osim_write_wraps(w, i);
        write_mass(w, body);
        tali_osim_close_tag(w, "Body");
    }
    tali_osim_close_tag(w, "objects");
    tali_osim_close_tag(w, "BodySet");
}

// --- kinds of joints ---

// A kind of joint, and what it is as a CustomJoint where OpenSim has no other.
typedef struct joint_kind {
    const char *mobilizer, *tag;
    int turns;          // coordinates that turn, which come first; -1: functions say
    const char *custom; // of each coordinate the axis: "Z" turns about z, "z" moves along it
} joint_kind;

static const joint_kind kinds[] = {
    {"weld", "WeldJoint", 0, NULL},           {"pin", "PinJoint", 1, NULL},
    {"slider", "SliderJoint", 0, NULL},       {"universal", "UniversalJoint", 2, NULL},
    {"gimbal", "GimbalJoint", 3, NULL},       {"ball", "BallJoint", 3, NULL},
    {"planar", "PlanarJoint", 1, NULL},       {"free", "FreeJoint", 3, NULL},
    {"ellipsoid", "EllipsoidJoint", 3, NULL}, {"function-based", "CustomJoint", -1, NULL},
    {"cylinder", "CustomJoint", 1, "Zz"},     {"translation", "CustomJoint", 0, "xyz"},
    {"bushing", "CustomJoint", 3, "XYZxyz"}};

enum {
    NUM_KINDS = sizeof kinds / sizeof *kinds
};

// NULL: OpenSim has none.
static const joint_kind *kind_of(const tal_matter *matter, tal_body_ix body)
{
    const tali_matter_body_facts facts = tali_matter_body_facts_of(matter, body);
    const bool by_functions = tali_matter_function_based_facts(facts.ops, facts.self) != NULL;
    const char *name = by_functions ? "function-based" : tal_body_mobilizer(matter, body);
    for (int i = 0; i < NUM_KINDS; ++i) {
        if (strcmp(kinds[i].mobilizer, name) == 0) return &kinds[i];
    }
    return NULL;
}

static bool has_quaternion(const tali_osim_writer *w, tal_body_ix body)
{
    const tal_matter *matter = w->model->matter;
    const tali_matter_body_facts facts = tali_matter_body_facts_of(matter, body);
    return facts.ops->has_quaternion && !tal_body_uses_angles(matter, w->model->state, body);
}

// --- names ---

static const char *joint_name(const tali_osim_writer *w, tal_body_ix body, char room[])
{
    const struct tal_model_kept *kept = w->model->kept;
    if (kept != NULL && body.i < kept->num_joint_names && kept->joint_names[body.i] != NULL) {
        return kept->joint_names[body.i];
    }
    (void)snprintf(room, TALI_OSIM_NAME, "%s_joint", tal_body_name(w->model->matter, body));
    return room;
}

void tali_osim_coordinate_name(const tali_osim_writer *w, tal_mobility at, char name[])
{
    const char *body = tal_body_name(w->model->matter, at.body);
    char given[TAL_COORDINATE_NAME_SIZE] = "", usual[TALI_OSIM_NAME];
    if (!has_quaternion(w, at.body)) {
        (void)tal_body_coordinate_name(w->model->matter, w->model->state, at.body, at.i, given);
    }
    (void)snprintf(usual, sizeof usual, "%s.q%d", body, at.i);
    if (given[0] != '\0' && strcmp(given, usual) != 0) {
        (void)snprintf(name, TALI_OSIM_NAME, "%s", given);
    } else {
        (void)snprintf(name, TALI_OSIM_NAME, "%s_coord_%d", body, at.i);
    }
}

void tali_osim_coordinate_path(const tali_osim_writer *w, tal_mobility at, char path[])
{
    char name[TALI_OSIM_NAME], joint[TALI_OSIM_NAME];
    tali_osim_coordinate_name(w, at, name);
    (void)snprintf(path, 3 * TALI_OSIM_NAME, "/jointset/%s/%s", joint_name(w, at.body, joint),
                   name);
}

static bool is_unit_slope(const tal_mobilizer_function *term, int i)
{
    tali_function_facts facts;
    if (term->function == NULL || term->num_coords != 1 || term->coords[0] != i) return false;
    if (!tali_function_facts_of(term->function, &facts)) return false;
    return strcmp(facts.kind, "linear function") == 0 && fabs(facts.list[0]) == 1.0;
}

// A translation counts more, as it comes later.
bool tali_osim_is_rotational(const tali_osim_writer *w, tal_mobility at)
{
    const tali_matter_body_facts facts = tali_matter_body_facts_of(w->model->matter, at.body);
    const tal_function_based_def *def = tali_matter_function_based_facts(facts.ops, facts.self);
    const joint_kind *kind = kind_of(w->model->matter, at.body);
    if (def == NULL) return kind != NULL && at.i < kind->turns;
    bool turns = false;
    for (int k = 0; k < 3; ++k) {
        turns = turns || is_unit_slope(&def->rotation[k], at.i);
    }
    for (int k = 0; k < 3; ++k) {
        if (is_unit_slope(&def->translation[k], at.i)) return false;
    }
    return turns;
}

// --- coordinates ---

// The function of time that moves a mobility; NULL: none. What else moves it is refused.
static const tal_function *motion_of(tali_osim_writer *w, tal_mobility at)
{
    const tal_matter *matter = w->model->matter;
    for (int k = 0; k < tal_matter_num_motions(matter); ++k) {
        const tal_motion_ix motion = {k};
        const tali_matter_motion_facts facts = tali_matter_motion_facts_of(matter, motion);
        const bool all = facts.mobility < 0;
        if (facts.body.i != at.body.i || !(all || facts.mobility == at.i)) continue;
        if (!tal_motion_is_enabled(matter, w->model->state, motion)) continue;
        if (facts.num_functions > 0 && facts.level == TAL_LEVEL_POSITION) {
            return facts.functions[all ? at.i : 0];
        }
        tali_osim_refuse(w,
                         "motion '%s' is no function of time that gives coordinates, and cannot "
                         "be said in an .osim file",
                         tal_motion_name(matter, motion));
    }
    return NULL;
}

// Where a coordinate begins; of a quaternion, its angles.
static double value_of(const tali_osim_writer *w, tal_mobility at)
{
    const tal_matter *matter = w->model->matter;
    tal_state *state = w->model->state;
    const double *lock = tali_matter_lock_values(matter, state, at.body);
    if (!has_quaternion(w, at.body)) {
        const bool locked = tal_mobility_lock_level(matter, state, at) == TAL_LEVEL_POSITION;
        return locked ? lock[at.i] : tal_body_q(matter, state, at.body, at.i);
    }
    if (at.i >= 3) return tal_body_q(matter, state, at.body, at.i + 1);
    const tal_quat quat = {
        tal_body_q(matter, state, at.body, 0), tal_body_q(matter, state, at.body, 1),
        tal_body_q(matter, state, at.body, 2), tal_body_q(matter, state, at.body, 3)};
    const tal_vec3 angles = tali_osim_angles_of(tal_rotation_from_qt(tal_qt_normalize(quat)));
    return at.i == 0 ? angles.x : at.i == 1 ? angles.y : angles.z;
}

// Where it begins, its range, and what holds or moves it.
static void write_coordinate(tali_osim_writer *w, tal_mobility at)
{
    const tal_matter *matter = w->model->matter;
    const tal_state *state = w->model->state;
    char name[TALI_OSIM_NAME];
    double range[] = {-INFINITY, INFINITY};
    tali_osim_coordinate_name(w, at, name);
    const tal_level level = tal_mobility_lock_level(matter, state, at);
    const tal_function *motion = motion_of(w, at);
    tali_osim_open_tag(w, "Coordinate", name);
    if (strpbrk(name, " \t,()") != NULL) {
        tali_osim_refuse(w,
                         "coordinate '%s' has a blank in its name, which lists of OpenSim cannot "
                         "hold",
                         name);
    }
    tali_osim_put_number(w, "default_value", value_of(w, at));
    tali_osim_put_number(w, "default_speed_value", tal_body_u(matter, state, at.body, at.i));
    if (!has_quaternion(w, at.body)) {
        (void)tal_body_range(matter, state, at.body, at.i, &range[0], &range[1]);
    }
    const bool limited = isfinite(range[0]) || isfinite(range[1]);
    if (limited) tali_osim_put_numbers(w, "range", range, 2);
    tali_osim_put_bool(w, "clamped", limited);
    tali_osim_put_bool(w, "locked", level == TAL_LEVEL_POSITION);
    if (level != TAL_LEVEL_FREE && level != TAL_LEVEL_POSITION) {
        tali_osim_refuse(w,
                         "coordinate '%s' is locked at a speed or an acceleration, which cannot "
                         "be said in an .osim file",
                         name);
    }
    if (motion != NULL) {
        tali_osim_open_tag(w, "prescribed_function", NULL);
        tali_osim_put_function(w, motion, NULL, name);
        tali_osim_close_tag(w, "prescribed_function");
        tali_osim_put_bool(w, "prescribed", true);
    }
    tali_osim_close_tag(w, "Coordinate");
}

static void write_coordinates(tali_osim_writer *w, tal_body_ix body)
{
    const int n = tal_body_nu(w->model->matter, body);
    if (n == 0) return;
    tali_osim_open_tag(w, "coordinates", NULL);
    for (int i = 0; i < n; ++i) {
        write_coordinate(w, (tal_mobility){body, i});
    }
    tali_osim_close_tag(w, "coordinates");
}

// --- transforms of custom joints ---

// An axis, its function, and the coordinates that this depends on; a constant has none.
static void write_axis(tali_osim_writer *w, tal_body_ix body, int k, tal_vec3 axis,
                       const tal_mobilizer_function *term)
{
    static const char *const names[] = {"rotation1",    "rotation2",    "rotation3",
                                        "translation1", "translation2", "translation3"};
    tali_function_facts facts = {.kind = ""};
    const bool known = term->function != NULL && tali_function_facts_of(term->function, &facts);
    const bool constant = term->function == NULL || (known && strcmp(facts.kind, "constant") == 0);
    char list[6 * TALI_OSIM_NAME] = "";
    for (int i = 0; i < term->num_coords && !constant; ++i) {
        char name[TALI_OSIM_NAME];
        tali_osim_coordinate_name(w, (tal_mobility){body, term->coords[i]}, name);
        (void)snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i > 0 ? " " : "",
                       name);
    }
    tali_osim_open_tag(w, "TransformAxis", names[k]);
    tali_osim_put_text(w, "coordinates", list);
    tali_osim_put_vec3(w, "axis", axis);
    if (term->function != NULL) {
        tali_osim_put_function(w, term->function, "function",
                               tal_body_name(w->model->matter, body));
    } else {
        tali_osim_open_tag(w, "Constant", "function");
        tali_osim_put_number(w, "value", 0.0);
        tali_osim_close_tag(w, "Constant");
    }
    tali_osim_close_tag(w, "TransformAxis");
}

// A joint that OpenSim has no name for: its coordinates turn and move along axes.
static void write_simple_axis(tali_osim_writer *w, tal_body_ix body, int k, tal_vec3 axis,
                              int coordinate)
{
    static const char *const names[] = {"rotation1",    "rotation2",    "rotation3",
                                        "translation1", "translation2", "translation3"};
    char name[TALI_OSIM_NAME] = "";
    const double slope[] = {1.0, 0.0};
    if (coordinate >= 0) tali_osim_coordinate_name(w, (tal_mobility){body, coordinate}, name);
    tali_osim_open_tag(w, "TransformAxis", names[k]);
    tali_osim_put_text(w, "coordinates", name);
    tali_osim_put_vec3(w, "axis", axis);
    const char *tag = coordinate >= 0 ? "LinearFunction" : "Constant";
    tali_osim_open_tag(w, tag, "function");
    if (coordinate >= 0) {
        tali_osim_put_numbers(w, "coefficients", slope, 2);
    } else {
        tali_osim_put_number(w, "value", 0.0);
    }
    tali_osim_close_tag(w, tag);
    tali_osim_close_tag(w, "TransformAxis");
}

static void write_transform(tali_osim_writer *w, tal_body_ix body, const joint_kind *kind)
{
    static const tal_vec3 axes[] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    const tali_matter_body_facts facts = tali_matter_body_facts_of(w->model->matter, body);
    const tal_function_based_def *def = tali_matter_function_based_facts(facts.ops, facts.self);
    tali_osim_open_tag(w, "SpatialTransform", NULL);
    for (int k = 0; k < 6; ++k) {
        if (kind->custom != NULL) {
            const char *at = strchr(kind->custom, "XYZxyz"[k]);
            write_simple_axis(w, body, k, axes[k % 3], at != NULL ? (int)(at - kind->custom) : -1);
        } else if (k < 3) {
            write_axis(w, body, k, def->rotation_axis[k], &def->rotation[k]);
        } else {
            write_axis(w, body, k, def->translation_axis[k - 3], &def->translation[k - 3]);
        }
    }
    tali_osim_close_tag(w, "SpatialTransform");
}

// --- joints ---

// A frame on a body that is not the body's own gets an element.
typedef struct end {
    int body;
    tal_xform X;
    char name[TALI_OSIM_NAME]; // "": the body's own
} end;

static end make_end(const tali_osim_writer *w, int body, tal_xform X)
{
    end it = {.body = body, .X = X};
    if (tali_osim_is_identity(&X)) return it;
    const char *name = body == 0 ? "ground" : tal_body_name(w->model->matter, (tal_body_ix){body});
    (void)snprintf(it.name, sizeof it.name, "%s_offset", name);
    return it;
}

static void put_socket(tali_osim_writer *w, const char *tag, const end *it)
{
    if (it->name[0] != '\0') {
        tali_osim_put_text(w, tag, it->name);
    } else {
        tali_osim_put_body(w, tag, it->body);
    }
}

static void write_ends(tali_osim_writer *w, const end *parent, const end *child)
{
    const end *const ends[] = {parent, child};
    put_socket(w, "socket_parent_frame", parent);
    put_socket(w, "socket_child_frame", child);
    if (parent->name[0] == '\0' && child->name[0] == '\0') return;
    tali_osim_open_tag(w, "frames", NULL);
    for (int i = 0; i < 2; ++i) {
        if (ends[i]->name[0] == '\0') continue;
        tali_osim_open_tag(w, "PhysicalOffsetFrame", ends[i]->name);
        tali_osim_put_body(w, "socket_parent", ends[i]->body);
        tali_osim_put_frame(w, "orientation", "translation", ends[i]->X);
        tali_osim_close_tag(w, "PhysicalOffsetFrame");
    }
    tali_osim_close_tag(w, "frames");
}

// A mobilizer that is reversed is a joint whose parent is the outboard body.
static void write_joint(tali_osim_writer *w, tal_body_ix body)
{
    const tal_matter *matter = w->model->matter;
    const tal_state *state = w->model->state;
    const joint_kind *kind = kind_of(matter, body);
    char room[TALI_OSIM_NAME];
    if (kind == NULL) {
        tali_osim_refuse(w,
                         "body '%s' has the mobilizer '%s', which cannot be said in an .osim "
                         "file",
                         tal_body_name(matter, body), tal_body_mobilizer(matter, body));
        return;
    }
    const end inboard =
        make_end(w, tal_body_parent(matter, body).i, tal_body_X_PF(matter, state, body));
    const end outboard = make_end(w, body.i, tal_body_X_BM(matter, state, body));
    const bool reversed = tali_matter_body_facts_of(matter, body).direction == TAL_REVERSE;
    tali_osim_open_tag(w, kind->tag, joint_name(w, body, room));
    write_ends(w, reversed ? &outboard : &inboard, reversed ? &inboard : &outboard);
    if (strcmp(kind->mobilizer, "ellipsoid") == 0) {
        int n;
        tali_osim_put_numbers(w, "radii_x_y_z", tal_body_params(matter, state, body, &n), 3);
    }
    write_coordinates(w, body);
    if (strcmp(kind->tag, "CustomJoint") == 0) write_transform(w, body, kind);
    tali_osim_close_tag(w, kind->tag);
}

void tali_osim_write_joints(tali_osim_writer *w)
{
    tali_osim_open_tag(w, "JointSet", "jointset");
    tali_osim_open_tag(w, "objects", NULL);
    for (int i = 1; i < tal_matter_num_bodies(w->model->matter); ++i) {
        write_joint(w, (tal_body_ix){i});
    }
    tali_osim_close_tag(w, "objects");
    tali_osim_close_tag(w, "JointSet");
}
