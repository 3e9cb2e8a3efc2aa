// Parameters fitted to wanted outputs: least squares whose slopes are differences, all of one step
// at once.
#include "ensemble/ensemble_internal.h"

#include <math.h>
#include <string.h>

tal_ensemble_fit_options tal_ensemble_fit_options_default(void)
{
    return (tal_ensemble_fit_options){.accuracy = 1e-8, .max_iterations = 50};
}

typedef struct fit {
    tal_ensemble *ensemble;
    const tal_state *start;
    const double *targets;
    tal_ensemble_fit_options options;
    int np, no;
} fit;

static double scale_of(const fit *it, int i)
{
    return it->options.scale != NULL ? it->options.scale[i] : 1.0;
}

static double weight_of(const fit *it, int i)
{
    return it->options.weights != NULL ? it->options.weights[i] : 1.0;
}

// The ensemble's own failure becomes that of the fit.
static tal_status run_trials(const fit *it, int n)
{
    tal_ensemble *ensemble = it->ensemble;
    const tal_design trials = tal_design_table(ensemble->trial_values, it->np, n);
    const tal_status st =
        tal_ensemble_run(ensemble, it->start, &trials, ensemble->trial_results, NULL, NULL);
    return st != TAL_OK ? st : ensemble->error_record.status;
}

// How far a parameter is moved, in its unit: the cube root of eps, which balances the error of a
// central difference with round-off.
#define STEP 6e-6

// The values, and each with one parameter moved up and down.
static void lay_out_trials(const fit *it, const double values[])
{
    const size_t np = (size_t)it->np;
    for (int k = 0; k <= 2 * it->np; ++k) {
        double *row = it->ensemble->trial_values + (size_t)k * np;
        memcpy(row, values, np * sizeof *row);
        if (k == 0) continue;
        const int i = (k - 1) / 2;
        row[i] += (k % 2 == 1 ? STEP : -STEP) * scale_of(it, i);
    }
}

// Residuals sqrt(weight) (output - target), and their slopes by central differences. Where only the
// residuals are wanted, a failure means that the step is too long.
static tal_status calc_residuals(void *self, const double x[], double r[], tal_matrix J)
{
    const fit *it = self;
    const bool wants_slopes = J.rows > 0;
    lay_out_trials(it, x);
    const tal_status st = run_trials(it, wants_slopes ? 1 + 2 * it->np : 1);
    if (st != TAL_OK) return wants_slopes ? st : TAL_RETRY;
    const double *base = it->ensemble->trial_results;
    for (int i = 0; i < it->no; ++i) {
        const double root = sqrt(weight_of(it, i));
        r[i] = root * (base[i] - it->targets[i]);
        for (int j = 0; j < it->np && wants_slopes; ++j) {
            const double *up = base + (size_t)(1 + 2 * j) * (size_t)it->no, *down = up + it->no;
            const double by = 2.0 * STEP * scale_of(it, j);
            J.data[(size_t)j * (size_t)J.ld + (size_t)i] = root * (up[i] - down[i]) / by;
        }
    }
    return TAL_OK;
}

static tal_status check_fit(const fit *it)
{
    if (!(it->options.accuracy > 0.0) || it->options.max_iterations < 1) {
        return TALI_FAIL(&it->ensemble->error_record, TAL_ERR_BAD_VALUE,
                         "accuracy %g and max_iterations %d must be positive", it->options.accuracy,
                         it->options.max_iterations);
    }
    for (int i = 0; i < it->np; ++i) {
        if (isfinite(scale_of(it, i)) && scale_of(it, i) > 0.0) continue;
        return TALI_FAIL(&it->ensemble->error_record, TAL_ERR_BAD_VALUE, "the scale of '%s' is %g",
                         it->ensemble->parameters[i].name, scale_of(it, i));
    }
    for (int i = 0; i < it->no; ++i) {
        const double weight = weight_of(it, i);
        if (isfinite(it->targets[i]) && isfinite(weight) && weight >= 0.0) continue;
        return TALI_FAIL(&it->ensemble->error_record, TAL_ERR_BAD_VALUE,
                         "output %d has target %g and weight %g", i, it->targets[i], weight);
    }
    return TAL_OK;
}

// The least squares. Values are written on success only.
static tal_status solve(fit *it, double values[], double *cost)
{
    tal_ensemble *ensemble = it->ensemble;
    const tal_least_squares problem = {.num_unknowns = it->np,
                                       .num_residuals = it->no,
                                       .scale = it->options.scale,
                                       .self = it,
                                       .calc = calc_residuals};
    const tal_least_squares_options options = {it->options.accuracy, it->options.max_iterations};
    tal_least_squares_report report = {.iterations = 0};
    tal_error why = {TAL_OK, "", ""};
    double *found = ensemble->best;
    memcpy(found, values, (size_t)it->np * sizeof *found);
    const tal_status st =
        tal_least_squares_solve(&problem, &options, found, NULL, ensemble->fit_work, &report, &why);
    if (st == TAL_ERR_NO_CONVERGENCE) {
        ensemble->error_record = (tal_error){TAL_OK, "", ""}; // of a step that was too long
        return TALI_FAIL(&ensemble->error_record, st,
                         "%d iterations were not enough: half the sum of squares is %g",
                         it->options.max_iterations, report.cost);
    }
    if (st != TAL_OK) {
        const bool is_told = ensemble->error_record.status != TAL_OK;
        return is_told ? st : TALI_FAIL(&ensemble->error_record, st, "%s", why.message);
    }
    ensemble->error_record = (tal_error){TAL_OK, "", ""};
    memcpy(values, found, (size_t)it->np * sizeof *values);
    if (cost != NULL) *cost = report.cost;
    return TAL_OK;
}

tal_status tal_ensemble_fit(tal_ensemble *ensemble, const tal_state *start, const double targets[],
                            const tal_ensemble_fit_options *options, double values[], double *cost)
{
    if (ensemble == NULL || start == NULL || targets == NULL || values == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    ensemble->error_record = (tal_error){TAL_OK, "", ""};
    fit it = {ensemble,
              start,
              targets,
              options != NULL ? *options : tal_ensemble_fit_options_default(),
              ensemble->def.num_parameters,
              ensemble->row_size};
    const tal_status st = check_fit(&it);
    return st == TAL_OK ? solve(&it, values, cost) : st;
}
