// Broad phase: which surfaces are near enough for a close look. Sweep and prune.
//
// The boxes around surfaces are sorted by where they begin along one axis; a sweep then meets, for each
// box, only those that begin before it ends. Half-spaces are not swept: each is compared with every
// box. In the end the pairs are sorted by their surfaces, so the list depends on the boxes alone, and
// not on the axis or on the order in which the sweep came upon them.
#include "mesh_internal.h"

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

// ---- the sweep

// An integer that grows as the number does. Adding zero makes +0 of -0.
static uint64_t ordered(double x)
{
    const double value = x + 0.0;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t sign = UINT64_C(1) << 63;
    return (bits & sign) != 0 ? ~bits : bits | sign;
}

// The axis along which the boxes' centers are spread most: there the sweep meets fewest.
static tal_axis sweep_axis(const tali_sweep boxes[], int n)
{
    tal_vec3 mean = TAL_VEC3_ZERO, square = TAL_VEC3_ZERO;
    for (int i = 0; i < n; ++i) {
        mean = tal_v3_axpy(1.0 / n, tali_box_center(&boxes[i].box), mean);
    }
    for (int i = 0; i < n; ++i) {
        const tal_vec3 d = tal_v3_sub(tali_box_center(&boxes[i].box), mean);
        square = tal_v3_add(square, tal_v3_mul(d, d));
    }
    if (square.x >= square.y && square.x >= square.z) return TAL_AXIS_X;
    return square.y >= square.z ? TAL_AXIS_Y : TAL_AXIS_Z;
}

static bool boxes_overlap(const tali_box *a, const tali_box *b)
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y &&
           b->low.y <= a->high.y && a->low.z <= b->high.z && b->low.z <= a->high.z;
}

// Whether any of a box is at x >= 0 of a half-space's frame.
static bool reaches_half_space(const tali_box *box, const tal_xform *X_GH)
{
    const tal_vec3 x = X_GH->R.x, half = tali_box_half(box);
    const double center = tal_v3_dot(x, tal_v3_sub(tali_box_center(box), X_GH->p));
    const double reach = fabs(x.x) * half.x + fabs(x.y) * half.y + fabs(x.z) * half.z;
    return center + reach >= 0.0;
}

// Pairs as they are found: all are counted, and kept while there is room.
typedef struct found {
    const tali_surface *surfaces;
    uint64_t *keys;
    int count, limit;
} found;

static void found_pair(found *f, int i, int j)
{
    if (!tali_may_meet(&f->surfaces[i], &f->surfaces[j])) return;
    const int a = least(i, j), b = i + j - a;
    if (f->count < f->limit) f->keys[f->count] = (uint64_t)a << 32 | (uint64_t)b;
    f->count += f->count < INT_MAX;
}

// What is left of a key when its lowest bits are given to the surface's number: it orders boxes by
// where they begin, rounded down.
static uint64_t number_mask(int num_surfaces)
{
    uint64_t mask = 1;
    while (mask < (uint64_t)num_surfaces) {
        mask = 2 * mask + 1;
    }
    return mask;
}

static void sweep_boxes(const tali_sweep boxes[], int n, uint64_t mask, tal_axis axis, found *f)
{
    for (int i = 0; i < n; ++i) {
        const uint64_t end = ordered(tal_v3_at(boxes[i].box.high, axis));
        for (int j = i + 1; j < n && (boxes[j].key & ~mask) <= end; ++j) {
            if (!boxes_overlap(&boxes[i].box, &boxes[j].box)) continue;
            found_pair(f, (int)(boxes[i].key & mask), (int)(boxes[j].key & mask));
        }
    }
}

// Boxes of all surfaces but half-spaces, in order of surfaces, with the surface for a key.
static int collect_boxes(const tali_surface surfaces[], int num_surfaces, const tal_xform X_GS[],
                         tali_sweep boxes[])
{
    int n = 0;
    for (int s = 0; s < num_surfaces; ++s) {
        if (surfaces[s].shape.kind == TAL_SHAPE_HALF_SPACE) continue;
        boxes[n++] = (tali_sweep){tali_shape_box(&surfaces[s].shape, &X_GS[s]), (uint64_t)s};
    }
    return n;
}

static void meet_half_spaces(const tali_surface surfaces[], int num_surfaces,
                             const tal_xform X_GS[], const tali_sweep boxes[], int n, found *f)
{
    for (int s = 0; s < num_surfaces; ++s) {
        if (surfaces[s].shape.kind != TAL_SHAPE_HALF_SPACE) continue;
        for (int i = 0; i < n; ++i) {
            if (reaches_half_space(&boxes[i].box, &X_GS[s])) found_pair(f, s, (int)boxes[i].key);
        }
    }
}

// Sort boxes by where they begin along the axis, into `sorted`; `keys` has room for two per box.
static void sort_boxes(const tali_sweep boxes[], int n, uint64_t mask, tal_axis axis,
                       uint64_t keys[], tali_sweep sorted[])
{
    for (int i = 0; i < n; ++i) {
        keys[i] = (ordered(tal_v3_at(boxes[i].box.low, axis)) & ~mask) | (uint64_t)i;
    }
    sort_keys(keys, n, keys + n);
    for (int i = 0; i < n; ++i) {
        const tali_sweep *it = &boxes[keys[i] & mask];
        sorted[i] = (tali_sweep){it->box, (keys[i] & ~mask) | it->key};
    }
}

int tali_find_pairs(const tali_surface surfaces[], int num_surfaces, const tal_xform X_GS[],
                    tali_contact_store *store)
{
    tali_sweep *boxes = store->sweep, *sorted = boxes + num_surfaces;
    const uint64_t mask = number_mask(num_surfaces);
    const int n = collect_boxes(surfaces, num_surfaces, X_GS, boxes);
    const tal_axis axis = sweep_axis(boxes, n);
    sort_boxes(boxes, n, mask, axis, store->keys, sorted);

    found f = {surfaces, store->keys, 0, store->limits.pairs};
    meet_half_spaces(surfaces, num_surfaces, X_GS, boxes, n, &f);
    sweep_boxes(sorted, n, mask, axis, &f);
    if (f.count > f.limit) return f.count;

    sort_keys(f.keys, f.count, f.keys + f.count);
    for (int i = 0; i < f.count; ++i) {
        store->pairs[i] = (tali_pair){(int)(f.keys[i] >> 32), (int)(f.keys[i] & UINT32_MAX)};
    }
    return f.count;
}
