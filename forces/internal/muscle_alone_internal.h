// A muscle away from its System: what it does at a length and speed of its path, for studies that
// look ahead. Muscles do not feel each other once these are known.
#ifndef TALUS_MUSCLE_ALONE_INTERNAL_H
#define TALUS_MUSCLE_ALONE_INTERNAL_H

#include <talus/forces/muscle.h>

/// Which z of a muscle: its activation, its fibers.
enum {
    TALI_MUSCLE_ACTIVATION,
    TALI_MUSCLE_FIBER,
    TALI_MUSCLE_NUM_Z
};

/// A muscle with its sizes in a State. Borrowed from both; valid while the State has Instance.
typedef struct tali_muscle_alone {
    const void *muscle, *sizes;
    int slot[TALI_MUSCLE_NUM_Z];    ///< in z of the State; -1: it has none
    double unit[TALI_MUSCLE_NUM_Z]; ///< in which its z are about one
    double max_force;               ///< F0 [N]
} tali_muscle_alone;

/// A muscle alone. Instance. False, with the State's error, for an implicit one: its rates are
/// given.
bool tali_muscle_alone_of(const tal_forces *forces, tal_state *state, tal_force_ix muscle,
                          tali_muscle_alone *alone);

/// The tension [N] of a muscle whose path has length l and lengthens with ldot.
/// @param[in]  z     [TALI_MUSCLE_NUM_Z]; those that it does not have are not read
/// @param[out] rate  [TALI_MUSCLE_NUM_Z] dz/dt at this control; may be NULL
double tali_muscle_alone_find(const tali_muscle_alone *alone, double l, double ldot,
                              const double z[], double control, double rate[]);

#endif // TALUS_MUSCLE_ALONE_INTERNAL_H
