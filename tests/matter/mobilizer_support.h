// The built-in mobilizers as a list, and random states of them.
#ifndef TALUS_MOBILIZER_SUPPORT_H
#define TALUS_MOBILIZER_SUPPORT_H

#include "mobilizer/mobilizer_internal.h"
#include "talus_test.h"

#include <math.h>

enum {
    MAX_PARAMS = 6
};

/// One built-in, with parameters that make it different from any other.
typedef struct builtin {
    const tal_mobilizer_ops *(*ops)(void);
    int nu, nq; ///< as the documentation says
    double params[MAX_PARAMS];
} builtin;

static const builtin builtins[] = {
    {tal_mobilizer_weld, 0, 0, {0.0}},
    {tal_mobilizer_pin, 1, 1, {0.0}},
    {tal_mobilizer_slider, 1, 1, {0.0}},
    {tal_mobilizer_screw, 1, 1, {0.3}},
    {tal_mobilizer_universal, 2, 2, {0.0}},
    {tal_mobilizer_cylinder, 2, 2, {0.0}},
    {tal_mobilizer_bend_stretch, 2, 2, {0.0}},
    {tal_mobilizer_planar, 3, 3, {0.0}},
    {tal_mobilizer_gimbal, 3, 3, {0.0}},
    {tal_mobilizer_bushing, 6, 6, {0.0}},
    {tal_mobilizer_spherical_coords, 3, 3, {0.2, -0.3, -1.0, 1.0, -1.0, 0.0}},
    {tal_mobilizer_spherical_coords, 3, 3, {-0.1, 0.4, 1.0, -1.0, 1.0, 1.0}},
    {tal_mobilizer_translation, 3, 3, {0.0}},
    {tal_mobilizer_ball, 3, 4, {0.0}},
    {tal_mobilizer_ellipsoid, 3, 4, {0.5, 0.8, 1.1}},
    {tal_mobilizer_line_orientation, 2, 4, {0.0}},
    {tal_mobilizer_free_line, 5, 7, {0.0}},
    {tal_mobilizer_free, 6, 7, {0.0}},
    {tal_mobilizer_cantilever, 3, 3, {0.7}},
    {tal_mobilizer_rack_and_pinion, 1, 1, {-0.6}},
};

enum {
    NUM_BUILTINS = sizeof builtins / sizeof builtins[0]
};

/// A state of one mobilizer, to which `arg` points.
typedef struct mobilizer_state {
    double q[TAL_MAX_NQ], u[TAL_MAX_NU];
    tal_mobilizer_arg arg;
} mobilizer_state;

/// Angles and distances in [-1.2, 1.2], so that cos q1 > 0.36; a quaternion of any direction and of
/// a length between 0.5 and 2; speeds in [-2, 2].
static inline void random_state(test_rng *rng, const tal_mobilizer_ops *ops, const double params[],
                                bool use_angles, mobilizer_state *state)
{
    for (int i = 0; i < TAL_MAX_NQ; ++i) {
        state->q[i] = test_random_uniform(rng, -1.2, 1.2);
    }
    for (int j = 0; j < TAL_MAX_NU; ++j) {
        state->u[j] = test_random_uniform(rng, -2.0, 2.0);
    }
    if (ops->has_quaternion && !use_angles) {
        const tal_quat e = test_random_quat(rng);
        const double length = test_random_uniform(rng, 0.5, 2.0);
        const double q[4] = {e.w, e.x, e.y, e.z};
        for (int i = 0; i < 4; ++i) {
            state->q[i] = length * q[i];
        }
    }
    state->arg = (tal_mobilizer_arg){use_angles, params, state->q, state->u};
}

#endif // TALUS_MOBILIZER_SUPPORT_H
