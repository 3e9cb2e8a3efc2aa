// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_DIRECT_H
#define TALUS_MATTER_DIRECT_H

/**
 * @file talus/matter/direct.h
 * @brief Dynamics of a tree as plain functions of arrays: no stages, no caches, no State.
 *
 *     tal_direct *direct = NULL;
 *     st = tal_direct_create(matter, state, &direct, &err); // masses and frames of this State
 *     tal_direct_set_gravity(direct, tal_v3(0.0, -9.81, 0.0));
 *     st = tal_direct_forward_dynamics(direct, q, u, f, NULL, udot);
 *
 * For controllers, samplers and optimizers that ask the same tree again and again with other q and
 * u, and for trees so small that stages cost more than dynamics. The passes are those of the State,
 * and so are the results, to the bit.
 *
 * Everything is computed anew in each call: who wants M and udot of the same q is better served by
 * a State. Force elements do not act, only gravity and the forces in the call.
 */

#include <talus/matter/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup direct Direct functions
/// @{

/// A tree with the parameters of a State, and room to compute in. Opaque. Use from one thread at a
/// time; threads have one each.
typedef struct tal_direct tal_direct;

/**
 * Create the functions of a tree. All memory they will ever use is taken here.
 *
 * @param[in]     matter  must outlive them
 * @param[in,out] state   whose masses, frames and modeling choices are copied; realized to
 *                        TAL_STAGE_INSTANCE
 * @param[out]    out     owned by the caller; NULL on failure
 * @param[out]    err     may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE for a tree with constraints, locks or prescribed motion, which
 *         these functions could not obey; TAL_ERR_TOPOLOGY, TAL_ERR_NO_MEMORY, or what realizing
 *         returned
 */
TAL_API TAL_NODISCARD tal_status tal_direct_create(const tal_matter *matter, tal_state *state,
                                                   tal_direct **out, tal_error *err);

/// Free them. NULL is allowed.
TAL_API void tal_direct_destroy(tal_direct *direct);

/// Let a uniform field act on all bodies [m/s^2], in Ground. At first there is none.
TAL_API tal_status tal_direct_set_gravity(tal_direct *direct, tal_vec3 g);

/// Numbers of q and u. 0 for NULL.
TAL_API int tal_direct_nq(const tal_direct *direct);
TAL_API int tal_direct_nu(const tal_direct *direct);
/// Bodies, Ground included. 0 for NULL.
TAL_API int tal_direct_num_bodies(const tal_direct *direct);

/**
 * Where all bodies are, and how they move.
 *
 * @param[in]  q  [tal_direct_nq()]
 * @param[in]  u  [tal_direct_nu()]; NULL if V is
 * @param[out] X  [tal_direct_num_bodies()] X_GB; may be NULL
 * @param[out] V  [tal_direct_num_bodies()] V_GB in Ground; may be NULL
 * @return TAL_OK; TAL_ERR_NOT_FINITE; or what the table of a mobilizer returned
 */
TAL_API TAL_NODISCARD tal_status tal_direct_kinematics(tal_direct *direct, const double q[],
                                                       const double u[], tal_xform X[],
                                                       tal_spatial_vec V[]);

/**
 * Accelerations: M udot = f + J^T F + gravity - velocity-dependent forces.
 *
 * @param[in]  q     [tal_direct_nq()]
 * @param[in]  u     [tal_direct_nu()]
 * @param[in]  f     [tal_direct_nu()] forces along the speeds; NULL: none
 * @param[in]  F     [tal_direct_num_bodies()] forces on bodies, about Bo in Ground; NULL: none
 * @param[out] udot  [tal_direct_nu()]
 * @return TAL_OK; TAL_ERR_SINGULAR for a mobility that moves no mass; TAL_ERR_NOT_FINITE; or what
 *         the table of a mobilizer returned. tal_direct_error() has the sentence.
 */
TAL_API TAL_NODISCARD tal_status tal_direct_forward_dynamics(tal_direct *direct, const double q[],
                                                             const double u[], const double f[],
                                                             const tal_spatial_vec F[],
                                                             double udot[]);

/**
 * Accelerations of many States of the tree. Where the processor can, several are computed at once,
 * one in each lane of its registers (4 with AVX2, 8 with AVX-512), and a row has the bits that
 * tal_direct_forward_dynamics() gives it, whatever its neighbors are. Trees with other mobilizers
 * than pins, sliders, balls, translations, free joints and welds are computed one by one.
 *
 * @param[in]  n       how many
 * @param[in]  q       [n * tal_direct_nq()] row by row
 * @param[in]  u       [n * tal_direct_nu()]
 * @param[in]  f       [n * tal_direct_nu()] forces along the speeds; NULL: none
 * @param[out] udot    [n * tal_direct_nu()]; NaN in rows that fail
 * @param[out] status  [n] of each; may be NULL
 * @return TAL_OK, or the status of the first row that fails, whose sentence tal_direct_error() has;
 *         the others are computed all the same
 */
TAL_API TAL_NODISCARD tal_status tal_direct_forward_dynamics_many(tal_direct *direct, int n,
                                                                  const double q[],
                                                                  const double u[],
                                                                  const double f[], double udot[],
                                                                  tal_status status[]);

/// How many States are computed at once: 8, 4, or 1. 0 for NULL.
TAL_API int tal_direct_lanes(const tal_direct *direct);

/**
 * Forces along the speeds that give accelerations, besides F and gravity.
 *
 * @param[in]  q     [tal_direct_nq()]
 * @param[in]  u     [tal_direct_nu()]
 * @param[in]  udot  [tal_direct_nu()]; NULL: zero
 * @param[in]  F     [tal_direct_num_bodies()] forces on bodies, about Bo in Ground; NULL: none
 * @param[out] f     [tal_direct_nu()]
 */
TAL_API TAL_NODISCARD tal_status tal_direct_inverse_dynamics(tal_direct *direct, const double q[],
                                                             const double u[], const double udot[],
                                                             const tal_spatial_vec F[], double f[]);

/**
 * The mass matrix.
 *
 * @param[in]  q  [tal_direct_nq()]
 * @param[out] M  [tal_direct_nu() * tal_direct_nu()] column by column; symmetric
 */
TAL_API TAL_NODISCARD tal_status tal_direct_mass_matrix(tal_direct *direct, const double q[],
                                                        double M[]);

/**
 * The Jacobian of a frame on a body, along Ground's axes: (w, v) of its origin = J u.
 *
 * @param[in]  q     [tal_direct_nq()]
 * @param[in]  body
 * @param[in]  p_BS  its origin, from Bo in B
 * @param[out] J     [6 * tal_direct_nu()] column by column, angular rows above linear ones
 */
TAL_API TAL_NODISCARD tal_status tal_direct_frame_jacobian(tal_direct *direct, const double q[],
                                                           tal_body_ix body, tal_vec3 p_BS,
                                                           double J[]);

/// The last failure; status TAL_OK when there is none. Never NULL; borrowed until the next call.
TAL_API const tal_error *tal_direct_error(const tal_direct *direct);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_DIRECT_H
