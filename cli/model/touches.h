// What unilateral elements do in a run: impacts and changes of modes, counted and listed.
#ifndef TALUS_CLI_TOUCHES_H
#define TALUS_CLI_TOUCHES_H

#include "cli.h"
#include "model/model.h"
#include "text/checkpoint.h"

// What was known of an element when it was looked at last.
typedef struct touches_known {
    tal_unilateral_mode mode;
    long count; // of impacts
} touches_known;

// A diary of a run. It reads the State only, so that any number of runs may share a model.
typedef struct touches {
    const cli_model *model;
    touches_known *known; // [num]; owned
    int num;              // elements
    FILE *out;            // NULL: nobody wants the list
    bool has_heading;     // in the list
    long impacts, changes;
} touches;

// Begin a diary; with --events its list goes to that file. Failures are printed; an exit code.
int touches_begin(touches *it, const cli_args *args, const cli_model *model);
// Add it to bytes, and go on from them: the list is cut where it was. TAL_ERR_FILE when it is not
// there any more.
void touches_save(touches *it, cli_bytes *to);
tal_status touches_resume(touches *it, checkpoint_reader *from);
// Look at a State behind a step.
void touches_look(touches *it, const tal_state *state);
// Close the list. An exit code.
int touches_end(touches *it, const cli_args *args);

#endif // TALUS_CLI_TOUCHES_H
