// How two convex solids are to each other: distance, normal, and the points at which they touch.
//
// First the axis along which the cores are farthest apart. If footprints along it meet at that
// distance, the two really are so near, and the axis is the normal; this is so wherever a corner
// rests on a face or two edges cross, and it is as exact when they touch as when they do not. Else
// a corner or an edge is nearest to one, the nearest points are searched for, and the line between
// them is the normal.
#include "hull/hull_internal.h"

#include <math.h>

// Gaps that differ by less than this share of the distance within which meetings are one are equal;
// hulls that are closer than this share of their size overlap, as far as a normal goes.
static const double EQUAL = 1e-3, TOUCHING = 1e-9;

// Memory for one call: the arrays of both hulls, and the meetings.
typedef struct room {
    tali_hull_meeting *meetings;
    int *chain;
    bool *is_dropped;
    int most;
} room;

// Doubles that one hull needs: vertices; x, y and height; corner and spare, which are ints.
static size_t placed_size(const tal_hull *hull)
{
    return 8 * (size_t)hull->num_vertices + 2;
}

enum {
    MEETING_DOUBLES = (int)(sizeof(tali_hull_meeting) / sizeof(double))
};

size_t tal_touch_work_size(const tal_hull *a, const tal_hull *b)
{
    if (a == NULL || b == NULL) return (void)TALI_BREACH(TAL_ERR_NULL, "a hull is NULL"), 0;
    const size_t most = (size_t)tali_hull_most_meetings(a->num_vertices, b->num_vertices);
    return placed_size(a) + placed_size(b) + most * (MEETING_DOUBLES + 1);
}

static double *place_hull(tali_hull_placed *it, const tal_hull *hull, const tal_xform *X_GS,
                          tal_vec3 origin, double *work)
{
    const int n = hull->num_vertices;
    *it = (tali_hull_placed){.hull = hull, .R = X_GS->R, .p = tal_v3_sub(X_GS->p, origin)};
    it->points = (tal_vec3 *)(void *)work;
    it->x = work + 3 * n;
    it->y = work + 4 * n;
    it->height = work + 5 * n;
    it->corner = (int *)(void *)(work + 6 * n);
    it->spare = it->corner + n;
    for (int i = 0; i < n; ++i) {
        it->points[i] = tal_v3_add(it->p, tal_m3_mul_v3(it->R, hull->vertices[i]));
    }
    return work + placed_size(hull);
}

// A half-space has no vertices.
static room make_room(int num_a, int num_b, double *work)
{
    room r = {.most = tali_hull_most_meetings(num_a, num_b)};
    r.meetings = (tali_hull_meeting *)(void *)work;
    r.chain = (int *)(void *)(work + (size_t)r.most * MEETING_DOUBLES);
    r.is_dropped = (bool *)(void *)(r.chain + r.most);
    return r;
}

// ---- fewest points

// Twice the area of a triangle of meetings, counterclockwise positive.
static double turn(const tali_hull_meeting m[], int i, int j, int k)
{
    return (m[j].x - m[i].x) * (m[k].y - m[i].y) - (m[j].y - m[i].y) * (m[k].x - m[i].x);
}

static double gap_of(const tali_hull_meeting *m)
{
    return m->height_a - m->height_b;
}

static void sort_meetings(tali_hull_meeting m[], int n)
{
    for (int i = 1; i < n; ++i) {
        const tali_hull_meeting moved = m[i];
        int j = i;
        for (; j > 0; --j) {
            const tali_hull_meeting *it = &m[j - 1];
            const bool is_later = it->x != moved.x   ? it->x > moved.x
                                  : it->y != moved.y ? it->y > moved.y
                                                     : it->feature > moved.feature;
            if (!is_later) break;
            m[j] = *it;
        }
        m[j] = moved;
    }
}

// One of meetings in the same place, the one with the least gap, is enough. Few: all with all.
static int merge_meetings(tali_hull_meeting m[], int n, double near)
{
    int count = 0;
    for (int i = 0; i < n; ++i) {
        int same = 0;
        while (same < count && hypot(m[same].x - m[i].x, m[same].y - m[i].y) > near) {
            ++same;
        }
        if (same < count) {
            const double gap = gap_of(&m[i]);
            // equal but for round-off: a corner counts, not a crossing, whichever was first
            if (gap < gap_of(&m[same]) - EQUAL * near) m[same] = m[i];
            continue;
        }
        m[count++] = m[i];
    }
    return count;
}

static double least_gap(const tali_hull_meeting m[], int n)
{
    double least = (double)INFINITY;
    for (int i = 0; i < n; ++i) {
        least = fmin(least, gap_of(&m[i]));
    }
    return least;
}

// How far meeting j is from the line from i to k, on its right.
static double beyond(const tali_hull_meeting m[], int i, int j, int k)
{
    return turn(m, i, j, k) / hypot(m[k].x - m[i].x, m[k].y - m[i].y);
}

// Mark those that are within the polygon of the others: a chain below and one above, as in
// hull_meet.c; `chain` is the part of the list kept so far, linked by numbers.
static void mark_inner(const tali_hull_meeting m[], int n, double near, int chain[], bool dropped[])
{
    for (int i = 0; i < n; ++i) {
        dropped[i] = true;
    }
    for (int side = 0; side < 2; ++side) {
        int count = 0;
        for (int i = 0; i < n; ++i) {
            const int next = side == 0 ? i : n - 1 - i;
            while (count > 1 && beyond(m, chain[count - 2], chain[count - 1], next) <= near) {
                --count;
            }
            chain[count++] = next;
        }
        for (int i = 0; i < count; ++i) {
            dropped[chain[i]] = false;
        }
    }
}

// The corners of the polygon about all meetings, and the deepest of all if it is within.
static int keep_fewest(tali_hull_meeting m[], int n, double near, int chain[], bool dropped[])
{
    n = merge_meetings(m, n, near);
    if (n <= 2) return n;
    sort_meetings(m, n);
    mark_inner(m, n, EQUAL * near, chain, dropped);
    double least = (double)INFINITY;
    for (int i = 0; i < n; ++i) {
        if (!dropped[i]) least = fmin(least, gap_of(&m[i]));
    }
    int deepest = -1, count = 0;
    for (int i = 0; i < n; ++i) {
        const double gap = gap_of(&m[i]);
        if (!dropped[i] || gap >= least - near) continue;
        deepest = i;
        least = gap + near;
    }
    for (int i = 0; i < n; ++i) {
        if (!dropped[i] || i == deepest) m[count++] = m[i];
    }
    return count;
}

// ---- the answer

typedef struct answer {
    tal_touch_point *points;
    int capacity;
    tal_vec3 origin;
    tal_mat3 view;
    double radius_a, radius_b;
    double most; // the largest gap that counts
} answer;

static void give(const answer *to, const tali_hull_meeting *m, tal_touch *touch)
{
    const double top = m->height_a - to->radius_a, bottom = m->height_b + to->radius_b;
    if (top - bottom > to->most) return;
    const int i = touch->num_points++;
    if (i >= to->capacity) return;
    const tal_vec3 across = tal_v3_axpy(m->x, to->view.x, tal_v3_scale(m->y, to->view.y));
    to->points[i].p_G =
        tal_v3_add(to->origin, tal_v3_axpy(0.5 * (top + bottom), to->view.z, across));
    to->points[i].gap = top - bottom;
    to->points[i].feature = m->feature;
}

static void give_all(const answer *to, room *r, int n, double size, tal_touch *touch)
{
    const int count = keep_fewest(r->meetings, n, TALI_HULL_MERGE * size, r->chain, r->is_dropped);
    for (int i = 0; i < count; ++i) {
        give(to, &r->meetings[i], touch);
    }
}

static tal_mat3 view_along(tal_vec3 n)
{
    const tal_vec3 x = tal_v3_perp(n);
    return tal_m3(x, tal_v3_cross(n, x), n);
}

// ---- a hull over a plane

static tali_hull_meeting over_plane(const tali_hull_placed *it, const tal_mat3 *view, int i,
                                    double plane)
{
    const tal_vec3 p = it->points[i];
    return (tali_hull_meeting){tal_v3_dot(view->x, p), tal_v3_dot(view->y, p),
                               tal_v3_dot(view->z, p), plane,
                               tali_hull_feature(i, i, TALI_HULL_NONE, TALI_HULL_NONE)};
}

// The footprint of the hull, and its lowest vertex, should that be within.
static void touch_plane(const tal_hull *hull, const tal_xform *X_GA, const tal_xform *X_GH,
                        double reach, answer *to, double *work, tal_touch *touch)
{
    const tal_vec3 n = tal_v3_neg(X_GH->R.x);
    const double plane = tal_v3_dot(n, tal_v3_sub(X_GH->p, X_GA->p));
    int lowest;
    const double least = tali_hull_least(hull, tal_m3_tmul_v3(X_GA->R, n), &lowest);
    touch->distance = least - plane - hull->radius;
    if (touch->distance > reach) return;
    tali_hull_placed it;
    room r = make_room(hull->num_vertices, 0, place_hull(&it, hull, X_GA, X_GA->p, work));
    to->view = view_along(n);
    to->most = fmax(touch->distance, 0.0) + reach;
    to->radius_a = hull->radius;
    touch->n_G = n;
    tali_hull_footprint(&it, &to->view, 1.0, to->most - touch->distance, hull->extent);
    for (int k = 0; k < it.num_corners; ++k) {
        r.meetings[k] = over_plane(&it, &to->view, it.corner[k], plane);
    }
    r.meetings[it.num_corners] = over_plane(&it, &to->view, lowest, plane);
    give_all(to, &r, it.num_corners + 1, hull->extent, touch);
}

// The same with a and b exchanged.
static void exchange(tal_touch_point points[], int capacity, tal_touch *touch)
{
    touch->n_G = tal_v3_neg(touch->n_G);
    for (int i = 0; i < touch->num_points && i < capacity; ++i) {
        points[i].feature = points[i].feature >> 32 | points[i].feature << 32;
    }
}

// ---- two hulls

// Points along pair->n. False if the two are not as near as `between` says: none of the points is,
// or, where cores overlap, there is none.
static bool touch_along(tali_hull_pair *pair, answer *to, room *r, tal_touch *touch)
{
    to->view = view_along(pair->n);
    const double thick = to->most - (pair->between - pair->radii);
    const int n = tali_hull_meet(pair, &to->view, thick, r->meetings, r->most);
    const double least = least_gap(r->meetings, n);
    const double near = 100.0 * TALI_HULL_EPS * pair->size;
    if (n == 0 || (pair->between > 0.0 && least > pair->between + near)) return false;
    touch->n_G = pair->n;
    touch->distance = pair->between - pair->radii;
    give_all(to, r, n, pair->size, touch);
    return touch->num_points > 0;
}

// One point, between two of the cores.
static void touch_at(const tali_hull_pair *pair, tal_vec3 on_a, tal_vec3 on_b, uint64_t feature,
                     answer *to, tal_touch *touch)
{
    to->view = view_along(pair->n);
    const tal_vec3 middle = tal_v3_scale(0.5, tal_v3_add(on_a, on_b));
    const double height = tal_v3_dot(pair->n, middle);
    const tali_hull_meeting m = {tal_v3_dot(to->view.x, middle), tal_v3_dot(to->view.y, middle),
                                 height + 0.5 * pair->between, height - 0.5 * pair->between,
                                 feature};
    touch->n_G = pair->n;
    touch->distance = pair->between - pair->radii;
    touch->num_points = 0;
    give(to, &m, touch);
}

// Where nothing better is known: the vertex of each that is farthest into the other one.
static void touch_deepest(const tali_hull_pair *pair, answer *to, tal_touch *touch)
{
    int i, j;
    (void)tali_hull_least(pair->a.hull, tal_m3_tmul_v3(pair->a.R, pair->n), &i);
    (void)tali_hull_least(pair->b.hull, tal_v3_neg(tal_m3_tmul_v3(pair->b.R, pair->n)), &j);
    touch_at(pair, pair->a.points[i], pair->b.points[j], tali_hull_feature(i, i, j, j), to, touch);
}

// Along the axis if the two are as near as it says, else along the line between nearest points.
static tal_status touch_hulls(tali_hull_pair *pair, double reach, answer *to, room *r,
                              tal_touch *touch)
{
    const bool has_axis = tali_hull_find_axis(pair);
    const double axis_gap = pair->between - pair->radii;
    touch->distance = axis_gap;
    if (has_axis && axis_gap > reach) return TAL_OK;
    to->most = fmax(axis_gap, 0.0) + reach;
    if (has_axis && touch_along(pair, to, r, touch)) return TAL_OK;

    const tali_hull_nearest nearest = tali_hull_find_nearest(pair);
    if (nearest.distance <= TOUCHING * pair->size) {
        if (!has_axis) return TAL_ERR_SINGULAR;
        touch_deepest(pair, to, touch);
        return TAL_OK;
    }
    pair->n = tal_v3_scale(1.0 / nearest.distance, tal_v3_sub(nearest.on_a, nearest.on_b));
    pair->between = nearest.distance;
    touch->distance = nearest.distance - pair->radii;
    if (touch->distance > reach) return TAL_OK;
    to->most = fmax(touch->distance, 0.0) + reach;
    if (!touch_along(pair, to, r, touch)) {
        touch_at(pair, nearest.on_a, nearest.on_b, nearest.feature, to, touch);
    }
    return TAL_OK;
}

// All that a caller gives. NOLINTNEXTLINE(readability-function-size)
static tal_status check(const tal_hull *a, const tal_xform *X_GA, const tal_hull *b,
                        const tal_xform *X_GB, double reach, const tal_touch_point points[],
                        int capacity, const double work[], const tal_touch *touch)
{
    static const char *const where = "tal_hull_calc_touch";
    if (a == NULL || X_GA == NULL || b == NULL || X_GB == NULL || work == NULL || touch == NULL ||
        (points == NULL && capacity > 0)) {
        return tali_breach(TAL_ERR_NULL, where, "a hull, a pose or an array is NULL");
    }
    if (!(reach >= 0.0) || capacity < 0) {
        return tali_breach(TAL_ERR_BAD_VALUE, where,
                           "the reach is %g and the capacity %d: they must not be negative", reach,
                           capacity);
    }
    if (a->is_half_space && b->is_half_space) {
        return tali_breach(TAL_ERR_BAD_VALUE, where, "two half-spaces do not touch at points");
    }
    return TAL_OK;
}

// Balls about both that are farther apart than `reach`, and by how much they are.
static bool are_far(const tal_hull *a, const tal_xform *X_GA, const tal_hull *b,
                    const tal_xform *X_GB, double reach, double *distance)
{
    const tal_vec3 d = tal_v3_sub(tal_xf_apply(*X_GA, a->center), tal_xf_apply(*X_GB, b->center));
    *distance = tal_v3_norm(d) - a->extent - b->extent;
    return *distance > reach;
}

// Three of the parameters are arrays and their size. NOLINTNEXTLINE(readability-function-size)
tal_status tal_hull_calc_touch(const tal_hull *a, const tal_xform *X_GA, const tal_hull *b,
                               const tal_xform *X_GB, double reach, tal_touch_point points[],
                               int capacity, double work[], tal_touch *touch)
{
    tal_status st = check(a, X_GA, b, X_GB, reach, points, capacity, work, touch);
    if (st != TAL_OK) return st;
    if (!tal_xf_is_finite(*X_GA) || !tal_xf_is_finite(*X_GB)) return TAL_ERR_NOT_FINITE;
    *touch = (tal_touch){.num_points = 0};
    answer to = {.points = points, .capacity = capacity, .origin = X_GA->p};
    if (b->is_half_space) {
        touch_plane(a, X_GA, X_GB, reach, &to, work, touch);
    } else if (a->is_half_space) {
        to.origin = X_GB->p;
        // NOLINTNEXTLINE(readability-suspicious-call-argument): b is over the plane of a
        touch_plane(b, X_GB, X_GA, reach, &to, work, touch);
        exchange(points, capacity, touch);
    } else if (!are_far(a, X_GA, b, X_GB, reach, &touch->distance)) {
        tali_hull_pair pair = {.size = fmax(a->extent, b->extent), .radii = a->radius + b->radius};
        to.radius_a = a->radius;
        to.radius_b = b->radius;
        double *rest = place_hull(&pair.a, a, X_GA, X_GA->p, work);
        rest = place_hull(&pair.b, b, X_GB, X_GA->p, rest);
        room r = make_room(a->num_vertices, b->num_vertices, rest);
        st = touch_hulls(&pair, reach, &to, &r, touch);
    }
    if (st == TAL_OK && !isfinite(touch->distance)) return TAL_ERR_NOT_FINITE; // it has overflowed
    return st == TAL_OK && touch->num_points > capacity ? TAL_ERR_CAPACITY : st;
}
