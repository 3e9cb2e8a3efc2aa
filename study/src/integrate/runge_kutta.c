// Explicit Runge-Kutta methods: a trial step from a tableau (HNW sec. II.1 and II.4).
#include "integrate/integrator_internal.h"

// Then its rates begin the next step ("first same as last", HNW sec. II.5), unless prescribing,
// projecting or relaxing moves the end of the step.
bool tali_integrator_ends_at_last_stage(const tal_rk_tableau *rk)
{
    const int last = rk->stages - 1;
    bool same = last > 0 && rk->b[last] == 0.0 && rk->c[last] == 1.0;
    for (int j = 0; j < last; ++j) {
        same = same && rk->a[last * rk->stages + j] == rk->b[j];
    }
    return same;
}

// Does the end of the step, or dense output, need stage i? The rates at the end of the step come
// for free, once it is settled.
static bool is_needed(const tal_rk_tableau *rk, int i)
{
    if (rk->b[i] != 0.0) return true;
    const bool is_end = i == rk->stages - 1 && tali_integrator_ends_at_last_stage(rk);
    return rk->d != NULL && rk->d[i] != 0.0 && !is_end;
}

// Stages that only the error estimate uses are left out when there is none.
static int stages_to_run(const tal_rk_tableau *rk, bool is_controlled)
{
    int s = rk->stages;
    while (!is_controlled && s > 1 && !is_needed(rk, s - 1)) {
        --s;
    }
    return s;
}

static tali_problem_row row_of(const tal_integrator *integ, const double coefs[], int n)
{
    tali_problem_row row = {.n = 0};
    for (int j = 0; j < n; ++j) {
        if (coefs[j] == 0.0) continue;
        row.coefs[row.n] = coefs[j];
        row.k[row.n++] = tali_integrator_stage(integ, j);
    }
    return row;
}

// The difference of the solution and the one it is compared with.
static tali_problem_row row_of_error(const tal_integrator *integ, const tal_rk_tableau *rk)
{
    double coefs[TAL_MAX_RK_STAGES];
    for (int j = 0; j < rk->stages; ++j) {
        coefs[j] = rk->b[j] - rk->b_hat[j];
    }
    return row_of(integ, coefs, rk->stages);
}

static void prepare(tal_integrator *integ)
{
    const tal_rk_tableau *rk = integ->def.tableau;
    const bool is_controlled = tali_integrator_is_controlled(integ);
    tali_integrator_rk_plan *plan = &integ->rk;
    plan->stages = stages_to_run(rk, is_controlled);
    plan->is_at_end = plan->stages == rk->stages && tali_integrator_ends_at_last_stage(rk);
    for (int i = 1; i < plan->stages; ++i) {
        plan->at[i] = row_of(integ, rk->a + (size_t)(i * rk->stages), i);
    }
    plan->end = row_of(integ, rk->b, plan->stages);
    if (is_controlled) plan->error = row_of_error(integ, rk);
    integ->passage = tali_integrator_widest_passage(rk->c, plan->stages);
}

// A trial step from t0 to t1: stages, solution, error estimate, and the end of the step.
static tal_status try_step(tal_integrator *integ, tal_state *state, double t1, double *norm)
{
    const tali_integrator_rk_plan *rk = &integ->rk;
    const double *c = integ->def.tableau->c, t0 = integ->t0, h = t1 - t0;
    tal_status st = TAL_OK;
    for (int i = 1; i < rk->stages && st == TAL_OK; ++i) {
        const bool is_end = rk->is_at_end && i == rk->stages - 1;
        st = tali_problem_put_sum(&integ->problem, state, c[i] == 1.0 ? t1 : t0 + c[i] * h, h,
                                  &rk->at[i]);
        if (st == TAL_OK && is_end) tali_integrator_keep_end(integ, state);
        if (st == TAL_OK && !integ->problem.is_open) {
            st = tali_problem_settle_stage(&integ->problem, state, is_end);
        }
        if (st == TAL_OK) {
            st = tali_problem_evaluate(&integ->problem, state, tali_integrator_stage(integ, i));
        }
    }
    if (st == TAL_OK && !rk->is_at_end) {
        st = tali_problem_put_sum(&integ->problem, state, t1, h, &rk->end);
        tali_integrator_keep_end(integ, state);
    }
    if (st != TAL_OK) return st;
    if (tali_integrator_is_controlled(integ)) { // an error that is not finite fails the test
        (void)tali_problem_combine(integ->zero, h, &rk->error, tal_state_ny(state),
                                   integ->problem.error);
    }
    return tali_integrator_end_trial(integ, state, norm);
}

// b - b_hat leaves the error of the lower order.
tali_integrator_method tali_integrator_runge_kutta(const tal_rk_tableau *tableau)
{
    const int p = tableau->order, p_hat = tableau->embedded_order;
    return (tali_integrator_method){
        .num_stages = tableau->stages,
        .error_power = 1 + (p_hat > 0 && p_hat < p ? p_hat : p),
        .prepare = prepare,
        .try_step = try_step,
    };
}
