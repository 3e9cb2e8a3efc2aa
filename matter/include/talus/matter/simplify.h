// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_SIMPLIFY_H
#define TALUS_MATTER_SIMPLIFY_H

/**
 * @file talus/matter/simplify.h
 * @brief Other masses, the same motion: dynamic equivalence (RBDA sec. 9.7), and augmented bodies.
 *
 *     tal_simplification found;
 *     st = tal_matter_simplify_inertias(matter, state, NULL, &found);
 *     // found.error: how little M, forces and accelerations changed in ten poses
 */

#include <talus/matter/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup simplify Dynamic equivalence
/// @{

/// How a simplification is checked. Obtain it from tal_simplify_def_default(), then edit.
typedef struct tal_simplify_def {
    int num_samples;  ///< poses, chosen at random near the State's, at which before and after are
                      ///< compared; at least 1
    double tolerance; ///< largest relative change that counts as round-off
    uint64_t seed;    ///< of the poses, speeds and accelerations
} tal_simplify_def;

/// Ten poses, 1e-10, seed 1.
TAL_API tal_simplify_def tal_simplify_def_default(void);

/// What a simplification has done.
typedef struct tal_simplification {
    int num_changed;             ///< bodies that gave something to their parents
    int rank_before, rank_after; ///< sums over the bodies; see tal_mass_props_rank()
    double mass_to_ground;       ///< [kg] that bodies on Ground gave away: nothing moves it
    /// Largest change of M v, of inverse dynamics with weights, and of M times the change of
    /// forward dynamics, each relative to the largest number there.
    double error_M, error_inverse, error_forward;
    double error; ///< the largest of the three
} tal_simplification;

/**
 * Move what mobilizers do not feel to the parent, from the tips inward: equations of motion stay
 * as they are, for every q, u and forces, while bodies become simpler.
 *
 * A part of a body's inertia may as well belong to its parent when the motion across the mobilizer
 * does not move that part (RBDA eq. 9.30):
 *
 *     weld                                    all of it
 *     slider, translation                     rotational inertia: a point mass is left
 *     pin                                     masses on the axis
 *     ball, universal, gimbal                 a mass at the center
 *     cylinder, screw, planar, rack and       the same inertia about all lines across the axis
 *       pinion, bend-stretch
 *     others                                  nothing
 *
 * As much is moved as leaves a body that can exist (ADR 25), so that every algorithm still works: a
 * rod on a pin becomes a point mass at its center of percussion. (Where all that counts is zeros in
 * formulas, as in code that is generated, more is moved: tal_generator_create() does that.) A body
 * that would be left with less than a thousandth of its mass, yet with inertia, keeps its mass.
 * Bodies that are not rigid, or whose parents are not, or whose inertia is not physical, stay as
 * they are.
 *
 * Then motion before and after is compared. What does change: masses and mass centers of single
 * bodies, and with them reactions of mobilizers, momentum and energy of single bodies, mass and
 * mass center of the System when Ground takes some; and what force elements of yours make of these.
 * Frames of mobilizers must stay as they are from then on. Not for use while stepping: States are
 * created and freed.
 *
 * @param[in,out] state  at Instance or above; on success its mass properties are the simpler ones,
 *                       on failure as they were
 * @param[in]     def    copied; NULL means tal_simplify_def_default()
 * @param[out]    found  may be NULL; filled in when the comparison fails, too
 * @return TAL_OK; TAL_ERR_BAD_VALUE when the motion would change by more than the tolerance, or for
 *         a number of `def`; TAL_ERR_NO_MEMORY; or what realizing returned
 */
TAL_API TAL_NODISCARD tal_status tal_matter_simplify_inertias(const tal_matter *matter,
                                                              tal_state *state,
                                                              const tal_simplify_def *def,
                                                              tal_simplification *found);

/**
 * How many of the four directions x, y, z and 1 a body's mass is spread along: rank of the matrix
 * of its second moments, [sum m p p^T, sum m p; sum m p^T, sum m]. 0: no mass; 1: a point; 2: on a
 * line; 3: in a plane; 4: any other.
 */
TAL_API int tal_mass_props_rank(const tal_mass_props *props);

/**
 * Augmented bodies (RBDA sec. 9.7): each body with a particle at every joint that has the mass of
 * all that is connected there, in B about Bo.
 *
 * A particle that stands for a child is where the child's frame F is, one that stands for the rest
 * of the System where the body's own frame M is. Where mobilizers only turn, turning one augmented
 * body while no other body turns takes the same energy as in the System.
 *
 * @param[in]  state       at Instance or above
 * @param[in]  only_outer  no particle on the side of the parent: for trees whose base stands still
 * @param[out] bodies      [tal_matter_num_bodies()] Ground's is zero
 */
TAL_API tal_status tal_matter_calc_augmented_bodies(const tal_matter *matter,
                                                    const tal_state *state, bool only_outer,
                                                    tal_mass_props bodies[]);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_SIMPLIFY_H
