// M^-1 by a factor of M, for trees whose paths to Ground are short.
//
// M has an entry only where one speed is inboard of the other, and M = L^T D L fills nothing in
// (RBDA sec. 6.4 and 6.5). Row i holds speed i and all inboard of it, on the way to Ground. The row
// of a speed on that way is made of the same speeds as what is left of row i from there on, so rows
// are added to each other without looking for columns.
#include "cache_internal.h"

#include "kernel/passes_internal.h"
#include "operator/mass_factor_internal.h"

// Entries per speed up to which the factor is kept: memory stays linear in the speeds, and
// computing it takes no longer than computing articulated inertias.
enum {
    MOST_ENTRIES = 8
};

// Where a pivot has lost this much of its diagonal entry the passes take over: they keep track of
// magnitudes direction by direction.
static const double SMALL_PIVOT = 1e-9;

// --- rows ---

// Cuts the lists of rows out of `block`; returns their bytes, also without a block.
static size_t place_rows(tali_tree *tree, void *block)
{
    const tali_piece pieces[] = {
        {&tree->row_begin, ((size_t)tree->num_u + 1) * sizeof *tree->row_begin},
        {&tree->row_column, (size_t)tree->num_row_entries * sizeof *tree->row_column},
    };
    return tali_pieces_place(pieces, sizeof pieces / sizeof pieces[0], block);
}

// Speeds on the way from each body to Ground, its own included; returns the entries of all rows.
static size_t count_entries(const tali_tree *tree, int32_t depth[])
{
    size_t entries = 0;
    depth[0] = tree->nu[0];
    for (int b = 1; b < tree->num_bodies; ++b) {
        const int inboard = depth[tree->parent[b]];
        depth[b] = inboard + tree->nu[b];
        for (int j = 0; j < tree->nu[b]; ++j) {
            entries += (size_t)(inboard + j + 1);
        }
    }
    return entries;
}

// The columns of the row of speed j of body b; where those of the next row begin.
static int32_t *fill_row(const tali_tree *tree, int b, int j, int32_t *column)
{
    for (int a = b; a > 0; a = tree->parent[a]) {
        for (int i = a == b ? j : tree->nu[a] - 1; i >= 0; --i) {
            *column++ = tree->u0[a] + i;
        }
    }
    return column;
}

static void fill_rows(tali_tree *tree)
{
    int32_t *column = tree->row_column;
    for (int b = 1; b < tree->num_bodies; ++b) {
        for (int j = 0; j < tree->nu[b]; ++j) {
            tree->row_begin[tree->u0[b] + j] = (int32_t)(column - tree->row_column);
            column = fill_row(tree, b, j, column);
        }
    }
    tree->row_begin[tree->num_u] = (int32_t)(column - tree->row_column);
}

bool tali_op_mass_rows_build(tal_matter *matter)
{
    tali_tree *tree = &matter->tree;
    const size_t depth_bytes = (size_t)tree->num_bodies * sizeof(int32_t);
    int32_t *depth = tali_alloc(&matter->allocator, depth_bytes);
    if (depth == NULL) {
        (void)tal_system_fail(matter->system, TAL_ERR_NO_MEMORY, "no memory for %d depths",
                              tree->num_bodies);
        return false;
    }
    const size_t entries = count_entries(tree, depth);
    tali_free(&matter->allocator, depth, depth_bytes);
    if (entries > (size_t)MOST_ENTRIES * (size_t)tree->num_u) return true;

    tree->num_row_entries = (int)entries;
    void *block = tali_alloc(&matter->allocator, place_rows(tree, NULL));
    if (block == NULL) {
        (void)tal_system_fail(matter->system, TAL_ERR_NO_MEMORY, "no memory for %zu entries of M",
                              entries);
        return false;
    }
    (void)place_rows(tree, block);
    fill_rows(tree);
    return true;
}

void tali_op_mass_rows_free(tal_matter *matter)
{
    void *block = matter->tree.row_begin;
    tali_free(&matter->allocator, block, place_rows(&matter->tree, NULL));
}

// --- the factor: D^-1 of all speeds, then the rows of L, then 1 if it can be used ---

static size_t factor_doubles(const tali_tree *tree)
{
    return (size_t)tree->num_u + (size_t)tree->num_row_entries + 1;
}

// Rows of M become D and rows of L, outermost first (RBDA tab. 6.3):
//
//     a = M_ki / M_kk,    M_ij -= a M_kj,    M_ki = a    for i inboard of k, j inboard of i or i
static bool factor_rows(const tali_tree *tree, double DI[], double rows[])
{
    bool ok = true;
    for (int k = 0; k < tree->num_u; ++k) {
        DI[k] = rows[tree->row_begin[k]];
    }
    for (int k = tree->num_u - 1; k >= 0; --k) {
        const int32_t *column = tree->row_column + tree->row_begin[k];
        const int n = tree->row_begin[k + 1] - tree->row_begin[k];
        double *of_k = rows + tree->row_begin[k];
        ok = ok && of_k[0] > SMALL_PIVOT * DI[k];
        DI[k] = 1.0 / of_k[0];
        for (int m = 1; m < n; ++m) {
            const double a = of_k[m] * DI[k];
            double *of_i = rows + tree->row_begin[column[m]];
            for (int j = m; j < n; ++j) {
                of_i[j - m] -= a * of_k[j];
            }
            of_k[m] = a;
        }
    }
    return ok;
}

static tal_status calc_factor(const void *self, const tal_system *system, tal_state *state,
                              void *value)
{
    const tal_matter *matter = self;
    tali_tree_view view;
    tali_tree_view_of(matter, state, TALI_INERTIA, &view);
    double *DI = value;
    double *rows = DI + view.tree->num_u;
    view.passes->mass_rows(&view, tali_cache_at(system, state, matter->composites), rows);
    rows[view.tree->num_row_entries] = factor_rows(view.tree, DI, rows) ? 1.0 : 0.0;
    return TAL_OK;
}

void tali_mass_factor_declare(tal_matter *matter)
{
    if (matter->tree.row_begin == NULL) return;
    const tal_prereq needs[] = {tal_prereq_cache(matter->composites)};
    tal_cache_def def = tal_cache_def_default();
    def.name = "factor of the mass matrix";
    def.size = factor_doubles(&matter->tree) * sizeof(double);
    def.calc = calc_factor;
    def.prereqs = needs;
    def.num_prereqs = 1;
    matter->mass_factor = tal_system_add_cache(matter->system, matter->me, &def);
}

tal_status tali_mass_factor_of(const tal_matter *matter, tal_state *state,
                               const tali_tree_view *view, const double **factor)
{
    const tali_tree *tree = view->tree;
    *factor = NULL;
    if (tree->row_begin == NULL) return TAL_OK;
    const double *found = tal_cache_realize(matter->system, state, matter->mass_factor);
    if (found == NULL) return tal_state_error(state)->status;
    const bool all_free = view->hinge == tree->hinge;
    if (all_free && found[tree->num_u + tree->num_row_entries] != 0.0) *factor = found;
    return TAL_OK;
}

// --- solving ---

// L^T D L a = f: outermost first each speed leaves its share to those inboard, then the other way.
// The neighbor inboard, which comes first in a row, is the one that is known last, so it is
// subtracted last.
void tali_mass_factor_solve(const tali_tree *tree, const double *factor, const double f[],
                            double a[])
{
    const double *DI = factor, *rows = factor + tree->num_u;
    const int32_t *begin = tree->row_begin;
    if (a != f) memcpy(a, f, (size_t)tree->num_u * sizeof *a);
    for (int i = tree->num_u - 1; i >= 0; --i) {
        const double value = a[i];
        for (int k = begin[i] + 1; k < begin[i + 1]; ++k) {
            a[tree->row_column[k]] -= rows[k] * value;
        }
    }
    for (int i = 0; i < tree->num_u; ++i) {
        double value = a[i] * DI[i];
        for (int k = begin[i + 1] - 1; k > begin[i]; --k) {
            value -= rows[k] * a[tree->row_column[k]];
        }
        a[i] = value;
    }
}
