// io/src/table*.c: what is wrong with a table, sentence by sentence; and what callers do wrong.
#include "beside.h"
#include "table/table_internal.h"
#include "talus_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static tal_status read_with(tal_table_format format, const char *text, size_t size,
                            const tal_table_options *options, char out[], size_t capacity)
{
    tal_table *table = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_table_read_memory(format, "f", text, size, options, &table, found);
    out[0] = '\0';
    for (int i = 0; i < tal_diagnostics_num(found); ++i) {
        char line[TAL_DIAGNOSTIC_SIZE];
        const size_t used = strlen(out);
        (void)snprintf(out + used, capacity - used, "%s\n",
                       tal_diagnostic_text(tal_diagnostics_at(found, i), line));
    }
    ck_assert((st == TAL_OK) == (tal_diagnostics_num_errors(found) == 0));
    ck_assert((st == TAL_OK) == (table != NULL));
    tal_diagnostics_destroy(found);
    tal_table_destroy(table);
    return st;
}

static void assert_says(tal_table_format format, const char *text, const char *expected)
{
    char said[8000];
    (void)read_with(format, text, strlen(text), NULL, said, sizeof said);
    ck_assert_str_eq(said, expected);
}

#define VECTORS(type) "x\nDataType=" type "\nversion=3\nendheader\ntime\ta\tb\n"

START_TEST(vectors_that_are_not_whole_are_refused_with_their_line)
{
    assert_says(TAL_TABLE_STO, VECTORS("Vec3") "0\t1,2\t1,2,3\n1\t1,2,3\t1,2,3,4\n",
                "f:6: error: '1,2' is not a vector of 3 numbers with commas between them\n"
                "f:7: error: '1,2,3,4' is not a vector of 3 numbers with commas between them\n");
    assert_says(TAL_TABLE_STO, VECTORS("Quaternion") "0\t1,0,0,0\n",
                "f:6: error: the row has 5 fields, but there are 9 columns\n");
    assert_says(TAL_TABLE_STO, VECTORS("Vec2") "0\t1,x\t1,2\n",
                "f:6: error: column 'a.2': 'x' is not a number that a double can hold\n");
    assert_says(TAL_TABLE_STO, "x\nDataType=Vec3\nnColumns=7\nendheader\ntime\ta\tb\n",
                "f:5: error: the header says nColumns=7, but there are 3 labels\n");
}

END_TEST

#define STO "x\ninDegrees=no\nendheader\ntime\ta\tb\n"

START_TEST(rows_of_a_storage_are_refused_with_their_line)
{
    assert_says(TAL_TABLE_STO, STO "0\t1,5\t2\n1\t2\n2\t1\t2\t3\n0.5\tabc\t1e999\n1\t2\n",
                "f:5: error: column 'a': '1,5' has a decimal comma; write a point\n"
                "f:6: error: the row has 2 fields, but there are 3 columns\n"
                "f:7: error: the row has 4 fields, but there are 3 columns\n"
                "f:8: error: column 'a': 'abc' is not a number that a double can hold\n"
                "f:8: error: column 'b': '1e999' is not a number that a double can hold\n"
                "f:9: error: the row has 2 fields, but there are 3 columns\n");
    assert_says(TAL_TABLE_STO, STO "0\t1\t2\n0\t1\t2\n-1\t1\t2\nnan\t1\t2\n\t1\t2\n",
                "f:6: warning: time 0 is given twice\n"
                "f:7: error: time goes back from 0 to -1\n"
                "f:8: error: the time is missing or not finite\n"
                "f:9: error: the time is missing or not finite\n");
    assert_says(TAL_TABLE_STO, STO "0 0,5 1 1,5 2 2,5\n",
                "f:5: error: the row has 6 fields, but there are 3 columns; are these decimal "
                "commas?\n");
    assert_says(TAL_TABLE_STO, STO "0\t1\x01\t1.#X\n1\t+\tnan(x\n",
                "f:5: error: column 'a': '1?' is not a number that a double can hold\n"
                "f:5: error: column 'b': '1.#X' is not a number that a double can hold\n"
                "f:6: error: column 'a': '+' is not a number that a double can hold\n"
                "f:6: error: column 'b': 'nan(x' is not a number that a double can hold\n");
}

END_TEST

START_TEST(headers_that_contradict_are_refused)
{
    assert_says(TAL_TABLE_STO,
                "x\nversion=9\nnRows=2147483647\nnColumns=-1\ninDegrees=maybe\nDataType=Mat33\n"
                "nRows=99999999999999999999\nendheader\ntime\ta\n",
                "f:2: error: version '9' is unknown; it must be 1, 2 or 3\n"
                "f:3: error: nRows is '2147483647'; it must be a number between 0 and 100000000\n"
                "f:4: error: nColumns is '-1'; it must be a number between 0 and 100000000\n"
                "f:5: error: inDegrees is 'maybe'; it must be yes or no\n"
                "f:6: error: columns of type 'Mat33' cannot be read; it must be double, Vec3, "
                "Quaternion or another vector\n"
                "f:7: error: nRows is '99999999999999999999'; it must be a number between 0 and "
                "100000000\n");
    assert_says(TAL_TABLE_STO,
                "x\nnRows=2\nnRows=3\nk=1\nk=2\n=3\ninDegrees=0\nendheader\ntime\ta\n0\t0\n",
                "f:3: error: nRows=3 contradicts the value 2 above\n"
                "f:5: warning: the key 'k' is given twice; the last value is used\n"
                "f:6: warning: the key '' is ignored: it is empty or has control characters\n"
                "f: warning: the header says nRows=3, but there are 1 rows: was the file cut "
                "off?\n");
    assert_says(TAL_TABLE_STO, "x\nnColumns=3\nendheader\ntime\ta\n0\t0\n",
                "f:3: warning: the header does not say inDegrees: radians are assumed\n"
                "f:4: error: the header says nColumns=3, but there are 2 labels\n");
    assert_says(TAL_TABLE_STO, "x\ninDegrees=yes\n",
                "f: error: the header does not end: no 'endheader'\n");
    assert_says(TAL_TABLE_STO, "x\ninDegrees=yes\nendheader\n\n",
                "f: error: there is no line of labels after the header\n");
    assert_says(TAL_TABLE_STO, "x\ninDegrees=yes\nendheader\n0\t1\n",
                "f:4: error: the first column is '0', not 'time'\n");
    assert_says(TAL_TABLE_STO, "x\ninDegrees=yes\nendheader\ntime\ta\t\ta\tb\x02\n",
                "f:4: error: column 3 has no name\n"
                "f:4: warning: columns 2 and 3 are both named 'a'; the second one is read as "
                "'a_2'\n"
                "f:4: error: column 4 is named 'b?', with characters that a name cannot have\n");
}

END_TEST

START_TEST(marker_files_say_what_is_missing)
{
    assert_says(TAL_TABLE_TRC, "", "f: error: the file ends before its first line\n");
    assert_says(
        TAL_TABLE_TRC, "x\n",
        "f:1: error: the first line does not begin with PathFileType: this is not a .trc file\n");
    assert_says(TAL_TABLE_TRC, "PathFileType\n",
                "f: error: the file ends before the line of keys\n");
    assert_says(TAL_TABLE_TRC, "PathFileType\nUnits\n",
                "f: error: the file ends before the values of its keys\n");
    assert_says(TAL_TABLE_TRC, "PathFileType\nUnits\nmm 3\n",
                "f:3: error: there are 2 values for 1 keys\n");
    assert_says(TAL_TABLE_TRC, "PathFileType\nNumFrames NumMarkers Units\n2147483647 -3 inch\n",
                "f:3: error: NumFrames is '2147483647'; it must be a number between 0 and "
                "100000000\n"
                "f:3: error: NumMarkers is '-3'; it must be a number between 0 and 100000000\n"
                "f:3: error: Units are 'inch'; they must be m, cm or mm\n");
    assert_says(TAL_TABLE_TRC, "PathFileType\nDataRate\n3\n",
                "f:3: error: Units are missing; they must be m, cm or mm\n");
#define TRC "PathFileType\t4\nUnits\tNumMarkers\tNumFrames\nm\t1\t2\n"
    assert_says(TAL_TABLE_TRC, TRC, "f: error: the file ends before the names of markers\n");
    assert_says(TAL_TABLE_TRC, TRC "Time\n",
                "f:4: error: the line of names does not begin with Frame# and Time\n");
    assert_says(TAL_TABLE_TRC, TRC "Frame#\tTime\tA\t\t\tB\n",
                "f:4: error: the header says NumMarkers=1, but there are 2 names\n");
    assert_says(TAL_TABLE_TRC, TRC "Frame#\tTime\n", "f:4: error: there are no markers\n");
    assert_says(TAL_TABLE_TRC, TRC "Frame#\tTime\tA\n",
                "f: error: the file ends before the line X1 Y1 Z1\n");
    assert_says(TAL_TABLE_TRC, TRC "Frame#\tTime\tA\n1\t0\t1\t2\t3\n",
                "f:5: error: the line X1 Y1 Z1 ... is missing\n");
    assert_says(TAL_TABLE_TRC,
                TRC "Frame#\tTime\tA\n\t\tX1\tY1\n5\t0\t1\t2\t3\nx\t1\t1\t2\t3\n\t"
                    "2\t1\t2\t3\n9\t3\t1\t2\n",
                "f:5: warning: there are 2 labels X1 Y1 Z1 ... for 3 columns\n"
                "f:7: error: 'x' is not a frame number\n"
                "f:9: warning: frame 9 follows frame 5; frame numbers are not kept\n"
                "f:9: error: the row has 4 fields, but there are 5 columns\n"
                "f: error: the header says NumFrames=2, but there are 4 rows\n");
    assert_says(TAL_TABLE_TRC,
                TRC "Frame#\tTime\tA\n\t\tX1\tY1\tZ1\n0\t0\t1\t2\t3\n2\t1\t1\t2\t3\n",
                "f:7: warning: frame 2 follows frame 0; frame numbers are not kept\n");
}

END_TEST

START_TEST(lists_say_what_is_ambiguous)
{
    assert_says(TAL_TABLE_CSV, "# only\n", "f: error: there is no line of names\n");
    assert_says(TAL_TABLE_CSV, "1,2\n3,4\n",
                "f:1: error: the first line has numbers, not the names of columns\n");
    assert_says(TAL_TABLE_CSV, "a,b;c\n",
                "f:1: error: the line of names has both ',' and ';', so it is unclear which "
                "separates\n");
    assert_says(TAL_TABLE_CSV, "a;b\n1,5;2\n",
                "f:2: error: column 'a': '1,5' has a decimal comma; write a point\n");
    assert_says(TAL_TABLE_CSV, "time,b\n0,1\n\"a,2\n-1,2\n# inDegrees=maybe\n",
                "f:3: error: a quoted field does not end on its line\n"
                "f:4: error: time goes back from 0 to -1\n");
    assert_says(TAL_TABLE_CSV, "# inDegrees=maybe\na,a\n",
                "f:1: error: inDegrees is 'maybe'; it must be yes or no\n");
    assert_says(TAL_TABLE_CSV, "a,\" b\",a\n",
                "f:1: error: column 2 is named ' b', with characters that a name cannot have\n"
                "f:1: warning: columns 1 and 2 are both named 'a'; the second one is read as "
                "'a_2'\n");
}

END_TEST

START_TEST(errors_are_collected_up_to_a_limit)
{
    tal_table_options options = tal_table_options_default();
    options.max_errors = 2;
    char said[2000];
    const char text[] = STO "0\tx\ty\n1\tx\ty\n2\t1\t1\n";
    ck_assert_int_eq(read_with(TAL_TABLE_STO, text, sizeof text - 1, &options, said, sizeof said),
                     TAL_ERR_FILE);
    ck_assert_str_eq(said, "f:5: error: column 'a': 'x' is not a number that a double can hold\n"
                           "f:5: error: column 'b': 'y' is not a number that a double can hold\n"
                           "f:5: error: there are 2 errors; the rest is not read\n");
    ck_assert_int_eq(read_with(TAL_TABLE_STO, text, sizeof text, &options, said, sizeof said),
                     TAL_ERR_FILE);
    ck_assert_str_eq(said, "f: error: the file has zero bytes: it is not UTF-8 text\n");
    options.max_errors = 0; // as 1
    ck_assert_int_eq(read_with(TAL_TABLE_STO, text, sizeof text - 1, &options, said, sizeof said),
                     TAL_ERR_FILE);
    ck_assert_str_eq(said, "f:5: error: column 'a': 'x' is not a number that a double can hold\n"
                           "f:5: error: there are 1 errors; the rest is not read\n");
    options.max_bytes = 10;
    (void)read_with(TAL_TABLE_STO, text, sizeof text - 1, &options, said, sizeof said);
    ck_assert_str_eq(said, "f: error: the file has more than 10 bytes\n");
}

END_TEST

START_TEST(headers_without_end_are_bounded)
{
    char *text = malloc(100000);
    size_t used = 0;
    for (int i = 0; i < 3000; ++i) {
        used += (size_t)snprintf(text + used, 100000 - used, "k%d=1\n", i);
    }
    char said[400];
    (void)read_with(TAL_TABLE_STO, text, used, NULL, said, sizeof said);
    ck_assert_str_eq(said, "f:1001: error: there is no 'endheader' within 1000 lines\n");
    used = 0;
    for (int i = 0; i < 1001; ++i) {
        used += (size_t)snprintf(text + used, 100000 - used, "# k%d=1\n", i);
    }
    used += (size_t)snprintf(text + used, 100000 - used, "a\n");
    (void)read_with(TAL_TABLE_CSV, text, used, NULL, said, sizeof said);
    ck_assert_str_eq(said, "f:1001: error: the header has more than 1000 keys\n");
    free(text);
    // more fields than a table may have columns
    const size_t size = 2 * (size_t)TAL_MAX_COLUMNS + 10;
    text = malloc(size);
    memset(text, ',', size);
    text[0] = 'a';
    (void)read_with(TAL_TABLE_CSV, text, size, NULL, said, sizeof said);
    ck_assert_str_eq(said, "f:1: error: the line has more than 1000000 fields\n");
    free(text);
}

END_TEST

START_TEST(files_that_cannot_be_read_or_written_are_named)
{
    tal_table *table = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const char *paths[] = {"a.txt", "noextension", "does/not/exist.sto"};
    for (int i = 0; i < 3; ++i) {
        ck_assert_int_eq(tal_table_read_file(paths[i], NULL, &table, found), TAL_ERR_FILE);
        ck_assert_ptr_null(table);
        ck_assert_str_eq(tal_diagnostics_at(found, i)->message,
                         i < 2 ? "the name does not end with .sto, .mot, .trc, .csv, .npz or .c3d"
                               : "the file cannot be opened: No such file or directory");
    }
    tal_table_options options = tal_table_options_default();
    options.max_bytes = 100;
    const char *long_file = TALUS_SOURCE_DIR "/tests/fuzz/corpus_sto/quirks_good.mot";
    ck_assert_int_eq(tal_table_read_file(long_file, &options, &table, found), TAL_ERR_FILE);
    ck_assert_str_eq(tal_diagnostics_at(found, 3)->message, "the file is too long");
    test_heap heap = {.refuse_at = 1};
    options = tal_table_options_default();
    options.allocator = test_heap_allocator(&heap);
    ck_assert_int_eq(tal_table_read_file(long_file, &options, &table, found), TAL_ERR_NO_MEMORY);
    ck_assert_str_eq(tal_diagnostics_at(found, 4)->message, "memory ran out");
    // half a megabyte of text that ends with a zero byte
    FILE *file = fopen("zeros.csv", "wb");
    (void)fputs("a\n", file);
    for (int i = 0; i < 100000; ++i) {
        (void)fputs("1.5\n", file);
    }
    (void)fclose(file);
    ck_assert_int_eq(tal_table_read_file("zeros.csv", NULL, &table, found), TAL_OK);
    ck_assert_int_eq(tal_table_num_rows(table), 100000);
    tal_table_destroy(table);
    file = fopen("zeros.csv", "ab");
    (void)fputc('\0', file);
    (void)fclose(file);
    ck_assert_int_eq(tal_table_read_file("zeros.csv", NULL, &table, found), TAL_ERR_FILE);
    ck_assert_str_eq(tal_diagnostics_at(found, 5)->message,
                     "the file has zero bytes: it is not UTF-8 text");
    (void)remove("zeros.csv");
    tal_diagnostics_destroy(found);
    tal_error err;
    table = tal_table_create(NULL);
    ck_assert_int_eq(tal_table_write_file(table, "a.txt", &err), TAL_ERR_FILE);
    ck_assert_str_eq(err.message, "'a.txt' does not end with .sto, .mot, .trc, .csv or .npz");
    ck_assert_int_eq(tal_table_write_file(table, "does/not/exist.npz", &err), TAL_ERR_FILE);
    ck_assert_ptr_nonnull(strstr(err.message, "cannot write 'does/not/exist.npz'"));
    char path[5000];
    memset(path, 'a', sizeof path);
    memcpy(path + sizeof path - 5, ".csv", 5);
    ck_assert_int_eq(tal_table_write_file(table, path, &err), TAL_ERR_FILE);
    ck_assert_str_eq(err.message, "the path is too long");
    // what does not fit leaves no file behind
    ck_assert_int_eq(tal_table_write_file(table, "never.sto", &err), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(test_num_beside("never.sto"), 0);
    tal_table_destroy(table);
}

END_TEST

// Widths and lengths of a .npz have four bytes. Texts have one width, so that a long one makes all
// of them long. With TALUS_SOAK=1: the checksum of 4 GiB takes a while.
START_TEST(an_archive_that_would_be_too_long_is_refused)
{
    if (getenv("TALUS_SOAK") == NULL) return;
    const size_t width = (size_t)1 << 20;
    const int keys = 600; // times 2 texts of 4 MiB
    char *value = calloc(width + 1, 1);
    memset(value, 'v', width);
    tal_table *table = tal_table_create(NULL);
    ck_assert_int_eq(tal_table_add_column(table, "a"), TAL_OK);
    for (int i = 0; i < keys; ++i) {
        char key[16];
        (void)snprintf(key, sizeof key, "key%d", i);
        ck_assert_int_eq(tal_table_set_header(table, key, i == 0 ? value : "v"), TAL_OK);
    }
    tal_error err;
    ck_assert_int_eq(tal_table_write_file(table, "long.npz", &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "limited to 4 GiB"));
    ck_assert_int_eq(test_num_beside("long.npz"), 0);
    tal_table_destroy(table);
    free(value);
}

END_TEST

START_TEST(tables_that_do_not_fit_a_format_are_refused)
{
    size_t length = 0;
    tal_error err;
    tal_table *table = tal_table_create(NULL);
    ck_assert_int_eq(tal_table_write_memory(table, TAL_TABLE_CSV, NULL, 0, &length, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_table_write_memory(table, TAL_TABLE_STO, NULL, 0, &length, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(err.message, "the first column is not 'time'");
    const char *names[] = {"time", "a.x", "a.y", "b.z"};
    for (int i = 0; i < 4; ++i) {
        ck_assert_int_eq(tal_table_add_column(table, names[i]), TAL_OK);
        if (i > 0) continue;
        ck_assert_int_eq(tal_table_write_memory(table, TAL_TABLE_TRC, NULL, 0, &length, &err),
                         TAL_ERR_BAD_VALUE);
        ck_assert_str_eq(err.message, "there are no markers");
    }
    ck_assert_int_eq(tal_table_write_memory(table, TAL_TABLE_TRC, NULL, 0, &length, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(err.message,
                     "column 'b.z' is in a place where <marker>.x, .y or .z is expected");
    // a name cannot end with a blank in this format
    static const char *const blank[] = {"a ", "a b "};
    for (int k = 0; k < 2; ++k) {
        tal_table *markers = tal_table_create(NULL);
        ck_assert_int_eq(tal_table_add_column(markers, "time"), TAL_OK);
        char name[20], expected[100];
        for (int axis = 2; axis >= 0; --axis) {
            (void)snprintf(name, sizeof name, "%s.%c", blank[k], "zyx"[axis]);
            ck_assert_int_eq(tal_table_add_column(markers, name), TAL_OK);
        }
        (void)snprintf(expected, sizeof expected,
                       "column '%s.x' is in a place where <marker>.x, .y or .z is expected",
                       blank[k]);
        ck_assert_int_eq(tal_table_write_memory(markers, TAL_TABLE_TRC, NULL, 0, &length, &err),
                         TAL_ERR_BAD_VALUE);
        ck_assert_str_eq(err.message, expected);
        tal_table_destroy(markers);
    }
    const double rows[][4] = {{1.0}, {0.5}};
    ck_assert_int_eq(tal_table_add_row(table, rows[0]), TAL_OK);
    ck_assert_int_eq(tal_table_add_row(table, rows[1]), TAL_OK);
    ck_assert_int_eq(tal_table_write_memory(table, TAL_TABLE_STO, NULL, 0, &length, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(err.message, "row 1: time 0.5 does not increase");
    ck_assert_int_eq(tal_table_set_value(table, 1, 0, (double)NAN), TAL_OK);
    ck_assert_int_eq(tal_table_write_memory(table, TAL_TABLE_STO, NULL, 0, &length, NULL),
                     TAL_ERR_BAD_VALUE);
    tal_table_destroy(table);
}

END_TEST

START_TEST(broken_contracts_of_tables_are_reported)
{
    tal_table *t = tal_table_create(NULL);
    const double row[1] = {1.0};
    size_t length = 0;
    char byte = 0;
    tal_table *out = NULL;
    test_record_breaches();
    test_assert_breach(ck_assert_int_eq(tal_table_add_row(t, row), TAL_ERR_CAPACITY),
                       TAL_ERR_CAPACITY, "without columns");
    ck_assert_int_eq(tal_table_add_column(t, "a"), TAL_OK);
    test_assert_breach((void)tal_table_add_column(t, "a"), TAL_ERR_BAD_NAME, "already");
    test_assert_breach((void)tal_table_add_column(t, ""), TAL_ERR_BAD_NAME, "''");
    test_assert_breach((void)tal_table_add_column(t, " b"), TAL_ERR_BAD_NAME, "' b'");
    test_assert_breach((void)tal_table_add_column(t, "b "), TAL_ERR_BAD_NAME, "'b '");
    test_assert_breach((void)tal_table_add_column(t, "a\tb"), TAL_ERR_BAD_NAME, "column");
    test_assert_breach((void)tal_table_add_column(NULL, "a"), TAL_ERR_NULL, "table");
    test_assert_breach((void)tal_table_add_column(t, NULL), TAL_ERR_NULL, "name");
    test_assert_breach((void)tal_table_add_row(t, NULL), TAL_ERR_NULL, "values");
    test_assert_breach((void)tal_table_add_row(NULL, row), TAL_ERR_NULL, "table");
    ck_assert_int_eq(tal_table_add_row(t, row), TAL_OK);
    test_assert_breach((void)tal_table_add_column(t, "b"), TAL_ERR_CAPACITY, "1 rows");
    test_assert_breach((void)tal_table_set_value(t, 1, 0, 0.0), TAL_ERR_BAD_INDEX, "row 1");
    test_assert_breach(ck_assert(isnan(tal_table_value(t, 0, 1))), TAL_ERR_BAD_INDEX, "column 1");
    test_assert_breach(ck_assert_ptr_null(tal_table_row(t, -1)), TAL_ERR_BAD_INDEX, "row -1");
    test_assert_breach(ck_assert_str_eq(tal_table_column_name(t, 7), ""), TAL_ERR_BAD_INDEX, "7");
    test_assert_breach(ck_assert_str_eq(tal_table_header_key(t, 0), ""), TAL_ERR_BAD_INDEX, "0");
    test_assert_breach(ck_assert_ptr_null(tal_table_header(t, NULL)), TAL_ERR_NULL, "key");
    test_assert_breach(ck_assert_int_eq(tal_table_num_rows(NULL), -1), TAL_ERR_NULL, "table");
    test_assert_breach(ck_assert_int_eq(tal_table_num_columns(NULL), -1), TAL_ERR_NULL, "table");
    test_assert_breach(ck_assert_int_eq(tal_table_num_headers(NULL), -1), TAL_ERR_NULL, "table");
    test_assert_breach(ck_assert_int_eq(tal_table_find_column(NULL, "a"), -1), TAL_ERR_NULL, "tab");
    test_assert_breach(ck_assert(!tal_table_in_degrees(NULL)), TAL_ERR_NULL, "table");
    test_assert_breach(tal_table_set_in_degrees(NULL, true), TAL_ERR_NULL, "table");
    test_assert_breach((void)tal_table_set_header(NULL, "a", "b"), TAL_ERR_NULL, "table");
    test_assert_breach((void)tal_table_set_header(t, "nrows", "b"), TAL_ERR_BAD_NAME, "nrows");
    test_assert_breach((void)tal_table_set_header(t, "a=b", "b"), TAL_ERR_BAD_NAME, "a=b");
    test_assert_breach((void)tal_table_set_header(t, "a", "b\n"), TAL_ERR_BAD_VALUE, "'a'");
    test_assert_breach(
        ck_assert_int_eq(tal_table_write_memory(t, TAL_TABLE_CSV, NULL, 1, &length, NULL),
                         TAL_ERR_NULL),
        TAL_ERR_NULL, "bytes");
    test_assert_breach(
        ck_assert_int_eq(tal_table_write_memory(t, TAL_TABLE_CSV, &byte, 1, NULL, NULL),
                         TAL_ERR_NULL),
        TAL_ERR_NULL, "length");
    test_assert_breach(ck_assert_int_eq(tal_table_write_file(t, NULL, NULL), TAL_ERR_NULL),
                       TAL_ERR_NULL, "path");
    test_assert_breach(ck_assert_int_eq(tal_table_read_file(NULL, NULL, &out, NULL), TAL_ERR_NULL),
                       TAL_ERR_NULL, "name");
    test_assert_breach(
        ck_assert_int_eq(tal_table_read_memory(TAL_TABLE_CSV, "a", NULL, 0, NULL, &out, NULL),
                         TAL_ERR_NULL),
        TAL_ERR_NULL, "text");
    test_assert_breach(ck_assert_int_eq(tal_table_read_file("a", NULL, NULL, NULL), TAL_ERR_NULL),
                       TAL_ERR_NULL, "result");
    (void)tal_contract_set_handler(NULL);
    tal_table_destroy(t);
    tal_table_destroy(NULL);
}

END_TEST

START_TEST(reading_survives_every_failure_of_memory)
{
    const char *texts[] = {"x\nk=1\ninDegrees=no\nendheader\ntime\ta\tb\n0\t1\t2\n",
                           TRC "Frame#\tTime\tA\nX1\tY1\tZ1\n1\t0\t1\t2\t3\n2\t1\t1\t2\t3\n",
                           "# k=1\na,b\n1,2\n"};
    const tal_table_format formats[] = {TAL_TABLE_STO, TAL_TABLE_TRC, TAL_TABLE_CSV};
    for (int f = 0; f < 3; ++f) {
        tal_status st = TAL_ERR_NO_MEMORY;
        for (int n = 1; n < 100 && st == TAL_ERR_NO_MEMORY; ++n) {
            test_heap heap = {.refuse_at = n};
            tal_table_options options = tal_table_options_default();
            options.allocator = test_heap_allocator(&heap);
            tal_table *table = NULL;
            st = tal_table_read_memory(formats[f], "f", texts[f], strlen(texts[f]), &options,
                                       &table, NULL);
            ck_assert((st == TAL_OK) == (table != NULL));
            if (st == TAL_OK) test_assert_never_refused(&heap);
            tal_table_destroy(table);
            ck_assert_int_eq(heap.live, 0);
        }
        ck_assert_int_eq(st, TAL_OK);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/table_errors");
    TCase *tc = tcase_create("errors");
    tcase_add_test(tc, rows_of_a_storage_are_refused_with_their_line);
    tcase_add_test(tc, headers_that_contradict_are_refused);
    tcase_add_test(tc, marker_files_say_what_is_missing);
    tcase_add_test(tc, lists_say_what_is_ambiguous);
    tcase_add_test(tc, errors_are_collected_up_to_a_limit);
    tcase_add_test(tc, headers_without_end_are_bounded);
    tcase_add_test(tc, files_that_cannot_be_read_or_written_are_named);
    tcase_add_test(tc, an_archive_that_would_be_too_long_is_refused);
    tcase_add_test(tc, vectors_that_are_not_whole_are_refused_with_their_line);
    tcase_add_test(tc, tables_that_do_not_fit_a_format_are_refused);
    tcase_add_test(tc, broken_contracts_of_tables_are_reported);
    tcase_add_test(tc, reading_survives_every_failure_of_memory);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
