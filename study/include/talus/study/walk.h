// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_WALK_H
#define TALUS_STUDY_WALK_H

/**
 * @file talus/study/walk.h
 * @brief A Metropolis walk: random configurations of a System with the probabilities that a
 *        temperature gives them, or with a density of your own.
 *
 *     tal_walk_def def = tal_walk_def_default();
 *     def.kT = 2.0;                                        // J
 *     def.step = 0.5;                                      // rad, m
 *     st = tal_walk_create(system, &def, &walk, &err);
 *     for (int k = 0; k < 100000 && st == TAL_OK; ++k) {
 *         st = tal_walk_run(walk, state, 10);              // ten steps, then look at the State
 *     }
 *
 * A step proposes a motion along the speeds, normal with standard deviation `step` in each, and
 * takes it with probability min(1, p(new) / p(old)); otherwise the State stays. The probability is
 *
 *     p(q) = exp(-V(q) / kT + log_density(q))
 *
 * with respect to the volume that the speeds measure: orientations of balls and free joints are
 * uniform where p is, angles and displacements of other joints, too. It is that of configurations
 * with the stiff or absent momenta that rigid constraints leave out: no determinant of M is in it.
 *
 * With constraints on positions the walk stays on them (Zappa, Holmes-Cerf and Goodman 2018): a
 * motion along them, then one normal to them at the start, found by Newton's method. The volume is
 * that of the surface, as speeds measure it. A motion is only taken if the same search leads back
 * from its end, without which probabilities would be wrong.
 *
 * All memory between steps is q in the State and the number of the step, so a walk continues bit
 * for bit from a saved State (tal_walk_set_count()). Speeds stay as they are. Nothing is allocated
 * after creation.
 */

#include <talus/forces.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup walk Metropolis walks
/// @{

/// What a walk is created from. Obtain it from tal_walk_def_default(), then edit.
typedef struct tal_walk_def {
    double kT;   ///< [J] > 0; infinite: V does not count
    double step; ///< standard deviation of a proposed motion along each speed, in its unit; > 0
    /// [num_scale] units of the speeds of matter, which measure volume as well: a motion of one
    /// unit along one speed counts as much as along another. Those of a body with a quaternion must
    /// be the same for its rotation. Copied; NULL: 1
    const double *scale;
    int num_scale; ///< nu of matter, or 0 without `scale`
    uint64_t seed; ///< step k is a function of the seed, k and where the walk is
    /// More to add to the logarithm of p, at a State that has realized Position; NULL: nothing.
    double (*log_density)(void *context, const tal_system *system, tal_state *state);
    void *context;      ///< handed to `log_density`
    double tolerance;   ///< of the errors of constraints, > 0
    int max_iterations; ///< of a search for the constraints; one that takes more is not taken
} tal_walk_def;

/// kT infinite, step 0.1, seed 0, tolerance 1e-10, 30 iterations.
TAL_API tal_walk_def tal_walk_def_default(void);

/// A walk over the configurations of one System. Opaque. Use from one thread at a time.
typedef struct tal_walk tal_walk;

/// Create a walk: def -> create -> run -> destroy. All memory is taken here. `err` (or NULL) says
/// what is wrong. The System must outlive the walk.
TAL_API TAL_NODISCARD tal_status tal_walk_create(const tal_system *system, const tal_walk_def *def,
                                                 tal_walk **out, tal_error *err);

/// Free a walk. NULL is allowed.
TAL_API void tal_walk_destroy(tal_walk *walk);

/**
 * Take n steps.
 *
 * @param[in,out] state  at Instance or above, or able to get there; on the constraints, to the
 *                       tolerance. On return it has realized Position
 * @param[in]     n      >= 0
 * @return TAL_OK; TAL_ERR_BAD_VALUE for what a walk cannot move (locks, prescribed motion, rates
 *         of coordinates that are neither speeds nor those of a quaternion, constraints on speeds),
 *         and for a start that is off the constraints or has no finite p
 */
TAL_API TAL_NODISCARD tal_status tal_walk_run(tal_walk *walk, tal_state *state, int n);

/// What became of the proposals since creation.
typedef struct tal_walk_report {
    uint64_t proposed;
    uint64_t taken;
    uint64_t unlikely;      ///< not taken because of their probability
    uint64_t off;           ///< no configuration on the constraints was found
    uint64_t one_way;       ///< none was found on the way back, or another
    uint64_t not_evaluated; ///< the State could not be realized there, or p was not finite
} tal_walk_report;

TAL_API tal_walk_report tal_walk_statistics(const tal_walk *walk);

/// Steps taken so far: with q of the State all that the next depends on.
TAL_API uint64_t tal_walk_count(const tal_walk *walk);

/// Go on as a walk that has taken so many steps.
TAL_API void tal_walk_set_count(tal_walk *walk, uint64_t count);

/// The last failure. Never NULL; borrowed.
TAL_API const tal_error *tal_walk_error(const tal_walk *walk);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_WALK_H
