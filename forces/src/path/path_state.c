// What a State keeps of paths: where their points are, their lengths, what a tension does, speeds.
#include "cache_internal.h"

#include "core/forces_internal.h"

// --- Topology ---

// The ends of an obstacle's stretch as numbers of points.
static tal_status settle_over(const tal_forces *forces, tali_path *path, tali_path_over *over)
{
    const int end = path->num_points - 1;
    const int first = over->first < 0 ? 0 : over->first;
    const int last = over->last < 0 ? end : over->last;
    if (first >= last || last > end) {
        return tal_system_fail(forces->system, TAL_ERR_BAD_INDEX,
                               "path '%s': obstacle '%s' lies between its points %d and %d: they "
                               "must follow each other, and the last one is %d",
                               path->name, forces->paths.wraps[over->wrap].name, first, last, end);
    }
    over->first = first;
    over->last = last;
    return TAL_OK;
}

static int num_speeds_of(const tal_forces *forces, const tal_mobility at[], int n)
{
    int sum = 0;
    for (int k = 0; k < n; ++k) {
        sum += tal_body_nu(forces->matter, at[k].body);
    }
    return sum;
}

// The most speeds that a tension along a path can act on directly.
static int num_pushes_of(const tal_forces *forces, const tali_path *path)
{
    if (path->length != NULL) return num_speeds_of(forces, path->at, path->num_at);
    int sum = 0;
    for (int k = 0; k < path->num_points; ++k) {
        const tali_path_track *track = path->points[k].track;
        if (track != NULL) sum += num_speeds_of(forces, track->at, 3);
    }
    return sum;
}

static bool is_plain(const tali_path *path)
{
    for (int k = 0; k < path->num_points; ++k) {
        if (path->points[k].kind != TALI_PATH_FIXED) return false;
    }
    return path->num_over == 0 && path->length == NULL;
}

// Whether a path's change is known: coordinates are speeds, functions have two derivatives, and no
// obstacle is a torus, beside which a string may lie on a cylinder that moves along the ring.
static bool has_smooth_coordinates(const tal_forces *forces, const tal_mobility at[],
                                   const tal_function *f, int n)
{
    for (int k = 0; k < n; ++k) {
        if (!tal_body_qdot_is_u(forces->matter, at[k].body)) return false;
    }
    return tal_function_max_order(f) >= 2;
}

static bool knows_change(const tal_forces *forces, const tali_path *path)
{
    if (path->length != NULL) {
        return has_smooth_coordinates(forces, path->at, path->length, path->num_at);
    }
    bool knows = true;
    for (int k = 0; k < path->num_points; ++k) {
        const tali_path_track *track = path->points[k].track;
        for (int j = 0; track != NULL && j < 3; ++j) {
            knows = knows && has_smooth_coordinates(forces, &track->at[j], track->f[j], 1);
        }
    }
    for (int k = 0; k < path->num_over; ++k) {
        knows = knows && forces->paths.wraps[path->over[k].wrap].shape.kind != TAL_WRAP_TORUS;
    }
    return knows;
}

static tal_status check_path(const tal_forces *forces, tali_path *path)
{
    if (path->length == NULL && path->num_points < 2) {
        return tal_system_fail(forces->system, TAL_ERR_BAD_VALUE,
                               "path '%s' needs two points or more: it has %d", path->name,
                               path->num_points);
    }
    for (int k = 0; k < path->num_over; ++k) {
        const tal_status st = settle_over(forces, path, &path->over[k]);
        if (st != TAL_OK) return st;
    }
    path->is_plain = is_plain(path);
    path->knows_change = knows_change(forces, path);
    return TAL_OK;
}

// Give every path its places in the arrays of all.
static tal_status place_paths(tal_forces *forces)
{
    tali_paths *all = &forces->paths;
    for (int i = 0; i < all->num; ++i) {
        tali_path *path = &all->items[i];
        const tal_status st = check_path(forces, path);
        if (st != TAL_OK) return st;
        const int num_nodes = path->num_points + 2 * path->num_over;
        path->first_point = all->num_points;
        path->first_load = all->num_loads;
        path->first_push = all->num_pushes;
        all->num_points += path->num_points;
        all->num_loads += num_nodes;
        all->num_pushes += num_pushes_of(forces, path);
        if (num_nodes > all->max_nodes) all->max_nodes = num_nodes;
        if (path->num_over > all->max_over) all->max_over = path->num_over;
    }
    return TAL_OK;
}

// Where points are on their bodies: parameters of a State.
static tal_status declare_stations(tal_forces *forces)
{
    tali_paths *all = &forces->paths;
    const size_t bytes = ((size_t)all->num_points + 1) * sizeof(tal_vec3);
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
    size_t touch, loads, pushes, size;
} places;

static places places_of(const tali_paths *all)
{
    places at = {.size = 0};
    (void)tali_piece_at(&at.size, (size_t)all->num * sizeof(double)); // lengths come first
    at.touch = tali_piece_at(&at.size, (size_t)all->num * sizeof(tali_path_touch));
    at.loads = tali_piece_at(&at.size, (size_t)all->num_loads * sizeof(tali_path_load));
    at.pushes = tali_piece_at(&at.size, (size_t)all->num_pushes * sizeof(tali_path_push));
    return at;
}

static tal_cache_ix declare_at_instance(tal_forces *forces, const char *name, size_t size)
{
    tal_cache_def def = tal_cache_def_default();
    def.name = name;
    def.size = size;
    def.computed_by = TAL_STAGE_INSTANCE;
    return tal_system_add_cache(forces->system, forces->me, &def);
}

// What is computed: points and obstacles in M by Instance, lengths and pulls from q, speeds.
static tal_status declare_results(tal_forces *forces)
{
    tali_paths *all = &forces->paths;
    all->placed = declare_at_instance(forces, "placed points of paths",
                                      ((size_t)all->num_points + 1) * sizeof(tali_path_station));
    all->mounted = declare_at_instance(forces, "obstacles of paths",
                                       ((size_t)all->num_wraps + 1) * sizeof(tal_xform));
    const tal_prereq q = {TAL_PREREQ_Q, 0};
    tal_cache_def def = tal_cache_def_default();
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
    def = tal_cache_def_default();
    def.name = "ties of paths";
    def.size = tali_path_ties_size(all);
    def.prereqs = &q;
    def.num_prereqs = 1;
    all->ties = tal_system_add_cache(forces->system, forces->me, &def);
    tal_system_reserve_scratch(forces->system,
                               (size_t)all->max_nodes * sizeof(tali_path_node) + TAL_ALIGNMENT);
    tal_system_reserve_scratch(forces->system, tali_path_change_room(all));
    // forces carried inboard, and g of a goal
    const size_t carried = (size_t)(forces->num_bodies + forces->nu + 1) * sizeof(tal_spatial_vec);
    const size_t g = (size_t)forces->nu * sizeof(double);
    tal_system_reserve_scratch(forces->system, carried + g + 3 * TAL_ALIGNMENT);
    return tal_system_error(forces->system)->status;
}

bool tali_paths_declare(tal_forces *forces)
{
    if (forces->paths.num == 0) return true;
    return place_paths(forces) == TAL_OK && tali_paths_reach(forces) == TAL_OK &&
           declare_stations(forces) == TAL_OK && declare_results(forces) == TAL_OK;
}

// --- Instance ---

int tali_path_slot(const tal_forces *forces, const tal_state *state, tal_mobility at)
{
    const tal_matter *matter = forces->matter;
    const int nq = tal_body_nq(matter, state, at.body);
    const bool quaternion = nq != tal_body_nq_angles(matter, at.body);
    if (quaternion && at.i < 3) return -1;
    return tal_body_q_start(matter, state, at.body) + (quaternion ? at.i + 1 : at.i);
}

static tal_status check_slots(const tal_forces *forces, tal_state *state, const tali_path *path,
                              const tal_mobility at[], int n)
{
    for (int k = 0; k < n; ++k) {
        if (tali_path_slot(forces, state, at[k]) >= 0) continue;
        return tal_state_fail(state, TAL_ERR_BAD_VALUE,
                              "path '%s': coordinate %d of body '%s' is part of a quaternion in "
                              "this State: use angles",
                              path->name, at[k].i, tal_body_name(forces->matter, at[k].body));
    }
    return TAL_OK;
}

// Whether all coordinates that a path needs are there in this State.
static tal_status check_coordinates(const tal_forces *forces, tal_state *state,
                                    const tali_path *path)
{
    tal_status st = check_slots(forces, state, path, path->at, path->num_at);
    for (int k = 0; k < path->num_points && st == TAL_OK; ++k) {
        const tali_path_point *point = &path->points[k];
        const bool is_conditional = point->kind == TALI_PATH_CONDITIONAL;
        if (is_conditional) st = check_slots(forces, state, path, &point->when, 1);
        const bool moves = point->track != NULL && st == TAL_OK;
        if (moves) st = check_slots(forces, state, path, point->track->at, 3);
    }
    return st;
}

static void place_points(const tal_forces *forces, tal_state *state)
{
    const tali_paths *all = &forces->paths;
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
    tal_xform *X_MW = tal_cache_upd(forces->system, state, all->mounted);
    for (int i = 0; i < all->num_wraps; ++i) {
        const tal_body_ix body = {all->wraps[i].body};
        X_MW[i] = tal_xf_mul(tal_body_X_MB(forces->matter, state, body), all->wraps[i].X_BW);
    }
}

tal_status tali_paths_realize_instance(const tal_forces *forces, tal_state *state)
{
    const tali_paths *all = &forces->paths;
    for (int i = 0; i < all->num; ++i) {
        if (all->items[i].is_plain) continue;
        const tal_status st = check_coordinates(forces, state, &all->items[i]);
        if (st != TAL_OK) return st;
    }
    if (all->num == 0) return TAL_OK;
    place_points(forces, state);
    const tal_status st = tal_cache_mark_valid(forces->system, state, all->placed);
    return st == TAL_OK ? tal_cache_mark_valid(forces->system, state, all->mounted) : st;
}

// --- Position ---

// Where the parts of the entry are that begins at `bytes`.
static tali_path_pulls pulls_in(const tali_paths *all, void *bytes)
{
    const places at = places_of(all);
    char *begin = bytes;
    return (tali_path_pulls){(double *)(void *)begin, (tali_path_touch *)(void *)(begin + at.touch),
                             (tali_path_load *)(void *)(begin + at.loads),
                             (tali_path_push *)(void *)(begin + at.pushes)};
}

tali_path_pulls tali_path_pulls_of(const tal_forces *forces, tal_state *state)
{
    const tali_paths *all = &forces->paths;
    return pulls_in(all, tali_cache_upd_at(forces->system, state, all->pulled));
}

tali_path_arg tali_path_arg_of(const tal_forces *forces, tal_state *state)
{
    const tali_paths *all = &forces->paths;
    return (tali_path_arg){.forces = forces,
                           .state = state,
                           .poses = tal_matter_poses(forces->matter, state),
                           .stations = tali_cache_at(forces->system, state, all->placed),
                           .X_MW = tali_cache_at(forces->system, state, all->mounted)};
}

static tal_status calc_pulls(const tal_forces *forces, tal_state *state)
{
    const tali_paths *all = &forces->paths;
    const tali_path_arg arg = tali_path_arg_of(forces, state);
    if (arg.poses.bytes == NULL) return TAL_ERR_STAGE;
    const tali_path_pulls pulls =
        pulls_in(all, tali_cache_begin(forces->system, state, all->pulled));
    for (int i = 0; i < all->num; ++i) {
        const tal_status st = tali_path_follow(&arg, i, &pulls);
        if (st != TAL_OK) return st;
    }
    tali_cache_end(forces->system, state, all->pulled);
    return TAL_OK;
}

// --- Velocity ---

// dl/dt = -(power of a tension of one).
static tal_status calc_speeds(const tal_forces *forces, tal_state *state)
{
    const tali_paths *all = &forces->paths;
    const tali_path_pulls pulls = tali_path_pulls_of(forces, state);
    const tal_bodies_view velocities = tal_matter_velocities(forces->matter, state);
    if (velocities.bytes == NULL) return TAL_ERR_STAGE;
    double *speeds = tali_cache_begin(forces->system, state, all->speeds);
    for (int i = 0; i < all->num; ++i) {
        const tali_path_load *loads = pulls.loads + all->items[i].first_load;
        const tali_path_push *pushes = pulls.pushes + all->items[i].first_push;
        double power = 0.0;
        for (int k = 0; k < pulls.touch[i].num_loads; ++k) {
            power += tal_sv_dot(loads[k].F_GM, *tal_view_V_GM(&velocities, loads[k].body));
        }
        for (int k = 0; k < pulls.touch[i].num_pushes; ++k) {
            const tali_path_push *push = &pushes[k];
            power += push->f * tal_body_u(forces->matter, state, push->at.body, push->at.i);
        }
        speeds[i] = -power;
    }
    tali_cache_end(forces->system, state, all->speeds);
    return TAL_OK;
}

tal_status tali_paths_realize(const tal_forces *forces, tal_state *state, bool moving)
{
    const tali_paths *all = &forces->paths;
    if (all->num == 0) return TAL_OK;
    if (!tal_cache_is_valid(forces->system, state, all->pulled)) {
        const tal_status st = calc_pulls(forces, state);
        if (st != TAL_OK) return st;
    }
    if (!moving || tal_cache_is_valid(forces->system, state, all->speeds)) return TAL_OK;
    return calc_speeds(forces, state);
}
