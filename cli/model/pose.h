// Commands whose answer is a pose: where a model is.
#ifndef TALUS_CLI_POSE_H
#define TALUS_CLI_POSE_H

#include "model/model.h"
#include "text/report.h"

// Read the model of a command, run `find` on a State that begins where it does, and clean up.
int pose_run(const cli_args *args,
             int (*find)(const cli_args *args, const cli_model *model, tal_state *state));

// Coordinates and speeds as a table of a report; in JSON, also where they are written.
void pose_report(report *r, const cli_args *args, const cli_model *model, const tal_state *state);

// Where there is -o: the same as a result with one row, or the model as a .talus file that begins
// there. An exit code.
int pose_write(const cli_args *args, const cli_model *model, tal_state *state);

#endif // TALUS_CLI_POSE_H
