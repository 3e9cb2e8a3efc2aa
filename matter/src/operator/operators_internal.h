// What the public operators share: argument checks, and shifts between Bo and Mo.
#ifndef TALUS_OPERATORS_INTERNAL_H
#define TALUS_OPERATORS_INTERNAL_H

#include "kernel/passes_internal.h"

#include <talus/matter/direct.h>
#include <talus/matter/operators.h>
#include <talus/matter/tree_factor.h>

/// The State's arrays as far as `what`, or why not. `where` is the public function.
tal_status tali_op_view(const tal_matter *matter, tal_state *state, tali_tree_what what,
                        tali_tree_view *view, const char *where);

/// TAL_OK if all `n` numbers are finite; otherwise the State gets a sentence with the name.
tal_status tali_op_finite(tal_state *state, const char *name, const double values[], int n);

/// The same for a result, whose inputs are finite: it overflowed.
tal_status tali_op_result(tal_state *state, const char *name, const double values[], int n);

/// The same of every column.
tal_status tali_op_result_columns(tal_state *state, const char *name, tal_matrix A);

/// The same for `n` spatial vectors over bodies; NULL is fine.
tal_status tali_op_finite_bodies(tal_state *state, const char *name, const tal_spatial_vec values[],
                                 int n);

/// TAL_OK if a matrix has this size and its memory.
tal_status tali_op_matrix(const char *name, tal_matrix A, int rows, int cols, const char *where);

/// TAL_OK if an operator can take the columns of `in` to those of `out`: sizes fit, `in` is finite.
tal_status tali_op_columns(tal_state *state, const char *in_name, tal_matrix in, int in_rows,
                           const char *out_name, tal_matrix out, int out_rows, const char *where);

/// TAL_OK if the pointer is not NULL.
tal_status tali_op_array(const char *name, const void *array, const char *where);

/// TAL_OK if `each` rows for every one of `n` stations can be counted by an int.
tal_status tali_op_num_rows(int n, int each, const char *where);

/// TAL_OK if these are stations on bodies of matter, not too many for six rows each.
tal_status tali_op_stations(const tal_matter *matter, tal_state *state,
                            const tal_station stations[], int n, const char *where);

/// Column j of a matrix.
static inline double *tali_op_column(tal_matrix A, int j)
{
    return A.data + (size_t)j * (size_t)A.ld;
}

/// Make an n x n matrix symmetric: entries (i, j) with i < j become entries (j, i) as well, in
/// tiles that stay in the nearest cache. Entry (i, j) is S[i row + j column]: with row = 1 the
/// upper triangle is copied down, with column = 1 the lower one up.
void tali_op_mirror(double S[], int n, size_t row, size_t column);

/// A column of 6 n numbers as n spatial vectors.
static inline tal_spatial_vec *tali_op_spatial_column(tal_matrix A, int j)
{
    return (tal_spatial_vec *)(void *)tali_op_column(A, j);
}

/// From Mo to a point of the body given in B, in Ground.
static inline tal_vec3 tali_op_p_MS_G(const tali_tree_view *view, int b, tal_vec3 p_BS)
{
    return tal_m3_mul_v3(view->pose[b].R_GM, tal_xf_apply(view->constants[b].X_MB, p_BS));
}

/// From Mo to Bo, in Ground.
static inline tal_vec3 tali_op_p_MB_G(const tali_tree_view *view, int b)
{
    return tal_m3_mul_v3(view->pose[b].R_GM, view->constants[b].X_MB.p);
}

/// Let direct functions compute `width` rows at once, 1, 4 or 8, for tests. False if this machine
/// or their tree cannot.
bool tali_op_direct_use_lanes(tal_direct *direct, int width);

#endif // TALUS_OPERATORS_INTERNAL_H
