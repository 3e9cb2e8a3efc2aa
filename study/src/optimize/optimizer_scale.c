// The program of optimal control in units: unknowns that may become large are told to the solver as
// shares of how large they may become. A step of one is then a step of what counts, for each of
// them, as the solver's tolerances and first damping take it to be.
#include "optimize/optimizer_internal.h"

#include <math.h>

// The larger end of a range, if both are finite and one is beyond 1.
static double unit_of(double low, double high)
{
    return isfinite(low) && isfinite(high) ? fmax(1.0, fmax(fabs(low), fabs(high))) : 1.0;
}

// Controls in parts of their ranges.
static void choose_units(tal_optimizer *it)
{
    const int c0 = it->ny + it->nu;
    for (int k = 0; k < it->num_unknowns; ++k) {
        const bool is_control = k < it->num_nodes * it->size && k % it->size >= c0;
        it->unit[k] = is_control ? unit_of(it->lower[k], it->upper[k]) : 1.0;
    }
}

static void unscale(const tal_optimizer *it, const double shares[], double x[])
{
    for (int k = 0; k < it->num_unknowns; ++k) {
        x[k] = it->unit[k] * shares[k];
    }
}

// --- functions of the program ---

static tal_status calc_objective(void *self, const double shares[], double *F)
{
    tal_optimizer *it = self;
    unscale(it, shares, it->x);
    return it->program.calc_objective(it, it->x, F);
}

static tal_status calc_gradient(void *self, const double shares[], double g[])
{
    tal_optimizer *it = self;
    unscale(it, shares, it->x);
    const tal_status st = it->program.calc_gradient(it, it->x, g);
    for (int k = 0; k < it->num_unknowns; ++k) {
        g[k] *= it->unit[k];
    }
    return st;
}

static tal_status calc_rows(void *self, const double shares[], double c[])
{
    tal_optimizer *it = self;
    unscale(it, shares, it->x);
    return it->program.calc_rows(it, it->x, c);
}

static tal_status calc_jacobian(void *self, const double shares[], double values[])
{
    tal_optimizer *it = self;
    unscale(it, shares, it->x);
    const tal_status st = it->program.calc_jacobian(it, it->x, values);
    for (int k = 0; k < it->num_J; ++k) {
        values[k] *= it->unit[it->J_col[k]];
    }
    return st;
}

static tal_status calc_hessian(void *self, const double shares[], double weight,
                               const double lambda[], double values[])
{
    tal_optimizer *it = self;
    unscale(it, shares, it->x);
    const tal_status st = it->program.calc_hessian(it, it->x, weight, lambda, values);
    for (int k = 0; k < it->num_H; ++k) {
        values[k] *= it->unit[it->H_row[k]] * it->unit[it->H_col[k]];
    }
    return st;
}

// --- solving ---

tal_status tali_optimize_solve(tal_optimizer *it, const tal_nlp_options *options,
                               tal_nlp_report *report, tal_error *err)
{
    choose_units(it);
    for (int k = 0; k < it->num_unknowns; ++k) {
        it->lower[k] /= it->unit[k];
        it->upper[k] /= it->unit[k];
        it->shares[k] = it->x[k] / it->unit[k];
    }
    it->program = tali_optimize_program(it);
    tal_nlp nlp = it->program;
    nlp.calc_objective = calc_objective;
    nlp.calc_gradient = calc_gradient;
    nlp.calc_rows = calc_rows;
    nlp.calc_jacobian = calc_jacobian;
    nlp.calc_hessian = calc_hessian;
    tal_status st = tal_nlp_solver_create(&nlp, options, &it->solver, err);
    if (st != TAL_OK) return st;
    st = tal_nlp_solver_run(it->solver, it->shares, report, err);
    unscale(it, it->shares, it->x);
    return st;
}
