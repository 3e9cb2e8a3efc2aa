// NumPy's .npz: a zip archive, nothing compressed, of .npy arrays of version 1.0.
//
//     data        float64 [rows, columns]
//     columns     names, unicode [columns]
//     header      keys and values, unicode [keys, 2]
//     in_degrees  bool, a scalar
//
// Everything is little-endian, whatever the machine.
#include "table/table_internal.h"

#include <string.h>

#define NUM_ENTRIES 4

typedef struct entry {
    const char *name;
    void (*put)(const tal_table *table, tali_table_sink *sink);
    uint32_t crc, size, offset;
} entry;

static void put_little(tali_table_sink *sink, uint64_t value, int bytes)
{
    unsigned char out[8];
    for (int i = 0; i < bytes; ++i) {
        out[i] = (unsigned char)(value >> (8 * i) & 0xff);
    }
    tali_table_put(sink, out, (size_t)bytes);
}

// --- arrays ---

// Magic, version 1.0, length of the dictionary, which is padded so that data begins at a multiple
// of 64.
static void put_array_header(tali_table_sink *sink, const char *type, const char *shape)
{
    char text[128];
    int length = snprintf(text, sizeof text,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
    while ((10 + length + 1) % 64 != 0) {
        text[length++] = ' ';
    }
    text[length++] = '\n';
    tali_table_put(sink, "\x93NUMPY\x01\x00", 8);
    put_little(sink, (uint64_t)length, 2);
    tali_table_put(sink, text, (size_t)length);
}

static void put_data(const tal_table *table, tali_table_sink *sink)
{
    const int rows = tal_table_num_rows(table), columns = tal_table_num_columns(table);
    char shape[32];
    (void)snprintf(shape, sizeof shape, "%d, %d", rows, columns);
    put_array_header(sink, "<f8", shape);
    for (int i = 0; i < rows; ++i) {
        const double *row = tal_table_row(table, i);
        for (int k = 0; k < columns; ++k) {
            uint64_t bits = 0;
            memcpy(&bits, &row[k], sizeof bits);
            put_little(sink, bits, 8);
        }
    }
}

// One character of UTF-8, and U+FFFD for a byte that belongs to none.
static uint32_t next_character(const char **text)
{
    const unsigned char *at = (const unsigned char *)*text;
    const int more = at[0] < 0x80             ? 0
                     : (at[0] & 0xe0) == 0xc0 ? 1
                     : (at[0] & 0xf0) == 0xe0 ? 2
                     : (at[0] & 0xf8) == 0xf0 ? 3
                                              : -1;
    uint32_t c = more == 0 ? at[0] : at[0] & (0x3fu >> (more > 0 ? more : 0));
    *text += 1;
    if (more < 0) return 0xfffd;
    for (int i = 1; i <= more; ++i) {
        if ((at[i] & 0xc0) != 0x80) return 0xfffd;
        c = c << 6 | (at[i] & 0x3f);
    }
    *text += more;
    return c <= 0x10ffff ? c : 0xfffd;
}

static int num_characters(const char *text)
{
    int n = 0;
    while (*text != '\0') {
        (void)next_character(&text);
        ++n;
    }
    return n;
}

// A string of fixed width in UCS-4, zeros behind it.
static void put_string(tali_table_sink *sink, const char *text, int width)
{
    for (int i = 0; i < width; ++i) {
        put_little(sink, *text != '\0' ? next_character(&text) : 0, 4);
    }
}

static int widest(int width, const char *text)
{
    const int n = num_characters(text);
    return n > width ? n : width;
}

static void put_columns(const tal_table *table, tali_table_sink *sink)
{
    const int n = tal_table_num_columns(table);
    int width = 1;
    for (int i = 0; i < n; ++i) {
        width = widest(width, tal_table_column_name(table, i));
    }
    char type[16], shape[16];
    (void)snprintf(type, sizeof type, "<U%d", width);
    (void)snprintf(shape, sizeof shape, "%d,", n);
    put_array_header(sink, type, shape);
    for (int i = 0; i < n; ++i) {
        put_string(sink, tal_table_column_name(table, i), width);
    }
}

static void put_header(const tal_table *table, tali_table_sink *sink)
{
    const int n = tal_table_num_headers(table);
    int width = 1;
    for (int i = 0; i < n; ++i) {
        const char *key = tal_table_header_key(table, i);
        width = widest(widest(width, key), tal_table_header(table, key));
    }
    char type[16], shape[16];
    (void)snprintf(type, sizeof type, "<U%d", width);
    (void)snprintf(shape, sizeof shape, "%d, 2", n);
    put_array_header(sink, type, shape);
    for (int i = 0; i < n; ++i) {
        const char *key = tal_table_header_key(table, i);
        put_string(sink, key, width);
        put_string(sink, tal_table_header(table, key), width);
    }
}

static void put_in_degrees(const tal_table *table, tali_table_sink *sink)
{
    put_array_header(sink, "|b1", "");
    put_little(sink, tal_table_in_degrees(table) ? 1 : 0, 1);
}

// --- the archive ---

// What a local header and the central directory say alike: version 2.0, no flags, stored,
// 1980-01-01.
static void put_common(tali_table_sink *sink, const entry *it)
{
    put_little(sink, 20, 2);
    put_little(sink, 0, 2);
    put_little(sink, 0, 2);
    put_little(sink, 0, 2);
    put_little(sink, 0x21, 2);
    put_little(sink, it->crc, 4);
    put_little(sink, it->size, 4);
    put_little(sink, it->size, 4);
    put_little(sink, strlen(it->name), 2);
    put_little(sink, 0, 2);
}

// The central directory at the end of the archive, and the record that points to it.
static void put_directory(tali_table_sink *sink, const entry entries[])
{
    const size_t begin = sink->length;
    for (int i = 0; i < NUM_ENTRIES; ++i) {
        put_little(sink, 0x02014b50, 4);
        put_little(sink, 20, 2);
        put_common(sink, &entries[i]);
        put_little(sink, 0, 2); // no comment
        put_little(sink, 0, 2); // disk 0
        put_little(sink, 0, 2); // no attributes inside
        put_little(sink, 0, 4); // nor outside
        put_little(sink, entries[i].offset, 4);
        tali_table_put_text(sink, entries[i].name);
    }
    const size_t size = sink->length - begin;
    put_little(sink, 0x06054b50, 4);
    put_little(sink, 0, 4);
    put_little(sink, NUM_ENTRIES, 2);
    put_little(sink, NUM_ENTRIES, 2);
    put_little(sink, size, 4);
    put_little(sink, begin, 4);
    put_little(sink, 0, 2);
}

// The archive: a local header before each array, then the directory. Each array is written twice,
// the first time for its checksum alone.
void tali_table_write_npz(const tal_table *table, tali_table_sink *sink)
{
    entry entries[NUM_ENTRIES] = {{.name = "data.npy", .put = put_data},
                                  {.name = "columns.npy", .put = put_columns},
                                  {.name = "header.npy", .put = put_header},
                                  {.name = "in_degrees.npy", .put = put_in_degrees}};
    for (int i = 0; i < NUM_ENTRIES; ++i) {
        entry *it = &entries[i];
        // the checksum comes before its data
        tali_table_sink sum = {.sums = true};
        it->put(table, &sum);
        // four bytes hold each length and place
        sink->too_long = sink->length + sum.length > UINT32_MAX - 4096;
        if (sink->too_long) return;
        it->crc = sum.crc;
        it->size = (uint32_t)sum.length;
        it->offset = (uint32_t)sink->length;
        put_little(sink, 0x04034b50, 4);
        put_common(sink, it);
        tali_table_put_text(sink, it->name);
        it->put(table, sink);
    }
    put_directory(sink, entries);
}
