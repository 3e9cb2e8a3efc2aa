// What steps in natural coordinates share: global.c and energy_momentum.c.
#ifndef TALUS_GLOBAL_INTERNAL_H
#define TALUS_GLOBAL_INTERNAL_H

#include "realtime/realtime_internal.h"

#include <talus/common/linalg.h>
#include <talus/matter/natural.h>

struct tali_realtime_global {
    tal_natural *natural;
    int nx, nc;
    double *x, *xdot, *a, *acc;     // at the end of the step, [nx] each; a: Newmark's
    double *x0, *xdot0, *a0, *acc0; // at its start
    double *change, *Q, *product;   // [nx]
    double *lambda, *errors, *row;  // [nc]
    double *M, *H;                  // nx x nx
    tali_sparse_tree tree;          // H with its factors: entities stand from Ground outward
    double *J;                      // nc x nx
    double *K;                      // (nx + nc) squared, of the energy-momentum rule
    double *rhs, *d;                // [nx + nc] of it
    double *cod_work;
    int *cod_iwork;
    void *block;
    size_t block_bytes;
};

/// out = A v, A rows x cols
void tali_realtime_multiply(double *A, int rows, int cols, const double v[], double out[]);

/// out = A^T v
void tali_realtime_multiply_transposed(double *A, int rows, int cols, const double v[],
                                       double out[]);

/// Accelerations to begin with; refuses a State that the image was not made from.
tal_status tali_realtime_global_start(tal_fixed_stepper *s, tal_state *state);

#endif // TALUS_GLOBAL_INTERNAL_H
