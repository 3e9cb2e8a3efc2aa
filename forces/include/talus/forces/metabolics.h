// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_METABOLICS_H
#define TALUS_FORCES_METABOLICS_H

/**
 * @file talus/forces/metabolics.h
 * @brief Metabolic power of muscles: heat rates and work.
 *
 *     tal_metabolics def = tal_metabolics_default(TAL_METABOLICS_UMBERGER);
 *     tal_metabolic_rates rates;
 *     tal_muscle_calc_metabolics(forces, state, soleus, &def, &rates);
 *     rates.total // W
 *
 * Two models, Umberger 2010 (Umberger) and Bhargava 2004 (Bhargava), as OpenSim's probes have
 * them. With the muscle's mass m = density lo F0 / specific_tension, the fraction r of slow fibers,
 * the excitation x, the activation a, and us = r sin(pi x / 2), uf = (1 - r)(1 - cos(pi x / 2)):
 *
 *     Bhargava   activation   m (40 us + 133 uf)
 *                maintenance  m g(l) (74 us + 111 uf)
 *                shortening   -alpha dlf/dt
 *                work         -active fiber force * dlf/dt
 *     Umberger   activation and maintenance together, shortening and lengthening, work
 */

#include <talus/forces/muscle.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup metabolics Metabolic power
/// @{

/// Whose heat rates.
typedef enum tal_metabolic_model {
    TAL_METABOLICS_UMBERGER = 0, ///< 2010
    TAL_METABOLICS_BHARGAVA = 1  ///< 2004
} tal_metabolic_model;

/// How metabolic power is computed. Obtain it from tal_metabolics_default(), then edit.
typedef struct tal_metabolics {
    tal_metabolic_model model;
    double slow_fraction;    ///< r, of slow-twitch fibers, 0 ... 1; 0.5
    double density;          ///< [kg/m^3]; 1059.7
    double specific_tension; ///< [Pa]; 0.25e6
    double mass;             ///< of the muscle [kg]; 0: from density and specific tension
    double effort_scale;     ///< multiplies excitation, activation and active force; 1
    double aerobic_factor;   ///< S of Umberger's model; 1.5
    bool has_heat;           ///< activation and maintenance count; true
    bool has_shortening;     ///< heat of shortening and lengthening counts; true
    bool has_work;           ///< mechanical work counts; true
    bool has_negative_work;  ///< Umberger: also the work of lengthening fibers; true
    bool uses_recruitment;   ///< Umberger: the fraction of slow fibers follows the excitation; true
    bool uses_force_shortening; ///< Bhargava: alpha depends on the force; false
    bool forbids_negative;      ///< heat of shortening is raised until heat + work >= 0; true
    bool has_least_heat;        ///< heat is at least 1 W/kg; only where all heat counts; true
} tal_metabolics;

/// A model with its usual numbers.
TAL_API tal_metabolics tal_metabolics_default(tal_metabolic_model model);

/// What metabolic power is computed from.
typedef struct tal_metabolic_state {
    double excitation;    ///< x
    double activation;    ///< a
    double norm_fiber;    ///< l = lf / lo
    double fiber_speed;   ///< dlf/dt [m/s], negative when shortening
    double active_curve;  ///< fal(l)
    double active_force;  ///< of the fibers [N]
    double passive_force; ///< of the fibers, damping included [N]
    double max_force;     ///< F0 [N]
    double fiber_length;  ///< lo [m]
    double max_speed;     ///< vmax [lo/s]
} tal_metabolic_state;

/// Rates of one muscle [W].
typedef struct tal_metabolic_rates {
    double activation;  ///< heat; of Umberger's model with maintenance in it
    double maintenance; ///< heat; of Umberger's model zero
    double shortening;  ///< heat of shortening and lengthening
    double work;        ///< mechanical work rate, positive when shortening
    double total;       ///< what counts of them, after the lower limits
    double mass;        ///< of the muscle [kg]
} tal_metabolic_rates;

/// Rates from numbers: for other muscle models, and for tests. A NaN gives NaN.
TAL_API tal_metabolic_rates tal_metabolics_calc(const tal_metabolics *def,
                                                const tal_metabolic_state *at);

/// Rates of a muscle of a System. Needs TAL_STAGE_VELOCITY.
TAL_API TAL_NODISCARD tal_status tal_muscle_calc_metabolics(const tal_forces *forces,
                                                            tal_state *state, tal_force_ix muscle,
                                                            const tal_metabolics *def,
                                                            tal_metabolic_rates *rates);

/// The total rate as a measure of one value at TAL_STAGE_DYNAMICS [W], owned by the force
/// subsystem: integrate it (tal_measure_add_integrate()) for the energy. Before the topology is
/// realized; sticky. `def` is copied.
TAL_API tal_measure_ix tal_measure_add_metabolics(tal_forces *forces, const char *name,
                                                  tal_force_ix muscle, const tal_metabolics *def);

/// Basal power of a body of this mass: 1.2 W/kg [W].
TAL_API double tal_metabolics_basal(double body_mass);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_METABOLICS_H
