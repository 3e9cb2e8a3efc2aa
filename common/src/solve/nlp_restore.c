// Where no step makes the merit smaller, the rows alone are followed for a while: the method of
// Levenberg and Marquardt for |c|^2, in units of the distances to the bounds, so that steps turn
// away from these (ColemanLi).
#include "array_internal.h"

#include "solve/nlp_internal.h"

#include <math.h>
#include <string.h>

// How much better rows have to be; the share of distances to bounds that a step may take.
static const double BETTER = 0.9, BOUNDARY = 0.995;

static const double FIRST_DAMPING = 1e-4, LEAST_DAMPING = 1e-12, MOST_DAMPING = 1e12;

// Slopes of |c|^2 / 2 that are smaller, as a part of |c|, lead nowhere.
static const double FLAT = 1e-7;

// Distances to bounds count as no longer than this, relative to x.
static double unit_at(const tal_nlp_solver *it, int j)
{
    const double size = fmax(1.0, fabs(it->x[j]));
    const double down = it->x[j] - it->lower[j], up = it->upper[j] - it->x[j];
    return fmin(size, fmin(down, up));
}

// The step of least size with the least |c + J dx|^2; the largest slope of |c|^2 / 2 in units.
static double find_step(tal_nlp_solver *it, double damping)
{
    memset(it->rest, 0, (size_t)it->n * sizeof *it->rest);
    tali_nlp_add_JT(it, it->c, it->rest);
    double steepest = 0.0;
    for (int j = 0; j < it->n; ++j) {
        const double unit = it->is_fixed[j] ? 1.0 : unit_at(it, j);
        it->dx[j] = damping / (unit * unit);
        if (!it->is_fixed[j]) steepest = fmax(steepest, unit * fabs(it->rest[j]));
    }
    if (!tali_nlp_factor_rows(it, it->dx, 1.0)) return (double)NAN;
    memset(it->rhs, 0, (size_t)it->n * sizeof *it->rhs);
    for (int i = 0; i < it->m; ++i) {
        it->rhs[it->n + i] = -it->c[i];
    }
    tali_nlp_solve_kkt(it);
    memcpy(it->dx, it->solution, (size_t)it->n * sizeof *it->dx);
    return steepest;
}

// Whether the step makes rows better; if so, it is taken.
static tal_status try_step(tal_nlp_solver *it, bool *is_better)
{
    const double part = tali_nlp_part_within(it, it->dx, BOUNDARY);
    for (int j = 0; j < it->n; ++j) {
        it->x_try[j] = it->x[j] + part * it->dx[j];
    }
    tal_status st = tali_nlp_calc_values(it, it->x_try, &it->F_try, it->c_try);
    const bool is_there = st == TAL_OK;
    if (st == TAL_ERR_NOT_FINITE) st = TAL_OK;
    *is_better = is_there && tali_array_dot(it->c_try, it->c_try, it->m) <
                                 (1.0 - 1e-8) * tali_array_dot(it->c, it->c, it->m);
    if (!*is_better) return st;
    memcpy(it->x, it->x_try, (size_t)it->n * sizeof *it->x);
    memcpy(it->c, it->c_try, (size_t)it->m * sizeof *it->c);
    it->F = it->F_try;
    return tali_nlp_calc_slopes(it);
}

// Multipliers and curvature are begun again where rows are better.
static void begin_again(tal_nlp_solver *it)
{
    it->penalty = 1.0;
    tali_nlp_reset_z(it);
    tali_nlp_estimate_lambda(it);
    tali_nlp_forget_curvature(it);
}

tal_status tali_nlp_restore(tal_nlp_solver *it, int *iterations)
{
    const double goal = BETTER * tali_nlp_size_of_rows(it, it->c);
    double damping = FIRST_DAMPING;
    while (*iterations < it->options.max_iterations) {
        const double steepest = find_step(it, damping);
        const double size = sqrt(tali_array_dot(it->c, it->c, it->m));
        if (!(steepest > FLAT * size)) return TAL_ERR_INFEASIBLE;
        bool is_better = false;
        const tal_status st = try_step(it, &is_better);
        if (st != TAL_OK) return st;
        ++*iterations;
        damping = is_better ? fmax(0.1 * damping, LEAST_DAMPING) : 10.0 * damping;
        if (damping > MOST_DAMPING) return TAL_ERR_INFEASIBLE;
        if (!(tali_nlp_size_of_rows(it, it->c) <= goal)) continue;
        begin_again(it);
        return TAL_OK;
    }
    return TAL_ERR_NO_CONVERGENCE;
}
