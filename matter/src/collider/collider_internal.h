// Colliders, for the rest of matter.
#ifndef TALUS_COLLIDER_INTERNAL_H
#define TALUS_COLLIDER_INTERNAL_H

#include "tree/matter_internal.h"

void tali_colliders_destroy(tal_matter *matter);

/// Their variable, where there are any.
void tali_colliders_declare(tal_matter *matter);

#endif // TALUS_COLLIDER_INTERNAL_H
