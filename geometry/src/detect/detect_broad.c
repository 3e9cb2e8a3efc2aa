// Broad phase: which surfaces are near enough for a close look. Known as sweep and prune.
//
// The boxes around surfaces are sorted by where they begin along one axis, and dealt out to strips
// along a second. A walk through a strip then meets, for each box, only those of the strip that
// begin before it ends. Strips are some four boxes wide, so that a layer of n balls takes O(n log
// n).
//
//     axis 1 -->
//     strip 0   [a   ]   [c ]  [d  ]      a and b are both in strips 0 and 1: the pair
//     ----------[    ][b ]-----------     is found in the first of them
//     strip 1         [  ]   [e    ]
//
// Half-spaces, and boxes several times as large as the others, are not sorted: each is compared
// with every box. In the end the pairs are sorted by their surfaces, so the list depends on the
// boxes alone, and not on axes, strips or the order in which they were found.
#include "mesh/mesh_internal.h"

#include <limits.h>
#include <string.h>

// ---- sorting numbers

// Runs that are sorted by insertion before they are merged.
enum {
    RUN = 12
};

static void sort_run(uint64_t keys[], int n)
{
    for (int i = 1; i < n; ++i) {
        const uint64_t key = keys[i];
        int j = i;
        for (; j > 0 && keys[j - 1] > key; --j) {
            keys[j] = keys[j - 1];
        }
        keys[j] = key;
    }
}

// Merge from[0..middle) and from[middle..n), both sorted.
static void merge(const uint64_t from[], int middle, int n, uint64_t to[])
{
    if (middle >= n || from[middle - 1] <= from[middle]) {
        memcpy(to, from, (size_t)n * sizeof from[0]);
        return;
    }
    int i = 0, j = middle;
    for (int k = 0; k < n; ++k) {
        const bool takes_left = j >= n || (i < middle && from[i] <= from[j]);
        to[k] = takes_left ? from[i] : from[j];
        i += takes_left;
        j += !takes_left;
    }
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

// Sort keys[0..n); `spare` has room for as many.
static void sort_keys(uint64_t keys[], int n, uint64_t spare[])
{
    for (int i = 0; i < n; i += RUN) {
        sort_run(keys + i, least(RUN, n - i));
    }
    uint64_t *from = keys, *to = spare;
    for (int64_t width = RUN; width < n; width *= 2) {
        for (int64_t i = 0; i < n; i += 2 * width) {
            const int count = (int)(2 * width < n - i ? 2 * width : n - i);
            merge(from + i, least((int)width, count), count, to + i);
        }
        uint64_t *const was = from;
        from = to;
        to = was;
    }
    if (from != keys) memcpy(keys, from, (size_t)n * sizeof keys[0]);
}

// ---- the walk along an axis

// An integer that grows as the number does. It tells -0 from +0, but no side of a box is -0: it is
// a sum, and a sum that vanishes is +0.
static uint64_t ordered(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint64_t sign = UINT64_C(1) << 63;
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

// The two axes along which the boxes' centers are spread most: there a walk meets fewest.
typedef struct box_axes {
    tal_axis first, second;
} box_axes;

static box_axes choose_axes(const tali_detect_entry boxes[], int n)
{
    tal_vec3 mean = TAL_VEC3_ZERO, square = TAL_VEC3_ZERO;
    for (int i = 0; i < n; ++i) {
        mean = tal_v3_axpy(1.0 / n, tali_mesh_box_center(&boxes[i].box), mean);
    }
    for (int i = 0; i < n; ++i) {
        const tal_vec3 d = tal_v3_sub(tali_mesh_box_center(&boxes[i].box), mean);
        square = tal_v3_add(square, tal_v3_mul(d, d));
    }
    if (square.x >= square.y && square.x >= square.z) {
        return (box_axes){TAL_AXIS_X, square.y >= square.z ? TAL_AXIS_Y : TAL_AXIS_Z};
    }
    if (square.y >= square.z) {
        return (box_axes){TAL_AXIS_Y, square.x >= square.z ? TAL_AXIS_X : TAL_AXIS_Z};
    }
    return (box_axes){TAL_AXIS_Z, square.x >= square.y ? TAL_AXIS_X : TAL_AXIS_Y};
}

static bool boxes_overlap(const tali_detect_box *a, const tali_detect_box *b)
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y &&
           b->low.y <= a->high.y && a->low.z <= b->high.z && b->low.z <= a->high.z;
}

// Whether any of a box is at x >= 0 of a half-space's frame, or so far before it.
static bool reaches_half_space(const tali_detect_box *box, const tal_xform *X_GH, double beyond)
{
    const tal_vec3 x = X_GH->R.x, half = tali_mesh_box_half(box);
    const double center = tal_v3_dot(x, tal_v3_sub(tali_mesh_box_center(box), X_GH->p));
    const double reach = fabs(x.x) * half.x + fabs(x.y) * half.y + fabs(x.z) * half.z;
    return center + reach + beyond >= 0.0;
}

// Pairs as they are found: all are counted, and kept while there is room.
typedef struct found {
    const tali_detect_surface *surfaces;
    uint64_t *keys;
    int count, limit;
} found;

static void found_pair(found *f, int i, int j)
{
    if (!tali_detect_may_meet(&f->surfaces[i], &f->surfaces[j])) return;
    const int a = least(i, j), b = i + j - a;
    if (f->count < f->limit) f->keys[f->count] = (uint64_t)a << 32 | (uint64_t)b;
    f->count += f->count < INT_MAX;
}

// The lowest bits of a key, which are given to a surface's number; the others order boxes by where
// they begin, rounded down. Also the last of the places for strips, which are fewer than two per
// surface.
static uint64_t number_mask(int num_surfaces)
{
    uint64_t mask = 0;
    while (mask + 1 < (uint64_t)num_surfaces) {
        mask = 2 * mask + 1;
    }
    return mask;
}

// Boxes of all surfaces but half-spaces, in order of surfaces, with the surface for a key.
static int collect_boxes(const tali_detect_surface surfaces[], int num_surfaces,
                         const tal_xform X_GS[], const double reach[], tali_detect_entry boxes[])
{
    int n = 0;
    for (int s = 0; s < num_surfaces; ++s) {
        if (surfaces[s].shape.kind == TAL_SHAPE_HALF_SPACE) continue;
        tali_detect_box box = tali_detect_shape_box(&surfaces[s].shape, &X_GS[s]);
        if (reach != NULL) {
            const tal_vec3 all = tal_v3(reach[s], reach[s], reach[s]);
            box = (tali_detect_box){tal_v3_sub(box.low, all), tal_v3_add(box.high, all)};
        }
        boxes[n++] = (tali_detect_entry){.box = box, .key = (uint64_t)s};
    }
    return n;
}

static void meet_half_spaces(const tali_detect_surface surfaces[], int num_surfaces,
                             const tal_xform X_GS[], const double reach[],
                             const tali_detect_entry boxes[], int n, found *f)
{
    for (int s = 0; s < num_surfaces; ++s) {
        if (surfaces[s].shape.kind != TAL_SHAPE_HALF_SPACE) continue;
        const double beyond = reach != NULL ? reach[s] : 0.0;
        for (int i = 0; i < n; ++i) {
            if (!reaches_half_space(&boxes[i].box, &X_GS[s], beyond)) continue;
            found_pair(f, s, (int)boxes[i].key);
        }
    }
}

// Sort boxes by where they begin along the axis, into `sorted`; `keys` has room for two per box.
static void sort_boxes(const tali_detect_entry boxes[], int n, uint64_t mask, tal_axis axis,
                       uint64_t keys[], tali_detect_entry sorted[])
{
    for (int i = 0; i < n; ++i) {
        keys[i] = (ordered(tal_v3_at(boxes[i].box.low, axis)) & ~mask) | (uint64_t)i;
    }
    sort_keys(keys, n, keys + n);
    for (int i = 0; i < n; ++i) {
        const tali_detect_entry *it = &boxes[keys[i] & mask];
        sorted[i] = (tali_detect_entry){.box = it->box, .key = (keys[i] & ~mask) | it->key};
    }
}

// ---- strips

// Four times the mean side of a box along the axis.
static double strip_width(const tali_detect_entry boxes[], int n, tal_axis axis)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += tal_v3_at(boxes[i].box.high, axis) - tal_v3_at(boxes[i].box.low, axis);
    }
    return 4.0 * sum / n;
}

// Which strips a box is in: at most two, if it is no wider than one. Numbers of strips grow with
// the coordinate, so two boxes that overlap are in one strip at least. A box so far out that its
// strips cannot be counted is as good as large.
static void choose_strips(tali_detect_entry *it, tal_axis axis, double width)
{
    const double low = floor(tal_v3_at(it->box.low, axis) / width);
    const double high = floor(tal_v3_at(it->box.high, axis) / width);
    const bool is_plain = fabs(low) < 1e15 && high - low <= 1.0;
    it->strip = is_plain ? (int64_t)low : 0;
    it->num_strips = is_plain ? 1 + (high > low) : 0;
}

// Where the strip with this number is kept: strips far apart may share a place.
static size_t place_of(int64_t strip, uint64_t mask)
{
    return (size_t)((uint64_t)strip & mask);
}

// Deal the sorted boxes out to the strips: those of place p become strips[starts[p]] to
// strips[starts[p + 1] - 1], still sorted.
static void deal_out(const tali_detect_entry sorted[], int n, uint64_t mask,
                     tali_detect_strip strips[], int starts[])
{
    // starts[p + 2] counts the boxes of place p; starts[p + 1] is then where it begins, and in the
    // end where it ends
    memset(starts, 0, (size_t)(mask + 3) * sizeof starts[0]);
    for (int i = 0; i < n; ++i) {
        for (int part = 0; part < sorted[i].num_strips; ++part) {
            ++starts[place_of(sorted[i].strip + part, mask) + 2];
        }
    }
    for (size_t p = 2; p <= mask + 1; ++p) {
        starts[p] += starts[p - 1];
    }
    for (int i = 0; i < n; ++i) {
        for (int part = 0; part < sorted[i].num_strips; ++part) {
            const size_t p = place_of(sorted[i].strip + part, mask);
            strips[starts[p + 1]++] = (tali_detect_strip){i, part};
        }
    }
}

// The walk along one place. Two boxes that share two strips are reported in the first.
static void search_strip(const tali_detect_entry sorted[], const tali_detect_strip strips[],
                         int count, uint64_t mask, tal_axis axis, found *f)
{
    for (int i = 0; i < count; ++i) {
        const tali_detect_entry *a = &sorted[strips[i].box];
        const uint64_t end = ordered(tal_v3_at(a->box.high, axis));
        for (int j = i + 1; j < count; ++j) {
            const tali_detect_entry *b = &sorted[strips[j].box];
            if ((b->key & ~mask) > end) break;
            const bool is_told = a->strip + strips[i].part == b->strip + strips[j].part &&
                                 (strips[i].part == 0 || strips[j].part == 0);
            if (!is_told || !boxes_overlap(&a->box, &b->box)) continue;
            found_pair(f, (int)(a->key & mask), (int)(b->key & mask));
        }
    }
}

// Large boxes with all that are not, and with one another.
static void meet_large(const tali_detect_entry sorted[], int n, uint64_t mask, found *f)
{
    for (int i = 0; i < n; ++i) {
        if (sorted[i].num_strips > 0) continue;
        for (int j = 0; j < n; ++j) {
            const bool is_told = sorted[j].num_strips > 0 || j > i;
            if (!is_told || !boxes_overlap(&sorted[i].box, &sorted[j].box)) continue;
            found_pair(f, (int)(sorted[i].key & mask), (int)(sorted[j].key & mask));
        }
    }
}

static void search_boxes(tali_detect_entry sorted[], int n, uint64_t mask, box_axes axes,
                         const tali_detect_store *store, found *f)
{
    const double width = strip_width(sorted, n, axes.second);
    for (int i = 0; i < n; ++i) {
        choose_strips(&sorted[i], axes.second, width);
    }
    deal_out(sorted, n, mask, store->strips, store->starts);
    const int *starts = store->starts;
    for (size_t p = 0; p <= mask; ++p) {
        search_strip(sorted, store->strips + starts[p], starts[p + 1] - starts[p], mask, axes.first,
                     f);
    }
    meet_large(sorted, n, mask, f);
}

int tali_detect_find_pairs(const tali_detect_surface surfaces[], int num_surfaces,
                           const tal_xform X_GS[], tali_detect_store *store)
{
    tali_detect_entry *boxes = store->entries, *sorted = boxes + num_surfaces;
    const uint64_t mask = number_mask(num_surfaces);
    const int n = collect_boxes(surfaces, num_surfaces, X_GS, store->reach, boxes);
    const box_axes axes = choose_axes(boxes, n);
    sort_boxes(boxes, n, mask, axes.first, store->keys, sorted);

    found f = {surfaces, store->keys, 0, store->limits.pairs};
    meet_half_spaces(surfaces, num_surfaces, X_GS, store->reach, boxes, n, &f);
    search_boxes(sorted, n, mask, axes, store, &f);
    if (f.count > f.limit) return f.count;

    sort_keys(f.keys, f.count, f.keys + f.count);
    for (int i = 0; i < f.count; ++i) {
        store->pairs[i] = (tali_detect_pair){(int)(f.keys[i] >> 32), (int)(f.keys[i] & UINT32_MAX)};
    }
    return f.count;
}
