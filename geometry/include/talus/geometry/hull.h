// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_GEOMETRY_HULL_H
#define TALUS_GEOMETRY_HULL_H

/**
 * @file talus/geometry/hull.h
 * @brief Convex solids, how far apart two of them are, and at which points they touch.
 *
 * A hull is made from a shape once, and then asked in any pose. It is a core, a polyhedron, a
 * segment or a point, and all that is within a radius of it:
 *
 * | shape      | core                                                  | radius        |
 * |------------|-------------------------------------------------------|---------------|
 * | half-space | a plane                                               | 0             |
 * | sphere     | its center                                            | its own       |
 * | cylinder   | a prism of 24 sides; a segment if its rims are round  | of the rims   |
 * | brick      | a brick                                               | of corners    |
 * | mesh       | the mesh, which must be convex                        | 0             |
 *
 * A capsule is a cylinder whose rims are as round as can be: tal_shape_capsule(). Ellipsoids and
 * tori are refused.
 *
 * Two hulls touch at the corners of the polygon that their nearest faces, edges and corners have in
 * common, seen along the normal: corners on faces and edges that cross. These are the fewest points
 * with the same cone of wrenches as the whole of what touches (RBDA sec. 11.6): four for a
 * brick on a plane, two for an edge on a face, one for a ball.
 */

#include <talus/common.h>
#include <talus/geometry/shape.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup hull Convex solids that touch
/// @{

/// A convex solid. Opaque, immutable, may be shared by threads.
typedef struct tal_hull tal_hull;

/**
 * Make a hull. The shape's mesh is not needed afterwards.
 *
 * @param[in]  allocator  NULL: the C heap
 * @param[in]  shape      see the table above
 * @param[in]  name       of the shape's owner, for messages; NULL: none
 * @param[out] out        the hull, owned by the caller; NULL on failure
 * @param[out] err        what is wrong; may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE for a shape that is not convex, an ellipsoid or a torus, for a
 *         mesh of more than 32735 vertices, and for sizes that tal_shape_check() refuses;
 *         TAL_ERR_NOT_FINITE, TAL_ERR_NULL, TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_hull_create(const tal_allocator *allocator,
                                                 const tal_shape *shape, const char *name,
                                                 tal_hull **out, tal_error *err);

/// Destroy a hull. NULL is allowed.
TAL_API void tal_hull_destroy(tal_hull *hull);

/// Number of vertices of the core; 0 for a half-space; -1 on a breach.
TAL_API int tal_hull_num_vertices(const tal_hull *hull);

/// A vertex of the core, in S [m]; NaN on a breach.
TAL_API tal_vec3 tal_hull_vertex(const tal_hull *hull, int vertex);

/// Number of faces of the core, faces in one plane counted once; -1 on a breach.
TAL_API int tal_hull_num_faces(const tal_hull *hull);

/// How far the solid goes beyond its core [m]; NaN on a breach.
TAL_API double tal_hull_radius(const tal_hull *hull);

/// Whether two hulls can be asked about: all but two half-spaces.
TAL_API bool tal_hull_can_touch(const tal_hull *a, const tal_hull *b);

/// A point at which two solids touch, or nearly do.
typedef struct tal_touch_point {
    tal_vec3 p_G; ///< halfway between the surfaces [m]
    double gap;   ///< between the surfaces along the normal; negative where they overlap [m]
    /// Which corner or edges it is made of. The same while the same ones touch, and unlike all
    /// others of the pair; it tells which point this was a moment ago.
    uint64_t feature;
} tal_touch_point;

/// How two solids are to each other.
typedef struct tal_touch {
    /// Between the surfaces; negative: how far they overlap at least, so far must one be moved
    /// [m]. Where no points were asked for because the solids are farther apart than `reach`: a
    /// lower bound.
    double distance;
    tal_vec3 n_G;   ///< unit normal from b towards a; zero when they are farther apart than `reach`
    int num_points; ///< 0 when they are farther apart than `reach`
} tal_touch;

/// Doubles that tal_hull_calc_touch() needs as `work`; 0 on a breach.
TAL_API size_t tal_touch_work_size(const tal_hull *a, const tal_hull *b);

/**
 * Distance, normal and points of two hulls.
 *
 * Points are given where the gap is at most `reach` beyond the distance, or beyond zero where the
 * solids overlap, so that what may touch soon is known. They are in the order of their places about
 * the normal. Exchanging a and b reverses the normal and leaves all else. Apart from round-off the
 * result depends on how the two are to each other, not on where they are.
 *
 * @param[in]  a         the first
 * @param[in]  X_GA      its pose
 * @param[in]  b         the second
 * @param[in]  X_GB      its pose
 * @param[in]  reach     how far the gap may be [m], >= 0
 * @param[out] points    [capacity]
 * @param[in]  capacity  for so many points there is room
 * @param[out] work      [tal_touch_work_size(a, b)]
 * @param[out] touch     the answer; num_points may be larger than `capacity` with TAL_ERR_CAPACITY
 * @return TAL_OK; TAL_ERR_CAPACITY when there are more points than fit; TAL_ERR_SINGULAR when the
 *         normal is not defined, as for balls with a common center; TAL_ERR_NOT_FINITE for a pose;
 *         TAL_ERR_BAD_VALUE for two half-spaces
 */
TAL_API TAL_NODISCARD tal_status tal_hull_calc_touch(const tal_hull *a, const tal_xform *X_GA,
                                                     const tal_hull *b, const tal_xform *X_GB,
                                                     double reach, tal_touch_point points[],
                                                     int capacity, double work[], tal_touch *touch);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_GEOMETRY_HULL_H
