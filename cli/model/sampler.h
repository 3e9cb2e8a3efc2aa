// Samples of a sweep, as one thread makes them: a model for the values of its <param>s, and runs of
// it, side by side in the lanes of the processor where that can be.
#ifndef TALUS_CLI_SAMPLER_H
#define TALUS_CLI_SAMPLER_H

#include "cli.h"
#include "model/model.h"
#include "model/run.h"
#include "model/vary.h"
#include "table/columns.h"

// What samples have in common. Borrowed by samplers.
typedef struct sampler_def {
    cli_args args; // quiet: for models that are read again
    tal_integrator_def integrator;
    const cli_vary *vary;
    const cli_columns *columns;
    vary_shape shape; // of the model as it is in the file
    double end;
    int width; // samples side by side: 0: as many as the processor has lanes
} sampler_def;

// What one thread works with: a model with the <param>s of its last sample.
typedef struct sampler {
    const sampler_def *def;
    cli_model model;
    cli_run run;
    tal_ensemble *ensemble; // runs samples side by side; NULL: they are run one by one
    bool has_model, has_run;
    bool has_tried;                 // to make the ensemble
    double values[CLI_MAX_OPTIONS]; // of the sample at hand
    double read_for[CLI_MAX_OPTIONS];
    tal_parameter numbers[CLI_MAX_OPTIONS];
    int num_numbers;
    int first;        // of the samples that the ensemble has
    tal_state *state; // where the sample starts
    tal_error error;  // why there is no model for these <param>s

    // how samples were run so far
    int widest, in_lanes, alone;
    double used;         // lanes that were wanted of those that were there, times in_lanes
    char why_alone[256]; // the last reason why some could not be run side by side
} sampler;

void sampler_begin(sampler *it, const sampler_def *def);
void sampler_end(sampler *it);

// The model for the <param>s in it->values: the one that is there, or read again. The reason of a
// failure is in it->error.
tal_status sampler_find_model(sampler *it);
// The model's State with the other values of the sample, in it->state.
tal_status sampler_set_start(sampler *it, tal_error *why);

/**
 * Run the first of n samples, and those after it that can be run with the same model.
 *
 * results [n][columns], status [n], why [n]: a sample that fails is NaN, and why. Returns how many
 * were run; 0: the user wants to end.
 */
int sampler_run(sampler *it, int first, int n, double results[], tal_status status[],
                tal_error why[]);

// How samples were run.
typedef struct sampler_use {
    int widest;
    double in_lanes, alone, used; // as those of a sampler
    const char *why_alone;        // borrowed
} sampler_use;

// Of all threads together.
sampler_use sampler_use_of(const sampler samplers[], int n);
// Say it on stderr.
void sampler_tell(const sampler_use *use);

#endif // TALUS_CLI_SAMPLER_H
