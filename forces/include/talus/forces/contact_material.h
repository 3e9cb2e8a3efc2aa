// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_CONTACT_MATERIAL_H
#define TALUS_FORCES_CONTACT_MATERIAL_H

/**
 * @file talus/forces/contact_material.h
 * @brief What contact surfaces are made of, and how two materials combine (manual sec. 11.2).
 *
 *     tal_contact_material ball = tal_contact_material_of(TAL_RUBBER);
 *     ball.static_friction = 0.9;
 */

#include <talus/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup contactmaterial Contact materials
/// @{

/// What a surface is made of. Obtain it from tal_contact_material_default() or
/// tal_contact_material_of(), then edit. An infinite stiffness or foundation means that the surface
/// is rigid: only the other one is deformed, and only its dissipation is used. Of two surfaces that
/// can meet, at most one may be rigid.
typedef struct tal_contact_material {
    double stiffness;       ///< E / (1 - nu^2), plane strain [Pa]; for a power law [N/m^n]; > 0
    double foundation;      ///< of contact with a mesh: pressure per depth [Pa/m], confined modulus
                            ///< over thickness of the elastic layer; > 0
    double dissipation;     ///< c [s/m]: slow impacts at speed v bounce with e = 1 - c v; >= 0
    double static_friction; ///< mu_s; not less than mu_d
    double dynamic_friction; ///< mu_d; >= 0
    double viscous_friction; ///< mu_v [s/m]: friction per normal force and speed; >= 0
} tal_contact_material;

/// Soft and without losses: 1 MPa, 100 MPa/m, no dissipation, no friction.
TAL_API tal_contact_material tal_contact_material_default(void);

/// Materials whose elastic constants are in handbooks.
typedef enum tal_common_material {
    TAL_RUBBER,
    TAL_CAPSID, ///< of a bacteriophage
    TAL_NYLON,
    TAL_LEAD,
    TAL_CONCRETE,
    TAL_STEEL,
    TAL_DIAMOND,
    TAL_RIGID, ///< does not deform; not from a handbook
    TAL_NUM_COMMON_MATERIALS
} tal_common_material;

/**
 * A common material, by the table of manual sec. 11.2.2: rough values.
 *
 * The stiffness is E / (1 - nu^2). The dissipation is the table's for rubber, lead and steel and 0
 * where it has none. The foundation is that of a layer 1 cm thick. Friction depends on both
 * surfaces and on what is between them, so it is 0 here. Rigid is infinitely stiff, by stiffness
 * and by foundation, and without losses of its own.
 *
 * @return NaN, and a breach, for a number that is not in the list
 */
TAL_API tal_contact_material tal_contact_material_of(tal_common_material which);

/// Name of a common material, e.g. "steel"; never NULL; borrowed.
TAL_API const char *tal_common_material_name(tal_common_material which);

/// Plane-strain modulus E / (1 - nu^2) [Pa]: a small contact on a large body. `nu` in (-1, 0.5].
/// NaN, and a breach, for a bad value.
TAL_API double tal_plane_strain_modulus(double young, double poisson);

/// Confined modulus E (1 - nu) / ((1 + nu) (1 - 2 nu)) [Pa]: a layer that cannot expand sideways.
/// `nu` in (-1, 0.5). NaN, and a breach, for a bad value.
TAL_API double tal_confined_modulus(double young, double poisson);

/// The combination of the materials of surfaces 1 and 2.
typedef struct tal_contact_pair_material {
    double stiffness;   ///< E*
    double share1;      ///< s1: of a deformation x the share s1 x is that of surface 1
    double dissipation; ///< c = s1 c1 + s2 c2 [s/m]
    double static_friction, dynamic_friction, viscous_friction;
} tal_contact_pair_material;

/**
 * Combine two materials (manual sec. 11.2.2), for a law f = k x^n:
 *
 *     E* = (E1^(1/n) E2^(1/n) / (E1^(1/n) + E2^(1/n)))^n,   s1 = E2^(1/n) / (E1^(1/n) + E2^(1/n))
 *
 * with n = 3/2 for Hertz's law and n = 1 for an elastic foundation, which takes `foundation` for E.
 * Where E2 is infinite, E* = E1 and s1 = 1, and vice versa; NaN where both are.
 * Coefficients of friction combine as 2 mu1 mu2 / (mu1 + mu2), which is 0 when one of them is.
 */
TAL_API tal_contact_pair_material tal_contact_combine(const tal_contact_material *material1,
                                                      const tal_contact_material *material2,
                                                      double exponent);

/// The same from the foundations: n = 1, and `stiffness` is a pressure per depth [Pa/m].
TAL_API tal_contact_pair_material tal_contact_combine_foundations(
    const tal_contact_material *material1, const tal_contact_material *material2);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_CONTACT_MATERIAL_H
