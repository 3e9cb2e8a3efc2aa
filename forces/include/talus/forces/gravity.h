// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_GRAVITY_H
#define TALUS_FORCES_GRAVITY_H

/**
 * @file talus/forces/gravity.h
 * @brief Uniform gravity: m g at every body's center of mass.
 *
 *     potential energy = -sum m (g . p_GC + |g| h0)
 *
 * with C the center of mass and h0 the height, measured against g, at which the energy is zero.
 * g and h0 are variables of the State that invalidate Dynamics; excluding a body invalidates
 * Instance.
 */

#include <talus/forces/force.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup gravity Gravity
/// @{

/**
 * Add uniform gravity, named "gravity".
 *
 * @param[in] g  acceleration of free fall, in Ground [m/s^2]
 * @return its index, `i` < 0 on failure
 */
TAL_API tal_force_ix tal_forces_add_gravity(tal_forces *forces, tal_vec3 g);

/// Uniform gravity as it is added. Obtain it from tal_gravity_def_default(), then edit.
typedef struct tal_gravity_def {
    const char *name;   ///< unique among the elements; NULL means "gravity"; copied
    tal_vec3 g;         ///< acceleration of free fall, in Ground [m/s^2]
    double zero_height; ///< h0 [m]: the height, against g, of zero potential energy
} tal_gravity_def;

/// No gravity, energy zero at height zero.
TAL_API tal_gravity_def tal_gravity_def_default(void);

/// Add uniform gravity by its definition. Every State starts with its g and zero height.
/// @return its index, `i` < 0 on failure
TAL_API tal_force_ix tal_forces_add_gravity_def(tal_forces *forces, const tal_gravity_def *def);

/// The acceleration of free fall, in Ground [m/s^2]. NaN on a breach.
TAL_API tal_vec3 tal_gravity_g(const tal_forces *forces, const tal_state *state,
                               tal_force_ix gravity);
/// Set it; invalidates TAL_STAGE_DYNAMICS. A value that is not finite is refused.
TAL_API tal_status tal_gravity_set_g(const tal_forces *forces, tal_state *state,
                                     tal_force_ix gravity, tal_vec3 g);

/// The height h0 of zero potential energy [m]. NaN on a breach.
TAL_API double tal_gravity_zero_height(const tal_forces *forces, const tal_state *state,
                                       tal_force_ix gravity);
/// Set it; invalidates TAL_STAGE_DYNAMICS. A value that is not finite is refused.
TAL_API tal_status tal_gravity_set_zero_height(const tal_forces *forces, tal_state *state,
                                               tal_force_ix gravity, double height);

/// Whether a body feels no gravity. False on a breach.
TAL_API bool tal_gravity_is_excluded(const tal_forces *forces, const tal_state *state,
                                     tal_force_ix gravity, tal_body_ix body);
/// Exclude a body, or include it again; invalidates TAL_STAGE_INSTANCE.
TAL_API tal_status tal_gravity_set_excluded(const tal_forces *forces, tal_state *state,
                                            tal_force_ix gravity, tal_body_ix body, bool excluded);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_GRAVITY_H
