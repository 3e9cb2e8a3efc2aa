// common/src/version.c: the numbers, the string and the commit belong together.
#include "talus_test.h"

#include <talus/common/version.h>

#include <stdio.h>
#include <string.h>

START_TEST(the_string_is_made_of_the_numbers)
{
    char expected[32];
    (void)snprintf(expected, sizeof expected, "%d.%d.%d", TAL_VERSION_MAJOR, TAL_VERSION_MINOR,
                   TAL_VERSION_PATCH);
    ck_assert_str_eq(tal_version_string(), expected);
}

START_TEST(headers_of_another_version_do_not_match)
{
    ck_assert(TAL_VERSION_CHECK());
    ck_assert(!tal_version_matches(TAL_VERSION_MAJOR + 1, TAL_VERSION_MINOR));
    ck_assert(!tal_version_matches(TAL_VERSION_MAJOR - 1, TAL_VERSION_MINOR));
    ck_assert(!tal_version_matches(TAL_VERSION_MAJOR, TAL_VERSION_MINOR + 1));
    // an older minor version is fine once the interface is stable
    ck_assert_int_eq(tal_version_matches(TAL_VERSION_MAJOR, TAL_VERSION_MINOR - 1),
                     TAL_VERSION_MAJOR > 0);
}

START_TEST(the_commit_is_a_hash_or_unknown)
{
    const char *hash = tal_git_hash();
    if (strcmp(hash, "unknown") == 0) return;
    const size_t digits = strspn(hash, "0123456789abcdef");
    ck_assert_uint_ge(digits, 12);
    ck_assert_msg(strcmp(hash + digits, "") == 0 || strcmp(hash + digits, "-dirty") == 0,
                  "'%s' is not a hash", hash);
}

int main(void)
{
    Suite *suite = suite_create("common/version");
    TCase *tc = tcase_create("version");
    tcase_add_test(tc, the_string_is_made_of_the_numbers);
    tcase_add_test(tc, headers_of_another_version_do_not_match);
    tcase_add_test(tc, the_commit_is_a_hash_or_unknown);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
