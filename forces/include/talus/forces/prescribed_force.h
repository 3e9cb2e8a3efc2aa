// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_PRESCRIBED_FORCE_H
#define TALUS_FORCES_PRESCRIBED_FORCE_H

/**
 * @file talus/forces/prescribed_force.h
 * @brief A force and a torque on a body that are functions of time: external loads.
 *
 * Force, torque and the point where the force acts each have three components, functions of time
 * or zero. Each is given in the frame of a body: a ground reaction force in Ground with a point in
 * Ground, a thrust in the frame of the body that it drives.
 *
 * From a table of numbers, as force plates give it, each component is the natural cubic spline
 * through its samples: with two or three samples straight lines, with one a constant.
 *
 * Its work counts as external: it has no potential energy and no dissipated power.
 */

#include <talus/forces/force.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup prescribedforce Forces that are functions of time
/// @{

/// What acts, and where. Obtain the def from tal_prescribed_force_def_default(), then edit.
typedef struct tal_prescribed_force_def {
    tal_body_ix body;        ///< that feels it
    tal_body_ix force_frame; ///< whose axes force and torque are given in; Ground
    tal_body_ix point_frame; ///< whose frame the point is given in; `i` < 0: the body itself
    tal_function *force[3];  ///< along x, y, z [N], of one argument: time; NULL: zero. Adopted
    tal_function *point[3];  ///< where the force acts [m]; NULL: zero, the frame's origin. Adopted
    tal_function *torque[3]; ///< about x, y, z [N m]; NULL: zero. Adopted
} tal_prescribed_force_def;

/// In Ground, at the origin of the body, no forces yet.
TAL_API tal_prescribed_force_def tal_prescribed_force_def_default(void);

/// Add a force and a torque that are functions of time. All functions of `def` are adopted whether
/// the call succeeds or not.
/// @return its index, `i` < 0 on failure
TAL_API tal_force_ix tal_forces_add_prescribed_force(tal_forces *forces, const char *name,
                                                     const tal_prescribed_force_def *def);

/// Samples of an external load. Obtain the def from tal_external_load_def_default(), then edit.
typedef struct tal_external_load_def {
    tal_body_ix body;        ///< that feels it
    tal_body_ix force_frame; ///< whose axes force and torque are given in; Ground
    tal_body_ix point_frame; ///< whose frame the point is given in; Ground
    const double *times;     ///< [count] increasing [s]; copied
    int count;               ///< samples, 1 or more
    const double *force;     ///< [count][3] [N]; copied
    const double *point;     ///< [count][3] [m]; NULL: the origin of `body`; copied
    const double *torque;    ///< [count][3] [N m]; NULL: zero; copied
} tal_external_load_def;

/// In Ground, no samples yet.
TAL_API tal_external_load_def tal_external_load_def_default(void);

/// Add a load from samples: a prescribed force whose functions are curves through them.
TAL_API tal_force_ix tal_forces_add_external_load(tal_forces *forces, const char *name,
                                                  const tal_external_load_def *def);

/// Force, point and torque at the State's time, in Ground; the torque belongs to no point. Needs
/// TAL_STAGE_POSITION; NaN on a breach.
typedef struct tal_prescribed_force_value {
    tal_vec3 force;  ///< [N]
    tal_vec3 point;  ///< [m]
    tal_vec3 torque; ///< [N m]
} tal_prescribed_force_value;

TAL_API tal_prescribed_force_value tal_prescribed_force_at(const tal_forces *forces,
                                                           tal_state *state, tal_force_ix force);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_PRESCRIBED_FORCE_H
