// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_LOOPS_H
#define TALUS_STUDY_LOOPS_H

/**
 * @file talus/study/loops.h
 * @brief Effects of constraints on a model: loops that depend on each other, redundant equations,
 *        and speeds that determine all others (RBDA sec. 8.8 to 8.10).
 *
 *     tal_loops *loops = NULL;
 *     st = tal_loops_create(system, state, &loops, &err);
 *     for (int k = 0; st == TAL_OK && k < tal_loops_num_clusters(loops); ++k) {
 *         const tal_loop_cluster c = tal_loops_cluster(loops, k);
 *         printf("%d speeds, mobility %d, %d equations too many\n", c.num_speeds, c.mobility,
 *                c.rows - c.rank);
 *     }
 *     tal_loops_destroy(loops);
 *
 * Two constraints are in one cluster when they share a joint: the speeds of one cluster do not
 * depend on those of another, except through forces. All numbers hold where the State is, and may
 * be others at a pose where rank is lost. The work is that of dense matrices, each as large as a
 * cluster.
 */

#include <talus/matter.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup loops Loops and independent speeds
/// @{

/// A set of loops that share joints with each other and with no others.
typedef struct tal_loop_cluster {
    int num_constraints;
    int num_speeds; ///< of the joints that it goes through, those that are free
    int rows;       ///< equations at the acceleration level
    int rank;       ///< of them that are independent
    int mobility;   ///< num_speeds - rank
} tal_loop_cluster;

/// What a constraint adds to the others of its cluster.
typedef struct tal_loop_share {
    int cluster; ///< -1: it is disabled, or goes through no speeds that are free
    int rows;
    int needed; ///< of its rows: what the rank of the cluster is without it, less than with it
} tal_loop_share;

/// The loops of a System in a State. Opaque.
typedef struct tal_loops tal_loops;

/**
 * Find clusters, ranks and independent speeds.
 *
 * A row counts as dependent when the others leave less than 1e-9 of it: q should meet the
 * constraints to better than that (tal_assembler_assemble()).
 *
 * @param[in]     system  with matter; must outlive the loops
 * @param[in,out] state   at TAL_STAGE_INSTANCE or above; what is missing up to Velocity is realized
 * @param[out]    out     owned by the caller; NULL on failure
 * @param[out]    err     may be NULL
 * @return TAL_OK, TAL_ERR_NULL, TAL_ERR_BAD_VALUE without matter, TAL_ERR_NO_MEMORY, or what
 *         realizing returned
 */
TAL_NODISCARD TAL_API tal_status tal_loops_create(const tal_system *system, tal_state *state,
                                                  tal_loops **out, tal_error *err);

/// Free it. NULL is allowed.
TAL_API void tal_loops_destroy(tal_loops *loops);

/// How many clusters there are; those of fewer constraints and later ones come later.
TAL_API int tal_loops_num_clusters(const tal_loops *loops);

/// A cluster, from 0 on.
TAL_API tal_loop_cluster tal_loops_cluster(const tal_loops *loops, int cluster);

/// The cluster of a speed, counted as tal_body_u_start() does; -1: no constraint goes through it,
/// or its acceleration is known.
TAL_API int tal_loops_speed_cluster(const tal_loops *loops, int speed);

/// What a constraint adds.
TAL_API tal_loop_share tal_loops_share(const tal_loops *loops, tal_constraint_ix constraint);

enum {
    TAL_LOOPS_TEXT = 240 ///< bytes of an advice with its end
};

/**
 * How to loosen a constraint that has rows too many, in a sentence: a pin that closes a planar loop
 * may be a sphere in a cylinder, tal_constraint_add_point_on_line() (RBDA sec. 8.10). The motion
 * stays the same, and the forces of the loop become unique.
 *
 * @param[out] text  [TAL_LOOPS_TEXT] empty where nothing is too many
 * @return whether there is an advice
 */
TAL_API bool tal_loops_advice(const tal_loops *loops, tal_constraint_ix constraint, char text[]);

/**
 * Speeds that determine all others, by Gaussian elimination with complete pivoting (RBDA eqs. 8.48
 * to 8.51): u = G y with y = u at the speeds chosen, and udot = G ydot + g.
 *
 * Speeds whose accelerations are known are neither chosen nor do they follow: their rows of G are
 * zero, and g has their part.
 *
 * @param[in,out] state   that the loops were found in, or another one with the same locks. Needs
 *                        TAL_STAGE_VELOCITY; with `g`, TAL_STAGE_ACCELERATION, whose udot must meet
 *                        the constraints
 * @param[in]     wanted  [tal_matter_nu()] speeds that are to be independent if they can; NULL:
 *                        what suits the numbers best
 * @param[out]    chosen  [tal_matter_nu()] slots of the independent speeds, ascending
 * @param[out]    num     how many: speeds that are free, less the rank
 * @param[out]    G       nu x nu, of which the first `num` columns are written; no data: not wanted
 * @param[out]    g       [tal_matter_nu()] may be NULL
 */
TAL_NODISCARD TAL_API tal_status tal_loops_choose_speeds(tal_loops *loops, tal_state *state,
                                                         const bool wanted[], int chosen[],
                                                         int *num, tal_matrix G, double g[]);

/// The last failure of tal_loops_choose_speeds(); status TAL_OK when there is none. Never NULL;
/// borrowed until the next call.
TAL_API const tal_error *tal_loops_error(const tal_loops *loops);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_LOOPS_H
