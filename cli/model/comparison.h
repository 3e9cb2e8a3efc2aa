// Runs that are compared with a reference: what an error of each choice is, and what it costs.
#ifndef TALUS_CLI_COMPARISON_H
#define TALUS_CLI_COMPARISON_H

#include "model/choices.h"
#include "model/sampler.h"

// What follows the columns in a row of a comparison.
typedef enum comparison_number {
    COMPARISON_ERROR,       // against the reference
    COMPARISON_EVALUATIONS, // of accelerations
    COMPARISON_STEPS,
    COMPARISON_REFERENCE_ERROR, // of the reference against one that is ten times as loose
    COMPARISON_NUM
} comparison_number;

extern const char *const comparison_names[COMPARISON_NUM];

// What one thread works with.
typedef struct comparison {
    sampler *sampler;
    const cli_choices *choices;
    double *reference, *trial; // [times][columns] owned
    int known;                 // which case the reference is of; -1: none
    tal_status status;         // of the reference
    tal_error why;
    double doubt;    // how exact the reference is
    double *seconds; // [num_choices] processor time so far, owned
    int *runs;       // [num_choices] owned
} comparison;

void comparison_begin(comparison *it, sampler *made, const cli_choices *choices);
void comparison_end(const comparison *it);

// Run sample k: choice k % num_choices of case k / num_choices. A row of the columns at the end and
// of the numbers above; NaN, and why, on failure. False when the user wants to end.
bool comparison_run(comparison *it, int k, double results[], tal_status *status, tal_error *why);

#endif // TALUS_CLI_COMPARISON_H
