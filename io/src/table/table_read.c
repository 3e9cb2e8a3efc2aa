// What readers of tables share: lines, fields, values, rows.
#include "alloc_internal.h"
#include "error_internal.h"

#include "table/table_internal.h"
#include "text/text_internal.h"

#include <talus/io/number.h>

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// --- reports ---

static void report(tali_table_reader *r, tal_severity severity, int line, const char *fmt,
                   va_list args) TAL_PRINTF(4, 0);

static void report(tali_table_reader *r, tal_severity severity, int line, const char *fmt,
                   va_list args)
{
    char message[360];
    tali_error_print(message, sizeof message, fmt, args);
    tal_diagnostics_add(r->found, severity, r->file, line, 0, "%s", message);
    if (severity != TAL_ERROR) return;
    r->errors += 1;
    if (r->errors == r->max_errors && line > 0) {
        tal_diagnostics_add(r->found, TAL_ERROR, r->file, line, 0,
                            "there are %d errors; the rest is not read", r->errors);
    }
}

void tali_table_error(tali_table_reader *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report(r, TAL_ERROR, r->line, fmt, args);
    va_end(args);
}

void tali_table_file_error(tali_table_reader *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report(r, TAL_ERROR, 0, fmt, args);
    va_end(args);
}

void tali_table_warn(tali_table_reader *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report(r, TAL_WARNING, r->line, fmt, args);
    va_end(args);
}

bool tali_table_goes_on(const tali_table_reader *r)
{
    return !r->no_memory && r->errors < r->max_errors;
}

// --- texts ---

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool tali_table_span_is(tali_table_span span, const char *word)
{
    const char *at = span.begin;
    while (at < span.end && *word != '\0' && lower(*at) == lower(*word)) {
        ++at, ++word;
    }
    return at == span.end && *word == '\0';
}

bool tali_table_same_word(const char *a, const char *b)
{
    return tali_table_span_is((tali_table_span){a, a + strlen(a)}, b);
}

tali_table_span tali_table_span_trim(tali_table_span span)
{
    while (span.begin < span.end && tali_text_is_blank(*span.begin)) {
        ++span.begin;
    }
    while (span.begin < span.end && tali_text_is_blank(span.end[-1])) {
        --span.end;
    }
    return span;
}

bool tali_table_span_has(tali_table_span span, char c)
{
    return span.end > span.begin && memchr(span.begin, c, (size_t)(span.end - span.begin)) != NULL;
}

const char *tali_table_copy(tali_table_reader *r, tali_table_span span)
{
    const char *copy = tali_arena_copy(&r->arena, span.begin, (size_t)(span.end - span.begin));
    r->no_memory = r->no_memory || copy == NULL;
    return copy != NULL ? copy : "";
}

static bool is_quoted(tali_table_span span)
{
    return span.end - span.begin >= 2 && *span.begin == '"' && span.end[-1] == '"';
}

const char *tali_table_string(tali_table_reader *r, tali_table_span span)
{
    if (!is_quoted(span)) return tali_table_copy(r, span);
    char *copy = tali_arena_copy(&r->arena, span.begin + 1, (size_t)(span.end - span.begin) - 2);
    r->no_memory = r->no_memory || copy == NULL;
    if (copy == NULL) return "";
    char *to = copy;
    for (const char *from = copy; *from != '\0'; ++from) {
        if (from[0] == '"' && from[1] == '"') ++from;
        *to++ = *from;
    }
    *to = '\0';
    return copy;
}

const char *tali_table_show(tali_table_span span, char text[44])
{
    const size_t length = (size_t)(span.end - span.begin), shown = length < 40 ? length : 40;
    for (size_t i = 0; i < shown; ++i) {
        const unsigned char c = (unsigned char)span.begin[i];
        text[i] = (char)(c < ' ' || c > '~' ? '?' : c);
    }
    memcpy(text + shown, length > shown ? "..." : "", length > shown ? 4 : 1);
    return text;
}

// --- lines and fields ---

// The next line, whether it ends with \n, \r\n, \r, or the file.
static void take_line(tali_table_reader *r)
{
    const char *stop = r->at;
    while (stop < r->end && *stop != '\n' && *stop != '\r') {
        ++stop;
    }
    r->text = (tali_table_span){r->at, stop};
    if (stop < r->end && *stop == '\r' && stop + 1 < r->end && stop[1] == '\n') ++stop;
    r->at = stop < r->end ? stop + 1 : stop;
    if (r->line < INT_MAX) ++r->line;
}

bool tali_table_next(tali_table_reader *r)
{
    while (r->at < r->end && tali_table_goes_on(r)) {
        take_line(r);
        const tali_table_span rest = tali_table_span_trim(r->text);
        if (rest.begin < rest.end) return true;
    }
    return false;
}

static bool add_field(tali_table_reader *r, const char *begin, const char *end)
{
    if (r->num_fields > TAL_MAX_COLUMNS) {
        tali_table_error(r, "the line has more than %d fields", TAL_MAX_COLUMNS);
        return false;
    }
    if (!tali_grow(&r->allocator, (void **)&r->fields, r->num_fields, &r->fields_capacity,
                   sizeof *r->fields)) {
        r->no_memory = true;
        return false;
    }
    r->fields[r->num_fields++] = tali_table_span_trim((tali_table_span){begin, end});
    return true;
}

// Behind a quoted field that begins at `at`, or NULL when its end is missing.
static const char *skip_quoted(const char *at, const char *end)
{
    for (++at; at < end; ++at) {
        if (*at != '"') continue;
        if (at + 1 == end || at[1] != '"') return at + 1;
        ++at;
    }
    return NULL;
}

// The end of a field that begins at `at`; NULL and an error when a quote does not end.
static const char *field_end(tali_table_reader *r, const char *at, char separator)
{
    const char *end = r->text.end;
    if (separator == ',' || separator == ';') {
        while (at < end && tali_text_is_blank(*at)) {
            ++at;
        }
        if (at < end && *at == '"') at = skip_quoted(at, end);
        if (at == NULL) {
            tali_table_error(r, "a quoted field does not end on its line");
            return NULL;
        }
    }
    while (at < end && *at != separator && !(separator == ' ' && tali_text_is_blank(*at))) {
        ++at;
    }
    return at;
}

void tali_table_split(tali_table_reader *r, char separator)
{
    r->num_fields = 0;
    if (separator == ' ') r->text = tali_table_span_trim(r->text);
    const char *at = r->text.begin, *end = r->text.end;
    while (true) {
        while (separator == ' ' && at < end && tali_text_is_blank(*at)) {
            ++at;
        }
        const char *stop = field_end(r, at, separator);
        if (stop == NULL || !add_field(r, at, stop)) {
            r->num_fields = 0;
            return;
        }
        if (stop == end) return;
        at = stop + 1;
    }
}

// Tabs before and behind everything else are decoration, unless nothing else separates.
void tali_table_split_blanks(tali_table_reader *r)
{
    const tali_table_span inner = tali_table_span_trim(r->text);
    const bool tabs = tali_table_span_has(inner, '\t') ||
                      (tali_table_span_has(r->text, '\t') && !tali_table_span_has(inner, ' '));
    tali_table_split(r, tabs ? '\t' : ' ');
}

void tali_table_drop_empty(tali_table_reader *r)
{
    while (r->num_fields > 0 &&
           r->fields[r->num_fields - 1].begin == r->fields[r->num_fields - 1].end) {
        --r->num_fields;
    }
}

// --- headers ---

int tali_table_count(tali_table_reader *r, const char *key, tali_table_span value)
{
    int count = -1;
    const char *stop = tal_integer_read(value.begin, value.end, &count);
    if (stop == value.end && count >= 0 && count <= TALI_MAX_COUNT) return count;
    char shown[44];
    tali_table_error(r, "%s is '%s'; it must be a number between 0 and %d", key,
                     tali_table_show(value, shown), TALI_MAX_COUNT);
    return -1;
}

static bool has_control(tali_table_span span)
{
    for (const char *at = span.begin; at < span.end; ++at) {
        if ((unsigned char)*at < ' ') return true;
    }
    return false;
}

void tali_table_keep(tali_table_reader *r, tali_table_span key, tali_table_span value)
{
    char shown[44];
    key = tali_table_span_trim(key);
    value = tali_table_span_trim(value);
    if (key.begin == key.end || has_control(key) || has_control(value)) {
        tali_table_warn(r, "the key '%s' is ignored: it is empty or has control characters",
                        tali_table_show(key, shown));
        return;
    }
    if (r->num_headers++ >= TALI_MAX_HEADER_LINES) {
        tali_table_error(r, "the header has more than %d keys", TALI_MAX_HEADER_LINES);
        return;
    }
    const char *name = tali_table_copy(r, key), *text = tali_table_copy(r, value);
    if (r->no_memory || tali_table_reserves(name) || strchr(name, '=') != NULL) return;
    if (tal_table_header(r->table, name) != NULL) {
        tali_table_warn(r, "the key '%s' is given twice; the last value is used",
                        tali_table_show(key, shown));
    }
    if (tal_table_set_header(r->table, name, text) == TAL_ERR_NO_MEMORY) r->no_memory = true;
}

void tali_table_degrees(tali_table_reader *r, tali_table_span value)
{
    if (tali_table_span_is(value, "yes") || tali_table_span_is(value, "true") ||
        tali_table_span_is(value, "1")) {
        tal_table_set_in_degrees(r->table, true);
    } else if (tali_table_span_is(value, "no") || tali_table_span_is(value, "false") ||
               tali_table_span_is(value, "0")) {
        tal_table_set_in_degrees(r->table, false);
    } else {
        char shown[44];
        tali_table_error(r, "inDegrees is '%s'; it must be yes or no",
                         tali_table_show(value, shown));
    }
}

// A column whose name is taken: "name_2", "name_3", ..., whichever is free.
static void label_again(tali_table_reader *r, const char *name)
{
    const size_t length = strlen(name);
    char *other = tali_arena_take(&r->arena, length + 16);
    if (other == NULL) {
        r->no_memory = true;
        return;
    }
    int k = 2;
    do {
        (void)snprintf(other, length + 16, "%s_%d", name, k++);
    } while (tal_table_find_column(r->table, other) >= 0);
    char shown[44];
    const tali_table_span span = {name, name + length};
    tali_table_warn(r, "columns %d and %d are both named '%s'; the second one is read as '%.60s'",
                    tal_table_find_column(r->table, name) + 1, tal_table_num_columns(r->table) + 1,
                    tali_table_show(span, shown), other);
    if (tal_table_add_column(r->table, other) != TAL_OK) r->no_memory = true;
}

void tali_table_label(tali_table_reader *r, const char *name)
{
    if (r->no_memory) return;
    const tali_table_span span = {name, name + strlen(name)};
    const int column = tal_table_num_columns(r->table) + 1;
    char shown[44];
    if (span.begin == span.end) {
        tali_table_error(r, "column %d has no name", column);
    } else if (has_control(span) || *name == ' ' || span.end[-1] == ' ') {
        tali_table_error(r, "column %d is named '%s', with characters that a name cannot have",
                         column, tali_table_show(span, shown));
    } else if (tal_table_find_column(r->table, name) >= 0) {
        label_again(r, name);
    } else if (tal_table_add_column(r->table, name) != TAL_OK) {
        r->no_memory = true;
    }
}

// --- rows ---

void tali_table_check_rows(tali_table_reader *r, const char *key, int said, int rows)
{
    if (said < 0 || said == rows || !tali_table_goes_on(r)) return;
    if (rows > said) {
        tali_table_file_error(r, "the header says %s=%d, but there are %d rows", key, said, rows);
    } else {
        tal_diagnostics_add(r->found, TAL_WARNING, r->file, 0, 0,
                            "the header says %s=%d, but there are %d rows: was the file cut off?",
                            key, said, rows);
    }
}

// "1,2,3" into its parts at out[0] ...
static bool split_vector(tali_table_span field, int parts, tali_table_span out[])
{
    const char *at = field.begin;
    for (int k = 0; k < parts; ++k) {
        const char *stop = at;
        while (stop < field.end && *stop != ',') {
            ++stop;
        }
        const bool is_last = k == parts - 1;
        if ((stop == field.end) != (is_last || field.begin == field.end)) return false;
        out[k] = tali_table_span_trim((tali_table_span){at, stop});
        at = stop < field.end ? stop + 1 : stop;
    }
    return true;
}

bool tali_table_split_vectors(tali_table_reader *r, int parts)
{
    const int n = r->num_fields;
    for (int have = n; have < n * parts; ++have) { // room for all
        if (!tali_grow(&r->allocator, (void **)&r->fields, have, &r->fields_capacity,
                       sizeof *r->fields)) {
            r->no_memory = true;
            return false;
        }
    }
    for (int i = n - 1; i > 0; --i) { // from behind: none is overwritten before it is cut
        const tali_table_span field = r->fields[i];
        if (split_vector(field, parts, &r->fields[1 + (i - 1) * parts])) continue;
        char shown[44];
        tali_table_error(r, "'%s' is not a vector of %d numbers with commas between them",
                         tali_table_show(field, shown), parts);
        return false;
    }
    if (n > 0) r->num_fields = 1 + (n - 1) * parts;
    return true;
}

void tali_table_begin_rows(tali_table_reader *r)
{
    r->row = tali_alloc(&r->allocator, (size_t)tal_table_num_columns(r->table) * sizeof(double));
    r->no_memory = r->no_memory || r->row == NULL;
    r->last_time = TALI_NAN;
}

// "nan(ind)" and "1.#QNAN" are what C libraries print for NaN, "1.#INF" for infinity.
static bool read_odd(tali_table_span field, const char *stop, double *value)
{
    if (stop != NULL && isnan(*value) && *stop == '(' && field.end[-1] == ')') return true;
    const char *hash = field.begin + (*field.begin == '-' || *field.begin == '+' ? 1 : 0);
    if (field.end - hash < 4 || memcmp(hash, "1.#", 3) != 0) return false;
    const bool infinite = tali_table_span_is((tali_table_span){hash + 3, field.end}, "INF");
    *value = !infinite ? TALI_NAN : *field.begin == '-' ? -(double)INFINITY : (double)INFINITY;
    return infinite || tali_table_span_is((tali_table_span){hash + 3, field.end}, "IND") ||
           tali_table_span_is((tali_table_span){hash + 3, field.end}, "QNAN");
}

bool tali_table_read_value(tali_table_span field, double *value)
{
    if (is_quoted(field)) {
        field = tali_table_span_trim((tali_table_span){field.begin + 1, field.end - 1});
    }
    *value = TALI_NAN;
    if (field.begin == field.end) return true;
    const char *stop = tal_number_read(field.begin, field.end, value);
    return stop == field.end || read_odd(field, stop, value);
}

static bool has_decimal_comma(tali_table_span field)
{
    char copy[64];
    const size_t length = (size_t)(field.end - field.begin);
    const char *comma = memchr(field.begin, ',', length);
    if (comma == NULL || length > sizeof copy) return false;
    memcpy(copy, field.begin, length);
    copy[comma - field.begin] = '.';
    double value = 0.0;
    return tali_table_read_value((tali_table_span){copy, copy + length}, &value);
}

static void refuse_value(tali_table_reader *r, int column)
{
    const tali_table_span field = r->fields[r->skip + column];
    char shown[44];
    const char *name = tal_table_column_name(r->table, column);
    tali_table_error(r, "column '%.60s': '%s' %s", name, tali_table_show(field, shown),
                     has_decimal_comma(field) ? "has a decimal comma; write a point"
                                              : "is not a number that a double can hold");
}

static void refuse_count(tali_table_reader *r, int expected)
{
    const int n = r->num_fields;
    tali_table_error(r, "the row has %d fields, but there are %d columns%s", n, expected,
                     n == 2 * expected ? "; are these decimal commas?" : "");
}

// Time increases. Twice the same instant is how an event is recorded, but it may also be a slip.
static bool check_time(tali_table_reader *r)
{
    const double t = r->row[0];
    if (!isfinite(t)) {
        tali_table_error(r, "the time is missing or not finite");
        return false;
    }
    if (t < r->last_time) {
        tali_table_error(r, "time goes back from %.10g to %.10g", r->last_time, t);
        return false;
    }
    if (t == r->last_time) tali_table_warn(r, "time %.10g is given twice", t);
    r->last_time = t;
    return true;
}

void tali_table_add_row(tali_table_reader *r)
{
    if ((r->timed && !check_time(r)) || r->errors > 0) return;
    if (tal_table_add_row(r->table, r->row) != TAL_OK) r->no_memory = true;
}

void tali_table_take_row(tali_table_reader *r)
{
    const int n = tal_table_num_columns(r->table), expected = r->skip + n;
    // one separator too many at the end of each line is common
    if (r->num_fields == expected + 1 && r->fields[expected].begin == r->fields[expected].end) {
        --r->num_fields;
    }
    if (r->num_fields != expected) {
        refuse_count(r, expected);
        return;
    }
    bool good = true;
    for (int i = 0; i < n && tali_table_goes_on(r); ++i) {
        if (tali_table_read_value(r->fields[r->skip + i], &r->row[i])) continue;
        refuse_value(r, i);
        good = false;
    }
    if (good) tali_table_add_row(r);
}
