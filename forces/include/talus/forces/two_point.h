// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_TWO_POINT_H
#define TALUS_FORCES_TWO_POINT_H

/**
 * @file talus/forces/two_point.h
 * @brief Forces along the line between two stations: spring, damper, constant force.
 *
 * With p the vector from station 1 to station 2, x = |p| their distance, d = p / x, and t the
 * tension, station 1 feels the force t d and station 2 the force -t d.
 *
 *                     tension t     potential energy     dissipated power
 *     spring          k (x - x0)    k (x - x0)^2 / 2     0
 *     damper          c xdot        0                    c xdot^2
 *     constant force  -f            0                    0
 *     law             f(x), or f(x, xdot)   0            0
 *
 * The work of a constant force and of a law counts as coming from outside: it has no potential
 * energy. Stations
 * that meet (closer than 1e-150 m) have no direction: there d is zero, so nothing pulls or pushes
 * and xdot counts as zero, while the energy of the spring is k x0^2 / 2 as it is nearby. The force
 * of a spring with a rest length jumps across that point, as does a constant force.
 *
 * The two bodies may be the same: then nothing moves by it.
 */

#include <talus/forces/params.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup twopoint Forces between two points
/// @{

/// Two stations, each from Bo in its body's frame B [m].
typedef struct tal_two_points {
    tal_body_ix body1;
    tal_vec3 p_B1;
    tal_body_ix body2;
    tal_vec3 p_B2;
} tal_two_points;

/// Parameters of all three: the stations, then numbers of their own.
enum {
    TAL_TWO_POINT_STATION_1 = 0, ///< x, y, z on body 1 [m]
    TAL_TWO_POINT_STATION_2 = 3, ///< x, y, z on body 2 [m]
    TAL_SPRING_STIFFNESS = 6,    ///< k of a spring [N/m], not negative
    TAL_SPRING_REST_LENGTH = 7,  ///< x0 of a spring [m], not negative
    TAL_DAMPER_DAMPING = 6,      ///< c of a damper [N s/m], not negative
    TAL_TWO_POINT_FORCE = 6      ///< f of a constant force [N]; positive drives the stations apart
};

/**
 * Add a linear spring.
 *
 * @param[in] name         NULL means "force<index>"
 * @param[in] stiffness    k [N/m]
 * @param[in] rest_length  x0 [m]
 * @return its index, `i` < 0 on failure
 */
TAL_API tal_force_ix tal_forces_add_two_point_spring(tal_forces *forces, const char *name,
                                                     const tal_two_points *points, double stiffness,
                                                     double rest_length);

/// Add a linear damper.
/// @param[in] damping  c [N s/m]
TAL_API tal_force_ix tal_forces_add_two_point_damper(tal_forces *forces, const char *name,
                                                     const tal_two_points *points, double damping);

/// Add a force of constant size.
/// @param[in] force  f [N]; positive drives the stations apart
TAL_API tal_force_ix tal_forces_add_two_point_force(tal_forces *forces, const char *name,
                                                    const tal_two_points *points, double force);

/// Add a tension as a function of the distance, or of the distance and its rate. Its parameters are
/// the stations.
/// @param[in] tension  f(x) or f(x, xdot) [N], with a first derivative; positive pulls the stations
///                     together; adopted whether the call succeeds or not
TAL_API tal_force_ix tal_forces_add_two_point_law(tal_forces *forces, const char *name,
                                                  const tal_two_points *points,
                                                  tal_function *tension);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_TWO_POINT_H
