// What muscles will do: their forces at the end of a window, for any excitation.
//
// Along a motion that is known, lengths and speeds of paths are functions of time, and each muscle
// is alone. Its z are integrated over the window with a constant excitation x; the tension at the
// end, P(x), grows with x (ThelenCMC sec. 2).
#ifndef TALUS_FORESIGHT_INTERNAL_H
#define TALUS_FORESIGHT_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"
#include "muscle_alone_internal.h"

/// Most nodes of the motion in a window.
enum {
    TALI_FORESIGHT_MAX_NODES = 17
};

typedef struct tali_foresight {
    const tal_forces *forces;
    tal_allocator allocator;
    int n; ///< muscles
    void *block;
    size_t block_bytes;
    tal_force_ix *muscles;          ///< [n]
    tali_muscle_alone *alone;       ///< [n]
    double (*z)[TALI_MUSCLE_NUM_Z]; ///< [n] at the beginning
    int num_nodes;
    double times[TALI_FORESIGHT_MAX_NODES];
    double *l, *ldot; ///< [TALI_FORESIGHT_MAX_NODES][n] of paths at the nodes
} tali_foresight;

/// Take memory for these muscles, which are copied.
tal_status tali_foresight_create(tali_foresight *it, const tal_system *system,
                                 const tal_forces *forces, const tal_force_ix muscles[], int n,
                                 tal_error *err);
void tali_foresight_destroy(tali_foresight *it);

/// Begin a window with the z of a State. Velocity.
tal_status tali_foresight_begin(tali_foresight *it, tal_state *state);
/// Add a node: time, and lengths of paths at a State, which is at another time. Velocity.
tal_status tali_foresight_add_node(tali_foresight *it, double t, tal_state *state);

/// P(x) of muscle m [N]; NaN when its fibers run out of what they can do.
/// @param[out] z  [TALI_MUSCLE_NUM_Z] at the end; may be NULL
double tali_foresight_tension(const tali_foresight *it, int m, double x, double z[]);

/// The excitation with P(x) = tension, between two that enclose it.
double tali_foresight_excitation(const tali_foresight *it, int m, double lower, double upper,
                                 double tension);

/// Put z of muscle m into a State.
void tali_foresight_put(const tali_foresight *it, int m, const double z[], tal_state *state);

#endif // TALUS_FORESIGHT_INTERNAL_H
