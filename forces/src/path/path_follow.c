// A path at one instant: which points it goes through, where it lies on obstacles, its length, and
// what a tension of one does.
//
// Several obstacles act together. Each is given its own exact string while the others stay, one
// after the other, until nothing moves: the length falls with every turn, so this converges to a
// shortest path (coordinate descent). Nothing is remembered from one State to the next.
#include "core/forces_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// A conditional point stays while its coordinate is outside of its range by less [rad or m].
static const double RANGE_MARGIN = 1e-5;

// Points of contact that move by less have settled: relative to the path, and [m].
static const double SETTLED = 1e-14, SETTLED_AT = 1e-15;

enum {
    MAX_SWEEPS = 1000
};

// --- points ---

TAL_ALWAYS_INLINE tali_path_node node_at(const tali_path_station *station,
                                         const tal_bodies_view *poses)
{
    const tal_xform *X_GM = tal_view_X_GM(poses, station->body);
    const tal_vec3 p_MS_G = tal_m3_mul_v3(X_GM->R, station->p_MS);
    return (tali_path_node){.p_MS_G = p_MS_G,
                            .p_GS = tal_v3_add(X_GM->p, p_MS_G),
                            .body = station->body,
                            .point = -1,
                            .over = -1,
                            .arc = -1.0};
}

static double coordinate(const tali_path_arg *arg, tal_mobility at)
{
    return tal_state_q(arg->state)[tali_path_slot(arg->forces, arg->state, at)];
}

// OpenSim gives conditional points 1e-5 to spare.
bool tali_path_is_active(const tali_path_arg *arg, const tali_path_point *point)
{
    if (point->kind != TALI_PATH_CONDITIONAL) return true;
    const double q = coordinate(arg, point->when);
    return q >= point->low - RANGE_MARGIN && q <= point->high + RANGE_MARGIN;
}

tali_path_component tali_path_component_of(const tali_path_arg *arg, const tali_path_track *track,
                                           int k, int order)
{
    const tal_mobility at = track->at[k];
    const tal_function *f = track->f[k];
    const int i = tali_path_slot(arg->forces, arg->state, at) -
                  tal_body_q_start(arg->forces->matter, arg->state, at.body);
    double low = 0.0, high = 0.0;
    (void)tal_body_range(arg->forces->matter, arg->state, at.body, i, &low, &high);
    const double q = coordinate(arg, at), within = fmin(fmax(q, low), high);
    tali_path_component on = {.value = tal_function_calc_value_1(f, within)};
    if (within == q && order > 0) on.slope = tal_function_calc_derivative_1(f, q, 1);
    if (within == q && order > 1) on.bend = tal_function_calc_derivative_1(f, q, 2);
    return on;
}

static tali_path_station moved(const tali_path_arg *arg, const tali_path_point *point)
{
    double p[3];
    for (int k = 0; k < 3; ++k) {
        p[k] = tali_path_component_of(arg, point->track, k, 0).value;
    }
    const tal_body_ix body = {point->body};
    const tal_xform X_MB = tal_body_X_MB(arg->forces->matter, arg->state, body);
    const tal_vec3 p_BS = tal_xf_apply(point->track->X_BP, tal_v3(p[0], p[1], p[2]));
    return (tali_path_station){tal_xf_apply(X_MB, p_BS), point->body};
}

// The points that are part of the path, in line.
static tal_status line_up(const tali_path_arg *arg, tali_path_line *line)
{
    const tali_path *path = line->path;
    line->num = 0;
    const tali_path_point *off = NULL;
    for (int k = 0; k < path->num_points; ++k) {
        const tali_path_point *point = &path->points[k];
        if (!tali_path_is_active(arg, point)) {
            off = point;
            continue;
        }
        const bool moves = point->kind == TALI_PATH_MOVING;
        const tali_path_station station =
            moves ? moved(arg, point) : arg->stations[path->first_point + k];
        tali_path_node *node = &line->nodes[line->num++];
        *node = node_at(&station, &arg->poses);
        node->point = k;
    }
    if (line->num >= 2 || off == NULL) return TAL_OK;
    return tal_state_fail(arg->state, TAL_ERR_BAD_VALUE,
                          "path '%s' has %d active points with coordinate %d of body '%s' at %g: "
                          "it needs two",
                          path->name, line->num, off->when.i,
                          tal_body_name(arg->forces->matter, off->when.body),
                          coordinate(arg, off->when));
}

// --- obstacles ---

// An obstacle of a path at one instant.
typedef struct hurdle {
    const tali_path_wrap *wrap;
    tal_xform X_GW;
    int over;
} hurdle;

// Where a string over an obstacle is put: after node `at`.
typedef struct choice {
    int at;
    tal_wrap_contact contact;
    tal_wrap_arc arc;
    double detour;
} choice;

// Remove the nodes of an obstacle; where they were, in W.
static bool take_off(tali_path_line *line, int over, tal_vec3 p_GS[2])
{
    for (int k = 0; k + 1 < line->num; ++k) {
        if (line->nodes[k].over != over) continue;
        p_GS[0] = line->nodes[k].p_GS;
        p_GS[1] = line->nodes[k + 1].p_GS;
        const size_t rest = (size_t)(line->num - k - 2);
        memmove(&line->nodes[k], &line->nodes[k + 2], rest * sizeof *line->nodes);
        line->num -= 2;
        return true;
    }
    return false;
}

static void put_on(tali_path_line *line, const hurdle *it, const choice *chosen,
                   const tal_bodies_view *poses)
{
    tali_path_node *at = &line->nodes[chosen->at + 1];
    const size_t rest = (size_t)(line->num - chosen->at - 1);
    memmove(at + 2, at, rest * sizeof *at);
    for (int k = 0; k < 2; ++k) {
        const tal_vec3 p_GS = tal_xf_apply(it->X_GW, chosen->arc.p[k]);
        const tal_vec3 p_GM = tal_view_X_GM(poses, it->wrap->body)->p;
        at[k] = (tali_path_node){.p_MS_G = tal_v3_sub(p_GS, p_GM),
                                 .p_GS = p_GS,
                                 .body = it->wrap->body,
                                 .point = -1,
                                 .over = it->over,
                                 .arc = k == 0 ? chosen->arc.length : -1.0,
                                 .t_W = chosen->arc.t[k]};
    }
    line->num += 2;
}

// The nodes between which an obstacle lies; the nearest active ones inward.
static void stretch_of(const tali_path_line *line, const tali_path_over *over, int range[2])
{
    range[0] = line->num;
    range[1] = -1;
    for (int k = 0; k < line->num; ++k) {
        const int point = line->nodes[k].point;
        if (point >= over->first && k < range[0]) range[0] = k;
        if (point >= 0 && point <= over->last) range[1] = k;
    }
}

static double detour_of(const tal_wrap_arc *arc, tal_vec3 p1, tal_vec3 p2)
{
    return arc->lift[0] + arc->length + arc->lift[1] - tal_v3_norm(tal_v3_sub(p2, p1));
}

static tal_status fail_wrap(const tali_path_arg *arg, const tali_path_line *line, const hurdle *it)
{
    return tal_state_fail(arg->state, TAL_ERR_NO_CONVERGENCE,
                          "path '%s': no string over obstacle '%s' was found between its points: "
                          "move the points or the obstacle",
                          line->path->name, it->wrap->name);
}

// Which straight piece lies on the obstacle; `at` < 0 where none does.
static tal_status choose(const tali_path_arg *arg, tali_path_line *line, const hurdle *it,
                         choice *best, bool *is_inside)
{
    int range[2];
    stretch_of(line, &line->path->over[it->over], range);
    *is_inside = false;
    for (int k = range[0]; k < range[1]; ++k) {
        if (line->nodes[k].arc >= 0.0) continue; // on another obstacle
        choice here = {.at = k};
        const tal_vec3 p1 = tal_xf_inv_apply(it->X_GW, line->nodes[k].p_GS);
        const tal_vec3 p2 = tal_xf_inv_apply(it->X_GW, line->nodes[k + 1].p_GS);
        here.contact = tal_wrap_find(&it->wrap->shape, p1, p2, &here.arc);
        if (here.contact == TAL_WRAP_FAILED) return fail_wrap(arg, line, it);
        if (here.contact == TAL_WRAP_INSIDE) *is_inside = true;
        if (here.contact != TAL_WRAP_BENT && here.contact != TAL_WRAP_FORCED) continue;
        here.detour = detour_of(&here.arc, p1, p2);
        if (here.contact == TAL_WRAP_BENT || best->at < 0 || here.detour < best->detour) {
            *best = here;
        }
        if (here.contact == TAL_WRAP_BENT) break;
    }
    return TAL_OK;
}

// Lay the path over one obstacle again; how far it moved there, infinite if it came or went.
static tal_status lay_over(const tali_path_arg *arg, tali_path_line *line, const hurdle *it,
                           double *moved_by)
{
    tal_vec3 before[2];
    choice best = {.at = -1};
    bool is_inside;
    const bool was_on = take_off(line, it->over, before);
    const tal_status st = choose(arg, line, it, &best, &is_inside);
    if (st != TAL_OK) return st;
    const bool is_on = best.at >= 0;
    *moved_by = was_on == is_on ? 0.0 : DBL_MAX;
    const uint64_t bit = (uint64_t)1 << it->over;
    line->on = is_on ? line->on | bit : line->on & ~bit;
    line->inside = is_inside && !is_on ? line->inside | bit : line->inside & ~bit;
    if (!is_on) return TAL_OK;
    put_on(line, it, &best, &arg->poses);
    for (int k = 0; was_on && k < 2; ++k) {
        const tal_vec3 by = tal_v3_sub(line->nodes[best.at + 1 + k].p_GS, before[k]);
        *moved_by = fmax(*moved_by, tal_v3_norm(by));
    }
    return TAL_OK;
}

static hurdle hurdle_of(const tali_path_arg *arg, const tali_path *path, int over)
{
    const int i = path->over[over].wrap;
    const tali_path_wrap *wrap = &arg->forces->paths.wraps[i];
    const tal_xform X_GW = tal_xf_mul(*tal_view_X_GM(&arg->poses, wrap->body), arg->X_MW[i]);
    return (hurdle){wrap, X_GW, over};
}

// One turn over all obstacles; the farthest move.
static tal_status sweep(const tali_path_arg *arg, tali_path_line *line, double *farthest)
{
    *farthest = 0.0;
    for (int k = 0; k < line->path->num_over; ++k) {
        const hurdle it = hurdle_of(arg, line->path, k);
        double moved_by = 0.0;
        const tal_status st = lay_over(arg, line, &it, &moved_by);
        if (st != TAL_OK) return st;
        *farthest = fmax(*farthest, moved_by);
    }
    return TAL_OK;
}

tal_status tali_path_draw(const tali_path_arg *arg, tali_path_line *line)
{
    tal_status st = line_up(arg, line);
    line->on = 0;
    line->inside = 0;
    if (st != TAL_OK || line->path->num_over == 0) return st;
    for (int i = 0; i < MAX_SWEEPS; ++i) {
        double farthest;
        st = sweep(arg, line, &farthest);
        if (st != TAL_OK || line->path->num_over == 1) return st;
        const tal_vec3 ends = tal_v3_sub(line->nodes[line->num - 1].p_GS, line->nodes[0].p_GS);
        if (farthest <= SETTLED * tal_v3_norm(ends) + SETTLED_AT) return TAL_OK;
    }
    return tal_state_fail(arg->state, TAL_ERR_NO_CONVERGENCE,
                          "path '%s' does not settle on its %d obstacles: they push it from one to "
                          "another",
                          line->path->name, line->path->num_over);
}

// --- what a tension of one does ---

// The loads of one path, as they are found along it.
typedef struct loads {
    tali_path_load *items;
    int num;
} loads;

// A pull at a node; it joins the one before if that is on the same body.
TAL_ALWAYS_INLINE void add_pull(loads *to, const tali_path_node *at, tal_vec3 f_G)
{
    const tal_spatial_vec F = tal_sv(tal_v3_cross(at->p_MS_G, f_G), f_G);
    tali_path_load *last = to->num > 0 ? &to->items[to->num - 1] : NULL;
    if (last != NULL && last->body == at->body) {
        last->F_GM = tal_sv_add(last->F_GM, F);
    } else {
        to->items[to->num++] = (tali_path_load){F, at->body};
    }
}

// Length of a chord and its direction, zero where the ends meet.
TAL_ALWAYS_INLINE double chord(const tali_path_node *from, const tali_path_node *at, tal_vec3 *d_G)
{
    const tal_vec3 p = tal_v3_sub(at->p_GS, from->p_GS);
    const double length = tal_v3_norm(p);
    *d_G = tal_v3_scale(length > TALI_FORCE_LEAST_DISTANCE ? 1.0 / length : 0.0, p);
    return length;
}

// Ends of a chord pull each other, unless one body holds both.
TAL_ALWAYS_INLINE void pull_ends(loads *to, const tali_path_node *from, const tali_path_node *at,
                                 tal_vec3 d_G)
{
    if (from->body == at->body) return;
    add_pull(to, from, d_G);
    add_pull(to, at, tal_v3_neg(d_G));
}

static double follow_plain(const tali_path *path, const tali_path_arg *arg, loads *to)
{
    const tali_path_station *stations = arg->stations + path->first_point;
    tali_path_node from = node_at(&stations[0], &arg->poses);
    double length = 0.0;
    for (int k = 1; k < path->num_points; ++k) {
        const tali_path_node at = node_at(&stations[k], &arg->poses);
        tal_vec3 d_G;
        length += chord(&from, &at, &d_G);
        pull_ends(to, &from, &at, d_G);
        from = at;
    }
    return length;
}

static double follow_line(tali_path_line *line, loads *to)
{
    double length = 0.0;
    for (int k = 0; k < line->num; ++k) {
        line->nodes[k].pull = TAL_VEC3_ZERO;
    }
    for (int k = 1; k < line->num; ++k) {
        tali_path_node *from = &line->nodes[k - 1], *at = &line->nodes[k];
        if (from->arc >= 0.0) {
            length += from->arc; // both ends are on the obstacle's body
            continue;
        }
        tal_vec3 d_G;
        length += chord(from, at, &d_G);
        pull_ends(to, from, at, d_G);
        from->pull = tal_v3_add(from->pull, d_G);
        at->pull = tal_v3_sub(at->pull, d_G);
    }
    return length;
}

// --- coordinates ---

// A force along a coordinate as forces along the speeds of its body: N^T f_q.
static tal_status add_push(const tali_path_arg *arg, tal_mobility at, double f, int *num,
                           tali_path_push pushes[])
{
    const tal_matter *matter = arg->forces->matter;
    double f_q[TAL_MAX_NQ] = {0.0}, f_u[TAL_MAX_NU] = {0.0};
    f_q[tali_path_slot(arg->forces, arg->state, at) -
        tal_body_q_start(matter, arg->state, at.body)] = f;
    const tal_status st = tal_body_mul_N(matter, arg->state, at.body, TAL_N_T, f_q, f_u);
    const int first = tal_body_u_start(matter, at.body);
    for (int j = 0; st == TAL_OK && j < tal_body_nu(matter, at.body); ++j) {
        if (f_u[j] == 0.0) continue;
        pushes[(*num)++] = (tali_path_push){f_u[j], first + j, {at.body, j}};
    }
    return st;
}

// What the pull at a moving point does along its coordinates: (R dp/dq) . pull.
static tal_status push_point(const tali_path_arg *arg, const tali_path_node *node,
                             const tali_path_track *track, int *num, tali_path_push pushes[])
{
    const tal_body_ix body = {node->body};
    const tal_mat3 R_MB = tal_body_X_MB(arg->forces->matter, arg->state, body).R;
    const tal_mat3 R_GM = tal_view_X_GM(&arg->poses, node->body)->R;
    const tal_vec3 pull_B = tal_m3_tmul_v3(R_MB, tal_m3_tmul_v3(R_GM, node->pull));
    const tal_vec3 pull_P = tal_m3_tmul_v3(track->X_BP.R, pull_B);
    tal_status st = TAL_OK;
    for (int k = 0; k < 3 && st == TAL_OK; ++k) {
        const double slope = tali_path_component_of(arg, track, k, 1).slope;
        if (slope == 0.0) continue;
        const double f = slope * tal_v3_at(pull_P, (tal_axis)k);
        st = add_push(arg, track->at[k], f, num, pushes);
    }
    return st;
}

static tal_status push_points(const tali_path_arg *arg, const tali_path_line *line, int *num,
                              tali_path_push pushes[])
{
    tal_status st = TAL_OK;
    for (int k = 0; k < line->num && st == TAL_OK; ++k) {
        const tali_path_node *node = &line->nodes[k];
        if (node->point < 0) continue;
        const tali_path_track *track = line->path->points[node->point].track;
        if (track != NULL) st = push_point(arg, node, track, num, pushes);
    }
    return st;
}

// A length that is a function of coordinates: forces -dl/dq.
static tal_status follow_function(const tali_path_arg *arg, const tali_path *path, double *length,
                                  int *num, tali_path_push pushes[])
{
    double q[TAL_FUNCTION_MAX_ARGS];
    for (int k = 0; k < path->num_at; ++k) {
        q[k] = coordinate(arg, path->at[k]);
    }
    *length = tal_function_calc_value(path->length, q, path->num_at);
    tal_status st = TAL_OK;
    for (int k = 0; k < path->num_at && st == TAL_OK; ++k) {
        const double slope = tal_function_calc_derivative(path->length, q, path->num_at, &k, 1);
        st = add_push(arg, path->at[k], -slope, num, pushes);
    }
    return st;
}

// --- all together ---

static tal_status follow_points(const tali_path_arg *arg, const tali_path *path, double *length,
                                tali_path_touch *touch, const tali_path_pulls *to)
{
    const size_t mark = tal_state_scratch_mark(arg->state);
    const size_t bytes = (size_t)arg->forces->paths.max_nodes * sizeof(tali_path_node);
    tali_path_line line = {.path = path, .nodes = tal_state_scratch_take(arg->state, bytes)};
    tal_status st = line.nodes != NULL ? tali_path_draw(arg, &line) : TAL_ERR_CAPACITY;
    if (st == TAL_OK) {
        loads on = {to->loads + path->first_load, 0};
        *length = follow_line(&line, &on);
        touch->num_loads = on.num;
        touch->on = line.on;
        touch->inside = line.inside;
        st = push_points(arg, &line, &touch->num_pushes, to->pushes + path->first_push);
    }
    tal_state_scratch_release(arg->state, mark);
    return st;
}

tal_status tali_path_follow(const tali_path_arg *arg, int i, const tali_path_pulls *to)
{
    const tali_path *path = &arg->forces->paths.items[i];
    tali_path_touch *touch = &to->touch[i];
    *touch = (tali_path_touch){.on = 0};
    if (path->is_plain) {
        loads on = {to->loads + path->first_load, 0};
        to->lengths[i] = follow_plain(path, arg, &on);
        touch->num_loads = on.num;
        return TAL_OK;
    }
    if (path->length != NULL) {
        return follow_function(arg, path, &to->lengths[i], &touch->num_pushes,
                               to->pushes + path->first_push);
    }
    return follow_points(arg, path, &to->lengths[i], touch, to);
}
