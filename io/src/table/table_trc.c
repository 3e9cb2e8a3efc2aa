// Markers, .trc: the kind of file, a line of keys and one of their values, a line of marker names,
// a line of X1 Y1 Z1 ..., rows that begin with the number of the frame and the time.
#include "table/table_internal.h"

#include <talus/io/number.h>

#include <stdio.h>
#include <string.h>

typedef struct counts {
    int frames, markers; // -1: not said
    bool units;          // said
} counts;

static bool next_or_error(tali_table_reader *r, const char *subject)
{
    if (tali_table_next(r)) return true;
    if (tali_table_goes_on(r)) tali_table_file_error(r, "the file ends before %s", subject);
    return false;
}

// PathFileType 4 (X/Y/Z) walk.trc, with tabs or blanks or both between them. The name may have
// blanks in it.
static bool read_kind(tali_table_reader *r)
{
    if (!next_or_error(r, "its first line")) return false;
    tali_table_split(r, ' ');
    if (r->num_fields == 0 || !tali_table_span_is(r->fields[0], "PathFileType")) {
        tali_table_error(
            r, "the first line does not begin with PathFileType: this is not a .trc file");
        return false;
    }
    static const char name[] = "name";
    if (r->num_fields > 3) {
        const char *stop = r->fields[3].begin; // what stands behind a tab is something else
        while (stop < r->text.end && *stop != '\t') {
            ++stop;
        }
        tali_table_keep(r, (tali_table_span){name, name + 4},
                        (tali_table_span){r->fields[3].begin, stop});
    }
    return true;
}

static void take_units(tali_table_reader *r, tali_table_span value, counts *said)
{
    char shown[44];
    if (tali_table_span_is(value, "m") || tali_table_span_is(value, "cm") ||
        tali_table_span_is(value, "mm")) {
        said->units = true;
    } else {
        tali_table_error(r, "Units are '%s'; they must be m, cm or mm",
                         tali_table_show(value, shown));
    }
}

static void take_entry(tali_table_reader *r, tali_table_span key, tali_table_span value,
                       counts *said)
{
    if (tali_table_span_is(key, "NumFrames")) {
        said->frames = tali_table_count(r, "NumFrames", value);
    } else if (tali_table_span_is(key, "NumMarkers")) {
        said->markers = tali_table_count(r, "NumMarkers", value);
    } else if (tali_table_span_is(key, "Units")) {
        static const char units[] = "Units";
        take_units(r, value, said);
        tali_table_keep(r, (tali_table_span){units, units + 5}, value);
    } else {
        tali_table_keep(r, key, value);
    }
}

// Keys in one line, values in the next. Neither has blanks in it.
static bool read_entries(tali_table_reader *r, counts *said)
{
    if (!next_or_error(r, "the line of keys")) return false;
    tali_table_split(r, tali_table_span_has(tali_table_span_trim(r->text), '\t') ? '\t' : ' ');
    tali_table_drop_empty(r);
    const int n = r->num_fields;
    tali_table_span *keys = tali_arena_take(&r->arena, ((size_t)n + 1) * sizeof *keys);
    if (keys == NULL) {
        r->no_memory = true;
        return false;
    }
    if (n > 0) memcpy(keys, r->fields, (size_t)n * sizeof *keys);
    if (!next_or_error(r, "the values of its keys")) return false;
    tali_table_split(r, tali_table_span_has(tali_table_span_trim(r->text), '\t') ? '\t' : ' ');
    tali_table_drop_empty(r);
    if (r->num_fields > n) {
        tali_table_error(r, "there are %d values for %d keys", r->num_fields, n);
        return false;
    }
    for (int i = 0; i < r->num_fields && tali_table_goes_on(r); ++i) {
        if (keys[i].begin < keys[i].end) take_entry(r, keys[i], r->fields[i], said);
    }
    if (!said->units && r->errors == 0) {
        tali_table_error(r, "Units are missing; they must be m, cm or mm");
    }
    return r->errors == 0;
}

// "name.x" and so on, in the arena; NULL when memory runs out.
static char *axis_label(tali_table_reader *r, tali_table_span name, int copy, const char *end)
{
    const int length = (int)(name.end - name.begin);
    const size_t room = (size_t)length + 16;
    char *label = tali_arena_take(&r->arena, room);
    if (label == NULL) {
        r->no_memory = true;
    } else if (copy == 1) {
        (void)snprintf(label, room, "%.*s%s", length, name.begin, end);
    } else {
        (void)snprintf(label, room, "%.*s_%d%s", length, name.begin, copy, end);
    }
    return label;
}

// A marker whose name is taken is read as "name_2", "name_3", ..., whichever is free. It is the
// marker that gets another name, not its columns: each marker has an x, a y and a z.
static int free_copy(tali_table_reader *r, tali_table_span name)
{
    for (int copy = 1;; ++copy) {
        const char *label = axis_label(r, name, copy, ".x");
        if (label != NULL && tal_table_find_column(r->table, label) >= 0) continue;
        if (label != NULL && copy > 1) {
            char shown[44];
            tali_table_warn(r, "two markers are named '%s'; the second one is read as '%.*s'",
                            tali_table_show(name, shown), (int)strlen(label) - 2, label);
        }
        return copy;
    }
}

static void add_marker(tali_table_reader *r, tali_table_span name)
{
    static const char *const ends[] = {".x", ".y", ".z"};
    const int copy = free_copy(r, name);
    for (int k = 0; k < 3 && !r->no_memory; ++k) {
        const char *label = axis_label(r, name, copy, ends[k]);
        if (label != NULL) tali_table_label(r, label);
    }
}

// Frame# Time LASI RASI ..., with two empty fields after each name, or not.
static bool read_markers(tali_table_reader *r, const counts *said)
{
    if (!next_or_error(r, "the names of markers")) return false;
    tali_table_split_blanks(r);
    tali_table_drop_empty(r);
    if (r->num_fields < 2 || !tali_table_span_is(r->fields[1], "Time")) {
        tali_table_error(r, "the line of names does not begin with Frame# and Time");
        return false;
    }
    tali_table_label(r, "time");
    int markers = 0;
    for (int i = 2; i < r->num_fields && tali_table_goes_on(r); ++i) {
        if (r->fields[i].begin == r->fields[i].end) continue;
        add_marker(r, r->fields[i]);
        ++markers;
    }
    if (markers == 0 && r->errors == 0) tali_table_error(r, "there are no markers");
    if (said->markers >= 0 && said->markers != markers && r->errors == 0) {
        tali_table_error(r, "the header says NumMarkers=%d, but there are %d names", said->markers,
                         markers);
    }
    return tali_table_goes_on(r) && r->errors == 0;
}

// X1 Y1 Z1 ...: adds no information, but must be there.
static bool read_axes(tali_table_reader *r)
{
    if (!next_or_error(r, "the line X1 Y1 Z1")) return false;
    tali_table_split(r, ' ');
    if (r->num_fields == 0 || *r->fields[0].begin != 'X') {
        tali_table_error(r, "the line X1 Y1 Z1 ... is missing");
        return false;
    }
    const int expected = tal_table_num_columns(r->table) - 1;
    if (r->num_fields != expected) {
        tali_table_warn(r, "there are %d labels X1 Y1 Z1 ... for %d columns", r->num_fields,
                        expected);
    }
    return true;
}

static void check_frame(tali_table_reader *r, int *frame, bool *warned)
{
    const tali_table_span field = r->fields[0];
    const int before = *frame;
    char shown[44];
    if (field.begin == field.end) return;
    if (tal_integer_read(field.begin, field.end, frame) != field.end) {
        tali_table_error(r, "'%s' is not a frame number", tali_table_show(field, shown));
    } else if (before >= 0 && *frame - 1 != before && !*warned) {
        tali_table_warn(r, "frame %d follows frame %d; frame numbers are not kept", *frame, before);
        *warned = true;
    }
}

void tali_table_read_trc(tali_table_reader *r)
{
    counts said = {-1, -1, false};
    if (!read_kind(r) || !read_entries(r, &said) || !read_markers(r, &said) || !read_axes(r)) {
        return;
    }
    r->timed = true;
    r->skip = 1;
    tali_table_begin_rows(r);
    int rows = 0, frame = -1;
    bool warned = false;
    while (tali_table_next(r)) {
        tali_table_split_blanks(r);
        if (r->num_fields > 0) check_frame(r, &frame, &warned);
        tali_table_take_row(r);
        ++rows;
    }
    tali_table_check_rows(r, "NumFrames", said.frames, rows);
}
