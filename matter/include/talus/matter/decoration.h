// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_DECORATION_H
#define TALUS_MATTER_DECORATION_H

/**
 * @file talus/matter/decoration.h
 * @brief What bodies look like: shapes, lines, meshes and labels attached to them, for viewers.
 *
 * Decorations have no mass and touch nothing. Matter only keeps them; a viewer goes through the
 * list and places each with X_GD = X_GB X_BD.
 *
 *     tal_decoration ball = tal_decoration_sphere(0.1);
 *     ball.color = tal_v3(1.0, 0.5, 0.0);
 *     tal_matter_add_decoration(matter, bob, &ball);
 */

#include <talus/matter/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup decoration Decorations
/// @{

/// What is drawn, and what `size`, `end` and `text` mean for it.
typedef enum tal_decoration_kind {
    TAL_DECORATION_SPHERE,    ///< size.x: radius [m]
    TAL_DECORATION_BRICK,     ///< size: half lengths along x, y, z [m]
    TAL_DECORATION_CYLINDER,  ///< along y; size.x: radius, size.y: half height [m]
    TAL_DECORATION_ELLIPSOID, ///< size: radii along x, y, z [m]
    TAL_DECORATION_LINE,      ///< from the origin of D to `end` [m]
    TAL_DECORATION_MESH,      ///< text: path of a mesh file
    TAL_DECORATION_TEXT       ///< text: a label at the origin of D
} tal_decoration_kind;

/// One decoration. Obtain it from a function below, then edit.
typedef struct tal_decoration {
    tal_decoration_kind kind;
    tal_body_ix body; ///< the body it is attached to; tal_matter_add_decoration() sets it
    tal_xform X_BD;   ///< the decoration's frame D on the body
    tal_vec3 size;    ///< not negative; zero where `kind` has none
    tal_vec3 end;     ///< end of a line, in D
    tal_vec3 color;   ///< red, green, blue, each 0 to 1
    double opacity;   ///< 0 invisible to 1 solid
    double scale;     ///< factor on everything drawn, positive
    const char *text; ///< path or label; copied when added; NULL where `kind` has none
} tal_decoration;

/// @name Gray, solid, to scale, at the body's origin
/// @{
TAL_API tal_decoration tal_decoration_sphere(double radius);
TAL_API tal_decoration tal_decoration_brick(tal_vec3 half_lengths);
TAL_API tal_decoration tal_decoration_cylinder(double radius, double half_height);
TAL_API tal_decoration tal_decoration_ellipsoid(tal_vec3 radii);
TAL_API tal_decoration tal_decoration_line(tal_vec3 begin, tal_vec3 end);
TAL_API tal_decoration tal_decoration_mesh(const char *path);
TAL_API tal_decoration tal_decoration_text(const char *label);
/// @}

/**
 * Attach a decoration to a body, Ground included, before the topology is realized. Sticky.
 *
 * @param[in] decoration  copied, its text too
 * @return its number, counted through all bodies; -1 on failure
 */
TAL_API int tal_matter_add_decoration(tal_matter *matter, tal_body_ix body,
                                      const tal_decoration *decoration);

/// Number of decorations; -1 for NULL.
TAL_API int tal_matter_num_decorations(const tal_matter *matter);

/// Decoration `i`, in the order they were added; NULL and a breach when there is none. Borrowed for
/// as long as the System lives, once its topology is realized.
TAL_API const tal_decoration *tal_matter_decoration(const tal_matter *matter, int i);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_DECORATION_H
