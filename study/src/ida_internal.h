// The equations that IDA solves: stabilized index 2 (Gear, Gupta and Leimkuhler 1985).
#ifndef TALUS_IDA_INTERNAL_H
#define TALUS_IDA_INTERNAL_H

#include "sundials_internal.h"

/// An engine with what its equations need besides. Unknowns are Y = {q, u, z, lambda, mu}:
///
///     q' = N (u + P^T mu)
///     0  = M u' + J^T (F0 - F) - f + G^T lambda       the residual of inverse dynamics
///     z' = zdot
///     0  = v(t, q, u), a(t, q, u, u')                 velocity errors, acceleration-only ones
///     0  = p(t, q)                                    position errors
///
/// mu is zero but for the errors of the method: it keeps q on the constraints while lambda keeps u
/// on theirs. What prescribed motion knows has Y = its value instead.
typedef struct tali_ida {
    tali_sun sun;            // first: the engine is this
    N_Vector yp, id;         // Y'; id is 1 where Y' enters, 0 for the algebraic unknowns
    tal_group_ix perr, verr; // of matter's constraints
    double *G, *W;           // [m x nu], [m x m]
    double *a, *v, *qdot;    // [m], [nu], [nq]
    bool needs_udot;         // zdot, or speeds whose udot only a realization tells
    tal_constraint_rows rows;
    int ny, m;      // unknowns in y; multipliers lambda
    int q0, u0, nu; // where matter's begin, and how many
} tali_ida;

static inline tali_ida *tali_ida_of(tali_sun *sun)
{
    return (tali_ida *)(void *)sun;
}

/// Count the unknowns of a State, and fill `id`.
void tali_ida_count(tali_ida *ida, const tal_state *state);

/// F(t, Y, Y') and dF/dY + cj dF/dY', for IDA.
int tali_ida_residual(double t, N_Vector Y, N_Vector Yp, N_Vector r, void *self);
int tali_ida_jacobian(double t, double cj, N_Vector Y, N_Vector Yp, N_Vector r, SUNMatrix J,
                      void *self, N_Vector tmp1, N_Vector tmp2, N_Vector tmp3);

#endif // TALUS_IDA_INTERNAL_H
