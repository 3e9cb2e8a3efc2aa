// Tables of a force field: rows of classes and laws, sorted, and found by classes.
#include "field/field_internal.h"

int tali_field_arity(tali_field_table table)
{
    static const int arity[TALI_NUM_TABLES] = {2, 3, 3, 4, 4, 2, 2};
    return arity[table];
}

static int compare_keys(const int a[4], const int b[4])
{
    for (int i = 0; i < 4; ++i) {
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    }
    return 0;
}

void tali_field_canonical(int key[4], int arity)
{
    int reversed[4] = {0, 0, 0, 0};
    for (int i = 0; i < arity; ++i) {
        reversed[i] = key[arity - 1 - i];
    }
    if (compare_keys(reversed, key) < 0) memcpy(key, reversed, sizeof reversed);
}

// ---- sorting: by key, then as they were added; no two rows are equal

static bool is_before(const tali_field_row *a, const tali_field_row *b)
{
    const int order = compare_keys(a->key, b->key);
    return order != 0 ? order < 0 : a->defined < b->defined;
}

// Let the row at `top` sink to its place in the heap.
static void sink(tali_field_row rows[], int top, int count)
{
    const tali_field_row row = rows[top];
    for (;;) {
        int child = 2 * top + 1;
        if (child >= count) break;
        if (child + 1 < count && is_before(&rows[child], &rows[child + 1])) ++child;
        if (!is_before(&row, &rows[child])) break;
        rows[top] = rows[child];
        top = child;
    }
    rows[top] = row;
}

static void sort_rows(tali_field_row rows[], int count)
{
    for (int i = count / 2 - 1; i >= 0; --i) {
        sink(rows, i, count);
    }
    for (int end = count - 1; end > 0; --end) {
        const tali_field_row last = rows[end];
        rows[end] = rows[0];
        rows[0] = last;
        sink(rows, 0, end);
    }
}

// ---- what is there twice

static bool is_same_law(const tali_field_law *a, const tali_field_law *b)
{
    bool same =
        a->kind == b->kind && a->k == b->k && a->x0 == b->x0 && a->series.a0 == b->series.a0;
    for (int n = 0; n < TALI_WAVES; ++n) {
        same = same && a->series.a[n] == b->series.a[n] && a->series.b[n] == b->series.b[n];
    }
    return same;
}

static const char *name_in_key(const tal_ff *ff, int atom_class)
{
    return atom_class == TAL_FF_ANY ? "any" : ff->classes[atom_class].name;
}

void tali_field_say_classes(const tal_ff *ff, const int key[], int n, char out[TALI_CLASSES_TEXT])
{
    size_t at = 0;
    for (int i = 0; i < n; ++i) {
        const char *name = name_in_key(ff, key[i]);
        const size_t length = strlen(name);
        if (i > 0) out[at++] = '-';
        memcpy(&out[at], name, length);
        at += length;
    }
    out[at] = '\0';
}

static tal_status fail_twice(tal_ff *ff, tali_field_table table, const tali_field_row *row)
{
    static const char *const kinds[TALI_NUM_TABLES] = {
        "stretch", "bend", "Urey-Bradley term", "torsion", "improper", "pair", "1-4 pair"};
    char classes[TALI_CLASSES_TEXT];
    tali_field_say_classes(ff, row->key, tali_field_arity(table), classes);
    return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, "tal_ff_freeze",
                             "the %s of classes %s was added twice with different values; keep one",
                             kinds[table], classes);
}

// Sort one table; of rows with the same classes and values keep one.
static tal_status sort_table(tal_ff *ff, tali_field_table table)
{
    tali_field_rows *rows = &ff->tables[table];
    sort_rows(rows->items, rows->count);
    int kept = 0;
    for (int r = 0; r < rows->count; ++r) {
        const tali_field_row *row = &rows->items[r];
        if (kept > 0 && compare_keys(row->key, rows->items[kept - 1].key) == 0) {
            if (!is_same_law(&row->law, &rows->items[kept - 1].law)) {
                return fail_twice(ff, table, row);
            }
            continue;
        }
        rows->items[kept++] = *row;
    }
    rows->count = kept;
    return TAL_OK;
}

tal_status tali_field_sort_tables(tal_ff *ff)
{
    for (int t = 0; t < TALI_NUM_TABLES; ++t) {
        const tal_status st = sort_table(ff, (tali_field_table)t);
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}

// ---- finding

static const tali_field_row *find_exactly(const tali_field_rows *rows, const int key[4])
{
    int low = 0, high = rows->count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        const int order = compare_keys(rows->items[middle].key, key);
        if (order == 0) return &rows->items[middle];
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

// A torsion with any class at those ends that `mask` names: bit 0 the first, bit 1 the last.
static const tali_field_row *find_masked(const tali_field_rows *rows, const int key[4], int mask)
{
    int masked[4];
    memcpy(masked, key, sizeof masked);
    if ((mask & 1) != 0) masked[0] = TAL_FF_ANY;
    if ((mask & 2) != 0) masked[3] = TAL_FF_ANY;
    tali_field_canonical(masked, 4);
    return find_exactly(rows, masked);
}

static const tali_field_row *find_torsion(const tali_field_rows *rows, const int key[4])
{
    const tali_field_row *exact = find_masked(rows, key, 0);
    if (exact != NULL) return exact;
    const tali_field_row *first = find_masked(rows, key, 1), *last = find_masked(rows, key, 2);
    if (first != NULL && last != NULL) return first->defined < last->defined ? first : last;
    if (first != NULL) return first;
    return last != NULL ? last : find_masked(rows, key, 3);
}

const tali_field_row *tali_field_find(const tal_ff *ff, tali_field_table table, const int key[4])
{
    const tali_field_rows *rows = &ff->tables[table];
    if (table == TALI_TABLE_TORSION) return find_torsion(rows, key);
    int canonical[4] = {0, 0, 0, 0};
    memcpy(canonical, key, (size_t)tali_field_arity(table) * sizeof key[0]);
    tali_field_canonical(canonical, tali_field_arity(table));
    return find_exactly(rows, canonical);
}

// Whether a row stands for these classes, and by how many wildcards.
static bool stands_for(const int row[4], const int key[4], int *wildcards)
{
    *wildcards = 0;
    for (int i = 0; i < 4; ++i) {
        if (row[i] == TAL_FF_ANY) {
            ++*wildcards;
        } else if (row[i] != key[i]) {
            return false;
        }
    }
    return true;
}

const tali_field_row *tali_field_find_improper(const tal_ff *ff, const int key[4], int *wildcards)
{
    const tali_field_rows *rows = &ff->tables[TALI_TABLE_IMPROPER];
    const tali_field_row *best = NULL;
    *wildcards = 4;
    for (int r = 0; r < rows->count; ++r) {
        const tali_field_row *row = &rows->items[r];
        int found;
        if (!stands_for(row->key, key, &found)) continue;
        if (found < *wildcards || (found == *wildcards && row->defined < best->defined)) {
            best = row;
            *wildcards = found;
        }
    }
    return best;
}
