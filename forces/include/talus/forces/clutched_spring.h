// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_CLUTCHED_SPRING_H
#define TALUS_FORCES_CLUTCHED_SPRING_H

/**
 * @file talus/forces/clutched_spring.h
 * @brief A spring along a path that a clutch engages.
 *
 *     tension = x k s max(0, 1 + c dl/dt),   x = the control in [0, 1],   s not below zero
 *     ds/dt = dl/dt while x > 0,   -s / tau otherwise
 *
 * The stretch s is a z, zero at first: the spring begins to pull where the clutch takes hold. Its
 * dissipated power is tension * dl/dt, negative while it does work: what a clutch stores depends on
 * its control.
 */

#include <talus/forces/params.h>
#include <talus/forces/path.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup clutchedspring Clutched spring
/// @{

/// Parameters of a clutched spring. All invalidate TAL_STAGE_DYNAMICS.
enum {
    TAL_CLUTCHED_SPRING_STIFFNESS = 0,   ///< k [N/m], not negative
    TAL_CLUTCHED_SPRING_DISSIPATION = 1, ///< c [s/m], not negative
    TAL_CLUTCHED_SPRING_RELAXATION = 2,  ///< tau [s], positive
    TAL_CLUTCHED_SPRING_CONTROL = 3,     ///< what the program adds to controllers; initially zero
    TAL_CLUTCHED_SPRING_LEAST = 4,       ///< of the control; initially 0
    TAL_CLUTCHED_SPRING_LARGEST = 5      ///< of the control; initially 1
};

/// What a clutched spring is made of.
typedef struct tal_clutched_spring {
    tal_path_ix path;
    double stiffness;   ///< k [N/m]
    double dissipation; ///< c [s/m]
    double relaxation;  ///< tau [s]
} tal_clutched_spring;

/// Add a clutched spring. It has a control (talus/forces/control.h).
/// @return its index, `i` < 0 on failure
TAL_API tal_force_ix tal_forces_add_clutched_spring(tal_forces *forces, const char *name,
                                                    const tal_clutched_spring *spring);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_CLUTCHED_SPRING_H
