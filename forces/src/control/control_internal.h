// Controllers as they are kept by the force subsystem, and the sum that is a control.
#ifndef TALUS_CONTROL_INTERNAL_H
#define TALUS_CONTROL_INTERNAL_H

#include "names_internal.h"

#include <talus/forces/control.h>

typedef struct tali_controller {
    char name[TAL_MAX_FORCE_NAME + 1];
    tal_controller_ops ops;
    void *self;
    tal_force_ix *actuators; ///< [num_actuators]
    int num_actuators;
} tali_controller;

/// A controller of an actuator, and which of its actuators that is.
typedef struct tali_control_link {
    int controller, which;
} tali_control_link;

/// All controllers of a force subsystem.
typedef struct tali_controls {
    tali_controller *items;
    int num, capacity;
    tali_names names;
    tal_var_ix enabled;       ///< uint8_t for each
    int *first;               ///< [num_elements + 1] of the links of each element
    tali_control_link *links; ///< [num_links]
    int num_links, num_first;
} tali_controls;

/// Sort the controllers by actuator and declare what a State keeps of them. False after a failure,
/// which the System remembers.
bool tali_controls_declare(tal_forces *forces);

/// Continue a hash with what the controllers are.
uint64_t tali_controls_hash(const tal_forces *forces, uint64_t hash);

void tali_controls_free(tal_forces *forces);

#endif // TALUS_CONTROL_INTERNAL_H
