// --set: params of a model, and where its coordinates and speeds start.
#ifndef TALUS_CLI_SETTINGS_H
#define TALUS_CLI_SETTINGS_H

#include "model.h"

// What was given: params first, once they are sorted.
typedef struct settings {
    tal_model_param *list; // [num] owned, with their names
    int num, num_params;
} settings;

// NAME=VALUE of all --set options. An exit code.
int settings_read(const cli_args *args, settings *out);
// Which are params of the model? The others must be coordinates or speeds. An exit code.
int settings_sort(const cli_args *args, const cli_model *model, settings *it);
// Set where coordinates and speeds start. An exit code.
int settings_apply(const cli_args *args, cli_model *model, const settings *it);
void settings_destroy(settings *it);

#endif // TALUS_CLI_SETTINGS_H
