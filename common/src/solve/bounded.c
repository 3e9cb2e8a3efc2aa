// Complementarity problems with bounds and a symmetric positive semidefinite matrix: an active-set
// method for the least of z^T A z / 2 + b^T z within the bounds.
//
// Rows are "between" (w = 0, z free) or at a bound. The rows between are kept so that their part of
// A is regular, and its Cholesky factor is updated as they change. A row that would make it
// singular is moved along the null vector instead, until another row meets a bound; if none does,
// the null vector is a certificate.
//
// Source: Lawson and Hanson, Solving Least Squares Problems, chapter 23, and Nocedal and Wright,
// Numerical Optimization, section 16.5; the treatment of singular A is ours.
#include "error_internal.h"

#include "dense/dense_internal.h"
#include "solve/lcp_internal.h"

#include <talus/common/complementarity.h>

#include <float.h>
#include <math.h>
#include <string.h>

// Violations up to this part of what is added up in a row count as met. Contradictions among
// rows that depend on each other are of the size of constraint errors, not of round-off.
#define ACCEPTED   1e-8
// Violations up to this part in a row that others imply are round-off of the others.
#define NEGLIGIBLE 1e-12
// The compliance of the first guess at how to share, as a part of the mean diagonal of A.
#define COMPLIANCE 1e-4

typedef enum row_place {
    AT_LOWER,
    AT_UPPER,
    BETWEEN,
    LEFT_OUT
} row_place;

// The problem with rows and columns scaled to a unit diagonal, and what is known of its solution.
// Scaled: A_ij s_i s_j, b_i s_i, z_i / s_i.
typedef struct active_set {
    int n;
    double *A, *b, *lower, *upper; // scaled; A is full, column-major
    double *s;                     // scales, 0 for a row that nothing moves
    double *z, *w;                 // scaled
    double *size;                  // sum of |A_ij z_j| + |b_i|: what round-off is a part of
    double *L;                     // n x n row by row: the factor of the rows between
    double *step, *column;         // n each
    int *place;                    // row_place of each row
    int *order;                    // rows between, in the order of L
    int num_between;
    int pivots;
} active_set;

size_t tal_bounded_work_size(int n)
{
    const size_t m = n > 0 ? (size_t)n : 0;
    return 3 * m * m + 12 * m + tal_pchol_work_size(n);
}

size_t tal_bounded_iwork_size(int n)
{
    return n > 0 ? 3 * (size_t)n : 0;
}

// --- the factor of the rows between ---

static double *factor_row(const active_set *set, int k)
{
    return set->L + (size_t)k * (size_t)set->n;
}

// x = L^-1 x for the rows between.
static void solve_down(const active_set *set, double x[])
{
    for (int k = 0; k < set->num_between; ++k) {
        const double *L = factor_row(set, k);
        x[k] = (x[k] - tali_array_dot(L, x, k)) / L[k];
    }
}

// x = L^-T x
static void solve_up(const active_set *set, double x[])
{
    for (int k = set->num_between - 1; k >= 0; --k) {
        const double *L = factor_row(set, k);
        x[k] /= L[k];
        tali_dense_axpy(k, -x[k], L, x);
    }
}

// The entries of column i in the rows between, and L^-1 of them: the new row of the factor but for
// its pivot, which is returned squared.
static double pivot_of(active_set *set, int i)
{
    const double *A = set->A + (size_t)i * (size_t)set->n;
    for (int k = 0; k < set->num_between; ++k) {
        set->column[k] = A[set->order[k]];
    }
    solve_down(set, set->column);
    return A[i] - tali_array_dot(set->column, set->column, set->num_between);
}

static void append(active_set *set, int i, double pivot)
{
    const int k = set->num_between++;
    double *L = factor_row(set, k);
    memcpy(L, set->column, (size_t)k * sizeof *L);
    L[k] = sqrt(pivot);
    set->order[k] = i;
    set->place[i] = BETWEEN;
}

// Take row k out of the factor: the rows below move up, and plane rotations of neighboring columns
// make the factor triangular again.
static void drop(active_set *set, int k, row_place place)
{
    set->place[set->order[k]] = (int)place;
    --set->num_between;
    for (int r = k; r < set->num_between; ++r) {
        set->order[r] = set->order[r + 1];
        memcpy(factor_row(set, r), factor_row(set, r + 1), (size_t)(r + 2) * sizeof(double));
    }
    for (int c = k; c < set->num_between; ++c) {
        double *L = factor_row(set, c);
        const double length = hypot(L[c], L[c + 1]);
        const double cosine = L[c] / length, sine = L[c + 1] / length;
        for (int r = c; r < set->num_between; ++r) {
            L = factor_row(set, r);
            const double left = L[c];
            L[c] = cosine * left + sine * L[c + 1];
            L[c + 1] = cosine * L[c + 1] - sine * left;
        }
        if (factor_row(set, c)[c] < 0.0) {
            for (int r = c; r < set->num_between; ++r) {
                factor_row(set, r)[c] = -factor_row(set, r)[c];
            }
        }
    }
}

// --- values ---

// w = A z + b, and the sizes of what is added up.
static void find_w(active_set *set)
{
    memcpy(set->w, set->b, (size_t)set->n * sizeof *set->w);
    for (int i = 0; i < set->n; ++i) {
        set->size[i] = fabs(set->b[i]);
    }
    for (int j = 0; j < set->n; ++j) {
        if (set->z[j] == 0.0) continue;
        const double *A = set->A + (size_t)j * (size_t)set->n;
        for (int i = 0; i < set->n; ++i) {
            const double term = A[i] * set->z[j];
            set->w[i] += term;
            set->size[i] += fabs(term);
        }
    }
}

// What the sizes of a row are at most: with a unit diagonal no entry of A is larger than 1.
static double largest_size(const active_set *set)
{
    return tali_array_largest(set->size, set->n);
}

// How far row i is from what its place asks of w; 0 when it is met.
static double violation(const active_set *set, int i)
{
    switch ((row_place)set->place[i]) {
    case AT_LOWER:
        return set->lower[i] < set->upper[i] ? fmax(0.0, -set->w[i]) : 0.0;
    case AT_UPPER:
        return set->lower[i] < set->upper[i] ? fmax(0.0, set->w[i]) : 0.0;
    case BETWEEN:
    case LEFT_OUT:
        break;
    }
    return fabs(set->w[i]);
}

// Move the rows between by t step[k] and row `extra` by t (none: -1).
static void move(active_set *set, double t, int extra, double extra_step)
{
    for (int k = 0; k < set->num_between; ++k) {
        set->z[set->order[k]] += t * set->step[k];
    }
    if (extra >= 0) set->z[extra] += t * extra_step;
}

// How far z may go along `speed` before it meets a bound, and which one.
static double room_of(double z, double lower, double upper, double speed, row_place *bound)
{
    *bound = speed < 0.0 ? AT_LOWER : AT_UPPER;
    if (speed == 0.0) return INFINITY;
    return fmax(0.0, ((speed < 0.0 ? lower : upper) - z) / speed);
}

typedef struct blocker {
    double t;        // how far the step goes
    int k;           // which of the rows between stops it: num_between for the extra one, -1 none
    row_place bound; // where it is then
} blocker;

// The first bound along the step. Of several the one with the lowest row, so that nothing depends
// on the order in which rows entered.
static blocker first_bound(const active_set *set, double most, int extra, double extra_step)
{
    blocker first = {most, -1, AT_LOWER};
    int first_row = set->n;
    for (int k = 0; k < set->num_between + (extra >= 0); ++k) {
        const int row = k < set->num_between ? set->order[k] : extra;
        const double speed = k < set->num_between ? set->step[k] : extra_step;
        row_place bound;
        const double t = room_of(set->z[row], set->lower[row], set->upper[row], speed, &bound);
        if (t < first.t || (t == first.t && t < most && row < first_row)) {
            first = (blocker){t, k, bound};
            first_row = row;
        }
    }
    return first;
}

static void put_at_bound(active_set *set, int row, row_place bound)
{
    set->z[row] = bound == AT_LOWER ? set->lower[row] : set->upper[row];
    set->place[row] = (int)bound;
}

// --- one row comes in ---

// Row i is implied by the rows between: with step = -L^-T column, [step; 1] is a null vector of
// their part of A. Go along it until a row meets a bound, and return that row. -1 when none does:
// what is moved along is then a certificate, in `step`.
static int slide_along_null(active_set *set, int i)
{
    const double sense = set->w[i] < 0.0 ? 1.0 : -1.0;
    for (int k = 0; k < set->num_between; ++k) {
        set->step[k] = -sense * set->column[k];
    }
    solve_up(set, set->step);
    const blocker first = first_bound(set, INFINITY, i, sense);
    if (first.k < 0) return -1;
    move(set, first.t, i, sense);
    const int row = first.k < set->num_between ? set->order[first.k] : i;
    if (first.k < set->num_between) drop(set, first.k, first.bound);
    put_at_bound(set, row, first.bound);
    return row;
}

// Newton's step of the rows between: A step = -w there. True when all of it could be taken.
static bool take_step(active_set *set)
{
    for (int k = 0; k < set->num_between; ++k) {
        set->step[k] = -set->w[set->order[k]];
    }
    solve_down(set, set->step);
    solve_up(set, set->step);
    const blocker first = first_bound(set, 1.0, -1, 0.0);
    move(set, first.t, -1, 0.0);
    if (first.k < 0) return true;
    const int row = set->order[first.k];
    drop(set, first.k, first.bound);
    put_at_bound(set, row, first.bound);
    return false;
}

typedef enum entry {
    ENTERED,
    IMPLIED,
    IMPOSSIBLE
} entry;

// Bring row i between its bounds, and w = 0 in all rows between, as far as bounds allow. A row
// that the others imply, and that is met as well as they are, stays where it is.
static entry enter(active_set *set, int i, double least_pivot)
{
    const double part = violation(set, i) / largest_size(set);
    double pivot = pivot_of(set, i);
    if (pivot <= least_pivot && !(part > NEGLIGIBLE)) return IMPLIED;
    while (pivot <= least_pivot) {
        ++set->pivots;
        const int row = slide_along_null(set, i);
        if (row < 0) return part <= ACCEPTED ? IMPLIED : IMPOSSIBLE;
        if (row == i) return ENTERED;
        pivot = pivot_of(set, i);
    }
    append(set, i, pivot);
    do {
        ++set->pivots;
        find_w(set);
    } while (!take_step(set));
    find_w(set);
    return ENTERED;
}

// The row to bring in: the one that violates most, or with `lowest` the first that violates at all,
// which cannot cycle (Bland's rule). -1: none.
static int next_row(const active_set *set, double tolerance, bool lowest)
{
    int best = -1;
    double most = tolerance;
    for (int i = 0; i < set->n; ++i) {
        if (set->place[i] == BETWEEN || set->place[i] == LEFT_OUT) continue;
        const double amount = violation(set, i);
        if (!(amount > most)) continue;
        best = i;
        most = amount;
        if (lowest) break;
    }
    return best;
}

// --- start ---

static bool is_bilateral(const active_set *set, int i)
{
    return isinf(set->lower[i]) && isinf(set->upper[i]);
}

// The bound nearest to zero, or zero itself for a bilateral row.
static void put_at_start(active_set *set, int i)
{
    const double lower = set->lower[i], upper = set->upper[i];
    set->place[i] = fabs(lower) <= fabs(upper) ? AT_LOWER : AT_UPPER;
    set->z[i] = set->place[i] == AT_LOWER ? lower : upper;
    if (is_bilateral(set, i)) set->z[i] = 0.0;
}

static void fill_scaled(active_set *set, const tal_bounded_problem *problem, double compliance)
{
    const int n = set->n;
    for (int i = 0; i < n; ++i) {
        const double diagonal = tali_dense_col(problem->A, i)[i];
        set->s[i] = diagonal > 0.0 ? 1.0 / sqrt(diagonal) : 0.0;
    }
    for (int j = 0; j < n; ++j) {
        for (int i = j; i < n; ++i) {
            const double value = tali_dense_col(problem->A, j)[i] * set->s[i] * set->s[j];
            set->A[(size_t)j * (size_t)n + (size_t)i] = value;
            set->A[(size_t)i * (size_t)n + (size_t)j] = value;
        }
        // a row that nothing moves keeps its b: there is no scale that it could have
        const double s = set->s[j] > 0.0 ? set->s[j] : 1.0;
        set->b[j] = problem->b[j] * s;
        set->lower[j] = problem->lower[j] / s;
        set->upper[j] = problem->upper[j] / s;
        if (!is_bilateral(set, j)) {
            set->A[(size_t)j * (size_t)n + (size_t)j] += compliance * set->s[j] * set->s[j];
        }
    }
}

// Bilateral rows first, then those of the guess. The row that came last is in `*last`.
static entry enter_start(active_set *set, const double guess[], double least_pivot, int *last)
{
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < set->n; ++i) {
            const double s = set->s[i] > 0.0 ? set->s[i] : 1.0;
            const bool wanted = pass == 0 ? is_bilateral(set, i)
                                          : !is_bilateral(set, i) && guess[i] / s > set->lower[i] &&
                                                guess[i] / s < set->upper[i];
            if (!wanted || set->place[i] == BETWEEN) continue;
            // a guessed row that already meets its bound stays there
            if (pass == 1 && violation(set, i) == 0.0) continue;
            const entry result = enter(set, i, least_pivot);
            *last = i;
            if (result == IMPOSSIBLE) return IMPOSSIBLE;
            if (result == IMPLIED) set->place[i] = LEFT_OUT;
        }
    }
    return ENTERED;
}

// Rows were left out because others imply them; when those have changed they are looked at again.
// Bilateral rows are implied by bilateral ones alone, which never change.
static void look_again(active_set *set)
{
    for (int i = 0; i < set->n; ++i) {
        if (set->place[i] != LEFT_OUT || is_bilateral(set, i)) continue;
        set->place[i] = set->z[i] == set->lower[i] ? AT_LOWER : AT_UPPER;
    }
}

// --- the whole ---

// Round-off of a row of w: n operations on numbers of the size `largest`, and the factor's.
static double round_off(const active_set *set)
{
    return 4.0 * set->n * DBL_EPSILON * largest_size(set);
}

// Run until no row violates its bound. The row that came last, which may be impossible, is in
// `*last`.
static tal_status run(active_set *set, const double guess[], int *last)
{
    const double least_pivot = 64.0 * set->n * DBL_EPSILON;
    const int most_greedy = 20 * set->n + 100, most = 100 * set->n + 1000;
    set->num_between = set->pivots = 0;
    for (int i = 0; i < set->n; ++i) {
        put_at_start(set, i);
    }
    find_w(set);
    if (enter_start(set, guess, least_pivot, last) == IMPOSSIBLE) return TAL_ERR_INFEASIBLE;
    for (;;) {
        const int i = next_row(set, round_off(set), set->pivots > most_greedy);
        if (i < 0) return TAL_OK;
        if (set->pivots > most) return TAL_ERR_NO_CONVERGENCE;
        *last = i;
        switch (enter(set, i, least_pivot)) {
        case ENTERED:
            look_again(set);
            break;
        case IMPLIED:
            set->place[i] = LEFT_OUT;
            break;
        case IMPOSSIBLE:
            return TAL_ERR_INFEASIBLE;
        }
    }
}

static double scale_of(const active_set *set, int i)
{
    return set->s[i] > 0.0 ? set->s[i] : 1.0;
}

static double within(double x, double lower, double upper)
{
    return fmin(fmax(x, lower), upper);
}

// z as the problem measures it; what is at a bound is there exactly.
static void unscale(const active_set *set, const tal_bounded_problem *problem, double z[])
{
    for (int i = 0; i < set->n; ++i) {
        z[i] = within(set->z[i] * scale_of(set, i), problem->lower[i], problem->upper[i]);
        if (set->place[i] == AT_LOWER) z[i] = problem->lower[i];
        if (set->place[i] == AT_UPPER) z[i] = problem->upper[i];
    }
}

// What row i violates at the values that z has, whatever its place is.
static double violation_of_values(const active_set *set, int i)
{
    if (set->lower[i] == set->upper[i]) return 0.0;
    if (set->z[i] <= set->lower[i]) return fmax(0.0, -set->w[i]);
    if (set->z[i] >= set->upper[i]) return fmax(0.0, set->w[i]);
    return fabs(set->w[i]);
}

// The largest violation of z, given without scales, in the exact problem.
static void check_values(active_set *set, const tal_bounded_problem *problem, const double z[],
                         tal_complementarity_report *report)
{
    fill_scaled(set, problem, 0.0);
    for (int i = 0; i < set->n; ++i) {
        set->z[i] = z[i] / scale_of(set, i);
    }
    find_w(set);
    const double size = largest_size(set);
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
static int count_dependent(active_set *set)
{
    const double accepted = ACCEPTED * largest_size(set);
    int count = 0;
    for (int i = 0; i < set->n; ++i) {
        if (set->place[i] == BETWEEN || set->s[i] == 0.0 || fabs(set->w[i]) > accepted) continue;
        const double pivot = pivot_of(set, i);
        if (pivot <= 64.0 * set->n * DBL_EPSILON) {
            ++count;
        } else {
            append(set, i, pivot);
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
    const double tolerance = 64.0 * s->num * DBL_EPSILON * tali_lcp_largest_diagonal(s->A);
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
static bool share(active_set *set, const tal_bounded_problem *problem, shortest *s, double z[])
{
    int last;
    fill_scaled(set, problem, COMPLIANCE * mean_diagonal(problem));
    if (run(set, z, &last) != TAL_OK) return false;
    unscale(set, problem, z);
    s->num = 0;
    for (int i = 0; i < set->n; ++i) {
        if (set->place[i] != BETWEEN && !is_bilateral(set, i)) continue;
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
static void lay_out(active_set *set, shortest *s, double **kept, int n, double work[], int iwork[])
{
    const size_t m = (size_t)n;
    *set = (active_set){.n = n, .place = iwork, .order = iwork + m};
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
static void write_certificate(const active_set *set, int last, double y[])
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

    active_set set;
    shortest s;
    double *kept;
    int last = 0;
    lay_out(&set, &s, &kept, problem->A.rows, work, iwork);
    fill_scaled(&set, problem, 0.0);
    const tal_status st = run(&set, z, &last);
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
        report->shared = report->shared && report->residual <= ACCEPTED;
        if (!report->shared) memcpy(z, kept, (size_t)set.n * sizeof *z);
    }
    check_values(&set, problem, z, report);
    for (int i = 0; i < set.n; ++i) {
        w[i] = set.w[i] / scale_of(&set, i);
    }
    if (!(report->residual <= ACCEPTED)) {
        return TALI_FAIL(err, TAL_ERR_NO_CONVERGENCE,
                         "after %d pivots row %d is violated by %g of what is added up there",
                         report->pivots, report->worst, report->residual);
    }
    return TAL_OK;
}
