// One step of a Runge-Kutta method, and of its derivative.
#include "sensitivity/sensitivity_internal.h"

#include <math.h>
#include <string.h>

void tali_sensitivity_combine(const double y0[], double h, const double w[], int n,
                              const double k[], size_t stride, int ny, double out[])
{
    memcpy(out, y0, (size_t)ny * sizeof *out);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < ny && w[j] != 0.0; ++i) {
            out[i] += h * w[j] * k[(size_t)j * stride + (size_t)i];
        }
    }
}

bool tali_sensitivity_jacobian(tal_sensitivity *it, tal_state *state, double t, const double Y[])
{
    const size_t ny = (size_t)it->ny;
    const tali_problem_scale scale = {.nq = tal_state_nq(state),
                                      .nu = tal_state_nu(state),
                                      .nz = tal_state_nz(state),
                                      .e = it->e,
                                      .known_u = it->known_u,
                                      .accuracy = 1.0};
    memset(it->J, 0, ny * ny * sizeof *it->J);
    return tali_problem_exact_jacobian(&it->problem, state, &scale, t, Y, it->room, it->columns);
}

// --- y ---

// h sum (b_i - b_hat_i) k_i
static void estimate_error(tal_sensitivity *it, double h)
{
    const tal_rk_tableau *tableau = it->tableau;
    memset(it->error, 0, (size_t)it->ny * sizeof *it->error);
    for (int j = 0; j < tableau->stages; ++j) {
        const double w = h * (tableau->b[j] - tableau->b_hat[j]);
        for (int i = 0; i < it->ny && w != 0.0; ++i) {
            it->error[i] += w * it->k[(size_t)j * (size_t)it->ny + (size_t)i];
        }
    }
}

tal_status tali_sensitivity_try(tal_sensitivity *it, tal_state *state, double t, double h,
                                double *norm)
{
    const tal_rk_tableau *tableau = it->tableau;
    const size_t ny = (size_t)it->ny;
    tal_status st = TAL_OK;
    for (int i = 0; i < tableau->stages && st == TAL_OK; ++i) {
        const double *a = tableau->a + (ptrdiff_t)i * tableau->stages;
        double *const Y = it->Y_of + (size_t)i * ny;
        tali_sensitivity_combine(it->y0, h, a, i, it->k, ny, it->ny, Y);
        st = tali_problem_rates(&it->problem, state, t + tableau->c[i] * h, Y,
                                it->k + (size_t)i * ny);
    }
    if (st != TAL_OK) return st;
    tali_sensitivity_combine(it->y0, h, tableau->b, tableau->stages, it->k, ny, it->ny, it->Y);
    st = tali_sensitivity_find_projected(it, state, t + h, it->Y, it->end);
    if (st != TAL_OK || norm == NULL) return st;
    estimate_error(it, h);
    *norm = tali_problem_error_norm(&it->problem, state) / it->def.accuracy;
    return TAL_OK;
}

// --- S ---

// out += J along
static void add_product(const tal_sensitivity *it, const double along[], double out[])
{
    for (int j = 0; j < it->ny; ++j) {
        for (int i = 0; i < it->ny; ++i) {
            out[i] += it->columns[j][i] * along[j];
        }
    }
}

// k_i' of all parameters, at stage i.
static tal_status find_tangents(tal_sensitivity *it, tal_state *state, double t, double h, int i)
{
    const size_t ny = (size_t)it->ny, stride = (size_t)it->np * ny;
    const double *a = it->tableau->a + (ptrdiff_t)i * it->tableau->stages;
    const double *Y = it->Y_of + (size_t)i * ny;
    const bool is_exact = tali_sensitivity_jacobian(it, state, t, Y);
    tal_status st = TAL_OK;
    for (int p = 0; p < it->np && st == TAL_OK; ++p) {
        double *out = it->kS + (size_t)i * stride + (size_t)p * ny;
        tali_sensitivity_combine(it->S + (size_t)p * ny, h, a, i, it->kS + (size_t)p * ny, stride,
                                 it->ny, it->sum);
        memset(out, 0, ny * sizeof *out);
        if (!is_exact || !it->is_start[p]) {
            const tali_sensitivity_line line = {state, t, 0.0, Y, is_exact ? NULL : it->sum, p};
            st = tali_sensitivity_difference(it, &line, tali_sensitivity_find_rates, it->ny,
                                             it->room, out);
        }
        if (is_exact) add_product(it, it->sum, out);
    }
    return st;
}

tal_status tali_sensitivity_move_slopes(tal_sensitivity *it, tal_state *state, double t, double h)
{
    const tal_rk_tableau *tableau = it->tableau;
    const size_t ny = (size_t)it->ny, stride = (size_t)it->np * ny;
    tal_status st = TAL_OK;
    for (int i = 0; i < tableau->stages && st == TAL_OK; ++i) {
        st = find_tangents(it, state, t + tableau->c[i] * h, h, i);
    }
    for (int p = 0; p < it->np && st == TAL_OK; ++p) {
        double *S = it->S + (size_t)p * ny;
        tali_sensitivity_combine(S, h, tableau->b, tableau->stages, it->kS + (size_t)p * ny, stride,
                                 it->ny, it->sum);
        memcpy(S, it->sum, ny * sizeof *S);
        if (!it->needs_projection) continue;
        const tali_sensitivity_line line = {state, t + h, 0.0, it->Y, it->sum, p};
        st = tali_sensitivity_difference(it, &line, tali_sensitivity_find_projected, it->ny,
                                         it->room, S);
    }
    return st;
}
