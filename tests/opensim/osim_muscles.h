// Models of OpenSim with their muscles, for tests: what tal_osim_read_file() reads, written as a
// model file, with paths and muscles added to it.
#ifndef TALUS_OSIM_MUSCLES_H
#define TALUS_OSIM_MUSCLES_H

#include <talus/talus.h>

/// Which muscles a model gets.
typedef enum osim_muscle_kind {
    OSIM_THELEN,  ///< with the constants of the file
    OSIM_DEGROOTE ///< with its sizes; implicit
} osim_muscle_kind;

/// Read a model with its muscles. `muscle` is the tag of those in the file.
tal_status osim_read_with_muscles(const char *path, const char *muscle, osim_muscle_kind kind,
                                  tal_model *model, tal_diagnostics *found);

#endif // TALUS_OSIM_MUSCLES_H
