// talus view: how large its files may be.
#include "viewer/scenes.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

enum {
    LARGE = 20000000,
    TOO_LARGE = 200000000
};

static cli_args arguments(int argc, const char *const argv[])
{
    cli_args args;
    ck_assert_int_eq(cli_parse(argc, argv, &args), CLI_OK);
    return args;
}

static const char *const plain[] = {"view", "a.sto"};
static const char *const forced[] = {"view", "a.sto", "--force"};

// The exit code for a file of so many bytes, and what is said on standard error.
static int check_size(const cli_args *args, size_t bytes, char said[], size_t size)
{
    FILE *const file = tmpfile();
    ck_assert_ptr_nonnull(file);
    fflush(stderr);
    const int before = dup(STDERR_FILENO);
    ck_assert_int_ge(dup2(fileno(file), STDERR_FILENO), 0);
    const int code = cli_scene_check_size(args, bytes, 3000, 40);
    fflush(stderr);
    ck_assert_int_ge(dup2(before, STDERR_FILENO), 0);
    (void)close(before);
    rewind(file);
    said[fread(said, 1, size - 1, file)] = 0;
    (void)fclose(file);
    return code;
}

START_TEST(a_large_file_is_warned_of)
{
    char said[1000];
    const cli_args args = arguments(2, plain);
    ck_assert_int_eq(check_size(&args, LARGE, said, sizeof said), CLI_OK);
    ck_assert_str_eq(said, "");
    ck_assert_int_eq(check_size(&args, LARGE + 1, said, sizeof said), CLI_OK);
    ck_assert_ptr_nonnull(strstr(said, "warning"));
    ck_assert_ptr_nonnull(strstr(said, "20 MB, for 3000 frames of 40 bodies"));
}

END_TEST

START_TEST(a_very_large_file_needs_force)
{
    char said[1000];
    const cli_args args = arguments(2, plain), with_force = arguments(3, forced);
    ck_assert_int_eq(check_size(&args, TOO_LARGE, said, sizeof said), CLI_OK);
    ck_assert_int_eq(check_size(&args, TOO_LARGE + 1, said, sizeof said), CLI_FAILED);
    ck_assert_ptr_nonnull(strstr(said, "would have 200 MB"));
    ck_assert_ptr_nonnull(strstr(said, "--force"));
    ck_assert_int_eq(check_size(&with_force, TOO_LARGE + 1, said, sizeof said), CLI_OK);
}

END_TEST

int main(void)
{
    Suite *const suite = suite_create("view");
    TCase *const all = tcase_create("limits");
    tcase_add_test(all, a_large_file_is_warned_of);
    tcase_add_test(all, a_very_large_file_needs_force);
    suite_add_tcase(suite, all);
    SRunner *const runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures > 0;
}
