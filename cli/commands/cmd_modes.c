// talus modes: frequencies and damping of small motions.
#include "commands/commands.h"
#include "model/pose.h"
#include "model/rest.h"
#include "table/result.h"

#include <math.h>
#include <stdio.h>

// Warn of an eigenvalue that is off by a thousandth, unless it is so slow on the time scale of the
// System that it may be zero up to round-off.
static bool is_doubtful(const cli_model *model, const tal_mode *mode)
{
    const double slow = 1.0 / tal_system_time_scale(model->system);
    return mode->error > 1e-3 * fmax(hypot(mode->re, mode->im), slow);
}

static void warn_of_errors(const cli_args *args, const cli_model *model, const tal_linearizer *lin)
{
    long number = 0, first = 0, count = 0;
    double error = 0.0;
    for (int i = 0; i < tal_linearizer_num_modes(lin); ++i) {
        const tal_mode mode = tal_linearizer_mode(lin, i);
        if (mode.im < 0.0) continue; // the other of a pair
        ++number;
        if (!is_doubtful(model, &mode)) continue;
        if (count++ == 0) first = number, error = mode.error;
    }
    if (count == 0) return;
    char others[64] = "";
    if (count > 1) {
        (void)snprintf(others, sizeof others, ", and %ld more modes are as uncertain", count - 1);
    }
    cli_warn(
        args,
        "mode %ld may be off by %.2g 1/s%s: accelerations jump in slope, or change too fast for "
        "differences, near this State",
        first, error, others);
}

static void report_modes(const cli_args *args, const tal_linearizer *lin)
{
    static const char *const columns[] = {"mode", "frequency", "damping", "re", "im"};
    report r;
    report_begin(&r, args);
    report_table(&r, "modes", columns, 5);
    long number = 0;
    for (int i = 0; i < tal_linearizer_num_modes(lin); ++i) {
        const tal_mode mode = tal_linearizer_mode(lin, i);
        if (mode.im < 0.0) continue; // the other of a pair
        report_cell_count(&r, ++number);
        report_cell_number(&r, mode.frequency);
        report_cell_number(&r, mode.damping);
        report_cell_number(&r, mode.re);
        report_cell_number(&r, mode.im);
    }
    report_end_table(&r);
    report_end(&r);
}

static int write_modes(const cli_args *args, const cli_model *model, const tal_linearizer *lin)
{
    static const char *const columns[] = {"mode", "frequency", "damping", "re", "im", "error"};
    tal_table *const table = result_create(args, model);
    if (table == NULL) return CLI_FAILED;
    tal_status st = TAL_OK;
    for (int c = 0; c < 6 && st == TAL_OK; ++c) {
        st = tal_table_add_column(table, columns[c]);
    }
    for (int i = 0; i < tal_linearizer_num_modes(lin) && st == TAL_OK; ++i) {
        const tal_mode mode = tal_linearizer_mode(lin, i);
        const double row[] = {(double)i, mode.frequency, mode.damping,
                              mode.re,   mode.im,        mode.error};
        st = tal_table_add_row(table, row);
    }
    const int code =
        st == TAL_OK ? result_write(args, table) : cli_fail_status(args, CLI_FAILED, st);
    if (code == CLI_OK) result_report(args, table);
    tal_table_destroy(table);
    return code;
}

// Linearize at the State, or at an equilibrium near it, and report the modes.
static int find_modes(const cli_args *args, const cli_model *model, tal_state *state)
{
    int code = CLI_OK;
    if (cli_flag(args, "at-rest")) {
        code = cli_find_rest(args, model, state, false, TAL_ROOT_SOLVER_OWN, 0.0, NULL);
    }
    if (code != CLI_OK) return code;
    tal_linearizer *lin = NULL;
    tal_error err = {0};
    tal_status st = tal_linearizer_create(model->system, NULL, &lin, &err);
    if (st == TAL_OK) {
        st = tal_linearizer_run(lin, state);
        if (st == TAL_OK) st = tal_linearizer_find_modes(lin);
        err = *tal_linearizer_error(lin);
    }
    if (st != TAL_OK) {
        code = cli_fail_with(args, CLI_FAILED, &err);
    } else {
        warn_of_errors(args, model, lin);
        if (result_is_wanted(args)) {
            code = write_modes(args, model, lin);
        } else {
            report_modes(args, lin);
        }
    }
    tal_linearizer_destroy(lin);
    return code;
}

static int run(const cli_args *args)
{
    return pose_run(args, find_modes);
}

static const cli_option options[] = {
    {.name = "at-rest", .kind = CLI_FLAG, .help = "find an equilibrium first", .is_setting = true},
    {0}};

const cli_command cmd_modes = {
    .name = "modes",
    .group = CLI_STUDIES,
    .files = "MODEL",
    .min_files = 1,
    .max_files = 1,
    .summary = "find frequencies and damping of small motions",
    .about =
        "Linearizes the model at its initial state, or at an equilibrium. A mode with a positive real "
        "part grows.",
    .common = MODEL_OPTIONS | CLI_RESULT | CLI_OUT | CLI_AGAIN | CLI_FORMAT,
    .options = options,
    .example = "talus modes pendulum.talus --at-rest",
    .example_help = "how it swings about its equilibrium",
    .run = run};
