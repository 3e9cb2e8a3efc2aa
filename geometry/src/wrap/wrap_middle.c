// Strings over an ellipsoid by Newton's method, from their middle: one series reaches both ends.
//
// The unknowns are the geodesic's point and direction in its middle and the distances s1 < 0 < s2
// at which the string lifts off. At either end, take the geodesic's direction there: the straight
// piece from P in that direction touches at x, with the direction t and the lift l. In the frame of
// t, b = n x t and the normal n, the misses are
//
//     r_t = (x(s) - x) . t,   r_b = (x(s) - x) . b,   r_d = t(s) . b
//
// Let the middle move to the left by alpha and turn by beta, so that x(s) moves to the left by
// Y = alpha y1 + beta y2 and turns by Y'. The straight piece turns by gamma = (dt/du . b) du about
// P, and its end moves by -L gamma, with L = l at the end of the string and -l at its beginning. To
// first order
//
//     r_b + Y + L gamma = 0,   r_d + Y' - gamma = 0     so  Y + L Y' = -(r_b + L r_d)
//     r_t + ds - slide du = 0
//
// The first at both ends gives alpha and beta. Its determinant is y + l2 y' of the geodesics that
// spread from P1, above zero where the string is the shortest of all nearby.
#include "wrap/wrap_internal.h"
#include "wrap/wrap_oval_internal.h"

#include <math.h>

enum {
    MAX_ITERATIONS = 12
};

// Convergence is quadratic: the last change, of 1e-7, leaves 1e-14. After a change below NEARLY the
// next is the last.
static const double LAST_CHANGE = 1e-7, NEARLY = 1e-3;

// One end during an iteration.
typedef struct miss {
    tali_wrap_end at;
    double t, b, d; // see above
    double row[2];  // of alpha and beta in Y + L Y'
    double dy[2];   // of alpha and beta in Y'
    double L;
} miss;

typedef struct task {
    const tali_wrap_oval_ends *ends;
    tali_wrap_oval oval;
} task;

// The straight piece at end 0 or 1 of a string that goes in the direction t there.
static tali_wrap_end end_along(const tali_wrap_oval_ends *ends, int which, tal_vec3 t)
{
    return tali_wrap_oval_end(ends, which, tali_wrap_oval_leave(ends, which, t));
}

static miss miss_at(const task *it, int which, double s)
{
    tali_wrap_bundle ray;
    tali_wrap_oval_sum(&it->oval, s, &ray);
    miss end = {.at = end_along(it->ends, which, ray.t)};
    const tal_vec3 b = tal_v3_cross(end.at.n, end.at.t), off = tal_v3_sub(ray.p, end.at.p);
    end.t = tal_v3_dot(off, end.at.t);
    end.b = tal_v3_dot(off, b);
    end.d = tal_v3_dot(ray.t, b);
    end.L = which == 0 ? -end.at.lift : end.at.lift;
    for (int f = 0; f < 2; ++f) {
        end.dy[f] = ray.dy[f];
        end.row[f] = ray.y[f] + end.L * ray.dy[f];
    }
    return end;
}

static double limit(double x, double most)
{
    return fmin(fmax(x, -most), most);
}

// alpha and beta; the determinant.
static double turn_middle(const miss end[2], double by[2])
{
    const double *a = end[0].row, *b = end[1].row;
    const double f = -(end[0].b + end[0].L * end[0].d), g = -(end[1].b + end[1].L * end[1].d);
    const double det = a[0] * b[1] - a[1] * b[0];
    by[0] = (f * b[1] - g * a[1]) / det;
    by[1] = (a[0] * g - b[0] * f) / det;
    return det;
}

// How far a unit step in this direction goes on the unit sphere.
static double angle_of(const task *it, tal_vec3 direction)
{
    return tal_v3_norm(tal_v3_mul(it->ends->by_a, direction));
}

// Move the middle to the left and turn it.
static void move_middle(const task *it, tal_vec3 left, const double by[2], tali_wrap_middle *middle)
{
    tali_wrap_bundle at = {.p = tal_v3_axpy(by[0], left, middle->p),
                           .t = tal_v3_axpy(by[1], left, middle->t)};
    tali_wrap_oval_restore(&it->oval, &at);
    middle->p = at.p;
    middle->t = at.t;
}

// One step; the largest change, as angles. `turn` is how far the directions at both ends are from
// those of the answer.
static double improve(const task *it, tali_wrap_middle *middle, miss end[2], double turn[2],
                      double *stability)
{
    double by[2], change = 0.0;
    for (int k = 0; k < 2; ++k) {
        end[k] = miss_at(it, k, middle->s[k]);
    }
    *stability = turn_middle(end, by);
    const tal_vec3 by_a = it->ends->by_a, n = tal_v3_mul(by_a, tal_v3_mul(by_a, middle->p));
    const tal_vec3 left = tal_v3_normalize(tal_v3_cross(n, middle->t));
    const double size = angle_of(it, left);
    by[0] = limit(by[0] * size, 0.5) / size;
    by[1] = limit(by[1], 0.5);
    for (int k = 0; k < 2; ++k) {
        const double angle = angle_of(it, end[k].at.t);
        turn[k] = limit(end[k].d + end[k].dy[0] * by[0] + end[k].dy[1] * by[1], 0.5);
        const double ds = end[k].at.slide * turn[k] / end[k].at.turn - end[k].t;
        middle->s[k] += limit(ds * angle, 0.5) / angle;
        change = fmax(change, fmax(fabs(ds * angle), fabs(turn[k])));
    }
    change = fmax(change, fmax(fabs(by[0] * size), fabs(by[1])));
    move_middle(it, left, by, middle);
    return change;
}

// The straight pieces in the directions that the last step asked for.
static void finish(const task *it, const tali_wrap_middle *middle, const miss end[2],
                   const double turn[2], tal_wrap_arc *arc)
{
    for (int k = 0; k < 2; ++k) {
        const tali_wrap_end *last = &end[k].at;
        const tal_vec3 b = tal_v3_cross(last->n, last->t);
        const tali_wrap_end at = end_along(it->ends, k, tal_v3_axpy(turn[k], b, last->t));
        arc->p[k] = at.p;
        arc->t[k] = at.t;
        arc->lift[k] = at.lift;
    }
    arc->length = fmax(middle->s[1] - middle->s[0], 0.0);
}

// What may be left out of series: much less than the error that is left after the next step.
static double tolerance_for(double change)
{
    return change < NEARLY ? TALI_WRAP_EXACT : NEARLY * fmin(change * change, 1e-2);
}

// Newton's method from the middle.
static bool solve(const tali_wrap_oval_ends *ends, tali_wrap_middle *middle, tal_wrap_arc *arc)
{
    task it = {.ends = ends};
    tali_wrap_oval_init(&it.oval, ends->a);
    miss end[2];
    double turn[2], change = 0.1;
    for (int i = 0; i < MAX_ITERATIONS; ++i) {
        const tali_wrap_bundle at = {middle->p, middle->t, {1.0, 0.0}, {0.0, 1.0}};
        const double tolerance = tolerance_for(change);
        const double far = fmax(fabs(middle->s[0]), fabs(middle->s[1]));
        tali_wrap_oval_expand(&it.oval, &at, far, tolerance);
        change = improve(&it, middle, end, turn, &arc->stability);
        if (!isfinite(change)) return false;
        if (change < LAST_CHANGE && tolerance == TALI_WRAP_EXACT) {
            finish(&it, middle, end, turn, arc);
            return true;
        }
        if (middle->s[1] < middle->s[0] && change > LAST_CHANGE) {
            middle->s[0] = middle->s[1] = 0.5 * (middle->s[0] + middle->s[1]);
        }
    }
    return false;
}

bool tali_wrap_oval_solve(const tali_wrap_oval_ends *ends, tali_wrap_middle *middle,
                          tal_wrap_arc *arc)
{
    const tali_wrap_middle guess = *middle;
    middle->c[0] = middle->c[1] = TAL_VEC3_ZERO;
    if (solve(ends, middle, arc)) return true;
    *middle = guess;
    return tali_wrap_oval_solve_by_ends(ends, middle, arc);
}
