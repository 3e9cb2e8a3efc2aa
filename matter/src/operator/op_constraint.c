// Operators of the constraints: rows, products with G, multipliers, impulses, constraint forces.
#include "constraint/constraint_internal.h"
#include "operator/operators_internal.h"

#include <talus/matter/constraint_operators.h>

// --- rows ---

static tal_constraint_rows no_rows(int count)
{
    return (tal_constraint_rows){count, count, count, 0, 0, 0};
}

// True when the rows of this State are known; otherwise a breach has been reported.
static bool has_rows(const tal_matter *matter, const tal_state *state, const char *where)
{
    if (matter == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "matter is NULL");
        return false;
    }
    return tali_cache_read(matter->system, state, matter->constants, where) != NULL;
}

tal_constraint_rows tal_matter_constraint_rows(const tal_matter *matter, const tal_state *state)
{
    if (!has_rows(matter, state, __func__)) return no_rows(-1);
    if (matter->constraints.count == 0) return no_rows(0);
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    return (tal_constraint_rows){map.mp, map.mv, map.ma, 0, map.mp, map.mp + map.mv};
}

tal_constraint_rows tal_constraint_rows_of(const tal_matter *matter, const tal_state *state,
                                           tal_constraint_ix constraint)
{
    if (!has_rows(matter, state, __func__)) return no_rows(-1);
    const tali_constraint *c = tali_constraint_at(matter, constraint, __func__);
    if (c == NULL) return no_rows(-1);
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    if (map.row0[constraint.i] < 0) return no_rows(0);
    return (tal_constraint_rows){c->ops.mp,
                                 c->ops.mv,
                                 c->ops.ma,
                                 map.p0[constraint.i],
                                 map.mp + map.v0[constraint.i],
                                 map.mp + map.mv + map.a0[constraint.i]};
}

tal_constraint_ix tal_matter_row_owner(const tal_matter *matter, const tal_state *state, int row)
{
    const tal_constraint_ix none = {-1};
    if (!has_rows(matter, state, __func__) || matter->constraints.count == 0) return none;
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    tali_constraint_row_walk at = tali_constraint_walk_all(&matter->constraints, &map);
    while (tali_constraint_next_row(&at)) {
        if (at.slot == row) return (tal_constraint_ix){at.i};
    }
    return none;
}

// --- products with G ---

/// G as the operators use it: the rows of a part, and the wrenches.
typedef struct jacobian {
    tali_tree_view view;
    tali_constraint_row_map map;
    const double *wrenches; // NULL when there are no constraints
    int first, count;       // rows of the part among all
} jacobian;

static tal_status see_G(const tal_matter *matter, tal_state *state, tal_g_part part,
                        const char *where, jacobian *G)
{
    *G = (jacobian){.wrenches = NULL};
    const tal_status st = tali_op_view(matter, state, TALI_POSITION, &G->view, where);
    if (st != TAL_OK) return st;
    if ((int)part < TAL_G || (int)part > TAL_G_A) {
        return tali_breach(TAL_ERR_BAD_VALUE, where, "there is no part %d of G", (int)part);
    }
    const tali_constraints *cs = &matter->constraints;
    if (cs->count == 0) return TAL_OK;
    G->wrenches = tal_cache_realize(matter->system, state, cs->wrenches);
    if (G->wrenches == NULL) return tal_state_error(state)->status;
    G->map = tali_constraint_row_map_of(matter, state);
    const int mp = G->map.mp, mv = G->map.mv, ma = G->map.ma;
    G->first = part == TAL_G_V ? mp : part == TAL_G_A ? mp + mv : 0;
    G->count = part == TAL_G ? mp + mv + ma : part == TAL_G_P ? mp : part == TAL_G_V ? mv : ma;
    return TAL_OK;
}

// Where a row of all is in the part; -1 when it is not.
static int place_in_part(const jacobian *G, int slot)
{
    const int place = slot - G->first;
    return place >= 0 && place < G->count ? place : -1;
}

// One row times v: how the forces of the row, and its coefficients, would work on this motion.
static double row_times(const tal_matter *matter, const jacobian *G,
                        const tali_constraint_row_walk *row, const tal_spatial_vec V[],
                        const double v[])
{
    const tali_constraint *c = row->c;
    const tali_constraint_const_wrenches row_forces = tali_constraint_wrenches_in(c, G->wrenches);
    const int n = tali_constraint_num_wrenches(c);
    double sum = 0.0;
    for (int k = 0; k < n; ++k) {
        sum += tal_sv_dot(row_forces.wrench[row->r * n + k], V[tali_constraint_wrench_body(c, k)]);
    }
    for (int k = 0; k < c->num_mobilities; ++k) {
        sum += row_forces.coefficient[row->r * c->num_mobilities + k] *
               v[matter->tree.u0[c->mobility_bodies[k]] + c->mobility_index[k]];
    }
    return sum;
}

// V is room for the bodies.
static void mul_G(const tal_matter *matter, const jacobian *G, const double v[],
                  tal_spatial_vec V[], double out[])
{
    G->view.passes->J(&G->view, v, V);
    tali_constraint_row_walk row = tali_constraint_walk_all(&matter->constraints, &G->map);
    while (tali_constraint_next_row(&row)) {
        const int at = place_in_part(G, row.slot);
        if (at >= 0) out[at] = row_times(matter, G, &row, V, v);
    }
}

// The forces of constraint `only` (-1: of all), times lambda, added to F about Mo and f.
static void add_forces(const tal_matter *matter, const jacobian *G, const double lambda[], int only,
                       tal_spatial_vec F[], double f[])
{
    tali_constraint_row_walk row = tali_constraint_walk_all(&matter->constraints, &G->map);
    while (tali_constraint_next_row(&row)) {
        const int at = place_in_part(G, row.slot);
        if (at < 0 || (only >= 0 && row.i != only)) continue;
        const tali_constraint_const_wrenches row_forces =
            tali_constraint_wrenches_in(row.c, G->wrenches);
        tali_constraint_add_row_forces(matter, row.c, row_forces, row.r, lambda[at], F, f);
    }
}

// F is room for the bodies, along for the speeds.
static void mul_GT(const tal_matter *matter, const jacobian *G, const double lambda[],
                   tal_spatial_vec F[], double along[], double f[])
{
    memset(F, 0, (size_t)matter->num_bodies * sizeof *F);
    memset(along, 0, (size_t)matter->tree.num_u * sizeof *along);
    add_forces(matter, G, lambda, -1, F, along);
    G->view.passes->JT(&G->view, F, f);
    for (int j = 0; j < matter->tree.num_u; ++j) {
        f[j] += along[j];
    }
}

static tal_spatial_vec *take_bodies(const tal_matter *matter, tal_state *state)
{
    return tal_state_scratch_take(state, (size_t)matter->num_bodies * sizeof(tal_spatial_vec));
}

static double *take_speeds(const tal_matter *matter, tal_state *state)
{
    return tal_state_scratch_take(state, ((size_t)matter->tree.num_u + 1) * sizeof(double));
}

// TAL_OK if `in` is there and finite, and `out` is there. Arrays without entries may be NULL.
static tal_status check_pair(tal_state *state, const char *in_name, const double in[], int num_in,
                             const char *out_name, const double out[], int num_out,
                             const char *where)
{
    tal_status st = num_in > 0 ? tali_op_array(in_name, in, where) : TAL_OK;
    if (st == TAL_OK && num_out > 0) st = tali_op_array(out_name, out, where);
    if (st == TAL_OK && num_in > 0) st = tali_op_finite(state, in_name, in, num_in);
    return st;
}

tal_status tal_matter_mul_G(const tal_matter *matter, tal_state *state, tal_g_part part,
                            const double v[], double out[])
{
    jacobian G;
    tal_status st = see_G(matter, state, part, __func__, &G);
    if (st != TAL_OK) return st;
    st = check_pair(state, "v", v, matter->tree.num_u, "out", out, G.count, __func__);
    if (st != TAL_OK) return st;
    const size_t mark = tal_state_scratch_mark(state);
    mul_G(matter, &G, v, take_bodies(matter, state), out);
    tal_state_scratch_release(state, mark);
    return TAL_OK;
}

tal_status tal_matter_mul_GT(const tal_matter *matter, tal_state *state, tal_g_part part,
                             const double lambda[], double f[])
{
    jacobian G;
    tal_status st = see_G(matter, state, part, __func__, &G);
    if (st != TAL_OK) return st;
    st = check_pair(state, "lambda", lambda, G.count, "f", f, matter->tree.num_u, __func__);
    if (st != TAL_OK) return st;
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *F = take_bodies(matter, state);
    mul_GT(matter, &G, lambda, F, take_speeds(matter, state), f);
    tal_state_scratch_release(state, mark);
    return TAL_OK;
}

static void clear(tal_matrix A)
{
    for (int j = 0; j < A.cols && A.rows > 0; ++j) {
        memset(tali_op_column(A, j), 0, (size_t)A.rows * sizeof(double));
    }
}

// What tali_constraint_row() gives along a path, put into row `i` of a matrix over all speeds.
static void spread_row(const tal_matter *matter, const tali_constraint *c, const double g[],
                       tal_matrix A, int i)
{
    for (int k = 0; k < c->path_len; ++k) {
        const tali_constraint_path_entry p = matter->constraints.path[c->path0 + k];
        for (int j = 0; j < matter->tree.nu[p.body]; ++j) {
            tali_op_column(A, matter->tree.u0[p.body] + j)[i] = g[p.e0 + j];
        }
    }
}

tal_status tal_matter_calc_G(const tal_matter *matter, tal_state *state, tal_g_part part,
                             tal_matrix matrix)
{
    jacobian G;
    tal_status st = see_G(matter, state, part, __func__, &G);
    if (st != TAL_OK) return st;
    st = tali_op_matrix("G", matrix, G.count, matter->tree.num_u, __func__);
    if (st != TAL_OK) return st;
    clear(matrix);
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *F = take_bodies(matter, state);
    double *g = take_speeds(matter, state);
    double reach = 0.0;
    tali_constraint_row_walk row = tali_constraint_walk_all(&matter->constraints, &G.map);
    while (tali_constraint_next_row(&row)) {
        const int at = place_in_part(&G, row.slot);
        if (row.r == 0) reach = tali_constraint_reach(matter, &G.view, row.c);
        if (at < 0) continue;
        tali_constraint_row(matter, &G.view, row.c, tali_constraint_wrenches_in(row.c, G.wrenches),
                            row.r, reach, F, g);
        spread_row(matter, row.c, g, matrix, at);
    }
    tal_state_scratch_release(state, mark);
    return TAL_OK;
}

// --- Pq = P N^+ ---

tal_status tal_matter_mul_Pq(const tal_matter *matter, tal_state *state, const double dq[],
                             double out[])
{
    jacobian G;
    tal_status st = see_G(matter, state, TAL_G_P, __func__, &G);
    if (st != TAL_OK) return st;
    const int nq = tal_matter_nq(matter, state);
    st = check_pair(state, "dq", dq, nq, "out", out, G.count, __func__);
    if (st != TAL_OK) return st;
    const size_t mark = tal_state_scratch_mark(state);
    double *v = take_speeds(matter, state);
    st = tal_matter_mul_N(matter, state, TAL_NPLUS, dq, v);
    if (st == TAL_OK) mul_G(matter, &G, v, take_bodies(matter, state), out);
    tal_state_scratch_release(state, mark);
    return st;
}

tal_status tal_matter_mul_PqT(const tal_matter *matter, tal_state *state, const double lambda[],
                              double f_q[])
{
    jacobian G;
    tal_status st = see_G(matter, state, TAL_G_P, __func__, &G);
    if (st != TAL_OK) return st;
    const int nq = tal_matter_nq(matter, state);
    st = check_pair(state, "lambda", lambda, G.count, "f_q", f_q, nq, __func__);
    if (st != TAL_OK) return st;
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *F = take_bodies(matter, state);
    double *along = take_speeds(matter, state), *f = take_speeds(matter, state);
    mul_GT(matter, &G, lambda, F, along, f);
    st = tal_matter_mul_N(matter, state, TAL_NPLUS_T, f, f_q);
    tal_state_scratch_release(state, mark);
    return st;
}

// Row by row: a row of Pq is N^+^T times one of P.
tal_status tal_matter_calc_Pq(const tal_matter *matter, tal_state *state, tal_matrix Pq)
{
    jacobian G;
    tal_status st = see_G(matter, state, TAL_G_P, __func__, &G);
    if (st != TAL_OK) return st;
    const int nq = tal_matter_nq(matter, state), nu = matter->tree.num_u;
    st = tali_op_matrix("Pq", Pq, G.count, nq, __func__);
    if (st != TAL_OK) return st;
    clear(Pq);
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *F = take_bodies(matter, state);
    double *g = take_speeds(matter, state);
    const tal_matrix P = tal_matrix_view(take_speeds(matter, state), 1, nu);
    double *wide = tal_state_scratch_take(state, ((size_t)matter->tree.max_nq + 1) * sizeof *wide);
    double reach = 0.0;
    tali_constraint_row_walk row = tali_constraint_walk_all(&matter->constraints, &G.map);
    row.levels = TALI_ROWS_P;
    while (st == TAL_OK && tali_constraint_next_row(&row)) {
        if (row.r == 0) reach = tali_constraint_reach(matter, &G.view, row.c);
        tali_constraint_row(matter, &G.view, row.c, tali_constraint_wrenches_in(row.c, G.wrenches),
                            row.r, reach, F, g);
        clear(P);
        spread_row(matter, row.c, g, P, 0);
        st = tal_matter_mul_N(matter, state, TAL_NPLUS_T, P.data, wide);
        for (int j = 0; j < nq && st == TAL_OK; ++j) {
            tali_op_column(Pq, j)[row.slot] = wide[j];
        }
    }
    tal_state_scratch_release(state, mark);
    return st;
}

// --- W, errors and multipliers ---

tal_status tal_matter_calc_W(const tal_matter *matter, tal_state *state, tal_matrix W)
{
    jacobian G;
    tal_status st = see_G(matter, state, TAL_G, __func__, &G);
    if (st == TAL_OK) st = tali_op_matrix("W", W, G.count, G.count, __func__);
    if (st != TAL_OK || G.count == 0) return st;
    clear(W);
    return tali_constraints_W(matter, state, W);
}

// aerr at any udot (NULL: zero). Poses and velocities are in the view.
static tal_status calc_aerr(const tal_matter *matter, tal_state *state, const tali_tree_view *view,
                            const double udot[], double aerr[])
{
    if (matter->constraints.count == 0) return TAL_OK;
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *A = take_bodies(matter, state);
    if (udot != NULL) view->passes->J(view, udot, A);
    for (int b = 0; b < matter->num_bodies; ++b) {
        A[b] = udot != NULL ? tal_sv_add(A[b], view->rates[b].A0) : view->rates[b].A0;
    }
    const tal_status st = tali_constraints_aerr(matter, state, view, A, udot, aerr);
    tal_state_scratch_release(state, mark);
    return st;
}

tal_status tal_matter_calc_constraint_bias(const tal_matter *matter, tal_state *state, double b[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_A0, &view, __func__);
    if (st != TAL_OK) return st;
    const int m = tali_constraint_num_rows(matter, state);
    if (m > 0) st = tali_op_array("b", b, __func__);
    if (st == TAL_OK) st = calc_aerr(matter, state, &view, NULL, b);
    for (int i = 0; i < m && st == TAL_OK; ++i) {
        b[i] = -b[i];
    }
    return st;
}

tal_status tal_matter_calc_constraint_aerr(const tal_matter *matter, tal_state *state,
                                           const double udot[], double aerr[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_A0, &view, __func__);
    if (st != TAL_OK) return st;
    const int m = tali_constraint_num_rows(matter, state);
    st = check_pair(state, "udot", udot, matter->tree.num_u, "aerr", aerr, m, __func__);
    return st == TAL_OK ? calc_aerr(matter, state, &view, udot, aerr) : st;
}

tal_status tal_matter_calc_multipliers(const tal_matter *matter, tal_state *state,
                                       const double aerr[], double lambda[])
{
    jacobian G;
    tal_status st = see_G(matter, state, TAL_G, __func__, &G);
    if (st == TAL_OK) {
        st = check_pair(state, "aerr", aerr, G.count, "lambda", lambda, G.count, __func__);
    }
    if (st != TAL_OK || G.count == 0) return st;
    return tali_constraints_multipliers(matter, state, aerr, lambda);
}

tal_status tal_matter_calc_constraint_impulse(const tal_matter *matter, tal_state *state,
                                              const double dv[], double impulse[], double du[])
{
    jacobian G;
    tal_status st = see_G(matter, state, TAL_G, __func__, &G);
    if (st == TAL_OK) {
        st = check_pair(state, "dv", dv, G.count, "impulse", impulse, G.count, __func__);
    }
    if (st == TAL_OK && G.count > 0) {
        st = tali_constraints_multipliers(matter, state, dv, impulse);
    }
    if (st != TAL_OK || du == NULL) return st;
    const size_t mark = tal_state_scratch_mark(state);
    double *along = take_speeds(matter, state), *f = take_speeds(matter, state);
    mul_GT(matter, &G, impulse, take_bodies(matter, state), along, f);
    st = tal_matter_mul_Minv(matter, state, f, du);
    for (int j = 0; j < matter->tree.num_u && st == TAL_OK; ++j) {
        du[j] = -du[j];
    }
    tal_state_scratch_release(state, mark);
    return st;
}

// --- constraint forces ---

static tal_status check_constraint(const tal_matter *matter, tal_constraint_ix constraint,
                                   const char *where)
{
    if (constraint.i < 0) return TAL_OK;
    return tali_constraint_at(matter, constraint, where) != NULL ? TAL_OK
                                                                 : tal_contract_last()->status;
}

tal_status tal_matter_calc_constraint_forces(const tal_matter *matter, tal_state *state,
                                             const double lambda[], tal_constraint_ix constraint,
                                             tal_spatial_vec F_GB[], double f[])
{
    jacobian G;
    tal_status st = see_G(matter, state, TAL_G, __func__, &G);
    if (st == TAL_OK) st = check_constraint(matter, constraint, __func__);
    if (st == TAL_OK) st = tali_op_array("F_GB", F_GB, __func__);
    if (st != TAL_OK) return st;
    const int nu = matter->tree.num_u;
    st = check_pair(state, "lambda", lambda, G.count, "f", f, nu, __func__);
    if (st != TAL_OK) return st;
    memset(F_GB, 0, (size_t)matter->num_bodies * sizeof *F_GB);
    if (nu > 0) memset(f, 0, (size_t)nu * sizeof *f);
    add_forces(matter, &G, lambda, constraint.i, F_GB, f);
    for (int b = 0; b < matter->num_bodies; ++b) {
        const tal_vec3 p_BM = tal_v3_neg(tali_op_p_MB_G(&G.view, b));
        F_GB[b] = tal_sv_neg(tal_sv_shift_force(F_GB[b], p_BM));
    }
    for (int j = 0; j < nu; ++j) {
        f[j] = -f[j];
    }
    return TAL_OK;
}

double tal_matter_calc_constraint_power(const tal_matter *matter, tal_state *state,
                                        const double lambda[], tal_constraint_ix constraint)
{
    jacobian G;
    tal_status st = see_G(matter, state, TAL_G, __func__, &G);
    if (st == TAL_OK) st = check_constraint(matter, constraint, __func__);
    if (st == TAL_OK && G.count > 0) st = tali_op_array("lambda", lambda, __func__);
    if (st != TAL_OK) return TALI_NAN;
    const double *u = tal_state_u(state) + tal_group_start(matter->system, state, matter->u);
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *V = take_bodies(matter, state);
    G.view.passes->J(&G.view, u, V);
    double power = 0.0;
    tali_constraint_row_walk row = tali_constraint_walk_all(&matter->constraints, &G.map);
    while (tali_constraint_next_row(&row)) {
        if (constraint.i >= 0 && row.i != constraint.i) continue;
        power -= lambda[row.slot] * row_times(matter, &G, &row, V, u);
    }
    tal_state_scratch_release(state, mark);
    return power;
}
