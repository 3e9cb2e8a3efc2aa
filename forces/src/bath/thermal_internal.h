// What thermostats know of the bodies: inertias and their square roots.
//
// With J the Jacobian of all bodies and diag(M_b) their spatial inertias, M = J^T diag(M_b) J. So a
// force -c M_b V_b on every body is -c M u along the speeds, and a random force with covariance M_b
// on every body has covariance M along the speeds: neither M nor a factor of it is ever formed.
#ifndef TALUS_FORCES_THERMAL_INTERNAL_H
#define TALUS_FORCES_THERMAL_INTERNAL_H

#include "core/element_internal.h"

/// One body, and the rotor that its mobilizer may turn.
typedef struct tali_thermal_body {
    tal_vec3 com_M; ///< center of mass from Mo, in M
    tal_sym3 I_C_M; ///< inertia about the center of mass, in M
    tal_mat3 root;  ///< root root^T = I_C_M
    double mass;    ///< [kg]
    double rotor;   ///< inertia along its only speed [kg m^2 or kg]; zero: there is no rotor
    int u;          ///< its first speed, in f
} tali_thermal_body;

/// Reserve room for all bodies; for tal_force_ops.declare.
void tali_thermal_reserve(tali_force_element *it, tal_forces *forces);

/// Fill it; a tal_force_ops.realize_instance.
tal_status tali_thermal_place(const void *self, const tal_force_context *context);

/// Momentum of a body about Mo, in Ground.
tal_spatial_vec tali_thermal_momentum(const tali_thermal_body *body,
                                      const tal_force_context *context, int b);

/// Its change in a small motion.
tal_spatial_vec tali_thermal_momentum_change(const tali_thermal_body *body,
                                             const tal_force_context *context,
                                             const tal_force_change *change, int b);

/// Speed of a body's rotor; zero where there is none.
double tali_thermal_rotor_speed(const tali_thermal_body *body, const tal_force_context *context,
                                int b);

/// Kinetic energy of all bodies and rotors [J].
double tali_thermal_energy(const tali_force_element *it, const tal_force_context *context);

/// Its change in a small motion.
double tali_thermal_energy_change(const tali_force_element *it, const tal_force_context *context,
                                  const tal_force_change *change);

/// Add -gamma times the change of the momenta of all bodies and rotors.
void tali_thermal_add_friction_change(const tali_force_element *it,
                                      const tal_force_context *context,
                                      const tal_force_change *change, double gamma,
                                      tal_spatial_vec dF[], double df[]);

#endif // TALUS_FORCES_THERMAL_INTERNAL_H
