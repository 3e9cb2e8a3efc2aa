// talus run: a tool of OpenSim, from its set-up file.
#include "commands/commands.h"
#include "commands/set_up.h"
#include "model/model.h"
#include "table/result.h"
#include "text/progress.h"
#include "text/report.h"
#include "text/stream.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Properties of the tool from --property; the names are owned.
static int read_settings(const cli_args *args, tal_osim_setting settings[], int n,
                         const char *const sets[])
{
    for (int i = 0; i < n; ++i) {
        const char *value = NULL;
        settings[i].name = cli_split(sets[i], &value);
        settings[i].value = value;
        if (settings[i].name == NULL) {
            return cli_fail(args, CLI_USAGE, "--property needs NAME=VALUE, not '%s'.", sets[i]);
        }
    }
    return CLI_OK;
}

// Rows as they are counted, from any thread: how many there will be is known with the first one.
typedef struct telling {
    progress told; // in parts of a hundred
    atomic_int num_done;
} telling;

static bool tell(void *context, int done, int total)
{
    telling *const it = context;
    atomic_store(&it->num_done, done);
    return progress_tell(&it->told, total > 0 ? 100.0 * done / total : 100.0);
}

// How many rows there were in the end, and how long they took.
static void end_telling(telling *it)
{
    it->told.unit = "rows";
    progress_end(&it->told, (double)atomic_load(&it->num_done));
}

// The folder of a path, and those above it, exist afterwards.
static int make_folders(const cli_args *args, const char *path)
{
    char *const folder = cli_copy(path);
    int code = CLI_OK;
    for (char *at = strchr(folder + 1, '/'); at != NULL && code == CLI_OK;
         at = strchr(at + 1, '/')) {
        *at = 0;
        if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
            code = cli_fail(args, CLI_BAD_FILE, "the folder %s cannot be made.", folder);
        }
        *at = '/';
    }
    free(folder);
    return code;
}

// Where a result goes: into the folder of --out, or else where the set-up says.
static char *place_of(const cli_args *args, const char *path)
{
    const char *const folder = cli_text(args, "out");
    const char *const slash = strrchr(path, '/');
    return folder != NULL ? cli_format("%s/%s", folder, slash != NULL ? slash + 1 : path)
                          : cli_copy(path);
}

static void print_report(const cli_args *args, const tal_osim_results *results)
{
    static const char *const columns[] = {"result", "rows", "columns"};
    report r;
    report_begin(&r, args);
    report_table(&r, "results", columns, 3);
    for (int i = 0; i < tal_osim_results_num(results); ++i) {
        const tal_table *const table = tal_osim_results_table(results, i);
        char *const path = place_of(args, tal_osim_results_path(results, i));
        report_cell_text(&r, path);
        report_cell_count(&r, table != NULL ? tal_table_num_rows(table) : 0); // 0: a text
        report_cell_count(&r, table != NULL ? tal_table_num_columns(table) : 0);
        free(path);
    }
    report_end_table(&r);
    report_end(&r);
}

// Write a result that is no table: a model, a set of controls.
static int write_text(const cli_args *args, const tal_osim_results *results, int i,
                      const char *path)
{
    size_t size = 0;
    tal_error err = {0};
    const char *const text = tal_osim_results_text(results, i, &size);
    const tal_status st = tal_file_write(path, text, size, &err);
    return st == TAL_OK ? CLI_OK : cli_fail_with(args, CLI_BAD_FILE, &err);
}

// Write each table with a header that says how it was made.
static int write_results(const cli_args *args, const cli_model *model,
                         const tal_osim_results *results)
{
    int code = CLI_OK;
    for (int i = 0; i < tal_osim_results_num(results) && code == CLI_OK; ++i) {
        tal_table *const table = tal_osim_results_table(results, i);
        char *const path = place_of(args, tal_osim_results_path(results, i));
        tal_error err = {0};
        if (table != NULL) code = result_record(args, model, table);
        // talus rerun compares the first
        if (table != NULL && i > 0) (void)tal_table_set_header(table, RESULT_COMMAND, NULL);
        if (code == CLI_OK && args->take != NULL) {
            code = args->take(args->taker, table);
            free(path);
            return code;
        }
        if (code == CLI_OK) code = make_folders(args, path);
        if (code == CLI_OK && table == NULL) {
            code = write_text(args, results, i, path);
        } else if (code == CLI_OK && tal_table_write_file(table, path, &err) != TAL_OK) {
            code = cli_fail_with(args, CLI_BAD_FILE, &err);
        }
        if (code == CLI_OK && !cli_flag(args, "quiet") && !cli_flag(args, "json")) {
            printf("%s\n", path);
        }
        free(path);
    }
    if (code == CLI_OK && cli_flag(args, "json")) print_report(args, results);
    return code;
}

// The set-up as a file. What comes from standard input is kept beside where the program runs, where
// the paths in it begin; the caller removes it. NULL, and a sentence, on failure; owned.
static char *file_of_setup(const cli_args *args)
{
    const char *const path = args->files[0];
    if (!stream_is_input(path)) return cli_copy(path);
    if (stream_input(args, path) == NULL) return NULL;
    size_t size = 0;
    char *const bytes = stream_read(&size);
    char *const kept = cli_copy("set-up-XXXXXX.xml");
    tal_error err = {0};
    const int file = mkstemps(kept, 4);
    bool is_kept = file >= 0 && close(file) == 0;
    is_kept = is_kept && tal_file_write(kept, bytes, size, &err) == TAL_OK;
    free(bytes);
    if (is_kept) return kept;
    (void)cli_fail(args, CLI_BAD_FILE, "the set-up cannot be stored in this folder: %s.",
                   strerror(errno));
    free(kept);
    return NULL;
}

// Run the tool, print what is wrong, write the results.
static int run_with(const cli_args *args, const char *setup, const char *text,
                    tal_osim_run_options options)
{
    tal_threads *threads = NULL;
    tal_error err = {0};
    options.lanes = cli_threads(args);
    if (tal_threads_create(options.lanes, &threads, &err) != TAL_OK) {
        return cli_fail_with(args, CLI_FAILED, &err);
    }
    const tal_executor executor = tal_threads_executor(threads);
    telling told = {.num_done = 0};
    options.executor = &executor;
    options.progress = tell;
    options.context = &told;
    tal_osim_results *results = NULL;
    tal_diagnostics *const found = cli_need(tal_diagnostics_create(NULL));
    progress_begin(&told.told, args, "%", false, 0.0, 100.0);
    const tal_status st =
        text != NULL ? tal_osim_run_memory(setup, text, strlen(text), &options, &results, found)
                     : tal_osim_run_file(setup, &options, &results, found);
    end_telling(&told);
    cli_print_diagnostics(args, found);
    cli_model model = {0};
    int code = st == TAL_OK || st == TAL_ERR_CALLBACK ? CLI_OK
               : st == TAL_ERR_BAD_VALUE              ? CLI_USAGE // of --start
                                                      : CLI_BAD_FILE;
    if (code == CLI_OK) {
        code = cli_model_read(args, tal_osim_results_model(results), NULL, 0, &model);
        if (code == CLI_OK) code = write_results(args, &model, results);
        cli_model_destroy(&model);
    }
    if (st == TAL_ERR_CALLBACK) code = cli_fail(args, CLI_FAILED, "interrupted.");
    if (st == TAL_ERR_NO_MEMORY) code = cli_fail_status(args, code, st);
    tal_osim_results_destroy(results);
    tal_threads_destroy(threads);
    return code;
}

// What every command on a model has and a tool cannot have.
static int check_options(const cli_args *args)
{
    const char *const out = cli_text(args, "out");
    if (cli_is_given(args, "set")) {
        return cli_fail(args, CLI_USAGE,
                        "--set: an .osim file has no params; --property is for what the set-up "
                        "says, --start for where coordinates begin.");
    }
    if (out == NULL || strcmp(out, "-") != 0) return CLI_OK;
    return cli_fail(args, CLI_USAGE, "-o is a folder here: a tool writes several tables.");
}

int set_up_run(const cli_args *args, const char *name, const char *text)
{
    const char *const *sets = NULL;
    const int n = cli_list(args, "property", &sets);
    int code = check_options(args);
    if (code != CLI_OK) return code;
    tal_osim_setting *const settings = cli_alloc((size_t)n, sizeof *settings);
    cli_params starts;
    code = cli_params_read(args, "start", NULL, 0, &starts);
    if (code == CLI_OK) code = read_settings(args, settings, n, sets);
    tal_osim_run_options options = tal_osim_run_options_default();
    options.settings = settings;
    options.num_settings = n;
    options.starts = starts.list;
    options.num_starts = starts.num;
    if (code == CLI_OK) code = run_with(args, name, text, options);
    cli_params_free(&starts);
    for (int i = 0; i < n; ++i) {
        free((char *)settings[i].name);
    }
    free(settings);
    return code;
}

static int run(const cli_args *args)
{
    char *const setup = file_of_setup(args);
    const int code = setup != NULL ? set_up_run(args, setup, NULL) : CLI_BAD_FILE;
    if (setup != NULL && stream_is_input(args->files[0])) (void)remove(setup);
    free(setup);
    return code;
}

static const cli_option options[] = {
    {.name = "property",
     .letter = 'p',
     .kind = CLI_LIST,
     .value = "NAME=VALUE",
     .help = "give a property of the tool another value; can be repeated",
     .is_setting = true},
    {.name = "out",
     .letter = 'o',
     .kind = CLI_TEXT,
     .value = "FOLDER",
     .help = "write the results into this folder instead of the one that the set-up names"},
    {0}};

const cli_command cmd_run = {
    .name = "run",
    .group = CLI_OPENSIM,
    .files = "SETUP",
    .min_files = 1,
    .max_files = 1,
    .summary = "run a tool of OpenSim",
    .about =
        "SETUP is a set-up file of OpenSim's ScaleTool, InverseKinematicsTool, IMUPlacer, "
        "IMUInverseKinematicsTool, InverseDynamicsTool, AnalyzeTool, ForwardTool, CMCTool or RRATool. "
        "The results have the names and columns that OpenSim gives them. --start replaces the default "
        "value of a coordinate.",
    .common = CLI_JSON | CLI_QUIET | CLI_THREADS | CLI_RESULT | CLI_AGAIN | CLI_SET | CLI_START,
    .options = options,
    .example = "talus run setup_ik.xml -p model_file=leg.osim -o results",
    .example_help = "angles from markers",
    .run = run};
