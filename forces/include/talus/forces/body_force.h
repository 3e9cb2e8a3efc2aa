// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_BODY_FORCE_H
#define TALUS_FORCES_BODY_FORCE_H

/**
 * @file talus/forces/body_force.h
 * @brief A force and a torque on one body that are constant in Ground, or in the frame of a body.
 *
 * Their work counts as external: they have no potential energy and no dissipated power.
 */

#include <talus/forces/params.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup bodyforce Constant force and torque on a body
/// @{

/// Parameters of a constant force.
enum {
    TAL_CONSTANT_FORCE_STATION = 0, ///< x, y, z from Bo in B [m]
    TAL_CONSTANT_FORCE_FORCE = 3    ///< x, y, z in Ground, or in the body that it turns with [N]
};

/// Parameters of a constant torque.
enum {
    TAL_CONSTANT_TORQUE_TORQUE = 0 ///< x, y, z in Ground, or in the body that it turns with [N m]
};

/**
 * Add a constant force at a station of a body.
 *
 * @param[in] name  NULL means "force<index>"
 * @param[in] p_BS  the station, from Bo in B [m]
 * @param[in] f_G   the force, in Ground [N]
 * @return its index, `i` < 0 on failure
 */
TAL_API tal_force_ix tal_forces_add_constant_force(tal_forces *forces, const char *name,
                                                   tal_body_ix body, tal_vec3 p_BS, tal_vec3 f_G);

/// Add a constant torque on a body.
/// @param[in] m_G  in Ground [N m]
TAL_API tal_force_ix tal_forces_add_constant_torque(tal_forces *forces, const char *name,
                                                    tal_body_ix body, tal_vec3 m_G);

/// The same with a force that turns with a body, which may be the one that it acts on: a thruster.
/// That body feels no reaction.
/// @param[in] in  the body in whose frame the force is constant
/// @param[in] f   the force, in that frame [N]
TAL_API tal_force_ix tal_forces_add_constant_force_in(tal_forces *forces, const char *name,
                                                      tal_body_ix body, tal_vec3 p_BS,
                                                      tal_body_ix in, tal_vec3 f);

/// The same for a torque.
/// @param[in] m  in the frame of body `in` [N m]
TAL_API tal_force_ix tal_forces_add_constant_torque_in(tal_forces *forces, const char *name,
                                                       tal_body_ix body, tal_body_ix in,
                                                       tal_vec3 m);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_BODY_FORCE_H
