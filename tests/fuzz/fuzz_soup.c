// What libFuzzer calls: any bytes as an .obj, .stl or .vtp file of a decoration.
#include "mesh/soup_internal.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tal_status read_one(tali_soup *soup, int kind, const char *bytes, size_t size,
                           tal_diagnostics *found)
{
    if (kind == 0) return tali_soup_read_obj(soup, "fuzz", bytes, size, 1.0, found);
    if (kind == 1) return tali_soup_read_stl(soup, "fuzz", bytes, size, found);
    return tali_soup_read_vtp(soup, "fuzz", bytes, size, found);
}

// Triangles have corners that are there, and these are finite.
static void check(const tali_soup *soup)
{
    for (int i = 0; i < soup->num_vertices; ++i) {
        if (!tal_v3_is_finite(soup->vertices[i])) __builtin_trap();
    }
    for (int i = 0; i < soup->num_faces; ++i) {
        for (int k = 0; k < 3; ++k) {
            const int corner = soup->faces[i][k];
            if (corner < 0 || corner >= soup->num_vertices) __builtin_trap();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)tal_contract_set_handler(tal_contract_silent);
    const tal_allocator heap = tal_allocator_default();
    for (int kind = 0; kind < 3; ++kind) {
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        tali_soup soup = tali_soup_make(&heap);
        const char *bytes = size > 0 ? (const char *)data : "";
        const tal_status st = read_one(&soup, kind, bytes, size, found);
        if ((st == TAL_OK) != (tal_diagnostics_num_errors(found) == 0)) __builtin_trap();
        if (st == TAL_OK) check(&soup);
        tali_soup_free(&soup);
        tal_diagnostics_destroy(found);
    }
    return 0;
}
