// Tables in memory: named columns, rows of doubles, a header of keys and values.
#include "alloc_internal.h"
#include "error_internal.h"

#include "table/table_internal.h"
#include "text/name_map_internal.h"

#include <string.h>

typedef struct header {
    char *key;
    char *value;
} header;

struct tal_table {
    tal_allocator allocator;
    char **names; // [num_columns]
    int num_columns, names_capacity;
    tali_name_map by_name;
    double *rows; // [num_rows][num_columns]
    int num_rows, rows_capacity;
    header *headers; // [num_headers]
    int num_headers, headers_capacity;
    bool in_degrees;
};

// --- strings ---

static char *copy_string(const tal_allocator *allocator, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = tali_alloc(allocator, size);
    if (copy != NULL) memcpy(copy, text, size);
    return copy;
}

static void free_string(const tal_allocator *allocator, char *text)
{
    if (text != NULL) tali_free(allocator, text, strlen(text) + 1);
}

// What a line of a file can hold: no control characters, and no blanks around it.
static bool fits_a_line(const char *text)
{
    const size_t length = strlen(text);
    for (size_t i = 0; i < length; ++i) {
        if ((unsigned char)text[i] < ' ') return false;
    }
    return length == 0 || (text[0] != ' ' && text[length - 1] != ' ');
}

// --- creation ---

tal_table *tal_table_create(const tal_allocator *allocator)
{
    tal_allocator from;
    if (tali_alloc_choose(allocator, &from, __func__) != TAL_OK) return NULL;
    tal_table *table = tali_alloc(&from, sizeof *table);
    if (table == NULL) return NULL;
    table->allocator = table->by_name.allocator = from;
    return table;
}

void tal_table_destroy(tal_table *table)
{
    if (table == NULL) return;
    const tal_allocator allocator = table->allocator;
    for (int i = 0; i < table->num_columns; ++i) {
        free_string(&allocator, table->names[i]);
    }
    for (int i = 0; i < table->num_headers; ++i) {
        free_string(&allocator, table->headers[i].key);
        free_string(&allocator, table->headers[i].value);
    }
    tali_free(&allocator, table->names, (size_t)table->names_capacity * sizeof *table->names);
    tali_free(&allocator, table->headers, (size_t)table->headers_capacity * sizeof *table->headers);
    tali_free(&allocator, table->rows,
              (size_t)table->rows_capacity * (size_t)table->num_columns * sizeof(double));
    tali_name_map_free(&table->by_name);
    tali_free(&allocator, table, sizeof *table);
}

// --- building ---

tal_status tal_table_add_column(tal_table *table, const char *name)
{
    if (table == NULL || name == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the %s is NULL", table == NULL ? "table" : "name");
    }
    if (name[0] == '\0' || !fits_a_line(name)) {
        return TALI_BREACH(TAL_ERR_BAD_NAME, "'%.60s' cannot be the name of a column", name);
    }
    if (tali_name_map_find(&table->by_name, name) >= 0) {
        return TALI_BREACH(TAL_ERR_BAD_NAME, "there is a column '%.60s' already", name);
    }
    if (table->rows_capacity > 0 || table->num_columns >= TAL_MAX_COLUMNS) {
        return TALI_BREACH(TAL_ERR_CAPACITY,
                           "a table with %d rows and %d columns cannot have more columns",
                           table->num_rows, table->num_columns);
    }
    char *copy = copy_string(&table->allocator, name);
    if (copy == NULL) return TAL_ERR_NO_MEMORY;
    if (!tali_grow(&table->allocator, (void **)&table->names, table->num_columns,
                   &table->names_capacity, sizeof *table->names) ||
        !tali_name_map_add(&table->by_name, copy, table->num_columns)) {
        free_string(&table->allocator, copy);
        return TAL_ERR_NO_MEMORY;
    }
    table->names[table->num_columns++] = copy;
    return TAL_OK;
}

tal_status tal_table_add_row(tal_table *table, const double values[])
{
    if (table == NULL || values == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the %s NULL", table == NULL ? "table is" : "values are");
    }
    if (table->num_columns == 0) {
        return TALI_BREACH(TAL_ERR_CAPACITY, "a table without columns cannot have rows");
    }
    const size_t bytes = (size_t)table->num_columns * sizeof(double);
    if (!tali_grow(&table->allocator, (void **)&table->rows, table->num_rows, &table->rows_capacity,
                   bytes)) {
        return TAL_ERR_NO_MEMORY;
    }
    memcpy(table->rows + (size_t)table->num_rows * (size_t)table->num_columns, values, bytes);
    table->num_rows += 1;
    return TAL_OK;
}

tal_status tal_table_reserve(tal_table *table, int num_rows)
{
    if (table == NULL) return TALI_BREACH(TAL_ERR_NULL, "the table is NULL");
    if (table->num_columns == 0) {
        return TALI_BREACH(TAL_ERR_CAPACITY, "a table without columns cannot have rows");
    }
    if (num_rows <= table->rows_capacity) return TAL_OK;
    const size_t bytes = (size_t)table->num_columns * sizeof(double);
    if ((size_t)num_rows > SIZE_MAX / bytes) return TAL_ERR_NO_MEMORY;
    double *larger = tali_alloc(&table->allocator, (size_t)num_rows * bytes);
    if (larger == NULL) return TAL_ERR_NO_MEMORY;
    if (table->num_rows > 0) memcpy(larger, table->rows, (size_t)table->num_rows * bytes);
    tali_free(&table->allocator, table->rows, (size_t)table->rows_capacity * bytes);
    table->rows = larger;
    table->rows_capacity = num_rows;
    return TAL_OK;
}

static bool has_value(const tal_table *table, int row, int column)
{
    return table != NULL && row >= 0 && row < table->num_rows && column >= 0 &&
           column < table->num_columns;
}

tal_status tal_table_set_value(tal_table *table, int row, int column, double value)
{
    if (!has_value(table, row, column)) {
        return TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no row %d, column %d", row, column);
    }
    table->rows[(size_t)row * (size_t)table->num_columns + (size_t)column] = value;
    return TAL_OK;
}

void tal_table_set_in_degrees(tal_table *table, bool in_degrees)
{
    if (table != NULL) {
        table->in_degrees = in_degrees;
    } else {
        (void)TALI_BREACH(TAL_ERR_NULL, "the table is NULL");
    }
}

// --- the header ---

bool tali_table_reserves(const char *key)
{
    static const char *const reserved[] = {"version",   "nRows",       "nColumns",  "inDegrees",
                                           "DataType",  "datacolumns", "datarows",  "endheader",
                                           "NumFrames", "NumMarkers",  "otherdata", "range"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; ++i) {
        if (tali_table_same_word(key, reserved[i])) return true;
    }
    return false;
}

static int find_header(const tal_table *table, const char *key)
{
    int i = 0;
    while (i < table->num_headers && strcmp(table->headers[i].key, key) != 0) {
        ++i;
    }
    return i;
}

static void remove_header(tal_table *table, int i)
{
    if (i == table->num_headers) return;
    free_string(&table->allocator, table->headers[i].key);
    free_string(&table->allocator, table->headers[i].value);
    table->num_headers -= 1;
    memmove(table->headers + i, table->headers + i + 1,
            (size_t)(table->num_headers - i) * sizeof *table->headers);
}

static tal_status append_header(tal_table *table, const char *key, char *value)
{
    char *copy = copy_string(&table->allocator, key);
    if (copy == NULL || !tali_grow(&table->allocator, (void **)&table->headers, table->num_headers,
                                   &table->headers_capacity, sizeof *table->headers)) {
        free_string(&table->allocator, copy);
        free_string(&table->allocator, value);
        return TAL_ERR_NO_MEMORY;
    }
    table->headers[table->num_headers++] = (header){copy, value};
    return TAL_OK;
}

tal_status tal_table_set_header(tal_table *table, const char *key, const char *value)
{
    if (table == NULL || key == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the %s is NULL", table == NULL ? "table" : "key");
    }
    if (key[0] == '\0' || !fits_a_line(key) || strchr(key, '=') != NULL ||
        tali_table_reserves(key)) {
        return TALI_BREACH(TAL_ERR_BAD_NAME, "'%.60s' cannot be a key of a header", key);
    }
    if (value != NULL && !fits_a_line(value)) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "the value of '%.60s' does not fit in one line", key);
    }
    const int i = find_header(table, key);
    if (value == NULL) {
        remove_header(table, i);
        return TAL_OK;
    }
    char *copy = copy_string(&table->allocator, value);
    if (copy == NULL) return TAL_ERR_NO_MEMORY;
    if (i == table->num_headers) return append_header(table, key, copy);
    free_string(&table->allocator, table->headers[i].value);
    table->headers[i].value = copy;
    return TAL_OK;
}

// --- what is in it ---

int tal_table_num_rows(const tal_table *table)
{
    if (table != NULL) return table->num_rows;
    (void)TALI_BREACH(TAL_ERR_NULL, "the table is NULL");
    return -1;
}

int tal_table_num_columns(const tal_table *table)
{
    if (table != NULL) return table->num_columns;
    (void)TALI_BREACH(TAL_ERR_NULL, "the table is NULL");
    return -1;
}

const char *tal_table_column_name(const tal_table *table, int column)
{
    if (table != NULL && column >= 0 && column < table->num_columns) return table->names[column];
    (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no column %d", column);
    return "";
}

int tal_table_find_column(const tal_table *table, const char *name)
{
    if (table != NULL && name != NULL) return tali_name_map_find(&table->by_name, name);
    (void)TALI_BREACH(TAL_ERR_NULL, "the %s is NULL", table == NULL ? "table" : "name");
    return -1;
}

const double *tal_table_row(const tal_table *table, int row)
{
    if (has_value(table, row, 0)) return table->rows + (size_t)row * (size_t)table->num_columns;
    (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no row %d", row);
    return NULL;
}

double tal_table_value(const tal_table *table, int row, int column)
{
    if (has_value(table, row, column)) {
        return table->rows[(size_t)row * (size_t)table->num_columns + (size_t)column];
    }
    (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no row %d, column %d", row, column);
    return TALI_NAN;
}

bool tal_table_in_degrees(const tal_table *table)
{
    if (table != NULL) return table->in_degrees;
    (void)TALI_BREACH(TAL_ERR_NULL, "the table is NULL");
    return false;
}

int tal_table_num_headers(const tal_table *table)
{
    if (table != NULL) return table->num_headers;
    (void)TALI_BREACH(TAL_ERR_NULL, "the table is NULL");
    return -1;
}

const char *tal_table_header_key(const tal_table *table, int i)
{
    if (table != NULL && i >= 0 && i < table->num_headers) return table->headers[i].key;
    (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no header key %d", i);
    return "";
}

const char *tal_table_header(const tal_table *table, const char *key)
{
    if (table == NULL || key == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the %s is NULL", table == NULL ? "table" : "key");
        return NULL;
    }
    const int i = find_header(table, key);
    return i < table->num_headers ? table->headers[i].value : NULL;
}
