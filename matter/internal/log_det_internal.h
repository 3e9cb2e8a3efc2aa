// ln det M of some bodies and its slopes, for Fixman's potential in molecule/.
#ifndef TALUS_LOG_DET_INTERNAL_H
#define TALUS_LOG_DET_INTERNAL_H

#include <talus/common/inertia.h>
#include <talus/matter/model.h>

/// Bodies, parents before children. Nothing else hangs on them.
typedef struct tali_matter_branch {
    const int *body;   ///< [n] in matter
    const int *parent; ///< [n] in the branch; -1: what it hangs on
    int n;
} tali_matter_branch;

/// ln det M of the mobilities of a branch, and -d/dq of it along the speeds of each body, six
/// numbers a body, for hinges that do not move with their own coordinates. Those of bodies without
/// a parent are zero, as are those of mobilities that are locked or prescribed.
///
/// @param[out] Y        [n] the inverse inertia felt at each body; see op_log_det.c
/// @param[out] log_det  ln det M
/// @param[out] slopes   [6 n]
tal_status tali_matter_calc_log_det(const tal_matter *matter, tal_state *state,
                                    const tali_matter_branch *branch, tal_abi Y[], double *log_det,
                                    double slopes[]);

#endif // TALUS_LOG_DET_INTERNAL_H
