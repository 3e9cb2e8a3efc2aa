// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_CONTACT_GEOMETRY_H
#define TALUS_FORCES_CONTACT_GEOMETRY_H

/**
 * @file talus/forces/contact_geometry.h
 * @brief Shapes that can touch each other, and triangle meshes.
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
 * Which shapes can touch which, and where they do:
 *
 * | pair                   | contact                                                          |
 * |------------------------|------------------------------------------------------------------|
 * | half-space x sphere    | the deepest point                                                |
 * | half-space x ellipsoid | the deepest point, with the curvatures of the ellipsoid there    |
 * | half-space x brick     | up to 8 points: the deepest of each rounded corner               |
 * | half-space x cylinder  | up to 6 points: each rim's deepest, and 2 a third of a turn away |
 * | half-space x torus     | up to 3 points: the deepest, and 2 a third of a turn away        |
 * | half-space x mesh      | the faces whose centroid is inside                               |
 * | sphere x sphere        | one point on the line of centers                                 |
 * | sphere x mesh          | the faces whose centroid is inside the sphere                    |
 * | mesh x mesh            | the faces of each whose centroid is inside the other             |
 *
 * Any other pair is refused when the model is built. The points of a brick, a cylinder and a torus
 * are those of balls, of the corner, rim or tube radius, that the solid holds. Three points on a
 * circle that start at the deepest one make force and moment vary smoothly even where the circle is
 * level and "the deepest" jumps. A corner or rim radius of zero is a sharp one.
 *
 * A face counts as a whole, by its centroid: make meshes fine compared with the patches they are to
 * resolve. A sphere that fits between the centroids of a mesh touches it unnoticed.
 */

#include <talus/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup contact_shape Shapes
/// @{

/// A closed surface of triangles. Opaque, immutable, may be shared by shapes, Systems and threads.
typedef struct tal_mesh tal_mesh;

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

/// A brick, its corners rounded to `corner_radius`, at most the smallest half length.
TAL_API tal_shape tal_shape_brick(tal_vec3 half_lengths, double corner_radius);

/// A torus about z; the tube is thinner than the ring: `tube_radius` < `ring_radius`.
TAL_API tal_shape tal_shape_torus(double ring_radius, double tube_radius);

/// The solid that a mesh encloses. The mesh is borrowed.
TAL_API tal_shape tal_shape_mesh(const tal_mesh *mesh);

/// Name of a kind, e.g. "half-space"; "unknown" for a number that is none; never NULL.
TAL_API const char *tal_shape_kind_name(tal_shape_kind kind);

/**
 * Whether the sizes of a shape are what the table above wants: positive, finite, consistent.
 *
 * @param[in]  shape  the shape
 * @param[in]  name   of the shape's owner, for the message; NULL: none
 * @param[out] err    what is wrong; may be NULL
 * @return TAL_OK, TAL_ERR_BAD_VALUE, TAL_ERR_NOT_FINITE, or TAL_ERR_NULL for a missing mesh
 */
TAL_API tal_status tal_shape_check(const tal_shape *shape, const char *name, tal_error *err);

/// Whether shapes of these kinds can touch each other, in either order.
TAL_API bool tal_shape_can_touch(tal_shape_kind a, tal_shape_kind b);

/// @}

/**
 * @defgroup mesh Triangle meshes
 *
 * A mesh is closed and oriented: every edge belongs to exactly two triangles, which run along it in
 * opposite directions; seen from outside, the vertices of a triangle run counterclockwise. It may
 * consist of several such surfaces, and cavities are surfaces that face inwards; but its volume as
 * a whole must be positive. That it does not intersect itself is not checked.
 *
 * Creating one copies the arrays. The caller owns the mesh: it must outlive every shape, and so
 * every System, that uses it. It never changes, and asking it allocates nothing.
 * @{
 */

/**
 * Create a mesh.
 *
 * @param[in]  allocator     NULL: the C heap
 * @param[in]  vertices      [num_vertices] positions in S [m]
 * @param[in]  num_vertices  at least 4; every one must belong to a face
 * @param[in]  faces         [3 * num_faces] vertices of each triangle, from 0
 * @param[in]  num_faces     at least 4
 * @param[out] out           the mesh, owned by the caller; NULL on failure
 * @param[out] err           what is wrong with which vertex, face or edge; may be NULL
 * @return TAL_OK, TAL_ERR_NOT_FINITE for a vertex, TAL_ERR_BAD_INDEX for a face that names a vertex
 *         that is not there, TAL_ERR_BAD_VALUE for a face without area, an edge without exactly two
 *         faces, an inverted mesh and so on, TAL_ERR_NULL or TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_mesh_create(const tal_allocator *allocator,
                                                 const tal_vec3 vertices[], int num_vertices,
                                                 const int faces[], int num_faces, tal_mesh **out,
                                                 tal_error *err);

/// A sphere about the origin: an icosahedron whose faces are split in four `level` times, 0 to 8.
/// Vertices lie on the sphere, so the mesh is inside it. 20 * 4^level faces.
TAL_API TAL_NODISCARD tal_status tal_mesh_create_sphere(const tal_allocator *allocator,
                                                        double radius, int level, tal_mesh **out,
                                                        tal_error *err);

/// A brick about the origin, its edges along x, y, z split into `divisions` parts (1 to 500).
TAL_API TAL_NODISCARD tal_status tal_mesh_create_brick(const tal_allocator *allocator,
                                                       tal_vec3 half_lengths,
                                                       const int divisions[3], tal_mesh **out,
                                                       tal_error *err);

/// A cylinder about z with `around` sides (3 to 1000), split along and across into parts about as
/// long as a side. Vertices lie on the cylinder.
TAL_API TAL_NODISCARD tal_status tal_mesh_create_cylinder(const tal_allocator *allocator,
                                                          double radius, double half_length,
                                                          int around, tal_mesh **out,
                                                          tal_error *err);

/// Destroy a mesh. NULL is allowed.
TAL_API void tal_mesh_destroy(tal_mesh *mesh);

/// Number of vertices; -1 on a breach.
TAL_API int tal_mesh_num_vertices(const tal_mesh *mesh);

/// Number of faces; -1 on a breach.
TAL_API int tal_mesh_num_faces(const tal_mesh *mesh);

/// Position of a vertex, in S [m].
TAL_API tal_vec3 tal_mesh_vertex(const tal_mesh *mesh, int vertex);

/// Vertices of a face; -1 on a breach.
TAL_API void tal_mesh_face(const tal_mesh *mesh, int face, int vertices[3]);

/// The faces across the edges of a face: neighbors[k] across the edge from vertex k to the next; -1
/// on a breach.
TAL_API void tal_mesh_neighbors(const tal_mesh *mesh, int face, int neighbors[3]);

/// Outward unit normal of a face, in S.
TAL_API tal_vec3 tal_mesh_face_normal(const tal_mesh *mesh, int face);

/// Centroid of a face, in S [m].
TAL_API tal_vec3 tal_mesh_face_centroid(const tal_mesh *mesh, int face);

/// Area of a face [m^2].
TAL_API double tal_mesh_face_area(const tal_mesh *mesh, int face);

/// Area of the surface [m^2].
TAL_API double tal_mesh_area(const tal_mesh *mesh);

/// Volume enclosed [m^3].
TAL_API double tal_mesh_volume(const tal_mesh *mesh);

/// A point of a mesh.
typedef struct tal_mesh_point {
    int face;        ///< one that the point lies on; -1: there is no such point
    tal_vec3 p_S;    ///< the point, in S [m]
    double distance; ///< from the point asked about, or along the ray; not negative [m]
    bool is_inside;  ///< the point asked about is in the solid, or the ray leaves it
} tal_mesh_point;

/**
 * The point of the surface nearest to a point Q. Of several as near, always the same one.
 *
 * The angle-weighted normal at the nearest point decides between inside and outside, which is right
 * for faces, edges and vertices alike. A point on the surface is inside.
 *
 * @param[in] p_SQ  in S [m]; not finite: `face` is -1
 */
TAL_API tal_mesh_point tal_mesh_calc_nearest(const tal_mesh *mesh, tal_vec3 p_SQ);

/**
 * Where a ray first meets the surface.
 *
 * @param[in] p_SO       where it starts, in S [m]
 * @param[in] direction  of any length but zero
 */
TAL_API tal_mesh_point tal_mesh_calc_ray(const tal_mesh *mesh, tal_vec3 p_SO, tal_vec3 direction);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_CONTACT_GEOMETRY_H
