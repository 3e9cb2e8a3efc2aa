// talus fit: parameters and starting values with which a run comes nearest to a measured table.
#include "commands/commands.h"
#include "commands/slope_options.h"
#include "model/run.h"
#include "model/slopes.h"
#include "table/result.h"
#include "text/progress.h"
#include "text/report.h"
#include "text/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The whole study. Measured numbers are in the units of the model; NaN: missing.
typedef struct study {
    const cli_args *args;
    const tal_table *table;
    cli_vary vary;
    cli_columns columns;
    int *places;      // [columns] in the table
    double *times;    // [num] owned, as all of these
    double *measured; // [num][columns]
    double *weights;  // [columns] over the spread of each
    int num;
    double start[CLI_MAX_OPTIONS], values[CLI_MAX_OPTIONS], errors[CLI_MAX_OPTIONS];
    double scales[CLI_MAX_OPTIONS];
    cli_slopes found;
    tal_least_squares_report report;
} study;

// --- what was measured ---

// The names of columns that the table and the model both have, except the time, with commas
// between them; owned by the caller.
static char *common_names(const study *it, const cli_columns *all)
{
    char *list = cli_copy("");
    for (int k = 0; k < all->num; ++k) {
        const column *const c = &all->list[k];
        if (c->kind == COLUMN_TIME || tal_table_find_column(it->table, c->name) < 0) continue;
        char *const longer = cli_format("%s%s%s", list, list[0] != 0 ? "," : "", c->name);
        free(list);
        list = longer;
    }
    return list;
}

// The columns to come near to: those of --columns, or all that the table and the model both have.
static int match_columns(study *it, const cli_model *model)
{
    const cli_args *const args = it->args;
    cli_columns all = {0};
    int code = columns_all(args, model, &all);
    char *const found = common_names(it, &all);
    columns_destroy(&all);
    const char *const asked = cli_text(args, "columns");
    if (code == CLI_OK && asked == NULL && found[0] == 0) {
        code = cli_fail(args, CLI_BAD_FILE,
                        "%s has no column that the model has, too: names are those that talus "
                        "simulate writes.",
                        args->files[1]);
    }
    if (code == CLI_OK) {
        code = columns_choose(args, model, asked != NULL ? asked : found, false, &it->columns);
    }
    free(found);
    it->places = cli_alloc((size_t)it->columns.num + 1, sizeof *it->places);
    for (int k = 0; k < it->columns.num && code == CLI_OK; ++k) {
        it->places[k] = result_find_column(args, it->table, it->columns.list[k].name);
        if (it->places[k] < 0) code = CLI_USAGE;
    }
    return code;
}

// Angles in degrees become radians, as the model has them.
static double unit_of(const study *it, int c)
{
    const bool is_angle = strncmp(it->columns.list[c].unit, "rad", 3) == 0;
    return is_angle && tal_table_in_degrees(it->table) ? TAL_PI / 180.0 : 1.0;
}

// Times, ascending from where the model begins, and what was measured then.
static int read_rows(study *it, const cli_model *model)
{
    const char *const path = it->args->files[1];
    const int width = it->columns.num, rows = tal_table_num_rows(it->table);
    const int time = tal_table_find_column(it->table, "time");
    if (time < 0 || rows < 1) {
        return cli_fail(it->args, CLI_BAD_FILE, "%s %s.", path,
                        time < 0 ? "has no column 'time'" : "has no rows");
    }
    it->num = rows;
    it->times = cli_alloc((size_t)rows, sizeof *it->times);
    it->measured = cli_alloc((size_t)rows * (size_t)width, sizeof *it->measured);
    double before = tal_state_t(model->state);
    for (int r = 0; r < rows; ++r) {
        it->times[r] = tal_table_value(it->table, r, time);
        if (!(it->times[r] >= before)) {
            return cli_fail(it->args, CLI_BAD_FILE, "%s, row %d: t = %g is before t = %g%s.", path,
                            r + 1, it->times[r], before, r == 0 ? ", where the model begins" : "");
        }
        before = it->times[r];
        for (int c = 0; c < width; ++c) {
            it->measured[(size_t)r * (size_t)width + (size_t)c] =
                unit_of(it, c) * tal_table_value(it->table, r, it->places[c]);
        }
    }
    return CLI_OK;
}

// The standard deviation of a measured column; 1 for one that does not vary.
static double spread_of(const study *it, int c)
{
    double sum = 0.0, mean = 0.0;
    int n = 0;
    for (int pass = 0; pass < 2; ++pass) {
        if (n > 0) mean = sum / n;
        sum = 0.0;
        n = 0;
        for (int r = 0; r < it->num; ++r) {
            const double y = it->measured[(size_t)r * (size_t)it->columns.num + (size_t)c] - mean;
            if (isnan(y)) continue;
            sum += pass == 0 ? y : y * y;
            ++n;
        }
    }
    return sum > 0.0 ? sqrt(sum / n) : 1.0;
}

// What counts of each column: --weight over its spread.
static int read_weights(study *it)
{
    it->weights = cli_alloc((size_t)it->columns.num, sizeof *it->weights);
    for (int c = 0; c < it->columns.num; ++c) {
        it->weights[c] = 1.0 / spread_of(it, c);
    }
    const char *const *texts = NULL;
    const int n = cli_list(it->args, "weight", &texts);
    for (int k = 0; k < n; ++k) {
        const char *rest = NULL;
        double weight = 0.0;
        char *const name = cli_split(texts[k], &rest);
        const char *const end = name != NULL ? tal_number_read(rest, NULL, &weight) : NULL;
        int c = 0;
        while (name != NULL && c < it->columns.num && strcmp(it->columns.list[c].name, name) != 0) {
            ++c;
        }
        const bool is_there = c < it->columns.num;
        free(name);
        if (end == NULL || *end != 0 || !(weight >= 0.0) || !isfinite(weight)) {
            return cli_fail(it->args, CLI_USAGE, "--weight needs COLUMN=NUMBER, not '%s'.",
                            texts[k]);
        }
        if (!is_there) {
            return cli_fail(it->args, CLI_USAGE, "--weight '%s': no such column is fitted.",
                            texts[k]);
        }
        it->weights[c] *= weight;
    }
    return CLI_OK;
}

// --- the fit ---

static double measured_at(const study *it, int row, int c)
{
    return it->measured[(size_t)row * (size_t)it->columns.num + (size_t)c];
}

// Weighted differences from what was measured; those of missing values are zero, and so are those
// after the end of a run that an event has ended, which would make a short run the best one: it is
// refused.
static tal_status calc(void *self, const double x[], double r[], tal_matrix J)
{
    study *const it = self;
    const tal_status st = slopes_find(&it->found, x, J.rows > 0);
    if (st != TAL_OK) return cli_is_interrupted() ? TAL_ERR_STEP_LIMIT : st;
    if (it->found.num_rows < it->num) return TAL_ERR_NOT_FINITE;
    const size_t width = (size_t)it->columns.num, size = (size_t)it->num * width;
    for (int k = 0; k < it->num; ++k) {
        for (int c = 0; c < it->columns.num; ++c) {
            const size_t at = (size_t)k * width + (size_t)c;
            const double wanted = measured_at(it, k, c);
            const double weight = isnan(wanted) ? 0.0 : it->weights[c];
            r[at] = weight > 0.0 ? weight * (it->found.rows[at] - wanted) : 0.0;
            for (int p = 0; p < J.cols && J.rows > 0; ++p) {
                J.data[(size_t)p * (size_t)J.ld + at] =
                    weight * it->found.slopes[(size_t)p * size + at];
            }
        }
    }
    return TAL_OK;
}

// The search; why it failed is printed.
static int run_fit(study *it)
{
    const cli_args *const args = it->args;
    const int n = it->vary.num, m = it->num * it->columns.num;
    const tal_least_squares problem = {.num_unknowns = n,
                                       .num_residuals = m,
                                       .lower = it->vary.low,
                                       .upper = it->vary.high,
                                       .scale = it->scales,
                                       .self = it,
                                       .calc = calc};
    tal_least_squares_options options = tal_least_squares_options_default();
    options.tolerance = cli_number(args, "tolerance");
    options.max_iterations = cli_count(args, "iterations");
    double *const work = cli_alloc(tal_least_squares_work_size(n, m), sizeof *work);
    tal_error err = {0};
    const tal_status st = tal_least_squares_solve(&problem, &options, it->values, it->errors, work,
                                                  &it->report, &err);
    free(work);
    if (st == TAL_OK) return CLI_OK;
    const bool is_of_run = it->found.error.status != TAL_OK && st != TAL_ERR_NO_CONVERGENCE;
    return cli_fail_with(args, CLI_FAILED, is_of_run ? &it->found.error : &err);
}

// --- answers ---

static double rms(const study *it, int c, const double rows[])
{
    double sum = 0.0;
    int n = 0;
    for (int k = 0; k < it->num; ++k) {
        const double e =
            rows[(size_t)k * (size_t)it->columns.num + (size_t)c] - measured_at(it, k, c);
        if (isnan(e)) continue;
        sum += e * e;
        ++n;
    }
    return n > 0 ? sqrt(sum / n) : 0.0;
}

// How the search went, what it found, and how near the columns are.
static void report_fit(const study *it)
{
    static const char *const names[] = {"parameter", "start", "value", "standard error"};
    static const char *const columns[] = {"column", "rms difference"};
    report r;
    report_begin(&r, it->args);
    const char *const path = stream_out_path(it->args);
    if (r.json && path != NULL) report_text(&r, "result", path);
    report_count(&r, "iterations", it->report.iterations);
    report_count(&r, "runs", it->report.evaluations);
    report_number(&r, "cost before", it->report.cost_before, NULL);
    report_number(&r, "cost", it->report.cost, NULL);
    report_table(&r, "parameters", names, 4);
    for (int i = 0; i < it->vary.num; ++i) {
        report_cell_text(&r, it->vary.names[i]);
        report_cell_number(&r, it->start[i]);
        report_cell_number(&r, it->values[i]);
        report_cell_number(&r, it->errors[i]);
    }
    report_end_table(&r);
    report_table(&r, "columns", columns, 2);
    for (int c = 0; c < it->columns.num; ++c) {
        report_cell_text(&r, it->columns.list[c].name);
        report_cell_number(&r, rms(it, c, it->found.rows));
    }
    report_end_table(&r);
    report_end(&r);
}

// Times, and for each column what the model does and what was measured.
static int write_table(const study *it, const cli_model *model)
{
    tal_table *const table = result_create(it->args, model);
    if (table == NULL) return CLI_FAILED;
    const int width = it->columns.num;
    tal_status st = result_add_column(table, "time", "s");
    if (st == TAL_OK) st = columns_name(&it->columns, table);
    for (int c = 0; c < width && st == TAL_OK; ++c) {
        char *const name = cli_format("%s measured", it->columns.list[c].name);
        st = result_add_column(table, name, it->columns.list[c].unit);
        free(name);
    }
    double *const row = cli_alloc(1 + 2 * (size_t)width, sizeof *row);
    for (int k = 0; k < it->num && st == TAL_OK; ++k) {
        row[0] = it->times[k];
        for (int c = 0; c < width; ++c) {
            row[1 + c] = it->found.rows[(size_t)k * (size_t)width + (size_t)c];
            row[1 + width + c] = measured_at(it, k, c);
        }
        st = tal_table_add_row(table, row);
    }
    free(row);
    const int code =
        st == TAL_OK ? result_write(it->args, table) : cli_fail_status(it->args, CLI_FAILED, st);
    tal_table_destroy(table);
    return code;
}

// The model with the values that were found, as a model file.
static int write_model(const study *it)
{
    cli_model model = {0};
    cli_args quiet = *it->args;
    cli_set_flag(&quiet, "quiet");
    int code = vary_read_model(&quiet, &it->vary, it->values, &model);
    tal_parameter numbers[CLI_MAX_OPTIONS];
    const char *missing = NULL;
    const int n = code == CLI_OK ? vary_numbers(&it->vary, &model, numbers, &missing) : 0;
    int next = 0;
    for (int i = 0; i < it->vary.num && next < n && code == CLI_OK; ++i) {
        if (it->vary.is_param[i]) continue;
        const tal_parameter *const number = &numbers[next++];
        const tal_status st = number->set(number, model.system, model.state, it->values[i]);
        if (st != TAL_OK) code = cli_fail_with(it->args, CLI_FAILED, tal_state_error(model.state));
    }
    if (code == CLI_OK) code = cli_model_write(it->args, &model.file, stream_out_path(it->args));
    cli_model_destroy(&model);
    return code;
}

static int write_results(const study *it, const cli_model *model)
{
    if (it->report.least_pivot < 1e-10) {
        cli_warn(it->args, "the table does not determine all of the parameters.");
    }
    const bool wanted = result_is_wanted(it->args);
    if (!wanted || (!stream_is_output(it->args) && report_is_wanted(it->args))) report_fit(it);
    if (!wanted) return CLI_OK;
    const char *const name = stream_out_name(it->args);
    const bool is_model = name != NULL && tal_file_kind_of(name, NULL, 0) == TAL_FILE_TALUS;
    return is_model ? write_model(it) : write_table(it, model);
}

// --- the command ---

// Table and model put side by side, the search, the results.
static int fit(study *it, const cli_model *model)
{
    const cli_args *const args = it->args;
    int code = vary_sort(args, model, &it->vary);
    if (code == CLI_OK) code = match_columns(it, model);
    if (code == CLI_OK) code = read_rows(it, model);
    if (code == CLI_OK) code = read_weights(it);
    if (code != CLI_OK) return code;
    cli_run_warn_of_colliders(args, model);
    vary_values(&it->vary, model, it->start);
    for (int i = 0; i < it->vary.num; ++i) {
        it->values[i] = it->start[i];
        it->scales[i] = it->start[i] != 0.0 ? fabs(it->start[i]) : 1.0;
    }
    it->found = (cli_slopes){.args = args,
                             .vary = &it->vary,
                             .columns = &it->columns,
                             .times = it->times,
                             .num_times = it->num,
                             .accuracy = cli_number(args, "accuracy"),
                             .step = cli_number(args, "step")};
    slopes_create(&it->found, model);
    code = run_fit(it);
    return code == CLI_OK ? write_results(it, model) : code;
}

// Everything is released here.
static int run(const cli_args *args)
{
    study it = {.args = args};
    cli_model model = {0};
    tal_table *table = NULL;
    int code = result_check_out(args, true);
    if (code == CLI_OK && !(cli_number(args, "step") >= 0.0)) {
        code = cli_fail(args, CLI_USAGE, "--step needs a positive number, not %g.",
                        cli_number(args, "step"));
    }
    if (code != CLI_OK) return code;
    code = vary_read_names(args, true, &it.vary);
    if (code == CLI_OK) code = cli_model_read(args, args->files[0], NULL, 0, &model);
    if (code == CLI_OK) code = result_read(args, args->files[1], &table);
    it.table = table;
    if (code == CLI_OK) code = fit(&it, &model);
    slopes_destroy(&it.found);
    columns_destroy(&it.columns);
    free(it.places);
    free(it.times);
    free(it.measured);
    free(it.weights);
    vary_free(&it.vary);
    tal_table_destroy(table);
    cli_model_destroy(&model);
    return code;
}

static const cli_option options[] = {
    {.name = "parameter",
     .letter = 'p',
     .kind = CLI_LIST,
     .value = "NAME=LOW:HIGH",
     .help = "parameter to find, named as for talus sensitivities; =LOW:HIGH can be left out; "
             "can be repeated",
     .is_setting = true},
    {.name = "columns",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "LIST",
     .help = "columns of TABLE to fit; default: all that the model has, too",
     .is_setting = true},
    {.name = "weight",
     .letter = 'w',
     .kind = CLI_LIST,
     .value = "COLUMN=NUMBER",
     .help = "weight of a column, whose differences are divided by its standard deviation; 1 if "
             "not given; can be repeated",
     .is_setting = true},
    {.name = "tolerance",
     .kind = CLI_POSITIVE,
     .value = "NUMBER",
     .initial = "1e-8",
     .help = "finish when the next step is smaller than this part of the parameters",
     .is_setting = true},
    {.name = "iterations",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "50",
     .help = "largest number of iterations",
     .is_setting = true},
    SLOPE_STEPS,
    {0}};

const cli_command cmd_fit = {
    .name = "fit",
    .group = CLI_STUDIES,
    .files = "MODEL TABLE",
    .min_files = 2,
    .max_files = 2,
    .summary = "fit parameters to a measured table",
    .about =
        "TABLE has a column time, and columns with the names that talus simulate gives them. "
        "Differences are divided by the standard deviation of their column; missing values are "
        "ignored. The run begins at the initial state of the model, which can be fitted, too. "
        "The search uses exact derivatives (talus sensitivities) and finds a minimum near the "
        "values of the model. -o writes the model with the fitted values if the name ends with "
        ".talus; otherwise a table of the run beside the measured values.",
    .common = MODEL_OPTIONS | CLI_RESULT | CLI_OUT | CLI_AGAIN | CLI_FORMAT,
    .options = options,
    .example = "talus fit pendulum.talus swing.csv -p half=0.4:0.6",
    .example_help = "find the length from a measured swing",
    .run = run};
