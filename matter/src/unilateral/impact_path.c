// One contact with friction in an impact: the path of its slip, exactly.
//
// While the normal impulse pi grows, friction is mu dpi against the slip v_T = r d:
//
//     dv / dpi = A (e_N - mu d)
//
// so that v_T either goes straight to zero, which is solved exactly, or turns, which is integrated.
// At zero slip the contact sticks if friction can hold it, or slips on in the one direction d that
// leads away from zero (Routh's and Keller's method). Compression ends where v_N = 0; expansion
// adds e times its normal impulse. A contact that is jammed needs no case of its own: v_N falls
// until v_T is zero.
//
// Source: Keller, J. Appl. Mech. 53 (1986) 1; RBDA sec. 11.7.
#include "unilateral/impact_internal.h"

#include <math.h>

enum {
    MOST_SEGMENTS = 20000
};

static const double TURN = 0.01;      // [rad] most that the slip turns in one step of integration
static const double SINGULAR = 1e-14; // share of what it comes from: round-off
static const double STRAIGHT = 1e-13; // likewise, of a turn

// The part of A that one direction of slip sees: dv of a unit of normal impulse with friction.
static void rates(const tali_impact_path *it, const double d[2], double mu, double dv[3])
{
    for (int i = 0; i < 3; ++i) {
        dv[i] = it->A[i][0] - mu * (it->A[i][1] * d[0] + it->A[i][2] * d[1]);
    }
}

// --- at zero slip ---

// Friction per normal impulse that holds v_T at zero: -A_TT^-1 A_TN. A direction in which nothing
// can move takes no part.
static void holding(const tali_impact_path *it, double hold[2])
{
    const double a = it->A[1][1], b = it->A[1][2], c = it->A[2][2];
    const double det = a * c - b * b, size = fmax(a, c);
    hold[0] = hold[1] = 0.0;
    if (det > SINGULAR * size * size) {
        hold[0] = -(c * it->A[1][0] - b * it->A[2][0]) / det;
        hold[1] = -(a * it->A[2][0] - b * it->A[1][0]) / det;
    } else if (size > 0.0) {
        // rank one: the least that holds
        const double x = a >= c ? a : b, y = a >= c ? b : c; // the column of the larger
        const double square = x * x + y * y, along = x * it->A[1][0] + y * it->A[2][0];
        const double factor = -along / (square * ((a + c) > 0.0 ? (a + c) : 1.0));
        hold[0] = factor * x;
        hold[1] = factor * y;
    }
}

// How much slip that starts in direction phi turns (across) and grows (along).
static double across(const tali_impact_path *it, double phi, double *along)
{
    const double d[2] = {cos(phi), sin(phi)};
    double dv[3];
    rates(it, d, it->sliding_mu, dv);
    *along = d[0] * dv[1] + d[1] * dv[2];
    return d[0] * dv[2] - d[1] * dv[1];
}

// The direction in which slip begins: it does not turn, and grows. False when there is none.
static bool find_start(const tali_impact_path *it, double d[2])
{
    enum {
        SAMPLES = 72,
        HALVINGS = 60
    };

    const double step = 2.0 * acos(-1.0) / SAMPLES;
    const bool is_line = it->A[2][2] <= SINGULAR * it->A[1][1];
    if (is_line) {
        d[0] = it->A[1][0] >= 0.0 ? 1.0 : -1.0;
        d[1] = 0.0;
        return true;
    }
    for (int k = 0; k < SAMPLES; ++k) {
        double low = k * step, high = low + step, along = 0.0;
        const double at_low = across(it, low, &along);
        if (at_low * across(it, high, &along) > 0.0) continue;
        for (int i = 0; i < HALVINGS; ++i) {
            const double middle = 0.5 * (low + high);
            if (at_low * across(it, middle, &along) > 0.0) {
                low = middle;
            } else {
                high = middle;
            }
        }
        (void)across(it, high, &along);
        if (along <= 0.0) continue;
        d[0] = cos(high), d[1] = sin(high);
        return true;
    }
    return false;
}

// --- one piece of the path ---

// Let the normal impulse grow by `more`, with friction of `pull` for each unit.
static void advance(tali_impact_path *it, double more, const double pull[2], const double dv[3])
{
    it->pi[0] += more;
    it->pi[1] += more * pull[0];
    it->pi[2] += more * pull[1];
    for (int i = 0; i < 3; ++i) {
        it->v[i] += more * dv[i];
    }
}

// How far until compression ends, at this rate; infinity in expansion.
static double until_compressed(const tali_impact_path *it, double dv_N, bool is_expanding)
{
    if (is_expanding || dv_N <= 0.0) return (double)INFINITY;
    return it->v[0] < 0.0 ? -it->v[0] / dv_N : 0.0;
}

// A direction of slip and what it does: friction and rates.
typedef struct course {
    double d[2], pull[2], dv[3];
    double turning; ///< of the direction, per normal impulse
    double ends;    ///< normal impulse after which the slip is zero; infinity: never
} course;

static course slip_course(const tali_impact_path *it, const double d[2], double r)
{
    const double mu = it->sliding_mu;
    course c = {.d = {d[0], d[1]}, .pull = {-mu * d[0], -mu * d[1]}, .ends = (double)INFINITY};
    rates(it, d, mu, c.dv);
    const double along = d[0] * c.dv[1] + d[1] * c.dv[2];
    const double turn = d[0] * c.dv[2] - d[1] * c.dv[1];
    const double size = fabs(c.dv[1]) + fabs(c.dv[2]);
    const bool is_straight = fabs(turn) <= STRAIGHT * size;
    c.turning = is_straight || r <= 0.0 ? 0.0 : fabs(turn) / r;
    if (along < 0.0) c.ends = r / -along;
    return c;
}

static course stick_course(const tali_impact_path *it, const double hold[2])
{
    course c = {.pull = {hold[0], hold[1]}, .ends = (double)INFINITY};
    for (int i = 0; i < 3; ++i) {
        c.dv[i] = it->A[i][0] + it->A[i][1] * hold[0] + it->A[i][2] * hold[1];
    }
    c.dv[1] = c.dv[2] = 0.0;
    return c;
}

// The course that a slip has after a step along another one.
static course course_after(const tali_impact_path *it, const course *c, double step)
{
    const double slip[2] = {it->v[1] + step * c->dv[1], it->v[2] + step * c->dv[2]};
    const double r = hypot(slip[0], slip[1]);
    const double d[2] = {slip[0] / r, slip[1] / r};
    return slip_course(it, d, r);
}

// The mean course of a step in which the slip turns: Runge and Kutta's method of order 4.
static course mean_course(const tali_impact_path *it, const course *k1, double step)
{
    const course k2 = course_after(it, k1, 0.5 * step);
    const course k3 = course_after(it, &k2, 0.5 * step);
    const course k4 = course_after(it, &k3, step);
    course mean = *k1;
    for (int i = 0; i < 3; ++i) {
        mean.dv[i] = (k1->dv[i] + 2.0 * k2.dv[i] + 2.0 * k3.dv[i] + k4.dv[i]) / 6.0;
    }
    for (int i = 0; i < 2; ++i) {
        mean.pull[i] = (k1->pull[i] + 2.0 * k2.pull[i] + 2.0 * k3.pull[i] + k4.pull[i]) / 6.0;
    }
    return mean;
}

// What the contact does now. False when no slip can begin.
static bool choose_course(const tali_impact_path *it, double slow, course *c)
{
    const double r = hypot(it->v[1], it->v[2]);
    if (r > slow) {
        const double d[2] = {it->v[1] / r, it->v[2] / r};
        *c = slip_course(it, d, r);
        return true;
    }
    double hold[2], d[2];
    holding(it, hold);
    if (hypot(hold[0], hold[1]) <= it->static_mu) {
        *c = stick_course(it, hold);
        return true;
    }
    if (!find_start(it, d)) return false;
    *c = slip_course(it, d, r);
    c->ends = (double)INFINITY; // it leaves zero
    c->turning = 0.0;
    return true;
}

// How far the next step goes, and its course: to the end of compression or of the impact, to the
// end of a slip that is straight, or as far as a slip that turns may. Infinity: nothing ends it.
static double choose_step(const tali_impact_path *it, double goal, course *c)
{
    const course first = *c;
    const bool is_expanding = goal < (double)INFINITY;
    const bool turns = first.turning > 0.0;
    const double far = turns ? fmin(TURN / first.turning, 0.5 * first.ends) : first.ends;
    double step = fmin(far, goal - it->pi[0]);
    // where compression ends depends on the course, and that on the step
    for (int k = 0; k < 5; ++k) {
        if (turns && isfinite(step)) *c = mean_course(it, &first, step);
        const double compressed = until_compressed(it, c->dv[0], is_expanding);
        const double next = fmin(fmin(far, goal - it->pi[0]), compressed);
        if (next == step) break;
        step = next;
        if (!turns) break;
    }
    return step;
}

bool tali_impact_follow_path(tali_impact_path *it)
{
    const double slip0 = hypot(it->v[1], it->v[2]);
    double goal = (double)INFINITY; // normal impulse at the end
    double slow = 0.0;              // below this, slip is zero
    for (int k = 0; k < MOST_SEGMENTS; ++k) {
        course c;
        if (!choose_course(it, slow, &c)) return false;
        const double step = choose_step(it, goal, &c);
        if (!isfinite(step)) return false;
        const bool stops = c.turning == 0.0 && step == c.ends;
        const bool is_expanding = goal < (double)INFINITY;
        const bool is_compressed =
            !is_expanding && step >= until_compressed(it, c.dv[0], is_expanding);
        advance(it, step, c.pull, c.dv);
        if (stops) it->v[1] = it->v[2] = 0.0;
        slow = fmax(slow, 1e-10 * slip0); // a slip that turns gets slower by halves
        if (is_compressed) {
            it->v[0] = 0.0;
            goal = (1.0 + it->restitution) * it->pi[0];
        }
        if (it->pi[0] >= goal) return true;
    }
    return false;
}
