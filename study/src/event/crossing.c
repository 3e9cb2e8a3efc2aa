// Crossings within a step: which witnesses cross zero, the first time, and to which window.
#include "event/stepper_internal.h"

#include <math.h>

// A vertex that moves by less than this part of its interval has been found.
static const double SAME_VERTEX = 1e-6;

enum {
    MAX_POINTS = 4, // of a witness in one step: the ends, and the extrema of a cubic
    MAX_SEARCH = 6, // samples in search of an extremum beyond zero
    MAX_SECANTS = 100
};

typedef struct point {
    double t, w;
} point;

// --- two crossings within a step ---

// The cubic with the values and rates of the witness at both ends, over the fraction x of the step:
// w0 + x (s0 + x (c2 + x c3)). Written from the start of the step, where a witness that has just
// happened begins with values and slopes far smaller than those of the whole step.
typedef struct cubic {
    double w0, s0, c2, c3;
} cubic;

static cubic cubic_of(const tali_stepper_watch *watch, double h)
{
    const double s0 = h * watch->memory.rate, s1 = h * watch->rate1;
    const double D = watch->w1 - watch->memory.value;
    return (cubic){watch->memory.value, s0, 3.0 * D - 2.0 * s0 - s1, s0 + s1 - 2.0 * D};
}

static bool has_cubic(const tali_stepper_watch *watch)
{
    return watch->memory.has_rate && watch->has_rate1;
}

static double value_of(const cubic *it, double x)
{
    return it->w0 + x * (it->s0 + x * (it->c2 + x * it->c3));
}

// Where it is extremal within the step, in ascending order: s0 + 2 c2 x + 3 c3 x^2 = 0.
static int find_extrema(const cubic *it, double x[2])
{
    const double a = 3.0 * it->c3, half_b = it->c2, c = it->s0;
    const double discriminant = half_b * half_b - a * c;
    if (!(discriminant >= 0.0)) return 0;
    // no cancellation: one root from the sum, the other from the product of both
    const double q = -(half_b + copysign(sqrt(discriminant), half_b));
    const double roots[2] = {a != 0.0 ? q / a : -1.0, q != 0.0 ? c / q : -1.0};
    const int first = roots[0] <= roots[1] ? 0 : 1;
    int n = 0;
    for (int k = 0; k < 2; ++k) {
        const double root = roots[k == 0 ? first : 1 - first];
        if (root > 0.0 && root < 1.0) x[n++] = root;
    }
    return n;
}

// The vertex of the parabola through three points.
static double vertex(point a, point m, point b)
{
    const double left = (m.t - a.t) * (m.w - b.w), right = (m.t - b.t) * (m.w - a.w);
    const double below = left - right;
    if (below == 0.0) return m.t;
    return m.t - 0.5 * ((m.t - a.t) * left - (m.t - b.t) * right) / below;
}

// An extremum at `m` towards zero, between points on the same side: the cubic is not the witness,
// so look a little further for a point beyond zero. Leaves the best point in `m`.
static tal_status search(tal_time_stepper *ts, const tal_state *state, int event, point a, point *m,
                         point b)
{
    const int side = ts->watches[event].memory.side;
    for (int k = 0; k < MAX_SEARCH && side * m->w > 0.0; ++k) {
        const bool is_bracket = side * m->w <= side * a.w && side * m->w <= side * b.w;
        const double t = is_bracket ? vertex(a, *m, b) : m->t;
        const bool is_inside = t > a.t && t < b.t;
        if (!is_inside || fabs(t - m->t) <= SAME_VERTEX * (b.t - a.t)) return TAL_OK;
        point next = {t, 0.0};
        const tal_status st = tali_stepper_sample(ts, state, event, t, &next.w);
        if (st != TAL_OK) return st;
        const bool is_better = side * next.w < side * m->w;
        const point other = is_better ? *m : next;
        if (is_better) *m = next;
        if (other.t < m->t) {
            a = other;
        } else {
            b = other;
        }
    }
    return TAL_OK;
}

// The ends of the step, and between them the extrema at which the cubic comes near zero or beyond.
static tal_status find_points(tal_time_stepper *ts, const tal_state *state, int event,
                              point points[MAX_POINTS], int *count)
{
    const tali_stepper_watch *watch = &ts->watches[event];
    const double t0 = ts->integ->t0, h = ts->integ->t1 - t0;
    const double near = 0.3 * fmax(fabs(watch->memory.value), fabs(watch->w1));
    const int side = watch->memory.side;
    const point end = {ts->integ->t1, watch->w1};
    double x[2];
    const cubic curve = cubic_of(watch, h);
    const int n = has_cubic(watch) && side != 0 ? find_extrema(&curve, x) : 0;
    *count = 0;
    points[(*count)++] = (point){t0, watch->memory.value};
    for (int k = 0; k < n; ++k) {
        const bool is_near = side * value_of(&curve, x[k]) <= near;
        point m = {t0 + x[k] * h, 0.0};
        if (!is_near || m.t <= points[*count - 1].t || m.t >= end.t) continue;
        tal_status st = tali_stepper_sample(ts, state, event, m.t, &m.w);
        if (st == TAL_OK) st = search(ts, state, event, points[*count - 1], &m, end);
        if (st != TAL_OK) return st;
        points[(*count)++] = m;
    }
    points[(*count)++] = end;
    return TAL_OK;
}

// --- which points lie on both sides of zero ---

static int sign_of(double x)
{
    return (x > 0.0) - (x < 0.0);
}

static bool is_wanted(tal_crossing crossing, int direction)
{
    return crossing == TAL_CROSSING_EITHER || (direction > 0) == (crossing == TAL_CROSSING_RISING);
}

// From point to point: the first crossing that counts, and the sign at the end if none does. A sign
// that is not known at the start crosses nothing. Zero is crossed when it is reached, unless the
// witness has only its rate to tell where it came from; such a witness may turn back before it has
// come to that side at all, and crosses no sooner than that.
static void find_first_crossing(tali_stepper_watch *watch, const point points[], int count)
{
    int side = watch->memory.side;
    watch->crosses = false;
    for (int k = 1; k < count; ++k) {
        const bool comes_from_side = side * points[k - 1].w > 0.0;
        const bool reaches_zero = comes_from_side && points[k].w == 0.0;
        const bool is_coming = k < count - 1 || (watch->has_rate1 && side * watch->rate1 > 0.0);
        if ((side * points[k].w >= 0.0 && !reaches_zero) || (!comes_from_side && is_coming)) {
            if (side == 0) side = sign_of(points[k].w);
            continue;
        }
        if (!watch->crosses && is_wanted(watch->def.crossing, -side)) {
            watch->crosses = true;
            watch->direction = -side;
            watch->lo = points[k - 1].t;
            watch->w_lo = points[k - 1].w;
            watch->hi = points[k].t;
            watch->w_hi = points[k].w;
        }
        side = sign_of(points[k].w);
    }
    watch->side1 = side;
}

// --- localizing ---

// Where the chord crosses zero, or the middle if the ends do not show different signs, as at the
// start of a witness that has just happened.
static double chord(const tali_stepper_watch *watch)
{
    const double w_lo = watch->w_lo, w_hi = watch->w_hi;
    if (w_lo * watch->direction >= 0.0) return 0.5 * (watch->lo + watch->hi);
    return watch->lo + (watch->hi - watch->lo) * (w_lo / (w_lo - w_hi));
}

// Where the cubic crosses zero between two times at which it shows different signs; otherwise the
// chord does. Bisection costs nothing here: no State is made.
static double first_guess(const tal_time_stepper *ts, const tali_stepper_watch *watch)
{
    const double t0 = ts->integ->t0, h = ts->integ->t1 - t0;
    const cubic curve = cubic_of(watch, h);
    double lo = (watch->lo - t0) / h, hi = (watch->hi - t0) / h;
    if (!has_cubic(watch) || value_of(&curve, lo) * watch->direction > 0.0 ||
        value_of(&curve, hi) * watch->direction < 0.0) {
        return chord(watch);
    }
    for (int k = 0; k < 60; ++k) {
        const double x = 0.5 * (lo + hi);
        if (value_of(&curve, x) * watch->direction < 0.0) {
            lo = x;
        } else {
            hi = x;
        }
    }
    return t0 + hi * h;
}

// The next time to look at: the cubic's guess, then half a window to its other side, so that a good
// guess is enclosed at once; then the chord, and the middle when a bracket does not shrink. Kept
// away from the ends by a part of the window, so that the last two points enclose the crossing.
static double next_guess(const tal_time_stepper *ts, const tali_stepper_watch *watch, int k,
                         double window, double *width)
{
    double t = chord(watch);
    if (k == 0) t = first_guess(ts, watch);
    if (k == 1) t = watch->hi < ts->integ->t1 ? watch->hi - 0.5 * window : watch->lo + 0.5 * window;
    if (k % 3 == 0 && k > 0) {
        if (watch->hi - watch->lo > 0.5 * *width) t = 0.5 * (watch->lo + watch->hi);
        *width = watch->hi - watch->lo;
    }
    return fmin(fmax(t, watch->lo + 0.4 * window), watch->hi - 0.4 * window);
}

// Regula falsi in the variant of Illinois: an end that stays has its value halved.
static tal_status localize(tal_time_stepper *ts, const tal_state *state, int event)
{
    tali_stepper_watch *watch = &ts->watches[event];
    const double window = tali_stepper_window(ts, watch);
    int stays = 0; // +1: hi stayed, -1: lo did
    double width = watch->hi - watch->lo;
    ++ts->stats.localizations;
    for (int k = 0; k < MAX_SECANTS && watch->hi - watch->lo > window; ++k) {
        const double t = next_guess(ts, watch, k, window, &width);
        if (!(t > watch->lo && t < watch->hi)) return TAL_OK; // time has no more digits
        double w = 0.0;
        const tal_status st = tali_stepper_sample(ts, state, event, t, &w);
        if (st != TAL_OK) return st;
        if (w * watch->direction < 0.0) {
            watch->lo = t;
            watch->w_lo = w;
            if (stays > 0) watch->w_hi *= 0.5;
            stays = 1;
        } else {
            watch->hi = t;
            watch->w_hi = w;
            if (stays < 0) watch->w_lo *= 0.5;
            stays = -1;
        }
    }
    return TAL_OK;
}

// The time by which the first witness has crossed, and all others that cross within its window;
// infinity when none crosses.
static double gather_crossings(tal_time_stepper *ts)
{
    const tali_stepper_watch *first = NULL;
    double least = (double)INFINITY; // of the windows
    for (int i = 0; i < ts->num_events; ++i) {
        const tali_stepper_watch *watch = &ts->watches[i];
        if (!watch->is_on || !watch->crosses) continue;
        if (first == NULL || watch->hi < first->hi) first = watch;
        least = fmin(least, tali_stepper_window(ts, watch));
    }
    if (first == NULL) return (double)INFINITY;
    if (ts->integ->t1 - first->hi <= least) return ts->integ->t1;
    double t = first->hi;
    for (int i = 0; i < ts->num_events; ++i) {
        const tali_stepper_watch *watch = &ts->watches[i];
        if (!watch->is_on || !watch->crosses) continue;
        if (watch->hi - first->hi <= least) t = fmax(t, watch->hi);
    }
    return t;
}

// A witness that is beyond zero by no more than localizing may leave, but on its way back already,
// has not crossed: it turned within a window. (Or it is below the accuracy of a method whose dense
// output is not a step, where values and rates need not agree.)
static bool comes_back(const tal_time_stepper *ts, const tali_stepper_watch *watch)
{
    if (!watch->has_rate1 || watch->rate1 * watch->direction >= 0.0) return false;
    return fabs(watch->w1) <= tali_stepper_reach(ts, watch, watch->rate1);
}

// A step was taken again to where a witness crosses, and shows nothing: so close to its start the
// values have no digits for it, and the next step would find the same. It happens at the end of the
// step, or the run would not get on.
static bool is_hidden(const tal_time_stepper *ts, const tali_stepper_watch *watch)
{
    const double h = ts->integ->t1 - ts->integ->t0;
    const bool is_short = h <= 4.0 * tali_stepper_window(ts, watch);
    return watch->is_on && watch->is_located && (is_short || watch->w1 == watch->memory.value);
}

// Which events happen at the end of the step, or would if the step ended at `t`.
static void settle_crossings(tal_time_stepper *ts, double t)
{
    const bool is_over = isinf(t), is_end = t == ts->integ->t1;
    for (int i = 0; i < ts->num_events; ++i) {
        tali_stepper_watch *watch = &ts->watches[i];
        const bool crosses = watch->is_on && watch->crosses;
        watch->is_pending = crosses && is_end;
        if (is_over && is_hidden(ts, watch)) {
            watch->is_pending = true;
            watch->side1 = watch->direction;
        } else if (watch->is_pending && comes_back(ts, watch)) {
            watch->is_pending = false;
            watch->side1 = -watch->direction;
        }
        watch->is_located = crosses && !is_end && watch->hi <= t;
    }
}

tal_status tali_stepper_find_crossings(tal_time_stepper *ts, const tal_state *state, double *t)
{
    *t = (double)INFINITY;
    for (int i = 0; i < ts->num_events; ++i) {
        tali_stepper_watch *watch = &ts->watches[i];
        point points[MAX_POINTS];
        int count = 0;
        watch->is_pending = false;
        if (!watch->is_on) continue;
        tal_status st = find_points(ts, state, i, points, &count);
        if (st != TAL_OK) return st;
        find_first_crossing(watch, points, count);
        if (watch->crosses) st = localize(ts, state, i);
        if (st != TAL_OK) return st;
    }
    *t = gather_crossings(ts);
    settle_crossings(ts, *t);
    return TAL_OK;
}
