// common/src/signal/: filters against their theory, rates and curves against known functions.
#include "alloc_guard.h"
#include "talus_test.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    MANY = 2001
};

static void fill_cosine(double y[], int n, double frequency, double rate)
{
    for (int i = 0; i < n; ++i) {
        y[i] = cos(2.0 * TAL_PI * frequency * (i - n / 2) / rate);
    }
}

// --- filters ---

// What two passes leave of a sinusoid, by Butterworth's formula and the bilinear transform.
static double gain_of_two_passes(double f, double cutoff, double rate, int order, double at_cutoff)
{
    const double ratio = tan(TAL_PI * f / rate) / tan(TAL_PI * cutoff / rate);
    return 1.0 / (1.0 + (1.0 / at_cutoff - 1.0) * pow(ratio, 2.0 * order));
}

// In the middle of 2000 samples the ends have died away: the slowest mode of order 8 decays as
// exp(-1.2 cutoff t), which is e^-73 after 1000 samples of 1/100 s. A section amplifies
// round-off by 1/w^2 = 30.
START_TEST(the_filter_has_the_gain_of_theory_and_no_delay)
{
    static double y[MANY], work[3 * MANY];
    const double rate = 100.0, cutoff = 6.0, frequencies[] = {0.5, 3.0, 6.0, 9.0, 30.0};
    const int order = _i;
    for (size_t k = 0; k < sizeof frequencies / sizeof frequencies[0]; ++k) {
        fill_cosine(y, MANY, frequencies[k], rate);
        ck_assert_int_eq(tal_signal_lowpass(rate, cutoff, order, y, MANY, work, NULL), TAL_OK);
        const double gain =
            gain_of_two_passes(frequencies[k], cutoff, rate, order, 1.0 / sqrt(2.0));
        ck_assert_double_eq_tol(y[MANY / 2], gain, 1e-13);
        const double later = gain * cos(2.0 * TAL_PI * frequencies[k] * 7.0 / rate);
        ck_assert_double_eq_tol(y[MANY / 2 + 7], later, 1e-13);
        ck_assert_double_eq_tol(y[MANY / 2 - 7], later, 1e-13);
    }
}

START_TEST(the_filter_of_opensim_halves_the_amplitude_at_its_cutoff)
{
    static double y[MANY];
    const double rate = 60.0, cutoff = 6.0, frequencies[] = {1.0, 3.0, 6.0, 12.0};
    for (size_t k = 0; k < sizeof frequencies / sizeof frequencies[0]; ++k) {
        fill_cosine(y, MANY, frequencies[k], rate);
        ck_assert_int_eq(tal_signal_lowpass_opensim(rate, cutoff, y, MANY, NULL), TAL_OK);
        const double gain = gain_of_two_passes(frequencies[k], cutoff, rate, 3, 0.5);
        ck_assert_double_eq_tol(y[MANY / 2], gain, 1e-12); // round-off times 1/w^3 = 30
    }
}

// Its passes copy their first three samples: seven numbers worked by hand. w = tan(pi/4) = 1 makes
// y[n] = (x[n] + 3 x[n-1] + 3 x[n-2] + x[n-3]) / 6 - y[n-2] / 3.
START_TEST(the_filter_of_opensim_copies_the_samples_at_which_a_pass_begins)
{
    double y[] = {0.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0};
    const double forward[] = {0.0, 0.0, 0.0, 1.0, 3.0, 3.0 - 1.0 / 3.0, 1.0 - 1.0};
    double back[7];
    for (int i = 0; i < 7; ++i) {
        back[i] = forward[6 - i];
    }
    double x[7];
    memcpy(x, back, sizeof x);
    for (int n = 3; n < 7; ++n) {
        back[n] = (x[n] + 3.0 * x[n - 1] + 3.0 * x[n - 2] + x[n - 3]) / 6.0 - back[n - 2] / 3.0;
    }
    ck_assert_int_eq(tal_signal_lowpass_opensim(4.0, 1.0, y, 7, NULL), TAL_OK);
    for (int i = 0; i < 7; ++i) {
        ck_assert_double_eq_tol(y[i], back[6 - i], 16.0 * DBL_EPSILON);
    }
}

START_TEST(the_filter_of_opensim_lowers_a_cutoff_above_half_of_the_rate)
{
    double high[40], lowered[40];
    test_rng rng = test_rng_seed(5);
    for (int i = 0; i < 40; ++i) {
        high[i] = lowered[i] = test_random_uniform(&rng, -1.0, 1.0);
    }
    ck_assert_int_eq(tal_signal_lowpass_opensim(10.0, 7.0, high, 40, NULL), TAL_OK);
    ck_assert_int_eq(tal_signal_lowpass_opensim(10.0, 4.9, lowered, 40, NULL), TAL_OK);
    ck_assert_mem_eq(high, lowered, sizeof high);
}

// Also where the record is shorter than the memory of the filter.
START_TEST(a_straight_line_passes_unchanged)
{
    double y[50], work[150];
    const int count = _i;
    for (int i = 0; i < count; ++i) {
        y[i] = 1e3 - 0.125 * i;
    }
    ck_assert_int_eq(tal_signal_lowpass(1000.0, 0.01, 2, y, count, work, NULL), TAL_OK);
    for (int i = 0; i < count; ++i) {
        ck_assert_double_eq(y[i], 1e3 - 0.125 * i);
    }
}

// Sum of squares over frequencies that the filter only weakens: random noise loses variance.
START_TEST(noise_becomes_smaller_and_a_mirror_image_stays_one)
{
    static double y[MANY], mirror[MANY], work[3 * MANY];
    test_rng rng = test_rng_seed(6);
    double before = 0.0, after = 0.0;
    for (int i = 0; i < MANY; ++i) {
        y[i] = mirror[MANY - 1 - i] = test_random_uniform(&rng, -1.0, 1.0);
        before += y[i] * y[i];
    }
    ck_assert_int_eq(tal_signal_lowpass(100.0, 5.0, 2, y, MANY, work, NULL), TAL_OK);
    ck_assert_int_eq(tal_signal_lowpass(100.0, 5.0, 2, mirror, MANY, work, NULL), TAL_OK);
    for (int i = 0; i < MANY; ++i) {
        after += y[i] * y[i];
    }
    // white noise keeps about the part 2 cutoff / rate = 0.1
    ck_assert_double_lt(after, 0.15 * before);
    ck_assert_double_gt(after, 0.05 * before);
    // forward and backward commute but for what passes the padding: exp(-4.4 * 2) of it at the ends
    for (int i = 200; i < MANY - 200; ++i) {
        ck_assert_double_eq_tol(y[i], mirror[MANY - 1 - i], 1e-12);
    }
}

START_TEST(padding_is_the_image_through_the_end_point)
{
    const double y[] = {1.0, 2.0, 4.0, 3.0};
    const double expected[] = {-2.0, 0.0, 1.0, 2.0, 4.0, 3.0, 2.0, 4.0};
    double longer[8];
    ck_assert_int_eq(tal_signal_pad(y, 4, 2, longer), TAL_OK);
    ck_assert_mem_eq(longer, expected, sizeof longer);
}

// --- rates ---

START_TEST(rates_of_polynomials_are_exact_at_uneven_times)
{
    double times[14], y[2][14], first[2][14], second[2][14];
    test_rng rng = test_rng_seed(7);
    for (int i = 0; i < 14; ++i) {
        times[i] = 0.1 * i + test_random_uniform(&rng, -0.03, 0.03);
        y[0][i] = pow(times[i], 8.0) - times[i];
        y[1][i] = 5.0;
    }
    ck_assert_int_eq(tal_signal_differentiate(times, y[0], 14, 2, first[0], second[0], NULL),
                     TAL_OK);
    for (int i = 0; i < 14; ++i) {
        const double t = times[i];
        // weights are below 1e3 and 1e5, values below 10
        ck_assert_double_eq_tol(first[0][i], 8.0 * pow(t, 7.0) - 1.0, 1e4 * DBL_EPSILON * 10.0);
        ck_assert_double_eq_tol(second[0][i], 56.0 * pow(t, 6.0), 1e6 * DBL_EPSILON * 10.0);
        ck_assert_double_eq(first[1][i], 0.0);
        ck_assert_double_eq(second[1][i], 0.0);
    }
}

START_TEST(three_samples_give_the_rates_of_their_parabola)
{
    const double times[] = {0.0, 1.0, 3.0}, y[] = {0.0, 1.0, 9.0};
    double first[3], second[3];
    ck_assert_int_eq(tal_signal_differentiate(times, y, 3, 1, first, second, NULL), TAL_OK);
    for (int i = 0; i < 3; ++i) {
        ck_assert_double_eq_tol(first[i], 2.0 * times[i], 32.0 * DBL_EPSILON);
        ck_assert_double_eq_tol(second[i], 2.0, 32.0 * DBL_EPSILON);
    }
}

// --- curves ---

static tal_signal *must_create(const tal_signal_def *def, const double times[],
                               const double values[], int count, int num)
{
    tal_signal *signal = NULL;
    tal_error err;
    const tal_status st = tal_signal_create(NULL, def, times, values, count, num, &signal, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    return signal;
}

// The same numbers as from functions made one by one.
START_TEST(curves_are_the_splines_of_their_columns)
{
    const double times[] = {0.0, 0.1, 0.25, 0.3, 0.5};
    const double values[] = {1.0, 2.0, 0.0, -1.0, 0.5, 0.0, 0.1, 0.25, 0.3, 0.5};
    tal_signal_def def = tal_signal_def_default();
    tal_function *f[3] = {NULL};
    tal_status st = tal_function_create_quintic_spline(NULL, times, values, 5, &f[0], NULL);
    if (st == TAL_OK) {
        st = tal_function_create_spline(NULL, times, values, 5, TAL_SPLINE_NATURAL, &f[1], NULL);
    }
    if (st == TAL_OK) {
        st = tal_function_create_piecewise_linear(NULL, times, values, 5, &f[2], NULL);
    }
    ck_assert_int_eq(st, TAL_OK);
    for (int curve = 0; curve < 3; ++curve) {
        def.curve = (tal_signal_curve)curve;
        tal_signal *const signal = must_create(&def, times, values, 5, 2);
        for (int order = 0; order < 3; ++order) {
            double y[2] = {0.0};
            test_assert_no_heap(st = tal_signal_calc(signal, 0.27, order, y));
            ck_assert_int_eq(st, TAL_OK);
            ck_assert_double_eq(y[0], tal_function_calc_derivative_1(f[curve], 0.27, order));
            // the second column is the time itself
            const double line = order == 0 ? 0.27 : order == 1 ? 1.0 : 0.0;
            ck_assert_double_eq_tol(y[1], line, 1e-14);
        }
        tal_signal_destroy(signal);
        tal_function_destroy(f[curve]);
    }
}

// Without a filter the samples are the rows; OpenSim's pads by half as many at each end.
START_TEST(samples_are_the_rows_or_the_padded_ones)
{
    double times[11], y[11];
    for (int i = 0; i < 11; ++i) {
        times[i] = 0.125 * i;
        y[i] = sin(times[i]);
    }
    tal_signal_def def = tal_signal_def_default();
    tal_signal *plain = must_create(&def, times, y, 11, 1);
    ck_assert_int_eq(tal_signal_num_samples(plain), 11);
    ck_assert_int_eq(tal_signal_num_columns(plain), 1);
    ck_assert_mem_eq(tal_signal_times(plain), times, sizeof times);
    ck_assert_mem_eq(tal_signal_samples(plain, 0), y, sizeof y);
    tal_signal_destroy(plain);

    def.cutoff = 1.0;
    def.filter = TAL_SIGNAL_LOWPASS_OPENSIM;
    tal_signal *padded = must_create(&def, times, y, 11, 1);
    double expected[21];
    ck_assert_int_eq(tal_signal_pad(y, 11, 5, expected), TAL_OK);
    ck_assert_int_eq(tal_signal_lowpass_opensim(8.0, 1.0, expected, 21, NULL), TAL_OK);
    ck_assert_int_eq(tal_signal_num_samples(padded), 21);
    ck_assert_double_eq(tal_signal_times(padded)[0], -0.625);
    ck_assert_double_eq(tal_signal_times(padded)[20], 1.875);
    ck_assert_mem_eq(tal_signal_samples(padded, 0), expected, sizeof expected);
    tal_signal_destroy(padded);
}

// Times of 73 rows at 60 Hz with eight decimals, as OpenSim's tables have them: steps differ in the
// last digit, so OpenSim resamples at the smallest one, and its results begin at 0.39999976
// instead of 0.4 (expected_id.sto of its gait2354 example).
START_TEST(times_with_few_digits_are_sampled_anew_as_opensim_does)
{
    double times[73], y[73];
    for (int i = 0; i < 73; ++i) {
        times[i] = round((0.4 + i / 60.0) * 1e8) / 1e8;
        y[i] = 3.0 - times[i];
    }
    const tal_signal_def def = {TAL_SIGNAL_QUINTIC, 6.0, TAL_SIGNAL_LOWPASS_OPENSIM};
    tal_signal *signal = must_create(&def, times, y, 73, 1);
    ck_assert_double_eq_tol(tal_signal_times(signal)[36], 0.39999976, 1e-12);
    ck_assert_double_eq_tol(tal_signal_times(signal)[37], 0.41666642, 1e-12);
    ck_assert_double_eq_tol(tal_signal_times(signal)[36 + 72], 1.59999928, 1e-12);
    double at = 0.0;
    ck_assert_int_eq(tal_signal_calc(signal, 1.0, 0, &at), TAL_OK);
    // what a pass does to the ends has decayed by exp(-18.8 / s * 1.2 s) = 2e-10 here
    ck_assert_double_eq_tol(at, 2.0, 1e-9);
    tal_signal_destroy(signal);
}

// A slow sinusoid at uneven times is found again, smoothed: gain 1 / (1 + 0.41 (1/20)^4).
START_TEST(uneven_rows_are_sampled_anew_before_they_are_smoothed)
{
    double times[400], y[400];
    test_rng rng = test_rng_seed(8);
    for (int i = 0; i < 400; ++i) {
        times[i] = 0.01 * i + test_random_uniform(&rng, -0.003, 0.003);
        y[i] = sin(2.0 * TAL_PI * times[i]);
    }
    const tal_signal_def def = {TAL_SIGNAL_QUINTIC, 20.0, TAL_SIGNAL_LOWPASS};
    tal_signal *signal = must_create(&def, times, y, 400, 1);
    double at[3];
    for (int order = 0; order < 3; ++order) {
        ck_assert_int_eq(tal_signal_calc(signal, 2.0, order, &at[order]), TAL_OK);
    }
    const double w = 2.0 * TAL_PI, lost = 0.42 * pow(1.0 / 20.0, 4.0); // of the amplitude
    ck_assert_double_eq_tol(at[0], 0.0, lost + 1e-6); // interpolation: (w h)^6 = 6e-8
    ck_assert_double_eq_tol(at[1], w, w * (lost + 1e-5));
    ck_assert_double_eq_tol(at[2], 0.0, w * w * (lost + 1e-4));
    tal_signal_destroy(signal);
}

// --- errors ---

#define REFUSED(call, status, part)                                                                \
    do {                                                                                           \
        ck_assert_int_eq(call, status);                                                            \
        ck_assert_msg(strstr(err.message, part) != NULL, "'%s' lacks '%s'", err.message, part);    \
    } while (0)

START_TEST(what_is_wrong_is_named)
{
    double y[6] = {0.0, 1.0, 0.0, 1.0, 0.0, 1.0}, work[18], d[2][6];
    const double times[] = {0.0, 1.0, 2.0, 3.0, 4.0, 5.0}, twice[] = {0.0, 1.0, 1.0, 3.0, 4.0, 5.0};
    const double close[] = {0.0, 1.0, 1.0 + 1e-9, 3.0, 4.0, 5.0};
    tal_error err;
    REFUSED(tal_signal_lowpass(10.0, 5.0, 2, y, 6, work, &err), TAL_ERR_BAD_VALUE, "half of 10");
    REFUSED(tal_signal_lowpass(10.0, -1.0, 2, y, 6, work, &err), TAL_ERR_BAD_VALUE, "-1 Hz");
    REFUSED(tal_signal_lowpass(0.0, 1.0, 2, y, 6, work, &err), TAL_ERR_BAD_VALUE, "rate is 0");
    REFUSED(tal_signal_lowpass(10.0, 1.0, 9, y, 6, work, &err), TAL_ERR_BAD_VALUE, "order is 9");
    REFUSED(tal_signal_lowpass(10.0, 1.0, 2, y, 1, work, &err), TAL_ERR_BAD_VALUE, "1 samples");
    REFUSED(tal_signal_lowpass_opensim(10.0, 1.0, y, 3, &err), TAL_ERR_BAD_VALUE, "at least 4");
    REFUSED(tal_signal_differentiate(twice, y, 6, 1, d[0], d[1], &err), TAL_ERR_BAD_VALUE,
            "times[2] = 1");
    REFUSED(tal_signal_differentiate(times, y, 2, 1, d[0], d[1], &err), TAL_ERR_BAD_VALUE,
            "at least 3");
    tal_signal *out = NULL;
    tal_signal_def def = tal_signal_def_default();
    REFUSED(tal_signal_create(NULL, &def, times, y, 6, -1, &out, &err), TAL_ERR_BAD_VALUE,
            "-1 columns");
    def.cutoff = 0.1;
    REFUSED(tal_signal_create(NULL, &def, close, y, 6, 1, &out, &err), TAL_ERR_BAD_VALUE,
            "times[2] = 1");
    def.cutoff = (double)NAN;
    REFUSED(tal_signal_create(NULL, &def, times, y, 6, 1, &out, &err), TAL_ERR_BAD_VALUE, "nan Hz");
    y[3] = (double)INFINITY;
    REFUSED(tal_signal_create(NULL, NULL, times, y, 6, 1, &out, &err), TAL_ERR_NOT_FINITE,
            "values[3] is inf");
    REFUSED(tal_signal_lowpass(10.0, 1.0, 2, y, 6, work, &err), TAL_ERR_NOT_FINITE, "y[3] is inf");
    ck_assert_ptr_null(out);
}

START_TEST(no_memory_leaves_nothing_behind)
{
    double times[9], y[9];
    for (int i = 0; i < 9; ++i) {
        times[i] = i + 0.1 * (i % 2);
        y[i] = i * i;
    }
    const tal_signal_def def = {TAL_SIGNAL_QUINTIC, 0.1, TAL_SIGNAL_LOWPASS_OPENSIM};
    tal_status st = TAL_ERR_NO_MEMORY;
    for (int refuse_at = 1; st != TAL_OK; ++refuse_at) {
        test_heap heap = {.refuse_at = refuse_at};
        const tal_allocator allocator = test_heap_allocator(&heap);
        tal_signal *signal = NULL;
        st = tal_signal_create(&allocator, &def, times, y, 9, 1, &signal, NULL);
        if (st != TAL_OK) ck_assert_int_eq(st, TAL_ERR_NO_MEMORY);
        tal_signal_destroy(signal);
        ck_assert_int_eq(heap.live, 0);
        ck_assert_int_lt(refuse_at, 100);
    }
}

// The transfer of the filter of 101 samples, sum_k c_k cos(2 pi f k T) / sum_k c_k with T = 0.01 s
// and a cutoff of 6 Hz, is 1.0039751 at 3 Hz and 0.50049862 at 6 Hz; straight lines pass unchanged.
START_TEST(the_filter_of_finite_length_has_its_gain)
{
    static const struct {
        double frequency, gain;
    } rows[] = {{3.0, 1.0039751}, {6.0, 0.50049862}};

    double times[301], y[301];
    const tal_signal_def def = {TAL_SIGNAL_QUINTIC, 6.0, TAL_SIGNAL_FIR_OPENSIM};
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < 301; ++i) {
            times[i] = 0.01 * i;
            y[i] = 2.0 - times[i] + sin(2.0 * TAL_PI * rows[k].frequency * times[i]);
        }
        tal_signal *signal = must_create(&def, times, y, 301, 1);
        ck_assert_int_eq(tal_signal_num_samples(signal), 301 + 2 * 60);
        for (int i = 60; i < 240; ++i) { // as far from the ends as it reaches
            const double wave = y[i] - (2.0 - times[i]);
            ck_assert_double_eq_tol(tal_signal_samples(signal, 0)[60 + i],
                                    2.0 - times[i] + rows[k].gain * wave, 2e-8);
        }
        tal_signal_destroy(signal);
    }
    tal_signal *none = NULL;
    tal_error err;
    ck_assert_int_eq(tal_signal_create(NULL, &def, times, y, 60, 1, &none, &err),
                     TAL_ERR_BAD_VALUE);
    ck_assert_ptr_null(none);
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("common/signal");
    TCase *tc = tcase_create("filters");
    tcase_add_loop_test(tc, the_filter_has_the_gain_of_theory_and_no_delay, 1, 9);
    tcase_add_test(tc, the_filter_of_opensim_halves_the_amplitude_at_its_cutoff);
    tcase_add_test(tc, the_filter_of_opensim_copies_the_samples_at_which_a_pass_begins);
    tcase_add_test(tc, the_filter_of_opensim_lowers_a_cutoff_above_half_of_the_rate);
    tcase_add_loop_test(tc, a_straight_line_passes_unchanged, 2, 50);
    tcase_add_test(tc, noise_becomes_smaller_and_a_mirror_image_stays_one);
    tcase_add_test(tc, padding_is_the_image_through_the_end_point);
    suite_add_tcase(suite, tc);

    tc = tcase_create("rates");
    tcase_add_test(tc, rates_of_polynomials_are_exact_at_uneven_times);
    tcase_add_test(tc, three_samples_give_the_rates_of_their_parabola);
    suite_add_tcase(suite, tc);

    tc = tcase_create("curves");
    tcase_add_test(tc, curves_are_the_splines_of_their_columns);
    tcase_add_test(tc, samples_are_the_rows_or_the_padded_ones);
    tcase_add_test(tc, times_with_few_digits_are_sampled_anew_as_opensim_does);
    tcase_add_test(tc, uneven_rows_are_sampled_anew_before_they_are_smoothed);
    tcase_add_test(tc, the_filter_of_finite_length_has_its_gain);
    suite_add_tcase(suite, tc);

    tc = tcase_create("errors");
    tcase_add_test(tc, what_is_wrong_is_named);
    tcase_add_test(tc, no_memory_leaves_nothing_behind);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
