// The rows of a run, as a table; with --resume a run that was ended goes on.
#ifndef TALUS_CLI_RECORDING_H
#define TALUS_CLI_RECORDING_H

#include "model/run.h"
#include "table/columns.h"
#include "table/thinning.h"
#include "text/checkpoint.h"

// Times of the rows: from the start, every so often, and the end; or at steps, when `every` is 0.
typedef struct schedule {
    double start, end, every;
    int num;
} schedule;

// A run, and where its rows go.
typedef struct recording {
    const cli_args *args;
    cli_run *run;
    const cli_columns *columns;
    tal_table *table;
    double stop;     // where a run that is repeated was cut
    double *row;     // [columns->num] owned, from here on
    thinning kept;   // rows at steps
    long step;       // how many steps these are of
    checkpoint save; // where it goes on
    bool goes_on;    // it does
} recording;

// Begin a recording of a run, or go on with one. What the result depends on is in the header of the
// table. An exit code; end it in any case.
int recording_begin(recording *it, const cli_args *args, cli_run *run, const cli_columns *columns,
                    tal_table *table);
// Fill the table. A failure, an interrupt or an event may end it early; the last row is at that
// time. At most `num` rows, if they are at given times.
tal_status recording_go(recording *it, const schedule *s, int num);
// Free what it has; `done`: the result is there, and nothing is to be resumed.
void recording_end(recording *it, bool done);

#endif // TALUS_CLI_RECORDING_H
