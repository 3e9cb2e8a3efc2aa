// The linear algebra of projection: A along the paths, and its minimum-norm solution.
#include "constraint_project_internal.h"
#include "sweeps_internal.h"

#include <talus/common/linalg.h>

#include <float.h>
#include <math.h>

// --- the error norm, body by body ---

static const double *q_of(const tali_projection *p)
{
    return tal_state_q(p->state) + tal_group_start(p->matter->system, p->state, p->matter->q);
}

static tal_status mul_N(const tali_projection *p, int b, tal_n_op op, const double in[],
                        double out[])
{
    const tali_body *body = &p->matter->bodies[b];
    const tal_mobilizer_arg arg = tali_mobilizer_arg_of(p->matter, p->state, b, q_of(p), NULL);
    const tal_status st = tali_mobilizer_mul_N(&body->ops, body->self, &arg, op, in, out);
    if (st == TAL_OK) return st;
    return tal_state_fail(p->state, st, "body '%s': its %s cannot relate qdot and u (%s)",
                          body->name, body->ops.name, tal_status_text(st));
}

static int width_of(const tali_projection *p, int b)
{
    return p->velocities ? p->matter->tree.nu[b] : p->model.nq[b];
}

static int first_of(const tali_projection *p, int b)
{
    return p->velocities ? p->matter->tree.u0[b] : p->model.q0[b];
}

// s -> W_u s, or W_u^-1 s, of one body.
static void scale_by_weights(const tali_projection *p, int b, bool invert, double s[])
{
    const int u0 = p->matter->tree.u0[b];
    for (int j = 0; j < p->matter->tree.nu[b]; ++j) {
        s[j] = invert ? s[j] / p->W_u[u0 + j] : s[j] * p->W_u[u0 + j];
    }
}

// E x, or E^+ x: E_q = N W_u N^+ (manual eq. 10.10), E_u = W_u. `x` and `out` may be the same.
static tal_status apply_E(const tali_projection *p, int b, bool invert, const double x[],
                          double out[])
{
    double s[TAL_MAX_NU] = {0.0};
    tal_status st = TAL_OK;
    if (p->velocities) {
        memcpy(s, x, (size_t)p->matter->tree.nu[b] * sizeof *s);
    } else {
        st = mul_N(p, b, TAL_NPLUS, x, s);
    }
    scale_by_weights(p, b, invert, s);
    if (st != TAL_OK) return st;
    if (!p->velocities) return mul_N(p, b, TAL_N, s, out);
    memcpy(out, s, (size_t)p->matter->tree.nu[b] * sizeof *s);
    return TAL_OK;
}

// --- the rows of one block ---

/// How much of a block takes part.
typedef struct extent {
    int block;
    int begin, end; ///< of its constraints, in by_block
    int rows, columns, num_bodies;
} extent;

// Along the rows of a block that take part at this level.
static tali_row_walk walk_rows(const tali_projection *p, const extent *at)
{
    tali_row_walk w = tali_walk_block(&p->matter->constraints, &p->map, at->block);
    w.levels = p->velocities ? TALI_ROWS_PV : TALI_ROWS_P;
    return w;
}

// Gives the bodies of a block their columns. A body with mobilities belongs to one block only, so
// `column` need not be cleared between blocks.
static extent measure_block(const tali_projection *p, int block)
{
    const tali_constraints *cs = &p->matter->constraints;
    extent at = {
        .block = block, .begin = cs->block_begin[block], .end = cs->block_begin[block + 1]};
    size_t entries = 0;
    for (int n = at.begin; n < at.end; ++n) {
        const int i = cs->by_block[n];
        const tali_constraint *c = &cs->list[i];
        const int rows = tali_projection_rows(p, i);
        p->row0[i] = at.rows;
        p->entries[i] = entries;
        at.rows += rows;
        entries += (size_t)rows * (size_t)p->width[i];
        for (int k = 0; k < c->path_len && rows > 0; ++k) {
            const int b = cs->path[c->path0 + k].body;
            if (p->column[b] >= 0 || p->matter->tree.nu[b] == 0) continue;
            p->column[b] = at.columns;
            p->bodies[at.num_bodies++] = b;
            at.columns += width_of(p, b);
        }
    }
    return at;
}

// One body's part of one row: T g W_u^-1 N^+. Columns of known mobilities stay zero, so the least
// change leaves them alone.
static tal_status fill_part(const tali_projection *p, const tali_view *view, int b,
                            const double g[], double T, double to[])
{
    double w[TAL_MAX_NU] = {0.0};
    const int u0 = p->matter->tree.u0[b], nu = p->matter->tree.nu[b];
    for (int j = 0; j < nu; ++j) {
        if (tali_mobility_is_free(view, u0 + j, p->velocities)) w[j] = T * g[j];
    }
    scale_by_weights(p, b, true, w);
    if (!p->velocities) return mul_N(p, b, TAL_NPLUS_T, w, to);
    memcpy(to, w, (size_t)nu * sizeof *w);
    return TAL_OK;
}

static double *row_of(const tali_projection *p, int i, int r)
{
    return p->S + p->entries[i] + (size_t)r * (size_t)p->width[i];
}

// A row in p->g as the mobilities that may change see it. One that is left without effect on them, as where a
// locked joint does what it asks for, is zero and not what round-off leaves of it.
static void drop_known(const tali_projection *p, const tali_view *view, const tali_constraint *c,
                       tali_const_wrenches of, int r, double reach)
{
    const tali_path_entry *path = p->matter->constraints.path + c->path0;
    bool has_known = false;
    for (int k = 0; k < c->path_len; ++k) {
        const int u0 = p->matter->tree.u0[path[k].body];
        for (int j = 0; j < p->matter->tree.nu[path[k].body]; ++j) {
            if (tali_mobility_is_free(view, u0 + j, p->velocities)) continue;
            p->g[path[k].e0 + j] = 0.0;
            has_known = true;
        }
    }
    if (has_known && tali_row_is_idle(p->matter, view, c, of, r, reach, p->g)) {
        memset(p->g, 0, (size_t)c->path_nu * sizeof *p->g);
    }
}

static tal_status fill_rows(const tali_projection *p, const tali_view *view, const double *wrenches,
                            const extent *at)
{
    const tali_path_entry *path = p->matter->constraints.path;
    tal_status st = TAL_OK;
    double reach = 0.0;
    tali_row_walk w = walk_rows(p, at);
    while (st == TAL_OK && tali_next_row(&w)) {
        if (w.r == 0) reach = tali_constraint_reach(p->matter, view, w.c);
        const tali_const_wrenches of = tali_wrenches_in(w.c, wrenches);
        tali_constraint_row(p->matter, view, w.c, of, w.r, reach, p->F, p->g);
        drop_known(p, view, w.c, of, w.r, reach);
        for (int k = w.c->path0; k < w.c->path0 + w.c->path_len && st == TAL_OK; ++k) {
            if (p->matter->tree.nu[path[k].body] == 0) continue;
            double *to = row_of(p, w.i, w.r) + p->offset[k];
            st = fill_part(p, view, path[k].body, p->g + path[k].e0, p->T[w.slot], to);
        }
    }
    return st;
}

// out = A x
static void mul_A(const tali_projection *p, const extent *at, const double x[], double out[])
{
    tali_row_walk w = walk_rows(p, at);
    while (tali_next_row(&w)) {
        const double *row = row_of(p, w.i, w.r);
        double sum = 0.0;
        for (int k = w.c->path0; k < w.c->path0 + w.c->path_len; ++k) {
            const int b = w.cs->path[k].body;
            if (p->matter->tree.nu[b] == 0) continue;
            sum += tali_dot(row + p->offset[k], x + p->column[b], width_of(p, b));
        }
        out[w.row] = sum;
    }
}

// x += A^T y
static void add_AT(const tali_projection *p, const extent *at, const double y[], double x[])
{
    tali_row_walk w = walk_rows(p, at);
    while (tali_next_row(&w)) {
        for (int k = w.c->path0; k < w.c->path0 + w.c->path_len; ++k) {
            const int b = w.cs->path[k].body;
            if (p->matter->tree.nu[b] == 0) continue;
            const double *part = row_of(p, w.i, w.r) + p->offset[k];
            for (int j = 0; j < width_of(p, b); ++j) {
                x[p->column[b] + j] += y[w.row] * part[j];
            }
        }
    }
}

// --- A A^T in its envelope ---

// One row times another: paths are met where they have bodies in common.
static double couple_rows(const tali_projection *p, int i, int r, int j, int t)
{
    const tali_constraints *cs = &p->matter->constraints;
    const double *a = row_of(p, i, r), *b = row_of(p, j, t);
    if (i == j) return tali_dot(a, b, p->width[i]);
    const int k_end = cs->list[i].path0 + cs->list[i].path_len;
    const int l_end = cs->list[j].path0 + cs->list[j].path_len;
    double sum = 0.0;
    for (int k = cs->list[i].path0, l = cs->list[j].path0; k < k_end && l < l_end;) {
        const int body = cs->path[k].body, other = cs->path[l].body;
        if (body == other && p->matter->tree.nu[body] > 0) {
            sum += tali_dot(a + p->offset[k], b + p->offset[l], width_of(p, body));
        }
        k += body >= other;
        l += other >= body;
    }
    return sum;
}

// A row this much shorter than the longest of its constraint has no effect.
static const double NO_EFFECT = 1e-20;

// Normal equations square the condition number: a pivot that has lost eight digits goes to the
// orthogonal factorization instead.
static const double LEAST_PIVOT = 1e-8;

// Row r of the n-th constraint, up to the diagonal, from the rows of the constraint `first` on.
// Returns the entry after it.
static size_t assemble_row(const tali_projection *p, int first, int n, int r, size_t next)
{
    const int32_t *by_block = p->matter->constraints.by_block;
    const int i = by_block[n];
    p->envelope_rows[p->row0[i] + r] =
        (tali_envelope_row){.start = p->row0[by_block[first]], .entries = next};
    for (int k = first; k <= n; ++k) {
        const int j = by_block[k];
        const int end = j == i ? r + 1 : tali_projection_rows(p, j);
        for (int t = 0; t < end; ++t) {
            p->envelope[next++] = couple_rows(p, i, r, j, t);
        }
    }
    return next;
}

// True when all rows that have an effect are well apart.
static bool factor_envelope(const tali_projection *p, const extent *at)
{
    const tali_constraints *cs = &p->matter->constraints;
    bool apart = true;
    size_t next = 0;
    for (int n = at->begin; n < at->end; ++n) {
        const int i = cs->by_block[n], rows = tali_projection_rows(p, i);
        const int first = tali_first_coupled(cs, n);
        double largest = 0.0;
        for (int r = 0; r < rows; ++r) {
            largest = fmax(largest, couple_rows(p, i, r, i, r));
        }
        for (int row = p->row0[i]; row < p->row0[i] + rows; ++row) {
            next = assemble_row(p, first, n, row - p->row0[i], next);
            tali_envelope_factor_row(p->envelope, p->envelope_rows, row, LEAST_PIVOT,
                                     NO_EFFECT * largest);
            apart = apart && p->envelope_rows[row].fate != TAL_ROW_REDUNDANT;
        }
    }
    return apart;
}

// x = A^T (A A^T)^-1 residual, and once more for what that leaves.
static void solve_normal(const tali_projection *p, const extent *at)
{
    memset(p->x, 0, (size_t)at->columns * sizeof *p->x);
    for (int pass = 0; pass < 2; ++pass) {
        mul_A(p, at, p->x, p->y);
        for (int i = 0; i < at->rows; ++i) {
            p->y[i] = p->residual[i] - p->y[i];
        }
        tali_envelope_solve(p->envelope, p->envelope_rows, at->rows, p->y);
        add_AT(p, at, p->y, p->x);
    }
}

// --- A itself ---

static void fill_matrix(const tali_projection *p, const extent *at)
{
    const tal_matrix A = tal_matrix_view(p->A, at->rows, at->columns);
    memset(p->A, 0, (size_t)at->rows * (size_t)at->columns * sizeof *p->A);
    tali_row_walk w = walk_rows(p, at);
    while (tali_next_row(&w)) {
        for (int k = w.c->path0; k < w.c->path0 + w.c->path_len; ++k) {
            const int b = w.cs->path[k].body;
            if (p->matter->tree.nu[b] == 0) continue;
            const double *part = row_of(p, w.i, w.r) + p->offset[k];
            for (int j = 0; j < width_of(p, b); ++j) {
                A.data[(size_t)w.row + (size_t)(p->column[b] + j) * (size_t)A.ld] = part[j];
            }
        }
    }
}

// Rows are kept apart as long as they differ by more than this. Less, and to correct an error along
// the difference would take a change 1 / sqrt(eps) times as large as the error: too far for a matrix
// that is the linear part of curved constraints.
static double rank_tolerance(int rows)
{
    return fmin((double)rows * sqrt(DBL_EPSILON), 0.1);
}

// x = A^+ residual
static tal_status solve_orthogonal(const tali_projection *p, const extent *at)
{
    fill_matrix(p, at);
    const int ld = at->rows > at->columns ? at->rows : at->columns;
    memcpy(p->x, p->residual, (size_t)at->rows * sizeof *p->x);
    tal_cod cod;
    tal_error why = {TAL_OK, "", ""};
    tal_status st = tal_cod_factor(&cod, tal_matrix_view(p->A, at->rows, at->columns),
                                   rank_tolerance(at->rows), p->work, p->iwork, &why);
    const tal_matrix B = {p->x, at->rows, 1, ld};
    const tal_matrix X = {p->x, at->columns, 1, ld};
    if (st == TAL_OK) st = tal_cod_solve(&cod, B, X, &why);
    return st == TAL_OK ? st : tal_state_fail(p->state, st, "projection: %s", why.message);
}

// --- one block ---

// T e of the block's rows.
static void gather_errors(const tali_projection *p, const extent *at)
{
    const double *errors = tali_projection_errors(p);
    tali_row_walk w = walk_rows(p, at);
    while (tali_next_row(&w)) {
        p->residual[w.row] = p->T[w.slot] * errors[w.slot];
    }
}

// A E values
static tal_status see_values(const tali_projection *p, const extent *at, const double values[])
{
    tal_status st = TAL_OK;
    for (int k = 0; k < at->num_bodies && st == TAL_OK; ++k) {
        const int b = p->bodies[k];
        st = apply_E(p, b, false, values + first_of(p, b), p->x + p->column[b]);
    }
    if (st == TAL_OK) mul_A(p, at, p->x, p->residual);
    return st;
}

static tal_status change_block(const tali_projection *p, const tali_view *view,
                               const double *wrenches, const extent *at, const double values[])
{
    tal_status st = fill_rows(p, view, wrenches, at);
    if (st == TAL_OK && values == NULL) gather_errors(p, at);
    if (st == TAL_OK && values != NULL) st = see_values(p, at, values);
    if (st != TAL_OK) return st;
    if (factor_envelope(p, at)) {
        solve_normal(p, at);
    } else {
        st = solve_orthogonal(p, at);
    }
    for (int k = 0; k < at->num_bodies && st == TAL_OK; ++k) {
        const int b = p->bodies[k];
        st = apply_E(p, b, true, p->x + p->column[b], p->change + first_of(p, b));
    }
    return st;
}

tal_status tali_projection_calc_change(const tali_projection *p, const double values[])
{
    const tali_constraints *cs = &p->matter->constraints;
    tali_view view;
    const double *wrenches = tal_cache_realize(p->matter->system, p->state, cs->wrenches);
    if (wrenches == NULL || !tali_view_at(p->matter, p->state, TALI_POSITION, &view)) {
        return tal_state_error(p->state)->status;
    }
    memset(p->change, 0, (size_t)p->num_values * sizeof *p->change);
    for (int b = 0; b < p->matter->num_bodies; ++b) {
        p->column[b] = -1;
    }
    tal_status st = TAL_OK;
    for (int block = 0; block < cs->num_blocks && st == TAL_OK; ++block) {
        const extent at = measure_block(p, block);
        if (at.rows == 0 || at.columns == 0) continue;
        st = change_block(p, &view, wrenches, &at, values);
    }
    return st;
}

// --- memory ---

static size_t doubles(size_t n)
{
    return tali_align((n + 1) * sizeof(double));
}

static size_t largest_matrix(const tali_constraints *cs)
{
    return (size_t)cs->max_block_rows * (size_t)cs->max_block_q;
}

size_t tali_projection_scratch(const tal_matter *matter)
{
    const tali_constraints *cs = &matter->constraints;
    const int m = cs->max_block_rows, n = cs->max_block_q;
    const size_t count = (size_t)cs->count;
    return doubles((size_t)(cs->mp + cs->mv)) + 3 * doubles((size_t)matter->tree.max_nq) +
           2 * tali_align((size_t)matter->num_bodies * sizeof(int32_t)) +
           tali_align(((size_t)cs->path_total + 1) * sizeof(int32_t)) +
           2 * tali_align(count * sizeof(int32_t)) + tali_align(count * sizeof(size_t)) +
           doubles(cs->max_block_entries) + doubles(largest_matrix(cs)) +
           doubles(cs->max_block_envelope) + tali_align((size_t)m * sizeof(tali_envelope_row) + 1) +
           2 * doubles((size_t)m) + doubles((size_t)m + (size_t)n) +
           doubles((size_t)matter->tree.num_u) +
           tali_align((size_t)cs->max_path_len * sizeof(tal_spatial_vec) + 1) +
           doubles(tal_cod_work_size(m, n)) +
           tali_align(tal_cod_iwork_size(m, n) * sizeof(int) + 1);
}

static void *take(tali_projection *p, size_t bytes)
{
    void *piece = tal_state_scratch_take(p->state, bytes);
    if (piece == NULL) p->is_short = true;
    return piece;
}

static double *take_doubles(tali_projection *p, size_t n)
{
    return take(p, doubles(n));
}

// Where bodies stand in rows: known once the level and the model are.
static void lay_out_rows(const tali_projection *p)
{
    const tali_constraints *cs = &p->matter->constraints;
    for (int i = 0; i < cs->count; ++i) {
        p->width[i] = 0;
        for (int k = cs->list[i].path0; k < cs->list[i].path0 + cs->list[i].path_len; ++k) {
            p->offset[k] = p->width[i];
            p->width[i] += width_of(p, cs->path[k].body);
        }
    }
}

bool tali_projection_take_room(tali_projection *p)
{
    const tal_matter *matter = p->matter;
    const tali_constraints *cs = &matter->constraints;
    const int m = cs->max_block_rows, n = cs->max_block_q;
    const size_t bodies = (size_t)matter->num_bodies * sizeof(int32_t);
    const size_t count = (size_t)cs->count;
    const size_t path = ((size_t)cs->path_total + 1) * sizeof(int32_t);
    p->T = take_doubles(p, (size_t)(cs->mp + cs->mv));
    p->start = take_doubles(p, (size_t)matter->tree.max_nq);
    p->from = take_doubles(p, (size_t)matter->tree.max_nq);
    p->change = take_doubles(p, (size_t)matter->tree.max_nq);
    p->column = take(p, bodies);
    p->bodies = take(p, bodies);
    p->offset = take(p, path);
    p->width = take(p, count * sizeof(int32_t));
    p->row0 = take(p, count * sizeof(int32_t));
    p->entries = take(p, count * sizeof(size_t));
    p->S = take_doubles(p, cs->max_block_entries);
    p->A = take_doubles(p, largest_matrix(cs));
    p->envelope = take_doubles(p, cs->max_block_envelope);
    p->envelope_rows = take(p, (size_t)m * sizeof(tali_envelope_row) + 1);
    p->residual = take_doubles(p, (size_t)m);
    p->y = take_doubles(p, (size_t)m);
    p->x = take_doubles(p, (size_t)m + (size_t)n);
    p->g = take_doubles(p, (size_t)matter->tree.num_u);
    p->F = take(p, (size_t)cs->max_path_len * sizeof *p->F + 1);
    p->work = take_doubles(p, tal_cod_work_size(m, n));
    p->iwork = take(p, tal_cod_iwork_size(m, n) * sizeof *p->iwork + 1);
    if (p->is_short) return false;
    lay_out_rows(p);
    return true;
}
