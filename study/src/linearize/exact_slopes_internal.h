// A of a linearization from exact derivatives.
#ifndef TALUS_EXACT_SLOPES_INTERNAL_H
#define TALUS_EXACT_SLOPES_INTERNAL_H

#include "linearize/chart_internal.h"

/// Room for it. `turned` and `du` have a column for each s.
typedef struct tali_slope_exact {
    const tali_chart *chart;
    void *block;
    size_t block_bytes;
    double *work;             // of tal_system_linearize()
    double *J;                // [nu][2 nu] udot by q and u
    double *verr_by_q, *G;    // of the constraints
    double *du, *turned;      // along with s; N^+ d(N u)
    double *cod_work;         // room
    int *cod_iwork;           // room
    double *q, *qdot, *moved; // [nq]
    double *u;                // [nu]
} tali_slope_exact;

/// Take memory for a chart, which must stay where it is. On failure nothing is left behind.
tal_status tali_slope_exact_create(tali_slope_exact *it, const tali_chart *chart, tal_error *err);
void tali_slope_exact_destroy(tali_slope_exact *it);

/// Whether A can be found so at a State where the chart was laid, at Dynamics or beyond.
bool tali_slope_exact_apply(const tali_slope_exact *it, tal_state *state);

/// A and how far its entries may be off by round-off, nx x nx. The State is where the chart was
/// laid, at Acceleration; it may be left at Position.
tal_status tali_slope_exact_find(const tali_slope_exact *it, tal_state *state, double A[],
                                 double A_error[]);

#endif // TALUS_EXACT_SLOPES_INTERNAL_H
