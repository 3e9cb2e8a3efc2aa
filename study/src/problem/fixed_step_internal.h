// What Studies with steps of a fixed length share.
#ifndef TALUS_FIXED_STEP_INTERNAL_H
#define TALUS_FIXED_STEP_INTERNAL_H

#include <talus/state.h>

/// One step of a row of steps.
typedef struct tali_problem_step {
    double h; ///< its length [s]
    double t; ///< where it ends [s]
} tali_problem_step;

/// The next of steps of length h from t0 to t1: the last one ends at t1, and a rest that is
/// round-off of steps is part of it.
tali_problem_step tali_problem_next_step(double t0, double t1, double h);

/// Whether every step of length h from t0 to t1 changes the time, also when it is rounded.
bool tali_problem_steps_move(double t0, double t1, double h);

/// Whether a State can be stepped to t by steps of length h; otherwise a breach has been reported.
bool tali_problem_is_ahead(const tal_state *state, double t, double h, const char *where);

/// A number for time and y of a State, and for what it was left by: with the same number it is as
/// it was left. Never 0.
uint64_t tali_problem_print_of(const tal_state *state, int method);

#endif // TALUS_FIXED_STEP_INTERNAL_H
