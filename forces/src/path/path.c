// Paths as they are built: names and points.
#include "hash_internal.h"

#include "core/forces_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- asking ---

const tali_path *tali_path_at(const tal_forces *forces, tal_path_ix path, const char *where)
{
    if (forces == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "forces is NULL");
        return NULL;
    }
    if (path.i >= 0 && path.i < forces->paths.num) return &forces->paths.items[path.i];
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "there is no path %d: there are %d", path.i,
                      forces->paths.num);
    return NULL;
}

int tal_forces_num_paths(const tal_forces *forces)
{
    return forces != NULL ? forces->paths.num : -1;
}

tal_path_ix tal_forces_find_path(const tal_forces *forces, const char *name)
{
    if (forces == NULL || name == NULL) return (tal_path_ix){-1};
    const uint64_t hash = tali_names_hash(name);
    int probe = 0, i = tali_names_next(&forces->paths.names, hash, &probe);
    while (i >= 0 && strcmp(forces->paths.items[i].name, name) != 0) {
        i = tali_names_next(&forces->paths.names, hash, &probe);
    }
    return (tal_path_ix){i};
}

const char *tal_path_name(const tal_forces *forces, tal_path_ix path)
{
    const tali_path *it = tali_path_at(forces, path, __func__);
    return it != NULL ? it->name : "(no path)";
}

int tal_path_num_points(const tal_forces *forces, tal_path_ix path)
{
    const tali_path *it = tali_path_at(forces, path, __func__);
    return it != NULL ? it->num_points : -1;
}

// --- adding ---

// Whether paths can still be changed; false after the reason has been told, or a failure before.
static bool can_build(const tal_forces *forces, const char *where)
{
    if (forces == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "forces is NULL");
        return false;
    }
    if (tal_system_has_topology(forces->system) || forces->declaring) {
        (void)tali_breach(TAL_ERR_TOPOLOGY, where, "System '%s' is realized: call this before that",
                          tal_system_name(forces->system));
        return false;
    }
    return tal_system_error(forces->system)->status == TAL_OK;
}

static tal_status take_name(const tal_forces *forces, tali_path *path, const char *name)
{
    char by_index[TAL_MAX_NAME + 1];
    (void)snprintf(by_index, sizeof by_index, "path%d", forces->paths.num);
    const char *chosen = name != NULL ? name : by_index;
    if (chosen[0] == '\0' || strlen(chosen) > TAL_MAX_NAME) {
        return tal_system_fail(forces->system, TAL_ERR_BAD_NAME,
                               "path %d: a name has 1 to %d characters, this one has %zu",
                               forces->paths.num, TAL_MAX_NAME, strlen(chosen));
    }
    const char *flaw = tali_names_flaw(chosen);
    if (flaw != NULL) {
        return tal_system_fail(forces->system, TAL_ERR_BAD_NAME, "path '%s': %s", chosen, flaw);
    }
    if (tal_forces_find_path(forces, chosen).i >= 0) {
        return tal_system_fail(forces->system, TAL_ERR_BAD_NAME, "there is a path '%s' already",
                               chosen);
    }
    (void)snprintf(path->name, sizeof path->name, "%s", chosen);
    return TAL_OK;
}

tal_path_ix tal_forces_add_path(tal_forces *forces, const char *name)
{
    const tal_path_ix none = {-1};
    tali_path path = {.num_points = 0};
    if (!can_build(forces, __func__) || take_name(forces, &path, name) != TAL_OK) return none;
    tali_paths *all = &forces->paths;
    if (!tali_names_reserve(&all->names, &forces->allocator) ||
        !tali_grow(&forces->allocator, (void **)&all->items, all->num, &all->capacity,
                   sizeof *all->items)) {
        (void)tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "path '%s': no memory", path.name);
        return none;
    }
    tali_names_add(&all->names, tali_names_hash(path.name), all->num);
    all->items[all->num] = path;
    return (tal_path_ix){all->num++};
}

// The path that a part is added to; NULL after the reason has been told.
static tali_path *path_to_change(tal_forces *forces, tal_path_ix path, const char *where)
{
    if (!can_build(forces, where)) return NULL;
    if (tali_path_at(forces, path, where) != NULL) return &forces->paths.items[path.i];
    tali_system_keep_breach(forces->system);
    return NULL;
}

static tal_status check_point(const tal_forces *forces, const tali_path *path, tal_body_ix body,
                              tal_vec3 p_BS)
{
    const int num_bodies = tal_matter_num_bodies(forces->matter);
    if (body.i < 0 || body.i >= num_bodies) {
        return tal_system_fail(forces->system, TAL_ERR_BAD_INDEX,
                               "path '%s', point %d: there is no body %d: there are %d", path->name,
                               path->num_points, body.i, num_bodies);
    }
    if (tal_v3_is_finite(p_BS)) return TAL_OK;
    return tal_system_fail(forces->system, TAL_ERR_NOT_FINITE,
                           "path '%s', point %d: it is at (%g, %g, %g): it must be finite",
                           path->name, path->num_points, p_BS.x, p_BS.y, p_BS.z);
}

int tal_path_add_point(tal_forces *forces, tal_path_ix path, tal_body_ix body, tal_vec3 p_BS)
{
    tali_path *it = path_to_change(forces, path, __func__);
    if (it == NULL || check_point(forces, it, body, p_BS) != TAL_OK) return -1;
    if (!tali_grow(&forces->allocator, (void **)&it->points, it->num_points, &it->capacity,
                   sizeof *it->points)) {
        (void)tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "path '%s': no memory", it->name);
        return -1;
    }
    it->points[it->num_points] = (tali_path_point){.body = body.i, .p_BS = p_BS};
    return it->num_points++;
}

// --- as a whole ---

uint64_t tali_paths_hash(const tal_forces *forces, uint64_t hash)
{
    for (int i = 0; i < forces->paths.num; ++i) {
        const tali_path *path = &forces->paths.items[i];
        hash = tali_hash(hash, path->name, strlen(path->name));
        for (int k = 0; k < path->num_points; ++k) {
            hash = tali_hash(hash, &path->points[k].body, sizeof(int));
        }
    }
    return hash;
}

void tali_paths_free(tal_forces *forces)
{
    tali_paths *all = &forces->paths;
    for (int i = 0; i < all->num; ++i) {
        const tali_path *path = &all->items[i];
        tali_free(&forces->allocator, path->points, (size_t)path->capacity * sizeof *path->points);
    }
    tali_free(&forces->allocator, all->items, (size_t)all->capacity * sizeof *all->items);
    tali_names_free(&all->names, &forces->allocator);
}
