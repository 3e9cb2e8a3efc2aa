// Narrow phase: where do two shapes touch?
//
// Each function is written for one order of the two kinds, that of the enum. It reports what it
// finds to a sink, which swaps the roles when surface 1 of the pair is the second shape.
#ifndef TALUS_GEOMETRY_DETECT_NARROW_INTERNAL_H
#define TALUS_GEOMETRY_DETECT_NARROW_INTERNAL_H

#include "detect_internal.h"

/// A shape and where it is.
typedef struct tali_detect_placed {
    const tal_shape *shape;
    const tal_xform *X_GS;
} tali_detect_placed;

/// Where what is found goes. Everything is counted, and kept while there is room.
typedef struct tali_detect_sink {
    tali_detect_store *store;
    bool is_swapped; ///< surface 1 of the pair is shape b
} tali_detect_sink;

/// Add a point, with n from b towards a.
void tali_detect_sink_point(tali_detect_sink *sink, tali_detect_point point);

/// Add a face, with n from b towards a and `surface` 0 for a, 1 for b.
void tali_detect_sink_face(tali_detect_sink *sink, tali_detect_face face);

/// Finds where a and b touch, a's kind being no later in the enum than b's.
typedef void (*tali_detect_narrow_fn)(const tali_detect_placed *a, const tali_detect_placed *b,
                                      tali_detect_sink *sink);

void tali_detect_half_space_sphere(const tali_detect_placed *a, const tali_detect_placed *b,
                                   tali_detect_sink *sink);
void tali_detect_half_space_ellipsoid(const tali_detect_placed *a, const tali_detect_placed *b,
                                      tali_detect_sink *sink);
void tali_detect_half_space_cylinder(const tali_detect_placed *a, const tali_detect_placed *b,
                                     tali_detect_sink *sink);
void tali_detect_half_space_brick(const tali_detect_placed *a, const tali_detect_placed *b,
                                  tali_detect_sink *sink);
void tali_detect_half_space_torus(const tali_detect_placed *a, const tali_detect_placed *b,
                                  tali_detect_sink *sink);
void tali_detect_half_space_mesh(const tali_detect_placed *a, const tali_detect_placed *b,
                                 tali_detect_sink *sink);
void tali_detect_sphere_sphere(const tali_detect_placed *a, const tali_detect_placed *b,
                               tali_detect_sink *sink);
void tali_detect_sphere_mesh(const tali_detect_placed *a, const tali_detect_placed *b,
                             tali_detect_sink *sink);
void tali_detect_sphere_solid(const tali_detect_placed *a, const tali_detect_placed *b,
                              tali_detect_sink *sink);
void tali_detect_sphere_torus(const tali_detect_placed *a, const tali_detect_placed *b,
                              tali_detect_sink *sink);
void tali_detect_ellipsoids(const tali_detect_placed *a, const tali_detect_placed *b,
                            tali_detect_sink *sink);
void tali_detect_ellipsoid_cylinder(const tali_detect_placed *a, const tali_detect_placed *b,
                                    tali_detect_sink *sink);
void tali_detect_cylinders(const tali_detect_placed *a, const tali_detect_placed *b,
                           tali_detect_sink *sink);
void tali_detect_solids(const tali_detect_placed *a, const tali_detect_placed *b,
                        tali_detect_sink *sink);
void tali_detect_solid_mesh(const tali_detect_placed *a, const tali_detect_placed *b,
                            tali_detect_sink *sink);
void tali_detect_mesh_mesh(const tali_detect_placed *a, const tali_detect_placed *b,
                           tali_detect_sink *sink);

#endif // TALUS_GEOMETRY_DETECT_NARROW_INTERNAL_H
