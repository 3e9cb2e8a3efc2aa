// Choices among which talus sweep compares: methods, accuracies, steps, and how a model is made.
#ifndef TALUS_CLI_CHOICES_H
#define TALUS_CLI_CHOICES_H

#include "cli.h"
#include "model/model.h"
#include "model/vary.h"

// What a choice is about.
typedef enum choice_kind {
    CHOICE_INTEGRATOR, // a method by name
    CHOICE_ACCURACY,
    CHOICE_STEP,   // [s] fixed; 0: controlled
    CHOICE_ANGLES, // whether angles describe orientations, or quaternions
    CHOICE_FORCE,  // whether a force is enabled: FORCE.enabled
    CHOICE_CONSTRAINT,
    CHOICE_NUMBER // anything that --vary can vary
} choice_kind;

// One --among: what there is to choose from.
typedef struct choice_set {
    char *name; // owned
    choice_kind kind;
    double *values; // [num] owned; a method is its number, "no" and "yes" are 0 and 1
    int num;
    int at;      // which force or constraint, or which number of cli_vary
    double file; // what a number is in the file of the model
} choice_set;

// All of them. A choice is a number from 0; the last --among changes fastest.
typedef struct cli_choices {
    choice_set sets[CLI_MAX_OPTIONS];
    int num;
    int num_choices;          // combinations
    tal_integrator_def usual; // where no choice says otherwise
    tal_integrator_def reference;
} cli_choices;

// Read --among and --reference. An exit code; free it in any case.
int choices_read(const cli_args *args, const tal_integrator_def *usual, cli_choices *it);
void choices_free(const cli_choices *it);

// Find what names mean in a model: numbers become the last names of `vary`, which is sorted then.
// An exit code, and a message for a name that is nothing.
int choices_sort(const cli_args *args, const cli_model *model, cli_vary *vary, cli_choices *it);

// Do choices change which coordinates there are?
bool choices_change_coordinates(const cli_choices *it);

// The value of a set in a choice; -1 is the reference, where numbers are those of the file.
double choices_value(const cli_choices *it, const choice_set *set, int choice);
// Put its numbers behind those that are varied.
void choices_fill_numbers(const cli_choices *it, int choice, double values[]);
// Which method steps it.
tal_integrator_def choices_integrator(const cli_choices *it, int choice);
// Set the State of a model to it; numbers are set elsewhere.
tal_status choices_set_state(const cli_choices *it, int choice, const cli_model *model,
                             tal_state *state);

// "integrator=merson accuracy=0.001"; owned by the caller.
char *choices_name(const cli_choices *it, int choice);

#endif // TALUS_CLI_CHOICES_H
