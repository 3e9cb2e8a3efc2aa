// Realization: up one stage at a time, through all subsystems, computing only what is missing.
#include "cache_internal.h"
#include "finite_internal.h"

#include "state/state_internal.h"

#include <talus/state/realize.h>

#include <math.h>

static void fill_nan(tal_state *state, size_t array, int first, int n)
{
    double *values = (double *)tali_state_part(state, array) + first;
    for (int i = 0; i < n; ++i) {
        values[i] = TALI_NAN;
    }
}

// Slots that a subsystem forgets to write must not show what was there before.
static void clear_slots(tal_state *state, tal_stage stage)
{
    const tali_system_layout *at = &state->at;
    const tali_state_core *core = tali_state_ccore(state);
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
static tal_status realize_entries(const tal_system *system, tal_state *state,
                                  const tali_system_step *step, tal_stage stage)
{
    for (int k = step->begin; k < step->end; ++k) {
        const int i = system->eager[k];
        const tali_system_entry *entry = tali_system_entry_at(system, i);
        if (entry->calc != NULL) {
            if (tali_state_entry_realize(system, state, i, "tal_system_realize") == NULL) {
                return state->error.status;
            }
        } else if (!tali_state_entry_is_valid(system, state, i)) {
            return tali_fail(
                &state->error, TAL_ERR_CALLBACK, "tal_system_realize",
                "subsystem '%s' declared '%s' as computed by stage %s but did not mark it valid",
                tali_system_subsystem_at(system, step->subsystem)->element.name,
                entry->element.name, tal_stage_name(stage));
        }
    }
    return TAL_OK;
}

static tal_status take_step(const tal_system *system, tal_state *state,
                            const tali_system_step *step, tal_stage stage)
{
    const size_t mark = state->scratch_used;
    state->running = step->subsystem;
    const tal_status st = step->realize != NULL ? step->realize(step->self, system, state) : TAL_OK;
    tali_state_scratch_release(state, mark);
    if (st != TAL_OK) {
        return tali_fail(&state->error, st, "tal_system_realize",
                         "subsystem '%s' could not realize %s at t = %g (%s)",
                         tali_system_subsystem_at(system, step->subsystem)->element.name,
                         tal_stage_name(stage), tali_state_ctimes(state)->t, tal_status_text(st));
    }
    return realize_entries(system, state, step, stage);
}

static tal_status name_not_finite(const tal_system *system, tal_state *state, tal_pool pool,
                                  const char *subject, const double values[])
{
    int slot = 0, local = 0;
    while (isfinite(values[slot])) {
        ++slot;
    }
    const tal_group_ix group = tal_state_slot_owner(system, state, pool, slot, &local);
    return tali_fail(&state->error, TAL_ERR_NOT_FINITE, "tal_system_realize",
                     "%s %d of '%s' in subsystem '%s' is %g at t = %g", subject, local,
                     tal_group_name(system, group),
                     tal_subsystem_name(system, tal_group_owner(system, group)), values[slot],
                     tali_state_ctimes(state)->t);
}

// All rates must be finite: none that a subsystem wrote, or forgot to write, may be a NaN or an
// infinity. A subsystem with better names for its variables checks them first.
static tal_status check_rates(const tal_system *system, tal_state *state)
{
    static const char *const names[] = {"the rate of coordinate", "the rate of speed",
                                        "the rate of z"};
    static const tal_pool pools[] = {TAL_POOL_Q, TAL_POOL_U, TAL_POOL_Z};
    const int32_t *size = tali_state_ccore(state)->size;
    const double *ydot = tali_state_cpart(state, state->at.ydot);
    const double *lambda = tali_state_cpart(state, state->at.multipliers);
    const int ny = size[TAL_POOL_Q] + size[TAL_POOL_U] + size[TAL_POOL_Z];
    const bool are_rates = tali_finite_all(ydot, ny);
    for (int i = 0; i < 3 && !are_rates; ++i) {
        if (!tali_finite_all(ydot, size[pools[i]])) {
            return name_not_finite(system, state, pools[i], names[i], ydot);
        }
        ydot += size[pools[i]];
    }
    if (tali_finite_all(lambda, size[TAL_POOL_UDOTERR])) return TAL_OK;
    return name_not_finite(system, state, TAL_POOL_UDOTERR, "the multiplier", lambda);
}

// Call every subsystem for one stage, compute the entries it promises, and check the result.
static tal_status realize_one_stage(const tal_system *system, tal_state *state, tal_stage stage)
{
    const bool sizes_groups = stage == TAL_STAGE_MODEL || stage == TAL_STAGE_INSTANCE;
    tali_state_core *core = tali_state_core_of(state);
    core->realized[stage] = tali_state_tick(state);
    core->realizing = stage;
    if (sizes_groups) tali_state_partition_begin(system, state, stage);
    clear_slots(state, stage);

    tal_status st = TAL_OK;
    const int end = system->step_begin[stage + 1];
    for (int k = system->step_begin[stage]; k < end && st == TAL_OK; ++k) {
        st = take_step(system, state, &system->steps[k], stage);
    }
    if (st == TAL_OK && stage == TAL_STAGE_ACCELERATION) {
        st = tali_state_measures_realize_acceleration(system, state);
        if (st == TAL_OK) st = check_rates(system, state);
    }
    if (st == TAL_OK && sizes_groups) tali_state_partition_end(system, state, stage);
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
    const int32_t *triggers = tali_state_ccore(state)->trigger_start + stage;
    return (stage == TAL_STAGE_TIME || stage == TAL_STAGE_DYNAMICS) &&
           system->step_begin[stage] == system->step_begin[stage + 1] && triggers[0] == triggers[1];
}

static void pass(tal_state *state, tal_stage stage)
{
    tali_state_core *core = tali_state_core_of(state);
    core->realized[stage] = tali_state_tick(state);
    core->stage = stage;
    ++state->stats.realized[stage];
}

tal_status tali_state_realize(const tal_system *system, tal_state *state, tal_stage stage)
{
    state->goal = stage;
    while (tali_state_ccore(state)->stage < stage) {
        const tal_stage next = (tal_stage)(tali_state_ccore(state)->stage + 1);
        if (is_idle(system, state, next)) {
            pass(state, next);
            continue;
        }
        const tal_status st = realize_one_stage(system, state, next);
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}

// Where a stage is under way, subsystems that run before the present one have reached it.
tal_stage tal_subsystem_stage(const tal_system *system, const tal_state *state,
                              tal_subsystem_ix subsystem)
{
    if (!TALI_BELONGS(system, state)) return TAL_STAGE_EMPTY;
    if (subsystem.i < 0 || subsystem.i >= system->subsystems.count) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "subsystem %d of %d", subsystem.i,
                          system->subsystems.count);
        return TAL_STAGE_EMPTY;
    }
    const tali_state_core *core = tali_state_ccore(state);
    if (core->realizing == TAL_STAGE_EMPTY) return core->stage;
    int k = 0;
    while (system->order[k] != subsystem.i && system->order[k] != state->running) {
        ++k;
    }
    const bool has_run = system->order[k] == subsystem.i && subsystem.i != state->running;
    return has_run ? core->realizing : core->stage;
}

tal_stage tali_state_goal(const tal_state *state)
{
    return tali_state_ccore(state)->realizing != TAL_STAGE_EMPTY ? state->goal : TAL_STAGE_EMPTY;
}

tal_status tal_system_realize(const tal_system *system, tal_state *state, tal_stage stage)
{
    if (!TALI_BELONGS(system, state)) return tali_state_breach_status();
    if (stage < TAL_STAGE_MODEL || stage > TAL_STAGE_REPORT) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE,
                           "only the stages Model to Report can be realized, not %s",
                           tal_stage_name(stage));
    }
    if (tali_state_ccore(state)->realizing != TAL_STAGE_EMPTY ||
        tali_state_ccore(state)->calculating != 0) {
        return TALI_BREACH(TAL_ERR_STAGE, "a State cannot be realized while it is being realized");
    }
    if (state->pending) {
        state->pending = false;
        return state->error.status;
    }
    tali_state_clear_error(state);
    const tal_status st = tali_state_realize(system, state, stage);
    if (st != TAL_OK) state->pending = false; // this failure covers what a hook could not set
    return st;
}
