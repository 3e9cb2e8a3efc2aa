// Results: headers, and where tables go.
#include "result.h"

#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void set(tal_table *table, const char *key, const char *value)
{
    (void)tal_table_set_header(table, key, value);
}

// Every setting of the command, given or not. Keys: talus_option_NAME, of a list talus_option_NAME_1, ...
static void set_options(const cli_args *args, tal_table *table)
{
    for (int i = 0; i < args->num_options; ++i) {
        const cli_option *const o = args->options[i];
        char key[96];
        if (!o->is_setting) continue;
        snprintf(key, sizeof key, RESULT_OPTION "_%s", o->name);
        if (o->kind != CLI_LIST) {
            const char *const value = cli_text(args, o->name);
            if (value != NULL) set(table, key, value);
            continue;
        }
        for (int k = 0; k < args->num_values[i]; ++k) {
            snprintf(key, sizeof key, RESULT_OPTION "_%s_%d", o->name, k + 1);
            set(table, key, args->values[i][k]);
        }
    }
}

tal_table *result_create(const cli_args *args, const cli_model *model)
{
    tal_table *const table = tal_table_create(NULL);
    if (table == NULL) {
        (void)cli_fail(args, CLI_FAILED, "there is not enough memory.");
        return NULL;
    }
    const char *const name = tal_system_name(model->system);
    if (name[0] != 0) set(table, "name", name);
    set(table, RESULT_VERSION, tal_version_string());
    set(table, RESULT_GIT, tal_git_hash());
    set(table, RESULT_KERNELS, tal_matter_kernel_set());
    set(table, RESULT_COMMAND, args->command->name);
    for (int i = 0; i < args->num_files; ++i) {
        char key[32];
        snprintf(key, sizeof key, RESULT_FILE "_%d", i + 1);
        set(table, key, args->files[i]);
    }
    set(table, RESULT_MODEL_HASH, model->hash);
    set_options(args, table);
    return table;
}

// Is there a folder to write into?
static int check_folder(const cli_args *args, const char *path)
{
    const char *const slash = strrchr(path, '/');
    char *const folder = cli_copy(slash == NULL ? "." : slash == path ? "/" : path);
    if (slash > path) folder[slash - path] = 0;
    int code = CLI_OK;
    if (access(folder, W_OK) != 0) {
        code = cli_fail(args, CLI_BAD_FILE, "'%s' cannot be written; folder '%s': %s.", path,
                        folder, strerror(errno));
    }
    free(folder);
    return code;
}

int result_check_out(const cli_args *args, const char *also)
{
    const char *const path = cli_text(args, "out");
    if (path == NULL) return CLI_OK;
    const bool is_known = cli_is_table(path) || (also != NULL && cli_ends_with(path, also));
    if (is_known) return check_folder(args, path);
    return cli_fail(args, CLI_USAGE,
                    "--out '%s' should end with %s%s.sto, .mot, .trc, .csv or .npz.", path,
                    also != NULL ? also : "", also != NULL ? ", " : "");
}

void result_set_units(tal_table *table, int first, const char *const units[], int n)
{
    size_t size = (size_t)first + 1;
    for (int i = 0; i < n; ++i) {
        size += strlen(units[i]) + 1;
    }
    char *const text = cli_alloc(size, 1);
    char *at = text;
    memset(at, ',', (size_t)first);
    at += first;
    for (int i = 0; i < n; ++i) {
        const size_t length = strlen(units[i]);
        if (i > 0) *at++ = ',';
        memcpy(at, units[i], length);
        at += length;
    }
    if (strspn(text, ",") < strlen(text)) set(table, RESULT_UNITS, text);
    free(text);
}

void result_units(const tal_table *table, result_unit_text units[])
{
    const char *at = tal_table_header(table, RESULT_UNITS);
    for (int c = 0; c < tal_table_num_columns(table); ++c) {
        const size_t length = at != NULL ? strcspn(at, ",") : 0;
        snprintf(units[c], sizeof units[c], "%.*s", (int)length, at != NULL ? at : "");
        if (at != NULL) at = at[length] == ',' ? at + length + 1 : NULL;
    }
}

void result_mark_incomplete(tal_table *table, const char *why)
{
    set(table, RESULT_INCOMPLETE, why);
}

static void print_json(FILE *out, const tal_table *table)
{
    const int columns = tal_table_num_columns(table);
    fputs("{\n  \"header\": {", out);
    for (int i = 0; i < tal_table_num_headers(table); ++i) {
        const char *const key = tal_table_header_key(table, i);
        fputs(i > 0 ? ",\n    " : "\n    ", out);
        json_text(out, key);
        fputs(": ", out);
        json_text(out, tal_table_header(table, key));
    }
    fputs("},\n  \"columns\": [", out);
    for (int c = 0; c < columns; ++c) {
        if (c > 0) fputs(", ", out);
        json_text(out, tal_table_column_name(table, c));
    }
    fputs("],\n  \"rows\": [", out);
    for (int r = 0; r < tal_table_num_rows(table); ++r) {
        fputs(r > 0 ? ",\n    [" : "\n    [", out);
        for (int c = 0; c < columns; ++c) {
            if (c > 0) fputs(", ", out);
            json_number(out, tal_table_value(table, r, c));
        }
        fputc(']', out);
    }
    fputs("]\n}\n", out);
}

static int print_table(const cli_args *args, const tal_table *table, tal_table_format format)
{
    size_t length = 0;
    tal_error err = {0};
    if (tal_table_write_memory(table, format, NULL, 0, &length, &err) != TAL_OK) {
        return cli_fail_with(args, CLI_FAILED, &err);
    }
    char *const text = cli_alloc(length + 1, 1);
    const tal_status st = tal_table_write_memory(table, format, text, length + 1, &length, &err);
    const bool printed = st == TAL_OK && fwrite(text, 1, length, stdout) == length;
    free(text);
    return printed ? CLI_OK
                   : cli_fail(args, CLI_BAD_FILE, "standard output takes no more: %s.",
                              strerror(errno));
}

int result_write(const cli_args *args, const tal_table *table)
{
    const char *const path = cli_text(args, "out");
    tal_error err = {0};
    if (path != NULL) {
        if (tal_table_write_file(table, path, &err) == TAL_OK) return CLI_OK;
        return cli_fail_with(args, CLI_BAD_FILE, &err);
    }
    if (cli_flag(args, "json")) {
        print_json(stdout, table);
        return CLI_OK;
    }
    const bool has_time = strcmp(tal_table_column_name(table, 0), "time") == 0;
    return print_table(args, table, has_time ? TAL_TABLE_STO : TAL_TABLE_CSV);
}

int result_read(const cli_args *args, const char *path, tal_table **out)
{
    tal_diagnostics *const found = tal_diagnostics_create(NULL);
    const tal_status st = tal_table_read_file(path, NULL, out, found);
    if (st != TAL_OK && tal_diagnostics_num(found) < 1) {
        (void)cli_fail(args, CLI_BAD_FILE, "%s: %s.", path, tal_status_text(st));
    }
    cli_print_diagnostics(args, found);
    return st == TAL_OK ? CLI_OK : CLI_BAD_FILE;
}

static const char *column_at(const void *context, int i)
{
    return i < tal_table_num_columns(context) ? tal_table_column_name(context, i) : NULL;
}

int result_find_column(const cli_args *args, const tal_table *table, const char *name)
{
    const int column = tal_table_find_column(table, name);
    if (column >= 0) return column;
    const char *const meant = tal_did_you_mean(name, column_at, table);
    (void)cli_fail(args, CLI_USAGE, "%s has no column '%s'%s%s%s.", args->files[0], name,
                   meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                   meant != NULL ? "'?)" : "");
    return -1;
}

int result_choose_columns(const cli_args *args, const tal_table *table, int skip, int columns[])
{
    const char *const list = cli_text(args, "columns");
    int n = 0;
    if (list == NULL) {
        for (int c = 0; c < tal_table_num_columns(table); ++c) {
            if (c != skip) columns[n++] = c;
        }
        return n;
    }
    char *const words = cli_copy(list);
    for (char *word = words; word != NULL && n >= 0;) {
        char *const comma = strchr(word, ',');
        if (comma != NULL) *comma = 0;
        const int column = result_find_column(args, table, word);
        if (column >= 0 && n < tal_table_num_columns(table)) columns[n++] = column;
        if (column < 0) n = -1;
        word = comma != NULL ? comma + 1 : NULL;
    }
    free(words);
    return n;
}
