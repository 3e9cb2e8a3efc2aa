// What a State is inside: a head that stays, and a block that copies with one memcpy.
#ifndef TALUS_STATE_INTERNAL_H
#define TALUS_STATE_INTERNAL_H

#include "system/system_internal.h"

#include <talus/state/state.h>

/// A group's slots in its pool.
typedef struct tali_state_slice {
    int32_t start;
    int32_t size; ///< -1 before the first sizing
} tali_state_slice;

/// When realization of a stage began that the State has not reached: no result is newer.
#define TALI_NEVER UINT64_MAX

/// Where a State is. One clock counts every change and every computation, so "computed after
/// everything it rests on changed" is one comparison of stamps.
typedef struct tali_state_core {
    tal_stage stage;     ///< every stage up to and including this one is realized
    tal_stage realizing; ///< the stage being realized; TAL_STAGE_EMPTY when none
    tal_stage low_water; ///< lowest stage invalidated since the watch began
    int calculating;     ///< depth of cache entries being computed
    uint64_t clock;
    /// When realization of each stage began; TALI_NEVER for stages that are not reached.
    uint64_t realized[TAL_NUM_STAGES];
    uint64_t t_stamp; ///< when t, q, u, z last changed
    uint64_t q_stamp;
    uint64_t u_stamp;
    uint64_t z_stamp;
    uint64_t rewritten; ///< when an owner last wrote or discarded an entry that others rest on
    int32_t size[TALI_NUM_POOLS];
    int32_t trigger_start[TAL_NUM_STAGES + 1]; ///< where the triggers of each stage begin
} tali_state_core;

/// The first variables of all.
typedef struct tali_state_times {
    double t;
    double t_prev;
} tali_state_times;

struct tal_state {
    uint64_t hash; ///< of the System's structure
    tal_allocator allocator;
    tali_system_layout at;
    tal_error error;
    bool pending; ///< the error is a setter's, to be returned by the next realize
    bool loading; ///< realizing Model must keep the values just read from a file
    tal_state_stats stats;
    size_t scratch_used;
    tal_stage goal; ///< the stage at which the present realization will end
    int running;    ///< the subsystem that realizes a stage at present
};

/// @name Parts of the block
/// @{
static inline void *tali_state_part(tal_state *state, size_t offset)
{
    return (char *)state + offset;
}

static inline const void *tali_state_cpart(const tal_state *state, size_t offset)
{
    return (const char *)state + offset;
}

/// The core is first, where the compiler can find it.
#define TALI_CORE_OFFSET tali_align(sizeof(tal_state))

static inline tali_state_core *tali_state_core_of(tal_state *state)
{
    return tali_state_part(state, TALI_CORE_OFFSET);
}

static inline const tali_state_core *tali_state_ccore(const tal_state *state)
{
    return tali_state_cpart(state, TALI_CORE_OFFSET);
}

static inline tali_state_times *tali_state_times_of(tal_state *state)
{
    return tali_state_part(state, state->at.variables);
}

static inline const tali_state_times *tali_state_ctimes(const tal_state *state)
{
    return tali_state_cpart(state, state->at.variables);
}

static inline const tali_state_slice *tali_state_cslices(const tal_state *state)
{
    return tali_state_cpart(state, state->at.slices);
}

/// Stamps of cache entries are next.
#define TALI_STAMPS_OFFSET (TALI_CORE_OFFSET + tali_align(sizeof(tali_state_core)))

static inline uint64_t *tali_state_entry_stamps(tal_state *state)
{
    return tali_state_part(state, TALI_STAMPS_OFFSET);
}

static inline uint64_t tali_state_entry_stamp(const tal_state *state, int entry)
{
    return ((const uint64_t *)tali_state_cpart(state, TALI_STAMPS_OFFSET))[entry];
}

/// @}

/// What is taken of the scratch memory is this many times as far apart as it is long, so that
/// there is a gap behind each piece where there are gaps at all.
#define TALI_SCRATCH_SPREAD (TALI_GAP > 0 ? 2 : 1)

/// Where the scratch memory continues after `used` bytes of it.
static inline void *tali_state_scratch_at(tal_state *state, size_t used)
{
    return tali_state_part(state, state->at.scratch + TALI_SCRATCH_SPREAD * used);
}

/// Give back what was taken since `mark`.
static inline void tali_state_scratch_release(tal_state *state, size_t mark)
{
    tali_alloc_close(tali_state_scratch_at(state, mark),
                     TALI_SCRATCH_SPREAD * (state->scratch_used - mark));
    state->scratch_used = mark;
}

/// The stage whose results may be read: inside a realize function, the one being realized.
static inline tal_stage tali_state_level(const tal_state *state)
{
    const tali_state_core *core = tali_state_ccore(state);
    return core->realizing > core->stage ? core->realizing : core->stage;
}

/// Public accessors open with this: true when the State is there and has reached `needed`. False
/// means a breach, which has been reported.
#define TALI_HAS_STAGE(state, needed)                                                              \
    (((state) != NULL && tali_state_level(state) >= (needed)) ||                                   \
     tali_state_breach_stage((state), (needed), __func__))

/// The same for what is cut into groups, which happens after the hooks of `needed` have run: the
/// hooks themselves would see how it was cut before.
#define TALI_IS_SIZED(state, needed)                                                               \
    (((state) != NULL && tali_state_ccore(state)->stage >= (needed)) ||                            \
     tali_state_breach_stage((state), (needed), __func__))

/// Tell the handler that the State is NULL or is too low; always false.
bool tali_state_breach_stage(const tal_state *state, tal_stage needed, const char *where) TALI_COLD;

/// True when System and State are there and belong together. Otherwise a breach has been reported.
#define TALI_BELONGS(system, state)                                                                \
    (((system) != NULL && (state) != NULL && (system)->has_topology &&                             \
      (system)->hash == (state)->hash) ||                                                          \
     tali_state_breach_system((system), (state), __func__))

bool tali_state_breach_system(const tal_system *system, const tal_state *state,
                              const char *where) TALI_COLD;

/// The status of the breach that TALI_BELONGS or TALI_HAS_STAGE has just reported.
static inline tal_status tali_state_breach_status(void)
{
    return tal_contract_last()->status;
}

/// Forget the last failure, unless a setter's is still to be returned.
static inline void tali_state_clear_error(tal_state *state)
{
    if (!state->pending) state->error.status = TAL_OK;
}

/// Record a setter's failure: it stays until the next realize returns it.
tal_status tali_state_set_fail(tal_state *state, tal_status status, const char *where,
                               const char *fmt, ...) TAL_PRINTF(4, 5);

/// The same for a setter's breach that was just reported.
void tali_state_keep_breach(tal_state *state);

/// True when variables may be written: not from inside a realization or a cache computation.
/// Otherwise a breach has been reported and the failure is pending.
bool tali_state_can_write(tal_state *state, const char *where);

/// Forget everything computed at `from` and later. Every setter calls it; nothing else lowers a
/// stage.
void tali_state_invalidate(tal_state *state, tal_stage from);

/// One more than any stamp given out so far.
static inline uint64_t tali_state_tick(tal_state *state)
{
    return ++tali_state_core_of(state)->clock;
}

/// True when the State has reached the stage that promises the entry, and no owner has rewritten an
/// entry since: a quick answer that spares the comparison of stamps.
TAL_ALWAYS_INLINE bool tali_state_entry_is_promised(const tal_system *system,
                                                    const tal_state *state, int i)
{
    const tali_state_core *core = tali_state_ccore(state);
    return core->stage >= tali_system_entry_at(system, i)->computed_by &&
           tali_state_entry_stamp(state, i) > core->rewritten;
}

/// True when an entry was computed from the State's present values: when everything it rests on is
/// older. A stamp of zero means never computed, or declared out of date; only entries have it. To
/// the entries that rest on it such a stamp must count as newer than any result, and zero minus
/// one, in unsigned arithmetic, does.
///
/// For an entry that the present stage promises, the prerequisites need not be compared. A change
/// of a variable would have lowered the stage, because tal_system_add_cache() refuses a promise by
/// a stage that is too early; and an entry can change without that only if its owner rewrites it.
TAL_ALWAYS_INLINE bool tali_state_entry_is_valid(const tal_system *system, const tal_state *state,
                                                 int i)
{
    const tali_system_entry *entry = tali_system_entry_at(system, i);
    const uint64_t stamp = tali_state_entry_stamp(state, i);
    if (tali_state_entry_is_promised(system, state, i)) return true;
    if (stamp <= tali_state_ccore(state)->realized[entry->depends_on]) return false;
    const tali_system_prereq *prereqs = tali_system_prereq_at(system, entry->first_prereq);
    for (int k = 0; k < entry->num_prereqs; ++k) {
        const uint64_t *changed = tali_state_cpart(state, prereqs[k].stamp);
        if (*changed - 1 >= stamp - 1) return false;
    }
    return true;
}

/// Compute the entry if it is out of date; NULL on failure, which is recorded.
void *tali_state_entry_realize(const tal_system *system, tal_state *state, int entry,
                               const char *where);

/// First byte of q, u, z in an array laid out like y.
size_t tali_state_pool_base(const tal_state *state, tal_pool pool);

/// @name Sizing groups, around the hooks of the Model and Instance stages
/// @{
void tali_state_partition_begin(const tal_system *system, tal_state *state, tal_stage stage);
void tali_state_partition_end(const tal_system *system, tal_state *state, tal_stage stage);
/// @}

/// Realize without looking at a pending failure.
tal_status tali_state_realize(const tal_system *system, tal_state *state, tal_stage stage);

/// Let the measures write their zdot, after all subsystems.
tal_status tali_state_measures_realize_acceleration(const tal_system *system, tal_state *state);

#endif // TALUS_STATE_INTERNAL_H
