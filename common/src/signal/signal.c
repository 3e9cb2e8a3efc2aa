// Columns of data as curves: smoothed, resampled where needed, one function for each.
#include "alloc_internal.h"

#include "signal/signal_internal.h"

#include <talus/common/function.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

// OpenSim takes steps as equal that differ by no more than the last bit of 1.
static const double OPENSIM_EQUAL = 2.22e-16;

// How far steps may be from their mean, as a part of it, to count as equal.
static const double EQUAL_STEPS = 0.01;

// What OpenSim adds at each end before its filter of finite length.
enum {
    FIR_PAD = 60
};

struct tal_signal {
    tal_allocator allocator;
    size_t bytes; // of this block, with the arrays behind it
    int num_columns, count;
    double *times;         // [count]
    double *samples;       // [num_columns][count]
    tal_function **curves; // [num_columns] owned
};

// What a `create` call works on: the data, resampled if needed, on their way to the result.
typedef struct making {
    tal_allocator allocator;
    tal_signal_def def;
    const double *times, *values;
    int rows, num_columns; // as given
    double step;           // of the samples that the filter sees; 0: those of the rows
    int pad, count;        // at each end; all samples
    double *work;          // [work_size]
    size_t work_size;      // doubles
    tal_error *err;
} making;

#define WHERE "tal_signal_create"

// --- checks ---

static tal_status check_def(const making *it)
{
    const tal_signal_def *const def = &it->def;
    if ((int)def->curve < 0 || (int)def->curve > (int)TAL_SIGNAL_LINEAR) {
        return tali_fail(it->err, TAL_ERR_BAD_VALUE, WHERE, "curve is %d, not a tal_signal_curve",
                         (int)def->curve);
    }
    if ((int)def->filter < 0 || (int)def->filter > (int)TAL_SIGNAL_FIR_OPENSIM) {
        return tali_fail(it->err, TAL_ERR_BAD_VALUE, WHERE, "filter is %d, not a tal_signal_filter",
                         (int)def->filter);
    }
    if (!(def->cutoff >= 0.0) || !isfinite(def->cutoff)) {
        return tali_fail(it->err, TAL_ERR_BAD_VALUE, WHERE,
                         "the cutoff is %g Hz: give a positive frequency, or 0 for no filter",
                         def->cutoff);
    }
    return TAL_OK;
}

static tal_status check_data(const making *it)
{
    const bool is_fir = it->def.filter == TAL_SIGNAL_FIR_OPENSIM;
    const int least = it->def.cutoff > 0.0 ? (is_fir ? FIR_PAD + 1 : 4) : 3;
    tal_status st = tali_signal_check_pointer(it->times, "times", WHERE, it->err);
    if (st == TAL_OK) st = tali_signal_check_times(it->times, it->rows, least, WHERE, it->err);
    if (st != TAL_OK) return st;
    if (it->num_columns < 0) {
        return tali_fail(it->err, TAL_ERR_BAD_VALUE, WHERE, "%d columns", it->num_columns);
    }
    if (it->num_columns == 0) return TAL_OK;
    st = tali_signal_check_pointer(it->values, "values", WHERE, it->err);
    if (st != TAL_OK) return st;
    return tali_signal_check_finite(it->values, (size_t)it->num_columns * (size_t)it->rows,
                                    "values", WHERE, it->err);
}

// --- which samples ---

// The smallest step between rows; `*at`: where.
static double smallest_step(const making *it, int *at)
{
    double smallest = INFINITY;
    for (int i = 1; i < it->rows; ++i) {
        const double step = it->times[i] - it->times[i - 1];
        if (step >= smallest) continue;
        smallest = step;
        *at = i;
    }
    return smallest;
}

static bool steps_are_equal(const making *it, double smallest, double mean)
{
    if (it->def.filter != TAL_SIGNAL_LOWPASS) return mean - smallest <= OPENSIM_EQUAL;
    for (int i = 1; i < it->rows; ++i) {
        if (fabs(it->times[i] - it->times[i - 1] - mean) > EQUAL_STEPS * mean) return false;
    }
    return true;
}

// Decide on the samples that the filter sees.
static tal_status choose_samples(making *it)
{
    it->count = it->rows;
    if (it->def.cutoff == 0.0) return TAL_OK;
    int at = 0;
    const double span = it->times[it->rows - 1] - it->times[0];
    const double smallest = smallest_step(it, &at), mean = span / (it->rows - 1);
    if (it->def.filter == TAL_SIGNAL_LOWPASS_OPENSIM) it->pad = it->rows / 2;
    if (it->def.filter == TAL_SIGNAL_FIR_OPENSIM) it->pad = FIR_PAD;
    it->count = it->rows + 2 * it->pad;
    if (steps_are_equal(it, smallest, mean)) return TAL_OK;
    const double padded_span = span + (it->times[it->pad] - it->times[0]) +
                               (it->times[it->rows - 1] - it->times[it->rows - 1 - it->pad]);
    const double samples = floor(padded_span / smallest * (1.0 + 1e-12)) + 1.0;
    if (samples > 100.0 * (double)it->count) {
        return tali_fail(it->err, TAL_ERR_BAD_VALUE, WHERE,
                         "times[%d] = %.15g is only %.3g after times[%d]: to filter at equal steps "
                         "of that size takes %.3g samples; drop one of the two rows",
                         at, it->times[at], smallest, at - 1, samples);
    }
    it->step = smallest;
    it->count = (int)samples;
    return TAL_OK;
}

// --- smoothing ---

// One column, padded, and at the samples.
static tal_status sample(const making *it, const double y[], const double times[], double samples[])
{
    const int padded = it->rows + 2 * it->pad;
    double *const longer_times = it->work, *const longer = it->work + padded;
    if (it->step == 0.0) {
        tali_signal_pad(y, it->rows, it->pad, samples);
        return TAL_OK;
    }
    tali_signal_pad(it->times, it->rows, it->pad, longer_times);
    tali_signal_pad(y, it->rows, it->pad, longer);
    tal_function *curve = NULL;
    const tal_status st = tal_function_create_quintic_spline(&it->allocator, longer_times, longer,
                                                             padded, &curve, it->err);
    for (int i = 0; i < it->count && st == TAL_OK; ++i) {
        samples[i] = tal_function_calc_value_1(curve, times[i]);
    }
    tal_function_destroy(curve);
    return st;
}

static tal_status smooth(const making *it, const double times[], double samples[])
{
    const int n = it->count;
    if (it->def.cutoff == 0.0) return TAL_OK;
    const double rate = it->step > 0.0 ? 1.0 / it->step : (n - 1) / (times[n - 1] - times[0]);
    if (it->def.filter == TAL_SIGNAL_FIR_OPENSIM) {
        tali_signal_fir(rate, it->def.cutoff, samples, n, it->work);
        return TAL_OK;
    }
    return it->def.filter == TAL_SIGNAL_LOWPASS
               ? tal_signal_lowpass(rate, it->def.cutoff, 2, samples, n, it->work, it->err)
               : tal_signal_lowpass_opensim(rate, it->def.cutoff, samples, n, it->err);
}

static void place_times(const making *it, double times[])
{
    tali_signal_pad(it->times, it->rows, it->pad, it->work);
    for (int i = 0; i < it->count; ++i) {
        times[i] = it->step > 0.0 ? it->work[0] + i * it->step : it->work[i];
    }
}

// --- curves ---

static tal_status make_curve(const making *it, const double times[], const double y[],
                             tal_function **out)
{
    const tal_allocator *const heap = &it->allocator;
    switch (it->def.curve) {
    case TAL_SIGNAL_CUBIC:
        return tal_function_create_spline(heap, times, y, it->count, TAL_SPLINE_NATURAL, out,
                                          it->err);
    case TAL_SIGNAL_LINEAR:
        return tal_function_create_piecewise_linear(heap, times, y, it->count, out, it->err);
    case TAL_SIGNAL_QUINTIC:
    default:
        return tal_function_create_quintic_spline(heap, times, y, it->count, out, it->err);
    }
}

static tal_status fill(const making *it, tal_signal *signal)
{
    place_times(it, signal->times);
    tal_status st = TAL_OK;
    for (int c = 0; c < it->num_columns && st == TAL_OK; ++c) {
        double *const samples = signal->samples + (size_t)c * (size_t)it->count;
        st = sample(it, it->values + (size_t)c * (size_t)it->rows, signal->times, samples);
        if (st == TAL_OK) st = smooth(it, signal->times, samples);
        if (st == TAL_OK) st = make_curve(it, signal->times, samples, &signal->curves[c]);
    }
    return st;
}

static tal_status no_memory(const making *it, size_t bytes)
{
    return tali_fail(it->err, TAL_ERR_NO_MEMORY, WHERE, "no memory for %zu bytes", bytes);
}

// The block of a signal, with room for its samples.
static tal_signal *signal_alloc(const making *it)
{
    const size_t num = (size_t)it->num_columns, count = (size_t)it->count;
    tal_signal head = {.allocator = it->allocator, .num_columns = it->num_columns};
    tal_signal *signal = NULL;
    const tali_piece pieces[] = {
        {&signal, sizeof *signal},
        {&head.times, count * sizeof *head.times},
        {&head.samples, num * count * sizeof *head.samples},
        {&head.curves, num * sizeof(tal_function *)},
    };
    const void *const block =
        tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0], &head.bytes);
    if (block == NULL) return NULL;
    head.count = it->count;
    *signal = head;
    return signal;
}

static tal_status make(making *it, tal_signal **out)
{
    tal_status st = choose_samples(it);
    if (st != TAL_OK) return st;
    // two padded arrays, or what the filter needs
    it->work_size = 3 * (size_t)it->count + 4 * (size_t)it->rows;
    it->work = tali_alloc(&it->allocator, it->work_size * sizeof *it->work);
    if (it->work == NULL) return no_memory(it, it->work_size * sizeof *it->work);

    tal_signal *const signal = signal_alloc(it);
    if (signal == NULL) st = no_memory(it, (size_t)it->num_columns * (size_t)it->count);
    if (st == TAL_OK) st = fill(it, signal);
    tali_free(&it->allocator, it->work, it->work_size * sizeof *it->work);
    if (st == TAL_OK) {
        *out = signal;
    } else {
        tal_signal_destroy(signal);
    }
    return st;
}

tal_status tal_signal_create(const tal_allocator *allocator, const tal_signal_def *def,
                             const double times[], const double values[], int count,
                             int num_columns, tal_signal **out, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    tal_status st = tali_signal_check_pointer((const void *)out, "out", __func__, err);
    if (st != TAL_OK) return st;
    *out = NULL;
    making it = {.def = def != NULL ? *def : tal_signal_def_default(),
                 .times = times,
                 .values = values,
                 .rows = count,
                 .num_columns = num_columns,
                 .err = err};
    st = tali_alloc_choose(allocator, &it.allocator, __func__);
    if (st != TAL_OK) return TALI_FAIL(err, st, "the allocator has no alloc or no free");
    st = check_def(&it);
    if (st == TAL_OK) st = check_data(&it);
    return st == TAL_OK ? make(&it, out) : st;
}

void tal_signal_destroy(tal_signal *signal)
{
    if (signal == NULL) return;
    for (int c = 0; c < signal->num_columns; ++c) {
        tal_function_destroy(signal->curves[c]);
    }
    const tal_allocator allocator = signal->allocator;
    tali_free(&allocator, signal, signal->bytes);
}

// --- reading ---

tal_status tal_signal_calc(const tal_signal *signal, double t, int order, double y[])
{
    if (signal == NULL) return TALI_BREACH(TAL_ERR_NULL, "signal is NULL");
    if (y == NULL && signal->num_columns > 0) return TALI_BREACH(TAL_ERR_NULL, "y is NULL");
    if (order < 0 || order > TAL_FUNCTION_MAX_ORDER) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "order is %d, not in 0..%d", order,
                           TAL_FUNCTION_MAX_ORDER);
    }
    for (int c = 0; c < signal->num_columns; ++c) {
        y[c] = tal_function_calc_derivative_1(signal->curves[c], t, order);
    }
    return TAL_OK;
}

int tal_signal_num_columns(const tal_signal *signal)
{
    if (signal != NULL) return signal->num_columns;
    (void)TALI_BREACH(TAL_ERR_NULL, "signal is NULL");
    return -1;
}

int tal_signal_num_samples(const tal_signal *signal)
{
    if (signal != NULL) return signal->count;
    (void)TALI_BREACH(TAL_ERR_NULL, "signal is NULL");
    return -1;
}

const double *tal_signal_times(const tal_signal *signal)
{
    if (signal != NULL) return signal->times;
    (void)TALI_BREACH(TAL_ERR_NULL, "signal is NULL");
    return NULL;
}

const double *tal_signal_samples(const tal_signal *signal, int column)
{
    if (signal == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "signal is NULL");
        return NULL;
    }
    if (column < 0 || column >= signal->num_columns) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "column is %d of %d", column, signal->num_columns);
        return NULL;
    }
    return signal->samples + (size_t)column * (size_t)signal->count;
}
