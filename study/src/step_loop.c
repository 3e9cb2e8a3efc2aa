// The step loop of one-step methods: trial steps, error control, failures (manual sec. 10.4).
#include "integrator_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// --- choosing steps ---

// The least step worth taking: what t can resolve, with some bits to spare.
static double least_step(const tal_integrator *integ, double t)
{
    const double scale = fmax(fabs(t), tal_system_time_scale(integ->system));
    return fmax(integ->def.min_step, 16.0 * DBL_EPSILON * scale);
}

// (h / t_c)^n is about the error of a step, n the power of h that it goes with.
static double first_step(const tal_integrator *integ)
{
    if (integ->def.initial_step > 0.0) return integ->def.initial_step;
    const double power = 1.0 / integ->method.error_power;
    return tal_system_time_scale(integ->system) * pow(integ->def.accuracy, power);
}

static double limited(const tal_integrator *integ, double h)
{
    return integ->def.max_step > 0.0 ? fmin(h, integ->def.max_step) : h;
}

// The usual factor (HNW sec. II.4).
static double step_factor(const tal_integrator *integ, double norm, bool may_grow)
{
    const double power = 1.0 / integ->method.error_power;
    const double wanted = norm > 0.0 ? 0.9 * pow(integ->def.accuracy / norm, power) : 5.0;
    return fmin(fmax(wanted, 0.1), may_grow ? 5.0 : 1.0);
}

// A failure that a smaller step may avoid.
static bool may_retry(tal_status st)
{
    return st == TAL_RETRY || st == TAL_ERR_NOT_FINITE || st == TAL_ERR_SINGULAR ||
           st == TAL_ERR_NO_CONVERGENCE;
}

// --- failures ---

static tal_status step_too_small(tal_integrator *integ, const tal_state *state, double t, double h)
{
    char name[160];
    tali_name_variable(integ, state, integ->worst.pool, integ->worst.slot, name, sizeof name);
    return TALI_FAIL(&integ->error_record, TAL_ERR_STEP_TOO_SMALL,
                     "at t = %.17g accuracy %g would need a step below %g, because of %s", t,
                     integ->def.accuracy, h, name);
}

// Puts the State back to the start of the step, as far up as it was. The story is in the
// integrator's record; what the State says about this realization adds nothing to it.
static void back_up(tal_integrator *integ, tal_state *state, double t0)
{
    const tal_error story = integ->error_record;
    tal_status st = tali_put(integ, state, t0, integ->y0);
    if (st == TAL_OK) st = tali_settle_stage(integ, state, false);
    if (st == TAL_OK) (void)!tal_system_realize(integ->system, state, TAL_STAGE_ACCELERATION);
    integ->error_record = story;
}

// A step could not be computed, or its error is too large. `*h` becomes smaller, or the failure is
// final. A step that could not be computed says nothing about how much smaller.
static tal_status refuse(tal_integrator *integ, const tal_state *state, double t0, double norm,
                         tal_status st, double *h)
{
    if (st == TAL_OK) {
        ++integ->stats.error_failures;
        *h *= step_factor(integ, norm, false);
        return *h < least_step(integ, t0) ? step_too_small(integ, state, t0, *h) : TAL_OK;
    }
    ++integ->stats.other_failures;
    *h *= 0.25;
    const bool give_up = integ->def.fixed_step > 0.0 || *h < least_step(integ, t0);
    if (!may_retry(st) || give_up) return st;
    integ->error_record = (tal_error){TAL_OK, "", ""};
    return TAL_OK;
}

// The step from t0 to t1 is taken; `h` is what was tried before t_end cut it short.
static void accept(tal_integrator *integ, double h, double taken, double norm, bool may_grow)
{
    const bool was_cut = taken < h;
    const double wanted = taken * step_factor(integ, norm, may_grow);
    // a step cut short says little about longer ones
    integ->h_next = limited(integ, was_cut && may_grow ? fmax(wanted, h) : wanted);
    if (integ->def.fixed_step > 0.0) integ->h_next = integ->def.fixed_step;
    integ->stats.last_step = taken;
    ++integ->stats.steps_taken;
}

// --- one step ---

// Begin: auto-update variables, ydot at the start, y0. A sampled variable that changes asks for the
// rates once more; a State whose rates are known from the end of the last step has them already.
static tal_status begin(tal_integrator *integ, tal_state *state)
{
    double *ydot0 = tali_stage(integ, 0);
    integ->has_step = false;
    tal_status st = tali_evaluate(integ, state, ydot0);
    if (st != TAL_OK) return st;
    st = tal_system_begin_step(integ->system, state);
    if (st != TAL_OK) return tali_pass_on(integ, state, st);
    st = tali_evaluate(integ, state, ydot0);
    if (st != TAL_OK) return st;
    memcpy(integ->y0, tal_state_y(state), (size_t)tal_state_ny(state) * sizeof(double));
    integ->t0 = tal_state_t(state);
    return integ->method.begin != NULL ? integ->method.begin(integ, state) : TAL_OK;
}

// Where a step of about `h` ends. A remainder that is a step up to round-off is the step; so times
// add up to t_end exactly.
static double end_of_step(double t0, double h, double t_end)
{
    return t_end - t0 <= h * (1.0 + 1e-6) ? t_end : t0 + h;
}

// One more trial step, if max_steps allows it.
static tal_status spend_one(tal_integrator *integ, double t0, double t_end)
{
    if (integ->def.max_steps > 0 && integ->steps_left-- <= 0) {
        return TALI_FAIL(&integ->error_record, TAL_ERR_STEP_LIMIT,
                         "%ld steps did not reach t = %g; the run stands at t = %g",
                         integ->def.max_steps, t_end, t0);
    }
    ++integ->stats.steps_attempted;
    return TAL_OK;
}

// One accepted step that does not pass t_end. A step that is not allowed does not begin, so that a
// run can go on where it was stopped.
static tal_status step(tal_integrator *integ, tal_state *state, double t_end)
{
    const double t0 = tal_state_t(state);
    tal_status st = spend_one(integ, t0, t_end);
    if (st == TAL_OK) st = begin(integ, state);
    if (st != TAL_OK) return st;
    const bool fixed = integ->def.fixed_step > 0.0;
    if (integ->h_next == 0.0) integ->h_next = limited(integ, first_step(integ));
    double h = fixed ? integ->def.fixed_step : fmax(integ->h_next, least_step(integ, t0));
    for (bool may_grow = true; st == TAL_OK; may_grow = false) {
        const double t1 = end_of_step(t0, h, t_end);
        double norm = 0.0;
        st = integ->method.try_step(integ, state, t1, &norm);
        if (st == TAL_OK && norm <= integ->def.accuracy) {
            accept(integ, h, t1 - t0, norm, may_grow);
            return TAL_OK;
        }
        h = t1 - t0;
        st = refuse(integ, state, t0, norm, st, &h);
        if (st == TAL_OK) st = spend_one(integ, t0, t_end);
    }
    back_up(integ, state, t0);
    return st;
}

// As a step of length zero: prescribed, projected, relaxed.
static tal_status start_up(tal_integrator *integ, tal_state *state)
{
    const tal_status st = tali_project(integ, state, NULL);
    return st == TAL_OK ? tali_settle_relaxed(integ, state) : st;
}

// The end of the last step, for interpolation; realizes the State to Acceleration.
static tal_status finish(tal_integrator *integ, tal_state *state)
{
    const tal_status st = tali_evaluate(integ, state, integ->ydot1);
    if (st != TAL_OK) return st;
    memcpy(integ->y1, tal_state_y(state), (size_t)tal_state_ny(state) * sizeof(double));
    integ->t1 = tal_state_t(state);
    return TAL_OK;
}

// Steps until t, or just one that does not pass t.
static tal_status go(tal_integrator *integ, tal_state *state, double t, bool just_one)
{
    integ->error_record = (tal_error){TAL_OK, "", ""};
    integ->steps_left = integ->def.max_steps;
    if (!isfinite(t) || t < tal_state_t(state)) {
        return TALI_FAIL(&integ->error_record, TAL_ERR_BAD_VALUE,
                         "cannot step to t = %g from t = %g", t, tal_state_t(state));
    }
    integ->has_step = false;
    bool any = false;
    tal_status st = start_up(integ, state);
    while (st == TAL_OK && tal_state_t(state) < t && !(any && just_one)) {
        st = step(integ, state, t);
        any = true;
    }
    if (st == TAL_OK) st = finish(integ, state);
    integ->has_step = any && st == TAL_OK;
    // nobody is left to try again
    if (st == TAL_RETRY) st = integ->error_record.status = TAL_ERR_CALLBACK;
    return st;
}

tal_status tal_integrator_step_to(tal_integrator *integ, tal_state *state, double t)
{
    if (integ == NULL) return TALI_BREACH(TAL_ERR_NULL, "the integrator is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    return go(integ, state, t, false);
}

tal_status tal_integrator_step(tal_integrator *integ, tal_state *state, double t_max)
{
    if (integ == NULL) return TALI_BREACH(TAL_ERR_NULL, "the integrator is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    return go(integ, state, t_max, true);
}
