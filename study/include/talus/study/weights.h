// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_WEIGHTS_H
#define TALUS_STUDY_WEIGHTS_H

/**
 * @file talus/study/weights.h
 * @brief Weights of speeds from the motion they cause: so that an accuracy means the same for a
 *        joint at the base as for one at the tip (manual sec. 9.2).
 *
 *     st = tal_weights_refresh(system, state, 0.0, &changed, &err);       // at the start
 *     for (double t = 0.1; st == TAL_OK && t <= 10.0; t += 0.1) {
 *         st = tal_integrator_step_to(integ, state, t);
 *         if (st == TAL_OK) st = tal_weights_refresh(system, state, 0.0, &changed, &err);
 *     }
 *
 * The weight of a speed is how far one unit of it moves the body that it moves farthest, over a
 * unit change of place:
 *
 *     W_j = max over bodies of sqrt(|v|^2 + (r |w|)^2) / length      at u_j = 1, all others 0
 *
 * with the velocity v of the body's mass center, its angular velocity w and its radius of gyration
 * r. In figure 14 of the manual W is d1 / length for the joint at the base and d2 / length for the
 * one near the tip. Where `length` is the size of the model, weights of angles do not depend on the
 * unit of length, and those of distances are in its inverse.
 */

#include <talus/matter.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup weights Estimated weights
/// @{

/**
 * Estimate the weights of matter's speeds where a State is. O(n^2). A speed that moves no mass has
 * the weight 1.
 *
 * @param[in]     system
 * @param[in,out] state   at Instance or above; what is missing up to Position is realized
 * @param[in]     length  [m] a unit change of a place; 0: the size of the model, the largest
 *                        distance of a mass center from their mean, with the body's radius of
 *                        gyration
 * @param[out]    W       [tal_matter_nu()]
 * @param[out]    err     may be NULL
 * @return TAL_OK, TAL_ERR_NULL, TAL_ERR_NO_MEMORY, or what realizing returned; TAL_ERR_BAD_VALUE
 *         without matter, or for a length that is negative or not finite
 */
TAL_NODISCARD TAL_API tal_status tal_weights_estimate(const tal_system *system, tal_state *state,
                                                      double length, double W[], tal_error *err);

/**
 * Give a State the estimated weights, unless those that it has are right to a factor of two: then
 * nothing changes, and an integrator goes on as it was. Where they changed, methods that remember
 * earlier steps begin again. Weights need not be exact, so call it now and then, not at every step.
 * Speeds of other subsystems keep theirs.
 *
 * @param[in,out] state    as tal_weights_estimate()
 * @param[in]     length   likewise; give the same one to all calls of a run, or 0
 * @param[out]    changed  whether weights were set; may be NULL
 * @param[out]    err      may be NULL
 */
TAL_NODISCARD TAL_API tal_status tal_weights_refresh(const tal_system *system, tal_state *state,
                                                     double length, bool *changed, tal_error *err);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_WEIGHTS_H
