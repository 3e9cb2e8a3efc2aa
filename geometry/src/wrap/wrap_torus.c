// Strings through the hole of a torus.
//
// Where the line from P1 to P2 comes closest to the ring the torus is much like a cylinder that is
// tangent to the ring, and the string passes it on the side of the hole. That cylinder tells
// whether the string touches, exactly: a line that is tangent to the torus is tangent to it too.
// And it makes the guess for Newton's method.
//
// In the half plane at the angle u about z, the tube is a circle. A string from P touches it there
// at the angle w round the tube with (P . e_u - R) cos w + P_z sin w = r.
#include "wrap/wrap_internal.h"

#include <math.h>

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

tal_wrap_contact tali_wrap_on_torus(const tal_wrap *wrap, tal_vec3 p1, tal_vec3 p2,
                                    tal_wrap_arc *arc)
{
    const double R = wrap->size.x, r = wrap->size.y, skin = r * (1.0 + TALI_WRAP_SKIN);
    if (distance2(p1, R) < skin * skin || distance2(p2, R) < skin * skin) return TAL_WRAP_INSIDE;
    const tal_vec3 near = nearest_to_ring(p1, p2, R);
    const double u = atan2(near.y, near.x), cu = cos(u), su = sin(u);
    // the tangent cylinder: out of the ring, up, and along the ring
    const tali_wrap_flat a = {p1.x * cu + p1.y * su - R, p1.z};
    const tali_wrap_flat b = {p2.x * cu + p2.y * su - R, p2.z};
    const tali_wrap_flat hole = {-1.0, 0.0};
    const tali_wrap_turn turn = tali_wrap_turn_round(a, b, r, hole);
    if (turn.contact < TAL_WRAP_FORCED) return turn.contact;
    const double along[2] = {p1.y * cu - p1.x * su, p2.y * cu - p2.x * su};
    const double flat = turn.lift[0] + r * turn.angle + turn.lift[1];
    const double rise = (along[1] - along[0]) / flat;
    const double at[2] = {along[0] + rise * turn.lift[0], along[1] - rise * turn.lift[1]};
    const ring_problem problem = {
        .base = {end_at, follow, r}, .R = R, .r = r, .p = {p1, p2}, .way = turn.way};
    tali_wrap_string string = {.s = r * turn.angle * sqrt(1.0 + rise * rise)};
    for (int k = 0; k < 2; ++k) {
        string.u[k] = u + atan2(at[k], R + r * turn.e[k].x);
    }
    return tali_wrap_solve(&problem.base, &string, arc) ? turn.contact : TAL_WRAP_FAILED;
}
