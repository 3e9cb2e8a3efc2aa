// What a State keeps of paths: where their points are, their lengths, what a tension does, speeds.
#include "cache_internal.h"

#include "core/forces_internal.h"

#include <math.h>
#include <string.h>

// --- Topology ---

static tal_status refuse_short(const tal_forces *forces, const tali_path *path)
{
    return tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                           "path '%s' needs two points or more: it has %d", path->name,
                           path->num_points);
}

// Give every path its places in the arrays of all.
static tal_status place_paths(tal_forces *forces)
{
    tali_paths *all = &forces->paths;
    for (int i = 0; i < all->num; ++i) {
        tali_path *path = &all->items[i];
        if (path->num_points < 2) return refuse_short(forces, path);
        path->first_point = all->num_points;
        path->first_load = all->num_loads;
        all->num_points += path->num_points;
        all->num_loads += path->num_points;
    }
    return TAL_OK;
}

// Where points are on their bodies: parameters of a State.
static tal_status declare_stations(tal_forces *forces)
{
    tali_paths *all = &forces->paths;
    const size_t bytes = (size_t)all->num_points * sizeof(tal_vec3);
    tal_vec3 *initial = tali_alloc(&forces->allocator, bytes);
    if (initial == NULL) {
        return tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "no memory for %d points",
                               all->num_points);
    }
    for (int i = 0; i < all->num; ++i) {
        const tali_path *path = &all->items[i];
        for (int k = 0; k < path->num_points; ++k) {
            initial[path->first_point + k] = path->points[k].p_BS;
        }
    }
    tal_var_def def = tal_var_def_default();
    def.name = "points of paths";
    def.size = bytes;
    def.initial = initial;
    all->stations = tal_system_add_var(forces->system, forces->me, &def);
    tali_free(&forces->allocator, initial, bytes);
    return tal_system_error(forces->system)->status;
}

// Where the parts of tali_path_pulls begin in its entry, and its size.
typedef struct places {
    size_t num_loads, loads, size;
} places;

static places places_of(const tali_paths *all)
{
    places at;
    at.num_loads = tali_align((size_t)all->num * sizeof(double));
    at.loads = at.num_loads + tali_align((size_t)all->num * sizeof(int));
    at.size = at.loads + (size_t)all->num_loads * sizeof(tali_path_load);
    return at;
}

// What is computed: points in M by Instance, lengths and pulls from q, speeds from q and u.
static tal_status declare_results(tal_forces *forces)
{
    tali_paths *all = &forces->paths;
    tal_cache_def def = tal_cache_def_default();
    def.name = "placed points of paths";
    def.size = (size_t)all->num_points * sizeof(tali_path_station);
    def.computed_by = TAL_STAGE_INSTANCE;
    all->placed = tal_system_add_cache(forces->system, forces->me, &def);

    const tal_prereq q = {TAL_PREREQ_Q, 0};
    def = tal_cache_def_default();
    def.name = "paths";
    def.size = places_of(all).size;
    def.prereqs = &q;
    def.num_prereqs = 1;
    all->pulled = tal_system_add_cache(forces->system, forces->me, &def);

    const tal_prereq of_speeds[2] = {{TAL_PREREQ_U, 0}, tal_prereq_cache(all->pulled)};
    def = tal_cache_def_default();
    def.name = "speeds of paths";
    def.size = (size_t)all->num * sizeof(double);
    def.prereqs = of_speeds;
    def.num_prereqs = 2;
    all->speeds = tal_system_add_cache(forces->system, forces->me, &def);
    return tal_system_error(forces->system)->status;
}

bool tali_paths_declare(tal_forces *forces)
{
    if (forces->paths.num == 0) return true;
    return place_paths(forces) == TAL_OK && declare_stations(forces) == TAL_OK &&
           declare_results(forces) == TAL_OK;
}

// --- Instance ---

tal_status tali_paths_realize_instance(const tal_forces *forces, tal_state *state)
{
    const tali_paths *all = &forces->paths;
    if (all->num == 0) return TAL_OK;
    const tal_vec3 *p_BS = tal_var_value(forces->system, state, all->stations);
    tali_path_station *placed = tal_cache_upd(forces->system, state, all->placed);
    for (int i = 0; i < all->num; ++i) {
        const tali_path *path = &all->items[i];
        for (int k = 0; k < path->num_points; ++k) {
            const int at = path->first_point + k;
            const tal_body_ix body = {path->points[k].body};
            const tal_xform X_MB = tal_body_X_MB(forces->matter, state, body);
            placed[at] = (tali_path_station){tal_xf_apply(X_MB, p_BS[at]), body.i};
        }
    }
    return tal_cache_mark_valid(forces->system, state, all->placed);
}

// --- Position ---

// Where the parts of the entry are that begins at `bytes`.
static tali_path_pulls pulls_in(const tali_paths *all, void *bytes)
{
    const places at = places_of(all);
    char *begin = bytes;
    return (tali_path_pulls){(double *)(void *)begin, (int *)(void *)(begin + at.num_loads),
                             (tali_path_load *)(void *)(begin + at.loads)};
}

// A point at one instant.
typedef struct node {
    tal_vec3 p_MS_G; // from Mo, in Ground
    tal_vec3 p_GS;
    int body;
} node;

TAL_ALWAYS_INLINE node node_at(const tali_path_station *station, const tal_bodies_view *poses)
{
    const tal_xform *X_GM = tal_view_X_GM(poses, station->body);
    const tal_vec3 p_MS_G = tal_m3_mul_v3(X_GM->R, station->p_MS);
    return (node){p_MS_G, tal_v3_add(X_GM->p, p_MS_G), station->body};
}

// The loads of one path, as they are found along it.
typedef struct loads {
    tali_path_load *items;
    int num;
} loads;

// A pull at a node; it joins the one before if that is on the same body.
TAL_ALWAYS_INLINE void add_pull(loads *to, const node *at, tal_vec3 f_G)
{
    const tal_spatial_vec F = tal_sv(tal_v3_cross(at->p_MS_G, f_G), f_G);
    tali_path_load *last = to->num > 0 ? &to->items[to->num - 1] : NULL;
    if (last != NULL && last->body == at->body) {
        last->F_GM = tal_sv_add(last->F_GM, F);
    } else {
        to->items[to->num++] = (tali_path_load){F, at->body};
    }
}

// Length of a chord; its ends pull each other, unless one body holds both.
TAL_ALWAYS_INLINE double add_chord(loads *to, const node *from, const node *at)
{
    const tal_vec3 p = tal_v3_sub(at->p_GS, from->p_GS);
    const double length = tal_v3_norm(p);
    if (from->body == at->body || !(length > 1e-150)) return length;
    const tal_vec3 d_G = tal_v3_scale(1.0 / length, p);
    add_pull(to, from, d_G);
    add_pull(to, at, tal_v3_neg(d_G));
    return length;
}

static double follow(const tali_path *path, const tali_path_station stations[],
                     const tal_bodies_view *poses, loads *to)
{
    node from = node_at(&stations[0], poses);
    double length = 0.0;
    for (int k = 1; k < path->num_points; ++k) {
        const node at = node_at(&stations[k], poses);
        length += add_chord(to, &from, &at);
        from = at;
    }
    return length;
}

static void calc_pulls(const tal_forces *forces, tal_state *state, const tal_bodies_view *poses)
{
    const tali_paths *all = &forces->paths;
    const tali_path_station *stations = tali_cache_at(forces->system, state, all->placed);
    const tali_path_pulls pulls =
        pulls_in(all, tali_cache_begin(forces->system, state, all->pulled));
    for (int i = 0; i < all->num; ++i) {
        const tali_path *path = &all->items[i];
        loads to = {pulls.loads + path->first_load, 0};
        pulls.lengths[i] = follow(path, stations + path->first_point, poses, &to);
        pulls.num_loads[i] = to.num;
    }
    tali_cache_end(forces->system, state, all->pulled);
}

tali_path_pulls tali_path_pulls_of(const tal_forces *forces, const tal_state *state)
{
    const tali_paths *all = &forces->paths;
    return pulls_in(all, (char *)(uintptr_t)tali_cache_at(forces->system, state, all->pulled));
}

// --- Velocity ---

// dl/dt = -(power of a tension of one).
static void calc_speeds(const tal_forces *forces, tal_state *state,
                        const tal_bodies_view *velocities)
{
    const tali_paths *all = &forces->paths;
    const tali_path_pulls pulls = tali_path_pulls_of(forces, state);
    double *speeds = tali_cache_begin(forces->system, state, all->speeds);
    for (int i = 0; i < all->num; ++i) {
        const tali_path_load *loads_of_path = pulls.loads + all->items[i].first_load;
        double power = 0.0;
        for (int k = 0; k < pulls.num_loads[i]; ++k) {
            const tali_path_load *load = &loads_of_path[k];
            power += tal_sv_dot(load->F_GM, *tal_view_V_GM(velocities, load->body));
        }
        speeds[i] = -power;
    }
    tali_cache_end(forces->system, state, all->speeds);
}

tal_status tali_paths_realize(const tal_forces *forces, tal_state *state, bool moving)
{
    const tali_paths *all = &forces->paths;
    if (all->num == 0) return TAL_OK;
    if (!tal_cache_is_valid(forces->system, state, all->pulled)) {
        const tal_bodies_view poses = tal_matter_poses(forces->matter, state);
        if (poses.bytes == NULL) return TAL_ERR_STAGE;
        calc_pulls(forces, state, &poses);
    }
    if (!moving || tal_cache_is_valid(forces->system, state, all->speeds)) return TAL_OK;
    const tal_bodies_view velocities = tal_matter_velocities(forces->matter, state);
    if (velocities.bytes == NULL) return TAL_ERR_STAGE;
    calc_speeds(forces, state, &velocities);
    return TAL_OK;
}
