// Baumgarte stabilization, to compare projection with: accelerations are asked to take constraint
// errors away, instead of moving q and u onto the constraints.
#include "problem/problem_internal.h"

#include <string.h>

size_t tali_problem_baumgarte_size(const tali_problem *problem)
{
    if (problem->baumgarte == 0.0) return 0;
    return 2 * (size_t)tal_system_pool_capacity(problem->system, TAL_POOL_UDOTERR) +
           (size_t)tal_system_pool_capacity(problem->system, TAL_POOL_U);
}

static const double *errors_of(const tali_problem *problem, const tal_state *state, tal_pool pool)
{
    const tal_group_ix group = tal_system_find_group(
        problem->system, tal_matter_subsystem(problem->matter), pool, "constraints");
    const int start = tal_group_start(problem->system, state, group);
    return (pool == TAL_POOL_QERR ? tal_state_qerr(state) : tal_state_uerr(state)) + start;
}

// With G udot = b from the equations of motion, udot + d where M d + G^T x = 0 and
//
//     G d = -(2 alpha perr' + beta^2 perr)       rows of position equations
//     G d = -alpha verr                          rows of velocity equations
//
// so that errors decay as (1 + alpha t) e^(-alpha t), where beta = alpha, and e^(-alpha t) (manual
// sec. 10.1 has projection).
tal_status tali_problem_stabilize(tali_problem *problem, tal_state *state, double ydot[])
{
    const tal_matter *matter = problem->matter;
    const double alpha = problem->baumgarte, beta = problem->baumgarte_beta;
    if (alpha == 0.0 || matter == NULL) return TAL_OK;
    const tal_constraint_rows rows = tal_matter_constraint_rows(matter, state);
    const int m = rows.mp + rows.mv + rows.ma, nu = tal_matter_nu(matter);
    if (rows.mp + rows.mv == 0) return TAL_OK;
    double *lost = problem->stabilizer, *impulse = lost + m, *d = impulse + m;
    const double *perr = errors_of(problem, state, TAL_POOL_QERR);
    const double *verr = errors_of(problem, state, TAL_POOL_UERR);
    memset(lost, 0, (size_t)m * sizeof *lost);
    for (int i = 0; i < rows.mp; ++i) {
        lost[i] = 2.0 * alpha * verr[i] + beta * beta * perr[i];
    }
    for (int i = rows.v0; i < rows.v0 + rows.mv; ++i) {
        lost[i] = alpha * verr[i];
    }
    const tal_status st = tal_matter_calc_constraint_impulse(matter, state, lost, impulse, d);
    if (st != TAL_OK) return tali_problem_pass_on(problem, state, st);
    double *udot =
        ydot + tal_state_nq(state) + tal_group_start(problem->system, state, problem->u_group);
    for (int j = 0; j < nu; ++j) {
        udot[j] += d[j];
    }
    return TAL_OK;
}
