// Results: headers, and where tables go.
#include "table/result.h"

#include "text/checkpoint.h"
#include "text/report.h"
#include "text/stream.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// --- the header ---

// What a line of a header can hold as it is.
static bool fits_a_line(const char *text)
{
    const size_t length = strlen(text);
    for (size_t i = 0; i < length; ++i) {
        if ((unsigned char)text[i] < ' ') return false;
    }
    return length == 0 || (text[0] != ' ' && text[length - 1] != ' ');
}

// A text for people in one line: no control characters, no blanks around it. Owned by the caller.
static char *one_line(const char *text)
{
    char *const line = cli_copy(text + strspn(text, " \t\r\n"));
    for (char *at = line; *at != 0; ++at) {
        if ((unsigned char)*at < ' ') *at = ' ';
    }
    for (size_t n = strlen(line); n > 0 && line[n - 1] == ' '; --n) {
        line[n - 1] = 0;
    }
    return line;
}

// A text as JSON has it, with the quotes. Owned by the caller.
static char *quote(const char *text)
{
    char *const quoted = cli_alloc(6 * strlen(text) + 3, 1); // \u000a is six for one
    char *at = quoted;
    *at++ = '"';
    for (; *text != 0; ++text) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') *at++ = '\\';
        if (c >= ' ') {
            *at++ = (char)c;
        } else {
            at += snprintf(at, 7, "\\u%04x", c);
        }
    }
    *at = '"';
    return quoted;
}

// The control character that quote() wrote as \u00XX; 0: none.
static char escaped_at(const char *text)
{
    static const char digits[] = "0123456789abcdef";
    if (strncmp(text, "\\u00", 4) != 0 || (text[4] != '0' && text[4] != '1') || text[5] == 0) {
        return 0;
    }
    const char *const low = strchr(digits, text[5]);
    return (char)(low != NULL ? 16 * (text[4] - '0') + (low - digits) : 0);
}

// What quote() was given. Owned by the caller.
static char *unquote(const char *quoted)
{
    char *const text = cli_alloc(strlen(quoted) + 1, 1);
    char *at = text;
    for (++quoted; *quoted != 0 && *quoted != '"'; ++quoted) {
        const char control = escaped_at(quoted);
        if (control != 0) {
            *at++ = control;
            quoted += 5;
        } else {
            if (*quoted == '\\' && quoted[1] != 0) ++quoted;
            *at++ = *quoted;
        }
    }
    return text;
}

static tal_status set_text(tal_table *table, const char *key, const char *text)
{
    char *const line = one_line(text);
    const tal_status st = tal_table_set_header(table, key, line);
    free(line);
    return st;
}

// A value that has to come back as it is, whatever it is; result_value() gives it.
static tal_status set_value(tal_table *table, const char *key, const char *value)
{
    if (fits_a_line(value) && value[0] != '"') return tal_table_set_header(table, key, value);
    char *const quoted = quote(value);
    const tal_status st = tal_table_set_header(table, key, quoted);
    free(quoted);
    return st;
}

char *result_value(const tal_table *table, const char *key)
{
    const char *const value = tal_table_header(table, key);
    if (value == NULL) return NULL;
    return value[0] == '"' ? unquote(value) : cli_copy(value);
}

static tal_status set_files(const cli_args *args, tal_table *table)
{
    tal_status st = TAL_OK;
    for (int i = 0; i < args->num_files && st == TAL_OK; ++i) {
        char key[32];
        snprintf(key, sizeof key, RESULT_FILE "_%d", i + 1);
        st = set_value(table, key, args->files[i]);
    }
    return st;
}

// Every setting of the command, given or not. Keys: talus_option_NAME, of a list
// talus_option_NAME_1, ...
static tal_status set_options(const cli_args *args, tal_table *table)
{
    tal_status st = TAL_OK;
    for (int i = 0; i < args->num_options && st == TAL_OK; ++i) {
        const cli_option *const o = args->options[i];
        char key[96];
        if (!o->is_setting) continue;
        snprintf(key, sizeof key, RESULT_OPTION "_%s", o->name);
        if (o->kind != CLI_LIST) {
            const char *const value = cli_text(args, o->name);
            if (value != NULL) st = set_value(table, key, value);
            continue;
        }
        for (int k = 0; k < args->num_values[i] && st == TAL_OK; ++k) {
            snprintf(key, sizeof key, RESULT_OPTION "_%s_%d", o->name, k + 1);
            st = set_value(table, key, args->values[i][k]);
        }
    }
    return st;
}

int result_record(const cli_args *args, const cli_model *model, tal_table *table)
{
    tal_status st = set_value(table, RESULT_VERSION, tal_version_string());
    if (st == TAL_OK) st = set_value(table, RESULT_GIT, tal_git_hash());
    if (st == TAL_OK) st = set_value(table, RESULT_KERNELS, tal_matter_kernel_set());
    if (st == TAL_OK) st = set_value(table, RESULT_COMMAND, args->command->name);
    if (st == TAL_OK) st = set_files(args, table);
    if (st == TAL_OK) st = set_value(table, RESULT_MODEL_HASH, model->hash);
    if (st == TAL_OK) st = set_options(args, table);
    return st == TAL_OK ? CLI_OK : cli_fail_status(args, CLI_FAILED, st);
}

tal_table *result_create(const cli_args *args, const cli_model *model)
{
    tal_table *const table = cli_need(tal_table_create(NULL));
    const char *const name = tal_system_name(model->system);
    const tal_status st = name[0] != 0 ? set_text(table, "name", name) : TAL_OK;
    const int code =
        st == TAL_OK ? result_record(args, model, table) : cli_fail_status(args, CLI_FAILED, st);
    if (code == CLI_OK) return table;
    tal_table_destroy(table);
    return NULL;
}

char *result_manifest(const cli_args *args, const tal_table *table)
{
    cli_bytes text = {0};
    bytes_add(&text, "", 0);
    for (int i = 0; i < tal_table_num_headers(table); ++i) {
        const char *const key = tal_table_header_key(table, i);
        bytes_print(&text, "%s: %s\n", key, tal_table_header(table, key));
    }
    for (int i = 1; i < args->num_files; ++i) {
        uint64_t hash = 0;
        const char *const real = stream_input(args, args->files[i]);
        if (real == NULL || !checkpoint_hash_file(real, &hash)) continue; // reading it failed, too
        bytes_print(&text, "hash of %s: %016" PRIx64 "\n", args->files[i], hash);
    }
    return text.data;
}

tal_status result_set_end(tal_table *table, const char *ended_by)
{
    return set_text(table, RESULT_ENDED_BY, ended_by);
}

// --- where it goes ---

// Is there a folder to write into?
static int check_folder(const cli_args *args, const char *path)
{
    const char *const slash = strrchr(path, '/');
    char *const folder = cli_copy(slash == NULL ? "." : slash == path ? "/" : path);
    if (slash > path) folder[slash - path] = 0;
    int code = CLI_OK;
    if (access(folder, W_OK) != 0) {
        code = cli_fail(args, CLI_BAD_FILE, "cannot write '%s'; folder '%s': %s.", path, folder,
                        strerror(errno));
    }
    free(folder);
    return code;
}

int result_check_out(const cli_args *args, bool or_model)
{
    const char *const path = stream_out_path(args), *const name = stream_out_name(args);
    if (name == NULL) return CLI_OK;
    const tal_file_kind kind = tal_file_kind_of(name, NULL, 0);
    if (kind == TAL_FILE_TABLE || (or_model && kind == TAL_FILE_TALUS)) {
        return path != NULL ? check_folder(args, path) : CLI_OK;
    }
    if (path == NULL) {
        return cli_fail(args, CLI_USAGE, "--format '%s' should be %ssto, mot, trc, csv or npz.",
                        cli_text(args, "format"), or_model ? "talus, " : "");
    }
    return cli_fail(args, CLI_USAGE, "--out '%s' should end with %s.sto, .mot, .trc, .csv or .npz.",
                    path, or_model ? ".talus, " : "");
}

tal_status result_set_units(tal_table *table, int first, const char *const units[], int n)
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
    const bool has_any = strspn(text, ",") < strlen(text);
    const tal_status st = has_any ? tal_table_set_header(table, RESULT_UNITS, text) : TAL_OK;
    free(text);
    return st;
}

tal_status result_add_column(tal_table *table, const char *name, const char *unit)
{
    const int columns = tal_table_num_columns(table);
    const char *const before = tal_table_header(table, RESULT_UNITS);
    tal_status st = tal_table_add_column(table, name);
    if (st != TAL_OK) return st;
    if (before == NULL || columns == 0) return result_set_units(table, columns, &unit, 1);

    char *const units = cli_format("%s,%s", before, unit);
    st = tal_table_set_header(table, RESULT_UNITS, units);
    free(units);
    return st;
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

// A table as a JSON object: header, names of columns, rows.
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

static bool put_bytes(void *context, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, context) == size;
}

// What -o or --format say; else a table goes by its first column.
static tal_table_format format_of(const cli_args *args, const tal_table *table)
{
    tal_table_format format = TAL_TABLE_STO;
    const char *const name = stream_out_name(args);
    if (name != NULL && tal_table_format_of(name, &format)) return format;
    const bool has_time = strcmp(tal_table_column_name(table, 0), "time") == 0;
    return has_time ? TAL_TABLE_STO : TAL_TABLE_CSV;
}

int result_check_fit(const cli_args *args, const tal_table *table)
{
    const char *const path = cli_text(args, "out"), *const name = stream_out_name(args);
    tal_table_format format = format_of(args, table);
    size_t length = 0;
    tal_error err = {0};
    if (name != NULL && !tal_table_format_of(name, &format)) return CLI_OK; // it is not a table
    if (tal_table_write_memory(table, format, NULL, 0, &length, &err) == TAL_OK) return CLI_OK;
    return cli_fail(args, CLI_USAGE, "this table cannot be written to --out %s: %s.",
                    path != NULL ? path : "", err.message);
}

int result_print(const cli_args *args, const tal_table *table)
{
    tal_error err = {0};
    const tal_status st =
        tal_table_write_to(table, format_of(args, table), put_bytes, stdout, &err);
    if (st == TAL_OK) return CLI_OK;
    if (ferror(stdout) == 0) return cli_fail_with(args, CLI_FAILED, &err);
    return cli_fail(args, CLI_BAD_FILE, "cannot write to standard output: %s.", strerror(errno));
}

bool result_is_wanted(const cli_args *args)
{
    return cli_is_given(args, "out") || args->take != NULL;
}

int result_write(const cli_args *args, const tal_table *table)
{
    const char *const path = stream_out_path(args);
    tal_error err = {0};
    const int taken = args->take != NULL ? args->take(args->taker, table) : CLI_OK;
    if (path != NULL) {
        if (tal_table_write_file(table, path, &err) == TAL_OK) return taken;
        return cli_fail_with(args, CLI_BAD_FILE, &err);
    }
    if (args->take != NULL && !stream_is_output(args)) return taken;
    if (cli_flag(args, "json") && stream_out_name(args) == NULL) {
        print_json(stdout, table);
        return CLI_OK;
    }
    return result_print(args, table);
}

void result_report(const cli_args *args, const tal_table *table)
{
    if (args->take != NULL || !cli_flag(args, "json") || stream_out_path(args) == NULL) return;
    report r;
    report_begin(&r, args);
    report_text(&r, "result", stream_out_path(args));
    report_count(&r, "rows", tal_table_num_rows(table));
    report_count(&r, "columns", tal_table_num_columns(table));
    report_end(&r);
}

int result_write_part(const cli_args *args, tal_table *table, const char *why)
{
    const tal_status st = set_text(table, RESULT_INCOMPLETE, why);
    // without the mark it looks like a complete one
    if (st != TAL_OK) return cli_fail_status(args, CLI_FAILED, st);
    const int code = result_write(args, table);
    return code == CLI_OK ? CLI_FAILED : code;
}

// What the bytes of a table look like.
static tal_table_format format_of_bytes(const char *bytes, size_t size)
{
    const char zip[] = "PK", markers[] = "PathFileType", end[] = "endheader";
    if (size >= 2 && memcmp(bytes, zip, 2) == 0) return TAL_TABLE_NPZ;
    // where the parameters begin, in blocks, then a key; no text begins with a small number
    if (size >= 512 && bytes[0] >= 1 && bytes[0] <= 8 && bytes[1] == 0x50) return TAL_TABLE_C3D;
    if (size >= sizeof markers - 1 && memcmp(bytes, markers, sizeof markers - 1) == 0) {
        return TAL_TABLE_TRC;
    }
    for (size_t i = 0; i + sizeof end - 1 <= size && i < 65536; ++i) {
        if (memcmp(bytes + i, end, sizeof end - 1) == 0) return TAL_TABLE_STO;
    }
    return TAL_TABLE_CSV;
}

bool result_is_c3d(const char *path)
{
    tal_table_format format = TAL_TABLE_STO;
    if (!stream_is_input(path)) {
        return tal_table_format_of(path, &format) && format == TAL_TABLE_C3D;
    }
    size_t size = 0;
    char *const bytes = stream_read(&size);
    format = format_of_bytes(bytes, size);
    free(bytes);
    return format == TAL_TABLE_C3D;
}

static tal_status read_input(tal_table **out, tal_diagnostics *found)
{
    size_t size = 0;
    char *const bytes = stream_read(&size);
    const tal_status st = tal_table_read_memory(format_of_bytes(bytes, size), "standard input",
                                                bytes, size, NULL, out, found);
    free(bytes);
    return st;
}

int result_read(const cli_args *args, const char *path, tal_table **out)
{
    const char *const real = stream_input(args, path);
    if (real == NULL) return CLI_BAD_FILE;
    tal_diagnostics *const found = cli_need(tal_diagnostics_create(NULL));
    const tal_status st = stream_is_input(path) ? read_input(out, found)
                                                : tal_table_read_file(real, NULL, out, found);
    if (st != TAL_OK && tal_diagnostics_num(found) < 1) {
        (void)cli_fail_file(args, path, st);
    }
    cli_print_diagnostics(args, found);
    return st == TAL_OK ? CLI_OK : CLI_BAD_FILE;
}

static const char *column_at(const void *context, int i)
{
    return i < tal_table_num_columns(context) ? tal_table_column_name(context, i) : NULL;
}

int result_find_name(const cli_args *args, const char *file, tal_name_at_fn at, const void *context,
                     const char *name)
{
    for (int i = 0; at(context, i) != NULL; ++i) {
        if (strcmp(at(context, i), name) == 0) return i;
    }
    const char *const meant = tal_did_you_mean(name, at, context);
    if (meant != NULL) {
        (void)cli_fail(args, CLI_USAGE, "%s has no column '%s' (did you mean '%s'?).", file, name,
                       meant);
        return -1;
    }
    char *const names = cli_join(at, context, 60);
    (void)cli_fail(args, CLI_USAGE, "%s has no column '%s'; it has %s.", file, name, names);
    free(names);
    return -1;
}

int result_find_column(const cli_args *args, const tal_table *table, const char *name)
{
    return result_find_name(args, args->files[0], column_at, table, name);
}

// Add a number that is not there yet; how many there are then.
static int add_once(int chosen[], int n, int number)
{
    for (int i = 0; i < n; ++i) {
        if (chosen[i] == number) return n;
    }
    chosen[n] = number;
    return n + 1;
}

// Add the names that a word means; how many there are then, -1 for none.
static int add_names(const cli_args *args, const char *file, tal_name_at_fn at, const void *context,
                     const char *word, int chosen[], int n)
{
    bool is_found = false;
    for (int i = 0; strchr(word, '*') != NULL && at(context, i) != NULL; ++i) {
        if (fnmatch(word, at(context, i), 0) != 0) continue;
        n = add_once(chosen, n, i);
        is_found = true;
    }
    if (is_found) return n;
    const int one = result_find_name(args, file, at, context, word);
    return one >= 0 ? add_once(chosen, n, one) : -1;
}

int result_choose_names(const cli_args *args, const char *file, tal_name_at_fn at,
                        const void *context, const char *words, int chosen[])
{
    char *const list = cli_copy(words);
    int n = 0;
    for (char *word = list; word != NULL && n >= 0;) {
        char *const comma = strchr(word, ',');
        if (comma != NULL) *comma = 0;
        n = add_names(args, file, at, context, word, chosen, n);
        word = comma != NULL ? comma + 1 : NULL;
    }
    free(list);
    return n;
}

int result_choose_columns(const cli_args *args, const tal_table *table, int skip, int columns[])
{
    const char *const list = cli_text(args, "columns");
    if (list != NULL) {
        return result_choose_names(args, args->files[0], column_at, table, list, columns);
    }
    int n = 0;
    for (int c = 0; c < tal_table_num_columns(table); ++c) {
        if (c != skip) columns[n++] = c;
    }
    return n;
}
