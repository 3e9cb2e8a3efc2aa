// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_GEOMETRY_WRAP_H
#define TALUS_GEOMETRY_WRAP_H

/**
 * @file talus/geometry/wrap.h
 * @brief Strings drawn over a surface: where they touch it, and how long they are.
 *
 * A string runs from a point P1 to a point P2 past an obstacle. Where the straight line would go
 * through the obstacle the string bends: a straight piece from P1 that is tangent to the surface, a
 * geodesic on the surface, and a straight piece to P2 that is tangent again. All points are in the
 * frame W of the obstacle; lengths are in meters.
 *
 * | surface   | in W                                                | geodesic                   |
 * |-----------|-----------------------------------------------------|----------------------------|
 * | cylinder  | radius about z, from z = -length / 2 to length / 2  | helix, closed form         |
 * | sphere    | radius about the origin                             | great circle, closed form  |
 * | ellipsoid | semi-axes along x, y, z                             | Newton's method, to 1e-13  |
 * | torus     | within tube_radius of a circle of ring_radius in xy | Newton's method, to 1e-13  |
 *
 * **Sides.** A string takes the shorter way round an obstacle, and goes straight where the line is
 * free. With a side, one of +x, -x, ..., the string stays on that side: it never crosses the half
 * plane that begins at the axis of a cylinder (the center of a sphere or an ellipsoid) and points
 * away from the side. So it goes the long way round where the straight line would cross it, also
 * where the line passes far from the obstacle. As the ends move, length and tangents change without
 * a jump until an end crosses that half plane. A cylinder has the sides x and y. A torus has none:
 * a string goes through its hole.
 *
 * A string through a wide tube may have no single arc: it would touch two sides of the hole, or
 * leave the surface where that is hollow. Such a string is laid over the cylinder that is tangent
 * to the ring, at the place where it is shortest; its `stability` is 0.
 *
 * A cylinder holds the string only between its end faces: when both ends of the geodesic are
 * beyond, the string is straight.
 */

#include <talus/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup wrap Strings over surfaces
/// @{

/// Kinds of obstacles.
typedef enum tal_wrap_kind {
    TAL_WRAP_CYLINDER,
    TAL_WRAP_SPHERE,
    TAL_WRAP_ELLIPSOID,
    TAL_WRAP_TORUS
} tal_wrap_kind;

/// Number of kinds.
#define TAL_NUM_WRAP_KINDS 4

/// On which side of an obstacle a string stays.
typedef enum tal_wrap_side {
    TAL_WRAP_ANY_SIDE, ///< the shorter way
    TAL_WRAP_PLUS_X,
    TAL_WRAP_MINUS_X,
    TAL_WRAP_PLUS_Y,
    TAL_WRAP_MINUS_Y,
    TAL_WRAP_PLUS_Z,
    TAL_WRAP_MINUS_Z
} tal_wrap_side;

/// Number of sides, "any" included.
#define TAL_NUM_WRAP_SIDES 7

/// An obstacle, by value. Make one with the functions below; nothing is checked before
/// tal_wrap_check() or the call that takes it.
typedef struct tal_wrap {
    tal_wrap_kind kind;
    /// cylinder: (radius, length, 0); sphere: (radius, 0, 0); ellipsoid: semi-axes; torus:
    /// (ring_radius, tube_radius, 0) [m]
    tal_vec3 size;
    tal_wrap_side side;
} tal_wrap;

/// A cylinder about z; `length` may be infinite.
TAL_API tal_wrap tal_wrap_cylinder(double radius, double length);

/// A sphere about the origin.
TAL_API tal_wrap tal_wrap_sphere(double radius);

/// An ellipsoid about the origin, with these semi-axes along x, y, z.
TAL_API tal_wrap tal_wrap_ellipsoid(tal_vec3 semi_axes);

/// A torus about z; the tube is thinner than the ring: `tube_radius` < `ring_radius`.
TAL_API tal_wrap tal_wrap_torus(double ring_radius, double tube_radius);

/// Name of a kind, e.g. "cylinder"; "unknown" for an invalid number; never NULL.
TAL_API const char *tal_wrap_kind_name(tal_wrap_kind kind);

/// Name of a side: "any", "+x", ...; "unknown" for an invalid number; never NULL.
TAL_API const char *tal_wrap_side_name(tal_wrap_side side);

/**
 * Whether the sizes of an obstacle are positive, finite and consistent, and it has that side.
 *
 * @param[in]  name  of the obstacle's owner, for the message; NULL: none
 * @param[out] err   what is wrong; may be NULL
 * @return TAL_OK, TAL_ERR_BAD_VALUE, TAL_ERR_NOT_FINITE, or TAL_ERR_NULL
 */
TAL_API tal_status tal_wrap_check(const tal_wrap *wrap, const char *name, tal_error *err);

/// Whether a string touches an obstacle.
typedef enum tal_wrap_contact {
    TAL_WRAP_FREE,   ///< it is straight
    TAL_WRAP_INSIDE, ///< an end is inside the obstacle: the string is straight, through it
    TAL_WRAP_FORCED, ///< it touches, though the straight line is free: it stays on its side
    TAL_WRAP_BENT,   ///< it touches: the straight line would go through the obstacle
    TAL_WRAP_FAILED  ///< no geodesic was found, or an argument is wrong
} tal_wrap_contact;

/// The part of a string that lies on a surface.
typedef struct tal_wrap_arc {
    tal_vec3 p[2];    ///< where it begins and ends, in W [m]
    tal_vec3 t[2];    ///< its direction there, from P1 towards P2, of length one
    double length;    ///< on the surface [m]
    double lift[2];   ///< lengths of the straight pieces to P1 and to P2 [m]
    double stability; ///< above zero where the string is the shortest one nearby, 0 if not known
} tal_wrap_arc;

/**
 * Draw a string from P1 to P2 over an obstacle.
 *
 * A pure function: the same arguments give the same bits.
 *
 * @param[in]  wrap  an obstacle that tal_wrap_check() accepts
 * @param[out] arc   written where the string touches: TAL_WRAP_FORCED and TAL_WRAP_BENT
 */
TAL_API tal_wrap_contact tal_wrap_find(const tal_wrap *wrap, tal_vec3 p1, tal_vec3 p2,
                                       tal_wrap_arc *arc);

/**
 * Points along an arc, its ends included, equally far from each other on the surface.
 *
 * @param[in]  n       number of points, 2 or more
 * @param[out] points  [n] in W [m]
 * @return TAL_OK, TAL_ERR_NULL or TAL_ERR_BAD_VALUE
 */
TAL_API TAL_NODISCARD tal_status tal_wrap_calc_points(const tal_wrap *wrap, const tal_wrap_arc *arc,
                                                      int n, tal_vec3 points[]);

/// How geodesics beside an arc move away from it, to first order: a neighbor that begins y to the
/// left and turned to the left by an angle g is a y + r g to the left where the arc ends, and
/// turned by da y + dr g. a dr - da r = 1.
typedef struct tal_wrap_spread {
    double a, da;     ///< da in [1/m]
    double r, dr;     ///< r in [m]
    tal_vec3 left[2]; ///< the normal x the direction at both ends, in W
} tal_wrap_spread;

/**
 * The spread beside an arc: in closed form, or to 1e-12. Derivatives of strings are made of it.
 *
 * @param[in]  arc     of tal_wrap_find() with the same obstacle
 * @param[out] spread  written on success only
 * @return TAL_OK, TAL_ERR_NULL, TAL_ERR_NOT_FINITE, or TAL_ERR_BAD_VALUE for an arc on a cylinder
 *         beside a torus
 */
TAL_API TAL_NODISCARD tal_status tal_wrap_calc_spread(const tal_wrap *wrap, const tal_wrap_arc *arc,
                                                      tal_wrap_spread *spread);

/// Where a point is relative to the surface: below zero inside, zero on it, above zero outside. Of
/// an ellipsoid the distance is estimated. NaN for a bad argument [m].
TAL_API double tal_wrap_clearance(const tal_wrap *wrap, tal_vec3 p);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_GEOMETRY_WRAP_H
