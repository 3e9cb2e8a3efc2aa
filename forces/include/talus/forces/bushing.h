// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_BUSHING_H
#define TALUS_FORCES_BUSHING_H

/**
 * @file talus/forces/bushing.h
 * @brief A bushing: six springs and dampers between a frame F on body 1 and M on body 2.
 *
 * Deformations are the body-XYZ angles of R_FM [rad] and the three components of p_FM in F [m]:
 *
 *     f_i = -(k_i q_i + c_i qdot_i)
 *     potential energy = sum k_i q_i^2 / 2,   dissipated power = sum c_i qdot_i^2
 *
 * A bushing with laws has f_i = -(k_i q_i + g_i + c_i qdot_i), each g_i a function of q_i, whose
 * integral from zero is part of the potential energy, or of all six, whose work counts as external.
 *
 * The moment on body 2 is N^T (f_1, f_2, f_3) with qdot = N w_FM, and the force acts at Mo; body 1
 * feels the opposite of both at the same point. The angle about y must stay away from +-pi/2, where
 * N grows without bound: there the bushing fails with TAL_ERR_SINGULAR. The other two angles lie in
 * (-pi, pi], and the force jumps where they do: a bushing is for moderate turns.
 */

#include <talus/forces/params.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup bushing Linear bushing
/// @{

/// Parameters of a bushing.
enum {
    TAL_BUSHING_FRAME_1 = 0,    ///< X_B1F: columns of R, then p; set all twelve together
    TAL_BUSHING_FRAME_2 = 12,   ///< X_B2M, in the same form
    TAL_BUSHING_STIFFNESS = 24, ///< k_1 ... k_6 [N m/rad, N/m], not negative
    TAL_BUSHING_DAMPING = 30    ///< c_1 ... c_6 [N m s/rad, N s/m], not negative
};

/// A bushing. Obtain it from tal_bushing_def_default(), then edit.
typedef struct tal_bushing_def {
    tal_body_ix body1;
    tal_xform X_B1F; ///< frame F on body 1
    tal_body_ix body2;
    tal_xform X_B2M;     ///< frame M on body 2
    double stiffness[6]; ///< k: about x, y, z, then along them
    double damping[6];   ///< c
    /// g [N m, N], of one argument, the deformation of the same number, or of all six; with a first
    /// derivative. Adopted whether the call succeeds or not. NULL: zero.
    tal_function *law[6];
} tal_bushing_def;

/// Both frames on Ground and at their origins, no stiffness, no damping, no laws.
TAL_API tal_bushing_def tal_bushing_def_default(void);

/// Add a bushing.
/// @return its index, `i` < 0 on failure
TAL_API tal_force_ix tal_forces_add_bushing(tal_forces *forces, const char *name,
                                            const tal_bushing_def *def);

/**
 * Deformations of a bushing and their rates. Needs TAL_STAGE_VELOCITY.
 *
 * @param[out] q     [6] angles about x, y, z [rad], then distances [m]
 * @param[out] qdot  [6] their rates
 * @return TAL_OK, TAL_ERR_SINGULAR, or the status of the breach
 */
TAL_API tal_status tal_bushing_calc_deformation(const tal_forces *forces, tal_state *state,
                                                tal_force_ix force, double q[6], double qdot[6]);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_BUSHING_H
