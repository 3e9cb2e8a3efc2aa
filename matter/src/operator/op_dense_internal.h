// What the dense ways of solving share: the caller's memory, and what known motion leaves of G and
// M.
//
// Known accelerations leave the equations first (manual eq. 8.21): with udot = udot_f + udot_p,
//
//     M_ff udot_f + G_f^T lambda = f_f - [M udot_p]_f          G_f udot_f = b - G udot_p
//
// so what is solved has n free speeds and m rows, and forces and biases with the known part taken
// off.
#ifndef TALUS_OP_DENSE_INTERNAL_H
#define TALUS_OP_DENSE_INTERNAL_H

#include "operator/operators_internal.h"

/// The caller's memory, handed out piece by piece, and the sizes of the problem.
typedef struct tali_op_dense {
    double *next;
    int *iwork;
    int n;                ///< speeds that are free
    int m;                ///< rows
    int nu;               ///< speeds
    const uint8_t *level; ///< [nu] tal_level
    const double *known;  ///< [nu] known accelerations, zero where free; NULL: all zero
} tali_op_dense;

/// Checks on entry: the State must have what Velocity needs, and the memory must be there.
tal_status tali_op_dense_open(const tal_matter *matter, tal_state *state, double work[],
                              int iwork[], const char *where, tali_op_dense *d);

/// A matrix of the caller's memory.
tal_matrix tali_op_dense_take(tali_op_dense *d, int rows, int cols);

/// A complete orthogonal decomposition of A, which it overwrites. iwork has room for one at a time.
tal_status tali_op_dense_factor(tali_op_dense *d, tal_state *state, tal_matrix A, tal_cod *cod);

/// X = A^+ B. B and X may share their memory.
tal_status tali_op_dense_solve(tal_state *state, tal_cod *cod, tal_matrix B, tal_matrix X);

/// y += scale A x, or scale A^T x.
void tali_op_dense_add_product(double scale, tal_matrix A, bool transpose, const double x[],
                               double y[]);

/// f + J^T (F - F0) less M udot_p: what is left for the free accelerations ([nu]).
tal_status tali_op_dense_forces(const tal_matter *matter, tal_state *state, const tali_op_dense *d,
                                const tal_spatial_vec F_GB[], const double f[], double f_left[]);

/// G of the free speeds, m x n.
tal_status tali_op_dense_G(const tal_matter *matter, tal_state *state, tali_op_dense *d,
                           tal_matrix *G);

/// udot = K y + k with (K^T M K) y = K^T (f - M k), RBDA eq. 8.46. K is nu x dof; y [dof] may be
/// NULL.
tal_status tali_op_dense_reduced(const tal_matter *matter, tal_state *state, tali_op_dense d,
                                 tal_matrix K, const double f[], const double k[], double udot[],
                                 double y[]);

/// lambda = (G^T)^+ f over the free speeds, with f [nu]: the multipliers whose forces come nearest
/// to f, of least sum of squares. G is overwritten.
tal_status tali_op_dense_multipliers(tal_state *state, tali_op_dense d, tal_matrix G,
                                     const double f[], double lambda[]);

#endif // TALUS_OP_DENSE_INTERNAL_H
