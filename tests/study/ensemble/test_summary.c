// Statistics of rows, against closed forms.
#include "talus_test.h"

#include <talus/study.h>

#include <math.h>
#include <string.h>

// Columns k and 3 - 2 k for k = 0 ... n - 1: mean (n - 1) / 2, variance n (n + 1) / 12.
START_TEST(moments_of_an_arithmetic_row_are_closed_forms)
{
    enum {
        N = 1000
    };

    static double rows[N + 1][2];
    for (int k = 0; k < N; ++k) {
        rows[k][0] = k;
        rows[k][1] = 3.0 - 2.0 * k;
    }
    rows[N][0] = (double)NAN;
    double mean[2], scatter[4], least[2], most[2];
    tal_moments it = {
        .num_columns = 2, .mean = mean, .scatter = scatter, .least = least, .most = most};
    ck_assert_int_eq(tal_moments_begin(&it), TAL_OK);
    ck_assert_int_eq(tal_moments_add(&it, &rows[0][0], 10), TAL_OK);
    ck_assert_int_eq(tal_moments_add(&it, &rows[10][0], N - 9), TAL_OK);
    ck_assert_int_eq(it.num_rows, N);
    ck_assert_int_eq(it.num_left_out, 1);
    // each of N steps rounds a few times: N eps of the largest number
    const double tolerance = N * 2.2e-16 * N * N;
    const double variance = N * (N + 1) / 12.0;
    ck_assert_double_eq_tol(mean[0], (N - 1) / 2.0, tolerance);
    ck_assert_double_eq_tol(mean[1], 3.0 - (N - 1), tolerance);
    ck_assert_double_eq_tol(tal_moments_covariance(&it, 0, 0), variance, tolerance);
    ck_assert_double_eq_tol(tal_moments_covariance(&it, 0, 1), -2.0 * variance, 2.0 * tolerance);
    ck_assert_double_eq_tol(tal_moments_covariance(&it, 1, 0), -2.0 * variance, 2.0 * tolerance);
    ck_assert_double_eq_tol(tal_moments_deviation(&it, 1), 2.0 * sqrt(variance), tolerance);
    ck_assert_double_eq(least[0], 0.0);
    ck_assert_double_eq(most[0], N - 1.0);
    ck_assert_double_eq(least[1], 5.0 - 2.0 * N);
    ck_assert_double_eq(most[1], 3.0);
}

END_TEST

// Numbers 1e9 + 0, 1, 2, ...: their squares lose all digits of the variance, differences none.
START_TEST(a_large_mean_costs_no_digits)
{
    double mean, scatter;
    tal_moments it = {.num_columns = 1, .mean = &mean, .scatter = &scatter};
    ck_assert_int_eq(tal_moments_begin(&it), TAL_OK);
    ck_assert(isnan(tal_moments_covariance(&it, 0, 0)));
    for (int k = 0; k < 100; ++k) {
        const double x = 1e9 + k;
        ck_assert_int_eq(tal_moments_add(&it, &x, 1), TAL_OK);
    }
    // the mean is good to 100 eps 1e9 = 2e-5, and so is each difference
    ck_assert_double_eq_tol(tal_moments_covariance(&it, 0, 0), 100.0 * 101.0 / 12.0, 2e-3);
}

END_TEST

START_TEST(quantiles_are_those_of_type_7)
{
    const double values[] = {3.0, (double)NAN, 1.0, 4.0, 1.5, (double)NAN, 9.0, -2.0};
    const double p[] = {0.0, 0.2, 0.5, 0.9, 1.0};
    double out[5], work[8];
    ck_assert_int_eq(tal_quantiles_calc(values, 8, 1, p, 5, work, out), TAL_OK);
    // sorted: -2, 1, 1.5, 3, 4, 9; place p (6 - 1)
    const double wanted[] = {-2.0, 1.0, 2.25, 6.5, 9.0};
    test_assert_near(out, wanted, 5, 1e-14, "quantiles");
    ck_assert_double_eq(work[0], -2.0);
    ck_assert_double_eq(work[5], 9.0);
    ck_assert_int_eq(tal_quantiles_calc(values, 4, 2, p, 5, work, out), TAL_OK); // 3, 1, 1.5, 9
    ck_assert_double_eq(out[2], 2.25);
    ck_assert_int_eq(tal_quantiles_calc(&values[1], 1, 1, p, 5, work, out), TAL_ERR_NOT_FINITE);
    ck_assert(isnan(out[2]));
}

END_TEST

// Every order of six numbers, with equal ones among them.
START_TEST(any_order_is_sorted)
{
    static const double given[] = {2.0, -1.0, 2.0, 0.5, 7.0, -1.0};
    static const double sorted[] = {-1.0, -1.0, 0.5, 2.0, 2.0, 7.0};
    for (int order = 0; order < 720; ++order) {
        double left[6], values[6], ordered[6], out;
        memcpy(left, given, sizeof left);
        int rest = order;
        for (int n = 6; n > 0; --n) {
            const int i = rest % n;
            rest /= n;
            values[6 - n] = left[i];
            left[i] = left[n - 1];
        }
        const double middle = 0.5;
        ck_assert_int_eq(tal_quantiles_calc(values, 6, 1, &middle, 1, ordered, &out), TAL_OK);
        ck_assert_mem_eq(ordered, sorted, sizeof sorted);
        ck_assert_double_eq(out, 1.25);
    }
}

END_TEST

START_TEST(a_histogram_counts_every_value_once)
{
    const double values[] = {-1.0, 0.0, 0.1, 0.5, 0.999, 1.0, 2.0, (double)NAN};
    int counts[2] = {5, 5};
    tal_histogram it = {.low = 0.0, .high = 1.0, .num_bins = 2, .counts = counts};
    ck_assert_int_eq(tal_histogram_begin(&it), TAL_OK);
    ck_assert_int_eq(tal_histogram_add(&it, values, 8, 1), TAL_OK);
    ck_assert_int_eq(counts[0], 2);
    ck_assert_int_eq(counts[1], 2);
    ck_assert_int_eq(it.num_below, 1);
    ck_assert_int_eq(it.num_above, 2);
    ck_assert_int_eq(it.num_left_out, 1);
    ck_assert_int_eq(tal_histogram_add(&it, values + 1, 2, 2), TAL_OK); // 0.0 and 0.5
    ck_assert_int_eq(counts[0], 3);
    ck_assert_int_eq(counts[1], 3);
}

END_TEST

START_TEST(what_cannot_be_is_refused)
{
    double x = 1.0, out;
    const double beyond = 1.5;
    int count;
    tal_moments none = {.num_columns = 0, .mean = &x};
    tal_histogram empty = {.low = 1.0, .high = 1.0, .num_bins = 3, .counts = &count};
    test_record_breaches();
    test_assert_breach((void)tal_moments_begin(NULL), TAL_ERR_NULL, "NULL");
    test_assert_breach((void)tal_moments_begin(&none), TAL_ERR_BAD_VALUE, "0 columns");
    test_assert_breach((void)tal_moments_add(&none, &x, 1), TAL_ERR_BAD_VALUE, "0 columns");
    test_assert_breach((void)tal_moments_covariance(&none, 0, 0), TAL_ERR_NULL, "scatter");
    test_assert_breach((void)tal_quantiles_calc(&x, 1, 1, &beyond, 1, &out, &out),
                       TAL_ERR_BAD_VALUE, "1.5");
    test_assert_breach((void)tal_quantiles_calc(NULL, 1, 1, &x, 1, &out, &out), TAL_ERR_NULL,
                       "NULL");
    test_assert_breach((void)tal_histogram_begin(&empty), TAL_ERR_BAD_VALUE, "from 1 to 1");
    test_assert_breach((void)tal_histogram_add(NULL, &x, 1, 1), TAL_ERR_NULL, "NULL");
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/summary");
    TCase *tests = tcase_create("summary");
    tcase_add_test(tests, moments_of_an_arithmetic_row_are_closed_forms);
    tcase_add_test(tests, a_large_mean_costs_no_digits);
    tcase_add_test(tests, quantiles_are_those_of_type_7);
    tcase_add_test(tests, any_order_is_sorted);
    tcase_add_test(tests, a_histogram_counts_every_value_once);
    tcase_add_test(tests, what_cannot_be_is_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
