// Derivatives of the errors and the forces of constraints (theory T-13, "Constraints").
//
// The errors of a constraint depend on how its bodies move relative to their ancestor A, so only
// the speeds between A and them count. Its forces G^T lambda do work on these speeds alone.
#include "constraint/constraint_change_room_internal.h"
#include "derivative/derivative_internal.h"
#include "unilateral/unilateral_internal.h"

/// One constraint at work.
typedef struct subject {
    const tal_matter *matter;
    const tali_tree_view *view;
    const tali_kernel_slopes *slopes;
    const tali_constraint *c;
    int index;
    tali_constraint_row_map map;
    tal_constraint_arg arg;
    tali_constraint_change_room *room;
    tal_mat3 R_GA;
    tal_vec3 w_A, alpha_A;
    tal_spatial_vec *F_G; ///< [num_bodies] its forces about Bo, in Ground
    tal_spatial_vec *sum; ///< [num_bodies] of its bodies: room
} subject;

/// What is wanted.
typedef struct outputs {
    tal_matrix verr_by_q, by_q, by_u;
} outputs;

// Whether body j carries body b, or is it.
static bool carries(const tali_tree *tree, int j, int b)
{
    while (b > j) {
        b = tree->parent[b];
    }
    return b == j;
}

// Whether constrained body `i` moves, seen from A, when a mobility of body j does.
static bool moves(const subject *s, int j, int i)
{
    const tali_tree *tree = s->view->tree;
    return carries(tree, j, s->c->bodies[i]) && !carries(tree, j, s->c->ancestor);
}

// From Mo of body j to Bo of constrained body `i`, in Ground.
static tal_vec3 p_to_body(const subject *s, int j, int i)
{
    const int b = s->c->bodies[i];
    const tal_vec3 p_MM = tal_v3_sub(s->view->pose[b].p_GM, s->view->pose[j].p_GM);
    return tal_v3_add(p_MM, tali_op_p_MB_G(s->view, b));
}

// --- changes of motion ---

static void clear_change(const subject *s)
{
    const tali_constraint_change_room *room = s->room;
    for (int i = 0; i < s->c->ops.num_bodies; ++i) {
        room->dX[i] = room->dV[i] = room->dA[i] = TAL_SPATIAL_VEC_ZERO;
    }
    for (int i = 0; i < s->c->num_mobilities; ++i) {
        room->dq[i] = room->du[i] = room->dudot[i] = 0.0;
    }
}

// Less what A does at the place where the body is: with V = V_B - V_A(p) and
// A = A_B - A_A(p) - (w x w_AB, 2 w x v_AB), and dp the shift of Bo.
static void set_change(const subject *s, int i, tal_vec3 dp, tal_spatial_vec dV, tal_spatial_vec dA)
{
    const tal_vec3 w = s->w_A, turned = tal_v3_cross(w, dp);
    dV.v = tal_v3_sub(dV.v, turned);
    const tal_vec3 carried = tal_v3_add(tal_v3_cross(s->alpha_A, dp), tal_v3_cross(w, turned));
    dA.w = tal_v3_sub(dA.w, tal_v3_cross(w, dV.w));
    dA.v = tal_v3_sub(dA.v, tal_v3_axpy(2.0, tal_v3_cross(w, dV.v), carried));
    s->room->dV[i] = tal_m3_tmul_sv(s->R_GA, dV);
    s->room->dA[i] = tal_m3_tmul_sv(s->R_GA, dA);
}

// The motion of body j along its speed u becomes a change of the arguments: of q, or of the speed.
static void change_along(const subject *s, int j, int u, bool of_q)
{
    const tali_constraint *c = s->c;
    clear_change(s);
    for (int i = 0; i < c->ops.num_bodies; ++i) {
        if (!moves(s, j, i)) continue;
        const tal_vec3 r = tali_op_p_MB_G(s->view, c->bodies[i]);
        const tali_derivative_frame at = tali_derivative_frame_of(s->slopes, c->bodies[i], r);
        const tali_derivative_column by =
            tali_derivative_column_of(s->view, s->slopes, u, p_to_body(s, j, i), &at);
        if (of_q) s->room->dX[i] = tal_m3_tmul_sv(s->R_GA, by.S);
        if (of_q) set_change(s, i, by.S.v, by.V_by_q, by.A_by_q);
        if (!of_q) set_change(s, i, TAL_VEC3_ZERO, by.S, by.A_by_u);
    }
    for (int k = 0; k < c->num_mobilities; ++k) {
        const int at = s->view->tree->u0[c->mobility_bodies[k]] + c->mobility_index[k];
        if (at == u) (of_q ? s->room->dq : s->room->du)[k] = 1.0;
    }
}

// --- forces ---

// D_l S_k of theory eq. 13.2, for speeds l and k of body b.
static tal_spatial_vec column_slope(const subject *s, int b, int l, int k)
{
    const tali_tree_view *view = s->view;
    const tali_tree *tree = view->tree;
    const tal_spatial_vec *H = view->H + tree->u0[b];
    tal_spatial_vec slope = tal_sv(TAL_VEC3_ZERO, tal_v3_cross(H[l].v, H[k].w));
    if (tree->hinge[b] != TALI_HINGE_GENERAL) return slope;
    const tal_mat3 R_GF = tal_m3_mul(view->pose[tree->parent[b]].R_GM, view->constants[b].R_PF);
    const tal_spatial_vec of_H = s->slopes->of_H[tree->d0[b] + l * tree->nu[b] + k];
    return tal_sv_add(slope, tal_m3_mul_sv(R_GF, of_H));
}

// How speed l of body j changes column k of body jk at Bo of constrained body `i`, which both
// carry: what is outboard turns as a whole, and Bo moves away from what is inboard.
static tal_spatial_vec jacobian_slope(const subject *s, int j, int l, int jk, int k, int i)
{
    const tali_tree *tree = s->view->tree;
    const tal_spatial_vec S_l =
        tal_sv_shift_motion(s->view->H[tree->u0[j] + l], p_to_body(s, j, i));
    const tal_vec3 p = p_to_body(s, jk, i);
    const tal_spatial_vec S_k = tal_sv_shift_motion(s->view->H[tree->u0[jk] + k], p);
    if (j < jk) return tal_sv(tal_v3_cross(S_l.w, S_k.w), tal_v3_cross(S_l.w, S_k.v));
    tal_spatial_vec slope = TAL_SPATIAL_VEC_ZERO;
    if (j == jk) slope = tal_sv_shift_motion(column_slope(s, j, l, k), p);
    slope.v = tal_v3_add(slope.v, tal_v3_cross(S_k.w, S_l.v));
    return slope;
}

// The change of G^T lambda along speed k of body jk: of the forces, in `sum`, and with q of J.
static double force_slope(const subject *s, int j, int l, int jk, int k, bool of_q)
{
    const tali_tree *tree = s->view->tree;
    double slope = 0.0;
    for (int i = 0; i < s->c->ops.num_bodies; ++i) {
        if (!moves(s, jk, i)) continue;
        const tal_spatial_vec S_k =
            tal_sv_shift_motion(s->view->H[tree->u0[jk] + k], p_to_body(s, jk, i));
        slope += tal_sv_dot(S_k, s->sum[i]);
        if (!of_q || !moves(s, j, i)) continue;
        slope += tal_sv_dot(jacobian_slope(s, j, l, jk, k, i), s->F_G[i]);
    }
    for (int i = 0; i < s->c->num_mobilities; ++i) {
        const bool is_it = s->c->mobility_bodies[i] == jk && s->c->mobility_index[i] == k;
        if (is_it) slope += s->room->df[i];
    }
    return slope;
}

static void add_force_slopes(const subject *s, int j, int l, bool of_q, double column[])
{
    const tali_tree *tree = s->view->tree;
    const tali_constraint_path_entry *path = s->matter->constraints.path + s->c->path0;
    for (int i = 0; i < s->c->ops.num_bodies; ++i) {
        s->sum[i] = tal_m3_mul_sv(s->R_GA, s->room->dF[i]);
    }
    for (int n = 0; n < s->c->path_len; ++n) {
        const int jk = path[n].body;
        for (int k = 0; k < tree->nu[jk]; ++k) {
            column[tree->u0[jk] + k] += force_slope(s, j, l, jk, k, of_q);
        }
    }
}

// --- one constraint ---

// Errors and forces along speed l of body j, into the columns of that speed.
static tal_status write_columns(const subject *s, int j, int l, const outputs *out)
{
    const tali_constraint *c = s->c;
    const int nu = s->view->tree->num_u, u = s->view->tree->u0[j] + l;
    const int n_v = c->ops.mp + c->ops.mv;
    for (int pass = 0; pass < 2; ++pass) {
        const bool of_q = pass == 0;
        const tal_matrix by = of_q ? out->by_q : out->by_u;
        const bool verr_too = of_q && n_v > 0 && tali_derivative_is_wanted(out->verr_by_q);
        if (!tali_derivative_is_wanted(by) && !verr_too) continue;
        change_along(s, j, u, of_q);
        const tal_status st = tali_constraint_calc_change(c, &s->arg, s->room);
        if (st != TAL_OK) return st;
        for (int r = 0; r < n_v && verr_too; ++r) {
            const int slot = tali_constraint_row_slot(&s->map, c, s->index, r);
            tali_op_column(out->verr_by_q, u)[slot] = s->room->verr[r];
        }
        if (!tali_derivative_is_wanted(by)) continue;
        for (int r = 0; r < tali_constraint_rows(c); ++r) {
            const int slot = tali_constraint_row_slot(&s->map, c, s->index, r);
            tali_op_column(by, u)[nu + slot] = s->room->aerr[r];
        }
        add_force_slopes(s, j, l, of_q, tali_op_column(by, u));
    }
    return TAL_OK;
}

// Its multipliers, the motion of its ancestor, and its forces in Ground.
static tal_status prepare(subject *s, const double lambda[])
{
    const tali_constraint *c = s->c;
    const int A = c->ancestor, rows = tali_constraint_rows(c);
    tali_constraint_change_room *room = s->room;
    for (int r = 0; r < rows; ++r) {
        const int slot = tali_constraint_row_slot(&s->map, c, s->index, r);
        room->lambda[r] = lambda != NULL ? lambda[slot] : 0.0;
    }
    s->R_GA = tal_m3_mul(s->view->pose[A].R_GM, s->view->constants[A].X_MB.R);
    s->w_A = s->view->rates[A].V.w;
    s->alpha_A = s->slopes->A[A].w;
    tali_constraint_clear_change(c, room);
    tal_constraint_arg known = s->arg;
    known.a = NULL, known.udot = NULL;
    if (!c->ops.forces_need_velocity) known.V = NULL, known.u = NULL;
    const tal_status st = c->ops.add_forces(c->self, &known, room->lambda, room->dF, room->df);
    for (int i = 0; i < c->ops.num_bodies && st == TAL_OK; ++i) {
        s->F_G[i] = tal_m3_mul_sv(s->R_GA, room->dF[i]);
    }
    return st;
}

static tal_status write_constraint(subject *s, const double lambda[], const outputs *out)
{
    const tali_tree *tree = s->view->tree;
    const tali_constraint_path_entry *path = s->matter->constraints.path + s->c->path0;
    tal_status st = prepare(s, lambda);
    for (int n = 0; n < s->c->path_len; ++n) {
        for (int l = 0; l < tree->nu[path[n].body] && st == TAL_OK; ++l) {
            st = write_columns(s, path[n].body, l, out);
        }
    }
    return st;
}

// --- all ---

// Sliding friction is in proportion to multipliers, which the derivatives do not follow.
tal_status tali_derivative_check_slides(const tal_matter *matter, tal_state *state)
{
    for (int i = 0; i < matter->unilaterals.count; ++i) {
        if (tali_unilateral_mode_at(matter, state, i) != TAL_UNILATERAL_SLIDE) continue;
        return tal_state_fail(state, TAL_ERR_BAD_VALUE,
                              "element '%s' slides with friction: derivatives of its forces are "
                              "not known",
                              matter->unilaterals.list[i].name);
    }
    return TAL_OK;
}

static void clear(tal_matrix A)
{
    for (int j = 0; j < A.cols && A.rows > 0; ++j) {
        memset(tali_op_column(A, j), 0, (size_t)A.rows * sizeof(double));
    }
}

size_t tali_derivative_constraint_scratch(const tal_matter *matter)
{
    const tali_constraints *cs = &matter->constraints;
    if (cs->count == 0) return 0;
    const size_t n = (size_t)matter->num_bodies, nu = (size_t)matter->tree.num_u + 1;
    const size_t rows = (size_t)cs->max_rows + 1, b = (size_t)cs->max_bodies + 1;
    const size_t lanes = TALI_KERNEL_LANES;
    return tali_derivative_scratch(&matter->tree) + tali_constraints_scratch(matter) +
           tali_align(tali_constraint_change_room_in(cs, NULL, &(tali_constraint_change_room){0})) +
           2 * tali_align(b * sizeof(tal_spatial_vec)) +
           3 * tali_align(n * sizeof(tal_spatial_vec)) +
           (6 + 2 * lanes) * tali_align(nu * sizeof(double)) +
           6 * tali_align(rows * sizeof(double));
}

// Memory for one constraint at a time, from scratch memory that the caller releases.
static bool take_room(tal_state *state, subject *s, tali_constraint_change_room *room)
{
    const tali_constraints *cs = &s->matter->constraints;
    const size_t b = (size_t)cs->max_bodies + 1;
    void *block = tal_state_scratch_take(state, tali_constraint_change_room_in(cs, NULL, room));
    s->F_G = tal_state_scratch_take(state, b * sizeof *s->F_G);
    s->sum = tal_state_scratch_take(state, b * sizeof *s->sum);
    if (block == NULL || s->sum == NULL) return false;
    (void)tali_constraint_change_room_in(cs, block, room);
    s->room = room;
    return true;
}

static tal_status write_constraints(subject *s, tal_state *state, const double udot[],
                                    const double lambda[], const outputs *out)
{
    const tali_constraints *cs = &s->matter->constraints;
    for (int i = 0; i < cs->count; ++i) {
        s->c = &cs->list[i];
        s->index = i;
        if (s->map.row0[i] < 0) continue;
        tali_constraint_room room;
        s->arg = tali_constraint_arg_of(s->matter, state, s->view, i, s->slopes->A, udot, &room);
        const tal_status st = write_constraint(s, lambda, out);
        if (st != TAL_OK) {
            return tal_state_fail(state, st, "constraint '%s' (%s) has no derivatives: %s",
                                  s->c->name, s->c->ops.name, tal_status_text(st));
        }
    }
    return TAL_OK;
}

// With the slopes of the tree at this udot.
tal_status tali_derivative_add_constraints(const tal_matter *matter, tal_state *state,
                                           const tali_tree_view *view, const double udot[],
                                           const double lambda[], tal_matrix verr_by_q,
                                           tal_matrix by_q, tal_matrix by_u)
{
    const outputs out = {verr_by_q, by_q, by_u};
    if (tali_constraint_num_rows(matter, state) == 0) return TAL_OK;
    const size_t mark = tal_state_scratch_mark(state);
    const size_t nu = (size_t)view->tree->num_u + 1;
    tali_kernel_slopes slopes;
    tali_constraint_change_room room;
    subject s = {.matter = matter, .view = view, .slopes = &slopes};
    double *zero = tal_state_scratch_take(state, nu * sizeof *zero);
    tal_status st = zero != NULL ? TAL_OK : TAL_ERR_CAPACITY;
    if (st == TAL_OK) memset(zero, 0, nu * sizeof *zero);
    const double *at = udot != NULL ? udot : zero;
    if (st == TAL_OK) st = tali_derivative_slopes(matter, state, view, at, NULL, &slopes);
    if (st == TAL_OK && !take_room(state, &s, &room)) st = TAL_ERR_CAPACITY;
    if (st == TAL_OK) {
        s.map = tali_constraint_row_map_of(matter, state);
        st = write_constraints(&s, state, at, lambda, &out);
    }
    tal_state_scratch_release(state, mark);
    return st;
}

// Checks, then all constraints; without any the matrices are zero.
tal_status tal_matter_calc_constraint_derivatives(const tal_matter *matter, tal_state *state,
                                                  const double udot[], const double lambda[],
                                                  tal_matrix verr_by_q, tal_matrix by_q,
                                                  tal_matrix by_u)
{
    static const char *const names[3] = {"verr_by_q", "by_q", "by_u"};
    const tal_matrix all[3] = {verr_by_q, by_q, by_u};
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_DERIVATIVE_VIEW, &view, __func__);
    if (st != TAL_OK) return st;
    const tal_constraint_rows rows = tal_matter_constraint_rows(matter, state);
    const int nu = view.tree->num_u, m = rows.mp + rows.mv + rows.ma;
    const int wanted[3] = {rows.mp + rows.mv, nu + m, nu + m};
    for (int i = 0; i < 3 && st == TAL_OK; ++i) {
        if (!tali_derivative_is_wanted(all[i])) continue;
        st = tali_op_matrix(names[i], all[i], wanted[i], nu, __func__);
    }
    if (st == TAL_OK) st = tali_derivative_check_slides(matter, state);
    if (st == TAL_OK) st = tali_derivative_check(state, view.tree, udot, NULL);
    if (st == TAL_OK && lambda != NULL) st = tali_op_finite(state, "lambda", lambda, m);
    if (st != TAL_OK) return st;
    for (int i = 0; i < 3; ++i) {
        clear(all[i]);
    }
    st = tali_derivative_add_constraints(matter, state, &view, udot, lambda, verr_by_q, by_q, by_u);
    for (int i = 0; i < 3 && st == TAL_OK; ++i) {
        if (tali_derivative_is_wanted(all[i])) st = tali_op_result_columns(state, names[i], all[i]);
    }
    return st;
}

int tal_matter_differenced_constraints(const tal_matter *matter, tal_constraint_ix constraints[],
                                       int capacity)
{
    if (matter == NULL || (constraints == NULL && capacity > 0)) {
        (void)TALI_BREACH(TAL_ERR_NULL, "matter or constraints is NULL");
        return -1;
    }
    int count = 0;
    for (int i = 0; i < matter->constraints.count; ++i) {
        if (matter->constraints.list[i].ops.calc_change != NULL) continue;
        if (count < capacity) constraints[count] = (tal_constraint_ix){i};
        ++count;
    }
    return count;
}
