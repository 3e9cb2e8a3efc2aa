// Unchecked access for the layers above to what belongs to their own subsystems: cache entries that
// are known to be valid, variables that are known to exist, slots that are known to be sized.
#ifndef TALUS_CACHE_INTERNAL_H
#define TALUS_CACHE_INTERNAL_H

#include <talus/common/status.h>
#include <talus/state/state.h>

#include <assert.h>

/// Offsets in a State, in bytes from its start: known once the topology is realized, and the same
/// for every State of a System. The first member of a System, so that a lookup needs no call.
typedef struct tali_cache_places {
    size_t *entries; ///< [entries] cache entries
    size_t *vars;    ///< [vars] values of discrete variables
} tali_cache_places;

TAL_ALWAYS_INLINE const tali_cache_places *tali_cache_places_of(const tal_system *system)
{
    return (const tali_cache_places *)(const void *)system;
}

/**
 * A cache entry that is known to be valid, without looking at its stamps: inside the calc function
 * of an entry that names it as a prerequisite, or after a check of such an entry, for an entry is
 * valid only while all that it rests on are. Debug builds check nevertheless.
 *
 * @return borrowed; never NULL
 */
TAL_ALWAYS_INLINE const void *tali_cache_at(const tal_system *system, const tal_state *state,
                                            tal_cache_ix entry)
{
    assert(tal_cache_is_valid(system, state, entry));
    return (const char *)state + tali_cache_places_of(system)->entries[entry.i];
}

/// The same for the owner of an entry that no other rests on, who adds to it while it stays valid.
TAL_ALWAYS_INLINE void *tali_cache_upd_at(const tal_system *system, tal_state *state,
                                          tal_cache_ix entry)
{
    assert(tal_cache_is_valid(system, state, entry));
    return (char *)state + tali_cache_places_of(system)->entries[entry.i];
}

/// @name Writing an entry
/// tal_cache_upd() and tal_cache_mark_valid() without their checks. Between the two the entry is
/// out of date; at the end the entries it rests on must be valid.
/// @{
void *tali_cache_begin(const tal_system *system, tal_state *state, tal_cache_ix entry);
void tali_cache_end(const tal_system *system, tal_state *state, tal_cache_ix entry);

/// @}

/// The value of a discrete variable of a State that belongs to the System and has reached the stage
/// at which the variable begins to exist. Borrowed; never NULL.
TAL_ALWAYS_INLINE const void *tali_cache_var_in(const tal_system *system, const tal_state *state,
                                                tal_var_ix var)
{
    assert(tal_var_value(system, state, var) != NULL);
    return (const char *)state + tali_cache_places_of(system)->vars[var.i];
}

/// @name Asking on behalf of a public function
/// tal_cache_value(), tal_var_value() and tal_var_upd() for public functions that ask on: a breach
/// names `where`, the function that the user called.
/// @{
const void *tali_cache_read(const tal_system *system, const tal_state *state, tal_cache_ix entry,
                            const char *where);
const void *tali_cache_var_read(const tal_system *system, const tal_state *state, tal_var_ix var,
                                const char *where);
void *tali_cache_var_write(const tal_system *system, tal_state *state, tal_var_ix var,
                           const char *where);
/// @}

/// @name Slots of a group while their stage is realized
/// Of a State that belongs to the System: where its q, u or z, and their derivatives, begin.
/// @{
const double *tali_cache_group_y(const tal_system *system, const tal_state *state,
                                 tal_group_ix group);
double *tali_cache_group_ydot(const tal_system *system, tal_state *state, tal_group_ix group);
double *tali_cache_group_qdotdot(const tal_system *system, tal_state *state, tal_group_ix group);
/// @}

/// The stage that the present realization will end at, so that results needed there can be computed
/// on the way where that is cheaper; TAL_STAGE_EMPTY when the State is not being realized.
tal_stage tali_state_goal(const tal_state *state);

#endif // TALUS_CACHE_INTERNAL_H
