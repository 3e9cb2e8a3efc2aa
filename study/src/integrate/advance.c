// From call to call: a State made consistent, steps until a time, one step, and back within it.
#include "integrate/integrator_internal.h"

#include <math.h>
#include <string.h>

// --- what families share ---

tal_status tali_integrator_spend_step(tal_integrator *integ, double t0, double t_end)
{
    if (integ->def.max_steps > 0 && integ->steps_left-- <= 0) {
        return TALI_FAIL(&integ->problem.error_record, TAL_ERR_STEP_LIMIT,
                         "%ld steps did not reach t = %g; the run ended at t = %g",
                         integ->def.max_steps, t_end, t0);
    }
    ++integ->stats.steps_attempted;
    return TAL_OK;
}

// Is the State where the last step ended, with nothing changed that rates depend on?
static bool goes_on(const tal_integrator *integ, const tal_state *state)
{
    if (!integ->is_settled || tal_state_t(state) != integ->t1) return false;
    if (tal_state_low_water(state) <= TAL_STAGE_ACCELERATION) return false;
    const size_t bytes = (size_t)tal_state_ny(state) * sizeof(double);
    return memcmp(tal_state_y(state), integ->y1, bytes) == 0;
}

// A State that cannot be projected is far off, most often because it is not assembled. The message
// of matter names the worst constraint; the remedy is added.
static tal_status advise(tal_integrator *integ, tal_status st)
{
    if (st != TAL_ERR_NO_CONVERGENCE) return st;
    const tal_error why = integ->problem.error_record;
    integ->problem.error_record = (tal_error){TAL_OK, "", ""};
    return TALI_FAIL(&integ->problem.error_record, st, "%s; assemble the model first", why.message);
}

// Made consistent, as by a step of length zero: prescribed, projected, relaxed. A State that
// continues from the last step is consistent already.
static tal_status start_up(tal_integrator *integ, tal_state *state)
{
    if (goes_on(integ, state)) return TAL_OK;
    if (integ->family->restart != NULL) integ->family->restart(integ);
    integ->clearest = integ->let_off = 0.0;
    integ->now = integ->past = (tali_integrator_share){-HUGE_VAL, 0.0};
    integ->problem.is_starting = true;
    const tal_status st = tali_integrator_project_start(integ, state);
    integ->problem.is_starting = false;
    return st == TAL_OK ? tali_problem_settle_relaxed(&integ->problem, state) : advise(integ, st);
}

tal_status tali_integrator_start(tal_integrator *integ, tal_state *state)
{
    integ->problem.error_record = (tal_error){TAL_OK, "", ""};
    integ->steps_left = integ->def.max_steps;
    const tal_status st = start_up(integ, state);
    integ->has_step = integ->is_settled = integ->is_cut = integ->dense.is_known = false;
    return st;
}

tal_status tali_integrator_finish(tal_integrator *integ, tal_state *state)
{
    const tal_status st = tali_problem_evaluate(&integ->problem, state, integ->ydot1);
    if (st != TAL_OK) return st;
    memcpy(integ->y1, tal_state_y(state), (size_t)tal_state_ny(state) * sizeof(double));
    integ->t1 = tal_state_t(state);
    integ->is_settled = true;
    tal_state_reset_low_water(state);
    return TAL_OK;
}

// A TAL_RETRY that no smaller step has answered is a failure of the callback.
static tal_status final(tal_integrator *integ, tal_status st)
{
    return st == TAL_RETRY ? (integ->problem.error_record.status = TAL_ERR_CALLBACK) : st;
}

// Steps until t, or just one that does not pass t.
static tal_status advance_to(tal_integrator *integ, tal_state *state, double t, bool just_one)
{
    if (!isfinite(t) || t < tal_state_t(state)) {
        integ->problem.error_record = (tal_error){TAL_OK, "", ""};
        return TALI_FAIL(&integ->problem.error_record, TAL_ERR_BAD_VALUE,
                         "cannot step to t = %g from t = %g", t, tal_state_t(state));
    }
    bool any = false;
    tal_status st = tali_integrator_start(integ, state);
    while (st == TAL_OK && tal_state_t(state) < t && !(any && just_one)) {
        st = integ->family->step(integ, state, t);
        any = true;
    }
    if (st == TAL_OK) st = tali_integrator_finish(integ, state);
    integ->has_step = any && st == TAL_OK;
    return final(integ, st);
}

tal_status tal_integrator_step_to(tal_integrator *integ, tal_state *state, double t)
{
    if (integ == NULL) return TALI_BREACH(TAL_ERR_NULL, "the integrator is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    return advance_to(integ, state, t, false);
}

tal_status tal_integrator_step(tal_integrator *integ, tal_state *state, double t_max)
{
    if (integ == NULL) return TALI_BREACH(TAL_ERR_NULL, "the integrator is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    return advance_to(integ, state, t_max, true);
}

// --- within the last step ---

static tal_status check_within(tal_integrator *integ, const tal_state *state, double t)
{
    integ->problem.error_record = (tal_error){TAL_OK, "", ""};
    if (!integ->has_step || tal_state_t(state) != integ->t1) {
        return TALI_FAIL(&integ->problem.error_record, TAL_ERR_BAD_VALUE,
                         "there is no step that ends at t = %g", tal_state_t(state));
    }
    if (t >= integ->t0 && t <= integ->t1) return TAL_OK;
    return TALI_FAIL(&integ->problem.error_record, TAL_ERR_BAD_VALUE,
                     "t = %g is not within the last step, %g to %g", t, integ->t0, integ->t1);
}

tal_status tal_integrator_interpolate(tal_integrator *integ, const tal_state *state, double t,
                                      tal_state *out)
{
    if (integ == NULL) return TALI_BREACH(TAL_ERR_NULL, "the integrator is NULL");
    if (state == NULL || out == NULL) return TALI_BREACH(TAL_ERR_NULL, "a State is NULL");
    if (state == out) return TALI_BREACH(TAL_ERR_BAD_VALUE, "'out' is the State itself");
    tal_status st = check_within(integ, state, t);
    if (st != TAL_OK) return st;
    st = tal_state_copy(out, state);
    if (st != TAL_OK || t == integ->t1) return tali_problem_pass_on(&integ->problem, out, st);
    return tali_integrator_put_row(integ, out, t);
}

tal_status tal_integrator_back_up(tal_integrator *integ, tal_state *state, double t)
{
    if (integ == NULL) return TALI_BREACH(TAL_ERR_NULL, "the integrator is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    tal_status st = check_within(integ, state, t);
    if (st != TAL_OK || t == integ->t1) return st;
    integ->has_step = integ->is_settled = false;
    st = integ->family->back_up(integ, state, t);
    integ->dense.is_known = false;
    if (st == TAL_OK) st = tali_integrator_finish(integ, state);
    integ->has_step = st == TAL_OK;
    if (st != TAL_OK) tali_integrator_leave_at_start(integ, state);
    return final(integ, st);
}
