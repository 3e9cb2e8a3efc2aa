// All the ways in which a body can be made to turn at a given speed.
#ifndef TALUS_TESTS_TURNING_SUPPORT_H
#define TALUS_TESTS_TURNING_SUPPORT_H

#include "talus_test.h"

#include <talus/matter.h>

typedef enum turning {
    TURN_POSITION,          ///< a motion: its angle is w t
    TURN_VELOCITY,          ///< a motion: its speed is w
    TURN_ACCELERATION,      ///< a motion: its speed does not change
    TURN_LOCK_VELOCITY,     ///< a lock
    TURN_LOCK_ACCELERATION, ///< a lock
    TURN_CONSTRAINT,        ///< a constraint on its speed
    NUM_TURNINGS
} turning;

/// The function slope * t; owned by the caller.
static inline tal_function *line(double slope)
{
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_linear(NULL, &slope, 1, 0.0, &f, NULL), TAL_OK);
    return f;
}

/// While the model is built.
static inline void make_it_turn(tal_matter *matter, tal_body_ix body, double w, turning how)
{
    tal_motion_def def = tal_motion_def_default();
    def.body = body;
    if (how == TURN_POSITION || how == TURN_ACCELERATION) {
        tal_function *f = line(how == TURN_POSITION ? w : 0.0);
        def.level = how == TURN_POSITION ? TAL_LEVEL_POSITION : TAL_LEVEL_ACCELERATION;
        (void)tal_matter_add_motion_functions(matter, &def, &f, 1);
    }
    if (how == TURN_VELOCITY) (void)tal_matter_add_motion_steady(matter, &def, &w, 1);
    if (how == TURN_CONSTRAINT) {
        const tal_constraint_def on = tal_constraint_on(body, 0);
        (void)tal_constraint_add_constant_speed(matter, &on, w);
    }
}

/// In a State whose speed of the body is w.
static inline void lock_it_turning(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                   turning how)
{
    if (how == TURN_LOCK_VELOCITY) {
        ck_assert_int_eq(tal_body_lock(matter, state, body, TAL_LEVEL_VELOCITY), TAL_OK);
    }
    if (how == TURN_LOCK_ACCELERATION) {
        ck_assert_int_eq(tal_body_lock(matter, state, body, TAL_LEVEL_ACCELERATION), TAL_OK);
    }
}

#endif // TALUS_TESTS_TURNING_SUPPORT_H
