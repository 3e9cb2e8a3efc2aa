// Reports as text or JSON.
#include "text/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void json_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != 0; ++text) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", c);
        } else if (c < 0x20) {
            fprintf(out, "\\u%04x", c);
        } else {
            fputc(c, out);
        }
    }
    fputc('"', out);
}

void json_number(FILE *out, double value)
{
    char text[TAL_NUMBER_SIZE];
    (void)tal_number_write(value, text);
    fputs(isfinite(value) ? text : "null", out);
}

static void json_key(FILE *out, const char *key)
{
    char *const name = cli_copy(key);
    for (char *at = strchr(name, ' '); at != NULL; at = strchr(at, ' ')) {
        *at = '_';
    }
    json_text(out, name);
    fputs(": ", out);
    free(name);
}

bool report_is_wanted(const cli_args *args)
{
    return args->take == NULL && (cli_flag(args, "json") || !cli_flag(args, "quiet"));
}

void report_begin(report *r, const cli_args *args)
{
    memset(r, 0, sizeof *r);
    r->out = stdout;
    r->json = cli_flag(args, "json");
    if (r->json) fputc('{', r->out);
}

void report_end(report *r)
{
    if (r->json) fputs("\n}\n", r->out);
}

// What is before a value.
static void begin_entry(report *r, const char *key)
{
    if (r->json) {
        fputs(r->num_entries > 0 ? ",\n  " : "\n  ", r->out);
        json_key(r->out, key);
    } else {
        fprintf(r->out, "%-24s", key);
    }
    ++r->num_entries;
}

void report_text(report *r, const char *key, const char *value)
{
    begin_entry(r, key);
    if (r->json) {
        json_text(r->out, value);
    } else {
        fprintf(r->out, "%s\n", value);
    }
}

void report_number(report *r, const char *key, double value, const char *unit)
{
    begin_entry(r, key);
    if (r->json) {
        json_number(r->out, value);
    } else {
        fprintf(r->out, "%.6g%s%s\n", value, unit != NULL ? " " : "", unit != NULL ? unit : "");
    }
}

void report_count(report *r, const char *key, long value)
{
    begin_entry(r, key);
    fprintf(r->out, r->json ? "%ld" : "%ld\n", value);
}

void report_table(report *r, const char *key, const char *const columns[], int n)
{
    if (r->json) {
        begin_entry(r, key);
    } else {
        fprintf(r->out, "%s%s\n", r->num_entries++ > 0 ? "\n" : "", key);
    }
    r->columns = columns;
    r->num_columns = n;
    r->num_cells = 0;
}

// The text is the report's from then on.
static void add_cell(report *r, char *text)
{
    if (r->num_cells == r->capacity) {
        r->capacity = r->capacity > 0 ? 2 * r->capacity : 64;
        r->cells = cli_resize(r->cells, (size_t)r->capacity, sizeof *r->cells);
    }
    r->cells[r->num_cells++] = text;
}

// In JSON a cell is kept as it will be printed; a text is marked by a quote in front.
void report_cell_text(report *r, const char *value)
{
    add_cell(r, cli_format("%s%s", r->json ? "\"" : "", value));
}

void report_cell_number(report *r, double value)
{
    char text[TAL_NUMBER_SIZE];
    if (r->json) {
        (void)tal_number_write(value, text);
        add_cell(r, cli_copy(isfinite(value) ? text : "null"));
    } else {
        add_cell(r, cli_format("%.6g", value));
    }
}

void report_cell_count(report *r, long value)
{
    add_cell(r, cli_format("%ld", value));
}

static void print_json_rows(const report *r)
{
    fputc('[', r->out);
    for (int i = 0; i < r->num_cells; ++i) {
        const int column = i % r->num_columns;
        if (column == 0) fputs(i > 0 ? ",\n    {" : "\n    {", r->out);
        if (column > 0) fputs(", ", r->out);
        json_key(r->out, r->columns[column]);
        if (r->cells[i][0] == '"') {
            json_text(r->out, r->cells[i] + 1);
        } else {
            fputs(r->cells[i], r->out);
        }
        if (column == r->num_columns - 1) fputc('}', r->out);
    }
    fputc(']', r->out);
}

static bool looks_numeric(const char *cell)
{
    double value;
    const char *const end = tal_number_read(cell, NULL, &value);
    return end != NULL && *end == 0;
}

// Columns as wide as they need to be: numbers to the right, texts to the left.
static void print_text_row(const report *r, const char *const cells[], const int widths[],
                           const bool right[])
{
    size_t length = 1;
    for (int c = 0; c < r->num_columns; ++c) {
        length += (size_t)widths[c] + 2;
    }
    char *const line = cli_alloc(length, 1);
    char *at = line;
    for (int c = 0; c < r->num_columns; ++c) {
        const size_t size = strlen(cells[c]), blanks = (size_t)widths[c] - size;
        memset(at, ' ', (size_t)widths[c] + 2);
        memcpy(at + 2 + (right[c] ? blanks : 0), cells[c], size);
        at += widths[c] + 2;
    }
    while (at > line && at[-1] == ' ') {
        *--at = 0;
    }
    fprintf(r->out, "%s\n", line);
    free(line);
}

static void print_text_rows(const report *r)
{
    const int n = r->num_columns;
    int *const widths = cli_alloc((size_t)n, sizeof *widths);
    bool *const right = cli_alloc((size_t)n, sizeof *right);
    for (int c = 0; c < n; ++c) {
        widths[c] = (int)strlen(r->columns[c]);
        right[c] = r->num_cells > 0;
    }
    for (int i = 0; i < r->num_cells; ++i) {
        const int length = (int)strlen(r->cells[i]);
        if (length > widths[i % n]) widths[i % n] = length;
        if (!looks_numeric(r->cells[i])) right[i % n] = false;
    }
    print_text_row(r, r->columns, widths, right);
    for (int i = 0; i + n <= r->num_cells; i += n) {
        print_text_row(r, (const char *const *)(r->cells + i), widths, right);
    }
    free(widths);
    free(right);
}

void report_end_table(report *r)
{
    if (r->json) {
        print_json_rows(r);
    } else {
        print_text_rows(r);
    }
    for (int i = 0; i < r->num_cells; ++i) {
        free(r->cells[i]);
    }
    free(r->cells);
    r->cells = NULL;
    r->num_cells = r->capacity = 0;
}
