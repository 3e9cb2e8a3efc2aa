// Designs: what samples have, against what defines each kind.
#include "talus_test.h"

#include <talus/study.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 20000
};

// Means of n numbers of standard deviation s are within 4 s / sqrt(n) but once in 16,000.
START_TEST(random_samples_have_their_distributions)
{
    static double values[SAMPLES][3], shorter[100][3];
    const tal_distribution spread[] = {
        {TAL_UNIFORM, -1.0, 3.0}, {TAL_NORMAL, 5.0, 2.0}, {TAL_LOGNORMAL, 2.0, 0.5}};
    const tal_design all = tal_design_random(spread, 3, 11, SAMPLES);
    const tal_design few = tal_design_random(spread, 3, 11, 100);
    ck_assert_int_eq(tal_design_fill(&all, &values[0][0]), TAL_OK);
    ck_assert_int_eq(tal_design_fill(&few, &shorter[0][0]), TAL_OK);
    ck_assert_mem_eq(values, shorter, sizeof shorter);
    double mean[3] = {0.0}, square[3] = {0.0};
    for (int k = 0; k < SAMPLES; ++k) {
        const double x[] = {values[k][0], values[k][1], log(values[k][2])};
        for (int i = 0; i < 3; ++i) {
            mean[i] += x[i] / SAMPLES;
            square[i] += x[i] * x[i] / SAMPLES;
        }
    }
    const double wanted[] = {1.0, 5.0, log(2.0)}, deviation[] = {4.0 / sqrt(12.0), 2.0, 0.5};
    for (int i = 0; i < 3; ++i) {
        const double bound = 4.0 * deviation[i] / sqrt((double)SAMPLES);
        ck_assert_double_eq_tol(mean[i], wanted[i], bound);
        ck_assert_double_eq_tol(sqrt(square[i] - mean[i] * mean[i]), deviation[i], bound);
    }
}

END_TEST

// A row is a function of its number: asked for alone, in any order, it is the same.
START_TEST(a_sample_needs_no_other)
{
    const tal_distribution spread[] = {{TAL_UNIFORM, 0.0, 1.0}, {TAL_NORMAL, 0.0, 1.0}};
    const int levels[] = {10, 5};
    const double low[] = {0.0, 1.0}, high[] = {1.0, 2.0};
    const tal_design designs[] = {tal_design_random(spread, 2, 3, 50),
                                  tal_design_latin(spread, 2, 3, 50),
                                  tal_design_grid(levels, low, high, 2)};
    for (int i = 0; i < 3; ++i) {
        double all[50][2], one[2];
        ck_assert_int_eq(tal_design_fill(&designs[i], &all[0][0]), TAL_OK);
        for (int k = 49; k >= 0; k -= 7) {
            ck_assert_int_eq(tal_design_sample(&designs[i], k, one), TAL_OK);
            ck_assert_mem_eq(one, all[k], sizeof one);
        }
    }
}

END_TEST

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Sorted, number i of n is in piece i of probability 1 / n, and the order is not that of the
// samples.
START_TEST(a_latin_hypercube_has_one_sample_in_each_piece)
{
    const int sizes[] = {1, 2, 3, 100, 1023, 1024, 1025};
    for (int s = 0; s < 7; ++s) {
        const int n = sizes[s];
        const tal_distribution spread[] = {
            {TAL_UNIFORM, 0.0, 1.0}, {TAL_NORMAL, 1.0, 2.0}, {TAL_LOGNORMAL, 3.0, 0.5}};
        static double values[1025][3];
        double column[1025];
        const tal_design design = tal_design_latin(spread, 3, 17, n);
        ck_assert_int_eq(tal_design_fill(&design, &values[0][0]), TAL_OK);
        for (int i = 0; i < 3; ++i) {
            int in_order = 0;
            for (int k = 0; k < n; ++k) {
                column[k] = values[k][i];
                in_order += k > 0 && column[k] > column[k - 1];
            }
            ck_assert_int_lt(in_order, n > 99 ? n * 3 / 5 : n);
            qsort(column, (size_t)n, sizeof *column, compare);
            for (int k = 0; k < n; ++k) {
                // probabilities by the inverse functions, whose round-off is far below 1 / n
                const double z = i == 1 ? (column[k] - 1.0) / 2.0 : log(column[k] / 3.0) / 0.5;
                const double p = i == 0 ? column[k] : 0.5 * erfc(-z / sqrt(2.0));
                ck_assert_double_ge(p, k / (double)n - 1e-12);
                ck_assert_double_le(p, (k + 1) / (double)n + 1e-12);
            }
        }
    }
}

END_TEST

// Columns are permuted apart: were they permuted alike, their correlation would be 1. That of n
// independent pairs is within 4 / sqrt(n) of 0 but once in 16,000.
START_TEST(columns_of_a_hypercube_are_independent)
{
    static double values[SAMPLES][2];
    const tal_distribution spread[] = {{TAL_UNIFORM, -0.5, 0.5}, {TAL_UNIFORM, -0.5, 0.5}};
    const tal_design design = tal_design_latin(spread, 2, 5, SAMPLES);
    ck_assert_int_eq(tal_design_fill(&design, &values[0][0]), TAL_OK);
    double product = 0.0;
    for (int k = 0; k < SAMPLES; ++k) {
        product += values[k][0] * values[k][1] * 12.0 / SAMPLES;
    }
    ck_assert_double_eq_tol(product, 0.0, 4.0 / sqrt((double)SAMPLES));
}

END_TEST

// The mean of a sum of monotone functions: errors of n random samples have deviation s / sqrt(n),
// those of a hypercube at most the width of a piece, (b - a) / n, of each function.
START_TEST(a_hypercube_is_better_for_means)
{
    enum {
        FEW = 1000
    };

    const tal_distribution spread[] = {{TAL_UNIFORM, 0.0, 1.0}, {TAL_UNIFORM, 0.0, 1.0}};
    static double values[FEW][2];
    const tal_design design = tal_design_latin(spread, 2, 9, FEW);
    ck_assert_int_eq(tal_design_fill(&design, &values[0][0]), TAL_OK);
    double mean = 0.0;
    for (int k = 0; k < FEW; ++k) {
        mean += (exp(values[k][0]) + values[k][1] * values[k][1]) / FEW;
    }
    ck_assert_double_eq_tol(mean, exp(1.0) - 1.0 + 1.0 / 3.0, (exp(1.0) - 1.0 + 1.0) / FEW);
}

END_TEST

static tal_status square(void *context, int k, double values[])
{
    if (k == 7) return TAL_ERR_CALLBACK;
    values[0] = *(const double *)context * k * k;
    return TAL_OK;
}

START_TEST(a_function_may_choose)
{
    double scale = 0.5, value;
    const tal_design design = tal_design_function(square, &scale, 1, 10);
    ck_assert_int_eq(tal_design_sample(&design, 4, &value), TAL_OK);
    ck_assert_double_eq(value, 8.0);
    ck_assert_int_eq(tal_design_sample(&design, 7, &value), TAL_ERR_CALLBACK);
}

END_TEST

START_TEST(designs_that_make_no_sense_are_told_why)
{
    const double low = 0.0, high = 1.0, infinite = (double)INFINITY;
    const int levels[] = {100000, 100000}, none_at_all = 0, one = 1;
    const tal_distribution odd = {TAL_LOGNORMAL, -1.0, 1.0};

    const struct {
        tal_design design;
        const char *why;
    } bad[] = {{tal_design_table(NULL, 1, 3), "NULL"},
               {tal_design_table(&low, 1, -3), "-3"},
               {tal_design_grid(levels, &low, &high, 2), "-1 samples"},
               {tal_design_grid(&none_at_all, &low, &high, 1), "-1 samples"},
               {tal_design_grid(&one, &low, &infinite, 1), "parameter 0"},
               {tal_design_random(NULL, 1, 0, 1), "NULL"},
               {tal_design_latin(&odd, 1, 0, 1), "distribution 0"},
               {tal_design_function(NULL, NULL, 1, 1), "function"},
               {{.kind = (tal_design_kind)77}, "kind 77"}};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        tal_error err;
        ck_assert_int_ne(tal_design_check(&bad[i].design, &err), TAL_OK);
        ck_assert_msg(strstr(err.message, bad[i].why) != NULL, "%d: %s", (int)i, err.message);
    }
    ck_assert_int_eq(tal_grid_size(levels, 2), -1);
    ck_assert_int_eq(tal_grid_size(NULL, 1), -1);
    double value;
    test_record_breaches();
    test_assert_breach((void)tal_design_fill(&bad[6].design, &value), TAL_ERR_BAD_VALUE, "-1");
    const tal_design good = tal_design_table(&low, 1, 1);
    test_assert_breach((void)tal_design_sample(&good, 1, &value), TAL_ERR_BAD_INDEX, "sample 1");
    test_assert_breach((void)tal_design_sample(&good, 0, NULL), TAL_ERR_NULL, "NULL");
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/design");
    TCase *tests = tcase_create("design");
    tcase_add_test(tests, random_samples_have_their_distributions);
    tcase_add_test(tests, a_sample_needs_no_other);
    tcase_add_test(tests, a_latin_hypercube_has_one_sample_in_each_piece);
    tcase_add_test(tests, columns_of_a_hypercube_are_independent);
    tcase_add_test(tests, a_hypercube_is_better_for_means);
    tcase_add_test(tests, a_function_may_choose);
    tcase_add_test(tests, designs_that_make_no_sense_are_told_why);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
