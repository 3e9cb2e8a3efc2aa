// common/src/random.c: the generator against published answers, distributions against theory.
#include "random_internal.h"

#include "talus_test.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// Known answers of Philox4x32-10 from Random123 (github.com/DEShawResearch/random123,
// tests/kat_vectors): zeros, ones, and digits of pi.
START_TEST(the_generator_gives_the_published_answers)
{
    static const struct {
        uint32_t counter[4], key[2], answer[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
        uint32_t out[4];
        tali_random_philox4x32_10(known[i].counter, known[i].key, out);
        ck_assert_mem_eq(out, known[i].answer, sizeof out);
    }

    // the public draw puts the counter in words 0 and 1, the stream in 2 and 3, the seed in the key
    tal_random pi = {0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88};
    ck_assert_uint_eq(tal_random_bits(&pi), 0x94fdccebd16cfe09);
    ck_assert_uint_eq(pi.counter, 0x85a308d3243f6a89);
}

START_TEST(a_draw_is_a_function_of_seed_stream_and_counter)
{
    tal_random rng = {1, 2, 0};
    double first[100];
    for (int i = 0; i < 100; ++i) {
        first[i] = i % 2 == 0 ? tal_random_uniform(&rng) : tal_random_normal(&rng);
    }
    ck_assert_uint_eq(rng.counter, 100);
    for (int i = 99; i >= 0; --i) { // backwards: no memory of what was drawn before
        tal_random again = {1, 2, (uint64_t)i};
        const double x = i % 2 == 0 ? tal_random_uniform(&again) : tal_random_normal(&again);
        ck_assert_double_eq(x, first[i]);
    }
}

// Mean of n uniforms: 1/2 with deviation sqrt(1/12n); variance 1/12 with deviation
// sqrt((m4 - v^2)/n) = sqrt(1/180n). Normals: 0 and sqrt(1/n); 1 and sqrt(2/n); third moment 0 and
// sqrt(15/n); fourth 3 and sqrt(96/n). Five deviations: a fair generator fails one such check in
// 1.7 million, and the seeds are fixed.
START_TEST(moments_are_those_of_the_distribution)
{
    enum {
        N = 200000
    };

    tal_random rng = {(uint64_t)_i, 17, 0};
    double u1 = 0, u2 = 0, n1 = 0, n2 = 0, n3 = 0, n4 = 0;
    for (int i = 0; i < N; ++i) {
        const double u = tal_random_uniform(&rng) - 0.5;
        const double x = tal_random_normal(&rng);
        u1 += u / N;
        u2 += u * u / N;
        n1 += x / N;
        n2 += x * x / N;
        n3 += x * x * x / N;
        n4 += x * x * x * x / N;
    }
    ck_assert_double_le(fabs(u1), 5 * sqrt(1.0 / 12 / N));
    ck_assert_double_le(fabs(u2 - 1.0 / 12), 5 * sqrt(1.0 / 180 / N));
    ck_assert_double_le(fabs(n1), 5 * sqrt(1.0 / N));
    ck_assert_double_le(fabs(n2 - 1), 5 * sqrt(2.0 / N));
    ck_assert_double_le(fabs(n3), 5 * sqrt(15.0 / N));
    ck_assert_double_le(fabs(n4 - 3), 5 * sqrt(96.0 / N));
}

// Chi-square over k cells has mean k-1 and variance 2(k-1); five deviations either way.
static void assert_fair(const int *counts, int cells, int draws)
{
    double chi2 = 0.0;
    const double expected = (double)draws / cells;
    for (int i = 0; i < cells; ++i) {
        chi2 += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    ck_assert_double_le(fabs(chi2 - (cells - 1)), 5 * sqrt(2.0 * (cells - 1)));
}

START_TEST(cells_are_hit_evenly)
{
    enum {
        N = 100000,
        CELLS = 100
    };

    tal_random rng = {(uint64_t)_i, 3, 0};
    int uniform[CELLS] = {0};
    int index[CELLS] = {0};
    int phi[CELLS] = {0};
    for (int i = 0; i < N; ++i) {
        ++uniform[(int)(CELLS * tal_random_uniform(&rng))];
        ++index[tal_random_index(&rng, CELLS)];
        // the distribution function of a normal is uniform
        ++phi[(int)(CELLS * 0.5 * erfc(-tal_random_normal(&rng) / sqrt(2.0)))];
    }
    assert_fair(uniform, CELLS, N);
    assert_fair(index, CELLS, N);
    assert_fair(phi, CELLS, N);
}

// Neighbors in seed or stream, or in the counter, are uncorrelated: the mean of n products of
// independent centered uniforms is 0 with deviation sqrt(1/144n). The pair must also fill the
// square evenly.
START_TEST(neighboring_streams_seeds_and_counters_are_independent)
{
    enum {
        N = 50000,
        SIDE = 10
    };

    static const tal_random others[] = {{5, 1, 0}, {6, 0, 0}, {5, 0, 1}, {5, (uint64_t)1 << 32, 0}};
    for (size_t k = 0; k < sizeof others / sizeof others[0]; ++k) {
        tal_random a = {5, 0, 0};
        tal_random b = others[k];
        double sum = 0.0;
        int cells[SIDE * SIDE] = {0};
        for (int i = 0; i < N; ++i) {
            const double x = tal_random_uniform(&a);
            const double y = tal_random_uniform(&b);
            sum += (x - 0.5) * (y - 0.5) / N;
            ++cells[(int)(SIDE * x) + SIDE * (int)(SIDE * y)];
        }
        ck_assert_double_le(fabs(sum), 5 * sqrt(1.0 / 144 / N));
        assert_fair(cells, SIDE * SIDE, N);
    }
}

START_TEST(numbers_stay_in_their_range)
{
    tal_random rng = {11, 0, 0};
    for (int i = 0; i < 10000; ++i) {
        const double u = tal_random_uniform(&rng);
        ck_assert(u >= 0.0 && u < 1.0);
        const double v = tal_random_uniform_open(&rng);
        ck_assert(v > 0.0 && v < 1.0);
        ck_assert_double_eq(fmod(v * 0x1p53, 2.0), 1.0); // an odd multiple of 2^-53
        const double r = tal_random_range(&rng, -1.7e308, 1.7e308);
        ck_assert(r >= -1.7e308 && r <= 1.7e308);
        ck_assert_int_eq(tal_random_index(&rng, 1), 0);
        tal_random same = rng;
        const int k = tal_random_index(&rng, 2147483647);
        ck_assert(k >= 0 && k < 2147483647);
        // k = floor(n x), x = bits / 2^64; n x has an error of 2^-22 here
        const double above = 2147483647.0 * ((double)tal_random_bits(&same) * 0x1p-64) - k;
        ck_assert(above > -1e-6 && above < 1.0 + 1e-6);
    }
    ck_assert_double_eq(tal_random_range(&rng, 3.0, 3.0), 3.0);
    ck_assert_double_nan(tal_random_range(&rng, 0.0, (double)INFINITY));
    ck_assert_double_nan(tal_random_range(&rng, (double)NAN, 1.0));
}

START_TEST(no_generator_is_reported)
{
    double x = 0.0;
    int k = 0;
    uint64_t bits = 1;
    tal_random rng = {0, 0, 0};
    test_assert_breach(bits = tal_random_bits(NULL), TAL_ERR_NULL, "NULL");
    ck_assert_uint_eq(bits, 0);
    test_assert_breach(x = tal_random_uniform(NULL), TAL_ERR_NULL, "NULL");
    ck_assert_double_nan(x);
    test_assert_breach(x = tal_random_uniform_open(NULL), TAL_ERR_NULL, "NULL");
    ck_assert_double_nan(x);
    test_assert_breach(x = tal_random_range(NULL, 0.0, 1.0), TAL_ERR_NULL, "NULL");
    ck_assert_double_nan(x);
    test_assert_breach(x = tal_random_normal(NULL), TAL_ERR_NULL, "NULL");
    ck_assert_double_nan(x);
    test_assert_breach(k = tal_random_index(NULL, 3), TAL_ERR_NULL, "NULL");
    ck_assert_int_eq(k, -1);
    test_assert_breach(k = tal_random_index(&rng, 0), TAL_ERR_BAD_VALUE, "n is 0");
    ck_assert_int_eq(k, -1);
    ck_assert_uint_eq(rng.counter, 0);
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("common/random");
    TCase *tc = tcase_create("textbook");
    tcase_add_test(tc, the_generator_gives_the_published_answers);
    suite_add_tcase(suite, tc);

    tc = tcase_create("theory");
    tcase_add_test(tc, a_draw_is_a_function_of_seed_stream_and_counter);
    tcase_add_loop_test(tc, moments_are_those_of_the_distribution, 0, 3);
    tcase_add_loop_test(tc, cells_are_hit_evenly, 0, 3);
    tcase_add_test(tc, neighboring_streams_seeds_and_counters_are_independent);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, numbers_stay_in_their_range);
    tcase_add_test(tc, no_generator_is_reported);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
