// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_SUMMARY_H
#define TALUS_STUDY_SUMMARY_H

/**
 * @file talus/study/summary.h
 * @brief What many rows of results have in common: means, covariances, extremes, quantiles,
 *        histograms.
 *
 * Rows are taken in order, so the same rows give the same bytes, whoever made them. Rows with a
 * NaN, as failed samples have, are left out; what is infinite counts.
 */

#include <talus/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup summary Statistics of ensembles
/// @{

/// Means and what belongs to them, of rows that come bit by bit. The arrays are yours; those that
/// are NULL are not computed, except `mean`.
typedef struct tal_moments {
    int num_columns;
    int num_rows;     ///< rows so far that are without a NaN
    int num_left_out; ///< the others
    double *mean;     ///< [num_columns]
    double *scatter;  ///< [num_columns][num_columns] sum of (x_i - mean_i) (x_j - mean_j); or NULL
    double *least;    ///< [num_columns] smallest value; or NULL
    double *most;     ///< [num_columns] largest value; or NULL
} tal_moments;

/// Begin with no rows: sets numbers of rows and arrays.
TAL_API tal_status tal_moments_begin(tal_moments *moments);

/// Take rows into account, one after the other (Welford 1962).
/// @param[in,out] moments
/// @param[in]     rows  [n][moments.num_columns]
TAL_API tal_status tal_moments_add(tal_moments *moments, const double rows[], int n);

/// Covariance of two columns, scatter / (num_rows - 1); NaN for less than two rows.
TAL_API double tal_moments_covariance(const tal_moments *moments, int i, int j);

/// Square root of the covariance of a column with itself.
TAL_API double tal_moments_deviation(const tal_moments *moments, int i);

/**
 * Quantiles of numbers: below the p-quantile is the share p of them. Between two neighbors it is
 * interpolated (type 7 of Hyndman and Fan 1996): p = 0 is the smallest, p = 0.5 the median.
 *
 * @param[in]  values  [n * stride] each is `stride` numbers behind the one before it; a NaN is left
 *                     out
 * @param[in]  p       [num] each in 0 ... 1
 * @param[out] work    [n] room; the values in ascending order
 * @param[out] out     [num]
 * @return TAL_OK; TAL_ERR_NOT_FINITE when all values are NaN, as are the quantiles then
 */
TAL_API tal_status tal_quantiles_calc(const double values[], int n, int stride, const double p[],
                                      int num, double work[], double out[]);

/// How many numbers are in each of some equal intervals.
typedef struct tal_histogram {
    double low, high; ///< where the first interval begins, and the last ends
    int num_bins;
    int *counts;      ///< [num_bins] of values that are not below the interval, but below its end
    int num_below;    ///< values below `low`
    int num_above;    ///< values of `high` and above
    int num_left_out; ///< values that are NaN
} tal_histogram;

/// Begin with no values.
TAL_API tal_status tal_histogram_begin(tal_histogram *histogram);

/// Count n values, each `stride` numbers behind the one before it.
/// @param[in,out] histogram
/// @param[in]     values  [n * stride]
TAL_API tal_status tal_histogram_add(tal_histogram *histogram, const double values[], int n,
                                     int stride);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_STUDY_SUMMARY_H
