// The matrices of the constraints in a State: E = inward sweep of G^T, and W = E^T D^-1 E, factored
// within its envelope.
#include "constraint_matrices_internal.h"
#include "sweeps_internal.h"

#include <float.h>
#include <math.h>

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

size_t tali_constraint_matrices_size(const tali_constraints *cs)
{
    return lay_out_matrices(cs).size;
}

bool tali_see_constraint_matrices(const tal_matter *matter, tal_state *state,
                                  tali_constraint_matrices *out)
{
    const tali_constraints *cs = &matter->constraints;
    const char *entry = tal_cache_realize(matter->system, state, cs->matrices);
    if (entry == NULL) return false;
    const matrices_layout at = lay_out_matrices(cs);
    *out = (tali_constraint_matrices){
        .matrices = (const double *)(const void *)entry,
        .envelope = (const double *)(const void *)(entry + at.envelope),
        .records = (const tali_envelope_row *)(const void *)(entry + at.records),
        .redundant = (const int32_t *)(const void *)(entry + at.blocks)};
    return true;
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

double tali_element_of_W(const tal_matter *matter, const double *matrices, int i, int r, int j,
                         int s)
{
    const tali_constraint *c = &matter->constraints.list[i];
    const tali_constraint *d = &matter->constraints.list[j];
    return couple_rows(matter, c, tali_row_of_E(c, matrices, r), d, tali_row_of_Y(d, matrices, s));
}

// A row whose share of W is this much smaller than its constraint's largest has no effect: 1e-20 in
// terms of motion. Rows on positions and on orientations of one constraint differ by the square of
// a length, which is 1e-20 for atoms in meters; a row of round-off alone is zero already
// (tali_row_is_idle()).
static const double WITHOUT_EFFECT = 1e-40;

double tali_redundant_pivot(int rows)
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
        largest = fmax(largest, tali_element_of_W(a->matter, a->matrices, i, r, i, r));
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
            a->envelope[a->next++] = tali_element_of_W(a->matter, a->matrices, i, r, j, s);
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
        tali_envelope_factor_row(a->envelope, a->records, row,
                                 tali_redundant_pivot(cs->max_block_rows), least);
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

tal_status tali_calc_constraint_matrices(const void *self, const tal_system *system,
                                         tal_state *state, void *value)
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
