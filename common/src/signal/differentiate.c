// Rates of data at their samples, from polynomials through the nearest ones.
#include "signal/signal_internal.h"

#include <string.h>

enum {
    // samples that a derivative is made of: errors of order 8 inside, 7 at their ends
    WINDOW = 9
};

// The weights of a value at x[j] that comes in, from those of the value before it.
static void add_value(const double x[], int j, double ratio, double w[3][WINDOW])
{
    const int k = j - 1;
    for (int m = 2; m > 0; --m) {
        w[m][j] = ratio * (m * w[m - 1][k] - x[k] * w[m][k]);
    }
    w[0][j] = -ratio * x[k] * w[0][k];
}

// The weights of the value at x[k] once that at x[j] has come in.
static void renew_weights(const double x[], int j, int k, double w[3][WINDOW])
{
    const double gap = x[j] - x[k];
    for (int m = 2; m > 0; --m) {
        w[m][k] = (x[j] * w[m][k] - m * w[m - 1][k]) / gap;
    }
    w[0][k] *= x[j] / gap;
}

// Weights of the values at x[0..n-1] in the derivatives, at 0, of the polynomial through them, from
// the derivative of order 0 on (Fornberg, Math. Comp. 51 (1988), pp. 699-706).
static void find_weights(const double x[], int n, double w[3][WINDOW])
{
    memset(w, 0, 3 * sizeof w[0]);
    w[0][0] = 1.0;
    double above = 1.0;
    for (int j = 1; j < n; ++j) {
        double below = 1.0;
        for (int k = 0; k < j; ++k) {
            below *= x[j] - x[k];
        }
        add_value(x, j, above / below, w);
        for (int k = 0; k < j; ++k) {
            renew_weights(x, j, k, w);
        }
        above = below;
    }
}

// Where the samples nearest to sample i begin.
static int window_begin(int i, int n, int count)
{
    const int begin = i - n / 2, last = count - n;
    return begin < 0 ? 0 : begin > last ? last : begin;
}

// Differences to the sample itself: the rate of a constant is exactly zero.
static double weigh(const double w[], const double y[], int n, double place)
{
    double sum = 0.0;
    for (int k = 0; k < n; ++k) {
        sum += w[k] * (y[k] - place);
    }
    return sum;
}

static tal_status check(const double times[], const double values[], int count, int num_columns,
                        const double first[], const double second[], tal_error *err)
{
    const char *const where = "tal_signal_differentiate";
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    tal_status st = tali_signal_check_pointer(times, "times", where, err);
    if (st == TAL_OK) st = tali_signal_check_times(times, count, 3, where, err);
    if (st != TAL_OK || num_columns == 0) return st;
    if (num_columns < 0) {
        return tali_fail(err, TAL_ERR_BAD_VALUE, where, "%d columns", num_columns);
    }
    st = tali_signal_check_pointer(values, "values", where, err);
    if (st == TAL_OK) st = tali_signal_check_pointer(first, "first", where, err);
    if (st == TAL_OK) st = tali_signal_check_pointer(second, "second", where, err);
    if (st != TAL_OK) return st;
    return tali_signal_check_finite(values, (size_t)num_columns * (size_t)count, "values", where,
                                    err);
}

tal_status tal_signal_differentiate(const double times[], const double values[], int count,
                                    int num_columns, double first[], double second[],
                                    tal_error *err)
{
    const tal_status st = check(times, values, count, num_columns, first, second, err);
    if (st != TAL_OK) return st;
    const int n = count < WINDOW ? count : WINDOW;
    for (int i = 0; i < count; ++i) {
        const int begin = window_begin(i, n, count);
        double x[WINDOW], w[3][WINDOW];
        for (int k = 0; k < n; ++k) {
            x[k] = times[begin + k] - times[i];
        }
        find_weights(x, n, w);
        for (int c = 0; c < num_columns; ++c) {
            const size_t column = (size_t)c * (size_t)count, place = column + (size_t)i;
            const double *const y = values + column + (size_t)begin;
            first[place] = weigh(w[1], y, n, values[place]);
            second[place] = weigh(w[2], y, n, values[place]);
        }
    }
    return TAL_OK;
}
