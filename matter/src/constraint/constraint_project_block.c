// The linear algebra of projection: A along the paths, and its minimum-norm solution.
#include "constraint/constraint_project_internal.h"
#include "constraint/constraint_rank_internal.h"
#include "kernel/passes_internal.h"

#include <talus/common/linalg.h>

#include <float.h>
#include <math.h>

// The least share of a pivot that is trusted at any distance from the constraints.
static const double LEAST_PIVOT = 1e-8;

// The same where each pass gains the digits that are left, four.
static const double LEAST_PIVOT_IN_RANGE = 1e-12;

// The most of a row that may count as lost because q is off.
static const double MOST_LOST = 0.1;

// --- one body ---

static tal_status mul_N(const tali_projection *p, const tal_mobilizer_arg *arg, int b, tal_n_op op,
                        const double in[], double out[])
{
    const tali_tree_body *body = &p->matter->bodies[b];
    const tal_status st = tali_mobilizer_mul_N(&body->ops, body->self, arg, op, in, out);
    if (st == TAL_OK) return st;
    return tal_state_fail(p->state, st, "body '%s': its %s cannot relate qdot and u (%s)",
                          body->name, body->ops.name, tal_status_text(st));
}

static tal_status mul_N_here(const tali_projection *p, int b, tal_n_op op, const double in[],
                             double out[])
{
    const double *q =
        tal_state_q(p->state) + tal_group_start(p->matter->system, p->state, p->matter->q);
    const tal_mobilizer_arg arg = tali_tree_mobilizer_arg_of(p->matter, p->state, b, q, NULL);
    return mul_N(p, &arg, b, op, in, out);
}

// W_u N^+ of a change of q, W_u of a change of u.
static tal_status weigh(const tali_projection *p, int b, const double values[], double out[])
{
    const int u0 = p->matter->tree.u0[b], nu = p->matter->tree.nu[b];
    tal_status st = TAL_OK;
    if (p->velocities) {
        memcpy(out, values + u0, (size_t)nu * sizeof *out);
    } else {
        st = mul_N_here(p, b, TAL_NPLUS, values + p->model.q0[b], out);
    }
    for (int j = 0; j < nu; ++j) {
        out[j] *= p->W_u[u0 + j];
    }
    return st;
}

// --- moving ---

// a + 2 pi k, as near to b as can be
static double nearest_turn(double a, double b)
{
    static const double turn = 6.283185307179586;
    return a + turn * round((b - a) / turn);
}

// Angles describe an orientation in two ways, each up to full turns: the one that is nearest to the
// angles before.
static void choose_angles(const double before[3], double angles[3])
{
    const double other[3] = {angles[0] + TAL_PI, TAL_PI - angles[1], angles[2] + TAL_PI};
    double to[2][3], distance[2] = {0.0, 0.0};
    for (int i = 0; i < 3; ++i) {
        to[0][i] = nearest_turn(angles[i], before[i]);
        to[1][i] = nearest_turn(other[i], before[i]);
        for (int k = 0; k < 2; ++k) {
            distance[k] += (to[k][i] - before[i]) * (to[k][i] - before[i]);
        }
    }
    memcpy(angles, to[distance[1] < distance[0]], 3 * sizeof *angles);
}

// q = from - N s. Where angles could be a quaternion they are moved as one: the way, and so where
// it ends, does not depend on which of them describes the orientation.
static tal_status move_q(const tali_projection *p, int b, const double from[], const double s[],
                         double q[])
{
    const tal_mobilizer_ops *ops = &p->matter->bodies[b].ops;
    double start[TAL_MAX_NQ], dq[TAL_MAX_NQ] = {0.0};
    memcpy(start, from, (size_t)p->model.nq[b] * sizeof *start);
    tal_mobilizer_arg arg = tali_tree_mobilizer_arg_of(p->matter, p->state, b, p->from, NULL);
    const bool turn = arg.use_angles && ops->has_quaternion;
    if (turn) tali_tree_convert_q(ops, from, false, start);
    arg.use_angles = arg.use_angles && !turn;
    arg.q = start;
    const tal_status st = mul_N(p, &arg, b, TAL_N, s, dq);
    if (st != TAL_OK) return st;
    for (int i = 0; i < tali_mobilizer_nq(ops, arg.use_angles); ++i) {
        start[i] -= dq[i];
    }
    if (turn) {
        tali_tree_convert_q(ops, start, true, q);
        choose_angles(from, q);
    } else {
        memcpy(q, start, (size_t)p->model.nq[b] * sizeof *q);
    }
    return TAL_OK;
}

static bool is_zero(const double s[], int n)
{
    int i = 0;
    while (i < n && s[i] == 0.0) {
        ++i;
    }
    return i == n;
}

tal_status tali_projection_move(const tali_projection *p, double fraction, double values[])
{
    const tali_tree *tree = &p->matter->tree;
    memcpy(values, p->from, (size_t)p->num_values * sizeof *values);
    tal_status st = TAL_OK;
    for (int b = 1; b < p->matter->num_bodies && st == TAL_OK; ++b) {
        const int u0 = tree->u0[b], q0 = p->model.q0[b];
        if (is_zero(p->change + u0, tree->nu[b])) continue;
        double s[TAL_MAX_NU];
        for (int j = 0; j < tree->nu[b]; ++j) {
            s[j] = fraction * p->change[u0 + j];
            if (p->velocities) values[u0 + j] -= s[j];
        }
        if (!p->velocities) st = move_q(p, b, p->from + q0, s, values + q0);
    }
    return st;
}

tal_status tali_projection_subtract_change(const tali_projection *p, double values[])
{
    const tali_tree *tree = &p->matter->tree;
    tal_status st = TAL_OK;
    for (int b = 1; b < p->matter->num_bodies && st == TAL_OK; ++b) {
        const int u0 = tree->u0[b], n = p->velocities ? tree->nu[b] : p->model.nq[b];
        double *to = values + (p->velocities ? u0 : p->model.q0[b]);
        if (is_zero(p->change + u0, tree->nu[b])) continue;
        double dq[TAL_MAX_NQ] = {0.0};
        const double *change = p->velocities ? p->change + u0 : dq;
        if (!p->velocities) st = mul_N_here(p, b, TAL_N, p->change + u0, dq);
        for (int i = 0; i < n; ++i) {
            to[i] -= change[i];
        }
    }
    return st;
}

// --- the rows of one block ---

/// How much of a block takes part.
typedef struct extent {
    int block;
    int begin, end; ///< of its constraints, in by_block
    int rows, columns, num_bodies;
} extent;

// Along the rows of a block that take part at this level.
static tali_constraint_row_walk walk_rows(const tali_projection *p, const extent *at)
{
    tali_constraint_row_walk w =
        tali_constraint_walk_block(&p->matter->constraints, &p->map, at->block);
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
        p->row0[i] = rows > 0 ? at.rows : -1;
        p->entries[i] = entries;
        at.rows += rows;
        entries += (size_t)rows * (size_t)c->path_nu;
        for (int k = 0; k < c->path_len && rows > 0; ++k) {
            const int b = cs->path[c->path0 + k].body;
            if (p->column[b] >= 0 || p->matter->tree.nu[b] == 0) continue;
            p->column[b] = at.columns;
            p->bodies[at.num_bodies++] = b;
            at.columns += p->matter->tree.nu[b];
        }
    }
    return at;
}

static double *row_of(const tali_projection *p, int i, int r)
{
    return p->S + p->entries[i] + (size_t)r * (size_t)p->matter->constraints.list[i].path_nu;
}

// T g W_u^-1. Columns of known mobilities are zero, so the least change leaves them alone.
static void fill_row(const tali_projection *p, const tali_tree_view *view, const tali_constraint *c,
                     double T, double row[])
{
    const tali_constraint_path_entry *path = p->matter->constraints.path + c->path0;
    for (int k = 0; k < c->path_len; ++k) {
        const int u0 = p->matter->tree.u0[path[k].body];
        for (int j = 0; j < p->matter->tree.nu[path[k].body]; ++j) {
            const bool is_free = tali_constraint_mobility_is_free(view, u0 + j, p->velocities);
            row[path[k].e0 + j] = is_free ? T * p->g[path[k].e0 + j] / p->W_u[u0 + j] : 0.0;
        }
    }
}

static void fill_rows(const tali_projection *p, const tali_tree_view *view, const double *wrenches,
                      const extent *at)
{
    double reach = 0.0;
    tali_constraint_row_walk w = walk_rows(p, at);
    while (tali_constraint_next_row(&w)) {
        if (w.r == 0) reach = tali_constraint_reach(p->matter, view, w.c);
        tali_constraint_row(p->matter, view, w.c, tali_constraint_wrenches_in(w.c, wrenches), w.r,
                            reach, p->F, p->g);
        if (p->repeats[at->block]) {
            p->length[w.slot] = tali_constraint_row_length(p->matter, view, w.c, p->g, reach);
        }
        fill_row(p, view, w.c, p->T[w.slot], row_of(p, w.i, w.r));
    }
}

// out = A x
static void mul_A(const tali_projection *p, const extent *at, const double x[], double out[])
{
    tali_constraint_row_walk w = walk_rows(p, at);
    while (tali_constraint_next_row(&w)) {
        const double *row = row_of(p, w.i, w.r);
        double sum = 0.0;
        for (int k = w.c->path0; k < w.c->path0 + w.c->path_len; ++k) {
            const int b = w.cs->path[k].body;
            if (p->matter->tree.nu[b] == 0) continue;
            sum += tali_constraint_dot(row + w.cs->path[k].e0, x + p->column[b],
                                       p->matter->tree.nu[b]);
        }
        out[w.row] = sum;
    }
}

// x += A^T y
static void add_AT(const tali_projection *p, const extent *at, const double y[], double x[])
{
    tali_constraint_row_walk w = walk_rows(p, at);
    while (tali_constraint_next_row(&w)) {
        for (int k = w.c->path0; k < w.c->path0 + w.c->path_len; ++k) {
            const int b = w.cs->path[k].body;
            if (p->matter->tree.nu[b] == 0) continue;
            const double *part = row_of(p, w.i, w.r) + w.cs->path[k].e0;
            for (int j = 0; j < p->matter->tree.nu[b]; ++j) {
                x[p->column[b] + j] += y[w.row] * part[j];
            }
        }
    }
}

// --- A A^T in its envelope ---

// One row times another.
static double couple_rows(const tali_projection *p, int i, int r, int j, int t)
{
    const tali_constraint *list = p->matter->constraints.list;
    return tali_constraint_couple_rows(p->matter, &list[i], row_of(p, i, r), &list[j],
                                       row_of(p, j, t));
}

// A row this much shorter than the longest of its constraint has no effect.
static const double NO_EFFECT = 1e-20;

/// How far apart rows must be.
typedef struct distance {
    double pivot; ///< as a share of its diagonal entry in A A^T: less goes to orthogonal factors
    double row;   ///< as a share of a row of A: less counts as nothing
} distance;

// Normal equations square the condition number: they are for pivots that have lost less than eight
// digits. Rows are kept apart as long as they differ by more than sqrt(eps): less, and to correct
// an error along the difference would take a change 1 / sqrt(eps) times as large as the error, too
// far for a matrix that is the linear part of curved constraints. Rows that repeat others where the
// constraints are met differ by some times the angle `turn` by which q is off; there, to correct an
// error would take a change of about a radian. They come in as q comes closer.
static distance distance_for(const tali_projection *p, const extent *at, int rows, double turn)
{
    const double most = p->repeats[at->block] ? MOST_LOST : sqrt(TALI_LARGEST_REDUNDANT_SHARE);
    const double lost = fmin(TALI_RANK_MARGIN * turn, most);
    const double round_off = (double)rows * sqrt(DBL_EPSILON);
    return (distance){.pivot = fmax(LEAST_PIVOT, lost * lost),
                      .row = fmin(fmax(round_off, lost), MOST_LOST)};
}

// Row r of constraint i, up to the diagonal, from the column `start` on. Returns the entry after
// it.
static size_t assemble_row(const tali_projection *p, int i, int r, int start, int num_columns,
                           size_t next)
{
    p->envelope_rows[p->row0[i] + r] =
        (tali_envelope_row){.start = start, .column = num_columns, .entries = next};
    for (int k = start; k < num_columns; ++k) {
        p->envelope[next++] =
            couple_rows(p, i, r, p->envelope_columns[k].constraint, p->envelope_columns[k].r);
    }
    p->envelope[next++] = couple_rows(p, i, r, i, r);
    return next;
}

// True when all rows that have an effect are well apart.
static bool factor_envelope(const tali_projection *p, const extent *at, double least_pivot)
{
    const tali_constraints *cs = &p->matter->constraints;
    bool apart = true;
    size_t next = 0;
    int num_columns = 0;
    for (int n = at->begin; n < at->end; ++n) {
        const int i = cs->by_block[n], rows = tali_projection_rows(p, i);
        if (rows == 0) continue;
        const int first = cs->by_block[tali_constraint_first_coupled(cs, p->row0, n)];
        const int start = first == i ? num_columns : p->envelope_rows[p->row0[first]].column;
        double no_effect = 0.0;
        for (int r = 0; r < rows; ++r) {
            no_effect = fmax(no_effect, NO_EFFECT * couple_rows(p, i, r, i, r));
        }
        for (int r = 0; r < rows; ++r) {
            const int row = p->row0[i] + r;
            next = assemble_row(p, i, r, start, num_columns, next);
            const double diagonal =
                tali_envelope_reduce_row(p->envelope, p->envelope_rows, p->envelope_columns, row);
            const bool repeats = p->envelope_rows[row].share <= least_pivot ||
                                 num_columns == cs->blocks[at->block].speeds;
            const tal_row_fate fate = diagonal <= no_effect ? TAL_ROW_WITHOUT_EFFECT
                                      : repeats             ? TAL_ROW_REDUNDANT
                                                            : TAL_ROW_GOOD;
            if (tali_envelope_accept_row(p->envelope, p->envelope_rows, row, fate)) {
                p->envelope_columns[num_columns++] = (tali_envelope_column){i, r, row};
            }
            apart = apart && fate != TAL_ROW_REDUNDANT;
        }
    }
    return apart;
}

// x = A^T (A A^T)^-1 residual, and again for what that leaves.
static void solve_normal(const tali_projection *p, const extent *at, int passes)
{
    memset(p->x, 0, (size_t)at->columns * sizeof *p->x);
    for (int pass = 0; pass < passes; ++pass) {
        mul_A(p, at, p->x, p->y);
        for (int i = 0; i < at->rows; ++i) {
            p->y[i] = p->residual[i] - p->y[i];
        }
        tali_envelope_solve(p->envelope, p->envelope_rows, at->rows, p->y);
        add_AT(p, at, p->y, p->x);
    }
}

// A block that is not small, with rows that repeat others: normal equations of the others. A pass
// gains the digits that the least pivot has left: four.
static tal_status solve_in_range(const tali_projection *p, const extent *at, double apart)
{
    (void)factor_envelope(p, at, fmax(LEAST_PIVOT_IN_RANGE, apart * apart));
    const tali_envelope e = {.entries = p->envelope, .rows = p->envelope_rows, .n = at->rows};
    if (!tali_envelope_to_range(&e, p->residual, p->work)) {
        return tal_state_fail(p->state, TAL_ERR_NO_CONVERGENCE,
                              "projection: the redundant rows among %d could not be found",
                              at->rows);
    }
    solve_normal(p, at, 4);
    return TAL_OK;
}

// --- A itself ---

static void fill_matrix(const tali_projection *p, const extent *at)
{
    const tal_matrix A = tal_matrix_view(p->A, at->rows, at->columns);
    memset(p->A, 0, (size_t)at->rows * (size_t)at->columns * sizeof *p->A);
    tali_constraint_row_walk w = walk_rows(p, at);
    while (tali_constraint_next_row(&w)) {
        for (int k = w.c->path0; k < w.c->path0 + w.c->path_len; ++k) {
            const int b = w.cs->path[k].body;
            if (p->matter->tree.nu[b] == 0) continue;
            const double *part = row_of(p, w.i, w.r) + w.cs->path[k].e0;
            for (int j = 0; j < p->matter->tree.nu[b]; ++j) {
                A.data[(size_t)w.row + (size_t)(p->column[b] + j) * (size_t)A.ld] = part[j];
            }
        }
    }
}

// Rows of A that differ by less in length are of like size.
static const double ALIKE = 1e3;

// Rows of A and the residual, each by a power of two that makes the row as long as one, unless they
// are alike in view of what counts as nothing: then they are met as well as can be in the units
// given.
static void scale_rows(const tali_projection *p, const extent *at, double most_apart)
{
    const size_t m = (size_t)at->rows;
    double least = HUGE_VAL, most = 0.0;
    for (size_t i = 0; i < m; ++i) {
        double square = 0.0;
        for (size_t j = 0; j < (size_t)at->columns; ++j) {
            square += p->A[i + j * m] * p->A[i + j * m];
        }
        p->y[i] = sqrt(square);
        if (p->y[i] > 0.0) least = fmin(least, p->y[i]);
        most = fmax(most, p->y[i]);
    }
    if (most <= most_apart * least) return;
    for (size_t i = 0; i < m; ++i) {
        int exponent = 0;
        (void)frexp(p->y[i], &exponent); // 0 for a row without effect
        const double scale = ldexp(1.0, -exponent);
        p->x[i] *= scale;
        for (size_t j = 0; j < (size_t)at->columns; ++j) {
            p->A[i + j * m] *= scale;
        }
    }
}

// x = A^+ residual
static tal_status solve_orthogonal(const tali_projection *p, const extent *at, double apart)
{
    fill_matrix(p, at);
    const int ld = at->rows > at->columns ? at->rows : at->columns;
    memcpy(p->x, p->residual, (size_t)at->rows * sizeof *p->x);
    scale_rows(p, at, ALIKE * distance_for(p, at, at->rows, 0.0).row / apart);
    tal_cod cod;
    tal_error why = {TAL_OK, "", ""};
    tal_status st = tal_cod_factor(&cod, tal_matrix_view(p->A, at->rows, at->columns), apart,
                                   p->work, p->iwork, &why);
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
    tali_constraint_row_walk w = walk_rows(p, at);
    while (tali_constraint_next_row(&w)) {
        p->residual[w.row] = p->T[w.slot] * errors[w.slot];
    }
}

// A W_u N^+ values, or A W_u values
static tal_status see_values(const tali_projection *p, const extent *at, const double values[])
{
    tal_status st = TAL_OK;
    for (int k = 0; k < at->num_bodies && st == TAL_OK; ++k) {
        const int b = p->bodies[k];
        st = weigh(p, b, values, p->x + p->column[b]);
    }
    if (st == TAL_OK) mul_A(p, at, p->x, p->residual);
    return st;
}

// The position errors of a block whose rows repeat others, as an angle.
static double turn_of(const tali_projection *p, int block)
{
    const tali_constraints *cs = &p->matter->constraints;
    const double *qerr =
        tal_state_qerr(p->state) + tal_group_start(p->matter->system, p->state, cs->qerr);
    double turn = 0.0;
    tali_constraint_row_walk w = tali_constraint_walk_block(cs, &p->map, block);
    w.levels = TALI_ROWS_P;
    while (tali_constraint_next_row(&w)) {
        turn = fmax(turn, tali_constraint_turn(qerr[w.slot], p->length[w.slot]));
    }
    return turn;
}

// The least change of one block: from its errors, or the part of `values` that its constraints see.
static tal_status change_block(const tali_projection *p, const tali_tree_view *view,
                               const double *wrenches, const extent *at, const double values[])
{
    tal_status st = TAL_OK;
    fill_rows(p, view, wrenches, at);
    if (values == NULL) gather_errors(p, at);
    if (values != NULL) st = see_values(p, at, values);
    if (st != TAL_OK) return st;
    const bool repeats = p->repeats[at->block] != 0;
    double turn = repeats ? turn_of(p, at->block) : 0.0;
    const bool apart = factor_envelope(p, at, distance_for(p, at, at->rows, turn).pivot);
    if (apart) {
        solve_normal(p, at, 2);
    } else if (st == TAL_OK) {
        const bool is_small =
            tali_constraint_block_is_small(&p->matter->constraints.blocks[at->block]);
        if (!repeats) {
            st = tali_constraint_block_turn(p->matter, p->state, view, &p->map, wrenches, at->block,
                                            &turn);
        }
        if (st == TAL_OK && is_small) {
            st = solve_orthogonal(p, at, distance_for(p, at, at->rows, turn).row);
        } else if (st == TAL_OK) {
            st = solve_in_range(p, at, distance_for(p, at, 0, turn).row);
        }
    }
    for (int k = 0; k < at->num_bodies && st == TAL_OK; ++k) { // W_u^-1 x
        const int b = p->bodies[k], u0 = p->matter->tree.u0[b];
        for (int j = 0; j < p->matter->tree.nu[b]; ++j) {
            p->change[u0 + j] = p->x[p->column[b] + j] / p->W_u[u0 + j];
        }
    }
    return st;
}

// NULL when they cannot be computed; the State says why, since nothing is realized after them.
static const double *see_wrenches(const tali_projection *p, tali_tree_view *view)
{
    if (!tali_tree_realize_view(p->matter, p->state, TALI_POSITION, view)) return NULL;
    return tal_cache_realize(p->matter->system, p->state, p->matter->constraints.wrenches);
}

tal_status tali_projection_calc_change(const tali_projection *p, const double values[])
{
    const tali_constraints *cs = &p->matter->constraints;
    tali_tree_view view;
    const double *wrenches = see_wrenches(p, &view);
    if (wrenches == NULL) return tal_state_error(p->state)->status;
    memset(p->change, 0, (size_t)p->matter->tree.num_u * sizeof *p->change);
    for (int b = 0; b < p->matter->num_bodies; ++b) {
        p->column[b] = -1;
    }
    tal_status st = TAL_OK;
    for (int block = 0; block < cs->num_blocks && st == TAL_OK; ++block) {
        if (p->is_partial && !p->repeats[block]) continue;
        const extent at = measure_block(p, block);
        if (at.rows == 0 || at.columns == 0) continue;
        st = change_block(p, &view, wrenches, &at, values);
    }
    return st;
}

double tali_projection_turn(const tali_projection *p)
{
    double turn = 0.0;
    for (int block = 0; block < p->matter->constraints.num_blocks; ++block) {
        if (p->repeats[block]) turn = fmax(turn, turn_of(p, block));
    }
    return turn;
}

// --- memory ---

// Cuts the arrays of a projection out of `block`; returns their bytes, also without a block.
static size_t carve(const tal_matter *matter, tali_projection *p, void *block)
{
    const tali_constraints *cs = &matter->constraints;
    const size_t m = (size_t)cs->max_block_rows, n = (size_t)cs->max_block_speeds;
    const size_t num_rows = (size_t)(cs->mp + cs->mv), count = (size_t)cs->count;
    const size_t num_q = (size_t)matter->tree.max_nq, num_u = (size_t)matter->tree.num_u;
    const size_t num_bodies = (size_t)matter->num_bodies;
    const int dense_rows = cs->max_small_rows, dense_columns = cs->max_small_speeds;
    const size_t dense_work = tal_cod_work_size(dense_rows, dense_columns);
    const size_t range_work = tali_envelope_work_size(cs->max_block_rows);
    const size_t num_work = dense_work > range_work ? dense_work : range_work;
    const tali_piece pieces[] = {
        {&p->T, num_rows * sizeof *p->T},
        {&p->length, num_rows * sizeof *p->length},
        {&p->start, num_q * sizeof *p->start},
        {&p->from, num_q * sizeof *p->from},
        {&p->change, num_u * sizeof *p->change},
        {&p->column, num_bodies * sizeof *p->column},
        {&p->bodies, num_bodies * sizeof *p->bodies},
        {&p->repeats, count * sizeof *p->repeats},
        {&p->row0, count * sizeof *p->row0},
        {&p->entries, count * sizeof *p->entries},
        {&p->S, cs->max_block_entries * sizeof *p->S},
        {&p->A, cs->max_small_matrix * sizeof *p->A},
        {&p->envelope, cs->max_block_envelope * sizeof *p->envelope},
        {&p->envelope_rows, m * sizeof *p->envelope_rows},
        {&p->envelope_columns, m * sizeof *p->envelope_columns},
        {&p->residual, m * sizeof *p->residual},
        {&p->y, m * sizeof *p->y},
        {&p->x, (m + n) * sizeof *p->x},
        {&p->g, num_u * sizeof *p->g},
        {&p->F, (size_t)cs->max_path_len * sizeof *p->F},
        {&p->work, num_work * sizeof *p->work},
        {&p->iwork, tal_cod_iwork_size(dense_rows, dense_columns) * sizeof *p->iwork},
    };
    return tali_pieces_place(pieces, sizeof pieces / sizeof pieces[0], block);
}

size_t tali_projection_scratch(const tal_matter *matter)
{
    tali_projection p;
    return carve(matter, &p, NULL);
}

bool tali_projection_take_room(tali_projection *p)
{
    void *block = tal_state_scratch_take(p->state, tali_projection_scratch(p->matter));
    if (block != NULL) (void)carve(p->matter, p, block);
    return block != NULL;
}
