// Frames of markers that a model follows: chunks of frames, shared by threads, kept with --resume.
#ifndef TALUS_CLI_TRACKING_H
#define TALUS_CLI_TRACKING_H

#include "model/model.h"
#include "text/progress.h"

// What is observed, and what is found.
typedef struct tracking {
    const cli_args *args;
    const cli_model *model;
    tal_marker_frames seen;
    int num_frames, nq;
    double *q;     // [num_frames][nq]
    tal_fit *fits; // [num_frames] status TAL_RETRY: not reached
    int num_markers;
    double *distances; // [num_frames][num_markers] of markers from where they were seen; or NULL

    // of the work
    int chunk;              // frames that start from each other
    tal_tracker **trackers; // [num_lanes]
    int num_lanes;
    tal_batch *batch; // a chunk of frames is a sample
    atomic_int done;  // frames
    progress told;
} tracking;

// Follow all frames, or those that are left of an earlier run. `manifest` says what the result
// depends on. An exit code, CLI_OK also when frames are bad or the user ended it.
int tracking_go(tracking *it, const char *manifest);
// Forget what was kept for going on: the result is there.
void tracking_forget(tracking *it);
void tracking_destroy(tracking *it);

#endif // TALUS_CLI_TRACKING_H
