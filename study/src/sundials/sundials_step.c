// One step of any of SUNDIALS' solvers: its beginning, its end, and why it failed.
#include "sundials/sundials_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

// --- steps ---

// No error below round-off of y can be distinguished from it, so none is asked for; accuracies
// beyond it are for the solver to refuse.
static tal_status set_weights(tali_sun *sun, tal_state *state)
{
    tal_integrator *integ = sun->integ;
    tali_integrator_hold_steps(integ, state);
    tal_status st = tali_integrator_see_what_is_resolved(integ, state);
    if (st == TAL_OK) {
        st = tali_problem_pass_on(&integ->problem, state,
                                  tali_sun_weights_set(&sun->weights, state, sun->is_fresh));
    }
    if (st != TAL_OK) return st;
    const double size = tali_sun_weights_norm(&sun->weights, tal_state_y(state), NULL);
    const double round_off = sun->solver->round_off * DBL_EPSILON * size; // in tolerances
    if (!(round_off > 1.0)) return TAL_OK;
    integ->tolerance =
        fmax(integ->tolerance, fmin(round_off * integ->tolerance, integ->def.accuracy));
    return tali_problem_pass_on(&integ->problem, state,
                                tali_sun_weights_set(&sun->weights, state, false));
}

// Auto-update variables, y0, t0, weights. A sampled variable that changes restarts the solver.
// Rates are computed for the sake of these variables, or of a solver that wants them.
static tal_status begin_step(tali_sun *sun, tal_state *state)
{
    tal_integrator *integ = sun->integ;
    const bool has_updates = tal_system_has_updates(integ->problem.system);
    integ->has_step = false;
    sun->state = state;
    sun->is_settled = false;
    tal_status st = TAL_OK;
    if (has_updates || sun->solver->wants_rates) {
        st = tali_problem_evaluate(&integ->problem, state, integ->ydot1);
    }
    if (st != TAL_OK) return st;
    st = tal_system_begin_step(integ->problem.system, state);
    if (st != TAL_OK) return tali_problem_pass_on(&integ->problem, state, st);
    if (has_updates && tal_state_stage(state) < TAL_STAGE_ACCELERATION) sun->is_fresh = true;
    memcpy(integ->problem.y0, tal_state_y(state), (size_t)tal_state_ny(state) * sizeof(double));
    integ->t0 = tal_state_t(state);
    return set_weights(sun, state);
}

void tali_sun_count(tali_sun *sun, const tali_sun_counts *counts)
{
    tal_integrator_stats *stats = &sun->integ->stats;
    const tali_sun_counts *before = &sun->counts;
    const long errors = counts->error_failures - before->error_failures;
    const long others = counts->other_failures - before->other_failures;
    stats->error_failures += (uint64_t)errors;
    stats->other_failures += (uint64_t)others;
    stats->steps_attempted += (uint64_t)(errors + others);
    stats->nonlinear_iterations += (uint64_t)(counts->iterations - before->iterations);
    stats->projections += (uint64_t)(counts->projections - before->projections);
    sun->counts = *counts;
}

// Has the State been left there by the solver's projection, except for round-off?
static bool is_there(const tali_sun *sun, const tal_state *state, double t)
{
    const double *y = tali_sun_data(sun->y), *found = tal_state_y(state);
    if (!sun->is_settled || tal_state_t(state) != t) return false;
    for (int i = 0; i < tal_state_ny(state); ++i) {
        if (!(fabs(y[i] - found[i]) <= 8.0 * DBL_EPSILON * fabs(y[i]))) return false;
    }
    return true;
}

// y into the State, prescribed, projected, relaxed.
static tal_status finish(tali_sun *sun, tal_state *state, double t)
{
    tal_integrator *integ = sun->integ;
    if (!is_there(sun, state, t)) {
        tal_status st = tali_problem_put(&integ->problem, state, t, tali_sun_data(sun->y));
        if (st == TAL_OK) st = tali_problem_project(&integ->problem, state, NULL);
        if (st == TAL_OK) st = tali_problem_settle_relaxed(&integ->problem, state);
        if (st != TAL_OK) return st;
    }
    integ->problem.error_record = (tal_error){TAL_OK, "", ""};
    integ->stats.last_step = t - integ->t0;
    ++integ->stats.steps_taken;
    tali_integrator_forget(integ);
    return TAL_OK;
}

// Did a callback give up? Then its sentence goes into the record. Not every solver listens when a
// callback says that a failure is final.
static bool is_hopeless(tali_sun *sun)
{
    if (sun->fatal.status == TAL_OK) return false;
    sun->integ->problem.error_record = sun->fatal;
    return true;
}

// The next step is a restart, from the start of this one.
static void give_up(tali_sun *sun, tal_state *state)
{
    sun->is_fresh = true;
    sun->was_fresh = false;
    sun->integ->bad.count = 0;
    sun->fatal.status = TAL_OK;
    tali_integrator_leave_at_start(sun->integ, state);
}

// The norm of the error of the last step tried, and the variable with the largest error: as
// one-step methods have it.
static double error_of_step(tali_sun *sun, tal_state *state)
{
    tal_integrator *integ = sun->integ;
    if (!tali_integrator_is_controlled(integ) || !sun->solver->estimate_error(sun, sun->error)) {
        return 0.0;
    }
    memcpy(integ->problem.error, tali_sun_data(sun->error),
           (size_t)tal_state_ny(state) * sizeof(double));
    return sun->error_left * tali_problem_error_norm(&integ->problem, state);
}

// The variable with the largest error of a step that stayed too inaccurate.
static tal_status too_inaccurate(tali_sun *sun, tal_state *state)
{
    const double h = sun->solver->next_step(sun);
    (void)error_of_step(sun, state);
    return tali_integrator_step_too_small(sun->integ, state, sun->integ->t0, h);
}

// Why the solver failed, in the user's terms; the State is at the start of the step. A callback
// that failed has left its sentence.
static tal_status explain(tali_sun *sun, tal_state *state, tali_sun_failure why)
{
    tal_integrator *integ = sun->integ;
    tal_error *record = &integ->problem.error_record;
    if (why == TALI_SUN_INACCURATE) return too_inaccurate(sun, state);
    if (record->status != TAL_OK) return record->status;
    if (why == TALI_SUN_TOO_FINE) {
        return TALI_FAIL(record, TAL_ERR_STEP_TOO_SMALL,
                         "at t = %.17g accuracy %g is beyond what double precision can resolve",
                         integ->t0, integ->def.accuracy);
    }
    if (!tali_integrator_is_controlled(integ)) {
        return TALI_FAIL(record, TAL_ERR_NO_CONVERGENCE,
                         "at t = %.17g the equations of a step of %g s cannot be solved", integ->t0,
                         integ->def.fixed_step);
    }
    return TALI_FAIL(
        record, TAL_ERR_NO_CONVERGENCE,
        "at t = %.17g the equations of a step cannot be solved, however short the step%s",
        integ->t0, tali_integrator_is_near_rank_loss(integ) ? ": constraints lose rank" : "");
}

// A remainder that t can hardly resolve, along the rates.
static tal_status step_of_round_off(tali_sun *sun, tal_state *state, double t_end)
{
    tal_integrator *integ = sun->integ;
    const tal_status st = tali_problem_evaluate(&integ->problem, state, integ->ydot1);
    if (st != TAL_OK) return st;
    double *y = tali_sun_data(sun->y);
    for (int i = 0; i < tal_state_ny(state); ++i) {
        y[i] = integ->problem.y0[i] + (t_end - integ->t0) * integ->ydot1[i];
    }
    sun->is_fresh = true;
    sun->is_round_off = true;
    integ->stats.last_error = 0.0;
    return finish(sun, state, t_end);
}

// Onto the constraints as closely as a solver that has them among its equations puts the end of its
// first step: what the tolerance leaves of their errors would count as that step's. Newton's second
// iteration leaves their fourth power.
static tal_status settle_start(tali_sun *sun, tal_state *state)
{
    tal_integrator *integ = sun->integ;
    tal_status st = tali_sun_project(sun, NULL);
    if (st == TAL_OK) st = tali_sun_project(sun, NULL);
    if (st == TAL_OK) st = tali_problem_settle_relaxed(&integ->problem, state);
    if (st == TAL_OK) {
        memcpy(integ->problem.y0, tal_state_y(state), (size_t)tal_state_ny(state) * sizeof(double));
    } else {
        tali_integrator_leave_at_start(integ, state);
    }
    return st;
}

// How long to try the first step; 0: the solver's choice, which is a small part of the time that is
// left to the end of the call. Where a variable is sampled at every step, or a handler makes a
// change, every step is a restart: each would be shorter than the one before. The last step has
// then shown how long the next can be.
static double first_step(const tali_sun *sun)
{
    const tal_integrator *integ = sun->integ;
    if (integ->h_next == 0.0) return integ->def.initial_step;
    if (sun->solver->is_one_step) return integ->h_next;
    const double growth = sun->solver->is_cautious ? 2.0 : 1.0; // too much of it is taken back
    return sun->was_fresh ? growth * integ->h_next : 0.0;
}

static tal_status restart_from_state(tali_sun *sun, tal_state *state)
{
    tal_integrator *integ = sun->integ;
    const int ny = tal_state_ny(state);
    tal_status st = sun->solver->solves_constraints ? settle_start(sun, state) : TAL_OK;
    sun->pool.length = ny;
    sun->counts = (tali_sun_counts){0, 0, 0, 0};
    memcpy(tali_sun_data(sun->y), integ->problem.y0, (size_t)ny * sizeof(double));
    // once more after a sampled variable
    if (st == TAL_OK) st = tali_problem_evaluate(&integ->problem, state, integ->ydot1);
    if (st == TAL_OK) st = sun->solver->restart_solver(sun, state, first_step(sun));
    if (st == TAL_OK) sun->is_fresh = false;
    ++integ->stats.restarts;
    return st;
}

// Where the next step is to end at the latest. It is not longer than the solver wants it.
static double planned_stop(tali_sun *sun, double t_end)
{
    const tal_integrator *integ = sun->integ;
    if (!tali_integrator_is_controlled(integ)) return t_end;
    const double h = sun->solver->next_step(sun), planned = tali_integrator_plan_step(integ, h);
    return planned < h ? fmin(t_end, integ->t0 + planned) : t_end;
}

// One accepted step: begin it, restart the solver if needed, step, and put the end into the State.
tal_status tali_sun_step(tal_integrator *integ, tal_state *state, double t_end)
{
    tali_sun *sun = tali_sun_of(integ);
    const double t0 = tal_state_t(state), least = tali_integrator_least_step(integ, t0);
    tal_status st = tali_integrator_check_fixed_step(integ, t0);
    if (st == TAL_OK) st = tali_integrator_spend_step(integ, t0, t_end);
    if (st == TAL_OK) st = begin_step(sun, state);
    if (st == TAL_OK && t_end - t0 < tali_integrator_resolved_step(integ, t0)) {
        return step_of_round_off(sun, state, t_end);
    }
    if (st == TAL_OK && !sun->is_fresh && sun->solver->look != NULL) {
        st = sun->solver->look(sun, state);
    }
    const bool is_fresh = sun->is_fresh;
    if (st == TAL_OK && is_fresh) st = restart_from_state(sun, state);
    if (st == TAL_OK) {
        const double h = is_fresh ? integ->h_next : sun->solver->next_step(sun);
        st = tali_integrator_check_passage(integ, state, fmin(h, t_end - t0));
    }
    if (st != TAL_OK) return st;
    double t1 = t0;
    sun->is_round_off = false;
    sun->error_left = 1.0;
    const double stop = is_fresh ? t_end : planned_stop(sun, t_end);
    const tali_sun_failure why = sun->solver->advance(sun, stop, least, &t1);
    if (why != TALI_SUN_FINE || is_hopeless(sun)) {
        give_up(sun, state);
        return explain(sun, state, why);
    }
    st = finish(sun, state, t1);
    if (st == TAL_OK) {
        integ->h_next = sun->solver->next_step(sun);
        sun->was_fresh = is_fresh;
        integ->stats.last_error = error_of_step(sun, state);
        st = tali_integrator_account(integ, state, integ->stats.last_error);
    }
    if (st != TAL_OK) give_up(sun, state);
    return st;
}

// --- within the last step ---

tal_status tali_sun_dense(tal_integrator *integ, double t, int ny, double y[])
{
    tali_sun *sun = tali_sun_of(integ);
    const bool is_start = t == integ->t0 || sun->is_round_off;
    if (!is_start && !sun->solver->interpolate(sun, t, sun->y)) {
        return TALI_FAIL(&integ->problem.error_record, TAL_ERR_BAD_VALUE,
                         "y at t = %g is not available", t);
    }
    memcpy(y, is_start ? integ->problem.y0 : tali_sun_data(sun->y), (size_t)ny * sizeof *y);
    return TAL_OK;
}

tal_status tali_sun_back_up(tal_integrator *integ, tal_state *state, double t)
{
    tali_sun_of(integ)->is_fresh = true;
    return tali_integrator_put_dense(integ, state, t);
}

void tali_sun_restart(tal_integrator *integ)
{
    tali_sun *sun = tali_sun_of(integ);
    sun->is_fresh = true;
    if (integ->is_cut) sun->was_fresh = false; // a run that is resumed here would not know
}
