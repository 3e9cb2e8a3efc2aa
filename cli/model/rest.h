// Finding where a model stays at rest, for commands that begin there.
#ifndef TALUS_CLI_REST_H
#define TALUS_CLI_REST_H

#include "model/model.h"

// Assemble a State, then find an equilibrium from it. Failures are printed; an exit code.
int cli_find_rest(const cli_args *args, const cli_model *model, tal_state *state, bool any,
                  double accuracy, tal_rest *rest);

#endif // TALUS_CLI_REST_H
