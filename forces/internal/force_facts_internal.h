// What a built-in element acts on, for writing model files.
#ifndef TALUS_FORCE_FACTS_INTERNAL_H
#define TALUS_FORCE_FACTS_INTERNAL_H

#include <talus/forces/contact.h>
#include <talus/forces/metabolics.h>
#include <talus/forces/muscle.h>
#include <talus/forces/path.h>

/// What an element was added with besides its parameters.
typedef struct tali_force_facts {
    tal_body_ix bodies[2];
    tal_mobility mobility;
    tal_measure_ix measure;
    const tal_function *function;   ///< borrowed
    bool flags[2];                  ///< in_body and in_ground of an actuator, has_kink of a contact
    int count;                      ///< chain_length of a thermostat
    const tal_contact_def *contact; ///< borrowed
    const tal_muscle_def *muscle;   ///< borrowed
    tal_function *const *functions; ///< of a prescribed force: force, point, torque; borrowed
    tal_path_ix path;               ///< `i` < 0: none
} tali_force_facts;

/// Facts of a built-in element. False for gravity and for a user-defined element.
bool tali_force_facts_of(const tal_forces *forces, tal_force_ix force, tali_force_facts *facts);

/// The System that forces belong to; NULL for NULL.
const tal_system *tali_force_system(const tal_forces *forces);

/// The table an element was added with, as a copy, and its `self`. Borrowed.
const tal_force_ops *tali_force_ops_of(const tal_forces *forces, tal_force_ix force,
                                       const void **self);

/// How many z an element has in a State, and where the i-th of them is in its z (`slot` may be
/// NULL).
int tali_force_z(const tal_forces *forces, const tal_state *state, tal_force_ix force, int i,
                 int *slot);

/// Whether the energy that an element dissipates is a z.
bool tali_force_is_tracked(const tal_forces *forces, tal_force_ix force);

/// @name Where the anchor of an exponential spring is, x and y in its plane, and how much it slides
/// @{
void tali_exponential_spring_anchor(const tal_forces *forces, const tal_state *state,
                                    tal_force_ix force, double anchor[3]);
void tali_exponential_spring_set_anchor(const tal_forces *forces, tal_state *state,
                                        tal_force_ix force, const double anchor[3]);
/// @}

/// Which muscle and output a measure reads. False for another measure.
bool tali_muscle_measure_facts(const tal_system *system, tal_measure_ix measure,
                               tal_force_ix *muscle, tal_muscle_output *which);

/// The same for a measure of metabolic power.
bool tali_muscle_metabolics_facts(const tal_system *system, tal_measure_ix measure,
                                  tal_force_ix *muscle, tal_metabolics *def);

/// The cliques of a surface of a contact element.
uint64_t tali_contact_cliques(const tal_forces *forces, tal_force_ix contact,
                              tal_contact_surface_ix surface);

#endif // TALUS_FORCE_FACTS_INTERNAL_H
