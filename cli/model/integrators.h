// The options about integrators.
#ifndef TALUS_CLI_INTEGRATORS_H
#define TALUS_CLI_INTEGRATORS_H

#include "cli.h"

// What --integrator and --accuracy ask for. An exit code; a wrong name or number is reported.
int cli_integrator_def(const cli_args *args, tal_integrator_def *def);

#endif // TALUS_CLI_INTEGRATORS_H
