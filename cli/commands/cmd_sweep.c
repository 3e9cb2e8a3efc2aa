// talus sweep: a model for many values of what it is made of. A <param> may be anything, also
// something that only a System holds, so the model is read for each of its values; what the State
// holds is varied without. Samples know nothing of each other: they are a batch, whose results do
// not depend on the number of threads, and which can go on where it was killed (--resume).
#include "commands/commands.h"
#include "model/integrators.h"
#include "model/run.h"
#include "model/vary.h"
#include "table/columns.h"
#include "table/result.h"
#include "text/progress.h"
#include "text/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    READ_AT_ONCE = 4096, // samples
    REASONS = 5          // of failures that are printed
};

// What one thread works with: a model with the <param>s of its last sample.
typedef struct lane {
    cli_model model;
    cli_run run;
    bool has_model, has_run;
    double values[CLI_MAX_OPTIONS]; // of the sample at hand
    double read_for[CLI_MAX_OPTIONS];
    tal_parameter numbers[CLI_MAX_OPTIONS];
    int num_numbers;
    tal_state *state; // where the sample starts
    tal_error error;  // why there is no model for these <param>s
} lane;

// The whole study.
typedef struct study {
    cli_args args;       // as they were given
    cli_args quiet_args; // for models that are read again
    tal_integrator_def integrator;
    cli_vary vary;
    double end;
    int num; // samples
    cli_columns columns;
    vary_shape shape; // of the model as it is in the file
    lane *lanes;
    int num_lanes;
    tal_batch *batch;
    tal_table *table;
    atomic_int done;
    progress told;
    int num_failed, num_missing; // rows without results: failed, not done
} study;

// --- models of lanes ---

static void drop_model(lane *at)
{
    if (at->has_run) cli_run_destroy(&at->run);
    tal_state_destroy(at->state);
    if (at->has_model) cli_model_destroy(&at->model);
    memset(&at->model, 0, sizeof at->model);
    at->state = NULL;
    at->has_run = false;
    at->has_model = false;
}

static bool proceed(void *context, double t)
{
    (void)context;
    (void)t;
    return !cli_is_interrupted();
}

static tal_status refuse_model(lane *at, tal_status st, const char *fmt, const char *name)
{
    at->error = (tal_error){st, "talus sweep", ""};
    snprintf(at->error.message, sizeof at->error.message, fmt, name);
    return st;
}

// What a model needs besides being read.
static tal_status equip_model(const study *it, lane *at)
{
    const char *missing = NULL;
    at->num_numbers = vary_numbers(&it->vary, &at->model, at->numbers, &missing);
    if (at->num_numbers < 0) {
        return refuse_model(at, TAL_ERR_BAD_NAME,
                            "with these values of <param>s the model has no '%.60s'", missing);
    }
    at->state = cli_state_copy(&it->quiet_args, &at->model);
    if (at->state == NULL) return refuse_model(at, TAL_ERR_NO_MEMORY, "there is no memory%s", "");
    at->has_run = true;
    if (cli_run_create(&it->quiet_args, &at->model, &it->integrator, &at->run) != CLI_OK) {
        return refuse_model(at, TAL_ERR_BAD_VALUE, "with these values of <param>s it cannot run%s",
                            "");
    }
    at->run.end = it->end;
    at->run.proceed = proceed;
    return TAL_OK;
}

// The model for the sample's <param>s: the one that is there, or read again.
static tal_status find_model(const study *it, lane *at)
{
    if (at->has_model && vary_same_params(&it->vary, at->values, at->read_for)) {
        return at->error.status;
    }
    drop_model(at);
    memcpy(at->read_for, at->values, sizeof at->read_for);
    at->error = (tal_error){TAL_OK, "", ""};
    at->has_model = true;
    if (vary_read_model(&it->quiet_args, &it->vary, at->values, &at->model) != CLI_OK) {
        if (at->model.status == TAL_ERR_NO_MEMORY) {
            return refuse_model(at, TAL_ERR_NO_MEMORY, "there is not enough memory%s", "");
        }
        return refuse_model(at, TAL_ERR_BAD_VALUE, "the model is wrong with these <param>s%s", "");
    }
    if (!vary_has_shape(&at->model, it->shape)) {
        return refuse_model(at, TAL_ERR_WRONG_SYSTEM,
                            "these values of <param>s change the structure of the model%s", "");
    }
    return equip_model(it, at);
}

// --- samples ---

static tal_status set_start(const study *it, lane *at)
{
    tal_status st = tal_state_copy(at->state, at->model.state);
    int n = 0;
    for (int i = 0; i < it->vary.num && st == TAL_OK; ++i) {
        if (it->vary.is_param[i]) continue;
        const tal_parameter *const number = &at->numbers[n++];
        st = number->set(number, at->model.system, at->state, at->values[i]);
    }
    return st;
}

static tal_status run_model(const study *it, lane *at, double results[], tal_error *why)
{
    tal_status st = set_start(it, at);
    if (st != TAL_OK) {
        *why = *tal_state_error(at->state);
        (void)tal_state_clear_error(at->state);
        return st;
    }
    st = cli_run_restart(&at->run, at->state);
    if (st == TAL_OK && it->end > tal_state_t(at->state)) st = cli_run_go(&at->run, it->end);
    if (st != TAL_OK) {
        *why = at->run.error;
        return st;
    }
    st = columns_read(&it->columns, &at->model, at->run.shown, results);
    if (st != TAL_OK) *why = *tal_state_error(at->run.shown);
    return st;
}

// Simulate one sample: a row, or NaN and why.
static tal_status run_sample(study *it, lane *at, int k, double results[], tal_error *why)
{
    *why = (tal_error){TAL_OK, "", ""};
    tal_status st = tal_design_sample(&it->vary.design, k, at->values);
    if (st == TAL_OK) st = find_model(it, at);
    if (st != TAL_OK) *why = at->error;
    if (st == TAL_OK) st = run_model(it, at, results, why);
    for (int i = 0; i < it->columns.num && st != TAL_OK; ++i) {
        results[i] = (double)NAN;
    }
    return st;
}

// What the batch calls, on any thread.
static tal_status run_chunk(void *context, int index, int first, int n, double results[],
                            tal_status status[], tal_error why[])
{
    study *const it = context;
    lane *const at = &it->lanes[index];
    for (int k = 0; k < n; ++k) {
        if (cli_is_interrupted()) return TAL_RETRY;
        status[k] =
            run_sample(it, at, first + k, results + (size_t)k * (size_t)it->columns.num, &why[k]);
        if (at->has_run && at->run.was_stopped) return TAL_RETRY;
        (void)progress_tell(&it->told, (double)(atomic_fetch_add(&it->done, 1) + 1));
    }
    return TAL_OK;
}

// --- the batch: where its chunks are, and what it depends on ---

// "2/8": the second of eight, from 0 on in the def. An exit code.
static int read_shard(const cli_args *args, tal_batch_def *def)
{
    const char *const text = cli_text(args, "shard");
    if (text == NULL) return CLI_OK;
    if (!cli_flag(args, "resume")) {
        return cli_fail(args, CLI_USAGE, "--shard needs --resume, which keeps what is done.");
    }
    int i = 0, n = 0;
    const char *at = tal_integer_read(text, NULL, &i);
    if (at != NULL && *at == '/') at = tal_integer_read(at + 1, NULL, &n);
    if (at == NULL || *at != 0 || i < 1 || i > n) {
        return cli_fail(args, CLI_USAGE, "--shard needs I/N, as 1/8 ... 8/8, not '%s'.", text);
    }
    def->shard = i - 1;
    def->num_shards = n;
    return CLI_OK;
}

// Chunks from runs elsewhere. An exit code.
static int merge_runs(study *it)
{
    const char *const *paths = NULL;
    const int n = cli_list(&it->args, "merge", &paths);
    for (int i = 0; i < n; ++i) {
        if (tal_batch_merge(it->batch, paths[i]) != TAL_OK) {
            return cli_fail_with(&it->args, CLI_BAD_FILE, tal_batch_error(it->batch));
        }
    }
    return CLI_OK;
}

// In memory, or with --resume in a directory beside the result. An exit code.
static int make_batch(study *it)
{
    const cli_args *const args = &it->args;
    tal_batch_def def = tal_batch_def_default();
    def.num_samples = it->num;
    def.row_size = it->columns.num;
    const char *const out = stream_out_path(args);
    const bool resumes = cli_flag(args, "resume");
    int code = read_shard(args, &def);
    if (code != CLI_OK) return code;
    char *const path = resumes ? cli_format("%s.run", out) : NULL;
    char *const manifest = result_manifest(args, it->table);
    def.path = path;
    def.manifest = manifest;
    tal_error err = {0};
    if (tal_batch_create(&def, &it->batch, &err) != TAL_OK) {
        code = cli_fail_with(args, resumes ? CLI_BAD_FILE : CLI_FAILED, &err);
    }
    free(path);
    free(manifest);
    if (code == CLI_OK) code = merge_runs(it);
    const int damaged = tal_batch_num_damaged(it->batch);
    if (damaged > 0) {
        fprintf(stderr, "talus sweep: %d files of the run were damaged; they are made again.\n",
                damaged);
    }
    return code;
}

// Do what is not done. An exit code.
static int run_batch(study *it)
{
    tal_threads *threads = NULL;
    tal_error err = {0};
    if (tal_threads_create(it->num_lanes, &threads, &err) != TAL_OK) {
        return cli_fail_with(&it->args, CLI_FAILED, &err);
    }
    const tal_executor executor = tal_threads_executor(threads);
    const int before = tal_batch_num_done(it->batch);
    atomic_store(&it->done, before);
    progress_begin(&it->told, &it->args, "samples", false, (double)before, (double)it->num);
    const tal_status st = tal_batch_go(it->batch, run_chunk, it, it->num_lanes, &executor);
    progress_end(&it->told, (double)atomic_load(&it->done));
    tal_threads_destroy(threads);
    if (st == TAL_OK || st == TAL_RETRY) return CLI_OK;
    return cli_fail_with(&it->args, CLI_FAILED, tal_batch_error(it->batch));
}

// --- the table ---

// The table with its columns and memory for all rows; an exit code.
static int make_table(study *it, const cli_model *model)
{
    it->table = result_create(&it->args, model);
    if (it->table == NULL) return CLI_FAILED;
    cli_run_warn_of_colliders(&it->args, model);
    tal_status st = TAL_OK;
    for (int i = 0; i < it->vary.num && st == TAL_OK; ++i) {
        // a coordinate may be varied and read
        const bool has_end = columns_find(&it->columns, it->vary.names[i]);
        char *const name = cli_format("%s%s", it->vary.names[i], has_end ? " at start" : "");
        st = tal_table_add_column(it->table, name);
        free(name);
    }
    if (st == TAL_OK) st = columns_name(&it->columns, it->table);
    if (st == TAL_OK) st = tal_table_reserve(it->table, it->num);
    return st == TAL_OK ? result_check_fit(&it->args, it->table)
                        : cli_fail_status(&it->args, CLI_FAILED, st);
}

static tal_status add_row(study *it, int sample, const double results[], double row[])
{
    const tal_status st = tal_design_sample(&it->vary.design, sample, row);
    memcpy(row + it->vary.num, results, (size_t)it->columns.num * sizeof *row);
    return st == TAL_OK ? tal_table_add_row(it->table, row) : st;
}

static void tell_failure(study *it, int sample, tal_status status, const tal_error *why)
{
    it->num_missing += status == TAL_RETRY;
    it->num_failed += status != TAL_OK && status != TAL_RETRY;
    if (status == TAL_OK || status == TAL_RETRY || it->num_failed > REASONS) return;
    (void)cli_fail(&it->args, CLI_FAILED, "row %d: %s", sample + 1, why->message);
}

// Rows [first, first + n) of the table, and why some of them failed.
static tal_status add_rows(study *it, int first, int n, double results[], tal_status status[],
                           tal_error why[])
{
    double *const row = cli_alloc((size_t)(it->vary.num + it->columns.num), sizeof *row);
    tal_status st = tal_batch_read(it->batch, first, n, results, status, why);
    if (st == TAL_RETRY) st = TAL_OK; // rows that are not done are NaN
    for (int k = 0; k < n && st == TAL_OK; ++k) {
        tell_failure(it, first + k, status[k], &why[k]);
        st = add_row(it, first + k, results + (size_t)k * (size_t)it->columns.num, row);
    }
    free(row);
    return st;
}

// How many rows there are: up to the last sample that is done.
static int num_rows(const study *it, double results[], tal_status status[])
{
    int num = it->num;
    while (num > 0 && tal_batch_num_done(it->batch) < it->num) {
        const int n = num < READ_AT_ONCE ? num : READ_AT_ONCE;
        const tal_status st = tal_batch_read(it->batch, num - n, n, results, status, NULL);
        if (st != TAL_OK && st != TAL_RETRY) return num;
        for (int k = n - 1; k >= 0; --k) {
            if (status[k] != TAL_RETRY) return num - n + k + 1;
        }
        num -= n;
    }
    return num;
}

static int fill_table(study *it)
{
    double *const results =
        cli_alloc((size_t)READ_AT_ONCE * (size_t)it->columns.num, sizeof *results);
    tal_status *const status = cli_alloc(READ_AT_ONCE, sizeof *status);
    tal_error *const why = cli_alloc(READ_AT_ONCE, sizeof *why);
    const int num = num_rows(it, results, status);
    it->num_missing = it->num - num;
    tal_status st = TAL_OK;
    for (int first = 0; first < num && st == TAL_OK; first += READ_AT_ONCE) {
        const int n = num - first < READ_AT_ONCE ? num - first : READ_AT_ONCE;
        st = add_rows(it, first, n, results, status, why);
    }
    free(results);
    free(status);
    free(why);
    return st == TAL_OK ? CLI_OK : cli_fail_status(&it->args, CLI_FAILED, st);
}

static int write_results(study *it)
{
    int code = fill_table(it);
    if (code != CLI_OK) return code;
    if (it->num_failed + it->num_missing == 0) {
        code = result_write(&it->args, it->table);
        if (code == CLI_OK) result_report(&it->args, it->table);
        return code;
    }
    char why[64];
    const bool is_cut = it->num_missing > 0;
    snprintf(why, sizeof why, "%d of %d samples %s", it->num_failed + it->num_missing, it->num,
             is_cut ? "were interrupted" : "failed");
    (void)cli_fail(&it->args, CLI_FAILED, "%s.", why);
    return result_write_part(&it->args, it->table, why);
}

// With --resume the table is written when all is done; until then the directory keeps it.
static int finish(study *it)
{
    const int left = it->num - tal_batch_num_done(it->batch);
    if (!cli_flag(&it->args, "resume")) return write_results(it);
    if (cli_is_given(&it->args, "shard") && !cli_is_interrupted()) {
        if (cli_flag(&it->args, "quiet")) return CLI_OK;
        fprintf(stderr,
                "This shard is done; of all %d samples %d are left. Then the command "
                "without --shard writes the table.\n",
                it->num, left);
        return CLI_OK;
    }
    if (left > 0) {
        return cli_fail(&it->args, CLI_FAILED,
                        "interrupted with %d of %d samples left; the same command goes on.", left,
                        it->num);
    }
    const int code = write_results(it);
    // a result with samples that failed is complete, too: they would fail again
    if (code == CLI_OK || it->num_failed > 0) {
        if (tal_batch_remove(it->batch) != TAL_OK) {
            (void)cli_fail_with(&it->args, code, tal_batch_error(it->batch));
        }
    }
    return code;
}

// --- the command ---

// Names, columns and table from the model as it is in the file. An exit code.
static int prepare(study *it)
{
    cli_model first = {0};
    int code = cli_model_read(&it->args, it->args.files[0], NULL, 0, &first);
    if (code == CLI_OK) {
        const char *const list = cli_text(&it->args, "columns");
        code = columns_choose(&it->args, &first, list, false, &it->columns);
    }
    if (code == CLI_OK) code = vary_sort(&it->args, &first, &it->vary);
    if (code == CLI_OK) code = make_table(it, &first);
    if (code == CLI_OK) it->shape = vary_shape_of(&first);
    cli_model_destroy(&first);
    return code;
}

static int run_sweep(study *it)
{
    const int only = it->args.only_rows, all = it->vary.design.num_samples;
    it->num = only > 0 && only < all ? only : all;
    int code = prepare(it);
    if (code == CLI_OK) code = make_batch(it);
    if (code == CLI_OK) {
        it->num_lanes = cli_threads(&it->args);
        it->lanes = cli_alloc((size_t)it->num_lanes, sizeof *it->lanes);
        code = run_batch(it);
        if (code == CLI_OK) code = finish(it);
    }
    for (int i = 0; i < it->num_lanes && it->lanes != NULL; ++i) {
        drop_model(&it->lanes[i]);
    }
    free(it->lanes);
    tal_batch_destroy(it->batch);
    tal_table_destroy(it->table);
    columns_destroy(&it->columns);
    return code;
}

static int run(const cli_args *args)
{
    study it = {.args = *args, .quiet_args = *args, .end = cli_number(args, "end")};
    cli_set_flag(&it.quiet_args, "quiet");
    int code = cli_integrator_def(args, &it.integrator);
    if (code == CLI_OK) code = result_check_out(args, false);
    if (code != CLI_OK) return code;
    code = vary_read(args, &it.vary);
    if (code == CLI_OK) code = run_sweep(&it);
    vary_free(&it.vary);
    return code;
}

static const cli_option options[] = {
    {.name = "vary",
     .letter = 'v',
     .kind = CLI_LIST,
     .value = "NAME=LOW:HIGH:COUNT",
     .help =
         "vary an initial coordinate or speed, a mass (BODY.mass), a number of a force (FORCE.NAME) or a <param>; if repeated, all combinations are run",
     .is_setting = true},
    {.name = "samples",
     .letter = 'n',
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "0",
     .help = "number of random samples, uniform between LOW and HIGH; 0: a grid",
     .is_setting = true},
    {.name = "latin",
     .kind = CLI_FLAG,
     .help = "samples form a Latin hypercube: each range is covered evenly",
     .is_setting = true},
    {.name = "shard",
     .kind = CLI_TEXT,
     .value = "I/N",
     .help = "with --resume: do only part I of N, from 1 to N, and leave the others to other "
             "processes or machines"},
    {.name = "merge",
     .kind = CLI_LIST,
     .value = "FOLDER",
     .help = "take over what is done in the .run folder of the same command elsewhere"},
    {.name = "end",
     .letter = 'e',
     .kind = CLI_NUMBER,
     .value = "SECONDS",
     .initial = "1",
     .help = "time at which the columns are read",
     .is_setting = true},
    {.name = "columns",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "LIST",
     .initial = "q,u,measures,energy,bath",
     .help = "what to write, as for talus simulate",
     .is_setting = true},
    {.name = "step",
     .kind = CLI_NUMBER,
     .value = "SECONDS",
     .initial = "0",
     .help = "fixed step size, as for talus simulate",
     .is_setting = true},
    {0}};

const cli_command cmd_sweep = {
    .name = "sweep",
    .group = CLI_STUDIES,
    .files = "MODEL",
    .min_files = 1,
    .max_files = 1,
    .summary = "simulate a model for many values of its parameters",
    .about =
        "Writes one row for each sample: the values, then the columns at the end of the run. The model "
        "is read again for each value of a <param>, but not for coordinates, speeds and masses. The last "
        "--vary changes fastest.",
    .common = MOTION_OPTIONS | CLI_RESULT | CLI_RESUME | CLI_SEED | CLI_THREADS,
    .options = options,
    .example = "talus sweep pendulum.talus --vary half=0.4:0.6:5 --end 2",
    .example_help = "five lengths",
    .run = run};
