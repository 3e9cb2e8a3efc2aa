// io/src/model/model_any.c: what is in a file, and models of any format.
#include "model_same.h"

#include <stdio.h>

static const char pendulum[] =
    "<talus version=\"1\"><param name=\"m\" value=\"2\"/><bodies><pin name=\"bob\" mass=\"$m\" "
    "com=\"0 -1 0\"/></bodies></talus>";
static const char arm[] = "<?xml version=\"1.0\"?>\n<!-- <talus> -->\n<robot name=\"arm\"><link "
                          "name=\"world\"/></robot>";

static tal_file_kind kind_of_text(const char *text)
{
    return tal_file_kind_of("x", text, strlen(text));
}

START_TEST(the_end_of_a_name_says_what_a_file_is)
{
    const struct {
        const char *path;
        tal_file_kind kind;
    } cases[] = {
        {"a.talus", TAL_FILE_TALUS},     {"b/c.d.urdf", TAL_FILE_URDF}, {"A.URDF", TAL_FILE_URDF},
        {"a.osim", TAL_FILE_OSIM},       {"a.sto", TAL_FILE_TABLE},     {"a.mot", TAL_FILE_TABLE},
        {"a.trc", TAL_FILE_TABLE},       {"a.CSV", TAL_FILE_TABLE},     {"a.npz", TAL_FILE_TABLE},
        {"a.talus.x", TAL_FILE_UNKNOWN}, {"talus", TAL_FILE_UNKNOWN},   {"", TAL_FILE_UNKNOWN}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        ck_assert_msg(tal_file_kind_of(cases[i].path, NULL, 0) == cases[i].kind, "%s",
                      cases[i].path);
    }
    // the name counts, whatever the text is
    ck_assert_int_eq(tal_file_kind_of("a.csv", arm, strlen(arm)), TAL_FILE_TABLE);
    ck_assert_int_eq(test_breaches(), 0);
    test_assert_breach((void)tal_file_kind_of(NULL, NULL, 0), TAL_ERR_NULL, "path");
}

END_TEST

START_TEST(otherwise_the_first_element_does)
{
    ck_assert_int_eq(kind_of_text(pendulum), TAL_FILE_TALUS);
    ck_assert_int_eq(kind_of_text(arm), TAL_FILE_URDF);
    ck_assert_int_eq(kind_of_text("\xef\xbb\xbf <!DOCTYPE robot>\n<robot/>"), TAL_FILE_URDF);
    ck_assert_int_eq(kind_of_text("<OpenSimDocument Version='40000'>"), TAL_FILE_OSIM);
    const char *const others[] = {"",       "<",         "<robo",
                                  "<robot", "<robots>",  "<!-- <talus> ",
                                  "<?xml",  "time\tq\n", "<a><talus>"};
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        ck_assert_msg(kind_of_text(others[i]) == TAL_FILE_UNKNOWN, "%s", others[i]);
    }
}

END_TEST

static void write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "wb");
    ck_assert_ptr_nonnull(out);
    (void)fputs(text, out);
    (void)fclose(out);
}

// Read a text under a name; how many bodies it has, Ground among them, and the first message.
static tal_status read_as(const char *path, const char *text, const tal_model_options *options,
                          int *num_bodies, char line[TAL_DIAGNOSTIC_SIZE])
{
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    if (text != NULL) write_file(path, text);
    const tal_status st = tal_model_read_any(path, options, &model, found);
    *num_bodies = st == TAL_OK ? tal_matter_num_bodies(model.matter) : -1;
    line[0] = '\0';
    if (tal_diagnostics_num(found) > 0) {
        (void)tal_diagnostic_text(tal_diagnostics_at(found, 0), line);
    }
    tal_model_destroy(&model);
    tal_diagnostics_destroy(found);
    (void)remove(path);
    return st;
}

START_TEST(a_model_is_read_whatever_its_file_is_called)
{
    int num = 0;
    char line[TAL_DIAGNOSTIC_SIZE];
    ck_assert_int_eq(read_as("any.talus", pendulum, NULL, &num, line), TAL_OK);
    ck_assert_int_eq(num, 2);
    ck_assert_int_eq(read_as("any.xml", pendulum, NULL, &num, line), TAL_OK);
    ck_assert_int_eq(num, 2);
    ck_assert_int_eq(read_as("any.urdf", arm, NULL, &num, line), TAL_OK);
    ck_assert_int_eq(num, 1);
    ck_assert_int_eq(read_as("any.xml", arm, NULL, &num, line), TAL_OK);
    ck_assert_int_eq(num, 1);
}

END_TEST

// What a file of an unknown name includes is looked up beside it.
START_TEST(includes_are_found_beside_a_file_of_any_name)
{
    int num = 0;
    char line[TAL_DIAGNOSTIC_SIZE];
    write_file("any_part.talus", pendulum);
    ck_assert_msg(read_as("any.xml",
                          "<talus version=\"1\"><include file=\"any_part.talus\"/></talus>", NULL,
                          &num, line) == TAL_OK,
                  "%s", line);
    ck_assert_int_eq(num, 2);
    (void)remove("any_part.talus");
}

END_TEST

// A whole ball, one coordinate of two, and a speed.
START_TEST(what_is_locked_is_locked_where_a_start_value_says)
{
    static const char text[] =
        "<talus version='1'><bodies><ball name='b' mass='1' com='0 -1 0' inertia='1 1 1' "
        "lock='position'/><universal name='c' mass='1' com='0 -1 0' inertia='1 1 1'>"
        "<coordinate index='1' lock='position' lock_at='0.1'/></universal>"
        "<pin name='d' mass='1' com='0 -1 0' inertia='1 1 1' lock='velocity'/></bodies></talus>";
    const tal_model_param starts[] = {{"b.q0", 0.8}, {"b.q1", 0.6}, {"c.q1", 0.5}, {"d.u0", 2.0}};
    tal_model_options options = tal_model_options_default();
    options.starts = starts;
    options.num_starts = 4;
    tal_model model;
    ck_assert_int_eq(tal_model_read_memory("m", text, strlen(text), &options, &model, NULL),
                     TAL_OK);
    ck_assert_int_eq(tal_system_prescribe_and_project(model.system, model.state, NULL, NULL),
                     TAL_OK);
    const tal_body_ix b = tal_matter_find_body(model.matter, "b");
    const tal_body_ix c = tal_matter_find_body(model.matter, "c");
    const tal_body_ix d = tal_matter_find_body(model.matter, "d");
    // the quaternion has unit length to a rounding or two
    ck_assert_double_eq_tol(tal_body_q(model.matter, model.state, b, 0), 0.8, 1e-15);
    ck_assert_double_eq_tol(tal_body_q(model.matter, model.state, b, 1), 0.6, 1e-15);
    ck_assert(tal_body_q(model.matter, model.state, c, 1) == 0.5);
    ck_assert(tal_body_u(model.matter, model.state, d, 0) == 2.0);
    tal_model_destroy(&model);
}

END_TEST

START_TEST(what_is_wrong_is_told)
{
    int num = 0;
    char line[TAL_DIAGNOSTIC_SIZE];
    ck_assert_int_eq(read_as("any.csv", "a,b\n1,2\n", NULL, &num, line), TAL_ERR_FILE);
    ck_assert_str_eq(line, "any.csv: error: this is a table, not a model");
    ck_assert_int_eq(read_as("any.none", NULL, NULL, &num, line), TAL_ERR_FILE);
    ck_assert_str_eq(line, "any.none: error: the file cannot be opened: No such file or directory");
    ck_assert_int_eq(read_as("any.none", "<house/>", NULL, &num, line), TAL_ERR_FILE);
    ck_assert_ptr_nonnull(strstr(line, "house"));

    const tal_model_param param = {"m", 3.0};
    tal_model_options options = tal_model_options_default();
    options.params = &param;
    options.num_params = 1;
    ck_assert_int_eq(read_as("any.xml", pendulum, &options, &num, line), TAL_OK);
    ck_assert_int_eq(read_as("any.xml", arm, &options, &num, line), TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(line, "any.xml: error: a URDF has no params");
    ck_assert_int_eq(test_breaches(), 0);
    test_assert_refused(tal_model_read_any(NULL, NULL, NULL, NULL), TAL_ERR_NULL, "NULL");
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("io/model_any");
    TCase *all = tcase_create("kinds");
    tcase_add_test(all, the_end_of_a_name_says_what_a_file_is);
    tcase_add_test(all, otherwise_the_first_element_does);
    tcase_add_test(all, a_model_is_read_whatever_its_file_is_called);
    tcase_add_test(all, includes_are_found_beside_a_file_of_any_name);
    tcase_add_test(all, what_is_locked_is_locked_where_a_start_value_says);
    tcase_add_test(all, what_is_wrong_is_told);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
