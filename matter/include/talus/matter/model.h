// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_MODEL_H
#define TALUS_MATTER_MODEL_H

/**
 * @file talus/matter/model.h
 * @brief Building a tree of bodies, and the parameters of its bodies in a State.
 *
 * Every body comes with the mobilizer that connects it to its parent. Ground is body 0 and is built
 * in. Adding is sticky, as all building is (talus/state/system.h): a bad argument is remembered,
 * and tal_system_realize_topology() returns it with the body's name.
 *
 *     tal_matter *matter = tal_matter_create(system);
 *     tal_mobod_def rod = tal_mobod_def_default();
 *     rod.name = "upper";
 *     rod.mass = tal_mass_props_rod(1.0, tal_v3(0.0, 0.5, 0.0));
 *     rod.X_BM = tal_xf_from_p(tal_v3(0.0, 0.5, 0.0));
 *     const tal_body_ix upper = tal_matter_add_pin(matter, TAL_GROUND, &rod);
 */

#include <talus/matter/mobilizer.h>
#include <talus/state.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup matter Matter: bodies and their tree
/// @{

/// The matter subsystem of a System: its bodies. Opaque; owned by the System.
typedef struct tal_matter tal_matter;

/// A body and its mobilizer. Ground is 0; parents have smaller indices than their children; `i`
/// below zero means "none".
typedef struct tal_body_ix {
    int i;
} tal_body_ix;

static const tal_body_ix TAL_GROUND = {0};

/// How the mass of a body is distributed. Part of the topology: a particle never gets inertia.
typedef enum tal_body_structure {
    TAL_BODY_RIGID,    ///< any mass properties
    TAL_BODY_PARTICLE, ///< a point mass at Bo: com and inertia are zero
    TAL_BODY_LINE,     ///< mass along Mz: no inertia about it
    TAL_BODY_MASSLESS  ///< no mass, no inertia
} tal_body_structure;

/// A mobilized body: a body, and the mobilizer that connects it to its parent. Obtain it from
/// tal_mobod_def_default(), then edit.
typedef struct tal_mobod_def {
    const char *name;             ///< unique; NULL means "body<index>"; copied
    tal_body_structure structure; ///< what the mass properties may be
    tal_mass_props mass;          ///< mass, com from Bo, inertia about Bo, all in B
    tal_xform X_PF;               ///< the mobilizer's frame F on the parent
    tal_xform X_BM;               ///< its frame M on this body
    tal_direction direction;      ///< TAL_REVERSE: the coordinates place F in M
    bool use_angles;  ///< body-XYZ angles instead of a quaternion; can be changed in a State
    bool any_inertia; ///< accepts inertias that are not physical (tal_mass_props_excess()), as
                      ///< published; principal moments must not be negative even so
} tal_mobod_def;

/// A massless rigid body, both frames at the origins, forward, quaternions.
TAL_API tal_mobod_def tal_mobod_def_default(void);

/// Add matter to a System, with Ground in it. A System has one. Owned by the System; NULL on
/// failure.
TAL_API tal_matter *tal_matter_create(tal_system *system);

/// The matter of a System; NULL when it has none (that is not a breach). Borrowed.
TAL_API const tal_matter *tal_system_matter(const tal_system *system);

/// The System this matter belongs to; borrowed.
TAL_API const tal_system *tal_matter_system(const tal_matter *matter);

/**
 * Which kernels Systems use on this machine (ADR 20), for the records of results.
 *
 * "avx512" and "avx2" are for processors with fused multiply-adds, and agree in every bit; "
 * "any" uses no fused multiply-adds, and differs from them in the last bits; "fma" is the only set
 * of a build for one machine, if that has fused multiply-adds. Never NULL.
 */
TAL_API const char *tal_matter_kernel_set(void);

/// This matter as a subsystem.
TAL_API tal_subsystem_ix tal_matter_subsystem(const tal_matter *matter);

/**
 * Add a body with any mobilizer. All functions below make this call with a built-in table.
 *
 * @param[in] ops     must outlive the System
 * @param[in] self    adopted by this call whether it succeeds or not: `ops->destroy` will free it
 * @param[in] params  [ops->num_params] initial values; NULL means zeros
 * @return its index, `i` < 0 on failure
 */
TAL_API tal_body_ix tal_matter_add_mobilizer(tal_matter *matter, tal_body_ix parent,
                                             const tal_mobod_def *def, const tal_mobilizer_ops *ops,
                                             void *self, const double params[]);

/// @name Bodies with a built-in mobilizer (talus/matter/mobilizer.h says what q and u are)
/// @{
TAL_API tal_body_ix tal_matter_add_weld(tal_matter *matter, tal_body_ix parent,
                                        const tal_mobod_def *def);
TAL_API tal_body_ix tal_matter_add_pin(tal_matter *matter, tal_body_ix parent,
                                       const tal_mobod_def *def);
TAL_API tal_body_ix tal_matter_add_slider(tal_matter *matter, tal_body_ix parent,
                                          const tal_mobod_def *def);
/// @param[in] pitch  translation along z per radian [m/rad]
TAL_API tal_body_ix tal_matter_add_screw(tal_matter *matter, tal_body_ix parent,
                                         const tal_mobod_def *def, double pitch);
/// A pinion that rolls along x of F (doc/mobilizers.md).
/// @param[in] radius  of the pinion [m]; negative: the rack is on the side of -y
TAL_API tal_body_ix tal_matter_add_rack_and_pinion(tal_matter *matter, tal_body_ix parent,
                                                   const tal_mobod_def *def, double radius);
TAL_API tal_body_ix tal_matter_add_universal(tal_matter *matter, tal_body_ix parent,
                                             const tal_mobod_def *def);
TAL_API tal_body_ix tal_matter_add_cylinder(tal_matter *matter, tal_body_ix parent,
                                            const tal_mobod_def *def);
TAL_API tal_body_ix tal_matter_add_bend_stretch(tal_matter *matter, tal_body_ix parent,
                                                const tal_mobod_def *def);
TAL_API tal_body_ix tal_matter_add_planar(tal_matter *matter, tal_body_ix parent,
                                          const tal_mobod_def *def);
TAL_API tal_body_ix tal_matter_add_gimbal(tal_matter *matter, tal_body_ix parent,
                                          const tal_mobod_def *def);
TAL_API tal_body_ix tal_matter_add_bushing(tal_matter *matter, tal_body_ix parent,
                                           const tal_mobod_def *def);
/// @param[in] params  offsets, signs and axis as in tal_mobilizer_spherical_coords(); NULL means
///                    {0, 0, 1, 1, 1, 0}
TAL_API tal_body_ix tal_matter_add_spherical_coords(tal_matter *matter, tal_body_ix parent,
                                                    const tal_mobod_def *def,
                                                    const double params[6]);
TAL_API tal_body_ix tal_matter_add_translation(tal_matter *matter, tal_body_ix parent,
                                               const tal_mobod_def *def);
TAL_API tal_body_ix tal_matter_add_ball(tal_matter *matter, tal_body_ix parent,
                                        const tal_mobod_def *def);
/// @param[in] radii  of the ellipsoid [m], all positive
TAL_API tal_body_ix tal_matter_add_ellipsoid(tal_matter *matter, tal_body_ix parent,
                                             const tal_mobod_def *def, tal_vec3 radii);
TAL_API tal_body_ix tal_matter_add_line_orientation(tal_matter *matter, tal_body_ix parent,
                                                    const tal_mobod_def *def);
TAL_API tal_body_ix tal_matter_add_free_line(tal_matter *matter, tal_body_ix parent,
                                             const tal_mobod_def *def);
TAL_API tal_body_ix tal_matter_add_free(tal_matter *matter, tal_body_ix parent,
                                        const tal_mobod_def *def);
/// @param[in] length  of the beam [m], positive
TAL_API tal_body_ix tal_matter_add_cantilever(tal_matter *matter, tal_body_ix parent,
                                              const tal_mobod_def *def, double length);
/// @param[in] mobilizer  adopted by this call whether it succeeds or not
TAL_API tal_body_ix tal_matter_add_function_based(tal_matter *matter, tal_body_ix parent,
                                                  const tal_mobod_def *def,
                                                  tal_function_based *mobilizer);
/// @}

/// Number of bodies, Ground included.
TAL_API int tal_matter_num_bodies(const tal_matter *matter);

/// Look a body up by name; `i` < 0 when there is none (that is not a breach).
TAL_API tal_body_ix tal_matter_find_body(const tal_matter *matter, const char *name);

/// Name of a body; never NULL; borrowed.
TAL_API const char *tal_body_name(const tal_matter *matter, tal_body_ix body);

/// The parent; `i` < 0 for Ground.
TAL_API tal_body_ix tal_body_parent(const tal_matter *matter, tal_body_ix body);

/// Name of the mobilizer's kind, e.g. "pin"; "ground" for Ground. Borrowed.
TAL_API const char *tal_body_mobilizer(const tal_matter *matter, tal_body_ix body);

/// Number of speeds of a body's mobilizer.
TAL_API int tal_body_nu(const tal_matter *matter, tal_body_ix body);

/// First speed of a body among those of matter: its place in the arrays over u that matter's
/// operators and tal_applied_forces use. In the u of a State, matter's speeds begin at slot 0 if
/// matter was created before any other subsystem with speeds. Needs the topology, -1 before.
TAL_API int tal_body_u_start(const tal_matter *matter, tal_body_ix body);

/// @}
/// @defgroup coordinates Coordinates and parameters in a State
/// @{

/// Number of coordinates of a body's mobilizer. Needs TAL_STAGE_MODEL, -1 before.
TAL_API int tal_body_nq(const tal_matter *matter, const tal_state *state, tal_body_ix body);

/// Number of coordinates of a body's mobilizer when angles describe its orientation; the same as
/// tal_body_nq() where there is no quaternion. -1 on a breach.
TAL_API int tal_body_nq_angles(const tal_matter *matter, tal_body_ix body);

/// Whether qdot = u for a body's mobilizer, whatever the State. False on a breach.
TAL_API bool tal_body_qdot_is_u(const tal_matter *matter, tal_body_ix body);

/// First coordinate of a body in q. Needs TAL_STAGE_MODEL, -1 before.
TAL_API int tal_body_q_start(const tal_matter *matter, const tal_state *state, tal_body_ix body);

/// One coordinate of a body. NaN on a breach.
TAL_API double tal_body_q(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                          int i);
/// One speed of a body. NaN on a breach.
TAL_API double tal_body_u(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                          int i);
/// Set one coordinate of a body; invalidates TAL_STAGE_POSITION.
TAL_API tal_status tal_body_set_q(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                  int i, double value);
/// Set one speed of a body; invalidates TAL_STAGE_VELOCITY.
TAL_API tal_status tal_body_set_u(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                  int i, double value);

/// @name All coordinates, or speeds, of one body
/// In the mobilizer's order; a quaternion comes first, as w, x, y, z. `n` must be tal_body_nq(), or
/// tal_body_nu(). Need TAL_STAGE_MODEL. Setting: a value that is not finite is refused and nothing
/// changes; q invalidates TAL_STAGE_POSITION, u TAL_STAGE_VELOCITY. For a body
/// without any, such as Ground, `n` is 0.
/// @{

/// @param[out] q  [n]
TAL_API tal_status tal_body_get_all_q(const tal_matter *matter, const tal_state *state,
                                      tal_body_ix body, double q[], int n);
/// @param[out] u  [n]
TAL_API tal_status tal_body_get_all_u(const tal_matter *matter, const tal_state *state,
                                      tal_body_ix body, double u[], int n);
/// @param[in] q  [n]
TAL_API tal_status tal_body_set_all_q(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                      const double q[], int n);
/// @param[in] u  [n]
TAL_API tal_status tal_body_set_all_u(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                      const double u[], int n);
/// @}

/// Set q of one body so that X_FM comes nearest to the wanted one. Needs TAL_STAGE_MODEL.
TAL_API tal_status tal_body_fit_q(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                  const tal_xform *X_FM);
/// Set u of one body so that V_FM (expressed in F) comes nearest to the wanted one. Needs
/// TAL_STAGE_MODEL.
TAL_API tal_status tal_body_fit_u(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                  tal_spatial_vec V_FM);

/// @name Fits of one part
/// The rotation of M in F, or the position of Mo, comes nearest to the wanted one; w_FM, or v_FM,
/// both expressed in F. The other part stays as near as it can to what it is. Need TAL_STAGE_MODEL.
/// @{
TAL_API tal_status tal_body_fit_rotation(const tal_matter *matter, tal_state *state,
                                         tal_body_ix body, const tal_mat3 *R_FM);
TAL_API tal_status tal_body_fit_translation(const tal_matter *matter, tal_state *state,
                                            tal_body_ix body, tal_vec3 p_FM);
TAL_API tal_status tal_body_fit_angular_velocity(const tal_matter *matter, tal_state *state,
                                                 tal_body_ix body, tal_vec3 w_FM);
TAL_API tal_status tal_body_fit_linear_velocity(const tal_matter *matter, tal_state *state,
                                                tal_body_ix body, tal_vec3 v_FM);
/// @}

/// Whether a body's orientation is described by body-XYZ angles. Needs TAL_STAGE_MODEL.
TAL_API bool tal_body_uses_angles(const tal_matter *matter, const tal_state *state,
                                  tal_body_ix body);

/**
 * Choose between angles and a quaternion for one body, keeping the pose.
 *
 * Invalidates TAL_STAGE_MODEL and realizes it again: q is packed again, every other coordinate
 * keeps its value and this body's describe the same orientation in the other way. Values that are
 * not an orientation (a zero quaternion, a NaN) are refused, and a failure that an earlier setter
 * left in the State is returned; in both cases nothing changes.
 */
TAL_API tal_status tal_body_set_use_angles(const tal_matter *matter, tal_state *state,
                                           tal_body_ix body, bool use_angles);

/// The same choice for every body that has it.
TAL_API tal_status tal_matter_set_use_angles(const tal_matter *matter, tal_state *state,
                                             bool use_angles);

/// Scale every quaternion to length one. Poses stay; invalidates TAL_STAGE_POSITION when a value
/// changes.
TAL_API tal_status tal_matter_normalize_quaternions(const tal_matter *matter, tal_state *state);

/// @name Instance parameters, bit for bit as they were set. Setting invalidates TAL_STAGE_INSTANCE.
/// A value that is not physical is refused, with the body's name.
/// @{
TAL_API tal_mass_props tal_body_mass_props(const tal_matter *matter, const tal_state *state,
                                           tal_body_ix body);
TAL_API tal_status tal_body_set_mass_props(const tal_matter *matter, tal_state *state,
                                           tal_body_ix body, const tal_mass_props *props);
/**
 * The next body whose inertia is not physical: within TAL_INERTIA_TOLERANCE, or any with
 * tal_mobod_def.any_inertia. Begin with Ground; `i` < 0 when there is no other.
 *
 * @param[in]  after   the body to continue from
 * @param[out] excess  tal_mass_props_excess() of the body found; may be NULL
 */
TAL_API tal_body_ix tal_matter_find_unphysical(const tal_matter *matter, const tal_state *state,
                                               tal_body_ix after, double *excess);
TAL_API tal_xform tal_body_X_PF(const tal_matter *matter, const tal_state *state, tal_body_ix body);
TAL_API tal_status tal_body_set_X_PF(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                     const tal_xform *X_PF);
TAL_API tal_xform tal_body_X_BM(const tal_matter *matter, const tal_state *state, tal_body_ix body);
TAL_API tal_status tal_body_set_X_BM(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                     const tal_xform *X_BM);
/// Mobilizer parameters: pitch, radii, ... `n` must be the table's num_params.
TAL_API const double *tal_body_params(const tal_matter *matter, const tal_state *state,
                                      tal_body_ix body, int *n);
/// @param[in] params  [n]
TAL_API tal_status tal_body_set_params(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                       const double params[], int n);
/// @}

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_MODEL_H
