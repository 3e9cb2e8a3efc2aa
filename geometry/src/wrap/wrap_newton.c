// Strings over surfaces without a closed form: Newton's method on three numbers.
//
// A string that leaves P1 touches the surface on a curve of points, one number u1; so it does where
// it arrives, u2. A geodesic of length s begins where the first piece touches, in its direction
// t1. It must end where the second piece touches, at x2, in the direction t2. In the frame of t2,
// b2 = n x t2 and the normal n, the misses are
//
//     r_t = (x(s) - x2) . t2,   r_b = (x(s) - x2) . b2,   r_d = t(s) . b2
//
// With beta = (dt/du . b) du, how far a direction turns, and y of geodesics that spread from P1
// (y'' = -K y, y = l1 and y' = 1 at the beginning: DoCarmo sec. 5-5), to first order
//
//     r_b + y  beta1 + l2 beta2 = 0
//     r_d + y' beta1 - beta2 = 0         so  (y + l2 y') beta1 = -(r_b + l2 r_d)
//     r_t + ds + slide1 du1 - slide2 du2 = 0
//
// y + l2 y' is above zero where the string is the shortest of all nearby. The first variation of
// the length vanishes for the answer, so what is left of the misses enters the length squared.
#include "wrap/wrap_internal.h"

#include <math.h>

static const double MOST_TURN = 0.7;  // [rad] of an end in one step
static const double CONVERGED = 1e-8; // change of a step: the next one is exact
static const double CLEARLY = 1e-7;   // share of the scale by which a length changes clearly

enum {
    MAX_ITERATIONS = 30
};

static double limit(double x, double most)
{
    return fmin(fmax(x, -most), most);
}

// One step; the largest change, relative to the size of things.
static double improve(const tali_wrap_problem *problem, const tali_wrap_end end[2],
                      tali_wrap_string *string, double *stability)
{
    tali_wrap_ray ray = {end[0].p, end[0].t, end[0].lift, 1.0};
    problem->follow(problem, string->s, &ray);
    const tal_vec3 t2 = end[1].t, b2 = tal_v3_cross(end[1].n, t2);
    const tal_vec3 miss = tal_v3_sub(ray.p, end[1].p);
    const double r_t = tal_v3_dot(miss, t2), r_b = tal_v3_dot(miss, b2);
    const double r_d = tal_v3_dot(ray.t, b2);
    const double l2 = end[1].lift;
    *stability = ray.y + l2 * ray.dy;
    const double beta1 = limit(-(r_b + l2 * r_d) / *stability, 0.5);
    const double beta2 = limit(r_d + ray.dy * beta1, 0.5);
    const double du1 = beta1 / end[0].turn, du2 = beta2 / end[1].turn;
    const double ds = -r_t - end[0].slide * du1 + end[1].slide * du2;
    string->u[0] += limit(du1, MOST_TURN);
    string->u[1] += limit(du2, MOST_TURN);
    string->s += limit(ds, 0.5 * problem->scale);
    if (string->s < 0.0 && fabs(ds) > CLEARLY * problem->scale) string->s = 0.0;
    return fmax(fmax(fabs(beta1), fabs(beta2)), fabs(ds) / problem->scale);
}

bool tali_wrap_solve(const tali_wrap_problem *problem, tali_wrap_string *string, tal_wrap_arc *arc)
{
    // quadratic convergence: a change of 1e-8 leaves 1e-16
    double change = INFINITY, stability = 0.0;
    tali_wrap_end end[2];
    for (int i = 0; i < MAX_ITERATIONS; ++i) {
        for (int k = 0; k < 2; ++k) {
            if (!problem->end_at(problem, k, string->u[k], &end[k])) return false;
        }
        if (change < CONVERGED) break;
        change = improve(problem, end, string, &stability);
        if (!isfinite(change)) return false;
    }
    if (!(change < CONVERGED)) return false;
    for (int k = 0; k < 2; ++k) {
        arc->p[k] = end[k].p;
        arc->t[k] = end[k].t;
        arc->lift[k] = end[k].lift;
    }
    arc->length = fmax(string->s, 0.0);
    arc->stability = stability;
    return true;
}
