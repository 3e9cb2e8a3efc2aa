// Tests of common/src/solve/polynomial.c.
#include "alloc_guard.h"
#include "talus_test.h"

#include <talus/common/polynomial.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum {
    MOST = 40
};

typedef struct answer {
    double re[MOST], im[MOST];
} answer;

static answer roots_of(const double c[], int n)
{
    answer a;
    tal_error err = {0};
    double *work = malloc(tal_polynomial_work_size(n) * sizeof *work);
    const tal_status st = tal_polynomial_find_roots(c, n, a.re, a.im, work, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    free(work);
    return a;
}

// Coefficients of the polynomial with these roots, by long double.
static void expand(const double re[], const double im[], int n, double c[])
{
    long double a[MOST + 1] = {1.0L}, b[MOST + 1] = {0.0L}; // real and imaginary parts, descending
    for (int i = 0; i < n; ++i) {
        for (int k = i + 1; k > 0; --k) {
            const long double r = (long double)re[i], m = (long double)im[i];
            const long double old_a = a[k - 1], old_b = b[k - 1];
            a[k] -= r * old_a - m * old_b;
            b[k] -= r * old_b + m * old_a;
        }
    }
    for (int k = 0; k <= n; ++k) {
        c[n - k] = (double)a[k];
    }
}

START_TEST(small_polynomials_have_their_known_roots)
{
    const double cubic[] = {-6.0, 11.0, -6.0, 1.0};
    answer a = roots_of(cubic, 3);
    const double one_two_three[] = {1.0, 2.0, 3.0}, zeros[MOST] = {0.0};
    test_assert_near(a.re, one_two_three, 3, 16.0 * DBL_EPSILON, "re");
    test_assert_near(a.im, zeros, 3, 0.0, "im");

    const double line[] = {3.0, -2.0};
    a = roots_of(line, 1);
    ck_assert_double_eq(a.re[0], 1.5);

    const double circle[] = {1.0, 0.0, 1.0}; // +- i, the one with -1 first
    a = roots_of(circle, 2);
    ck_assert(a.re[0] == a.re[1] && fabs(a.re[0]) < DBL_EPSILON);
    ck_assert_double_eq_tol(a.im[0], -1.0, 2.0 * DBL_EPSILON);
    ck_assert(a.im[1] == -a.im[0]);

    const double at_zero[] = {0.0, 0.0, -4.0, 0.0, 1.0}; // x^2 (x^2 - 4)
    a = roots_of(at_zero, 4);
    ck_assert_double_eq_tol(a.re[0], -2.0, 4.0 * DBL_EPSILON);
    ck_assert_double_eq_tol(a.re[3], 2.0, 4.0 * DBL_EPSILON);
    ck_assert_double_lt(hypot(a.re[1], a.im[1]), 1e-7); // double: the root of round-off
}

END_TEST

// x^n = 1: on the unit circle, at equal angles.
START_TEST(roots_of_unity_are_on_the_circle)
{
    for (int n = 2; n <= 24; ++n) {
        double c[MOST] = {-1.0};
        c[n] = 1.0;
        const answer a = roots_of(c, n);
        for (int i = 0; i < n; ++i) {
            ck_assert_double_eq_tol(hypot(a.re[i], a.im[i]), 1.0, 16.0 * DBL_EPSILON);
            const double turns = atan2(a.im[i], a.re[i]) * n / (2.0 * TAL_PI);
            ck_assert_double_eq_tol(turns, round(turns), 16.0 * n * DBL_EPSILON);
        }
    }
}

END_TEST

// Chebyshev polynomials have the roots cos((2 k - 1) pi / 2 n); up to degree 12 their conditions
// are below 1e4.
START_TEST(chebyshev_polynomials_have_their_roots)
{
    double before[MOST] = {1.0}, c[MOST] = {0.0, 1.0};
    for (int n = 2; n <= 12; ++n) {
        double next[MOST] = {0.0};
        for (int k = 0; k < n; ++k) {
            next[k + 1] += 2.0 * c[k];
        }
        for (int k = 0; k <= n; ++k) {
            next[k] -= before[k];
        }
        memcpy(before, c, sizeof before);
        memcpy(c, next, sizeof c);
        const answer a = roots_of(c, n);
        for (int i = 0; i < n; ++i) {
            const double known = -cos((2 * i + 1) * TAL_PI / (2 * n));
            ck_assert_double_eq_tol(a.re[i], known, 1e4 * 16.0 * DBL_EPSILON);
            ck_assert(a.im[i] == 0.0);
        }
    }
}

END_TEST

// Random coefficients over ten powers of ten: the roots that are found have a polynomial whose
// coefficients are those that were given, to 10 n^2 eps of the largest term each can have.
START_TEST(the_roots_found_make_the_polynomial_again)
{
    test_rng rng = test_rng_seed(8);
    for (int round = 0; round < 300; ++round) {
        const int n = 1 + round % 12;
        double c[MOST], again[MOST];
        for (int k = 0; k <= n; ++k) {
            const double size = pow(10.0, test_random_uniform(&rng, -5.0, 5.0));
            c[k] = size * test_random_uniform(&rng, -1.0, 1.0);
        }
        const answer a = roots_of(c, n);
        expand(a.re, a.im, n, again);
        // the terms that coefficient k is the sum of: products of the largest roots
        double bound[MOST + 1] = {1.0};
        for (int i = 0; i < n; ++i) {
            for (int k = i + 1; k > 0; --k) {
                bound[k] += hypot(a.re[i], a.im[i]) * bound[k - 1];
            }
        }
        for (int k = 0; k <= n; ++k) {
            const double tolerance = 10.0 * n * n * DBL_EPSILON * bound[n - k];
            ck_assert_double_eq_tol(again[k], c[k] / c[n], tolerance);
        }
        for (int i = 0; i + 1 < n; ++i) {
            ck_assert(a.re[i] <= a.re[i + 1]);
        }
    }
}

END_TEST

// Scales of 1e-100 and 1e100 only move exponents.
START_TEST(very_large_and_small_roots_are_found)
{
    static const double sizes[] = {0x1p-300, 0x1p-40, 0x1p60, 0x1p300};
    for (int k = 0; k < 4; ++k) {
        const double s = sizes[k], c[] = {-6.0 * s * s * s, 11.0 * s * s, -6.0 * s, 1.0};
        const answer a = roots_of(c, 3);
        for (int i = 0; i < 3; ++i) {
            ck_assert_double_eq_tol(a.re[i] / s, i + 1.0, 64.0 * DBL_EPSILON);
        }
    }
}

END_TEST

START_TEST(bad_polynomials_are_refused)
{
    double re[3], im[3], work[1000];
    tal_error err = {0};
    const double c[] = {1.0, 2.0, 0.0};
    ck_assert_uint_le(tal_polynomial_work_size(3), 1000);
    ck_assert_uint_eq(tal_polynomial_work_size(0), 0);
    ck_assert_int_eq(tal_polynomial_find_roots(c, 2, re, im, work, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "x^2"));
    ck_assert_int_eq(tal_polynomial_find_roots(c, 0, re, im, work, &err), TAL_ERR_BAD_VALUE);
    const double bad[] = {1.0, (double)NAN, 1.0};
    ck_assert_int_eq(tal_polynomial_find_roots(bad, 2, re, im, work, &err), TAL_ERR_NOT_FINITE);
    test_assert_refused(tal_polynomial_find_roots(NULL, 2, re, im, work, &err), TAL_ERR_NULL, "c");
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_polynomial_find_roots(c, 1, re, im, work, &err));
    ck_assert_int_eq(st, TAL_OK);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("common/polynomial");
    TCase *tests = tcase_create("roots");
    tcase_add_test(tests, small_polynomials_have_their_known_roots);
    tcase_add_test(tests, roots_of_unity_are_on_the_circle);
    tcase_add_test(tests, chebyshev_polynomials_have_their_roots);
    tcase_add_test(tests, the_roots_found_make_the_polynomial_again);
    tcase_add_test(tests, very_large_and_small_roots_are_found);
    tcase_add_test(tests, bad_polynomials_are_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
