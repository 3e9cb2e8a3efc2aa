// The models that are timed, described once: every contestant builds its own from these numbers.
#ifndef TALUS_BENCH_MODELS_H
#define TALUS_BENCH_MODELS_H

#include <talus/matter.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum model_joint {
    MODEL_PIN,  ///< about z of F; one angle
    MODEL_BALL, ///< a quaternion; u is w_FM in F
    MODEL_FREE  ///< a quaternion and a position; u is w_FM and v_FM in F
} model_joint;

/// One body. Its frame B is also the frame M of its joint.
typedef struct model_body {
    int parent; ///< smaller than its own index; Ground is 0
    model_joint joint;
    tal_xform X_PF;
    tal_mass_props mass; ///< com and inertia about Bo, in B
} model_body;

enum {
    MODEL_SETS = 2, ///< sets of values that take turns, so that no cached result can be reused
    MODEL_MOST_EXPLICIT = 1000 ///< M of a larger model is not asked for
};

/// A tree of bodies, and values to evaluate it at. Ground is bodies[0], without mass.
typedef struct model {
    char name[32];
    int num_bodies; ///< Ground included
    int nq;
    int nu;
    bool is_pins; ///< all joints are pins
    model_body *bodies;
    double *q[MODEL_SETS];
    double *u[MODEL_SETS];
    double *v[MODEL_SETS]; ///< [nu] accelerations or forces for the operators
} model;

/// Gravity, in Ground.
static const tal_vec3 MODEL_GRAVITY = {0.0, -9.80665, 0.0};

static inline int model_joint_nq(model_joint joint)
{
    return joint == MODEL_PIN ? 1 : joint == MODEL_BALL ? 4 : 7;
}

static inline int model_joint_nu(model_joint joint)
{
    return joint == MODEL_PIN ? 1 : joint == MODEL_BALL ? 3 : 6;
}

/// Pins whose axes alternate, one after the other.
model model_pin_chain(int n);

/// A binary tree of pins: body b hangs on body b / 2.
model model_pin_tree(int n);

/// A free pelvis, and 30 pins in five limbs: 36 mobilities.
model model_humanoid(void);

/// Balls, one after the other.
model model_ball_chain(int n);

void model_free(model *m);

#ifdef __cplusplus
}
#endif
#endif // TALUS_BENCH_MODELS_H
