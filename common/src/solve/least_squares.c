// Nonlinear least squares within bounds, by the method of Levenberg and Marquardt.
#include "array_internal.h"
#include "error_internal.h"

#include <talus/common/least_squares.h>

#include <float.h>
#include <math.h>
#include <string.h>

// Damping: where it begins, the least that is not none, and where a search gives up.
static const double FIRST_DAMPING = 1e-3, LEAST_DAMPING = 1e-6, MOST_DAMPING = 1e10;

// A pivot of J^T J below this part of its column says that the data do not tell.
static const double UNKNOWN = 1e-12;

/// A search.
typedef struct search {
    const tal_least_squares *problem;
    tal_least_squares_options options;
    tal_least_squares_report report;
    int n, m;
    double *x;          // [n] the caller's
    double *trial;      // [n]
    double *r;          // [m] at x, or at the trial
    double *J;          // [m][n] in units of the unknowns, by columns
    double *H, *factor; // [n][n]
    double *g, *step;   // [n]
    int num_free;
    double cost;
} search;

tal_least_squares_options tal_least_squares_options_default(void)
{
    return (tal_least_squares_options){.tolerance = 1e-8, .max_iterations = 50};
}

size_t tal_least_squares_work_size(int n, int m)
{
    if (n < 0 || m < 0) return 0;
    const size_t a = (size_t)n, b = (size_t)m;
    return b + b * a + 2 * a * a + 3 * a;
}

// --- the problem ---

static double scale_of(const search *it, int j)
{
    return it->problem->scale != NULL ? it->problem->scale[j] : 1.0;
}

static double lower_of(const search *it, int j)
{
    return it->problem->lower != NULL ? it->problem->lower[j] : -(double)INFINITY;
}

static double upper_of(const search *it, int j)
{
    return it->problem->upper != NULL ? it->problem->upper[j] : (double)INFINITY;
}

// Sizes, options, scales, bounds, and where to begin.
static tal_status check(const search *it, tal_error *err)
{
    if (it->problem->calc == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "calc is NULL");
    if (it->n < 1 || it->m < 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there are %d unknowns and %d residuals", it->n,
                         it->m);
    }
    if (!(it->options.tolerance > 0.0) || it->options.max_iterations < 1) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "tolerance %g and max_iterations %d must be positive",
                         it->options.tolerance, it->options.max_iterations);
    }
    for (int j = 0; j < it->n; ++j) {
        const double scale = scale_of(it, j), low = lower_of(it, j), high = upper_of(it, j);
        if (!(scale > 0.0) || !isfinite(scale)) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "the scale of unknown %d is %g", j, scale);
        }
        if (!(low <= high)) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "unknown %d is to be above %g and below %g", j,
                             low, high);
        }
        if (isfinite(it->x[j])) continue;
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "unknown %d begins at %g", j, it->x[j]);
    }
    return TAL_OK;
}

// Half the sum of squares; infinite where it cannot be computed. Other failures end the search.
static tal_status calc_cost(search *it, const double x[], bool with_J, double *cost)
{
    const tal_matrix J =
        with_J ? tal_matrix_view(it->J, it->m, it->n) : (tal_matrix){NULL, 0, 0, 1};
    const tal_status st = it->problem->calc(it->problem->self, x, it->r, J);
    ++it->report.evaluations;
    *cost = (double)INFINITY;
    if (st == TAL_ERR_NOT_FINITE || st == TAL_RETRY) return TAL_OK;
    if (st != TAL_OK) return st;
    double sum = 0.0;
    for (int i = 0; i < it->m; ++i) {
        sum += 0.5 * it->r[i] * it->r[i];
    }
    if (isfinite(sum)) *cost = sum;
    return TAL_OK;
}

// --- one step ---

static double *column(const search *it, int j)
{
    return it->J + (size_t)j * (size_t)it->m;
}

static double dot(const double a[], const double b[], int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

// J in units of the unknowns, H = J^T J and g = J^T r. Unknowns at a bound beyond which r would get
// smaller are held: their rows are those of the unit matrix.
static void form_normal_equations(search *it)
{
    for (int j = 0; j < it->n; ++j) {
        double *const J_j = column(it, j);
        for (int i = 0; i < it->m; ++i) {
            J_j[i] *= scale_of(it, j);
        }
        it->g[j] = dot(J_j, it->r, it->m);
    }
    it->num_free = 0;
    for (int j = 0; j < it->n; ++j) {
        const bool is_held = (it->x[j] <= lower_of(it, j) && it->g[j] >= 0.0) ||
                             (it->x[j] >= upper_of(it, j) && it->g[j] <= 0.0);
        if (is_held) memset(column(it, j), 0, (size_t)it->m * sizeof(double));
        if (is_held) it->g[j] = 0.0;
        it->num_free += !is_held;
    }
    it->report.num_held = it->n - it->num_free;
    for (int j = 0; j < it->n; ++j) {
        for (int k = 0; k < it->n; ++k) {
            it->H[(size_t)j * (size_t)it->n + (size_t)k] = dot(column(it, j), column(it, k), it->m);
        }
    }
}

static double *diagonal(double A[], int n, int j)
{
    return &A[(size_t)j * ((size_t)n + 1)];
}

// (H + damping D) step = -g. False when that is singular.
static bool solve_damped(search *it, double damping)
{
    memcpy(it->factor, it->H, (size_t)it->n * (size_t)it->n * sizeof *it->H);
    for (int j = 0; j < it->n; ++j) {
        double *const at = diagonal(it->factor, it->n, j);
        *at = *at > 0.0 ? *at * (1.0 + damping) : 1.0; // regular where nothing depends on it
        it->step[j] = -it->g[j];
    }
    const tal_matrix factor = tal_matrix_view(it->factor, it->n, it->n);
    if (tal_chol_factor(factor, NULL, NULL) != TAL_OK) return false;
    return tal_chol_solve(factor, tal_matrix_view(it->step, it->n, 1), NULL) == TAL_OK;
}

// Where the step leads within the bounds; the length of what is left of it, in units.
static double move(search *it)
{
    double length = 0.0;
    for (int j = 0; j < it->n; ++j) {
        const double wanted = it->x[j] + scale_of(it, j) * it->step[j];
        it->trial[j] = fmin(fmax(wanted, lower_of(it, j)), upper_of(it, j));
        length = fmax(length, fabs(it->trial[j] - it->x[j]) / scale_of(it, j));
    }
    return length;
}

// Damping grows until a step makes the cost smaller, or until steps are too short to matter.
static tal_status take_step(search *it, double *damping, bool *done)
{
    form_normal_equations(it);
    *done = it->num_free == 0;
    // NOLINTNEXTLINE(cert-flp30-c): bounded, 1e-6 times a power of ten
    for (; *damping < MOST_DAMPING && !*done; *damping = fmax(10.0 * *damping, LEAST_DAMPING)) {
        if (!solve_damped(it, *damping)) continue;
        *done = move(it) <= it->options.tolerance;
        double reached = 0.0;
        const tal_status st = calc_cost(it, it->trial, false, &reached);
        if (st != TAL_OK) return st;
        if (!(reached < it->cost)) continue;
        memcpy(it->x, it->trial, (size_t)it->n * sizeof *it->x);
        it->cost = reached;
        *damping *= 0.1;
        return TAL_OK;
    }
    *done = true; // no direction is better: a minimum to within round-off
    return TAL_OK;
}

// --- what is known of the answer ---

static bool is_at_bound(const search *it, int j)
{
    return it->x[j] <= lower_of(it, j) || it->x[j] >= upper_of(it, j);
}

// H with columns of unit length in `factor`, their lengths in `trial`. A column of zeros is one of
// the unit matrix.
static void normalize(search *it)
{
    const size_t n = (size_t)it->n;
    for (int j = 0; j < it->n; ++j) {
        it->trial[j] = sqrt(*diagonal(it->H, it->n, j));
    }
    for (size_t j = 0; j < n; ++j) {
        for (size_t k = 0; k < n; ++k) {
            const double size = it->trial[j] * it->trial[k];
            it->factor[j * n + k] = size > 0.0 ? it->H[j * n + k] / size : j == k ? 1.0 : 0.0;
        }
    }
}

// What the data tell of each unknown: pivots, and the diagonal of the inverse of H.
static void find_errors(search *it, double errors[])
{
    const int n = it->n, rest = it->m - it->num_free;
    const double variance = rest > 0 ? 2.0 * it->cost / rest : (double)NAN;
    normalize(it);
    const tal_matrix factor = tal_matrix_view(it->factor, n, n);
    const bool is_regular = tal_chol_factor(factor, NULL, NULL) == TAL_OK;
    it->report.least_pivot = is_regular ? 1.0 : 0.0;
    for (int j = 0; j < n && is_regular; ++j) {
        const double pivot = *diagonal(it->factor, n, j);
        const bool is_unseen = it->trial[j] == 0.0 && !is_at_bound(it, j);
        it->report.least_pivot = fmin(it->report.least_pivot, is_unseen ? 0.0 : pivot * pivot);
    }
    for (int j = 0; j < n && errors != NULL; ++j) {
        memset(it->step, 0, (size_t)n * sizeof *it->step);
        it->step[j] = 1.0;
        errors[j] = it->trial[j] == 0.0 && is_at_bound(it, j) ? 0.0 : (double)NAN;
        if (it->trial[j] == 0.0 || it->report.least_pivot < UNKNOWN) continue;
        const tal_status st = tal_chol_solve(factor, tal_matrix_view(it->step, n, 1), NULL);
        if (st != TAL_OK) continue;
        errors[j] = scale_of(it, j) * sqrt(variance * it->step[j]) / it->trial[j];
    }
}

static search search_of(const tal_least_squares *problem, const tal_least_squares_options *options,
                        double x[], double work[])
{
    search it = {.problem = problem, .n = problem->num_unknowns, .m = problem->num_residuals};
    it.options = options != NULL ? *options : tal_least_squares_options_default();
    if (it.n < 1 || it.m < 0) return it;
    const size_t n = (size_t)it.n, m = (size_t)it.m;
    it.x = x;
    it.r = work;
    it.J = it.r + m;
    it.H = it.J + m * n;
    it.factor = it.H + n * n;
    it.g = it.factor + n * n;
    it.step = it.g + n;
    it.trial = it.step + n;
    return it;
}

// Iterates until it is done; the derivatives at the answer are left in J.
static tal_status iterate(search *it, tal_error *err)
{
    double damping = FIRST_DAMPING;
    bool done = false;
    tal_status st = TAL_OK;
    for (int k = 0; k <= it->options.max_iterations && st == TAL_OK; ++k) {
        st = calc_cost(it, it->x, true, &it->cost);
        if (k == 0) it->report.cost_before = it->cost;
        if (st != TAL_OK) return st;
        if (!isfinite(it->cost)) {
            return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "residuals cannot be computed at x_0 = %g",
                             it->x[0]);
        }
        if (done || k == it->options.max_iterations) {
            form_normal_equations(it);
            break;
        }
        ++it->report.iterations;
        st = take_step(it, &damping, &done);
    }
    if (st != TAL_OK || done) return st;
    return TALI_FAIL(err, TAL_ERR_NO_CONVERGENCE,
                     "%d iterations were not enough: half the sum of squares went from %g to %g",
                     it->options.max_iterations, it->report.cost_before, it->cost);
}

tal_status tal_least_squares_solve(const tal_least_squares *problem,
                                   const tal_least_squares_options *options, double x[],
                                   double errors[], double work[], tal_least_squares_report *report,
                                   tal_error *err)
{
    if (problem == NULL || x == NULL || work == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the problem, x or work is NULL");
    }
    search it = search_of(problem, options, x, work);
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    tal_status st = check(&it, err);
    if (st != TAL_OK) return st;
    for (int j = 0; j < it.n; ++j) {
        x[j] = fmin(fmax(x[j], lower_of(&it, j)), upper_of(&it, j));
    }
    st = iterate(&it, err);
    if (st == TAL_OK || st == TAL_ERR_NO_CONVERGENCE) find_errors(&it, errors);
    it.report.cost = it.cost;
    if (report != NULL) *report = it.report;
    return st;
}
