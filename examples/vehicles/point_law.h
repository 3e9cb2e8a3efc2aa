// A force on a station S of body B that depends on where S is in body A, and how it moves there:
// tyres (A is Ground), springs, bump stops. A feels the opposite force at the same point.
#ifndef POINT_LAW_H
#define POINT_LAW_H

#include <talus/study.h>

/// A force, and how it changes with place and velocity: dF = K dp + C dv. All in A.
typedef struct point_force {
    tal_vec3 F;
    tal_mat3 K, C;
} point_force;

/// The force at a place p with velocity v, both in A's frame M [m, m/s].
typedef point_force (*point_law_fn)(const double params[], tal_vec3 p, tal_vec3 v);

enum {
    POINT_LAW_PARAMS = 8
};

/// What is added.
typedef struct point_law {
    tal_body_ix A, B;
    tal_vec3 p_BS;
    point_law_fn law;
    double params[POINT_LAW_PARAMS];
} point_law;

/// Add it; `law` is copied.
tal_force_ix point_law_add(tal_forces *forces, const char *name, const point_law *law);

/// A spring with damping along a line: tension k e + c edot with e = sum a_i q_i, which acts along
/// the coordinates by a_i.
typedef struct coupling {
    tal_body_ix body[2]; ///< with one coordinate each, whose rate is its speed
    double a[2];
    double stiffness, damping;
} coupling;

/// Add it; copied.
tal_force_ix coupling_add(tal_forces *forces, const char *name, const coupling *it);

#endif // POINT_LAW_H
