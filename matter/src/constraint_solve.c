// Solving for multipliers: rows in use, W = G M^-1 G^T by its envelope, Cholesky or least squares.
#include "constraint_internal.h"
#include "sweeps_internal.h"

#include "constraint_envelope.h"

#include <talus/common/linalg.h>
#include <talus/matter/constraint_operators.h>

#include <float.h>
#include <math.h>

// --- rows in use, determined at Instance ---

// Four arrays of counts, then the totals.
static size_t row_map_bytes(const tali_constraints *cs)
{
    return ((size_t)cs->count * 4 + 3) * sizeof(int32_t);
}

tali_row_map tali_row_map_of(const tal_matter *matter, const tal_state *state)
{
    const tali_constraints *cs = &matter->constraints;
    const int32_t *at = tal_cache_value(matter->system, state, cs->rows);
    const int n = cs->count;
    return (tali_row_map){.p0 = at,
                          .v0 = at + n,
                          .a0 = at + 2 * n,
                          .row0 = at + 3 * n,
                          .mp = at[4 * n],
                          .mv = at[4 * n + 1],
                          .ma = at[4 * n + 2]};
}

// Constraints on fast bodies are met by relaxing and have no rows here (manual sec. 10.3).
static bool takes_part(const tali_constraint *c, uint8_t is_enabled)
{
    return is_enabled && c->fast_level == TAL_LEVEL_FREE;
}

// Row numbers run through a block, so the rows of one block stand together in its matrix.
static tal_status calc_rows(const void *self, const tal_system *system, tal_state *state,
                            void *value)
{
    const tal_matter *matter = self;
    const tali_constraints *cs = &matter->constraints;
    const uint8_t *enabled = tal_var_value(system, state, cs->enabled);
    int32_t *at = value;
    int32_t total[3] = {0, 0, 0};
    const int n = cs->count;
    for (int i = 0; i < n; ++i) {
        const tal_constraint_ops *ops = &cs->list[i].ops;
        at[i] = total[0], at[n + i] = total[1], at[2 * n + i] = total[2];
        if (!takes_part(&cs->list[i], enabled[i])) continue;
        total[0] += ops->mp, total[1] += ops->mv, total[2] += ops->ma;
    }
    at[4 * n] = total[0], at[4 * n + 1] = total[1], at[4 * n + 2] = total[2];
    for (int k = 0; k < cs->num_blocks; ++k) {
        int rows = 0;
        for (int j = cs->block_begin[k]; j < cs->block_begin[k + 1]; ++j) {
            const int i = cs->by_block[j];
            const bool counts = takes_part(&cs->list[i], enabled[i]);
            at[3 * n + i] = counts ? rows : -1;
            if (counts) rows += tali_rows(&cs->list[i]);
        }
    }
    return TAL_OK;
}

tal_status tali_constraints_realize_instance(const tal_matter *matter, tal_state *state)
{
    const tali_constraints *cs = &matter->constraints;
    if (cs->count == 0) return TAL_OK;
    const tal_system *system = matter->system;
    if (tal_cache_realize(system, state, cs->rows) == NULL) return tal_state_error(state)->status;
    const tali_row_map map = tali_row_map_of(matter, state);
    tal_status st = tal_group_set_size(system, state, cs->qerr, map.mp, NULL);
    if (st == TAL_OK) st = tal_group_set_size(system, state, cs->uerr, map.mp + map.mv, NULL);
    if (st == TAL_OK) {
        st = tal_group_set_size(system, state, cs->udoterr, map.mp + map.mv + map.ma, NULL);
    }
    return st;
}

// --- the matrices: wrenches, E = inward sweep of G^T, and W = E^T D^-1 E in its envelope ---

// The cache entry: doubles of the constraints, envelopes of the blocks, then one record per row.
typedef struct matrices_layout {
    size_t envelope, records, blocks, size;
} matrices_layout;

static matrices_layout lay_out_matrices(const tali_constraints *cs)
{
    matrices_layout at = {.envelope = tali_align(cs->matrix_doubles * sizeof(double))};
    at.records = at.envelope + tali_align(cs->envelope_doubles * sizeof(double));
    at.blocks = at.records + tali_align((size_t)cs->max_rows * sizeof(tali_envelope_row));
    at.size = at.blocks + tali_align((size_t)cs->num_blocks * sizeof(int32_t) + 1);
    return at;
}

/// What the cache entry holds, to be read.
typedef struct matrices_view {
    const double *matrices; ///< E and Y of the constraints
    const double *envelope; ///< of W, factored, block by block
    const tali_envelope_row *records;
    const int32_t *redundant; ///< [num_blocks] rows that repeat others
} matrices_view;

// False when the matrices cannot be computed: the State has the sentence.
static bool see_matrices(const tal_matter *matter, tal_state *state, matrices_view *out)
{
    const tali_constraints *cs = &matter->constraints;
    const char *entry = tal_cache_realize(matter->system, state, cs->matrices);
    if (entry == NULL) return false;
    const matrices_layout at = lay_out_matrices(cs);
    *out = (matrices_view){.matrices = (const double *)(const void *)entry,
                           .envelope = (const double *)(const void *)(entry + at.envelope),
                           .records = (const tali_envelope_row *)(const void *)(entry + at.records),
                           .redundant = (const int32_t *)(const void *)(entry + at.blocks)};
    return true;
}

// Row r of E and of Y, each [path_nu]: the rows of E come first, then those of Y.
static const double *row_of_E(const tali_constraint *c, const double *matrices, int r)
{
    return matrices + c->matrix0 + (size_t)r * (size_t)c->path_nu;
}

static const double *row_of_Y(const tali_constraint *c, const double *matrices, int r)
{
    return row_of_E(c, matrices, tali_rows(c) + r);
}

// What row r puts on its path: -wrenches in z [path_len], coefficients in f [path_nu].
static void load_path(const tali_constraint *c, const tali_path_places *at, tali_const_wrenches of,
                      int r, tal_spatial_vec z[], double f[])
{
    const tal_spatial_vec *wrench = of.wrench + (size_t)r * (size_t)tali_num_wrenches(c);
    const double *coefficient = of.coefficient + (size_t)r * (size_t)c->num_mobilities;
    memset(f, 0, (size_t)c->path_nu * sizeof *f);
    memset(z, 0, (size_t)c->path_len * sizeof *z);
    for (int i = 0; i < tali_num_wrenches(c); ++i) {
        if (at->wrench[i] < 0) continue;
        z[at->wrench[i]] = tal_sv_sub(z[at->wrench[i]], wrench[i]);
    }
    for (int i = 0; i < c->num_mobilities; ++i) {
        f[at->speed[i]] += coefficient[i];
    }
}

// Inward sweeps of the columns of G^T that belong to one constraint. z and f are room for its path.
static void sweep_rows(const tal_matter *matter, const tali_view *view, const tali_constraint *c,
                       tali_const_wrenches of, double *matrices, tal_spatial_vec z[], double f[])
{
    const tali_path_entry *path = matter->constraints.path + c->path0;
    const size_t nu = (size_t)c->path_nu, m = (size_t)tali_rows(c);
    const double reach = tali_constraint_reach(matter, view, c);
    const tali_path_places at = tali_find_on_path(matter, c);
    for (int r = 0; r < tali_rows(c); ++r) {
        double *e = matrices + c->matrix0 + (size_t)r * nu;
        double *y = e + m * nu;
        load_path(c, &at, of, r, z, f);
        view->sweeps->path(view, path, c->path_len, f, z, e, y);
        if (tali_row_is_idle(matter, view, c, of, r, reach, e)) {
            memset(e, 0, nu * sizeof *e);
            memset(y, 0, nu * sizeof *y);
        }
    }
}

// G_c M^-1 G_d^T for one row of each: the paths are met where they have bodies in common.
static double couple_rows(const tal_matter *matter, const tali_constraint *c, const double E_c[],
                          const tali_constraint *d, const double Y_d[])
{
    if (c == d) return tali_dot(E_c, Y_d, c->path_nu);
    const tali_path_entry *p = matter->constraints.path + c->path0;
    const tali_path_entry *q = matter->constraints.path + d->path0;
    double sum = 0.0;
    for (int i = 0, j = 0; i < c->path_len && j < d->path_len;) {
        if (p[i].body == q[j].body) {
            sum += tali_dot(E_c + p[i].e0, Y_d + q[j].e0, matter->tree.nu[p[i].body]);
            ++i, ++j;
        } else if (p[i].body > q[j].body) {
            ++i;
        } else {
            ++j;
        }
    }
    return sum;
}

// Element of W between row r of constraint i and row s of constraint j.
static double element_of_W(const tal_matter *matter, const double *matrices, int i, int r, int j,
                           int s)
{
    const tali_constraint *c = &matter->constraints.list[i];
    const tali_constraint *d = &matter->constraints.list[j];
    return couple_rows(matter, c, row_of_E(c, matrices, r), d, row_of_Y(d, matrices, s));
}

// A row whose share of W is this much smaller than its constraint's largest has no effect: 1e-20 in terms of
// motion. Rows on positions and on orientations of one constraint differ by the square of a length, which is
// 1e-20 for atoms in meters; a row of round-off alone is zero already (tali_row_is_idle()).
static const double WITHOUT_EFFECT = 1e-40;

// A pivot that has lost this much of its diagonal entry was the difference of equal numbers.
static double redundant_pivot(int rows)
{
    return 64.0 * (double)rows * DBL_EPSILON;
}

/// W being assembled and factored, row by row.
typedef struct assembly {
    const tal_matter *matter;
    const tali_row_map *map;
    const double *matrices;
    double *envelope;
    size_t next;                ///< entry of the envelope
    tali_envelope_row *records; ///< of the block
} assembly;

// The scale of what the rows of one constraint can do.
static double largest_diagonal(const assembly *a, int i)
{
    double largest = 0.0;
    for (int r = 0; r < tali_rows(&a->matter->constraints.list[i]); ++r) {
        largest = fmax(largest, element_of_W(a->matter, a->matrices, i, r, i, r));
    }
    return largest;
}

// Row r of the n-th constraint, up to the diagonal: it begins with the first row in use among the
// constraints from `first` on.
static void assemble_row(assembly *a, int first, int n, int r)
{
    const tali_constraints *cs = &a->matter->constraints;
    const int i = cs->by_block[n];
    tali_envelope_row *row = &a->records[a->map->row0[i] + r];
    *row = (tali_envelope_row){.start = -1, .entries = a->next};
    for (int k = first; k <= n; ++k) {
        const int j = cs->by_block[k];
        if (a->map->row0[j] < 0) continue;
        if (row->start < 0) row->start = a->map->row0[j];
        const int end = j == i ? r + 1 : tali_rows(&cs->list[j]);
        for (int s = 0; s < end; ++s) {
            a->envelope[a->next++] = element_of_W(a->matter, a->matrices, i, r, j, s);
        }
    }
}

// Assembles and factors the rows of the n-th constraint. Returns how many are redundant.
static int factor_constraint(assembly *a, int n)
{
    const tali_constraints *cs = &a->matter->constraints;
    const int i = cs->by_block[n];
    const int first = tali_first_coupled(cs, n);
    const double least = WITHOUT_EFFECT * largest_diagonal(a, i);
    int redundant = 0;
    for (int r = 0; r < tali_rows(&cs->list[i]); ++r) {
        const int row = a->map->row0[i] + r;
        assemble_row(a, first, n, r);
        tali_envelope_factor_row(a->envelope, a->records, row, redundant_pivot(cs->max_block_rows),
                                 least);
        redundant += a->records[row].fate == TAL_ROW_REDUNDANT;
    }
    return redundant;
}

static int factor_block(assembly *a, int block)
{
    const tali_constraints *cs = &a->matter->constraints;
    int redundant = 0;
    for (int n = cs->block_begin[block]; n < cs->block_begin[block + 1]; ++n) {
        if (a->map->row0[cs->by_block[n]] >= 0) redundant += factor_constraint(a, n);
    }
    return redundant;
}

// True when known motion leaves a constraint nothing to act on: its equations are about motion
// relative to its ancestor, so what is free must lie between the two. Its E is zero then, but the
// sweeps would find round-off: what acts on one body and reacts on another is summed below the
// ancestor.
static bool is_idle(const tal_matter *matter, const tali_view *view, const tali_constraint *c)
{
    const tali_path_entry *path = matter->constraints.path + c->path0;
    int below = c->ancestor; // the path comes tip to base, and so do the bodies below the ancestor
    for (int k = 0; k < c->path_len; ++k) {
        const int b = path[k].body;
        if (b == below) {
            below = matter->tree.parent[b];
        } else if (matter->tree.nu[b] > 0 && view->hinge[b] != TALI_HINGE_LOCKED) {
            return false;
        }
    }
    for (int i = 0; i < c->num_mobilities; ++i) {
        const int u = matter->tree.u0[c->mobility_bodies[i]] + c->mobility_index[i];
        if (view->level[u] == TAL_LEVEL_FREE) return false;
    }
    return true;
}

// E and Y of all constraints in use.
static tal_status calc_sweeps(const tal_matter *matter, tal_state *state, const tali_view *view,
                              const tali_row_map *map, const double *wrenches, double *matrices)
{
    const tali_constraints *cs = &matter->constraints;
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *z = tal_state_scratch_take(state, (size_t)cs->max_path_len * sizeof *z + 1);
    double *f = tal_state_scratch_take(state, ((size_t)matter->tree.num_u + 1) * sizeof *f);
    const tal_status st = z != NULL && f != NULL ? TAL_OK : TAL_ERR_CAPACITY;
    for (int i = 0; i < cs->count && st == TAL_OK; ++i) {
        const tali_constraint *c = &cs->list[i];
        if (map->row0[i] < 0) continue;
        if (is_idle(matter, view, c)) {
            const size_t both = 2 * (size_t)tali_rows(c) * (size_t)c->path_nu;
            memset(matrices + c->matrix0, 0, both * sizeof *matrices);
        } else {
            sweep_rows(matter, view, c, tali_wrenches_in(c, wrenches), matrices, z, f);
        }
    }
    tal_state_scratch_release(state, mark);
    return st;
}

static tal_status calc_matrices(const void *self, const tal_system *system, tal_state *state,
                                void *value)
{
    const tal_matter *matter = self;
    const tali_constraints *cs = &matter->constraints;
    tali_view view;
    const double *wrenches = tal_cache_realize(system, state, cs->wrenches);
    if (wrenches == NULL || !tali_view_at(matter, state, TALI_ARTICULATED, &view)) {
        return TAL_ERR_CALLBACK;
    }
    const tali_row_map map = tali_row_map_of(matter, state);
    const tal_status st = calc_sweeps(matter, state, &view, &map, wrenches, value);
    if (st != TAL_OK) return st;
    const matrices_layout at = lay_out_matrices(cs);
    char *bytes = value;
    int32_t *redundant = (int32_t *)(void *)(bytes + at.blocks);
    assembly a = {.matter = matter,
                  .map = &map,
                  .matrices = value,
                  .envelope = (double *)(void *)(bytes + at.envelope),
                  .records = (tali_envelope_row *)(void *)(bytes + at.records)};
    for (int k = 0; k < cs->num_blocks; ++k) {
        redundant[k] = factor_block(&a, k);
        a.records += tali_block_rows(cs, &map, k);
    }
    return TAL_OK;
}

// --- solving ---

int tali_block_rows(const tali_constraints *cs, const tali_row_map *map, int block)
{
    int rows = 0;
    for (int n = cs->block_begin[block]; n < cs->block_begin[block + 1]; ++n) {
        const int i = cs->by_block[n];
        if (map->row0[i] >= 0) rows += tali_rows(&cs->list[i]);
    }
    return rows;
}

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
                element_of_W(matter, matrices, a.i, a.r, b.i, b.r);
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

// W -> D W D and x -> D x, so that all diagonal entries are near one: exact, by powers of two. Rows on
// orientations and on positions differ by the square of a length in W, and which rows are dependent must
// not depend on whether that is a meter or a micrometer. Rows that are alike stay as they are: what
// contradicts is then met as well as can be in the units given.
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

// From the shortest mu of D W D mu = D b to the shortest lambda = D mu: less its part in the null space of W,
// which is D times that of D W D.
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
    if (!take_squares_room(state, rows, &room)) return TAL_ERR_CAPACITY;
    fill_block_W(matter, map, matrices, block, room.W);
    weigh_by_shares(matter, state, map, block, room.W, x);
    const bool alike = are_alike(rows, room.W);
    if (!alike) scale_rows(rows, &room, x);
    tal_cod cod;
    tal_error why = {TAL_OK, "", ""};
    // a pivot in the envelope counted as redundant at the same relative size
    tal_status st =
        tal_cod_factor(&cod, tal_matrix_view(room.W, rows, rows),
                       redundant_pivot(cs->max_block_rows), room.work, room.iwork, &why);
    const tal_matrix X = tal_matrix_view(x, rows, 1);
    if (st == TAL_OK) st = tal_cod_solve(&cod, X, X, &why);
    if (st == TAL_OK && !alike) st = shorten(rows, &cod, &room, x, &why);
    weigh_by_shares(matter, state, map, block, NULL, x);
    tal_state_scratch_release(state, mark);
    return st == TAL_OK ? st : tal_state_fail(state, st, "constraint forces: %s", why.message);
}

tal_status tali_constraints_multipliers(const tal_matter *matter, tal_state *state,
                                        const double aerr[], double lambda[])
{
    const tali_constraints *cs = &matter->constraints;
    matrices_view in;
    if (!see_matrices(matter, state, &in)) return tal_state_error(state)->status;
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
        aerr[at.slot] += tali_dot(row_of_Y(at.c, matrices, at.r), along, at.c->path_nu);
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
        const double *E = row_of_E(at.c, matrices, at.r);
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
    if (A0 == NULL) return TAL_ERR_CAPACITY;
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
    matrices_view in;
    if (!see_matrices(matter, state, &in)) return tal_state_error(state)->status;
    const tali_row_map map = tali_row_map_of(matter, state);
    const size_t mark = tal_state_scratch_mark(state);
    double *aerr = tal_state_scratch_take(state, (size_t)cs->max_rows * sizeof *aerr);
    double *along = tal_state_scratch_take(state, ((size_t)view->tree->num_u + 1) * sizeof *along);
    if (aerr == NULL || along == NULL) return TAL_ERR_CAPACITY;
    tal_status st = tali_constraints_zero_errors(matter, state, view, aerr);
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
    matrices_view in;
    if (!see_matrices(matter, state, &in)) return tal_state_error(state)->status;
    const tali_row_map map = tali_row_map_of(matter, state);
    tali_row_walk a = tali_walk_all(cs, &map);
    while (tali_next_row(&a)) {
        tali_row_walk b = tali_walk_block(cs, &map, a.c->block);
        while (tali_next_row(&b) && b.i <= a.i) {
            const double value = element_of_W(matter, in.matrices, a.i, a.r, b.i, b.r);
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
    matrices_view in;
    if (!see_matrices(matter, state, &in)) return tal_state_error(state)->status;
    const tali_row_map map = tali_row_map_of(matter, state);
    const size_t nu = (size_t)view->tree->num_u;
    const size_t mark = tal_state_scratch_mark(state);
    double *lambda = tal_state_scratch_take(state, (size_t)cs->max_rows * sizeof *lambda);
    double *e = tal_state_scratch_take(state, (nu + 1) * sizeof *e);
    double *along = tal_state_scratch_take(state, (nu + 1) * sizeof *along);
    if (lambda == NULL || e == NULL || along == NULL) return TAL_ERR_CAPACITY;
    const tal_status st = tali_constraints_multipliers(matter, state, aerr, lambda);
    memset(e, 0, nu * sizeof *e);
    if (st == TAL_OK) { // aerr - E^T D^-1 E lambda
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
    matrices_view in;
    if (!see_matrices(matter, state, &in)) return tal_state_error(state)->status;
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

// --- declaring ---

static tal_group_ix add_group(tal_matter *matter, const char *name, tal_pool pool, int capacity)
{
    tal_group_def def = tal_group_def_default();
    def.name = name;
    def.pool = pool;
    def.capacity = capacity;
    return tal_system_add_group(matter->system, matter->me, &def);
}

static void declare_variables(tal_matter *matter)
{
    tali_constraints *cs = &matter->constraints;
    const size_t n = (size_t)cs->count, bytes = n * (sizeof(double) + 1);
    double *ones = tali_alloc(&matter->allocator, bytes);
    if (ones == NULL) {
        (void)tal_system_fail(matter->system, TAL_ERR_NO_MEMORY, "no memory for constraints");
        return;
    }
    uint8_t *enabled = (uint8_t *)(ones + n);
    for (int i = 0; i < cs->count; ++i) {
        enabled[i] = !cs->list[i].disabled;
        ones[i] = 1.0;
    }
    tal_var_def def = tal_var_def_default();
    def.name = "enabled constraints";
    def.size = (size_t)cs->count;
    def.initial = enabled;
    cs->enabled = tal_system_add_var(matter->system, matter->me, &def);
    const double none = 0.0;
    def.name = "constraint parameters";
    def.size = (size_t)(cs->num_params > 0 ? cs->num_params : 1) * sizeof(double);
    def.initial = cs->num_params > 0 ? cs->params : &none;
    cs->var_params = tal_system_add_var(matter->system, matter->me, &def);
    def.name = "constraint shares";
    def.size = n * sizeof(double);
    def.initial = ones;
    def.invalidates = TAL_STAGE_ACCELERATION;
    cs->shares = tal_system_add_var(matter->system, matter->me, &def);
    tali_free(&matter->allocator, ones, bytes);
}

void tali_constraints_declare_slots(tal_matter *matter)
{
    tali_constraints *cs = &matter->constraints;
    if (cs->count == 0) return;
    cs->qerr = add_group(matter, "constraints", TAL_POOL_QERR, cs->mp);
    cs->uerr = add_group(matter, "constraints", TAL_POOL_UERR, cs->mp + cs->mv);
    cs->udoterr = add_group(matter, "constraints", TAL_POOL_UDOTERR, cs->max_rows);
    declare_variables(matter);
}

void tali_constraints_declare_cache(tal_matter *matter)
{
    tali_constraints *cs = &matter->constraints;
    if (cs->count == 0) return;
    tal_cache_def def = tal_cache_def_default();
    def.name = "constraint rows";
    def.size = row_map_bytes(cs);
    def.depends_on = TAL_STAGE_INSTANCE;
    def.computed_by = TAL_STAGE_INSTANCE;
    def.calc = calc_rows;
    cs->rows = tal_system_add_cache(matter->system, matter->me, &def);

    tali_constraints_declare_wrenches(matter);
    const tal_prereq needs[] = {tal_prereq_cache(matter->articulated),
                                tal_prereq_cache(cs->wrenches)};
    def.name = "constraint matrices";
    def.size = lay_out_matrices(cs).size;
    def.depends_on = TAL_STAGE_INSTANCE;
    def.computed_by = TAL_STAGE_INFINITY;
    def.calc = calc_matrices;
    def.prereqs = needs;
    def.num_prereqs = 2;
    cs->matrices = tal_system_add_cache(matter->system, matter->me, &def);
}

// Least squares and projection, each with matrices of a whole block, never run inside each other:
// one piece serves both.
size_t tali_constraints_scratch(const tal_matter *matter)
{
    const tali_constraints *cs = &matter->constraints;
    if (cs->count == 0) return 0;
    const size_t n = (size_t)cs->max_block_rows;
    const size_t least_squares = 2 * tali_align(n * n * sizeof(double)) +
                                 2 * tali_align(n * sizeof(double)) +
                                 tali_align(tal_cod_work_size((int)n, (int)n) * sizeof(double)) +
                                 tali_align(tal_cod_iwork_size((int)n, (int)n) * sizeof(int) + 1);
    const size_t projection = tali_projection_scratch(matter);
    return tali_align((size_t)cs->max_path_len * sizeof(tal_spatial_vec) + 1) +
           3 * tali_align(((size_t)matter->tree.num_u + 1) * sizeof(double)) +
           5 * tali_align((size_t)cs->max_rows * sizeof(double)) +
           tali_align((size_t)matter->num_bodies * sizeof(tal_spatial_vec)) +
           (least_squares > projection ? least_squares : projection);
}
