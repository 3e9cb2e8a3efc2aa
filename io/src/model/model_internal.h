// Model files inside: one table says what a file may contain; reading, building, writing and the
// reference manual all follow it.
//
//     documents -> items (one per element, values parsed, everything wrong reported)
//               -> references resolved, checks across elements, functions made
//               -> System built, in the order bodies, constraints, motions, measures, forces, ...
//               -> State
//
// Nothing is built unless all of a file is right.
#ifndef TALUS_IO_MODEL_INTERNAL_H
#define TALUS_IO_MODEL_INTERNAL_H

#include "molecule_facts_internal.h"
#include "names_internal.h"

#include "text/arena_internal.h"
#include "text/xml_internal.h"

#include <talus/io/model.h>
#include <talus/io/table.h>
#include <talus/molecule.h>
#include <talus/study.h>

#include <stdint.h>

typedef struct tali_model tali_model;
typedef struct tali_model_item tali_model_item;
typedef struct tali_model_writer tali_model_writer;
typedef struct tali_model_description tali_model_description;
typedef struct tali_model_own_row tali_model_own_row;

// ---- the table

/// What the value of an attribute is, and where an item keeps it.
typedef enum tali_model_type {
    TALI_TYPE_NAME,       ///< of the element itself -> name
    TALI_TYPE_TEXT,       ///< -> text
    TALI_TYPE_REAL,       ///< `count` numbers -> p
    TALI_TYPE_REALS,      ///< any count of numbers -> lists
    TALI_TYPE_FRAME,      ///< 3, 6 or 12 numbers -> p[12]: axes x, y, z, then the origin
    TALI_TYPE_ROTATION,   ///< 3 or 9 numbers -> p[9]: axes x, y, z
    TALI_TYPE_INTEGER,    ///< -> ref
    TALI_TYPE_BOOL,       ///< yes or no -> ref
    TALI_TYPE_WORD,       ///< one of `words` -> ref, which of them
    TALI_TYPE_BODY,       ///< -> ref: the body's item; -1 for Ground; TALI_NO_BODY where none is
                          ///< given and the default is ""
    TALI_TYPE_MEASURE,    ///< -> ref: the measure's item; -1 for none
    TALI_TYPE_CONSTRAINT, ///< -> ref: the constraint's item; -1 for none
    TALI_TYPE_FUNCTION,   ///< -> ref: the item of a function in <functions>
    TALI_TYPE_MATERIAL,   ///< -> ref: the item of a material in <materials>; below zero one of
                          ///< tali_model_common_material_at(-1 - ref)
    TALI_TYPE_WRAP,       ///< -> ref: the item of an obstacle in <wraps>
    TALI_TYPE_PATH,       ///< -> ref: the item of a path in <paths>
    TALI_TYPE_UNILATERAL, ///< -> ref: the item of an element in <unilaterals>
    TALI_TYPE_FORCE,      ///< -> ref: the item of an element in <forces>
    TALI_TYPE_MOBILITY,   ///< -> two refs: body and index
    TALI_TYPE_MOBILITIES, ///< "body:i; body:j" -> mobilities
    TALI_TYPE_BODIES      ///< "body; body" -> mobilities, index unused
} tali_model_type;

enum {
    TALI_NO_BODY = -2
};

/// What is asked of numbers besides being numbers. They must be finite unless said otherwise.
enum {
    TALI_POSITIVE_NUMBER = 1,
    TALI_NO_NEGATIVE_NUMBER = 2,
    TALI_MAYBE_INFINITE = 4,
    TALI_IS_ANGLE = 8,     ///< given in the units of the file
    TALI_OF_MOBILITY = 16, ///< an angle if the mobility that the element acts on is one
    // of a mobility: without them it is a speed
    TALI_COUNTED_WITH_ANGLES = 32, ///< a coordinate, whatever the body uses
    TALI_COUNTED_AS_GIVEN = 64,    ///< a coordinate, as the body uses them
    TALI_WRITTEN_LAST = 128        ///< behind the other attributes
};

typedef struct tali_model_attribute {
    const char *name;
    tali_model_type type;
    int count;           ///< of TALI_TYPE_REAL
    const char *initial; ///< the value used when it is missing; NULL: it is required
    unsigned flags;
    const char *words; ///< of TALI_TYPE_WORD, "this|that"
    const char *doc;   ///< one sentence, without a full stop
} tali_model_attribute;

/// What an element is in, and what kind of thing it makes.
typedef enum tali_model_group {
    TALI_GROUP_NONE,
    TALI_GROUP_TOP,             ///< <talus>
    TALI_GROUP_SECTIONS,        ///< what is in <talus>
    TALI_GROUP_NAMED_FUNCTIONS, ///< what is in <functions>
    TALI_GROUP_MATERIALS,       ///< what is in <materials>
    TALI_GROUP_BODIES,          ///< what is in <bodies>: a body, named after its mobilizer
    TALI_GROUP_BODY_PARTS,      ///< what is in a body
    TALI_GROUP_CONSTRAINTS,     ///< what is in <constraints>
    TALI_GROUP_UNILATERALS,     ///< what is in <unilaterals>
    TALI_GROUP_COLLIDERS,       ///< what is in <colliders>
    TALI_GROUP_MOTIONS,         ///< what is in <motions>
    TALI_GROUP_WRAPS,           ///< what is in <wraps>
    TALI_GROUP_PATHS,           ///< what is in <paths>
    TALI_GROUP_PATH_PARTS,      ///< what is in a <path>
    TALI_GROUP_MEASURES,        ///< what is in <measures>
    TALI_GROUP_FORCES,          ///< what is in <forces>
    TALI_GROUP_SURFACES,        ///< what is in <contact>
    TALI_GROUP_MESH_PARTS,      ///< what is in a <mesh> of <contact>
    TALI_GROUP_LOADS,           ///< what is in <discrete_forces>
    TALI_GROUP_COMPONENTS,      ///< what is in <prescribed_force>
    TALI_GROUP_CONTROLLERS,     ///< what is in <controllers>
    TALI_GROUP_DRIVES,          ///< what is in <function_controller>
    TALI_GROUP_STOPS,           ///< what is in <stops>
    TALI_GROUP_MARKERS,         ///< what is in <markers>
    TALI_GROUP_DECORATIONS,     ///< what is in <decorations>
    TALI_GROUP_FUNCTIONS,       ///< what is in elements that need functions
    TALI_GROUP_FIELDS,          ///< what is in <force_fields>
    TALI_GROUP_FIELD_PARTS,     ///< what is in a <force_field>
    TALI_GROUP_MOLECULES,       ///< what is in <molecules>
    TALI_GROUP_MOLECULE_PARTS,  ///< what is in a <molecule>
    TALI_NUM_GROUPS
} tali_model_group;

/// One kind of element.
typedef struct tali_model_row {
    const char *name;
    const char *kind; ///< what the API calls it
    const char *doc;  ///< sentences
    const tali_model_attribute
        *shared; ///< attributes of all its group, ended by a NULL name; NULL: none
    const tali_model_attribute
        *own; ///< attributes of its own, likewise; they come behind the shared ones
    tali_model_group children;      ///< what may be in it
    int min_children, max_children; ///< -1: any number
    bool has_numbers; ///< numbers are in it instead -> the first list; it has no attributes

    /// Check what needs resolved references or several attributes together; NULL: nothing.
    void (*check)(tali_model *m, tali_model_item *item);
    /// Add it to the System; NULL: nothing.
    void (*build)(tali_model *m, tali_model_item *item);
    /// Of a function: make it, alone or of those in it, when it is checked.
    tal_status (*make)(const tali_model_item *item, const tal_allocator *allocator,
                       tal_function **out, tal_error *err);
    tal_status (*combine)(const tal_allocator *allocator, tal_function *const parts[], int count,
                          tal_function **out, tal_error *err);
    /// Set what the State holds of it; NULL: nothing.
    void (*start)(tali_model *m, tali_model_item *item);

    /// The way back, for writing: say the values of the shared attributes, then of its own, as
    /// System and State have them, in their order (model_write_internal.h); NULL: there are none.
    void (*describe_shared)(tali_model_description *d);
    void (*describe)(tali_model_description *d);
    /// Write what is in it besides functions; NULL: nothing can.
    void (*write_children)(tali_model_description *d);
    /// Of a section: find element `d->index` of those in a System that are in it: its name, and
    /// its row, which `own` becomes if a user registered it; no row, and refused, when no file can
    /// say it. False behind the last one. NULL: nothing of a System does.
    bool (*find)(tali_model_description *d, tali_model_own_row *own);

    /// Mobilizers: their table, and how many of q and u are angles (with angles instead of a
    /// quaternion).
    const tal_mobilizer_ops *(*ops)(void);
    int angles_q, angles_u;
    /// What a user registered; NULL: it is built in.
    const tal_model_element *registered;
} tali_model_row;

/// The table of a mobilizer; NULL when it is made of functions.
static inline const tal_mobilizer_ops *tali_model_row_ops(const tali_model_row *row)
{
    if (row->registered != NULL) return row->registered->ops;
    return row->ops != NULL ? row->ops() : NULL;
}

/// The rows of a group, ended by a NULL name.
const tali_model_row *tali_model_rows(tali_model_group group);

/// @name The rows, by the file they are in
/// @{
extern const tali_model_row tali_model_body_rows[], tali_model_body_part_rows[],
    tali_model_constraint_rows[], tali_model_unilateral_rows[], tali_model_collider_rows[],
    tali_model_motion_rows[], tali_model_measure_rows[], tali_model_force_rows[],
    tali_model_decoration_rows[], tali_model_function_rows[], tali_model_surface_rows[],
    tali_model_mesh_part_rows[], tali_model_load_rows[], tali_model_stop_rows[],
    tali_model_marker_rows[], tali_model_material_rows[], tali_model_wrap_rows[],
    tali_model_path_rows[], tali_model_path_part_rows[], tali_model_component_rows[],
    tali_model_controller_rows[], tali_model_drive_rows[], tali_model_field_rows[],
    tali_model_field_part_rows[], tali_model_molecule_rows[], tali_model_molecule_part_rows[];

/// What finds the elements of a section, likewise
bool tali_model_find_body(tali_model_description *d, tali_model_own_row *own);
bool tali_model_find_field(tali_model_description *d, tali_model_own_row *own);
bool tali_model_find_molecule(tali_model_description *d, tali_model_own_row *own);
bool tali_model_find_constraint(tali_model_description *d, tali_model_own_row *own);
bool tali_model_find_unilateral(tali_model_description *d, tali_model_own_row *own);
bool tali_model_find_collider(tali_model_description *d, tali_model_own_row *own);
bool tali_model_find_motion(tali_model_description *d, tali_model_own_row *own);
bool tali_model_find_measure(tali_model_description *d, tali_model_own_row *own);
bool tali_model_find_force(tali_model_description *d, tali_model_own_row *own);
bool tali_model_find_controller(tali_model_description *d, tali_model_own_row *own);
bool tali_model_find_wrap(tali_model_description *d, tali_model_own_row *own);
bool tali_model_find_path(tali_model_description *d, tali_model_own_row *own);
bool tali_model_find_stop(tali_model_description *d, tali_model_own_row *own);
bool tali_model_find_event(tali_model_description *d, tali_model_own_row *own);
bool tali_model_find_marker(tali_model_description *d, tali_model_own_row *own);
bool tali_model_find_decoration(tali_model_description *d, tali_model_own_row *own);

/// Of rows that are in another file than the table of their group.
extern const tali_model_attribute tali_model_sinusoid_attributes[],
    tali_model_thermostat_attributes[], tali_model_langevin_attributes[],
    tali_model_smooth_contact_attributes[], tali_model_exponential_spring_attributes[],
    tali_model_contact_attributes[], tali_model_path_spring_attributes[],
    tali_model_ligament_attributes[], tali_model_path_actuator_attributes[],
    tali_model_clutched_spring_attributes[], tali_model_path_measure_attributes[],
    tali_model_tension_attributes[], tali_model_thelen_attributes[],
    tali_model_millard_attributes[], tali_model_degroote_attributes[],
    tali_model_muscle_attributes[], tali_model_muscle_output_attributes[],
    tali_model_metabolics_attributes[], tali_model_prescribed_force_attributes[],
    tali_model_external_load_attributes[];
void tali_model_build_path_tension(tali_model *m, tali_model_item *item);
void tali_model_build_muscle(tali_model *m, tali_model_item *item);
void tali_model_start_muscle(tali_model *m, const tali_model_item *item);
void tali_model_describe_muscle(tali_model_description *d);
void tali_model_build_muscle_output(tali_model *m, tali_model_item *item);
void tali_model_describe_muscle_output(tali_model_description *d);
void tali_model_build_metabolics(tali_model *m, tali_model_item *item);
void tali_model_describe_metabolics(tali_model_description *d);
void tali_model_build_prescribed_force(tali_model *m, tali_model_item *item);
void tali_model_describe_prescribed_force(tali_model_description *d);
void tali_model_write_components(tali_model_description *force);
void tali_model_check_external_load(tali_model *m, tali_model_item *item);
void tali_model_build_external_load(tali_model *m, tali_model_item *item);
/// Let the fibers of muscles begin in equilibrium where the file does not say how long they are.
void tali_model_equilibrate(tali_model *m);
/// Let runs handle unilateral elements where the file does not say how.
void tali_model_handle_unilaterals(tali_model *m);
void tali_model_build_discrete(tali_model *m, tali_model_item *item);
void tali_model_write_loads(tali_model_description *discrete);
void tali_model_build_path_spring(tali_model *m, tali_model_item *item);
void tali_model_build_ligament(tali_model *m, tali_model_item *item);
void tali_model_build_path_actuator(tali_model *m, tali_model_item *item);
void tali_model_build_clutched_spring(tali_model *m, tali_model_item *item);
void tali_model_build_path_length(tali_model *m, tali_model_item *item);
void tali_model_build_path_speed(tali_model *m, tali_model_item *item);
void tali_model_describe_path_measure(tali_model_description *d);
void tali_model_build_thermostat(tali_model *m, tali_model_item *item);
void tali_model_check_langevin(tali_model *m, tali_model_item *item);
void tali_model_build_langevin(tali_model *m, tali_model_item *item);
void tali_model_check_exponential_spring(tali_model *m, tali_model_item *item);
void tali_model_write_body_parts(tali_model_description *d);
void tali_model_describe_built_in_force(tali_model_description *d);
void tali_model_describe_langevin(tali_model_description *d);
void tali_model_describe_exponential_spring(tali_model_description *d);
void tali_model_describe_contact(tali_model_description *d);
void tali_model_write_surfaces(tali_model_description *contact);
void tali_model_describe_mesh(tali_model_description *d);
void tali_model_write_mesh(tali_model_description *mesh);
void tali_model_start_exponential_spring(tali_model *m, const tali_model_item *item);
void tali_model_build_smooth_contact(tali_model *m, tali_model_item *item);
void tali_model_build_exponential_spring(tali_model *m, tali_model_item *item);
extern const tali_model_attribute tali_model_mesh_attributes[];
extern const tali_model_attribute tali_model_sphere_attributes[];
extern const tali_model_attribute tali_model_ellipsoid_attributes[];
extern const tali_model_attribute tali_model_cylinder_attributes[];
extern const tali_model_attribute tali_model_brick_attributes[];
extern const tali_model_attribute tali_model_torus_attributes[];
/// The shape of an item from its own numbers `p`; a mesh is handed over to the model. False when
/// memory runs out.
bool tali_model_make_shape(tali_model *m, tali_model_item *item, tal_shape_kind kind,
                           const double p[], tal_shape *shape);
/// Sizes of a shape, and the radius of edges of shapes that have them.
void tali_model_say_shape(tali_model_description *d, const tal_shape *shape);
/// Cliques of surfaces and colliders: the first list of an item.
void tali_model_check_cliques(tali_model *m, tali_model_item *item);
uint64_t tali_model_cliques_of(const tali_model_item *item);
void tali_model_say_cliques(tali_model_description *d, uint64_t cliques);
/// The mesh of an item, from a file or from what is in it.
void tali_model_make_mesh(tali_model *m, tali_model_item *item, const char *file, double scale);
/// Hand it over to the model, which keeps it as long as the System; NULL when memory runs out.
const tal_mesh *tali_model_keep_mesh(tali_model *m, tali_model_item *item);
/// Names of the built-in materials, one after the other; NULL after the last one.
const char *tali_model_common_material_at(int i);
void tali_model_check_contact(tali_model *m, tali_model_item *item);
void tali_model_build_contact(tali_model *m, tali_model_item *item);
/// @}

/// An attribute of a row, shared ones first; NULL behind the last one.
const tali_model_attribute *tali_model_row_attribute(const tali_model_row *row, int i);

/// Room that the value of an attribute takes in an item.
typedef struct tali_model_room {
    int p, ref, text, lists;
} tali_model_room;

tali_model_room tali_model_room_of(const tali_model_attribute *a);

/// Text that grows into a buffer, and is counted where it does not fit.
typedef struct tali_model_sink {
    char *text;
    size_t size, length;
} tali_model_sink;

void tali_model_sink_put(tali_model_sink *out, const char *fmt, ...) TAL_PRINTF(2, 3);

/// The same for `length` characters as they are: formats take time.
void tali_model_sink_text(tali_model_sink *out, const char *text, size_t length);

// ---- items

typedef struct tali_model_list {
    double *values;
    int count;
    // where they are only to be written, instead of `values`:
    const double *shown; ///< `stride` apart
    int stride;
    double (*number)(const void *from, int i); ///< or one by one
    const void *from;
} tali_model_list;

typedef struct tali_model_mobility_ref {
    int body; ///< item, -1 for Ground
    int index;
} tali_model_mobility_ref;

/// An element of a file with its values. Values are in the order of the row's attributes.
struct tali_model_item {
    const tali_model_row *row;
    const tali_xml *xml;
    const tali_xml_element *element;
    const char *name;   ///< NULL: none was given
    double unit;        ///< of angles in its file [rad]
    const char *prefix; ///< of all names in its file, "" in most
    int include; ///< item of the <include> of its file, whose ref[0] stands for Ground; -1: none
    double *p;
    int *ref;
    const char **text;
    tali_model_list *lists;
    tali_model_mobility_ref *mobilities;
    int num_mobilities;
    tali_model_group group;
    int parent, first, last, next; ///< items; -1: none
    int num_children;
    bool used;              ///< something refers to it
    int built;              ///< index of what it became; -1 before
    tal_function *function; ///< the function of a function element, until it is adopted
    tal_table *table;       ///< the table that an element reads, until it is built
    tal_mesh *mesh;         ///< what a mesh became, likewise
    tal_ff *field;          ///< what a force field became, likewise
    tal_mol *mol;           ///< what a molecule became, likewise
};

typedef struct tali_model_named_value {
    const char *name;
    double value;
    bool fixed; ///< by the caller: what the file says does not count
} tali_model_named_value;

/// A registered element as a row. `own` of the row points into it: it must stay where it is.
struct tali_model_own_row {
    tali_model_group group;
    tali_model_row row;
    tali_model_attribute attributes[TAL_MODEL_MAX_ATTRIBUTES + 1];
};

/// What a model owns besides its System and State.
struct tal_model_kept {
    tali_arena arena; ///< markers, params and their names
    tal_mesh **meshes;
    int num_meshes, meshes_capacity;
    tal_function **functions; ///< of measures
    int num_functions, functions_capacity;
    tal_ff **fields; ///< of the molecules
    int num_fields, fields_capacity;
    tal_mol **mols;
    int num_mols, mols_capacity;
    const char **joint_names; ///< [num_joint_names] of bodies in an .osim file; NULL: none
    int num_joint_names;
};

/// A model file being turned into a System.
struct tali_model {
    tal_model_options options;
    tali_arena arena;
    tal_diagnostics *found;
    bool no_memory;
    int num_refused; ///< params and starts that the caller gave, and that are not there
    bool in_memory;  ///< the model is read from memory

    tali_xml **documents;
    int num_documents, documents_capacity;
    tali_model_item *items;
    int num_items, items_capacity;
    tali_names names;               ///< what was named: items, by group and name
    tali_model_named_value *values; ///< params
    int num_values, values_capacity;
    tali_model_own_row *own_rows; ///< [num_own_rows] in the arena
    int num_own_rows;
    int num_repeated; ///< functions made for those that refer to them by name
    const char *name; ///< of the model
    double time;
    double time_scale;
    bool solves_kkt;            ///< a file says so
    bool has_collider_elements; ///< likewise

    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_events *events; ///< NULL: there is none yet
    tal_state *state;
    struct tal_model_kept *kept;
    tal_marker *markers; ///< [num_markers] in `kept`
    int num_markers;
    tal_model_param *params; ///< [num_values] likewise
};

/// An error at an item, or at the attribute of that name if it has one.
void tali_model_item_error(tali_model *m, const tali_model_item *item, const char *attribute,
                           const char *fmt, ...) TAL_PRINTF(4, 5);

/// Whether the file gives this attribute.
bool tali_model_item_has(const tali_model_item *item, const char *attribute);

/// Parse the values of an item from its element. Everything wrong is reported.
void tali_model_item_parse(tali_model *m, tali_model_item *item);

/// Resolve the references of an item, and what depends on them.
void tali_model_item_resolve(tali_model *m, tali_model_item *item);

/// The item of a name in a group; -1 when there is none.
int tali_model_find_name(const tali_model *m, tali_model_group group, const char *name);

/// The same of a name as the file of an item has it, without the file's prefix.
int tali_model_find_from(const tali_model *m, const tali_model_item *item, tali_model_group group,
                         const char *name);

/// Whether it is a body, or Ground.
bool tali_model_is_body(const tali_model *m, const tali_model_item *item, const char *name);

/// The name of an item in the whole model. NULL when memory runs out.
const char *tali_model_full_name(tali_model *m, const tali_model_item *item, const char *name);

/// The path of a file that an item names: beside the file it is in, unless it is absolute. False,
/// and an error, when there is no such path.
bool tali_model_item_path(tali_model *m, const tali_model_item *item, const char *file, char path[],
                          size_t size);

/// The table in a file that an item names, for the caller to destroy. NULL, and an error unless
/// `file` is NULL, when there is none.
tal_table *tali_model_item_table(tali_model *m, const tali_model_item *item, const char *file);

/// Enter an item's name; reports one that is taken.
void tali_model_enter_name(tali_model *m, int index);

// ---- what users register

/// Whether a registry is valid; otherwise a breach in the name of `where`. NULL is allowed.
tal_status tali_model_check_registry(const tal_model_registry *registry, const char *where);

void tali_model_own_row_make(const tal_model_element *element, tali_model_own_row *out);

/// The group of elements that a place makes.
tali_model_group tali_model_group_of_place(tal_model_place place);

/// What the shared attributes of a body say, for a mobilizer of a user's own; and what is said of
/// its coordinates, once it is there.
tal_mobod_def tali_model_body_def_of(tali_model *m, const tali_model_item *item);
void tali_model_finish_body(tali_model *m, tali_model_item *item, tal_body_ix body);
/// The same for constraints and motions.
tal_constraint_def tali_model_constraint_def_of(const tali_model_item *item);
tal_motion_def tali_model_motion_def_of(const tali_model *m, const tali_model_item *item);

/// Define or look up a `<param>`; NULL when there is none.
/// A param of the caller's: a name in full.
tali_model_named_value *tali_model_find_value(const tali_model *m, const char *name, size_t length);

/// A param that a file names: its own, or else one of the files that include it.
const tali_model_named_value *tali_model_find_param(const tali_model *m,
                                                    const tali_model_item *item, const char *name,
                                                    size_t length);

/// Read the documents and make the items.
void tali_model_load_file(tali_model *m, const char *path);
void tali_model_load_memory(tali_model *m, const char *name, const char *text, size_t size);

/// What tal_model_read_file() and its like ask of their callers; a breach in the name of `where`
/// otherwise.
tal_status tali_model_check_reading(const char *name, const void *text,
                                    const tal_model_options *options, const tal_model *model,
                                    const char *where);

/// tal_model_read_file() of a file whose text is there already.
tal_status tali_model_read_loaded(const char *path, const char *text, size_t size,
                                  const tal_model_options *options, tal_model *model,
                                  tal_diagnostics *found);

/// Build the System and the State from items without errors.
void tali_model_build(tali_model *m);

/// Let coordinates and speeds begin where the caller says: names and values. What is wrong is an
/// error of the file; returns how many were.
int tali_model_set_starts(const tal_matter *matter, tal_state *state,
                          const tal_model_param starts[], int num, const char *file,
                          tal_diagnostics *found);

/// What a model keeps, with nothing in it; NULL when memory runs out.
struct tal_model_kept *tali_model_kept_create(const tal_allocator *allocator);

/// Hand a mesh over to what keeps it; NULL, and it is destroyed, when memory runs out.
const tal_mesh *tali_model_kept_mesh(struct tal_model_kept *kept, tal_mesh *mesh);

/// The same for a function.
const tal_function *tali_model_kept_function(struct tal_model_kept *kept, tal_function *f);

/// The same for a force field, and for a molecule. False when memory runs out.
bool tali_model_kept_field(struct tal_model_kept *kept, tal_ff *ff);
bool tali_model_kept_mol(struct tal_model_kept *kept, tal_mol *mol);

/// Free what a model keeps; NULL is allowed.
void tali_model_kept_destroy(struct tal_model_kept *kept);

// ---- molecules

/// Words separated by blanks. Begin with the text and no length.
typedef struct tali_model_token {
    const char *text;
    int length;
} tali_model_token;

/// The next word; false behind the last one.
bool tali_model_next_token(tali_model_token *at);

/// Of a stretch of two atoms, and of a bend of three.
#define TALI_STRETCH_ATTRIBUTES                                                                    \
    {"k", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[kJ/mol/nm^2]"},            \
    {                                                                                              \
        "r0", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "distance at rest [nm]"  \
    }
#define TALI_BEND_ATTRIBUTES                                                                       \
    {"k", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[kJ/mol/rad^2]"},           \
        {"theta0", TALI_TYPE_REAL, 1, .flags = TALI_IS_ANGLE | TALI_NO_NEGATIVE_NUMBER,            \
         .doc = "angle at rest"},                                                                  \
    {                                                                                              \
        "cosine", TALI_TYPE_BOOL,                                                                  \
            .initial = "no",                                                                       \
            .doc = "k/2 (cos theta - cos theta0)^2 in place of k (theta - theta0)^2"               \
    }

/// What a function of a dihedral has, the first three lists of an item; harmonic ones are the
/// fourth.
#define TALI_WAVE_ATTRIBUTES                                                                       \
    {"waves", TALI_TYPE_REALS, .initial = "",                                                      \
     .doc = "n, V [kJ/mol] and gamma for each term V (1 + cos(n phi - gamma)), n = 1 to 6"},       \
        {"powers", TALI_TYPE_REALS, .initial = "",                                                 \
         .doc = "in their place: C0 to C5 of the sum of C cos^k(phi - pi) [kJ/mol]"},              \
    {                                                                                              \
        "series", TALI_TYPE_REALS,                                                                 \
            .initial = "",                                                                         \
            .doc = "in their place: a0, a1 to a6, b1 to b6 of the Fourier series [kJ/mol]"         \
    }

#define TALI_HARMONIC_ATTRIBUTE                                                                    \
    {                                                                                              \
        "harmonic", TALI_TYPE_REALS,                                                               \
            .initial = "", .doc = "in their place: k [kJ/mol/rad^2] and phi0 of k (phi - phi0)^2"  \
    }

/// The law of such an element; false, and an error, when it has none or several.
bool tali_model_wave_law(tali_model *m, const tali_model_item *item, bool has_harmonic,
                         tali_field_law *law);

// ---- what builders use

static inline tal_vec3 tali_model_vec3_at(const double *p)
{
    return tal_v3(p[0], p[1], p[2]);
}

/// Twelve numbers as a frame.
tal_xform tali_model_frame_at(const double *p);

/// Nine numbers as a rotation.
tal_mat3 tali_model_rotation_at(const double *p);

/// The body a reference means, once it is built.
static inline tal_body_ix tali_model_body_at(const tali_model *m, int ref)
{
    const tal_body_ix body = {ref >= 0 ? m->items[ref].built : 0};
    return body;
}

/// The measure a reference means, once it is built; none for -1.
static inline tal_measure_ix tali_model_measure_at(const tali_model *m, int ref)
{
    const tal_measure_ix measure = {ref >= 0 ? m->items[ref].built : -1};
    return measure;
}

/// The force element a reference means, once it is built; none for -1.
static inline tal_force_ix tali_model_force_at(const tali_model *m, int ref)
{
    const tal_force_ix force = {ref >= 0 ? m->items[ref].built : -1};
    return force;
}

static inline tal_mobility tali_model_mobility_at(const tali_model *m, int body, int index)
{
    const tal_mobility at = {tali_model_body_at(m, body), index};
    return at;
}

/// Hand the function of an item's n-th child over; NULL when it has none.
tal_function *tali_model_take_function(tali_model *m, const tali_model_item *item, int n);

/// Whether coordinate `index` of a body (or its speed) is an angle (or its rate).
bool tali_model_is_angle(const tali_model *m, int body, int index, bool speed);

/// Coordinates of a body as its def counts them.
int tali_model_item_nq(const tali_model_item *body);
int tali_model_item_nu(const tali_model_item *body);

/// The number by which an element means a coordinate that a file names: as the flags of its
/// attribute count. -1 when there is no such number: parts of a quaternion are no angles, and rates
/// of angles are not always speeds.
int tali_model_coordinate_number(const tali_model *m, const tali_model_item *coordinate,
                                 unsigned flags);

/// How many of them are angles, as its def counts them.
int tali_model_item_num_angles(const tali_model_item *body, bool speed);

/// Refs of all force elements but gravity.
enum {
    TALI_FORCE_ENABLED,
    TALI_FORCE_TRACKED,
    TALI_FORCE_REFS
};

/// Refs of what is in a body.
enum {
    TALI_PART_INDEX,
    TALI_PART_LOCK
};

/// Where the refs and numbers of shared attributes end, and those of a row's own begin.
enum {
    TALI_BODY_REFS = 8, ///< parent, any inertia, structure, reverse, angles, lock, fast, gravity
    TALI_BODY_PARENT = 0,
    TALI_BODY_ANY_INERTIA = 1,
    TALI_BODY_STRUCTURE = 2,
    TALI_BODY_REVERSE = 3,
    TALI_BODY_ANGLES = 4,
    TALI_BODY_LOCK = 5,
    TALI_BODY_FAST = 6,
    TALI_BODY_WEIGHTLESS = 7,
    TALI_BODY_MASS = 0,
    TALI_BODY_COM = 1,
    TALI_BODY_FRAME = 4,
    TALI_BODY_BODY_FRAME = 16,
    TALI_BODY_ROTOR = 28,
    TALI_BODY_NUMBERS = 29,
    TALI_BODY_INERTIA_LIST = 0,
    TALI_BODY_Q_LIST = 1,
    TALI_BODY_U_LIST = 2,
    TALI_BODY_RANGE_LIST = 3,
    TALI_BODY_LOCK_LIST = 4,
    TALI_BODY_LISTS = 5
};

#endif // TALUS_IO_MODEL_INTERNAL_H
