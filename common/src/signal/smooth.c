// Cubic smoothing splines by Reinsch's equations, with the trace of Hutchinson and de Hoog (Numer.
// Math. 47 (1985) 99): with the second derivatives gamma at the inner samples,
//
//     (R + lambda Q^T W^-1 Q) gamma = Q^T y        g = y - lambda W^-1 Q gamma
//
// R has three bands and the sum five; of its inverse only the five bands are needed for the trace.
#include "signal/signal_internal.h"

#include <math.h>
#include <string.h>

/// One smoothing problem; m = count - 2 inner samples, arrays of bands by inner sample.
typedef struct smoother {
    int n, m;
    const double *y, *w; ///< w NULL: all one
    double *h;           ///< [n - 1] steps
    double *R[2];        ///< [m] diagonal and the band beside it
    double *S[3];        ///< [m] Q^T W^-1 Q: diagonal, first and second band
    double *D, *L[2];    ///< [m] of R + lambda S = L D L^T
    double *B[3];        ///< [m] bands of its inverse
    double *gamma;       ///< [m]
    double *Qy;          ///< [m] Q^T y
    double *g;           ///< [n]
} smoother;

enum {
    NUM_ARRAYS = 15
};

size_t tal_signal_smooth_work_size(int count)
{
    return count > 0 ? (size_t)NUM_ARRAYS * (size_t)count : 0;
}

static void lay_out(smoother *it, double *work)
{
    double **const arrays[NUM_ARRAYS] = {&it->h,    &it->R[0], &it->R[1],  &it->S[0], &it->S[1],
                                         &it->S[2], &it->D,    &it->L[0],  &it->L[1], &it->B[0],
                                         &it->B[1], &it->B[2], &it->gamma, &it->Qy,   &it->g};
    for (size_t k = 0; k < NUM_ARRAYS; ++k) {
        *arrays[k] = work + k * (size_t)it->n;
    }
}

static double weight(const smoother *it, int i)
{
    return it->w != NULL ? it->w[i] : 1.0;
}

// Column j of Q has three entries, at the samples j, j + 1 and j + 2: second differences.
static void column_of(const smoother *it, int j, double q[3])
{
    q[0] = 1.0 / it->h[j];
    q[2] = 1.0 / it->h[j + 1];
    q[1] = -q[0] - q[2];
}

// What does not depend on lambda.
static void prepare(smoother *it, const double times[])
{
    for (int i = 0; i + 1 < it->n; ++i) {
        it->h[i] = times[i + 1] - times[i];
    }
    for (int j = 0; j < it->m; ++j) {
        double q[3], next[3] = {0.0, 0.0, 0.0}, last[3] = {0.0, 0.0, 0.0};
        column_of(it, j, q);
        if (j + 1 < it->m) column_of(it, j + 1, next);
        if (j + 2 < it->m) column_of(it, j + 2, last);
        it->R[0][j] = (it->h[j] + it->h[j + 1]) / 3.0;
        it->R[1][j] = it->h[j + 1] / 6.0;
        it->S[0][j] = q[0] * q[0] / weight(it, j) + q[1] * q[1] / weight(it, j + 1) +
                      q[2] * q[2] / weight(it, j + 2);
        it->S[1][j] = q[1] * next[0] / weight(it, j + 1) + q[2] * next[1] / weight(it, j + 2);
        it->S[2][j] = q[2] * last[0] / weight(it, j + 2);
        it->Qy[j] = q[0] * it->y[j] + q[1] * it->y[j + 1] + q[2] * it->y[j + 2];
    }
}

// R + lambda S = L D L^T, L with ones on its diagonal and two bands below.
static void factor(smoother *it, double lambda)
{
    double *D = it->D, *first = it->L[0], *second = it->L[1]; // L[j + 1][j] and L[j + 2][j]
    for (int j = 0; j < it->m; ++j) {
        double d = it->R[0][j] + lambda * it->S[0][j];
        double next = it->R[1][j] + lambda * it->S[1][j];
        if (j > 0) {
            d -= D[j - 1] * first[j - 1] * first[j - 1];
            next -= D[j - 1] * first[j - 1] * second[j - 1];
        }
        if (j > 1) d -= D[j - 2] * second[j - 2] * second[j - 2];
        D[j] = d;
        first[j] = j + 1 < it->m ? next / d : 0.0;
        second[j] = j + 2 < it->m ? lambda * it->S[2][j] / d : 0.0;
    }
}

static void solve(smoother *it)
{
    const double *first = it->L[0], *second = it->L[1];
    double *x = it->gamma;
    for (int j = 0; j < it->m; ++j) {
        x[j] = it->Qy[j];
        if (j > 0) x[j] -= first[j - 1] * x[j - 1];
        if (j > 1) x[j] -= second[j - 2] * x[j - 2];
    }
    for (int j = it->m - 1; j >= 0; --j) {
        x[j] /= it->D[j];
        if (j + 1 < it->m) x[j] -= first[j] * x[j + 1];
        if (j + 2 < it->m) x[j] -= second[j] * x[j + 2];
    }
}

// The five bands of the inverse, from the last row to the first.
static void invert(smoother *it)
{
    const double *first = it->L[0], *second = it->L[1];
    double *B0 = it->B[0], *B1 = it->B[1], *B2 = it->B[2];
    for (int j = it->m - 1; j >= 0; --j) {
        const double b11 = j + 1 < it->m ? B0[j + 1] : 0.0;
        const double b12 = j + 2 < it->m ? B1[j + 1] : 0.0;
        const double b22 = j + 2 < it->m ? B0[j + 2] : 0.0;
        B1[j] = -first[j] * b11 - second[j] * b12;
        B2[j] = -first[j] * b12 - second[j] * b22;
        B0[j] = 1.0 / it->D[j] - first[j] * B1[j] - second[j] * B2[j];
    }
}

// lambda trace(W^-1 Q B Q^T): what is left of the degrees of freedom for the residuals.
static double trace_of_rest(const smoother *it, double lambda)
{
    const double *B0 = it->B[0], *B1 = it->B[1], *B2 = it->B[2];
    double sum = 0.0;
    for (int i = 0; i < it->n; ++i) { // the columns of Q that touch sample i: i - 2 to i
        double q[3] = {0.0, 0.0, 0.0}, row = 0.0;
        for (int k = 0; k < 3; ++k) {
            double column[3];
            const int j = i - 2 + k;
            if (j < 0 || j >= it->m) continue;
            column_of(it, j, column);
            q[k] = column[2 - k];
            row += q[k] * q[k] * B0[j];
        }
        if (i >= 2 && i - 1 < it->m) row += 2.0 * q[0] * q[1] * B1[i - 2];
        if (i >= 1 && i < it->m) row += 2.0 * q[1] * q[2] * B1[i - 1];
        if (i >= 2 && i < it->m) row += 2.0 * q[0] * q[2] * B2[i - 2];
        sum += row / weight(it, i);
    }
    return lambda * sum;
}

// Smooth samples for one lambda, and how good they are.
static tal_smoothing smooth_by(smoother *it, double lambda)
{
    factor(it, lambda);
    solve(it);
    invert(it);
    double squares = 0.0;
    for (int i = 0; i < it->n; ++i) {
        double change = 0.0;
        for (int k = 0; k < 3; ++k) {
            double column[3];
            const int j = i - 2 + k;
            if (j < 0 || j >= it->m) continue;
            column_of(it, j, column);
            change += column[2 - k] * it->gamma[j];
        }
        const double rest = lambda * change / weight(it, i);
        it->g[i] = it->y[i] - rest;
        squares += weight(it, i) * rest * rest;
    }
    const double left = trace_of_rest(it, lambda);
    tal_smoothing result = {.penalty = lambda, .dof = it->n - left};
    if (left > 0.0) {
        result.gcv = it->n * squares / (left * left);
        result.variance = squares / left;
    }
    return result;
}

// Generalized cross-validation, by powers of ten around where both terms are of one size, then by
// golden section between the neighbors of the best.
static double best_penalty(smoother *it)
{
    enum {
        LEAST = -24, // half powers of ten: dof within 1e-6 or so of the data and of a line
        MOST = 24,
        SECTIONS = 40
    };

    const double golden = 0.5 * (sqrt(5.0) - 1.0);
    double R = 0.0, S = 0.0, best = (double)INFINITY;
    int at = 0;
    for (int j = 0; j < it->m; ++j) {
        R += it->R[0][j];
        S += it->S[0][j];
    }
    const double middle = R / S;
    for (int k = LEAST; k <= MOST; ++k) {
        const tal_smoothing tried = smooth_by(it, middle * pow(10.0, 0.5 * k));
        if (!(tried.gcv < best) || it->n - tried.dof < 1e-6) continue;
        best = tried.gcv;
        at = k;
    }
    double low = 0.5 * (at - 1), high = 0.5 * (at + 1);
    for (int k = 0; k < SECTIONS; ++k) {
        const double a = high - golden * (high - low), b = low + golden * (high - low);
        const double at_a = smooth_by(it, middle * pow(10.0, a)).gcv;
        const double at_b = smooth_by(it, middle * pow(10.0, b)).gcv;
        if (at_a < at_b) {
            high = b;
        } else {
            low = a;
        }
    }
    return middle * pow(10.0, 0.5 * (low + high));
}

static tal_status check(const double y[], const double weights[], int count, double penalty,
                        const char *where, tal_error *err)
{
    tal_status st = tali_signal_check_finite(y, (size_t)count, "sample", where, err);
    if (st == TAL_OK && weights != NULL) {
        st = tali_signal_check_finite(weights, (size_t)count, "weight", where, err);
    }
    for (int i = 0; i < count && st == TAL_OK && weights != NULL; ++i) {
        if (weights[i] > 0.0) continue;
        st = TALI_FAIL(err, TAL_ERR_BAD_VALUE, "weight %d is %g: it must be positive", i,
                       weights[i]);
    }
    if (st == TAL_OK && !isfinite(penalty)) {
        st = TALI_FAIL(err, TAL_ERR_NOT_FINITE, "the penalty is %g: it must be finite", penalty);
    }
    return st;
}

tal_status tal_signal_smooth(const double times[], const double y[], const double weights[],
                             int count, tal_smoothing *it, double smooth[], double work[],
                             tal_error *err)
{
    if (times == NULL || y == NULL || smooth == NULL || work == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "'times', 'y', 'smooth' or 'work' is NULL");
    }
    tal_smoothing local = {.penalty = -1.0};
    if (it == NULL) it = &local;
    tal_status st = tali_signal_check_times(times, count, 3, __func__, err);
    if (st == TAL_OK) st = check(y, weights, count, it->penalty, __func__, err);
    if (st != TAL_OK) return st;
    smoother s = {.n = count, .m = count - 2, .y = y, .w = weights};
    lay_out(&s, work);
    prepare(&s, times);
    *it = smooth_by(&s, it->penalty < 0.0 ? best_penalty(&s) : it->penalty);
    memcpy(smooth, s.g, (size_t)count * sizeof *smooth);
    return TAL_OK;
}
