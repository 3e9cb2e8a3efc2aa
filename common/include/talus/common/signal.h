// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_COMMON_SIGNAL_H
#define TALUS_COMMON_SIGNAL_H

/**
 * @file talus/common/signal.h
 * @brief Measured data over time: smoothed, as curves, with rates.
 *
 * Data are rows at increasing times, and columns. A ::tal_signal makes a curve of each column,
 * after smoothing if wanted, and gives values and rates at any time:
 *
 *     tal_signal_def def = tal_signal_def_default();
 *     def.cutoff = 6.0; // Hz
 *     tal_signal *motion = NULL;
 *     st = tal_signal_create(NULL, &def, times, angles, num_rows, num_angles, &motion, &err);
 *     if (st == TAL_OK) st = tal_signal_calc(motion, 0.25, 0, q);       // values at 0.25 s
 *     if (st == TAL_OK) st = tal_signal_calc(motion, 0.25, 2, qdotdot); // second derivatives
 *     tal_signal_destroy(motion);
 *
 * Each step is also a function of its own, on arrays, that does not allocate. Arrays of
 * several columns hold one column after the other: `[num_columns][count]`.
 *
 * Failures: TAL_ERR_NOT_FINITE for a NaN or an infinity, TAL_ERR_BAD_VALUE for a number out of
 * range, both with the index and the value in the message; TAL_ERR_NULL for a missing pointer,
 * which is also a broken contract. `err` may be NULL everywhere.
 */

#include <talus/common/alloc.h>
#include <talus/common/status.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The highest order of tal_signal_lowpass().
#define TAL_SIGNAL_MAX_ORDER 8

/**
 * @defgroup signal_steps The steps
 * @{
 */

/// Doubles of workspace that tal_signal_lowpass() needs for `count` samples; 0 for a negative one.
TAL_API size_t tal_signal_lowpass_work_size(int count);

/**
 * Butterworth's low-pass filter, once forward and once backward, so that nothing is delayed.
 *
 * A sinusoid of frequency f keeps the part 1 / (1 + (sqrt(2) - 1) (tan(pi f / rate) / tan(pi cutoff
 * / rate))^(2 order)) of its amplitude: 1 / sqrt(2) at the cutoff. Beyond its ends the signal is
 * continued by its image through the end point, for as long as the filter remembers; a straight
 * line comes out as it went in.
 *
 * @param[in]     rate    samples per second [Hz]
 * @param[in]     cutoff  [Hz] positive, below `rate` / 2
 * @param[in]     order   of each of the two passes, 1 to TAL_SIGNAL_MAX_ORDER; 2 is usual
 * @param[in,out] y       [count] the samples
 * @param[in]     count   at least 2
 * @param[out]    work    [tal_signal_lowpass_work_size(count)] scratch
 * @param[out]    err     may be NULL
 */
TAL_API TAL_NODISCARD tal_status tal_signal_lowpass(double rate, double cutoff, int order,
                                                    double y[], int count, double work[],
                                                    tal_error *err);

/**
 * The low-pass filter of OpenSim's tools: Butterworth's of order 3, forward and backward.
 *
 * It differs from tal_signal_lowpass() in three ways: each pass has the cutoff as its own, so that
 * the amplitude at the cutoff is 1/2; each pass copies its first three samples, so that the ends
 * are disturbed unless the signal is padded (tal_signal_pad()); and a cutoff above half of the rate
 * is lowered to 0.49 times the rate.
 *
 * @param[in]     rate    samples per second [Hz]
 * @param[in]     cutoff  [Hz] positive
 * @param[in,out] y       [count] the samples
 * @param[in]     count   at least 4
 * @param[out]    err     may be NULL
 */
TAL_API TAL_NODISCARD tal_status tal_signal_lowpass_opensim(double rate, double cutoff, double y[],
                                                            int count, tal_error *err);

/// How a smoothing spline was chosen, and how much it smooths.
typedef struct tal_smoothing {
    double penalty;  ///< lambda; given: negative for generalized cross-validation
    double dof;      ///< trace of the matrix that makes the smooth samples of the data: from 2, a
                     ///< straight line, to `count`, the data themselves
    double gcv;      ///< count sum w r^2 / (count - dof)^2; what generalized cross-validation makes
                     ///< least
    double variance; ///< sum w r^2 / (count - dof): of the noise, where all of the rest is signal
} tal_smoothing;

/// Doubles of workspace that tal_signal_smooth() needs for `count` samples; 0 for a negative one.
TAL_API size_t tal_signal_smooth_work_size(int count);

/**
 * A cubic smoothing spline: of all curves f the one with the least
 *
 *     sum w_i (y_i - f(t_i))^2 + lambda (integral of f''^2)
 *
 * It is the natural spline (tal_function_create_spline()) through the samples that this call
 * returns. How much to smooth can be left to the data: generalized cross-validation takes the
 * lambda that would best predict each sample from the others. Work is O(count) for each lambda.
 *
 * @param[in]  times    [count] increasing
 * @param[in]  y        [count]
 * @param[in]  weights  [count] positive, 1 / variance of each sample up to a factor; NULL: all one
 * @param[in]  count    at least 3
 * @param[in,out] it    in: the penalty; out: all of it. NULL: by generalized cross-validation
 * @param[out] smooth   [count] may be `y`
 * @param[out] work     [tal_signal_smooth_work_size(count)] scratch
 * @param[out] err      may be NULL
 * @return TAL_OK, TAL_ERR_BAD_VALUE, TAL_ERR_NOT_FINITE, TAL_ERR_NULL
 */
TAL_API TAL_NODISCARD tal_status tal_signal_smooth(const double times[], const double y[],
                                                   const double weights[], int count,
                                                   tal_smoothing *it, double smooth[],
                                                   double work[], tal_error *err);

/**
 * Continue a signal beyond both ends by its image through the end point, y(-i) = 2 y(0) - y(i).
 * Times are continued in the same way.
 *
 * @param[in]  y       [count] the samples
 * @param[in]  count   at least 1
 * @param[in]  pad     samples to add at each end, 0 to `count` - 1
 * @param[out] longer  [count + 2 * pad] must not overlap `y`
 */
TAL_API TAL_NODISCARD tal_status tal_signal_pad(const double y[], int count, int pad,
                                                double longer[]);

/**
 * First and second derivatives at the samples, from the polynomial through the nine nearest ones
 * (fewer, when there are fewer).
 *
 * For smooth data on equal steps h the error of the first derivative is of order h^8, near the ends
 * too; that of the second is of order h^8 inside the data and h^7 at the ends. The rate of a
 * constant is exactly zero. Noise is amplified: smooth it first.
 *
 * @param[in]  times        [count] increasing
 * @param[in]  values       [num_columns][count] one column after the other
 * @param[in]  count        at least 3
 * @param[in]  num_columns  0 or more
 * @param[out] first        [num_columns][count] d/dt
 * @param[out] second       [num_columns][count] d2/dt2
 * @param[out] err          may be NULL
 */
TAL_API TAL_NODISCARD tal_status tal_signal_differentiate(const double times[],
                                                          const double values[], int count,
                                                          int num_columns, double first[],
                                                          double second[], tal_error *err);

/** @} */

/**
 * @defgroup signal_curves Curves of data
 * @{
 */

/// The curve through the samples of a column.
typedef enum tal_signal_curve {
    TAL_SIGNAL_QUINTIC = 0, ///< natural quintic spline, C4: for data that are differentiated twice
    TAL_SIGNAL_CUBIC = 1,   ///< natural cubic spline, C2
    TAL_SIGNAL_LINEAR = 2   ///< straight lines between samples
} tal_signal_curve;

/// How data are smoothed.
typedef enum tal_signal_filter {
    TAL_SIGNAL_LOWPASS = 0, ///< tal_signal_lowpass() of order 2
    /// As in OpenSim's inverse dynamics: half as many samples are added at each end
    /// (tal_signal_pad()), data that are not at exactly equal steps are resampled at the
    /// smallest step, then tal_signal_lowpass_opensim(). The curves go through the padded samples.
    TAL_SIGNAL_LOWPASS_OPENSIM = 1,
    /// As in OpenSim's computed muscle control: 60 samples are added at each end, data are
    /// resampled as above, then each sample becomes a mean of the 101 about it: a sinc that a
    /// Hamming window cuts off. The amplitude at the cutoff is about 1/2. Needs 61 rows.
    TAL_SIGNAL_FIR_OPENSIM = 2
} tal_signal_filter;

/// How curves are made of data.
typedef struct tal_signal_def {
    tal_signal_curve curve;   ///< default: quintic
    double cutoff;            ///< [Hz] of the low-pass filter; 0, the default: no filter
    tal_signal_filter filter; ///< which filter, when there is a cutoff
} tal_signal_def;

/// Quintic splines, no filter.
static inline tal_signal_def tal_signal_def_default(void)
{
    tal_signal_def def = {TAL_SIGNAL_QUINTIC, 0.0, TAL_SIGNAL_LOWPASS};
    return def;
}

/// Columns of data over time as curves. Opaque, immutable, may be shared by threads.
typedef struct tal_signal tal_signal;

/**
 * Make curves of data.
 *
 * With a cutoff, data at steps that differ by more than 1 % are first resampled at the smallest
 * step by a quintic spline, and it is an error if that takes more than a hundred times as many
 * samples as rows.
 *
 * @param[in]  allocator    NULL: the C heap
 * @param[in]  def          NULL: tal_signal_def_default()
 * @param[in]  times        [count] increasing; copied
 * @param[in]  values       [num_columns][count] one column after the other; copied
 * @param[in]  count        at least 3, with a filter 4
 * @param[in]  num_columns  0 or more
 * @param[out] out          the caller destroys it; NULL on failure
 * @param[out] err          may be NULL
 */
TAL_API TAL_NODISCARD tal_status tal_signal_create(const tal_allocator *allocator,
                                                   const tal_signal_def *def, const double times[],
                                                   const double values[], int count,
                                                   int num_columns, tal_signal **out,
                                                   tal_error *err);

/// Destroy a signal; NULL is allowed.
TAL_API void tal_signal_destroy(tal_signal *signal);

/**
 * All columns at a time, or a derivative of them. Beyond the samples the curves go on as their
 * kind does (talus/common/function.h). Does not allocate.
 *
 * @param[in]  signal  the curves
 * @param[in]  t       [s] or the unit of the times
 * @param[in]  order   0 for values, 1 and 2 for rates, up to TAL_FUNCTION_MAX_ORDER
 * @param[out] y       [tal_signal_num_columns(signal)] one number for each column
 */
TAL_API TAL_NODISCARD tal_status tal_signal_calc(const tal_signal *signal, double t, int order,
                                                 double y[]);

/// Number of columns; -1 and a broken contract when `signal` is NULL.
TAL_API int tal_signal_num_columns(const tal_signal *signal);

/// Number of samples the curves go through: the rows that were given, unless a filter padded them
/// or resampled them. -1 and a broken contract when `signal` is NULL.
TAL_API int tal_signal_num_samples(const tal_signal *signal);

/// Times of the samples, tal_signal_num_samples() of them. Borrowed; NULL and a broken contract
/// when `signal` is NULL.
TAL_API const double *tal_signal_times(const tal_signal *signal);

/// A column at the samples, smoothed. Borrowed; NULL and a broken contract when `signal` is NULL or
/// has no such column.
TAL_API const double *tal_signal_samples(const tal_signal *signal, int column);

/** @} */

#ifdef __cplusplus
}
#endif

#endif // TALUS_COMMON_SIGNAL_H
