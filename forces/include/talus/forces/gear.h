// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_GEAR_H
#define TALUS_FORCES_GEAR_H

/**
 * @file talus/forces/gear.h
 * @brief A torque on a body that a gear transmits from its parent: by a tooth, not by a couple.
 *
 * A pinion on the parent P meets a gear wheel of radius r, which is fixed on the body and centered
 * on z of the mobilizer's frame F. In F, with a the angle of the meeting point,
 *
 *     the body feels the force (tau / r) (sin a, -cos a, 0) at the point -r (cos a, sin a, 0)
 *
 * and the parent the opposite at the same point. The moment about z of F is tau whatever r is, so a
 * pin moves as under a mobility force tau; but its bearing must hold the tooth force too (RBDA ex.
 * 3.2, where a is zero). The work counts as coming from outside: no potential energy, no dissipated
 * power.
 */

#include <talus/forces/params.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup gear Gear transmission
/// @{

/// Parameters of a gear torque. All invalidate TAL_STAGE_DYNAMICS.
enum {
    TAL_GEAR_TORQUE = 0, ///< tau [N m]
    TAL_GEAR_RADIUS = 1, ///< r [m], positive
    TAL_GEAR_ANGLE = 2   ///< a [rad]
};

/// Add a torque that a gear transmits to a body from its parent. Ground has no parent and is
/// refused.
/// @return its index, `i` < 0 on failure
TAL_API tal_force_ix tal_forces_add_gear_torque(tal_forces *forces, const char *name,
                                                tal_body_ix body, double torque, double radius,
                                                double angle);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_GEAR_H
