// Do the markers of a file fit those of a model?
#ifndef TALUS_CLI_MARKERS_H
#define TALUS_CLI_MARKERS_H

#include "cli.h"
#include "model/model.h"

// Was it seen? It is NaN if it was not.
bool marker_is_seen(tal_vec3 p);

// One line about markers that only the table has, and one about those that only the model has.
void markers_say_unused(const cli_args *args, const tal_table *table, const tal_model *model);

// Warn when the frames look as if their unit were another one than the file says.
void markers_check_units(const cli_args *args, const cli_model *model, const tal_frames *frames);

#endif // TALUS_CLI_MARKERS_H
