// Where markers are on the bodies of a model.
#ifndef TALUS_CLI_MARKERS_H
#define TALUS_CLI_MARKERS_H

#include "model.h"

typedef struct cli_markers {
    int num;
    tal_marker *list;   // [num] owned, names too
    const char **names; // [num] the same, borrowed from the list
} cli_markers;

// Read the file of --markers: lines "NAME, BODY, X, Y, Z[, WEIGHT]", '#' begins a remark. What is wrong is
// printed; an exit code.
int cli_markers_read(const cli_args *args, const cli_model *model, cli_markers *out);
void cli_markers_destroy(cli_markers *markers);

#endif // TALUS_CLI_MARKERS_H
