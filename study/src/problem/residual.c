// The equations of motion with their constraints as a residual F(t, Y, Y') = 0, for methods that
// solve implicit differential equations.
#include "finite_internal.h"

#include "problem/problem_internal.h"

#include <string.h>

tal_status tali_problem_put_for_residual(tali_problem *problem, tal_state *state,
                                         const tali_problem_residual *it, double t,
                                         const double y[], bool keep_q)
{
    tal_status st =
        keep_q ? tali_problem_put_uz(problem, state, y) : tali_problem_put(problem, state, t, y);
    if (st == TAL_OK && keep_q) st = tali_problem_settle_relaxed(problem, state);
    if (st == TAL_OK && !keep_q) st = tali_problem_settle_stage(problem, state, false);
    if (st != TAL_OK) return st;
    ++*problem->realizations;
    const tal_stage stage = it->needs_udot ? TAL_STAGE_ACCELERATION : TAL_STAGE_DYNAMICS;
    return tali_problem_pass_on(problem, state, tal_system_realize(problem->system, state, stage));
}

// N P^T mu into `qdot`. Speeds that are known do not move for the constraints' sake.
static tal_status spread_mu(const tali_problem *problem, tal_state *state,
                            const tali_problem_residual *it, const double mu[])
{
    const tal_status st = tal_matter_mul_GT(problem->matter, state, TAL_G_P, mu, it->v);
    for (int j = 0; j < it->nu && st == TAL_OK; ++j) {
        if (it->known_u[it->u0 + j]) it->v[j] = 0.0;
    }
    return st == TAL_OK ? tal_matter_calc_qdot(problem->matter, state, it->v, it->qdot) : st;
}

// Rows of matter, over those that hold for other subsystems.
static tal_status rows_of_matter(const tali_problem *problem, tal_state *state,
                                 const tali_problem_residual *it, const double Y[],
                                 const double Yp[], double r[])
{
    const tal_matter *matter = problem->matter;
    const int mp = it->rows.mp, u0 = it->nq + it->u0;
    const double *lambda = Y + it->ny, *mu = lambda + it->m;
    tal_status st = mp > 0 ? spread_mu(problem, state, it, mu) : TAL_OK;
    for (int i = 0; st == TAL_OK && mp > 0 && i < tal_matter_nq(matter, state); ++i) {
        r[it->q0 + i] -= it->qdot[i];
    }
    if (st == TAL_OK) {
        st = tal_matter_calc_residual(matter, state, Yp + u0, it->m > 0 ? lambda : NULL, it->v);
    }
    if (st != TAL_OK) return st;
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        tal_mobility at = {.body = {b}};
        const int start = tal_body_u_start(matter, at.body);
        for (; at.i < tal_body_nu(matter, at.body); ++at.i) {
            const bool is_given = tal_mobility_level(matter, state, at) == TAL_LEVEL_ACCELERATION;
            if (!is_given) r[u0 + start + at.i] = it->v[start + at.i];
        }
    }
    return TAL_OK;
}

// Rows of lambda and mu: velocity and acceleration errors, then position errors.
static tal_status rows_of_constraints(const tali_problem *problem, tal_state *state,
                                      const tali_problem_residual *it, const double Yp[],
                                      double r[])
{
    const tal_constraint_rows rows = it->rows;
    double *of_lambda = r + it->ny, *of_mu = of_lambda + it->m;
    if (rows.mp + rows.mv > 0) {
        const int start = tal_group_start(problem->system, state, it->verr);
        memcpy(of_lambda, tal_state_uerr(state) + start, (size_t)(rows.mp + rows.mv) * sizeof *r);
    }
    if (rows.mp > 0) {
        const int start = tal_group_start(problem->system, state, it->perr);
        memcpy(of_mu, tal_state_qerr(state) + start, (size_t)rows.mp * sizeof *r);
    }
    if (rows.ma == 0) return TAL_OK;
    const tal_status st =
        tal_matter_calc_constraint_aerr(problem->matter, state, Yp + it->nq + it->u0, it->a);
    memcpy(of_lambda + rows.a0, it->a + rows.a0, (size_t)rows.ma * sizeof *r);
    return st;
}

// Rates of q and z, inverse dynamics for u, errors of the constraints.
tal_status tali_problem_calc_residual(tali_problem *problem, tal_state *state,
                                      const tali_problem_residual *it, double t, const double Y[],
                                      const double Yp[], bool keep_q, double r[])
{
    tal_status st = tali_problem_put_for_residual(problem, state, it, t, Y, keep_q);
    if (st != TAL_OK) return st;
    const double *qdot = tal_state_qdot(state);
    const double *rates = it->needs_udot ? tal_state_ydot(state) : NULL;
    for (int i = 0; i < it->ny; ++i) {
        const double rate = i < it->nq ? qdot[i] : rates != NULL ? rates[i] : 0.0;
        r[i] = Yp[i] - rate;
    }
    if (problem->matter != NULL) st = rows_of_matter(problem, state, it, Y, Yp, r);
    if (st == TAL_OK && it->m > 0) st = rows_of_constraints(problem, state, it, Yp, r);
    if (st != TAL_OK) return tali_problem_pass_on(problem, state, st);
    const double *y = tal_state_y(state);
    for (int i = 0; i < it->ny; ++i) {
        if (it->id[i] == 0.0) r[i] = Y[i] - y[i];
    }
    if (tali_finite_all(r, it->ny + it->m + it->rows.mp)) return TAL_OK;
    return TALI_FAIL(&problem->error_record, TAL_ERR_NOT_FINITE,
                     "the equations of motion are not finite at t = %g", t);
}
