// Complementarity problems with bounds: checks, sharing of forces that are not unique, answers.
// The method is in active_set.c.
#include "array_internal.h"
#include "error_internal.h"

#include "solve/active_set_internal.h"

#include <math.h>
#include <string.h>

// The compliance of the first guess at how to share, as a part of the mean diagonal of A.
#define COMPLIANCE 1e-4

size_t tal_bounded_work_size(int n)
{
    const size_t m = n > 0 ? (size_t)n : 0;
    return 3 * m * m + 12 * m + tal_pchol_work_size(n);
}

size_t tal_bounded_iwork_size(int n)
{
    return n > 0 ? 3 * (size_t)n : 0;
}

static double scale_of(const tali_active_set *set, int i)
{
    return set->s[i] > 0.0 ? set->s[i] : 1.0;
}

static double within(double x, double lower, double upper)
{
    return fmin(fmax(x, lower), upper);
}

// z as the problem measures it; what is at a bound is there exactly.
static void unscale(const tali_active_set *set, const tal_bounded_problem *problem, double z[])
{
    for (int i = 0; i < set->n; ++i) {
        z[i] = within(set->z[i] * scale_of(set, i), problem->lower[i], problem->upper[i]);
        if (set->place[i] == TALI_AT_LOWER) z[i] = problem->lower[i];
        if (set->place[i] == TALI_AT_UPPER) z[i] = problem->upper[i];
    }
}

// What row i violates at the values that z has, whatever its place is.
static double violation_of_values(const tali_active_set *set, int i)
{
    if (set->lower[i] == set->upper[i]) return 0.0;
    if (set->z[i] <= set->lower[i]) return fmax(0.0, -set->w[i]);
    if (set->z[i] >= set->upper[i]) return fmax(0.0, set->w[i]);
    return fabs(set->w[i]);
}

// The largest violation of z, given without scales, in the exact problem.
static void check_values(tali_active_set *set, const tal_bounded_problem *problem, const double z[],
                         tal_complementarity_report *report)
{
    tali_active_set_fill(set, problem, 0.0);
    for (int i = 0; i < set->n; ++i) {
        set->z[i] = z[i] / scale_of(set, i);
    }
    tali_active_set_find_w(set);
    const double size = tali_active_set_size(set);
    report->worst = -1;
    report->residual = 0.0;
    for (int i = 0; i < set->n; ++i) {
        const double part = size > 0.0 ? violation_of_values(set, i) / size : 0.0;
        if (part > report->residual) {
            report->residual = part;
            report->worst = i;
        }
    }
}

// --- sharing ---

// Rows with w = 0 that others of that kind imply. The factor grows by those that are not.
static int count_dependent(tali_active_set *set)
{
    const double accepted = TALI_ACTIVE_ACCEPTED * tali_active_set_size(set);
    int count = 0;
    for (int i = 0; i < set->n; ++i) {
        const bool met = set->s[i] > 0.0 && fabs(set->w[i]) <= accepted;
        if (!met || set->place[i] == TALI_BETWEEN) continue;
        const double pivot = tali_active_set_pivot(set, i);
        if (pivot <= tali_active_set_least_pivot(set)) {
            ++count;
        } else {
            tali_active_set_append(set, i, pivot);
        }
    }
    return count;
}

static double mean_diagonal(const tal_bounded_problem *problem)
{
    double sum = 0.0;
    for (int i = 0; i < problem->A.rows; ++i) {
        sum += tali_dense_col(problem->A, i)[i];
    }
    return sum / problem->A.rows;
}

// Memory for the shortest forces of some rows.
typedef struct shortest {
    tal_matrix A;     // rows x rows of those rows, n x n at most
    double *work;     // of the factorization
    int *perm;        // likewise
    int *rows;        // which rows
    double *solution; // of those rows
    int num;
} shortest;

// The shortest z of the listed rows for which w = 0 there; the others stay where they are.
static tal_status find_shortest(const tal_bounded_problem *problem, const double z[], shortest *s)
{
    s->A = tal_matrix_view(s->A.data, s->num, s->num);
    for (int j = 0; j < s->num; ++j) {
        s->solution[j] = -problem->b[s->rows[j]];
        for (int i = 0; i < s->num; ++i) {
            tali_dense_col(s->A, j)[i] = tali_lcp_symmetric(problem->A, s->rows[i], s->rows[j]);
        }
        for (int i = 0; i < problem->A.rows; ++i) {
            s->solution[j] -= tali_lcp_symmetric(problem->A, s->rows[j], i) * z[i];
        }
    }
    tal_pchol factor;
    const double tolerance =
        64.0 * s->num * DBL_EPSILON * tali_array_largest_diagonal(s->A.data, s->A.rows, s->A.ld);
    tal_status st = tal_pchol_factor(&factor, s->A, tolerance, s->work, s->perm, NULL);
    if (st != TAL_OK) return st;
    return tal_pchol_solve_min_norm(&factor, tal_matrix_view(s->solution, s->num, 1), NULL);
}

// The position in the list of the row that is furthest outside its bounds; -1 when none is.
static int worst_outside(const tal_bounded_problem *problem, const shortest *s)
{
    const double size = tali_array_largest(s->solution, s->num);
    double most = 64.0 * s->num * DBL_EPSILON * size;
    int worst = -1;
    for (int k = 0; k < s->num; ++k) {
        const int row = s->rows[k];
        const double outside =
            fmax(problem->lower[row] - s->solution[k], s->solution[k] - problem->upper[row]);
        if (outside > most) {
            most = outside;
            worst = k;
        }
    }
    return worst;
}

// A tiny compliance makes the forces unique and tells which rows push; of those the shortest
// forces without it. A row that would pull then does not take part.
static bool share(tali_active_set *set, const tal_bounded_problem *problem, shortest *s, double z[])
{
    int last;
    tali_active_set_fill(set, problem, COMPLIANCE * mean_diagonal(problem));
    if (tali_active_set_run(set, z, &last) != TAL_OK) return false;
    unscale(set, problem, z);
    s->num = 0;
    for (int i = 0; i < set->n; ++i) {
        if (set->place[i] != TALI_BETWEEN && !tali_active_set_is_bilateral(set, i)) continue;
        s->rows[s->num++] = i;
        z[i] = 0.0;
    }
    for (;;) {
        if (find_shortest(problem, z, s) != TAL_OK) return false;
        const int k = worst_outside(problem, s);
        if (k < 0) break;
        const int row = s->rows[k];
        z[row] = within(s->solution[k], problem->lower[row], problem->upper[row]);
        s->rows[k] = s->rows[--s->num];
    }
    for (int k = 0; k < s->num; ++k) {
        const int row = s->rows[k];
        z[row] = within(s->solution[k], problem->lower[row], problem->upper[row]);
    }
    return true;
}

// --- the public call ---

// Sizes and pointers, then numbers, each complaint with its row.
static tal_status check_problem(const tal_bounded_problem *problem, const double z[],
                                const double w[], const double work[], const int iwork[],
                                tal_error *err)
{
    static const char *const where = "tal_bounded_solve";
    if (problem == NULL) return tali_breach(TAL_ERR_NULL, where, "the problem is NULL");
    tal_status st = tali_dense_check_square(problem->A, "A", where);
    if (st != TAL_OK) return st;
    const int n = problem->A.rows;
    if (n == 0) return TAL_OK;
    if (problem->b == NULL || problem->lower == NULL || problem->upper == NULL || z == NULL ||
        w == NULL || work == NULL || iwork == NULL) {
        return tali_breach(TAL_ERR_NULL, where,
                           "an array of the problem, of the answer or of the workspace is NULL");
    }
    st = tali_dense_check_finite_lower(problem->A, "A", where, err);
    if (st != TAL_OK) return st;
    for (int i = 0; i < n; ++i) {
        if (!isfinite(problem->b[i])) {
            return tali_fail(err, TAL_ERR_NOT_FINITE, where, "b[%d] is %g", i, problem->b[i]);
        }
        if (!(problem->lower[i] <= problem->upper[i]) || problem->lower[i] > DBL_MAX ||
            problem->upper[i] < -DBL_MAX) {
            return tali_fail(err, TAL_ERR_BAD_VALUE, where,
                             "row %d has the bounds %g and %g; the lower one must not be larger", i,
                             problem->lower[i], problem->upper[i]);
        }
        if (tali_dense_col(problem->A, i)[i] < 0.0) {
            return tali_fail(err, TAL_ERR_BAD_VALUE, where,
                             "A[%d][%d] is %g; A is not positive semidefinite", i, i,
                             tali_dense_col(problem->A, i)[i]);
        }
    }
    return TAL_OK;
}

// Arrays out of the workspace.
static void lay_out(tali_active_set *set, shortest *s, double **kept, int n, double work[],
                    int iwork[])
{
    const size_t m = (size_t)n;
    *set = (tali_active_set){.n = n, .place = iwork, .order = iwork + m};
    double **const squares[] = {&set->A, &set->L, &s->A.data};
    double **const vectors[] = {&set->b,      &set->lower, &set->upper, &set->s,
                                &set->z,      &set->w,     &set->size,  &set->step,
                                &set->column, kept,        &s->solution};
    for (size_t k = 0; k < sizeof squares / sizeof squares[0]; ++k, work += m * m) {
        *squares[k] = work;
    }
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; ++k, work += m) {
        *vectors[k] = work;
    }
    s->work = work;
    s->perm = iwork + 2 * m;
    s->rows = iwork + m; // the order of the rows between is no longer needed then
}

// y in the place of z: along it nothing changes but b^T z, which falls without end.
static void write_certificate(const tali_active_set *set, int last, double y[])
{
    memset(y, 0, (size_t)set->n * sizeof *y);
    y[last] = (set->w[last] < 0.0 ? 1.0 : -1.0) * scale_of(set, last);
    for (int k = 0; k < set->num_between; ++k) {
        const int row = set->order[k];
        y[row] = set->step[k] * scale_of(set, row);
    }
}

tal_status tal_bounded_solve(const tal_bounded_problem *problem, double z[], double w[],
                             double work[], int iwork[], tal_complementarity_report *report,
                             tal_error *err)
{
    const tal_status checked = check_problem(problem, z, w, work, iwork, err);
    if (checked != TAL_OK) return checked;
    tal_complementarity_report unread;
    if (report == NULL) report = &unread;
    *report = (tal_complementarity_report){.worst = -1};
    if (problem->A.rows == 0) return TAL_OK;

    tali_active_set set;
    shortest s;
    double *kept;
    int last = 0;
    lay_out(&set, &s, &kept, problem->A.rows, work, iwork);
    tali_active_set_fill(&set, problem, 0.0);
    const tal_status st = tali_active_set_run(&set, z, &last);
    report->pivots = set.pivots;
    if (st == TAL_ERR_INFEASIBLE) {
        write_certificate(&set, last, z);
        return TALI_FAIL(err, st, "row %d cannot be met: %d rows contradict each other", last,
                         set.num_between + 1);
    }
    unscale(&set, problem, z);
    report->dependent = count_dependent(&set);
    if (st == TAL_OK && problem->share && report->dependent > 0) {
        memcpy(kept, z, (size_t)set.n * sizeof *kept);
        report->shared = share(&set, problem, &s, z);
        check_values(&set, problem, z, report);
        report->shared = report->shared && report->residual <= TALI_ACTIVE_ACCEPTED;
        if (!report->shared) memcpy(z, kept, (size_t)set.n * sizeof *z);
    }
    check_values(&set, problem, z, report);
    for (int i = 0; i < set.n; ++i) {
        w[i] = set.w[i] / scale_of(&set, i);
    }
    if (!(report->residual <= TALI_ACTIVE_ACCEPTED)) {
        return TALI_FAIL(err, TAL_ERR_NO_CONVERGENCE,
                         "after %d pivots row %d is violated by %g of the sum of its terms",
                         report->pivots, report->worst, report->residual);
    }
    return TAL_OK;
}
