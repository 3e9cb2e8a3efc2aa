// How a path changes in a small motion: its length, its speed, and what a tension of one does.
//
// A straight piece from a to b, of length l and direction d, turns by
//
//     dd = (1 - d d^T) (db - da) / l
//
// Where the string begins to lie on an obstacle, it moves with the obstacle, and over its surface:
// along the string, which turns nothing, and by s to the left b = n x d; there it also turns by g.
// Where it ends, that has become a s + r g and da s + dr g (tal_wrap_spread). The straight pieces
// before and behind continue the string, so with the motions p of the body's points and its turn w
//
//     l g = (p - p_before) . b + s - l (w x d) . b
//     l (da s + dr g) = (p_behind - p) . b - (a s + r g) - l (w x d) . b
//
// are two equations for the s and g of each obstacle; if before or behind is another obstacle, its
// own step to the left is part of that motion.
#include "cache_internal.h"

#include "core/forces_internal.h"

#include <math.h>
#include <string.h>

// --- what is known of a path where it is ---

// The left at both ends of an arc, and how its neighbors spread.
static tal_status spread_arc(const tali_path_arg *arg, const tali_path_line *line, int k,
                             tali_path_knot knots[])
{
    const tali_path_node *node = &line->nodes[k];
    const int i = line->path->over[node->over].wrap;
    const tali_path_wrap *wrap = &arg->forces->paths.wraps[i];
    const tal_xform X_GW = tal_xf_mul(*tal_view_X_GM(&arg->poses, wrap->body), arg->X_MW[i]);
    const tal_vec3 p_W[2] = {tal_xf_inv_apply(X_GW, node[0].p_GS),
                             tal_xf_inv_apply(X_GW, node[1].p_GS)};
    const tal_wrap_arc arc = {
        .p = {p_W[0], p_W[1]}, .t = {node->t_W, node[1].t_W}, .length = node->arc};
    const tal_status st = tal_wrap_calc_spread(&wrap->shape, &arc, &knots[k].spread);
    for (int j = 0; j < 2 && st == TAL_OK; ++j) {
        knots[k + j].left_G = tal_m3_mul_v3(X_GW.R, knots[k].spread.left[j]);
    }
    return st;
}

static tal_status tie_knots(const tali_path_arg *arg, const tali_path_line *line,
                            tali_path_knot knots[])
{
    for (int k = 0; k < line->num; ++k) {
        const tali_path_node *node = &line->nodes[k];
        knots[k] = (tali_path_knot){.p_MS_G = node->p_MS_G,
                                    .p_GS = node->p_GS,
                                    .body = node->body,
                                    .point = node->point,
                                    .is_arc = node->arc >= 0.0};
    }
    tal_status st = TAL_OK;
    for (int k = 0; k + 1 < line->num && st == TAL_OK; ++k) {
        if (knots[k].is_arc) st = spread_arc(arg, line, k, knots);
    }
    return st;
}

// Where the parts of the entry are: how many knots each path has, then the knots.
typedef struct ties {
    int *num;
    tali_path_knot *knots;
} ties;

static size_t knots_at(const tali_paths *all)
{
    size_t size = 0;
    (void)tali_piece_at(&size, (size_t)all->num * sizeof(int));
    return size;
}

size_t tali_path_ties_size(const tali_paths *all)
{
    size_t size = knots_at(all);
    (void)tali_piece_at(&size, (size_t)all->num_loads * sizeof(tali_path_knot));
    return size;
}

static ties ties_in(const tali_paths *all, void *bytes)
{
    char *begin = bytes;
    return (ties){(int *)bytes, (tali_path_knot *)(void *)(begin + knots_at(all))};
}

// Knots of all paths that know their change; the others have none.
static tal_status calc_ties(const tal_forces *forces, tal_state *state)
{
    const tali_paths *all = &forces->paths;
    const tali_path_arg arg = tali_path_arg_of(forces, state);
    if (arg.poses.bytes == NULL) return TAL_ERR_STAGE;
    const size_t mark = tal_state_scratch_mark(state);
    const size_t bytes = (size_t)all->max_nodes * sizeof(tali_path_node);
    tali_path_line line = {.nodes = tal_state_scratch_take(state, bytes)};
    tal_status st = line.nodes != NULL ? TAL_OK : TAL_ERR_CAPACITY;
    const ties to = ties_in(all, tali_cache_begin(forces->system, state, all->ties));
    for (int i = 0; i < all->num && st == TAL_OK; ++i) {
        line.path = &all->items[i];
        line.num = 0;
        if (line.path->knows_change && line.path->length == NULL) {
            st = tali_path_draw(&arg, &line);
            if (st == TAL_OK) st = tie_knots(&arg, &line, to.knots + line.path->first_load);
        }
        to.num[i] = line.num;
    }
    tal_state_scratch_release(state, mark);
    if (st == TAL_OK) tali_cache_end(forces->system, state, all->ties);
    return st;
}

// --- how its points move ---

// A knot in the motion.
typedef struct motion {
    tal_vec3 dp;         // of the point in Ground
    tal_vec3 darm;       // of the point from Mo
    tal_vec3 pull, turn; // sum of the directions to its neighbors, and the change of that
} motion;

// What the motion of one path is found from.
typedef struct task {
    const tali_path_arg *arg;
    const tal_force_context *context;
    const tal_force_change *by;
    const tali_path *path;
    const tali_path_knot *knots;
    int num;
    motion *at;   // [num]
    double *rows; // of the equations of all arcs
} task;

// Where matter's first coordinate is among those of the State.
static int first_slot(const task *it)
{
    return tal_body_q_start(it->context->matter, it->context->state, (tal_body_ix){1});
}

// How far a coordinate moves.
static double step_of(const task *it, tal_mobility at)
{
    const int slot = tali_path_slot(it->arg->forces, it->arg->state, at);
    return it->by->dq[slot - first_slot(it)];
}

// How far a moving point moves on its body.
static tal_vec3 slide_of(const task *it, const tali_path_knot *knot)
{
    const tali_path_track *track = it->path->points[knot->point].track;
    const tal_body_ix body = {knot->body};
    const tal_mat3 R_MB = tal_body_X_MB(it->context->matter, it->context->state, body).R;
    const tal_mat3 R_GM = tal_view_X_GM(&it->context->poses, knot->body)->R;
    double dp_P[3];
    for (int k = 0; k < 3; ++k) {
        dp_P[k] = tali_path_component_of(it->arg, track, k, 1).slope * step_of(it, track->at[k]);
    }
    const tal_vec3 dp_B = tal_m3_mul_v3(track->X_BP.R, tal_v3(dp_P[0], dp_P[1], dp_P[2]));
    return tal_m3_mul_v3(R_GM, tal_m3_mul_v3(R_MB, dp_B));
}

// With the bodies, and with what coordinates move points on them.
static void move_with_bodies(const task *it)
{
    for (int k = 0; k < it->num; ++k) {
        const tali_path_knot *knot = &it->knots[k];
        const tal_spatial_vec dX = it->by->dX[knot->body];
        tal_vec3 darm = tal_v3_cross(dX.w, knot->p_MS_G);
        const bool is_moving = knot->point >= 0 && it->path->points[knot->point].track != NULL;
        if (is_moving) darm = tal_v3_add(darm, slide_of(it, knot));
        it->at[k] = (motion){.dp = tal_v3_add(dX.v, darm), .darm = darm};
    }
}

// --- over obstacles ---

static tal_vec3 direction(const task *it, int k, double *length)
{
    const tal_vec3 p = tal_v3_sub(it->knots[k].p_GS, it->knots[k - 1].p_GS);
    *length = tal_v3_norm(p);
    return tal_v3_scale(*length > TALI_FORCE_LEAST_DISTANCE ? 1.0 / *length : 0.0, p);
}

static bool ends_arc(const task *it, int k)
{
    return k > 0 && it->knots[k - 1].is_arc;
}

// How far (b.p' - b.p) and l (w x d) . b go into an equation, for the piece that ends at knot `k`
// and the left of the obstacle that knot `on` is on.
static double apart(const task *it, int k, int on, double *length)
{
    const tal_vec3 d = direction(it, k, length), b = it->knots[on].left_G;
    const tal_vec3 w = it->by->dX[it->knots[on].body].w;
    const tal_vec3 dp = tal_v3_sub(it->at[k].dp, it->at[k - 1].dp);
    return tal_v3_dot(tal_v3_sub(dp, tal_v3_scale(*length, tal_v3_cross(w, d))), b);
}

// The two rows of the arc that begins at knot k, whose unknowns are in the columns c and c + 1.
// Those of the arc before are left of them, those of the arc behind right.
static void write_rows(const task *it, int k, int c, int n)
{
    const tal_wrap_spread *by = &it->knots[k].spread;
    double *before = it->rows + (size_t)c * (size_t)(n + 1), *behind = before + n + 1, l;
    const tal_vec3 b1 = it->knots[k].left_G, b2 = it->knots[k + 1].left_G;
    before[n] = -apart(it, k, k, &l);
    before[c] = 1.0;
    before[c + 1] = -l;
    if (ends_arc(it, k - 1)) {
        const double same = tal_v3_dot(b1, it->knots[k - 1].left_G);
        before[c - 2] = -same * it->knots[k - 2].spread.a;
        before[c - 1] = -same * it->knots[k - 2].spread.r;
    }
    behind[n] = apart(it, k + 2, k + 1, &l);
    behind[c] = by->a + l * by->da;
    behind[c + 1] = by->r + l * by->dr;
    if (it->knots[k + 2].is_arc) behind[c + 2] = -tal_v3_dot(b2, it->knots[k + 2].left_G);
}

// Gauss's elimination with partial pivoting, in rows of n + 1 numbers; the solution is in the last
// column. Nothing else is needed of a matrix as small as this. False where it is singular.
static bool solve(double rows[], int n)
{
    const int w = n + 1;
    for (int j = 0; j < n; ++j) {
        int best = j;
        for (int i = j + 1; i < n; ++i) {
            if (fabs(rows[i * w + j]) > fabs(rows[best * w + j])) best = i;
        }
        if (!(fabs(rows[best * w + j]) > 0.0)) return false;
        for (int c = j; c < w && best != j; ++c) {
            const double kept = rows[j * w + c];
            rows[j * w + c] = rows[best * w + c];
            rows[best * w + c] = kept;
        }
        for (int i = 0; i < n; ++i) {
            const double by = rows[i * w + j] / rows[j * w + j];
            for (int c = j; c < w && i != j && by != 0.0; ++c) {
                rows[i * w + c] -= by * rows[j * w + c];
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        rows[i * w + n] /= rows[i * w + i];
    }
    return true;
}

static void step_left(const task *it, int k, double by)
{
    it->at[k].dp = tal_v3_axpy(by, it->knots[k].left_G, it->at[k].dp);
    it->at[k].darm = tal_v3_axpy(by, it->knots[k].left_G, it->at[k].darm);
}

// The points on obstacles move to the left as the straight pieces ask.
static tal_status move_over_obstacles(const task *it)
{
    int n = 0;
    for (int k = 0; k < it->num; ++k) {
        n += it->knots[k].is_arc ? 2 : 0;
    }
    if (n == 0) return TAL_OK;
    memset(it->rows, 0, (size_t)n * (size_t)(n + 1) * sizeof *it->rows);
    for (int k = 0, c = 0; k < it->num; ++k) {
        if (!it->knots[k].is_arc) continue;
        write_rows(it, k, c, n);
        c += 2;
    }
    if (!solve(it->rows, n)) {
        return tal_state_fail(it->arg->state, TAL_ERR_SINGULAR,
                              "path '%s' is about to jump: it has no derivative here",
                              it->path->name);
    }
    for (int k = 0, c = 0; k < it->num; ++k) {
        if (!it->knots[k].is_arc) continue;
        const tal_wrap_spread *by = &it->knots[k].spread;
        const double s = it->rows[c * (n + 1) + n], g = it->rows[(c + 1) * (n + 1) + n];
        step_left(it, k, s);
        step_left(it, k + 1, by->a * s + by->r * g);
        c += 2;
    }
    return TAL_OK;
}

// --- what a tension of one does ---

static void add_load(const task *it, int k, tal_vec3 d, tal_vec3 dd, tali_path_change *to)
{
    const tali_path_knot *knot = &it->knots[k];
    const tal_vec3 dm = tal_v3_add(tal_v3_cross(it->at[k].darm, d), tal_v3_cross(knot->p_MS_G, dd));
    to->loads[to->num_loads++] = (tali_path_load){tal_sv(dm, dd), knot->body};
}

// Straight pieces pull at their ends, unless one body holds both.
static void turn_pieces(const task *it, tali_path_change *to)
{
    for (int k = 1; k < it->num; ++k) {
        if (it->knots[k - 1].is_arc) continue;
        double l;
        const tal_vec3 d = direction(it, k, &l);
        if (!(l > TALI_FORCE_LEAST_DISTANCE)) continue; // no direction, no force
        const tal_vec3 dp = tal_v3_sub(it->at[k].dp, it->at[k - 1].dp);
        const tal_vec3 dd = tal_v3_scale(1.0 / l, tal_v3_axpy(-tal_v3_dot(d, dp), d, dp));
        motion *from = &it->at[k - 1], *at = &it->at[k];
        from->pull = tal_v3_add(from->pull, d), from->turn = tal_v3_add(from->turn, dd);
        at->pull = tal_v3_sub(at->pull, d), at->turn = tal_v3_sub(at->turn, dd);
        if (it->knots[k - 1].body == it->knots[k].body) continue;
        add_load(it, k - 1, d, dd, to);
        add_load(it, k, tal_v3_neg(d), tal_v3_neg(dd), to);
    }
}

// A force f along a coordinate whose qdot is u, and its change.
static void add_push(const task *it, tal_mobility at, double f, double df, tali_path_change *to)
{
    const int u = tal_body_u_start(it->context->matter, at.body) + at.i;
    to->pushes[to->num_pushes++] = (tali_path_swing){f, df, u, at};
}

// What the pull at a moving point does along its coordinates: slope times the pull in P.
static void push_point(const task *it, int k, tali_path_change *to)
{
    const tali_path_knot *knot = &it->knots[k];
    const tali_path_track *track = it->path->points[knot->point].track;
    const tal_body_ix body = {knot->body};
    const tal_mat3 R_MB = tal_body_X_MB(it->context->matter, it->context->state, body).R;
    const tal_mat3 R_GP = tal_m3_mul(tal_view_X_GM(&it->context->poses, knot->body)->R,
                                     tal_m3_mul(R_MB, track->X_BP.R));
    const tal_vec3 w = it->by->dX[knot->body].w, pull = it->at[k].pull;
    const tal_vec3 pull_P = tal_m3_tmul_v3(R_GP, pull);
    const tal_vec3 turn_P = tal_m3_tmul_v3(R_GP, tal_v3_sub(it->at[k].turn, tal_v3_cross(w, pull)));
    for (int j = 0; j < 3; ++j) {
        const tali_path_component on = tali_path_component_of(it->arg, track, j, 2);
        const double p = tal_v3_at(pull_P, (tal_axis)j), dp = tal_v3_at(turn_P, (tal_axis)j);
        const double bent = on.bend * step_of(it, track->at[j]);
        if (on.slope == 0.0 && bent == 0.0) continue;
        add_push(it, track->at[j], on.slope * p, bent * p + on.slope * dp, to);
    }
}

static void push_points(const task *it, tali_path_change *to)
{
    for (int k = 0; k < it->num; ++k) {
        const int point = it->knots[k].point;
        if (point >= 0 && it->path->points[point].track != NULL) push_point(it, k, to);
    }
}

// A length that is a function of coordinates: forces -dl/dq.
static void push_function(const task *it, tali_path_change *to)
{
    const tali_path *path = it->path;
    double q[TAL_FUNCTION_MAX_ARGS];
    for (int k = 0; k < path->num_at; ++k) {
        q[k] = tal_state_q(
            it->arg->state)[tali_path_slot(it->arg->forces, it->arg->state, path->at[k])];
    }
    for (int k = 0; k < path->num_at; ++k) {
        double df = 0.0;
        for (int j = 0; j < path->num_at; ++j) {
            const int both[2] = {k, j};
            const double bend =
                tal_function_calc_derivative(path->length, q, path->num_at, both, 2);
            df -= bend * step_of(it, path->at[j]);
        }
        const double f = -tal_function_calc_derivative(path->length, q, path->num_at, &k, 1);
        add_push(it, path->at[k], f, df, to);
    }
}

// --- length and speed ---

// dl = -(work of a tension of one), and dl/dt = -(its power) changes with forces and velocities.
static void add_lengths(const task *it, const tali_path_pulls *pulls, int i, tali_path_change *to)
{
    const tal_forces *forces = it->arg->forces;
    const tali_path_load *loads = pulls->loads + it->path->first_load;
    for (int k = 0; k < pulls->touch[i].num_loads; ++k) {
        to->l -= tal_sv_dot(loads[k].F_GM, it->by->dX[loads[k].body]);
        to->ldot -= tal_sv_dot(loads[k].F_GM, it->by->dV[loads[k].body]);
    }
    for (int k = 0; k < to->num_loads; ++k) {
        const tal_spatial_vec *V_GM = tal_view_V_GM(&it->context->velocities, to->loads[k].body);
        to->ldot -= tal_sv_dot(to->loads[k].F_GM, *V_GM);
    }
    for (int k = 0; k < to->num_pushes; ++k) {
        const tali_path_swing *push = &to->pushes[k];
        const double u = tal_body_u(forces->matter, it->arg->state, push->at.body, push->at.i);
        to->l -= push->f * step_of(it, push->at);
        to->ldot -= push->df * u + push->f * it->by->du[push->u];
    }
}

// --- all together ---

size_t tali_path_change_room(const tali_paths *all)
{
    const size_t n = (size_t)all->max_nodes, rows = 2 * (size_t)all->max_over;
    return tali_align(n * sizeof(motion)) + tali_align(rows * (rows + 1) * sizeof(double)) +
           tali_align(2 * n * sizeof(tali_path_load)) +
           tali_align((size_t)all->num_pushes * sizeof(tali_path_swing)) + 4 * TAL_ALIGNMENT;
}

static bool take_room(const tali_paths *all, tal_state *state, task *it, tali_path_change *to)
{
    const size_t n = (size_t)all->max_nodes, rows = 2 * (size_t)all->max_over;
    it->at = tal_state_scratch_take(state, (n + 1) * sizeof *it->at);
    it->rows = tal_state_scratch_take(state, (rows + 1) * (rows + 1) * sizeof *it->rows);
    to->loads = tal_state_scratch_take(state, (2 * n + 1) * sizeof *to->loads);
    to->pushes = tal_state_scratch_take(state, ((size_t)all->num_pushes + 1) * sizeof *to->pushes);
    return it->at != NULL && it->rows != NULL && to->loads != NULL && to->pushes != NULL;
}

tal_status tali_path_calc_change(const tal_forces *forces, const tal_force_context *context, int i,
                                 const tal_force_change *change, tali_path_change *to)
{
    const tali_paths *all = &forces->paths;
    tal_state *state = context->state;
    const tali_path_arg arg = tali_path_arg_of(forces, state);
    task it = {.arg = &arg, .context = context, .by = change, .path = &all->items[i]};
    *to = (tali_path_change){.path = i};
    tal_status st = tali_paths_realize(forces, state, true);
    if (st == TAL_OK && !tal_cache_is_valid(forces->system, state, all->ties)) {
        st = calc_ties(forces, state);
    }
    if (st != TAL_OK) return st;
    if (!take_room(all, state, &it, to)) return TAL_ERR_CAPACITY;
    const ties known = ties_in(all, tali_cache_upd_at(forces->system, state, all->ties));
    it.knots = known.knots + it.path->first_load;
    it.num = known.num[i];
    move_with_bodies(&it);
    st = move_over_obstacles(&it);
    if (st != TAL_OK) return st;
    turn_pieces(&it, to);
    if (it.path->length != NULL) push_function(&it, to);
    push_points(&it, to);
    const tali_path_pulls pulls = tali_path_pulls_of(forces, state);
    add_lengths(&it, &pulls, i, to);
    return TAL_OK;
}

void tali_path_add_change(const tal_forces *forces, tal_state *state, const tali_path_change *by,
                          double tension, double dtension, tal_spatial_vec dF[], double df[])
{
    const tali_path_pulls pulls = tali_path_pulls_of(forces, state);
    const tali_path_load *loads = pulls.loads + forces->paths.items[by->path].first_load;
    for (int k = 0; k < pulls.touch[by->path].num_loads; ++k) {
        tal_spatial_vec *on = &dF[loads[k].body];
        *on = tal_sv_axpy(dtension, loads[k].F_GM, *on);
    }
    for (int k = 0; k < by->num_loads; ++k) {
        tal_spatial_vec *on = &dF[by->loads[k].body];
        *on = tal_sv_axpy(tension, by->loads[k].F_GM, *on);
    }
    for (int k = 0; k < by->num_pushes; ++k) {
        const tali_path_swing *push = &by->pushes[k];
        df[push->u] += dtension * push->f + tension * push->df;
    }
}
