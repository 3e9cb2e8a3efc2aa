// What built-in controllers were added with, for writing model files.
#ifndef TALUS_CONTROL_FACTS_INTERNAL_H
#define TALUS_CONTROL_FACTS_INTERNAL_H

#include <talus/forces/control.h>

typedef struct tali_controller_facts {
    /// Of a function controller one for each actuator, of feedback its target; borrowed.
    tal_function *const *functions;
    int num_functions;
    double gain;            ///< of a measure controller and a reflex
    tal_measure_ix measure; ///< of a measure controller; `i` < 0: none
    tal_mobility mobility;  ///< of feedback
    double stiffness, damping;
} tali_controller_facts;

/// Facts of a built-in controller; NULL for one of a user's.
const tali_controller_facts *tali_controller_facts_of(const tal_forces *forces,
                                                      tal_controller_ix controller);

#endif // TALUS_CONTROL_FACTS_INTERNAL_H
