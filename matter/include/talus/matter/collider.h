// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_COLLIDER_H
#define TALUS_MATTER_COLLIDER_H

/**
 * @file talus/matter/collider.h
 * @brief Colliders: convex solids on bodies that do not penetrate each other.
 *
 *     tal_collider_def def = tal_collider_def_default();
 *     def.shape = tal_shape_half_space();
 *     def.X_BS = ...;                                  // its outward normal is -x: turn it up
 *     tal_matter_add_collider(matter, &def);           // a floor on Ground
 *     def.body = box;
 *     def.X_BS = TAL_XFORM_IDENTITY;
 *     def.shape = tal_shape_brick(tal_v3(0.1, 0.1, 0.1), 0.0);
 *     tal_matter_add_collider(matter, &def);
 *
 * Where unilateral elements (talus/matter/unilateral.h) are pairs that the model names, colliders
 * find out by themselves which of them touch, and where (talus/geometry/hull.h). They have no part
 * in the equations of motion: a tal_contact_stepper (talus/study/contact_stepper.h) takes them into
 * account; integrators do not, and refuse them unless told to ignore them, or unless
 * tal_matter_add_collider_elements() has put unilateral elements in their places.
 *
 * Two colliders meet when they are on different bodies and have no clique in common. Of their
 * materials the smaller coefficients count, and the larger speeds.
 */

#include <talus/geometry.h>
#include <talus/matter/unilateral.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup collider Colliders
/// @{

/// A collider. `i` below zero means "none".
typedef struct tal_collider_ix {
    int i;
} tal_collider_ix;

/// A collider to be added. Obtain it from tal_collider_def_default(), then edit.
typedef struct tal_collider_def {
    const char *name; ///< unique among colliders; NULL means "collider<index>"; copied
    tal_body_ix body;
    tal_xform X_BS;  ///< the shape's frame S on the body
    tal_shape shape; ///< one that tal_hull_create() takes; its mesh must outlive the System
    tal_unilateral_material material;
    uint64_t cliques; ///< one bit each: colliders with a bit in common do not meet
} tal_collider_def;

/// A half-space on Ground, without friction and restitution, in no clique.
TAL_API tal_collider_def tal_collider_def_default(void);

/// Add a collider, before the topology is realized; `i` < 0 on failure (sticky).
TAL_API tal_collider_ix tal_matter_add_collider(tal_matter *matter, const tal_collider_def *def);

/// Number of colliders; -1 on a breach.
TAL_API int tal_matter_num_colliders(const tal_matter *matter);

/// Look a collider up by name; `i` < 0 when there is none.
TAL_API tal_collider_ix tal_matter_find_collider(const tal_matter *matter, const char *name);

/// Name of a collider; never NULL; borrowed.
TAL_API const char *tal_collider_name(const tal_matter *matter, tal_collider_ix collider);

/// What a collider was added with; its name is borrowed. The default on a breach.
TAL_API tal_collider_def tal_collider_def_of(const tal_matter *matter, tal_collider_ix collider);

/// Its solid; borrowed; NULL on a breach.
TAL_API const tal_hull *tal_collider_hull(const tal_matter *matter, tal_collider_ix collider);

/// The material of a pair: the smaller friction and restitution, the larger speeds. The default,
/// and a breach, for NULL.
TAL_API tal_unilateral_material tal_collider_material(const tal_unilateral_material *a,
                                                      const tal_unilateral_material *b);

/**
 * Put unilateral elements in the places of all colliders, so that integrators know them, and a time
 * stepper with tal_contacts (talus/study/contacts.h) finds the time of each impact. Once, after all
 * colliders and before the topology is realized.
 *
 *     a solid and a half-space    its vertices on the plane, rounded by its radius: one for a
 *                                 sphere, two for a capsule, eight for a brick
 *     two spheres                 a sphere on a sphere
 *
 * Elements are named "a on b", and "a on b k" for vertex k of a solid with several; an element of
 * that name which is there already stays, with its own material. Other pairs that can meet are
 * refused by name: only a contact stepper finds where these touch.
 *
 * @return TAL_OK, TAL_ERR_BAD_VALUE naming the pair, or why elements were refused (sticky)
 */
TAL_API tal_status tal_matter_add_collider_elements(tal_matter *matter);

/// Whether tal_matter_add_collider_elements() was called; false on a breach.
TAL_API bool tal_matter_has_collider_elements(const tal_matter *matter);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_COLLIDER_H
