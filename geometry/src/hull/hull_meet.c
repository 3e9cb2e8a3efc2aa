// Footprints: what of two cores is near the other one, seen along the normal, and where the two
// footprints meet.
//
// A footprint is the convex polygon about the vertices near the other solid: the corners of a face,
// the ends of an edge, or one vertex. Where two footprints overlap is a polygon as well, and its
// corners are corners of the one within the other, and crossings of their edges.
#include "hull/hull_internal.h"

#include <float.h>
#include <math.h>

uint64_t tali_hull_feature(int a1, int a2, int b1, int b2)
{
    const uint64_t part[4] = {(uint64_t)(a1 < a2 ? a1 : a2), (uint64_t)(a1 < a2 ? a2 : a1),
                              (uint64_t)(b1 < b2 ? b1 : b2), (uint64_t)(b1 < b2 ? b2 : b1)};
    return part[0] << 48 | part[1] << 32 | part[2] << 16 | part[3];
}

// ---- one footprint

// Twice the area of a triangle of vertices, counterclockwise positive.
static double turn(const tali_hull_placed *it, int i, int j, int k)
{
    return (it->x[j] - it->x[i]) * (it->y[k] - it->y[i]) -
           (it->y[j] - it->y[i]) * (it->x[k] - it->x[i]);
}

static bool comes_before(const tali_hull_placed *it, int i, int j)
{
    if (it->x[i] != it->x[j]) return it->x[i] < it->x[j];
    if (it->y[i] != it->y[j]) return it->y[i] < it->y[j];
    return i < j;
}

// Sort the numbers in corner[0..n) by x, then y. Few: by insertion.
static void sort_corners(tali_hull_placed *it, int n)
{
    for (int i = 1; i < n; ++i) {
        const int moved = it->corner[i];
        int j = i;
        for (; j > 0 && comes_before(it, moved, it->corner[j - 1]); --j) {
            it->corner[j] = it->corner[j - 1];
        }
        it->corner[j] = moved;
    }
}

// One chain of the polygon: those of sorted[0..n) that turn left all the way, into chain.
static int make_chain(const tali_hull_placed *it, const int sorted[], int n, int step, int chain[],
                      double least_turn)
{
    int count = 0;
    for (int i = 0; i < n; ++i) {
        const int next = sorted[i * step];
        while (count > 1 && turn(it, chain[count - 2], chain[count - 1], next) <= least_turn) {
            --count;
        }
        chain[count++] = next;
    }
    return count;
}

static double apart(const tali_hull_placed *it, int i, int j)
{
    return hypot(it->x[i] - it->x[j], it->y[i] - it->y[j]);
}

// The convex polygon about corner[0..n), in place, counterclockwise (Andrew's monotone chains).
// Corners on a line between others, up to round-off, are left out. `spare` holds 2 n numbers.
static void wrap(tali_hull_placed *it, int n, double size, int spare[])
{
    sort_corners(it, n);
    const double least_turn = TALI_HULL_EPS * size * size;
    int *lower = spare;
    const int num_lower = make_chain(it, it->corner, n, 1, lower, least_turn);
    int *upper = spare + num_lower;
    const int num_upper = make_chain(it, it->corner + n - 1, n, -1, upper, least_turn);
    int count = 0;
    for (int i = 0; i < num_lower - 1; ++i) {
        it->corner[count++] = lower[i];
    }
    for (int i = 0; i < num_upper - 1; ++i) {
        it->corner[count++] = upper[i];
    }
    if (count == 2 && apart(it, it->corner[0], it->corner[1]) <= TALI_HULL_MERGE * size) count = 1;
    it->num_corners = count;
}

void tali_hull_footprint(tali_hull_placed *it, const tal_mat3 *view, double sign, double most,
                         double size)
{
    it->up = tal_v3_scale(sign, view->z);
    double least = (double)INFINITY;
    for (int i = 0; i < it->hull->num_vertices; ++i) {
        it->height[i] = tal_v3_dot(it->up, it->points[i]);
        least = fmin(least, it->height[i]);
    }
    // faces stay faces, and edges edges, while a footprint is thin beside its solid
    const double thin = fmin(most, 0.1 * it->hull->width);
    int count = 0;
    for (int i = 0; i < it->hull->num_vertices; ++i) {
        if (it->height[i] > least + thin) continue;
        it->x[i] = tal_v3_dot(view->x, it->points[i]);
        it->y[i] = tal_v3_dot(view->y, it->points[i]);
        it->corner[count++] = i;
    }
    if (count == 1) {
        it->num_corners = 1;
        return;
    }
    wrap(it, count, size, it->spare);
}

// ---- two footprints

typedef struct meet {
    const tali_hull_pair *pair;
    tal_mat3 view;
    double slack;
    tali_hull_meeting *meetings;
    int count, capacity;
} meet;

// Height of the core over a place within its footprint: its faces that look down bound it.
static double height_within(const tali_hull_placed *it, const tal_mat3 *view, double x, double y)
{
    double lowest = (double)INFINITY, highest = -(double)INFINITY;
    for (int k = 0; k < it->num_corners; ++k) {
        lowest = fmin(lowest, it->height[it->corner[k]]);
        highest = fmax(highest, it->height[it->corner[k]]);
    }
    const tal_vec3 place = tal_v3_axpy(x, view->x, tal_v3_scale(y, view->y));
    double height = lowest;
    for (int k = 0; k < it->hull->num_faces; ++k) {
        const tali_hull_face *face = &it->hull->faces[k];
        const tal_vec3 normal = tal_m3_mul_v3(it->R, face->normal);
        const double down = -tal_v3_dot(normal, it->up);
        if (down < 0.5) continue;
        // normal . (place + height up) = offset + normal . p
        const double offset = face->offset + tal_v3_dot(normal, it->p);
        height = fmax(height, (tal_v3_dot(normal, place) - offset) / down);
    }
    return fmin(height, highest);
}

static double mix(double from, double to, double part)
{
    return from + part * (to - from);
}

// Where a place is along the edge from i to j, as a part of it, and how far beside it.
static double along_edge(const tali_hull_placed *it, int i, int j, double x, double y,
                         double *beside)
{
    const double ex = it->x[j] - it->x[i], ey = it->y[j] - it->y[i];
    const double square = ex * ex + ey * ey;
    const double part = ((x - it->x[i]) * ex + (y - it->y[i]) * ey) / square;
    const double to = fmin(fmax(part, 0.0), 1.0);
    *beside = hypot(x - mix(it->x[i], it->x[j], to), y - mix(it->y[i], it->y[j], to));
    return to;
}

// Whether a place is within a footprint, and the height of the core there.
static bool is_within(const tali_hull_placed *it, const tal_mat3 *view, double x, double y,
                      double slack, double *height)
{
    const int *c = it->corner;
    if (it->num_corners == 1) {
        *height = it->height[c[0]];
        return hypot(x - it->x[c[0]], y - it->y[c[0]]) <= slack;
    }
    if (it->num_corners == 2) {
        double beside;
        const double part = along_edge(it, c[0], c[1], x, y, &beside);
        *height = mix(it->height[c[0]], it->height[c[1]], part);
        return beside <= slack;
    }
    for (int k = 0; k < it->num_corners; ++k) {
        const int i = c[k], j = c[(k + 1) % it->num_corners];
        const double area =
            (it->x[j] - it->x[i]) * (y - it->y[i]) - (it->y[j] - it->y[i]) * (x - it->x[i]);
        if (area < -slack * apart(it, i, j)) return false;
    }
    *height = height_within(it, view, x, y);
    return true;
}

static void add_meeting(meet *m, tali_hull_meeting it)
{
    if (m->count < m->capacity) m->meetings[m->count++] = it;
}

// Corners of one footprint within the other. Heights of b are kept downwards.
static void add_corners(meet *m, bool of_a)
{
    const tali_hull_placed *it = of_a ? &m->pair->a : &m->pair->b;
    const tali_hull_placed *other = of_a ? &m->pair->b : &m->pair->a;
    const int none = TALI_HULL_NONE;
    for (int k = 0; k < it->num_corners; ++k) {
        const int i = it->corner[k];
        double height;
        if (!is_within(other, &m->view, it->x[i], it->y[i], m->slack, &height)) continue;
        tali_hull_meeting at = {.x = it->x[i], .y = it->y[i]};
        at.height_a = of_a ? it->height[i] : height;
        at.height_b = of_a ? -height : -it->height[i];
        at.feature =
            of_a ? tali_hull_feature(i, i, none, none) : tali_hull_feature(none, none, i, i);
        add_meeting(m, at);
    }
}

static const double PARALLEL = 1e-9; // edges at a smaller angle, in rad

// Where two edges cross, seen along n. Parallel edges meet at corners.
static void add_crossing(meet *m, int a1, int a2, int b1, int b2)
{
    const tali_hull_placed *a = &m->pair->a, *b = &m->pair->b;
    const double ax = a->x[a2] - a->x[a1], ay = a->y[a2] - a->y[a1];
    const double bx = b->x[b2] - b->x[b1], by = b->y[b2] - b->y[b1];
    const double across = ax * by - ay * bx, la = hypot(ax, ay), lb = hypot(bx, by);
    if (fabs(across) <= PARALLEL * la * lb) return;
    const double dx = b->x[b1] - a->x[a1], dy = b->y[b1] - a->y[a1];
    const double s = (dx * by - dy * bx) / across, t = (dx * ay - dy * ax) / across;
    if (s < -m->slack / la || s > 1.0 + m->slack / la) return;
    if (t < -m->slack / lb || t > 1.0 + m->slack / lb) return;
    add_meeting(m, (tali_hull_meeting){
                       .x = mix(a->x[a1], a->x[a2], s),
                       .y = mix(a->y[a1], a->y[a2], s),
                       .height_a = mix(a->height[a1], a->height[a2], s),
                       .height_b = -mix(b->height[b1], b->height[b2], t),
                       .feature = tali_hull_feature(a1, a2, b1, b2),
                   });
}

// Number of edges of a polygon of this many corners: a segment has one, a point none.
static int num_edges(int num_corners)
{
    return num_corners > 2 ? num_corners : num_corners - 1;
}

static void add_crossings(meet *m)
{
    const tali_hull_placed *a = &m->pair->a, *b = &m->pair->b;
    for (int i = 0; i < num_edges(a->num_corners); ++i) {
        for (int j = 0; j < num_edges(b->num_corners); ++j) {
            add_crossing(m, a->corner[i], a->corner[(i + 1) % a->num_corners], b->corner[j],
                         b->corner[(j + 1) % b->num_corners]);
        }
    }
}

int tali_hull_most_meetings(int num_a, int num_b)
{
    return 3 * (num_a + num_b) + 4;
}

int tali_hull_meet(tali_hull_pair *pair, const tal_mat3 *view, double most,
                   tali_hull_meeting meetings[], int capacity)
{
    tali_hull_footprint(&pair->a, view, 1.0, most, pair->size);
    tali_hull_footprint(&pair->b, view, -1.0, most, pair->size);
    meet m = {.pair = pair, .view = *view, .slack = 10.0 * TALI_HULL_EPS * pair->size};
    m.meetings = meetings;
    m.capacity = capacity;
    add_corners(&m, true);
    add_corners(&m, false);
    add_crossings(&m);
    return m.count;
}
