// A minimizer as a struct.
#ifndef TALUS_MINIMIZER_INTERNAL_H
#define TALUS_MINIMIZER_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"
#include "lbfgs_internal.h"

#include <talus/study/minimizer.h>

/// Where a search is: coordinates, energy, and its slope by motions along u.
typedef struct tali_minimizer_place {
    double *q; ///< [nq]
    double *g; ///< [nu]
    double energy;
} tali_minimizer_place;

struct tal_minimizer {
    tal_allocator allocator;
    size_t size; ///< of the whole block
    const tal_system *system;
    const tal_matter *matter;
    tal_minimizer_def def;
    tal_error error;
    int nq, nu, num_bodies;
    double *radius;                  ///< [num_bodies] of gyration
    tal_vec3 *com;                   ///< [num_bodies] mass centers, in B
    tal_spatial_vec *F_GB;           ///< [num_bodies]
    tal_spatial_vec *V_GB;           ///< [num_bodies]
    double *f, *d, *work, *dq;       ///< [nu], [nu], [nu], [nq]
    tali_minimizer_place here, next; ///< where the State is, and where a step leads
    bool has_begun;                  ///< `here` is where the last run ended
    tali_lbfgs past;                 ///< changes of place and slope
    double gamma;                    ///< size of the first factor of H
    long evaluations;
};

/// Energy and slope where `q` is; false where they cannot be computed, with an error of the
/// minimizer.
bool tali_minimizer_evaluate(tal_minimizer *m, tal_state *state, const double q[],
                             tali_minimizer_place *place);

/// d = -H g at `here`, where the State must be; one that leads down.
tal_status tali_minimizer_direct(tal_minimizer *m, tal_state *state);

/// Remember the change from `here` to `next`, where the State must be.
tal_status tali_minimizer_learn(tal_minimizer *m, tal_state *state, double alpha);

/// The longest step along d that moves no body too far.
tal_status tali_minimizer_reach(tal_minimizer *m, tal_state *state, double *alpha);

#endif // TALUS_MINIMIZER_INTERNAL_H
