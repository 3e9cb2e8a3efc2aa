// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_IMPACT_H
#define TALUS_MATTER_IMPACT_H

/**
 * @file talus/matter/impact.h
 * @brief Which unilateral elements push: impacts and modes, for one State.
 *
 * Two questions must be answered whenever a contact closes, opens, sticks or slips (manual fig.
 * 13):
 *
 *     tal_matter_solve_impact()   an element that touches approaches: impulses, and a jump of u
 *     tal_matter_solve_modes()    nothing approaches: which elements push, stick and slide?
 *
 * Both are answered with W = G M^-1 G^T of the elements that touch and of all other constraints,
 * part by part where these do not influence each other. In a run of a time stepper tal_contacts
 * (talus/study/contacts.h) calls them; a program with a loop of its own calls them between steps.
 *
 * Elements touch when their gap is at most gap_tolerance, or when they are not off; ratchets when
 * their speed is at most speed_tolerance; dry friction always.
 */

#include <talus/matter/unilateral.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup impact Impacts and modes
/// @{

/// Options of both. Obtain them from tal_impact_options_default(), then edit.
typedef struct tal_impact_options {
    double gap_tolerance;   ///< [m or rad] >= 0
    double speed_tolerance; ///< [m/s or rad/s] >= 0; slower is at rest
    /// Solve in rounds for the elements that approach only, as if impacts followed each other in
    /// time. Otherwise all elements that touch react at once.
    bool sequential;
    /// [m/s or rad/s] elements that approach more slowly do not rebound, whatever their material
    /// says: it has a capture speed of its own.
    double capture_speed;
} tal_impact_options;

/// 1e-6, 1e-6, all at once, no capture.
TAL_API tal_impact_options tal_impact_options_default(void);

/// How an answer was found.
typedef struct tal_impact_report {
    int num_touching;   ///< elements that took part
    int num_impacting;  ///< those that approached faster than speed_tolerance; 0: u was not changed
    int rounds;         ///< of impulses
    double energy;      ///< [J] change of kinetic energy, <= 0
    double restitution; ///< share of all coefficients of restitution that was left by the guard
                        ///< against gaining energy; 1: all of it
    int num_smooth;     ///< phases that were solved without friction, or without that of joints:
                        ///< with it no impulses were found that pass their check
    int num_jammed;     ///< sliding elements that had no force, and stopped at once (Painleve)
    int num_changed;    ///< elements whose mode has changed
} tal_impact_report;

/// How many elements may touch at the same time, 10 unless set: States have memory for the dense
/// matrices of that many. Before the topology is realized.
TAL_API tal_status tal_matter_set_most_touching(tal_matter *matter, int most);

/// What tal_matter_set_most_touching() has set; 0: nothing.
TAL_API int tal_matter_most_touching(const tal_matter *matter);

/**
 * Impulses of the elements that touch, if one of them approaches, and the jump of u that they make.
 *
 * Compression ends when nothing approaches any more; then each element gives back its share e of
 * its normal impulse (Poisson's law). Friction acts by its impulses: of one element alone, slip by
 * slip and exactly; of several, by the velocities that are left at the end, and in expansion with
 * the normal impulses that are given back; in joints, with the impulses that press on them. Kinetic
 * energy never grows: all e are reduced until it does not. Bilateral constraints hold; prescribed
 * speeds do not change. Modes are not changed: call tal_matter_solve_modes() afterwards.
 *
 * @param[in,out] state    u is changed; realized to TAL_STAGE_VELOCITY
 * @param[in]     options  NULL means the default
 * @param[out]    report   may be NULL
 * @return TAL_OK; TAL_ERR_CAPACITY when too many touch; TAL_ERR_INFEASIBLE or
 *         TAL_ERR_NO_CONVERGENCE when there are no impulses, and the State names the elements
 */
TAL_NODISCARD TAL_API tal_status tal_matter_solve_impact(const tal_matter *matter, tal_state *state,
                                                         const tal_impact_options *options,
                                                         tal_impact_report *report);

/**
 * The modes of all elements from their accelerations: an element that touches and does not approach
 * either pushes or accelerates away. u is changed only where a sliding element has no force that
 * keeps it from penetrating (Painleve): it is then stopped by an impulse.
 *
 * @param[in,out] state    modes are changed; realized to TAL_STAGE_DYNAMICS at least
 * @param[in]     options  NULL means the default
 * @param[out]    report   may be NULL
 * @return as tal_matter_solve_impact()
 */
TAL_NODISCARD TAL_API tal_status tal_matter_solve_modes(const tal_matter *matter, tal_state *state,
                                                        const tal_impact_options *options,
                                                        tal_impact_report *report);

/// The last impact of an element in a State.
typedef struct tal_unilateral_impact {
    double t;           ///< [s] when; NaN: it had none
    double speed;       ///< [m/s] of approach, before it
    double after;       ///< [m/s] of separation, after it
    double normal;      ///< [N s] normal impulse, >= 0
    double friction[2]; ///< [N s] along the equations of the grip
    long count;         ///< how many so far
} tal_unilateral_impact;

/// The last impact of an element in which it had an impulse. NaN on a breach.
TAL_API tal_unilateral_impact tal_unilateral_impact_of(const tal_matter *matter,
                                                       const tal_state *state,
                                                       tal_unilateral_ix element);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_IMPACT_H
