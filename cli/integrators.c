// Integrators by name, and the options that are about them.
#include "integrators.h"

#include <string.h>

const cli_integrator cli_integrators[] = {
    {"merson", "Runge-Kutta of order 4 with an error estimate of order 3", TAL_METHOD_RUNGE_KUTTA,
     tal_rk_merson},
    {"bogacki-shampine-5", "Runge-Kutta 5(4), for high accuracy", TAL_METHOD_RUNGE_KUTTA,
     tal_rk_bogacki_shampine_5},
    {"dormand-prince", "Runge-Kutta 5(4)", TAL_METHOD_RUNGE_KUTTA, tal_rk_dormand_prince},
    {"verner-8", "Runge-Kutta 8(7), for the highest; rows between steps are of order 4",
     TAL_METHOD_RUNGE_KUTTA, tal_rk_verner_8},
    {"bogacki-shampine", "Runge-Kutta 3(2), for low accuracy", TAL_METHOD_RUNGE_KUTTA,
     tal_rk_bogacki_shampine},
    {"trapezoid", "Runge-Kutta of order 2", TAL_METHOD_RUNGE_KUTTA, tal_rk_trapezoid},
    {"euler", "explicit Euler, order 1", TAL_METHOD_RUNGE_KUTTA, tal_rk_euler},
    {"semi-explicit-euler", "speeds first, then coordinates; order 1",
     TAL_METHOD_SEMI_EXPLICIT_EULER, NULL},
    {"verlet", "order 2; keeps energy over long times where masses only shift, not in angles",
     TAL_METHOD_VERLET, NULL},
    {"cvode-bdf", "SUNDIALS' CVODE: implicit, orders 1 to 5, for stiff models",
     TAL_METHOD_CVODE_BDF, NULL},
    {"cvode-adams", "SUNDIALS' CVODE: orders 1 to 12; no constraints, no quaternions",
     TAL_METHOD_CVODE_ADAMS, NULL},
    {"ida", "SUNDIALS' IDA: as cvode-bdf, constraints among the equations", TAL_METHOD_IDA, NULL},
    {"arkode", "SUNDIALS' ARKODE: explicit Runge-Kutta of order 5", TAL_METHOD_ARKODE_EXPLICIT,
     NULL},
    {"arkode-dirk", "SUNDIALS' ARKODE: diagonally implicit Runge-Kutta of order 4",
     TAL_METHOD_ARKODE_DIRK, NULL},
    {NULL, NULL, TAL_METHOD_RUNGE_KUTTA, NULL}};

static const char *name_at(const void *context, int i)
{
    (void)context;
    return cli_integrators[i].name;
}

int cli_integrator_def(const cli_args *args, tal_integrator_def *def)
{
    *def = tal_integrator_def_default();
    const char *const name = cli_text(args, "integrator");
    const cli_integrator *it = cli_integrators;
    while (it->name != NULL && strcmp(it->name, name) != 0) {
        ++it;
    }
    if (it->name == NULL) {
        const char *const meant = tal_did_you_mean(name, name_at, NULL);
        return cli_fail(args, CLI_USAGE, "there is no integrator '%s'%s%s%s.", name,
                        meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                        meant != NULL ? "'?)" : "; talus help integrators lists them");
    }
    def->method = it->method;
    def->tableau = it->tableau != NULL ? it->tableau() : NULL;
    def->accuracy = cli_number(args, "accuracy");
    if (!(def->accuracy > 0.0)) {
        return cli_fail(args, CLI_USAGE, "--accuracy wants a positive number, not %g.",
                        def->accuracy);
    }
    return CLI_OK;
}
