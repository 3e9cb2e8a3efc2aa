// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_ACTUATOR_H
#define TALUS_FORCES_ACTUATOR_H

/**
 * @file talus/forces/actuator.h
 * @brief Actuators driven by a control: a force along a speed, at a point or between two, a torque
 *        between two bodies, or a moment and a force on a body.
 *
 *     output = gain * control
 *
 * The control is a sum: the parameter TAL_ACTUATOR_CONTROL, which the program sets in the State
 * between steps, a measure of size one that needs at most TAL_STAGE_VELOCITY (`i` < 0: none), and
 * controllers (talus/forces/control.h), kept in a range. A body actuator has six controls, which a
 * measure of size six gives, or, where there is none, its parameters.
 *
 *     tal_forces_add_mobility_actuator(forces, "knee motor", knee, 40.0, no_measure);
 *     ...
 *     tal_force_set_param(forces, state, motor, TAL_ACTUATOR_CONTROL, 0.7);
 *
 * The work of actuators counts as external: they have no potential energy and no dissipated power.
 */

#include <talus/forces/params.h>
#include <talus/forces/two_point.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup actuator Actuators
/// @{

/// Parameters of a mobility actuator.
enum {
    TAL_ACTUATOR_GAIN = 0,    ///< output per control [N or N m]
    TAL_ACTUATOR_CONTROL = 1, ///< what the program adds to measure and controllers
                              ///< (talus/forces/control.h); initially zero
    TAL_ACTUATOR_LEAST = 2,   ///< the sum is not below this; initially -infinity
    TAL_ACTUATOR_LARGEST = 3  ///< the sum is not above this; initially infinity
};

/// Parameters of a point actuator.
enum {
    TAL_POINT_ACTUATOR_STATION = 0, ///< x, y, z from Bo in B [m]
    /// x, y, z; of any length except zero: only the direction is used
    TAL_POINT_ACTUATOR_DIRECTION = 3,
    TAL_POINT_ACTUATOR_GAIN = 6,    ///< [N]
    TAL_POINT_ACTUATOR_CONTROL = 7, ///< as TAL_ACTUATOR_CONTROL
    TAL_POINT_ACTUATOR_LEAST = 8,
    TAL_POINT_ACTUATOR_LARGEST = 9
};

/// Parameters of a torque actuator.
enum {
    TAL_TORQUE_ACTUATOR_AXIS = 0,    ///< x, y, z in body 1; of any length except zero
    TAL_TORQUE_ACTUATOR_GAIN = 3,    ///< [N m]
    TAL_TORQUE_ACTUATOR_CONTROL = 4, ///< as TAL_ACTUATOR_CONTROL
    TAL_TORQUE_ACTUATOR_LEAST = 5,
    TAL_TORQUE_ACTUATOR_LARGEST = 6
};

/// Add a force along a speed.
/// @param[in] control  a measure that adds to its control; `i` < 0: none
/// @return its index, `i` < 0 on failure
TAL_API tal_force_ix tal_forces_add_mobility_actuator(tal_forces *forces, const char *name,
                                                      tal_mobility mobility, double gain,
                                                      tal_measure_ix control);

/// Parameters of an activation actuator.
enum {
    TAL_ACTIVATION_ACTUATOR_TIME = 0,    ///< tau [s], positive
    TAL_ACTIVATION_ACTUATOR_GAIN = 1,    ///< [N or N m]
    TAL_ACTIVATION_ACTUATOR_CONTROL = 2, ///< x, as TAL_ACTUATOR_CONTROL
    TAL_ACTIVATION_ACTUATOR_LEAST = 3,
    TAL_ACTIVATION_ACTUATOR_LARGEST = 4
};

/// Add a force along a speed that follows its control with a delay: gain * a, with
/// da/dt = (x - a) / tau. The activation a is the z "<element>.activation", initially zero.
/// @param[in] time     tau [s], positive
/// @param[in] control  a measure that adds to its control; `i` < 0: none
TAL_API tal_force_ix tal_forces_add_activation_actuator(tal_forces *forces, const char *name,
                                                        tal_mobility mobility, double gain,
                                                        double time, tal_measure_ix control);

/// Where a point actuator pushes, and in which direction.
typedef struct tal_push {
    tal_body_ix body;
    tal_vec3 p_BS;      ///< the station, from Bo in B [m]
    tal_vec3 direction; ///< in Ground, or in B; of any length except zero
    bool in_body;       ///< the direction is given in B and turns with it
    /// `p_BS` is given from Go in Ground, where the force acts whatever the body does
    bool point_in_ground;
} tal_push;

/// Add a force at a station of a body. No other body feels a reaction.
TAL_API tal_force_ix tal_forces_add_point_actuator(tal_forces *forces, const char *name,
                                                   const tal_push *push, double gain,
                                                   tal_measure_ix control);

/// Parameters of a two-point actuator, behind the stations of tal_two_points.
enum {
    TAL_TWO_POINT_ACTUATOR_GAIN = 6,    ///< [N]; positive output drives the stations apart
    TAL_TWO_POINT_ACTUATOR_CONTROL = 7, ///< as TAL_ACTUATOR_CONTROL
    TAL_TWO_POINT_ACTUATOR_LEAST = 8,
    TAL_TWO_POINT_ACTUATOR_LARGEST = 9
};

/// Add a force between two stations, along the line between them: a cylinder, a cable that is
/// pulled where the output is negative.
TAL_API tal_force_ix tal_forces_add_two_point_actuator(tal_forces *forces, const char *name,
                                                       const tal_two_points *points, double gain,
                                                       tal_measure_ix control);

/// What a torque actuator turns.
typedef struct tal_twist {
    tal_body_ix body1; ///< feels the opposite torque; may be Ground
    tal_body_ix body2; ///< feels the torque
    tal_vec3 axis;     ///< in body 1, with which it turns; of any length except zero
    bool in_ground;    ///< the axis is given in Ground
} tal_twist;

/// Add a torque on body 2 about an axis of body 1, which feels the opposite.
TAL_API tal_force_ix tal_forces_add_torque_actuator(tal_forces *forces, const char *name,
                                                    const tal_twist *twist, double gain,
                                                    tal_measure_ix control);

/// Parameters of a body actuator.
enum {
    TAL_BODY_ACTUATOR_STATION = 0, ///< x, y, z from Bo in B [m]
    TAL_BODY_ACTUATOR_GAIN = 3,    ///< output per control
    TAL_BODY_ACTUATOR_CONTROL = 4  ///< six controls, of the moment and of the force along x, y, z,
                                   ///< where no measure gives them; initially zero
};

/// Where a body actuator acts.
typedef struct tal_thrust {
    tal_body_ix body;
    tal_vec3 p_BS; ///< the station about which the moment is taken and where the force acts [m]
    bool in_body;  ///< moment and force are given in B and turn with it; otherwise in Ground
} tal_thrust;

/// Add a moment and a force on a body, with a control for each of the six components. No other body
/// feels a reaction.
/// @param[in] control  a measure of size six, at Velocity or before; `i` < 0: the parameters are
///                     the controls
TAL_API tal_force_ix tal_forces_add_body_actuator(tal_forces *forces, const char *name,
                                                  const tal_thrust *thrust, double gain,
                                                  tal_measure_ix control);

/// Output of a body actuator: gain * controls, in the frame they are given in [N m, N]. Needs the
/// stage of its measure; NaN on failure.
TAL_API tal_spatial_vec tal_body_actuator_output(const tal_forces *forces, tal_state *state,
                                                 tal_force_ix force);

/// Output of any other actuator: gain * control [N or N m]. Needs the stage of its measure, and
/// TAL_STAGE_VELOCITY where the subsystem has controllers; NaN on failure.
TAL_API double tal_actuator_output(const tal_forces *forces, tal_state *state, tal_force_ix force);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_ACTUATOR_H
