// The nearest points of two cores that do not overlap.
//
// The difference of the two is a polyhedron, too, and its point nearest to the origin is what is
// asked for. A simplex in it, with corners that are differences of a vertex of a and one of b, is
// exchanged corner by corner until no vertex is nearer to the origin along the normal.
//
// Source: Gilbert, Johnson and Keerthi, IEEE J. Robot. Autom. 4 (1988) 193.
#include "hull/hull_internal.h"

#include <float.h>
#include <math.h>

enum {
    MOST_STEPS = 200
};

// Corners whose triangle has a smaller sine squared, or whose tetrahedron a smaller volume, both of
// edges of length one, are on a line or in a plane.
static const double ON_LINE = 1e-24, IN_PLANE = 1e-14;

typedef struct corner {
    tal_vec3 p; // of a, less that of b
    int a, b;
} corner;

typedef struct simplex {
    corner corners[4];
    double weight[4];
    int n;
    tal_vec3 v; // its point nearest to the origin
} simplex;

// The corner farthest along -v.
static corner support(const tali_hull_pair *pair, tal_vec3 v)
{
    const tali_hull_placed *a = &pair->a, *b = &pair->b;
    corner c;
    (void)tali_hull_least(a->hull, tal_m3_tmul_v3(a->R, v), &c.a);
    (void)tali_hull_least(b->hull, tal_v3_neg(tal_m3_tmul_v3(b->R, v)), &c.b);
    c.p = tal_v3_sub(a->points[c.a], b->points[c.b]);
    return c;
}

// Weights of the point nearest to the origin of the flat through up to four points, from the normal
// equations; false where the points do not span one.
static bool flat_weights(const tal_vec3 p[], int n, double weight[])
{
    const tal_vec3 e[3] = {n > 1 ? tal_v3_sub(p[1], p[0]) : TAL_VEC3_ZERO,
                           n > 2 ? tal_v3_sub(p[2], p[0]) : TAL_VEC3_ZERO,
                           n > 3 ? tal_v3_sub(p[3], p[0]) : TAL_VEC3_ZERO};
    double w[3] = {0.0, 0.0, 0.0};
    if (n == 2) {
        const double aa = tal_v3_dot(e[0], e[0]);
        if (!(aa > 0.0)) return false;
        w[0] = -tal_v3_dot(e[0], p[0]) / aa;
    } else if (n == 3) {
        const tal_vec3 normal = tal_v3_cross(e[0], e[1]);
        const double nn = tal_v3_dot(normal, normal);
        const double scale = tal_v3_dot(e[0], e[0]) * tal_v3_dot(e[1], e[1]);
        if (!(nn > ON_LINE * scale)) return false;
        const tal_vec3 o = tal_v3_neg(p[0]);
        w[0] = tal_v3_dot(tal_v3_cross(o, e[1]), normal) / nn;
        w[1] = tal_v3_dot(tal_v3_cross(e[0], o), normal) / nn;
    } else if (n == 4) {
        const tal_mat3 E = tal_m3(e[0], e[1], e[2]);
        const double det = tal_m3_det(E);
        const double scale = tal_v3_norm(e[0]) * tal_v3_norm(e[1]) * tal_v3_norm(e[2]);
        if (!(fabs(det) > IN_PLANE * scale)) return false;
        const tal_vec3 x = tal_m3_mul_v3(tal_m3_inverse(E), tal_v3_neg(p[0]));
        w[0] = x.x;
        w[1] = x.y;
        w[2] = x.z;
    }
    weight[0] = 1.0 - w[0] - w[1] - w[2];
    for (int i = 1; i < n && i < 4; ++i) {
        weight[i] = w[i - 1];
    }
    return true;
}

// One choice of corners; true if the nearest point of their flat is within them.
static bool try_corners(const simplex *s, int mask, simplex *out)
{
    tal_vec3 p[4];
    *out = (simplex){.n = 0};
    for (int i = 0; i < s->n; ++i) {
        if ((mask >> i & 1) == 0) continue;
        out->corners[out->n] = s->corners[i];
        p[out->n++] = s->corners[i].p;
    }
    if (!flat_weights(p, out->n, out->weight)) return false;
    for (int i = 0; i < out->n; ++i) {
        if (out->weight[i] < 0.0) return false;
        out->v = tal_v3_axpy(out->weight[i], p[i], out->v);
    }
    return true;
}

// The smallest part of the simplex that holds its point nearest to the origin: of all parts whose
// own nearest point is within them the nearest one.
static simplex reduce(const simplex *s)
{
    simplex best = {.n = 0}, it;
    double least = (double)INFINITY;
    for (int mask = 1; mask < 1 << s->n; ++mask) {
        if (!try_corners(s, mask, &it)) continue;
        const double square = tal_v3_dot(it.v, it.v);
        if (square >= least) continue;
        least = square;
        best = it;
    }
    return best;
}

static bool has_corner(const simplex *s, corner c)
{
    for (int i = 0; i < s->n; ++i) {
        if (s->corners[i].a == c.a && s->corners[i].b == c.b) return true;
    }
    return false;
}

// Vertices of one hull that the simplex uses: an edge if there are two, else the one that counts
// most is named twice.
static void name_part(const simplex *s, bool of_a, int part[2])
{
    int distinct[4] = {0}, n = 0;
    for (int i = 0; i < s->n; ++i) {
        const int vertex = of_a ? s->corners[i].a : s->corners[i].b;
        bool is_new = true;
        for (int k = 0; k < n; ++k) {
            is_new = is_new && distinct[k] != vertex;
        }
        if (is_new) distinct[n++] = vertex;
    }
    part[0] = n > 2 ? TALI_HULL_NONE : distinct[0];
    part[1] = n > 2 ? TALI_HULL_NONE : distinct[n - 1];
}

static tali_hull_nearest answer(const tali_hull_pair *pair, const simplex *s)
{
    tali_hull_nearest it = {.distance = tal_v3_norm(s->v)};
    int a[2], b[2];
    for (int i = 0; i < s->n; ++i) {
        it.on_a = tal_v3_axpy(s->weight[i], pair->a.points[s->corners[i].a], it.on_a);
        it.on_b = tal_v3_axpy(s->weight[i], pair->b.points[s->corners[i].b], it.on_b);
    }
    name_part(s, true, a);
    name_part(s, false, b);
    it.feature = tali_hull_feature(a[0], a[1], b[0], b[1]);
    if (s->n == 4) it.distance = 0.0;
    return it;
}

tali_hull_nearest tali_hull_find_nearest(const tali_hull_pair *pair)
{
    simplex s = {.corners = {support(pair, tal_v3_sub(pair->a.points[0], pair->b.points[0]))},
                 .weight = {1.0},
                 .n = 1};
    s.v = s.corners[0].p;
    for (int step = 0; step < MOST_STEPS && s.n < 4; ++step) {
        const double square = tal_v3_dot(s.v, s.v);
        const corner next = support(pair, s.v);
        // nothing is nearer along v than v itself, up to round-off
        const double gain = square - tal_v3_dot(s.v, next.p);
        if (square == 0.0 || gain <= 4.0 * DBL_EPSILON * square || has_corner(&s, next)) break;
        simplex larger = s;
        larger.corners[larger.n++] = next;
        const simplex smaller = reduce(&larger);
        if (smaller.n == 0 || !(tal_v3_dot(smaller.v, smaller.v) < square)) break;
        s = smaller;
    }
    return answer(pair, &s);
}
