// P A P^T = L D L^T, row by row: row k of L solves a triangular system with the rows above it, and
// only the columns that the elimination tree reaches from the entries of row k of A take part in it
// (Liu, SIAM Journal on Matrix Analysis and Applications 11, 1990).
#include "alloc_internal.h"
#include "sparse_internal.h"

#include <limits.h>
#include <math.h>
#include <string.h>

struct tali_sparse {
    tal_allocator allocator;
    int n, count;
    int *order, *place; // [n] order[k] is eliminated as the k-th; place[order[k]] = k
    int *start;         // [n + 1] of each column of the upper triangle of P A P^T
    int *row;           // [start[n]] the diagonal entry is the last of its column
    double *upper;      // [start[n]]
    int *target;        // [count] where the value of each triplet goes
    int *parent;        // [n] in the elimination tree; -1: none
    int *L_start;       // [n + 1] of each column of L
    int *L_row;         // [L_start[n]]
    double *L, *D;      // [L_start[n]], [n]
    double *y;          // [n] a row on its way; zeros between rows
    int *reach, *mark;  // [n]
    int *filled;        // [n] entries of each column of L so far
    void *block, *factors;
    size_t block_bytes, factor_bytes;
};

// --- the pattern ---

// The triplets in the order of columns, then rows, of the upper triangle, with copies of one place
// next to each other: by counting, rows first.
static bool sort_triplets(const tali_sparse *it, const int row[], const int col[], int sorted[])
{
    const size_t n = (size_t)it->n, count = (size_t)it->count;
    int *begin = NULL, *by_row = NULL;
    const tali_piece pieces[] = {{&begin, (n + 1) * sizeof *begin},
                                 {&by_row, count * sizeof *by_row}};
    size_t bytes = 0;
    void *block = tali_alloc_pieces(&it->allocator, pieces, 2, &bytes);
    if (block == NULL) return false;
    for (int pass = 0; pass < 2; ++pass) {
        memset(begin, 0, (n + 1) * sizeof *begin);
        for (size_t k = 0; k < count; ++k) {
            const int i = it->place[row[k]], j = it->place[col[k]];
            ++begin[((i < j) == (pass == 0) ? i : j) + 1];
        }
        for (size_t i = 0; i < n; ++i) {
            begin[i + 1] += begin[i];
        }
        for (size_t k = 0; k < count; ++k) {
            const int from = pass == 0 ? (int)k : by_row[k];
            const int i = it->place[row[from]], j = it->place[col[from]];
            const int key = (i < j) == (pass == 0) ? i : j;
            (pass == 0 ? by_row : sorted)[begin[key]++] = from;
        }
    }
    tali_free(&it->allocator, block, bytes);
    return true;
}

// Columns of the upper triangle, each with its diagonal entry last, and where the triplets go.
static void lay_out_columns(tali_sparse *it, const int row[], const int col[], const int sorted[])
{
    int next = 0, at = 0;
    for (int j = 0; j < it->n; ++j) {
        it->start[j] = next;
        int last = -1;
        for (; at < it->count; ++at) {
            const int k = sorted[at], a = it->place[row[k]], b = it->place[col[k]];
            if ((a > b ? a : b) != j) break;
            const int i = a < b ? a : b;
            if (i != last) it->row[next++] = i;
            last = i;
            it->target[k] = next - 1;
        }
        if (last != j) it->row[next++] = j;
    }
    it->start[it->n] = next;
}

// The elimination tree, and the number of entries in each column of L.
static void grow_tree(tali_sparse *it)
{
    memset(it->filled, 0, (size_t)it->n * sizeof *it->filled);
    for (int k = 0; k < it->n; ++k) {
        it->parent[k] = -1;
        it->mark[k] = k;
        for (int p = it->start[k]; p < it->start[k + 1]; ++p) {
            for (int i = it->row[p]; i < k && it->mark[i] != k; i = it->parent[i]) {
                if (it->parent[i] < 0) it->parent[i] = k;
                ++it->filled[i];
                it->mark[i] = k;
            }
        }
    }
}

static bool take_factors(tali_sparse *it)
{
    size_t total = 0;
    for (int i = 0; i < it->n; ++i) {
        total += (size_t)it->filled[i];
    }
    if (total > INT_MAX) return false;
    const tali_piece pieces[] = {{&it->L_row, total * sizeof *it->L_row},
                                 {&it->L, total * sizeof *it->L}};
    it->factors = tali_alloc_pieces(&it->allocator, pieces, 2, &it->factor_bytes);
    if (it->factors == NULL) return false;
    it->L_start[0] = 0;
    for (int i = 0; i < it->n; ++i) {
        it->L_start[i + 1] = it->L_start[i] + it->filled[i];
    }
    return true;
}

// Neighbors of each node, both ways and without repetitions, from sorted columns.
static tal_status find_order(tali_sparse *it)
{
    const size_t n = (size_t)it->n, edges = 2 * (size_t)(it->start[it->n] - it->n);
    int *start = NULL, *neighbor = NULL, *next = NULL;
    const tali_piece pieces[] = {{&start, (n + 1) * sizeof *start},
                                 {&neighbor, edges * sizeof *neighbor},
                                 {&next, n * sizeof *next}};
    size_t bytes = 0;
    void *block = tali_alloc_pieces(&it->allocator, pieces, 3, &bytes);
    if (block == NULL) return TAL_ERR_NO_MEMORY;
    for (int j = 0; j < it->n; ++j) {
        for (int p = it->start[j]; p < it->start[j + 1] - 1; ++p) {
            ++start[it->row[p] + 1];
            ++start[j + 1];
        }
    }
    for (int i = 0; i < it->n; ++i) {
        start[i + 1] += start[i];
        next[i] = start[i];
    }
    for (int j = 0; j < it->n; ++j) {
        for (int p = it->start[j]; p < it->start[j + 1] - 1; ++p) {
            neighbor[next[j]++] = it->row[p];
            neighbor[next[it->row[p]]++] = j;
        }
    }
    const tal_status st = tali_sparse_order(&it->allocator, it->n, start, neighbor, it->order);
    tali_free(&it->allocator, block, bytes);
    return st;
}

static void place_by_order(tali_sparse *it)
{
    for (int k = 0; k < it->n; ++k) {
        it->place[it->order[k]] = k;
    }
}

// Twice: in the order as given, to see who is a neighbor of whom, then in the order found.
static tal_status analyze(tali_sparse *it, const int row[], const int col[])
{
    const size_t bytes = (size_t)it->count * sizeof(int);
    int *sorted = tali_alloc(&it->allocator, bytes);
    tal_status st = sorted != NULL ? TAL_OK : TAL_ERR_NO_MEMORY;
    for (int i = 0; i < it->n; ++i) {
        it->order[i] = i;
    }
    for (int pass = 0; pass < 2 && st == TAL_OK; ++pass) {
        place_by_order(it);
        if (!sort_triplets(it, row, col, sorted)) st = TAL_ERR_NO_MEMORY;
        if (st == TAL_OK) lay_out_columns(it, row, col, sorted);
        if (st == TAL_OK && pass == 0) st = find_order(it);
    }
    tali_free(&it->allocator, sorted, bytes);
    if (st != TAL_OK) return st;
    grow_tree(it);
    return take_factors(it) ? TAL_OK : TAL_ERR_NO_MEMORY;
}

tal_status tali_sparse_create(const tal_allocator *allocator, int n, int count, const int row[],
                              const int col[], tali_sparse **out)
{
    *out = NULL;
    tali_sparse *it = tali_alloc(allocator, sizeof *it);
    if (it == NULL) return TAL_ERR_NO_MEMORY;
    *it = (tali_sparse){.allocator = *allocator, .n = n, .count = count};
    const size_t rows = (size_t)n, most = (size_t)count + rows;
    const tali_piece pieces[] = {{&it->order, rows * sizeof *it->order},
                                 {&it->place, rows * sizeof *it->place},
                                 {&it->start, (rows + 1) * sizeof *it->start},
                                 {&it->row, most * sizeof *it->row},
                                 {&it->upper, most * sizeof *it->upper},
                                 {&it->target, (size_t)count * sizeof *it->target},
                                 {&it->parent, rows * sizeof *it->parent},
                                 {&it->L_start, (rows + 1) * sizeof *it->L_start},
                                 {&it->D, rows * sizeof *it->D},
                                 {&it->y, rows * sizeof *it->y},
                                 {&it->reach, rows * sizeof *it->reach},
                                 {&it->mark, rows * sizeof *it->mark},
                                 {&it->filled, rows * sizeof *it->filled}};
    it->block =
        tali_alloc_pieces(allocator, pieces, sizeof pieces / sizeof pieces[0], &it->block_bytes);
    const tal_status st = it->block != NULL ? analyze(it, row, col) : TAL_ERR_NO_MEMORY;
    if (st == TAL_OK) *out = it;
    if (st != TAL_OK) tali_sparse_destroy(it);
    return st;
}

void tali_sparse_destroy(tali_sparse *it)
{
    if (it == NULL) return;
    const tal_allocator allocator = it->allocator;
    tali_free(&allocator, it->factors, it->factor_bytes);
    tali_free(&allocator, it->block, it->block_bytes);
    tali_free(&allocator, it, sizeof *it);
}

size_t tali_sparse_fill(const tali_sparse *it)
{
    return (size_t)it->L_start[it->n];
}

// --- numbers ---

static void add_up(tali_sparse *it, const double value[])
{
    memset(it->upper, 0, (size_t)it->start[it->n] * sizeof *it->upper);
    for (int k = 0; k < it->count; ++k) {
        it->upper[it->target[k]] += value[k];
    }
}

// Column k of the upper triangle into y, and the columns of L that row k has entries in, those
// first that others depend on: from the end of `reach`. Where the list begins.
static int find_reach(tali_sparse *it, int k)
{
    int top = it->n;
    it->mark[k] = k;
    for (int p = it->start[k]; p < it->start[k + 1]; ++p) {
        it->y[it->row[p]] = it->upper[p];
        int length = 0;
        for (int i = it->row[p]; it->mark[i] != k; i = it->parent[i]) {
            it->reach[length++] = i;
            it->mark[i] = k;
        }
        while (length > 0) {
            it->reach[--top] = it->reach[--length];
        }
    }
    return top;
}

// Row k of L, and D_k = A_kk - sum L_ki^2 D_i.
static double find_row(tali_sparse *it, int k)
{
    const int top = find_reach(it, k);
    double d = it->y[k];
    it->y[k] = 0.0;
    for (int t = top; t < it->n; ++t) {
        const int i = it->reach[t], begin = it->L_start[i], end = begin + it->filled[i];
        const double y = it->y[i], l = y / it->D[i];
        it->y[i] = 0.0;
        for (int p = begin; p < end; ++p) {
            it->y[it->L_row[p]] -= it->L[p] * y;
        }
        d -= l * y;
        it->L_row[end] = k;
        it->L[end] = l;
        ++it->filled[i];
    }
    return d;
}

tali_sparse_inertia tali_sparse_factor(tali_sparse *it, const double value[])
{
    tali_sparse_inertia signs = {0, 0, 0};
    add_up(it, value);
    memset(it->filled, 0, (size_t)it->n * sizeof *it->filled);
    memset(it->y, 0, (size_t)it->n * sizeof *it->y);
    memset(it->mark, -1, (size_t)it->n * sizeof *it->mark);
    for (int k = 0; k < it->n; ++k) {
        it->D[k] = find_row(it, k);
        const bool has_sign = isfinite(it->D[k]) && it->D[k] != 0.0;
        if (!has_sign) ++signs.zero;
        if (has_sign && it->D[k] > 0.0) ++signs.positive;
        if (has_sign && it->D[k] < 0.0) ++signs.negative;
        if (!has_sign) it->D[k] = 1.0; // the rest goes on with finite numbers
    }
    return signs;
}

void tali_sparse_solve(tali_sparse *it, double x[])
{
    double *y = it->y;
    for (int k = 0; k < it->n; ++k) {
        y[k] = x[it->order[k]];
    }
    for (int i = 0; i < it->n; ++i) {
        for (int p = it->L_start[i]; p < it->L_start[i + 1]; ++p) {
            y[it->L_row[p]] -= it->L[p] * y[i];
        }
    }
    for (int i = it->n - 1; i >= 0; --i) {
        double sum = y[i] / it->D[i];
        for (int p = it->L_start[i]; p < it->L_start[i + 1]; ++p) {
            sum -= it->L[p] * y[it->L_row[p]];
        }
        y[i] = sum;
    }
    for (int k = 0; k < it->n; ++k) {
        x[it->order[k]] = y[k];
    }
}
