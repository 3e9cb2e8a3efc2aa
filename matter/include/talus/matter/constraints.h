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
 * Body 1 is `bodies[0]`, body 2 `bodies[1]`. Stations, directions and frames are given in the frame
 * B of their body, in meters; directions have any length except zero. Errors and multipliers of the
 * equations, in the order given with each constraint, are in A, the outermost common ancestor,
 * unless another frame is named.
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

/// A station of body 2 stays on a line of body 1. Two position equations, measured in body 1 from
/// the point of the line: perr = (x . p, y . p) with x = tal_v3_perp(d) and y = d x x.
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
/// derivative goes to zero as the angle comes near 0 or pi: use two equations of an orientation
/// there.
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
 * They also vanish where F is turned by 180 degrees about an axis of B: start near the intended
 * orientation.
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
/// @name Mobilities
/// Equations on a coordinate name the speed that goes with it: the speed is its rate, or it is one
/// of three body-XYZ angles with the same number, 0, 1, 2 of a ball, a free body or an ellipsoid.
/// Such an angle has the rate N u, so the constraint pushes along all three speeds. While the State
/// describes the orientation by a quaternion, an enabled equation on an angle is refused when
/// Instance is realized. The angles of lines are refused at once.
/// @{

/// perr = q - value. One parameter: the value.
TAL_API tal_constraint_ix tal_constraint_add_constant_coordinate(tal_matter *matter,
                                                                 const tal_constraint_def *def,
                                                                 double value);

/// verr = u - value. One parameter: the value.
TAL_API tal_constraint_ix tal_constraint_add_constant_speed(tal_matter *matter,
                                                            const tal_constraint_def *def,
                                                            double value);

/// aerr = udot - value. One parameter: the value.
TAL_API tal_constraint_ix tal_constraint_add_constant_acceleration(tal_matter *matter,
                                                                   const tal_constraint_def *def,
                                                                   double value);

/**
 * A function of coordinates vanishes: perr = f(q0, q1, ...).
 *
 * @param[in] def  its `mobilities` and `num_mobilities` are the arguments of f, in order
 * @param[in] f    with two derivatives; adopted whether the call succeeds or not
 */
TAL_API tal_constraint_ix tal_constraint_add_coordinate_coupler(tal_matter *matter,
                                                                const tal_constraint_def *def,
                                                                tal_function *f);

/**
 * A function of speeds, and possibly coordinates, vanishes: verr = f(u0, u1, ..., q0, q1, ...).
 *
 * f may be nonlinear in the speeds. The constraint then keeps f at zero with the least change of
 * the accelerations (Gauss's principle).
 *
 * @param[in] def         its `mobilities` and `num_mobilities` are the arguments of f, in order: of
 *                        the first `num_speeds` the speeds, of the rest the coordinates
 * @param[in] num_speeds  at least one
 * @param[in] f           with one derivative; adopted whether the call succeeds or not
 */
TAL_API tal_constraint_ix tal_constraint_add_speed_coupler(tal_matter *matter,
                                                           const tal_constraint_def *def,
                                                           int num_speeds, tal_function *f);

/// A coordinate follows a function of time: perr = q - f(t).
/// @param[in] f  of one argument, with two derivatives; adopted whether the call succeeds or not
TAL_API tal_constraint_ix tal_constraint_add_prescribed_motion(tal_matter *matter,
                                                               const tal_constraint_def *def,
                                                               tal_function *f);

/// @}
/// @name Contact, rolling, gears
/// These hold both ways: they pull as well as push.
/// @{

/// Parameters of no slip in one direction.
enum {
    TAL_NO_SLIP_1D_POINT = 0,     ///< on the case
    TAL_NO_SLIP_1D_DIRECTION = 3, ///< on the case
    TAL_NO_SLIP_1D_NUM_PARAMS = 6
};

/**
 * Two bodies do not slip, in one direction, at a point of a third: gears and their case.
 *
 * `bodies[0]` is the case, `bodies[1]` and `bodies[2]` are the moving ones. One velocity equation:
 *
 *     verr = n . (v2 - v1)
 *
 * with the velocities that the moving bodies have at the point. The acceleration equation is its
 * exact time derivative: the point moves over the material of the bodies, and the direction turns.
 */
TAL_API tal_constraint_ix tal_constraint_add_no_slip_1d(tal_matter *matter,
                                                        const tal_constraint_def *def,
                                                        tal_vec3 point, tal_vec3 direction);

/// Parameters of a point on a plane.
enum {
    TAL_POINT_ON_PLANE_FRAME = 0,    ///< on body 1; the plane is its xy
    TAL_POINT_ON_PLANE_STATION = 12, ///< on body 2
    TAL_POINT_ON_PLANE_NUM_PARAMS = 15
};

/// A station of body 2 sticks to a plane of body 1. One position equation, the height z of the
/// station in the plane's frame; two velocity equations, its slip along x and y.
TAL_API tal_constraint_ix tal_constraint_add_point_on_plane_contact(tal_matter *matter,
                                                                    const tal_constraint_def *def,
                                                                    const tal_xform *plane,
                                                                    tal_vec3 station);

/// Parameters of a sphere on a plane.
enum {
    TAL_SPHERE_ON_PLANE_FRAME = 0,   ///< on body 1; the plane is its xy
    TAL_SPHERE_ON_PLANE_CENTER = 12, ///< on body 2
    TAL_SPHERE_ON_PLANE_RADIUS = 15, ///< positive
    TAL_SPHERE_ON_PLANE_NUM_PARAMS = 16
};

/// A sphere of body 2 touches a plane of body 1. One position equation, the height of the center
/// less the radius. If it rolls, two velocity equations: the slip of the lowest point of the sphere
/// along x and y of the plane.
TAL_API tal_constraint_ix tal_constraint_add_sphere_on_plane_contact(tal_matter *matter,
                                                                     const tal_constraint_def *def,
                                                                     const tal_xform *plane,
                                                                     tal_vec3 center, double radius,
                                                                     bool rolling);

/// Parameters of a disk on a plane.
enum {
    TAL_DISK_ON_PLANE_FRAME = 0,   ///< on body 1; the plane is its xy
    TAL_DISK_ON_PLANE_CENTER = 12, ///< on body 2
    TAL_DISK_ON_PLANE_AXIS = 15,   ///< on body 2, across the disk; of any length but zero
    TAL_DISK_ON_PLANE_RADIUS = 18, ///< positive
    TAL_DISK_ON_PLANE_NUM_PARAMS = 19
};

/**
 * The sharp edge of a disk of body 2 touches a plane of body 1: a wheel, a coin. One position
 * equation, the height of the edge's lowest point. If it rolls, two velocity equations: the slip of
 * that point along x and y of the plane.
 *
 * A disk that lies flat has no lowest point: x of the plane is then taken for the direction from it
 * to the center, and all results are finite.
 */
TAL_API tal_constraint_ix tal_constraint_add_disk_on_plane_contact(tal_matter *matter,
                                                                   const tal_constraint_def *def,
                                                                   const tal_xform *plane,
                                                                   tal_vec3 center, tal_vec3 axis,
                                                                   double radius, bool rolling);

/// Parameters of a sphere on a sphere.
enum {
    TAL_SPHERE_ON_SPHERE_CENTER_1 = 0, ///< on body 1
    TAL_SPHERE_ON_SPHERE_RADIUS_1 = 3, ///< positive
    TAL_SPHERE_ON_SPHERE_CENTER_2 = 4, ///< on body 2
    TAL_SPHERE_ON_SPHERE_RADIUS_2 = 7, ///< positive
    TAL_SPHERE_ON_SPHERE_NUM_PARAMS = 8
};

/**
 * Two spheres touch. One position equation, the distance of the centers less both radii. If they
 * roll, two velocity equations: the slip at the point that divides the line of centers as the radii
 * do, along two directions across it. The first is also across the axis of body 1 that is least
 * along the line of centers: where another axis takes that place, the two rows turn at once.
 *
 * Where the centers coincide, z of A is taken for the line of centers: all results are finite.
 */
TAL_API tal_constraint_ix tal_constraint_add_sphere_on_sphere_contact(
    tal_matter *matter, const tal_constraint_def *def, tal_vec3 center1, double radius1,
    tal_vec3 center2, double radius2, bool rolling);

/// Parameters of a line on a line.
enum {
    TAL_LINE_ON_LINE_FRAME_1 = 0,  ///< on body 1: x along the edge, z out of the body
    TAL_LINE_ON_LINE_FRAME_2 = 12, ///< on body 2: x along the edge
    TAL_LINE_ON_LINE_NUM_PARAMS = 24
};

/**
 * Two straight edges without ends touch. One position equation, their distance along the common
 * normal that points out of body 1. If they roll, two velocity equations: the slip halfway between
 * the points where they are nearest, along edge 1, and across it and the normal.
 *
 * Parallel edges have no such points: the normal is then z of edge 1, and all results are finite.
 */
TAL_API tal_constraint_ix tal_constraint_add_line_on_line_contact(tal_matter *matter,
                                                                  const tal_constraint_def *def,
                                                                  const tal_xform *edge1,
                                                                  const tal_xform *edge2,
                                                                  bool rolling);

/// @}
/// @name Joints that close loops
/// A frame F on body 1 and M on body 2 are related as by the mobilizer of the same name (RBDA ch.
/// 8). First come the rows on axes, e_F . e_M, then components of p_FM in F. Rows on axes vanish
/// also where M is turned by 180 degrees: start near the intended orientation.
/// @{

/// Parameters of joints that close loops.
enum {
    TAL_LOOP_FRAME_1 = 0,  ///< F on body 1
    TAL_LOOP_FRAME_2 = 12, ///< M on body 2
    TAL_LOOP_NUM_PARAMS = 24,
    TAL_LOOP_SCREW_PITCH = 24, ///< [m/rad], of a screw only
    TAL_LOOP_SCREW_NUM_PARAMS = 25
};

/// Rotation about z. Rows: Fx . Mz, Fy . Mz, x, y, z. Coordinate: angle.
TAL_API tal_constraint_ix tal_constraint_add_loop_pin(tal_matter *matter,
                                                      const tal_constraint_def *def,
                                                      const tal_xform *X_1, const tal_xform *X_2);
/// Translation along x. Rows: Fy . Mx, Fz . My, Fx . Mz, y, z. Coordinate: x.
TAL_API tal_constraint_ix tal_constraint_add_loop_slider(tal_matter *matter,
                                                         const tal_constraint_def *def,
                                                         const tal_xform *X_1,
                                                         const tal_xform *X_2);
/// Rotation about z and translation along it. Rows: Fx . Mz, Fy . Mz, x, y. Coordinates: angle, z.
TAL_API tal_constraint_ix tal_constraint_add_loop_cylinder(tal_matter *matter,
                                                           const tal_constraint_def *def,
                                                           const tal_xform *X_1,
                                                           const tal_xform *X_2);
/// Rotations about Fx and My. Rows: Fx . My, x, y, z. Coordinates: the two angles.
TAL_API tal_constraint_ix tal_constraint_add_loop_universal(tal_matter *matter,
                                                            const tal_constraint_def *def,
                                                            const tal_xform *X_1,
                                                            const tal_xform *X_2);
/// Motion in the xy plane. Rows: Fx . Mz, Fy . Mz, z. Coordinates: angle, x, y.
TAL_API tal_constraint_ix tal_constraint_add_loop_planar(tal_matter *matter,
                                                         const tal_constraint_def *def,
                                                         const tal_xform *X_1,
                                                         const tal_xform *X_2);
/// Rotation about z with translation along it. Rows: Fx . Mz, Fy . Mz, x, y, z - pitch angle, with
/// the angle in the turn that z says. Coordinate: that angle.
TAL_API tal_constraint_ix tal_constraint_add_loop_screw(tal_matter *matter,
                                                        const tal_constraint_def *def,
                                                        const tal_xform *X_1, const tal_xform *X_2,
                                                        double pitch);

/// Number of coordinates of a joint that closes a loop; 0 for other constraints, -1 on a breach.
TAL_API int tal_constraint_num_coordinates(const tal_matter *matter, tal_constraint_ix constraint);

/**
 * The coordinates of a joint that closes a loop, as its mobilizer would have them: angles in
 * (-pi, pi], of a screw in the turn that its advance says.
 *
 * @param[in]  state  TAL_STAGE_TIME at least; what is missing is realized
 * @param[out] q      [tal_constraint_num_coordinates()]
 * @param[out] qdot   [tal_constraint_num_coordinates()] their rates; NULL: not wanted
 */
TAL_API tal_status tal_constraint_calc_coordinates(const tal_matter *matter, tal_state *state,
                                                   tal_constraint_ix constraint, double q[],
                                                   double qdot[]);

/**
 * Close a loop with any mobilizer: cut a body in two, and weld the halves together.
 *
 * Adds a body with half the mass of `body` and the same frame B, on `parent` with the mobilizer
 * given, leaves the other half where it is, and adds a weld between the two. Each half has the
 * center of mass of the whole.
 *
 * @param[in]  body       has mass; the half that is added is TAL_BODY_RIGID
 * @param[in]  parent     what the half is connected to
 * @param[in]  def        name, frames (X_BM on `body`), direction, angles; its mass and structure
 *                        are ignored
 * @param[in]  ops, self  the mobilizer, as in tal_matter_add_mobilizer()
 * @param[in]  params     [ops->num_params] of the mobilizer; NULL means zeros
 * @param[out] weld       the weld; may be NULL
 * @return the half that was added, `i` < 0 on failure (sticky)
 */
TAL_API tal_body_ix tal_matter_split_body(tal_matter *matter, tal_body_ix body, tal_body_ix parent,
                                          const tal_mobod_def *def, const tal_mobilizer_ops *ops,
                                          void *self, const double params[],
                                          tal_constraint_ix *weld);

/// @}
/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_CONSTRAINTS_H
