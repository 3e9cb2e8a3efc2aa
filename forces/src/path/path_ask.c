// Asking paths at a State: points, lengths, speeds, what a tension does.
#include "cache_internal.h"

#include "core/forces_internal.h"

#include <string.h>

// --- points as parameters ---

static const tali_path *path_with_point(const tal_forces *forces, tal_path_ix path, int point,
                                        const char *where)
{
    const tali_path *it = tali_path_at(forces, path, where);
    if (it == NULL || (point >= 0 && point < it->num_points)) return it;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "path '%s' has no point %d: it has %d", it->name,
                      point, it->num_points);
    return NULL;
}

// The same, once points have a place in States: from the topology on.
static const tali_path *stored_point(const tal_forces *forces, tal_path_ix path, int point,
                                     const char *where)
{
    const tali_path *it = path_with_point(forces, path, point, where);
    if (it == NULL || tal_system_has_topology(forces->system)) return it;
    (void)tali_breach(TAL_ERR_TOPOLOGY, where, "the topology of System '%s' is not realized",
                      tal_system_name(forces->system));
    return NULL;
}

tal_body_ix tal_path_point_body(const tal_forces *forces, tal_path_ix path, int point)
{
    const tali_path *it = path_with_point(forces, path, point, __func__);
    return (tal_body_ix){it != NULL ? it->points[point].body : -1};
}

tal_vec3 tal_path_point_station(const tal_forces *forces, const tal_state *state, tal_path_ix path,
                                int point)
{
    const tal_vec3 none = {TALI_NAN, TALI_NAN, TALI_NAN};
    const tali_path *it = stored_point(forces, path, point, __func__);
    if (it == NULL) return none;
    const tal_vec3 *all =
        tali_cache_var_read(forces->system, state, forces->paths.stations, __func__);
    return all != NULL ? all[it->first_point + point] : none;
}

tal_status tal_path_set_point_station(const tal_forces *forces, tal_state *state, tal_path_ix path,
                                      int point, tal_vec3 p_BS)
{
    const tali_path *it = stored_point(forces, path, point, __func__);
    if (it == NULL) return tal_contract_last()->status;
    const tal_var_ix var = forces->paths.stations;
    if (tali_cache_var_read(forces->system, state, var, __func__) == NULL) {
        return tal_contract_last()->status;
    }
    if (!tal_v3_is_finite(p_BS)) {
        return tal_state_refuse(state, TAL_ERR_NOT_FINITE,
                                "path '%s', point %d: it cannot be moved to (%g, %g, %g)", it->name,
                                point, p_BS.x, p_BS.y, p_BS.z);
    }
    tal_vec3 *all = tali_cache_var_write(forces->system, state, var, __func__);
    if (all == NULL) return tal_contract_last()->status;
    all[it->first_point + point] = p_BS;
    return TAL_OK;
}

// --- length and speed ---

// Everything known of the paths up to Position, or Velocity with `moving`. A breach names `where`.
static tal_status known(const tal_forces *forces, tal_state *state, bool moving, const char *where)
{
    const tal_stage needed = moving ? TAL_STAGE_VELOCITY : TAL_STAGE_POSITION;
    if (tal_state_stage(state) < needed) {
        return tali_breach(TAL_ERR_STAGE, where, "the State is at %s and must be at %s",
                           tal_stage_name(tal_state_stage(state)), tal_stage_name(needed));
    }
    // refuses a State of another System
    if (tali_cache_var_read(forces->system, state, forces->paths.stations, where) == NULL) {
        return tal_contract_last()->status;
    }
    return tali_paths_realize(forces, state, moving);
}

double tal_path_length(const tal_forces *forces, tal_state *state, tal_path_ix path)
{
    if (tali_path_at(forces, path, __func__) == NULL) return TALI_NAN;
    if (known(forces, state, false, __func__) != TAL_OK) return TALI_NAN;
    return tali_path_pulls_of(forces, state).lengths[path.i];
}

const double *tali_paths_speeds(const tal_forces *forces, const tal_state *state)
{
    return tali_cache_at(forces->system, state, forces->paths.speeds);
}

double tal_path_speed(const tal_forces *forces, tal_state *state, tal_path_ix path)
{
    if (tali_path_at(forces, path, __func__) == NULL) return TALI_NAN;
    if (known(forces, state, true, __func__) != TAL_OK) return TALI_NAN;
    return tali_paths_speeds(forces, state)[path.i];
}

tal_status tal_forces_calc_path_lengths(const tal_forces *forces, tal_state *state,
                                        double lengths[])
{
    if (forces == NULL || lengths == NULL) return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    if (forces->paths.num == 0) return TAL_OK;
    const tal_status st = known(forces, state, false, __func__);
    if (st != TAL_OK) return st;
    const size_t bytes = (size_t)forces->paths.num * sizeof *lengths;
    memcpy(lengths, tali_path_pulls_of(forces, state).lengths, bytes);
    return TAL_OK;
}

tal_status tal_forces_calc_path_speeds(const tal_forces *forces, tal_state *state, double speeds[])
{
    if (forces == NULL || speeds == NULL) return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    if (forces->paths.num == 0) return TAL_OK;
    const tal_status st = known(forces, state, true, __func__);
    if (st != TAL_OK) return st;
    memcpy(speeds, tali_paths_speeds(forces, state), (size_t)forces->paths.num * sizeof *speeds);
    return TAL_OK;
}

// --- where a path is ---

bool tal_path_is_point_active(const tal_forces *forces, tal_state *state, tal_path_ix path,
                              int point)
{
    const tali_path *it = path_with_point(forces, path, point, __func__);
    if (it == NULL || known(forces, state, false, __func__) != TAL_OK) return false;
    const tali_path_arg arg = tali_path_arg_of(forces, state);
    return tali_path_is_active(&arg, &it->points[point]);
}

bool tal_path_is_on_wrap(const tal_forces *forces, tal_state *state, tal_path_ix path, int k)
{
    if (tal_path_wrap(forces, path, k).i < 0) return false;
    if (known(forces, state, false, __func__) != TAL_OK) return false;
    return (tali_path_pulls_of(forces, state).touch[path.i].on >> k & 1) != 0;
}

bool tal_path_is_inside_wrap(const tal_forces *forces, tal_state *state, tal_path_ix path, int k)
{
    if (tal_path_wrap(forces, path, k).i < 0) return false;
    if (known(forces, state, false, __func__) != TAL_OK) return false;
    return (tali_path_pulls_of(forces, state).touch[path.i].inside >> k & 1) != 0;
}

int tal_path_num_inside(const tal_forces *forces, tal_state *state, tal_path_ix path)
{
    if (tali_path_at(forces, path, __func__) == NULL) return -1;
    if (known(forces, state, false, __func__) != TAL_OK) return -1;
    int num = 0;
    for (uint64_t left = tali_path_pulls_of(forces, state).touch[path.i].inside; left != 0;) {
        left &= left - 1; // without its lowest bit
        ++num;
    }
    return num;
}

// Writes points as long as there is room, and counts all.
typedef struct pen {
    tal_vec3 *points;
    int max, num;
} pen;

static void put(pen *to, tal_vec3 p_GS)
{
    if (to->num < to->max) to->points[to->num] = p_GS;
    ++to->num;
}

// The points on a surface from a node to the next, the last one excepted.
static void put_arc(pen *to, const tali_path_arg *arg, const tali_path_line *line, int k,
                    int per_arc)
{
    const tali_path_node *node = &line->nodes[k];
    const int i = line->path->over[node->over].wrap;
    const tali_path_wrap *wrap = &arg->forces->paths.wraps[i];
    const tal_xform X_GW = tal_xf_mul(*tal_view_X_GM(&arg->poses, wrap->body), arg->X_MW[i]);
    tal_wrap_arc arc = {.p = {tal_xf_inv_apply(X_GW, node->p_GS)},
                        .t = {node->t_W},
                        .length = node->arc / (per_arc - 1)};
    put(to, node->p_GS);
    for (int j = 1; j < per_arc - 1; ++j) {
        tal_vec3 ends[2];
        arc.length = node->arc * j / (per_arc - 1);
        if (tal_wrap_calc_points(&wrap->shape, &arc, 2, ends) != TAL_OK) return;
        put(to, tal_xf_apply(X_GW, ends[1]));
    }
}

int tal_path_calc_points(const tal_forces *forces, tal_state *state, tal_path_ix path, int per_arc,
                         tal_vec3 points[], int max)
{
    const tali_path *it = tali_path_at(forces, path, __func__);
    if (it == NULL || known(forces, state, false, __func__) != TAL_OK) return -1;
    if (per_arc < 2 || max < 0 || (points == NULL && max > 0)) {
        (void)TALI_BREACH(TAL_ERR_BAD_VALUE,
                          "%d points on an arc and room for %d: an arc has two ends", per_arc, max);
        return -1;
    }
    if (it->length != NULL) return 0;
    const tali_path_arg arg = tali_path_arg_of(forces, state);
    const size_t mark = tal_state_scratch_mark(state);
    const size_t bytes = (size_t)forces->paths.max_nodes * sizeof(tali_path_node);
    tali_path_line line = {.path = it, .nodes = tal_state_scratch_take(state, bytes)};
    pen to = {points, max, 0};
    const bool is_drawn = line.nodes != NULL && tali_path_draw(&arg, &line) == TAL_OK;
    for (int k = 0; is_drawn && k < line.num; ++k) {
        if (line.nodes[k].arc >= 0.0) {
            put_arc(&to, &arg, &line, k, per_arc);
        } else {
            put(&to, line.nodes[k].p_GS);
        }
    }
    tal_state_scratch_release(state, mark);
    return is_drawn ? to.num : -1;
}

// --- tension ---

tal_status tal_path_apply_tension(const tal_forces *forces, tal_state *state, tal_path_ix path,
                                  double tension, tal_spatial_vec F_GM[], double f[])
{
    const tali_path *it = tali_path_at(forces, path, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (F_GM == NULL || f == NULL) return TALI_BREACH(TAL_ERR_NULL, "an output is NULL");
    const tal_status st = known(forces, state, false, __func__);
    if (st != TAL_OK) return st;
    const tali_path_pulls pulls = tali_path_pulls_of(forces, state);
    for (int k = 0; k < pulls.touch[path.i].num_loads; ++k) {
        const tali_path_load *load = &pulls.loads[it->first_load + k];
        F_GM[load->body] = tal_sv_add(F_GM[load->body], tal_sv_scale(tension, load->F_GM));
    }
    for (int k = 0; k < pulls.touch[path.i].num_pushes; ++k) {
        const tali_path_push *push = &pulls.pushes[it->first_push + k];
        f[push->u] += tension * push->f;
    }
    return TAL_OK;
}

tal_status tal_path_calc_generalized(const tal_forces *forces, tal_state *state, tal_path_ix path,
                                     double g[])
{
    if (tali_path_at(forces, path, __func__) == NULL) return tal_contract_last()->status;
    if (g == NULL) return TALI_BREACH(TAL_ERR_NULL, "an output is NULL");
    tal_status st = known(forces, state, false, __func__);
    if (st != TAL_OK) return st;
    const size_t mark = tal_state_scratch_mark(state);
    tali_path_carrier carrier;
    st = tali_path_begin_carrying(forces, state, &forces->paths.items[path.i], &carrier);
    if (st == TAL_OK) tali_path_carry(&carrier, path.i, g);
    tal_state_scratch_release(state, mark);
    return st;
}
