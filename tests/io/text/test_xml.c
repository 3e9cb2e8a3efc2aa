// io/src/text/xml.c, did_you_mean.c, diagnostics.c: documents as trees, and what is wrong with
// them.
#include "talus_test.h"
#include "text/xml_internal.h"

#include <stdio.h>
#include <stdlib.h>

static tali_xml *read_text(const char *text, const tali_xml_limits *limits, tal_diagnostics *found)
{
    tali_xml *xml = NULL;
    const tal_status st =
        tali_xml_read_memory("a.xml", text, strlen(text), limits, NULL, &xml, found);
    ck_assert((st == TAL_OK) == (xml != NULL));
    return xml;
}

// The document is refused with this diagnostic, and only this one.
static void assert_refused(const char *text, size_t size, const tali_xml_limits *limits,
                           tal_status status, const char *expected)
{
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    tali_xml *xml = NULL;
    ck_assert_int_eq(tali_xml_read_memory("a.xml", text, size, limits, NULL, &xml, found), status);
    ck_assert_ptr_null(xml);
    ck_assert_int_eq(tal_diagnostics_num(found), 1);
    char line[TAL_DIAGNOSTIC_SIZE];
    ck_assert_str_eq(tal_diagnostic_text(tal_diagnostics_at(found, 0), line), expected);
    tal_diagnostics_destroy(found);
}

START_TEST(elements_and_attributes_know_where_they_stand)
{
    const char *text = "<?xml version=\"1.0\"?>\n"
                       "<!-- a comment -->\n"
                       "<model name='m'>\n"
                       "  <pin name=\"knee\"\n"
                       "       range = \"0 1\"   note='a=\"b\" c'/>\n"
                       "  <mass>  1.5 kg </mass><mass/>\n"
                       "</model>\n";
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    tali_xml *xml = read_text(text, NULL, found);
    ck_assert_ptr_nonnull(xml);
    ck_assert_int_eq(tal_diagnostics_num(found), 0);
    ck_assert_int_eq(xml->num_elements, 4);
    ck_assert_str_eq(xml->root->name, "model");
    ck_assert_int_eq(xml->root->line, 3);
    ck_assert_int_eq(xml->root->column, 1);
    ck_assert_ptr_null(xml->root->parent);

    const tali_xml_element *pin = xml->root->first;
    ck_assert_str_eq(pin->name, "pin");
    ck_assert_int_eq(pin->line, 4);
    ck_assert_int_eq(pin->column, 3);
    ck_assert_int_eq(pin->num_attributes, 3);
    ck_assert_ptr_eq(pin->parent, xml->root);
    ck_assert_str_eq(pin->attributes[2].value, "a=\"b\" c");
    const int lines[] = {4, 5, 5}, columns[] = {8, 8, 24};
    for (int i = 0; i < 3; ++i) {
        ck_assert_int_eq(pin->attributes[i].line, lines[i]);
        ck_assert_int_eq(pin->attributes[i].column, columns[i]);
    }
    ck_assert_ptr_eq(tali_xml_find(pin, "range"), &pin->attributes[1]);
    ck_assert_ptr_null(tali_xml_find(pin, "rnage"));

    const tali_xml_element *mass = tali_xml_child(xml->root, "mass");
    ck_assert_str_eq(mass->text, "1.5 kg");
    ck_assert_ptr_eq(tali_xml_next(mass, "mass"), mass->next);
    ck_assert_str_eq(mass->next->text, "");
    ck_assert_ptr_null(tali_xml_next(mass, "pin"));
    ck_assert_ptr_null(tali_xml_child(xml->root, "weld"));

    char tag[128];
    ck_assert_str_eq(tali_xml_tag(pin, tag, sizeof tag), "<pin name=\"knee\">");
    ck_assert_str_eq(tali_xml_tag(mass, tag, sizeof tag), "<mass>");
    tali_xml_error(xml, pin, &pin->attributes[1], found, "bad %d", 7);
    tali_xml_error(xml, pin, NULL, found, "worse");
    char line[TAL_DIAGNOSTIC_SIZE];
    ck_assert_str_eq(tal_diagnostic_text(tal_diagnostics_at(found, 0), line),
                     "a.xml:5:8: error: bad 7");
    ck_assert_str_eq(tal_diagnostic_text(tal_diagnostics_at(found, 1), line),
                     "a.xml:4:3: error: worse");
    tali_xml_destroy(xml);
    tal_diagnostics_destroy(found);
}

END_TEST

// Tags that lie across the chunks in which expat gets the text are still located.
START_TEST(positions_do_not_depend_on_chunks)
{
    const int count = 5000;
    char *text = malloc((size_t)count * 64 + 64), *at = text;
    at += sprintf(at, "<r>\n");
    for (int i = 0; i < count; ++i) {
        at += sprintf(at, "<element   a=\"%d\"\n   bb='%d'/>\n", i, i);
    }
    (void)sprintf(at, "</r>");
    tali_xml *xml = read_text(text, NULL, NULL);
    ck_assert_ptr_nonnull(xml);
    int i = 0;
    for (const tali_xml_element *e = xml->root->first; e != NULL; e = e->next, ++i) {
        ck_assert_int_eq(e->line, 2 + 2 * i);
        ck_assert_int_eq(e->attributes[0].line, e->line);
        ck_assert_int_eq(e->attributes[0].column, 12);
        ck_assert_int_eq(e->attributes[1].line, e->line + 1);
        ck_assert_int_eq(e->attributes[1].column, 4);
    }
    ck_assert_int_eq(i, count);
    tali_xml_destroy(xml);
    free(text);
}

END_TEST

START_TEST(text_before_a_child_is_kept_and_after_it_is_told)
{
    tali_xml *xml = read_text("<a> x <![CDATA[<y>]]> &lt;z <b/> </a>", NULL, NULL);
    ck_assert_str_eq(xml->root->text, "x <y> <z");
    ck_assert(!xml->root->mixed);
    tali_xml_destroy(xml);
    xml = read_text("<a><b/> x </a>", NULL, NULL);
    ck_assert(xml->root->mixed);
    tali_xml_destroy(xml);
}

END_TEST

START_TEST(what_is_not_xml_is_refused_where_it_goes_wrong)
{
    const struct {
        const char *text, *expected;
    } cases[] = {
        {"", "a.xml:1:1: error: this is not XML: no element found"},
        {"garbage", "a.xml:1:1: error: this is not XML: syntax error"},
        {"<a>\n  <b></a>", "a.xml:2:8: error: this is not XML: mismatched tag"},
        {"<a x='1' x='2'/>", "a.xml:1:10: error: this is not XML: duplicate attribute"},
        {"<a>&foo;</a>", "a.xml:1:4: error: this is not XML: undefined entity"},
        {"<a/><b/>", "a.xml:1:5: error: this is not XML: junk after document element"},
        {"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
         "a.xml:1:13: error: DOCTYPE and entities are not allowed"},
        {"<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>",
         "a.xml:1:40: error: DOCTYPE and entities are not allowed"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        assert_refused(cases[i].text, strlen(cases[i].text), NULL, TAL_ERR_FILE, cases[i].expected);
    }
}

END_TEST

START_TEST(limits_are_kept)
{
    const size_t big = (size_t)4 << 20;
    char *text = malloc(big);

    // a million levels
    for (size_t i = 0; i < big / 4; ++i) {
        memcpy(text + 4 * i, "<a>\n", 4);
    }
    assert_refused(text, big, NULL, TAL_ERR_CAPACITY,
                   "a.xml:65:1: error: elements are nested deeper than 64 levels");

    // a tag without end
    memset(text, 'x', big);
    memcpy(text, "<a b='", 6);
    assert_refused(text, big, NULL, TAL_ERR_CAPACITY,
                   "a.xml:1:1: error: a tag or comment is longer than 1048576 bytes");

    // too long, too many
    for (size_t i = 1; i < big / 4; ++i) {
        memcpy(text + 4 * i, "<b/>", 4);
    }
    memcpy(text, "<a >", 4);
    tali_xml_limits limits = tali_xml_limits_default();
    limits.file_bytes = (size_t)1 << 20;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    tali_xml *xml = NULL;
    ck_assert_int_eq(tali_xml_read_memory("a.xml", text, big, &limits, NULL, &xml, found),
                     TAL_ERR_CAPACITY);
    ck_assert_ptr_nonnull(strstr(tal_diagnostics_at(found, 0)->message, "larger than 1048576"));
    limits = tali_xml_limits_default();
    limits.memory_bytes = (size_t)8 << 20;
    ck_assert_int_eq(tali_xml_read_memory("a.xml", text, big, &limits, NULL, &xml, found),
                     TAL_ERR_CAPACITY);
    ck_assert_ptr_nonnull(strstr(tal_diagnostics_at(found, 1)->message, "bytes of memory"));

    // text without end
    memset(text, 'x', big);
    memcpy(text, "<a>", 3);
    limits.memory_bytes = (size_t)2 << 20;
    ck_assert_int_eq(tali_xml_read_memory("a.xml", text, big, &limits, NULL, &xml, found),
                     TAL_ERR_CAPACITY);
    ck_assert_ptr_null(xml);
    tal_diagnostics_destroy(found);
    free(text);
}

END_TEST

START_TEST(files_are_read_like_memory)
{
    const char *path = "test_xml.tmp";
    FILE *file = fopen(path, "wb");
    (void)fputs("<a>\n<b c='1'/></a>", file);
    (void)fclose(file);
    tali_xml *xml = NULL;
    ck_assert_int_eq(tali_xml_read_file(path, NULL, NULL, &xml, NULL), TAL_OK);
    ck_assert_str_eq(xml->file, path);
    ck_assert_int_eq(xml->root->first->attributes[0].column, 4);
    tali_xml_destroy(xml);
    tali_xml_limits limits = tali_xml_limits_default();
    limits.file_bytes = 10;
    ck_assert_int_eq(tali_xml_read_file(path, &limits, NULL, &xml, NULL), TAL_ERR_CAPACITY);
    ck_assert_ptr_null(xml);
    (void)remove(path);

    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tali_xml_read_file(path, NULL, NULL, &xml, found), TAL_ERR_FILE);
    ck_assert_ptr_null(xml);
    char line[TAL_DIAGNOSTIC_SIZE];
    ck_assert_str_eq(tal_diagnostic_text(tal_diagnostics_at(found, 0), line),
                     "test_xml.tmp: error: the file cannot be opened: No such file or directory");
    ck_assert_int_eq(tali_xml_read_file(".", NULL, NULL, &xml, found), TAL_ERR_FILE);
    tal_diagnostics_destroy(found);
}

END_TEST

START_TEST(memory_that_runs_out_is_told_and_given_back)
{
    // more than one block of memory, and text that grows
    const size_t count = 30000;
    char *text = malloc(count * 60 + 64), *at = text;
    at += sprintf(at, "<r>some text");
    for (size_t i = 0; i < count; ++i) {
        at += sprintf(at, "<element a=\"%zu\">%zu and more</element>", i, i);
    }
    (void)sprintf(at, "</r>");
    bool done = false;
    for (int n = 1; !done; ++n) {
        test_heap heap = {.refuse_at = n};
        const tal_allocator from = test_heap_allocator(&heap);
        tali_xml *xml = NULL;
        const tal_status st =
            tali_xml_read_memory("a.xml", text, strlen(text), NULL, &from, &xml, NULL);
        done = st == TAL_OK;
        if (!done) ck_assert_int_eq(st, TAL_ERR_NO_MEMORY);
        if (done) test_assert_never_refused(&heap);
        ck_assert(done == (xml != NULL));
        tali_xml_destroy(xml);
        ck_assert_int_eq(heap.live, 0);
        ck_assert_int_lt(n, 100);
    }
    free(text);
}

END_TEST

static const char *word_at(const void *context, int i)
{
    return ((const char *const *)context)[i];
}

START_TEST(slips_of_the_finger_are_guessed)
{
    const char *words[] = {"range", "name", "parent", "stiffness", "rest_length", NULL};
    ck_assert_str_eq(tali_text_did_you_mean("rnage", word_at, words), "range");
    ck_assert_str_eq(tali_text_did_you_mean("nam", word_at, words), "name");
    ck_assert_str_eq(tali_text_did_you_mean("stifness", word_at, words), "stiffness");
    ck_assert_str_eq(tali_text_did_you_mean("restlength", word_at, words), "rest_length");
    ck_assert_ptr_null(tali_text_did_you_mean("color", word_at, words));
    ck_assert_ptr_null(tali_text_did_you_mean("x", word_at, words));
    char long_word[200];
    memset(long_word, 'a', sizeof long_word - 1);
    long_word[199] = '\0';
    ck_assert_ptr_null(tali_text_did_you_mean(long_word, word_at, words));
}

END_TEST

START_TEST(a_list_keeps_what_it_can_and_counts_the_rest)
{
    tal_diagnostics *list = tal_diagnostics_create(NULL);
    for (int i = 0; i < TAL_MAX_DIAGNOSTICS + 10; ++i) {
        tal_diagnostics_add(list, TAL_ERROR, "f", i, 0, "number %d", i);
    }
    ck_assert_int_eq(tal_diagnostics_num(list), TAL_MAX_DIAGNOSTICS);
    ck_assert_int_eq(tal_diagnostics_num_errors(list), TAL_MAX_DIAGNOSTICS + 10);
    tal_diagnostics_clear(list);
    ck_assert_int_eq(tal_diagnostics_num(list), 0);

    char name[400], line[TAL_DIAGNOSTIC_SIZE];
    memset(name, 'd', sizeof name);
    memcpy(name + 380, "/arm.talus", 11);
    tal_diagnostics_add(list, TAL_WARNING, name, 3, 0, "odd");
    tal_diagnostics_add(list, TAL_ERROR, NULL, 0, 0, "no file");
    ck_assert_int_eq(tal_diagnostics_num_errors(list), 1);
    const tal_diagnostic *odd = tal_diagnostics_at(list, 0);
    ck_assert_int_eq((int)strlen(odd->file), 199);
    ck_assert_ptr_nonnull(strstr(odd->file, "/arm.talus"));
    ck_assert_int_eq(strncmp(odd->file, "...d", 4), 0);
    ck_assert_ptr_nonnull(strstr(tal_diagnostic_text(odd, line), "/arm.talus:3: warning: odd"));
    ck_assert_str_eq(tal_diagnostic_text(tal_diagnostics_at(list, 1), line), "error: no file");
    tal_diagnostics_destroy(list);

    test_heap heap = {.refuse_at = 2};
    const tal_allocator from = test_heap_allocator(&heap);
    list = tal_diagnostics_create(&from);
    tal_diagnostics_add(list, TAL_ERROR, "f", 1, 1, "lost");
    ck_assert_int_eq(tal_diagnostics_num(list), 0);
    ck_assert_int_eq(tal_diagnostics_num_errors(list), 1);
    tal_diagnostics_destroy(list);
    ck_assert_int_eq(heap.live, 0);
    heap.refuse_at = heap.calls + 1;
    ck_assert_ptr_null(tal_diagnostics_create(&from));
}

END_TEST

START_TEST(null_is_a_breach)
{
    test_record_breaches();
    tal_diagnostics *list = tal_diagnostics_create(NULL);
    char line[TAL_DIAGNOSTIC_SIZE];
    test_assert_breach(ck_assert_int_eq(tal_diagnostics_num(NULL), -1), TAL_ERR_NULL, "NULL");
    test_assert_breach(ck_assert_int_eq(tal_diagnostics_num_errors(NULL), -1), TAL_ERR_NULL,
                       "NULL");
    test_assert_breach(ck_assert_ptr_null(tal_diagnostics_at(list, 0)), TAL_ERR_BAD_INDEX,
                       "diagnostic 0 of 0");
    test_assert_breach(ck_assert_ptr_null(tal_diagnostics_at(NULL, 0)), TAL_ERR_NULL, "no");
    test_assert_breach((void)tal_diagnostic_text(NULL, line), TAL_ERR_NULL, "diagnostic");
    tal_diagnostics_add(NULL, TAL_ERROR, "f", 1, 1, "nobody listens");
    tal_diagnostics_clear(NULL);
    tal_diagnostics_destroy(NULL);
    tali_xml_destroy(NULL);
    tal_diagnostics_destroy(list);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("xml");
    TCase *tree = tcase_create("tree");
    tcase_set_timeout(tree, 60);
    tcase_add_test(tree, elements_and_attributes_know_where_they_stand);
    tcase_add_test(tree, positions_do_not_depend_on_chunks);
    tcase_add_test(tree, text_before_a_child_is_kept_and_after_it_is_told);
    tcase_add_test(tree, files_are_read_like_memory);
    suite_add_tcase(suite, tree);
    TCase *errors = tcase_create("errors");
    tcase_set_timeout(errors, 60);
    tcase_add_test(errors, what_is_not_xml_is_refused_where_it_goes_wrong);
    tcase_add_test(errors, limits_are_kept);
    tcase_add_test(errors, memory_that_runs_out_is_told_and_given_back);
    tcase_add_test(errors, slips_of_the_finger_are_guessed);
    tcase_add_test(errors, a_list_keeps_what_it_can_and_counts_the_rest);
    tcase_add_test(errors, null_is_a_breach);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
