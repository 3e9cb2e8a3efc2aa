// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_URDF_H
#define TALUS_IO_URDF_H

/**
 * @file talus/io/urdf.h
 * @brief Robots in the Unified Robot Description Format, as a System and a State. doc/tables.md
 * says what becomes what.
 *
 *     tal_model model;
 *     tal_diagnostics *found = tal_diagnostics_create(NULL);
 *     if (tal_urdf_read_file("arm.urdf", NULL, &model, found) == TAL_OK) {
 *         tal_body_ix hand = tal_matter_find_body(model.matter, "hand");
 *         ...
 *     }
 *     tal_model_destroy(&model);
 *     tal_diagnostics_destroy(found);
 *
 * A link is a body with the link's frame; a joint is the mobilizer of its child, and the joint's
 * name that of the coordinate. The model has the name of the robot. Visuals become decorations, and
 * collisions, if wanted, contact with the floor. What is not read (transmissions, gazebo) is listed
 * in a note. Data that no real robot has, such as an inertia that violates the triangle inequality,
 * is accepted with a warning, or refused if `strict`.
 */

#include <talus/io/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup urdf URDF
/// @{

/// How to read. Obtain it from tal_urdf_options_default(), then edit.
typedef struct tal_urdf_options {
    tal_allocator allocator; ///< of the System, the State, and of reading
    /// The root link moves freely, or, where that is Ground, what is fixed to it; its coordinates
    /// `<link>_tx`, `_ty` and `_tz` say where it is. Otherwise the root is part of Ground.
    bool free_base;
    tal_vec3 g;       ///< acceleration of free fall, in Ground [m/s^2]
    bool dampers;     ///< make a damper of each joint's `damping`
    bool any_inertia; ///< do not warn about inertias that violate the triangle inequality
    bool strict;      ///< refuse data that no real robot has, instead of a warning
    /// Make compliant contact of the collision shapes of links that can move: with a floor at
    /// z = 0, not with each other. Corners and rims are rounded to a tenth of the smallest half
    /// length. Meshes must be closed, in `.obj` files.
    bool contact;
    /// Make colliders of them instead (talus/matter/collider.h), for a tal_contact_stepper: hard
    /// contact with the friction of `material`. Meshes must be convex.
    bool colliders;
    bool fixed_memory;             ///< as tal_model_options.fixed_memory
    tal_contact_material material; ///< of these shapes; the floor is rigid, with this friction
    const tal_model_param *starts; ///< [num_starts] as tal_model_options.starts
    int num_starts;
    /// Folders in which packages are looked up, "one:two", for meshes at `package://name/...`; also
    /// above the folder of the file. NULL: only there.
    const char *packages;
    /// Where relative paths of meshes begin; NULL: where the file is, and for a robot in memory
    /// nowhere.
    const char *folder;
} tal_urdf_options;

/// The C heap, a fixed base, 9.81 m/s^2 along -z, dampers, no contact; a material of 1 MPa, a
/// dissipation of 1 s/m and friction of 0.9 (static) and 0.8.
TAL_API tal_urdf_options tal_urdf_options_default(void);

/**
 * Read a URDF file. A root link named "world" or "ground" is Ground.
 *
 * @param[in]     options  NULL: the defaults
 * @param[out]    model    owned by the caller (tal_model_destroy()); all NULL on failure
 * @param[in,out] found    gets everything that is wrong, and notes; may be NULL
 * @return TAL_OK; TAL_ERR_FILE when the file cannot be read or has errors, TAL_ERR_BAD_VALUE when
 *         the only errors are starts that it does not have; TAL_ERR_NO_MEMORY,
 *         TAL_ERR_NULL
 */
TAL_API TAL_NODISCARD tal_status tal_urdf_read_file(const char *path,
                                                    const tal_urdf_options *options,
                                                    tal_model *model, tal_diagnostics *found);

/// The same from memory. `name` is used for the file in diagnostics.
TAL_API TAL_NODISCARD tal_status tal_urdf_read_memory(const char *name, const char *text,
                                                      size_t size, const tal_urdf_options *options,
                                                      tal_model *model, tal_diagnostics *found);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_URDF_H
