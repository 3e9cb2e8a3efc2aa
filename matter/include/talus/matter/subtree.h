// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_SUBTREE_H
#define TALUS_MATTER_SUBTREE_H

/**
 * @file talus/matter/subtree.h
 * @brief How some bodies move against one that carries them, as functions of their own q, u and
 *        udot: for constraints, controllers and goals that look at a part of a model.
 *
 *     const tal_body_ix ends[] = {left_hand, right_hand};
 *     st = tal_subtree_create(matter, state, pelvis, ends, 2, &arms, &err);
 *     n = tal_subtree_list(arms, TAL_VARIABLE_Q, slots);       // which of matter's q they are
 *     st = tal_subtree_kinematics(arms, q, NULL, NULL, X, NULL, NULL);
 *
 * Values of a State are packed with tal_variables_pack().
 */

#include <talus/matter/prescribed.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup subtree Parts of the tree
/// @{

/// The bodies on the ways from an ancestor to some terminal bodies. Opaque. Use from one thread at
/// a time.
typedef struct tal_subtree tal_subtree;

/**
 * Create a part of the tree. All memory it will ever use is taken here.
 *
 * @param[in]  matter     must outlive it
 * @param[in]  state      whose frames, parameters and choices of angles are copied; at
 *                        TAL_STAGE_MODEL or above
 * @param[in]  ancestor   A: carries all terminal bodies; Ground carries everything
 * @param[in]  terminals  [num] where the ways end; more than one may be on one way
 * @param[out] out        owned by the caller; NULL on failure
 * @param[out] err        may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE when the ancestor does not carry a terminal body;
 *         TAL_ERR_BAD_INDEX, TAL_ERR_NULL, TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_subtree_create(const tal_matter *matter,
                                                    const tal_state *state, tal_body_ix ancestor,
                                                    const tal_body_ix terminals[], int num,
                                                    tal_subtree **out, tal_error *err);

/// Free it. NULL is allowed.
TAL_API void tal_subtree_destroy(tal_subtree *subtree);

/// How many bodies it has, the ancestor included. 0 for NULL.
TAL_API int tal_subtree_num_bodies(const tal_subtree *subtree);

/// Body k of it: 0 is the ancestor, parents come before their children. `i` < 0 on a breach.
TAL_API tal_body_ix tal_subtree_body(const tal_subtree *subtree, int k);

/// Which body of it a body of matter is; -1 when it is not among them.
TAL_API int tal_subtree_find(const tal_subtree *subtree, tal_body_ix body);

/// Numbers of its q and u, of all bodies but the ancestor, body after body. 0 for NULL.
TAL_API int tal_subtree_nq(const tal_subtree *subtree);
TAL_API int tal_subtree_nu(const tal_subtree *subtree);

/// Which of matter's variables its q, or its u and udot, are, as slots: for tal_variables_pack()
/// and tal_variables_unpack().
/// @param[out] slots  [tal_subtree_nq() or tal_subtree_nu()]
/// @return how many; -1 on a breach
TAL_API int tal_subtree_list(const tal_subtree *subtree, tal_variable_kind kind, int slots[]);

/**
 * Motion of all bodies B as seen from the ancestor A, at Bo and expressed in A: as tal_body_X_AB(),
 * tal_body_V_AB() and tal_body_A_AB() at these values.
 *
 * @param[in]  q     [tal_subtree_nq()] quaternions of any length but zero
 * @param[in]  u     [tal_subtree_nu()] NULL where neither V nor A is wanted
 * @param[in]  udot  [tal_subtree_nu()] NULL where A is not wanted
 * @param[out] X     [tal_subtree_num_bodies()] may be NULL
 * @param[out] V     [tal_subtree_num_bodies()] may be NULL
 * @param[out] A     [tal_subtree_num_bodies()] may be NULL
 * @return TAL_OK; TAL_ERR_NOT_FINITE or TAL_ERR_BAD_VALUE for values that a mobilizer cannot have;
 *         tal_subtree_error() has the sentence
 */
TAL_API TAL_NODISCARD tal_status tal_subtree_kinematics(tal_subtree *subtree, const double q[],
                                                        const double u[], const double udot[],
                                                        tal_xform X[], tal_spatial_vec V[],
                                                        tal_spatial_vec A[]);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_subtree_error(const tal_subtree *subtree);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_SUBTREE_H
