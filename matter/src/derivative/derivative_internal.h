// What the derivatives of dynamics share: the vectors that all of them need, in scratch memory.
#ifndef TALUS_DERIVATIVE_INTERNAL_H
#define TALUS_DERIVATIVE_INTERNAL_H

#include "operator/operators_internal.h"

#include <talus/matter/derivatives.h>

/// Bytes of scratch memory that derivatives need.
size_t tali_derivative_scratch(const tali_tree *tree);

/// Are the inputs finite? NULL is.
tal_status tali_derivative_check(tal_state *state, const tali_tree *tree, const double udot[],
                                 const tal_spatial_vec F_GB[]);

/**
 * The vectors of theory eq. 13.3 for all speeds, in scratch memory that the caller releases.
 *
 * @param[in]  view  with inertias and velocities
 * @param[in]  udot  [nu]; NULL means zero
 * @param[in]  F_GB  [num_bodies] about Bo; NULL means zero
 */
tal_status tali_derivative_slopes(const tal_matter *matter, tal_state *state,
                                  const tali_tree_view *view, const double udot[],
                                  const tal_spatial_vec F_GB[], tali_kernel_slopes *slopes);

/// A matrix that is given as 0 x 0 is not.
static inline bool tali_derivative_is_wanted(tal_matrix A)
{
    return A.rows != 0 || A.cols != 0;
}

/// Motion of a frame on a body: its spatial velocity and acceleration where it is. Velocities are
/// those of the slopes, less that of the first body on the way.
typedef struct tali_derivative_frame {
    tal_spatial_vec v, a;
} tali_derivative_frame;

/// @param[in] r  from Mo of body `b` to the frame, in Ground
tali_derivative_frame tali_derivative_frame_of(const tali_kernel_slopes *slopes, int b, tal_vec3 r);

/// How a frame moves with a speed: it, its velocity, and its acceleration, in Ground.
typedef struct tali_derivative_column {
    tal_spatial_vec S; ///< of position and orientation by q, of velocity by u
    tal_spatial_vec V_by_q, A_by_q, A_by_u;
} tali_derivative_column;

/// @param[in] u  a speed of a body that carries the frame
/// @param[in] p  from Mo of that body to the frame, in Ground
tali_derivative_column tali_derivative_column_of(const tali_tree_view *view,
                                                 const tali_kernel_slopes *slopes, int u,
                                                 tal_vec3 p, const tali_derivative_frame *at);

/// TAL_ERR_BAD_VALUE where a motion may depend on q and u: its derivatives are not known.
tal_status tali_derivative_check_known(const tal_matter *matter, tal_state *state);

/// TAL_ERR_BAD_VALUE where an element slides with friction.
tal_status tali_derivative_check_slides(const tal_matter *matter, tal_state *state);

/// Room for tali_passes.inverse_columns, in scratch memory that the caller releases.
tali_kernel_inverse_room tali_derivative_inverse_room(const tali_tree *tree, tal_state *state);

/// Adds the derivatives of G^T lambda to the rows 0 to nu - 1 of `by_q` and `by_u`, and writes
/// those of aerr to the rows behind them and of verr to `verr_by_q`; zeros are left alone.
tal_status tali_derivative_add_constraints(const tal_matter *matter, tal_state *state,
                                           const tali_tree_view *view, const double udot[],
                                           const double lambda[], tal_matrix verr_by_q,
                                           tal_matrix by_q, tal_matrix by_u);

/// Bytes of scratch memory that derivatives with constraints need.
size_t tali_derivative_constraint_scratch(const tal_matter *matter);

/// What a view must have for it.
#define TALI_DERIVATIVE_VIEW ((tali_tree_what)(TALI_INERTIA | TALI_VELOCITY))

#endif // TALUS_DERIVATIVE_INTERNAL_H
