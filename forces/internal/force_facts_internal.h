// What a built-in element acts on: for those who write models to files.
#ifndef TALUS_FORCE_FACTS_INTERNAL_H
#define TALUS_FORCE_FACTS_INTERNAL_H

#include <talus/forces/contact.h>

/// What an element was added with besides its parameters.
typedef struct tali_force_facts {
    tal_body_ix bodies[2];
    tal_mobility mobility;
    tal_measure_ix measure;
    const tal_function *function;   ///< borrowed
    bool flag;                      ///< in_body of an actuator, has_kink of a smooth contact
    int count;                      ///< chain_length of a thermostat
    const tal_contact_def *contact; ///< borrowed
} tali_force_facts;

/// Facts of a built-in element. False for one of a user's own, and for kinds that do not tell.
bool tali_force_facts_of(const tal_forces *forces, tal_force_ix force, tali_force_facts *facts);

/// The table an element was added with, as a copy, and its `self`. Borrowed.
const tal_force_ops *tali_force_ops_of(const tal_forces *forces, tal_force_ix force,
                                       const void **self);

/// The cliques of a surface of a contact element.
uint64_t tali_contact_cliques(const tal_forces *forces, tal_force_ix contact,
                              tal_contact_surface_ix surface);

#endif // TALUS_FORCE_FACTS_INTERNAL_H
