// The matrices of the constraints in a State, to be read.
#ifndef TALUS_CONSTRAINT_MATRICES_INTERNAL_H
#define TALUS_CONSTRAINT_MATRICES_INTERNAL_H

#include "constraint_internal.h"

#include "constraint_envelope.h"

/// What the cache entry holds, to be read.
typedef struct tali_constraint_matrices {
    const double *matrices; ///< E and Y of the constraints
    const double *envelope; ///< of W, factored, block by block
    const tali_envelope_row *records;
    const int32_t *redundant; ///< [num_blocks] rows that repeat others
} tali_constraint_matrices;

/// Computes what is out of date. False when that cannot be done: the State has the sentence.
bool tali_see_constraint_matrices(const tal_matter *matter, tal_state *state,
                                  tali_constraint_matrices *out);

/// Row r of E and of Y, each [path_nu]: the rows of E come first, then those of Y.
static inline const double *tali_row_of_E(const tali_constraint *c, const double *matrices, int r)
{
    return matrices + c->matrix0 + (size_t)r * (size_t)c->path_nu;
}

static inline const double *tali_row_of_Y(const tali_constraint *c, const double *matrices, int r)
{
    return tali_row_of_E(c, matrices, tali_rows(c) + r);
}

/// Element of W between row r of constraint i and row s of constraint j.
double tali_element_of_W(const tal_matter *matter, const double *matrices, int i, int r, int j,
                         int s);

/// A pivot that has lost this much of its diagonal entry was the difference of equal numbers.
double tali_redundant_pivot(int rows);

/// @name The cache entry: its size in bytes, and how it is computed
/// @{
size_t tali_constraint_matrices_size(const tali_constraints *cs);
tal_status tali_calc_constraint_matrices(const void *self, const tal_system *system,
                                         tal_state *state, void *value);
/// @}

#endif // TALUS_CONSTRAINT_MATRICES_INTERNAL_H
