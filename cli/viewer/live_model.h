// The model of a live run: where it is, what it looks like, and what can be changed about it.
#ifndef TALUS_CLI_LIVE_MODEL_H
#define TALUS_CLI_LIVE_MODEL_H

#include "cli.h"
#include "model/run.h"
#include "viewer/scenes.h"

// What a slider changes.
typedef enum slider_kind {
    SLIDER_PARAM,      // a <param> of the file: the model is read again
    SLIDER_COORDINATE, // of a body
    SLIDER_FORCE       // a parameter of a force element
} slider_kind;

typedef struct slider {
    slider_kind kind;
    int element, i; // a body or force and which of its numbers; -1 and which <param>
    char name[2 * TAL_COORDINATE_NAME_SIZE];
    double low, high;
    bool is_changed; // by the user
    double value;    // that the user set
} slider;

// A model as it is now. Its address must not change: a run points into it.
typedef struct live_model {
    const cli_args *args;
    cli_scene shown; // the model, and its scene
    cli_columns columns;
    cli_run run;
    tal_state *start; // where a reset goes, with what sliders changed about forces
    slider *sliders;  // [num_sliders] owned
    int num_sliders;
    double *numbers; // [num_numbers] of the scene now
    int num_numbers;
    double *row; // [columns.num] of charts now
} live_model;

// Read the model of the command line, with other values of its params where sliders have changed
// them; NULL for none. Failures are printed; an exit code, and NULL then.
int live_model_read(const cli_args *args, const live_model *before, live_model **out);
void live_model_destroy(live_model *it);

// The value of a slider now.
double live_model_value(const live_model *it, int index);
// Set a slider that is not a <param>. The sentence that refuses it goes to `why`.
bool live_model_set(live_model *it, int index, double value, char why[], size_t size);
// Back to the start.
tal_status live_model_reset(live_model *it);

// Read numbers and row from where the run is.
tal_status live_model_look(live_model *it);

#endif // TALUS_CLI_LIVE_MODEL_H
