// An ensemble as a struct, and what its files share.
#ifndef TALUS_ENSEMBLE_INTERNAL_H
#define TALUS_ENSEMBLE_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"

#include <talus/study/ensemble.h>

/// What one thread needs at a time. Tools that the task does not need are NULL.
typedef struct tali_ensemble_lane {
    tal_state *state;
    tal_state *report; // the State at a time within a step, or in a frame
    tal_integrator *integrator;
    tal_assembler *assembler;
    tal_tracker *tracker;
    tal_equilibrium *equilibrium;
    double *values; // [num_parameters]
    double *q;      // [num_frames][nq] found by the tracker
    tal_fit *fits;  // [num_frames]
    tal_error why;  // the sample at hand failed
} tali_ensemble_lane;

struct tal_ensemble {
    const tal_system *system;
    tal_allocator allocator;
    tal_ensemble_def def; // with the arrays below
    tal_frames frames;
    tal_executor executor;
    tali_ensemble_lane *lanes;
    tal_parameter *parameters;
    tal_measure_ix *outputs;
    double *times;
    int num_rows; // of outputs for each sample: times or frames, or 1
    int row_size; // numbers of each sample
    int nq;
    tal_stage stage; // the highest that an output needs

    // the run at hand
    const tal_state *start;
    const tal_design *design;

    // of a fit
    double *trial_values;  // [1 + 2 np][np]
    double *trial_results; // [1 + 2 np][no]
    double *J, *r, *H, *g; // no x np, no, np x np, np
    double *best;          // [np]
    void *block;
    size_t block_bytes;
    tal_error error_record;
};

/// Give a lane the tools of the task.
tal_status tali_ensemble_equip(const tal_ensemble *ensemble, tali_ensemble_lane *lane,
                               tal_error *err);

/// One sample, from its start to its results ([row_size], NaN on failure). `index` is that of the
/// lane, whose `why` has the reason.
tal_status tali_ensemble_sample(tal_ensemble *ensemble, int index, int k, double results[]);

#endif // TALUS_ENSEMBLE_INTERNAL_H
