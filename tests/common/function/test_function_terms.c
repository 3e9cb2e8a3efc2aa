// Tests for common/src/function/function_terms.c: polynomials of several arguments.
#include "function_support.h"

static tal_function *make_terms(const double c[], const int powers[], int count, int num_args)
{
    tal_function *f = NULL;
    tal_error err;
    const tal_status st =
        tal_function_create_multivariate_polynomial(NULL, c, powers, count, num_args, &f, &err);
    return must(st, f, &err);
}

// 3 x^2 y - y^4 + 0.5 and all that follows from it by hand.
START_TEST(a_polynomial_of_two_arguments_has_its_value_and_derivatives)
{
    const double c[] = {3.0, -1.0, 0.5};
    const int powers[] = {2, 1, 0, 4, 0, 0};
    tal_function *f = make_terms(c, powers, 3, 2);
    const double at[2] = {0.7, -1.3}, x = at[0], y = at[1];

    const struct {
        int wrt[4], order;
        double value;
    } cases[] = {
        {{0}, 0, 3.0 * x * x * y - y * y * y * y + 0.5},
        {{0}, 1, 6.0 * x * y},
        {{1}, 1, 3.0 * x * x - 4.0 * y * y * y},
        {{0, 0}, 2, 6.0 * y},
        {{0, 1}, 2, 6.0 * x},
        {{1, 0}, 2, 6.0 * x},
        {{1, 1}, 2, -12.0 * y * y},
        {{0, 1, 0}, 3, 6.0},
        {{0, 0, 0}, 3, 0.0},
        {{1, 1, 1, 1}, 4, -24.0},
    };

    for (int i = 0; i < COUNT(cases); ++i) {
        const double found = tal_function_calc_derivative(f, at, 2, cases[i].wrt, cases[i].order);
        ck_assert_double_eq_tol(found, cases[i].value, 1e-14);
    }
    ck_assert_int_eq(tal_function_num_args(f), 2);
    ck_assert_int_eq(tal_function_max_order(f), TAL_FUNCTION_MAX_ORDER);
    ck_assert_str_eq(tal_function_name(f), "multivariate polynomial");
    tal_function_destroy(f);
}

END_TEST

// Of one argument it is what tal_function_create_polynomial() makes, to round-off of the powers.
START_TEST(of_one_argument_it_is_the_polynomial)
{
    const double c[] = {2.0, 0.0, -1.0, 0.25}, terms[] = {0.25, -1.0, 0.0, 2.0};
    const int powers[] = {0, 1, 2, 3};
    tal_function *f = make_terms(terms, powers, 4, 1), *g = make_polynomial(c, 4);
    for (double x = -3.0; x <= 3.0; x += 0.37) {
        for (int order = 0; order <= 5; ++order) {
            ck_assert_double_eq_tol(tal_function_calc_derivative_1(f, x, order),
                                    tal_function_calc_derivative_1(g, x, order), 1e-13);
        }
    }
    tal_function_destroy(f);
    tal_function_destroy(g);
}

END_TEST

START_TEST(numbers_that_are_not_finite_come_out_as_such)
{
    const double c[] = {1.0, 2.0};
    const int powers[] = {1, 0, 0, 2};
    tal_function *f = make_terms(c, powers, 2, 2);
    const double infinite[2] = {infinity, 1.0}, none[2] = {not_a_number, 1.0};
    ck_assert_double_eq(tal_function_calc_value(f, infinite, 2), infinity);
    ck_assert(isnan(tal_function_calc_value(f, none, 2)));
    tal_function_destroy(f);
}

END_TEST

START_TEST(mistakes_are_told)
{
    tal_function *out;
    tal_error err;
    const double c[] = {1.0, not_a_number};
    const int powers[] = {1, 0, 0, 17}, below[] = {-1, 0};
    REFUSED(tal_function_create_multivariate_polynomial(NULL, c, powers, 2, 2, &out, &err),
            TAL_ERR_BAD_VALUE, "term 1 has the power 17 of argument 1: it must be 0 to 16");
    REFUSED(tal_function_create_multivariate_polynomial(NULL, c, below, 1, 2, &out, &err),
            TAL_ERR_BAD_VALUE, "term 0 has the power -1 of argument 0");
    REFUSED(tal_function_create_multivariate_polynomial(NULL, c, powers, 2, 1, &out, &err),
            TAL_ERR_NOT_FINITE, "coefficients[1]");
    REFUSED(tal_function_create_multivariate_polynomial(NULL, c, powers, 0, 1, &out, &err),
            TAL_ERR_BAD_VALUE, "0 terms of 1 arguments");
    REFUSED(tal_function_create_multivariate_polynomial(NULL, c, powers, 1, 33, &out, &err),
            TAL_ERR_BAD_VALUE, "1 to 32 arguments");
    REFUSED(tal_function_create_multivariate_polynomial(NULL, c, NULL, 1, 1, &out, &err),
            TAL_ERR_NULL, "powers");
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("common/function_terms");
    TCase *all = tcase_create("all");
    tcase_add_test(all, a_polynomial_of_two_arguments_has_its_value_and_derivatives);
    tcase_add_test(all, of_one_argument_it_is_the_polynomial);
    tcase_add_test(all, numbers_that_are_not_finite_come_out_as_such);
    tcase_add_test(all, mistakes_are_told);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
