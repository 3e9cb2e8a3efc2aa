// What readers and writers of tables share: lines, fields, values, and where bytes go.
#ifndef TALUS_IO_TABLE_INTERNAL_H
#define TALUS_IO_TABLE_INTERNAL_H

#include "text/arena_internal.h"

#include <talus/io/table.h>

#include <stdint.h>
#include <stdio.h>

/// The largest number of rows or columns that a header may give.
#define TALI_MAX_COUNT 100000000

/// The most lines, and the most keys, of a header.
#define TALI_MAX_HEADER_LINES 1000

/// Characters of a text that is owned elsewhere.
typedef struct tali_table_span {
    const char *begin, *end;
} tali_table_span;

/// A table being read from a text.
typedef struct tali_table_reader {
    tal_table *table;
    tal_allocator allocator;
    tali_arena arena; ///< of strings
    const char *file; ///< as it was named
    const char *at, *end;
    tal_diagnostics *found;
    int errors, max_errors;
    size_t max_bytes; ///< of the file, and of what is packed in it
    bool no_memory;

    int line;                ///< counted from 1
    tali_table_span text;    ///< the line, without its end
    tali_table_span *fields; ///< [num_fields] of the line, without blanks around them
    int num_fields, fields_capacity;

    double *row;      ///< [num_columns] tali_table_begin_rows() makes it
    int skip;         ///< fields before the first column
    bool timed;       ///< column 0 is time
    double last_time; ///< NaN before the first row
    int num_headers;
} tali_table_reader;

/// @name Reports. All of the line that was read last.
/// @{
void tali_table_error(tali_table_reader *r, const char *fmt, ...) TAL_PRINTF(2, 3);
void tali_table_warn(tali_table_reader *r, const char *fmt, ...) TAL_PRINTF(2, 3);
/// An error of the file as a whole.
void tali_table_file_error(tali_table_reader *r, const char *fmt, ...) TAL_PRINTF(2, 3);
/// Whether reading should continue.
bool tali_table_goes_on(const tali_table_reader *r);
/// @}

/// @name Texts
/// @{
/// Whether two words are the same except for the case of ASCII letters.
bool tali_table_same_word(const char *a, const char *b);
bool tali_table_span_is(tali_table_span span, const char *word);
tali_table_span tali_table_span_trim(tali_table_span span);
bool tali_table_span_has(tali_table_span span, char c);
/// Unchanged; a string of the arena, "" when memory runs out.
const char *tali_table_copy(tali_table_reader *r, tali_table_span span);
/// Without its quotes, doubled quotes made single; a string of the arena, "" when memory runs out.
const char *tali_table_string(tali_table_reader *r, tali_table_span span);
/// For messages: at most 40 characters, what cannot be printed as '?'.
/// @param[out] text  [44]
const char *tali_table_show(tali_table_span span, char text[44]);
/// @}

/// Read the next line that is not blank. False at the end, and when reading should stop.
bool tali_table_next(tali_table_reader *r);

/// Cut the line at each `separator`; ' ' means runs of blanks. A quoted field of a list with
/// ',' or ';' may contain it.
void tali_table_split(tali_table_reader *r, char separator);

/// Cut the line at tabs if it has any, at blanks otherwise.
void tali_table_split_blanks(tali_table_reader *r);

/// Forget empty fields at the end.
void tali_table_drop_empty(tali_table_reader *r);

/// A value of a header, e.g. nRows. -1 and an error when it is not a number, or too large.
int tali_table_count(tali_table_reader *r, const char *key, tali_table_span value);

/// Keep a key and its value, if it is one that tables keep.
void tali_table_keep(tali_table_reader *r, tali_table_span key, tali_table_span value);

/// yes, no, true, false, 1, 0; an error otherwise.
void tali_table_degrees(tali_table_reader *r, tali_table_span value);

/// Add a column, or report why there cannot be one of that name. The second one of a name gets
/// "_2" behind it, and a warning.
void tali_table_label(tali_table_reader *r, const char *name);

/// All columns are known: rows may follow.
void tali_table_begin_rows(tali_table_reader *r);

/// Whether a header was right about the number of rows, if it said one (not below 0). A file that
/// was cut off is reported by a warning; rows that the header does not count are an error.
void tali_table_check_rows(tali_table_reader *r, const char *key, int said, int rows);

/// Cut every field but the first at its commas into `parts` fields: "1,2,3" is a vector. An empty
/// field becomes empty ones. False, and an error, when there are more or fewer.
bool tali_table_split_vectors(tali_table_reader *r, int parts);

/// Add `row` to the table, if its time is right and nothing else was wrong.
void tali_table_add_row(tali_table_reader *r);

/// Make a row of the fields.
void tali_table_take_row(tali_table_reader *r);

/// Whether a field is a number, blank fields and all the spellings of NaN included.
bool tali_table_read_value(tali_table_span field, double *value);

/// Whether a header may not set this key: a format says it by itself.
bool tali_table_reserves(const char *key);

/// @name The formats
/// @{
/// By the extension of a name; false for an unknown one.
void tali_table_read_sto(tali_table_reader *r);
void tali_table_read_trc(tali_table_reader *r);
void tali_table_read_csv(tali_table_reader *r);
void tali_table_read_npz(tali_table_reader *r);

/// @}

/// Where bytes go: to a file, into memory, or into a checksum alone.
typedef struct tali_table_sink {
    FILE *file;                                                  ///< may be NULL
    bool (*take)(void *context, const void *bytes, size_t size); ///< may be NULL
    void *context;
    char *bytes; ///< [capacity] may be NULL
    size_t capacity;
    size_t length; ///< of everything
    uint32_t crc;  ///< CRC-32 of everything, when `sums` is set
    bool sums;
    bool failed;   ///< not all was taken
    bool too_long; ///< for the format
} tali_table_sink;

void tali_table_put(tali_table_sink *sink, const void *bytes, size_t size);
void tali_table_put_text(tali_table_sink *sink, const char *text);
/// As few digits as it takes.
void tali_table_put_number(tali_table_sink *sink, double value);

void tali_table_write_npz(const tal_table *table, tali_table_sink *sink);

#endif // TALUS_IO_TABLE_INTERNAL_H
