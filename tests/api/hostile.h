// What the generated calls of hostile_calls.c share: values of every type, right ones first and
// then hostile ones, and judging what comes back. hostile_calls.awk reads the names take_<type>,
// good_<type> and OBJECT(<type>, ...) from here.
#ifndef TALUS_HOSTILE_H
#define TALUS_HOSTILE_H

#include <talus/talus.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    MAX_PICKS = 32,
    ARRAY_DOUBLES = 16384, // of every array of numbers: no work array of the world is longer
    TEXT_BYTES = 8192      // of every text, zeros behind it
};

/// How functions of tables behave that a call hands over.
typedef enum hostile_mood {
    FUNCTIONS_WORK,
    FUNCTIONS_FAIL,
    FUNCTIONS_RETRY,
    FUNCTIONS_GIVE_NAN
} hostile_mood;

/// One call: which value each parameter takes. Number 0 is a right value, number 1 of a pointer is
/// NULL.
typedef struct hostile_draw {
    int choice[MAX_PICKS];
    int values[MAX_PICKS]; ///< how many there are to choose from; known after the call
    int picks;
    int breaches; ///< contracts broken in the call
    hostile_mood mood;
    bool not_tame; ///< a number that is not finite, or so large or small that others become so
    int arrays, states, texts;
    char *note; ///< what was chosen, for people
} hostile_draw;

typedef struct hostile_call {
    const char *name;
    void (*run)(hostile_draw *d);
    bool destroys;
} hostile_call;

extern const hostile_call hostile_calls[];

typedef enum hostile_field_kind {
    FIELD_END,
    FIELD_DOUBLE,
    FIELD_INT,
    FIELD_LONG,
    FIELD_SIZE,
    FIELD_BOOL,
    FIELD_STRING,
    FIELD_POINTER
} hostile_field_kind;

typedef struct hostile_field {
    const char *name;
    size_t offset;
    hostile_field_kind kind;
    bool is_length; ///< of an array that another field points to
} hostile_field;

typedef struct hostile_struct {
    const char *name;
    size_t size;
    void (*make)(void *out); ///< a right one; NULL: zeros
    const hostile_field *fields;
} hostile_struct;

/// Make the worlds and objects that calls take.
void hostile_make_worlds(void);

/// The System that the call before this added to, now the caller's; NULL when there is none.
tal_system *hostile_take_building(void);

/// End the program: what calls need cannot be made.
__attribute__((noreturn)) void hostile_stop(const char *why);

/// Number of the value to take, of `n`.
int hostile_pick(hostile_draw *d, int n);

/// Say which field was changed.
void hostile_note(hostile_draw *d, const char *field);

/// The call may write this array; it is judged afterwards.
void hostile_will_write(hostile_draw *d, double *array);

/// A contract handler.
void hostile_count_breach(const tal_error *breach);

/// From the next call on functions of tables do what they should.
void hostile_functions_work(void);

void hostile_begin(hostile_draw *d);
void hostile_end(hostile_draw *d);

// After a breach a call returns what its header says for failure, never what means success.
void judge_status(hostile_draw *d, tal_status status);
void judge_double(hostile_draw *d, double x);
void judge_int(hostile_draw *d, int i);
void judge_string(hostile_draw *d, const char *text);
void judge_pointer(hostile_draw *d, const void *p);
void keep_tal_system(hostile_draw *d, tal_system *system);
void keep_tal_matter(hostile_draw *d, tal_matter *matter);
void keep_tal_forces(hostile_draw *d, tal_forces *forces);
void keep_tal_contacts(hostile_draw *d, tal_contacts *contacts);
void keep_tal_fixed_memory(hostile_draw *d, tal_fixed_memory *memory);
void keep_tal_events(hostile_draw *d, tal_events *events);
void keep_tal_table(hostile_draw *d, tal_table *table);
void keep_tal_diagnostics(hostile_draw *d, tal_diagnostics *list);

// --- plain values ---

double take_double(hostile_draw *d);
bool take_bool(hostile_draw *d);
int take_int(hostile_draw *d, bool is_length);
int take_enum(hostile_draw *d);
int take_index(hostile_draw *d);
size_t take_size(hostile_draw *d, bool is_length);
const char *take_string(hostile_draw *d);
const char *take_end(hostile_draw *d);    // of the string taken last
const char *take_format(hostile_draw *d); // needs no further arguments
int *take_levels(hostile_draw *d);        // whose product says how long an array is
double *take_doubles(hostile_draw *d, bool is_const);
int *take_ints(hostile_draw *d, bool is_const);
bool *take_bools(hostile_draw *d);
char *take_text(hostile_draw *d);
void *take_bytes(hostile_draw *d);
void *take_self(hostile_draw *d);
void *take_slot(hostile_draw *d);
void *take_out(hostile_draw *d, size_t size);
void *take_array(hostile_draw *d, size_t size, bool is_const);
void *take_struct(hostile_draw *d, const hostile_struct *type);
const char *const *take_array_char(hostile_draw *d);
tal_function *const *take_array_tal_function(hostile_draw *d);

// --- small structs by value ---

tal_vec3 value_tal_vec3(hostile_draw *d);
tal_quat value_tal_quat(hostile_draw *d);
tal_sym3 value_tal_sym3(hostile_draw *d);
tal_spatial_vec value_tal_spatial_vec(hostile_draw *d);
tal_mobility value_tal_mobility(hostile_draw *d);
tal_matrix value_tal_matrix(hostile_draw *d);
tal_prereq value_tal_prereq(hostile_draw *d);
tal_contract_handler value_tal_contract_handler(hostile_draw *d);
tal_name_at_fn value_tal_name_at_fn(hostile_draw *d);
tal_batch_fn value_tal_batch_fn(hostile_draw *d);

// --- callbacks of types without a name, by the function that takes them ---

typedef bool (*take_bytes_fn)(void *context, const void *bytes, size_t size);
take_bytes_fn value_tal_table_write_to(hostile_draw *d);
take_bytes_fn value_tal_scene_write_to(hostile_draw *d);

// --- right values of structs that have no default ---

void good_tal_xform(tal_xform *out);
void good_tal_mat3(tal_mat3 *out);
void good_tal_mass_props(tal_mass_props *out);
void good_tal_shape(tal_shape *out);
void good_tal_design(tal_design *out);
void good_tal_moments(tal_moments *out);
void good_tal_histogram(tal_histogram *out);
void good_tal_executor(tal_executor *out);
void good_tal_allocator(tal_allocator *out);
void good_tal_closure(tal_closure *out);
void good_tal_pchol(tal_pchol *out);
void good_tal_cod(tal_cod *out);
void good_tal_bounded_problem(tal_bounded_problem *out);
void good_tal_effort_problem(tal_effort_problem *out);
void good_tal_friction_problem(tal_friction_problem *out);
void good_tal_friction_rows(tal_friction_rows *out);
void good_tal_rk_tableau(tal_rk_tableau *out);
void good_tal_mobilizer_ops(tal_mobilizer_ops *out);
void good_tal_force_ops(tal_force_ops *out);
void good_tal_mol_custom_ops(tal_mol_custom_ops *out);
void good_tal_controller_ops(tal_controller_ops *out);
void good_tal_muscle_def(tal_muscle_def *out);
void good_tal_metabolics(tal_metabolics *out);
void good_tal_motion_ops(tal_motion_ops *out);
void good_tal_constraint_ops(tal_constraint_ops *out);
void good_tal_measure_ops(tal_measure_ops *out);
void good_tal_subsystem_ops(tal_subsystem_ops *out);
void good_tal_decoration(tal_decoration *out);
void good_tal_model_registry(tal_model_registry *out);
void good_tal_eig(tal_eig *out);
void good_tal_floating(tal_floating *out);
void good_tal_scene_page(tal_scene_page *out);

// --- objects ---

const tal_system *take_const_tal_system(hostile_draw *d);
tal_system *take_tal_system(hostile_draw *d);
const tal_matter *take_const_tal_matter(hostile_draw *d);
tal_matter *take_tal_matter(hostile_draw *d);
const tal_forces *take_const_tal_forces(hostile_draw *d);
tal_forces *take_tal_forces(hostile_draw *d);
const tal_contacts *take_const_tal_contacts(hostile_draw *d);
const tal_fixed_memory *take_const_tal_fixed_memory(hostile_draw *d);
const tal_events *take_const_tal_events(hostile_draw *d);
tal_events *take_tal_events(hostile_draw *d);
tal_state *take_tal_state(hostile_draw *d);
tal_function *take_tal_function(hostile_draw *d);
tal_function_based *take_tal_function_based(hostile_draw *d);
const tal_model *take_const_tal_model(hostile_draw *d);
const tal_ff *take_const_tal_ff(hostile_draw *d);
tal_ff *take_tal_ff(hostile_draw *d);
const tal_mol *take_const_tal_mol(hostile_draw *d);
tal_mol *take_tal_mol(hostile_draw *d);
const tal_mol_instance *take_const_tal_mol_instance(hostile_draw *d);

/// The world's object of a type, or NULL.
#define OBJECT(type, field)                                                                        \
    static inline type *take_##type(hostile_draw *d)                                               \
    {                                                                                              \
        return hostile_pick(d, 2) == 0 ? hostile_world.field : NULL;                               \
    }

typedef struct hostile_objects {
    tal_integrator *integrator;
    tal_equations *equations;
    tal_linearizer *linearizer;
    tal_recorder *recorder;
    tal_time_stepper *stepper;
    tal_assembler *assembler;
    tal_tracker *tracker;
    tal_ensemble *ensemble;
    tal_direct *direct;
    tal_subtree *subtree;
    tal_batch *batch;
    tal_sensitivity *sensitivity;
    tal_equilibrium *equilibrium;
    tal_static_optimizer *static_optimizer;
    tal_induced *induced;
    tal_follower *follower;
    tal_table *table;
    tal_atoms *atoms; // three, in one frame
    tal_scene *scene;
    tal_diagnostics *diagnostics;
    tal_mesh *mesh;
    tal_hull *hull;
    tal_contact_stepper *contact_stepper;
    tal_fixed_stepper *fixed_stepper;
    tal_md *md;
    tal_replicas *replicas;
    tal_minimizer *minimizer;
    tal_walk *walk;
    tal_natural *natural;
    tal_loops *loops;
    tal_velocity_map *velocity_map;
    tal_natural_solver *natural_solver;
    tal_natural_map *natural_map;
    tal_force_slopes *slopes; // NULL: only functions of force elements are given one
    tal_threads *threads;
    tal_signal *signal;
    tal_nlp_solver *nlp_solver;
    tal_optimizer *optimizer; // of a tree
    tal_osim_results *results;
    tal_generator *generator;         // of a pendulum
    tal_ff *ff;                       // frozen
    tal_mol *mol;                     // frozen
    const tal_mol_instance *molecule; // of the world that is finished
    const tal_matter *matter;         // of the world that is finished, and a State of it
    const tal_state *state;
} hostile_objects;

extern hostile_objects hostile_world;

OBJECT(tal_integrator, integrator)
OBJECT(tal_equations, equations)
OBJECT(tal_linearizer, linearizer)
OBJECT(tal_recorder, recorder)
OBJECT(tal_time_stepper, stepper)
OBJECT(tal_assembler, assembler)
OBJECT(tal_tracker, tracker)
OBJECT(tal_ensemble, ensemble)
OBJECT(tal_direct, direct)
OBJECT(tal_subtree, subtree)
OBJECT(tal_batch, batch)
OBJECT(tal_sensitivity, sensitivity)
OBJECT(tal_equilibrium, equilibrium)
OBJECT(tal_static_optimizer, static_optimizer)
OBJECT(tal_induced, induced)
OBJECT(tal_follower, follower)
OBJECT(tal_table, table)
OBJECT(tal_atoms, atoms)
OBJECT(tal_scene, scene)
OBJECT(tal_diagnostics, diagnostics)
OBJECT(tal_mesh, mesh)
OBJECT(tal_hull, hull)
OBJECT(tal_contact_stepper, contact_stepper)
OBJECT(tal_fixed_stepper, fixed_stepper)
OBJECT(tal_md, md)
OBJECT(tal_replicas, replicas)
OBJECT(tal_minimizer, minimizer)
OBJECT(tal_walk, walk)
OBJECT(tal_natural, natural)
OBJECT(tal_loops, loops)
OBJECT(tal_velocity_map, velocity_map)
OBJECT(tal_natural_solver, natural_solver)
OBJECT(tal_natural_map, natural_map)
OBJECT(tal_force_slopes, slopes)
OBJECT(tal_threads, threads)
OBJECT(tal_signal, signal)
OBJECT(tal_nlp_solver, nlp_solver)
OBJECT(tal_optimizer, optimizer)
OBJECT(tal_generator, generator)
OBJECT(tal_osim_results, results)

#endif // TALUS_HOSTILE_H
