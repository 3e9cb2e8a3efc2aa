// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_SCREW_H
#define TALUS_COMMON_SCREW_H

/**
 * @file talus/common/screw.h
 * @brief Spatial vectors of size one, the size of those that have one, and the order of components
 *        that other programs use.
 *
 * Spatial vectors of Talus have their angular part first (ADR 4); many programs have the linear
 * part first. Conversion happens at the border, here.
 */

#include <talus/common/spatial.h>
#include <talus/common/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup screw Unit spatial vectors
/// @{

/// A rotation of 1 rad/s about a line: its direction, of any length but zero, and a point of it
/// measured from the reference point.
TAL_API tal_spatial_vec tal_sv_unit_rotation(tal_vec3 direction, tal_vec3 point);

/// A translation of 1 m/s.
TAL_API tal_spatial_vec tal_sv_unit_translation(tal_vec3 direction);

/// A force of 1 N along a line.
TAL_API tal_spatial_vec tal_sv_unit_force(tal_vec3 direction, tal_vec3 point);

/// A couple of 1 N m.
TAL_API tal_spatial_vec tal_sv_unit_couple(tal_vec3 direction);

/**
 * Size of a motion: of a rotation its rate [rad/s], of a translation its speed [m/s] (RBDA sec.
 * 2.5). A twist of both has none, since it depends on the unit of length.
 *
 * @param[in]  V     a velocity, at any reference point
 * @param[out] size  its size; NaN on failure
 * @param[out] err   may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE for a twist with a pitch that is neither zero nor infinite, to
 *         64 eps of its numbers; TAL_ERR_NOT_FINITE
 */
TAL_API TAL_NODISCARD tal_status tal_sv_motion_size(tal_spatial_vec V, double *size,
                                                    tal_error *err);

/// The same of a force along a line [N], or of a couple [N m]; a wrench of both has none.
TAL_API TAL_NODISCARD tal_status tal_sv_force_size(tal_spatial_vec F, double *size, tal_error *err);

/// Components with the linear part first: (v, w) of a motion, (f, n) of a force.
/// @param[out] out  [6]
TAL_API void tal_sv_to_linear_first(tal_spatial_vec V, double out[]);

/// Back from that order.
/// @param[in] in  [6]
TAL_API tal_spatial_vec tal_sv_from_linear_first(const double in[]);

/// A 6 x 6 matrix of either order in the other one: blocks across the diagonal change places. For
/// inertias, transforms and Jacobians in both directions.
/// @param[in,out] A  [36] column-major
TAL_API void tal_sv_swap_matrix(double A[]);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_COMMON_SCREW_H
