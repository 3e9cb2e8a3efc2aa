// Parameters fitted to wanted outputs: Levenberg-Marquardt, all differences of a step at once.
#include "array_internal.h"

#include "ensemble/ensemble_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Damping of Levenberg and Marquardt: the least that is not none, and where a fit gives up.
static const double LEAST_DAMPING = 1e-6, MOST_DAMPING = 1e10;

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

static double cost_of(const fit *it, const double results[])
{
    double sum = 0.0;
    for (int i = 0; i < it->no; ++i) {
        const double r = results[i] - it->targets[i];
        sum += 0.5 * weight_of(it, i) * r * r;
    }
    return sum;
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

// H = J^T W J and g = J^T W r in units of the parameters.
static void form_normal_equations(const fit *it)
{
    tal_ensemble *ensemble = it->ensemble;
    const double *base = ensemble->trial_results;
    for (int j = 0; j < it->np; ++j) {
        const double *up = base + (size_t)(1 + 2 * j) * (size_t)it->no;
        const double *down = up + it->no;
        for (int i = 0; i < it->no; ++i) {
            ensemble->J[(size_t)j * (size_t)it->no + (size_t)i] = (up[i] - down[i]) / (2.0 * STEP);
        }
    }
    for (int j = 0; j < it->np; ++j) {
        const double *J_j = ensemble->J + (size_t)j * (size_t)it->no;
        ensemble->g[j] = 0.0;
        for (int i = 0; i < it->no; ++i) {
            ensemble->g[j] += weight_of(it, i) * J_j[i] * (base[i] - it->targets[i]);
        }
        for (int k = 0; k < it->np; ++k) {
            const double *J_k = ensemble->J + (size_t)k * (size_t)it->no;
            double sum = 0.0;
            for (int i = 0; i < it->no; ++i) {
                sum += weight_of(it, i) * J_j[i] * J_k[i];
            }
            ensemble->H[(size_t)j * (size_t)it->np + (size_t)k] = sum;
        }
    }
}

// (H + lambda D) step = -g, in place of g. False when that is singular.
static bool solve_damped(const fit *it, double lambda)
{
    tal_ensemble *ensemble = it->ensemble;
    for (int i = 0; i < it->np; ++i) {
        double *diagonal = &ensemble->H[(size_t)i * (size_t)(it->np + 1)];
        *diagonal += lambda * *diagonal + DBL_MIN; // regular where nothing depends on it
        ensemble->g[i] = -ensemble->g[i];
    }
    const tal_matrix H = tal_matrix_view(ensemble->H, it->np, it->np);
    if (tal_chol_factor(H, NULL, NULL) != TAL_OK) return false;
    return tal_chol_solve(H, tal_matrix_view(ensemble->g, it->np, 1), NULL) == TAL_OK;
}

// Damping grows until a step makes the cost smaller, or until steps are too short to matter.
static tal_status fit_step(const fit *it, double values[], double *cost, double *lambda, bool *done)
{
    tal_ensemble *ensemble = it->ensemble;
    // NOLINTNEXTLINE(cert-flp30-c): bounded, 1e-6 times a power of ten
    for (; *lambda < MOST_DAMPING; *lambda = fmax(10.0 * *lambda, LEAST_DAMPING)) {
        form_normal_equations(it);
        if (!solve_damped(it, *lambda)) continue;
        *done = tali_array_largest(ensemble->g, it->np) <= it->options.accuracy;
        for (int i = 0; i < it->np; ++i) {
            ensemble->trial_values[i] = values[i] + scale_of(it, i) * ensemble->g[i];
        }
        // one sample: the differences of the last point stay behind it
        double *keep = ensemble->r;
        memcpy(keep, ensemble->trial_results, (size_t)it->no * sizeof *keep);
        const tal_status st = run_trials(it, 1);
        const double reached =
            st == TAL_OK ? cost_of(it, ensemble->trial_results) : (double)INFINITY;
        if (reached < *cost) {
            memcpy(values, ensemble->trial_values, (size_t)it->np * sizeof *values);
            *cost = reached;
            *lambda = 0.1 * *lambda;
            return TAL_OK;
        }
        memcpy(ensemble->trial_results, keep, (size_t)it->no * sizeof *keep);
        if (*done) return TAL_OK;
    }
    *done = true; // no direction is better: a minimum to within round-off
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

tal_status tal_ensemble_fit(tal_ensemble *ensemble, const tal_state *start, const double targets[],
                            const tal_ensemble_fit_options *options, double values[], double *cost)
{
    if (ensemble == NULL || start == NULL || targets == NULL || values == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    ensemble->error_record = (tal_error){TAL_OK, "", ""};
    const fit it = {ensemble,
                    start,
                    targets,
                    options != NULL ? *options : tal_ensemble_fit_options_default(),
                    ensemble->def.num_parameters,
                    ensemble->row_size};
    tal_status st = check_fit(&it);
    double *found = ensemble->best, least = (double)INFINITY, lambda = 0.0;
    memcpy(found, values, (size_t)it.np * sizeof *found);
    bool done = false;
    for (int k = 0; k < it.options.max_iterations && st == TAL_OK && !done; ++k) {
        lay_out_trials(&it, found);
        st = run_trials(&it, 1 + 2 * it.np);
        if (st != TAL_OK) return st;
        least = cost_of(&it, ensemble->trial_results);
        st = fit_step(&it, found, &least, &lambda, &done);
    }
    if (st != TAL_OK) return st;
    ensemble->error_record = (tal_error){TAL_OK, "", ""};
    if (!done) {
        return TALI_FAIL(&ensemble->error_record, TAL_ERR_NO_CONVERGENCE,
                         "%d iterations were not enough: half the sum of squares is %g",
                         it.options.max_iterations, least);
    }
    memcpy(values, found, (size_t)it.np * sizeof *values);
    if (cost != NULL) *cost = least;
    return TAL_OK;
}
