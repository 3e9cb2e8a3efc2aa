// Coordinates of a motion and their rates, from the rows of a table.
#ifndef TALUS_CLI_RATES_H
#define TALUS_CLI_RATES_H

#include "cli.h"
#include "model/model.h"

// A motion, row by row.
typedef struct cli_rates {
    int nq, num;
    double *times;              // [num]
    double *q, *qdot, *qdotdot; // [num][nq] owned, as all of these
} cli_rates;

// Read the coordinates of `state` from `motion`, which came from the file `path`, and differentiate
// them. Degrees become radians; quaternions get length one and lose their jumps of sign; a
// coordinate that has no column keeps its value, with a warning. `cutoff` [Hz] smooths all of it
// first; 0: off. An exit code. `state` is realized to Position.
int rates_find(const cli_args *args, const cli_model *model, const tal_state *state,
               const tal_table *motion, const char *path, double cutoff, cli_rates *out);
void rates_destroy(cli_rates *it);

#endif // TALUS_CLI_RATES_H
