// Cache entries in a State. One rule decides whether a result may be read:
//
//     it is newer than the last realization of the stage it depends on,
//     and newer than everything else it was computed from.
//
// "Newer" compares stamps of one clock that only goes forward, so a stale read is impossible. It
// follows that where an entry is valid, so are all entries it rests on.
#include "state/state_internal.h"

#include <assert.h>

// True when the entry exists in this State; otherwise a breach has been reported.
TAL_ALWAYS_INLINE bool exists(const tal_system *system, const tal_state *state, tal_cache_ix entry,
                              const char *where)
{
    if (system == NULL || state == NULL || !system->has_topology || system->hash != state->hash) {
        return tali_state_breach_system(system, state, where);
    }
    return tali_system_has_element(system, &system->entries, entry.i, "cache entry", where);
}

// Says that an entry cannot be used at this stage.
static tal_status breach_too_low(const tal_system *system, const tal_state *state, int entry,
                                 const char *where)
{
    const tali_system_entry *declared = tali_system_entry_at(system, entry);
    return tali_breach(TAL_ERR_STAGE, where,
                       "'%s' of subsystem '%s' needs stage %s, but the State has reached only %s",
                       declared->element.name,
                       tali_system_subsystem_at(system, declared->element.owner)->element.name,
                       tal_stage_name(declared->depends_on),
                       tal_stage_name(tali_state_level(state)));
}

bool tal_cache_is_valid(const tal_system *system, const tal_state *state, tal_cache_ix entry)
{
    return exists(system, state, entry, __func__) &&
           tali_state_entry_is_valid(system, state, entry.i);
}

// Says that an entry is not valid, and what to do; always NULL.
static const void *breach_out_of_date(const tal_system *system, const tal_state *state, int entry,
                                      const char *where)
{
    const tali_system_entry *declared = tali_system_entry_at(system, entry);
    if (tali_state_level(state) < declared->depends_on) {
        (void)breach_too_low(system, state, entry, where);
        return NULL;
    }
    (void)tali_breach(
        TAL_ERR_STAGE, where, "'%s' of subsystem '%s' is out of date at stage %s: realize %s",
        declared->element.name,
        tali_system_subsystem_at(system, declared->element.owner)->element.name,
        tal_stage_name(tali_state_level(state)),
        declared->computed_by == TAL_STAGE_INFINITY ? "it with tal_cache_realize"
                                                    : tal_stage_name(declared->computed_by));
    return NULL;
}

// The value of an entry that its stage does not guarantee. Out of line, so that the common path,
// where the stage does, stays short.
TALI_NOINLINE static const void *value_if_valid(const tal_system *system, const tal_state *state,
                                                int entry, const char *where)
{
    if (!tali_state_entry_is_valid(system, state, entry)) {
        return breach_out_of_date(system, state, entry, where);
    }
    return tali_state_cpart(state, tali_system_entry_at(system, entry)->offset);
}

const void *tali_cache_read(const tal_system *system, const tal_state *state, tal_cache_ix entry,
                            const char *where)
{
    if (!exists(system, state, entry, where)) return NULL;
    if (!tali_state_entry_is_promised(system, state, entry.i)) {
        return value_if_valid(system, state, entry.i, where);
    }
    return tali_state_cpart(state, tali_system_entry_at(system, entry.i)->offset);
}

const void *tal_cache_value(const tal_system *system, const tal_state *state, tal_cache_ix entry)
{
    return tali_cache_read(system, state, entry, __func__);
}

// Compute an entry by its function, and mark it valid. NULL on failure, which is recorded.
static void *calc_entry(const tal_system *system, tal_state *state, int entry)
{
    const tali_system_entry *declared = tali_system_entry_at(system, entry);
    const tali_system_subsystem *owner = tali_system_subsystem_at(system, declared->element.owner);
    const void *context = declared->context != NULL ? declared->context : owner->self;
    void *value = tali_state_part(state, declared->offset);
    uint8_t *busy = tali_state_part(state, state->at.busy);

    const size_t mark = state->scratch_used;
    tali_state_entry_stamps(state)[entry] = 0;
    busy[entry] = 1;
    ++tali_state_core_of(state)->calculating;
    const tal_status st = declared->calc(context, system, state, value);
    --tali_state_core_of(state)->calculating;
    busy[entry] = 0;
    tali_state_scratch_release(state, mark);
    if (st != TAL_OK) {
        (void)tali_fail(&state->error, st, "tal_cache_realize",
                        "'%s' of subsystem '%s' could not be computed (%s)", declared->element.name,
                        owner->element.name, tal_status_text(st));
        return NULL;
    }
    ++state->stats.lazy_calcs;
    tali_state_entry_stamps(state)[entry] = tali_state_tick(state);
    return value;
}

// Says why an entry that is out of date cannot be computed; always NULL.
static void *refuse_calc(const tal_system *system, tal_state *state, int entry, const char *where)
{
    const tali_system_entry *declared = tali_system_entry_at(system, entry);
    const char *owner = tali_system_subsystem_at(system, declared->element.owner)->element.name;
    tal_status broken;
    if (tali_state_level(state) < declared->depends_on) {
        broken = breach_too_low(system, state, entry, where);
    } else if (declared->calc == NULL) {
        broken = tali_breach(TAL_ERR_STAGE, where,
                             "'%s' of subsystem '%s' is out of date, and only its owner writes it",
                             declared->element.name, owner);
    } else {
        broken = tali_breach(TAL_ERR_CALLBACK, where, "'%s' of subsystem '%s' depends on itself",
                             declared->element.name, owner);
    }
    (void)tali_fail(&state->error, broken, where, "%s", tal_contract_last()->message);
    return NULL;
}

// Compute one entry that is out of date and whose prerequisites are valid.
static void *bring_up_to_date(const tal_system *system, tal_state *state, int entry,
                              const char *where)
{
    const tali_system_entry *declared = tali_system_entry_at(system, entry);
    const uint8_t *busy = tali_state_cpart(state, state->at.busy);
    if (tali_state_level(state) < declared->depends_on || declared->calc == NULL ||
        busy[entry] != 0) {
        return refuse_calc(system, state, entry, where);
    }
    return calc_entry(system, state, entry);
}

// A prerequisite of the entry that is out of date, -1 for none. It is enough to look at those named
// in its declaration: where these are valid, so is everything they rest on.
static int stale_prereq(const tal_system *system, const tal_state *state,
                        const tali_system_entry *entry)
{
    const int *direct = system->direct.items;
    const int end = entry->first_direct + entry->num_direct;
    for (int k = entry->first_direct; k < end; ++k) {
        if (!tali_state_entry_is_valid(system, state, direct[k])) return direct[k];
    }
    return -1;
}

// The list of prerequisites holds indirect ones too and is sorted, and an entry needs only earlier
// ones, so going through it once is enough.
static bool bring_prereqs_up_to_date(const tal_system *system, tal_state *state,
                                     const tali_system_entry *entry, const char *where)
{
    for (int k = 0; k < entry->num_prereqs; ++k) {
        const tal_prereq prereq = tali_system_prereq_at(system, entry->first_prereq + k)->on;
        if (prereq.kind != TAL_PREREQ_CACHE) continue;
        if (tali_state_entry_is_valid(system, state, prereq.i)) continue;
        if (bring_up_to_date(system, state, prereq.i, where) == NULL) return false;
    }
    return true;
}

// A prerequisite entry must be valid before the one that needs it is computed: otherwise that one
// would be out of date from the start.
void *tali_state_entry_realize(const tal_system *system, tal_state *state, int entry,
                               const char *where)
{
    const tali_system_entry *declared = tali_system_entry_at(system, entry);
    if (tali_state_entry_is_valid(system, state, entry)) {
        return tali_state_part(state, declared->offset);
    }
    if (stale_prereq(system, state, declared) >= 0 &&
        !bring_prereqs_up_to_date(system, state, declared, where)) {
        return NULL;
    }
    return bring_up_to_date(system, state, entry, where);
}

const void *tal_cache_realize(const tal_system *system, tal_state *state, tal_cache_ix entry)
{
    if (!exists(system, state, entry, __func__)) return NULL;
    const bool outermost = tali_state_ccore(state)->realizing == TAL_STAGE_EMPTY &&
                           tali_state_ccore(state)->calculating == 0;
    if (outermost) tali_state_clear_error(state);
    return tali_state_entry_realize(system, state, entry.i, __func__);
}

double tal_cache_realize_double(const tal_system *system, tal_state *state, tal_cache_ix entry)
{
    if (!exists(system, state, entry, __func__)) return TALI_NAN;
    const tali_system_entry *declared = tali_system_entry_at(system, entry.i);
    if (declared->size != sizeof(double)) {
        (void)TALI_BREACH(TAL_ERR_BAD_VALUE, "'%s' has %zu bytes: it is not one double",
                          declared->element.name, declared->size);
        return TALI_NAN;
    }
    const double *value = tal_cache_realize(system, state, entry);
    return value != NULL ? *value : TALI_NAN;
}

// The owner declares an entry out of date.
static void discard(const tal_system *system, tal_state *state, int entry)
{
    tali_state_entry_stamps(state)[entry] = 0;
    if (tali_system_entry_at(system, entry)->is_needed) {
        tali_state_core_of(state)->rewritten = tali_state_tick(state);
    }
}

void *tali_cache_begin(const tal_system *system, tal_state *state, tal_cache_ix entry)
{
    discard(system, state, entry.i);
    return tali_state_part(state, tali_system_entry_at(system, entry.i)->offset);
}

void tali_cache_end(const tal_system *system, tal_state *state, tal_cache_ix entry)
{
    assert(tali_state_level(state) >= tali_system_entry_at(system, entry.i)->depends_on);
    assert(stale_prereq(system, state, tali_system_entry_at(system, entry.i)) < 0);
    (void)system;
    tali_state_entry_stamps(state)[entry.i] = tali_state_tick(state);
}

void *tal_cache_upd(const tal_system *system, tal_state *state, tal_cache_ix entry)
{
    return exists(system, state, entry, __func__) ? tali_cache_begin(system, state, entry) : NULL;
}

tal_status tal_cache_mark_valid(const tal_system *system, tal_state *state, tal_cache_ix entry)
{
    if (!exists(system, state, entry, __func__)) return tali_state_breach_status();
    const tali_system_entry *declared = tali_system_entry_at(system, entry.i);
    if (tali_state_level(state) < declared->depends_on) {
        return breach_too_low(system, state, entry.i, __func__);
    }
    const int stale = stale_prereq(system, state, declared);
    if (stale >= 0) {
        return TALI_BREACH(
            TAL_ERR_STAGE, "'%s' cannot be valid: it needs '%s', which is out of date",
            declared->element.name, tali_system_entry_at(system, stale)->element.name);
    }
    tali_state_entry_stamps(state)[entry.i] = tali_state_tick(state);
    return TAL_OK;
}

tal_status tal_cache_invalidate(const tal_system *system, tal_state *state, tal_cache_ix entry)
{
    if (!exists(system, state, entry, __func__)) return tali_state_breach_status();
    discard(system, state, entry.i);
    return TAL_OK;
}
