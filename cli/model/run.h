// Running a model through time, row by row.
#ifndef TALUS_CLI_RUN_H
#define TALUS_CLI_RUN_H

#include "cli.h"
#include "model/model.h"
#include "model/touches.h"
#include "table/columns.h"

// A run. Rows lie on the method's dense output, so that they change no step; a model with stops is
// stepped by a time stepper.
typedef struct cli_run {
    const cli_model *model;
    tal_integrator_def integrator;
    tal_integrator *integ;
    tal_time_stepper *stepper; // NULL without events
    tal_contact_stepper *pile; // instead of both; NULL: not used
    long num_pile_steps;
    tal_fixed_stepper *fixed; // instead of all of these; NULL: not used
    tal_state *state;         // where the run is
    tal_state *shown;         // at the time of the row
    double end;
    bool (*proceed)(void *context, double t); // called after every step; false ends the run
    void *context;
    // called between steps where nothing within the last one is wanted any more; NULL: never
    void (*rest)(void *context);
    void *rest_context;
    touches *diary; // is shown every step; NULL: there is none
    bool has_jumps; // events change the State: steps end at rows
    bool has_begun;
    bool had_event;   // in the last step: what is within it cannot be looked at
    bool was_stopped; // by proceed
    bool is_over;     // an event of the model has ended it
    bool has_ended;   // and `shown` is there
    tal_error error;  // why it failed
} cli_run;

// Prepare a run that begins where the model does. Failures are printed; an exit code.
int cli_run_create(const cli_args *args, const cli_model *model, const tal_integrator_def *def,
                   cli_run *run);
void cli_run_destroy(cli_run *run);

// Let a contact stepper take fixed steps, of 1 ms if `step` is 0. An exit code.
int cli_run_use_contacts(const cli_args *args, cli_run *run, double step);

// Let a fixed stepper of this def take the steps. An exit code.
int cli_run_use_fixed(const cli_args *args, cli_run *run, const tal_fixed_stepper_def *def);

// Say, for a run by an integrator, that the colliders of a model pass through each other.
void cli_run_warn_of_colliders(const cli_args *args, const cli_model *model);

// Begin again, from another State of the model's System.
tal_status cli_run_restart(cli_run *run, const tal_state *start);

// One step, as long as the method likes; the first one has no length. Then `shown` is there.
tal_status cli_run_step(cli_run *run);
// Look at a time within the last step; then `shown` is there.
tal_status cli_run_look(cli_run *run, double t);

// Go to a time; then `shown` is there. It is where the run has ended when that comes first.
tal_status cli_run_go(cli_run *run, double t);

#endif // TALUS_CLI_RUN_H
