// Meshes of a scene: from files of decorations, and of surfaces that touch. Each once.
#include "alloc_internal.h"
#include "file_internal.h"

#include "mesh/soup_internal.h"
#include "scene/scene_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_BYTES = 64 << 20, // of a file
    STEPS = 65535          // of a vertex in its box, along each axis
};

static tal_vec3 lower(tal_vec3 a, tal_vec3 b)
{
    return tal_v3(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z));
}

static tal_vec3 upper(tal_vec3 a, tal_vec3 b)
{
    return tal_v3(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z));
}

static void put_little(tali_scene_bytes *data, uint32_t value, int bytes)
{
    unsigned char out[4];
    for (int i = 0; i < bytes; ++i) {
        out[i] = (unsigned char)(value >> (8 * i) & 0xff);
    }
    tali_scene_put(data, out, (size_t)bytes);
}

static uint32_t step_of(double x, double low, double high)
{
    return high > low ? (uint32_t)lround((x - low) / (high - low) * STEPS) : 0;
}

// Vertices x, y, z as fractions of the box, then corners of faces.
static void put_soup(tal_scene *scene, const tali_soup *soup, tali_scene_mesh *mesh)
{
    mesh->low = mesh->high = soup->vertices[0];
    for (int i = 1; i < soup->num_vertices; ++i) {
        mesh->low = lower(mesh->low, soup->vertices[i]);
        mesh->high = upper(mesh->high, soup->vertices[i]);
    }
    tali_scene_pad(&scene->data, 0); // typed arrays begin at multiples of their size
    mesh->at = scene->data.size;
    for (int i = 0; i < soup->num_vertices; ++i) {
        const tal_vec3 p = soup->vertices[i];
        put_little(&scene->data, step_of(p.x, mesh->low.x, mesh->high.x), 2);
        put_little(&scene->data, step_of(p.y, mesh->low.y, mesh->high.y), 2);
        put_little(&scene->data, step_of(p.z, mesh->low.z, mesh->high.z), 2);
    }
    mesh->wide = soup->num_vertices > STEPS + 1;
    tali_scene_pad(&scene->data, 0);
    for (int i = 0; i < soup->num_faces; ++i) {
        for (int k = 0; k < 3; ++k) {
            put_little(&scene->data, (uint32_t)soup->faces[i][k], mesh->wide ? 4 : 2);
        }
    }
    mesh->vertices = soup->num_vertices;
    mesh->faces = soup->num_faces;
}

static void copy_mesh(const tal_mesh *mesh, tali_soup *soup)
{
    for (int i = 0; i < tal_mesh_num_vertices(mesh); ++i) {
        tali_soup_add_vertex(soup, tal_mesh_vertex(mesh, i));
    }
    for (int i = 0; i < tal_mesh_num_faces(mesh); ++i) {
        int corner[3];
        tal_mesh_face(mesh, i, corner);
        tali_soup_add_face(soup, corner[0], corner[1], corner[2]);
    }
}

// What a model names, from the folder of the model.
static bool full_path(const tal_scene *scene, const char *path, char full[TALI_PATH_SIZE])
{
    const char *const folder = scene->options.folder;
    const int length = path[0] == '/' || folder[0] == 0
                           ? snprintf(full, TALI_PATH_SIZE, "%s", path)
                           : snprintf(full, TALI_PATH_SIZE, "%s/%s", folder, path);
    return length > 0 && length < TALI_PATH_SIZE;
}

// A mesh that cannot be read is left out of the picture, and said to be.
static bool read_file(tal_scene *scene, const char *path, tali_soup *soup)
{
    char full[TALI_PATH_SIZE];
    if (scene->options.folder == NULL || !full_path(scene, path, full)) return false;
    tal_diagnostics *const errors = tal_diagnostics_create(&scene->options.allocator);
    const tal_status st = tali_soup_read_file(soup, full, MOST_BYTES, errors);
    if (st != TAL_OK) {
        const tal_diagnostic *const why =
            tal_diagnostics_num(errors) > 0 ? tal_diagnostics_at(errors, 0) : NULL;
        tal_diagnostics_add(scene->options.found, TAL_WARNING, full, 0, 0,
                            "this mesh is left out: %s",
                            why != NULL ? why->message : tal_status_text(st));
    }
    tal_diagnostics_destroy(errors);
    return st == TAL_OK;
}

static int known_mesh(const tal_scene *scene, const char *path, const tal_mesh *mesh)
{
    for (int i = 0; i < scene->num_meshes; ++i) {
        const tali_scene_mesh *const it = &scene->meshes[i];
        if (path != NULL ? it->path != NULL && strcmp(it->path, path) == 0 : it->mesh == mesh) {
            return it->faces > 0 ? i : -1;
        }
    }
    return scene->num_meshes;
}

int tali_scene_mesh_of(tal_scene *scene, const char *path, const tal_mesh *mesh)
{
    const int known = known_mesh(scene, path, mesh);
    if (known < scene->num_meshes) return known;
    if (!tali_grow(&scene->options.allocator, (void **)&scene->meshes, scene->num_meshes,
                   &scene->meshes_capacity, sizeof *scene->meshes)) {
        scene->failed = true;
        return -1;
    }
    tali_scene_mesh *const it = &scene->meshes[scene->num_meshes++];
    *it = (tali_scene_mesh){.path = path, .mesh = mesh};
    tali_soup soup = tali_soup_make(&scene->options.allocator);
    bool good = true;
    if (mesh != NULL) {
        copy_mesh(mesh, &soup);
    } else {
        good = read_file(scene, path, &soup);
    }
    if (soup.no_memory) scene->failed = true;
    if (good && !soup.no_memory) put_soup(scene, &soup, it);
    tali_soup_free(&soup);
    return it->faces > 0 ? scene->num_meshes - 1 : -1;
}
