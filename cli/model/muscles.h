// Muscles of a model, and poses along one of its coordinates.
#ifndef TALUS_CLI_MUSCLES_H
#define TALUS_CLI_MUSCLES_H

#include "model/model.h"

// The muscles of a model, or some of them.
typedef struct cli_muscles {
    tal_force_ix *list; // owned
    int num;
} cli_muscles;

// All of them. There may be none.
cli_muscles muscles_all(const cli_model *model);
// Those of a list of names with commas between them; NULL: all. An exit code.
int muscles_choose(const cli_args *args, const cli_model *model, const char *names,
                   cli_muscles *out);
void muscles_destroy(cli_muscles *it);

// A coordinate that can be moved: its rate is a speed, and it is not a part of a quaternion.
typedef struct cli_slide {
    tal_mobility at;
    double low, high; // its range; infinite where it has none
    const char *unit; // borrowed
    char name[TAL_COORDINATE_NAME_SIZE];
} cli_slide;

// A coordinate by its number in q; false when it cannot be moved.
bool muscles_slide_at(const cli_model *model, int slot, cli_slide *out);
// The same by its name. An exit code.
int muscles_slide_of(const cli_args *args, const cli_model *model, const char *name,
                     cli_slide *out);
// Let the coordinate have a value, and the others follow where constraints bind them to it. The
// State is at Velocity then.
tal_status muscles_slide_to(const cli_model *model, tal_state *state, const cli_slide *slide,
                            double value);

// Shortest and longest lengths of the paths of muscles while each coordinate that has a range moves
// through it, the others where they begin: [num]. Equal where no coordinate moves a path. An exit
// code.
int muscles_length_ranges(const cli_args *args, const cli_model *model, const cli_muscles *muscles,
                          double low[], double high[]);

#endif // TALUS_CLI_MUSCLES_H
