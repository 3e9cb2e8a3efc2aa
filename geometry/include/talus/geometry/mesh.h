// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_GEOMETRY_MESH_H
#define TALUS_GEOMETRY_MESH_H

/**
 * @file talus/geometry/mesh.h
 * @brief Triangle meshes: making them, nearest points, rays.
 */

#include <talus/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @defgroup mesh Triangle meshes
 *
 * A mesh is closed and oriented: every edge belongs to exactly two triangles, which run along it in
 * opposite directions; seen from outside, the vertices of a triangle run counterclockwise. It may
 * consist of several such surfaces, and cavities are surfaces that face inwards; but its volume as
 * a whole must be positive. That it does not intersect itself is not checked.
 *
 * Creating one copies the arrays. The caller owns the mesh: it must outlive every shape, and so
 * every System, that uses it. It never changes, and no query allocates.
 * @{
 */

/// A closed surface of triangles. Opaque, immutable, may be shared by shapes, Systems and threads.
typedef struct tal_mesh tal_mesh;

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

/**
 * All that is below a field of heights, down to a flat bottom: ground to walk on. Height (i, k), at
 * heights[k * num_x + i], is at x = (i - (num_x - 1) / 2) step[0], y = (k - (num_y - 1) / 2)
 * step[1]; between four of them the surface is two triangles.
 *
 * @param[in]  allocator  NULL: the C heap
 * @param[in]  heights    [num_x * num_y] z of the surface, in rows along x, in S [m]
 * @param[in]  num_x      from 2 to 5000
 * @param[in]  num_y      from 2 to 5000
 * @param[in]  step       along x and y, positive [m]
 * @param[in]  bottom     z of the bottom, below all heights [m]
 * @param[out] out        the mesh, owned by the caller; NULL on failure
 * @param[out] err        what is wrong; may be NULL
 * @return TAL_OK, TAL_ERR_BAD_VALUE, TAL_ERR_NOT_FINITE, TAL_ERR_NULL or TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_mesh_create_field(const tal_allocator *allocator,
                                                       const double heights[], int num_x, int num_y,
                                                       const double step[2], double bottom,
                                                       tal_mesh **out, tal_error *err);

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
 * The point of the surface nearest to a point Q. If several are equally near, always the same one.
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
 * @param[in] direction  of any length except zero
 */
TAL_API tal_mesh_point tal_mesh_calc_ray(const tal_mesh *mesh, tal_vec3 p_SO, tal_vec3 direction);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_GEOMETRY_MESH_H
