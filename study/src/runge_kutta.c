// Explicit Runge-Kutta methods: a trial step from a tableau (HNW sec. II.1 and II.4).
#include "integrator_internal.h"

// Then its rates begin the next step ("first same as last", HNW sec. II.5), unless prescribing,
// projecting or relaxing moves the end of the step.
bool tali_ends_at_last_stage(const tal_rk_tableau *rk)
{
    const int last = rk->stages - 1;
    bool same = last > 0 && rk->b[last] == 0.0 && rk->c[last] == 1.0;
    for (int j = 0; j < last; ++j) {
        same = same && rk->a[last * rk->stages + j] == rk->b[j];
    }
    return same;
}

// Does the end of the step, or dense output, need stage i? The rates at the end of the step come for
// free, once it is settled.
static bool is_needed(const tal_rk_tableau *rk, int i)
{
    if (rk->b[i] != 0.0) return true;
    const bool is_end = i == rk->stages - 1 && tali_ends_at_last_stage(rk);
    return rk->d != NULL && rk->d[i] != 0.0 && !is_end;
}

// Stages that only the error estimate uses are left out when nobody asks for it.
static int stages_to_run(const tal_integrator *integ)
{
    const tal_rk_tableau *rk = integ->def.tableau;
    int s = rk->stages;
    while (!tali_is_controlled(integ) && s > 1 && !is_needed(rk, s - 1)) {
        --s;
    }
    return s;
}

static void estimate_error(tal_integrator *integ, double h, int ny)
{
    const tal_rk_tableau *rk = integ->def.tableau;
    double coefs[TAL_MAX_RK_STAGES];
    for (int i = 0; i < rk->stages; ++i) {
        coefs[i] = rk->b[i] - rk->b_hat[i];
    }
    tali_combine(integ, NULL, h, coefs, rk->stages, ny, integ->error);
}

static tal_status try_step(tal_integrator *integ, tal_state *state, double t1, double *norm)
{
    const tal_rk_tableau *rk = integ->def.tableau;
    const int ny = tal_state_ny(state), s = stages_to_run(integ);
    const bool is_at_end = s == rk->stages && tali_ends_at_last_stage(rk);
    const double t0 = integ->t0, h = t1 - t0;
    double *y = integ->error; // free until the end of the step
    tal_status st = TAL_OK;
    for (int i = 1; i < s && st == TAL_OK; ++i) {
        tali_combine(integ, integ->y0, h, rk->a + (size_t)(i * rk->stages), i, ny, y);
        st = tali_put(integ, state, rk->c[i] == 1.0 ? t1 : t0 + rk->c[i] * h, y);
        if (st == TAL_OK) st = tali_settle_stage(integ, state, is_at_end && i == s - 1);
        if (st == TAL_OK) st = tali_evaluate(integ, state, tali_stage(integ, i));
    }
    if (st == TAL_OK && !is_at_end) {
        tali_combine(integ, integ->y0, h, rk->b, s, ny, y);
        st = tali_put(integ, state, t1, y);
    }
    if (st != TAL_OK) return st;
    if (tali_is_controlled(integ)) estimate_error(integ, h, ny);
    return tali_end_step(integ, state, norm);
}

// b - b_hat leaves the error of the lower order.
tali_method tali_runge_kutta(const tal_rk_tableau *tableau)
{
    const int p = tableau->order, p_hat = tableau->embedded_order;
    return (tali_method){
        .num_stages = tableau->stages,
        .error_power = 1 + (p_hat > 0 && p_hat < p ? p_hat : p),
        .try_step = try_step,
    };
}
