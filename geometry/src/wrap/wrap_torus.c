// Strings through the hole of a torus.
//
// Where the line from P1 to P2 comes closest to the ring the torus is much like a cylinder that is
// tangent to the ring, and the string passes it on the side of the hole. That cylinder tells
// whether the string touches, exactly: a line that is tangent to the torus is tangent to it too.
// And it makes the guess for Newton's method. Where that fails, the tube grows from a wire; and if
// there is no string of one arc at all, the one over the cylinder is the answer.
//
// In the half plane at the angle u about z, the tube is a circle. A string from P touches it there
// at the angle w round the tube with (P . e_u - R) cos w + P_z sin w = r.
#include "wrap/wrap_internal.h"

#include <math.h>

// The string is followed from a thin tube to the whole one: shares of the radius of the tube.
static const double FIRST_SHARE = 0.01, FIRST_STEP = 0.1, LEAST_STEP = 1e-3;
static const double SAME_STRING = 0.3; // [rad] an end that turns farther is that of another one

typedef struct ring_problem {
    tali_wrap_problem base;
    double R, r;
    tal_vec3 p[2];
    double way; // round the tube
} ring_problem;

static bool end_at(const tali_wrap_problem *problem, int which, double u, tali_wrap_end *end)
{
    const ring_problem *it = (const ring_problem *)(const void *)problem;
    const tal_vec3 p = it->p[which];
    const double cu = cos(u), su = sin(u), sign = which == 0 ? 1.0 : -1.0;
    const double a = p.x * cu + p.y * su - it->R, b = p.z, d = hypot(a, b);
    if (!(d > it->r)) return false; // this half plane is out of sight
    const double w = atan2(b, a) + sign * it->way * acos(it->r / d);
    const double cw = cos(w), sw = sin(w), rho = it->R + it->r * cw;
    const double da = p.y * cu - p.x * su;
    const double dw = -da * cw / (b * cw - a * sw);
    end->p = tal_v3(rho * cu, rho * su, it->r * sw);
    end->n = tal_v3(cw * cu, cw * su, sw);
    const tal_vec3 dp =
        tal_v3(-rho * su - it->r * sw * cu * dw, rho * cu - it->r * sw * su * dw, it->r * cw * dw);
    const tal_vec3 away = tal_v3_sub(end->p, p);
    end->lift = tal_v3_norm(away);
    end->t = tal_v3_scale(sign / end->lift, away);
    end->turn = sign * tal_v3_dot(dp, tal_v3_cross(end->n, end->t)) / end->lift;
    end->slide = tal_v3_dot(dp, end->t);
    return true;
}

static void follow(const tali_wrap_problem *problem, double s, tali_wrap_ray *ray)
{
    const ring_problem *it = (const ring_problem *)(const void *)problem;
    tali_wrap_follow_torus(it->R, it->r, s, ray);
}

// --- where the line comes closest to the ring ---

static double distance2(tal_vec3 p, double R)
{
    const double off = hypot(p.x, p.y) - R;
    return off * off + p.z * p.z;
}

static tal_vec3 between(tal_vec3 p1, tal_vec3 p2, double x)
{
    return tal_v3_axpy(x, tal_v3_sub(p2, p1), p1);
}

// The distance has at most two minima along the line: the lower of 64 samples brackets the right
// one, and thirds of the bracket find it.
static tal_vec3 nearest_to_ring(tal_vec3 p1, tal_vec3 p2, double R)
{
    enum {
        SAMPLES = 64
    };

    int best = 0;
    for (int i = 1; i <= SAMPLES; ++i) {
        const double d = distance2(between(p1, p2, (double)i / SAMPLES), R);
        if (d < distance2(between(p1, p2, (double)best / SAMPLES), R)) best = i;
    }
    double low = fmax(0.0, (best - 1.0) / SAMPLES), high = fmin(1.0, (best + 1.0) / SAMPLES);
    for (int i = 0; i < 60; ++i) {
        const double a = low + (high - low) / 3.0, b = high - (high - low) / 3.0;
        const bool is_left = distance2(between(p1, p2, a), R) < distance2(between(p1, p2, b), R);
        if (is_left) {
            high = b;
        } else {
            low = a;
        }
    }
    return between(p1, p2, 0.5 * (low + high));
}

// --- the tangent cylinder ---

// A string over the cylinder that is tangent to the ring at the angle u.
typedef struct bight {
    double u, radius;
    tali_wrap_turn turn; // across the tube: out of the ring, and up
    double along[2];     // the points, along the ring
    double rise;         // along the ring, with the way across
    double length;       // infinite where the string does not touch
} bight;

static bight bight_at(const ring_problem *it, double u, double radius)
{
    bight at = {.u = u, .radius = radius, .length = INFINITY};
    const double cu = cos(u), su = sin(u);
    const tali_wrap_flat hole = {-1.0, 0.0};
    tali_wrap_flat across[2];
    for (int k = 0; k < 2; ++k) {
        const tal_vec3 p = it->p[k];
        across[k] = (tali_wrap_flat){p.x * cu + p.y * su - it->R, p.z};
        at.along[k] = p.y * cu - p.x * su;
    }
    at.turn = tali_wrap_turn_round(across[0], across[1], radius, hole);
    if (at.turn.contact < TAL_WRAP_FORCED) return at;
    const double flat = at.turn.lift[0] + radius * at.turn.angle + at.turn.lift[1];
    at.rise = (at.along[1] - at.along[0]) / flat;
    at.length = flat * sqrt(1.0 + at.rise * at.rise);
    return at;
}

static double place_along(const bight *at, int k)
{
    return k == 0 ? at->along[0] + at->rise * at->turn.lift[0]
                  : at->along[1] - at->rise * at->turn.lift[1];
}

static tal_vec3 direction_at(const bight *at, int k)
{
    const double cu = cos(at->u), su = sin(at->u), stretch = sqrt(1.0 + at->rise * at->rise);
    const double out = -at->turn.way * at->turn.e[k].y, up = at->turn.way * at->turn.e[k].x;
    const tal_vec3 t = {out * cu - at->rise * su, out * su + at->rise * cu, up};
    return tal_v3_scale(1.0 / stretch, t);
}

// How the length changes as the cylinder goes along the ring: as if the points went back about z.
static double slope_at(const ring_problem *it, const bight *at)
{
    const tal_vec3 z = tal_v3_axis(TAL_AXIS_Z);
    return tal_v3_dot(direction_at(at, 0), tal_v3_cross(z, it->p[0])) -
           tal_v3_dot(direction_at(at, 1), tal_v3_cross(z, it->p[1]));
}

// Where on the ring the string over the cylinder is shortest: the lowest of 64 samples, then the
// zero of the slope beside it.
static bight shortest_bight(const ring_problem *it, double radius)
{
    enum {
        SAMPLES = 64
    };

    const double apart = 2.0 * TAL_PI / SAMPLES;
    bight best = bight_at(it, 0.0, radius);
    for (int i = 1; i < SAMPLES; ++i) {
        const bight at = bight_at(it, apart * i, radius);
        if (at.length < best.length) best = at;
    }
    double low = best.u - apart, high = best.u + apart;
    for (int i = 0; i < 60 && isfinite(best.length); ++i) {
        const bight at = bight_at(it, 0.5 * (low + high), radius);
        if (!isfinite(at.length)) break;
        best = at;
        if (slope_at(it, &at) > 0.0) {
            high = at.u;
        } else {
            low = at.u;
        }
    }
    return best;
}

static tali_wrap_string guess_from(const ring_problem *it, const bight *at)
{
    tali_wrap_string string = {.s = at->radius * at->turn.angle * sqrt(1.0 + at->rise * at->rise)};
    for (int k = 0; k < 2; ++k) {
        string.u[k] = at->u + atan2(place_along(at, k), it->R + at->radius * at->turn.e[k].x);
    }
    return string;
}

// --- strings, from the likely to the desperate ---

// A string that is the shortest nearby, and does not run round the ring.
static bool is_sound(const ring_problem *it, const tali_wrap_string *string,
                     const tal_wrap_arc *arc)
{
    const double round = TAL_PI * (it->R + it->r);
    return arc->stability > 0.0 && string->s < round && fabs(string->u[1] - string->u[0]) < TAL_PI;
}

static bool solve_from(ring_problem *it, const bight *at, tal_wrap_arc *arc)
{
    if (at->turn.contact < TAL_WRAP_FORCED) return false;
    it->way = at->turn.way;
    tali_wrap_string string = guess_from(it, at);
    return tali_wrap_solve(&it->base, &string, arc) && is_sound(it, &string, arc);
}

// From a wire, where the string over the cylinder is exact, to the tube of the radius r.
static bool solve_from_wire(ring_problem *it, tal_wrap_arc *arc)
{
    const double r = it->r;
    const bight wire = shortest_bight(it, FIRST_SHARE * r);
    if (wire.turn.contact < TAL_WRAP_FORCED) return false;
    it->way = wire.turn.way;
    tali_wrap_string string = guess_from(it, &wire);
    double share = FIRST_SHARE, step = FIRST_STEP;
    string.s /= share;
    while (share < 1.0 && step > LEAST_STEP) {
        const double to = fmin(1.0, share + step);
        tali_wrap_string next = {{string.u[0], string.u[1]}, string.s * to};
        it->r = it->base.scale = to * r;
        const bool is_found =
            tali_wrap_solve(&it->base, &next, arc) && is_sound(it, &next, arc) &&
            fmax(fabs(next.u[0] - string.u[0]), fabs(next.u[1] - string.u[1])) < SAME_STRING;
        if (is_found) {
            string = (tali_wrap_string){{next.u[0], next.u[1]}, next.s / to};
            share = to;
        } else {
            step *= 0.5;
        }
    }
    it->r = it->base.scale = r;
    return share == 1.0;
}

// The string over the tangent cylinder, where it is shortest: lengths still change by the
// directions at the ends, because the cylinder is where the length does not depend on it.
static void lay_on_cylinder(const ring_problem *it, const bight *at, tal_wrap_arc *arc)
{
    const double cu = cos(at->u), su = sin(at->u), stretch = sqrt(1.0 + at->rise * at->rise);
    for (int k = 0; k < 2; ++k) {
        const tali_wrap_flat e = at->turn.e[k];
        const double out = it->R + at->radius * e.x, y = place_along(at, k);
        arc->p[k] = tal_v3(out * cu - y * su, out * su + y * cu, at->radius * e.y);
        arc->t[k] = direction_at(at, k);
        arc->lift[k] = stretch * at->turn.lift[k];
    }
    arc->length = stretch * at->radius * at->turn.angle;
    arc->stability = 0.0; // not known
}

tal_wrap_contact tali_wrap_on_torus(const tal_wrap *wrap, tal_vec3 p1, tal_vec3 p2,
                                    tal_wrap_arc *arc)
{
    const double R = wrap->size.x, r = wrap->size.y, skin = r * (1.0 + TALI_WRAP_SKIN);
    if (distance2(p1, R) < skin * skin || distance2(p2, R) < skin * skin) return TAL_WRAP_INSIDE;
    ring_problem it = {.base = {end_at, follow, r}, .R = R, .r = r, .p = {p1, p2}};
    const tal_vec3 near = nearest_to_ring(p1, p2, R);
    const double u = atan2(near.y, near.x);
    const bight first = bight_at(&it, u, r);
    const tal_wrap_contact contact = first.turn.contact;
    if (contact < TAL_WRAP_FORCED || solve_from(&it, &first, arc)) return contact;
    const bight best = shortest_bight(&it, r);
    if (solve_from(&it, &best, arc) || solve_from_wire(&it, arc)) return contact;
    lay_on_cylinder(&it, best.length < first.length ? &best : &first, arc);
    return contact;
}

// --- points along such a string ---

// Of the cylinders about the ring that a point is on, the one that a direction is tangent to.
static double angle_of_cylinder(double R, double r, tal_vec3 p, tal_vec3 t)
{
    const double in = sqrt(fmax(0.0, r * r - p.z * p.z)), rho = hypot(p.x, p.y);
    double best = 0.0, least = INFINITY;
    for (int k = 0; k < 4; ++k) {
        const double out = k % 2 == 0 ? in : -in, sign = k < 2 ? 1.0 : -1.0;
        const double u = atan2(p.y, p.x) + sign * acos(fmin(1.0, fmax(-1.0, (R + out) / rho)));
        const double miss = fabs(out * (t.x * cos(u) + t.y * sin(u)) + p.z * t.z);
        if (miss < least) best = u;
        least = fmin(least, miss);
    }
    return best;
}

tal_vec3 tali_wrap_along_ring(const tal_wrap *wrap, const tal_wrap_arc *arc, double s)
{
    const double R = wrap->size.x, r = wrap->size.y;
    const tal_vec3 p = arc->p[0], t = arc->t[0];
    const double u = angle_of_cylinder(R, r, p, t), cu = cos(u), su = sin(u);
    const double x = p.x * cu + p.y * su - R, turn = x * t.z - p.z * (t.x * cu + t.y * su);
    const double angle = turn * s / (r * r), c = cos(angle), n = sin(angle);
    const double out = R + c * x - n * p.z;
    const double along = p.y * cu - p.x * su + s * (t.y * cu - t.x * su);
    return tal_v3(out * cu - along * su, out * su + along * cu, n * x + c * p.z);
}
