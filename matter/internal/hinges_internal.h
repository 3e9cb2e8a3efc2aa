// The tree and its hinge matrices, for sums over joints in other layers.
#ifndef TALUS_HINGES_INTERNAL_H
#define TALUS_HINGES_INTERNAL_H

#include <talus/matter/model.h>

#include <stdint.h>

/// Borrowed until the State changes. H is in Ground, about Mo, which tal_matter_poses() gives.
typedef struct tali_matter_hinges {
    const tal_spatial_vec *H; ///< [nu]
    const int32_t *parent;    ///< [num_bodies]
    const int32_t *u0;        ///< [num_bodies] first speed
    const uint8_t *nu;        ///< [num_bodies]
} tali_matter_hinges;

/// False on failure, which the State records. Needs Position.
bool tali_matter_see_hinges(const tal_matter *matter, tal_state *state, tali_matter_hinges *out);

#endif // TALUS_HINGES_INTERNAL_H
