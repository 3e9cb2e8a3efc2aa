// Scenes for commands: a model with results, from the files of a command line.
#ifndef TALUS_CLI_SCENES_H
#define TALUS_CLI_SCENES_H

#include "cli.h"
#include "model/model.h"

// A scene and what it was made from.
typedef struct cli_scene {
    cli_model model;
    tal_scene *scene;
    char *model_path; // owned
} cli_scene;

// Make the scene of the files [MODEL] [RESULT...]: the model is the first file, or else what the
// header of the first result names. Failures are printed; an exit code.
int cli_scene_make(const cli_args *args, cli_scene *out);
// The scene of a model alone, without any run, with other values of params; an exit code.
int cli_scene_begin(const cli_args *args, const char *path, const tal_model_param params[],
                    int num_params, cli_scene *out);
void cli_scene_destroy(cli_scene *it);

// Whether a file of so many bytes may be written: a warning says what makes a large one large, and
// a very large one needs --force. An exit code.
int cli_scene_check_size(const cli_args *args, size_t bytes, int frames, int bodies);

// The name of the first file with another extension; owned by the caller.
char *cli_scene_name(const cli_args *args, const char *extension);

// Open a file or an address in the user's browser.
void cli_open(const cli_args *args, const char *what);

#endif // TALUS_CLI_SCENES_H
