// What a time stepper watches of all unilateral elements at once, for study/.
#ifndef TALUS_UNILATERAL_WATCH_INTERNAL_H
#define TALUS_UNILATERAL_WATCH_INTERNAL_H

#include <talus/matter/unilateral.h>

/// Normal forces of elements that are on, and how much friction is left of those that stick,
/// limit + mu_s pi_N - |pi_T|; INFINITY where there is none. Up to TAL_STAGE_ACCELERATION.
///
/// @param[out] normal  [tal_matter_num_unilaterals()]
/// @param[out] left    [tal_matter_num_unilaterals()]
/// @return whether they could be computed; the reason is in the State
bool tali_matter_watch_unilaterals(const tal_matter *matter, tal_state *state, double normal[],
                                   double left[]);

#endif // TALUS_UNILATERAL_WATCH_INTERNAL_H
