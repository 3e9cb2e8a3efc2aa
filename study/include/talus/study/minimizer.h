// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_MINIMIZER_H
#define TALUS_STUDY_MINIMIZER_H

/**
 * @file talus/study/minimizer.h
 * @brief The nearest minimum of potential energy, for Systems of any size, in any coordinates.
 *
 *     tal_minimizer_def def = tal_minimizer_def_default();
 *     def.tolerance = 1e-4;                                   // kJ/mol/rad, kJ/mol/nm
 *     def.longest_move = 0.02;                                // nm
 *     tal_minimizer_create(system, &def, &minimizer, &err);
 *     st = tal_minimizer_run(minimizer, state, 1000, &found);
 *
 * L-BFGS in the space of speeds: with g the slope of the energy by q, as generalized forces with
 * the opposite sign, a direction is
 *
 *     d = -H g,   H from the last `memory` changes of q and g and from gamma M^-1(q),
 *
 * which costs O(n), and a step leads to q (+) alpha N(q) d with quaternions made unit again. alpha
 * meets the conditions of Wolfe, and no body moves farther than `longest_move`. The first direction
 * is that of free fall from rest, -M^-1 g, so that units of coordinates do not matter. Where an
 * energy cannot be computed, the step is shortened; only where a search begins it must be there.
 *
 * For a minimum where a model with constraints stays at rest see talus/study/equilibrium.h. Forces
 * must have an energy. Nothing is allocated after creation; results do not depend on how many
 * iterations each call makes.
 */

#include <talus/forces.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup minimizer Minimizing energy
/// @{

/// The most changes that a minimizer remembers.
#define TAL_MAX_MINIMIZER_MEMORY 50

/// How to minimize. Obtain it from tal_minimizer_def_default(), then edit.
typedef struct tal_minimizer_def {
    double tolerance;    ///< of the root mean square of generalized forces [N or N m], positive
    double longest_move; ///< how far a step moves mass centers, and turns bodies times their radius
                         ///< of gyration [m], positive
    int memory;          ///< changes of q and g that are remembered, 1 to TAL_MAX_MINIMIZER_MEMORY
} tal_minimizer_def;

/// 1e-6, 0.02 and 10.
TAL_API tal_minimizer_def tal_minimizer_def_default(void);

/// Why a search ended.
typedef enum tal_minimizer_end {
    TAL_MINIMIZER_CONVERGED, ///< forces are within the tolerance
    TAL_MINIMIZER_STALLED,   ///< round-off of the energy hides what is left to gain
    TAL_MINIMIZER_ITERATIONS ///< it made as many iterations as it should: the next run continues
} tal_minimizer_end;

/// What a search found.
typedef struct tal_minimum {
    tal_minimizer_end end;
    double energy;    ///< where the State is now [J]
    double gained;    ///< how much lower that is than where this run began [J], not negative
    double force;     ///< root mean square of generalized forces [N or N m]
    double largest;   ///< the largest of them
    long iterations;  ///< of this run
    long evaluations; ///< of the energy and its slope
} tal_minimum;

/// Searches in one System. Opaque. Use from one thread at a time.
typedef struct tal_minimizer tal_minimizer;

/**
 * Create it. All memory it will ever use is taken here.
 *
 * @param[in]  system  its topology must be realized and it must have matter; must outlive it
 * @param[in]  def     copied; NULL: the default
 * @param[out] out     owned by the caller; NULL on failure
 * @param[out] err     may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE for a number of `def`, and for constraints and prescribed
 *         motions; TAL_ERR_TOPOLOGY, TAL_ERR_NULL, TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_minimizer_create(const tal_system *system,
                                                      const tal_minimizer_def *def,
                                                      tal_minimizer **out, tal_error *err);

/// Free it. NULL is allowed.
TAL_API void tal_minimizer_destroy(tal_minimizer *minimizer);

/**
 * Search. A run that begins where the last one ended continues it.
 *
 * @param[in,out] state       at the lowest energy found afterwards, with speeds of zero, realized
 *                            to TAL_STAGE_DYNAMICS; where the search failed, on failure
 * @param[in]     iterations  at most so many, not negative
 * @param[out]    found       written on success only; may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE for angles in place of quaternions, locked mobilities and
 *         negative iterations; what realizing the State as it was given returned
 */
TAL_API TAL_NODISCARD tal_status tal_minimizer_run(tal_minimizer *minimizer, tal_state *state,
                                                   int iterations, tal_minimum *found);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_minimizer_error(const tal_minimizer *minimizer);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_MINIMIZER_H
