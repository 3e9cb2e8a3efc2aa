// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_EQUILIBRIUM_H
#define TALUS_STUDY_EQUILIBRIUM_H

/**
 * @file talus/study/equilibrium.h
 * @brief Where a System stays at rest: q with udot = 0 at u = 0 under all constraints; and the
 *        forces that would keep it at rest where it is.
 *
 * K_a is a basis of the motions that depend on forces: all constraints allow them, and no lock or
 * motion gives their udot, at any level. The forces that would move the System are
 *
 *     r = K_a^T M udot
 *
 * and r = 0 is solved by Newton's method along K_a, with differences of r for its derivative. All
 * forces count, whether they have a potential energy or not: a step goes downhill when the forces
 * do work along it. KINSOL can do the same (tal_equilibrium_def.solver).
 *
 * Prescribed variables move as prescribed: a bead on a turning hoop is at rest where it
 * stays on the hoop. Where a lock or motion gives only udot, u keeps its value in the State.
 * Coordinates whose speeds or accelerations are known stay where they are, unless constraints must
 * move them. z stays as it is.
 */

#include <talus/forces.h>
#include <talus/study/root_solver.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup equilibrium Equilibrium and inverse statics
/// @{

/// Which equilibrium.
typedef enum tal_equilibrium_kind {
    TAL_EQUILIBRIUM_STABLE, ///< go downhill until all forces balance
    TAL_EQUILIBRIUM_ANY     ///< whichever is near, stable or not
} tal_equilibrium_kind;

/// What a search is created from. Obtain it from tal_equilibrium_def_default(), then edit.
typedef struct tal_equilibrium_def {
    tal_equilibrium_kind kind;
    double accuracy; ///< done when W_u times the next step is below this, RMS
    int max_iterations;
    double constraint_tolerance; ///< of the weighted errors that the start may have
    /// KINSOL looks for r = 0, from one chart of K_a to the next, and does not go downhill: where a
    /// stable equilibrium is asked for and it finds another, TAL_ERR_NO_CONVERGENCE says so
    tal_root_solver solver;
} tal_equilibrium_def;

/// Stable, accuracy 1e-9, 100 iterations, constraints to 1e-8, our own solver.
TAL_API tal_equilibrium_def tal_equilibrium_def_default(void);

/// Looks for equilibria of one System. Opaque. Use from one thread at a time.
typedef struct tal_equilibrium tal_equilibrium;

/**
 * Create a search. All memory it will ever use is taken here.
 *
 * @param[in]  system  its topology must be realized and it must have matter; must outlive the
 *                     search
 * @param[in]  def     copied; NULL means tal_equilibrium_def_default()
 * @param[out] out     owned by the caller; NULL on failure
 * @param[out] err     may be NULL
 */
TAL_API TAL_NODISCARD tal_status tal_equilibrium_create(const tal_system *system,
                                                        const tal_equilibrium_def *def,
                                                        tal_equilibrium **out, tal_error *err);

/// Free a search. NULL is allowed.
TAL_API void tal_equilibrium_destroy(tal_equilibrium *eq);

/// What a search found.
typedef struct tal_rest {
    int iterations;
    double udot;       ///< largest |udot| left, of those that forces decide on
    tal_body_ix worst; ///< the body it is of
    bool is_stable;    ///< forces push back against every small motion: the stiffness is positive
    double zdot;       ///< largest |zdot|: z is kept, and as long as it changes, so may the rest
} tal_rest;

/**
 * Find q at which the System stays at rest.
 *
 * @param[in,out] state  from where to look; meets its position constraints
 *                       (tal_assembler_assemble()). On success at rest, u = 0 where forces
 *                       decide on it, realized to TAL_STAGE_ACCELERATION; on failure as it was,
 *                       bit for bit
 * @param[out]    rest   may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE when constraints are not met; TAL_ERR_NO_CONVERGENCE, the
 *         sentence names the body that is still pushed most; or what realizing returned
 */
TAL_API TAL_NODISCARD tal_status tal_equilibrium_find(tal_equilibrium *eq, tal_state *state,
                                                      tal_rest *rest);

/**
 * Inverse statics: the forces along actuated speeds that keep the System at rest where it is.
 *
 * @param[in]     state      its q are used, its u is treated as in tal_equilibrium_find(); not
 *                           changed
 * @param[in]     actuated   [nu] where forces can act
 * @param[out]    tau        [nu] to be added to the forces of the System; zero where not actuated
 * @param[out]    actuation  whether they are enough and unique (RBDA sec. 8.12); may be NULL
 */
TAL_API TAL_NODISCARD tal_status tal_equilibrium_inverse_statics(tal_equilibrium *eq,
                                                                 const tal_state *state,
                                                                 const bool actuated[],
                                                                 double tau[],
                                                                 tal_actuation *actuation);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_equilibrium_error(const tal_equilibrium *eq);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_EQUILIBRIUM_H
