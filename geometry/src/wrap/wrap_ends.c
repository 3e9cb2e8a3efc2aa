// Strings over an ellipsoid seen from their ends, and Newton's method from there.
#include "wrap/wrap_internal.h"
#include "wrap/wrap_oval_internal.h"

#include <math.h>

static tali_wrap_source source_at(tal_vec3 q)
{
    tali_wrap_source from = {.distance = tal_v3_norm(q)};
    from.along = tal_v3_scale(1.0 / from.distance, q);
    from.distance = fmax(from.distance, 1.0); // on the surface within TALI_WRAP_SKIN
    from.cosine = 1.0 / from.distance;
    from.sine = sqrt(fmax(0.0, (1.0 - from.cosine) * (1.0 + from.cosine)));
    return from;
}

tali_wrap_oval_ends tali_wrap_oval_ends_of(tal_vec3 semi_axes, const tal_vec3 q[])
{
    const tal_vec3 a = semi_axes;
    const tali_wrap_oval_ends ends = {
        a, {1.0 / a.x, 1.0 / a.y, 1.0 / a.z}, {source_at(q[0]), source_at(q[1])}};
    return ends;
}

tali_wrap_end tali_wrap_oval_end(const tali_wrap_oval_ends *it, int which, tal_vec3 c)
{
    const tali_wrap_source *from = &it->from[which];
    const tal_vec3 dc = tal_v3_cross(from->along, c);
    const tal_vec3 x = tal_v3_axpy(from->cosine, from->along, tal_v3_scale(from->sine, c));
    // the direction from P, which does not vanish when P is on the surface
    const tal_vec3 m = tal_v3_axpy(-from->distance * from->sine, from->along, c);
    const tal_vec3 away = tal_v3_mul(it->a, m), daway = tal_v3_mul(it->a, dc);
    const double size = tal_v3_norm(away), by_size = (which == 0 ? 1.0 : -1.0) / size;
    tali_wrap_end end = {.p = tal_v3_mul(it->a, x)};
    end.n = tal_v3_normalize(tal_v3_mul(it->by_a, x));
    end.t = tal_v3_scale(by_size, away);
    end.lift = from->sine * size;
    end.turn = by_size * tal_v3_dot(daway, tal_v3_cross(end.n, end.t));
    end.slide = from->sine * tal_v3_dot(daway, end.t);
    return end;
}

tal_vec3 tali_wrap_oval_leave(const tali_wrap_oval_ends *it, int which, tal_vec3 t)
{
    const tal_vec3 along = it->from[which].along;
    const tal_vec3 seen = tal_v3_scale(which == 0 ? 1.0 : -1.0, tal_v3_mul(it->by_a, t));
    return tal_v3_normalize(tal_v3_axpy(-tal_v3_dot(seen, along), along, seen));
}

// --- Newton's method ---

typedef struct task {
    tali_wrap_problem base;
    const tali_wrap_oval_ends *ends;
    tal_vec3 c[2]; // directions of the number 0
} task;

// The direction that is turned by the angle u.
static tal_vec3 direction_at(const task *it, int which, double u)
{
    const tal_vec3 c = it->c[which], n = tal_v3_cross(it->ends->from[which].along, c);
    return tal_v3_axpy(cos(u), c, tal_v3_scale(sin(u), n));
}

static bool end_at(const tali_wrap_problem *problem, int which, double u, tali_wrap_end *end)
{
    const task *it = (const task *)(const void *)problem;
    *end = tali_wrap_oval_end(it->ends, which, direction_at(it, which, u));
    return true;
}

static void follow(const tali_wrap_problem *problem, double s, tali_wrap_ray *ray)
{
    tali_wrap_follow_ellipsoid(((const task *)(const void *)problem)->ends->a, s, ray);
}

// Where the geodesic goes from its middle.
static tali_wrap_ray ray_at(tal_vec3 a, const tali_wrap_middle *middle, double s)
{
    tali_wrap_ray ray = {middle->p, middle->t, 0.0, 1.0};
    tali_wrap_follow_ellipsoid(a, s, &ray);
    return ray;
}

bool tali_wrap_oval_solve_by_ends(const tali_wrap_oval_ends *ends, tali_wrap_middle *middle,
                                  tal_wrap_arc *arc)
{
    const tal_vec3 a = ends->a;
    task it = {.base = {end_at, follow, fmin(a.x, fmin(a.y, a.z))}, .ends = ends};
    for (int k = 0; k < 2; ++k) {
        const bool is_known = tal_v3_dot(middle->c[k], middle->c[k]) > 0.0;
        it.c[k] = is_known ? middle->c[k]
                           : tali_wrap_oval_leave(ends, k, ray_at(a, middle, middle->s[k]).t);
    }
    tali_wrap_string string = {{0.0, 0.0}, middle->s[1] - middle->s[0]};
    if (!tali_wrap_solve(&it.base, &string, arc)) return false;
    const double half = 0.5 * arc->length;
    const tali_wrap_middle begin = {.p = arc->p[0], .t = arc->t[0]};
    const tali_wrap_ray at = ray_at(a, &begin, half);
    *middle = (tali_wrap_middle){.p = at.p, .t = at.t, .s = {-half, half}};
    for (int k = 0; k < 2; ++k) {
        middle->c[k] = direction_at(&it, k, string.u[k]);
    }
    return true;
}
