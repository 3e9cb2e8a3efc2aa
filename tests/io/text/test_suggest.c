// io/src/text/suggest.c: what may have been meant, for programs.
#include "talus_test.h"

#include <talus/io/suggest.h>

static const char *fruit_at(const void *context, int i)
{
    static const char *const fruits[] = {"apple", "pear", "peach"};
    const int *const num = context;
    return i < *num ? fruits[i] : NULL;
}

START_TEST(the_nearest_name_is_meant_and_the_first_of_equals)
{
    const int all = 3, none = 0;
    ck_assert_str_eq(tal_did_you_mean("aple", fruit_at, &all), "apple");
    ck_assert_str_eq(tal_did_you_mean("paer", fruit_at, &all), "pear");
    ck_assert_str_eq(tal_did_you_mean("peac", fruit_at, &all), "pear");
    ck_assert_ptr_null(tal_did_you_mean("strawberry", fruit_at, &all));
    ck_assert_ptr_null(tal_did_you_mean("aple", fruit_at, &none));
}

END_TEST

START_TEST(nothing_is_meant_by_nothing)
{
    tal_contract_set_handler(tal_contract_silent);
    const int all = 3;
    ck_assert_ptr_null(tal_did_you_mean(NULL, fruit_at, &all));
    ck_assert_int_eq(tal_contract_last()->status, TAL_ERR_NULL);
    ck_assert_ptr_null(tal_did_you_mean("aple", NULL, NULL));
    tal_contract_set_handler(NULL);
}

END_TEST

int main(void)
{
    Suite *const suite = suite_create("suggest");
    TCase *const names = tcase_create("names");
    tcase_add_test(names, the_nearest_name_is_meant_and_the_first_of_equals);
    tcase_add_test(names, nothing_is_meant_by_nothing);
    suite_add_tcase(suite, names);
    return test_run(suite);
}
