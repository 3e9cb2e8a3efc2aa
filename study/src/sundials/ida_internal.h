// IDA on the residual of problem/residual.c: what becomes of rows that repeat others, and the
// Jacobian.
#ifndef TALUS_IDA_INTERNAL_H
#define TALUS_IDA_INTERNAL_H

#include "sundials/sundials_internal.h"

/// Combinations of rows that add no condition, and multipliers that are zero in their place.
typedef struct tali_ida_silent {
    int n, k;  // rows, combinations
    double *N; // n x k, orthonormal columns
} tali_ida_silent;

/// What ida_rank.c works with.
typedef struct tali_ida_rank {
    tali_ida_silent of_lambda, of_mu; // since IDA was restarted
    double *now, *now_p;              // the same at the present State: m x m, mp x mp
    double *A, *D, *work;             // [m x m], [m]
    int *iwork;
} tali_ida_rank;

/// An engine with what its equations need besides.
typedef struct tali_ida {
    tali_sun sun;    // first: the engine is this
    N_Vector yp, id; // Y'; id is 1 where Y' enters, 0 for the algebraic unknowns
    tali_problem_residual eq;
    double *G, *W;      // [m x nu], [m x m]
    double *M;          // [nu x nu] by KKT, else NULL
    tali_ida_rank rank; // what becomes of rows that repeat others
} tali_ida;

static inline tali_ida *tali_ida_of(tali_sun *sun)
{
    return (tali_ida *)(void *)sun;
}

/// Count the unknowns of a State, and fill `id`.
void tali_ida_count(tali_ida *ida, const tal_state *state);

// --- ida_rank.c ---

/// r <- r + N N^T (lambda - r): rows that add no condition are replaced by: multipliers are zero.
void tali_ida_silent_replace(const tali_ida_silent *it, const double lambda[], double r[]);

/// W = G M^-1 G^T into ida->W. By KKT, where M^-1 need not exist, G D^-1 G^T with D the diagonal of
/// M: its null space is the same, and its size is of the same order. Overwrites G and v.
tal_status tali_ida_calc_W(tali_ida *ida, tal_state *state);

/// The combinations at a State on the constraints, for steps from there.
tal_status tali_ida_find_silent(tali_ida *ida, tal_state *state);

/// Before a step: are they still about the same? Otherwise IDA is restarted.
tal_status tali_ida_look(tali_sun *sun, tal_state *state);

/// Memory for m rows, mp of them on positions.
size_t tali_ida_rank_doubles(int m, int mp);
void tali_ida_cut_rank(tali_ida *ida, int m, int mp, double *next);

// --- ida_equations.c ---

/// F(t, Y, Y') and dF/dY + cj dF/dY', for IDA.
int tali_ida_residual(double t, N_Vector Y, N_Vector Yp, N_Vector r, void *self);
int tali_ida_jacobian(double t, double cj, N_Vector Y, N_Vector Yp, N_Vector r, SUNMatrix J,
                      void *self, N_Vector tmp1, N_Vector tmp2, N_Vector tmp3);

#endif // TALUS_IDA_INTERNAL_H
