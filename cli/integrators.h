// Integrators by name.
#ifndef TALUS_CLI_INTEGRATORS_H
#define TALUS_CLI_INTEGRATORS_H

#include "cli.h"

// A row of the table of integrators.
typedef struct cli_integrator {
    const char *name;
    const char *help;
    tal_method method;
    const tal_rk_tableau *(*tableau)(void); // of Runge-Kutta methods; NULL otherwise
} cli_integrator;

// All of them, up to one without a name.
extern const cli_integrator cli_integrators[];

// What --integrator and --accuracy ask for. An exit code; a wrong name or number is reported.
int cli_integrator_def(const cli_args *args, tal_integrator_def *def);

#endif // TALUS_CLI_INTEGRATORS_H
