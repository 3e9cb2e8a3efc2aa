// How tension and rate of a muscle change with its path, its activation and its state: the
// differentials of muscle_mechanics.c, line by line.
#include "muscle/muscle_internal.h"

#include <math.h>

// --- curves ---

// fv by v, and by the activation where the speed without load depends on it.
typedef struct velocity_slopes {
    double v, a;
} velocity_slopes;

// fv is a function of w = v / c, where c = 1/4 + 3/4 a: see tali_muscle_thelen_velocity().
static velocity_slopes slopes_of_thelen(const tali_muscle_thelen *it, double a, double v)
{
    const double c = tali_muscle_thelen_free_speed(a), w = v / c, p = it->per_Af;
    double slope;
    if (w < -1.0) {
        slope = 1.0 / (1.0 + p);
    } else if (w <= 0.0) {
        slope = (1.0 + p) / ((1.0 - p * w) * (1.0 - p * w));
    } else if (w <= it->v_top) {
        slope = it->k * (it->Flen - 1.0) / ((1.0 + it->k * w) * (1.0 + it->k * w));
    } else {
        slope = 1.0 / it->dv_top;
    }
    return (velocity_slopes){slope / c, -slope * w * 0.75 / c};
}

static velocity_slopes slopes_of_velocity(const tali_muscle_curves *it, double a, double v)
{
    switch (it->model) {
    case TAL_MUSCLE_THELEN:
        return slopes_of_thelen(&it->thelen, a, v);
    case TAL_MUSCLE_MILLARD:
        return (velocity_slopes){tali_bezier_calc(&it->millard->velocity, v).dy, 0.0};
    case TAL_MUSCLE_DEGROOTE:
        return (velocity_slopes){tali_muscle_degroote_velocity(v).slope, 0.0};
    case TAL_MUSCLE_CURVES:
        break;
    }
    return (velocity_slopes){tal_function_calc_derivative_1(it->velocity, v, 1), 0.0};
}

double tali_muscle_velocity_slope(const tali_muscle_curves *curves, double a, double v)
{
    return slopes_of_velocity(curves, a, v).v;
}

// --- fibers ---

// Fibers in a small change: by how much length and cosine change.
typedef struct fiber_change {
    double length, cosine;
} fiber_change;

// With along = sqrt(length^2 - h^2) and cos = along / length.
static fiber_change change_by_length(const tali_muscle_fiber *at, double h, double dlength)
{
    const double l = at->length;
    return (fiber_change){dlength, h * h / (at->along * l * l) * dlength};
}

static fiber_change change_by_along(const tali_muscle_fiber *at, double h, double dalong)
{
    const double l = at->length;
    return (fiber_change){at->cosine * dalong, h * h / (l * l * l) * dalong};
}

// The speed of fibers in equilibrium, A fv(v) + beta v = f with A = a fal and f = ft / cos - fpe.
static double change_of_speed(const tali_muscle_curves *curves, const tali_muscle_sizes *sizes,
                              const tali_muscle_given *given, const tali_muscle_found *at,
                              const tali_muscle_given *by, fiber_change fiber, double df_tendon)
{
    const double c = at->fiber.cosine, dl = fiber.length / sizes->lo;
    const double df =
        df_tendon / c - at->f_tendon / (c * c) * fiber.cosine - at->passive.slope * dl;
    const double A = given->a * at->active.y;
    const double dA = by->a * at->active.y + given->a * at->active.slope * dl;
    const velocity_slopes slope = slopes_of_velocity(curves, given->a, at->v);
    return (df - at->velocity * dA - A * slope.a * by->a) / (A * slope.v + sizes->beta);
}

// --- the kinds ---

// z is the fiber length.
static tali_muscle_change change_elastic(const tali_muscle_curves *curves,
                                         const tali_muscle_sizes *sizes,
                                         const tali_muscle_given *given,
                                         const tali_muscle_found *at, const tali_muscle_given *by)
{
    const bool is_free = given->z > sizes->shortest;
    const fiber_change fiber = change_by_length(&at->fiber, sizes->h, is_free ? by->z : 0.0);
    const double dtendon = by->l - fiber.length / at->fiber.cosine;
    const double df_tendon = at->stretch.slope * dtendon / sizes->ls;
    const double dv = change_of_speed(curves, sizes, given, at, by, fiber, df_tendon);
    return (tali_muscle_change){df_tendon, any(at->is_shortest) ? 0.0 : sizes->vmax * dv};
}

// z is the tendon force: rate = k (ldot - vmax v / cos), k the tendon's stiffness.
static tali_muscle_change change_by_tendon(const tali_muscle_curves *curves,
                                           const tali_muscle_sizes *sizes,
                                           const tali_muscle_given *given,
                                           const tali_muscle_found *at, const tali_muscle_given *by)
{
    const double k = at->stretch.slope / sizes->ls, c = at->fiber.cosine;
    const double dk = curves->degroote.tendon_rate / sizes->ls * by->z;
    const fiber_change fiber = change_by_along(&at->fiber, sizes->h, by->l - by->z / k);
    const double dv = change_of_speed(curves, sizes, given, at, by, fiber, by->z);
    const double along = sizes->vmax * at->v / c;
    const double dalong = sizes->vmax * dv / c - along / c * fiber.cosine;
    return (tali_muscle_change){by->z, dk * (given->ldot - along) + k * (by->ldot - dalong)};
}

// The fibers move with the path: v = ldot cos / vmax.
static tali_muscle_change change_rigid(const tali_muscle_curves *curves,
                                       const tali_muscle_sizes *sizes,
                                       const tali_muscle_given *given, const tali_muscle_found *at,
                                       const tali_muscle_given *by)
{
    const double elastic = at->f_active + at->passive.y;
    if (any(at->is_shortest) || !(elastic + at->f_damping > 0.0)) {
        return (tali_muscle_change){0.0, 0.0}; // slack, or damping takes all that there is
    }
    const fiber_change fiber = change_by_along(&at->fiber, sizes->h, by->l);
    const double c = at->fiber.cosine, dl = fiber.length / sizes->lo;
    const double dv = (by->ldot * c + given->ldot * fiber.cosine) / sizes->vmax;
    const velocity_slopes slope = slopes_of_velocity(curves, given->a, at->v);
    const double dfv = at->velocity > 0.0 ? slope.v * dv + slope.a * by->a : 0.0;
    const double dactive = by->a * at->active.y * at->velocity +
                           given->a * (at->active.slope * dl * at->velocity + at->active.y * dfv);
    const double df = dactive + at->passive.slope * dl + sizes->beta * dv;
    return (tali_muscle_change){df * c + (elastic + at->f_damping) * fiber.cosine, 0.0};
}

tali_muscle_change tali_muscle_find_change(const tali_muscle_curves *curves,
                                           const tali_muscle_sizes *sizes, tali_muscle_kind kind,
                                           const tali_muscle_given *given,
                                           const tali_muscle_given *by)
{
    const tali_muscle_found at = tali_muscle_find(curves, sizes, kind, given);
    switch (kind) {
    case TALI_MUSCLE_ELASTIC:
        return change_elastic(curves, sizes, given, &at, by);
    case TALI_MUSCLE_TENDON_Z:
        return change_by_tendon(curves, sizes, given, &at, by);
    case TALI_MUSCLE_IMPLICIT:
        return (tali_muscle_change){by->z, 0.0};
    case TALI_MUSCLE_RIGID:
        break;
    }
    return change_rigid(curves, sizes, given, &at, by);
}

// --- activation ---

// Of tali_muscle_activation_rate(), which keeps both numbers in [least, 1].
double tali_muscle_activation_slope(const tali_muscle_activation *it, double x, double a)
{
    if (!(a > it->least) || !(a < 1.0)) return 0.0;
    const double k = 0.5 + 1.5 * a, off = fmin(fmax(x, it->least), 1.0) - a;
    return off > 0.0 ? -(1.0 + 1.5 * off / k) / (it->rise * k) : (1.5 * off - k) / it->fall;
}

// Of tali_muscle_smooth_activation_rate(), a product p (x - a).
double tali_muscle_smooth_activation_slope(const tali_muscle_activation *it, double x, double a)
{
    const double k = 0.5 + 1.5 * a, f = 0.5 * tanh(it->smoothing * (x - a));
    const double df = -0.5 * it->smoothing * (1.0 - 4.0 * f * f);
    const double up = 1.0 / (it->rise * k), down = k / it->fall;
    const double p = (f + 0.5) * up + (0.5 - f) * down;
    const double dp = df * (up - down) - (f + 0.5) * 1.5 * up / k + (0.5 - f) * 1.5 / it->fall;
    return dp * (x - a) - p;
}
