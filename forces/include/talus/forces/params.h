// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_PARAMS_H
#define TALUS_FORCES_PARAMS_H

/**
 * @file talus/forces/params.h
 * @brief Parameters of the built-in elements, in a State.
 *
 * Every built-in element but gravity (which has calls of its own) keeps its parameters as numbers
 * in the State. Each kind names them by an enum in its header, e.g. TAL_SPRING_STIFFNESS; a vector
 * takes three in a row, a frame twelve: the columns of R, then p.
 *
 *     tal_force_set_param(forces, state, spring, TAL_SPRING_STIFFNESS, 250.0);
 *
 * Parameters that say where an element is attached (stations, frames) invalidate
 * TAL_STAGE_INSTANCE. All others invalidate TAL_STAGE_DYNAMICS: poses and velocities stay, forces
 * are computed again.
 */

#include <talus/forces/force.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup forceparams Parameters of built-in elements
/// @{

/// Number of parameters of an element; 0 for gravity and elements of your own, -1 on a breach.
TAL_API int tal_force_num_params(const tal_forces *forces, tal_force_ix force);

/// Name of a parameter, e.g. "stiffness"; never NULL; borrowed.
TAL_API const char *tal_force_param_name(const tal_forces *forces, tal_force_ix force, int i);

/// The stage that setting a parameter invalidates; TAL_STAGE_EMPTY on a breach.
TAL_API tal_stage tal_force_param_stage(const tal_forces *forces, tal_force_ix force, int i);

/// One parameter. NaN on a breach.
TAL_API double tal_force_param(const tal_forces *forces, const tal_state *state, tal_force_ix force,
                               int i);

/// Set one parameter. A value that the element cannot use is refused, with a sentence that names
/// it, and nothing changes.
TAL_API tal_status tal_force_set_param(const tal_forces *forces, tal_state *state,
                                       tal_force_ix force, int i, double value);

/// Set `n` >= 1 parameters from the `first` on, together: three for a vector, twelve for a frame,
/// or two that only make sense with each other.
/// @param[in] values  [n]
TAL_API tal_status tal_force_set_params(const tal_forces *forces, tal_state *state,
                                        tal_force_ix force, int first, const double values[],
                                        int n);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_PARAMS_H
