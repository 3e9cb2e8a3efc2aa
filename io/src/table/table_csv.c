// Comma-separated values: comments with "key=value", a line of names, rows. Fields may be quoted.
#include "table/table_internal.h"

#include <string.h>

static void take_comment(tali_table_reader *r)
{
    tali_table_span text = tali_table_span_trim(r->text);
    text = tali_table_span_trim((tali_table_span){text.begin + 1, text.end});
    if (text.begin == text.end) return;
    const char *equals = memchr(text.begin, '=', (size_t)(text.end - text.begin));
    if (equals == NULL || equals == text.begin) return;
    const tali_table_span key = tali_table_span_trim((tali_table_span){text.begin, equals});
    const tali_table_span value = tali_table_span_trim((tali_table_span){equals + 1, text.end});
    if (tali_table_span_is(key, "inDegrees")) {
        tali_table_degrees(r, value);
    } else {
        tali_table_keep(r, key, value);
    }
}

static bool is_comment(const tali_table_reader *r)
{
    return *tali_table_span_trim(r->text).begin == '#';
}

// What separates fields is what the line of names has outside of quotes: ',' or ';' or a tab.
static char find_separator(tali_table_reader *r)
{
    bool quoted = false, comma = false, semicolon = false, tab = false;
    for (const char *at = r->text.begin; at < r->text.end; ++at) {
        if (*at == '"') quoted = !quoted;
        comma = comma || (!quoted && *at == ',');
        semicolon = semicolon || (!quoted && *at == ';');
        tab = tab || (!quoted && *at == '\t');
    }
    if (comma && semicolon) {
        tali_table_error(r, "the line of names has both ',' and ';', so it is unclear which "
                            "separates");
    }
    return (char)(comma ? ',' : semicolon ? ';' : tab ? '\t' : ',');
}

static bool has_names(const tali_table_reader *r)
{
    for (int i = 0; i < r->num_fields; ++i) {
        double value = 0.0;
        const tali_table_span field = r->fields[i];
        if (field.begin < field.end && *field.begin == '"') return true;
        if (!tali_table_read_value(field, &value)) return true;
    }
    return false;
}

// Comments, then the line of names, which tells what separates fields.
static bool read_names(tali_table_reader *r, char *separator)
{
    bool any = tali_table_next(r);
    while (any && is_comment(r)) {
        take_comment(r);
        any = tali_table_next(r);
    }
    if (!any) {
        if (tali_table_goes_on(r)) tali_table_file_error(r, "there is no line of names");
        return false;
    }
    *separator = find_separator(r);
    tali_table_split(r, *separator);
    if (r->errors > 0) return false;
    if (!has_names(r)) {
        tali_table_error(r, "the first line has numbers, not the names of columns");
        return false;
    }
    const int last = r->num_fields - 1;
    if (last > 0 && r->fields[last].begin == r->fields[last].end) --r->num_fields;
    for (int i = 0; i < r->num_fields && tali_table_goes_on(r); ++i) {
        tali_table_label(r, tali_table_string(r, r->fields[i]));
    }
    return tali_table_goes_on(r) && r->errors == 0;
}

void tali_table_read_csv(tali_table_reader *r)
{
    char separator = ',';
    if (!read_names(r, &separator)) return;
    r->timed = tali_table_same_word(tal_table_column_name(r->table, 0), "time");
    tali_table_begin_rows(r);
    while (tali_table_next(r)) {
        if (is_comment(r)) continue;
        tali_table_split(r, separator);
        if (r->num_fields > 0) tali_table_take_row(r);
    }
}
