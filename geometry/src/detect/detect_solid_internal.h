// Solids with smooth surfaces: their nearest points, and their surfaces as many small faces.
#ifndef TALUS_GEOMETRY_DETECT_SOLID_INTERNAL_H
#define TALUS_GEOMETRY_DETECT_SOLID_INTERNAL_H

#include "detect/detect_narrow_internal.h"

/// The point of a solid's surface that is nearest to a point P, in the frame S of the shape.
typedef struct tali_detect_nearest {
    double distance; ///< of P from the surface, negative inside
    tal_vec3 n;      ///< outward unit normal there, which is the gradient of the distance
    /// Principal radii of curvature there, along e and n x e: infinite where the surface is flat,
    /// zero at a sharp edge, negative where it is hollow.
    double radius[2];
    tal_vec3 e; ///< unit tangent
} tali_detect_nearest;

/// The nearest point of any shape but a half-space and a mesh. Of several that are equally near,
/// always the same one.
tali_detect_nearest tali_detect_find_nearest(const tal_shape *shape, tal_vec3 p_S);

/// How the normal at the nearest point changes with P, times a vector: the second derivative of the
/// distance.
tal_vec3 tali_detect_nearest_bend(const tali_detect_nearest *at, tal_vec3 v);

/// Principal curvatures k[0] >= k[1] of an ellipsoid where its unit normal is n, with h the length
/// of (semi-axes times n), and the unit tangent along which k[0] is.
void tali_detect_ellipsoid_curvatures(tal_vec3 semi_axes, tal_vec3 n, double h, double k[2],
                                      tal_vec3 *axis);

/// A small part of a surface, in S.
typedef struct tali_detect_facet {
    tal_vec3 p, n; ///< its middle, and its outward unit normal
    double area;
} tali_detect_facet;

/// Whether any facet within a ball is worth a visit.
typedef bool (*tali_detect_wants_fn)(void *self, tal_vec3 center, double radius);
/// Visits a facet; `number` tells it from the others.
typedef void (*tali_detect_visit_fn)(void *self, int number, const tali_detect_facet *facet);

/// How many facets an ellipsoid, a cylinder, a brick or a torus has; 0 for other kinds.
int tali_detect_num_facets(tal_shape_kind kind);

/// Visit the facets of a shape that are wanted, in the order of their numbers.
void tali_detect_walk_facets(const tal_shape *shape, void *self, tali_detect_wants_fn wants,
                             tali_detect_visit_fn visit);

/// Whether a cylinder is a capsule.
static inline bool tali_detect_is_capsule(const tal_shape *shape)
{
    return shape->kind == TAL_SHAPE_CYLINDER && shape->edge_radius == shape->size.x;
}

#endif // TALUS_GEOMETRY_DETECT_SOLID_INTERNAL_H
