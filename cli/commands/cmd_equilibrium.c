// talus equilibrium: where a model stays at rest.
#include "commands/commands.h"
#include "model/pose.h"
#include "model/rest.h"
#include "table/result.h"
#include "text/stream.h"

static const char *name_at(const void *context, int i)
{
    (void)context;
    return tal_root_solver_name(i);
}

int cli_root_solver(const cli_args *args, tal_root_solver *solver)
{
    const char *const name = cli_text(args, "solver");
    const int found = tal_root_solver_find(name);
    if (found < 0) {
        const char *const meant = tal_did_you_mean(name, name_at, NULL);
        return cli_fail(args, CLI_USAGE, "there is no solver '%s'%s%s%s.", name,
                        meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                        meant != NULL ? "'?)" : "; there are own and kinsol");
    }
    *solver = (tal_root_solver)found;
    return CLI_OK;
}

int cli_find_rest(const cli_args *args, const cli_model *model, tal_state *state, bool any,
                  tal_root_solver solver, double accuracy, tal_rest *rest)
{
    tal_equilibrium_def def = tal_equilibrium_def_default();
    def.solver = solver;
    def.kind = any ? TAL_EQUILIBRIUM_ANY : TAL_EQUILIBRIUM_STABLE;
    if (accuracy > 0.0) def.accuracy = accuracy;
    tal_assembler *assembler = NULL;
    tal_equilibrium *search = NULL;
    tal_error err = {0};
    tal_status st = tal_assembler_create(model->system, NULL, &assembler, &err);
    if (st == TAL_OK) {
        st = tal_assembler_assemble(assembler, state, NULL);
        err = *tal_assembler_error(assembler);
    }
    if (st == TAL_OK) st = tal_equilibrium_create(model->system, &def, &search, &err);
    if (st == TAL_OK) {
        st = tal_equilibrium_find(search, state, rest);
        err = *tal_equilibrium_error(search);
    }
    tal_equilibrium_destroy(search);
    tal_assembler_destroy(assembler);
    return st == TAL_OK ? CLI_OK : cli_fail_with(args, CLI_FAILED, &err);
}

// Find where the model stays at rest, and report it.
static int find_equilibrium(const cli_args *args, const cli_model *model, tal_state *state)
{
    tal_rest rest = {0};
    tal_root_solver solver = TAL_ROOT_SOLVER_OWN;
    int code = cli_root_solver(args, &solver);
    if (code != CLI_OK) return code;
    code = cli_find_rest(args, model, state, cli_flag(args, "any"), solver,
                         cli_number(args, "accuracy"), &rest);
    if (code != CLI_OK) return code;
    if (result_is_wanted(args) && (stream_is_output(args) || !report_is_wanted(args))) {
        return pose_write(args, model, state);
    }
    report r;
    report_begin(&r, args);
    report_text(&r, "stable", rest.is_stable ? "yes" : "no");
    report_count(&r, "iterations", rest.iterations);
    report_number(&r, "largest acceleration", rest.udot, NULL);
    if (tal_state_nz(state) > 0) report_number(&r, "largest rate of z", rest.zdot, NULL);
    report_number(&r, "potential energy", tal_forces_potential_energy(model->forces, state), "J");
    pose_report(&r, args, model, state);
    report_end(&r);
    return pose_write(args, model, state);
}

static int run(const cli_args *args)
{
    return pose_run(args, find_equilibrium);
}

static const cli_option options[] = {{.name = "any",
                                      .kind = CLI_FLAG,
                                      .help = "find the nearest equilibrium, stable or not",
                                      .is_setting = true},
                                     {.name = "accuracy",
                                      .letter = 'a',
                                      .kind = CLI_POSITIVE,
                                      .value = "NUMBER",
                                      .initial = "1e-9",
                                      .help = "finish when the next step is smaller than this",
                                      .is_setting = true},
                                     {.name = "solver",
                                      .kind = CLI_TEXT,
                                      .value = "NAME",
                                      .initial = "own",
                                      .help = "own, or kinsol of SUNDIALS, to compare",
                                      .is_setting = true},
                                     {0}};

const cli_command cmd_equilibrium = {
    .name = "equilibrium",
    .group = CLI_STUDIES,
    .files = "MODEL",
    .min_files = 1,
    .max_files = 1,
    .summary = "find where a model stays at rest",
    .about =
        "Starts from the initial coordinates of the model and goes downhill. -o is as for talus assemble.",
    .common = MODEL_OPTIONS | CLI_RESULT | CLI_OUT | CLI_AGAIN | CLI_FORMAT,
    .options = options,
    .example = "talus equilibrium pendulum.talus",
    .example_help = "it hangs down",
    .run = run};
