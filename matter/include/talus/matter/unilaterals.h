// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_UNILATERALS_H
#define TALUS_MATTER_UNILATERALS_H

/**
 * @file talus/matter/unilaterals.h
 * @brief The built-in unilateral elements: contacts, stops, ropes, ratchets, dry friction.
 *
 *     tal_unilateral_def def = tal_unilateral_def_default();
 *     def.name = "heel";
 *     def.material.static_mu = def.material.sliding_mu = 0.8;
 *     tal_unilateral_add_point_on_plane(matter, &def, TAL_GROUND, &floor, foot, heel);
 *
 * Only name, material, load and `disabled` of the def are used. An element adds one constraint,
 * "<name> normal", and, if its material has friction (static_mu or limit above zero),
 * "<name> grip". Stations, directions and frames are given in the frame B of their body, in meters.
 * Adding is sticky.
 */

#include <talus/matter/unilateral.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup unilaterals Built-in unilateral elements
/// @{

/// A station of body 2 over a plane of body 1: xy of the frame, z out of body 1. The gap is the
/// height of the station. Where it sticks it is anchored.
/// @param[in] def  NULL means the default
TAL_API tal_unilateral_ix tal_unilateral_add_point_on_plane(tal_matter *matter,
                                                            const tal_unilateral_def *def,
                                                            tal_body_ix body1,
                                                            const tal_xform *plane,
                                                            tal_body_ix body2, tal_vec3 station);

/// A sphere of body 2 over a plane of body 1. The gap is the height of the center less the radius;
/// where it sticks it rolls.
/// @param[in] def  NULL means the default
TAL_API tal_unilateral_ix tal_unilateral_add_sphere_on_plane(
    tal_matter *matter, const tal_unilateral_def *def, tal_body_ix body1, const tal_xform *plane,
    tal_body_ix body2, tal_vec3 center, double radius);

/// Two spheres, outside of each other. The gap is the distance of the centers less both radii;
/// where they stick they roll.
/// @param[in] def  NULL means the default
TAL_API tal_unilateral_ix tal_unilateral_add_sphere_on_sphere(tal_matter *matter,
                                                              const tal_unilateral_def *def,
                                                              tal_body_ix body1, tal_vec3 center1,
                                                              double radius1, tal_body_ix body2,
                                                              tal_vec3 center2, double radius2);

/// Sphere 2 inside sphere 1, which is larger: a ball in a bowl. The gap is the difference of the
/// radii less the distance of the centers; where they stick they roll. Concentric spheres have no
/// direction, and z is taken: results are finite, and the gap is right.
/// @param[in] def  NULL means the default
TAL_API tal_unilateral_ix tal_unilateral_add_sphere_in_sphere(tal_matter *matter,
                                                              const tal_unilateral_def *def,
                                                              tal_body_ix body1, tal_vec3 center1,
                                                              double radius1, tal_body_ix body2,
                                                              tal_vec3 center2, double radius2);

/// Two straight edges without ends, unless tal_unilateral_limit_edges() gives them some: frames
/// with x along the edge, z of edge 1 out of body 1. The gap is their distance along the common
/// normal out of body 1.
/// @param[in] def  NULL means the default
TAL_API tal_unilateral_ix tal_unilateral_add_edge_on_edge(tal_matter *matter,
                                                          const tal_unilateral_def *def,
                                                          tal_body_ix body1, const tal_xform *edge1,
                                                          tal_body_ix body2,
                                                          const tal_xform *edge2);

/// A coordinate does not go beyond a bound: above it if `is_upper`, below it if not. The gap is
/// what is left. Only where qdot = u.
/// @param[in] def    NULL means the default
/// @param[in] bound  [m or rad]
TAL_API tal_unilateral_ix tal_unilateral_add_stop(tal_matter *matter, const tal_unilateral_def *def,
                                                  tal_mobility at, double bound, bool is_upper);

/// A rope without mass between two stations, which keeps them from being farther apart than its
/// length. The gap is its slack.
/// @param[in] def     NULL means the default
/// @param[in] length  [m] positive
TAL_API tal_unilateral_ix tal_unilateral_add_rope(tal_matter *matter, const tal_unilateral_def *def,
                                                  tal_body_ix body1, tal_vec3 station1,
                                                  tal_body_ix body2, tal_vec3 station2,
                                                  double length);

/// A speed that does not fall below a value; with `sign` -1 one that does not rise above it. It
/// engages without an impact.
/// @param[in] def    NULL means the default
/// @param[in] speed  [m/s or rad/s]
/// @param[in] sign   +1 or -1
TAL_API tal_unilateral_ix tal_unilateral_add_ratchet(tal_matter *matter,
                                                     const tal_unilateral_def *def, tal_mobility at,
                                                     double speed, int sign);

/// Friction of a force up to material.limit that brings a speed to a value and keeps it there: a
/// dry joint (speed 0), a clutch, a motor of limited force.
/// @param[in] def    with a limit above zero, or a load
/// @param[in] speed  [m/s or rad/s]
TAL_API tal_unilateral_ix tal_unilateral_add_dry_friction(tal_matter *matter,
                                                          const tal_unilateral_def *def,
                                                          tal_mobility at, double speed);

/// @}
/// @name Limits
/// Within its limits an element may touch; beyond them there is nothing: a table ends, and what is
/// pushed over its edge falls. tal_contacts (talus/study/contacts.h) enables an element where it is
/// within, and disables it where it runs off.
/// @{

/**
 * A point or a sphere on a plane touches within a convex polygon only. Once for an element.
 *
 * @param[in] xy  [2 count] corners in the plane, counterclockwise about its z [m]; copied
 * @return TAL_OK, or why the polygon is refused (sticky)
 */
TAL_API tal_status tal_unilateral_limit_polygon(tal_matter *matter, tal_unilateral_ix element,
                                                const double xy[], int count);

/**
 * Edges end at this distance from the origins of their frames, to both sides. Edges that are nearly
 * parallel (to a thousandth of a radian) do not touch either. Once for an element.
 *
 * @param[in] half1, half2  [m] positive, or INFINITY
 * @return TAL_OK, or why they are refused (sticky)
 */
TAL_API tal_status tal_unilateral_limit_edges(tal_matter *matter, tal_unilateral_ix element,
                                              double half1, double half2);

/// @}
/// @name Friction in joints
/// It is made of material.limit and of the load that def.load names, in proportion to
/// material.static_mu or sliding_mu: one of the two must be there. In an impact it acts
/// with the impulses of the load.
///
///     pin = tal_constraint_add_loop_pin(matter, &between, &X_1, &X_2);
///     def.load = (tal_unilateral_load){pin, 2, 2, {radius, radius}}; // rows x and y
///     tal_unilateral_add_friction_about(matter, &def, body1, X_1.R.z, body2);
/// @{

/// Body 2 turns about an axis of body 1. A moment; where it sticks it does so at velocity level.
/// @param[in] def   with a limit or a load
/// @param[in] axis  not zero
TAL_API tal_unilateral_ix tal_unilateral_add_friction_about(tal_matter *matter,
                                                            const tal_unilateral_def *def,
                                                            tal_body_ix body1, tal_vec3 axis,
                                                            tal_body_ix body2);

/// A station of body 2 slides along a line of body 1. Where it sticks it is anchored.
/// @param[in] def        with a limit or a load
/// @param[in] direction  not zero
/// @param[in] point      of the line
TAL_API tal_unilateral_ix tal_unilateral_add_friction_along(tal_matter *matter,
                                                            const tal_unilateral_def *def,
                                                            tal_body_ix body1, tal_vec3 direction,
                                                            tal_vec3 point, tal_body_ix body2,
                                                            tal_vec3 station);

/// A station of body 2 slides over the plane xy of a frame on body 1, which a constraint keeps it
/// in. Where it sticks it is anchored.
/// @param[in] def  with a limit or a load
TAL_API tal_unilateral_ix tal_unilateral_add_friction_over(tal_matter *matter,
                                                           const tal_unilateral_def *def,
                                                           tal_body_ix body1,
                                                           const tal_xform *plane,
                                                           tal_body_ix body2, tal_vec3 station);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_UNILATERALS_H
