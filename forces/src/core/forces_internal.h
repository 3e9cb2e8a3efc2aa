// The force subsystem as a struct.
#ifndef TALUS_FORCES_INTERNAL_H
#define TALUS_FORCES_INTERNAL_H

#include "alloc_internal.h"
#include "build_internal.h"
#include "cache_internal.h"
#include "error_internal.h"
#include "names_internal.h"
#include "weight_internal.h"

#include "control/control_internal.h"
#include "path/path_internal.h"

#include <talus/forces/force.h>

/// Points closer than this have no direction between them [m]: the square of their distance is
/// about to underflow.
#define TALI_FORCE_LEAST_DISTANCE 1e-150

/// The most chunks that elements are cut into for threads.
#define TALI_MAX_FORCE_CHUNKS 64

/// An element: its table, its data, its name.
typedef struct tali_force {
    char name[TAL_MAX_FORCE_NAME + 1];
    tal_force_ops ops;
    void *self;
    bool is_tracked;         // what it dissipates is a z
    tal_group_ix dissipated; // that z
} tali_force;

/// A group of z and the element it belongs to.
typedef struct tali_force_group {
    tal_group_ix group;
    int element;
} tali_force_group;

/// A variable and the element it belongs to.
typedef struct tali_force_var {
    tal_var_ix var;
    int element;
} tali_force_var;

/// Parameters of built-in elements that invalidate Dynamics, one variable for all that need the
/// same.
typedef struct tali_force_values {
    double *initial; // while building
    int count, capacity;
    tal_var_ix var;
} tali_force_values;

/// What is needed to apply an element, in one place: a loop over many elements reads little memory.
typedef struct tali_force_call {
    tal_status (*apply)(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[]);
    const void *self;
    int element;
} tali_force_call;

/// Elements that need the same: their forces are summed, and kept, together.
typedef struct tali_force_class {
    int begin, middle, end; // in `order`; up to `middle` those that may run concurrently
    tal_cache_ix sum;       // F of all bodies, then f; unless they need all
} tali_force_class;

struct tal_forces {
    tal_system *system; // used while building only
    const tal_matter *matter;
    tal_allocator allocator;
    tal_subsystem_ix me;
    tali_force *elements;
    int num_elements, capacity;
    tali_names names; // of the elements
    tali_force_group *groups;
    int num_groups, groups_capacity;
    tali_force_var *vars; // that invalidate a stage after Instance
    int num_vars, vars_capacity;
    tali_paths paths;
    tali_controls controls;
    tali_force_values values[TAL_NUM_FORCE_NEEDS];
    size_t placed_size; // bytes that built-in elements compute at Instance
    tal_cache_ix placed;
    tali_force_class classes[TAL_NUM_FORCE_NEEDS];
    tali_force_call *order; // [num_elements] by class
    tal_var_ix enabled;     // uint8_t per element
    tal_executor executor;
    int num_chunks; // 0: no chunks
    int num_bodies, nu;
    tal_group_ix limits, limit_rates; // triggers of muscles, muscle_limit.c
    int num_limits;                   // slots of these
    bool declaring;                   // the topology is being realized: elements may declare
    bool has_rates;                   // some element has z, or something to do at Acceleration
};

extern const tal_subsystem_ops tali_forces_ops;

/// The element, or NULL and a breach in the name of `where`.
const tali_force *tali_force_at(const tal_forces *forces, tal_force_ix force, const char *where);

/// The context of a table's functions at the State's present stage.
tal_force_context tali_force_context(const tal_forces *forces, tal_state *state, tal_stage reached);

/// The same for `apply` of elements that need so much: what they do not need is hidden.
tal_force_context tali_force_context_for(const tal_force_context *all, tal_force_needs needs);

/// Is it gravity? And then its weights [num_bodies] and field in a State at Instance.
bool tali_force_is_gravity(const tali_force *element);
const tali_weight *tali_force_weights_of(const tali_force *element, const tal_system *system,
                                         const tal_state *state, tal_vec3 *g);

/// Which elements are enabled; NULL and a breach when the State is not ours.
const uint8_t *tali_forces_enabled(const tal_forces *forces, const tal_state *state);

/// Adds the element's name where its function gave no reason of its own.
tal_status tali_force_explain(tal_state *state, const tali_force *element, tal_status st);

/// Sort the elements by what they need, and declare what keeps their sums. False after a failure.
bool tali_forces_declare_classes(tal_forces *forces);

/// Add the forces of one element to arrays about Mo: tal_force_apply() without the shift to Bo, and
/// without a look at the arrays.
tal_status tali_force_apply_about_Mo(const tal_forces *forces, tal_state *state, tal_force_ix force,
                                     tal_spatial_vec F_GM[], double f[]);

/// Whether all numbers of a sum of forces are finite.
bool tali_force_are_finite(const tal_forces *forces, const tal_applied_forces *sum);

/// TAL_ERR_NOT_FINITE, in words: because of one element, or because of the sum of many.
tal_status tali_force_blame(tal_state *state, const tali_force *element);
tal_status tali_force_blame_sum(tal_state *state);

/// Add the forces of all enabled elements, those that are still valid from where they are kept.
tal_status tali_forces_apply(const tal_forces *forces, const tal_force_context *context,
                             const tal_applied_forces *to);

#endif // TALUS_FORCES_INTERNAL_H
