// Solving for multipliers: within the envelope of W = G M^-1 G^T, or by least squares where rows
// repeat each other.
#include "constraint_matrices_internal.h"

#include <talus/common/linalg.h>

#include <math.h>

// --- least squares ---

// W of one block, rows x rows.
static void fill_block_W(const tal_matter *matter, const tali_row_map *map, const double *matrices,
                         int block, double W[])
{
    const tali_constraints *cs = &matter->constraints;
    const size_t n = (size_t)tali_block_rows(cs, map, block);
    tali_row_walk a = tali_walk_block(cs, map, block);
    while (tali_next_row(&a)) {
        tali_row_walk b = tali_walk_block(cs, map, block);
        while (tali_next_row(&b)) {
            W[(size_t)a.row + n * (size_t)b.row] =
                tali_element_of_W(matter, matrices, a.i, a.r, b.i, b.r);
        }
    }
}

// x -> S x, and W -> S W S unless NULL, with the shares S of the block's constraints.
static void weigh_by_shares(const tal_matter *matter, const tal_state *state,
                            const tali_row_map *map, int block, double W[], double x[])
{
    const tali_constraints *cs = &matter->constraints;
    const double *shares = tal_var_value(matter->system, state, cs->shares);
    const int n = tali_block_rows(cs, map, block);
    tali_row_walk at = tali_walk_block(cs, map, block);
    while (tali_next_row(&at)) {
        const double share = shares[at.i];
        if (share == 1.0) continue;
        x[at.row] *= share;
        for (int j = 0; j < n && W != NULL; ++j) {
            W[at.row + j * n] *= share;
            W[j + at.row * n] *= share;
        }
    }
}

/// Room for the least squares of one block, from a State's scratch memory.
typedef struct squares_room {
    double *W, *null; ///< and its null space: rows x rows
    double *D, *y;    ///< [rows] what a row is scaled by; the part along the null space
    double *work;
    int *iwork;
} squares_room;

static bool take_squares_room(tal_state *state, int rows, squares_room *room)
{
    const size_t n = (size_t)rows;
    room->W = tal_state_scratch_take(state, n * n * sizeof(double));
    room->null = tal_state_scratch_take(state, n * n * sizeof(double));
    room->D = tal_state_scratch_take(state, n * sizeof(double));
    room->y = tal_state_scratch_take(state, n * sizeof(double));
    room->work = tal_state_scratch_take(state, tal_cod_work_size(rows, rows) * sizeof(double));
    room->iwork = tal_state_scratch_take(state, tal_cod_iwork_size(rows, rows) * sizeof(int) + 1);
    return room->W != NULL && room->null != NULL && room->D != NULL && room->y != NULL &&
           room->work != NULL && room->iwork != NULL;
}

// Whether the diagonal entries of W, but for zeros, are of like size.
static bool are_alike(int n, const double W[])
{
    double least = (double)INFINITY, most = 0.0;
    for (int i = 0; i < n; ++i) {
        const double entry = W[(size_t)i * (size_t)(n + 1)];
        if (entry <= 0.0) continue;
        least = fmin(least, entry);
        most = fmax(most, entry);
    }
    return most <= 1e6 * least;
}

// W -> D W D and x -> D x, so that all diagonal entries are near one: exact, by powers of two. Rows
// on orientations and on positions differ by the square of a length in W, and which rows are
// dependent must not depend on whether that is a meter or a micrometer. Rows that are alike stay as
// they are: what contradicts is then met as well as can be in the units given.
static void scale_rows(int n, const squares_room *room, double x[])
{
    for (int i = 0; i < n; ++i) {
        int exponent = 0;
        (void)frexp(room->W[(size_t)i * (size_t)(n + 1)], &exponent); // 0 for a row without effect
        room->D[i] = ldexp(1.0, -exponent / 2);
        x[i] *= room->D[i];
    }
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            room->W[(size_t)j * (size_t)n + (size_t)i] *= room->D[i] * room->D[j];
        }
    }
}

// From the shortest mu of D W D mu = D b to the shortest lambda = D mu: less its part in the null
// space of W, which is D times that of D W D.
static tal_status shorten(int n, tal_cod *cod, const squares_room *room, double x[], tal_error *why)
{
    const int k = n - cod->rank;
    const tal_matrix N = tal_matrix_view(room->null, n, k), copy = tal_matrix_view(room->W, n, k);
    tal_status st = tal_cod_calc_null_basis(cod, N);
    for (int i = 0; i < n; ++i) {
        x[i] *= room->D[i];
        room->y[i] = x[i];
    }
    for (int j = 0; j < k; ++j) {
        double *column = room->null + (size_t)j * (size_t)n;
        double square = 0.0;
        for (int i = 0; i < n; ++i) {
            column[i] *= room->D[i];
            square += column[i] * column[i];
        }
        for (int i = 0; i < n; ++i) {
            column[i] /= sqrt(square);
        }
    }
    memcpy(room->W, room->null, (size_t)n * (size_t)k * sizeof(double));
    if (st == TAL_OK) st = tal_cod_factor(cod, copy, -1.0, room->work, room->iwork, why);
    const tal_matrix B = {room->y, n, 1, n}, Y = {room->y, k, 1, n};
    if (st == TAL_OK) st = tal_cod_solve(cod, B, Y, why);
    for (int j = 0; j < k && st == TAL_OK; ++j) {
        for (int i = 0; i < n; ++i) {
            x[i] -= room->null[(size_t)j * (size_t)n + (size_t)i] * room->y[j];
        }
    }
    return st;
}

// The multipliers with the least sum of squares, when rows repeat each other; with shares,
// S (S W S)^+ S b: manual eq. 9.10, and eq. 9.8 without its slip.
static tal_status solve_least_squares(const tal_matter *matter, tal_state *state,
                                      const tali_row_map *map, const double *matrices, int block,
                                      int rows, double x[])
{
    const tali_constraints *cs = &matter->constraints;
    const size_t mark = tal_state_scratch_mark(state);
    squares_room room;
    if (!take_squares_room(state, rows, &room)) {
        tal_state_scratch_release(state, mark);
        return TAL_ERR_CAPACITY;
    }
    fill_block_W(matter, map, matrices, block, room.W);
    weigh_by_shares(matter, state, map, block, room.W, x);
    const bool alike = are_alike(rows, room.W);
    if (!alike) scale_rows(rows, &room, x);
    tal_cod cod;
    tal_error why = {TAL_OK, "", ""};
    // a pivot in the envelope counted as redundant at the same relative size
    tal_status st =
        tal_cod_factor(&cod, tal_matrix_view(room.W, rows, rows),
                       tali_redundant_pivot(cs->max_block_rows), room.work, room.iwork, &why);
    const tal_matrix X = tal_matrix_view(x, rows, 1);
    if (st == TAL_OK) st = tal_cod_solve(&cod, X, X, &why);
    if (st == TAL_OK && !alike) st = shorten(rows, &cod, &room, x, &why);
    weigh_by_shares(matter, state, map, block, NULL, x);
    tal_state_scratch_release(state, mark);
    return st == TAL_OK ? st : tal_state_fail(state, st, "constraint forces: %s", why.message);
}

// --- multipliers, and what they do ---

tal_status tali_constraints_multipliers(const tal_matter *matter, tal_state *state,
                                        const double aerr[], double lambda[])
{
    const tali_constraints *cs = &matter->constraints;
    tali_constraint_matrices in;
    if (!tali_see_constraint_matrices(matter, state, &in)) return tal_state_error(state)->status;
    const tali_row_map map = tali_row_map_of(matter, state);
    const size_t mark = tal_state_scratch_mark(state);
    double *x = tal_state_scratch_take(state, (size_t)cs->max_block_rows * sizeof *x);
    tal_status st = x != NULL ? TAL_OK : TAL_ERR_CAPACITY;
    for (int k = 0, row_base = 0; k < cs->num_blocks && st == TAL_OK; ++k) {
        const int rows = tali_block_rows(cs, &map, k);
        tali_row_walk from = tali_walk_block(cs, &map, k), to = from;
        while (tali_next_row(&from)) {
            x[from.row] = aerr[from.slot];
        }
        if (in.redundant[k] > 0) {
            st = solve_least_squares(matter, state, &map, in.matrices, k, rows, x);
        } else {
            tali_envelope_solve(in.envelope, in.records + row_base, rows, x);
        }
        while (st == TAL_OK && tali_next_row(&to)) {
            lambda[to.slot] = x[to.row];
        }
        row_base += rows;
    }
    tal_state_scratch_release(state, mark);
    return st;
}

// Gathers e along the speeds of a path, in its order; or scatters it back.
static void gather_path(const tal_matter *matter, const tali_constraint *c, const double e[],
                        double along[])
{
    const tali_path_entry *path = matter->constraints.path + c->path0;
    for (int k = 0; k < c->path_len; ++k) {
        const int u0 = matter->tree.u0[path[k].body];
        for (int j = 0; j < matter->tree.nu[path[k].body]; ++j) {
            along[path[k].e0 + j] = e[u0 + j];
        }
    }
}

static void scatter_path(const tal_matter *matter, const tali_constraint *c, const double along[],
                         double e[])
{
    const tali_path_entry *path = matter->constraints.path + c->path0;
    for (int k = 0; k < c->path_len; ++k) {
        const int u0 = matter->tree.u0[path[k].body];
        for (int j = 0; j < matter->tree.nu[path[k].body]; ++j) {
            e[u0 + j] = along[path[k].e0 + j];
        }
    }
}

// E^T D^-1 e: what the unconstrained accelerations give in each row. `along` has room for a path.
static void add_unconstrained(const tal_matter *matter, const tali_row_map *map,
                              const double *matrices, const double e[], double along[],
                              double aerr[])
{
    tali_row_walk at = tali_walk_all(&matter->constraints, map);
    while (tali_next_row(&at)) {
        if (at.r == 0) gather_path(matter, at.c, e, along);
        aerr[at.slot] += tali_dot(tali_row_of_Y(at.c, matrices, at.r), along, at.c->path_nu);
    }
}

// e - E lambda
static void subtract_forces(const tal_matter *matter, const tali_row_map *map,
                            const double *matrices, const double lambda[], double along[],
                            double e[])
{
    tali_row_walk at = tali_walk_all(&matter->constraints, map);
    while (tali_next_row(&at)) {
        if (at.r == 0) gather_path(matter, at.c, e, along);
        const double *E = tali_row_of_E(at.c, matrices, at.r);
        for (int j = 0; j < at.c->path_nu; ++j) {
            along[j] -= lambda[at.slot] * E[j];
        }
        if (at.r == tali_rows(at.c) - 1) scatter_path(matter, at.c, along, e);
    }
}

// At zero free udot: G_p udot_p - b.
tal_status tali_constraints_zero_errors(const tal_matter *matter, tal_state *state,
                                        const tali_view *view, double aerr[])
{
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *A0 = tal_state_scratch_take(state, (size_t)matter->num_bodies * sizeof *A0);
    if (A0 == NULL) return TAL_ERR_CAPACITY; // and nothing to release
    for (int b = 0; b < matter->num_bodies; ++b) {
        A0[b] = view->motion[b].A0;
        if (view->A_known != NULL) A0[b] = tal_sv_add(A0[b], view->A_known[b]);
    }
    const tal_status st = tali_constraints_aerr(matter, state, view, A0, view->udot_known, aerr);
    tal_state_scratch_release(state, mark);
    return st;
}

tal_status tali_constraints_solve(const tal_matter *matter, tal_state *state, const tali_view *view,
                                  double e[], double lambda[])
{
    const tali_constraints *cs = &matter->constraints;
    tali_constraint_matrices in;
    if (!tali_see_constraint_matrices(matter, state, &in)) return tal_state_error(state)->status;
    const tali_row_map map = tali_row_map_of(matter, state);
    const size_t mark = tal_state_scratch_mark(state);
    double *aerr = tal_state_scratch_take(state, (size_t)cs->max_rows * sizeof *aerr);
    double *along = tal_state_scratch_take(state, ((size_t)view->tree->num_u + 1) * sizeof *along);
    tal_status st = aerr != NULL && along != NULL ? TAL_OK : TAL_ERR_CAPACITY;
    if (st == TAL_OK) st = tali_constraints_zero_errors(matter, state, view, aerr);
    if (st == TAL_OK) {
        add_unconstrained(matter, &map, in.matrices, e, along, aerr);
        st = tali_constraints_multipliers(matter, state, aerr, lambda);
    }
    if (st == TAL_OK) subtract_forces(matter, &map, in.matrices, lambda, along, e);
    tal_state_scratch_release(state, mark);
    return st;
}

// --- what the operators ask for ---

tal_status tali_constraints_W(const tal_matter *matter, tal_state *state, tal_matrix W)
{
    const tali_constraints *cs = &matter->constraints;
    tali_constraint_matrices in;
    if (!tali_see_constraint_matrices(matter, state, &in)) return tal_state_error(state)->status;
    const tali_row_map map = tali_row_map_of(matter, state);
    tali_row_walk a = tali_walk_all(cs, &map);
    while (tali_next_row(&a)) {
        tali_row_walk b = tali_walk_block(cs, &map, a.c->block);
        while (tali_next_row(&b) && b.i <= a.i) {
            const double value = tali_element_of_W(matter, in.matrices, a.i, a.r, b.i, b.r);
            W.data[(size_t)a.slot + (size_t)b.slot * (size_t)W.ld] = value;
            W.data[(size_t)b.slot + (size_t)a.slot * (size_t)W.ld] = value;
        }
    }
    return TAL_OK;
}

tal_status tali_constraints_residual(const tal_matter *matter, tal_state *state,
                                     const tali_view *view, double aerr[])
{
    const tali_constraints *cs = &matter->constraints;
    tali_constraint_matrices in;
    if (!tali_see_constraint_matrices(matter, state, &in)) return tal_state_error(state)->status;
    const tali_row_map map = tali_row_map_of(matter, state);
    const size_t nu = (size_t)view->tree->num_u;
    const size_t mark = tal_state_scratch_mark(state);
    double *lambda = tal_state_scratch_take(state, (size_t)cs->max_rows * sizeof *lambda);
    double *e = tal_state_scratch_take(state, (nu + 1) * sizeof *e);
    double *along = tal_state_scratch_take(state, (nu + 1) * sizeof *along);
    tal_status st = lambda != NULL && e != NULL && along != NULL ? TAL_OK : TAL_ERR_CAPACITY;
    if (st == TAL_OK) st = tali_constraints_multipliers(matter, state, aerr, lambda);
    if (st == TAL_OK) { // aerr - E^T D^-1 E lambda
        memset(e, 0, nu * sizeof *e);
        subtract_forces(matter, &map, in.matrices, lambda, along, e);
        add_unconstrained(matter, &map, in.matrices, e, along, aerr);
    }
    tal_state_scratch_release(state, mark);
    return st;
}

tal_status tali_constraints_look(const tal_matter *matter, tal_state *state, tali_row_look_fn look,
                                 void *context)
{
    const tali_constraints *cs = &matter->constraints;
    tali_constraint_matrices in;
    if (!tali_see_constraint_matrices(matter, state, &in)) return tal_state_error(state)->status;
    const tali_row_map map = tali_row_map_of(matter, state);
    const tali_envelope_row *record = in.records;
    for (int k = 0; k < cs->num_blocks; ++k) {
        tali_row_walk at = tali_walk_block(cs, &map, k);
        for (; tali_next_row(&at); ++record) {
            const double *L = in.envelope + record->entries;
            const int n = at.row - record->start;
            look(context, k, at.i, at.r, (tal_row_fate)record->fate, L[n] * L[n],
                 tali_dot(L, L, n + 1));
        }
    }
    return TAL_OK;
}
