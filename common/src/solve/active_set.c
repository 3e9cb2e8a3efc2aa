// An active-set method for the least of z^T A z / 2 + b^T z within bounds, A symmetric positive
// semidefinite.
//
// Rows are "between" (w = 0, z free) or at a bound. The rows between are kept so that their part of
// A is regular, and its Cholesky factor is updated as they change. A row that would make it
// singular is moved along the null vector instead, until another row meets a bound; if none does,
// the null vector is a certificate.
//
// Source: Lawson and Hanson, Solving Least Squares Problems, chapter 23, and Nocedal and Wright,
// Numerical Optimization, section 16.5; the treatment of singular A is ours.
#include "solve/active_set_internal.h"

#include <math.h>
#include <string.h>

// Violations up to this part in a row that others imply are round-off of the others.
#define NEGLIGIBLE 1e-12

// --- the factor of the rows between ---

static double *factor_row(const tali_active_set *set, int k)
{
    return set->L + (size_t)k * (size_t)set->n;
}

// x = L^-1 x for the rows between.
static void solve_down(const tali_active_set *set, double x[])
{
    for (int k = 0; k < set->num_between; ++k) {
        const double *L = factor_row(set, k);
        x[k] = (x[k] - tali_array_dot(L, x, k)) / L[k];
    }
}

// x = L^-T x
static void solve_up(const tali_active_set *set, double x[])
{
    for (int k = set->num_between - 1; k >= 0; --k) {
        const double *L = factor_row(set, k);
        x[k] /= L[k];
        tali_dense_axpy(k, -x[k], L, x);
    }
}

// The entries of column i in the rows between, and L^-1 of them: the new row of the factor but for
// its pivot, which is returned squared.
double tali_active_set_pivot(tali_active_set *set, int i)
{
    const double *A = set->A + (size_t)i * (size_t)set->n;
    for (int k = 0; k < set->num_between; ++k) {
        set->column[k] = A[set->order[k]];
    }
    solve_down(set, set->column);
    return A[i] - tali_array_dot(set->column, set->column, set->num_between);
}

void tali_active_set_append(tali_active_set *set, int i, double pivot)
{
    const int k = set->num_between++;
    double *L = factor_row(set, k);
    memcpy(L, set->column, (size_t)k * sizeof *L);
    L[k] = sqrt(pivot);
    set->order[k] = i;
    set->place[i] = TALI_BETWEEN;
}

// Take row k out of the factor: the rows below move up, and plane rotations of neighboring columns
// make the factor triangular again.
static void drop(tali_active_set *set, int k, tali_active_place place)
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
void tali_active_set_find_w(tali_active_set *set)
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
double tali_active_set_size(const tali_active_set *set)
{
    return tali_array_largest(set->size, set->n);
}

// How far row i is from what its place asks of w; 0 when it is met.
static double violation(const tali_active_set *set, int i)
{
    switch ((tali_active_place)set->place[i]) {
    case TALI_AT_LOWER:
        return set->lower[i] < set->upper[i] ? fmax(0.0, -set->w[i]) : 0.0;
    case TALI_AT_UPPER:
        return set->lower[i] < set->upper[i] ? fmax(0.0, set->w[i]) : 0.0;
    case TALI_BETWEEN:
    case TALI_LEFT_OUT:
        break;
    }
    return fabs(set->w[i]);
}

// Move the rows between by t step[k] and row `extra` by t (none: -1).
static void move(tali_active_set *set, double t, int extra, double extra_step)
{
    for (int k = 0; k < set->num_between; ++k) {
        set->z[set->order[k]] += t * set->step[k];
    }
    if (extra >= 0) set->z[extra] += t * extra_step;
}

// How far z may go along `speed` before it meets a bound, and which one.
static double room_of(double z, double lower, double upper, double speed, tali_active_place *bound)
{
    *bound = speed < 0.0 ? TALI_AT_LOWER : TALI_AT_UPPER;
    if (speed == 0.0) return INFINITY;
    return fmax(0.0, ((speed < 0.0 ? lower : upper) - z) / speed);
}

typedef struct blocker {
    double t; // how far the step goes
    int k;    // which of the rows between stops it: num_between for the extra one, -1 none
    tali_active_place bound; // where it is then
} blocker;

// The first bound along the step. Of several the one with the lowest row, so that nothing depends
// on the order in which rows entered.
static blocker first_bound(const tali_active_set *set, double most, int extra, double extra_step)
{
    blocker first = {most, -1, TALI_AT_LOWER};
    int first_row = set->n;
    for (int k = 0; k < set->num_between + (extra >= 0); ++k) {
        const int row = k < set->num_between ? set->order[k] : extra;
        const double speed = k < set->num_between ? set->step[k] : extra_step;
        tali_active_place bound;
        const double t = room_of(set->z[row], set->lower[row], set->upper[row], speed, &bound);
        if (t < first.t || (t == first.t && t < most && row < first_row)) {
            first = (blocker){t, k, bound};
            first_row = row;
        }
    }
    return first;
}

static void put_at_bound(tali_active_set *set, int row, tali_active_place bound)
{
    set->z[row] = bound == TALI_AT_LOWER ? set->lower[row] : set->upper[row];
    set->place[row] = (int)bound;
}

// --- one row comes in ---

// Row i is implied by the rows between: with step = -L^-T column, [step; 1] is a null vector of
// their part of A. Go along it until a row meets a bound, and return that row. -1 when none does:
// what is moved along is then a certificate, in `step`.
static int slide_along_null(tali_active_set *set, int i)
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
static bool take_step(tali_active_set *set)
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
static entry enter(tali_active_set *set, int i, double least_pivot)
{
    const double part = violation(set, i) / tali_active_set_size(set);
    double pivot = tali_active_set_pivot(set, i);
    if (pivot <= least_pivot && !(part > NEGLIGIBLE)) return IMPLIED;
    while (pivot <= least_pivot) {
        ++set->pivots;
        const int row = slide_along_null(set, i);
        if (row < 0) return part <= TALI_ACTIVE_ACCEPTED ? IMPLIED : IMPOSSIBLE;
        if (row == i) return ENTERED;
        pivot = tali_active_set_pivot(set, i);
    }
    tali_active_set_append(set, i, pivot);
    do {
        ++set->pivots;
        tali_active_set_find_w(set);
    } while (!take_step(set));
    tali_active_set_find_w(set);
    return ENTERED;
}

// The row to bring in: the one that violates most, or with `lowest` the first that violates at all,
// which cannot cycle (Bland's rule). -1: none.
static int next_row(const tali_active_set *set, double tolerance, bool lowest)
{
    int best = -1;
    double most = tolerance;
    for (int i = 0; i < set->n; ++i) {
        if (set->place[i] == TALI_BETWEEN || set->place[i] == TALI_LEFT_OUT) continue;
        const double amount = violation(set, i);
        if (!(amount > most)) continue;
        best = i;
        most = amount;
        if (lowest) break;
    }
    return best;
}

// --- start ---

bool tali_active_set_is_bilateral(const tali_active_set *set, int i)
{
    return isinf(set->lower[i]) && isinf(set->upper[i]);
}

// The bound nearest to zero, or zero itself for a bilateral row.
static void put_at_start(tali_active_set *set, int i)
{
    const double lower = set->lower[i], upper = set->upper[i];
    set->place[i] = fabs(lower) <= fabs(upper) ? TALI_AT_LOWER : TALI_AT_UPPER;
    set->z[i] = set->place[i] == TALI_AT_LOWER ? lower : upper;
    if (tali_active_set_is_bilateral(set, i)) set->z[i] = 0.0;
}

void tali_active_set_fill(tali_active_set *set, const tal_bounded_problem *problem,
                          double compliance)
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
        if (!tali_active_set_is_bilateral(set, j)) {
            set->A[(size_t)j * (size_t)n + (size_t)j] += compliance * set->s[j] * set->s[j];
        }
    }
}

// Bilateral rows first, then those of the guess. The row that came last is in `*last`.
static entry enter_start(tali_active_set *set, const double guess[], double least_pivot, int *last)
{
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < set->n; ++i) {
            const double s = set->s[i] > 0.0 ? set->s[i] : 1.0;
            const bool wanted = pass == 0 ? tali_active_set_is_bilateral(set, i)
                                          : !tali_active_set_is_bilateral(set, i) &&
                                                guess[i] / s > set->lower[i] &&
                                                guess[i] / s < set->upper[i];
            if (!wanted || set->place[i] == TALI_BETWEEN) continue;
            // a guessed row that already meets its bound stays there
            if (pass == 1 && violation(set, i) == 0.0) continue;
            const entry result = enter(set, i, least_pivot);
            *last = i;
            if (result == IMPOSSIBLE) return IMPOSSIBLE;
            if (result == IMPLIED) set->place[i] = TALI_LEFT_OUT;
        }
    }
    return ENTERED;
}

// Rows were left out because others imply them; when those have changed they are looked at again.
// Bilateral rows are implied by bilateral ones alone, which never change.
static void look_again(tali_active_set *set)
{
    for (int i = 0; i < set->n; ++i) {
        if (set->place[i] != TALI_LEFT_OUT || tali_active_set_is_bilateral(set, i)) continue;
        set->place[i] = set->z[i] == set->lower[i] ? TALI_AT_LOWER : TALI_AT_UPPER;
    }
}

// --- the whole ---

// Round-off of a row of w: n operations on numbers of the size `largest`, and the factor's.
static double round_off(const tali_active_set *set)
{
    return 4.0 * set->n * DBL_EPSILON * tali_active_set_size(set);
}

// Run until no row violates its bound. The row that came last, which may be impossible, is in
// `*last`.
tal_status tali_active_set_run(tali_active_set *set, const double guess[], int *last)
{
    const double least_pivot = tali_active_set_least_pivot(set);
    const int most_greedy = 20 * set->n + 100, most = 100 * set->n + 1000;
    set->num_between = set->pivots = 0;
    for (int i = 0; i < set->n; ++i) {
        put_at_start(set, i);
    }
    tali_active_set_find_w(set);
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
            set->place[i] = TALI_LEFT_OUT;
            break;
        case IMPOSSIBLE:
            return TAL_ERR_INFEASIBLE;
        }
    }
}
