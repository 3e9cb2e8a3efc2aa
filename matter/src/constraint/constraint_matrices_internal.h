// The matrices of the constraints in a State, to be read.
#ifndef TALUS_CONSTRAINT_MATRICES_INTERNAL_H
#define TALUS_CONSTRAINT_MATRICES_INTERNAL_H

#include "constraint/constraint_envelope.h"
#include "constraint/constraint_internal.h"

/// What became of one block.
typedef struct tali_constraint_block_rank {
    int32_t redundant;     ///< rows that repeat others
    int32_t least_squares; ///< whether it takes them to solve it: the factor leaves rows out
    double limit;          ///< share of its diagonal entry below which a pivot is redundant
} tali_constraint_block_rank;

/// What the cache entry holds, to be read.
typedef struct tali_constraint_matrices {
    const double *matrices; ///< E and Y of the constraints
    const double *envelope; ///< of W, factored, block by block
    const tali_envelope_row *records;
    const tali_constraint_block_rank *blocks; ///< [num_blocks]
} tali_constraint_matrices;

/// Computes what is out of date. False when that cannot be done: the State has the sentence.
bool tali_constraint_see_matrices(const tal_matter *matter, tal_state *state,
                                  tali_constraint_matrices *out);

/// The same for what only compares rows: which repeat others, and what contradicts. By KKT, where
/// M^-1 need not exist, W is G W_u^-2 G^T, with the weights of speeds as in projection, in scratch
/// memory that the caller releases: it has the same null space.
bool tali_constraint_compare_rows(const tal_matter *matter, tal_state *state,
                                  tali_constraint_matrices *out);

/// Row r of E and of Y, each [path_nu]: the rows of E come first, then those of Y.
static inline const double *tali_constraint_row_of_E(const tali_constraint *c,
                                                     const double *matrices, int r)
{
    return matrices + c->matrix0 + (size_t)r * (size_t)c->path_nu;
}

static inline const double *tali_constraint_row_of_Y(const tali_constraint *c,
                                                     const double *matrices, int r)
{
    return tali_constraint_row_of_E(c, matrices, tali_constraint_rows(c) + r);
}

/// Element of W between row r of constraint i and row s of constraint j.
double tali_constraint_element_of_W(const tal_matter *matter, const double *matrices, int i, int r,
                                    int j, int s);

/// The rank of W of one block by orthogonal factorization, which round-off grows little in.
tal_status tali_constraint_find_block_rank(const tal_matter *matter, tal_state *state,
                                           const tali_constraint_row_map *map,
                                           const double *matrices, int block, double limit,
                                           int *rank);

/// @name The cache entry: its size in bytes, and how it is computed
/// @{
size_t tali_constraint_matrices_size(const tali_constraints *cs);
tal_status tali_constraint_calc_matrices(const void *self, const tal_system *system,
                                         tal_state *state, void *value);
/// @}

#endif // TALUS_CONSTRAINT_MATRICES_INTERNAL_H
