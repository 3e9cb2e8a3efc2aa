// talus sweep: a model for many values of its params. Each sample reads the file with its own values and
// knows nothing of the others, so results do not depend on the number of threads.
#include "columns.h"
#include "commands.h"
#include "integrators.h"
#include "motion.h"
#include "progress.h"
#include "result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// What is varied: NAME=LOW:HIGH:COUNT for each.
typedef struct ranges {
    int num;
    char *names[CLI_MAX_OPTIONS]; // owned
    double low[CLI_MAX_OPTIONS], high[CLI_MAX_OPTIONS];
    int levels[CLI_MAX_OPTIONS];
} ranges;

// The whole study.
typedef struct study {
    const cli_args *args;
    tal_integrator_def integrator;
    const ranges *range;
    double end;
    int num_samples, num_columns;
    const double *values; // [num_samples][range->num]
    double *results;      // [num_samples][num_columns], NaN where a sample failed
    bool *failed;         // [num_samples]
    atomic_int done;
    progress told;
} study;

static bool read_levels(const char *text, double *low, double *high, int *levels)
{
    const char *end = tal_number_read(text, NULL, low);
    if (end == NULL || *end != ':') return false;
    end = tal_number_read(end + 1, NULL, high);
    *levels = 2;
    if (end != NULL && *end == ':') end = tal_integer_read(end + 1, NULL, levels);
    return end != NULL && *end == 0 && isfinite(*low) && isfinite(*high) && *levels > 0;
}

static int read_range(const cli_args *args, ranges *out)
{
    memset(out, 0, sizeof *out);
    const char *const *texts = NULL;
    const int n = cli_list(args, "vary", &texts);
    if (n == 0) return cli_fail(args, CLI_USAGE, "--vary is missing: NAME=LOW:HIGH:COUNT.");
    for (int i = 0; i < n; ++i) {
        const char *rest = NULL;
        out->names[i] = cli_split(texts[i], &rest);
        out->num = i + 1;
        if (out->names[i] == NULL ||
            !read_levels(rest, &out->low[i], &out->high[i], &out->levels[i])) {
            return cli_fail(args, CLI_USAGE, "--vary wants NAME=LOW:HIGH:COUNT, not '%s'.",
                            texts[i]);
        }
    }
    return CLI_OK;
}

// A grid, or random samples. [num_samples][num], owned by the caller; NULL, and a sentence, on failure.
static double *make_values(const cli_args *args, const ranges *range, int *num_samples)
{
    const int samples = cli_count(args, "samples");
    const int n = samples > 0 ? samples : tal_grid_size(range->levels, range->num);
    if (n < 1) {
        (void)cli_fail(args, CLI_USAGE, "there would be too many samples.");
        return NULL;
    }
    double *const values = cli_alloc((size_t)n * (size_t)range->num, sizeof *values);
    *num_samples = n;
    if (samples == 0) {
        (void)tal_grid_fill(range->levels, range->low, range->high, range->num, values);
        return values;
    }
    tal_distribution distributions[CLI_MAX_OPTIONS];
    for (int i = 0; i < range->num; ++i) {
        distributions[i] = (tal_distribution){TAL_UNIFORM, range->low[i], range->high[i]};
    }
    const uint64_t seed = (uint64_t)cli_count(args, "seed");
    if (tal_random_fill(distributions, range->num, seed, n, values) == TAL_OK) return values;
    (void)cli_fail(args, CLI_USAGE, "--vary wants LOW below HIGH.");
    free(values);
    return NULL;
}

// Read the model with the values of a sample; an exit code.
static int read_sample(const study *it, int k, cli_model *model)
{
    tal_model_param params[CLI_MAX_OPTIONS];
    for (int i = 0; i < it->range->num; ++i) {
        params[i].name = it->range->names[i];
        params[i].value = it->values[(size_t)k * (size_t)it->range->num + (size_t)i];
    }
    return cli_model_read(it->args, it->args->files[0], params, it->range->num, model);
}

static bool go_on(void *context, double t)
{
    (void)context;
    (void)t;
    return !cli_is_interrupted();
}

static int run_sample(study *it, int k, cli_model *model, motion *run)
{
    double *const row = it->results + (size_t)k * (size_t)it->num_columns;
    cli_columns columns = {0};
    int code = read_sample(it, k, model);
    if (code == CLI_OK) code = motion_create(it->args, model, &it->integrator, run);
    if (code == CLI_OK) {
        run->end = it->end;
        run->go_on = go_on;
        const char *const list = cli_text(it->args, "columns");
        code = columns_choose(it->args, model, list, false, &columns);
    }
    if (code == CLI_OK) {
        tal_status st = it->end > tal_state_t(run->state) ? motion_go(run, it->end) : TAL_OK;
        if (st != TAL_OK) code = cli_fail_with(it->args, CLI_FAILED, &run->error);
        if (run->was_stopped) code = CLI_FAILED;
        if (code == CLI_OK) st = columns_read(&columns, model, run->shown, row);
        if (st != TAL_OK) code = CLI_FAILED;
    }
    columns_destroy(&columns);
    return code;
}

static void do_sample(void *work, int k)
{
    study *const it = work;
    if (cli_is_interrupted()) return;
    cli_model model = {0};
    motion run = {0};
    it->failed[k] = run_sample(it, k, &model, &run) != CLI_OK;
    motion_destroy(&run);
    cli_model_destroy(&model);
    (void)progress_tell(&it->told, (double)(atomic_fetch_add(&it->done, 1) + 1));
}

static int run_all(study *it)
{
    const int n = cli_count(it->args, "threads");
    tal_threads *threads = NULL;
    tal_error err = {0};
    if (tal_threads_create(n > 0 ? n : 1, &threads, &err) != TAL_OK) {
        return cli_fail_with(it->args, CLI_FAILED, &err);
    }
    const tal_executor executor = tal_threads_executor(threads);
    progress_begin(&it->told, it->args, "samples", false, 0.0, (double)it->num_samples);
    executor.run(executor.context, do_sample, it, it->num_samples);
    progress_end(&it->told, (double)atomic_load(&it->done));
    tal_threads_destroy(threads);
    return CLI_OK;
}

static tal_status add_rows(const study *it, tal_table *table)
{
    const int np = it->range->num, nc = it->num_columns;
    double *const row = cli_alloc((size_t)(np + nc), sizeof *row);
    tal_status st = TAL_OK;
    for (int k = 0; k < it->num_samples && st == TAL_OK; ++k) {
        memcpy(row, it->values + (size_t)k * (size_t)np, (size_t)np * sizeof *row);
        memcpy(row + np, it->results + (size_t)k * (size_t)nc, (size_t)nc * sizeof *row);
        st = tal_table_add_row(table, row);
    }
    free(row);
    return st;
}

static int write_results(const study *it, const cli_model *model, const cli_columns *columns)
{
    tal_table *const table = result_create(it->args, model);
    if (table == NULL) return CLI_FAILED;
    tal_status st = TAL_OK;
    for (int i = 0; i < it->range->num && st == TAL_OK; ++i) {
        st = tal_table_add_column(table, it->range->names[i]);
    }
    if (st == TAL_OK) st = columns_name(columns, table);
    if (st == TAL_OK) st = add_rows(it, table);
    int num_failed = 0;
    for (int k = 0; k < it->num_samples; ++k) {
        num_failed += it->failed[k];
    }
    int code = CLI_OK;
    if (num_failed > 0) {
        char why[64];
        snprintf(why, sizeof why, "%d of %d samples %s", num_failed, it->num_samples,
                 cli_is_interrupted() ? "were interrupted" : "failed");
        result_mark_incomplete(table, why);
        code = cli_fail(it->args, CLI_FAILED, "%s.", why);
    }
    const int written = st == TAL_OK ? result_write(it->args, table)
                                     : cli_fail(it->args, CLI_FAILED, "the table cannot be made.");
    tal_table_destroy(table);
    return written != CLI_OK ? written : code;
}

static int sweep(study *it)
{
    cli_model first = {0};
    cli_columns columns = {0};
    int code = read_sample(it, 0, &first);
    if (code == CLI_OK) {
        code = columns_choose(it->args, &first, cli_text(it->args, "columns"), false, &columns);
    }
    if (code == CLI_OK) {
        it->num_columns = columns.num;
        const size_t size = (size_t)it->num_samples * (size_t)columns.num;
        it->results = cli_alloc(size, sizeof *it->results);
        it->failed = cli_alloc((size_t)it->num_samples, sizeof *it->failed);
        for (size_t i = 0; i < size; ++i) {
            it->results[i] = (double)NAN;
        }
        memset(it->failed, 1, (size_t)it->num_samples * sizeof *it->failed);
        code = run_all(it);
        if (code == CLI_OK) code = write_results(it, &first, &columns);
    }
    free(it->results);
    free(it->failed);
    columns_destroy(&columns);
    cli_model_destroy(&first);
    return code;
}

int cmd_sweep(const cli_args *args)
{
    ranges range;
    study it = {.args = args, .range = &range, .end = cli_number(args, "end")};
    int code = cli_integrator_def(args, &it.integrator);
    if (code != CLI_OK) return code;
    double *values = NULL;
    code = read_range(args, &range);
    if (code == CLI_OK) {
        values = make_values(args, &range, &it.num_samples);
        it.values = values;
        code = values != NULL ? sweep(&it) : CLI_USAGE;
    }
    for (int i = 0; i < range.num; ++i) {
        free(range.names[i]);
    }
    free(values);
    return code;
}
