// Forces as elements of .osim files: which element becomes which class.
#include "force_facts_internal.h"

#include "opensim/osim_write_internal.h"
#include "text/expression_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// An element being written.
typedef struct source {
    tali_osim_writer *w;
    tal_force_ix force;
    const char *name;
    tali_force_facts facts;
} source;

static double param(const source *s, int i)
{
    return tal_force_param(s->w->model->forces, s->w->model->state, s->force, i);
}

static tal_vec3 vec3_param(const source *s, int i)
{
    return tal_v3(param(s, i), param(s, i + 1), param(s, i + 2));
}

static tal_xform xform_param(const source *s, int i)
{
    return (tal_xform){{vec3_param(s, i), vec3_param(s, i + 3), vec3_param(s, i + 6)},
                       vec3_param(s, i + 9)};
}

static void put_coordinate(const source *s, tal_mobility at)
{
    char name[TALI_OSIM_NAME];
    tali_osim_coordinate_name(s->w, at, name);
    tali_osim_put_text(s->w, "coordinate", name);
}

// --- springs and limits ---

static void put_two_points(const source *s)
{
    tali_osim_put_body(s->w, "socket_body1", s->facts.bodies[0].i);
    tali_osim_put_body(s->w, "socket_body2", s->facts.bodies[1].i);
    tali_osim_put_vec3(s->w, "point1", vec3_param(s, 0));
    tali_osim_put_vec3(s->w, "point2", vec3_param(s, 3));
}

static void write_two_point_spring(const source *s)
{
    put_two_points(s);
    tali_osim_put_number(s->w, "stiffness", param(s, 6));
    tali_osim_put_number(s->w, "rest_length", param(s, 7));
}

// The damper "<name>_viscosity" that a spring along a coordinate has beside it; `i` < 0: none.
static tal_force_ix damper_of(const source *s)
{
    char name[2 * TAL_MAX_NAME];
    tali_force_facts facts;
    (void)snprintf(name, sizeof name, "%.50s_viscosity", s->name);
    const tal_force_ix damper = tal_forces_find(s->w->model->forces, name);
    const bool good = damper.i >= 0 &&
                      strcmp(tal_force_kind(s->w->model->forces, damper), "mobility damper") == 0 &&
                      tali_force_facts_of(s->w->model->forces, damper, &facts) &&
                      facts.mobility.body.i == s->facts.mobility.body.i &&
                      facts.mobility.i == s->facts.mobility.i;
    return good ? damper : (tal_force_ix){-1};
}

static void write_mobility_spring(const source *s)
{
    const tal_force_ix damper = damper_of(s);
    put_coordinate(s, s->facts.mobility);
    tali_osim_put_number(s->w, "stiffness", param(s, TAL_MOBILITY_SPRING_STIFFNESS));
    tali_osim_put_number(s->w, "rest_length", param(s, TAL_MOBILITY_SPRING_REST));
    tali_osim_put_number(s->w, "viscosity",
                         damper.i >= 0 ? tal_force_param(s->w->model->forces, s->w->model->state,
                                                         damper, TAL_MOBILITY_DAMPER_DAMPING)
                                       : 0.0);
}

static void write_mobility_damper(const source *s)
{
    put_coordinate(s, s->facts.mobility);
    tali_osim_put_number(s->w, "stiffness", 0.0);
    tali_osim_put_number(s->w, "rest_length", 0.0);
    tali_osim_put_number(s->w, "viscosity", param(s, TAL_MOBILITY_DAMPER_DAMPING));
}

// In degrees, and per degree, for a coordinate that turns.
static void write_limit(const source *s)
{
    static const struct {
        const char *tag;
        int param, power; // of a degree
    } rows[] = {{"upper_stiffness", TAL_LIMIT_UPPER_STIFFNESS, -1},
                {"upper_limit", TAL_LIMIT_UPPER, 1},
                {"lower_stiffness", TAL_LIMIT_LOWER_STIFFNESS, -1},
                {"lower_limit", TAL_LIMIT_LOWER, 1},
                {"damping", TAL_LIMIT_DAMPING, -1},
                {"transition", TAL_LIMIT_TRANSITION, 1}};

    const double unit = tali_osim_is_rotational(s->w, s->facts.mobility) ? TAL_DEGREE : 1.0;
    put_coordinate(s, s->facts.mobility);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const double value = param(s, rows[i].param);
        tali_osim_put_number(s->w, rows[i].tag, rows[i].power > 0 ? value / unit : value * unit);
    }
}

// --- laws ---

// The text of a law with these arguments; NULL, and refused, when it is another function.
static const char *expression_of(const source *s, const tal_function *f, const char *arguments)
{
    const char *own = NULL, *text = tali_expression_text(f, &own);
    if (text != NULL && strcmp(own, arguments) == 0) return text;
    tali_osim_refuse(s->w,
                     "force '%s' is a function; in an .osim file it can only be an expression of "
                     "the arguments %s",
                     s->name, arguments);
    return NULL;
}

static void put_expression(const source *s, const char *tag, const tal_function *f,
                           const char *arguments)
{
    const char *text = expression_of(s, f, arguments);
    if (text != NULL) tali_osim_put_text(s->w, tag, text);
}

static void write_mobility_law(const source *s)
{
    put_coordinate(s, s->facts.mobility);
    put_expression(s, "expression", s->facts.function, "q qdot");
}

static void write_two_point_law(const source *s)
{
    put_two_points(s);
    put_expression(s, "expression", s->facts.function, "d ddot");
}

static const char *const deformations[] = {"theta_x", "theta_y", "theta_z",
                                           "delta_x", "delta_y", "delta_z"};

static bool has_laws(const source *s)
{
    bool any = false;
    for (int i = 0; i < 6; ++i) {
        any = any || s->facts.functions[i] != NULL;
    }
    return any;
}

// The class of a bushing, by its first law.
static const char *tag_of_bushing(const source *s)
{
    const char *tag = "BushingForce";
    for (int i = 5; i >= 0; --i) {
        const tal_function *law = s->facts.functions[i];
        if (law == NULL) continue;
        tag = tali_expression_text(law, NULL) != NULL ? "ExpressionBasedBushingForce"
                                                      : "FunctionBasedBushingForce";
    }
    return tag;
}

// Expressions of one deformation or all, or functions of one.
static void put_laws(const source *s)
{
    static const char all[] = "theta_x theta_y theta_z delta_x delta_y delta_z";
    const bool are_texts = strcmp(tag_of_bushing(s), "ExpressionBasedBushingForce") == 0;
    for (int i = 0; i < 6; ++i) {
        const tal_function *law = s->facts.functions[i];
        const char axis = (char)('x' + i % 3);
        char tag[40];
        if (param(s, TAL_BUSHING_STIFFNESS + i) != 0.0) {
            tali_osim_refuse(s->w, "bushing '%s' has laws and stiffnesses; make them one", s->name);
        }
        if (law == NULL) continue;
        const bool one = tal_function_num_args(law) == 1;
        if (are_texts) {
            (void)snprintf(tag, sizeof tag, "%c%c_expression", i < 3 ? 'M' : 'F', axis);
            put_expression(s, tag, law, one ? deformations[i] : all);
        } else {
            (void)snprintf(tag, sizeof tag, "%c_%c_%s_function", i < 3 ? 'm' : 'f', axis,
                           deformations[i]);
            tali_osim_open_tag(s->w, tag, NULL);
            tali_osim_put_function(s->w, law, NULL, s->name);
            tali_osim_close_tag(s->w, tag);
        }
    }
}

static void write_bushing(const source *s)
{
    static const char *const names[] = {"frame_1", "frame_2"};
    static const char *const tags[] = {"rotational_stiffness", "translational_stiffness",
                                       "rotational_damping", "translational_damping"};
    tali_osim_put_text(s->w, "socket_frame1", names[0]);
    tali_osim_put_text(s->w, "socket_frame2", names[1]);
    tali_osim_open_tag(s->w, "frames", NULL);
    for (int i = 0; i < 2; ++i) {
        tali_osim_open_tag(s->w, "PhysicalOffsetFrame", names[i]);
        tali_osim_put_body(s->w, "socket_parent", s->facts.bodies[i].i);
        tali_osim_put_frame(s->w, "orientation", "translation",
                            xform_param(s, i == 0 ? TAL_BUSHING_FRAME_1 : TAL_BUSHING_FRAME_2));
        tali_osim_close_tag(s->w, "PhysicalOffsetFrame");
    }
    tali_osim_close_tag(s->w, "frames");
    const bool plain = !has_laws(s);
    if (!plain) put_laws(s);
    for (int i = plain ? 0 : 2; i < 4; ++i) {
        tali_osim_put_vec3(s->w, tags[i], vec3_param(s, TAL_BUSHING_STIFFNESS + 3 * i));
    }
}

// --- functions of time ---

// Three functions; what is not there is zero, unless none is.
static void put_functions(const source *s, const char *tag, tal_function *const f[])
{
    if (f[0] == NULL && f[1] == NULL && f[2] == NULL) return;
    tali_osim_open_tag(s->w, "FunctionSet", tag);
    tali_osim_open_tag(s->w, "objects", NULL);
    for (int k = 0; k < 3; ++k) {
        if (f[k] != NULL) {
            tali_osim_put_function(s->w, f[k], NULL, s->name);
        } else {
            tali_osim_open_tag(s->w, "Constant", NULL);
            tali_osim_put_number(s->w, "value", 0.0);
            tali_osim_close_tag(s->w, "Constant");
        }
    }
    tali_osim_close_tag(s->w, "objects");
    tali_osim_close_tag(s->w, "FunctionSet");
}

static void write_prescribed(const source *s)
{
    const int body = s->facts.bodies[0].i, frame = s->facts.bodies[1].i, point = s->facts.count;
    if ((frame != 0 && frame != body) || (point != 0 && point != body)) {
        tali_osim_refuse(s->w,
                         "force '%s' is given in a third body, which cannot be said in an "
                         ".osim file",
                         s->name);
    }
    tali_osim_put_body(s->w, "socket_frame", body);
    tali_osim_put_bool(s->w, "forceIsGlobal", frame == 0);
    tali_osim_put_bool(s->w, "pointIsGlobal", point == 0);
    put_functions(s, "forceFunctions", s->facts.functions);
    put_functions(s, "pointFunctions", s->facts.functions + 3);
    put_functions(s, "torqueFunctions", s->facts.functions + 6);
}

// --- actuators ---

// The bounds of a control, which stand behind it.
static void put_range(const source *s, int first)
{
    const double control = param(s, first);
    tali_osim_put_number(s->w, "min_control", param(s, first + 1));
    tali_osim_put_number(s->w, "max_control", param(s, first + 2));
    if (control != 0.0) {
        tali_osim_refuse(s->w,
                         "actuator '%s' has a control of %g that a program has set; use a "
                         "controller",
                         s->name, control);
    }
}

// Gain, and the control behind it.
static void put_control(const source *s, int gain)
{
    put_range(s, gain + 1);
    tali_osim_put_number(s->w, "optimal_force", param(s, gain));
}

static double first_z(const source *s)
{
    int slot = 0;
    (void)tali_force_z(s->w->model->forces, s->w->model->state, s->force, 0, &slot);
    return tal_state_z(s->w->model->state)[slot];
}

static void write_activation_actuator(const source *s)
{
    put_coordinate(s, s->facts.mobility);
    put_control(s, TAL_ACTIVATION_ACTUATOR_GAIN);
    tali_osim_put_number(s->w, "activation_time_constant", param(s, TAL_ACTIVATION_ACTUATOR_TIME));
    tali_osim_put_number(s->w, "default_activation", first_z(s));
}

static void write_mobility_actuator(const source *s)
{
    put_coordinate(s, s->facts.mobility);
    put_control(s, TAL_ACTUATOR_GAIN);
}

static void write_point_actuator(const source *s)
{
    tali_osim_put_body(s->w, "socket_body", s->facts.bodies[0].i);
    tali_osim_put_vec3(s->w, "point", vec3_param(s, TAL_POINT_ACTUATOR_STATION));
    tali_osim_put_bool(s->w, "point_is_global", s->facts.flags[1]);
    tali_osim_put_vec3(s->w, "direction", vec3_param(s, TAL_POINT_ACTUATOR_DIRECTION));
    tali_osim_put_bool(s->w, "force_is_global", !s->facts.flags[0]);
    put_control(s, TAL_POINT_ACTUATOR_GAIN);
}

// Ours acts on body 2, about an axis of body 1 or of Ground.
static void write_torque_actuator(const source *s)
{
    const bool in_ground = s->facts.flags[0];
    const tal_vec3 axis = vec3_param(s, TAL_TORQUE_ACTUATOR_AXIS);
    tali_osim_put_body(s->w, "socket_bodyA", s->facts.bodies[in_ground ? 1 : 0].i);
    tali_osim_put_body(s->w, "socket_bodyB", s->facts.bodies[in_ground ? 0 : 1].i);
    tali_osim_put_bool(s->w, "torque_is_global", in_ground);
    tali_osim_put_vec3(s->w, "axis", in_ground ? axis : tal_v3_neg(axis));
    put_control(s, TAL_TORQUE_ACTUATOR_GAIN);
}

static void write_body_actuator(const source *s)
{
    bool plain = param(s, TAL_BODY_ACTUATOR_GAIN) == 1.0;
    for (int i = 0; i < 6; ++i) {
        plain = plain && param(s, TAL_BODY_ACTUATOR_CONTROL + i) == 0.0;
    }
    if (!plain) {
        tali_osim_refuse(s->w,
                         "actuator '%s' has a gain or a control, which a BodyActuator has "
                         "not",
                         s->name);
    }
    tali_osim_put_body(s->w, "socket_body", s->facts.bodies[0].i);
    tali_osim_put_vec3(s->w, "point", vec3_param(s, TAL_BODY_ACTUATOR_STATION));
    tali_osim_put_bool(s->w, "point_is_global", false);
    tali_osim_put_bool(s->w, "spatial_force_is_global", !s->facts.flags[0]);
}

// --- along paths ---

static void write_path_actuator(const source *s)
{
    put_control(s, TAL_PATH_ACTUATOR_GAIN);
    tali_osim_write_path(s->w, s->facts.path);
}

static void write_path_spring(const source *s)
{
    tali_osim_put_number(s->w, "resting_length", param(s, TAL_PATH_SPRING_REST_LENGTH));
    tali_osim_put_number(s->w, "stiffness", param(s, TAL_PATH_SPRING_STIFFNESS));
    tali_osim_put_number(s->w, "dissipation", param(s, TAL_PATH_SPRING_DISSIPATION));
    tali_osim_write_path(s->w, s->facts.path);
}

static void write_clutched_spring(const source *s)
{
    tali_osim_put_number(s->w, "min_control", param(s, TAL_CLUTCHED_SPRING_LEAST));
    tali_osim_put_number(s->w, "max_control", param(s, TAL_CLUTCHED_SPRING_LARGEST));
    tali_osim_put_number(s->w, "stiffness", param(s, TAL_CLUTCHED_SPRING_STIFFNESS));
    tali_osim_put_number(s->w, "dissipation", param(s, TAL_CLUTCHED_SPRING_DISSIPATION));
    tali_osim_put_number(s->w, "relaxation_time_constant", param(s, TAL_CLUTCHED_SPRING_TIME));
    tali_osim_put_number(s->w, "initial_stretch", first_z(s));
    tali_osim_write_path(s->w, s->facts.path);
}

static void write_ligament(const source *s)
{
    tali_osim_put_number(s->w, "resting_length", param(s, TAL_LIGAMENT_REST_LENGTH));
    tali_osim_put_number(s->w, "pcsa_force", param(s, TAL_LIGAMENT_FORCE));
    if (s->facts.function != NULL) {
        tali_osim_open_tag(s->w, "force_length_curve", NULL);
        tali_osim_put_function(s->w, s->facts.function, NULL, s->name);
        tali_osim_close_tag(s->w, "force_length_curve");
    }
    tali_osim_write_path(s->w, s->facts.path);
}

static void write_blankevoort(const source *s)
{
    tali_osim_put_number(s->w, "linear_stiffness", param(s, TAL_BLANKEVOORT_STIFFNESS));
    tali_osim_put_number(s->w, "slack_length", param(s, TAL_BLANKEVOORT_SLACK_LENGTH));
    tali_osim_put_number(s->w, "transition_strain", param(s, TAL_BLANKEVOORT_TRANSITION));
    tali_osim_put_number(s->w, "damping_coefficient", param(s, TAL_BLANKEVOORT_DAMPING));
    tali_osim_write_path(s->w, s->facts.path);
}

static void write_pneumatic(const source *s)
{
    put_range(s, TAL_PNEUMATIC_CONTROL);
    tali_osim_put_number(s->w, "number_of_turns", param(s, TAL_PNEUMATIC_TURNS));
    tali_osim_put_number(s->w, "thread_length", param(s, TAL_PNEUMATIC_THREAD_LENGTH));
    tali_osim_put_number(s->w, "cord_length", param(s, TAL_PNEUMATIC_CORD_LENGTH));
    tali_osim_write_path(s->w, s->facts.path);
}

static void write_muscle(const source *s)
{
    tali_osim_write_muscle(s->w, s->force);
    tali_osim_write_path(s->w, s->facts.path);
}

static void write_contact(const source *s)
{
    tali_osim_write_contact(s->w, s->force);
}

static void write_smooth_contact(const source *s)
{
    tali_osim_write_smooth_contact(s->w, s->force);
}

// --- the table ---

static const struct {
    const char *kind, *tag;
    void (*write)(const source *s);
} rows[] = {{"two-point spring", "PointToPointSpring", write_two_point_spring},
            {"mobility spring", "SpringGeneralizedForce", write_mobility_spring},
            {"mobility damper", "SpringGeneralizedForce", write_mobility_damper},
            {"mobility limit", "CoordinateLimitForce", write_limit},
            {"mobility law", "ExpressionBasedCoordinateForce", write_mobility_law},
            {"two-point law", "ExpressionBasedPointToPointForce", write_two_point_law},
            {"bushing", NULL, write_bushing},
            {"activation actuator", "ActivationCoordinateActuator", write_activation_actuator},
            {"blankevoort ligament", "Blankevoort1991Ligament", write_blankevoort},
            {"pneumatic actuator", "McKibbenActuator", write_pneumatic},
            {"prescribed force", "PrescribedForce", write_prescribed},
            {"mobility actuator", "CoordinateActuator", write_mobility_actuator},
            {"point actuator", "PointActuator", write_point_actuator},
            {"torque actuator", "TorqueActuator", write_torque_actuator},
            {"body actuator", "BodyActuator", write_body_actuator},
            {"path actuator", "PathActuator", write_path_actuator},
            {"path spring", "PathSpring", write_path_spring},
            {"clutched spring", "ClutchedPathSpring", write_clutched_spring},
            {"ligament", "Ligament", write_ligament},
            {"contact", "HuntCrossleyForce", write_contact},
            {"smooth contact", "SmoothSphereHalfSpaceForce", write_smooth_contact}};

enum {
    NUM_ROWS = sizeof rows / sizeof *rows
};

static int row_of(const char *kind)
{
    int row = 0;
    while (row < NUM_ROWS && strcmp(rows[row].kind, kind) != 0) {
        ++row;
    }
    return row;
}

// A damper that is a part of the spring beside it.
static bool is_part_of_spring(tali_osim_writer *w, const char *name, const char *kind)
{
    const char *end = strstr(name, "_viscosity");
    if (strcmp(kind, "mobility damper") != 0 || end == NULL || end[10] != '\0') return false;
    char spring[TAL_MAX_NAME + 1];
    (void)snprintf(spring, sizeof spring, "%.*s", (int)(end - name), name);
    const tal_force_ix force = tal_forces_find(w->model->forces, spring);
    return force.i >= 0 && strcmp(tal_force_kind(w->model->forces, force), "mobility spring") == 0;
}

// An element of any kind that the table has; others are refused.
static void write_force(tali_osim_writer *w, tal_force_ix force)
{
    const tal_forces *forces = w->model->forces;
    const char *kind = tal_force_kind(forces, force);
    source s = {.w = w, .force = force, .name = tal_force_name(forces, force)};
    const bool is_muscle = tal_force_is_muscle(forces, force);
    const int row = row_of(kind);
    if (strcmp(kind, "gravity") == 0 || is_part_of_spring(w, s.name, kind)) return;
    if ((row == NUM_ROWS && !is_muscle) || !tali_force_facts_of(forces, force, &s.facts)) {
        tali_osim_refuse(w, "force '%s' is of kind '%s', which cannot be said in an .osim file",
                         s.name, kind);
        return;
    }
    if (s.facts.measure.i >= 0) {
        tali_osim_refuse(w,
                         "force '%s' is driven by a measure, which cannot be said in an .osim "
                         "file",
                         s.name);
    }
    const char *tag = is_muscle ? tali_osim_muscle_tag(forces, force) : rows[row].tag;
    if (tag == NULL) tag = tag_of_bushing(&s);
    tali_osim_open_tag(w, tag, s.name);
    tali_osim_put_bool(w, "appliesForce", tal_force_is_enabled(forces, w->model->state, force));
    if (is_muscle) {
        write_muscle(&s);
    } else {
        rows[row].write(&s);
    }
    tali_osim_close_tag(w, tag);
}

// Paths that nothing pulls along are not in the file.
static void check_paths(tali_osim_writer *w)
{
    const tal_forces *forces = w->model->forces;
    for (int i = 0; i < tal_forces_num_paths(forces); ++i) {
        bool used = false;
        for (int k = 0; k < tal_forces_num(forces) && !used; ++k) {
            const tal_force_ix force = {k};
            const int path = tal_force_is_muscle(forces, force)
                                 ? tal_muscle_path(forces, force).i
                                 : tal_path_force_path(forces, force).i;
            used = path == i;
        }
        if (!used) {
            tali_osim_leave_out(w, "path '%s' is left out: nothing pulls along it",
                                tal_path_name(forces, (tal_path_ix){i}));
        }
    }
}

void tali_osim_write_forces(tali_osim_writer *w)
{
    check_paths(w);
    tali_osim_open_tag(w, "ForceSet", "forceset");
    tali_osim_open_tag(w, "objects", NULL);
    for (int i = 0; i < tal_forces_num(w->model->forces); ++i) {
        write_force(w, (tal_force_ix){i});
    }
    tali_osim_close_tag(w, "objects");
    tali_osim_close_tag(w, "ForceSet");
}
