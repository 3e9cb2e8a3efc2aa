// Solving for multipliers: rows in use, W = G M^-1 G^T by its envelope, Cholesky or least squares.
#include "constraint_internal.h"
#include "sweeps_internal.h"

#include <talus/common/linalg.h>
#include <talus/matter/constraint_operators.h>

#include <float.h>
#include <math.h>

// --- rows in use: what Instance settles ---

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
        if (enabled[i]) total[0] += ops->mp, total[1] += ops->mv, total[2] += ops->ma;
    }
    at[4 * n] = total[0], at[4 * n + 1] = total[1], at[4 * n + 2] = total[2];
    for (int k = 0; k < cs->num_blocks; ++k) {
        int rows = 0;
        for (int j = cs->block_begin[k]; j < cs->block_begin[k + 1]; ++j) {
            const int i = cs->by_block[j];
            at[3 * n + i] = enabled[i] ? rows : -1;
            if (enabled[i]) rows += tali_rows(&cs->list[i]);
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
typedef struct row_record {
    int32_t start;  // first column of its envelope, in its block
    int32_t fate;   // tal_row_fate
    size_t entries; // where its envelope begins
} row_record;

typedef struct matrices_layout {
    size_t envelope, records, blocks, size;
} matrices_layout;

static matrices_layout lay_out_matrices(const tali_constraints *cs)
{
    matrices_layout at = {.envelope = tali_align(cs->matrix_doubles * sizeof(double))};
    at.records = at.envelope + tali_align(cs->envelope_doubles * sizeof(double));
    at.blocks = at.records + tali_align((size_t)cs->max_rows * sizeof(row_record));
    at.size = at.blocks + tali_align((size_t)cs->num_blocks * sizeof(int32_t) + 1);
    return at;
}

// E and Y of one constraint, each [m x path_nu].
static const double *E_of(const tali_constraint *c, const double *matrices)
{
    return matrices + c->matrix0;
}

static const double *Y_of(const tali_constraint *c, const double *matrices)
{
    return E_of(c, matrices) + (size_t)tali_rows(c) * (size_t)c->path_nu;
}

// Inward sweeps of the columns of G^T that belong to one constraint.
static void sweep_rows(const tal_matter *matter, const tali_view *view, const tali_constraint *c,
                       tali_const_wrenches of, double *matrices, tal_spatial_vec z[], double f[])
{
    const tali_path_entry *path = matter->constraints.path + c->path0;
    double *E = matrices + c->matrix0;
    double *Y = E + (size_t)tali_rows(c) * (size_t)c->path_nu;
    for (int r = 0; r < tali_rows(c); ++r) {
        for (int k = 0; k < c->path_len; ++k) {
            z[k] = TAL_SPATIAL_VEC_ZERO;
            for (int i = 0; i < tali_num_wrenches(c); ++i) {
                if (tali_wrench_body(c, i) != path[k].body) continue;
                z[k] = tal_sv_sub(z[k], of.wrench[r * tali_num_wrenches(c) + i]);
            }
        }
        for (int j = 0; j < c->path_nu; ++j) {
            f[j] = 0.0;
        }
        for (int k = 0; k < c->path_len; ++k) {
            for (int i = 0; i < c->num_mobilities; ++i) {
                if (c->mobility_bodies[i] != path[k].body) continue;
                f[path[k].e0 + c->mobility_index[i]] += of.coefficient[r * c->num_mobilities + i];
            }
        }
        tali_sweep_path(view, path, c->path_len, f, z, E + r * c->path_nu, Y + r * c->path_nu);
    }
}

static double dot(const double a[], const double b[], int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

// G_c M^-1 G_d^T for one row of each: the paths are met where they have bodies in common.
static double couple_rows(const tal_matter *matter, const tali_constraint *c, const double E_c[],
                          const tali_constraint *d, const double Y_d[])
{
    if (c == d) return dot(E_c, Y_d, c->path_nu);
    const tali_path_entry *p = matter->constraints.path + c->path0;
    const tali_path_entry *q = matter->constraints.path + d->path0;
    double sum = 0.0;
    for (int i = 0, j = 0; i < c->path_len && j < d->path_len;) {
        if (p[i].body == q[j].body) {
            sum += dot(E_c + p[i].e0, Y_d + q[j].e0, matter->tree.nu[p[i].body]);
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
static double W_element(const tal_matter *matter, const double *matrices, int i, int r, int j,
                        int s)
{
    const tali_constraint *c = &matter->constraints.list[i];
    const tali_constraint *d = &matter->constraints.list[j];
    return couple_rows(matter, c, E_of(c, matrices) + r * c->path_nu, d,
                       Y_of(d, matrices) + s * d->path_nu);
}

// A row whose share of W is this much smaller than its constraint's largest has no effect: 1e-10 in
// terms of motion, well above round-off and well below any mechanism's geometry.
static const double WITHOUT_EFFECT = 1e-20;

// A pivot that has lost this much of its diagonal entry was the difference of equal numbers.
static double redundant_pivot(int rows)
{
    return 64.0 * (double)rows * DBL_EPSILON;
}

// Cholesky of one row of the envelope: L_ij = (W_ij - sum_k L_ik L_jk) / L_jj.
static void factor_row(double envelope[], row_record records[], int i, int rows, double largest)
{
    row_record *row = &records[i];
    double *L = envelope + row->entries - row->start;
    const double diagonal = L[i];
    for (int j = row->start; j <= i; ++j) {
        const double *other = envelope + records[j].entries - records[j].start;
        const int first = records[j].start > row->start ? records[j].start : row->start;
        const double rest = L[j] - dot(L + first, other + first, j - first);
        if (j < i) {
            L[j] = other[j] > 0.0 ? rest / other[j] : 0.0;
            continue;
        }
        row->fate = diagonal <= WITHOUT_EFFECT * largest       ? TAL_ROW_WITHOUT_EFFECT
                    : rest <= redundant_pivot(rows) * diagonal ? TAL_ROW_REDUNDANT
                                                               : TAL_ROW_GOOD;
        L[i] = row->fate == TAL_ROW_GOOD ? sqrt(rest) : 0.0;
    }
}

// The rows of one block: assemble each from its first coupled constraint on, and factor it. Returns
// how many are redundant.
static int factor_block(const tal_matter *matter, const tali_row_map *map, const double *matrices,
                        int block, double envelope[], row_record records[], size_t *next)
{
    const tali_constraints *cs = &matter->constraints;
    const int begin = cs->block_begin[block], end = cs->block_begin[block + 1];
    int redundant = 0;
    for (int n = begin; n < end; ++n) {
        const int i = cs->by_block[n];
        const tali_constraint *c = &cs->list[i];
        if (map->row0[i] < 0) continue;
        double largest = 0.0;
        for (int r = 0; r < tali_rows(c); ++r) {
            largest = fmax(largest, W_element(matter, matrices, i, r, i, r));
        }
        for (int r = 0; r < tali_rows(c); ++r) {
            row_record *row = &records[map->row0[i] + r];
            *row = (row_record){.start = -1, .entries = *next};
            for (int k = begin; k <= n; ++k) {
                const int j = cs->by_block[k];
                if (map->row0[j] < 0 || j < c->first_coupled) continue;
                if (row->start < 0) row->start = map->row0[j];
                const int last = j == i ? r + 1 : tali_rows(&cs->list[j]);
                for (int s = 0; s < last; ++s) {
                    envelope[(*next)++] = W_element(matter, matrices, i, r, j, s);
                }
            }
            factor_row(envelope, records, map->row0[i] + r, cs->max_block_rows, largest);
            redundant += row->fate == TAL_ROW_REDUNDANT;
        }
    }
    return redundant;
}

// True when known motion leaves a constraint nothing to act on: its equations are about motion
// relative to its ancestor, so what is free must lie between the two. Its E is zero then, but the sweeps
// would find round-off: what acts on one body and reacts on another is summed below the ancestor.
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
    const matrices_layout at = lay_out_matrices(cs);
    const tali_row_map map = tali_row_map_of(matter, state);
    double *matrices = value;
    double *envelope = (double *)(void *)((char *)value + at.envelope);
    row_record *records = (row_record *)(void *)((char *)value + at.records);
    int32_t *redundant = (int32_t *)(void *)((char *)value + at.blocks);

    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *z = tal_state_scratch_take(state, (size_t)cs->max_path_len * sizeof *z + 1);
    double *f = tal_state_scratch_take(state, ((size_t)matter->tree.num_u + 1) * sizeof *f);
    tal_status st = z != NULL && f != NULL ? TAL_OK : TAL_ERR_CAPACITY;
    for (int i = 0; i < cs->count && st == TAL_OK; ++i) {
        if (map.row0[i] < 0) continue;
        const tali_constraint *c = &cs->list[i];
        if (is_idle(matter, &view, c)) {
            const size_t n = (size_t)tali_rows(c) * (size_t)c->path_nu;
            memset(matrices + c->matrix0, 0, 2 * n * sizeof(double)); // E and Y
        } else {
            sweep_rows(matter, &view, c, tali_wrenches_in(c, wrenches), matrices, z, f);
        }
    }
    tal_state_scratch_release(state, mark);

    size_t next = 0;
    int row_base = 0;
    for (int k = 0; k < cs->num_blocks && st == TAL_OK; ++k) {
        redundant[k] = factor_block(matter, &map, matrices, k, envelope, records + row_base, &next);
        row_base += tali_block_rows(cs, &map, k);
    }
    return st;
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

// W x = b in place, with the factored envelope. Rows without effect keep a multiplier of zero.
static void solve_envelope(const double envelope[], const row_record records[], int rows,
                           double x[])
{
    for (int i = 0; i < rows; ++i) {
        const double *L = envelope + records[i].entries - records[i].start;
        const double rest =
            x[i] - dot(L + records[i].start, x + records[i].start, i - records[i].start);
        x[i] = L[i] > 0.0 ? rest / L[i] : 0.0;
    }
    for (int i = rows - 1; i >= 0; --i) {
        const double *L = envelope + records[i].entries - records[i].start;
        x[i] = L[i] > 0.0 ? x[i] / L[i] : 0.0;
        for (int j = records[i].start; j < i; ++j) {
            x[j] -= L[j] * x[i];
        }
    }
}

// W of one block, rows x rows.
static void fill_W(const tal_matter *matter, const tali_row_map *map, const double *matrices,
                   int block, double W[])
{
    const tali_constraints *cs = &matter->constraints;
    const size_t n = (size_t)tali_block_rows(cs, map, block);
    for (int a = cs->block_begin[block]; a < cs->block_begin[block + 1]; ++a) {
        for (int b = cs->block_begin[block]; b < cs->block_begin[block + 1]; ++b) {
            const int i = cs->by_block[a], j = cs->by_block[b];
            if (map->row0[i] < 0 || map->row0[j] < 0) continue;
            for (int r = 0; r < tali_rows(&cs->list[i]); ++r) {
                for (int t = 0; t < tali_rows(&cs->list[j]); ++t) {
                    W[(size_t)(map->row0[i] + r) + n * (size_t)(map->row0[j] + t)] =
                        W_element(matter, matrices, i, r, j, t);
                }
            }
        }
    }
}

// The multipliers with the least sum of squares, when rows repeat each other.
static tal_status solve_least_squares(const tal_matter *matter, tal_state *state,
                                      const tali_row_map *map, const double *matrices, int block,
                                      int rows, double x[])
{
    const tali_constraints *cs = &matter->constraints;
    const size_t mark = tal_state_scratch_mark(state);
    const size_t n = (size_t)rows;
    double *W = tal_state_scratch_take(state, n * n * sizeof *W);
    double *work = tal_state_scratch_take(state, tal_cod_work_size(rows, rows) * sizeof *work);
    int *iwork = tal_state_scratch_take(state, tal_cod_iwork_size(rows, rows) * sizeof *iwork + 1);
    if (W == NULL || work == NULL || iwork == NULL) return TAL_ERR_CAPACITY;
    fill_W(matter, map, matrices, block, W);
    tal_cod cod;
    tal_error why = {TAL_OK, "", ""};
    // a pivot in the envelope counted as redundant at the same relative size
    tal_status st = tal_cod_factor(&cod, tal_matrix_view(W, rows, rows),
                                   redundant_pivot(cs->max_block_rows), work, iwork, &why);
    const tal_matrix X = tal_matrix_view(x, rows, 1);
    if (st == TAL_OK) st = tal_cod_solve(&cod, X, X, &why);
    tal_state_scratch_release(state, mark);
    return st == TAL_OK ? st : tal_state_fail(state, st, "constraint forces: %s", why.message);
}

tal_status tali_constraints_multipliers(const tal_matter *matter, tal_state *state,
                                        const double aerr[], double lambda[])
{
    const tali_constraints *cs = &matter->constraints;
    const char *bytes = tal_cache_realize(matter->system, state, cs->matrices);
    if (bytes == NULL) return tal_state_error(state)->status;
    const matrices_layout at = lay_out_matrices(cs);
    const double *matrices = (const double *)(const void *)bytes;
    const double *envelope = (const double *)(const void *)(bytes + at.envelope);
    const row_record *records = (const row_record *)(const void *)(bytes + at.records);
    const int32_t *redundant = (const int32_t *)(const void *)(bytes + at.blocks);
    const tali_row_map map = tali_row_map_of(matter, state);

    const size_t mark = tal_state_scratch_mark(state);
    double *x = tal_state_scratch_take(state, (size_t)cs->max_block_rows * sizeof *x);
    tal_status st = x != NULL ? TAL_OK : TAL_ERR_CAPACITY;
    for (int k = 0, row_base = 0; k < cs->num_blocks && st == TAL_OK; ++k) {
        const int rows = tali_block_rows(cs, &map, k);
        for (int pass = 0; pass < 2 && st == TAL_OK; ++pass) { // gather, solve, scatter
            for (int n = cs->block_begin[k]; n < cs->block_begin[k + 1]; ++n) {
                const int i = cs->by_block[n];
                for (int r = 0; map.row0[i] >= 0 && r < tali_rows(&cs->list[i]); ++r) {
                    const int slot = tali_row_slot(&map, &cs->list[i], i, r);
                    if (pass == 0) x[map.row0[i] + r] = aerr[slot];
                    if (pass == 1) lambda[slot] = x[map.row0[i] + r];
                }
            }
            if (pass == 1) break;
            if (redundant[k] > 0) {
                st = solve_least_squares(matter, state, &map, matrices, k, rows, x);
            } else {
                solve_envelope(envelope, records + row_base, rows, x);
            }
        }
        row_base += rows;
    }
    tal_state_scratch_release(state, mark);
    return st;
}

// E^T D^-1 e: what the unconstrained accelerations make of each row.
static void add_unconstrained(const tal_matter *matter, const tali_row_map *map,
                              const double *matrices, const double e[], double aerr[])
{
    const tali_constraints *cs = &matter->constraints;
    for (int i = 0; i < cs->count; ++i) {
        const tali_constraint *c = &cs->list[i];
        for (int r = 0; map->row0[i] >= 0 && r < tali_rows(c); ++r) {
            const double *Y = Y_of(c, matrices) + r * c->path_nu;
            double sum = 0.0;
            for (int k = 0; k < c->path_len; ++k) {
                const tali_path_entry p = cs->path[c->path0 + k];
                sum += dot(Y + p.e0, e + matter->tree.u0[p.body], matter->tree.nu[p.body]);
            }
            aerr[tali_row_slot(map, c, i, r)] += sum;
        }
    }
}

// e - E lambda
static void subtract_forces(const tal_matter *matter, const tali_row_map *map,
                            const double *matrices, const double lambda[], double e[])
{
    const tali_constraints *cs = &matter->constraints;
    for (int i = 0; i < cs->count; ++i) {
        const tali_constraint *c = &cs->list[i];
        for (int r = 0; map->row0[i] >= 0 && r < tali_rows(c); ++r) {
            const double *E = E_of(c, matrices) + r * c->path_nu;
            const double push = lambda[tali_row_slot(map, c, i, r)];
            for (int k = 0; k < c->path_len; ++k) {
                const tali_path_entry p = cs->path[c->path0 + k];
                double *at = e + matter->tree.u0[p.body];
                for (int j = 0; j < matter->tree.nu[p.body]; ++j) {
                    at[j] -= push * E[p.e0 + j];
                }
            }
        }
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
    const double *matrices = tal_cache_realize(matter->system, state, cs->matrices);
    if (matrices == NULL) return tal_state_error(state)->status;
    const tali_row_map map = tali_row_map_of(matter, state);
    const size_t mark = tal_state_scratch_mark(state);
    double *aerr = tal_state_scratch_take(state, (size_t)cs->max_rows * sizeof *aerr);
    if (aerr == NULL) return TAL_ERR_CAPACITY;
    tal_status st = tali_constraints_zero_errors(matter, state, view, aerr);
    if (st == TAL_OK) {
        add_unconstrained(matter, &map, matrices, e, aerr);
        st = tali_constraints_multipliers(matter, state, aerr, lambda);
    }
    if (st == TAL_OK) subtract_forces(matter, &map, matrices, lambda, e);
    tal_state_scratch_release(state, mark);
    return st;
}

// --- what the operators ask for ---

tal_status tali_constraints_W(const tal_matter *matter, tal_state *state, tal_matrix W)
{
    const tali_constraints *cs = &matter->constraints;
    const double *matrices = tal_cache_realize(matter->system, state, cs->matrices);
    if (matrices == NULL) return tal_state_error(state)->status;
    const tali_row_map map = tali_row_map_of(matter, state);
    for (int i = 0; i < cs->count; ++i) {
        for (int j = 0; j <= i; ++j) {
            if (map.row0[i] < 0 || map.row0[j] < 0 || cs->list[i].block != cs->list[j].block) {
                continue;
            }
            for (int r = 0; r < tali_rows(&cs->list[i]); ++r) {
                const int row = tali_row_slot(&map, &cs->list[i], i, r);
                for (int t = 0; t < tali_rows(&cs->list[j]); ++t) {
                    const int col = tali_row_slot(&map, &cs->list[j], j, t);
                    const double value = W_element(matter, matrices, i, r, j, t);
                    W.data[(size_t)row + (size_t)col * (size_t)W.ld] = value;
                    W.data[(size_t)col + (size_t)row * (size_t)W.ld] = value;
                }
            }
        }
    }
    return TAL_OK;
}

tal_status tali_constraints_residual(const tal_matter *matter, tal_state *state,
                                     const tali_view *view, double aerr[])
{
    const tali_constraints *cs = &matter->constraints;
    const double *matrices = tal_cache_realize(matter->system, state, cs->matrices);
    if (matrices == NULL) return tal_state_error(state)->status;
    const tali_row_map map = tali_row_map_of(matter, state);
    const size_t nu = (size_t)view->tree->num_u;
    const size_t mark = tal_state_scratch_mark(state);
    double *lambda = tal_state_scratch_take(state, (size_t)cs->max_rows * sizeof *lambda);
    double *e = tal_state_scratch_take(state, (nu + 1) * sizeof *e);
    if (lambda == NULL || e == NULL) return TAL_ERR_CAPACITY;
    const tal_status st = tali_constraints_multipliers(matter, state, aerr, lambda);
    memset(e, 0, nu * sizeof *e);
    if (st == TAL_OK) { // aerr - E^T D^-1 E lambda
        subtract_forces(matter, &map, matrices, lambda, e);
        add_unconstrained(matter, &map, matrices, e, aerr);
    }
    tal_state_scratch_release(state, mark);
    return st;
}

tal_status tali_constraints_look(const tal_matter *matter, tal_state *state, tali_row_look_fn look,
                                 void *context)
{
    const tali_constraints *cs = &matter->constraints;
    const char *bytes = tal_cache_realize(matter->system, state, cs->matrices);
    if (bytes == NULL) return tal_state_error(state)->status;
    const matrices_layout at = lay_out_matrices(cs);
    const double *envelope = (const double *)(const void *)(bytes + at.envelope);
    const row_record *records = (const row_record *)(const void *)(bytes + at.records);
    const tali_row_map map = tali_row_map_of(matter, state);
    for (int k = 0, row_base = 0; k < cs->num_blocks; ++k) {
        for (int n = cs->block_begin[k]; n < cs->block_begin[k + 1]; ++n) {
            const int i = cs->by_block[n];
            for (int r = 0; map.row0[i] >= 0 && r < tali_rows(&cs->list[i]); ++r) {
                const int row = map.row0[i] + r;
                const row_record *record = &records[row_base + row];
                const double L = envelope[record->entries + (size_t)(row - record->start)];
                look(context, k, i, r, (tal_row_fate)record->fate, L * L);
            }
        }
        row_base += tali_block_rows(cs, &map, k);
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
    uint8_t *enabled = tali_alloc(&matter->allocator, (size_t)cs->count);
    if (enabled == NULL) {
        (void)tal_system_fail(matter->system, TAL_ERR_NO_MEMORY, "no memory for constraints");
        return;
    }
    for (int i = 0; i < cs->count; ++i) {
        enabled[i] = !cs->list[i].disabled;
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
    tali_free(&matter->allocator, enabled, (size_t)cs->count);
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

size_t tali_constraints_scratch(const tal_matter *matter)
{
    const tali_constraints *cs = &matter->constraints;
    if (cs->count == 0) return 0;
    const size_t n = (size_t)cs->max_block_rows;
    return tali_align((size_t)cs->max_path_len * sizeof(tal_spatial_vec) + 1) +
           tali_align(((size_t)matter->tree.num_u + 1) * sizeof(double)) +
           5 * tali_align((size_t)cs->max_rows * sizeof(double)) +
           tali_align((size_t)matter->num_bodies * sizeof(tal_spatial_vec)) +
           tali_align(n * n * sizeof(double)) +
           tali_align(tal_cod_work_size((int)n, (int)n) * sizeof(double)) +
           tali_align(tal_cod_iwork_size((int)n, (int)n) * sizeof(int) + 1) +
           tali_projection_scratch(matter);
}
