// Low-pass filters that do not delay: Butterworth's, forward and backward.
//
// The bilinear transform s = (1 - z^-1) / (1 + z^-1) / w takes Butterworth's filter of cutoff 1 to
// one of samples, whose cutoff is at w = tan(pi cutoff / rate).
#include "signal/signal_internal.h"

#include <talus/common/rotation.h>

#include <math.h>
#include <string.h>

// --- one pass ---

// y[n] = gain (x[n] + 2 x[n-1] + x[n-2]) + b1 y[n-1] + b2 y[n-2]; of order 1 without x[n-2], y[n-2]
// and the factor 2.
typedef struct section {
    int order;
    double gain, b1, b2;
} section;

// The poles of s^2 + 2 sin(theta) s + 1, theta = pi (2 k + 1) / (2 n): pair k of n.
static section pair_of_poles(double w, int k, int n)
{
    const double damping = 2.0 * sin(TAL_PI * (2 * k + 1) / (2.0 * n)) * w;
    const double below = 1.0 + damping + w * w;
    return (section){2, w * w / below, 2.0 * (1.0 - w) * (1.0 + w) / below,
                     -(1.0 - damping + w * w) / below};
}

static section single_pole(double w)
{
    return (section){1, w / (1.0 + w), (1.0 - w) / (1.0 + w), 0.0};
}

// Begins as if the first sample had been there forever.
static void run_section(const section *it, double y[], int count)
{
    double x1 = y[0], x2 = y[0], y1 = y[0], y2 = y[0];
    const double twice = it->order == 2 ? 2.0 : 1.0, last = it->order == 2 ? 1.0 : 0.0;
    for (int i = 0; i < count; ++i) {
        const double x = y[i];
        y[i] = it->gain * (x + twice * x1 + last * x2) + it->b1 * y1 + it->b2 * y2;
        x2 = x1;
        x1 = x;
        y2 = y1;
        y1 = y[i];
    }
}

static void run_sections(double w, int order, double y[], int count)
{
    for (int k = 0; k < order / 2; ++k) {
        const section pair = pair_of_poles(w, k, order);
        run_section(&pair, y, count);
    }
    if (order % 2 == 0) return;
    const section single = single_pole(w);
    run_section(&single, y, count);
}

static void reverse(double y[], int count)
{
    for (int i = 0; i < count / 2; ++i) {
        const double other = y[count - 1 - i];
        y[count - 1 - i] = y[i];
        y[i] = other;
    }
}

// --- forward and backward ---

static tal_status check_filter(double rate, double cutoff, const double y[], int count, int least,
                               const char *where, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    const tal_status st = tali_signal_check_pointer(y, "y", where, err);
    if (st != TAL_OK) return st;
    if (!(rate > 0.0) || !isfinite(rate)) {
        return tali_fail(err, TAL_ERR_BAD_VALUE, where,
                         "the rate is %g Hz: give samples per second", rate);
    }
    if (!(cutoff > 0.0) || !isfinite(cutoff)) {
        return tali_fail(err, TAL_ERR_BAD_VALUE, where,
                         "the cutoff is %g Hz: give a positive frequency", cutoff);
    }
    if (count < least) {
        return tali_fail(err, TAL_ERR_BAD_VALUE, where, "%d samples are too few: give at least %d",
                         count, least);
    }
    return tali_signal_check_finite(y, (size_t)count, "y", where, err);
}

static tal_status check_lowpass(double rate, double cutoff, int order, tal_error *err)
{
    const char *const where = "tal_signal_lowpass";
    if (order < 1 || order > TAL_SIGNAL_MAX_ORDER) {
        return tali_fail(err, TAL_ERR_BAD_VALUE, where, "the order is %d, not in 1..%d", order,
                         TAL_SIGNAL_MAX_ORDER);
    }
    if (!(cutoff < 0.5 * rate)) {
        return tali_fail(err, TAL_ERR_BAD_VALUE, where,
                         "the cutoff of %g Hz is not below half of %g samples per second", cutoff,
                         rate);
    }
    return TAL_OK;
}

size_t tal_signal_lowpass_work_size(int count)
{
    return count > 0 ? 3 * (size_t)count : 0;
}

// The filter remembers about order / cutoff seconds.
static int memory_of(double rate, double cutoff, int order, int count)
{
    const double samples = ceil((double)order * rate / cutoff);
    return samples < (double)(count - 1) ? (int)samples : count - 1;
}

tal_status tal_signal_lowpass(double rate, double cutoff, int order, double y[], int count,
                              double work[], tal_error *err)
{
    tal_status st = check_filter(rate, cutoff, y, count, 2, __func__, err);
    if (st == TAL_OK) st = tali_signal_check_pointer(work, "work", __func__, err);
    if (st == TAL_OK) st = check_lowpass(rate, cutoff, order, err);
    if (st != TAL_OK) return st;

    // two passes multiply amplitudes by 1 / (1 + (tan / w)^(2 order)), which is to be 1 / sqrt(2)
    const double w = tan(TAL_PI * cutoff / rate) / pow(sqrt(2.0) - 1.0, 0.5 / order);
    const int more = memory_of(rate, cutoff, order, count), longer = count + 2 * more;
    tali_signal_pad(y, count, more, work);
    // a straight line passes unchanged: what is left of the chord is exactly zero then
    const double first = y[0], slope = (y[count - 1] - y[0]) / (count - 1);
    for (int i = 0; i < longer; ++i) {
        work[i] -= first + slope * (i - more);
    }
    for (int k = 0; k < 2; ++k) {
        run_sections(w, order, work, longer);
        reverse(work, longer);
    }
    for (int i = 0; i < count; ++i) {
        y[i] = work[more + i] + (first + slope * i);
    }
    return TAL_OK;
}

// --- OpenSim's ---

enum {
    ORDER = 3
};

// y[n] = sum a[k] x[n-k] - sum b[k] y[n-k], with the first samples left as they are.
static void run_opensim(const double a[ORDER + 1], const double b[ORDER + 1], double y[], int count)
{
    double x[ORDER + 1] = {0.0, y[2], y[1], y[0]}; // x[n], x[n-1], ...
    for (int n = ORDER; n < count; ++n) {
        x[0] = y[n];
        double sum = a[0] * x[0];
        for (int k = 1; k <= ORDER; ++k) {
            sum += a[k] * x[k] - b[k] * y[n - k];
        }
        y[n] = sum;
        x[3] = x[2];
        x[2] = x[1];
        x[1] = x[0];
    }
}

tal_status tal_signal_lowpass_opensim(double rate, double cutoff, double y[], int count,
                                      tal_error *err)
{
    const tal_status st = check_filter(rate, cutoff, y, count, ORDER + 1, __func__, err);
    if (st != TAL_OK) return st;
    const double least = 0.5 * rate, f = cutoff < least ? cutoff : 0.49 * rate;
    const double w = tan(TAL_PI * f / rate);

    // (1 + w + (w - 1) z^-1) (1 + w + w^2 + 2 (w^2 - 1) z^-1 + (1 - w + w^2) z^-2)
    const double p0 = 1.0 + w, p1 = w - 1.0;
    const double q0 = 1.0 + w + w * w, q1 = 2.0 * (w * w - 1.0), q2 = 1.0 - w + w * w;
    const double all = p0 * q0, gain = w * w * w / all;
    const double a[ORDER + 1] = {gain, 3.0 * gain, 3.0 * gain, gain};
    const double b[ORDER + 1] = {1.0, (p0 * q1 + p1 * q0) / all, (p0 * q2 + p1 * q1) / all,
                                 p1 * q2 / all};
    for (int k = 0; k < 2; ++k) {
        run_opensim(a, b, y, count);
        reverse(y, count);
    }
    return TAL_OK;
}

// --- a filter of finite length ---

enum {
    FIR_REACH = 50
};

// A sample; beyond the ends its image through the end point.
static double image(const double y[], int count, int i)
{
    if (i < 0) return 2.0 * y[0] - y[-i < count ? -i : count - 1];
    const int last = count - 1;
    return i <= last ? y[i] : 2.0 * y[last] - y[2 * last - i > 0 ? 2 * last - i : 0];
}

void tali_signal_fir(double rate, double cutoff, double y[], int count, double work[])
{
    const double pi = 3.14159265358979323846;
    double weights[FIR_REACH + 1] = {1.0}, sum = 1.0;
    for (int k = 1; k <= FIR_REACH; ++k) {
        const double x = 2.0 * pi * cutoff * k / rate;
        weights[k] = sin(x) / x * (0.54 + 0.46 * cos(pi * k / FIR_REACH));
        sum += 2.0 * weights[k];
    }
    for (int i = 0; i < count; ++i) {
        work[i] = weights[0] / sum * y[i];
        for (int k = 1; k <= FIR_REACH; ++k) {
            work[i] += weights[k] / sum * (image(y, count, i - k) + image(y, count, i + k));
        }
    }
    memcpy(y, work, (size_t)count * sizeof *y);
}
