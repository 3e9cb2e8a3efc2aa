// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_INDUCED_H
#define TALUS_STUDY_INDUCED_H

/**
 * @file talus/study/induced.h
 * @brief Induced accelerations: what does each muscle alone do to every coordinate and body?
 *
 *     tal_induced *induced = NULL;
 *     st = tal_induced_create(system, forces, NULL, &induced, &err);
 *     ...
 *     st = tal_induced_calc(induced, state, udot, NULL); // [tal_induced_num()][nu]
 *     tal_induced_destroy(induced);
 *
 * The equations of motion are linear in the forces, constraints included:
 *
 *     M udot_k + G^T lambda_k = f_k,    G udot_k = 0
 *
 * for each force f_k alone. A muscle accelerates joints that it does not cross, and what holds a
 * foot to the ground pushes back against each muscle with its share. The contributors are
 *
 *     <actuator>   each muscle and actuator, by its name
 *     gravity      all elements that are gravity
 *     velocity     what moving bodies and moving constraints do: f = -C, G udot = b
 *     motion       prescribed motion and locks
 *     other        all other elements: springs, limits, contact, external forces
 *
 * Together they give udot of the State to round-off. Forces that depend on speeds are those of the
 * State, also where they act alone.
 */

#include <talus/forces.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup induced Induced accelerations
/// @{

/// What they are created from. Obtain it from tal_induced_def_default(), then edit.
typedef struct tal_induced_def {
    /// Each muscle and actuator pulls with one newton, or one newton meter, instead of its force.
    bool potentials;
} tal_induced_def;

/// The forces of the State.
TAL_API tal_induced_def tal_induced_def_default(void);

/// Finds accelerations. Opaque. Use from one thread at a time.
typedef struct tal_induced tal_induced;

/**
 * Create the study. All memory it will ever use is taken here.
 *
 * @param[in]  system  its topology must be realized; must outlive the study
 * @param[in]  forces  of the System, whose elements are the contributors
 * @param[in]  def     copied; NULL means tal_induced_def_default()
 * @param[out] out     owned by the caller; NULL on failure
 * @param[out] err     may be NULL
 */
TAL_API TAL_NODISCARD tal_status tal_induced_create(const tal_system *system,
                                                    const tal_forces *forces,
                                                    const tal_induced_def *def, tal_induced **out,
                                                    tal_error *err);

/// Free a study. NULL is allowed.
TAL_API void tal_induced_destroy(tal_induced *induced);

/// Number of contributors; -1 for NULL.
TAL_API int tal_induced_num(const tal_induced *induced);

/// Name of a contributor: that of an actuator, "gravity", "velocity", "motion" or "other"; "" and a
/// breach when there is none. Borrowed.
TAL_API const char *tal_induced_name(const tal_induced *induced, int i);

/**
 * What each contributor alone does at a State.
 *
 * @param[in]  state   t, q, u, z and parameters; stays as it is
 * @param[out] udot    [tal_induced_num()][nu] accelerations of matter's speeds
 * @param[out] lambda  [tal_induced_num()][m] multipliers, m the number of rows of the constraints
 *                     that are enabled (talus/matter/constraint_operators.h); may be NULL
 */
TAL_API TAL_NODISCARD tal_status tal_induced_calc(tal_induced *induced, const tal_state *state,
                                                  double udot[], double lambda[]);

/// Accelerations of all bodies by one contributor, at the State of the last tal_induced_calc().
/// @param[in]  udot  [nu] that contributor's row
/// @param[out] A_GB  [num_bodies] angular and of Bo, in Ground
TAL_API TAL_NODISCARD tal_status tal_induced_calc_bodies(tal_induced *induced, int i,
                                                         const double udot[],
                                                         tal_spatial_vec A_GB[]);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_induced_error(const tal_induced *induced);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_INDUCED_H
