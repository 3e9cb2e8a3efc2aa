// One projection under way, and the least change that meets the linear part of the constraints.
//
//   quantity                                   manual            here
//   weighted errors                            T_p e, T_pv e     residual
//   T_p P W_u^-1                               eq. 10.8          A, of q
//   [t_c T_p P; T_v V] W_u^-1                  eq. 10.9          A, of u
//   change in the error norm                   dq_ELS, du_ELS    x = A^+ residual
//   change as a motion                                           change = W_u^-1 x
//
// The manual's norm of a change of q is |N W_u N^+ dq| (eq. 10.10); here it is |W_u N^+ dq|,
// without the N in front, as everywhere in Talus (theory T-9). What is least is then a motion,
// whether quaternions or angles describe it, and A is the same for q and for u. Blocks of
// constraints that share no mobility are treated one after the other.
#ifndef TALUS_CONSTRAINT_PROJECT_INTERNAL_H
#define TALUS_CONSTRAINT_PROJECT_INTERNAL_H

#include "constraint/constraint_envelope.h"
#include "constraint/constraint_internal.h"

/// One projection under way. Arrays are scratch of the State. A "value" is a q, or a u.
typedef struct tali_projection {
    const tal_matter *matter;
    tal_state *state;
    const tal_project_options *options;
    bool velocities; ///< of u onto uerr, not of q onto qerr
    bool is_partial; ///< only blocks whose rows repeat others take part
    tali_constraint_row_map map;
    tali_matter_model model;
    int num_rows;      ///< errors
    int num_counted;   ///< that count: those of blocks that take part
    int num_values;    ///< q or u of matter
    const double *W_u; ///< [num_u]
    double *T;         ///< [num_rows]
    double *start;     ///< [num_values] as on entry
    double *from;      ///< [num_values] as at the start of an iteration
    double *change;    ///< [num_u] as a motion
    double *length;    ///< [num_rows] of rows of P in blocks that repeat others, at the last change
    int32_t *repeats;  ///< [num_blocks] whether rows of a block are known to repeat others

    int32_t *column; ///< [num_bodies] first column of a body in its block; -1: none yet
    int32_t *bodies; ///< [num_bodies] the bodies of the block that have columns
    int32_t *row0;   ///< [count] first row of a constraint in its block, at this level; -1: none
    size_t *entries; ///< [count] where the rows of a constraint begin

    // of one block
    double *S;        ///< rows of A, each along the path of its constraint
    double *A;        ///< [rows x columns] A itself, if need be
    double *envelope; ///< of A A^T
    tali_envelope_row *envelope_rows;
    tali_envelope_column *envelope_columns;
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
 * p->change = W_u^-1 A^+ (T e): manual eq. 10.5 and 10.7. Given values ([num_values]),
 * W_u^-1 A^+ A W_u (N^+ values): the part of them that the constraints see, manual eq. 10.12 and
 * 10.14. Zero for bodies that no constraint reaches.
 */
tal_status tali_projection_calc_change(const tali_projection *p, const double values[]);

/// The position errors of blocks whose rows repeat others, as an angle: tali_constraint_turn(), by
/// lengths of rows as they were at the last change.
double tali_projection_turn(const tali_projection *p);

/// values [num_values] = p->from, moved by this fraction of -p->change.
tal_status tali_projection_move(const tali_projection *p, double fraction, double values[]);

/// values -= N p->change, or p->change: to first order, and at the present q.
tal_status tali_projection_subtract_change(const tali_projection *p, double values[]);

#endif // TALUS_CONSTRAINT_PROJECT_INTERNAL_H
