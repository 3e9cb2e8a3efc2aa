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

/// What a view must have for it.
#define TALI_DERIVATIVE_VIEW ((tali_tree_what)(TALI_INERTIA | TALI_VELOCITY))

#endif // TALUS_DERIVATIVE_INTERNAL_H
