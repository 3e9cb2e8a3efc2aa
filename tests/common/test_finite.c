// common/internal/finite_internal.h: arrays of which all numbers are finite.
#include "finite_internal.h"

#include "talus_test.h"

#include <math.h>

enum {
    MOST = 11 // more than twice what is looked at in one go
};

START_TEST(a_number_that_is_not_finite_is_found_wherever_it_stands)
{
    static const double bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 4 * MOST * MOST; ++k) {
        const int n = 1 + k % MOST, at = k / MOST % MOST;
        double values[MOST];
        for (int i = 0; i < MOST; ++i) {
            values[i] = i % 2 == 0 ? 1e100 : -3.0;
        }
        values[at] = bad[k / (MOST * MOST)];
        ck_assert(tali_finite_all(values, n) == (at >= n));
        ck_assert(tali_finite_squares(values, n) == (at >= n));
    }
}

END_TEST

// Infinities of both signs, whose sum is a NaN; and numbers whose sum overflows though they do not.
START_TEST(sums_do_not_decide_alone)
{
    double values[MOST] = {INFINITY, 1.0, 2.0, 3.0, -INFINITY};
    ck_assert(!tali_finite_all(values, MOST));
    for (int i = 0; i < MOST; ++i) {
        values[i] = i % 2 == 0 ? 1.7e308 : -1.7e308;
    }
    ck_assert(tali_finite_all(values, MOST));
    ck_assert(!tali_finite_squares(values, MOST)); // too large for products
    ck_assert(tali_finite_all(values, 0) && tali_finite_squares(values, 0));
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("common/finite");
    TCase *tests = tcase_create("tests");
    tcase_add_test(tests, a_number_that_is_not_finite_is_found_wherever_it_stands);
    tcase_add_test(tests, sums_do_not_decide_alone);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
