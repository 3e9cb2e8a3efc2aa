// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_PATH_H
#define TALUS_FORCES_PATH_H

/**
 * @file talus/forces/path.h
 * @brief Paths: lines from body to body that muscles, ligaments and cables pull along.
 *
 * A path runs straight from point to point, each fixed on a body. It is a named part of the force
 * subsystem, apart from the elements that pull along it: several elements can share one.
 *
 *     const tal_path_ix biceps = tal_forces_add_path(forces, "biceps");
 *     tal_path_add_point(forces, biceps, scapula, tal_v3(0.01, 0.03, 0.0));
 *     tal_path_add_point(forces, biceps, ulna, tal_v3(0.03, -0.02, 0.0));
 *
 * With the length l and a tension t, the same all along the path, a point feels t times the sum of
 * the unit vectors to its neighbors. The power of these forces is -t dl/dt, and the generalized
 * forces are -t dl/dq.
 *
 * Nothing depends on history: length and forces are functions of q alone. They are computed when
 * they are asked for, and kept while q stays as it is.
 *
 * Consecutive points that meet (closer than 1e-150 m) have no direction between them: nothing pulls
 * there.
 */

#include <talus/forces/force.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup path Paths
/// @{

/// One path of a force subsystem; `i` below zero means "none".
typedef struct tal_path_ix {
    int i;
} tal_path_ix;

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

/// The body that a point is fixed on; `i` < 0 on a breach.
TAL_API tal_body_ix tal_path_point_body(const tal_forces *forces, tal_path_ix path, int point);

/// @}
/// @name Points as parameters of a State
/// @{

/// A point, from Bo in B [m]. Needs TAL_STAGE_TOPOLOGY; NaN on a breach.
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
/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_PATH_H
