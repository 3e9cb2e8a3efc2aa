// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MOLECULE_VELOCITY_H
#define TALUS_MOLECULE_VELOCITY_H

/**
 * @file talus/molecule/velocity.h
 * @brief Velocities at a temperature, in any coordinates.
 *
 * At temperature T the speeds have the density exp(-u^T M u/(2 R T)): their covariance is R T M^-1.
 * Drawing every speed by itself would be wrong. Instead every atom is given a random momentum, of
 * variance m R T in each direction; along the speeds these have covariance R T J^T diag(m) J = R T
 * M, and u = M^-1 p has what is wanted, in O(n). For atoms that move freely it is what everybody
 * does.
 *
 * Baths that keep a temperature are in talus/forces/thermostat.h, with kT = TAL_MOL_R T.
 */

#include <talus/molecule/instance.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup molvelocity Velocities of molecules
/// @{

/**
 * Give the bodies of a molecule random velocities at a temperature. Needs TAL_STAGE_POSITION;
 * invalidates TAL_STAGE_VELOCITY.
 *
 * The momentum of an atom is a function of the seed and the atom alone. Locks and constraints are
 * not known here: project afterwards (tal_system_project_u()).
 *
 * @param[in] temperature  [K], not negative
 */
TAL_API tal_status tal_mol_set_random_velocities(const tal_mol_instance *instance, tal_state *state,
                                                 double temperature, uint64_t seed);

/**
 * 2 K/(N R) [K], with K the kinetic energy of the bodies of a molecule and N its mobilities less
 * `removed`. Needs TAL_STAGE_VELOCITY; NaN on failure, and if N is not positive.
 *
 * @param[in] removed  mobilities that are not at temperature: 0, or what constraints and a momentum
 *                     that is kept zero take away
 */
TAL_API double tal_mol_calc_temperature(const tal_mol_instance *instance, tal_state *state,
                                        int removed);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MOLECULE_VELOCITY_H
