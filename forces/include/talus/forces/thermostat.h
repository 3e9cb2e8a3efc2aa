// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_THERMOSTAT_H
#define TALUS_FORCES_THERMOSTAT_H

/**
 * @file talus/forces/thermostat.h
 * @brief Baths of constant temperature: a Nose-Hoover chain, and Langevin's friction and noise.
 *
 * Both act on the whole of matter, along all speeds at once, with its mass matrix M: at temperature
 * T the mean of u_i (M u)_i is kT for every speed i, in any coordinates. Temperatures are given as
 * kT, Boltzmann's constant times temperature, in the model's unit of energy [J].
 *
 * **Nose-Hoover chain.** A friction c_0 that may be negative steers the temperature; each further
 * link steers the one before. With N degrees of freedom, kinetic energy K and relaxation time tau,
 *
 *     f = -c_0 M u
 *     c_0' = (2 K / (N kT) - 1) / tau^2 - c_0 c_1
 *     c_1' = N c_0^2 - 1 / tau^2 - c_1 c_2
 *     c_i' = c_(i-1)^2 - 1 / tau^2 - c_i c_(i+1)        s_i' = c_i
 *
 * It is deterministic and smooth, so any integrator can be used, and
 *
 *     energy of the system + kT (N tau^2 c_0^2 / 2 + N s_0 + sum_i>0 (tau^2 c_i^2 / 2 + s_i))
 *
 * is constant (MKT). c and s are z of the element.
 *
 * **Langevin.** Friction and noise, with noise that is renewed every interval dt:
 *
 *     f = -gamma M u + sqrt(2 gamma kT / dt) r,      covariance of r = M
 *
 * The noise is a function of seed, interval, body and q only: a run can be repeated and continued
 * bit for bit. It is constant through a step, which must be one interval long: use an
 * integrator with `fixed_step` = dt. A step that begins between two intervals, or extends past the
 * end of one, is refused with TAL_ERR_BAD_VALUE. Held noise makes the temperature low by a fraction
 * (gamma dt)^2 / 12, and it turns with the bodies while it is held: choose dt well below 1 / gamma,
 * and so that nothing turns by more than a tenth of a radian in it.
 *
 * Power that goes to a bath counts as dissipated, and is negative when it comes from there.
 */

#include <talus/forces/params.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup thermostat Thermostats
/// @{

/// The longest chain.
#define TAL_MAX_CHAIN 16

/// Parameters of a Nose-Hoover thermostat. All invalidate TAL_STAGE_DYNAMICS.
enum {
    TAL_THERMOSTAT_KT = 0,      ///< kT [J], positive
    TAL_THERMOSTAT_TIME = 1,    ///< tau [s], positive
    TAL_THERMOSTAT_EXCLUDED = 2 ///< degrees of freedom not to count, not negative
};

/// A Nose-Hoover thermostat. Obtain it from tal_thermostat_def_default(), then edit.
typedef struct tal_thermostat_def {
    double kT;              ///< [J]; must be set
    double relaxation_time; ///< tau [s]
    int chain_length;       ///< links, 1 ... TAL_MAX_CHAIN
    double excluded; ///< degrees of freedom that are not at temperature: 6 for a system that floats
                     ///< and whose momentum is zero and stays zero
} tal_thermostat_def;

/// tau = 0.1 s, three links, nothing excluded; kT is zero and must be set.
TAL_API tal_thermostat_def tal_thermostat_def_default(void);

/// Add a Nose-Hoover thermostat. Its z is the group "<name>.chain": c, then s.
/// @return its index, `i` < 0 on failure
TAL_API tal_force_ix tal_forces_add_thermostat(tal_forces *forces, const char *name,
                                               const tal_thermostat_def *def);

/// N: speeds that are neither locked nor prescribed, less acceleration constraints, less those
/// excluded. Needs TAL_STAGE_INSTANCE; NaN on failure.
TAL_API double tal_thermostat_dof(const tal_forces *forces, const tal_state *state,
                                  tal_force_ix force);

/// 2 K / N [J]: the kT of the present motion. Needs TAL_STAGE_VELOCITY; NaN on failure.
TAL_API double tal_thermostat_temperature(const tal_forces *forces, tal_state *state,
                                          tal_force_ix force);

/// Energy in the bath [J]: what makes the sum above constant. Needs TAL_STAGE_INSTANCE; NaN on
/// failure.
TAL_API double tal_thermostat_bath_energy(const tal_forces *forces, const tal_state *state,
                                          tal_force_ix force);

/// Number of links of the chain; -1 on a breach.
TAL_API int tal_thermostat_chain_length(const tal_forces *forces, tal_force_ix force);

/// @name The chain's variables
/// The c [1/s] and s [-] above. They are z of the State, zero at first; a run continues where
/// another ended if both are handed over. `n` must be tal_thermostat_chain_length(). Need
/// TAL_STAGE_MODEL.
/// @{

/// @param[out] c  [n] frictions; NULL: not wanted
/// @param[out] s  [n] their integrals; NULL: not wanted
TAL_API tal_status tal_thermostat_chain(const tal_forces *forces, const tal_state *state,
                                        tal_force_ix force, double c[], double s[], int n);

/// Set them; invalidates TAL_STAGE_DYNAMICS. A value that is not finite is refused, and nothing
/// changes.
/// @param[in] c  [n] frictions; NULL: they stay
/// @param[in] s  [n] their integrals; NULL: they stay
TAL_API tal_status tal_thermostat_set_chain(const tal_forces *forces, tal_state *state,
                                            tal_force_ix force, const double c[], const double s[],
                                            int n);

/// @}

/// Parameters of a Langevin bath.
enum {
    TAL_LANGEVIN_INTERVAL = 0, ///< dt [s], positive; invalidates TAL_STAGE_INSTANCE
    TAL_LANGEVIN_KT = 1,       ///< kT [J], not negative
    TAL_LANGEVIN_FRICTION = 2  ///< gamma [1/s], not negative
};

/// A Langevin bath. Obtain it from tal_langevin_def_default(), then edit.
typedef struct tal_langevin_def {
    double kT;       ///< [J]
    double friction; ///< gamma [1/s]
    double interval; ///< dt [s]: the step of the integrator; must be set
    uint64_t seed;   ///< of the noise
} tal_langevin_def;

/// No temperature, no friction, seed 0; the interval is zero and must be set.
TAL_API tal_langevin_def tal_langevin_def_default(void);

/// Add a Langevin bath.
/// @return its index, `i` < 0 on failure
TAL_API tal_force_ix tal_forces_add_langevin(tal_forces *forces, const char *name,
                                             const tal_langevin_def *def);

/// The seed of the noise in a State; 0 on a breach.
TAL_API uint64_t tal_langevin_seed(const tal_forces *forces, const tal_state *state,
                                   tal_force_ix force);

/// Set it; invalidates TAL_STAGE_DYNAMICS.
TAL_API tal_status tal_langevin_set_seed(const tal_forces *forces, tal_state *state,
                                         tal_force_ix force, uint64_t seed);

/// Forget which interval the last step was in. Call it after setting the time of a State by hand.
TAL_API tal_status tal_langevin_restart(const tal_forces *forces, tal_state *state,
                                        tal_force_ix force);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_THERMOSTAT_H
