// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_PATH_SCAN_H
#define TALUS_STUDY_PATH_SCAN_H

/**
 * @file talus/study/path_scan.h
 * @brief Where paths are not as smooth as they should be: jumps and kinks of their lengths, points
 *        inside obstacles.
 */

#include <talus/forces.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup path_scan Flaws of paths
/// @{

/// What is wrong with a path at a value of a coordinate.
typedef enum tal_path_flaw_kind {
    TAL_PATH_JUMP,   ///< its length jumps
    TAL_PATH_KINK,   ///< its moment arm jumps
    TAL_PATH_INSIDE, ///< it goes straight through an obstacle: one of its points is inside
    TAL_PATH_LOST    ///< it cannot be drawn
} tal_path_flaw_kind;

/// A flaw that was found.
typedef struct tal_path_flaw {
    tal_path_flaw_kind kind;
    tal_wrap_ix wrap; ///< the obstacle that a point is inside of; `i` < 0: none
    tal_mobility at;  ///< the coordinate, numbered as with angles
    double q;         ///< its value; of the last two kinds the lowest one
    double size;      ///< of a jump [m], of a kink [m for an angle], else its range in q
} tal_path_flaw;

/**
 * Move each coordinate of a path through its range, a quarter of a degree at a time, while the
 * others stay where they are, and list the flaws.
 *
 * A sudden change is examined with steps down to 1e-9: if more than 1e-7 m of it is left, it is a
 * jump, and above 1e-6 m a kink. Coordinates without a finite range, and poses that violate
 * constraints, are left out.
 *
 * @param[in]  start  realized to Model or above; stays as it is
 * @param[out] flaws  [max] the first so many of them
 * @param[out] num    how many there are, which may be more than `max`
 * @param[out] err    may be NULL
 */
TAL_API TAL_NODISCARD tal_status tal_path_find_flaws(const tal_system *system,
                                                     const tal_forces *forces,
                                                     const tal_state *start, tal_path_ix path,
                                                     tal_path_flaw flaws[], int max, int *num,
                                                     tal_error *err);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_PATH_SCAN_H
