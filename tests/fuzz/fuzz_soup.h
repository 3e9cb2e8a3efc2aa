// What the fuzz targets of meshes to look at share: any bytes as triangles, closed or not.
#ifndef TALUS_FUZZ_SOUP_H
#define TALUS_FUZZ_SOUP_H

#include "mesh/soup_internal.h"

#include <talus/talus.h>

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef tal_status (*soup_reader)(tali_soup *soup, const char *name, const char *bytes, size_t size,
                                  tal_diagnostics *found);

// There is something to draw, every corner is a vertex, and every vertex a point.
static inline void check_soup(const tali_soup *soup)
{
    if (soup->num_faces < 1) __builtin_trap();
    for (int i = 0; i < soup->num_vertices; ++i) {
        if (!tal_v3_is_finite(soup->vertices[i])) __builtin_trap();
    }
    for (int i = 0; i < 3 * soup->num_faces; ++i) {
        const int corner = soup->faces[i / 3][i % 3];
        if (corner < 0 || corner >= soup->num_vertices) __builtin_trap();
    }
}

static inline int fuzz_soup(soup_reader read, const uint8_t *data, size_t size)
{
    (void)tal_contract_set_handler(tal_contract_silent);
    static const char nothing[] = "";
    const tal_allocator heap = tal_allocator_default();
    tali_soup soup = tali_soup_make(&heap);
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = read(&soup, "fuzz", size > 0 ? (const char *)data : nothing, size, found);
    // a file is refused with a reason
    if ((st == TAL_OK) != (tal_diagnostics_num_errors(found) == 0)) __builtin_trap();
    if (st == TAL_OK) check_soup(&soup);
    tal_diagnostics_destroy(found);
    tali_soup_free(&soup);
    return 0;
}

#endif // TALUS_FUZZ_SOUP_H
