// What a comparison found: each choice with its error and its cost, and the cheapest that will do.
#ifndef TALUS_CLI_VERDICT_H
#define TALUS_CLI_VERDICT_H

#include "model/comparison.h"

// Over all cases of one choice.
typedef struct verdict {
    double error;              // the largest
    double evaluations, steps; // means
    double seconds;            // processor time, mean of those that this process has run; NaN: none
    int runs, failed;
} verdict;

// All of them: [choices->num_choices] owned by the caller.
verdict *verdicts_create(const cli_choices *choices);
// Take a row of a comparison, whose numbers are behind its columns.
void verdict_add(verdict *it, tal_status status, const double numbers[COMPARISON_NUM]);
// Once all are there.
void verdicts_end(verdict verdicts[], const cli_choices *choices, const comparison done[],
                  int num_done);

// Which is the cheapest whose error is at most `tolerance`? -1: none is.
int verdicts_choose(const verdict verdicts[], int n, double tolerance);

// Print them, the cheapest first, and what is chosen for `tolerance` unless it is NaN. An exit
// code: CLI_FAILED when no choice is good enough.
int verdicts_report(const cli_args *args, const cli_choices *choices, const verdict verdicts[],
                    double tolerance);

#endif // TALUS_CLI_VERDICT_H
