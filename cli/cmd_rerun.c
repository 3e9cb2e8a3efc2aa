// talus rerun: repeat the run that a result came from, and compare every bit.
#include "commands.h"
#include "report.h"
#include "result.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_WORDS = 128
};

// A command line on its way.
typedef struct line {
    char *words[MAX_WORDS]; // owned
    int num;
} line;

TAL_PRINTF(2, 3) static void add(line *it, const char *fmt, ...);

static void add(line *it, const char *fmt, ...)
{
    char word[1024];
    va_list list;
    va_start(list, fmt);
    vsnprintf(word, sizeof word, fmt, list);
    va_end(list);
    if (it->num < MAX_WORDS) it->words[it->num++] = cli_copy(word);
}

static void add_options(line *it, const cli_command *command, const tal_table *result)
{
    const cli_option *options[CLI_MAX_OPTIONS];
    const int n = cli_options_of(command, options);
    for (int i = 0; i < n; ++i) {
        const cli_option *const o = options[i];
        char key[96];
        const char *value;
        if (!o->is_setting) continue;
        snprintf(key, sizeof key, RESULT_OPTION "_%s", o->name);
        if (o->kind != CLI_LIST) {
            value = tal_table_header(result, key);
            if (value == NULL) continue;
            if (o->kind == CLI_FLAG) {
                add(it, "--%s", o->name);
            } else {
                add(it, "--%s=%s", o->name, value);
            }
            continue;
        }
        for (int k = 1; k <= CLI_MAX_OPTIONS; ++k) {
            snprintf(key, sizeof key, RESULT_OPTION "_%s_%d", o->name, k);
            value = tal_table_header(result, key);
            if (value == NULL) break;
            add(it, "--%s=%s", o->name, value);
        }
    }
}

// A file as it was named, or as it is named from the folder of the result.
static void add_file(line *it, const char *path, const char *result)
{
    const char *const slash = strrchr(result, '/');
    if (path[0] == '/' || slash == NULL || access(path, R_OK) == 0) {
        add(it, "%s", path);
    } else {
        add(it, "%.*s/%s", (int)(slash - result), result, path);
    }
}

static void add_files(line *it, const cli_args *args, const tal_table *result)
{
    const char *const model = cli_text(args, "model");
    for (int k = 1; k <= CLI_MAX_ARGS; ++k) {
        char key[32];
        snprintf(key, sizeof key, RESULT_FILE "_%d", k);
        const char *const path = tal_table_header(result, key);
        if (path == NULL) break;
        if (k == 1 && model != NULL) {
            add(it, "%s", model);
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

// Compare; of a result that is not complete only what is there.
static int compare(const cli_args *args, const tal_table *old, const tal_table *again)
{
    const bool is_part = tal_table_header(old, RESULT_INCOMPLETE) != NULL;
    const int rows = num_good_rows(old);
    if (!has_same_columns(old, again)) {
        return cli_fail(args, CLI_FAILED, "the columns differ.");
    }
    if (rows > tal_table_num_rows(again) || (!is_part && rows != tal_table_num_rows(again))) {
        return cli_fail(args, CLI_FAILED, "there are %d rows instead of %d.",
                        tal_table_num_rows(again), rows);
    }
    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < tal_table_num_columns(old); ++c) {
            const double a = tal_table_value(old, r, c), b = tal_table_value(again, r, c);
            if (is_same(a, b) || (is_part && isnan(a))) continue;
            return cli_fail(args, CLI_FAILED, "row %d, column '%s' is %.17g instead of %.17g.",
                            r + 1, tal_table_column_name(old, c), b, a);
        }
    }
    if (!cli_flag(args, "quiet")) {
        printf("the same, bit for bit: %d rows, %d columns\n", rows, tal_table_num_columns(old));
        if (is_part) {
            printf("the result is not complete: %s\n", tal_table_header(old, RESULT_INCOMPLETE));
        }
    }
    return CLI_OK;
}

// Say what might make a difference.
static void compare_headers(const cli_args *args, const tal_table *old, const tal_table *again)
{
    static const char *const keys[] = {RESULT_VERSION, RESULT_GIT, RESULT_KERNELS,
                                       RESULT_MODEL_HASH};
    static const char *const names[] = {"version", "commit", "set of kernels", "hash of the model"};
    for (int i = 0; i < 4; ++i) {
        const char *const a = tal_table_header(old, keys[i]);
        const char *const b = tal_table_header(again, keys[i]);
        if (a == NULL || b == NULL || strcmp(a, b) == 0) continue;
        cli_warn(args, "the %s was %s, and is %s.", names[i], a, b);
    }
}

// Run the command line; its result goes to `path`.
static int run_again(const cli_args *args, const tal_table *old, const char *path)
{
    const char *const name = tal_table_header(old, RESULT_COMMAND);
    const cli_command *const command = name != NULL ? cli_find_command(name) : NULL;
    if (command == NULL) {
        return cli_fail(args, CLI_BAD_FILE, "%s does not say how it came about.", args->files[0]);
    }
    line words = {0};
    add(&words, "%s", name);
    add_options(&words, command, old);
    add(&words, "--quiet");
    add(&words, "--out=%s", path);
    add(&words, "--");
    add_files(&words, args, old);
    cli_args again;
    int code = cli_parse(words.num, (const char *const *)words.words, &again);
    if (tal_table_header(old, RESULT_INCOMPLETE) != NULL) again.only_rows = num_good_rows(old);
    if (code == CLI_OK) code = command->run(&again);
    for (int i = 0; i < words.num; ++i) {
        free(words.words[i]);
    }
    return code;
}

static int rerun(const cli_args *args, const tal_table *old, const char *path)
{
    int code = run_again(args, old, path);
    const bool ends_again = code == CLI_FAILED && tal_table_header(old, RESULT_INCOMPLETE) != NULL;
    if (code != CLI_OK && !ends_again) return code;
    tal_table *again = NULL;
    code = result_read(args, path, &again);
    if (code == CLI_OK) {
        compare_headers(args, old, again);
        code = compare(args, old, again);
    }
    tal_table_destroy(again);
    return code;
}

// In a folder of its own that is removed afterwards.
static int rerun_aside(const cli_args *args, const tal_table *old)
{
    const char *const tmp = getenv("TMPDIR");
    char folder[512], path[560];
    snprintf(folder, sizeof folder, "%s/talus-XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(folder) == NULL) {
        return cli_fail(args, CLI_BAD_FILE, "%s cannot be made.", folder);
    }
    const bool has_time = strcmp(tal_table_column_name(old, 0), "time") == 0;
    snprintf(path, sizeof path, "%s/again.%s", folder, has_time ? "sto" : "csv");
    const int code = rerun(args, old, path);
    (void)remove(path);
    (void)rmdir(folder);
    return code;
}

int cmd_rerun(const cli_args *args)
{
    tal_table *old = NULL;
    int code = result_read(args, args->files[0], &old);
    if (code == CLI_OK) {
        const char *const out = cli_text(args, "out");
        code = out != NULL ? rerun(args, old, out) : rerun_aside(args, old);
    }
    tal_table_destroy(old);
    return code;
}
