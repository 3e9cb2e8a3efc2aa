// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_CONTACTS_H
#define TALUS_STUDY_CONTACTS_H

/**
 * @file talus/study/contacts.h
 * @brief Unilateral elements in a run: when they close, open, stick and slip, and their impacts.
 *
 *     tal_unilateral_add_sphere_on_plane(matter, &def, TAL_GROUND, &floor, ball, center, radius);
 *     tal_contacts_create(system, NULL);      // before the topology is realized
 *
 * From then on a time stepper (talus/study/time_stepper.h) finds each moment at which an element
 * (talus/matter/unilateral.h) must change, by every integrator (manual fig. 13):
 *
 *     the gap of an open element closes             impact, then modes
 *     the force of a closed one falls to zero       modes
 *     friction reaches its limit, or slip ends      modes
 *
 * There the State is projected onto what is closed, tal_matter_solve_impact() is called if an
 * element approaches, and tal_matter_solve_modes() decides which elements push, stick and slide.
 * The same is done after a handler of yours has changed the State.
 *
 * An integrator without a time stepper leaves all modes as they are.
 */

#include <talus/matter/impact.h>
#include <talus/study/events.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup contacts Unilateral elements in a run
/// @{

/// What happened to an element.
typedef enum tal_contact_kind {
    TAL_CONTACT_IMPACT, ///< an impulse
    TAL_CONTACT_CLOSES, ///< it was off and pushes now
    TAL_CONTACT_OPENS,  ///< it is off now
    TAL_CONTACT_STICKS, ///< slip has ended
    TAL_CONTACT_SLIPS   ///< it was stuck and slides now
} tal_contact_kind;

/// Name of a kind: "impact"; never NULL.
TAL_API const char *tal_contact_kind_name(tal_contact_kind kind);

/// One thing that happened.
typedef struct tal_contact_event {
    double t; ///< [s]
    tal_unilateral_ix element;
    tal_contact_kind kind;
    double speed;       ///< [m/s] of approach, before an impact; otherwise 0
    double after;       ///< [m/s] of separation, after it; otherwise 0
    double normal;      ///< [N s] normal impulse; otherwise 0
    double friction[2]; ///< [N s] along the equations of the grip; otherwise 0
} tal_contact_event;

/// Called for each event, in the order of time and then of elements. Must not allocate.
typedef void (*tal_contact_fn)(void *context, const tal_system *system,
                               const tal_contact_event *event);

/// What is done when the impacts of one element follow each other faster and faster.
typedef enum tal_pile_up {
    TAL_PILE_UP_CAPTURE, ///< the element does not rebound any more
    TAL_PILE_UP_STOP     ///< the run ends with TAL_ERR_EVENT_LIMIT: element, count, ratio, and when
} tal_pile_up;

/// How elements are handled. Obtain it from tal_contacts_def_default(), then edit.
typedef struct tal_contacts_def {
    double gap_tolerance;   ///< [m or rad] > 0; an element with a smaller gap touches
    double speed_tolerance; ///< [m/s or rad/s] > 0; what is slower is at rest
    double capture_speed;   ///< [m/s or rad/s] what approaches more slowly does not rebound; at
                            ///< least twice speed_tolerance, whatever is given
    double window;          ///< [s] > 0; how exactly events are found in time
    /// [s] >= 0; two changes of one element are at least this far apart: steps are kept shorter.
    /// 0: unknown. Where elements hold everything still, steps grow, and forces that come and go
    /// within one are not noticed otherwise.
    double separation;
    bool sequential; ///< as tal_impact_options.sequential
    tal_pile_up pile_up;
    /// [s] > 0; impacts pile up when three intervals shrink by the same ratio and the last one is
    /// shorter than this.
    double pile_up_interval;
    tal_contact_fn listen; ///< called for each event; NULL: none
    void *context;         ///< handed to `listen`
} tal_contacts_def;

/// 1e-6, 1e-6, 0, 1e-12 s, no separation, all at once, capture, 1e-6 s, no `listen`.
TAL_API tal_contacts_def tal_contacts_def_default(void);

/// The handler of all unilateral elements of a System. Opaque; owned by the System.
typedef struct tal_contacts tal_contacts;

/**
 * Let time steppers handle the unilateral elements of a System, those that are added later
 * included. Before the topology is realized; once for a System. Sticky, as all building is.
 *
 * @param[in] def  copied; NULL means the default
 * @return owned by the System; NULL on failure
 */
TAL_API tal_contacts *tal_contacts_create(tal_system *system, const tal_contacts_def *def);

/// The handler of a System; NULL when there is none (that is not a breach). Borrowed.
TAL_API const tal_contacts *tal_system_contacts(const tal_system *system);

/// It as a subsystem; `i` < 0 for NULL.
TAL_API tal_subsystem_ix tal_contacts_subsystem(const tal_contacts *contacts);

/// What it was created from; the default for NULL, and a breach.
TAL_API tal_contacts_def tal_contacts_def_of(const tal_contacts *contacts);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_CONTACTS_H
