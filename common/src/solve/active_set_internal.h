// The active set behind tal_bounded_solve(): which rows have w = 0, and the factor of their part
// of A.
#ifndef TALUS_ACTIVE_SET_INTERNAL_H
#define TALUS_ACTIVE_SET_INTERNAL_H

#include "solve/lcp_internal.h"

#include <talus/common/complementarity.h>

#include <float.h>

// Violations up to this part of what is added up in a row count as met. Contradictions among
// rows that depend on each other are of the size of constraint errors, not of round-off.
#define TALI_ACTIVE_ACCEPTED 1e-8

typedef enum tali_active_place {
    TALI_AT_LOWER,
    TALI_AT_UPPER,
    TALI_BETWEEN,
    TALI_LEFT_OUT
} tali_active_place;

// The problem with rows and columns scaled to a unit diagonal, and what is known of its solution.
// Scaled: A_ij s_i s_j, b_i s_i, z_i / s_i.
typedef struct tali_active_set {
    int n;
    double *A, *b, *lower, *upper; // scaled; A is full, column-major
    double *s;                     // scales, 0 for a row that nothing moves
    double *z, *w;                 // scaled
    double *size;                  // sum of |A_ij z_j| + |b_i|: what round-off is a part of
    double *L;                     // n x n row by row: the factor of the rows between
    double *step, *column;         // n each
    int *place;                    // tali_active_place of each row
    int *order;                    // rows between, in the order of L
    int num_between;
    int pivots;
} tali_active_set;

/// A pivot that counts as zero: with a unit diagonal, what round-off of n operations leaves.
static inline double tali_active_set_least_pivot(const tali_active_set *set)
{
    return 64.0 * set->n * DBL_EPSILON;
}

/// Neither bound is there.
bool tali_active_set_is_bilateral(const tali_active_set *set, int i);

/// Fill in the problem, scaled, with `compliance` added to the diagonal of rows with a bound.
void tali_active_set_fill(tali_active_set *set, const tal_bounded_problem *problem,
                          double compliance);

/// Run until no row violates its bound. `guess` [n] tells which rows are tried first; the row that
/// came last, which may be impossible, is in `*last`. TAL_OK, TAL_ERR_INFEASIBLE with the null
/// vector in `step`, TAL_ERR_NO_CONVERGENCE.
tal_status tali_active_set_run(tali_active_set *set, const double guess[], int *last);

/// w = A z + b, and the sizes of what is added up.
void tali_active_set_find_w(tali_active_set *set);

/// The largest of these sizes.
double tali_active_set_size(const tali_active_set *set);

/// The square of the pivot that row i would have in the factor; its other entries are in `column`.
double tali_active_set_pivot(tali_active_set *set, int i);

/// Take row i into the factor, right after tali_active_set_pivot().
void tali_active_set_append(tali_active_set *set, int i, double pivot);

#endif // TALUS_ACTIVE_SET_INTERNAL_H
