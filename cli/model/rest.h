// Finding where a model stays at rest, for commands that begin there.
#ifndef TALUS_CLI_REST_H
#define TALUS_CLI_REST_H

#include "model/model.h"

// Assemble a State, then find an equilibrium from it. Failures are printed; an exit code.
int cli_find_rest(const cli_args *args, const cli_model *model, tal_state *state, bool any,
                  tal_root_solver solver, double accuracy, tal_rest *rest);

// What --solver names. An exit code.
int cli_root_solver(const cli_args *args, tal_root_solver *solver);

#endif // TALUS_CLI_REST_H
