// Cholesky factorization within an envelope, and solving with it.
#include "constraint/constraint_envelope.h"

#include <float.h>
#include <math.h>
#include <string.h>

// L_ij = (A_ij - sum_k L_ik L_jk) / L_jj, and the pivot A_ii - sum_k L_ik^2 in place of L_ii
double tali_envelope_reduce_row(double entries[], tali_envelope_row rows[],
                                const tali_envelope_column columns[], int i)
{
    tali_envelope_row *row = &rows[i];
    const int start = row->start, own = row->column;
    double *L = entries + row->entries - start;
    const double diagonal = L[own];
    for (int j = start; j < own; ++j) {
        const tali_envelope_row *with = &rows[columns[j].row];
        const double *other = entries + with->entries - with->start;
        const int first = with->start > start ? with->start : start;
        L[j] = (L[j] - tali_constraint_dot(L + first, other + first, j - first)) / other[j];
    }
    L[own] -= tali_constraint_dot(L + start, L + start, own - start);
    row->share = diagonal != 0.0 ? L[own] / diagonal : 0.0;
    return diagonal;
}

bool tali_envelope_accept_row(double entries[], tali_envelope_row rows[], int i, tal_row_fate fate)
{
    double *pivot = entries + rows[i].entries + (rows[i].column - rows[i].start);
    const bool has_pivot = fate == TAL_ROW_GOOD;
    rows[i].fate = (int32_t)fate;
    *pivot = has_pivot ? sqrt(*pivot) : 0.0;
    return has_pivot;
}

// Round-off of the pivot of row j, eps A_jj, is eps / share_j of it, and so of L_ij^2.
double tali_envelope_growth(const double entries[], const tali_envelope_row rows[],
                            const tali_envelope_column columns[], int i, double diagonal)
{
    const tali_envelope_row *row = &rows[i];
    const double *L = entries + row->entries - row->start;
    double sum = 0.0;
    for (int j = row->start; j < row->column; ++j) {
        sum += L[j] * L[j] / rows[columns[j].row].share;
    }
    return TALI_GROWTH * sum / diagonal;
}

// Forward, x is gathered to its columns; backward, it is spread again. A column is never after
// its row, so both can be done in place.
void tali_envelope_solve(const double entries[], const tali_envelope_row rows[], int n, double x[])
{
    for (int i = 0; i < n; ++i) {
        if (rows[i].fate != TAL_ROW_GOOD) continue;
        const int start = rows[i].start, own = rows[i].column;
        const double *L = entries + rows[i].entries - start;
        x[own] = (x[i] - tali_constraint_dot(L + start, x + start, own - start)) / L[own];
    }
    for (int i = n - 1; i >= 0; --i) {
        const int own = rows[i].column;
        if (rows[i].fate != TAL_ROW_GOOD) {
            x[i] = 0.0;
            continue;
        }
        const double *L = entries + rows[i].entries - rows[i].start;
        const double value = x[own] / L[own];
        for (int j = rows[i].start; j < own; ++j) {
            x[j] -= L[j] * value;
        }
        x[i] = value;
    }
}

// --- redundant rows ---
//
// Let g be the rows with pivots and r those that repeat them: A_r = C A_g with C = L_r L_g^-1. The
// null space of A has the basis N = [-C^T; 1], and what is normal to it is x - N z with
//
//     (1 + C C^T) z = N^T x = x_r - C x_g
//
// No eigenvalue is below one, and copies of rows give few different ones: conjugate gradients need
// few iterations, and C is never formed. With weights C becomes S_r C S_g^-1.

static double weight_of(const tali_envelope *e, int i)
{
    return e->S != NULL ? e->S[i] : 1.0;
}

// out_r = C in_g; y is room for the columns.
static void mul_C(const tali_envelope *e, const double in[], double y[], double out[])
{
    for (int i = 0; i < e->n; ++i) {
        const tali_envelope_row row = e->rows[i];
        if (row.fate == TAL_ROW_WITHOUT_EFFECT) continue;
        const double *L = e->entries + row.entries - row.start;
        const double sum =
            tali_constraint_dot(L + row.start, y + row.start, row.column - row.start);
        if (row.fate == TAL_ROW_GOOD) {
            y[row.column] = (in[i] / weight_of(e, i) - sum) / L[row.column];
        } else {
            out[i] = sum * weight_of(e, i);
        }
    }
}

static void add_row(const tali_envelope *e, const tali_envelope_row *row, double factor, double y[])
{
    const double *L = e->entries + row->entries - row->start;
    for (int j = row->start; j < row->column; ++j) {
        y[j] += factor * L[j];
    }
}

// out_g = C^T in_r
static void mul_CT(const tali_envelope *e, const double in[], double y[], double out[])
{
    memset(y, 0, (size_t)e->n * sizeof *y);
    for (int i = 0; i < e->n; ++i) {
        if (e->rows[i].fate == TAL_ROW_REDUNDANT) {
            add_row(e, &e->rows[i], in[i] * weight_of(e, i), y);
        }
    }
    for (int i = e->n - 1; i >= 0; --i) {
        const tali_envelope_row *row = &e->rows[i];
        if (row->fate != TAL_ROW_GOOD) continue;
        const double value =
            y[row->column] / e->entries[row->entries + (size_t)(row->column - row->start)];
        add_row(e, row, -value, y);
        out[i] = value / weight_of(e, i);
    }
}

// a . b over rows of one fate.
static double dot_of(const tali_envelope *e, tal_row_fate fate, const double a[], const double b[])
{
    double sum = 0.0;
    for (int i = 0; i < e->n; ++i) {
        if (e->rows[i].fate == (int32_t)fate) sum += a[i] * b[i];
    }
    return sum;
}

// One iteration of conjugate gradients for (1 + C C^T) z = ..., with residual r and direction p.
// Returns the new r . r.
static double iterate(const tali_envelope *e, double square, double z[], double r[], double p[],
                      double Kp[], double g[], double y[])
{
    mul_CT(e, p, y, g);
    mul_C(e, g, y, Kp);
    const double curvature = dot_of(e, TAL_ROW_REDUNDANT, p, p) + dot_of(e, TAL_ROW_GOOD, g, g);
    const double length = square / curvature; // p . (1 + C C^T) p = p . p + |C^T p|^2
    for (int i = 0; i < e->n; ++i) {
        if (e->rows[i].fate != TAL_ROW_REDUNDANT) continue;
        z[i] += length * p[i];
        r[i] -= length * (p[i] + Kp[i]);
    }
    const double next = dot_of(e, TAL_ROW_REDUNDANT, r, r);
    for (int i = 0; i < e->n; ++i) {
        p[i] = r[i] + next / square * p[i];
    }
    return next;
}

// x - N z
static void subtract_null(const tali_envelope *e, const double z[], double g[], double y[],
                          double x[])
{
    mul_CT(e, z, y, g);
    for (int i = 0; i < e->n; ++i) {
        if (e->rows[i].fate == TAL_ROW_GOOD) x[i] += g[i];
        if (e->rows[i].fate == TAL_ROW_REDUNDANT) x[i] -= z[i];
        if (e->rows[i].fate == TAL_ROW_WITHOUT_EFFECT) x[i] = 0.0;
    }
}

// x loses its part in the null space, by conjugate gradients. False when they do not converge.
static bool remove_null(const tali_envelope *e, double x[], double work[])
{
    enum {
        MOST_ITERATIONS = 500
    };

    const size_t n = (size_t)e->n;
    double *z = work, *r = z + n, *p = r + n, *Kp = p + n, *g = Kp + n, *y = g + n;
    memset(work, 0, tali_envelope_work_size(e->n) * sizeof *work);
    mul_C(e, x, y, r);
    for (int i = 0; i < e->n; ++i) {
        r[i] = e->rows[i].fate == TAL_ROW_REDUNDANT ? x[i] - r[i] : 0.0;
        p[i] = r[i];
    }
    const double size = dot_of(e, TAL_ROW_REDUNDANT, x, x) + dot_of(e, TAL_ROW_GOOD, x, x);
    double square = dot_of(e, TAL_ROW_REDUNDANT, r, r);
    const double round_off = DBL_EPSILON * DBL_EPSILON * (size + square);
    const double good_enough = 1e-20 * (size + square); // where round-off ends the progress
    for (int k = 0; k < MOST_ITERATIONS && square > round_off; ++k) {
        square = iterate(e, square, z, r, p, Kp, g, y);
    }
    subtract_null(e, z, g, y, x);
    return square <= good_enough;
}

// What is left may be much shorter than x was, and have the round-off of x: a second time removes
// it.
bool tali_envelope_to_range(const tali_envelope *e, double x[], double work[])
{
    const bool is_removed = remove_null(e, x, work);
    return is_removed && remove_null(e, x, work);
}
