// Where fibers and tendon carry the same force: a bracketed root, which is always found.
#include "muscle/muscle_internal.h"

#include <float.h>
#include <math.h>

// Normalized speeds that agree to this have settled.
static const double SAME_SPEED = 1e-12;

typedef struct balance {
    const tali_muscle_curves *curves;
    const tali_muscle_sizes *sizes;
    double l, a;    // of the path; activation
    double fv;      // of fibers at the given speed
    double damping; // beta v
} balance;

// Fiber force along the tendon less tendon force, over F0, and its slope by the fiber length.
static double excess(const balance *b, double length, double *slope)
{
    const tali_muscle_sizes *sizes = b->sizes;
    const tali_muscle_fiber fiber = tali_muscle_fiber_of(length, sizes->h);
    const tali_muscle_curve active = tali_muscle_active(b->curves, length / sizes->lo);
    const tali_muscle_curve passive = tali_muscle_passive(b->curves, length / sizes->lo);
    const tali_muscle_curve tendon =
        tali_muscle_tendon(b->curves, (b->l - fiber.along) / sizes->ls);
    const double f = b->a * b->fv * active.y + passive.y + b->damping;
    const double df = (b->a * b->fv * active.slope + passive.slope) / sizes->lo;
    const double dcosine = sizes->h * sizes->h / (length * length * fiber.along);
    *slope = df * fiber.cosine + f * dcosine + tendon.slope / (sizes->ls * fiber.cosine);
    return f * fiber.cosine - tendon.y;
}

/*
 * The excess is negative at `low` and not at `high`, where the tendon is slack: the root where it
 * rises is the stable one. Newton's method, with a halving wherever it leaves the interval or gains
 * less than a halving would: ends after 60 halvings at the latest.
 */
static double root_between(const balance *b, double low, double high)
{
    double x = 0.5 * (low + high), last = high - low;
    for (int i = 0; i < 200; ++i) {
        double slope = 0.0;
        const double miss = excess(b, x, &slope);
        if (miss < 0.0) {
            low = x;
        } else {
            high = x;
        }
        double next = x - miss / slope;
        const bool is_slow = fabs(next - x) > 0.5 * last;
        if (!(next > low && next < high) || is_slow) next = 0.5 * (low + high);
        last = fabs(next - x);
        if (last <= DBL_EPSILON * x || miss == 0.0) return miss == 0.0 ? x : next;
        x = next;
    }
    return x;
}

double tali_muscle_equilibrium_length(const tali_muscle_curves *curves,
                                      const tali_muscle_sizes *sizes, double l, double a, double v,
                                      tal_muscle_equilibrium *how)
{
    const balance b = {.curves = curves,
                       .sizes = sizes,
                       .l = l,
                       .a = a,
                       .fv = tali_muscle_velocity(curves, a, v),
                       .damping = sizes->beta * v};
    const double shortest = sizes->shortest, slack = l - sizes->ls;
    double slope = 0.0;
    const bool is_slack = !(slack > tali_muscle_fiber_of(shortest, sizes->h).along);
    if (is_slack || excess(&b, shortest, &slope) >= 0.0) {
        *how = TAL_MUSCLE_AT_SHORTEST;
        return shortest;
    }
    const double longest = tali_muscle_fiber_along(slack, sizes->h).length;
    // fibers that shorten fast may be damped so much that they push, which no tendon bears
    const bool pushes = excess(&b, longest, &slope) < 0.0;
    *how = pushes ? TAL_MUSCLE_AT_REST : TAL_MUSCLE_IN_EQUILIBRIUM;
    return pushes ? longest : root_between(&b, shortest, longest);
}

double tali_muscle_moving_equilibrium(const tali_muscle_curves *curves,
                                      const tali_muscle_sizes *sizes, double l, double ldot,
                                      double a, tal_muscle_equilibrium *how)
{
    double v = 0.0;
    for (int i = 0; i < 50; ++i) {
        const double length = tali_muscle_equilibrium_length(curves, sizes, l, a, v, how);
        if (*how == TAL_MUSCLE_AT_SHORTEST) return length;
        if (*how == TAL_MUSCLE_AT_REST) break;
        tali_muscle_found at = {.fiber = tali_muscle_fiber_of(length, sizes->h), .v = v};
        at.active = tali_muscle_active(curves, length / sizes->lo);
        at.passive = tali_muscle_passive(curves, length / sizes->lo);
        at.velocity = tali_muscle_velocity(curves, a, v);
        at.f_active = a * at.active.y * at.velocity;
        at.f_damping = sizes->beta * v;
        const double fiber = tali_muscle_stiffness_along(sizes, &at, a);
        const double tendon = sizes->F0 / sizes->ls *
                              tali_muscle_tendon(curves, (l - at.fiber.along) / sizes->ls).slope;
        const double sum = fiber + tendon;
        const double tendon_speed = tendon > 0.0 && sum > 0.0 ? ldot * fiber / sum : ldot;
        const double next = (ldot - tendon_speed) * at.fiber.cosine / sizes->vmax;
        if (fabs(next - v) <= SAME_SPEED) return length;
        v = 0.5 * (v + next); // half steps: the shares of fibers and tendon swing otherwise
    }
    const double length = tali_muscle_equilibrium_length(curves, sizes, l, a, 0.0, how);
    if (*how == TAL_MUSCLE_IN_EQUILIBRIUM) *how = TAL_MUSCLE_AT_REST;
    return length;
}
