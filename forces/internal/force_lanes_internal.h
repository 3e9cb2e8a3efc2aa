// The forces of several States at once, for integrators in lanes (ADR 38): gravity in all lanes,
// other elements one State after the other, by their own functions, on the bodies they act on.
#ifndef TALUS_FORCE_LANES_INTERNAL_H
#define TALUS_FORCE_LANES_INTERNAL_H

#include "matter_lanes_internal.h"

#include <talus/forces/force.h>

typedef struct tali_force_lanes tali_force_lanes;

/// Why the elements cannot be applied in lanes, as a sentence; empty: they can.
void tali_force_lanes_refusal(const tal_forces *forces, char text[], size_t size);

/// Create what applies elements that can be applied in lanes. The lanes are borrowed.
tal_status tali_force_lanes_create(const tal_forces *forces, tali_matter_lanes *lanes,
                                   tali_force_lanes **out, tal_error *err);
void tali_force_lanes_destroy(tali_force_lanes *it);

/// Put a State at Instance into a lane, after it was put into those of matter. Borrowed until the
/// next; it is written to.
void tali_force_lanes_seat(tali_force_lanes *it, int lane, tal_state *state);

/**
 * Apply all elements to lanes that have moved.
 *
 * @param[in]  t     [width] times
 * @param[in]  y     [width][ny]
 * @param[out] good  [width] false where an element failed, and where it was false
 * @return forces along the speeds [width][nu]. Borrowed until the next call
 */
const double *const *tali_force_lanes_apply(tali_force_lanes *it, const double t[],
                                            const double *const y[], bool good[]);

#endif // TALUS_FORCE_LANES_INTERNAL_H
