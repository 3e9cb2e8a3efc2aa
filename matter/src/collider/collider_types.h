// Colliders as matter keeps them.
#ifndef TALUS_COLLIDER_TYPES_H
#define TALUS_COLLIDER_TYPES_H

#include "names_internal.h"

#include <talus/matter/collider.h>

/// A collider as it was added.
typedef struct tali_collider {
    char name[TAL_MAX_NAME + 1];
    tal_collider_def def; ///< its name is not used
    tal_hull *hull;
} tali_collider;

/// Everything matter knows of its colliders. Const after topology.
typedef struct tali_colliders {
    tali_collider *list;
    int count;
    int capacity;
    tali_names names;
    bool are_elements; ///< unilateral elements stand for them
    tal_var_ix memory; ///< tali_collider_memory
} tali_colliders;

#endif // TALUS_COLLIDER_TYPES_H
