// talus bench: how fast a model is on this machine, on one thread.
#include "commands/commands.h"
#include "model/integrators.h"
#include "model/model.h"
#include "model/run.h"
#include "text/progress.h"
#include "text/report.h"

// Mean time of one evaluation of the accelerations from q on [s]; NaN on failure.
static double time_of_evaluation(const cli_model *model, tal_state *state, double seconds)
{
    const double start = cli_clock();
    long n = 0;
    double elapsed = 0.0;
    while (elapsed < seconds && !cli_is_interrupted()) {
        for (int k = 0; k < 16; ++k, ++n) {
            tal_state_invalidate(state, TAL_STAGE_POSITION);
            if (tal_system_realize(model->system, state, TAL_STAGE_ACCELERATION) != TAL_OK) {
                return -1.0;
            }
        }
        elapsed = cli_clock() - start;
    }
    return elapsed / (double)n;
}

// Simulate until the time is over; what was simulated per second [s/s], below zero on failure.
static double speed_of_simulation(const cli_args *args, const cli_model *model, tal_state *state,
                                  double seconds)
{
    tal_integrator_def def;
    tal_integrator *integ = NULL;
    tal_error err = {0};
    if (cli_integrator_def(args, &def) != CLI_OK) return -1.0;
    def.ignores_colliders = true;
    cli_run_warn_of_colliders(args, model);
    if (tal_integrator_create(model->system, &def, &integ, &err) != TAL_OK) {
        (void)cli_fail_with(args, CLI_FAILED, &err);
        return -1.0;
    }
    const double start = cli_clock(), from = tal_state_t(state);
    tal_status st = TAL_OK;
    while (cli_clock() - start < seconds && st == TAL_OK && !cli_is_interrupted()) {
        st = tal_integrator_step(integ, state, from + 1e6);
    }
    const double elapsed = cli_clock() - start;
    if (st != TAL_OK) (void)cli_fail_with(args, CLI_FAILED, tal_integrator_error(integ));
    tal_integrator_destroy(integ);
    return st == TAL_OK ? (tal_state_t(state) - from) / elapsed : -1.0;
}

static int run(const cli_args *args)
{
    cli_model model;
    int code = cli_model_read(args, args->files[0], NULL, 0, &model);
    const double seconds = cli_number(args, "seconds");
    if (code == CLI_OK) code = cli_realize(args, &model, model.state, TAL_STAGE_ACCELERATION);
    if (code == CLI_OK) {
        const double evaluation = time_of_evaluation(&model, model.state, seconds);
        const double speed = speed_of_simulation(args, &model, model.state, seconds);
        code = evaluation < 0.0 || speed < 0.0 ? CLI_FAILED : CLI_OK;
        report r;
        report_begin(&r, args);
        report_text(&r, "model", tal_system_name(model.system));
        report_count(&r, "speeds", tal_state_nu(model.state));
        report_number(&r, "one evaluation", 1e6 * evaluation, "us");
        report_number(&r, "times real time", speed, NULL);
        report_end(&r);
    }
    cli_model_destroy(&model);
    return code;
}

static const cli_option options[] = {{.name = "seconds",
                                      .kind = CLI_POSITIVE,
                                      .value = "SECONDS",
                                      .initial = "1",
                                      .help = "time for each measurement"},
                                     {0}};

const cli_command cmd_bench = {
    .name = "bench",
    .group = CLI_PROGRAM,
    .files = "MODEL",
    .min_files = 1,
    .max_files = 1,
    .summary = "measure how fast a model is",
    .about =
        "Times forward dynamics and simulation, on one thread. ./run bench compares Talus with other "
        "libraries.",
    .common = MODEL_OPTIONS | CLI_ACCURACY | CLI_INTEGRATOR,
    .options = options,
    .example = "talus bench human_body.talus",
    .example_help = "microseconds per evaluation",
    .run = run};
