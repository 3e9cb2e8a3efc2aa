// How the errors and the forces of one constraint change.
#ifndef TALUS_CONSTRAINT_CHANGE_ROOM_INTERNAL_H
#define TALUS_CONSTRAINT_CHANGE_ROOM_INTERNAL_H

#include "constraint/constraint_internal.h"

/// A change of the arguments of a constraint, what it does, and memory to find that.
typedef struct tali_constraint_change_room {
    tal_spatial_vec *dX, *dV, *dA; ///< [num_bodies] the change: tal_constraint_change
    double *dq, *du, *dudot;       ///< [num_mobilities]
    double *lambda;                ///< [rows] whose forces are meant

    double *perr, *verr, *aerr; ///< what it does to the errors of its rows
    tal_spatial_vec *dF;        ///< [num_bodies] and to the forces, about Bo, in A
    double *df;                 ///< [num_mobilities]

    tal_xform *X_AB; ///< of moved arguments
    tal_spatial_vec *V, *A, *F;
    double *q, *u, *udot, *rows, *f;
} tali_constraint_change_room;

/// Where these are in a block, for any constraint; returns its size. NULL: the size alone.
size_t tali_constraint_change_room_in(const tali_constraints *cs, void *block,
                                      tali_constraint_change_room *room);

/// What the change in `room` does, with the motion `arg` up to accelerations: by calc_change of the
/// table, or by differences.
tal_status tali_constraint_calc_change(const tali_constraint *c, const tal_constraint_arg *arg,
                                       const tali_constraint_change_room *room);

/// The two parts of that: no change yet; and differences added.
void tali_constraint_clear_change(const tali_constraint *c,
                                  const tali_constraint_change_room *room);
tal_status tali_constraint_difference(const tali_constraint *c, const tal_constraint_arg *arg,
                                      const tali_constraint_change_room *room);

#endif // TALUS_CONSTRAINT_CHANGE_ROOM_INTERNAL_H
