// The equations of motion along what the constraints allow: one for each independent speed.
//
// With K a basis of these motions, scaled so that each column has a unit of its own speed and
// nothing of the other independent ones, K^T f are forces along the independent speeds. Constraint
// forces, G^T lambda, drop out, since G K = 0.
#ifndef TALUS_BALANCE_INTERNAL_H
#define TALUS_BALANCE_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"

#include <talus/forces.h>

typedef struct tali_balance {
    const tal_system *system;
    const tal_matter *matter;
    tal_allocator allocator;
    int nu, max_rows;
    void *block;
    size_t block_bytes;

    bool *is_dependent; // [nu] speeds that had better be dependent
    int dof;            // motions that the constraints allow
    double *K;          // nu x dof
    int *speed;         // [dof] the speed of each column
    bool *is_taken;     // [nu] independent speeds
    bool *is_known;     // [nu] prescribed and locked speeds
    bool is_identity;   // K picks speeds: there are no constraints

    double *G, *G_dep; // max_rows x nu
    double *aerr;      // [max_rows + nu]
    double *work, *cod_work;
    int *iwork, *cod_iwork;
} tali_balance;

/// Take memory, enough for every State of the System. On failure nothing is left behind.
/// @param[in] dependent  [nu] copied; NULL: none
tal_status tali_balance_create(tali_balance *it, const tal_system *system, const bool dependent[],
                               tal_error *err);
void tali_balance_destroy(tali_balance *it);

/// K and the independent speeds at a State. Velocity.
tal_status tali_balance_lay(tali_balance *it, tal_state *state);

/// The udot that the constraints make of those of the independent and the known speeds. Velocity,
/// after tali_balance_lay().
tal_status tali_balance_complete(tali_balance *it, tal_state *state, double udot[]);

/// out = K^T f.
void tali_balance_contract(const tali_balance *it, const double f[], double out[]);

#endif // TALUS_BALANCE_INTERNAL_H
