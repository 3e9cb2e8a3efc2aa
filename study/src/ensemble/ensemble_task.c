// One sample of an ensemble: its start, its task, its outputs.
#include "ensemble/ensemble_internal.h"

#include <math.h>

// --- tools ---

static tal_tracker_def tracker_def(const tal_ensemble *it)
{
    tal_tracker_def def = tal_tracker_def_default();
    if (it->def.assembler != NULL) def.assembler = *it->def.assembler;
    return def;
}

tal_status tali_ensemble_equip(const tal_ensemble *ensemble, tali_ensemble_lane *lane,
                               tal_error *err)
{
    const tal_ensemble_def *const def = &ensemble->def;
    switch (def->task) {
    case TAL_TASK_INTEGRATE:
        return tal_integrator_create(ensemble->system, def->integrator, &lane->integrator, err);
    case TAL_TASK_ASSEMBLE:
        return tal_assembler_create(ensemble->system, def->assembler, &lane->assembler, err);
    case TAL_TASK_TRACK: {
        const tal_tracker_def tracker = tracker_def(ensemble);
        return tal_tracker_create(ensemble->system, &tracker, &lane->tracker, err);
    }
    case TAL_TASK_EQUILIBRIUM:
        return tal_equilibrium_create(ensemble->system, def->equilibrium, &lane->equilibrium, err);
    default:
        return TAL_OK;
    }
}

// --- outputs ---

tal_status tali_ensemble_read(const tal_ensemble *it, tal_state *state, double results[])
{
    if (it->def.read != NULL) {
        return it->def.read(it->def.context, it->system, state, results);
    }
    const tal_status st = tal_system_realize(it->system, state, it->stage);
    for (int i = 0; i < it->def.num_outputs && st == TAL_OK; ++i) {
        results[i] = tal_measure_value(it->system, state, it->outputs[i]);
        const tal_status why = tal_state_error(state)->status; // a measure that failed is a NaN
        if (why != TAL_OK) return why;
        if (!isfinite(results[i])) {
            return tal_state_fail(state, TAL_ERR_NOT_FINITE, "output '%s' is %g",
                                  tal_measure_name(it->system, it->outputs[i]), results[i]);
        }
    }
    return st;
}

// The same from the lane's second State, whose sentence is kept.
static tal_status read_report(const tal_ensemble *it, tali_ensemble_lane *lane, double results[])
{
    const tal_status st = tali_ensemble_read(it, lane->report, results);
    if (st != TAL_OK) lane->why = *tal_state_error(lane->report);
    return st;
}

// --- tasks ---

// Steps, and outputs at times within them, so that the times change no step.
static tal_status step_through_times(const tal_ensemble *it, tali_ensemble_lane *lane,
                                     double results[])
{
    const double *const times = it->times;
    const int n = it->def.num_times;
    tal_status st = TAL_OK;
    int next = 0;
    for (; next < n && !(times[next] > tal_state_t(lane->state)) && st == TAL_OK; ++next) {
        st = tal_state_copy(lane->report, lane->state);
        if (st == TAL_OK) st = read_report(it, lane, results + next * it->def.num_outputs);
    }
    while (next < n && st == TAL_OK) {
        st = tal_integrator_step(lane->integrator, lane->state, times[n - 1]);
        for (; next < n && st == TAL_OK && times[next] <= tal_state_t(lane->state); ++next) {
            st = tal_integrator_interpolate(lane->integrator, lane->state, times[next],
                                            lane->report);
            if (st == TAL_OK) st = read_report(it, lane, results + next * it->def.num_outputs);
        }
    }
    return st;
}

static tal_status integrate(const tal_ensemble *it, tali_ensemble_lane *lane, double results[])
{
    tal_integrator_reset(lane->integrator);
    tal_status st = TAL_OK;
    if (it->def.num_times > 0) {
        st = step_through_times(it, lane, results);
    } else if (it->def.end_time > tal_state_t(lane->state)) {
        st = tal_integrator_step_to(lane->integrator, lane->state, it->def.end_time);
    }
    if (st != TAL_OK && lane->why.status == TAL_OK) {
        lane->why = *tal_integrator_error(lane->integrator);
    }
    return st;
}

static tal_status track(const tal_ensemble *it, tali_ensemble_lane *lane, double results[])
{
    tal_status st = tal_tracker_run(lane->tracker, lane->state, &it->frames, lane->q, lane->fits);
    if (st != TAL_OK) lane->why = *tal_tracker_error(lane->tracker);
    if (st == TAL_OK) st = tal_state_copy(lane->report, lane->state);
    for (int k = 0; k < it->frames.num_frames && st == TAL_OK; ++k) {
        if (it->frames.times != NULL) (void)tal_state_set_t(lane->report, it->frames.times[k]);
        (void)tal_state_set_q(lane->report, lane->q + (size_t)k * (size_t)it->nq, it->nq);
        st = read_report(it, lane, results + k * it->def.num_outputs);
    }
    return st;
}

static tal_status assemble(tali_ensemble_lane *lane)
{
    const tal_status st = tal_assembler_assemble(lane->assembler, lane->state, NULL);
    if (st != TAL_OK) lane->why = *tal_assembler_error(lane->assembler);
    return st;
}

static tal_status find_equilibrium(tali_ensemble_lane *lane)
{
    const tal_status st = tal_equilibrium_find(lane->equilibrium, lane->state, NULL);
    if (st != TAL_OK) lane->why = *tal_equilibrium_error(lane->equilibrium);
    return st;
}

static tal_status do_task(const tal_ensemble *it, tali_ensemble_lane *lane, int index,
                          double results[])
{
    switch (it->def.task) {
    case TAL_TASK_INTEGRATE:
        return integrate(it, lane, results);
    case TAL_TASK_ASSEMBLE:
        return assemble(lane);
    case TAL_TASK_TRACK:
        return track(it, lane, results);
    case TAL_TASK_EQUILIBRIUM:
        return find_equilibrium(lane);
    case TAL_TASK_CALL:
        return it->def.run(it->def.context, it->system, lane->state, index);
    default:
        return TAL_OK;
    }
}

// --- samples ---

static tal_status set_values(const tal_ensemble *it, tali_ensemble_lane *lane, int k)
{
    tal_status st = tal_design_sample(it->design, k, lane->values);
    if (st != TAL_OK) {
        return tal_state_fail(lane->state, st, "the design has no values: %s", tal_status_text(st));
    }
    for (int i = 0; i < it->def.num_parameters && st == TAL_OK; ++i) {
        const tal_parameter *const parameter = &it->parameters[i];
        if (!isfinite(lane->values[i])) {
            return tal_state_fail(lane->state, TAL_ERR_NOT_FINITE, "'%s' is %g", parameter->name,
                                  lane->values[i]);
        }
        st = parameter->set(parameter, it->system, lane->state, lane->values[i]);
    }
    return st;
}

// The failure of a setter waits for the next realize, which must not be that of the next sample.
static void forget_failure(const tal_ensemble *it, tali_ensemble_lane *lane)
{
    const tal_status told = tal_system_realize(it->system, lane->state, TAL_STAGE_MODEL);
    (void)told;
}

tal_status tali_ensemble_start(const tal_ensemble *it, tali_ensemble_lane *lane, int k)
{
    lane->why = (tal_error){TAL_OK, "", ""};
    tal_status st = tal_state_copy(lane->state, it->start);
    if (st == TAL_OK) st = set_values(it, lane, k);
    if (st == TAL_OK) return TAL_OK;
    lane->why = *tal_state_error(lane->state);
    lane->why.status = st;
    forget_failure(it, lane);
    return st;
}

// Also sets results to NaN and lets the lane go on with other samples when anything fails.
tal_status tali_ensemble_sample(tal_ensemble *ensemble, int index, int k, double results[])
{
    tali_ensemble_lane *const lane = &ensemble->lanes[index];
    ++lane->num_alone;
    tal_status st = tali_ensemble_start(ensemble, lane, k);
    if (st == TAL_OK) st = do_task(ensemble, lane, index, results);
    const bool was_read = ensemble->def.num_times > 0 || ensemble->frames.num_frames > 0;
    if (st == TAL_OK && !was_read) st = tali_ensemble_read(ensemble, lane->state, results);
    if (st == TAL_OK) return TAL_OK;
    for (int i = 0; i < ensemble->row_size; ++i) {
        results[i] = TALI_NAN;
    }
    if (lane->why.status == TAL_OK) lane->why = *tal_state_error(lane->state);
    lane->why.status = st;
    forget_failure(ensemble, lane);
    return st;
}
