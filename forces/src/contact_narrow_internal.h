// Narrow phase: where do two shapes touch?
//
// Each function is written for one order of the two kinds, that of the enum. It reports what it
// finds to a sink, which swaps the roles when surface 1 of the pair is the second shape.
#ifndef TALUS_FORCES_CONTACT_NARROW_INTERNAL_H
#define TALUS_FORCES_CONTACT_NARROW_INTERNAL_H

#include "contact_detect_internal.h"

/// A shape and where it is.
typedef struct tali_placed {
    const tal_shape *shape;
    const tal_xform *X_GS;
} tali_placed;

/// Where what is found goes. Everything is counted, and kept while there is room.
typedef struct tali_sink {
    tali_contact_store *store;
    bool is_swapped; ///< surface 1 of the pair is shape b
} tali_sink;

/// Add a point, with n from b towards a.
void tali_sink_point(tali_sink *sink, tali_contact_point point);

/// Add a face, with n from b towards a and `surface` 0 for a, 1 for b.
void tali_sink_face(tali_sink *sink, tali_contact_face face);

/// Finds where a and b touch, a's kind being no later in the enum than b's.
typedef void (*tali_narrow_fn)(const tali_placed *a, const tali_placed *b, tali_sink *sink);

void tali_half_space_sphere(const tali_placed *a, const tali_placed *b, tali_sink *sink);
void tali_half_space_ellipsoid(const tali_placed *a, const tali_placed *b, tali_sink *sink);
void tali_half_space_cylinder(const tali_placed *a, const tali_placed *b, tali_sink *sink);
void tali_half_space_brick(const tali_placed *a, const tali_placed *b, tali_sink *sink);
void tali_half_space_torus(const tali_placed *a, const tali_placed *b, tali_sink *sink);
void tali_half_space_mesh(const tali_placed *a, const tali_placed *b, tali_sink *sink);
void tali_sphere_sphere(const tali_placed *a, const tali_placed *b, tali_sink *sink);
void tali_sphere_mesh(const tali_placed *a, const tali_placed *b, tali_sink *sink);
void tali_mesh_mesh(const tali_placed *a, const tali_placed *b, tali_sink *sink);

#endif // TALUS_FORCES_CONTACT_NARROW_INTERNAL_H
