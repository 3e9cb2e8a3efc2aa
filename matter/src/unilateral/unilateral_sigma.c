// The forces of sliding friction: Newton's method where they are not linear in the multipliers
// (manual eq. 8.73 to 8.80), and the senses of loads with one row (eq. 8.65 to 8.71).
#include "unilateral/unilateral_internal.h"

#include <talus/common/linalg.h>

#include <float.h>
#include <math.h>

enum {
    MOST_STEPS = 30,
    MOST_SWEPT = 10 // senses of which all patterns are tried
};

static const double CONVERGED = 1e-13; // of the largest force

// Loads of one row are linear once their sense is known.
static bool has_sense(const tali_unilateral_press *press)
{
    return press->is_load && press->count == 1;
}

// --- one linear problem ---

// (1 - diag(mu) K) sigma = limit + mu (N - N' (lambda - lambda_0))
static void fill_equations(const tal_matter *matter, const tal_state *state,
                           tali_unilateral_sliding *it, const double lambda[])
{
    const int n = it->n;
    for (int r = 0; r < it->rows; ++r) {
        it->change[r] = it->lambda_0[r] - lambda[r];
    }
    for (int j = 0; j < n; ++j) {
        const tali_unilateral_press *press = &it->press[j];
        const double N = tali_unilateral_pressing(press, lambda) +
                         tali_unilateral_press_slope(press, lambda, it->change);
        it->sigma[j] =
            tali_unilateral_material_at(matter, state, it->sliding[j])->limit + it->mu[j] * N;
        for (int i = 0; i < n; ++i) {
            const double *response = it->responses + (ptrdiff_t)i * it->stride;
            const double K_ji = tali_unilateral_press_slope(press, lambda, response);
            it->K[j + i * n] = (i == j ? 1.0 : 0.0) - it->mu[j] * K_ji;
        }
    }
}

static tal_status solve_equations(const tal_matter *matter, tal_state *state,
                                  tali_unilateral_sliding *it)
{
    tal_cod cod;
    tal_error why = {TAL_OK, "", ""};
    const int n = it->n;
    const tal_matrix K = tal_matrix_view(it->K, n, n), x = tal_matrix_view(it->sigma, n, 1);
    tal_status st = tal_cod_factor(&cod, K, n * DBL_EPSILON, it->work, it->iwork, &why);
    if (st == TAL_OK && cod.rank < n) {
        return tal_state_fail(state, TAL_ERR_SINGULAR,
                              "sliding friction has no definite force at t = %g: the %d elements "
                              "that slide are jammed, '%s' among them",
                              tal_state_t(state), n, matter->unilaterals.list[it->sliding[0]].name);
    }
    if (st == TAL_OK) st = tal_cod_solve(&cod, x, x, &why);
    return st == TAL_OK ? st : tal_state_fail(state, st, "sliding friction: %s", why.message);
}

// lambda_0 + sum of responses times sigma
static void find_multipliers(const tali_unilateral_sliding *it, double lambda[])
{
    memcpy(lambda, it->lambda_0, (size_t)it->rows * sizeof *lambda);
    for (int i = 0; i < it->n; ++i) {
        const double *response = it->responses + (ptrdiff_t)i * it->stride;
        for (int r = 0; r < it->rows; ++r) {
            lambda[r] += it->sigma[i] * response[r];
        }
    }
}

// --- Newton's method ---

static bool is_linear(const tali_unilateral_sliding *it)
{
    for (int j = 0; j < it->n; ++j) {
        if (it->press[j].sense == 0.0) return false;
    }
    return true;
}

// By how much the forces have changed, as a part of the largest.
static double change_of(const tali_unilateral_sliding *it)
{
    double change = 0.0, most = DBL_MIN;
    for (int j = 0; j < it->n; ++j) {
        change = fmax(change, fabs(it->sigma[j] - it->before[j]));
        most = fmax(most, fabs(it->sigma[j]));
    }
    return change / most;
}

// With the senses as they are. Where steps are too small to count they may not shrink any further.
static tal_status newton(const tal_matter *matter, tal_state *state, tali_unilateral_sliding *it,
                         double lambda[])
{
    const bool once = is_linear(it);
    double last = (double)INFINITY;
    memcpy(lambda, it->lambda_0, (size_t)it->rows * sizeof *lambda);
    for (int k = 0; k < MOST_STEPS; ++k) {
        memcpy(it->before, it->sigma, (size_t)it->n * sizeof *it->sigma);
        fill_equations(matter, state, it, lambda);
        const tal_status st = solve_equations(matter, state, it);
        if (st != TAL_OK) return st;
        find_multipliers(it, lambda);
        const double change = k > 0 ? change_of(it) : (double)INFINITY;
        if (once || change <= CONVERGED || (change <= 1e-9 && change >= 0.5 * last)) return TAL_OK;
        last = change;
    }
    return tal_state_fail(state, TAL_ERR_NO_CONVERGENCE,
                          "sliding friction did not settle at t = %g: '%s' may be jammed",
                          tal_state_t(state), matter->unilaterals.list[it->sliding[0]].name);
}

// --- senses ---

static double sense_error(const tali_unilateral_sliding *it, int j, const double lambda[])
{
    const double N = tali_unilateral_pressing(&it->press[j], lambda);
    return has_sense(&it->press[j]) && N < 0.0 ? -2.0 * it->mu[j] * N : 0.0;
}

// The element whose wrong sense matters most; -1: none is wrong.
static int find_wrong_sense(const tali_unilateral_sliding *it, const double lambda[])
{
    double most = 0.0, worst = 0.0;
    int found = -1;
    for (int j = 0; j < it->n; ++j) {
        most = fmax(most, fabs(it->sigma[j]));
    }
    for (int j = 0; j < it->n; ++j) {
        const double error = sense_error(it, j, lambda);
        if (error <= fmax(worst, CONVERGED * most)) continue;
        worst = error;
        found = j;
    }
    return found;
}

// All patterns of senses, until one fits.
static tal_status sweep(const tal_matter *matter, tal_state *state, tali_unilateral_sliding *it,
                        int num, double lambda[])
{
    for (unsigned pattern = 0; num <= MOST_SWEPT && pattern < 1u << num; ++pattern) {
        unsigned bits = pattern;
        for (int j = 0; j < it->n; ++j) {
            if (!has_sense(&it->press[j])) continue;
            it->press[j].sense = (bits & 1u) != 0u ? -1.0 : 1.0;
            bits >>= 1;
        }
        const tal_status st = newton(matter, state, it, lambda);
        if (st == TAL_ERR_SINGULAR) continue;
        if (st != TAL_OK || find_wrong_sense(it, lambda) < 0) return st;
    }
    return tal_state_fail(state, TAL_ERR_NO_CONVERGENCE,
                          "sliding friction has no force at t = %g: no senses of the loads of %d "
                          "elements agree with it, '%s' among them",
                          tal_state_t(state), num, matter->unilaterals.list[it->sliding[0]].name);
}

// Revise the worst sense until none is wrong (the five steps of manual sec. 8.6.3).
static tal_status revise(const tal_matter *matter, tal_state *state, tali_unilateral_sliding *it,
                         double lambda[])
{
    int num = 0;
    for (int j = 0; j < it->n; ++j) {
        num += has_sense(&it->press[j]) ? 1 : 0;
    }
    for (int k = 0; k <= 2 * num + 1; ++k) {
        const tal_status st = newton(matter, state, it, lambda);
        if (st != TAL_OK) return st;
        const int wrong = find_wrong_sense(it, lambda);
        if (wrong < 0) return TAL_OK;
        it->press[wrong].sense = -it->press[wrong].sense;
    }
    return sweep(matter, state, it, num, lambda);
}

// --- all of it ---

// What presses, and how much friction it makes; senses as they are without any.
static tal_status look_at(const tal_matter *matter, tal_state *state, const tali_tree_view *view,
                          tali_unilateral_sliding *it)
{
    for (int j = 0; j < it->n; ++j) {
        const tal_status st = tali_unilateral_mu(matter, state, view, it->sliding[j], &it->mu[j]);
        if (st != TAL_OK) return st;
        tali_unilateral_press *press = &it->press[j];
        *press = tali_unilateral_press_of(matter, state, it->sliding[j]);
        const double N = tali_unilateral_pressing(press, it->lambda_0);
        if (has_sense(press) && N < 0.0) press->sense = -1.0;
        press->small = 1e-12 * fabs(N);
        it->sigma[j] = 0.0;
    }
    return TAL_OK;
}

tal_status tali_unilaterals_solve_sigma(const tal_matter *matter, tal_state *state,
                                        const tali_tree_view *view, tali_unilateral_sliding *it,
                                        double lambda[])
{
    memcpy(it->lambda_0, lambda, (size_t)it->rows * sizeof *lambda);
    const tal_status st = look_at(matter, state, view, it);
    return st == TAL_OK ? revise(matter, state, it, lambda) : st;
}
