// The family of one-step methods: trial steps, error control, failures (manual sec. 10.4).
#include "integrate/integrator_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// A step may be longer by this part of it, so that no tiny step is left before the end.
static const double STRETCH = 1e-6;

// How much the next step may differ from the last one, and how far it stays from the bound.
static const double LEAST_GROWTH = 0.1, MOST_GROWTH = 5.0, SAFETY = 0.8;

// --- choosing steps ---

double tali_integrator_resolved_step(const tal_integrator *integ, double t)
{
    return 16.0 * DBL_EPSILON * fmax(fabs(t), tal_system_time_scale(integ->problem.system));
}

double tali_integrator_least_step(const tal_integrator *integ, double t)
{
    return fmax(integ->def.min_step, tali_integrator_resolved_step(integ, t));
}

// (h / t_c)^n is about the error of a step, n the power of h that it goes with.
static double first_step(const tal_integrator *integ)
{
    if (integ->def.initial_step > 0.0) return integ->def.initial_step;
    const double power = 1.0 / integ->method.error_power;
    return tal_system_time_scale(integ->problem.system) * pow(integ->step_accuracy, power);
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
    const double wanted = norm > 0.0 ? SAFETY * pow(integ->tolerance / norm, power) : MOST_GROWTH;
    return fmin(fmax(wanted, LEAST_GROWTH), may_grow ? MOST_GROWTH : 1.0);
}

// --- failures ---

bool tali_integrator_may_retry(tal_status st)
{
    return st == TAL_RETRY || st == TAL_ERR_NOT_FINITE || st == TAL_ERR_SINGULAR ||
           st == TAL_ERR_NO_CONVERGENCE;
}

// Evaluations that may end in a NaN or infinity before a run gives up, unless this number of good
// steps lie between them: each makes the step shorter by a factor of 4. Half of them are enough
// when as many evaluations have been spent since the first.
static const uint64_t MAX_BAD_EVALUATIONS = 8, MAX_SPENT = 50, GOOD_STEPS_TO_FORGET = 20;

// Promise P13: a run ends within this number of evaluations from the first bad one.
static const uint64_t MOST_EVALUATIONS = 100;

bool tali_integrator_forgive(tal_integrator *integ)
{
    tali_integrator_bad *bad = &integ->bad;
    const uint64_t realizations = integ->stats.realizations;
    if (bad->count == 0) bad->first = realizations;
    bad->good_steps = 0;
    ++bad->count;
    const uint64_t spent = realizations - bad->first;
    const uint64_t next = bad->count > 1 ? spent + spent / (bad->count - 1) : 0; // bad one, likely
    const bool is_early = bad->count < MAX_BAD_EVALUATIONS / 2;
    const bool may_go_on = bad->count < MAX_BAD_EVALUATIONS &&
                           (is_early ? next <= MOST_EVALUATIONS : spent < MAX_SPENT);
    if (!may_go_on) bad->count = 0; // for the next call
    return may_go_on;
}

void tali_integrator_forget(tal_integrator *integ)
{
    if (++integ->bad.good_steps >= GOOD_STEPS_TO_FORGET) integ->bad.count = 0;
}

tal_status tali_integrator_step_too_small(tal_integrator *integ, const tal_state *state, double t,
                                          double h)
{
    char name[160];
    tali_problem_name_variable(&integ->problem, state, integ->problem.worst.pool,
                               integ->problem.worst.slot, name, sizeof name);
    return TALI_FAIL(&integ->problem.error_record, TAL_ERR_STEP_TOO_SMALL,
                     "at t = %.17g accuracy %g would need a step below %g, because of %s", t,
                     integ->def.accuracy, h, name);
}

// Puts the State back to the start of the step, as far up as it was.
static tal_status to_start(tal_integrator *integ, tal_state *state)
{
    tal_status st = tali_problem_put(&integ->problem, state, integ->t0, integ->problem.y0);
    if (st == TAL_OK) st = tali_problem_settle_start(&integ->problem, state, false);
    if (st != TAL_OK) return st;
    return tali_problem_pass_on(
        &integ->problem, state,
        tal_system_realize(integ->problem.system, state, TAL_STAGE_ACCELERATION));
}

// The reason is in the integrator's record already; the error of this realization adds nothing.
void tali_integrator_leave_at_start(tal_integrator *integ, tal_state *state)
{
    const tal_error story = integ->problem.error_record;
    (void)!to_start(integ, state);
    integ->problem.error_record = story;
}

// A step could not be computed, or its error is too large. `*h` becomes smaller, or the failure is
// final. A step that could not be computed does not show how much smaller.
tal_status tali_integrator_refuse(tal_integrator *integ, const tal_state *state, double t0,
                                  double norm, tal_status st, double *h)
{
    if (st == TAL_OK) {
        ++integ->stats.error_failures;
        *h *= step_factor(integ, norm, false);
        return *h < tali_integrator_least_step(integ, t0)
                   ? tali_integrator_step_too_small(integ, state, t0, *h)
                   : TAL_OK;
    }
    ++integ->stats.other_failures;
    *h *= 0.25;
    const bool give_up = integ->def.fixed_step > 0.0 || *h < tali_integrator_least_step(integ, t0);
    if (!tali_integrator_may_retry(st) || give_up) return st;
    if (st == TAL_ERR_NOT_FINITE && !tali_integrator_forgive(integ)) return st;
    integ->problem.error_record = (tal_error){TAL_OK, "", ""};
    return TAL_OK;
}

// The step from t0 to t1 is taken; `h` is what was tried before t_end cut it short.
void tali_integrator_accept(tal_integrator *integ, double h, double taken, double norm,
                            bool may_grow)
{
    const bool was_cut = taken < h;
    const double wanted = taken * step_factor(integ, norm, may_grow);
    // a step cut short says little about longer ones
    integ->h_next = limited(integ, was_cut && may_grow ? fmax(wanted, h) : wanted);
    if (integ->def.fixed_step > 0.0) integ->h_next = integ->def.fixed_step;
    integ->stats.last_step = taken;
    integ->stats.last_error = norm;
    ++integ->stats.steps_taken;
    tali_integrator_forget(integ);
}

// --- the end of a trial step ---

void tali_integrator_keep_end(tal_integrator *integ, const tal_state *state)
{
    if (!tali_integrator_is_controlled(integ) || !tali_integrator_is_near_rank_loss(integ)) return;
    memcpy(integ->y1, tal_state_y(state), (size_t)tal_state_ny(state) * sizeof(double));
}

tal_status tali_integrator_end_trial(tal_integrator *integ, tal_state *state, double *norm)
{
    const bool controlled = tali_integrator_is_controlled(integ);
    tal_status st =
        tali_problem_project(&integ->problem, state, controlled ? integ->problem.error : NULL);
    if (st != TAL_OK) return st;
    *norm = controlled ? tali_problem_error_norm(&integ->problem, state) : 0.0;
    if (*norm > integ->tolerance) return TAL_OK;
    st = tali_integrator_check_end(integ, state);
    return st == TAL_OK ? tali_problem_settle_relaxed(&integ->problem, state) : st;
}

// --- one step ---

// Begin: auto-update variables, ydot at the start, y0. A sampled variable that changes asks for the
// rates once more; a State whose rates are known from the end of the last step has them already.
static tal_status begin_step(tal_integrator *integ, tal_state *state)
{
    double *ydot0 = tali_integrator_stage(integ, 0);
    integ->has_step = false;
    tal_status st = tali_problem_evaluate(&integ->problem, state, ydot0);
    if (st != TAL_OK) return st;
    st = tal_system_begin_step(integ->problem.system, state);
    if (st != TAL_OK) return tali_problem_pass_on(&integ->problem, state, st);
    if (tal_state_stage(state) < TAL_STAGE_ACCELERATION) {
        st = tali_problem_evaluate(&integ->problem, state, ydot0);
    }
    if (st != TAL_OK) return st;
    memcpy(integ->problem.y0, tal_state_y(state), (size_t)tal_state_ny(state) * sizeof(double));
    integ->t0 = tal_state_t(state);
    return integ->method.begin != NULL ? integ->method.begin(integ, state) : TAL_OK;
}

double tali_integrator_end_of_step(double t0, double h, double t_end)
{
    return t_end - t0 <= h * (1.0 + STRETCH) ? t_end : t0 + h;
}

// Nothing is prescribed or relaxed, and stages need not ask: no step changes the variables that
// tell.
static bool is_free(const tal_integrator *integ, const tal_state *state)
{
    return integ->problem.matter != NULL && integ->problem.only_matter_settles &&
           tal_matter_num_free(integ->problem.matter, state) ==
               tal_group_size(integ->problem.system, state, integ->problem.u_group);
}

// There is no constraint and no quaternion, either.
static bool is_open(const tal_state *state)
{
    return tal_state_pool_size(state, TAL_POOL_QERR) == 0 &&
           tal_state_pool_size(state, TAL_POOL_UERR) == 0;
}

// Trial steps of about `h`, or as planned, until one is accepted. One that is good but ends too
// close to where constraints lose rank is taken shorter, unless that is where it has to end; the
// next may be as long as it was.
static tal_status try_steps(tal_integrator *integ, tal_state *state, double h, double t_end)
{
    const double t0 = integ->t0;
    const bool controlled = tali_integrator_is_controlled(integ);
    double was_good = 0.0; // length of a step that was taken shorter
    int shortened = 0;
    bool may_grow = true;
    tal_status st = TAL_OK;
    while (st == TAL_OK) {
        const double planned = controlled ? tali_integrator_plan_step(integ, h) : h;
        const double t1 = tali_integrator_end_of_step(t0, planned, t_end), taken = t1 - t0;
        double norm = 0.0;
        st = integ->method.try_step(integ, state, t1, &norm);
        const bool is_good = st == TAL_OK && norm <= integ->tolerance;
        if (is_good && t1 < t_end && shortened < TALI_MOST_SHORTENED &&
            tali_integrator_ends_too_close(integ, state)) {
            was_good = fmax(was_good, taken);
            may_grow = true;
            ++shortened;
            h = 0.7 * taken;
        } else if (is_good) {
            tali_integrator_accept(integ, fmax(h, was_good), taken, norm, may_grow);
            return tali_integrator_account(integ, state, norm);
        } else {
            may_grow = false;
            h = taken;
            st = tali_integrator_refuse(integ, state, t0, norm, st, &h);
        }
        if (st == TAL_OK) st = tali_integrator_spend_step(integ, t0, t_end);
    }
    return st;
}

double tali_integrator_size_to_try(tal_integrator *integ, double t0)
{
    if (integ->h_next == 0.0) integ->h_next = limited(integ, first_step(integ));
    if (integ->def.fixed_step > 0.0) return integ->def.fixed_step;
    return fmax(integ->h_next, tali_integrator_least_step(integ, t0));
}

tal_status tali_integrator_check_fixed_step(tal_integrator *integ, double t0)
{
    const double h = integ->def.fixed_step;
    if (h == 0.0 || h >= tali_integrator_resolved_step(integ, t0)) return TAL_OK;
    return TALI_FAIL(&integ->problem.error_record, TAL_ERR_STEP_TOO_SMALL,
                     "fixed_step %g is too small for double precision at t = %g", h, t0);
}

// Where rank is lost, rows seem to contradict each other: the cause is the pose, not the rows.
static tal_status explain(tal_integrator *integ, double t0, tal_status st)
{
    if (st != TAL_ERR_SINGULAR || !tali_integrator_is_near_rank_loss(integ)) return st;
    integ->problem.error_record = (tal_error){TAL_OK, "", ""};
    return TALI_FAIL(&integ->problem.error_record, st,
                     "at t = %.17g the constraints lose rank, and accelerations cannot be found: "
                     "choose merson or cvode-bdf, or a coarser accuracy than %g",
                     t0, integ->def.accuracy);
}

// One accepted step that does not pass t_end. A step that is not allowed does not begin, so that a
// run can continue where it was stopped.
static tal_status take_step(tal_integrator *integ, tal_state *state, double t_end)
{
    const double t0 = tal_state_t(state);
    tal_status st = tali_integrator_check_fixed_step(integ, t0);
    if (st == TAL_OK) st = tali_integrator_spend_step(integ, t0, t_end);
    if (st == TAL_OK) st = begin_step(integ, state);
    if (st != TAL_OK) return explain(integ, t0, st);
    const double h = tali_integrator_size_to_try(integ, t0);
    integ->problem.is_free = is_free(integ, state);
    integ->problem.is_open = integ->problem.is_free && is_open(state);
    tali_integrator_hold_steps(integ, state);
    st = tali_integrator_see_what_is_resolved(integ, state);
    if (st == TAL_OK) st = tali_integrator_check_passage(integ, state, fmin(h, t_end - t0));
    if (st == TAL_OK) st = try_steps(integ, state, h, t_end);
    integ->problem.is_free = integ->problem.is_open = false;
    if (st != TAL_OK) tali_integrator_leave_at_start(integ, state);
    return explain(integ, t0, st);
}

// --- within the last step ---

// A step from t0 that ends at `t`. Its error is not tested: the one it is a part of was good.
static tal_status part_of_step(tal_integrator *integ, tal_state *state, double t)
{
    double norm = 0.0;
    tal_status st = TAL_OK;
    if (integ->method.begin != NULL) st = integ->method.begin(integ, state);
    if (st == TAL_OK) st = integ->method.try_step(integ, state, t, &norm);
    // what ended in an error that is too large has not been relaxed
    return st == TAL_OK && norm > integ->tolerance
               ? tali_problem_settle_relaxed(&integ->problem, state)
               : st;
}

// The step once more, to a time within it: as good as the first, since it is shorter.
static tal_status step_again(tal_integrator *integ, tal_state *state, double t)
{
    tal_status st = to_start(integ, state);
    return st == TAL_OK ? part_of_step(integ, state, t) : st;
}

// The same for another State; the stages of the last step stay.
static tal_status step_aside(tal_integrator *integ, tal_state *out, double t)
{
    const size_t bytes = (size_t)integ->method.num_stages * integ->stride * sizeof(double);
    memcpy(integ->dense.stages, integ->k, bytes);
    tal_status st = integ->method.begin != NULL ? to_start(integ, out) : TAL_OK;
    if (st == TAL_OK) st = part_of_step(integ, out, t);
    memcpy(integ->k, integ->dense.stages, bytes);
    return st;
}

const tali_integrator_family *tali_integrator_one_step_family(void)
{
    static const tali_integrator_family family = {.is_one_step = true,
                                                  .step = take_step,
                                                  .dense = tali_integrator_one_step_dense,
                                                  .step_aside = step_aside,
                                                  .back_up = step_again};
    return &family;
}
