// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_APPLIED_H
#define TALUS_MATTER_APPLIED_H

/**
 * @file talus/matter/applied.h
 * @brief Applying forces to bodies: the interface between matter and force subsystems.
 *
 * While the Dynamics stage is realized, force subsystems add to two arrays: a spatial force per
 * body and a scalar per mobility. Matter represents its bodies by their mobilizer frames M, so a
 * force element re-expresses its stations in M once (tal_body_X_MB()) and then works with the bulk
 * view below.
 *
 * Forces that are added to here, and in tal_force_ops.apply, have their moments about Mo and are
 * called F_GM. Forces that are handed to a call or obtained from one have their moments about the
 * body origin Bo and are called F_GB: operators, tal_force_apply(), tal_forces_calc_sum(),
 * tal_matter_calc_applied_forces().
 */

#include <talus/matter/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup applied Applied forces
/// @{

/// Where all bodies are, or how they move: a checked view of matter's cache, borrowed until the
/// State changes. Read it with the inline functions below; they do not check the index.
typedef struct tal_bodies_view {
    const char *bytes;
    size_t stride;
    int num_bodies;
} tal_bodies_view;

/// Poses of all bodies' M frames in Ground. Needs TAL_STAGE_POSITION; `bytes` is NULL on a breach.
TAL_API tal_bodies_view tal_matter_poses(const tal_matter *matter, const tal_state *state);

/// Spatial velocities of all bodies' M frames in Ground. Needs TAL_STAGE_VELOCITY.
TAL_API tal_bodies_view tal_matter_velocities(const tal_matter *matter, const tal_state *state);

/// X_GM of one body, from tal_matter_poses(). Borrowed.
static inline const tal_xform *tal_view_X_GM(const tal_bodies_view *poses, int body)
{
    return (const tal_xform *)(const void *)(poses->bytes + (size_t)body * poses->stride);
}

/// V_GM of one body, from tal_matter_velocities(). Borrowed.
static inline const tal_spatial_vec *tal_view_V_GM(const tal_bodies_view *velocities, int body)
{
    return (const tal_spatial_vec *)(const void *)(velocities->bytes +
                                                   (size_t)body * velocities->stride);
}

/// The body's own frame B as seen from M. Needs TAL_STAGE_INSTANCE; NaN on a breach.
TAL_API tal_xform tal_body_X_MB(const tal_matter *matter, const tal_state *state, tal_body_ix body);

/// Mass of a body [kg] and its center of mass from Mo, in M. Needs TAL_STAGE_INSTANCE.
TAL_API double tal_body_mass(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                             tal_vec3 *com_M);

/// The forces applied to the bodies, to be added to.
typedef struct tal_applied_forces {
    tal_spatial_vec *F_GM; ///< [num_bodies] moment about Mo and force, in Ground [N m, N]
    double *f;             ///< [nu] forces along the speeds u
} tal_applied_forces;

/// The accumulators, while TAL_STAGE_DYNAMICS is being realized by a subsystem after matter. NULLs,
/// and a breach, at other times.
TAL_API tal_applied_forces tal_matter_upd_forces(const tal_matter *matter, tal_state *state);

/**
 * All the forces that all force subsystems applied to matter: udot is computed with these. They can
 * be given to operators as they are (tal_matter_forward_dynamics()). Needs TAL_STAGE_DYNAMICS.
 *
 * @param[out] F_GB  [num_bodies] moment about Bo and force, in Ground [N m, N]; Ground, body 0, has
 *                   what was applied to it; NULL: not wanted
 * @param[out] f     [nu] forces along the speeds u, in the order of tal_body_u_start(); NULL: not
 *                   wanted
 */
TAL_API TAL_NODISCARD tal_status tal_matter_calc_applied_forces(const tal_matter *matter,
                                                                const tal_state *state,
                                                                tal_spatial_vec F_GB[], double f[]);

/**
 * Add a force that acts on a station of a body, to accumulators of your own or those above.
 *
 * @param[in]     poses   tal_matter_poses()
 * @param[in]     p_MS    the station, from Mo in M
 * @param[in]     f_G     force, in Ground [N]
 * @param[in,out] F_GM    [num_bodies] moment about Mo and force, in Ground [N m, N]
 */
static inline void tal_apply_station_force(const tal_bodies_view *poses, int body, tal_vec3 p_MS,
                                           tal_vec3 f_G, tal_spatial_vec F_GM[])
{
    const tal_vec3 p_MS_G = tal_m3_mul_v3(tal_view_X_GM(poses, body)->R, p_MS);
    F_GM[body].w = tal_v3_add(F_GM[body].w, tal_v3_cross(p_MS_G, f_G));
    F_GM[body].v = tal_v3_add(F_GM[body].v, f_G);
}

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_APPLIED_H
