// Strings over an ellipsoid.
//
// Divided by the semi-axes the ellipsoid becomes the unit sphere: straight lines, planes, tangency
// and which side is which stay what they are. So there it is decided whether and on which side the
// string touches, and there the guess is made: a planar string, in the plane of the line P1 P2 and
// of the normal where the string is expected to be in its middle. Newton's method does the rest.
#include "wrap/wrap_internal.h"
#include "wrap/wrap_oval_internal.h"

#include <math.h>

// From a sphere to the ellipsoid: the smallest step, as a share of the way; and how far points of
// one string may move in a step, on the unit sphere: farther away it is another string.
static const double LEAST_STEP = 1e-3, SAME_STRING = 0.2;

typedef struct oval_problem {
    tal_vec3 a;    // semi-axes
    tal_vec3 q[2]; // both ends, divided by them
    tali_wrap_oval_ends ends;
} oval_problem;

static tal_vec3 over(tal_vec3 v, tal_vec3 a)
{
    return tal_v3(v.x / a.x, v.y / a.y, v.z / a.z);
}

// --- the guess ---

// A plane through both points in which the string is drawn first, and the string in it.
typedef struct section {
    tal_vec3 x, y;   // its axes: along the line, and towards where the string is
    tal_vec3 center; // of the circle in which it cuts the sphere
    double radius;
    tali_wrap_turn turn;
} section;

// A direction along the line but for this share of it gives no plane.
static const double PARALLEL = 1e-12;

// The plane of the line from q1 to q2 and a direction. False where it misses the sphere, or the
// string in it.
static bool cut(tal_vec3 q1, tal_vec3 q2, tal_vec3 towards, section *at)
{
    const tal_vec3 line = tal_v3_sub(q2, q1);
    at->x = tal_v3_normalize(line);
    const tal_vec3 y = tal_v3_axpy(-tal_v3_dot(towards, at->x), at->x, towards);
    if (!(tal_v3_norm(y) > PARALLEL * tal_v3_norm(towards))) return false;
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

// Length on the ellipsoid between two angles of the arc, by Gauss's rule of three points.
static double length_of(const section *at, tal_vec3 a, double from, double to)
{
    static const double x[3] = {-0.7745966692414834, 0.0, 0.7745966692414834};
    static const double w[3] = {5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0};
    const double half = 0.5 * (to - from);
    double sum = 0.0;
    for (int k = 0; k < 3; ++k) {
        sum += w[k] * tal_v3_norm(tal_v3_mul(a, tangent(at, from + half * (1.0 + x[k]))));
    }
    return at->radius * half * sum;
}

// The middle of the planar string.
static tali_wrap_middle middle_of(const section *at, tal_vec3 a)
{
    const double angle = at->turn.angle, half = 0.5 * angle;
    const tal_vec3 x = tal_v3_axpy(at->radius, radial(at, half), at->center);
    const tali_wrap_middle middle = {
        .p = tal_v3_mul(a, x),
        .t = tal_v3_normalize(tal_v3_mul(a, tangent(at, half))),
        .s = {-length_of(at, a, 0.0, half), length_of(at, a, half, angle)}};
    return middle;
}

static bool solve_from(const oval_problem *it, const section *at, tal_wrap_arc *arc)
{
    tali_wrap_middle middle = middle_of(at, it->a);
    return tali_wrap_oval_solve(&it->ends, &middle, arc);
}

// The plane in which the string in the first one leaves the surface along its normal: the normal
// on the ellipsoid at x = a xi is xi / a, on the sphere it points along xi / a^2.
static bool cut_along_normal(const oval_problem *it, const section *first, section *at)
{
    const tal_vec3 middle =
        tal_v3_axpy(first->radius, radial(first, 0.5 * first->turn.angle), first->center);
    return cut(it->q[0], it->q[1], over(over(middle, it->a), it->a), at);
}

static double total(const tal_wrap_arc *arc)
{
    return arc->lift[0] + arc->length + arc->lift[1];
}

// --- several strings ---

enum {
    NUM_PLANES = 12
};

// Length of the planar string in a plane about the line, infinite where there is none.
static double length_in(const oval_problem *it, tal_vec3 towards, section *at)
{
    if (!cut(it->q[0], it->q[1], towards, at)) return INFINITY;
    const double angle = at->turn.angle, half = 0.5 * angle;
    double sum = length_of(at, it->a, 0.0, half) + length_of(at, it->a, half, angle);
    for (int k = 0; k < 2; ++k) {
        const tal_vec3 on = tal_v3_axpy(at->radius, radial(at, k * angle), at->center);
        sum += tal_v3_norm(tal_v3_mul(it->a, tal_v3_sub(on, it->q[k])));
    }
    return sum;
}

// Where a parabola through three values at -1, 0, 1 is lowest.
static double lowest(double before, double at, double behind)
{
    const double bend = before - 2.0 * at + behind;
    return bend > 0.0 && isfinite(bend) ? 0.5 * (before - behind) / bend : 0.0;
}

// Directions about the line.
typedef struct fan {
    tal_vec3 out, across;
} fan;

static fan fan_about(const oval_problem *it, const section *first)
{
    const tal_vec3 x = tal_v3_normalize(tal_v3_sub(it->q[1], it->q[0]));
    const tal_vec3 up = radial(first, 0.5 * first->turn.angle);
    const tal_vec3 out = tal_v3_normalize(tal_v3_axpy(-tal_v3_dot(up, x), x, up));
    return (fan){out, tal_v3_cross(x, out)};
}

static tal_vec3 way_at(const fan *about, double angle)
{
    return tal_v3_axpy(cos(angle), about->out, tal_v3_scale(sin(angle), about->across));
}

// Where the line passes close to the center of an ellipsoid that is not round, the shortest string
// need not be the one nearby: try planes all about the line, solve from those in which the planar
// string is shorter than in their neighbors, and take the shortest.
static bool solve_around(const oval_problem *it, const section *first, tal_wrap_arc *arc)
{
    const fan about = fan_about(it, first);
    const double step = 2.0 * TAL_PI / NUM_PLANES;
    double length[NUM_PLANES];
    section at;
    for (int k = 0; k < NUM_PLANES; ++k) {
        length[k] = length_in(it, way_at(&about, k * step), &at);
    }
    bool found = false;
    for (int k = 0; k < NUM_PLANES; ++k) {
        const double before = length[(k + NUM_PLANES - 1) % NUM_PLANES];
        const double behind = length[(k + 1) % NUM_PLANES];
        if (!(length[k] <= before && length[k] < behind)) continue;
        const double angle = step * (k + lowest(before, length[k], behind));
        tal_wrap_arc one;
        if (!cut(it->q[0], it->q[1], way_at(&about, angle), &at)) continue;
        if (!solve_from(it, &at, &one) || !(one.stability > 0.0)) continue;
        if (found && total(&one) >= total(arc)) continue;
        *arc = one;
        found = true;
    }
    return found;
}

// --- where Newton's method fails ---

// A string on an ellipsoid of other semi-axes.
static tali_wrap_middle carry(const tali_wrap_middle *middle, tal_vec3 from, tal_vec3 to)
{
    const tal_vec3 by = over(to, from), t = tal_v3_mul(by, middle->t);
    const double stretch = tal_v3_norm(t);
    tali_wrap_middle carried = *middle;
    carried.p = tal_v3_mul(by, middle->p);
    carried.t = tal_v3_scale(1.0 / stretch, t);
    carried.s[0] *= stretch;
    carried.s[1] *= stretch;
    return carried;
}

// How far the string touches from two points on the unit sphere.
static double farthest(const tal_wrap_arc *arc, tal_vec3 a, const tal_vec3 touch[2])
{
    const tal_vec3 d1 = tal_v3_sub(over(arc->p[0], a), touch[0]);
    const tal_vec3 d2 = tal_v3_sub(over(arc->p[1], a), touch[1]);
    return fmax(tal_v3_norm(d1), tal_v3_norm(d2));
}

typedef bool (*solve_fn)(const tali_wrap_oval_ends *ends, tali_wrap_middle *middle,
                         tal_wrap_arc *arc);

// From a sphere, whose string is known, to the ellipsoid a: semi-axes r (a / r)^h with h from 0 to
// 1, the points moving along so that they keep their places on the unit sphere.
static bool solve_from_sphere(const oval_problem *it, const section *at, solve_fn solve,
                              tal_wrap_arc *arc)
{
    const tal_vec3 a = it->a;
    const double r = cbrt(a.x * a.y * a.z);
    tal_vec3 now = {r, r, r};
    tal_vec3 touch[2] = {radial(at, 0.0), radial(at, at->turn.angle)}; // on the unit sphere
    tali_wrap_middle middle = middle_of(at, now);
    double h = 0.0, step = 0.25;
    while (h < 1.0 && step > LEAST_STEP) {
        const double to = fmin(1.0, h + step);
        const tal_vec3 next = {r * pow(a.x / r, to), r * pow(a.y / r, to), r * pow(a.z / r, to)};
        const tali_wrap_oval_ends ends = tali_wrap_oval_ends_of(next, it->q);
        tali_wrap_middle moved = carry(&middle, now, next);
        const bool is_found = solve(&ends, &moved, arc);
        if (!is_found || farthest(arc, next, touch) > SAME_STRING) {
            step *= 0.5;
            continue;
        }
        middle = moved;
        now = next;
        h = to;
        touch[0] = over(arc->p[0], next);
        touch[1] = over(arc->p[1], next);
    }
    return h == 1.0;
}

// --- all together ---

// How far the line passes from the center of the unit sphere, as a share of its radius.
static double depth_of(tal_vec3 q1, tal_vec3 q2)
{
    const tal_vec3 d = tal_v3_normalize(tal_v3_sub(q2, q1));
    return tal_v3_norm(tal_v3_axpy(-tal_v3_dot(q1, d), d, q1));
}

static bool solve(const oval_problem *it, const section *first, tal_wrap_side side,
                  tal_wrap_arc *arc)
{
    const tal_vec3 a = it->a;
    const double least = fmin(a.x, fmin(a.y, a.z)), most = fmax(a.x, fmax(a.y, a.z));
    const bool is_deep = depth_of(it->q[0], it->q[1]) < 1.0 - least / most;
    const bool is_any = side == TAL_WRAP_ANY_SIDE;
    if (is_any && is_deep && solve_around(it, first, arc)) return true;
    section at;
    if (!cut_along_normal(it, first, &at)) at = *first;
    const bool is_plain = is_any || (!is_deep && first->turn.contact == TAL_WRAP_BENT);
    if (is_plain && solve_from(it, &at, arc) && arc->stability > 0.0) return true;
    if (is_any && !is_deep && solve_around(it, first, arc)) return true;
    return solve_from_sphere(it, first, tali_wrap_oval_solve, arc) ||
           solve_from_sphere(it, first, tali_wrap_oval_solve_by_ends, arc);
}

tal_wrap_contact tali_wrap_on_ellipsoid(const tal_wrap *wrap, tal_vec3 p1, tal_vec3 p2,
                                        tal_wrap_arc *arc)
{
    const tal_vec3 a = wrap->size;
    const tal_vec3 q[2] = {over(p1, a), over(p2, a)};
    const double inside = 1.0 - TALI_WRAP_SKIN;
    if (tal_v3_norm(q[0]) < inside || tal_v3_norm(q[1]) < inside) return TAL_WRAP_INSIDE;
    const tali_wrap_plane plane = tali_wrap_plane_of(q[0], q[1], wrap->side);
    if (plane.is_straight) return TAL_WRAP_FREE;
    section first = {.x = plane.x, .y = plane.y, .center = TAL_VEC3_ZERO, .radius = 1.0};
    first.turn = tali_wrap_turn_round(plane.a, plane.b, 1.0, plane.side);
    if (first.turn.contact < TAL_WRAP_FORCED) return first.turn.contact;
    const oval_problem it = {a, {q[0], q[1]}, tali_wrap_oval_ends_of(a, q)};
    return solve(&it, &first, wrap->side, arc) ? first.turn.contact : TAL_WRAP_FAILED;
}
