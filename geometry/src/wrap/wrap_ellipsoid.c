// Strings over an ellipsoid.
//
// Divided by the semi-axes the ellipsoid becomes the unit sphere: straight lines, planes, tangency
// and which side is which stay what they are. So there it is decided whether and on which side the
// string touches, and there the guess is made: a planar string, in the plane of the line P1 P2 and
// of the normal where the string is expected to be in its middle. Newton's method does the rest.
#include "wrap/wrap_internal.h"

#include <math.h>

// A point as seen on the unit sphere: q = p / a, and the directions of strings that leave it. They
// touch the sphere at x / a = cos q^ + sin (c cos u + n sin u), with the angle's cos = 1 / |q|.
typedef struct source {
    tal_vec3 p;     // in W
    tal_vec3 along; // q / |q|
    tal_vec3 c, n;  // across it; c is the guess
    double cosine, sine, distance;
} source;

typedef struct oval_problem {
    tali_wrap_problem base;
    tal_vec3 a; // semi-axes
    source from[2];
} oval_problem;

static tal_vec3 over(tal_vec3 v, tal_vec3 a)
{
    return tal_v3(v.x / a.x, v.y / a.y, v.z / a.z);
}

static bool end_at(const tali_wrap_problem *problem, int which, double u, tali_wrap_end *end)
{
    const oval_problem *it = (const oval_problem *)(const void *)problem;
    const source *from = &it->from[which];
    const double cu = cos(u), su = sin(u);
    const tal_vec3 c = tal_v3_axpy(cu, from->c, tal_v3_scale(su, from->n));
    const tal_vec3 dc = tal_v3_axpy(cu, from->n, tal_v3_scale(-su, from->c));
    const tal_vec3 x = tal_v3_axpy(from->cosine, from->along, tal_v3_scale(from->sine, c));
    // the direction from P, which does not vanish when P is on the surface
    const tal_vec3 m = tal_v3_axpy(-from->distance * from->sine, from->along, c);
    const tal_vec3 away = tal_v3_mul(it->a, m), daway = tal_v3_mul(it->a, dc);
    const double size = tal_v3_norm(away), sign = which == 0 ? 1.0 : -1.0;
    end->p = tal_v3_mul(it->a, x);
    end->n = tal_v3_normalize(over(x, it->a));
    end->t = tal_v3_scale(sign / size, away);
    end->lift = from->sine * size;
    end->turn = sign * tal_v3_dot(daway, tal_v3_cross(end->n, end->t)) / size;
    end->slide = from->sine * tal_v3_dot(daway, end->t);
    return true;
}

static void follow(const tali_wrap_problem *problem, double s, tali_wrap_ray *ray)
{
    tali_wrap_follow_ellipsoid(((const oval_problem *)(const void *)problem)->a, s, ray);
}

static source source_at(tal_vec3 p, tal_vec3 q)
{
    source from = {.p = p};
    const double d = tal_v3_norm(q);
    from.along = tal_v3_scale(1.0 / d, q);
    from.distance = fmax(d, 1.0); // on the surface within TALI_WRAP_SKIN
    from.cosine = 1.0 / from.distance;
    from.sine = sqrt(fmax(0.0, (1.0 - from.cosine) * (1.0 + from.cosine)));
    return from;
}

// Let a string that leaves in the direction d have the number 0.
static void aim(source *from, tal_vec3 d)
{
    from->c = tal_v3_normalize(tal_v3_axpy(-tal_v3_dot(d, from->along), from->along, d));
    from->n = tal_v3_cross(from->along, from->c);
}

// --- the guess ---

// A plane through both points in which the string is drawn first, and the string in it.
typedef struct section {
    tal_vec3 x, y;   // its axes: along the line, and towards where the string is
    tal_vec3 center; // of the circle in which it cuts the sphere
    double radius;
    tali_wrap_turn turn;
} section;

// The plane of the line from q1 to q2 and a direction. False where it misses the sphere, or the
// string in it.
static bool cut(tal_vec3 q1, tal_vec3 q2, tal_vec3 towards, section *at)
{
    const tal_vec3 line = tal_v3_sub(q2, q1);
    at->x = tal_v3_normalize(line);
    const tal_vec3 y = tal_v3_axpy(-tal_v3_dot(towards, at->x), at->x, towards);
    if (!(tal_v3_norm(y) > 1e-12 * tal_v3_norm(towards))) return false;
    at->y = tal_v3_normalize(y);
    const tal_vec3 n = tal_v3_cross(at->x, at->y);
    const double h = tal_v3_dot(n, q1);
    if (!(h * h < 1.0)) return false;
    at->center = tal_v3_scale(h, n);
    at->radius = sqrt((1.0 - h) * (1.0 + h));
    const tali_wrap_flat a = {tal_v3_dot(q1, at->x), tal_v3_dot(q1, at->y)};
    const tali_wrap_flat b = {tal_v3_dot(q2, at->x), tal_v3_dot(q2, at->y)};
    const tali_wrap_flat side = {0.0, 1.0};
    at->turn = tali_wrap_turn_round(a, b, at->radius, side);
    return at->turn.contact >= TAL_WRAP_FORCED;
}

// Direction from the center of the circle, `angle` behind where the string begins to touch.
static tal_vec3 radial(const section *at, double angle)
{
    const tali_wrap_flat e = at->turn.e[0];
    const double c = cos(angle), s = at->turn.way * sin(angle);
    return tal_v3_axpy(c * e.x - s * e.y, at->x, tal_v3_scale(s * e.x + c * e.y, at->y));
}

static tal_vec3 tangent(const section *at, double angle)
{
    const tali_wrap_flat e = at->turn.e[0];
    const double c = at->turn.way * cos(angle), s = sin(angle);
    return tal_v3_axpy(-c * e.y - s * e.x, at->x, tal_v3_scale(c * e.x - s * e.y, at->y));
}

// Length of the arc on the ellipsoid by Gauss's rule of three points, once or twice.
static double length_of(const section *at, tal_vec3 a)
{
    static const double x[3] = {-0.7745966692414834, 0.0, 0.7745966692414834};
    static const double w[3] = {5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0};
    const int parts = at->turn.angle < 1.0 ? 1 : 3;
    const double half = 0.5 * at->turn.angle / parts;
    double sum = 0.0;
    for (int i = 0; i < parts; ++i) {
        for (int k = 0; k < 3; ++k) {
            const double angle = half * (2 * i + 1 + x[k]);
            sum += w[k] * tal_v3_norm(tal_v3_mul(a, tangent(at, angle)));
        }
    }
    return at->radius * half * sum;
}

static bool solve_from(oval_problem *it, const section *at, tal_wrap_arc *arc)
{
    aim(&it->from[0], tangent(at, 0.0));
    aim(&it->from[1], tal_v3_neg(tangent(at, at->turn.angle)));
    tali_wrap_string string = {{0.0, 0.0}, length_of(at, it->a)};
    return tali_wrap_solve(&it->base, &string, arc);
}

// The plane in which the string in the first one leaves the surface along its normal: the normal
// on the ellipsoid at x = a xi is xi / a, on the sphere it points along xi / a^2.
static bool cut_along_normal(const oval_problem *it, tal_vec3 q1, tal_vec3 q2, const section *first,
                             section *at)
{
    const tal_vec3 middle =
        tal_v3_axpy(first->radius, radial(first, 0.5 * first->turn.angle), first->center);
    return cut(q1, q2, over(over(middle, it->a), it->a), at);
}

static double total(const tal_wrap_arc *arc)
{
    return arc->lift[0] + arc->length + arc->lift[1];
}

// Where the line passes close to the center of an ellipsoid that is not round, the shortest string
// need not be the one nearby: try four planes about the line, and take the shortest.
static bool solve_around(oval_problem *it, tal_vec3 q1, tal_vec3 q2, const section *first,
                         tal_wrap_arc *arc)
{
    bool found = false;
    const tal_vec3 out = radial(first, 0.5 * first->turn.angle);
    const tal_vec3 across = tal_v3_normalize(tal_v3_cross(tal_v3_sub(q2, q1), out));
    const tal_vec3 ways[4] = {out, across, tal_v3_neg(out), tal_v3_neg(across)};
    for (int k = 0; k < 4; ++k) {
        section plain, at;
        tal_wrap_arc one;
        if (!cut(q1, q2, ways[k], &plain)) continue;
        if (!cut_along_normal(it, q1, q2, &plain, &at)) at = plain;
        if (!solve_from(it, &at, &one) || !(one.stability > 0.0)) continue;
        if (found && total(&one) >= total(arc)) continue;
        *arc = one;
        found = true;
    }
    return found;
}

// --- where Newton's method fails ---

// From a sphere, whose string is known, to the ellipsoid a: semi-axes r (a / r)^h with h from 0 to
// 1, the points moving along so that they keep their places on the unit sphere.
static bool solve_from_sphere(oval_problem *it, const section *at, tal_vec3 q[2], tal_wrap_arc *arc)
{
    const tal_vec3 a = it->a;
    const double r = cbrt(a.x * a.y * a.z);
    tali_wrap_string string = {{0.0, 0.0}, r * at->radius * at->turn.angle};
    double h = 0.0, step = 0.25;
    while (h < 1.0 && step > 1e-3) {
        const double to = fmin(1.0, h + step);
        tali_wrap_string next = string;
        it->a = tal_v3(r * pow(a.x / r, to), r * pow(a.y / r, to), r * pow(a.z / r, to));
        for (int k = 0; k < 2; ++k) {
            it->from[k].p = tal_v3_mul(it->a, q[k]);
        }
        const bool is_found = tali_wrap_solve(&it->base, &next, arc);
        // farther away it is another string
        const double moved = fmax(fabs(next.u[0] - string.u[0]), fabs(next.u[1] - string.u[1]));
        if (is_found && moved < 0.2) {
            string = next;
            h = to;
        } else {
            step *= 0.5;
        }
    }
    it->a = a;
    return h == 1.0;
}

// --- all together ---

// How far the line passes from the center of the unit sphere, as a share of its radius.
static double depth_of(tal_vec3 q1, tal_vec3 q2)
{
    const tal_vec3 d = tal_v3_normalize(tal_v3_sub(q2, q1));
    return tal_v3_norm(tal_v3_axpy(-tal_v3_dot(q1, d), d, q1));
}

static bool solve(oval_problem *it, tal_vec3 q[2], const section *first, tal_wrap_side side,
                  tal_wrap_arc *arc)
{
    const tal_vec3 a = it->a;
    const double least = fmin(a.x, fmin(a.y, a.z)), most = fmax(a.x, fmax(a.y, a.z));
    const bool is_deep = depth_of(q[0], q[1]) < 1.0 - least / most;
    const bool is_any = side == TAL_WRAP_ANY_SIDE;
    if (is_any && is_deep) return solve_around(it, q[0], q[1], first, arc);
    section at;
    if (!cut_along_normal(it, q[0], q[1], first, &at)) at = *first;
    const bool is_plain = is_any || (!is_deep && first->turn.contact == TAL_WRAP_BENT);
    if (is_plain && solve_from(it, &at, arc) && arc->stability > 0.0) return true;
    if (is_any) return solve_around(it, q[0], q[1], first, arc);
    aim(&it->from[0], tangent(first, 0.0));
    aim(&it->from[1], tal_v3_neg(tangent(first, first->turn.angle)));
    return solve_from_sphere(it, first, q, arc);
}

tal_wrap_contact tali_wrap_on_ellipsoid(const tal_wrap *wrap, tal_vec3 p1, tal_vec3 p2,
                                        tal_wrap_arc *arc)
{
    const tal_vec3 a = wrap->size;
    tal_vec3 q[2] = {over(p1, a), over(p2, a)};
    const double inside = 1.0 - TALI_WRAP_SKIN;
    if (tal_v3_norm(q[0]) < inside || tal_v3_norm(q[1]) < inside) return TAL_WRAP_INSIDE;
    const tali_wrap_plane plane = tali_wrap_plane_of(q[0], q[1], wrap->side);
    if (plane.is_straight) return TAL_WRAP_FREE;
    section first = {.x = plane.x, .y = plane.y, .center = TAL_VEC3_ZERO, .radius = 1.0};
    first.turn = tali_wrap_turn_round(plane.a, plane.b, 1.0, plane.side);
    if (first.turn.contact < TAL_WRAP_FORCED) return first.turn.contact;
    oval_problem it = {
        .base = {end_at, follow, 0.0}, .a = a, .from = {source_at(p1, q[0]), source_at(p2, q[1])}};
    it.base.scale = fmin(a.x, fmin(a.y, a.z));
    return solve(&it, q, &first, wrap->side, arc) ? first.turn.contact : TAL_WRAP_FAILED;
}
