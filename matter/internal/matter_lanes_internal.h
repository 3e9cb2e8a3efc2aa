// The dynamics of several States of a tree at once, one in each lane of the registers (ADR 34), for
// forces and integrators in lanes. Each State gets the bits that it gets alone.
//
// A lane works on numbers: q and u are in rows of y as a State has them. The State of the lane may
// be elsewhere; it says which parameters and choices hold.
#ifndef TALUS_MATTER_LANES_INTERNAL_H
#define TALUS_MATTER_LANES_INTERNAL_H

#include "weight_internal.h"

/// The most lanes of any machine.
#define TALI_MATTER_MOST_LANES 8

typedef struct tali_matter_lanes tali_matter_lanes;

/// Which sum of the forces on bodies a load is added to: the sums are added up as a State does.
typedef enum tali_matter_load {
    TALI_MATTER_LOAD_OF_ALL, ///< of elements that need all
    TALI_MATTER_LOAD_OF_Q    ///< of elements that need q alone
} tali_matter_load;

/// Why lanes cannot work on such a tree, as the end of a sentence; NULL: they can.
const char *tali_matter_lanes_refusal(const tal_matter *matter);

/// Create lanes for a tree that they can work on. `most` of them, or fewer where the machine has
/// fewer; `*out` is NULL when it has none.
tal_status tali_matter_lanes_create(const tal_matter *matter, int most, tali_matter_lanes **out,
                                    tal_error *err);
void tali_matter_lanes_destroy(tali_matter_lanes *lanes);

/// How many there are.
int tali_matter_lanes_width(const tali_matter_lanes *lanes);

/// The choices of a State at Instance hold for all lanes, its constants too until others come.
void tali_matter_lanes_begin(tali_matter_lanes *lanes, tal_state *state);

/// Put a State at Instance into a lane. Borrowed until the next. False when it has locks, motions
/// or other choices than the others: then it has to be worked on alone.
bool tali_matter_lanes_seat(tali_matter_lanes *lanes, int lane, tal_state *state);

/// What gravity pulls in a lane.
/// @param[in] weights  [num_bodies]
void tali_matter_lanes_set_weights(tali_matter_lanes *lanes, int lane, const tali_weight weights[],
                                   tal_vec3 g);

/// Poses and velocities of all lanes at rows of y ([width], none NULL); all loads become zero.
void tali_matter_lanes_move(tali_matter_lanes *lanes, const double *const y[]);

/// X_GM and V_GM of a body in a lane.
void tali_matter_lanes_look(const tali_matter_lanes *lanes, int lane, int body, tal_xform *X_GM,
                            tal_spatial_vec *V_GM);

/// What is applied to a body in a lane so far, about Mo: to be added to and put back.
tal_spatial_vec tali_matter_lanes_load(const tali_matter_lanes *lanes, tali_matter_load which,
                                       int lane, int body);
void tali_matter_lanes_set_load(tali_matter_lanes *lanes, tali_matter_load which, int lane,
                                int body, tal_spatial_vec F_GM);

/// Add the weights in all lanes, to the loads of q.
void tali_matter_lanes_weigh(tali_matter_lanes *lanes);

/**
 * The rates of y of all lanes, after moving and applying.
 *
 * @param[in]  f     [width][nu] forces along the speeds
 * @param[out] ydot  [width][nq + nu]
 * @return false when a mobility of one of them moves no mass: then all are worthless
 */
bool tali_matter_lanes_solve(tali_matter_lanes *lanes, const double *const f[],
                             const double *const y[], double *const ydot[]);

/// Has every quaternion of a row of y a direction?
bool tali_matter_lanes_has_directions(const tali_matter_lanes *lanes, const double y[]);

/// Set the lengths of quaternions to 1; false when one has no direction.
bool tali_matter_lanes_normalize(const tali_matter_lanes *lanes, double y[]);

/// An error of q as one of speeds: N^+ e, after the parts along quaternions are taken out of e.
/// @param[in,out] e    [nq]
/// @param[out]    e_u  [nu]
bool tali_matter_lanes_error_along_u(const tali_matter_lanes *lanes, int lane, const double y[],
                                     double e[], double e_u[]);

#endif // TALUS_MATTER_LANES_INTERNAL_H
