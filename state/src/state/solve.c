// Solvers of a System, which write variables: steps, prescribed motion, projection, relaxation,
// events (manual sec. 7.1.1 and 10.4). The subsystems do the work; this file calls them in order.
#include "solve_internal.h"

#include "state/state_internal.h"

#include <talus/state/realize.h>

#include <math.h>

// True when a solver may run on this State; otherwise a breach has been reported.
static bool can_solve(const tal_system *system, tal_state *state, tal_stage needed,
                      const char *where)
{
    if (system == NULL || state == NULL || !system->has_topology || system->hash != state->hash) {
        return tali_state_breach_system(system, state, where);
    }
    if (tali_state_ccore(state)->stage < needed) {
        return tali_state_breach_stage(state, needed, where);
    }
    if (tali_state_ccore(state)->realizing != TAL_STAGE_EMPTY ||
        tali_state_ccore(state)->calculating != 0) {
        (void)tali_breach(TAL_ERR_STAGE, where, "a solver cannot run while the State is realized");
        return false;
    }
    tali_state_clear_error(state);
    return true;
}

// Adds the subsystem's name when its function gave no reason of its own.
static tal_status explain(const tal_system *system, tal_state *state, int subsystem,
                          const char *subject, tal_status st)
{
    return tali_fail(&state->error, st, subject, "subsystem '%s' failed at t = %g (%s)",
                     tali_system_subsystem_at(system, subsystem)->element.name,
                     tali_state_ctimes(state)->t, tal_status_text(st));
}

// --- steps ---

// Gives a variable its update value, which is out of date from then on. Entries that name the
// variable as a prerequisite see a change, but no stage is lowered, because results were computed
// with the update value. Results of a sampled variable were not: for one that changes, the stage to
// lower is returned, otherwise TAL_STAGE_INFINITY.
static tal_stage swap_in(const tal_system *system, tal_state *state, int i)
{
    const tali_system_var *var = tali_system_var_at(system, i);
    void *stored = tali_state_part(state, state->at.vars + var->offset);
    const void *update = tali_state_cpart(state, tali_system_entry_at(system, var->update)->offset);
    const bool lowers = var->sampled && memcmp(stored, update, var->size) != 0;
    memcpy(stored, update, var->size);
    ((uint64_t *)tali_state_part(state, state->at.var_stamps))[i] = tali_state_tick(state);
    tali_state_entry_stamps(state)[var->update] = 0;
    return lowers ? var->invalidates : TAL_STAGE_INFINITY;
}

static void keep_previous(tal_state *state)
{
    const tali_system_layout *at = &state->at;
    const tali_state_core *core = tali_state_ccore(state);
    tali_state_times_of(state)->t_prev = tali_state_times_of(state)->t;
    const size_t y_bytes = (size_t)at->capacity_y * sizeof(double);
    if (y_bytes > 0) {
        memcpy(tali_state_part(state, at->y_prev), tali_state_cpart(state, at->y), y_bytes);
    }
    if (at->var_bytes > 0) {
        memcpy(tali_state_part(state, at->vars_prev), tali_state_cpart(state, at->vars),
               at->var_bytes);
    }
    const double *triggers = tali_state_cpart(state, at->errors[TAL_POOL_TRIGGER]);
    double *previous = tali_state_part(state, at->triggers_prev);
    const int computed = core->stage >= TAL_STAGE_TIME ? core->trigger_start[core->stage + 1] : 0;
    for (int i = 0; i < at->capacity[TAL_POOL_TRIGGER]; ++i) {
        previous[i] = i < computed ? triggers[i] : TALI_NAN;
    }
}

// Gives all variables their update values. `*lowest` is the stage to lower.
static tal_status update(const tal_system *system, tal_state *state, tal_stage *lowest,
                         const char *where)
{
    // all update values first: one may depend on another variable's stored value
    for (int i = 0; i < system->vars.count; ++i) {
        const int entry = tali_system_var_at(system, i)->update;
        if (entry >= 0 && tali_state_entry_realize(system, state, entry, where) == NULL) {
            return state->error.status;
        }
    }
    for (int i = 0; i < system->vars.count; ++i) {
        if (tali_system_var_at(system, i)->update < 0) continue;
        const tal_stage lowered = swap_in(system, state, i);
        if (lowered < *lowest) *lowest = lowered;
    }
    return TAL_OK;
}

tal_status tal_system_begin_step(const tal_system *system, tal_state *state)
{
    if (!can_solve(system, state, TAL_STAGE_INSTANCE, __func__)) return tali_state_breach_status();
    tal_stage lowest = TAL_STAGE_INFINITY;
    if (system->has_updates) {
        const tal_status st = update(system, state, &lowest, __func__);
        if (st != TAL_OK) return st;
    }
    keep_previous(state);
    if (lowest < TAL_STAGE_INFINITY) tali_state_invalidate(state, lowest);
    ++state->stats.steps;
    return TAL_OK;
}

// --- prescribed motion and relaxation ---

typedef tal_status (*prescribe_fn)(const void *self, const tal_system *system, tal_state *state,
                                   bool *changed);

static tal_status prescribe(const tal_system *system, tal_state *state, bool velocities,
                            bool *changed, const char *where)
{
    bool any = false;
    for (int k = 0; k < system->subsystems.count; ++k) {
        const int i = system->order[k];
        const tali_system_subsystem *subsystem = tali_system_subsystem_at(system, i);
        const prescribe_fn fn =
            velocities ? subsystem->ops.prescribe_u : subsystem->ops.prescribe_q;
        if (fn == NULL) continue;
        bool wrote = false;
        const tal_status st = fn(subsystem->self, system, state, &wrote);
        if (st != TAL_OK) return explain(system, state, i, where, st);
        any = any || wrote;
    }
    if (changed != NULL) *changed = any;
    ++state->stats.prescribes;
    return TAL_OK;
}

static bool settles(const tal_subsystem_ops *ops)
{
    return ops->prescribe_q != NULL || ops->prescribe_u != NULL || ops->project_q != NULL ||
           ops->project_u != NULL || ops->relax != NULL || ops->relax_stage != NULL;
}

static bool acts(const tal_subsystem_ops *ops)
{
    return settles(ops) || ops->realize_time != NULL || ops->realize_position != NULL ||
           ops->realize_velocity != NULL || ops->realize_dynamics != NULL ||
           ops->realize_acceleration != NULL;
}

tal_subsystem_ix tali_solve_other_that_acts(const tal_system *system,
                                            const tal_subsystem_ix these[], int n)
{
    for (int i = 0; i < system->subsystems.count; ++i) {
        bool is_other = acts(&tali_system_subsystem_at(system, i)->ops);
        for (int k = 0; k < n; ++k) {
            is_other = is_other && these[k].i != i;
        }
        if (is_other) return (tal_subsystem_ix){i};
    }
    return (tal_subsystem_ix){-1};
}

bool tali_solve_only_this_settles(const tal_system *system, tal_subsystem_ix subsystem)
{
    for (int i = 0; i < system->subsystems.count; ++i) {
        const bool any = settles(&tali_system_subsystem_at(system, i)->ops);
        if (any && i != subsystem.i) return false;
    }
    return true;
}

tal_status tal_system_prescribe_q(const tal_system *system, tal_state *state, bool *changed)
{
    if (!can_solve(system, state, TAL_STAGE_TIME, __func__)) return tali_state_breach_status();
    return prescribe(system, state, false, changed, __func__);
}

tal_status tal_system_prescribe_u(const tal_system *system, tal_state *state, bool *changed)
{
    if (!can_solve(system, state, TAL_STAGE_POSITION, __func__)) return tali_state_breach_status();
    return prescribe(system, state, true, changed, __func__);
}

// Fast variables that one stage may move, of every subsystem. A subsystem that does not tell stages
// apart relaxes at Position.
static tal_status relax_stage(const tal_system *system, tal_state *state, tal_stage stage,
                              double tolerance, bool *changed, const char *where)
{
    for (int k = 0; k < system->subsystems.count; ++k) {
        const int i = system->order[k];
        const tali_system_subsystem *subsystem = tali_system_subsystem_at(system, i);
        const tal_subsystem_ops *ops = &subsystem->ops;
        bool wrote = false;
        tal_status st = TAL_OK;
        if (ops->relax_stage != NULL) {
            st = ops->relax_stage(subsystem->self, system, state, stage, tolerance, &wrote);
        } else if (ops->relax != NULL && stage == TAL_STAGE_POSITION) {
            st = ops->relax(subsystem->self, system, state, tolerance, &wrote);
        }
        if (st != TAL_OK) return explain(system, state, i, where, st);
        *changed = *changed || wrote;
    }
    return TAL_OK;
}

// What manual eq. 8.96 has relaxation for, in this order.
static const tal_stage RELAXED[] = {TAL_STAGE_TIME, TAL_STAGE_POSITION, TAL_STAGE_VELOCITY,
                                    TAL_STAGE_DYNAMICS, TAL_STAGE_ACCELERATION};

enum {
    NUM_RELAXED = sizeof RELAXED / sizeof RELAXED[0]
};

static bool tolerance_is_good(tal_state *state, double tolerance, const char *where)
{
    if (tolerance > 0.0) return true;
    (void)tali_fail(&state->error, TAL_ERR_BAD_VALUE, where, "tolerance is %g: it must be positive",
                    tolerance);
    return false;
}

tal_status tal_system_relax(const tal_system *system, tal_state *state, double tolerance,
                            bool *changed)
{
    if (!can_solve(system, state, TAL_STAGE_TIME, __func__)) return tali_state_breach_status();
    if (!tolerance_is_good(state, tolerance, __func__)) return TAL_ERR_BAD_VALUE;
    bool any = false;
    tal_status st = TAL_OK;
    for (int s = 0; s < NUM_RELAXED && st == TAL_OK; ++s) {
        st = relax_stage(system, state, RELAXED[s], tolerance, &any, __func__);
    }
    if (st != TAL_OK) return st;
    if (changed != NULL) *changed = any;
    ++state->stats.relaxations;
    return TAL_OK;
}

tal_status tal_system_relax_stage(const tal_system *system, tal_state *state, tal_stage stage,
                                  double tolerance, bool *changed)
{
    if (!can_solve(system, state, TAL_STAGE_TIME, __func__)) return tali_state_breach_status();
    if (!tolerance_is_good(state, tolerance, __func__)) return TAL_ERR_BAD_VALUE;
    bool any = false;
    for (int s = 0; s < NUM_RELAXED; ++s) {
        if (RELAXED[s] != stage) continue;
        const tal_status st = relax_stage(system, state, stage, tolerance, &any, __func__);
        if (st != TAL_OK) return st;
        if (changed != NULL) *changed = any;
        ++state->stats.relaxations;
        return TAL_OK;
    }
    return TALI_FAIL(&state->error, TAL_ERR_BAD_VALUE,
                     "stage %d has no fast variables: Time, Position, Velocity, Dynamics and "
                     "Acceleration have",
                     (int)stage);
}

// --- projection ---

tal_project_options tal_project_options_default(void)
{
    return (tal_project_options){.tolerance = 1e-4, .max_iterations = 20};
}

static bool options_are_good(tal_state *state, const tal_project_options *options,
                             const char *where)
{
    if (options->tolerance > 0.0 && options->max_iterations >= 0) return true;
    (void)tali_fail(
        &state->error, TAL_ERR_BAD_VALUE, where,
        "projection to tolerance %g in %d iterations: the tolerance must be positive and the "
        "count not negative",
        options->tolerance, options->max_iterations);
    return false;
}

// The larger norm; NaN when one is, which fmax() would hide.
static double worse(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

static void merge(tal_project_result *sum, const tal_project_result *part)
{
    sum->iterations += part->iterations;
    sum->changed = sum->changed || part->changed;
    sum->norm_before = worse(sum->norm_before, part->norm_before);
    sum->norm_after = worse(sum->norm_after, part->norm_after);
}

// Let every subsystem project its q, or its u, and collect what they did.
static tal_status project_level(const tal_system *system, tal_state *state, bool velocities,
                                const tal_project_options *options, double error[],
                                tal_project_result *result, const char *where)
{
    const tal_project_options defaults = tal_project_options_default();
    const tal_project_options *chosen = options != NULL ? options : &defaults;
    if (!options_are_good(state, chosen, where)) return TAL_ERR_BAD_VALUE;

    const tal_stage stage = velocities ? TAL_STAGE_VELOCITY : TAL_STAGE_POSITION;
    tal_project_result sum = {0, 0.0, 0.0, false};
    for (int k = 0; k < system->subsystems.count; ++k) {
        const int i = system->order[k];
        const tali_system_subsystem *subsystem = tali_system_subsystem_at(system, i);
        const tal_subsystem_ops *ops = &subsystem->ops;
        if ((velocities ? ops->project_u : ops->project_q) == NULL) continue;
        tal_project_result part = {0, 0.0, 0.0, false};
        tal_status st =
            tali_state_realize(system, state, stage); // one before it may have moved things
        if (st != TAL_OK) return st;
        st = velocities ? ops->project_u(subsystem->self, system, state, chosen, error, &part)
                        : ops->project_q(subsystem->self, system, state, chosen, error, &part);
        if (st != TAL_OK) return explain(system, state, i, where, st);
        merge(&sum, &part);
    }
    if (result != NULL) *result = sum;
    ++state->stats.projections;
    return tali_state_realize(system, state, stage);
}

tal_status tal_system_project_q(const tal_system *system, tal_state *state,
                                const tal_project_options *options, double q_error[],
                                tal_project_result *result)
{
    if (!can_solve(system, state, TAL_STAGE_POSITION, __func__)) return tali_state_breach_status();
    return project_level(system, state, false, options, q_error, result, __func__);
}

tal_status tal_system_project_u(const tal_system *system, tal_state *state,
                                const tal_project_options *options, double u_error[],
                                tal_project_result *result)
{
    if (!can_solve(system, state, TAL_STAGE_VELOCITY, __func__)) return tali_state_breach_status();
    return project_level(system, state, true, options, u_error, result, __func__);
}

// q, then u: realize, prescribe, project.
static tal_status settle(const tal_system *system, tal_state *state, bool velocities,
                         const tal_project_options *options, tal_project_result *sum)
{
    const tal_stage before = velocities ? TAL_STAGE_POSITION : TAL_STAGE_TIME;
    const tal_stage after = velocities ? TAL_STAGE_VELOCITY : TAL_STAGE_POSITION;
    const char *const where = "tal_system_prescribe_and_project";
    bool changed = false;
    tal_project_result part = {0, 0.0, 0.0, false};
    tal_status st = tali_state_realize(system, state, before);
    if (st == TAL_OK) st = prescribe(system, state, velocities, &changed, where);
    if (st == TAL_OK) st = tali_state_realize(system, state, after);
    if (st == TAL_OK) st = project_level(system, state, velocities, options, NULL, &part, where);
    merge(sum, &part);
    sum->changed = sum->changed || changed;
    return st;
}

tal_status tal_system_prescribe_and_project(const tal_system *system, tal_state *state,
                                            const tal_project_options *options,
                                            tal_project_result *result)
{
    if (!can_solve(system, state, TAL_STAGE_MODEL, __func__)) return tali_state_breach_status();
    tal_project_result sum = {0, 0.0, 0.0, false};
    tal_status st = tal_system_realize(system, state, TAL_STAGE_TIME);
    if (st == TAL_OK) st = settle(system, state, false, options, &sum);
    if (st == TAL_OK) st = settle(system, state, true, options, &sum);
    if (st == TAL_OK && result != NULL) *result = sum;
    return st;
}

// --- events ---

static bool events_exist(const tal_system *system, tal_event_cause cause,
                         const tal_event_ix events[], int count, const char *where)
{
    if ((int)cause < TAL_EVENT_INITIALIZATION || (int)cause > TAL_EVENT_CHANGED) {
        (void)tali_breach(TAL_ERR_BAD_VALUE, where, "there is no cause %d of events", (int)cause);
        return false;
    }
    if (count < 0 || (count > 0 && events == NULL)) {
        (void)tali_breach(TAL_ERR_BAD_VALUE, where,
                          "%d events: the number is negative or the array is NULL", count);
        return false;
    }
    for (int i = 0; i < count; ++i) {
        if (!tali_system_has_element(system, &system->events, events[i].i, "event", where)) {
            return false;
        }
    }
    return true;
}

// How many of the events from `first` on have the same owner as the first.
static int run_of_one_owner(const tal_system *system, const tal_event_ix events[], int first,
                            int count)
{
    const int owner = tali_system_event_at(system, events[first].i)->element.owner;
    int end = first + 1;
    while (end < count && tali_system_event_at(system, events[end].i)->element.owner == owner) {
        ++end;
    }
    return end - first;
}

tal_status tal_system_handle_events(const tal_system *system, tal_state *state,
                                    tal_event_cause cause, const tal_event_ix events[], int count,
                                    bool *terminate)
{
    if (!can_solve(system, state, TAL_STAGE_MODEL, __func__)) return tali_state_breach_status();
    if (!events_exist(system, cause, events, count, __func__)) return tali_state_breach_status();
    bool end_study = false;
    for (int i = 0; i < count;) {
        const int owner = tali_system_event_at(system, events[i].i)->element.owner;
        const tali_system_subsystem *subsystem = tali_system_subsystem_at(system, owner);
        const int n = run_of_one_owner(system, events, i, count);
        if (subsystem->ops.handle_events != NULL) {
            bool asked = false;
            const tal_status st = subsystem->ops.handle_events(subsystem->self, system, state,
                                                               cause, events + i, n, &asked);
            if (st != TAL_OK) return explain(system, state, owner, __func__, st);
            end_study = end_study || asked;
        }
        i += n;
    }
    if (terminate != NULL) *terminate = end_study;
    state->stats.events += (uint64_t)count;
    return TAL_OK;
}

tal_status tal_system_report_events(const tal_system *system, tal_state *state,
                                    tal_event_cause cause, const tal_event_ix events[], int count)
{
    if (!can_solve(system, state, TAL_STAGE_MODEL, __func__)) return tali_state_breach_status();
    if (!events_exist(system, cause, events, count, __func__)) return tali_state_breach_status();
    for (int i = 0; i < count;) {
        const int owner = tali_system_event_at(system, events[i].i)->element.owner;
        const tali_system_subsystem *subsystem = tali_system_subsystem_at(system, owner);
        const int n = run_of_one_owner(system, events, i, count);
        if (subsystem->ops.report_events != NULL) {
            const tal_status st =
                subsystem->ops.report_events(subsystem->self, system, state, cause, events + i, n);
            if (st != TAL_OK) return explain(system, state, owner, __func__, st);
        }
        i += n;
    }
    state->stats.events += (uint64_t)count;
    return TAL_OK;
}
