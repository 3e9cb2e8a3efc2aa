// Functions of a nonlinear program, scaled, with slacks.
#include "finite_internal.h"

#include "solve/nlp_internal.h"

#include <math.h>
#include <string.h>

static bool has_slacks(const tal_nlp_solver *it)
{
    return it->n > it->nlp.num_unknowns;
}

tal_status tali_nlp_calc_values(tal_nlp_solver *it, const double x[], double *F, double c[])
{
    const tal_nlp *nlp = &it->nlp;
    tal_status st = nlp->calc_objective(nlp->self, x, F);
    if (st == TAL_OK && it->m > 0) st = nlp->calc_rows(nlp->self, x, c);
    if (st != TAL_OK) return st;
    *F *= it->F_scale;
    if (!isfinite(*F) || !tali_finite_all(c, (size_t)it->m)) return TAL_ERR_NOT_FINITE;
    for (int i = 0; i < it->m; ++i) {
        if (has_slacks(it)) c[i] -= x[nlp->num_unknowns + i];
        c[i] *= it->row_scale[i];
    }
    return TAL_OK;
}

tal_status tali_nlp_calc_slopes(tal_nlp_solver *it)
{
    const tal_nlp *nlp = &it->nlp;
    memset(it->g, 0, (size_t)it->n * sizeof *it->g);
    tal_status st = nlp->calc_gradient(nlp->self, it->x, it->g);
    if (st == TAL_OK && nlp->num_jacobian > 0) st = nlp->calc_jacobian(nlp->self, it->x, it->J);
    if (st != TAL_OK) return st;
    if (!tali_finite_all(it->g, (size_t)it->n) ||
        !tali_finite_all(it->J, (size_t)nlp->num_jacobian)) {
        return TAL_ERR_NOT_FINITE;
    }
    for (int j = 0; j < nlp->num_unknowns; ++j) {
        it->g[j] *= it->F_scale;
    }
    for (int k = 0; k < nlp->num_jacobian; ++k) {
        it->J[k] *= it->row_scale[nlp->jacobian_row[k]];
    }
    for (int i = 0; i < it->m && has_slacks(it); ++i) {
        it->J[nlp->num_jacobian + i] = -it->row_scale[i];
    }
    return TAL_OK;
}

tal_status tali_nlp_calc_curvature(tal_nlp_solver *it)
{
    const tal_nlp *nlp = &it->nlp;
    if (nlp->calc_hessian == NULL) return TAL_OK; // it is learnt
    for (int i = 0; i < it->m; ++i) {
        it->user_lambda[i] = it->lambda[i] * it->row_scale[i];
    }
    const tal_status st = nlp->calc_hessian(nlp->self, it->x, it->F_scale, it->user_lambda, it->H);
    if (st != TAL_OK) return st;
    return tali_finite_all(it->H, (size_t)it->num_H) ? TAL_OK : TAL_ERR_NOT_FINITE;
}

// Where entry k of the Jacobian is: those of slacks follow those of the problem.
static void place_of(const tal_nlp_solver *it, int k, int *row, int *col)
{
    const tal_nlp *nlp = &it->nlp;
    const bool is_slack = k >= nlp->num_jacobian;
    *row = is_slack ? k - nlp->num_jacobian : nlp->jacobian_row[k];
    *col = is_slack ? nlp->num_unknowns + *row : nlp->jacobian_col[k];
}

void tali_nlp_add_JT(const tal_nlp_solver *it, const double v[], double out[])
{
    for (int k = 0; k < it->num_J; ++k) {
        int row, col;
        place_of(it, k, &row, &col);
        out[col] += it->J[k] * v[row];
    }
}

void tali_nlp_add_J(const tal_nlp_solver *it, const double v[], double out[])
{
    for (int k = 0; k < it->num_J; ++k) {
        int row, col;
        place_of(it, k, &row, &col);
        out[row] += it->J[k] * v[col];
    }
}

double tali_nlp_size_of_rows(const tal_nlp_solver *it, const double c[])
{
    double sum = 0.0;
    for (int i = 0; i < it->m; ++i) {
        sum += fabs(c[i]);
    }
    return sum;
}
