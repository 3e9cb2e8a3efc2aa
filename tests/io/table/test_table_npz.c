// io/src/table/table_npz_read.c, table_zip.c: archives of NumPy, whole and damaged.
#include "talus_test.h"

#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMPY  TALUS_SOURCE_DIR "/tests/io/table/numpy/"
#define CORPUS TALUS_SOURCE_DIR "/tests/fuzz/corpus_npz/"

// --- support ---

typedef struct content {
    char *bytes;
    size_t size;
} content;

static content load(const char *path)
{
    FILE *in = fopen(path, "rb");
    ck_assert_msg(in != NULL, "%s", path);
    content it = {.bytes = malloc(65536)};
    it.size = fread(it.bytes, 1, 65536, in);
    (void)fclose(in);
    return it;
}

// Read bytes; what is said, without the name.
static tal_status read_bytes(const char *bytes, size_t size, const tal_table_options *options,
                             tal_table **out, char said[TAL_DIAGNOSTIC_SIZE])
{
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st =
        tal_table_read_memory(TAL_TABLE_NPZ, "f", bytes, size, options, out, found);
    said[0] = '\0';
    if (tal_diagnostics_num(found) > 0) {
        (void)snprintf(said, TAL_DIAGNOSTIC_SIZE, "%s", tal_diagnostics_at(found, 0)->message);
    }
    ck_assert((st == TAL_OK) == (*out != NULL));
    ck_assert((st == TAL_OK) == (tal_diagnostics_num_errors(found) == 0));
    tal_diagnostics_destroy(found);
    return st;
}

static void assert_refused(const char *path, const char *expected)
{
    char said[TAL_DIAGNOSTIC_SIZE];
    tal_table *table = NULL;
    const content it = load(path);
    ck_assert_int_eq(read_bytes(it.bytes, it.size, NULL, &table, said), TAL_ERR_FILE);
    ck_assert_str_eq(said, expected);
    free(it.bytes);
}

// --- what NumPy writes ---

// plain.npz is of numpy.savez() with the data column by column, packed.npz of savez_compressed().
// Both have t = 0, 0.1, 0.2, 0.3, sin(t) and 1e300 t.
START_TEST(archives_of_numpy_are_read)
{
    static const char *const files[] = {NUMPY "plain.npz", NUMPY "packed.npz"};
    for (int f = 0; f < 2; ++f) {
        tal_table *table = NULL;
        ck_assert_int_eq(tal_table_read_file(files[f], NULL, &table, NULL), TAL_OK);
        ck_assert_int_eq(tal_table_num_rows(table), 4);
        ck_assert_int_eq(tal_table_num_columns(table), 3);
        ck_assert_str_eq(tal_table_column_name(table, 1), "h\xc3\xbc"
                                                          "fte");
        for (int i = 0; i < 4; ++i) {
            const double t = i / 10.0;
            ck_assert(tal_table_value(table, i, 0) == t);
            // two libraries of functions may round differently
            ck_assert_double_eq_tol(tal_table_value(table, i, 1), sin(t), 1e-16);
            ck_assert(tal_table_value(table, i, 2) == 1e300 * t);
        }
        ck_assert(tal_table_in_degrees(table) == (f == 1));
        ck_assert_int_eq(tal_table_num_headers(table), f == 1 ? 2 : 0);
        if (f == 1) ck_assert_str_eq(tal_table_header(table, "units"), ",rad,m");
        tal_table_destroy(table);
    }
}

END_TEST

START_TEST(what_is_not_a_table_is_refused_by_name)
{
    assert_refused(CORPUS "ints.npz",
                   "the array 'data' must be numbers of type float64 ('<f8') in rows and columns");
    assert_refused(CORPUS "big_endian.npz",
                   "the array 'data' must be numbers of type float64 ('<f8') in rows and columns");
    assert_refused(CORPUS "list.npz",
                   "the array 'data' must be numbers of type float64 ('<f8') in rows and columns");
    assert_refused(CORPUS "no_columns.npz",
                   "there is no array 'columns': it must be the names of the columns");
    assert_refused(CORPUS "few_names.npz", "'data' has 3 columns, but 'columns' has 1 names");
    assert_refused(CORPUS "header.npz",
                   "the array 'header' must be keys and values in two columns");
    assert_refused(CORPUS "degrees.npz", "the array 'in_degrees' must be True or False");
    assert_refused(CORPUS "back.npz", "time goes back from 0.3 to 0.2");
}

END_TEST

// --- damage ---

// Every byte in turn has another value. No byte that counts can: names, numbers and lengths are
// under a checksum or lead elsewhere; dates and versions do not count.
START_TEST(a_damaged_archive_is_refused_or_reads_the_same)
{
    static const char *const files[] = {NUMPY "plain.npz", NUMPY "packed.npz"};
    for (int f = 0; f < 2; ++f) {
        const content it = load(files[f]);
        char said[TAL_DIAGNOSTIC_SIZE];
        for (size_t i = 0; i < it.size; ++i) {
            tal_table *table = NULL;
            it.bytes[i] = (char)(it.bytes[i] ^ 0x55);
            if (read_bytes(it.bytes, it.size, NULL, &table, said) == TAL_OK) {
                ck_assert_int_eq(tal_table_num_rows(table), 4);
                ck_assert(tal_table_value(table, 3, 0) == 0.3);
                ck_assert(tal_table_value(table, 3, 2) == 1e300 * 0.3);
            } else {
                ck_assert_msg(said[0] != '\0', "byte %zu", i);
            }
            tal_table_destroy(table);
            it.bytes[i] = (char)(it.bytes[i] ^ 0x55);
        }
        free(it.bytes);
    }
}

END_TEST

START_TEST(an_archive_that_was_cut_off_is_refused)
{
    const content it = load(NUMPY "plain.npz");
    char said[TAL_DIAGNOSTIC_SIZE];
    for (size_t size = 0; size < it.size; ++size) {
        tal_table *table = NULL;
        ck_assert_int_eq(read_bytes(it.bytes, size, NULL, &table, said), TAL_ERR_FILE);
        ck_assert_str_eq(said, "this is not a whole .npz file: the directory of the archive is not "
                               "at its end");
    }
    free(it.bytes);
}

END_TEST

// The place of the first entry of the directory.
static size_t first_entry(const content *it)
{
    const unsigned char *end = (const unsigned char *)it->bytes + it->size - 22;
    return (size_t)end[16] | (size_t)end[17] << 8 | (size_t)end[18] << 16;
}

START_TEST(archives_that_are_encrypted_packed_otherwise_or_too_large_are_refused)
{
    const content it = load(NUMPY "packed.npz");

    // of the entry: flags, method, the highest byte of the length
    static const struct {
        int place;
        char value;
        const char *expected;
    } cases[] = {
        {8, 1, "is encrypted"},
        {10, 12, "is packed in a way that is not read: use numpy.savez or savez_compressed"},
        {10, 0, "is damaged"},
        {26, 1, "is damaged"}, // deflate cannot shrink that much
        {27, 0x7f, "is too large"}};

    tal_table_options options = tal_table_options_default();
    options.max_bytes = (size_t)1 << 26;
    // the entry that is read first is "columns.npy", the second of the archive
    size_t entry = first_entry(&it);
    entry += 46 + (size_t)it.bytes[entry + 28];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char *byte = &it.bytes[entry + (size_t)cases[k].place];
        const char before = *byte;
        *byte = cases[k].value;
        char said[TAL_DIAGNOSTIC_SIZE], expected[200];
        tal_table *table = NULL;
        ck_assert_int_eq(read_bytes(it.bytes, it.size, &options, &table, said), TAL_ERR_FILE);
        (void)snprintf(expected, sizeof expected, "'columns.npy' in the archive %s",
                       cases[k].expected);
        ck_assert_str_eq(said, expected);
        *byte = before;
    }
    free(it.bytes);
}

END_TEST

START_TEST(reading_an_archive_survives_every_failure_of_memory)
{
    const content it = load(NUMPY "packed.npz");
    tal_status st = TAL_ERR_NO_MEMORY;
    for (int n = 1; n < 1000 && st != TAL_OK; ++n) {
        test_heap heap = {.refuse_at = n};
        tal_table_options options = tal_table_options_default();
        options.allocator = test_heap_allocator(&heap);
        tal_table *table = NULL;
        char said[TAL_DIAGNOSTIC_SIZE];
        st = read_bytes(it.bytes, it.size, &options, &table, said);
        ck_assert_msg(st == TAL_OK || st == TAL_ERR_NO_MEMORY, "request %d: %s", n, said);
        tal_table_destroy(table);
        ck_assert_int_eq(heap.live, 0);
    }
    ck_assert_int_eq(st, TAL_OK);
    free(it.bytes);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("io/table_npz");
    TCase *all = tcase_create("archives");
    tcase_add_test(all, archives_of_numpy_are_read);
    tcase_add_test(all, what_is_not_a_table_is_refused_by_name);
    tcase_add_test(all, a_damaged_archive_is_refused_or_reads_the_same);
    tcase_add_test(all, an_archive_that_was_cut_off_is_refused);
    tcase_add_test(all, archives_that_are_encrypted_packed_otherwise_or_too_large_are_refused);
    tcase_add_test(all, reading_an_archive_survives_every_failure_of_memory);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
