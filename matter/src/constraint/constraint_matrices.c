// The matrices of the constraints in a State: E = inward pass of G^T, and W = E^T D^-1 E, factored
// within its envelope.
#include "constraint/constraint_matrices_internal.h"
#include "constraint/constraint_rank_internal.h"
#include "kernel/passes_internal.h"

#include <math.h>

// The cache entry: doubles of the constraints, envelopes of the blocks, then one record per row.
typedef struct matrices_layout {
    size_t envelope, records, columns, blocks, size;
} matrices_layout;

static matrices_layout lay_out_matrices(const tali_constraints *cs)
{
    const size_t rows = (size_t)cs->max_rows;
    matrices_layout at = {.size = 0};
    (void)tali_piece_at(&at.size, cs->matrix_doubles * sizeof(double)); // matrices come first
    at.envelope = tali_piece_at(&at.size, cs->envelope_doubles * sizeof(double));
    at.records = tali_piece_at(&at.size, rows * sizeof(tali_envelope_row));
    at.columns = tali_piece_at(&at.size, rows * sizeof(tali_envelope_column));
    at.blocks =
        tali_piece_at(&at.size, (size_t)cs->num_blocks * sizeof(tali_constraint_block_rank) + 1);
    return at;
}

size_t tali_constraint_matrices_size(const tali_constraints *cs)
{
    return lay_out_matrices(cs).size;
}

static tali_constraint_matrices matrices_in(const tali_constraints *cs, const char *entry)
{
    const matrices_layout at = lay_out_matrices(cs);
    return (tali_constraint_matrices){
        .matrices = (const double *)(const void *)entry,
        .envelope = (const double *)(const void *)(entry + at.envelope),
        .records = (const tali_envelope_row *)(const void *)(entry + at.records),
        .blocks = (const tali_constraint_block_rank *)(const void *)(entry + at.blocks)};
}

bool tali_constraint_see_matrices(const tal_matter *matter, tal_state *state,
                                  tali_constraint_matrices *out)
{
    const tali_constraints *cs = &matter->constraints;
    const char *entry = tal_cache_realize(matter->system, state, cs->matrices);
    if (entry == NULL) return false;
    *out = matrices_in(cs, entry);
    return true;
}

// What row r puts on its path: -wrenches in z [path_len], coefficients in f [path_nu].
static void load_path(const tali_constraint *c, tali_constraint_const_wrenches row_forces, int r,
                      tal_spatial_vec z[], double f[])
{
    const tal_spatial_vec *wrench =
        row_forces.wrench + (size_t)r * (size_t)tali_constraint_num_wrenches(c);
    const double *coefficient = row_forces.coefficient + (size_t)r * (size_t)c->num_mobilities;
    memset(f, 0, (size_t)c->path_nu * sizeof *f);
    memset(z, 0, (size_t)c->path_len * sizeof *z);
    for (int i = 0; i < tali_constraint_num_wrenches(c); ++i) {
        const int k = c->wrench_places[i];
        if (k >= 0) z[k] = tal_sv_sub(z[k], wrench[i]);
    }
    for (int i = 0; i < c->num_mobilities; ++i) {
        f[c->speed_places[i]] += coefficient[i];
    }
}

// Inward passes of the columns of G^T that belong to one constraint. z and f are room for its path.
static void pass_rows(const tal_matter *matter, const tali_tree_view *view,
                      const tali_constraint *c, tali_constraint_const_wrenches row_forces,
                      double *matrices, tal_spatial_vec z[], double f[])
{
    const tali_constraint_path_entry *path = matter->constraints.path + c->path0;
    const size_t nu = (size_t)c->path_nu, m = (size_t)tali_constraint_rows(c);
    const double reach = tali_constraint_reach(matter, view, c);
    for (int r = 0; r < tali_constraint_rows(c); ++r) {
        double *e = matrices + c->matrix0 + (size_t)r * nu;
        double *y = e + m * nu;
        load_path(c, row_forces, r, z, f);
        view->passes->path(view, path, c->path_len, f, z, e, y);
        if (tali_constraint_row_is_idle(matter, view, c, row_forces, r, reach, e)) {
            memset(e, 0, nu * sizeof *e);
            memset(y, 0, nu * sizeof *y);
        }
    }
}

// The paths are met where they have bodies in common.
double tali_constraint_couple_rows(const tal_matter *matter, const tali_constraint *c,
                                   const double a[], const tali_constraint *d, const double b[])
{
    if (c == d) return tali_constraint_dot(a, b, c->path_nu);
    const tali_constraint_path_entry *p = matter->constraints.path + c->path0;
    const tali_constraint_path_entry *q = matter->constraints.path + d->path0;
    double sum = 0.0;
    for (int i = 0, j = 0; i < c->path_len && j < d->path_len;) {
        if (p[i].body == q[j].body) {
            sum += tali_constraint_dot(a + p[i].e0, b + q[j].e0, matter->tree.nu[p[i].body]);
            ++i, ++j;
        } else if (p[i].body > q[j].body) {
            ++i;
        } else {
            ++j;
        }
    }
    return sum;
}

double tali_constraint_element_of_W(const tal_matter *matter, const double *matrices, int i, int r,
                                    int j, int s)
{
    const tali_constraint *c = &matter->constraints.list[i];
    const tali_constraint *d = &matter->constraints.list[j];
    return tali_constraint_couple_rows(matter, c, tali_constraint_row_of_E(c, matrices, r), d,
                                       tali_constraint_row_of_Y(d, matrices, s));
}

// A row whose share of W is this much smaller than its constraint's largest has no effect: 1e-20 in
// terms of motion. Rows on positions and on orientations of one constraint differ by the square of
// a length, which is 1e-20 for atoms in meters; a row of round-off alone is zero already
// (tali_constraint_row_is_idle()).
static const double WITHOUT_EFFECT = 1e-40;

/// W being assembled and factored, row by row.
typedef struct assembly {
    const tal_matter *matter;
    tal_state *state;
    const tali_tree_view *view;
    const tali_constraint_row_map *map;
    const double *wrenches;
    const double *matrices;
    double *envelope;
    size_t next; ///< entry of the envelope

    // of the block
    tali_envelope_row *records;
    tali_envelope_column *columns;
    int num_columns; ///< so far
    int block;
    bool saw_errors;    ///< `limit` is that of its position errors
    double limit;       ///< tali_constraint_redundant_share()
    double least_share; ///< among its good rows
    int redundant, doubtful;
} assembly;

// The scale of what the rows of one constraint can do.
static double largest_diagonal(const assembly *a, int i)
{
    double largest = 0.0;
    for (int r = 0; r < tali_constraint_rows(&a->matter->constraints.list[i]); ++r) {
        largest = fmax(largest, tali_constraint_element_of_W(a->matter, a->matrices, i, r, i, r));
    }
    return largest;
}

// Row r of constraint i, up to the diagonal: it begins with the column `start`.
static void assemble_row(assembly *a, int i, int r, int start)
{
    tali_envelope_row *row = &a->records[a->map->row0[i] + r];
    *row = (tali_envelope_row){.start = start, .column = a->num_columns, .entries = a->next};
    for (int k = start; k < a->num_columns; ++k) {
        const tali_envelope_column at = a->columns[k];
        a->envelope[a->next++] =
            tali_constraint_element_of_W(a->matter, a->matrices, i, r, at.constraint, at.r);
    }
    a->envelope[a->next++] = tali_constraint_element_of_W(a->matter, a->matrices, i, r, i, r);
}

// Position errors are looked at where rows are so close that they may matter.
static tal_status see_errors(assembly *a)
{
    double turn = 0.0;
    if (a->saw_errors) return TAL_OK;
    const tal_status st = tali_constraint_block_turn(a->matter, a->state, a->view, a->map,
                                                     a->wrenches, a->block, &turn);
    a->limit = tali_constraint_redundant_share(a->matter->constraints.max_block_rows, turn);
    a->saw_errors = true;
    return st;
}

// What becomes of a row that has been reduced. One that round-off of the rows before it may have
// kept from being redundant is left out like one that is, and doubtful. Most rows are far from all
// that. With as many good rows as there are speeds, any other repeats them.
static tal_status judge_row(assembly *a, int row, double diagonal, double no_effect,
                            tal_row_fate *fate)
{
    const double share = a->records[row].share;
    const bool is_full = a->num_columns == a->matter->constraints.blocks[a->block].speeds;
    double limit = a->limit;
    tal_status st = TAL_OK;
    if (diagonal <= no_effect) {
        *fate = TAL_ROW_WITHOUT_EFFECT;
    } else if (is_full ||
               share <= fmax(TALI_LARGEST_REDUNDANT_SHARE, TALI_GROWTH / a->least_share)) {
        st = see_errors(a);
        limit = a->limit + tali_envelope_growth(a->envelope, a->records, a->columns, row, diagonal);
        if (is_full || share <= limit) *fate = TAL_ROW_REDUNDANT;
        a->doubtful += !is_full && *fate == TAL_ROW_REDUNDANT && share > a->limit;
        if (is_full) limit = fmax(limit, share);
    }
    a->records[row].limit = limit;
    a->redundant += *fate == TAL_ROW_REDUNDANT;
    if (*fate == TAL_ROW_GOOD) a->least_share = fmin(a->least_share, share);
    return st;
}

// Assembles and factors the rows of the n-th constraint.
static tal_status factor_constraint(assembly *a, int n)
{
    const tali_constraints *cs = &a->matter->constraints;
    const int i = cs->by_block[n];
    const int first = cs->by_block[tali_constraint_first_coupled(cs, a->map->row0, n)];
    const int start = first == i ? a->num_columns : a->records[a->map->row0[first]].column;
    const double least = WITHOUT_EFFECT * largest_diagonal(a, i);
    tal_status st = TAL_OK;
    for (int r = 0; r < tali_constraint_rows(&cs->list[i]) && st == TAL_OK; ++r) {
        const int row = a->map->row0[i] + r;
        tal_row_fate fate = TAL_ROW_GOOD;
        assemble_row(a, i, r, start);
        const double diagonal = tali_envelope_reduce_row(a->envelope, a->records, a->columns, row);
        st = judge_row(a, row, diagonal, least, &fate);
        if (tali_envelope_accept_row(a->envelope, a->records, row, fate)) {
            a->columns[a->num_columns++] = (tali_envelope_column){i, r, row};
        }
    }
    return st;
}

// The orthogonal factorization says how many of the doubtful rows are good: those with the largest
// shares. In a block that is not small they stay redundant: if one is not, what it asks for is not
// met, and accelerations are refused.
static tal_status settle_doubts(assembly *a)
{
    int rank = 0, good = a->num_columns;
    const tal_status st = tali_constraint_find_block_rank(a->matter, a->state, a->map, a->matrices,
                                                          a->block, a->limit, &rank);
    while (st == TAL_OK && a->doubtful > 0 && good < rank) {
        tali_envelope_row *best = NULL;
        const int rows = tali_constraint_block_rows(&a->matter->constraints, a->map, a->block);
        for (tali_envelope_row *row = a->records; row < a->records + rows; ++row) {
            const bool doubtful =
                row->fate == TAL_ROW_REDUNDANT && row->share > a->limit && row->share < row->limit;
            if (doubtful && (best == NULL || row->share > best->share)) best = row;
        }
        if (best == NULL) break; // never: `doubtful` counts them
        best->fate = TAL_ROW_GOOD;
        ++good, --a->redundant, --a->doubtful;
    }
    return st;
}

static tal_status factor_block(assembly *a, int block, tali_constraint_block_rank *out)
{
    const tali_constraints *cs = &a->matter->constraints;
    tal_status st = TAL_OK;
    a->block = block;
    a->num_columns = 0;
    a->saw_errors = false;
    a->limit = tali_constraint_redundant_share(cs->max_block_rows, 0.0);
    a->least_share = 1.0;
    a->redundant = a->doubtful = 0;
    for (int n = cs->block_begin[block]; n < cs->block_begin[block + 1] && st == TAL_OK; ++n) {
        if (a->map->row0[cs->by_block[n]] >= 0) st = factor_constraint(a, n);
    }
    const bool least_squares = a->redundant > 0;
    const bool can_settle = tali_constraint_block_is_small(&cs->blocks[block]);
    if (st == TAL_OK && a->doubtful > 0 && can_settle) st = settle_doubts(a);
    *out = (tali_constraint_block_rank){
        .redundant = a->redundant, .least_squares = least_squares, .limit = a->limit};
    return st;
}

// True when known motion leaves a constraint nothing to act on: its equations are about motion
// relative to its ancestor, so what is free must lie between the two. Its E is zero then, but the
// passes would find round-off: what acts on one body and reacts on another is summed below the
// ancestor.
static bool is_idle(const tal_matter *matter, const tali_tree_view *view, const tali_constraint *c)
{
    const tali_constraint_path_entry *path = matter->constraints.path + c->path0;
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
static tal_status calc_rows(const tal_matter *matter, tal_state *state, const tali_tree_view *view,
                            const tali_constraint_row_map *map, const double *wrenches,
                            double *matrices)
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
            const size_t both = 2 * (size_t)tali_constraint_rows(c) * (size_t)c->path_nu;
            memset(matrices + c->matrix0, 0, both * sizeof *matrices);
        } else {
            pass_rows(matter, view, c, tali_constraint_wrenches_in(c, wrenches), matrices, z, f);
        }
    }
    tal_state_scratch_release(state, mark);
    return st;
}

static tal_status factor_blocks(const tal_matter *matter, tal_state *state,
                                const tali_tree_view *view, const tali_constraint_row_map *map,
                                const double *wrenches, void *value)
{
    const tali_constraints *cs = &matter->constraints;
    const matrices_layout at = lay_out_matrices(cs);
    char *bytes = value;
    tali_constraint_block_rank *blocks = (tali_constraint_block_rank *)(void *)(bytes + at.blocks);
    assembly a = {.matter = matter,
                  .state = state,
                  .view = view,
                  .map = map,
                  .wrenches = wrenches,
                  .matrices = value,
                  .envelope = (double *)(void *)(bytes + at.envelope),
                  .records = (tali_envelope_row *)(void *)(bytes + at.records),
                  .columns = (tali_envelope_column *)(void *)(bytes + at.columns)};
    tal_status st = TAL_OK;
    for (int k = 0; k < cs->num_blocks && st == TAL_OK; ++k) {
        st = factor_block(&a, k, &blocks[k]);
        a.records += tali_constraint_block_rows(cs, map, k);
    }
    return st;
}

tal_status tali_constraint_calc_matrices(const void *self, const tal_system *system,
                                         tal_state *state, void *value)
{
    const tal_matter *matter = self;
    tali_tree_view view;
    const double *wrenches = tal_cache_realize(system, state, matter->constraints.wrenches);
    if (wrenches == NULL || !tali_tree_realize_view(matter, state, TALI_ARTICULATED, &view)) {
        return TAL_ERR_CALLBACK;
    }
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    const tal_status st = calc_rows(matter, state, &view, &map, wrenches, value);
    return st == TAL_OK ? factor_blocks(matter, state, &view, &map, wrenches, value) : st;
}

// --- without masses ---

// g W_u^-1 of one constraint, as projection has it, in place of E and of Y: W becomes G W_u^-2 G^T.
static void weigh_rows(const tal_matter *matter, const tali_tree_view *view, const double W_u[],
                       const tali_constraint *c, const double *wrenches, tal_spatial_vec F[],
                       double *matrices)
{
    const tali_constraint_path_entry *path = matter->constraints.path + c->path0;
    const size_t nu = (size_t)c->path_nu, m = (size_t)tali_constraint_rows(c);
    const double reach = tali_constraint_reach(matter, view, c);
    for (int r = 0; r < tali_constraint_rows(c); ++r) {
        double *e = matrices + c->matrix0 + (size_t)r * nu;
        tali_constraint_row(matter, view, c, tali_constraint_wrenches_in(c, wrenches), r, reach, F,
                            e);
        for (int k = 0; k < c->path_len; ++k) {
            const int u0 = matter->tree.u0[path[k].body];
            for (int j = 0; j < matter->tree.nu[path[k].body]; ++j) {
                const bool is_free = view->level[u0 + j] == TAL_LEVEL_FREE;
                e[path[k].e0 + j] = is_free ? e[path[k].e0 + j] / W_u[u0 + j] : 0.0;
            }
        }
        memcpy(e + m * nu, e, nu * sizeof *e);
    }
}

static tal_status calc_without_masses(const tal_matter *matter, tal_state *state, double *value)
{
    const tali_constraints *cs = &matter->constraints;
    tali_tree_view view;
    const double *wrenches = tal_cache_realize(matter->system, state, cs->wrenches);
    if (wrenches == NULL || !tali_tree_realize_view(matter, state, TALI_POSITION, &view)) {
        return tal_state_error(state)->status;
    }
    const double *W_u =
        tal_state_weights(state, TAL_POOL_U) + tal_group_start(matter->system, state, matter->u);
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    const size_t mark = tal_state_scratch_mark(state);
    tal_spatial_vec *F = tal_state_scratch_take(state, (size_t)cs->max_path_len * sizeof *F + 1);
    const tal_status st = F != NULL ? TAL_OK : TAL_ERR_CAPACITY;
    for (int i = 0; i < cs->count && st == TAL_OK; ++i) {
        if (map.row0[i] < 0) continue;
        weigh_rows(matter, &view, W_u, &cs->list[i], wrenches, F, value);
    }
    tal_state_scratch_release(state, mark);
    return st == TAL_OK ? factor_blocks(matter, state, &view, &map, wrenches, value) : st;
}

bool tali_constraint_compare_rows(const tal_matter *matter, tal_state *state,
                                  tali_constraint_matrices *out)
{
    const tali_constraints *cs = &matter->constraints;
    if (matter->way == TAL_SOLVE_MULTIPLIERS) {
        return tali_constraint_see_matrices(matter, state, out);
    }
    double *value = tal_state_scratch_take(state, tali_constraint_matrices_size(cs));
    if (value == NULL || calc_without_masses(matter, state, value) != TAL_OK) return false;
    *out = matrices_in(cs, (const char *)value);
    return true;
}
