// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_PATH_GOAL_H
#define TALUS_STUDY_PATH_GOAL_H

/**
 * @file talus/study/path_goal.h
 * @brief The length of a path as a goal of an assembler.
 *
 *     const tal_path_goal wanted = {forces, rope, 1.2};
 *     const tal_goal goal = tal_path_goal_weighted(&wanted, 1.0);
 *     def.goals = &goal;
 *     def.num_goals = 1;
 */

#include <talus/forces.h>
#include <talus/study/assembler.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @addtogroup assembler
/// @{

/// A path that should have a length: r = l - length [m].
typedef struct tal_path_goal {
    const tal_forces *forces;
    tal_path_ix path;
    double length; ///< [m]; may be changed between searches
} tal_path_goal;

/// It as a goal for tal_assembler_def.goals. `wanted` and what it points to must outlive the
/// assembler; the name of the goal is the path's. A goal without a `calc`, and a breach, for NULL.
TAL_API tal_goal tal_path_goal_weighted(const tal_path_goal *wanted, double weight);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_PATH_GOAL_H
