// talus rerun: repeat the run that a result came from, and compare every bit.
#include "commands/commands.h"
#include "model/model.h"
#include "table/result.h"
#include "text/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A command line under construction.
typedef struct line {
    char **words; // [num] owned, as they are
    int num;
} line;

// Add a word, which is the line's from then on.
static void add_word(line *it, char *word)
{
    it->words = cli_resize(it->words, (size_t)it->num + 1, sizeof *it->words);
    it->words[it->num++] = word;
}

static void free_line(line *it)
{
    for (int i = 0; i < it->num; ++i) {
        free(it->words[i]);
    }
    free(it->words);
}

static void add_option(line *it, const cli_option *option, char *value)
{
    add_word(it, option->kind == CLI_FLAG ? cli_format("--%s", option->name)
                                          : cli_format("--%s=%s", option->name, value));
    free(value);
}

static void add_options(line *it, const cli_command *command, const tal_table *result)
{
    const cli_option *options[CLI_MAX_OPTIONS];
    const int n = cli_options_of(command, options);
    for (int i = 0; i < n; ++i) {
        const cli_option *const o = options[i];
        char key[96];
        if (!o->is_setting) continue;
        snprintf(key, sizeof key, RESULT_OPTION "_%s", o->name);
        char *value = result_value(result, key);
        if (o->kind != CLI_LIST && value != NULL) add_option(it, o, value);
        for (int k = 1; o->kind == CLI_LIST && k <= CLI_MAX_OPTIONS; ++k) {
            snprintf(key, sizeof key, RESULT_OPTION "_%s_%d", o->name, k);
            value = result_value(result, key);
            if (value == NULL) break;
            add_option(it, o, value);
        }
    }
}

// A file as it was named, or as it is named from the folder of the result.
static void add_file(line *it, char *path, const char *result)
{
    const char *const slash = strrchr(result, '/');
    if (path[0] == '/' || slash == NULL || access(path, R_OK) == 0) {
        add_word(it, path);
    } else {
        add_word(it, cli_format("%.*s/%s", (int)(slash - result), result, path));
        free(path);
    }
}

static void add_files(line *it, const cli_args *args, const tal_table *result)
{
    const char *const model = cli_text(args, "model");
    for (int k = 1; k <= CLI_MAX_ARGS; ++k) {
        char key[32];
        snprintf(key, sizeof key, RESULT_FILE "_%d", k);
        char *const path = result_value(result, key);
        if (path == NULL) break;
        if (k == 1 && model != NULL) {
            add_word(it, cli_copy(model));
            free(path);
        } else {
            add_file(it, path, args->files[0]);
        }
    }
}

static bool is_same(double a, double b)
{
    uint64_t bits_a, bits_b; // 0 and -0 are not the same
    memcpy(&bits_a, &a, sizeof a);
    memcpy(&bits_b, &b, sizeof b);
    return bits_a == bits_b || (isnan(a) && isnan(b));
}

static bool has_same_columns(const tal_table *a, const tal_table *b)
{
    if (tal_table_num_columns(a) != tal_table_num_columns(b)) return false;
    for (int c = 0; c < tal_table_num_columns(a); ++c) {
        if (strcmp(tal_table_column_name(a, c), tal_table_column_name(b, c)) != 0) return false;
    }
    return true;
}

// Of a result that is not complete the last row is where it was cut.
static int num_good_rows(const tal_table *result)
{
    const int rows = tal_table_num_rows(result);
    return tal_table_header(result, RESULT_INCOMPLETE) != NULL && rows > 0 ? rows - 1 : rows;
}

static double time_of_cut(const tal_table *result)
{
    const int rows = tal_table_num_rows(result);
    return rows > 0 ? tal_table_value(result, rows - 1, 0) : 0.0;
}

// Compare; of a result that is not complete only what is there.
static int compare(const cli_args *args, const tal_table *old, const tal_table *repeated)
{
    const bool is_part = tal_table_header(old, RESULT_INCOMPLETE) != NULL;
    const int rows = num_good_rows(old);
    if (!has_same_columns(old, repeated)) {
        return cli_fail(args, CLI_FAILED, "the columns differ.");
    }
    if (rows > tal_table_num_rows(repeated) || (!is_part && rows != tal_table_num_rows(repeated))) {
        return cli_fail(args, CLI_FAILED, "there are %d rows instead of %d.",
                        tal_table_num_rows(repeated), rows);
    }
    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < tal_table_num_columns(old); ++c) {
            const double a = tal_table_value(old, r, c), b = tal_table_value(repeated, r, c);
            if (is_same(a, b) || (is_part && isnan(a))) continue;
            char was[TAL_NUMBER_SIZE], is[TAL_NUMBER_SIZE];
            (void)tal_number_write(a, was);
            (void)tal_number_write(b, is);
            return cli_fail(args, CLI_FAILED, "row %d, column '%s' is %s instead of %s.", r + 1,
                            tal_table_column_name(old, c), is, was);
        }
    }
    if (cli_flag(args, "json")) {
        report r;
        report_begin(&r, args);
        report_text(&r, "result", "the same, bit for bit");
        report_count(&r, "rows", rows);
        report_count(&r, "columns", tal_table_num_columns(old));
        if (is_part) report_text(&r, "incomplete", tal_table_header(old, RESULT_INCOMPLETE));
        report_end(&r);
    } else if (!cli_flag(args, "quiet")) {
        printf("the same, bit for bit: %d rows, %d columns\n", rows, tal_table_num_columns(old));
        if (is_part) {
            printf("the result is not complete: %s\n", tal_table_header(old, RESULT_INCOMPLETE));
        }
    }
    return CLI_OK;
}

// Report what may cause differences.
static void compare_headers(const cli_args *args, const tal_table *old, const tal_table *repeated)
{
    static const char *const keys[] = {RESULT_VERSION, RESULT_GIT, RESULT_KERNELS,
                                       RESULT_MODEL_HASH};
    static const char *const names[] = {"version", "commit", "set of kernels", "hash of the model"};
    for (int i = 0; i < 4; ++i) {
        const char *const a = tal_table_header(old, keys[i]);
        const char *const b = tal_table_header(repeated, keys[i]);
        if (a == NULL || b == NULL || strcmp(a, b) == 0) continue;
        cli_warn(args, "the %s was %s and is now %s.", names[i], a, b);
    }
}

// An old result, and what becomes of the new one.
typedef struct comparison {
    const cli_args *args;
    const tal_table *old;
    bool is_same;
} comparison;

// As it is read back from a file, so that both have the digits of the file.
static tal_status write_and_read(const tal_table *table, tal_table **out, tal_diagnostics *found)
{
    const bool has_time = strcmp(tal_table_column_name(table, 0), "time") == 0;
    const tal_table_format format = has_time ? TAL_TABLE_STO : TAL_TABLE_CSV;
    size_t size = 0;
    tal_error err = {0};
    tal_status st = tal_table_write_memory(table, format, NULL, 0, &size, &err);
    char *const text = cli_alloc(size + 1, 1);
    if (st == TAL_OK) st = tal_table_write_memory(table, format, text, size, &size, &err);
    if (st != TAL_OK) tal_diagnostics_add(found, TAL_ERROR, NULL, 0, 0, "%s", err.message);
    if (st == TAL_OK) {
        tal_table_options options = tal_table_options_default();
        if (size > options.max_bytes) options.max_bytes = size;
        st = tal_table_read_memory(format, "the new result", text, size, &options, out, found);
    }
    free(text);
    return st;
}

// What the command that runs repeated calls with its result.
static int take_result(void *taker, const tal_table *result)
{
    comparison *const it = taker;
    tal_diagnostics *const found = cli_need(tal_diagnostics_create(NULL));
    tal_table *repeated = NULL;
    const tal_status st = write_and_read(result, &repeated, found);
    cli_print_diagnostics(it->args, found);
    int code = CLI_FAILED;
    if (st == TAL_OK) {
        compare_headers(it->args, it->old, repeated);
        code = compare(it->args, it->old, repeated);
        it->is_same = code == CLI_OK;
    } else {
        (void)cli_fail_status(it->args, CLI_FAILED, st);
    }
    tal_table_destroy(repeated);
    return code;
}

// Run the command line once more; its result is compared, and goes to -o, if there is one.
static int run_again(const cli_args *args, const cli_command *command, comparison *it)
{
    const char *const out = cli_text(args, "out");
    line words = {0};
    add_word(&words, cli_copy(command->name));
    add_options(&words, command, it->old);
    add_word(&words, cli_copy("--quiet"));
    if (out != NULL) add_word(&words, cli_format("--out=%s", out));
    if (cli_is_given(args, "format")) {
        add_word(&words, cli_format("--format=%s", cli_text(args, "format")));
    }
    add_word(&words, cli_copy("--"));
    add_files(&words, args, it->old);
    cli_args repeated;
    int code = cli_parse(words.num, (const char *const *)words.words, &repeated);
    if (tal_table_header(it->old, RESULT_INCOMPLETE) != NULL) {
        repeated.only_rows = num_good_rows(it->old);
        repeated.only_time = time_of_cut(it->old);
    }
    repeated.take = take_result;
    repeated.taker = it;
    if (code == CLI_OK) code = command->run(&repeated);
    free_line(&words);
    return code;
}

static int rerun(const cli_args *args, const tal_table *old)
{
    char *const name = result_value(old, RESULT_COMMAND);
    const cli_command *const command = name != NULL ? cli_find_command(name) : NULL;
    int code = CLI_OK;
    if (command == NULL) {
        code = cli_fail(args, CLI_BAD_FILE, "%s does not name the command that made it.",
                        args->files[0]);
    } else if ((command->common & CLI_RESULT) == 0) {
        code = cli_fail(args, CLI_BAD_FILE,
                        "%s says that talus %s made it, but that command writes no results.",
                        args->files[0], name);
    } else {
        comparison it = {.args = args, .old = old};
        code = run_again(args, command, &it);
        // a run that ended early ends early again; that is not a difference
        const bool is_part = tal_table_header(old, RESULT_INCOMPLETE) != NULL;
        if (is_part && code == CLI_FAILED && it.is_same) code = CLI_OK;
    }
    free(name);
    return code;
}

static int run(const cli_args *args)
{
    int code = result_check_out(args, false);
    if (code != CLI_OK) return code;
    tal_table *old = NULL;
    code = result_read(args, args->files[0], &old);
    if (code == CLI_OK) code = rerun(args, old);
    tal_table_destroy(old);
    return code;
}

static const cli_option options[] = {{.name = "model",
                                      .letter = 'm',
                                      .kind = CLI_TEXT,
                                      .value = "FILE",
                                      .help = "path of the model, if it has moved"},
                                     {0}};

const cli_command cmd_rerun = {
    .name = "rerun",
    .group = CLI_RESULTS,
    .files = "RESULT",
    .min_files = 1,
    .max_files = 1,
    .summary = "repeat the run that made a result",
    .about =
        "Runs the command in the header of RESULT again, with the same settings, and compares every "
        "number, bit for bit. The exit code is 1 if a number differs. The last bits depend on the build "
        "and on the processor, with or without fused multiply-adds. A message says so if the set of "
        "kernels has changed (talus version).",
    .common = CLI_JSON | CLI_QUIET | CLI_OUT | CLI_AGAIN | CLI_FORMAT,
    .options = options,
    .example = "talus rerun swing.sto",
    .example_help = "the same, bit for bit",
    .run = run};
