// The axis along which two cores are farthest apart.
//
// The distance of two polyhedra that do not overlap is at least their distance along any axis, and
// how far they overlap is their least overlap along any axis. Axes that matter are the normals of
// faces, and of pairs of edges that meet as two straight roofs do: such a pair is a face of the
// difference of the two polyhedra, and it is one where the arcs between the normals at each edge
// cross on the unit sphere (the Gauss map).
#include "hull/hull_internal.h"

#include <math.h>

// Sine of an angle between edges below which they count as parallel.
static const double PARALLEL = 1e-8;

typedef struct search {
    tali_hull_pair *pair;
    tal_vec3 towards; // from the center of b to that of a
    bool found;
} search;

// Take an axis if the cores are farther apart along it, by more than round-off.
static void offer(search *s, tal_vec3 n, double between)
{
    tali_hull_pair *pair = s->pair;
    if (s->found && !(between > pair->between + TALI_HULL_EPS * pair->size)) return;
    s->found = true;
    pair->n = n;
    pair->between = between;
}

// Normals of the faces of `it`; the other one lies above a face, so its least height counts.
static void offer_faces(search *s, const tali_hull_placed *it, const tali_hull_placed *other,
                        double sign)
{
    const tal_vec3 p = tal_v3_sub(other->p, it->p);
    for (int k = 0; k < it->hull->num_faces; ++k) {
        const tali_hull_face *face = &it->hull->faces[k];
        const tal_vec3 n = tal_m3_mul_v3(it->R, face->normal);
        int vertex;
        const double least =
            tali_hull_least(other->hull, tal_m3_tmul_v3(other->R, n), &vertex) + tal_v3_dot(n, p);
        offer(s, tal_v3_scale(sign, n), least - face->offset);
    }
}

// ---- pairs of edges

// How far a brick reaches along a direction.
static double reach_of(const tali_hull_placed *it, tal_vec3 n)
{
    const tal_vec3 h = it->hull->half;
    return fabs(tal_v3_dot(it->R.x, n)) * h.x + fabs(tal_v3_dot(it->R.y, n)) * h.y +
           fabs(tal_v3_dot(it->R.z, n)) * h.z;
}

// Two bricks have three directions of edges each, and reach as far to either side.
static void offer_brick_edges(search *s)
{
    const tali_hull_placed *a = &s->pair->a, *b = &s->pair->b;
    const tal_vec3 of_a[3] = {a->R.x, a->R.y, a->R.z}, of_b[3] = {b->R.x, b->R.y, b->R.z};
    for (int i = 0; i < 9; ++i) {
        const tal_vec3 across = tal_v3_cross(of_a[i / 3], of_b[i % 3]);
        const double length = tal_v3_norm(across);
        if (length < PARALLEL) continue; // parallel: a face says the same
        const double away = tal_v3_dot(across, s->towards);
        const tal_vec3 n = tal_v3_scale((away < 0.0 ? -1.0 : 1.0) / length, across);
        offer(s, n, fabs(away) / length - reach_of(a, n) - reach_of(b, n));
    }
}

// Whether the arc from n1 to n2 crosses the plane across `along`; the edge of a segment has the
// whole circle across it.
static bool crosses(tal_vec3 n1, tal_vec3 n2, tal_vec3 along)
{
    return tal_v3_dot(n1, along) * tal_v3_dot(n2, along) < 0.0;
}

// Whether the arcs of two edges cross: those of a, and those of b seen from the other side.
static bool arcs_cross(const tal_vec3 a[2], tal_vec3 along_a, const tal_vec3 b[2], tal_vec3 along_b,
                       bool a_has_faces, bool b_has_faces)
{
    if (b_has_faces && !crosses(b[0], b[1], along_a)) return false;
    if (a_has_faces && !crosses(a[0], a[1], along_b)) return false;
    if (!a_has_faces || !b_has_faces) return true;
    // on the same side of the sphere: the middle of one arc is not opposite to that of the other
    const tal_vec3 ba = tal_v3_cross(a[1], a[0]), dc = tal_v3_cross(b[1], b[0]);
    return -tal_v3_dot(b[0], ba) * tal_v3_dot(a[1], dc) > 0.0;
}

static void offer_edge_pair(search *s, const tali_hull_edge *ea, const tali_hull_edge *eb)
{
    const tali_hull_placed *a = &s->pair->a, *b = &s->pair->b;
    const tal_vec3 from_a = a->points[ea->from], from_b = b->points[eb->from];
    const tal_vec3 along_a = tal_v3_sub(a->points[ea->to], from_a);
    const tal_vec3 along_b = tal_v3_sub(b->points[eb->to], from_b);
    const tal_vec3 na[2] = {tal_m3_mul_v3(a->R, ea->normal[0]), tal_m3_mul_v3(a->R, ea->normal[1])};
    const tal_vec3 nb[2] = {tal_m3_mul_v3(b->R, eb->normal[0]), tal_m3_mul_v3(b->R, eb->normal[1])};
    const bool a_has = a->hull->num_faces > 0, b_has = b->hull->num_faces > 0;
    if (!arcs_cross(na, along_a, nb, along_b, a_has, b_has)) return;
    const tal_vec3 across = tal_v3_cross(along_a, along_b);
    const double length = tal_v3_norm(across);
    if (length < PARALLEL * tal_v3_norm(along_a) * tal_v3_norm(along_b)) return;
    // out of b, into a
    tal_vec3 out = tal_v3_sub(from_a, from_b);
    if (a_has) out = tal_v3_neg(tal_v3_add(na[0], na[1]));
    if (b_has) out = tal_v3_add(nb[0], nb[1]);
    const double sign = tal_v3_dot(across, out) < 0.0 ? -1.0 : 1.0;
    const tal_vec3 n = tal_v3_scale(sign / length, across);
    offer(s, n, tal_v3_dot(n, tal_v3_sub(from_a, from_b)));
}

static void offer_edges(search *s)
{
    const tal_hull *a = s->pair->a.hull, *b = s->pair->b.hull;
    if (a->is_brick && b->is_brick) {
        offer_brick_edges(s);
        return;
    }
    for (int i = 0; i < a->num_edges; ++i) {
        for (int j = 0; j < b->num_edges; ++j) {
            offer_edge_pair(s, &a->edges[i], &b->edges[j]);
        }
    }
}

bool tali_hull_find_axis(tali_hull_pair *pair)
{
    const tali_hull_placed *a = &pair->a, *b = &pair->b;
    search s = {.pair = pair};
    s.towards = tal_v3_sub(tal_v3_add(a->p, tal_m3_mul_v3(a->R, a->hull->center)),
                           tal_v3_add(b->p, tal_m3_mul_v3(b->R, b->hull->center)));
    offer_faces(&s, a, b, -1.0);
    offer_faces(&s, b, a, 1.0);
    offer_edges(&s);
    return s.found;
}
