// Paths as they are built: names, points, lengths as functions.
#include "hash_internal.h"
#include "path_facts_internal.h"

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

bool tali_path_can_build(const tal_forces *forces, const char *where)
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

tali_path *tali_path_to_change(tal_forces *forces, tal_path_ix path, const char *where)
{
    if (!tali_path_can_build(forces, where)) return NULL;
    if (tali_path_at(forces, path, where) != NULL) return &forces->paths.items[path.i];
    tali_system_keep_breach(forces->system);
    return NULL;
}

tal_status tali_path_take_name(const tal_forces *forces, const char *kind, int index,
                               const char *name, bool is_taken, char own[TAL_MAX_NAME + 1])
{
    char by_index[TAL_MAX_NAME + 1];
    (void)snprintf(by_index, sizeof by_index, "%s%d", kind, index);
    const char *chosen = name != NULL ? name : by_index;
    if (chosen[0] == '\0' || strlen(chosen) > TAL_MAX_NAME) {
        return tal_system_fail(forces->system, TAL_ERR_BAD_NAME,
                               "%s %d: a name has 1 to %d characters, this one has %zu", kind,
                               index, TAL_MAX_NAME, strlen(chosen));
    }
    const char *flaw = tali_names_flaw(chosen);
    if (flaw != NULL) {
        return tal_system_fail(forces->system, TAL_ERR_BAD_NAME, "%s '%s': %s", kind, chosen, flaw);
    }
    if (is_taken) {
        return tal_system_fail(forces->system, TAL_ERR_BAD_NAME, "there is a %s '%s' already", kind,
                               chosen);
    }
    (void)snprintf(own, TAL_MAX_NAME + 1, "%s", chosen);
    return TAL_OK;
}

static tal_status fail_memory(const tal_forces *forces, const char *path)
{
    return tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "path '%s': no memory", path);
}

// Add a path, which may own a function already. `i` < 0 after the reason has been told.
static tal_path_ix add_path(tal_forces *forces, const char *name, tali_path path)
{
    const tal_path_ix none = {-1};
    tali_paths *all = &forces->paths;
    const bool is_taken = tal_forces_find_path(forces, name).i >= 0;
    if (tali_path_take_name(forces, "path", all->num, name, is_taken, path.name) != TAL_OK) {
        return none;
    }
    if (!tali_names_reserve(&all->names, &forces->allocator) ||
        !tali_grow(&forces->allocator, (void **)&all->items, all->num, &all->capacity,
                   sizeof *all->items)) {
        (void)fail_memory(forces, path.name);
        return none;
    }
    tali_names_add(&all->names, tali_names_hash(path.name), all->num);
    all->items[all->num] = path;
    return (tal_path_ix){all->num++};
}

tal_path_ix tal_forces_add_path(tal_forces *forces, const char *name)
{
    const tali_path path = {.num_points = 0};
    if (!tali_path_can_build(forces, __func__)) return (tal_path_ix){-1};
    return add_path(forces, name, path);
}

bool tali_path_has_coordinate(const tal_forces *forces, const tali_path *path, tal_mobility at)
{
    const int num_bodies = tal_matter_num_bodies(forces->matter);
    const bool has_body = at.body.i >= 0 && at.body.i < num_bodies;
    const int n = has_body ? tal_body_nq_angles(forces->matter, at.body) : 0;
    if (at.i >= 0 && at.i < n) return true;
    (void)tal_system_fail(forces->system, TAL_ERR_BAD_INDEX,
                          "path '%s': there is no coordinate %d of body %d: it has %d", path->name,
                          at.i, at.body.i, n);
    return false;
}

// --- points ---

static bool is_body(const tal_forces *forces, const tali_path *path, tal_body_ix body)
{
    const int num_bodies = tal_matter_num_bodies(forces->matter);
    if (body.i >= 0 && body.i < num_bodies) return true;
    (void)tal_system_fail(forces->system, TAL_ERR_BAD_INDEX,
                          "path '%s', point %d: there is no body %d: there are %d", path->name,
                          path->num_points, body.i, num_bodies);
    return false;
}

// Add a point. Its number; -1 after the reason has been told.
static int add_point(tal_forces *forces, tali_path *path, tali_path_point point)
{
    const tal_vec3 p = point.p_BS;
    if (path->length != NULL) {
        (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                              "path '%s' is a function of coordinates: it has no points",
                              path->name);
        return -1;
    }
    if (!is_body(forces, path, (tal_body_ix){point.body})) return -1;
    if (!tal_v3_is_finite(p)) {
        (void)tal_system_fail(forces->system, TAL_ERR_NOT_FINITE,
                              "path '%s', point %d: it is at (%g, %g, %g): it must be finite",
                              path->name, path->num_points, p.x, p.y, p.z);
        return -1;
    }
    if (!tali_grow(&forces->allocator, (void **)&path->points, path->num_points, &path->capacity,
                   sizeof *path->points)) {
        (void)fail_memory(forces, path->name);
        return -1;
    }
    path->points[path->num_points] = point;
    return path->num_points++;
}

int tal_path_add_point(tal_forces *forces, tal_path_ix path, tal_body_ix body, tal_vec3 p_BS)
{
    tali_path *it = tali_path_to_change(forces, path, __func__);
    const tali_path_point point = {.kind = TALI_PATH_FIXED, .body = body.i, .p_BS = p_BS};
    return it != NULL ? add_point(forces, it, point) : -1;
}

int tal_path_add_conditional_point(tal_forces *forces, tal_path_ix path, tal_body_ix body,
                                   tal_vec3 p_BS, tal_mobility at, double low, double high)
{
    tali_path *it = tali_path_to_change(forces, path, __func__);
    if (it == NULL || !tali_path_has_coordinate(forces, it, at)) return -1;
    if (!(low <= high)) {
        (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                              "path '%s', point %d: its limits are %g and %g: the first must not "
                              "be above the second",
                              it->name, it->num_points, low, high);
        return -1;
    }
    const tali_path_point point = {.kind = TALI_PATH_CONDITIONAL,
                                   .body = body.i,
                                   .p_BS = p_BS,
                                   .when = at,
                                   .low = low,
                                   .high = high};
    return add_point(forces, it, point);
}

static void drop_functions(tal_function *const f[], int n)
{
    for (int k = 0; f != NULL && k < n; ++k) {
        bool is_first = true;
        for (int j = 0; j < k; ++j) {
            if (f[j] == f[k]) is_first = false;
        }
        if (is_first && f[k] != NULL) tal_function_destroy(f[k]);
    }
}

// Whether these are the functions of a moving point; otherwise the System is told.
static bool are_usable(const tal_forces *forces, const tali_path *path, const tal_mobility at[],
                       tal_function *const f[])
{
    if (f[0] == NULL && f[1] == NULL && f[2] == NULL) {
        (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                              "path '%s', point %d: a point that moves needs a function",
                              path->name, path->num_points);
        return false;
    }
    for (int k = 0; k < 3; ++k) {
        if (f[k] == NULL) continue;
        const int n = tal_function_num_args(f[k]), order = tal_function_max_order(f[k]);
        const bool is_twice = (k > 0 && f[k] == f[0]) || (k > 1 && f[k] == f[1]);
        if (n != 1 || order < 1 || is_twice) {
            (void)tal_system_fail(
                forces->system, TAL_ERR_BAD_VALUE,
                "path '%s', point %d: function %d must be one of its own, of one argument with a "
                "derivative: it has %d arguments and %d derivatives",
                path->name, path->num_points, k, n, order);
            return false;
        }
        if (!tali_path_has_coordinate(forces, path, at[k])) return false;
    }
    return true;
}

// Zero where no function was given. False when memory runs out, which the System is told.
static bool fill_in(tal_forces *forces, const tali_path *path, tali_path_track *track)
{
    int used = 0;
    while (track->f[used] == NULL) {
        ++used;
    }
    for (int k = 0; k < 3; ++k) {
        if (track->f[k] != NULL) continue;
        track->at[k] = track->at[used];
        if (tal_function_create_constant(&forces->allocator, 0.0, 1, &track->f[k], NULL) !=
            TAL_OK) {
            (void)fail_memory(forces, path->name);
            return false;
        }
    }
    return true;
}

// A track that owns its functions; NULL after the reason has been told.
static tali_path_track *make_track(tal_forces *forces, const tali_path *path, const tal_xform *X_BP,
                                   const tal_mobility at[], tal_function *const f[])
{
    if (X_BP != NULL && !tal_xf_is_finite(*X_BP)) {
        (void)tal_system_fail(forces->system, TAL_ERR_NOT_FINITE,
                              "path '%s', point %d: its frame is not finite", path->name,
                              path->num_points);
        return NULL;
    }
    if (!are_usable(forces, path, at, f)) return NULL;
    tali_path_track *track = tali_alloc(&forces->allocator, sizeof *track);
    if (track == NULL) {
        (void)fail_memory(forces, path->name);
        return NULL;
    }
    track->X_BP = X_BP != NULL ? *X_BP : TAL_XFORM_IDENTITY;
    for (int k = 0; k < 3; ++k) {
        track->at[k] = at[k];
        track->f[k] = f[k];
    }
    if (fill_in(forces, path, track)) return track;
    for (int k = 0; k < 3; ++k) {
        if (f[k] == NULL) tal_function_destroy(track->f[k]);
    }
    tali_free(&forces->allocator, track, sizeof *track);
    return NULL;
}

int tal_path_add_moving_point(tal_forces *forces, tal_path_ix path, tal_body_ix body,
                              const tal_xform *X_BP, const tal_mobility at[],
                              tal_function *const f[])
{
    tali_path *it = tali_path_to_change(forces, path, __func__);
    if (it != NULL && (at == NULL || f == NULL)) {
        (void)TALI_BREACH(TAL_ERR_NULL, "path '%s': an argument is NULL", it->name);
        tali_system_keep_breach(forces->system);
        it = NULL;
    }
    tali_path_track *track = it != NULL ? make_track(forces, it, X_BP, at, f) : NULL;
    if (track == NULL) {
        drop_functions(f, 3);
        return -1;
    }
    const tali_path_point point = {.kind = TALI_PATH_MOVING, .body = body.i, .track = track};
    const int number = add_point(forces, it, point);
    if (number >= 0) return number;
    drop_functions(track->f, 3);
    tali_free(&forces->allocator, track, sizeof *track);
    return -1;
}

// --- a length ---

// Whether a path can be this function of these coordinates; otherwise the System is told.
static bool is_length(const tal_forces *forces, const char *name, const tal_mobility at[], int n,
                      const tal_function *length)
{
    if (at == NULL || length == NULL) {
        (void)tali_breach(TAL_ERR_NULL, "tal_forces_add_function_path",
                          "path '%s': an argument is NULL", name);
        tali_system_keep_breach(forces->system);
        return false;
    }
    const int args = tal_function_num_args(length), order = tal_function_max_order(length);
    if (n < 1 || args != n || order < 1) {
        (void)tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                              "path '%s': its length must be a function of %d arguments with first "
                              "derivatives: it has %d arguments and %d derivatives",
                              name, n, args, order);
        return false;
    }
    tali_path path = {.num_points = 0};
    (void)snprintf(path.name, sizeof path.name, "%.*s", TAL_MAX_NAME, name);
    for (int k = 0; k < n; ++k) {
        if (!tali_path_has_coordinate(forces, &path, at[k])) return false;
    }
    return true;
}

tal_path_ix tal_forces_add_function_path(tal_forces *forces, const char *name,
                                         const tal_mobility at[], int n, tal_function *length)
{
    tal_path_ix ix = {-1};
    const size_t bytes = n > 0 ? (size_t)n * sizeof *at : 0;
    tali_path path = {.length = length, .num_at = n};
    if (tali_path_can_build(forces, __func__) &&
        is_length(forces, name != NULL ? name : "(no name)", at, n, length)) {
        path.at = tali_alloc(&forces->allocator, bytes);
        if (path.at == NULL) {
            (void)fail_memory(forces, name != NULL ? name : "(no name)");
        } else {
            memcpy(path.at, at, bytes);
            ix = add_path(forces, name, path);
            if (ix.i < 0) tali_free(&forces->allocator, path.at, bytes);
        }
    }
    if (ix.i < 0 && length != NULL) tal_function_destroy(length);
    return ix;
}

// --- as a whole ---

uint64_t tali_paths_hash(const tal_forces *forces, uint64_t hash)
{
    for (int i = 0; i < forces->paths.num; ++i) {
        const tali_path *path = &forces->paths.items[i];
        hash = tali_hash(hash, path->name, strlen(path->name));
        for (int k = 0; k < path->num_points; ++k) {
            hash = tali_hash(hash, &path->points[k].body, sizeof(int));
            hash = tali_hash(hash, &path->points[k].kind, sizeof path->points[k].kind);
        }
        for (int k = 0; k < path->num_over; ++k) {
            hash = tali_hash(hash, &path->over[k], sizeof path->over[k]);
        }
    }
    return hash;
}

static void free_path(const tal_allocator *allocator, tali_path *path)
{
    for (int k = 0; k < path->num_points; ++k) {
        tali_path_track *track = path->points[k].track;
        if (track == NULL) continue;
        drop_functions(track->f, 3);
        tali_free(allocator, track, sizeof *track);
    }
    tali_free(allocator, path->points, (size_t)path->capacity * sizeof *path->points);
    tali_free(allocator, path->over, (size_t)path->over_capacity * sizeof *path->over);
    tali_free(allocator, path->at, (size_t)path->num_at * sizeof *path->at);
    if (path->length != NULL) tal_function_destroy(path->length);
}

void tali_paths_free(tal_forces *forces)
{
    tali_paths *all = &forces->paths;
    for (int i = 0; i < all->num; ++i) {
        free_path(&forces->allocator, &all->items[i]);
    }
    tali_free(&forces->allocator, all->items, (size_t)all->capacity * sizeof *all->items);
    tali_names_free(&all->names, &forces->allocator);
    tali_free(&forces->allocator, all->hops, (size_t)all->hops_capacity * sizeof *all->hops);
    tali_free(&forces->allocator, all->wraps, (size_t)all->wraps_capacity * sizeof *all->wraps);
    tali_names_free(&all->wrap_names, &forces->allocator);
}

// --- facts ---

tali_path_point_facts tali_path_point_facts_of(const tal_forces *forces, tal_path_ix path,
                                               int point)
{
    const tali_path_point *it = &forces->paths.items[path.i].points[point];
    tali_path_point_facts facts = {(int)it->kind, it->when, it->low, it->high, NULL, NULL, NULL};
    if (it->track != NULL) {
        facts.X_BP = &it->track->X_BP;
        facts.at = it->track->at;
        facts.f = it->track->f;
    }
    return facts;
}

void tali_path_over_facts_of(const tal_forces *forces, tal_path_ix path, int k, tal_wrap_ix *wrap,
                             int *first, int *last)
{
    const tali_path_over *over = &forces->paths.items[path.i].over[k];
    wrap->i = over->wrap;
    *first = over->first;
    *last = over->last;
}

const tal_function *tali_path_function_of(const tal_forces *forces, tal_path_ix path,
                                          const tal_mobility **at, int *n)
{
    const tali_path *it = &forces->paths.items[path.i];
    *at = it->at;
    *n = it->num_at;
    return it->length;
}
