// Reading NumPy's .npz: what table_npz.c writes, and what numpy.savez makes of the same arrays.
#include "table/table_zip_internal.h"

#include <talus/io/number.h>

#include <string.h>

// --- arrays ---

// A .npy array.
typedef struct array {
    const unsigned char *values;
    char type;      // 'f' float64, 'U' text in UCS-4, 'b' bool
    int width;      // bytes of a value
    int num_dims;   // 0, 1 or 2
    int shape[2];   // 1 where there is no such dimension
    bool by_column; // the first index changes fastest
} array;

// The text behind "'key':" in the dictionary of an array; NULL when it is not there.
static const char *find_key(const char *dictionary, const char *key)
{
    const char *at = strstr(dictionary, key);
    if (at == NULL) return NULL;
    at += strlen(key);
    return at + strspn(at, " ");
}

// '<f8', '<U12', '|b1'.
static bool read_type(const char *text, array *it)
{
    if (strncmp(text, "'<f8'", 5) == 0 || strncmp(text, "'|b1'", 5) == 0) {
        it->type = text[2];
        it->width = text[3] - '0';
        return true;
    }
    const char *end =
        strncmp(text, "'<U", 3) == 0 ? tal_integer_read(text + 3, NULL, &it->width) : NULL;
    const bool is_text = end != NULL && *end == '\'' && it->width >= 0 && it->width <= 1 << 24;
    if (!is_text) return false;
    it->type = 'U';
    it->width *= 4;
    return true;
}

// (), (3,), (3, 2)
static bool read_shape(const char *text, array *it)
{
    it->num_dims = 0;
    it->shape[0] = it->shape[1] = 1;
    if (*text++ != '(') return false;
    while (*text != ')') {
        int *n = &it->shape[it->num_dims];
        if (it->num_dims == 2) return false;
        text = tal_integer_read(text + strspn(text, " "), NULL, n);
        if (text == NULL || *n < 0 || *n > TALI_MAX_COUNT) return false;
        text += *text == ',';
        text += strspn(text, " ");
        it->num_dims += 1;
    }
    return true;
}

// The dictionary of a .npy array, and where its values begin; NULL when it is not one.
static const char *read_dictionary(tali_table_reader *r, tali_table_bytes file, size_t *values)
{
    if (file.size < 12 || memcmp(file.at, "\x93NUMPY", 6) != 0) return NULL;
    const int num_bytes = file.at[6] == 1 ? 2 : 4; // of the length, since version 2
    const size_t length = (size_t)tali_table_little(file.at + 8, num_bytes);
    *values = 8 + (size_t)num_bytes + length;
    if (*values > file.size || length > 10000) return NULL;
    const char *text = (const char *)file.at + 8 + num_bytes;
    return tali_table_copy(r, (tali_table_span){text, text + length});
}

// Type and shape, and whether all values are there.
static bool read_array(tali_table_reader *r, tali_table_bytes file, array *it)
{
    size_t begin = 0;
    const char *dictionary = read_dictionary(r, file, &begin);
    if (dictionary == NULL) return false;
    const char *type = find_key(dictionary, "'descr':");
    const char *order = find_key(dictionary, "'fortran_order':");
    const char *shape = find_key(dictionary, "'shape':");
    if (type == NULL || order == NULL || shape == NULL) return false;
    if (!read_type(type, it) || !read_shape(shape, it)) return false;
    it->by_column = strncmp(order, "True", 4) == 0;
    it->values = file.at + begin;
    const uint64_t count = (uint64_t)it->shape[0] * (uint64_t)it->shape[1];
    return it->width == 0 || count <= (file.size - begin) / (uint64_t)it->width;
}

// A value by row and column.
static const unsigned char *value_at(const array *it, int row, int column)
{
    const size_t n = (size_t)it->shape[0], m = (size_t)it->shape[1];
    const size_t i = (size_t)row, k = (size_t)column;
    return it->values + (it->by_column ? k * n + i : i * m + k) * (size_t)it->width;
}

// What an array of the table is.
typedef struct kind {
    const char *name, *file;
    char type;
    int num_dims;
    const char *wanted; // for messages
    bool is_needed;
} kind;

// Find and read an array. False, and an error unless it is missing and not needed, when there is
// none.
static bool find_array(tali_table_reader *r, const kind *role, array *it)
{
    tali_table_bytes file;
    if (!tali_table_unzip(r, role->file, &file)) return false;
    if (file.at == NULL) {
        if (role->is_needed) {
            tali_table_file_error(r, "there is no array '%s': it must be %s", role->name,
                                  role->wanted);
        }
        return false;
    }
    if (read_array(r, file, it) && it->type == role->type && it->num_dims == role->num_dims) {
        return true;
    }
    if (!r->no_memory) {
        tali_table_file_error(r, "the array '%s' must be %s", role->name, role->wanted);
    }
    return false;
}

// --- texts ---

// A character as UTF-8; returns the number of bytes. What is not a character is U+FFFD.
static int put_utf8(uint32_t c, char out[4])
{
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;
    const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0x00, 0xc0, 0xe0, 0xf0};
    for (int i = more; i > 0; --i) {
        out[i] = (char)(0x80 | (c & 0x3f));
        c >>= 6;
    }
    out[0] = (char)(first[more] | c);
    return more + 1;
}

// A text of an array, in the arena: up to the first zero.
static tali_table_span text_at(tali_table_reader *r, const array *it, int row, int column)
{
    const unsigned char *at = value_at(it, row, column);
    char *text = tali_arena_take(&r->arena, (size_t)it->width + 1);
    r->no_memory = r->no_memory || text == NULL;
    if (text == NULL) return (tali_table_span){"", ""};
    char *end = text;
    for (int i = 0; i < it->width; i += 4) {
        const uint32_t c = (uint32_t)tali_table_little(at + i, 4);
        if (c == 0) break;
        end += put_utf8(c, end);
    }
    return (tali_table_span){text, end};
}

// --- the table ---

static void read_columns(tali_table_reader *r)
{
    static const kind columns = {"columns", "columns.npy", 'U', 1, "the names of the columns",
                                 true};
    array it;
    if (!find_array(r, &columns, &it)) return;
    if (it.shape[0] < 1 || it.shape[0] > TAL_MAX_COLUMNS) {
        tali_table_file_error(r, "there are %d columns; there must be 1 to %d", it.shape[0],
                              TAL_MAX_COLUMNS);
    }
    for (int i = 0; i < it.shape[0] && tali_table_goes_on(r) && r->errors == 0; ++i) {
        tali_table_label(r, text_at(r, &it, i, 0).begin);
    }
}

static void read_header(tali_table_reader *r)
{
    static const kind header = {"header", "header.npy", 'U', 2, "keys and values in two columns",
                                false};
    static const kind degrees = {"in_degrees", "in_degrees.npy", 'b', 0, "True or False", false};
    array it;
    if (find_array(r, &degrees, &it)) tal_table_set_in_degrees(r->table, *it.values != 0);
    if (!tali_table_goes_on(r) || !find_array(r, &header, &it)) return;
    if (it.shape[1] != 2) {
        tali_table_file_error(r, "the array 'header' must be %s", header.wanted);
        return;
    }
    for (int i = 0; i < it.shape[0] && tali_table_goes_on(r); ++i) {
        tali_table_keep(r, text_at(r, &it, i, 0), text_at(r, &it, i, 1));
    }
}

static void read_data(tali_table_reader *r)
{
    static const kind data = {
        "data", "data.npy", 'f', 2, "numbers of type float64 ('<f8') in rows and columns", true};
    array it;
    if (!find_array(r, &data, &it)) return;
    const int n = tal_table_num_columns(r->table);
    if (it.shape[1] != n) {
        tali_table_file_error(r, "'data' has %d columns, but 'columns' has %d names", it.shape[1],
                              n);
        return;
    }
    tali_table_begin_rows(r);
    for (int i = 0; i < it.shape[0] && tali_table_goes_on(r); ++i) {
        for (int k = 0; k < n; ++k) {
            const uint64_t bits = tali_table_little(value_at(&it, i, k), 8);
            memcpy(&r->row[k], &bits, sizeof bits);
        }
        tali_table_add_row(r);
    }
}

void tali_table_read_npz(tali_table_reader *r)
{
    read_columns(r);
    if (r->errors > 0 || r->no_memory) return;
    r->timed = tali_table_same_word(tal_table_column_name(r->table, 0), "time");
    read_header(r);
    if (r->errors == 0 && !r->no_memory) read_data(r);
}
