// Steps of several integrators at once, each with its own State, time and step size, whose rates
// are found in lanes (ADR 38). What becomes of each is what becomes of it alone, to the bit: the
// arithmetic of steps is that of runge_kutta.c and step_loop.c, and a lane that meets anything but
// accepted steps and errors that are too large gives up, to be run again alone.
#ifndef TALUS_LANE_STEPS_INTERNAL_H
#define TALUS_LANE_STEPS_INTERNAL_H

#include "integrate/integrator_internal.h"

#include <talus/forces.h>

/// What a lane is about.
typedef enum tali_integrator_lane_phase {
    TALI_LANE_EMPTY,
    TALI_LANE_BEGINS, ///< its next trial step is the first of a step
    TALI_LANE_RETRIES,
    TALI_LANE_GAVE_UP ///< something that is better told by the integrator alone
} tali_integrator_lane_phase;

/// How well lanes are used: an evaluation of a lane is one State's rates.
typedef struct tali_integrator_lane_use {
    uint64_t evaluations; ///< of all lanes together
    uint64_t used;        ///< lanes in them that were wanted
} tali_integrator_lane_use;

typedef struct tali_integrator_lanes tali_integrator_lanes;

/// Why integrators by this def cannot step in lanes, as a sentence; empty: they can.
void tali_integrator_lanes_refusal(const tal_system *system, const tal_integrator_def *def,
                                   char text[], size_t size);

/// Create at most so many lanes, 1 < `most`; NULL where the machine has none.
tal_status tali_integrator_lanes_create(const tal_system *system, int most,
                                        tali_integrator_lanes **out, tal_error *err);
void tali_integrator_lanes_destroy(tali_integrator_lanes *it);

int tali_integrator_lanes_width(const tali_integrator_lanes *it);

/// The choices of this State hold for all lanes. It has realized Instance.
void tali_integrator_lanes_begin(tali_integrator_lanes *it, tal_state *state);

/**
 * Put an integrator and its State, on which tali_integrator_start() has succeeded, into a lane that
 * is empty or gave up.
 *
 * @param[in] one_by_one  whether steps count as calls of tal_integrator_step()
 * @return false when the State has to be stepped alone
 */
bool tali_integrator_lanes_seat(tali_integrator_lanes *it, int lane, tal_integrator *integ,
                                tal_state *state, double t_end, bool one_by_one);

/// A lane is free for another.
void tali_integrator_lanes_leave(tali_integrator_lanes *it, int lane);

/// A trial step of all lanes. `stepped` [width]: a step was accepted, or the lane gave up.
void tali_integrator_lanes_try(tali_integrator_lanes *it, bool stepped[]);

tali_integrator_lane_phase tali_integrator_lanes_phase(const tali_integrator_lanes *it, int lane);

/// Where a lane is [s].
double tali_integrator_lanes_t(const tali_integrator_lanes *it, int lane);

/// Put what a lane has come to into its State, realized to Acceleration; the last step can be
/// interpolated.
tal_status tali_integrator_lanes_put(tali_integrator_lanes *it, int lane);

tali_integrator_lane_use tali_integrator_lanes_use(const tali_integrator_lanes *it);

#endif // TALUS_LANE_STEPS_INTERNAL_H
