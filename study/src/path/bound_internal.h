// Poses that meet the constraints, for fits of paths along what these allow.
#ifndef TALUS_FIT_BOUND_INTERNAL_H
#define TALUS_FIT_BOUND_INTERNAL_H

#include "path/length_internal.h"

#include <talus/study/assembler.h>

/// What places a model on its constraints while some coordinates are held.
typedef struct tali_fit_bound {
    tal_assembler *assembler;
    tal_state *start; ///< meets the constraints; poses begin there
    int dof;          ///< motions that the constraints allow there
    tal_matrix K;     ///< their basis: nu x dof
    double *basis;    ///< [TAL_FUNCTION_MAX_ARGS][nu] rows of K of the arguments, orthonormal
    int num_basis;
    double *arms; ///< [nu]
    double *work;
    int *iwork;
    void *block;
    size_t bytes;
} tali_fit_bound;

/// Assemble the State of the subject, and find the motions that its constraints allow.
tal_status tali_fit_bound_begin(tali_fit_bound *it, const tali_fit_subject *subject,
                                tal_error *err);

/// Free what it owns.
void tali_fit_bound_end(tali_fit_bound *it, const tal_system *system);

/// Whether a coordinate can be held alone, with the name of the path in the failure: its rate must
/// be a speed, which is neither locked nor prescribed.
tal_status tali_fit_bound_check(const tali_fit_bound *it, const tali_fit_subject *subject,
                                tal_mobility at, tal_error *err);

/// Whether a coordinate moves independently of those that were added before. If so, it is added.
bool tali_fit_bound_add(tali_fit_bound *it, const tali_fit_subject *subject, tal_mobility at);

/// Hold coordinates at values, and let the others follow.
/// @param[in] at  [n]
/// @param[in] q   [n]
tal_status tali_fit_bound_move(const tali_fit_bound *it, const tali_fit_subject *subject,
                               const tal_mobility at[], const double q[], int n);

/// dl/dq of held coordinates, of each with the others held. On entry: as left by a move.
/// @param[in]  at      [n]
/// @param[out] slopes  [n]
tal_status tali_fit_bound_slopes(const tali_fit_bound *it, const tali_fit_subject *subject,
                                 const tal_mobility at[], double slopes[], int n);

#endif // TALUS_FIT_BOUND_INTERNAL_H
