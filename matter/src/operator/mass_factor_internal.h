// M = L^T D L of a tree, packed along the paths to Ground, where that is small enough to be kept.
#ifndef TALUS_MASS_FACTOR_INTERNAL_H
#define TALUS_MASS_FACTOR_INTERNAL_H

#include "tree/matter_internal.h"

/// Find the rows of a tree that is shallow enough: the others have none. False when memory runs out
/// (sticky).
bool tali_op_mass_rows_build(tal_matter *matter);
void tali_op_mass_rows_free(tal_matter *matter);

/// Declare the entry that holds the factor. After the entries it rests on.
void tali_mass_factor_declare(tal_matter *matter);

/**
 * The factor of M at the State's q, computed if it is out of date.
 *
 * @param[in]  view    any of the State
 * @param[out] factor  borrowed; NULL where the passes have to do it: the tree is too deep, motion
 *                     is known, or M is so nearly singular that they judge better
 * @return TAL_OK, or why positions or inertias could not be computed
 */
tal_status tali_mass_factor_of(const tal_matter *matter, tal_state *state,
                               const tali_tree_view *view, const double **factor);

/// a = M^-1 f, both [num_u]; they may be the same array.
void tali_mass_factor_solve(const tali_tree *tree, const double *factor, const double f[],
                            double a[]);

#endif // TALUS_MASS_FACTOR_INTERNAL_H
