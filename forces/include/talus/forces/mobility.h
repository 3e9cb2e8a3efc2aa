// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_MOBILITY_H
#define TALUS_FORCES_MOBILITY_H

/**
 * @file talus/forces/mobility.h
 * @brief Forces along mobilities: constant or discrete force, damper, friction, springs, stop.
 *
 * Elements on a speed u act along it:
 *
 *                    force f_u                                        dissipated power
 *     force          f                                                0 (work from outside)
 *     damper         -c u                                             c u^2
 *     friction       -((Fs - Fd) s exp((1 - s^2)/2) + Fd tanh(10 s) + c u),   s = u/v0    -f_u u
 *     global damper  -c u along every speed of matter                 c sum u^2
 *
 * Elements on a coordinate q act through f_u = N^T f_q, so their power is f_q qdot whatever the
 * mobilizer's speeds are:
 *
 *                    force f_q                             potential energy
 *     spring         -k (q - q0)                           k (q - q0)^2 / 2
 *     nonlinear      -dE/dq                                E(q)
 *     law            f(q), or f(q, qdot)                   0 (work from outside)
 *     stop           -k x max(0, 1 + d qdot) above,        k x^2 / 2
 *                    -k x max(0, 1 - d qdot) below
 *
 * with x = q - q_high above the range (positive), q - q_low below it (negative), zero within. A
 * stop never pulls; it dissipates the power -(k x + f_q) qdot.
 *
 * Friction is a smooth curve: it rises from zero to the static force Fs at the speed v0 (to 1e-8
 * Fd), falls to the dynamic force Fd and continues with the viscous term. It does not hold a load
 * at rest: under a load F < Fd it creeps with a speed of about v0 F / (10 Fd). Its slope at rest,
 * (1.65 (Fs - Fd) + 10 Fd) / v0 + c, is what an integrator must resolve.
 *
 * Coordinates are numbered as with angles: 0, 1, 2 of a ball are its body-XYZ angles, 3, 4, 5 of a
 * free body its distances, whatever the State uses. While the State describes the orientation by a
 * quaternion, an enabled element on one of the angles is refused when Instance is realized: a
 * spring cannot act on part of a quaternion. Units are those of the coordinate: [N m/rad] for an
 * angle, [N/m] for a distance, and so on.
 */

#include <talus/forces/params.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup mobilityforce Forces along mobilities
/// @{

/// @name On a speed: `mobility` names the body and which of its speeds
/// @{

/// Parameter of a mobility force.
enum {
    TAL_MOBILITY_FORCE_FORCE = 0 ///< f [N or N m]
};

/// Add a force along a speed: constant until it is set in the State.
/// @return its index, `i` < 0 on failure
TAL_API tal_force_ix tal_forces_add_mobility_force(tal_forces *forces, const char *name,
                                                   tal_mobility mobility, double force);

/// Parameter of a mobility damper and of a global damper.
enum {
    TAL_MOBILITY_DAMPER_DAMPING = 0 ///< c, force per speed, not negative
};

/// Add a linear damper on a speed.
TAL_API tal_force_ix tal_forces_add_mobility_damper(tal_forces *forces, const char *name,
                                                    tal_mobility mobility, double damping);

/// Add a linear damper on every speed of matter.
TAL_API tal_force_ix tal_forces_add_global_damper(tal_forces *forces, const char *name,
                                                  double damping);

/// Parameters of friction.
enum {
    TAL_FRICTION_STATIC = 0,  ///< Fs [N or N m], not below Fd
    TAL_FRICTION_DYNAMIC = 1, ///< Fd [N or N m], not negative
    TAL_FRICTION_VISCOUS = 2, ///< c, force per speed, not negative
    TAL_FRICTION_SPEED = 3    ///< v0, the speed of the largest force, positive
};

/// What friction is made of.
typedef struct tal_friction {
    double static_force;  ///< Fs
    double dynamic_force; ///< Fd
    double viscous;       ///< c
    double speed;         ///< v0
} tal_friction;

/// Add smoothed Coulomb and Stribeck friction on a speed.
TAL_API tal_force_ix tal_forces_add_mobility_friction(tal_forces *forces, const char *name,
                                                      tal_mobility mobility,
                                                      const tal_friction *friction);

/// @}

/// @name On a coordinate: `mobility` names the body and which of its coordinates, numbered as with
/// angles
/// @{

/// Parameters of a mobility spring.
enum {
    TAL_MOBILITY_SPRING_STIFFNESS = 0, ///< k, not negative
    TAL_MOBILITY_SPRING_REST = 1       ///< q0
};

/// Add a linear spring on a coordinate.
TAL_API tal_force_ix tal_forces_add_mobility_spring(tal_forces *forces, const char *name,
                                                    tal_mobility mobility, double stiffness,
                                                    double rest);

/// Add a spring on a coordinate from its potential energy. No parameters.
/// @param[in] energy  E(q) [J], of one argument, with a first derivative; adopted whether the call
///                    succeeds or not
TAL_API tal_force_ix tal_forces_add_mobility_nonlinear_spring(tal_forces *forces, const char *name,
                                                              tal_mobility mobility,
                                                              tal_function *energy);

/// Add a force on a coordinate as a function of it and its rate. No parameters. Its work counts as
/// external.
/// @param[in] force  f(q) or f(q, qdot), of one or two arguments; adopted whether the call succeeds
///                   or not
TAL_API tal_force_ix tal_forces_add_mobility_law(tal_forces *forces, const char *name,
                                                 tal_mobility mobility, tal_function *force);

/// Parameters of a stop.
enum {
    TAL_STOP_STIFFNESS = 0,   ///< k, not negative
    TAL_STOP_DISSIPATION = 1, ///< d [time per coordinate], not negative
    TAL_STOP_LOW = 2,         ///< q_low, may be -infinity
    TAL_STOP_HIGH = 3         ///< q_high, not below q_low, may be infinity
};

/// What a stop is made of.
typedef struct tal_stop {
    double stiffness;   ///< k
    double dissipation; ///< d
    double low;         ///< q_low
    double high;        ///< q_high
} tal_stop;

/// Add a stop: it pushes a coordinate back into its range.
TAL_API tal_force_ix tal_forces_add_mobility_stop(tal_forces *forces, const char *name,
                                                  tal_mobility mobility, const tal_stop *stop);

/// Parameters of a limit.
enum {
    TAL_LIMIT_LOWER = 0,           ///< may be -infinity
    TAL_LIMIT_UPPER = 1,           ///< not below the lower limit; may be infinity
    TAL_LIMIT_LOWER_STIFFNESS = 2, ///< [N m/rad or N/m], not negative
    TAL_LIMIT_UPPER_STIFFNESS = 3, ///< likewise
    TAL_LIMIT_DAMPING = 4,         ///< [N m s/rad or N s/m], not negative
    TAL_LIMIT_TRANSITION = 5       ///< w, where the stiffness has grown to its full value; positive
};

/// What a limit is made of.
typedef struct tal_limit {
    double lower, upper;
    double lower_stiffness, upper_stiffness;
    double damping;    ///< c
    double transition; ///< w
} tal_limit;

/// Add a smooth limit, as OpenSim's CoordinateLimitForce: beyond a limit stiffness and damping grow
/// from zero to their full values within the transition, by a quintic step.
TAL_API tal_force_ix tal_forces_add_mobility_limit(tal_forces *forces, const char *name,
                                                   tal_mobility mobility, const tal_limit *limit);
/// @}

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_MOBILITY_H
