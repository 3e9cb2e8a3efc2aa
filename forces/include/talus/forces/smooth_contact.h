// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_SMOOTH_CONTACT_H
#define TALUS_FORCES_SMOOTH_CONTACT_H

/**
 * @file talus/forces/smooth_contact.h
 * @brief A sphere on a half-space whose force has two continuous derivatives, for optimizers.
 *
 * It is Simbody's SmoothSphereHalfSpaceForce: Hunt and Crossley's law with every corner smoothed by
 * a tanh. With the depth x and its rate xdot, the plane-strain modulus E of both surfaces and c,
 * the element pushes with
 *
 *     elastic = 4/3 k sqrt(R k) (x^2 + cf)^(3/4) (1 + tanh(bd x)) / 2,   k = E^(2/3) / 2
 *     f       = elastic (1 + 3/2 c xdot) (1 + tanh(bv (xdot + 2 / (3 c)))) / 2
 *
 * which is not zero at any distance, but small when the sphere is far away. Friction is a curve
 * mu(v) of the smoothed slip speed v = sqrt(slip^2 + cf), along -slip / v. The potential energy is
 * the integral of the elastic force (Simbody's, 2/5 elastic x, is an approximation), so that energy
 * is conserved.
 */

#include <talus/forces/contact.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @addtogroup contact
/// @{

/// Parameters of a smooth contact (params.h), in the units of tal_smooth_contact_def and
/// tal_contact_material. The first three invalidate Instance, the others Dynamics.
enum {
    TAL_SMOOTH_CENTER = 0, ///< of the sphere, in its body, 3 values [m]
    TAL_SMOOTH_PLANE = 3,  ///< frame of the half-space on its body: rotation by columns, origin
    TAL_SMOOTH_RADIUS = 15,
    TAL_SMOOTH_STIFFNESS = 16,
    TAL_SMOOTH_DISSIPATION = 17,
    TAL_SMOOTH_STATIC_FRICTION = 18,
    TAL_SMOOTH_DYNAMIC_FRICTION = 19,
    TAL_SMOOTH_VISCOUS_FRICTION = 20,
    TAL_SMOOTH_TRANSITION_SPEED = 21,
    TAL_SMOOTH_CF = 22,
    TAL_SMOOTH_BD = 23,
    TAL_SMOOTH_BV = 24
};

/// What a smooth contact is made from. Obtain it from tal_smooth_contact_def_default(), then edit.
typedef struct tal_smooth_contact_def {
    tal_body_ix sphere_body;
    tal_vec3 center; ///< in the sphere's body [m]
    double radius;   ///< [m] > 0
    tal_body_ix plane_body;
    tal_xform X_BF; ///< the half-space x >= 0 of F on its body: its outward normal is -x
    tal_contact_material material; ///< of both; `foundation` does not matter
    bool has_kink;           ///< friction by Hollars' curve, as Simbody's, instead of Stribeck's
    double transition_speed; ///< [m/s] > 0
    /// Under the roots [m^2] and [m^2/s^2] > 0: how soft the edges at x = 0 and v = 0 are.
    double cf;
    double bd; ///< [1/m] > 0: how fast the force rises at x = 0
    double bv; ///< [s/m] > 0: how fast it falls where the surfaces are torn apart
} tal_smooth_contact_def;

/// Simbody's numbers: cf 1e-5, bd 300, bv 50, transition speed 0.01; radius 1; a half-space on
/// Ground.
TAL_API tal_smooth_contact_def tal_smooth_contact_def_default(void);

/// Add a smooth contact. `def` is copied.
TAL_API tal_force_ix tal_forces_add_smooth_contact(tal_forces *forces, const char *name,
                                                   const tal_smooth_contact_def *def);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_SMOOTH_CONTACT_H
