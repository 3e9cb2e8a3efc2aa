// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STATE_STAGE_H
#define TALUS_STATE_STAGE_H

/**
 * @file talus/state/stage.h
 * @brief The stages through which every computation goes, and the types of indices.
 */

#include <talus/common/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How far a State has been computed. Each stage needs all the earlier ones (manual sec. 7.1.3).
typedef enum tal_stage {
    TAL_STAGE_EMPTY,        ///< nothing is known
    TAL_STAGE_TOPOLOGY,     ///< the elements are known, and memory is laid out
    TAL_STAGE_MODEL,        ///< modeling choices are made: q, u and z have their sizes
    TAL_STAGE_INSTANCE,     ///< parameters are set: masses, lengths, what is enabled
    TAL_STAGE_TIME,         ///< what depends on t
    TAL_STAGE_POSITION,     ///< what depends on q: poses, position errors
    TAL_STAGE_VELOCITY,     ///< what depends on u: velocities, qdot, velocity errors
    TAL_STAGE_DYNAMICS,     ///< what depends on z: forces
    TAL_STAGE_ACCELERATION, ///< udot, zdot, multipliers
    TAL_STAGE_REPORT,       ///< what only output needs
    TAL_STAGE_INFINITY      ///< later than any: the stage by which a lazy result is computed
} tal_stage;

/// How many stages a State can reach: TAL_STAGE_EMPTY to TAL_STAGE_REPORT.
#define TAL_NUM_STAGES 10

/// English name of a stage, e.g. "Position"; never NULL.
TAL_API const char *tal_stage_name(tal_stage stage);

/// The constant structure of a model. Opaque; see talus/state/system.h.
typedef struct tal_system tal_system;

/// One set of values for a System, with the results computed from them. Opaque; see
/// talus/state/state.h.
typedef struct tal_state tal_state;

/// @name Indices
/// One struct for each kind of element, so that a variable cannot be passed where a cache entry is
/// meant. Valid for the System that gave them out; `i` below zero means "none".
/// @{
typedef struct tal_subsystem_ix {
    int i;
} tal_subsystem_ix;

typedef struct tal_var_ix {
    int i;
} tal_var_ix;

typedef struct tal_cache_ix {
    int i;
} tal_cache_ix;

typedef struct tal_group_ix {
    int i;
} tal_group_ix;

typedef struct tal_event_ix {
    int i;
} tal_event_ix;

typedef struct tal_measure_ix {
    int i;
} tal_measure_ix;

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STATE_STAGE_H
