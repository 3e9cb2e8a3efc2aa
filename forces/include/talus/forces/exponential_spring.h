// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_EXPONENTIAL_SPRING_H
#define TALUS_FORCES_EXPONENTIAL_SPRING_H

/**
 * @file talus/forces/exponential_spring.h
 * @brief A station above a plane, pushed away by a force that grows exponentially: no contact to
 * find.
 *
 * After Simbody's ExponentialSpringForce. The plane is z = 0 of a frame F on a body, Ground for a
 * floor; z points out of it. With the height pz of the station and its rate vz, in F,
 *
 *     fz = d1 exp(-d2 (pz - d0)) (1 - cz vz),   0 <= fz <= max_fz
 *
 * Friction is that of a spring kxy and a damper cxy from the station to an anchor p0 in the plane
 * while it sticks, and of the damper alone while it slides; neither exceeds mu fz. `sliding` blends
 * them, and mu = mus - sliding (mus - muk): it becomes 1 when sticking would take more than mu fz,
 * and 0 when the speed is below v_settle or the damper alone stays within mu fz. The anchor
 * follows, so that the spring never pulls with more than its limit; while the station slides, the
 * anchor is below it.
 *
 * Anchor and `sliding` are a discrete variable of the State that is brought up to date at the start
 * of every step (tal_var_def.update). While the element is disabled they stay as they are.
 *
 * Energy: that of the normal force is exact. The spring's is kxy |p - p0|^2 / 2. When the anchor
 * follows, the energy that the spring loses does not count as dissipated, so the energy balance
 * holds only while the station sticks.
 */

#include <talus/forces/params.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @addtogroup contact
/// @{

/// Parameters of an exponential spring (params.h), named and in the units of
/// tal_exponential_spring_def. The first two invalidate Instance, the others Dynamics.
enum {
    TAL_EXPONENTIAL_STATION = 0, ///< in its body, 3 values [m]
    TAL_EXPONENTIAL_PLANE = 3,   ///< frame on the plane's body: rotation by columns, origin
    TAL_EXPONENTIAL_D0 = 15,
    TAL_EXPONENTIAL_D1 = 16,
    TAL_EXPONENTIAL_D2 = 17,
    TAL_EXPONENTIAL_CZ = 18,
    TAL_EXPONENTIAL_MAX_FZ = 19,
    TAL_EXPONENTIAL_KXY = 20,
    TAL_EXPONENTIAL_CXY = 21,
    TAL_EXPONENTIAL_V_SETTLE = 22,
    TAL_EXPONENTIAL_MUS = 23,
    TAL_EXPONENTIAL_MUK = 24
};

/// What an exponential spring is made from. Obtain it from tal_exponential_spring_def_default(),
/// then edit.
typedef struct tal_exponential_spring_def {
    tal_body_ix body;
    tal_vec3 p_BS; ///< the station [m]
    tal_body_ix plane_body;
    tal_xform X_BF;  ///< the plane z = 0 of F on its body
    double d0;       ///< [m] height at which the force is d1
    double d1;       ///< [N] > 0
    double d2;       ///< [1/m] > 0
    double cz;       ///< [s/m] >= 0
    double max_fz;   ///< [N] > 0
    double kxy;      ///< [N/m] > 0
    double cxy;      ///< [N s/m] >= 0
    double v_settle; ///< [m/s] > 0
    double mus;      ///< not less than muk
    double muk;      ///< >= 0
} tal_exponential_spring_def;

/// Simbody's numbers: d0 0.0065905, d1 0.5336, d2 1150, cz 0.5, max_fz 1e5, kxy 2e4, cxy 2
/// sqrt(kxy), v_settle 0.01, mus 0.7, muk 0.5. The origin of a body over the plane z = 0 of Ground.
TAL_API tal_exponential_spring_def tal_exponential_spring_def_default(void);

/// Add an exponential spring. `def` is copied.
TAL_API tal_force_ix tal_forces_add_exponential_spring(tal_forces *forces, const char *name,
                                                       const tal_exponential_spring_def *def);

/// What an exponential spring does at one instant, in the plane's frame F.
typedef struct tal_exponential_spring_info {
    tal_vec3 p_F;   ///< station [m]
    tal_vec3 v_F;   ///< its velocity, seen from the plane [m/s]
    tal_vec3 f_F;   ///< force on it [N]
    double p0_F[2]; ///< anchor, x and y [m]
    double sliding; ///< 0 sticks, 1 slides
    double mu;      ///< coefficient of friction that is the limit
} tal_exponential_spring_info;

/// Read what a spring does at a State. Needs TAL_STAGE_VELOCITY.
TAL_API TAL_NODISCARD tal_status tal_exponential_spring_calc(const tal_forces *forces,
                                                             tal_state *state, tal_force_ix force,
                                                             tal_exponential_spring_info *out);

/// Put the anchor under the station, at rest or sliding; invalidates TAL_STAGE_DYNAMICS. Needs
/// TAL_STAGE_POSITION. Call it before a run: the anchor of a new State is at F's origin.
TAL_API tal_status tal_exponential_spring_reset(const tal_forces *forces, tal_state *state,
                                                tal_force_ix force, double sliding);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_FORCES_EXPONENTIAL_SPRING_H
