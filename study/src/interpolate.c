// The State within the last step: dense output (HNW sec. II.6).
#include "integrator_internal.h"

#include <math.h>

// With x = (t - t0) / h, D = y1 - y0, B = h ydot0 - D and C = D - h ydot1 - B, the cubic through both
// ends, and what the method's dense output adds to it:
//
//     y = y0 + x (D + (1 - x) (B + x C)) + x^2 (1 - x)^2 h sum d_i k_i
//
// The ends are those after projection, so that pieces of neighbouring steps fit together.
static void interpolate(const tal_integrator *integ, double t, int ny, double y[])
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
    if (!is_rk || rk->d == NULL) return;
    // a last stage that is the end of the step has the rates there; fixed steps leave it out
    const int end = tali_ends_at_last_stage(rk) ? rk->stages - 1 : rk->stages;
    for (int j = 0; j < rk->stages; ++j) {
        const double *k = j == end ? ydot1 : tali_stage(integ, j);
        const double weight = h * bump * bump * rk->d[j];
        for (int i = 0; i < ny; ++i) {
            y[i] += weight * k[i];
        }
    }
}

tal_status tal_integrator_interpolate(tal_integrator *integ, const tal_state *state, double t,
                                      tal_state *out)
{
    if (integ == NULL) return TALI_BREACH(TAL_ERR_NULL, "the integrator is NULL");
    if (state == NULL || out == NULL) return TALI_BREACH(TAL_ERR_NULL, "a State is NULL");
    if (state == out) return TALI_BREACH(TAL_ERR_BAD_VALUE, "'out' is the State itself");
    integ->error_record = (tal_error){TAL_OK, "", ""};
    if (!integ->has_step || tal_state_t(state) != integ->t1) {
        return TALI_FAIL(&integ->error_record, TAL_ERR_BAD_VALUE,
                         "there is no step to interpolate that ends at t = %g", tal_state_t(state));
    }
    if (!(t >= integ->t0 && t <= integ->t1)) {
        return TALI_FAIL(&integ->error_record, TAL_ERR_BAD_VALUE,
                         "t = %g is not within the last step, %g to %g", t, integ->t0, integ->t1);
    }
    tal_status st = tal_state_copy(out, state);
    if (st != TAL_OK || t == integ->t1) return tali_pass_on(integ, out, st);
    interpolate(integ, t, tal_state_ny(state), integ->error);
    st = tali_put(integ, out, t, integ->error);
    if (st == TAL_OK) st = tali_project(integ, out, NULL);
    return st == TAL_OK ? tali_settle_relaxed(integ, out) : st;
}
