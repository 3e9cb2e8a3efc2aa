// The tree of boxes over the faces of a mesh: building it, nearest points, rays.
//
// Each node halves its faces by the position of their centroids along the longest side of the box
// around those. So the tree is balanced, whatever the mesh: walks need a short stack and no
// recursion.
#include "mesh/mesh_internal.h"

#include <assert.h>

// ---- boxes

static tali_detect_box box_empty(void)
{
    const double inf = (double)INFINITY;
    return (tali_detect_box){tal_v3(inf, inf, inf), tal_v3(-inf, -inf, -inf)};
}

static void box_take(tali_detect_box *box, tal_vec3 p)
{
    box->low = tal_v3(fmin(box->low.x, p.x), fmin(box->low.y, p.y), fmin(box->low.z, p.z));
    box->high = tal_v3(fmax(box->high.x, p.x), fmax(box->high.y, p.y), fmax(box->high.z, p.z));
}

static tali_detect_box box_of_faces(const tal_mesh *mesh, int first, int count)
{
    tali_detect_box box = box_empty();
    for (int i = first; i < first + count; ++i) {
        for (int k = 0; k < 3; ++k) {
            box_take(&box, mesh->vertices[mesh->faces[mesh->order[i]].vertex[k]]);
        }
    }
    return box;
}

// ---- building

static tal_axis split_axis(const tal_mesh *mesh, int first, int count)
{
    tali_detect_box box = box_empty();
    for (int i = first; i < first + count; ++i) {
        box_take(&box, mesh->faces[mesh->order[i]].centroid);
    }
    const tal_vec3 side = tal_v3_sub(box.high, box.low);
    if (side.x >= side.y && side.x >= side.z) return TAL_AXIS_X;
    return side.y >= side.z ? TAL_AXIS_Y : TAL_AXIS_Z;
}

// A total order of faces: by centroid along the axis, equal ones by number.
static bool comes_before(const tal_mesh *mesh, tal_axis axis, int a, int b)
{
    const double at_a = tal_v3_at(mesh->faces[a].centroid, axis);
    const double at_b = tal_v3_at(mesh->faces[b].centroid, axis);
    return at_a < at_b || (at_a == at_b && a < b);
}

static void swap(int *a, int *b)
{
    const int was = *a;
    *a = *b;
    *b = was;
}

// Move what comes before order[pivot] in front of it, the rest behind; returns its place.
static int partition(tal_mesh *mesh, tal_axis axis, int first, int last, int pivot)
{
    int *order = mesh->order;
    swap(&order[pivot], &order[last]);
    int at = first;
    for (int i = first; i < last; ++i) {
        if (comes_before(mesh, axis, order[i], order[last])) swap(&order[i], &order[at++]);
    }
    swap(&order[at], &order[last]);
    return at;
}

// Put order[middle] where sorting would put it, with what comes before it in front. Pivots are
// scattered by a linear congruential sequence: no order of faces that a modeler may come with makes
// this slow.
static void select_middle(tal_mesh *mesh, tal_axis axis, int first, int count, int middle)
{
    int last = first + count - 1;
    uint32_t seed = (uint32_t)count;
    while (first < last) {
        seed = seed * 1664525u + 1013904223u;
        const int pivot = first + (int)((seed >> 8) % (uint32_t)(last - first + 1));
        const int at = partition(mesh, axis, first, last, pivot);
        if (at == middle) return;
        if (at < middle) {
            first = at + 1;
        } else {
            last = at - 1;
        }
    }
}

int tali_mesh_count_nodes(int num_faces)
{
    // the halves of n differ by one at most, so a level holds nodes of two sizes only: n and n + 1
    int total = 0, size = num_faces, small = 1, large = 0;
    while (small > 0 || large > 0) {
        total += small + large;
        const int small_split = size > TALI_MESH_LEAF ? small : 0;
        const int large_split = size + 1 > TALI_MESH_LEAF ? large : 0;
        // an even one makes two equal halves, an odd one a smaller and a larger half
        const int even = size % 2 == 0 ? small_split : large_split;
        const int odd = size % 2 == 0 ? large_split : small_split;
        small = size % 2 == 0 ? 2 * even + odd : odd;
        large = size % 2 == 0 ? odd : odd + 2 * even;
        size /= 2;
    }
    return total;
}

// Faces that wait for their node; `parent` < 0: the node is a left child or the root.
typedef struct pending {
    int first, count, parent;
} pending;

void tali_mesh_build_tree(tal_mesh *mesh)
{
    for (int f = 0; f < mesh->num_faces; ++f) {
        mesh->order[f] = f;
    }
    pending stack[TALI_MESH_STACK] = {{0, mesh->num_faces, -1}};
    int depth = 1, n = 0;
    while (depth > 0) {
        const pending it = stack[--depth];
        if (it.parent >= 0) mesh->nodes[it.parent].right = n;
        mesh->nodes[n] =
            (tali_mesh_node){box_of_faces(mesh, it.first, it.count), 0, it.first, it.count};
        if (it.count > TALI_MESH_LEAF) {
            const int half = it.count / 2;
            const tal_axis axis = split_axis(mesh, it.first, it.count);
            select_middle(mesh, axis, it.first, it.count, it.first + half);
            assert(depth + 2 <= TALI_MESH_STACK);
            stack[depth++] = (pending){it.first + half, it.count - half, n};
            stack[depth++] = (pending){it.first, half, -1};
        }
        ++n;
    }
    assert(n == mesh->num_nodes);
}

// ---- walking

void tali_mesh_walk(const tal_mesh *mesh, void *self, tali_mesh_wants_fn wants,
                    tali_mesh_visit_fn visit)
{
    int stack[TALI_MESH_STACK] = {0};
    int depth = 1;
    while (depth > 0) {
        const int i = stack[--depth];
        const tali_mesh_node *node = &mesh->nodes[i];
        if (!wants(self, node)) continue;
        if (node->right != 0) {
            assert(depth + 2 <= TALI_MESH_STACK);
            stack[depth++] = node->right;
            stack[depth++] = i + 1;
            continue;
        }
        for (int j = node->first; j < node->first + node->count; ++j) {
            visit(self, mesh->order[j]);
        }
    }
}

// ---- nearest point

// What of a triangle is nearest.
typedef enum feature_kind {
    FACE,
    EDGE,
    VERTEX
} feature_kind;

typedef struct nearest {
    tal_vec3 p;
    double distance2;
    int face;
    feature_kind kind;
    int k; // which edge or vertex of the face
} nearest;

// The point of an edge nearest to q.
static nearest nearest_on_edge(const tal_mesh *mesh, int f, int k, tal_vec3 q)
{
    const int *v = mesh->faces[f].vertex;
    const tal_vec3 a = mesh->vertices[v[k]], b = mesh->vertices[v[(k + 1) % 3]];
    const tal_vec3 ab = tal_v3_sub(b, a);
    const double t = tal_v3_dot(tal_v3_sub(q, a), ab) / tal_v3_dot(ab, ab);
    nearest best = {.face = f, .kind = VERTEX, .k = k, .p = a};
    if (t >= 1.0) {
        best.k = (k + 1) % 3;
        best.p = b;
    } else if (t > 0.0) {
        best.kind = EDGE;
        best.p = tal_v3_axpy(t, ab, a);
    }
    const tal_vec3 d = tal_v3_sub(q, best.p);
    best.distance2 = tal_v3_dot(d, d);
    return best;
}

// The point of a face nearest to q: q's projection if that is within the face, else on one of the
// edges beyond which q lies.
static nearest nearest_on_face(const tal_mesh *mesh, int f, tal_vec3 q)
{
    const tali_mesh_face *face = &mesh->faces[f];
    nearest best = {.face = f, .kind = FACE, .distance2 = (double)INFINITY};
    bool is_within = true;
    for (int k = 0; k < 3; ++k) {
        const tal_vec3 a = mesh->vertices[face->vertex[k]];
        const tal_vec3 b = mesh->vertices[face->vertex[(k + 1) % 3]];
        const tal_vec3 inward = tal_v3_cross(face->normal, tal_v3_sub(b, a));
        if (tal_v3_dot(inward, tal_v3_sub(q, a)) >= 0.0) continue;
        is_within = false;
        const nearest on_edge = nearest_on_edge(mesh, f, k, q);
        if (on_edge.distance2 < best.distance2) best = on_edge;
    }
    if (is_within) {
        const tal_vec3 a = mesh->vertices[face->vertex[0]];
        const double height = tal_v3_dot(face->normal, tal_v3_sub(q, a));
        best.p = tal_v3_axpy(-height, face->normal, q);
        best.distance2 = height * height;
    }
    return best;
}

// A vector that points outwards at a point of the surface: the normal of a face, the sum of those
// of an edge's faces, those around a vertex weighed by their angles. The sign of its product with
// the way to a point to which this one is nearest tells outside from inside (Baerentzen).
static tal_vec3 outward_at(const tal_mesh *mesh, const nearest *at)
{
    const tali_mesh_face *face = &mesh->faces[at->face];
    switch (at->kind) {
    case FACE:
        return face->normal;
    case EDGE:
        return tal_v3_add(face->normal, mesh->faces[face->neighbor[at->k]].normal);
    case VERTEX:
        break;
    }
    return mesh->vertex_normals[face->vertex[at->k]];
}

static void search_leaf(const tal_mesh *mesh, const tali_mesh_node *leaf, tal_vec3 q, nearest *best)
{
    for (int i = leaf->first; i < leaf->first + leaf->count; ++i) {
        const nearest here = nearest_on_face(mesh, mesh->order[i], q);
        if (here.distance2 < best->distance2) *best = here;
    }
}

// A node that waits to be looked at, and how far its box is.
typedef struct candidate {
    int node;
    double distance2;
} candidate;

// Search the tree for the point of the surface nearest to q; ends early below the squared distance
// `enough2`.
static nearest find_nearest(const tal_mesh *mesh, tal_vec3 q, int hint, double enough2)
{
    nearest best = {.face = -1, .distance2 = (double)INFINITY};
    if (hint >= 0) best = nearest_on_face(mesh, hint, q);
    candidate stack[TALI_MESH_STACK] = {{0, tali_mesh_box_distance2(&mesh->nodes[0].box, q)}};
    int depth = 1;
    while (depth > 0 && !(best.distance2 <= enough2)) {
        const candidate it = stack[--depth];
        const tali_mesh_node *node = &mesh->nodes[it.node];
        if (!(it.distance2 < best.distance2)) continue;
        if (node->right == 0) {
            search_leaf(mesh, node, q, &best);
            continue;
        }
        // the nearer child is looked at first, and often saves the other
        candidate a = {it.node + 1, tali_mesh_box_distance2(&mesh->nodes[it.node + 1].box, q)};
        candidate b = {node->right, tali_mesh_box_distance2(&mesh->nodes[node->right].box, q)};
        assert(depth + 2 <= TALI_MESH_STACK);
        stack[depth++] = a.distance2 <= b.distance2 ? b : a;
        stack[depth++] = a.distance2 <= b.distance2 ? a : b;
    }
    return best;
}

static tal_mesh_point no_point(void)
{
    return (tal_mesh_point){-1, tal_v3(TALI_NAN, TALI_NAN, TALI_NAN), TALI_NAN, false};
}

tal_mesh_point tali_mesh_nearest(const tal_mesh *mesh, tal_vec3 p_SQ, int hint, double enough)
{
    const nearest best = find_nearest(mesh, p_SQ, hint, enough * enough);
    if (best.face < 0) return no_point();
    const tal_vec3 way = tal_v3_sub(p_SQ, best.p);
    const bool is_inside = tal_v3_dot(way, outward_at(mesh, &best)) <= 0.0;
    return (tal_mesh_point){best.face, best.p, sqrt(best.distance2), is_inside};
}

tal_mesh_point tal_mesh_calc_nearest(const tal_mesh *mesh, tal_vec3 p_SQ)
{
    if (mesh == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the mesh is NULL");
        return no_point();
    }
    return tali_mesh_nearest(mesh, p_SQ, -1, 0.0);
}

// ---- rays

typedef struct ray {
    const tal_mesh *mesh;
    tal_vec3 origin, direction; // of length 1
    double limit;               // where it has met a face, the first so far
    tal_mesh_point hit;
} ray;

// Narrow [*from, *to] to where the ray is between low and high along one axis.
static void clip(double origin, double direction, double low, double high, double *from, double *to)
{
    if (direction != 0.0) {
        const double a = (low - origin) / direction, b = (high - origin) / direction;
        *from = fmax(*from, fmin(a, b));
        *to = fmin(*to, fmax(a, b));
    } else if (origin < low || origin > high) {
        *to = -1.0;
    }
}

// Whether the ray meets a node's box before the limit. The box is widened by what rounding can take
// away, so that no face is missed.
static bool ray_wants(void *self, const tali_mesh_node *node)
{
    const ray *r = self;
    const tal_vec3 o = r->origin, d = r->direction;
    const tali_detect_box *box = &node->box;
    double from = 0.0, to = r->limit;
    clip(o.x, d.x, box->low.x, box->high.x, &from, &to);
    clip(o.y, d.y, box->low.y, box->high.y, &from, &to);
    clip(o.z, d.z, box->low.z, box->high.z, &from, &to);
    return from <= to * (1.0 + 1e-14) + 1e-300;
}

// Where the ray meets a face, or a negative number. The ray passes the edge from a to b on the side
// that the sign of d . (a x b) tells, with a and b taken from the ray's origin. The product for the
// same edge in the neighbor, from b to a, is the same number with the other sign, bit for bit: a
// ray cannot slip through between the two.
static double meets_face(const ray *r, const tali_mesh_face *face)
{
    tal_vec3 v[3];
    for (int k = 0; k < 3; ++k) {
        v[k] = tal_v3_sub(r->mesh->vertices[face->vertex[k]], r->origin);
    }
    int left = 0, right = 0;
    for (int k = 0; k < 3; ++k) {
        const double side = tal_v3_dot(r->direction, tal_v3_cross(v[k], v[(k + 1) % 3]));
        left += side >= 0.0;
        right += side <= 0.0;
    }
    const double slope = tal_v3_dot(r->direction, face->normal);
    if ((left < 3 && right < 3) || slope == 0.0) return -1.0;
    return tal_v3_dot(v[0], face->normal) / slope;
}

static void ray_visit(void *self, int f)
{
    ray *r = self;
    const tali_mesh_face *face = &r->mesh->faces[f];
    const double distance = meets_face(r, face);
    if (!(distance >= 0.0 && distance < r->limit)) return;
    r->limit = distance;
    r->hit = (tal_mesh_point){f, tal_v3_axpy(distance, r->direction, r->origin), distance,
                              tal_v3_dot(r->direction, face->normal) > 0.0};
}

tal_mesh_point tal_mesh_calc_ray(const tal_mesh *mesh, tal_vec3 p_SO, tal_vec3 direction)
{
    if (mesh == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the mesh is NULL");
        return no_point();
    }
    ray r = {mesh, p_SO, tal_v3_normalize(direction), (double)INFINITY, no_point()};
    if (!tal_v3_is_finite(p_SO) || !tal_v3_is_finite(r.direction)) {
        (void)TALI_BREACH(TAL_ERR_BAD_VALUE,
                          "the ray from (%g, %g, %g) along (%g, %g, %g) has no direction", p_SO.x,
                          p_SO.y, p_SO.z, direction.x, direction.y, direction.z);
        return no_point();
    }
    tali_mesh_walk(mesh, &r, ray_wants, ray_visit);
    return r.hit;
}
