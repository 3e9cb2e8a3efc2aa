// Contact at the nearest points of two smooth solids: ellipsoids and capsules.
#include "detect/detect_solid_internal.h"

#include <math.h>

// ---- curvatures of two surfaces

// A surface at a point with normal n: its curvature along a tangent, and across it.
typedef struct curved {
    tal_vec3 e;
    double along, across;
} curved;

// Principal curvatures of the sum of both.
static void curve(tali_detect_point *at, const curved *a, const curved *b)
{
    const tal_vec3 u = tal_v3_perp(at->n_G), v = tal_v3_cross(at->n_G, u);
    double uu = 0.0, uv = 0.0, vv = 0.0;
    for (int i = 0; i < 2; ++i) {
        const curved *it = i == 0 ? a : b;
        const double c = tal_v3_dot(it->e, u), s = tal_v3_dot(it->e, v);
        const double more = it->along - it->across;
        uu += it->across + more * c * c;
        uv += more * c * s;
        vv += it->across + more * s * s;
    }
    const double mean = 0.5 * (uu + vv), half = hypot(0.5 * (uu - vv), uv);
    at->curvature[0] = mean + half;
    at->curvature[1] = fmax((uu * vv - uv * uv) / at->curvature[0], 0.0);
    const double product = at->curvature[0] * at->curvature[1];
    at->radius = product > 0.0 ? 1.0 / sqrt(product) : 0.0;
    const double angle = 0.5 * atan2(2.0 * uv, uu - vv);
    at->axis_G = tal_v3_axpy(cos(angle), u, tal_v3_scale(sin(angle), v));
}

// ---- two ellipsoids

enum {
    MOST_STEPS = 60,
    MOST_HALVINGS = 12
};

// A step of n that is shorter is the last one; the error that it leaves is its square.
static const double LAST_STEP = 1e-9;

// By so much of both sizes a step may descend: that is round-off.
static const double ROUND_OFF = 1e-14;

// An ellipsoid in Ground, and how far it reaches along n: h = |a R^T n|, at the point `at`.
typedef struct reach {
    double h;
    tal_vec3 at, n_S;
} reach;

static reach reach_of(const tali_detect_placed *it, tal_vec3 n)
{
    const tal_vec3 a = it->shape->size;
    reach out = {.n_S = tal_m3_tmul_v3(it->X_GS->R, n)};
    const tal_vec3 scaled = tal_v3_mul(a, out.n_S);
    out.h = tal_v3_norm(scaled);
    out.at = tal_m3_mul_v3(it->X_GS->R, tal_v3_scale(1.0 / out.h, tal_v3_mul(a, scaled)));
    return out;
}

// (Q - s s^T) v / h with Q = R diag(a^2) R^T and s the point reached.
static tal_vec3 bend(const tali_detect_placed *it, const reach *at, tal_vec3 v)
{
    const tal_vec3 a = it->shape->size, v_S = tal_m3_tmul_v3(it->X_GS->R, v);
    const tal_vec3 Qv = tal_m3_mul_v3(it->X_GS->R, tal_v3_mul(tal_v3_mul(a, a), v_S));
    const tal_vec3 rest = tal_v3_axpy(-tal_v3_dot(at->at, v), at->at, Qv);
    return tal_v3_scale(1.0 / at->h, rest);
}

// How far apart two ellipsoids are along n, from b to a.
typedef struct gap {
    double size;
    tal_vec3 way; // the gradient: from the point of b to that of a
    reach a, b;
} gap;

static gap gap_along(const tali_detect_placed *a, const tali_detect_placed *b, tal_vec3 n)
{
    gap out = {.a = reach_of(a, n), .b = reach_of(b, n)};
    const tal_vec3 centers = tal_v3_sub(a->X_GS->p, b->X_GS->p);
    out.size = tal_v3_dot(n, centers) - out.a.h - out.b.h;
    out.way = tal_v3_sub(tal_v3_sub(centers, out.a.at), out.b.at);
    return out;
}

// The step of Newton's method in the tangent plane; the gradient itself where the second derivative
// is not that of a maximum.
static tal_vec3 step_from(const tali_detect_placed *a, const tali_detect_placed *b, tal_vec3 n,
                          const gap *at)
{
    const tal_vec3 u = tal_v3_perp(n), v = tal_v3_cross(n, u);
    const tal_vec3 Bu = tal_v3_add(bend(a, &at->a, u), bend(b, &at->b, u));
    const tal_vec3 Bv = tal_v3_add(bend(a, &at->a, v), bend(b, &at->b, v));
    const double uu = tal_v3_dot(u, Bu) + at->size, vv = tal_v3_dot(v, Bv) + at->size;
    const double uv = tal_v3_dot(u, Bv), det = uu * vv - uv * uv;
    const double gu = tal_v3_dot(u, at->way), gv = tal_v3_dot(v, at->way);
    if (!(det > 0.0 && uu + vv > 0.0)) {
        const double scale = 1.0 / (at->a.h + at->b.h);
        return tal_v3_axpy(gu * scale, u, tal_v3_scale(gv * scale, v));
    }
    return tal_v3_axpy((vv * gu - uv * gv) / det, u, tal_v3_scale((uu * gv - uv * gu) / det, v));
}

// A step, shortened until it ascends; false if it does not.
static bool take_step(const tali_detect_placed *a, const tali_detect_placed *b, tal_vec3 step,
                      tal_vec3 *n, gap *at)
{
    const double least = at->size - ROUND_OFF * (at->a.h + at->b.h);
    for (int k = 0; k < MOST_HALVINGS; ++k) {
        const tal_vec3 next_n = tal_v3_normalize(tal_v3_add(*n, step));
        const gap next = gap_along(a, b, next_n);
        if (next.size >= least) {
            *n = next_n;
            *at = next;
            return true;
        }
        step = tal_v3_scale(0.5, step);
    }
    return false;
}

// The direction along which two ellipsoids overlap least, by Newton's method with steps that
// ascend. False as soon as there is one along which they are apart.
static bool find_overlap(const tali_detect_placed *a, const tali_detect_placed *b, tal_vec3 *n,
                         gap *at)
{
    const tal_vec3 centers = tal_v3_sub(a->X_GS->p, b->X_GS->p);
    *n = tal_v3_max_abs(centers) > 0.0 ? tal_v3_normalize(centers) : a->X_GS->R.x;
    *at = gap_along(a, b, *n);
    bool goes_on = true;
    for (int i = 0; i < MOST_STEPS && at->size < 0.0 && goes_on; ++i) {
        const tal_vec3 step = step_from(a, b, *n, at);
        goes_on = take_step(a, b, step, n, at) && tal_v3_norm(step) > LAST_STEP;
    }
    return at->size < 0.0;
}

static curved curved_at(const tali_detect_placed *it, const reach *at)
{
    double k[2];
    tal_vec3 axis;
    tali_detect_ellipsoid_curvatures(it->shape->size, at->n_S, at->h, k, &axis);
    return (curved){tal_m3_mul_v3(it->X_GS->R, axis), k[0], k[1]};
}

void tali_detect_ellipsoids(const tali_detect_placed *a, const tali_detect_placed *b,
                            tali_detect_sink *sink)
{
    tal_vec3 n;
    gap it;
    if (!find_overlap(a, b, &n, &it)) return;
    const double depth = -it.size;
    const tal_vec3 on_b = tal_v3_add(b->X_GS->p, it.b.at);
    tali_detect_point at = {
        .p_G = tal_v3_axpy(-0.5 * depth, n, on_b), .n_G = n, .depth = depth, .weight = 1.0};
    const curved of_a = curved_at(a, &it.a), of_b = curved_at(b, &it.b);
    curve(&at, &of_a, &of_b);
    tali_detect_sink_point(sink, at);
}

// ---- capsules

// A capsule: all within r of p - half u to p + half u.
typedef struct capsule {
    tal_vec3 p, u;
    double half, r;
} capsule;

static capsule capsule_of(const tali_detect_placed *it)
{
    const tal_shape *shape = it->shape;
    return (capsule){it->X_GS->p, it->X_GS->R.z, shape->size.y - shape->edge_radius,
                     shape->edge_radius};
}

static double within(double x, double half)
{
    return x > half ? half : (x < -half ? -half : x);
}

static tal_vec3 on_axis(const capsule *it, double s)
{
    return tal_v3_axpy(s, it->u, it->p);
}

// Curvature at a place of the axis: that of a ball at an end.
static curved curved_of(const capsule *it, double s)
{
    return (curved){it->u, fabs(s) < it->half ? 0.0 : 1.0 / it->r, 1.0 / it->r};
}

// An ellipsoid and a capsule: the distance from the ellipsoid is a convex function of the place on
// the axis, so that its slope has one root, between a and b.
static double nearest_place(const tali_detect_placed *ellipsoid, const capsule *it)
{
    const tal_vec3 p = tal_xf_inv_apply(*ellipsoid->X_GS, it->p);
    const tal_vec3 u = tal_m3_tmul_v3(ellipsoid->X_GS->R, it->u);
    double end[2] = {-it->half, it->half}, slope[2];
    for (int i = 0; i < 2; ++i) {
        const tal_vec3 at = tal_v3_axpy(end[i], u, p);
        slope[i] = tal_v3_dot(u, tali_detect_find_nearest(ellipsoid->shape, at).n);
    }
    if (slope[0] >= 0.0) return end[0];
    if (slope[1] <= 0.0) return end[1];
    double s = 0.0, before = 0.0;
    for (int i = 0; i < MOST_STEPS; ++i) { // regula falsi, which halves what stays (Illinois)
        s = end[0] - slope[0] * (end[1] - end[0]) / (slope[1] - slope[0]);
        if (!(s > end[0] && s < end[1])) s = 0.5 * (end[0] + end[1]);
        if (!(s > end[0] && s < end[1])) break;
        const tal_vec3 at = tal_v3_axpy(s, u, p);
        const double now = tal_v3_dot(u, tali_detect_find_nearest(ellipsoid->shape, at).n);
        if (now == 0.0) break;
        const int side = now < 0.0 ? 0 : 1;
        end[side] = s;
        slope[side] = now;
        if (now * before > 0.0) slope[1 - side] *= 0.5;
        before = now;
    }
    return s;
}

// A capsule touches where its axis is nearest; any other cylinder in facets.
void tali_detect_ellipsoid_cylinder(const tali_detect_placed *a, const tali_detect_placed *b,
                                    tali_detect_sink *sink)
{
    if (!tali_detect_is_capsule(b->shape)) {
        tali_detect_solids(a, b, sink);
        return;
    }
    const capsule it = capsule_of(b);
    const double s = nearest_place(a, &it);
    const tal_vec3 center = on_axis(&it, s);
    const tali_detect_nearest near =
        tali_detect_find_nearest(a->shape, tal_xf_inv_apply(*a->X_GS, center));
    const double depth = it.r - near.distance;
    if (!(depth > 0.0)) return;
    const tal_vec3 out = tal_m3_mul_v3(a->X_GS->R, near.n); // from a to b
    tali_detect_point at = {.p_G = tal_v3_axpy(0.5 * depth - it.r, out, center),
                            .n_G = tal_v3_neg(out),
                            .depth = depth,
                            .weight = 1.0};
    const curved of_a = {tal_m3_mul_v3(a->X_GS->R, near.e), 1.0 / near.radius[0],
                         1.0 / near.radius[1]};
    const curved of_b = curved_of(&it, s);
    curve(&at, &of_a, &of_b);
    tali_detect_sink_point(sink, at);
}

// A place on each axis, where balls may touch.
typedef struct places {
    double a, b;
} places;

// The nearest places of two axes.
// Source: Ericson, Real-Time Collision Detection, sec. 5.1.9.
static places nearest_places(const capsule *a, const capsule *b)
{
    const tal_vec3 r = tal_v3_sub(a->p, b->p);
    const double c = tal_v3_dot(a->u, b->u), ra = tal_v3_dot(a->u, r), rb = tal_v3_dot(b->u, r);
    const tal_vec3 across = tal_v3_cross(a->u, b->u);
    const double det = tal_v3_dot(across, across);
    places at = {det > 0.0 ? within((c * rb - ra) / det, a->half) : 0.0, 0.0};
    const double wanted = rb + c * at.a;
    at.b = within(wanted, b->half);
    if (at.b != wanted) at.a = within(c * at.b - ra, a->half);
    return at;
}

// Balls of both at these places, if they touch.
static void touch_at(const capsule *a, const capsule *b, places s, tali_detect_point at,
                     tali_detect_sink *sink)
{
    const tal_vec3 on_b = on_axis(b, s.b), apart = tal_v3_sub(on_axis(a, s.a), on_b);
    at.depth = a->r + b->r - tal_v3_norm(apart);
    if (!(at.depth > 0.0) || !(tal_v3_max_abs(apart) > 0.0)) return;
    at.n_G = tal_v3_normalize(apart);
    at.p_G = tal_v3_axpy(b->r - 0.5 * at.depth, at.n_G, on_b);
    const curved of_a = curved_of(a, s.a), of_b = curved_of(b, s.b);
    curve(&at, &of_a, &of_b);
    tali_detect_sink_point(sink, at);
}

// The four ends, each with the nearest ball of the other, and the place where the axes cross. As
// capsules come to lie along each other that place jumps; its energy is therefore weighed by the
// square of the sine between the axes, and the ends hold what lies along.
void tali_detect_cylinders(const tali_detect_placed *a, const tali_detect_placed *b,
                           tali_detect_sink *sink)
{
    if (!tali_detect_is_capsule(a->shape) || !tali_detect_is_capsule(b->shape)) {
        tali_detect_solids(a, b, sink);
        return;
    }
    const capsule one = capsule_of(a), two = capsule_of(b);
    for (int k = 0; k < 2; ++k) {
        const double end = k == 0 ? -one.half : one.half;
        const tal_vec3 from = tal_v3_sub(on_axis(&one, end), two.p);
        const places s = {end, within(tal_v3_dot(two.u, from), two.half)};
        touch_at(&one, &two, s, (tali_detect_point){.weight = 1.0, .feature = k}, sink);
    }
    for (int k = 0; k < 2; ++k) {
        const double end = k == 0 ? -two.half : two.half;
        const tal_vec3 from = tal_v3_sub(on_axis(&two, end), one.p);
        const places s = {within(tal_v3_dot(one.u, from), one.half), end};
        touch_at(&one, &two, s, (tali_detect_point){.weight = 1.0, .feature = 2 + k}, sink);
    }
    const tal_vec3 across = tal_v3_cross(one.u, two.u);
    const double weight = tal_v3_dot(across, across);
    if (!(weight > 0.0)) return;
    const tali_detect_point crossing = {.weight = weight,
                                        .turn_G =
                                            tal_v3_scale(-2.0 * tal_v3_dot(one.u, two.u), across),
                                        .feature = 4};
    touch_at(&one, &two, nearest_places(&one, &two), crossing, sink);
}
