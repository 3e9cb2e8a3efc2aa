// io/src/model/model_reference.c: the reference of the file format is the one in doc/.
#include "talus_test.h"

#include <talus/io/model.h>

#include <stdio.h>
#include <stdlib.h>

static char *reference(void)
{
    const size_t length = tal_model_reference(NULL, 0);
    char *text = malloc(length + 1);
    ck_assert_uint_eq(tal_model_reference(text, length + 1), length);
    ck_assert_uint_eq(strlen(text), length);
    return text;
}

// With TALUS_WRITE_REFERENCE=1 the page is written instead.
START_TEST(the_page_in_doc_is_the_table)
{
    char *text = reference();
    const char *path = TALUS_SOURCE_DIR "/doc/model_file.md";
    if (getenv("TALUS_WRITE_REFERENCE") != NULL) {
        FILE *out = fopen(path, "wb");
        ck_assert_ptr_nonnull(out);
        (void)fputs(text, out);
        (void)fclose(out);
    }
    FILE *in = fopen(path, "rb");
    ck_assert_ptr_nonnull(in);
    char *page = calloc(strlen(text) + 2, 1);
    const size_t size = fread(page, 1, strlen(text) + 1, in);
    (void)fclose(in);
    ck_assert_msg(size == strlen(text) && strcmp(page, text) == 0,
                  "doc/model_file.md differs: run this test with TALUS_WRITE_REFERENCE=1");
    free(page);
    free(text);
}

END_TEST

START_TEST(a_short_buffer_gets_the_beginning)
{
    char text[20];
    memset(text, 'x', sizeof text);
    ck_assert_uint_gt(tal_model_reference(text, sizeof text), 1000);
    ck_assert_str_eq(text, "# Model files\n\nA mo");
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("model_doc");
    TCase *all = tcase_create("reference");
    tcase_add_test(all, the_page_in_doc_is_the_table);
    tcase_add_test(all, a_short_buffer_gets_the_beginning);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
