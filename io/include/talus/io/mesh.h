// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_MESH_H
#define TALUS_IO_MESH_H

/**
 * @file talus/io/mesh.h
 * @brief Triangle meshes from `.obj` files, for contact.
 *
 *     tal_mesh *foot = NULL;
 *     st = tal_mesh_read_file("foot.obj", NULL, &foot, found);
 *
 * Of a Wavefront file the lines `v` (x, y, z of vertices) and `f` (numbers of the vertices of
 * faces, from 1, or from the end if negative) are read; faces of more than three corners are cut
 * into triangles from their first corner. Groups, objects, materials, normals, textures, points and
 * lines are ignored; anything else is refused. What is read must be
 * closed, as talus/geometry/shape.h says.
 */

#include <talus/geometry.h>
#include <talus/io/diagnostics.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup meshio Meshes from files
/// @{

/// How to read. Obtain it from tal_mesh_options_default(), then edit.
typedef struct tal_mesh_options {
    tal_allocator allocator; ///< of the mesh, and of reading
    double scale;     ///< what all coordinates are multiplied by, positive: 0.001 for millimeters
    size_t max_bytes; ///< a longer file is refused
} tal_mesh_options;

/// The C heap, scale 1, 256 MiB.
TAL_API tal_mesh_options tal_mesh_options_default(void);

/**
 * Read a mesh from a file.
 *
 * @param[in]     options  NULL: the defaults
 * @param[out]    out      owned by the caller; NULL on failure
 * @param[in,out] found    gets what is wrong, with lines; may be NULL
 * @return TAL_OK; TAL_ERR_FILE when the file cannot be read or has errors, TAL_ERR_NO_MEMORY,
 *         TAL_ERR_NULL, TAL_ERR_BAD_VALUE for an invalid scale
 */
TAL_API TAL_NODISCARD tal_status tal_mesh_read_file(const char *path,
                                                    const tal_mesh_options *options, tal_mesh **out,
                                                    tal_diagnostics *found);

/// The same from memory. `name` is used for the file in diagnostics.
TAL_API TAL_NODISCARD tal_status tal_mesh_read_memory(const char *name, const char *text,
                                                      size_t size, const tal_mesh_options *options,
                                                      tal_mesh **out, tal_diagnostics *found);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_MESH_H
