// io/src/text/number.c, number_exact.c: doubles as text.
#include "talus_test.h"

#include <talus/io/number.h>

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// TALUS_SOAK=1 asks for the full count of promise P23.
static int random_count(void)
{
    return getenv("TALUS_SOAK") != NULL ? 10000000 : 100000;
}

static double random_double(test_rng *rng)
{
    const uint64_t bits = test_random_bits(rng);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double read_all(const char *text)
{
    double x = -12345.0;
    const char *end = tal_number_read(text, NULL, &x);
    ck_assert_msg(end != NULL && *end == '\0', "'%s' was not read to its end", text);
    return x;
}

static void assert_same(const char *text, double a, double b)
{
    ck_assert_msg(memcmp(&a, &b, sizeof a) == 0, "'%s' is %.17g, not %.17g", text, a, b);
}

static void assert_written(double x, const char *expected)
{
    char text[TAL_NUMBER_SIZE];
    const int length = tal_number_write(x, text);
    ck_assert_str_eq(text, expected);
    ck_assert_int_eq(length, (int)strlen(expected));
}

// Numbers of the C library, which are the reference of some tests, follow the locale.
static char locale_before[64];

static void speak_c(void)
{
    (void)snprintf(locale_before, sizeof locale_before, "%s", setlocale(LC_NUMERIC, NULL));
    (void)setlocale(LC_NUMERIC, "C");
}

static void speak_as_before(void)
{
    (void)setlocale(LC_NUMERIC, locale_before);
}

START_TEST(every_double_comes_back_bit_for_bit)
{
    test_rng rng = test_rng_seed(23);
    for (int i = 0; i < random_count(); ++i) {
        const double x = random_double(&rng);
        if (isnan(x)) continue;
        char text[TAL_NUMBER_SIZE];
        const int length = tal_number_write(x, text);
        ck_assert_int_lt(length, TAL_NUMBER_SIZE);
        assert_same(text, read_all(text), x);
    }
}

END_TEST

START_TEST(powers_of_two_and_their_neighbors_come_back)
{
    for (int e = -1074; e < 1024; ++e) {
        const double x = ldexp(1.0, e);
        const double all[] = {x, nextafter(x, 0.0), nextafter(x, 2.0 * x), -x};
        for (int i = 0; i < 4; ++i) {
            char text[TAL_NUMBER_SIZE];
            (void)tal_number_write(all[i], text);
            assert_same(text, read_all(text), all[i]);
        }
    }
}

END_TEST

// The C library of the reference machine rounds correctly; this process runs in the C locale.
START_TEST(reading_agrees_with_the_c_library)
{
    test_rng rng = test_rng_seed(5);
    for (int i = 0; i < 200000; ++i) {
        char text[80];
        const int digits = 1 + (int)(test_random_bits(&rng) % 40);
        int n = 0;
        for (int k = 0; k < digits; ++k) {
            if (k == digits / 2) text[n++] = '.';
            text[n++] = (char)('0' + test_random_bits(&rng) % 10);
        }
        (void)snprintf(text + n, sizeof text - (size_t)n, "e%d",
                       (int)(test_random_bits(&rng) % 680) - 350);
        const double expected = strtod(text, NULL);
        double x = 0.0;
        if (isinf(expected)) {
            ck_assert_ptr_null(tal_number_read(text, NULL, &x));
        } else {
            assert_same(text, read_all(text), expected);
        }
    }
}

END_TEST

// Halfway between two doubles, written out in full: ties go to the even one, and a digit more or
// less far behind decides.
START_TEST(midpoints_are_rounded_to_even)
{
    test_rng rng = test_rng_seed(7);
    static char text[1200], longer[1300];
    for (int i = 0; i < 3000; ++i) {
        const int e = (int)(test_random_bits(&rng) % 1960) - 1000;
        const uint64_t m = (test_random_bits(&rng) >> 11) | UINT64_C(1) << 52;
        // 54 bits do not fit a double: the midpoint is the sum of two numbers printed exactly
        const long double half = ldexpl((long double)(2 * m + 1), e - 1);
        (void)snprintf(text, sizeof text, "%.760Lf", half);
        if (e < -700) (void)snprintf(text, sizeof text, "%.767Le", half);
        const double even = ldexp((double)(m + m % 2), e);
        assert_same(text, read_all(text), even);

        char *exponent = strchr(text, 'e');
        const int head = exponent != NULL ? (int)(exponent - text) : (int)strlen(text);
        (void)snprintf(longer, sizeof longer, "%.*s00000000000000000001%s", head, text,
                       exponent != NULL ? exponent : "");
        if (strlen(longer) < sizeof longer - 1) {
            assert_same(longer, read_all(longer), ldexp((double)(m + 1), e));
        }
    }
}

END_TEST

START_TEST(the_edges_of_the_range_are_where_ieee_puts_them)
{
    assert_same("max", read_all("1.7976931348623157e308"), 1.7976931348623157e308);
    assert_same("max", read_all("1.7976931348623158e308"), 1.7976931348623157e308);
    double x = 3.0;
    ck_assert_ptr_null(tal_number_read("1.7976931348623159e308", NULL, &x));
    ck_assert_ptr_null(tal_number_read("1e309", NULL, &x));
    ck_assert_ptr_null(tal_number_read("-1e999999999999", NULL, &x));
    assert_same("kept", x, 3.0);
    assert_same("min", read_all("4.9406564584124654e-324"), 4.9406564584124654e-324);
    assert_same("half min", read_all("2.4703282292062327e-324"), 0.0);
    assert_same("over half", read_all("2.4703282292062328e-324"), 4.9406564584124654e-324);
    assert_same("tiny", read_all("-1e-999999999999"), -0.0);
    assert_same("normal", read_all("2.2250738585072011e-308"), 2.2250738585072011e-308);
    // 2^-1075, the midpoint of zero and the least double, and a little more
    static char text[900];
    (void)snprintf(text, sizeof text, "%.800Le", ldexpl(1.0L, -1075));
    assert_same("2^-1075", read_all(text), 0.0);
    strchr(text, 'e')[-1] = '1';
    assert_same("above 2^-1075", read_all(text), 4.9406564584124654e-324);
}

END_TEST

START_TEST(numbers_are_written_as_one_would_by_hand)
{
    assert_written(0.0, "0");
    assert_written(-0.0, "-0");
    assert_written(1.0, "1");
    assert_written(-3.0, "-3");
    assert_written(0.1, "0.1");
    assert_written(0.3, "0.3");
    assert_written(0.1 + 0.2, "0.30000000000000004");
    assert_written(9.81, "9.81");
    assert_written(1e6, "1000000");
    assert_written(12345678901234567.0, "12345678901234568");
    assert_written(1e17, "1e17");
    assert_written(6.02214076e23, "6.02214076e23");
    assert_written(1.5e-5, "0.000015");
    assert_written(1e-6, "1e-6");
    assert_written(1.7976931348623157e308, "1.7976931348623157e308");
    assert_written(4.9406564584124654e-324, "5e-324");
    assert_written((double)INFINITY, "inf");
    assert_written(-(double)INFINITY, "-inf");
    assert_written((double)NAN, "nan");
}

END_TEST

START_TEST(reading_stops_behind_the_number)
{
    const struct {
        const char *text;
        int length; // -1: not a number
        double value;
    } cases[] = {
        {"1 2", 1, 1.0},
        {"-2.5e3x", 6, -2500.0},
        {"7e", 1, 7.0},
        {"7e+", 1, 7.0},
        {".5", 2, 0.5},
        {"5.", 2, 5.0},
        {"+5.5.5", 4, 5.5},
        {"1,5", 1, 1.0},
        {"00012", 5, 12.0},
        {"0e5", 3, 0.0},
        {"", -1, 0.0},
        {".", -1, 0.0},
        {"-", -1, 0.0},
        {"e5", -1, 0.0},
        {" 1", -1, 0.0},
        {"0x10", 1, 0.0},
        {"INF", 3, (double)INFINITY},
        {"-inf", 4, -(double)INFINITY},
        {"Infinity", 8, (double)INFINITY},
        {"in", -1, 0.0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        double x = -1.0;
        const char *end = tal_number_read(cases[i].text, NULL, &x);
        ck_assert_int_eq(end != NULL ? (int)(end - cases[i].text) : -1, cases[i].length);
        if (end != NULL) assert_same(cases[i].text, x, cases[i].value);
    }
    double x = 0.0;
    ck_assert_ptr_nonnull(tal_number_read("NaN", NULL, &x));
    ck_assert(isnan(x));
    const char *digits = "12345";
    ck_assert_ptr_eq(tal_number_read(digits, digits + 3, &x), digits + 3);
    assert_same("123", x, 123.0);
}

END_TEST

START_TEST(lists_are_read_whole)
{
    double v[3] = {0.0, 0.0, 0.0};
    const char *wrong = "";
    ck_assert_int_eq(tal_numbers_read(" 1\t2.5\n-3e4 ", v, 3, &wrong), 3);
    ck_assert_ptr_null(wrong);
    assert_same("1", v[0], 1.0);
    assert_same("2.5", v[1], 2.5);
    assert_same("-3e4", v[2], -3e4);
    ck_assert_int_eq(tal_numbers_read("", v, 3, NULL), 0);
    ck_assert_int_eq(tal_numbers_read("1 2 3 4 5", v, 3, NULL), 5);
    const char *text = "1 2,5 3";
    ck_assert_int_eq(tal_numbers_read(text, v, 3, &wrong), -1);
    ck_assert_ptr_eq(wrong, text + 2);
    ck_assert_int_eq(tal_numbers_read("1 x", v, 3, NULL), -1);
}

END_TEST

START_TEST(integers_fit_or_are_refused)
{
    int n = 5;
    ck_assert_ptr_nonnull(tal_integer_read("2147483647", NULL, &n));
    ck_assert_int_eq(n, 2147483647);
    ck_assert_ptr_nonnull(tal_integer_read("-2147483648", NULL, &n));
    ck_assert_int_eq(n, -2147483647 - 1);
    ck_assert_ptr_nonnull(tal_integer_read("+12 ", NULL, &n));
    ck_assert_int_eq(n, 12);
    const char *bad[] = {"2147483648", "-2147483649", "99999999999999999999", "", "-", "x", " 1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        ck_assert_ptr_null(tal_integer_read(bad[i], NULL, &n));
    }
    ck_assert_int_eq(n, 12);
}

END_TEST

START_TEST(null_is_a_breach)
{
    test_record_breaches();
    double x;
    int n;
    test_assert_breach(ck_assert_int_eq(tal_number_write(1.0, NULL), -1), TAL_ERR_NULL, "text");
    test_assert_breach(ck_assert_ptr_null(tal_number_read(NULL, NULL, &x)), TAL_ERR_NULL, "begin");
    test_assert_breach(ck_assert_ptr_null(tal_number_read("1", NULL, NULL)), TAL_ERR_NULL, "value");
    test_assert_breach(ck_assert_ptr_null(tal_integer_read(NULL, NULL, &n)), TAL_ERR_NULL, "begin");
    test_assert_breach(ck_assert_int_eq(tal_numbers_read(NULL, &x, 1, NULL), -1), TAL_ERR_NULL,
                       "text");
    test_assert_breach(ck_assert_int_eq(tal_numbers_read("1", NULL, 1, NULL), -1), TAL_ERR_NULL,
                       "values");
    ck_assert_int_eq(tal_numbers_read("1 2", NULL, 0, NULL), 2);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("number");
    TCase *identities = tcase_create("identities");
    tcase_set_timeout(identities, 600);
    tcase_add_test(identities, every_double_comes_back_bit_for_bit);
    tcase_add_test(identities, powers_of_two_and_their_neighbors_come_back);
    suite_add_tcase(suite, identities);
    TCase *text = tcase_create("text");
    tcase_add_test(text, numbers_are_written_as_one_would_by_hand);
    tcase_add_test(text, reading_stops_behind_the_number);
    tcase_add_test(text, lists_are_read_whole);
    tcase_add_test(text, integers_fit_or_are_refused);
    tcase_add_test(text, null_is_a_breach);
    suite_add_tcase(suite, text);
    TCase *reference = tcase_create("the C library");
    tcase_add_checked_fixture(reference, speak_c, speak_as_before);
    tcase_add_test(reference, reading_agrees_with_the_c_library);
    tcase_add_test(reference, midpoints_are_rounded_to_even);
    tcase_add_test(reference, the_edges_of_the_range_are_where_ieee_puts_them);
    suite_add_tcase(suite, reference);
    return test_run(suite);
}
