// Muscles and actuators as columns: what a unit of each does, how strong it is, and its bounds.
#ifndef TALUS_DRIVE_INTERNAL_H
#define TALUS_DRIVE_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"

#include <talus/forces.h>

/// One column: an actuator, or one of the six controls of a body actuator.
typedef struct tali_drive {
    tal_force_ix force;
    int part;         ///< which control of a body actuator; else 0
    tal_path_ix path; ///< that it pulls along; `i` < 0: none
    int speed;        ///< of matter, that a mobility actuator acts along; -1: none
    bool is_muscle, is_body;
} tali_drive;

typedef struct tali_drives {
    const tal_system *system;
    const tal_matter *matter;
    const tal_forces *forces;
    tal_allocator allocator;
    int nu, n;
    void *block;
    size_t block_bytes;
    bool no_physiology; ///< muscles are as strong as F0
    tali_drive *columns;
    bool *is_drive;        ///< [num_forces]
    bool *is_enabled;      ///< [n]
    double *unit;          ///< nu x n, generalized forces of an output of one
    double *strength;      ///< [n] output of x = 1
    double *lower, *upper; ///< [n] of x
    tal_force_ix *rest;    ///< [num_rest] enabled elements that are no actuators
    int num_rest;
    tal_spatial_vec *F_GB; ///< [num_bodies]
    double *f;             ///< [nu]
} tali_drives;

/// Take memory for these elements, or, for NULL, for all muscles and actuators.
tal_status tali_drives_create(tali_drives *it, const tal_system *system, const tal_forces *forces,
                              const tal_force_ix actuators[], int num, tal_error *err);
void tali_drives_destroy(tali_drives *it);

/// All columns at a State, whose controls change. Velocity.
tal_status tali_drives_find(tali_drives *it, tal_state *state);

/// Generalized forces that a motion takes beyond those of the elements that are no actuators.
/// Velocity.
tal_status tali_drives_needed(tali_drives *it, tal_state *state, const double udot[], double tau[]);

#endif // TALUS_DRIVE_INTERNAL_H
