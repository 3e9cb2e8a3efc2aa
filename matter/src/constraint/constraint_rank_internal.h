// Which rows of the constraints repeat others: the scale on which that is decided.
//
// Where rows repeat each other only as long as q meets the constraints, as those of a Bricard
// linkage do, a q that is off by an angle d gives the lost singular values of G back, as numbers of
// the size of d, and pivots of W of the size of d^2. What such a row then says has an error as
// large as itself. So a row counts as redundant when its pivot, as a share of its diagonal entry,
// is below (3 d)^2, whatever round-off is.
#ifndef TALUS_CONSTRAINT_RANK_INTERNAL_H
#define TALUS_CONSTRAINT_RANK_INTERNAL_H

#include "constraint/constraint_internal.h"

#include <math.h>

/// Lost singular values are some times as large as the angle by which q is off.
#define TALI_RANK_MARGIN 3.0

/// A row whose pivot is a larger share of its diagonal entry is never taken for redundant by
/// forward dynamics, however far off q is: operators are also used on States that are not
/// assembled.
#define TALI_LARGEST_REDUNDANT_SHARE 1e-8

/// The share of its diagonal entry that a pivot must exceed, in a block of this number of rows
/// whose position errors are `error` (tali_constraint_turn()).
double tali_constraint_redundant_share(int rows, double error);

/**
 * What a position error is divided by to be an angle: how far the mobility that changes the row
 * most would have to turn to take it away. Translations count in units of the constraint's reach,
 * so that neither the units nor the scale of an equation matter.
 *
 * @param[in] g      [path_nu] the row of G, from tali_constraint_row()
 * @param[in] reach  tali_constraint_reach()
 * @return 0 for a row that no motion changes: its error is not an angle
 */
double tali_constraint_row_length(const tal_matter *matter, const tali_tree_view *view,
                                  const tali_constraint *c, const double g[], double reach);

/// A position error as an angle. `length` is that of its row.
static inline double tali_constraint_turn(double error, double length)
{
    return length > 0.0 ? fabs(error) / length : 0.0;
}

/// The largest of these among the position rows of a block. `wrenches`: the cache entry.
tal_status tali_constraint_block_turn(const tal_matter *matter, tal_state *state,
                                      const tali_tree_view *view,
                                      const tali_constraint_row_map *map, const double *wrenches,
                                      int block, double *turn);

#endif // TALUS_CONSTRAINT_RANK_INTERNAL_H
