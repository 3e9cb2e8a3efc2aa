// Bodies in a uniform field, for gravity: one loop over all of them, compiled with the passes.
#ifndef TALUS_WEIGHT_INTERNAL_H
#define TALUS_WEIGHT_INTERNAL_H

#include <talus/matter/applied.h>

/// What a uniform field acts on: the mass of a body [kg], and mass times center of mass from Mo, in
/// M [kg m].
typedef struct tali_weight {
    tal_vec3 mc_M;
    double mass;
} tali_weight;

/// F += (R_GM mc_M x g, m g) for all bodies but Ground: about Mo, in Ground. `poses` are those of
/// tal_matter_poses().
void tali_weight_add(const tal_matter *matter, const tal_bodies_view *poses,
                     const tali_weight weights[], tal_vec3 g, tal_spatial_vec F[]);

#endif // TALUS_WEIGHT_INTERNAL_H
