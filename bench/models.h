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

typedef enum model_tie {
    MODEL_TIE_BALL, ///< the stations meet: three equations
    MODEL_TIE_LINE, ///< station 2 stays on the line through station 1 along z of body 1: two
    MODEL_TIE_ROD   ///< the stations keep a distance: one
} model_tie;

/// What closes a loop.
typedef struct model_loop {
    model_tie tie;
    int bodies[2];
    tal_vec3 stations[2]; ///< each from Bo, in B
    double length;        ///< of a rod
} model_loop;

/// A linear spring between two stations.
typedef struct model_spring {
    int bodies[2];
    tal_vec3 stations[2];
    double stiffness, rest_length;
} model_spring;

enum {
    MODEL_SETS = 2, ///< sets of values that take turns, so that no cached result can be reused
    MODEL_MOST_EXPLICIT = 1000 ///< M of a larger model is not asked for
};

/// A tree of bodies, what acts on it, and values to evaluate it at. Ground is bodies[0], without
/// mass.
typedef struct model {
    char name[32];
    int num_bodies; ///< Ground included
    int nq;
    int nu;
    bool is_pins; ///< all joints are pins
    model_body *bodies;
    int num_loops;
    model_loop *loops;
    int num_springs;
    model_spring *springs;
    bool has_gravity;
    double motor; ///< force along the first u
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

/// Nothing but a tree under gravity.
static inline bool model_is_plain(const model *m)
{
    return m->num_loops == 0 && m->num_springs == 0 && m->has_gravity;
}

/// @name The models
/// @{

/// How many there are.
int model_count(void);
/// The one at `i`; end it with model_free().
model model_make(int i);

/// Pins whose axes alternate, one after the other.
model model_pin_chain(int n);

/// An arm of n pins whose axes are vertical and horizontal in turns, one above the other.
model model_arm(int n);

/// A binary tree of pins: body b hangs on body b / 2.
model model_pin_tree(int n);

/// A free pelvis, and 30 pins in five limbs: 36 mobilities.
model model_humanoid(int unused);

/// Balls, one after the other.
model model_ball_chain(int n);

/// @name The chain of pins, its tip tied to Ground
/// @{
model model_ball_closed(int n);
model model_rod_closed(int n);
/// @}

/// N four-bars side by side (IFToMM benchmark A02): N + 1 parallel cranks on Ground; each but the
/// last carries a coupler that ends on the next.
model model_four_bars(int N);

/// Andrews' squeezer (IFToMM benchmark A03): seven bodies, three loops, a spring and a motor.
model model_squeezer(int unused);

/// A binary tree of n pins with n springs between its bodies.
model model_sprung_tree(int n);

void model_free(model *m);

/// The same tree with nothing acting on it beyond what every tree has: loops open, springs gone,
/// and gravity too if it was springs that were taken away. Borrows the arrays of `m`.
model model_stripped(const model *m);

/// @}
/// @name Making one
/// @{

/// Ground, and room for n bodies and as many loops or springs.
model model_start(int n);

/// A body. Returns its index.
int model_add(model *m, int parent, model_joint joint, tal_xform X_PF, tal_mass_props mass);

/// A slender limb along x, its com off the axis and its inertia full, so that no zero flatters
/// anyone.
tal_mass_props model_limb(double mass, double length);

/// Room for the values, and values at random.
model model_finish(model m);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_BENCH_MODELS_H
