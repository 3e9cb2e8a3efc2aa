// OpenSim storage, .sto and .mot: a header of "key=value" lines until "endheader", a line of
// labels, rows. SIMM's older .mot says "datarows 10" instead of "nRows=10".
#include "table/table_internal.h"

#include <talus/io/number.h>

#include <stdio.h>
#include <string.h>

// What the elements of a table are, and the columns that each becomes.
typedef struct element_type {
    const char *name;
    int parts;
    const char *ends[4]; // of the names of columns; NULL: ".1", ".2", ...
} element_type;

static const element_type types[] = {{"double", 1, {""}},
                                     {"Vec3", 3, {".x", ".y", ".z"}},
                                     {"UnitVec3", 3, {".x", ".y", ".z"}},
                                     {"Quaternion", 4, {".w", ".x", ".y", ".z"}},
                                     {"Vec2", 2, {NULL}},
                                     {"Vec4", 4, {NULL}},
                                     {"Vec5", 5, {NULL}},
                                     {"Vec6", 6, {NULL}},
                                     {"SpatialVec", 6, {NULL}},
                                     {"Vec7", 7, {NULL}},
                                     {"Vec8", 8, {NULL}},
                                     {"Vec9", 9, {NULL}}};

enum {
    NUM_TYPES = sizeof types / sizeof *types
};

typedef struct counts {
    int rows, columns; // -1: not said
    bool degrees;      // said
    bool simm;         // keys of SIMM, whose angles are in degrees
    const element_type *type;
} counts;

static void set_count(tali_table_reader *r, const char *key, tali_table_span value, int *count)
{
    const int n = tali_table_count(r, key, value);
    if (*count >= 0 && n >= 0 && *count != n) {
        tali_table_error(r, "%s=%d contradicts the value %d above", key, n, *count);
    }
    *count = n;
}

static void check_version(tali_table_reader *r, tali_table_span value)
{
    int version = 0;
    if (tal_integer_read(value.begin, value.end, &version) == value.end && version >= 1 &&
        version <= 3) {
        return;
    }
    char shown[44];
    tali_table_error(r, "version '%s' is unknown; it must be 1, 2 or 3",
                     tali_table_show(value, shown));
}

static void take_type(tali_table_reader *r, tali_table_span value, counts *said)
{
    for (int i = 0; i < NUM_TYPES; ++i) {
        if (!tali_table_span_is(value, types[i].name)) continue;
        said->type = &types[i];
        return;
    }
    char shown[44];
    tali_table_error(r,
                     "columns of type '%s' cannot be read; it must be double, Vec3, Quaternion or "
                     "another vector",
                     tali_table_show(value, shown));
}

// A key of the header: one that is checked, or one that is kept.
static void take_entry(tali_table_reader *r, tali_table_span key, tali_table_span value,
                       counts *said)
{
    key = tali_table_span_trim(key);
    value = tali_table_span_trim(value);
    if (tali_table_span_is(key, "version")) {
        check_version(r, value);
    } else if (tali_table_span_is(key, "nRows") || tali_table_span_is(key, "datarows")) {
        set_count(r, "nRows", value, &said->rows);
    } else if (tali_table_span_is(key, "nColumns") || tali_table_span_is(key, "datacolumns")) {
        set_count(r, "nColumns", value, &said->columns);
    } else if (tali_table_span_is(key, "inDegrees")) {
        tali_table_degrees(r, value);
        said->degrees = true;
    } else if (tali_table_span_is(key, "DataType")) {
        take_type(r, value, said);
    } else {
        tali_table_keep(r, key, value);
    }
}

// A line without '=': the name, SIMM's keys, or prose, of which only the name is kept.
static void take_words(tali_table_reader *r, tali_table_span text, bool is_first, counts *said)
{
    const char *stop = text.begin;
    while (stop < text.end && *stop != ' ' && *stop != '\t') {
        ++stop;
    }
    const tali_table_span word = {text.begin, stop},
                          rest = tali_table_span_trim((tali_table_span){stop, text.end});
    static const char name[] = "name";
    const tali_table_span key = {name, name + 4};
    if (tali_table_span_is(word, "datarows") || tali_table_span_is(word, "datacolumns")) {
        take_entry(r, word, rest, said);
        said->simm = true;
    } else if (tali_table_span_is(word, name) && rest.begin < rest.end) {
        tali_table_keep(r, key, rest);
    } else if (is_first) {
        tali_table_keep(r, key, text);
    }
}

static bool read_header(tali_table_reader *r, counts *said)
{
    for (int i = 0; tali_table_next(r); ++i) {
        const tali_table_span text = tali_table_span_trim(r->text);
        if (tali_table_span_is(text, "endheader")) return true;
        if (i >= TALI_MAX_HEADER_LINES) {
            tali_table_error(r, "there is no 'endheader' within %d lines", TALI_MAX_HEADER_LINES);
            return false;
        }
        const char *equals = memchr(text.begin, '=', (size_t)(text.end - text.begin));
        if (equals != NULL) {
            take_entry(r, (tali_table_span){text.begin, equals},
                       (tali_table_span){equals + 1, text.end}, said);
        } else {
            take_words(r, text, i == 0, said);
        }
    }
    if (tali_table_goes_on(r)) tali_table_file_error(r, "the header does not end: no 'endheader'");
    return false;
}

// The columns of one label.
static void add_label(tali_table_reader *r, const char *name, const element_type *type)
{
    const size_t size = strlen(name) + 8;
    for (int k = 0; k < type->parts && !r->no_memory; ++k) {
        char *label = tali_arena_take(&r->arena, size);
        if (label == NULL) {
            r->no_memory = true;
        } else if (type->ends[0] != NULL) {
            (void)snprintf(label, size, "%s%s", name, type->ends[k]);
            tali_table_label(r, label);
        } else {
            (void)snprintf(label, size, "%s.%d", name, k + 1);
            tali_table_label(r, label);
        }
    }
}

// The line of labels, which begins with time: a column, or those of a vector, for each.
static bool read_labels(tali_table_reader *r, const element_type *type)
{
    if (!tali_table_next(r)) {
        tali_table_file_error(r, "there is no line of labels after the header");
        return false;
    }
    tali_table_split_blanks(r);
    tali_table_drop_empty(r);
    const int errors = r->errors; // in the header; rows are looked at all the same
    char shown[44];
    if (r->num_fields > 0 && !tali_table_span_is(r->fields[0], "time")) {
        tali_table_error(r, "the first column is '%s', not 'time'",
                         tali_table_show(r->fields[0], shown));
        return false;
    }
    for (int i = 0; i < r->num_fields && tali_table_goes_on(r); ++i) {
        if (i == 0) {
            tali_table_label(r, "time");
        } else {
            add_label(r, tali_table_copy(r, r->fields[i]), type);
        }
    }
    return tali_table_goes_on(r) && r->errors == errors;
}

void tali_table_read_sto(tali_table_reader *r)
{
    counts said = {.rows = -1, .columns = -1, .type = &types[0]};
    if (!read_header(r, &said) || !tali_table_goes_on(r)) return;
    const int parts = said.type->parts;
    if (!said.degrees && parts == 1) {
        tali_table_warn(r, "the header does not say inDegrees: %s are assumed",
                        said.simm ? "degrees, as in motions of SIMM," : "radians");
        tal_table_set_in_degrees(r->table, said.simm);
    }
    if (!read_labels(r, said.type)) return;
    const int labels = 1 + (tal_table_num_columns(r->table) - 1) / parts;
    if (said.columns >= 0 && said.columns != labels) {
        tali_table_error(r, "the header says nColumns=%d, but there are %d labels", said.columns,
                         labels);
    }
    r->timed = true;
    tali_table_begin_rows(r);
    int rows = 0;
    while (tali_table_next(r)) {
        tali_table_split_blanks(r);
        if (parts > 1 && r->num_fields > labels) tali_table_drop_empty(r); // a tab at the end
        if (parts == 1 || tali_table_split_vectors(r, parts)) tali_table_take_row(r);
        ++rows;
    }
    tali_table_check_rows(r, "nRows", said.rows, rows);
}
