// Unilateral elements in a run: what the files of this room share.
//
// Each element has up to six witnesses, which fall through zero where it must change:
//
//     gap    Position      gap - datum          of an element that is off
//     limit  Position      how far it is within its limits, which rises where it comes back; of one
//                          that is within them but below its plane, the gap
//     slip   Velocity      slip speed - datum   of one that slides; speed of an open ratchet
//     force  Acceleration  pi_N                 of one that is not off
//                          a_N                  of one that is off and at rest
//     cone   Acceleration  limit + mu_s pi_N - |pi_T|    of one that sticks
//     margin Acceleration  how far it is from a jam      of one that slides
//
// and are 1 while they have nothing to tell. A datum is where handling left the element, so that
// round-off there announces nothing.
#ifndef TALUS_CONTACTS_INTERNAL_H
#define TALUS_CONTACTS_INTERNAL_H

#include "alloc_internal.h"
#include "build_internal.h"
#include "error_internal.h"

#include <talus/study/contacts.h>

/// What is remembered of an element from event to event, in the State.
typedef struct tali_contacts_memory {
    double gap_datum;   ///< what the gap falls through; 0, or below where it was left
    double slip_datum;  ///< likewise, of slip and of a ratchet's speed
    double t;           ///< [s] of the last impact
    double interval;    ///< [s] between the last two; 0: there were fewer
    double ratio;       ///< of the last two intervals; 0: there were fewer
    int64_t num_known;  ///< impacts that have been told
    int32_t in_a_row;   ///< intervals with the same ratio
    int32_t mode;       ///< tal_unilateral_mode that has been told
    int32_t is_resting; ///< off, touching, without speed: its acceleration tells when it closes
    int32_t is_below;   ///< within its limits, but below its plane: its gap tells when it is back
} tali_contacts_memory;

/// What an element is, whatever the State: bits.
typedef enum tali_contacts_trait {
    TALI_CONTACTS_HAS_GAP = 1,
    TALI_CONTACTS_IS_RATCHET = 2,
    TALI_CONTACTS_IS_LIMITED = 4
} tali_contacts_trait;

/// One kind of witness of all elements: slots `first` to `first` + num of a group.
typedef struct tali_contacts_witness {
    tal_group_ix group;
    int first;
} tali_contacts_witness;

struct tal_contacts {
    tal_system *system;
    const tal_matter *matter;
    tal_allocator allocator;
    tal_subsystem_ix me;
    tal_contacts_def def;
    uint8_t *traits;                           ///< [num] tali_contacts_trait; owned
    int num;                                   ///< elements, once the topology is realized
    tali_contacts_witness gap, limit;          ///< one behind the other, in one group
    tali_contacts_witness gap_rate, slip;      ///< likewise
    tali_contacts_witness force, cone, margin; ///< likewise
    tal_var_ix memory;                         ///< tali_contacts_memory[num]
};

// --- contact_witness.c ---

/// How far beyond its limits an element is off, and within them on again: at the limits themselves
/// round-off would decide.
static inline double tali_contacts_edge(const tal_contacts *contacts)
{
    return 1e-4 * contacts->def.gap_tolerance;
}

/// @name Steps of the subsystem: they write the witnesses
/// @{
tal_status tali_contacts_realize_position(const void *self, const tal_system *system,
                                          tal_state *state);
tal_status tali_contacts_realize_velocity(const void *self, const tal_system *system,
                                          tal_state *state);
tal_status tali_contacts_realize_acceleration(const void *self, const tal_system *system,
                                              tal_state *state);
/// @}

/// Does every element keep its conditions in a State at Acceleration: is no witness below zero?
bool tali_contacts_is_settled(const tal_contacts *contacts, const tal_state *state);

// --- contact_handler.c ---

/// Bring all elements to modes that keep their conditions. As tal_subsystem_ops.handle_events.
tal_status tali_contacts_handle(const void *self, const tal_system *system, tal_state *state,
                                tal_event_cause cause, const tal_event_ix events[], int count,
                                bool *terminate);

#endif // TALUS_CONTACTS_INTERNAL_H
