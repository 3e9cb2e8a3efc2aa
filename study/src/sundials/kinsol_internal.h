// KINSOL behind the searches for equilibria and for coordinates that meet constraints.
#ifndef TALUS_KINSOL_INTERNAL_H
#define TALUS_KINSOL_INTERNAL_H

#include "alloc_internal.h"

#include <talus/common.h>

typedef struct tali_sun_kinsol tali_sun_kinsol;

/// F(x) = 0 with as many unknowns as equations, and how they are scaled: a unit change of an
/// unknown times its scale is 1, as is an error of an equation that counts as a unit change.
typedef struct tali_sun_roots {
    void *self;
    int n;
    tal_status (*calc)(void *self, const double x[], double F[]);
    /// d F / d x, column by column, at the x and F of the last call of `calc`. Columns are zero.
    tal_status (*slopes)(void *self, const double x[], const double F[], double *const columns[]);
    const double *scale_x, *scale_F; // [n] > 0
    double error;                    // done when no scaled F is larger
    double step;                     // or when a scaled step of Newton's method is below this
    double longest;                  // scaled length of the longest step, 2-norm
    int max_iterations;
} tali_sun_roots;

/// All memory for up to `capacity` unknowns. NULL when there is none.
tali_sun_kinsol *tali_sun_kinsol_create(const tal_allocator *allocator, int capacity);
void tali_sun_kinsol_destroy(tali_sun_kinsol *it);

/**
 * Find a root by Newton's method with a line search that makes |F| smaller.
 *
 * @param[in,out] x           [n] from where to look; where it ended
 * @param[in,out] iterations  counts on
 * @param[out]    err         why not, if a callback did not leave a sentence of its own
 * @return TAL_OK, also where round-off leaves no better x: look at F there;
 *         TAL_ERR_NO_CONVERGENCE; or what a callback returned
 */
tal_status tali_sun_kinsol_solve(tali_sun_kinsol *it, const tali_sun_roots *roots, double x[],
                                 int *iterations, tal_error *err);

#endif // TALUS_KINSOL_INTERNAL_H
