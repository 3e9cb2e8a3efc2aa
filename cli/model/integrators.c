// The options about integrators.
#include "model/integrators.h"

static const char *name_at(const void *context, int i)
{
    (void)context;
    return tal_method_name(i);
}

int cli_integrator_def(const cli_args *args, tal_integrator_def *def)
{
    const char *const name = cli_text(args, "integrator");
    const int method = tal_method_find(name);
    if (method < 0) {
        const char *const meant = tal_did_you_mean(name, name_at, NULL);
        return cli_fail(args, CLI_USAGE, "there is no integrator '%s'%s%s%s.", name,
                        meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                        meant != NULL ? "'?)" : "; talus help integrators lists them");
    }
    *def = tal_method_def(method);
    def->accuracy = cli_number(args, "accuracy");
    if (cli_text(args, "step") != NULL) def->fixed_step = cli_number(args, "step");
    if (def->fixed_step < 0.0) {
        return cli_fail(args, CLI_USAGE, "--step needs a positive number, not %g.",
                        def->fixed_step);
    }
    return CLI_OK;
}
