// What is timed, and who competes.
#ifndef TALUS_BENCH_CONTESTANT_H
#define TALUS_BENCH_CONTESTANT_H

#include "models.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a contestant computes. "Fresh" begins with values it has not seen; "cached" has evaluated
/// what depends on q and u alone before: poses, velocities, inertias, and what it factors.
typedef enum quantity {
    KINEMATICS, ///< poses and velocities of all bodies
    INVERSE,    ///< forces for given udot, against gravity
    FORWARD,    ///< udot under gravity and, when cached, given forces
    MULTIPLY_M, ///< M v
    SOLVE_M,    ///< M^-1 v
    EXPLICIT_M, ///< all of M
    JACOBIAN,   ///< 6 x nu, of the last body's frame
    STATE_COPY, ///< all variables and results
    NUM_QUANTITIES
} quantity;

/// Whether this is asked of a model. What loops and springs add shows in two quantities only.
static inline bool is_timed(const model *m, quantity what, bool fresh)
{
    if (what == KINEMATICS && !fresh) return false;
    if (what == STATE_COPY && fresh) return false;
    if (!model_is_plain(m)) return fresh && (what == KINEMATICS || what == FORWARD);
    return what != EXPLICIT_M || m->nu <= MODEL_MOST_EXPLICIT;
}

/// A way of computing those. All answers are in the model's own conventions.
typedef struct contestant {
    const char *name;

    /// NULL when the model is beyond it.
    void *(*create)(const model *m);
    void (*destroy)(void *self);

    /// Whether it can do this; NULL: it can do everything.
    bool (*can)(quantity what, bool fresh);

    /// Compute it `count` times, the model's sets of values taking turns.
    void (*run)(void *self, quantity what, bool fresh, long count);

    /// What it computes from set 0: poses of the last body (R_GB by columns, p_GB, then V_GB), [nu]
    /// numbers, M by columns, or J by columns (each: w, v). Not called for STATE_COPY.
    void (*answer)(void *self, quantity what, bool fresh, double out[]);

    /// udot comes from a factored M, with the round-off that its condition number brings.
    bool factors_M;
} contestant;

static inline bool contestant_can(const contestant *who, quantity what, bool fresh)
{
    return who->can == NULL || who->can(what, fresh);
}

extern const contestant contestant_talus;
extern const contestant contestant_direct;
extern const contestant contestant_bare;
#ifdef BENCH_HAS_SIMBODY
extern const contestant contestant_simbody;
#endif
#ifdef BENCH_HAS_MUJOCO
extern const contestant contestant_mujoco;
#endif

#ifdef __cplusplus
}
#endif
#endif // TALUS_BENCH_CONTESTANT_H
