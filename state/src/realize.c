// Realization: up one stage at a time, through all subsystems, computing only what is missing.
#include "cache_internal.h"
#include "state_internal.h"

#include <talus/state/realize.h>

#include <math.h>

static void fill_nan(tal_state *state, size_t array, int first, int n)
{
    double *values = (double *)tali_part(state, array) + first;
    for (int i = 0; i < n; ++i) {
        values[i] = TALI_NAN;
    }
}

// Slots that a subsystem forgets to write must not show what stood there before.
static void clear_slots(tal_state *state, tal_stage stage)
{
    const tali_layout *at = &state->at;
    const tali_core *core = tali_ccore(state);
    const int nq = core->size[TAL_POOL_Q];
    if (stage == TAL_STAGE_POSITION) {
        fill_nan(state, at->errors[TAL_POOL_QERR], 0, core->size[TAL_POOL_QERR]);
    } else if (stage == TAL_STAGE_VELOCITY) {
        fill_nan(state, at->ydot, 0, nq);
        fill_nan(state, at->errors[TAL_POOL_UERR], 0, core->size[TAL_POOL_UERR]);
    } else if (stage == TAL_STAGE_ACCELERATION) {
        const int n = core->size[TAL_POOL_UDOTERR];
        fill_nan(state, at->ydot, nq, core->size[TAL_POOL_U] + core->size[TAL_POOL_Z]);
        fill_nan(state, at->qdotdot, 0, nq);
        fill_nan(state, at->errors[TAL_POOL_UDOTERR], 0, n);
        fill_nan(state, at->multipliers, 0, n);
    }
    if (stage >= TAL_STAGE_TIME) {
        const int first = core->trigger_start[stage];
        fill_nan(state, at->errors[TAL_POOL_TRIGGER], first,
                 core->trigger_start[stage + 1] - first);
    }
}

// Results promised by this stage: compute those that have a calc, insist on the others.
static tal_status realize_entries(const tal_system *system, tal_state *state, const tali_step *step,
                                  tal_stage stage)
{
    for (int k = step->begin; k < step->end; ++k) {
        const int i = system->eager[k];
        const tali_entry *entry = tali_entry_at(system, i);
        if (entry->calc != NULL) {
            if (tali_entry_realize(system, state, i, "tal_system_realize") == NULL) {
                return state->error.status;
            }
        } else if (!tali_entry_is_valid(system, state, i)) {
            return tali_fail(&state->error, TAL_ERR_CALLBACK, "tal_system_realize",
                             "subsystem '%s' promised '%s' by stage %s but did not mark it valid",
                             tali_subsystem_at(system, step->subsystem)->element.name,
                             entry->element.name, tal_stage_name(stage));
        }
    }
    return TAL_OK;
}

static tal_status take_step(const tal_system *system, tal_state *state, const tali_step *step,
                            tal_stage stage)
{
    const size_t mark = state->scratch_used;
    const tal_status st = step->realize != NULL ? step->realize(step->self, system, state) : TAL_OK;
    state->scratch_used = mark;
    if (st != TAL_OK) {
        return tali_fail(&state->error, st, "tal_system_realize",
                         "subsystem '%s' could not realize %s at t = %g (%s)",
                         tali_subsystem_at(system, step->subsystem)->element.name,
                         tal_stage_name(stage), tali_ctimes(state)->t, tal_status_text(st));
    }
    return realize_entries(system, state, step, stage);
}

static tal_status realize_one_stage(const tal_system *system, tal_state *state, tal_stage stage)
{
    const bool sizes_groups = stage == TAL_STAGE_MODEL || stage == TAL_STAGE_INSTANCE;
    tali_core *core = tali_core_of(state);
    core->realized[stage] = tali_tick(state);
    core->realizing = stage;
    if (sizes_groups) tali_partition_begin(system, state, stage);
    clear_slots(state, stage);

    tal_status st = TAL_OK;
    const int end = system->step_begin[stage + 1];
    for (int k = system->step_begin[stage]; k < end && st == TAL_OK; ++k) {
        st = take_step(system, state, &system->steps[k], stage);
    }
    if (st == TAL_OK && stage == TAL_STAGE_ACCELERATION) {
        st = tali_measures_realize_acceleration(system, state);
    }
    if (st == TAL_OK && sizes_groups) tali_partition_end(system, state, stage);
    core->realizing = TAL_STAGE_EMPTY;
    if (st != TAL_OK) {
        core->realized[stage] = TALI_NEVER;
        return st;
    }
    core->stage = stage;
    ++state->stats.realized[stage];
    return TAL_OK;
}

// True when no subsystem has anything to do at this stage and no slots are to be written. Only Time
// and Dynamics can be idle: the other stages have work of their own, sizing groups or clearing
// rates and errors, and Report is rarely asked for.
static bool is_idle(const tal_system *system, const tal_state *state, tal_stage stage)
{
    const int32_t *triggers = tali_ccore(state)->trigger_start + stage;
    return (stage == TAL_STAGE_TIME || stage == TAL_STAGE_DYNAMICS) &&
           system->step_begin[stage] == system->step_begin[stage + 1] && triggers[0] == triggers[1];
}

static void pass(tal_state *state, tal_stage stage)
{
    tali_core *core = tali_core_of(state);
    core->realized[stage] = tali_tick(state);
    core->stage = stage;
    ++state->stats.realized[stage];
}

tal_status tali_realize(const tal_system *system, tal_state *state, tal_stage stage)
{
    state->goal = stage;
    while (tali_ccore(state)->stage < stage) {
        const tal_stage next = (tal_stage)(tali_ccore(state)->stage + 1);
        if (is_idle(system, state, next)) {
            pass(state, next);
            continue;
        }
        const tal_status st = realize_one_stage(system, state, next);
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}

tal_stage tali_state_goal(const tal_state *state)
{
    return tali_ccore(state)->realizing != TAL_STAGE_EMPTY ? state->goal : TAL_STAGE_EMPTY;
}

tal_status tal_system_realize(const tal_system *system, tal_state *state, tal_stage stage)
{
    if (!TALI_BELONGS(system, state)) return tali_breach_status();
    if (stage < TAL_STAGE_MODEL || stage > TAL_STAGE_REPORT) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "only Model to Report can be realized, not %s",
                           tal_stage_name(stage));
    }
    if (tali_ccore(state)->realizing != TAL_STAGE_EMPTY || tali_ccore(state)->calculating != 0) {
        return TALI_BREACH(TAL_ERR_STAGE, "a State cannot be realized while it is being realized");
    }
    if (state->pending) {
        state->pending = false;
        return state->error.status;
    }
    tali_clear_error(state);
    const tal_status st = tali_realize(system, state, stage);
    if (st != TAL_OK) state->pending = false; // this failure covers what a hook could not set
    return st;
}
