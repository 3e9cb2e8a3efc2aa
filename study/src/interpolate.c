// The State within the last step: dense output (HNW sec. II.6).
#include "integrator_internal.h"

// With x = (t - t0) / h, D = y1 - y0, B = h ydot0 - D and C = D - h ydot1 - B, the cubic through
// both ends, and what the method's dense output adds to it:
//
//     y = y0 + x (D + (1 - x) (B + x C)) + x^2 (1 - x)^2 h sum d_i k_i
//
// The ends are those after projection, so that pieces of neighboring steps fit together.
tal_status tali_one_step_dense(tal_integrator *integ, double t, int ny, double y[])
{
    const double h = integ->t1 - integ->t0, x = (t - integ->t0) / h, bump = x * (1.0 - x);
    const double *y0 = integ->y0, *y1 = integ->y1;
    const double *ydot0 = tali_stage(integ, 0), *ydot1 = integ->ydot1;
    for (int i = 0; i < ny; ++i) {
        const double D = y1[i] - y0[i], B = h * ydot0[i] - D, C = D - h * ydot1[i] - B;
        y[i] = y0[i] + x * (D + (1.0 - x) * (B + x * C));
    }
    const bool is_rk = integ->def.method == TAL_METHOD_RUNGE_KUTTA;
    const tal_rk_tableau *rk = integ->def.tableau;
    if (!is_rk || rk->d == NULL) return TAL_OK;
    // a last stage that is the end of the step has the rates there; fixed steps leave it out
    const int end = tali_ends_at_last_stage(rk) ? rk->stages - 1 : rk->stages;
    for (int j = 0; j < rk->stages; ++j) {
        const double *k = j == end ? ydot1 : tali_stage(integ, j);
        const double weight = h * bump * bump * rk->d[j];
        for (int i = 0; i < ny; ++i) {
            y[i] += weight * k[i];
        }
    }
    return TAL_OK;
}

tal_status tali_put_dense(tal_integrator *integ, tal_state *state, double t)
{
    tal_status st = integ->family->dense(integ, t, tal_state_ny(state), integ->error);
    if (st == TAL_OK) st = tali_put(integ, state, t, integ->error);
    if (st == TAL_OK) st = tali_project(integ, state, NULL);
    return st == TAL_OK ? tali_settle_relaxed(integ, state) : st;
}
