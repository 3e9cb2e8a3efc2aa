// Forces that give wanted accelerations with the least effort.
#ifndef TALUS_TARGET_INTERNAL_H
#define TALUS_TARGET_INTERNAL_H

#include "muscle/drive_internal.h"

#include <talus/study/follower.h>

typedef struct tali_target {
    const tal_system *system;
    const tal_matter *matter;
    tal_allocator allocator;
    tali_drives drives;
    int n, nt, nu; ///< drives, tasks, speeds
    bool is_soft;
    tal_follower_task *tasks; ///< [nt]
    int *speed;               ///< [nt] of matter
    void *block;
    size_t block_bytes;
    double *P;            ///< nu x nt: what a generalized force gives each task
    double *b;            ///< [nt] accelerations without drives
    double *least, *most; ///< [n] forces that can be reached; for muscles the caller sets them
    double *unit;         ///< [n] f: the force that counts as an effort of one
    double *A;            ///< nt x (n + nt)
    double *rhs, *lambda, *lack; ///< [nt]
    double *lower, *upper, *x;   ///< [n + nt]
    double *force;               ///< [n] the answer
    double *aerr, *multipliers;  ///< [rows of constraints]
    double *f, *back;            ///< [nu]
    double *work;
} tali_target;

/// Take memory. On failure nothing is left behind.
tal_status tali_target_create(tali_target *it, const tal_system *system, const tal_forces *forces,
                              const tal_follower_def *def, tal_error *err);
void tali_target_destroy(tali_target *it);

/// Accelerations of unit forces, and of all else, at a State, whose drives are disabled afterwards.
/// Velocity.
tal_status tali_target_lay(tali_target *it, tal_state *state);

/// The forces for these accelerations; `least` and `most` of muscles are set.
/// @param[in] wanted  [nt]
/// @param[in] worth   what effort counts, if soft
tal_status tali_target_solve(tali_target *it, const double wanted[], double worth,
                             tal_follower_window *window, tal_error *err);

#endif // TALUS_TARGET_INTERNAL_H
