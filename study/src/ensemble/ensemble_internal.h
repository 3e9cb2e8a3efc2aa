// An ensemble as a struct, and what its files share.
#ifndef TALUS_ENSEMBLE_INTERNAL_H
#define TALUS_ENSEMBLE_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"

#include <talus/common/least_squares.h>
#include <talus/study/ensemble.h>

typedef struct tali_ensemble_block tali_ensemble_block;

/// What one thread needs at a time. Tools that the task does not need are NULL.
typedef struct tali_ensemble_lane {
    tal_state *state;
    tal_state *report; // the State at a time within a step, or in a frame
    tal_integrator *integrator;
    tal_assembler *assembler;
    tal_tracker *tracker;
    tal_equilibrium *equilibrium;
    double *values;             // [num_parameters]
    double *q;                  // [num_frames][nq] found by the tracker
    tal_fit *fits;              // [num_frames]
    tal_error why;              // the sample at hand failed
    tali_ensemble_block *block; // runs samples side by side; NULL: one by one
    int num_alone;              // samples of this run that were run one by one
    bool was_stopped;           // by `proceed`: the queue was left
} tali_ensemble_lane;

/// Where the samples of a thread come from, and where they go.
typedef struct tali_ensemble_queue {
    int (*next)(void *context);               ///< a sample that nobody has; -1: there is none
    double *(*results)(void *context, int k); ///< of a sample, [row_size]
    void (*done)(void *context, int k, tal_status st, const tal_error *why);
    void *context;
} tali_ensemble_queue;

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
    tal_stage stage;     // the highest that an output needs
    char why_alone[256]; // why no samples can be run side by side; empty: they can

    // the run at hand
    const tal_state *start;
    const tal_design *design;

    // of a fit
    double *trial_values;  // [1 + 2 np][np]
    double *trial_results; // [1 + 2 np][no]
    double *fit_work;      // of tal_least_squares_solve()
    double *best;          // [np]
    void *block;
    size_t block_bytes;
    tal_error error_record;
};

/// Give a lane its States and the tools of the task; and take them back.
tal_status tali_ensemble_fill_lane(tal_ensemble *it, tali_ensemble_lane *lane, tal_error *err);
void tali_ensemble_empty_lane(const tal_ensemble *it, tali_ensemble_lane *lane);

/// The tools of the task alone.
tal_status tali_ensemble_equip(const tal_ensemble *ensemble, tali_ensemble_lane *lane,
                               tal_error *err);

/// One sample, from its start to its results ([row_size], NaN on failure). `index` is that of the
/// lane, whose `why` has the reason.
tal_status tali_ensemble_sample(tal_ensemble *ensemble, int index, int k, double results[]);

/// Its parts: the start of a sample, with its values; outputs of a State.
tal_status tali_ensemble_start(const tal_ensemble *it, tali_ensemble_lane *lane, int k);
tal_status tali_ensemble_read(const tal_ensemble *it, tal_state *state, double results[]);

/// Samples side by side: in the lanes of registers (ADR 34). NULL where that cannot be.
tal_status tali_ensemble_block_create(tal_ensemble *it, tali_ensemble_block **out, tal_error *err);
void tali_ensemble_block_destroy(const tal_ensemble *it, tali_ensemble_block *block);

/// All samples of a queue, by one thread: side by side where it has a block, else one by one.
void tali_ensemble_run_queue(tal_ensemble *it, int index, const tali_ensemble_queue *queue);

/// What a block did since the run began.
void tali_ensemble_block_use(const tali_ensemble_block *block, tal_lane_use *use,
                             uint64_t evaluations[2]);
void tali_ensemble_block_forget(tali_ensemble_block *block);

#endif // TALUS_ENSEMBLE_INTERNAL_H
