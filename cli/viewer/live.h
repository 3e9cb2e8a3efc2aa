// talus view --live: a model that is simulated while it is looked at.
#ifndef TALUS_CLI_LIVE_H
#define TALUS_CLI_LIVE_H

#include "cli.h"

// Simulate the model of the command line and serve its page until Ctrl-C; an exit code.
int live_run(const cli_args *args);

#endif // TALUS_CLI_LIVE_H
