// The force subsystem as a struct.
#ifndef TALUS_FORCES_INTERNAL_H
#define TALUS_FORCES_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"

#include <talus/forces/force.h>

/// An element: its table, its data, its name.
typedef struct tali_force {
    char name[TAL_MAX_FORCE_NAME + 1];
    tal_force_ops ops;
    void *self;
} tali_force;

/// A group of z and the element it belongs to.
typedef struct tali_force_group {
    tal_group_ix group;
    int element;
} tali_force_group;

struct tal_forces {
    tal_system *system; // used while building only
    const tal_matter *matter;
    tal_allocator allocator;
    tal_subsystem_ix me;
    tali_force *elements;
    int num_elements, capacity;
    tali_force_group *groups;
    int num_groups, groups_capacity;
    tal_var_ix enabled; // uint8_t per element
    bool declaring;     // the topology is being realized: elements may declare
    bool has_rates;     // some element has z, or something to do at Acceleration
};

extern const tal_subsystem_ops tali_forces_ops;

/// The element, or NULL and a breach in the name of `where`.
const tali_force *tali_force_at(const tal_forces *forces, tal_force_ix force, const char *where);

/// What the functions of a table are told at the State's present stage.
tal_force_context tali_force_context(const tal_forces *forces, tal_state *state, tal_stage reached);

#endif // TALUS_FORCES_INTERNAL_H
