// What a step among colliders leaves in a State for the next one.
#ifndef TALUS_COLLIDER_MEMORY_INTERNAL_H
#define TALUS_COLLIDER_MEMORY_INTERNAL_H

#include <talus/matter/collider.h>

/// An impulse at one point of contact.
typedef struct tali_collider_impulse {
    int32_t pair[2]; ///< colliders, the first one added first
    int32_t mode;    ///< tal_friction_mode
    int32_t unused;
    uint64_t feature;    ///< which point it is (talus/geometry/hull.h)
    tal_vec3 p, impulse; ///< in Ground; on the first collider
} tali_collider_impulse;

/// All of them, in the order of pairs.
typedef struct tali_collider_memory {
    uint64_t print; ///< of the State that the step left (tali_problem_print_of()); 0: of none
    int32_t count, unused;
    tali_collider_impulse impulses[];
} tali_collider_memory;

/// How many impulses there is room for.
int tali_collider_memory_room(const tal_matter *matter);

/// What is remembered in a State; NULL where there are no colliders.
const tali_collider_memory *tali_collider_memory_of(const tal_matter *matter,
                                                    const tal_state *state);

/// The same, to be written; NULL also when the State has failed.
tali_collider_memory *tali_collider_memory_upd(const tal_matter *matter, tal_state *state);

#endif // TALUS_COLLIDER_MEMORY_INTERNAL_H
