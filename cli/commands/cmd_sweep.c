// talus sweep: a model for many values of what it is made of. A <param> may be anything, also
// something that only a System holds, so the model is read for each of its values; what the State
// holds is varied without. Samples know nothing of each other: they are a batch, whose results do
// not depend on the number of threads, and which can go on where it was killed (--resume).
#include "command_line/team.h"
#include "commands/commands.h"
#include "model/integrators.h"
#include "model/vary.h"
#include "model/verdict.h"
#include "table/columns.h"
#include "table/result.h"
#include "text/progress.h"
#include "text/stream.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    READ_AT_ONCE = 4096, // samples
    REASONS = 5          // of failures that are printed
};

// The whole study.
typedef struct study {
    cli_args args; // as they were given
    cli_vary vary;
    cli_choices choices; // of --among; without it there are none, and samples are not compared
    bool is_shared;      // chunks come from the counter of a team
    int num;             // samples
    int num_values;      // that a row begins with
    int num_results;     // that follow
    cli_columns columns;
    sampler_def def;
    sampler *samplers;       // [num_threads]
    comparison *comparisons; // [num_threads]; NULL: none
    verdict *verdicts;       // [num_choices]; NULL: none
    double doubt;            // the largest of all references
    int num_threads;
    tal_batch *batch;
    tal_table *table;
    int before;      // samples that were done before
    atomic_int done; // since then
    progress told;
    int num_failed, num_missing; // rows without results: failed, not done
} study;

// How many samples are done by all, once these are.
static int count_done(study *it, int more)
{
    const cli_team *const team = it->args.team;
    if (team != NULL) return team->count(team->context, more);
    return atomic_fetch_add(&it->done, more) + more;
}

// What the batch calls, on any thread.
static tal_status run_chunk(void *context, int index, int first, int n, double results[],
                            tal_status status[], tal_error why[])
{
    study *const it = context;
    const size_t size = (size_t)it->num_results;
    for (int k = 0; k < n;) {
        double *const row = results + (size_t)k * size;
        const int num =
            it->comparisons != NULL
                ? comparison_run(&it->comparisons[index], first + k, row, status + k, why + k)
                : sampler_run(&it->samplers[index], first + k, n - k, row, status + k, why + k);
        if (num == 0) return TAL_RETRY;
        k += num;
        (void)progress_tell(&it->told, it->before + count_done(it, num));
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

// Is what is done kept in a directory? A team has no other place to put it.
static bool is_kept(const study *it)
{
    return cli_flag(&it->args, "resume") || !team_is_alone(&it->args);
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

// Samples of a chunk: enough to fill lanes with where there are many, and so few that a kill costs
// little. The same on every machine.
static int choose_chunk(const study *it)
{
    const int share = it->num / 128 / 16 * 16 + 16; // lanes are 4 or 8
    if (it->num < 64 || it->choices.num > 0) return 1;
    return share > 512 ? 512 : share;
}

// In memory, or with --resume in a directory beside the result, which a team shares. An exit code.
static int make_batch(study *it)
{
    const cli_args *const args = &it->args;
    tal_batch_def def = tal_batch_def_default();
    def.num_samples = it->num;
    def.row_size = it->num_results;
    def.chunk = choose_chunk(it);
    const char *const out = stream_out_path(args);
    const bool resumes = is_kept(it);
    int code = read_shard(args, &def);
    if (code != CLI_OK) return code;
    if (it->is_shared) {
        def.next = args->team->next;
        def.context = args->team->context;
    }
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

// The batch of a team: the first process makes the directory, before the others look into it.
static int make_shared_batch(study *it)
{
    it->is_shared = !team_is_alone(&it->args);
    int code = team_is_first(&it->args) ? make_batch(it) : CLI_OK;
    if (!it->is_shared) return code;
    code = team_agree(&it->args, code);
    if (code == CLI_OK && !team_is_first(&it->args)) code = make_batch(it);
    return team_agree(&it->args, code);
}

// Do what is not done. An exit code.
static int run_batch(study *it)
{
    tal_threads *threads = NULL;
    tal_error err = {0};
    if (tal_threads_create(it->num_threads, &threads, &err) != TAL_OK) {
        return cli_fail_with(&it->args, CLI_FAILED, &err);
    }
    const tal_executor executor = tal_threads_executor(threads);
    cli_args told = it->args;
    if (!team_is_first(&it->args)) cli_set_flag(&told, "quiet");
    it->before = tal_batch_num_done(it->batch);
    atomic_store(&it->done, 0);
    progress_begin(&it->told, &told, "samples", false, (double)it->before, (double)it->num);
    const tal_status st = tal_batch_go(it->batch, run_chunk, it, it->num_threads, &executor);
    tal_threads_destroy(threads);
    const bool is_done = st == TAL_OK || st == TAL_RETRY;
    const int code =
        is_done ? CLI_OK : cli_fail_with(&it->args, CLI_FAILED, tal_batch_error(it->batch));
    const int agreed = it->is_shared ? team_agree(&it->args, code) : code;
    progress_end(&it->told, (double)(it->before + count_done(it, 0)));
    return agreed;
}

// What a team has done, as the first process sees it; what others did not do, it does itself.
static int take_over(study *it)
{
    tal_batch_destroy(it->batch);
    it->batch = NULL;
    it->is_shared = false;
    int code = make_batch(it);
    if (code != CLI_OK || cli_is_interrupted()) return code;
    if (tal_batch_num_done(it->batch) == it->num || cli_is_given(&it->args, "shard")) return CLI_OK;
    cli_warn(&it->args, "not all processes see '%s': the first one does what is missing.",
             cli_text(&it->args, "out"));
    return run_batch(it);
}

// How samples were run, by all threads of all processes.
static void tell_use(const study *it)
{
    sampler_use use = sampler_use_of(it->samplers, it->num_threads);
    double numbers[] = {use.in_lanes, use.alone, use.used};
    team_add_up(&it->args, numbers, 3);
    use.in_lanes = numbers[0];
    use.alone = numbers[1];
    use.used = numbers[2];
    const bool is_told = !cli_flag(&it->args, "quiet") && it->comparisons == NULL;
    if (is_told && team_is_first(&it->args)) sampler_tell(&use);
}

// --- the table ---

// Columns for what is varied and for what is chosen.
static tal_status name_values(const study *it)
{
    tal_status st = TAL_OK;
    for (int i = 0; i < it->num_values && st == TAL_OK; ++i) {
        const int num_varied = it->num_values - it->choices.num;
        const char *const own =
            i < num_varied ? it->vary.names[i] : it->choices.sets[i - num_varied].name;
        // a coordinate may be varied and read
        char *const name =
            cli_format("%s%s", own, columns_find(&it->columns, own) ? " at start" : "");
        st = tal_table_add_column(it->table, name);
        free(name);
    }
    return st;
}

// The table with its columns and memory for all rows; an exit code.
static int make_table(study *it, const cli_model *model)
{
    it->table = result_create(&it->args, model);
    if (it->table == NULL) return CLI_FAILED;
    cli_run_warn_of_colliders(&it->args, model);
    tal_status st = name_values(it);
    if (st == TAL_OK) st = columns_name(&it->columns, it->table);
    for (int i = 0; i < it->num_results - it->columns.num && st == TAL_OK; ++i) {
        st = tal_table_add_column(it->table, comparison_names[i]);
    }
    if (st == TAL_OK) st = tal_table_reserve(it->table, it->num);
    return st == TAL_OK ? result_check_fit(&it->args, it->table)
                        : cli_fail_status(&it->args, CLI_FAILED, st);
}

// What a sample was made of.
static tal_status read_values(const study *it, int sample, double values[])
{
    if (it->choices.num == 0) return tal_design_sample(&it->vary.design, sample, values);
    const cli_choices *const choices = &it->choices;
    const int num_varied = it->num_values - choices->num;
    const tal_status st =
        tal_design_sample(&it->vary.design, sample / choices->num_choices, values);
    for (int i = 0; i < choices->num; ++i) {
        values[num_varied + i] =
            choices_value(choices, &choices->sets[i], sample % choices->num_choices);
    }
    return st;
}

static tal_status add_row(study *it, int sample, tal_status status, const double results[],
                          double row[])
{
    const tal_status st = read_values(it, sample, row);
    memcpy(row + it->num_values, results, (size_t)it->num_results * sizeof *row);
    if (it->verdicts != NULL) {
        const double *const numbers = results + it->columns.num;
        const double doubt = numbers[COMPARISON_REFERENCE_ERROR];
        verdict_add(&it->verdicts[sample % it->choices.num_choices], status, numbers);
        if (doubt > it->doubt) it->doubt = doubt;
    }
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
    double *const row = cli_alloc((size_t)(it->num_values + it->num_results), sizeof *row);
    tal_status st = tal_batch_read(it->batch, first, n, results, status, why);
    if (st == TAL_RETRY) st = TAL_OK; // rows that are not done are NaN
    for (int k = 0; k < n && st == TAL_OK; ++k) {
        tell_failure(it, first + k, status[k], &why[k]);
        st = add_row(it, first + k, status[k], results + (size_t)k * (size_t)it->num_results, row);
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
        cli_alloc((size_t)READ_AT_ONCE * (size_t)it->num_results, sizeof *results);
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

// What was found of the choices. An exit code.
static int tell_choices(study *it)
{
    const double tolerance = cli_number(&it->args, "choose");
    if (it->doubt > 0.1 * tolerance) {
        cli_warn(&it->args,
                 "the reference changes by %.2g with ten times its accuracy: errors below that "
                 "say nothing; try another --reference.",
                 it->doubt);
    }
    verdicts_end(it->verdicts, &it->choices, it->comparisons, it->num_threads);
    return verdicts_report(&it->args, &it->choices, it->verdicts, tolerance);
}

// A table that is complete. Where choices are compared, what is printed is what was found.
static int write_all(study *it)
{
    const bool is_compared = it->verdicts != NULL;
    int code = CLI_OK;
    if (!is_compared || result_is_wanted(&it->args)) code = result_write(&it->args, it->table);
    if (code == CLI_OK && !is_compared) result_report(&it->args, it->table);
    return code == CLI_OK && is_compared ? tell_choices(it) : code;
}

static int write_results(study *it)
{
    int code = fill_table(it);
    if (code != CLI_OK) return code;
    // a choice that fails is a result, too
    if (it->num_missing == 0 && (it->num_failed == 0 || it->verdicts != NULL)) return write_all(it);
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
    if (!is_kept(it)) return write_results(it);
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

// Coordinates that choices change cannot be compared.
static int check_columns(const study *it)
{
    for (int i = 0; i < it->columns.num && choices_change_coordinates(&it->choices); ++i) {
        if (it->columns.list[i].kind != COLUMN_Q) continue;
        return cli_fail(&it->args, CLI_USAGE,
                        "--among angles changes which coordinates there are: name --columns "
                        "without '%s', such as u or poses.",
                        it->columns.list[i].name);
    }
    return CLI_OK;
}

// Names, columns and table from the model as it is in the file. An exit code.
static int prepare(study *it)
{
    cli_model first = {0};
    int code = cli_model_read(&it->args, it->args.files[0], NULL, 0, &first);
    if (code == CLI_OK) {
        const char *const list = cli_text(&it->args, "columns");
        code = columns_choose(&it->args, &first, list, false, &it->columns);
    }
    it->num_values = it->vary.num + it->choices.num;
    it->num_results = it->columns.num + (it->choices.num > 0 ? COMPARISON_NUM : 0);
    if (code == CLI_OK) code = choices_sort(&it->args, &first, &it->vary, &it->choices);
    if (code == CLI_OK) code = check_columns(it);
    if (code == CLI_OK) code = make_table(it, &first);
    if (code == CLI_OK) it->def.shape = vary_shape_of(&first);
    cli_model_destroy(&first);
    return code;
}

// What each thread works with.
static void make_tools(study *it)
{
    const size_t n = (size_t)it->num_threads;
    const bool is_compared = it->choices.num > 0;
    it->samplers = cli_alloc(n, sizeof *it->samplers);
    if (is_compared) it->comparisons = cli_alloc(n, sizeof *it->comparisons);
    if (is_compared) it->verdicts = verdicts_create(&it->choices);
    for (int i = 0; i < it->num_threads; ++i) {
        sampler_begin(&it->samplers[i], &it->def);
        if (is_compared) comparison_begin(&it->comparisons[i], &it->samplers[i], &it->choices);
    }
}

static void drop_tools(const study *it)
{
    for (int i = 0; i < it->num_threads && it->samplers != NULL; ++i) {
        if (it->comparisons != NULL) comparison_end(&it->comparisons[i]);
        sampler_end(&it->samplers[i]);
    }
    free(it->verdicts);
    free(it->comparisons);
    free(it->samplers);
}

// All of a study: tools, the batch, the table. An exit code.
static int run_sweep(study *it)
{
    const int only = it->args.only_rows;
    const int most = INT_MAX / it->choices.num_choices;
    if (it->vary.design.num_samples > most) {
        return cli_fail(&it->args, CLI_USAGE, "there would be too many samples.");
    }
    const int all = it->vary.design.num_samples * it->choices.num_choices;
    it->num = only > 0 && only < all ? only : all;
    int code = team_agree(&it->args, prepare(it));
    if (code == CLI_OK) code = make_shared_batch(it);
    if (code == CLI_OK) {
        it->num_threads = cli_threads(&it->args);
        make_tools(it);
        code = run_batch(it);
        if (code == CLI_OK) tell_use(it);
        if (code == CLI_OK && team_is_first(&it->args)) {
            if (!team_is_alone(&it->args)) code = take_over(it);
            if (code == CLI_OK) code = finish(it);
        }
    }
    drop_tools(it);
    tal_batch_destroy(it->batch);
    tal_table_destroy(it->table);
    columns_destroy(&it->columns);
    return code;
}

// --choose needs something to choose from, and errors need time to grow.
static int check_choices(const study *it)
{
    const cli_args *const args = &it->args;
    if (it->choices.num == 0 && cli_is_given(args, "choose")) {
        return cli_fail(args, CLI_USAGE,
                        "--choose needs --among, as --among integrator=merson,dormand-prince.");
    }
    if (it->choices.num > 0 && cli_number(args, "step") != 0.0) {
        return cli_fail(args, CLI_USAGE, "--among step=%s says so here, not --step.",
                        cli_text(args, "step"));
    }
    return CLI_OK;
}

// What the command line asks for; then the study.
static int run(const cli_args *args)
{
    study it = {.args = *args};
    it.def = (sampler_def){.args = *args,
                           .vary = &it.vary,
                           .columns = &it.columns,
                           .end = cli_number(args, "end"),
                           .width = cli_count(args, "width")};
    cli_set_flag(&it.def.args, "quiet");
    int code = cli_integrator_def(args, &it.def.integrator);
    if (code == CLI_OK) code = result_check_out(args, false);
    if (code == CLI_OK && !team_is_alone(args) && stream_out_path(args) == NULL) {
        code = cli_fail(args, CLI_USAGE, "several processes need -o FILE, beside which they work.");
    }
    code = team_agree(args, code);
    if (code != CLI_OK) return code;
    code = choices_read(args, &it.def.integrator, &it.choices);
    if (code == CLI_OK) code = check_choices(&it);
    if (code == CLI_OK) code = vary_read(args, &it.vary);
    code = team_agree(args, code);
    if (code == CLI_OK) code = run_sweep(&it);
    vary_free(&it.vary);
    choices_free(&it.choices);
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
    {.name = "among",
     .kind = CLI_LIST,
     .value = "NAME=VALUES",
     .help =
         "compare choices with a reference: integrator, accuracy, step, angles, FORCE.enabled, CONSTRAINT.enabled, or anything that can be varied; values with commas between them, or LOW:HIGH:COUNT; if repeated, all combinations are run",
     .is_setting = true},
    {.name = "choose",
     .kind = CLI_POSITIVE,
     .value = "ERROR",
     .help = "with --among: name the choice with the fewest evaluations whose error is at most "
             "this"},
    {.name = "reference",
     .kind = CLI_TEXT,
     .value = "INTEGRATOR",
     .help =
         "with --among: the method of the reference, which has accuracy 1e-12 (cvode-bdf and ida: "
         "1e-10) and the model as it is in the file; if not given, verner-8",
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
    {.name = "width",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "0",
     .help = "step at most so many samples side by side: 8, 4 or 1; 0: as many as the processor "
             "can. Results do not depend on it"},
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
        "--vary changes fastest. With --among, each row is also compared with a reference: the error is the largest "
        "difference of a column, at 16 times along the run, divided by the reference's value where that is above 1. "
        "A table that is written has an integrator as its number in the list of 'talus help integrators', from 0. --choose counts evaluations of accelerations, which do not depend on the machine.",
    .common = MOTION_OPTIONS | CLI_RESULT | CLI_RESUME | CLI_SEED | CLI_THREADS,
    .options = options,
    .example = "talus sweep pendulum.talus --vary half=0.4:0.6:5 --end 2",
    .example_help = "five lengths",
    .run = run};
