// The integrator as a struct.
#ifndef TALUS_INTEGRATOR_INTERNAL_H
#define TALUS_INTEGRATOR_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"

#include <talus/matter.h>
#include <talus/study/integrator.h>

/// Which variable has the largest weighted error.
typedef struct tali_worst {
    tal_pool pool;
    int slot;
    double size; // of its weighted error
} tali_worst;

struct tal_integrator {
    const tal_system *system;
    const tal_matter *matter;      // NULL when the System has none
    tal_group_ix q_group, u_group; // matter's
    tal_allocator allocator;
    tal_integrator_def def;
    tal_project_options projection;
    double error_coefs[TAL_MAX_RK_STAGES]; // b - b_hat

    // workspace, in one block: capacity of y each, and stages times that
    void *block;
    size_t block_bytes;
    int capacity_y;
    double *y0, *error, *weighed, *k;

    // where the run stands
    double h_next; // 0: to be chosen
    long steps_left;
    tali_worst worst; // of the last error test
    tal_error error_record;
    tal_integrator_stats stats;
};

/// Norm of the weighted error in `integ->error` (manual sec. 9.1): the largest of those of q, u
/// and z; q, u, z are weighed at `y0`. Sets `integ->worst`.
double tali_error_norm(tal_integrator *integ, tal_state *state);

/// A variable in words, e.g. "speed 0 of body 'shank'".
void tali_name_variable(const tal_integrator *integ, const tal_state *state, tal_pool pool,
                        int slot, char text[], size_t size);

#endif // TALUS_INTEGRATOR_INTERNAL_H
