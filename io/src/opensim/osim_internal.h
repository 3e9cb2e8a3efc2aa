// A model of OpenSim between its file and its System.
//
// Reading goes through the document once and fills arrays of bodies, frames, joints, coordinates,
// constraints, forces, contact geometries and markers. Everything that is wrong is reported; when
// nothing is, a System is built from the arrays. Where a fact about the file format is not plain,
// the version that has it is named (30000 is 3.0, 40000 is 4.0).
#ifndef TALUS_IO_OSIM_INTERNAL_H
#define TALUS_IO_OSIM_INTERNAL_H

#include "text/arena_internal.h"
#include "text/name_map_internal.h"
#include "text/xml_internal.h"

#include <talus/io/opensim.h>

/// Most kinds of elements that notes tell apart.
#define TALI_OSIM_MAX_IGNORED 64

/// Most names or numbers in a list that is short by its nature.
#define TALI_OSIM_MAX_LIST 64

/// Most files of forces besides the model's own.
#define TALI_OSIM_MORE_FORCES 16

/// Most sets of a model in files of their own.
#define TALI_OSIM_MAX_SETS 16

/// What a coordinate moves. Tables have rotational ones in degrees, others as they are.
typedef enum tali_osim_coordinate_kind {
    TALI_OSIM_ROTATIONAL,
    TALI_OSIM_TRANSLATIONAL,
    TALI_OSIM_COUPLED ///< neither by a linear function of slope one
} tali_osim_coordinate_kind;

typedef enum tali_osim_joint_kind {
    TALI_OSIM_WELD,
    TALI_OSIM_PIN,
    TALI_OSIM_SLIDER,
    TALI_OSIM_UNIVERSAL,
    TALI_OSIM_GIMBAL,
    TALI_OSIM_BALL,
    TALI_OSIM_PLANAR,
    TALI_OSIM_FREE,
    TALI_OSIM_ELLIPSOID,
    TALI_OSIM_SCAPULOTHORACIC,
    TALI_OSIM_CUSTOM
} tali_osim_joint_kind;

typedef struct tali_osim_body {
    const tali_xml_element *element; ///< NULL for a Ground that the file does not mention
    const char *name;
    tal_mass_props mass; ///< about the body's origin
    bool any_inertia;    ///< it needs the permit of the options
    tal_body_ix body;
} tali_osim_body;

/// A body's own frame, or one that is fixed on another frame.
typedef struct tali_osim_frame {
    const tali_xml_element *element;
    const char *path;   ///< "/bodyset/tibia_r", "/jointset/knee_r/tibia_r_offset"
    const char *socket; ///< path of the frame it is fixed on; NULL: it is a body's own
    tal_xform X_PF;     ///< in that frame
    int parent;         ///< that frame; -1: none
    int body;           ///< -1: not known yet
    tal_xform X_BF;     ///< in the body
    bool visiting;      ///< being resolved: guards against a circle
} tali_osim_frame;

/// One of the six functions of a CustomJoint.
typedef struct tali_osim_axis {
    tal_vec3 axis;
    tal_function *function; ///< owned until a mobilizer adopts it; NULL: zero
    int num;                ///< coordinates it depends on
    int coords[TAL_MAX_NU]; ///< which of the joint's
} tali_osim_axis;

typedef struct tali_osim_coordinate {
    const tali_xml_element *element; ///< NULL: the file does not mention it
    const char *name;
    int joint, i; ///< coordinate `i` of the joint
    tali_osim_coordinate_kind kind;
    double value, speed; ///< where it begins
    double low, high;
    bool clamped, locked;
    bool coupled;             ///< a constraint names it
    tal_function *prescribed; ///< of time; owned until adopted; NULL: none
    tal_mobility mobility;
} tali_osim_coordinate;

typedef struct tali_osim_joint {
    const tali_xml_element *element; ///< NULL for a free joint that the file does not mention
    const char *name;
    tali_osim_joint_kind kind;
    int parent, child;    ///< bodies
    tal_xform X_PF, X_CM; ///< its frames on them
    tal_vec3 radii;       ///< of an ellipsoid
    tal_xform X_EW;       ///< scapula: the frame of winging, about z, on the body in between
    tal_body_ix between;  ///< scapula: a body without mass that slides on the thorax
    int first, num;       ///< coordinates
    tali_osim_axis axes[6];
    tal_body_ix body; ///< whose mobilizer it became
} tali_osim_joint;

/// A constraint of any kind.
typedef struct tali_osim_constraint {
    const tali_xml_element *element;
    const char *name; ///< NULL: none
    bool enforced;
    int body1, body2;
    tal_xform X_1, X_2; ///< frames of a weld; p alone: points
    tal_vec3 direction; ///< of a line
    double distance;
    tal_function *function;                ///< of a coupler: f(independent..., dependent); owned
    int coords[TAL_CONSTRAINT_MOBILITIES]; ///< its arguments
    int num_coords;
    tal_constraint_ix constraint; ///< what it became: the first
    int num_made;                 ///< of so many, one after the other
    bool induced;                 ///< of an analysis, which enforces it row by row
} tali_osim_constraint;

typedef struct tali_osim_marker {
    const tali_xml_element *element;
    const char *name;
    int body;
    tal_vec3 p_BS;
    bool fixed; ///< marker placement leaves it where it is
} tali_osim_marker;

/// A shape that contact forces name.
typedef struct tali_osim_geometry {
    const tali_xml_element *element;
    const char *name;
    int body;
    tal_xform X_BS;
    tal_shape shape;
    bool known;     ///< false: a shape that cannot touch here
    tal_mesh *mesh; ///< of a shape that is one; owned until the model adopts it; NULL: not read
} tali_osim_geometry;

/// An obstacle for paths. Obstacles of different bodies may have the same name.
typedef struct tali_osim_wrap {
    const tali_xml_element *element;
    const char *name; ///< of its element
    int body;
    tal_xform X_BW;
    tal_wrap shape;
    bool known;  ///< false: a shape that is not read
    bool active; ///< false: paths pass it by
    bool used;   ///< by a path
    tal_wrap_ix wrap;
} tali_osim_wrap;

typedef enum tali_osim_point_kind {
    TALI_OSIM_FIXED_POINT,
    TALI_OSIM_CONDITIONAL_POINT,
    TALI_OSIM_MOVING_POINT
} tali_osim_point_kind;

/// A point of a path.
typedef struct tali_osim_point {
    tali_osim_point_kind kind;
    int body;
    tal_xform X_BF;             ///< its frame on the body; p of a fixed point is the point itself
    int coordinates[3];         ///< of the functions; the first: of a condition; -1: none
    double low, high;           ///< of a condition
    tal_function *functions[3]; ///< of a moving point; owned until adopted
} tali_osim_point;

/// An obstacle in a path, between two points of it, counted from 0.
typedef struct tali_osim_over {
    int wrap;
    int first, last; ///< -1: the end
} tali_osim_over;

/// A path between bodies, in the arena.
typedef struct tali_osim_path {
    int num_points, num_over;
    tali_osim_point *points;
    tali_osim_over *over;
    tal_function *length; ///< of coordinates, in place of points; owned until adopted; NULL: none
    int *coordinates;     ///< [num_coordinates] its arguments
    int num_coordinates;
    tal_path_ix path;
} tali_osim_path;

/// Most numbers that describe a force of the classes in osim_forces.c.
#define TALI_OSIM_FORCE_NUMBERS 12

/// A force of the file, whether it acts here or not.
typedef struct tali_osim_force {
    const tali_xml_element *element;
    const char *name;
    int row; ///< of the table in osim_forces.c; -1: its class is not known
    bool applies;
    int body1, body2;   ///< -1: none
    tal_xform X_1, X_2; ///< frames or points on them
    tal_vec3 direction;
    bool in_body;               ///< the direction turns with the body
    bool point_in_ground;       ///< the point does not move with the body
    tal_function *functions[9]; ///< force, point and torque of time; owned until adopted
    int coordinate;
    double numbers[TALI_OSIM_FORCE_NUMBERS];
    int num_surfaces;                   ///< of a contact force
    struct tali_osim_surface *surfaces; ///< in the arena
    tali_osim_path *path;               ///< in the arena; NULL: it does not pull along one
    tal_muscle_def *muscle;             ///< likewise; NULL: it is none
    double least, largest;              ///< bounds of its control
    tal_force_ix force;                 ///< what it became; `i` < 0: nothing
    tal_force_ix second;                ///< another element that it became; `i` < 0: none
} tali_osim_force;

/// A shape in a contact force, and what it is made of there.
typedef struct tali_osim_surface {
    int geometry;
    tal_contact_material material;
} tali_osim_surface;

/// What drives actuators.
typedef struct tali_osim_controller {
    const tali_xml_element *element;
    const char *name; ///< NULL: it gets its number
    bool enabled;
    int num;                  ///< actuators that it drives
    int *forces;              ///< [num] in the arena
    tal_function **functions; ///< [num] of time; owned until adopted; NULL: reflexes
    double gain;              ///< of reflexes; of a correction, for errors of coordinates
    double damping;           ///< of a correction, for errors of speeds
    int *corrected;           ///< [num] coordinates of a correction; NULL: it is none
    tal_controller_ix first;  ///< what it became: a reflex for each actuator, or one for all
    int num_made;
} tali_osim_controller;

/// An element that is not read: how often, and where first.
typedef struct tali_osim_ignored {
    const tali_xml_element *first;
    const char *why; ///< ends the sentence "<x> ..."
    tal_severity severity;
    int count;
} tali_osim_ignored;

/// A set of the model in a file of its own.
typedef struct tali_osim_set_file {
    const tali_xml_element *element; ///< in the model; its children are those of the file
    tali_xml *xml;
} tali_osim_set_file;

typedef struct tali_osim {
    tal_osim_options options;
    tali_arena arena;
    tali_xml *xml;
    const tali_xml_element *model;
    int version;            ///< of the document: 40000 is 4.0
    tal_diagnostics *found; ///< of this file alone
    bool no_memory;
    tali_osim_set_file sets[TALI_OSIM_MAX_SETS]; ///< [num_sets]
    int num_sets;
    tali_xml *more_forces[TALI_OSIM_MORE_FORCES]; ///< [num_more_forces] other files of forces
    int num_more_forces;
    bool replace_forces;        ///< they replace those of the model
    tali_xml *more_controllers; ///< a tool's set-up file with a <ControllerSet>; NULL: none
    /// A <ConstraintSet> of an analysis in a tool's set-up file, and that file; NULL: none.
    const tali_xml_element *more_constraints;
    tali_xml *more_constraints_file;
    /// Adds more to the System before its topology is realized; NULL: nothing.
    void (*extend)(struct tali_osim *o, tal_model *model, void *context);
    void *extend_context;
    double *stops; ///< [num_stops] times at which a control jumps; in the order of the file
    int num_stops, stops_capacity;
    bool in_memory;        ///< not from a file: there are no files beside it
    bool with_discrete;    ///< the System gets forces that a tool sets in the State
    tal_force_ix discrete; ///< these
    tal_vec3 gravity;

    tali_osim_body *bodies; ///< [num_bodies] Ground first
    tali_osim_frame *frames;
    tali_osim_joint *joints;
    tali_osim_coordinate *coordinates;
    tali_osim_constraint *constraints;
    tali_osim_marker *markers;
    tali_osim_geometry *geometries;
    tali_osim_force *forces;
    tali_osim_wrap *wraps;
    tali_osim_controller *controllers;
    int num_bodies, num_frames, num_joints, num_coordinates;
    int num_constraints, num_markers, num_geometries, num_forces;
    int num_wraps, num_controllers;
    int bodies_capacity, frames_capacity, joints_capacity, coordinates_capacity;
    int constraints_capacity, markers_capacity, geometries_capacity, forces_capacity;
    int wraps_capacity, controllers_capacity;
    tali_name_map body_names, frame_paths, marker_names, coordinate_names, geometry_names;
    tali_name_map force_names;
    tali_name_map unknown; ///< "Class.property", each reported once

    tali_osim_ignored ignored[TALI_OSIM_MAX_IGNORED];
    int num_ignored;
} tali_osim;

// --- values (osim_values.c) ---

/// An error, a warning or a note at an element; its tag begins the sentence.
void tali_osim_error(tali_osim *o, const tali_xml_element *at, const char *fmt, ...)
    TAL_PRINTF(3, 4);
void tali_osim_warn(tali_osim *o, const tali_xml_element *at, const char *fmt, ...)
    TAL_PRINTF(3, 4);

/// The property of an object: its child of that name; or else the one in the nearest `<defaults>`
/// for objects of its class. NULL when there is none.
const tali_xml_element *tali_osim_property(const tali_xml_element *object, const char *name);

/// The object in a property: `<name><Class>...` of version 3, `<Class name="name">` of version 4.
const tali_xml_element *tali_osim_object(const tali_xml_element *object, const char *name);

/// Room for `count` things in the arena, filled with zeros. NULL when memory runs out.
void *tali_osim_take(tali_osim *o, int count, size_t size);

/// The first object of a set or a list: behind `<objects>` where there is one. NULL: it is empty.
const tali_xml_element *tali_osim_first(const tali_xml_element *list);

/// Before 1.9 the sets of a model stand in its <DynamicsEngine><SimbodyEngine>; NULL: they do not.
const tali_xml_element *tali_osim_engine(const tali_xml_element *model);

/// The set of that class in an object, or its first object. NULL: none, or empty.
const tali_xml_element *tali_osim_set(const tali_xml_element *object, const char *name);
const tali_xml_element *tali_osim_first_of(const tali_xml_element *object, const char *name);

/// The numbers of a text, with blanks, commas or parentheses between them. How many there are, of
/// which the first `capacity` are in `values`; -1 when something is not a number.
int tali_osim_parse_numbers(const char *text, double values[], int capacity);

/// Exactly `n` finite numbers of a property. False when it is not there, and then nothing is
/// written; or when they are wrong, with an error.
bool tali_osim_numbers(tali_osim *o, const tali_xml_element *object, const char *name, int n,
                       double out[]);
/// All numbers of a property, in the arena; their count, 0 when it is not there or wrong.
int tali_osim_all_numbers(tali_osim *o, const tali_xml_element *object, const char *name,
                          double **out);
/// One number, which may be infinite.
double tali_osim_number(tali_osim *o, const tali_xml_element *object, const char *name,
                        double initial);
tal_vec3 tali_osim_vec3(tali_osim *o, const tali_xml_element *object, const char *name,
                        tal_vec3 initial);
bool tali_osim_bool(tali_osim *o, const tali_xml_element *object, const char *name, bool initial);
/// The text of a property; NULL when it is not there, empty, or "Unassigned".
const char *tali_osim_text(const tali_xml_element *object, const char *name);
/// The words of a property, in the arena; their count.
int tali_osim_words(tali_osim *o, const tali_xml_element *object, const char *name,
                    const char *words[], int capacity);
/// What a socket is connected to, as the file says it, in any of its three ways; NULL: nothing.
const char *tali_osim_socket(const tali_xml_element *object, const char *name);
/// The name of an object; "" when it has none.
const char *tali_osim_name(const tali_xml_element *object);
/// What follows the last '/'.
const char *tali_osim_last_name(const char *path);

/// Whether something is on: `on` of version 4, or the opposite of `off` before.
bool tali_osim_is_on(tali_osim *o, const tali_xml_element *object, const char *on, const char *off);

/// Body-fixed angles about x, y, z, and a translation.
tal_xform tali_osim_xform(tal_vec3 angles, tal_vec3 p);

/// Room for one more of an array, filled with zeros. NULL when memory runs out.
#define TALI_OSIM_ADD(o, what)                                                                     \
    tali_osim_add((o), (void **)&(o)->what, &(o)->num_##what, &(o)->what##_capacity,               \
                  sizeof *(o)->what)
void *tali_osim_add(tali_osim *o, void **array, int *num, int *capacity, size_t size);

// --- files (osim_files.c) ---

/// Read the sets that are in files of their own; what is wrong is said with their names.
void tali_osim_include_sets(tali_osim *o);
/// The file that an element stands in; NULL stands in the model's.
const char *tali_osim_file_of(const tali_osim *o, const tali_xml_element *at);
/// The path of a file beside the one that is read.
void tali_osim_beside(const tali_osim *o, const char *file, char path[1024]);

// --- what is known (osim_classes.c) ---

/// A class of objects.
typedef struct tali_osim_class {
    const char *name;
    const char *properties; ///< a blank behind each; '~' stands before those that are not read
} tali_osim_class;

/// Report the children of an object that its class does not have; count those that are not read.
void tali_osim_check_class(tali_osim *o, const tali_xml_element *object);
/// The same with the class at hand.
/// @param[in] even_empty  count also those that are there but empty
void tali_osim_check_properties(tali_osim *o, const tali_xml_element *object,
                                const tali_osim_class *row, bool even_empty);
/// Count an element that is not read.
void tali_osim_ignore(tali_osim *o, const tali_xml_element *element, tal_severity severity,
                      const char *why);
/// A line for each kind of element that was counted.
void tali_osim_report_ignored(tali_osim *o);

// --- functions (osim_functions.c) ---

/// A function of `num_args` arguments from its element. NULL, and an error, when it is wrong.
tal_function *tali_osim_read_function(tali_osim *o, const tali_xml_element *element, int num_args);
/// The powers [n] of the next term of a MultivariatePolynomialFunction: the last argument counts up
/// first, their sum is `order` at most. False after the last term.
bool tali_osim_next_term(int powers[], int n, int order);
/// Whether a function is linear in one argument with slope exactly 1 or -1, and not scaled.
bool tali_osim_is_unit_slope(const tali_xml_element *function);

// --- bodies, frames, joints, markers ---

void tali_osim_read_bodies(tali_osim *o);
void tali_osim_read_joints(tali_osim *o);
void tali_osim_read_markers(tali_osim *o);
/// The six functions of an ellipsoid joint as those of a CustomJoint, which then has u = qdot.
/// Memory that runs out is noted.
void tali_osim_spread_ellipsoid(tali_osim *o, tali_osim_joint *joint);

/// Add a frame that is fixed on another, and those it holds.
void tali_osim_read_offset_frame(tali_osim *o, const tali_xml_element *element, const char *owner);
/// Find the body of every frame; errors where there is none.
void tali_osim_resolve_frames(tali_osim *o);
/// The frame at a path, as seen from the component at `from`; -1, and an error, when there is none.
int tali_osim_find_frame(tali_osim *o, const tali_xml_element *at, const char *from,
                         const char *path);
/// A frame of an object: by a socket, or by a body's name in a property of older versions. -1, and
/// an error, when there is none.
int tali_osim_frame_of(tali_osim *o, const tali_xml_element *object, const char *socket,
                       const char *property);

/// The same with a place on it: a point, and angles; the names of properties may be NULL. False,
/// and an error, when there is none.
typedef struct tali_osim_place {
    const char *socket, *property, *p, *angles;
} tali_osim_place;

bool tali_osim_read_place(tali_osim *o, const tali_xml_element *object,
                          const tali_osim_place *place, int *body, tal_xform *X_BF);
/// The path of an object that stands in a set: "/forceset/soleus_r".
/// @param[out] path  [512]
void tali_osim_path_of(const tali_xml_element *object, char path[]);
/// The coordinate that a name or a path means; -1, and an error, when there is none.
int tali_osim_find_coordinate(tali_osim *o, const tali_xml_element *at, const char *name);

/// A spanning tree of bodies and joints, in the arena (talus/matter/graph.h).
typedef struct tali_osim_tree {
    tal_graph_step *steps; ///< [num_bodies - 1]
    int *closing;          ///< [num_closing] joints that close loops
    int num_closing;
} tali_osim_tree;

/// False, and an error, when there is none.
bool tali_osim_span(tali_osim *o, tali_osim_tree *tree);

/// Axes of versions before 1.9.1 and what they turn or move, brought into the order of later ones.
void tali_osim_read_transform(tali_osim *o, tali_osim_joint *joint);

// --- constraints and forces ---

/// What a <RollingOnSurfaceConstraint> becomes, in this order.
enum {
    TALI_OSIM_ROLLING_HEIGHT, ///< a point in the plane
    TALI_OSIM_ROLLING_SPIN,   ///< a constant angle
    TALI_OSIM_ROLLING_SLIP_X, ///< no slip along x, and along z of the surface
    TALI_OSIM_ROLLING_SLIP_Z,
    TALI_OSIM_ROLLING_NUM
};

void tali_osim_read_constraints(tali_osim *o);
void tali_osim_add_constraints(tali_osim *o, tal_model *model);

void tali_osim_read_contact(tali_osim *o);
void tali_osim_read_forces(tali_osim *o);
void tali_osim_add_forces(tali_osim *o, tal_model *model);
/// What bodies look like: meshes and shapes.
void tali_osim_add_decorations(tali_osim *o, tal_model *model);
/// Switch off, in the State, the forces that the file has switched off; bound controls.
void tali_osim_start_forces(const tali_osim *o, tal_model *model);

/// The coordinate of a force; an error where there is none.
void tali_osim_read_force_coordinate(tali_osim *o, tali_osim_force *f);
/// The two points of a force.
void tali_osim_read_two_points(tali_osim *o, tali_osim_force *f);

/// Forces by expressions and functions, and bushings (osim_laws.c).
void tali_osim_read_coordinate_law(tali_osim *o, tali_osim_force *f);
void tali_osim_read_two_point_law(tali_osim *o, tali_osim_force *f);
void tali_osim_read_bushing(tali_osim *o, tali_osim_force *f);
void tali_osim_read_function_bushing(tali_osim *o, tali_osim_force *f);
void tali_osim_read_expression_bushing(tali_osim *o, tali_osim_force *f);
tal_force_ix tali_osim_add_coordinate_law(tali_osim *o, tal_model *model, tali_osim_force *f);
tal_force_ix tali_osim_add_two_point_law(tali_osim *o, tal_model *model, tali_osim_force *f);
tal_force_ix tali_osim_add_bushing(tali_osim *o, tal_model *model, tali_osim_force *f);

void tali_osim_read_activation_actuator(tali_osim *o, tali_osim_force *f);
tal_force_ix tali_osim_add_activation_actuator(tali_osim *o, tal_model *model, tali_osim_force *f);
void tali_osim_read_coordinate_actuator(tali_osim *o, tali_osim_force *f);
void tali_osim_read_point_actuator(tali_osim *o, tali_osim_force *f);
void tali_osim_read_torque_actuator(tali_osim *o, tali_osim_force *f);
void tali_osim_read_body_actuator(tali_osim *o, tali_osim_force *f);
tal_force_ix tali_osim_add_coordinate_actuator(tali_osim *o, tal_model *model, tali_osim_force *f);
tal_force_ix tali_osim_add_point_actuator(tali_osim *o, tal_model *model, tali_osim_force *f);
tal_force_ix tali_osim_add_torque_actuator(tali_osim *o, tal_model *model, tali_osim_force *f);
tal_force_ix tali_osim_add_body_actuator(tali_osim *o, tal_model *model, tali_osim_force *f);

/// Obstacles of all frames: from their elements, and into the System.
void tali_osim_read_wraps(tali_osim *o);
void tali_osim_add_wraps(tali_osim *o, tal_model *model);

/// The path of a force, and the same in the System. Errors are in the list.
void tali_osim_read_path(tali_osim *o, tali_osim_force *f);
tal_path_ix tali_osim_add_path(tali_osim *o, tal_model *model, tali_osim_force *f);

/// What pulls along paths.
void tali_osim_read_path_actuator(tali_osim *o, tali_osim_force *f);
void tali_osim_read_path_spring(tali_osim *o, tali_osim_force *f);
void tali_osim_read_clutched_spring(tali_osim *o, tali_osim_force *f);
void tali_osim_read_ligament(tali_osim *o, tali_osim_force *f);
void tali_osim_read_blankevoort(tali_osim *o, tali_osim_force *f);
void tali_osim_read_pneumatic(tali_osim *o, tali_osim_force *f);
tal_force_ix tali_osim_add_path_actuator(tali_osim *o, tal_model *model, tali_osim_force *f);
tal_force_ix tali_osim_add_path_spring(tali_osim *o, tal_model *model, tali_osim_force *f);
tal_force_ix tali_osim_add_clutched_spring(tali_osim *o, tal_model *model, tali_osim_force *f);
tal_force_ix tali_osim_add_ligament(tali_osim *o, tal_model *model, tali_osim_force *f);
tal_force_ix tali_osim_add_blankevoort(tali_osim *o, tal_model *model, tali_osim_force *f);
tal_force_ix tali_osim_add_pneumatic(tali_osim *o, tal_model *model, tali_osim_force *f);

/// Muscles of each kind; those of old kinds are Thelen's if the options permit that.
void tali_osim_read_thelen(tali_osim *o, tali_osim_force *f);
void tali_osim_read_old_muscle(tali_osim *o, tali_osim_force *f);
void tali_osim_read_millard(tali_osim *o, tali_osim_force *f);
void tali_osim_read_degroote(tali_osim *o, tali_osim_force *f);
void tali_osim_read_rigid_tendon(tali_osim *o, tali_osim_force *f);
tal_force_ix tali_osim_add_muscle(tali_osim *o, tal_model *model, tali_osim_force *f);
/// Let the fibers of all muscles begin in equilibrium.
void tali_osim_equilibrate(const tali_osim *o, tal_model *model);

/// The force that a name or a path means; -1 when there is none.
int tali_osim_find_force(const tali_osim *o, const char *name);
/// An actuator of one newton, or newton meter, along a coordinate, which no element stands for but
/// `at`; -1 when memory runs out.
int tali_osim_take_actuator(tali_osim *o, const tali_xml_element *at, const char *name,
                            int coordinate);

/// A control of a <ControlSet> as a function of time. NULL, and an error, when it is wrong.
tal_function *tali_osim_read_control(tali_osim *o, const tali_xml_element *control);

void tali_osim_read_controllers(tali_osim *o);
void tali_osim_add_controllers(tali_osim *o, tal_model *model);
/// Let a correction drive its actuator number `i` after a target, which is adopted.
tal_controller_ix tali_osim_correct(const tali_osim *o, tal_model *model,
                                    const tali_osim_controller *it, int i, tal_function *target);
void tali_osim_disable_controllers(const tali_osim *o, tal_model *model);

/// Forces between shapes: from their elements, and into the System.
void tali_osim_read_hunt_crossley(tali_osim *o, tali_osim_force *f);
void tali_osim_read_elastic_foundation(tali_osim *o, tali_osim_force *f);
void tali_osim_read_smooth_contact(tali_osim *o, tali_osim_force *f);
tal_force_ix tali_osim_add_hunt_crossley(tali_osim *o, tal_model *model, tali_osim_force *f);
tal_force_ix tali_osim_add_elastic_foundation(tali_osim *o, tal_model *model, tali_osim_force *f);
/// Where a mesh is: beside the model, in its folder Geometry, or in one beside its folder. False:
/// nowhere.
bool tali_osim_find_mesh(const tali_osim *o, const char *file, char path[1024]);
tal_force_ix tali_osim_add_smooth_contact(tali_osim *o, tal_model *model, tali_osim_force *f);

// --- the whole ---

/// From the document to the arrays; errors are in the list.
void tali_osim_read(tali_osim *o);
/// From arrays without errors to a model; errors are in the list.
void tali_osim_build(tali_osim *o, tal_model *model);
/// Begin with nothing. False when memory runs out; tali_osim_free() is needed in any case.
bool tali_osim_begin(tali_osim *o, const tal_osim_options *options);
/// Read a model's file after tali_osim_begin(); `o` keeps what the file says.
TAL_NODISCARD tal_status tali_osim_open(tali_osim *o, const char *path, tal_model *model);
/// The same from a text; `name` stands for the file.
TAL_NODISCARD tal_status tali_osim_open_text(tali_osim *o, const char *name, const char *text,
                                             size_t size, tal_model *model);
/// Copy what was found to another list, as it is.
void tali_osim_copy_found(const tali_osim *o, tal_diagnostics *found);
/// Copy what was found to another list, in the order of lines.
void tali_osim_hand_on(const tali_osim *o, tal_diagnostics *found);
/// Give back what was read.
void tali_osim_free(tali_osim *o);

#endif // TALUS_IO_OSIM_INTERNAL_H
