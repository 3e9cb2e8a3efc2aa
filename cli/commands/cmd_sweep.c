// talus sweep: a model for many values of what it is made of. A <param> may be anything, also
// something that only a System holds, so the model is read for each of its values; what the State
// holds is varied without. Samples know nothing of each other, so results do not depend on the
// number of threads.
//
// Memory for all rows is taken before the work, which is done in batches: what is finished is in
// the table, so that nothing is lost when the sweep is interrupted.
#include "commands/commands.h"
#include "model/integrators.h"
#include "model/run.h"
#include "table/columns.h"
#include "table/result.h"
#include "text/progress.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// What is varied: NAME=LOW:HIGH:COUNT for each.
typedef struct ranges {
    int num;
    char *names[CLI_MAX_OPTIONS]; // owned
    double low[CLI_MAX_OPTIONS], high[CLI_MAX_OPTIONS];
    int levels[CLI_MAX_OPTIONS];
} ranges;

enum {
    BATCH = 4096 // samples; a model is read once more for each
};

// The whole study. Samples with the same values of <param>s are a group: they share a System.
typedef struct study {
    const cli_args *args;
    tal_integrator_def integrator;
    const ranges *range;
    double end;
    int num_samples, num_columns;
    const double *values; // [num_samples][range->num]
    cli_columns columns;
    bool is_param[CLI_MAX_OPTIONS]; // or else a number of the State
    int first;                      // sample of the batch that is worked on
    double *results;                // [BATCH][num_columns], NaN where a sample failed
    tal_status *status;             // [BATCH]
    int *groups;                    // [BATCH + 1] samples that they begin with
    int num_groups;
    int num_finished; // samples so far
    tal_table *table; // a row for each sample up to the last that was tried
    tal_threads *threads;
    atomic_int done;
    atomic_flag busy; // with the next two
    int failed;       // the lowest sample that failed, -1
    tal_error why;
    size_t shape[4]; // of the model as it is in the file
    progress told;
} study;

// A group at work: a model, and what each lane of its samples needs.
typedef struct group {
    study *it;
    const cli_model *model;
    cli_run *runs; // [lanes]
    int lanes;
    tal_parameter numbers[CLI_MAX_OPTIONS];
    int num_numbers;
} group;

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
            return cli_fail(args, CLI_USAGE, "--vary needs NAME=LOW:HIGH:COUNT, not '%s'.",
                            texts[i]);
        }
    }
    return CLI_OK;
}

// A grid, or random samples. [num_samples][num], owned by the caller; NULL, and a sentence, on
// failure.
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
    (void)cli_fail(args, CLI_USAGE, "--vary needs LOW below HIGH.");
    free(values);
    return NULL;
}

// Read the model with the <param>s of a sample; an exit code.
static int read_sample(const study *it, int k, cli_model *model)
{
    tal_model_param params[CLI_MAX_OPTIONS];
    int n = 0;
    for (int i = 0; i < it->range->num; ++i) {
        if (!it->is_param[i]) continue;
        params[n].name = it->range->names[i];
        params[n++].value = it->values[(size_t)k * (size_t)it->range->num + (size_t)i];
    }
    return cli_model_read(it->args, it->args->files[0], params, n, model);
}

// --- numbers of the State: a coordinate, a speed, BODY.mass ---

static bool find_mass(const cli_model *model, const char *name, tal_parameter *out)
{
    const char *const dot = strrchr(name, '.');
    for (int b = 1; b < tal_matter_num_bodies(model->matter) && dot != NULL; ++b) {
        const tal_body_ix body = {b};
        const char *const body_name = tal_body_name(model->matter, body);
        const size_t length = strlen(body_name);
        if (strcmp(dot, ".mass") != 0 || length != (size_t)(dot - name)) continue;
        if (memcmp(body_name, name, length) != 0) continue;
        *out = tal_parameter_mass(name, model->matter, body);
        return true;
    }
    return false;
}

// A name as a number of the State that can be varied: a coordinate, a speed or a mass.
static bool find_number(const cli_model *model, const char *name, tal_parameter *out)
{
    const tal_matter *const matter = model->matter;
    int i = -1, k = -1;
    const tal_body_ix turned = tal_matter_find_coordinate(matter, model->state, name, &i);
    const tal_body_ix moving = tal_matter_find_speed(matter, model->state, name, &k);
    if (turned.i >= 0) *out = tal_parameter_q(name, matter, turned, i);
    if (moving.i >= 0) *out = tal_parameter_u(name, matter, moving, k);
    return turned.i >= 0 || moving.i >= 0 || find_mass(model, name, out);
}

// --- what can be varied, to suggest names for misspelled ones ---

typedef struct names {
    char **list; // [num] owned, as they are
    int num;
} names;

static const char *name_at(const void *context, int i)
{
    const names *const all = context;
    return i < all->num ? all->list[i] : NULL;
}

static void add_name(names *all, const char *fmt, ...) TAL_PRINTF(2, 3);

static void add_name(names *all, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    all->list = cli_resize(all->list, (size_t)all->num + 1, sizeof *all->list);
    all->list[all->num++] = cli_format_list(fmt, list);
    va_end(list);
}

static void add_names(names *all, const cli_model *model)
{
    const tal_matter *const matter = model->matter;
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        const tal_body_ix body = {b};
        const char *const body_name = tal_body_name(matter, body);
        for (int i = 0; i < tal_body_nq(matter, model->state, body); ++i) {
            char name[TAL_COORDINATE_NAME_SIZE];
            if (tal_body_coordinate_name(matter, model->state, body, i, name) != TAL_OK) continue;
            add_name(all, "%s", name);
        }
        for (int i = 0; i < tal_body_nu(matter, body); ++i) {
            add_name(all, "%s.u%d", body_name, i);
        }
        add_name(all, "%s.mass", body_name);
    }
    for (int i = 0; i < model->file.num_params; ++i) {
        add_name(all, "%s", model->file.params[i].name);
    }
}

static bool is_param(const cli_model *model, const char *name)
{
    for (int i = 0; i < model->file.num_params; ++i) {
        if (strcmp(model->file.params[i].name, name) == 0) return true;
    }
    return false;
}

// Find which of the varied names are <param>s; an exit code, and a message for an unknown name.
static int sort_names(study *it, const cli_model *model)
{
    int code = CLI_OK;
    for (int i = 0; i < it->range->num && code == CLI_OK; ++i) {
        const char *const name = it->range->names[i];
        tal_parameter number;
        it->is_param[i] = !find_number(model, name, &number);
        if (!it->is_param[i] || is_param(model, name)) continue;
        names all = {0};
        add_names(&all, model);
        const char *const meant = tal_did_you_mean(name, name_at, &all);
        code = cli_fail(it->args, CLI_USAGE,
                        "there is no '%s' to vary%s%s%s; coordinates, speeds as BODY.u0, masses as "
                        "BODY.mass and <param>s can be varied.",
                        name, meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                        meant != NULL ? "'?)" : "");
        for (int k = 0; k < all.num; ++k) {
            free(all.list[k]);
        }
        free(all.list);
    }
    return code;
}

// --- samples ---

static bool proceed(void *context, double t)
{
    (void)context;
    (void)t;
    return !cli_is_interrupted();
}

// Simulate a sample; what tal_sweep calls.
static tal_status simulate(void *context, const tal_system *system, tal_state *state, int lane)
{
    group *const g = context;
    cli_run *const run = &g->runs[lane];
    (void)system;
    if (cli_is_interrupted()) return tal_state_fail(state, TAL_ERR_CALLBACK, "interrupted");
    tal_status st = cli_run_restart(run, state);
    if (st == TAL_OK && g->it->end > tal_state_t(state)) st = cli_run_go(run, g->it->end);
    if (st != TAL_OK) return tal_state_fail(state, st, "%s", run->error.message);
    if (run->was_stopped) return tal_state_fail(state, TAL_ERR_CALLBACK, "interrupted");
    (void)progress_tell(&g->it->told, (double)(atomic_fetch_add(&g->it->done, 1) + 1));
    return tal_state_copy(state, run->shown);
}

static tal_status read_columns(void *context, const tal_system *system, tal_state *state,
                               double results[])
{
    const group *const g = context;
    (void)system;
    return columns_read(&g->it->columns, g->model, state, results);
}

static int begin_motions(group *g)
{
    g->runs = cli_alloc((size_t)g->lanes, sizeof *g->runs);
    int code = CLI_OK;
    for (int lane = 0; lane < g->lanes && code == CLI_OK; ++lane) {
        cli_run *const run = &g->runs[lane];
        code = cli_run_create(g->it->args, g->model, &g->it->integrator, run);
        run->end = g->it->end;
        run->proceed = proceed;
    }
    return code;
}

static void end_motions(group *g)
{
    for (int lane = 0; lane < g->lanes; ++lane) {
        cli_run_destroy(&g->runs[lane]);
    }
    free(g->runs);
}

// The values of samples that are numbers of the State: [n][num_numbers], owned by the caller.
static double *take_numbers(const study *it, int begin, int n, int num_numbers)
{
    const size_t num = (size_t)it->range->num;
    double *const numbers = cli_alloc((size_t)n * (size_t)num_numbers, sizeof *numbers);
    double *at = numbers;
    for (int k = begin; k < begin + n; ++k) {
        for (size_t i = 0; i < num; ++i) {
            if (!it->is_param[i]) *at++ = it->values[(size_t)k * num + i];
        }
    }
    return numbers;
}

// Keep the reason why the lowest failed sample failed.
static void note_failure(study *it, int sample, const tal_error *why)
{
    while (atomic_flag_test_and_set(&it->busy)) {}
    if (it->failed < 0 || sample < it->failed) {
        it->failed = sample;
        it->why = *why;
    }
    atomic_flag_clear(&it->busy);
}

// tal_sweep counts samples from the beginning of the group; here they have their numbers in the
// table.
static void note_failures(study *it, int begin, int n, const tal_error *why)
{
    int k = 0;
    while (k < n && it->status[begin - it->first + k] == TAL_OK) {
        ++k;
    }
    if (k == n) return;
    tal_error err = *why;
    int skip = 0;
    (void)sscanf(why->message, "sample %*d: %n", &skip);
    snprintf(err.message, sizeof err.message, "%s", why->message + skip);
    note_failure(it, begin + k, &err);
}

// Simulate samples [begin, begin + n) of a group, which share one System.
static void run_samples(group *g, int begin, int n, const tal_executor *executor)
{
    study *const it = g->it;
    tal_sweep_def def = tal_sweep_def_default();
    def.parameters = g->numbers;
    def.num_parameters = g->num_numbers;
    def.num_outputs = it->num_columns;
    def.read = read_columns;
    def.run = simulate;
    def.context = g;
    def.lanes = g->lanes;
    def.executor = executor;
    tal_sweep *sweep = NULL;
    tal_error err = {0};
    double *const numbers = take_numbers(it, begin, n, g->num_numbers);
    if (tal_sweep_create(g->model->system, &def, &sweep, &err) != TAL_OK) {
        note_failure(it, begin, &err);
    } else {
        const int at = begin - it->first;
        const tal_status st =
            tal_sweep_run(sweep, g->model->state, numbers, n,
                          it->results + (size_t)at * (size_t)it->num_columns, it->status + at);
        if (st != TAL_OK || tal_sweep_error(sweep)->status != TAL_OK) {
            note_failures(it, begin, n, tal_sweep_error(sweep));
        }
    }
    tal_sweep_destroy(sweep);
    free(numbers);
}

// What columns depend on: the numbers of bodies, coordinates and so on.
static void find_shape(const cli_model *model, size_t shape[4])
{
    shape[0] = (size_t)tal_state_nq(model->state);
    shape[1] = (size_t)tal_state_nu(model->state);
    shape[2] = (size_t)tal_system_num_measures(model->system);
    shape[3] = tal_state_save_size(model->state);
}

static int check_shape(study *it, const cli_model *model, int sample)
{
    size_t shape[4];
    find_shape(model, shape);
    if (memcmp(shape, it->shape, sizeof shape) == 0) return CLI_OK;
    const tal_error err = {TAL_ERR_WRONG_SYSTEM, "check_shape",
                           "these values of <param>s change the structure of the model"};
    note_failure(it, sample, &err);
    return CLI_FAILED;
}

// One group, its samples in as many lanes as are asked for.
static void run_group(study *it, int number, int lanes, const tal_executor *executor)
{
    const int begin = it->groups[number], n = it->groups[number + 1] - begin;
    cli_model model = {0};
    group g = {.it = it, .model = &model, .lanes = lanes < n ? lanes : n};
    int code = cli_is_interrupted() ? CLI_FAILED : read_sample(it, begin, &model);
    if (code == CLI_OK) code = check_shape(it, &model, begin);
    for (int i = 0; i < it->range->num && code == CLI_OK; ++i) {
        if (it->is_param[i]) continue;
        if (find_number(&model, it->range->names[i], &g.numbers[g.num_numbers++])) continue;
        tal_error err = {TAL_ERR_BAD_NAME, "run_group", ""};
        snprintf(err.message, sizeof err.message,
                 "with these values of <param>s the model has no '%.60s'", it->range->names[i]);
        note_failure(it, begin, &err);
        code = CLI_FAILED;
    }
    if (code == CLI_OK) {
        code = begin_motions(&g);
        if (code == CLI_OK) run_samples(&g, begin, n, executor);
        end_motions(&g);
    }
    cli_model_destroy(&model);
}

static void do_group(void *work, int number)
{
    run_group(work, number, 1, NULL);
}

// Where the values of <param>s change in samples [first, end).
static void find_groups(study *it, int end)
{
    const int np = it->range->num;
    it->num_groups = 0;
    it->groups[0] = it->first;
    for (int k = it->first + 1; k < end; ++k) {
        const double *const now = it->values + (size_t)k * (size_t)np, *const before = now - np;
        bool same = true;
        for (int i = 0; i < np; ++i) {
            same = same && (!it->is_param[i] || now[i] == before[i]);
        }
        if (!same) it->groups[++it->num_groups] = k;
    }
    it->groups[++it->num_groups] = end;
}

// Rows of a batch of n, up to the last sample that was not cut short.
static tal_status add_rows(study *it, int n)
{
    const int np = it->range->num, nc = it->num_columns;
    if (cli_is_interrupted()) {
        while (n > 0 && it->status[n - 1] != TAL_OK) {
            --n;
        }
    }
    double *const row = cli_alloc((size_t)(np + nc), sizeof *row);
    tal_status st = TAL_OK;
    for (int k = 0; k < n && st == TAL_OK; ++k) {
        const size_t sample = (size_t)(it->first + k);
        memcpy(row, it->values + sample * (size_t)np, (size_t)np * sizeof *row);
        memcpy(row + np, it->results + (size_t)k * (size_t)nc, (size_t)nc * sizeof *row);
        it->num_finished += it->status[k] == TAL_OK;
        st = tal_table_add_row(it->table, row);
    }
    free(row);
    return st;
}

// Threads share the samples of a single group, or else the groups.
static tal_status run_batch(study *it, int n, int lanes, const tal_executor *executor)
{
    const size_t size = (size_t)n * (size_t)it->num_columns;
    for (size_t i = 0; i < size; ++i) {
        it->results[i] = (double)NAN;
    }
    for (int k = 0; k < n; ++k) {
        it->status[k] = TAL_RETRY; // not tried yet
    }
    find_groups(it, it->first + n);
    if (it->num_groups == 1) {
        run_group(it, 0, lanes, executor);
    } else {
        executor->run(executor->context, do_group, it, it->num_groups);
    }
    return add_rows(it, n);
}

// The first `num` samples, or fewer after an interrupt.
static int run_all(study *it, int num)
{
    const int lanes = cli_threads(it->args);
    tal_error err = {0};
    if (tal_threads_create(lanes, &it->threads, &err) != TAL_OK) {
        return cli_fail_with(it->args, CLI_FAILED, &err);
    }
    const tal_executor executor = tal_threads_executor(it->threads);
    tal_status st = TAL_OK;
    progress_begin(&it->told, it->args, "samples", false, 0.0, (double)num);
    for (it->first = 0; it->first < num && st == TAL_OK && !cli_is_interrupted();
         it->first += BATCH) {
        const int left = num - it->first;
        st = run_batch(it, left < BATCH ? left : BATCH, lanes, &executor);
    }
    progress_end(&it->told, (double)atomic_load(&it->done));
    tal_threads_destroy(it->threads);
    return st == TAL_OK ? CLI_OK : cli_fail_status(it->args, CLI_FAILED, st);
}

// The table with its columns and memory for all rows; an exit code.
static int make_table(study *it, const cli_model *model, int num)
{
    it->table = result_create(it->args, model);
    if (it->table == NULL) return CLI_FAILED;
    cli_run_warn_of_colliders(it->args, model);
    tal_status st = TAL_OK;
    for (int i = 0; i < it->range->num && st == TAL_OK; ++i) {
        // a coordinate may be varied and read
        const bool has_end = columns_find(&it->columns, it->range->names[i]);
        char *const name = cli_format("%s%s", it->range->names[i], has_end ? " at start" : "");
        st = tal_table_add_column(it->table, name);
        free(name);
    }
    if (st == TAL_OK) st = columns_name(&it->columns, it->table);
    if (st == TAL_OK) st = tal_table_reserve(it->table, num);
    return st == TAL_OK ? result_check_fit(it->args, it->table)
                        : cli_fail_status(it->args, CLI_FAILED, st);
}

static int write_results(study *it, int num)
{
    const int num_failed = num - it->num_finished;
    if (num_failed == 0) {
        const int code = result_write(it->args, it->table);
        if (code == CLI_OK) result_report(it->args, it->table);
        return code;
    }
    char why[64];
    snprintf(why, sizeof why, "%d of %d samples %s", num_failed, num,
             cli_is_interrupted() ? "were interrupted" : "failed");
    if (it->failed >= 0 && !cli_is_interrupted()) {
        (void)cli_fail(it->args, CLI_FAILED, "row %d: %s", it->failed + 1, it->why.message);
    }
    (void)cli_fail(it->args, CLI_FAILED, "%s.", why);
    return result_write_part(it->args, it->table, why);
}

// The whole sweep: names, table, samples, result. An exit code.
static int run_sweep(study *it)
{
    cli_model first = {0};
    int code = cli_model_read(it->args, it->args->files[0], NULL, 0, &first);
    if (code == CLI_OK) {
        const char *const list = cli_text(it->args, "columns");
        code = columns_choose(it->args, &first, list, false, &it->columns);
    }
    if (code == CLI_OK) code = sort_names(it, &first);
    const int only = it->args->only_rows, all = it->num_samples;
    const int num = only > 0 && only < all ? only : all;
    if (code == CLI_OK) code = make_table(it, &first, num);
    if (code == CLI_OK) {
        find_shape(&first, it->shape);
        it->num_columns = it->columns.num;
        it->results = cli_alloc((size_t)BATCH * (size_t)it->num_columns, sizeof *it->results);
        it->status = cli_alloc(BATCH, sizeof *it->status);
        it->groups = cli_alloc(BATCH + 1, sizeof *it->groups);
        code = run_all(it, num);
        if (code == CLI_OK) code = write_results(it, num);
    }
    tal_table_destroy(it->table);
    free(it->results);
    free(it->status);
    free(it->groups);
    columns_destroy(&it->columns);
    cli_model_destroy(&first);
    return code;
}

int cmd_sweep(const cli_args *args)
{
    ranges range;
    study it = {.args = args, .range = &range, .end = cli_number(args, "end")};
    int code = cli_integrator_def(args, &it.integrator);
    if (code == CLI_OK) code = result_check_out(args, false);
    if (code != CLI_OK) return code;
    atomic_flag_clear(&it.busy);
    it.failed = -1;
    double *values = NULL;
    code = read_range(args, &range);
    if (code == CLI_OK) {
        values = make_values(args, &range, &it.num_samples);
        it.values = values;
        code = values != NULL ? run_sweep(&it) : CLI_USAGE;
    }
    for (int i = 0; i < range.num; ++i) {
        free(range.names[i]);
    }
    free(values);
    return code;
}
