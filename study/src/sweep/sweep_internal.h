// A parameter study as a struct.
#ifndef TALUS_SWEEP_INTERNAL_H
#define TALUS_SWEEP_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"

#include <talus/study/sweep.h>

/// What one thread needs at a time.
typedef struct tali_sweep_lane {
    tal_state *state;
    tal_integrator *integrator; // NULL when samples are not simulated
    int failed;                 // the first sample that failed here, -1
    tal_error why;
} tali_sweep_lane;

struct tal_sweep {
    const tal_system *system;
    tal_allocator allocator;
    tal_sweep_def def;
    tal_executor executor;
    tali_sweep_lane *lanes;
    int num_lanes;
    tal_parameter *parameters;
    tal_measure_ix *outputs;
    tal_stage stage; // the highest that an output needs

    // the run at hand
    const tal_state *start;
    const double *values;
    double *results;
    tal_status *status;
    int num_samples;

    // of a fit
    double *trial_values;  // [1 + 2 np][np]
    double *trial_results; // [1 + 2 np][no]
    double *J, *r, *H, *g; // no x np, no, np x np, np
    double *best;          // [np]
    void *block;
    size_t block_bytes;
    tal_error error_record;
};

#endif // TALUS_SWEEP_INTERNAL_H
