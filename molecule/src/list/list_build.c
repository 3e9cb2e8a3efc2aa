// Making a list. Atoms are sorted into columns along z, and columns cut into clusters of eight, so
// that a cluster is about as long as it is wide. Two clusters are near if the boxes around them
// are; then atom by atom.
#include "list/list_internal.h"

#include <math.h>

enum {
    C = TALI_LANES_CLUSTER
};

// ---- the box, columns, bins

typedef struct bounds {
    tal_vec3 low, high;
} bounds;

static bounds bounds_of(const tal_vec3 x[], int n)
{
    bounds b = {x[0], x[0]};
    for (int a = 1; a < n; ++a) {
        b.low = tal_v3(fmin(b.low.x, x[a].x), fmin(b.low.y, x[a].y), fmin(b.low.z, x[a].z));
        b.high = tal_v3(fmax(b.high.x, x[a].x), fmax(b.high.y, x[a].y), fmax(b.high.z, x[a].z));
    }
    return b;
}

static bool are_somewhere(const tal_vec3 x[], int n)
{
    double sum = 0.0; // of zeros, or no number
    for (int a = 0; a < n; ++a) {
        sum += 0.0 * x[a].x + 0.0 * x[a].y + 0.0 * x[a].z;
    }
    return sum == 0.0;
}

// How many columns of width `side` fit along an edge.
static int fit(double edge, double side, int most)
{
    const double n = floor(edge / side);
    return n < 1.0 ? 1 : n > most ? most : (int)n;
}

// Columns as wide as a cluster of eight is long, at most one for each eight atoms, and a bin for
// each atom of them.
static void lay_out(const tali_term_pairs *pairs, const tal_vec3 x[], int n, tali_list *list)
{
    const bounds b = bounds_of(x, n);
    list->box = pairs->set.box;
    list->low = pairs->has_box ? TAL_VEC3_ZERO : b.low;
    const tal_vec3 size = pairs->has_box ? list->box : tal_v3_sub(b.high, b.low);
    const int most = n / C + 1;
    const double volume = size.x * size.y * size.z;
    double side = volume > 0.0 ? cbrt(C * volume / n) : fmax(size.x, size.y);
    if (!(side > 0.0)) side = 1.0;
    do {
        list->columns[0] = fit(size.x, side, most);
        list->columns[1] = fit(size.y, side, most);
        side *= 1.1;
    } while ((long)list->columns[0] * list->columns[1] > most);
    list->bins = n / (list->columns[0] * list->columns[1]);
    list->bins = list->bins < 1 ? 1 : list->bins;
    list->side = tal_v3(size.x / list->columns[0], size.y / list->columns[1], size.z / list->bins);
}

// ---- atoms into bins

// x - low in the box: where atoms are sorted.
static double wrapped(double x, double edge)
{
    return edge > 0.0 ? x - edge * floor(x / edge) : x;
}

static tal_vec3 place_of(const tali_list *list, tal_vec3 x)
{
    const tal_vec3 d = tal_v3_sub(x, list->low), e = list->box;
    return tal_v3(wrapped(d.x, e.x), wrapped(d.y, e.y), wrapped(d.z, e.z));
}

static int bin_along(double x, double side, int n)
{
    if (!(side > 0.0)) return 0;
    const double bin = floor(x / side);
    return bin < 0.0 ? 0 : bin >= n ? n - 1 : (int)bin;
}

static int bin_of(const tali_list *list, tal_vec3 place)
{
    const int x = bin_along(place.x, list->side.x, list->columns[0]);
    const int y = bin_along(place.y, list->side.y, list->columns[1]);
    const int z = bin_along(place.z, list->side.z, list->bins);
    return (x * list->columns[1] + y) * list->bins + z;
}

// Count, add up, and number the atoms by bins: into `slot_of`.
static void number_atoms(const tal_vec3 x[], int n, const tali_list *list,
                         const tali_list_arrays *at)
{
    const int bins = list->columns[0] * list->columns[1] * list->bins;
    memset(at->bin_start, 0, (size_t)(bins + 1) * sizeof at->bin_start[0]);
    for (int a = 0; a < n; ++a) {
        at->work[a] = bin_of(list, place_of(list, x[a]));
        ++at->bin_start[at->work[a] + 1];
    }
    for (int b = 0; b < bins; ++b) {
        at->bin_start[b + 1] += at->bin_start[b];
    }
    for (int a = n - 1; a >= 0; --a) { // from behind: ends of bins become beginnings
        at->slot_of[a] = --at->bin_start[at->work[a] + 1];
    }
    memmove(at->bin_start, at->bin_start + 1, (size_t)bins * sizeof at->bin_start[0]);
    at->bin_start[bins] = n;
}

// Numbers become slots: every column begins with a cluster.
static void find_slots(const tal_mol_instance *instance, tali_list *list,
                       const tali_list_arrays *at)
{
    const int columns = list->columns[0] * list->columns[1];
    at->column_start[0] = 0;
    for (int c = 0; c < columns; ++c) {
        const int atoms = at->bin_start[(c + 1) * list->bins] - at->bin_start[c * list->bins];
        at->column_start[c + 1] = at->column_start[c] + (atoms + C - 1) / C * C;
    }
    list->num_slots = at->column_start[columns];
    for (int s = 0; s < list->num_slots; ++s) {
        at->atom_at[s] = -1;
        at->class_of[s] = 0;
        at->charge[s] = 0.0;
    }
    for (int a = 0; a < instance->mol->num_atoms; ++a) {
        const int c = at->work[a] / list->bins;
        const int s = at->slot_of[a] + at->column_start[c] - at->bin_start[c * list->bins];
        at->slot_of[a] = s;
        at->atom_at[s] = a;
        at->class_of[s] = instance->class_of[a];
        at->charge[s] = instance->mol->atoms[a].charge;
    }
}

// ---- clusters

// Positions by slot, and the boxes around clusters, where they are in the periodic box.
static void enclose(const tal_vec3 x[], const tali_list *list, const tali_list_arrays *at)
{
    for (int c = 0; c < list->num_slots / C; ++c) {
        bounds b = {tal_v3(INFINITY, INFINITY, INFINITY), tal_v3(-INFINITY, -INFINITY, -INFINITY)};
        for (int s = c * C; s < (c + 1) * C; ++s) {
            const int a = at->atom_at[s];
            for (int k = 0; k < 3; ++k) {
                at->x[k][s] = a < 0 ? TALI_NAN : tal_v3_at(x[a], (tal_axis)k);
            }
            if (a < 0) continue;
            const tal_vec3 p = place_of(list, x[a]);
            b.low = tal_v3(fmin(b.low.x, p.x), fmin(b.low.y, p.y), fmin(b.low.z, p.z));
            b.high = tal_v3(fmax(b.high.x, p.x), fmax(b.high.y, p.y), fmax(b.high.z, p.z));
        }
        for (int k = 0; k < 3; ++k) {
            const double low = tal_v3_at(b.low, (tal_axis)k), high = tal_v3_at(b.high, (tal_axis)k);
            at->box_center[k][c] = 0.5 * (low + high);
            at->box_half[k][c] = 0.5 * (high - low);
        }
    }
}

// What is left of a distance along an axis in a periodic box.
static double nearest(double d, double edge)
{
    return edge > 0.0 ? d - edge * rint(d / edge) : d;
}

static bool are_boxes_near(const tali_list *list, const tali_list_arrays *at, int c, int d)
{
    const double edges[3] = {list->box.x, list->box.y, list->box.z};
    double r2 = 0.0;
    for (int k = 0; k < 3; ++k) {
        const double apart = fabs(nearest(at->box_center[k][c] - at->box_center[k][d], edges[k]));
        const double gap = fmax(0.0, apart - at->box_half[k][c] - at->box_half[k][d]);
        r2 += gap * gap;
    }
    return r2 < list->reach * list->reach;
}

// ---- clusters near a cluster

// Clusters from `first` on and before `end`, of those that are not before c.
static int add_near(const tali_list *list, const tali_list_arrays *at, int c, int first, int end,
                    int n)
{
    for (int d = first > c ? first : c; d < end; ++d) {
        if (are_boxes_near(list, at, c, d)) at->near[n++] = d;
    }
    return n;
}

// The cluster of a column whose atoms begin in a bin or before it.
static int cluster_at(const tali_list *list, const tali_list_arrays *at, int column, int bin)
{
    const int first = column * list->bins;
    return (at->column_start[column] + at->bin_start[first + bin] - at->bin_start[first]) / C;
}

// Clusters of a column: those whose bins are within reach; around the box, that is two runs.
static int add_column(const tali_list *list, const tali_list_arrays *at, int c, int column, int n)
{
    const int first = at->column_start[column] / C, end = at->column_start[column + 1] / C;
    const double z = at->box_center[2][c], far = at->box_half[2][c] + list->reach;
    const double low = floor((z - far) / list->side.z), high = floor((z + far) / list->side.z);
    const bool is_periodic = list->box.z > 0.0;
    if (end <= c) return n;
    if (!(list->side.z > 0.0) || !(high - low + 1.0 < list->bins)) {
        return add_near(list, at, c, first, end, n);
    }
    int bins[2] = {(int)low, (int)high};
    for (int k = 0; k < 2 && !is_periodic; ++k) {
        bins[k] = bins[k] < 0 ? 0 : bins[k] >= list->bins ? list->bins - 1 : bins[k];
    }
    for (int k = 0; k < 2; ++k) {
        bins[k] = (bins[k] % list->bins + list->bins) % list->bins;
    }
    const int from = cluster_at(list, at, column, bins[0]);
    int to = cluster_at(list, at, column, bins[1] + 1) + 1;
    to = to > end ? end : to;
    if (bins[0] <= bins[1]) return add_near(list, at, c, from, to, n);
    if (to >= from) return add_near(list, at, c, first, end, n);
    n = add_near(list, at, c, first, to, n);
    return add_near(list, at, c, from, end, n);
}

// Columns along an axis that reach from column `at`: the first of them and how many, which in a
// periodic box may begin below zero.
typedef struct run {
    int first, count;
} run;

static run columns_near(double reach, double side, int n, int at, bool is_periodic)
{
    const double far = side > 0.0 ? ceil(reach / side) : (double)INFINITY;
    if (!(2.0 * far + 1.0 < n)) return (run){0, n};
    const int first = at - (int)far, end = at + (int)far + 1;
    if (is_periodic) return (run){first, end - first};
    const int low = first < 0 ? 0 : first, high = end > n ? n : end;
    return (run){low, high - low};
}

int tali_list_find_near(const tali_list *list, const tali_list_arrays *at, int cluster)
{
    const int bin = at->work[at->atom_at[cluster * C]], column = bin / list->bins;
    const bool is_periodic = list->box.x > 0.0;
    const int nx = list->columns[0], ny = list->columns[1];
    const run x = columns_near(list->reach, list->side.x, nx, column / ny, is_periodic);
    const run y = columns_near(list->reach, list->side.y, ny, column % ny, is_periodic);
    int n = 0;
    for (int i = x.first; i < x.first + x.count; ++i) {
        for (int j = y.first; j < y.first + y.count; ++j) {
            n = add_column(list, at, cluster, (i + nx) % nx * ny + (j + ny) % ny, n);
        }
    }
    return n;
}

// ---- rows

// Whether two atoms act on each other by what the list is for.
static bool act(const tal_mol_instance *instance, int i, int j)
{
    return instance->body[i] != instance->body[j] &&
           !tali_term_is_skipped(instance, i < j ? i : j, i < j ? j : i);
}

// The bits of an entry without atoms that the atom of a slot does not act on.
static uint32_t acting(const tal_mol_instance *instance, const tali_list_arrays *at, int slot,
                       uint32_t entry)
{
    const int first = (int)(entry >> C) * C;
    for (int j = 0; j < C; ++j) {
        if ((entry >> j & 1u) == 0) continue;
        if (!act(instance, at->atom_at[slot], at->atom_at[first + j])) entry &= ~(1u << j);
    }
    return entry;
}

int tali_list_find_row(const tal_mol_instance *instance, const tali_list *list,
                       const tali_list_arrays *at, int slot, int num_near, uint32_t row[])
{
    const tal_vec3 b = list->box;
    const bool has_box = b.x > 0.0;
    const tali_lanes_places places = {{at->x[0], at->x[1], at->x[2]},
                                      b,
                                      has_box ? tal_v3(1.0 / b.x, 1.0 / b.y, 1.0 / b.z)
                                              : TAL_VEC3_ZERO,
                                      list->reach};
    const int own = slot / C;
    const int found = instance->kernels.find_row(&places, slot, at->near, num_near, row);
    int n = 0;
    for (int k = 0; k < found; ++k) {
        uint32_t entry = row[k];
        if ((int)(entry >> C) == own) entry &= ~((2u << slot % C) - 1u); // those behind it
        if (instance->has_exclusions) entry = acting(instance, at, slot, entry);
        row[n] = entry;
        n += (entry & 0xffu) != 0 ? 1 : 0;
    }
    return n;
}

// All rows, stored as long as there is room.
static void find_rows(const tal_mol_instance *instance, tali_list *list, const tali_list_arrays *at)
{
    const long capacity = tali_list_capacity(instance);
    list->num_entries = 0;
    list->is_stored = true;
    for (int s = 0, near = 0; s < list->num_slots; ++s) {
        if (s % C == 0) near = tali_list_find_near(list, at, s / C);
        const int n = tali_list_find_row(instance, list, at, s, near, at->row);
        at->row_start[s] = (int)list->num_entries;
        if (list->num_entries + n > capacity) list->is_stored = false;
        if (list->is_stored) {
            memcpy(at->entries + list->num_entries, at->row, (size_t)n * sizeof at->row[0]);
        }
        list->num_entries += n;
    }
    at->row_start[list->num_slots] = (int)list->num_entries;
}

bool tali_list_build(const tal_mol_instance *instance, const tali_term_pairs *pairs,
                     const tal_vec3 x[], tali_list *list)
{
    const int n = instance->mol->num_atoms;
    if (!are_somewhere(x, n)) return false;
    list->skin = pairs->set.skin;
    list->reach = (pairs->end + list->skin) * (1.0 + 1e-9); // nobody is lost by round-off
    lay_out(pairs, x, n, list);
    const tali_list_arrays at = tali_list_arrays_of(instance, list);
    number_atoms(x, n, list, &at);
    find_slots(instance, list, &at);
    enclose(x, list, &at);
    find_rows(instance, list, &at);
    ++list->num_builds;
    return true;
}
