// Model files for commands.
#ifndef TALUS_CLI_MODEL_H
#define TALUS_CLI_MODEL_H

#include "cli.h"

// A model from a file.
typedef struct cli_model {
    const char *path; // borrowed
    tal_system *system;
    tal_state *state; // where it begins, realized to Model
    const tal_matter *matter;
    const tal_forces *forces;
    tal_model file;
    tal_status status; // of reading it
    char hash[17];     // of all that it says and that the State holds, in hexadecimal digits
} cli_model;

// Values by name, from the command line and from a caller.
typedef struct cli_params {
    tal_model_param *list;
    int num, num_owned; // the names of the first ones are owned
} cli_params;

// Read the values of --set or --start, with `more` behind them, which may be NULL. An exit code;
// free them in any case.
int cli_params_read(const cli_args *args, const char *option, const tal_model_param more[],
                    int num_more, cli_params *it);
void cli_params_free(const cli_params *it);

// Read a model. Everything that is wrong with it is printed; an exit code.
// `more` replaces values of <param>s besides those of --set; it may be NULL.
int cli_model_read(const cli_args *args, const char *path, const tal_model_param more[],
                   int num_more, cli_model *model);
// Write a model to a file, or to standard output for NULL. An exit code.
int cli_model_write(const cli_args *args, const tal_model *model, const char *path);
void cli_model_destroy(cli_model *model);

// Split "NAME=REST" into a copy of the name, owned by the caller, and the rest; NULL when it is not
// so.
char *cli_split(const char *text, const char **rest);

// Print a list of diagnostics, only errors with --quiet, and destroy it.
void cli_print_diagnostics(const cli_args *args, tal_diagnostics *found);

// Realize a State, or print why it cannot be; an exit code.
int cli_realize(const cli_args *args, const cli_model *model, tal_state *state, tal_stage stage);

// Another State of a model, equal to where it begins; NULL, and a sentence, when there is no
// memory.
tal_state *cli_state_copy(const cli_args *args, const cli_model *model);

#endif // TALUS_CLI_MODEL_H
