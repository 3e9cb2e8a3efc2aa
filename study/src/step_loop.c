// The family of one-step methods: trial steps, error control, failures (manual sec. 10.4).
#include "integrator_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// --- choosing steps ---

double tali_resolved_step(const tal_integrator *integ, double t)
{
    return 16.0 * DBL_EPSILON * fmax(fabs(t), tal_system_time_scale(integ->system));
}

double tali_least_step(const tal_integrator *integ, double t)
{
    return fmax(integ->def.min_step, tali_resolved_step(integ, t));
}

// (h / t_c)^n is about the error of a step, n the power of h that it goes with.
static double first_step(const tal_integrator *integ)
{
    if (integ->def.initial_step > 0.0) return integ->def.initial_step;
    const double power = 1.0 / integ->method.error_power;
    return tal_system_time_scale(integ->system) * pow(integ->step_accuracy, power);
}

static double limited(const tal_integrator *integ, double h)
{
    return integ->def.max_step > 0.0 ? fmin(h, integ->def.max_step) : h;
}

// The usual factor (HNW sec. II.4), with more to spare than usual: chains whip, and 0.9 has a
// quarter of the steps of low accuracy refused. 0.8 needs 5 to 10 % fewer evaluations for the same
// error; a controller that remembers the last error would save another 2 %, and could not resume
// from h alone.
static double step_factor(const tal_integrator *integ, double norm, bool may_grow)
{
    const double power = 1.0 / integ->method.error_power;
    const double wanted = norm > 0.0 ? 0.8 * pow(integ->tolerance / norm, power) : 5.0;
    return fmin(fmax(wanted, 0.1), may_grow ? 5.0 : 1.0);
}

// --- failures ---

bool tali_may_retry(tal_status st)
{
    return st == TAL_RETRY || st == TAL_ERR_NOT_FINITE || st == TAL_ERR_SINGULAR ||
           st == TAL_ERR_NO_CONVERGENCE;
}

// Evaluations that may end in a NaN or infinity before a run gives up, unless so many good steps
// lie between them: each makes the step shorter by a factor of 4. Half of them will do when as many
// evaluations have been spent since the first.
static const uint64_t MAX_BAD_EVALUATIONS = 8, MAX_SPENT = 50, GOOD_STEPS_TO_FORGET = 20;

bool tali_forgive(tal_integrator *integ)
{
    tali_bad *bad = &integ->bad;
    const uint64_t realizations = integ->stats.realizations;
    if (bad->count == 0) bad->first = realizations;
    bad->good_steps = 0;
    ++bad->count;
    const bool may_go_on =
        bad->count < MAX_BAD_EVALUATIONS &&
        (bad->count < MAX_BAD_EVALUATIONS / 2 || realizations - bad->first < MAX_SPENT);
    if (!may_go_on) bad->count = 0; // for the next call
    return may_go_on;
}

void tali_forget(tal_integrator *integ)
{
    if (++integ->bad.good_steps >= GOOD_STEPS_TO_FORGET) integ->bad.count = 0;
}

tal_status tali_step_too_small(tal_integrator *integ, const tal_state *state, double t, double h)
{
    char name[160];
    tali_name_variable(integ, state, integ->worst.pool, integ->worst.slot, name, sizeof name);
    return TALI_FAIL(&integ->error_record, TAL_ERR_STEP_TOO_SMALL,
                     "at t = %.17g accuracy %g would need a step below %g, because of %s", t,
                     integ->def.accuracy, h, name);
}

// Puts the State back to the start of the step, as far up as it was.
static tal_status to_start(tal_integrator *integ, tal_state *state)
{
    tal_status st = tali_put(integ, state, integ->t0, integ->y0);
    if (st == TAL_OK) st = tali_settle_stage(integ, state, false);
    if (st != TAL_OK) return st;
    return tali_pass_on(integ, state,
                        tal_system_realize(integ->system, state, TAL_STAGE_ACCELERATION));
}

// The reason is in the integrator's record already; the error of this realization adds nothing.
void tali_leave_at_start(tal_integrator *integ, tal_state *state)
{
    const tal_error story = integ->error_record;
    (void)!to_start(integ, state);
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
        return *h < tali_least_step(integ, t0) ? tali_step_too_small(integ, state, t0, *h) : TAL_OK;
    }
    ++integ->stats.other_failures;
    *h *= 0.25;
    const bool give_up = integ->def.fixed_step > 0.0 || *h < tali_least_step(integ, t0);
    if (!tali_may_retry(st) || give_up) return st;
    if (st == TAL_ERR_NOT_FINITE && !tali_forgive(integ)) return st;
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
    integ->stats.last_error = norm;
    ++integ->stats.steps_taken;
    tali_forget(integ);
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
    if (tal_state_stage(state) < TAL_STAGE_ACCELERATION) st = tali_evaluate(integ, state, ydot0);
    if (st != TAL_OK) return st;
    memcpy(integ->y0, tal_state_y(state), (size_t)tal_state_ny(state) * sizeof(double));
    integ->t0 = tal_state_t(state);
    return integ->method.begin != NULL ? integ->method.begin(integ, state) : TAL_OK;
}

double tali_end_of_step(double t0, double h, double t_end)
{
    return t_end - t0 <= h * (1.0 + 1e-6) ? t_end : t0 + h;
}

// Nothing is prescribed or relaxed, and stages need not ask: no step changes the variables that
// tell.
static bool is_free(const tal_integrator *integ, const tal_state *state)
{
    return integ->matter != NULL && integ->only_matter_settles &&
           tal_matter_num_free(integ->matter, state) ==
               tal_group_size(integ->system, state, integ->u_group);
}

// There is no constraint and no quaternion, either.
static bool is_open(const tal_state *state)
{
    return tal_state_pool_size(state, TAL_POOL_QERR) == 0 &&
           tal_state_pool_size(state, TAL_POOL_UERR) == 0;
}

// Trial steps of about `h` until one is accepted. One that is good but ends too close to where
// constraints lose rank is taken shorter, unless that is where it has to end; the next may be as
// long as it was.
static tal_status try_steps(tal_integrator *integ, tal_state *state, double h, double t_end)
{
    const double t0 = integ->t0;
    double was_good = 0.0; // length of a step that was taken shorter
    int shortened = 0;
    bool may_grow = true;
    tal_status st = TAL_OK;
    while (st == TAL_OK) {
        const double t1 = tali_end_of_step(t0, h, t_end), taken = t1 - t0;
        double norm = 0.0;
        st = integ->method.try_step(integ, state, t1, &norm);
        const bool is_good = st == TAL_OK && norm <= integ->tolerance;
        if (is_good && t1 < t_end && shortened < TALI_MOST_SHORTENED &&
            tali_ends_too_close(integ, state)) {
            was_good = fmax(was_good, taken);
            may_grow = true;
            ++shortened;
            h = 0.7 * taken;
        } else if (is_good) {
            accept(integ, fmax(h, was_good), taken, norm, may_grow);
            return TAL_OK;
        } else {
            may_grow = false;
            h = taken;
            st = refuse(integ, state, t0, norm, st, &h);
        }
        if (st == TAL_OK) st = tali_spend_step(integ, t0, t_end);
    }
    return st;
}

tal_status tali_check_fixed_step(tal_integrator *integ, double t0)
{
    const double h = integ->def.fixed_step;
    if (h == 0.0 || h >= tali_resolved_step(integ, t0)) return TAL_OK;
    return TALI_FAIL(&integ->error_record, TAL_ERR_STEP_TOO_SMALL,
                     "fixed_step %g is too small for double precision at t = %g", h, t0);
}

// One accepted step that does not pass t_end. A step that is not allowed does not begin, so that a
// run can go on where it was stopped.
static tal_status step(tal_integrator *integ, tal_state *state, double t_end)
{
    const double t0 = tal_state_t(state);
    tal_status st = tali_check_fixed_step(integ, t0);
    if (st == TAL_OK) st = tali_spend_step(integ, t0, t_end);
    if (st == TAL_OK) st = begin(integ, state);
    if (st != TAL_OK) return st;
    const bool fixed = integ->def.fixed_step > 0.0;
    if (integ->h_next == 0.0) integ->h_next = limited(integ, first_step(integ));
    const double h =
        fixed ? integ->def.fixed_step : fmax(integ->h_next, tali_least_step(integ, t0));
    integ->is_free = is_free(integ, state);
    integ->is_open = integ->is_free && is_open(state);
    st = tali_see_what_is_resolved(integ, state);
    if (st == TAL_OK) st = try_steps(integ, state, h, t_end);
    integ->is_free = integ->is_open = false;
    if (st != TAL_OK) tali_leave_at_start(integ, state);
    return st;
}

// --- within the last step ---

// The step once more, to a time within it: as good as the first, since it is shorter.
static tal_status step_again(tal_integrator *integ, tal_state *state, double t)
{
    tal_status st = to_start(integ, state);
    if (st == TAL_OK && integ->method.begin != NULL) st = integ->method.begin(integ, state);
    double norm = 0.0;
    if (st == TAL_OK) st = integ->method.try_step(integ, state, t, &norm);
    if (st != TAL_OK) tali_leave_at_start(integ, state);
    return st;
}

const tali_family *tali_one_step_family(void)
{
    static const tali_family family = {
        .is_one_step = true, .step = step, .dense = tali_one_step_dense, .back_up = step_again};
    return &family;
}
