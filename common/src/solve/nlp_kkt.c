// The systems of equations of the interior-point method: symmetric, sparse, quasi-definite.
//
//     [ H + Sigma + shift   J^T  ] [ dx      ]   [ -(g + J^T lambda - mu / (x - l) + mu / (u - x)) ]
//     [ J                   -eps ] [ dlambda ] = [ -c                                              ]
//
// with Sigma = z / (distance to the bound). eps keeps rows that depend on each other from making it
// singular; refinement takes its effect out again.
#include "array_internal.h"

#include "solve/nlp_internal.h"

#include <math.h>
#include <string.h>

// The first increase of the curvature, and the largest; factors from one to the next, and back.
static const double FIRST_SHIFT = 1e-4, MOST_SHIFT = 1e20;
static const double FIRST_GROWTH = 100.0, GROWTH = 8.0, DECREASE = 1.0 / 3.0, LEAST_SHIFT = 1e-20;

// What keeps rows independent.
static const double ROW_SHIFT = 1e-8;

// Estimates of multipliers that are larger than this say that rows depend on each other.
static const double MOST_LAMBDA = 1e3;

enum {
    MOST_REFINEMENTS = 3
};

// Entries from `begin` on are those of the diagonal of unknowns, of the Jacobian, of the diagonal
// of rows.
static void put_rows(tal_nlp_solver *it, double rows)
{
    double *J = it->kkt_value + it->num_H + it->n;
    for (int k = 0; k < it->num_J; ++k) {
        J[k] = it->is_fixed[it->kkt_col[it->num_H + it->n + k]] ? 0.0 : it->J[k];
    }
    for (int i = 0; i < it->m; ++i) {
        J[it->num_J + i] = -rows;
    }
}

static void put_curvature(tal_nlp_solver *it)
{
    for (int k = 0; k < it->num_H; ++k) {
        const bool is_out = it->is_fixed[it->kkt_row[k]] || it->is_fixed[it->kkt_col[k]];
        it->kkt_value[k] = is_out ? 0.0 : it->H[k];
    }
    for (int j = 0; j < it->n; ++j) {
        double sum = it->shift;
        if (isfinite(it->lower[j])) sum += it->z_lower[j] / (it->x[j] - it->lower[j]);
        if (isfinite(it->upper[j])) sum += it->z_upper[j] / (it->upper[j] - it->x[j]);
        it->kkt_value[it->num_H + j] = it->is_fixed[j] ? 1.0 : sum;
    }
}

static bool has_inertia(tal_nlp_solver *it)
{
    const tali_sparse_inertia signs = tali_sparse_factor(it->kkt, it->kkt_value);
    return signs.positive == it->n && signs.negative == it->m;
}

bool tali_nlp_factor_step(tal_nlp_solver *it)
{
    put_rows(it, ROW_SHIFT);
    it->shift = 0.0;
    put_curvature(it);
    if (has_inertia(it)) return true;
    it->shift = it->last_shift > 0.0 ? fmax(DECREASE * it->last_shift, LEAST_SHIFT) : FIRST_SHIFT;
    const double growth = it->last_shift > 0.0 ? GROWTH : FIRST_GROWTH;
    for (; it->shift < MOST_SHIFT; it->shift *= growth) {
        put_curvature(it);
        if (!has_inertia(it)) continue;
        it->last_shift = it->shift;
        return true;
    }
    return false;
}

bool tali_nlp_factor_rows(tal_nlp_solver *it, const double d[], double rows)
{
    put_rows(it, rows > 0.0 ? rows : ROW_SHIFT);
    memset(it->kkt_value, 0, (size_t)it->num_H * sizeof *it->kkt_value);
    for (int j = 0; j < it->n; ++j) {
        it->kkt_value[it->num_H + j] = it->is_fixed[j] ? 1.0 : d[j];
    }
    return has_inertia(it);
}

// What the last system leaves of the right-hand side, without what keeps rows independent.
static double find_rest(tal_nlp_solver *it)
{
    const int begin = it->num_kkt - it->m;
    memcpy(it->rest, it->rhs, (size_t)(it->n + it->m) * sizeof *it->rest);
    for (int k = 0; k < it->num_kkt; ++k) {
        const int i = it->kkt_row[k], j = it->kkt_col[k];
        const double value = it->kkt_value[k] + (k >= begin ? ROW_SHIFT : 0.0);
        it->rest[i] -= value * it->solution[j];
        if (i != j) it->rest[j] -= value * it->solution[i];
    }
    return tali_array_largest(it->rest, it->n + it->m);
}

void tali_nlp_solve_kkt(tal_nlp_solver *it)
{
    const int size = it->n + it->m;
    memcpy(it->solution, it->rhs, (size_t)size * sizeof *it->solution);
    tali_sparse_solve(it->kkt, it->solution);
    double left = find_rest(it);
    for (int k = 0; k < MOST_REFINEMENTS && left > 0.0; ++k) {
        tali_sparse_solve(it->kkt, it->rest);
        for (int i = 0; i < size; ++i) {
            it->solution[i] += it->rest[i];
        }
        memcpy(it->correction, it->rest, (size_t)size * sizeof *it->rest);
        const double now = find_rest(it);
        if (!(now < left)) { // rows depend on each other, or round-off: the last one was better
            for (int i = 0; i < size; ++i) {
                it->solution[i] -= it->correction[i];
            }
            return;
        }
        left = now;
    }
}

void tali_nlp_estimate_lambda(tal_nlp_solver *it)
{
    for (int j = 0; j < it->n; ++j) {
        it->dx[j] = 1.0;
        it->rhs[j] = it->is_fixed[j] ? 0.0 : it->z_lower[j] - it->z_upper[j] - it->g[j];
    }
    memset(it->rhs + it->n, 0, (size_t)it->m * sizeof *it->rhs);
    memset(it->lambda, 0, (size_t)it->m * sizeof *it->lambda);
    if (it->m == 0 || !tali_nlp_factor_rows(it, it->dx, 0.0)) return;
    tali_nlp_solve_kkt(it);
    if (!(tali_array_largest(it->solution + it->n, it->m) <= MOST_LAMBDA)) return;
    memcpy(it->lambda, it->solution + it->n, (size_t)it->m * sizeof *it->lambda);
}
