// One projection under way, and the least change that meets the linear part of the constraints.
//
//   quantity                                   manual            here
//   weighted errors                            T_p e, T_pv e     residual
//   T_p P W_u^-1 N^+                           eq. 10.8          A, of q
//   [t_c T_p P; T_v V] W_u^-1                  eq. 10.9          A, of u
//   change in the error norm                   dq_ELS, du_ELS    x = A^+ residual
//   E_q = N W_u N^+, E_q^+ = N W_u^-1 N^+      eq. 10.10         apply_E
//
// (The first: P_q E_q^+ = P N^+ N W_u^-1 N^+ = P W_u^-1 N^+, since N^+ N = 1.) Blocks of
// constraints that share no mobility are treated one after the other.
#ifndef TALUS_CONSTRAINT_PROJECT_INTERNAL_H
#define TALUS_CONSTRAINT_PROJECT_INTERNAL_H

#include "constraint_internal.h"

#include "constraint_envelope.h"

/// One projection under way. Arrays are scratch of the State. A "value" is a q, or a u.
typedef struct tali_projection {
    const tal_matter *matter;
    tal_state *state;
    const tal_project_options *options;
    bool is_short;   ///< of memory
    bool velocities; ///< of u onto uerr, not of q onto qerr
    tali_row_map map;
    tali_model model;
    int num_rows;      ///< errors
    int num_values;    ///< q or u of matter
    const double *W_u; ///< [num_u]
    double *T;         ///< [num_rows]
    double *start;     ///< [num_values] as on entry
    double *from;      ///< [num_values] as at the start of an iteration
    double *change;    ///< [num_values]

    int32_t *column; ///< [num_bodies] first column of a body in its block; -1: none yet
    int32_t *bodies; ///< [num_bodies] the bodies of the block that have columns
    int32_t *offset; ///< [path_total] where a body of a path stands in the rows of its constraint
    int32_t *width;  ///< [count] length of a row of a constraint
    int32_t *row0;   ///< [count] first row of a constraint in its block, at this level
    size_t *entries; ///< [count] where the rows of a constraint begin

    // of one block
    double *S;        ///< rows of A, each along the path of its constraint
    double *A;        ///< [rows x columns] A itself, if need be
    double *envelope; ///< of A A^T
    tali_envelope_row *envelope_rows;
    double *residual;   ///< [rows]
    double *y;          ///< [rows]
    double *x;          ///< [max(rows, columns)]
    double *g;          ///< [path_nu]
    tal_spatial_vec *F; ///< [path_len]
    double *work;
    int *iwork;
} tali_projection;

/// Take the memory for the arrays. False when there is too little.
bool tali_projection_take_room(tali_projection *p);

/// The errors of constraints at this level.
const double *tali_projection_errors(const tali_projection *p);

/// What constraint `i` contributes at this level: P, or P and V.
static inline int tali_projection_rows(const tali_projection *p, int i)
{
    const tal_constraint_ops *ops = &p->matter->constraints.list[i].ops;
    if (p->map.row0[i] < 0) return 0;
    return p->velocities ? ops->mp + ops->mv : ops->mp;
}

/**
 * p->change = E^+ A^+ (T e): manual eq. 10.5 and 10.7. Given values ([num_values]), E^+ A^+ A E
 * values: the part of them that the constraints see, manual eq. 10.12 and 10.14. Zero for bodies
 * that no constraint reaches.
 */
tal_status tali_projection_calc_change(const tali_projection *p, const double values[]);

#endif // TALUS_CONSTRAINT_PROJECT_INTERNAL_H
