// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_PATH_MEASURE_H
#define TALUS_FORCES_PATH_MEASURE_H

/**
 * @file talus/forces/path_measure.h
 * @brief Measures of paths: length, speed, tension.
 *
 * Measures (talus/state/measure.h) of these kinds belong to the force subsystem. They are added
 * after the path or element that they are of.
 */

#include <talus/forces/path_force.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup pathmeasure Measures of paths
/// @{

/// Length of a path [m]. One derivative. Stages Position, and Velocity for its derivative.
TAL_API tal_measure_ix tal_measure_add_path_length(tal_forces *forces, const char *name,
                                                   tal_path_ix path);

/// dl/dt of a path [m/s]. Stage Velocity, no derivatives.
TAL_API tal_measure_ix tal_measure_add_path_speed(tal_forces *forces, const char *name,
                                                  tal_path_ix path);

/// Tension of a spring, ligament or actuator along a path (talus/forces/path_force.h) [N]. Stage
/// Dynamics, no derivatives.
TAL_API tal_measure_ix tal_measure_add_path_tension(tal_forces *forces, const char *name,
                                                    tal_force_ix force);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_PATH_MEASURE_H
