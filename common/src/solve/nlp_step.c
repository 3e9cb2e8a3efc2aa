// Steps of the interior-point method: how far, and what makes them good ones.
//
// A step is good when the merit decreases: the objective with its barrier, plus a penalty on rows
// that is large enough for steps to lead downhill (NocedalWright sec. 18.3 and 19.4).
#include "array_internal.h"

#include "solve/nlp_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// The share of a distance to a bound that a step may take, at least.
static const double BOUNDARY = 0.99;

// The decrease that is asked for, as a part of what the slope promises; what curved rows may use up.
static const double ARMIJO = 1e-4, PENALTY_SHARE = 0.1;

// Merits that differ by less, as a part of themselves, are equal.
static const double SAME_MERIT = 10.0 * DBL_EPSILON;

// Multipliers of bounds differ from mu / distance by no more than this factor.
static const double Z_RANGE = 1e10;

enum {
    MOST_HALVINGS = 30
};

double tali_nlp_barrier_of(const tal_nlp_solver *it, const double x[], double F)
{
    for (int j = 0; j < it->n; ++j) {
        if (it->is_fixed[j]) continue;
        if (isfinite(it->lower[j])) F -= it->mu * log(x[j] - it->lower[j]);
        if (isfinite(it->upper[j])) F -= it->mu * log(it->upper[j] - x[j]);
    }
    return F;
}

double tali_nlp_part_within(const tal_nlp_solver *it, const double v[], double share)
{
    double part = 1.0;
    for (int j = 0; j < it->n; ++j) {
        const double down = it->x[j] - it->lower[j], up = it->upper[j] - it->x[j];
        if (v[j] < 0.0 && -v[j] * part > share * down) part = share * down / -v[j];
        if (v[j] > 0.0 && v[j] * part > share * up) part = share * up / v[j];
    }
    return part;
}

// The longest part of a step that keeps z positive.
static double part_of_z(const tal_nlp_solver *it, double share)
{
    double part = 1.0;
    for (int j = 0; j < it->n; ++j) {
        const double low = it->dz_lower[j], high = it->dz_upper[j];
        if (low < 0.0 && -low * part > share * it->z_lower[j]) part = share * it->z_lower[j] / -low;
        if (high < 0.0 && -high * part > share * it->z_upper[j]) {
            part = share * it->z_upper[j] / -high;
        }
    }
    return part;
}

// The slope of the barrier function; z follow from it.
static double pull_at(const tal_nlp_solver *it, int j)
{
    double pull = it->g[j];
    if (isfinite(it->lower[j])) pull -= it->mu / (it->x[j] - it->lower[j]);
    if (isfinite(it->upper[j])) pull += it->mu / (it->upper[j] - it->x[j]);
    return it->is_fixed[j] ? 0.0 : pull;
}

static void put_rhs(tal_nlp_solver *it, const double c[])
{
    memset(it->rhs, 0, (size_t)it->n * sizeof *it->rhs);
    tali_nlp_add_JT(it, it->lambda, it->rhs);
    for (int j = 0; j < it->n; ++j) {
        it->rhs[j] = it->is_fixed[j] ? 0.0 : -it->rhs[j] - pull_at(it, j);
    }
    for (int i = 0; i < it->m; ++i) {
        it->rhs[it->n + i] = -c[i];
    }
}

static void find_z_steps(tal_nlp_solver *it)
{
    for (int j = 0; j < it->n; ++j) {
        const double down = it->x[j] - it->lower[j], up = it->upper[j] - it->x[j];
        const double dx = it->dx[j];
        const bool has_low = isfinite(it->lower[j]) && !it->is_fixed[j];
        const bool has_high = isfinite(it->upper[j]) && !it->is_fixed[j];
        it->dz_lower[j] = has_low ? (it->mu - it->z_lower[j] * dx) / down - it->z_lower[j] : 0.0;
        it->dz_upper[j] = has_high ? (it->mu + it->z_upper[j] * dx) / up - it->z_upper[j] : 0.0;
    }
}

static void solve_step(tal_nlp_solver *it, const double c[])
{
    put_rhs(it, c);
    tali_nlp_solve_kkt(it);
    memcpy(it->dx, it->solution, (size_t)it->n * sizeof *it->dx);
    memcpy(it->dlambda, it->solution + it->n, (size_t)it->m * sizeof *it->dlambda);
    find_z_steps(it);
}

// dx^T (H + Sigma + shift) dx
static double curvature_along(const tal_nlp_solver *it)
{
    double sum = 0.0;
    for (int k = 0; k < it->num_H + it->n; ++k) {
        const int i = it->kkt_row[k], j = it->kkt_col[k];
        sum += (i == j ? 1.0 : 2.0) * it->kkt_value[k] * it->dx[i] * it->dx[j];
    }
    return sum;
}

// The penalty for which the slope of the merit along the step is negative, and that slope.
static double find_slope(tal_nlp_solver *it)
{
    double slope = 0.0;
    for (int j = 0; j < it->n; ++j) {
        slope += pull_at(it, j) * it->dx[j];
    }
    const double rows = tali_nlp_size_of_rows(it, it->c);
    if (rows > 0.0) {
        const double bend = 0.5 * fmax(curvature_along(it), 0.0);
        it->penalty = fmax(it->penalty, (slope + bend) / ((1.0 - PENALTY_SHARE) * rows));
    }
    return slope - it->penalty * rows;
}

static double merit_of(const tal_nlp_solver *it, const double x[], double F, const double c[])
{
    return tali_nlp_barrier_of(it, x, F) + it->penalty * tali_nlp_size_of_rows(it, c);
}

// x + part dx, its values, and whether the merit decreases enough. A place where they cannot be
// computed is not good.
static tal_status try_part(tal_nlp_solver *it, double part, double wanted, bool *is_good)
{
    *is_good = false;
    for (int j = 0; j < it->n; ++j) {
        it->x_try[j] = it->x[j] + part * it->dx[j];
    }
    const tal_status st = tali_nlp_calc_values(it, it->x_try, &it->F_try, it->c_try);
    if (st == TAL_ERR_NOT_FINITE) return TAL_OK;
    if (st != TAL_OK) return st;
    const double merit = merit_of(it, it->x_try, it->F_try, it->c_try);
    *is_good = merit <= wanted; // false for NaN, which is beyond a bound
    return TAL_OK;
}

// A second step from where the first one ends, back to the rows: curved rows would otherwise make
// good steps short (NocedalWright sec. 15.6).
static tal_status try_corrected(tal_nlp_solver *it, double wanted, bool *is_good)
{
    *is_good = false;
    if (!(tali_nlp_size_of_rows(it, it->c_try) >= tali_nlp_size_of_rows(it, it->c))) return TAL_OK;
    for (int i = 0; i < it->m; ++i) {
        it->kept[i] = it->c[i] + it->c_try[i];
    }
    solve_step(it, it->kept);
    const tal_status st = try_part(it, tali_nlp_part_within(it, it->dx, BOUNDARY), wanted, is_good);
    if (st == TAL_OK && !*is_good) solve_step(it, it->c); // back to the first one
    return st;
}

static bool is_round_off(const tal_nlp_solver *it)
{
    for (int j = 0; j < it->n; ++j) {
        if (!(fabs(it->dx[j]) <= 10.0 * DBL_EPSILON * (1.0 + fabs(it->x[j])))) return false;
    }
    return true;
}

// Halve the step until the merit decreases.
static tal_status search(tal_nlp_solver *it, double share, double *part, bool *is_good)
{
    const double slope = find_slope(it), merit = merit_of(it, it->x, it->F, it->c);
    const double slack = SAME_MERIT * (fabs(merit) + fabs(it->F) + 1e-300);
    *part = tali_nlp_part_within(it, it->dx, share);
    const bool is_last = is_round_off(it);
    tal_status st = TAL_OK;
    for (int k = 0; k <= MOST_HALVINGS && st == TAL_OK; ++k, *part *= 0.5) {
        const double wanted = is_last ? (double)INFINITY : merit + ARMIJO * *part * slope + slack;
        st = try_part(it, *part, wanted, is_good);
        if (st != TAL_OK || *is_good) return st;
        if (k == 0 && isfinite(it->F_try)) st = try_corrected(it, wanted, is_good);
        if (*is_good) *part = tali_nlp_part_within(it, it->dx, share);
        if (st != TAL_OK || *is_good) return st;
    }
    return st;
}

// z within a factor of mu / distance.
static double keep_in_range(double z, double mu, double distance)
{
    return fmax(fmin(z, Z_RANGE * mu / distance), mu / (Z_RANGE * distance));
}

static void move_z(tal_nlp_solver *it, double part)
{
    for (int j = 0; j < it->n; ++j) {
        if (it->is_fixed[j]) continue;
        const double down = it->x[j] - it->lower[j], up = it->upper[j] - it->x[j];
        const double low = it->z_lower[j] + part * it->dz_lower[j];
        const double high = it->z_upper[j] + part * it->dz_upper[j];
        if (isfinite(it->lower[j])) it->z_lower[j] = keep_in_range(low, it->mu, down);
        if (isfinite(it->upper[j])) it->z_upper[j] = keep_in_range(high, it->mu, up);
    }
}

void tali_nlp_reset_z(tal_nlp_solver *it)
{
    for (int j = 0; j < it->n; ++j) {
        const bool is_free = !it->is_fixed[j];
        const bool has_low = is_free && isfinite(it->lower[j]);
        const bool has_high = is_free && isfinite(it->upper[j]);
        it->z_lower[j] = has_low ? it->mu / (it->x[j] - it->lower[j]) : 0.0;
        it->z_upper[j] = has_high ? it->mu / (it->upper[j] - it->x[j]) : 0.0;
    }
}

// The place that was tried is the next one; multipliers follow.
static void move_to_try(tal_nlp_solver *it, double part, double part_z)
{
    memcpy(it->x_before, it->x, (size_t)it->n * sizeof *it->x);
    memcpy(it->x, it->x_try, (size_t)it->n * sizeof *it->x);
    memcpy(it->c, it->c_try, (size_t)it->m * sizeof *it->c);
    it->F = it->F_try;
    for (int i = 0; i < it->m; ++i) {
        it->lambda[i] += part * it->dlambda[i];
    }
    move_z(it, part_z);
}

tal_status tali_nlp_take_step(tal_nlp_solver *it, bool *moved)
{
    *moved = false;
    if (!tali_nlp_factor_step(it)) return TAL_OK;
    solve_step(it, it->c);
    const double share = fmax(BOUNDARY, 1.0 - it->mu);
    double part = 0.0;
    const tal_status st = search(it, share, &part, moved);
    if (st != TAL_OK || !*moved) return st;
    move_to_try(it, part, part_of_z(it, share));
    return TAL_OK;
}

// Where the run is, to and from it->whole.
static void swap_place(tal_nlp_solver *it)
{
    const struct {
        double *at;
        int count;
    } parts[] = {{it->x, it->n},        {it->z_lower, it->n}, {it->z_upper, it->n},
                 {it->x_before, it->n}, {it->c, it->m},       {it->lambda, it->m}};

    double *kept = it->whole;
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; ++k) {
        for (int i = 0; i < parts[k].count; ++i, ++kept) {
            const double here = parts[k].at[i];
            parts[k].at[i] = *kept;
            *kept = here;
        }
    }
}

static void keep_place(tal_nlp_solver *it)
{
    swap_place(it);
    const size_t n = (size_t)it->n, m = (size_t)it->m;
    const double *kept = it->whole;
    memcpy(it->x, kept, n * sizeof *kept);
    memcpy(it->z_lower, kept + n, n * sizeof *kept);
    memcpy(it->z_upper, kept + 2 * n, n * sizeof *kept);
    memcpy(it->x_before, kept + 3 * n, n * sizeof *kept);
    memcpy(it->c, kept + 4 * n, m * sizeof *kept);
    memcpy(it->lambda, kept + 4 * n + m, m * sizeof *kept);
}

tal_status tali_nlp_take_whole_step(tal_nlp_solver *it, bool *moved)
{
    const double before = tali_nlp_error_of(it, it->mu), F = it->F;
    const double share = fmax(BOUNDARY, 1.0 - it->mu);
    bool has_values = false;
    *moved = false;
    tal_status st =
        try_part(it, tali_nlp_part_within(it, it->dx, share), (double)INFINITY, &has_values);
    if (st != TAL_OK || !has_values) return st;
    keep_place(it);
    move_to_try(it, tali_nlp_part_within(it, it->dx, share), part_of_z(it, share));
    st = tali_nlp_calc_slopes(it);
    *moved = st == TAL_OK && tali_nlp_error_of(it, it->mu) < before;
    if (*moved) return TAL_OK;
    swap_place(it);
    it->F = F;
    if (st == TAL_ERR_NOT_FINITE) st = TAL_OK;
    return st == TAL_OK ? tali_nlp_calc_slopes(it) : st;
}
