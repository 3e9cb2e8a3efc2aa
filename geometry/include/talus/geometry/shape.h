// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_GEOMETRY_SHAPE_H
#define TALUS_GEOMETRY_SHAPE_H

/**
 * @file talus/geometry/shape.h
 * @brief Shapes that can touch each other.
 *
 * A ::tal_shape is a plain value in a frame S of its own. Lengths are in meters.
 *
 * | shape      | the solid, in S                                                            |
 * |------------|----------------------------------------------------------------------------|
 * | half-space | x >= 0; its outward normal is -x                                           |
 * | sphere     | radius about the origin                                                    |
 * | ellipsoid  | semi-axes along x, y, z                                                    |
 * | cylinder   | radius about z, from z = -half_length to half_length, its rims rounded     |
 * | brick      | \|x\|, \|y\|, \|z\| up to the half lengths, its corners rounded            |
 * | torus      | all points within tube_radius of the circle of ring_radius in the xy plane |
 * | mesh       | what a closed surface of triangles encloses                                |
 *
 * All shapes can touch each other, except two half-spaces. Where they do:
 *
 * | pair                       | contact                                                        |
 * |----------------------------|----------------------------------------------------------------|
 * | half-space x sphere        | the deepest point                                              |
 * | half-space x ellipsoid     | the deepest point, with the curvatures of the ellipsoid there  |
 * | half-space x brick         | up to 8 points: the deepest of each rounded corner             |
 * | half-space x cylinder      | up to 6 points: each rim's deepest, 2 a third of a turn away   |
 * | half-space x torus         | up to 3 points: the deepest, and 2 a third of a turn away      |
 * | sphere x sphere            | one point on the line of centers                               |
 * | sphere x ellipsoid, cylinder, brick | the nearest point of these to the center              |
 * | sphere x torus             | up to 3 points: the nearest, and 2 a third of a turn away      |
 * | ellipsoid x ellipsoid      | one point, where they overlap least                            |
 * | ellipsoid x capsule        | one point, nearest to the capsule's axis                       |
 * | capsule x capsule          | up to 5 points: where axes cross, and each end                 |
 * | any others of ellipsoid, cylinder, brick, torus | facets of each whose middle is inside     |
 * | mesh x mesh                | the faces of each whose centroid is inside the other           |
 * | mesh x any other           | the faces of the mesh whose centroid is inside                 |
 *
 * The points of a brick, a cylinder and a torus on a half-space, and of a torus on a sphere, are
 * those of balls, of the corner, rim or tube radius, that the solid holds. Three points on a circle
 * that start at the deepest one make force and moment vary smoothly even where the circle is level
 * and "the deepest" jumps. A corner or rim radius of zero is a sharp one.
 *
 * A capsule is a cylinder whose rims are as round as it is. Capsules that lie along each other
 * touch at their ends; the place where axes cross jumps then, and counts by the square of the sine
 * between them.
 *
 * Facets are small parts of a surface: 512 of an ellipsoid or a torus, 768 of a cylinder, 1032 of a
 * brick. A face or facet counts as a whole, by its middle: make the faces of a mesh small compared
 * with the contact patches. A solid that is so small that it fits between the centroids of a mesh
 * can touch it without being noticed.
 */

#include <talus/common.h>
#include <talus/geometry/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup contact_shape Shapes
/// @{

/// Kinds of shapes.
typedef enum tal_shape_kind {
    TAL_SHAPE_HALF_SPACE,
    TAL_SHAPE_SPHERE,
    TAL_SHAPE_ELLIPSOID,
    TAL_SHAPE_CYLINDER,
    TAL_SHAPE_BRICK,
    TAL_SHAPE_TORUS,
    TAL_SHAPE_MESH
} tal_shape_kind;

/// Number of kinds.
#define TAL_NUM_SHAPE_KINDS 7

/// A shape, by value. Make one with the functions below; nothing is checked before
/// tal_shape_check() or the call that takes the shape.
typedef struct tal_shape {
    tal_shape_kind kind;
    /// sphere: (radius, 0, 0); ellipsoid: semi-axes; cylinder: (radius, half_length, 0);
    /// brick: half lengths; torus: (ring_radius, tube_radius, 0); others: zero [m]
    tal_vec3 size;
    double edge_radius;   ///< to which a brick's corners and a cylinder's rims are rounded [m]
    const tal_mesh *mesh; ///< borrowed: must outlive what the shape is given to
} tal_shape;

/// All points with x >= 0.
TAL_API tal_shape tal_shape_half_space(void);

/// A ball about the origin.
TAL_API tal_shape tal_shape_sphere(double radius);

/// An ellipsoid about the origin, with these semi-axes along x, y, z.
TAL_API tal_shape tal_shape_ellipsoid(tal_vec3 semi_axes);

/// A cylinder about z and its rims rounded to `rim_radius`, at most the smaller of the others.
TAL_API tal_shape tal_shape_cylinder(double radius, double half_length, double rim_radius);

/// A capsule about z: a cylinder with half balls as its ends, from z = -half_length to half_length,
/// which is at least `radius`.
TAL_API tal_shape tal_shape_capsule(double radius, double half_length);

/// A brick, its corners rounded to `corner_radius`, at most the smallest half length.
TAL_API tal_shape tal_shape_brick(tal_vec3 half_lengths, double corner_radius);

/// A torus about z; the tube is thinner than the ring: `tube_radius` < `ring_radius`.
TAL_API tal_shape tal_shape_torus(double ring_radius, double tube_radius);

/// The solid that a mesh encloses. The mesh is borrowed.
TAL_API tal_shape tal_shape_mesh(const tal_mesh *mesh);

/// Name of a kind, e.g. "half-space"; "unknown" for an invalid number; never NULL.
TAL_API const char *tal_shape_kind_name(tal_shape_kind kind);

/**
 * Whether the sizes of a shape are as in the table above: positive, finite, consistent.
 *
 * @param[in]  shape  the shape
 * @param[in]  name   of the shape's owner, for the message; NULL: none
 * @param[out] err    what is wrong; may be NULL
 * @return TAL_OK, TAL_ERR_BAD_VALUE, TAL_ERR_NOT_FINITE, or TAL_ERR_NULL for a missing mesh
 */
TAL_API tal_status tal_shape_check(const tal_shape *shape, const char *name, tal_error *err);

/// Whether shapes of these kinds can touch, in either order: all but two half-spaces.
TAL_API bool tal_shape_can_touch(tal_shape_kind a, tal_shape_kind b);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_GEOMETRY_SHAPE_H
