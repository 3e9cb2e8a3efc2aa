// Solving for multipliers: within the envelope of W = G M^-1 G^T, or by least squares where rows
// repeat each other.
#include "constraint/constraint_matrices_internal.h"
#include "constraint/constraint_rank_internal.h"
#include "unilateral/unilateral_internal.h"

#include <talus/common/linalg.h>

#include <math.h>

// --- least squares ---

// W of one block, rows x rows.
static void fill_block_W(const tal_matter *matter, const tali_constraint_row_map *map,
                         const double *matrices, int block, double W[])
{
    const tali_constraints *cs = &matter->constraints;
    const size_t n = (size_t)tali_constraint_block_rows(cs, map, block);
    tali_constraint_row_walk a = tali_constraint_walk_block(cs, map, block);
    while (tali_constraint_next_row(&a)) {
        tali_constraint_row_walk b = tali_constraint_walk_block(cs, map, block);
        while (tali_constraint_next_row(&b)) {
            W[(size_t)a.row + n * (size_t)b.row] =
                tali_constraint_element_of_W(matter, matrices, a.i, a.r, b.i, b.r);
        }
    }
}

// x -> S x, and W -> S W S unless NULL, with the shares S of the block's constraints.
static void weigh_by_shares(const tal_matter *matter, const tal_state *state,
                            const tali_constraint_row_map *map, int block, double W[], double x[])
{
    const tali_constraints *cs = &matter->constraints;
    const double *shares = tal_var_value(matter->system, state, cs->shares);
    const int n = tali_constraint_block_rows(cs, map, block);
    tali_constraint_row_walk at = tali_constraint_walk_block(cs, map, block);
    while (tali_constraint_next_row(&at)) {
        const double share = shares[at.i];
        if (share == 1.0) continue;
        x[at.row] *= share;
        for (int j = 0; j < n && W != NULL; ++j) {
            W[at.row + j * n] *= share;
            W[j + at.row * n] *= share;
        }
    }
}

/// Room to solve one block within its envelope, from a State's scratch memory.
typedef struct range_room {
    double *S; ///< [rows] shares
    double *work;
} range_room;

static size_t carve_range_room(int rows, range_room *room, void *block)
{
    const tali_piece pieces[] = {
        {&room->S, (size_t)rows * sizeof *room->S},
        {&room->work, tali_envelope_work_size(rows) * sizeof *room->work},
    };
    return tali_pieces_place(pieces, sizeof pieces / sizeof pieces[0], block);
}

/// Room for the least squares of one block, likewise.
typedef struct squares_room {
    double *W, *null; ///< and its null space: rows x rows
    double *D;        ///< [rows] what a row is scaled by
    double *work;
    int *iwork;
} squares_room;

// Cuts the room out of `block`; returns its bytes, also without a block.
static size_t carve_squares_room(int rows, squares_room *room, void *block)
{
    const size_t n = (size_t)rows;
    const tali_piece pieces[] = {
        {&room->W, n * n * sizeof *room->W},
        {&room->null, n * n * sizeof *room->null},
        {&room->D, n * sizeof *room->D},
        {&room->work, tal_cod_work_size(rows, rows) * sizeof *room->work},
        {&room->iwork, tal_cod_iwork_size(rows, rows) * sizeof *room->iwork},
    };
    return tali_pieces_place(pieces, sizeof pieces / sizeof pieces[0], block);
}

static bool take_squares_room(tal_state *state, int rows, squares_room *room)
{
    void *block = tal_state_scratch_take(state, carve_squares_room(rows, room, NULL));
    if (block != NULL) (void)carve_squares_room(rows, room, block);
    return block != NULL;
}

// A block is solved by one or the other.
size_t tali_constraints_solve_scratch(const tali_constraints *cs)
{
    squares_room room;
    const size_t dense = carve_squares_room(cs->max_small_rows, &room, NULL);
    const size_t in_range = carve_range_room(cs->max_block_rows, &(range_room){NULL, NULL}, NULL);
    return dense > in_range ? dense : in_range;
}

// Diagonal entries of W that differ by less are of like size.
static const double ALIKE = 1e6;

// Whether the diagonal entries of W, except for zeros, differ by less than a factor.
static bool are_alike(int n, const double W[], double most_apart)
{
    double least = (double)INFINITY, most = 0.0;
    for (int i = 0; i < n; ++i) {
        const double entry = W[(size_t)i * (size_t)(n + 1)];
        if (entry <= 0.0) continue;
        least = fmin(least, entry);
        most = fmax(most, entry);
    }
    return most <= most_apart * least;
}

// W -> D W D, so that all diagonal entries are near one: exact, by powers of two. Rows on
// orientations and on positions differ by the square of a length in W, and which rows are dependent
// must not depend on whether that is a meter or a micrometer.
static void scale_rows(int n, const squares_room *room)
{
    for (int i = 0; i < n; ++i) {
        int exponent = 0;
        (void)frexp(room->W[(size_t)i * (size_t)(n + 1)], &exponent); // 0 for a row without effect
        room->D[i] = ldexp(1.0, -exponent / 2);
    }
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) {
            room->W[(size_t)j * (size_t)n + (size_t)i] *= room->D[i] * room->D[j];
        }
    }
}

static void scale_vector(int n, const double D[], double x[])
{
    for (int i = 0; i < n; ++i) {
        x[i] *= D[i];
    }
}

// x less its part along k orthonormal columns of N.
static void remove_part(int n, int k, const double N[], double x[])
{
    for (int j = 0; j < k; ++j) {
        const double *column = N + (size_t)j * (size_t)n;
        const double along = tali_constraint_dot(column, x, n);
        for (int i = 0; i < n; ++i) {
            x[i] -= along * column[i];
        }
    }
}

// An orthonormal basis of the null space of W, from that of D W D: D times it, by Gram and
// Schmidt's process done twice.
static tal_status find_null_space(int n, tal_cod *cod, const squares_room *room)
{
    const int k = n - cod->rank;
    const tal_status st = tal_cod_calc_null_basis(cod, tal_matrix_view(room->null, n, k));
    for (int j = 0; j < k && st == TAL_OK; ++j) {
        double *column = room->null + (size_t)j * (size_t)n;
        scale_vector(n, room->D, column);
        for (int pass = 0; pass < 2; ++pass) {
            remove_part(n, j, room->null, column);
            const double size = sqrt(tali_constraint_dot(column, column, n));
            for (int i = 0; i < n && size > 0.0; ++i) {
                column[i] /= size;
            }
        }
    }
    return st;
}

// Which rows are dependent is found with all rows near one, unless they are alike. What contradicts
// is met as well as can be in the units given, as long as these are not too far apart (`in_units`).
static tal_status solve_scaled(int n, tal_cod *cod, const squares_room *room, bool in_units,
                               double x[], tal_error *why)
{
    const int k = n - cod->rank;
    const tal_matrix X = tal_matrix_view(x, n, 1);
    tal_status st = find_null_space(n, cod, room);
    if (st != TAL_OK) return st;
    if (in_units) remove_part(n, k, room->null, x);
    scale_vector(n, room->D, x);
    st = tal_cod_solve(cod, X, X, why);
    scale_vector(n, room->D, x);
    remove_part(n, k, room->null, x); // the shortest
    return st;
}

// The multipliers with the least sum of squares, when rows repeat each other; with shares,
// S (S W S)^+ S b: manual eq. 9.10, and eq. 9.8 without its slip.
static tal_status solve_least_squares(const tal_matter *matter, tal_state *state,
                                      const tali_constraint_row_map *map,
                                      const tali_constraint_matrices *in, int block, int rows,
                                      double x[])
{
    const double limit = in->blocks[block].limit;
    const double round_off =
        tali_constraint_redundant_share(matter->constraints.max_block_rows, 0.0);
    const size_t mark = tal_state_scratch_mark(state);
    squares_room room;
    if (!take_squares_room(state, rows, &room)) {
        tal_state_scratch_release(state, mark);
        return TAL_ERR_CAPACITY;
    }
    fill_block_W(matter, map, in->matrices, block, room.W);
    weigh_by_shares(matter, state, map, block, room.W, x);
    const bool in_units = are_alike(rows, room.W, ALIKE);
    const bool is_scaled = !are_alike(rows, room.W, ALIKE * (round_off / limit));
    if (is_scaled) scale_rows(rows, &room);
    tal_cod cod;
    tal_error why = {TAL_OK, "", ""};
    // a pivot in the envelope counted as redundant at the same relative size
    tal_status st = tal_cod_factor(&cod, tal_matrix_view(room.W, rows, rows), limit, room.work,
                                   room.iwork, &why);
    const tal_matrix X = tal_matrix_view(x, rows, 1);
    if (st == TAL_OK && is_scaled) st = solve_scaled(rows, &cod, &room, in_units, x, &why);
    if (st == TAL_OK && !is_scaled) st = tal_cod_solve(&cod, X, X, &why);
    weigh_by_shares(matter, state, map, block, NULL, x);
    tal_state_scratch_release(state, mark);
    return st == TAL_OK ? st : tal_state_fail(state, st, "constraint forces: %s", why.message);
}

// The same for a block that is not small: within the envelope, without the matrix. What contradicts
// is met as well as can be in the units given.
static tal_status solve_in_range(const tal_matter *matter, tal_state *state,
                                 const tali_constraint_row_map *map,
                                 const tali_constraint_matrices *in,
                                 const tali_envelope_row *records, int block, double x[])
{
    const tali_constraints *cs = &matter->constraints;
    const double *shares = tal_var_value(matter->system, state, cs->shares);
    const int n = tali_constraint_block_rows(cs, map, block);
    const size_t mark = tal_state_scratch_mark(state);
    range_room room;
    void *block_room = tal_state_scratch_take(state, carve_range_room(n, &room, NULL));
    if (block_room == NULL) return TAL_ERR_CAPACITY;
    (void)carve_range_room(n, &room, block_room);
    double *S = room.S, *work = room.work;
    tali_constraint_row_walk at = tali_constraint_walk_block(cs, map, block);
    while (tali_constraint_next_row(&at)) {
        S[at.row] = shares[at.i];
        x[at.row] *= S[at.row];
    }
    const tali_envelope e = {.entries = in->envelope, .rows = records, .n = n, .S = S};
    bool good = tali_envelope_to_range(&e, x, work); // what multipliers can change
    for (int i = 0; i < n; ++i) {
        x[i] /= S[i];
    }
    tali_envelope_solve(in->envelope, records, n, x);
    for (int i = 0; i < n; ++i) {
        x[i] /= S[i];
    }
    good = tali_envelope_to_range(&e, x, work) && good; // the shortest
    for (int i = 0; i < n; ++i) {
        x[i] *= S[i];
    }
    tal_state_scratch_release(state, mark);
    if (good) return TAL_OK;
    return tal_state_fail(state, TAL_ERR_NO_CONVERGENCE,
                          "constraint forces: the multipliers of %d rows, %d of them redundant, "
                          "could not be found",
                          n, in->blocks[block].redundant);
}

tal_status tali_constraint_find_block_rank(const tal_matter *matter, tal_state *state,
                                           const tali_constraint_row_map *map,
                                           const double *matrices, int block, double limit,
                                           int *rank)
{
    const int rows = tali_constraint_block_rows(&matter->constraints, map, block);
    const size_t mark = tal_state_scratch_mark(state);
    squares_room room;
    tal_status st = take_squares_room(state, rows, &room) ? TAL_OK : TAL_ERR_CAPACITY;
    if (st == TAL_OK) {
        tal_cod cod;
        tal_error why = {TAL_OK, "", ""};
        fill_block_W(matter, map, matrices, block, room.W);
        scale_rows(rows, &room);
        st = tal_cod_factor(&cod, tal_matrix_view(room.W, rows, rows), limit, room.work, room.iwork,
                            &why);
        *rank = st == TAL_OK ? cod.rank : 0;
        if (st == TAL_ERR_NOT_FINITE) st = TAL_OK; // for the accelerations to report
    }
    tal_state_scratch_release(state, mark);
    return st;
}

// --- multipliers, and what they do ---

// The multipliers of all blocks: within the envelope, or by least squares where rows repeat others.
static tal_status solve_blocks(const tal_matter *matter, tal_state *state,
                               const tali_constraint_matrices *in, const double aerr[],
                               double lambda[])
{
    const tali_constraints *cs = &matter->constraints;
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    const size_t mark = tal_state_scratch_mark(state);
    double *x = tal_state_scratch_take(state, (size_t)cs->max_block_rows * sizeof *x);
    tal_status st = x != NULL ? TAL_OK : TAL_ERR_CAPACITY;
    for (int k = 0, row_base = 0; k < cs->num_blocks && st == TAL_OK; ++k) {
        const int rows = tali_constraint_block_rows(cs, &map, k);
        tali_constraint_row_walk from = tali_constraint_walk_block(cs, &map, k), to = from;
        while (tali_constraint_next_row(&from)) {
            x[from.row] = aerr[from.slot];
        }
        if (!in->blocks[k].least_squares) {
            tali_envelope_solve(in->envelope, in->records + row_base, rows, x);
        } else if (tali_constraint_block_is_small(&cs->blocks[k])) {
            st = solve_least_squares(matter, state, &map, in, k, rows, x);
        } else {
            st = solve_in_range(matter, state, &map, in, in->records + row_base, k, x);
        }
        while (st == TAL_OK && tali_constraint_next_row(&to)) {
            lambda[to.slot] = x[to.row];
        }
        row_base += rows;
    }
    tal_state_scratch_release(state, mark);
    return st;
}

tal_status tali_constraints_multipliers(const tal_matter *matter, tal_state *state,
                                        const double aerr[], double lambda[])
{
    tali_constraint_matrices in;
    if (!tali_constraint_see_matrices(matter, state, &in)) return tal_state_error(state)->status;
    return solve_blocks(matter, state, &in, aerr, lambda);
}

// Gathers e along the speeds of a path, in its order; or scatters it back.
static void gather_path(const tal_matter *matter, const tali_constraint *c, const double e[],
                        double along[])
{
    const tali_constraint_path_entry *path = matter->constraints.path + c->path0;
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
    const tali_constraint_path_entry *path = matter->constraints.path + c->path0;
    for (int k = 0; k < c->path_len; ++k) {
        const int u0 = matter->tree.u0[path[k].body];
        for (int j = 0; j < matter->tree.nu[path[k].body]; ++j) {
            e[u0 + j] = along[path[k].e0 + j];
        }
    }
}

// E^T D^-1 e: what the unconstrained accelerations give in each row. `along` has room for a path.
static void add_unconstrained(const tal_matter *matter, const tali_constraint_row_map *map,
                              const double *matrices, const double e[], double along[],
                              double aerr[])
{
    tali_constraint_row_walk at = tali_constraint_walk_all(&matter->constraints, map);
    while (tali_constraint_next_row(&at)) {
        if (at.r == 0) gather_path(matter, at.c, e, along);
        aerr[at.slot] += tali_constraint_dot(tali_constraint_row_of_Y(at.c, matrices, at.r), along,
                                             at.c->path_nu);
    }
}

// e - E lambda
static void subtract_forces(const tal_matter *matter, const tali_constraint_row_map *map,
                            const double *matrices, const double lambda[], double along[],
                            double e[])
{
    tali_constraint_row_walk at = tali_constraint_walk_all(&matter->constraints, map);
    while (tali_constraint_next_row(&at)) {
        if (at.r == 0) gather_path(matter, at.c, e, along);
        const double *E = tali_constraint_row_of_E(at.c, matrices, at.r);
        for (int j = 0; j < at.c->path_nu; ++j) {
            along[j] -= lambda[at.slot] * E[j];
        }
        if (at.r == tali_constraint_rows(at.c) - 1) scatter_path(matter, at.c, along, e);
    }
}

// At zero free udot: G_p udot_p - b.
tal_status tali_constraints_zero_errors(const tal_matter *matter, tal_state *state,
                                        const tali_tree_view *view, double aerr[])
{
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *A0 = tal_state_scratch_take(state, (size_t)matter->num_bodies * sizeof *A0);
    if (A0 == NULL) return TAL_ERR_CAPACITY; // and nothing to release
    for (int b = 0; b < matter->num_bodies; ++b) {
        A0[b] = view->rates[b].A0;
        if (view->A_known != NULL) A0[b] = tal_sv_add(A0[b], view->A_known[b]);
    }
    const tal_status st = tali_constraints_aerr(matter, state, view, A0, view->udot_known, aerr);
    tal_state_scratch_release(state, mark);
    return st;
}

tal_status tali_constraints_solve(const tal_matter *matter, tal_state *state,
                                  const tali_tree_view *view, double e[], double lambda[])
{
    const tali_constraints *cs = &matter->constraints;
    tali_constraint_matrices in;
    if (!tali_constraint_see_matrices(matter, state, &in)) return tal_state_error(state)->status;
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    const size_t mark = tal_state_scratch_mark(state);
    double *aerr = tal_state_scratch_take(state, (size_t)cs->max_rows * sizeof *aerr);
    double *along = tal_state_scratch_take(state, ((size_t)view->tree->num_u + 1) * sizeof *along);
    tal_status st = aerr != NULL && along != NULL ? TAL_OK : TAL_ERR_CAPACITY;
    if (st == TAL_OK) st = tali_constraints_zero_errors(matter, state, view, aerr);
    if (st == TAL_OK) {
        add_unconstrained(matter, &map, in.matrices, e, along, aerr);
        st = tali_constraints_multipliers(matter, state, aerr, lambda);
    }
    if (st == TAL_OK) st = tali_unilaterals_slide(matter, state, view, e, lambda);
    if (st == TAL_OK) subtract_forces(matter, &map, in.matrices, lambda, along, e);
    tal_state_scratch_release(state, mark);
    return st;
}

tal_status tali_constraints_respond(const tal_matter *matter, tal_state *state, const double e[],
                                    double lambda[])
{
    const tali_constraints *cs = &matter->constraints;
    tali_constraint_matrices in;
    if (!tali_constraint_see_matrices(matter, state, &in)) return tal_state_error(state)->status;
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    const size_t mark = tal_state_scratch_mark(state);
    const size_t rows = (size_t)cs->max_rows, nu = (size_t)matter->tree.num_u + 1;
    double *aerr = tal_state_scratch_take(state, rows * sizeof *aerr);
    double *along = tal_state_scratch_take(state, nu * sizeof *along);
    if (aerr == NULL || along == NULL) return TAL_ERR_CAPACITY;
    memset(aerr, 0, rows * sizeof *aerr);
    add_unconstrained(matter, &map, in.matrices, e, along, aerr);
    const tal_status st = tali_constraints_multipliers(matter, state, aerr, lambda);
    tal_state_scratch_release(state, mark);
    return st;
}

// --- what the operators ask for ---

tal_status tali_constraints_W(const tal_matter *matter, tal_state *state, tal_matrix W)
{
    const tali_constraints *cs = &matter->constraints;
    tali_constraint_matrices in;
    if (!tali_constraint_see_matrices(matter, state, &in)) return tal_state_error(state)->status;
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    tali_constraint_row_walk a = tali_constraint_walk_all(cs, &map);
    while (tali_constraint_next_row(&a)) {
        tali_constraint_row_walk b = tali_constraint_walk_block(cs, &map, a.c->block);
        while (tali_constraint_next_row(&b)) {
            if (b.i > a.i) continue;
            const double value =
                tali_constraint_element_of_W(matter, in.matrices, a.i, a.r, b.i, b.r);
            W.data[(size_t)a.slot + (size_t)b.slot * (size_t)W.ld] = value;
            W.data[(size_t)b.slot + (size_t)a.slot * (size_t)W.ld] = value;
        }
    }
    return TAL_OK;
}

tal_status tali_constraints_residual(const tal_matter *matter, tal_state *state,
                                     const tali_tree_view *view, double aerr[])
{
    const tali_constraints *cs = &matter->constraints;
    tali_constraint_matrices in;
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    const size_t nu = (size_t)view->tree->num_u;
    const size_t mark = tal_state_scratch_mark(state);
    if (!tali_constraint_compare_rows(matter, state, &in)) {
        tal_state_scratch_release(state, mark);
        return tal_state_error(state)->status;
    }
    double *lambda = tal_state_scratch_take(state, (size_t)cs->max_rows * sizeof *lambda);
    double *e = tal_state_scratch_take(state, (nu + 1) * sizeof *e);
    double *along = tal_state_scratch_take(state, (nu + 1) * sizeof *along);
    tal_status st = lambda != NULL && e != NULL && along != NULL ? TAL_OK : TAL_ERR_CAPACITY;
    if (st == TAL_OK) st = solve_blocks(matter, state, &in, aerr, lambda);
    if (st == TAL_OK) { // aerr - E^T D^-1 E lambda
        memset(e, 0, nu * sizeof *e);
        subtract_forces(matter, &map, in.matrices, lambda, along, e);
        add_unconstrained(matter, &map, in.matrices, e, along, aerr);
    }
    tal_state_scratch_release(state, mark);
    return st;
}

tal_status tali_constraints_look(const tal_matter *matter, tal_state *state,
                                 tali_constraint_row_look_fn look, void *context)
{
    const tali_constraints *cs = &matter->constraints;
    tali_constraint_matrices in = {.records = NULL};
    const size_t mark = tal_state_scratch_mark(state);
    const bool ok = tali_constraint_compare_rows(matter, state, &in);
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    const tali_envelope_row *record = in.records;
    for (int k = 0; k < cs->num_blocks && ok; ++k) {
        tali_constraint_row_walk at = tali_constraint_walk_block(cs, &map, k);
        for (; tali_constraint_next_row(&at); ++record) {
            const double *L = in.envelope + record->entries;
            const int n = record->column - record->start;
            const double W_ii = tali_constraint_dot(L, L, n + 1);
            const tali_constraint_row_look row = {.block = k,
                                                  .i = at.i,
                                                  .r = at.r,
                                                  .fate = (tal_row_fate)record->fate,
                                                  .share = record->share,
                                                  .limit = record->limit,
                                                  .pivot = L[n] > 0.0 ? L[n] * L[n]
                                                                      : record->share * W_ii,
                                                  .W_ii = W_ii};
            look(context, &row);
        }
    }
    tal_state_scratch_release(state, mark);
    return ok ? TAL_OK : tal_state_error(state)->status;
}
