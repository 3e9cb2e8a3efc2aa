// Tests for study/src/integrate/method.c: every method has one name, and is found by it.
#include "talus_test.h"

#include <talus/study.h>

START_TEST(every_method_is_found_by_its_name)
{
    ck_assert_int_gt(tal_num_methods(), 0);
    for (int i = 0; i < tal_num_methods(); ++i) {
        ck_assert_int_eq(tal_method_find(tal_method_name(i)), i); // so no two have the same
        ck_assert_str_ne(tal_method_summary(i), "");
    }
    ck_assert_int_eq(tal_method_find("no such method"), -1);
    ck_assert_int_eq(test_breaches(), 0);
}

END_TEST

START_TEST(lists_end_behind_the_last_one)
{
    ck_assert_ptr_null(tal_method_name(tal_num_methods()));
    ck_assert_ptr_null(tal_method_summary(tal_num_methods()));
    ck_assert_ptr_null(tal_method_name(-1));
    ck_assert_int_eq(test_breaches(), 0);
}

END_TEST

// Every value of tal_method has a name, and every tableau that is built in.
START_TEST(every_method_and_tableau_has_a_name)
{
    const tal_rk_tableau *(*const tableaux[])(void) = {
        tal_rk_euler,          tal_rk_trapezoid,          tal_rk_bogacki_shampine, tal_rk_merson,
        tal_rk_dormand_prince, tal_rk_bogacki_shampine_5, tal_rk_verner_8,         tal_rk_fehlberg};
    const int num_tableaux = (int)(sizeof tableaux / sizeof *tableaux);
    int num_found[TAL_METHOD_ARKODE_DIRK + 1] = {0};
    for (int i = 0; i < tal_num_methods(); ++i) {
        const tal_integrator_def def = tal_method_def(i);
        num_found[def.method] += 1;
        ck_assert((def.tableau != NULL) == (def.method == TAL_METHOD_RUNGE_KUTTA));
        int same = 0;
        for (int k = 0; k < num_tableaux; ++k) {
            same += def.tableau == tableaux[k]();
        }
        ck_assert_int_eq(same, def.tableau != NULL ? 1 : 0);
    }
    ck_assert_int_eq(num_found[TAL_METHOD_RUNGE_KUTTA], num_tableaux);
    for (int method = 1; method <= TAL_METHOD_ARKODE_DIRK; ++method) {
        ck_assert_int_eq(num_found[method], 1);
    }
}

END_TEST

START_TEST(what_is_not_there_is_a_breach)
{
    const tal_integrator_def usual = tal_integrator_def_default();
    tal_integrator_def def = tal_method_def(tal_method_find("ida"));
    test_assert_breach(ck_assert_int_eq(tal_method_find(NULL), -1), TAL_ERR_NULL, "name");
    test_assert_breach(def = tal_method_def(tal_num_methods()), TAL_ERR_BAD_INDEX, "method");
    ck_assert(def.method == usual.method && def.tableau == usual.tableau);
    test_assert_breach((void)tal_method_def(-1), TAL_ERR_BAD_INDEX, "method -1");
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("study/method");
    TCase *all = tcase_create("names");
    tcase_add_test(all, every_method_is_found_by_its_name);
    tcase_add_test(all, lists_end_behind_the_last_one);
    tcase_add_test(all, every_method_and_tableau_has_a_name);
    tcase_add_test(all, what_is_not_there_is_a_breach);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
