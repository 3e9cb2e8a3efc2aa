// Columns along a run, and how they change with what is varied.
#ifndef TALUS_CLI_SLOPES_H
#define TALUS_CLI_SLOPES_H

#include "cli.h"
#include "model/model.h"
#include "model/vary.h"
#include "table/columns.h"

// What is asked, and where it is answered. Numbers of the State are differentiated along the run;
// for a <param> the model is read four times with other values of it, and takes the same steps.
typedef struct cli_slopes {
    const cli_args *args;
    const cli_vary *vary;
    const cli_columns *columns;
    const double *times; // [num_times] [s] ascending
    int num_times;
    double accuracy;  // of steps
    double step;      // [s] their length instead; 0: none
    vary_shape shape; // of the model

    // answers
    double *rows;    // [num_times][columns] owned
    double *slopes;  // [vary.num][num_times][columns] owned
    int num_rows;    // fewer than times, if an event has ended the run; the last one is there
    double end;      // [s] of the last row
    double *room;    // owned
    tal_error error; // why it failed
} cli_slopes;

// Take memory for answers. `args`, `vary` (sorted), `columns`, times, accuracy and step are set.
void slopes_create(cli_slopes *it, const cli_model *model);
void slopes_destroy(cli_slopes *it);

// Answer for values of what is varied: [vary.num]. The sentence of a failure is in `error`.
tal_status slopes_find(cli_slopes *it, const double values[], bool with_slopes);

#endif // TALUS_CLI_SLOPES_H
