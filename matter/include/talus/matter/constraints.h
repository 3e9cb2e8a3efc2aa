// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_CONSTRAINTS_H
#define TALUS_MATTER_CONSTRAINTS_H

/**
 * @file talus/matter/constraints.h
 * @brief The built-in constraints.
 *
 * Say what a constraint acts on, then add it with its geometry:
 *
 *     tal_constraint_def tie = tal_constraint_between(crank, piston);
 *     tie.name = "connecting rod";
 *     tal_constraint_add_rod(matter, &tie, pin_on_crank, pin_on_piston, 0.4);
 *
 * Body 1 is `bodies[0]`, body 2 `bodies[1]`. Stations, directions and frames are given in the frame B
 * of their body, in meters; directions have any length but zero. Errors and multipliers of the
 * equations, in the order given with each constraint, are in A, the outmost common ancestor, unless
 * another frame is named.
 *
 * All geometry is a parameter in the State: read it with tal_constraint_params(), set it with
 * tal_constraint_set_params(). The enumerators say where each number is: `TAL_ROD_STATION_2` is the
 * first of three doubles. A frame is twelve doubles: the axes x, y, z, then the origin.
 *
 * Adding is sticky: a bad argument is remembered, and tal_system_realize_topology() returns it with
 * the constraint's name.
 */

#include <talus/common/function.h>
#include <talus/matter/constraint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup constraints Built-in constraints
/// @{

/// A definition with two bodies.
TAL_API tal_constraint_def tal_constraint_between(tal_body_ix body1, tal_body_ix body2);

/// A definition with one mobility: speed `i` of `body`, and the coordinate that goes with it.
TAL_API tal_constraint_def tal_constraint_on(tal_body_ix body, int i);

/// @name Points
/// @{

/// Parameters of a rod.
enum {
    TAL_ROD_STATION_1 = 0, ///< on body 1
    TAL_ROD_STATION_2 = 3, ///< on body 2
    TAL_ROD_LENGTH = 6,    ///< positive
    TAL_ROD_NUM_PARAMS = 7
};

/**
 * Two stations stay at a distance. One position equation:
 *
 *     perr = |p_S1S2| - length
 *
 * The multiplier is the tension. Where the stations coincide there is no direction, and z of A is
 * taken instead: all results are finite, and the rod can act again.
 */
TAL_API tal_constraint_ix tal_constraint_add_rod(tal_matter *matter, const tal_constraint_def *def,
                                                 tal_vec3 station1, tal_vec3 station2,
                                                 double length);

/// Parameters of a ball constraint.
enum {
    TAL_BALL_STATION_1 = 0, ///< on body 1
    TAL_BALL_STATION_2 = 3, ///< on body 2
    TAL_BALL_NUM_PARAMS = 6
};

/// Two stations coincide. Three position equations: perr = p_AS2 - p_AS1.
TAL_API tal_constraint_ix tal_constraint_add_ball(tal_matter *matter, const tal_constraint_def *def,
                                                  tal_vec3 station1, tal_vec3 station2);

/// Parameters of a point in a plane.
enum {
    TAL_POINT_IN_PLANE_NORMAL = 0,  ///< of the plane, on body 1
    TAL_POINT_IN_PLANE_HEIGHT = 3,  ///< of the plane over Bo of body 1, along the normal
    TAL_POINT_IN_PLANE_STATION = 4, ///< on body 2
    TAL_POINT_IN_PLANE_NUM_PARAMS = 7
};

/// A station of body 2 stays in a plane of body 1. One position equation, measured in body 1:
/// perr = n . p_B1S - height.
TAL_API tal_constraint_ix tal_constraint_add_point_in_plane(tal_matter *matter,
                                                            const tal_constraint_def *def,
                                                            tal_vec3 normal, double height,
                                                            tal_vec3 station);

/// Parameters of a point on a line.
enum {
    TAL_POINT_ON_LINE_DIRECTION = 0, ///< of the line, on body 1
    TAL_POINT_ON_LINE_POINT = 3,     ///< of the line, on body 1
    TAL_POINT_ON_LINE_STATION = 6,   ///< on body 2
    TAL_POINT_ON_LINE_NUM_PARAMS = 9
};

/// A station of body 2 stays on a line of body 1. Two position equations, measured in body 1 from the
/// point of the line: perr = (x . p, y . p) with x = tal_v3_perp(d) and y = d x x.
TAL_API tal_constraint_ix tal_constraint_add_point_on_line(tal_matter *matter,
                                                           const tal_constraint_def *def,
                                                           tal_vec3 direction, tal_vec3 point,
                                                           tal_vec3 station);

/// @}
/// @name Orientations and frames
/// @{

/// Parameters of a constant angle.
enum {
    TAL_CONSTANT_ANGLE_AXIS_1 = 0, ///< on body 1
    TAL_CONSTANT_ANGLE_AXIS_2 = 3, ///< on body 2
    TAL_CONSTANT_ANGLE_ANGLE = 6,  ///< [rad] strictly between 0 and pi
    TAL_CONSTANT_ANGLE_NUM_PARAMS = 7
};

/// Two directions keep their angle. One position equation: perr = axis1 . axis2 - cos(angle). Its
/// derivative fades as the angle comes near 0 or pi: use two equations of an orientation there.
TAL_API tal_constraint_ix tal_constraint_add_constant_angle(tal_matter *matter,
                                                            const tal_constraint_def *def,
                                                            tal_vec3 axis1, tal_vec3 axis2,
                                                            double angle);

/// Parameters of a constant orientation: rotations are their axes x, y, z.
enum {
    TAL_CONSTANT_ORIENTATION_FRAME_1 = 0, ///< R_B1 of the frame on body 1
    TAL_CONSTANT_ORIENTATION_FRAME_2 = 9, ///< R_B2F of the frame on body 2
    TAL_CONSTANT_ORIENTATION_NUM_PARAMS = 18
};

/**
 * Two frames, B on body 1 and F on body 2, stay parallel. Three position equations:
 *
 *     perr = (Fx . By, Fy . Bz, Fz . Bx)
 *
 * They vanish also where F is turned by 180 degrees about an axis of B: start near the orientation
 * that is meant.
 */
TAL_API tal_constraint_ix tal_constraint_add_constant_orientation(tal_matter *matter,
                                                                  const tal_constraint_def *def,
                                                                  const tal_mat3 *R_1,
                                                                  const tal_mat3 *R_2);

/// Parameters of a weld.
enum {
    TAL_WELD_FRAME_1 = 0,  ///< on body 1
    TAL_WELD_FRAME_2 = 12, ///< on body 2
    TAL_WELD_NUM_PARAMS = 24
};

/// Two frames, B on body 1 and F on body 2, coincide. Six position equations: those of a constant
/// orientation, which vanish also at 180 degrees, then p_AF - p_AB.
TAL_API tal_constraint_ix tal_constraint_add_weld(tal_matter *matter, const tal_constraint_def *def,
                                                  const tal_xform *X_1, const tal_xform *X_2);

/// @}
/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_CONSTRAINTS_H
