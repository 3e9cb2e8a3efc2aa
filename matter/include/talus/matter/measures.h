// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_MEASURES_H
#define TALUS_MATTER_MEASURES_H

/**
 * @file talus/matter/measures.h
 * @brief Measures of mechanical quantities: coordinates, speeds, points, multipliers, contacts,
 * energy.
 *
 *     const tal_vec3 up = tal_v3(0.0, 1.0, 0.0);
 *     tal_measure_ix height =
 *         tal_measure_add_station(matter, "height", ball, center, TAL_GROUND, up);
 *     tal_measure_ix peak =
 *         tal_measure_add_extreme(system, me, "peak", TAL_EXTREME_MAXIMUM, height);
 *
 * Each is one number, owned by the matter, and like every measure (talus/state/measure.h) it can be
 * an operand of others, drive an actuator, end a run (talus/study/events.h) or be a column of a
 * result. Time derivatives are exact. Adding is sticky, as all building is.
 */

#include <talus/matter/unilateral.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup mattermeasures Measures of matter
/// `i` < 0 after a failure. A `name` of NULL means "measure<index>".
/// @{

/// Coordinate `at.i` of a body, numbered as in the State. Stages Position, Velocity, Acceleration
/// for value, first and second derivative. A coordinate that the body does not have in a State
/// (there are fewer angles than parts of a quaternion) fails there with TAL_ERR_BAD_INDEX.
TAL_API tal_measure_ix tal_measure_add_coordinate(tal_matter *matter, const char *name,
                                                  tal_mobility at);

/// Speed `at.i` of a body. Stages Velocity, and Acceleration for its derivative.
TAL_API tal_measure_ix tal_measure_add_speed(tal_matter *matter, const char *name, tal_mobility at);

/**
 * How far a station S of body B is along a direction, from the origin of body A [m].
 *
 * Two derivatives, as an observer on A sees them. Stages Position, Velocity, Acceleration.
 *
 * @param[in] p_BS       from Bo, in B [m]
 * @param[in] direction  in A, of any length except zero: made a unit vector
 */
TAL_API tal_measure_ix tal_measure_add_station(tal_matter *matter, const char *name, tal_body_ix B,
                                               tal_vec3 p_BS, tal_body_ix A, tal_vec3 direction);

/// Distance of station S of body B and station T of body C [m]. Two derivatives; stages as for a
/// station.
TAL_API tal_measure_ix tal_measure_add_distance(tal_matter *matter, const char *name, tal_body_ix B,
                                                tal_vec3 p_BS, tal_body_ix C, tal_vec3 p_CT);

/// A multiplier of a constraint. Rows are numbered through its equations on positions, then those
/// on velocities, then those on accelerations. Zero while the constraint is disabled. Stage
/// Acceleration, no derivatives.
TAL_API tal_measure_ix tal_measure_add_multiplier(tal_matter *matter, const char *name,
                                                  tal_constraint_ix constraint, int row);

/// Coordinate `i` of a joint that closes a loop, as tal_constraint_calc_coordinates() numbers them
/// [rad or m]. One derivative. Stages Position, Velocity. A force on it: a bushing between the same
/// frames, or an actuator between the bodies (RBDA sec. 8.6).
TAL_API tal_measure_ix tal_measure_add_loop_coordinate(tal_matter *matter, const char *name,
                                                       tal_constraint_ix constraint, int i);

/// What can be measured of a unilateral element (talus/matter/unilateral.h).
typedef enum tal_unilateral_quantity {
    TAL_UNILATERAL_GAP,      ///< [m or rad] not of a ratchet; Position, and two derivatives
    TAL_UNILATERAL_SPEED,    ///< [m/s or rad/s] its rate, a ratchet's speed; Velocity, and one
    TAL_UNILATERAL_FORCE,    ///< [N or N m] pi_N; Acceleration
    TAL_UNILATERAL_FRICTION, ///< [N or N m] |pi_T|; Acceleration
    TAL_UNILATERAL_IMPULSE,  ///< [N s] of its last impact, 0 before that; Report
    TAL_UNILATERAL_MODE      ///< a ::tal_unilateral_mode as a number; Instance
} tal_unilateral_quantity;

/// A quantity of a unilateral element. An element without a normal has no gap and no speed.
TAL_API tal_measure_ix tal_measure_add_unilateral(tal_matter *matter, const char *name,
                                                  tal_unilateral_ix element,
                                                  tal_unilateral_quantity quantity);

/// Kinetic energy of all bodies [J]. Stage Velocity, no derivatives.
TAL_API tal_measure_ix tal_measure_add_kinetic_energy(tal_matter *matter, const char *name);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_MEASURES_H
