// Cache entries as a layer above may reach those of its own subsystem.
#ifndef TALUS_CACHE_INTERNAL_H
#define TALUS_CACHE_INTERNAL_H

#include <talus/state/state.h>

/**
 * A cache entry that is known to be valid, without looking at its stamps: inside the calc function of
 * an entry that names it as a prerequisite, or after a check of such an entry, for an entry is valid
 * only while all that it rests on are. Debug builds look all the same.
 *
 * @return borrowed; never NULL
 */
const void *tali_cache_at(const tal_system *system, const tal_state *state, tal_cache_ix entry);

/// The same for the owner of an entry that no other rests on, who adds to it while it stays valid.
void *tali_cache_upd_at(const tal_system *system, tal_state *state, tal_cache_ix entry);

/// The stage that is being climbed to while a stage is realized, so that what will be needed there can
/// be computed on the way where that is cheaper; TAL_STAGE_EMPTY when none is.
tal_stage tali_state_goal(const tal_state *state);

#endif // TALUS_CACHE_INTERNAL_H
