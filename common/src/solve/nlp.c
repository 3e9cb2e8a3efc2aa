// Nonlinear programs by an interior-point method: bounds become a barrier -mu sum log(distance),
// which is taken back step by step, and Newton's method follows the minimum of F with the barrier,
// subject to c = 0.
#include "alloc_internal.h"
#include "array_internal.h"
#include "error_internal.h"

#include "solve/nlp_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// The first barrier; how far it is taken back at least, and how fast in the end.
static const double FIRST_MU = 0.1, MU_FACTOR = 0.2, MU_POWER = 1.5;

// The barrier is taken back when the error is below this many times mu.
static const double NEAR_ENOUGH = 10.0;

// Slopes where the run begins are scaled down to this.
static const double MOST_SLOPE = 100.0;

// Distances to bounds where the run begins: relative to the bound, and to the range.
static const double INSIDE = 0.01;

// Multipliers beyond this mean size make errors relative to them.
static const double LARGE_MULTIPLIER = 100.0;

tal_nlp_options tal_nlp_options_default(void)
{
    return (tal_nlp_options){.tolerance = 1e-8,
                             .row_tolerance = 1e-8,
                             .max_iterations = 500,
                             .allocator = tal_allocator_default()};
}

// --- creation ---

static tal_status check_entries(const char *what, int count, const int row[], const int col[],
                                int num_rows, int num_cols, tal_error *err)
{
    if (count > 0 && (row == NULL || col == NULL)) {
        return TALI_BREACH(TAL_ERR_NULL, "the places of the %s are NULL", what);
    }
    for (int k = 0; k < count; ++k) {
        if (row[k] >= 0 && row[k] < num_rows && col[k] >= 0 && col[k] < num_cols) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "entry %d of the %s is at row %d, column %d; there are %d and %d", k, what,
                         row[k], col[k], num_rows, num_cols);
    }
    return TAL_OK;
}

static tal_status check_functions(const tal_nlp *nlp)
{
    const bool no_rows = nlp->num_rows > 0 && nlp->calc_rows == NULL;
    const bool no_jacobian = nlp->num_jacobian > 0 && nlp->calc_jacobian == NULL;
    if (nlp->calc_objective != NULL && nlp->calc_gradient != NULL && !no_rows && !no_jacobian) {
        return TAL_OK;
    }
    return TALI_BREACH(TAL_ERR_NULL, "the problem lacks the function calc_%s",
                       nlp->calc_objective == NULL  ? "objective"
                       : nlp->calc_gradient == NULL ? "gradient"
                       : no_rows                    ? "rows"
                                                    : "jacobian");
}

static tal_status check_problem(const tal_nlp *nlp, const tal_nlp_options *options, tal_error *err)
{
    if (nlp->num_unknowns < 0 || nlp->num_rows < 0 || nlp->num_jacobian < 0 ||
        nlp->num_hessian < 0) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "a size of the problem is negative");
    }
    tal_status st = check_functions(nlp);
    if (st == TAL_OK) {
        st = check_entries("Jacobian", nlp->num_jacobian, nlp->jacobian_row, nlp->jacobian_col,
                           nlp->num_rows, nlp->num_unknowns, err);
    }
    if (st == TAL_OK && nlp->calc_hessian != NULL) {
        st = check_entries("second derivatives", nlp->num_hessian, nlp->hessian_row,
                           nlp->hessian_col, nlp->num_unknowns, nlp->num_unknowns, err);
    }
    if (st != TAL_OK) return st;
    if (nlp->calc_hessian == NULL && nlp->num_unknowns > TAL_NLP_MOST_DENSE) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "%d unknowns without second derivatives; at most %d can be without",
                         nlp->num_unknowns, TAL_NLP_MOST_DENSE);
    }
    if (options->tolerance > 0.0 && options->row_tolerance > 0.0 && options->max_iterations >= 0) {
        return TAL_OK;
    }
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "the tolerances are %g and %g, and %d iterations are allowed; tolerances must "
                     "be positive, iterations not negative",
                     options->tolerance, options->row_tolerance, options->max_iterations);
}

static bool take_memory(tal_nlp_solver *it)
{
    const size_t n = (size_t)it->n * sizeof(double), m = (size_t)it->m * sizeof(double);
    const size_t places = (size_t)it->num_kkt * sizeof(int);
    const tali_piece pieces[] = {{&it->lower, n},
                                 {&it->upper, n},
                                 {&it->is_fixed, (size_t)it->n * sizeof *it->is_fixed},
                                 {&it->x, n},
                                 {&it->g, n},
                                 {&it->c, m},
                                 {&it->row_scale, m},
                                 {&it->J, (size_t)it->num_J * sizeof *it->J},
                                 {&it->H, (size_t)it->num_H * sizeof *it->H},
                                 {&it->lambda, m},
                                 {&it->z_lower, n},
                                 {&it->z_upper, n},
                                 {&it->dx, n},
                                 {&it->dz_lower, n},
                                 {&it->dz_upper, n},
                                 {&it->dlambda, m},
                                 {&it->x_try, n},
                                 {&it->c_try, m},
                                 {&it->kept, m},
                                 {&it->whole, 4 * n + 2 * m},
                                 {&it->g_before, n},
                                 {&it->x_before, n},
                                 {&it->s, n},
                                 {&it->y, n},
                                 {&it->Bs, n},
                                 {&it->kkt_row, places},
                                 {&it->kkt_col, places},
                                 {&it->kkt_value, (size_t)it->num_kkt * sizeof *it->kkt_value},
                                 {&it->rhs, n + m},
                                 {&it->rest, n + m},
                                 {&it->solution, n + m},
                                 {&it->correction, n + m},
                                 {&it->lambda_out, m},
                                 {&it->z_lower_out, n},
                                 {&it->z_upper_out, n},
                                 {&it->user_lambda, m}};
    it->block = tali_alloc_pieces(&it->options.allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    return it->block != NULL;
}

// Places of all entries of the system of a step.
static void place_entries(tal_nlp_solver *it)
{
    const tal_nlp *nlp = &it->nlp;
    int k = 0;
    if (nlp->calc_hessian != NULL) {
        for (; k < it->num_H; ++k) {
            it->kkt_row[k] = nlp->hessian_row[k];
            it->kkt_col[k] = nlp->hessian_col[k];
        }
    } else {
        for (int i = 0; i < nlp->num_unknowns; ++i) {
            for (int j = 0; j <= i; ++j, ++k) {
                it->kkt_row[k] = i;
                it->kkt_col[k] = j;
            }
        }
    }
    for (int j = 0; j < it->n; ++j, ++k) {
        it->kkt_row[k] = it->kkt_col[k] = j;
    }
    for (int i = 0; i < it->num_J; ++i, ++k) {
        const bool is_slack = i >= nlp->num_jacobian;
        const int row = is_slack ? i - nlp->num_jacobian : nlp->jacobian_row[i];
        it->kkt_row[k] = it->n + row;
        it->kkt_col[k] = is_slack ? nlp->num_unknowns + row : nlp->jacobian_col[i];
    }
    for (int i = 0; i < it->m; ++i, ++k) {
        it->kkt_row[k] = it->kkt_col[k] = it->n + i;
    }
}

static void size_up(tal_nlp_solver *it)
{
    const tal_nlp *nlp = &it->nlp;
    const bool has_slacks = nlp->row_lower != NULL || nlp->row_upper != NULL;
    const int slacks = has_slacks ? nlp->num_rows : 0, unknowns = nlp->num_unknowns;
    it->m = nlp->num_rows;
    it->n = unknowns + slacks;
    it->num_J = nlp->num_jacobian + slacks;
    it->num_H = nlp->calc_hessian != NULL ? nlp->num_hessian : unknowns * (unknowns + 1) / 2;
    it->num_kkt = it->num_H + it->n + it->num_J + it->m;
}

tal_status tal_nlp_solver_create(const tal_nlp *nlp, const tal_nlp_options *options,
                                 tal_nlp_solver **out, tal_error *err)
{
    if (out != NULL) *out = NULL;
    if (nlp == NULL || out == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "%s is NULL", nlp == NULL ? "nlp" : "out");
    }
    tal_nlp_options own = options != NULL ? *options : tal_nlp_options_default();
    tal_status st = tali_alloc_choose(&own.allocator, &own.allocator, __func__);
    if (st == TAL_OK) st = check_problem(nlp, &own, err);
    if (st != TAL_OK) return st;
    tal_nlp_solver *it = tali_alloc(&own.allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a solver");
    *it = (tal_nlp_solver){.nlp = *nlp, .options = own};
    size_up(it);
    st = take_memory(it) ? TAL_OK : TAL_ERR_NO_MEMORY;
    if (st == TAL_OK) {
        place_entries(it);
        st = tali_sparse_create(&own.allocator, it->n + it->m, it->num_kkt, it->kkt_row,
                                it->kkt_col, &it->kkt);
    }
    if (st != TAL_OK) {
        tal_nlp_solver_destroy(it);
        return TALI_FAIL(err, st, "no memory for a problem of %d unknowns and %d rows",
                         nlp->num_unknowns, nlp->num_rows);
    }
    *out = it;
    return TAL_OK;
}

void tal_nlp_solver_destroy(tal_nlp_solver *solver)
{
    if (solver == NULL) return;
    const tal_allocator allocator = solver->options.allocator;
    tali_sparse_destroy(solver->kkt);
    tali_free(&allocator, solver->block, solver->block_bytes);
    tali_free(&allocator, solver, sizeof *solver);
}

// --- where to begin ---

static tal_status copy_bounds(tal_nlp_solver *it, tal_error *err)
{
    const tal_nlp *nlp = &it->nlp;
    for (int j = 0; j < it->n; ++j) {
        const bool is_row = j >= nlp->num_unknowns;
        const int k = is_row ? j - nlp->num_unknowns : j;
        const double *lower = is_row ? nlp->row_lower : nlp->lower;
        const double *upper = is_row ? nlp->row_upper : nlp->upper;
        const double none = is_row ? 0.0 : (double)INFINITY;
        it->lower[j] = lower != NULL ? lower[k] : -none;
        it->upper[j] = upper != NULL ? upper[k] : none;
        it->is_fixed[j] = it->lower[j] == it->upper[j];
        if (it->lower[j] <= it->upper[j] && it->lower[j] < (double)INFINITY &&
            it->upper[j] > -(double)INFINITY) {
            continue;
        }
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "%s %d has the range %g to %g",
                         is_row ? "row" : "unknown", k, it->lower[j], it->upper[j]);
    }
    return TAL_OK;
}

// The nearest place that is some way inside of the bounds.
static double inside_of(double x, double lower, double upper)
{
    if (lower == upper) return lower;
    const double range = INSIDE * (upper - lower);
    const double low = lower + fmin(INSIDE * fmax(1.0, fabs(lower)), range);
    const double high = upper - fmin(INSIDE * fmax(1.0, fabs(upper)), range);
    return fmin(fmax(x, low), high);
}

static tal_status move_inside(tal_nlp_solver *it, const double x[], tal_error *err)
{
    const int unknowns = it->nlp.num_unknowns;
    for (int j = 0; j < unknowns; ++j) {
        if (!isfinite(x[j])) {
            return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "unknown %d begins with %g", j, x[j]);
        }
        it->x[j] = inside_of(x[j], it->lower[j], it->upper[j]);
    }
    for (int j = unknowns; j < it->n; ++j) {
        it->x[j] = 0.0;
    }
    return TAL_OK;
}

static tal_status calc_all(tal_nlp_solver *it)
{
    tal_status st = tali_nlp_calc_values(it, it->x, &it->F, it->c);
    if (st == TAL_OK) st = tali_nlp_calc_slopes(it);
    return st;
}

// Scales from the slopes where the run begins, which are not scaled yet.
static void find_scales(tal_nlp_solver *it)
{
    const tal_nlp *nlp = &it->nlp;
    const double steepest = tali_array_largest(it->g, nlp->num_unknowns);
    it->F_scale = fmin(1.0, MOST_SLOPE / fmax(steepest, DBL_MIN));
    memset(it->kept, 0, (size_t)it->m * sizeof *it->kept);
    for (int k = 0; k < nlp->num_jacobian; ++k) {
        const int i = nlp->jacobian_row[k];
        it->kept[i] = fmax(it->kept[i], fabs(it->J[k]));
    }
    for (int i = 0; i < it->m; ++i) {
        it->row_scale[i] = fmin(1.0, MOST_SLOPE / fmax(it->kept[i], DBL_MIN));
    }
}

// Slacks begin where their rows are.
static void set_slacks(tal_nlp_solver *it)
{
    const int unknowns = it->nlp.num_unknowns;
    for (int j = unknowns; j < it->n; ++j) {
        it->x[j] = inside_of(it->c[j - unknowns], it->lower[j], it->upper[j]);
    }
}

static tal_status begin(tal_nlp_solver *it, const double x[], tal_error *err)
{
    tal_status st = copy_bounds(it, err);
    if (st == TAL_OK) st = move_inside(it, x, err);
    if (st != TAL_OK) return st;
    it->F_scale = 1.0;
    for (int i = 0; i < it->m; ++i) {
        it->row_scale[i] = 1.0;
    }
    st = calc_all(it);
    if (st == TAL_OK) {
        set_slacks(it);
        find_scales(it);
        st = calc_all(it);
    }
    if (st != TAL_OK) {
        return TALI_FAIL(err, st, "the functions cannot be computed where the run begins");
    }
    it->mu = FIRST_MU;
    it->penalty = 1.0;
    it->last_shift = 0.0;
    tali_nlp_forget_curvature(it);
    tali_nlp_reset_z(it);
    tali_nlp_estimate_lambda(it);
    return TAL_OK;
}

// --- how good it is ---

// The mean size of multipliers, where that is large: errors are relative to it.
static double size_of_multipliers(const tal_nlp_solver *it)
{
    double sum = 0.0;
    for (int i = 0; i < it->m; ++i) {
        sum += fabs(it->lambda[i]);
    }
    for (int j = 0; j < it->n; ++j) {
        sum += it->z_lower[j] + it->z_upper[j];
    }
    const double mean = sum / fmax(1.0, it->m + 2.0 * it->n);
    return fmax(LARGE_MULTIPLIER, mean) / LARGE_MULTIPLIER;
}

static double stationarity_of(tal_nlp_solver *it)
{
    memcpy(it->rest, it->g, (size_t)it->n * sizeof *it->rest);
    tali_nlp_add_JT(it, it->lambda, it->rest);
    double most = 0.0;
    for (int j = 0; j < it->n; ++j) {
        if (it->is_fixed[j]) continue;
        most = fmax(most, fabs(it->rest[j] - it->z_lower[j] + it->z_upper[j]));
    }
    return most / size_of_multipliers(it);
}

// The largest difference of z times a distance from mu.
static double complementarity_of(const tal_nlp_solver *it, double mu)
{
    double most = 0.0;
    for (int j = 0; j < it->n; ++j) {
        if (it->is_fixed[j]) continue;
        const double down = it->x[j] - it->lower[j], up = it->upper[j] - it->x[j];
        if (isfinite(it->lower[j])) most = fmax(most, fabs(it->z_lower[j] * down - mu));
        if (isfinite(it->upper[j])) most = fmax(most, fabs(it->z_upper[j] * up - mu));
    }
    return most / size_of_multipliers(it);
}

double tali_nlp_error_of(tal_nlp_solver *it, double mu)
{
    const double rows = tali_array_largest(it->c, it->m);
    return fmax(fmax(stationarity_of(it), complementarity_of(it, mu)), rows);
}

static void find_worst_row(const tal_nlp_solver *it, tal_nlp_report *report)
{
    report->worst_row = -1;
    report->row_error = 0.0;
    for (int i = 0; i < it->m; ++i) {
        const double error = fabs(it->c[i]) / it->row_scale[i];
        if (!(error > report->row_error)) continue;
        report->row_error = error;
        report->worst_row = i;
    }
}

static void measure(tal_nlp_solver *it, tal_nlp_report *report)
{
    report->objective = it->F / it->F_scale;
    report->stationarity = stationarity_of(it);
    report->complementarity = complementarity_of(it, 0.0);
    find_worst_row(it, report);
}

static bool is_solved(tal_nlp_solver *it, tal_nlp_report *report)
{
    measure(it, report);
    return tali_nlp_error_of(it, 0.0) <= it->options.tolerance &&
           report->row_error <= it->options.row_tolerance;
}

// --- the run ---

// Take the barrier back as long as the present one is solved well enough.
static void lower_barrier(tal_nlp_solver *it)
{
    const double least = 0.1 * it->options.tolerance;
    while (it->mu > least && tali_nlp_error_of(it, it->mu) <= NEAR_ENOUGH * it->mu) {
        it->mu = fmax(least, fmin(MU_FACTOR * it->mu, pow(it->mu, MU_POWER)));
        it->penalty = 1.0;
    }
}

static tal_status iterate(tal_nlp_solver *it, tal_nlp_report *report)
{
    while (!is_solved(it, report)) {
        if (report->iterations >= it->options.max_iterations) return TAL_ERR_NO_CONVERGENCE;
        lower_barrier(it);
        tal_status st = tali_nlp_calc_curvature(it);
        bool moved = false;
        if (st == TAL_OK) st = tali_nlp_take_step(it, &moved);
        if (st != TAL_OK) return st;
        ++report->iterations;
        report->convexified += it->shift > 0.0;
        bool whole = false;
        if (!moved && report->row_error <= it->options.row_tolerance) {
            st = tali_nlp_take_whole_step(it, &whole);
        }
        if (whole) continue;
        if (st != TAL_OK) return st;
        if (moved) {
            tali_nlp_keep_gradient(it);
            st = tali_nlp_calc_slopes(it);
            if (st == TAL_OK) tali_nlp_learn_curvature(it);
        } else if (report->row_error > it->options.row_tolerance) {
            ++report->restorations;
            st = tali_nlp_restore(it, &report->iterations);
        } else {
            return TAL_ERR_NO_CONVERGENCE;
        }
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}

static void hand_over(tal_nlp_solver *it, double x[])
{
    memcpy(x, it->x, (size_t)it->nlp.num_unknowns * sizeof *x);
    for (int i = 0; i < it->m; ++i) {
        it->lambda_out[i] = it->lambda[i] * it->row_scale[i] / it->F_scale;
    }
    for (int j = 0; j < it->n; ++j) {
        it->z_lower_out[j] = it->z_lower[j] / it->F_scale;
        it->z_upper_out[j] = it->z_upper[j] / it->F_scale;
    }
}

static tal_status explain(tal_status st, const tal_nlp_report *report, tal_error *err)
{
    if (st == TAL_ERR_INFEASIBLE) {
        return TALI_FAIL(err, st, "no place near by meets the rows better: row %d is off by %g",
                         report->worst_row, report->row_error);
    }
    if (st == TAL_ERR_NO_CONVERGENCE) {
        return TALI_FAIL(err, st,
                         "after %d iterations the slope is off by %g, bounds by %g, row %d by %g",
                         report->iterations, report->stationarity, report->complementarity,
                         report->worst_row, report->row_error);
    }
    return TALI_FAIL(err, st, "a function of the problem failed in iteration %d",
                     report->iterations);
}

tal_status tal_nlp_solver_run(tal_nlp_solver *solver, double x[], tal_nlp_report *report,
                              tal_error *err)
{
    if (solver == NULL || (x == NULL && solver->nlp.num_unknowns > 0)) {
        return TALI_BREACH(TAL_ERR_NULL, "%s is NULL", solver == NULL ? "solver" : "x");
    }
    tal_nlp_report own = {.worst_row = -1};
    tal_status st = begin(solver, x, err);
    if (st != TAL_OK) return st;
    st = iterate(solver, &own);
    measure(solver, &own);
    hand_over(solver, x);
    if (report != NULL) *report = own;
    return st == TAL_OK ? TAL_OK : explain(st, &own, err);
}

// --- what is known ---

int tal_nlp_solver_num_unknowns(const tal_nlp_solver *solver)
{
    if (solver == NULL) return (void)TALI_BREACH(TAL_ERR_NULL, "solver is NULL"), -1;
    return solver->nlp.num_unknowns;
}

int tal_nlp_solver_num_rows(const tal_nlp_solver *solver)
{
    if (solver == NULL) return (void)TALI_BREACH(TAL_ERR_NULL, "solver is NULL"), -1;
    return solver->m;
}

const double *tal_nlp_solver_lambda(const tal_nlp_solver *solver)
{
    if (solver == NULL) return (void)TALI_BREACH(TAL_ERR_NULL, "solver is NULL"), NULL;
    return solver->lambda_out;
}

const double *tal_nlp_solver_z_lower(const tal_nlp_solver *solver)
{
    if (solver == NULL) return (void)TALI_BREACH(TAL_ERR_NULL, "solver is NULL"), NULL;
    return solver->z_lower_out;
}

const double *tal_nlp_solver_z_upper(const tal_nlp_solver *solver)
{
    if (solver == NULL) return (void)TALI_BREACH(TAL_ERR_NULL, "solver is NULL"), NULL;
    return solver->z_upper_out;
}
