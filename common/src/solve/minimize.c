// L-BFGS within bounds: projected steps with the curvature of the last ones (Nocedal and Wright,
// Numerical Optimization, alg. 7.4; the set of bounds as in Bertsekas, SIAM J. Control Optim. 20
// (1982) 221).
#include "array_internal.h"
#include "error_internal.h"
#include "finite_internal.h"
#include "lbfgs_internal.h"

#include <talus/common/minimize.h>

#include <math.h>
#include <string.h>

// A step must bring this share of what the slope promises (Armijo).
static const double SHARE = 1e-4;

// Changes of f below this share of it are round-off: there the slopes tell.
static const double ROUND_OFF = 1e-14;

enum {
    MOST_HALVINGS = 60,
    FEW_HALVINGS = 30, // a good gradient needs no more near a minimum
    WINDOW = 10        // steps that progress is judged by
};

typedef struct search {
    const tal_minimize_problem *problem;
    tal_minimize_options options;
    tal_minimize_report *report;
    double *x, *g, *next, *g_next, *d; // [n]
    tali_lbfgs past;
} search;

tal_minimize_options tal_minimize_options_default(void)
{
    return (tal_minimize_options){
        .tolerance = 1e-8, .progress = 1e-15, .max_iterations = 1000, .memory = 8};
}

size_t tal_minimize_work_size(int n, int memory)
{
    if (n < 0 || memory < 1 || memory > TAL_MINIMIZE_MEMORY) return 0;
    const size_t size = (size_t)n, m = (size_t)memory;
    return 4 * size + 2 * m * size + 2 * m;
}

static double low_of(const search *it, int i)
{
    return it->problem->low != NULL ? it->problem->low[i] : (double)-INFINITY;
}

static double high_of(const search *it, int i)
{
    return it->problem->high != NULL ? it->problem->high[i] : (double)INFINITY;
}

static double within(const search *it, int i, double x)
{
    return fmin(fmax(x, low_of(it, i)), high_of(it, i));
}

// At a bound, and pushed against it.
static bool is_bound(const search *it, int i)
{
    return (it->x[i] <= low_of(it, i) && it->g[i] > 0.0) ||
           (it->x[i] >= high_of(it, i) && it->g[i] < 0.0);
}

static void judge(search *it)
{
    it->report->slope = 0.0;
    it->report->num_bound = 0;
    for (int i = 0; i < it->problem->n; ++i) {
        const double move = fabs(within(it, i, it->x[i] - it->g[i]) - it->x[i]);
        it->report->slope = fmax(it->report->slope, move);
        it->report->num_bound += is_bound(it, i) ? 1 : 0;
    }
}

// d = -H g over the unknowns that are free, H by the two loops of L-BFGS.
static void find_direction(search *it)
{
    const int n = it->problem->n;
    for (int i = 0; i < n; ++i) {
        it->d[i] = is_bound(it, i) ? 0.0 : -it->g[i];
    }
    tali_lbfgs_undo(&it->past, it->d);
    if (it->past.num > 0) {
        const double *y = tali_lbfgs_newest_y(&it->past);
        const double gamma = 1.0 / (it->past.rho[it->past.newest] * tali_array_dot(y, y, n));
        for (int i = 0; i < n; ++i) {
            it->d[i] *= gamma;
        }
    }
    tali_lbfgs_redo(&it->past, it->d);
    for (int i = 0; i < n; ++i) {
        if (is_bound(it, i)) it->d[i] = 0.0;
    }
}

// Downhill along d; otherwise straight down, with what was learnt forgotten.
static void find_descent(search *it)
{
    const int n = it->problem->n;
    find_direction(it);
    const double size = sqrt(tali_array_dot(it->d, it->d, n) * tali_array_dot(it->g, it->g, n));
    if (tali_array_dot(it->d, it->g, n) < -1e-12 * size && tali_finite_all(it->d, n)) return;
    it->past.num = 0;
    find_direction(it);
}

static tal_status evaluate(search *it, const double x[], double *f, double g[])
{
    ++it->report->evaluations;
    return it->problem->calc(it->problem->self, x, f, g);
}

// Remember the step from x to next.
static void learn(search *it)
{
    double *s, *y;
    tali_lbfgs_room(&it->past, &s, &y);
    for (int i = 0; i < it->problem->n; ++i) {
        s[i] = it->next[i] - it->x[i];
        y[i] = it->g_next[i] - it->g[i];
    }
    (void)tali_lbfgs_keep(&it->past, NULL);
}

// Whether a step lowers f enough. Where round-off hides that, by its slopes: f is a parabola there,
// and lower at the end if the slope has not turned by more (Hager and Zhang, SIAM J. Optim. 16
// (2005) 170).
static bool is_good(const search *it, int halvings, double promised, double f)
{
    const int n = it->problem->n;
    if (promised >= 0.0) return false;
    if (f <= it->report->f + SHARE * promised) return true;
    const double hidden = ROUND_OFF * fmax(fabs(it->report->f), 1.0);
    if (halvings > FEW_HALVINGS || f > it->report->f + hidden) return false;
    const double slope =
        tali_array_dot(it->g_next, it->next, n) - tali_array_dot(it->g_next, it->x, n);
    return slope <= (2.0 * SHARE - 1.0) * promised;
}

// A step along d within the bounds, halved until it is good. `*is_lower`: there is one.
static tal_status step(search *it, bool *is_lower)
{
    const int n = it->problem->n;
    const double size = sqrt(tali_array_dot(it->d, it->d, n));
    const double whole = it->past.num > 0 || !(size > 1.0) ? 1.0 : 1.0 / size;
    *is_lower = false;
    for (int k = 0; k < MOST_HALVINGS; ++k) {
        const double t = ldexp(whole, -k);
        double promised = 0.0, f = 0.0;
        for (int i = 0; i < n; ++i) {
            it->next[i] = within(it, i, it->x[i] + t * it->d[i]);
            promised += it->g[i] * (it->next[i] - it->x[i]);
        }
        const tal_status st = evaluate(it, it->next, &f, it->g_next);
        if (st != TAL_OK) return st;
        if (!isfinite(f) || !tali_finite_all(it->g_next, n)) continue;
        if (!is_good(it, k, promised, f)) continue;
        learn(it);
        memcpy(it->x, it->next, (size_t)n * sizeof *it->x);
        memcpy(it->g, it->g_next, (size_t)n * sizeof *it->g);
        it->report->f = f;
        *is_lower = true;
        return TAL_OK;
    }
    return TAL_OK;
}

static tal_status check(const tal_minimize_problem *problem, const tal_minimize_options *options,
                        const double x[], tal_error *err)
{
    if (problem->n < 0 || options->memory < 1 || options->memory > TAL_MINIMIZE_MEMORY ||
        options->max_iterations < 0 || !(options->tolerance >= 0.0) ||
        !(options->progress >= 0.0)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "n %d, memory %d (1 to %d), max_iterations %d, tolerance %g or progress "
                         "%g is out of range",
                         problem->n, options->memory, TAL_MINIMIZE_MEMORY, options->max_iterations,
                         options->tolerance, options->progress);
    }
    for (int i = 0; i < problem->n; ++i) {
        const double low = problem->low != NULL ? problem->low[i] : (double)-INFINITY;
        const double high = problem->high != NULL ? problem->high[i] : (double)INFINITY;
        if (isfinite(x[i]) && low <= high) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "unknown %d begins at %g and has bounds %g and %g: it must be finite, and "
                         "the bounds in order",
                         i, x[i], low, high);
    }
    return TAL_OK;
}

static tal_status begin(search *it, tal_error *err)
{
    for (int i = 0; i < it->problem->n; ++i) {
        it->x[i] = within(it, i, it->x[i]);
    }
    const tal_status st = evaluate(it, it->x, &it->report->f, it->g);
    if (st != TAL_OK) return TALI_FAIL(err, st, "the function failed at the start");
    if (isfinite(it->report->f) && tali_finite_all(it->g, it->problem->n)) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_NOT_FINITE,
                     "the function or its gradient is not finite at the "
                     "start");
}

// Steps until the gradient is flat or nothing becomes smaller.
static tal_status run(search *it, tal_error *err)
{
    double before = it->report->f;
    for (judge(it); it->report->slope > it->options.tolerance; judge(it)) {
        tal_minimize_report *report = it->report;
        if (report->iterations >= it->options.max_iterations) {
            return TALI_FAIL(err, TAL_ERR_NO_CONVERGENCE,
                             "after %d steps an unknown could still move by %g", report->iterations,
                             report->slope);
        }
        if (report->iterations % WINDOW == 0 && report->iterations > 0) {
            const double enough = it->options.progress * fmax(fabs(report->f), 1.0);
            if (before - report->f < enough) return TAL_OK;
            before = report->f;
        }
        bool is_lower = false;
        find_descent(it);
        const bool was_fresh = it->past.num == 0;
        const tal_status st = step(it, &is_lower);
        if (st != TAL_OK) return TALI_FAIL(err, st, "the function failed within the bounds");
        if (is_lower) {
            ++report->iterations;
        } else if (was_fresh) {
            // round-off of f hides what is left, unless the gradient is wrong
            return TALI_FAIL(err, TAL_ERR_NO_CONVERGENCE,
                             "no step down makes f = %.9g smaller, and an unknown could still move "
                             "by %g: look at the gradient, or ask for a larger tolerance",
                             report->f, report->slope);
        } else {
            it->past.num = 0;
        }
    }
    return TAL_OK;
}

tal_status tal_minimize(const tal_minimize_problem *problem, const tal_minimize_options *options,
                        double x[], double work[], tal_minimize_report *report, tal_error *err)
{
    if (problem == NULL || problem->calc == NULL || x == NULL || work == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the problem, its calc, 'x' or 'work' is NULL");
    }
    tal_minimize_report local;
    if (report == NULL) report = &local;
    *report = (tal_minimize_report){.iterations = 0};
    search it = {.problem = problem, .report = report, .x = x};
    it.options = options != NULL ? *options : tal_minimize_options_default();
    tal_status st = check(problem, &it.options, x, err);
    if (st != TAL_OK) return st;
    const size_t n = (size_t)problem->n, memory = (size_t)it.options.memory;
    it.g = work;
    it.next = it.g + n;
    it.g_next = it.next + n;
    it.d = it.g_next + n;
    double *past = it.d + n;
    it.past = (tali_lbfgs){.n = problem->n,
                           .memory = it.options.memory,
                           .s = past,
                           .y = past + memory * n,
                           .rho = past + 2 * memory * n,
                           .alpha = past + 2 * memory * n + memory};
    st = begin(&it, err);
    return st == TAL_OK ? run(&it, err) : st;
}
