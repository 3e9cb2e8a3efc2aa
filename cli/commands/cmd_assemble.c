// talus assemble: coordinates and speeds that meet all constraints.
#include "commands/commands.h"
#include "model/pose.h"
#include "model/rest.h"
#include "table/columns.h"
#include "table/result.h"
#include "text/report.h"
#include "text/stream.h"

// Find q and u that meet all constraints, and report them.
static int assemble(const cli_args *args, const cli_model *model, tal_state *state)
{
    tal_assembler_def def = tal_assembler_def_default();
    const int code = cli_root_solver(args, &def.solver);
    if (code != CLI_OK) return code;
    def.tolerance = cli_number(args, "accuracy");
    def.max_restarts = cli_count(args, "restarts");
    def.seed = (uint64_t)cli_count(args, "seed");
    tal_assembler *assembler = NULL;
    tal_assembly found = {0};
    tal_error err = {0};
    tal_status st = tal_assembler_create(model->system, &def, &assembler, &err);
    if (st != TAL_OK) return cli_fail_with(args, CLI_FAILED, &err);
    st = tal_assembler_assemble(assembler, state, &found);
    if (st == TAL_OK) st = tal_assembler_assemble_u(assembler, NULL, NULL, state, NULL);
    err = *tal_assembler_error(assembler);
    tal_assembler_destroy(assembler);
    if (st != TAL_OK) return cli_fail_with(args, CLI_FAILED, &err);

    if (result_is_wanted(args) && (stream_is_output(args) || !report_is_wanted(args))) {
        return pose_write(args, model, state);
    }
    report r;
    report_begin(&r, args);
    report_number(&r, "error before", found.error_before, NULL);
    report_number(&r, "error", found.error, NULL);
    report_count(&r, "iterations", found.iterations);
    report_count(&r, "restarts", found.restarts);
    pose_report(&r, args, model, state);
    report_end(&r);
    return pose_write(args, model, state);
}

static int run(const cli_args *args)
{
    return pose_run(args, assemble);
}

static const cli_option options[] = {
    {.name = "accuracy",
     .letter = 'a',
     .kind = CLI_POSITIVE,
     .value = "NUMBER",
     .initial = "1e-10",
     .help = "constraint errors below this are accepted",
     .is_setting = true},
    {.name = "restarts",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "50",
     .help = "number of random starts, if the constraints cannot be met from the given one",
     .is_setting = true},
    {.name = "solver",
     .kind = CLI_TEXT,
     .value = "NAME",
     .initial = "own",
     .help = "own, or kinsol of SUNDIALS, to compare: without random starts",
     .is_setting = true},
    {0}};

const cli_command cmd_assemble = {
    .name = "assemble",
    .group = CLI_STUDIES,
    .files = "MODEL",
    .min_files = 1,
    .max_files = 1,
    .summary = "find coordinates that meet all constraints",
    .about =
        "Starts from the initial coordinates of the model and prints the solution. -o writes a table of "
        "one row or, if the name ends with .talus, the assembled model.",
    .common = MODEL_OPTIONS | CLI_RESULT | CLI_SEED | CLI_OUT | CLI_AGAIN | CLI_FORMAT,
    .options = options,
    .example = "talus assemble four_bar.talus",
    .example_help = "close the loop",
    .run = run};
