// Triangles from .stl files, binary or text. Corners that are equal become one vertex.
#include "alloc_internal.h"
#include "hash_internal.h"

#include "mesh/soup_internal.h"
#include "text/text_internal.h"

#include <talus/io/number.h>

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    HEADER = 84,  // 80 bytes of anything, and the number of triangles
    TRIANGLE = 50 // a normal, three corners, two bytes
};

// Vertices by their coordinates: open addressing, less than half full.
typedef struct vertex_map {
    tali_soup *soup;
    int *slots; // vertex + 1; 0: free
    size_t capacity;
} vertex_map;

static bool make_map(vertex_map *map, tali_soup *soup, size_t corners)
{
    *map = (vertex_map){.soup = soup, .capacity = 16};
    while (map->capacity < 2 * corners) {
        map->capacity *= 2;
    }
    map->slots = tali_alloc(&soup->allocator, map->capacity * sizeof *map->slots);
    if (map->slots == NULL) soup->no_memory = true;
    return map->slots != NULL;
}

static void free_map(vertex_map *map)
{
    tali_free(&map->soup->allocator, map->slots, map->capacity * sizeof *map->slots);
}

// The number of a vertex, which is added when it is new.
static int vertex_at(vertex_map *map, tal_vec3 p)
{
    size_t slot = (size_t)tali_hash(TALI_HASH_SEED, &p, sizeof p) & (map->capacity - 1);
    while (map->slots[slot] != 0) {
        const int vertex = map->slots[slot] - 1;
        const tal_vec3 v = map->soup->vertices[vertex];
        if (v.x == p.x && v.y == p.y && v.z == p.z) return vertex;
        slot = (slot + 1) & (map->capacity - 1);
    }
    tali_soup_add_vertex(map->soup, p);
    map->slots[slot] = map->soup->num_vertices;
    return map->soup->num_vertices - 1;
}

static uint32_t little(const char *at)
{
    const unsigned char *const b = (const unsigned char *)at;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double float_at(const char *at)
{
    const uint32_t bits = little(at);
    float value = 0.0F;
    memcpy(&value, &bits, sizeof value);
    return (double)value + 0.0; // no -0: equal corners have equal bits
}

static bool read_binary(tali_soup *soup, const char *bytes, uint32_t triangles)
{
    vertex_map map;
    bool finite = true;
    if (!make_map(&map, soup, 3 * (size_t)triangles)) return true;
    for (uint32_t t = 0; t < triangles && finite && !soup->no_memory; ++t) {
        const char *const at = bytes + HEADER + (size_t)t * TRIANGLE + 12;
        int corner[3];
        for (int k = 0; k < 3; ++k) {
            const tal_vec3 p = {float_at(at + 12 * k), float_at(at + 12 * k + 4),
                                float_at(at + 12 * k + 8)};
            finite = finite && tal_v3_is_finite(p);
            corner[k] = finite ? vertex_at(&map, p) : 0;
        }
        if (finite) tali_soup_add_face(soup, corner[0], corner[1], corner[2]);
    }
    free_map(&map);
    return finite;
}

// The next word of a text; its length, 0 at the end.
static size_t next_word(const char **at, const char *end)
{
    while (*at < end && (tali_text_is_blank(**at) || **at == '\n')) {
        ++*at;
    }
    const char *stop = *at;
    while (stop < end && !tali_text_is_blank(*stop) && *stop != '\n') {
        ++stop;
    }
    return (size_t)(stop - *at);
}

static bool read_numbers(const char **at, const char *end, double x[3])
{
    for (int i = 0; i < 3; ++i) {
        const size_t length = next_word(at, end);
        const char *const stop = *at + length;
        if (length == 0 || tal_number_read(*at, stop, &x[i]) != stop || !isfinite(x[i])) {
            return false;
        }
        x[i] += 0.0;
        *at = stop;
    }
    return true;
}

// The corners stand behind the word "vertex"; all other words are passed over.
static bool read_words(tali_soup *soup, const char *text, size_t size)
{
    const char *at = text, *const end = text + size;
    vertex_map map;
    int corner[3], n = 0;
    bool good = true;
    if (!make_map(&map, soup, size / 12)) return true; // "vertex 0 0 0" is the shortest
    for (size_t length = 0; good && !soup->no_memory && (length = next_word(&at, end)) > 0;) {
        double x[3];
        const bool is_vertex = length == 6 && memcmp(at, "vertex", 6) == 0;
        at += length;
        if (!is_vertex) continue;
        good = read_numbers(&at, end, x);
        if (good) corner[n++] = vertex_at(&map, tal_v3(x[0], x[1], x[2]));
        if (n < 3) continue;
        tali_soup_add_face(soup, corner[0], corner[1], corner[2]);
        n = 0;
    }
    free_map(&map);
    return good && n == 0;
}

tal_status tali_soup_read_stl(tali_soup *soup, const char *name, const char *bytes, size_t size,
                              tal_diagnostics *found)
{
    const uint32_t triangles = size >= HEADER ? little(bytes + 80) : 0;
    // a binary file may begin with "solid" too: its length tells
    const bool is_binary = size >= HEADER && (size - HEADER) / TRIANGLE == triangles &&
                           (size - HEADER) % TRIANGLE == 0;
    const bool is_text = size >= 5 && memcmp(bytes, "solid", 5) == 0;
    bool good = false;
    if (is_binary) good = read_binary(soup, bytes, triangles);
    if (!is_binary && is_text) good = read_words(soup, bytes, size);
    if (soup->no_memory) return TAL_ERR_NO_MEMORY;
    if (good && soup->num_faces > 0) return TAL_OK;
    tal_diagnostics_add(found, TAL_ERROR, name, 0, 0,
                        good                   ? "this file has no mesh"
                        : is_binary || is_text ? "a corner is not three finite numbers"
                                               : "this is not an .stl file, or only a part of one");
    return TAL_ERR_FILE;
}
