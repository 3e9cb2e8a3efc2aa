// Semi-explicit Euler: speeds first, then coordinates with the speeds just found,
//
//     u1 = u0 + h udot0,   z1 = z0 + h zdot0,   q1 = q0 + h qdot(t0, q0, u1),
//
// of order 1, and symplectic where M is constant and N is the identity. With controlled steps two
// steps of h/2 are taken and compared with one of h (HNW sec. II.4): for order 1 the difference is
// the error of the two.
#include "integrate/integrator_internal.h"

#include <string.h>

// y1 = one step of length h from y at t with the rates ydot. The State's values are used up.
static tal_status euler_step(tal_integrator *integ, tal_state *state, double t, double h,
                             const double y[], const double ydot[], double y1[])
{
    const int nq = tal_state_nq(state), ny = tal_state_ny(state);
    memcpy(y1, y, (size_t)nq * sizeof *y);
    for (int i = nq; i < ny; ++i) {
        y1[i] = y[i] + h * ydot[i];
    }
    tal_status st = tali_problem_put(&integ->problem, state, t, y1);
    if (st != TAL_OK) return st;
    st = tal_system_realize(integ->problem.system, state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return tali_problem_pass_on(&integ->problem, state, st);
    const double *qdot = tal_state_qdot(state);
    for (int i = 0; i < nq; ++i) {
        y1[i] = y[i] + h * qdot[i];
    }
    return TAL_OK;
}

// Two halves into y2; the middle is a stage of its own, prescribed and relaxed.
static tal_status two_halves(tal_integrator *integ, tal_state *state, double h, double y2[])
{
    const double t0 = integ->t0, t_mid = t0 + 0.5 * h;
    double *y = tali_integrator_stage(integ, 2), *ydot = tali_integrator_stage(integ, 1);
    tal_status st = euler_step(integ, state, t0, 0.5 * h, integ->problem.y0,
                               tali_integrator_stage(integ, 0), y);
    if (st == TAL_OK) st = tali_problem_put(&integ->problem, state, t_mid, y);
    if (st == TAL_OK) st = tali_problem_settle_stage(&integ->problem, state, false);
    if (st == TAL_OK) st = tali_problem_evaluate(&integ->problem, state, ydot);
    if (st != TAL_OK) return st;
    memcpy(y, tal_state_y(state), (size_t)tal_state_ny(state) * sizeof *y); // as settled
    return euler_step(integ, state, t_mid, 0.5 * h, y, ydot, y2);
}

static tal_status try_step(tal_integrator *integ, tal_state *state, double t1, double *norm)
{
    const int ny = tal_state_ny(state);
    const double t0 = integ->t0, h = t1 - t0;
    double *y = tali_integrator_stage(integ, 3), *error = integ->problem.error;
    tal_status st =
        euler_step(integ, state, t0, h, integ->problem.y0, tali_integrator_stage(integ, 0), y);
    if (st == TAL_OK && tali_integrator_is_controlled(integ)) {
        memcpy(error, y, (size_t)ny * sizeof *y);
        st = two_halves(integ, state, h, y);
        for (int i = 0; i < ny; ++i) {
            error[i] = y[i] - error[i];
        }
    }
    if (st == TAL_OK) st = tali_problem_put(&integ->problem, state, t1, y);
    tali_integrator_keep_end(integ, state);
    return st == TAL_OK ? tali_integrator_end_trial(integ, state, norm) : st;
}

tali_integrator_method tali_integrator_semi_explicit_euler(void)
{
    return (tali_integrator_method){.num_stages = 4, .error_power = 2, .try_step = try_step};
}
