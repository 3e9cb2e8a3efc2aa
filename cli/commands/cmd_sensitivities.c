// talus sensitivities: how a run changes with what the model is made of, and where it begins.
#include "commands/commands.h"
#include "commands/slope_options.h"
#include "model/run.h"
#include "model/slopes.h"
#include "table/result.h"
#include "text/report.h"
#include "text/stream.h"

#include <math.h>
#include <stdlib.h>

// The whole study.
typedef struct study {
    const cli_args *args;
    cli_vary vary;
    cli_columns columns;
    double *times; // [num_times] owned
    int num_times;
    double values[CLI_MAX_OPTIONS];
    cli_slopes found;
} study;

// From the start of the model to --end: only the end, or rows every so often.
static int make_times(study *it, const cli_model *model)
{
    const double start = tal_state_t(model->state), end = cli_number(it->args, "end");
    const double every = cli_number(it->args, "every");
    if (end < start) {
        return cli_fail(it->args, CLI_USAGE, "--end is %g, and the model begins at %g.", end,
                        start);
    }
    if (every < 0.0 || (every > 0.0 && (end - start) / every > 1e6)) {
        return cli_fail(it->args, CLI_USAGE,
                        "--every needs a positive number, and at most a million rows, not %g.",
                        every);
    }
    const int steps = every > 0.0 ? (int)ceil((end - start) / every - 1e-9) : 0;
    it->num_times = steps > 0 ? steps + 1 : 1;
    it->times = cli_alloc((size_t)it->num_times, sizeof *it->times);
    for (int k = 0; k < it->num_times - 1; ++k) {
        it->times[k] = start + k * every;
    }
    it->times[it->num_times - 1] = end;
    return CLI_OK;
}

// --- answers ---

static double slope_at(const study *it, int i, int row, int c)
{
    const size_t width = (size_t)it->columns.num;
    return it->found.slopes[((size_t)i * (size_t)it->num_times + (size_t)row) * width + (size_t)c];
}

static double time_of(const study *it, int row)
{
    return row == it->found.num_rows - 1 ? it->found.end : it->times[row];
}

static tal_status name_columns(const study *it, tal_table *table)
{
    tal_status st = result_add_column(table, "time", "s");
    if (st == TAL_OK) st = columns_name(&it->columns, table);
    for (int c = 0; c < it->columns.num; ++c) {
        for (int i = 0; i < it->vary.num && st == TAL_OK; ++i) {
            char *const name = cli_format("%s by %s", it->columns.list[c].name, it->vary.names[i]);
            st = tal_table_add_column(table, name);
            free(name);
        }
    }
    return st;
}

static tal_status add_rows(const study *it, tal_table *table)
{
    const int width = it->columns.num;
    double *const row = cli_alloc((size_t)tal_table_num_columns(table), sizeof *row);
    tal_status st = TAL_OK;
    for (int r = 0; r < it->found.num_rows && st == TAL_OK; ++r) {
        int n = 0;
        row[n++] = time_of(it, r);
        for (int c = 0; c < width; ++c) {
            row[n++] = it->found.rows[(size_t)r * (size_t)width + (size_t)c];
        }
        for (int c = 0; c < width; ++c) {
            for (int i = 0; i < it->vary.num; ++i) {
                row[n++] = slope_at(it, i, r, c);
            }
        }
        st = tal_table_add_row(table, row);
    }
    free(row);
    return st;
}

static int write_table(const study *it, const cli_model *model)
{
    tal_table *const table = result_create(it->args, model);
    if (table == NULL) return CLI_FAILED;
    tal_status st = name_columns(it, table);
    if (st == TAL_OK) st = add_rows(it, table);
    const int code =
        st == TAL_OK ? result_write(it->args, table) : cli_fail_status(it->args, CLI_FAILED, st);
    if (code == CLI_OK) result_report(it->args, table);
    tal_table_destroy(table);
    return code;
}

// What the last row says: each column, and how it changes with each parameter.
static void report_end_of_run(const study *it)
{
    static const char *const columns[] = {"column", "value", "parameter", "its value", "slope"};
    const int last = it->found.num_rows - 1;
    report r;
    report_begin(&r, it->args);
    report_number(&r, "time", time_of(it, last), "s");
    report_table(&r, "sensitivities", columns, 5);
    for (int c = 0; c < it->columns.num; ++c) {
        for (int i = 0; i < it->vary.num; ++i) {
            report_cell_text(&r, it->columns.list[c].name);
            report_cell_number(&r,
                               it->found.rows[(size_t)last * (size_t)it->columns.num + (size_t)c]);
            report_cell_text(&r, it->vary.names[i]);
            report_cell_number(&r, it->values[i]);
            report_cell_number(&r, slope_at(it, i, last, c));
        }
    }
    report_end_table(&r);
    report_end(&r);
}

// --- the command ---

// What is asked is put together, answered, and written or printed.
static int find_slopes(study *it, const cli_model *model)
{
    const cli_args *const args = it->args;
    int code = vary_sort(args, model, &it->vary);
    if (code == CLI_OK) code = make_times(it, model);
    if (code == CLI_OK) {
        code = columns_choose(args, model, cli_text(args, "columns"), false, &it->columns);
    }
    if (code == CLI_OK && it->columns.num == 0) {
        code = cli_fail(args, CLI_USAGE, "--columns names nothing that this model has.");
    }
    if (code != CLI_OK) return code;
    cli_run_warn_of_colliders(args, model);
    vary_values(&it->vary, model, it->values);
    it->found = (cli_slopes){.args = args,
                             .vary = &it->vary,
                             .columns = &it->columns,
                             .times = it->times,
                             .num_times = it->num_times,
                             .accuracy = cli_number(args, "accuracy"),
                             .step = cli_number(args, "step")};
    slopes_create(&it->found, model);
    if (slopes_find(&it->found, it->values, true) != TAL_OK) {
        return cli_fail_with(args, CLI_FAILED, &it->found.error);
    }
    if (result_is_wanted(args)) return write_table(it, model);
    report_end_of_run(it);
    return CLI_OK;
}

static int run(const cli_args *args)
{
    study it = {.args = args};
    cli_model model = {0};
    int code = result_check_out(args, false);
    if (code == CLI_OK && !(cli_number(args, "step") >= 0.0)) {
        code = cli_fail(args, CLI_USAGE, "--step needs a positive number, not %g.",
                        cli_number(args, "step"));
    }
    if (code != CLI_OK) return code;
    code = vary_read_names(args, false, &it.vary);
    if (code == CLI_OK) code = cli_model_read(args, args->files[0], NULL, 0, &model);
    if (code == CLI_OK) code = find_slopes(&it, &model);
    slopes_destroy(&it.found);
    columns_destroy(&it.columns);
    free(it.times);
    vary_free(&it.vary);
    cli_model_destroy(&model);
    return code;
}

static const cli_option options[] = {
    {.name = "parameter",
     .letter = 'p',
     .kind = CLI_LIST,
     .value = "NAME",
     .help = "initial coordinate or speed, mass (BODY.mass), number of a force (FORCE.NAME) or "
             "<param>; can be repeated",
     .is_setting = true},
    {.name = "end",
     .letter = 'e',
     .kind = CLI_NUMBER,
     .value = "SECONDS",
     .initial = "1",
     .help = "final time",
     .is_setting = true},
    {.name = "every",
     .kind = CLI_NUMBER,
     .value = "SECONDS",
     .initial = "0",
     .help = "time between rows of the result; 0: only the end",
     .is_setting = true},
    {.name = "columns",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "LIST",
     .initial = "q,u,measures",
     .help = "columns to differentiate, named as for talus simulate",
     .is_setting = true},
    SLOPE_STEPS,
    {0}};

const cli_command cmd_sensitivities = {
    .name = "sensitivities",
    .group = CLI_STUDIES,
    .files = "MODEL",
    .min_files = 1,
    .max_files = 1,
    .summary = "differentiate a run by parameters and initial values",
    .about = "Differentiates the steps of the run, and its events. If a stop of the model ends the "
             "run, the end time depends on the parameters, too, and the slopes of the last row "
             "include this. For a <param> the model is read again with other values and takes the "
             "same steps. Without -o the slopes at the end are printed.",
    .common = MODEL_OPTIONS | CLI_RESULT | CLI_OUT | CLI_AGAIN | CLI_FORMAT,
    .options = options,
    .example = "talus sensitivities pendulum.talus -p upper.mass -e 2",
    .example_help = "how the end of the run changes with the mass",
    .run = run};
