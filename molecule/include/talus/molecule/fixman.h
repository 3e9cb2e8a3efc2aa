// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MOLECULE_FIXMAN_H
#define TALUS_MOLECULE_FIXMAN_H

/**
 * @file talus/molecule/fixman.h
 * @brief Fixman's potential compensates the effect of rigid bonds and angles on the statistics.
 *
 * At a temperature T a molecule with stiff bonds and angles has its torsions distributed as
 * exp(-V/(R T)). With rigid ones the density is sqrt(det M) exp(-V/(R T)), M the mass matrix, which
 * depends on the torsions. The potential (FIX)
 *
 *     U = R T/2 ln det M - R T sum(2 ln r)
 *
 * restores the first, with the sum over bond lengths r that do move. With articulated inertias P,
 * hinge matrices H and D = H^T P H of the bodies
 *
 *     ln det M = sum over bodies of ln det D
 *     -dU/dq_k = R T tr(P [S_k x] Y),     Y = psi Y_parent psi^T + H D^-1 H^T
 *
 * in O(n), with S_k the motion of mobility k, [S x] its cross product, and Y the inverse inertia
 * felt at a body. The temperature is in the State; at zero, where it is at first, there is no such
 * potential and it costs nothing.
 */

#include <talus/molecule/instance.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup fixman Fixman's potential
/// @{

/// Its temperature in a State [K]; zero: there is none. NaN on a breach. Needs TAL_STAGE_MODEL.
TAL_API double tal_mol_fixman_temperature(const tal_mol_instance *instance, const tal_state *state);

/**
 * Set it; invalidates TAL_STAGE_DYNAMICS. Nothing else may hang on the bodies of the molecule.
 *
 * @param[in] temperature  [K] not negative
 * @return TAL_OK; TAL_ERR_BAD_VALUE, also if a bond moves otherwise than as a torsion, a cylinder,
 *         a slider or a ball
 */
TAL_API tal_status tal_mol_set_fixman_temperature(const tal_mol_instance *instance,
                                                  tal_state *state, double temperature);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MOLECULE_FIXMAN_H
