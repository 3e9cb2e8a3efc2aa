// Verlet's method with speeds that enter the forces (manual sec. 10.4):
//
//     q' = q0 + h qdot0 + h^2/2 qdotdot0
//     u1 = u0 + h udot0,   u_k = u0 + h/2 (udot0 + udot(q', u_k-1))   until u no longer changes
//
// and z as u. Of order 2. The error is estimated from solutions of lower order,
//
//     q'' = q0 + h/2 (qdot0 + qdot'),   u'' = u1,   z'' = z1
//
// (the manual prints a minus in q''). That of u and z is Euler's: it goes with h^2.
#include "integrate/integrator_internal.h"

#include <math.h>
#include <string.h>

// The largest tolerance of u and z within a step.
static const double LARGEST_TOLERANCE = 1e-4;

// Stages besides the rates at y0.
enum {
    QDOTDOT0 = 1,
    LOW = 2,
    NEXT = 3,
    RATES = 4,
    NUM_STAGES = 5
};

// Halving the distance each time, 20 rounds reach any tolerance worth asking for; a step for which
// they do not is too long.
static const int MAX_ROUNDS = 20;

static tal_status begin_verlet(tal_integrator *integ, const tal_state *state)
{
    memcpy(tali_integrator_stage(integ, QDOTDOT0), tal_state_qdotdot(state),
           (size_t)tal_state_nq(state) * sizeof(double));
    return TAL_OK;
}

// How far u and z may still move: a tenth of what a step may be off, and at most LARGEST_TOLERANCE.
static double tolerance_of(const tal_integrator *integ)
{
    return fmin(LARGEST_TOLERANCE, 0.1 * integ->step_accuracy);
}

// q' and the first u and z; q is prescribed and projected, u is prescribed.
static tal_status predict(tal_integrator *integ, tal_state *state, double t1)
{
    const int nq = tal_state_nq(state), ny = tal_state_ny(state);
    const double h = t1 - integ->t0;
    const double *y0 = integ->problem.y0, *ydot0 = tali_integrator_stage(integ, 0);
    const double *qdotdot0 = tali_integrator_stage(integ, QDOTDOT0);
    double *y = tali_integrator_stage(integ, LOW);
    for (int i = 0; i < nq; ++i) {
        y[i] = y0[i] + h * (ydot0[i] + 0.5 * h * qdotdot0[i]);
    }
    for (int i = nq; i < ny; ++i) {
        y[i] = y0[i] + h * ydot0[i];
    }
    tal_status st = tali_problem_put(&integ->problem, state, t1, y);
    if (st == TAL_OK) st = tali_problem_project_q(&integ->problem, state, NULL);
    if (st != TAL_OK) return st;
    return tali_problem_pass_on(&integ->problem, state,
                                tal_system_prescribe_u(integ->problem.system, state, NULL));
}

// One round of u and z: `*moved` is the norm of how far they went. When nothing moves the State is
// left as it is, rates and all.
static tal_status correct(tal_integrator *integ, tal_state *state, double h, double *moved)
{
    const int nq = tal_state_nq(state), ny = tal_state_ny(state);
    const size_t bytes = (size_t)(ny - nq) * sizeof(double);
    const double *ydot0 = tali_integrator_stage(integ, 0);
    double *rates = tali_integrator_stage(integ, RATES), *y = tali_integrator_stage(integ, NEXT),
           *error = integ->problem.error;
    tal_status st = tali_problem_settle_relaxed(&integ->problem, state);
    if (st == TAL_OK) st = tali_problem_evaluate(&integ->problem, state, rates);
    if (st != TAL_OK) return st;
    memcpy(y, tal_state_y(state), (size_t)nq * sizeof *y);
    for (int i = nq; i < ny; ++i) {
        y[i] = integ->problem.y0[i] + 0.5 * h * (ydot0[i] + rates[i]);
    }
    *moved = 0.0;
    if (memcmp(y + nq, tal_state_y(state) + nq, bytes) == 0) return TAL_OK;
    memset(error, 0, (size_t)nq * sizeof *error);
    memcpy(error + nq, tal_state_y(state) + nq, bytes);
    st = tali_problem_put_uz(&integ->problem, state, y);
    if (st != TAL_OK) return st;
    for (int i = nq; i < ny; ++i) {
        error[i] -= tal_state_y(state)[i];
    }
    *moved = tali_problem_error_norm(&integ->problem, state);
    return TAL_OK;
}

// Rounds until u and z no longer change.
static tal_status converge(tal_integrator *integ, tal_state *state, double t1)
{
    const double h = t1 - integ->t0, tolerance = tolerance_of(integ);
    double moved = 0.0;
    for (int round = 0; round < MAX_ROUNDS; ++round) {
        const tal_status st = correct(integ, state, h, &moved);
        if (st != TAL_OK || moved <= tolerance) return st;
    }
    return TALI_FAIL(
        &integ->problem.error_record, TAL_ERR_NO_CONVERGENCE,
        "a step of %g from t = %g is too long: after %d iterations the speeds still change by "
        "%g",
        h, integ->t0, MAX_ROUNDS, moved);
}

// y'' - y' into `error`.
static tal_status estimate_error(tal_integrator *integ, tal_state *state, double h)
{
    const int nq = tal_state_nq(state), ny = tal_state_ny(state);
    const tal_status st = tal_system_realize(integ->problem.system, state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return tali_problem_pass_on(&integ->problem, state, st);
    const double *y = tal_state_y(state), *qdot = tal_state_qdot(state);
    const double *y0 = integ->problem.y0, *ydot0 = tali_integrator_stage(integ, 0),
                 *low = tali_integrator_stage(integ, LOW);
    for (int i = 0; i < nq; ++i) {
        integ->problem.error[i] = y0[i] + 0.5 * h * (ydot0[i] + qdot[i]) - y[i];
    }
    for (int i = nq; i < ny; ++i) {
        integ->problem.error[i] = low[i] - y[i];
    }
    return TAL_OK;
}

static tal_status try_step(tal_integrator *integ, tal_state *state, double t1, double *norm)
{
    tal_status st = predict(integ, state, t1);
    if (st == TAL_OK) st = converge(integ, state, t1);
    if (st == TAL_OK && tali_integrator_is_controlled(integ)) {
        st = estimate_error(integ, state, t1 - integ->t0);
    }
    tali_integrator_keep_end(integ, state);
    return st == TAL_OK ? tali_integrator_end_trial(integ, state, norm) : st;
}

tali_integrator_method tali_integrator_verlet(void)
{
    return (tali_integrator_method){
        .num_stages = NUM_STAGES, .error_power = 2, .begin = begin_verlet, .try_step = try_step};
}
