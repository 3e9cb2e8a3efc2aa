// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_VELOCITY_MAP_H
#define TALUS_MATTER_VELOCITY_MAP_H

/**
 * @file talus/matter/velocity_map.h
 * @brief Velocities of mass centers as a linear map of speeds, and equations of motion from it.
 *
 * Formulation B of the velocity transformations (GJB sec. 8.2.6). With V_b = (angular velocity,
 * velocity of the mass center) of body b, in Ground,
 *
 *     V_b = R_b u        A_b = R_b udot + Sc_b        M_b = { J_b; m_b 1 }
 *     M = sum R_b^T M_b R_b        Q = f + sum R_b^T (F_b - M_b Sc_b - (w x J w, 0))
 *
 * summed over bodies, so that M udot = Q holds for a tree (GJB eq. 8.38, 8.107). R_b has a column
 * for each speed between Ground and b, and no others. All parts are computed body by body, on as
 * many threads as you like, with the same bits for any number of them. M costs O(n d^2) with d
 * speeds between Ground and a body: fine for vehicles and people. tal_matter_calc_M() is O(n d) and
 * mostly faster; this is for those who want R, parts of sums, or to compare.
 */

#include <talus/common/executor.h>
#include <talus/matter/operators.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup velocity_map Velocity transformation
/// @{

/// R, Sc and M_b of the bodies of one model. Opaque. Use from one thread at a time.
typedef struct tal_velocity_map tal_velocity_map;

/**
 * Make a map. All memory it will ever use is taken here.
 *
 * @param[in]  matter    its topology must be realized; must outlive the map
 * @param[in]  executor  runs the parts; copied; NULL: the calling thread does. Small models are
 *                       left to the calling thread
 * @param[out] out       owned by the caller; NULL on failure
 * @param[out] err       may be NULL
 * @return TAL_OK; TAL_ERR_NULL, TAL_ERR_TOPOLOGY, TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_velocity_map_create(const tal_matter *matter,
                                                         const tal_executor *executor,
                                                         tal_velocity_map **out, tal_error *err);

/// Free a map. NULL is allowed.
TAL_API void tal_velocity_map_destroy(tal_velocity_map *map);

/// R, Sc and M_b of a State: what all calls below are about. Needs TAL_STAGE_VELOCITY.
TAL_API TAL_NODISCARD tal_status tal_velocity_map_calc(tal_velocity_map *map, tal_state *state);

/// Number of columns of R_b: speeds between Ground and a body. -1 on a breach.
TAL_API int tal_velocity_map_num_columns(const tal_velocity_map *map, tal_body_ix body);

/// Which speeds the columns belong to, from Ground outward.
/// @param[out] speeds  [tal_velocity_map_num_columns()]
TAL_API TAL_NODISCARD tal_status tal_velocity_map_columns(const tal_velocity_map *map,
                                                          tal_body_ix body, int speeds[]);

/// R_b, column by column.
/// @param[out] R  [tal_velocity_map_num_columns()]
TAL_API TAL_NODISCARD tal_status tal_velocity_map_read_R(const tal_velocity_map *map,
                                                         tal_body_ix body, tal_spatial_vec R[]);

/// Sc_b: the acceleration of the mass center where udot is zero. NaN on a breach.
TAL_API tal_spatial_vec tal_velocity_map_Sc(const tal_velocity_map *map, tal_body_ix body);

/// M, nu x nu, both triangles.
TAL_API TAL_NODISCARD tal_status tal_velocity_map_calc_M(const tal_velocity_map *map, tal_matrix M);

/// Q of forces, as tal_matter_calc_applied_forces() gives them.
/// @param[in]  F_GB  [num_bodies] about Bo, in Ground
/// @param[in]  f     [nu]
/// @param[out] Q     [nu]
TAL_API TAL_NODISCARD tal_status tal_velocity_map_calc_Q(tal_velocity_map *map,
                                                         const tal_spatial_vec F_GB[],
                                                         const double f[], double Q[]);

/// Multiplications and additions.
typedef struct tal_velocity_map_count {
    int64_t multiplications, additions;
} tal_velocity_map_count;

/// What the parts of one evaluation take (GJB tab. 8.3 and 8.4).
typedef struct tal_velocity_map_counts {
    tal_velocity_map_count R;       ///< columns of R_b
    tal_velocity_map_count inertia; ///< J_b in Ground, w x J w, and M_b Sc_b
    tal_velocity_map_count M;       ///< R^T M R
    tal_velocity_map_count Q;       ///< R^T (F - M Sc - C)
} tal_velocity_map_counts;

/// Counts for the State of the last tal_velocity_map_calc(): columns of sliding joints are cheaper.
/// Zeros on a breach.
TAL_API tal_velocity_map_counts tal_velocity_map_operations(const tal_velocity_map *map);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_VELOCITY_MAP_H
