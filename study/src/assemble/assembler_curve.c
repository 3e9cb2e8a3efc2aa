// The whole curvature of the goals along what the constraints leave, from differences of slopes.
#include "assemble/assembler_internal.h"

#include <string.h>

// Of a unit of motion, for the whole curvature: differences leave ten digits of it.
static const double DIFFERENCE = 1e-5;

static double *column(double *A, int ld, int j)
{
    return A + (size_t)j * (size_t)ld;
}

// g + C^T mu at x from where the State is, q_base.
static tal_status lagrangian_at(tal_assembler *it, tal_state *state, const double x[], double L[])
{
    tali_assembler_quadratic *at = &it->at;
    tal_status st = tali_assembler_move(it, state, x);
    if (st == TAL_OK) st = tali_assembler_linearize_equations(it, state);
    if (st == TAL_OK) st = tali_assembler_linearize_goals(it, state);
    for (int i = 0; i < at->n && st == TAL_OK; ++i) {
        L[i] = at->g[i];
        for (int r = 0; r < at->m; ++r) {
            L[i] += column(at->C, at->ld, i)[r] * it->mu[r];
        }
    }
    const tal_status back = tali_assembler_put_q(it, state, it->q_curved);
    return st != TAL_OK ? st : back;
}

tal_status tali_assembler_curve(tal_assembler *it, tal_state *state)
{
    tali_assembler_quadratic *at = &it->at;
    const int n = at->n;
    tali_assembler_get_q(it, state, it->q_curved);
    tal_status st = at->m > 0 ? tali_assembler_find_forces(it, state) : TAL_OK;
    const int num_bounds = it->num_bounds;
    it->num_bounds = 0; // both sides of a difference count, within its range or not
    memset(it->x, 0, (size_t)n * sizeof *it->x);
    memset(it->curved, 0, (size_t)n * (size_t)n * sizeof *it->curved);
    for (int j = 0; j < n && st == TAL_OK; ++j) {
        const double h = DIFFERENCE / it->W_u[j];
        double *to = column(it->curved, n, j);
        if (!at->is_free[j]) continue;
        it->x[j] = h;
        st = lagrangian_at(it, state, it->x, to);
        it->x[j] = -h;
        if (st == TAL_OK) st = lagrangian_at(it, state, it->x, it->L);
        it->x[j] = 0.0;
        for (int i = 0; i < n; ++i) {
            to[i] = (to[i] - it->L[i]) / (2.0 * h);
        }
    }
    it->num_bounds = num_bounds;
    if (st == TAL_OK) st = tali_assembler_linearize_equations(it, state);
    if (st == TAL_OK) st = tali_assembler_linearize_goals(it, state);
    for (int j = 0; j < n && st == TAL_OK; ++j) {
        for (int i = 0; i < n; ++i) {
            column(at->H, n, j)[i] =
                0.5 * (column(it->curved, n, j)[i] + column(it->curved, n, i)[j]);
        }
    }
    at->is_whole = true;
    at->is_tree = false;
    return st;
}
