// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_CONTACT_H
#define TALUS_FORCES_CONTACT_H

/**
 * @file talus/forces/contact.h
 * @brief Compliant contact: surfaces on bodies that push each other where they overlap.
 *
 *     tal_force_ix contact = tal_forces_add_contact(forces, "contact", NULL);
 *     tal_contact_surface_def floor = tal_contact_surface_def_default();
 *     floor.shape = tal_shape_half_space();
 *     floor.X_BS = ...;                              // its outward normal is -x: turn it up
 *     tal_contact_add_surface(forces, contact, &floor);
 *     tal_contact_surface_def ball = tal_contact_surface_def_default();
 *     ball.body = body;
 *     ball.shape = tal_shape_sphere(0.1);
 *     tal_contact_add_surface(forces, contact, &ball);
 *
 * One element holds all surfaces that can meet. Two surfaces meet when they are on different bodies
 * and have no clique in common (shape.h says which shapes can). Undeformed shapes that
 * overlap by a depth x represent bodies that have been flattened by that much. The materials
 * decide how hard they push back, where, and how much energy is lost; see doc/contact.md.
 *
 * Points obey Hertz's law with Hunt and Crossley's dissipation (manual sec. 11.2.2), a power law,
 * or that of a surface that relaxes; each face or facet is a spring of an elastic foundation.
 * Contacts are summed in the order of their surfaces, regardless of how they were found.
 *
 * What varies is in the State. Shapes and frames of surfaces invalidate Position; materials and
 * grip Dynamics. Contacts are found on request from Position on, and kept until a pose or a shape
 * changes.
 */

#include <talus/forces/contact_material.h>
#include <talus/forces/force.h>
#include <talus/geometry.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup contact Compliant contact
/// @{

/// How two surfaces that touch at a point push back.
typedef enum tal_contact_law {
    TAL_CONTACT_HERTZ,   ///< f = 4/3 sqrt(R) E* x^(3/2), or an ellipse; no sharp corners
    TAL_CONTACT_POWER,   ///< f = k x^n, whatever the curvature; `stiffness` is k [N/m^n]
    TAL_CONTACT_RELAXING ///< the surface is a spring k x^n and a damper, without mass: left alone
                         ///< it takes time to come back (RBDA sec. 11.8)
} tal_contact_law;

/// How they resist sliding.
typedef enum tal_contact_friction {
    TAL_CONTACT_STRIBECK, ///< mu(v): a curve with two continuous derivatives; bodies at rest creep
    TAL_CONTACT_HOLLARS,  ///< mu(v): steeper at rest, so less creep; a kink at the transition speed
    TAL_CONTACT_SOFT_COULOMB, ///< the surface gives way like a damped spring, then slides (RBDA
                              ///< sec. 11.8); no creep
    TAL_CONTACT_ELASTOPLASTIC ///< single-state presliding friction (manual sec. 11.2.3): no
                              ///< creep, even when shaken below break-away
} tal_contact_friction;

/// How friction begins: at which speed, and, for friction with memory, with which springs.
typedef struct tal_contact_grip {
    double transition_speed; ///< [m/s] > 0: below it friction is static, or almost
    /// @name Friction with memory only: the springs between two surfaces that stick
    /// @{
    double stiffness; ///< [N/m] > 0
    double damping;   ///< [N s/m] > 0
    double breakaway; ///< part of the friction that is purely elastic, 0 (LuGre's model) to 1; the
                      ///< last tenth before a patch slides never is
    /// @}
} tal_contact_grip;

/// What a contact element is made from. Obtain it from tal_contact_def_default(), then edit.
typedef struct tal_contact_def {
    tal_contact_law law;
    double exponent;        ///< n of a power law, at least 1; Hertz's is 3/2 in any case
    double relaxation_time; ///< damper over spring of a surface that relaxes [s] > 0
    tal_contact_friction friction;
    tal_contact_grip grip; ///< initial values, which a State can change
    /// @name Capacities. Zero: chosen from the surfaces. More than that is TAL_ERR_CAPACITY.
    /// @{
    int max_pairs;    ///< pairs of surfaces whose boxes overlap
    int max_points;   ///< point contacts
    int max_faces;    ///< faces of meshes in contact
    int max_bristles; ///< places that have a memory, in contact or not; zero: 3000
    /// @}
} tal_contact_def;

/// Hertz and Hunt-Crossley, Stribeck friction with 0.01 m/s; bristles of 1e5 N/m and 1e2 N s/m that
/// break away at 0.7; 1 ms of relaxation; capacities chosen.
TAL_API tal_contact_def tal_contact_def_default(void);

/// One surface of a contact element; `i` below zero means "none".
typedef struct tal_contact_surface_ix {
    int i;
} tal_contact_surface_ix;

/// What a surface is made from. Obtain it from tal_contact_surface_def_default(), then edit.
typedef struct tal_contact_surface_def {
    const char *name; ///< unique in the element, for messages; NULL: "surface<index>"; copied
    tal_body_ix body;
    tal_xform X_BS; ///< the shape's frame S on the body
    tal_shape shape;
    tal_contact_material material;
    uint64_t cliques; ///< one bit each: surfaces with a bit in common do not meet
} tal_contact_surface_def;

/// A half-space on Ground of tal_contact_material_default(), in no clique.
TAL_API tal_contact_surface_def tal_contact_surface_def_default(void);

/// Add a contact element without surfaces. `def` is copied; NULL means the default.
TAL_API tal_force_ix tal_forces_add_contact(tal_forces *forces, const char *name,
                                            const tal_contact_def *def);

/// Add a surface to a contact element, before the topology is realized. `i` < 0 on failure, which
/// the System remembers.
TAL_API tal_contact_surface_ix tal_contact_add_surface(tal_forces *forces, tal_force_ix contact,
                                                       const tal_contact_surface_def *def);

/// How friction begins in a State. NaN on a breach.
TAL_API tal_contact_grip tal_contact_grip_of(const tal_forces *forces, const tal_state *state,
                                             tal_force_ix contact);

/// Change how friction begins; invalidates TAL_STAGE_DYNAMICS. Refuses the values that building
/// refuses.
TAL_API tal_status tal_contact_set_grip(const tal_forces *forces, tal_state *state,
                                        tal_force_ix contact, const tal_contact_grip *grip);

/// Number of surfaces; -1 on a breach.
TAL_API int tal_contact_num_surfaces(const tal_forces *forces, tal_force_ix contact);

/// Name of a surface; never NULL; borrowed.
TAL_API const char *tal_contact_surface_name(const tal_forces *forces, tal_force_ix contact,
                                             tal_contact_surface_ix surface);

/// Body of a surface; `i` < 0 on a breach.
TAL_API tal_body_ix tal_contact_surface_body(const tal_forces *forces, tal_force_ix contact,
                                             tal_contact_surface_ix surface);

/// @name Surfaces in a State. NaN, or a shape of no size, on a breach.
/// Setters refuse the values that building refuses. A shape keeps its kind and its mesh.
/// @{
TAL_API tal_contact_material tal_contact_surface_material(const tal_forces *forces,
                                                          const tal_state *state,
                                                          tal_force_ix contact,
                                                          tal_contact_surface_ix surface);
/// Invalidates TAL_STAGE_DYNAMICS.
TAL_API tal_status tal_contact_surface_set_material(const tal_forces *forces, tal_state *state,
                                                    tal_force_ix contact,
                                                    tal_contact_surface_ix surface,
                                                    const tal_contact_material *material);
TAL_API tal_shape tal_contact_surface_shape(const tal_forces *forces, const tal_state *state,
                                            tal_force_ix contact, tal_contact_surface_ix surface);
/// Invalidates TAL_STAGE_POSITION.
TAL_API tal_status tal_contact_surface_set_shape(const tal_forces *forces, tal_state *state,
                                                 tal_force_ix contact,
                                                 tal_contact_surface_ix surface,
                                                 const tal_shape *shape);
TAL_API tal_xform tal_contact_surface_X_BS(const tal_forces *forces, const tal_state *state,
                                           tal_force_ix contact, tal_contact_surface_ix surface);
/// Invalidates TAL_STAGE_POSITION.
TAL_API tal_status tal_contact_surface_set_X_BS(const tal_forces *forces, tal_state *state,
                                                tal_force_ix contact,
                                                tal_contact_surface_ix surface,
                                                const tal_xform *X_BS);

/// @}

/// One contact: a point, or the patch of a mesh. Surface 1 is the one added first.
typedef struct tal_contact_info {
    tal_contact_surface_ix surface[2];
    const char *surface_name[2]; ///< borrowed from the System
    tal_body_ix body[2];
    const char *body_name[2]; ///< borrowed from the System
    int feature;              ///< which of the points that two surfaces can have; 0 for a patch
    tal_vec3 p_G;             ///< where the force acts; of a patch: the center of pressure [m]
    tal_vec3 n_G;             ///< normal, from surface 2 towards surface 1
    double depth;             ///< overlap of the undeformed surfaces; of a patch: the largest [m]
    double depth_rate;        ///< its rate, positive while they approach [m/s]
    tal_vec3 slip_G; ///< velocity of surface 1 relative to surface 2 there, tangential [m/s]
    /// Of the patch, larger first; of faces: that of a circle of their area [m].
    double semi_axis[2];
    int num_faces;           ///< of a patch; 0 for a point
    double normal_force;     ///< not negative [N]
    tal_vec3 f_G;            ///< force on surface 1, friction included; -f_G acts on surface 2 [N]
    tal_vec3 m_G;            ///< moment on surface 1 about p_G; zero for a point [N m]
    double potential_energy; ///< [J]
    double dissipated_power; ///< [W]
} tal_contact_info;

/// Number of contacts. Needs TAL_STAGE_VELOCITY; -1 on failure.
TAL_API int tal_contact_num(const tal_forces *forces, tal_state *state, tal_force_ix contact);

/// One contact, in the order of surfaces and features. Needs TAL_STAGE_VELOCITY.
TAL_API TAL_NODISCARD tal_status tal_contact_calc(const tal_forces *forces, tal_state *state,
                                                  tal_force_ix contact, int i,
                                                  tal_contact_info *out);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_CONTACT_H
