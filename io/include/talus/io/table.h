// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_TABLE_H
#define TALUS_IO_TABLE_H

/**
 * @file talus/io/table.h
 * @brief Tables of numbers, in memory and in files: `.sto` and `.mot` (OpenSim storage), `.trc`
 * (markers), `.csv`, `.npz`, and `.c3d` on read. doc/tables.md says what each may contain.
 *
 *     tal_table *table = NULL;
 *     tal_diagnostics *found = tal_diagnostics_create(NULL);
 *     if (tal_table_read_file("walk.mot", NULL, &table, found) == TAL_OK) {
 *         const int knee = tal_table_find_column(table, "knee_angle");
 *         double first = tal_table_value(table, 0, knee);
 *         st = tal_table_write_file(table, "walk.csv", &err);
 *     }
 *     tal_table_destroy(table);
 *     tal_diagnostics_destroy(found);
 *
 * Numbers are written with as few digits as it takes to read them back bit for bit; NaNs come back
 * as NaN. No result depends on the locale.
 */

#include <talus/io/diagnostics.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup table Tables
/// @{

/// The most columns of a table.
#define TAL_MAX_COLUMNS 1000000

/// Named columns, rows of doubles, and a header of keys and values. Opaque. Use from one thread at
/// a time.
typedef struct tal_table tal_table;

/// An empty table, owned by the caller; NULL when there is no memory.
/// @param[in] allocator  NULL means the C heap
TAL_API TAL_NODISCARD tal_table *tal_table_create(const tal_allocator *allocator);

/// Free a table; NULL is allowed.
TAL_API void tal_table_destroy(tal_table *table);

/// @name Building
/// @{

/**
 * Add a column after the others. A table with rows accepts no more columns.
 *
 * @param[in] name  unique; not empty, no control characters; copied
 * @return TAL_OK, TAL_ERR_NULL, TAL_ERR_BAD_NAME, TAL_ERR_CAPACITY, TAL_ERR_NO_MEMORY
 */
TAL_API tal_status tal_table_add_column(tal_table *table, const char *name);

/// Add a row: tal_table_num_columns() values, copied. TAL_OK, TAL_ERR_NULL, TAL_ERR_CAPACITY (no
/// columns) or TAL_ERR_NO_MEMORY.
/// @param[in] values  [tal_table_num_columns()] copied
TAL_API tal_status tal_table_add_row(tal_table *table, const double values[]);

/// Take memory for this number of rows at once, so that adding them cannot fail later. TAL_OK,
/// TAL_ERR_NULL, TAL_ERR_CAPACITY (no columns) or TAL_ERR_NO_MEMORY.
TAL_API TAL_NODISCARD tal_status tal_table_reserve(tal_table *table, int num_rows);

/// Change one value. TAL_ERR_BAD_INDEX outside of the table.
TAL_API tal_status tal_table_set_value(tal_table *table, int row, int column, double value);

/// Set whether angles are in degrees. A new table is in radians.
TAL_API void tal_table_set_in_degrees(tal_table *table, bool in_degrees);

/**
 * Set the value of a header key, or remove the key.
 *
 * Keys that a format writes by itself ("version", "nRows", "nColumns", "inDegrees", "DataType",
 * ...) are refused. "name" is the first line of a `.sto`, "Units" the unit of a `.trc`.
 *
 * @param[in] key    not empty, no '=' and no control characters, no blanks around it; copied
 * @param[in] value  no control characters, no blanks around it; copied; NULL removes the key
 * @return TAL_OK, TAL_ERR_NULL, TAL_ERR_BAD_NAME, TAL_ERR_BAD_VALUE, TAL_ERR_NO_MEMORY
 */
TAL_API tal_status tal_table_set_header(tal_table *table, const char *key, const char *value);

/// @}
/// @name What is in it
/// @{

/// Rows; -1 for NULL.
TAL_API int tal_table_num_rows(const tal_table *table);

/// Columns; -1 for NULL.
TAL_API int tal_table_num_columns(const tal_table *table);

/// Name of a column; "" and a breach when there is none. Borrowed until the table is destroyed.
TAL_API const char *tal_table_column_name(const tal_table *table, int column);

/// The column of that name; -1 when there is none (that is not a breach).
TAL_API int tal_table_find_column(const tal_table *table, const char *name);

/// A row: tal_table_num_columns() values. Borrowed until a row is added. NULL and a breach when
/// there is none.
TAL_API const double *tal_table_row(const tal_table *table, int row);

/// One value; NaN and a breach outside of the table.
TAL_API double tal_table_value(const tal_table *table, int row, int column);

/// Whether angles are in degrees. False for NULL.
TAL_API bool tal_table_in_degrees(const tal_table *table);

/// Number of header keys; -1 for NULL.
TAL_API int tal_table_num_headers(const tal_table *table);

/// A header key, in the order they were set; "" and a breach when there is none. Borrowed.
TAL_API const char *tal_table_header_key(const tal_table *table, int i);

/// The value of a header key; NULL when there is none (that is not a breach). Borrowed until it
/// is set.
TAL_API const char *tal_table_header(const tal_table *table, const char *key);

/// @}
/// @name Files
/// @{

/// Formats of tables.
typedef enum tal_table_format {
    TAL_TABLE_STO, ///< `.sto`, `.mot`: OpenSim storage; column 0 is "time"
    TAL_TABLE_TRC, ///< markers: "time", then "<marker>.x", ".y", ".z" in the file's units
    TAL_TABLE_CSV, ///< comma-separated; the header comes before it as "# key=value"
    TAL_TABLE_NPZ, ///< NumPy
    TAL_TABLE_C3D ///< markers of motion capture, as of a `.trc`; read, not written (talus/io/c3d.h)
} tal_table_format;

/// The format that the extension of a name selects; false, and nothing changed, for an unknown
/// extension.
TAL_API bool tal_table_format_of(const char *path, tal_table_format *format);

/// How to read. Obtain it from tal_table_options_default(), then edit.
typedef struct tal_table_options {
    tal_allocator allocator; ///< of the table, and of reading
    size_t max_bytes;        ///< a longer file is refused
    int max_errors;          ///< reading stops after this number
} tal_table_options;

/// The C heap, 1 GiB, 50 errors.
TAL_API tal_table_options tal_table_options_default(void);

/**
 * Read a file; its extension selects the format.
 *
 * Blank fields are NaN. Ambiguous content is an error: rows that are too short or too long, time
 * that goes back, counts in a header that contradict the rows, decimal commas. No table is made
 * from a file with an error.
 *
 * @param[in]     options  NULL: the defaults
 * @param[out]    out      owned by the caller; NULL on failure
 * @param[in,out] found    gets what is wrong; may be NULL
 * @return TAL_OK; TAL_ERR_FILE when the file cannot be read or has errors, TAL_ERR_NO_MEMORY,
 *         TAL_ERR_NULL
 */
TAL_API TAL_NODISCARD tal_status tal_table_read_file(const char *path,
                                                     const tal_table_options *options,
                                                     tal_table **out, tal_diagnostics *found);

/// The same from memory. `name` is used for the file in diagnostics.
TAL_API TAL_NODISCARD tal_status tal_table_read_memory(tal_table_format format, const char *name,
                                                       const char *text, size_t size,
                                                       const tal_table_options *options,
                                                       tal_table **out, tal_diagnostics *found);

/**
 * Write a file, completely or not at all; its extension selects the format.
 *
 * @param[out] err  may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE when the table does not fit the format, TAL_ERR_FILE,
 *         TAL_ERR_NULL
 */
TAL_API TAL_NODISCARD tal_status tal_table_write_file(const tal_table *table, const char *path,
                                                      tal_error *err);

/**
 * Write to memory.
 *
 * @param[out] bytes   [capacity] cut off when it does not fit; NULL when `capacity` is 0
 * @param[out] length  bytes of the whole
 * @param[out] err     may be NULL
 */
TAL_API TAL_NODISCARD tal_status tal_table_write_memory(const tal_table *table,
                                                        tal_table_format format, char bytes[],
                                                        size_t capacity, size_t *length,
                                                        tal_error *err);

/**
 * Write piece by piece, without memory for the whole.
 *
 * @param[in]  take     gets the bytes in order; false: it cannot take more, and is not called again
 * @param[in]  context  goes to `take`
 * @param[out] err      may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE when the table does not fit the format, TAL_ERR_CALLBACK when
 *         not all bytes were written, TAL_ERR_NULL
 */
TAL_API TAL_NODISCARD tal_status tal_table_write_to(const tal_table *table, tal_table_format format,
                                                    bool (*take)(void *context, const void *bytes,
                                                                 size_t size),
                                                    void *context, tal_error *err);

/// @}
/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_TABLE_H
