// Strings round a circle in a plane, and on the surfaces that come down to it: cylinder, sphere.
#include "wrap/wrap_internal.h"

#include <math.h>

// Points whose directions from the center differ from opposite ones by less, in rad, have no plane
// of their own; a side within LEAST_ACROSS of the line through them says nothing about it.
static const double OPPOSITE = 1e-14, LEAST_ACROSS = 1e-6;

static double cross(tali_wrap_flat a, tali_wrap_flat b)
{
    return a.x * b.y - a.y * b.x;
}

static double dot(tali_wrap_flat a, tali_wrap_flat b)
{
    return a.x * b.x + a.y * b.y;
}

// Whether the line from a to b comes closer to the origin than the radius, between a and b.
static bool line_hits(tali_wrap_flat a, tali_wrap_flat b, double radius)
{
    const tali_wrap_flat ab = {b.x - a.x, b.y - a.y};
    if (!(dot(a, ab) < 0.0 && dot(b, ab) > 0.0)) return false;
    const double c = cross(a, b);
    return c * c < radius * radius * dot(ab, ab);
}

// Whether the line from a to b crosses the ray from the origin that points away from the side.
static bool line_crosses_back(tali_wrap_flat a, tali_wrap_flat b, tali_wrap_flat side)
{
    const double ha = cross(side, a), hb = cross(side, b);
    if ((ha >= 0.0) == (hb >= 0.0)) return false;
    const double at = (dot(side, a) * hb - dot(side, b) * ha) / (hb - ha);
    return at < 0.0;
}

// Where a tangent from `a` touches the circle, as a direction: a turned by acos(radius / |a|).
static tali_wrap_flat touch(tali_wrap_flat a, double radius, double way, double *lift)
{
    const double d2 = dot(a, a);
    const double l2 = d2 - radius * radius;
    *lift = l2 > 0.0 ? sqrt(l2) : 0.0; // on the surface within TALI_WRAP_SKIN
    const double norm = 1.0 / (radius * radius + *lift * *lift);
    const double c = radius * norm, s = way * *lift * norm;
    return (tali_wrap_flat){c * a.x - s * a.y, s * a.x + c * a.y};
}

tali_wrap_turn tali_wrap_turn_round(tali_wrap_flat a, tali_wrap_flat b, double radius,
                                    tali_wrap_flat side)
{
    tali_wrap_turn turn = {.contact = TAL_WRAP_FREE};
    const double inside = radius * (1.0 - TALI_WRAP_SKIN);
    if (dot(a, a) < inside * inside || dot(b, b) < inside * inside) {
        turn.contact = TAL_WRAP_INSIDE;
        return turn;
    }
    const bool hits = line_hits(a, b, radius);
    const bool is_long = (side.x != 0.0 || side.y != 0.0) && line_crosses_back(a, b, side);
    if (!hits && !is_long) return turn;
    turn.contact = hits ? TAL_WRAP_BENT : TAL_WRAP_FORCED;
    const double short_way = cross(a, b) >= 0.0 ? 1.0 : -1.0;
    turn.way = is_long ? -short_way : short_way;
    turn.e[0] = touch(a, radius, turn.way, &turn.lift[0]);
    turn.e[1] = touch(b, radius, -turn.way, &turn.lift[1]);
    turn.angle = atan2(turn.way * cross(turn.e[0], turn.e[1]), dot(turn.e[0], turn.e[1]));
    if (turn.angle < 0.0) turn.angle = is_long ? turn.angle + 2.0 * TAL_PI : 0.0;
    return turn;
}

// --- cylinder ---

// The side as a direction in the xy plane.
static tali_wrap_flat side_in_xy(tal_wrap_side side)
{
    const tali_wrap_axis at = tali_wrap_axis_of(side);
    return (tali_wrap_flat){at.axis == 0 ? at.sign : 0.0, at.axis == 1 ? at.sign : 0.0};
}

// In the xy plane the string goes round a circle. Unrolled, it is straight: it rises evenly with
// the way in the plane.
tal_wrap_contact tali_wrap_on_cylinder(const tal_wrap *wrap, tal_vec3 p1, tal_vec3 p2,
                                       tal_wrap_arc *arc)
{
    const double radius = wrap->size.x, half = 0.5 * wrap->size.y;
    const tali_wrap_flat a = {p1.x, p1.y}, b = {p2.x, p2.y};
    const tali_wrap_turn turn = tali_wrap_turn_round(a, b, radius, side_in_xy(wrap->side));
    if (turn.contact < TAL_WRAP_FORCED) return turn.contact;
    const double on = radius * turn.angle;
    const double flat = turn.lift[0] + on + turn.lift[1];
    if (!(flat > 0.0)) return TAL_WRAP_FREE;
    const double rise = (p2.z - p1.z) / flat, stretch = sqrt(1.0 + rise * rise);
    const double z[2] = {p1.z + rise * turn.lift[0], p2.z - rise * turn.lift[1]};
    if (fabs(z[0]) > half && fabs(z[1]) > half) return TAL_WRAP_FREE;
    for (int k = 0; k < 2; ++k) {
        const tali_wrap_flat e = turn.e[k];
        arc->p[k] = tal_v3(radius * e.x, radius * e.y, z[k]);
        arc->t[k] = tal_v3_scale(1.0 / stretch, tal_v3(-turn.way * e.y, turn.way * e.x, rise));
        arc->lift[k] = stretch * turn.lift[k];
    }
    arc->length = stretch * on;
    arc->stability = 1.0; // unrolled, every string is straight
    return turn.contact;
}

// --- sphere ---

// A direction across x, where the points and the center are in line: towards the side, or else
// along the axis in which x is smallest.
static tal_vec3 across(tal_vec3 x, tal_wrap_side side)
{
    const tali_wrap_axis at = tali_wrap_axis_of(side);
    tal_vec3 d = tal_v3(at.axis == 0 ? at.sign : 0.0, at.axis == 1 ? at.sign : 0.0,
                        at.axis == 2 ? at.sign : 0.0);
    d = tal_v3_axpy(-tal_v3_dot(d, x), x, d);
    if (tal_v3_norm(d) > LEAST_ACROSS) return tal_v3_normalize(d);
    const double ax = fabs(x.x), ay = fabs(x.y), az = fabs(x.z);
    const tal_axis smallest = ax <= ay && ax <= az ? TAL_AXIS_X
                              : ay <= az           ? TAL_AXIS_Y
                                                   : TAL_AXIS_Z;
    d = tal_v3_axis(smallest);
    return tal_v3_normalize(tal_v3_axpy(-tal_v3_dot(d, x), x, d));
}

// The part of the side in the plane; zero where the plane is across it.
static tali_wrap_flat side_in_plane(const tali_wrap_plane *plane, tal_wrap_side side)
{
    const tali_wrap_axis at = tali_wrap_axis_of(side);
    if (at.axis < 0) return (tali_wrap_flat){0.0, 0.0};
    const tal_vec3 d = tal_v3_scale(at.sign, tal_v3_axis((tal_axis)at.axis));
    const tali_wrap_flat flat = {tal_v3_dot(d, plane->x), tal_v3_dot(d, plane->y)};
    return hypot(flat.x, flat.y) > 1e-12 ? flat : (tali_wrap_flat){0.0, 0.0};
}

tali_wrap_plane tali_wrap_plane_of(tal_vec3 p1, tal_vec3 p2, tal_wrap_side side)
{
    tali_wrap_plane plane = {.is_straight = false};
    const double d1 = tal_v3_norm(p1), d2 = tal_v3_norm(p2);
    plane.x = tal_v3_scale(1.0 / d1, p1);
    const tal_vec3 n = tal_v3_cross(plane.x, p2);
    if (tal_v3_norm(n) > OPPOSITE * d2) {
        plane.z = tal_v3_normalize(n);
        plane.y = tal_v3_cross(plane.z, plane.x);
    } else {
        plane.is_straight = tal_v3_dot(plane.x, p2) > 0.0;
        plane.y = across(plane.x, side);
        plane.z = tal_v3_cross(plane.x, plane.y);
    }
    plane.a = (tali_wrap_flat){d1, 0.0};
    plane.b = (tali_wrap_flat){tal_v3_dot(p2, plane.x), tal_v3_dot(p2, plane.y)};
    plane.side = side_in_plane(&plane, side);
    return plane;
}

tal_wrap_contact tali_wrap_on_sphere(const tal_wrap *wrap, tal_vec3 p1, tal_vec3 p2,
                                     tal_wrap_arc *arc)
{
    const double radius = wrap->size.x;
    const double inside = radius * (1.0 - TALI_WRAP_SKIN);
    if (tal_v3_norm(p1) < inside || tal_v3_norm(p2) < inside) return TAL_WRAP_INSIDE;
    const tali_wrap_plane plane = tali_wrap_plane_of(p1, p2, wrap->side);
    if (plane.is_straight) return TAL_WRAP_FREE;
    const tali_wrap_turn turn = tali_wrap_turn_round(plane.a, plane.b, radius, plane.side);
    if (turn.contact < TAL_WRAP_FORCED) return turn.contact;
    for (int k = 0; k < 2; ++k) {
        const tali_wrap_flat e = turn.e[k];
        const tal_vec3 out = tal_v3_axpy(e.x, plane.x, tal_v3_scale(e.y, plane.y));
        const tal_vec3 on = tal_v3_axpy(-e.y, plane.x, tal_v3_scale(e.x, plane.y));
        arc->p[k] = tal_v3_scale(radius, out);
        arc->t[k] = tal_v3_scale(turn.way, on);
        arc->lift[k] = turn.lift[k];
    }
    arc->length = radius * turn.angle;
    // y + l2 y' of strings from P1, see wrap_newton.c
    const double c = cos(turn.angle), s = sin(turn.angle);
    const double y = turn.lift[0] * c + radius * s, dy = c - turn.lift[0] * s / radius;
    arc->stability = y + turn.lift[1] * dy;
    return turn.contact;
}
