// Linear complementarity problems with any matrix: Lemke's method.
//
// With one more unknown z0, w = A z + b + d z0 and d > 0, a first solution is plain: z = 0 and z0
// as large as b asks for. Unknowns are exchanged in pairs w_i, z_i until z0 is gone. Singular A
// can lead round-off onto a ray that proves nothing; another d is tried then.
//
//     basis   n unknowns that may be positive; the columns of B are those of w - A z - d z0 = b
//     x       their values, B x = b
//
// The ratio test compares whole rows of [x, B^-1] (lexicographic), so no basis comes twice. B^-1
// is updated with each exchange, and made again from B every few exchanges and at the end.
//
// Source: Cottle, Pang and Stone, The Linear Complementarity Problem, sections 4.4 and 4.9.
#include "error_internal.h"
#include "finite_internal.h"

#include "dense/dense_internal.h"

#include <talus/common/complementarity.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Violations up to this part of what is added up in a row count as met.
#define ACCEPTED            1e-8
// Entries of a direction below this part of its largest are zero.
#define NEGLIGIBLE          1e-11
// How many d are tried.
#define ATTEMPTS            5
// Exchanges after which B^-1 is made again.
#define EXCHANGES_PER_FRESH 20

// Unknowns by number: w_i is i, z_i is n + i, z0 is 2 n.
typedef struct tableau {
    int n;
    tal_matrix A;
    const double *b;
    double *inverse;   // n x n, row by row: B^-1
    double *matrix;    // n x n, row by row: B, to be inverted
    double *x;         // values of the basis
    double *direction; // B^-1 times the column that comes in
    int *basis;        // unknown in each row
    int exchanges;
    int attempt; // from 0 on; each has another d
} tableau;

size_t tal_lemke_work_size(int n)
{
    const size_t m = n > 0 ? (size_t)n : 0;
    return 2 * m * m + 3 * m;
}

size_t tal_lemke_iwork_size(int n)
{
    return n > 0 ? (size_t)n : 0;
}

static int complement(const tableau *t, int unknown)
{
    return unknown < t->n ? unknown + t->n : unknown - t->n;
}

// d_i: ones at first; other numbers between 1 and 2 lead along other paths. The fractions of
// multiples of the golden ratio are spread evenly and never repeat.
static double cover(const tableau *t, int i)
{
    const double golden = 0.61803398874989485;
    return t->attempt == 0 ? 1.0 : 1.0 + fmod((i + 1) * t->attempt * golden, 1.0);
}

// Row i of the column of an unknown in w - A z - d z0 = b.
static double entry_of(const tableau *t, int unknown, int i)
{
    if (unknown < t->n) return unknown == i ? 1.0 : 0.0;
    if (unknown == 2 * t->n) return -cover(t, i);
    return -tali_dense_col(t->A, unknown - t->n)[i];
}

static double *row_of(double *matrix, const tableau *t, int r)
{
    return matrix + (size_t)r * (size_t)t->n;
}

// --- B^-1 ---

static void swap_rows(const tableau *t, double *matrix, int a, int b)
{
    double *const x = row_of(matrix, t, a), *const y = row_of(matrix, t, b);
    for (int k = 0; k < t->n; ++k) {
        const double kept = x[k];
        x[k] = y[k];
        y[k] = kept;
    }
}

// One column of Gauss and Jordan's elimination. False when no pivot is left.
static bool eliminate(tableau *t, int c)
{
    int p = c;
    for (int r = c + 1; r < t->n; ++r) {
        if (fabs(row_of(t->matrix, t, r)[c]) > fabs(row_of(t->matrix, t, p)[c])) p = r;
    }
    const double pivot = row_of(t->matrix, t, p)[c];
    if (pivot == 0.0) return false;
    swap_rows(t, t->matrix, p, c);
    swap_rows(t, t->inverse, p, c);
    for (int k = 0; k < t->n; ++k) {
        row_of(t->matrix, t, c)[k] /= pivot;
        row_of(t->inverse, t, c)[k] /= pivot;
    }
    for (int r = 0; r < t->n; ++r) {
        const double factor = row_of(t->matrix, t, r)[c];
        if (r == c || factor == 0.0) continue;
        tali_dense_axpy(t->n, -factor, row_of(t->matrix, t, c), row_of(t->matrix, t, r));
        tali_dense_axpy(t->n, -factor, row_of(t->inverse, t, c), row_of(t->inverse, t, r));
    }
    return true;
}

// x += B^-1 (b - B x): what is left of b, which a badly conditioned B leaves, is taken care of.
static void refine(tableau *t)
{
    double *const rest = t->direction; // not in use here
    for (int i = 0; i < t->n; ++i) {
        rest[i] = t->b[i];
        for (int k = 0; k < t->n; ++k) {
            rest[i] -= entry_of(t, t->basis[k], i) * t->x[k];
        }
    }
    for (int r = 0; r < t->n; ++r) {
        t->x[r] += tali_array_dot(row_of(t->inverse, t, r), rest, t->n);
    }
}

// B^-1 and x from the basis alone. False when B is singular.
static bool refresh(tableau *t)
{
    for (int r = 0; r < t->n; ++r) {
        for (int k = 0; k < t->n; ++k) {
            row_of(t->matrix, t, r)[k] = entry_of(t, t->basis[k], r);
            row_of(t->inverse, t, r)[k] = r == k ? 1.0 : 0.0;
        }
    }
    for (int c = 0; c < t->n; ++c) {
        if (!eliminate(t, c)) return false;
    }
    for (int r = 0; r < t->n; ++r) {
        t->x[r] = tali_array_dot(row_of(t->inverse, t, r), t->b, t->n);
    }
    refine(t);
    return true;
}

static void find_direction(tableau *t, int unknown)
{
    for (int r = 0; r < t->n; ++r) {
        double sum = 0.0;
        for (int k = 0; k < t->n; ++k) {
            sum += row_of(t->inverse, t, r)[k] * entry_of(t, unknown, k);
        }
        t->direction[r] = sum;
    }
}

// --- exchanges ---

// Is row a, divided by its entry of the direction, lexicographically less than row b? A row is x
// and then its part of B^-1.
static bool is_less(const tableau *t, int a, int b)
{
    const double in_a = t->direction[a], in_b = t->direction[b];
    double left = t->x[a] * in_b, right = t->x[b] * in_a;
    for (int k = 0;; ++k) {
        const double size = fmax(fabs(left), fabs(right));
        if (fabs(left - right) > 16.0 * DBL_EPSILON * size) return left < right;
        if (k == t->n) return a < b;
        left = row_of(t->inverse, t, a)[k] * in_b;
        right = row_of(t->inverse, t, b)[k] * in_a;
    }
}

// Does row r reach zero as soon as row `first`, but for round-off?
static bool ties_with(const tableau *t, int r, int first)
{
    const double left = t->x[r] * t->direction[first], right = t->x[first] * t->direction[r];
    const double size = tali_array_largest(t->x, t->n) * t->direction[first];
    return left - right <= t->n * DBL_EPSILON * size;
}

// The row that reaches zero first when the unknown of `direction` grows; -1 when none does. Where
// z0 is among several it is the one: that ends the search.
static int leaving_row(const tableau *t)
{
    const double least = NEGLIGIBLE * tali_array_largest(t->direction, t->n);
    int best = -1, of_z0 = -1;
    for (int r = 0; r < t->n; ++r) {
        if (!(t->direction[r] > least)) continue;
        if (t->basis[r] == 2 * t->n) of_z0 = r;
        if (best < 0 || is_less(t, r, best)) best = r;
    }
    return of_z0 >= 0 && ties_with(t, of_z0, best) ? of_z0 : best;
}

// Is z0 gone but for round-off, though it is still in the basis?
static bool has_vanished(const tableau *t)
{
    for (int r = 0; r < t->n; ++r) {
        if (t->basis[r] != 2 * t->n) continue;
        return fabs(t->x[r]) <= 16.0 * t->n * DBL_EPSILON * tali_array_largest(t->b, t->n);
    }
    return true;
}

static bool exchange(tableau *t, int r, int unknown)
{
    const double pivot = t->direction[r];
    t->basis[r] = unknown;
    if (++t->exchanges % EXCHANGES_PER_FRESH == 0) return refresh(t);
    t->x[r] /= pivot;
    double *const row = row_of(t->inverse, t, r);
    for (int k = 0; k < t->n; ++k) {
        row[k] /= pivot;
    }
    for (int i = 0; i < t->n; ++i) {
        if (i == r || t->direction[i] == 0.0) continue;
        t->x[i] -= t->direction[i] * t->x[r];
        tali_dense_axpy(t->n, -t->direction[i], row, row_of(t->inverse, t, i));
    }
    return true;
}

// z0 comes in where b / d is least: all of x is then positive.
static int first_row(const tableau *t)
{
    int r = 0;
    for (int i = 1; i < t->n; ++i) {
        if (t->b[i] / cover(t, i) < t->b[r] / cover(t, r)) r = i;
    }
    return r;
}

typedef enum ending {
    SOLVED,
    RAY,
    LOST
} ending;

// Exchange until z0 leaves the basis. On a ray `*unknown` is what could grow without end.
static ending run(tableau *t, int *unknown)
{
    const int most = t->exchanges + 50 * t->n + 100;
    int r = first_row(t);
    *unknown = complement(t, t->basis[r]);
    find_direction(t, 2 * t->n);
    if (!exchange(t, r, 2 * t->n)) return LOST;
    while (t->exchanges < most) {
        find_direction(t, *unknown);
        r = leaving_row(t);
        if (r < 0) return has_vanished(t) ? SOLVED : RAY;
        const int left = t->basis[r];
        if (!exchange(t, r, *unknown)) return LOST;
        if (left == 2 * t->n) return SOLVED;
        *unknown = complement(t, left);
    }
    return LOST;
}

// --- answers ---

static void write_answer(tableau *t, double z[])
{
    memset(z, 0, (size_t)t->n * sizeof *z);
    for (int r = 0; r < t->n; ++r) {
        if (t->basis[r] >= t->n && t->basis[r] < 2 * t->n) {
            z[t->basis[r] - t->n] = fmax(0.0, t->x[r]);
        }
    }
}

// w = A z + b, and the largest of -w_i and |w_i z_i| / largest z over the sizes that are added up.
static void check_answer(const tableau *t, const double z[], double w[],
                         tal_complementarity_report *report)
{
    report->residual = 0.0;
    report->worst = -1;
    double size = 0.0;
    for (int i = 0; i < t->n; ++i) {
        double row_size = fabs(t->b[i]);
        w[i] = t->b[i];
        for (int j = 0; j < t->n; ++j) {
            const double term = tali_dense_col(t->A, j)[i] * z[j];
            w[i] += term;
            row_size += fabs(term);
        }
        size = fmax(size, row_size);
    }
    const double most = tali_array_largest(z, t->n);
    for (int i = 0; i < t->n; ++i) {
        const double both = most > 0.0 ? fabs(w[i]) * (z[i] / most) : 0.0;
        const double part = size > 0.0 ? fmax(-w[i], both) / size : 0.0;
        if (part > report->residual) {
            report->residual = part;
            report->worst = i;
        }
    }
}

// The z of the ray, with the largest entry 1.
static void write_ray(const tableau *t, int unknown, double y[])
{
    memset(y, 0, (size_t)t->n * sizeof *y);
    for (int r = 0; r < t->n; ++r) {
        if (t->basis[r] >= t->n && t->basis[r] < 2 * t->n) {
            y[t->basis[r] - t->n] = fmax(0.0, -t->direction[r]);
        }
    }
    if (unknown >= t->n && unknown < 2 * t->n) y[unknown - t->n] = 1.0;
    const double most = tali_array_largest(y, t->n);
    for (int i = 0; most > 0.0 && i < t->n; ++i) {
        y[i] /= most;
    }
}

// Does y >= 0 prove that there is no z? A^T y <= 0 and b^T y < 0, each far from round-off.
static bool is_certificate(const tableau *t, const double y[])
{
    double by = 0.0, by_size = 0.0;
    for (int i = 0; i < t->n; ++i) {
        by += t->b[i] * y[i];
        by_size += fabs(t->b[i] * y[i]);
    }
    if (!(by < -ACCEPTED * by_size)) return false;
    for (int j = 0; j < t->n; ++j) {
        double sum = 0.0, size = 0.0;
        for (int i = 0; i < t->n; ++i) {
            const double term = tali_dense_col(t->A, j)[i] * y[i];
            sum += term;
            size += fabs(term);
        }
        if (sum > ACCEPTED * size) return false;
    }
    return true;
}

static tal_status check_arguments(tal_matrix A, const double b[], const double z[],
                                  const double w[], const double work[], const int iwork[],
                                  tal_error *err)
{
    static const char *const where = "tal_lemke_solve";
    const tal_status st = tali_dense_check_square(A, "A", where);
    if (st != TAL_OK || A.rows == 0) return st;
    if (b == NULL || z == NULL || w == NULL || work == NULL || iwork == NULL) {
        return tali_breach(TAL_ERR_NULL, where,
                           "b, an array of the answer or of the workspace is NULL");
    }
    for (int i = 0; i < A.rows; ++i) {
        if (isfinite(b[i])) continue;
        return tali_fail(err, TAL_ERR_NOT_FINITE, where, "b[%d] is %g", i, b[i]);
    }
    return tali_dense_check_finite(A, "A", where, err);
}

static tableau lay_out(tal_matrix A, const double b[], double work[], int iwork[])
{
    const size_t m = (size_t)A.rows;
    return (tableau){.n = A.rows,
                     .A = A,
                     .b = b,
                     .inverse = work,
                     .matrix = work + m * m,
                     .x = work + 2 * m * m,
                     .direction = work + 2 * m * m + m,
                     .basis = iwork};
}

// The basis of all w.
static void restart(tableau *t, int attempt)
{
    t->attempt = attempt;
    for (int i = 0; i < t->n; ++i) {
        t->basis[i] = i;
        t->x[i] = t->b[i];
        for (int k = 0; k < t->n; ++k) {
            row_of(t->inverse, t, i)[k] = i == k ? 1.0 : 0.0;
        }
    }
}

// One attempt: an answer that meets its check, a certificate, or neither.
static tal_status attempt(tableau *t, int number, double z[], double w[],
                          tal_complementarity_report *report)
{
    int unknown = 0;
    restart(t, number);
    const bool nothing_to_do = t->b[first_row(t)] >= 0.0;
    const ending end = nothing_to_do ? SOLVED : run(t, &unknown);
    report->pivots = t->exchanges;
    // what was updated many times is not trusted with the last word
    if (end == LOST || !refresh(t)) return TAL_ERR_NO_CONVERGENCE;
    if (end == RAY) {
        find_direction(t, unknown);
        write_ray(t, unknown, z);
        return is_certificate(t, z) ? TAL_ERR_INFEASIBLE : TAL_ERR_NO_CONVERGENCE;
    }
    write_answer(t, z);
    check_answer(t, z, w, report);
    return report->residual <= ACCEPTED ? TAL_OK : TAL_ERR_NO_CONVERGENCE;
}

tal_status tal_lemke_solve(tal_matrix A, const double b[], double z[], double w[], double work[],
                           int iwork[], tal_complementarity_report *report, tal_error *err)
{
    tal_status st = check_arguments(A, b, z, w, work, iwork, err);
    if (st != TAL_OK) return st;
    tal_complementarity_report unread;
    if (report == NULL) report = &unread;
    *report = (tal_complementarity_report){.worst = -1};
    if (A.rows == 0) return TAL_OK;

    tableau t = lay_out(A, b, work, iwork);
    for (int number = 0; number < ATTEMPTS; ++number) {
        st = attempt(&t, number, z, w, report);
        if (st == TAL_OK) return TAL_OK;
        if (st == TAL_ERR_INFEASIBLE) {
            memcpy(w, b, (size_t)t.n * sizeof *w);
            return TALI_FAIL(err, st, "no z >= 0 gives w >= 0; found after %d exchanges",
                             t.exchanges);
        }
    }
    return TALI_FAIL(
        err, st,
        "Lemke's method found neither a solution nor a proof that there is none in %d exchanges",
        t.exchanges);
}
