// Least effort: sum w_j |x_j|^p at its least, subject to A x = b and bounds.
//
// The dual problem has no constraints, and as many unknowns as there are equations. For given
// multipliers each x_j has a closed form, p w_j |x_j|^(p - 1) = (A^T lambda)_j, cut off at its
// bounds; the gradient of the dual function is b - A x. Newton's method with a line search makes it
// zero. For p = 2 the gradient is piecewise linear, a step in the right piece lands on the answer,
// and the method is an active-set method that changes any number of bounds at once.
//
// Inside, y_j = w_j^(1/p) x_j, so that all weights are 1, and each row of A has length 1.
//
// Where Newton's matrix is singular, because rows repeat each other or too few x are between their
// bounds, the dual function is flat, and it has no maximum where b cannot be reached. So a little
// of |lambda - anchor|^2 is taken off it, and when that has its maximum, the anchor moves there.
// Each time b - A x shrinks, to zero or to the least possible lack. This is the method of
// multipliers (Chiche and Gilbert, Journal of Convex Analysis 23, 2016, for what it does without a
// solution). Most problems are harmless: for them the anchor moves with each step, which is faster.
#include "array_internal.h"
#include "error_internal.h"

#include "dense/dense_internal.h"

#include <talus/common/effort.h>

#include <float.h>
#include <math.h>
#include <string.h>

// y = 0 counts as this where a slope would be infinite.
static const double LEAST_Y = 1e-8;

// Ends of an interval that are as near as this, relative to their size, are one place.
static const double SAME_PLACE = 1e-6;

// A problem with an anchor is solved when this part of its right-hand side is left.
static const double SOLVED = 1e-9;

// Conditions that fail by no more than this part of what is added up are met.
#define ACCEPTED            1e-10
// Conditions that fail by no more than this may fail by round-off of the multipliers.
#define NEARLY              1e-6
// How strongly the anchor holds, in units of the curvature of a usual dual function: for harmless
// problems, and for the others at first and at least.
#define HARMLESS_HOLD       1e-9
#define FIRST_HOLD          1e-3
#define LEAST_HOLD          1e-12
// The directions in which the lack could shrink are this part of its length, or less.
#define NEAREST             1e-9
#define HARMLESS_ITERATIONS 50
#define MAX_ITERATIONS      1000

// A problem in units in which all weights, and the lengths of all rows, are 1.
typedef struct effort {
    int m, n;
    double p;
    double *A;             // m x n, column-major
    double *b;             // [m]
    double *lower, *upper; // [n]
    double *column_scale;  // [n] y_j / x_j
    double *row_scale;     // [m]
    double *lambda;        // [m]
    double *s;             // [n] A^T lambda
    double *y, *slope;     // [n] and its derivative by s
    double *g, *size;      // [m] b - A y, and the sizes of what is added up
    double *anchor;        // [m] what holds lambda
    double hold;           // how strongly
    double *pull;          // [m] g - hold (lambda - anchor), what Newton's method makes zero
    double *step;          // [m] of lambda
    double *ds;            // [n] of s; also A^T g
    double *H;             // m x m, Newton's matrix
} effort;

size_t tal_effort_work_size(int m, int n)
{
    const size_t rows = m > 0 ? (size_t)m : 0, cols = n > 0 ? (size_t)n : 0;
    return rows * cols + rows * rows + 8 * rows + 7 * cols;
}

static void lay_out(effort *it, double work[])
{
    const size_t m = (size_t)it->m, n = (size_t)it->n;
    double **const rows[] = {&it->b,    &it->row_scale, &it->lambda, &it->g,
                             &it->size, &it->anchor,    &it->pull,   &it->step};
    double **const cols[] = {&it->lower, &it->upper, &it->column_scale, &it->s, &it->y,
                             &it->slope, &it->ds};
    it->A = work;
    it->H = it->A + m * n;
    work = it->H + m * m;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; ++k, work += m) {
        *rows[k] = work;
    }
    for (size_t k = 0; k < sizeof cols / sizeof cols[0]; ++k, work += n) {
        *cols[k] = work;
    }
}

static double *column(const effort *it, int j)
{
    return it->A + (size_t)j * (size_t)it->m;
}

// --- units ---

static void scale_columns(effort *it, const tal_effort_problem *problem)
{
    for (int j = 0; j < it->n; ++j) {
        const double weight = problem->weight != NULL ? problem->weight[j] : 1.0;
        const double scale = it->p == 2.0 ? sqrt(weight) : pow(weight, 1.0 / it->p);
        const double *A = tali_dense_col(problem->A, j);
        it->column_scale[j] = scale;
        it->lower[j] = problem->lower[j] * scale;
        it->upper[j] = problem->upper[j] * scale;
        for (int i = 0; i < it->m; ++i) {
            column(it, j)[i] = A[i] / scale;
        }
    }
}

// The length of a row, without overflow on the way.
static double length_of_row(const effort *it, int i)
{
    double most = 0.0, sum = 0.0;
    for (int j = 0; j < it->n; ++j) {
        most = fmax(most, fabs(column(it, j)[i]));
    }
    for (int j = 0; j < it->n && most > 0.0; ++j) {
        const double part = column(it, j)[i] / most;
        sum += part * part;
    }
    return most * sqrt(sum);
}

static void scale_rows(effort *it, const tal_effort_problem *problem, const double lambda[])
{
    for (int i = 0; i < it->m; ++i) {
        const double length = length_of_row(it, i);
        const double scale = length > 0.0 ? 1.0 / length : 1.0;
        it->row_scale[i] = scale;
        it->b[i] = problem->b[i] * scale;
        it->lambda[i] = isfinite(lambda[i]) ? lambda[i] / scale : 0.0;
        for (int j = 0; j < it->n; ++j) {
            column(it, j)[i] *= scale;
        }
    }
}

// --- the gradient of the dual function ---

// dy/ds at y = 1.
static double usual_slope(const effort *it)
{
    return 1.0 / (it->p * (it->p - 1.0));
}

// The y with p |y|^(p - 1) sign(y) = s.
static double unbounded(const effort *it, double s)
{
    if (it->p == 2.0) return 0.5 * s;
    return copysign(pow(fabs(s) / it->p, 1.0 / (it->p - 1.0)), s);
}

static double within(double y, double lower, double upper)
{
    return fmin(fmax(y, lower), upper);
}

// dy/ds = 1 / (p (p - 1) |y|^(p - 2)); y = 0 counts as LEAST_Y.
static double slope_at(const effort *it, double y)
{
    if (it->p == 2.0) return 0.5;
    return 1.0 / (it->p * (it->p - 1.0) * pow(fmax(fabs(y), LEAST_Y), it->p - 2.0));
}

// g = b - A y, and the sizes of what is added up.
static void find_lack(effort *it)
{
    for (int i = 0; i < it->m; ++i) {
        it->g[i] = it->b[i];
        it->size[i] = fabs(it->b[i]);
    }
    for (int j = 0; j < it->n; ++j) {
        const double *A = column(it, j);
        for (int i = 0; i < it->m; ++i) {
            const double term = A[i] * it->y[j];
            it->g[i] -= term;
            it->size[i] += fabs(term);
        }
    }
}

// y, its slopes, and b - A y for the multipliers.
static void find_gradient(effort *it)
{
    for (int j = 0; j < it->n; ++j) {
        it->s[j] = tali_array_dot(column(it, j), it->lambda, it->m);
        const double y = unbounded(it, it->s[j]);
        it->y[j] = within(y, it->lower[j], it->upper[j]);
        it->slope[j] = it->y[j] == y && it->lower[j] < it->upper[j] ? slope_at(it, y) : 0.0;
    }
    find_lack(it);
}

// The largest error of a row, as a part of what is added up; which row.
static double worst_row(const effort *it, int *row)
{
    double worst = 0.0;
    *row = -1;
    for (int i = 0; i < it->m; ++i) {
        if (it->g[i] == 0.0) continue;
        const double part = fabs(it->g[i]) / it->size[i];
        if (part <= worst) continue;
        *row = i;
        if (!isfinite(part)) return INFINITY;
        worst = part;
    }
    return worst;
}

// Whether no change within the bounds makes the lack g smaller: A^T g leads out of the bounds.
static bool is_nearest(effort *it)
{
    const double length = tali_dense_norm2(it->m, it->g);
    for (int j = 0; j < it->n; ++j) {
        const double *A = column(it, j);
        const double pull = tali_array_dot(A, it->g, it->m);
        const bool is_held = pull > 0.0 ? it->y[j] >= it->upper[j] : it->y[j] <= it->lower[j];
        if (!is_held && fabs(pull) > NEAREST * length * tali_dense_norm2(it->m, A)) return false;
    }
    return true;
}

// How far x_j is from its condition on A^T lambda, as a part of what is added up there.
static double stationarity_of(const effort *it, int j)
{
    const double effort_rate = it->p * copysign(pow(fabs(it->y[j]), it->p - 1.0), it->y[j]);
    const double *A = column(it, j);
    double size = fabs(effort_rate);
    for (int i = 0; i < it->m; ++i) {
        size += fabs(A[i] * it->lambda[i]);
    }
    double error = effort_rate - it->s[j];
    if (it->lower[j] == it->upper[j]) error = 0.0;
    if (it->y[j] == it->lower[j]) error = fmin(error, 0.0);
    if (it->y[j] == it->upper[j]) error = fmax(error, 0.0);
    return size > 0.0 ? fabs(error) / size : 0.0;
}

static double worst_stationarity(const effort *it)
{
    double worst = 0.0;
    for (int j = 0; j < it->n; ++j) {
        worst = fmax(worst, stationarity_of(it, j));
    }
    return worst;
}

// --- Newton's step ---

// H = sum of slope_j A_j A_j^T + hold, lower triangle.
static void find_matrix(effort *it)
{
    const int m = it->m;
    memset(it->H, 0, (size_t)m * (size_t)m * sizeof *it->H);
    for (int j = 0; j < it->n; ++j) {
        if (it->slope[j] == 0.0) continue;
        const double *A = column(it, j);
        for (int k = 0; k < m; ++k) {
            if (A[k] == 0.0) continue;
            double *H = it->H + (size_t)k * (size_t)m;
            tali_dense_axpy(m - k, it->slope[j] * A[k], A + k, H + k);
        }
    }
    for (int i = 0; i < m; ++i) {
        double *H = it->H + (size_t)i * (size_t)m + i;
        *H += it->hold + 8.0 * m * DBL_EPSILON * *H; // positive definite despite round-off
    }
}

static bool find_step(effort *it)
{
    find_matrix(it);
    tal_matrix H = tal_matrix_view(it->H, it->m, it->m);
    memcpy(it->step, it->pull, (size_t)it->m * sizeof *it->step);
    if (tal_chol_factor(H, NULL, NULL) != TAL_OK) return false;
    if (tal_chol_solve(H, tal_matrix_view(it->step, it->m, 1), NULL) != TAL_OK) return false;
    for (int j = 0; j < it->n; ++j) {
        it->ds[j] = tali_array_dot(column(it, j), it->step, it->m);
    }
    return true;
}

// --- how far to go ---

// The derivative of the dual function with its anchor along the step, which falls as t grows.
static double ascent(const effort *it, double t)
{
    double sum = 0.0;
    for (int i = 0; i < it->m; ++i) {
        const double held = it->hold * (it->lambda[i] - it->anchor[i] + t * it->step[i]);
        sum += it->step[i] * (it->b[i] - held);
    }
    for (int j = 0; j < it->n; ++j) {
        const double y = unbounded(it, it->s[j] + t * it->ds[j]);
        sum -= it->ds[j] * within(y, it->lower[j], it->upper[j]);
    }
    return sum;
}

// Where the ascent ends, between 0 and 1, from below: up to there the dual function grows. The
// place may be far nearer to 0 than to 1, so secants take turns with means of orders of magnitude.
static double where_it_ends(const effort *it, double first, double last)
{
    double a = 0.0, fa = first, b = 1.0, fb = last;
    for (int k = 0; k < 100 && fa > 0.1 * first && b > a * (1.0 + SAME_PLACE); ++k) {
        const double mean = a > 0.0 ? sqrt(a * b) : b / 256.0;
        const double t = k % 2 == 0 ? a + (b - a) * (fa / (fa - fb)) : mean;
        const double f = ascent(it, t);
        *(f >= 0.0 ? &a : &b) = t;
        *(f >= 0.0 ? &fa : &fb) = f;
    }
    return a;
}

static double find_length(const effort *it)
{
    const double first = tali_array_dot(it->step, it->pull, it->m), last = ascent(it, 1.0);
    const double t = last < -1e-6 * first ? where_it_ends(it, first, last) : 1.0;
    return t > 0.0 ? t : 1.0; // 0: the ascent is round-off
}

// --- the iteration ---

static bool is_all_zero(const double x[], int n)
{
    return tali_array_largest(x, n) == 0.0;
}

// Without a guess: as if there were no bounds. For p != 2 the multipliers of p = 2 are scaled to
// the mean size of y.
static void start(effort *it)
{
    const double p = it->p;
    it->p = 2.0;
    memset(it->lambda, 0, (size_t)it->m * sizeof *it->lambda);
    find_gradient(it);
    memcpy(it->pull, it->g, (size_t)it->m * sizeof *it->pull);
    for (int j = 0; j < it->n; ++j) {
        it->slope[j] = it->lower[j] < it->upper[j] ? 0.5 : 0.0;
    }
    if (find_step(it)) memcpy(it->lambda, it->step, (size_t)it->m * sizeof *it->lambda);
    find_gradient(it);
    it->p = p;
    if (p == 2.0) return;
    double sum = 0.0;
    for (int j = 0; j < it->n; ++j) {
        sum += fabs(it->y[j]);
    }
    const double mean = fmin(fmax(sum / it->n, 1e-6), 1e6);
    for (int i = 0; i < it->m; ++i) {
        it->lambda[i] *= 0.5 * p * pow(mean, p - 2.0);
    }
}

// The anchor moves to lambda.
static void move_anchor(effort *it)
{
    memcpy(it->anchor, it->lambda, (size_t)it->m * sizeof *it->anchor);
    memcpy(it->pull, it->g, (size_t)it->m * sizeof *it->pull);
}

// What Newton's method makes zero; with that done the anchor moves, and where that helps little it
// holds less from then on.
static void find_pull(effort *it, double error, double *before)
{
    for (int i = 0; i < it->m; ++i) {
        it->pull[i] = it->g[i] - it->hold * (it->lambda[i] - it->anchor[i]);
    }
    const double left = tali_dense_norm2(it->m, it->pull);
    if (left > SOLVED * tali_dense_norm2(it->m, it->g)) return;
    if (error > 0.1 * *before) it->hold = fmax(0.1 * it->hold, LEAST_HOLD * usual_slope(it));
    *before = error;
    move_anchor(it);
}

// Where y is so sensitive to lambda that round-off of A^T lambda shows in A y, the last steps
// change y itself. Whether all conditions are met then; if not, y is as before.
static bool polish(effort *it, tal_effort_report *report)
{
    for (int k = 0; k < 3; ++k) {
        memcpy(it->pull, it->g, (size_t)it->m * sizeof *it->pull);
        if (!find_step(it)) break;
        for (int j = 0; j < it->n; ++j) {
            const double y = it->y[j] + it->slope[j] * it->ds[j];
            it->y[j] = within(y, it->lower[j], it->upper[j]);
        }
        find_lack(it);
    }
    report->residual = worst_row(it, &report->worst);
    if (report->residual <= ACCEPTED && worst_stationarity(it) <= ACCEPTED) return true;
    find_gradient(it);
    return false;
}

// Newton's method until no row fails by more than round-off, or until b proves out of reach.
static tal_status iterate(effort *it, bool is_harmless, tal_effort_report *report)
{
    const double round_off = 4.0 * (it->n + it->m) * DBL_EPSILON;
    const int most = report->iterations + (is_harmless ? HARMLESS_ITERATIONS : MAX_ITERATIONS);
    double last = INFINITY, last_moved = INFINITY;
    it->hold = (is_harmless ? HARMLESS_HOLD : FIRST_HOLD) * usual_slope(it);
    memcpy(it->anchor, it->lambda, (size_t)it->m * sizeof *it->anchor);
    for (;; ++report->iterations) {
        find_gradient(it);
        const double error = worst_row(it, &report->worst);
        report->residual = error;
        if (error <= round_off || (error <= ACCEPTED && !(error < 0.5 * last))) return TAL_OK;
        if (report->iterations == most || !isfinite(error)) break;
        if (!is_harmless && error > ACCEPTED && is_nearest(it)) return TAL_ERR_INFEASIBLE;
        if (error <= NEARLY && !(error < 0.5 * last) && polish(it, report)) return TAL_OK;
        last = error;
        if (is_harmless) {
            move_anchor(it);
        } else {
            find_pull(it, error, &last_moved);
        }
        if (!find_step(it)) break;
        tali_dense_axpy(it->m, find_length(it), it->step, it->lambda);
    }
    return TAL_ERR_NO_CONVERGENCE;
}

// --- the answer ---

// Back to the units of the problem; what is at a bound is there exactly.
static void hand_over(const effort *it, const tal_effort_problem *problem, double lambda[],
                      double x[], double lack[])
{
    for (int j = 0; j < it->n; ++j) {
        x[j] = within(it->y[j] / it->column_scale[j], problem->lower[j], problem->upper[j]);
        if (it->y[j] == it->lower[j]) x[j] = problem->lower[j];
        if (it->y[j] == it->upper[j]) x[j] = problem->upper[j];
    }
    for (int i = 0; i < it->m; ++i) {
        const bool is_met = fabs(it->g[i]) <= ACCEPTED * it->size[i];
        lambda[i] = it->lambda[i] * it->row_scale[i];
        if (lack != NULL) lack[i] = is_met ? 0.0 : it->g[i] / it->row_scale[i];
    }
}

// --- the public call ---

static tal_status check_unknowns(const tal_effort_problem *problem, const char *where,
                                 tal_error *err)
{
    for (int j = 0; j < problem->A.cols; ++j) {
        const double lower = problem->lower[j], upper = problem->upper[j];
        if (!(lower <= upper) || lower > DBL_MAX || upper < -DBL_MAX) {
            return tali_fail(err, TAL_ERR_BAD_VALUE, where,
                             "x[%d] has the bounds %g and %g; the lower one must not be larger", j,
                             lower, upper);
        }
        const double weight = problem->weight != NULL ? problem->weight[j] : 1.0;
        if (!isfinite(weight)) {
            return tali_fail(err, TAL_ERR_NOT_FINITE, where, "weight[%d] is %g", j, weight);
        }
        if (!(weight > 0.0)) {
            return tali_fail(err, TAL_ERR_BAD_VALUE, where,
                             "weight[%d] is %g; it must be positive, or x[%d] is not unique", j,
                             weight, j);
        }
    }
    return TAL_OK;
}

// Sizes and pointers, then numbers, each complaint with its row or column.
static tal_status check_problem(const tal_effort_problem *problem, const double lambda[],
                                const double x[], const double work[], tal_error *err)
{
    static const char *const where = "tal_effort_solve";
    if (problem == NULL) return tali_breach(TAL_ERR_NULL, where, "the problem is NULL");
    const tal_status st = tali_dense_check_matrix(problem->A, "A", where);
    if (st != TAL_OK) return st;
    const int m = problem->A.rows, n = problem->A.cols;
    const bool no_rows = m > 0 && (problem->b == NULL || lambda == NULL);
    const bool no_cols = n > 0 && (problem->lower == NULL || problem->upper == NULL || x == NULL);
    if (no_rows || no_cols || (m + n > 0 && work == NULL)) {
        return tali_breach(TAL_ERR_NULL, where,
                           "an array of the problem, of the answer or of the workspace is NULL");
    }
    const tal_status finite = tali_dense_check_finite(problem->A, "A", where, err);
    if (finite != TAL_OK) return finite;
    for (int i = 0; i < m; ++i) {
        if (isfinite(problem->b[i])) continue;
        return tali_fail(err, TAL_ERR_NOT_FINITE, where, "b[%d] is %g", i, problem->b[i]);
    }
    if (!(problem->exponent >= 1.25 && problem->exponent <= 10.0)) {
        return tali_fail(err, TAL_ERR_BAD_VALUE, where,
                         "the exponent is %g; it must be from 1.25 to 10", problem->exponent);
    }
    return check_unknowns(problem, where, err);
}

// Whether a run ended well is decided by its answer.
static tal_status judge(const effort *it, tal_status st, tal_effort_report *report, tal_error *err)
{
    report->stationarity = worst_stationarity(it);
    if (st == TAL_ERR_INFEASIBLE) {
        return TALI_FAIL(err, st, "no x within the bounds gives b; row %d lacks %g of %g",
                         report->worst, it->g[report->worst] / it->row_scale[report->worst],
                         it->b[report->worst] / it->row_scale[report->worst]);
    }
    if (st == TAL_OK && report->stationarity <= ACCEPTED) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_NO_CONVERGENCE,
                     "after %d iterations row %d fails by %g of the sum of its terms, and the best "
                     "effort by %g",
                     report->iterations, report->worst, report->residual, report->stationarity);
}

tal_status tal_effort_solve(const tal_effort_problem *problem, double lambda[], double x[],
                            double lack[], double work[], tal_effort_report *report, tal_error *err)
{
    const tal_status checked = check_problem(problem, lambda, x, work, err);
    if (checked != TAL_OK) return checked;
    tal_effort_report unread;
    if (report == NULL) report = &unread;
    *report = (tal_effort_report){.worst = -1};
    if (problem->A.rows + problem->A.cols == 0) return TAL_OK;

    effort it = {.m = problem->A.rows, .n = problem->A.cols, .p = problem->exponent};
    lay_out(&it, work);
    scale_columns(&it, problem);
    scale_rows(&it, problem, lambda);
    it.hold = HARMLESS_HOLD;
    if (is_all_zero(it.lambda, it.m)) start(&it);
    tal_status st = iterate(&it, true, report);
    if (st != TAL_OK) {
        start(&it);
        st = iterate(&it, false, report);
    }
    hand_over(&it, problem, lambda, x, lack);
    return judge(&it, st, report, err);
}
