// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_RESPONSE_H
#define TALUS_MATTER_RESPONSE_H

/**
 * @file talus/matter/response.h
 * @brief Responses: where bodies are, how they move, their inertias, the loads in their mobilizers.
 *
 * Everything is about the body frame B that the user gave, measured at its origin Bo, and expressed
 * in Ground unless said otherwise. A spatial velocity is (angular velocity, velocity of the
 * origin), a spatial acceleration (angular acceleration, acceleration of the origin), both in the
 * ordinary sense of a point that moves; a spatial force is (moment about the origin, force). In a
 * name such as V_AB the first letter is the frame from which the motion of the second is seen.
 *
 * Results that are computed with their stage are read from a const State. Results that are computed
 * on request take a State that can be written to. On a broken contract (stage too low, State of
 * another System, no such body) every number of the result is NaN, and the contract handler is
 * called. No call allocates. A call about one body or two takes constant time, a sum over all
 * bodies linear time.
 */

#include <talus/matter/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup bodymotion Motion of a body
/// @{

/// Pose of a body in Ground. Needs TAL_STAGE_POSITION.
TAL_API tal_xform tal_body_X_GB(const tal_matter *matter, const tal_state *state, tal_body_ix B);

/// Where the origin of a body is, from Ground's [m]. Needs TAL_STAGE_POSITION.
TAL_API tal_vec3 tal_body_p_GB(const tal_matter *matter, const tal_state *state, tal_body_ix B);

/// Spatial velocity of a body in Ground. Needs TAL_STAGE_VELOCITY.
TAL_API tal_spatial_vec tal_body_V_GB(const tal_matter *matter, const tal_state *state,
                                      tal_body_ix B);

/// Spatial acceleration of a body in Ground. Needs TAL_STAGE_ACCELERATION.
TAL_API tal_spatial_vec tal_body_A_GB(const tal_matter *matter, const tal_state *state,
                                      tal_body_ix B);

/// @name Motion of one body as seen from another, at Bo and expressed in A
/// Derivatives are taken in A, which may itself turn and accelerate: they are what an observer
/// fixed to A sees. Stages as above. The letters A and B may name the same body.
/// @{
TAL_API tal_xform tal_body_X_AB(const tal_matter *matter, const tal_state *state, tal_body_ix A,
                                tal_body_ix B);
TAL_API tal_spatial_vec tal_body_V_AB(const tal_matter *matter, const tal_state *state,
                                      tal_body_ix A, tal_body_ix B);
TAL_API tal_spatial_vec tal_body_A_AB(const tal_matter *matter, const tal_state *state,
                                      tal_body_ix A, tal_body_ix B);
/// @}

/// @name Motion across a body's own mobilizer: of M as seen from F, at Mo and expressed in F
/// Identity and zero for Ground. Stages as above.
/// @{
TAL_API tal_xform tal_body_X_FM(const tal_matter *matter, const tal_state *state, tal_body_ix body);
TAL_API tal_spatial_vec tal_body_V_FM(const tal_matter *matter, const tal_state *state,
                                      tal_body_ix body);
TAL_API tal_spatial_vec tal_body_A_FM(const tal_matter *matter, const tal_state *state,
                                      tal_body_ix body);

/// @}

/// In which frames the hinge matrix of a mobilizer is wanted (manual sec. 5.2). P is the parent
/// body.
typedef enum tal_hinge_frame {
    TAL_H_FM,   ///< V_FM = H u: motion of Mo in F, expressed in F
    TAL_H_FB,   ///< motion of Bo in F, expressed in F (manual eq. 5.23)
    TAL_H_PB,   ///< motion of Bo in P, expressed in P (manual eq. 5.24)
    TAL_H_PM_G, ///< motion of Mo in P, expressed in Ground
    TAL_H_PB_G  ///< motion of Bo in P, expressed in Ground: H* (manual eq. 5.28)
} tal_hinge_frame;

/**
 * Hinge matrix of a body's mobilizer: the velocity that each of its speeds gives.
 *
 * @param[in]  frame  which motion, and where it is expressed
 * @param[out] H      [tal_body_nu()] columns; untouched on failure
 * @return TAL_OK, or the status of the breach. Needs TAL_STAGE_POSITION.
 */
TAL_API tal_status tal_body_H(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                              tal_hinge_frame frame, tal_spatial_vec H[]);

/// Its rate of change, in the frame where it is expressed (manual eq. 5.25 to 5.29). Needs
/// TAL_STAGE_VELOCITY.
/// @param[out] Hdot  [tal_body_nu()] columns; untouched on failure
TAL_API tal_status tal_body_Hdot(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                                 tal_hinge_frame frame, tal_spatial_vec Hdot[]);

/// @}
/// @defgroup station Stations, points and frames
///
/// A station S is a point fixed on body B, a point P one that moves on it. Positions are from the
/// origin of the frame of the first letter, and expressed in it: p_BS from Bo in B, the answer from
/// Ao in A. Positions need TAL_STAGE_POSITION, velocities TAL_STAGE_VELOCITY, accelerations
/// TAL_STAGE_ACCELERATION.
/// @{

/// @name A station as seen from Ground
/// @{
TAL_API tal_vec3 tal_station_p_GS(const tal_matter *matter, const tal_state *state, tal_body_ix B,
                                  tal_vec3 p_BS);
TAL_API tal_vec3 tal_station_v_GS(const tal_matter *matter, const tal_state *state, tal_body_ix B,
                                  tal_vec3 p_BS);
TAL_API tal_vec3 tal_station_a_GS(const tal_matter *matter, const tal_state *state, tal_body_ix B,
                                  tal_vec3 p_BS);
/// @}

/// @name A station as seen from body A: derivatives taken in A
/// @{
TAL_API tal_vec3 tal_station_p_AS(const tal_matter *matter, const tal_state *state, tal_body_ix A,
                                  tal_body_ix B, tal_vec3 p_BS);
TAL_API tal_vec3 tal_station_v_AS(const tal_matter *matter, const tal_state *state, tal_body_ix A,
                                  tal_body_ix B, tal_vec3 p_BS);
TAL_API tal_vec3 tal_station_a_AS(const tal_matter *matter, const tal_state *state, tal_body_ix A,
                                  tal_body_ix B, tal_vec3 p_BS);
/// @}

/// @name A point that moves on body B, as seen from body A
/// v_BP and a_BP are its velocity and acceleration as seen from B, expressed in B. With
/// A = TAL_GROUND this is the motion in Ground; the position is that of a station.
/// @{
TAL_API tal_vec3 tal_point_v_AP(const tal_matter *matter, const tal_state *state, tal_body_ix A,
                                tal_body_ix B, tal_vec3 p_BP, tal_vec3 v_BP);
TAL_API tal_vec3 tal_point_a_AP(const tal_matter *matter, const tal_state *state, tal_body_ix A,
                                tal_body_ix B, tal_vec3 p_BP, tal_vec3 v_BP, tal_vec3 a_BP);
/// @}

/// @name A frame S fixed on body B, as seen from body A: at So, expressed in A
/// @{
TAL_API tal_xform tal_frame_X_AS(const tal_matter *matter, const tal_state *state, tal_body_ix A,
                                 tal_body_ix B, const tal_xform *X_BS);
TAL_API tal_spatial_vec tal_frame_V_AS(const tal_matter *matter, const tal_state *state,
                                       tal_body_ix A, tal_body_ix B, const tal_xform *X_BS);
TAL_API tal_spatial_vec tal_frame_A_AS(const tal_matter *matter, const tal_state *state,
                                       tal_body_ix A, tal_body_ix B, const tal_xform *X_BS);
/// @}

/// @name A frame S that moves on body B, as seen from body A
/// V_BS and A_BS are its motion as seen from B, at So and expressed in B.
/// @{
TAL_API tal_spatial_vec tal_moving_frame_V_AS(const tal_matter *matter, const tal_state *state,
                                              tal_body_ix A, tal_body_ix B, const tal_xform *X_BS,
                                              tal_spatial_vec V_BS);
TAL_API tal_spatial_vec tal_moving_frame_A_AS(const tal_matter *matter, const tal_state *state,
                                              tal_body_ix A, tal_body_ix B, const tal_xform *X_BS,
                                              tal_spatial_vec V_BS, tal_spatial_vec A_BS);
/// @}

/// @name Distance between station S of body B and station T of body C, and its rates
/// Where the two points meet, the distance has a corner. The rates are then those just after, when
/// the points move apart with their relative velocity.
/// @{
TAL_API double tal_station_distance(const tal_matter *matter, const tal_state *state, tal_body_ix B,
                                    tal_vec3 p_BS, tal_body_ix C, tal_vec3 p_CT);
TAL_API double tal_station_distance_rate(const tal_matter *matter, const tal_state *state,
                                         tal_body_ix B, tal_vec3 p_BS, tal_body_ix C,
                                         tal_vec3 p_CT);
TAL_API double tal_station_distance_acceleration(const tal_matter *matter, const tal_state *state,
                                                 tal_body_ix B, tal_vec3 p_BS, tal_body_ix C,
                                                 tal_vec3 p_CT);
/// @}

/// @}
/// @defgroup reaction Mobilizer reactions
///
/// The total force of a mobilizer on its body, constraint force and mobility forces together, from
/// the balance of everything outboard. Need TAL_STAGE_ACCELERATION. Ground counts as held in place:
/// its reaction is the force that holds it, the opposite of the total load on it.
/// @{

/// Force of the mobilizer on its body: moment about Mo.
TAL_API tal_spatial_vec tal_body_reaction_M(const tal_matter *matter, tal_state *state,
                                            tal_body_ix body);

/// The same force, with the moment about Bo.
TAL_API tal_spatial_vec tal_body_reaction_B(const tal_matter *matter, tal_state *state,
                                            tal_body_ix body);

/// The opposite force, which the mobilizer exerts on the parent: moment about Fo. Ground has no
/// parent: a breach.
TAL_API tal_spatial_vec tal_body_reaction_F(const tal_matter *matter, tal_state *state,
                                            tal_body_ix body);

/// @}
/// @defgroup inertias Inertias and velocity-dependent terms of a body
/// @{

/// Spatial inertia of a body, about Bo in Ground. Needs TAL_STAGE_POSITION.
TAL_API tal_spatial_inertia tal_body_spatial_inertia(const tal_matter *matter,
                                                     const tal_state *state, tal_body_ix body);

/// Inertia of the body and all that it carries, mobilizers frozen, about Bo in Ground. Ground's is
/// that of the whole system about Ground's origin. Needs TAL_STAGE_INSTANCE; realizes the poses.
TAL_API tal_spatial_inertia tal_body_composite_inertia(const tal_matter *matter, tal_state *state,
                                                       tal_body_ix body);

/// Articulated-body inertia: the inertia felt at the body while all that it carries is free to
/// move, about Bo in Ground (RBDA sec. 7.1). Ground's is infinite. Needs TAL_STAGE_INSTANCE;
/// realizes the poses.
TAL_API tal_abi tal_body_articulated_inertia(const tal_matter *matter, tal_state *state,
                                             tal_body_ix body);

/// Gyroscopic force: what a body needs besides inertia times A_GB because it rotates, moment about
/// Bo.
/// Needs TAL_STAGE_VELOCITY.
///
///     b = (w x I w, m w x (w x p_BC))
TAL_API tal_spatial_vec tal_body_gyroscopic_force(const tal_matter *matter, const tal_state *state,
                                                  tal_body_ix body);

/// Coriolis acceleration across a body's mobilizer, due to velocities alone: A_GB, less the
/// parent's acceleration shifted to Bo as a motion, less H_PB_G udot. Needs TAL_STAGE_VELOCITY.
/// Like the next two it is computed for all bodies at once, and kept in the State.
TAL_API tal_spatial_vec tal_body_mobilizer_coriolis(const tal_matter *matter, tal_state *state,
                                                    tal_body_ix body);

/// The sum of these up to this body: A_GB if udot were zero. Needs TAL_STAGE_VELOCITY.
TAL_API tal_spatial_vec tal_body_total_coriolis(const tal_matter *matter, tal_state *state,
                                                tal_body_ix body);

/// The force a body needs if udot is zero: inertia times total Coriolis acceleration, and the
/// gyroscopic force; moment about Bo. Needs TAL_STAGE_VELOCITY.
TAL_API tal_spatial_vec tal_body_centrifugal_force(const tal_matter *matter, tal_state *state,
                                                   tal_body_ix body);

/// @}
/// @defgroup systemmotion The system as a whole
///
/// Ground has no mass here. A system without mass has its center at Ground's origin, at rest.
/// @{

/// Mass of all bodies [kg]. Needs TAL_STAGE_INSTANCE.
TAL_API double tal_matter_mass(const tal_matter *matter, const tal_state *state);

/// Center of mass C of all bodies, from Ground's origin [m]. Needs TAL_STAGE_POSITION.
TAL_API tal_vec3 tal_matter_com(const tal_matter *matter, const tal_state *state);

/// Its velocity [m/s]. Needs TAL_STAGE_VELOCITY.
TAL_API tal_vec3 tal_matter_com_velocity(const tal_matter *matter, const tal_state *state);

/// Its acceleration [m/s^2]. Needs TAL_STAGE_ACCELERATION.
TAL_API tal_vec3 tal_matter_com_acceleration(const tal_matter *matter, const tal_state *state);

/// Mass, center of mass and inertia about Ground's origin, in Ground. Needs TAL_STAGE_POSITION.
TAL_API tal_mass_props tal_matter_mass_props(const tal_matter *matter, const tal_state *state);

/// Inertia about the center of mass, in Ground [kg m^2]. Needs TAL_STAGE_POSITION.
TAL_API tal_sym3 tal_matter_central_inertia(const tal_matter *matter, const tal_state *state);

/// Momentum: angular about Ground's origin, and linear. Needs TAL_STAGE_VELOCITY.
TAL_API tal_spatial_vec tal_matter_momentum(const tal_matter *matter, const tal_state *state);

/// Momentum with the angular part about the center of mass. Needs TAL_STAGE_VELOCITY.
TAL_API tal_spatial_vec tal_matter_central_momentum(const tal_matter *matter,
                                                    const tal_state *state);

/// Kinetic energy [J]; infinite where it overflows. Needs TAL_STAGE_VELOCITY.
TAL_API double tal_matter_kinetic_energy(const tal_matter *matter, const tal_state *state);

/**
 * Kinetic energy that any speeds would have at the State's q: u^T M u / 2.
 *
 * @param[in] u  [tal_state_nu()] need not be the State's
 * @return joules; NaN on a breach. Needs TAL_STAGE_INSTANCE; realizes the poses.
 */
TAL_API double tal_matter_calc_kinetic_energy(const tal_matter *matter, tal_state *state,
                                              const double u[]);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_RESPONSE_H
