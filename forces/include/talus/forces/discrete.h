// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_DISCRETE_H
#define TALUS_FORCES_DISCRETE_H

/**
 * @file talus/forces/discrete.h
 * @brief Forces on any body and along any speed that the program sets in the State between steps.
 *
 * All are initially zero and stay as they are set. Setting one invalidates TAL_STAGE_DYNAMICS.
 * Their work counts as external: they have no potential energy and no dissipated power.
 */

#include <talus/forces/force.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup discreteforce Discrete forces
/// @{

/// Add an element that holds a force for every body and every speed.
/// @return its index, `i` < 0 on failure
TAL_API tal_force_ix tal_forces_add_discrete(tal_forces *forces, const char *name);

/// The force on a body: moment about Bo and force, in Ground [N m, N]. NaN on a breach.
TAL_API tal_spatial_vec tal_discrete_body_force(const tal_forces *forces, const tal_state *state,
                                                tal_force_ix force, tal_body_ix body);

/// Set it. A value that is not finite is refused.
TAL_API tal_status tal_discrete_set_body_force(const tal_forces *forces, tal_state *state,
                                               tal_force_ix force, tal_body_ix body,
                                               tal_spatial_vec F_B_G);

/// The force along a speed [N or N m]. NaN on a breach.
TAL_API double tal_discrete_mobility_force(const tal_forces *forces, const tal_state *state,
                                           tal_force_ix force, tal_mobility mobility);

/// Set it. A value that is not finite is refused.
TAL_API tal_status tal_discrete_set_mobility_force(const tal_forces *forces, tal_state *state,
                                                   tal_force_ix force, tal_mobility mobility,
                                                   double f);

/// Set all of them to zero.
TAL_API tal_status tal_discrete_clear(const tal_forces *forces, tal_state *state,
                                      tal_force_ix force);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_DISCRETE_H
