// What a run could have done better.
#include "model/advice.h"

#include <math.h>
#include <string.h>

static bool is_implicit(const char *method)
{
    static const char *const names[] = {"cvode-bdf", "ida", "arkode-dirk"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        if (strcmp(method, names[i]) == 0) return true;
    }
    return false;
}

// The rate of the motion that dies away fastest where the run has ended [1/s]; 0: not known. Slow
// for large models, which are left out.
static double fastest_decay(cli_run *run)
{
    enum {
        MOST_SPEEDS = 100
    };

    if (tal_state_nu(run->state) > MOST_SPEEDS) return 0.0;
    tal_linearizer *lin = NULL;
    tal_error err;
    double fastest = 0.0;
    tal_status st = tal_linearizer_create(run->model->system, NULL, &lin, &err);
    if (st == TAL_OK) st = tal_linearizer_run(lin, run->state);
    if (st == TAL_OK) st = tal_linearizer_find_modes(lin);
    for (int i = 0; st == TAL_OK && i < tal_linearizer_num_modes(lin); ++i) {
        const tal_mode mode = tal_linearizer_mode(lin, i);
        const double rate = hypot(mode.re, mode.im);
        // what only oscillates is followed, and its steps are for that
        if (mode.re < -0.3 * rate) fastest = fmax(fastest, rate);
    }
    tal_linearizer_destroy(lin);
    return fastest;
}

void advice_of_stability(const cli_args *args, cli_run *run, double start)
{
    const double LIMIT = 1.0; // explicit methods of orders 2 to 8 are stable up to 2 to 5
    const double steps = (double)tal_integrator_statistics(run->integ).steps_taken;
    const bool is_fixed = cli_number(args, "step") > 0.0;
    if (steps < 1000.0 || is_fixed || is_implicit(cli_text(args, "integrator"))) return;
    const double step = (tal_state_t(run->state) - start) / steps, rate = fastest_decay(run);
    if (!(step * rate > LIMIT)) return;
    cli_warn(args,
             "stability limits the steps to %.2g s on average, not accuracy: a motion of the model "
             "decays in %.2g s. An implicit method takes fewer steps; try -i cvode-bdf.",
             step, 1.0 / rate);
}
