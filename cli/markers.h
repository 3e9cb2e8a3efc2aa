// Where markers are on the bodies of a model, and in a table of frames.
#ifndef TALUS_CLI_MARKERS_H
#define TALUS_CLI_MARKERS_H

#include "model.h"

// Those markers that the frames have.
typedef struct cli_markers {
    int num;
    tal_marker *list; // [num] owned, names too
    int *columns;     // [num] of x in the table; y and z follow
} cli_markers;

// Read the file of --markers: lines "NAME, BODY, X, Y, Z[, WEIGHT]", '#' begins a remark. What is wrong,
// and what does not fit the frames, is printed; an exit code.
int cli_markers_read(const cli_args *args, const cli_model *model, const tal_table *frames,
                     cli_markers *out);
void cli_markers_destroy(cli_markers *markers);

#endif // TALUS_CLI_MARKERS_H
