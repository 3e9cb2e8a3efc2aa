// What a path depends on: the bodies that move its points against each other, and coordinates.
//
// The bodies of its points and obstacles hang on a first common ancestor. Only what is outboard of
// that moves them against each other: a path feels nothing else.
#include "core/forces_internal.h"

// --- bodies ---

// Bodies still to be followed to their common ancestor.
typedef struct herd {
    bool *is_in; // [num_bodies]
    int num;
} herd;

static void join(herd *it, int body)
{
    if (it->is_in[body]) return;
    it->is_in[body] = true;
    ++it->num;
}

static void gather(const tal_forces *forces, const tali_path *path, herd *it)
{
    for (int k = 0; k < path->num_points; ++k) {
        join(it, path->points[k].body);
    }
    for (int k = 0; k < path->num_over; ++k) {
        join(it, forces->paths.wraps[path->over[k].wrap].body);
    }
}

static tali_path_hop hop_of(const tal_forces *forces, int body)
{
    const tal_body_ix ix = {body};
    return (tali_path_hop){body, body > 0 ? tal_body_parent(forces->matter, ix).i : 0};
}

static bool add_hop(tal_forces *forces, int body)
{
    tali_paths *all = &forces->paths;
    if (!tali_grow(&forces->allocator, (void **)&all->hops, all->num_hops, &all->hops_capacity,
                   sizeof *all->hops)) {
        return false;
    }
    all->hops[all->num_hops++] = hop_of(forces, body);
    return true;
}

// Parents come before their children: the body with the highest number is never the ancestor of
// another one, and gives way to its parent until one is left.
static bool reach(tal_forces *forces, tali_path *path, herd *it)
{
    gather(forces, path, it);
    path->first_hop = forces->paths.num_hops;
    for (int b = forces->num_bodies - 1; b >= 0 && it->num > 0; --b) {
        if (!it->is_in[b]) continue;
        it->is_in[b] = false;
        --it->num;
        if (!add_hop(forces, b)) return false;
        if (it->num > 0) join(it, forces->paths.hops[forces->paths.num_hops - 1].parent);
    }
    // the last one is the common ancestor
    const int num = forces->paths.num_hops - path->first_hop;
    path->num_hops = num > 0 ? num - 1 : 0;
    return true;
}

tal_status tali_paths_reach(tal_forces *forces)
{
    const size_t bytes = (size_t)forces->num_bodies * sizeof(bool);
    herd it = {tali_alloc(&forces->allocator, bytes), 0};
    bool ok = it.is_in != NULL;
    for (int b = 0; b < forces->num_bodies && ok; ++b) {
        it.is_in[b] = false;
    }
    for (int i = 0; i < forces->paths.num && ok; ++i) {
        ok = reach(forces, &forces->paths.items[i], &it);
    }
    tali_free(&forces->allocator, it.is_in, bytes);
    if (ok) return TAL_OK;
    return tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "no memory for the bodies of paths");
}

// --- coordinates ---

// A list of coordinates, each once, written as long as there is room.
typedef struct roll {
    tal_mobility *at;
    int max, num;
} roll;

static void call(roll *it, tal_mobility at)
{
    if (it->num < it->max) it->at[it->num] = at;
    ++it->num;
}

static bool is_same(tal_mobility a, tal_mobility b)
{
    return a.body.i == b.body.i && a.i == b.i;
}

static bool is_between(const tali_paths *all, const tali_path *path, int body)
{
    for (int k = 0; k < path->num_hops; ++k) {
        if (all->hops[path->first_hop + k].body == body) return true;
    }
    return false;
}

// Coordinate k of those that points of a path ask for, and a function; false behind the last one.
static bool asked_at(const tali_path *path, int k, tal_mobility *at)
{
    if (k < path->num_at) {
        *at = path->at[k];
        return true;
    }
    int left = k - path->num_at;
    for (int p = 0; p < path->num_points; ++p) {
        const tali_path_point *point = &path->points[p];
        const int n = point->kind == TALI_PATH_MOVING        ? 3
                      : point->kind == TALI_PATH_CONDITIONAL ? 1
                                                             : 0;
        if (left < n) {
            *at = point->track != NULL ? point->track->at[left] : point->when;
            return true;
        }
        left -= n;
    }
    return false;
}

static bool was_asked(const tali_path *path, int before, tal_mobility at)
{
    tal_mobility other;
    for (int k = 0; k < before && asked_at(path, k, &other); ++k) {
        if (is_same(other, at)) return true;
    }
    return false;
}

int tal_path_coordinates(const tal_forces *forces, tal_path_ix path, tal_mobility at[], int max)
{
    const tali_path *it = tali_path_at(forces, path, __func__);
    if (it == NULL) return -1;
    if (max < 0 || (at == NULL && max > 0)) {
        (void)TALI_BREACH(TAL_ERR_BAD_VALUE, "there is room for %d coordinates", max);
        return -1;
    }
    if (!tal_system_has_topology(forces->system)) {
        (void)TALI_BREACH(TAL_ERR_TOPOLOGY, "the topology of System '%s' is not realized",
                          tal_system_name(forces->system));
        return -1;
    }
    const tali_paths *all = &forces->paths;
    roll to = {at, max, 0};
    for (int k = it->num_hops - 1; k >= 0; --k) {
        const tal_body_ix body = {all->hops[it->first_hop + k].body};
        for (int i = 0; i < tal_body_nq_angles(forces->matter, body); ++i) {
            call(&to, (tal_mobility){body, i});
        }
    }
    tal_mobility asked;
    for (int k = 0; asked_at(it, k, &asked); ++k) {
        const bool is_new = !is_between(all, it, asked.body.i) && !was_asked(it, k, asked);
        if (is_new) call(&to, asked);
    }
    return to.num;
}
