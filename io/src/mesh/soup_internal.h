// Triangles as files have them: closed or not.
#ifndef TALUS_IO_SOUP_INTERNAL_H
#define TALUS_IO_SOUP_INTERNAL_H

#include <talus/geometry.h>
#include <talus/io/diagnostics.h>

#include <stdbool.h>

/// Vertices and triangles, from an allocator.
typedef struct tali_soup {
    tal_allocator allocator;
    tal_vec3 *vertices;
    int num_vertices, vertices_capacity;
    int (*faces)[3]; ///< vertices, from 0
    int num_faces, faces_capacity;
    bool no_memory; ///< nothing more is added
} tali_soup;

/// An empty one.
tali_soup tali_soup_make(const tal_allocator *allocator);
void tali_soup_free(tali_soup *soup);
void tali_soup_add_vertex(tali_soup *soup, tal_vec3 p);
void tali_soup_add_face(tali_soup *soup, int a, int b, int c);

/// Add what is in a file, .obj, .stl or .vtp by its extension, of `most` bytes at most. What is
/// wrong goes to `found`.
tal_status tali_soup_read_file(tali_soup *soup, const char *path, size_t most,
                               tal_diagnostics *found);

/// @name From memory
/// @{
tal_status tali_soup_read_obj(tali_soup *soup, const char *name, const char *text, size_t size,
                              double scale, tal_diagnostics *found);
tal_status tali_soup_read_stl(tali_soup *soup, const char *name, const char *bytes, size_t size,
                              tal_diagnostics *found);
tal_status tali_soup_read_vtp(tali_soup *soup, const char *name, const char *text, size_t size,
                              tal_diagnostics *found);
/// @}

#endif // TALUS_IO_SOUP_INTERNAL_H
