// Motions as matter keeps them: as declared, and where their values and those of locks are.
#ifndef TALUS_PRESCRIBED_TYPES_H
#define TALUS_PRESCRIBED_TYPES_H

#include <talus/matter/prescribed.h>

/// A motion as it was added.
typedef struct tali_prescribed_drive {
    char name[TAL_MAX_NAME + 1];
    tal_motion_ops ops;
    void *self;
    int body;
    int mobility; ///< -1: all
    tal_level level;
    int num_values; ///< it can give; -1: as many as are asked for
    int num_params;
    int param0;
    bool disabled;
} tali_prescribed_drive;

/// Everything matter knows of its motions and locks. Const after topology.
typedef struct tali_prescribed {
    tali_prescribed_drive *list;
    int count;
    int capacity;
    double *params;
    int num_params;
    int params_capacity;

    int32_t *value0;   ///< [num_bodies] first of a body's lock values
    uint8_t *may;      ///< [num_bodies] whether it, or a body that carries it, may be fast
    int num_fast;      ///< speeds of these bodies
    int num_fast_rows; ///< equations of constraints on them

    tal_var_ix levels; ///< uint8_t[num_u] tal_level of locks, then uint8_t[num_bodies] as below
    tal_var_ix
        values;      ///< double[max_nq] what they are locked at; q in the mode noted behind levels
    tal_var_ix fast; ///< uint8_t[num_bodies] tal_level of bodies that may be fast themselves
    tal_var_ix enabled;    ///< uint8_t[count]
    tal_var_ix var_params; ///< double[num_params]
    tal_cache_ix known;    ///< which mobilities are known, at Instance
    tal_cache_ix udot;     ///< known accelerations, and what they make of the bodies
    tal_cache_ix forces;   ///< tau
    tal_cache_ix loads; ///< applied forces and those of constraints on fast bodies; only with such
} tali_prescribed;

#endif // TALUS_PRESCRIBED_TYPES_H
