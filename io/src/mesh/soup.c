// Triangles from files of any format.
#include "alloc_internal.h"
#include "file_internal.h"

#include "mesh/soup_internal.h"

#include <string.h>

tali_soup tali_soup_make(const tal_allocator *allocator)
{
    return (tali_soup){.allocator = *allocator};
}

void tali_soup_free(tali_soup *soup)
{
    const tal_allocator *const allocator = &soup->allocator;
    tali_free(allocator, soup->vertices, (size_t)soup->vertices_capacity * sizeof *soup->vertices);
    tali_free(allocator, soup->faces, (size_t)soup->faces_capacity * sizeof *soup->faces);
    *soup = tali_soup_make(allocator);
}

void tali_soup_add_vertex(tali_soup *soup, tal_vec3 p)
{
    if (!tali_grow(&soup->allocator, (void **)&soup->vertices, soup->num_vertices,
                   &soup->vertices_capacity, sizeof *soup->vertices)) {
        soup->no_memory = true;
        return;
    }
    soup->vertices[soup->num_vertices++] = p;
}

void tali_soup_add_face(tali_soup *soup, int a, int b, int c)
{
    if (!tali_grow(&soup->allocator, (void **)&soup->faces, soup->num_faces, &soup->faces_capacity,
                   sizeof *soup->faces)) {
        soup->no_memory = true;
        return;
    }
    int *const face = soup->faces[soup->num_faces++];
    face[0] = a;
    face[1] = b;
    face[2] = c;
}

static bool ends_with(const char *path, const char *extension)
{
    const size_t length = strlen(path), end = strlen(extension);
    if (length < end) return false;
    for (size_t i = 0; i < end; ++i) {
        const char c = path[length - end + i];
        const char small = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
        if (small != extension[i]) return false;
    }
    return true;
}

static tal_status read_bytes(tali_soup *soup, const char *path, const tali_file_bytes *bytes,
                             tal_diagnostics *found)
{
    if (ends_with(path, ".obj")) {
        return tali_soup_read_obj(soup, path, bytes->block, bytes->size, 1.0, found);
    }
    if (ends_with(path, ".stl")) {
        return tali_soup_read_stl(soup, path, bytes->block, bytes->size, found);
    }
    if (ends_with(path, ".vtp")) {
        return tali_soup_read_vtp(soup, path, bytes->block, bytes->size, found);
    }
    tal_diagnostics_add(found, TAL_ERROR, path, 0, 0,
                        "meshes are read from .obj, .stl and .vtp files");
    return TAL_ERR_FILE;
}

tal_status tali_soup_read_file(tali_soup *soup, const char *path, size_t most,
                               tal_diagnostics *found)
{
    tali_file_bytes bytes;
    tal_status st = TAL_OK;
    const char *wrong = tali_file_load(path, most, &soup->allocator, &bytes, &st);
    if (wrong == NULL) {
        st = read_bytes(soup, path, &bytes, found);
    } else {
        tal_diagnostics_add(found, TAL_ERROR, path, 0, 0, "%s", wrong);
    }
    tali_file_bytes_free(&soup->allocator, &bytes);
    return st;
}
