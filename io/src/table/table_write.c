// Tables as text, and where bytes go.
#include "error_internal.h"
#include "file_internal.h"

#include "table/table_internal.h"

#include <talus/io/number.h>

#include <math.h>
#include <string.h>

// --- the sink ---

// CRC-32 as zip has it: the polynomial 0xedb88320, reflected, half a byte at a time.
static uint32_t add_crc(uint32_t crc, const unsigned char *bytes, size_t size)
{
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                       0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                       0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    crc = ~crc;
    for (size_t i = 0; i < size; ++i) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

void tali_table_put(tali_table_sink *sink, const void *bytes, size_t size)
{
    if (sink->sums) sink->crc = add_crc(sink->crc, bytes, size);
    if (sink->file != NULL && fwrite(bytes, 1, size, sink->file) != size) sink->failed = true;
    if (sink->take != NULL && !sink->failed) sink->failed = !sink->take(sink->context, bytes, size);
    if (sink->length < sink->capacity) {
        const size_t room = sink->capacity - sink->length;
        memcpy(sink->bytes + sink->length, bytes, size < room ? size : room);
    }
    sink->length += size;
}

void tali_table_put_text(tali_table_sink *sink, const char *text)
{
    tali_table_put(sink, text, strlen(text));
}

void tali_table_put_number(tali_table_sink *sink, double value)
{
    char text[TAL_NUMBER_SIZE];
    const int n = tal_number_write(value, text);
    tali_table_put(sink, text, (size_t)n);
}

static void put_count(tali_table_sink *sink, int n)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%d", n);
    tali_table_put_text(sink, text);
}

// A byte-order mark at the beginning of a file would not be taken for a part of a name.
static bool begins_with_mark(const char *text)
{
    return strncmp(text, "\xef\xbb\xbf", 3) == 0;
}

static void put_entry(tali_table_sink *sink, const char *key, const char *value)
{
    tali_table_put_text(sink, key);
    tali_table_put(sink, "=", 1);
    tali_table_put_text(sink, value);
    tali_table_put(sink, "\n", 1);
}

static void put_row(tali_table_sink *sink, const tal_table *table, int row, char separator)
{
    const int n = tal_table_num_columns(table);
    const double *values = tal_table_row(table, row);
    for (int i = 0; i < n; ++i) {
        if (i > 0) tali_table_put(sink, &separator, 1);
        tali_table_put_number(sink, values[i]);
    }
    tali_table_put(sink, "\n", 1);
}

// --- .sto ---

// Column 0 is "time", and it increases: what readers require.
static tal_status check_time(const tal_table *table, tal_error *err)
{
    if (tal_table_num_columns(table) == 0 || strcmp(tal_table_column_name(table, 0), "time") != 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "the first column is not 'time'");
    }
    for (int i = 0; i < tal_table_num_rows(table); ++i) {
        const double t = tal_table_value(table, i, 0);
        if (!isfinite(t) || (i > 0 && t < tal_table_value(table, i - 1, 0))) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "row %d: time %g does not increase", i, t);
        }
    }
    return TAL_OK;
}

// Tabs are between labels, so a label may have blanks in it only where there are tabs.
static void write_sto(const tal_table *table, tali_table_sink *sink)
{
    const char *name = tal_table_header(table, "name");
    const bool plain = name != NULL && !begins_with_mark(name) && strchr(name, '=') == NULL &&
                       name[0] != '\0' && strncmp(name, "name ", 5) != 0 &&
                       strncmp(name, "data", 4) != 0;
    tali_table_put_text(sink, plain ? name : "table");
    tali_table_put_text(sink, "\nversion=1\nnRows=");
    put_count(sink, tal_table_num_rows(table));
    tali_table_put_text(sink, "\nnColumns=");
    put_count(sink, tal_table_num_columns(table));
    tali_table_put(sink, "\n", 1);
    put_entry(sink, "inDegrees", tal_table_in_degrees(table) ? "yes" : "no");
    for (int i = 0; i < tal_table_num_headers(table); ++i) {
        const char *key = tal_table_header_key(table, i);
        if (!plain || strcmp(key, "name") != 0) {
            put_entry(sink, key, tal_table_header(table, key));
        }
    }
    tali_table_put_text(sink, "endheader\n");
    const int n = tal_table_num_columns(table);
    for (int i = 0; i < n; ++i) {
        tali_table_put_text(sink, tal_table_column_name(table, i));
        tali_table_put(sink, i + 1 < n ? "\t" : "\n", 1);
    }
    for (int i = 0; i < tal_table_num_rows(table); ++i) {
        put_row(sink, table, i, '\t');
    }
}

// --- .csv ---

// A name is quoted where it would be taken for something else: two names, a comment, a number, or,
// at the beginning of a file, an element of XML.
static void put_name(tali_table_sink *sink, const char *name)
{
    const tali_table_span span = {name, name + strlen(name)};
    double value = 0.0;
    if (strpbrk(name, ",;\"#") == NULL && *name != '<' && !begins_with_mark(name) &&
        !tali_table_read_value(span, &value)) {
        tali_table_put_text(sink, name);
        return;
    }
    tali_table_put(sink, "\"", 1);
    for (const char *at = name; *at != '\0'; ++at) {
        if (*at == '"') tali_table_put(sink, at, 1);
        tali_table_put(sink, at, 1);
    }
    tali_table_put(sink, "\"", 1);
}

static void write_csv(const tal_table *table, tali_table_sink *sink)
{
    if (tal_table_in_degrees(table)) tali_table_put_text(sink, "# inDegrees=yes\n");
    for (int i = 0; i < tal_table_num_headers(table); ++i) {
        const char *key = tal_table_header_key(table, i);
        tali_table_put_text(sink, "# ");
        put_entry(sink, key, tal_table_header(table, key));
    }
    for (int i = 0; i < tal_table_num_columns(table); ++i) {
        if (i > 0) tali_table_put(sink, ",", 1);
        put_name(sink, tal_table_column_name(table, i));
    }
    tali_table_put(sink, "\n", 1);
    for (int i = 0; i < tal_table_num_rows(table); ++i) {
        put_row(sink, table, i, ',');
    }
}

// --- .trc ---

// Length of the name of the marker that a column is of; 0 when it is of none, or cannot be
// alone.
static size_t stem(const char *name, char axis)
{
    const size_t length = strlen(name);
    if (length < 3 || name[length - 2] != '.' || name[length - 1] != axis) return 0;
    return name[length - 3] != ' ' ? length - 2 : 0;
}

static tal_status check_markers(const tal_table *table, tal_error *err)
{
    const int n = tal_table_num_columns(table);
    if (n < 4) return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there are no markers");
    for (int i = 1; i < n; ++i) {
        const char *first = tal_table_column_name(table, i - (i - 1) % 3);
        const char *name = tal_table_column_name(table, i);
        const size_t length = stem(name, "xyz"[(i - 1) % 3]);
        if (length == 0 || strncmp(name, first, length + 1) != 0 || (n - 1) % 3 != 0) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                             "column '%.60s' is in a place where <marker>.x, .y or .z is expected",
                             name);
        }
    }
    return TAL_OK;
}

static void put_header_or(tali_table_sink *sink, const tal_table *table, const char *key,
                          const char *otherwise)
{
    const char *value = tal_table_header(table, key);
    tali_table_put_text(sink, value != NULL ? value : otherwise);
    tali_table_put(sink, "\t", 1);
}

// The five lines before the rows; rates that are not given follow from the times.
static void put_trc_header(const tal_table *table, tali_table_sink *sink)
{
    const int frames = tal_table_num_rows(table), markers = (tal_table_num_columns(table) - 1) / 3;
    char rate[TAL_NUMBER_SIZE] = "0", count[16];
    const double span =
        frames > 1 ? tal_table_value(table, frames - 1, 0) - tal_table_value(table, 0, 0) : 0.0;
    if (span > 0.0) (void)tal_number_write((frames - 1) / span, rate);
    (void)snprintf(count, sizeof count, "%d", frames);
    const char *name = tal_table_header(table, "name");
    tali_table_put_text(sink, "PathFileType\t4\t(X/Y/Z)\t");
    tali_table_put_text(sink, name != NULL ? name : "markers.trc");
    tali_table_put_text(sink, "\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\t"
                              "OrigDataStartFrame\tOrigNumFrames\n");
    put_header_or(sink, table, "DataRate", rate);
    put_header_or(sink, table, "CameraRate", rate);
    put_count(sink, frames);
    tali_table_put(sink, "\t", 1);
    put_count(sink, markers);
    tali_table_put(sink, "\t", 1);
    put_header_or(sink, table, "Units", "m");
    put_header_or(sink, table, "OrigDataRate", rate);
    put_header_or(sink, table, "OrigDataStartFrame", "1");
    const char *original = tal_table_header(table, "OrigNumFrames");
    tali_table_put_text(sink, original != NULL ? original : count);
    tali_table_put_text(sink, "\nFrame#\tTime\t");
    for (int i = 0; i < markers; ++i) {
        const char *label = tal_table_column_name(table, 1 + 3 * i);
        tali_table_put(sink, label, strlen(label) - 2);
        tali_table_put_text(sink, i + 1 < markers ? "\t\t\t" : "");
    }
    tali_table_put_text(sink, "\n\t\t");
    for (int i = 1; i <= markers; ++i) {
        char axes[64];
        (void)snprintf(axes, sizeof axes, "X%d\tY%d\tZ%d%s", i, i, i, i < markers ? "\t" : "");
        tali_table_put_text(sink, axes);
    }
    tali_table_put_text(sink, "\n\n");
}

// A marker that is not seen is a blank.
static void write_trc(const tal_table *table, tali_table_sink *sink)
{
    put_trc_header(table, sink);
    const int n = tal_table_num_columns(table);
    for (int i = 0; i < tal_table_num_rows(table); ++i) {
        const double *row = tal_table_row(table, i);
        put_count(sink, i + 1);
        for (int k = 0; k < n; ++k) {
            tali_table_put(sink, "\t", 1);
            if (!isnan(row[k])) tali_table_put_number(sink, row[k]);
        }
        tali_table_put(sink, "\n", 1);
    }
}

// --- entry points ---

// Check that the table fits the format, then write it.
static tal_status write_table(const tal_table *table, tal_table_format format,
                              tali_table_sink *sink, tal_error *err)
{
    tal_status st = TAL_OK;
    if (format == TAL_TABLE_STO || format == TAL_TABLE_TRC) st = check_time(table, err);
    if (st == TAL_OK && format == TAL_TABLE_TRC) st = check_markers(table, err);
    if (st == TAL_OK && format == TAL_TABLE_CSV && tal_table_num_columns(table) == 0) {
        st = TALI_FAIL(err, TAL_ERR_BAD_VALUE, "a table without columns cannot be a .csv");
    }
    if (st != TAL_OK) return st;
    switch (format) {
    case TAL_TABLE_STO:
        write_sto(table, sink);
        break;
    case TAL_TABLE_TRC:
        write_trc(table, sink);
        break;
    case TAL_TABLE_CSV:
        write_csv(table, sink);
        break;
    case TAL_TABLE_NPZ:
        tali_table_write_npz(table, sink);
        break;
    case TAL_TABLE_C3D:
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "a .c3d file can be read, but not written: use .trc, .sto or .csv");
    }
    if (sink->too_long) {
        return TALI_FAIL(
            err, TAL_ERR_BAD_VALUE,
            "a .npz file is limited to 4 GiB, and this table is larger; write .sto or .csv");
    }
    return TAL_OK;
}

tal_status tal_table_write_memory(const tal_table *table, tal_table_format format, char bytes[],
                                  size_t capacity, size_t *length, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (length != NULL) *length = 0;
    if (table == NULL || length == NULL || (bytes == NULL && capacity > 0)) {
        return TALI_BREACH(TAL_ERR_NULL, "%s is NULL",
                           table == NULL    ? "the table"
                           : length == NULL ? "'length'"
                                            : "'bytes'");
    }
    tali_table_sink sink = {.bytes = bytes, .capacity = capacity};
    const tal_status st = write_table(table, format, &sink, err);
    *length = sink.length;
    return st;
}

tal_status tal_table_write_to(const tal_table *table, tal_table_format format,
                              bool (*take)(void *context, const void *bytes, size_t size),
                              void *context, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (table == NULL || take == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "%s is NULL", table == NULL ? "the table" : "'take'");
    }
    tali_table_sink sink = {.take = take, .context = context};
    const tal_status st = write_table(table, format, &sink, err);
    if (st != TAL_OK || !sink.failed) return st;
    return TALI_FAIL(err, TAL_ERR_CALLBACK, "not all bytes were written");
}

tal_status tal_table_write_file(const tal_table *table, const char *path, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (table == NULL || path == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the %s is NULL", table == NULL ? "table" : "path");
    }
    tal_table_format format = TAL_TABLE_STO;
    if (!tal_table_format_of(path, &format)) {
        return TALI_FAIL(err, TAL_ERR_FILE, "'%s' does not end with .sto, .mot, .trc, .csv or .npz",
                         path);
    }
    tali_file_replacement out;
    tal_status st = tali_file_replace_begin(&out, path, __func__, err);
    if (st != TAL_OK) return st;
    tali_table_sink sink = {.file = out.file};
    st = write_table(table, format, &sink, err);
    const tal_status finished = tali_file_replace_finish(&out, st == TAL_OK, __func__, err);
    return st != TAL_OK ? st : finished;
}
