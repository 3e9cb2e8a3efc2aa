// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_PATH_H
#define TALUS_FORCES_PATH_H

/**
 * @file talus/forces/path.h
 * @brief Paths: lines from body to body that muscles, ligaments and cables pull along.
 *
 * A path runs straight from point to point and over obstacles in between. It is a named part of
 * the force subsystem, apart from the elements that pull along it: several elements can share one.
 *
 *     const tal_path_ix biceps = tal_forces_add_path(forces, "biceps");
 *     tal_path_add_point(forces, biceps, scapula, tal_v3(0.01, 0.03, 0.0));
 *     tal_path_add_point(forces, biceps, ulna, tal_v3(0.03, -0.02, 0.0));
 *     tal_path_add_wrap(forces, biceps, elbow, 0, -1);
 *
 * | point       | where it is                                                             |
 * |-------------|-------------------------------------------------------------------------|
 * | fixed       | at a station of a body                                                  |
 * | conditional | likewise, but part of the path only while a coordinate is within limits |
 * | moving      | on a body, at (fx(qx), fy(qy), fz(qz)) with functions of coordinates    |
 *
 * An obstacle (talus/geometry/wrap.h) is fixed on a body, and any number of paths go over it. The
 * path lies on it as a string would: straight pieces that are tangent to the surface, and a
 * geodesic between them. Obstacles of one path act together: each straight piece is tangent at both
 * of its ends.
 *
 * A path can also be given by its length, a function of coordinates:
 * tal_forces_add_function_path().
 *
 * With the length l and a tension t, the same all along the path, a point feels t times the sum of
 * the unit vectors to its neighbors. The power of these forces is -t dl/dt, and the generalized
 * forces are -t dl/dq.
 *
 * Nothing depends on history: length and forces are functions of q alone. They are computed when
 * they are asked for, and kept while q stays as it is.
 *
 * Consecutive points that meet (closer than 1e-150 m) have no direction between them: nothing pulls
 * there. A path with a point inside an obstacle goes straight through it
 * (tal_path_num_inside()).
 *
 * Coordinates are numbered as with angles, as in talus/forces/mobility.h. While the State describes
 * an orientation by a quaternion, a path that needs one of its angles is refused at Instance.
 */

#include <talus/forces/force.h>
#include <talus/geometry/wrap.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup path Paths
/// @{

/// One path of a force subsystem; `i` below zero means "none".
typedef struct tal_path_ix {
    int i;
} tal_path_ix;

/// One obstacle of a force subsystem; `i` below zero means "none".
typedef struct tal_wrap_ix {
    int i;
} tal_wrap_ix;

/// The most obstacles that one path can go over.
#define TAL_MAX_PATH_WRAPS 64

/// @name Building. Sticky, as all building is; before the topology is realized.
/// @{

/**
 * Add a path without points. It needs two or more.
 *
 * @param[in] name  unique among the paths of `forces`; NULL means "path<index>"; copied
 * @return its index, `i` < 0 on failure
 */
TAL_API tal_path_ix tal_forces_add_path(tal_forces *forces, const char *name);

/**
 * Add a point at the end of a path.
 *
 * @param[in] p_BS  the point, from Bo in B [m]
 * @return its number on the path, from 0 on; -1 on failure
 */
TAL_API int tal_path_add_point(tal_forces *forces, tal_path_ix path, tal_body_ix body,
                               tal_vec3 p_BS);

/**
 * Add a point that is part of the path only while low - 1e-5 <= q <= high + 1e-5.
 *
 * Where it comes and goes the length may jump.
 *
 * @param[in] p_BS  the point, from Bo in B [m]
 * @param[in] at    the coordinate q
 * @return its number on the path; -1 on failure
 */
TAL_API int tal_path_add_conditional_point(tal_forces *forces, tal_path_ix path, tal_body_ix body,
                                           tal_vec3 p_BS, tal_mobility at, double low, double high);

/**
 * Add a point that moves on its body: at (f0(q0), f1(q1), f2(q2)) in a frame of the body.
 *
 * Each q is used only within the range of its coordinate (tal_body_limit_coordinate()): beyond
 * that, the point stays at the end.
 *
 * @param[in] X_BP  the frame, fixed on the body; NULL: B itself
 * @param[in] at    [3] the coordinates q0, q1, q2
 * @param[in] f     [3] functions of one argument with a derivative; adopted by this call whether it
 *                  succeeds or not. NULL: zero; not all three
 * @return its number on the path; -1 on failure
 */
TAL_API int tal_path_add_moving_point(tal_forces *forces, tal_path_ix path, tal_body_ix body,
                                      const tal_xform *X_BP, const tal_mobility at[],
                                      tal_function *const f[]);

/**
 * Add an obstacle.
 *
 * @param[in] name  unique among the obstacles of `forces`; NULL means "wrap<index>"; copied
 * @param[in] X_BW  the frame W of the obstacle in B
 * @param[in] wrap  copied
 * @return its index, `i` < 0 on failure
 */
TAL_API tal_wrap_ix tal_forces_add_wrap(tal_forces *forces, const char *name, tal_body_ix body,
                                        const tal_xform *X_BW, const tal_wrap *wrap);

/**
 * Lay a path over an obstacle, between two of its points.
 *
 * Of the straight pieces between them, the first that goes through the obstacle is laid on it. If
 * none does, it is the piece that must make the least detour to stay on the side of the obstacle,
 * if it has a side.
 *
 * @param[in] first, last  numbers of points on the path; -1: the first one, the last one
 */
TAL_API tal_status tal_path_add_wrap(tal_forces *forces, tal_path_ix path, tal_wrap_ix wrap,
                                     int first, int last);

/**
 * Add a path that is given by its length, a function of coordinates. It has no points.
 *
 * @param[in] name    as for tal_forces_add_path()
 * @param[in] at      [n] the coordinates
 * @param[in] length  [m] a function of n arguments with first derivatives; adopted by this call
 *                    whether it succeeds or not
 * @return its index, `i` < 0 on failure
 */
TAL_API tal_path_ix tal_forces_add_function_path(tal_forces *forces, const char *name,
                                                 const tal_mobility at[], int n,
                                                 tal_function *length);

/// @}
/// @name What there is
/// @{

/// Number of paths.
TAL_API int tal_forces_num_paths(const tal_forces *forces);

/// Look a path up by name; `i` < 0 when there is none (that is not a breach).
TAL_API tal_path_ix tal_forces_find_path(const tal_forces *forces, const char *name);

/// Name of a path; never NULL; borrowed.
TAL_API const char *tal_path_name(const tal_forces *forces, tal_path_ix path);

/// Number of points that were added to a path; -1 on a breach.
TAL_API int tal_path_num_points(const tal_forces *forces, tal_path_ix path);

/// The body that a point is on; `i` < 0 on a breach.
TAL_API tal_body_ix tal_path_point_body(const tal_forces *forces, tal_path_ix path, int point);

/**
 * The coordinates that the length of a path can depend on: those of the bodies between its points
 * and obstacles, from the base outward, then others that its points depend on; or the arguments of
 * its function. Each is listed once. Needs a realized topology.
 *
 * @param[out] at  [max] the first so many of them
 * @return how many there are, which may be more than `max`; -1 on a breach
 */
TAL_API int tal_path_coordinates(const tal_forces *forces, tal_path_ix path, tal_mobility at[],
                                 int max);

/// Number of obstacles that a path may go over; -1 on a breach.
TAL_API int tal_path_num_wraps(const tal_forces *forces, tal_path_ix path);

/// One of these obstacles, 0 <= k < tal_path_num_wraps(); `i` < 0 on a breach.
TAL_API tal_wrap_ix tal_path_wrap(const tal_forces *forces, tal_path_ix path, int k);

/// Number of obstacles.
TAL_API int tal_forces_num_wraps(const tal_forces *forces);

/// Look an obstacle up by name; `i` < 0 when there is none (that is not a breach).
TAL_API tal_wrap_ix tal_forces_find_wrap(const tal_forces *forces, const char *name);

/// Name of an obstacle; never NULL; borrowed.
TAL_API const char *tal_wrap_name(const tal_forces *forces, tal_wrap_ix wrap);

/// The body that an obstacle is fixed on; `i` < 0 on a breach.
TAL_API tal_body_ix tal_wrap_body(const tal_forces *forces, tal_wrap_ix wrap);

/// The obstacle, and its frame W in B. Either output may be NULL.
TAL_API tal_status tal_wrap_shape(const tal_forces *forces, tal_wrap_ix wrap, tal_wrap *shape,
                                  tal_xform *X_BW);

/// @}
/// @name Points as parameters of a State
/// @{

/// A fixed or conditional point, from Bo in B; zero for one that moves [m]. Needs
/// TAL_STAGE_TOPOLOGY; NaN on a breach.
TAL_API tal_vec3 tal_path_point_station(const tal_forces *forces, const tal_state *state,
                                        tal_path_ix path, int point);

/// Move a point on its body; invalidates TAL_STAGE_INSTANCE.
TAL_API tal_status tal_path_set_point_station(const tal_forces *forces, tal_state *state,
                                              tal_path_ix path, int point, tal_vec3 p_BS);

/// @}
/// @name Length and speed
/// @{

/// Length of a path [m]. Needs TAL_STAGE_POSITION; NaN on failure.
TAL_API double tal_path_length(const tal_forces *forces, tal_state *state, tal_path_ix path);

/// dl/dt of a path [m/s], positive when it gets longer. Needs TAL_STAGE_VELOCITY; NaN on failure.
TAL_API double tal_path_speed(const tal_forces *forces, tal_state *state, tal_path_ix path);

/// Lengths of all paths. Needs TAL_STAGE_POSITION.
/// @param[out] lengths  [tal_forces_num_paths()] [m]; written on success only
TAL_API TAL_NODISCARD tal_status tal_forces_calc_path_lengths(const tal_forces *forces,
                                                              tal_state *state, double lengths[]);

/// dl/dt of all paths. Needs TAL_STAGE_VELOCITY.
/// @param[out] speeds  [tal_forces_num_paths()] [m/s]; written on success only
TAL_API TAL_NODISCARD tal_status tal_forces_calc_path_speeds(const tal_forces *forces,
                                                             tal_state *state, double speeds[]);

/// @}
/// @name Where a path is. Need TAL_STAGE_POSITION.
/// @{

/// Whether a point is part of the path. False on a breach.
TAL_API bool tal_path_is_point_active(const tal_forces *forces, tal_state *state, tal_path_ix path,
                                      int point);

/// Whether a path lies on one of its obstacles, 0 <= k < tal_path_num_wraps(). False on a breach.
TAL_API bool tal_path_is_on_wrap(const tal_forces *forces, tal_state *state, tal_path_ix path,
                                 int k);

/// Whether a path goes straight through one of its obstacles because one of its points is inside.
/// False on a breach.
TAL_API bool tal_path_is_inside_wrap(const tal_forces *forces, tal_state *state, tal_path_ix path,
                                     int k);

/// How many of its obstacles a path goes straight through because one of its points is inside; -1
/// on failure.
TAL_API int tal_path_num_inside(const tal_forces *forces, tal_state *state, tal_path_ix path);

/**
 * Points along a path, in Ground, for drawing it: its points, and `per_arc` points on each surface.
 *
 * @param[in]  per_arc  2 or more; the ends of an arc are two of them
 * @param[out] points   [max] the first so many of them [m]
 * @return how many there are, which may be more than `max`; -1 on failure; 0 for a path that is
 *         given by its length
 */
TAL_API int tal_path_calc_points(const tal_forces *forces, tal_state *state, tal_path_ix path,
                                 int per_arc, tal_vec3 points[], int max);

/// @}
/// @name Tension
/// @{

/**
 * Add the forces of a tension along a path, from the `apply` of an element. Needs
 * TAL_STAGE_POSITION. Moments are about Mo, as there.
 *
 * Elements that call this may run concurrently (tal_force_ops.is_concurrent): all paths have been
 * computed before `apply` is called.
 *
 * @param[in]     tension  [N]; negative pushes
 * @param[in,out] F_GM     [num_bodies] moment about Mo and force on each body, in Ground [N m, N]
 * @param[in,out] f        [nu] forces along matter's speeds
 */
TAL_API tal_status tal_path_apply_tension(const tal_forces *forces, tal_state *state,
                                          tal_path_ix path, double tension, tal_spatial_vec F_GM[],
                                          double f[]);

/**
 * Generalized forces of a tension of one: g = -dl/dq where qdot = u, so that dl/dt = -g . u. Needs
 * TAL_STAGE_POSITION.
 *
 * @param[out] g  [nu] in the order of tal_body_u_start(); written on success only
 */
TAL_API TAL_NODISCARD tal_status tal_path_calc_generalized(const tal_forces *forces,
                                                           tal_state *state, tal_path_ix path,
                                                           double g[]);

/// @}
/// @name Moment arms along what the constraints allow
///
/// The moment arm about a speed u_i is r_i = -dl/dt / u_i where u_i moves and all other speeds move
/// with it as the constraints require, with the least sum of squares. It is positive where the path
/// gets shorter as the coordinate grows. A tension t along the path then has the generalized force
/// t r_i along u_i.
/// Without constraints r is what tal_path_calc_generalized() writes. Prescribed and locked speeds
/// stand still while another one moves; the arm about one of them is that of the same speed set
/// free. r_i is 0 where the constraints do not let u_i move: a tension does no work along it.
///
/// Need TAL_STAGE_VELOCITY.
/// @{

/// Doubles that moment arms need as `work`. Needs TAL_STAGE_INSTANCE; 0 on a breach.
TAL_API size_t tal_forces_moment_arms_work_size(const tal_forces *forces, const tal_state *state);

/// Ints that moment arms need as `iwork`. Needs TAL_STAGE_INSTANCE; 0 on a breach.
TAL_API size_t tal_forces_moment_arms_iwork_size(const tal_forces *forces, const tal_state *state);

/**
 * Moment arms of one path about all speeds of matter.
 *
 * @param[out] arms   [nu] in the order of tal_body_u_start() [m for an angle]
 * @param[out] work   [tal_forces_moment_arms_work_size()]
 * @param[out] iwork  [tal_forces_moment_arms_iwork_size()]
 */
TAL_API TAL_NODISCARD tal_status tal_path_calc_moment_arms(const tal_forces *forces,
                                                           tal_state *state, tal_path_ix path,
                                                           double arms[], double work[],
                                                           int iwork[]);

/**
 * Moment arms of all paths about all speeds of matter.
 *
 * @param[out] arms   tal_forces_num_paths() x nu
 * @param[out] work   [tal_forces_moment_arms_work_size()]
 * @param[out] iwork  [tal_forces_moment_arms_iwork_size()]
 */
TAL_API TAL_NODISCARD tal_status tal_forces_calc_moment_arms(const tal_forces *forces,
                                                             tal_state *state, tal_matrix arms,
                                                             double work[], int iwork[]);

/// @}
/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_PATH_H
