// common/internal/real_functions_internal.h: the functions that kernels and force laws use, against
// libm in long double, whose error is below 0.001 units in the last place of a double.
//
// 10^5 arguments; 4 10^6 under ./run soak. Compiled once for any processor and once with fused
// multiply-adds.
#include "real_functions_internal.h"

#include "talus_test.h"

#include <float.h>
#include <stdlib.h>

static const double EXP_LOG_POW = 1.0, TANH_ATAN2 = 2.0; // units in the last place, as promised

// Where long double is no better than double, libm may be off by one unit itself.
static const double REFERENCE = LDBL_MANT_DIG > DBL_MANT_DIG ? 0.0 : 1.0;

static int trials(void)
{
    return getenv("TALUS_SOAK") != NULL ? 250000 : 6250; // for each of 16 families
}

// Any number: all exponents, both signs, infinities and NaN.
static double any_number(test_rng *rng)
{
    real_bits bits = 0;
    for (int i = 0; i < 4; ++i) {
        bits = bits << 16 | (real_bits)test_random_uniform(rng, 0.0, 65536.0);
    }
    return real_of(bits);
}

static double subnormal_number(test_rng *rng)
{
    return real_of(bits_of(any_number(rng)) >> 12);
}

// The error in units in the last place of the double nearest to `wanted`. A NaN, an infinity or a
// sign of zero that is not as wanted counts as any number of units.
static double units_off(double got, long double wanted)
{
    const double nearest = (double)wanted;
    if (isnan(nearest)) return isnan(got) ? 0.0 : DBL_MAX;
    if (isinf(nearest) || nearest == 0.0) {
        const bool same = got == nearest && !signbit(got) == !signbit(nearest);
        const long double least = 0x1p-1074L, most = (long double)DBL_MAX;
        const bool next = fabsl(wanted - (long double)got) <= least || fabs(got) == (double)most;
        return same ? 0.0 : (next ? 1.0 : DBL_MAX);
    }
    int exponent;
    (void)frexp(nearest, &exponent);
    const long double unit = ldexpl(1.0L, exponent - 53 > -1074 ? exponent - 53 : -1074);
    if (isinf(got)) return fabs(nearest) == DBL_MAX ? 1.0 : DBL_MAX;
    return (double)(fabsl((long double)got - wanted) / unit);
}

static void check(const char *name, double x, double y, double got, long double wanted, double most)
{
    const double off = units_off(got, wanted);
    if (off <= most + REFERENCE) return;
    ck_abort_msg("%s(%a, %a) is %a, which is %g units from %La", name, x, y, got, off, wanted);
}

static void check_exp(double x)
{
    check("exp", x, 0.0, real_exp(x), expl((long double)x), EXP_LOG_POW);
}

static void check_log(double x)
{
    check("log", x, 0.0, real_log(x), logl((long double)x), EXP_LOG_POW);
}

static void check_tanh(double x)
{
    check("tanh", x, 0.0, real_tanh(x), tanhl((long double)x), TANH_ATAN2);
}

static void check_pow(double x, double y)
{
    check("pow", x, y, real_pow(x, y), powl((long double)x, (long double)y), EXP_LOG_POW);
}

static void check_atan2(double y, double x)
{
    check("atan2", y, x, real_atan2(y, x), atan2l((long double)y, (long double)x), TANH_ATAN2);
}

START_TEST(exponentials_are_right_to_one_unit_in_the_last_place)
{
    test_rng rng = test_rng_seed(1);
    for (int i = 0; i < trials(); ++i) {
        check_exp(test_random_uniform(&rng, -1.0, 1.0));
        check_exp(test_random_uniform(&rng, -760.0, 720.0)); // from zero to infinity
        check_exp(any_number(&rng));
    }
}

END_TEST

// Several at once have the bits of one by one, also where one of them is not an ordinary number.
START_TEST(exponentials_of_several_numbers_are_those_of_each)
{
    test_rng rng = test_rng_seed(11);
    for (int i = 0; i < trials(); ++i) {
        double x[4], e[4];
        for (int k = 0; k < 4; ++k) {
            x[k] = i % 2 == 0 ? test_random_uniform(&rng, -700.0, 700.0) : any_number(&rng);
        }
        real_exp_each(x, e, 4);
        for (int k = 0; k < 4; ++k) {
            const double one = real_exp(x[k]);
            ck_assert(memcmp(&e[k], &one, sizeof one) == 0 || (isnan(e[k]) && isnan(one)));
        }
    }
}

END_TEST

START_TEST(logarithms_are_right_to_one_unit_in_the_last_place)
{
    test_rng rng = test_rng_seed(2);
    for (int i = 0; i < trials(); ++i) {
        check_log(test_random_uniform(&rng, 0.5, 2.0));
        check_log(any_number(&rng));
        check_log(subnormal_number(&rng));
    }
}

END_TEST

START_TEST(hyperbolic_tangents_are_right_to_two_units_in_the_last_place)
{
    test_rng rng = test_rng_seed(3);
    for (int i = 0; i < trials(); ++i) {
        check_tanh(test_random_uniform(&rng, -1.0, 1.0));
        check_tanh(test_random_uniform(&rng, -25.0, 25.0));
        check_tanh(any_number(&rng));
    }
}

END_TEST

START_TEST(powers_are_right_to_one_unit_in_the_last_place)
{
    test_rng rng = test_rng_seed(4);
    for (int i = 0; i < trials(); ++i) {
        check_pow(test_random_uniform(&rng, 0.0, 2.0), test_random_uniform(&rng, 1.0, 3.0));
        // where most digits of the logarithm are lost: (1 + 0.001)^(7 10^5) is about DBL_MAX
        check_pow(test_random_uniform(&rng, 0.999, 1.001), test_random_uniform(&rng, -7e5, 7e5));
        check_pow(subnormal_number(&rng), test_random_uniform(&rng, -2.0, 2.0));
        check_pow(any_number(&rng), any_number(&rng));
        check_pow(test_random_uniform(&rng, -5.0, 5.0),
                  floor(test_random_uniform(&rng, -20.0, 20.0)));
    }
}

END_TEST

START_TEST(angles_are_right_to_two_units_in_the_last_place)
{
    test_rng rng = test_rng_seed(5);
    for (int i = 0; i < trials(); ++i) {
        const double y = test_random_uniform(&rng, -1.0, 1.0);
        check_atan2(y, test_random_uniform(&rng, -1.0, 1.0));
        check_atan2(any_number(&rng), any_number(&rng));
    }
}

END_TEST

// What C's annex F says of zeros, ones, infinities, NaN and integers, also beyond 2^52.
START_TEST(the_ends_of_the_range_are_as_C_defines_them)
{
    const double ends[] = {
        0.0,         1.0,       2.0,         0.5,    3.0,  1.5,      DBL_MIN, DBL_MAX,
        1e300,       0x1p-1074, 0x1p52 + 1., 0x1p53, 22.0, 709.7827, 745.2,   (double)INFINITY,
        (double)NAN, 0x1p-1022};

    enum {
        NUM = sizeof ends / sizeof *ends
    };

    for (int i = 0; i < 2 * NUM; ++i) {
        const double x = i < NUM ? ends[i] : -ends[i - NUM];
        check_exp(x);
        check_log(x);
        check_tanh(x);
        for (int j = 0; j < 2 * NUM; ++j) {
            const double y = j < NUM ? ends[j] : -ends[j - NUM];
            check_pow(x, y);
            check_atan2(x, y);
        }
    }
}

END_TEST

// Sums and products in two parts lose nothing: their parts add up in long double.
START_TEST(pairs_hold_sums_and_products_exactly)
{
    test_rng rng = test_rng_seed(6);
    for (int i = 0; i < 1000 && LDBL_MANT_DIG > DBL_MANT_DIG; ++i) {
        const double a = test_random_uniform(&rng, -1.0, 1.0);
        const double b = test_random_uniform(&rng, -1e-3, 1e-3);
        const real_pair sum = sum_exactly(b, a), product = product_exactly(a, b);
        ck_assert((long double)sum.high + (long double)sum.low == (long double)a + (long double)b);
        ck_assert_double_eq(product.low, fma(a, b, -product.high));
    }
}

END_TEST

// A machine that lacks the instructions that this was compiled for has nothing to test.
static bool can_run(void)
{
#if defined(__FMA__) && defined(__GNUC__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return true;
#endif
}

int main(void)
{
    if (!can_run()) return 0;
    Suite *suite = suite_create("common/real_functions");
    TCase *units = tcase_create("units");
    tcase_set_timeout(units, getenv("TALUS_SOAK") != NULL ? 3600.0 : 60.0);
    tcase_add_test(units, exponentials_are_right_to_one_unit_in_the_last_place);
    tcase_add_test(units, exponentials_of_several_numbers_are_those_of_each);
    tcase_add_test(units, logarithms_are_right_to_one_unit_in_the_last_place);
    tcase_add_test(units, hyperbolic_tangents_are_right_to_two_units_in_the_last_place);
    tcase_add_test(units, powers_are_right_to_one_unit_in_the_last_place);
    tcase_add_test(units, angles_are_right_to_two_units_in_the_last_place);
    tcase_add_test(units, the_ends_of_the_range_are_as_C_defines_them);
    tcase_add_test(units, pairs_hold_sums_and_products_exactly);
    suite_add_tcase(suite, units);
    return test_run(suite);
}
