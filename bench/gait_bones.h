// The bones of a model of walking: what the benchmarks of gait have in common.
#ifndef TALUS_BENCH_GAIT_BONES_H
#define TALUS_BENCH_GAIT_BONES_H

#include <talus/matter.h>

enum {
    GAIT_PELVIS,
    GAIT_TORSO,
    GAIT_FEMUR, // of the right leg; the left one comes GAIT_LEG behind it
    GAIT_TIBIA,
    GAIT_TALUS,
    GAIT_CALCN,
    GAIT_TOES,
    GAIT_LEG = 5,
    GAIT_NUM_BODIES = 12,
    GAIT_HUMERUS = GAIT_NUM_BODIES, // of the right arm; the left one comes GAIT_ARM behind it
    GAIT_ULNA,
    GAIT_RADIUS,
    GAIT_HAND,
    GAIT_ARM = 4,
    GAIT_PATELLA = GAIT_HUMERUS + 2 * GAIT_ARM, // right, left
    GAIT_NUM_WHOLE = GAIT_PATELLA + 2
};

/// Pelvis, torso and legs: 23 coordinates.
void gait_add_bones(tal_matter *matter, tal_body_ix body[GAIT_NUM_BODIES]);

/// The same with arms and kneecaps, each of which follows its knee by a coupler: 39 coordinates and
/// 2 constraints.
void gait_add_whole(tal_matter *matter, tal_body_ix body[GAIT_NUM_WHOLE]);

#endif // TALUS_BENCH_GAIT_BONES_H
