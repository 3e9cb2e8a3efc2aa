// Groups of slots: choosing their sizes at Model and Instance, and writing them while realizing.
#include "state/state_internal.h"

#include <assert.h>
#include <math.h>

// --- sizing ---

static int32_t *chosen_sizes(tal_state *state)
{
    return tali_state_part(state, state->at.chosen_sizes);
}

static bool is_sized_at(const tali_system_group *group, tal_stage stage)
{
    const bool continuous = group->pool <= TAL_POOL_Z;
    return stage == TAL_STAGE_MODEL ? continuous : !continuous;
}

// The initial values of a group of q, u or z, where its slots would be at full capacity.
static double *fresh_values(tal_state *state, const tali_system_group *group)
{
    int start = group->capacity_start;
    if (group->pool >= TAL_POOL_U) start += state->at.capacity[TAL_POOL_Q];
    if (group->pool >= TAL_POOL_Z) start += state->at.capacity[TAL_POOL_U];
    return (double *)tali_state_part(state, state->at.fresh) + start;
}

// Before the hooks of Model everything has its capacity; before those of Instance, errors and
// triggers have what Model chose. So sizes are a function of the variables alone.
void tali_state_partition_begin(const tal_system *system, tal_state *state, tal_stage stage)
{
    int32_t *chosen = chosen_sizes(state);
    const int32_t *at_model = tali_state_cpart(state, state->at.model_sizes);
    for (int g = 0; g < system->groups.count; ++g) {
        const tali_system_group *group = tali_system_group_at(system, g);
        chosen[g] = stage == TAL_STAGE_MODEL ? group->capacity : at_model[g];
        if (stage != TAL_STAGE_MODEL || group->pool > TAL_POOL_Z) continue;

        double *fresh = fresh_values(state, group);
        for (int i = 0; i < group->capacity; ++i) {
            fresh[i] = group->initial != NULL ? group->initial[i] : 0.0;
        }
    }
    if (stage != TAL_STAGE_MODEL || state->loading) return;
    for (int i = 0; i < system->vars.count; ++i) {
        const tali_system_var *var = tali_system_var_at(system, i);
        if (var->allocated != TAL_STAGE_MODEL) continue;
        memcpy(tali_state_part(state, state->at.vars + var->offset), var->initial, var->size);
        ((uint64_t *)tali_state_part(state, state->at.var_stamps))[i] = tali_state_tick(state);
    }
}

// True when the values given to a group of q, u or z can be its variables.
static bool are_finite(tal_state *state, const tali_system_group *group, const double initial[],
                       int n)
{
    for (int i = 0; i < n; ++i) {
        if (isfinite(initial[i])) continue;
        (void)tali_fail(&state->error, TAL_ERR_NOT_FINITE, "tal_group_set_size",
                        "group '%s': initial[%d] is %g", group->element.name, i, initial[i]);
        return false;
    }
    return true;
}

tal_status tal_group_set_size(const tal_system *system, tal_state *state, tal_group_ix group, int n,
                              const double initial[])
{
    if (!TALI_BELONGS(system, state)) return tali_state_breach_status();
    if (!tali_system_has_element(system, &system->groups, group.i, "group", __func__)) {
        return TAL_ERR_BAD_INDEX;
    }
    const tali_system_group *declared = tali_system_group_at(system, group.i);
    const tal_stage realizing = tali_state_ccore(state)->realizing;
    const bool allowed = realizing == TAL_STAGE_MODEL ||
                         (realizing == TAL_STAGE_INSTANCE && declared->pool > TAL_POOL_Z);
    if (!allowed) {
        return TALI_BREACH(TAL_ERR_STAGE, "group '%s' is sized while %s is realized, not %s",
                           declared->element.name,
                           declared->pool <= TAL_POOL_Z ? "Model" : "Model or Instance",
                           tal_stage_name(tali_state_level(state)));
    }
    if (n < 0 || n > declared->capacity) {
        return tal_state_fail(state, TAL_ERR_CAPACITY,
                              "group '%s' cannot have %d slots: its capacity is %d",
                              declared->element.name, n, declared->capacity);
    }
    const bool has_values = initial != NULL && n > 0 && declared->pool <= TAL_POOL_Z;
    if (has_values && !are_finite(state, declared, initial, n)) return TAL_ERR_NOT_FINITE;
    chosen_sizes(state)[group.i] = n;
    if (has_values) {
        memcpy(fresh_values(state, declared), initial, (size_t)n * sizeof(double));
    }
    return TAL_OK;
}

// Moves the slots of one pool from where they were to where they are next. A group that keeps
// its size keeps its values; another takes `fresh` (or, when that is NULL, `filling` times its
// weight, which leaves a filling of zero or NaN as it is).
static void move_slots(const tal_system *system, tal_state *state, tal_pool pool,
                       const double from[], bool use_fresh, double filling, double to[])
{
    const tali_state_slice *slices = tali_state_cslices(state);
    const int32_t *chosen = chosen_sizes(state);
    int next = 0;
    for (int k = system->pool_begin[pool]; k < system->pool_begin[pool + 1]; ++k) {
        const int g = system->pool_order[k];
        const bool keeps = slices[g].size == chosen[g];
        const tali_system_group *group = tali_system_group_at(system, g);
        const double *fresh = use_fresh ? fresh_values(state, group) : NULL;
        const double first = filling * group->weight;
        for (int i = 0; i < chosen[g]; ++i) {
            to[next++] = keeps ? from[slices[g].start + i] : fresh != NULL ? fresh[i] : first;
        }
    }
}

// An array that belongs to one pool, such as its weights.
static void repack_array(const tal_system *system, tal_state *state, tal_pool pool, size_t array,
                         double filling)
{
    double *values = tali_state_part(state, array);
    double *room = tali_state_part(state, state->at.repack);
    const int capacity = state->at.capacity[pool];
    for (int i = 0; i < capacity; ++i) {
        room[i] = filling;
    }
    move_slots(system, state, pool, values, false, filling, room);
    if (capacity > 0) memcpy(values, room, (size_t)capacity * sizeof(double));
}

// An array laid out like y: q, u and z one after the other.
static void repack_y(const tal_system *system, tal_state *state, size_t array, bool use_fresh,
                     double filling, const int next_size[])
{
    double *values = tali_state_part(state, array);
    double *room = tali_state_part(state, state->at.repack);
    const int capacity = state->at.capacity_y;
    for (int i = 0; i < capacity; ++i) {
        room[i] = filling;
    }
    int base = 0;
    for (int pool = TAL_POOL_Q; pool <= TAL_POOL_Z; ++pool) {
        const double *from = values + tali_state_pool_base(state, (tal_pool)pool) / sizeof(double);
        move_slots(system, state, (tal_pool)pool, from, use_fresh, filling, room + base);
        base += next_size[pool];
    }
    if (capacity > 0) memcpy(values, room, (size_t)capacity * sizeof(double));
}

static void repack(const tal_system *system, tal_state *state, tal_stage stage,
                   const int next_size[])
{
    const tali_system_layout *at = &state->at;
    if (stage == TAL_STAGE_MODEL) {
        repack_y(system, state, at->y, true, 0.0, next_size);
        repack_y(system, state, at->y_prev, false, TALI_NAN, next_size);
        repack_array(system, state, TAL_POOL_U, at->weights[TAL_POOL_U], 1.0);
        repack_array(system, state, TAL_POOL_Z, at->weights[TAL_POOL_Z], 1.0);
        tali_state_core *core = tali_state_core_of(state);
        core->q_stamp = core->u_stamp = core->z_stamp = tali_state_tick(state);
    } else {
        repack_array(system, state, TAL_POOL_QERR, at->weights[TAL_POOL_QERR], 1.0);
        repack_array(system, state, TAL_POOL_UERR, at->weights[TAL_POOL_UERR], 1.0);
        repack_array(system, state, TAL_POOL_TRIGGER, at->triggers_prev, TALI_NAN);
    }
}

// Cuts the pools sized at this stage into slices of the chosen sizes.
static void cut_pools(const tal_system *system, tal_state *state, tal_stage stage)
{
    tali_state_core *core = tali_state_core_of(state);
    tali_state_slice *slices = tali_state_part(state, state->at.slices);
    const int32_t *chosen = chosen_sizes(state);
    for (int pool = 0; pool < TALI_NUM_POOLS; ++pool) {
        if ((stage == TAL_STAGE_MODEL) != (pool <= TAL_POOL_Z)) continue;
        int next = 0;
        for (int k = system->pool_begin[pool]; k < system->pool_begin[pool + 1]; ++k) {
            const int g = system->pool_order[k];
            slices[g] = (tali_state_slice){next, chosen[g]};
            next += chosen[g];
        }
        core->size[pool] = next;
    }
    if (stage == TAL_STAGE_MODEL) return;

    int next = 0;
    int k = system->pool_begin[TAL_POOL_TRIGGER];
    for (int s = 0; s < TAL_NUM_STAGES; ++s) {
        core->trigger_start[s] = next;
        for (; k < system->pool_begin[TALI_NUM_POOLS]; ++k) {
            const int g = system->pool_order[k];
            if ((int)tali_system_group_at(system, g)->stage != s) break;
            next += chosen[g];
        }
    }
    core->trigger_start[TAL_NUM_STAGES] = next;
}

void tali_state_partition_end(const tal_system *system, tal_state *state, tal_stage stage)
{
    const tali_state_slice *slices = tali_state_cslices(state);
    const int32_t *chosen = chosen_sizes(state);
    int next_size[TALI_NUM_POOLS] = {0};
    bool changed = false;
    for (int g = 0; g < system->groups.count; ++g) {
        const tali_system_group *group = tali_system_group_at(system, g);
        next_size[group->pool] += chosen[g];
        if (is_sized_at(group, stage) && slices[g].size != chosen[g]) changed = true;
    }
    if (changed) repack(system, state, stage, next_size);
    if (changed || stage == TAL_STAGE_INSTANCE) cut_pools(system, state, stage);
    if (stage == TAL_STAGE_MODEL && system->groups.count > 0) {
        memcpy(tali_state_part(state, state->at.model_sizes), chosen,
               (size_t)system->groups.count * sizeof(int32_t));
    }
}

// --- asking ---

// The slice of a group whose pool is sized; NULL after reporting the breach.
TAL_ALWAYS_INLINE const tali_state_slice *slice_of(const tal_system *system, const tal_state *state,
                                                   int group, const char *where)
{
    if (system == NULL || state == NULL || !system->has_topology || system->hash != state->hash) {
        (void)tali_state_breach_system(system, state, where);
        return NULL;
    }
    if (!tali_system_has_element(system, &system->groups, group, "group", where)) return NULL;
    const bool continuous = tali_system_group_at(system, group)->pool <= TAL_POOL_Z;
    const tal_stage needed = continuous ? TAL_STAGE_MODEL : TAL_STAGE_INSTANCE;
    if (tali_state_ccore(state)->stage < needed) {
        (void)tali_state_breach_stage(state, needed, where);
        return NULL;
    }
    return tali_state_cslices(state) + group;
}

int tal_group_size(const tal_system *system, const tal_state *state, tal_group_ix group)
{
    const tali_state_slice *slice = slice_of(system, state, group.i, __func__);
    return slice != NULL ? slice->size : -1;
}

int tal_group_start(const tal_system *system, const tal_state *state, tal_group_ix group)
{
    const tali_state_slice *slice = slice_of(system, state, group.i, __func__);
    if (slice == NULL) return -1;
    const tali_system_group *declared = tali_system_group_at(system, group.i);
    if (declared->pool != TAL_POOL_TRIGGER) return slice->start;
    return slice->start - tali_state_ccore(state)->trigger_start[declared->stage];
}

tal_group_ix tal_state_slot_owner(const tal_system *system, const tal_state *state, tal_pool pool,
                                  int slot, int *local)
{
    const tal_group_ix none = {-1};
    if (!TALI_BELONGS(system, state)) return none;
    const int p = (int)pool;
    if (p < 0 || p >= TALI_NUM_POOLS) {
        (void)TALI_BREACH(TAL_ERR_BAD_VALUE, "there is no pool %d", p);
        return none;
    }
    if (!TALI_IS_SIZED(state, p <= TAL_POOL_Z ? TAL_STAGE_MODEL : TAL_STAGE_INSTANCE)) return none;
    const int size = tali_state_ccore(state)->size[p];
    if (slot < 0 || slot >= size) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "slot %d does not exist: the pool has %d", slot, size);
        return none;
    }

    // the last group that starts at or before the slot and is not empty
    int low = system->pool_begin[pool];
    int high = system->pool_begin[pool + 1];
    const tali_state_slice *slices = tali_state_cslices(state);
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (slices[system->pool_order[middle]].start <= slot) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const int g = system->pool_order[low];
    if (local != NULL) *local = slot - slices[g].start;
    return (tal_group_ix){g};
}

// --- writing while realizing ---

// Slots of a group in the array at `array`, if the group `fits` there, while `stage` is being
// realized. NULL after reporting the breach.
TAL_ALWAYS_INLINE double *slots(const tal_system *system, tal_state *state, tal_group_ix group,
                                bool fits, tal_stage stage, size_t array, const char *where)
{
    const tali_state_slice *slice = slice_of(system, state, group.i, where);
    if (slice == NULL) return NULL;
    const char *name = tali_system_group_at(system, group.i)->element.name;
    if (!fits) {
        (void)tali_breach(TAL_ERR_BAD_INDEX, where, "group '%s' belongs to another pool", name);
        return NULL;
    }
    const tal_stage realizing = tali_state_ccore(state)->realizing;
    if (realizing != stage) {
        (void)tali_breach(TAL_ERR_STAGE, where,
                          "group '%s' is written while %s is realized, not at %s", name,
                          tal_stage_name(stage), tal_stage_name(tali_state_level(state)));
        return NULL;
    }
    return (double *)tali_state_part(state, array) + slice->start;
}

// The pool of a group, or -1: the checks in slots() will tell.
static int pool_of(const tal_system *system, tal_group_ix group)
{
    const bool exists = system != NULL && group.i >= 0 && group.i < system->groups.count;
    return exists ? (int)tali_system_group_at(system, group.i)->pool : -1;
}

// First slot of a continuous group in arrays laid out like y.
TAL_ALWAYS_INLINE int first_in_y(const tal_system *system, const tal_state *state, int group)
{
    const tali_state_core *core = tali_state_ccore(state);
    const tal_pool pool = tali_system_group_at(system, group)->pool;
    const int start = tali_state_cslices(state)[group].start;
    if (pool == TAL_POOL_Q) return start;
    return core->size[TAL_POOL_Q] + start + (pool == TAL_POOL_Z ? core->size[TAL_POOL_U] : 0);
}

const double *tali_cache_group_y(const tal_system *system, const tal_state *state,
                                 tal_group_ix group)
{
    assert(tal_group_start(system, state, group) >= 0);
    return (const double *)tali_state_cpart(state, state->at.y) +
           first_in_y(system, state, group.i);
}

double *tali_cache_group_ydot(const tal_system *system, tal_state *state, tal_group_ix group)
{
    assert(tal_group_upd_dot(system, state, group) != NULL);
    return (double *)tali_state_part(state, state->at.ydot) + first_in_y(system, state, group.i);
}

double *tali_cache_group_qdotdot(const tal_system *system, tal_state *state, tal_group_ix group)
{
    (void)system;
    assert(tal_group_upd_qdotdot(system, state, group) != NULL);
    return (double *)tali_state_part(state, state->at.qdotdot) +
           tali_state_cslices(state)[group.i].start;
}

double *tal_group_upd_dot(const tal_system *system, tal_state *state, tal_group_ix group)
{
    const int pool = pool_of(system, group);
    const bool fits = pool >= TAL_POOL_Q && pool <= TAL_POOL_Z;
    const tal_stage stage = pool == TAL_POOL_Q ? TAL_STAGE_VELOCITY : TAL_STAGE_ACCELERATION;
    const size_t base = fits && state != NULL ? tali_state_pool_base(state, (tal_pool)pool) : 0;
    const size_t array = state != NULL ? state->at.ydot + base : 0;
    return slots(system, state, group, fits, stage, array, __func__);
}

double *tal_group_upd_qdotdot(const tal_system *system, tal_state *state, tal_group_ix group)
{
    const bool fits = pool_of(system, group) == TAL_POOL_Q;
    const size_t array = state != NULL ? state->at.qdotdot : 0;
    return slots(system, state, group, fits, TAL_STAGE_ACCELERATION, array, __func__);
}

double *tal_group_upd_errors(const tal_system *system, tal_state *state, tal_group_ix group)
{
    const int pool = pool_of(system, group);
    const bool fits = pool >= TAL_POOL_QERR && pool <= TAL_POOL_UDOTERR;
    const tal_stage stage = pool == TAL_POOL_QERR   ? TAL_STAGE_POSITION
                            : pool == TAL_POOL_UERR ? TAL_STAGE_VELOCITY
                                                    : TAL_STAGE_ACCELERATION;
    const size_t array = fits && state != NULL ? state->at.errors[pool] : 0;
    return slots(system, state, group, fits, stage, array, __func__);
}

double *tal_group_upd_multipliers(const tal_system *system, tal_state *state, tal_group_ix group)
{
    const bool fits = pool_of(system, group) == TAL_POOL_UDOTERR;
    const size_t array = state != NULL ? state->at.multipliers : 0;
    return slots(system, state, group, fits, TAL_STAGE_ACCELERATION, array, __func__);
}

double *tal_group_upd_triggers(const tal_system *system, tal_state *state, tal_group_ix group)
{
    const bool fits = pool_of(system, group) == TAL_POOL_TRIGGER;
    const tal_stage stage = fits ? tali_system_group_at(system, group.i)->stage : TAL_STAGE_EMPTY;
    const size_t array = state != NULL ? state->at.errors[TAL_POOL_TRIGGER] : 0;
    return slots(system, state, group, fits, stage, array, __func__);
}
