// io/src/text/write_file.c: files of a program's own. How they are replaced is tested with
// common/src/file.c.
#include "talus_test.h"

#include <talus/io/file.h>

#include <stdio.h>

static const char path[] = "test_write_file.tmp";

static void assert_file_has(const char *expected)
{
    char text[64] = "";
    FILE *in = fopen(path, "rb");
    ck_assert_ptr_nonnull(in);
    const size_t size = fread(text, 1, sizeof text - 1, in);
    (void)fclose(in);
    ck_assert_uint_eq(size, strlen(expected));
    ck_assert_str_eq(text, expected);
}

START_TEST(what_is_written_replaces_what_was_there)
{
    tal_error err = {TAL_ERR_FILE, "", "old"};
    ck_assert_int_eq(tal_file_write(path, "first", 5, &err), TAL_OK);
    ck_assert_int_eq(err.status, TAL_OK);
    assert_file_has("first");
    ck_assert_int_eq(tal_file_write(path, "a second one", 12, NULL), TAL_OK);
    assert_file_has("a second one");
    ck_assert_int_eq(tal_file_write(path, NULL, 0, NULL), TAL_OK);
    assert_file_has("");
    (void)remove(path);
}

END_TEST

START_TEST(what_cannot_be_written_is_told)
{
    tal_error err = {TAL_OK, "", ""};
    ck_assert_int_eq(tal_file_write("no/such/folder/x", "text", 4, &err), TAL_ERR_FILE);
    ck_assert_str_eq(err.where, "tal_file_write");
    ck_assert_ptr_nonnull(strstr(err.message, "cannot write 'no/such/folder/x': "));
    tal_status st = TAL_OK;
    test_assert_breach(st = tal_file_write(NULL, "text", 4, NULL), TAL_ERR_NULL,
                       "the path is NULL");
    ck_assert_int_eq(st, TAL_ERR_NULL);
    test_assert_breach(st = tal_file_write(path, NULL, 4, NULL), TAL_ERR_NULL,
                       "the bytes are NULL");
    ck_assert_int_eq(st, TAL_ERR_NULL);
    ck_assert_ptr_null(fopen(path, "rb"));
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("io/write_file");
    TCase *tests = tcase_create("tests");
    tcase_add_test(tests, what_is_written_replaces_what_was_there);
    tcase_add_test(tests, what_cannot_be_written_is_told);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
