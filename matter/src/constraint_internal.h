// Constraints inside: as declared, the paths they act along, and their matrices in a State.
//
//   quantity                              manual             here
//   G^T, as wrenches on constrained bodies                   wrench, coefficient
//   what M^-1 sees of one row             -                  E = inward sweep of a column of G^T
//   G M^-1 G^T                            W_f  eq. 8.43      W = E^T D^-1 E
//
// M^-1 factors through the tree: M^-1 = B^T D^-1 B, where B is the inward sweep. So a row of G needs one
// inward sweep along its path to Ground, and then
//
//     W = E^T D^-1 E        G M^-1 f = E^T D^-1 e(f)        M^-1 (f - G^T lambda) = outward(e(f) - E lambda)
#ifndef TALUS_CONSTRAINT_INTERNAL_H
#define TALUS_CONSTRAINT_INTERNAL_H

#include "matter_internal.h"

/// Where the doubles of one constraint's matrices are.
typedef struct tali_rows_of {
    tal_spatial_vec
        *wrench;         ///< [m x (num_bodies + 1)] about Mo, in Ground; the last on the ancestor
    double *coefficient; ///< [m x num_mobilities]
    double *E;           ///< [m x path_nu] inward residuals
    double *Y;           ///< [m x path_nu] D^-1 E
} tali_rows_of;

/// What Instance settles: rows in use. -1 for a disabled constraint.
typedef struct tali_row_map {
    const int32_t *p0;   ///< [count] first row among the position equations
    const int32_t *v0;   ///< [count] first row among the velocity equations
    const int32_t *a0;   ///< [count] first row among the acceleration equations
    const int32_t *row0; ///< [count] first row of the constraint in its block
    int mp, mv, ma;      ///< rows in use
} tali_row_map;

/// Which rows are whose. The State must have reached Instance.
tali_row_map tali_row_map_of(const tal_matter *matter, const tal_state *state);

/// Wrenches of one row: on the constrained bodies, then on the ancestor. Motion is measured relative
/// to that, so it carries what the others do not carry among themselves.
static inline int tali_num_wrenches(const tali_constraint *c)
{
    return c->ops.num_bodies + 1;
}

/// The body that wrench `i` acts on.
static inline int tali_wrench_body(const tali_constraint *c, int i)
{
    return i < c->ops.num_bodies ? c->bodies[i] : c->ancestor;
}

/// Where row `r` of constraint `i` stands among all: position rows of all constraints first, then
/// velocity rows, then acceleration rows.
static inline int tali_row_slot(const tali_row_map *map, const tali_constraint *c, int i, int r)
{
    if (r < c->ops.mp) return map->p0[i] + r;
    if (r < c->ops.mp + c->ops.mv) return map->mp + map->v0[i] + (r - c->ops.mp);
    return map->mp + map->mv + map->a0[i] + (r - c->ops.mp - c->ops.mv);
}

/// Rows in use of one block.
int tali_block_rows(const tali_constraints *cs, const tali_row_map *map, int block);

/// lambda = W^+ aerr, both in the order of udoterr.
tal_status tali_constraints_multipliers(const tal_matter *matter, tal_state *state,
                                        const double aerr[], double lambda[]);

/// The constraint if the index is good; NULL after telling the breach.
const tali_constraint *tali_constraint_at(const tal_matter *matter, tal_constraint_ix constraint,
                                          const char *where);

/// Room for what one constraint is told.
typedef struct tali_constraint_motion {
    tal_xform X_AB[TAL_MAX_CONSTRAINED_BODIES];
    tal_spatial_vec V[TAL_MAX_CONSTRAINED_BODIES];
    tal_spatial_vec A[TAL_MAX_CONSTRAINED_BODIES];
    double q[TAL_MAX_CONSTRAINED_MOBILITIES];
    double u[TAL_MAX_CONSTRAINED_MOBILITIES];
    double udot[TAL_MAX_CONSTRAINED_MOBILITIES];
} tali_constraint_motion;

/// What a constraint is told in this State: velocities if view->motion is there, accelerations if
/// A_GM [num_bodies] is. The result points into `room`.
tal_constraint_arg tali_constraint_arg_of(const tal_matter *matter, const tal_state *state,
                                          const tali_view *view, int index,
                                          const tal_spatial_vec A_GM[], const double udot[],
                                          tali_constraint_motion *room);

/// The columns of G^T of one constraint as wrenches and coefficients.
tal_status tali_constraint_wrenches(const tal_matter *matter, tal_state *state,
                                    const tali_view *view, int index, const tali_rows_of *out);

/// @name Steps of the matter subsystem
/// @{
bool tali_constraints_place(tal_matter *matter);
void tali_constraints_declare_slots(tal_matter *matter);
void tali_constraints_declare_cache(tal_matter *matter);
size_t tali_constraints_scratch(const tal_matter *matter);
tal_status tali_constraints_realize_instance(const tal_matter *matter, tal_state *state);
tal_status tali_constraints_realize_position(const tal_matter *matter, tal_state *state);
tal_status tali_constraints_realize_velocity(const tal_matter *matter, tal_state *state);
tal_status tali_constraints_realize_acceleration(const tal_matter *matter, tal_state *state,
                                                 const tal_spatial_vec A_GM[], const double udot[]);
void tali_constraints_destroy(tal_matter *matter);
/// @}

/**
 * Solve for the multipliers and let them act: e becomes e - E lambda.
 *
 * @param[in]     view    with articulated inertias and motion
 * @param[in,out] e       [num_u] residual of the inward sweep with the applied forces
 * @param[out]    lambda  [rows] multipliers in the order of udoterr
 */
tal_status tali_constraints_solve(const tal_matter *matter, tal_state *state, const tali_view *view,
                                  double e[], double lambda[]);

/// Acceleration errors of all enabled constraints for given body accelerations and udot.
tal_status tali_constraints_aerr(const tal_matter *matter, tal_state *state, const tali_view *view,
                                 const tal_spatial_vec A_GM[], const double udot[], double aerr[]);

#endif // TALUS_CONSTRAINT_INTERNAL_H
