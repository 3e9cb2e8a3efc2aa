// The State object: creation, copying, comparing, its error record and scratch memory.
#include "state/state_internal.h"

#include <math.h>
#include <stddef.h>

// --- breaches ---

bool tali_state_breach_stage(const tal_state *state, tal_stage needed, const char *where)
{
    if (state == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "the State is NULL");
        return false;
    }
    const tali_state_core *core = tali_state_ccore(state);
    const bool under_way = core->realizing == needed;
    (void)tali_breach(TAL_ERR_STAGE, where, "needs stage %s, but the State has reached only %s: %s",
                      tal_stage_name(needed), tal_stage_name(core->stage),
                      under_way ? "it is being realized" : "realize it first");
    return false;
}

bool tali_state_breach_system(const tal_system *system, const tal_state *state, const char *where)
{
    if (system == NULL || state == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "the %s is NULL",
                          system == NULL ? "System" : "State");
    } else if (!system->has_topology) {
        (void)tali_breach(TAL_ERR_TOPOLOGY, where, "the topology of System '%s' is not realized",
                          system->name);
    } else {
        (void)tali_breach(TAL_ERR_WRONG_SYSTEM, where,
                          "the State does not belong to System '%s': structure %016llx, not "
                          "%016llx",
                          system->name, (unsigned long long)state->hash,
                          (unsigned long long)system->hash);
    }
    return false;
}

// The first refusal stays until a realize returns it.
static void keep_refusal(tal_state *state, tal_status status, const char *where, const char *fmt,
                         va_list args)
{
    if (state->pending) return;
    state->error.status = TAL_OK;
    (void)tali_vfail(&state->error, status, where, fmt, args);
    state->pending = true;
}

tal_status tali_state_set_fail(tal_state *state, tal_status status, const char *where,
                               const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    keep_refusal(state, status, where, fmt, args);
    va_end(args);
    return status;
}

void tali_state_keep_breach(tal_state *state)
{
    const tal_error *breach = tal_contract_last();
    (void)tali_state_set_fail(state, breach->status, breach->where, "%s", breach->message);
}

bool tali_state_can_write(tal_state *state, const char *where)
{
    const tali_state_core *core = tali_state_ccore(state);
    if (core->realizing == TAL_STAGE_EMPTY && core->calculating == 0) return true;
    (void)tali_breach(TAL_ERR_STAGE, where,
                      "a variable cannot be set while results are being computed from it");
    tali_state_keep_breach(state);
    return false;
}

// --- life ---

static void fill_with(double array[], int n, double value)
{
    for (int i = 0; i < n; ++i) {
        array[i] = value;
    }
}

// Initial values of all variables; everything that is not computed yet is NaN.
static void init_variables(const tal_system *system, tal_state *state)
{
    const tali_system_layout *at = &state->at;
    tali_state_times_of(state)->t_prev = TALI_NAN;
    fill_with(tali_state_part(state, at->y_prev), at->capacity_y, TALI_NAN);
    fill_with(tali_state_part(state, at->triggers_prev), at->capacity[TAL_POOL_TRIGGER], TALI_NAN);
    fill_with(tali_state_part(state, at->nans), (int)((at->scratch - at->nans) / sizeof(double)),
              TALI_NAN);
    for (int pool = TAL_POOL_U; pool <= TAL_POOL_UERR; ++pool) {
        fill_with(tali_state_part(state, at->weights[pool]), at->capacity[pool], 1.0);
    }
    for (int i = 0; i < system->vars.count; ++i) {
        const tali_system_var *var = tali_system_var_at(system, i);
        memcpy(tali_state_part(state, at->vars + var->offset), var->initial, var->size);
    }
    memcpy(tali_state_part(state, at->vars_prev), tali_state_part(state, at->vars), at->var_bytes);
    uint64_t *var_stamps = tali_state_part(state, at->var_stamps);
    for (int i = 0; i < system->vars.count; ++i) {
        var_stamps[i] = 1;
    }
    tali_system_entry_place *places = tali_state_part(state, at->entry_places);
    for (int i = 0; i < system->entries.count; ++i) {
        const tali_system_entry *entry = tali_system_entry_at(system, i);
        places[i] = (tali_system_entry_place){entry->offset, entry->size, entry->depends_on};
    }
    tali_state_slice *slices = tali_state_part(state, at->slices);
    for (int g = 0; g < at->num_groups; ++g) {
        slices[g] = (tali_state_slice){0, -1};
    }
}

// No access behind a result, and none to scratch memory that is not taken.
static void close_gaps(tal_state *state)
{
    const tali_system_layout *at = &state->at;

    const struct {
        size_t at;
        int count;
    } results[] = {{at->ydot, at->capacity_y},
                   {at->qdotdot, at->capacity[TAL_POOL_Q]},
                   {at->errors[TAL_POOL_QERR], at->capacity[TAL_POOL_QERR]},
                   {at->errors[TAL_POOL_UERR], at->capacity[TAL_POOL_UERR]},
                   {at->errors[TAL_POOL_UDOTERR], at->capacity[TAL_POOL_UDOTERR]},
                   {at->errors[TAL_POOL_TRIGGER], at->capacity[TAL_POOL_TRIGGER]},
                   {at->multipliers, at->capacity[TAL_POOL_UDOTERR]}};

    for (size_t i = 0; i < sizeof results / sizeof results[0]; ++i) {
        const size_t bytes = (size_t)results[i].count * sizeof(double);
        tali_alloc_close_behind(tali_state_part(state, results[i].at), bytes);
    }
    const tali_system_entry_place *places = tali_state_cpart(state, at->entry_places);
    for (int i = 0; i < at->num_entries; ++i) {
        tali_alloc_close_behind(tali_state_part(state, places[i].offset), places[i].size);
    }
    tali_alloc_close(tali_state_part(state, at->scratch), TALI_SCRATCH_SPREAD * at->scratch_bytes);
}

tal_status tal_state_create(const tal_system *system, tal_state **out, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "the place for the State is NULL");
    *out = NULL;
    if (system == NULL || !system->has_topology) {
        const tal_status broken = system == NULL ? TAL_ERR_NULL : TAL_ERR_TOPOLOGY;
        (void)TALI_FAIL(err, broken, "the topology of System '%s' is not realized",
                        tal_system_name(system));
        return TALI_BREACH(broken, "the topology of System '%s' is not realized",
                           tal_system_name(system));
    }

    tal_state *state = tali_alloc(&system->allocator, system->layout.size);
    if (state == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "System '%s': no memory for a State of %zu bytes",
                         system->name, system->layout.size);
    }
    state->hash = system->hash;
    state->allocator = system->allocator;
    state->at = system->layout;
    init_variables(system, state);
    close_gaps(state);
    tali_state_core *core = tali_state_core_of(state);
    core->clock = core->t_stamp = core->q_stamp = core->u_stamp = core->z_stamp = 1;
    core->stage = TAL_STAGE_TOPOLOGY;
    for (int stage = TAL_STAGE_MODEL; stage < TAL_NUM_STAGES; ++stage) {
        core->realized[stage] = TALI_NEVER;
    }
    core->low_water = TAL_STAGE_INFINITY;

    const tal_status st = tali_state_realize(system, state, TAL_STAGE_MODEL);
    if (st != TAL_OK) {
        if (err != NULL) *err = state->error;
        tal_state_destroy(state);
        return st;
    }
    *out = state;
    return TAL_OK;
}

void tal_state_destroy(tal_state *state)
{
    if (state == NULL) return;
    const tal_allocator allocator = state->allocator;
    tali_free(&allocator, state, state->at.size);
}

// --- what it says of itself ---

tal_stage tal_state_stage(const tal_state *state)
{
    return state != NULL ? tali_state_ccore(state)->stage : TAL_STAGE_EMPTY;
}

uint64_t tal_state_structure_hash(const tal_state *state)
{
    return state != NULL ? state->hash : 0;
}

const tal_error *tal_state_error(const tal_state *state)
{
    static const tal_error no_state = {TAL_ERR_NULL, "tal_state_error", "the State is NULL"};
    return state != NULL ? &state->error : &no_state;
}

tal_status tal_state_clear_error(tal_state *state)
{
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    state->pending = false;
    tali_state_clear_error(state);
    return TAL_OK;
}

tal_status tal_state_fail(tal_state *state, tal_status status, const char *fmt, ...)
{
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    va_list args;
    va_start(args, fmt);
    (void)tali_vfail(&state->error, status, __func__, fmt, args);
    va_end(args);
    return status;
}

tal_status tal_state_refuse(tal_state *state, tal_status status, const char *fmt, ...)
{
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    va_list args;
    va_start(args, fmt);
    keep_refusal(state, status, __func__, fmt, args);
    va_end(args);
    return status;
}

tal_state_stats tal_state_statistics(const tal_state *state)
{
    if (state != NULL) return state->stats;
    (void)TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    return (tal_state_stats){{0}, 0, 0, 0, 0, 0, 0};
}

// --- invalidation ---

// A result that has become invalid is filled with NaN (all bits set) in debug builds, so that a
// pointer kept too long shows at once.
static void poison_cache(tal_state *state, tal_stage from)
{
#ifdef NDEBUG
    (void)state;
    (void)from;
#else
    const tali_system_layout *at = &state->at;
    const tali_system_entry_place *places = tali_state_cpart(state, at->entry_places);
    for (int i = 0; i < at->num_entries; ++i) {
        if (places[i].depends_on < from) continue;
        // an entry may be laid out in pieces, with gaps between them
        tali_alloc_fill(tali_state_part(state, places[i].offset), 0xff, places[i].size);
    }
    if (from > TAL_STAGE_ACCELERATION) return;
    const int nq = from > TAL_STAGE_VELOCITY ? tali_state_ccore(state)->size[TAL_POOL_Q] : 0;
    fill_with((double *)tali_state_part(state, at->ydot) + nq, at->capacity_y - nq, TALI_NAN);
    fill_with(tali_state_part(state, at->qdotdot), at->capacity[TAL_POOL_Q], TALI_NAN);
    fill_with(tali_state_part(state, at->errors[TAL_POOL_UDOTERR]), at->capacity[TAL_POOL_UDOTERR],
              TALI_NAN);
    fill_with(tali_state_part(state, at->multipliers), at->capacity[TAL_POOL_UDOTERR], TALI_NAN);
#endif
}

void tali_state_invalidate(tal_state *state, tal_stage from)
{
    tali_state_core *core = tali_state_core_of(state);
    if (from < core->low_water) core->low_water = from;
    if (core->stage < from) return;
    for (int stage = (int)from; stage <= (int)core->stage; ++stage) {
        core->realized[stage] = TALI_NEVER;
    }
    core->stage = (tal_stage)(from - 1);
    poison_cache(state, from);
}

tal_status tal_state_invalidate(tal_state *state, tal_stage stage)
{
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    if (stage < TAL_STAGE_MODEL || stage > TAL_STAGE_REPORT) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE,
                           "only the stages Model to Report can be invalidated, not %s",
                           tal_stage_name(stage));
    }
    if (!tali_state_can_write(state, __func__)) return TAL_ERR_STAGE;
    tali_state_invalidate(state, stage);
    return TAL_OK;
}

tal_stage tal_state_low_water(const tal_state *state)
{
    if (state != NULL) return tali_state_ccore(state)->low_water;
    (void)TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    return TAL_STAGE_EMPTY;
}

void tal_state_reset_low_water(tal_state *state)
{
    if (state != NULL) {
        tali_state_core_of(state)->low_water = TAL_STAGE_INFINITY;
    } else {
        (void)TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    }
}

// --- copy and compare ---

// True when both are there and of one structure. Otherwise a breach has been reported.
static bool are_alike(const tal_state *a, const tal_state *b, const char *where)
{
    if (a == NULL || b == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "a State is NULL");
        return false;
    }
    if (a->hash == b->hash && a->at.size == b->at.size) return true;
    (void)tali_breach(TAL_ERR_WRONG_SYSTEM, where, "the States belong to different Systems");
    return false;
}

tal_status tal_state_copy(tal_state *to, const tal_state *from)
{
    if (!are_alike(to, from, __func__)) return tali_state_breach_status();
    if (!tali_state_can_write(to, __func__)) return TAL_ERR_STAGE;
    if (to == from) return TAL_OK;
    if (tali_state_ccore(from)->realizing != TAL_STAGE_EMPTY ||
        tali_state_ccore(from)->calculating != 0) {
        return TALI_BREACH(TAL_ERR_STAGE, "a State cannot be copied while it is being realized");
    }

    const size_t begin = to->at.core;
    tali_alloc_copy((char *)to + begin, (const char *)from + begin, to->at.copy_end - begin);
    // a watch on the low-water mark of `to` must see that anything may have changed
    tali_state_core_of(to)->low_water = TAL_STAGE_MODEL;
    return TAL_OK;
}

static bool same(const tal_state *a, const tal_state *b, size_t offset, size_t bytes)
{
    return memcmp(tali_state_cpart(a, offset), tali_state_cpart(b, offset), bytes) == 0;
}

static bool same_doubles(const tal_state *a, const tal_state *b, size_t offset, int32_t n)
{
    return same(a, b, offset, (size_t)n * sizeof(double));
}

static void lower(tal_stage *lowest, tal_stage stage, bool same_values)
{
    if (!same_values && stage < *lowest) *lowest = stage;
}

// The sizes that Model chose decide where y is cut, so two States that differ in them differ from
// Model on. Each group counts: pools of equal size may be cut differently. What Instance chose
// follows from the other variables.
static bool same_sizes(const tal_state *a, const tal_state *b)
{
    return same(a, b, a->at.model_sizes, (size_t)a->at.num_groups * sizeof(int32_t));
}

// Slots beyond a pool's size always hold the same filling, so whole arrays can be compared.
static tal_stage lowest_pool_difference(const tal_state *a, const tal_state *b)
{
    const tali_system_layout *at = &a->at;
    const int32_t *n = tali_state_ccore(a)->size;
    const int *capacity = at->capacity;
    tal_stage lowest = TAL_STAGE_INFINITY;
    lower(&lowest, TAL_STAGE_TIME,
          same(a, b, at->variables + offsetof(tali_state_times, t), sizeof(double)));
    lower(&lowest, TAL_STAGE_POSITION,
          same_doubles(a, b, tali_state_pool_base(a, TAL_POOL_Q) + at->y, n[TAL_POOL_Q]));
    lower(&lowest, TAL_STAGE_VELOCITY,
          same_doubles(a, b, tali_state_pool_base(a, TAL_POOL_U) + at->y, n[TAL_POOL_U]));
    lower(&lowest, TAL_STAGE_DYNAMICS,
          same_doubles(a, b, tali_state_pool_base(a, TAL_POOL_Z) + at->y, n[TAL_POOL_Z]));
    lower(&lowest, TAL_STAGE_REPORT,
          same_doubles(a, b, at->weights[TAL_POOL_U], capacity[TAL_POOL_U]));
    lower(&lowest, TAL_STAGE_REPORT,
          same_doubles(a, b, at->weights[TAL_POOL_Z], capacity[TAL_POOL_Z]));
    lower(&lowest, TAL_STAGE_POSITION,
          same_doubles(a, b, at->weights[TAL_POOL_QERR], capacity[TAL_POOL_QERR]));
    lower(&lowest, TAL_STAGE_VELOCITY,
          same_doubles(a, b, at->weights[TAL_POOL_UERR], capacity[TAL_POOL_UERR]));
    return lowest;
}

bool tal_state_is_equal(const tal_state *a, const tal_state *b)
{
    if (!are_alike(a, b, __func__)) return false;
    return same_sizes(a, b) && lowest_pool_difference(a, b) == TAL_STAGE_INFINITY &&
           same(a, b, a->at.vars, a->at.var_bytes);
}

tal_stage tal_state_lowest_difference(const tal_system *system, const tal_state *a,
                                      const tal_state *b)
{
    if (!are_alike(a, b, __func__) || !TALI_BELONGS(system, a)) return TAL_STAGE_EMPTY;

    tal_stage lowest = TAL_STAGE_INFINITY;
    for (int i = 0; i < system->vars.count; ++i) {
        const tali_system_var *var = tali_system_var_at(system, i);
        lower(&lowest, var->invalidates, same(a, b, a->at.vars + var->offset, var->size));
    }
    if (!same_sizes(a, b)) return TAL_STAGE_MODEL;
    const tal_stage pools = lowest_pool_difference(a, b);
    return pools < lowest ? pools : lowest;
}

// --- scratch ---

size_t tal_state_scratch_mark(const tal_state *state)
{
    if (state != NULL) return state->scratch_used;
    (void)TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    return 0;
}

void *tal_state_scratch_take(tal_state *state, size_t bytes)
{
    if (state == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
        return NULL;
    }
    const size_t left = state->at.scratch_bytes - state->scratch_used;
    if (bytes > left) {
        (void)TALI_BREACH(
            TAL_ERR_CAPACITY,
            "%zu bytes of scratch memory are needed, %zu are left: reserve more with tal_system_reserve_scratch()",
            bytes, left);
        return NULL;
    }
    void *piece = tali_state_scratch_at(state, state->scratch_used);
    state->scratch_used += tali_align(bytes);
    tali_alloc_open(piece, bytes);
    return piece;
}

void tal_state_scratch_release(tal_state *state, size_t mark)
{
    if (state == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    } else if (mark > state->scratch_used) {
        (void)TALI_BREACH(TAL_ERR_BAD_VALUE, "the mark %zu is beyond the %zu bytes in use", mark,
                          state->scratch_used);
    } else {
        tali_state_scratch_release(state, mark);
    }
}
